"""Compares what USD reads from our export with what we wrote.

Usage: python usd_compare.py FOLDER

FOLDER holds what `drapery animate` wrote for one garment on one body:
animation.usda, the same as animation.usd, and animation.npz (the positions
that it should show). Exits 1 when a validator of USD finds anything, or when a
vertex is more than 0.1 mm away on one of three frames.
"""

import os
import sys

import numpy as np
from pxr import Gf, Usd, UsdGeom, UsdSkel, UsdValidation

LIMIT = 1e-4  # metres
N_VALIDATORS = 20  # fewer than this and the plugins were not found


def findings(stage):
    """What the validators of this version of USD have to say."""
    registry = UsdValidation.ValidationRegistry()
    validators = registry.GetOrLoadAllValidators()
    if len(validators) < N_VALIDATORS:
        return [f"only {len(validators)} validators"]
    found = UsdValidation.ValidationContext(validators).Validate(stage)
    return [f"{e.GetType()} {e.GetName()}: {e.GetMessage()}" for e in found]


def check(what, is_so):
    if not is_so:
        print(f"{what} is not as it should be")
    return bool(is_so)


def compare(what, frame, found, expected):
    found = np.asarray(found, dtype=np.float64)
    if found.shape != expected.shape:
        print(f"{what} frame {frame}: {found.shape[0]} vertices, expected {expected.shape[0]}")
        return False
    worst = np.linalg.norm(found - expected, axis=1).max()
    print(f"{what} frame {frame}: worst vertex {worst * 1000:.4f} mm")
    return bool(worst <= LIMIT)


def inside(mesh, frame, points):
    """Whether the extent of a prim is the box around points."""
    low, high = UsdGeom.Boundable(mesh).GetExtentAttr().Get(frame)
    slack = np.abs(np.array(low) - points.min(axis=0)).max()
    return max(slack, np.abs(np.array(high) - points.max(axis=0)).max()) <= LIMIT


def skinned(stage, skin):
    """The points of a mesh as its skeleton moves it, by frame."""
    cache = UsdSkel.Cache()
    root = UsdSkel.Root.Find(skin)
    cache.Populate(root, Usd.PrimDefaultPredicate)
    query = cache.GetSkinningQuery(skin)
    skeleton = cache.GetSkelQuery(UsdSkel.BindingAPI(skin).GetInheritedSkeleton())

    def at(frame):
        transforms = skeleton.ComputeSkinningTransforms(frame)
        points = UsdGeom.Mesh(skin).GetPointsAttr().Get()
        if not query.ComputeSkinnedPoints(transforms, points, frame):
            return np.zeros((0, 3))
        return np.array(points)

    return at


def main(folder):
    arrays = np.load(os.path.join(folder, "animation.npz"))
    garment_key = [k for k in arrays.files if k.startswith("cloth/")][0]
    cloth, body = arrays[garment_key], arrays["body"]
    last = len(cloth) - 1
    frames = sorted({0, last // 2, last})
    good = True

    # The text form is found out from what a .usd file holds, not from its name.
    for name in ("animation.usd", "animation.usda"):
        stage = Usd.Stage.Open(os.path.join(folder, name))
        said = findings(stage)
        print("\n".join([f"{name}: {len(said)} findings", *said]))
        good &= not said
    rate = float(arrays["frame_rate"])
    good &= check("rate", stage.GetTimeCodesPerSecond() == stage.GetFramesPerSecond() == rate)
    good &= check("range", (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0, last))
    good &= check("unit", UsdGeom.GetStageMetersPerUnit(stage) == 1)
    good &= check("up axis", UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.y)

    meshes = {p for p in stage.Traverse() if p.IsA(UsdGeom.Mesh)}
    skin = next(p for p in meshes if p.HasAPI(UsdSkel.BindingAPI))
    (garment,) = meshes - {skin}
    for prim, key in ((garment, garment_key[len("cloth/"):]), (skin, "body")):
        mesh = UsdGeom.Mesh(prim)
        triangles = np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3)
        good &= check(f"{key} triangles", np.array_equal(triangles, arrays[f"triangles/{key}"]))
        good &= check(f"{key} scheme", mesh.GetSubdivisionSchemeAttr().Get() == "none")
        good &= check(f"{key} colour", len(mesh.GetDisplayColorAttr().Get()) == 1)
        world = UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(0)
        good &= check(f"{key} place", world == Gf.Matrix4d(1))
    own = garment.GetDisplayName() or garment.GetName()
    good &= check("name of the garment", own == garment_key[len("cloth/"):])

    points = UsdGeom.Mesh(garment).GetPointsAttr()
    good &= check("number of samples", points.GetTimeSamples() == list(range(last + 1)))
    for frame in frames:
        read = np.array(points.Get(frame))
        good &= check(f"frame {frame} to the bit", np.array_equal(read, cloth[frame]))
        good &= compare("usd garment", frame, read, cloth[frame])
        good &= check("extent of the garment", inside(garment, frame, cloth[frame]))
    at = skinned(stage, skin)
    for frame in frames:
        good &= compare("usd body", frame, at(frame), body[frame])
        root = UsdSkel.Root.Find(skin).GetPrim()
        good &= check("extent of the body", inside(root, frame, body[frame]))

    # The other way to skin: the points are baked into the layer, which is not saved.
    UsdSkel.BakeSkinning(stage.Traverse())
    baked = UsdGeom.Mesh(stage.GetPrimAtPath(skin.GetPath())).GetPointsAttr()
    for frame in frames:
        good &= compare("usd baked body", frame, baked.Get(frame), body[frame])
    return good


if __name__ == "__main__":
    passed = main(sys.argv[1])
    print("USD agrees" if passed else "USD disagrees")
    sys.exit(0 if passed else 1)
