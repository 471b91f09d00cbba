//! glTF 2.0: characters and animations in, baked scenes out.
//!
//! [`read`] takes the bytes of a `.glb` or `.gltf` and gives a
//! [`GltfDocument`] of plain arrays in the file's own spaces and order. All is
//! checked on the way: ranges, counts, component types, indices, cycles, NaN;
//! whatever comes out of the reader can be indexed without a further check.
//! Sparse accessors and quantised attributes (`KHR_mesh_quantization`) are
//! decoded. Draco and meshopt compression are refused by name. Materials,
//! images, cameras and lights are passed over.
//!
//! [`write_glb`] streams a [`GlbScene`]: a skinned, animated body and garments
//! baked as one morph target a frame.
//!
//! ```
//! use drapery_store::gltf::{GltfError, read};
//!
//! let document = read(br#"{"asset": {"version": "2.0"}, "nodes": [{"name": "hips"}]}"#)?;
//! assert_eq!(document.nodes[0].name.as_deref(), Some("hips"));
//! assert!(matches!(read(b""), Err(GltfError::Empty)));
//! # Ok::<(), GltfError>(())
//! ```

mod accessor;
mod animation;
mod container;
mod document;
mod error;
mod json;
mod mesh;
mod read;
mod write;

pub use document::{
    ChannelValues, GltfAnimation, GltfChannel, GltfDocument, GltfMesh, GltfNode, GltfPrimitive,
    GltfSkin, Interpolation, JointSet, NodeTransform,
};
pub use error::{Element, GltfError, Place};
pub use read::{read, read_file, read_with};
pub use write::{GarmentNormals, GlbBlend, GlbScene, GlbWriteError, write_glb};
