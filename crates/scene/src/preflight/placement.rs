//! Whether a garment is where its body is: size, axes, offset, sides, depth.
//!
//! How well a garment fits is judged by the centres of some of its triangles:
//!
//! ```text
//! depth = mean depth inside the body
//! cost  = mean distance outside the body + 4 depth
//! worn  = share of the points that are outside, within reach of the body
//! sided = |share that faces away from the body − share that faces it|
//! ```
//!
//! with the floor under the body counted as body, where nothing is worn.
//! A garment around a body is sided; one that lies beside it is not. A garment
//! that is not worn is turned about the axes, moved, and tried in other units;
//! a change that makes it worn and sided at less than half the cost, or that
//! takes away nine tenths of the depth, is named as the cure. A garment that is
//! worn as it is is never doubted.
//!
//! Lengths are shares of the body's height, so that a doll is judged like a
//! giant.

use drapery_core::{BodyModel, PseudoNormals, ShapedBody, TriMesh, TriangleTree, WindingField};
use glam::{Mat3, Vec3};

use super::scale::Mistake;

/// Cloth further from the body than this is not worn [body heights]: 33 cm for
/// an adult, the hem of a wide skirt.
pub(super) const REACH: f32 = 0.2;

/// A vertex may be this deep inside and still be worn [body heights]: 5 mm for
/// an adult, a slip of modelling rather than of placement.
const SLIP: f32 = 0.003;

/// A garment with a smaller share worn is tried otherwise. Trying is safe: a
/// gown whose hem is out of reach is not worn better in any other way.
const MIN_WORN: f32 = 0.95;

/// What another placement must bring to be named as the cure: worn but for
/// folds and hems, on one side but for folds...
const GOOD_WORN: f32 = 0.85;
const GOOD_SIDED: f32 = 0.6;
/// ...and much cheaper, or out of the body.
const GOOD_COST_RATIO: f32 = 0.5;
const GOOD_DEPTH_RATIO: f32 = 0.1;

/// A shorter move than this is a matter of fitting, not of placing [body
/// heights]: 5 cm for an adult.
const MIN_OFFSET: f32 = 0.03;

/// A component of a move is left out when that costs less than this more: a
/// skirt is not drawn up to where the body is wider for a centimetre's gain.
const NOT_WORTH: f32 = 1.3;

/// A garment with less of it at the body, inside or out, is somewhere else
/// altogether, and is also turned and moved at once, which takes a second.
const LITTLE_NEAR: f32 = 0.5;

/// A garment larger or smaller than this (as [`PLAUSIBLE_SIZE`]) may be in
/// another unit after all, when it is not worn.
const COMMON_SIZE: core::ops::RangeInclusive<f32> = 0.06..=1.0;

/// A simpler placement is kept unless another has less than this of its cost.
const BETTER: f32 = 0.9;

/// Depth counts more than distance, or a garment would fit best inside the body.
const DEPTH_COST: f32 = 4.0;

/// Sizes of a garment over that of its body (diagonals of their boxes): from a
/// bow tie to a gown with a train.
pub(super) const PLAUSIBLE_SIZE: core::ops::RangeInclusive<f32> = 0.03..=1.6;

/// Cloth nearer than this rests on the body [body heights]: 3 cm for an adult,
/// the fold of a waistband or of a thick coat's shoulder.
const REST_DISTANCE: f32 = 0.018;

/// At least this share of the vertices in the upper half of a garment rests on
/// the body. Whatever is worn hangs from above: a skirt from its waistband, a
/// cape from its shoulders, a hat from its rim. The widest skirt has two rows
/// of vertices at the waist, 1.6 % of its upper half; those of the shared data
/// and the sleeve have 70 % or more. A dress around a post has 0.2 %.
const MIN_SUPPORT: f32 = 0.01;

/// How many points a placement is judged by: enough for shares to the
/// percent, few enough for hundreds of trials.
const N_SAMPLES: usize = 240;

/// A body that can be asked how far and on which side a point is.
pub(super) struct Wearer<'a> {
    pub(super) model: &'a dyn BodyModel,
    pub(super) body: &'a ShapedBody,
    pub(super) height: f32,
    pub(super) diagonal: f32,
    tree: TriangleTree,
    /// For a body with holes; a closed one is asked by rays.
    field: Option<WindingField>,
    normals: PseudoNormals,
}

/// Where a point is relative to the body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    /// Distance from the surface, negative inside [m].
    pub(super) distance: f32,
    /// The body's triangle nearest to it.
    pub(super) triangle: u32,
    /// Outward direction of the skin there, of no particular length.
    pub(super) outward: Vec3,
}

impl<'a> Wearer<'a> {
    pub(super) fn new(model: &'a dyn BodyModel, body: &'a ShapedBody) -> Self {
        let triangles = model.topology().triangles();
        let tree = TriangleTree::new(triangles, &body.rest);
        let (low, high) = tree.bounds().unwrap_or_default();
        let field = (!model.topology().is_closed()).then(|| WindingField::new(&tree, &body.rest));
        Self {
            model,
            body,
            height: high.y - low.y,
            diagonal: (high - low).length(),
            field,
            normals: PseudoNormals::new(triangles, &body.rest),
            tree,
        }
    }

    pub(super) fn centre(&self) -> Vec3 {
        let (low, high) = self.tree.bounds().unwrap_or_default();
        (low + high) / 2.0
    }

    fn floor(&self) -> f32 {
        self.tree.bounds().map_or(0.0, |b| b.0.y)
    }

    fn is_inside(&self, p: Vec3) -> bool {
        match &self.field {
            Some(field) => field.number(&self.tree, &self.body.rest, p) > 0.5,
            None => self.tree.winding_of_closed(p, &self.body.rest) >= 1,
        }
    }

    /// The distance of `p` from the skin, inside or out [m].
    pub(super) fn distance(&self, p: Vec3) -> f32 {
        self.tree
            .closest_point(p, &self.body.rest, f32::INFINITY)
            .map_or(f32::INFINITY, |closest| closest.distance)
    }

    /// Where `p` [m] is; `None` for a body without triangles.
    pub(super) fn standing(&self, p: Vec3) -> Option<Standing> {
        let closest = self.tree.closest_point(p, &self.body.rest, f32::INFINITY)?;
        let distance = if self.is_inside(p) {
            -closest.distance
        } else {
            closest.distance
        };
        Some(Standing {
            distance,
            triangle: closest.triangle,
            outward: self.normals.at(&closest),
        })
    }
}

/// How near a garment is to its body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Support {
    /// Distance of the nearest vertex, inside or out [m].
    pub(super) nearest: f32,
    /// Share of the vertices that rest on the body.
    pub(super) share: f32,
    /// The same of the upper half alone.
    pub(super) upper_share: f32,
    /// How near is resting on it [m].
    pub(super) limit: f32,
}

impl Support {
    /// Measures the vertices of a garment on its body; those of `unused`, which
    /// are sorted, are left out.
    pub(super) fn of(wearer: &Wearer<'_>, positions: &[Vec3], unused: &[u32]) -> Self {
        let is_used = |v: &usize| unused.binary_search(&(*v as u32)).is_err();
        let used: Vec<Vec3> = (0..positions.len())
            .filter(is_used)
            .map(|v| positions[v])
            .collect();
        let (low, high) = used
            .iter()
            .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), p| {
                (low.min(p.y), high.max(p.y))
            });
        let middle = (low + high) / 2.0;
        let limit = REST_DISTANCE * wearer.height;
        let mut nearest = f32::INFINITY;
        let (mut n_near, mut n_upper, mut n_near_upper) = (0u32, 0u32, 0u32);
        for &p in &used {
            let distance = wearer.distance(p);
            nearest = nearest.min(distance);
            let is_upper = p.y >= middle;
            n_upper += u32::from(is_upper);
            n_near += u32::from(distance <= limit);
            n_near_upper += u32::from(is_upper && distance <= limit);
        }
        Self {
            nearest,
            share: n_near as f32 / used.len().max(1) as f32,
            upper_share: n_near_upper as f32 / n_upper.max(1) as f32,
            limit,
        }
    }

    /// Whether the garment hangs on the body at all.
    pub(super) fn holds(&self) -> bool {
        self.upper_share >= MIN_SUPPORT
    }
}

/// How well a garment is placed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    /// Mean distance from the skin, inside or out [m].
    pub(super) distance: f32,
    /// The same with depth counted more [m].
    cost: f32,
    /// Mean depth [m].
    depth: f32,
    /// Share of the points that are outside and within reach.
    pub(super) worn: f32,
    /// 1 when all triangles face one way as seen from the body.
    sided: f32,
    /// Share of the points within reach, inside or out.
    near: f32,
}

impl Fit {
    fn is_good(&self) -> bool {
        self.worn >= GOOD_WORN && self.sided >= GOOD_SIDED
    }

    fn beats(&self, now: &Self) -> bool {
        let out_of_body = self.depth < GOOD_DEPTH_RATIO * now.depth && self.cost < now.cost;
        self.is_good() && (self.cost < GOOD_COST_RATIO * now.cost || out_of_body)
    }

    pub(super) fn is_worn(&self) -> bool {
        self.worn >= MIN_WORN
    }

    pub(super) fn is_elsewhere(&self) -> bool {
        self.near < LITTLE_NEAR
    }
}

/// A rotation about the world's axes, in words.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) rotation: Mat3,
    pub(super) words: String,
}

/// The change that makes a garment worn.
#[derive(Clone, Debug, Default)]
pub(super) struct Cure {
    /// Factor of the coordinates, as it comes from a mistake in the unit.
    pub(super) scale: Option<Mistake>,
    /// Turn about the origin.
    pub(super) turn: Option<Turn>,
    /// Then move by this [m].
    pub(super) offset: Option<Vec3>,
}

/// A garment's triangles, to be tried on.
pub(super) struct Trial<'a> {
    wearer: &'a Wearer<'a>,
    /// Centres [m] and unit normals.
    samples: Vec<(Vec3, Vec3)>,
    /// The garment's size over the body's.
    size: f32,
}

impl<'a> Trial<'a> {
    pub(super) fn new(wearer: &'a Wearer<'a>, mesh: &TriMesh) -> Self {
        let (low, high) = mesh.bounds();
        let n_triangles = mesh.triangles().len();
        let n = n_triangles.min(N_SAMPLES);
        let sample = |i: usize| {
            let [a, b, c] = mesh.corners((i * n_triangles / n) as u32);
            ((a + b + c) / 3.0, (b - a).cross(c - a).normalize_or_zero())
        };
        Self {
            wearer,
            samples: (0..n).map(sample).collect(),
            size: (high - low).length() / wearer.diagonal,
        }
    }

    /// Whether a garment of that size is rare.
    pub(super) fn is_odd_size(&self) -> bool {
        !COMMON_SIZE.contains(&self.size)
    }

    /// The garment's size over the body's, by the diagonals of their boxes.
    pub(super) fn size(&self) -> f32 {
        self.size
    }

    /// How well the garment fits as it is.
    pub(super) fn fit(&self) -> Fit {
        self.fit_with(1.0, Mat3::IDENTITY, Vec3::ZERO)
    }

    fn fit_with(&self, scale: f32, rotation: Mat3, offset: Vec3) -> Fit {
        let height = self.wearer.height;
        let (mut distance, mut depth) = (0.0, 0.0);
        let (mut n_worn, mut n_away, mut n_facing, mut n_near) = (0, 0, 0, 0);
        let floor = self.wearer.floor() - SLIP * height;
        for &(centre, normal) in &self.samples {
            let p = rotation * (centre * scale) + offset;
            let Some(standing) = self.wearer.standing(p) else {
                continue;
            };
            let d = standing.distance;
            distance += d.clamp(0.0, 10.0 * height);
            depth += (-d).max(0.0);
            depth += (floor - p.y).max(0.0);
            let above = p.y >= floor;
            n_worn += u32::from(above && (-SLIP * height..=REACH * height).contains(&d));
            n_near += u32::from(above && d <= REACH * height);
            let side = (rotation * normal).dot(standing.outward);
            n_away += u32::from(side > 0.0);
            n_facing += u32::from(side < 0.0);
        }
        let n = self.samples.len().max(1) as f32;
        Fit {
            distance: (distance + depth) / n,
            cost: (distance + DEPTH_COST * depth) / n,
            depth: depth / n,
            worn: n_worn as f32 / n,
            sided: u32::abs_diff(n_facing, n_away) as f32 / n,
            near: n_near as f32 / n,
        }
    }

    /// The unit, and if need be the turn, in which the garment is worn.
    pub(super) fn unit(&self) -> Option<Cure> {
        let now = self.fit();
        let mut best: Option<(Fit, Cure)> = None;
        for turn in turns() {
            for mistake in Mistake::ALL {
                let factor = mistake.factor() as f32;
                if !PLAUSIBLE_SIZE.contains(&(self.size * factor)) {
                    continue;
                }
                let fit = self.fit_with(factor, turn.rotation, Vec3::ZERO);
                // A speck lies on the skin as it is: that is no merit.
                let sound = PLAUSIBLE_SIZE.contains(&self.size);
                if !(fit.beats(&now) || !sound && fit.is_good()) {
                    continue;
                }
                // What is worn best counts first: a garment may be loose.
                let better = best.as_ref().is_none_or(|(b, _)| {
                    fit.worn > b.worn + 0.05
                        || (fit.worn >= b.worn - 0.02 && fit.cost < BETTER * b.cost)
                });
                if better {
                    let turn = (!turn.words.is_empty()).then(|| turn.clone());
                    let cure = Cure {
                        scale: Some(mistake),
                        turn,
                        offset: None,
                    };
                    best = Some((fit, cure));
                }
            }
        }
        best.map(|b| b.1)
    }

    /// The turn, the move, or both, that make the garment worn.
    pub(super) fn place(&self) -> Option<Cure> {
        let now = self.fit();
        let mut best: Option<(Fit, Cure)> = None;
        let mut offer = |fit: Fit, cure: Cure| {
            if fit.beats(&now) && best.as_ref().is_none_or(|b| fit.cost < BETTER * b.0.cost) {
                best = Some((fit, cure));
            }
        };
        for turn in turns().into_iter().skip(1) {
            let fit = self.fit_with(1.0, turn.rotation, Vec3::ZERO);
            let turn = Some(turn);
            offer(
                fit,
                Cure {
                    turn,
                    ..Cure::default()
                },
            );
        }
        let (offset, fit) = self.offset(Mat3::IDENTITY);
        if offset.length() > MIN_OFFSET * self.wearer.height {
            let offset = Some(offset);
            offer(
                fit,
                Cure {
                    offset,
                    ..Cure::default()
                },
            );
        }
        if best.is_none() && now.is_elsewhere() {
            let few = self.few();
            for turn in turns().into_iter().skip(1) {
                let (offset, fit) = few.offset(turn.rotation);
                let better = best.as_ref().is_none_or(|b| fit.cost < BETTER * b.0.cost);
                if fit.beats(&now) && better {
                    let cure = Cure {
                        turn: Some(turn),
                        offset: Some(offset),
                        scale: None,
                    };
                    best = Some((fit, cure));
                }
            }
        }
        best.map(|b| b.1)
    }

    /// The same with a quarter of the points.
    fn few(&self) -> Self {
        Self {
            wearer: self.wearer,
            samples: self.samples.iter().copied().step_by(4).collect(),
            size: self.size,
        }
    }

    /// The move after `rotation` at the lowest cost, by steps along the axes
    /// that are halved when none helps.
    fn offset(&self, rotation: Mat3) -> (Vec3, Fit) {
        let n = self.samples.len().max(1) as f32;
        let sum: Vec3 = self.samples.iter().map(|s| rotation * s.0).sum();
        let to_body = self.wearer.centre() - sum / n;
        let height = self.wearer.height;
        let mut best: Option<(Vec3, Fit)> = None;
        // Start where it is and at the lower, middle and upper body.
        let starts = [
            Vec3::ZERO,
            to_body,
            to_body + Vec3::Y * 0.25 * height,
            to_body - Vec3::Y * 0.25 * height,
        ];
        for start in starts {
            let mut offset = start;
            let mut fit = self.fit_with(1.0, rotation, offset);
            let mut step = 0.1 * height;
            while step > 0.004 * height {
                let mut improved = false;
                for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
                    for tried in [offset + axis * step, offset - axis * step] {
                        let tried_fit = self.fit_with(1.0, rotation, tried);
                        if tried_fit.cost < fit.cost {
                            (offset, fit, improved) = (tried, tried_fit, true);
                        }
                    }
                }
                if !improved {
                    step /= 2.0;
                }
            }
            if best.as_ref().is_none_or(|b| fit.cost < b.1.cost) {
                best = Some((offset, fit));
            }
        }
        let (mut offset, mut fit) = best.expect("there are four starts");
        let limit = NOT_WORTH * fit.cost;
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            let simpler = offset - axis * offset;
            let tried = self.fit_with(1.0, rotation, simpler);
            if tried.cost < limit && tried.worn >= fit.worn - 0.01 {
                (offset, fit) = (simpler, tried);
            }
        }
        (offset, fit)
    }
}

/// The 24 turns that carry axes to axes, the one that does nothing first.
pub(super) fn turns() -> Vec<Turn> {
    use core::f32::consts::{FRAC_PI_2, PI};
    let tilts = [
        (Mat3::IDENTITY, ""),
        (
            Mat3::from_rotation_x(-FRAC_PI_2),
            "-90° about X (the file is Z up)",
        ),
        (
            Mat3::from_rotation_x(FRAC_PI_2),
            "90° about X (the file is Z down)",
        ),
        (
            Mat3::from_rotation_z(PI),
            "180° about Z (it is upside down)",
        ),
        (
            Mat3::from_rotation_z(FRAC_PI_2),
            "90° about Z (the file is X up)",
        ),
        (
            Mat3::from_rotation_z(-FRAC_PI_2),
            "-90° about Z (the file is X down)",
        ),
    ];
    let headings = [
        (0.0, ""),
        (PI, "180° about Y (it is back to front)"),
        (FRAC_PI_2, "90° about Y (it faces -X)"),
        (-FRAC_PI_2, "-90° about Y (it faces +X)"),
    ];
    let mut turns = Vec::with_capacity(24);
    for (heading, heading_words) in headings {
        for (tilt, tilt_words) in tilts {
            let words = match (tilt_words, heading_words) {
                ("", "") => String::new(),
                ("", words) | (words, "") => format!("rotate {words}"),
                (first, then) => format!("rotate {first}, then {then}"),
            };
            // Snapped, so that a right angle moves no point by rounding.
            let rotation = Mat3::from_rotation_y(heading) * tilt;
            let cols = rotation.to_cols_array().map(f32::round);
            turns.push(Turn {
                rotation: Mat3::from_cols_array(&cols),
                words,
            });
        }
    }
    turns
}
