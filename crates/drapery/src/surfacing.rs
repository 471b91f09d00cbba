//! [`Surfacing`]: cloth that is just beneath the skin, shown outside.
//!
//! The body that cloth meets gives way where it enters or nearly touches itself
//! ([`Flesh`]), and where cloth is squeezed there, single places of it are a millimetre or
//! three beneath the skin as it is seen; elsewhere a thumb may poke through a mesh that is
//! larger than it. What a frame shows is lifted to the skin at such places; the
//! simulation goes on from where it was. What lies in the mask of the wear meter has
//! no right place and is left alone.

use drapery_core::Topology;
use drapery_eval::{DeepPlace, PenetrationMeter};
#[cfg(doc)]
use drapery_sim::Flesh;
use drapery_sim::Yielding;
use glam::Vec3;

use crate::wear::self_contact;

/// What is deeper than this beneath the skin is lifted [m] ...
const LIMIT: f32 = 1e-4;
/// ... to so far above it [m], in at most so many rounds ...
const ABOVE: f32 = 2e-4;
const ROUNDS: u32 = 24;
/// ... and no farther than this [m]: what is deeper is not beside the skin.
const FARTHEST: f32 = 1e-2;
/// Below this part of the way a lift is not tried again.
const LEAST_PART: f32 = 0.1;
/// What is farther from all that was deep [m] is looked at once.
const AROUND: f32 = 0.05;

/// Lifts one garment off one body.
#[derive(Clone, Debug)]
pub(crate) struct Surfacing {
    meter: PenetrationMeter,
    groups: Groups,
}

impl Surfacing {
    /// For a body with its vertices at `skin` [m] and cloth at `positions` [m], in
    /// any pose.
    pub(crate) fn new(
        body: &Topology,
        skin: &[Vec3],
        cloth: &Topology,
        positions: &[Vec3],
    ) -> Self {
        Self {
            meter: PenetrationMeter::of_cloth(body, skin, cloth, positions),
            groups: Groups {
                triangles: cloth.triangles().to_vec(),
                n_vertices: positions.len(),
            },
        }
    }

    /// Lifts what is beneath a body at `skin` [m] that gives way as `felt`. Where a round
    /// makes it worse, places next to each other taken together, it is taken back and
    /// tried by halves: in a crease what leaves one side may enter the other.
    pub(crate) fn lift(&mut self, skin: &[Vec3], felt: &Yielding, cloth: &mut [Vec3]) {
        let contact = self_contact(felt);
        let body = (skin, &contact);
        let mut is_looked_at = vec![true; cloth.len()];
        let mut places = (self.meter).deep_places(body, (cloth, &is_looked_at), LIMIT);
        if places.is_empty() {
            return;
        }
        let before = cloth.to_vec();
        for (p, is_looked_at) in before.iter().zip(&mut is_looked_at) {
            let near = |place: &DeepPlace| {
                let at = before[place.corners[0] as usize];
                p.distance_squared(at) < AROUND * AROUND
            };
            *is_looked_at = places.iter().any(near);
        }
        let meter = &mut self.meter;
        let mut deep = |cloth: &[Vec3]| meter.deep_places(body, (cloth, &is_looked_at), LIMIT);
        let mut best = (badness(&places), before.clone());
        // What part of its way each vertex is lifted next.
        let mut parts = vec![1.0; cloth.len()];
        for _ in 0..ROUNDS {
            let tried = lift_by(cloth, &places, &parts, &before);
            if tried == *cloth {
                break;
            }
            let mut left = deep(&tried);
            let is_better = self.groups.is_better(&places, &left);
            let mut is_whole = true;
            for (v, (now, tried)) in cloth.iter_mut().zip(&tried).enumerate() {
                if now == tried {
                    continue;
                }
                if is_better[v] {
                    (*now, parts[v]) = (*tried, 1.0);
                } else {
                    parts[v] *= 0.5;
                    is_whole = false;
                }
            }
            if !is_whole {
                left = deep(cloth);
            }
            places = left;
            let now = badness(&places);
            if now < best.0 {
                best = (now, cloth.to_vec());
            }
        }
        cloth.copy_from_slice(&best.1);
    }
}

/// Which deep places are next to each other.
#[derive(Clone, Debug)]
struct Groups {
    triangles: Vec<[u32; 3]>,
    n_vertices: usize,
}

impl Groups {
    /// Of each vertex, whether the deep places next to it and to each other became less
    /// bad, taken together.
    fn is_better(&self, before: &[DeepPlace], after: &[DeepPlace]) -> Vec<bool> {
        let mut group: Vec<u32> = (0..self.n_vertices as u32).collect();
        let mut is_near = vec![false; self.n_vertices];
        for v in before.iter().chain(after).flat_map(|place| place.corners) {
            is_near[v as usize] = true;
        }
        for corners in &self.triangles {
            if corners.iter().any(|v| is_near[*v as usize]) {
                for v in &corners[1..] {
                    let (a, b) = (root(&mut group, corners[0]), root(&mut group, *v));
                    group[a as usize] = b;
                }
            }
        }
        let mut change = vec![0.0f32; self.n_vertices];
        for (places, sign) in [(before, -1.0), (after, 1.0)] {
            for place in places {
                let group = root(&mut group, place.corners[0]);
                change[group as usize] += sign * place.way.length_squared();
            }
        }
        let groups = 0..self.n_vertices as u32;
        groups
            .map(|v| change[root(&mut group, v) as usize] < 0.0)
            .collect()
    }
}

/// The vertex that stands for a group, with the way to it made shorter.
fn root(group: &mut [u32], v: u32) -> u32 {
    let mut v = v;
    while group[v as usize] != v {
        group[v as usize] = group[group[v as usize] as usize];
        v = group[v as usize];
    }
    v
}

/// How bad it is that places are deep: the sum of the squares of their depths [m²].
fn badness(places: &[DeepPlace]) -> f32 {
    places.iter().map(|place| place.way.length_squared()).sum()
}

/// Cloth that is moved by a part of the way that takes places of it out, no farther than
/// [`FARTHEST`] from where it was `before` [m].
fn lift_by(cloth: &[Vec3], places: &[DeepPlace], parts: &[f32], before: &[Vec3]) -> Vec<Vec3> {
    let mut lifts = vec![Vec3::ZERO; cloth.len()];
    for place in places {
        let own = place.corners.map(|v| parts[v as usize]);
        let part = own[0].min(own[1]).min(own[2]);
        if part < LEAST_PART {
            continue;
        }
        let lift = part * (place.way + ABOVE * place.way.normalize_or_zero());
        let sum_sq: f32 = place.weights.iter().map(|w| w * w).sum();
        // The least that takes the place itself there.
        for (v, weight) in place.corners.into_iter().zip(place.weights) {
            let share = lift * (weight / sum_sq);
            let so_far = &mut lifts[v as usize];
            if share.length_squared() > so_far.length_squared() {
                *so_far = share;
            }
        }
    }
    let all = cloth.iter().zip(lifts).zip(before);
    let lifted = all.map(|((p, lift), before)| match lift == Vec3::ZERO {
        true => *p,
        false => *before + (*p + lift - *before).clamp_length_max(FARTHEST),
    });
    lifted.collect()
}

#[cfg(test)]
mod tests {
    use drapery_core::TriMesh;
    use glam::DVec3;

    use super::*;

    /// A box of a metre below the floor of the world.
    fn body() -> TriMesh {
        let corner = |i: usize| {
            let [x, y, z] = [i & 1, i >> 1 & 1, i >> 2].map(|bit| bit as f32);
            Vec3::new(x - 0.5, y - 1.0, z - 0.5)
        };
        let sides = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        let triangles = sides
            .iter()
            .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
        TriMesh::new((0..8).map(corner).collect(), triangles.collect()).unwrap()
    }

    /// A square of cloth with meshes of a centimetre at a height [m].
    fn sheet(height: f32) -> TriMesh {
        const N: u32 = 61;
        let at = |i: u32| (i as f32 - 30.0) * 0.01;
        let places = (0..N * N).map(|v| Vec3::new(at(v % N), height, at(v / N)));
        let squares = (0..N * (N - 1)).filter(|v| v % N != N - 1);
        let halves = squares.flat_map(|v| [[v, v + N, v + 1], [v + 1, v + N, v + N + 1]]);
        TriMesh::new(places.collect(), halves.collect()).unwrap()
    }

    fn lifted(height: f32) -> (Vec<Vec3>, Vec<Vec3>) {
        let (body, cloth) = (body(), sheet(height));
        let skin = body.positions();
        let mut surfacing =
            Surfacing::new(body.topology(), skin, cloth.topology(), cloth.positions());
        let felt = Yielding {
            inside: vec![false; 8],
            rim: vec![DVec3::ZERO],
            ..Yielding::default()
        };
        let mut now = cloth.positions().to_vec();
        surfacing.lift(skin, &felt, &mut now);
        (cloth.positions().to_vec(), now)
    }

    #[test]
    fn cloth_beneath_the_skin_is_lifted_to_it_but_for_what_is_masked() {
        let (before, now) = lifted(-2e-3);
        for (before, now) in before.iter().zip(&now) {
            let away = before.with_y(0.0).length();
            if away < 5e-3 {
                assert_eq!(before, now, "{away} from the overlap");
            } else if away > 0.021 {
                assert!(now.y > -LIMIT && now.y < 1e-3, "{} at {away}", now.y);
                assert!(before.distance(*now) < 3e-3, "{away}");
            }
        }
    }

    #[test]
    fn cloth_in_a_slit_is_lifted_into_it_and_not_through() {
        // Two boxes that are 0.6 mm apart, the upper one smaller than the sheet.
        let lower = body();
        let mut positions = lower.positions().to_vec();
        let upper = (lower.positions().iter())
            .map(|p| Vec3::new(0.4 * p.x, -p.y + 6e-4, 0.4 * p.z))
            .collect::<Vec<_>>();
        positions.extend(upper);
        let mut triangles = lower.triangles().to_vec();
        triangles.extend(
            lower
                .triangles()
                .iter()
                .map(|&[a, b, c]| [a + 8, c + 8, b + 8]),
        );
        let both = TriMesh::new(positions, triangles).unwrap();
        let skin = both.positions();
        let cloth = sheet(-1.5e-3);
        let mut surfacing =
            Surfacing::new(both.topology(), skin, cloth.topology(), cloth.positions());
        let rim = DVec3::new(0.1, 0.0, 0.0);
        let felt = Yielding {
            inside: vec![false; 16],
            rim: vec![rim],
            ..Yielding::default()
        };
        let mut now = cloth.positions().to_vec();
        surfacing.lift(skin, &felt, &mut now);
        for p in &now {
            let away = p.with_y(0.0).distance(rim.as_vec3());
            if !(0.03..0.22).contains(&away) {
                continue;
            }
            let is_under = p.x.abs().max(p.z.abs()) < 0.2;
            let above = if is_under {
                p.y - 6e-4
            } else {
                f32::NEG_INFINITY
            };
            assert!((-p.y).max(above) < 1.1 * LIMIT, "{p}");
        }
    }

    #[test]
    fn what_gets_worse_in_one_place_is_not_weighed_against_another() {
        let (body, cloth) = (body(), sheet(0.0));
        let surfacing = Surfacing::new(
            body.topology(),
            body.positions(),
            cloth.topology(),
            cloth.positions(),
        );
        let at = |v: u32, depth: f32| DeepPlace {
            corners: [v; 3],
            weights: [1.0, 0.0, 0.0],
            way: Vec3::Y * depth,
        };
        let (here, there) = (10 * 61 + 10, 50 * 61 + 50);
        let before = [at(here, 2e-3), at(there, 1e-3)];
        let after = [at(here, 1e-3), at(there, 1.5e-3), at(there + 1, 1e-3)];
        let is_better = surfacing.groups.is_better(&before, &after);
        assert!(is_better[here as usize] && is_better[here as usize + 61]);
        assert!(!is_better[there as usize] && !is_better[there as usize + 1]);
        assert!(!is_better[30 * 61 + 30], "nothing was deep there");
    }

    #[test]
    fn cloth_on_the_skin_keeps_its_bits_and_what_is_deep_is_not_torn_out() {
        let (before, now) = lifted(-0.8 * LIMIT);
        assert_eq!(before, now);
        let (before, now) = lifted(-0.02);
        let farthest = before.iter().zip(&now).map(|(a, b)| a.distance(*b));
        let farthest = farthest.fold(0.0, f32::max);
        assert!(farthest <= FARTHEST * 1.001, "{farthest}");
    }
}
