//! Garments that lie through one another, put in order: [`put_in_order`].
//!
//! Each garment is made on the bare body, so that two of them start crossed.
//! Cloth has no inside, and what has crossed what can't be told from the cloth
//! alone; but layers have an order and the body is there. Every vertex has a
//! foot on the body, a height h above it, and a way up. From the inside out,
//! and again until nothing is left to do, the outer of two layers is lifted:
//!
//! | where                                   | by                              |
//! |-----------------------------------------|---------------------------------|
//! | the inner one is above its vertex       | what is missing to h_inner + gap |
//! | a vertex of the inner one is above it   | the same, all of that triangle  |
//! | an edge still passes through a face     | the gap                         |
//!
//! Lifts are spread a little, so that cloth is raised and no single vertex.
//! The lifted cloth is strained; dressing lets it down again onto what is now
//! below it.

use drapery_core::{PseudoNormals, Topology, TriangleTree};
use drapery_sim::{MeshBoxes, crossings};
use glam::{DVec3, Vec3};

/// What it took to put layers in order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Layering {
    /// Edges of one layer that passed through faces of another.
    pub crossed: u32,
    /// Vertices that were lifted.
    pub lifted: u32,
    /// The farthest that one was [m].
    pub farthest: f64,
    /// Edges that still pass through faces.
    pub left: u32,
    /// Whether all layers have their triangles facing away from the body.
    pub faces_out: bool,
}

/// How much farther out than a vertex of the outer layer the inner one is
/// looked for [m]. What is beyond is of another limb, or pushed out little by
/// little as it crosses.
const REACH: f32 = 0.06;
/// The room that is left between layers, beside their thickness [m].
const ROOM: f32 = 1e-3;
/// Rounds after which the layers are left as they are.
const MAX_ROUNDS: u32 = 200;
/// Rounds that look at heights; those after look at crossings alone.
const HEIGHT_ROUNDS: u32 = 8;
/// No vertex is lifted farther than this [m]: what is then still crossed is not
/// worn in this order.
const MAX_LIFT: f32 = 0.15;
/// Lifts reach this many edges farther, falling off.
const SPREAD: u32 = 3;
/// Below this height the way up is the body's normal [m].
const LOW: f32 = 5e-3;

/// A layer while it is put in order.
pub(crate) struct Placed {
    pub(crate) topology: Topology,
    /// [m]
    pub(crate) positions: Vec<Vec3>,
    /// [m]
    pub(crate) thickness: f32,
}

/// Lifts layers, given from the skin outwards, until none passes through
/// another, off a body at `body` [m].
pub(crate) fn put_in_order(layers: &mut [Placed], body: &Topology, body_at: &[Vec3]) -> Layering {
    let ground = Ground {
        surface: Surface::new(body, body_at),
        normals: PseudoNormals::new(body.triangles(), body_at),
        at: body_at,
    };
    let before: Vec<Vec<Vec3>> = layers.iter().map(|l| l.positions.clone()).collect();
    let mut done = Layering {
        faces_out: layers.iter().all(|layer| ground.is_faced(layer)),
        ..Layering::default()
    };
    for outer in 1..layers.len() {
        let (inner, rest) = layers.split_at_mut(outer);
        let outer = &mut rest[0];
        for inner in inner.iter() {
            done.crossed += n_crossings(inner, outer) as u32;
        }
        lift(inner, outer, &ground);
        for inner in inner.iter() {
            done.left += n_crossings(inner, outer) as u32;
        }
    }
    for (layer, before) in layers.iter().zip(&before) {
        for (p, q) in layer.positions.iter().zip(before) {
            done.lifted += u32::from(p != q);
            done.farthest = done.farthest.max(f64::from(p.distance(*q)));
        }
    }
    done
}

/// How often edges of two layers pass through faces of the other.
fn n_crossings(a: &Placed, b: &Placed) -> usize {
    let [(a, x), (b, y)] = [a, b].map(|layer| layer.boxes());
    crossings(&a, &x, &b, &y).len()
}

/// Lifts a layer off those below it.
fn lift(inner: &[Placed], outer: &mut Placed, ground: &Ground<'_>) {
    let around = neighbours(&outer.topology);
    let feet_of: Vec<Vec<Foot>> = inner.iter().map(|l| ground.feet(&l.positions)).collect();
    let surfaces: Vec<Surface<'_>> = inner
        .iter()
        .map(|l| Surface::new(&l.topology, &l.positions))
        .collect();
    let boxes: Vec<(MeshBoxes, Vec<DVec3>)> = inner.iter().map(Placed::boxes).collect();
    let mut feet = ground.feet(&outer.positions);
    let mut lifted = vec![0.0f32; outer.positions.len()];
    for round in 0..MAX_ROUNDS {
        let mut lifts = vec![0.0f32; outer.positions.len()];
        if round < HEIGHT_ROUNDS {
            let above = Surface::new(&outer.topology, &outer.positions);
            for (i, layer) in inner.iter().enumerate() {
                let gap = 0.5 * (layer.thickness + outer.thickness) + ROOM;
                for (foot, lift) in feet.iter().zip(&mut lifts) {
                    let limit = ground.limit(foot, foot.height + REACH);
                    let found = surfaces[i].passes(foot, limit, &layer.positions);
                    let highest = found.map(|(_, height)| height).fold(0.0, f32::max);
                    if highest > 0.0 {
                        *lift = lift.max(highest + gap - foot.height);
                    }
                }
                for foot in &feet_of[i] {
                    let limit = ground.limit(foot, foot.height + gap);
                    for (triangle, height) in above.passes(foot, limit, &outer.positions) {
                        let missing = foot.height + gap - height;
                        for v in outer.topology.triangles()[triangle as usize] {
                            let lift = &mut lifts[v as usize];
                            *lift = lift.max(missing);
                        }
                    }
                }
            }
        }
        let (own, x) = outer.boxes();
        let mut n_crossed = 0;
        for ((boxes, y), layer) in boxes.iter().zip(inner) {
            let gap = 0.5 * (layer.thickness + outer.thickness) + ROOM;
            let found = crossings(boxes, y, &own, &x);
            n_crossed += found.len();
            let edges = found.other_edge_faces.iter().map(|[e, _]| *e as usize);
            let edges = edges.flat_map(|e| own.edges()[e]);
            let faces = found.edge_faces.iter().map(|[_, t]| *t as usize);
            let faces = faces.flat_map(|t| own.triangles()[t]);
            for v in edges.chain(faces) {
                lifts[v as usize] = lifts[v as usize].max(gap);
            }
        }
        let most = lifts.iter().copied().fold(0.0, f32::max);
        if n_crossed == 0 && (most < 1e-5 || round >= HEIGHT_ROUNDS) {
            break;
        }
        spread(&mut lifts, &around);
        let feet = feet.iter_mut().zip(&mut lifted);
        for ((p, lift), (foot, lifted)) in outer.positions.iter_mut().zip(&lifts).zip(feet) {
            let lift = lift.min(MAX_LIFT - *lifted);
            *lifted += lift;
            *p += foot.up * lift;
            foot.height += lift;
        }
    }
}

/// Lets lifts fall off over the vertices around.
fn spread(lifts: &mut Vec<f32>, around: &[Vec<u32>]) {
    for _ in 0..SPREAD {
        let wider = around.iter().zip(lifts.iter()).map(|(around, own)| {
            let sum: f32 = around.iter().map(|w| lifts[*w as usize]).sum();
            own.max(sum / around.len().max(1) as f32)
        });
        *lifts = wider.collect();
    }
}

fn neighbours(topology: &Topology) -> Vec<Vec<u32>> {
    let mut around = vec![Vec::new(); topology.n_vertices()];
    for edge in topology.edges() {
        let [a, b] = edge.vertices;
        around[a as usize].push(b);
        around[b as usize].push(a);
    }
    around
}

impl Placed {
    fn boxes(&self) -> (MeshBoxes, Vec<DVec3>) {
        let x: Vec<DVec3> = self.positions.iter().map(|p| p.as_dvec3()).collect();
        (MeshBoxes::new(&self.topology, &x), x)
    }
}

/// Where a vertex is above the body.
#[derive(Clone, Copy, Debug)]
struct Foot {
    /// [m]
    at: Vec3,
    /// Of unit length.
    up: Vec3,
    /// [m]
    height: f32,
}

/// The body.
struct Ground<'a> {
    surface: Surface<'a>,
    normals: PseudoNormals,
    at: &'a [Vec3],
}

impl Ground<'_> {
    fn feet(&self, positions: &[Vec3]) -> Vec<Foot> {
        let foot = |p: &Vec3| {
            let found =
                self.normals
                    .signed_distance(&self.surface.tree, self.at, *p, f32::INFINITY);
            let Some((distance, closest)) = found else {
                return Foot {
                    at: *p,
                    up: Vec3::Y,
                    height: 0.0,
                };
            };
            let normal = self.normals.at(&closest).normalize_or(Vec3::Y);
            match distance > LOW {
                true => Foot {
                    at: closest.point,
                    up: (*p - closest.point) / distance,
                    height: distance,
                },
                // From the point itself, so that going up is going straight.
                false => Foot {
                    at: *p - normal * distance,
                    up: normal,
                    height: distance,
                },
            }
        };
        positions.iter().map(foot).collect()
    }

    /// Whether most of a layer faces away from the body.
    fn is_faced(&self, layer: &Placed) -> bool {
        let feet = self.feet(&layer.positions);
        let faced = layer.topology.triangles().iter().filter(|corners| {
            let [a, b, c] = corners.map(|v| layer.positions[v as usize]);
            let up: Vec3 = corners.iter().map(|v| feet[*v as usize].up).sum();
            (b - a).cross(c - a).dot(up) > 0.0
        });
        2 * faced.count() > layer.topology.triangles().len()
    }

    /// How far up from a foot there is no other part of the body, at most
    /// `limit` [m].
    fn limit(&self, foot: &Foot, limit: f32) -> f32 {
        let hits = self.surface.hits(foot, limit, self.at);
        let other = hits.filter(|(_, height, facing)| *facing < 0.0 && *height > LOW);
        other.map(|(_, height, _)| height).fold(limit, f32::min)
    }
}

/// A surface that can be asked what is above a foot.
struct Surface<'a> {
    topology: &'a Topology,
    tree: TriangleTree,
}

impl<'a> Surface<'a> {
    fn new(topology: &'a Topology, positions: &[Vec3]) -> Self {
        Self {
            topology,
            tree: TriangleTree::new(topology.triangles(), positions),
        }
    }

    /// The triangles above a foot that face up, with their heights, at most
    /// `limit` [m].
    fn passes(
        &self,
        foot: &Foot,
        limit: f32,
        positions: &[Vec3],
    ) -> impl Iterator<Item = (u32, f32)> + use<> {
        let hits = self.hits(foot, limit, positions);
        hits.filter(|(_, _, facing)| *facing > 0.0)
            .map(|(triangle, height, _)| (triangle, height))
    }

    /// The triangles above a foot, with their heights and how far they face
    /// up.
    fn hits(
        &self,
        foot: &Foot,
        limit: f32,
        positions: &[Vec3],
    ) -> impl Iterator<Item = (u32, f32, f32)> + use<> {
        let end = foot.at + foot.up * limit;
        let mut found = Vec::new();
        self.tree.visit_box(
            foot.at.min(end),
            foot.at.max(end),
            0.0,
            positions,
            |triangle| {
                let corners = self.topology.triangles()[triangle as usize];
                let corners = corners.map(|v| positions[v as usize] - foot.at);
                if let Some((height, facing)) = hit(corners, foot.up)
                    && height <= limit
                {
                    found.push((triangle, height, facing));
                }
            },
        );
        found.sort_by_key(|(triangle, _, _)| *triangle);
        found.into_iter()
    }
}

/// How far along a direction a triangle is met from the origin, and how far it
/// faces along it.
fn hit([a, b, c]: [Vec3; 3], up: Vec3) -> Option<(f32, f32)> {
    let [a, b, c, up] = [a, b, c, up].map(|p| p.as_dvec3());
    let normal = (b - a).cross(c - a);
    let facing = normal.dot(up);
    if facing == 0.0 {
        return None;
    }
    let height = normal.dot(a) / facing;
    let p = up * height;
    let inside = [(a, b), (b, c), (c, a)].map(|(s, e)| (e - s).cross(p - s).dot(normal) >= 0.0);
    let is_hit = height >= 0.0 && inside == [true; 3];
    is_hit.then_some((height as f32, facing as f32))
}

#[cfg(test)]
mod tests {
    use drapery_core::BodyModel;
    use drapery_scene::builtin;

    use super::*;

    /// The tube, and its sleeve with every vertex at another distance from the
    /// axis, by `more` of its height and angle [m].
    fn tube_and_sleeve(more: impl Fn(f32, f32) -> f32) -> (Topology, Vec<Vec3>, Placed) {
        let tube = builtin::character("tube").unwrap();
        let rest = tube.shaped(&[0.0, 0.0]).unwrap().rest;
        let sleeve = builtin::garment("sleeve").unwrap();
        let moved = sleeve.mesh().positions().iter().map(|p| {
            let out = p.with_y(0.0);
            *p + out.normalize() * more(p.y, out.x.atan2(out.z))
        });
        let placed = Placed {
            topology: sleeve.mesh().topology().clone(),
            positions: moved.collect(),
            thickness: 1e-3,
        };
        (tube.topology().clone(), rest, placed)
    }

    #[test]
    fn what_dips_through_is_lifted_by_as_much_and_the_rest_left_alone() {
        let (body, at, inner) = tube_and_sleeve(|_, _| 0.0);
        // A dent of 8 mm on one side, 2 cm off elsewhere.
        let (_, _, outer) = tube_and_sleeve(|y, angle| {
            let dent = (-(angle * angle) / 0.1 - (y - 0.6).powi(2) / 0.002).exp();
            0.02 - 0.028 * dent
        });
        let before = outer.positions.clone();
        let mut layers = [inner, outer];
        let inside = layers[0].positions.clone();
        let found = put_in_order(&mut layers, &body, &at);
        assert!(found.crossed > 0 && found.left == 0, "{found:?}");
        assert!(found.faces_out);
        // 8 mm, the thickness and the room; spread and faceted, a little more.
        assert!((0.008..0.014).contains(&found.farthest), "{found:?}");
        let n = layers[1].positions.len() as u32;
        assert!(found.lifted < n / 2, "{} of {n}", found.lifted);
        assert_eq!(layers[0].positions, inside, "the inner one stays");
        for (p, q) in layers[1].positions.iter().zip(&before) {
            assert!(p.with_y(0.0).length() > q.with_y(0.0).length() - 1e-6);
        }
    }

    #[test]
    fn what_lies_in_order_is_not_touched() {
        let (body, at, inner) = tube_and_sleeve(|_, _| 0.0);
        let (_, _, outer) = tube_and_sleeve(|_, _| 0.01);
        let mut layers = [inner, outer];
        let found = put_in_order(&mut layers, &body, &at);
        let expected = Layering {
            faces_out: true,
            ..Layering::default()
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn an_order_that_cannot_be_is_told_and_not_forced() {
        // 20 cm too narrow to be over the other.
        let (body, at, inner) = tube_and_sleeve(|y, _| if y > 0.6 { 0.3 } else { 0.0 });
        let (_, _, outer) = tube_and_sleeve(|_, _| 0.01);
        let mut layers = [inner, outer];
        let found = put_in_order(&mut layers, &body, &at);
        assert!(found.left > 0, "{found:?}");
        assert!(found.farthest <= f64::from(MAX_LIFT) + 1e-6, "{found:?}");
    }
}
