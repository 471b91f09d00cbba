//! `penetration_percent`, `penetration_max_mm`: how deep a garment is inside the
//! body, and the body outside the garment: [`PenetrationMeter`].
//!
//! Whether a point p is inside follows from the point c of the skin nearest to
//! it. Nothing lies between the two, so p is inside if it lies behind c, or if
//! c itself is inside another part of the body. Where the skin around c is
//! partly inside, the winding number around p decides, and then that just above
//! c whether c is in the open. The depth is the way to the nearest skin in the
//! open.
//!
//! Points of the garment are its vertices, the middles of its edges and the
//! centres of its faces. A vertex of the body pokes through when the nearest
//! cloth, at most [`REACH`] away, lies beneath the skin with its outer side
//! towards the vertex. What is masked ([`SelfContactMask`]) is counted apart.

use drapery_core::{ClosestPoint, Garment, PseudoNormals, Topology, TriangleTree, WindingField};
use glam::{DVec3, Vec3};
use rayon::prelude::*;

use crate::depths::{Masked, REACH};
use crate::mask::{SelfContact, SelfContactMask};
use crate::near_points::NearPoints;

/// Whether a place of the skin is in the open is asked so far above it [m].
const ABOVE: f32 = 5e-5;

/// What was measured in one frame, or in many.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Penetration {
    /// Points of the garment inside the body.
    pub cloth: Masked,
    /// Vertices of the body near the garment that poke through it.
    pub skin: Masked,
    /// How many vertices the garment has.
    pub n_vertices: u64,
    /// How many of them are masked.
    pub n_masked: u64,
}

impl Penetration {
    /// Takes other frames into account.
    pub fn add(&mut self, other: &Self) {
        self.cloth.add(&other.cloth);
        self.skin.add(&other.skin);
        self.n_vertices += other.n_vertices;
        self.n_masked += other.n_masked;
    }

    /// The deepest that a point outside the mask is, of cloth or skin [m].
    pub fn deepest(&self) -> f32 {
        self.cloth.open.deepest.max(self.skin.open.deepest)
    }

    /// The share of vertices that are masked.
    pub fn masked_share(&self) -> f64 {
        self.n_masked as f64 / self.n_vertices.max(1) as f64
    }
}

/// How far from cloth that is looked at skin may poke through, for
/// [`PenetrationMeter::deep_places`] [m].
const BESIDE: f32 = 0.05;

/// A place of a garment that is inside the body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeepPlace {
    /// Vertices of the garment, and what share of each the place is.
    pub corners: [u32; 3],
    /// They sum to 1.
    pub weights: [f32; 3],
    /// From there to the skin [m].
    pub way: Vec3,
}

impl DeepPlace {
    /// The middle of up to three vertices.
    fn at(vertices: &[u32]) -> Self {
        let share = 1.0 / vertices.len() as f32;
        let mut place = Self {
            corners: [vertices[0]; 3],
            weights: [0.0; 3],
            way: Vec3::ZERO,
        };
        for (k, v) in vertices.iter().enumerate() {
            (place.corners[k], place.weights[k]) = (*v, share);
        }
        place
    }
}

/// Measures how deep one garment is inside one body.
#[derive(Clone, Debug)]
pub struct PenetrationMeter {
    skin: TriangleTree,
    skin_triangles: Vec<[u32; 3]>,
    skin_normals: PseudoNormals,
    is_closed: bool,
    cloth: TriangleTree,
    cloth_normals: PseudoNormals,
    cloth_triangles: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
    /// Edges with one triangle, sorted, and the vertices on them.
    borders: Vec<[u32; 2]>,
    on_border: Vec<bool>,
    /// Of the last frame: which vertices of the garment were masked, how deep each
    /// was [m], and what of the skin is nearest to it.
    masked: Vec<bool>,
    depths: Vec<f32>,
    nearest: Vec<Option<ClosestPoint>>,
}

impl PenetrationMeter {
    /// A meter for a garment on a body; `skin` [m] are the body's vertices in
    /// any pose.
    ///
    /// # Panics
    /// When there is not one position a vertex of the body.
    pub fn new(body: &Topology, skin: &[Vec3], garment: &Garment) -> Self {
        let mesh = garment.mesh();
        Self::of_cloth(body, skin, mesh.topology(), mesh.positions())
    }

    /// The same for cloth that is at `positions` [m] in any pose.
    ///
    /// # Panics
    /// When there is not one position a vertex.
    pub fn of_cloth(body: &Topology, skin: &[Vec3], cloth: &Topology, positions: &[Vec3]) -> Self {
        assert_eq!(skin.len(), body.n_vertices(), "one position a vertex");
        assert_eq!(positions.len(), cloth.n_vertices(), "one position a vertex");
        let n_vertices = positions.len();
        let mut on_border = vec![false; n_vertices];
        let edges = cloth.edges();
        let borders = edges.iter().filter(|e| e.is_border());
        let borders: Vec<[u32; 2]> = borders.map(|e| e.vertices).collect();
        for v in borders.as_flattened() {
            on_border[*v as usize] = true;
        }
        Self {
            skin: TriangleTree::new(body.triangles(), skin),
            skin_triangles: body.triangles().to_vec(),
            skin_normals: PseudoNormals::new(body.triangles(), skin),
            is_closed: body.is_closed(),
            cloth: TriangleTree::new(cloth.triangles(), positions),
            cloth_normals: PseudoNormals::new(cloth.triangles(), positions),
            cloth_triangles: cloth.triangles().to_vec(),
            edges: edges.iter().map(|e| e.vertices).collect(),
            borders,
            on_border,
            masked: vec![false; n_vertices],
            depths: vec![0.0; n_vertices],
            nearest: vec![None; n_vertices],
        }
    }

    /// Measures one frame: a body with its vertices at `skin` [m] that enters
    /// itself there, and the garment at `cloth` [m].
    ///
    /// # Panics
    /// When there is not one position a vertex, or not one flag.
    pub fn read(&mut self, skin: &[Vec3], contact: &SelfContact, cloth: &[Vec3]) -> Penetration {
        self.place(skin);
        self.read_placed(skin, contact, cloth)
    }

    /// Takes the body to `skin` [m], for several readings of it.
    ///
    /// # Panics
    /// When there is not one position a vertex.
    pub fn place(&mut self, skin: &[Vec3]) {
        self.skin.refit(skin);
        self.skin_normals.update(skin);
    }

    /// Like [`read`](Self::read), with the body where it was
    /// [placed](Self::place).
    ///
    /// # Panics
    /// When there is not one position a vertex, or not one flag.
    pub fn read_placed(
        &mut self,
        skin: &[Vec3],
        contact: &SelfContact,
        cloth: &[Vec3],
    ) -> Penetration {
        assert_eq!(cloth.len(), self.on_border.len(), "one position a vertex");
        let mask = SelfContactMask::of(skin, contact);
        self.cloth.refit(cloth);
        self.cloth_normals.update(cloth);
        let body = Posed::new(self, skin, contact);
        let mut found = Penetration {
            n_vertices: cloth.len() as u64,
            ..Penetration::default()
        };
        let nearest: Vec<Option<ClosestPoint>> = cloth
            .par_iter()
            .map(|p| body.nearest(*p, f32::INFINITY))
            .collect();
        let reading = |p: Vec3, near: &ClosestPoint| Reading {
            p,
            depth: body.depth(p, near),
            is_masked: mask.covers(near.point) || body.enters(near),
        };
        let at_vertices: Vec<Option<Reading>> = (cloth.par_iter().zip(&nearest))
            .map(|(p, near)| Some(reading(*p, near.as_ref()?)))
            .collect();
        let mut masked = vec![false; cloth.len()];
        let mut depths = vec![0.0; cloth.len()];
        for (v, reading) in at_vertices.iter().enumerate() {
            let Some(reading) = reading else { continue };
            (masked[v], depths[v]) = (reading.is_masked, reading.depth);
            found.n_masked += u64::from(reading.is_masked);
            reading.count_in(&mut found.cloth);
        }
        let between: Vec<Reading> = (self.between().par_iter())
            .filter_map(|corners| {
                let (p, near) = body.under_middle(corners, cloth, &nearest)?;
                Some(reading(p, &near))
            })
            .collect();
        for reading in between {
            reading.count_in(&mut found.cloth);
        }
        let poking: Vec<(Vec3, f32)> = (skin.par_iter())
            .filter_map(|p| Some((*p, body.pokes_out(*p, cloth)?)))
            .collect();
        for (p, depth) in poking {
            found.skin.count(depth, p, mask.covers(p));
        }
        drop(body);
        (self.masked, self.depths, self.nearest) = (masked, depths, nearest);
        found
    }

    /// What of the cloth at `cloth` [m] is deeper than `limit` [m] in the body at
    /// `skin` [m], outside the mask, at and between the vertices that are looked at.
    ///
    /// # Panics
    /// When there is not one position a vertex, or not one flag.
    pub fn deep_places(
        &mut self,
        (skin, contact): (&[Vec3], &SelfContact),
        (cloth, is_looked_at): (&[Vec3], &[bool]),
        limit: f32,
    ) -> Vec<DeepPlace> {
        assert_eq!(cloth.len(), self.on_border.len(), "one position a vertex");
        assert_eq!(is_looked_at.len(), cloth.len(), "one flag a vertex");
        let mask = SelfContactMask::of(skin, contact);
        let flagged = cloth.iter().zip(is_looked_at).filter(|(_, is)| **is);
        let looked_at = NearPoints::new(flagged.map(|(p, _)| *p));
        self.place(skin);
        self.cloth.refit(cloth);
        self.cloth_normals.update(cloth);
        let body = Posed::new(self, skin, contact);
        let look = |place: DeepPlace, p: Vec3, near: &ClosestPoint| {
            // What is asked is dear: the depth is never more than the distance to skin in the open.
            if near.distance <= limit || mask.covers(near.point) || body.enters(near) {
                return None;
            }
            let depth = body.depth(p, near);
            let way = (near.point - p).normalize_or_zero() * depth;
            (depth > limit).then_some(DeepPlace { way, ..place })
        };
        let nearest: Vec<Option<ClosestPoint>> = (cloth.par_iter().zip(is_looked_at))
            .map(|(p, is)| is.then(|| body.nearest(*p, f32::INFINITY)).flatten())
            .collect();
        let at_vertices = (nearest.par_iter().enumerate())
            .filter_map(|(v, near)| look(DeepPlace::at(&[v as u32]), cloth[v], near.as_ref()?));
        let between = self.between();
        let between = between.par_iter().filter_map(|corners| {
            let (p, near) = body.under_middle(corners, cloth, &nearest)?;
            look(DeepPlace::at(corners), p, &near)
        });
        let skin = skin.par_iter().filter_map(|p| {
            let poking = looked_at
                .is_within(BESIDE, *p)
                .then(|| body.poking(*p, cloth))??;
            if poking.depth <= limit || mask.covers(*p) {
                return None;
            }
            let near = poking.cloth;
            // The nearest skin is the shortest way out, where it is in the open.
            let to = poking.skin.filter(|skin| !body.enters(skin));
            let to = to.map_or(*p, |skin| skin.point);
            Some(DeepPlace {
                corners: self.cloth_triangles[near.triangle as usize],
                weights: near.barycentric,
                way: (to - near.point).normalize_or_zero() * poking.depth,
            })
        });
        at_vertices.chain(between).chain(skin).collect()
    }

    /// The vertices of each edge and of each triangle of the garment, whose middles are
    /// looked at.
    fn between(&self) -> Vec<&[u32]> {
        let edges = self.edges.iter().map(<[u32; 2]>::as_slice);
        let faces = self.cloth_triangles.iter().map(<[u32; 3]>::as_slice);
        edges.chain(faces).collect()
    }

    /// Which vertices of the garment were masked in the last frame; none before
    /// the first.
    pub fn masked(&self) -> &[bool] {
        &self.masked
    }

    /// How deep each vertex of the garment was inside the body in the last frame [m],
    /// negative outside; 0 before the first.
    pub fn depths(&self) -> &[f32] {
        &self.depths
    }

    /// The point of the skin nearest to each vertex of the garment in the last
    /// frame.
    pub fn nearest(&self) -> &[Option<ClosestPoint>] {
        &self.nearest
    }
}

/// A point of the garment.
struct Reading {
    p: Vec3,
    /// How deep it is inside the body [m], negative outside.
    depth: f32,
    is_masked: bool,
}

impl Reading {
    fn count_in(&self, found: &mut Masked) {
        found.count(self.depth, self.p, self.is_masked);
    }
}

/// A vertex of the skin beside cloth.
struct Poking {
    /// The cloth next to it.
    cloth: ClosestPoint,
    /// The skin next to that, if the vertex may poke through it.
    skin: Option<ClosestPoint>,
    /// How far it pokes out [m], not above 0 if it does not.
    depth: f32,
}

/// The body in one frame.
struct Posed<'a> {
    meter: &'a PenetrationMeter,
    skin: &'a [Vec3],
    inside: &'a [bool],
    /// Where its edges go into another part [m].
    rim: &'a [DVec3],
    /// For a body with holes.
    field: Option<WindingField>,
}

impl<'a> Posed<'a> {
    fn new(meter: &'a PenetrationMeter, skin: &'a [Vec3], contact: &'a SelfContact) -> Self {
        Self {
            meter,
            skin,
            inside: &contact.inside,
            rim: &contact.rim,
            field: (!meter.is_closed).then(|| WindingField::new(&meter.skin, skin)),
        }
    }

    /// The middle of some vertices of the cloth and the skin next to it, given what
    /// is nearest to the vertices: no farther than the way over one of them.
    fn under_middle(
        &self,
        corners: &[u32],
        cloth: &[Vec3],
        nearest: &[Option<ClosestPoint>],
    ) -> Option<(Vec3, ClosestPoint)> {
        let at = |v: &u32| cloth[*v as usize];
        let p = corners.iter().map(at).sum::<Vec3>() / corners.len() as f32;
        let over = |v: &u32| nearest[*v as usize].map(|near| near.distance + at(v).distance(p));
        let limit = corners.iter().filter_map(over).reduce(f32::min)?;
        Some((p, self.nearest(p, 1.001 * limit + 1e-6)?))
    }

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
        Some(self.poking(p, cloth)?.depth)
    }

    /// The same, and what is next to what.
    fn poking(&self, p: Vec3, cloth: &[Vec3]) -> Option<Poking> {
        let meter = self.meter;
        let near = meter.cloth.closest_point(p, cloth, REACH)?;
        let normal = meter.cloth_normals.at(&near).as_dvec3();
        let is_outer = (p.as_dvec3() - near.point.as_dvec3()).dot(normal) > 0.0;
        if !is_outer || meter.is_border(&near) {
            return Some(Poking {
                cloth: near,
                skin: None,
                depth: -near.distance,
            });
        }
        let skin = self.nearest(near.point, 1.001 * near.distance + 1e-6)?;
        Some(Poking {
            cloth: near,
            skin: Some(skin),
            depth: self.depth(near.point, &skin).min(near.distance),
        })
    }
}

impl PenetrationMeter {
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

#[cfg(test)]
mod tests {
    use super::*;
    use drapery_core::TriMesh;

    /// A wedge whose edge is the x axis, with a vertex in its middle, and whose sides fall
    /// at 45°.
    fn wedge() -> TriMesh {
        let at = |x: f32, y: f32, z: f32| Vec3::new(x, y, z);
        let positions = vec![
            at(-1.0, 0.0, 0.0),
            at(1.0, 0.0, 0.0),
            at(-1.0, -1.0, 1.0),
            at(1.0, -1.0, 1.0),
            at(-1.0, -1.0, -1.0),
            at(1.0, -1.0, -1.0),
            at(0.0, 0.0, 0.0),
        ];
        let triangles = vec![
            [0, 2, 6],
            [2, 3, 6],
            [3, 1, 6],
            [0, 6, 4],
            [6, 5, 4],
            [6, 1, 5],
            [2, 4, 5],
            [2, 5, 3],
            [0, 4, 2],
            [1, 3, 5],
        ];
        TriMesh::new(positions, triangles).unwrap()
    }

    /// A square of cloth of 4 cm, level, its outside up.
    fn square(height: f32, z: f32) -> TriMesh {
        let at = |x: f32, own: f32| Vec3::new(x, height, z + own);
        let corners = vec![
            at(-0.02, -0.02),
            at(-0.02, 0.02),
            at(0.02, 0.02),
            at(0.02, -0.02),
        ];
        TriMesh::new(corners, vec![[0, 1, 2], [0, 2, 3]]).unwrap()
    }

    #[test]
    fn vertices_are_as_deep_as_the_sides_are_away() {
        let (body, cloth) = (wedge(), square(-0.5, 0.1));
        let (skin, positions) = (body.positions(), cloth.positions());
        let mut meter =
            PenetrationMeter::of_cloth(body.topology(), skin, cloth.topology(), positions);
        assert_eq!(meter.depths(), [0.0; 4], "before the first frame");
        let contact = SelfContact::none(skin.len());
        let found = meter.read(skin, &contact, positions);
        for (depth, p) in meter.depths().iter().zip(positions) {
            let expected = (-p.y - p.z.abs()) / 2f32.sqrt();
            assert!((depth - expected).abs() < 1e-6, "{p}: {depth}");
        }
        assert_eq!(found.cloth.open.n_deep, 4 + 5 + 2);
        let above = square(0.01, 0.0);
        meter.read(skin, &contact, above.positions());
        assert!(meter.depths().iter().all(|d| *d < 0.0));
    }

    #[test]
    fn skin_that_pokes_through_is_left_by_the_shortest_way() {
        // The middle of the edge pokes through cloth 4 mm below it, which is nearer to the
        // sides.
        let (body, cloth) = (wedge(), square(-4e-3, 1e-3));
        let (skin, positions) = (body.positions(), cloth.positions());
        let mut meter =
            PenetrationMeter::of_cloth(body.topology(), skin, cloth.topology(), positions);
        let contact = SelfContact {
            inside: vec![false; skin.len()],
            rim: vec![DVec3::new(0.1, 0.0, 0.0)],
        };
        let all = [true; 4];
        let places = meter.deep_places((skin, &contact), (positions, &all), 1e-3);
        let none = [false; 4];
        let nowhere = meter.deep_places((skin, &contact), (positions, &none), 1e-3);
        assert!(nowhere.is_empty());
        // Of the square's own places none has three different weights.
        let is_poking = |[a, b, c]: [f32; 3]| a != b && b != c && c != a && c > 0.0;
        assert!(places.iter().any(|p| is_poking(p.weights)), "{places:?}");
        for place in &places {
            let parts = place.corners.iter().zip(place.weights);
            let p: Vec3 = parts.map(|(v, w)| positions[*v as usize] * w).sum();
            let way = place.way.length();
            let out = p + 1.01 * place.way;
            let is_out = -out.y - out.z.abs() < 1e-4;
            assert!(way < 4e-3 && is_out, "{p} goes by {}", place.way);
        }
    }
}
