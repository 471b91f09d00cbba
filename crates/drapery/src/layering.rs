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

mod ground;

use drapery_core::Topology;
use drapery_sim::{MeshBoxes, crossings};
use glam::{DVec3, Vec3};

use self::ground::{Foot, Ground, Surface};

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

/// A layer while it is put in order.
pub(crate) struct Placed {
    pub(crate) topology: Topology,
    /// [m]
    pub(crate) positions: Vec<Vec3>,
    /// [m]
    pub(crate) thickness: f32,
}

/// Lifts layers, given from the skin outwards, until none passes through
/// another, off a body at `body_at` [m].
pub(crate) fn put_in_order(layers: &mut [Placed], body: &Topology, body_at: &[Vec3]) -> Layering {
    let ground = Ground::new(body, body_at);
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
    let below: Vec<Below<'_>> = inner.iter().map(|l| Below::new(l, ground)).collect();
    let mut feet = ground.feet(&outer.positions);
    let mut lifted = vec![0.0f32; outer.positions.len()];
    for round in 0..MAX_ROUNDS {
        let mut lifts = vec![0.0f32; outer.positions.len()];
        if round < HEIGHT_ROUNDS {
            for below in &below {
                below.lift_by_heights(outer, &feet, ground, &mut lifts);
            }
        }
        let found = below.iter().map(|b| b.lift_by_crossings(outer, &mut lifts));
        let n_crossed: usize = found.sum();
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

/// A layer that another is lifted off.
struct Below<'a> {
    layer: &'a Placed,
    feet: Vec<Foot>,
    surface: Surface<'a>,
    boxes: MeshBoxes,
    x: Vec<DVec3>,
}

impl<'a> Below<'a> {
    fn new(layer: &'a Placed, ground: &Ground<'_>) -> Self {
        let (boxes, x) = layer.boxes();
        Self {
            layer,
            feet: ground.feet(&layer.positions),
            surface: Surface::new(&layer.topology, &layer.positions),
            boxes,
            x,
        }
    }

    /// What is left between this layer and the one above [m].
    fn gap(&self, outer: &Placed) -> f32 {
        0.5 * (self.layer.thickness + outer.thickness) + ROOM
    }

    /// Raises `lifts` [m] to what is missing in height.
    fn lift_by_heights(
        &self,
        outer: &Placed,
        feet: &[Foot],
        ground: &Ground<'_>,
        lifts: &mut [f32],
    ) {
        let gap = self.gap(outer);
        for (foot, lift) in feet.iter().zip(&mut *lifts) {
            let limit = ground.limit(foot, foot.height + REACH);
            let found = self.surface.passes(foot, limit, &self.layer.positions);
            let highest = found.map(|(_, height)| height).fold(0.0, f32::max);
            if highest > 0.0 {
                *lift = lift.max(highest + gap - foot.height);
            }
        }
        let above = Surface::new(&outer.topology, &outer.positions);
        for foot in &self.feet {
            let limit = ground.limit(foot, foot.height + gap);
            for (triangle, height) in above.passes(foot, limit, &outer.positions) {
                for v in outer.topology.triangles()[triangle as usize] {
                    let lift = &mut lifts[v as usize];
                    *lift = lift.max(foot.height + gap - height);
                }
            }
        }
    }

    /// Raises `lifts` [m] where edges pass through faces; gives how often.
    fn lift_by_crossings(&self, outer: &Placed, lifts: &mut [f32]) -> usize {
        let gap = self.gap(outer);
        let (own, x) = outer.boxes();
        let found = crossings(&self.boxes, &self.x, &own, &x);
        let edges = found.other_edge_faces.iter().map(|[e, _]| *e as usize);
        let edges = edges.flat_map(|e| own.edges()[e]);
        let faces = found.edge_faces.iter().map(|[_, t]| *t as usize);
        let faces = faces.flat_map(|t| own.triangles()[t]);
        for v in edges.chain(faces) {
            lifts[v as usize] = lifts[v as usize].max(gap);
        }
        found.len()
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
