//! How far points are from a mesh, remembered: [`MeshRange`].
//!
//! A distance changes by no more than the point and the mesh have moved since
//! it was found, so that most points need not be looked at in most steps:
//!
//! ```text
//! |d(p) − d₀| ≤ |p − p₀| + what the mesh has travelled
//! ```
//!
//! Those that must be looked at begin at the triangle that was nearest: a walk
//! from there ends at a place that is often the nearest and never nearer than
//! it, within which the tree is searched. What is remembered changes how long
//! an answer takes, and never the answer.

use glam::DVec3;

use super::super::obstacle::{Anchor, SurfacePoint};
use super::super::obstacle_mesh::MeshObstacle;

/// Points deeper inside a mesh than this are not found [m].
pub(super) const DEEPEST: f64 = 0.05;
/// What rounding may do to a distance, relative and in metres.
const ROUNDING: [f64; 2] = [1e-9, 1e-12];

/// Points around a mesh.
#[derive(Clone, Debug)]
pub(super) struct MeshRange {
    /// Where its vertices were last seen [m].
    places: Vec<DVec3>,
    /// At most how far any place of it has gone in all [m].
    travelled: f64,
    /// Of each point.
    pub(super) known: Vec<Known>,
}

impl MeshRange {
    /// Of `n` points nothing is known.
    pub(super) fn new(mesh: &MeshObstacle, n: usize) -> Self {
        Self {
            places: mesh.end().to_vec(),
            travelled: 0.0,
            known: vec![Known::NOTHING; n],
        }
    }

    /// Follows the mesh to the end of its step.
    pub(super) fn follow(&mut self, mesh: &MeshObstacle) {
        let ways = self.places.iter().zip(mesh.end());
        let farthest = ways
            .map(|(a, b)| a.distance_squared(*b))
            .fold(0.0, f64::max);
        if farthest > 0.0 {
            self.travelled += farthest.sqrt();
            self.places.copy_from_slice(mesh.end());
        }
    }

    /// How far any place of the mesh has gone so far, at most [m].
    pub(super) const fn travelled(&self) -> f64 {
        self.travelled
    }
}

/// What is known of a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// p₀ [m].
    at: DVec3,
    /// d₀ [m], negative inside.
    distance: f64,
    /// How far the mesh had travelled then [m].
    travelled: f64,
    triangle: u32,
}

impl Known {
    const NOTHING: Self = Self {
        at: DVec3::ZERO,
        distance: f64::NAN,
        travelled: 0.0,
        triangle: 0,
    };

    /// How much the distance may have changed [m].
    fn change(&self, p: DVec3, travelled: f64) -> f64 {
        let moved = self.at.distance(p) + (travelled - self.travelled);
        moved * (1.0 + ROUNDING[0]) + ROUNDING[1]
    }

    /// At least the distance of `p` [m]; of what is not known, nothing.
    pub(super) fn least(&self, p: DVec3, travelled: f64) -> f64 {
        match self.distance.is_nan() {
            true => f64::NEG_INFINITY,
            false => self.distance - self.change(p, travelled),
        }
    }

    /// Whether `p` is for certain farther than `reach` [m] outside, or deeper
    /// inside than anything is found.
    pub(super) fn is_beyond(&self, p: DVec3, travelled: f64, reach: f64) -> bool {
        let reach = match self.distance > 0.0 {
            true => reach,
            false => reach.max(DEEPEST),
        };
        self.distance.abs() - self.change(p, travelled) > reach
    }

    /// The place of the mesh that is nearest to `p` [m].
    pub(super) fn nearest(
        &mut self,
        mesh: &MeshObstacle,
        p: DVec3,
        travelled: f64,
    ) -> Option<SurfacePoint> {
        let found = match self.distance.is_nan() {
            true => mesh.nearest(p, f64::INFINITY)?,
            false => {
                let walked = mesh.nearest_from(p, self.triangle);
                let within = walked.distance.abs() * (1.0 + ROUNDING[0]) + ROUNDING[1];
                mesh.nearest(p, within).unwrap_or(walked)
            }
        };
        if let Anchor::Mesh { triangle, .. } = found.anchor {
            *self = Self {
                at: p,
                distance: found.distance,
                travelled,
                triangle,
            };
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::test_meshes::sphere;
    use super::*;

    /// Two ways: with what is remembered and without, around a ball that moves
    /// and turns, with points that go past, in and out.
    #[test]
    fn what_is_remembered_changes_no_answer() {
        let (topology, rest) = sphere(0.1, 10);
        let mut mesh = MeshObstacle::new(&topology, rest.clone()).unwrap();
        let mut range = MeshRange::new(&mesh, 40);
        let reach = 0.01;
        let (mut n_asked, mut n_beyond) = (0, 0);
        for step in 0..100 {
            let at = |step: i32| -> Vec<DVec3> {
                let t = f64::from(step) * 0.02;
                let turn = glam::DQuat::from_rotation_z(t);
                let shift = DVec3::new(0.05 * t.sin(), 0.0, 0.02 * t);
                rest.iter().map(|p| turn * *p + shift).collect()
            };
            mesh.set_motion(&at(step), &at(step + 1)).unwrap();
            range.follow(&mesh);
            let travelled = range.travelled();
            for (i, known) in range.known.iter_mut().enumerate() {
                let (i, t) = (i as f64, f64::from(step) * 0.01);
                let p = DVec3::new((i + t).sin(), (1.7 * i - t).cos(), (2.3 * i + t).sin());
                let p = p * 0.2;
                let truth = mesh.nearest(p, f64::INFINITY).unwrap();
                assert!(known.least(p, travelled) <= truth.distance);
                if known.is_beyond(p, travelled, reach) {
                    let is_found = truth.distance <= reach && truth.distance >= -DEEPEST;
                    assert!(!is_found, "{truth:?}");
                    n_beyond += 1;
                    continue;
                }
                n_asked += 1;
                assert_eq!(known.nearest(&mesh, p, travelled), Some(truth));
            }
        }
        assert!(n_beyond > n_asked, "{n_asked} asked, {n_beyond} not");
    }
}
