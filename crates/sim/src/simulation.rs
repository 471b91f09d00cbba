//! Cloth through time: [`Simulation`].
//!
//! All integrators minimise the one [`Objective`] over a step of length h:
//!
//! | integrator | target y     | step in Φ | then                                   |
//! |------------|--------------|-----------|----------------------------------------|
//! | Euler      | xₙ + h vₙ    | h         | vₙ₊₁ = (x − xₙ)/h                      |
//! | midpoint   | xₙ + ½h vₙ   | ½h        | xₙ₊₁ = 2x − xₙ, vₙ₊₁ = 2(xₙ₊₁ − xₙ)/h − vₙ |
//!
//! | BDF2       | (4xₙ − xₙ₋₁)/3 + 2h(4vₙ − vₙ₋₁)/9 | ⅔h | vₙ₊₁ = (3x − 4xₙ + xₙ₋₁)/2h |
//!
//! Implicit Euler is of first order and damps what it can't resolve. The
//! midpoint rule is of second order, keeps linear and angular momentum, and
//! damps nothing: cloth that is stretched hard at steps that don't resolve it
//! gains energy until it breaks, so it is for small strains and small steps.
//! BDF2 is of second order too, damps what it can't resolve and hardly what it
//! can, and goes with contact; it begins with a step of Euler's.
//!
//! A step that does not converge is taken again from where it began in two
//! halves, in four, down to sixteen parts, the last time with the reference
//! solver; then it is an error that names the step and the vertex. The report
//! says how far down this ladder a step had to go.
//!
//! With contact, a step is a few solves: which points touch what is frozen
//! over each, and found again after it (`contact/surface.rs` for obstacles,
//! `contact/pairs.rs` for cloth on cloth). What no force could keep out makes
//! the step fail, twice; after that it is set back at the end, the one thing
//! that is done behind the objective's back.

use drapery_core::FrameIndex;
use glam::{DMat3, DVec3};

use crate::contact::{
    MeshObstacle, MeshPairs, Obstacle, PairContacts, PairSettings, SurfaceContacts,
    SurfaceSettings, Touch,
};
use crate::wind::Wind;
use crate::{
    Cloth, Damping, Inertia, Minimiser, NewtonConfig, Objective, SolveError, SolveReport, Solver,
    Spring,
};

/// How time is discretised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Integrator {
    /// Implicit Euler: first order, damped.
    #[default]
    Euler,
    /// Implicit midpoint: second order, undamped, for small strains.
    Midpoint,
    /// Two-step backward differences: second order, damped where it must be.
    Bdf2,
}

/// How a simulation runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulationConfig {
    /// Length of a step [s].
    pub dt: f64,
    /// Steps in a frame, by which errors name the frame.
    pub steps_per_frame: u32,
    /// How time is discretised.
    pub integrator: Integrator,
    /// Where directions come from.
    pub solver: Solver,
    /// Gravity [m/s²].
    pub gravity: DVec3,
    /// A step is done when another Newton iteration would change velocities by
    /// no more than this, as the root mean square over the mass [m/s]; with
    /// conjugate gradients by the preconditioner's estimate of it. A few
    /// vertices may be farther off.
    pub tolerance: f64,
    /// The most Newton iterations in a step.
    pub max_iterations: u32,
    /// How far conjugate gradients reduce the residual in one iteration.
    pub forcing: f64,
}

impl Default for SimulationConfig {
    fn default() -> Self {
        Self {
            dt: 1.0 / 300.0,
            steps_per_frame: 10,
            integrator: Integrator::Euler,
            solver: Solver::Iterative,
            gravity: DVec3::new(0.0, -9.81, 0.0),
            tolerance: 0.01,
            max_iterations: 30,
            forcing: 0.1,
        }
    }
}

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

/// How often what obstacles and what cloth sets back are brought together.
const SETTLING: u32 = 4;

/// A vertex that is pulled to a place, not held there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attachment {
    /// Which vertex.
    pub vertex: u32,
    /// Where it is pulled to [m].
    pub target: DVec3,
    /// How strongly [N/m].
    pub stiffness: f64,
}

/// How a step went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// The solves of the step taken together: sums of counts, the worst of
    /// residual and decrement.
    pub solve: SolveReport,
    /// In how many parts the step was taken; one when it went well.
    pub parts: u32,
    /// Contacts in the last part.
    pub touches: u32,
    /// Solves, one a part without contact.
    pub solves: u32,
    /// Vertices that contact forces could not keep out, and that were set back.
    pub set_back: u32,
}

/// How cloth meets what is around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactConfig {
    /// How far off an obstacle cloth rests [m]: stands for its thickness and
    /// for what the middle of an edge dips below its ends.
    pub offset: f64,
    /// Coulomb friction against obstacles.
    pub friction: f64,
}

/// How cloth meets itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SelfContactConfig {
    /// How far apart layers rest [m].
    pub thickness: f64,
    /// Coulomb friction between layers.
    pub friction: f64,
}

impl Default for SelfContactConfig {
    fn default() -> Self {
        Self {
            thickness: 1e-3,
            friction: 0.3,
        }
    }
}

impl Default for ContactConfig {
    fn default() -> Self {
        Self {
            offset: 1.5e-3,
            friction: 0.3,
        }
    }
}

/// Where the energy of a cloth is [J].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EnergyBudget {
    /// Of motion.
    pub kinetic: f64,
    /// Of stretch and shear.
    pub stretch: f64,
    /// Of bending.
    pub bending: f64,
    /// Of height, zero at the origin.
    pub gravity: f64,
    /// Of attachments.
    pub attachments: f64,
    /// What the fabric's damping has taken since the start.
    pub damped: f64,
}

impl EnergyBudget {
    /// All that is still there [J].
    pub const fn total(&self) -> f64 {
        self.kinetic + self.stretch + self.bending + self.gravity + self.attachments
    }
}

/// Why a simulation can't be set up.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// The number of positions differs from the number of vertices.
    #[error("there are {found} positions for {expected} vertices")]
    Count {
        /// Positions given.
        found: usize,
        /// Vertices of the cloth.
        expected: usize,
    },
    /// A number is not finite.
    #[error("vertex {vertex} has a position or velocity that is not finite")]
    NotFinite {
        /// Which vertex.
        vertex: usize,
    },
    /// A vertex is not there.
    #[error("vertex {vertex} is not one of the {n_vertices} vertices")]
    NoSuchVertex {
        /// Which vertex.
        vertex: u32,
        /// How many there are.
        n_vertices: usize,
    },
    /// Contact and the midpoint rule don't go together.
    #[error(
        "contact needs implicit Euler: the midpoint rule finds contact where a step does not end"
    )]
    ContactNeedsEuler,
    /// A setting is out of range.
    #[error("{what} is {value}, which is not {expected}")]
    Setting {
        /// Which setting.
        what: &'static str,
        /// What it is.
        value: f64,
        /// What it should be.
        expected: &'static str,
    },
}

/// A step that could not be taken, however small.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "the cloth diverged in frame {}, step {step}, at vertex {vertex}, in steps of {dt:.2e} s too",
    frame.0
)]
pub struct Diverged {
    /// The frame.
    pub frame: FrameIndex,
    /// The step, counted from the start.
    pub step: u64,
    /// The vertex with the largest force that is left, or with none that is a number.
    pub vertex: u32,
    /// The smallest steps that were tried [s].
    pub dt: f64,
}

/// A cloth that moves.
#[derive(Debug)]
pub struct Simulation {
    cloth: Cloth,
    config: SimulationConfig,
    x: Vec<DVec3>,
    v: Vec<DVec3>,
    /// Of the last step [m/s²].
    acceleration: Vec<DVec3>,
    /// Positions and velocities a step ago, where they count.
    before: Option<(Vec<DVec3>, Vec<DVec3>)>,
    /// Vertices that pressed on something in the last step.
    touched: Vec<bool>,
    held: Vec<bool>,
    /// Where held vertices are to be at the end of the next step [m].
    places: Vec<DVec3>,
    attachments: Vec<Attachment>,
    wind: Option<Wind>,
    step: u64,
    damped: f64,
    minimiser: Minimiser,
    damping: Damping,
    springs: Vec<Spring>,
    obstacles: Vec<Obstacle>,
    surface: Option<SurfaceContacts>,
    pairs: Option<PairContacts>,
    /// Masses with held vertices infinitely heavy [kg].
    masses: Vec<f64>,
}

/// The most solves of a step with contact.
const MAX_SOLVES: u32 = 9;

impl Simulation {
    /// A cloth at rest at `positions` [m].
    ///
    /// # Errors
    /// When positions don't fit the cloth or a setting is out of range.
    pub fn new(
        cloth: Cloth,
        positions: Vec<DVec3>,
        config: SimulationConfig,
    ) -> Result<Self, SimulationError> {
        check(&config)?;
        check_finite(&positions, cloth.n_vertices())?;
        let n = cloth.n_vertices();
        Ok(Self {
            v: vec![DVec3::ZERO; n],
            acceleration: vec![config.gravity; n],
            before: None,
            touched: vec![false; n],
            held: vec![false; n],
            places: positions.clone(),
            x: positions,
            attachments: Vec::new(),
            wind: None,
            step: 0,
            damped: 0.0,
            minimiser: Minimiser::default(),
            damping: Damping::default(),
            springs: Vec::new(),
            obstacles: Vec::new(),
            surface: None,
            pairs: None,
            masses: Vec::new(),
            cloth,
            config,
        })
    }

    /// The cloth.
    pub const fn cloth(&self) -> &Cloth {
        &self.cloth
    }

    /// How it runs.
    pub const fn config(&self) -> &SimulationConfig {
        &self.config
    }

    /// Positions [m], shape [vertex].
    pub fn positions(&self) -> &[DVec3] {
        &self.x
    }

    /// Velocities [m/s], shape [vertex].
    pub fn velocities(&self) -> &[DVec3] {
        &self.v
    }

    /// Sets all positions [m]; held vertices stay there.
    ///
    /// # Errors
    /// When they don't fit the cloth.
    pub fn set_positions(&mut self, positions: &[DVec3]) -> Result<(), SimulationError> {
        check_finite(positions, self.x.len())?;
        self.x.copy_from_slice(positions);
        self.places.copy_from_slice(positions);
        self.before = None;
        if let Some(surface) = &mut self.surface {
            surface.forget();
        }
        Ok(())
    }

    /// Sets all velocities [m/s].
    ///
    /// # Errors
    /// When they don't fit the cloth.
    pub fn set_velocities(&mut self, velocities: &[DVec3]) -> Result<(), SimulationError> {
        check_finite(velocities, self.v.len())?;
        self.v.copy_from_slice(velocities);
        self.before = None;
        Ok(())
    }

    /// Holds a vertex where it is.
    ///
    /// # Errors
    /// When there is no such vertex.
    pub fn hold(&mut self, vertex: u32) -> Result<(), SimulationError> {
        let place = self.x.get(vertex as usize).copied();
        self.move_held(vertex, place.unwrap_or_default())
    }

    /// Holds a vertex and moves it to `place` [m] over the next step.
    ///
    /// # Errors
    /// When there is no such vertex, or the place is not finite.
    pub fn move_held(&mut self, vertex: u32, place: DVec3) -> Result<(), SimulationError> {
        let at = self.check_vertex(vertex)?;
        if !place.is_finite() {
            return Err(SimulationError::NotFinite { vertex: at });
        }
        self.held[at] = true;
        self.places[at] = place;
        Ok(())
    }

    /// Lets a held vertex go.
    ///
    /// # Errors
    /// When there is no such vertex.
    pub fn release(&mut self, vertex: u32) -> Result<(), SimulationError> {
        let at = self.check_vertex(vertex)?;
        self.held[at] = false;
        Ok(())
    }

    /// Replaces the attachments.
    ///
    /// # Errors
    /// When one names no vertex, or pulls with something else than a positive
    /// number, or to a place that is not finite.
    pub fn set_attachments(&mut self, attachments: &[Attachment]) -> Result<(), SimulationError> {
        for attachment in attachments {
            let vertex = self.check_vertex(attachment.vertex)?;
            if !attachment.target.is_finite() {
                return Err(SimulationError::NotFinite { vertex });
            }
            positive("stiffness of an attachment", attachment.stiffness)?;
        }
        self.attachments.clear();
        self.attachments.extend_from_slice(attachments);
        Ok(())
    }

    /// Sets gravity [m/s²] from the next step on.
    ///
    /// # Errors
    /// When it is not finite.
    pub fn set_gravity(&mut self, gravity: DVec3) -> Result<(), SimulationError> {
        let config = SimulationConfig {
            gravity,
            ..self.config
        };
        check(&config)?;
        self.config = config;
        Ok(())
    }

    /// Sets the air; none at the start.
    ///
    /// # Errors
    /// When one of its numbers is not finite or negative.
    pub fn set_wind(&mut self, wind: Option<Wind>) -> Result<(), SimulationError> {
        if let Some(wind) = wind {
            let numbers = [
                ("speed of the wind", wind.velocity.length()),
                ("density of the air", wind.density),
                ("pressure coefficient of the air", wind.pressure),
                ("friction coefficient of the air", wind.friction),
            ];
            for (what, value) in numbers {
                not_negative(what, value)?;
            }
        }
        self.wind = wind;
        Ok(())
    }

    /// Sets what the cloth meets, and how. Obstacles move as they are told to
    /// by [`obstacles_mut`](Self::obstacles_mut) over the next step, and then
    /// rest.
    ///
    /// # Errors
    /// When a setting is out of range, or the integrator is not Euler's: the
    /// midpoint rule places contact where a step does not end.
    pub fn set_obstacles(
        &mut self,
        obstacles: Vec<Obstacle>,
        contact: ContactConfig,
    ) -> Result<(), SimulationError> {
        positive("contact offset", contact.offset)?;
        not_negative("friction", contact.friction)?;
        if self.config.integrator == Integrator::Midpoint && !obstacles.is_empty() {
            return Err(SimulationError::ContactNeedsEuler);
        }
        let longest = self.cloth.longest_edge();
        self.surface = (!obstacles.is_empty()).then(|| {
            let settings = SurfaceSettings {
                offset: contact.offset,
                friction: contact.friction,
            };
            SurfaceContacts::new(&self.cloth, longest, settings)
        });
        self.obstacles = obstacles;
        Ok(())
    }

    /// Keeps the cloth from passing through itself, or no longer.
    ///
    /// # Errors
    /// When a setting is out of range, the integrator is not Euler's, or the
    /// triangles make no surface.
    pub fn set_self_contact(
        &mut self,
        contact: Option<SelfContactConfig>,
    ) -> Result<(), SimulationError> {
        let Some(SelfContactConfig {
            thickness,
            friction,
        }) = contact
        else {
            self.pairs = None;
            return Ok(());
        };
        positive("thickness", thickness)?;
        not_negative("friction", friction)?;
        if self.config.integrator == Integrator::Midpoint {
            return Err(SimulationError::ContactNeedsEuler);
        }
        let settings = PairSettings {
            thickness,
            friction,
            mesh_pairs: MeshPairs::WithoutVertices,
        };
        self.pairs = Some(PairContacts::new(self.cloth.topology(), &self.x, settings));
        Ok(())
    }

    /// The obstacles.
    pub fn obstacles(&self) -> &[Obstacle] {
        &self.obstacles
    }

    /// The obstacles, to set their motion over the next step.
    pub fn obstacles_mut(&mut self) -> &mut [Obstacle] {
        &mut self.obstacles
    }

    fn check_vertex(&self, vertex: u32) -> Result<usize, SimulationError> {
        match self.x.len() {
            n if (vertex as usize) < n => Ok(vertex as usize),
            n_vertices => Err(SimulationError::NoSuchVertex { vertex, n_vertices }),
        }
    }

    /// Takes one step.
    ///
    /// # Errors
    /// When the step does not converge in sixteen parts either; the cloth is
    /// then where it was.
    pub fn step(&mut self) -> Result<StepReport, Diverged> {
        // On a worker of the pool, so that the many small tasks of a step
        // don't each wait for one.
        rayon::scope(|_| self.climb())
    }

    /// Takes a step in as few parts as it needs.
    fn climb(&mut self) -> Result<StepReport, Diverged> {
        let start = (self.x.clone(), self.v.clone(), self.damped);
        let mut at_fault = 0;
        for rung in 0..=RUNGS {
            // One part alone changes nothing before it succeeds.
            let before = (rung > 0).then(|| {
                let contacts = (self.surface.clone(), self.pairs.clone());
                (contacts, self.acceleration.clone())
            });
            match self.try_parts(rung) {
                Ok(report) => {
                    self.step += 1;
                    if self.config.integrator == Integrator::Bdf2 {
                        self.before = Some(self.history(start.0, start.1));
                    }
                    for obstacle in &mut self.obstacles {
                        obstacle.rest();
                    }
                    return Ok(report);
                }
                Err(vertex) => {
                    at_fault = vertex;
                    self.x.copy_from_slice(&start.0);
                    self.v.copy_from_slice(&start.1);
                    self.damped = start.2;
                    if let Some(((surface, pairs), acceleration)) = before {
                        (self.surface, self.pairs) = (surface, pairs);
                        self.acceleration = acceleration;
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
            vertex: at_fault as u32,
            dt: self.config.dt / f64::from(1 << RUNGS),
        })
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

    /// Takes a step in as many equal parts as a rung of the ladder has; the
    /// vertex at fault when one fails.
    fn try_parts(&mut self, rung: u32) -> Result<StepReport, usize> {
        let parts = 1 << rung;
        let start = self.x.clone();
        let mut report = StepReport {
            parts,
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
    ) -> Result<(), usize> {
        let config = self.config;
        let last = rung == RUNGS;
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
        let damped = self.cloth.damping() > 0.0;
        if damped {
            self.damping.set(&self.cloth, &self.x, &x, until);
        }
        if let Some(surface) = &mut self.surface {
            surface.begin(obstacles, &self.x, &x, h);
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
            pairs.begin(&self.x, &x, &self.masses, h, &meshes);
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
        let mass: f64 = self.cloth.masses().iter().sum();
        let newton = NewtonConfig {
            solver: match last {
                true => Solver::Direct,
                false => config.solver,
            },
            max_iterations: config
                .max_iterations
                .saturating_mul(if last { 4 } else { 1 }),
            // What a move of x does to the velocity at the end of the step.
            decrement: 0.5 * mass * (config.tolerance * 0.5f64.powi(i32::from(until < dt))).powi(2),
            max_move: MAX_MOVE,
            forcing: config.forcing,
        };
        let mut touches: Vec<Touch> = Vec::new();
        for solves in 1..=MAX_SOLVES {
            touches.clear();
            if let Some(surface) = &self.surface {
                touches.extend_from_slice(surface.touches());
            }
            if let Some(pairs) = &self.pairs {
                touches.extend_from_slice(pairs.touches());
            }
            let objective = Objective {
                touches: &touches,
                ..objective
            };
            match self.minimiser.minimise(&objective, &mut x, &newton) {
                Ok(report) if report.converged => step.solve.add(&report),
                Ok(_) => return Err(self.minimiser.most_pulled()),
                Err(SolveError::Diverged { vertex }) => return Err(vertex),
                Err(SolveError::Unheld) => return Err(0),
            }
            step.solves += 1;
            if let Some(vertex) = x.iter().position(|p| !p.is_finite()) {
                return Err(vertex);
            }
            let mut again = false;
            if let Some(surface) = &mut self.surface {
                again |= surface.refresh(obstacles, &self.held, &self.x, &x);
            }
            if let Some(pairs) = &mut self.pairs {
                again |= pairs.refresh(&self.x, &x, &meshes);
            }
            if !again || solves == MAX_SOLVES {
                break;
            }
        }
        step.touches = touches.len() as u32;
        // The midpoint rule keeps energy or not for reasons of its own.
        if config.integrator == Integrator::Euler
            && rung < FORCES_FIRST
            && let Some(vertex) = turned_over(&self.cloth, &self.x, &x)
        {
            return Err(vertex);
        }
        let course = Course {
            obstacles,
            meshes: &meshes,
            held: &self.held,
            start: &self.x,
        };
        step.set_back += course.set_back(&self.surface, &mut self.pairs, rung, &mut x)?;
        if let Some(surface) = &mut self.surface {
            surface.finish(obstacles, &x);
        }
        if let Some(pairs) = &mut self.pairs {
            pairs.finish();
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

    /// Where the energy is.
    pub fn energy(&self) -> EnergyBudget {
        let mut budget = EnergyBudget {
            stretch: self.cloth.membrane().energy(&self.x),
            bending: self.cloth.bending().energy(&self.x),
            damped: self.damped,
            ..EnergyBudget::default()
        };
        for ((m, x), v) in self.cloth.masses().iter().zip(&self.x).zip(&self.v) {
            budget.kinetic += 0.5 * m * v.length_squared();
            budget.gravity -= m * self.config.gravity.dot(*x);
        }
        for a in &self.attachments {
            let away = self.x[a.vertex as usize].distance_squared(a.target);
            budget.attachments += 0.5 * a.stiffness * away;
        }
        budget
    }
}

/// A vertex of a triangle that a step turned by more than a right angle. One
/// that is pressed through itself comes out on the other side with energy that
/// it did not have: forces at the end of the step do not know the way.
fn turned_over(cloth: &Cloth, start: &[DVec3], end: &[DVec3]) -> Option<usize> {
    let mut triangles = cloth.membrane().triangles().iter();
    let normal = |x: &[DVec3], t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| x[v as usize]);
        (b - a).cross(c - a)
    };
    let found = triangles.find(|t| normal(start, t).dot(normal(end, t)) < 0.0);
    found.map(|t| t[0] as usize)
}

/// What a step was about.
struct Course<'a> {
    obstacles: &'a [Obstacle],
    meshes: &'a [&'a MeshObstacle],
    held: &'a [bool],
    start: &'a [DVec3],
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
    ) -> Result<u32, usize> {
        let wanted = x.to_vec();
        let (mut n_set, mut is_settled) = (0, false);
        for round in 0..SETTLING {
            let n_out = surface.as_ref().map_or(0, |surface| {
                surface.set_out(self.obstacles, self.held, self.start, x)
            });
            let n_clipped = match pairs {
                Some(pairs) if n_out > 0 || round == 0 => pairs.clip(self.start, x, self.meshes),
                _ => 0,
            };
            n_set += n_out + n_clipped;
            is_settled = n_clipped == 0;
            if is_settled {
                break;
            }
        }
        let is_accepted = match is_settled {
            true => rung >= FORCES_FIRST,
            false => rung == RUNGS,
        };
        match wanted.iter().zip(x).position(|(a, b)| a != b) {
            Some(vertex) if !is_accepted => Err(vertex),
            _ => Ok(n_set),
        }
    }
}

fn not_negative(what: &'static str, value: f64) -> Result<(), SimulationError> {
    match value.is_finite() && value >= 0.0 {
        true => Ok(()),
        false => Err(SimulationError::Setting {
            what,
            value,
            expected: "zero or a positive number",
        }),
    }
}

fn positive(what: &'static str, value: f64) -> Result<(), SimulationError> {
    match value.is_finite() && value > 0.0 {
        true => Ok(()),
        false => Err(SimulationError::Setting {
            what,
            value,
            expected: "a positive number",
        }),
    }
}

fn check(config: &SimulationConfig) -> Result<(), SimulationError> {
    positive("length of a step", config.dt)?;
    positive("number of steps in a frame", config.steps_per_frame.into())?;
    positive("tolerance", config.tolerance)?;
    positive("number of iterations", config.max_iterations.into())?;
    positive("forcing", config.forcing)?;
    let gravity = config.gravity.length();
    match gravity.is_finite() {
        true => Ok(()),
        false => Err(SimulationError::Setting {
            what: "gravity",
            value: gravity,
            expected: "a finite number",
        }),
    }
}

fn check_finite(values: &[DVec3], expected: usize) -> Result<(), SimulationError> {
    if values.len() != expected {
        return Err(SimulationError::Count {
            found: values.len(),
            expected,
        });
    }
    match values.iter().position(|p| !p.is_finite()) {
        Some(vertex) => Err(SimulationError::NotFinite { vertex }),
        None => Ok(()),
    }
}
