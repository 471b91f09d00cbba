//! Trains the methods that animate a garment, from the sequences of a
//! [`DatasetStore`](drapery_store::dataset::DatasetStore).
//!
//! Sequences are gone through frame by frame, as often as needed; what is held
//! does not grow with their number.

mod body_space;
mod encode;
mod energy;
mod error;
mod frames;
mod hidden;
mod inputs;
mod kernel_ridge;
mod lbfgs;
mod least_squares;
mod linear;
mod open_loop;
mod pca;
mod roll_out;
mod stability;
mod stable_space;
mod swing_bound;

pub use energy::{Energy, EnergyCoordinates};
pub use error::TrainError;
pub use frames::Footage;
pub use hidden::{N_VIEWS, hidden_skin, hidden_vertices};
pub use kernel_ridge::{
    KERNEL_RIDGES, KERNEL_WIDTHS, KernelGarment, KernelState, TrainedKernel, train_kernel_ridge,
};
pub use linear::{LINEAR_RIDGES, LinearConfig, TrainedLinear, USUAL_RIDGE, train_linear};
pub use open_loop::{OpenLoopError, SeenShot};
pub use pca::{EachBlock, MAX_GRAM, PASSES, Pca, PcaError, PcaMethod};
pub use stability::FitKind;
pub use stable_space::{
    Fitting, MEMORIES, MEMORY, RIDGE, RIDGES, Ridge, Stability, StableModel, StableSpaceConfig,
    TrainStage, TrainedStableSpace, Tried, train_stable_space,
};
pub use swing_bound::{summed_bound, swing_bound};
