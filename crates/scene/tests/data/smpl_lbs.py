"""Linear blend skinning of SMPL files in NumPy, for the tests of the reader.

    python3 smpl_lbs.py                 the small model that the test builds
    python3 smpl_lbs.py body.npz        every 1000th vertex of a real file
    python3 smpl_lbs.py body.npz all    every vertex

Prints posed vertices as lines of a Rust array. Written from the formula, with
4 x 4 matrices and axis-angle rotations, sharing nothing with the program.
"""

import sys

import numpy as np


def wave(shape, scale, step, start):
    n = int(np.prod(shape))
    return (scale * np.sin(step * np.arange(n) + start)).reshape(shape)


def small_model():
    v, j, k = 10, 4, 3
    weights = np.abs(wave((v, j), 1, 0.9, 0.4))
    regressor = np.abs(wave((j, v), 1, 0.6, 1.1)) ** 3
    model = {
        "v_template": wave((v, 3), 0.5, 1.3, 0.2),
        "weights": weights / weights.sum(1, keepdims=True),
        "J_regressor": regressor / regressor.sum(1, keepdims=True),
        "shapedirs": wave((v, 3, k), 0.1, 0.37, 0.5),
        "posedirs": wave((v, 3, 9 * (j - 1)), 0.05, 0.21, 0.9),
        "kintree_table": np.array([[-1, 0, 1, 1], [0, 1, 2, 3]]),
    }
    return {name: np.float32(a) if a.dtype == float else a for name, a in model.items()}


def rotation(axis_angle):
    angle = np.linalg.norm(axis_angle)
    x, y, z = axis_angle / angle
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def posed(model, shape, pose, translation):
    model = {name: model[name].astype(float) if model[name].dtype == np.float32 else model[name]
             for name in model}
    rest = model["v_template"] + model["shapedirs"] @ shape
    joints = model["J_regressor"] @ rest
    turns = np.array([rotation(r) for r in pose])
    if model["posedirs"].size:
        rest = rest + model["posedirs"] @ (turns[1:] - np.eye(3)).ravel()
    parents = model["kintree_table"][0]
    world = []
    for joint, parent in enumerate(parents):
        local = np.eye(4)
        local[:3, :3] = turns[joint]
        local[:3, 3] = joints[joint] - (joints[parent] if joint else 0)
        world.append(world[parent] @ local if joint else local)
    skin = []
    for matrix, joint in zip(world, joints):
        back = np.eye(4)
        back[:3, 3] = -joint
        skin.append(matrix @ back)
    blended = np.einsum("vj,jab->vab", model["weights"], np.array(skin))
    homogeneous = np.concatenate([rest, np.ones((len(rest), 1))], axis=1)
    return np.einsum("vab,vb->va", blended, homogeneous)[:, :3] + translation


model = dict(np.load(sys.argv[1])) if len(sys.argv) > 1 else small_model()
n_joints, n_shape = len(model["J_regressor"]), model["shapedirs"].shape[2]
vertices = posed(
    model,
    wave((n_shape,), 0.8, 1.9, 0.6),
    wave((n_joints, 3), 0.8, 1.7, 0.3),
    np.array([0.1, -0.2, 0.3]),
)
step = 1 if len(sys.argv) != 2 else 1000
for vertex in vertices[::step]:
    print("[{:.6f}, {:.6f}, {:.6f}],".format(*vertex))
