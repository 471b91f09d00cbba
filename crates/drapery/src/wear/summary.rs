//! [`WearSummary`]: the frames of a clip taken together.

use drapery_eval::Masked;

use super::meter::WornFrame;

/// What to beware of in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameFlags {
    /// The body enters itself next to the garment.
    pub body_contact: bool,
    /// A step was taken in more than one part.
    pub retried: bool,
    /// A step was taken though it had not converged.
    pub unsolved: bool,
    /// Vertices had to be set back.
    pub set_back: bool,
    /// The garment passes through itself.
    pub crossings: bool,
}

impl FrameFlags {
    /// Whether there is anything to beware of.
    pub const fn any(self) -> bool {
        self.body_contact || self.retried || self.unsolved || self.set_back || self.crossings
    }
}

/// How a garment was worn through a clip.
#[derive(Clone, Debug, Default)]
pub struct WearSummary {
    /// Points of the garment inside the body, in all frames.
    pub cloth: Masked,
    /// Vertices of the body near the garment that poke through it, in all
    /// frames.
    pub skin: Masked,
    /// The frame in which a point of cloth or skin that is not masked is the
    /// deepest; none when nothing is inside.
    pub deepest_frame: Option<u32>,
    /// The largest share, over frames, of points of the garment that are not
    /// masked and too deep.
    pub share_worst: f64,
    /// Vertices of the garment, in all frames.
    pub n_vertices: u64,
    /// How many of them are masked.
    pub n_masked: u64,
    /// The largest over frames of [`WornFrame::stretch_p99`].
    pub stretch_p99_worst: f32,
    /// The largest over frames of [`WornFrame::stretch_max`].
    pub stretch_max: f32,
    /// The fastest vertex in any frame, and which that is [m/s].
    pub speed_max: f32,
    /// The frame in which it is that fast.
    pub speed_frame: u32,
    /// Crossings of the garment with itself, in all frames.
    pub crossings: u64,
    /// Vertices that were set back, in all frames.
    pub set_back: u64,
    /// What to beware of in each frame.
    pub flags: Vec<FrameFlags>,
}

impl WearSummary {
    /// Takes the next frame into account, with the report of its steps where
    /// it was simulated.
    pub fn add(&mut self, frame: &WornFrame, steps: Option<&drapery_sim::StepReport>) {
        let index = self.flags.len() as u32;
        let deepest = |worn: &Masked| worn.open.deepest;
        let depth = deepest(&frame.cloth).max(deepest(&frame.skin));
        if depth > deepest(&self.cloth).max(deepest(&self.skin)) {
            self.deepest_frame = Some(index);
        }
        self.cloth.add(&frame.cloth);
        self.skin.add(&frame.skin);
        self.share_worst = self.share_worst.max(frame.cloth.open.share());
        self.n_vertices += frame.n_vertices;
        self.n_masked += frame.n_masked;
        self.stretch_p99_worst = self.stretch_p99_worst.max(frame.stretch_p99);
        self.stretch_max = self.stretch_max.max(frame.stretch_max);
        if frame.speed_max > self.speed_max {
            (self.speed_max, self.speed_frame) = (frame.speed_max, index);
        }
        self.crossings += frame.crossings;
        self.set_back += steps.map_or(0, |s| u64::from(s.set_back));
        self.flags.push(FrameFlags {
            body_contact: frame.n_masked > 0,
            retried: steps.is_some_and(|s| s.parts > 1),
            unsolved: steps.is_some_and(|s| s.parts > 0 && !s.solve.converged),
            set_back: steps.is_some_and(|s| s.set_back > 0),
            crossings: frame.crossings > 0 || steps.is_some_and(|s| s.crossings > 0),
        });
    }

    /// How many frames there were.
    pub fn n_frames(&self) -> usize {
        self.flags.len()
    }

    /// The share of vertices, over all frames, that are masked.
    pub fn masked_share(&self) -> f64 {
        self.n_masked as f64 / self.n_vertices.max(1) as f64
    }

    /// The deepest that a point outside the mask is, of cloth or skin [m].
    pub fn deepest(&self) -> f32 {
        self.cloth.open.deepest.max(self.skin.open.deepest)
    }

    /// How many frames have a flag.
    pub fn count(&self, flag: impl Fn(&FrameFlags) -> bool) -> usize {
        self.flags.iter().filter(|f| flag(f)).count()
    }
}
