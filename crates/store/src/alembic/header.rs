//! What an archive says of its objects and properties: names, types, metadata.
//!
//! A property's header is a word of bits and what they ask for:
//!
//! ```text
//! bits 0, 1    compound 0, scalar 1, array 2 (3: an array of one value at all times)
//! bits 2, 3    width of the numbers behind: 1, 2 or 4 bytes for 0, 1, 2
//! bits 4–7     type of the values          bit 8    a time sampling is named
//! bit 10       as many values at all times bit 11   the value never changes
//! bits 12–19   values of an element        bits 20–27  metadata, from the table
//! number of samples  [time sampling]  length of the name  name
//! ```
//!
//! Of a compound there is the word and the name. A property that never changes has
//! one sample stored, whatever number it gives. Bit 9 would say which samples are
//! the first and the last to differ; ours are the second and the last, and it is
//! never set.
//!
//! An object's header is `u32 length, name, u8 metadata`. Behind those of its
//! children an object has two digests: of its properties, and of its children.

use sha2::{Digest as _, Sha256};

/// Sixteen bytes that differ when what they are of differs: the first half of a
/// SHA-256. Alembic has another hash here, which readers don't make again: they
/// compare what is in the files.
pub(super) type Digest = [u8; 16];

/// The first half of a SHA-256.
pub(super) fn digest(sha: Sha256) -> Digest {
    let whole = sha.finalize();
    std::array::from_fn(|i| whole[i])
}

/// The metadata that we write, in the order of the archive's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Metadata {
    Absent,
    Box,
    Point,
    MeshSchema,
    MeshObject,
    XformSchema,
    XformObject,
}

impl Metadata {
    const TABLE: [Self; 6] = [
        Self::Box,
        Self::Point,
        Self::MeshSchema,
        Self::MeshObject,
        Self::XformSchema,
        Self::XformObject,
    ];

    const fn text(self) -> &'static str {
        match self {
            Self::Absent => "",
            Self::Box => "interpretation=box",
            Self::Point => "geoScope=vtx;interpretation=point",
            Self::MeshSchema => "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1",
            Self::MeshObject => {
                "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1;\
                 schemaObjTitle=AbcGeom_PolyMesh_v1:.geom"
            }
            Self::XformSchema => "schema=AbcGeom_Xform_v3",
            Self::XformObject => "schema=AbcGeom_Xform_v3;schemaObjTitle=AbcGeom_Xform_v3:.xform",
        }
    }

    /// Its number in the table, which counts from 1; 0 is none.
    const fn index(self) -> u8 {
        self as u8
    }

    /// The bytes of the table: `u8 length, text` of each.
    pub(super) fn table() -> Vec<u8> {
        let mut bytes = Vec::new();
        for entry in Self::TABLE.map(Self::text) {
            // Each is far below 255 bytes, which a test holds it to.
            bytes.push(entry.len() as u8);
            bytes.extend(entry.as_bytes());
        }
        bytes
    }
}

/// The type of a property's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pod {
    Bool = 0,
    I32 = 6,
    F32 = 10,
    F64 = 11,
}

/// What a property is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Compound,
    Scalar(Values),
    /// An array, and how many elements each of its samples has.
    Array(Values, usize),
}

/// Values of a property over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Values {
    pub(super) pod: Pod,
    /// Values of an element: 3 of a point.
    pub(super) extent: u8,
    pub(super) n_samples: u32,
    /// Which of the archive's time samplings.
    pub(super) time_sampling: u32,
    pub(super) is_constant: bool,
}

/// The bytes of a property's header.
pub(super) fn property(name: &str, metadata: Metadata, kind: Kind) -> Vec<u8> {
    let (values, kind_bits) = match kind {
        Kind::Compound => (None, 0),
        Kind::Scalar(values) => (Some(values), 1),
        Kind::Array(values, 1) => (Some(values), 3),
        Kind::Array(values, _) => (Some(values), 2),
    };
    // Ours have names of a few letters.
    let name_length = name.len() as u32;
    let largest = values.map_or(0, |v| v.n_samples.max(v.time_sampling));
    let width = match largest.max(name_length) {
        0..=0xff => 0,
        0x100..=0xffff => 1,
        _ => 2,
    };
    let mut bits = kind_bits | width << 2 | u32::from(metadata.index()) << 20;
    if let Some(v) = values {
        bits |= (v.pod as u32) << 4 | u32::from(v.extent) << 12 | 1 << 10;
        bits |= u32::from(v.time_sampling != 0) << 8 | u32::from(v.is_constant) << 11;
    }
    let mut bytes = bits.to_le_bytes().to_vec();
    let mut number = |n: u32| bytes.extend(&n.to_le_bytes()[..1 << width]);
    if let Some(v) = values {
        number(v.n_samples);
        if v.time_sampling != 0 {
            number(v.time_sampling);
        }
    }
    number(name_length);
    bytes.extend(name.as_bytes());
    bytes
}

/// The bytes of an object's header, in its parent.
pub(super) fn object(name: &str, metadata: Metadata) -> Vec<u8> {
    // A name is held below 2³² bytes when it is made.
    let mut bytes = (name.len() as u32).to_le_bytes().to_vec();
    bytes.extend(name.as_bytes());
    bytes.push(metadata.index());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_stands_in_the_table_where_its_number_says() {
        for (at, entry) in Metadata::TABLE.into_iter().enumerate() {
            assert_eq!(usize::from(entry.index()), at + 1);
            assert!((1..255).contains(&entry.text().len()), "{entry:?}");
        }
        assert_eq!(Metadata::Absent.index(), 0);
        assert!(Metadata::table().starts_with(b"\x12interpretation=box\x21geoScope"));
    }

    /// Words of bits as Blender's own exporter writes them, of the same properties.
    #[test]
    fn headers_are_those_that_blender_writes() {
        let values = Values {
            pod: Pod::F64,
            extent: 6,
            n_samples: 3,
            time_sampling: 1,
            is_constant: false,
        };
        let bounds = property(".selfBnds", Metadata::Box, Kind::Scalar(values));
        assert_eq!(bounds, b"\xb1\x65\x10\x00\x03\x01\x09.selfBnds");
        let indices = Values {
            pod: Pod::I32,
            extent: 1,
            is_constant: true,
            ..values
        };
        let many = property(".faceIndices", Metadata::Absent, Kind::Array(indices, 6));
        assert_eq!(many, b"\x62\x1d\x00\x00\x03\x01\x0c.faceIndices");
        let one = property(".faceCounts", Metadata::Absent, Kind::Array(indices, 1));
        assert_eq!(one, b"\x63\x1d\x00\x00\x03\x01\x0b.faceCounts");
        let geom = property(".geom", Metadata::MeshSchema, Kind::Compound);
        assert_eq!(geom, b"\x00\x00\x30\x00\x05.geom");
    }

    #[test]
    fn numbers_are_as_wide_as_the_largest() {
        let values = |n_samples| Values {
            pod: Pod::F32,
            extent: 3,
            n_samples,
            time_sampling: 1,
            is_constant: false,
        };
        let of = |n| property("P", Metadata::Point, Kind::Array(values(n), 4));
        assert_eq!(of(255), b"\xa2\x35\x20\x00\xff\x01\x01P");
        assert_eq!(of(256), b"\xa6\x35\x20\x00\x00\x01\x01\x00\x01\x00P");
        assert_eq!(
            of(65_536),
            b"\xaa\x35\x20\x00\x00\x00\x01\x00\x01\x00\x00\x00\x01\x00\x00\x00P"
        );
    }
}
