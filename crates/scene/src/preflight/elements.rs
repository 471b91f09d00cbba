//! Findings about triangles, edges and vertices of a mesh, for bodies and
//! garments alike.

use drapery_core::TriMesh;
use glam::Vec3;

use super::{Finding, FindingKind, Severity, place};

/// Makes findings of one mesh. Each is `None` where there is nothing to tell.
pub(super) struct Elements<'a> {
    mesh: &'a TriMesh,
    /// Words after the coordinates of the first element: what is near a point,
    /// or holds a triangle.
    near: &'a dyn Fn(Vec3, Option<u32>) -> String,
}

impl<'a> Elements<'a> {
    pub(super) const fn new(
        mesh: &'a TriMesh,
        near: &'a dyn Fn(Vec3, Option<u32>) -> String,
    ) -> Self {
        Self { mesh, near }
    }

    /// Triangles that are wrong.
    pub(super) fn triangles(
        &self,
        kind: FindingKind,
        severity: Severity,
        triangles: &[u32],
        cure: &str,
    ) -> Option<Finding> {
        let &first = triangles.first()?;
        let [a, b, c] = self.mesh.corners(first);
        let listed = place::list(place::TRIANGLES, triangles);
        let finding = Finding::new(kind, severity, triangles.len())
            .at(self.at(&listed, (a + b + c) / 3.0, Some(first)))
            .cure(cure)
            .vertices(
                triangles
                    .iter()
                    .flat_map(|&t| self.mesh.triangles()[t as usize]),
            );
        Some(finding)
    }

    /// Edges that are wrong.
    pub(super) fn edges(
        &self,
        kind: FindingKind,
        severity: Severity,
        edges: &[[u32; 2]],
        cure: &str,
    ) -> Option<Finding> {
        let &[a, b] = edges.first()?;
        let positions = self.mesh.positions();
        let middle = (positions[a as usize] + positions[b as usize]) / 2.0;
        let mut text = self.at(&format!("edge {a}-{b}"), middle, None);
        if edges.len() > 1 {
            text += &format!(" and {} more", edges.len() - 1);
        }
        let finding = Finding::new(kind, severity, edges.len())
            .at(text)
            .cure(cure)
            .vertices(edges.iter().flatten().copied());
        Some(finding)
    }

    /// Vertices that are wrong.
    pub(super) fn vertices(
        &self,
        kind: FindingKind,
        severity: Severity,
        vertices: &[u32],
        cure: &str,
    ) -> Option<Finding> {
        let &first = vertices.first()?;
        let p = self.mesh.positions()[first as usize];
        let finding = Finding::new(kind, severity, vertices.len())
            .at(self.at(&place::list(place::VERTICES, vertices), p, None))
            .cure(cure)
            .vertices(vertices.iter().copied());
        Some(finding)
    }

    fn at(&self, listed: &str, p: Vec3, triangle: Option<u32>) -> String {
        format!(
            "{listed} at {}{}",
            place::centimetres(p),
            (self.near)(p, triangle)
        )
    }
}
