//! The body: a SkelRoot with a skeleton, its motion and the mesh that follows.
//!
//! A joint of ours has no rotation at rest. So its bind transform moves by its
//! rest position, its rest transform by the offset from its parent, and a pose's
//! rotations are those of the animation.

use drapery_core::{Pose, Skeleton, skin_positions};
use glam::{Affine3A, Quat, Vec3};

use super::ROOT;
use super::mesh::{bounds, open, own, surface};
use super::names::Names;
use super::text::Text;
use crate::moving::{MovingBody, SceneWriteError};

const BINDING: &str = "prepend apiSchemas = [\"SkelBindingAPI\"]";
const SKELETON: &str = "skeleton";
const MOTION: &str = "motion";

/// A SkelRoot prim under the scene's root.
pub(super) fn write(
    body: &MovingBody<'_>,
    prim: &str,
    text: &mut Text<'_>,
) -> Result<(), SceneWriteError> {
    let at = format!("/{ROOT}/{prim}");
    open(text, format_args!("SkelRoot \"{prim}\""), Vec::new())?;
    let mut posed = Posed::new(body);
    let extents = (0..body.frames.len()).map(|frame| posed.bounds(frame));
    text.samples("float3[] extent", extents, Text::vector)?;
    let mut names = Names::default();
    skeleton(body, &at, &names.take(SKELETON), text)?;
    skin(body, &at, &names.take(body.name), text)?;
    text.close('}')
}

/// The joints, and below them how they move.
fn skeleton(
    body: &MovingBody<'_>,
    at: &str,
    prim: &str,
    text: &mut Text<'_>,
) -> Result<(), SceneWriteError> {
    let paths = joint_paths(body.skeleton);
    let offsets = offsets(body);
    open(
        text,
        format_args!("Skeleton \"{prim}\""),
        vec![BINDING.to_owned()],
    )?;
    text.array(
        format_args!("uniform matrix4d[] bindTransforms = "),
        body.joints.iter().copied(),
        Text::translation,
    )?;
    joints(&paths, text)?;
    text.array(
        format_args!("uniform token[] jointNames = "),
        body.skeleton.names(),
        |text, name| text.string(name),
    )?;
    text.array(
        format_args!("uniform matrix4d[] restTransforms = "),
        offsets.iter().copied(),
        Text::translation,
    )?;
    let rel = "rel skel:animationSource";
    text.line(format_args!("{rel} = <{at}/{prim}/{MOTION}>"))?;
    motion(body, &paths, &offsets, text)?;
    text.close('}')
}

fn motion(
    body: &MovingBody<'_>,
    paths: &[String],
    offsets: &[Vec3],
    text: &mut Text<'_>,
) -> Result<(), SceneWriteError> {
    open(text, format_args!("SkelAnimation \"{MOTION}\""), Vec::new())?;
    joints(paths, text)?;
    let mut before = vec![Quat::IDENTITY; paths.len()];
    let rotations = body.frames.iter().map(|pose| {
        continue_from(&mut before, pose);
        Ok(before.clone())
    });
    text.samples("quatf[] rotations", rotations, Text::quaternion)?;
    text.array(
        format_args!("half3[] scales = "),
        vec![Vec3::ONE; paths.len()],
        Text::vector,
    )?;
    let translations = body
        .frames
        .iter()
        .map(|pose| Ok([pose.root].into_iter().chain(offsets[1..].iter().copied())));
    text.samples("float3[] translations", translations, Text::vector)?;
    text.close('}')
}

/// The mesh at rest, and which joints its vertices follow.
fn skin(
    body: &MovingBody<'_>,
    at: &str,
    prim: &str,
    text: &mut Text<'_>,
) -> Result<(), SceneWriteError> {
    let mut metadata = own(body.name, prim);
    metadata.push(BINDING.to_owned());
    open(text, format_args!("Mesh \"{prim}\""), metadata)?;
    text.array(
        format_args!("float3[] extent = "),
        bounds(body.rest),
        Text::vector,
    )?;
    surface(body.topology, body.colour, text)?;
    text.array(
        format_args!("point3f[] points = "),
        body.rest.iter().copied(),
        Text::vector,
    )?;
    let identity = "((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))";
    let bind = "matrix4d primvars:skel:geomBindTransform";
    text.line(format_args!("{bind} = {identity}"))?;
    let n = body.skin.n_influences();
    text.array_per_vertex(
        n,
        format_args!("int[] primvars:skel:jointIndices = "),
        body.skin.joints(),
        |text, joint| text.put(format_args!("{joint}")),
    )?;
    text.array_per_vertex(
        n,
        format_args!("float[] primvars:skel:jointWeights = "),
        body.skin.weights().iter().copied(),
        Text::number,
    )?;
    text.line(format_args!("rel skel:skeleton = <{at}/{SKELETON}>"))?;
    text.close('}')
}

fn joints(paths: &[String], text: &mut Text<'_>) -> Result<(), SceneWriteError> {
    text.array(
        format_args!("uniform token[] joints = "),
        paths,
        |text, path| text.string(path),
    )
}

/// `hips/spine/chest` for each joint; the last parts too are unique.
fn joint_paths(skeleton: &Skeleton) -> Vec<String> {
    let mut names = Names::default();
    let mut paths: Vec<String> = Vec::with_capacity(skeleton.len());
    for (name, parent) in skeleton.names().iter().zip(skeleton.parents()) {
        let name = names.take(name);
        paths.push(match parent {
            Some(parent) => format!("{}/{name}", paths[parent.index()]),
            None => name,
        });
    }
    paths
}

/// Where each joint is seen from its parent at rest [m].
fn offsets(body: &MovingBody<'_>) -> Vec<Vec3> {
    let parents = body.skeleton.parents().iter();
    let offset = |(joint, parent): (&Vec3, &Option<drapery_core::JointId>)| match parent {
        Some(parent) => *joint - body.joints[parent.index()],
        None => *joint,
    };
    body.joints.iter().zip(parents).map(offset).collect()
}

/// The rotations of the next pose, with signs such that no step goes the long
/// way round.
fn continue_from(before: &mut [Quat], pose: &Pose) {
    for (before, next) in before.iter_mut().zip(&pose.rotations) {
        *before = match before.dot(*next) < 0.0 {
            true => -*next,
            false => *next,
        };
    }
}

/// Room for the body as it is skinned.
struct Posed<'a> {
    body: &'a MovingBody<'a>,
    rotations: Vec<Quat>,
    positions: Vec<Vec3>,
    vertices: Vec<Vec3>,
}

impl<'a> Posed<'a> {
    fn new(body: &'a MovingBody<'a>) -> Self {
        Self {
            body,
            rotations: vec![Quat::IDENTITY; body.joints.len()],
            positions: vec![Vec3::ZERO; body.joints.len()],
            vertices: vec![Vec3::ZERO; body.rest.len()],
        }
    }

    /// The box around the body at a frame.
    fn bounds(&mut self, frame: usize) -> Result<[Vec3; 2], SceneWriteError> {
        let body = self.body;
        body.skeleton.globals(
            body.joints,
            &body.frames[frame],
            &mut self.rotations,
            &mut self.positions,
        );
        let turned = self.rotations.iter().zip(&self.positions);
        let transforms: Vec<Affine3A> = (body.joints.iter().zip(turned))
            .map(|(rest, (rotation, position))| {
                Skeleton::world_from_rest(*rest, *rotation, *position)
            })
            .collect();
        skin_positions(body.skin, &transforms, body.rest, &mut self.vertices);
        // A root or a vertex near the largest f32 is finite, but not what comes of it.
        match self.vertices.iter().all(|v| v.is_finite()) {
            true => Ok(bounds(&self.vertices)),
            false => Err(SceneWriteError::NotFinite {
                name: body.name.to_owned(),
                frame,
                what: "posed vertices",
            }),
        }
    }
}
