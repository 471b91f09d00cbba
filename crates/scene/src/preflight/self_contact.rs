//! Where a posed body enters itself: [`SelfContact`], made from the body alone.
//!
//! A vertex is inside another part when a point just outside it, along its
//! normal, is not in free air: the winding number there is 1 or more where the
//! body surrounds it, negative where the skin is turned inside out, 0 in air. Vertices on triangles that cross another one are asked first, and
//! from each one found inside its neighbours are asked in turn, so that only
//! the region in contact costs anything. A part that is inside as a whole
//! without crossing anything, such as an eyeball, is not in contact.
//!
//! The depth of a vertex is its distance to the skin of the other part, which
//! is all skin that is nearer to the other joint than to its own along the
//! bones, or to skin in the open, whichever is less. The
//! mask of what can't be judged there is the inside vertices and places of
//! crossing, and all vertices within [`MASK_RADIUS`] of them.
//!
//! Each vertex has a place on the skeleton: the nearest point of the bones of
//! the joint that it follows most. Where skin meets skin whose place is less
//! than [`CREASE_PATH`] away along the bones, that is a *crease*: elbow, knee,
//! armpit, groin. Linear blend skinning always folds a little there. All else
//! is *contact* between parts that should not meet, such as hand and hip.

use std::collections::{BTreeMap, HashMap};

use drapery_core::{BodyModel, JointId, Meeting, TriangleTree, WindingField, vertex_normals};
use glam::Vec3;

use super::bone_paths::BonePaths;
use super::place::main_joints;

/// The mask reaches this far around what is inside [m]: DESIGN §7.
const MASK_RADIUS: f32 = 0.02;

/// How far outside its skin a vertex is asked [m]: well above rounding, well
/// below what is seen.
const OUTSIDE: f32 = 5e-5;

/// Skin nearer than this along the bones folds into itself at a crease [body
/// heights]: half a metre for an adult, as from the ribs over the shoulder to
/// the inside of the upper arm. From hand or forearm to any part of the trunk
/// it is more than that.
const CREASE_PATH: f32 = 0.3;

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
    /// Whether the skin that meets is near along the bones.
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
    bones: BonePaths,
    crease: f32,
    /// Steps from the skin into the air along the normals [m]; negative for a
    /// body that is inside out.
    outside: f32,
    is_closed: bool,
    normals: Vec<Vec3>,
}

/// Two triangles that cross.
struct Crossing {
    triangles: [u32; 2],
    place: Vec3,
    part: Part,
}

/// Which parts meet: joints, the lower first, and whether at a crease.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    joints: [JointId; 2],
    is_crease: bool,
}

impl<'a> SelfContactFinder<'a> {
    /// A finder for bodies of `model`; `rest` [m] are the vertices of one of
    /// them at rest.
    ///
    /// # Panics
    /// When the number of vertices is not the model's.
    pub fn new(model: &'a dyn BodyModel, rest: &[Vec3]) -> Self {
        let topology = model.topology();
        let main = main_joints(model.skin_weights());
        let (low, high) = rest
            .iter()
            .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), &p| {
                (low.min(p), high.max(p))
            });
        let volume: f64 = topology
            .triangles()
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|v| rest[v as usize].as_dvec3());
                a.dot(b.cross(c))
            })
            .sum();
        Self {
            bones: BonePaths::new(model.skeleton(), rest, &main),
            crease: CREASE_PATH * (high - low).max_element(),
            outside: OUTSIDE.copysign(volume as f32),
            is_closed: topology.is_closed(),
            model,
            tree: TriangleTree::new(topology.triangles(), rest),
            neighbours: topology.neighbours(),
            main,
            normals: vec![Vec3::Y; topology.n_vertices()],
        }
    }

    /// The contact of a body with its vertices at `positions` [m].
    ///
    /// # Panics
    /// When the number of vertices is not the model's.
    pub fn find(&mut self, positions: &[Vec3]) -> SelfContact {
        let topology = self.model.topology();
        let triangles = topology.triangles();
        self.tree.refit(positions);
        let mut crossings: Vec<Crossing> = Vec::new();
        self.tree
            .visit_self_intersections(positions, |a, b, found| {
                if found.meeting == Meeting::Crossing {
                    let middle = (found.segment[0] + found.segment[1]) / 2.0;
                    crossings.push(Crossing {
                        triangles: [a, b],
                        place: middle.as_vec3(),
                        part: self.part_of([a, b]),
                    });
                }
            });
        if crossings.is_empty() {
            return SelfContact {
                masked: vec![false; positions.len()],
                ..SelfContact::default()
            };
        }
        crossings.sort_by_key(|c| c.triangles);
        vertex_normals(topology, positions, &mut self.normals);
        let inside = self.spread(positions, &crossings);
        let is_inside = |v: u32| inside.binary_search_by_key(&v, |i| i.0).is_ok();
        let outer: Vec<bool> = triangles
            .iter()
            .map(|t| !t.iter().any(|&v| is_inside(v)))
            .collect();
        let depth: Vec<f32> = inside
            .iter()
            .map(|(v, part)| self.depth(*v, part, positions, &outer))
            .collect();
        let seeds: Vec<Vec3> = inside
            .iter()
            .map(|&(v, _)| positions[v as usize])
            .chain(crossings.iter().map(|c| c.place))
            .collect();
        SelfContact {
            masked: within(&seeds, positions),
            is_crease: inside.iter().map(|i| i.1.is_crease).collect(),
            pairs: pairs(positions, &crossings, &inside, &depth),
            inside: inside.into_iter().map(|i| i.0).collect(),
            depth,
            n_crossings: crossings.len(),
        }
    }

    /// The vertices inside, sorted, each with the parts whose crossing it was
    /// reached from.
    fn spread(&self, positions: &[Vec3], crossings: &[Crossing]) -> Vec<(u32, Part)> {
        let triangles = self.model.topology().triangles();
        // Rays count right through closed skin; holes need the solid angle.
        let field = (!self.is_closed).then(|| WindingField::new(&self.tree, positions));
        let in_air = |p: Vec3| match &field {
            Some(field) => field.number(&self.tree, positions, p).abs() < 0.5,
            None => self.tree.winding_of_closed(p, positions) == 0,
        };
        let mut asked = vec![false; positions.len()];
        let mut queue: Vec<(u32, Part)> = Vec::new();
        for crossing in crossings {
            for t in crossing.triangles {
                queue.extend(triangles[t as usize].iter().map(|&v| (v, crossing.part)));
            }
        }
        let mut inside = Vec::new();
        let mut next = 0;
        while let Some(&(v, part)) = queue.get(next) {
            next += 1;
            if core::mem::replace(&mut asked[v as usize], true) {
                continue;
            }
            if in_air(positions[v as usize] + self.normals[v as usize] * self.outside) {
                continue;
            }
            inside.push((v, part));
            queue.extend(
                self.neighbours[v as usize]
                    .iter()
                    .filter(|&&n| !asked[n as usize])
                    .map(|&n| (n, part)),
            );
        }
        inside.sort_unstable_by_key(|i| i.0);
        inside
    }

    /// How far a vertex is inside.
    fn depth(&self, v: u32, part: &Part, positions: &[Vec3], outer: &[bool]) -> f32 {
        let p = positions[v as usize];
        let nearest = |limit: f32, counts: &dyn Fn(u32) -> bool| {
            let found = self.tree.closest_point_where(p, positions, limit, counts);
            found.map(|c| c.distance)
        };
        let in_the_open = nearest(f32::INFINITY, &|t| outer[t as usize]);
        let own = usize::from(self.main[v as usize]);
        let joints = part.joints.map(JointId::index);
        let apart = |a: usize, b: usize| self.bones.between_joints(a, b);
        let other = if apart(own, joints[0]) >= apart(own, joints[1]) {
            joints[0]
        } else {
            joints[1]
        };
        if other == own {
            return in_the_open.unwrap_or(0.0);
        }
        let triangles = self.model.topology().triangles();
        let is_other = |t: u32| {
            let joint = usize::from(self.main[triangles[t as usize][0] as usize]);
            apart(joint, other) < apart(joint, own)
        };
        let limit = in_the_open.unwrap_or(f32::INFINITY);
        nearest(limit, &is_other).or(in_the_open).unwrap_or(0.0)
    }

    /// The parts that two triangles belong to.
    fn part_of(&self, triangles: [u32; 2]) -> Part {
        let [p, q] = triangles.map(|t| self.model.topology().triangles()[t as usize]);
        let joint = |corners: [u32; 3]| {
            let [a, b, c] = corners.map(|v| self.main[v as usize]);
            // The one that two corners agree on, or the first.
            if b == c { b } else { a }
        };
        let (a, b) = (joint(p), joint(q));
        Part {
            joints: [JointId(a.min(b)), JointId(a.max(b))],
            is_crease: self.bones.between(p[0], q[0]) <= self.crease,
        }
    }
}

fn pairs(
    positions: &[Vec3],
    crossings: &[Crossing],
    inside: &[(u32, Part)],
    depth: &[f32],
) -> Vec<ContactPair> {
    let mut pairs: BTreeMap<Part, ContactPair> = BTreeMap::new();
    for crossing in crossings {
        pairs
            .entry(crossing.part)
            .or_insert_with(|| ContactPair {
                joints: crossing.part.joints,
                is_crease: crossing.part.is_crease,
                n_crossings: 0,
                n_inside: 0,
                depth: 0.0,
                place: crossing.place,
            })
            .n_crossings += 1;
    }
    for ((v, part), &depth) in inside.iter().zip(depth) {
        if let Some(pair) = pairs.get_mut(part) {
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
