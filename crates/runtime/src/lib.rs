//! The methods that animate a garment on a moving body.
//!
//! Each implements [`GarmentAnimator`](drapery_core::GarmentAnimator);
//! [`Animator`] is any of them, and [`step_batch`] steps a crowd. So far there
//! is one: [`SkinnedGarment`], the garment skinned like the body, which every
//! other method is compared with and degrades towards.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod animator;
#[cfg(feature = "conformance")]
pub mod conformance;
mod model;
mod skinning;
mod tensors;

pub use animator::{Animator, AnimatorState, BatchError, step_batch};
pub use model::{Model, ModelError, ModelHead, SplitError, TrainingSet};
pub use skinning::{LIMIT, SkinnedGarment, SkinnedGarmentError, SkinnedState};
pub use tensors::{TensorValues, Tensors, TensorsError};
