//! A dressed character in motion, loaded as it was asked for.

use anyhow::{Context, bail};
use drapery::core::{BodyModel, Clip, FrameIndex, FrameRate, Garment, ShapedBody, TriMesh};
use drapery::scene::character::Character;
use drapery::scene::motion::trim;
use drapery::{Animation, dress};

use crate::args::Dressed;
use crate::record::Input;
use crate::say::Say;
use crate::{source, stop};

/// What stands on the stage: a character, its clothes and its motion.
pub(crate) struct Stage {
    pub(crate) character: Character,
    pub(crate) body: ShapedBody,
    pub(crate) garments: Vec<Garment>,
    pub(crate) clip: Clip,
}

impl Stage {
    /// Loads everything; without a motion the character stands at rest.
    pub(crate) fn load(dressed: &Dressed, say: &Say) -> anyhow::Result<Self> {
        let Some(name) = &dressed.character else {
            bail!("no --character given; tube is built in");
        };
        let character = source::character(name, say)?;
        let body = source::shaped(&character, &dressed.shape)?;
        let garments = dressed
            .garment
            .iter()
            .map(|name| source::garment(name, say))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let clip = match &dressed.motion {
            Some(name) => {
                let clip =
                    source::motion_on(name, &dressed.reading, &body, character.skeleton(), say)?;
                let range = source::frame_range(dressed.frames.as_deref(), clip.frames().len())?;
                trim(
                    &clip,
                    FrameIndex(range.start as u32)..FrameIndex(range.end as u32),
                )?
            }
            None => at_rest(&character, &body)?,
        };
        Ok(Self {
            character,
            body,
            garments,
            clip,
        })
    }

    /// Animates every garment through the clip by skinning.
    pub(crate) fn animate(&self, say: &Say) -> anyhow::Result<Animation<'_>> {
        let n_frames = self.clip.frames().len() as u64;
        let mut animation = Animation::new(&self.character, &self.body, &self.clip);
        for garment in &self.garments {
            let animator =
                dress(garment, &self.character, self.clip.frame_rate()).with_context(|| {
                    format!("cannot put {} on {}", garment.name(), self.character.name())
                })?;
            let bar = say.progress(n_frames, "frames");
            animation.wear(garment, &animator, |frame| {
                bar.set_position(frame as u64 + 1);
                !stop::asked()
            })?;
            bar.finish_and_clear();
            stop::check()?;
        }
        Ok(animation)
    }
}

/// A clip of one frame, at rest.
fn at_rest(character: &Character, body: &ShapedBody) -> anyhow::Result<Clip> {
    let mut pose = character.skeleton().rest_pose();
    pose.root = body.joints[0];
    Ok(Clip::new(
        "rest".to_string(),
        character.skeleton().clone(),
        FrameRate::THIRTY,
        vec![pose],
    )?)
}

/// The inputs of a run, with checksums.
pub(crate) fn inputs(dressed: &Dressed) -> anyhow::Result<Vec<Input>> {
    let names = dressed
        .character
        .iter()
        .chain(&dressed.garment)
        .chain(&dressed.motion);
    names.map(|name| Input::of(name)).collect()
}

/// Edge strain of every vertex: the largest of its edges against the rest
/// shape [%].
pub(crate) fn stretch_percent(garment: &Garment, mesh: &TriMesh) -> Vec<f32> {
    let mut worst = vec![0.0f32; mesh.positions().len()];
    for (t, corners) in mesh.triangles().iter().enumerate() {
        let rest = garment.rest_lengths(t as u32);
        for (side, rest) in rest.iter().enumerate() {
            let (a, b) = (corners[side] as usize, corners[(side + 1) % 3] as usize);
            let length = mesh.positions()[a].distance(mesh.positions()[b]);
            let strain = 100.0 * (length / rest.max(1e-9) - 1.0);
            for v in [a, b] {
                if strain.abs() > worst[v].abs() {
                    worst[v] = strain;
                }
            }
        }
    }
    worst
}
