#!/usr/bin/env python3
"""Opens a dataset with zarr-python and checks that its checksums agree.

    pip install zarr
    python scripts/zarr_compare.py DATASET

Every array of every sequence is read whole by zarr-python and NumPy; the
SHA-256 of its values has to be the one that drapery wrote.
"""

import hashlib
import sys

import numpy as np
import zarr


def digest(array):
    values = np.ascontiguousarray(array[...])
    little = values.astype(values.dtype.newbyteorder("<"), copy=False)
    return hashlib.sha256(little.tobytes()).hexdigest()


def main(path):
    dataset = zarr.open_group(path, mode="r", zarr_format=3)
    head = dict(dataset.attrs)
    assert head["format"] == "drapery-dataset", "no dataset"
    garments = head["garments"]
    n_arrays = 0
    for name, sequence in sorted(dataset["sequences"].groups()):
        attributes = dict(sequence.attrs)
        for array_name, expected in attributes["checksums"].items():
            array = sequence[array_name]
            assert digest(array) == expected, f"{name}/{array_name} differs"
            n_arrays += 1
        for garment in garments:
            cloth = sequence[f"cloth/{garment}"]
            rest = dataset[f"garments/{garment}/rest"]
            assert cloth.shape == (attributes["frames"], rest.shape[0], 3), name
            assert cloth.dtype == np.float32 and np.isfinite(cloth[...]).all(), name
        print(f"{name}: {attributes['frames']} frames, {attributes['split']}, sound")
    print(f"{n_arrays} arrays agree")
    return 0 if n_arrays else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
