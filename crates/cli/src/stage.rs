//! A dressed character in motion, loaded as it was asked for.

use anyhow::{Context, bail};
use drapery::core::{
    BodyModel, Clip, Fabric, FrameIndex, FrameRate, Garment, GarmentAnimator, ShapedBody, Skeleton,
    TriMesh,
};
use drapery::runtime::{CorrectionConfig, Model};
use drapery::scene::character::Character;
use drapery::scene::motion::trim;
use drapery::scene::preflight::{Severity, check_garment_made_for};
use drapery::{
    Animation, BlendedGarment, Layer, RollOut, SimulatedGarment, WearConfig, dress_made_for,
};

use crate::args::{Dressed, Method, Shape};
use crate::record::Input;
use crate::say::Say;
use crate::source::Worn;
use crate::{source, stop};

/// Ticks of the progress bar while a garment is put on.
const DRESSING: u64 = 100;

/// How garments follow the body.
#[derive(Clone, Copy)]
pub(crate) enum Wearing<'a> {
    /// Skinned like it.
    Skinned,
    /// Simulated together, each as cloth of its fabric.
    Simulated(&'a [Fabric]),
    /// By models, one a garment, pushed out of the body or not.
    Models(&'a [Model], Option<CorrectionConfig>),
}

impl<'a> Wearing<'a> {
    /// By a method that was asked for.
    pub(crate) const fn by(method: Method, fabrics: &'a [Fabric]) -> Self {
        match method {
            Method::Skinning => Self::Skinned,
            Method::Simulation => Self::Simulated(fabrics),
        }
    }
}

/// What stands on the stage: a character, its clothes and its motion.
pub(crate) struct Stage {
    pub(crate) character: Character,
    pub(crate) body: ShapedBody,
    pub(crate) garments: Vec<Garment>,
    /// The shape of the body that each garment lies on.
    pub(crate) made_for: Vec<Vec<f32>>,
    pub(crate) clip: Clip,
    /// The frame of the motion that is frame 0 of the clip.
    pub(crate) first_frame: usize,
}

impl Stage {
    /// Loads everything; without a motion the character stands at rest. Says
    /// when a garment does not lie on the body as it should.
    pub(crate) fn load(dressed: &Dressed, say: &Say) -> anyhow::Result<Self> {
        let Some(name) = &dressed.character else {
            bail!("no --character given; tube is built in");
        };
        let character = source::character(name, say)?;
        let body = source::shaped(&character, &dressed.shape, say)?;
        let garments = dressed
            .garment
            .iter()
            .map(|name| source::garment_for(name, dressed.pattern, &character, &body, say))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let mut first_frame = 0;
        let clip = match &dressed.motion {
            Some(name) => {
                let clip = source::motion_on(name, &dressed.reading, &body, &character, say)?;
                match &dressed.frames {
                    Some(text) => {
                        let range =
                            source::frame_range("--frames", Some(text), clip.frames().len())?;
                        first_frame = range.start;
                        let name = clip.name().to_string();
                        trim(
                            &clip,
                            FrameIndex(range.start as u32)..FrameIndex(range.end as u32),
                        )?
                        .renamed(name)
                    }
                    None => clip,
                }
            }
            None => at_rest(&character, &body)?,
        };
        for worn in &garments {
            warn_of_misfit(worn, &character, &body, say);
        }
        let (garments, made_for) = garments
            .into_iter()
            .map(|w| (w.garment, w.made_for))
            .unzip();
        Ok(Self {
            character,
            body,
            garments,
            made_for,
            clip,
            first_frame,
        })
    }

    /// Loads what models animate, from the skin outwards: their garments on the body
    /// that they were trained on, unless another shape was asked for.
    pub(crate) fn load_for(models: &[Model], dressed: &Dressed, say: &Say) -> anyhow::Result<Self> {
        let mut stage = Self::load(dressed, say)?;
        for model in models {
            stage.check_skeleton(model)?;
        }
        let trained = |model: &Model| model.animator().trained_shape();
        let mut shapes = models.iter().filter_map(|m| Some((trained(m)?, m)));
        if let (true, Some((shape, model))) = (dressed.shape.shape.is_empty(), shapes.next()) {
            let head = model.head();
            if let Some((_, other)) = shapes.find(|(other, _)| *other != shape) {
                bail!(
                    "{} and {} were trained on bodies of different shapes; give a --shape",
                    head.garment,
                    other.head().garment
                );
            }
            if shape != stage.body.shape {
                say.note(format_args!(
                    "{}: in the shape that {} was trained on",
                    stage.character.name(),
                    head.garment
                ));
                let dressed = Dressed {
                    shape: Shape {
                        shape: named_shape(&head.shape_parameters, &shape),
                    },
                    ..dressed.clone()
                };
                stage = Self::load(&dressed, say)?;
            }
        }
        for model in models {
            let (head, animator) = (model.head(), model.animator());
            if head.frame_rate != stage.clip.frame_rate().hz() {
                bail!(
                    "the model was made for {} frames a second, the motion has {}; \
                     see drapery motion edit --resample",
                    head.frame_rate,
                    stage.clip.frame_rate().hz()
                );
            }
            if let Some(hidden) = model
                .hidden()
                .filter(|h| !h.is_of(stage.character.topology()))
            {
                say.note(format_args!(
                    "{}: the model was trained on a body of {} vertices, {} has {}; what it \
                     always hides is not left out",
                    head.garment,
                    hidden.vertices().len(),
                    stage.character.name(),
                    stage.character.topology().n_vertices()
                ));
            }
            let mesh = TriMesh::new(
                animator.skinned().rest().to_vec(),
                animator.topology().triangles().to_vec(),
            )?;
            let garment = Garment::new(head.garment.clone(), mesh, None, Vec::new(), Vec::new())?;
            stage.garments.push(garment);
            stage.made_for.push(stage.body.shape.clone());
        }
        Ok(stage)
    }

    fn check_skeleton(&self, model: &Model) -> anyhow::Result<()> {
        let head = model.head();
        let skeleton = self.character.skeleton();
        let parents = skeleton.parents().iter().map(|p| p.map(|j| j.0));
        if skeleton.names() != head.joints || !parents.eq(head.parents.iter().copied()) {
            bail!(
                "the model was made for a body of {} joints, {} has {}; {}",
                head.joints.len(),
                self.character.name(),
                skeleton.len(),
                first_difference(&head.joints, &head.parents, skeleton),
            );
        }
        Ok(())
    }

    /// Where a frame of the motion lies in the clip; the first one if none is given.
    pub(crate) fn place(&self, frame: Option<u32>) -> anyhow::Result<usize> {
        let Some(frame) = frame else { return Ok(0) };
        let n_frames = self.clip.frames().len();
        (frame as usize)
            .checked_sub(self.first_frame)
            .filter(|place| *place < n_frames)
            .with_context(|| {
                let end = self.first_frame + n_frames;
                format!(
                    "--frame {frame}: there are frames {}..{end}",
                    self.first_frame
                )
            })
    }

    /// Animates every garment through the clip by skinning.
    pub(crate) fn animate(&self, say: &Say) -> anyhow::Result<Animation<'_>> {
        self.animate_by(Wearing::Skinned, say)
    }

    /// Animates every garment through the clip.
    pub(crate) fn animate_by(
        &self,
        wearing: Wearing<'_>,
        say: &Say,
    ) -> anyhow::Result<Animation<'_>> {
        let mut animation = Animation::new(&self.character, &self.body, &self.clip);
        let rate = self.clip.frame_rate();
        match wearing {
            Wearing::Skinned => {
                for (garment, made_for) in self.garments.iter().zip(&self.made_for) {
                    let skinned = dress_made_for(garment, &self.character, made_for, rate);
                    let skinned = skinned.with_context(|| self.cannot_wear(&[garment]))?;
                    self.bake(&mut animation, &[garment], &skinned, say)?;
                }
            }
            Wearing::Simulated(fabrics) => self.simulate(&mut animation, fabrics, say)?,
            Wearing::Models(models, correction) => {
                self.wear_models(&mut animation, models, correction, say)?;
            }
        }
        Ok(animation)
    }

    /// Wears models as the sums of shapes that they are.
    pub(crate) fn blend(&self, models: &[Model], say: &Say) -> anyhow::Result<Animation<'_>> {
        let mut animation = Animation::new(&self.character, &self.body, &self.clip);
        for (garment, model) in self.garments.iter().zip(models) {
            let go_on = |_| !stop::asked();
            let blend = BlendedGarment::of(garment, model.animator(), &animation, go_on)
                .with_context(|| self.cannot_wear(&[garment]))?;
            let Some(blend) = blend else {
                stop::check()?;
                continue;
            };
            if blend.n_unsure > 0 {
                say.note(format_args!(
                    "{}: {} of {} frames are unlike what the model knows, and shown as it has them",
                    garment.name(),
                    blend.n_unsure,
                    blend.weights.len()
                ));
            }
            animation.blends.push(blend);
        }
        animation.hide(models);
        Ok(animation)
    }

    /// Simulates all garments together.
    fn simulate<'a>(
        &'a self,
        animation: &mut Animation<'a>,
        fabrics: &[Fabric],
        say: &Say,
    ) -> anyhow::Result<()> {
        let Some(made_for) = self.made_for.first() else {
            return Ok(());
        };
        if self.made_for.iter().any(|other| other != made_for) {
            bail!(
                "what is read from a file lies on the body of shape 0, what is built in on the \
                 body's own shape, and layers have to lie on one body; leave out --shape"
            );
        }
        let garments: Vec<&Garment> = self.garments.iter().collect();
        let layers: Vec<Layer<'_>> = garments
            .iter()
            .zip(fabrics)
            .map(|(garment, fabric)| Layer { garment, fabric })
            .collect();
        let rate = self.clip.frame_rate();
        let config = WearConfig::default();
        let outfit = SimulatedGarment::outfit(&layers, &self.character, made_for, rate, config);
        let outfit = outfit.with_context(|| self.cannot_wear(&garments))?;
        let repaired = outfit.layering();
        if repaired.lifted > 0 {
            say.note(format_args!(
                "{}: layers crossed in {} places; {} vertices of the outer ones were lifted, by \
                 up to {:.1} cm",
                names(&garments),
                repaired.crossed,
                repaired.lifted,
                100.0 * repaired.farthest
            ));
        }
        if repaired.left > 0 {
            say.note(format_args!(
                "{}: they still cross in {} places; give garments from the skin outwards",
                names(&garments),
                repaired.left
            ));
        }
        let bar = say.progress(DRESSING, "dressing");
        let outfit = outfit.watched(|share| {
            bar.set_position((share * DRESSING as f64) as u64);
            if share >= 1.0 {
                bar.finish_and_clear();
            }
            !stop::asked()
        });
        self.bake(animation, &garments, &outfit, say)?;
        animation.is_under = Some(outfit.is_worn_over());
        let crossed = animation.crossed_frames();
        if let Some(first) = crossed.first() {
            say.note(format_args!(
                "{}: layers cross in {} of {} frames, the first is {}",
                names(&garments),
                crossed.len(),
                self.clip.frames().len(),
                self.first_frame + first
            ));
        }
        Ok(())
    }

    /// Animates each garment by its model.
    fn wear_models<'a>(
        &'a self,
        animation: &mut Animation<'a>,
        models: &[Model],
        correction: Option<CorrectionConfig>,
        say: &Say,
    ) -> anyhow::Result<()> {
        let garments: Vec<&Garment> = self.garments.iter().collect();
        let bar = say.progress(self.clip.frames().len() as u64, "frames");
        let each = |frame: usize| {
            bar.set_position(frame as u64 + 1);
            !stop::asked()
        };
        let ended = animation.wear_models(&garments, models, correction, each);
        bar.finish_and_clear();
        if ended.is_err() {
            stop::check()?;
        }
        if ended? == RollOut::Stopped {
            stop::check()?;
        }
        if let Some(farthest) = animation.corrected.filter(|f| *f > 0.0) {
            say.note(format_args!(
                "{}: pushed out of the body{} by up to {:.1} mm",
                names(&garments),
                if garments.len() > 1 {
                    " and off each other"
                } else {
                    ""
                },
                1000.0 * farthest
            ));
        }
        Ok(())
    }

    fn cannot_wear(&self, garments: &[&Garment]) -> String {
        format!(
            "cannot put {} on {}",
            names(garments),
            self.character.name()
        )
    }

    /// Bakes garments that one animator moves.
    fn bake<'a, A: GarmentAnimator>(
        &self,
        animation: &mut Animation<'a>,
        garments: &[&'a Garment],
        animator: &A,
        say: &Say,
    ) -> anyhow::Result<()> {
        let bar = say.progress(self.clip.frames().len() as u64, "frames");
        let ended = animation.wear_outfit(garments, animator, |frame: usize| {
            bar.set_position(frame as u64 + 1);
            !stop::asked()
        });
        bar.finish_and_clear();
        if ended.is_err() {
            stop::check()?;
        }
        let ended = ended?;
        if ended == RollOut::Stopped {
            stop::check()?;
        }
        Ok(())
    }
}

/// The coefficients of a shape as they are given on the command line.
fn named_shape(names: &[String], shape: &[f32]) -> Vec<String> {
    let moved = names.iter().zip(shape).filter(|(_, c)| **c != 0.0);
    moved.map(|(name, c)| format!("{name}={c}")).collect()
}

/// How models are corrected.
pub(crate) fn correction(is_left: bool) -> Option<CorrectionConfig> {
    (!is_left).then_some(CorrectionConfig::DEFAULT)
}

/// Reads models.
pub(crate) fn read_models(paths: &[std::path::PathBuf]) -> anyhow::Result<Vec<Model>> {
    paths.iter().map(|path| read_model(path)).collect()
}

/// Reads a model.
pub(crate) fn read_model(path: &std::path::Path) -> anyhow::Result<Model> {
    let name = path.display();
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {name}"))?;
    Model::from_bytes(&bytes).with_context(|| format!("cannot read {name}"))
}

/// The names of garments, in words.
fn names(garments: &[&Garment]) -> String {
    let names: Vec<&str> = garments.iter().map(|garment| garment.name()).collect();
    names.join(", ")
}

/// Says when the pre-flight check would refuse a garment.
pub(crate) fn warn_of_misfit(worn: &Worn, character: &Character, body: &ShapedBody, say: &Say) {
    let garment = &worn.garment;
    let findings = check_garment_made_for(garment, Some((character, body)), worn.is_made_for(body));
    if let Some(worst) = findings.iter().find(|f| f.severity != Severity::Note) {
        say.note(format_args!(
            "{}: {}, {}; see drapery garment check",
            garment.name(),
            worst.finding.name(),
            worst.cure
        ));
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

/// Where another skeleton begins to be another than that of a model.
fn first_difference(joints: &[String], parents: &[Option<u16>], other: &Skeleton) -> String {
    let own = joints.iter().zip(parents);
    let others = other.names().iter().zip(other.parents());
    for (at, ((joint, parent), (name, above))) in own.zip(others).enumerate() {
        if joint != name {
            return format!("joint {at} is {joint} there and {name} here");
        }
        if *parent != above.map(|above| above.0) {
            return format!("joint {at}, {joint}, hangs on another");
        }
    }
    match joints.get(other.len()) {
        Some(joint) => format!("there is no {joint}"),
        None => format!("{} is one too many", other.names()[joints.len()]),
    }
}

/// The inputs of a run, with checksums.
pub(crate) fn inputs(dressed: &Dressed) -> anyhow::Result<Vec<Input>> {
    let names = dressed
        .character
        .iter()
        .chain(&dressed.garment)
        .chain(&dressed.motion);
    let map = dressed
        .reading
        .joint_map
        .iter()
        .map(|p| p.to_string_lossy().into_owned());
    names
        .cloned()
        .chain(map)
        .map(|name| Input::of(&name))
        .collect()
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

#[cfg(test)]
mod tests {
    use drapery::core::JointId;
    use glam::Vec3;

    use super::*;

    #[test]
    fn skeletons_differ_where_it_is_said() {
        let names = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        let own = (names("hips spine head"), [None, Some(0), Some(1)]);
        let said = |text: &str, parents: &[Option<u16>]| {
            let parents = parents.iter().map(|p| p.map(JointId)).collect();
            let other = names(text);
            let rest = vec![Vec3::ZERO; other.len()];
            first_difference(
                &own.0,
                &own.1,
                &Skeleton::new(other, parents, rest).unwrap(),
            )
        };
        let chain = [None, Some(0), Some(1), Some(2)];
        let renamed = said("hips chest head", &chain[..3]);
        assert_eq!(renamed, "joint 1 is spine there and chest here");
        let moved = said("hips spine head", &[None, Some(0), Some(0)]);
        assert_eq!(moved, "joint 2, head, hangs on another");
        assert_eq!(said("hips spine", &chain[..2]), "there is no head");
        assert_eq!(said("hips spine head tip", &chain), "tip is one too many");
    }
}
