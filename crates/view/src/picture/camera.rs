//! Where the picture is taken from: [`Camera`], [`View`], [`Bounds`].
//!
//! A camera looks along −`back`. A point p is inside the picture when
//!
//! ```text
//! |right · (p − eye)| ≤ tₓ · back · (eye − p),   |up · (p − eye)| ≤ t_y · back · (eye − p)
//! ```
//!
//! with t the tangents of the half angles. With eye = α right + β up + δ back
//! these are four half-spaces with known normals, so the nearest eye that sees
//! a set of points follows from four maxima over it, exactly:
//!
//! ```text
//! R± = max(±right · p + tₓ back · p),  U± = max(±up · p + t_y back · p)
//! α = (R₊ − R₋)/2,  β = (U₊ − U₋)/2,  δ = max((R₊ + R₋)/2tₓ, (U₊ + U₋)/2t_y)
//! ```

use std::f32::consts::{FRAC_PI_2, PI, TAU};

use glam::{DVec3, Vec3};

/// Width and height of a picture [pixels].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Size {
    /// A size of `width` columns and `height` rows.
    pub const fn new(width: u32, height: u32) -> Self {
        Self { width, height }
    }

    /// A square.
    pub const fn square(side: u32) -> Self {
        Self::new(side, side)
    }
}

/// A box with sides along the axes [m].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The smallest coordinates.
    pub low: Vec3,
    /// The largest coordinates.
    pub high: Vec3,
}

impl Bounds {
    /// The bounds of no points; anything may be added.
    pub const EMPTY: Self = Self {
        low: Vec3::INFINITY,
        high: Vec3::NEG_INFINITY,
    };

    /// The bounds of all finite points.
    pub fn of<I>(points: I) -> Self
    where
        I: IntoIterator<Item = Vec3>,
    {
        let mut bounds = Self::EMPTY;
        bounds.add(points);
        bounds
    }

    /// Grows to hold more points; those that are not finite are left out.
    pub fn add<I>(&mut self, points: I)
    where
        I: IntoIterator<Item = Vec3>,
    {
        for p in points.into_iter().filter(|p| p.is_finite()) {
            self.low = self.low.min(p);
            self.high = self.high.max(p);
        }
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.low.cmpgt(self.high).any()
    }

    /// The middle [m]; the origin when empty.
    pub fn centre(&self) -> Vec3 {
        if self.is_empty() {
            Vec3::ZERO
        } else {
            0.5 * (self.low + self.high)
        }
    }

    /// The eight corners [m].
    pub fn corners(&self) -> [Vec3; 8] {
        std::array::from_fn(|i| {
            let pick = |bit: usize, low: f32, high: f32| if i >> bit & 1 == 0 { low } else { high };
            Vec3::new(
                pick(0, self.low.x, self.high.x),
                pick(1, self.low.y, self.high.y),
                pick(2, self.low.z, self.high.z),
            )
        })
    }
}

/// A direction to look from, and how wide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Where the camera stands around +Y [rad]: 0 in front of the character
    /// (+Z), π/2 on its left (+X).
    pub azimuth: f32,
    /// How high the camera stands [rad], 0 level, π/2 straight above.
    pub elevation: f32,
    /// The angle of the picture's height [rad].
    pub field_of_view: f32,
    /// Empty part at each side of a framed picture, of its width or height.
    pub margin: f32,
}

impl Default for View {
    fn default() -> Self {
        Self {
            azimuth: 0.0,
            elevation: 0.17,
            field_of_view: 0.42,
            margin: 0.05,
        }
    }
}

impl View {
    /// From the front.
    pub fn front() -> Self {
        Self::default()
    }

    /// From the front, a little to the character's left.
    pub fn three_quarter() -> Self {
        Self::from_azimuth(0.6)
    }

    /// From the character's left.
    pub fn left() -> Self {
        Self::from_azimuth(FRAC_PI_2)
    }

    /// From behind.
    pub fn back() -> Self {
        Self::from_azimuth(PI)
    }

    /// From the character's right.
    pub fn right() -> Self {
        Self::from_azimuth(-FRAC_PI_2)
    }

    /// From any side [rad], else as the default.
    pub fn from_azimuth(azimuth: f32) -> Self {
        Self {
            azimuth,
            ..Self::default()
        }
    }

    /// The axes of the picture, without odd numbers: right, up, back.
    fn axes(&self) -> (DVec3, DVec3, DVec3) {
        let sane = |x: f32| f64::from(if x.is_finite() { x } else { 0.0 });
        let (sin_a, cos_a) = sane(self.azimuth).sin_cos();
        // Straight above is fine: right does not depend on the elevation.
        let (sin_e, cos_e) = sane(self.elevation).sin_cos();
        let right = DVec3::new(cos_a, 0.0, -sin_a);
        let back = DVec3::new(sin_a * cos_e, sin_e, cos_a * cos_e);
        (right, back.cross(right), back)
    }

    /// The tangents of the half angles, across and up.
    fn tangents(&self, size: Size) -> (f64, f64) {
        let angle = if self.field_of_view.is_finite() {
            self.field_of_view.clamp(0.01, 2.8)
        } else {
            0.42
        };
        let up = (0.5 * f64::from(angle)).tan();
        let across = up * f64::from(size.width.max(1)) / f64::from(size.height.max(1));
        (across, up)
    }
}

/// A perspective camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where it stands [m].
    pub(super) eye: DVec3,
    /// Unit vectors: the picture's right and up, and away from what is seen.
    pub(super) right: DVec3,
    pub(super) up: DVec3,
    pub(super) back: DVec3,
    /// Tangent of half the angle of the picture's height.
    pub(super) tangent_up: f64,
    /// From the eye to the middle of what is framed [m].
    pub(super) distance: f64,
}

impl Camera {
    /// The nearest camera in the view's direction that has all of the bounds
    /// in the picture. Use the bounds over all frames, so that the pictures of
    /// an animation share one camera.
    pub fn framing(bounds: &Bounds, view: View, size: Size) -> Self {
        Self::framing_points(bounds.corners(), view, size)
    }

    /// The nearest camera in the view's direction that has all points [m] in
    /// the picture: tighter than framing their bounds.
    ///
    /// Points that are not finite are left out; with none at all the camera
    /// looks at a metre around the origin.
    pub fn framing_points<I>(points: I, view: View, size: Size) -> Self
    where
        I: IntoIterator<Item = Vec3>,
    {
        let mut support = Support::new(view, size);
        support.add(points, Vec3::ZERO);
        support.camera(view, size)
    }

    /// One camera a frame that follows the root of a moving character along
    /// the ground, all at the same distance; heights stay in the world, so that
    /// a jump is seen as one.
    ///
    /// `frames` gives the positions [m] and the root's position [m] of each
    /// frame.
    pub fn following(frames: &[(&[Vec3], Vec3)], view: View, size: Size) -> Vec<Self> {
        let along_ground = |root: Vec3| {
            let flat = Vec3::new(root.x, 0.0, root.z);
            if flat.is_finite() { flat } else { Vec3::ZERO }
        };
        let mut support = Support::new(view, size);
        for (positions, root) in frames {
            support.add(positions.iter().copied(), along_ground(*root));
        }
        let camera = support.camera(view, size);
        frames
            .iter()
            .map(|(_, root)| camera.moved_by(along_ground(*root)))
            .collect()
    }

    /// `n` cameras evenly around the upright axis through the middle of the
    /// points [m], all at the same distance, beginning at the view's azimuth.
    pub fn turntable<I>(points: I, n: usize, view: View, size: Size) -> Vec<Self>
    where
        I: IntoIterator<Item = Vec3>,
    {
        let points: Vec<Vec3> = points.into_iter().filter(|p| p.is_finite()).collect();
        let centre = Bounds::of(points.iter().copied()).centre();
        let views: Vec<View> = (0..n)
            .map(|i| View {
                azimuth: view.azimuth + TAU * i as f32 / n as f32,
                ..view
            })
            .collect();
        // Seen from the axis of the table, all views share one support.
        let mut shared = Support::new(view, size);
        for turned in &views {
            let mut support = Support::new(*turned, size);
            support.add(points.iter().copied(), centre);
            shared.join(&support);
        }
        let side = shared.across[0].max(shared.across[1]);
        shared.across = [side, side];
        let (_, up, back) = view.axes();
        let camera = shared.camera(view, size);
        let rise = camera.eye.dot(up);
        let away = camera.eye.dot(back);
        views
            .into_iter()
            .map(|turned| {
                let (right, up, back) = turned.axes();
                Self {
                    eye: centre.as_dvec3() + up * rise + back * away,
                    right,
                    up,
                    back,
                    ..camera
                }
            })
            .collect()
    }

    /// The same camera elsewhere.
    #[must_use]
    pub fn moved_by(&self, offset: Vec3) -> Self {
        Self {
            eye: self.eye + offset.as_dvec3(),
            ..*self
        }
    }

    /// Where the camera stands [m].
    pub fn eye(&self) -> Vec3 {
        self.eye.as_vec3()
    }

    /// Where a point [m] lies in a picture of this size [pixels from the top
    /// left corner], and how far in front of the eye [m]; nothing for a point
    /// beside or behind the eye.
    pub fn project(&self, point: Vec3, size: Size) -> Option<(f32, f32, f32)> {
        let p = self.view_from_world(point);
        let depth = -p.z;
        if depth.is_nan() || depth <= 0.0 {
            return None;
        }
        let focal = self.focal(size);
        let x = 0.5 * size.width as f32 + focal * p.x / depth;
        let y = 0.5 * size.height as f32 - focal * p.y / depth;
        Some((x, y, depth))
    }

    /// Pixels a unit of slope.
    pub(super) fn focal(&self, size: Size) -> f32 {
        (0.5 * f64::from(size.height) / self.tangent_up) as f32
    }

    /// A point in the camera's own axes [m]: right, up, back.
    pub(super) fn view_from_world(&self, point: Vec3) -> Vec3 {
        self.turned(point.as_dvec3() - self.eye).as_vec3()
    }

    /// A direction in the camera's own axes.
    pub(super) fn turned(&self, v: DVec3) -> DVec3 {
        DVec3::new(self.right.dot(v), self.up.dot(v), self.back.dot(v))
    }
}

/// Room between the eye and the nearest point, of the depth of all points.
const CLEARANCE: f64 = 0.1;

/// The four maxima of the module's formula, and the extent along `back`.
struct Support {
    across: [f64; 2],
    upright: [f64; 2],
    back: [f64; 2],
    axes: (DVec3, DVec3, DVec3),
    tangents: (f64, f64),
}

impl Support {
    fn new(view: View, size: Size) -> Self {
        let (tangent_across, tangent_up) = view.tangents(size);
        let margin = if view.margin.is_finite() {
            view.margin.clamp(0.0, 0.45)
        } else {
            0.05
        };
        let inner = 1.0 - 2.0 * f64::from(margin);
        Self {
            across: [f64::NEG_INFINITY; 2],
            upright: [f64::NEG_INFINITY; 2],
            back: [f64::NEG_INFINITY; 2],
            axes: view.axes(),
            tangents: (tangent_across * inner, tangent_up * inner),
        }
    }

    fn add<I>(&mut self, points: I, origin: Vec3)
    where
        I: IntoIterator<Item = Vec3>,
    {
        let (right, up, back) = self.axes;
        for p in points.into_iter().filter(|p| p.is_finite()) {
            let p = p.as_dvec3() - origin.as_dvec3();
            let (x, y, z) = (right.dot(p), up.dot(p), back.dot(p));
            let (lean_x, lean_y) = (self.tangents.0 * z, self.tangents.1 * z);
            raise(&mut self.across, [lean_x + x, lean_x - x]);
            raise(&mut self.upright, [lean_y + y, lean_y - y]);
            raise(&mut self.back, [z, -z]);
        }
    }

    fn join(&mut self, other: &Self) {
        raise(&mut self.across, other.across);
        raise(&mut self.upright, other.upright);
        raise(&mut self.back, other.back);
    }

    fn camera(&self, view: View, size: Size) -> Camera {
        if self.across[0] == f64::NEG_INFINITY {
            let mut nothing = Self::new(view, size);
            let around_origin = Bounds {
                low: Vec3::splat(-0.5),
                high: Vec3::splat(0.5),
            };
            nothing.add(around_origin.corners(), Vec3::ZERO);
            return nothing.camera(view, size);
        }
        let (right, up, back) = self.axes;
        let away = (0.5 * (self.across[0] + self.across[1]) / self.tangents.0)
            .max(0.5 * (self.upright[0] + self.upright[1]) / self.tangents.1)
            // Not right before the eye: a tall thing seen from above.
            .max(self.back[0] + CLEARANCE * (self.back[0] + self.back[1]) + 1e-3);
        let aside = 0.5 * (self.across[0] - self.across[1]);
        let rise = 0.5 * (self.upright[0] - self.upright[1]);
        Camera {
            eye: right * aside + up * rise + back * away,
            right,
            up,
            back,
            tangent_up: view.tangents(size).1,
            distance: away - 0.5 * (self.back[0] - self.back[1]),
        }
    }
}

fn raise(most: &mut [f64; 2], values: [f64; 2]) {
    for (most, value) in most.iter_mut().zip(values) {
        *most = most.max(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Corners of a slim tetrahedron, off the origin.
    fn figure() -> Vec<Vec3> {
        vec![
            Vec3::new(10.2, 0.0, -3.1),
            Vec3::new(9.7, 0.1, -2.9),
            Vec3::new(10.0, 0.05, -3.4),
            Vec3::new(10.05, 1.7, -3.0),
        ]
    }

    /// Least and largest pixel coordinates of points, all in front.
    fn extent(camera: &Camera, points: &[Vec3], size: Size) -> (f32, f32, f32, f32) {
        points.iter().fold(
            (f32::MAX, f32::MAX, f32::MIN, f32::MIN),
            |(l, t, r, b), p| {
                let (x, y, depth) = camera.project(*p, size).expect("in front of the camera");
                assert!(depth > 0.0);
                (l.min(x), t.min(y), r.max(x), b.max(y))
            },
        )
    }

    #[test]
    fn framed_points_touch_the_margin_and_never_cross_it() {
        let points = figure();
        for size in [Size::square(500), Size::new(900, 300), Size::new(200, 700)] {
            for azimuth in [0.0, 0.7, 2.0, -2.5] {
                for elevation in [-0.5, 0.0, 0.6, FRAC_PI_2] {
                    for field_of_view in [0.2, 0.6, 1.0] {
                        let view = View {
                            azimuth,
                            elevation,
                            field_of_view,
                            margin: 0.1,
                        };
                        let camera = Camera::framing_points(points.iter().copied(), view, size);
                        let (l, t, r, b) = extent(&camera, &points, size);
                        let (w, h) = (size.width as f32, size.height as f32);
                        let free = [l / w, t / h, 1.0 - r / w, 1.0 - b / h];
                        for free in free {
                            assert!(free > 0.0999, "{view:?} {size:?}: {free}");
                        }
                        // Both sides of one direction are at the margin.
                        let across = free[0].max(free[2]);
                        let upright = free[1].max(free[3]);
                        // (unless the eye would have to be among the points).
                        assert!(
                            across < 0.1001 || upright < 0.1001 || elevation > 1.0,
                            "{view:?} {size:?} leaves {free:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn the_picture_is_upright_and_not_mirrored() {
        let size = Size::square(100);
        let bounds = Bounds::of([Vec3::splat(-1.0), Vec3::splat(1.0)]);
        let camera = Camera::framing(&bounds, View::front(), size);
        let at = |p: Vec3| camera.project(p, size).unwrap();
        assert!(at(Vec3::Y).1 < at(Vec3::ZERO).1, "up is up");
        assert!(
            at(Vec3::X).0 > at(Vec3::ZERO).0,
            "+X is right from the front"
        );
        assert!(at(Vec3::Z).2 < at(Vec3::ZERO).2, "+Z is nearer");
        let camera = Camera::framing(&bounds, View::left(), size);
        let (x, _, depth) = camera.project(Vec3::X, size).unwrap();
        let (x_front, ..) = camera.project(Vec3::Z, size).unwrap();
        let (_, _, depth_middle) = camera.project(Vec3::ZERO, size).unwrap();
        assert!(
            depth < depth_middle && x_front < x,
            "seen from +X, +Z is left"
        );
        assert_eq!(camera.project(camera.eye() + Vec3::X, size), None);
    }

    #[test]
    fn following_cameras_keep_the_root_in_place() {
        let size = Size::new(200, 300);
        let roots = [Vec3::new(0.0, 0.9, 0.0), Vec3::new(3.0, 1.1, -2.0)];
        let frames: Vec<Vec<Vec3>> = roots
            .iter()
            .map(|root| vec![*root + Vec3::new(0.2, 0.8, 0.1), *root - Vec3::Y * 0.9])
            .collect();
        let input: Vec<(&[Vec3], Vec3)> = frames
            .iter()
            .zip(roots)
            .map(|(positions, root)| (positions.as_slice(), root))
            .collect();
        let cameras = Camera::following(&input, View::three_quarter(), size);
        let below = |i: usize| {
            let foot = Vec3::new(roots[i].x, 0.0, roots[i].z);
            cameras[i].project(foot, size).unwrap()
        };
        let (first, second) = (below(0), below(1));
        assert!((first.0 - second.0).abs() < 0.01 && (first.1 - second.1).abs() < 0.01);
        let at = |i: usize| cameras[i].project(roots[i], size).unwrap();
        let (first, second) = (at(0), at(1));
        assert!(second.1 < first.1 - 5.0, "a jump is seen as one");
        for (camera, positions) in cameras.iter().zip(&frames) {
            let (l, t, r, b) = extent(camera, positions, size);
            assert!(l >= 0.0 && t >= 0.0 && r <= 200.0 && b <= 300.0);
        }
    }

    #[test]
    fn a_turntable_holds_its_distance_and_everything_in_view() {
        let points = figure();
        let size = Size::new(300, 400);
        let cameras = Camera::turntable(points.iter().copied(), 5, View::front(), size);
        assert_eq!(cameras.len(), 5);
        let axis = Bounds::of(points.iter().copied()).centre();
        let mut fullest = 0.0_f32;
        for camera in &cameras {
            let (l, t, r, b) = extent(camera, &points, size);
            assert!(l >= 14.9 && t >= 19.9 && r <= 285.1 && b <= 380.1);
            fullest = fullest.max((b - t) / 400.0).max((r - l) / 300.0);
            let (x, y, depth) = camera.project(axis, size).unwrap();
            let (x0, y0, depth0) = cameras[0].project(axis, size).unwrap();
            assert!((x - x0).abs() < 0.01 && (y - y0).abs() < 0.01);
            assert!((depth - depth0).abs() < 1e-4);
        }
        assert!(fullest > 0.85, "fills only {fullest}");
        assert!(Camera::turntable([], 0, View::front(), size).is_empty());
    }

    #[test]
    fn odd_input_still_gives_a_camera() {
        let size = Size::square(64);
        let odd = View {
            azimuth: f32::NAN,
            elevation: f32::INFINITY,
            field_of_view: f32::NAN,
            margin: 9.0,
        };
        for points in [vec![], vec![Vec3::NAN], vec![Vec3::ONE]] {
            for view in [View::front(), odd] {
                let camera = Camera::framing_points(points.iter().copied(), view, size);
                assert!(camera.eye.is_finite() && camera.distance > 0.0);
            }
        }
        let camera = Camera::framing(&Bounds::EMPTY, View::front(), size);
        assert!(camera.project(Vec3::ZERO, size).is_some());
    }
}
