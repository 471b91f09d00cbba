//! Garments drafted for a given body: [`draft`].
//!
//! Patterns are made as on a tailor's dummy: cloth is laid around the shaped
//! body at rest with some ease, cut along its seams, and each panel is laid
//! flat with its lengths kept. So a garment starts where it is worn, almost
//! without strain, and its panels are true to the body.
//!
//! 1. [`Figure`](figure::Figure) finds parts, landmarks and slices of the body.
//! 2. A style (skirt, top, trousers, sheet) gives [`Cut`](cut::Cut)s: regions
//!    of a plane with their place in space, along convex hulls of slices.
//! 3. [`sew`](sew::sew) lays them flat, fills them with triangles and joins them.
//! 4. [`settle`](settle::settle) makes room between cloth and skin.
//!
//! Pattern y is the warp. The pattern is the same at every resolution.

mod cut;
mod figure;
mod flatten;
mod mesher;
mod section;
mod settle;
mod sew;
mod sheet;
mod skirt;
mod sleeve;
mod styles;
mod top;
mod trousers;
mod trunk;

#[cfg(test)]
mod tests;

use drapery_core::{BodyModel, Garment, GarmentError, ShapeError};

use figure::Figure;
pub use figure::Measurements;

/// What can be drafted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GarmentKind {
    /// A straight shirt with short sleeves.
    TShirt,
    /// A close shirt with long sleeves.
    Sweater,
    /// A straight jacket to the hips with long sleeves, open in front, wide
    /// enough for a shirt under it.
    Jacket,
    /// A wide knee-length skirt.
    Skirt,
    /// A wide skirt to the ankles.
    LongSkirt,
    /// A dress without sleeves that widens from the bust down.
    DressALine,
    /// A close dress to the knees with sleeves to the elbows.
    DressFitted,
    /// Straight trousers to the ankles.
    Trousers,
    /// A long cape over the back and the shoulders, open in front.
    Cape,
    /// A sheet over shoulders and arms with a hole for the head.
    Poncho,
}

impl GarmentKind {
    /// All kinds.
    pub const ALL: &'static [Self] = &[
        Self::TShirt,
        Self::Sweater,
        Self::Jacket,
        Self::Skirt,
        Self::LongSkirt,
        Self::DressALine,
        Self::DressFitted,
        Self::Trousers,
        Self::Cape,
        Self::Poncho,
    ];

    /// Its name, such as `t-shirt`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TShirt => "t-shirt",
            Self::Sweater => "sweater",
            Self::Jacket => "jacket",
            Self::Skirt => "skirt",
            Self::LongSkirt => "long-skirt",
            Self::DressALine => "dress-a-line",
            Self::DressFitted => "dress-fitted",
            Self::Trousers => "trousers",
            Self::Cape => "cape",
            Self::Poncho => "poncho",
        }
    }

    /// The name of the built-in fabric that it is usually made of.
    pub const fn fabric(self) -> &'static str {
        match self {
            Self::Jacket => "wool-worsted",
            _ => "cotton-plain",
        }
    }

    /// The kind of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

/// Sizes, as what they add to a garment's girth on the same body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Size {
    /// Small: close.
    S,
    /// Medium: as the kind is meant.
    #[default]
    M,
    /// Large: loose.
    L,
    /// Extra large: wide.
    Xl,
}

impl Size {
    /// What it adds to every girth [m].
    pub const fn ease(self) -> f32 {
        match self {
            Self::S => -0.02,
            Self::M => 0.0,
            Self::L => 0.04,
            Self::Xl => 0.08,
        }
    }
}

/// How a garment is drafted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DraftConfig {
    /// About how many triangles it has.
    pub n_triangles: u32,
    /// What is added to the girths that the kind has [m].
    pub ease: f32,
}

impl Default for DraftConfig {
    fn default() -> Self {
        Self {
            n_triangles: 6000,
            ease: Size::M.ease(),
        }
    }
}

/// Why a garment can't be drafted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DraftError {
    /// The body has no triangles.
    #[error("the body has no surface to be dressed")]
    NoSurface,
    /// The joints' names are of no known convention.
    #[error("the joints of the body have names of no known convention")]
    UnknownJoints,
    /// A joint that a tailor needs is missing.
    #[error("the body has no {name} joint")]
    NoJoint {
        /// Which one.
        name: &'static str,
    },
    /// The body could not be measured somewhere.
    #[error("the body has no {name} that can be measured")]
    NoSlice {
        /// Where.
        name: &'static str,
    },
    /// A panel can't be laid flat on this body.
    #[error("panel {panel} folds over itself on this body")]
    Panel {
        /// Its name.
        panel: String,
    },
    /// A setting is out of range.
    #[error("{setting} is {value}, which is not from {min} to {max}")]
    Setting {
        /// Which field of [`DraftConfig`].
        setting: &'static str,
        /// Its value.
        value: f32,
        /// The smallest value allowed.
        min: f32,
        /// The largest value allowed.
        max: f32,
    },
    /// The shape does not fit the body.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// What came out is no garment.
    #[error(transparent)]
    Garment(#[from] GarmentError),
}

/// The least and the most triangles of a draft.
const N_TRIANGLES: [u32; 2] = [150, 100_000];

/// The least and the most that is added to girths [m].
const EASE: [f32; 2] = [-0.03, 0.3];

impl DraftConfig {
    fn check(&self) -> Result<(), DraftError> {
        let [min, max] = N_TRIANGLES;
        if !(min..=max).contains(&self.n_triangles) {
            return Err(DraftError::Setting {
                setting: "n_triangles",
                value: self.n_triangles as f32,
                min: min as f32,
                max: max as f32,
            });
        }
        let [min, max] = EASE;
        if !(min..=max).contains(&self.ease) {
            return Err(DraftError::Setting {
                setting: "ease",
                value: self.ease,
                min,
                max,
            });
        }
        Ok(())
    }
}

/// What size does to the room that a style has.
pub(in crate::garment) struct Fit {
    /// Added to radii [m].
    ease: f64,
}

/// Cloth is drafted at least this far from the skin [m].
const MIN_ROOM: f64 = 0.006;

impl Fit {
    /// The room of a style in this size, as a radius [m].
    fn room(&self, style: f64) -> f64 {
        (style + self.ease).max(MIN_ROOM)
    }

    /// The same around an arm or a leg, which a size widens half as much.
    fn room_of_limb(&self, style: f64) -> f64 {
        (style + 0.5 * self.ease).max(MIN_ROOM)
    }
}

/// Drafts a garment for the body of a shape, at rest.
///
/// # Errors
/// When the joints of the body can't be named, it can't be measured, or a
/// setting is out of range.
///
/// ```
/// use drapery_core::BodyModel;
/// use drapery_scene::builtin;
/// use drapery_scene::garment::{DraftConfig, GarmentKind, Size, draft};
///
/// let wearer = builtin::character("mannequin").expect("built in");
/// let shape = vec![0.0; wearer.shape_parameters().len()];
/// let config = DraftConfig {
///     n_triangles: 500,
///     ease: Size::L.ease(),
/// };
/// let skirt = draft(GarmentKind::Skirt, &wearer, &shape, &config)?;
/// assert_eq!(skirt.panels().len(), 2);
/// # Ok::<(), drapery_scene::garment::DraftError>(())
/// ```
pub fn draft(
    kind: GarmentKind,
    model: &dyn BodyModel,
    shape: &[f32],
    config: &DraftConfig,
) -> Result<Garment, DraftError> {
    config.check()?;
    let body = model.shaped(shape)?;
    let figure = Figure::new(model, &body)?;
    let fit = Fit {
        ease: f64::from(config.ease) / std::f64::consts::TAU,
    };
    let cuts = styles::cuts(kind, &figure, &fit)?;
    let flat = sew::lay_flat(&cuts)?;
    let mut sewn = sew::sew(&flat, config.n_triangles)?;
    settle::settle(&mut sewn, &figure);
    sewn.finish(kind.name())
}

/// What a tailor would measure on the body of a shape.
///
/// # Errors
/// As [`draft`].
pub fn measure(model: &dyn BodyModel, shape: &[f32]) -> Result<Measurements, DraftError> {
    let body = model.shaped(shape)?;
    Ok(Figure::new(model, &body)?.measured)
}
