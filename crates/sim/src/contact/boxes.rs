//! [`BoxTree`]: boxes that may touch, found without looking at all pairs.
//!
//! The boxes are put in an order in which neighbours are near, by splitting
//! along the longest side until four are left, always at a multiple of a power
//! of four. Then the tree needs no links: box k of a level bounds the four
//! boxes 4k…4k+3 of the level below it.
//!
//! Which pairs are found depends on the boxes alone, not on the order, so a
//! refitted tree and a new one agree, and so does any number of threads; pairs
//! come sorted.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::block::{Block, Bounds, EMPTY, Probe, WIDTH, outwards};

/// A tree over numbered boxes.
#[derive(Clone, Debug)]
pub struct BoxTree {
    /// Which box is in each slot of the lowest level.
    order: Vec<u32>,
    /// Blocks of four boxes; the last level has one block, or there is none.
    levels: Vec<Vec<Block>>,
    /// Half the surface of all inner boxes when the order was made [m²].
    built_surface: f64,
}

/// No tree is deeper: 4¹⁶ boxes.
const MAX_LEVELS: usize = 16;
/// Blocks whose pairs one task gathers.
const CHUNK: usize = 64;
/// Blocks that one task refits at least: fewer are not worth sharing.
const REFITTED: usize = 512;

impl BoxTree {
    /// A tree over `n` boxes, of which `bounds` gives each.
    pub fn new(n: usize, bounds: impl Fn(u32) -> Bounds + Sync) -> Self {
        let mut items: Vec<(Vec3, u32)> = (0..n as u32)
            .map(|i| {
                let b = bounds(i);
                (((b.low + b.high) * 0.5).as_vec3(), i)
            })
            .collect();
        arrange(&mut items);
        let mut levels = Vec::new();
        let mut len = n;
        while len > 1 || (levels.is_empty() && len > 0) {
            len = len.div_ceil(WIDTH);
            levels.push(vec![EMPTY; len]);
        }
        let mut tree = Self {
            order: items.iter().map(|item| item.1).collect(),
            levels,
            built_surface: 0.0,
        };
        tree.refit(bounds);
        tree.built_surface = tree.surface();
        tree
    }

    /// How many boxes there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is no box at all.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Takes other bounds for the same boxes. The order stays: answers stay
    /// right, but slow down when the boxes are no longer near their neighbours.
    pub fn refit(&mut self, bounds: impl Fn(u32) -> Bounds + Sync) {
        let Some((lowest, upper)) = self.levels.split_first_mut() else {
            return;
        };
        let blocks = lowest.par_iter_mut().zip(self.order.par_chunks(WIDTH));
        blocks.with_min_len(REFITTED).for_each(|(block, ids)| {
            for (lane, &id) in ids.iter().enumerate() {
                let (low, high) = outwards(bounds(id));
                block.set(lane, low, high);
            }
        });
        let mut below: &[Block] = lowest;
        for level in upper {
            let blocks = level.par_iter_mut().zip(below.par_chunks(WIDTH));
            blocks.with_min_len(REFITTED).for_each(|(block, children)| {
                for (lane, child) in children.iter().enumerate() {
                    let (low, high) = child.hull();
                    block.set(lane, low, high);
                }
            });
            below = level;
        }
    }

    /// How much larger the inner boxes have become since the tree was built: 1
    /// for a new one. From about 2 on, building anew pays.
    pub fn growth(&self) -> f64 {
        if self.built_surface > 0.0 {
            self.surface() / self.built_surface
        } else {
            1.0
        }
    }

    /// Appends all pairs of a box of this tree and one of `other` that are
    /// within `margin` [m] along every axis and that `counts` accepts, sorted.
    pub fn pairs(
        &self,
        other: &BoxTree,
        margin: f64,
        counts: impl Fn(u32, u32) -> bool + Sync,
        pairs: &mut Vec<[u32; 2]>,
    ) {
        let found = self.gather(|block, found| {
            self.visit_hits(block, other, 0, margin, |_, i, j| {
                if counts(i, j) {
                    found.push([i, j]);
                }
            });
        });
        append_sorted(&found, self.len(), pairs);
    }

    /// Appends all pairs of boxes of this tree that are within `margin` [m]
    /// along every axis and that `counts` accepts, the lower first, sorted.
    pub fn self_pairs(
        &self,
        margin: f64,
        counts: impl Fn(u32, u32) -> bool + Sync,
        pairs: &mut Vec<[u32; 2]>,
    ) {
        let found = self.gather(|block, found| {
            // Two blocks meet once, from the earlier one; in a block, two boxes
            // meet twice.
            self.visit_hits(block, self, block, margin, |theirs, i, j| {
                if (theirs != block || i < j) && counts(i, j) {
                    found.push([i.min(j), i.max(j)]);
                }
            });
        });
        append_sorted(&found, self.len(), pairs);
    }

    /// The box whose content is nearest to `p` and at most `max_distance` [m]
    /// away; `distance_sq` gives the squared distance of what is in a box.
    /// Among equals the lowest.
    pub fn nearest(
        &self,
        p: DVec3,
        max_distance: f64,
        mut distance_sq: impl FnMut(u32) -> f64,
    ) -> Option<u32> {
        let (low, high) = outwards(Bounds::of_point(p));
        let probe = Probe::new(low, high, 0.0);
        let mut best_sq = max_distance * max_distance;
        let mut best = None;
        let mut stack = [(0.0f32, 0u32, 0u32); (WIDTH - 1) * MAX_LEVELS + 1];
        let mut depth = 0;
        if !self.levels.is_empty() {
            stack[0] = (0.0, self.levels.len() as u32 - 1, 0);
            depth = 1;
        }
        while depth > 0 {
            depth -= 1;
            let (box_sq, level, index) = stack[depth];
            if f64::from(box_sq) > best_sq {
                continue;
            }
            let (level, index) = (level as usize, index as usize);
            let block = &self.levels[level][index];
            // Those that count, the nearest last.
            let mut children = [(0.0f32, 0u32); WIDTH];
            let mut n = 0;
            let distances = block.distances_sq(&probe).to_array();
            for (lane, sq) in distances.into_iter().enumerate() {
                if !sq.is_finite() || f64::from(sq) > best_sq {
                    continue;
                }
                let mut at = n;
                while at > 0 && children[at - 1].0 < sq {
                    children[at] = children[at - 1];
                    at -= 1;
                }
                children[at] = (sq, (index * WIDTH + lane) as u32);
                n += 1;
            }
            if level > 0 {
                for &(sq, child) in &children[..n] {
                    stack[depth] = (sq, level as u32 - 1, child);
                    depth += 1;
                }
                continue;
            }
            for &(sq, slot) in children[..n].iter().rev() {
                if f64::from(sq) > best_sq {
                    break;
                }
                let id = self.order[slot as usize];
                let sq = distance_sq(id);
                if sq < best_sq || (sq == best_sq && best.is_none_or(|b| id < b)) {
                    (best_sq, best) = (sq, Some(id));
                }
            }
        }
        best
    }

    /// Calls `visit` for each box that comes within `margin` [m] of `bounds`
    /// along every axis, in the tree's own order.
    pub(super) fn visit(&self, bounds: Bounds, margin: f64, mut visit: impl FnMut(u32)) {
        let (low, high) = outwards(bounds);
        let probe = Probe::new(low, high, margin);
        self.visit_blocks(&probe, 0, |block| {
            let mut hits = self.levels[0][block].near(&probe);
            while hits != 0 {
                visit(self.order[block * WIDTH + hits.trailing_zeros() as usize]);
                hits &= hits - 1;
            }
        });
    }

    /// What `visit` adds for each block of the lowest level, chunk by chunk.
    fn gather(&self, visit: impl Fn(usize, &mut Vec<[u32; 2]>) + Sync) -> Vec<Vec<[u32; 2]>> {
        let n_blocks = self.levels.first().map_or(0, Vec::len);
        (0..n_blocks.div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let mut found = Vec::new();
                for block in chunk * CHUNK..n_blocks.min((chunk + 1) * CHUNK) {
                    visit(block, &mut found);
                }
                found
            })
            .collect()
    }

    /// Calls `visit` with the other's block and both boxes for each box in a
    /// block of this tree and each of `other`, from block `first` on, that
    /// come within the margin [m].
    fn visit_hits(
        &self,
        block: usize,
        other: &BoxTree,
        first: usize,
        margin: f64,
        mut visit: impl FnMut(usize, u32, u32),
    ) {
        let ours = &self.levels[0][block];
        let start = block * WIDTH;
        let ids = &self.order[start..self.order.len().min(start + WIDTH)];
        let probes: [Probe; WIDTH] = std::array::from_fn(|lane| {
            let (low, high) = ours.get(lane);
            Probe::new(low, high, margin)
        });
        let (low, high) = ours.hull();
        other.visit_blocks(&Probe::new(low, high, margin), first, |theirs| {
            let (block, theirs_ids) = (&other.levels[0][theirs], &other.order[theirs * WIDTH..]);
            for (probe, &i) in probes.iter().zip(ids) {
                let mut hits = block.near(probe);
                while hits != 0 {
                    visit(theirs, i, theirs_ids[hits.trailing_zeros() as usize]);
                    hits &= hits - 1;
                }
            }
        });
    }

    /// Calls `visit` for each block of the lowest level, from number `first`
    /// on, that comes near the probe.
    fn visit_blocks(&self, probe: &Probe, first: usize, mut visit: impl FnMut(usize)) {
        let mut stack = [(0u32, 0u32); (WIDTH - 1) * MAX_LEVELS + 1];
        let mut depth = 0;
        match self.levels.len() {
            0 => return,
            1 => {
                if first == 0 {
                    visit(0);
                }
                return;
            }
            n => {
                stack[0] = (n as u32 - 1, 0);
                depth += 1;
            }
        }
        while depth > 0 {
            depth -= 1;
            let (level, index) = (stack[depth].0 as usize, stack[depth].1 as usize);
            let mut hits = self.levels[level][index].near(probe);
            while hits != 0 {
                let child = index * WIDTH + hits.trailing_zeros() as usize;
                hits &= hits - 1;
                // The first block of the lowest level behind the child's own.
                if (child + 1) << (2 * (level - 1)) <= first {
                    continue;
                }
                if level == 1 {
                    visit(child);
                } else {
                    stack[depth] = (level as u32 - 1, child as u32);
                    depth += 1;
                }
            }
        }
    }

    fn surface(&self) -> f64 {
        let upper = self.levels.iter().skip(1).flatten();
        upper.map(|block| f64::from(block.half_surface())).sum()
    }
}

/// Orders the items so that each four times power of four of them, counted from
/// the start, lie together.
fn arrange(items: &mut [(Vec3, u32)]) {
    let mut ranges = vec![(0, items.len())];
    while let Some((start, end)) = ranges.pop() {
        let range = &mut items[start..end];
        if range.len() <= WIDTH {
            continue;
        }
        let mut capacity = WIDTH;
        while capacity * WIDTH < range.len() {
            capacity *= WIDTH;
        }
        let left = range.len().div_ceil(capacity).div_ceil(2) * capacity;
        let (low, high) = range.iter().fold(
            (Vec3::INFINITY, Vec3::NEG_INFINITY),
            |(low, high), (p, _)| (low.min(*p), high.max(*p)),
        );
        let axis = (high - low).max_position();
        range.select_nth_unstable_by(left, |p, q| {
            p.0[axis].total_cmp(&q.0[axis]).then(p.1.cmp(&q.1))
        });
        ranges.push((start + left, end));
        ranges.push((start, start + left));
    }
}

/// Appends the pairs in order, by counting the first of each.
fn append_sorted(found: &[Vec<[u32; 2]>], n_first: usize, pairs: &mut Vec<[u32; 2]>) {
    let mut starts = vec![0u32; n_first + 1];
    for pair in found.iter().flatten() {
        starts[pair[0] as usize + 1] += 1;
    }
    for i in 0..n_first {
        starts[i + 1] += starts[i];
    }
    let base = pairs.len();
    pairs.resize(base + starts[n_first] as usize, [0; 2]);
    let sorted = &mut pairs[base..];
    let mut next = starts.clone();
    for pair in found.iter().flatten() {
        let slot = &mut next[pair[0] as usize];
        sorted[*slot as usize] = *pair;
        *slot += 1;
    }
    for i in 0..n_first {
        sorted[starts[i] as usize..starts[i + 1] as usize].sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// On a coarse grid boxes touch exactly; far away `f32` is coarser than them.
    fn coordinate() -> impl Strategy<Value = f64> {
        prop_oneof![
            -1.0f64..1.0,
            (-8i32..=8).prop_map(|i| f64::from(i) * 0.1),
            (-1.0f64..1.0).prop_map(|x| 1e5 + x),
        ]
    }

    prop_compose! {
        fn point()(c in prop::array::uniform3(coordinate())) -> DVec3 {
            DVec3::from_array(c)
        }
    }

    prop_compose! {
        fn boxes()(
            list in prop::collection::vec((point(), prop::array::uniform3(0.0f64..0.3)), 0..90),
        ) -> Vec<Bounds> {
            list.into_iter()
                .map(|(p, size)| Bounds::of([p, p + DVec3::from_array(size)]))
                .collect()
        }
    }

    fn tree(boxes: &[Bounds]) -> BoxTree {
        BoxTree::new(boxes.len(), |i| boxes[i as usize])
    }

    fn by_force(a: &[Bounds], b: &[Bounds], margin: f64) -> Vec<[u32; 2]> {
        let mut pairs = vec![];
        for (i, p) in a.iter().enumerate() {
            let p = p.grown(margin);
            for (j, q) in b.iter().enumerate() {
                if p.low.cmple(q.high).all() && q.low.cmple(p.high).all() {
                    pairs.push([i as u32, j as u32]);
                }
            }
        }
        pairs
    }

    /// Whether `found` is sorted, has all of `least` and nothing beyond `most`.
    fn between(least: &[[u32; 2]], found: &[[u32; 2]], most: &[[u32; 2]]) -> bool {
        found.is_sorted_by(|a, b| a < b)
            && least.iter().all(|p| found.binary_search(p).is_ok())
            && found.iter().all(|p| most.binary_search(p).is_ok())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn pairs_are_those_of_all_boxes(a in boxes(), b in boxes(), margin in 0.0f64..0.2) {
            // At 1e5 m an f32 is 8 mm wide, and boxes are rounded outwards.
            for margin in [0.0, margin] {
                let (least, most) = (by_force(&a, &b, margin), by_force(&a, &b, margin + 0.05));
                let mut found = vec![];
                tree(&a).pairs(&tree(&b), margin, |_, _| true, &mut found);
                prop_assert!(between(&least, &found, &most));
                let mut odd = vec![];
                tree(&a).pairs(&tree(&b), margin, |i, j| (i + j) % 2 == 1, &mut odd);
                found.retain(|p| (p[0] + p[1]) % 2 == 1);
                prop_assert_eq!(odd, found);
            }
        }

        #[test]
        fn self_pairs_are_those_of_all_boxes(a in boxes(), margin in 0.0f64..0.2) {
            let below = |margin| {
                let mut pairs = by_force(&a, &a, margin);
                pairs.retain(|p| p[0] < p[1]);
                pairs
            };
            let mut found = vec![];
            tree(&a).self_pairs(margin, |_, _| true, &mut found);
            prop_assert!(between(&below(margin), &found, &below(margin + 0.05)));
        }

        #[test]
        fn a_refitted_tree_answers_like_a_new_one(
            a in boxes(),
            shifts in prop::collection::vec(point(), 90),
            p in point(),
            margin in prop_oneof![Just(0.0), Just(0.1f64), Just(0.2), 0.0..0.2f64],
        ) {
            let moved: Vec<Bounds> = a
                .iter()
                .zip(&shifts)
                .map(|(b, s)| Bounds { low: b.low + *s, high: b.high + *s })
                .collect();
            let mut refitted = tree(&a);
            refitted.refit(|i| moved[i as usize]);
            let (mut ours, mut fresh) = (vec![], vec![]);
            refitted.self_pairs(margin, |_, _| true, &mut ours);
            tree(&moved).self_pairs(margin, |_, _| true, &mut fresh);
            prop_assert_eq!(ours, fresh);
            let distance_sq = |i: u32| moved[i as usize].low.distance_squared(p);
            prop_assert_eq!(
                refitted.nearest(p, f64::INFINITY, distance_sq),
                tree(&moved).nearest(p, f64::INFINITY, distance_sq)
            );
        }

        #[test]
        fn the_nearest_is_that_of_all(points in prop::collection::vec(point(), 0..90), p in point()) {
            let tree = BoxTree::new(points.len(), |i| Bounds::of_point(points[i as usize]));
            let distance_sq = |i: u32| points[i as usize].distance_squared(p);
            let nearest = (0..points.len() as u32)
                .min_by(|&i, &j| distance_sq(i).total_cmp(&distance_sq(j)).then(i.cmp(&j)));
            prop_assert_eq!(tree.nearest(p, f64::INFINITY, distance_sq), nearest);
            if let Some(nearest) = nearest {
                let distance = distance_sq(nearest).sqrt();
                prop_assert_eq!(tree.nearest(p, distance * 1.001, distance_sq), Some(nearest));
                if distance > 0.0 {
                    prop_assert_eq!(tree.nearest(p, distance * 0.999, distance_sq), None);
                }
            }
        }
    }

    #[test]
    fn most_boxes_are_never_looked_at() {
        let boxes: Vec<Bounds> = (0..4096)
            .map(|i| Bounds::of_point(DVec3::new(f64::from(i % 64), f64::from(i / 64), 0.0)))
            .collect();
        let tree = tree(&boxes);
        let mut n_asked = 0;
        let p = DVec3::new(17.2, 40.3, 0.0);
        let found = tree.nearest(p, f64::INFINITY, |i| {
            n_asked += 1;
            boxes[i as usize].low.distance_squared(p)
        });
        assert_eq!(found, Some(40 * 64 + 17));
        assert!(n_asked <= 16, "{n_asked}");
        assert_eq!(tree.growth(), 1.0);
        // Scattered, the same tree is a bad one, and says so.
        let mut scattered = tree.clone();
        scattered.refit(|i| boxes[(i as usize * 1657) % 4096]);
        assert!(scattered.growth() > 10.0, "{}", scattered.growth());
    }
}
