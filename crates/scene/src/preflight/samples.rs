//! A body and a garment made of formulas, sound until a test breaks them.

use drapery_core::{
    BodyModel, Garment, JointId, Panel, Pattern, ShapedBody, Skeleton, SkinWeights, TriMesh,
};
use glam::{Vec2, Vec3};

use crate::character::{Character, CharacterParts, WeldMap};

/// Columns around body and garment.
pub(super) const N_AROUND: u32 = 24;
/// Rows of the garment's vertices.
pub(super) const N_ROWS: u32 = 15;

const JOINTS: [(&str, Option<u16>, [f32; 3]); 7] = [
    ("Hips", None, [0.0, 0.3, 0.0]),
    ("Spine", Some(0), [0.0, 0.9, 0.0]),
    ("Head", Some(1), [0.0, 1.5, 0.0]),
    ("LeftFoot", Some(0), [0.1, 0.05, 0.0]),
    ("LeftToe", Some(3), [0.1, 0.02, 0.12]),
    ("RightFoot", Some(0), [-0.1, 0.05, 0.0]),
    ("RightToe", Some(5), [-0.1, 0.02, 0.12]),
];

/// The skin at a height and angle, grown by `gap`: wider than deep, with a
/// belly, narrower towards the top.
fn skin(y: f32, column: u32, gap: f32) -> Vec3 {
    let phi = core::f32::consts::TAU * column as f32 / N_AROUND as f32;
    let taper = 1.0 - 0.35 * y / 1.7;
    let depth = if phi.cos() > 0.0 { 0.19 } else { 0.11 };
    Vec3::new(
        (0.22 * taper + gap) * phi.sin(),
        y,
        (depth * taper + gap) * phi.cos(),
    )
}

/// A body's arrays, to be broken.
#[derive(Clone)]
pub(super) struct SampleBody {
    pub(super) positions: Vec<Vec3>,
    pub(super) triangles: Vec<[u32; 3]>,
    pub(super) weights: Vec<Vec<(u16, f32)>>,
    pub(super) names: Vec<String>,
    pub(super) parents: Vec<Option<JointId>>,
    pub(super) joints: Vec<Vec3>,
}

impl SampleBody {
    pub(super) fn sound() -> Self {
        let n_rings = 20;
        let mut positions = Vec::new();
        for ring in 0..=n_rings {
            let y = 1.7 * ring as f32 / n_rings as f32;
            positions.extend((0..N_AROUND).map(|k| skin(y, k, 0.0)));
        }
        let (bottom, top) = (positions.len() as u32, positions.len() as u32 + 1);
        positions.extend([Vec3::ZERO, Vec3::Y * 1.7]);
        let at = |ring: u32, k: u32| ring * N_AROUND + k % N_AROUND;
        let mut triangles = Vec::new();
        for k in 0..N_AROUND {
            for ring in 0..n_rings {
                triangles.push([at(ring, k), at(ring, k + 1), at(ring + 1, k + 1)]);
                triangles.push([at(ring, k), at(ring + 1, k + 1), at(ring + 1, k)]);
            }
            triangles.push([bottom, at(0, k + 1), at(0, k)]);
            triangles.push([top, at(n_rings, k), at(n_rings, k + 1)]);
        }
        let joint_at = |y: f32| match y {
            y if y < 0.6 => 0,
            y if y < 1.2 => 1,
            _ => 2,
        };
        Self {
            weights: positions
                .iter()
                .map(|p| vec![(joint_at(p.y), 1.0)])
                .collect(),
            positions,
            triangles,
            names: JOINTS.iter().map(|j| j.0.into()).collect(),
            parents: JOINTS.iter().map(|j| j.1.map(JointId)).collect(),
            joints: JOINTS.iter().map(|j| Vec3::from(j.2)).collect(),
        }
    }

    /// Moves everything, joints too.
    pub(super) fn moved(mut self, by: impl Fn(Vec3) -> Vec3) -> Self {
        for p in self.positions.iter_mut().chain(&mut self.joints) {
            *p = by(*p);
        }
        self
    }

    pub(super) fn build(self) -> Character {
        let n_vertices = self.positions.len();
        let n_joints = self.joints.len();
        Character::new(CharacterParts {
            name: "sample".into(),
            template: TriMesh::new(self.positions, self.triangles).unwrap(),
            skeleton: Skeleton::new(self.names, self.parents, self.joints).unwrap(),
            skin: SkinWeights::new(4, n_joints, &self.weights).unwrap(),
            shape_parameters: vec![],
            shape_directions: vec![],
            joint_directions: vec![],
            pose_directions: None,
            weld: WeldMap::identity(n_vertices as u32),
        })
        .unwrap()
    }
}

/// The sound body with its only shape.
pub(super) fn body() -> (Character, ShapedBody) {
    let character = SampleBody::sound().build();
    let shaped = character.shaped(&[]).unwrap();
    (character, shaped)
}

/// A garment's arrays, to be broken: a tube around the sample body with a
/// front and a back panel.
#[derive(Clone)]
pub(super) struct SampleGarment {
    pub(super) positions: Vec<Vec3>,
    pub(super) triangles: Vec<[u32; 3]>,
    pub(super) coordinates: Vec<Vec2>,
    pub(super) flat: Vec<[u32; 3]>,
    pub(super) panels: Vec<Panel>,
}

/// The vertex of a row and column.
pub(super) fn vertex(row: u32, column: u32) -> u32 {
    row * N_AROUND + column % N_AROUND
}

impl SampleGarment {
    pub(super) fn sound() -> Self {
        let height = |row: u32| 0.5 + 0.05 * row as f32;
        let positions: Vec<Vec3> = (0..N_ROWS)
            .flat_map(|row| (0..N_AROUND).map(move |k| skin(height(row), k, 0.012)))
            .collect();
        let mut garment = Self {
            positions,
            triangles: vec![],
            coordinates: vec![],
            flat: vec![],
            panels: vec![],
        };
        // Columns 0 and 24 are the middle of the front: it runs from -6 to 6.
        for (name, first) in [("front", N_AROUND - 6), ("back", 6)] {
            let base = garment.coordinates.len() as u32;
            for row in 0..N_ROWS {
                let at = |k: u32| garment.positions[vertex(row, k) as usize];
                let mut along = vec![0.0];
                for k in first..first + 12 {
                    along.push(along[along.len() - 1] + at(k).distance(at(k + 1)));
                }
                let shift = Vec2::new(-along[12] / 2.0 + base as f32 * 0.01, height(row));
                let coordinates = along.iter().map(|&u| Vec2::new(u, 0.0) + shift);
                garment.coordinates.extend(coordinates);
            }
            let start = garment.triangles.len() as u32;
            for row in 0..N_ROWS - 1 {
                for k in 0..12 {
                    let corners = [(0, 0), (0, 1), (1, 1), (1, 0)];
                    let mesh = corners.map(|(r, c)| vertex(row + r, first + k + c));
                    let flat = corners.map(|(r, c)| base + (row + r) * 13 + k + c);
                    for pick in [[0, 1, 2], [0, 2, 3]] {
                        garment.triangles.push(pick.map(|i| mesh[i]));
                        garment.flat.push(pick.map(|i| flat[i]));
                    }
                }
            }
            garment.panels.push(Panel {
                name: name.into(),
                triangles: (start..garment.triangles.len() as u32).collect(),
            });
        }
        garment
    }

    /// A new vertex.
    pub(super) fn add_vertex(&mut self, p: Vec3) -> u32 {
        self.positions.push(p);
        self.positions.len() as u32 - 1
    }

    /// A new triangle, with a fair flat one of its own.
    pub(super) fn add_triangle(&mut self, corners: [u32; 3]) {
        let [a, b, c] = corners.map(|v| self.positions[v as usize]);
        let (ab, ac) = (b - a, c - a);
        let along = ab.normalize();
        let x = ac.dot(along);
        let base = self.coordinates.len() as u32;
        self.coordinates.extend([
            Vec2::ZERO,
            Vec2::new(ab.length(), 0.0),
            Vec2::new(x, (ac - along * x).length()),
        ]);
        self.triangles.push(corners);
        self.flat.push([base, base + 1, base + 2]);
    }

    /// Reverses a triangle, in the mesh and in the pattern, as a modeller does.
    pub(super) fn flip(&mut self, triangle: usize) {
        self.triangles[triangle].swap(1, 2);
        self.flat[triangle].swap(1, 2);
    }

    pub(super) fn moved(mut self, by: impl Fn(Vec3) -> Vec3) -> Self {
        for p in &mut self.positions {
            *p = by(*p);
        }
        self
    }

    pub(super) fn build(self) -> Garment {
        Garment::new(
            "sample".into(),
            TriMesh::new(self.positions, self.triangles).unwrap(),
            Some(Pattern {
                coordinates: self.coordinates,
                triangles: self.flat,
            }),
            self.panels,
            vec![],
        )
        .unwrap()
    }
}
