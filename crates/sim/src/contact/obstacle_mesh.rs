//! [`MeshObstacle`]: a closed mesh, moving or not, as an obstacle.
//!
//! The nearest point is found in `f64`; in a face, the distance is the height
//! over it, so that it passes smoothly through zero. On sides and corners the
//! sign comes from pseudo-normals (`drapery_core::PseudoNormals`), which is
//! right for a closed surface that does not cross itself. A body in a deep bend
//! does: what seems to be more than a millimetre inside must be so by its winding
//! number, too.
//!
//! Nearest points jump where two places of the body are equally far. Who has
//! been on a triangle before can walk from it instead: [`MeshObstacle::nearest_from`]
//! ends at the first place around which everything is further.

use drapery_core::{ClosestPoint, PseudoNormals, Topology};
use glam::{DVec3, Vec3};

use super::absence::Absence;
use super::block::Bounds;
use super::candidates::MeshBoxes;
use super::closest::{Proximity, TriangleRegion, point_triangle};
use super::obstacle::{Anchor, SurfacePoint};

/// A closed mesh whose vertices move on lines during a step.
#[derive(Clone, Debug)]
pub struct MeshObstacle {
    boxes: MeshBoxes,
    normals: PseudoNormals,
    start: Vec<DVec3>,
    end: Vec<DVec3>,
    /// The triangles around each vertex, one vertex after the other.
    around: Vec<u32>,
    /// Where each vertex's triangles start, and the end.
    around_start: Vec<u32>,
    /// How it moves in the mean during the step [m], and how far at most
    /// beyond that.
    mean_move: DVec3,
    farthest_apart: f64,
    /// Around where it is at the end of the step.
    all: Bounds,
    absence: Option<Absence>,
}

/// Why a mesh is no obstacle.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ObstacleError {
    /// An edge without two triangles of matching winding.
    #[error(
        "edge {}–{} has {n_triangles} triangles, a closed surface has 2 of matching winding",
        vertices[0], vertices[1]
    )]
    NotClosed {
        /// The ends of the edge.
        vertices: [u32; 2],
        /// How many triangles share it.
        n_triangles: u32,
    },
    /// The positions are not as many as the vertices.
    #[error("{n_positions} positions were given for {n_vertices} vertices")]
    Length {
        /// How many positions.
        n_positions: usize,
        /// How many vertices.
        n_vertices: usize,
    },
    /// A coordinate is not finite.
    #[error("vertex {vertex} has a coordinate that is not finite")]
    NotFinite {
        /// The vertex.
        vertex: u32,
    },
}

/// Nearer than this the direction of an offset is rounding [m].
const TOUCHING: f64 = 1e-12;

/// What is deeper inside by normals [m] is asked for the winding number.
const SURE: f64 = 1e-3;

impl MeshObstacle {
    /// A mesh at rest at `positions` [m].
    ///
    /// # Errors
    /// When the surface is not closed, or a position is missing or not finite.
    pub fn new(topology: &Topology, positions: Vec<DVec3>) -> Result<Self, ObstacleError> {
        let n_vertices = topology.n_vertices();
        check(&positions, n_vertices)?;
        if let Some(edge) = topology.edges().iter().find(|e| !e.is_consistent()) {
            return Err(ObstacleError::NotClosed {
                vertices: edge.vertices,
                n_triangles: edge.n_triangles,
            });
        }
        let mut pairs: Vec<(u32, u32)> = Vec::with_capacity(3 * topology.triangles().len());
        for (t, corners) in topology.triangles().iter().enumerate() {
            pairs.extend(corners.iter().map(|&v| (v, t as u32)));
        }
        pairs.sort_unstable();
        let around_start = (0..=n_vertices as u32)
            .map(|v| pairs.partition_point(|p| p.0 < v) as u32)
            .collect();
        Ok(Self {
            boxes: MeshBoxes::new(topology, &positions),
            normals: PseudoNormals::new(topology.triangles(), &to_f32(&positions)),
            all: Bounds::of(positions.iter().copied()),
            start: positions.clone(),
            end: positions,
            around: pairs.into_iter().map(|p| p.1).collect(),
            around_start,
            mean_move: DVec3::ZERO,
            farthest_apart: 0.0,
            absence: None,
        })
    }

    /// Gives each vertex a home [m]; homes farther apart than `radius` [m] are
    /// strange to one another.
    pub(crate) fn set_homes(&mut self, homes: Vec<DVec3>, radius: f64) {
        self.absence = Some(Absence::new(homes, radius));
    }

    /// Sets which vertices are not there for strangers.
    pub(crate) fn set_absent(&mut self, is_absent: &[bool]) {
        if let Some(absence) = &mut self.absence {
            absence.set(is_absent);
        }
    }

    /// What is absent, if anything is.
    pub(super) fn absence(&self) -> Option<&Absence> {
        self.absence.as_ref().filter(|a| !a.is_none())
    }

    /// How often something that was absent has come back.
    pub(super) fn n_returns(&self) -> u64 {
        self.absence.as_ref().map_or(0, Absence::n_returns)
    }

    /// Whether a triangle is there for what is at home at `home` [m].
    pub(super) fn is_there(&self, triangle: u32, home: Option<DVec3>) -> bool {
        let (Some(absence), Some(home)) = (self.absence(), home) else {
            return true;
        };
        !absence.hides(&self.boxes.triangles()[triangle as usize], home)
    }

    /// Sets where the vertices are at the start and end of the next step [m].
    ///
    /// # Errors
    /// When a position is missing or not finite.
    pub fn set_motion(&mut self, start: &[DVec3], end: &[DVec3]) -> Result<(), ObstacleError> {
        check(start, self.start.len())?;
        check(end, self.end.len())?;
        self.start.copy_from_slice(start);
        self.end.copy_from_slice(end);
        self.all = Bounds::of(end.iter().copied());
        let moves = || start.iter().zip(end).map(|(a, b)| *b - *a);
        self.mean_move = moves().sum::<DVec3>() / start.len().max(1) as f64;
        let apart = moves().map(|way| way.distance_squared(self.mean_move));
        self.farthest_apart = apart.fold(0.0, f64::max).sqrt();
        self.boxes.refit(start, end);
        self.normals.update(&to_f32(end));
        Ok(())
    }

    /// Stays where it is at the end of the step. The boxes that it swept have
    /// room for that.
    pub(crate) fn rest(&mut self) {
        if self.start != self.end {
            self.start.copy_from_slice(&self.end);
            self.mean_move = DVec3::ZERO;
            self.farthest_apart = 0.0;
        }
    }

    /// The same for only a share of its motion.
    pub(crate) fn part(&self, from: f64, to: f64) -> Self {
        let mut part = self.clone();
        let at = |f: f64| -> Vec<DVec3> {
            let ends = self.start.iter().zip(&self.end);
            ends.map(|(a, b)| a.lerp(*b, f)).collect()
        };
        part.set_motion(&at(from), &at(to))
            .expect("between finite positions all are finite");
        part
    }

    /// Its primitives, with the boxes that they sweep during the step.
    pub const fn boxes(&self) -> &MeshBoxes {
        &self.boxes
    }

    /// The triangles around a vertex.
    pub(super) fn triangles_around(&self, vertex: u32) -> &[u32] {
        let v = vertex as usize;
        &self.around[self.around_start[v] as usize..self.around_start[v + 1] as usize]
    }

    /// At most how far a point that moves from `from` to `to` [m] goes during
    /// the step, as seen from anywhere on the mesh.
    pub(super) fn way(&self, from: DVec3, to: DVec3) -> f64 {
        (to - from - self.mean_move).length() + self.farthest_apart
    }

    /// Where the vertices are at the start of the step [m].
    pub fn start(&self) -> &[DVec3] {
        &self.start
    }

    /// Where the vertices are at the end of the step [m].
    pub fn end(&self) -> &[DVec3] {
        &self.end
    }

    /// The place on the surface, at the end of the step, that is nearest to
    /// `p` and at most `max_distance` [m] away.
    pub fn nearest(&self, p: DVec3, max_distance: f64) -> Option<SurfacePoint> {
        self.nearest_for(None, p, max_distance)
    }

    /// The same of what is there for what is at home at `home` [m].
    pub(super) fn nearest_for(
        &self,
        home: Option<DVec3>,
        p: DVec3,
        max_distance: f64,
    ) -> Option<SurfacePoint> {
        let home = home.filter(|_| self.absence().is_some());
        // So that what is not there is farther.
        let max_distance = max_distance.min(f64::MAX.sqrt());
        let triangle = self.boxes.nearest_face(p, max_distance, |t| {
            match home.is_none() || self.is_there(t, home) {
                true => self.proximity(p, t).offset.length_squared(),
                false => f64::INFINITY,
            }
        })?;
        let found = self.surface_point(p, triangle, &self.proximity(p, triangle));
        // Where the surface is folded over, its normals point anywhere.
        match found.distance < -SURE && self.boxes.winding(&self.end, p, self.all) < 1 {
            true => Some(SurfacePoint {
                distance: -found.distance,
                normal: -found.normal,
                ..found
            }),
            false => Some(found),
        }
    }

    /// The place on the surface, at the end of the step, that is reached from
    /// a triangle by going nearer to `p` [m] as long as that is possible.
    ///
    /// # Panics
    /// When there is no such triangle.
    pub fn nearest_from(&self, p: DVec3, triangle: u32) -> SurfacePoint {
        let mut here = (triangle, self.proximity(p, triangle));
        // Each move is strictly nearer, so that no triangle comes twice.
        loop {
            let corners = self.boxes.triangles()[here.0 as usize];
            let next = match here.1.region {
                TriangleRegion::Face => None,
                TriangleRegion::Side(k) => {
                    let (a, b) = (corners[k as usize], corners[(k as usize + 1) % 3]);
                    let has_side = |t: u32| self.boxes.triangles()[t as usize].contains(&b);
                    self.nearest_around(p, a, has_side)
                }
                TriangleRegion::Corner(k) => self.nearest_around(p, corners[k as usize], |_| true),
            };
            match next {
                Some(next) if distance_sq(&next.1) < distance_sq(&here.1) => here = next,
                _ => return self.surface_point(p, here.0, &here.1),
            }
        }
    }

    /// How far a triangle is from `p` at the end of the step [m].
    pub(super) fn distance_to(&self, p: DVec3, triangle: u32) -> f64 {
        self.proximity(p, triangle).distance()
    }

    /// Where a point of a triangle is [m] after a share of the step.
    pub(super) fn place(&self, triangle: u32, barycentric: [f64; 3], fraction: f64) -> DVec3 {
        let corners = self.boxes.triangles()[triangle as usize];
        let at = |v: u32| self.start[v as usize].lerp(self.end[v as usize], fraction);
        (0..3)
            .map(|k| at(corners[k]) * barycentric[k])
            .fold(DVec3::ZERO, |sum, p| sum + p)
    }

    /// How far an anchor moves during the step [m]; nowhere if it is not one of
    /// a mesh.
    pub(super) fn displacement(&self, anchor: &Anchor) -> DVec3 {
        match anchor {
            Anchor::Own(_) => DVec3::ZERO,
            Anchor::Mesh {
                triangle,
                barycentric,
            } => {
                self.place(*triangle, *barycentric, 1.0) - self.place(*triangle, *barycentric, 0.0)
            }
        }
    }

    fn proximity(&self, p: DVec3, triangle: u32) -> Proximity<TriangleRegion> {
        let corners = self.boxes.triangles()[triangle as usize];
        point_triangle(p, corners.map(|v| self.end[v as usize]))
    }

    /// The triangle nearest to `p` among those around a vertex that count; the
    /// lowest of equals.
    fn nearest_around(
        &self,
        p: DVec3,
        vertex: u32,
        counts: impl Fn(u32) -> bool,
    ) -> Option<(u32, Proximity<TriangleRegion>)> {
        self.triangles_around(vertex)
            .iter()
            .filter(|&&t| counts(t))
            .map(|&t| (t, self.proximity(p, t)))
            .min_by(|a, b| distance_sq(&a.1).total_cmp(&distance_sq(&b.1)))
    }

    fn surface_point(
        &self,
        p: DVec3,
        triangle: u32,
        found: &Proximity<TriangleRegion>,
    ) -> SurfacePoint {
        let barycentric = [1, 2, 3].map(|k| -found.weights[k]);
        let closest = p - found.offset;
        let (distance, normal) = if found.region == TriangleRegion::Face {
            let corners = self.boxes.triangles()[triangle as usize];
            let [a, b, c] = corners.map(|v| self.end[v as usize]);
            let normal = (b - a).cross(c - a).normalize_or(DVec3::Y);
            (found.offset.dot(normal), normal)
        } else {
            let outside = self.normals.at(&ClosestPoint {
                triangle,
                barycentric: barycentric.map(|w| w as f32),
                point: closest.as_vec3(),
                distance: found.distance() as f32,
            });
            let outside = outside.as_dvec3();
            let distance = found.distance();
            let sign = if found.offset.dot(outside) < 0.0 {
                -1.0
            } else {
                1.0
            };
            let normal = if distance > TOUCHING {
                found.offset * (sign / distance)
            } else {
                outside.normalize_or(DVec3::Y)
            };
            (sign * distance, normal)
        };
        SurfacePoint {
            distance,
            normal,
            closest,
            anchor: Anchor::Mesh {
                triangle,
                barycentric,
            },
        }
    }
}

fn distance_sq(found: &Proximity<TriangleRegion>) -> f64 {
    found.offset.length_squared()
}

fn check(positions: &[DVec3], n_vertices: usize) -> Result<(), ObstacleError> {
    if positions.len() != n_vertices {
        return Err(ObstacleError::Length {
            n_positions: positions.len(),
            n_vertices,
        });
    }
    match positions.iter().position(|p| !p.is_finite()) {
        Some(vertex) => Err(ObstacleError::NotFinite {
            vertex: vertex as u32,
        }),
        None => Ok(()),
    }
}

fn to_f32(positions: &[DVec3]) -> Vec<Vec3> {
    positions.iter().map(|p| p.as_vec3()).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::super::test_meshes::{sheet, sphere};
    use super::*;

    const RADIUS: f64 = 0.1;

    fn ball() -> &'static MeshObstacle {
        static BALL: LazyLock<MeshObstacle> = LazyLock::new(|| {
            let (topology, positions) = sphere(RADIUS, 24);
            MeshObstacle::new(&topology, positions).unwrap()
        });
        &BALL
    }

    /// A cube of side 2 around the origin.
    fn cube() -> (Topology, Vec<DVec3>) {
        let positions = (0..8)
            .map(|i| {
                DVec3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2)) * 2.0 - 1.0
            })
            .collect();
        let quads = [
            [0, 4, 6, 2],
            [1, 3, 7, 5],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 2, 3, 1],
            [4, 5, 7, 6],
        ];
        let triangles = quads
            .iter()
            .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
            .collect();
        (Topology::new(8, triangles).unwrap(), positions)
    }

    fn point(size: f64) -> impl Strategy<Value = DVec3> {
        prop::array::uniform3(-size..size).prop_map(DVec3::from_array)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn a_cube_has_the_distance_of_its_formula(p in point(2.0)) {
            let (topology, positions) = cube();
            let cube = MeshObstacle::new(&topology, positions).unwrap();
            let q = p.abs() - 1.0;
            let expected = q.max(DVec3::ZERO).length() + q.max_element().min(0.0);
            let found = cube.nearest(p, f64::INFINITY).unwrap();
            prop_assert!((found.distance - expected).abs() < 1e-12, "{found:?}, {expected}");
            prop_assert!((found.closest + found.normal * found.distance).distance(p) < 1e-12);
            prop_assert!((found.normal.length() - 1.0).abs() < 1e-12);
            // Outwards, on every side, edge and corner.
            prop_assert!(found.normal.dot(found.closest) > 0.0);
            let Anchor::Mesh { triangle, barycentric } = found.anchor else { unreachable!() };
            prop_assert!(cube.place(triangle, barycentric, 1.0).distance(found.closest) < 1e-12);
        }

        #[test]
        fn a_fine_ball_has_the_distance_of_the_sphere(p in point(0.2)) {
            let found = ball().nearest(p, f64::INFINITY).unwrap();
            // The sagitta of a ring's side of 7.5° is R (1 − cos 3.75°) = 0.2 %;
            // across the diagonal twice that.
            let exact = p.length() - RADIUS;
            prop_assert!((found.distance - exact).abs() < 0.005 * RADIUS, "{found:?}, {exact}");
        }

        /// The side of a convex body that faces a point has one nearest place,
        /// so a walk from anywhere on it finds it.
        #[test]
        fn walking_finds_the_nearest_place_of_a_convex_body(p in point(0.2), from in 0u32..2208) {
            let (ball, p) = (ball(), p * 2.0);
            let corner = ball.end[ball.boxes.triangles()[from as usize][0] as usize];
            prop_assume!(ball.normals.face(from).as_dvec3().dot(p - corner) > 0.0);
            let (walked, found) = (ball.nearest_from(p, from), ball.nearest(p, 1.0).unwrap());
            prop_assert!((walked.distance - found.distance).abs() < 1e-12);
            prop_assert!(walked.closest.distance(found.closest) < 1e-6);
        }
    }

    #[test]
    fn walking_stays_on_its_side_of_a_thin_body() {
        // A cube pressed to a plate, and a point that has sunk past its middle.
        let (topology, mut positions) = cube();
        for p in &mut positions {
            p.y *= 0.01;
        }
        let plate = MeshObstacle::new(&topology, positions).unwrap();
        let above = plate.nearest(DVec3::new(0.3, 0.02, 0.1), 1.0).unwrap();
        let Anchor::Mesh { triangle, .. } = above.anchor else {
            unreachable!()
        };
        let p = DVec3::new(0.3, -0.004, 0.1);
        let (walked, jumped) = (
            plate.nearest_from(p, triangle),
            plate.nearest(p, 1.0).unwrap(),
        );
        assert_eq!(walked.normal, DVec3::Y);
        assert!((walked.distance + 0.014).abs() < 1e-15);
        assert_eq!(jumped.normal, DVec3::NEG_Y);
        assert!((jumped.distance + 0.006).abs() < 1e-15);
    }

    #[test]
    fn after_a_motion_answers_are_those_of_a_new_mesh() {
        let (topology, positions) = sphere(RADIUS, 8);
        let turned = |angle: f64| -> Vec<DVec3> {
            let turn = glam::DQuat::from_rotation_z(angle);
            let shift = DVec3::new(0.0, angle, 0.0);
            positions.iter().map(|p| turn * *p + shift).collect()
        };
        let mut moving = MeshObstacle::new(&topology, positions.clone()).unwrap();
        moving.set_motion(&turned(0.2), &turned(0.3)).unwrap();
        let fresh = MeshObstacle::new(&topology, turned(0.3)).unwrap();
        for k in 0..200 {
            let t = f64::from(k);
            let p = DVec3::new((t * 1.3).sin(), (t * 0.7).cos(), (t * 2.1).sin()) * 0.3;
            assert_eq!(moving.nearest(p, 1.0), fresh.nearest(p, 1.0));
            assert_eq!(moving.nearest(p, 0.05), fresh.nearest(p, 0.05));
        }
    }

    #[test]
    fn meshes_that_are_not_solids_are_refused() {
        let (open, positions) = sheet(3);
        assert!(matches!(
            MeshObstacle::new(&open, positions),
            Err(ObstacleError::NotClosed { n_triangles: 1, .. })
        ));
        let (topology, mut positions) = cube();
        assert!(matches!(
            MeshObstacle::new(&topology, positions[..7].to_vec()),
            Err(ObstacleError::Length {
                n_positions: 7,
                n_vertices: 8
            })
        ));
        let mut cube = MeshObstacle::new(&topology, positions.clone()).unwrap();
        positions[5].y = f64::NAN;
        let before = cube.end().to_vec();
        assert_eq!(
            cube.set_motion(&before, &positions),
            Err(ObstacleError::NotFinite { vertex: 5 })
        );
        assert_eq!(cube.end(), before);
    }
}
