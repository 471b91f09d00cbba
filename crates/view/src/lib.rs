//! Pictures and pages of dressed characters, made without a display or a GPU, and the
//! server of the viewer.

pub mod packed;
pub mod page;
mod page_files;
pub mod picture;
pub mod server;

pub use page_files::is_built as has_viewer_page;
