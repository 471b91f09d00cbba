//! Trains the methods that animate a garment, from the sequences of a
//! [`DatasetStore`](drapery_store::dataset::DatasetStore).
//!
//! Sequences are gone through frame by frame, as often as needed; what is held
//! does not grow with their number.

mod pca;

pub use pca::{EachBlock, MAX_GRAM, PASSES, Pca, PcaError, PcaMethod};
