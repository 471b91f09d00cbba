//! [`Trunk`]: the surface on which cloth lies around the trunk.
//!
//! Up to the armpits the surface is a stack of horizontal sections around a
//! vertical axis. Above, it is seen from a point O on the axis at the height
//! of the armpits, along rays that rise over chest and shoulders to the neck:
//!
//! ```text
//! v ≤ 0   F(θ, v) = A(y₀ + v) + r(θ, v) (sin θ, 0, cos θ)
//! v > 0   F(θ, v) = O + r(θ, v) (cos φ sin θ, sin φ, cos φ cos θ),   φ = v / R
//! ```
//!
//! θ is 0 in front and π/2 at the body's left. In the plan, x = R (θ − θ₀), times
//! cos φ above the armpits.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use glam::{DVec2, DVec3};

use super::DraftError;
use super::figure::Figure;
use super::section::{N_RAYS, Table, hull, middle, radii, ramp, reach};

/// Between rows of the table [m], along v.
const STEP: f64 = 0.01;

/// Folds around a wide skirt; a side seam lies on the flank of one.
const N_FOLDS: f64 = 9.0;

/// The surface around the trunk.
#[derive(Clone)]
pub(super) struct Trunk {
    table: Table,
    /// z of the axis at each row [m].
    axis: Vec<f64>,
    x: f64,
    /// Height of O [m].
    pub(super) y0: f64,
    /// The plan's length of a radian [m].
    pub(super) radius: f64,
}

impl Trunk {
    /// The bare surface from height `low` up [m].
    pub(super) fn new(figure: &Figure<'_>, low: f64) -> Result<Self, DraftError> {
        let y0 = figure.armpit();
        let n_below = ((y0 - low) / STEP).ceil().max(1.0) as usize + 1;
        let start = -(n_below as f64) * STEP;
        let x = figure.middle;
        let counts = |part, p: DVec3| figure.is_trunk(part, p);
        let hulls: Vec<Vec<DVec2>> = (0..=n_below)
            .map(|i| hull(&figure.level(y0 + start + STEP * i as f64, counts)))
            .collect();
        let mut axis: Vec<f64> = hulls
            .iter()
            .map(|h| if h.is_empty() { f64::NAN } else { middle(h).y })
            .collect();
        let known = axis.iter().copied().find(|z| z.is_finite());
        let mut last = known.ok_or(DraftError::NoSlice { name: "trunk" })?;
        for z in &mut axis {
            if !z.is_finite() {
                *z = last;
            }
            last = *z;
        }
        for _ in 0..12 {
            let old = axis.clone();
            for i in 0..axis.len() {
                let (a, b) = (old[i.saturating_sub(1)], old[(i + 1).min(old.len() - 1)]);
                axis[i] = (a + 2.0 * old[i] + b) / 4.0;
            }
        }
        let top = axis[n_below];
        let radius = 0.16;
        let n_above = (radius * FRAC_PI_2 / STEP) as usize;
        let fans = fans(figure, DVec3::new(x, y0, top));
        axis.extend(std::iter::repeat_n(top, n_above));
        let mut row = 0;
        let table = Table::fill(start, STEP, n_below + n_above + 1, |v| {
            let i = row;
            row += 1;
            if v <= 1e-9 {
                let below = radii(&hulls[i], DVec2::new(x, axis[i]))?;
                return Some(below);
            }
            let level = radii(&hulls[n_below], DVec2::new(x, top))?;
            let phi = v / radius;
            let mut out = [0.0; N_RAYS];
            for (k, r) in out.iter_mut().enumerate() {
                let along = DVec2::from_angle(phi);
                let fan = reach(&fans[k], DVec2::ZERO, along)?;
                // The level's hull also bridges what the fan's does not.
                let t = ramp(phi / 0.5);
                *r = (level[k] / along.x.max(0.2)).min(fan.max(level[k])) * (1.0 - t) + fan * t;
            }
            Some(out)
        })
        .ok_or(DraftError::NoSlice { name: "trunk" })?;
        Ok(Self {
            table,
            axis,
            x,
            y0,
            radius,
        })
    }

    /// Adds `ease(v)` to the radius everywhere [m] and evens it out.
    pub(super) fn with_ease(mut self, ease: impl Fn(f64, f64) -> f64) -> Self {
        self.table.smooth(2);
        for i in 0..self.table.rows.len() {
            let v = self.table.place(i);
            for (k, r) in self.table.rows[i].iter_mut().enumerate() {
                *r += ease(TAU * k as f64 / N_RAYS as f64, v);
            }
        }
        self
    }

    /// Lets cloth below height `y` hang from what is widest above it: by the
    /// share `hang` of the way, and `flare` wider per metre of drop.
    pub(super) fn hanging(mut self, y: f64, hang: f64, flare: f64) -> Self {
        let mut widest = [0.0f64; N_RAYS];
        let mut last_axis = None;
        for i in (0..self.table.rows.len()).rev() {
            let place = self.table.place(i);
            if place > y - self.y0 {
                continue;
            }
            let drop = y - self.y0 - place;
            // The axis moves; what hangs does not.
            let shift = last_axis.map_or(0.0, |z: f64| self.axis[i] - z);
            last_axis = Some(self.axis[i]);
            let row = self.table.rows[i].iter_mut();
            for (k, (r, widest)) in row.zip(&mut widest).enumerate() {
                let cos = (TAU * k as f64 / N_RAYS as f64).cos();
                *widest = (*widest - shift * cos).max(*r);
                *r += (*widest - *r) * hang + flare * drop;
            }
        }
        self.table.smooth(2);
        self
    }

    /// Lays the cloth below height `y` into soft folds, `depth` deep per metre
    /// of drop.
    pub(super) fn folded(mut self, y: f64, depth: f64) -> Self {
        for i in 0..self.table.rows.len() {
            let drop = (y - self.y0 - self.table.place(i)).max(0.0);
            // Without a kink where folds begin.
            let deep = depth * drop * ramp(drop / 0.2);
            for (k, r) in self.table.rows[i].iter_mut().enumerate() {
                let theta = TAU * k as f64 / N_RAYS as f64;
                *r += deep * (N_FOLDS * theta).cos();
            }
        }
        self
    }

    /// The point at angle θ and place v [m].
    pub(super) fn at(&self, theta: f64, v: f64) -> DVec3 {
        let r = self.table.at(theta, v);
        let (sin, cos) = theta.sin_cos();
        if v <= 0.0 {
            let t = ((v - self.table.start) / STEP).clamp(0.0, (self.axis.len() - 1) as f64);
            let i = (t as usize).min(self.axis.len() - 2);
            let z = self.axis[i] + (self.axis[i + 1] - self.axis[i]) * (t - i as f64);
            DVec3::new(self.x + r * sin, self.y0 + v, z + r * cos)
        } else {
            let (up, out) = (v / self.radius).sin_cos();
            let z = self.axis[self.axis.len() - 1];
            DVec3::new(self.x + r * out * sin, self.y0 + r * up, z + r * out * cos)
        }
    }

    /// The point of a plan whose middle is at θ = `centre`.
    pub(super) fn place(&self, centre: f64, plan: DVec2) -> DVec3 {
        let theta = centre + plan.x / (self.radius * self.narrowing(plan.y));
        self.at(theta, plan.y)
    }

    /// The plan's point for θ and v.
    pub(super) fn plan(&self, centre: f64, theta: f64, v: f64) -> DVec2 {
        DVec2::new(self.radius * self.narrowing(v) * (theta - centre), v)
    }

    /// How much narrower the surface is above the armpits.
    fn narrowing(&self, v: f64) -> f64 {
        (v.max(0.0) / self.radius).cos().max(0.3)
    }

    /// The largest v.
    pub(super) fn top(&self) -> f64 {
        self.radius * (FRAC_PI_2 - 0.05)
    }

    /// The first v on the way up at θ where `is_past` holds.
    pub(super) fn climb(&self, theta: f64, is_past: impl Fn(DVec3) -> bool) -> f64 {
        let n = 400;
        for i in 0..=n {
            let v = self.top() * f64::from(i) / f64::from(n);
            if is_past(self.at(theta, v)) {
                return v;
            }
        }
        self.top()
    }
}

/// Hulls of the slices through a vertical line at `o`, one for each ray, as
/// (distance from the line, height above `o`).
fn fans(figure: &Figure<'_>, o: DVec3) -> Vec<Vec<DVec2>> {
    let below = o.y - 0.05;
    let counts = |part, p: DVec3| p.y >= below && figure.is_trunk(part, p);
    (0..N_RAYS)
        .map(|k| {
            let (sin, cos) = (PI * 2.0 * k as f64 / N_RAYS as f64).sin_cos();
            let along = DVec3::new(sin, 0.0, cos);
            hull(&figure.slice(o, along, DVec3::Y, counts))
        })
        .collect()
}
