//! Where time goes: [`TimeSpent`], and the [`Stopwatch`] that tells.

/// Where the time of a simulation has gone since it was made [s], by the clock
/// on the wall. It is for reports: nothing depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TimeSpent {
    /// Obstacles that move: their boxes and normals.
    pub obstacles: f64,
    /// Points of the cloth against obstacles.
    pub surface: f64,
    /// Pairs of primitives whose boxes come near.
    pub broad: f64,
    /// Those of them that come near themselves.
    pub narrow: f64,
    /// What pairs do: frames, forces, holding back.
    pub pairs: f64,
    /// Newton's method and its linear systems.
    pub solve: f64,
    /// Whole steps, with all of the above but the obstacles.
    pub steps: f64,
}

/// Measures a stretch of time; where there is no clock, none passes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    #[cfg(not(target_family = "wasm"))]
    start: std::time::Instant,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self {
            #[cfg(not(target_family = "wasm"))]
            start: std::time::Instant::now(),
        }
    }

    /// How long it has been running [s].
    pub(crate) fn seconds(self) -> f64 {
        #[cfg(not(target_family = "wasm"))]
        return self.start.elapsed().as_secs_f64();
        #[cfg(target_family = "wasm")]
        return 0.0;
    }
}
