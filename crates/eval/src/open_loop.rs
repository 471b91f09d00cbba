//! Open-loop roll-outs: methods see the body of a stored sequence, frame after
//! frame, and never its cloth.
//!
//! The body is posed again from the stored poses. Every method starts without
//! history on the first frame's body, as in use; its first frame counts. What it
//! writes is compared with the stored cloth, and what is measured is summed in a
//! [`Tally`]. Masked vertices count for the distances, not for penetration.
//!
//! Frames are taken in blocks of [`BLOCK`], so that memory does not grow with the
//! sequence but for its poses. Each method goes through a block by itself, with
//! the clock on it: body posed and skinned, step, correction. The first frame of a
//! sequence is not timed, and measuring comes after, off the clock.

use std::time::Instant;

use drapery_core::{
    AnimateError, BodyFrame, BodyModel, GarmentAnimator, PoseVelocity, PosedBody, Seconds,
    ShapeError, ShapedBody, StepReport, Surroundings, Topology,
};
use drapery_runtime::{CollisionCorrection, CorrectionState, SkinnedGarment};
use drapery_store::dataset::{DatasetError, DatasetHead, SequenceSource};
use glam::Vec3;

use crate::detail::Detail;
use crate::mask::SelfContact;
use crate::motion::MotionMeter;
use crate::moving::pose_velocity;
use crate::penetration::PenetrationMeter;
use crate::smoothing::RestSurface;
use crate::strain::RestEdges;
use crate::tally::Tally;
use crate::wrinkles::wrinkles;

/// Frames that are read and animated at once.
pub const BLOCK: u32 = 16;

/// A method with its state, whatever its type.
pub trait Runner {
    /// The next frame; the first call starts without history.
    ///
    /// # Errors
    /// As [`GarmentAnimator::start`] and [`GarmentAnimator::step`].
    fn step(&mut self, body: &BodyFrame<'_>, out: &mut [Vec3]) -> Result<StepReport, AnimateError>;
}

/// A method that can be run: every [`GarmentAnimator`] is one.
pub trait Method: Send + Sync {
    /// The garment's triangles.
    fn garment(&self) -> &Topology;
    /// The time step it was made for.
    fn made_for(&self) -> Seconds;
    /// A new garment of it.
    fn run(&self) -> Box<dyn Runner + '_>;
}

impl<A: GarmentAnimator> Method for A {
    fn garment(&self) -> &Topology {
        self.topology()
    }

    fn made_for(&self) -> Seconds {
        self.frame_step()
    }

    fn run(&self) -> Box<dyn Runner + '_> {
        Box::new(Running {
            animator: self,
            state: None,
        })
    }
}

struct Running<'a, A: GarmentAnimator> {
    animator: &'a A,
    state: Option<A::State>,
}

impl<A: GarmentAnimator> Runner for Running<'_, A> {
    fn step(&mut self, body: &BodyFrame<'_>, out: &mut [Vec3]) -> Result<StepReport, AnimateError> {
        let state = match &mut self.state {
            Some(state) => state,
            None => self.state.insert(self.animator.start(body)?),
        };
        self.animator.step(state, body, out)
    }
}

/// Why methods can't be evaluated on a sequence.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// The dataset can't be read.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// The body can't have the shape of the sequence.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The body can't take a pose.
    #[error("the body can't be posed in frame {frame}")]
    Pose {
        /// Which frame.
        frame: u32,
        /// Why not.
        source: drapery_core::PoseError,
    },
    /// A method can't be animated.
    #[error("method {method} can't be animated in frame {frame}")]
    Animate {
        /// Which of the methods.
        method: usize,
        /// Which frame.
        frame: u32,
        /// Why not.
        source: AnimateError,
    },
    /// A method is of another garment.
    #[error(
        "method {method} is of a garment of {found} vertices, the dataset's has {expected}, or its triangles differ"
    )]
    OtherGarment {
        /// Which of the methods.
        method: usize,
        /// Its vertices.
        found: usize,
        /// Those of the dataset's garment.
        expected: usize,
    },
    /// A method was made for another time step.
    #[error(
        "method {method} was made for frames {found:.4} s apart, the dataset has {expected:.4} s"
    )]
    OtherRate {
        /// Which of the methods.
        method: usize,
        /// Its time step [s].
        found: f64,
        /// The dataset's [s].
        expected: f64,
    },
}

/// What all methods of an evaluation share.
#[derive(Clone, Copy)]
pub struct Course<'a> {
    /// The character of the dataset.
    pub model: &'a dyn BodyModel,
    /// The head of the dataset.
    pub head: &'a DatasetHead,
    /// Which garment of it.
    pub garment: usize,
    /// That garment skinned, from which detail is measured.
    pub skinned: &'a SkinnedGarment,
    /// Pushes every method's garment out of the body, if it is to be.
    pub correction: Option<&'a CollisionCorrection>,
    /// At most so many frames of a sequence, from the first.
    pub most_frames: Option<u32>,
}

/// One frame as it was measured, for progress and pictures.
#[derive(Clone, Copy, Debug)]
pub struct SeenFrame<'a> {
    /// Which frame.
    pub frame: u32,
    /// How many there are.
    pub n_frames: u32,
    /// The body's vertices [m].
    pub skin: &'a [Vec3],
    /// The garment as simulated [m].
    pub simulated: &'a [Vec3],
    /// The garment of each method [m].
    pub found: &'a [&'a [Vec3]],
}

impl Course<'_> {
    /// That methods are of this garment and frame rate.
    ///
    /// # Errors
    /// When one is not.
    pub fn check(&self, methods: &[&dyn Method]) -> Result<(), EvalError> {
        let topology = self.head.garments[self.garment].garment.mesh().topology();
        let expected = self.head.frame_rate.frame_step().0;
        for (method, made) in methods.iter().enumerate() {
            if made.garment() != topology {
                return Err(EvalError::OtherGarment {
                    method,
                    found: made.garment().n_vertices(),
                    expected: topology.n_vertices(),
                });
            }
            let found = made.made_for().0;
            if (found - expected).abs() > 1e-4 * expected {
                return Err(EvalError::OtherRate {
                    method,
                    found,
                    expected,
                });
            }
        }
        Ok(())
    }

    /// Rolls all methods out over one sequence. `feel` says where the body at
    /// those positions [m] enters itself; `each` is told of every frame and says
    /// whether to go on. None when it does not.
    ///
    /// # Errors
    /// When the sequence can't be read, or the body or a garment can't be moved.
    pub fn roll_out(
        &self,
        methods: &[&dyn Method],
        sequence: &dyn SequenceSource,
        mut feel: impl FnMut(&[Vec3]) -> SelfContact,
        mut each: impl FnMut(&SeenFrame<'_>) -> bool,
    ) -> Result<Option<Vec<Tally>>, EvalError> {
        self.check(methods)?;
        let body = self.model.shaped(&sequence.shape().coefficients)?;
        let all = sequence.plan().frames;
        let n_frames = self.most_frames.unwrap_or(all).clamp(1, all);
        let moving = Moving::new(self, &body, sequence, n_frames)?;
        let mut lanes: Vec<Lane<'_>> = methods.iter().map(|m| Lane::new(self, *m)).collect();
        let mut base = Lane::new(
            &Course {
                correction: None,
                ..*self
            },
            self.skinned,
        );
        let mut measure = Measure::new(self, &body);
        let mut start = 0;
        while start < n_frames {
            let frames = start..(start + BLOCK).min(n_frames);
            let simulated = sequence.cloth(self.garment, frames.clone())?;
            // A garment that can't be skinned is the last of the methods.
            for (method, lane) in lanes.iter_mut().chain([&mut base]).enumerate() {
                lane.animate(&moving, frames.clone(), method)?;
            }
            for (i, frame) in frames.clone().enumerate() {
                let n = measure.n_vertices;
                let simulated = &simulated[i * n..(i + 1) * n];
                let skin = base.skins[i].as_slice();
                let contact = match measure.depths {
                    Some(_) => feel(skin),
                    None => SelfContact::default(),
                };
                measure.frame(skin, simulated, base.found(i, n));
                for lane in &mut lanes {
                    measure.lane(lane, i, skin, &contact, simulated);
                }
                let found: Vec<&[Vec3]> = lanes.iter().map(|lane| lane.found(i, n)).collect();
                let seen = SeenFrame {
                    frame,
                    n_frames,
                    skin,
                    simulated,
                    found: &found,
                };
                if !each(&seen) {
                    return Ok(None);
                }
            }
            start = frames.end;
        }
        Ok(Some(lanes.into_iter().map(|lane| lane.tally).collect()))
    }
}

/// The body of a sequence.
struct Moving<'a> {
    model: &'a dyn BodyModel,
    body: &'a ShapedBody,
    poses: Vec<drapery_core::Pose>,
    step: Seconds,
}

impl<'a> Moving<'a> {
    fn new(
        course: &Course<'a>,
        body: &'a ShapedBody,
        sequence: &dyn SequenceSource,
        n_frames: u32,
    ) -> Result<Self, EvalError> {
        Ok(Self {
            model: course.model,
            body,
            poses: sequence.poses(0..n_frames)?,
            step: course.head.frame_rate.frame_step(),
        })
    }
}

/// One method on its way through a sequence.
struct Lane<'a> {
    runner: Box<dyn Runner + 'a>,
    correction: Option<(&'a CollisionCorrection, CorrectionState)>,
    posed: PosedBody,
    velocity: PoseVelocity,
    /// Of a block, before and after correction [m], shape [frame, vertex].
    raw: Vec<Vec3>,
    corrected: Vec<Vec3>,
    /// The body of each frame of a block [m].
    skins: Vec<Vec<Vec3>>,
    motion: MotionMeter,
    tally: Tally,
}

impl<'a> Lane<'a> {
    fn new(course: &Course<'a>, method: &'a dyn Method) -> Self {
        let n = BLOCK as usize * method.garment().n_vertices();
        let room = course.model.room();
        Self {
            runner: method.run(),
            correction: course.correction.map(|c| (c, c.start())),
            velocity: PoseVelocity::zero(course.model.skeleton().len()),
            skins: vec![room.vertices.clone(); BLOCK as usize],
            posed: room,
            raw: vec![Vec3::ZERO; n],
            corrected: match course.correction {
                Some(_) => vec![Vec3::ZERO; n],
                None => Vec::new(),
            },
            motion: MotionMeter::new(course.head.frame_rate.frame_step()),
            tally: Tally::default(),
        }
    }

    /// The garment in frame `i` of the block, of `n` vertices [m].
    fn found(&self, i: usize, n: usize) -> &[Vec3] {
        let all = match &self.correction {
            Some(_) => &self.corrected,
            None => &self.raw,
        };
        &all[i * n..(i + 1) * n]
    }

    /// Animates a block.
    fn animate(
        &mut self,
        moving: &Moving<'_>,
        frames: std::ops::Range<u32>,
        method: usize,
    ) -> Result<(), EvalError> {
        let n = self.raw.len() / BLOCK as usize;
        for (i, frame) in frames.enumerate() {
            let at = frame as usize;
            pose_velocity(&moving.poses, at, moving.step, &mut self.velocity);
            let fail = |source| EvalError::Animate {
                method,
                frame,
                source,
            };
            let begun = Instant::now();
            let pose = &moving.poses[at];
            moving
                .model
                .pose(moving.body, pose, &self.velocity, &mut self.posed)
                .map_err(|source| EvalError::Pose { frame, source })?;
            let seen = self.posed.frame(moving.body, Surroundings::default());
            let out = &mut self.raw[i * n..(i + 1) * n];
            let posed = Instant::now();
            let report = self.runner.step(&seen, out).map_err(fail)?;
            let stepped = Instant::now();
            let mut moved = 0.0;
            if let Some((correction, state)) = &mut self.correction {
                let corrected = &mut self.corrected[i * n..(i + 1) * n];
                corrected.copy_from_slice(out);
                moved = correction
                    .apply(state, &self.posed.vertices, corrected)
                    .map_err(fail)?;
            }
            let ended = Instant::now();
            // The first frame also makes room for all that follow.
            if frame > 0 {
                self.tally.times.add((ended - begun).as_secs_f64());
                self.tally.steps.add((stepped - posed).as_secs_f64());
            }
            self.tally.confidence.add(report.confidence);
            if self.correction.is_some() {
                let before = self.tally.before.get_or_insert_default();
                before.moved = before.moved.max(moved);
            }
            self.skins[i].copy_from_slice(&self.posed.vertices);
        }
        Ok(())
    }
}

/// Measures frames of all methods.
struct Measure<'a> {
    topology: &'a Topology,
    n_vertices: usize,
    surface: RestSurface,
    edges: RestEdges,
    is_settled: bool,
    depths: Option<PenetrationMeter>,
    /// The frame that was last begun.
    skinned: Vec<Vec3>,
    detail: Option<Detail>,
    wrinkles: f64,
}

impl<'a> Measure<'a> {
    fn new(course: &Course<'a>, body: &ShapedBody) -> Self {
        let garment = &course.head.garments[course.garment].garment;
        let depths = course
            .head
            .has_body()
            .then(|| PenetrationMeter::new(course.model.topology(), &body.rest, garment));
        Self {
            topology: garment.mesh().topology(),
            n_vertices: garment.mesh().positions().len(),
            surface: RestSurface::new(garment),
            edges: RestEdges::new(garment),
            is_settled: false,
            depths,
            skinned: Vec::new(),
            detail: None,
            wrinkles: 0.0,
        }
    }

    /// What is the same for all methods.
    fn frame(&mut self, skin: &[Vec3], simulated: &[Vec3], skinned: &[Vec3]) {
        if !self.is_settled {
            self.edges.settle(simulated);
            self.is_settled = true;
        }
        if let Some(depths) = &mut self.depths {
            depths.place(skin);
        }
        self.skinned.clear();
        self.skinned.extend_from_slice(skinned);
        self.detail = Some(Detail::of(&self.surface, simulated, skinned));
        self.wrinkles = wrinkles(self.topology, &self.surface, simulated);
    }

    fn lane(
        &mut self,
        lane: &mut Lane<'_>,
        i: usize,
        skin: &[Vec3],
        contact: &SelfContact,
        simulated: &[Vec3],
    ) {
        let n = self.n_vertices;
        let found = lane.found(i, n).to_vec();
        let tally = &mut lane.tally;
        if let Some(before) = &mut tally.before {
            let raw = &lane.raw[i * n..(i + 1) * n];
            before.distances.add(raw, simulated);
            if let Some(depths) = &mut self.depths {
                let read = depths.read_placed(skin, contact, raw);
                before.penetration.get_or_insert_default().add(&read);
            }
        }
        let mean = tally.distances.add(&found, simulated);
        tally.curve.push(mean as f32);
        lane.motion.add(&found, simulated, &mut tally.motion);
        if let Some(depths) = &mut self.depths {
            let read = depths.read_placed(skin, contact, &found);
            tally.penetration.get_or_insert_default().add(&read);
        }
        for (counts, strains) in tally.strains.iter_mut().zip(self.edges.strains(&found)) {
            counts.add(&strains);
        }
        let detail = Detail::of(&self.surface, &found, &self.skinned);
        if let Some(simulated) = &self.detail {
            tally.detail.add(&self.surface, &detail, simulated);
        }
        let found = wrinkles(self.topology, &self.surface, &found);
        let area = self.surface.areas().iter().sum();
        tally.wrinkles.add(found, self.wrinkles, area);
    }
}
