//! A software renderer for meshes: smooth shading, shadows, contact sheets.
