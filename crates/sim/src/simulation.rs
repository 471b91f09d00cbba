//! Cloth through time: [`Simulation`].
//!
//! All integrators minimise the one [`Objective`] over a step of length h:
//!
//! | integrator | target y     | step in Φ | then                                   |
//! |------------|--------------|-----------|----------------------------------------|
//! | Euler      | xₙ + h vₙ    | h         | vₙ₊₁ = (x − xₙ)/h                      |
//! | midpoint   | xₙ + ½h vₙ   | ½h        | xₙ₊₁ = 2x − xₙ, vₙ₊₁ = 2(xₙ₊₁ − xₙ)/h − vₙ |
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
//! A simulation may be told to go on instead ([`SimulationConfig::slack`]): what is
//! off by less than so many tolerances is taken as it is, and in quarters anything
//! that is finite; the report says that it was. How well steps are solved may grow
//! with how fast the cloth moves within itself
//! ([`SimulationConfig::relative_tolerance`]). Cloth pinched between parts of a body
//! that overlap may pass through itself where steps fail in halves
//! ([`Simulation::set_pinching`]).
//!
//! With contact, a step is a few solves: which points touch what is frozen
//! over each, and found again after it (`contact/surface.rs` for obstacles,
//! `contact/pairs.rs` for cloth on cloth). What no force could keep out makes
//! the step fail, twice; after that it is set back at the end, the one thing
//! that is done behind the objective's back.

mod config;
mod obstacles;
mod report;
mod step;

use glam::DVec3;

use crate::contact::{
    MeshPairs, Obstacle, PairContacts, PairKeeping, PairSettings, SurfaceContacts, SurfaceSettings,
};
use crate::stopwatch::TimeSpent;
use crate::wind::Wind;
use crate::{Cloth, Damping, Minimiser, Spring};

pub use config::{
    Attachment, ContactConfig, Integrator, SelfContactConfig, SimulationConfig, SimulationError,
};
pub use report::{Diverged, EnergyBudget, Failure, StepReport};

use config::{check, check_finite, not_negative, positive};
use step::Footing;

/// The share of the offset at which edges and vertices of meshes rest: less
/// than vertices of the cloth, so that these bear where both could.
const MESH_REST: f64 = 2.0 / 3.0;

/// A cloth that moves.
#[derive(Clone, Debug)]
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
    /// How often the next step is halved at first.
    footing: Footing,
    damped: f64,
    minimiser: Minimiser,
    damping: Damping,
    springs: Vec<Spring>,
    obstacles: Vec<Obstacle>,
    surface: Option<SurfaceContacts>,
    pairs: Option<PairContacts>,
    /// A mesh, and those of its vertices that leave cloth little room.
    pinching: Option<(usize, Vec<bool>)>,
    /// Of each piece.
    contact: Vec<ContactConfig>,
    /// Masses with held vertices infinitely heavy [kg].
    masses: Vec<f64>,
    spent: TimeSpent,
}

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
            footing: Footing::default(),
            damped: 0.0,
            minimiser: Minimiser::default(),
            damping: Damping::default(),
            springs: Vec::new(),
            obstacles: Vec::new(),
            surface: None,
            pairs: None,
            pinching: None,
            contact: vec![ContactConfig::default(); cloth.pieces().len()],
            masses: Vec::new(),
            spent: TimeSpent::default(),
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

    /// Where the time has gone so far.
    pub fn time_spent(&self) -> TimeSpent {
        let [broad, narrow] = self.pairs.as_ref().map_or([0.0; 2], PairContacts::searched);
        TimeSpent {
            broad,
            narrow,
            pairs: self.spent.pairs - broad - narrow,
            ..self.spent
        }
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
        if let Some(pairs) = &mut self.pairs {
            pairs.forget();
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

    /// Sets what the cloth meets, and how, alike for all of its pieces.
    ///
    /// # Errors
    /// As [`set_obstacles_by_piece`](Self::set_obstacles_by_piece).
    pub fn set_obstacles(
        &mut self,
        obstacles: Vec<Obstacle>,
        contact: ContactConfig,
    ) -> Result<(), SimulationError> {
        let alike = vec![contact; self.cloth.pieces().len()];
        self.set_obstacles_by_piece(obstacles, &alike)
    }

    /// Sets what the cloth meets, and how each piece of it does. Obstacles move as they are told to
    /// by [`move_rigid`](Self::move_rigid) and [`move_mesh`](Self::move_mesh)
    /// over the next step, and then rest.
    ///
    /// # Errors
    /// When a setting is out of range or missing, or with the midpoint rule,
    /// which finds contact where a step does not end.
    pub fn set_obstacles_by_piece(
        &mut self,
        obstacles: Vec<Obstacle>,
        contact: &[ContactConfig],
    ) -> Result<(), SimulationError> {
        self.check_pieces(contact.len())?;
        for contact in contact {
            positive("contact offset", contact.offset)?;
            not_negative("friction", contact.friction)?;
        }
        if self.config.integrator == Integrator::Midpoint && !obstacles.is_empty() {
            return Err(SimulationError::ContactAtMidpoint);
        }
        let longest = self.cloth.longest_edge();
        self.surface = (!obstacles.is_empty()).then(|| {
            let settings = contact.iter().map(|contact| SurfaceSettings {
                offset: contact.offset,
                friction: contact.friction,
            });
            SurfaceContacts::new(&self.cloth, longest, settings.collect())
        });
        self.obstacles = obstacles;
        self.contact = contact.to_vec();
        self.keep_from_meshes();
        Ok(())
    }

    /// Keeps the cloth from passing through itself, or no longer.
    ///
    /// # Errors
    /// When a setting is out of range, or with the midpoint rule.
    pub fn set_self_contact(
        &mut self,
        contact: Option<SelfContactConfig>,
    ) -> Result<(), SimulationError> {
        let Some(contact) = contact else {
            self.pairs = None;
            self.keep_from_meshes();
            return Ok(());
        };
        let alike = vec![contact; self.cloth.pieces().len()];
        self.set_self_contact_by_piece(&alike)
    }

    /// Keeps the pieces of the cloth from passing through themselves and each
    /// other. Two pieces rest at the mean of their thicknesses, and rub with
    /// the geometric mean of their frictions.
    ///
    /// # Errors
    /// When a setting is out of range or missing, or with the midpoint rule.
    pub fn set_self_contact_by_piece(
        &mut self,
        contact: &[SelfContactConfig],
    ) -> Result<(), SimulationError> {
        self.check_pieces(contact.len())?;
        for contact in contact {
            positive("thickness", contact.thickness)?;
            not_negative("friction", contact.friction)?;
        }
        if self.config.integrator == Integrator::Midpoint {
            return Err(SimulationError::ContactAtMidpoint);
        }
        let keeping = contact.iter().map(|contact| PairKeeping {
            thickness: contact.thickness,
            friction: contact.friction,
        });
        self.pairs = Some(self.pair_contacts(Some(keeping.collect())));
        Ok(())
    }

    /// Tells whether the pieces are worn one over the other in their order,
    /// triangles facing outwards. Then what has crossed goes back to the side
    /// that it belongs to, and not the way that is shorter. To be set again
    /// after self-contact was.
    pub fn set_worn_in_order(&mut self, is_worn_in_order: bool) {
        if let Some(pairs) = &mut self.pairs {
            pairs.set_in_order(is_worn_in_order);
        }
    }

    fn pair_contacts(&self, cloth: Option<Vec<PairKeeping>>) -> PairContacts {
        let settings = PairSettings {
            cloth,
            mesh: self.mesh_keeping(),
            piece_of: self.cloth.piece_of().to_vec(),
            is_in_order: false,
            mesh_pairs: MeshPairs::WithoutVertices,
        };
        PairContacts::new(self.cloth.topology(), &self.x, settings)
    }

    /// How edges and faces of each piece of the cloth keep off edges and
    /// vertices of meshes.
    fn mesh_keeping(&self) -> Vec<PairKeeping> {
        let contact = self.contact.iter().map(|contact| PairKeeping {
            thickness: MESH_REST * contact.offset,
            friction: contact.friction,
        });
        contact.collect()
    }

    /// Keeps edges and vertices of meshes from poking through the cloth, also
    /// where it may pass through itself.
    fn keep_from_meshes(&mut self) {
        let has_meshes = self
            .obstacles
            .iter()
            .any(|o| matches!(o, Obstacle::Mesh(_)));
        let mesh = self.mesh_keeping();
        match &mut self.pairs {
            Some(pairs) if pairs.has_layers() => pairs.set_mesh(mesh),
            _ => self.pairs = has_meshes.then(|| self.pair_contacts(None)),
        }
    }

    fn check_pieces(&self, found: usize) -> Result<(), SimulationError> {
        match self.cloth.pieces().len() {
            expected if found == expected => Ok(()),
            expected => Err(SimulationError::Pieces { found, expected }),
        }
    }

    fn check_vertex(&self, vertex: u32) -> Result<usize, SimulationError> {
        match self.x.len() {
            n if (vertex as usize) < n => Ok(vertex as usize),
            n_vertices => Err(SimulationError::NoSuchVertex { vertex, n_vertices }),
        }
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
