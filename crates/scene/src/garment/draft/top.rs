//! Shirts, jackets and dresses: front and back, sewn at sides and shoulders,
//! with or without sleeves, the front in one or open.

use std::f64::consts::{FRAC_PI_2, PI};

use glam::{DVec2, DVec3};

use super::cut::{COARSEST, Cut, Side, curve, reversed, straight};
use super::figure::{Figure, Part, SIDES, sign};
use super::section::{hull, ramp};
use super::sleeve::{Armhole, SleeveStyle, sleeve};
use super::trunk::Trunk;
use super::{DraftError, Fit};
use crate::motion;

/// How a shirt or dress is cut.
pub(super) struct TopStyle {
    /// Height of the hem above the floor [m].
    pub(super) hem: f64,
    /// Room around the trunk, as a radius [m].
    pub(super) ease: f64,
    /// Room at the shoulders, where cloth rests [m].
    pub(super) shoulder: f64,
    /// How straight it hangs from the bust, from 0 (follows the waist) to 1.
    pub(super) hang: f64,
    /// How straight the skirt hangs from the hips, its flare, and the depth of
    /// its folds [1].
    pub(super) skirt: [f64; 3],
    /// The neckline: its drop in front, its distance from the neck at the
    /// sides, and its drop at the back [m].
    pub(super) neck: [f64; 3],
    /// How far the armhole is below the armpit [m].
    pub(super) drop: f64,
    pub(super) front: Front,
    pub(super) sleeve: Option<SleeveStyle>,
}

/// What is in front of the chest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Front {
    /// One panel.
    Closed,
    /// Two, whose edges lie side by side.
    Open,
}

/// Half of what the edges of an open front are apart [rad].
const APART: f64 = 0.05;

/// Room at the shoulders of what is worn on the skin [m].
pub(super) const SHOULDER_ROOM: f64 = 0.008;

pub(super) fn top<'a>(
    figure: &Figure<'_>,
    fit: &Fit,
    style: &TopStyle,
) -> Result<Vec<Cut<'a>>, DraftError> {
    let room = fit.room(style.ease);
    let surface = Trunk::new(figure, style.hem - 0.02)?;
    let (y0, radius, shoulder) = (surface.y0, surface.radius, style.shoulder);
    let surface = surface
        .with_ease(move |_, v| {
            let above = ramp(v / (0.9 * radius));
            room + (shoulder.min(room) - room) * above
        })
        .hanging(y0 - 0.01, style.hang, 0.0)
        .hanging(figure.waist, style.skirt[0], style.skirt[1])
        .folded(figure.hip, style.skirt[2]);
    let hem = style.hem - y0;
    let neck = neckline(figure, &surface, style.neck)?;
    let holes = SIDES.map(|side| Hole::new(figure, &surface, side, style.drop));
    let [left, right] = &holes;
    let has_sleeves = style.sleeve.is_some();
    let armhole = |half: &str, side: &str, line| match has_sleeves {
        true => Side::seam(format!("armhole-{half}-{side}"), line).in_pieces(3),
        false => Side::open(format!("armhole-{side}"), line),
    };
    let mut cuts = Vec::new();
    for name in ["front", "back"] {
        // From the edge at the viewer's left to that at the right.
        let (from, near, far, names) = match name {
            "front" => (-FRAC_PI_2, right, left, ["right", "left"]),
            _ => (FRAC_PI_2, left, right, ["left", "right"]),
        };
        let (centre, to) = (from + FRAC_PI_2, from + PI);
        let at = |theta: f64, v: f64| surface.plan(centre, theta, v);
        let near_hole = curve(|t| {
            let (off, v) = near.at(name, t);
            at(from + off, v)
        });
        let far_hole = curve(|t| {
            let (off, v) = far.at(name, t);
            at(to - off, v)
        });
        let far_sides = [
            Side::seam(
                format!("side-{}", names[1]),
                straight(at(to, hem), at(to, far.bottom)),
            ),
            armhole(name, names[1], far_hole),
            Side::seam(
                format!("shoulder-{}", names[1]),
                curve(|t| at(to, far.top + (neck(to) - far.top) * t)),
            ),
        ];
        let near_sides = [
            Side::seam(
                format!("shoulder-{}", names[0]),
                curve(|t| at(from, neck(from) + (near.top - neck(from)) * t)),
            ),
            armhole(name, names[0], reversed(near_hole)),
            Side::seam(
                format!("side-{}", names[0]),
                straight(at(from, near.bottom), at(from, hem)),
            ),
        ];
        let hem_line = |a: f64, b: f64| Side::open("hem", straight(at(a, hem), at(b, hem)));
        let neck_line = |a: f64, b: f64| {
            let line = curve(|t| {
                let theta = a + (b - a) * t;
                at(theta, neck(theta))
            });
            Side::open("neckline", line)
        };
        let mut push = |name: String, half: f64, sides: Vec<Side>| {
            let surface = surface.clone();
            cuts.push(Cut {
                name,
                sides,
                coarsest: if has_sleeves { 0.105 } else { COARSEST },
                half,
                place: Box::new(move |p: DVec2| surface.place(centre, p)),
            });
        };
        match (name, style.front) {
            ("front", Front::Open) => {
                let edge = |theta: f64| straight(at(theta, hem), at(theta, neck(theta)));
                let (right, left) = (centre - APART, centre + APART);
                let mut sides = vec![
                    hem_line(from, right),
                    Side::open("front-edge", edge(right)),
                    neck_line(right, from),
                ];
                sides.extend(near_sides);
                push("front-right".to_string(), -1.0, sides);
                let mut sides = vec![hem_line(left, to)];
                sides.extend(far_sides);
                sides.push(neck_line(to, left));
                sides.push(Side::open("front-edge", reversed(edge(left))));
                push("front-left".to_string(), 1.0, sides);
            }
            _ => {
                let mut sides = vec![hem_line(from, to)];
                sides.extend(far_sides);
                sides.push(neck_line(to, from));
                sides.extend(near_sides);
                push(name.to_string(), 0.0, sides);
            }
        }
    }
    if let Some(style) = &style.sleeve {
        for (side, hole) in SIDES.into_iter().zip(&holes) {
            let rooms = style.ease.map(|ease| fit.room_of_limb(ease));
            let armhole = hole.in_space(&surface, side);
            cuts.push(sleeve(figure, side, &armhole, style, rooms)?);
        }
    }
    Ok(cuts)
}

/// v of the neckline at every θ: seen from the front, half an ellipse between
/// the two points at the sides of the neck, and at the back another.
fn neckline<'a>(
    figure: &Figure<'_>,
    surface: &Trunk,
    [front, side, back]: [f64; 3],
) -> Result<impl Fn(f64) -> f64 + use<'a>, DraftError> {
    let points = figure.level(figure.neck.y + 0.03, |part, _| part == Part::Head);
    let hull = hull(&points);
    if hull.is_empty() {
        return Err(DraftError::NoSlice { name: "neck" });
    }
    let low = hull.iter().map(|p| p.x).fold(f64::INFINITY, f64::min);
    let high = hull.iter().map(|p| p.x).fold(f64::NEG_INFINITY, f64::max);
    let (middle, half) = (0.5 * (low + high), 0.5 * (high - low) + side);
    let ends = [FRAC_PI_2, -FRAC_PI_2].map(|theta| {
        let v = surface.climb(theta, |p| (p.x - middle).abs() < half);
        surface.at(theta, v).y
    });
    let height = 0.5 * (ends[0] + ends[1]);
    const N: usize = 96;
    let mut line = [0.0; N];
    for (k, v) in line.iter_mut().enumerate() {
        let theta = 2.0 * PI * k as f64 / N as f64;
        let drop = if theta.cos() > 0.0 { front } else { back };
        *v = surface.climb(theta, |p: DVec3| {
            let across = (p.x - middle) / half;
            let down = (height - p.y).max(0.0) / drop;
            across * across + down * down < 1.0
        });
    }
    // Even out what the steps of the search and the skin's relief leave.
    for _ in 0..3 {
        let old = line;
        for k in 0..N {
            line[k] = (old[(k + N - 1) % N] + 2.0 * old[k] + old[(k + 1) % N]) / 4.0;
        }
    }
    Ok(move |theta: f64| {
        let k = theta.rem_euclid(2.0 * PI) / (2.0 * PI) * N as f64;
        let i = k as usize % N;
        line[i] + (line[(i + 1) % N] - line[i]) * (k - k.floor())
    })
}

/// An armhole in the plane of (θ, v): half an ellipse in each panel.
struct Hole {
    bottom: f64,
    top: f64,
    /// Half its width in front and at the back [rad].
    width: [f64; 2],
}

impl Hole {
    fn new(figure: &Figure<'_>, surface: &Trunk, side: motion::Side, drop: f64) -> Self {
        let arm = &figure.arms[side as usize];
        let theta = FRAC_PI_2 * sign(side);
        let tip = (arm.root.x - figure.middle).abs() + 0.004;
        let out = |p: DVec3| (p.x - figure.middle).abs();
        let top = surface.climb(theta, |p| p.y > arm.root.y && out(p) < tip);
        let bottom = figure.armpits[side as usize].y - surface.y0 - drop;
        let v = 0.5 * (top + bottom);
        let width = [-1.0, 1.0].map(|way| {
            let limit = 0.90 * tip;
            let mut off: f64 = 0.35;
            while off < 0.85 && out(surface.at(theta + way * sign(side) * off, v)) > limit {
                off += 0.02;
            }
            off
        });
        Self { bottom, top, width }
    }

    /// The offset from the side [rad] and v at t from 0 below to 1 above.
    fn at(&self, panel: &str, t: f64) -> (f64, f64) {
        let (sin, cos) = (PI * (t - 0.5)).sin_cos();
        let width = self.width[usize::from(panel == "back")];
        let v = 0.5 * (self.top + self.bottom) + 0.5 * (self.top - self.bottom) * sin;
        (width * cos.max(0.0), v)
    }

    fn in_space(&self, surface: &Trunk, side: motion::Side) -> Armhole {
        let half = |panel: &str| {
            let towards = if panel == "front" { -1.0 } else { 1.0 };
            curve(|t| {
                let (off, v) = self.at(panel, t);
                DVec2::new(sign(side) * (FRAC_PI_2 + towards * off), v)
            })
            .into_iter()
            .map(|p| surface.at(p.x, p.y))
            .collect()
        };
        Armhole {
            front: half("front"),
            back: half("back"),
        }
    }
}
