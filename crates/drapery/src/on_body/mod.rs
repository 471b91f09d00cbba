//! The part of the physics suite that needs a body: cloth on the mannequin.
//!
//! | test               | reference                                             |
//! |--------------------|-------------------------------------------------------|
//! | `body-penetration` | no point of a garment deeper in the body than 1 mm     |
//! | `body-momentum`    | Newton's second law; a belt, a = μ g until it sticks   |
//! | `body-capstan`     | T₂ = T₁ exp(μ φ) around a limb that is not round       |
//!
//! The experiments are for [`sim::textbook::run`](drapery_sim::textbook::run)
//! to run among its own:
//!
//! ```
//! use drapery::on_body::experiments;
//! use drapery::sim::textbook::{Size, Suite, Test};
//!
//! let suite = Suite {
//!     size: Size::Quick,
//!     only: Some(Test::BodyCapstan),
//!     threads: 1,
//!     seed: None,
//!     fabrics: Vec::new(),
//!     more: experiments(Size::Quick),
//! };
//! assert!(!suite.more.is_empty());
//! ```

mod belt;
mod capstan;
mod momentum;
mod penetration;
mod stand;
mod taut;

use drapery_sim::textbook::{Experiment, Size};

/// The experiments with cloth on the mannequin.
pub fn experiments(size: Size) -> Vec<Experiment> {
    [
        penetration::experiments(size),
        momentum::experiments(size),
        belt::experiments(size),
        capstan::experiments(size),
    ]
    .concat()
}
