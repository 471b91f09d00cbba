//! Solids of the mannequin: [`Sweep`], a bone with sections across it, and
//! [`Ellipsoid`], each as a field that is negative inside and near the surface
//! about the distance from it.
//!
//! A section has four half-axes, to both sides, to the front and to the back,
//! and lies between an ellipse and a rounded box:
//!
//! ```text
//! ‖(u, w)‖ = (1 − q) (u² + w²)^½ + q (u⁴ + w⁴)^¼      u, w in half-axes
//! ```
//!
//! Only sums, products and square roots are used, so that every machine makes
//! the same mesh.

use glam::DVec3;

/// A section across a sweep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    /// Where it is along the sweep [m].
    pub(super) at: f64,
    /// Half-axes to +u, −u, +w and −w [m].
    pub(super) half: [f64; 4],
    /// Where its middle is across the sweep, along u and w [m].
    pub(super) middle: [f64; 2],
    /// From 0, an ellipse, to 1, a rounded box.
    pub(super) square: f64,
}

/// Sections along a straight line, joined by cubics that do not overshoot,
/// with round ends.
#[derive(Clone, Debug)]
pub(super) struct Sweep {
    origin: DVec3,
    along: DVec3,
    u: DVec3,
    w: DVec3,
    sections: Vec<[f64; 8]>,
    slopes: Vec<[f64; 8]>,
    /// How far the round ends reach [m].
    caps: [f64; 2],
    /// A ball around all of it, for a quick lower bound.
    ball: (DVec3, f64),
}

impl Sweep {
    /// From `origin` along `along`, with `front` the direction of +w; +u is to
    /// the left of a body that looks along w with `along` up.
    pub(super) fn new(
        origin: DVec3,
        along: DVec3,
        front: DVec3,
        sections: &[Section],
        caps: [f64; 2],
    ) -> Self {
        let along = along.normalize();
        let w = (front - along * front.dot(along)).normalize();
        let u = along.cross(w);
        let rows: Vec<[f64; 8]> = sections
            .iter()
            .map(|s| {
                let [a, b, c, d] = s.half;
                [s.at, a, b, c, d, s.middle[0], s.middle[1], s.square]
            })
            .collect();
        let first = rows[0][0] - caps[0];
        let last = rows[rows.len() - 1][0] + caps[1];
        let widest = |r: &[f64; 8]| {
            let offset = r[5].abs().max(r[6].abs());
            r[1].max(r[2]).max(r[3]).max(r[4]) + offset
        };
        let wide = rows.iter().map(widest).fold(0.0, f64::max);
        let half = (last - first) / 2.0;
        Self {
            origin,
            along,
            u,
            w,
            slopes: slopes(&rows),
            sections: rows,
            caps,
            ball: (
                origin + along * (first + half),
                // The corner of the box around it.
                (half * half + 2.0 * wide * wide).sqrt(),
            ),
        }
    }

    /// About the distance from the surface [m], negative inside; beyond
    /// `far`, some number that is as large.
    pub(super) fn field(&self, p: DVec3, far: f64) -> f64 {
        let bound = p.distance(self.ball.0) - self.ball.1;
        if bound > far {
            return bound;
        }
        let r = p - self.origin;
        let t = r.dot(self.along);
        let (first, last) = (
            self.sections[0][0],
            self.sections[self.sections.len() - 1][0],
        );
        let [_, out, inn, front, back, du, dw, square] = self.section(t.clamp(first, last));
        let (u, w) = (r.dot(self.u) - du, r.dot(self.w) - dw);
        let (a, b) = (
            if u > 0.0 { u / out } else { u / inn },
            if w > 0.0 { w / front } else { w / back },
        );
        let beyond = if t < first {
            (first - t) / self.caps[0]
        } else if t > last {
            (t - last) / self.caps[1]
        } else {
            0.0
        };
        let (a2, b2, c2) = (a * a, b * b, beyond * beyond);
        let round = (a2 + b2 + c2).sqrt();
        let boxy = (a2 * a2 + b2 * b2 + c2 * c2).sqrt().sqrt();
        let norm = round + square * (boxy - round);
        // Along the ray from the middle the surface is at 1/norm of the way.
        let t_over = if t < first {
            t - first
        } else if t > last {
            t - last
        } else {
            0.0
        };
        let distance = (u * u + w * w + t_over * t_over).sqrt();
        if norm < 1e-9 {
            return -out.min(inn).min(front).min(back);
        }
        distance * (1.0 - 1.0 / norm)
    }

    /// The section at a place along the sweep.
    fn section(&self, t: f64) -> [f64; 8] {
        let n = self.sections.len();
        if n == 1 {
            return self.sections[0];
        }
        let mut i = 0;
        while i + 2 < n && self.sections[i + 1][0] < t {
            i += 1;
        }
        let (p, q) = (&self.sections[i], &self.sections[i + 1]);
        let h = q[0] - p[0];
        let s = (t - p[0]) / h;
        let (s2, s3) = (s * s, s * s * s);
        let hermite = [
            2.0 * s3 - 3.0 * s2 + 1.0,
            h * (s3 - 2.0 * s2 + s),
            3.0 * s2 - 2.0 * s3,
            h * (s3 - s2),
        ];
        let mut out = [t; 8];
        for (c, value) in out.iter_mut().enumerate().skip(1) {
            *value = hermite[0] * p[c]
                + hermite[1] * self.slopes[i][c]
                + hermite[2] * q[c]
                + hermite[3] * self.slopes[i + 1][c];
        }
        out
    }
}

/// Slopes at the sections: the harmonic mean of those beside it, 0 at a peak
/// (Fritsch and Butland 1984), so that the cubics stay between the sections.
fn slopes(rows: &[[f64; 8]]) -> Vec<[f64; 8]> {
    let n = rows.len();
    let secant = |i: usize, c: usize| (rows[i + 1][c] - rows[i][c]) / (rows[i + 1][0] - rows[i][0]);
    let mut slopes = vec![[0.0; 8]; n];
    for (i, slope) in slopes.iter_mut().enumerate() {
        for (c, value) in slope.iter_mut().enumerate().skip(1) {
            *value = match i {
                _ if n == 1 => 0.0,
                0 => secant(0, c),
                _ if i == n - 1 => secant(n - 2, c),
                _ => {
                    let (a, b) = (secant(i - 1, c), secant(i, c));
                    if a * b <= 0.0 {
                        0.0
                    } else {
                        2.0 * a * b / (a + b)
                    }
                }
            };
        }
    }
    slopes
}

/// An ellipsoid with axes of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ellipsoid {
    middle: DVec3,
    axes: [DVec3; 3],
    half: DVec3,
}

impl Ellipsoid {
    /// With half-axes [m] along x, y and z.
    pub(super) fn new(middle: [f64; 3], half: [f64; 3]) -> Self {
        Self {
            middle: DVec3::from_array(middle),
            axes: [DVec3::X, DVec3::Y, DVec3::Z],
            half: DVec3::from_array(half),
        }
    }

    /// The second axis leans towards `up`, the third to `front`.
    pub(super) fn leaning(self, up: [f64; 3], front: [f64; 3]) -> Self {
        let up = DVec3::from_array(up).normalize();
        let front = DVec3::from_array(front);
        let front = (front - up * front.dot(up)).normalize();
        Self {
            axes: [up.cross(front), up, front],
            ..self
        }
    }

    /// About the distance from the surface [m], negative inside.
    pub(super) fn field(&self, p: DVec3) -> f64 {
        let r = p - self.middle;
        let r = DVec3::new(
            r.dot(self.axes[0]),
            r.dot(self.axes[1]),
            r.dot(self.axes[2]),
        );
        let near = (r / self.half).length();
        let slope = (r / (self.half * self.half)).length();
        if slope < 1e-9 {
            return -self.half.min_element();
        }
        near * (near - 1.0) / slope
    }
}

/// The smaller of two fields, with the edge between them filled to a radius of
/// about `k` [m].
pub(super) fn union(a: f64, b: f64, k: f64) -> f64 {
    let h = (k - (a - b).abs()).max(0.0);
    if h > 0.0 {
        a.min(b) - h * h / (4.0 * k)
    } else {
        a.min(b)
    }
}

/// Takes what is inside `b` out of `a`, with the edge rounded.
pub(super) fn carve(a: f64, b: f64, k: f64) -> f64 {
    -union(-a, b, k)
}

/// What is inside both, with the edge rounded.
pub(super) fn common(a: f64, b: f64, k: f64) -> f64 {
    -union(-a, -b, k)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(at: f64, half: [f64; 4], square: f64) -> Section {
        Section {
            at,
            half,
            middle: [0.0, 0.0],
            square,
        }
    }

    #[test]
    fn a_round_rod_has_the_field_of_a_capsule() {
        let sections = [section(0.0, [0.1; 4], 0.0), section(1.0, [0.1; 4], 0.0)];
        let rod = Sweep::new(DVec3::ZERO, DVec3::Y, DVec3::Z, &sections, [0.1, 0.1]);
        for (p, expected) in [
            (DVec3::new(0.3, 0.5, 0.4), 0.4),
            (DVec3::new(0.0, 1.5, 0.0), 0.4),
            (DVec3::new(0.05, 0.2, 0.0), -0.05),
            (DVec3::new(0.3, -0.4, 0.0), 0.4),
        ] {
            let found = rod.field(p, 10.0);
            assert!((found - expected).abs() < 1e-12, "{p}: {found}");
            // Given a limit, what is far away is still called far.
            assert!(rod.field(p, 0.1) >= found.min(0.1));
        }
    }

    #[test]
    fn half_axes_lie_where_they_should() {
        // Along −y, as limbs hang: +u is to −x.
        let half = [0.1, 0.2, 0.3, 0.4];
        for square in [0.0, 0.7] {
            let sections = [section(0.0, half, square), section(1.0, half, square)];
            let limb = Sweep::new(DVec3::Y, DVec3::NEG_Y, DVec3::Z, &sections, [0.1, 0.1]);
            for p in [
                DVec3::new(-0.1, 0.5, 0.0),
                DVec3::new(0.2, 0.5, 0.0),
                DVec3::new(0.0, 0.5, 0.3),
                DVec3::new(0.0, 0.5, -0.4),
            ] {
                assert!(limb.field(p, 10.0).abs() < 1e-12, "{p}");
            }
        }
    }

    #[test]
    fn sections_between_others_do_not_overshoot() {
        let radii = [0.1, 0.1, 0.3, 0.29, 0.05];
        let sections: Vec<Section> = radii
            .iter()
            .enumerate()
            .map(|(i, r)| section(i as f64, [*r; 4], 0.0))
            .collect();
        let sweep = Sweep::new(DVec3::ZERO, DVec3::Y, DVec3::Z, &sections, [0.1, 0.1]);
        for i in 0..=400 {
            let t = f64::from(i) / 100.0;
            let r = sweep.section(t)[1];
            let (a, b) = (radii[(t as usize).min(4)], radii[(t as usize + 1).min(4)]);
            assert!(r >= a.min(b) - 1e-12 && r <= a.max(b) + 1e-12, "{t}: {r}");
        }
    }

    #[test]
    fn an_ellipsoid_is_zero_on_its_surface_and_steep_as_a_distance_there() {
        let e = Ellipsoid::new([0.1, 0.2, 0.3], [0.05, 0.1, 0.2]);
        for d in [DVec3::X, DVec3::Y, DVec3::Z, DVec3::new(0.6, 0.0, 0.8)] {
            let p = DVec3::new(0.1, 0.2, 0.3) + d * DVec3::new(0.05, 0.1, 0.2);
            assert!(e.field(p).abs() < 1e-12);
            let normal = (d / DVec3::new(0.05, 0.1, 0.2)).normalize();
            let slope = (e.field(p + normal * 1e-6) - e.field(p - normal * 1e-6)) / 2e-6;
            assert!((slope - 1.0).abs() < 1e-4, "{slope}");
        }
    }

    #[test]
    fn a_union_only_adds_and_only_where_both_are_near() {
        let k = 0.02;
        for i in 0..40 {
            for j in 0..40 {
                let (a, b) = (f64::from(i - 20) * 0.003, f64::from(j - 20) * 0.003);
                let both = union(a, b, k);
                assert!(both <= a.min(b) && both >= a.min(b) - k / 4.0);
                if (a - b).abs() >= k {
                    assert_eq!(both, a.min(b));
                }
                assert!(carve(a, b, k) >= a.max(-b));
                assert!(common(a, b, k) >= a.max(b));
            }
        }
    }
}
