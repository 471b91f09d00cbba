//! `simulation`: the garment simulated on the moving body, [`SimulatedGarment`].
//!
//! The truth that the learned methods learn from, behind the same seam as they.
//!
//! | phase    | the body                                                          |
//! |----------|-------------------------------------------------------------------|
//! | shape    | turns from the one that the garment lies on into the one asked for |
//! | pose     | goes from rest to a little before the first frame                  |
//! | settling | stands still until the cloth does                                  |
//! | ease-in  | gathers speed, at constant acceleration, up to the first frame     |
//! | frames   | moves as it is told, its pose interpolated in every step           |
//!
//! The first four are [`start`](GarmentAnimator::start): Casado-Elvira and
//! others, Try-On 2019, §4.1 dress their bodies so. The body is posed and
//! skinned at the end of every step and its vertices move on lines in between,
//! so that its speed does not jump from frame to frame.
//!
//! Pinned vertices (`scene::garment::pins`) are pulled to where skinning would
//! have them. While the body is being dressed, and only then, speeds are damped
//! behind the objective's back.

use std::time::{Duration, Instant};

use drapery_core::{
    AnimateError, BodyFrame, BodyModel, CanonicalFrame, Fabric, FrameRate, Garment,
    GarmentAnimator, Pose, PoseError, PoseVelocity, PosedBody, Seconds, ShapeError, ShapedBody,
    StepReport, Surroundings, Topology,
};
use drapery_runtime::SkinnedGarment;
use drapery_scene::garment::pins;
use drapery_scene::motion::{Moving, sample_between};
use drapery_sim::{
    Attachment, Cloth, ClothError, ContactConfig, MeshObstacle, ObstacleError, RestShape,
    RestShapeError, SelfContactConfig, Simulation, SimulationConfig, SimulationError, Wind,
};
use glam::{DVec3, Quat, Vec3};

use crate::road::{DressError, dress_made_for};

/// How a garment is simulated on a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WearConfig {
    /// Steps of the simulator in a frame.
    pub steps_per_frame: u32,
    /// Whether the garment is kept from passing through itself.
    pub self_contact: bool,
    /// How strongly a pinned vertex is pulled to its place [N/m].
    pub pin_stiffness: f64,
    /// How long the body takes to get its shape, and its pose [s].
    pub dressing: f64,
    /// The longest that the cloth is waited for afterwards [s].
    pub settling: f64,
}

impl Default for WearConfig {
    fn default() -> Self {
        Self {
            steps_per_frame: 10,
            self_contact: true,
            pin_stiffness: 100.0,
            dressing: 1.0,
            settling: 2.0,
        }
    }
}

/// Speeds fall by 1/e in this time while the body is dressed [s].
const CALMING: f64 = 0.1;
/// The cloth has settled when 99 of 100 vertices are slower than this [m/s].
const CALM: f64 = 0.01;
/// Before the first frame no joint turns by more than this [rad], and the root
/// moves by no more than this [m], to gather speed.
const EASE_TURN: f32 = 0.4;
const EASE_WAY: f32 = 0.3;
/// The longest that gathering speed takes [s].
const EASE_TIME: f32 = 0.5;

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
    skinned: SkinnedGarment,
    cloth: Cloth,
    fabric: Fabric,
    /// On the unposed body that it was made for [m].
    positions: Vec<Vec3>,
    made_for: ShapedBody,
    pinned: Vec<u32>,
    frame_rate: FrameRate,
    config: WearConfig,
}

/// A garment on its way through a clip.
#[derive(Clone, Debug)]
pub struct WornGarment {
    simulation: Simulation,
    body: ShapedBody,
    pose: Pose,
    velocity: PoseVelocity,
    posed: PosedBody,
    /// The body's vertices after the last step [m].
    vertices: Vec<DVec3>,
    skinned: Vec<Vec3>,
    /// Whether no frame has been asked for yet.
    is_fresh: bool,
    /// The step reports of the last frame, the worst of each.
    worst: drapery_sim::StepReport,
    /// How long the body has been posed, in all.
    posing: Duration,
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
        let skinned = dress_made_for(garment, model, made_for, frame_rate)?;
        let cloth = Cloth::new(&RestShape::new(garment)?, fabric, &[])?;
        let mut pinned: Vec<u32> = pins(garment)
            .flat_map(|group| group.vertices.iter().copied())
            .collect();
        pinned.sort_unstable();
        pinned.dedup();
        let wearing = Self {
            model,
            skinned,
            cloth,
            fabric: fabric.clone(),
            positions: garment.mesh().positions().to_vec(),
            made_for: model.shaped(made_for)?,
            pinned,
            frame_rate,
            config,
        };
        // So that what is wrong with body or settings is said here.
        wearing.set_up(wide(&wearing.positions), wide(&wearing.made_for.rest))?;
        Ok(wearing)
    }

    fn dt(&self) -> f64 {
        self.frame_rate.frame_step().0 / f64::from(self.config.steps_per_frame)
    }

    fn set_up(&self, cloth: Vec<DVec3>, body: Vec<DVec3>) -> Result<Simulation, WearError> {
        let config = SimulationConfig {
            dt: self.dt(),
            steps_per_frame: self.config.steps_per_frame,
            ..SimulationConfig::default()
        };
        let mut simulation = Simulation::new(self.cloth.clone(), cloth, config)?;
        let body = MeshObstacle::new(self.model.topology(), body)?;
        simulation.set_obstacles(vec![body.into()], ContactConfig::of(&self.fabric))?;
        let layers = SelfContactConfig::of(&self.fabric);
        simulation.set_self_contact(self.config.self_contact.then_some(layers))?;
        Ok(simulation)
    }

    /// Takes one step in which the body gets to a pose.
    fn advance(
        &self,
        worn: &mut WornGarment,
        to: Moving<'_>,
        surroundings: Surroundings,
    ) -> Result<(), AnimateError> {
        let WornGarment {
            simulation,
            body,
            posed,
            vertices,
            skinned,
            worst,
            posing,
            ..
        } = worn;
        let start = Instant::now();
        self.model
            .pose(body, to.pose, to.velocity, posed)
            .map_err(refused)?;
        let next = wide(&posed.vertices);
        *posing += start.elapsed();
        let air = Wind::blowing(surroundings.wind.as_dvec3());
        simulation
            .set_gravity(surroundings.gravity.as_dvec3())
            .and_then(|()| simulation.set_wind(Some(air)))
            .and_then(|()| simulation.move_mesh(0, vertices, &next))
            .map_err(|_| AnimateError::NotFinite)?;
        *vertices = next;
        if !self.pinned.is_empty() {
            let frame = posed.frame(body, surroundings);
            self.skinned
                .step(&mut self.skinned.start(&frame)?, &frame, skinned)?;
            let attachments: Vec<Attachment> = self
                .pinned
                .iter()
                .map(|vertex| Attachment {
                    vertex: *vertex,
                    target: skinned[*vertex as usize].as_dvec3(),
                    stiffness: self.config.pin_stiffness,
                })
                .collect();
            simulation
                .set_attachments(&attachments)
                .map_err(|_| AnimateError::NotFinite)?;
        }
        let report = simulation.step().map_err(|error| AnimateError::Diverged {
            vertex: error.vertex,
            why: error.failure.as_str(),
        })?;
        worst.add(&report);
        Ok(())
    }

    /// Steps until `seconds` have passed, or `each` says that it is enough. It
    /// gets the share of the time and writes the body.
    fn dress_for(
        &self,
        worn: &mut WornGarment,
        seconds: f64,
        surroundings: Surroundings,
        mut each: impl FnMut(f64, &mut WornGarment) -> Result<bool, AnimateError>,
    ) -> Result<(), AnimateError> {
        let dt = self.dt();
        let n_steps = (seconds / dt).ceil() as u32;
        let calming = (-dt / CALMING).exp();
        for step in 1..=n_steps {
            if !each(f64::from(step) / f64::from(n_steps), worn)? {
                break;
            }
            let (pose, velocity) = (worn.pose.clone(), worn.velocity.clone());
            let to = Moving {
                pose: &pose,
                velocity: &velocity,
            };
            self.advance(worn, to, surroundings)?;
            let slower: Vec<DVec3> = worn
                .simulation
                .velocities()
                .iter()
                .map(|v| *v * calming)
                .collect();
            worn.simulation
                .set_velocities(&slower)
                .map_err(|_| AnimateError::NotFinite)?;
        }
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
        let n_joints = self.model.skeleton().len();
        if body.pose.rotations.len() != n_joints {
            return Err(AnimateError::Joints {
                found: body.pose.rotations.len(),
                expected: n_joints,
            });
        }
        let shaped = |shape: &[f32]| {
            self.model.shaped(shape).map_err(|error| match error {
                ShapeError::Length { found, expected } => AnimateError::Shape { found, expected },
                _ => AnimateError::NotFinite,
            })
        };
        let target = shaped(body.shape)?;
        // At rest below where it will be, so that dressing is no journey.
        let place = CanonicalFrame::of(body.pose, 0.0);
        let turn = Quat::from_rotation_y(place.heading);
        let mut rest = self.model.skeleton().rest_pose();
        rest.rotations[0] = turn * rest.rotations[0];
        let root = self.made_for.joints[0];
        rest.root = Vec3::new(body.pose.root.x, root.y, body.pose.root.z);
        let placed = self
            .positions
            .iter()
            .map(|p| turn * (*p - root) + rest.root);
        let still = PoseVelocity::zero(n_joints);
        let mut posed = self.model.room();
        self.model
            .pose(&self.made_for, &rest, &still, &mut posed)
            .map_err(refused)?;
        let vertices = wide(&posed.vertices);
        let simulation = self
            .set_up(placed.map(|p| p.as_dvec3()).collect(), vertices.clone())
            .map_err(|_| AnimateError::NotFinite)?;
        let surroundings = body.surroundings;
        let mut worn = WornGarment {
            simulation,
            body: self.made_for.clone(),
            pose: rest.clone(),
            velocity: still.clone(),
            posed,
            vertices,
            skinned: vec![Vec3::ZERO; self.cloth.n_vertices()],
            is_fresh: true,
            worst: drapery_sim::StepReport::default(),
            posing: Duration::ZERO,
        };
        let dressing = self.config.dressing;
        if self.made_for.shape != target.shape {
            self.dress_for(&mut worn, dressing, surroundings, |share, worn| {
                let share = smooth(share) as f32;
                let both = self.made_for.shape.iter().zip(&target.shape);
                let shape: Vec<f32> = both.map(|(a, b)| a + (b - a) * share).collect();
                worn.body = shaped(&shape)?;
                worn.pose.root.y = worn.body.joints[0].y;
                Ok(true)
            })?;
        }
        worn.body = target;
        let (before, ease) = ease_in(body.pose, body.velocity);
        let from = worn.pose.clone();
        self.dress_for(&mut worn, dressing, surroundings, |share, worn| {
            let share = smooth(share) as f32;
            worn.pose.root = from.root.lerp(before.root, share);
            for (joint, q) in worn.pose.rotations.iter_mut().enumerate() {
                *q = from.rotations[joint]
                    .slerp(before.rotations[joint], share)
                    .normalize();
            }
            Ok(true)
        })?;
        self.dress_for(&mut worn, self.config.settling, surroundings, |_, worn| {
            let speeds = worn.simulation.velocities().iter();
            let n_fast = speeds.filter(|v| v.length() > CALM).count();
            Ok(100 * n_fast > worn.simulation.velocities().len())
        })?;
        let n_steps = (f64::from(ease) / self.dt()).round() as u32;
        for step in 1..=n_steps {
            let (mut pose, mut velocity) = (before.clone(), still.clone());
            let [start, end] = [(&before, &still), (body.pose, body.velocity)]
                .map(|(pose, velocity)| Moving { pose, velocity });
            let time = Seconds(f64::from(n_steps) * self.dt());
            let share = f64::from(step) / f64::from(n_steps);
            sample_between(start, end, time, share, &mut pose, &mut velocity);
            let to = Moving {
                pose: &pose,
                velocity: &velocity,
            };
            self.advance(&mut worn, to, surroundings)?;
        }
        worn.pose = body.pose.clone();
        worn.velocity = body.velocity.clone();
        worn.worst = drapery_sim::StepReport::default();
        Ok(worn)
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
            let (from, speed) = (state.pose.clone(), state.velocity.clone());
            if from.rotations.len() != body.pose.rotations.len() {
                return Err(AnimateError::Joints {
                    found: body.pose.rotations.len(),
                    expected: from.rotations.len(),
                });
            }
            state.worst = drapery_sim::StepReport::default();
            let [start, end] = [(&from, &speed), (body.pose, body.velocity)]
                .map(|(pose, velocity)| Moving { pose, velocity });
            let (mut pose, mut velocity) = (from.clone(), speed.clone());
            for step in 1..=self.config.steps_per_frame {
                let share = f64::from(step) / f64::from(self.config.steps_per_frame);
                sample_between(
                    start,
                    end,
                    self.frame_step(),
                    share,
                    &mut pose,
                    &mut velocity,
                );
                let to = Moving {
                    pose: &pose,
                    velocity: &velocity,
                };
                self.advance(state, to, body.surroundings)?;
            }
            state.pose.clone_from(body.pose);
            state.velocity.clone_from(body.velocity);
        }
        for (out, p) in out.iter_mut().zip(state.simulation.positions()) {
            *out = p.as_vec3();
        }
        Ok(StepReport::default())
    }
}

/// Where a body stood still before it had the speed that it has in a pose, and
/// how long ago that was [s]; at constant acceleration.
fn ease_in(pose: &Pose, velocity: &PoseVelocity) -> (Pose, f32) {
    let turns = velocity.angular.iter().map(|w| w.length());
    let fastest = turns.fold(0.0, f32::max);
    let time = EASE_TIME
        .min(2.0 * EASE_TURN / fastest.max(1e-6))
        .min(2.0 * EASE_WAY / velocity.root.length().max(1e-6));
    let mut before = pose.clone();
    before.root -= velocity.root * (0.5 * time);
    for (q, w) in before.rotations.iter_mut().zip(&velocity.angular) {
        *q = (Quat::from_scaled_axis(-*w * (0.5 * time)) * *q).normalize();
    }
    (before, time)
}

/// From 0 to 1, at rest at both ends.
fn smooth(share: f64) -> f64 {
    share * share * (3.0 - 2.0 * share)
}

fn wide(points: &[Vec3]) -> Vec<DVec3> {
    points.iter().map(|p| p.as_dvec3()).collect()
}

fn refused(error: PoseError) -> AnimateError {
    match error {
        PoseError::Joints { found, expected } => AnimateError::Joints { found, expected },
        _ => AnimateError::NotFinite,
    }
}
