//! The physics suite: cloth against figures that nobody here chose.
//!
//! Each test runs a small experiment whose answer stands in a textbook and
//! reports it as a [`Case`]: what was measured, what the book says, how far
//! they are apart and how far they may be. Where shape matters, every case
//! runs on two triangulations ([`Triangulation`]) with the same constants.
//!
//! ```
//! use std::ops::ControlFlow;
//! use drapery_sim::textbook::{Size, Suite, Test, run};
//!
//! let suite = Suite { size: Size::Quick, only: Some(Test::HangingStrip), threads: 1, seed: None };
//! let cases = run(&suite, |_| ControlFlow::Continue(()));
//! assert!(cases.len() >= 4 && cases.iter().all(|case| case.pass()));
//! ```

mod cantilever;
mod case;
mod catenary;
mod determinism;
mod energy_budget;
mod free_fall;
mod frequency;
mod hanging_strip;
mod independence;
mod lateral_buckling;
mod random_scene;
mod random_scenes;
mod rectangle;
mod statics;
mod suite;
mod trouble;
mod tunnelling;
mod way;

pub use case::{Case, Figure, Test};
pub use rectangle::{Rectangle, Triangulation};
pub use suite::{Size, Suite, run};
pub use trouble::Trouble;
