//! The methods that animate a garment on a moving body.
//!
//! Each implements [`GarmentAnimator`](drapery_core::GarmentAnimator);
//! [`Animator`] is any of them; [`step_batch`] steps many garments one by one,
//! [`StableCrowd`] a whole crowd of `stable-space` in matrix products, and
//! [`Outfit`] several garments of one character.
//!
//! | method         | here               | what it is                                         |
//! |----------------|--------------------|----------------------------------------------------|
//! | `skinning`     | [`SkinnedGarment`] | the garment skinned like the body, which every other method is compared with and degrades towards |
//! | `stable-space` | [`StableSpace`]    | linear dynamics in a PCA space, conditioned on the body |
//!
//! A trained method is kept as the bytes of a [`Model`].
//!
//! | feature   | what it adds                                                   |
//! |-----------|----------------------------------------------------------------|
//! | `threads` | crowds on all threads of the current pool; needs std           |
//! | `detect`  | vectors as wide as the machine has, found at run time; needs std |
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod animator;
#[cfg(feature = "conformance")]
pub mod conformance;
mod correction;
mod crowd;
mod hidden_skin;
mod linear;
mod model;
mod outfit;
mod parts;
mod pose_range;
mod products;
mod root_motion;
mod skinning;
mod stable_space;
mod tensors;

pub use animator::{Animator, AnimatorState, BatchError, step_batch};
pub use correction::{
    CollisionCorrection, Corrected, CorrectedState, CorrectionConfig, CorrectionState,
};
pub use crowd::{CrowdError, CrowdState, CrowdTimes, StableCrowd};
pub use hidden_skin::HiddenSkin;
pub use linear::{LinearGarment, LinearParts, LinearState, linear_inputs, n_linear_inputs};
pub use model::{Model, ModelError, ModelHead, SplitError, TrainingSet};
pub use outfit::{Outfit, OutfitError, OutfitState};
pub use parts::PartsError;
pub use pose_range::{
    LOST, OUTSIDE, PoseRange, PoseRangeError, PoseRangeParts, PoseScratch, Trust, canonical_rows,
};
pub use root_motion::{ROOT_MOTION, RootLimits, root_motion};
pub use skinning::{LIMIT, SkinnedGarment, SkinnedGarmentError, SkinnedState};
pub use stable_space::{
    ClothSpace, Dynamics, DynamicsError, MAX_ORDER, RootTerms, StableSpace, StableSpaceParts,
    StableState,
};
pub use tensors::{TensorValues, Tensors, TensorsError};
