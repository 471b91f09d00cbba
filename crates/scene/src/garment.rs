//! Garments: read from files, built in, and bound to a body.

mod binding;
mod obj;

pub use binding::{Binding, BindingConfig, BindingError, bind};
