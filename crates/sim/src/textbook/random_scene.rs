//! A cloth that is thrown at random things: [`RandomScene`].
//!
//! All is drawn from one seed: the cloth (3 to 20 cells of 1 to 10 cm along
//! each side, either triangulation), its fabric (stretch and bending over three
//! decades each), how it is turned and thrown (up to 20 m/s, spinning, at times
//! folding up), what it meets (one to three obstacles, of which one may move),
//! and the step (from 1/1000 to 1/30 s). The cloth starts flat, a little way
//! off everything; obstacles leave room for cloth between them.

use drapery_core::Fabric;
use glam::{DQuat, DVec2, DVec3};

use super::dice::Dice;
use super::{Rectangle, Triangulation};
use crate::{Placement, RigidObstacle, Shape};

/// Cloth and obstacles start so far apart at least, and obstacles stay so far
/// from one another [m].
const ROOM: f64 = 0.02;
/// How often an obstacle is drawn again when there is no room for it.
const TRIES: u32 = 20;

/// A cloth, how it is thrown, and what it meets.
#[derive(Clone, Debug)]
pub(super) struct RandomScene {
    pub(super) mesh: Rectangle,
    /// Cells along and across.
    pub(super) cells: [u32; 2],
    /// Side of a cell [m].
    pub(super) cell: f64,
    pub(super) triangulation: Triangulation,
    pub(super) fabric: Fabric,
    pub(super) positions: Vec<DVec3>,
    pub(super) velocities: Vec<DVec3>,
    pub(super) held: Vec<u32>,
    pub(super) obstacles: Vec<Moving>,
    /// Against obstacles and cloth.
    pub(super) friction: f64,
    /// [s]
    pub(super) dt: f64,
    /// The speed of its middle [m/s].
    pub(super) speed: f64,
}

/// An obstacle that swings and turns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moving {
    pub(super) shape: Shape,
    middle: Placement,
    /// How far it swings [m].
    swing: DVec3,
    /// How fast its phase goes [rad/s].
    pulse: f64,
    /// How it turns [rad/s].
    spin: DVec3,
}

impl Moving {
    /// Where it is at a time [s].
    pub(super) fn at(&self, time: f64) -> Placement {
        Placement {
            rotation: DQuat::from_scaled_axis(self.spin * time) * self.middle.rotation,
            translation: self.middle.translation + self.swing * (self.pulse * time).sin(),
        }
    }

    /// The fastest that a point of it moves [m/s].
    pub(super) fn speed(&self) -> f64 {
        self.swing.length() * self.pulse + self.spin.length() * reach(&self.shape).unwrap_or(0.0)
    }

    /// How far from its middle it gets [m]; none for a plane.
    fn reach(&self) -> Option<f64> {
        Some(reach(&self.shape)? + self.swing.length())
    }

    /// Whether there is room between it and another one, wherever they swing.
    fn is_clear_of(&self, other: &Self) -> bool {
        let apart = |plane: &Self, p: DVec3, reach: f64| {
            let up = plane.middle.rotation * DVec3::Y;
            up.dot(p - plane.middle.translation) > reach + plane.swing.length() + ROOM
        };
        let (here, there) = (self.middle.translation, other.middle.translation);
        match (self.reach(), other.reach()) {
            (Some(a), Some(b)) => here.distance(there) > a + b + ROOM,
            (None, Some(b)) => apart(self, there, b),
            (Some(a), None) => apart(other, here, a),
            (None, None) => false,
        }
    }
}

/// How far from its middle a shape gets [m]; none for a plane.
fn reach(shape: &Shape) -> Option<f64> {
    match *shape {
        Shape::Plane => None,
        Shape::Sphere { radius } => Some(radius),
        Shape::Cylinder { radius, length } => Some(radius.hypot(length / 2.0)),
        Shape::Disc {
            radius, thickness, ..
        } => Some(radius.hypot(thickness / 2.0)),
    }
}

impl RandomScene {
    /// The scene of a seed, with at most so many cells along a side.
    pub(super) fn new(seed: u64, max_cells: u32) -> Self {
        // Seeds are small numbers; the first throws of neighbours would be alike.
        let mut dice = Dice(seed.wrapping_mul(0xD134_2543_DE82_EF95));
        let mut draw = Draw(&mut dice);
        let cells = [0; 2].map(|_: u32| draw.whole(3, max_cells));
        let cell = draw.decades(0.01, 0.1);
        let triangulation = match draw.happens(0.5) {
            true => Triangulation::Aligned,
            false => Triangulation::Unstructured,
        };
        let size = DVec2::new(f64::from(cells[0]), f64::from(cells[1])) * cell;
        let mesh = Rectangle::new(size.x, cells[0], cells[1], triangulation);
        let mesh = mesh.expect("cells have area");
        let fabric = draw.fabric();
        let turn = draw.rotation();
        let speed = draw.between(0.0, 20.0);
        let towards = draw.direction();
        let spin = draw.direction() * draw.between(0.0, 0.5) * speed / size.max_element();
        let folding = match draw.happens(0.3) {
            true => draw.between(0.0, 10.0),
            false => 0.0,
        };
        let folded_along = draw.direction().truncate().normalize_or(DVec2::X);
        let up = turn * DVec3::Y;
        let from_middle = |p: &DVec2| *p - size / 2.0;
        let offset = |p: DVec2| turn * DVec3::new(p.x, 0.0, p.y);
        let positions: Vec<DVec3> = mesh.points.iter().map(|p| offset(from_middle(p))).collect();
        let velocities = mesh.points.iter().map(|p| {
            let p = from_middle(p);
            let fold = p.dot(folded_along).abs() / size.max_element();
            towards * speed + spin.cross(offset(p)) + up * (folding * fold)
        });
        let velocities = velocities.collect();
        let held = match draw.happens(0.2) {
            true => vec![mesh.start[0]],
            false => Vec::new(),
        };
        let may_move = held.is_empty();
        // Close enough that nothing slips in between.
        let n = (size / ROOM).ceil().max(DVec2::ONE);
        let (n_along, n_across) = (n.x as u32, n.y as u32);
        let dense: Vec<DVec3> = (0..(n_along + 1) * (n_across + 1))
            .map(|i| DVec2::new(f64::from(i % (n_along + 1)), f64::from(i / (n_along + 1))) / n)
            .map(|p| offset((p - 0.5) * size))
            .collect();
        let mut obstacles: Vec<Moving> = Vec::new();
        for nth in 0..draw.whole(1, 3) {
            for _ in 0..TRIES {
                let way = match nth {
                    0 => (towards + draw.direction() * 0.3).normalize(),
                    _ => draw.direction(),
                };
                let moves = nth == 0 && may_move && draw.happens(0.4);
                let new = draw.obstacle(size.max_element(), way, &dense, moves);
                if obstacles.iter().all(|old| old.is_clear_of(&new)) {
                    obstacles.push(new);
                    break;
                }
            }
        }
        Self {
            friction: draw.between(0.0, 0.8),
            dt: draw.decades(1.0 / 1000.0, 1.0 / 30.0),
            mesh,
            cells,
            cell,
            triangulation,
            fabric,
            positions,
            velocities,
            held,
            obstacles,
            speed,
        }
    }

    /// The obstacles as they are at the start.
    pub(super) fn rigid_obstacles(&self) -> Vec<RigidObstacle> {
        let all = self.obstacles.iter();
        all.map(|o| RigidObstacle::new(o.shape, o.at(0.0)).expect("shapes have a size"))
            .collect()
    }

    /// What it is, in words.
    pub(super) fn name(&self) -> String {
        let mut name = format!(
            "{} × {} cells of {:.1} cm {}, {:.0} N/m, {:.0} m/s, dt {:.1} ms, at",
            self.cells[0],
            self.cells[1],
            100.0 * self.cell,
            self.triangulation.name(),
            self.fabric.stretch_warp,
            self.speed,
            1e3 * self.dt,
        );
        for obstacle in &self.obstacles {
            name += match obstacle.shape {
                Shape::Plane => " plane",
                Shape::Sphere { .. } => " sphere",
                Shape::Cylinder { .. } => " cylinder",
                Shape::Disc { .. } => " disc",
            };
            if obstacle.speed() > 0.0 {
                name += "*";
            }
        }
        name
    }
}

/// Things that are drawn.
struct Draw<'a>(&'a mut Dice);

impl Draw<'_> {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * 0.5 * (self.0.signed() + 1.0)
    }

    /// Evenly over the decades between two numbers.
    fn decades(&mut self, low: f64, high: f64) -> f64 {
        self.between(low.ln(), high.ln()).exp()
    }

    /// Both ends included.
    fn whole(&mut self, low: u32, high: u32) -> u32 {
        (self.between(f64::from(low), f64::from(high) + 1.0) as u32).min(high)
    }

    fn happens(&mut self, chance: f64) -> bool {
        self.between(0.0, 1.0) < chance
    }

    fn direction(&mut self) -> DVec3 {
        loop {
            let p = DVec3::new(self.0.signed(), self.0.signed(), self.0.signed());
            if (0.01..1.0).contains(&p.length_squared()) {
                return p.normalize();
            }
        }
    }

    fn rotation(&mut self) -> DQuat {
        DQuat::from_axis_angle(self.direction(), self.between(0.0, std::f64::consts::TAU))
    }

    fn fabric(&mut self) -> Fabric {
        let density = self.decades(0.05, 0.5);
        let (stretch, bending) = (self.decades(50.0, 5e4), self.decades(3e-7, 3e-4));
        let plain = Fabric::plain("random", density, stretch, bending);
        Fabric {
            stretch_weft: stretch * self.between(0.5, 1.0),
            shear: stretch * self.decades(0.02, 0.5),
            damping: match self.happens(0.5) {
                true => self.decades(1e-4, 1e-2),
                false => 0.0,
            },
            ..plain
        }
    }

    /// An obstacle for a cloth of a size [m], so far along a way from the
    /// origin that it is clear of these points.
    fn obstacle(&mut self, size: f64, way: DVec3, clear_of: &[DVec3], moves: bool) -> Moving {
        let radius = (size * self.between(0.1, 0.5)).max(0.02);
        let shape = match self.whole(0, 3) {
            0 => Shape::Plane,
            1 => Shape::Sphere { radius },
            2 => Shape::Cylinder {
                radius: 0.5 * radius,
                length: 4.0 * radius,
            },
            _ => {
                let thickness = self.decades(0.004, 0.02);
                Shape::Disc {
                    radius,
                    thickness,
                    rim: 0.5 * thickness * self.between(0.0, 1.0),
                }
            }
        };
        let rotation = match shape {
            Shape::Plane => DQuat::from_rotation_arc(DVec3::Y, -way),
            _ => self.rotation(),
        };
        let (swing, pulse, spin) = match (moves, shape) {
            (false, _) => (DVec3::ZERO, 0.0, DVec3::ZERO),
            (true, Shape::Plane) => (way * self.between(0.0, 0.1), 10.0, DVec3::ZERO),
            (true, _) => (
                self.direction() * self.between(0.0, 0.2),
                self.between(1.0, 20.0),
                self.direction() * self.between(0.0, 10.0),
            ),
        };
        let mut moving = Moving {
            shape,
            middle: Placement {
                rotation,
                translation: DVec3::ZERO,
            },
            swing,
            pulse,
            spin,
        };
        let more = self.between(0.0, 0.1);
        let room = ROOM + swing.length();
        let mut away = 0.0;
        loop {
            moving.middle.translation = way * away;
            let here = RigidObstacle::new(shape, moving.middle).expect("shapes have a size");
            // What turns is as large as it gets.
            let is_clear = match moving.reach().filter(|_| spin != DVec3::ZERO) {
                Some(reach) => clear_of
                    .iter()
                    .all(|p| p.distance(moving.middle.translation) > reach + ROOM),
                None => clear_of.iter().all(|p| here.nearest(*p).distance > room),
            };
            if is_clear {
                moving.middle.translation = way * (away + more);
                return moving;
            }
            away += 0.01;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenes_start_clear_of_everything_and_use_all_of_their_ranges() {
        let scenes: Vec<RandomScene> = (0..200).map(|seed| RandomScene::new(seed, 8)).collect();
        for (seed, scene) in scenes.iter().enumerate() {
            assert!(!scene.obstacles.is_empty(), "seed {seed}");
            for obstacle in scene.rigid_obstacles() {
                for p in &scene.positions {
                    assert!(obstacle.nearest(*p).distance > 0.9 * ROOM, "seed {seed}");
                }
            }
        }
        let count =
            |holds: &dyn Fn(&RandomScene) -> bool| scenes.iter().filter(|s| holds(s)).count();
        assert!(count(&|s| s.fabric.stretch_warp < 500.0) > 40);
        assert!(count(&|s| s.fabric.stretch_warp > 5e3) > 40);
        assert!(count(&|s| s.speed > 15.0) > 30);
        assert!(count(&|s| s.dt > 1.0 / 60.0) > 20 && count(&|s| s.dt < 1.0 / 500.0) > 20);
        assert!(count(&|s| s.obstacles.iter().any(|o| o.speed() > 0.0)) > 30);
        assert!(count(&|s| s.obstacles.len() == 3) > 20);
    }
}
