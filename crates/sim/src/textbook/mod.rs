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
//! let suite = Suite {
//!     size: Size::Quick,
//!     only: Some(Test::HangingStrip),
//!     threads: 1,
//!     seed: None,
//!     fabrics: Vec::new(),
//!     more: Vec::new(),
//! };
//! let cases = run(&suite, |_| ControlFlow::Continue(()));
//! assert!(cases.len() >= 4 && cases.iter().all(|case| case.pass()));
//! ```

mod cantilever;
mod capstan;
mod case;
mod catenary;
mod cusick;
mod determinism;
mod dice;
mod energy_budget;
mod flat_mesh;
mod free_fall;
mod frequency;
mod hanging_strip;
mod incline;
mod independence;
mod lateral_buckling;
mod random_scene;
mod random_scenes;
mod rectangle;
mod ring;
mod statics;
mod suite;
mod trouble;
mod tunnelling;
mod way;

pub use case::{Case, Figure, Test};
pub(crate) use dice::Dice;
pub use rectangle::{Rectangle, Triangulation};
pub use ring::Ring;
pub use suite::{Experiment, Size, Suite, run};
pub use trouble::Trouble;
