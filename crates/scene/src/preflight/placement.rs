//! Whether a garment is where its body is: size, axes, offset, sides, depth.
//!
//! How well a garment fits is judged by a sample of its vertices:
//!
//! ```text
//! cost = mean of (distance outside the body, or 4 × depth inside it)
//! worn = share of the vertices that are outside, within reach of the body
//! ```
//!
//! A garment that is not worn is tried in other units, turned about the axes
//! and moved; a change that makes it worn at less than half the cost is named
//! as the cure. A garment that is worn as it is is never doubted.
//!
//! Lengths are shares of the body's height, so that a doll is judged like a
//! giant.

use drapery_core::{BodyModel, PseudoNormals, ShapedBody, TriangleTree, WindingField};
use glam::{Mat3, Vec3};

/// Cloth further from the body than this is not worn [body heights]: 33 cm for
/// an adult, the hem of a wide skirt.
const REACH: f32 = 0.2;

/// A vertex may be this deep inside and still be worn [body heights]: 5 mm for
/// an adult, a slip of modelling rather than of placement.
const SLIP: f32 = 0.003;

/// A garment with a smaller share worn is tried otherwise. Trying is safe: a
/// gown whose hem is out of reach is not worn better in any other way.
const MIN_WORN: f32 = 0.95;

/// What another placement must bring to be named as the cure.
const GOOD_WORN: f32 = 0.85;
const GOOD_COST_RATIO: f32 = 0.5;

/// A simpler placement is kept unless another has less than this of its cost.
const BETTER: f32 = 0.9;

/// Depth counts more than distance, or a garment would fit best inside the body.
const DEPTH_COST: f32 = 4.0;

/// Sizes of a garment over that of its body (diagonals of their boxes): from a
/// bow tie to a gown with a train.
pub(super) const PLAUSIBLE_SIZE: core::ops::RangeInclusive<f32> = 0.03..=1.6;

/// Units that files are in by mistake: factor to metres, and name.
pub(super) const UNITS: [(f32, &str); 8] = [
    (0.01, "the file is in centimetres"),
    (0.001, "the file is in millimetres"),
    (0.0254, "the file is in inches"),
    (0.1, "the file is in decimetres"),
    (0.3048, "the file is in feet"),
    (100.0, "it was divided by 100 once too often"),
    (1000.0, "it was divided by 1000 once too often"),
    (10.0, "it was divided by 10 once too often"),
];

/// How many vertices a placement is judged by: enough for shares to the
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

    fn is_inside(&self, p: Vec3) -> bool {
        match &self.field {
            Some(field) => field.number(&self.tree, &self.body.rest, p) > 0.5,
            None => self.tree.winding_of_closed(p, &self.body.rest) >= 1,
        }
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
        })
    }

    /// Whether a triangle's normal at `p` [m] points away from the body, and
    /// `None` out of reach or on the skin, where that says nothing.
    pub(super) fn faces_away(&self, p: Vec3, normal: Vec3) -> Option<bool> {
        let closest = self
            .tree
            .closest_point(p, &self.body.rest, REACH * self.height)?;
        let outward = self.normals.at(&closest).try_normalize()?;
        Some(normal.dot(outward) > 0.0)
    }
}

/// How well a garment is placed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    /// Mean distance [m], depth counted more.
    pub(super) cost: f32,
    /// Share of the vertices that are outside and within reach.
    pub(super) worn: f32,
}

impl Fit {
    fn beats(&self, other: &Self) -> bool {
        self.worn >= GOOD_WORN && self.cost < GOOD_COST_RATIO * other.cost
    }

    pub(super) fn is_worn(&self) -> bool {
        self.worn >= MIN_WORN
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
    /// Factor of the coordinates, with the unit it is known by.
    pub(super) scale: Option<(f32, &'static str)>,
    /// Turn about the origin.
    pub(super) turn: Option<Turn>,
    /// Then move by this [m].
    pub(super) offset: Option<Vec3>,
}

/// A garment's vertices, to be tried on.
pub(super) struct Trial<'a> {
    wearer: &'a Wearer<'a>,
    samples: Vec<Vec3>,
}

impl<'a> Trial<'a> {
    pub(super) fn new(wearer: &'a Wearer<'a>, vertices: &[Vec3]) -> Self {
        let n = vertices.len().clamp(1, N_SAMPLES);
        let samples = (0..n.min(vertices.len()))
            .map(|i| vertices[i * vertices.len() / n])
            .collect();
        Self { wearer, samples }
    }

    /// How well the garment fits as it is.
    pub(super) fn fit(&self) -> Fit {
        self.fit_of(|p| p)
    }

    fn fit_of(&self, place: impl Fn(Vec3) -> Vec3) -> Fit {
        let (mut cost, mut n_worn) = (0.0, 0);
        let height = self.wearer.height;
        for &p in &self.samples {
            let Some(standing) = self.wearer.standing(place(p)) else {
                continue;
            };
            let d = standing.distance;
            cost += if d >= 0.0 {
                d.min(10.0 * height)
            } else {
                -DEPTH_COST * d
            };
            n_worn += u32::from((-SLIP * height..=REACH * height).contains(&d));
        }
        let n = self.samples.len().max(1) as f32;
        Fit {
            cost: cost / n,
            worn: n_worn as f32 / n,
        }
    }

    /// The unit, and if need be the turn, in which a garment of that size
    /// relative to the body is worn.
    pub(super) fn unit(&self, size: f32) -> Cure {
        let mut best: Option<(Fit, Cure)> = None;
        for turn in turns() {
            for unit in UNITS {
                if !PLAUSIBLE_SIZE.contains(&(size * unit.0)) {
                    continue;
                }
                let fit = self.fit_of(|p| turn.rotation * (p * unit.0));
                if best.as_ref().is_none_or(|b| fit.cost < BETTER * b.0.cost) {
                    let turn = (!turn.words.is_empty()).then(|| turn.clone());
                    let cure = Cure {
                        scale: Some(unit),
                        turn: turn.filter(|_| fit.worn >= GOOD_WORN),
                        offset: None,
                    };
                    best = Some((fit, cure));
                }
            }
        }
        best.map(|b| b.1).unwrap_or_default()
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
            let fit = self.fit_of(|p| turn.rotation * p);
            let cure = Cure {
                turn: Some(turn),
                ..Cure::default()
            };
            offer(fit, cure);
        }
        if let Some((_, cure)) = best {
            return Some(cure);
        }
        let mut best: Option<(Fit, Cure)> = None;
        for turn in turns() {
            let (offset, fit) = self.offset(turn.rotation);
            if fit.beats(&now) && best.as_ref().is_none_or(|b| fit.cost < BETTER * b.0.cost) {
                let simple = turn.words.is_empty();
                let cure = Cure {
                    turn: (!simple).then_some(turn),
                    offset: Some(offset),
                    scale: None,
                };
                best = Some((fit, cure));
                if simple {
                    break; // a move alone is enough
                }
            }
        }
        best.map(|b| b.1)
    }

    /// The move after `rotation` at the lowest cost, by steps along the axes
    /// that are halved when none helps.
    fn offset(&self, rotation: Mat3) -> (Vec3, Fit) {
        let n = self.samples.len().max(1) as f32;
        let centre: Vec3 = self.samples.iter().map(|&p| rotation * p).sum::<Vec3>() / n;
        let to_body = self.wearer.centre() - centre;
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
            let mut fit = self.fit_of(|p| rotation * p + offset);
            let mut step = 0.1 * height;
            while step > 0.004 * height {
                let mut improved = false;
                for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
                    for direction in [axis * step, -axis * step] {
                        let tried = self.fit_of(|p| rotation * p + offset + direction);
                        if tried.cost < fit.cost {
                            (offset, fit, improved) = (offset + direction, tried, true);
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
        best.expect("there are four starts")
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
