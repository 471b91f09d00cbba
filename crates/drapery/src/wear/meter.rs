//! [`WearMeter`]: one garment on one body, measured frame after frame. Depths
//! and strains are those of [`drapery_eval`].

use drapery_core::{ClosestPoint, FrameRate, Garment, Topology};
use drapery_eval::{Masked, PenetrationMeter, RestEdges, SelfContact, StrainCounts, p99};
use drapery_sim::{MeshBoxes, Yielding, self_crossings};
use glam::{DVec3, Vec3};

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
#[derive(Clone, Debug)]
pub struct WearMeter {
    depths: PenetrationMeter,
    skin_triangles: Vec<[u32; 3]>,
    edges: RestEdges,
    boxes: MeshBoxes,
    frame_step: f32,
    /// Body and cloth of the frame before [m].
    before: Option<(Vec<Vec3>, Vec<Vec3>)>,
    counts: [StrainCounts; 2],
}

impl WearMeter {
    /// A meter for a garment on a body; `skin` [m] are the body's vertices in
    /// any pose.
    ///
    /// # Panics
    /// When there is not one position a vertex of the body.
    pub fn new(body: &Topology, skin: &[Vec3], garment: &Garment, frame_rate: FrameRate) -> Self {
        let mesh = garment.mesh();
        Self {
            depths: PenetrationMeter::new(body, skin, garment),
            skin_triangles: body.triangles().to_vec(),
            edges: RestEdges::new(garment),
            boxes: MeshBoxes::new(mesh.topology(), &wide(mesh.positions())),
            frame_step: frame_rate.frame_step().0 as f32,
            before: None,
            counts: [StrainCounts::new(), StrainCounts::new()],
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
        let found = self.depths.read(skin, &self_contact(felt), cloth);
        let mut frame = WornFrame {
            cloth: found.cloth,
            skin: found.skin,
            n_vertices: found.n_vertices,
            n_masked: found.n_masked,
            ..WornFrame::default()
        };
        if let Some((skin_before, cloth_before)) = &self.before {
            for (v, near) in self.depths.nearest().iter().enumerate() {
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
        self.depths.masked()
    }

    /// How much longer 99 of 100 edges of all frames so far are at most than
    /// in the rest shape, and than in the first frame; to a hundredth of a
    /// percent.
    pub fn stretch_p99(&self) -> [f64; 2] {
        self.counts.each_ref().map(|counts| counts.quantile(0.99))
    }
}

/// What evaluation has to know of how a body gives way to itself.
pub(crate) fn self_contact(felt: &Yielding) -> SelfContact {
    SelfContact {
        inside: felt.inside.clone(),
        rim: felt.rim.clone(),
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
