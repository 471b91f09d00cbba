//! Two hundred random throws: none explodes, none tunnels, none hangs.
//!
//! A case is one [`RandomScene`] with self-contact on, its number the seed; what
//! is measured is how many of these went wrong, so that 0 is right:
//!
//! | fault    | seen by                                                          |
//! |----------|------------------------------------------------------------------|
//! | diverged | a step that fails, or a position that is no number                |
//! | energy   | more than was put in: with U the speed of the obstacles and v that of the throw (root mean square), ½M((v + 2U)² − v²) above the start |
//! | stretch  | an edge longer than its rest length by more than ½ + 3 (v + U)/c, c the speed of waves in the fabric |
//! | crossing | an edge through a face after a step, or on the straight way there |
//! | inside   | a vertex more than 0.1 mm inside an obstacle after a step, that started outside |
//! | passed   | a vertex that went in on one side of an obstacle and out on another within a step |
//! | hang     | more than 500 Newton or 20,000 linear iterations in a step        |

use glam::DVec3;

use super::random_scene::RandomScene;
use super::suite::Job;
use super::tunnelling::{crossings_at, crossings_on_way};
use super::{Case, Size, Test, Trouble};
use crate::{
    Cloth, ContactConfig, MeshBoxes, Obstacle, RigidObstacle, SelfContactConfig, Shape, Simulation,
    SimulationConfig, StepReport,
};

/// How long a scene is looked at [s], and for how many steps at most.
const SECONDS: f64 = 0.5;
const MAX_STEPS: u32 = 100;
/// No more than this may be in a solid [m].
const DEPTH: f64 = 1e-4;
/// What a vertex meets on its way is looked at every so many metres, what the
/// cloth crosses of itself every so many.
const VERTEX_SAMPLE: f64 = 1e-3;
const CLOTH_SAMPLE: f64 = 0.05;
/// The error of the energy that is no fault: of what was put in, and of what
/// it takes to lift the cloth by 5 mm, some offsets.
const ENERGY_SHARE: f64 = 0.01;
const LIFT: f64 = 0.005;
/// The most iterations in a step.
const MAX_NEWTON: u32 = 500;
const MAX_LINEAR: u32 = 20_000;

pub(super) fn jobs(size: Size, seed: Option<u64>) -> Vec<Job> {
    let (n_scenes, max_cells) = match size {
        Size::Quick => (6, 6),
        Size::Full => (200, 20),
    };
    let seeds = seed.map_or(0..n_scenes, |seed| seed..seed + 1);
    seeds
        .map(|seed| -> Job { Box::new(move || vec![case(seed, max_cells)]) })
        .collect()
}

fn case(seed: u64, max_cells: u32) -> Case {
    let scene = RandomScene::new(seed, max_cells);
    let name = format!("seed {seed}: {}", scene.name());
    let course = Course::of(&scene);
    let measured = course.as_ref().map(|c| f64::from(c.n_faults()));
    let case = Case::of(
        Test::RandomScenes,
        name,
        measured.map_err(Clone::clone),
        0.0,
        0.0,
    );
    match course {
        Ok(course) => course.told(case).with("seed", seed as f64),
        Err(_) => case.with("seed", seed as f64),
    }
}

/// How a scene went.
#[derive(Clone, Debug, Default)]
struct Course {
    n_steps: u32,
    /// Steps that failed; the first ends it.
    diverged: u32,
    /// More energy than there should be, relative to what is no fault.
    energy: f64,
    /// The greatest strain of an edge, and its limit.
    stretch: f64,
    stretch_limit: f64,
    crossings: usize,
    /// The deepest that a vertex was inside that started outside [m].
    depth: f64,
    passed: u32,
    newton: u32,
    linear: u32,
    /// The most parts of a step.
    parts: u32,
    set_back: u32,
    touches: u32,
}

impl Course {
    fn n_faults(&self) -> u32 {
        let faults = [
            self.diverged > 0,
            self.energy > 1.0,
            self.stretch > self.stretch_limit,
            self.crossings > 0,
            self.depth > DEPTH,
            self.passed > 0,
            self.newton > MAX_NEWTON || self.linear > MAX_LINEAR,
        ];
        faults.into_iter().map(u32::from).sum()
    }

    fn told(&self, case: Case) -> Case {
        case.with("steps", f64::from(self.n_steps))
            .with("steps_that_failed", f64::from(self.diverged))
            .with("energy_over_what_is_allowed", self.energy)
            .with("stretch_max_percent", 100.0 * self.stretch)
            .with("stretch_limit_percent", 100.0 * self.stretch_limit)
            .with("crossings", self.crossings as f64)
            .with("depth_max_mm", 1e3 * self.depth)
            .with("vertices_passed_through", f64::from(self.passed))
            .with("newton_max_per_step", f64::from(self.newton))
            .with("linear_max_per_step", f64::from(self.linear))
            .with("parts_max", f64::from(self.parts))
            .with("vertices_set_back", f64::from(self.set_back))
            .with("touches_max", f64::from(self.touches))
    }

    /// Runs a scene.
    fn of(scene: &RandomScene) -> Result<Self, Trouble> {
        let mut run = Run::new(scene)?;
        let n_steps = MAX_STEPS.min((SECONDS / scene.dt).ceil() as u32);
        for step in 0..n_steps {
            if !run.step(step) {
                break;
            }
        }
        Ok(run.course)
    }
}

/// A scene that runs.
struct Run<'a> {
    scene: &'a RandomScene,
    simulation: Simulation,
    boxes: MeshBoxes,
    /// Edges with their lengths at rest [m].
    edges: Vec<(usize, usize, f64)>,
    /// What the energy may rise to [J], and what is no fault above that.
    energy: f64,
    margin: f64,
    course: Course,
}

impl<'a> Run<'a> {
    fn new(scene: &'a RandomScene) -> Result<Self, Trouble> {
        let cloth = Cloth::new(&scene.mesh.rest, &scene.fabric, &[]).expect("a sound fabric");
        let mass: f64 = cloth.masses().iter().sum();
        let config = SimulationConfig {
            dt: scene.dt,
            ..SimulationConfig::default()
        };
        let topology = scene.mesh.rest.topology();
        let boxes = MeshBoxes::new(topology, &scene.positions);
        let edges = topology.edges().into_iter().map(|edge| {
            let [a, b] = edge.vertices.map(|v| v as usize);
            (a, b, scene.mesh.points[a].distance(scene.mesh.points[b]))
        });
        let edges = edges.collect();
        let mut simulation = Simulation::new(cloth, scene.positions.clone(), config)?;
        simulation.set_velocities(&scene.velocities)?;
        let contact = ContactConfig {
            friction: scene.friction,
            ..ContactConfig::default()
        };
        let obstacles = scene.rigid_obstacles().into_iter().map(Obstacle::from);
        simulation.set_obstacles(obstacles.collect(), contact)?;
        simulation.set_self_contact(Some(SelfContactConfig {
            friction: scene.friction,
            ..SelfContactConfig::default()
        }))?;
        for vertex in &scene.held {
            simulation.hold(*vertex)?;
        }
        let start = simulation.energy();
        let moving: f64 = scene.obstacles.iter().map(|o| o.speed()).sum();
        let speed = (2.0 * start.kinetic / mass).sqrt();
        let put_in = 0.5 * mass * (speed + 2.0 * moving).powi(2);
        let weight = mass * config.gravity.length();
        // What falls gains what it loses in height; both are in the total.
        let energy = start.total() + put_in - start.kinetic;
        let fastest = scene.velocities.iter().map(|v| v.length());
        let fastest = fastest.fold(0.0, f64::max) + moving + config.gravity.length() * SECONDS;
        let softest = scene.fabric.stretch_weft.min(scene.fabric.stretch_warp);
        let waves = (softest / scene.fabric.density).sqrt();
        Ok(Self {
            course: Course {
                stretch_limit: 0.5 + 3.0 * fastest / waves,
                ..Course::default()
            },
            margin: ENERGY_SHARE * put_in + weight * LIFT,
            scene,
            simulation,
            boxes,
            edges,
            energy,
        })
    }

    /// Takes a step and judges it; false when there is nothing to go on with.
    fn step(&mut self, step: u32) -> bool {
        let time = |step: u32| f64::from(step) * self.scene.dt;
        for (i, moving) in self.scene.obstacles.iter().enumerate() {
            let (start, end) = (moving.at(time(step)), moving.at(time(step + 1)));
            self.simulation
                .move_rigid(i, start, end)
                .expect("the scene's obstacles are shapes");
        }
        let obstacles = self.simulation.obstacles().to_vec();
        let start = self.simulation.positions().to_vec();
        self.course.n_steps += 1;
        let report = match self.simulation.step() {
            Ok(report) => report,
            Err(_) => {
                self.course.diverged += 1;
                return false;
            }
        };
        if self.simulation.positions().iter().any(|p| !p.is_finite()) {
            self.course.diverged += 1;
            return false;
        }
        self.judge(&report, &start);
        for obstacle in &obstacles {
            if let Obstacle::Rigid(rigid) = obstacle {
                self.judge_obstacle(rigid, &start, report.parts == 1);
            }
        }
        true
    }

    fn judge(&mut self, report: &StepReport, start: &[DVec3]) {
        let (course, x) = (&mut self.course, self.simulation.positions());
        course.newton = course.newton.max(report.solve.iterations);
        course.linear = course.linear.max(report.solve.linear_iterations);
        course.parts = course.parts.max(report.parts);
        course.touches = course.touches.max(report.touches);
        course.set_back += report.set_back;
        let more = self.simulation.energy().total() - self.energy;
        course.energy = course.energy.max(more / self.margin);
        for (a, b, rest) in &self.edges {
            let strain = x[*a].distance(x[*b]) / rest - 1.0;
            course.stretch = course.stretch.max(strain);
        }
        course.crossings += match report.parts {
            1 => crossings_on_way(&mut self.boxes, start, x, CLOTH_SAMPLE),
            _ => crossings_at(&mut self.boxes, x),
        };
    }

    /// What vertices did to an obstacle that moved as it says.
    fn judge_obstacle(&mut self, obstacle: &RigidObstacle, start: &[DVec3], is_straight: bool) {
        let end = self.simulation.positions();
        let still = |share: f64| {
            RigidObstacle::new(*obstacle.shape(), obstacle.placement(share))
                .expect("it was one before")
        };
        let (before, after) = (still(0.0), still(1.0));
        for (from, to) in start.iter().zip(end) {
            let distance = before.nearest(*from).distance;
            if distance < 0.0 {
                continue;
            }
            let left = after.nearest(*to).distance;
            self.course.depth = self.course.depth.max(-left);
            let way = from.distance(*to);
            if !is_straight || left < 0.0 || *obstacle.shape() == Shape::Plane {
                continue;
            }
            // Far off all the while.
            let moved = obstacle.placement(0.0) != obstacle.placement(1.0);
            if !moved && distance > way {
                continue;
            }
            let n_samples = (way / VERTEX_SAMPLE).ceil().max(1.0) as u32;
            let mut sides: Option<[DVec3; 2]> = None;
            for i in 1..n_samples {
                let share = f64::from(i) / f64::from(n_samples);
                let placement = obstacle.placement(share);
                let p_own =
                    placement.rotation.inverse() * (from.lerp(*to, share) - placement.translation);
                let (distance, normal) = obstacle.shape().distance(p_own);
                if distance < -DEPTH {
                    let first = sides.map_or(normal, |[first, _]| first);
                    sides = Some([first, normal]);
                }
            }
            if sides.is_some_and(|[into, out]| into.dot(out) < 0.0) {
                self.course.passed += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(seed: u64) -> Course {
        Course::of(&RandomScene::new(seed, 20)).unwrap()
    }

    /// A vertex that ended inside was set back at once, and the cloth torn
    /// after it: four hundred times the energy that may be off.
    #[test]
    fn what_ends_inside_is_pressed_out_and_not_torn_out() {
        for seed in [165, 97] {
            let course = course(seed);
            assert_eq!(course.n_faults(), 0, "seed {seed}: {course:?}");
        }
    }

    /// Cloth that held other cloth back pushed it into a solid.
    #[test]
    fn obstacles_and_cloth_agree_on_what_is_set_back() {
        let course = course(62);
        assert_eq!(course.n_faults(), 0, "{course:?}");
    }

    /// Cells beside a held corner went through themselves in one step.
    #[test]
    fn no_cell_turns_inside_out_at_a_held_corner() {
        let course = course(60);
        assert_eq!(course.n_faults(), 0, "{course:?}");
    }

    #[test]
    fn faults_are_counted() {
        let good = Course {
            stretch_limit: 1.0,
            ..Course::default()
        };
        assert_eq!(good.n_faults(), 0);
        let bad = Course {
            diverged: 1,
            energy: 1.01,
            stretch: 1.01,
            crossings: 1,
            depth: 1.1e-4,
            passed: 1,
            newton: MAX_NEWTON + 1,
            ..good
        };
        assert_eq!(bad.n_faults(), 7);
    }

    /// A scene without contact is seen to go wrong.
    #[test]
    fn cloth_that_meets_nothing_is_seen_to_pass() {
        let scene = RandomScene::new(18, 8);
        let mut run = Run::new(&scene).unwrap();
        let contact = ContactConfig::default();
        run.simulation.set_obstacles(Vec::new(), contact).unwrap();
        let start = run.simulation.positions().to_vec();
        let mut far = start.clone();
        // Through the first obstacle and out on the other side.
        let obstacle = RigidObstacle::new(
            Shape::Sphere { radius: 0.05 },
            crate::Placement::at(start[0] + DVec3::X * 0.1),
        )
        .unwrap();
        far[0] += DVec3::X * 0.2;
        run.simulation.set_positions(&far).unwrap();
        run.judge_obstacle(&obstacle, &start, true);
        assert_eq!(run.course.passed, 1);
        // Half way it is inside.
        far[0] = start[0] + DVec3::X * 0.1;
        run.simulation.set_positions(&far).unwrap();
        run.judge_obstacle(&obstacle, &start, true);
        assert!((run.course.depth - 0.05).abs() < 1e-12);
    }
}
