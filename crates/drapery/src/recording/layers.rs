//! Which garments of an outfit pass through one another: [`Layers`].

use drapery_sim::{MeshBoxes, crossings};
use drapery_store::dataset::DatasetHead;
use glam::{DVec3, Vec3};

/// The garments of a dataset that are worn together; twins are not.
#[derive(Clone)]
pub(super) struct Layers {
    /// How many vertices each garment has, and its boxes where it is worn over
    /// or under another.
    garments: Vec<(usize, Option<MeshBoxes>)>,
}

impl Layers {
    pub(super) fn new(head: &DatasetHead) -> Self {
        let is_alone = head.worn().count() < 2;
        let garments = head.garments.iter().map(|stored| {
            let mesh = stored.garment.mesh();
            let boxes = (!is_alone && stored.twin_of.is_none())
                .then(|| MeshBoxes::new(mesh.topology(), &wide(mesh.positions())));
            (stored.n_vertices(), boxes)
        });
        Self {
            garments: garments.collect(),
        }
    }

    /// Whether each garment has an edge or a face through another one, with
    /// all of them at `cloth` [m].
    pub(super) fn crossed(&mut self, cloth: &[Vec3]) -> Vec<bool> {
        let mut crossed = vec![false; self.garments.len()];
        let mut placed: Vec<(usize, &MeshBoxes, Vec<DVec3>)> = Vec::new();
        let mut rest = cloth;
        for (g, (n_vertices, boxes)) in self.garments.iter_mut().enumerate() {
            let (own, others) = rest.split_at(*n_vertices);
            rest = others;
            let Some(boxes) = boxes else { continue };
            let own = wide(own);
            boxes.refit(&own, &own);
            for (other, other_boxes, x) in &placed {
                if !crossings(boxes, &own, other_boxes, x).is_empty() {
                    (crossed[g], crossed[*other]) = (true, true);
                }
            }
            placed.push((g, boxes, own));
        }
        crossed
    }
}

fn wide(points: &[Vec3]) -> Vec<DVec3> {
    points.iter().map(|p| p.as_dvec3()).collect()
}
