//! Animations of a glTF file: keys and values, checked against each other.

use glam::{Quat, Vec3};

use super::accessor::Accessors;
use super::document::{
    ChannelValues, GltfAnimation, GltfChannel, GltfMesh, GltfNode, Interpolation,
};
use super::error::{Element, GltfError, Place};
use super::json;

/// An animation; channels without a node belong to extensions and are passed over.
pub(super) fn animation(
    accessors: &Accessors<'_>,
    nodes: &[GltfNode],
    meshes: &[GltfMesh],
    index: u32,
    stated: json::Animation,
) -> Result<GltfAnimation, GltfError> {
    let mut channels = Vec::with_capacity(stated.channels.len());
    for (channel, target) in stated.channels.iter().enumerate() {
        let place = Place::Channel {
            animation: index,
            channel: channel as u32,
        };
        let Some(node) = target.target.node else {
            continue;
        };
        let moved = nodes.get(node as usize).ok_or(GltfError::NoSuch {
            place,
            element: Element::Node,
            index: node,
            count: nodes.len(),
        })?;
        let sampler = stated
            .samplers
            .get(target.sampler as usize)
            .ok_or(GltfError::NoSuch {
                place,
                element: Element::Sampler,
                index: target.sampler,
                count: stated.samplers.len(),
            })?;
        let n_targets = moved.mesh.map_or(0, |mesh| meshes[mesh as usize].n_targets);
        channels.push(read_channel(
            accessors,
            place,
            node,
            &target.target.path,
            sampler,
            n_targets,
        )?);
    }
    Ok(GltfAnimation {
        name: stated.name,
        channels,
    })
}

fn read_channel(
    accessors: &Accessors<'_>,
    place: Place,
    node: u32,
    path: &str,
    sampler: &json::Sampler,
    n_targets: u32,
) -> Result<GltfChannel, GltfError> {
    let interpolation = match sampler.interpolation.as_deref() {
        None | Some("LINEAR") => Interpolation::Linear,
        Some("STEP") => Interpolation::Step,
        Some("CUBICSPLINE") => Interpolation::CubicSpline,
        Some(found) => {
            return Err(GltfError::ChannelKind {
                place,
                found: found.to_owned(),
            });
        }
    };
    let times = accessors.scalars(place, sampler.input)?;
    let mut before = None;
    for (key, &time) in times.iter().enumerate() {
        if time < 0.0 || before.is_some_and(|b| time <= b) {
            return Err(GltfError::KeyTime { place, key });
        }
        before = Some(time);
    }

    let values_a_key = if interpolation == Interpolation::CubicSpline {
        3
    } else {
        1
    };
    let elements_a_value = if path == "weights" {
        u64::from(n_targets)
    } else {
        1
    };
    let expected = times.len() as u64 * values_a_key * elements_a_value;
    let found = accessors.count(place, sampler.output)?;
    if found != expected {
        return Err(GltfError::KeyValues {
            place,
            found,
            expected,
        });
    }
    let vectors = || -> Result<Vec<Vec3>, GltfError> {
        let rows = accessors.vectors3(place, sampler.output)?;
        Ok(rows.into_iter().map(Vec3::from).collect())
    };
    let values = match path {
        "translation" => ChannelValues::Translation(vectors()?),
        "scale" => ChannelValues::Scale(vectors()?),
        "rotation" => {
            let rows = accessors.vectors4(place, sampler.output)?;
            let values: Vec<Quat> = rows.into_iter().map(Quat::from_array).collect();
            let first = values_a_key as usize / 2;
            let mut keys = values.iter().skip(first).step_by(values_a_key as usize);
            if let Some(key) = keys.position(|q| q.length_squared() < 1e-12) {
                return Err(GltfError::KeyRotation { place, key });
            }
            ChannelValues::Rotation(values)
        }
        "weights" => ChannelValues::Weights(accessors.scalars(place, sampler.output)?),
        found => {
            return Err(GltfError::ChannelKind {
                place,
                found: found.to_owned(),
            });
        }
    };
    Ok(GltfChannel {
        node,
        interpolation,
        times,
        values,
    })
}
