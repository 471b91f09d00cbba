//! Wavefront OBJ meshes with groups and pattern coordinates.
