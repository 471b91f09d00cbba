"""Lets Blender's own cloth simulator move a garment on our exported character.

Usage: python blender_cloth.py CHARACTER.glb GARMENT.obj OUT.pc2 [SETTLE]

CHARACTER.glb is what `drapery animate` wrote: the body is a collider and plays
its animation. The garment hangs on it by the vertices of its groups pin…, or by
the highest tenth of them. In SETTLE frames (30) before the motion the body goes
from rest into the first pose; the cache has one sample for each frame of both,
in Blender's axes (z up). Import it with --up z and --cloth-frames SETTLE..END.
"""

import struct
import sys

import bpy
import numpy as np

MASS = 0.3  # of the whole garment [kg]


def pinned_vertices(path, heights):
    """Vertices of the p elements of groups whose names begin with pin."""
    pins, group = set(), ""
    for line in open(path, encoding="utf-8"):
        words = line.split()
        if words and words[0] in ("g", "o"):
            group = words[1] if len(words) > 1 else ""
        elif words and words[0] == "p" and group.startswith("pin"):
            pins.update(int(w) - 1 for w in words[1:])
    if not pins:
        limit = np.quantile(heights, 0.9)
        pins = {i for i, h in enumerate(heights) if h >= limit}
    return sorted(pins)


def read_obj(path):
    """Vertices (z up) and faces, in the file's own order."""
    points, faces = [], []
    for line in open(path, encoding="utf-8"):
        words = line.split()
        if words and words[0] == "v":
            x, y, z = map(float, words[1:4])
            points.append((x, -z, y))
        elif words and words[0] == "f":
            faces.append([int(w.split("/")[0]) - 1 for w in words[1:]])
    return points, faces


def main(character, garment, out, settle):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = 30, 1.0
    bpy.ops.import_scene.gltf(filepath=character)
    bodies = [o for o in bpy.data.objects if o.type == "MESH" and o.find_armature() is not None]
    n_motion = put_in_motion(scene, bodies[0].find_armature(), settle)
    for body in bodies:
        body.modifiers.new("collision", "COLLISION")
        body.collision.thickness_outer = 0.003
        body.collision.cloth_friction = 10.0
    points, faces = read_obj(garment)
    mesh = bpy.data.meshes.new("garment")
    mesh.from_pydata(points, [], faces)
    cloth_object = bpy.data.objects.new("garment", mesh)
    scene.collection.objects.link(cloth_object)
    group = cloth_object.vertex_groups.new(name="pin")
    group.add(pinned_vertices(garment, [p[2] for p in points]), 1.0, "REPLACE")
    # Pinned vertices follow the bones that the body there follows.
    transfer(bodies[0], cloth_object)
    cloth = cloth_object.modifiers.new("cloth", "CLOTH")
    cloth.settings.vertex_group_mass = "pin"
    cloth.settings.quality = 12
    cloth.settings.mass = MASS / len(points)
    for side in ("tension", "compression"):
        setattr(cloth.settings, f"{side}_stiffness", 40.0)
    cloth.collision_settings.distance_min = 0.003
    cloth.collision_settings.collision_quality = 4
    n_frames = settle + n_motion
    scene.frame_start, scene.frame_end = 1, n_frames
    cloth.point_cache.frame_start, cloth.point_cache.frame_end = 1, n_frames
    samples = []
    for frame in range(1, n_frames + 1):
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        evaluated = cloth_object.evaluated_get(graph)
        moved = evaluated.to_mesh()
        flat = np.empty(3 * len(moved.vertices), dtype=np.float32)
        moved.vertices.foreach_get("co", flat)
        samples.append(flat)
        evaluated.to_mesh_clear()
    with open(out, "wb") as file:
        file.write(b"POINTCACHE2\0")
        file.write(struct.pack("<iiffi", 1, len(points), 1.0, 1.0, n_frames))
        for sample in samples:
            file.write(sample.astype("<f4").tobytes())
    print(f"{out}: {n_frames} samples of {len(points)} vertices, motion from sample {settle}")


def put_in_motion(scene, armature, settle):
    """From rest to the first pose in half of `settle` frames, then the motion; its frames."""
    data = armature.animation_data
    motion, slot = data.action, data.action_slot
    first, last = (int(round(f)) for f in motion.frame_range)
    scene.frame_set(first)
    poses = {b.name: (b.location.copy(), b.rotation_quaternion.copy()) for b in armature.pose.bones}
    data.action = None
    for bone in armature.pose.bones:
        location, rotation = poses[bone.name]
        bone.location, bone.rotation_quaternion = (0, 0, 0), (1, 0, 0, 0)
        keys = ("location", "rotation_quaternion")
        for key in keys:
            bone.keyframe_insert(key, frame=1)
        bone.location, bone.rotation_quaternion = location, rotation
        for key in keys:
            bone.keyframe_insert(key, frame=1 + settle // 2)
    strips = [("dress", 1, data.action, data.action_slot), ("motion", 1 + settle, motion, slot)]
    data.action = None
    for name, start, action, action_slot in strips:
        strip = data.nla_tracks.new().strips.new(name, start, action)
        strip.action_slot = action_slot
        strip.extrapolation = "HOLD_FORWARD"
    return last - first + 1


def transfer(body, garment):
    """Weights of the nearest vertex of the body, and its armature."""
    from mathutils.kdtree import KDTree

    tree = KDTree(len(body.data.vertices))
    for vertex in body.data.vertices:
        tree.insert(body.matrix_world @ vertex.co, vertex.index)
    tree.balance()
    for vertex in garment.data.vertices:
        _, nearest, _ = tree.find(vertex.co)
        for element in body.data.vertices[nearest].groups:
            name = body.vertex_groups[element.group].name
            group = garment.vertex_groups.get(name) or garment.vertex_groups.new(name=name)
            group.add([vertex.index], element.weight, "REPLACE")
    modifier = garment.modifiers.new("armature", "ARMATURE")
    modifier.object = body.find_armature()
    modifier.vertex_group = "pin"


if __name__ == "__main__":
    main(*sys.argv[1:4], int(sys.argv[4]) if len(sys.argv) > 4 else 30)
