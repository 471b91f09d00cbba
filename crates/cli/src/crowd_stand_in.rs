//! What a crowd is measured on: bodies that walk, each at a place and phase of its
//! own, and a stable space of any size that knows their poses.
//!
//! The stand-in has the sizes of a trained model and does all that one does on
//! poses that it knows. What it animates is a garment that trembles: nothing was
//! learned.

use anyhow::{Context, bail};
use drapery::core::{
    BodyFrame, BodyModel, CanonicalFrame, FrameIndex, FrameRate, Garment, GarmentAnimator, Pose,
    PoseVelocity, PosedBody, ShapedBody, Surroundings, TriMesh,
};
use drapery::runtime::{
    ClothSpace, Dynamics, PoseRange, PoseRangeParts, ROOT_MOTION, RootLimits, RootTerms,
    SkinnedGarment, StableSpace, StableSpaceParts, canonical_rows,
};
use drapery::scene::character::Character;
use drapery::scene::garment::{DraftConfig, GarmentKind, draft};
use drapery::scene::motion::sample;
use drapery::{core::Clip, dress_made_for};
use glam::{Affine3A, Quat, Vec3};

/// How far characters stand apart [m].
const APART: f32 = 1.5;

/// What the stand-in remembers of its last two frames: a swing that falls to 0.9
/// a frame, b₁ = 2 · 0.9 · 0.95 and b₂ = −0.9².
const SWING: [f32; 2] = [1.71, -0.81];

/// The body in every frame of a clip.
pub(crate) fn posed_clip(
    character: &Character,
    body: &ShapedBody,
    clip: &Clip,
) -> anyhow::Result<Vec<PosedBody>> {
    let n_joints = clip.skeleton().len();
    let mut pose = Pose::identity(Vec3::ZERO, n_joints);
    let mut velocity = PoseVelocity::zero(n_joints);
    let frames = 0..clip.frames().len() as u32;
    frames
        .map(|frame| {
            let time = clip.frame_rate().time_of(FrameIndex(frame));
            sample(clip, time, &mut pose, &mut velocity);
            let mut posed = character.room();
            character.pose(body, &pose, &velocity, &mut posed)?;
            Ok(posed)
        })
        .collect()
}

/// The bodies of a crowd in one frame.
pub(crate) struct Bodies<'a> {
    clip: &'a [PosedBody],
    body: &'a ShapedBody,
    poses: Vec<Pose>,
    joints: Vec<Affine3A>,
    positions: Vec<Vec3>,
}

impl<'a> Bodies<'a> {
    pub(crate) fn new(clip: &'a [PosedBody], body: &'a ShapedBody, count: usize) -> Self {
        let n_joints = clip[0].world_from_rest.len();
        Self {
            clip,
            body,
            poses: vec![clip[0].pose.clone(); count],
            joints: vec![Affine3A::IDENTITY; count * n_joints],
            positions: vec![Vec3::ZERO; count * n_joints],
        }
    }

    /// Puts all where they are in that frame; a clip that has ended begins again.
    pub(crate) fn go_to(&mut self, frame: usize) {
        let n_joints = self.clip[0].world_from_rest.len();
        let side = (self.poses.len() as f32).sqrt().ceil() as usize;
        let joints = self.joints.chunks_exact_mut(n_joints);
        let joints = joints.zip(self.positions.chunks_exact_mut(n_joints));
        for (i, (pose, (joints, positions))) in self.poses.iter_mut().zip(joints).enumerate() {
            let posed = &self.clip[(frame + 7 * i) % self.clip.len()];
            let turn = Quat::from_rotation_y(2.4 * i as f32);
            let way = APART * Vec3::new((i % side) as f32, 0.0, (i / side) as f32);
            let place = Affine3A::from_rotation_translation(turn, way);
            for (to, from) in joints.iter_mut().zip(&posed.world_from_rest) {
                *to = place * *from;
            }
            for (to, from) in positions.iter_mut().zip(&posed.joint_positions) {
                *to = place.transform_point3(*from);
            }
            pose.root = place.transform_point3(posed.pose.root);
            pose.rotations.copy_from_slice(&posed.pose.rotations);
            pose.rotations[0] = turn * pose.rotations[0];
        }
    }

    /// As animators see them; their surfaces are not there.
    pub(crate) fn frames(&self) -> Vec<BodyFrame<'_>> {
        let n_joints = self.clip[0].world_from_rest.len();
        let joints = self.joints.chunks_exact(n_joints);
        let joints = joints.zip(self.positions.chunks_exact(n_joints));
        let first = self.clip[0].frame(self.body, Surroundings::default());
        let bodies = self.poses.iter().zip(joints);
        bodies
            .map(|(pose, (world_from_rest, joint_positions))| BodyFrame {
                pose,
                world_from_rest,
                joint_positions,
                vertices: &[],
                ..first
            })
            .collect()
    }
}

/// A drafted garment of exactly so many vertices: what is beyond is cut off.
pub(crate) fn garment_of(
    name: &str,
    n_vertices: usize,
    character: &Character,
    body: &ShapedBody,
) -> anyhow::Result<Garment> {
    let drafted = match name {
        "dress" => "dress-a-line",
        other => other,
    };
    let Some(kind) = GarmentKind::named(drafted) else {
        let names: Vec<&str> = GarmentKind::ALL.iter().map(|kind| kind.name()).collect();
        bail!(
            "--garment {name}: crowds wear dress or one of {}",
            names.join(", ")
        );
    };
    let config = DraftConfig {
        // Two triangles a vertex, and some to cut off.
        n_triangles: (2 * n_vertices as u32 + n_vertices as u32 / 4).max(150),
        ..DraftConfig::default()
    };
    let garment = draft(kind, character, &body.shape, &config)?;
    let mesh = garment.mesh();
    let found = mesh.positions().len();
    if found < n_vertices {
        bail!("--vertices {n_vertices}: {name} was drafted with {found} only");
    }
    let is_left = |t: &[u32; 3]| t.iter().all(|v| (*v as usize) < n_vertices);
    let triangles = mesh.triangles().iter().copied().filter(is_left).collect();
    let mesh = TriMesh::new(mesh.positions()[..n_vertices].to_vec(), triangles)
        .with_context(|| format!("cannot cut {name} to {n_vertices} vertices"))?;
    Ok(Garment::new(
        name.to_string(),
        mesh,
        None,
        Vec::new(),
        Vec::new(),
    )?)
}

/// Numbers from −1 to 1, always the same.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    fn many(&mut self, n: usize, size: f32) -> Vec<f32> {
        (0..n).map(|_| size * self.next()).collect()
    }
}

/// A stable space of so many dimensions that knows the poses of a clip.
pub(crate) fn stand_in(
    garment: &Garment,
    character: &Character,
    clip: &[PosedBody],
    body: &ShapedBody,
    dims: usize,
    frame_rate: FrameRate,
) -> anyhow::Result<StableSpace> {
    let skinned = dress_made_for(garment, character, &body.shape, frame_rate)?;
    let mut numbers = Numbers(0x1234_5678_9abc_def1);
    let mean = mean_garment(&skinned, clip, body)?;
    let n_values = mean.len();
    let range = known_poses(clip, body, dims, &mut numbers)?;
    // Body, memory, root: each coefficient swings by itself.
    let size = 0.02 / (dims as f32).sqrt();
    let mut weights = numbers.many(dims * dims, size);
    for memory in SWING {
        for k in 0..dims {
            weights.extend((0..dims).map(|c| if c == k { memory } else { 0.0 }));
        }
    }
    weights.extend(numbers.many(ROOT_MOTION * SWING.len() * dims, 0.01));
    let parts = StableSpaceParts {
        range,
        space: ClothSpace::Canonical,
        mean,
        basis: numbers.many(dims * n_values, (3.0 / n_values as f32).sqrt()),
        still: numbers.many(dims * dims, size),
        dynamics: Dynamics::new(dims, dims, SWING.len(), RootTerms::With, weights)?,
        limits: RootLimits {
            step: 0.5,
            turn: 1.0,
        },
        // Looked at as in any model, and never met.
        reach: Some(1e3),
    };
    Ok(StableSpace::new(skinned, parts)?)
}

/// The mean of the skinned garment in canonical space [m].
fn mean_garment(
    skinned: &SkinnedGarment,
    clip: &[PosedBody],
    body: &ShapedBody,
) -> anyhow::Result<Vec<f32>> {
    let mut out = vec![Vec3::ZERO; skinned.rest().len()];
    let mut mean = vec![0.0; 3 * out.len()];
    let mut state = skinned.start(&clip[0].frame(body, Surroundings::default()))?;
    for posed in clip {
        let seen = posed.frame(body, Surroundings::default());
        skinned.step(&mut state, &seen, &mut out)?;
        let canonical = CanonicalFrame::of(&posed.pose, 0.0).canonical_from_world();
        for (mean, p) in mean.as_chunks_mut::<3>().0.iter_mut().zip(&out) {
            let p = canonical.transform_point3(*p) / clip.len() as f32;
            *mean = (Vec3::from(*mean) + p).to_array();
        }
    }
    Ok(mean)
}

/// A space of the body in which all frames of the clip are known.
fn known_poses(
    clip: &[PosedBody],
    body: &ShapedBody,
    dims: usize,
    numbers: &mut Numbers,
) -> anyhow::Result<PoseRange> {
    let n_joints = clip[0].world_from_rest.len();
    let (width, n) = (4 * n_joints, 12 * n_joints);
    let mut rows = vec![0.0; n];
    let mut mean = vec![0.0; n];
    let frame_of = |posed: &PosedBody| CanonicalFrame::of(&posed.pose, 0.0);
    for posed in clip {
        canonical_rows(&frame_of(posed), &posed.world_from_rest, &mut rows);
        for (mean, row) in mean.iter_mut().zip(&rows) {
            *mean += row / clip.len() as f32;
        }
    }
    let mut metric = vec![0.0; width * width];
    metric.iter_mut().step_by(width + 1).for_each(|m| *m = 1.0);
    let parts = PoseRangeParts {
        mean,
        projection: numbers.many(n * dims, 1.0 / (n as f32).sqrt()),
        metric,
        weights: vec![1.0; dims + 1],
        knee: 1.0,
        // Wide: nothing was learned.
        bounds: [vec![-1e6; dims], vec![1e6; dims]].concat(),
        room: 1.0,
        shapes: [body.shape.clone(), body.shape.clone()].concat(),
    };
    let unknown = PoseRange::new(parts.clone())?;
    let (mut scratch, mut x) = (unknown.scratch(), vec![0.0; dims]);
    let distances = clip.iter().map(|posed| {
        unknown.project(
            &frame_of(posed),
            &posed.world_from_rest,
            &mut scratch,
            &mut x,
        )
    });
    let knee = 1.5 * distances.fold(0.1, f32::max);
    Ok(PoseRange::new(PoseRangeParts { knee, ..parts })?)
}
