//! Pre-flight checks: what is wrong with a character, garment or clip, said
//! plainly, before anything is simulated.
//!
//! A check returns [`Finding`]s as data, worst first; a sound input has none.
//! Nothing is repaired here: each finding names a cure. Limits are named
//! constants beside the check that uses them.

mod bone_paths;
mod borders;
mod character;
mod elements;
mod garment;
mod layers;
mod motion;
mod outfit;
mod pattern;
mod place;
mod placement;
mod scale;
mod seams;
mod self_contact;
mod shapes;
mod surface;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod shared_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_fit;

pub use borders::{Border, borders};
pub use character::{CharacterInfo, character_info, check_character};
pub use garment::{MadeFor, check_garment, check_garment_made_for};
pub use motion::{FrameContact, JointContact, MotionReport, check_motion};
pub use outfit::check_outfit;
pub use self_contact::{ContactPair, SelfContact, SelfContactFinder};
pub use shapes::{CrossingShape, ShapeSweep, shapes_to_sweep, smallest_angle, sweep_shapes};

/// One thing that is wrong, how often, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is wrong.
    pub finding: FindingKind,
    /// How much it matters.
    pub severity: Severity,
    /// How many of them there are; the kind says of what.
    pub count: u64,
    /// Where: the first few indices, coordinates in centimetres, names.
    pub place: String,
    /// What to do about it.
    pub cure: String,
    /// The vertices concerned, sorted, to be shown in a picture.
    pub vertices: Vec<u32>,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The result would be wrong or the simulation would fail.
    Error,
    /// The result is likely to be worse than it could be.
    Warning,
    /// Worth knowing.
    Note,
}

impl Severity {
    /// `error`, `warning` or `note`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

macro_rules! finding_kinds {
    ($($(#[$doc:meta])* $variant:ident => $name:literal,)*) => {
        /// What can be wrong. The names are stable: programs read them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum FindingKind {
            $($(#[$doc])* $variant,)*
        }

        impl FindingKind {
            /// All kinds.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The stable name, such as `non-manifold-edge`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

finding_kinds! {
    /// The extent does not fit a body, or a person: wrong unit.
    WrongScale => "wrong-scale",
    /// Lies down, stands on its head, faces backwards or is mirrored.
    WrongAxis => "wrong-axis",
    /// The garment is not where the body is.
    FarFromBody => "far-from-body",
    /// The garment is around the body, but nothing of it rests on the body.
    DoesNotFit => "does-not-fit",
    /// Edges of more than two triangles.
    NonManifoldEdge => "non-manifold-edge",
    /// Vertices in which separate fans of triangles meet.
    NonManifoldVertex => "non-manifold-vertex",
    /// Triangles wound against their part.
    FlippedTriangle => "flipped-triangle",
    /// A part that has only one side, like a Möbius strip.
    OneSided => "one-sided",
    /// Triangles of a part that faces the wrong way as a whole.
    InsideOut => "inside-out",
    /// Triangles without area, or thin as a needle.
    DegenerateTriangle => "degenerate-triangle",
    /// Triangles that name the same vertices as an earlier one.
    DuplicateTriangle => "duplicate-triangle",
    /// Parts beside the largest one.
    DisconnectedPart => "disconnected-part",
    /// Border vertices that lie on one another but are not joined.
    OpenSeam => "open-seam",
    /// Borders too short to be an opening.
    Hole => "hole",
    /// Vertices without a triangle.
    UnusedVertex => "unused-vertex",
    /// Triangles that lie on another sheet.
    DoubleLayer => "double-layer",
    /// Pairs of triangles that cross one another.
    SelfIntersection => "self-intersection",
    /// Pairs of triangles of two garments that cross one another.
    LayersCross => "layers-cross",
    /// Points of the garment inside the body.
    InsideBody => "inside-body",
    /// Pattern triangles without area, or thin as a needle.
    DegeneratePattern => "degenerate-pattern",
    /// Pattern triangles wound against the mesh.
    FlippedPattern => "flipped-pattern",
    /// The pattern is not the flat shape of the mesh in metres.
    PatternMismatch => "pattern-mismatch",
    /// Edges far longer or shorter than the pattern says.
    Stretched => "stretched",
    /// Open border edges of a body.
    OpenBody => "open-body",
    /// A closed body part with handles: its Euler characteristic is not 2.
    Handles => "handles",
    /// The body does not stand on y = 0.
    OffFloor => "off-floor",
    /// Shape coefficients beyond the range of their parameter.
    ShapeOutOfRange => "shape-out-of-range",
    /// Vertices that follow a joint far away from them.
    BadWeights => "bad-weights",
    /// Joints that lie far outside the body.
    StrayJoint => "stray-joint",
    /// Joints without a usable name.
    UnnamedJoint => "unnamed-joint",
    /// Frames in which parts of the body that are far apart on the skeleton
    /// enter one another.
    BodyContact => "body-contact",
    /// Frames in which the skin folds into itself at a joint.
    BodyCrease => "body-crease",
    /// Steps between frames that are faster than a person.
    VelocityJump => "velocity-jump",
    /// Frames in which the body is below the floor.
    BelowFloor => "below-floor",
    /// Frames in which the body is above the floor and not in a jump.
    AboveFloor => "above-floor",
}

impl Finding {
    fn new(finding: FindingKind, severity: Severity, count: usize) -> Self {
        Self {
            finding,
            severity,
            count: count as u64,
            place: String::new(),
            cure: String::new(),
            vertices: Vec::new(),
        }
    }

    fn at(mut self, place: impl Into<String>) -> Self {
        self.place = place.into();
        self
    }

    fn cure(mut self, cure: impl Into<String>) -> Self {
        self.cure = cure.into();
        self
    }

    fn vertices(mut self, vertices: impl IntoIterator<Item = u32>) -> Self {
        self.vertices = vertices.into_iter().collect();
        self.vertices.sort_unstable();
        self.vertices.dedup();
        self
    }
}

/// Worst first, then by kind.
fn sorted(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|f| (f.severity, f.finding));
    findings
}
