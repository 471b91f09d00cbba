//! Where triangles lie in space: a bounding-volume tree that is refitted, not
//! rebuilt, and the questions that are asked of it.
//!
//! | question                               | answer                                   |
//! |----------------------------------------|------------------------------------------|
//! | what is nearest to a point             | [`TriangleTree::closest_point`]          |
//! | which triangles may touch              | [`TriangleTree::visit_pairs`], [`TriangleTree::visit_self_pairs`], [`TriangleTree::visit_box`] |
//! | do two triangles meet, and along what  | [`intersect_triangles`], [`TriangleTree::visit_self_intersections`] |
//! | what does a ray pass through           | [`TriangleTree::ray_crossings`]          |
//! | inside or outside, and how deep        | [`PseudoNormals`] for one clean surface, [`WindingField`] and [`TriangleTree::winding_of_closed`] for one that overlaps itself |
//!
//! Positions are `f32` metres; sums are done in `f64`. Every answer is
//! independent of how the tree was built, ties are broken by the lower
//! triangle, so a refitted tree and a new one agree.

mod closest;
mod intersect;
mod pairs;
mod pseudo_normals;
mod ray;
mod tree;
mod winding;

pub use closest::{ClosestPoint, closest_point_on};
pub use intersect::{Meeting, TriangleIntersection, intersect_triangles};
pub use pseudo_normals::PseudoNormals;
pub use ray::RayCrossings;
pub use tree::TriangleTree;
pub use winding::{WindingField, winding_number};

#[cfg(test)]
mod tests;
