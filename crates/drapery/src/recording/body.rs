//! Characters into datasets and back.

use drapery_core::BodyModel;
use drapery_scene::character::{
    Character, CharacterError, CharacterParts, PoseDirections, WeldMap,
};
use drapery_store::dataset::StoredBody;

/// A character as a dataset keeps it.
pub fn stored_body(character: &Character) -> StoredBody {
    let parts = character.parts();
    StoredBody {
        name: parts.name.clone(),
        template: parts.template.clone(),
        skeleton: character.skeleton().clone(),
        skin: parts.skin.clone(),
        shape_parameters: parts.shape_parameters.clone(),
        shape_directions: parts.shape_directions.clone(),
        joint_directions: parts.joint_directions.clone(),
        pose_directions: (parts.pose_directions.as_ref())
            .map_or_else(Vec::new, |pose| pose.directions.clone()),
        welded_from_source: parts.weld.welded_from_source().to_vec(),
    }
}

/// The character of a dataset, as it was to the bit.
///
/// # Errors
/// When its parts don't go together.
pub fn stored_character(body: &StoredBody) -> Result<Character, CharacterError> {
    let n_vertices = body.template.positions().len();
    // Every vertex comes from one of the file, and none from beyond.
    let mut used = vec![false; n_vertices];
    for vertex in &body.welded_from_source {
        if let Some(used) = used.get_mut(*vertex as usize) {
            *used = true;
        }
    }
    let found = used.iter().filter(|used| **used).count();
    let beyond = body
        .welded_from_source
        .iter()
        .any(|v| *v as usize >= n_vertices);
    if found != n_vertices || beyond {
        return Err(CharacterError::Length {
            what: "welded vertices",
            found,
            expected: n_vertices,
        });
    }
    let has_pose = !body.pose_directions.is_empty();
    Character::new(CharacterParts {
        name: body.name.clone(),
        template: body.template.clone(),
        skeleton: body.skeleton.clone(),
        skin: body.skin.clone(),
        shape_parameters: body.shape_parameters.clone(),
        shape_directions: body.shape_directions.clone(),
        joint_directions: body.joint_directions.clone(),
        pose_directions: has_pose.then(|| PoseDirections {
            directions: body.pose_directions.clone(),
        }),
        weld: WeldMap::new(body.welded_from_source.clone()),
    })
}
