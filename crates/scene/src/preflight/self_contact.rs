//! Where a posed body enters itself: [`SelfContact`], made from the body alone.
//!
//! A vertex is inside another part when a point just outside it, along its
//! normal, is not in free air: the winding number there is 1 or more where the
//! body surrounds it, negative where the skin is turned inside out, 0 in air. Vertices on triangles that cross another one are asked first, and
//! from each one found inside its neighbours are asked in turn, so that only
//! the region in contact costs anything. A part that is inside as a whole
//! without crossing anything, such as an eyeball, is not in contact.
//!
//! The depth of a vertex is its distance to the skin that is not inside. The
//! mask of what can't be judged there is the inside vertices and places of
//! crossing, and all vertices within [`MASK_RADIUS`] of them.
//!
//! Where two joints are at most [`CREASE_BONES`] bones apart (bones without
//! length not counted) contact is a *crease*: elbow, armpit, groin, between
//! the thighs. Linear blend skinning always folds a little there. All else is
//! *contact* between parts that should not meet.

use std::collections::{BTreeMap, HashMap};

use drapery_core::{BodyModel, JointId, Meeting, TriangleTree, vertex_normals};
use glam::Vec3;

use super::place::main_joints;

/// The mask reaches this far around what is inside [m]: DESIGN §7.
const MASK_RADIUS: f32 = 0.02;

/// How far outside its skin a vertex is asked [m]: well above rounding, well
/// below what is seen.
const OUTSIDE: f32 = 5e-5;

/// Joints this many bones apart or nearer fold into each other at a crease:
/// upper arm and chest, thigh and thigh.
const CREASE_BONES: u32 = 2;

/// Bones shorter than this join nothing [m]; hip joints of some rigs are in the
/// place of their parent.
const SHORT_BONE: f32 = 0.01;

/// A body's contact with itself in one pose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SelfContact {
    /// Vertices inside another part, sorted.
    pub inside: Vec<u32>,
    /// How deep each of `inside` is [m].
    pub depth: Vec<f32>,
    /// Whether each of `inside` belongs to a crease.
    pub is_crease: Vec<bool>,
    /// Whether each vertex of the body is inside, or within 2 cm of such a
    /// place. Empty contact masks nothing.
    pub masked: Vec<bool>,
    /// How many pairs of triangles cross.
    pub n_crossings: usize,
    /// Which parts enter which, the deepest first.
    pub pairs: Vec<ContactPair>,
}

/// Two parts of a body that enter one another.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactPair {
    /// The joints that the parts follow, the lower first.
    pub joints: [JointId; 2],
    /// Whether they are near on the skeleton.
    pub is_crease: bool,
    /// How many pairs of their triangles cross.
    pub n_crossings: usize,
    /// How many vertices are inside.
    pub n_inside: usize,
    /// How deep the deepest is [m].
    pub depth: f32,
    /// Where that is [m]; a place of crossing when no vertex is inside.
    pub place: Vec3,
}

impl SelfContact {
    /// The depth of the deepest vertex [m]; 0 without any.
    pub fn deepest(&self) -> f32 {
        self.depth.iter().copied().fold(0.0, f32::max)
    }

    /// The share of the vertices that is masked.
    pub fn masked_share(&self) -> f32 {
        let n = self.masked.iter().filter(|m| **m).count();
        n as f32 / self.masked.len().max(1) as f32
    }

    /// The deepest pair that is no crease.
    pub fn contact(&self) -> Option<&ContactPair> {
        self.pairs.iter().find(|p| !p.is_crease)
    }
}

/// Finds the [`SelfContact`] of one body, pose after pose.
pub struct SelfContactFinder<'a> {
    model: &'a dyn BodyModel,
    tree: TriangleTree,
    neighbours: Vec<Vec<u32>>,
    main: Vec<u16>,
    bones: Vec<Vec<u32>>,
    normals: Vec<Vec3>,
}

impl<'a> SelfContactFinder<'a> {
    /// A finder for bodies of `model`; `rest` [m] are the vertices of one of
    /// them at rest.
    ///
    /// # Panics
    /// When the number of vertices is not the model's.
    pub fn new(model: &'a dyn BodyModel, rest: &[Vec3]) -> Self {
        let topology = model.topology();
        Self {
            model,
            tree: TriangleTree::new(topology.triangles(), rest),
            neighbours: topology.neighbours(),
            main: main_joints(model.skin_weights()),
            bones: bones_apart(model),
            normals: vec![Vec3::Y; topology.n_vertices()],
        }
    }

    /// Whether two joints are so near on the skeleton that contact between
    /// them is a crease.
    pub fn is_crease(&self, a: JointId, b: JointId) -> bool {
        self.bones[a.index()][b.index()] <= CREASE_BONES
    }

    /// The contact of a body with its vertices at `positions` [m].
    ///
    /// # Panics
    /// When the number of vertices is not the model's.
    pub fn find(&mut self, positions: &[Vec3]) -> SelfContact {
        let topology = self.model.topology();
        let triangles = topology.triangles();
        self.tree.refit(positions);
        let mut crossings: Vec<([u32; 2], Vec3)> = Vec::new();
        self.tree
            .visit_self_intersections(positions, |a, b, found| {
                if found.meeting == Meeting::Crossing {
                    let middle = (found.segment[0] + found.segment[1]) / 2.0;
                    crossings.push(([a, b], middle.as_vec3()));
                }
            });
        if crossings.is_empty() {
            return SelfContact {
                masked: vec![false; positions.len()],
                ..SelfContact::default()
            };
        }
        crossings.sort_by_key(|c| c.0);
        vertex_normals(topology, positions, &mut self.normals);
        let inside = self.spread(positions, &crossings);
        let is_inside = |v: u32| inside.binary_search_by_key(&v, |i| i.0).is_ok();
        let outer: Vec<bool> = triangles
            .iter()
            .map(|t| !t.iter().any(|&v| is_inside(v)))
            .collect();
        let depth: Vec<f32> = inside
            .iter()
            .map(|&(v, _)| {
                self.tree
                    .closest_point_where(positions[v as usize], positions, f32::INFINITY, |t| {
                        outer[t as usize]
                    })
                    .map_or(0.0, |c| c.distance)
            })
            .collect();
        let seeds: Vec<Vec3> = inside
            .iter()
            .map(|&(v, _)| positions[v as usize])
            .chain(crossings.iter().map(|c| c.1))
            .collect();
        SelfContact {
            masked: within(&seeds, positions),
            is_crease: inside
                .iter()
                .map(|&(_, [a, b])| self.is_crease(a, b))
                .collect(),
            pairs: self.pairs(positions, &crossings, &inside, &depth),
            inside: inside.into_iter().map(|i| i.0).collect(),
            depth,
            n_crossings: crossings.len(),
        }
    }

    /// The vertices inside, sorted, each with the joints of the crossing that
    /// it was reached from.
    fn spread(
        &self,
        positions: &[Vec3],
        crossings: &[([u32; 2], Vec3)],
    ) -> Vec<(u32, [JointId; 2])> {
        let triangles = self.model.topology().triangles();
        let mut asked = vec![false; positions.len()];
        let mut queue: Vec<(u32, [JointId; 2])> = Vec::new();
        for (pair, _) in crossings {
            let joints = self.joints_of(*pair);
            for &t in pair {
                queue.extend(triangles[t as usize].iter().map(|&v| (v, joints)));
            }
        }
        let mut inside = Vec::new();
        let mut next = 0;
        while let Some(&(v, joints)) = queue.get(next) {
            next += 1;
            if core::mem::replace(&mut asked[v as usize], true) {
                continue;
            }
            let p = positions[v as usize] + self.normals[v as usize] * OUTSIDE;
            if self.tree.winding_of_closed(p, positions) == 0 {
                continue;
            }
            inside.push((v, joints));
            queue.extend(
                self.neighbours[v as usize]
                    .iter()
                    .filter(|&&n| !asked[n as usize])
                    .map(|&n| (n, joints)),
            );
        }
        inside.sort_unstable_by_key(|i| i.0);
        inside
    }

    /// The joints that two triangles follow, the lower first.
    fn joints_of(&self, pair: [u32; 2]) -> [JointId; 2] {
        let joint = |t: u32| {
            let [a, b, c] =
                self.model.topology().triangles()[t as usize].map(|v| self.main[v as usize]);
            // The one that two corners agree on, or the first.
            if b == c { b } else { a }
        };
        let [a, b] = pair.map(joint);
        [JointId(a.min(b)), JointId(a.max(b))]
    }

    fn pairs(
        &self,
        positions: &[Vec3],
        crossings: &[([u32; 2], Vec3)],
        inside: &[(u32, [JointId; 2])],
        depth: &[f32],
    ) -> Vec<ContactPair> {
        let mut pairs: BTreeMap<[u16; 2], ContactPair> = BTreeMap::new();
        for (triangles, place) in crossings {
            let joints = self.joints_of(*triangles);
            pairs
                .entry(joints.map(|j| j.0))
                .or_insert_with(|| ContactPair {
                    joints,
                    is_crease: self.is_crease(joints[0], joints[1]),
                    n_crossings: 0,
                    n_inside: 0,
                    depth: 0.0,
                    place: *place,
                })
                .n_crossings += 1;
        }
        for ((v, joints), &depth) in inside.iter().zip(depth) {
            if let Some(pair) = pairs.get_mut(&joints.map(|j| j.0)) {
                pair.n_inside += 1;
                if depth > pair.depth {
                    pair.depth = depth;
                    pair.place = positions[*v as usize];
                }
            }
        }
        let mut pairs: Vec<ContactPair> = pairs.into_values().collect();
        pairs.sort_by(|a, b| b.depth.total_cmp(&a.depth).then(a.joints.cmp(&b.joints)));
        pairs
    }
}

/// How many bones of some length lie between any two joints.
fn bones_apart(model: &dyn BodyModel) -> Vec<Vec<u32>> {
    let (parents, rest) = (model.skeleton().parents(), model.skeleton().rest());
    let n = parents.len();
    let mut apart = vec![vec![0u32; n]; n];
    // Parents come first: the way to a joint leads over its parent.
    for joint in 1..n {
        let Some(parent) = parents[joint] else {
            continue;
        };
        let bone = u32::from(rest[joint].distance(rest[parent.index()]) > SHORT_BONE);
        let mut row = apart[parent.index()].clone();
        for (other, bones) in row.iter_mut().enumerate().take(joint) {
            *bones += bone;
            apart[other][joint] = *bones;
        }
        row[joint..].fill(0);
        apart[joint] = row;
    }
    apart
}

/// Which points lie within [`MASK_RADIUS`] of a seed, by a grid of that size.
fn within(seeds: &[Vec3], points: &[Vec3]) -> Vec<bool> {
    let cell = |p: Vec3| (p / MASK_RADIUS).floor().to_array().map(|x| x as i64);
    let mut grid: HashMap<[i64; 3], Vec<Vec3>> = HashMap::new();
    for &seed in seeds {
        grid.entry(cell(seed)).or_default().push(seed);
    }
    let mut low = Vec3::INFINITY;
    let mut high = Vec3::NEG_INFINITY;
    for &seed in seeds {
        (low, high) = (low.min(seed), high.max(seed));
    }
    let (low, high) = (low - MASK_RADIUS, high + MASK_RADIUS);
    points
        .iter()
        .map(|&p| {
            if !(p.cmpge(low).all() && p.cmple(high).all()) {
                return false;
            }
            let [i, j, k] = cell(p);
            (-1..=1).any(|x| {
                (-1..=1).any(|y| {
                    (-1..=1).any(|z| {
                        grid.get(&[i + x, j + y, k + z]).is_some_and(|seeds| {
                            seeds
                                .iter()
                                .any(|s| s.distance_squared(p) <= MASK_RADIUS * MASK_RADIUS)
                        })
                    })
                })
            })
        })
        .collect()
}
