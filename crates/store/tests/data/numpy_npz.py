"""Makes numpy.npz, what NumPy itself writes, for the tests of the npz reader.

    python3 numpy_npz.py numpy.npz
"""

import sys

import numpy as np

arrays = {}
for kind, scale, offset in [
    ("f2", 0.25, -2), ("f4", 0.25, -2), ("f8", 0.25, -2),
    ("i1", 5, -100), ("i2", 5, -100), ("i4", 5, -100), ("i8", 5, -100),
    ("u1", 10, 3), ("u2", 10, 3), ("u4", 10, 3), ("u8", 10, 3),
]:
    ramp = (np.arange(24) * scale + offset).reshape(2, 3, 4)
    arrays[kind + "_little"] = ramp.astype("<" + kind)
    arrays[kind + "_big"] = ramp.astype(">" + kind)
    if kind in ("f4", "f8", "i4"):
        arrays[kind + "_fortran"] = np.asfortranarray(ramp.astype(kind))
words = np.array([["", "pelvis"], ["größe", "😀"]])
arrays["text_little"] = words.astype("<U6")
arrays["text_big"] = words.astype(">U6")
arrays["text_fortran"] = np.asfortranarray(words)
arrays["bytes"] = np.char.encode(words, "utf-8")
arrays["latin"] = np.char.encode(np.array(["größe"]), "latin-1")
arrays["scalar_text"] = np.array("neutral")
arrays["scalar"] = np.array(120.0)
arrays["empty"] = np.zeros((5, 3, 0), np.float32)
arrays["mask"] = np.array([True, False, True])
arrays["objects"] = np.array([{"a": 1}, None], dtype=object)
arrays["complex"] = np.array([1 + 2j])
arrays["record"] = np.zeros(2, dtype=[("x", "f4"), ("y", "i2")])
arrays["date"] = np.array(["2020-01-01"], dtype="datetime64[D]")
np.savez_compressed(sys.argv[1], **arrays)
