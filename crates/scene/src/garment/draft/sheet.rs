//! Capes and ponchos: sheets that hang over shoulders and arms.
//!
//! A ridge runs from neck to arm over the top of both. On either side of it the
//! cloth goes down in planes x = const: around a quarter of an ellipse over the
//! shoulder or the arm, then straight, in front of all that is above or beside
//! it (running hulls of level slices).
//!
//! In the plan, x is that of the body and y the ridge's height less the way
//! down from it.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use glam::{DVec2, DVec3};

use super::cut::{COARSEST, Cut, Side, curve, straight};
use super::figure::{Figure, Part};
use super::section::{cubic, hull, ramp, reach};
use super::{DraftError, Fit};

/// Between columns and between rows of the surface [m].
const STEP: f64 = 0.01;

/// The way over the ridge down to the level of the arm's axis [m].
const OVER: f64 = 0.10;

/// Which side of the ridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    Front,
    Back,
}

/// How a sheet hangs.
#[derive(Clone, Copy, Debug)]
struct Hang {
    /// Room over the body [m].
    room: f64,
    /// Away from the body per metre of drop [1].
    flare: f64,
    /// Wider per metre of drop [1/m].
    spread: f64,
    /// Depth of the folds per metre of drop [1].
    fold: f64,
}

/// One half of the sheet, as height and depth on a grid of (x, way down).
#[derive(Clone)]
struct Sheet {
    left: f64,
    columns: Vec<Vec<DVec2>>,
    middle: f64,
    hang: Hang,
    /// +1 in front.
    way: f64,
}

impl Sheet {
    fn new(
        figure: &Figure<'_>,
        half: Half,
        reach_x: f64,
        bottom: f64,
        hang: Hang,
    ) -> Result<Self, DraftError> {
        let missing = DraftError::NoSlice { name: "shoulder" };
        let way = if half == Half::Front { 1.0 } else { -1.0 };
        let n = (reach_x / STEP).ceil() as i64 + 2;
        let left = figure.middle - n as f64 * STEP;
        let xs: Vec<f64> = (0..=2 * n).map(|i| left + STEP * i as f64).collect();
        let top = figure
            .arms
            .iter()
            .map(|a| a.root.y)
            .fold(f64::MIN, f64::max)
            + 0.05;
        let n_levels = ((top - bottom) / STEP).ceil().max(1.0) as usize + 2;
        // The farthest out at each level and column, from the top down.
        let edge = |figure: &Figure<'_>, part: Part, p: DVec3| {
            part != Part::Head && (p.x - figure.middle).abs() < reach_x + 0.02
        };
        let mut levels: Vec<Vec<f64>> = Vec::new();
        let mut farthest = vec![f64::NEG_INFINITY; xs.len()];
        for i in 0..n_levels {
            let y = top - STEP * i as f64;
            let hull = hull(&figure.level(y, |part, p| edge(figure, part, p)));
            for (far, &x) in farthest.iter_mut().zip(&xs) {
                if let Some(z) = depth_at(&hull, x, way) {
                    *far = far.max(way * z);
                }
            }
            levels.push(farthest.clone());
        }
        let n_rows = ((top - bottom + OVER) / STEP).ceil() as usize + 2;
        let mut columns = Vec::new();
        for (c, &x) in xs.iter().enumerate() {
            let centre = axis(figure, x);
            let points = figure.slice(DVec3::new(x, 0.0, 0.0), DVec3::Z, DVec3::Y, |part, p| {
                p.y > centre.y - 0.03 && edge(figure, part, p)
            });
            let over = hull(&points);
            let from = DVec2::new(centre.z, centre.y);
            let Some(height) = reach(&over, from, DVec2::Y) else {
                columns.push(Vec::new());
                continue;
            };
            let far_at = |y: f64| {
                let i = ((top - y) / STEP).round().clamp(0.0, (n_levels - 1) as f64);
                levels[i as usize][c]
            };
            let height = height + hang.room;
            let width = (far_at(centre.y) - way * centre.z).max(0.02) + hang.room;
            let mut out = f64::NEG_INFINITY;
            let column = (0..n_rows).map(|row| {
                let q = STEP * row as f64;
                if q < OVER {
                    let (sin, cos) = (q / OVER * FRAC_PI_2).sin_cos();
                    let ellipse = (cos / height).hypot(sin / width).recip();
                    let skin = reach(&over, from, DVec2::new(way * sin, cos));
                    let r = ellipse.max(skin.unwrap_or(0.0) + hang.room);
                    return DVec2::new(centre.y + r * cos, way * centre.z + r * sin);
                }
                let y = centre.y - (q - OVER);
                out = out.max(far_at(y) + hang.room).max(way * centre.z + width);
                DVec2::new(y, out)
            });
            columns.push(column.collect());
        }
        let mut sheet = Self {
            left,
            columns,
            middle: figure.middle,
            hang,
            way,
        };
        sheet.mend(missing)?;
        Ok(sheet)
    }

    /// Fills columns that no slice gave from their neighbours, and evens out.
    fn mend(&mut self, missing: DraftError) -> Result<(), DraftError> {
        let known: Vec<usize> = (0..self.columns.len())
            .filter(|&i| !self.columns[i].is_empty())
            .collect();
        if known.is_empty() {
            return Err(missing);
        }
        let full = self.columns.clone();
        for (i, column) in self.columns.iter_mut().enumerate() {
            if let Some(&near) = known.iter().min_by_key(|&&j| i.abs_diff(j)) {
                column.clone_from(&full[near]);
            }
        }
        let n = self.columns.len();
        for _ in 0..10 {
            let old = self.columns.clone();
            for i in 0..n {
                let (a, b) = (&old[i.saturating_sub(1)], &old[(i + 1).min(n - 1)]);
                for row in 0..self.columns[i].len() {
                    self.columns[i][row] = (a[row] + old[i][row] * 2.0 + b[row]) / 4.0;
                }
            }
        }
        for column in &mut self.columns {
            for _ in 0..4 {
                let old = column.clone();
                for row in 1..old.len() - 1 {
                    column[row] = (old[row - 1] + old[row] * 2.0 + old[row + 1]) / 4.0;
                }
            }
        }
        Ok(())
    }

    /// The height and the depth (outwards) at a column and way down.
    fn profile(&self, x: f64, q: f64) -> DVec2 {
        let last = self.columns.len() - 1;
        let t = ((x - self.left) / STEP).clamp(0.0, last as f64);
        let i = (t as usize).min(last - 1);
        let n = self.columns[0].len() - 1;
        let u = (q / STEP).clamp(0.0, n as f64);
        let row = (u as usize).min(n - 1);
        let along = |column: usize| {
            let column = &self.columns[column];
            let p = [
                column[row.saturating_sub(1)],
                column[row],
                column[row + 1],
                column[(row + 2).min(n)],
            ];
            let v = u - row as f64;
            DVec2::new(cubic(p.map(|p| p.x), v), cubic(p.map(|p| p.y), v))
        };
        let p = [
            along(i.saturating_sub(1)),
            along(i),
            along(i + 1),
            along((i + 2).min(last)),
        ];
        let v = t - i as f64;
        DVec2::new(cubic(p.map(|p| p.x), v), cubic(p.map(|p| p.y), v))
    }

    fn at(&self, x: f64, q: f64) -> DVec3 {
        let p = self.profile(x, q);
        let drop = (q - OVER).max(0.0);
        let fold = self.hang.fold * drop * ramp(drop / 0.2);
        let waves = fold * (1.0 + (TAU * (x - self.middle) / 0.16).cos());
        let out = p.y + self.hang.flare * drop + waves;
        let across = (x - self.middle) * (1.0 + self.hang.spread * drop);
        DVec3::new(self.middle + across, p.x, self.way * out)
    }

    fn ridge(&self, x: f64) -> f64 {
        self.profile(x, 0.0).x
    }

    /// The way down to a height at a column.
    fn down_to(&self, x: f64, y: f64) -> f64 {
        let n = self.columns[0].len() as f64 * STEP;
        let (mut low, mut high) = (0.0, n);
        for _ in 0..40 {
            let q = 0.5 * (low + high);
            if self.profile(x, q).x > y {
                low = q;
            } else {
                high = q;
            }
        }
        0.5 * (low + high)
    }

    /// The plan's point; the back is seen from behind.
    fn plan(&self, x: f64, q: f64) -> DVec2 {
        DVec2::new(self.way * (x - self.middle), self.ridge(x) - q)
    }

    fn place(&self, p: DVec2) -> DVec3 {
        let x = self.middle + self.way * p.x;
        self.at(x, self.ridge(x) - p.y)
    }
}

/// The depth of a hull of (x, z) at x, on one side.
fn depth_at(hull: &[DVec2], x: f64, way: f64) -> Option<f64> {
    let mut best: Option<f64> = None;
    for i in 0..hull.len() {
        let (a, b) = (hull[i], hull[(i + 1) % hull.len()]);
        if (a.x <= x) != (b.x <= x) {
            let z = a.y + (b.y - a.y) * (x - a.x) / (b.x - a.x);
            best = Some(best.map_or(z, |old| if way * z > way * old { z } else { old }));
        }
    }
    best
}

/// The line through shoulders, elbows and wrists at x.
fn axis(figure: &Figure<'_>, x: f64) -> DVec3 {
    let [left, right] = &figure.arms;
    let line = [
        right.end,
        right.middle,
        right.root,
        left.root,
        left.middle,
        left.end,
    ];
    for pair in line.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        if a.x < b.x && (a.x..=b.x).contains(&x) {
            return a + (b - a) * ((x - a.x) / (b.x - a.x));
        }
    }
    if x < right.root.x {
        right.end
    } else {
        left.end
    }
}

/// The shape of a sheet, as it is cut.
struct Shape<'a> {
    figure: &'a Figure<'a>,
    /// Half the neck's width [m].
    neck: f64,
    /// From the middle to the sides [m].
    side: f64,
}

impl Shape<'_> {
    /// The neckline of a half from the body's left to its right, `drop` deep.
    fn neckline(&self, sheet: &Sheet, drop: f64, t: f64) -> DVec2 {
        let (sin, cos) = (PI * t).sin_cos();
        let x = self.figure.middle + self.neck * cos;
        let height = 0.5
            * (sheet.ridge(self.figure.middle + self.neck)
                + sheet.ridge(self.figure.middle - self.neck));
        let q = if sin < 1e-9 {
            0.0
        } else {
            sheet.down_to(x, height - drop * sin)
        };
        sheet.plan(x, q)
    }

    /// A full half with a hem: `bottom` at the middle, `edge` below the ridge
    /// at the sides.
    fn whole<'b>(&self, name: &str, sheet: Sheet, drop: f64, bottom: f64, edge: f64) -> Cut<'b> {
        let m = self.figure.middle;
        // The viewer's left and right.
        let (near, far) = (m - sheet.way * self.side, m + sheet.way * self.side);
        let names = if sheet.way > 0.0 {
            ["right", "left"]
        } else {
            ["left", "right"]
        };
        let hem = |t: f64| {
            let x = near + (far - near) * t;
            let end = if t < 0.5 { near } else { far };
            let low = sheet.ridge(end) - edge;
            let y = bottom + (low - bottom) * (2.0 * t - 1.0).abs().powf(2.6);
            sheet.plan(x, sheet.down_to(x, y))
        };
        let ridge = |from: f64, to: f64| curve(|t| sheet.plan(from + (to - from) * t, 0.0));
        let neck = sheet.way * self.neck;
        let sides = vec![
            Side::open("hem", curve(hem)),
            Side::open("hem", straight(hem(1.0), sheet.plan(far, 0.0))),
            Side::seam(format!("shoulder-{}", names[1]), ridge(far, m + neck)),
            Side::open(
                "pin-collar",
                curve(|t| {
                    let t = if sheet.way > 0.0 { t } else { 1.0 - t };
                    self.neckline(&sheet, drop, t)
                }),
            ),
            Side::seam(format!("shoulder-{}", names[0]), ridge(m - neck, near)),
            Side::open("hem", straight(sheet.plan(near, 0.0), hem(0.0))),
        ];
        Cut {
            name: name.to_string(),
            sides,
            coarsest: COARSEST,
            half: 0.0,
            place: Box::new(move |p| sheet.place(p)),
        }
    }

    /// A front of a cape: from the neck over one shoulder, curved away.
    fn front<'b>(&self, left: bool, sheet: Sheet, drop: f64, edge: f64) -> Cut<'b> {
        let m = self.figure.middle;
        let way = if left { 1.0 } else { -1.0 };
        let name = if left { "left" } else { "right" };
        // Where the neckline ends, as its parameter.
        let open = if left { 0.40 } else { 0.60 };
        let side = m + way * self.side;
        let corner = self.neckline(&sheet, drop, open);
        let end = sheet.plan(side, edge);
        let away = DVec2::new(corner.x + 0.02 * way, corner.y - 0.10);
        let bend = |t: f64| {
            let (a, b) = (corner.lerp(away, t), away.lerp(end, t));
            a.lerp(b, t)
        };
        let outer = straight(end, sheet.plan(side, 0.0));
        let start = if left { 0.0 } else { 1.0 };
        let ridge = curve(|t| sheet.plan(side + (m + way * self.neck - side) * t, 0.0));
        let collar = curve(|t| self.neckline(&sheet, drop, start + (open - start) * t));
        let mut sides = vec![
            Side::open("hem", curve(bend)),
            Side::open("hem", outer),
            Side::seam(format!("shoulder-{name}"), ridge),
            Side::open("pin-collar", collar),
        ];
        if !left {
            sides.reverse();
            sides.iter_mut().for_each(|s| s.line.reverse());
        }
        Cut {
            name: format!("front-{name}"),
            sides,
            coarsest: COARSEST,
            half: 0.0,
            place: Box::new(move |p| sheet.place(p)),
        }
    }
}

fn neck_width(figure: &Figure<'_>) -> Result<f64, DraftError> {
    let points = figure.level(figure.neck.y + 0.03, |part, _| part == Part::Head);
    let far = points
        .iter()
        .map(|p| (p.x - figure.middle).abs())
        .fold(0.0, f64::max);
    if far > 0.0 {
        Ok(far)
    } else {
        Err(DraftError::NoSlice { name: "neck" })
    }
}

/// How far out an arm is at a share of the way from shoulder to elbow (to 1) or
/// on to the wrist (to 2) [m].
fn along_arm(figure: &Figure<'_>, share: f64) -> f64 {
    let of = |i: usize| {
        let arm = &figure.arms[i];
        let at = if share < 1.0 {
            arm.root.lerp(arm.middle, share)
        } else {
            arm.middle.lerp(arm.end, share - 1.0)
        };
        (at.x - figure.middle).abs()
    };
    of(0).min(of(1))
}

/// A poncho: front and back over both arms.
pub(super) fn poncho<'a>(figure: &Figure<'_>, fit: &Fit) -> Result<Vec<Cut<'a>>, DraftError> {
    let shape = Shape {
        figure,
        neck: neck_width(figure)? + 0.03,
        side: along_arm(figure, 0.97),
    };
    let bottom = figure.crotch - 0.02;
    let hang = Hang {
        room: fit.room(0.012),
        flare: 0.06,
        spread: 0.0,
        fold: 0.03,
    };
    let sheet = |half| Sheet::new(figure, half, shape.side, bottom - 0.05, hang);
    Ok(vec![
        shape.whole("front", sheet(Half::Front)?, 0.09, bottom, 0.16),
        shape.whole("back", sheet(Half::Back)?, 0.03, bottom, 0.16),
    ])
}

/// A cape: a long back, and two fronts that are curved away.
pub(super) fn cape<'a>(figure: &Figure<'_>, fit: &Fit) -> Result<Vec<Cut<'a>>, DraftError> {
    let shape = Shape {
        figure,
        neck: neck_width(figure)? + 0.02,
        side: along_arm(figure, 0.6),
    };
    let knee = (figure.legs[0].middle.y + figure.legs[1].middle.y) / 2.0;
    let bottom = knee - 0.12;
    let hang = Hang {
        room: fit.room(0.010),
        flare: 0.10,
        spread: 0.15,
        fold: 0.03,
    };
    let back = Sheet::new(figure, Half::Back, shape.side, bottom - 0.05, hang)?;
    let front = Sheet::new(figure, Half::Front, shape.side, figure.waist, hang)?;
    let edge = back.ridge(figure.middle + shape.side) - bottom;
    Ok(vec![
        shape.whole("back", back, 0.02, bottom, edge - 0.03),
        shape.front(true, front.clone(), 0.07, 0.12),
        shape.front(false, front, 0.07, 0.12),
    ])
}
