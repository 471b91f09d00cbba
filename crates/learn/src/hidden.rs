//! Which parts of the body the garment always hides.
//!
//! de Aguiar and others, "Stable Spaces for Real-time Clothing", 2010, §6.2: what
//! is never seen is not drawn, and so never pokes through the cloth.
//!
//! ```text
//! v is hidden in a frame  ⇔  every view d with d·n ≥ 0.2 and d·up ≥ −½ meets cloth or body
//! v is always hidden      ⇔  it is in every frame that is looked at, and so are its neighbours
//! ```
//!
//! | symbol | here           | meaning                                                 |
//! |--------|----------------|---------------------------------------------------------|
//! | d      | [`N_VIEWS`]    | directions evenly over the sphere, from the skin        |
//! | n      |                | normal of the skin at v                                 |
//!
//! # Where we differ
//! The paper does not say from where it looks. Nobody looks up from more than 30°
//! below: a thigh under a skirt is hidden though the skirt is open at its hem.
//! Neighbours are asked so that a learned garment, which is never quite where the
//! simulated one is, has a rim of skin to err on.

use drapery_core::{PoseVelocity, TriangleTree, vertex_normals};
use drapery_runtime::HiddenSkin;
use drapery_store::dataset::{PlannedSequence, Split};
use glam::Vec3;
use rayon::prelude::*;

use crate::TrainError;
use crate::frames::{Footage, plain};

/// Directions that are looked from.
pub const N_VIEWS: u32 = 64;
/// A view is of the skin when it is at least this steep to it: flatter ones pass
/// between skin and cloth for centimetres.
const FACING: f32 = 0.2;
/// The lowest view, as the sine of its elevation.
const LOWEST: f32 = -0.5;
/// Cloth that is so far beneath the skin still hides it [m].
const BENEATH: f32 = 3e-3;
/// The body is looked at from so far above [m].
const ABOVE: f32 = 1e-3;

/// The most frames that a model's hidden skin is looked for in. The time grows with
/// them: every vertex that is still hidden is looked at from some thirty directions.
/// What a pose between them shows is left to the rim of neighbours.
const N_LOOKS: u64 = 100;

/// The skin that the garment hides in a hundred frames, evenly spaced over the
/// `train` sequences without added stops. `watch` is asked now and then whether to
/// go on.
///
/// # Errors
/// As [`hidden_vertices`].
pub fn hidden_skin(
    footage: &Footage<'_>,
    watch: &dyn Fn() -> bool,
) -> Result<HiddenSkin, TrainError> {
    let mut train = footage.split(Split::Train)?;
    let without_copies = plain(&train);
    if !without_copies.is_empty() {
        train = without_copies;
    }
    let n_frames: u64 = train.iter().map(|s| u64::from(s.frames)).sum();
    let every = n_frames.div_ceil(N_LOOKS).max(1);
    let every = u32::try_from(every).unwrap_or(u32::MAX);
    Ok(HiddenSkin::new(hidden_in(footage, &train, every, watch)?))
}

/// Whether each vertex of the body is hidden by the garment in every `every`-th
/// frame of the `train` sequences, shape [body vertex]. `watch` is asked now and
/// then whether to go on.
///
/// # Errors
/// When nothing can be read, there is no such sequence, or `watch` says to stop.
pub fn hidden_vertices(
    footage: &Footage<'_>,
    every: u32,
    watch: &dyn Fn() -> bool,
) -> Result<Vec<bool>, TrainError> {
    hidden_in(footage, &footage.split(Split::Train)?, every, watch)
}

fn hidden_in(
    footage: &Footage<'_>,
    sequences: &[PlannedSequence],
    every: u32,
    watch: &dyn Fn() -> bool,
) -> Result<Vec<bool>, TrainError> {
    if sequences.is_empty() {
        return Err(TrainError::NoSequences { split: "train" });
    }
    let topology = footage.body.topology();
    let garment = &footage.store.head().garments[footage.garment].garment;
    let still = PoseVelocity::zero(footage.body.skeleton().len());
    let mut posed = footage.body.room();
    let mut normals = vec![Vec3::Y; topology.n_vertices()];
    let mut cloth_tree = TriangleTree::new(garment.mesh().triangles(), garment.mesh().positions());
    let mut skin_tree: Option<TriangleTree> = None;
    let mut is_hidden = vec![true; topology.n_vertices()];
    let views: Vec<Vec3> = views().filter(|d| d.y >= LOWEST).collect();
    for planned in sequences {
        let source = footage.store.sequence(&planned.name)?;
        let shaped = footage.body.shaped(&source.shape().coefficients)?;
        for frame in (0..planned.frames).step_by(every.max(1) as usize) {
            if !watch() {
                return Err(TrainError::Stopped);
            }
            let pose = source.poses(frame..frame + 1)?;
            let cloth = source.cloth(footage.garment, frame..frame + 1)?;
            let fail = |source| TrainError::Pose {
                sequence: planned.name.clone(),
                frame,
                source,
            };
            footage
                .body
                .pose(&shaped, &pose[0], &still, &mut posed)
                .map_err(fail)?;
            let skin = &posed.vertices;
            vertex_normals(topology, skin, &mut normals);
            cloth_tree.refit(&cloth);
            let tree =
                skin_tree.get_or_insert_with(|| TriangleTree::new(topology.triangles(), skin));
            tree.refit(skin);
            let meets = |tree: &TriangleTree, at: &[Vec3], from: Vec3, d: Vec3| {
                let met = tree.ray_crossings(from, d, at);
                met.entering + met.leaving + met.uncertain > 0
            };
            let is_covered = |v: usize| {
                let (p, n) = (skin[v], normals[v]);
                let mut facing = views.iter().filter(|d| d.dot(n) >= FACING).peekable();
                facing.peek().is_some()
                    && facing.all(|d| {
                        meets(&cloth_tree, &cloth, p - BENEATH * n, *d)
                            || meets(tree, skin, p + ABOVE * n, *d)
                    })
            };
            let still_hidden = is_hidden.par_iter_mut().enumerate().filter(|(_, h)| **h);
            still_hidden.for_each(|(v, hidden)| *hidden = is_covered(v));
        }
    }
    let rings = topology.neighbours();
    let inner = |v: usize| is_hidden[v] && rings[v].iter().all(|n| is_hidden[*n as usize]);
    Ok((0..is_hidden.len()).map(inner).collect())
}

/// Directions evenly over the sphere: a spiral of golden turns.
fn views() -> impl Iterator<Item = Vec3> {
    (0..N_VIEWS).map(|i| {
        let y = 1.0 - 2.0 * (i as f32 + 0.5) / N_VIEWS as f32;
        let turn = 2.399_963_2 * i as f32;
        let r = (1.0 - y * y).sqrt();
        Vec3::new(r * turn.cos(), y, r * turn.sin())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_are_even() {
        let all: Vec<Vec3> = views().collect();
        assert!(all.iter().all(|d| (d.length() - 1.0).abs() < 1e-5));
        assert!(all.iter().sum::<Vec3>().length() < 1.0);
        // Nobody is farther from its nearest than twice an even share of the sphere.
        let share = (4.0 * std::f32::consts::PI / N_VIEWS as f32).sqrt();
        for d in &all {
            let others = all.iter().filter(|o| *o != d);
            let nearest = others.map(|o| o.distance(*d)).fold(9.0, f32::min);
            assert!((0.3 * share..2.0 * share).contains(&nearest), "{nearest}");
        }
    }
}
