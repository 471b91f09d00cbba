//! Fabrics: built in, from files, and from what a laboratory measures.
//!
//! A [`Fabric`](drapery_core::Fabric) is linear, and cloth is not: it is soft
//! while its threads straighten and stiff after. Every stretch stiffness here
//! is the secant at about [`WEAR_LOAD`], a few times the weight of a garment
//! on its own shoulders.
//!
//! | from                                | by                              |
//! |-------------------------------------|---------------------------------|
//! | a name                              | [`preset`]                      |
//! | `fabric.toml`                       | [`read_toml`], and [`to_toml`]  |
//! | a material of ARCSim                | [`read_arcsim`]                 |
//! | KES, FAST, bending length, drape    | [`Kes`], [`Fast`], [`Cantilever`], [`Drape`] |
//!
//! ```
//! use drapery_scene::fabric;
//!
//! let cotton = fabric::preset("cotton-plain").expect("built in");
//! assert!(cotton.shear < 0.1 * cotton.stretch_warp, "woven cloth shears easily");
//! let text = fabric::to_toml(&cotton);
//! assert_eq!(fabric::read_toml(text.as_bytes(), "mine")?.name, "cotton-plain");
//! # Ok::<(), fabric::FabricFileError>(())
//! ```

mod arcsim;
mod draft;
mod drape;
mod file;
mod laboratory;
mod presets;
mod toml_table;

pub use arcsim::{ArcsimError, ArcsimReading, read_arcsim};
pub use draft::DraftError;
pub use drape::Drape;
pub(crate) use file::read_table;
pub use file::{FabricFileError, read_toml, to_toml};
pub use laboratory::{Cantilever, Fast, Kes, Threads, WEAR_LOAD};
pub(crate) use toml_table::TomlTable;

pub use presets::{NAMES, PRESETS, Preset, preset};
