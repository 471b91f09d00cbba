//! Characters: a skinned body with an optional shape space.
//!
//! ```text
//! rest(β)   = template + Σ βₖ Sₖ             shape directions
//! joints(β) = J + Σ βₖ Jₖ
//! x_world   = (Σ wᵢ Tᵢ(θ, β)) (rest(β) + P f(θ))
//! ```
//!
//! with f(θ) the entries of Rⱼ − I for every joint but the root, row by row
//! (the layout of SMPL's pose blend shapes; absent in most characters).

mod gltf;
mod influences;
mod linear_blend;
mod rig;
mod smpl;
mod weld;

pub use gltf::{
    GltfCharacterError, GltfClipError, GltfClipNote, GltfClips, GltfMotion, GltfMotionError,
    GltfNote, GltfReading, GltfRig, read_gltf, read_gltf_clips, read_gltf_motion,
};
pub use linear_blend::{Character, CharacterError, CharacterParts, PoseDirections, WeldMap};
pub use rig::{RigError, read_rig};
pub use smpl::{SmplError, SmplNote, SmplReading, read_smpl};
pub use weld::{Weld, seam_copies, weld_seams};
