//! A software renderer for meshes: smooth shading, soft shadows, ambient
//! occlusion, a floor with a grid, contact sheets, colour bars, animations.
//!
//! Made to judge cloth by eye without a display or a GPU. The same scene gives
//! the same bytes for any number of threads. There are no textures, no
//! transparency and no mirrors.
//!
//! ```
//! use drapery_core::TriMesh;
//! use drapery_view::picture::{
//!     Camera, Colour, ColourBar, ColourMap, Options, Scene, SceneMesh, Size, Surface, View,
//!     render, sheet,
//! };
//! use glam::Vec3;
//!
//! // A square of cloth, standing on the floor.
//! let cloth = TriMesh::new(
//!     vec![Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::Y],
//!     vec![[0, 1, 2], [0, 2, 3]],
//! )?;
//! let mesh = SceneMesh::cloth(cloth.topology(), cloth.positions(), Colour::BLUE);
//! let scene = Scene::on_floor().with(mesh);
//!
//! // Four views of it on one sheet.
//! let size = Size::new(120, 160);
//! let options = Options::of_size(size);
//! let images = Camera::turntable(scene.points(), 4, View::front(), size)
//!     .iter()
//!     .map(|camera| render(&scene, camera, &options))
//!     .collect::<Result<Vec<_>, _>>()?;
//! let labels = ["front", "left", "back", "right"].map(String::from);
//! let all = sheet(&images, 4, &labels, "a square")?;
//! assert_eq!(all.width(), 4 * 126 + 6);
//!
//! // Numbers on its vertices, with their scale.
//! let heights = [0.0, 0.0, 1.0, 1.0];
//! let map = ColourMap::Meadow;
//! let range = (0.0, 1.0);
//! let coloured = mesh.with_surface(Surface::Values { values: &heights, range, map });
//! let scene = Scene::on_floor().with(coloured);
//! let camera = Camera::framing(&scene.bounds(), View::three_quarter(), size);
//! let bar = ColourBar { map, range, label: "height".into(), unit: "m".into() };
//! let png: Vec<u8> = bar.beside(&render(&scene, &camera, &options)?)?.png()?;
//! # assert!(png.starts_with(b"\x89PNG"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! For the frames of a clip, frame the bounds over all of them once
//! ([`Bounds::add`], [`Camera::framing`]) so that the pictures don't jump, or
//! let the camera follow the character ([`Camera::following`]).

mod camera;
mod colour;
mod colour_map;
mod cover;
mod floor;
mod glyphs;
mod image;
mod occlusion;
mod options;
mod parallel;
mod project;
mod raster;
mod render;
mod scene;
mod shade;
mod shadow;
mod sheet;
mod surface;
mod text;

pub use camera::{Bounds, Camera, Size, View};
pub use colour::Colour;
pub use colour_map::ColourMap;
pub use image::{Image, ImageError, animation_png, write_animation};
pub use options::{Light, Options, Shading};
pub use render::render;
pub use scene::{
    Background, DEPTH_BIAS, Depth, Scene, SceneError, SceneMesh, Sides, Surface, Wireframe,
};
pub use sheet::{ColourBar, sheet};

#[cfg(test)]
mod tests;
