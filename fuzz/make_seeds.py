"""Writes small sound files to fuzz/seeds, one folder a target, for libFuzzer
to start from. Needs NumPy: python fuzz/make_seeds.py"""

import base64
import json
import os
import struct

import numpy as np

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "seeds")


def write(target, name, data):
    folder = os.path.join(HERE, target)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def write_npz(target, name, **arrays):
    os.makedirs(os.path.join(HERE, target), exist_ok=True)
    np.savez(os.path.join(HERE, target, name), **arrays)


BVH = """HIERARCHY
ROOT Hips
{
OFFSET 0 0 0
CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
JOINT LeftUpLeg
{
OFFSET 10 -10 0
CHANNELS 3 Zrotation Yrotation Xrotation
End Site
{
OFFSET 0 -80 0
}
}
}
MOTION
Frames: 2
Frame Time: 0.0333333
0 90 0 0 0 0 0 0 0
1 90 2 10 20 30 5 5 5
"""
write("bvh", "two.bvh", BVH)

OBJ = """g front
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
vt 0 0
vt 1 0
vt 1 1
vt 0 1
f 1/1 2/2 3/3 4/4
g pin-top
p 3 4
"""
write("obj", "square.obj", OBJ)

FABRIC = """name = "shirting"
from = "cotton-plain"
density_kg_m2 = 0.118
bending_length_cm = { warp = 2.1, weft = 1.8, bias = 1.9 }
[kes]
g = 0.9
em = { warp = 4.0, weft = 6.5 }
lt = 0.8
[fast]
t2 = 0.4
"""
write("fabric", "shirting.toml", FABRIC)
SCENE = """[character]
model = "tube"
shapes = [{}, { girth = 0.5 }]
[[garment]]
pattern = "skirt"
fabric = "denim"
edge_length = 0.02
size = "L"
[motion]
clips = ["walk", { motion = "a.bvh", name = "a", arm_abduction_deg = 10, trim = [0, 90] }]
frame_rate = 30
tune = ["walk"]
stops = 5
mirror = true
speeds = [0.8, 1.25]
[simulation]
steps_per_frame = 10
"""
write("scene", "scene.toml", SCENE)
MATERIAL = {
    "density": 0.1,
    "stretching": [[40, 0, 40, 40]] * 6,
    "bending": [[20e-6] * 5] * 3,
    "damping": 0.001,
}
write("fabric", "isotropic.json", "// alike in all directions\n" + json.dumps(MATERIAL))

rng = np.random.default_rng(1)
write_npz(
    "amass",
    "two.npz",
    poses=rng.normal(size=(2, 72)) * 0.1,
    trans=rng.normal(size=(2, 3)),
    mocap_framerate=np.float64(60.0),
    betas=np.zeros(10),
)
write_npz(
    "clip_npz",
    "two.npz",
    rotations=np.tile(np.array([1, 0, 0, 0], np.float32), (2, 2, 1)),
    root=np.zeros((2, 3), np.float32),
    joint_names=np.array(["a", "b"]),
    parents=np.array([-1, 0]),
    rest=np.array([[0, 0, 0], [0, 1, 0]], np.float32),
    frame_rate=np.float64(30.0),
)
corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]], np.int32)
write_npz(
    "smpl",
    "tetrahedron.npz",
    v_template=corners,
    f=faces,
    weights=np.array([[1, 0], [1, 0], [0, 1], [0.5, 0.5]], np.float32),
    J=np.array([[0, 0, 0], [0, 1, 0]], np.float32),
    shapedirs=np.ones((4, 3, 1), np.float32),
    posedirs=np.zeros((4, 3, 9), np.float32),
    J_regressor=np.full((2, 4), 0.25, np.float32),
    kintree_table=np.array([[-1, 0], [0, 1]], np.int32),
)

sample = np.arange(12, dtype=np.float32)
write("pc2", "two.pc2", b"POINTCACHE2\0" + struct.pack("<iiffi", 1, 4, 0, 1, 2) + sample.tobytes() * 2)
write("mdd", "two.mdd", struct.pack(">ii", 2, 4) + struct.pack(">2f", 0, 1) + sample.byteswap().tobytes() * 2)

positions = corners.tobytes()
indices = faces.astype(np.uint16).tobytes()
joints = np.array([[0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0]], np.uint8).tobytes()
weights = np.array([[1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0.5, 0.5, 0, 0]], np.float32).tobytes()
bind = np.array([np.eye(4), np.eye(4)], np.float32)
bind[1, 3, 1] = -1.0
times = np.array([0, 1], np.float32).tobytes()
turns = np.array([[0, 0, 0, 1], [0, 0, 0.7071068, 0.7071068]], np.float32).tobytes()
morph = np.full((4, 3), 0.1, np.float32).tobytes()
parts = [positions, indices, joints, weights, bind.tobytes(), times, turns, morph]
blob, views = b"", []
for part in parts:
    views.append({"buffer": 0, "byteOffset": len(blob), "byteLength": len(part)})
    blob += part + b"\0" * (-len(part) % 4)


def accessor(view, kind, component, count, **more):
    return {"bufferView": view, "type": kind, "componentType": component, "count": count, **more}


document = {
    "asset": {"version": "2.0"},
    "buffers": [{"byteLength": len(blob)}],
    "bufferViews": views,
    "accessors": [
        accessor(0, "VEC3", 5126, 4, min=[0, 0, 0], max=[1, 1, 1]),
        accessor(1, "SCALAR", 5123, 12),
        accessor(2, "VEC4", 5121, 4),
        accessor(3, "VEC4", 5126, 4),
        accessor(4, "MAT4", 5126, 2),
        accessor(5, "SCALAR", 5126, 2, min=[0], max=[1]),
        accessor(6, "VEC4", 5126, 2),
        accessor(7, "VEC3", 5126, 4, min=[0.1] * 3, max=[0.1] * 3),
    ],
    "meshes": [
        {
            "primitives": [
                {
                    "attributes": {"POSITION": 0, "JOINTS_0": 2, "WEIGHTS_0": 3},
                    "indices": 1,
                    "targets": [{"POSITION": 7}],
                }
            ],
            "extras": {"targetNames": ["big"]},
        }
    ],
    "skins": [{"joints": [0, 1], "inverseBindMatrices": 4}],
    "nodes": [
        {"name": "root", "children": [1]},
        {"name": "tip", "translation": [0, 1, 0]},
        {"mesh": 0, "skin": 0},
    ],
    "scenes": [{"nodes": [0, 2]}],
    "scene": 0,
    "animations": [
        {
            "name": "turn",
            "channels": [{"sampler": 0, "target": {"node": 1, "path": "rotation"}}],
            "samplers": [{"input": 5, "output": 6}],
        }
    ],
}
text = json.dumps(document, separators=(",", ":")).encode()
text += b" " * (-len(text) % 4)
chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(blob), 0x004E4942) + blob
write("gltf", "tetrahedron.glb", struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks)
document["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(blob).decode()
write("gltf", "tetrahedron.gltf", json.dumps(document, separators=(",", ":")))

# Cloth: the kind of file, then the file.
for kind, (target, name) in enumerate([("pc2", "two.pc2"), ("mdd", "two.mdd")]):
    with open(os.path.join(HERE, target, name), "rb") as file:
        write("cloth", name, bytes([kind]) + file.read())
points = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
write_npz("cloth", "part.npz", vertices=points, fps=30.0)
path = os.path.join(HERE, "cloth", "part.npz")
with open(path, "rb") as file:
    write("cloth", "two.npz", bytes([2]) + file.read())
os.remove(path)
write("cloth", "square.obj", bytes([3]) + OBJ.encode())

# dataset/tube.json is the zarr.json of the dataset that the target makes.


# Models: a rag of three vertices on two joints, skinned and linear.
def safetensors(head, **arrays):
    kinds = {"float32": "F32", "uint32": "U32", "uint16": "U16"}
    places, blob = {"__metadata__": {"drapery": json.dumps(head, separators=(",", ":"))}}, b""
    for name, array in arrays.items():
        start = len(blob)
        blob += array.tobytes()
        shape, kind = list(array.shape), kinds[array.dtype.name]
        places[name] = {"dtype": kind, "shape": shape, "data_offsets": [start, len(blob)]}
    text = json.dumps(places, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + blob


head = {
    "version": 1, "method": "skinning", "garment": "rag", "frame_rate": 30.0,
    "joints": ["root", "tip"], "parents": [None, 0], "has_halfway_joints": False,
    "shape_parameters": ["girth"], "training": {"digest": "", "sequences": 1, "frames": 9},
    "errors": [{"split": "tune", "frames": 9, "mean_cm": 1.0}], "spectral_radius": None,
    "settings": {"dims": 3},
}
rag = {
    "triangles": np.array([[0, 1, 2]], np.uint32),
    "skin/rest": np.eye(3, dtype=np.float32),
    "skin/joints": np.array([[0, 0], [0, 1], [1, 0]], np.uint16),
    "skin/weights": np.array([[1, 0], [0.5, 0.5], [1, 0]], np.float32),
    "skin/shape_directions": np.ones((1, 3, 3), np.float32),
    "hidden/vertices": np.array([0, 1, 1, 0], np.uint16),
}
write("model", "skinning.drapery", safetensors(head, **rag))
# model/stable-space.drapery and model/linear.drapery are what drapery train wrote of
# the ring of the tests, in two dimensions.
