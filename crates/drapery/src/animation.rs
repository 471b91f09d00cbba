//! A dressed character in motion, baked: [`Animation`], and the files it can
//! be taken away in.
//!
//! Vertex order is that of the garment's own file throughout. What each file
//! holds is in `docs/formats.md`.

use std::io::{Seek, Write};

use drapery_core::{
    AnimateError, BodyModel, Clip, Garment, GarmentAnimator, PosedBody, ShapedBody, Topology,
};
use drapery_runtime::{CorrectionConfig, HiddenSkin, Model, Outfit, OutfitError};
use drapery_scene::character::Character;
use drapery_scene::garment::to_obj;
use drapery_sim::{MeshBoxes, crossings};
use drapery_store::CacheWriteError;
use drapery_store::alembic::{AlembicError, AlembicWriter};
use drapery_store::gltf::{GarmentNormals, GlbBlend, GlbScene, GlbWriteError, write_glb};
use drapery_store::mdd::MddWriter;
use drapery_store::moving::{MovingBody, MovingGarment, SceneWriteError};
use drapery_store::npz::{NpyArray, NpzError, write_npz};
use drapery_store::obj::write_obj;
use drapery_store::pc2::Pc2Writer;
use drapery_store::usd::{UsdScene, write_usda};
use glam::{DVec3, Vec3};

use crate::blended::BlendedGarment;
use crate::road::{RollOut, RollOutError, roll_out_with_state};

/// A garment's positions over a clip.
#[derive(Clone, Debug)]
pub struct BakedGarment<'a> {
    /// The garment.
    pub garment: &'a Garment,
    /// World positions [m], shape [frame][vertex].
    pub frames: Vec<Vec<Vec3>>,
}

/// A character of one shape, its garments and a clip.
#[derive(Clone, Debug)]
pub struct Animation<'a> {
    /// The character.
    pub character: &'a Character,
    /// Its shape.
    pub body: &'a ShapedBody,
    /// Its motion, on its own skeleton.
    pub clip: &'a Clip,
    /// What it wears, from the skin outwards.
    pub garments: Vec<BakedGarment<'a>>,
    /// What it wears as sums of shapes, which only `.glb` holds.
    pub blends: Vec<BlendedGarment<'a>>,
    /// The skin that its clothes always hide, which need not be drawn.
    pub hidden: Option<HiddenSkin>,
    /// Whether each vertex of the body is under clothes, shape [body vertex], where
    /// cloth that is a little beneath the skin is drawn over it.
    pub is_under: Option<Vec<bool>>,
    /// The farthest that correction moved a vertex [m]; none where there is none.
    pub corrected: Option<f32>,
}

/// Skin and cloth in exported scenes, linear.
const SKIN: [f32; 3] = [0.55, 0.34, 0.24];
const CLOTH: [[f32; 3]; 4] = [
    [0.10, 0.20, 0.45],
    [0.45, 0.10, 0.12],
    [0.10, 0.33, 0.16],
    [0.40, 0.30, 0.08],
];

impl<'a> Animation<'a> {
    /// A character that moves and wears nothing yet.
    pub const fn new(character: &'a Character, body: &'a ShapedBody, clip: &'a Clip) -> Self {
        Self {
            character,
            body,
            clip,
            garments: Vec::new(),
            blends: Vec::new(),
            hidden: None,
            is_under: None,
            corrected: None,
        }
    }

    /// Bakes one garment more. `each` gets the number of every finished frame
    /// and returns `false` to stop, which leaves the garment out.
    ///
    /// # Errors
    /// When the body does not fit the clip or the garment.
    pub fn wear<A: GarmentAnimator>(
        &mut self,
        garment: &'a Garment,
        animator: &A,
        each: impl FnMut(usize) -> bool,
    ) -> Result<RollOut, RollOutError> {
        self.wear_outfit(&[garment], animator, each)
    }

    /// Bakes several garments that one animator moves, whose vertices are
    /// theirs, one garment after the other. Otherwise as [`wear`](Self::wear).
    ///
    /// # Errors
    /// When the body does not fit the clip or the garments.
    ///
    /// # Panics
    /// When the animator does not have as many vertices as the garments.
    pub fn wear_outfit<A: GarmentAnimator>(
        &mut self,
        garments: &[&'a Garment],
        animator: &A,
        mut each: impl FnMut(usize) -> bool,
    ) -> Result<RollOut, RollOutError> {
        self.bake(garments, animator, |frame, _| each(frame))
    }

    /// Bakes garments by their models, from the skin outwards, and pushes them out of
    /// the body and off each other if they are to be. What the models say that is
    /// hidden is not drawn. Otherwise as [`wear_outfit`](Self::wear_outfit).
    ///
    /// # Errors
    /// When the models are no outfit, or the body does not fit the clip or a model.
    ///
    /// # Panics
    /// When a model has not as many vertices as its garment.
    pub fn wear_models(
        &mut self,
        garments: &[&'a Garment],
        models: &[Model],
        correction: Option<CorrectionConfig>,
        mut each: impl FnMut(usize) -> bool,
    ) -> Result<RollOut, WearModelError> {
        let animators = models.iter().map(|model| model.animator().clone());
        let outfit = Outfit::new(animators.collect())?;
        let topology = self.character.topology();
        let config = correction.unwrap_or_default();
        let corrected = outfit.clone().corrected(topology, self.body, config)?;
        let is_under = corrected.is_worn_over();
        let outfit = match correction {
            Some(_) => corrected,
            None => outfit,
        };
        let mut farthest = 0.0;
        let ended = self.bake(garments, &outfit, |frame, state| {
            farthest = state.farthest();
            each(frame)
        })?;
        self.hide(models);
        self.is_under = is_under;
        self.corrected = correction.map(|_| farthest);
        Ok(ended)
    }

    /// Leaves out the skin that models say is always hidden.
    pub fn hide(&mut self, models: &[Model]) {
        let topology = self.character.topology();
        let of_this_body = models.iter().filter_map(Model::hidden);
        for hidden in of_this_body.filter(|h| h.is_of(topology)) {
            match &mut self.hidden {
                Some(all) => all.add(hidden),
                None => self.hidden = Some(hidden.clone()),
            }
        }
    }

    fn bake<A: GarmentAnimator>(
        &mut self,
        garments: &[&'a Garment],
        animator: &A,
        mut each: impl FnMut(usize, &A::State) -> bool,
    ) -> Result<RollOut, RollOutError> {
        let n_vertices = |garment: &&Garment| garment.mesh().positions().len();
        assert_eq!(
            animator.topology().n_vertices(),
            garments.iter().map(n_vertices).sum::<usize>(),
            "the animator moves the garments"
        );
        let mut baked: Vec<BakedGarment<'a>> = garments
            .iter()
            .map(|garment| BakedGarment {
                garment,
                frames: Vec::with_capacity(self.clip.frames().len()),
            })
            .collect();
        let ended = roll_out_with_state(
            animator,
            self.character,
            self.body,
            self.clip,
            |frame, _, cloth, state| {
                let mut rest = cloth;
                for baked in &mut baked {
                    let own = baked.garment.mesh().positions().len();
                    let (own, others) = rest.split_at(own);
                    baked.frames.push(own.to_vec());
                    rest = others;
                }
                each(frame, state)
            },
        )?;
        if ended == RollOut::Done {
            self.garments.append(&mut baked);
        }
        Ok(ended)
    }

    /// The frames in which an edge of one garment passes through a face of
    /// another.
    pub fn crossed_frames(&self) -> Vec<usize> {
        let wide =
            |points: &[Vec3]| -> Vec<DVec3> { points.iter().map(|p| p.as_dvec3()).collect() };
        let crosses = |frame: &usize| {
            let placed: Vec<(MeshBoxes, Vec<DVec3>)> = self
                .garments
                .iter()
                .map(|baked| {
                    let x = wide(&baked.frames[*frame]);
                    (MeshBoxes::new(baked.garment.mesh().topology(), &x), x)
                })
                .collect();
            placed.iter().enumerate().any(|(i, (boxes, x))| {
                let mut outer = placed[i + 1..].iter();
                outer.any(|(other, y)| !crossings(boxes, x, other, y).is_empty())
            })
        };
        let n_frames = self.garments.first().map_or(0, |g| g.frames.len());
        (0..n_frames).filter(crosses).collect()
    }

    /// Poses the body at a frame into `out`.
    ///
    /// # Errors
    /// When the clip is of another skeleton.
    pub fn pose_body(&self, frame: usize, out: &mut PosedBody) -> Result<(), RollOutError> {
        let velocity = drapery_core::PoseVelocity::zero(self.clip.skeleton().len());
        self.character
            .pose(self.body, &self.clip.frames()[frame], &velocity, out)
            .map_err(|source| RollOutError::Pose { frame, source })
    }

    /// The body's triangles without those that clothes always hide.
    pub fn seen_body(&self) -> Topology {
        let body = self.character.topology();
        match &self.hidden {
            Some(hidden) => hidden.seen(body),
            None => body.clone(),
        }
    }

    /// The body as it is written, of the triangles that are seen.
    fn written_body<'b>(&'b self, seen: &'b Topology) -> MovingBody<'b> {
        MovingBody {
            name: self.character.name(),
            topology: seen,
            rest: &self.body.rest,
            skeleton: self.character.skeleton(),
            joints: &self.body.joints,
            skin: self.character.skin_weights(),
            frames: self.clip.frames(),
            colour: SKIN,
        }
    }

    /// The baked garments as they are written.
    fn written_garments(&self) -> Vec<MovingGarment<'_>> {
        let garments = self.garments.iter().zip(CLOTH.iter().cycle());
        let written = garments.map(|(baked, colour)| MovingGarment {
            name: baked.garment.name(),
            topology: baked.garment.mesh().topology(),
            frames: &baked.frames,
            colour: *colour,
        });
        written.collect()
    }

    /// Writes a `.glb`: skinned body without what is always hidden, baked garments.
    /// Wrap files in a buffer.
    ///
    /// # Errors
    /// When the parts don't fit together or writing fails.
    pub fn write_glb(&self, out: &mut dyn Write) -> Result<(), GlbWriteError> {
        let seen = self.seen_body();
        let scene = GlbScene {
            frame_rate: self.clip.frame_rate(),
            body: Some(self.written_body(&seen)),
            garments: self.written_garments(),
            normals: GarmentNormals::default(),
            blends: (self.blends.iter().zip(CLOTH.iter().cycle()))
                .map(|(blend, colour)| GlbBlend {
                    name: blend.garment.name(),
                    topology: blend.garment.mesh().topology(),
                    mean: &blend.mean,
                    shapes: &blend.shapes,
                    weights: &blend.weights,
                    places: &blend.places,
                    colour: *colour,
                })
                .collect(),
        };
        write_glb(&scene, out)
    }

    /// Writes a `.usda`: skinned body without what is always hidden, baked garments.
    ///
    /// # Errors
    /// When the parts don't fit together or writing fails.
    pub fn write_usda(&self, out: &mut dyn Write) -> Result<(), SceneWriteError> {
        let seen = self.seen_body();
        let scene = UsdScene {
            frame_rate: self.clip.frame_rate(),
            body: Some(self.written_body(&seen)),
            garments: self.written_garments(),
        };
        write_usda(&scene, out)
    }

    /// Writes an Alembic archive: a mesh `body`, posed in every frame and without what
    /// is always hidden, and each garment. Wrap files in a buffer.
    ///
    /// # Errors
    /// When the clip is of another skeleton, the parts don't fit together or writing
    /// fails.
    pub fn write_alembic(&self, out: impl Write + Seek) -> Result<(), AlembicExportError> {
        let mut archive = AlembicWriter::new(out, self.clip.frame_rate())?;
        let mut body = archive.mesh("body", &self.seen_body())?;
        let mut posed = self.character.room();
        for frame in 0..self.clip.frames().len() {
            self.pose_body(frame, &mut posed)?;
            body.push(&posed.vertices)?;
        }
        body.finish()?;
        for baked in &self.garments {
            let name = baked.garment.name();
            let mut mesh = archive.mesh(name, baked.garment.mesh().topology())?;
            for frame in &baked.frames {
                mesh.push(frame)?;
            }
            mesh.finish()?;
        }
        archive.finish()?;
        Ok(())
    }

    /// The bytes of an `.npz` with everything: garments, body, poses, names.
    ///
    /// # Errors
    /// When the clip is of another skeleton or the archive can't be made.
    pub fn npz(&self) -> Result<Vec<u8>, NpzExportError> {
        let n_frames = self.clip.frames().len();
        let skeleton = self.character.skeleton();
        let mut arrays: Vec<(String, NpyArray)> = Vec::new();
        let mut add = |name: &str, array| arrays.push((name.to_string(), array));
        for baked in &self.garments {
            let n_vertices = baked.garment.mesh().positions().len();
            let values = baked
                .frames
                .iter()
                .flatten()
                .flat_map(|p| p.to_array())
                .collect();
            let name = baked.garment.name();
            add(
                &format!("cloth/{name}"),
                NpyArray::f32([baked.frames.len(), n_vertices, 3], values),
            );
            add(
                &format!("triangles/{name}"),
                triangles(baked.garment.mesh().triangles()),
            );
        }
        let mut posed = self.character.room();
        let mut body = Vec::with_capacity(n_frames * posed.vertices.len() * 3);
        for frame in 0..n_frames {
            self.pose_body(frame, &mut posed)?;
            body.extend(posed.vertices.iter().flat_map(|p| p.to_array()));
        }
        add(
            "body",
            NpyArray::f32([n_frames, posed.vertices.len(), 3], body),
        );
        add(
            "triangles/body",
            triangles(self.character.topology().triangles()),
        );
        if let Some(hidden) = &self.hidden {
            let flags = hidden.triangles(self.character.topology());
            let values: Vec<i64> = flags.iter().map(|h| i64::from(*h)).collect();
            add("hidden/body", NpyArray::i64([values.len()], values));
        }
        let poses = self.clip.frames().iter();
        let rotations = poses.clone().flat_map(|p| &p.rotations);
        let rotations = rotations.flat_map(|q| [q.w, q.x, q.y, q.z]).collect();
        add(
            "pose",
            NpyArray::f32([n_frames, skeleton.len(), 4], rotations),
        );
        add(
            "root",
            NpyArray::f32(
                [n_frames, 3],
                poses.flat_map(|p| p.root.to_array()).collect(),
            ),
        );
        add(
            "shape",
            NpyArray::f32([self.body.shape.len()], self.body.shape.clone()),
        );
        add(
            "joint_names",
            NpyArray::from_text([skeleton.len()], skeleton.names().to_vec()),
        );
        add(
            "frame_rate",
            NpyArray::f64([], vec![self.clip.frame_rate().hz()]),
        );
        let borrowed: Vec<(&str, &NpyArray)> =
            arrays.iter().map(|(n, a)| (n.as_str(), a)).collect();
        Ok(write_npz(&borrowed)?)
    }
}

/// Why garments can't be worn by their models.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WearModelError {
    /// The models are no outfit.
    #[error(transparent)]
    Outfit(#[from] OutfitError),
    /// A model was made for another body.
    #[error(transparent)]
    Correction(#[from] AnimateError),
    /// The clip can't be rolled out.
    #[error(transparent)]
    RollOut(#[from] RollOutError),
}

/// Why an `.npz` can't be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NpzExportError {
    /// The clip is not of this character.
    #[error(transparent)]
    RollOut(#[from] RollOutError),
    /// The archive can't be made.
    #[error(transparent)]
    Npz(#[from] NpzError),
}

/// Why an Alembic archive can't be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AlembicExportError {
    /// The clip is not of this character.
    #[error(transparent)]
    RollOut(#[from] RollOutError),
    /// The archive can't be written.
    #[error(transparent)]
    Alembic(#[from] AlembicError),
}

fn triangles(triangles: &[[u32; 3]]) -> NpyArray {
    let indices = triangles.iter().flatten().map(|&v| i64::from(v)).collect();
    NpyArray::i64([triangles.len(), 3], indices)
}

impl BakedGarment<'_> {
    /// Writes a PC2 point cache, one sample a frame from frame 0.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write_pc2(&self, out: impl Write) -> Result<(), CacheWriteError> {
        let n_points = self.garment.mesh().positions().len();
        let mut writer = Pc2Writer::new(out, n_points, self.frames.len())?;
        for frame in &self.frames {
            writer.push(frame)?;
        }
        writer.finish().map(drop)
    }

    /// Writes an MDD point cache with the frames' times at `frame_rate`.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write_mdd(
        &self,
        frame_rate: drapery_core::FrameRate,
        out: impl Write,
    ) -> Result<(), CacheWriteError> {
        let n_points = self.garment.mesh().positions().len();
        let times: Vec<f32> = (0..self.frames.len())
            .map(|f| frame_rate.time_of(drapery_core::FrameIndex(f as u32)).0 as f32)
            .collect();
        let mut writer = MddWriter::new(out, n_points, &times)?;
        for frame in &self.frames {
            writer.push(frame)?;
        }
        writer.finish().map(drop)
    }

    /// The text of an OBJ file of one frame, with the garment's pattern
    /// coordinates, panels and groups.
    ///
    /// # Panics
    /// When there is no such frame.
    pub fn obj(&self, frame: usize) -> String {
        let mut mesh = to_obj(self.garment);
        mesh.positions.clone_from(&self.frames[frame]);
        write_obj(&mesh)
    }
}
