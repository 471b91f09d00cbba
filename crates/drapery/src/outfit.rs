//! Several garments on one body: [`Layer`]s, from the skin outwards.
//!
//! An outfit is one cloth of as many pieces as it has garments, each of its
//! own fabric, and is simulated as one: [`SimulatedGarment::outfit`]. Its
//! vertices are those of the garments, one after the other.

use std::ops::Range;

use drapery_core::{
    AnimateError, BodyFrame, BodyModel, Fabric, FrameRate, Garment, GarmentAnimator, Topology,
};
use drapery_runtime::SkinnedGarment;
use drapery_scene::garment::pins;
use drapery_sim::{Attachment, Cloth, RestShape, StrainCap};
use glam::Vec3;

#[cfg(doc)]
use crate::SimulatedGarment;
use crate::WearError;
use crate::road::dress_made_for;

/// A garment of an outfit, and what it is made of.
#[derive(Clone, Copy, Debug)]
pub struct Layer<'g> {
    /// The garment, as it lies on the body by itself.
    pub garment: &'g Garment,
    /// Its fabric.
    pub fabric: &'g Fabric,
}

/// Threads turn against each other until they jam, and from there on cloth is
/// about as stiff on the bias as along its threads. Trousers of a bowing body
/// are stretched by 15 % without it, all on the bias, and by 9 % with it. From a
/// twelfth on, so that what moves freely pays nothing for it.
const LOCKING: StrainCap = StrainCap {
    limit: 0.08,
    rise: 10_000.0,
};

/// A garment of an outfit as it is simulated.
pub(crate) struct WornLayer {
    skinned: SkinnedGarment,
    topology: Topology,
    pub(crate) fabric: Fabric,
    /// Its vertices among those of the outfit.
    pub(crate) vertices: Range<usize>,
    /// Its own numbers of the vertices that are pinned, sorted.
    pinned: Vec<u32>,
}

impl WornLayer {
    /// The layers of an outfit on the body of the shape `made_for`, and the
    /// cloth that they are together.
    pub(crate) fn all(
        layers: &[Layer<'_>],
        model: &dyn BodyModel,
        made_for: &[f32],
        frame_rate: FrameRate,
    ) -> Result<(Vec<Self>, Cloth), WearError> {
        let (mut worn, mut cloths) = (Vec::new(), Vec::new());
        let mut first = 0;
        for Layer { garment, fabric } in layers {
            let skinned = dress_made_for(garment, model, made_for, frame_rate)?;
            let cloth = Cloth::new(&RestShape::new(garment)?, fabric, &[])?;
            cloths.push(cloth.with_cap(Some(LOCKING))?);
            let groups = pins(garment).flat_map(|group| group.vertices.iter().copied());
            let mut pinned: Vec<u32> = groups.collect();
            pinned.sort_unstable();
            pinned.dedup();
            let n_vertices = garment.mesh().positions().len();
            worn.push(Self {
                skinned,
                topology: garment.mesh().topology().clone(),
                fabric: (*fabric).clone(),
                vertices: first..first + n_vertices,
                pinned,
            });
            first += n_vertices;
        }
        Ok((worn, Cloth::join(&cloths)?))
    }

    pub(crate) const fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Adds what pulls pinned vertices to where skinning has them, by way of
    /// `skinned`, which has room for all vertices of the outfit.
    pub(crate) fn attach(
        &self,
        frame: &BodyFrame<'_>,
        stiffness: f64,
        skinned: &mut [Vec3],
        attachments: &mut Vec<Attachment>,
    ) -> Result<(), AnimateError> {
        if self.pinned.is_empty() {
            return Ok(());
        }
        let places = &mut skinned[self.vertices.clone()];
        let mut state = self.skinned.start(frame)?;
        self.skinned.step(&mut state, frame, places)?;
        let first = self.vertices.start as u32;
        attachments.extend(self.pinned.iter().map(|vertex| Attachment {
            vertex: first + vertex,
            target: places[*vertex as usize].as_dvec3(),
            stiffness,
        }));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use drapery_scene::builtin;
    use glam::DVec3;

    use super::*;

    #[test]
    fn worn_cloth_locks_beyond_its_limit_and_not_before() {
        let body = builtin::character("tube").unwrap();
        let garment = builtin::garment("sleeve").unwrap();
        let fabric = Fabric::plain("cotton", 0.15, 400.0, 1e-5);
        let shape = vec![0.0; body.shape_parameters().len()];
        let layers = [Layer {
            garment: &garment,
            fabric: &fabric,
        }];
        let (_, worn) =
            WornLayer::all(&layers, &body, &shape, FrameRate::new(30.0).unwrap()).unwrap();
        let free = Cloth::new(&RestShape::new(&garment).unwrap(), &fabric, &[]).unwrap();
        let ratio = |stretch: f64| {
            let rest = garment.mesh().positions().iter();
            let x: Vec<DVec3> = rest.map(|p| p.as_dvec3() * stretch).collect();
            worn.energy(&x) / free.energy(&x)
        };
        assert!((ratio(1.03) - 1.0).abs() < 1e-9, "{}", ratio(1.03));
        assert!(ratio(1.12) > 2.0, "{}", ratio(1.12));
    }
}
