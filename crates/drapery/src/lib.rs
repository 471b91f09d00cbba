//! Turns cloth simulation into clothing that runs in real time.
//!
//! A character, a garment and a motion go in; an animated garment comes out.
//! This crate re-exports the parts under one roof:
//!
//! | module      | what it has                                                  |
//! |-------------|--------------------------------------------------------------|
//! | [`core`]    | meshes, skeletons, poses, garments, the traits at the seams   |
//! | [`store`]   | every file format, in and out                                 |
//! | [`scene`]   | characters, garments, fabrics, motions, pre-flight checks     |
//! | [`sim`]     | elastic cloth: energies and where it comes to rest            |
//! | [`runtime`] | the methods that animate a garment                            |
//! | [`eval`]    | how far an animated garment is from its simulation            |
//! | [`learn`]   | how they are trained                                          |
//! | [`view`]    | pictures and pages                                            |
//! | [`on_body`] | the part of the physics suite that needs a body               |
//!
//! The whole road, on built-ins that need no file:
//!
//! ```
//! use drapery::core::BodyModel;
//! use drapery::{RollOut, dress, roll_out, scene::builtin};
//!
//! let body = builtin::character("tube").expect("built in");
//! let garment = builtin::garment("sleeve").expect("built in");
//! let clip = builtin::clip("bend").expect("built in");
//!
//! let animator = dress(&garment, &body, clip.frame_rate())?;
//! let shaped = body.shaped(&[0.0, 0.0])?;
//! let mut highest = f32::MIN;
//! let ended = roll_out(&animator, &body, &shaped, &clip, |_, _, cloth| {
//!     highest = cloth.iter().map(|p| p.y).fold(highest, f32::max);
//!     true
//! })?;
//! assert_eq!(ended, RollOut::Done);
//! assert!((0.8..1.0).contains(&highest));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use drapery_core as core;
pub use drapery_eval as eval;
pub use drapery_learn as learn;
pub use drapery_runtime as runtime;
pub use drapery_scene as scene;
pub use drapery_sim as sim;
pub use drapery_store as store;
pub use drapery_view as view;

mod animation;
mod blended;
mod evaluation;
mod layering;
pub mod on_body;
mod outfit;
mod parting;
mod recording;
mod road;
mod simulated;
mod surfacing;
mod training;
mod viewing;
mod wear;
mod wearer;

pub use animation::{AlembicExportError, Animation, BakedGarment, NpzExportError, WearModelError};
pub use blended::{BlendError, BlendedGarment};
pub use evaluation::{correction_of, evaluate_sequence};
pub use layering::Layering;
pub use outfit::Layer;
pub use parting::{Parted, PartingConfig, part_limbs};
pub use recording::{
    ArchiveMotion, ArchiveMotionError, ClothSpace, GarmentCheck, PlaceError, Progress, Recorded,
    Recording, RecordingError, SequenceCheck, archive_motion, check_place, check_sequence,
    import_sequence, shape_name, stored_body, stored_character,
};
pub use road::{
    DressError, RollOut, RollOutError, dress, dress_made_for, dress_with, roll_out,
    roll_out_with_state,
};
pub use simulated::{SimulatedGarment, WearConfig, WearError, WornGarment};
pub use training::{TrainingError, skinned_garment, train_linear_model, train_stable_model};
pub use viewing::{ExhibitError, Exhibition};
pub use wear::{FrameFlags, WearMeter, WearSummary, WornFrame};

/// The examples of the guide for users of the library, which are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct LibraryGuide;
