"""Compares what Blender reads from our exports with what we wrote.

Usage: python blender_compare.py FOLDER

FOLDER holds what `drapery animate` wrote: animation.npz, and animation.abc with
the same garments. If they are one, there may also be animation.glb with
animation.usda, garment.pc2 and garment.obj (the garment's own file). Or it
holds animation.npz and blend.glb, of one garment as a sum of shapes. Exits 1 when a vertex
is more than 0.1 mm from its place in animation.npz on one of three frames, or when
the archive's triangles or frames are not ours.
"""

import os
import sys

import bpy
import numpy as np

LIMIT = 1e-4  # metres


def to_blender(points):
    """Our axes (y up) in Blender's (z up)."""
    return np.stack([points[:, 0], -points[:, 2], points[:, 1]], axis=1)


def empty_scene(frame_rate):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = int(round(frame_rate))
    scene.render.fps_base = scene.render.fps / frame_rate
    return scene


def evaluated(obj):
    """World positions of an object's evaluated vertices."""
    graph = bpy.context.evaluated_depsgraph_get()
    graph.update()
    evaluated_object = obj.evaluated_get(graph)
    mesh = evaluated_object.to_mesh()
    points = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", points)
    points = points.reshape(-1, 3).astype(np.float64)
    world = np.array(evaluated_object.matrix_world)
    evaluated_object.to_mesh_clear()
    return points @ world[:3, :3].T + world[:3, 3]


def compare(what, frame, found, expected):
    if found.shape != expected.shape:
        print(f"{what} frame {frame}: {found.shape[0]} vertices, expected {expected.shape[0]}")
        return False
    worst = np.linalg.norm(found - expected, axis=1).max()
    print(f"{what} frame {frame}: worst vertex {worst * 1000:.4f} mm")
    return bool(worst <= LIMIT)


def compare_meshes(kind, scene, frames, cloth, body):
    """The garment and the body that an importer made of a scene."""
    # The glTF importer adds an Icosphere as the shape of bones.
    meshes = [o for o in bpy.data.objects if o.type == "MESH" and o.name != "Icosphere"]
    by_count = {len(o.data.vertices): o for o in meshes}
    good = True
    for what, points in ((f"{kind} garment", cloth), (f"{kind} body", body)):
        obj = by_count.get(points.shape[1])
        if obj is None:
            print(f"{what}: no mesh of {points.shape[1]} vertices among {sorted(by_count)}")
            return False
        for frame in frames:
            scene.frame_set(frame)
            good &= compare(what, frame, evaluated(obj), to_blender(points[frame]))
    return good


def triangles(mesh):
    """Corners of the faces of a mesh of triangles."""
    corners = np.empty(len(mesh.loops), dtype=np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    return corners.reshape(-1, 3) if len(corners) == 3 * len(mesh.polygons) else corners


def compare_alembic(path, arrays, frames, frame_rate):
    """Opens an archive and compares its meshes, their triangles and their frames."""
    good = True
    scene = empty_scene(frame_rate)
    bpy.ops.wm.alembic_import(filepath=path, as_background_job=False)
    found = (scene.frame_start, scene.frame_end)
    if found != (0, frames[-1]):
        print(f"abc: frames {found}, expected 0 to {frames[-1]} at {frame_rate} Hz")
        good = False
    keys = {k.removeprefix("cloth/"): k for k in arrays.files if k.startswith("cloth/")}
    keys["body"] = "body"
    meshes = {o.name: o for o in bpy.data.objects if o.type == "MESH"}
    if sorted(meshes) != sorted(keys):
        print(f"abc: meshes {sorted(meshes)}, expected {sorted(keys)}")
        return False
    for name, key in keys.items():
        obj = meshes[name]
        if not np.array_equal(triangles(obj.data), arrays[f"triangles/{name}"]):
            print(f"abc {name}: {len(obj.data.polygons)} faces are not our triangles")
            good = False
        if [m.type for m in obj.modifiers] != ["MESH_SEQUENCE_CACHE"]:
            print(f"abc {name}: modifiers {[m.type for m in obj.modifiers]}")
            good = False
        for frame in frames:
            scene.frame_set(frame)
            good &= compare(f"abc {name}", frame, evaluated(obj), to_blender(arrays[key][frame]))
    return good


def compare_one_garment(folder, arrays, frames, frame_rate):
    """Opens the files of one garment and compares it, and the body of the .glb."""
    garment_key = [k for k in arrays.files if k.startswith("cloth/")][0]
    cloth, body = arrays[garment_key], arrays["body"]
    good = True

    scene = empty_scene(frame_rate)
    bpy.ops.import_scene.gltf(filepath=os.path.join(folder, "animation.glb"))
    good &= compare_meshes("glb", scene, frames, cloth, body)

    scene = empty_scene(frame_rate)
    bpy.ops.wm.usd_import(filepath=os.path.join(folder, "animation.usda"))
    good &= compare_meshes("usd", scene, frames, cloth, body)

    scene = empty_scene(frame_rate)
    bpy.ops.wm.obj_import(
        filepath=os.path.join(folder, "garment.obj"), forward_axis="NEGATIVE_Z", up_axis="Y"
    )
    obj = next(o for o in bpy.data.objects if o.type == "MESH")
    cache = obj.modifiers.new("cache", "MESH_CACHE")
    cache.cache_format = "PC2"
    cache.filepath = os.path.join(folder, "garment.pc2")
    cache.frame_start = 0
    # Read as written; the object's own rotation turns y up into z up.
    cache.forward_axis, cache.up_axis = "POS_Y", "POS_Z"
    for frame in frames:
        scene.frame_set(frame)
        good &= compare("pc2 garment", frame, evaluated(obj), to_blender(cloth[frame]))
    return good


def main(folder):
    arrays = np.load(os.path.join(folder, "animation.npz"))
    frame_rate = float(arrays["frame_rate"])
    last = len(arrays["body"]) - 1
    frames = sorted({0, last // 2, last})
    blend = os.path.join(folder, "blend.glb")
    if os.path.exists(blend):
        scene = empty_scene(frame_rate)
        bpy.ops.import_scene.gltf(filepath=blend)
        cloth = arrays[[k for k in arrays.files if k.startswith("cloth/")][0]]
        return compare_meshes("blend", scene, frames, cloth, arrays["body"])
    good = compare_alembic(os.path.join(folder, "animation.abc"), arrays, frames, frame_rate)
    if os.path.exists(os.path.join(folder, "animation.glb")):
        good &= compare_one_garment(folder, arrays, frames, frame_rate)
    return good


if __name__ == "__main__":
    passed = main(sys.argv[1])
    print("Blender agrees" if passed else "Blender disagrees")
    sys.exit(0 if passed else 1)
