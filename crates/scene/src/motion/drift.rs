//! [`find_drift`], [`level`]: soles that float or sink because a capture floor
//! is not level.
//!
//! The foot stands while the lowest point of the soles is slow, for 0.1 s or
//! more, and near the height at which it mostly is so. Through its heights yₜ
//! then goes the smooth curve
//!
//! ```text
//! min over d   Σ (dₜ − yₜ)² where the foot stands  +  λ Σ (dₜ₊₁ − 2 dₜ + dₜ₋₁)²
//! λ = (T / 2π h)⁴       half of what comes and goes with period T is in d
//! ```
//!
//! (E. Whittaker, 1923), which is taken off the root. It is slow: a jump is as
//! high as before, and a step as soft. A floor that is mostly further off than
//! any drift is left where it is, and only levelled.

use drapery_core::Clip;
use glam::Vec3;

use super::edit::rebuilt;
use super::soles::Soles;

/// A sole that is faster does not stand [m/s]; markers of planted feet slide
/// at up to half of that.
const SLOW: f32 = 0.3;
/// A sole further than this from where it mostly stands does not stand there
/// [m], but on a stair, say.
const NEAR: f64 = 0.06;
/// Who stands does so for this long [s]; the top of a jump is shorter.
const STANDS: f64 = 0.1;
/// The period at which half of a height is taken for drift [s]: three steps.
const PERIOD: f64 = 2.0;
/// No more is taken off than this, up or down of where the floor mostly is [m].
/// A walk of 4 m on the shared capture floors rises by up to 7 cm.
const MOST: f64 = 0.04;
/// A floor that is mostly further off than this is not meant to be at 0 [m].
const ELSEWHERE: f64 = 0.1;
/// Less is no drift [m]: soles are softer than that, and a motion that needs
/// no cure is left alone.
const LEAST: f64 = 0.005;

/// How the floor of a clip drifts.
#[derive(Clone, Debug, PartialEq)]
pub struct Drift {
    /// The height of the floor in every frame [m], at most 4 cm up or down of
    /// where it mostly is.
    pub heights: Vec<f32>,
    /// In how many frames a foot stands.
    pub n_standing: u32,
    /// The height of the lowest sole, over frames in which a foot stands, from
    /// the lowest to the highest [m].
    pub standing: [f32; 2],
    /// The same once the drift is taken off [m].
    pub levelled: [f32; 2],
}

impl Drift {
    /// The farthest that the floor is from where it should be [m].
    pub fn most(&self) -> f32 {
        let sizes = self.heights.iter().map(|h| h.abs());
        sizes.fold(0.0, f32::max)
    }

    /// Whether it is worth a cure.
    pub fn matters(&self) -> bool {
        f64::from(self.most()) > LEAST
    }
}

/// How the floor of a clip drifts when the joints of its skeleton are at
/// `rest` [m]; none when it has no feet that are known by name, or they never
/// stand.
///
/// # Panics
/// When there is not one place a joint.
pub fn find_drift(clip: &Clip, rest: &[Vec3]) -> Option<Drift> {
    assert_eq!(rest.len(), clip.skeleton().len(), "one place a joint");
    let places = Soles::of(clip.skeleton(), rest)?.places(clip);
    let h = clip.frame_rate().frame_step().0;
    let standing = standing(&places, h);
    let n_standing = standing.iter().flatten().count();
    if n_standing < 2 {
        return None;
    }
    let mostly = middle(standing.iter().flatten().copied());
    let offset = if mostly.abs() > ELSEWHERE {
        0.0
    } else {
        mostly
    };
    let heights: Vec<f32> = smooth(&standing, (PERIOD / (std::f64::consts::TAU * h)).powi(4))
        .into_iter()
        .map(|d| (offset + (d - mostly).clamp(-MOST, MOST)) as f32)
        .collect();
    let range = |of: &dyn Fn(usize, f64) -> f64| {
        let all = standing.iter().enumerate();
        let all = all.filter_map(|(f, y)| y.map(|y| of(f, y) as f32));
        all.fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], y| {
            [low.min(y), high.max(y)]
        })
    };
    Some(Drift {
        n_standing: n_standing as u32,
        standing: range(&|_, y| y),
        levelled: range(&|f, y| y - f64::from(heights[f])),
        heights,
    })
}

/// The clip with a drift of its floor taken off.
///
/// # Panics
/// When there is not one height a frame.
pub fn level(clip: &Clip, drift: &Drift) -> Clip {
    assert_eq!(drift.heights.len(), clip.frames().len(), "one a frame");
    let mut frames = clip.frames().to_vec();
    for (pose, height) in frames.iter_mut().zip(&drift.heights) {
        pose.root.y -= height;
    }
    rebuilt(clip, frames)
}

/// The height of the lowest point of the soles in frames in which it stands
/// [m]; frames are `h` [s] apart.
fn standing(places: &[Vec<Vec3>], h: f64) -> Vec<Option<f64>> {
    let last = places.len() - 1;
    // Speeds are over 1/30 s at either side, whatever the frame rate.
    let reach = ((1.0 / 30.0 / h).round() as usize).max(1);
    let mut heights: Vec<Option<f64>> = (0..places.len())
        .map(|f| {
            let points = places[f].iter().enumerate();
            let (point, place) = points.min_by(|a, b| a.1.y.total_cmp(&b.1.y))?;
            let (before, after) = (f.saturating_sub(reach), (f + reach).min(last));
            let way = places[after][point].distance(places[before][point]);
            let time = (h * (after - before).max(1) as f64) as f32;
            (way < SLOW * time).then_some(f64::from(place.y))
        })
        .collect();
    let mostly = middle(heights.iter().flatten().copied());
    for height in &mut heights {
        *height = height.filter(|y| (y - mostly).abs() < NEAR);
    }
    let long_enough = (STANDS / h).round() as usize;
    let mut start = 0;
    for f in 0..=heights.len() {
        if heights.get(f).is_some_and(Option::is_some) {
            continue;
        }
        if f - start < long_enough {
            heights[start..f].fill(None);
        }
        start = f + 1;
    }
    heights
}

/// The one in the middle; 0 of none.
fn middle(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// The smooth curve through the heights that are there; before the first and
/// after the last it is level.
fn smooth(heights: &[Option<f64>], lambda: f64) -> Vec<f64> {
    let there = |f: &Option<f64>| f.is_some();
    let (Some(first), Some(last)) = (
        heights.iter().position(there),
        heights.iter().rposition(there),
    ) else {
        return vec![0.0; heights.len()];
    };
    let inner = &heights[first..=last];
    let n = inner.len();
    // Rows of the lower half of the matrix: itself, one before, two before.
    let mut rows: Vec<[f64; 3]> = inner
        .iter()
        .map(|y| [f64::from(y.is_some()), 0.0, 0.0])
        .collect();
    for f in 2..n {
        for (i, a) in [1.0, -2.0, 1.0].into_iter().enumerate() {
            for (j, b) in [1.0, -2.0, 1.0].into_iter().enumerate().take(i + 1) {
                rows[f - 2 + i][i - j] += lambda * a * b;
            }
        }
    }
    let mut x: Vec<f64> = inner.iter().map(|y| y.unwrap_or(0.0)).collect();
    // L D Lᵀ, then forwards and backwards.
    for f in 0..n {
        let [mut diagonal, mut one, mut two] = rows[f];
        if f >= 2 {
            two /= rows[f - 2][0];
            one -= two * rows[f - 2][0] * rows[f - 1][1];
        }
        if f >= 1 {
            one /= rows[f - 1][0];
            diagonal -= one * one * rows[f - 1][0];
        }
        if f >= 2 {
            diagonal -= two * two * rows[f - 2][0];
        }
        rows[f] = [diagonal, one, two];
        for (k, factor) in [(1, one), (2, two)] {
            if f >= k {
                x[f] -= factor * x[f - k];
            }
        }
    }
    for f in (0..n).rev() {
        x[f] /= rows[f][0];
        for k in [1, 2] {
            if f + k < n {
                x[f] -= rows[f + k][k] * x[f + k];
            }
        }
    }
    let before = std::iter::repeat_n(x[0], first);
    let after = std::iter::repeat_n(x[n - 1], heights.len() - 1 - last);
    before.chain(x.iter().copied()).chain(after).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::repertoire;

    /// A motion of the repertoire whose floor is at `height` [m] at a time [s].
    fn on(name: &str, height: impl Fn(f64) -> f64) -> (Clip, Clip, Option<Drift>) {
        let truth = repertoire::clip(name).unwrap();
        let h = truth.frame_rate().frame_step().0;
        let mut frames = truth.frames().to_vec();
        for (f, pose) in frames.iter_mut().enumerate() {
            pose.root.y += height(f as f64 * h) as f32;
        }
        let drifting = rebuilt(&truth, frames);
        let drift = find_drift(&drifting, truth.skeleton().rest());
        (truth, drifting, drift)
    }

    #[test]
    fn a_floor_that_is_not_level_is_levelled() {
        // From 2.5 cm below to 2.5 above over the walk, in a gentle wave.
        let floor = |t: f64| -0.025 + 0.0065 * t + 0.006 * (1.2 * t).sin();
        let (truth, drifting, drift) = on("walk-stop-turn", floor);
        let drift = drift.unwrap();
        assert!(drift.matters() && 2 * drift.n_standing as usize > truth.frames().len());
        let spread = |[low, high]: [f32; 2]| high - low;
        assert!(spread(drift.standing) > 0.03, "{:?}", drift.standing);
        assert!(spread(drift.levelled) < 0.004, "{:?}", drift.levelled);
        let levelled = level(&drifting, &drift);
        for (p, q) in truth.frames().iter().zip(levelled.frames()) {
            assert!((p.root.y - q.root.y).abs() < 0.003);
            assert!((p.root.x, p.root.z, &p.rotations) == (q.root.x, q.root.z, &q.rotations));
        }
    }

    #[test]
    fn a_floor_that_is_elsewhere_is_levelled_where_it_is() {
        let (truth, drifting, drift) = on("walk-stop-turn", |t| 0.3 + 0.006 * t);
        let levelled = level(&drifting, &drift.unwrap());
        let heights = truth.frames().iter().zip(levelled.frames());
        let heights: Vec<f32> = heights.map(|(p, q)| q.root.y - p.root.y).collect();
        let off = |h: &f32| (h - heights[0]).abs();
        assert!(heights.iter().map(off).fold(0.0, f32::max) < 0.003);
        assert!((0.3..0.35).contains(&heights[0]));
    }

    #[test]
    fn a_jump_is_as_high_as_before() {
        let (truth, drifting, drift) = on("jump", |t| 0.01 + 0.008 * t);
        let levelled = level(&drifting, &drift.unwrap());
        let height = |clip: &Clip| clip.frames().iter().map(|p| p.root.y).fold(0.0, f32::max);
        assert!((height(&levelled) - height(&truth)).abs() < 0.002);
        assert!(height(&drifting) - height(&truth) > 0.01);
    }

    #[test]
    fn a_level_floor_is_no_drift_and_a_stair_is_none_either() {
        for name in ["walk", "run", "leap", "duck"] {
            let (_, _, drift) = on(name, |_| 0.0);
            assert!(!drift.unwrap().matters(), "{name}");
        }
        let (_, _, drift) = on("walk", |_| 0.2);
        assert!(!drift.unwrap().matters());
        // What rises on and on is followed for four centimetres up and down.
        let (_, _, drift) = on("walk-stop-turn", |t| 0.025 * t);
        let heights = drift.unwrap().heights;
        let low = heights.iter().copied().fold(f32::INFINITY, f32::min);
        let high = heights.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        assert!((0.07..0.0801).contains(&(high - low)), "{low} to {high}");
    }

    #[test]
    fn the_curve_is_where_its_sum_of_squares_is_least() {
        let heights: Vec<Option<f64>> = (0..40)
            .map(|f| (f % 7 != 3 && !(15..24).contains(&f)).then(|| (f as f64 * 0.3).sin()))
            .collect();
        let lambda = 50.0;
        let x = smooth(&heights, lambda);
        let cost = |x: &[f64]| {
            let near = x.iter().zip(&heights);
            let near: f64 = near.map(|(x, y)| y.map_or(0.0, |y| (x - y).powi(2))).sum();
            let bends = x.windows(3).map(|w| (w[0] - 2.0 * w[1] + w[2]).powi(2));
            near + lambda * bends.sum::<f64>()
        };
        // No slope in any direction.
        for f in 0..x.len() {
            let moved = |by: f64| {
                let mut x = x.clone();
                x[f] += by;
                cost(&x)
            };
            let slope = (moved(1e-3) - moved(-1e-3)) / 2e-3;
            assert!(slope.abs() < 1e-9, "{slope} at {f}");
        }
        // A line is kept, however stiff the curve, and level beyond its ends.
        let line: Vec<Option<f64>> = (0..30)
            .map(|f| (4..25).contains(&f).then_some(0.1 * f64::from(f)))
            .collect();
        let x = smooth(&line, 1e6);
        for (f, x) in x.iter().enumerate() {
            let expected = 0.1 * (f as f64).clamp(4.0, 24.0);
            assert!((x - expected).abs() < 1e-6);
        }
    }
}
