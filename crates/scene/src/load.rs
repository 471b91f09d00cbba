//! Characters, garments, fabrics and motions by name: a built-in one, or a file.
//!
//! A name with an extension is a file, one without is built in. What a reader
//! had to decide (units, axes, welding) comes back as notes to be said aloud.

use std::fmt;
use std::path::{Path, PathBuf};

use drapery_core::{Clip, Fabric, FrameRate, Garment};
use drapery_store::gltf::{GltfDocument, GltfError};
use drapery_store::npz::{NpzArchive, NpzError};

use crate::builtin;
use crate::character::{
    self, Character, GltfCharacterError, GltfClipNote, GltfMotionError, GltfNote, SmplError,
    SmplNote,
};
use crate::fabric::{self, ArcsimError, FabricFileError};
use crate::garment::{self, GarmentFileError, GarmentNote, PatternSource, TextureUse};
use crate::motion::repertoire::{self, RepertoireError};
use crate::motion::{
    self, AmassError, Axis, BvhClipError, BvhOptions, Calibration, ClipNpzError, MotionNote,
};

/// Why something can't be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// No file, and nothing of that name is built in.
    #[error("no built-in {kind} is called '{name}'{}; built in: {}", suggestion(nearest.as_deref()), known.join(", "))]
    UnknownName {
        /// `character`, `garment`, `fabric` or `motion`.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// What there is.
        known: &'static [&'static str],
        /// The nearest of them.
        nearest: Option<String>,
    },
    /// The repertoire can't make it.
    #[error("cannot make motion {name}")]
    Repertoire {
        /// What was asked for.
        name: String,
        /// Why not.
        source: RepertoireError,
    },
    /// A folder, or a file whose kind can't be told.
    #[error("{} is a {what}; a {kind} is a file whose name ends in {known}", path.display())]
    NotAFile {
        /// `character`, `garment`, `fabric` or `motion`.
        kind: &'static str,
        /// `folder`, or `file without an ending`.
        what: &'static str,
        /// What can be read.
        known: &'static str,
        /// The path.
        path: PathBuf,
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
    #[error("a {kind} can't be read from .{extension}, only from {known}: {}", path.display())]
    UnknownExtension {
        /// `character`, `garment`, `fabric` or `motion`.
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
        /// `character`, `garment`, `fabric` or `motion`.
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
    /// glTF, but no motion.
    #[error(transparent)]
    GltfMotion(#[from] GltfMotionError),
    /// Not an archive of arrays.
    #[error(transparent)]
    Npz(#[from] NpzError),
    /// Arrays, but no body.
    #[error(transparent)]
    Smpl(#[from] SmplError),
    /// Not a garment.
    #[error(transparent)]
    Garment(#[from] GarmentFileError),
    /// Not a fabric.
    #[error(transparent)]
    Fabric(#[from] FabricFileError),
    /// Not a material of ARCSim.
    #[error(transparent)]
    Arcsim(#[from] ArcsimError),
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

/// What a reader noticed or decided, to be said aloud.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum LoadNote {
    /// About a glTF character.
    Gltf(GltfNote),
    /// About a glTF animation.
    GltfClip(GltfClipNote),
    /// About an SMPL-layout body.
    Smpl(SmplNote),
    /// About a garment.
    Garment(GarmentNote),
    /// Texture coordinates that are no pattern in metres.
    NoPattern {
        /// Median of their edge lengths over those of the mesh.
        ratio: f32,
    },
    /// What was kept of an ARCSim material.
    Arcsim {
        /// Keys of the file that mean nothing here.
        ignored: Vec<String>,
    },
    /// About a motion.
    Motion(MotionNote),
    /// What was found out about a motion file.
    MotionFound {
        /// Metres in one unit of the file.
        unit_m: f64,
        /// Which way is up.
        up: Axis,
        /// Where the rest pose faces.
        facing: Axis,
        /// Where the rest pose came from.
        calibration: Calibration,
        /// The row that is frame 0.
        first_row: usize,
    },
    /// Options for BVH files were given for another kind of file.
    BvhOptionsUnused,
}

impl fmt::Display for LoadNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gltf(note) => note.fmt(f),
            Self::GltfClip(note) => note.fmt(f),
            Self::Smpl(note) => note.fmt(f),
            Self::Garment(note) => note.fmt(f),
            Self::Motion(note) => note.fmt(f),
            Self::NoPattern { ratio } => write!(
                f,
                "the vt are no flat pattern in metres (their edges are {ratio:.3} times the mesh's) and are \
                 ignored: the mesh is its own rest shape"
            ),
            Self::Arcsim { ignored } => {
                f.write_str(
                    "of the nonlinear tables, the stretch at 5 % and the mean bending are kept; \
                     friction and thickness are typical values",
                )?;
                match ignored.as_slice() {
                    [] => Ok(()),
                    keys => write!(f, "; ignored: {}", keys.join(", ")),
                }
            }
            Self::MotionFound {
                unit_m,
                up,
                facing,
                calibration,
                first_row,
            } => {
                write!(f, "unit {unit_m:.6} m, up {up}, facing {facing}, ")?;
                match calibration {
                    Calibration::FirstRow => f.write_str("rest pose from the first row")?,
                    _ => f.write_str("rest pose from the offsets")?,
                }
                match first_row {
                    0 => Ok(()),
                    _ => f.write_str(", which is a calibration pose and no part of the motion"),
                }
            }
            Self::BvhOptionsUnused => {
                f.write_str("unit, up axis and calibration only concern BVH files and are ignored")
            }
        }
    }
}

/// A character with what was noticed while reading it.
#[derive(Clone, Debug)]
pub struct LoadedCharacter {
    /// The character.
    pub character: Character,
    /// What to say aloud.
    pub notes: Vec<LoadNote>,
}

/// A garment with what was noticed while reading it.
#[derive(Clone, Debug)]
pub struct LoadedGarment {
    /// The garment.
    pub garment: Garment,
    /// Where its rest shape comes from.
    pub pattern: PatternSource,
    /// What to say aloud.
    pub notes: Vec<LoadNote>,
}

/// A fabric with what was noticed while reading it.
#[derive(Clone, Debug)]
pub struct LoadedFabric {
    /// The fabric.
    pub fabric: Fabric,
    /// What to say aloud.
    pub notes: Vec<LoadNote>,
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
    /// Where the file's rest pose faced.
    pub facing: Axis,
    /// The row of the file that is frame 0: 1 after a calibration row.
    pub first_row: usize,
    /// What to say aloud.
    pub notes: Vec<LoadNote>,
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
    const READS: &str = ".glb, .gltf or .npz (SMPL layout)";
    let Some((path, extension)) = as_file(name, KIND, READS)? else {
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
            Ok((reading.character, noted(reading.notes, LoadNote::Gltf)))
        }),
        "npz" => character::read_smpl(&read(path)?, &stem)
            .map(|reading| (reading.character, noted(reading.notes, LoadNote::Smpl)))
            .map_err(ContentError::from),
        _ => {
            return Err(unreadable(KIND, path, extension, READS));
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
    load_garment_as(name, TextureUse::Detect)
}

/// As [`load_garment`], told what the file's texture coordinates are.
///
/// # Errors
/// When there is none, or it is wrong.
pub fn load_garment_as(name: &str, texture_use: TextureUse) -> Result<LoadedGarment, LoadError> {
    const KIND: &str = "garment";
    const READS: &str = ".obj";
    let Some((path, extension)) = as_file(name, KIND, READS)? else {
        let garment =
            builtin::garment(name).ok_or_else(|| unknown(KIND, name, builtin::GARMENTS))?;
        return Ok(LoadedGarment {
            garment,
            pattern: PatternSource::Flat,
            notes: Vec::new(),
        });
    };
    if extension != "obj" {
        return Err(unreadable(KIND, path, extension, READS));
    }
    let reading = garment::read_obj_as(&read(path)?, &stem(path), texture_use)
        .map_err(|e| wrong(KIND, path, e.into()))?;
    let mut notes: Vec<LoadNote> = reading.notes.into_iter().map(LoadNote::Garment).collect();
    if let PatternSource::UvMapIgnored { ratio } = reading.pattern {
        notes.push(LoadNote::NoPattern { ratio });
    }
    Ok(LoadedGarment {
        garment: reading.garment,
        pattern: reading.pattern,
        notes,
    })
}

/// The fabric of that name or in that file (.toml, or .json of ARCSim).
///
/// # Errors
/// When there is none, or it is wrong.
pub fn load_fabric(name: &str) -> Result<LoadedFabric, LoadError> {
    const KIND: &str = "fabric";
    const READS: &str = ".toml or .json (ARCSim)";
    let plain = |fabric| LoadedFabric {
        fabric,
        notes: Vec::new(),
    };
    let Some((path, extension)) = as_file(name, KIND, READS)? else {
        let fabric = fabric::preset(name).ok_or_else(|| unknown(KIND, name, fabric::NAMES))?;
        return Ok(plain(fabric));
    };
    let stem = stem(path);
    let content: Result<LoadedFabric, ContentError> = match extension.as_str() {
        "toml" => fabric::read_toml(&read(path)?, &stem)
            .map(plain)
            .map_err(ContentError::from),
        "json" => fabric::read_arcsim(&read(path)?, &stem)
            .map(|reading| LoadedFabric {
                fabric: reading.fabric,
                notes: vec![LoadNote::Arcsim {
                    ignored: reading.ignored,
                }],
            })
            .map_err(ContentError::from),
        _ => {
            return Err(unreadable(KIND, path, extension, READS));
        }
    };
    content.map_err(|source| wrong(KIND, path, source))
}

/// Whether a name is looked for among what is built in rather than among files.
pub fn is_built_in_motion(name: &str) -> bool {
    matches!(as_file(name, "motion", ""), Ok(None))
}

/// The motion of that name or in that file (.bvh, .npz, .glb, .gltf), on its
/// own skeleton.
///
/// # Errors
/// When there is none, or it is wrong.
pub fn load_motion(name: &str, options: &MotionOptions) -> Result<LoadedMotion, LoadError> {
    const KIND: &str = "motion";
    const READS: &str = ".bvh, .npz, .glb or .gltf";
    let plain = |clip, notes| LoadedMotion {
        clip,
        unit_m: 1.0,
        up: Axis::PlusY,
        facing: Axis::PlusZ,
        first_row: 0,
        notes,
    };
    let Some((path, extension)) = as_file(name, KIND, READS)? else {
        let clip = builtin::clip(name).ok_or_else(|| no_clip(KIND, name))?;
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
            let read = character::read_gltf_motion(&document, &stem, FrameRate::THIRTY)?;
            let mut notes = noted(read.notes, LoadNote::Gltf);
            notes.extend(noted(read.clip_notes, LoadNote::GltfClip));
            let clip = choose(read.clips, options.animation.as_deref())?;
            Ok(plain(clip, notes))
        }),
        _ => {
            return Err(unreadable(KIND, path, extension, READS));
        }
    };
    let mut loaded = content.map_err(|source| wrong(KIND, path, source))?;
    if extension != "bvh" && options.bvh != BvhOptions::default() {
        loaded.notes.push(LoadNote::BvhOptionsUnused);
    }
    Ok(loaded)
}

/// Why there is no built-in clip of that name, or of names joined by `+`.
fn no_clip(kind: &'static str, name: &str) -> LoadError {
    match repertoire::clip(name) {
        Err(RepertoireError::Unknown(part)) => unknown(kind, &part, builtin::CLIPS),
        Err(source) => LoadError::Repertoire {
            name: name.to_string(),
            source,
        },
        Ok(_) => unknown(kind, name, builtin::CLIPS),
    }
}

fn from_reading(reading: motion::MotionReading) -> LoadedMotion {
    let found = LoadNote::MotionFound {
        unit_m: reading.unit_m,
        up: reading.up,
        facing: reading.facing,
        calibration: reading.calibration,
        first_row: reading.first_row,
    };
    let noticed = reading.notes.into_iter().map(LoadNote::Motion);
    LoadedMotion {
        clip: reading.clip,
        unit_m: reading.unit_m,
        up: reading.up,
        facing: reading.facing,
        first_row: reading.first_row,
        notes: std::iter::once(found).chain(noticed).collect(),
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

/// The path and lower-case extension of a name that means a file; none for a
/// name that means something built in.
fn as_file<'a>(
    name: &'a str,
    kind: &'static str,
    known: &'static str,
) -> Result<Option<(&'a Path, String)>, LoadError> {
    let path = Path::new(name);
    let not_a_file = |what| LoadError::NotAFile {
        kind,
        what,
        known,
        path: path.to_path_buf(),
    };
    match path.extension().and_then(|e| e.to_str()) {
        // Whoever called the folder of a result after it still means it.
        None if is_built_in(name) => Ok(None),
        _ if path.is_dir() => Err(not_a_file("folder")),
        Some(extension) => Ok(Some((path, extension.to_ascii_lowercase()))),
        None if path.exists() && path.components().count() > 1 => {
            Err(not_a_file("file without an ending"))
        }
        None => Ok(None),
    }
}

/// Whether anything of that name is built in.
fn is_built_in(name: &str) -> bool {
    let lists = [
        builtin::CHARACTERS,
        builtin::GARMENTS,
        builtin::CLIPS,
        fabric::NAMES,
    ];
    lists.iter().any(|names| names.contains(&name)) || repertoire::has(name)
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

fn noted<T>(notes: Vec<T>, kind: impl Fn(T) -> LoadNote) -> Vec<LoadNote> {
    notes.into_iter().map(kind).collect()
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
        .filter(|(distance, k)| {
            *distance <= 2.max(k.len() / 3) && *distance < k.len().max(name.len())
        })
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

    /// Regression: such a file was refused for having no mesh.
    #[test]
    fn a_gltf_file_of_nothing_but_motion_is_a_motion() {
        let folder = tempfile::tempdir().unwrap();
        // Two keys: times, then rotations x y z w about +Y.
        let half = std::f32::consts::FRAC_1_SQRT_2;
        let numbers = [0.0, 0.1, 0.0, 0.0, 0.0, 1.0, 0.0, half, 0.0, half];
        let bytes: Vec<u8> = numbers.iter().flat_map(|x: &f32| x.to_le_bytes()).collect();
        std::fs::write(folder.path().join("keys.bin"), bytes).unwrap();
        let json = r#"{
            "asset": {"version": "2.0"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": [
                {"name": "hips", "translation": [0, 0.9, 0], "children": [1]},
                {"name": "knee", "translation": [0, -0.4, 0]}
            ],
            "animations": [{
                "channels": [{"sampler": 0, "target": {"node": 0, "path": "rotation"}}],
                "samplers": [{"input": 0, "output": 1}]
            }],
            "buffers": [{"uri": "keys.bin", "byteLength": 40}],
            "bufferViews": [
                {"buffer": 0, "byteLength": 8},
                {"buffer": 0, "byteOffset": 8, "byteLength": 32}
            ],
            "accessors": [
                {"bufferView": 0, "componentType": 5126, "count": 2, "type": "SCALAR",
                 "min": [0], "max": [0.1]},
                {"bufferView": 1, "componentType": 5126, "count": 2, "type": "VEC4"}
            ]
        }"#;
        let path = folder.path().join("spin.gltf");
        std::fs::write(&path, json).unwrap();
        let name = path.to_str().unwrap();
        let loaded = load_motion(name, &MotionOptions::default()).unwrap();
        let clip = &loaded.clip;
        assert_eq!(clip.name(), "spin");
        assert_eq!(clip.skeleton().names(), ["hips", "knee"]);
        assert_eq!(clip.frames().len(), 4);
        let turn = clip.frames()[3].rotations[0].to_scaled_axis();
        assert!(
            (turn.y - std::f32::consts::FRAC_PI_2).abs() < 1e-5,
            "{turn}"
        );
        assert_eq!(loaded.notes.len(), 1, "{:?}", loaded.notes);
    }

    #[test]
    fn a_missing_file_is_not_an_unknown_name() {
        let missing = load_garment("no/such/file.obj");
        assert!(matches!(missing, Err(LoadError::Io { .. })));
        let strange = load_motion("a/file.xyz", &MotionOptions::default());
        assert!(matches!(strange, Err(LoadError::UnknownExtension { .. })));
    }
}
