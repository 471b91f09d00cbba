//! [`mend`]: jumps of a captured motion, replaced by what lies around them.
//!
//! A joint is mended by itself, and the root's path by itself. The frames at
//! fault are replaced by the cubic from the last good frame to the next, with
//! the velocities there; at an end of the clip by going on at the velocity next
//! to it. The gap starts as the one frame at fault and grows by a frame at
//! either side until nothing in it is above the limit of [`find_jumps`]. What
//! jumps away and soon back is one gap from the start. A first or last frame in
//! which the root or several joints jump is from elsewhere (a calibration pose,
//! say) and replaced as a whole. All else keeps its bits.
//!
//! [`find_jumps`]: super::find_jumps

use drapery_core::{Clip, JointId};

use super::edit::rebuilt;
use super::jumps::{
    MOST_TURN, MOST_WAY, Value, changes, clusters, culprit, find_jumps, joints_that_count, root,
    rotations, step, stride,
};
use super::sample::hermite;

/// Who jumps away and is back after this time was wrong in between [s].
const AWAY: f64 = 0.3;
/// No gap is longer [s]: more than a step of a runner would be invented.
const LONGEST: f64 = 0.6;
/// One that is back has turned, or gone, by less than this share of the jump.
const BACK: f64 = 0.5;

/// Frames of one joint that were replaced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mend {
    /// The joint; none for the path of the root.
    pub joint: Option<JointId>,
    /// The first frame that was replaced.
    pub first: u32,
    /// The last one.
    pub last: u32,
    /// How much the acceleration changed within 1/30 s [rad/s²], of the root
    /// [m/s²], at worst.
    pub before: f64,
    /// How much it does now; above the limit where a gap could not be long
    /// enough.
    pub after: f64,
}

/// A mended clip.
#[derive(Clone, Debug, PartialEq)]
pub struct Mended {
    /// The clip; the same, bit for bit, when there was nothing to mend.
    pub clip: Clip,
    /// What was replaced, by frame.
    pub mends: Vec<Mend>,
}

/// Mends the jumps of a clip.
pub fn mend(clip: &Clip) -> Mended {
    let mut frames = clip.frames().to_vec();
    let mut mends = Vec::new();
    let last = frames.len() as u32 - 1;
    let jumps = find_jumps(clip);
    let is_foreign = |end: u32| {
        let here = jumps.iter().filter(|jump| jump.frame == end);
        here.clone().count() > 1 || here.clone().any(|jump| jump.joint.is_none())
    };
    let ends = [0, last].into_iter().filter(|end| is_foreign(*end));
    let ends: Vec<usize> = ends.map(|end| end as usize).collect();
    let (path, gaps) = Track::of(clip, root(clip), MOST_WAY).mended(&ends);
    for gap in gaps {
        for f in gap.first..=gap.last {
            frames[f as usize].root = path[f as usize].as_vec3();
        }
        mends.push(gap);
    }
    for joint in joints_that_count(clip) {
        let (turns, gaps) = Track::of(clip, rotations(clip, joint), MOST_TURN).mended(&ends);
        for gap in gaps {
            for f in gap.first..=gap.last {
                frames[f as usize].rotations[joint] = turns[f as usize].as_quat();
            }
            mends.push(Mend {
                joint: Some(JointId(joint as u16)),
                ..gap
            });
        }
    }
    mends.sort_by_key(|m| (m.first, m.joint));
    let clip = match mends.is_empty() {
        true => clip.clone(),
        false => rebuilt(clip, frames),
    };
    Mended { clip, mends }
}

/// One joint, or the root, over time.
struct Track<V> {
    values: Vec<V>,
    most: f64,
    stride: usize,
    step: f64,
}

impl<V: Value> Track<V> {
    fn of(clip: &Clip, values: Vec<V>, most: f64) -> Self {
        Self {
            values,
            most,
            stride: stride(clip),
            step: step(clip),
        }
    }

    fn changes(&self, values: &[V]) -> Vec<f64> {
        changes(values, self.stride, self.step)
    }

    /// The track with its gaps filled, and the gaps; the `ends` are from
    /// elsewhere.
    fn mended(&self, ends: &[usize]) -> (Vec<V>, Vec<Mend>) {
        let before = self.changes(&self.values);
        let mut gaps = self.away_and_back(&before);
        gaps.extend(ends.iter().map(|end| [*end; 2]));
        let mut gaps = joined(gaps, 2 * self.stride);
        let longest = (LONGEST / self.step) as usize;
        let mut given_up: Vec<[usize; 2]> = Vec::new();
        loop {
            let values = self.filled(&gaps);
            let now = self.changes(&values);
            // Windows of four samples reach from their first frame to this.
            let reach = 3 * self.stride;
            let meets = |f: usize, gap: &[usize; 2]| f <= gap[1] + 1 && gap[0] <= f + reach + 1;
            let worst = (0..now.len())
                .filter(|f| now[*f] > self.most && !given_up.iter().any(|gap| meets(*f, gap)))
                .max_by(|a, b| now[*a].total_cmp(&now[*b]));
            let Some(worst) = worst else {
                return (values, self.told(&gaps, &before, &now));
            };
            let last = self.values.len() - 1;
            match gaps.iter_mut().find(|gap| meets(worst, gap)) {
                Some(gap) if gap[1] - gap[0] < longest => {
                    *gap = [gap[0].saturating_sub(1), (gap[1] + 1).min(last)];
                }
                Some(gap) => given_up.push(*gap),
                None => {
                    let all = clusters(&now, self.most, self.stride);
                    let of_worst = all.into_iter().find(|c| c.contains(&worst));
                    let cluster = of_worst.unwrap_or(worst..=worst);
                    gaps.push([culprit(&now, cluster, self.stride); 2]);
                }
            }
            gaps = joined(gaps, 2 * self.stride);
        }
    }

    /// Gaps where the track jumps away and is soon back.
    fn away_and_back(&self, changes: &[f64]) -> Vec<[usize; 2]> {
        let all = clusters(changes, self.most, self.stride);
        let mut gaps = Vec::new();
        let mut next = 0;
        while let [away, back, ..] = &all[next.min(all.len())..] {
            next += 1;
            let [from, to] = [away, back].map(|c| culprit(changes, c.clone(), self.stride));
            if to.saturating_sub(from) as f64 * self.step > AWAY {
                continue;
            }
            // Whole samples before, between and after the two jumps.
            let (before, after) = (*away.start(), *back.end() + 3 * self.stride);
            let way = |from: usize, to: usize| self.values[from].to(self.values[to]).length();
            if way(before, after) < BACK * way(before, (from + to) / 2) {
                gaps.push([from.min(to), from.max(to)]);
                // Who is back is not away again by the same jump.
                next += 1;
            }
        }
        joined(gaps, 2 * self.stride)
    }

    /// The values with what is in the gaps replaced.
    fn filled(&self, gaps: &[[usize; 2]]) -> Vec<V> {
        let mut values = self.values.clone();
        let (h, k) = (self.step, self.stride);
        for &[first, last] in gaps {
            let start = first.checked_sub(1);
            let end = Some(last + 1).filter(|end| *end < self.values.len());
            // Rates just outside of the gap, over a sample where there is one.
            let leaving = start.map(|s| {
                let from = s.saturating_sub(k);
                let way = self.values[from].to(self.values[s]);
                (s, way / (h * (s - from).max(1) as f64))
            });
            let arriving = end.map(|e| {
                let to = (e + k).min(self.values.len() - 1);
                let way = self.values[e].to(self.values[to]);
                (e, way / (h * (to - e).max(1) as f64))
            });
            for (f, value) in (first..).zip(&mut values[first..=last]) {
                *value = match (leaving, arriving) {
                    (Some((s, v0)), Some((e, v1))) => {
                        let way = self.values[s].to(self.values[e]);
                        let time = h * (e - s) as f64;
                        let u = (f - s) as f64 / (e - s) as f64;
                        let v1 = V::rate_at_end(way, v1);
                        self.values[s].moved(hermite(way, v0, v1, u, time).0)
                    }
                    (Some((s, v)), None) => self.values[s].moved(v * (h * (f - s) as f64)),
                    (None, Some((e, v))) => self.values[e].moved(v * (-h * (e - f) as f64)),
                    (None, None) => *value,
                };
            }
        }
        values
    }

    fn told(&self, gaps: &[[usize; 2]], before: &[f64], after: &[f64]) -> Vec<Mend> {
        let told = gaps.iter().map(|&[first, last]| {
            let windows = first.saturating_sub(3 * self.stride)..=last;
            let worst = |all: &[f64]| {
                let inside = windows.clone().filter_map(|f| all.get(f));
                inside.copied().fold(0.0, f64::max)
            };
            Mend {
                joint: None,
                first: first as u32,
                last: last as u32,
                before: worst(before),
                after: worst(after),
            }
        });
        told.collect()
    }
}

/// Gaps in order; those with fewer than `apart` frames between them are one.
fn joined(mut gaps: Vec<[usize; 2]>, apart: usize) -> Vec<[usize; 2]> {
    gaps.sort_unstable();
    let mut all: Vec<[usize; 2]> = Vec::new();
    for gap in gaps {
        match all.last_mut() {
            Some(last) if gap[0] <= last[1] + apart => last[1] = last[1].max(gap[1]),
            _ => all.push(gap),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use drapery_core::{FrameRate, Pose};
    use glam::{Quat, Vec3};

    use super::*;
    use crate::motion::{repertoire, resample};

    fn walk() -> Clip {
        repertoire::clip("walk").unwrap()
    }

    /// The clip with its poses changed.
    fn changed(clip: &Clip, mut change: impl FnMut(usize, &mut Pose)) -> Clip {
        let mut frames = clip.frames().to_vec();
        for (f, pose) in frames.iter_mut().enumerate() {
            change(f, pose);
        }
        rebuilt(clip, frames)
    }

    /// A joint of the leg: the left knee.
    fn knee(clip: &Clip) -> usize {
        let anatomy = crate::motion::Anatomy::of(clip.skeleton()).unwrap();
        anatomy
            .joint(crate::motion::Role::Knee(crate::motion::Side::Left))
            .unwrap()
    }

    /// The largest angle between a joint of two clips [rad].
    fn apart(a: &Clip, b: &Clip, joint: usize) -> f32 {
        let both = a.frames().iter().zip(b.frames());
        both.map(|(p, q)| p.rotations[joint].angle_between(q.rotations[joint]))
            .fold(0.0, f32::max)
    }

    /// All but the frames of the gaps is as it was, to the bit.
    fn assert_rest_untouched(before: &Clip, mended: &Mended) {
        for (f, (p, q)) in before.frames().iter().zip(mended.clip.frames()).enumerate() {
            let is_mended = |joint: Option<JointId>| {
                let inside = |m: &&Mend| (m.first..=m.last).contains(&(f as u32));
                mended.mends.iter().filter(inside).any(|m| m.joint == joint)
            };
            assert!(p.root == q.root || is_mended(None), "root in frame {f}");
            for (j, (p, q)) in p.rotations.iter().zip(&q.rotations).enumerate() {
                let id = Some(JointId(j as u16));
                assert!(p == q || is_mended(id), "joint {j} in frame {f}");
            }
        }
    }

    #[test]
    fn a_knee_that_is_wrong_for_a_frame_is_put_right_and_nothing_else() {
        for hz in [30.0, 120.0] {
            let truth = resample(&walk(), FrameRate::new(hz).unwrap()).unwrap();
            assert_eq!(find_jumps(&truth), []);
            let knee = knee(&truth);
            let faulty = changed(&truth, |f, pose| {
                if f == 40 {
                    pose.rotations[knee] *= Quat::from_rotation_x(1.0);
                }
            });
            let jumps = find_jumps(&faulty);
            assert_eq!(jumps.len(), 1, "{jumps:?} at {hz} Hz");
            assert_eq!(jumps[0].joint, Some(JointId(knee as u16)));
            assert_eq!(jumps[0].frame, 40);
            // Thrice the error over h².
            assert!((jumps[0].change - 3.0 * 900.0).abs() < 300.0, "{jumps:?}");
            let mended = mend(&faulty);
            assert_rest_untouched(&faulty, &mended);
            assert_eq!(mended.mends.len(), 1);
            assert_eq!((mended.mends[0].first, mended.mends[0].last), (40, 40));
            assert!(apart(&mended.clip, &truth, knee) < 0.03);
            assert_eq!(find_jumps(&mended.clip), []);
        }
    }

    #[test]
    fn a_knee_that_turns_over_and_back_is_put_right_in_between() {
        let truth = walk();
        let knee = knee(&truth);
        let faulty = changed(&truth, |f, pose| {
            if (40..46).contains(&f) {
                pose.rotations[knee] *= Quat::from_rotation_y(2.6);
            }
        });
        let mended = mend(&faulty);
        assert_rest_untouched(&faulty, &mended);
        assert_eq!(mended.mends.len(), 1);
        assert!(mended.mends[0].first <= 40 && mended.mends[0].last >= 45);
        let (before, after) = (
            apart(&faulty, &truth, knee),
            apart(&mended.clip, &truth, knee),
        );
        assert!(before > 2.5 && after < 0.4, "{before}, {after}");
        assert_eq!(find_jumps(&mended.clip), []);
    }

    #[test]
    fn a_root_that_skips_goes_there_within_a_few_frames() {
        let truth = walk();
        let skip = Vec3::new(0.1, 0.0, 0.15);
        let faulty = changed(&truth, |f, pose| {
            if f >= 50 {
                pose.root += skip;
            }
        });
        let jumps = find_jumps(&faulty);
        assert_eq!(jumps.len(), 1, "{jumps:?}");
        assert!(jumps[0].joint.is_none() && (49..=50).contains(&jumps[0].frame));
        let mended = mend(&faulty);
        assert_rest_untouched(&faulty, &mended);
        let [gap] = mended.mends[..] else {
            panic!("{:?}", mended.mends)
        };
        assert!(gap.first >= 44 && gap.last <= 55 && gap.last - gap.first < 8);
        assert!(gap.before > 200.0 && gap.after <= MOST_WAY, "{gap:?}");
    }

    #[test]
    fn a_first_frame_from_elsewhere_is_what_came_before_the_second() {
        let truth = walk();
        let faulty = changed(&truth, |f, pose| {
            if f == 0 {
                *pose = Pose {
                    root: Vec3::ZERO,
                    rotations: vec![Quat::from_rotation_z(1.5); pose.rotations.len()],
                };
            }
        });
        assert!(find_jumps(&faulty).iter().all(|jump| jump.frame == 0));
        let mended = mend(&faulty);
        assert_rest_untouched(&faulty, &mended);
        assert!(mended.mends.iter().all(|m| (m.first, m.last) == (0, 0)));
        let [start, true_start] = [&mended.clip, &truth].map(|c| &c.frames()[0]);
        assert!(start.root.distance(true_start.root) < 0.01);
        for j in joints_that_count(&truth) {
            let angle = start.rotations[j].angle_between(true_start.rotations[j]);
            assert!(angle < 0.12, "joint {j} is off by {angle}");
        }
    }

    #[test]
    fn what_a_body_does_is_left_alone() {
        for name in ["jump", "kick", "run-fast", "dance-disco", "bend"] {
            let clip = crate::builtin::clip(name).unwrap();
            assert_eq!(find_jumps(&clip), [], "{name}");
            assert_eq!(mend(&clip).clip, clip, "{name}");
        }
    }
}
