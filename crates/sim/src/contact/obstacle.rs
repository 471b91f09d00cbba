//! [`Obstacle`]: solids that cloth meets, and what they say about a point.
//!
//! An obstacle moves during a step: a shape as a rigid body from one placement
//! to another, a mesh by its vertices. Distances are asked at the end of the
//! step, as an implicit step needs them. An [`Anchor`] is a place on the
//! surface that rides with it, so that friction can hold on to it.

use glam::{DQuat, DVec3};

use super::continuous::{Advance, Clearance};
use super::obstacle_mesh::MeshObstacle;
use super::shape::{Shape, ShapeError};

/// Where a rigid body is: world_from_own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// The turn about its origin, of unit length.
    pub rotation: DQuat,
    /// Where its origin is [m].
    pub translation: DVec3,
}

impl Placement {
    /// At the origin, not turned.
    pub const IDENTITY: Self = Self {
        rotation: DQuat::IDENTITY,
        translation: DVec3::ZERO,
    };

    /// At a place, not turned.
    pub const fn at(translation: DVec3) -> Self {
        Self {
            rotation: DQuat::IDENTITY,
            translation,
        }
    }

    fn world_from_own(&self, p_own: DVec3) -> DVec3 {
        self.rotation * p_own + self.translation
    }

    fn own_from_world(&self, p_world: DVec3) -> DVec3 {
        self.rotation.inverse() * (p_world - self.translation)
    }
}

/// A place on the surface of an obstacle that moves with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Anchor {
    /// Of a shape: a point in its own frame [m].
    Own(DVec3),
    /// Of a mesh.
    Mesh {
        /// The triangle.
        triangle: u32,
        /// The weights of its corners.
        barycentric: [f64; 3],
    },
}

/// The place on a surface that is nearest to a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfacePoint {
    /// From the surface to the point [m], negative inside.
    pub distance: f64,
    /// Outwards, of unit length: the gradient of the distance.
    pub normal: DVec3,
    /// Where it is [m].
    pub closest: DVec3,
    /// The same place, riding on the surface.
    pub anchor: Anchor,
}

/// A solid that cloth meets.
///
/// ```
/// use drapery_sim::{Obstacle, Placement, RigidObstacle, Shape};
/// use glam::DVec3;
///
/// // A ball of 10 cm that rises by 1 mm a step.
/// let mut ball = RigidObstacle::new(Shape::Sphere { radius: 0.1 }, Placement::IDENTITY)?;
/// ball.set_motion(Placement::IDENTITY, Placement::at(DVec3::Y * 0.001));
/// let ball = Obstacle::from(ball);
///
/// let found = ball.nearest(DVec3::Y * 0.11, 0.02).expect("it is 9 mm away");
/// assert!((found.distance - 0.009).abs() < 1e-15);
/// assert_eq!(found.normal, DVec3::Y);
/// assert!((ball.velocity(&found.anchor, 0.01).y - 0.1).abs() < 1e-12);
/// # Ok::<(), drapery_sim::ShapeError>(())
/// ```
#[derive(Clone, Debug)]
pub enum Obstacle {
    /// A shape that moves as a rigid body.
    Rigid(RigidObstacle),
    /// A closed mesh.
    Mesh(Box<MeshObstacle>),
}

impl From<RigidObstacle> for Obstacle {
    fn from(rigid: RigidObstacle) -> Self {
        Self::Rigid(rigid)
    }
}

impl From<MeshObstacle> for Obstacle {
    fn from(mesh: MeshObstacle) -> Self {
        Self::Mesh(Box::new(mesh))
    }
}

impl Obstacle {
    /// The place on the surface, at the end of the step, that is nearest to
    /// `p` and at most `max_distance` [m] away.
    pub fn nearest(&self, p: DVec3, max_distance: f64) -> Option<SurfacePoint> {
        match self {
            Self::Rigid(rigid) => {
                Some(rigid.nearest(p)).filter(|s| s.distance.abs() <= max_distance)
            }
            Self::Mesh(mesh) => mesh.nearest(p, max_distance),
        }
    }

    /// Where an anchor is [m] after a share of the step, from 0 to 1.
    ///
    /// # Panics
    /// When the anchor is not one of this obstacle.
    pub fn place(&self, anchor: &Anchor, fraction: f64) -> DVec3 {
        match (self, anchor) {
            (Self::Rigid(rigid), Anchor::Own(p)) => rigid.placement(fraction).world_from_own(*p),
            (
                Self::Mesh(mesh),
                Anchor::Mesh {
                    triangle,
                    barycentric,
                },
            ) => mesh.place(*triangle, *barycentric, fraction),
            _ => panic!("an anchor of another obstacle"),
        }
    }

    /// Stays where it is at the end of the step.
    pub(crate) fn rest(&mut self) {
        match self {
            Self::Rigid(rigid) => rigid.start = rigid.end,
            Self::Mesh(mesh) => mesh.rest(),
        }
    }

    /// The same for only a share of its motion, from one fraction to another.
    pub(crate) fn part(&self, from: f64, to: f64) -> Self {
        match self {
            Self::Rigid(rigid) => {
                let mut part = *rigid;
                part.set_motion(rigid.placement(from), rigid.placement(to));
                Self::Rigid(part)
            }
            Self::Mesh(mesh) => Self::Mesh(Box::new(mesh.part(from, to))),
        }
    }

    /// How far an anchor moves during the step [m].
    ///
    /// # Panics
    /// When the anchor is not one of this obstacle.
    pub fn displacement(&self, anchor: &Anchor) -> DVec3 {
        self.place(anchor, 1.0) - self.place(anchor, 0.0)
    }

    /// The mean velocity of an anchor [m/s] during a step of `dt` [s].
    ///
    /// # Panics
    /// When the anchor is not one of this obstacle.
    pub fn velocity(&self, anchor: &Anchor, dt: f64) -> DVec3 {
        self.displacement(anchor) / dt
    }
}

/// A shape that moves as a rigid body.
#[derive(Clone, Copy, Debug)]
pub struct RigidObstacle {
    shape: Shape,
    start: Placement,
    end: Placement,
}

/// Nearer than this a point has met the surface [m].
const MEETING: f64 = 1e-6;
/// The most distances computed for one vertex and step.
const MAX_ITERATIONS: u32 = 64;
/// The floor is reached when this share of it is left above it.
const REACHED: f64 = 1e-3;

impl RigidObstacle {
    /// A shape at rest.
    ///
    /// # Errors
    /// When the shape has no size.
    pub fn new(shape: Shape, placement: Placement) -> Result<Self, ShapeError> {
        shape.check()?;
        Ok(Self {
            shape,
            start: placement,
            end: placement,
        })
    }

    /// What it is.
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Sets the motion of the next step; rotations go the shorter way.
    pub fn set_motion(&mut self, start: Placement, end: Placement) {
        (self.start, self.end) = (start, end);
    }

    /// Where it is after a share of the step, from 0 to 1.
    pub fn placement(&self, fraction: f64) -> Placement {
        if fraction <= 0.0 {
            return self.start;
        }
        if fraction >= 1.0 {
            return self.end;
        }
        Placement {
            rotation: self.start.rotation.slerp(self.end.rotation, fraction),
            translation: self.start.translation.lerp(self.end.translation, fraction),
        }
    }

    /// The place on the surface, at the end of the step, nearest to `p` [m].
    pub fn nearest(&self, p: DVec3) -> SurfacePoint {
        let p_own = self.end.own_from_world(p);
        let (distance, normal_own) = self.shape.distance(p_own);
        let anchor = p_own - normal_own * distance;
        SurfacePoint {
            distance,
            normal: self.end.rotation * normal_own,
            closest: self.end.world_from_own(anchor),
            anchor: Anchor::Own(anchor),
        }
    }

    /// What of the surface a point that moves from `start` to `end` [m] meets
    /// first, as it is at the end of the step; none when it meets nothing or
    /// starts inside.
    pub fn meets(&self, start: DVec3, end: DVec3) -> Option<SurfacePoint> {
        let clearance = Clearance {
            separation: MEETING,
            share: 0.0,
        };
        let fraction = self.advance(start, end, clearance).fraction;
        if fraction >= 1.0 {
            return None;
        }
        let then = self.placement(fraction);
        let p_own = then.own_from_world(start.lerp(end, fraction));
        let (distance, normal_own) = self.shape.distance(p_own);
        let anchor = p_own - normal_own * distance;
        Some(SurfacePoint {
            distance,
            normal: self.end.rotation * normal_own,
            closest: self.end.world_from_own(anchor),
            anchor: Anchor::Own(anchor),
        })
    }

    /// How far a vertex may move from `start` towards `end` [m] while the
    /// obstacle moves as well. One that starts inside may go anywhere: it is
    /// pushed out by its signed distance.
    ///
    /// The distance to a convex solid is convex, so it lies above its tangent.
    /// Seen from the obstacle, the vertex is at q = Rᵀ (x − c), which leaves its
    /// tangent by at most ½ a τ² with a = ω² max|x − c| + 2 ω |ẋ − ċ|:
    ///
    /// ```text
    /// d(t + τ) ≥ d + n·q̇ τ − ½ a τ²
    /// ```
    pub fn advance(&self, start: DVec3, end: DVec3, clearance: Clearance) -> Advance {
        let turn = self.end.rotation * self.start.rotation.inverse();
        let turn = if turn.w < 0.0 { -turn } else { turn };
        // The turn a step, as a vector along its axis in the world [rad].
        let spin = turn.to_scaled_axis();
        let velocity = (end - start) - (self.end.translation - self.start.translation);
        let reach = (start - self.start.translation)
            .length()
            .max((end - self.end.translation).length());
        let omega = spin.length();
        let bend = omega * omega * reach + 2.0 * omega * velocity.length();
        let mut fraction = 0.0;
        let mut limits = None;
        for iterations in 1..=MAX_ITERATIONS {
            let placement = self.placement(fraction);
            let x = start.lerp(end, fraction);
            let (distance, normal_own) = self.shape.distance(placement.own_from_world(x));
            let (floor, reached) = *limits.get_or_insert_with(|| {
                let floor = clearance.floor(distance);
                (floor, REACHED * floor.min(distance - floor))
            });
            let advance = Advance {
                fraction,
                iterations,
            };
            if distance <= 0.0 && fraction == 0.0 {
                return Advance {
                    fraction: 1.0,
                    ..advance
                };
            }
            let room = distance - floor;
            if room.is_nan() || room <= reached {
                return advance;
            }
            // What the obstacle's spin does to the vertex seen from it is the
            // opposite of what it does to its own points.
            let normal = placement.rotation * normal_own;
            let slope = normal.dot(velocity - spin.cross(x - placement.translation));
            // The root of room + slope τ − ½ bend τ².
            let step = if bend > 0.0 {
                let root = (slope * slope + 2.0 * bend * room).sqrt();
                if slope < 0.0 {
                    2.0 * room / (root - slope)
                } else {
                    (slope + root) / bend
                }
            } else if slope < 0.0 {
                room / -slope
            } else {
                f64::INFINITY
            };
            fraction += step;
            if fraction.is_nan() || fraction >= 1.0 {
                return Advance {
                    fraction: if fraction.is_nan() { 0.0 } else { 1.0 },
                    iterations,
                };
            }
        }
        Advance {
            fraction,
            iterations: MAX_ITERATIONS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_meshes::sphere;
    use super::*;

    const DISC: Shape = Shape::Disc {
        radius: 0.09,
        thickness: 0.002,
        rim: 0.001,
    };

    fn turned(angle: f64, translation: DVec3) -> Placement {
        Placement {
            rotation: DQuat::from_axis_angle(DVec3::new(1.0, 2.0, 2.0) / 3.0, angle),
            translation,
        }
    }

    #[test]
    fn a_moved_shape_is_seen_from_its_own_frame() {
        let placement = turned(0.7, DVec3::new(0.1, 2.0, -0.3));
        let cylinder = Shape::Cylinder {
            radius: 0.05,
            length: 0.3,
        };
        let obstacle = Obstacle::Rigid(RigidObstacle::new(cylinder, placement).unwrap());
        // 2 cm off its side, 10 cm up its axis.
        let p = placement.rotation * DVec3::new(0.07, 0.1, 0.0) + placement.translation;
        let found = obstacle.nearest(p, 1.0).unwrap();
        assert!((found.distance - 0.02).abs() < 1e-15);
        assert!(found.normal.distance(placement.rotation * DVec3::X) < 1e-14);
        assert!(found.closest.distance(p - found.normal * 0.02) < 1e-15);
        assert_eq!(obstacle.place(&found.anchor, 1.0), found.closest);
        assert_eq!(obstacle.nearest(p, 0.019), None);
    }

    #[test]
    fn anchors_ride_on_what_they_are_on() {
        // A belt under way and a ball that spins: velocities to second order in
        // the step, as they are means over it.
        let velocity = DVec3::new(0.3, 0.0, -0.1);
        let omega = DVec3::new(1.0, 2.0, 2.0);
        let mut errors = [0.0; 2];
        for (error, dt) in errors.iter_mut().zip([0.02, 0.01]) {
            let at = |t: f64| turned(omega.length() * t, velocity * t);
            let mut ball =
                RigidObstacle::new(Shape::Sphere { radius: 0.2 }, Placement::IDENTITY).unwrap();
            // Centred, so that the mean over the step is that of its middle.
            ball.set_motion(at(-dt / 2.0), at(dt / 2.0));
            let anchor = Anchor::Own(DVec3::new(0.0, 0.2, 0.0));
            let exact = velocity + omega.cross(DVec3::new(0.0, 0.2, 0.0));
            *error = Obstacle::Rigid(ball).velocity(&anchor, dt).distance(exact);
        }
        let order = (errors[0] / errors[1]).log2();
        assert!((1.9..2.1).contains(&order), "h^{order:.2}");
        // A mesh with the same motion of its vertices carries its anchors alike.
        let (topology, positions) = sphere(0.2, 8);
        let moved = |p: Placement| -> Vec<DVec3> {
            positions.iter().map(|x| p.world_from_own(*x)).collect()
        };
        let (start, end) = (turned(0.1, velocity), turned(0.2, velocity * 2.0));
        let mut mesh = MeshObstacle::new(&topology, positions.clone()).unwrap();
        mesh.set_motion(&moved(start), &moved(end)).unwrap();
        let mesh = Obstacle::from(mesh);
        let p = end.world_from_own(DVec3::new(0.11, 0.2, 0.05));
        let found = mesh.nearest(p, 1.0).unwrap();
        let own = end.own_from_world(found.closest);
        let expected = end.world_from_own(own) - start.world_from_own(own);
        assert!(mesh.displacement(&found.anchor).distance(expected) < 1e-12);
        assert!(mesh.place(&found.anchor, 1.0).distance(found.closest) < 1e-14);
    }

    #[test]
    fn a_vertex_never_passes_a_thin_disc() {
        // From 5 cm above to 5 cm below a disc of 2 mm, a thousandth inside.
        let mut disc = RigidObstacle::new(DISC, Placement::IDENTITY).unwrap();
        let clearance = Clearance {
            separation: 1e-3,
            share: 0.0,
        };
        let (start, end) = (DVec3::new(0.03, 0.05, 0.02), DVec3::new(0.03, -0.05, 0.02));
        let found = disc.advance(start, end, clearance);
        // Height 0.05 − 0.1 t meets the surface at 1 mm plus the separation.
        assert!(found.fraction <= 0.48 && found.fraction > 0.48 - 1e-5);
        // The disc comes to the vertex: the same.
        disc.set_motion(Placement::IDENTITY, Placement::at(start - end));
        let found = disc.advance(start, start, clearance);
        assert!(found.fraction <= 0.48 && found.fraction > 0.48 - 1e-5);
        // Beside the rim it is free, and so is one that starts inside.
        disc.set_motion(Placement::IDENTITY, Placement::IDENTITY);
        let beside = DVec3::X * 0.07;
        assert_eq!(
            disc.advance(start + beside, end + beside, clearance)
                .fraction,
            1.0
        );
        assert_eq!(disc.advance(DVec3::ZERO, end, clearance).fraction, 1.0);
    }

    #[test]
    fn a_turning_disc_stops_vertices_before_it_reaches_them() {
        let mut n_stopped = 0;
        for case in 0..2000 {
            let t = f64::from(case);
            let wave = |a: f64, b: f64| ((t * a).sin() + (t * b).cos()) / 2.0;
            let mut disc = RigidObstacle::new(DISC, Placement::IDENTITY).unwrap();
            let shift = DVec3::new(wave(0.37, 1.1), wave(0.71, 0.9), wave(1.3, 0.2)) * 0.1;
            disc.set_motion(
                turned(wave(0.3, 0.5), DVec3::ZERO),
                turned(wave(1.7, 2.9) * 3.0, shift),
            );
            let start = DVec3::new(wave(0.11, 0.13), wave(0.23, 0.29), wave(0.19, 0.31)) * 0.2;
            let end =
                start + DVec3::new(wave(0.41, 0.43), wave(0.47, 0.53), wave(0.59, 0.61)) * 0.2;
            let distance = |fraction: f64| {
                let own = disc
                    .placement(fraction)
                    .own_from_world(start.lerp(end, fraction));
                DISC.distance(own).0
            };
            let found = disc.advance(start, end, Clearance::default());
            let floor = 0.1 * distance(0.0);
            if floor <= 0.0 {
                continue;
            }
            for k in 0..=200 {
                let d = distance(found.fraction * f64::from(k) / 200.0);
                assert!(d >= floor - 1e-12, "case {case}: {d} < {floor}, {found:?}");
            }
            if found.fraction < 1.0 {
                let d = distance(found.fraction);
                assert!(
                    d <= floor * 1.001 + 1e-12,
                    "case {case}: {d} > {floor}, {found:?}"
                );
                n_stopped += 1;
            }
        }
        assert!(n_stopped > 100, "{n_stopped}");
    }
}
