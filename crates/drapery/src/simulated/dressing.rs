//! Putting a simulated garment on: all that comes before the first frame.

use std::time::Duration;

use drapery_core::{
    AnimateError, BodyFrame, CanonicalFrame, Clip, Pose, PoseVelocity, Seconds, ShapeError,
    ShapedBody, Surroundings,
};
use drapery_scene::motion::{Moving, sample, sample_between};
use glam::{DVec3, Quat, Vec3};

use super::{SimulatedGarment, WornGarment, refused};
use crate::parting::{PartingConfig, part_limbs};
use crate::surfacing::Surfacing;
use crate::wearer::Wearer;

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
/// A way of parted limbs that begins or ends with one turned by more than this [rad] is
/// not taken: they would jump.
const APART: f32 = 0.1;

impl SimulatedGarment<'_> {
    /// Puts the garment on a body in the pose that it has in the first frame.
    pub(super) fn put_on(&self, body: &BodyFrame<'_>) -> Result<WornGarment, AnimateError> {
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
        let at_rest = Moving {
            pose: &rest,
            velocity: &still,
        };
        let made_for = self.made_for.clone();
        let wearer =
            Wearer::new(self.model, made_for, at_rest, self.config.flesh).map_err(refused)?;
        let simulation = self
            .set_up(
                placed.map(|p| p.as_dvec3()).collect(),
                wearer.surface.clone(),
            )
            .map_err(|_| AnimateError::NotFinite)?;
        let surroundings = body.surroundings;
        let mut worn = WornGarment {
            simulation,
            wearer,
            pose: rest.clone(),
            velocity: still.clone(),
            skinned: vec![Vec3::ZERO; self.cloth.n_vertices()],
            is_fresh: true,
            worst: drapery_sim::StepReport::default(),
            dressing: drapery_sim::StepReport::default(),
            posing: Duration::ZERO,
            // What lies over it would have to be lifted too.
            surfacing: (self.layers.len() == 1).then(|| {
                let (body, cloth) = (self.model.topology(), self.cloth.topology());
                Surfacing::new(body, &self.made_for.rest, cloth, &self.positions)
            }),
        };
        let frames = |seconds: f64| (seconds * self.frame_rate.hz()).ceil() as u32;
        let dressing = frames(self.config.dressing);
        let settling = frames(self.config.settling);
        let (before, ease) = ease_in(body.pose, body.velocity);
        let easing = frames(f64::from(ease));
        let is_reshaped = self.made_for.shape != target.shape;
        let reshaping = if is_reshaped { dressing } else { 0 };
        let all = reshaping + dressing + settling + easing;
        // How far along all phases each of them begins and ends.
        let part = |first: u32, n: u32| [first, first + n].map(|k| f64::from(k) / f64::from(all));
        if is_reshaped {
            let course = |share, body: &mut ShapedBody, pose: &mut Pose, _: &mut PoseVelocity| {
                let share = smooth(share) as f32;
                let both = self.made_for.shape.iter().zip(&target.shape);
                let shape: Vec<f32> = both.map(|(a, b)| a + (b - a) * share).collect();
                *body = shaped(&shape)?;
                pose.root.y = body.joints[0].y;
                Ok(())
            };
            let phase = Phase::Dressing(part(0, reshaping));
            self.play(&mut worn, reshaping, surroundings, phase, course)?;
        }
        worn.wearer.shaped = target;
        let from = worn.pose.clone();
        let dressing_part = part(reshaping, dressing);
        let share = |frame| smooth(f64::from(frame) / f64::from(dressing)) as f32;
        let plain = (0..=dressing).map(|frame| between(&from, &before, share(frame)));
        let mut way = self.parted_way(&worn.wearer.shaped, plain.collect(), dressing_part[0])?;
        if let Some(way) = &mut way {
            // It is where it is.
            way[0].clone_from(&from);
        }
        let course = |share, _: &mut ShapedBody, pose: &mut Pose, _: &mut PoseVelocity| {
            *pose = match &way {
                None => between(&from, &before, smooth(share) as f32),
                Some(way) => {
                    let done = share * f64::from(dressing);
                    let frame = (done as usize).min(way.len() - 2);
                    between(&way[frame], &way[frame + 1], (done - frame as f64) as f32)
                }
            };
            Ok(())
        };
        let phase = Phase::Dressing(dressing_part);
        self.play(&mut worn, dressing, surroundings, phase, course)?;
        let stand = |_: f64, _: &mut ShapedBody, _: &mut Pose, _: &mut PoseVelocity| Ok(());
        let phase = Phase::Settling(part(reshaping + dressing, settling));
        self.play(&mut worn, settling, surroundings, phase, stand)?;
        let settled = part(reshaping + dressing, settling)[1];
        self.gather_speed(&mut worn, easing, body, settled)?;
        worn.dressing = std::mem::take(&mut worn.worst);
        self.tell(1.0)?;
        Ok(worn)
    }

    /// Poses, one a frame, with their limbs parted, if any are in the body or nearly so on
    /// their way: what cloth got into meanwhile would stay there. `begun` is the share
    /// that is done before.
    fn parted_way(
        &self,
        body: &ShapedBody,
        plain: Vec<Pose>,
        begun: f64,
    ) -> Result<Option<Vec<Pose>>, AnimateError> {
        if plain.len() < 2 {
            return Ok(None);
        }
        let skeleton = self.model.skeleton().clone();
        let clip = Clip::new("dressing".into(), skeleton, self.frame_rate, plain);
        let clip = clip.map_err(|_| AnimateError::NotFinite)?;
        let go_on = |_| self.tell(begun).is_ok();
        let config = PartingConfig::DEFAULT;
        let parted = part_limbs(self.model, body, &clip, config, go_on);
        let parted = parted.map_err(refused)?.ok_or(AnimateError::Stopped)?;
        Ok((parted.n_frames > 0).then(|| parted.clip.frames().to_vec()))
    }

    /// Plays frames over which the body comes to where and how fast it is in the first.
    fn gather_speed(
        &self,
        worn: &mut WornGarment,
        n_frames: u32,
        body: &BodyFrame<'_>,
        begun: f64,
    ) -> Played {
        let end = (body.pose, body.velocity);
        let from_to =
            [(&worn.pose, &worn.velocity), end].map(|(pose, velocity)| Moving { pose, velocity });
        let way = self.apart_between(&worn.wearer.shaped, from_to, n_frames, begun)?;
        let Some(way) = way else {
            return self.play_between(worn, n_frames, end, body.surroundings);
        };
        let (mut pose, mut velocity) = (worn.pose.clone(), worn.velocity.clone());
        for frame in 1..n_frames {
            let time = Seconds(f64::from(frame) * self.frame_rate.frame_step().0);
            sample(&way, time, &mut pose, &mut velocity);
            self.play_between(worn, 1, (&pose, &velocity), body.surroundings)?;
        }
        self.play_between(worn, 1, end, body.surroundings)
    }

    /// The way from one pose to another at their speeds, parted where the body is in
    /// itself only in between: swinging back before it swings forth.
    fn apart_between(
        &self,
        body: &ShapedBody,
        [from, to]: [Moving<'_>; 2],
        n_frames: u32,
        begun: f64,
    ) -> Result<Option<Clip>, AnimateError> {
        let time = Seconds(f64::from(n_frames) * self.frame_rate.frame_step().0);
        let (mut pose, mut velocity) = (from.pose.clone(), from.velocity.clone());
        let plain = (0..=n_frames).map(|frame| {
            let share = f64::from(frame) / f64::from(n_frames.max(1));
            sample_between(from, to, time, share, &mut pose, &mut velocity);
            pose.clone()
        });
        let Some(mut way) = self.parted_way(body, plain.collect(), begun)? else {
            return Ok(None);
        };
        let last = way.len() - 1;
        for (at, end) in [(0, from), (last, to)] {
            if farthest_turn(&way[at], end.pose) > APART {
                return Ok(None);
            }
            way[at].clone_from(end.pose);
        }
        let skeleton = self.model.skeleton().clone();
        let way = Clip::new("way".into(), skeleton, self.frame_rate, way);
        way.map(Some).map_err(|_| AnimateError::NotFinite)
    }

    /// Tells whoever watches what share is done.
    fn tell(&self, share: f64) -> Played {
        match &self.watch {
            Some(watch) if !watch(share) => Err(AnimateError::Stopped),
            _ => Ok(()),
        }
    }

    /// Plays frames in which the body does what `course` says. Damped ones end
    /// early when the cloth is calm and the body still.
    fn play(
        &self,
        worn: &mut WornGarment,
        n_frames: u32,
        surroundings: Surroundings,
        phase: Phase,
        mut course: impl FnMut(f64, &mut ShapedBody, &mut Pose, &mut PoseVelocity) -> Played,
    ) -> Played {
        let steps = self.config.steps_per_frame;
        let calming = (-self.dt() / CALMING).exp();
        let (mut pose, mut velocity) = (worn.pose.clone(), worn.velocity.clone());
        for frame in 0..n_frames {
            let share = |step| f64::from(frame * steps + step) / f64::from(n_frames * steps);
            course(
                share(steps),
                &mut worn.wearer.shaped,
                &mut pose,
                &mut velocity,
            )?;
            let end = Moving {
                pose: &pose,
                velocity: &velocity,
            };
            let before = worn.simulation.positions().to_vec();
            let occupied = worn.simulation.occupied(0);
            worn.wearer
                .aim(self.model, end, &occupied)
                .map_err(refused)?;
            for step in 1..=steps {
                course(
                    share(step),
                    &mut worn.wearer.shaped,
                    &mut pose,
                    &mut velocity,
                )?;
                let to = Moving {
                    pose: &pose,
                    velocity: &velocity,
                };
                let done = f64::from(step) / f64::from(steps);
                self.advance(worn, to, done, surroundings)?;
                if phase != Phase::Moving {
                    let speeds = worn.simulation.velocities();
                    let slower: Vec<DVec3> = speeds.iter().map(|v| *v * calming).collect();
                    worn.simulation
                        .set_velocities(&slower)
                        .map_err(|_| AnimateError::NotFinite)?;
                }
            }
            if let Phase::Dressing([from, to]) | Phase::Settling([from, to]) = phase {
                self.tell(from + (to - from) * share(steps))?;
            }
            let after = worn.simulation.positions();
            let seconds = self.frame_rate.frame_step().0;
            if matches!(phase, Phase::Settling(_)) && is_calm(&before, after, seconds) {
                break;
            }
        }
        (worn.pose, worn.velocity) = (pose, velocity);
        Ok(())
    }

    /// Plays frames over which the body moves on to a pose.
    pub(super) fn play_between(
        &self,
        worn: &mut WornGarment,
        n_frames: u32,
        end: (&Pose, &PoseVelocity),
        surroundings: Surroundings,
    ) -> Played {
        let start = (worn.pose.clone(), worn.velocity.clone());
        let time = Seconds(f64::from(n_frames) * self.frame_rate.frame_step().0);
        let course = |share, _: &mut ShapedBody, pose: &mut Pose, speed: &mut PoseVelocity| {
            let [start, end] =
                [(&start.0, &start.1), end].map(|(pose, velocity)| Moving { pose, velocity });
            sample_between(start, end, time, share, pose, speed);
            Ok(())
        };
        self.play(worn, n_frames, surroundings, Phase::Moving, course)?;
        worn.pose.clone_from(end.0);
        worn.velocity.clone_from(end.1);
        Ok(())
    }
}

/// Whether cloth has come to rest: from one place to the next, a frame of
/// `seconds` later, 99 of 100 vertices were slow. Over a whole frame, trembling
/// on the spot is none.
fn is_calm(before: &[DVec3], after: &[DVec3], seconds: f64) -> bool {
    let ways = before.iter().zip(after);
    let n_fast = ways
        .filter(|(a, b)| a.distance(**b) > CALM * seconds)
        .count();
    100 * n_fast <= before.len()
}

type Played = Result<(), AnimateError>;

/// What a body does while frames are played.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// It gets its shape or its pose; speeds of the cloth are damped. From and
    /// to which share of all that comes before the first frame.
    Dressing([f64; 2]),
    /// It waits for the cloth, whose speeds are damped.
    Settling([f64; 2]),
    /// It moves.
    Moving,
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

/// A share of the way from one pose to another.
fn between(from: &Pose, to: &Pose, share: f32) -> Pose {
    let both = from.rotations.iter().zip(&to.rotations);
    Pose {
        root: from.root.lerp(to.root, share),
        rotations: both
            .map(|(from, to)| from.slerp(*to, share).normalize())
            .collect(),
    }
}

/// The largest turn of a joint from one pose to another [rad].
fn farthest_turn(from: &Pose, to: &Pose) -> f32 {
    let both = from.rotations.iter().zip(&to.rotations);
    both.map(|(from, to)| from.angle_between(*to))
        .fold(0.0, f32::max)
}

/// From 0 to 1, at rest at both ends.
fn smooth(share: f64) -> f64 {
    share * share * (3.0 - 2.0 * share)
}

#[cfg(test)]
mod tests {
    use drapery_core::{BodyModel, Fabric, FrameRate};
    use drapery_scene::builtin;

    use super::*;
    use crate::WearConfig;

    /// Does something with a worn skirt, the body in it and its pose with an arm turned
    /// by an angle.
    fn with_skirt(then: impl Fn(&SimulatedGarment<'_>, &ShapedBody, &dyn Fn(f32) -> Pose, usize)) {
        let person = builtin::character("mannequin").unwrap();
        let shape = vec![0.0; person.shape_parameters().len()];
        let body = person.shaped(&shape).unwrap();
        let skirt = builtin::garment("skirt").unwrap();
        let fabric = Fabric::plain("cloth", 0.2, 400.0, 1e-5);
        let rate = FrameRate::THIRTY;
        let config = WearConfig::default();
        let worn = SimulatedGarment::new(&skirt, &person, &shape, &fabric, rate, config).unwrap();
        let arm = usize::from(person.skeleton().joint("left_shoulder").unwrap().0);
        let turned = |angle: f32| {
            let mut pose = person.skeleton().rest_pose();
            pose.rotations[arm] = Quat::from_rotation_z(angle);
            pose
        };
        then(&worn, &body, &turned, arm);
    }

    /// How deep the body is in itself over poses [m].
    fn depth(worn: &SimulatedGarment<'_>, body: &ShapedBody, way: Vec<Pose>) -> f64 {
        let skeleton = worn.model.skeleton().clone();
        let clip = Clip::new("way".into(), skeleton, worn.frame_rate, way).unwrap();
        let config = PartingConfig::DEFAULT;
        let parted = part_limbs(worn.model, body, &clip, config, |_| true).unwrap();
        parted.expect("it was not stopped").before
    }

    #[test]
    fn an_arm_is_not_taken_through_the_trunk_to_where_it_is() {
        with_skirt(|worn, body, turned, _| {
            let rest = turned(0.0);
            let way_to = |angle: f32| {
                let share = |k| smooth(f64::from(k) / 12.0) as f32;
                let plain = (0..=12).map(|k| between(&rest, &turned(angle), share(k)));
                worn.parted_way(body, plain.collect(), 0.0).unwrap()
            };
            assert_eq!(way_to(0.3), None, "nothing is in the way");
            let way = way_to(-1.05).expect("the arm would be in the trunk");
            assert_eq!(way.len(), 13);
            assert_ne!(way[12], turned(-1.05));
            let left = depth(worn, body, way);
            assert!(left < 2e-3, "{left} m in the trunk");
        });
    }

    #[test]
    fn an_arm_does_not_swing_back_into_the_trunk_to_gather_speed() {
        with_skirt(|worn, body, turned, arm| {
            // Beside the trunk, and leaving it.
            let beside = turned(-0.55);
            let still = PoseVelocity::zero(beside.rotations.len());
            let mut fast = still.clone();
            fast.angular[arm] = Vec3::Z * 4.0;
            let [from, to] = [&still, &fast].map(|velocity| Moving {
                pose: &beside,
                velocity,
            });
            let plain = (0..=8).map(|k| {
                let (mut pose, mut velocity) = (beside.clone(), still.clone());
                let time = Seconds(8.0 * FrameRate::THIRTY.frame_step().0);
                sample_between(from, to, time, f64::from(k) / 8.0, &mut pose, &mut velocity);
                pose
            });
            let was = depth(worn, body, plain.collect());
            let way = worn.apart_between(body, [from, to], 8, 0.0).unwrap();
            let way = way.expect("it would swing into the trunk");
            assert_eq!(way.frames().len(), 9);
            assert_eq!([&way.frames()[0], &way.frames()[8]], [&beside, &beside]);
            let is = depth(worn, body, way.frames().to_vec());
            assert!(
                was > 5e-3 && is < 2e-3,
                "{is} m in the trunk, {was} m plain"
            );
            let slow = worn.apart_between(body, [from, from], 8, 0.0).unwrap();
            assert!(slow.is_none(), "nothing is in the way");
        });
    }
}
