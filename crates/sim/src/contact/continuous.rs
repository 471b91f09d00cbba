//! How far a pair of primitives may move along a step before it comes too near.
//!
//! Additive conservative advancement (Li, Kaufman, Jiang, "Codimensional
//! Incremental Potential Contact", 2021, §5): from the time reached, go on by a
//! time in which the distance cannot fall to its floor, and repeat. Vertices
//! move on lines, xᵢ(t) = xᵢ + t pᵢ with t from 0 to 1 over the step.
//!
//! Where the paper bounds the distance by its speed, we keep the primitives
//! apart by a plane. Let i run over the first primitive, j over the second,
//! r = xᵢ − xⱼ, and let n be the unit offset of the nearest points. Then
//!
//! ```text
//! d(t) ≥ min n·r(t)                            the plane of now, carried on
//! d(τ) ≥ min n(τ)·r(τ),  n(τ) = (1−τ) n + τ n′   the plane turned to a later one, τ from 0 to 1
//!      ≥ min { n·r,  ½ (n·r′ + n′·r),  n′·r′ }   the quadratic's Bernstein coefficients
//! ```
//!
//! The first bound gives a time in closed form that is always safe. The second
//! accepts a longer one, to which Newton's method on d points, once the nearest
//! points there are known; with it faces that turn and slide take few steps.
//!
//! | symbol | here      | meaning                                                |
//! |--------|-----------|--------------------------------------------------------|
//! | d      | `distance`| of the primitives [m]                                  |
//! | ξ      | `Clearance::separation` | kept from each other [m]                 |
//! | s      | `Clearance::share`      | of what is above ξ, kept as well         |
//! | floor  | `Clearance::floor`      | ξ + s (d₀ − ξ) [m]                       |
//!
//! # Where we differ
//! - The paper goes on by (d − floor)/(max |pᵢ| + max |pⱼ|). No n·r falls faster
//!   than that sum, so our steps are never shorter.
//! - The floor is fixed at the start, and the answer is the time at which it is
//!   met but for `REACHED`.
//!
//! # Holds
//! Whatever the rounding of n, these are lower bounds; their own rounding is
//! taken off. So the answer is safe whenever the loop ends, also by its limit.

use glam::DVec3;

use super::closest::{edge_edge, point_triangle};

/// How near two primitives may come during a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clearance {
    /// What they keep from each other whatever happens [m]; for a pair that
    /// starts nearer than twice that, half of where it starts.
    pub separation: f64,
    /// The share, from 0 to 1, that is left of the initial distance above the
    /// separation.
    pub share: f64,
}

impl Default for Clearance {
    /// No thickness, a tenth of the distance.
    fn default() -> Self {
        Self {
            separation: 0.0,
            share: 0.1,
        }
    }
}

impl Clearance {
    /// The distance that a pair keeps which starts at `distance` [m].
    pub fn floor(&self, distance: f64) -> f64 {
        let separation = self.separation.max(0.0).min(distance / 2.0);
        separation + self.share.clamp(0.0, 1.0) * (distance - separation)
    }
}

/// What a pair allows of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advance {
    /// The share of the step, from 0 to 1, up to which the distance stays at
    /// or above its floor.
    pub fraction: f64,
    /// How often the distance was computed.
    pub iterations: u32,
}

/// The most distances computed for one pair; past it the answer is still safe,
/// only short. Most pairs need less than ten; those that start a millionth of
/// their size apart and tumble may need more than there are.
const MAX_ITERATIONS: u32 = 64;
/// The floor is reached when this share of it is left of the distance above it.
/// Smaller costs time and gives nothing: a caller stops short of it anyway.
const REACHED: f64 = 1e-3;
/// Rounding of a projected difference, relative to the size of the pair and of
/// its motion: three products of differences, some of them rounded twice.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// How far a vertex and a face may move from `start` towards `end` [m]; the
/// vertex is the first of the four. A pair that starts in touch may not move,
/// except as a whole, nor may one with coordinates that are not finite.
pub fn advance_vertex_face(start: [DVec3; 4], end: [DVec3; 4], clearance: Clearance) -> Advance {
    advance(start, end, 1, clearance, |[p, a, b, c]| {
        let found = point_triangle(p, [a, b, c]);
        (found.weights, found.offset)
    })
}

/// How far two edges may move from `start` towards `end` [m]; the first edge
/// has the first two vertices. A pair that starts in touch may not move,
/// except as a whole, nor may one with coordinates that are not finite.
pub fn advance_edge_edge(start: [DVec3; 4], end: [DVec3; 4], clearance: Clearance) -> Advance {
    advance(start, end, 2, clearance, |[a, b, c, d]| {
        let found = edge_edge([a, b], [c, d]);
        (found.weights, found.offset)
    })
}

/// The pair at one time.
struct Instant {
    fraction: f64,
    x: [DVec3; 4],
    weights: [f64; 4],
    distance: f64,
    /// The unit offset, n.
    direction: DVec3,
}

/// The loop, for a first primitive of `n_first` vertices.
fn advance(
    start: [DVec3; 4],
    end: [DVec3; 4],
    n_first: usize,
    clearance: Clearance,
    nearest: impl Fn([DVec3; 4]) -> ([f64; 4], DVec3),
) -> Advance {
    // Only relative places and motions matter, and small numbers round less.
    let (origin, common) = (start[0], end[0] - start[0]);
    let motion: [DVec3; 4] = std::array::from_fn(|i| (end[i] - start[i]) - common);
    let start = start.map(|x| x - origin);
    let size: f64 = start.iter().chain(&motion).map(|v| v.length()).sum();
    let stopped = |fraction, iterations| Advance {
        fraction,
        iterations,
    };
    if !size.is_finite() {
        return stopped(0.0, 0);
    }
    if motion.iter().all(|v| *v == DVec3::ZERO) {
        return stopped(1.0, 0);
    }
    let at = |fraction: f64| {
        let x = std::array::from_fn(|i| start[i] + motion[i] * fraction);
        let (weights, offset) = nearest(x);
        let distance = offset.length();
        Instant {
            fraction,
            x,
            weights,
            distance,
            direction: offset / distance,
        }
    };
    let mut now = at(0.0);
    let mut iterations = 1;
    let slack = ROUNDING * size;
    let floor = clearance.floor(now.distance) + slack;
    let reached = slack.max(REACHED * floor.min(now.distance - floor));
    // How far Newton's method is trusted.
    let mut trust = 1.0;
    loop {
        let room = now.distance - floor;
        if room.is_nan() || room <= reached || iterations + 2 > MAX_ITERATIONS {
            return stopped(now.fraction, iterations);
        }
        let safe = safe_step(&now, &motion, n_first, floor);
        if now.fraction + safe >= 1.0 {
            return stopped(1.0, iterations);
        }
        let slope: f64 = (0..4)
            .map(|i| now.weights[i] * now.direction.dot(motion[i]))
            .sum();
        let newton = if slope < 0.0 {
            // To where half of what counts as reached is left.
            (room - reached / 2.0) / -slope
        } else {
            f64::INFINITY
        };
        let step = newton.min(trust).min(1.0 - now.fraction);
        if step > safe {
            let then = at(now.fraction + step);
            iterations += 1;
            if stays_apart(&now, &then, n_first, floor) {
                if then.fraction >= 1.0 {
                    return stopped(1.0, iterations);
                }
                now = then;
                trust *= 4.0;
                continue;
            }
            trust = step / 4.0;
        }
        now = at(now.fraction + safe);
        iterations += 1;
    }
}

/// The time that the plane of now gives: until one of the lines n·r is down to
/// the floor.
fn safe_step(now: &Instant, motion: &[DVec3; 4], n_first: usize, floor: f64) -> f64 {
    let mut step = f64::INFINITY;
    for i in 0..n_first {
        for j in n_first..4 {
            let slope = now.direction.dot(motion[i] - motion[j]);
            if slope < 0.0 {
                let height = now.direction.dot(now.x[i] - now.x[j]) - floor;
                step = step.min(height.max(0.0) / -slope);
            }
        }
    }
    step
}

/// Whether the turning plane keeps the primitives apart by the floor from `now`
/// to `then`.
fn stays_apart(now: &Instant, then: &Instant, n_first: usize, floor: f64) -> bool {
    let (n, n_then) = (now.direction, then.direction);
    (0..n_first).all(|i| {
        (n_first..4).all(|j| {
            let (r, r_then) = (now.x[i] - now.x[j], then.x[i] - then.x[j]);
            n.dot(r) >= floor
                && 0.5 * (n.dot(r_then) + n_then.dot(r)) >= floor
                && n_then.dot(r_then) >= floor
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACE: [DVec3; 3] = [
        DVec3::new(-1.0, 0.0, -1.0),
        DVec3::new(1.0, 0.0, -1.0),
        DVec3::new(0.0, 0.0, 2.0),
    ];

    /// Steps of a fixed generator, in −1 to 1.
    struct Random(u64);

    impl Random {
        fn number(&mut self) -> f64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        }

        fn point(&mut self) -> DVec3 {
            DVec3::new(self.number(), self.number(), self.number())
        }
    }

    fn with_face(p: DVec3) -> [DVec3; 4] {
        [p, FACE[0], FACE[1], FACE[2]]
    }

    fn vertex_face(x: [DVec3; 4]) -> f64 {
        point_triangle(x[0], [x[1], x[2], x[3]]).distance()
    }

    fn edges(x: [DVec3; 4]) -> f64 {
        edge_edge([x[0], x[1]], [x[2], x[3]]).distance()
    }

    fn lerp(start: [DVec3; 4], end: [DVec3; 4], t: f64) -> [DVec3; 4] {
        std::array::from_fn(|i| start[i] + (end[i] - start[i]) * t)
    }

    #[test]
    fn a_falling_vertex_stops_where_it_meets_the_floor() {
        let (start, end) = (with_face(DVec3::Y), with_face(DVec3::NEG_Y));
        // Height 1 − 2t against ξ + s (1 − ξ).
        for (separation, share, floor) in [(0.0, 0.0, 0.0), (0.0, 0.1, 0.1), (0.2, 0.5, 0.6)] {
            let clearance = Clearance { separation, share };
            let found = advance_vertex_face(start, end, clearance);
            let expected = (1.0 - floor) / 2.0;
            assert!(found.fraction <= expected);
            assert!(found.fraction > expected - REACHED, "{found:?}");
            assert!(found.iterations <= 3, "{found:?}");
        }
    }

    #[test]
    fn a_swinging_face_and_crossing_edges_stop_at_their_analytic_times() {
        // Two corners rise by 2 m around the third: over the middle between the
        // third and them the face is at height t, the vertex at 0.5.
        let start = [
            DVec3::new(0.5, 0.5, 0.0),
            DVec3::ZERO,
            DVec3::new(1.0, 0.0, -1.0),
            DVec3::new(1.0, 0.0, 1.0),
        ];
        let mut end = start;
        end[2].y = 2.0;
        end[3].y = 2.0;
        let touch = Clearance {
            separation: 0.0,
            share: 1e-9,
        };
        let found = advance_vertex_face(start, end, touch);
        assert!(found.fraction <= 0.5 && found.fraction > 0.5 - REACHED);
        // Edges along x and z, 0.3 m apart, the second falls by 1 m.
        let start = [
            DVec3::NEG_X,
            DVec3::X,
            DVec3::new(0.2, 0.3, -1.0),
            DVec3::new(0.2, 0.3, 1.0),
        ];
        let mut end = start;
        end[2].y -= 1.0;
        end[3].y -= 1.0;
        let found = advance_edge_edge(start, end, touch);
        assert!(found.fraction <= 0.3 && found.fraction > 0.3 - REACHED);
    }

    #[test]
    fn a_fast_needle_never_passes() {
        // A kilometre a step through a face, from a micrometre to a metre above.
        for height in [1e-6, 1e-3, 1.0] {
            let tip = DVec3::new(0.1, height, 0.2);
            let along = DVec3::new(0.3, -1.0, 0.1) * 1000.0;
            let (start, end) = (with_face(tip), with_face(tip + along));
            let found = advance_vertex_face(start, end, Clearance::default());
            let left = vertex_face(lerp(start, end, found.fraction));
            assert!(left >= 0.1 * height - 1e-12, "{height}: {left}");
            assert!(left <= 0.11 * height, "{height}: {left}");
            assert!(lerp(start, end, found.fraction)[0].y > 0.0);
        }
    }

    #[test]
    fn sliding_and_grazing_are_not_held_back() {
        // A metre along the face, a tenth of a millimetre above it.
        let start = DVec3::new(-0.5, 1e-4, -0.5);
        let found = advance_vertex_face(
            with_face(start),
            with_face(start + DVec3::X),
            Clearance::default(),
        );
        assert_eq!(found.fraction, 1.0);
        assert_eq!(found.iterations, 1);
        // Past a corner at a quarter of the separation more than the floor, and
        // at a quarter less.
        let clearance = Clearance {
            separation: 1e-3,
            share: 0.0,
        };
        for (height, passes) in [(1.25e-3, true), (0.75e-3, false)] {
            let start = DVec3::new(-3.0, height, 2.0);
            let end = DVec3::new(3.0, height, 2.0);
            let found = advance_vertex_face(with_face(start), with_face(end), clearance);
            assert_eq!(found.fraction == 1.0, passes, "{found:?}");
            if !passes {
                let left = vertex_face(lerp(with_face(start), with_face(end), found.fraction));
                assert!((1e-3..1.001e-3).contains(&left), "{left}");
            }
        }
    }

    #[test]
    fn what_leaves_or_moves_as_a_whole_is_free() {
        let start = with_face(DVec3::Y * 1e-9);
        let away = with_face(DVec3::Y);
        assert_eq!(
            advance_vertex_face(start, away, Clearance::default()).fraction,
            1.0
        );
        let carried = start.map(|x| x + DVec3::new(3.0, -2.0, 1.0));
        let found = advance_vertex_face(start, carried, Clearance::default());
        assert!(found.fraction > 0.0);
        let touching = with_face(DVec3::ZERO);
        let whole = touching.map(|x| x - DVec3::Y);
        assert_eq!(
            advance_vertex_face(touching, whole, Clearance::default()).fraction,
            1.0
        );
    }

    #[test]
    fn touching_and_broken_pairs_may_not_move() {
        let touching = with_face(DVec3::ZERO);
        let found = advance_vertex_face(touching, with_face(DVec3::NEG_Y), Clearance::default());
        assert_eq!(found.fraction, 0.0);
        let broken = with_face(DVec3::new(0.0, f64::NAN, 0.0));
        for (start, end) in [(with_face(DVec3::Y), broken), (broken, with_face(DVec3::Y))] {
            assert_eq!(
                advance_vertex_face(start, end, Clearance::default()).fraction,
                0.0
            );
        }
    }

    /// Hits are not missed, and no more is taken off than needed: before the
    /// fraction the distance is above the floor, at the fraction it is on it.
    #[test]
    fn a_hundred_thousand_random_pairs_stop_at_their_floor() {
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let mut n_stopped = 0;
        let mut most = 0;
        let mut n_short = 0;
        for case in 0..100_000u32 {
            // From slow to ten sizes a step, some nearly touching.
            let speed = [0.1, 1.0, 3.0, 10.0][(case / 2 % 4) as usize];
            let mut start: [DVec3; 4] = std::array::from_fn(|_| random.point());
            if case % 5 == 0 {
                let near = random.number().abs().powi(8) * 1e-3;
                let on = start[1] * 0.3 + start[2] * 0.3 + start[3] * 0.4;
                start[0] = on + random.point() * near;
            }
            let end: [DVec3; 4] = std::array::from_fn(|i| start[i] + random.point() * speed);
            let clearance = Clearance {
                separation: if case % 3 == 0 { 1e-2 } else { 0.0 },
                share: 0.1,
            };
            let distance: fn([DVec3; 4]) -> f64 = if case % 2 == 0 { vertex_face } else { edges };
            let found = if case % 2 == 0 {
                advance_vertex_face(start, end, clearance)
            } else {
                advance_edge_edge(start, end, clearance)
            };
            let initial = distance(start);
            let floor = clearance.floor(initial);
            let tolerance = 1e-12 * speed.max(1.0);
            for k in 0..=40 {
                let t = found.fraction * f64::from(k) / 40.0;
                let d = distance(lerp(start, end, t));
                assert!(
                    d >= floor - tolerance,
                    "case {case}: {d} < {floor} at {t} of {found:?}"
                );
            }
            if found.iterations + 2 > MAX_ITERATIONS {
                assert!(initial < 1e-3);
                n_short += 1;
            } else if found.fraction < 1.0 {
                let d = distance(lerp(start, end, found.fraction));
                assert!(
                    d <= floor * (1.0 + REACHED) + tolerance,
                    "case {case}: {d} > {floor}, {found:?}"
                );
                n_stopped += 1;
            }
            most = most.max(found.iterations);
        }
        assert!(n_stopped > 10_000, "{n_stopped}");
        assert!(n_short < 200, "{n_short}");
        assert!(most <= MAX_ITERATIONS);
    }

    /// Pairs that only shift meet when their volume, linear in t, is zero: a
    /// reference without samples to slip between, at a thousand sizes a step.
    #[test]
    fn fast_pairs_stop_before_their_exact_time_of_impact() {
        let mut random = Random(0xD1B5_4A32_D192_ED03);
        let mut n_hits = 0;
        for case in 0..20_000u32 {
            let start: [DVec3; 4] = std::array::from_fn(|_| random.point());
            // Towards a point near the middle, and as far again or much further.
            let target = (start[2] + start[3]) / 2.0 + random.point() * 0.5;
            let speed = [2.0, 30.0, 1000.0][(case / 2 % 3) as usize];
            let shift = (target - start[0]) * speed;
            let n_first = 1 + (case % 2) as usize;
            let end: [DVec3; 4] =
                std::array::from_fn(|i| start[i] + if i < n_first { shift } else { DVec3::ZERO });
            let normal = if n_first == 1 {
                (start[2] - start[1]).cross(start[3] - start[1])
            } else {
                (start[1] - start[0]).cross(start[3] - start[2])
            };
            let impact = -normal.dot(start[0] - start[3]) / normal.dot(shift);
            let (found, distance) = if n_first == 1 {
                let found = advance_vertex_face(start, end, Clearance::default());
                (found, vertex_face(lerp(start, end, impact)))
            } else {
                let found = advance_edge_edge(start, end, Clearance::default());
                (found, edges(lerp(start, end, impact)))
            };
            if (0.0..=1.0).contains(&impact) && distance < 1e-9 {
                assert!(found.fraction < impact, "case {case}: {impact}, {found:?}");
                n_hits += 1;
            }
        }
        assert!(n_hits > 4000, "{n_hits}");
    }
}
