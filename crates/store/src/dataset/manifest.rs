//! What a dataset is to hold: [`Manifest`], fixed before any work.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a sequence is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// Methods learn from it.
    Train,
    /// Settings are chosen by it.
    Tune,
    /// Never looked at before a method is done.
    Test,
}

impl Split {
    /// All splits.
    pub const ALL: [Self; 3] = [Self::Train, Self::Tune, Self::Test];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Tune => "tune",
            Self::Test => "test",
        }
    }

    /// The split of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|split| split.name() == name)
    }
}

/// A body shape under a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodyShape {
    /// What it is called, such as `mean` or `weight=1.5`.
    pub name: String,
    /// Coefficients, one a shape parameter of the body.
    pub coefficients: Vec<f32>,
}

/// A sequence that a dataset is to hold: one clip on one body shape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedSequence {
    /// `<clip>@<shape>`; the name of its group.
    pub name: String,
    /// The clip, with what was done to it: `walk~stop40`.
    pub clip: String,
    /// The clip that it was made from: `walk`. Copies share its split.
    pub parent: String,
    /// Which of the dataset's shapes.
    pub shape: u32,
    /// What it is for.
    pub split: Split,
    /// How many frames it has.
    pub frames: u32,
}

/// All that a dataset is to hold, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manifest {
    /// The body shapes.
    pub shapes: Vec<BodyShape>,
    /// The sequences.
    pub sequences: Vec<PlannedSequence>,
}

/// Why a manifest is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// A name that can't be that of a folder everywhere.
    #[error("{what} {name:?} can't be the name of a folder")]
    Name {
        /// Of what.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Two of one name.
    #[error("two {what} are called {name}")]
    Twice {
        /// `sequences`, `shapes` or `garments`.
        what: &'static str,
        /// Their name.
        name: String,
    },
    /// A shape that is not there.
    #[error("sequence {name} has shape {shape}, but there are only {n_shapes}")]
    NoSuchShape {
        /// The sequence.
        name: String,
        /// Its shape.
        shape: u32,
        /// How many there are.
        n_shapes: usize,
    },
    /// A shape with a coefficient that is no number, or of the wrong length.
    #[error("shape {name} does not have {expected} finite coefficients")]
    Shape {
        /// The shape.
        name: String,
        /// How many coefficients it should have.
        expected: usize,
    },
    /// No frames, or more than there can be.
    #[error("sequence {name} has {frames} frames, not from 1 to {limit}")]
    Frames {
        /// The sequence.
        name: String,
        /// How many frames.
        frames: u32,
        /// The most there can be.
        limit: u32,
    },
    /// Copies of one clip in two splits.
    #[error("copies of clip {parent} are in {one} and in {other}")]
    Leak {
        /// The clip.
        parent: String,
        /// One split.
        one: &'static str,
        /// Another.
        other: &'static str,
    },
}

/// The most frames of a sequence: nine hours at thirty a second.
const MAX_FRAMES: u32 = 1_000_000;

impl Manifest {
    /// The sequence of that name.
    pub fn get(&self, name: &str) -> Option<&PlannedSequence> {
        self.sequences.iter().find(|s| s.name == name)
    }

    /// The shape of a sequence.
    ///
    /// # Panics
    /// When the sequence is of another manifest.
    pub fn shape_of(&self, sequence: &PlannedSequence) -> &BodyShape {
        &self.shapes[sequence.shape as usize]
    }

    /// Moves a clip with all its copies to a split; how many sequences moved.
    pub fn move_clip(&mut self, parent: &str, split: Split) -> usize {
        let mut moved = 0;
        for sequence in &mut self.sequences {
            if sequence.parent == parent && sequence.split != split {
                sequence.split = split;
                moved += 1;
            }
        }
        moved
    }

    /// Checks names, shapes of `n_coefficients`, lengths and splits.
    ///
    /// # Errors
    /// What is wrong first.
    pub fn check(&self, n_coefficients: usize) -> Result<(), ManifestError> {
        check_names("shapes", self.shapes.iter().map(|s| s.name.as_str()))?;
        check_names("sequences", self.sequences.iter().map(|s| s.name.as_str()))?;
        for shape in &self.shapes {
            let is_finite = shape.coefficients.iter().all(|c| c.is_finite());
            if shape.coefficients.len() != n_coefficients || !is_finite {
                return Err(ManifestError::Shape {
                    name: shape.name.clone(),
                    expected: n_coefficients,
                });
            }
        }
        let mut splits: BTreeMap<&str, Split> = BTreeMap::new();
        for sequence in &self.sequences {
            let name = || sequence.name.clone();
            if sequence.shape as usize >= self.shapes.len() {
                return Err(ManifestError::NoSuchShape {
                    name: name(),
                    shape: sequence.shape,
                    n_shapes: self.shapes.len(),
                });
            }
            if !(1..=MAX_FRAMES).contains(&sequence.frames) {
                return Err(ManifestError::Frames {
                    name: name(),
                    frames: sequence.frames,
                    limit: MAX_FRAMES,
                });
            }
            let first = splits.entry(&sequence.parent).or_insert(sequence.split);
            if *first != sequence.split {
                return Err(ManifestError::Leak {
                    parent: sequence.parent.clone(),
                    one: first.name(),
                    other: sequence.split.name(),
                });
            }
        }
        Ok(())
    }
}

/// Checks that names differ, whatever the case of their letters, and can be
/// those of folders.
pub(super) fn check_names<'a>(
    what: &'static str,
    names: impl Iterator<Item = &'a str>,
) -> Result<(), ManifestError> {
    let mut seen = BTreeMap::new();
    for name in names {
        let is_plain =
            |c: char| !c.is_control() && !c.is_whitespace() && !"/\\:*?\"<>|".contains(c);
        let is_hidden = name.starts_with('.') || name.starts_with("__");
        if name.is_empty() || name.len() > 200 || is_hidden || !name.chars().all(is_plain) {
            return Err(ManifestError::Name {
                what,
                name: name.to_string(),
            });
        }
        if seen.insert(name.to_lowercase(), ()).is_some() {
            return Err(ManifestError::Twice {
                what,
                name: name.to_string(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(clip: &str, parent: &str, split: Split) -> PlannedSequence {
        PlannedSequence {
            name: format!("{clip}@mean"),
            clip: clip.into(),
            parent: parent.into(),
            shape: 0,
            split,
            frames: 3,
        }
    }

    fn manifest(sequences: Vec<PlannedSequence>) -> Manifest {
        Manifest {
            shapes: vec![BodyShape {
                name: "mean".into(),
                coefficients: vec![0.0; 2],
            }],
            sequences,
        }
    }

    #[test]
    fn copies_of_a_clip_share_its_split_and_move_with_it() {
        let copies = |split| {
            manifest(vec![
                planned("walk", "walk", Split::Train),
                planned("walk~stop4", "walk", split),
                planned("run", "run", Split::Test),
            ])
        };
        let leak = copies(Split::Test).check(2);
        assert!(matches!(leak, Err(ManifestError::Leak { .. })), "{leak:?}");
        let mut sound = copies(Split::Train);
        assert_eq!(sound.check(2), Ok(()));
        assert_eq!(sound.move_clip("walk", Split::Tune), 2);
        assert_eq!(sound.check(2), Ok(()));
        assert_eq!(sound.sequences[2].split, Split::Test);
    }

    #[test]
    fn senseless_manifests_are_refused() {
        let walk = || planned("walk", "walk", Split::Train);
        let check = |edit: &dyn Fn(&mut Manifest)| {
            let mut manifest = manifest(vec![walk()]);
            edit(&mut manifest);
            manifest.check(2)
        };
        assert_eq!(check(&|_| ()), Ok(()));
        let twice = check(&|m| {
            let mut other = walk();
            other.name = "Walk@mean".into();
            m.sequences.push(other);
        });
        assert!(matches!(twice, Err(ManifestError::Twice { .. })));
        for name in ["", ".", "..", ".x", "a/b", "a b", "a\nb", "a:b", "__a"] {
            let wrong = check(&|m| m.sequences[0].name = name.into());
            assert!(matches!(wrong, Err(ManifestError::Name { .. })), "{name}");
        }
        let shape = check(&|m| m.sequences[0].shape = 1);
        assert!(matches!(shape, Err(ManifestError::NoSuchShape { .. })));
        let nan = check(&|m| m.shapes[0].coefficients[1] = f32::NAN);
        assert!(matches!(nan, Err(ManifestError::Shape { .. })));
        let none = check(&|m| m.sequences[0].frames = 0);
        assert!(matches!(none, Err(ManifestError::Frames { .. })));
    }
}
