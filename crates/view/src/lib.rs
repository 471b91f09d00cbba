//! Pictures and pages of dressed characters, made without a display or a GPU.

pub mod page;
pub mod picture;
