//! Garments: read from files, built in, and bound to a body.

mod binding;
mod draft;
mod halfway;
pub(crate) mod heat;
mod obj;

pub use binding::{Binding, BindingConfig, BindingError, bind, bind_made_for};
pub use draft::{DraftConfig, DraftError, GarmentKind, Measurements, Size, draft, measure};
pub use obj::{
    GarmentFileError, GarmentNote, GarmentReading, PatternSource, TextureUse, pins, read_obj,
    read_obj_as, to_obj, write_obj,
};
