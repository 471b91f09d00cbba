//! Moving cloth in files of other programs, read a frame at a time:
//! [`ClothFile`].
//!
//! | file | frames | says of itself |
//! |---|---|---|
//! | `.pc2` | its samples | frames from one sample to the next |
//! | `.mdd` | its samples | their times |
//! | `.npz` | rows of `cloth/<garment>` or `vertices` [frame, vertex, 3] | `frame_rate` or `fps`; `triangles/<garment>` or `faces` |
//! | a folder, or `name_*.obj` | one OBJ file a frame, by the last number in its name | triangles |
//!
//! Positions are in the file's own unit and axes. No more than a few frames
//! are in memory, whatever the length of a file.

mod error;
mod numbered;

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use glam::Vec3;

pub use error::ClothError;

use crate::mdd::{self, MddHeader};
use crate::npz::{NpyRows, NpzFile};
use crate::obj::{ObjMesh, read_obj};
use crate::pc2::{self, Pc2Header};
use crate::point_cache::{CacheError, Order, read_points};

/// Keys under which archives keep a frame rate.
const RATES: [&str; 5] = [
    "frame_rate",
    "fps",
    "framerate",
    "mocap_framerate",
    "mocap_frame_rate",
];

/// A file, or a row of files, with the positions of a garment.
#[derive(Clone, Debug)]
pub struct ClothFile {
    path: PathBuf,
    kind: Kind,
    n_frames: usize,
    n_points: usize,
    frame_rate: Option<f64>,
    frame_step: Option<f32>,
    triangles: Option<Vec<[u32; 3]>>,
}

#[derive(Clone, Debug)]
enum Kind {
    Cache { start: u64, order: Order },
    Npz { file: NpzFile, array: String },
    Objs(Vec<PathBuf>),
}

impl ClothFile {
    /// Opens the file with the positions of a garment of that name.
    ///
    /// # Errors
    /// When it is not there, of another kind or not whole.
    pub fn open(path: &Path, garment: &str) -> Result<Self, ClothError> {
        let ending = path.extension().map(|e| e.to_ascii_lowercase());
        let opened = match ending.as_deref().and_then(|e| e.to_str()) {
            _ if path.is_dir() => Self::objs(path),
            Some("pc2") => Self::pc2(path),
            Some("mdd") => Self::mdd(path),
            Some("npz") => Self::npz(path, garment),
            Some("obj") => Self::objs(path),
            _ => Err(ClothError::Kind { path: path.into() }),
        }?;
        match opened.n_frames {
            0 => Err(ClothError::NoFrames { path: path.into() }),
            _ => Ok(opened),
        }
    }

    /// The file, the folder, or the pattern of names.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many frames it has.
    pub const fn n_frames(&self) -> usize {
        self.n_frames
    }

    /// How many vertices.
    pub const fn n_points(&self) -> usize {
        self.n_points
    }

    /// Its frame rate [Hz], if it says.
    pub const fn frame_rate(&self) -> Option<f64> {
        self.frame_rate
    }

    /// Frames of the program that wrote it from one to the next, if it says.
    pub const fn frame_step(&self) -> Option<f32> {
        self.frame_step
    }

    /// Its triangles, if it has any.
    pub fn triangles(&self) -> Option<&[[u32; 3]]> {
        self.triangles.as_deref()
    }

    /// The files that it is read from.
    pub fn files(&self) -> Vec<PathBuf> {
        match &self.kind {
            Kind::Objs(paths) => paths.clone(),
            _ => vec![self.path.clone()],
        }
    }

    /// All frames, from the first.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn frames(&self) -> Result<ClothFrames, ClothError> {
        let from = match &self.kind {
            Kind::Cache { start, order } => {
                let mut file = self.read_file()?;
                file.seek(SeekFrom::Start(*start))
                    .map_err(unread(&self.path))?;
                From::Cache {
                    file: BufReader::new(file),
                    order: *order,
                }
            }
            Kind::Npz { file, array } => {
                From::Npz(file.rows(array).map_err(wrong_npz(&self.path))?)
            }
            Kind::Objs(paths) => From::Objs(paths.clone()),
        };
        Ok(ClothFrames {
            path: self.path.clone(),
            from,
            n_frames: self.n_frames,
            n_points: self.n_points,
            next: 0,
        })
    }

    fn read_file(&self) -> Result<File, ClothError> {
        File::open(&self.path).map_err(unread(&self.path))
    }

    fn pc2(path: &Path) -> Result<Self, ClothError> {
        let (mut file, n_file) = open(path)?;
        let header = head_of(&mut file, pc2::HEADER_BYTES, path)?;
        let n_body = n_file.saturating_sub(pc2::HEADER_BYTES);
        let header = Pc2Header::read(&header, n_body).map_err(wrong_cache(path))?;
        Ok(Self {
            path: path.into(),
            kind: Kind::Cache {
                start: pc2::HEADER_BYTES as u64,
                order: Order::Little,
            },
            n_frames: header.n_samples,
            n_points: header.n_points,
            frame_rate: None,
            frame_step: Some(header.sample_rate),
            triangles: None,
        })
    }

    fn mdd(path: &Path) -> Result<Self, ClothError> {
        let (mut file, n_file) = open(path)?;
        let first = head_of(&mut file, mdd::HEADER_BYTES, path)?;
        let n_samples = MddHeader::n_samples(&first).map_err(wrong_cache(path))?;
        // No more than there is, whatever the file says.
        let n_times = n_samples.saturating_mul(4).min(n_file);
        let mut header = first;
        header.extend(head_of(&mut file, n_times, path)?);
        let header = MddHeader::read(&header, n_file).map_err(wrong_cache(path))?;
        Ok(Self {
            path: path.into(),
            frame_rate: even_rate(&header.times, path)?,
            kind: Kind::Cache {
                start: header.n_bytes() as u64,
                order: Order::Big,
            },
            n_frames: header.times.len(),
            n_points: header.n_points,
            frame_step: None,
            triangles: None,
        })
    }

    fn npz(path: &Path, garment: &str) -> Result<Self, ClothError> {
        let wrong = wrong_npz(path);
        let file = NpzFile::open(path).map_err(&wrong)?;
        let own = format!("cloth/{garment}");
        let array = [own.as_str(), "vertices", "cloth"];
        let array = array.into_iter().find(|name| file.contains(name));
        // Asking for its own name says what is there instead.
        let array = array.unwrap_or(&own).to_string();
        let shape = file.shape(&array).map_err(&wrong)?;
        let [n_frames, n_points, 3] = shape[..] else {
            return Err(ClothError::Shape {
                array,
                found: shape,
                expected: "[frame, vertex, 3]",
                path: path.into(),
            });
        };
        let rate = RATES.into_iter().find(|name| file.contains(name));
        let frame_rate = match rate {
            Some(name) => {
                let values = file.get(name).map_err(&wrong)?;
                let values = values.into_f64().map_err(|e| wrong(e.into()))?;
                values.first().copied()
            }
            None => None,
        };
        let own = format!("triangles/{garment}");
        let faces = [own.as_str(), "faces", "triangles", "f"];
        let faces = faces.into_iter().find(|name| file.contains(name));
        let triangles = match faces {
            Some(name) => Some(triangles_of(&file, name, n_points, path)?),
            None => None,
        };
        Ok(Self {
            path: path.into(),
            kind: Kind::Npz { file, array },
            n_frames,
            n_points,
            frame_rate,
            frame_step: None,
            triangles,
        })
    }

    fn objs(path: &Path) -> Result<Self, ClothError> {
        let paths = numbered::files(path)?;
        let Some(first) = paths.first() else {
            return Err(ClothError::NoFrames { path: path.into() });
        };
        let mesh = obj(first)?;
        let triangles = mesh.faces.iter().map(|f| f.positions).collect();
        Ok(Self {
            path: path.into(),
            n_frames: paths.len(),
            n_points: mesh.positions.len(),
            kind: Kind::Objs(paths),
            frame_rate: None,
            frame_step: None,
            triangles: Some(triangles),
        })
    }
}

/// The frames of a [`ClothFile`], one after the other.
#[derive(Debug)]
pub struct ClothFrames {
    path: PathBuf,
    from: From,
    n_frames: usize,
    n_points: usize,
    next: usize,
}

#[derive(Debug)]
enum From {
    Cache { file: BufReader<File>, order: Order },
    Npz(NpyRows),
    Objs(Vec<PathBuf>),
}

impl Iterator for ClothFrames {
    type Item = Result<Vec<Vec3>, ClothError>;

    fn next(&mut self) -> Option<Self::Item> {
        let frame = self.next;
        if frame == self.n_frames {
            return None;
        }
        let read = self.read(frame);
        self.next = match read {
            Ok(_) => frame + 1,
            // What follows an error is not where it should be.
            Err(_) => self.n_frames,
        };
        Some(read)
    }
}

impl ClothFrames {
    fn read(&mut self, frame: usize) -> Result<Vec<Vec3>, ClothError> {
        let path = &self.path;
        match &mut self.from {
            From::Cache { file, order } => {
                let mut bytes = vec![0; 12 * self.n_points];
                file.read_exact(&mut bytes).map_err(unread(path))?;
                let points = read_points(&bytes, self.n_points, 1, 0, *order);
                points.map_err(|error| match error {
                    CacheError::NotFinite { point, .. } => ClothError::NotFinite {
                        frame,
                        point,
                        path: path.clone(),
                    },
                    source => wrong_cache(path)(source),
                })
            }
            From::Npz(rows) => match rows.next() {
                Some(Ok(row)) => {
                    let (points, _) = row.as_chunks::<3>();
                    Ok(points.iter().map(|p| Vec3::from_array(*p)).collect())
                }
                Some(Err(source)) => Err(error::of_row(source, frame, self.n_points, path)),
                None => Err(ClothError::NoFrames { path: path.clone() }),
            },
            From::Objs(paths) => {
                let positions = obj(&paths[frame])?.positions;
                match positions.len() == self.n_points {
                    true => Ok(positions),
                    false => Err(ClothError::Points {
                        frame,
                        found: positions.len(),
                        expected: self.n_points,
                        path: paths[frame].clone(),
                    }),
                }
            }
        }
    }
}

fn open(path: &Path) -> Result<(File, usize), ClothError> {
    let file = File::open(path).map_err(unread(path))?;
    let n_bytes = file.metadata().map_err(unread(path))?.len();
    Ok((file, usize::try_from(n_bytes).unwrap_or(usize::MAX)))
}

/// The next bytes of a file, `n` if there are so many.
fn head_of(file: &mut File, n: usize, path: &Path) -> Result<Vec<u8>, ClothError> {
    let mut bytes = Vec::new();
    let mut part = file.take(n as u64);
    part.read_to_end(&mut bytes).map_err(unread(path))?;
    Ok(bytes)
}

fn obj(path: &Path) -> Result<ObjMesh, ClothError> {
    let bytes = std::fs::read(path).map_err(unread(path))?;
    let reading = read_obj(&bytes).map_err(|source| ClothError::Obj {
        path: path.into(),
        source,
    })?;
    Ok(reading.mesh)
}

/// The rate of times that are evenly spaced [Hz]; none of a single one.
fn even_rate(times: &[f32], path: &Path) -> Result<Option<f64>, ClothError> {
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return Ok(None);
    };
    let (first, last) = (f64::from(*first), f64::from(*last));
    let n_steps = times.len() as f64 - 1.0;
    if last <= first {
        return Ok(None);
    }
    let step = (last - first) / n_steps;
    // A tenth of a step, and what single precision leaves of long times.
    let slack = 0.1 * step + 4.0 * f64::from(f32::EPSILON) * last.abs();
    for (sample, time) in times.iter().enumerate() {
        let expected = first + step * sample as f64;
        if (f64::from(*time) - expected).abs() > slack {
            return Err(ClothError::Uneven {
                frame: sample,
                time: f64::from(*time),
                expected,
                path: path.into(),
            });
        }
    }
    Ok(Some(1.0 / step))
}

fn triangles_of(
    file: &NpzFile,
    name: &str,
    n_points: usize,
    path: &Path,
) -> Result<Vec<[u32; 3]>, ClothError> {
    let wrong = wrong_npz(path);
    let array = file.get(name).map_err(&wrong)?;
    let shape = array.shape.clone();
    let [_, 3] = shape[..] else {
        return Err(ClothError::Shape {
            array: name.into(),
            found: shape,
            expected: "[triangle, 3]",
            path: path.into(),
        });
    };
    let corners = array.into_i64().map_err(|e| wrong(e.into()))?;
    let corners = corners.into_iter().enumerate().map(|(at, corner)| {
        let known = u32::try_from(corner).ok();
        let known = known.filter(|v| (*v as usize) < n_points);
        known.ok_or_else(|| ClothError::Corner {
            triangle: at / 3,
            vertex: corner,
            n_points,
            path: path.into(),
        })
    });
    let corners = corners.collect::<Result<Vec<u32>, _>>()?;
    Ok(corners.as_chunks::<3>().0.to_vec())
}

fn unread(path: &Path) -> impl Fn(std::io::Error) -> ClothError + '_ {
    |source| ClothError::Io {
        path: path.into(),
        source,
    }
}

fn wrong_cache(path: &Path) -> impl Fn(CacheError) -> ClothError + '_ {
    |source| ClothError::Cache {
        path: path.into(),
        source,
    }
}

fn wrong_npz(path: &Path) -> impl Fn(crate::npz::NpzError) -> ClothError + '_ {
    |source| ClothError::Npz {
        path: path.into(),
        source,
    }
}
