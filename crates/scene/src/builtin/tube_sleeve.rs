//! The sleeve of the bending tube: a cylinder of cloth, open at both ends,
//! sewn from one rectangular panel, with its upper ring as pins.

use drapery_core::{Garment, Panel, Pattern, TriMesh, VertexGroup};
use glam::{Vec2, Vec3};

use super::tube;

/// Heights of the sleeve's two open ends [m].
const ENDS: [f32; 2] = [0.18, 0.88];
/// Distance between cloth and tube [m]: a sleeve, not a glove.
const EASE: f32 = 0.012;
/// Vertices around; coprime to the tube's, so that nothing lines up.
const N_AROUND: u32 = 25;
/// Rings along.
const N_RINGS: u32 = 46;

/// The sleeve.
pub(super) fn sleeve() -> Garment {
    let radius = tube::RADIUS + EASE;
    let mut positions = Vec::new();
    for ring in 0..N_RINGS {
        let height = ENDS[0] + (ENDS[1] - ENDS[0]) * ring as f32 / (N_RINGS - 1) as f32;
        for i in 0..N_AROUND {
            let angle = std::f32::consts::TAU * i as f32 / N_AROUND as f32;
            positions.push(Vec3::new(
                radius * angle.sin(),
                height,
                radius * angle.cos(),
            ));
        }
    }
    // The panel has one column more than the cylinder: both sides of the seam.
    let chord = 2.0 * radius * (std::f32::consts::PI / N_AROUND as f32).sin();
    let mut coordinates = Vec::new();
    for ring in 0..N_RINGS {
        let height = (ENDS[1] - ENDS[0]) * ring as f32 / (N_RINGS - 1) as f32;
        coordinates.extend((0..=N_AROUND).map(|i| Vec2::new(chord * i as f32, height)));
    }
    let at = |ring: u32, i: u32| ring * N_AROUND + i % N_AROUND;
    let flat = |ring: u32, i: u32| ring * (N_AROUND + 1) + i;
    let mut triangles = Vec::new();
    let mut pattern_triangles = Vec::new();
    for ring in 0..N_RINGS - 1 {
        for i in 0..N_AROUND {
            let quad = [(ring, i), (ring, i + 1), (ring + 1, i + 1), (ring + 1, i)];
            // Diagonals alternate, so that the cloth favours no direction.
            let halves = if (ring + i) % 2 == 0 {
                [[0, 1, 2], [0, 2, 3]]
            } else {
                [[0, 1, 3], [1, 2, 3]]
            };
            for half in halves {
                triangles.push(half.map(|c| at(quad[c].0, quad[c].1)));
                pattern_triangles.push(half.map(|c| flat(quad[c].0, quad[c].1)));
            }
        }
    }
    let panel = Panel {
        name: "sleeve".to_string(),
        triangles: (0..triangles.len() as u32).collect(),
    };
    let pins = VertexGroup {
        name: "pin-top".to_string(),
        vertices: (0..N_AROUND).map(|i| at(N_RINGS - 1, i)).collect(),
    };
    Garment::new(
        "sleeve".to_string(),
        TriMesh::new(positions, triangles).expect("the sleeve is a mesh"),
        Some(Pattern {
            coordinates,
            triangles: pattern_triangles,
        }),
        vec![panel],
        vec![pins],
    )
    .expect("the sleeve's arrays match")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_draped_sleeve_is_unstretched() {
        let sleeve = sleeve();
        for (t, corners) in sleeve.mesh().triangles().iter().enumerate() {
            let rest = sleeve.rest_lengths(t as u32);
            for side in 0..3 {
                let [a, b] = [corners[side], corners[(side + 1) % 3]]
                    .map(|v| sleeve.mesh().positions()[v as usize]);
                assert!((a.distance(b) - rest[side]).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn it_has_two_borders_and_is_otherwise_manifold() {
        let edges = sleeve().mesh().topology().edges();
        assert_eq!(
            edges.iter().filter(|e| e.is_border()).count() as u32,
            2 * N_AROUND
        );
        assert!(edges.iter().all(|e| e.is_border() || e.is_consistent()));
    }
}
