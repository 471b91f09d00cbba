//! A scene with everything in it loaded: [`Scene`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use drapery_core::{BodyModel, Clip, Fabric, FrameIndex, FrameRate, Garment, ShapedBody};
use drapery_store::dataset::Split;

use super::copies::Copy;
use super::error::{MotionError, SceneError};
use super::table::At;
use super::{ClipEntry, FabricEntry, GarmentEntry, SceneFile};
use crate::builtin;
use crate::character::Character;
use crate::garment::{DraftConfig, GarmentKind, draft};
use crate::load::{
    LoadError, LoadNote, MotionOptions, load_character, load_fabric, load_garment, load_motion,
    nearest,
};
use crate::mannequin;
use crate::motion::{
    PutOnOptions, change_speed, clean, find_jumps, mirror, put_on, repertoire, resample, trim,
};

/// A scene, ready to be simulated.
#[derive(Debug)]
pub struct Scene {
    /// The file's text.
    pub text: String,
    /// What it says.
    pub file: SceneFile,
    /// Who wears the garments.
    pub character: Character,
    /// The shape that the garments lie on.
    pub made_for: Vec<f32>,
    /// The body shapes.
    pub shapes: Vec<SceneShape>,
    /// What is worn, from the skin outwards.
    pub garments: Vec<SceneGarment>,
    /// The files that it was read from, by the names they have in the scene.
    pub inputs: BTreeMap<String, PathBuf>,
    /// What readers noticed.
    pub notes: Vec<SceneNote>,
    clips: Vec<SceneClip>,
}

/// A body shape under a name.
#[derive(Clone, Debug)]
pub struct SceneShape {
    /// `mean`, or what differs from it: `weight=1.5`.
    pub name: String,
    /// The body.
    pub body: ShapedBody,
}

/// A garment and what it is made of.
#[derive(Clone, Debug)]
pub struct SceneGarment {
    /// The garment.
    pub garment: Garment,
    /// Its fabric.
    pub fabric: Fabric,
    /// The garment of which it is the twin, by its name.
    pub twin_of: Option<String>,
}

/// Something that a reader noticed.
#[derive(Clone, Debug)]
pub struct SceneNote {
    /// About what.
    pub name: String,
    /// What.
    pub note: LoadNote,
}

/// A clip on one body shape that is to be simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedClip {
    /// Which clip of the scene.
    pub clip: usize,
    /// What is done to it.
    pub copy: Copy,
    /// On which shape.
    pub shape: usize,
    /// What the result is called: `walk~stop40`.
    pub name: String,
    /// How many frames it has.
    pub n_frames: u32,
}

#[derive(Debug)]
struct SceneClip {
    name: String,
    split: Split,
    entry: ClipEntry,
    motion: Motion,
}

/// Where poses come from.
#[derive(Debug)]
enum Motion {
    /// Made anew for each body of the built-in person.
    Repertoire,
    /// As read, on its own skeleton.
    Read(Clip),
}

impl Scene {
    /// The scene of a built-in name, or of a file.
    ///
    /// # Errors
    /// When there is none, or what is wrong first, with its key and line.
    pub fn named(name: &Path) -> Result<Self, SceneError> {
        let built_in = name.to_str().and_then(builtin::scene);
        if let Some(text) = built_in {
            return Self::parse(text.to_string(), Path::new(""));
        }
        if name.extension().is_none() && !name.exists() {
            let name = name.to_string_lossy();
            return Err(SceneError::NoSuchScene {
                nearest: nearest(&name, builtin::SCENES.iter().copied()),
                name: name.into_owned(),
                known: builtin::SCENES.join(", "),
            });
        }
        Self::load(name)
    }

    /// Reads a scene file and all that it names, and drafts its garments.
    ///
    /// # Errors
    /// What is wrong first, with its key and line.
    pub fn load(path: &Path) -> Result<Self, SceneError> {
        let text = std::fs::read_to_string(path).map_err(|source| SceneError::Io {
            path: path.to_path_buf(),
            source,
        })?;
        Self::parse(text, path.parent().unwrap_or(Path::new("")))
    }

    /// The scene of a text whose files are found from a folder.
    ///
    /// # Errors
    /// What is wrong first, with its key and line.
    pub fn parse(text: String, folder: &Path) -> Result<Self, SceneError> {
        let file = SceneFile::parse(&text)?;
        let mut reader = Reader {
            folder,
            inputs: BTreeMap::new(),
            notes: Vec::new(),
        };
        let model = &file.character.model;
        let loaded = reader.load(model, load_character)?;
        reader.note(&model.value, loaded.notes);
        let character = loaded.character;
        let made_for = coefficients(&character, &file.character.made_for)?;
        let shapes = shapes(&character, &file)?;
        let mut garments = Vec::new();
        for entry in &file.garments {
            garments.push(reader.garment(entry, &character, &made_for)?);
        }
        let names = file.garments.iter().zip(&garments);
        check_different(names.map(|(entry, garment)| {
            let at = entry.name.as_ref().unwrap_or(&entry.pattern);
            (at, garment.garment.name().to_string())
        }))?;
        let garments = with_twins(garments, &file)?;
        let clips = reader.clips(&file, &character)?;
        Ok(Self {
            text,
            character,
            made_for,
            shapes,
            garments,
            clips,
            inputs: reader.inputs,
            notes: reader.notes,
            file,
        })
    }

    /// How many clips there are, without copies.
    pub const fn n_clips(&self) -> usize {
        self.clips.len()
    }

    /// The name of a clip, and what it is for.
    pub fn clip(&self, clip: usize) -> (&str, Split) {
        let clip = &self.clips[clip];
        (&clip.name, clip.split)
    }

    /// What a clip is made from: its built-in name or file, and what is done to
    /// it first, in words.
    pub fn source(&self, clip: usize) -> String {
        let entry = &self.clips[clip].entry;
        let mut words = entry.motion.value.clone();
        if let Some(animation) = &entry.animation {
            words += &format!(", animation {animation}");
        }
        if entry.arm_abduction != 0.0 {
            words += &format!(", arms out by {} rad", entry.arm_abduction);
        }
        if entry.clean {
            words += ", cleaned";
        }
        if let Some(trim) = &entry.trim {
            words += &format!(", frames {}..{}", trim.value[0], trim.value[1]);
        }
        if entry.mirror {
            words += ", mirrored";
        }
        if entry.speed != 1.0 {
            words += &format!(", {} times as fast", entry.speed);
        }
        words
    }

    /// At how many places each clip jumps that was read from a file and is not cleaned, on
    /// the first shape; clips that don't are left out.
    ///
    /// # Errors
    /// When a clip can't be put on the body.
    pub fn jumps(&self) -> Result<Vec<(&str, usize)>, SceneError> {
        let mut found = Vec::new();
        for (i, clip) in self.clips.iter().enumerate() {
            if clip.entry.clean || !matches!(clip.motion, Motion::Read(_)) {
                continue;
            }
            let own = self.own_clip(i, 0);
            let own = own.map_err(|source| self.cannot(i, &self.shapes[0].name, source))?;
            match find_jumps(&own).len() {
                0 => {}
                n => found.push((clip.name.as_str(), n)),
            }
        }
        Ok(found)
    }

    /// Frames a second.
    pub const fn frame_rate(&self) -> FrameRate {
        self.file.motion.frame_rate
    }

    /// All clips on all shapes, with their copies, `most` frames of each at
    /// most.
    ///
    /// # Errors
    /// When a motion can't be put on a body, or copied so.
    pub fn plan(&self, most: Option<u32>) -> Result<Vec<PlannedClip>, SceneError> {
        let mut planned = Vec::new();
        for (clip, entry) in self.clips.iter().enumerate() {
            let is_copied = self.file.motion.copied.contains(&entry.split);
            let copies = match is_copied {
                true => Copy::all(&self.file.motion),
                false => vec![Copy::Own],
            };
            for (shape, named) in self.shapes.iter().enumerate() {
                let wrong = |source| self.cannot(clip, &named.name, source);
                let own = self.own_clip(clip, shape).map_err(wrong)?;
                for copy in &copies {
                    let made = copy.of(&own, &self.file.motion).map_err(wrong)?;
                    let n_frames = made.frames().len() as u32;
                    planned.push(PlannedClip {
                        clip,
                        copy: *copy,
                        shape,
                        name: made.name().to_string(),
                        n_frames: most.map_or(n_frames, |most| n_frames.min(most)),
                    });
                }
            }
        }
        // All shapes of a copy together.
        let order = |p: &PlannedClip| {
            Copy::all(&self.file.motion)
                .iter()
                .position(|c| *c == p.copy)
        };
        planned.sort_by_key(|p| (p.clip, order(p), p.shape));
        Ok(planned)
    }

    /// The motion of a planned clip.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn motion(&self, planned: &PlannedClip) -> Result<Clip, SceneError> {
        let made = || -> Result<Clip, MotionError> {
            let own = self.own_clip(planned.clip, planned.shape)?;
            let clip = planned.copy.of(&own, &self.file.motion)?;
            if (planned.n_frames as usize) < clip.frames().len() {
                let name = clip.name().to_string();
                return Ok(trim(&clip, FrameIndex(0)..FrameIndex(planned.n_frames))?.renamed(name));
            }
            Ok(clip)
        };
        let shape = &self.shapes[planned.shape].name;
        made().map_err(|source| self.cannot(planned.clip, shape, source))
    }

    /// A clip on a shape, as it is.
    fn own_clip(&self, clip: usize, shape: usize) -> Result<Clip, MotionError> {
        let SceneClip {
            name,
            entry,
            motion,
            ..
        } = &self.clips[clip];
        let body = &self.shapes[shape].body;
        let skeleton = self.character.skeleton();
        let mut clip = match motion {
            Motion::Repertoire => repertoire::clip_on(&entry.motion.value, &body.joints)?,
            Motion::Read(clip) => {
                let options = PutOnOptions {
                    arm_abduction: entry.arm_abduction,
                    ..PutOnOptions::default()
                };
                put_on(clip.clone(), body, skeleton, &options)?.clip
            }
        };
        if entry.clean {
            clip = clean(&clip, &body.joints).clip;
        }
        if clip.frame_rate() != self.frame_rate() {
            clip = resample(&clip, self.frame_rate())?;
        }
        if let Some(frames) = &entry.trim {
            let [start, end] = frames.value.map(FrameIndex);
            clip = trim(&clip, start..end)?;
        }
        if entry.mirror {
            clip = mirror(&clip)?.clip;
        }
        if entry.speed != 1.0 {
            clip = change_speed(&clip, entry.speed)?;
        }
        Ok(clip.renamed(name.clone()))
    }

    fn cannot(&self, clip: usize, shape: &str, source: MotionError) -> SceneError {
        let motion = &self.clips[clip].entry.motion;
        SceneError::PutOn {
            key: motion.key.clone(),
            line: motion.line,
            clip: self.clips[clip].name.clone(),
            shape: shape.to_string(),
            source: Box::new(source),
        }
    }
}

/// Finds what a scene names.
struct Reader<'a> {
    folder: &'a Path,
    inputs: BTreeMap<String, PathBuf>,
    notes: Vec<SceneNote>,
}

impl Reader<'_> {
    /// Loads what a name means: something built in, or a file.
    fn load<T>(
        &mut self,
        name: &At<String>,
        load: impl FnOnce(&str) -> Result<T, LoadError>,
    ) -> Result<T, SceneError> {
        let given = name.value.as_str();
        let is_file = Path::new(given).extension().is_some();
        let path = self.folder.join(given);
        let loaded = match is_file {
            true => load(&path.to_string_lossy()),
            false => load(given),
        };
        if is_file {
            self.inputs.insert(given.to_string(), path);
        }
        loaded.map_err(|source| SceneError::Load {
            key: name.key.clone(),
            line: name.line,
            source: Box::new(source),
        })
    }

    fn note(&mut self, name: &str, notes: Vec<LoadNote>) {
        self.notes.extend(notes.into_iter().map(|note| SceneNote {
            name: name.to_string(),
            note,
        }));
    }

    fn garment(
        &mut self,
        entry: &GarmentEntry,
        character: &Character,
        made_for: &[f32],
    ) -> Result<SceneGarment, SceneError> {
        let pattern = &entry.pattern;
        let kind = GarmentKind::named(&pattern.value);
        let garment = match kind {
            Some(kind) => drafted(kind, entry, character, made_for)?,
            None => {
                let loaded = self.load(pattern, load_garment)?;
                let only_drafts = [&entry.edge_length, &entry.triangles, &entry.ease];
                if let Some(setting) = only_drafts.into_iter().flatten().next() {
                    return Err(SceneError::NotDrafted {
                        key: setting.key.clone(),
                        line: setting.line,
                        garment: pattern.value.clone(),
                    });
                }
                self.note(&pattern.value, loaded.notes);
                loaded.garment
            }
        };
        let name = entry.name.as_ref().map(|name| name.value.as_str());
        let garment = match name {
            Some(name) => renamed(&garment, plain(name)),
            None => renamed(&garment, plain(garment.name())),
        };
        let usual = At {
            value: kind.map_or("cotton-plain", GarmentKind::fabric).to_string(),
            key: pattern.key.clone(),
            line: pattern.line,
        };
        let named = match &entry.fabric {
            Some(FabricEntry::Given(fabric)) => {
                return Ok(SceneGarment {
                    garment,
                    fabric: (**fabric).clone(),
                    twin_of: None,
                });
            }
            Some(FabricEntry::Named(name)) => name,
            None => &usual,
        };
        let loaded = self.load(named, load_fabric)?;
        self.note(&named.value, loaded.notes);
        Ok(SceneGarment {
            garment,
            fabric: loaded.fabric,
            twin_of: None,
        })
    }

    fn clips(
        &mut self,
        file: &SceneFile,
        character: &Character,
    ) -> Result<Vec<SceneClip>, SceneError> {
        let is_person = character.skeleton().names() == mannequin::skeleton().names();
        let mut clips = Vec::new();
        for entry in &file.motion.clips {
            let given = &entry.motion.value;
            let is_made = is_person && repertoire::has(given) && entry.arm_abduction == 0.0;
            let (motion, own_name) = match is_made {
                true => (Motion::Repertoire, given.clone()),
                false => {
                    let options = MotionOptions {
                        animation: entry.animation.clone(),
                        ..MotionOptions::default()
                    };
                    let read = |name: &str| load_motion(name, &options);
                    let loaded = self.load(&entry.motion, read)?;
                    self.note(given, loaded.notes);
                    let name = loaded.clip.name().to_string();
                    (Motion::Read(loaded.clip), name)
                }
            };
            let name = entry.name.as_ref().map_or(own_name, |n| n.value.clone());
            clips.push(SceneClip {
                name: plain(&name),
                split: Split::Train,
                entry: entry.clone(),
                motion,
            });
        }
        let names = clips.iter().map(|clip| {
            let at = clip.entry.name.as_ref().unwrap_or(&clip.entry.motion);
            (at, clip.name.clone())
        });
        check_different(names)?;
        let splits = [
            (Split::Tune, &file.motion.tune),
            (Split::Test, &file.motion.test),
        ];
        for (split, names) in splits {
            for name in names {
                let known = || clips.iter().map(|c| c.entry.motion.value.as_str());
                let is_it =
                    |c: &SceneClip| c.entry.motion.value == name.value || c.name == name.value;
                let Some(at) = clips.iter().position(is_it) else {
                    return Err(SceneError::UnknownName {
                        key: name.key.clone(),
                        line: name.line,
                        what: "clip",
                        name: name.value.clone(),
                        nearest: nearest(&name.value, known()),
                        known: known().collect::<Vec<_>>().join(", "),
                    });
                };
                if clips[at].split != Split::Train {
                    return Err(SceneError::Twice {
                        key: name.key.clone(),
                        line: name.line,
                        name: name.value.clone(),
                    });
                }
                clips[at].split = split;
            }
        }
        Ok(clips)
    }
}

/// A garment that is drafted, with edges as long as was asked for.
fn drafted(
    kind: GarmentKind,
    entry: &GarmentEntry,
    character: &Character,
    made_for: &[f32],
) -> Result<Garment, SceneError> {
    let mut config = DraftConfig::default();
    if let Some(ease) = &entry.ease {
        config.ease = ease.value as f32;
    }
    if let Some(triangles) = &entry.triangles {
        config.n_triangles = triangles.value as u32;
    }
    let make = |config: &DraftConfig| {
        draft(kind, character, made_for, config).map_err(|source| {
            let at = entry.edge_length.as_ref().map(|e| (&e.key, e.line));
            let (key, line) = at.unwrap_or((&entry.pattern.key, entry.pattern.line));
            SceneError::Draft {
                key: key.clone(),
                line,
                source,
            }
        })
    };
    if let Some(length) = &entry.edge_length {
        // The pattern is the same at every resolution: measure it on a coarse one.
        let coarse = make(&DraftConfig {
            n_triangles: 1000,
            ..config
        })?;
        let area: f64 = coarse
            .mesh()
            .triangles()
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|v| coarse.mesh().positions()[v as usize].as_dvec3());
                0.5 * (b - a).cross(c - a).length()
            })
            .sum();
        // Of equilateral triangles.
        let each = 3f64.sqrt() / 4.0 * length.value * length.value;
        config.n_triangles = (area / each).round().clamp(0.0, 1e9) as u32;
    }
    make(&config)
}

/// The garments with what they are twins of; what is worn first, then twins.
fn with_twins(
    mut garments: Vec<SceneGarment>,
    file: &SceneFile,
) -> Result<Vec<SceneGarment>, SceneError> {
    let is_twin = |g: usize| file.garments[g].twin_of.is_some();
    let worn: Vec<String> = (0..garments.len())
        .filter(|g| !is_twin(*g))
        .map(|g| garments[g].garment.name().to_string())
        .collect();
    for (entry, garment) in file.garments.iter().zip(&mut garments) {
        let Some(of) = &entry.twin_of else { continue };
        let Some(name) = worn.iter().find(|name| **name == of.value) else {
            return Err(SceneError::UnknownName {
                key: of.key.clone(),
                line: of.line,
                what: "garment that is worn called",
                name: of.value.clone(),
                nearest: nearest(&of.value, worn.iter().map(String::as_str)),
                known: worn.join(", "),
            });
        };
        garment.twin_of = Some(name.clone());
    }
    let (worn, twins): (Vec<_>, Vec<_>) = garments.into_iter().partition(|g| g.twin_of.is_none());
    Ok(worn.into_iter().chain(twins).collect())
}

/// The same garment under another name.
fn renamed(garment: &Garment, name: String) -> Garment {
    Garment::new(
        name,
        garment.mesh().clone(),
        garment.pattern().cloned(),
        garment.panels().to_vec(),
        garment.groups().to_vec(),
    )
    .expect("it was a garment before")
}

/// A name that can be that of a folder.
fn plain(name: &str) -> String {
    let is_plain = |c: char| !c.is_control() && !c.is_whitespace() && !"/\\:*?\"<>|@".contains(c);
    let name: String = name
        .chars()
        .map(|c| if is_plain(c) { c } else { '-' })
        .collect();
    name.trim_start_matches('.').to_string()
}

/// Names differ, whatever the case of their letters.
fn check_different<'a>(
    names: impl Iterator<Item = (&'a At<String>, String)>,
) -> Result<(), SceneError> {
    let mut seen = BTreeMap::new();
    for (at, name) in names {
        if seen.insert(name.to_lowercase(), ()).is_some() {
            return Err(SceneError::Twice {
                key: at.key.clone(),
                line: at.line,
                name,
            });
        }
    }
    Ok(())
}

fn shapes(character: &Character, file: &SceneFile) -> Result<Vec<SceneShape>, SceneError> {
    let mut shapes: Vec<SceneShape> = Vec::new();
    for entry in &file.character.shapes {
        let shape = coefficients(character, entry)?;
        let parameters = character.shape_parameters().iter();
        let settings: Vec<String> = parameters
            .zip(&shape)
            .filter(|(_, c)| **c != 0.0)
            .map(|(p, c)| format!("{}={c}", plain(&p.name)))
            .collect();
        let name = match settings.is_empty() {
            true => "mean".to_string(),
            false => settings.join(","),
        };
        if shapes.iter().any(|other| other.name == name) {
            return Err(SceneError::Twice {
                key: entry.key.clone(),
                line: entry.line,
                name,
            });
        }
        let body = character
            .shaped(&shape)
            .map_err(|source| SceneError::Shape {
                key: entry.key.clone(),
                line: entry.line,
                source,
            })?;
        shapes.push(SceneShape { name, body });
    }
    Ok(shapes)
}

/// The coefficients of a shape that is given by names.
fn coefficients(
    character: &Character,
    entry: &At<Vec<(String, f32)>>,
) -> Result<Vec<f32>, SceneError> {
    let parameters = character.shape_parameters();
    let mut shape = vec![0.0; parameters.len()];
    for (name, value) in &entry.value {
        let Some(k) = parameters.iter().position(|p| p.name == *name) else {
            let known = || parameters.iter().map(|p| p.name.as_str());
            return Err(SceneError::UnknownName {
                key: entry.key.clone(),
                line: entry.line,
                what: "shape parameter",
                name: name.clone(),
                nearest: nearest(name, known()),
                known: known().collect::<Vec<_>>().join(", "),
            });
        };
        shape[k] = *value;
    }
    Ok(shape)
}
