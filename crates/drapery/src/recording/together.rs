//! Sequences that begin alike, simulated together: [`Recording::record_all`].
//!
//! A copy of a clip that stops is that clip up to there. It is simulated from there
//! on, from the very state that the clip was in, and is the same to the bit as if it
//! had been simulated alone.

use drapery_core::{Clip, FrameIndex, Pose, PoseVelocity, PosedBody, ShapedBody, Surroundings};
use drapery_scene::motion::sample;
use drapery_scene::scene_file::{Copy, PlannedClip};
use drapery_sim::StepReport;
use drapery_store::dataset::{
    DatasetStore, FrameBits, FrameFlag, FrameRecord, PlannedSequence, SequenceSink,
};
use glam::{Quat, Vec3};

use super::measures::Measures;
use super::twins::Twins;
use super::{Progress, Recorded, Recording, RecordingError, failure_of};
use crate::road::roll_on;
use crate::simulated::WornGarment;
use crate::{PartingConfig, RollOut, RollOutError, SimulatedGarment, part_limbs};

/// What is told of the progress of a sequence, and says whether to go on.
type Watch<'a> = dyn Fn(&str, Progress) -> bool + Send + Sync + 'a;

/// A sequence that is being made.
struct Line<'a> {
    name: &'a str,
    motion: Clip,
    /// How many of its frames are those of the clip that is being simulated.
    shared: usize,
    sink: Box<dyn SequenceSink + 'a>,
}

/// What all frames so far have led to.
#[derive(Clone)]
struct Take<'a> {
    twins: Twins<'a>,
    measures: Measures,
    cloth: Vec<Vec3>,
    velocity: Vec<Vec3>,
}

/// A frame as it was simulated.
#[derive(Clone, Copy)]
struct Shot<'f> {
    frame: usize,
    posed: &'f PosedBody,
    cloth: &'f [Vec3],
    state: &'f WornGarment,
}

/// What the sequences of a group have in common.
struct Group<'a, 'w> {
    recording: &'a Recording,
    body: &'a ShapedBody,
    outfit: SimulatedGarment<'w>,
    watch: &'w Watch<'w>,
}

/// Who is told what became of a sequence.
type Ended<'a> = dyn FnMut(&str, Recorded) + 'a;

impl Recording {
    /// Sequences in groups of those that begin alike, which are better recorded
    /// [together](Self::record_all), in the order of the first of each.
    pub fn groups<'s>(&self, sequences: &[&'s PlannedSequence]) -> Vec<Vec<&'s PlannedSequence>> {
        let begins = |planned: &PlannedSequence| {
            let (_, clip) = self.planned(&planned.name)?;
            let is_alike = matches!(clip.copy, Copy::Own | Copy::Stop { .. });
            is_alike.then_some((clip.clip, clip.shape))
        };
        let mut groups: Vec<Vec<&PlannedSequence>> = Vec::new();
        for planned in sequences {
            let key = begins(planned);
            let is_its = |group: &&mut Vec<&PlannedSequence>| {
                key.is_some() && group.first().is_some_and(|first| begins(first) == key)
            };
            match groups.iter_mut().find(is_its) {
                Some(group) => group.push(planned),
                None => groups.push(vec![planned]),
            }
        }
        groups
    }

    /// A sequence of the scene.
    fn planned(&self, name: &str) -> Option<(&PlannedSequence, &PlannedClip)> {
        let mut all = self.head.manifest.sequences.iter().zip(&self.clips);
        all.find(|(planned, _)| planned.name == name)
    }

    /// The motion of a sequence; none when it was stopped.
    fn motion_of(
        &self,
        clip: &PlannedClip,
        watch: impl Fn(f64) -> bool,
    ) -> Result<Option<Clip>, RecordingError> {
        let motion = self.scene.motion(clip)?;
        if !self.scene.file.motion.part_limbs {
            return Ok(Some(motion));
        }
        let body = &self.scene.shapes[clip.shape].body;
        let config = PartingConfig::DEFAULT;
        let parted = part_limbs(&self.scene.character, body, &motion, config, watch);
        let parted = parted.map_err(RecordingError::Parting)?;
        Ok(parted.map(|parted| parted.clip))
    }

    /// Simulates sequences on one body into a dataset. What begins alike is simulated
    /// once: the clip itself, and from where it stops each of its copies. `watch` is
    /// told how far each sequence is and says whether to go on; `ended` what became of
    /// each as soon as that is known. Of what is stopped, nothing is kept or told.
    ///
    /// # Errors
    /// When one is none of the scene's, they are on different bodies, or can't be
    /// written. That the cloth diverged is none: it is kept as a failure.
    pub fn record_all(
        &self,
        names: &[&str],
        store: &dyn DatasetStore,
        watch: &Watch<'_>,
        ended: &mut Ended<'_>,
    ) -> Result<(), RecordingError> {
        let mut lines = Vec::new();
        let mut of = None;
        for name in names {
            let (_, clip) = self
                .planned(name)
                .filter(|(_, clip)| of.is_none_or(|(_, shape)| shape == clip.shape))
                .ok_or_else(|| RecordingError::NoSuchSequence {
                    name: (*name).to_string(),
                })?;
            of.get_or_insert((clip.clip, clip.shape));
            let Some(motion) =
                self.motion_of(clip, |share| watch(name, Progress::Parting(share)))?
            else {
                return Ok(());
            };
            lines.push(Line {
                name,
                shared: motion.frames().len(),
                motion,
                sink: store.append(name)?,
            });
        }
        let Some((clip, shape)) = of else {
            return Ok(());
        };
        let is_own = |planned: &PlannedClip| {
            (planned.clip, planned.shape, planned.copy) == (clip, shape, Copy::Own)
        };
        let own = (self.head.manifest.sequences.iter().zip(&self.clips))
            .find(|(_, planned)| lines.len() > 1 && is_own(planned));
        let stem = match own {
            Some((sequence, planned)) => match lines.iter().find(|l| l.name == sequence.name) {
                Some(line) => Some(line.motion.clone()),
                None => self.motion_of(planned, |s| watch(names[0], Progress::Parting(s)))?,
            },
            None => lines.first().map(|line| line.motion.clone()),
        };
        let Some(stem) = stem else { return Ok(()) };
        let outfit = self.outfit()?;
        let first = names[0];
        let group = Group {
            recording: self,
            body: &self.scene.shapes[shape].body,
            outfit: outfit.watched(|share| watch(first, Progress::Dressing(share))),
            watch,
        };
        let twins = self.twins()?.into_iter();
        let twins = twins.map(|(name, twin)| {
            let twin = twin.watched(|_| watch(first, Progress::Dressing(1.0)));
            (name, twin)
        });
        let twins: Vec<(String, SimulatedGarment<'_>)> = twins.collect();
        let take = || Take {
            twins: Twins::new(&twins),
            measures: Measures::new(&self.scene.character, group.body, &self.head),
            cloth: Vec::new(),
            velocity: Vec::new(),
        };
        let mut alone = Vec::new();
        let mut together = Vec::new();
        for mut line in lines {
            line.shared = alike(&stem, &line.motion);
            match line.shared {
                0 => alone.push(line),
                _ => together.push(line),
            }
        }
        if !together.is_empty() && !group.roll(&stem, None, take(), together, ended)? {
            return Ok(());
        }
        for mut line in alone {
            let motion = line.motion.clone();
            line.shared = motion.frames().len();
            if !group.roll(&motion, None, take(), vec![line], ended)? {
                return Ok(());
            }
        }
        Ok(())
    }
}

impl<'a> Group<'a, '_> {
    /// Simulates a clip, from its first frame or from where a state has got to, for
    /// all lines that are like it so far; each goes its own way where it is not. False
    /// when it was stopped.
    fn roll(
        &self,
        clip: &Clip,
        from: Option<(usize, &WornGarment)>,
        mut take: Take<'_>,
        mut lines: Vec<Line<'a>>,
        ended: &mut Ended<'_>,
    ) -> Result<bool, RecordingError> {
        let scene = &self.recording.scene;
        let mut wrong: Option<RecordingError> = None;
        let mut twin_fault = None;
        let mut is_stopped = false;
        let (first, state) = from.unzip();
        let rolled = roll_on(
            &self.outfit,
            &scene.character,
            self.body,
            clip,
            (first.unwrap_or(0), state.cloned()),
            |frame, posed, cloth, state| {
                let seen = posed.frame(self.body, Surroundings::default());
                if let Err((name, source)) = take.twins.step(&seen) {
                    twin_fault = Some((name, RollOutError::Animate { frame, source }));
                    return false;
                }
                let shot = Shot {
                    frame,
                    posed,
                    cloth,
                    state,
                };
                match self.keep(shot, &mut take, &mut lines, ended) {
                    Ok(goes_on) => {
                        is_stopped = !goes_on;
                        goes_on && !lines.is_empty()
                    }
                    Err(error) => {
                        wrong = Some(error);
                        false
                    }
                }
            },
        );
        let (twin, rolled) = match twin_fault {
            Some((name, error)) => (Some(name), Err(error)),
            None => (None, rolled),
        };
        if let Some(error) = wrong {
            return Err(error);
        }
        match rolled {
            Ok(RollOut::Done | RollOut::Stopped) => Ok(!is_stopped),
            Err(error) if error.is_stop() => Ok(false),
            Err(error) => {
                let mut failure = failure_of(&error);
                if let Some(twin) = twin {
                    failure.why = format!("{twin}: {}", failure.why);
                }
                for line in lines {
                    line.sink.fail(&failure)?;
                    ended(line.name, Recorded::Failed(failure.clone()));
                }
                Ok(true)
            }
        }
    }

    /// Keeps a frame for all lines that have it, ends those whose last it is, and
    /// lets those go their own way that are different from here on. False when it was
    /// stopped.
    fn keep(
        &self,
        shot: Shot<'_>,
        take: &mut Take<'_>,
        lines: &mut Vec<Line<'a>>,
        ended: &mut Ended<'_>,
    ) -> Result<bool, RecordingError> {
        let flags = take.add(shot);
        let Shot { frame, state, .. } = shot;
        let record = FrameRecord {
            pose: &shot.posed.pose,
            cloth: &take.cloth,
            velocity: &take.velocity,
            masked: &take.measures.masked,
            flags,
        };
        let index = FrameIndex(frame as u32);
        for (k, line) in lines.iter_mut().enumerate() {
            line.sink.push(&record)?;
            let progress = match k {
                0 => Progress::Frame(index),
                _ => Progress::Shared(index),
            };
            if !(self.watch)(line.name, progress) {
                return Ok(false);
            }
        }
        let done = frame + 1;
        for mut line in lines.extract_if(.., |line| line.shared == done) {
            let motion = line.motion.clone();
            line.shared = motion.frames().len();
            if line.shared == done {
                line.sink.finish(take.measures.report(&self.outfit))?;
                ended(line.name, Recorded::Whole);
            } else if !self.roll(
                &motion,
                Some((done, state)),
                take.clone(),
                vec![line],
                ended,
            )? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Take<'_> {
    /// Takes a frame into account; what to beware of in it.
    fn add(&mut self, shot: Shot<'_>) -> FrameBits {
        let Shot {
            frame,
            posed,
            cloth,
            state,
        } = shot;
        let velocities = state.simulation().velocities().iter();
        self.cloth.clear();
        self.cloth.extend_from_slice(cloth);
        self.velocity.clear();
        self.velocity.extend(velocities.map(|v| v.as_vec3()));
        self.twins.append(&mut self.cloth, &mut self.velocity);
        // Before the first frame there is no step to report.
        let steps: Vec<StepReport> = match frame {
            0 => Vec::new(),
            _ => std::iter::once(*state.report())
                .chain(self.twins.reports())
                .collect(),
        };
        let (skin, felt) = (&posed.vertices, state.yielding());
        let seen = self.measures.add(skin, felt, &self.cloth, &steps);
        if frame == 0 {
            let dressing = std::iter::once(*state.dressing());
            let dressing: Vec<StepReport> = dressing.chain(self.twins.dressing()).collect();
            self.measures.dressed(&dressing);
        }
        let step = |pick: fn(&StepReport) -> bool| steps.iter().any(pick);
        FrameBits::default()
            .with(FrameFlag::BodyContact, seen.body_contact)
            .with(FrameFlag::Retried, step(|s| s.parts > 1))
            .with(FrameFlag::SetBack, step(|s| s.set_back > 0))
            .with(
                FrameFlag::Crossings,
                seen.crossings || step(|s| s.crossings > 0),
            )
            .with(FrameFlag::ContactUnsettled, step(|s| !s.contact_settled))
            .with(FrameFlag::Unsolved, step(|s| !s.solve.converged))
    }
}

/// In how many frames, from the first, two clips are the same to the bit, in pose
/// and velocity.
fn alike(a: &Clip, b: &Clip) -> usize {
    if a.frame_rate() != b.frame_rate() || a.skeleton().len() != b.skeleton().len() {
        return 0;
    }
    let moving = |clip: &Clip, frame: usize| {
        let n_joints = clip.skeleton().len();
        let mut pose = Pose::identity(Vec3::ZERO, n_joints);
        let mut velocity = PoseVelocity::zero(n_joints);
        let time = clip.frame_rate().time_of(FrameIndex(frame as u32));
        sample(clip, time, &mut pose, &mut velocity);
        (bits(&pose), velocity)
    };
    let most = a.frames().len().min(b.frames().len());
    (0..most)
        .take_while(|f| moving(a, *f) == moving(b, *f))
        .count()
}

/// The numbers of a pose: a rotation and its opposite are not the same.
fn bits(pose: &Pose) -> (Vec3, Vec<[f32; 4]>) {
    let turns = pose.rotations.iter().map(Quat::to_array);
    (pose.root, turns.collect())
}
