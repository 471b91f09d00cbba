//! [`Sleeve`]: a tube from the armhole down the arm.
//!
//! ```text
//! S(φ, s) = a(s) + ρ(φ, s) (cos φ ρ₀ + sin φ τ),   s₀(φ) ≤ s ≤ s₁
//! ```
//!
//! with a(s) the arm's axis from shoulder by elbow to wrist, ρ₀ towards the
//! armpit and τ across. The armhole is a loop (φ, s₀, ρ); from it the radius
//! goes over into that of the arm's sections and its ease.

use std::f64::consts::TAU;

use glam::{DVec2, DVec3};

use super::DraftError;
use super::cut::{Cut, Side, straight};
use super::figure::{Figure, Part};
use super::section::{Table, hull, radii, ramp};
use crate::motion;

/// How a sleeve is cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct SleeveStyle {
    /// Its end, as a share of the way from shoulder to wrist.
    pub(super) end: f64,
    /// Room at the top and at the cuff, as a radius [m].
    pub(super) ease: [f64; 2],
}

/// Between sections [m].
const STEP: f64 = 0.01;

/// Over so much of the arm the bend of the elbow is spread, either way [m].
const ELBOW: f64 = 0.06;

/// Over so much the armhole goes over into the arm's own section [m].
const BLEND: f64 = 0.13;

#[derive(Clone)]
struct Sleeve {
    root: DVec3,
    elbow: DVec3,
    upper: DVec3,
    fore: DVec3,
    armpit_way: DVec3,
    table: Table,
    /// The armhole: φ rising by a turn, s₀ and ρ.
    hole: Vec<[f64; 3]>,
    blend: f64,
}

impl Sleeve {
    /// The axis and its direction at s; a parabola rounds the elbow.
    fn axis(&self, s: f64) -> (DVec3, DVec3) {
        let beyond = s - self.root.distance(self.elbow);
        let t = ((beyond + ELBOW) / (2.0 * ELBOW)).clamp(0.0, 1.0);
        let along = self.upper.lerp(self.fore, t).normalize();
        let at = if beyond < -ELBOW {
            self.elbow + self.upper * beyond
        } else if beyond > ELBOW {
            self.elbow + self.fore * beyond
        } else {
            self.elbow + (self.fore * (t * t) - self.upper * ((1.0 - t) * (1.0 - t))) * ELBOW
        };
        (at, along)
    }

    /// The axis at s with the directions ρ₀ and τ.
    fn ring(&self, s: f64) -> (DVec3, DVec3, DVec3) {
        let (at, along) = self.axis(s);
        let rho = (self.armpit_way - along * self.armpit_way.dot(along)).normalize();
        (at, rho, -along.cross(rho))
    }

    /// s₀ and ρ of the armhole at φ.
    fn hole_at(&self, phi: f64) -> (f64, f64) {
        let first = self.hole[0][0];
        let phi = phi.clamp(first, first + TAU);
        let i = self
            .hole
            .partition_point(|h| h[0] < phi)
            .clamp(1, self.hole.len() - 1);
        let ([p0, s0, r0], [p1, s1, r1]) = (self.hole[i - 1], self.hole[i]);
        let t = ((phi - p0) / (p1 - p0).max(1e-9)).clamp(0.0, 1.0);
        (s0 + (s1 - s0) * t, r0 + (r1 - r0) * t)
    }

    fn at(&self, phi: f64, s: f64) -> DVec3 {
        let (start, hole) = self.hole_at(phi);
        let t = ramp((s - start) / self.blend);
        let r = hole + (self.table.at(phi, s) - hole) * t;
        let (at, rho, tau) = self.ring(s);
        let (sin, cos) = phi.sin_cos();
        at + (rho * cos + tau * sin) * r
    }
}

/// The armhole of a side in space, closed: from the armpit by the half that is
/// sewn to the panel of the first name, over the shoulder, and back by the
/// other half.
pub(super) struct Armhole {
    pub(super) front: Vec<DVec3>,
    pub(super) back: Vec<DVec3>,
}

/// The sleeve of one side. Seams are called `armhole-front-left` and so on.
pub(super) fn sleeve<'a>(
    figure: &Figure<'_>,
    side: motion::Side,
    armhole: &Armhole,
    style: &SleeveStyle,
    room: [f64; 2],
) -> Result<Cut<'a>, DraftError> {
    let arm = &figure.arms[side as usize];
    let name = match side {
        motion::Side::Left => "left",
        motion::Side::Right => "right",
    };
    let (upper, fore) = (
        (arm.middle - arm.root).normalize(),
        (arm.end - arm.middle).normalize(),
    );
    let lengths = [arm.root.distance(arm.middle), arm.middle.distance(arm.end)];
    let armpit = armhole.front[0];
    let mut sleeve = Sleeve {
        root: arm.root,
        elbow: arm.middle,
        upper,
        fore,
        armpit_way: (armpit - arm.root).normalize_or(-DVec3::Y),
        table: Table {
            rows: Vec::new(),
            start: 0.0,
            step: STEP,
        },
        hole: Vec::new(),
        blend: BLEND,
    };
    let (_, rho, tau) = sleeve.ring(0.0);
    let cylindrical = |p: DVec3| {
        let from = p - arm.root;
        let s = from.dot(upper);
        let (x, y) = (from.dot(tau), from.dot(rho));
        [x.atan2(y), s, x.hypot(y)]
    };
    // Around the arm with φ rising: by the front on the left, by the back on
    // the right.
    let front_first = tau.z > 0.0;
    let (first, second) = match front_first {
        true => (&armhole.front, &armhole.back),
        false => (&armhole.back, &armhole.front),
    };
    let mut hole: Vec<[f64; 3]> = Vec::new();
    for &p in first.iter().chain(second.iter().rev().skip(1)) {
        let mut at = cylindrical(p);
        if let Some(last) = hole.last() {
            while at[0] < last[0] - 0.5 * TAU {
                at[0] += TAU;
            }
            at[0] = at[0].max(last[0] + 1e-6);
        }
        hole.push(at);
    }
    let n_first = first.len();
    let begin = hole[0][0];
    if let Some(last) = hole.last_mut() {
        last[0] = begin + TAU;
    }
    sleeve.hole = hole;
    let deepest = sleeve.hole.iter().map(|h| h[1]).fold(0.0, f64::max);
    let end = (style.end * (lengths[0] + lengths[1])).max(deepest + 0.03);
    sleeve.blend = BLEND.min(end - deepest).max(0.03);
    // Sections start where the whole ring is arm.
    let from = cylindrical(figure.armpits[side as usize])[1] + 0.03;
    let n = ((end + 0.02) / STEP).ceil() as usize + 1;
    let table = Table::fill(0.0, STEP, n, |s| {
        if s < from {
            return None;
        }
        let (at, rho, tau) = sleeve.ring(s);
        let hull = hull(&figure.slice(at, tau, rho, |part, _| part == Part::Arm(side)));
        let mut radii = radii(&hull, DVec2::ZERO)?;
        let t = (s / end).clamp(0.0, 1.0);
        let ease = room[0] + (room[1] - room[0]) * t;
        radii.iter_mut().for_each(|r| *r += ease);
        Some(radii)
    });
    sleeve.table = table.ok_or(DraftError::NoSlice { name: "arm" })?;
    sleeve.table.smooth(2);
    let radius = {
        let row = &sleeve.table.rows[n / 2];
        row.iter().sum::<f64>() / row.len() as f64
    };
    let plan = |phi: f64, s: f64| DVec2::new(radius * (phi - begin), -s);
    let cap: Vec<DVec2> = sleeve.hole.iter().map(|h| plan(h[0], h[1])).collect();
    let (rising, falling) = match front_first {
        true => ("front", "back"),
        false => ("back", "front"),
    };
    let (start, turn) = (sleeve.hole[0][1], begin + TAU);
    let stop = sleeve.hole[sleeve.hole.len() - 1][1];
    let mut second_half = cap[n_first - 1..].to_vec();
    second_half.reverse();
    let mut first_half = cap[..n_first].to_vec();
    first_half.reverse();
    let underarm = format!("underarm-{name}");
    let sides = vec![
        Side::open(
            format!("cuff-{name}"),
            straight(plan(begin, end), plan(turn, end)),
        )
        .in_pieces(5),
        Side::seam(&underarm, straight(plan(turn, end), plan(turn, stop))),
        Side::seam(format!("armhole-{falling}-{name}"), second_half),
        Side::seam(format!("armhole-{rising}-{name}"), first_half),
        Side::seam(&underarm, straight(plan(begin, start), plan(begin, end))),
    ];
    let girth =
        TAU * sleeve.table.rows[n - 1].iter().sum::<f64>() / sleeve.table.rows[0].len() as f64;
    Ok(Cut {
        name: format!("sleeve-{name}"),
        sides,
        // Between the two sides of its own seam there are vertices of its own.
        coarsest: (girth / 3.2).min(0.075),
        half: 0.0,
        place: Box::new(move |p: DVec2| sleeve.at(begin + p.x / radius, -p.y)),
    })
}
