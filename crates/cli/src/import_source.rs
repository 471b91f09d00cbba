//! What `drapery dataset import` reads: who wears what, how they move and how
//! the cloth does, checked against one another.

use std::ops::Range;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use drapery::core::{BodyModel, FrameRate, Garment, Pose, PoseVelocity, ShapedBody};
use drapery::scene::character::{Character, read_rig};
use drapery::store::cloth::{ClothError, ClothFile, ClothFrames};
use drapery::store::dataset::StoredGarment;
use drapery::store::npz::NpzFile;
use drapery::{ArchiveMotion, ClothSpace, archive_motion, check_place};
use glam::Vec3;

use crate::args::{Import, MotionReading};
use crate::say::Say;
use crate::{source, stop};

/// Rates may differ by so much of themselves: files round them.
const RATE_SLACK: f64 = 1e-3;

/// All that a sequence is made of.
pub(crate) struct Source {
    pub(crate) character: Character,
    pub(crate) body: ShapedBody,
    pub(crate) garments: Vec<StoredGarment>,
    pub(crate) cloths: Vec<ClothFile>,
    pub(crate) space: ClothSpace,
    /// Frames of the cloth.
    pub(crate) frames: Range<usize>,
    pub(crate) poses: Vec<Pose>,
    pub(crate) frame_rate: FrameRate,
    pub(crate) clip: String,
}

/// Reads and checks all but the frames of the cloth.
pub(crate) fn read(plan: &Import, say: &Say) -> anyhow::Result<Source> {
    let space = ClothSpace {
        unit: plan.unit.length(),
        up: plan.up.axis(),
    };
    let (character, body, meshes) = subject(plan, say)?;
    let cloths = cloths(plan, &meshes)?;
    let archive = archive(plan, &character)?;
    let body = shape_of(plan, archive.as_ref(), &character, body)?;
    let n_cloth = cloths[0].n_frames();
    let frames = source::frame_range("--cloth-frames", plan.cloth_frames.as_deref(), n_cloth)
        .with_context(|| format!("--cloth-frames for {}", cloths[0].path().display()))?;
    let motion = motion(plan, archive, &character, &body, space, say)?;
    let shown = source::frame_range(
        "--motion-frames",
        plan.motion_frames.as_deref(),
        motion.poses.len(),
    )
    .with_context(|| format!("--motion-frames for {}", motion.name))?;
    ensure!(
        shown.len() == frames.len(),
        "{} has {} frames of cloth, but {} has {} of the body; choose those that go together with \
         --cloth-frames and --motion-frames",
        cloths[0].path().display(),
        frames.len(),
        motion.name,
        shown.len()
    );
    let frame_rate = frame_rate(plan, &cloths, &motion)?;
    let fabrics = source::fabrics(&plan.fabric, &plan.garment, say)?;
    let garments = meshes.into_iter().zip(fabrics);
    let garments = garments.map(|(garment, fabric)| StoredGarment {
        garment,
        fabric,
        twin_of: None,
    });
    let poses = motion.poses[shown].to_vec();
    let name = plan.clip.clone().unwrap_or(motion.clip);
    let is_plain = |c: char| !c.is_control() && !c.is_whitespace() && !"/\\:*?\"<>|@".contains(c);
    let source = Source {
        character,
        body,
        garments: garments.collect(),
        cloths,
        space,
        frames,
        poses,
        frame_rate,
        clip: name.replace(|c| !is_plain(c), "-"),
    };
    source.check_place()?;
    say.note(format_args!(
        "cloth in {}, {} up, as the body is; {} frames at {} Hz",
        space.unit.name(),
        space.up,
        source.frames.len(),
        frame_rate.hz()
    ));
    Ok(source)
}

impl Source {
    /// Positions of all garments in metres, +Y up, from the first frame.
    pub(crate) fn frames(&self) -> Result<impl Iterator<Item = Positions>, ClothError> {
        let open = self.cloths.iter().map(ClothFile::frames);
        let all = Together {
            all: open.collect::<Result<Vec<_>, _>>()?,
            space: self.space,
        };
        Ok(all.skip(self.frames.start).take(self.frames.len()))
    }

    /// Reads every frame, so that nothing is begun that can't be ended.
    pub(crate) fn check_frames(&self, say: &Say) -> anyhow::Result<()> {
        let bar = say.progress(self.cloths[0].n_frames() as u64, "frames read");
        for cloth in &self.cloths {
            for frame in cloth.frames()? {
                frame?;
                stop::check()?;
                bar.inc(1);
            }
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// Whether the first frame can be where and as large as it is.
    fn check_place(&self) -> anyhow::Result<()> {
        let mut posed = self.character.room();
        let still = PoseVelocity::zero(self.character.skeleton().len());
        self.character
            .pose(&self.body, &self.poses[0], &still, &mut posed)?;
        for (cloth, stored) in self.cloths.iter().zip(&self.garments) {
            let mut before = cloth.frames()?.take(self.frames.start + 1);
            let first = before.try_fold(Vec::new(), |_, frame| frame)?;
            check_place(self.space, &first, &stored.garment, &posed.vertices)
                .with_context(|| format!("in {}", cloth.path().display()))?;
        }
        Ok(())
    }
}

type Positions = Result<Vec<Vec3>, ClothError>;

/// Several files frame by frame, one garment after the other.
struct Together {
    all: Vec<ClothFrames>,
    space: ClothSpace,
}

impl Iterator for Together {
    type Item = Positions;

    fn next(&mut self) -> Option<Positions> {
        let mut joined = Vec::new();
        for frames in &mut self.all {
            match frames.next()? {
                Ok(own) => joined.extend(own.into_iter().map(|p| self.space.world(p))),
                Err(error) => return Some(Err(error)),
            }
        }
        Some(Ok(joined))
    }
}

/// The character, its body and the garments on it.
fn subject(plan: &Import, say: &Say) -> anyhow::Result<(Character, ShapedBody, Vec<Garment>)> {
    if plan.no_body {
        let read = |name: &String| source::garment(name, plan.pattern, say);
        let garments: Vec<Garment> = plan.garment.iter().map(read).collect::<Result<_, _>>()?;
        let path = Path::new(&plan.character);
        let wrong = || format!("cannot read a skeleton from {}", path.display());
        let bytes = std::fs::read(path).with_context(wrong)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let character = read_rig(&bytes, &garments, &name).with_context(wrong)?;
        let body = source::shaped(&character, &plan.shape, say)?;
        say.note("there is no body: penetration and body contact are not measured");
        return Ok((character, body, garments));
    }
    let character = source::character(&plan.character, say)?;
    let body = source::shaped(&character, &plan.shape, say)?;
    let draft = |name| source::garment_for(name, plan.pattern, &character, &body, say);
    let garments = plan.garment.iter().map(|name| Ok(draft(name)?.garment));
    let garments = garments.collect::<anyhow::Result<Vec<_>>>()?;
    Ok((character, body, garments))
}

/// The file of each garment, which has as many vertices.
fn cloths(plan: &Import, garments: &[Garment]) -> anyhow::Result<Vec<ClothFile>> {
    let is_archive = |path: &Path| {
        path.extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("npz"))
    };
    let paths = match plan.cloth.as_slice() {
        [one] if garments.len() > 1 && is_archive(one) => vec![one; garments.len()],
        each if each.len() == garments.len() => each.iter().collect(),
        each => bail!(
            "--cloth was given {} times for {} garments; give one for each, or one .npz for all",
            each.len(),
            garments.len()
        ),
    };
    let mut cloths: Vec<ClothFile> = Vec::new();
    for (path, garment) in paths.into_iter().zip(garments) {
        let cloth = ClothFile::open(path, garment.name())?;
        let expected = garment.mesh().positions().len();
        ensure!(
            cloth.n_points() == expected,
            "{} has {} vertices, but the mesh of {} has {expected}",
            path.display(),
            cloth.n_points(),
            garment.name()
        );
        let is_mesh = |t: &[[u32; 3]]| t == garment.mesh().triangles();
        ensure!(
            !is_archive(path) || cloth.triangles().is_none_or(is_mesh),
            "the triangles in {} are not those of the mesh of {}",
            path.display(),
            garment.name()
        );
        if let Some(first) = cloths.first() {
            ensure!(
                cloth.n_frames() == first.n_frames(),
                "{} has {} frames, but {} has {}",
                path.display(),
                cloth.n_frames(),
                first.path().display(),
                first.n_frames()
            );
        }
        cloths.push(cloth);
    }
    Ok(cloths)
}

/// The motion beside the cloth, when no other is given.
fn archive(plan: &Import, character: &Character) -> anyhow::Result<Option<ArchiveMotion>> {
    let path = &plan.cloth[0];
    let is_archive = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("npz"));
    match &plan.motion {
        Some(_) => Ok(None),
        None if is_archive => {
            let wrong = || format!("no motion of {} in {}", character.name(), path.display());
            let file = NpzFile::open(path).with_context(wrong)?;
            let motion = archive_motion(&file, character.skeleton()).with_context(wrong)?;
            Ok(Some(motion))
        }
        None => bail!(
            "{} has no poses of the body; give its motion with --motion",
            path.display()
        ),
    }
}

/// The body of the shape in the archive, unless one was asked for.
fn shape_of(
    plan: &Import,
    archive: Option<&ArchiveMotion>,
    character: &Character,
    body: ShapedBody,
) -> anyhow::Result<ShapedBody> {
    let Some(shape) = archive.and_then(|a| a.shape.as_ref()) else {
        return Ok(body);
    };
    let n = character.shape_parameters().len();
    // A body model has often more parameters than a file makes use of.
    let mut padded = shape.clone();
    while padded.len() > n && padded.last() == Some(&0.0) {
        padded.pop();
    }
    ensure!(
        padded.len() <= n,
        "{} has {} shape coefficients, but {} has {n} shape parameters",
        plan.cloth[0].display(),
        shape.len(),
        character.name()
    );
    padded.resize(n, 0.0);
    ensure!(
        plan.shape.shape.is_empty() || padded == body.shape,
        "the body in {} has another shape than --shape gives it",
        plan.cloth[0].display()
    );
    Ok(character.shaped(&padded)?)
}

/// Poses of the character.
struct Motion {
    /// Where they are from.
    name: String,
    clip: String,
    poses: Vec<Pose>,
    frame_rate: Option<FrameRate>,
}

fn motion(
    plan: &Import,
    archive: Option<ArchiveMotion>,
    character: &Character,
    body: &ShapedBody,
    space: ClothSpace,
    say: &Say,
) -> anyhow::Result<Motion> {
    if let Some(archive) = archive {
        let path = &plan.cloth[0];
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        return Ok(Motion {
            name: path.display().to_string(),
            clip: stem.into_owned(),
            poses: archive.poses(space, body.joints[0]),
            frame_rate: None,
        });
    }
    let name = plan.motion.clone().unwrap_or_default();
    let reading = MotionReading {
        animation: plan.animation.clone(),
        unit: plan.motion_unit,
        up: plan.motion_up,
        arm_abduction_deg: plan.arm_abduction_deg,
        no_ground: plan.no_ground,
        joint_map: plan.joint_map.clone(),
        ..MotionReading::default()
    };
    let clip = source::motion_on(&name, &reading, body, character, say)?;
    Ok(Motion {
        name,
        clip: clip.name().to_string(),
        poses: clip.frames().to_vec(),
        frame_rate: Some(clip.frame_rate()),
    })
}

/// The rate that cloth, motion and user agree on.
fn frame_rate(plan: &Import, cloths: &[ClothFile], motion: &Motion) -> anyhow::Result<FrameRate> {
    let mut said: Vec<(String, f64)> = Vec::new();
    said.extend(plan.frame_rate.map(|hz| ("--frame-rate".to_string(), hz)));
    let own = motion
        .frame_rate
        .map(|rate| (motion.name.clone(), rate.hz()));
    said.extend(own);
    for cloth in cloths {
        let path = cloth.path().display().to_string();
        if let Some(step) = cloth.frame_step()
            && step != 1.0
        {
            bail!("{path} has a sample every {step} frames, expected one every frame");
        }
        said.extend(cloth.frame_rate().map(|hz| (path, hz)));
    }
    let Some((by, hz)) = said.first() else {
        bail!(
            "neither {} nor the motion says its frame rate; give --frame-rate",
            plan.cloth[0].display()
        );
    };
    for (other, rate) in &said {
        ensure!(
            (rate / hz - 1.0).abs() <= RATE_SLACK,
            "{other} has {rate} frames a second, but {by} has {hz}; drapery motion edit resamples motions"
        );
    }
    // Times in single precision don't give the rate back to the bit; who says
    // it outright does.
    Ok(FrameRate::new(*hz)?)
}
