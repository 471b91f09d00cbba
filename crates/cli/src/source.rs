//! From what was typed to characters, garments and motions, checked.

use std::ops::Range;

use anyhow::{Context, bail};
use drapery::core::{BodyModel, Clip, Fabric, Garment, ShapedBody, Skeleton};
use drapery::scene::character::Character;
use drapery::scene::garment::{DraftConfig, GarmentKind, TextureUse, draft};
use drapery::scene::load::{self, LoadedMotion, MotionOptions};
use drapery::scene::mannequin;
use drapery::scene::motion::repertoire;
use drapery::scene::motion::{
    self, BvhOptions, Calibration, Cleaned, PutOnError, PutOnOptions, clean, find_jumps,
};
use drapery::scene::preflight::MadeFor;
use drapery::{PartingConfig, part_limbs};

use crate::args;
use crate::say::Say;
use crate::stop;

/// What a garment is made of if nothing is said.
const USUAL_FABRIC: &str = "cotton-plain";

/// The character, with a remark for each thing noticed while reading it.
pub(crate) fn character(name: &str, say: &Say) -> anyhow::Result<Character> {
    let loaded = load::load_character(name)?;
    for note in &loaded.notes {
        say.note(format_args!("{name}: {note}"));
    }
    Ok(loaded.character)
}

/// The garment, with a remark for each thing noticed while reading it.
pub(crate) fn garment(
    name: &str,
    reading: args::PatternReading,
    say: &Say,
) -> anyhow::Result<Garment> {
    let texture_use = match reading.pattern {
        args::PatternUse::Detect => TextureUse::Detect,
        args::PatternUse::Flat => TextureUse::Pattern,
        args::PatternUse::None => TextureUse::Ignore,
    };
    let loaded = load::load_garment_as(name, texture_use)?;
    for note in &loaded.notes {
        say.note(format_args!("{name}: {note}"));
    }
    Ok(loaded.garment)
}

/// A garment and the shape of the body that it lies on.
pub(crate) struct Worn {
    pub(crate) garment: Garment,
    pub(crate) made_for: Vec<f32>,
}

impl Worn {
    /// Which body that is, of those that the check knows.
    pub(crate) fn is_made_for(&self, body: &ShapedBody) -> MadeFor {
        if self.made_for == body.shape {
            MadeFor::Wearer
        } else {
            MadeFor::Template
        }
    }
}

/// The garment for a body: drafted for it if its name is that of a pattern,
/// otherwise read, as it lies on the body of shape 0.
pub(crate) fn garment_for(
    name: &str,
    reading: args::PatternReading,
    character: &Character,
    body: &ShapedBody,
    say: &Say,
) -> anyhow::Result<Worn> {
    if let Some(kind) = GarmentKind::named(name) {
        let config = DraftConfig::default();
        let garment = draft(kind, character, &body.shape, &config)
            .with_context(|| format!("cannot draft {name} for {}", character.name()))?;
        return Ok(Worn {
            garment,
            made_for: body.shape.clone(),
        });
    }
    Ok(Worn {
        garment: garment(name, reading, say)?,
        made_for: vec![0.0; body.shape.len()],
    })
}

/// The fabric, with a remark for each thing noticed while reading it.
pub(crate) fn fabric(name: &str, say: &Say) -> anyhow::Result<Fabric> {
    let loaded = load::load_fabric(name)?;
    for note in &loaded.notes {
        say.note(format_args!("{name}: {note}"));
    }
    Ok(loaded.fabric)
}

/// The fabric of each garment.
pub(crate) fn fabrics(
    cloth: &args::ClothsOf,
    garments: &[String],
    say: &Say,
) -> anyhow::Result<Vec<Fabric>> {
    let names = fabric_names(&cloth.fabric, garments)?;
    names.into_iter().map(|name| fabric(name, say)).collect()
}

/// The name of the fabric of each garment: as given for all or for each, or
/// what it is usually made of.
fn fabric_names<'a>(given: &'a [String], garments: &[String]) -> anyhow::Result<Vec<&'a str>> {
    let usual = |name: &String| {
        let kind = GarmentKind::named(name);
        kind.map_or(USUAL_FABRIC, GarmentKind::fabric)
    };
    match given {
        [] => Ok(garments.iter().map(usual).collect()),
        [one] => Ok(vec![one; garments.len()]),
        each if each.len() == garments.len() => Ok(each.iter().map(String::as_str).collect()),
        several => bail!(
            "--fabric was given {} times for {} garments; give it once for all, or once for each",
            several.len(),
            garments.len()
        ),
    }
}

/// The motion on its own skeleton, with a remark for each thing noticed.
pub(crate) fn motion(
    name: &str,
    reading: &args::MotionReading,
    say: &Say,
) -> anyhow::Result<LoadedMotion> {
    let options = MotionOptions {
        bvh: BvhOptions {
            calibration: match reading.calibration {
                args::Calibration::Detect => Calibration::Detect,
                args::Calibration::FirstRow => Calibration::FirstRow,
                args::Calibration::Offsets => Calibration::Offsets,
            },
            unit: reading.unit.map(args::Unit::length),
            up: reading.up.map(args::Up::axis),
        },
        animation: reading.animation.clone(),
    };
    if load::is_built_in_motion(name) {
        let of_files = [
            ("--animation", reading.animation.is_some()),
            ("--unit", reading.unit.is_some()),
            ("--up", reading.up.is_some()),
            (
                "--calibration",
                reading.calibration != args::Calibration::Detect,
            ),
        ];
        if let Some((option, _)) = of_files.iter().find(|(_, is_given)| *is_given) {
            bail!("{option} is for files: {name} is built in");
        }
    }
    let loaded = load::load_motion(name, &options)?;
    for note in &loaded.notes {
        say.note(format_args!("{name}: {note}"));
    }
    Ok(loaded)
}

/// The motion on a character's skeleton: as it is when the joints are the
/// same, retargeted otherwise.
pub(crate) fn motion_on(
    name: &str,
    reading: &args::MotionReading,
    body: &ShapedBody,
    character: &Character,
    say: &Say,
) -> anyhow::Result<Clip> {
    let clip = put_and_cleaned(name, reading, body, character.skeleton(), say)?;
    parted(clip, reading, body, character, say)
}

/// A motion with its limbs parted, if that is asked for.
pub(crate) fn parted(
    clip: Clip,
    reading: &args::MotionReading,
    body: &ShapedBody,
    character: &Character,
    say: &Say,
) -> anyhow::Result<Clip> {
    if !reading.part_limbs {
        return Ok(clip);
    }
    let bar = say.progress(1000, "parting limbs");
    let parted = part(&clip, body, character, |done| {
        bar.set_position((1e3 * done) as u64);
    });
    bar.finish_and_clear();
    let (clip, remark) = parted?;
    if let Some(remark) = remark {
        say.note(format_args!("{remark}"));
    }
    Ok(clip)
}

/// A motion with its limbs parted, and a remark on what was turned. `each` is told how
/// much is done, from 0 to 1.
pub(crate) fn part(
    clip: &Clip,
    body: &ShapedBody,
    character: &Character,
    mut each: impl FnMut(f64),
) -> anyhow::Result<(Clip, Option<String>)> {
    let config = PartingConfig::default();
    let parted = part_limbs(character, body, clip, config, |done| {
        each(done);
        !stop::asked()
    });
    let parted = parted.with_context(|| format!("cannot part the limbs of {}", clip.name()))?;
    let Some(parted) = parted else {
        stop::check()?;
        return Ok((clip.clone(), None));
    };
    let remark = parted.most.map(|(joint, turn)| {
        format!(
            "{}: limbs parted in {} frames, from {:.1} to {:.1} cm deep; {} turned by up to {:.0}°",
            clip.name(),
            parted.n_frames,
            100.0 * parted.before,
            100.0 * parted.after,
            clip.skeleton().names()[usize::from(joint.0)],
            turn.to_degrees(),
        )
    });
    Ok((parted.clip, remark))
}

/// The motion on a character's skeleton, mended if that is asked for, its limbs as they
/// are.
pub(crate) fn put_and_cleaned(
    name: &str,
    reading: &args::MotionReading,
    body: &ShapedBody,
    skeleton: &Skeleton,
    say: &Say,
) -> anyhow::Result<Clip> {
    // The built-in person has motions for each of its shapes.
    if repertoire::has(name)
        && skeleton.names() == mannequin::skeleton().names()
        && reading.arm_abduction_deg == 0.0
        && reading.joint_map.is_none()
    {
        return Ok(repertoire::clip_on(name, &body.joints)?);
    }
    let clip = self::motion(name, reading, say)?.clip;
    let clip = put_on(clip, reading, body, skeleton, say)
        .with_context(|| format!("cannot retarget {name}"))?;
    if !reading.clean {
        let n_jumps = find_jumps(&clip).len();
        if n_jumps > 0 {
            say.note(format_args!(
                "{}: jumps in {n_jumps} places, which --clean mends",
                clip.name()
            ));
        }
        return Ok(clip);
    }
    let cleaned = clean(&clip, &body.joints);
    if let Some(what) = cleaning(&cleaned) {
        say.note(format_args!("{}: {what}", clip.name()));
    }
    Ok(cleaned.clip)
}

/// What was done to clean a motion, in words; none when nothing was.
pub(crate) fn cleaning(cleaned: &Cleaned) -> Option<String> {
    let mut done = Vec::new();
    if !cleaned.mends.is_empty() {
        let mut frames: Vec<u32> = cleaned
            .mends
            .iter()
            .flat_map(|m| m.first..=m.last)
            .collect();
        frames.sort_unstable();
        frames.dedup();
        done.push(format!("jumps mended in {} frames", frames.len()));
    }
    if let Some(drift) = &cleaned.drift {
        let heights = drift.heights.iter().map(|h| 100.0 * h);
        let (low, high) = heights.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), h| {
            (low.min(h), high.max(h))
        });
        done.push(format!(
            "a floor at {low:.1} to {high:.1} cm brought to level"
        ));
    }
    (!done.is_empty()).then(|| done.join(", "))
}

/// Puts a clip on the skeleton of a shaped body.
pub(crate) fn put_on(
    clip: Clip,
    reading: &args::MotionReading,
    body: &ShapedBody,
    skeleton: &Skeleton,
    say: &Say,
) -> anyhow::Result<Clip> {
    let joints = match &reading.joint_map {
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            let pairs = joint_pairs(&text).with_context(|| format!("in {}", path.display()))?;
            let owned = |(s, t): (&str, &str)| (s.to_string(), t.to_string());
            Some(pairs.into_iter().map(owned).collect())
        }
        None => None,
    };
    let options = PutOnOptions {
        joints,
        arm_abduction: reading.arm_abduction_deg.to_radians(),
        keeps_height: reading.no_ground,
    };
    let done = motion::put_on(clip, body, skeleton, &options).map_err(|error| match error {
        PutOnError::Joints(_) if reading.joint_map.is_none() => anyhow::Error::new(error)
            .context("give --joint-map FILE with a line \"target = source\" for each joint"),
        other => other.into(),
    })?;
    if let Some(by) = done.retargeted {
        say.note(format_args!(
            "{}: retargeted to {} joints, scaled by {:.4}, root raised by {:.1} cm",
            done.clip.name(),
            skeleton.len(),
            by.scale,
            100.0 * by.ground_shift
        ));
        for note in &by.notes {
            say.note(format_args!("{}: {note}", done.clip.name()));
        }
    }
    Ok(done.clip)
}

/// Lines of "target = source"; # begins a comment.
fn joint_pairs(text: &str) -> anyhow::Result<Vec<(&str, &str)>> {
    let mut pairs = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let Some((target, source)) = line.split_once('=') else {
            bail!("line {}: expected \"target = source\"", number + 1);
        };
        pairs.push((source.trim(), target.trim()));
    }
    Ok(pairs)
}

/// No body is known that goes this far from its template.
const MAX_COEFFICIENT: f32 = 100.0;

/// The body of the shape that was asked for.
pub(crate) fn shaped(
    character: &Character,
    shape: &args::Shape,
    say: &Say,
) -> anyhow::Result<ShapedBody> {
    shaped_by("--shape", character, shape, say)
}

/// The same, for an option of another name.
pub(crate) fn shaped_by(
    option: &str,
    character: &Character,
    shape: &args::Shape,
    say: &Say,
) -> anyhow::Result<ShapedBody> {
    let parameters = character.shape_parameters();
    let mut coefficients = vec![0.0f32; parameters.len()];
    for setting in &shape.shape {
        let Some((name, value)) = setting.split_once('=') else {
            bail!("{option} {setting}: expected NAME=VALUE");
        };
        let Some(k) = parameters.iter().position(|p| p.name == name) else {
            let names: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
            let near = load::nearest(name, names.iter().copied());
            bail!(
                "{option} {setting}: {} has no shape parameter {name}; it has {}{}",
                character.name(),
                if names.is_empty() {
                    "none".to_string()
                } else {
                    names.join(", ")
                },
                near.map_or_else(String::new, |n| format!(" (did you mean {n}?)")),
            );
        };
        let number = value
            .parse()
            .ok()
            .filter(|v: &f32| v.is_finite() && v.abs() <= MAX_COEFFICIENT)
            .with_context(|| {
                format!("{option} {setting}: {value} is not a number between ±{MAX_COEFFICIENT}")
            })?;
        let parameter = &parameters[k];
        if !(parameter.min..=parameter.max).contains(&number) {
            say.note(format_args!(
                "{option} {setting}: {} looks sound from {} to {}",
                parameter.name, parameter.min, parameter.max
            ));
        }
        coefficients[k] = number;
    }
    Ok(character.shaped(&coefficients)?)
}

/// A range of frames "A..B" within `n_frames`, as an option gives it; either end may be
/// left out.
pub(crate) fn frame_range(
    option: &str,
    text: Option<&str>,
    n_frames: usize,
) -> anyhow::Result<Range<usize>> {
    let Some(text) = text else {
        return Ok(0..n_frames);
    };
    let range = (|| {
        let (a, b) = text.split_once("..")?;
        let end = |side: &str, default| match side.trim() {
            "" => Some(default),
            number => number.parse().ok(),
        };
        Some(end(a, 0)?..end(b, n_frames)?)
    })();
    match range {
        Some(range) if range.start < range.end && range.end <= n_frames => Ok(range),
        Some(range) if range.start >= range.end => {
            bail!(
                "{option} {text}: {} is not before {}",
                range.start,
                range.end
            )
        }
        Some(_) => bail!("{option} {text}: the clip has frames 0..{n_frames}"),
        None => bail!("{option} {text}: expected A..B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_checked_against_the_clip() {
        assert_eq!(frame_range("--frames", None, 10).unwrap(), 0..10);
        assert_eq!(frame_range("--frames", Some("2..5"), 10).unwrap(), 2..5);
        assert_eq!(frame_range("--frames", Some("..5"), 10).unwrap(), 0..5);
        assert_eq!(frame_range("--frames", Some("7.."), 10).unwrap(), 7..10);
        for bad in ["5", "5..2", "0..11", "a..b", "3..3"] {
            assert!(
                frame_range("--frames", Some(bad), 10).is_err(),
                "{bad} was taken"
            );
        }
    }

    #[test]
    fn fabrics_are_for_all_or_for_each() {
        let of = |names: &[&str]| -> Vec<String> { names.iter().map(|n| (*n).into()).collect() };
        let garments = of(&["t-shirt", "jacket", "mine.obj"]);
        let names = |given: &[&str]| -> anyhow::Result<Vec<String>> {
            Ok(of(&fabric_names(&of(given), &garments)?))
        };
        let usual = ["cotton-plain", "wool-worsted", "cotton-plain"];
        assert_eq!(names(&[]).unwrap(), usual);
        assert_eq!(names(&["denim"]).unwrap(), ["denim"; 3]);
        let each = ["silk-light", "denim", "leather"];
        assert_eq!(names(&each).unwrap(), each);
        let message = names(&["denim", "denim"]).unwrap_err().to_string();
        assert!(message.contains("2 times for 3 garments"), "{message}");
    }

    #[test]
    fn joint_tables_are_target_equals_source() {
        let pairs = joint_pairs("# mine\nhip = Hips\n\nknee=Knee # left\n").unwrap();
        assert_eq!(pairs, [("Hips", "hip"), ("Knee", "knee")]);
        assert!(joint_pairs("hip Hips").is_err());
    }
}
