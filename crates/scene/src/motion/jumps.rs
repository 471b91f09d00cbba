//! [`find_jumps`]: where a captured motion does what no body does.
//!
//! ```text
//! vₖ = change from sample k to k + 1, over h                   rad/s or m/s
//! Jₖ = |vₖ₊₂ − 2 vₖ₊₁ + vₖ| / h                               rad/s² or m/s²
//! ```
//!
//! with samples h ≈ 1/30 s apart, whatever the frame rate. J is how much the
//! acceleration itself changes within h. A joint that is wrong for one frame
//! has thrice its error's acceleration in it, one that is in another place
//! from some frame on twice that, and a blow or a landing once. In the 104
//! shared clips (fingers left out) the fastest kick has 1380 rad/s² and the
//! hardest landing 42 m/s²; what is above 1400 and 50 in 40 of them is feet
//! and arms that turn over within a frame, and roots that skip.

use drapery_core::{Clip, JointId};
use glam::{DQuat, DVec3};

use super::rotation::{exp, inverse_right_jacobian, log, wide};
use super::{Anatomy, Role};

/// No joint's angular acceleration changes by more within 1/30 s [rad/s²].
pub(super) const MOST_TURN: f64 = 1400.0;
/// Nor does the root's acceleration [m/s²].
pub(super) const MOST_WAY: f64 = 50.0;
/// Samples are about this far apart [1/s].
const SAMPLES: f64 = 30.0;

/// A place where a motion jumps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jump {
    /// The frame.
    pub frame: u32,
    /// The joint; none for the path of the root.
    pub joint: Option<JointId>,
    /// How much its acceleration changes within 1/30 s [rad/s²], or that of
    /// the root [m/s²].
    pub change: f64,
}

/// The jumps of a clip, by frame. Fingers and thumbs are left out: they are
/// rarely captured, flip about and wear no cloth.
pub fn find_jumps(clip: &Clip) -> Vec<Jump> {
    let stride = stride(clip);
    let mut jumps = Vec::new();
    let mut add = |joint: Option<usize>, changes: &[f64], most: f64| {
        for cluster in clusters(changes, most, stride) {
            let change = changes[cluster.clone()].iter().copied().fold(0.0, f64::max);
            jumps.push(Jump {
                frame: culprit(changes, cluster, stride) as u32,
                joint: joint.map(|j| JointId(j as u16)),
                change,
            });
        }
    };
    add(None, &changes(&root(clip), stride, step(clip)), MOST_WAY);
    for joint in joints_that_count(clip) {
        let turns = rotations(clip, joint);
        let changes = changes(&turns, stride, step(clip));
        add(Some(joint), &changes, MOST_TURN);
    }
    jumps.sort_by_key(|jump| (jump.frame, jump.joint));
    jumps
}

/// What changes over time: a position, or a rotation.
pub(super) trait Value: Copy {
    /// The way from here to there, in axes of here.
    fn to(self, there: Self) -> DVec3;
    /// Here, moved by a way.
    fn moved(self, way: DVec3) -> Self;
    /// The rate of the way at its end when what changes has the rate `rate`
    /// there, in its own axes.
    fn rate_at_end(way: DVec3, rate: DVec3) -> DVec3;
}

impl Value for DVec3 {
    fn to(self, there: Self) -> DVec3 {
        there - self
    }

    fn moved(self, way: DVec3) -> Self {
        self + way
    }

    fn rate_at_end(_: DVec3, rate: DVec3) -> DVec3 {
        rate
    }
}

impl Value for DQuat {
    fn to(self, there: Self) -> DVec3 {
        log(self.inverse() * there)
    }

    fn moved(self, way: DVec3) -> Self {
        (self * exp(way)).normalize()
    }

    fn rate_at_end(way: DVec3, rate: DVec3) -> DVec3 {
        inverse_right_jacobian(way, rate)
    }
}

/// How many frames samples are apart.
pub(super) fn stride(clip: &Clip) -> usize {
    (clip.frame_rate().hz() / SAMPLES).round().max(1.0) as usize
}

/// The time from frame to frame [s].
pub(super) fn step(clip: &Clip) -> f64 {
    clip.frame_rate().frame_step().0
}

pub(super) fn root(clip: &Clip) -> Vec<DVec3> {
    clip.frames().iter().map(|p| p.root.as_dvec3()).collect()
}

pub(super) fn rotations(clip: &Clip, joint: usize) -> Vec<DQuat> {
    let frames = clip.frames().iter();
    frames.map(|p| wide(p.rotations[joint])).collect()
}

/// All joints but fingers and thumbs.
pub(super) fn joints_that_count(clip: &Clip) -> Vec<usize> {
    let anatomy = Anatomy::of(clip.skeleton());
    let is_finger = |joint: usize| {
        let role = anatomy.as_ref().and_then(|a| a.roles()[joint]);
        matches!(
            role,
            Some(Role::Finger(_) | Role::FingerBase(_) | Role::Thumb(_))
        )
    };
    let all = 0..clip.skeleton().len();
    all.filter(|joint| !is_finger(*joint)).collect()
}

/// J of every window of four samples, by its first frame.
pub(super) fn changes<V: Value>(values: &[V], stride: usize, step: f64) -> Vec<f64> {
    let h = step * stride as f64;
    let way = |f: usize| values[f].to(values[f + stride]);
    (0..values.len().saturating_sub(3 * stride))
        .map(|f| {
            let second = way(f + 2 * stride) - 2.0 * way(f + stride) + way(f);
            second.length() / (h * h)
        })
        .collect()
}

/// Runs of windows above `most`; those closer than two samples are one.
pub(super) fn clusters(
    changes: &[f64],
    most: f64,
    stride: usize,
) -> Vec<std::ops::RangeInclusive<usize>> {
    let mut runs: Vec<[usize; 2]> = Vec::new();
    for f in (0..changes.len()).filter(|f| changes[*f] > most) {
        match runs.last_mut() {
            Some([_, last]) if f - *last <= 2 * stride => *last = f,
            _ => runs.push([f; 2]),
        }
    }
    runs.into_iter().map(|[a, b]| a..=b).collect()
}

/// The frame at fault in a run of windows: the one in the middle of the most.
/// It is an end of the clip when no window without that end is above `most`.
pub(super) fn culprit(
    changes: &[f64],
    cluster: std::ops::RangeInclusive<usize>,
    stride: usize,
) -> usize {
    let n_frames = changes.len() + 3 * stride;
    let (first, last) = (*cluster.start(), *cluster.end());
    if last < stride {
        return 0;
    }
    if first + stride >= changes.len() {
        return n_frames - 1;
    }
    let at = |f: Option<usize>| f.and_then(|f| changes.get(f)).copied().unwrap_or(0.0);
    let score = |g: usize| at(g.checked_sub(stride)) + at(g.checked_sub(2 * stride));
    let middles = first + stride..=last + 2 * stride;
    middles
        .max_by(|a, b| score(*a).total_cmp(&score(*b)).then(b.cmp(a)))
        .unwrap_or(first + stride)
}
