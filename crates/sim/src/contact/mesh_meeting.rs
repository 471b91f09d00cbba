//! What a moving point meets first of a moving mesh: [`MeshObstacle::meets`].
//!
//! Where a step ends says nothing about what was passed on the way, nor about
//! the side from which: so the whole way is looked at. Point and vertices move
//! on lines, and each triangle that the way comes near tells when the point is
//! down to a micrometre (`continuous.rs`); the earliest counts. Distances have
//! no cracks between triangles through which a point could slip.
//!
//! A closed surface that is met first from outside was started outside of, so
//! that no sign has to be remembered from step to step:
//!
//! ```text
//! (p − q) · n ≥ 0   at that moment, n the pseudo-normal of face, side or corner
//! ```

use glam::{DQuat, DVec3};

use super::block::Bounds;
use super::closest::{TriangleRegion, point_triangle};
use super::continuous::{Clearance, advance_vertex_face};
use super::obstacle::{Anchor, SurfacePoint};
use super::obstacle_mesh::MeshObstacle;

/// Nearer than this a point has met the surface [m].
const MEETING: f64 = 1e-6;
/// Nearer than this the direction of an offset is rounding [m].
const TOUCHING: f64 = 1e-12;

impl MeshObstacle {
    /// What of the surface a point that moves from `start` to `end` [m] meets
    /// first, as it is at the end of the step; none when it meets nothing, or
    /// from inside.
    pub fn meets(&self, start: DVec3, end: DVec3) -> Option<SurfacePoint> {
        self.meets_for(None, start, end)
    }

    /// The same of what is there for what is at home at `home` [m].
    pub(super) fn meets_for(
        &self,
        home: Option<DVec3>,
        start: DVec3,
        end: DVec3,
    ) -> Option<SurfacePoint> {
        let home = home.filter(|_| self.absence().is_some());
        let clearance = Clearance {
            separation: MEETING,
            share: 0.0,
        };
        let mut first: Option<(f64, u32)> = None;
        let way = Bounds::of_point(start).with(end);
        self.boxes().visit_faces(way, MEETING, |t| {
            if home.is_some() && !self.is_there(t, home) {
                return;
            }
            let [a, b, c] = self.boxes().triangles()[t as usize];
            let at = |x: &[DVec3], p: DVec3| [p, x[a as usize], x[b as usize], x[c as usize]];
            let (from, to) = (at(self.start(), start), at(self.end(), end));
            let fraction = advance_vertex_face(from, to, clearance).fraction;
            let is_first = first.is_none_or(|f| (fraction, t) < f);
            if fraction < 1.0 && is_first {
                first = Some((fraction, t));
            }
        });
        let (fraction, triangle) = first?;
        self.met(triangle, fraction, start, end)
    }

    /// The place of a triangle that a point has met after a share of the step,
    /// if it came from outside.
    fn met(&self, triangle: u32, fraction: f64, start: DVec3, end: DVec3) -> Option<SurfacePoint> {
        let at = |v: u32| self.start()[v as usize].lerp(self.end()[v as usize], fraction);
        let corners = self.boxes().triangles()[triangle as usize];
        let p = start.lerp(end, fraction);
        let found = point_triangle(p, corners.map(at));
        let barycentric = [1, 2, 3].map(|k| -found.weights[k]);
        let face = self.face_normal(triangle, at);
        let outside = match found.region {
            TriangleRegion::Face => face,
            TriangleRegion::Side(k) => {
                let side = [0, 1].map(|i| corners[(k as usize + i) % 3]);
                let around = self.triangles_around(side[0]).iter();
                let beside = around.filter(|t| {
                    let others = self.boxes().triangles()[**t as usize];
                    others.contains(&side[1])
                });
                beside.map(|t| self.face_normal(*t, at)).sum()
            }
            TriangleRegion::Corner(k) => self.vertex_normal(corners[k as usize], at),
        };
        let distance = found.distance();
        let came = (end - start)
            - (self.place(triangle, barycentric, 1.0) - self.place(triangle, barycentric, 0.0));
        let is_outside = match distance > TOUCHING {
            true => found.offset.dot(outside) >= 0.0,
            false => came.dot(outside) < 0.0,
        };
        if !is_outside {
            return None;
        }
        let normal = match found.region {
            TriangleRegion::Face => face,
            _ if distance > TOUCHING => found.offset / distance,
            _ => outside.normalize_or(face),
        };
        // The surface turns on to the end of the step.
        let turn =
            DQuat::from_rotation_arc(face, self.face_normal(triangle, |v| self.end()[v as usize]));
        Some(SurfacePoint {
            distance,
            normal: (turn * normal).normalize(),
            closest: self.place(triangle, barycentric, 1.0),
            anchor: Anchor::Mesh {
                triangle,
                barycentric,
            },
        })
    }

    /// The unit normal of a triangle whose corners are at `at` [m].
    fn face_normal(&self, triangle: u32, at: impl Fn(u32) -> DVec3) -> DVec3 {
        let [a, b, c] = self.boxes().triangles()[triangle as usize].map(at);
        (b - a).cross(c - a).normalize_or(DVec3::Y)
    }

    /// The normals of the triangles around a vertex, by their angles there.
    fn vertex_normal(&self, vertex: u32, at: impl Fn(u32) -> DVec3) -> DVec3 {
        let weighted = self.triangles_around(vertex).iter().map(|&t| {
            let corners = self.boxes().triangles()[t as usize];
            let others = corners.iter().filter(|v| **v != vertex);
            let mut sides = others.map(|v| at(*v) - at(vertex));
            let (first, second) = (sides.next(), sides.next());
            let angle = first
                .zip(second)
                .map_or(0.0, |(first, second)| first.angle_between(second));
            match angle.is_finite() {
                true => self.face_normal(t, &at) * angle,
                false => DVec3::ZERO,
            }
        });
        weighted.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_meshes::sphere;
    use super::*;

    fn ball() -> MeshObstacle {
        let (topology, x) = sphere(0.1, 12);
        MeshObstacle::new(&topology, x).unwrap()
    }

    /// Of a ball of triangles, from all sides and through all kinds of places:
    /// vertices, sides and faces.
    #[test]
    fn a_way_through_a_ball_meets_the_side_from_which_it_comes() {
        let ball = ball();
        for (t, corners) in ball.boxes().triangles().iter().enumerate() {
            let [a, b, c] = corners.map(|v| ball.end()[v as usize]);
            for q in [a, (a + b) / 2.0, (a + b + c) / 3.0, 0.7 * b + 0.3 * c] {
                let found = ball.meets(q * 3.0, q * -3.0).unwrap();
                assert!(found.closest.distance(q) < 2e-6, "{t}: {found:?}");
                assert!(found.normal.dot(q.normalize()) > 0.9, "{t}: {found:?}");
                // As seen from a ball that flies at the point.
                let mut flying = ball.clone();
                let at = |s: f64| -> Vec<DVec3> { ball.end().iter().map(|p| *p + q * s).collect() };
                flying.set_motion(&at(-3.0), &at(3.0)).unwrap();
                let seen = flying.meets(DVec3::ZERO, DVec3::ZERO).unwrap();
                assert!(seen.closest.distance(q * 4.0) < 2e-6, "{t}: {seen:?}");
                assert!(seen.normal.dot(q.normalize()) > 0.9, "{t}: {seen:?}");
            }
        }
    }

    #[test]
    fn ways_out_and_ways_past_meet_nothing() {
        let ball = ball();
        for k in 0..100 {
            let t = f64::from(k);
            let q = DVec3::new((t * 1.3).sin(), (t * 0.7).cos(), (t * 2.1).sin());
            let q = q.normalize();
            assert_eq!(ball.meets(DVec3::ZERO, q), None, "out");
            assert_eq!(ball.meets(q * 0.09, q * 0.2), None, "out");
            let across = q.any_orthonormal_vector();
            assert_eq!(ball.meets(q * 0.101 + across, q * 0.101 - across), None);
            assert_eq!(ball.meets(q * 0.11, q * 0.11), None);
        }
    }

    /// Every 8° a metre of fan over a plate: what turns is met as it turns.
    #[test]
    fn a_turning_mesh_is_met_where_it_comes_to() {
        let (topology, rest) = sphere(0.1, 12);
        let mut plate = MeshObstacle::new(&topology, rest.clone()).unwrap();
        let turned = |angle: f64| -> Vec<DVec3> {
            let turn = DQuat::from_rotation_z(angle);
            let flat = rest
                .iter()
                .map(|p| DVec3::new(p.x * 5.0 + 0.6, p.y * 0.02, p.z));
            flat.map(|p| turn * p).collect()
        };
        plate.set_motion(&turned(0.0), &turned(0.14)).unwrap();
        let p = DVec3::new(0.6, 0.05, 0.0);
        let found = plate.meets(p, p).unwrap();
        assert!(found.normal.dot(DVec3::Y) > 0.95, "{found:?}");
        assert!(found.closest.y > p.y, "{found:?}");
        assert_eq!(plate.meets(-p, -p), None);
        let below = DVec3::new(0.6, -0.05, 0.0);
        assert_eq!(plate.meets(below, below), None);
    }
}
