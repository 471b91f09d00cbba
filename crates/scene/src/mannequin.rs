//! The mannequin: a person made by code.
//!
//! Its proportions come from [published measurements](CHEST), its joints are
//! SMPL's by name and tree, and each has [a range](limit) that it turns in.
//! The skin is the surface of a field of swept sections, meshed once; shapes
//! move its vertices and joints.

mod anthropometry;
mod figure;
mod growth;
mod head;
mod limits;
mod nets;
mod remesh;
mod sections;
mod shapes;
mod skeleton;
mod surface;
mod sweep;
mod tape;
mod weights;

#[cfg(test)]
mod shared_tests;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use drapery_core::TriMesh;

use crate::character::{Character, CharacterParts, WeldMap};

pub use anthropometry::{CHEST, HIPS, Measurement, SHOULDERS, STATURE, WAIST, WEIGHT};
pub use limits::{JointAngles, JointLimit, excess, is_within, limit};
pub use shapes::{DENSITY, GIRTH_HEIGHTS, SHAPES};
pub use skeleton::{N_JOINTS, mirrored, skeleton};
pub use tape::girth;

/// The mannequin; made on the first call.
pub fn character() -> Character {
    static MADE: OnceLock<Character> = OnceLock::new();
    MADE.get_or_init(make).clone()
}

fn make() -> Character {
    let figure = figure::Figure::new();
    let skin = surface::Skin::of(&figure);
    let template = TriMesh::new(skin.positions.clone(), skin.triangles.clone())
        .expect("the skin's triangles name its vertices");
    let skeleton = skeleton();
    let shares = weights::shares(&figure, &skin, template.topology(), &skeleton);
    let weights = weights::four_largest(&shares);
    let parts = growth::Parts::new(&skin, &skeleton, &shares);
    let shapes = shapes::Shapes::of(&skin, &parts);
    let n_vertices = skin.positions.len() as u32;
    Character::new(CharacterParts {
        name: "mannequin".to_string(),
        template,
        skeleton: skeleton.clone(),
        skin: weights,
        shape_parameters: shapes.parameters,
        shape_directions: shapes.vertices,
        joint_directions: shapes.joints,
        pose_directions: None,
        weld: WeldMap::identity(n_vertices),
    })
    .expect("the mannequin's arrays match")
}
