//! Characters, garments, clips and scenes that need no file.
//!
//! ```
//! use drapery_core::BodyModel;
//! use drapery_scene::builtin;
//!
//! let tube = builtin::character("tube").expect("the tube is built in");
//! let sleeve = builtin::garment("sleeve").expect("so is its sleeve");
//! assert!(tube.topology().is_closed());
//! assert_eq!(sleeve.panels().len(), 1);
//! ```

mod scenes;
mod tube;
mod tube_clips;
mod tube_sleeve;

use drapery_core::{BodyModel, Clip, Garment};

use crate::character::Character;
use crate::garment::{DraftConfig, GarmentKind, draft};
use crate::mannequin;
use crate::motion::repertoire;

pub use scenes::{SCENES, scene};

/// Names of the built-in characters.
pub const CHARACTERS: &[&str] = &["tube", "mannequin"];
/// Names of the built-in garments: the tube's sleeve, and what is drafted for
/// people ([`GarmentKind`]).
pub const GARMENTS: &[&str] = &[
    "sleeve",
    "t-shirt",
    "sweater",
    "jacket",
    "skirt",
    "long-skirt",
    "dress-a-line",
    "dress-fitted",
    "trousers",
    "cape",
    "poncho",
];
/// Names of the clips of the tube.
pub const TUBE_CLIPS: &[&str] = &["bend", "sway", "twist"];
/// Names of the built-in clips: the tube's, then the repertoire.
pub const CLIPS: &[&str] = &all_clips();

const N_CLIPS: usize = TUBE_CLIPS.len() + repertoire::NAMES.len();

const fn all_clips() -> [&'static str; N_CLIPS] {
    let mut names = [""; N_CLIPS];
    let mut i = 0;
    while i < N_CLIPS {
        names[i] = if i < TUBE_CLIPS.len() {
            TUBE_CLIPS[i]
        } else {
            repertoire::NAMES[i - TUBE_CLIPS.len()]
        };
        i += 1;
    }
    names
}

/// The built-in character of that name.
pub fn character(name: &str) -> Option<Character> {
    match name {
        "tube" => Some(tube::tube()),
        "mannequin" => Some(mannequin::character()),
        _ => None,
    }
}

/// The built-in garment of that name; what is made for people is drafted for
/// the mannequin's mean shape.
pub fn garment(name: &str) -> Option<Garment> {
    if name == "sleeve" {
        return Some(tube_sleeve::sleeve());
    }
    let kind = GarmentKind::named(name)?;
    let wearer = mannequin::character();
    let mean = vec![0.0; wearer.shape_parameters().len()];
    let garment = draft(kind, &wearer, &mean, &DraftConfig::default());
    Some(garment.expect("the mannequin's mean shape can be dressed"))
}

/// The built-in clip of that name, or of names of the repertoire joined by
/// `+`, such as `walk+turn-90+run`.
pub fn clip(name: &str) -> Option<Clip> {
    match name {
        "bend" => Some(tube_clips::bend()),
        "sway" => Some(tube_clips::sway()),
        "twist" => Some(tube_clips::twist()),
        _ => repertoire::clip(name).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_name_is_there_and_called_so() {
        for name in CHARACTERS {
            assert_eq!(character(name).unwrap().name(), *name);
        }
        // The others are drafted like the skirt, and tested there.
        for name in ["sleeve", "skirt"] {
            assert!(GARMENTS.contains(&name));
            assert_eq!(garment(name).unwrap().name(), name);
        }
        for name in CLIPS {
            assert_eq!(clip(name).unwrap().name(), *name);
        }
    }
}
