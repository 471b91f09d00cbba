//! [`CorrectionState`]: what one garment remembers.

use alloc::vec;
use alloc::vec::Vec;

use drapery_core::TriangleTree;
use glam::Vec3;

use super::CollisionCorrection;

/// A point that was not looked at yet.
const NOWHERE: (Vec3, f32) = (Vec3::INFINITY, 0.0);

/// What one garment remembers: where it was last, and room to work in.
#[derive(Clone, Debug)]
pub struct CorrectionState {
    pub(super) tree: TriangleTree,
    pub(super) cloth_tree: TriangleTree,
    /// The triangle nearest to each point last time.
    pub(super) hints: Vec<u32>,
    /// Where each point was [m] when it was last looked at in this frame, and its
    /// signed distance then [m]; and where vertices were when the tree was asked.
    pub(super) looked: Vec<(Vec3, f32)>,
    pub(super) asked: Vec<Vec3>,
    /// The face of the garment that was nearest to each vertex of the body.
    pub(super) skin_hints: Vec<u32>,
    /// Signed distance of each vertex [m]; the reach where there is no skin.
    pub(super) distances: Vec<f32>,
    /// Where each vertex was before [m], and which way it faced.
    pub(super) before: Vec<Vec3>,
    pub(super) normals: Vec<Vec3>,
    pub(super) scratch: Vec<Vec3>,
    pub(super) is_pushed: Vec<bool>,
    /// Whether it has moved since points on it were looked at, since it was itself,
    /// and since vertices of the body were.
    pub(super) is_new: Vec<bool>,
    pub(super) is_loose: Vec<bool>,
    pub(super) is_elsewhere: Vec<bool>,
    pub(super) was_elsewhere: Vec<bool>,
    /// Whether what is still inside goes out by the shortest way.
    pub(super) is_late: bool,
}

impl CorrectionState {
    pub(super) fn new(correction: &CollisionCorrection) -> Self {
        let n = correction.n_vertices;
        Self {
            tree: correction.skin.tree.clone(),
            cloth_tree: correction.cloth_tree.clone(),
            hints: vec![u32::MAX; correction.n_points()],
            looked: vec![NOWHERE; correction.n_points()],
            asked: vec![Vec3::INFINITY; n],
            skin_hints: vec![u32::MAX; correction.skin.n_vertices()],
            distances: vec![0.0; n],
            before: vec![Vec3::ZERO; n],
            normals: vec![Vec3::Y; n],
            scratch: vec![Vec3::ZERO; n],
            is_pushed: vec![false; n],
            is_new: vec![false; n],
            is_loose: vec![false; n],
            is_elsewhere: vec![false; n],
            was_elsewhere: vec![false; n],
            is_late: false,
        }
    }

    /// A new frame.
    pub(super) fn place(&mut self, skin: &[Vec3], cloth: &[Vec3]) {
        self.tree.refit(skin);
        self.before.copy_from_slice(cloth);
        self.looked.fill(NOWHERE);
        self.asked.fill(Vec3::INFINITY);
        self.is_pushed.fill(false);
        self.is_new.fill(true);
        self.is_loose.fill(true);
        self.is_elsewhere.fill(false);
        self.is_late = false;
    }

    /// A new round of vertices of the body: what has moved since the last one.
    pub(super) fn turn_round(&mut self) {
        core::mem::swap(&mut self.is_elsewhere, &mut self.was_elsewhere);
        self.is_elsewhere.fill(false);
    }

    /// How far outside a point at `p` is at least [m], from when it was last looked
    /// at: a signed distance changes by no more than the way.
    pub(super) fn least(&self, point: usize, p: Vec3) -> f32 {
        let (place, distance) = self.looked[point];
        distance - p.distance(place)
    }

    /// Moves a vertex, unless it would then be farther than `most` [m] from where
    /// it was, and says whether it did.
    pub(super) fn push(&mut self, cloth: &mut [Vec3], vertex: u32, way: Vec3, most: f32) -> bool {
        let v = vertex as usize;
        let to = cloth[v] + way;
        let is_near = to.distance_squared(self.before[v]) <= most * most;
        if is_near {
            cloth[v] = to;
            self.is_pushed[v] = true;
            self.is_new[v] = true;
            self.is_loose[v] = true;
            self.is_elsewhere[v] = true;
        }
        is_near
    }
}
