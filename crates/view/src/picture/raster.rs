//! Which samples a triangle covers, and how near it is there.
//!
//! Corners are rounded to 1/256 of a pixel and the three edge functions
//!
//! ```text
//! e(x, y) = (x − x₀)(y₁ − y₀) − (y − y₀)(x₁ − x₀)
//! ```
//!
//! are evaluated in whole numbers, so two triangles that share an edge cover
//! each sample beside it exactly once (the top-left rule decides on the edge).
//! "Nearness" is any number that is linear on the screen and larger nearer to
//! the camera: 1/depth in perspective, height towards the light in a shadow map.

/// Parts of a pixel to which corners are rounded.
pub(super) const SUBPIXELS: i64 = 256;

/// A triangle on the screen, ready to be filled.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScreenTriangle {
    /// Corners [1/256 pixel], turned so that the area is positive.
    x: [i32; 3],
    y: [i32; 3],
    /// Nearness at pixel coordinates (x, y): `plane.0 x + plane.1 y + plane.2`.
    plane: (f32, f32, f32),
    /// Pixel coordinates that `plane` counts from.
    anchor: (i32, i32),
    /// Nearness of the corners, least and most.
    range: (f32, f32),
    /// Which triangle this is (or is a part of).
    pub(super) id: u32,
}

/// A corner on the screen: pixel coordinates and nearness.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScreenPoint {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) nearness: f64,
}

impl ScreenTriangle {
    /// A triangle of three corners; nothing when it has no area.
    ///
    /// Coordinates must be below 2²² pixels.
    pub(super) fn new(corners: [ScreenPoint; 3], id: u32) -> Option<Self> {
        let snap = |v: f64| (v * SUBPIXELS as f64).round() as i32;
        let mut x = corners.map(|c| snap(c.x));
        let mut y = corners.map(|c| snap(c.y));
        let mut corners = corners;
        let edge = |i: usize, j: usize| {
            (
                i64::from(x[j]) - i64::from(x[i]),
                i64::from(y[j]) - i64::from(y[i]),
            )
        };
        let (a, b) = (edge(0, 1), edge(0, 2));
        let twice_area = a.0 * b.1 - a.1 * b.0;
        if twice_area == 0 {
            return None;
        }
        if twice_area > 0 {
            x.swap(1, 2);
            y.swap(1, 2);
            corners.swap(1, 2);
        }
        // Nearness as a plane over the screen, counted from the first corner's
        // pixel so that single precision is enough.
        let [p, q, r] = corners;
        let (qx, qy, qn) = (q.x - p.x, q.y - p.y, q.nearness - p.nearness);
        let (rx, ry, rn) = (r.x - p.x, r.y - p.y, r.nearness - p.nearness);
        let determinant = qx * ry - qy * rx;
        let anchor = (p.x.floor(), p.y.floor());
        let (slope_x, slope_y) = if determinant == 0.0 {
            (0.0, 0.0)
        } else {
            (
                (qn * ry - rn * qy) / determinant,
                (rn * qx - qn * rx) / determinant,
            )
        };
        let base = p.nearness - slope_x * (p.x - anchor.0) - slope_y * (p.y - anchor.1);
        let near = corners.map(|c| c.nearness as f32);
        Some(Self {
            x,
            y,
            plane: (slope_x as f32, slope_y as f32, base as f32),
            anchor: (anchor.0 as i32, anchor.1 as i32),
            range: (
                near[0].min(near[1]).min(near[2]),
                near[0].max(near[1]).max(near[2]),
            ),
            id,
        })
    }

    /// The first row and the row after the last that may be covered.
    pub(super) fn rows(&self) -> (i32, i32) {
        span(&self.y)
    }

    /// Calls `write(pixel, sample, nearness)` for every covered sample of the
    /// rows `rows.0..rows.1`; `pixel` counts from the first of these rows.
    #[inline(always)]
    pub(super) fn fill<const N: usize>(
        &self,
        width: i32,
        rows: (i32, i32),
        samples: &[(i32, i32); N],
        mut write: impl FnMut(usize, usize, f32),
    ) {
        let (left, right) = span(&self.x);
        let (left, right) = (left.max(0), right.min(width));
        let (top, bottom) = self.rows();
        let (top, bottom) = (top.max(rows.0), bottom.min(rows.1));
        if left >= right || top >= bottom {
            return;
        }
        // Edge functions at the centre of the first pixel, their steps a pixel
        // to the right and down, and their offsets at the samples.
        let mut start = [0_i64; 3];
        let mut step_x = [0_i64; 3];
        let mut step_y = [0_i64; 3];
        let mut offset = [[0_i64; N]; 3];
        let first_x = i64::from(left) * SUBPIXELS + SUBPIXELS / 2;
        let first_y = i64::from(top) * SUBPIXELS + SUBPIXELS / 2;
        for e in 0..3 {
            let (x0, y0) = (i64::from(self.x[e]), i64::from(self.y[e]));
            let dx = i64::from(self.x[(e + 1) % 3]) - x0;
            let dy = i64::from(self.y[(e + 1) % 3]) - y0;
            // y grows downwards and the triangle runs counter-clockwise on the
            // screen: a left edge runs down, a top edge runs left.
            let owns_edge = dy > 0 || (dy == 0 && dx < 0);
            start[e] = (first_x - x0) * dy - (first_y - y0) * dx - i64::from(!owns_edge);
            step_x[e] = dy * SUBPIXELS;
            step_y[e] = -dx * SUBPIXELS;
            for (k, &(sx, sy)) in samples.iter().enumerate() {
                offset[e][k] = i64::from(sx) * dy - i64::from(sy) * dx;
            }
        }
        let (slope_x, slope_y, base) = self.plane;
        let sub = |s: i32| s as f32 / SUBPIXELS as f32 + 0.5;
        let plane_offset: [f32; N] = std::array::from_fn(|k| {
            base + slope_x * sub(samples[k].0) + slope_y * sub(samples[k].1)
        });
        for y in top..bottom {
            let mut e = start;
            let row = (y - rows.0) as usize * width as usize;
            let down = slope_y * (y - self.anchor.1) as f32;
            for x in left..right {
                for k in 0..N {
                    let outside =
                        (e[0] + offset[0][k]) | (e[1] + offset[1][k]) | (e[2] + offset[2][k]);
                    if outside >= 0 {
                        let nearness =
                            plane_offset[k] + slope_x * (x - self.anchor.0) as f32 + down;
                        write(
                            row + x as usize,
                            k,
                            nearness.clamp(self.range.0, self.range.1),
                        );
                    }
                }
                for (e, step) in e.iter_mut().zip(step_x) {
                    *e += step;
                }
            }
            for (e, step) in start.iter_mut().zip(step_y) {
                *e += step;
            }
        }
    }
}

/// The pixels that coordinates [1/256 pixel] reach over.
fn span(coordinates: &[i32; 3]) -> (i32, i32) {
    let [a, b, c] = *coordinates;
    let low = a.min(b).min(c).div_euclid(SUBPIXELS as i32);
    let high = a.max(b).max(c).div_euclid(SUBPIXELS as i32) + 1;
    (low, high)
}

/// The triangles of each band of rows.
pub(super) struct Bins {
    starts: Vec<u32>,
    triangles: Vec<u32>,
}

impl Bins {
    /// Sorts triangles into bands of `rows_per_band` rows of a picture.
    pub(super) fn new(triangles: &[ScreenTriangle], height: u32, rows_per_band: u32) -> Self {
        let n_bands = height.div_ceil(rows_per_band) as usize;
        let bands = |t: &ScreenTriangle| {
            let (top, bottom) = t.rows();
            let first = top.max(0) as usize / rows_per_band as usize;
            let last = bottom.clamp(0, height as i32) as usize;
            first..last.div_ceil(rows_per_band as usize)
        };
        let mut starts = vec![0_u32; n_bands + 1];
        for t in triangles {
            for band in bands(t) {
                starts[band + 1] += 1;
            }
        }
        for band in 0..n_bands {
            starts[band + 1] += starts[band];
        }
        let mut next = starts.clone();
        let mut sorted = vec![0_u32; starts[n_bands] as usize];
        for (i, t) in triangles.iter().enumerate() {
            for band in bands(t) {
                sorted[next[band] as usize] = i as u32;
                next[band] += 1;
            }
        }
        Self {
            starts,
            triangles: sorted,
        }
    }

    /// The triangles of one band, in order.
    pub(super) fn band(&self, band: usize) -> &[u32] {
        &self.triangles[self.starts[band] as usize..self.starts[band + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: [(i32, i32); 1] = [(0, 0)];

    fn point(x: f64, y: f64) -> ScreenPoint {
        ScreenPoint {
            x,
            y,
            nearness: 1.0 + 0.25 * x - 0.125 * y,
        }
    }

    #[test]
    fn a_fan_covers_every_sample_of_a_square_once() {
        // Corners, centres and edges on pixel centres, the worst case.
        let rim = [
            point(1.5, 1.5),
            point(1.5, 6.5),
            point(1.5, 9.5),
            point(9.5, 9.5),
            point(9.5, 1.5),
        ];
        let mut hits = [0; 121];
        for i in 0..rim.len() {
            let (a, b) = (rim[i], rim[(i + 1) % rim.len()]);
            // Either winding must do.
            let corners = if i % 2 == 0 {
                [a, b, point(4.5, 5.5)]
            } else {
                [b, a, point(4.5, 5.5)]
            };
            if let Some(t) = ScreenTriangle::new(corners, 0) {
                t.fill(11, (0, 11), &ONE, |pixel, _, nearness| {
                    hits[pixel] += 1;
                    let (x, y) = ((pixel % 11) as f32 + 0.5, (pixel / 11) as f32 + 0.5);
                    assert!((nearness - (1.0 + 0.25 * x - 0.125 * y)).abs() < 1e-5);
                });
            }
        }
        for (pixel, n) in hits.iter().enumerate() {
            let (x, y) = (pixel % 11, pixel / 11);
            let inside = (1..9).contains(&x) && (1..9).contains(&y);
            assert_eq!(*n, i32::from(inside), "pixel {x}, {y}");
        }
    }

    #[test]
    fn a_line_or_a_point_is_no_triangle() {
        assert!(ScreenTriangle::new([point(1.0, 1.0); 3], 0).is_none());
        let line = [point(1.0, 1.0), point(2.0, 2.0), point(3.0, 3.0)];
        assert!(ScreenTriangle::new(line, 0).is_none());
    }

    #[test]
    fn bands_hold_what_reaches_into_them() {
        let tall = ScreenTriangle::new([point(0.0, -50.0), point(3.0, 1.0), point(0.0, 20.0)], 7);
        let below = ScreenTriangle::new([point(0.0, 40.0), point(3.0, 41.0), point(0.0, 42.0)], 8);
        let triangles = [tall.unwrap(), below.unwrap()];
        let bins = Bins::new(&triangles, 32, 8);
        assert_eq!(bins.band(0), [0]);
        assert_eq!(bins.band(2), [0]);
        assert!(bins.band(3).is_empty());
    }
}
