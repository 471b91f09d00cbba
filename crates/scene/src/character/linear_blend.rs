//! [`Character`]: the linear-blend-skinned body behind every reader.

use drapery_core::{
    BodyModel, MeshError, Pose, PoseError, PoseVelocity, PosedBody, ShapeError, ShapeParameter,
    ShapedBody, Skeleton, SkinWeights, Topology, TriMesh, skin_positions,
};
use glam::{Mat3, Quat, Vec3};

/// Where the vertices of the file went when copies along texture seams were
/// welded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeldMap {
    welded_from_source: Vec<u32>,
    n_welded: u32,
}

impl WeldMap {
    /// A map that welds nothing.
    pub fn identity(n_vertices: u32) -> Self {
        Self {
            welded_from_source: (0..n_vertices).collect(),
            n_welded: n_vertices,
        }
    }

    /// The welded vertex of each vertex of the file; the welded ones are
    /// numbered from 0 without gaps.
    ///
    /// # Panics
    /// When a number below the largest is not used.
    pub fn new(welded_from_source: Vec<u32>) -> Self {
        let n_welded = welded_from_source.iter().max().map_or(0, |m| m + 1);
        let mut used = vec![false; n_welded as usize];
        for &w in &welded_from_source {
            used[w as usize] = true;
        }
        assert!(
            used.iter().all(|&u| u),
            "welded vertices are numbered without gaps"
        );
        Self {
            welded_from_source,
            n_welded,
        }
    }

    /// The welded vertex of each vertex of the file, shape [source vertex].
    pub fn welded_from_source(&self) -> &[u32] {
        &self.welded_from_source
    }

    /// How many vertices are left after welding.
    pub const fn n_welded(&self) -> usize {
        self.n_welded as usize
    }

    /// Copies values of welded vertices to the vertices of the file, in the
    /// file's order.
    pub fn to_source<T: Copy>(&self, welded: &[T]) -> Vec<T> {
        self.welded_from_source
            .iter()
            .map(|&w| welded[w as usize])
            .collect()
    }
}

/// Pose blend shapes: how vertices move with joint rotations.
#[derive(Clone, Debug, PartialEq)]
pub struct PoseDirections {
    /// Displacements [m], shape [feature, vertex]; feature 9(j−1) + 3r + c
    /// belongs to entry (r, c) of the rotation matrix of joint j.
    pub directions: Vec<Vec<Vec3>>,
}

/// What a [`Character`] is made of.
#[derive(Clone, Debug)]
pub struct CharacterParts {
    /// What it is called.
    pub name: String,
    /// Rest vertices [m] and triangles, welded.
    pub template: TriMesh,
    /// Joints at rest.
    pub skeleton: Skeleton,
    /// Which joints the vertices follow.
    pub skin: SkinWeights,
    /// Names and ranges of the shape directions.
    pub shape_parameters: Vec<ShapeParameter>,
    /// Displacement per unit of each coefficient [m], shape [parameter][vertex].
    pub shape_directions: Vec<Vec<Vec3>>,
    /// Displacement of the joints [m], shape [parameter][joint].
    pub joint_directions: Vec<Vec<Vec3>>,
    /// Pose blend shapes, if there are any.
    pub pose_directions: Option<PoseDirections>,
    /// How the file's vertices were welded.
    pub weld: WeldMap,
}

/// Why parts don't make a [`Character`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CharacterError {
    /// The mesh is wrong.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// An array has another length than its companion.
    #[error("{what}: {found} entries, expected {expected}")]
    Length {
        /// Which array.
        what: &'static str,
        /// How many entries it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
    /// A vertex follows a joint that the skeleton does not have.
    #[error("vertex {vertex} follows joint {joint}, but there are only {n_joints}")]
    NoSuchJoint {
        /// The vertex's index.
        vertex: usize,
        /// The joint it follows.
        joint: u16,
        /// How many joints there are.
        n_joints: usize,
    },
    /// An array holds a number that is not finite.
    #[error("{what} {index} has a value that is not finite")]
    NotFinite {
        /// Which array.
        what: &'static str,
        /// Which of its rows.
        index: usize,
    },
}

/// A body skinned by linear blending, with an optional shape space.
#[derive(Clone, Debug)]
pub struct Character {
    parts: CharacterParts,
}

impl Character {
    /// A character of the given parts.
    ///
    /// # Errors
    /// When lengths don't match, a vertex follows a joint that is not there, or
    /// a displacement is not finite.
    pub fn new(parts: CharacterParts) -> Result<Self, CharacterError> {
        let n_vertices = parts.template.positions().len();
        let n_joints = parts.skeleton.len();
        let n_shape = parts.shape_parameters.len();
        let length = |what, found, expected| {
            if found == expected {
                Ok(())
            } else {
                Err(CharacterError::Length {
                    what,
                    found,
                    expected,
                })
            }
        };
        length("skinning weights", parts.skin.n_vertices(), n_vertices)?;
        let skin = &parts.skin;
        if let Some(at) = (skin.joints().iter()).position(|&j| usize::from(j) >= n_joints) {
            return Err(CharacterError::NoSuchJoint {
                vertex: at / skin.n_influences(),
                joint: skin.joints()[at],
                n_joints,
            });
        }
        length("welded vertices", parts.weld.n_welded(), n_vertices)?;
        length("shape directions", parts.shape_directions.len(), n_shape)?;
        length("joint directions", parts.joint_directions.len(), n_shape)?;
        let finite = |what, rows: &[Vec<Vec3>]| match rows
            .iter()
            .position(|row| row.iter().any(|d| !d.is_finite()))
        {
            Some(index) => Err(CharacterError::NotFinite { what, index }),
            None => Ok(()),
        };
        for row in &parts.shape_directions {
            length("vertices of a shape direction", row.len(), n_vertices)?;
        }
        for row in &parts.joint_directions {
            length("joints of a shape direction", row.len(), n_joints)?;
        }
        finite("shape direction", &parts.shape_directions)?;
        finite("joint direction", &parts.joint_directions)?;
        if let Some(pose) = &parts.pose_directions {
            length("pose directions", pose.directions.len(), 9 * (n_joints - 1))?;
            for row in &pose.directions {
                length("vertices of a pose direction", row.len(), n_vertices)?;
            }
            finite("pose direction", &pose.directions)?;
        }
        Ok(Self { parts })
    }

    /// What it is made of.
    pub const fn parts(&self) -> &CharacterParts {
        &self.parts
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.parts.name
    }

    /// The body of shape 0 at rest.
    pub const fn template(&self) -> &TriMesh {
        &self.parts.template
    }

    /// Displacement per unit of each shape coefficient [m], shape [parameter][vertex].
    pub fn shape_directions(&self) -> &[Vec<Vec3>] {
        &self.parts.shape_directions
    }

    /// Displacement of the joints [m], shape [parameter][joint].
    pub fn joint_directions(&self) -> &[Vec<Vec3>] {
        &self.parts.joint_directions
    }

    /// Whether vertices also move with joint rotations beside skinning.
    pub const fn has_pose_directions(&self) -> bool {
        self.parts.pose_directions.is_some()
    }

    /// How the file's vertices were welded.
    pub const fn weld(&self) -> &WeldMap {
        &self.parts.weld
    }
}

impl BodyModel for Character {
    fn topology(&self) -> &Topology {
        self.parts.template.topology()
    }

    fn skeleton(&self) -> &Skeleton {
        &self.parts.skeleton
    }

    fn shape_parameters(&self) -> &[ShapeParameter] {
        &self.parts.shape_parameters
    }

    fn skin_weights(&self) -> &SkinWeights {
        &self.parts.skin
    }

    fn shaped(&self, shape: &[f32]) -> Result<ShapedBody, ShapeError> {
        let expected = self.parts.shape_parameters.len();
        if shape.len() != expected {
            return Err(ShapeError::Length {
                found: shape.len(),
                expected,
            });
        }
        if let Some(index) = shape.iter().position(|c| !c.is_finite()) {
            return Err(ShapeError::NotFinite { index });
        }
        let mut rest = self.parts.template.positions().to_vec();
        let mut joints = self.parts.skeleton.rest().to_vec();
        for (k, &coefficient) in shape.iter().enumerate() {
            if coefficient == 0.0 {
                continue;
            }
            for (x, d) in rest.iter_mut().zip(&self.parts.shape_directions[k]) {
                *x += *d * coefficient;
            }
            for (x, d) in joints.iter_mut().zip(&self.parts.joint_directions[k]) {
                *x += *d * coefficient;
            }
        }
        Ok(ShapedBody {
            shape: shape.to_vec(),
            rest,
            joints,
        })
    }

    fn pose(
        &self,
        body: &ShapedBody,
        pose: &Pose,
        velocity: &PoseVelocity,
        out: &mut PosedBody,
    ) -> Result<(), PoseError> {
        let expected = self.parts.skeleton.len();
        for found in [pose.rotations.len(), velocity.angular.len()] {
            if found != expected {
                return Err(PoseError::Joints { found, expected });
            }
        }
        let n_vertices = self.parts.template.positions().len();
        for (what, found, expected) in [
            ("rest vertices", body.rest.len(), n_vertices),
            ("rest joints", body.joints.len(), expected),
            ("posed vertices", out.vertices.len(), n_vertices),
            ("joint rotations", out.joint_rotations.len(), expected),
            ("joint positions", out.joint_positions.len(), expected),
            ("joint velocities", out.joint_velocities.len(), expected),
            ("joint transforms", out.world_from_rest.len(), expected),
        ] {
            if found != expected {
                return Err(PoseError::Size {
                    what,
                    found,
                    expected,
                });
            }
        }
        let finite = pose.root.is_finite()
            && pose.rotations.iter().all(|q| q.is_finite())
            && velocity.root.is_finite()
            && velocity.angular.iter().all(|w| w.is_finite());
        if !finite {
            return Err(PoseError::NotFinite);
        }
        let is_unit = |q: &Quat| (q.length() - 1.0).abs() <= Pose::UNIT_TOLERANCE;
        if let Some(joint) = pose.rotations.iter().position(|q| !is_unit(q)) {
            return Err(PoseError::NotUnit { joint });
        }
        out.pose_joints(&self.parts.skeleton, &body.joints, pose, velocity);
        out.rest_posed.clear();
        let rest = match &self.parts.pose_directions {
            None => &body.rest,
            Some(directions) => {
                out.rest_posed.extend_from_slice(&body.rest);
                correct(directions, pose, &mut out.rest_posed);
                &out.rest_posed
            }
        };
        skin_positions(
            &self.parts.skin,
            &out.world_from_rest,
            rest,
            &mut out.vertices,
        );
        Ok(())
    }
}

/// Adds P f(θ) to the rest vertices.
fn correct(directions: &PoseDirections, pose: &Pose, rest: &mut [Vec3]) {
    for (joint, rotation) in pose.rotations.iter().enumerate().skip(1) {
        let offset = Mat3::from_quat(*rotation) - Mat3::IDENTITY;
        for entry in 0..9 {
            let feature = offset.row(entry / 3)[entry % 3];
            if feature == 0.0 {
                continue;
            }
            let direction = &directions.directions[9 * (joint - 1) + entry];
            for (x, d) in rest.iter_mut().zip(direction) {
                *x += *d * feature;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use drapery_core::JointId;

    use super::*;

    fn two_bones(pose_directions: Option<PoseDirections>) -> Character {
        Character::new(parts(pose_directions)).unwrap()
    }

    fn parts(pose_directions: Option<PoseDirections>) -> CharacterParts {
        let template = TriMesh::new(
            vec![Vec3::ZERO, Vec3::Y, Vec3::new(0.0, 2.0, 0.0)],
            vec![[0, 1, 2]],
        )
        .unwrap();
        let skeleton = Skeleton::new(
            vec!["root".into(), "tip".into()],
            vec![None, Some(JointId(0))],
            vec![Vec3::ZERO, Vec3::Y],
        )
        .unwrap();
        let skin =
            SkinWeights::new(4, 2, &[vec![(0, 1.0)], vec![(0, 1.0)], vec![(1, 1.0)]]).unwrap();
        CharacterParts {
            name: "two bones".into(),
            template,
            skeleton,
            skin,
            shape_parameters: vec![ShapeParameter {
                name: "length".into(),
                min: -1.0,
                max: 1.0,
            }],
            shape_directions: vec![vec![Vec3::ZERO, Vec3::Y * 0.5, Vec3::Y]],
            joint_directions: vec![vec![Vec3::ZERO, Vec3::Y * 0.5]],
            pose_directions,
            weld: WeldMap::identity(3),
        }
    }

    #[test]
    fn shape_moves_joints_and_the_pose_turns_about_them() {
        let character = two_bones(None);
        let body = character.shaped(&[1.0]).unwrap();
        let mut out = character.room();
        let mut pose = character.skeleton().rest_pose();
        pose.rotations[1] = Quat::from_rotation_z(-std::f32::consts::FRAC_PI_2);
        character
            .pose(&body, &pose, &PoseVelocity::zero(2), &mut out)
            .unwrap();
        // The tip joint rests at 1.5, its vertex at 3: turned right, it lies 1.5 to the side.
        assert!(
            out.vertices[2].abs_diff_eq(Vec3::new(1.5, 1.5, 0.0), 1e-6),
            "{}",
            out.vertices[2]
        );
    }

    #[test]
    fn pose_directions_follow_the_entries_of_the_rotation_matrix() {
        let mut directions = vec![vec![Vec3::ZERO; 3]; 9];
        // Entry (1, 0) of the rotation matrix is sin(angle) for a turn about z.
        directions[3][0] = Vec3::new(0.0, 0.0, 2.0);
        let character = two_bones(Some(PoseDirections { directions }));
        let body = character.shaped(&[0.0]).unwrap();
        let mut out = character.room();
        let mut pose = character.skeleton().rest_pose();
        pose.rotations[1] = Quat::from_rotation_z(0.5);
        character
            .pose(&body, &pose, &PoseVelocity::zero(2), &mut out)
            .unwrap();
        assert!(out.vertices[0].abs_diff_eq(Vec3::new(0.0, 0.0, 2.0 * 0.5f32.sin()), 1e-6));
    }

    /// Regression: such a character was made, and posing it panicked.
    #[test]
    fn a_vertex_that_follows_no_joint_of_the_skeleton_is_named() {
        let mut parts = parts(None);
        let rows = [vec![(0, 1.0)], vec![(1, 0.5), (4, 0.5)], vec![(1, 1.0)]];
        parts.skin = SkinWeights::new(4, 5, &rows).unwrap();
        assert_eq!(
            Character::new(parts).unwrap_err(),
            CharacterError::NoSuchJoint {
                vertex: 1,
                joint: 4,
                n_joints: 2
            }
        );
    }

    /// Regression: NaN came out of some of these with `Ok`, others panicked.
    #[test]
    fn what_can_not_be_posed_is_an_error_and_leaves_the_room_alone() {
        type Damage = fn(&mut Pose, &mut PoseVelocity, &mut ShapedBody);
        let not_unit = PoseError::NotUnit { joint: 1 };
        let size = |what, found, expected| PoseError::Size {
            what,
            found,
            expected,
        };
        let cases: [(Damage, PoseError); 9] = [
            (
                |p, _, _| p.rotations[1] = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0),
                not_unit.clone(),
            ),
            (|p, _, _| p.rotations[1] *= 1.002, not_unit.clone()),
            // Finite, but its length is not.
            (
                |p, _, _| p.rotations[1] = Quat::from_xyzw(0.0, 3e38, 0.0, 3e38),
                not_unit,
            ),
            (|p, _, _| p.rotations[0].x = f32::NAN, PoseError::NotFinite),
            (|p, _, _| p.root.y = f32::INFINITY, PoseError::NotFinite),
            (|_, v, _| v.root.z = f32::NAN, PoseError::NotFinite),
            (
                |_, v, _| v.angular[1].x = f32::NEG_INFINITY,
                PoseError::NotFinite,
            ),
            (|_, _, b| b.rest.truncate(2), size("rest vertices", 2, 3)),
            (
                |_, _, b| b.joints.push(Vec3::ZERO),
                size("rest joints", 3, 2),
            ),
        ];
        let character = two_bones(None);
        let untouched = character.room();
        for (damage, expected) in cases {
            let mut pose = character.skeleton().rest_pose();
            let mut velocity = PoseVelocity::zero(2);
            let mut body = character.shaped(&[0.0]).unwrap();
            damage(&mut pose, &mut velocity, &mut body);
            let mut out = character.room();
            assert_eq!(
                character.pose(&body, &pose, &velocity, &mut out),
                Err(expected)
            );
            assert_eq!(out, untouched);
        }
        let body = character.shaped(&[0.0]).unwrap();
        let mut pose = character.skeleton().rest_pose();
        let velocity = PoseVelocity::zero(2);
        for (n_joints, n_vertices, what) in [(2, 4, "posed vertices"), (1, 3, "joint rotations")] {
            let mut out = PosedBody::with_room(n_joints, n_vertices);
            assert!(matches!(
                character.pose(&body, &pose, &velocity, &mut out),
                Err(PoseError::Size { what: w, .. }) if w == what
            ));
        }
        // Rounding is no reason to refuse.
        pose.rotations[1] *= 1.0005;
        let mut out = character.room();
        assert_eq!(character.pose(&body, &pose, &velocity, &mut out), Ok(()));
    }

    /// Regression: every frame allocated its pose, its velocity and, with pose
    /// directions, a whole body.
    #[test]
    fn a_second_frame_is_posed_into_the_room_of_the_first() {
        let mut directions = vec![vec![Vec3::ZERO; 3]; 9];
        directions[3][0] = Vec3::new(0.0, 0.0, 2.0);
        let character = two_bones(Some(PoseDirections { directions }));
        let body = character.shaped(&[0.0]).unwrap();
        let mut out = character.room();
        let mut posed = |angle: f32| {
            let mut pose = character.skeleton().rest_pose();
            pose.rotations[1] = Quat::from_rotation_z(angle);
            let velocity = PoseVelocity::zero(2);
            character.pose(&body, &pose, &velocity, &mut out).unwrap();
            let corrected = body.rest[0] + Vec3::Z * 2.0 * angle.sin();
            assert!(out.rest_posed[0].abs_diff_eq(corrected, 1e-6));
            assert_eq!(out.rest_posed[1..], body.rest[1..]);
            (
                out.rest_posed.as_ptr(),
                out.vertices.as_ptr(),
                out.pose.rotations.as_ptr(),
                out.velocity.angular.as_ptr(),
            )
        };
        let first = posed(0.5);
        assert_eq!(posed(-0.2), first);
        assert_eq!(posed(0.0), first);
        // A model without corrections leaves none behind.
        let plain = two_bones(None);
        let pose = plain.skeleton().rest_pose();
        plain
            .pose(&body, &pose, &PoseVelocity::zero(2), &mut out)
            .unwrap();
        assert_eq!(out.rest_posed, []);
    }

    #[test]
    fn a_wrong_number_of_coefficients_is_an_error() {
        let character = two_bones(None);
        assert_eq!(
            character.shaped(&[]),
            Err(ShapeError::Length {
                found: 0,
                expected: 1
            })
        );
    }
}
