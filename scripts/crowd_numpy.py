#!/usr/bin/env python3
"""One frame of a crowd of garments in NumPy and in PyTorch.

The same products as `drapery bench crowd` times, in f32 and of the same sizes,
each library as fast as we could make it: outputs are allocated beforehand, the
mean garment is one more row of the basis, rotations are sums of products, inputs
lie as the library likes them, and the crowd is done at once or in chunks,
whichever is faster. Numbers are random: time does not depend on them.

    read         joints into canonical space, less their mean
    project      bodies into their space; how far they are from known poses
    dynamics     the next coefficients from body, past and root motion
    reconstruct  garments out of their space, the way to the world, and writing
    product      the matrix product of `reconstruct` alone

Prints one JSON object a line and library. Run by `drapery bench crowd --python`,
which also sets the number of threads; by itself:

    scripts/crowd_numpy.py --count 10000 --vertices 766 --joints 24 --body 64 \\
        --cloth 64 --order 2 --threads 1 --seconds 3
"""

import argparse
import json
import os
import sys
import time

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
for name in ("count", "vertices", "joints", "body", "cloth", "order", "threads"):
    parser.add_argument("--" + name, type=int, required=True)
parser.add_argument("--seconds", type=float, default=3.0)
a = parser.parse_args()
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(a.threads)

import numpy as np  # noqa: E402  (the number of threads comes first)

PARTS = ("read", "project", "dynamics", "reconstruct")
N_ROOT = 5 * a.order
N_INPUTS = a.body + a.order * a.cloth + N_ROOT


def numbers(rng, *shape):
    return (rng.random(shape, dtype=np.float32) - 0.5) / 8


class Crowd:
    """State, weights and room of a crowd, as arrays of one library."""

    def __init__(self, array, empty):
        rng = np.random.default_rng(1)
        n, j, v = a.count, a.joints, a.vertices

        def of(*shape):
            return array(numbers(rng, *shape))

        # Joints by axis, so that a turn about +Y is three sums of whole rows.
        self.joints = of(n, 3, 4 * j)
        self.root = of(n, 3)
        self.sine, self.cosine = of(n, 1), of(n, 1)
        self.mean = of(12 * j)
        self.projection = of(12 * j, a.body)
        self.metric = of(4 * j, 4 * j)
        self.weights = of(a.body)
        self.dynamics = of(N_INPUTS, a.cloth)
        # The mean garment is the last row.
        self.basis = of(a.cloth + 1, 3 * v)
        self.offset = empty(n, 3, 4 * j)
        self.spread = empty(3 * n, 4 * j)
        self.inputs = of(n, N_INPUTS)
        self.cloth = of(n, a.cloth + 1)
        self.cloth[:, -1] = 1
        self.local = empty(n, 3 * v)
        self.room = empty(n, v)
        self.out = empty(n, v, 3)
        self.confidence = empty(n)


def numpy_frame(c, part, m):
    """One part of a frame of the characters in slice m."""
    if part == "read":
        w, s, o = c.joints[m], c.sine[m], c.cosine[m]
        moved = c.offset[m]
        np.copyto(moved, w)
        # Translations are the last of each four.
        moved[:, :, 3::4] -= c.root[m][:, :, None]
        x, z = moved[:, 0].copy(), moved[:, 2]
        np.multiply(x, o, out=moved[:, 0])
        moved[:, 0] -= s * z
        np.multiply(z, o, out=z)
        z += s * x
        flat = moved.reshape(len(moved), -1)
        flat -= c.mean
    elif part == "project":
        flat = c.offset[m].reshape(len(c.offset[m]), -1)
        x = c.inputs[m, : a.body]
        np.matmul(flat, c.projection, out=x)
        rows = slice(3 * m.start, 3 * m.stop)
        spread = c.spread[rows]
        np.matmul(flat.reshape(-1, 4 * a.joints), c.metric, out=spread)
        everything = np.einsum("ij,ij->i", spread, spread).reshape(-1, 3).sum(axis=1)
        squares = x * x
        own, near = squares.sum(axis=1), squares @ c.weights
        distance = np.sqrt(np.maximum(near + np.maximum(everything - own, 0), 0))
        share = np.clip((3 - distance) / 2, 0, 1)
        c.confidence[m] = share * share * (3 - 2 * share)
    elif part == "dynamics":
        inputs, cloth = c.inputs[m], c.cloth[m, :-1]
        np.matmul(inputs, c.dynamics, out=cloth)
        past = a.body + a.order * a.cloth
        for i in range(a.order - 1, 0, -1):
            at = a.body + i * a.cloth
            inputs[:, at : at + a.cloth] = inputs[:, at - a.cloth : at]
        if a.order:
            inputs[:, a.body : a.body + a.cloth] = cloth
            inputs[:, past : past + 3] = c.root[m]
    else:
        local = c.local[m]
        np.matmul(c.cloth[m], c.basis, out=local)
        if part == "product":
            return
        p, out, room = local.reshape(len(local), -1, 3), c.out[m], c.room[m]
        s, o, root = c.sine[m], c.cosine[m], c.root[m]
        x, y, z = p[:, :, 0], p[:, :, 1], p[:, :, 2]
        for axis, (first, by, second, times) in enumerate(
            ((x, o, z, s), (y, None, None, None), (z, o, x, -s))
        ):
            if by is None:
                np.add(first, root[:, axis, None], out=out[:, :, axis])
                continue
            np.multiply(first, by, out=out[:, :, axis])
            np.multiply(second, times, out=room)
            room += root[:, axis, None]
            out[:, :, axis] += room


def torch_frame(torch, c, part, m):
    if part == "read":
        moved, s, o = c.offset[m], c.sine[m], c.cosine[m]
        moved.copy_(c.joints[m])
        moved[:, :, 3::4] -= c.root[m][:, :, None]
        x, z = moved[:, 0].clone(), moved[:, 2]
        moved[:, 0].mul_(o).addcmul_(z, s, value=-1)
        z.mul_(o).addcmul_(x, s)
        moved.view(len(moved), -1).sub_(c.mean)
    elif part == "project":
        flat = c.offset[m].view(m.stop - m.start, -1)
        x = torch.mm(flat, c.projection)
        c.inputs[m, : a.body] = x
        spread = c.spread[3 * m.start : 3 * m.stop]
        torch.mm(flat.view(-1, 4 * a.joints), c.metric, out=spread)
        everything = (spread * spread).view(len(x), -1).sum(dim=1)
        squares = x * x
        own, near = squares.sum(dim=1), squares @ c.weights
        distance = (near + (everything - own).clamp(min=0)).clamp(min=0).sqrt()
        share = ((3 - distance) / 2).clamp(0, 1)
        c.confidence[m] = share * share * (3 - 2 * share)
    elif part == "dynamics":
        inputs = c.inputs[m]
        cloth = torch.mm(inputs, c.dynamics)
        c.cloth[m, :-1] = cloth
        past = a.body + a.order * a.cloth
        for i in range(a.order - 1, 0, -1):
            at = a.body + i * a.cloth
            inputs[:, at : at + a.cloth] = inputs[:, at - a.cloth : at]
        if a.order:
            inputs[:, a.body : a.body + a.cloth] = cloth
            inputs[:, past : past + 3] = c.root[m]
    else:
        local = c.local[m]
        torch.mm(c.cloth[m], c.basis, out=local)
        if part == "product":
            return
        p, out = local.view(len(local), -1, 3), c.out[m]
        s, o, root = c.sine[m], c.cosine[m], c.root[m]
        x, y, z = p[:, :, 0], p[:, :, 1], p[:, :, 2]
        torch.addcmul(root[:, 0, None], x, o, out=out[:, :, 0]).addcmul_(z, s)
        torch.add(y, root[:, 1, None], out=out[:, :, 1])
        torch.addcmul(root[:, 2, None], z, o, out=out[:, :, 2])
        out[:, :, 2].addcmul_(x, s, value=-1)


def middle(numbers_):
    return sorted(numbers_)[len(numbers_) // 2]


def chunks(size):
    return [slice(i, min(i + size, a.count)) for i in range(0, a.count, size)]


def measure(library, version, frame):
    def once(size):
        spent = dict.fromkeys(PARTS, 0.0)
        begin = time.perf_counter()
        for m in chunks(size):
            for part in PARTS:
                start = time.perf_counter()
                frame(part, m)
                spent[part] += time.perf_counter() - start
        return time.perf_counter() - begin, spent

    sizes = sorted({a.count, min(a.count, 1024), min(a.count, 256), min(a.count, 64)})
    for size in sizes:
        once(size)
    size = min(sizes, key=lambda size: min(once(size)[0] for _ in range(3)))
    runs = []
    while len(runs) < 5 or sum(total for total, _ in runs) < a.seconds:
        runs.append(once(size))
    products = []
    for _ in range(max(5, len(runs) // 2)):
        start = time.perf_counter()
        for m in chunks(a.count):
            frame("product", m)
        products.append(time.perf_counter() - start)
    seconds = [total for total, _ in runs]
    result = {
        "library": library,
        "version": version,
        "threads": a.threads,
        "chunk": size,
        "runs": len(runs),
        "frame_s": middle(seconds),
        "frame_s_min": min(seconds),
        "frame_s_max": max(seconds),
        "product_s": middle(products),
    }
    for part in PARTS:
        result[part + "_s"] = middle([spent[part] for _, spent in runs])
    print(json.dumps(result), flush=True)


def main():
    crowd = Crowd(np.asarray, lambda *shape: np.empty(shape, np.float32))
    measure("numpy", np.__version__, lambda part, m: numpy_frame(crowd, part, m))
    del crowd
    try:
        import torch
    except ImportError:
        print("torch is not there; pip install torch", file=sys.stderr)
        return
    torch.set_num_threads(a.threads)
    with torch.inference_mode():
        crowd = Crowd(torch.from_numpy, lambda *shape: torch.empty(*shape))
        measure(
            "torch",
            torch.__version__,
            lambda part, m: torch_frame(torch, crowd, part, m),
        )


main()
