//! How far points are from a mesh, remembered: [`MeshRange`].
//!
//! A distance changes by no more than the point and the mesh have moved since
//! it was found, so that most points need not be looked at in most steps:
//!
//! ```text
//! |d(p) − d₀| ≤ |p − p₀ − t| + r
//! ```
//!
//! where the mesh has moved by t as a whole and by at most r beyond that. Those
//! that must be looked at begin at the triangle that was nearest: it often
//! still is, and the tree is searched no farther. What is remembered changes
//! how long an answer takes, and never the answer.

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
    gone: Gone,
    /// How often something of it came back.
    n_returns: u64,
    /// Of each point.
    pub(super) known: Vec<Known>,
}

/// How far a mesh has gone in all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gone {
    /// t, as a whole [m].
    together: DVec3,
    /// r, at most beyond that [m].
    apart: f64,
}

impl MeshRange {
    /// Of `n` points nothing is known.
    pub(super) fn new(mesh: &MeshObstacle, n: usize) -> Self {
        Self {
            places: mesh.end().to_vec(),
            gone: Gone::default(),
            n_returns: mesh.n_returns(),
            known: vec![Known::NOTHING; n],
        }
    }

    /// Follows the mesh to the end of its step.
    pub(super) fn follow(&mut self, mesh: &MeshObstacle) {
        if self.n_returns != mesh.n_returns() {
            self.n_returns = mesh.n_returns();
            self.known.fill(Known::NOTHING);
        }
        if self.places == mesh.end() {
            return;
        }
        let ways = || self.places.iter().zip(mesh.end()).map(|(a, b)| *b - *a);
        let mean = ways().sum::<DVec3>() / self.places.len() as f64;
        let apart = ways().map(|way| way.distance_squared(mean));
        self.gone.apart += apart.fold(0.0, f64::max).sqrt();
        self.gone.together += mean;
        self.places.copy_from_slice(mesh.end());
    }

    /// How far the mesh has gone so far.
    pub(super) const fn gone(&self) -> Gone {
        self.gone
    }
}

/// What is known of a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// p₀ [m].
    at: DVec3,
    /// d₀ [m], negative inside; not a number where nothing is known.
    distance: f64,
    /// How far the mesh had gone then.
    gone: Gone,
    /// The nearest.
    triangle: u32,
}

impl Known {
    const NOTHING: Self = Self {
        at: DVec3::ZERO,
        distance: f64::NAN,
        gone: Gone {
            together: DVec3::ZERO,
            apart: 0.0,
        },
        triangle: 0,
    };

    /// How much the distance may have changed [m].
    fn change(&self, p: DVec3, gone: Gone) -> f64 {
        let own = (p - self.at) - (gone.together - self.gone.together);
        let change = own.length() + (gone.apart - self.gone.apart);
        change * (1.0 + ROUNDING[0]) + ROUNDING[1]
    }

    /// At least the distance of `p` outside [m]; of what may be inside,
    /// nothing.
    pub(super) fn least(&self, p: DVec3, gone: Gone) -> f64 {
        match self.distance > 0.0 {
            true => self.distance - self.change(p, gone),
            false => f64::NEG_INFINITY,
        }
    }

    /// Whether `p` is for certain farther than `reach` [m] outside, or deeper
    /// inside than anything is found.
    pub(super) fn is_beyond(&self, p: DVec3, gone: Gone, reach: f64) -> bool {
        self.distance.abs() - self.change(p, gone) > found_within(self.distance, reach)
    }

    /// The place of the mesh that is nearest to `p`, which is at home at
    /// `home`, if it is within `reach` [m] outside, or inside and not too deep.
    pub(super) fn nearest(
        &mut self,
        mesh: &MeshObstacle,
        home: Option<DVec3>,
        p: DVec3,
        gone: Gone,
        reach: f64,
    ) -> Option<SurfacePoint> {
        // No farther than the triangle that was nearest, if it is there.
        let within = match mesh.is_there(self.triangle, home) {
            true => mesh.distance_to(p, self.triangle) * (1.0 + ROUNDING[0]) + ROUNDING[1],
            false => f64::INFINITY,
        };
        let found = mesh.nearest_for(home, p, within)?;
        (self.at, self.gone) = (p, gone);
        self.distance = found.distance;
        if let Anchor::Mesh { triangle, .. } = found.anchor {
            self.triangle = triangle;
        }
        (found.distance.abs() <= found_within(found.distance, reach)).then_some(found)
    }
}

/// How far points are found on the side of a distance [m].
fn found_within(distance: f64, reach: f64) -> f64 {
    match distance > 0.0 {
        true => reach,
        false => reach.max(DEEPEST),
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
                let shift = DVec3::new(0.05 * t.sin(), 0.0, 0.1 * t);
                rest.iter().map(|p| turn * *p + shift).collect()
            };
            mesh.set_motion(&at(step), &at(step + 1)).unwrap();
            range.follow(&mesh);
            let gone = range.gone();
            for (i, known) in range.known.iter_mut().enumerate() {
                let (i, t) = (i as f64, f64::from(step) * 0.01);
                let p = DVec3::new((i + t).sin(), (1.7 * i - t).cos(), (2.3 * i + t).sin());
                let p = p * 0.2 * (1.0 + 0.5 * (3.0 * t).sin());
                let truth = mesh.nearest(p, f64::INFINITY).unwrap();
                assert!(known.least(p, gone) <= truth.distance);
                let is_found = truth.distance <= reach && truth.distance >= -DEEPEST;
                if known.is_beyond(p, gone, reach) {
                    assert!(!is_found, "{truth:?}");
                    n_beyond += 1;
                    continue;
                }
                n_asked += 1;
                let found = known.nearest(&mesh, None, p, gone, reach);
                assert_eq!(found, is_found.then_some(truth));
            }
        }
        assert!(n_beyond > n_asked, "{n_asked} asked, {n_beyond} not");
    }
}
