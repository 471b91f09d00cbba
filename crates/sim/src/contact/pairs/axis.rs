//! Pairs that an axis keeps apart, told quickly: [`Places`].
//!
//! Two primitives stay apart by more than a margin when, projected to some
//! axis, all places of one lie beyond all places of the other, at the start and
//! at the end of a step. Two axes are tried, from middle to middle and across
//! the face or the edges. Most candidates fail here, and all in single
//! precision: places are taken from the middle of everything, so that rounding
//! is far below a margin, and it is added to it. So is what each vertex may
//! stray from its way.

use glam::{DVec3, Mat4, Vec4, Vec4Swizzles};

/// Where vertices are at the start and at the end of a step [m].
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    /// The fourth number is how far each may stray [m].
    all: Vec<[Vec4; 2]>,
    /// The largest coordinate [m].
    extent: f32,
}

/// Rounding of a height, relative to the extent: of a cast, of three products
/// and of the axis' length.
const ROUNDING: f32 = 32.0 * f32::EPSILON;

impl Places {
    /// Takes the ways of vertices, from `origin` [m], and how far each may
    /// stray from its own [m].
    pub(super) fn set(&mut self, origin: DVec3, ways: impl Iterator<Item = (DVec3, DVec3, f64)>) {
        self.all.clear();
        self.all.extend(
            ways.map(|(a, b, stray)| [a, b].map(|p| (p - origin).as_vec3().extend(stray as f32))),
        );
        let places = self.all.iter().flatten();
        self.extent = places.map(|p| p.abs().max_element()).fold(0.0, f32::max);
    }

    /// Whether an axis tells that a pair stays apart by more than `margin` [m];
    /// the first primitive has `n_first` vertices.
    pub(super) fn are_apart(&self, vertices: [u32; 4], n_first: usize, margin: f64) -> bool {
        let [p, q, r, s] = vertices.map(|v| self.all[v as usize]);
        // x, y and z of all four.
        let start = Mat4::from_cols(p[0], q[0], r[0], s[0]).transpose();
        let end = Mat4::from_cols(p[1], q[1], r[1], s[1]).transpose();
        let stray = match n_first {
            1 => start.w_axis.x + start.w_axis.yzw().max_element(),
            _ => start.w_axis.xy().max_element() + start.w_axis.zw().max_element(),
        };
        let margin = margin as f32 + stray + ROUNDING * self.extent;
        let (middles, across) = match n_first {
            1 => (
                p[0] - (q[0] + r[0] + s[0]) * (1.0 / 3.0),
                cross(r[0] - q[0], s[0] - q[0]),
            ),
            _ => (p[0] + q[0] - r[0] - s[0], cross(q[0] - p[0], s[0] - r[0])),
        };
        is_apart(middles, &start, &end, n_first, margin)
            || is_apart(across, &start, &end, n_first, margin)
            || is_apart(-across, &start, &end, n_first, margin)
    }
}

fn is_apart(axis: Vec4, start: &Mat4, end: &Mat4, n_first: usize, margin: f32) -> bool {
    let height = |x: &Mat4| x.x_axis * axis.x + x.y_axis * axis.y + x.z_axis * axis.z;
    let (from, to) = (height(start), height(end));
    let (low, high) = (from.min(to), from.max(to));
    let room = match n_first {
        1 => low.x - high.y.max(high.z).max(high.w),
        _ => low.x.min(low.y) - high.z.max(high.w),
    };
    room > 0.0 && room * room > margin * margin * axis.truncate().length_squared()
}

fn cross(a: Vec4, b: Vec4) -> Vec4 {
    a.truncate().cross(b.truncate()).extend(0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::pair::Kind;
    use super::*;

    prop_compose! {
        fn points()(c in prop::array::uniform12(-1.0f64..1.0)) -> [DVec3; 4] {
            [0, 3, 6, 9].map(|k| DVec3::new(c[k], c[k + 1], c[k + 2]))
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..Default::default() })]

        /// Sampled at eleven moments, with each vertex on its own clock and
        /// strayed as far as it may.
        #[test]
        fn what_is_told_to_be_apart_stays_apart(
            start in points(), end in points(), strays in points(), clocks in prop::array::uniform4(0.0f64..1.0),
            reach in 0.0f64..1.0, margin in 0.0f64..0.5,
        ) {
            let end: [DVec3; 4] = std::array::from_fn(|i| start[i].lerp(end[i], reach));
            let mut places = Places::default();
            let origin = DVec3::new(0.3, -0.2, 0.1);
            places.set(origin, (0..4).map(|i| (start[i], end[i], 0.1 * clocks[i])));
            for kind in [Kind::VertexFace, Kind::EdgeEdge] {
                if places.are_apart([0, 1, 2, 3], kind.n_first(), margin) {
                    for k in 0..=10 {
                        let t = f64::from(k) / 10.0;
                        let x = std::array::from_fn(|i| {
                            let strayed = strays[i].normalize_or_zero() * (0.1 * clocks[i]);
                            start[i].lerp(end[i], clocks[i] * t) + strayed
                        });
                        prop_assert!(kind.nearest(x).1.length() > margin);
                    }
                }
            }
        }
    }

    #[test]
    fn layers_and_neighbours_are_told_apart() {
        // Over a face at 2 mm, beside it, and edges that cross at 2 mm.
        let face = [DVec3::ZERO, DVec3::X * 0.01, DVec3::Z * 0.01];
        let over = DVec3::new(0.002, 0.002, 0.002);
        let beside = DVec3::new(-0.004, 0.0, 0.005);
        let mut places = Places::default();
        for p in [over, beside] {
            let x = [p, face[0], face[1], face[2]];
            places.set(DVec3::ZERO, x.iter().map(|p| (*p, *p, 0.0)));
            assert!(places.are_apart([0, 1, 2, 3], 1, 0.0019));
            assert!(!places.are_apart([0, 1, 2, 3], 1, 0.0041));
        }
        let x = [
            DVec3::NEG_X * 0.01,
            DVec3::X * 0.01,
            DVec3::new(0.0, 0.002, -0.01),
            DVec3::new(0.001, 0.002, 0.01),
        ];
        places.set(DVec3::ZERO, x.iter().map(|p| (*p, *p, 0.0)));
        assert!(places.are_apart([0, 1, 2, 3], 2, 0.0019));
        assert!(!places.are_apart([0, 1, 2, 3], 2, 0.0021));
    }
}
