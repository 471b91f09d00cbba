//! What all sequences of a dataset share: [`DatasetHead`].

use std::path::Path;
use std::sync::Arc;

use drapery_core::FrameRate;
use serde_json::{Value, json};
use zarrs::filesystem::FilesystemStore;

use super::body::StoredBody;
use super::disk;
use super::error::DatasetError;
use super::flags::FrameFlag;
use super::garment::StoredGarment;
use super::manifest::{Manifest, check_names};

/// The format's name and version.
const FORMAT: &str = "drapery-dataset";
const VERSION: u64 = 1;

/// What all sequences share, and what is planned.
#[derive(Clone, Debug, PartialEq)]
pub struct DatasetHead {
    /// The frame rate of all sequences.
    pub frame_rate: FrameRate,
    /// The character.
    pub body: StoredBody,
    /// Its garments, from the skin outwards.
    pub garments: Vec<StoredGarment>,
    /// What is planned.
    pub manifest: Manifest,
    /// The text of the scene that it is made from; empty for none.
    pub scene: String,
    /// All that the sequences follow from. Who goes on with a dataset has the
    /// same.
    pub settings: Value,
}

impl DatasetHead {
    /// How many vertices the garments have together.
    pub fn n_vertices(&self) -> usize {
        self.garments.iter().map(StoredGarment::n_vertices).sum()
    }

    /// The garments that are worn together, from the skin outwards: all but
    /// twins.
    pub fn worn(&self) -> impl Iterator<Item = (usize, &StoredGarment)> {
        let all = self.garments.iter().enumerate();
        all.filter(|(_, g)| g.twin_of.is_none())
    }

    /// Whether the body is one: where only a skeleton and the weights of the
    /// garments are known, the garments themselves stand in its place.
    pub fn has_body(&self) -> bool {
        self.settings["no_body"] != true
    }

    /// That this is of another character, of other garments or another rate is
    /// an error that names the first.
    ///
    /// # Errors
    /// When sequences of the two can't be in one dataset.
    pub fn check_same(&self, other: &Self) -> Result<(), DatasetError> {
        let differs = |key: &str, old: String, new: String| DatasetError::Differs {
            key: key.into(),
            old,
            new,
        };
        if self.body != other.body || self.has_body() != other.has_body() {
            let words = |head: &Self| {
                let n_vertices = head.body.template.positions().len();
                format!("{} ({n_vertices} vertices)", head.body.name)
            };
            return Err(differs("character", words(self), words(other)));
        }
        let words = |head: &Self| {
            let words = head.garments.iter().map(|g| {
                let (name, fabric) = (g.garment.name(), &g.fabric.name);
                format!("{name} ({} vertices, {fabric})", g.n_vertices())
            });
            words.collect::<Vec<_>>().join(", ")
        };
        if self.garments != other.garments {
            return Err(differs("garments", words(self), words(other)));
        }
        match self.frame_rate == other.frame_rate {
            true => Ok(()),
            false => {
                let [old, new] = [self, other].map(|head| format!("{}", head.frame_rate.hz()));
                Err(differs("frame_rate", old, new))
            }
        }
    }

    /// Checks that its parts go together.
    ///
    /// # Errors
    /// What is wrong first.
    pub fn check(&self) -> Result<(), DatasetError> {
        check_names("garments", self.garments.iter().map(|g| g.garment.name()))?;
        for twin in &self.garments {
            let Some(of) = &twin.twin_of else { continue };
            let is_it = |g: &StoredGarment| g.twin_of.is_none() && g.garment.name() == of;
            if !self.garments.iter().any(is_it) {
                return Err(DatasetError::Twin {
                    garment: twin.garment.name().to_string(),
                    of: of.clone(),
                });
            }
        }
        Ok(self.manifest.check(self.body.shape_parameters.len())?)
    }

    /// That these are the settings of another dataset is an error that names
    /// the first one.
    ///
    /// # Errors
    /// When a setting differs.
    pub fn check_settings(&self, settings: &Value) -> Result<(), DatasetError> {
        let [old, new] = [&self.settings, settings].map(with_no_body);
        differing("", &old, &new).map_or(Ok(()), |(key, old, new)| {
            Err(DatasetError::Differs { key, old, new })
        })
    }

    /// Writes all but sequences to a folder that is empty.
    pub(super) fn write(&self, folder: &Path) -> Result<(), DatasetError> {
        let store = open_store(folder)?;
        self.body.write(folder, &store)?;
        for garment in &self.garments {
            garment.write(folder, &store, &path_of(garment))?;
        }
        for group in ["garments", "sequences", "failed"] {
            let group = folder.join(group);
            disk::make_folder(&group)?;
            disk::write(&group.join(disk::METADATA), &disk::group(&json!({})))?;
        }
        let files = json!(disk::digests(folder)?);
        disk::write(&folder.join(disk::METADATA), &self.metadata(&files))
    }

    /// The metadata at the top, with the digests of what [`write`](Self::write)
    /// wrote.
    pub(super) fn metadata(&self, files: &Value) -> Vec<u8> {
        let names = self.garments.iter().map(|g| g.garment.name());
        disk::sealed_group(json!({
            "format": FORMAT,
            "version": VERSION,
            "units": { "length": "m", "time": "s", "rotation": "quaternion w x y z", "up": "+Y" },
            "frame_rate": self.frame_rate.hz(),
            "garments": names.collect::<Vec<_>>(),
            "flags": FrameFlag::ALL.map(FrameFlag::name),
            "shapes": self.manifest.shapes,
            "sequences": self.manifest.sequences,
            "scene": self.scene,
            "settings": self.settings,
            "files": files,
        }))
    }

    /// Reads what was written, and the digests of its files.
    pub(super) fn read(folder: &Path) -> Result<(Self, Value), DatasetError> {
        let path = folder.join(disk::METADATA);
        let not = |why| DatasetError::NotADataset {
            why,
            path: folder.to_path_buf(),
        };
        if !folder.is_dir() {
            return Err(not("it is no folder"));
        }
        if !path.is_file() {
            return Err(not("it has no zarr.json"));
        }
        let plain = disk::attributes(folder)?;
        if plain["format"] != FORMAT {
            return Err(not("it is another Zarr group"));
        }
        let found = plain["version"].as_u64().unwrap_or(u64::MAX);
        if found != VERSION {
            return Err(DatasetError::Version {
                found,
                known: VERSION,
            });
        }
        let mut attributes = disk::sealed_attributes(folder)?;
        let wrong = |key, expected| DatasetError::Attribute {
            key,
            expected,
            path: path.clone(),
        };
        let rate = attributes["frame_rate"].as_f64();
        let rate = rate.ok_or_else(|| wrong("frame_rate", "a number"))?;
        if attributes["flags"] != json!(FrameFlag::ALL.map(FrameFlag::name)) {
            return Err(wrong("flags", "the names of the flags known here"));
        }
        let json = |source| DatasetError::Json {
            path: path.clone(),
            source,
        };
        let manifest = Manifest {
            shapes: serde_json::from_value(attributes["shapes"].take()).map_err(json)?,
            sequences: serde_json::from_value(attributes["sequences"].take()).map_err(json)?,
        };
        let names: Vec<String> =
            serde_json::from_value(attributes["garments"].take()).map_err(json)?;
        check_names("garments", names.iter().map(String::as_str))?;
        let store = open_store(folder)?;
        let garments = names
            .iter()
            .map(|name| StoredGarment::read(folder, &store, &format!("garments/{name}")))
            .collect::<Result<Vec<_>, _>>()?;
        let scene = attributes["scene"].as_str();
        let head = Self {
            frame_rate: FrameRate::new(rate)?,
            body: StoredBody::read(folder, &store)?,
            garments,
            manifest,
            scene: scene.ok_or_else(|| wrong("scene", "a text"))?.to_string(),
            settings: attributes["settings"].take(),
        };
        head.check()?;
        Ok((head, attributes["files"].take()))
    }
}

fn path_of(garment: &StoredGarment) -> String {
    format!("garments/{}", garment.garment.name())
}

/// The store of arrays in a folder. Each remembers the files that it touched,
/// so none is kept for long.
pub(super) fn open_store(folder: &Path) -> Result<Arc<FilesystemStore>, DatasetError> {
    match FilesystemStore::new(folder) {
        Ok(store) => Ok(Arc::new(store)),
        Err(_) => Err(DatasetError::NotADataset {
            why: "it is no folder",
            path: folder.to_path_buf(),
        }),
    }
}

/// Settings that say whether there is a body: there is one where they don't.
fn with_no_body(settings: &Value) -> Value {
    let mut settings = settings.clone();
    if let Some(all) = settings.as_object_mut() {
        all.entry("no_body").or_insert(false.into());
    }
    settings
}

/// The first key in which two values differ, and what they have there.
fn differing(key: &str, old: &Value, new: &Value) -> Option<(String, String, String)> {
    match (old, new) {
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|k| !a.contains_key(*k)));
            let below = |k: &String| match key {
                "" => k.clone(),
                _ => format!("{key}.{k}"),
            };
            keys.into_iter().find_map(|k| {
                let of = |map: &serde_json::Map<String, Value>| {
                    map.get(k).cloned().unwrap_or(Value::Null)
                };
                differing(&below(k), &of(a), &of(b))
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let mut pairs = a.iter().zip(b).enumerate();
            pairs.find_map(|(i, (a, b))| differing(&format!("{key}[{i}]"), a, b))
        }
        _ if old == new => None,
        _ => Some((key.to_string(), old.to_string(), new.to_string())),
    }
}
