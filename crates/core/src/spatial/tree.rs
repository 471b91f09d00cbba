//! [`TriangleTree`]: a binary tree of boxes around triangles.
//!
//! Built from the top by the surface-area heuristic over bins of the triangle
//! centres, or at the median where bins do not help. Nodes are stored depth
//! first: the left child follows its parent, every child comes after its
//! parent, so that a refit is one pass from the back.

use alloc::vec;
use alloc::vec::Vec;

use glam::{Vec3, Vec3A};

/// The most triangles in a leaf.
pub(super) const MAX_LEAF: usize = 4;
/// Bins of the surface-area heuristic; more bins build slower and query no faster.
const N_BINS: usize = 12;
/// From this depth on nodes are halved, so that the depth stays below
/// [`MAX_DEPTH`] whatever the triangles.
const HEURISTIC_DEPTH: u32 = 32;
/// No tree is deeper: 32 heuristic levels, then at most 31 halvings of 2³¹.
pub(super) const MAX_DEPTH: usize = 64;

/// A bounding-volume tree over the triangles of a mesh.
///
/// It holds boxes and indices, not positions: the positions are given with
/// each question and must be the ones of the last build or refit.
#[derive(Clone, Debug)]
pub struct TriangleTree {
    /// Depth first; empty only without triangles.
    pub(super) nodes: Vec<Node>,
    /// The triangle behind each leaf slot.
    pub(super) order: Vec<u32>,
    /// Corners in the order of the leaf slots.
    pub(super) corners: Vec<[u32; 3]>,
    n_vertices: usize,
}

/// A box with two children, or up to [`MAX_LEAF`] triangles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) low: Vec3A,
    pub(super) high: Vec3A,
    /// The right child, or the first slot of a leaf.
    pub(super) link: u32,
    /// Slots of a leaf; 0 for an inner node.
    pub(super) count: u32,
}

impl Node {
    pub(super) fn slots(&self) -> core::ops::Range<usize> {
        self.link as usize..(self.link + self.count) as usize
    }

    pub(super) fn is_leaf(&self) -> bool {
        self.count > 0
    }

    /// Squared distance from a point to the box [m²].
    pub(super) fn distance_sq(&self, p: Vec3A) -> f32 {
        box_distance_sq(p, self.low, self.high)
    }
}

/// What is known of a triangle while building.
#[derive(Clone, Copy)]
struct Item {
    low: Vec3A,
    high: Vec3A,
    centre: Vec3A,
    triangle: u32,
}

struct Task {
    start: usize,
    end: usize,
    depth: u32,
    /// The parent that waits for its right child.
    parent: Option<usize>,
}

impl TriangleTree {
    /// A tree over `triangles` at `positions` [m].
    ///
    /// # Panics
    /// When a triangle names a position that is not there.
    pub fn new(triangles: &[[u32; 3]], positions: &[Vec3]) -> Self {
        let mut items: Vec<Item> = triangles
            .iter()
            .enumerate()
            .map(|(triangle, corners)| {
                let (low, high) = triangle_box(corners, positions);
                Item {
                    low,
                    high,
                    centre: (low + high) * 0.5,
                    triangle: triangle as u32,
                }
            })
            .collect();
        let mut nodes = Vec::with_capacity(triangles.len());
        let mut tasks = Vec::new();
        if !items.is_empty() {
            tasks.push(Task {
                start: 0,
                end: items.len(),
                depth: 0,
                parent: None,
            });
        }
        while let Some(task) = tasks.pop() {
            let index = nodes.len();
            if let Some(parent) = task.parent {
                let parent: &mut Node = &mut nodes[parent];
                parent.link = index as u32;
            }
            let range = &mut items[task.start..task.end];
            let (low, high) = bounds(range.iter().map(|i| (i.low, i.high)));
            let leaf = range.len() <= MAX_LEAF;
            nodes.push(Node {
                low,
                high,
                link: task.start as u32,
                count: if leaf { range.len() as u32 } else { 0 },
            });
            if leaf {
                continue;
            }
            let middle = task.start + split(range, task.depth);
            // The left child is taken first and so lands right behind its parent.
            tasks.push(Task {
                start: middle,
                end: task.end,
                depth: task.depth + 1,
                parent: Some(index),
            });
            tasks.push(Task {
                start: task.start,
                end: middle,
                depth: task.depth + 1,
                parent: None,
            });
        }
        let order: Vec<u32> = items.iter().map(|i| i.triangle).collect();
        let corners = order.iter().map(|&t| triangles[t as usize]).collect();
        Self {
            nodes,
            order,
            corners,
            n_vertices: positions.len(),
        }
    }

    /// How many triangles there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is no triangle at all.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The smallest and largest coordinates [m]; `None` without triangles.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        self.nodes.first().map(|n| (n.low.into(), n.high.into()))
    }

    /// Fits the boxes to other positions [m] of the same mesh. The tree keeps
    /// its shape: answers stay right, but slow down when the mesh is no longer
    /// near the shape it was built for.
    ///
    /// # Panics
    /// When the number of positions differs.
    pub fn refit(&mut self, positions: &[Vec3]) {
        self.check_positions(positions);
        for index in (0..self.nodes.len()).rev() {
            let node = self.nodes[index];
            let (low, high) = if node.is_leaf() {
                let slots = &self.corners[node.slots()];
                bounds(slots.iter().map(|c| triangle_box(c, positions)))
            } else {
                let (left, right) = (&self.nodes[index + 1], &self.nodes[node.link as usize]);
                (left.low.min(right.low), left.high.max(right.high))
            };
            self.nodes[index].low = low;
            self.nodes[index].high = high;
        }
    }

    pub(super) fn check_positions(&self, positions: &[Vec3]) {
        assert_eq!(positions.len(), self.n_vertices, "one position a vertex");
    }

    /// A stack deep enough for any tree, starting at the top.
    pub(super) fn stack(&self) -> Stack {
        let mut stack = Stack::default();
        if !self.nodes.is_empty() {
            stack.push(0);
        }
        stack
    }
}

/// Nodes still to visit, without allocation.
pub(super) struct Stack {
    entries: [u32; MAX_DEPTH + 2],
    len: usize,
}

impl Default for Stack {
    fn default() -> Self {
        Self {
            entries: [0; MAX_DEPTH + 2],
            len: 0,
        }
    }
}

impl Stack {
    pub(super) fn push(&mut self, node: u32) {
        self.entries[self.len] = node;
        self.len += 1;
    }

    pub(super) fn pop(&mut self) -> Option<u32> {
        self.len = self.len.checked_sub(1)?;
        Some(self.entries[self.len])
    }
}

/// Squared distance from a point to a box [m²].
pub(super) fn box_distance_sq(p: Vec3A, low: Vec3A, high: Vec3A) -> f32 {
    let outside = (low - p).max(p - high).max(Vec3A::ZERO);
    outside.length_squared()
}

/// The box of a triangle [m].
pub(super) fn triangle_box(corners: &[u32; 3], positions: &[Vec3]) -> (Vec3A, Vec3A) {
    let [a, b, c] = corners.map(|v| Vec3A::from(positions[v as usize]));
    (a.min(b).min(c), a.max(b).max(c))
}

fn bounds(boxes: impl Iterator<Item = (Vec3A, Vec3A)>) -> (Vec3A, Vec3A) {
    boxes.fold(
        (Vec3A::INFINITY, Vec3A::NEG_INFINITY),
        |(low, high), (l, h)| (low.min(l), high.max(h)),
    )
}

/// Reorders the items and says how many go left: at least one, not all.
fn split(items: &mut [Item], depth: u32) -> usize {
    let (low, high) = bounds(items.iter().map(|i| (i.centre, i.centre)));
    let extent = high - low;
    let axis = extent.max_position();
    if depth < HEURISTIC_DEPTH
        && extent[axis] > 0.0
        && let Some(limit) = cheapest_bin(items, axis, low[axis], extent[axis])
    {
        let left = partition(items, |item| {
            bin_of(item.centre[axis], low[axis], extent[axis]) < limit
        });
        if left > 0 && left < items.len() {
            return left;
        }
    }
    let middle = items.len() / 2;
    items.select_nth_unstable_by(middle, |p, q| {
        p.centre[axis]
            .total_cmp(&q.centre[axis])
            .then(p.triangle.cmp(&q.triangle))
    });
    middle
}

fn bin_of(x: f32, low: f32, extent: f32) -> usize {
    (((x - low) / extent * N_BINS as f32) as usize).min(N_BINS - 1)
}

/// The first bin of the right half at the lowest cost, area times count.
fn cheapest_bin(items: &[Item], axis: usize, low: f32, extent: f32) -> Option<usize> {
    let mut bins = [(Vec3A::INFINITY, Vec3A::NEG_INFINITY, 0u32); N_BINS];
    for item in items {
        let bin = &mut bins[bin_of(item.centre[axis], low, extent)];
        bin.0 = bin.0.min(item.low);
        bin.1 = bin.1.max(item.high);
        bin.2 += 1;
    }
    let cost_of = |(low, high, count): (Vec3A, Vec3A, u32)| {
        let e = (high - low).max(Vec3A::ZERO);
        (e.x * e.y + e.y * e.z + e.z * e.x) * count as f32
    };
    let join =
        |a: (Vec3A, Vec3A, u32), b: (Vec3A, Vec3A, u32)| (a.0.min(b.0), a.1.max(b.1), a.2 + b.2);
    let nothing = (Vec3A::INFINITY, Vec3A::NEG_INFINITY, 0);
    let mut right_cost = [0.0; N_BINS];
    let mut right = nothing;
    for bin in (1..N_BINS).rev() {
        right = join(right, bins[bin]);
        right_cost[bin] = if right.2 == 0 {
            f32::INFINITY
        } else {
            cost_of(right)
        };
    }
    let mut best = None;
    let mut best_cost = f32::INFINITY;
    let mut left = nothing;
    for bin in 1..N_BINS {
        left = join(left, bins[bin - 1]);
        let cost = cost_of(left) + right_cost[bin];
        if left.2 > 0 && cost < best_cost {
            (best, best_cost) = (Some(bin), cost);
        }
    }
    best
}

/// Moves the items for which `is_left` holds to the front, keeping their order.
fn partition(items: &mut [Item], is_left: impl Fn(&Item) -> bool) -> usize {
    let mut right = vec![];
    let mut n_left = 0;
    for index in 0..items.len() {
        let item = items[index];
        if is_left(&item) {
            items[n_left] = item;
            n_left += 1;
        } else {
            right.push(item);
        }
    }
    items[n_left..].copy_from_slice(&right);
    n_left
}
