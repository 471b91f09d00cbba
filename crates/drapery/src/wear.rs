//! How well a garment is worn, measured frame by frame: [`WearMeter`].
//!
//! Whatever moved the garment, simulation or a learned method, is measured
//! alike, from the body's and the garment's positions alone.
//!
//! | figure         | what it is                                                       |
//! |----------------|------------------------------------------------------------------|
//! | penetration    | vertices, middles of edges and centres of faces of the garment that are more than 1 mm inside the body |
//! | poking through | vertices of the body from which the nearest cloth, at most 2 cm away, lies more than 1 mm beneath the skin with its outer side towards them |
//! | mask           | all within 2 cm of a vertex of the body that is inside another part of it, or of where one of its edges enters it |
//! | stretch        | how much longer edges are than in the rest shape, and than in the first frame |
//! | speed          | of vertices, relative to the point of the body next to them        |
//! | crossings      | edges of the garment that pass through a face of it               |
//!
//! The mask is made from the body alone. A point of the garment is masked when
//! the point of the body next to it is: where a body enters itself there is no
//! place for cloth, and no method can be blamed. Depths are given both with and
//! without what is masked, and the masked share beside them.
//!
//! ```
//! use drapery::core::{FrameRate, Garment, TriMesh};
//! use drapery::WearMeter;
//! use drapery::sim::Yielding;
//! use glam::Vec3;
//!
//! // A body that is a tetrahedron, and a triangle of cloth next to it.
//! let body = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
//! let skin = TriMesh::new(body.to_vec(), vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])?;
//! let cloth = vec![Vec3::new(0.2, -0.1, 0.2), Vec3::new(0.4, -0.1, 0.2), Vec3::new(0.2, -0.1, 0.4)];
//! let patch = TriMesh::new(cloth.clone(), vec![[0, 1, 2]])?;
//! let patch = Garment::new("patch".into(), patch, None, vec![], vec![])?;
//! let mut meter = WearMeter::new(skin.topology(), &body, &patch, FrameRate::THIRTY);
//! let felt = Yielding { inside: vec![false; 4], ..Yielding::default() };
//! let worn = meter.read(&body, &felt, &cloth);
//! assert_eq!(worn.cloth.all.n_deep, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod meter;
mod summary;
#[cfg(test)]
mod tests;

pub(crate) use meter::self_contact;
pub use meter::{WearMeter, WornFrame};
pub use summary::{FrameFlags, WearSummary};
