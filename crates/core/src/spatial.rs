//! Where triangles lie in space: a bounding-volume tree that is refitted, not rebuilt.
