//! Characters, garments and motions by name: a built-in one, or a file.
//!
//! A name with an extension is a file, one without is built in. What a reader
//! had to decide (units, axes, welding) comes back as notes to be said aloud.

use std::path::{Path, PathBuf};

use drapery_core::{BodyModel, Clip, FrameRate, Garment};
use drapery_store::gltf::{GltfDocument, GltfError};
use drapery_store::npz::{NpzArchive, NpzError};

use crate::builtin;
use crate::character::{self, Character, GltfCharacterError, GltfClipError, SmplError};
use crate::garment::{self, GarmentFileError, PatternSource};
use crate::motion::{self, AmassError, Axis, BvhClipError, BvhOptions, ClipNpzError};

/// Why something can't be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// No file, and nothing of that name is built in.
    #[error("no built-in {kind} is called {name}; there is {}{}", known.join(", "), suggestion(nearest.as_deref()))]
    UnknownName {
        /// `character`, `garment` or `motion`.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// What there is.
        known: &'static [&'static str],
        /// The nearest of them.
        nearest: Option<String>,
    },
    /// The file can't be read.
    #[error("cannot read {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// Nobody here reads files of that kind.
    #[error("a {kind} can't be read from .{extension}; it can from {known}: {}", path.display())]
    UnknownExtension {
        /// `character`, `garment` or `motion`.
        kind: &'static str,
        /// The file's extension.
        extension: String,
        /// What can be read.
        known: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// The file is wrong.
    #[error("cannot read {kind} from {}", path.display())]
    Content {
        /// `character`, `garment` or `motion`.
        kind: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: ContentError,
    },
}

/// What is wrong inside a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContentError {
    /// Not glTF.
    #[error(transparent)]
    Gltf(#[from] GltfError),
    /// glTF, but no character.
    #[error(transparent)]
    GltfCharacter(#[from] GltfCharacterError),
    /// glTF, but its animations are wrong.
    #[error(transparent)]
    GltfClip(#[from] GltfClipError),
    /// Not an archive of arrays.
    #[error(transparent)]
    Npz(#[from] NpzError),
    /// Arrays, but no body.
    #[error(transparent)]
    Smpl(#[from] SmplError),
    /// Not a garment.
    #[error(transparent)]
    Garment(#[from] GarmentFileError),
    /// Not BVH.
    #[error(transparent)]
    Bvh(#[from] drapery_store::bvh::BvhError),
    /// BVH, but no motion.
    #[error(transparent)]
    BvhClip(#[from] BvhClipError),
    /// Arrays, but no AMASS motion.
    #[error(transparent)]
    Amass(#[from] AmassError),
    /// Arrays, but no clip of ours.
    #[error(transparent)]
    ClipArchive(#[from] ClipNpzError),
    /// glTF without animations.
    #[error("the file has no animation")]
    NoAnimation,
    /// glTF without that animation.
    #[error("the file has no animation called {name}; it has {}", known.join(", "))]
    NoSuchAnimation {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
}

fn suggestion(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |n| format!(" (did you mean {n}?)"))
}

/// A character with what was noticed while reading it.
#[derive(Clone, Debug)]
pub struct LoadedCharacter {
    /// The character.
    pub character: Character,
    /// What to say aloud.
    pub notes: Vec<String>,
}

/// A garment with what was noticed while reading it.
#[derive(Clone, Debug)]
pub struct LoadedGarment {
    /// The garment.
    pub garment: Garment,
    /// Where its rest shape comes from.
    pub pattern: PatternSource,
    /// What to say aloud.
    pub notes: Vec<String>,
}

/// A motion on its own skeleton, with what was noticed while reading it.
#[derive(Clone, Debug)]
pub struct LoadedMotion {
    /// The motion.
    pub clip: Clip,
    /// Metres in one unit of the file.
    pub unit_m: f64,
    /// Which way was up in the file.
    pub up: Axis,
    /// What to say aloud.
    pub notes: Vec<String>,
}

/// How motions are read.
#[derive(Clone, Debug, Default)]
pub struct MotionOptions {
    /// For BVH files.
    pub bvh: BvhOptions,
    /// Which animation of a glTF file; the first one if not given.
    pub animation: Option<String>,
}

/// The character of that name or in that file (.glb, .gltf, .npz).
///
/// # Errors
/// When there is none, or it is wrong.
pub fn load_character(name: &str) -> Result<LoadedCharacter, LoadError> {
    const KIND: &str = "character";
    let Some((path, extension)) = as_file(name) else {
        let character =
            builtin::character(name).ok_or_else(|| unknown(KIND, name, builtin::CHARACTERS))?;
        return Ok(LoadedCharacter {
            character,
            notes: Vec::new(),
        });
    };
    let stem = stem(path);
    let content = match extension.as_str() {
        "glb" | "gltf" => gltf(path)?.and_then(|document| {
            let reading = character::read_gltf(&document, &stem)?;
            Ok((reading.character, texts(&reading.notes)))
        }),
        "npz" => character::read_smpl(&read(path)?, &stem)
            .map(|reading| (reading.character, texts(&reading.notes)))
            .map_err(ContentError::from),
        _ => {
            return Err(unreadable(
                KIND,
                path,
                extension,
                ".glb, .gltf and SMPL-layout .npz",
            ));
        }
    };
    let (character, notes) = content.map_err(|source| wrong(KIND, path, source))?;
    Ok(LoadedCharacter { character, notes })
}

/// The garment of that name or in that file (.obj).
///
/// # Errors
/// When there is none, or it is wrong.
pub fn load_garment(name: &str) -> Result<LoadedGarment, LoadError> {
    const KIND: &str = "garment";
    let Some((path, extension)) = as_file(name) else {
        let garment =
            builtin::garment(name).ok_or_else(|| unknown(KIND, name, builtin::GARMENTS))?;
        return Ok(LoadedGarment {
            garment,
            pattern: PatternSource::Flat,
            notes: Vec::new(),
        });
    };
    if extension != "obj" {
        return Err(unreadable(KIND, path, extension, ".obj"));
    }
    let reading =
        garment::read_obj(&read(path)?, &stem(path)).map_err(|e| wrong(KIND, path, e.into()))?;
    Ok(LoadedGarment {
        garment: reading.garment,
        pattern: reading.pattern,
        notes: texts(&reading.notes),
    })
}

/// The motion of that name or in that file (.bvh, .npz, .glb, .gltf), on its
/// own skeleton.
///
/// # Errors
/// When there is none, or it is wrong.
pub fn load_motion(name: &str, options: &MotionOptions) -> Result<LoadedMotion, LoadError> {
    const KIND: &str = "motion";
    let plain = |clip, notes| LoadedMotion {
        clip,
        unit_m: 1.0,
        up: Axis::PlusY,
        notes,
    };
    let Some((path, extension)) = as_file(name) else {
        let clip = builtin::clip(name).ok_or_else(|| unknown(KIND, name, builtin::CLIPS))?;
        return Ok(plain(clip, Vec::new()));
    };
    let stem = stem(path);
    let content: Result<LoadedMotion, ContentError> = match extension.as_str() {
        "bvh" => {
            let bytes = read(path)?;
            drapery_store::bvh::read(&bytes)
                .map_err(ContentError::from)
                .and_then(|file| Ok(motion::clip_from_bvh(&file, &stem, &options.bvh)?))
                .map(from_reading)
        }
        "npz" => npz(path)?.and_then(|archive| {
            if archive.contains("rotations") {
                Ok(plain(motion::clip_from_npz(&archive)?, Vec::new()))
            } else {
                Ok(from_reading(motion::clip_from_amass(&archive, &stem)?))
            }
        }),
        "glb" | "gltf" => gltf(path)?.and_then(|document| {
            let reading = character::read_gltf(&document, &stem)?;
            let skeleton = reading.character.skeleton();
            let read =
                character::read_gltf_clips(&document, &reading.rig, skeleton, FrameRate::THIRTY)?;
            let mut notes = texts(&reading.notes);
            notes.extend(texts(&read.notes));
            Ok(plain(
                choose(read.clips, options.animation.as_deref())?,
                notes,
            ))
        }),
        _ => {
            return Err(unreadable(
                KIND,
                path,
                extension,
                ".bvh, .npz, .glb and .gltf",
            ));
        }
    };
    content.map_err(|source| wrong(KIND, path, source))
}

fn from_reading(reading: motion::MotionReading) -> LoadedMotion {
    LoadedMotion {
        unit_m: reading.unit_m,
        up: reading.up,
        notes: texts(&reading.notes),
        clip: reading.clip,
    }
}

fn choose(clips: Vec<Clip>, animation: Option<&str>) -> Result<Clip, ContentError> {
    let known: Vec<String> = clips.iter().map(|c| c.name().to_string()).collect();
    let mut clips = clips.into_iter();
    match animation {
        None => clips.next().ok_or(ContentError::NoAnimation),
        Some(name) => {
            clips
                .find(|c| c.name() == name)
                .ok_or_else(|| ContentError::NoSuchAnimation {
                    name: name.to_string(),
                    known,
                })
        }
    }
}

/// The path and lower-case extension of a name that means a file.
fn as_file(name: &str) -> Option<(&Path, String)> {
    let path = Path::new(name);
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    Some((path, extension))
}

fn stem(path: &Path) -> String {
    path.file_stem()
        .map_or_else(String::new, |s| s.to_string_lossy().into_owned())
}

fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    std::fs::read(path).map_err(|source| LoadError::Io {
        path: path.to_path_buf(),
        source,
    })
}

fn gltf(path: &Path) -> Result<Result<GltfDocument, ContentError>, LoadError> {
    let bytes = read(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok(
        drapery_store::gltf::read_with(&bytes, &mut |inner| std::fs::read(folder.join(inner)))
            .map_err(ContentError::from),
    )
}

fn npz(path: &Path) -> Result<Result<NpzArchive, ContentError>, LoadError> {
    Ok(NpzArchive::from_bytes(&read(path)?).map_err(ContentError::from))
}

fn texts<T: ToString>(notes: &[T]) -> Vec<String> {
    notes.iter().map(T::to_string).collect()
}

fn unknown(kind: &'static str, name: &str, known: &'static [&'static str]) -> LoadError {
    LoadError::UnknownName {
        kind,
        name: name.to_string(),
        known,
        nearest: nearest(name, known.iter().copied()),
    }
}

fn unreadable(
    kind: &'static str,
    path: &Path,
    extension: String,
    known: &'static str,
) -> LoadError {
    LoadError::UnknownExtension {
        kind,
        extension,
        known,
        path: path.to_path_buf(),
    }
}

fn wrong(kind: &'static str, path: &Path, source: ContentError) -> LoadError {
    LoadError::Content {
        kind,
        path: path.to_path_buf(),
        source,
    }
}

/// The one of `known` that `name` was most likely meant to be, if any is near.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    known
        .into_iter()
        .map(|k| {
            (
                strsim::damerau_levenshtein(&name.to_lowercase(), &k.to_lowercase()),
                k,
            )
        })
        .filter(|(distance, k)| *distance <= 2.max(k.len() / 3))
        .min()
        .map(|(_, k)| k.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_finds_its_name() {
        let error = load_character("tub").unwrap_err();
        let LoadError::UnknownName { nearest, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!(nearest.as_deref(), Some("tube"));
        assert!(
            load_garment("zzzzzzzz")
                .unwrap_err()
                .to_string()
                .contains("sleeve")
        );
    }

    #[test]
    fn a_missing_file_is_not_an_unknown_name() {
        let missing = load_garment("no/such/file.obj");
        assert!(matches!(missing, Err(LoadError::Io { .. })));
        let strange = load_motion("a/file.xyz", &MotionOptions::default());
        assert!(matches!(strange, Err(LoadError::UnknownExtension { .. })));
    }
}
