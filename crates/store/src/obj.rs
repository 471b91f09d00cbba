//! Wavefront OBJ meshes.
//!
//! | line        | read as                                                        |
//! |-------------|----------------------------------------------------------------|
//! | `v x y z`   | a position; a weight or colour after it is skipped             |
//! | `vt u v`    | a texture coordinate; a third number is skipped                |
//! | `f a/t/n …` | a triangle, or a polygon cut into a fan from its first corner  |
//! | `g a b`     | the current groups; a bare `g` means none                      |
//! | `o name`    | the mesh's name, and the group of what follows until the next `g` |
//! | `p a b`     | points of every current group: a named set of vertices         |
//!
//! All other lines (`vn`, `s`, `usemtl`, `l`, …) are skipped and counted. A
//! face belongs to the first of several current groups. Indices may be
//! negative (counted back from the line) or name vertices that come later.
//! Vertices are never dropped, merged or moved.
//!
//! Text is UTF-8 or Latin-1 with any line ends; a backslash at the end of a
//! line joins the next one to it.
//!
//! ```
//! use drapery_store::obj::{read_obj, write_obj};
//!
//! let reading = read_obj(b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\ng front\nf 1 2 3 4\np 3 4\n")?;
//! assert_eq!(reading.mesh.faces.len(), 2);
//! assert_eq!(reading.n_split_polygons, 1);
//! assert_eq!(reading.mesh.groups[0].points, [2, 3]);
//! let again = read_obj(write_obj(&reading.mesh).as_bytes())?;
//! assert_eq!(again.mesh, reading.mesh);
//! # Ok::<(), drapery_store::obj::ObjError>(())
//! ```

mod lines;
mod read;
mod write;

use glam::{Vec2, Vec3};

pub use read::read_obj;
pub use write::write_obj;

/// The content of an OBJ file; every index is in range, every number finite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjMesh {
    /// The name of the first object, if it has one.
    pub name: Option<String>,
    /// `v`, in the file's own unit and axes.
    pub positions: Vec<Vec3>,
    /// `vt`.
    pub texture: Vec<Vec2>,
    /// `f`, polygons cut into triangles.
    pub faces: Vec<ObjFace>,
    /// Groups in the order of their first mention.
    pub groups: Vec<ObjGroup>,
}

/// A triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjFace {
    /// Corners as indices into [`ObjMesh::positions`], from 0.
    pub positions: [u32; 3],
    /// Corners as indices into [`ObjMesh::texture`], from 0.
    pub texture: Option<[u32; 3]>,
    /// Its group as an index into [`ObjMesh::groups`].
    pub group: Option<u32>,
}

/// A name for faces and points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjGroup {
    /// What it is called; without blanks, and used once in a mesh.
    pub name: String,
    /// The vertices that `p` lines name while the group is current.
    pub points: Vec<u32>,
}

/// A mesh and what was done to get it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjReading {
    /// The mesh.
    pub mesh: ObjMesh,
    /// Polygons of more than three corners, cut into triangles.
    pub n_split_polygons: usize,
    /// Points that no group names; they are dropped.
    pub n_nameless_points: usize,
    /// Lines skipped because they hold nothing that is read.
    pub n_skipped_lines: usize,
}

/// Why a file is not an OBJ mesh. Lines are counted from 1.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ObjError {
    /// The text is UTF-16.
    #[error("the file is UTF-16 text; save it as UTF-8")]
    Utf16,
    /// The file is not text.
    #[error("line {line}: the file is binary, not OBJ text")]
    Binary {
        /// The first line that is not text.
        line: usize,
    },
    /// There is no vertex.
    #[error("no vertex in {n_lines} lines")]
    Empty {
        /// How many lines were read.
        n_lines: usize,
    },
    /// Too few or too many words on a line.
    #[error("line {line}: {keyword} has {found} numbers, expected {expected}")]
    Count {
        /// The line.
        line: usize,
        /// Its first word.
        keyword: &'static str,
        /// How many words follow.
        found: usize,
        /// How many should.
        expected: &'static str,
    },
    /// A word that should be a number.
    #[error("line {line}: {word:?} is not a number")]
    Number {
        /// The line.
        line: usize,
        /// The word, shortened.
        word: String,
    },
    /// A number that is NaN, infinite or too large for single precision.
    #[error("line {line}: {word} is not finite")]
    NotFinite {
        /// The line.
        line: usize,
        /// The word, shortened.
        word: String,
    },
    /// A word that should be a corner or point.
    #[error("line {line}: {word:?} is not an index such as 1, 1/2, 1//3 or 1/2/3")]
    Index {
        /// The line.
        line: usize,
        /// The word, shortened.
        word: String,
    },
    /// An index that names nothing.
    #[error("line {line}: {what} {index} is named, but there are {count}, counted from 1")]
    NoSuch {
        /// The line.
        line: usize,
        /// `vertex` or `texture coordinate`.
        what: &'static str,
        /// The index as it stands in the file.
        index: i64,
        /// How many there are.
        count: usize,
    },
    /// A face with texture coordinates at some corners only.
    #[error("line {line}: some corners have texture coordinates and some have none")]
    MixedCorners {
        /// The line.
        line: usize,
    },
    /// More vertices, texture coordinates or faces than an index can name.
    #[error("line {line}: more than {} {what}", i32::MAX)]
    TooMany {
        /// The line.
        line: usize,
        /// What there are too many of.
        what: &'static str,
    },
}
