//! How deep a cloth is inside an obstacle: the figure that is reported.
//!
//! Vertices alone do not tell. An edge of length h over a round body of radius
//! r dips below its ends by h²/8r, so middles of edges and centres of faces are
//! asked as well.

use glam::DVec3;

use super::candidates::MeshBoxes;
use super::obstacle::Obstacle;

/// A point of a cloth at which penetration is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClothPoint {
    /// A vertex.
    Vertex(u32),
    /// The middle of an edge.
    EdgeMiddle(u32),
    /// The centre of a face.
    FaceCentre(u32),
}

/// How deep a cloth is inside an obstacle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penetration {
    /// The greatest depth [m]; 0 when nothing is inside.
    pub worst: f64,
    /// Where that is.
    pub place: Option<ClothPoint>,
    /// How many points are deeper than the limit.
    pub n_inside: usize,
    /// How many points there are.
    pub n_points: usize,
}

/// All points of a cloth at which penetration is measured, with their places
/// [m]: vertices, then middles of edges, then centres of faces.
pub fn cloth_points<'a>(
    cloth: &'a MeshBoxes,
    positions: &'a [DVec3],
) -> impl Iterator<Item = (ClothPoint, DVec3)> + 'a {
    let at = |v: u32| positions[v as usize];
    let vertices = (0u32..)
        .zip(positions)
        .map(|(v, p)| (ClothPoint::Vertex(v), *p));
    let edges = (0u32..)
        .zip(cloth.edges())
        .map(move |(e, &[a, b])| (ClothPoint::EdgeMiddle(e), (at(a) + at(b)) / 2.0));
    let faces = (0u32..)
        .zip(cloth.triangles())
        .map(move |(t, &[a, b, c])| (ClothPoint::FaceCentre(t), (at(a) + at(b) + at(c)) / 3.0));
    vertices.chain(edges).chain(faces)
}

/// How deep a cloth at `positions` [m] is inside an obstacle at the end of its
/// step; points deeper than `limit` [m] are counted.
pub fn penetration(
    obstacle: &Obstacle,
    cloth: &MeshBoxes,
    positions: &[DVec3],
    limit: f64,
) -> Penetration {
    let mut result = Penetration {
        worst: 0.0,
        place: None,
        n_inside: 0,
        n_points: 0,
    };
    for (place, p) in cloth_points(cloth, positions) {
        let depth = obstacle
            .nearest(p, f64::INFINITY)
            .map_or(0.0, |s| -s.distance);
        result.n_points += 1;
        result.n_inside += usize::from(depth > limit);
        if depth > result.worst {
            (result.worst, result.place) = (depth, Some(place));
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::super::obstacle::{Placement, RigidObstacle};
    use super::super::obstacle_mesh::MeshObstacle;
    use super::super::shape::Shape;
    use super::super::test_meshes::{sheet, sphere};
    use super::*;

    /// A sheet bent around a cylinder along z, its vertices `offset` [m] above.
    fn wrapped(radius: f64, offset: f64) -> (MeshBoxes, Vec<DVec3>) {
        let (topology, flat) = sheet(21);
        let positions: Vec<DVec3> = flat
            .iter()
            .map(|p| {
                let (s, c) = (p.x / radius).sin_cos();
                DVec3::new(s * (radius + offset), c * (radius + offset), p.z)
            })
            .collect();
        (MeshBoxes::new(&topology, &positions), positions)
    }

    #[test]
    fn edges_over_a_round_body_dip_by_their_sagitta() {
        let radius = 0.4;
        let shape = Shape::Cylinder {
            radius,
            length: 4.0,
        };
        let along_z = Placement {
            rotation: glam::DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2),
            translation: DVec3::ZERO,
        };
        let cylinder = Obstacle::Rigid(RigidObstacle::new(shape, along_z).unwrap());
        // The chord of an arc of 5 cm.
        let dip = radius * (1.0 - (0.025 / radius).cos());
        assert!((dip - 0.05 * 0.05 / (8.0 * radius)).abs() < 1e-6);
        let (cloth, positions) = wrapped(radius, 0.0);
        let found = penetration(&cylinder, &cloth, &positions, dip / 2.0);
        assert!((found.worst - dip).abs() < 1e-12, "{found:?}");
        assert!(matches!(found.place, Some(ClothPoint::EdgeMiddle(_))));
        assert_eq!(found.n_points, 441 + 20 * 21 * 2 + 400 + 800);
        // Middles of the edges across and of the diagonals dip by the sagitta,
        // centres of faces by 8/9 of it.
        assert_eq!(found.n_inside, 20 * 21 + 400 + 800);
        let (cloth, positions) = wrapped(radius, 1.1 * dip);
        let found = penetration(&cylinder, &cloth, &positions, 0.0);
        assert_eq!((found.worst, found.place, found.n_inside), (0.0, None, 0));
    }

    #[test]
    fn a_mesh_is_penetrated_as_its_shape_is() {
        let (topology, positions) = sphere(0.2, 32);
        let ball = Obstacle::from(MeshObstacle::new(&topology, positions).unwrap());
        let (topology, mut positions) = sheet(11);
        for p in &mut positions {
            p.y = 0.15;
        }
        let cloth = MeshBoxes::new(&topology, &positions);
        let found = penetration(&ball, &cloth, &positions, 0.0);
        // The middle vertex is 5 cm below the pole.
        assert_eq!(found.place, Some(ClothPoint::Vertex(60)));
        assert!((found.worst - 0.05).abs() < 1e-3, "{found:?}");
        // Within √(0.2² − 0.15²) = 13 cm of the middle: 5 vertices a grid of 10 cm.
        let vertices = cloth_points(&cloth, &positions).take(121);
        let n_inside = vertices
            .filter(|(_, p)| ball.nearest(*p, 1.0).unwrap().distance < 0.0)
            .count();
        assert_eq!(n_inside, 5);
    }
}
