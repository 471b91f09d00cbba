//! Malformed glTF files, each made here: all are errors that name the place,
//! none a panic.

use drapery_store::gltf::{Element, GltfError, Place, read, read_with};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A `.glb` of a JSON text and a binary chunk.
fn glb(json: &[u8], binary: &[u8]) -> Vec<u8> {
    let padded = |bytes: &[u8], with: u8| {
        let mut bytes = bytes.to_vec();
        bytes.resize(bytes.len().next_multiple_of(4), with);
        bytes
    };
    let (json, binary) = (padded(json, b' '), padded(binary, 0));
    let mut file = b"glTF".to_vec();
    file.extend(2u32.to_le_bytes());
    file.extend((28 + json.len() as u32 + binary.len() as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", json), (b"BIN\0", binary)] {
        file.extend((chunk.len() as u32).to_le_bytes());
        file.extend(kind);
        file.extend(chunk);
    }
    file
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// A triangle with two joints and a motion, sound as it is.
///
/// | bytes | accessor | what |
/// |---|---|---|
/// | 0 | 0 | 3 positions |
/// | 36 | 1 | 3 indices, u32 |
/// | 48 | 2 | 3 × 4 joints, u8 |
/// | 60 | 3 | 3 × 4 weights |
/// | 108 | 4 | 2 inverse bind matrices |
/// | 236 | 5 | 2 times |
/// | 244 | 6 | 2 rotations |
/// | 276 | | 1 sparse index, u32 |
/// | 280 | | 1 sparse value |
struct Sample {
    json: Value,
    binary: Vec<u8>,
}

fn sample() -> Sample {
    let mut binary = floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    binary.extend([0u32, 1, 2].iter().flat_map(|i| i.to_le_bytes()));
    binary.extend([0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0]);
    binary.extend(floats(&[0.5, 0.5, 0.0, 0.0].repeat(3)));
    let identity = glam::Mat4::IDENTITY.to_cols_array();
    binary.extend(floats(&identity.repeat(2)));
    binary.extend(floats(&[0.0, 0.5]));
    binary.extend(floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]));
    binary.extend(1u32.to_le_bytes());
    binary.extend(floats(&[2.0, 0.0, 0.0]));
    let views: Vec<Value> = [
        (0, 36),
        (36, 12),
        (48, 12),
        (60, 48),
        (108, 128),
        (236, 8),
        (244, 32),
        (276, 4),
        (280, 12),
    ]
    .iter()
    .map(|(at, length)| json!({"buffer": 0, "byteOffset": at, "byteLength": length}))
    .collect();
    let accessor = |view: u32, component: u32, count: u32, kind: &str| json!({"bufferView": view, "componentType": component, "count": count, "type": kind});
    let json = json!({
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0, 2]}],
        "nodes": [
            {"name": "hips", "children": [1]},
            {"name": "spine", "translation": [0, 1, 0]},
            {"name": "body", "mesh": 0, "skin": 0},
        ],
        "meshes": [{"primitives": [{
            "attributes": {"POSITION": 0, "JOINTS_0": 2, "WEIGHTS_0": 3},
            "indices": 1,
        }]}],
        "skins": [{"joints": [0, 1], "inverseBindMatrices": 4}],
        "animations": [{
            "channels": [{"sampler": 0, "target": {"node": 1, "path": "rotation"}}],
            "samplers": [{"input": 5, "output": 6}],
        }],
        "accessors": [
            accessor(0, 5126, 3, "VEC3"),
            accessor(1, 5125, 3, "SCALAR"),
            accessor(2, 5121, 3, "VEC4"),
            accessor(3, 5126, 3, "VEC4"),
            accessor(4, 5126, 2, "MAT4"),
            accessor(5, 5126, 2, "SCALAR"),
            accessor(6, 5126, 2, "VEC4"),
        ],
        "bufferViews": views,
        "buffers": [{"byteLength": binary.len()}],
    });
    Sample { json, binary }
}

impl Sample {
    fn bytes(&self) -> Vec<u8> {
        glb(self.json.to_string().as_bytes(), &self.binary)
    }

    /// Sets a value at a JSON pointer whose parent exists.
    fn set(&mut self, pointer: &str, value: Value) {
        let (parent, key) = pointer.rsplit_once('/').expect("pointers start with /");
        match self.json.pointer_mut(parent).expect("the parent is there") {
            Value::Object(map) => {
                map.insert(key.to_owned(), value);
            }
            Value::Array(list) => {
                let index: usize = key.parse().expect("lists are indexed by numbers");
                if index == list.len() {
                    list.push(value);
                } else {
                    list[index] = value;
                }
            }
            other => panic!("{parent} is {other}"),
        }
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.binary[at..at + bytes.len()].copy_from_slice(bytes);
    }
}

#[test]
fn the_sample_is_sound() {
    let document = read(&sample().bytes()).unwrap();
    let primitive = &document.meshes[0].primitives[0];
    assert_eq!(primitive.triangles, [[0, 1, 2]]);
    assert_eq!(primitive.joint_sets[0].joints[2], [1, 0, 0, 0]);
    assert_eq!(document.nodes[1].parent, Some(0));
    assert_eq!(document.animations[0].channels[0].times, [0.0, 0.5]);
}

/// Whether an error is the expected one.
type Expected = fn(&GltfError) -> bool;

/// Name, what the message must name, the variant, and the change to the sample.
type Case = (&'static str, &'static str, Expected, fn(&mut Sample));

macro_rules! is {
    ($($pattern:tt)+) => {
        |error| matches!(error, $($pattern)+)
    };
}

const PRIMITIVE: Place = Place::Primitive {
    mesh: 0,
    primitive: 0,
};

#[test]
fn every_fault_in_the_content_is_named() {
    let cases: &[Case] = &[
        ("version 1", "1.0", is!(GltfError::Version { .. }), |s| {
            s.set("/asset/version", json!("1.0"));
        }),
        ("needs 2.1", "2.1", is!(GltfError::Version { .. }), |s| {
            s.set("/asset/minVersion", json!("2.1"));
        }),
        (
            "draco",
            "KHR_draco_mesh_compression",
            is!(GltfError::Extension { .. }),
            |s| s.set("/extensionsRequired", json!(["KHR_draco_mesh_compression"])),
        ),
        (
            "meshopt",
            "EXT_meshopt_compression",
            is!(GltfError::Extension { .. }),
            |s| {
                let names = json!(["KHR_mesh_quantization", "EXT_meshopt_compression"]);
                s.set("/extensionsRequired", names);
            },
        ),
        (
            "no such scene",
            "scene 5",
            is!(GltfError::NoSuch {
                element: Element::Scene,
                index: 5,
                count: 1,
                ..
            }),
            |s| s.set("/scene", json!(5)),
        ),
        (
            "no such node in the scene",
            "node 9",
            is!(GltfError::NoSuch {
                place: Place::Scene(0),
                element: Element::Node,
                ..
            }),
            |s| s.set("/scenes/0/nodes/0", json!(9)),
        ),
        (
            "no such child",
            "node 0 names node 7",
            is!(GltfError::NoSuch {
                place: Place::Node(0),
                ..
            }),
            |s| s.set("/nodes/0/children", json!([7])),
        ),
        (
            "no such mesh",
            "mesh 3",
            is!(GltfError::NoSuch {
                element: Element::Mesh,
                ..
            }),
            |s| s.set("/nodes/2/mesh", json!(3)),
        ),
        (
            "no such skin",
            "skin 3",
            is!(GltfError::NoSuch {
                element: Element::Skin,
                ..
            }),
            |s| s.set("/nodes/2/skin", json!(3)),
        ),
        (
            "no such joint",
            "skin 0 names node 8",
            is!(GltfError::NoSuch {
                place: Place::Skin(0),
                ..
            }),
            |s| s.set("/skins/0/joints/1", json!(8)),
        ),
        (
            "no such accessor",
            "accessor 77",
            is!(GltfError::NoSuch {
                element: Element::Accessor,
                index: 77,
                ..
            }),
            |s| s.set("/meshes/0/primitives/0/indices", json!(77)),
        ),
        (
            "no such buffer view",
            "accessor 0 names buffer view 30",
            is!(GltfError::NoSuch {
                element: Element::BufferView,
                ..
            }),
            |s| s.set("/accessors/0/bufferView", json!(30)),
        ),
        (
            "no such buffer",
            "buffer view 0 names buffer 2",
            is!(GltfError::NoSuch {
                element: Element::Buffer,
                ..
            }),
            |s| s.set("/bufferViews/0/buffer", json!(2)),
        ),
        (
            "a second buffer without bytes",
            "buffer 1",
            is!(GltfError::MissingBuffer { buffer: 1 }),
            |s| s.set("/buffers/1", json!({"byteLength": 4})),
        ),
        (
            "a buffer longer than its bytes",
            "buffer 0",
            is!(GltfError::ShortBuffer {
                buffer: 0,
                stated: 4000,
                ..
            }),
            |s| s.set("/buffers/0/byteLength", json!(4000)),
        ),
        (
            "a buffer in another folder",
            "../body.bin",
            is!(GltfError::OutsideFolder { buffer: 0, .. }),
            |s| s.set("/buffers/0/uri", json!("../body.bin")),
        ),
        (
            "a buffer at the root",
            "/etc/passwd",
            is!(GltfError::OutsideFolder { buffer: 0, .. }),
            |s| s.set("/buffers/0/uri", json!("/etc/passwd")),
        ),
        (
            "a buffer in a file, and no folder",
            "body.bin",
            is!(GltfError::BufferFile { buffer: 0, .. }),
            |s| s.set("/buffers/0/uri", json!("body.bin")),
        ),
        (
            "a data address that is not base64",
            "buffer 0",
            is!(GltfError::DataUri { buffer: 0 }),
            |s| {
                let uri = "data:application/octet-stream;base64,@@@@";
                s.set("/buffers/0/uri", json!(uri));
            },
        ),
        (
            "a view beyond its buffer",
            "buffer view 0",
            is!(GltfError::ViewRange {
                view: 0,
                buffer: 0,
                ..
            }),
            |s| s.set("/bufferViews/0/byteLength", json!(100_000)),
        ),
        (
            "a view whose end overflows",
            "buffer view 0",
            is!(GltfError::ViewRange { view: 0, .. }),
            |s| s.set("/bufferViews/0/byteOffset", json!(u64::MAX)),
        ),
        (
            "an accessor beyond its view",
            "accessor 0",
            is!(GltfError::AccessorRange {
                accessor: 0,
                view: 0,
                count: 4,
                available: 36
            }),
            |s| s.set("/accessors/0/count", json!(4)),
        ),
        (
            "a count of four thousand million",
            "4000000000",
            is!(GltfError::AccessorRange { accessor: 0, .. }),
            |s| s.set("/accessors/0/count", json!(4_000_000_000u64)),
        ),
        (
            "a count that overflows",
            "accessor 0",
            is!(GltfError::AccessorRange { accessor: 0, .. }),
            |s| s.set("/accessors/0/count", json!(u64::MAX)),
        ),
        (
            "four thousand million zeros",
            "4000000000",
            is!(GltfError::TooLarge { accessor: 0, .. }),
            |s| {
                let zeros =
                    json!({"componentType": 5126, "count": 4_000_000_000u64, "type": "VEC3"});
                s.set("/accessors/0", zeros);
            },
        ),
        (
            "a stride less than an element",
            "stride of 8",
            is!(GltfError::Stride {
                accessor: 0,
                size: 12,
                stride: 8
            }),
            |s| s.set("/bufferViews/0/byteStride", json!(8)),
        ),
        (
            "no elements",
            "accessor 0",
            is!(GltfError::NoElements { accessor: 0 }),
            |s| s.set("/accessors/0/count", json!(0)),
        ),
        (
            "positions of two numbers",
            "mesh 0 primitive 0",
            is!(GltfError::AccessorType {
                place: PRIMITIVE,
                accessor: 0,
                ..
            }),
            |s| s.set("/accessors/0/type", json!("VEC2")),
        ),
        (
            "an unknown component type",
            "5130",
            is!(GltfError::AccessorType {
                component_type: 5130,
                ..
            }),
            |s| s.set("/accessors/1/componentType", json!(5130)),
        ),
        (
            "joints as floats",
            "accessor 3",
            is!(GltfError::AccessorType { accessor: 3, .. }),
            |s| s.set("/meshes/0/primitives/0/attributes/JOINTS_0", json!(3)),
        ),
        (
            "a position that is NaN",
            "accessor 0 element 1",
            is!(GltfError::NotFinite {
                accessor: 0,
                element: 1
            }),
            |s| s.put(16, &f32::NAN.to_le_bytes()),
        ),
        (
            "an infinite weight",
            "accessor 3 element 0",
            is!(GltfError::NotFinite {
                accessor: 3,
                element: 0
            }),
            |s| s.put(60, &f32::INFINITY.to_le_bytes()),
        ),
        (
            "an index out of range",
            "index 2 names vertex 3",
            is!(GltfError::VertexIndex {
                place: PRIMITIVE,
                corner: 2,
                vertex: 3,
                n_vertices: 3
            }),
            |s| s.put(44, &3u32.to_le_bytes()),
        ),
        (
            "a sparse index out of range",
            "accessor 0 sparse entry 0",
            is!(GltfError::SparseIndex {
                accessor: 0,
                entry: 0,
                element: 9,
                count: 3,
                ..
            }),
            |s| {
                sparse(s, 1);
                s.put(276, &9u32.to_le_bytes());
            },
        ),
        (
            "sparse indices that do not increase",
            "sparse entry 1",
            is!(GltfError::SparseIndex {
                entry: 1,
                after: Some(1),
                ..
            }),
            |s| {
                sparse(s, 2);
                s.set("/accessors/0/sparse/indices/componentType", json!(5121));
                s.set("/accessors/0/sparse/values", json!({"bufferView": 3}));
                s.put(276, &[1, 1]);
            },
        ),
        (
            "more sparse entries than bytes",
            "accessor 0",
            is!(GltfError::AccessorRange {
                accessor: 0,
                view: 7,
                ..
            }),
            |s| sparse(s, 4_000_000_000),
        ),
        (
            "no positions",
            "mesh 0 primitive 0",
            is!(GltfError::NoPositions { place: PRIMITIVE }),
            |s| s.set("/meshes/0/primitives/0/attributes", json!({"NORMAL": 0})),
        ),
        (
            "a mode that does not exist",
            "mode 9",
            is!(GltfError::Mode { mode: 9, .. }),
            |s| s.set("/meshes/0/primitives/0/mode", json!(9)),
        ),
        (
            "fewer weights than positions",
            "WEIGHTS_0",
            is!(GltfError::AttributeLength {
                found: 2,
                expected: 3,
                ..
            }),
            |s| s.set("/accessors/3/count", json!(2)),
        ),
        (
            "joints without weights",
            "not WEIGHTS_0",
            is!(GltfError::LoneAttribute {
                place: PRIMITIVE,
                ..
            }),
            |s| {
                let attributes = json!({"POSITION": 0, "JOINTS_0": 2});
                s.set("/meshes/0/primitives/0/attributes", attributes);
            },
        ),
        (
            "weights without joints",
            "not JOINTS_1",
            is!(GltfError::LoneAttribute { .. }),
            |s| s.set("/meshes/0/primitives/0/attributes/WEIGHTS_1", json!(3)),
        ),
        (
            "primitives with different targets",
            "mesh 0 primitive 1",
            is!(GltfError::TargetCount {
                found: 1,
                expected: 0,
                ..
            }),
            |s| {
                let second = json!({"attributes": {"POSITION": 0}, "targets": [{"POSITION": 0}]});
                s.set("/meshes/0/primitives/1", second);
            },
        ),
        (
            "a weight of a target that overflows",
            "glTF",
            is!(GltfError::Json(_)),
            |s| s.set("/meshes/0/weights", json!([1e300])),
        ),
        (
            "a cycle of nodes",
            "node",
            is!(GltfError::NodeCycle { node: 0 | 1 }),
            |s| s.set("/nodes/1/children", json!([0])),
        ),
        (
            "a node that is its own child",
            "node 1",
            is!(GltfError::NodeCycle { node: 1 }),
            |s| {
                s.set("/nodes/0/children", json!([]));
                s.set("/nodes/1/children", json!([1]));
            },
        ),
        (
            "two parents",
            "node 1",
            is!(GltfError::TwoParents {
                node: 1,
                first: 0,
                second: 2
            }),
            |s| s.set("/nodes/2/children", json!([1])),
        ),
        (
            "a rotation of no length",
            "node 1",
            is!(GltfError::NodeTransform { node: 1 }),
            |s| s.set("/nodes/1/rotation", json!([0, 0, 0, 0])),
        ),
        (
            "a translation that overflows",
            "glTF",
            is!(GltfError::Json(_)),
            |s| s.set("/nodes/1/translation", json!([1e300, 0, 0])),
        ),
        (
            "a matrix that is not affine",
            "node 1",
            is!(GltfError::NodeTransform { node: 1 }),
            |s| {
                let mut matrix = [0.0; 16];
                matrix[3] = 1.0;
                s.set("/nodes/1/matrix", json!(matrix));
            },
        ),
        (
            "a skin without joints",
            "skin 0",
            is!(GltfError::NoJoints { skin: 0 }),
            |s| s.set("/skins/0/joints", json!([])),
        ),
        (
            "a joint named twice",
            "node 0 twice",
            is!(GltfError::JointTwice { skin: 0, node: 0 }),
            |s| s.set("/skins/0/joints", json!([0, 0])),
        ),
        (
            "too few inverse bind matrices",
            "skin 0",
            is!(GltfError::InverseBindCount {
                skin: 0,
                found: 1,
                expected: 2
            }),
            |s| s.set("/accessors/4/count", json!(1)),
        ),
        (
            "an inverse bind matrix of zeros",
            "skin 0 joint 1",
            is!(GltfError::SingularBind { skin: 0, joint: 1 }),
            |s| s.put(172, &[0; 64]),
        ),
        (
            "a flat inverse bind matrix",
            "skin 0 joint 0",
            is!(GltfError::SingularBind { skin: 0, joint: 0 }),
            |s| s.put(108, &floats(&[0.0, 1.0, 0.0])),
        ),
        (
            "a joint out of range",
            "vertex 1 follows joint 2",
            is!(GltfError::JointIndex {
                place: PRIMITIVE,
                vertex: 1,
                joint: 2,
                skin: 0,
                n_joints: 2
            }),
            |s| s.put(53, &[2]),
        ),
        (
            "a skin on a mesh without joints",
            "node 2",
            is!(GltfError::NotSkinned {
                node: 2,
                mesh: 0,
                ..
            }),
            |s| s.set("/meshes/0/primitives/0/attributes", json!({"POSITION": 0})),
        ),
        (
            "times that fall",
            "animation 0 channel 0",
            is!(GltfError::KeyTime { key: 1, .. }),
            |s| s.put(236, &floats(&[0.5, 0.2])),
        ),
        (
            "times that stay",
            "key 1",
            is!(GltfError::KeyTime { key: 1, .. }),
            |s| s.put(236, &floats(&[0.5, 0.5])),
        ),
        (
            "times before zero",
            "key 0",
            is!(GltfError::KeyTime { key: 0, .. }),
            |s| s.put(236, &floats(&[-0.5, 0.5])),
        ),
        (
            "fewer values than keys",
            "animation 0 channel 0",
            is!(GltfError::KeyValues {
                found: 1,
                expected: 2,
                ..
            }),
            |s| s.set("/accessors/6/count", json!(1)),
        ),
        (
            "a spline without tangents",
            "animation 0 channel 0",
            is!(GltfError::KeyValues {
                found: 2,
                expected: 6,
                ..
            }),
            |s| {
                s.set(
                    "/animations/0/samplers/0/interpolation",
                    json!("CUBICSPLINE"),
                )
            },
        ),
        (
            "a key of no rotation",
            "key 1",
            is!(GltfError::KeyRotation { key: 1, .. }),
            |s| s.put(260, &[0; 16]),
        ),
        (
            "an unknown path",
            "colour",
            is!(GltfError::ChannelKind { .. }),
            |s| s.set("/animations/0/channels/0/target/path", json!("colour")),
        ),
        (
            "an unknown interpolation",
            "WAVY",
            is!(GltfError::ChannelKind { .. }),
            |s| s.set("/animations/0/samplers/0/interpolation", json!("WAVY")),
        ),
        (
            "no such sampler",
            "sampler 4",
            is!(GltfError::NoSuch {
                element: Element::Sampler,
                ..
            }),
            |s| s.set("/animations/0/channels/0/sampler", json!(4)),
        ),
        (
            "an animated node that is not there",
            "animation 0 channel 0 names node 40",
            is!(GltfError::NoSuch {
                element: Element::Node,
                ..
            }),
            |s| s.set("/animations/0/channels/0/target/node", json!(40)),
        ),
        (
            "nodes of a wrong type",
            "glTF",
            is!(GltfError::Json(_)),
            |s| s.set("/nodes", json!("none")),
        ),
        ("a negative index", "glTF", is!(GltfError::Json(_)), |s| {
            s.set("/nodes/0/children", json!([-1]))
        }),
    ];
    for (name, words, expected, change) in cases {
        let mut sample = sample();
        change(&mut sample);
        let error = match read(&sample.bytes()) {
            Ok(_) => panic!("{name}: was read"),
            Err(error) => error,
        };
        assert!(expected(&error), "{name}: {error:?}");
        assert!(error.to_string().contains(words), "{name}: {error}");
    }
}

/// Makes the positions sparse, with so many entries.
fn sparse(sample: &mut Sample, count: u64) {
    let sparse = json!({
        "count": count,
        "indices": {"bufferView": 7, "componentType": 5125},
        "values": {"bufferView": 8},
    });
    sample.set("/accessors/0/sparse", sparse);
}

#[test]
fn every_fault_in_the_container_is_named() {
    let sound = sample().bytes();
    let with = |at: usize, word: u32| {
        let mut bytes = sound.clone();
        bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        bytes
    };
    let first_chunk = u32::from_le_bytes(sound[12..16].try_into().unwrap());
    let mut foreign = sound.clone();
    foreign[0] = b'X';
    let cases: &[(&str, Vec<u8>, Expected)] = &[
        ("nothing", vec![], is!(GltfError::Empty)),
        ("another magic", foreign, is!(GltfError::Magic { .. })),
        (
            "a picture",
            b"\x89PNG\r\n".to_vec(),
            is!(GltfError::Magic { .. }),
        ),
        (
            "a JSON list",
            b"[1, 2]".to_vec(),
            is!(GltfError::Magic { .. }),
        ),
        (
            "only a magic",
            b"glTF".to_vec(),
            is!(GltfError::Truncated {
                part: "header",
                needed: 12,
                found: 4
            }),
        ),
        (
            "version 1",
            with(4, 1),
            is!(GltfError::ContainerVersion { version: 1 }),
        ),
        (
            "a length beyond the file",
            with(8, 1 << 30),
            is!(GltfError::Truncated {
                part: "whole file",
                ..
            }),
        ),
        (
            "a length within the header",
            with(8, 3),
            is!(GltfError::Truncated {
                part: "chunk header",
                ..
            }),
        ),
        (
            "a chunk beyond the file",
            with(12, u32::MAX),
            is!(GltfError::Truncated { part: "chunk", .. }),
        ),
        (
            "a chunk just beyond the file",
            with(12, first_chunk + 4),
            is!(GltfError::Truncated { .. }),
        ),
        (
            "no JSON first",
            with(16, 0x004E_4942),
            is!(GltfError::NoJson { found: 0x004E_4942 }),
        ),
        (
            "JSON that is not UTF-8",
            glb(b"{\"asset\": \"\xFF\xFE\"}", &[]),
            is!(GltfError::NotUtf8 { offset: 11 }),
        ),
        (
            "JSON cut short",
            glb(b"{\"asset\": ", &[]),
            is!(GltfError::Json(_)),
        ),
        (
            "JSON without an asset",
            b"{}".to_vec(),
            is!(GltfError::Json(_)),
        ),
        (
            "JSON nested without end",
            [b"{\"asset\": ".to_vec(), vec![b'['; 100_000]].concat(),
            is!(GltfError::Json(_)),
        ),
    ];
    for (name, bytes, expected) in cases {
        let error = match read(bytes) {
            Ok(_) => panic!("{name}: was read"),
            Err(error) => error,
        };
        assert!(expected(&error), "{name}: {error:?}");
    }
}

#[test]
fn a_file_cut_anywhere_is_an_error() {
    let sound = sample().bytes();
    for length in 0..sound.len() {
        assert!(read(&sound[..length]).is_err(), "cut at {length}");
    }
}

#[test]
fn buffers_come_from_the_folder_or_from_data() {
    let mut outside = sample();
    outside.set("/buffers/0/uri", json!("parts/my%20body.bin"));
    let mut asked = Vec::new();
    let document = read_with(outside.json.to_string().as_bytes(), &mut |path| {
        asked.push(path.to_owned());
        Ok(sample().binary)
    });
    assert_eq!(document.unwrap(), read(&sample().bytes()).unwrap());
    assert_eq!(asked, ["parts/my body.bin"]);

    // Bytes 0 to 11 of the positions in base64, for one vertex.
    let mut inside = sample();
    inside.set(
        "/buffers/0",
        json!({"byteLength": 12, "uri": "data:;base64,AACAPwAAAEAAAEBA"}),
    );
    inside.set("/accessors/0/count", json!(1));
    inside.set("/bufferViews/0/byteLength", json!(12));
    inside.set(
        "/meshes/0/primitives/0",
        json!({"attributes": {"POSITION": 0}}),
    );
    inside.set("/nodes/2", json!({"mesh": 0}));
    inside.set("/skins", json!([]));
    inside.set("/animations", json!([]));
    let document = read(inside.json.to_string().as_bytes()).unwrap();
    let positions = &document.meshes[0].primitives[0].positions;
    assert_eq!(positions, &[glam::Vec3::new(1.0, 2.0, 3.0)]);
}

#[test]
fn harmless_extensions_joints_of_no_weight_and_bare_channels_pass() {
    let mut sample = sample();
    let names = json!([
        "KHR_materials_unlit",
        "KHR_texture_transform",
        "KHR_mesh_quantization"
    ]);
    sample.set("/extensionsRequired", names);
    sample.put(50, &[255]);
    let pointer = json!({"sampler": 0, "target": {"path": "pointer"}});
    sample.set("/animations/0/channels/1", pointer);
    let document = read(&sample.bytes()).unwrap();
    assert_eq!(document.animations[0].channels.len(), 1);
}

#[test]
fn sparse_positions_replace_the_base() {
    let mut sample = sample();
    sparse(&mut sample, 1);
    let document = read(&sample.bytes()).unwrap();
    let positions = &document.meshes[0].primitives[0].positions;
    assert_eq!(positions[1], glam::Vec3::new(2.0, 0.0, 0.0));
    assert_eq!(positions[2], glam::Vec3::Y);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes);
        let _ = read(&glb(&bytes, &bytes));
    }

    /// A sound file with a few bytes changed is read or refused.
    #[test]
    fn changed_bytes_never_make_the_reader_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)
    ) {
        let mut bytes = sample().bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = read(&bytes);
    }

    /// Any number of the JSON replaced by any other is read or refused.
    #[test]
    fn changed_numbers_never_make_the_reader_panic(
        which in any::<prop::sample::Index>(),
        number in prop_oneof![0u64..20, any::<u64>(), (0u32..64).prop_map(|b| 1 << b)],
    ) {
        let mut sample = sample();
        let mut numbers = Vec::new();
        collect(&mut sample.json, &mut numbers);
        let at = which.index(numbers.len());
        *numbers[at] = json!(number);
        let _ = read(&sample.bytes());
    }
}

/// All numbers in a JSON value.
fn collect<'a>(value: &'a mut Value, numbers: &mut Vec<&'a mut Value>) {
    match value {
        Value::Number(_) => numbers.push(value),
        Value::Array(list) => list.iter_mut().for_each(|v| collect(v, numbers)),
        Value::Object(map) => map.values_mut().for_each(|v| collect(v, numbers)),
        _ => {}
    }
}
