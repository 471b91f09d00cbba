//! `simulation`: the garment simulated on the moving body, [`SimulatedGarment`].
//!
//! The truth that the learned methods learn from, behind the same seam as they.
//!
//! | phase    | the body                                                          |
//! |----------|-------------------------------------------------------------------|
//! | shape    | turns from the one that the garment lies on into the one asked for |
//! | pose     | goes from rest to a little before the first frame, limbs parted     |
//! | settling | stands still until the cloth does                                  |
//! | ease-in  | gathers speed up to the first frame, limbs parted                  |
//! | frames   | moves as it is told, its pose interpolated in every step           |
//!
//! The first four are [`start`](GarmentAnimator::start): Santesteban and
//! others, Try-On 2019, §4.1 dress their bodies so. The body is posed and
//! skinned at the end of every step and its vertices move on lines in between,
//! so that its speed does not jump from frame to frame. Where it touches itself
//! it gives way ([`Flesh`](drapery_sim::Flesh)), so that cloth has room there.
//!
//! Pinned vertices (`scene::garment::pins`) are pulled to where skinning would
//! have them. While the body is being dressed, and only then, speeds are damped
//! behind the objective's back.

mod dressing;

use std::ops::Range;
use std::time::{Duration, Instant};

use drapery_core::{
    AnimateError, BodyFrame, BodyModel, Fabric, FrameRate, Garment, GarmentAnimator, Pose,
    PoseError, PoseVelocity, Seconds, ShapeError, ShapedBody, StepReport, Surroundings, Topology,
};
use drapery_runtime::{CollisionCorrection, CorrectionConfig};
use drapery_scene::motion::Moving;
use drapery_sim::{
    Cloth, ClothError, ContactConfig, FleshConfig, MeshObstacle, ObstacleError, RestShapeError,
    SelfContactConfig, Simulation, SimulationConfig, SimulationError, Wind, Yielding,
};
use glam::{DVec3, Vec3};

use crate::layering::{Layering, Placed, put_in_order};
use crate::outfit::{Layer, WornLayer};
use crate::road::DressError;
use crate::surfacing::Surfacing;
use crate::wearer::{Wearer, wide};

/// How a garment is simulated on a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WearConfig {
    /// Steps of the simulator in a frame.
    pub steps_per_frame: u32,
    /// Whether the garment is kept from passing through itself.
    pub self_contact: bool,
    /// How strongly a pinned vertex is pulled to its place [N/m].
    pub pin_stiffness: f64,
    /// Friction on skin, as a share of that of each fabric on itself.
    pub skin_friction: f64,
    /// How long the body takes to get its shape, and its pose [s].
    pub dressing: f64,
    /// The longest that the cloth is waited for afterwards [s].
    pub settling: f64,
    /// How the body gives way where it touches itself.
    pub flesh: FleshConfig,
    /// How well steps are solved, as `SimulationConfig::tolerance` [m/s]. Cloth
    /// on a body that stands still trembles by a multiple of it.
    pub tolerance: f64,
    /// The same as a share of how fast the garment moves within itself, as
    /// `SimulationConfig::relative_tolerance`; the larger of both counts. A
    /// T-shirt that walks takes 7.1 Newton iterations a step at 0.01, 5.4 at
    /// 0.03.
    pub relative_tolerance: f64,
    /// How many times worse a step may be that can't be solved so well, as
    /// `SimulationConfig::slack`: cloth that is bunched up between two parts of
    /// a body is not worth a clip.
    pub slack: f64,
}

impl Default for WearConfig {
    fn default() -> Self {
        Self {
            steps_per_frame: 10,
            self_contact: true,
            pin_stiffness: 100.0,
            skin_friction: 2.0 / 3.0,
            dressing: 1.0,
            settling: 2.0,
            flesh: FleshConfig::default(),
            tolerance: 3e-4,
            relative_tolerance: 0.03,
            slack: 10.0,
        }
    }
}

/// Why a garment can't be simulated on a body.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WearError {
    /// The garment can't be put on the body.
    #[error(transparent)]
    Dress(#[from] DressError),
    /// The garment has no rest shape.
    #[error(transparent)]
    Rest(#[from] RestShapeError),
    /// No cloth can be made of the fabric.
    #[error(transparent)]
    Cloth(#[from] ClothError),
    /// The body is no obstacle.
    #[error("the body can't keep cloth out: {0}")]
    Body(#[from] ObstacleError),
    /// The shape that the garment was made for does not fit the body.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A setting is out of range.
    #[error(transparent)]
    SetUp(#[from] SimulationError),
}

/// A garment that is simulated on a body.
pub struct SimulatedGarment<'a> {
    model: &'a dyn BodyModel,
    layers: Vec<WornLayer>,
    cloth: Cloth,
    /// On the unposed body that it was made for [m].
    positions: Vec<Vec3>,
    layering: Layering,
    made_for: ShapedBody,
    frame_rate: FrameRate,
    config: WearConfig,
    /// Who watches it being put on.
    watch: Option<Box<Watch<'a>>>,
}

/// Gets the share that is done, and says whether to go on.
type Watch<'a> = dyn Fn(f64) -> bool + Send + Sync + 'a;

/// A garment on its way through a clip.
#[derive(Clone, Debug)]
pub struct WornGarment {
    simulation: Simulation,
    wearer: Wearer,
    pose: Pose,
    velocity: PoseVelocity,
    skinned: Vec<Vec3>,
    /// Whether no frame has been asked for yet.
    is_fresh: bool,
    /// The step reports of the last frame, the worst of each.
    worst: drapery_sim::StepReport,
    /// Those of everything before the first frame.
    dressing: drapery_sim::StepReport,
    /// How long the body has been posed, in all.
    posing: Duration,
    /// For a single garment.
    surfacing: Option<Surfacing>,
}

impl WornGarment {
    /// How long the body has been posed so far, in all: it is in every step.
    pub const fn time_posing(&self) -> Duration {
        self.posing
    }

    /// The cloth as it is.
    pub const fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// Where the body gave way to itself in the last frame.
    pub const fn yielding(&self) -> &Yielding {
        self.wearer.yielding()
    }

    /// The steps before the first frame taken together, in the same way.
    pub const fn dressing(&self) -> &drapery_sim::StepReport {
        &self.dressing
    }

    /// The steps of the last frame taken together: counts are summed, of parts
    /// the most is kept.
    pub const fn report(&self) -> &drapery_sim::StepReport {
        &self.worst
    }
}

impl<'a> SimulatedGarment<'a> {
    /// A garment of `fabric` that lies on the body of the shape `made_for`.
    ///
    /// # Errors
    /// When garment, fabric, body and settings don't go together.
    pub fn new(
        garment: &Garment,
        model: &'a dyn BodyModel,
        made_for: &[f32],
        fabric: &Fabric,
        frame_rate: FrameRate,
        config: WearConfig,
    ) -> Result<Self, WearError> {
        let layer = Layer { garment, fabric };
        Self::outfit(&[layer], model, made_for, frame_rate, config)
    }

    /// Garments worn one over the other, given from the skin outwards, that
    /// each lie on the body of the shape `made_for`. Where they lie through one
    /// another, the outer ones are lifted first ([`layering`](Self::layering)).
    ///
    /// # Errors
    /// When garments, fabrics, body and settings don't go together.
    pub fn outfit(
        layers: &[Layer<'_>],
        model: &'a dyn BodyModel,
        made_for: &[f32],
        frame_rate: FrameRate,
        config: WearConfig,
    ) -> Result<Self, WearError> {
        // Every layer between two parts of the body needs its room.
        let flesh = FleshConfig {
            room: config.flesh.room * layers.len().max(1) as f64,
            ..config.flesh
        };
        let config = WearConfig { flesh, ..config };
        let (worn, cloth) = WornLayer::all(layers, model, made_for, frame_rate)?;
        let made_for = model.shaped(made_for)?;
        let place = |(layer, worn): (&Layer<'_>, &'_ WornLayer)| Placed {
            topology: worn.topology().clone(),
            positions: layer.garment.mesh().positions().to_vec(),
            thickness: SelfContactConfig::of(layer.fabric).thickness as f32,
        };
        let mut placed: Vec<Placed> = layers.iter().zip(&worn).map(place).collect();
        let layering = match config.self_contact {
            true => put_in_order(&mut placed, model.topology(), &made_for.rest),
            false => Layering::default(),
        };
        let wearing = Self {
            model,
            layers: worn,
            cloth,
            positions: placed.into_iter().flat_map(|l| l.positions).collect(),
            layering,
            made_for,
            frame_rate,
            config,
            watch: None,
        };
        // So that what is wrong with body or settings is said here.
        wearing.set_up(wide(&wearing.positions), wide(&wearing.made_for.rest))?;
        Ok(wearing)
    }

    /// The same, watched while it is put on: `watch` gets the share of that
    /// that is done, which jumps where the cloth is calm early, and says
    /// whether to go on. Where not, that is [`AnimateError::Stopped`].
    #[must_use]
    pub fn watched(mut self, watch: impl Fn(f64) -> bool + Send + Sync + 'a) -> Self {
        self.watch = Some(Box::new(watch));
        self
    }

    /// Whether any garment is worn over each vertex of the body, shape [body vertex].
    /// There skin that gave way to itself is drawn beneath the cloth that it gave way to.
    pub fn is_worn_over(&self) -> Vec<bool> {
        let body = (self.model.topology(), &self.made_for.rest[..]);
        let mut all = vec![false; body.1.len()];
        for layer in &self.layers {
            let garment = (layer.topology(), &self.positions[layer.vertices.clone()]);
            let over = CollisionCorrection::new(body, garment, CorrectionConfig::DEFAULT);
            let own = over.is_worn_over();
            all.iter_mut().zip(own).for_each(|(all, own)| *all |= own);
        }
        all
    }

    fn dt(&self) -> f64 {
        self.frame_rate.frame_step().0 / f64::from(self.config.steps_per_frame)
    }

    fn set_up(&self, cloth: Vec<DVec3>, body: Vec<DVec3>) -> Result<Simulation, WearError> {
        let config = SimulationConfig {
            dt: self.dt(),
            steps_per_frame: self.config.steps_per_frame,
            tolerance: self.config.tolerance,
            relative_tolerance: self.config.relative_tolerance,
            slack: self.config.slack,
            ..SimulationConfig::default()
        };
        let mut simulation = Simulation::new(self.cloth.clone(), cloth, config)?;
        let body = MeshObstacle::new(self.model.topology(), body)?;
        let fabrics = || self.layers.iter().map(|layer| &layer.fabric);
        let contact = fabrics().map(|fabric| ContactConfig {
            friction: self.config.skin_friction * fabric.friction,
            ..ContactConfig::of(fabric)
        });
        let contact: Vec<ContactConfig> = contact.collect();
        simulation.set_obstacles_by_piece(vec![body.into()], &contact)?;
        if self.config.self_contact {
            let layers: Vec<SelfContactConfig> = fabrics().map(SelfContactConfig::of).collect();
            simulation.set_self_contact_by_piece(&layers)?;
            simulation.set_worn_in_order(self.layering.faces_out);
        }
        let homes = (wide(&self.made_for.rest), wide(&self.positions));
        simulation.set_homes(0, &homes.0, &homes.1, self.config.flesh.strange)?;
        Ok(simulation)
    }

    /// The vertices of each garment, from the skin outwards.
    pub fn layers(&self) -> impl ExactSizeIterator<Item = Range<usize>> + '_ {
        self.layers.iter().map(|layer| layer.vertices.clone())
    }

    /// What it took to put the garments in order.
    pub const fn layering(&self) -> &Layering {
        &self.layering
    }

    /// Takes one step in which the body gets to a pose, after a share of the
    /// frame.
    fn advance(
        &self,
        worn: &mut WornGarment,
        to: Moving<'_>,
        share: f64,
        surroundings: Surroundings,
    ) -> Result<(), AnimateError> {
        let WornGarment {
            simulation,
            wearer,
            skinned,
            worst,
            posing,
            ..
        } = worn;
        let start = Instant::now();
        let before = std::mem::take(&mut wearer.surface);
        wearer.step_to(self.model, to, share).map_err(refused)?;
        *posing += start.elapsed();
        let air = Wind::blowing(surroundings.wind.as_dvec3());
        simulation
            .set_gravity(surroundings.gravity.as_dvec3())
            .and_then(|()| simulation.set_wind(Some(air)))
            .and_then(|()| simulation.move_mesh(0, &before, &wearer.surface))
            .and_then(|()| simulation.set_absent(0, &wearer.yielding().absent))
            .and_then(|()| simulation.set_pinching(0, &wearer.pinching))
            .map_err(|_| AnimateError::NotFinite)?;
        let frame = wearer.posed.frame(&wearer.shaped, surroundings);
        let mut attachments = Vec::new();
        for layer in &self.layers {
            layer.attach(&frame, self.config.pin_stiffness, skinned, &mut attachments)?;
        }
        simulation
            .set_attachments(&attachments)
            .map_err(|_| AnimateError::NotFinite)?;
        let report = simulation.step().map_err(|error| AnimateError::Diverged {
            vertex: error.vertex,
            why: error.failure.as_str(),
        })?;
        worst.add(&report);
        Ok(())
    }
}

impl GarmentAnimator for SimulatedGarment<'_> {
    type State = WornGarment;

    fn topology(&self) -> &Topology {
        self.cloth.topology()
    }

    fn frame_step(&self) -> Seconds {
        self.frame_rate.frame_step()
    }

    fn start(&self, body: &BodyFrame<'_>) -> Result<WornGarment, AnimateError> {
        self.put_on(body)
    }

    fn step(
        &self,
        state: &mut WornGarment,
        body: &BodyFrame<'_>,
        out: &mut [Vec3],
    ) -> Result<StepReport, AnimateError> {
        let n_vertices = self.cloth.n_vertices();
        if out.len() != n_vertices {
            return Err(AnimateError::Output {
                found: out.len(),
                expected: n_vertices,
            });
        }
        let found = state.simulation.positions().len();
        if found != n_vertices {
            return Err(AnimateError::State {
                what: "vertices",
                found,
                expected: n_vertices,
            });
        }
        if !std::mem::take(&mut state.is_fresh) {
            let expected = state.pose.rotations.len();
            if expected != body.pose.rotations.len() {
                return Err(AnimateError::Joints {
                    found: body.pose.rotations.len(),
                    expected,
                });
            }
            state.worst = drapery_sim::StepReport::default();
            let end = (body.pose, body.velocity);
            self.play_between(state, 1, end, body.surroundings)?;
        }
        for (out, p) in out.iter_mut().zip(state.simulation.positions()) {
            *out = p.as_vec3();
        }
        if let Some(surfacing) = &mut state.surfacing {
            let wearer = &state.wearer;
            surfacing.lift(&wearer.posed.vertices, wearer.yielding(), out);
        }
        Ok(StepReport::default())
    }
}

fn refused(error: PoseError) -> AnimateError {
    match error {
        PoseError::Joints { found, expected } => AnimateError::Joints { found, expected },
        _ => AnimateError::NotFinite,
    }
}
