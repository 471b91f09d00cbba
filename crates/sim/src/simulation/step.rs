//! One step: the ladder of halved steps, and the solves of a part.

use drapery_core::FrameIndex;
use glam::{DMat3, DVec3};

use super::{Diverged, Failure, Integrator, Simulation, SimulationConfig, StepReport};
use crate::contact::{LookAt, MeshObstacle, Obstacle, PairContacts, SurfaceContacts, Touch};
use crate::stopwatch::{Stopwatch, TimeSpent};
use crate::{Cloth, Inertia, NewtonConfig, Objective, SolveError, Solver, Spring};

/// The farthest that a vertex moves in one Newton iteration [m].
const MAX_MOVE: f64 = 0.1;

/// The most acceleration beside gravity that a step starts out with because
/// the last one had it [m/s²]. On a cloth that hangs, 20 saves a tenth of the
/// iterations and 100 none: after a jerk the cloth does not jerk again.
const MAX_CARRIED: f64 = 20.0;

/// How often a step is halved before it is given up.
const RUNGS: u32 = 4;

/// A step in which something had to be set back, or a triangle turned over, is
/// halved so often before that is accepted: smaller steps are the better cure.
const FORCES_FIRST: u32 = 2;

/// What one vertex counts for at most when it is judged whether a step is solved
/// that may also end unsolved, in multiples of its part of what may be left. A
/// handful of crumpled triangles in an armpit buckle for thirty iterations while
/// all other vertices are done after three. At 50 it is much the same.
const OUTLIER: f64 = 15.0;

/// Every so many steps edges and faces are looked at that may be inside a mesh.
const LOOKED_AT: u64 = 5;

/// How often what obstacles and what cloth sets back are brought together.
const SETTLING: u32 = 4;

/// The most steps that are taken on one rung before a lower one is tried. In
/// trousers of a body that ducks, 127_29, every other step that was tried a
/// rung below the last one failed (180 of 343); with this a fifth less time is spent.
const PATIENCE: u32 = 8;

/// On which rung of the ladder the next step is tried first: after a hard step
/// comes another, most likely, and the more so the more often a lower rung did
/// not hold.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Footing {
    rung: u32,
    /// Steps for which it is kept at least the next time that a lower one fails.
    patience: u32,
    /// Steps for which it is kept still.
    left: u32,
}

impl Footing {
    const fn first(&self) -> u32 {
        match self.left {
            0 => self.rung.saturating_sub(1),
            _ => self.rung,
        }
    }

    /// After a step that was tried on rung `first` and held on `rung`.
    fn stood(&mut self, first: u32, rung: u32) {
        (self.patience, self.left) = match rung {
            rung if rung > first => {
                let patience = (2 * self.patience).clamp(1, PATIENCE);
                (patience, patience)
            }
            rung if rung < self.rung => (0, 0),
            _ => (self.patience, self.left.saturating_sub(1)),
        };
        self.rung = rung;
    }
}

/// Why a part of a step failed, and where.
#[derive(Clone, Copy, Debug)]
struct Fault {
    vertex: usize,
    failure: Failure,
}

impl Fault {
    const fn at(vertex: usize, failure: Failure) -> Self {
        Self { vertex, failure }
    }
}

/// The most solves of a step with contact.
const MAX_SOLVES: u32 = 9;

impl Simulation {
    /// Takes one step.
    ///
    /// # Errors
    /// When the step does not converge in sixteen parts either; the cloth is
    /// then where it was.
    pub fn step(&mut self) -> Result<StepReport, Diverged> {
        // On a worker of the pool, so that the many small tasks of a step
        // don't each wait for one.
        let watch = Stopwatch::start();
        let result = rayon::scope(|_| self.climb());
        self.spent.steps += watch.seconds();
        result
    }

    /// How well the next step is to be solved [m/s].
    fn tolerance(&self) -> f64 {
        let SimulationConfig {
            tolerance,
            relative_tolerance,
            ..
        } = self.config;
        if relative_tolerance == 0.0 {
            return tolerance;
        }
        let both = || self.cloth.masses().iter().zip(&self.v);
        let mass: f64 = self.cloth.masses().iter().sum();
        let mean = both().map(|(m, v)| *v * *m).sum::<DVec3>() / mass;
        let square = both()
            .map(|(m, v)| m * v.distance_squared(mean))
            .sum::<f64>()
            / mass;
        tolerance.max(relative_tolerance * square.sqrt())
    }

    /// Takes a step in as few parts as it needs.
    fn climb(&mut self) -> Result<StepReport, Diverged> {
        let start = (self.x.clone(), self.v.clone(), self.damped);
        let mut fault = Fault::at(0, Failure::NotConverged);
        // Not where steps are to be exact: rounding is harder on small ones.
        let first = match self.config.slack > 1.0 {
            true => self.footing.first(),
            false => 0,
        };
        let mut rung = first;
        while rung <= RUNGS {
            // One part alone changes nothing before it succeeds.
            let before = (rung > 0).then(|| {
                let contacts = (self.surface.clone(), self.pairs.clone());
                (contacts, self.acceleration.clone())
            });
            match self.try_parts(rung) {
                Ok(report) => {
                    self.footing.stood(first, rung);
                    self.step += 1;
                    if self.config.integrator == Integrator::Bdf2 {
                        self.before = Some(self.history(start.0, start.1));
                    }
                    self.find_caught();
                    let watch = Stopwatch::start();
                    for obstacle in &mut self.obstacles {
                        obstacle.rest();
                    }
                    self.spent.obstacles += watch.seconds();
                    return Ok(report);
                }
                Err(found) => {
                    fault = found;
                    self.x.copy_from_slice(&start.0);
                    self.v.copy_from_slice(&start.1);
                    self.damped = start.2;
                    if let Some(((surface, pairs), acceleration)) = before {
                        (self.surface, self.pairs) = (surface, pairs);
                        self.acceleration = acceleration;
                    }
                    // Smaller parts are the better cure here, too.
                    if rung == 0 || !self.let_pass(fault.vertex) {
                        rung += 1;
                    }
                }
            }
        }
        Err(Diverged {
            frame: FrameIndex(
                u32::try_from(self.step / u64::from(self.config.steps_per_frame))
                    .unwrap_or(u32::MAX),
            ),
            step: self.step,
            vertex: fault.vertex as u32,
            dt: self.config.dt / f64::from(1 << RUNGS),
            failure: fault.failure,
        })
    }

    /// Finds what of the cloth is inside a mesh between its vertices.
    fn find_caught(&mut self) {
        let Some(surface) = &mut self.surface else {
            return;
        };
        let all = match self.step % LOOKED_AT {
            0 => LookAt::All,
            _ => LookAt::Caught,
        };
        let watch = Stopwatch::start();
        let caught = surface.find_caught(&self.obstacles, &self.x, all);
        self.spent.surface += watch.seconds();
        if let Some(pairs) = &mut self.pairs {
            pairs.set_caught(caught);
        }
    }

    /// Positions and velocities of a step ago for BDF2. What touched in between
    /// was stopped, not slowed down: it has no past but the way it goes now.
    fn history(&self, mut x: Vec<DVec3>, mut v: Vec<DVec3>) -> (Vec<DVec3>, Vec<DVec3>) {
        for i in (0..x.len()).filter(|i| self.touched[*i]) {
            x[i] = self.x[i] - self.v[i] * self.config.dt;
            v[i] = self.v[i];
        }
        (x, v)
    }

    /// Takes a step in as many equal parts as a rung of the ladder has.
    fn try_parts(&mut self, rung: u32) -> Result<StepReport, Fault> {
        let parts = 1 << rung;
        let start = self.x.clone();
        let mut report = StepReport {
            parts,
            contact_settled: true,
            ..StepReport::default()
        };
        report.solve.converged = true;
        for part in 1..=parts {
            let share = |part: u32| f64::from(part) / f64::from(parts);
            let obstacles: Vec<Obstacle> = match parts {
                1 => std::mem::take(&mut self.obstacles),
                _ => self
                    .obstacles
                    .iter()
                    .map(|o| o.part(share(part - 1), share(part)))
                    .collect(),
            };
            let dt = self.config.dt / f64::from(parts);
            let result = self.substep(&start, share(part), dt, rung, &obstacles, &mut report);
            if parts == 1 {
                self.obstacles = obstacles;
            }
            result?;
        }
        Ok(report)
    }

    /// One step of length `dt` that takes held vertices to `share` of their
    /// way from `start`.
    fn substep(
        &mut self,
        start: &[DVec3],
        share: f64,
        dt: f64,
        rung: u32,
        obstacles: &[Obstacle],
        step: &mut StepReport,
    ) -> Result<(), Fault> {
        let config = self.config;
        let is_lax = config.slack > 1.0;
        let last = rung == RUNGS && !is_lax;
        let before = self.before.as_ref().filter(|_| dt == config.dt);
        let integrator = match (config.integrator, before) {
            (Integrator::Bdf2, None) => Integrator::Euler,
            (integrator, _) => integrator,
        };
        // The step in Φ, and the time until x is reached.
        let (h, until) = match integrator {
            Integrator::Euler => (dt, dt),
            Integrator::Midpoint => (0.5 * dt, 0.5 * dt),
            Integrator::Bdf2 => (2.0 * dt / 3.0, dt),
        };
        let n = self.x.len();
        let targets: Vec<DVec3> = match (integrator, before) {
            (Integrator::Bdf2, Some((x, v))) => (0..n)
                .map(|i| (4.0 * self.x[i] - x[i] + h * (4.0 * self.v[i] - v[i])) / 3.0)
                .collect(),
            _ => (0..n).map(|i| self.x[i] + self.v[i] * h).collect(),
        };
        // Most likely the cloth goes on as it did in the last step, unless it
        // trembles undamped.
        let most = match integrator {
            Integrator::Euler | Integrator::Bdf2 => MAX_CARRIED,
            Integrator::Midpoint => 0.0,
        };
        let carry = |i: usize| {
            let more = self.acceleration[i] - config.gravity;
            config.gravity + more.clamp_length_max(most)
        };
        let mut x: Vec<DVec3> = (0..n).map(|i| targets[i] + carry(i) * (h * h)).collect();
        for i in (0..n).filter(|i| self.held[*i]) {
            let end = start[i].lerp(self.places[i], share);
            x[i] = self.x[i].lerp(end, until / dt);
        }
        let forces: Vec<DVec3> = self
            .cloth
            .masses()
            .iter()
            .map(|m| config.gravity * *m)
            .collect();
        self.springs.clear();
        self.springs.extend(self.attachments.iter().map(|a| Spring {
            vertex: a.vertex,
            stiffness: DMat3::from_diagonal(DVec3::splat(a.stiffness)),
            target: a.target,
        }));
        if let Some(wind) = &self.wind {
            wind.add_springs(&self.cloth, &self.x, &self.v, until, &mut self.springs);
        }
        let damped = self.cloth.is_damped();
        if damped {
            self.damping.set(&self.cloth, &self.x, &x, until);
        }
        if let Some(surface) = &mut self.surface {
            let watch = Stopwatch::start();
            surface.begin(obstacles, &self.x, &x, h);
            self.spent.surface += watch.seconds();
        }
        let meshes: Vec<&MeshObstacle> = obstacles
            .iter()
            .filter_map(|o| match o {
                Obstacle::Mesh(mesh) => Some(&**mesh),
                Obstacle::Rigid(_) => None,
            })
            .collect();
        if let Some(pairs) = &mut self.pairs {
            let masses = self.cloth.masses().iter().zip(&self.held);
            self.masses.clear();
            self.masses.extend(masses.map(|(m, held)| match held {
                true => f64::INFINITY,
                false => *m,
            }));
            let watch = Stopwatch::start();
            pairs.begin(&self.x, &x, &self.masses, h, &meshes);
            self.spent.pairs += watch.seconds();
        }
        let objective = Objective {
            cloth: &self.cloth,
            held: &self.held,
            forces: &forces,
            inertia: Some(Inertia {
                targets: &targets,
                dt: h,
            }),
            springs: &self.springs,
            damping: damped.then_some(&self.damping),
            touches: &[],
        };
        // Of the lightest piece, so that none is solved for less well than alone.
        let masses = self.cloth.masses();
        let pieces = self.cloth.pieces().iter();
        let mass = pieces.map(|piece| masses[piece.vertices.clone()].iter().sum());
        let mass = mass.fold(f64::INFINITY, f64::min);
        let newton = NewtonConfig {
            solver: match last {
                true => Solver::Direct,
                false => config.solver,
            },
            max_iterations: config
                .max_iterations
                .saturating_mul(if last { 4 } else { 1 }),
            // What a move of x does to the velocity at the end of the step.
            decrement: 0.5 * mass * (self.tolerance() * 0.5f64.powi(i32::from(until < dt))).powi(2),
            max_move: MAX_MOVE,
            forcing: config.forcing,
            outlier: if is_lax { OUTLIER } else { f64::INFINITY },
        };
        let slack = match is_lax && rung >= FORCES_FIRST {
            true => f64::INFINITY,
            false => config.slack,
        };
        let mut is_solved = true;
        let mut touches: Vec<Touch> = Vec::new();
        for solves in 1..=MAX_SOLVES {
            touches.clear();
            if let Some(surface) = &self.surface {
                touches.extend_from_slice(surface.touches());
            }
            if let Some(pairs) = &self.pairs {
                touches.extend_from_slice(pairs.touches());
                touches.extend_from_slice(pairs.leading());
            }
            let objective = Objective {
                touches: &touches,
                ..objective
            };
            let watch = Stopwatch::start();
            let solved = match solves {
                1 => self.minimiser.minimise(&objective, &mut x, &newton),
                _ => self.minimiser.resume(&objective, &mut x, &newton),
            };
            self.spent.solve += watch.seconds();
            match solved {
                Ok(report) if report.converged => step.solve.add(&report),
                // The square of what velocities are off by.
                Ok(report) if report.decrement <= slack * slack * newton.decrement => {
                    step.solve.add(&report);
                    step.contact_settled = false;
                    is_solved = false;
                }
                Ok(_) => {
                    let vertex = self.minimiser.most_pulled();
                    return Err(Fault::at(vertex, Failure::NotConverged));
                }
                Err(SolveError::Diverged { vertex }) => {
                    return Err(Fault::at(vertex, Failure::NotFinite));
                }
                // Within a basis nothing is solved here.
                Err(SolveError::Unheld | SolveError::DependentBasis) => {
                    return Err(Fault::at(0, Failure::Unheld));
                }
            }
            step.solves += 1;
            if let Some(vertex) = x.iter().position(|p| !p.is_finite()) {
                return Err(Fault::at(vertex, Failure::NotFinite));
            }
            let mut again = false;
            if let Some(surface) = &mut self.surface {
                let watch = Stopwatch::start();
                again |= surface.refresh(obstacles, &self.held, &self.x, &x);
                self.spent.surface += watch.seconds();
            }
            if let Some(pairs) = &mut self.pairs {
                let watch = Stopwatch::start();
                again |= pairs.refresh(&self.x, &x, &meshes);
                self.spent.pairs += watch.seconds();
            }
            step.contact_settled &= solves < MAX_SOLVES;
            if !again || !is_solved || solves == MAX_SOLVES {
                break;
            }
        }
        step.touches = touches.len() as u32;
        // Of cloth on cloth the weights add up to nothing.
        step.impulse += dt * touches.iter().map(|t| t.push(&x)).sum::<DVec3>();
        // The midpoint rule keeps energy or not for reasons of its own.
        if config.integrator == Integrator::Euler
            && rung < FORCES_FIRST
            && let Some(vertex) = turned_over(&self.cloth, &self.x, &x, self.passing())
        {
            return Err(Fault::at(vertex, Failure::TurnedOver));
        }
        let course = Course {
            obstacles,
            meshes: &meshes,
            held: &self.held,
            start: &self.x,
            is_lax,
        };
        let spent = &mut self.spent;
        step.set_back += course.set_back(&self.surface, &mut self.pairs, rung, &mut x, spent)?;
        if let Some(surface) = &mut self.surface {
            let watch = Stopwatch::start();
            surface.finish(obstacles, &x);
            self.spent.surface += watch.seconds();
        }
        if let Some(pairs) = &mut self.pairs {
            let watch = Stopwatch::start();
            pairs.finish(&x);
            self.spent.pairs += watch.seconds();
            step.crossings = pairs.n_crossings() as u32;
        }
        self.touched.fill(false);
        for touch in touches.iter().filter(|t| t.force(&x) > 0.0) {
            for (vertex, _) in touch.parts() {
                self.touched[vertex] = true;
            }
        }
        // Over the whole step, of which the midpoint rule solves half.
        self.damped += objective.damping_loss(&x) * (dt / until);
        for (i, x) in x.into_iter().enumerate() {
            let from = self.x[i];
            let (to, v) = match integrator {
                Integrator::Euler => (x, (x - from) / dt),
                Integrator::Bdf2 if self.touched[i] => (x, (x - from) / dt),
                Integrator::Bdf2 => {
                    let before = before.map_or(from, |(x, _)| x[i]);
                    (x, (3.0 * x - 4.0 * from + before) / (2.0 * dt))
                }
                Integrator::Midpoint => {
                    let to = 2.0 * x - from;
                    (to, 2.0 * (to - from) / dt - self.v[i])
                }
            };
            let v = match self.held[i] {
                true => (to - from) / dt,
                false => v,
            };
            self.acceleration[i] = (v - self.v[i]) / dt;
            self.v[i] = v;
            self.x[i] = to;
        }
        Ok(())
    }
}

/// A vertex of a triangle that a step turned by more than a right angle. One
/// that is pressed through itself comes out on the other side with energy that
/// it did not have: forces at the end of the step do not know the way.
/// Of what passes through itself that is not asked.
fn turned_over(cloth: &Cloth, start: &[DVec3], end: &[DVec3], passing: &[bool]) -> Option<usize> {
    let mut triangles = cloth.membrane().triangles().iter();
    let normal = |x: &[DVec3], t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| x[v as usize]);
        (b - a).cross(c - a)
    };
    let passes = |v: &u32| passing.get(*v as usize) == Some(&true);
    let found =
        triangles.find(|t| normal(start, t).dot(normal(end, t)) < 0.0 && !t.iter().any(passes));
    found.map(|t| t[0] as usize)
}

/// What a step was about.
struct Course<'a> {
    obstacles: &'a [Obstacle],
    meshes: &'a [&'a MeshObstacle],
    held: &'a [bool],
    start: &'a [DVec3],
    /// Whether steps may end unsolved.
    is_lax: bool,
}

impl Course<'_> {
    /// Sets back what no force could keep out of where a solve ended; gives
    /// how many vertices, or one at fault where smaller steps come first.
    fn set_back(
        &self,
        surface: &Option<SurfaceContacts>,
        pairs: &mut Option<PairContacts>,
        rung: u32,
        x: &mut [DVec3],
        spent: &mut TimeSpent,
    ) -> Result<u32, Fault> {
        let last_resort = if self.is_lax { FORCES_FIRST } else { RUNGS };
        let wanted = x.to_vec();
        let (mut n_set, mut is_settled) = (0, false);
        for round in 0..SETTLING {
            let watch = Stopwatch::start();
            let n_out = surface.as_ref().map_or(0, |surface| {
                surface.set_out(self.obstacles, self.held, self.start, x)
            });
            spent.surface += watch.seconds();
            let watch = Stopwatch::start();
            let n_clipped = match pairs {
                Some(pairs) if n_out > 0 || round == 0 => pairs.clip(self.start, x, self.meshes),
                _ => 0,
            };
            spent.pairs += watch.seconds();
            n_set += n_out + n_clipped;
            is_settled = n_clipped == 0;
            if is_settled {
                break;
            }
        }
        let is_accepted = match is_settled {
            true => rung >= FORCES_FIRST,
            false => rung >= last_resort,
        };
        match wanted.iter().zip(x).position(|(a, b)| a != b) {
            Some(vertex) if !is_accepted => Err(Fault::at(vertex, Failure::Crossing)),
            _ => Ok(n_set),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_rungs_are_tried_less_often_the_more_often_they_fail() {
        let mut footing = Footing::default();
        assert_eq!(footing.first(), 0);
        // Rung 0 never holds: it is tried after 1, 2, 4, 8 and 8 steps on rung 1.
        let mut tried = Vec::new();
        for step in 0..28 {
            let first = footing.first();
            if first == 0 {
                tried.push(step);
            }
            footing.stood(first, 1);
        }
        assert_eq!(tried, [0, 2, 5, 10, 19]);
        // Once it holds, all is as it was.
        footing.stood(0, 0);
        assert_eq!(footing.first(), 0);
        footing.stood(0, 2);
        assert_eq!(footing.first(), 2);
        footing.stood(2, 2);
        assert_eq!(footing.first(), 1);
    }
}
