//! The drape of a fabric, measured as a textile laboratory does.
//!
//! Cusick's drape meter (Cusick, "The measurement of fabric drape", 1968; BS
//! 5058, ISO 9073-9) holds a round specimen of radius R between two discs of
//! radius r, and light from below throws its shadow:
//!
//! ```text
//! drape coefficient = (area of the shadow − π r²) / (π R² − π r²)
//! folds             = humps of the shadow's outline
//! ```
//!
//! with R = 15 cm and r = 9 cm. 100 % is a board, 0 % a cloth that hangs straight
//! down.
//!
//! What lies between the discs does not move, so that the cloth is a [`Ring`],
//! held level at its inner border; the lower disc is an obstacle for what
//! swings in under it. The cloth starts flat, but for waves of a millimetre
//! drawn by lot. It is let go slowly, as by an operator who lowers a plate from
//! under it: gravity grows over two seconds, and then the cloth is waited for
//! until it is at rest in still air. Dropped at once it falls into more folds
//! (plain cotton nine instead of six, worsted wool ten instead of seven), and
//! the coefficient is higher by three to five.
//!
//! # Where we differ
//! A laboratory takes the mean over six drapes, each specimen three times from
//! either side. Several states are stable, with one fold more or less: take
//! the mean of several seeds.

use std::f64::consts::{PI, TAU};
use std::ops::ControlFlow;

use drapery_core::{Fabric, Topology};
use glam::{DVec2, DVec3};

use crate::textbook::{Dice, Ring};
use crate::{
    ClampedEdge, Cloth, ClothError, ContactConfig, Diverged, MeshBoxes, Placement, RigidObstacle,
    SelfContactConfig, Shape, Simulation, SimulationConfig, SimulationError, Solver, Wind,
    self_crossings,
};

/// Gravity as everywhere in the simulator [m/s²].
const GRAVITY: f64 = 9.81;
/// How long the cloth takes to be let go [s].
const LET_GO: f64 = 2.0;
/// R [m].
const SPECIMEN: f64 = 0.15;
/// r [m].
const DISC: f64 = 0.09;
/// Of the lower disc [m].
const THICKNESS: f64 = 4e-3;
/// Waves around the specimen that are drawn by lot.
const WAVES: std::ops::RangeInclusive<u32> = 2..=12;
/// How high they are at the rim, about [m].
const WAVE_HEIGHT: f64 = 1e-3;
/// Side of the squares that the shadow is counted in [m]: 360,000 of them
/// around the specimen. Halving it changes the coefficient by 0.01 %.
const SQUARE: f64 = 5e-4;
/// Directions in which the outline is looked at.
const N_DIRECTIONS: usize = 720;
/// A fold stands out by this much from what is on either side of it [m].
const PROMINENCE: f64 = 4e-3;

/// How a drape is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrapeConfig {
    /// Cells from the disc to the rim of the specimen. The coefficient of a
    /// shirting is 61 % with 6 cells, 65 with 8, 68 with 12 and 70 with 16: it
    /// converges as the square of the cell's size.
    pub n_across: u32,
    /// Draws the waves that the cloth starts with, and its mesh.
    pub seed: u64,
    /// Length of a step [s].
    pub dt: f64,
    /// The cloth is at rest when it moves no faster than this, as the root
    /// mean square [m/s].
    pub calm: f64,
    /// The longest that is waited for it [s].
    pub max_seconds: f64,
}

impl Default for DrapeConfig {
    fn default() -> Self {
        Self {
            n_across: FEWEST_CELLS,
            seed: 1,
            dt: 1.0 / 60.0,
            calm: 1e-3,
            max_seconds: 4.0,
        }
    }
}

/// With fewer, even shirtings come out too limp.
const FEWEST_CELLS: u32 = 12;

/// Cells in a bending length. Light silk covers 26 % with three, 27 % with two
/// and 32 to 43 % with one and a half: it crinkles instead of folding.
const CELLS_IN_BENDING_LENGTH: f64 = 2.0;

impl DrapeConfig {
    /// Cells as small as a fabric needs: from 12 to 20 across.
    pub fn of(fabric: &Fabric) -> Self {
        Self {
            n_across: cells_wanted(fabric).clamp(FEWEST_CELLS, 20),
            ..Self::default()
        }
    }
}

/// Cells across with which a fabric folds instead of crinkling; none when its
/// constants are no numbers.
pub(crate) fn cells_wanted(fabric: &Fabric) -> u32 {
    let rigidity = (fabric.bending_warp * fabric.bending_weft).sqrt();
    let length = (rigidity / (fabric.density * GRAVITY)).cbrt();
    (CELLS_IN_BENDING_LENGTH * (SPECIMEN - DISC) / length).ceil() as u32
}

/// A draped specimen.
#[derive(Clone, Debug)]
pub struct Drape {
    /// The drape coefficient [%].
    pub coefficient: f64,
    /// How many folds there are.
    pub folds: u32,
    /// How fast the cloth still moves, as the root mean square [m/s].
    pub speed: f64,
    /// Whether that counts as rest.
    pub is_at_rest: bool,
    /// How long that took [s].
    pub seconds: f64,
    /// How many edges of the cloth pass through its own faces: none.
    pub crossings: usize,
    /// The triangles of the cloth.
    pub topology: Topology,
    /// Where its vertices are [m]; the last is the middle, at the origin.
    pub positions: Vec<DVec3>,
}

/// Why a drape could not be measured.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DrapeError {
    /// No cloth can be made of the fabric.
    #[error(transparent)]
    Cloth(#[from] ClothError),
    /// A setting is out of range.
    #[error(transparent)]
    SetUp(#[from] SimulationError),
    /// A step failed.
    #[error(transparent)]
    Diverged(#[from] Diverged),
    /// It was not waited for.
    #[error("the cloth was still falling when it was told to stop")]
    Stopped,
}

/// Drapes a specimen of a fabric over the disc. After every step `watch` is
/// told how long the cloth has been falling [s], and may stop it.
///
/// # Errors
/// When the fabric is unsound, a setting is out of range, a step fails or
/// `watch` stops it.
///
/// # Panics
/// When there are no cells.
///
/// ```
/// use std::ops::ControlFlow;
/// use drapery_core::Fabric;
/// use drapery_sim::{DrapeConfig, drape};
///
/// // A board of 20 cm bending length hardly bends under its weight.
/// let board = Fabric::plain("board", 0.4, 5000.0, 0.4 * 9.81 * 0.2f64.powi(3));
/// let config = DrapeConfig { n_across: 4, ..DrapeConfig::default() };
/// let draped = drape(&board, &config, |_| ControlFlow::Continue(()))?;
/// assert!(draped.coefficient > 99.0 && draped.folds == 0);
/// # Ok::<(), drapery_sim::DrapeError>(())
/// ```
pub fn drape(
    fabric: &Fabric,
    config: &DrapeConfig,
    mut watch: impl FnMut(f64) -> ControlFlow<()>,
) -> Result<Drape, DrapeError> {
    let ring = Ring::new(DISC, SPECIMEN, config.n_across, config.seed).expect("cells have area");
    let edges = (0..ring.inner.len()).map(|i| {
        let vertices = [i, (i + 1) % ring.inner.len()].map(|i| ring.inner[i]);
        let middle: DVec2 = vertices.iter().map(|v| ring.points[*v as usize]).sum();
        ClampedEdge {
            vertices,
            slope: level(-middle.normalize()),
        }
    });
    let clamps: Vec<ClampedEdge> = edges.collect();
    let cloth = Cloth::new(&ring.rest, fabric, &clamps)?;
    let mut simulation = Simulation::new(
        cloth,
        uneven(&ring, config.seed),
        SimulationConfig {
            dt: config.dt,
            // Steps are long, and light stiff cloth needs many iterations.
            solver: Solver::Direct,
            max_iterations: 60,
            // Well below what counts as calm.
            tolerance: 0.2 * config.calm,
            ..SimulationConfig::default()
        },
    )?;
    for v in &ring.inner {
        simulation.hold(*v)?;
    }
    simulation.set_wind(Some(Wind::blowing(DVec3::ZERO)))?;
    let contact = ContactConfig::of(fabric);
    // The cloth rests at its offset from it, above and beside.
    let disc = Shape::Disc {
        radius: DISC - contact.offset,
        thickness: THICKNESS,
        rim: THICKNESS / 2.0,
    };
    let below = DVec3::NEG_Y * (contact.offset + THICKNESS / 2.0);
    let disc = RigidObstacle::new(disc, Placement::at(below)).expect("a disc has a size");
    simulation.set_obstacles(vec![disc.into()], contact)?;
    simulation.set_self_contact(Some(SelfContactConfig::of(fabric)))?;
    let mut seconds = 0.0;
    while seconds < LET_GO || (seconds < config.max_seconds && speed(&simulation) > config.calm) {
        seconds += config.dt;
        let share = (seconds / LET_GO).min(1.0);
        simulation.set_gravity(DVec3::NEG_Y * (GRAVITY * share))?;
        simulation.step()?;
        if watch(seconds).is_break() {
            return Err(DrapeError::Stopped);
        }
    }
    let mut positions = simulation.positions().to_vec();
    let boxes = MeshBoxes::new(ring.rest.topology(), &positions);
    let crossings = self_crossings(&boxes, &positions).len();
    let shadow = shadow(ring.rest.topology().triangles(), &positions);
    let folds = folds(&outline(ring.rest.topology(), &positions));
    // What lies between the discs, for whoever looks at it.
    let middle = positions.len() as u32;
    positions.push(DVec3::ZERO);
    let lying = clamps
        .iter()
        .map(|c| [middle, c.vertices[0], c.vertices[1]]);
    let triangles = ring.rest.topology().triangles().iter().copied();
    let topology = Topology::new(middle + 1, triangles.chain(lying).collect())
        .expect("triangles name vertices of the ring");
    Ok(Drape {
        coefficient: 100.0 * shadow / (PI * (SPECIMEN * SPECIMEN - DISC * DISC)),
        folds,
        speed: speed(&simulation),
        is_at_rest: speed(&simulation) <= config.calm,
        seconds,
        crossings,
        topology,
        positions,
    })
}

/// Where a point of the pattern lies when the cloth is flat [m].
fn level(p: DVec2) -> DVec3 {
    DVec3::new(p.x, 0.0, -p.y)
}

/// The ring with waves that rise towards its rim [m].
fn uneven(ring: &Ring, seed: u64) -> Vec<DVec3> {
    let mut dice = Dice(seed);
    let waves: Vec<(f64, f64, f64)> = WAVES
        .map(|n| (f64::from(n), dice.signed(), PI * dice.signed()))
        .collect();
    let scale = WAVE_HEIGHT / (waves.len() as f64).sqrt();
    let height = |p: DVec2| {
        let out = (p.length() - DISC) / (SPECIMEN - DISC);
        let angle = p.to_angle();
        let sum: f64 = waves
            .iter()
            .map(|(n, size, phase)| size * (n * angle + phase).cos())
            .sum();
        scale * out * out * sum
    };
    let points = ring.points.iter();
    points.map(|p| level(*p) + DVec3::Y * height(*p)).collect()
}

/// How fast a cloth moves, as the root mean square over its mass [m/s].
fn speed(simulation: &Simulation) -> f64 {
    let masses = simulation.cloth().masses();
    let moving = masses.iter().zip(simulation.velocities());
    let sum: f64 = moving.map(|(m, v)| m * v.length_squared()).sum();
    (sum / masses.iter().sum::<f64>()).sqrt()
}

/// The area of the shadow outside the disc [m²], counted in small squares.
fn shadow(triangles: &[[u32; 3]], x: &[DVec3]) -> f64 {
    let n = (2.0 * SPECIMEN * 1.1 / SQUARE).ceil() as u32;
    let middle = n as f64 / 2.0;
    let mut dark = vec![false; (n * n) as usize];
    for corners in triangles {
        let [a, b, c] = corners.map(|v| seen(x[v as usize]) / SQUARE + middle);
        let area = (b - a).perp_dot(c - a);
        let low = a.min(b).min(c).floor().max(DVec2::ZERO).as_uvec2();
        let high = a.max(b).max(c).ceil().max(DVec2::ZERO).as_uvec2();
        for row in low.y..high.y.min(n) {
            for column in low.x..high.x.min(n) {
                let p = DVec2::new(column as f64 + 0.5, row as f64 + 0.5);
                let sides = [(a, b), (b, c), (c, a)];
                dark[(row * n + column) as usize] |= sides
                    .iter()
                    .all(|(p0, p1)| (*p1 - *p0).perp_dot(p - *p0) * area >= 0.0);
            }
        }
    }
    let outside = dark.iter().enumerate().filter(|(at, is_dark)| {
        let p = DVec2::new(
            (at % n as usize) as f64 + 0.5,
            (at / n as usize) as f64 + 0.5,
        ) - middle;
        **is_dark && p.length() * SQUARE > DISC
    });
    outside.count() as f64 * SQUARE * SQUARE
}

/// A point as it is seen from above [m].
fn seen(p: DVec3) -> DVec2 {
    DVec2::new(p.x, -p.z)
}

/// How far the shadow reaches in each of [`N_DIRECTIONS`] [m].
fn outline(topology: &Topology, x: &[DVec3]) -> Vec<f64> {
    let step = TAU / N_DIRECTIONS as f64;
    let mut reach = vec![DISC; N_DIRECTIONS];
    for edge in topology.edges() {
        let [a, b] = edge.vertices.map(|v| seen(x[v as usize]));
        let (a, b) = match a.perp_dot(b) < 0.0 {
            true => (b, a),
            false => (a, b),
        };
        let turn = a.angle_to(b);
        let first = (a.to_angle() / step).ceil() as i64;
        let last = ((a.to_angle() + turn) / step).floor() as i64;
        for at in first..=last {
            let ray = DVec2::from_angle(at as f64 * step);
            // Where the ray crosses the line through a and b.
            let across = ray.perp_dot(b - a);
            if across.abs() > f64::MIN_POSITIVE {
                let far = a.perp_dot(b - a) / across;
                let at = at.rem_euclid(N_DIRECTIONS as i64) as usize;
                reach[at] = reach[at].max(far);
            }
        }
    }
    reach
}

/// How many humps an outline has that stand out by [`PROMINENCE`].
///
/// Walked around once from its lowest place, it is a hump whenever it has risen
/// by that much from the last hollow and then fallen by as much.
fn folds(outline: &[f64]) -> u32 {
    let lowest = (0..outline.len())
        .min_by(|a, b| outline[*a].total_cmp(&outline[*b]))
        .unwrap_or(0);
    let around = (0..=outline.len()).map(|i| outline[(lowest + i) % outline.len()]);
    let (mut humps, mut rising) = (0, true);
    let mut turn = f64::INFINITY;
    for far in around {
        // The hollow while it rises, the crest while it falls.
        match rising {
            true => {
                turn = turn.min(far);
                if far > turn + PROMINENCE {
                    (rising, turn) = (false, far);
                }
            }
            false => {
                turn = turn.max(far);
                if far < turn - PROMINENCE {
                    (rising, turn) = (true, far);
                    humps += 1;
                }
            }
        }
    }
    humps
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring whose rim is at radius a + b cos(nθ), 10 cm below the disc.
    fn wavy(a: f64, b: f64, n: f64) -> (Topology, Vec<DVec3>) {
        let ring = Ring::new(DISC, SPECIMEN, 12, 1).unwrap();
        let positions = ring.points.iter().map(|p| {
            let out = (p.length() - DISC) / (SPECIMEN - DISC);
            let rim = a + b * (n * p.to_angle()).cos();
            let radius = DISC + out * (rim - DISC);
            level(p.normalize() * radius) + DVec3::NEG_Y * (0.1 * out)
        });
        (ring.rest.topology().clone(), positions.collect())
    }

    #[test]
    fn the_shadow_of_a_known_outline_has_its_area_and_folds() {
        for (a, b, n) in [(0.15, 0.0, 0.0), (0.12, 0.01, 6.0), (0.11, 0.015, 3.0)] {
            let (topology, x) = wavy(a, b, n);
            // ∫ ½ r² dθ.
            let expected = PI * (a * a + b * b / 2.0 - DISC * DISC);
            let found = shadow(topology.triangles(), &x);
            assert!(
                (found / expected - 1.0).abs() < 0.01,
                "{found} m² for {expected} m²"
            );
            let outline = outline(&topology, &x);
            assert_eq!(folds(&outline), n as u32, "{a} {b}");
            for (at, far) in outline.iter().enumerate() {
                let expected = a + b * (n * at as f64 / N_DIRECTIONS as f64 * TAU).cos();
                assert!((far - expected).abs() < 1e-3, "{far} for {expected} m");
            }
        }
    }

    #[test]
    fn small_bumps_are_no_folds() {
        let bumpy: Vec<f64> = (0..N_DIRECTIONS)
            .map(|i| {
                let angle = i as f64 / N_DIRECTIONS as f64 * TAU;
                0.12 + 0.01 * (4.0 * angle).cos() + 0.0015 * (31.0 * angle).sin()
            })
            .collect();
        assert_eq!(folds(&bumpy), 4);
        // Wherever it is begun.
        let turned: Vec<f64> = bumpy[100..].iter().chain(&bumpy[..100]).copied().collect();
        assert_eq!(folds(&turned), 4);
    }

    fn shirting() -> Fabric {
        Fabric {
            shear: 60.0,
            ..Fabric::plain("shirting", 0.15, 2000.0, 0.15 * 9.81 * 0.02f64.powi(3))
        }
    }

    fn coarse(seed: u64) -> DrapeConfig {
        DrapeConfig {
            n_across: 5,
            seed,
            ..DrapeConfig::default()
        }
    }

    #[test]
    fn cloth_of_two_centimetres_bending_length_covers_two_thirds() {
        let found = drape(&shirting(), &coarse(1), |_| ControlFlow::Continue(())).unwrap();
        assert!(
            (58.0..75.0).contains(&found.coefficient) && (3..=9).contains(&found.folds),
            "{} %, {} folds",
            found.coefficient,
            found.folds
        );
        let n = found.positions.len();
        assert_eq!(found.crossings, 0);
        assert!(n == found.topology.n_vertices() && found.positions.iter().all(|p| p.y < 0.01));
    }

    #[test]
    fn it_stops_when_told() {
        let stopped = drape(&shirting(), &coarse(1), |seconds| match seconds > 0.1 {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        });
        assert_eq!(stopped.unwrap_err(), DrapeError::Stopped);
    }
}
