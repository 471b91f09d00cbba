//! Trousers: a front and a back for each leg, sewn at outseams, inseams and
//! along the crotch.
//!
//! Each leg is a stack of horizontal sections, seen from its middle. Above the
//! crotch a section is half the hull of the hips, cut off by the plane of
//! symmetry; below it is the hull of the leg; between the two it goes from one
//! to the other over [`BLEND`]. A panel has the hips above the crotch and a
//! hook under it, as in pattern cutting.

use std::f64::consts::{FRAC_PI_2, PI};

use glam::{DVec2, DVec3};

use super::cut::{COARSEST, Cut, Side, curve, straight};
use super::figure::{Figure, SIDES, sign};
use super::section::{N_RAYS, Table, hull, radii, ramp};
use super::{DraftError, Fit};
use crate::motion;

/// How trousers are cut.
pub(super) struct TrouserStyle {
    /// Room around the hips and around the thighs, as a radius [m].
    pub(super) ease: [f64; 2],
    /// Room around the knee; the leg falls straight from there [m].
    pub(super) knee: f64,
    /// Height of the hem above the floor [m].
    pub(super) hem: f64,
}

/// Between sections [m].
const STEP: f64 = 0.01;

/// From so much above the crotch to so much below it a section becomes that of
/// the leg [m]; so the seam of the crotch is round.
const BLEND: [f64; 2] = [0.07, 0.07];

/// The crotch seam is so far below the body [m].
const CROTCH_ROOM: f64 = 0.012;

#[derive(Clone)]
struct Leg {
    /// Radii of the hips' hull and of the leg's, around `centres`.
    hips: Table,
    leg: Table,
    /// Middles of the leg as (x, z) [m], a row each.
    centres: Vec<DVec2>,
    /// The plane of symmetry, and the way from it to this leg.
    middle: f64,
    way: f64,
    /// Height of the crotch seam [m].
    crotch: f64,
}

impl Leg {
    fn centre(&self, y: f64) -> DVec2 {
        let t = ((y - self.hips.start) / STEP).clamp(0.0, (self.centres.len() - 1) as f64);
        let i = (t as usize).min(self.centres.len() - 2);
        self.centres[i].lerp(self.centres[i + 1], t - i as f64)
    }

    /// How far a ray from the middle goes before it is `gap` from the plane of
    /// symmetry [m].
    fn clip(&self, centre: DVec2, psi: f64, gap: f64) -> f64 {
        let speed = -psi.sin() * self.way;
        if speed <= 1e-6 {
            return f64::INFINITY;
        }
        (((centre.x - self.middle) * self.way - gap) / speed).max(0.0)
    }

    /// The radius without the plane of symmetry [m].
    fn radius(&self, psi: f64, y: f64) -> f64 {
        let (hips, leg) = (self.hips.at(psi, y), self.leg.at(psi, y));
        let share = ramp((y - self.crotch + BLEND[1]) / (BLEND[0] + BLEND[1]));
        leg + (hips - leg) * share
    }

    fn at(&self, psi: f64, y: f64) -> DVec3 {
        let centre = self.centre(y);
        let below = (self.crotch - y).max(0.0);
        let gap = 0.002 * ramp(below / 0.01) + 0.05 * below.min(0.2);
        let r = self.radius(psi, y).min(self.clip(centre, psi, gap));
        DVec3::new(centre.x + r * psi.sin(), y, centre.y + r * psi.cos())
    }

    /// The ψ, on the way from the outside `out` to the inside `inner`, where
    /// the hips meet the plane of symmetry.
    fn centre_line(&self, out: f64, inner: f64, y: f64) -> f64 {
        let centre = self.centre(y);
        let meets = |psi: f64| self.radius(psi, y) >= self.clip(centre, psi, 0.0);
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..40 {
            let t = 0.5 * (low + high);
            if meets(out + (inner - out) * t) {
                high = t;
            } else {
                low = t;
            }
        }
        out + (inner - out) * high
    }
}

fn leg(
    figure: &Figure<'_>,
    fit: &Fit,
    style: &TrouserStyle,
    side: motion::Side,
    waist: f64,
) -> Result<Leg, DraftError> {
    let missing = DraftError::NoSlice { name: "leg" };
    let start = style.hem - 2.0 * STEP;
    let n = ((waist - start) / STEP).ceil() as usize + 3;
    let crotch = figure.crotch - CROTCH_ROOM;
    let limit = crotch - 0.02;
    let highest = figure
        .leg_level(side, limit)
        .ok_or_else(|| missing.clone())?
        .1;
    let mut centres: Vec<DVec2> = (0..n)
        .map(|i| {
            let y = start + STEP * i as f64;
            match figure.leg_level(side, y) {
                Some((_, at)) if y < limit => at,
                _ => highest,
            }
        })
        .collect();
    for _ in 0..8 {
        let old = centres.clone();
        for i in 1..n - 1 {
            centres[i] = (old[i - 1] + old[i] * 2.0 + old[i + 1]) / 4.0;
        }
    }
    let [hip_room, thigh_room] = [fit.room(style.ease[0]), fit.room_of_limb(style.ease[1])];
    let mut row = 0;
    let mut hips = Table::fill(start, STEP, n, |y| {
        let i = row;
        row += 1;
        let hull = hull(&figure.level(y, |part, p| figure.is_trunk(part, p)));
        let mut radii = radii(&hull, centres[i])?;
        // The waistband lies on the body whatever the size.
        let below = ramp((waist - y) / 0.12);
        let room = 0.007 + (hip_room - 0.007) * below;
        radii.iter_mut().for_each(|r| *r += room);
        Some(radii)
    })
    .ok_or_else(|| missing.clone())?;
    let mut row = 0;
    let mut leg = Table::fill(start, STEP, n, |y| {
        let i = row;
        row += 1;
        let (hull, _) = figure.leg_level(side, y).filter(|_| y < limit)?;
        let mut radii = radii(&hull, centres[i])?;
        radii.iter_mut().for_each(|r| *r += thigh_room);
        Some(radii)
    })
    .ok_or(missing)?;
    straighten(
        &mut leg,
        figure.legs[side as usize].middle.y,
        fit.room_of_limb(style.knee) - thigh_room,
    );
    hips.smooth(2);
    leg.smooth(3);
    Ok(Leg {
        hips,
        leg,
        centres,
        middle: figure.middle,
        way: sign(side),
        crotch,
    })
}

/// Widens a leg towards the knee by `room` and lets it fall from there.
fn straighten(leg: &mut Table, knee: f64, room: f64) {
    let row = ((knee - leg.start) / STEP).round().max(0.0) as usize;
    let Some(at_knee) = leg.rows.get(row) else {
        return;
    };
    let radius = at_knee.iter().sum::<f64>() / N_RAYS as f64 + room;
    for i in 0..leg.rows.len() {
        let y = leg.place(i);
        let share = 1.0 - ramp((y - knee) / 0.25);
        for r in &mut leg.rows[i] {
            *r += (radius.max(*r) - *r) * share;
        }
    }
}

pub(super) fn trousers<'a>(
    figure: &Figure<'_>,
    fit: &Fit,
    style: &TrouserStyle,
) -> Result<Vec<Cut<'a>>, DraftError> {
    let waist = figure.waist - 0.02;
    let mut cuts = Vec::new();
    for side in SIDES {
        let leg = leg(figure, fit, style, side, waist)?;
        let name = match side {
            motion::Side::Left => "left",
            motion::Side::Right => "right",
        };
        for half in ["front", "back"] {
            cuts.push(panel(&leg, side, name, half, waist, style.hem));
        }
    }
    Ok(cuts)
}

fn panel<'a>(
    leg: &Leg,
    side: motion::Side,
    name: &str,
    half: &str,
    waist: f64,
    hem: f64,
) -> Cut<'a> {
    // ψ at the viewer's left and right.
    let from = if half == "front" {
        -FRAC_PI_2
    } else {
        FRAC_PI_2
    };
    let to = from + PI;
    let centre = from + FRAC_PI_2;
    // The left leg has its inside at the viewer's left in front.
    let inner_first = (side == motion::Side::Left) == (half == "front");
    let (inner, outer) = if inner_first { (from, to) } else { (to, from) };
    let radius = 0.095;
    let plan = |psi: f64, y: f64| DVec2::new(radius * (psi - centre), y);
    let crotch = leg.crotch;
    let line = |y: f64| leg.centre_line(outer, inner, y);
    let cuff = Side::open(
        format!("cuff-{name}"),
        straight(plan(from, hem), plan(to, hem)),
    )
    .in_pieces(3);
    let outseam = |up: bool| {
        let ends = [plan(outer, hem), plan(outer, waist)];
        let [a, b] = if up { ends } else { [ends[1], ends[0]] };
        Side::seam(format!("outseam-{name}"), straight(a, b))
    };
    let inseam = |up: bool| {
        let ends = [plan(inner, hem), plan(inner, crotch)];
        let [a, b] = if up { ends } else { [ends[1], ends[0]] };
        Side::seam(format!("inseam-{name}"), straight(a, b))
    };
    let seat = |up: bool| {
        let at = |t: f64| {
            let y = crotch + (waist - crotch) * t;
            plan(line(y), y)
        };
        Side::seam(
            format!("centre-{half}"),
            curve(|t| at(if up { t } else { 1.0 - t })),
        )
    };
    let hook = |inwards: bool| {
        let ends = [plan(line(crotch), crotch), plan(inner, crotch)];
        let [a, b] = if inwards { ends } else { [ends[1], ends[0]] };
        Side::seam(format!("crotch-{half}"), straight(a, b))
    };
    let band =
        |a: f64, b: f64| Side::open("pin-waistband", straight(plan(a, waist), plan(b, waist)));
    let sides = if inner_first {
        vec![
            cuff,
            outseam(true),
            band(outer, line(waist)),
            seat(false),
            hook(true),
            inseam(false),
        ]
    } else {
        vec![
            cuff,
            inseam(true),
            hook(false),
            seat(true),
            band(line(waist), outer),
            outseam(false),
        ]
    };
    let leg = leg.clone();
    Cut {
        name: format!("{half}-{name}"),
        sides,
        coarsest: COARSEST,
        half: sign(side),
        place: Box::new(move |p: DVec2| leg.at(centre + p.x / radius, p.y)),
    }
}
