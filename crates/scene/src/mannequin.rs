//! The mannequin: a person made by code.
//!
//! Its proportions come from [published measurements](CHEST), its joints are
//! SMPL's by name and tree, and each has [a range](limit) that it turns in.

mod anthropometry;
mod limits;
mod skeleton;

pub use anthropometry::{CHEST, HIPS, Measurement, SHOULDERS, STATURE, WAIST, WEIGHT};
pub use limits::{JointAngles, JointLimit, excess, is_within, limit};
pub use skeleton::{N_JOINTS, mirrored, skeleton};
