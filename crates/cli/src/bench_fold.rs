//! A strip that is folded over itself three times: [`Folding`].
//!
//! The strip lies flat from x = 0 to its length. Three times an end of it is
//! taken, turned over, laid down and let go, until four layers lie on one
//! quarter of the length:
//!
//! | fold | end          | from | to  | turns about |
//! |------|--------------|------|-----|-------------|
//! | 1    | at x = 1     | 1    | 0   | 1/2         |
//! | 2    | the same     | 0    | 1/2 | 1/4         |
//! | 3    | at x = 0     | 0    | 1/2 | 1/4         |

use drapery::sim::{Simulation, SimulationError};
use glam::{DQuat, DVec3};

/// How long a fold takes, and how long the strip is left alone after it [s].
const TURNING: f64 = 1.0;
const RESTING: f64 = 0.3;
/// What is taken comes this much nearer to the middle, so that it slackens.
const SLACK: f64 = 0.03;
/// How high it is lifted, in distances from the middle. At 1 the strip is taut
/// and slides along the table.
const LIFTED: f64 = 0.35;
/// It is laid down so far above what lies there [m].
const ABOVE: f64 = 0.004;

/// An end that is turned over.
struct Fold {
    is_far_end: bool,
    /// What it turns about, in lengths of the strip.
    about: f64,
    /// Which way it turns; positive from right to left.
    way: f64,
}

const FOLDS: [Fold; 3] = [
    Fold {
        is_far_end: true,
        about: 0.5,
        way: 1.0,
    },
    Fold {
        is_far_end: true,
        about: 0.25,
        way: -1.0,
    },
    Fold {
        is_far_end: false,
        about: 0.25,
        way: -1.0,
    },
];

/// Folds a strip of 1 m whose vertices come in rows of `n`.
pub(crate) struct Folding {
    n: u32,
    dt: f64,
    /// What is being turned: the vertices, where they were, and about what.
    turned: Option<(Vec<(u32, DVec3)>, DVec3)>,
}

impl Folding {
    pub(crate) const fn new(n: u32, dt: f64) -> Self {
        Self {
            n,
            dt,
            turned: None,
        }
    }

    /// Says where what is held is to be after a step.
    pub(crate) fn lead(
        &mut self,
        simulation: &mut Simulation,
        step: u32,
    ) -> Result<(), SimulationError> {
        let n_turning = (TURNING / self.dt).round() as u32;
        let n_fold = n_turning + (RESTING / self.dt).round() as u32;
        let (fold, within) = (step / n_fold, step % n_fold);
        let Some(fold) = FOLDS.get(fold as usize) else {
            return Ok(());
        };
        if within == 0 {
            self.turned = Some(self.take(simulation, fold));
        }
        if within == n_turning
            && let Some((taken, _)) = self.turned.take()
        {
            for (vertex, _) in taken {
                simulation.release(vertex)?;
            }
        }
        let Some((taken, axis)) = &self.turned else {
            return Ok(());
        };
        // From rest to rest.
        let share = f64::from(within + 1) / f64::from(n_turning);
        let share = share * share * (3.0 - 2.0 * share);
        let turn = DQuat::from_rotation_z(fold.way * share * std::f64::consts::PI);
        for &(vertex, start) in taken {
            let arm = start - *axis;
            let mut across = turn * DVec3::X * arm.x * (1.0 - SLACK * share);
            across.y *= LIFTED;
            let place = *axis + across + turn * DVec3::new(0.0, arm.y, arm.z);
            simulation.move_held(vertex, place)?;
        }
        Ok(())
    }

    /// The vertices that a fold takes with where they are, and a point of the
    /// axis that they turn about.
    fn take(&self, simulation: &Simulation, fold: &Fold) -> (Vec<(u32, DVec3)>, DVec3) {
        let column = match fold.is_far_end {
            true => self.n - 1,
            false => 0,
        };
        let x = simulation.positions();
        let all = (0u32..).zip(x);
        let taken: Vec<(u32, DVec3)> = all
            .filter(|(vertex, _)| vertex % self.n == column)
            .map(|(vertex, p)| (vertex, *p))
            .collect();
        let top = |heights: &mut dyn Iterator<Item = f64>| heights.fold(f64::MIN, f64::max);
        let highest = top(&mut x.iter().map(|p| p.y));
        let own = top(&mut taken.iter().map(|(_, p)| p.y));
        let axis = DVec3::new(fold.about, 0.5 * (highest + own + ABOVE), 0.0);
        (taken, axis)
    }
}
