//! Every file format that drapery reads and writes.
//!
//! Readers take bytes and return the file's content as it is, checked: indices
//! in range, lengths matching, numbers finite. What a file means (axes, units,
//! joints, garments) is decided in `drapery-scene`.

pub mod alembic;
pub mod bvh;
pub mod cloth;
pub mod dataset;
pub mod gltf;
pub mod mdd;
pub mod moving;
pub mod npz;
pub mod obj;
pub mod pc2;
mod point_cache;
pub mod usd;

pub use point_cache::{CacheError, CacheWriteError};
