//! What a `.glb` will hold: the JSON, and the sections of its binary chunk.

use drapery_core::{FrameIndex, Pose, vertex_normals};
use glam::{Mat4, Quat, Vec3};
use serde_json::{Map, Value, json};

use super::stream::{Section, displacements};
use super::{GarmentNormals, GlbScene};
use crate::moving::{MovingBody, MovingGarment};

const FLOAT: u32 = 5126;
const UNSIGNED_BYTE: u32 = 5121;
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
const VERTEX_BUFFER: u32 = 34962;
const INDEX_BUFFER: u32 = 34963;

/// The JSON and the sections of a scene that has been checked.
pub(super) fn plan<'a>(scene: &GlbScene<'a>) -> (Value, Vec<Section<'a>>) {
    let mut plan = Plan {
        normals: scene.normals,
        ..Plan::default()
    };
    let n_frames = scene.counts().first().map_or(0, |(_, n)| *n);
    // Frame rates are below 10⁴, so f32 keeps the times apart for an hour and more.
    let times: Vec<f32> = (0..n_frames as u32)
        .map(|frame| scene.frame_rate.time_of(FrameIndex(frame)).0 as f32)
        .collect();
    let keys = plan.times(&times);
    if let Some(body) = &scene.body {
        plan.body(body, keys);
    }
    for garment in &scene.garments {
        plan.garment(garment, keys);
    }
    for blend in &scene.blends {
        plan.blend(blend, keys);
    }
    let frame_rate = scene.frame_rate.hz();
    plan.finish(json!({"frame_rate": frame_rate, "n_frames": n_frames}))
}

#[derive(Default)]
pub(super) struct Plan<'a> {
    normals: GarmentNormals,
    sections: Vec<Section<'a>>,
    length: u64,
    views: Vec<Value>,
    accessors: Vec<Value>,
    pub(super) nodes: Vec<Value>,
    pub(super) tops: Vec<usize>,
    pub(super) meshes: Vec<Value>,
    skins: Vec<Value>,
    materials: Vec<Value>,
    samplers: Vec<Value>,
    channels: Vec<Value>,
}

impl<'a> Plan<'a> {
    fn finish(self, extras: Value) -> (Value, Vec<Section<'a>>) {
        let mut root = json!({
            "asset": {
                "version": "2.0",
                "generator": concat!("drapery ", env!("CARGO_PKG_VERSION")),
                "extras": extras,
            },
            "scene": 0,
            "scenes": [{"nodes": self.tops}],
            "nodes": self.nodes,
            "meshes": self.meshes,
            "materials": self.materials,
            "accessors": self.accessors,
            "bufferViews": self.views,
            "buffers": [{"byteLength": self.length}],
        });
        if !self.skins.is_empty() {
            root["skins"] = Value::Array(self.skins);
        }
        if !self.channels.is_empty() {
            root["animations"] = json!([{
                "name": "motion",
                "channels": self.channels,
                "samplers": self.samplers,
            }]);
        }
        (root, self.sections)
    }

    /// Adds a section with a view of it; returns the view.
    fn view(&mut self, section: Section<'a>, target: Option<u32>, stride: Option<u32>) -> usize {
        let length = section.length();
        let mut view = json!({"buffer": 0, "byteOffset": self.length, "byteLength": length});
        if let Some(target) = target {
            view["target"] = target.into();
        }
        if let Some(stride) = stride {
            view["byteStride"] = stride.into();
        }
        self.length += length;
        self.sections.push(section);
        push(&mut self.views, view)
    }

    fn accessor(&mut self, view: usize, component: u32, kind: &str, count: usize) -> usize {
        let accessor = json!({
            "bufferView": view,
            "componentType": component,
            "type": kind,
            "count": count,
        });
        push(&mut self.accessors, accessor)
    }

    /// Floats that are no vertex attribute.
    pub(super) fn floats(
        &mut self,
        kind: &str,
        count: usize,
        values: impl Iterator<Item = f32>,
    ) -> usize {
        let bytes = values.flat_map(f32::to_le_bytes).collect();
        let view = self.view(Section::Bytes(bytes), None, None);
        self.accessor(view, FLOAT, kind, count)
    }

    fn times(&mut self, times: &[f32]) -> usize {
        let accessor = self.floats("SCALAR", times.len(), times.iter().copied());
        let (first, last) = (times[0], times[times.len() - 1]);
        self.accessors[accessor]["min"] = json!([f64::from(first)]);
        self.accessors[accessor]["max"] = json!([f64::from(last)]);
        accessor
    }

    /// One vector a vertex.
    fn attribute(&mut self, section: Section<'a>, count: usize) -> usize {
        let view = self.view(section, Some(VERTEX_BUFFER), None);
        self.accessor(view, FLOAT, "VEC3", count)
    }

    pub(super) fn positions(&mut self, positions: &'a [Vec3]) -> usize {
        let accessor = self.attribute(Section::Vectors(positions), positions.len());
        self.set_bounds(accessor, positions.iter().copied());
        accessor
    }

    /// One vector a vertex, of which nothing is kept.
    pub(super) fn vectors(&mut self, vectors: &[Vec3]) -> usize {
        let bytes = vectors
            .iter()
            .flat_map(|n| n.to_array())
            .flat_map(f32::to_le_bytes)
            .collect();
        self.attribute(Section::Bytes(bytes), vectors.len())
    }

    pub(super) fn set_bounds(&mut self, accessor: usize, vectors: impl Iterator<Item = Vec3>) {
        let (low, high) = vectors.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), v| {
            (low.min(v), high.max(v))
        });
        self.accessors[accessor]["min"] = numbers(&low.to_array());
        self.accessors[accessor]["max"] = numbers(&high.to_array());
    }

    pub(super) fn indices(&mut self, triangles: &[[u32; 3]]) -> usize {
        let bytes = triangles
            .iter()
            .flatten()
            .flat_map(|v| v.to_le_bytes())
            .collect();
        let view = self.view(Section::Bytes(bytes), Some(INDEX_BUFFER), None);
        self.accessor(view, UNSIGNED_INT, "SCALAR", triangles.len() * 3)
    }

    pub(super) fn material(&mut self, name: &str, colour: [f32; 3], double_sided: bool) -> usize {
        let [r, g, b] = colour;
        let mut material = json!({
            "name": name,
            "pbrMetallicRoughness": {
                "baseColorFactor": numbers(&[r, g, b, 1.0]),
                "metallicFactor": 0.0,
                "roughnessFactor": 0.8,
            },
        });
        if double_sided {
            material["doubleSided"] = true.into();
        }
        push(&mut self.materials, material)
    }

    pub(super) fn channel(&mut self, keys: usize, output: usize, node: usize, path: &str) {
        let sampler = json!({"input": keys, "output": output, "interpolation": "LINEAR"});
        let sampler = push(&mut self.samplers, sampler);
        self.channels
            .push(json!({"sampler": sampler, "target": {"node": node, "path": path}}));
    }

    fn body(&mut self, body: &MovingBody<'a>, keys: usize) {
        let first_joint = self.joints(body);
        self.motion(body, first_joint, keys);
        let skin = self.skin(body, first_joint);

        let triangles = body.topology.triangles();
        let mut normals = vec![Vec3::ZERO; body.rest.len()];
        vertex_normals(body.topology, body.rest, &mut normals);
        let mut attributes = Map::new();
        attributes.insert("POSITION".into(), self.positions(body.rest).into());
        attributes.insert("NORMAL".into(), self.vectors(&normals).into());
        self.influences(body, &mut attributes);
        let primitive = json!({
            "attributes": attributes,
            "indices": self.indices(triangles),
            "material": self.material(body.name, body.colour, false),
        });
        let mesh = json!({"name": body.name, "primitives": [primitive]});
        let mesh = push(&mut self.meshes, mesh);
        let node = json!({"name": body.name, "mesh": mesh, "skin": skin});
        let node = push(&mut self.nodes, node);
        self.tops.push(node);
    }

    /// One node a joint, unturned, at its offset from its parent. Returns the first.
    fn joints(&mut self, body: &MovingBody<'_>) -> usize {
        let first = self.nodes.len();
        let parents = body.skeleton.parents();
        for (joint, name) in body.skeleton.names().iter().enumerate() {
            let offset = match parents[joint] {
                Some(parent) => body.joints[joint] - body.joints[parent.index()],
                None => body.joints[joint],
            };
            let children: Vec<usize> = (0..parents.len())
                .filter(|&child| parents[child].is_some_and(|p| p.index() == joint))
                .map(|child| first + child)
                .collect();
            let mut node = json!({"name": name, "translation": numbers(&offset.to_array())});
            if !children.is_empty() {
                node["children"] = children.into();
            }
            self.nodes.push(node);
        }
        self.tops.push(first);
        first
    }

    /// A rotation track for every joint that ever turns, and a translation
    /// track for the root. The latter is always there, so that a clip that
    /// stands still keeps its length.
    fn motion(&mut self, body: &MovingBody<'_>, first_joint: usize, keys: usize) {
        let frames = body.frames;
        let roots = frames.iter().flat_map(|pose| pose.root.to_array());
        let output = self.floats("VEC3", frames.len(), roots);
        self.channel(keys, output, first_joint, "translation");
        for joint in 0..body.skeleton.len() {
            let track = continuous(frames, joint);
            if track.iter().all(|q| *q == Quat::IDENTITY) {
                continue;
            }
            let values = track.iter().flat_map(|q| q.to_array());
            let output = self.floats("VEC4", frames.len(), values);
            self.channel(keys, output, first_joint + joint, "rotation");
        }
    }

    fn skin(&mut self, body: &MovingBody<'_>, first_joint: usize) -> usize {
        let n_joints = body.joints.len();
        let matrices = body
            .joints
            .iter()
            .flat_map(|&joint| Mat4::from_translation(-joint).to_cols_array());
        let binds = self.floats("MAT4", n_joints, matrices);
        let joints: Vec<usize> = (first_joint..first_joint + n_joints).collect();
        // Blender names the armature after the skin; the mesh keeps the body's name.
        let skin = json!({
            "name": format!("{} skeleton", body.name),
            "joints": joints,
            "inverseBindMatrices": binds,
            "skeleton": first_joint,
        });
        push(&mut self.skins, skin)
    }

    /// Joints and weights, four a set.
    fn influences(&mut self, body: &MovingBody<'_>, attributes: &mut Map<String, Value>) {
        let n = body.skin.n_influences();
        let n_vertices = body.rest.len();
        let narrow = body.joints.len() <= 256;
        for set in 0..n.div_ceil(4) {
            let mut joints = Vec::with_capacity(n_vertices * 8);
            let mut weights = Vec::with_capacity(n_vertices * 16);
            for vertex in 0..n_vertices {
                for slot in 4 * set..4 * set + 4 {
                    let at = vertex * n + slot;
                    let (joint, weight) = match slot < n && body.skin.weights()[at] > 0.0 {
                        true => (body.skin.joints()[at], body.skin.weights()[at]),
                        false => (0, 0.0),
                    };
                    let [low, high] = joint.to_le_bytes();
                    joints.push(low);
                    if !narrow {
                        joints.push(high);
                    }
                    weights.extend(weight.to_le_bytes());
                }
            }
            let component = if narrow {
                UNSIGNED_BYTE
            } else {
                UNSIGNED_SHORT
            };
            let view = self.view(Section::Bytes(joints), Some(VERTEX_BUFFER), None);
            let joints = self.accessor(view, component, "VEC4", n_vertices);
            let view = self.view(Section::Bytes(weights), Some(VERTEX_BUFFER), None);
            let weights = self.accessor(view, FLOAT, "VEC4", n_vertices);
            attributes.insert(format!("JOINTS_{set}"), joints.into());
            attributes.insert(format!("WEIGHTS_{set}"), weights.into());
        }
    }

    fn garment(&mut self, garment: &MovingGarment<'a>, keys: usize) {
        let frames = garment.frames;
        let n_targets = frames.len() - 1;
        let mut attributes = Map::new();
        attributes.insert("POSITION".into(), self.positions(&frames[0]).into());
        if self.normals != GarmentNormals::Absent {
            let mut normals = vec![Vec3::ZERO; frames[0].len()];
            vertex_normals(garment.topology, &frames[0], &mut normals);
            attributes.insert("NORMAL".into(), self.vectors(&normals).into());
        }
        let mut primitive = json!({
            "attributes": attributes,
            "indices": self.indices(garment.topology.triangles()),
            "material": self.material(garment.name, garment.colour, true),
        });
        let mut mesh = json!({"name": garment.name});
        if n_targets > 0 {
            primitive["targets"] = self.targets(garment).into();
            let names: Vec<String> = (1..frames.len()).map(|k| format!("frame {k}")).collect();
            mesh["extras"] = json!({"targetNames": names});
            mesh["weights"] = vec![0.0; n_targets].into();
        }
        mesh["primitives"] = json!([primitive]);
        let mesh = push(&mut self.meshes, mesh);
        let node = push(&mut self.nodes, json!({"name": garment.name, "mesh": mesh}));
        self.tops.push(node);
        if n_targets > 0 {
            let n_frames = frames.len();
            let view = self.view(Section::FrameWeights { n_frames }, None, None);
            let output = self.accessor(view, FLOAT, "SCALAR", n_frames * n_targets);
            self.channel(keys, output, node, "weights");
        }
    }

    /// All targets lie in one view, one after the other.
    fn targets(&mut self, garment: &MovingGarment<'a>) -> Vec<Value> {
        let frames = garment.frames;
        let n_vertices = frames[0].len();
        let section = Section::Displacements(frames);
        let positions = self.view(section, Some(VERTEX_BUFFER), Some(12));
        let normals = (self.normals == GarmentNormals::EveryFrame).then(|| {
            let section = Section::NormalChanges {
                topology: garment.topology,
                frames,
            };
            self.view(section, Some(VERTEX_BUFFER), Some(12))
        });
        let mut targets = Vec::with_capacity(frames.len() - 1);
        for (target, frame) in frames[1..].iter().enumerate() {
            let mut attribute = |view| {
                let accessor = self.accessor(view, FLOAT, "VEC3", n_vertices);
                self.accessors[accessor]["byteOffset"] = (target * n_vertices * 12).into();
                accessor
            };
            let position = attribute(positions);
            let normal = normals.map(&mut attribute);
            self.set_bounds(position, displacements(&frames[0], frame));
            targets.push(match normal {
                Some(normal) => json!({"POSITION": position, "NORMAL": normal}),
                None => json!({"POSITION": position}),
            });
        }
        targets
    }
}

pub(super) fn push(list: &mut Vec<Value>, value: Value) -> usize {
    list.push(value);
    list.len() - 1
}

/// Each number with all the digits it has.
fn numbers(values: &[f32]) -> Value {
    values.iter().map(|&x| f64::from(x)).collect()
}

/// The rotations of a joint, with signs such that no step goes the long way round.
fn continuous(frames: &[Pose], joint: usize) -> Vec<Quat> {
    let mut before = Quat::IDENTITY;
    frames
        .iter()
        .map(|pose| {
            let q = pose.rotations[joint];
            before = if before.dot(q) < 0.0 { -q } else { q };
            before
        })
        .collect()
}
