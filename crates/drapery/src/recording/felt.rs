//! What a body does to itself, pose after pose: [`Felt`].

use drapery_core::{BodyModel, ShapedBody};
use drapery_sim::{Flesh, FleshConfig, Yielding};
use drapery_store::dataset::DatasetHead;
use glam::{DVec3, Vec3};

/// The flesh of a body; nothing gives way where there is none.
pub(crate) enum Felt {
    Body(Box<Flesh>),
    Nothing(usize),
}

impl Felt {
    pub(crate) fn new(model: &dyn BodyModel, body: &ShapedBody, head: &DatasetHead) -> Self {
        match head.has_body() {
            true => {
                let config = FleshConfig::default();
                let flesh = Flesh::new(model.topology(), &wide(&body.rest), config);
                Self::Body(Box::new(flesh))
            }
            false => Self::Nothing(body.rest.len()),
        }
    }

    /// What the body does with its vertices at `skin` [m].
    pub(crate) fn at(&mut self, skin: &[Vec3]) -> Yielding {
        match self {
            Self::Body(flesh) => flesh.feel(&wide(skin)),
            Self::Nothing(n) => Yielding {
                back: vec![0.0; *n],
                inside: vec![false; *n],
                rim: Vec::new(),
                absent: vec![false; *n],
            },
        }
    }
}

fn wide(points: &[Vec3]) -> Vec<DVec3> {
    points.iter().map(|p| p.as_dvec3()).collect()
}
