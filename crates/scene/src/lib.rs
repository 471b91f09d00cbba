//! Characters, garments, fabrics and motions: what stands, what it wears and how it moves.

pub mod builtin;
pub mod character;
pub mod fabric;
pub mod garment;
pub mod load;
pub mod mannequin;
pub mod motion;
pub mod preflight;
pub mod scene_file;
