//! A garment as a sum of shapes: [`GlbBlend`].
//!
//! ```text
//! shown(k) = M(k) (μ + Σᵢ wᵢ(k) bᵢ)
//!          = M(k) (μ + b₀ + Σᵢ vᵢ(k) rᵢ bᵢ),   b₀ = Σᵢ minₖ wᵢ(k) bᵢ,   vᵢ from 0 to 1
//! ```
//!
//! Each rᵢ bᵢ is a morph target, v its weights over time, M the motion of the node; b₀ is
//! the first target, whose weight is always 1. Weights are from 0 to 1 because Blender
//! holds those of a shape key within a range of its own. That is all that a linear model
//! makes, in the place of one target a frame: a dress of 761 vertices and 64 shapes takes
//! 1.2 MB and 288 bytes a frame.
//!
//! Normals of a sum are no sum of normals; targets have those of a small step along them:
//!
//! ```text
//! nᵢ = (n(μ + σᵢ bᵢ) − n(μ)) / σᵢ,   σᵢ the root mean square of wᵢ
//! ```

use drapery_core::{Topology, vertex_normals};
use glam::{Quat, Vec3};
use serde_json::{Map, Value, json};

use super::plan::{Plan, push};
use crate::moving::{SceneWriteError, check_length, check_look, check_vectors, is_unit, nothing};

/// A garment that is a mean and a sum of shapes, in a frame that moves.
#[derive(Clone, Copy, Debug)]
pub struct GlbBlend<'a> {
    /// What it is called.
    pub name: &'a str,
    /// Its triangles.
    pub topology: &'a Topology,
    /// The mean [m], shape [vertex].
    pub mean: &'a [Vec3],
    /// What is added to it [m], shape [shape][vertex]; at least one.
    pub shapes: &'a [Vec<Vec3>],
    /// How much of each, shape [frame][shape].
    pub weights: &'a [Vec<f32>],
    /// Where it is: rotation and translation [m], one a frame.
    pub places: &'a [(Quat, Vec3)],
    /// Linear colour, each part from 0 to 1.
    pub colour: [f32; 3],
}

impl GlbBlend<'_> {
    pub(super) fn check(&self) -> Result<(), SceneWriteError> {
        let (name, n_vertices) = (self.name, self.topology.n_vertices());
        check_look(name, self.topology, self.colour)?;
        check_vectors(name, 0, "vertices", self.mean, n_vertices)?;
        if self.shapes.is_empty() {
            return Err(nothing(name, "shapes"));
        }
        for shape in self.shapes {
            check_vectors(name, 0, "vertices of a shape", shape, n_vertices)?;
        }
        let n_places = self.places.len();
        check_length(name, 0, "places", n_places, self.weights.len())?;
        for (frame, (weights, place)) in self.weights.iter().zip(self.places).enumerate() {
            check_length(name, frame, "weights", weights.len(), self.shapes.len())?;
            check_vectors(name, frame, "places", &[place.1], 1)?;
            if weights.iter().any(|w| !w.is_finite()) {
                return Err(SceneWriteError::NotFinite {
                    name: name.to_owned(),
                    frame,
                    what: "weights",
                });
            }
            if !is_unit(&place.0) {
                return Err(SceneWriteError::Rotation {
                    name: name.to_owned(),
                    frame,
                    joint: 0,
                });
            }
        }
        Ok(())
    }
}

impl GlbBlend<'_> {
    /// The least weight of each shape, and how much more the largest is; 1 where they
    /// are the same.
    fn ranges(&self) -> Vec<(f32, f32)> {
        let range = |i: usize| {
            let own = self.weights.iter().map(|w| w[i]);
            let (low, high) = own.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), w| {
                (low.min(w), high.max(w))
            });
            (low, if high > low { high - low } else { 1.0 })
        };
        (0..self.shapes.len()).map(range).collect()
    }
}

impl<'a> Plan<'a> {
    /// A morph target.
    fn target(&mut self, positions: &[Vec3], normals: &[Vec3]) -> Value {
        let position = self.vectors(positions);
        self.set_bounds(position, positions.iter().copied());
        json!({"POSITION": position, "NORMAL": self.vectors(normals)})
    }

    pub(super) fn blend(&mut self, blend: &GlbBlend<'a>, keys: usize) {
        let n_vertices = blend.mean.len();
        let mut normals = vec![Vec3::ZERO; n_vertices];
        vertex_normals(blend.topology, blend.mean, &mut normals);
        let mut attributes = Map::new();
        attributes.insert("POSITION".into(), self.positions(blend.mean).into());
        attributes.insert("NORMAL".into(), self.vectors(&normals).into());
        let ranges = blend.ranges();
        let mut least = [vec![Vec3::ZERO; n_vertices], vec![Vec3::ZERO; n_vertices]];
        let mut targets = Vec::with_capacity(blend.shapes.len());
        for (i, (shape, (low, range))) in blend.shapes.iter().zip(&ranges).enumerate() {
            let squares = blend.weights.iter().map(|w| w[i] * w[i]).sum::<f32>();
            let sigma = (squares / blend.weights.len() as f32).sqrt().max(1e-6);
            let moved = shape.iter().zip(blend.mean).map(|(b, m)| *m + sigma * *b);
            let moved: Vec<Vec3> = moved.collect();
            let mut turned = vec![Vec3::ZERO; n_vertices];
            vertex_normals(blend.topology, &moved, &mut turned);
            for (turned, normal) in turned.iter_mut().zip(&normals) {
                *turned = (*turned - *normal) / sigma;
            }
            for (least, own) in least.iter_mut().zip([shape, &turned]) {
                for (sum, own) in least.iter_mut().zip(own) {
                    *sum += *low * *own;
                }
            }
            let times = |all: &[Vec3]| all.iter().map(|v| *range * *v).collect::<Vec<_>>();
            targets.push(self.target(&times(shape), &times(&turned)));
        }
        targets.insert(0, self.target(&least[0], &least[1]));
        let weights = blend.weights.iter().flat_map(|frame| {
            let own = frame
                .iter()
                .zip(&ranges)
                .map(|(w, (low, range))| (w - low) / range);
            core::iter::once(1.0).chain(own.map(|v| v.clamp(0.0, 1.0)))
        });
        let weights: Vec<f32> = weights.collect();
        let primitive = json!({
            "attributes": attributes,
            "indices": self.indices(blend.topology.triangles()),
            "material": self.material(blend.name, blend.colour, true),
            "targets": targets,
        });
        let own = (1..=blend.shapes.len()).map(|i| format!("shape {i}"));
        let names: Vec<String> = core::iter::once("least".to_owned()).chain(own).collect();
        let mesh = json!({
            "name": blend.name,
            "primitives": [primitive],
            "weights": weights[..names.len()],
            "extras": {"targetNames": names},
        });
        let mesh = push(&mut self.meshes, mesh);
        let node = json!({"name": blend.name, "mesh": mesh});
        let node = push(&mut self.nodes, node);
        self.tops.push(node);
        let n_frames = blend.weights.len();
        let output = self.floats("SCALAR", weights.len(), weights.into_iter());
        self.channel(keys, output, node, "weights");
        let places = blend.places.iter().flat_map(|place| place.1.to_array());
        let output = self.floats("VEC3", n_frames, places);
        self.channel(keys, output, node, "translation");
        // Signs such that no step goes the long way round.
        let mut before = Quat::IDENTITY;
        let mut turns = Vec::with_capacity(4 * n_frames);
        for (turn, _) in blend.places {
            before = if before.dot(*turn) < 0.0 {
                -*turn
            } else {
                *turn
            };
            turns.extend(before.to_array());
        }
        let output = self.floats("VEC4", n_frames, turns.into_iter());
        self.channel(keys, output, node, "rotation");
    }
}
