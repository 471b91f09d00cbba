//! Alembic archives (`.abc`, Ogawa): meshes that move, sample after sample.
//!
//! ```text
//! /                    metres, +Y up, as everything of ours
//!   <name>             Xform_v3, the identity
//!     <name>Shape      PolyMesh_v1: P and .selfBnds a sample, .faceCounts, .faceIndices once
//! ```
//!
//! A transform above each mesh is what Blender and others write too. Sample k is at
//! k / rate. Positions are written to the bit and vertices keep their order;
//! Alembic's faces are clockwise seen from outside, so corners are written from the
//! last to the first. Normals and texture coordinates are not written: programs make
//! their own normals. Equal samples are not shared. No date is written, so that the
//! same scene gives the same bytes.
//!
//! The writer streams: what it keeps is one sample, and 24 bytes of each that is
//! written. There is no reader.
//!
//! ```
//! use drapery_core::{FrameRate, Topology};
//! use drapery_store::alembic::AlembicWriter;
//! use glam::Vec3;
//!
//! let triangle = Topology::new(3, vec![[0, 1, 2]])?;
//! let mut archive = AlembicWriter::new(std::io::Cursor::new(Vec::new()), FrameRate::THIRTY)?;
//! let mut mesh = archive.mesh("flag", &triangle)?;
//! for frame in 0..3 {
//!     mesh.push(&[Vec3::ZERO, Vec3::X, Vec3::Y + Vec3::Z * frame as f32])?;
//! }
//! mesh.finish()?;
//! let file = archive.finish()?.into_inner();
//! assert!(file.starts_with(b"Ogawa\xff"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod header;
mod object;
mod ogawa;
#[cfg(test)]
mod tests;

use std::io::{self, Seek, Write};

use drapery_core::{FrameRate, Topology};
use glam::Vec3;

use header::{Kind, Metadata, Pod, Values};
use object::{Samples, Written};
use ogawa::OgawaWriter;

/// How objects and properties are laid out in the container.
const LAYOUT_VERSION: i32 = 0;
/// The library whose files ours are like: major, minor and patch, two digits each.
const LIBRARY_VERSION: i32 = 10_803;
/// The time sampling of what does not move, which every archive begins with.
const STILL: u32 = 0;
/// The time sampling of the meshes.
const FRAMES: u32 = 1;

/// Why an archive can't be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AlembicError {
    /// The bytes don't go out.
    #[error("the file cannot be written")]
    Io(#[from] io::Error),
    /// There is no mesh.
    #[error("the archive has nothing in it")]
    Empty,
    /// A mesh has no vertices, triangles or samples.
    #[error("{name} has no {what}")]
    Nothing {
        /// What it is called.
        name: String,
        /// `vertices`, `triangles` or `samples`.
        what: &'static str,
    },
    /// More than the format counts.
    #[error("{name} has {found} {what}, an archive counts at most {limit}")]
    TooMany {
        /// What it is called.
        name: String,
        /// `vertices`, `samples` or `bytes in its name`.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A sample has another number of vertices than the mesh.
    #[error("{name} sample {sample} has {found} vertices, expected {expected}")]
    VertexCount {
        /// What it is called.
        name: String,
        /// The sample's index.
        sample: usize,
        /// Vertices given.
        found: usize,
        /// Vertices of the mesh.
        expected: usize,
    },
    /// A coordinate is NaN or infinite.
    #[error("{name} sample {sample}: vertex {vertex} has a coordinate that is not finite")]
    NotFinite {
        /// What it is called.
        name: String,
        /// The sample's index.
        sample: usize,
        /// The vertex.
        vertex: usize,
    },
    /// Two meshes move for different times.
    #[error("{name} has {found} samples, {other} has {expected}")]
    SampleCount {
        /// What it is called.
        name: String,
        /// How many samples it has.
        found: usize,
        /// The first mesh of the archive.
        other: String,
        /// How many samples that has.
        expected: usize,
    },
}

/// Writes an archive mesh by mesh. Wrap files in a buffered writer. After an error
/// of writing the file is of no use.
#[derive(Debug)]
pub struct AlembicWriter<W: Write + Seek> {
    out: OgawaWriter<W>,
    frame_rate: FrameRate,
    meshes: Vec<Written>,
    names: Vec<String>,
    /// Of every mesh, once there is one.
    n_samples: u32,
    buffer: Vec<u8>,
}

impl<W: Write + Seek> AlembicWriter<W> {
    /// Begins an archive whose samples are a frame apart, where `out` stands.
    ///
    /// # Errors
    /// When writing fails.
    pub fn new(out: W, frame_rate: FrameRate) -> Result<Self, AlembicError> {
        Ok(Self {
            out: OgawaWriter::new(out)?,
            frame_rate,
            meshes: Vec::new(),
            names: Vec::new(),
            n_samples: 0,
            buffer: Vec::new(),
        })
    }

    /// Begins a mesh. Slashes and control characters in its name become `_`, a name
    /// that is taken gets a number; [`MeshWriter::name`] tells.
    ///
    /// # Errors
    /// When there are no vertices or triangles, or too many, or writing fails.
    pub fn mesh(
        &mut self,
        name: &str,
        topology: &Topology,
    ) -> Result<MeshWriter<'_, W>, AlembicError> {
        let name = free_name(name, &self.names);
        let nothing = |what| AlembicError::Nothing {
            name: name.clone(),
            what,
        };
        if topology.n_vertices() == 0 {
            return Err(nothing("vertices"));
        }
        if topology.triangles().is_empty() {
            return Err(nothing("triangles"));
        }
        // Indices have a sign; a name's shape has five letters more.
        let limits = [
            ("vertices", topology.n_vertices(), i32::MAX as usize),
            ("bytes in its name", name.len(), i32::MAX as usize),
        ];
        for (what, found, limit) in limits {
            if found > limit {
                return Err(AlembicError::TooMany {
                    name,
                    what,
                    found,
                    limit,
                });
            }
        }
        let mut indices = Samples::default();
        self.buffer.clear();
        for corner in topology.triangles().iter().flat_map(|t| t.iter().rev()) {
            self.buffer.extend(corner.to_le_bytes());
        }
        indices.array(&mut self.out, &self.buffer)?;
        let mut counts = Samples::default();
        self.buffer.clear();
        for _ in topology.triangles() {
            self.buffer.extend(3i32.to_le_bytes());
        }
        counts.array(&mut self.out, &self.buffer)?;
        Ok(MeshWriter {
            archive: self,
            name,
            n_vertices: topology.n_vertices(),
            n_triangles: topology.triangles().len(),
            n_samples: 0,
            indices,
            counts,
            positions: Samples::default(),
            bounds: Samples::default(),
        })
    }

    /// Ends the archive and hands `out` back, at the end of the file.
    ///
    /// # Errors
    /// When there is no mesh, or writing fails.
    pub fn finish(mut self) -> Result<W, AlembicError> {
        if self.meshes.is_empty() {
            return Err(AlembicError::Empty);
        }
        let out = &mut self.out;
        let (top, _) = object::object(out, &[], &self.meshes)?;
        let [major, minor, patch] = [10_000, 100, 1].map(|unit| LIBRARY_VERSION / unit % 100);
        let metadata = format!(
            "FramesPerTimeUnit={};_ai_AlembicVersion=Alembic {major}.{minor}.{patch};\
             _ai_Application=drapery {}",
            self.frame_rate.hz(),
            env!("CARGO_PKG_VERSION")
        );
        let samplings = [
            time_sampling(1, 1.0),
            time_sampling(self.n_samples, self.frame_rate.frame_step().0),
        ]
        .concat();
        let root = [
            out.data(&[&LAYOUT_VERSION.to_le_bytes()])?,
            out.data(&[&LIBRARY_VERSION.to_le_bytes()])?,
            top,
            out.data(&[metadata.as_bytes()])?,
            out.data(&[&samplings])?,
            out.data(&[&Metadata::table()])?,
        ];
        let root = out.group(&root)?;
        Ok(self.out.finish(root)?)
    }
}

/// Writes a mesh sample by sample. One that is dropped without
/// [`finish`](Self::finish) is not in the archive.
#[derive(Debug)]
#[must_use = "a mesh is in the archive once it is finished"]
pub struct MeshWriter<'a, W: Write + Seek> {
    archive: &'a mut AlembicWriter<W>,
    name: String,
    n_vertices: usize,
    n_triangles: usize,
    n_samples: u32,
    indices: Samples,
    counts: Samples,
    positions: Samples,
    bounds: Samples,
}

impl<W: Write + Seek> MeshWriter<'_, W> {
    /// What it is called in the archive.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Appends a sample: positions [m], shape [vertex].
    ///
    /// # Errors
    /// When the number of vertices differs, a coordinate is not finite, there are
    /// too many samples, or writing fails.
    pub fn push(&mut self, positions: &[Vec3]) -> Result<(), AlembicError> {
        let sample = self.n_samples as usize;
        let n_samples = self.n_samples.checked_add(1);
        let n_samples = n_samples.ok_or_else(|| AlembicError::TooMany {
            name: self.name.clone(),
            what: "samples",
            found: sample.saturating_add(1),
            limit: u32::MAX as usize,
        })?;
        if positions.len() != self.n_vertices {
            return Err(AlembicError::VertexCount {
                name: self.name.clone(),
                sample,
                found: positions.len(),
                expected: self.n_vertices,
            });
        }
        if let Some(vertex) = positions.iter().position(|p| !p.is_finite()) {
            return Err(AlembicError::NotFinite {
                name: self.name.clone(),
                sample,
                vertex,
            });
        }
        let AlembicWriter { out, buffer, .. } = &mut *self.archive;
        buffer.clear();
        buffer.extend(
            positions
                .iter()
                .flat_map(|p| p.to_array())
                .flat_map(f32::to_le_bytes),
        );
        self.positions.array(out, buffer)?;
        let (low, high) = positions
            .iter()
            .fold((Vec3::MAX, Vec3::MIN), |(low, high), p| {
                (low.min(*p), high.max(*p))
            });
        buffer.clear();
        for bound in [low, high] {
            let bound = bound.as_dvec3().to_array();
            buffer.extend(bound.into_iter().flat_map(f64::to_le_bytes));
        }
        self.bounds.scalar(out, buffer)?;
        self.n_samples = n_samples;
        Ok(())
    }

    /// Ends the mesh.
    ///
    /// # Errors
    /// When there are no samples, or not as many as of the meshes before, or writing
    /// fails.
    pub fn finish(self) -> Result<(), AlembicError> {
        let AlembicWriter {
            out,
            meshes,
            names,
            n_samples,
            ..
        } = self.archive;
        if self.n_samples == 0 {
            return Err(AlembicError::Nothing {
                name: self.name,
                what: "samples",
            });
        }
        if let Some(other) = names.first().filter(|_| self.n_samples != *n_samples) {
            return Err(AlembicError::SampleCount {
                name: self.name,
                found: self.n_samples as usize,
                other: other.clone(),
                expected: *n_samples as usize,
            });
        }
        let values = |pod, extent| Values {
            pod,
            extent,
            n_samples: self.n_samples,
            time_sampling: FRAMES,
            is_constant: self.n_samples == 1,
        };
        let topology = Values {
            is_constant: true,
            ..values(Pod::I32, 1)
        };
        let positions = Kind::Array(values(Pod::F32, 3), self.n_vertices);
        let indices = Kind::Array(topology, 3 * self.n_triangles);
        let counts = Kind::Array(topology, self.n_triangles);
        let bounds = Kind::Scalar(values(Pod::F64, 6));
        let geometry = [
            self.bounds
                .property(out, ".selfBnds", Metadata::Box, bounds)?,
            self.positions
                .property(out, "P", Metadata::Point, positions)?,
            self.indices
                .property(out, ".faceIndices", Metadata::Absent, indices)?,
            self.counts
                .property(out, ".faceCounts", Metadata::Absent, counts)?,
        ];
        let geometry = Written::compound(out, ".geom", Metadata::MeshSchema, &geometry)?;
        let shape = format!("{}Shape", self.name);
        let mesh = Written::object(out, &shape, Metadata::MeshObject, &[geometry], &[])?;
        let mut inherits = Samples::default();
        inherits.scalar(out, &[1])?;
        let still = Kind::Scalar(Values {
            pod: Pod::Bool,
            extent: 1,
            n_samples: 1,
            time_sampling: STILL,
            is_constant: true,
        });
        let inherits = inherits.property(out, ".inherits", Metadata::Absent, still)?;
        let placed = Written::compound(out, ".xform", Metadata::XformSchema, &[inherits])?;
        meshes.push(Written::object(
            out,
            &self.name,
            Metadata::XformObject,
            &[placed],
            &[mesh],
        )?);
        names.push(self.name);
        *n_samples = self.n_samples;
        Ok(())
    }
}

/// A time sampling that begins at 0: the most samples that a property has of it,
/// seconds from one to the next, and the times of the first, which is one.
fn time_sampling(n_samples: u32, step_s: f64) -> Vec<u8> {
    let mut bytes = n_samples.to_le_bytes().to_vec();
    bytes.extend(step_s.to_le_bytes());
    bytes.extend(1u32.to_le_bytes());
    bytes.extend(0f64.to_le_bytes());
    bytes
}

/// A name that an object can have and none has yet.
fn free_name(wanted: &str, taken: &[String]) -> String {
    let is_bad = |c: char| c == '/' || c.is_control();
    let mut name = wanted.replace(is_bad, "_");
    if name.is_empty() {
        name.push_str("mesh");
    }
    let free = |name: &String| !taken.contains(name);
    if free(&name) {
        return name;
    }
    let mut numbered = (2u64..).map(|n| format!("{name}_{n}"));
    // As many numbers are taken as there are names at most.
    numbered.find(free).unwrap_or(name)
}
