//! [`WearMeter`]: one garment on one body, measured frame after frame.
//!
//! Whether a point p is inside follows from the point c of the skin nearest to
//! it. Nothing lies between the two, so p is inside if it lies behind c, or if
//! c itself is inside another part of the body. Where the skin around c is
//! partly inside, the winding number around p decides, and then that just above
//! c whether c is in the open. The depth is the way to the nearest skin in the
//! open.

use drapery_core::{
    ClosestPoint, FrameRate, Garment, PseudoNormals, Topology, TriangleTree, WindingField,
};
use drapery_sim::{MeshBoxes, Yielding, self_crossings};
use glam::{DVec3, Vec3};

use super::depths::{Masked, REACH};
use super::mask::SelfContactMask;
use super::strain::{RestEdges, StrainCounts, p99};

/// Whether a place of the skin is in the open is asked so far above it [m].
const ABOVE: f32 = 5e-5;

/// What was measured in one frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WornFrame {
    /// Points of the garment inside the body.
    pub cloth: Masked,
    /// Vertices of the body near the garment that poke through it.
    pub skin: Masked,
    /// How many vertices the garment has.
    pub n_vertices: u64,
    /// How many of them are masked.
    pub n_masked: u64,
    /// How much longer 99 of 100 edges are at most than in the rest shape.
    pub stretch_p99: f32,
    /// How much longer the longest edge is than in the rest shape.
    pub stretch_max: f32,
    /// How much longer 99 of 100 edges are at most than in the first frame.
    pub stretch_settled_p99: f32,
    /// The speed of the fastest vertex relative to the point of the body next
    /// to it, over the frame before this one [m/s]; 0 in the first.
    pub speed_max: f32,
    /// Edges of the garment that pass through a face of it.
    pub crossings: u64,
}

/// Measures how one garment is worn on one body.
pub struct WearMeter {
    skin: TriangleTree,
    skin_triangles: Vec<[u32; 3]>,
    skin_normals: PseudoNormals,
    is_closed: bool,
    cloth: TriangleTree,
    cloth_normals: PseudoNormals,
    cloth_triangles: Vec<[u32; 3]>,
    /// Edges with one triangle, sorted, and the vertices on them.
    borders: Vec<[u32; 2]>,
    on_border: Vec<bool>,
    edges: RestEdges,
    boxes: MeshBoxes,
    frame_step: f32,
    /// Body and cloth of the frame before [m].
    before: Option<(Vec<Vec3>, Vec<Vec3>)>,
    counts: [StrainCounts; 2],
    /// Which vertices of the garment were masked in the last frame.
    masked: Vec<bool>,
}

impl WearMeter {
    /// A meter for a garment on a body; `skin` [m] are the body's vertices in
    /// any pose.
    ///
    /// # Panics
    /// When there is not one position a vertex of the body.
    pub fn new(body: &Topology, skin: &[Vec3], garment: &Garment, frame_rate: FrameRate) -> Self {
        assert_eq!(skin.len(), body.n_vertices(), "one position a vertex");
        let mesh = garment.mesh();
        let mut on_border = vec![false; mesh.positions().len()];
        let edges = mesh.topology().edges().into_iter();
        let borders: Vec<[u32; 2]> = edges
            .filter(|e| e.is_border())
            .map(|e| e.vertices)
            .collect();
        for v in borders.as_flattened() {
            on_border[*v as usize] = true;
        }
        Self {
            skin: TriangleTree::new(body.triangles(), skin),
            skin_triangles: body.triangles().to_vec(),
            skin_normals: PseudoNormals::new(body.triangles(), skin),
            is_closed: body.is_closed(),
            cloth: TriangleTree::new(mesh.triangles(), mesh.positions()),
            cloth_normals: PseudoNormals::new(mesh.triangles(), mesh.positions()),
            cloth_triangles: mesh.triangles().to_vec(),
            borders,
            on_border,
            edges: RestEdges::new(garment),
            boxes: MeshBoxes::new(mesh.topology(), &wide(mesh.positions())),
            frame_step: frame_rate.frame_step().0 as f32,
            before: None,
            counts: [StrainCounts::new(), StrainCounts::new()],
            masked: vec![false; mesh.positions().len()],
        }
    }

    /// Measures one frame: a body with its vertices at `skin` [m], that gives
    /// way to itself as `felt`, and the garment at `cloth` [m]. Of what is felt
    /// only where it is inside another part counts. Frames come in the order of
    /// time, from the first.
    ///
    /// # Panics
    /// When there is not one position a vertex, or not one flag.
    pub fn read(&mut self, skin: &[Vec3], felt: &Yielding, cloth: &[Vec3]) -> WornFrame {
        assert_eq!(cloth.len(), self.on_border.len(), "one position a vertex");
        let (mask, inside) = (SelfContactMask::of(skin, felt), &felt.inside);
        self.skin.refit(skin);
        self.skin_normals.update(skin);
        self.cloth.refit(cloth);
        self.cloth_normals.update(cloth);
        let body = Posed {
            meter: self,
            skin,
            inside,
            rim: &felt.rim,
            field: (!self.is_closed).then(|| WindingField::new(&self.skin, skin)),
        };
        let mut frame = WornFrame {
            n_vertices: cloth.len() as u64,
            ..WornFrame::default()
        };
        let nearest: Vec<Option<ClosestPoint>> = cloth
            .iter()
            .map(|p| body.nearest(*p, f32::INFINITY))
            .collect();
        let mut masked = vec![false; cloth.len()];
        for (v, (p, near)) in cloth.iter().zip(&nearest).enumerate() {
            let Some(near) = near else { continue };
            let is_masked = mask.covers(near.point) || body.enters(near);
            masked[v] = is_masked;
            frame.n_masked += u64::from(is_masked);
            frame.cloth.count(body.depth(*p, near), *p, is_masked);
        }
        // The skin is no farther from a middle than the way over a corner.
        let mut middle = |corners: &[u32]| {
            let at = |v: &u32| cloth[*v as usize];
            let p = corners.iter().map(at).sum::<Vec3>() / corners.len() as f32;
            let over = |v: &u32| nearest[*v as usize].map(|near| near.distance + at(v).distance(p));
            let limit = corners
                .iter()
                .filter_map(over)
                .fold(f32::INFINITY, f32::min);
            if let Some(near) = body.nearest(p, 1.001 * limit + 1e-6) {
                let is_masked = mask.covers(near.point) || body.enters(&near);
                frame.cloth.count(body.depth(p, &near), p, is_masked);
            }
        };
        for ends in &self.edges.ends {
            middle(ends);
        }
        for corners in &self.cloth_triangles {
            middle(corners);
        }
        for p in skin {
            if let Some(depth) = body.pokes_out(*p, cloth) {
                frame.skin.count(depth, *p, mask.covers(*p));
            }
        }
        drop(body);
        self.masked = masked;
        if let Some((skin_before, cloth_before)) = &self.before {
            for (v, near) in nearest.iter().enumerate() {
                let Some(near) = near else { continue };
                let moved = on(&self.skin_triangles, near, skin)
                    - on(&self.skin_triangles, near, skin_before);
                let way = (cloth[v] - cloth_before[v] - moved).length();
                frame.speed_max = frame.speed_max.max(way / self.frame_step);
            }
        }
        self.before = Some((skin.to_vec(), cloth.to_vec()));
        let [mut rest, mut settled] = self.edges.strains(cloth);
        self.counts[0].add(&rest);
        self.counts[1].add(&settled);
        frame.stretch_max = rest.iter().copied().fold(0.0, f32::max);
        frame.stretch_p99 = p99(&mut rest);
        frame.stretch_settled_p99 = p99(&mut settled);
        let positions = wide(cloth);
        self.boxes.refit(&positions, &positions);
        frame.crossings = self_crossings(&self.boxes, &positions).len() as u64;
        frame
    }

    /// Which vertices of the garment were masked in the last frame; none before
    /// the first.
    pub fn masked(&self) -> &[bool] {
        &self.masked
    }

    /// How much longer 99 of 100 edges of all frames so far are at most than
    /// in the rest shape, and than in the first frame; to a hundredth of a
    /// percent.
    pub fn stretch_p99(&self) -> [f64; 2] {
        self.counts.each_ref().map(|counts| counts.quantile(0.99))
    }
}

/// The body in one frame.
struct Posed<'a> {
    meter: &'a WearMeter,
    skin: &'a [Vec3],
    inside: &'a [bool],
    /// Where its edges go into another part [m].
    rim: &'a [DVec3],
    /// For a body with holes.
    field: Option<WindingField>,
}

impl Posed<'_> {
    fn nearest(&self, p: Vec3, max_distance: f32) -> Option<ClosestPoint> {
        self.meter.skin.closest_point(p, self.skin, max_distance)
    }

    /// Whether any corner of a triangle of the skin is inside another part.
    fn is_buried(&self, triangle: u32) -> bool {
        let corners = self.meter.skin_triangles[triangle as usize];
        corners.iter().any(|v| self.inside[*v as usize])
    }

    /// How deep a point is inside [m], given the point of the skin next to it;
    /// negative outside.
    fn depth(&self, p: Vec3, near: &ClosestPoint) -> f32 {
        if !self.is_buried(near.triangle) {
            let normal = self.meter.skin_normals.at(near).as_dvec3();
            let offset = p.as_dvec3() - near.point.as_dvec3();
            // At the edge of a crease normals point anywhere.
            let is_inside = offset.dot(normal) < 0.0 && self.surrounds(p);
            return if is_inside {
                near.distance
            } else {
                -near.distance
            };
        }
        if !self.surrounds(p) {
            return -near.distance;
        }
        // Of a triangle that is partly inside, the place itself may be open.
        if !self.enters(near) {
            return near.distance;
        }
        let in_the_open = |t| !self.is_buried(t);
        let rim = self.rim.iter().map(|r| r.as_vec3().distance(p));
        let rim = rim.fold(f32::INFINITY, f32::min);
        let open = self
            .meter
            .skin
            .closest_point_where(p, self.skin, rim, in_the_open);
        match open.map_or(rim, |open| open.distance) {
            nearest if nearest.is_finite() => nearest,
            _ => near.distance,
        }
    }

    /// Whether the skin is inside another part at a place of it, which may be farther
    /// from vertices than the mask goes.
    fn enters(&self, place: &ClosestPoint) -> bool {
        self.is_buried(place.triangle) && {
            let normal = self.meter.skin_normals.at(place).normalize_or_zero();
            self.surrounds(place.point + ABOVE * normal)
        }
    }

    /// Whether a point is inside the body.
    fn surrounds(&self, p: Vec3) -> bool {
        match &self.field {
            Some(field) => field.number(&self.meter.skin, self.skin, p) >= 0.5,
            None => self.meter.skin.winding_of_closed(p, self.skin) >= 1,
        }
    }

    /// How far a vertex of the skin at `p` pokes out of the cloth next to it
    /// [m], not above 0 when it does not; none without cloth near it.
    fn pokes_out(&self, p: Vec3, cloth: &[Vec3]) -> Option<f32> {
        let meter = self.meter;
        let near = meter.cloth.closest_point(p, cloth, REACH)?;
        let normal = meter.cloth_normals.at(&near).as_dvec3();
        let is_outer = (p.as_dvec3() - near.point.as_dvec3()).dot(normal) > 0.0;
        if !is_outer || meter.is_border(&near) {
            return Some(-near.distance);
        }
        let skin = self.nearest(near.point, 1.001 * near.distance + 1e-6)?;
        Some(self.depth(near.point, &skin).min(near.distance))
    }
}

impl WearMeter {
    /// Whether a point of the garment lies on its border.
    fn is_border(&self, point: &ClosestPoint) -> bool {
        let corners = self.cloth_triangles[point.triangle as usize];
        let ends: Vec<u32> = corners
            .into_iter()
            .zip(point.barycentric)
            .filter(|(_, weight)| *weight > 0.0)
            .map(|(v, _)| v)
            .collect();
        match ends[..] {
            [v] => self.on_border[v as usize],
            [a, b] => self.borders.binary_search(&[a.min(b), a.max(b)]).is_ok(),
            _ => false,
        }
    }
}

/// Where a point of a mesh is when its vertices are at `positions` [m].
fn on(triangles: &[[u32; 3]], point: &ClosestPoint, positions: &[Vec3]) -> Vec3 {
    let corners = triangles[point.triangle as usize].map(|v| positions[v as usize]);
    let parts = corners.into_iter().zip(point.barycentric);
    parts.map(|(corner, weight)| corner * weight).sum()
}

fn wide(points: &[Vec3]) -> Vec<DVec3> {
    points.iter().map(|p| p.as_dvec3()).collect()
}
