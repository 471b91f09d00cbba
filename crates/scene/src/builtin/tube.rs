//! The bending tube: an upright closed cylinder with round ends and four
//! joints in a row.
//!
//! It stands on y = 0, 1 m tall and 5 cm in radius. Two shape parameters:
//! `length` (one unit = 10 cm) and `girth` (one unit = 1 cm of radius).

use drapery_core::{JointId, ShapeParameter, Skeleton, SkinWeights, TriMesh};
use glam::Vec3;

use crate::character::{Character, CharacterParts, WeldMap};

/// Height of the tube [m].
pub(super) const LENGTH: f32 = 1.0;
/// Radius of the tube [m].
pub(super) const RADIUS: f32 = 0.05;
/// Heights of the joints [m].
pub(super) const JOINTS: [(&str, f32); 4] = [
    ("base", 0.0),
    ("lower", 0.25),
    ("middle", 0.5),
    ("upper", 0.75),
];
/// Half the height over which weights pass from one joint to the next [m].
const BLEND: f32 = 0.08;
/// Vertices around the tube.
const N_AROUND: u32 = 24;
/// Rings along the straight part.
const N_STRAIGHT: u32 = 49;
/// Rings on each round end, the pole aside.
const N_ROUND: u32 = 6;

/// The tube's joints, which its clips share.
pub(super) fn skeleton() -> Skeleton {
    Skeleton::new(
        JOINTS.iter().map(|(name, _)| (*name).to_string()).collect(),
        (0..JOINTS.len())
            .map(|j| j.checked_sub(1).map(|p| JointId(p as u16)))
            .collect(),
        JOINTS
            .iter()
            .map(|(_, y)| Vec3::new(0.0, *y, 0.0))
            .collect(),
    )
    .expect("four joints in a row are a skeleton")
}

/// The tube.
pub(super) fn tube() -> Character {
    let template = mesh();
    let positions = template.positions();
    let weights: Vec<_> = positions.iter().map(|p| weights_at(p.y)).collect();
    let radial = |p: &Vec3| Vec3::new(p.x, 0.0, p.z) / RADIUS;
    let upwards = |y: f32| Vec3::new(0.0, 0.1 * y / LENGTH, 0.0);
    let shape_directions = vec![
        positions.iter().map(|p| upwards(p.y)).collect(),
        positions.iter().map(|p| radial(p) * 0.01).collect(),
    ];
    let joint_directions = vec![
        JOINTS.iter().map(|(_, y)| upwards(*y)).collect(),
        vec![Vec3::ZERO; JOINTS.len()],
    ];
    let parameter = |name: &str, min, max| ShapeParameter {
        name: name.to_string(),
        min,
        max,
    };
    let n_vertices = positions.len() as u32;
    Character::new(CharacterParts {
        name: "tube".to_string(),
        skin: SkinWeights::new(4, JOINTS.len(), &weights).expect("each ring has weights"),
        template,
        skeleton: skeleton(),
        shape_parameters: vec![
            parameter("length", -2.0, 2.0),
            parameter("girth", -2.0, 2.0),
        ],
        shape_directions,
        joint_directions,
        pose_directions: None,
        weld: WeldMap::identity(n_vertices),
    })
    .expect("the tube's arrays match")
}

/// Weights at a height: each joint takes over from the one below in a smooth
/// step around its own height.
fn weights_at(y: f32) -> Vec<(u16, f32)> {
    let mut above = 1.0;
    let mut weights = Vec::new();
    for joint in (0..JOINTS.len()).rev() {
        let share = match joint {
            0 => 1.0,
            _ => {
                let u = ((y - JOINTS[joint].1 + BLEND) / (2.0 * BLEND)).clamp(0.0, 1.0);
                u * u * (3.0 - 2.0 * u)
            }
        };
        weights.push((joint as u16, above * share));
        above *= 1.0 - share;
    }
    weights
}

/// Rings of vertices from the lower pole to the upper one.
fn mesh() -> TriMesh {
    let mut profile = Vec::new(); // (radius, height) of each ring
    let quarter = std::f32::consts::FRAC_PI_2;
    for i in 1..=N_ROUND {
        let angle = quarter * i as f32 / (N_ROUND + 1) as f32;
        profile.push((RADIUS * angle.sin(), RADIUS * (1.0 - angle.cos())));
    }
    for i in 0..N_STRAIGHT {
        let u = i as f32 / (N_STRAIGHT - 1) as f32;
        profile.push((RADIUS, RADIUS + u * (LENGTH - 2.0 * RADIUS)));
    }
    for i in (1..=N_ROUND).rev() {
        let angle = quarter * i as f32 / (N_ROUND + 1) as f32;
        profile.push((RADIUS * angle.sin(), LENGTH - RADIUS * (1.0 - angle.cos())));
    }

    let mut positions = vec![Vec3::ZERO];
    for (radius, height) in &profile {
        for i in 0..N_AROUND {
            let angle = std::f32::consts::TAU * i as f32 / N_AROUND as f32;
            positions.push(Vec3::new(
                radius * angle.sin(),
                *height,
                radius * angle.cos(),
            ));
        }
    }
    positions.push(Vec3::new(0.0, LENGTH, 0.0));

    let at = |ring: u32, i: u32| 1 + ring * N_AROUND + i % N_AROUND;
    let n_rings = profile.len() as u32;
    let top = positions.len() as u32 - 1;
    let mut triangles = Vec::new();
    for i in 0..N_AROUND {
        triangles.push([0, at(0, i + 1), at(0, i)]);
        for ring in 0..n_rings - 1 {
            let [a, b, c, d] = [
                at(ring, i),
                at(ring, i + 1),
                at(ring + 1, i + 1),
                at(ring + 1, i),
            ];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
        triangles.push([at(n_rings - 1, i), at(n_rings - 1, i + 1), top]);
    }
    TriMesh::new(positions, triangles).expect("the tube is a mesh")
}

#[cfg(test)]
mod tests {
    use drapery_core::BodyModel;

    use super::*;

    #[test]
    fn the_tube_is_closed_and_outward() {
        let tube = tube();
        assert!(tube.topology().is_closed());
        assert_eq!(tube.topology().euler_characteristic(), 2);
        let cylinder = std::f64::consts::PI * f64::from(RADIUS * RADIUS * (LENGTH - 2.0 * RADIUS));
        let sphere = 4.0 / 3.0 * std::f64::consts::PI * f64::from(RADIUS).powi(3);
        let volume = tube.template().signed_volume();
        assert!(
            (volume / (cylinder + sphere) - 1.0).abs() < 0.02,
            "{volume}"
        );
    }

    #[test]
    fn weights_pass_on_at_the_joints() {
        for (joint, (_, y)) in JOINTS.iter().enumerate().skip(1) {
            let weights = weights_at(*y);
            let of = |j: usize| weights.iter().find(|w| usize::from(w.0) == j).unwrap().1;
            assert!((of(joint) - 0.5).abs() < 1e-6);
            assert!((of(joint - 1) - 0.5).abs() < 1e-6);
        }
    }

    #[test]
    fn length_moves_the_joints_with_the_surface() {
        let body = tube().shaped(&[2.0, 0.0]).unwrap();
        let top = body.rest.iter().map(|p| p.y).fold(0.0, f32::max);
        assert!((top - 1.2).abs() < 1e-5);
        assert!((body.joints[2].y - 0.6).abs() < 1e-5);
    }
}
