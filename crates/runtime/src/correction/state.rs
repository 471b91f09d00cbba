//! [`CorrectionState`]: what one garment remembers.

use alloc::vec;
use alloc::vec::Vec;

use drapery_core::TriangleTree;
use glam::Vec3;

use super::CollisionCorrection;
use super::grid::PointGrid;

/// A push is against the last one where the cosine between them is below this.
const AGAINST: f32 = -0.3;
/// What was turned back in more rounds is squeezed.
const TURNS: u8 = 4;
/// A point that was not looked at yet.
const NOWHERE: (Vec3, f32) = (Vec3::INFINITY, 0.0);

/// What one garment remembers: where it was last, and room to work in.
#[derive(Clone, Debug)]
pub struct CorrectionState {
    pub(super) tree: TriangleTree,
    /// The vertices of the body, and which way it faces there, of any length.
    pub(super) grid: PointGrid,
    pub(super) facing: Vec<Vec3>,
    /// The triangle nearest to each point last time.
    pub(super) hints: Vec<u32>,
    /// Where each point was [m] when it was last looked at in this frame, and its
    /// signed distance then [m]; and where vertices were when the tree was asked.
    pub(super) looked: Vec<(Vec3, f32)>,
    pub(super) asked: Vec<Vec3>,
    /// Signed distance of each vertex [m], or less; the reach where there is no skin.
    pub(super) distances: Vec<f32>,
    /// Where each vertex was before [m], and which way it faces as the skin beneath.
    pub(super) before: Vec<Vec3>,
    pub(super) outward: Vec<Vec3>,
    pub(super) scratch: Vec<Vec3>,
    pub(super) is_pushed: Vec<bool>,
    /// Whether it has moved since points on it were looked at, and since it was itself.
    pub(super) is_new: Vec<bool>,
    pub(super) is_loose: Vec<bool>,
    /// Where it was when vertices of the body were looked at [m], and whether it is
    /// elsewhere.
    pub(super) seen: Vec<Vec3>,
    pub(super) is_elsewhere: Vec<bool>,
    /// What is nearer to the skin is pushed [m].
    pub(super) touch: f32,
    /// Which way each vertex was pushed last, in how many rounds it was pushed the other
    /// way, and in which it was last.
    last: Vec<Vec3>,
    n_turns: Vec<u8>,
    turned: Vec<u32>,
    pub(super) round: u32,
    /// Whether a vertex waits, or a point next to it.
    pub(super) waits: Vec<bool>,
    /// Whether what is still inside goes out by the shortest way.
    pub(super) is_late: bool,
}

impl CorrectionState {
    pub(super) fn new(correction: &CollisionCorrection) -> Self {
        let n = correction.n_vertices;
        Self {
            tree: correction.skin.tree.clone(),
            grid: PointGrid::new(correction.skin.n_vertices()),
            facing: vec![Vec3::ZERO; correction.skin.n_vertices()],
            hints: vec![u32::MAX; correction.n_points()],
            looked: vec![NOWHERE; correction.n_points()],
            asked: vec![Vec3::INFINITY; n],
            distances: vec![0.0; n],
            before: vec![Vec3::ZERO; n],
            outward: vec![Vec3::ZERO; n],
            scratch: vec![Vec3::ZERO; n],
            is_pushed: vec![false; n],
            is_new: vec![false; n],
            is_loose: vec![false; n],
            seen: vec![Vec3::INFINITY; n],
            is_elsewhere: vec![false; n],
            touch: 0.0,
            last: vec![Vec3::ZERO; n],
            n_turns: vec![0; n],
            turned: vec![0; n],
            round: 0,
            waits: vec![false; n],
            is_late: false,
        }
    }

    /// A new frame, of a body of those triangles.
    pub(super) fn place(&mut self, triangles: &[[u32; 3]], skin: &[Vec3], cloth: &[Vec3]) {
        self.tree.refit(skin);
        self.grid.place(skin);
        self.facing.fill(Vec3::ZERO);
        for corners in triangles {
            let [a, b, c] = corners.map(|v| skin[v as usize]);
            let normal = (b - a).cross(c - a);
            for v in corners {
                self.facing[*v as usize] += normal;
            }
        }
        self.before.copy_from_slice(cloth);
        self.looked.fill(NOWHERE);
        self.asked.fill(Vec3::INFINITY);
        self.is_pushed.fill(false);
        self.is_new.fill(true);
        self.is_loose.fill(true);
        self.seen.fill(Vec3::INFINITY);
        self.last.fill(Vec3::ZERO);
        self.n_turns.fill(0);
        self.turned.fill(0);
        self.round = 0;
        self.waits.fill(false);
        self.is_late = false;
    }

    /// Whether a point between those corners is to be left alone that would be pushed
    /// along `outside`: it has gone to and fro between two parts of the body that are
    /// nearer to each other than cloth is thick, or in each other.
    pub(super) fn is_squeezed(&mut self, corners: &[u32], outside: Vec3) -> bool {
        let mut is_squeezed = true;
        for v in corners {
            let v = *v as usize;
            if self.last[v].dot(outside) < AGAINST && self.turned[v] != self.round {
                self.n_turns[v] += 1;
                self.turned[v] = self.round;
            }
            self.last[v] = outside;
            is_squeezed &= self.n_turns[v] > TURNS;
        }
        is_squeezed
    }

    /// From now on nothing waits any more; says whether anything did.
    pub(super) fn wake(&mut self) -> bool {
        if core::mem::replace(&mut self.is_late, true) {
            return false;
        }
        // What went to and fro so far may have done so because others waited.
        self.n_turns.fill(0);
        for (v, waits) in self.waits.iter().enumerate() {
            self.is_new[v] |= waits;
            self.is_loose[v] |= waits;
            if *waits {
                self.seen[v] = Vec3::INFINITY;
            }
        }
        self.waits.contains(&true)
    }

    /// How far outside a point at `p` is at least [m], from when it was last looked
    /// at: a signed distance changes by no more than the way.
    pub(super) fn least(&self, point: usize, p: Vec3) -> f32 {
        let (place, distance) = self.looked[point];
        distance - p.distance(place)
    }

    /// Moves a vertex as the skin wants it, unless it would then be farther than `most`
    /// [m] from where it was, and says whether it did.
    pub(super) fn push(&mut self, cloth: &mut [Vec3], vertex: u32, way: Vec3, most: f32) -> bool {
        let is_moved = self.shift(cloth, vertex, way, most);
        self.is_pushed[vertex as usize] |= is_moved;
        is_moved
    }

    /// Moves a vertex, unless it would then be farther than `most` [m] from where it
    /// was, and says whether it did.
    pub(super) fn shift(&mut self, cloth: &mut [Vec3], vertex: u32, way: Vec3, most: f32) -> bool {
        let v = vertex as usize;
        let to = cloth[v] + way;
        let is_near = to.distance_squared(self.before[v]) <= most * most;
        if is_near {
            cloth[v] = to;
            self.distances[v] -= way.length();
            self.is_new[v] = true;
            self.is_loose[v] = true;
        }
        is_near
    }
}
