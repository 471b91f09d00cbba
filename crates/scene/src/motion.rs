//! Motions: read from files, edited, sampled between frames, and put on other
//! skeletons.
//!
//! Everything works on [`drapery_core::Clip`]: joints have identity
//! orientation in the clip's rest pose, which faces +Z and has +Y up, in
//! metres. What a reader had to find out about its file (unit, axes,
//! calibration) is in what it returns, beside the clip.
//!
//! ```
//! use drapery_core::Seconds;
//! use drapery_scene::motion::{self, BvhOptions};
//!
//! let text = "HIERARCHY\nROOT Hips\n{\nOFFSET 0 0 0\nCHANNELS 1 Yrotation\n\
//!             End Site\n{\nOFFSET 0 1.7 0\n}\n}\n\
//!             MOTION\nFrames: 3\nFrame Time: 0.1\n0\n90\n180\n";
//! let file = drapery_store::bvh::read(text.as_bytes())?;
//! let turn = motion::clip_from_bvh(&file, "turn", &BvhOptions::default())?;
//! assert_eq!(turn.unit_m, 1.0);
//! let slow = motion::change_speed(&turn.clip, 0.5)?;
//! assert!((slow.duration().0 - 0.4).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod amass;
mod anatomy;
mod archive;
mod axis;
mod bvh_rig;
mod calibration;
mod clean;
mod convention;
mod drift;
mod edit;
mod footing;
mod from_bvh;
mod joint_map;
mod jumps;
mod mend;
mod note;
mod put_on;
pub mod repertoire;
mod retarget;
mod rotation;
mod sample;
mod soles;
mod to_bvh;
mod unit;

pub use amass::{AmassError, clip_from_amass};
pub use anatomy::{Anatomy, Role, Side};
pub use archive::{ClipNpzError, clip_from_npz, write_clip_npz};
pub use axis::Axis;
pub use calibration::Calibration;
pub use clean::{Cleaned, clean};
pub use convention::Convention;
pub use drift::{Drift, find_drift, level};
pub use edit::{
    AfterStop, EditError, MirrorError, Mirrored, blend, change_speed, insert_stop, mirror,
    resample, trim, trim_seconds,
};
pub use footing::{Footing, footing};
pub use from_bvh::{BvhClipError, BvhOptions, MotionReading, clip_from_bvh};
pub use joint_map::{JointLink, JointMap, JointMapError, Rule};
pub use jumps::{Jump, find_jumps};
pub use mend::{Mend, Mended, mend};
pub use note::MotionNote;
pub use put_on::{PutOn, PutOnError, PutOnOptions, RetargetedBy, put_on};
pub use retarget::{RetargetError, RetargetOptions, Retargeted, retarget};
pub use sample::{Moving, sample, sample_between};
pub use to_bvh::bvh_from_clip;
pub use unit::LengthUnit;
