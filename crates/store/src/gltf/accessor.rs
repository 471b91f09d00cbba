//! Numbers out of buffers: accessors decoded with every range checked.
//!
//! An accessor is opened first (index, type, component type, stride and range
//! are checked against its view and buffer), then decoded: base values, or
//! zeros without a view, and sparse replacements over them. Integers are
//! scaled to −1…1 or 0…1 when the accessor says `normalized`.
//!
//! An accessor can be used many times and, without a view, costs no bytes in
//! the file; so that a small file can't ask for all memory, decoded content is
//! limited to [`EXPANSION`] times the file plus [`HEADROOM`].

use std::borrow::Cow;
use std::cell::Cell;

use super::error::{Element, GltfError, Place};
use super::json::{self, Root};

/// How many times larger than the file its content may be. Bytes that become
/// floats grow four times; a vertex pool that is shared by dozens of
/// primitives grows as often as it is shared.
const EXPANSION: u64 = 256;
/// Bytes that content may take in any case.
const HEADROOM: u64 = 64 << 20;

/// All accessors of a file with the buffers they look into.
pub(super) struct Accessors<'a> {
    root: &'a Root,
    buffers: Vec<Cow<'a, [u8]>>,
    limit: u64,
    left: Cell<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    const fn from_code(code: u32) -> Option<Self> {
        Some(match code {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return None,
        })
    }

    const fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// An unsigned integer; `bytes` starts with it.
    fn unsigned(self, bytes: &[u8]) -> u32 {
        match self {
            Self::I8 | Self::U8 => u32::from(bytes[0]),
            Self::I16 | Self::U16 => u32::from(u16::from_le_bytes([bytes[0], bytes[1]])),
            Self::U32 | Self::F32 => u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
        }
    }

    /// A number; `bytes` starts with it.
    fn float(self, bytes: &[u8], normalized: bool) -> f32 {
        let (value, largest) = match self {
            Self::F32 => return f32::from_bits(self.unsigned(bytes)),
            Self::I8 => (f32::from(bytes[0] as i8), 127.0),
            Self::U8 => (f32::from(bytes[0]), 255.0),
            Self::I16 => (f32::from(i16::from_le_bytes([bytes[0], bytes[1]])), 32767.0),
            Self::U16 => (f32::from(u16::from_le_bytes([bytes[0], bytes[1]])), 65535.0),
            Self::U32 => (self.unsigned(bytes) as f32, 1.0),
        };
        if normalized {
            (value / largest).max(-1.0)
        } else {
            value
        }
    }
}

/// Elements in a buffer view; every element from 0 to the count is in range.
struct Elements<'b> {
    bytes: &'b [u8],
    stride: usize,
}

impl<'b> Elements<'b> {
    fn element(&self, index: usize) -> &'b [u8] {
        &self.bytes[index * self.stride..]
    }
}

/// An accessor whose ranges have been checked.
struct Opened<'b> {
    component: Component,
    normalized: bool,
    count: usize,
    base: Option<Elements<'b>>,
    /// Elements that are replaced, strictly increasing, and their values.
    sparse: Option<(Vec<u32>, Elements<'b>)>,
}

/// What an accessor must be to serve its use.
struct Wanted {
    kind: &'static str,
    n_components: usize,
    components: &'static [Component],
    /// What would fit, for the error.
    words: &'static str,
}

const NUMBERS: &[Component] = &[
    Component::F32,
    Component::I8,
    Component::U8,
    Component::I16,
    Component::U16,
];

impl<'a> Accessors<'a> {
    /// `file_size` counts the JSON; buffers are added to it.
    pub(super) fn new(root: &'a Root, buffers: Vec<Cow<'a, [u8]>>, file_size: usize) -> Self {
        let size: u64 = buffers.iter().map(|b| b.len() as u64).sum::<u64>() + file_size as u64;
        let limit = size.saturating_mul(EXPANSION).saturating_add(HEADROOM);
        Self {
            root,
            buffers,
            limit,
            left: Cell::new(limit),
        }
    }

    /// How many elements an accessor states.
    pub(super) fn count(&self, place: Place, accessor: u32) -> Result<u64, GltfError> {
        Ok(self.stated(place, accessor)?.count)
    }

    /// Single numbers.
    pub(super) fn scalars(&self, place: Place, accessor: u32) -> Result<Vec<f32>, GltfError> {
        let rows = self.floats::<1>(place, accessor, "SCALAR", "scalars")?;
        Ok(rows.into_iter().map(|[x]| x).collect())
    }

    /// Vectors of two numbers.
    pub(super) fn vectors2(&self, place: Place, accessor: u32) -> Result<Vec<[f32; 2]>, GltfError> {
        self.floats(place, accessor, "VEC2", "vectors of two")
    }

    /// Vectors of three numbers.
    pub(super) fn vectors3(&self, place: Place, accessor: u32) -> Result<Vec<[f32; 3]>, GltfError> {
        self.floats(place, accessor, "VEC3", "vectors of three")
    }

    /// Vectors of four numbers.
    pub(super) fn vectors4(&self, place: Place, accessor: u32) -> Result<Vec<[f32; 4]>, GltfError> {
        self.floats(place, accessor, "VEC4", "vectors of four")
    }

    /// Matrices of four columns of four.
    pub(super) fn matrices(
        &self,
        place: Place,
        accessor: u32,
    ) -> Result<Vec<[f32; 16]>, GltfError> {
        let wanted = Wanted {
            kind: "MAT4",
            n_components: 16,
            components: &[Component::F32],
            words: "float matrices of four by four",
        };
        self.decode_floats(place, accessor, &wanted)
    }

    /// Vertex indices.
    pub(super) fn indices(&self, place: Place, accessor: u32) -> Result<Vec<u32>, GltfError> {
        let wanted = Wanted {
            kind: "SCALAR",
            n_components: 1,
            components: &[Component::U8, Component::U16, Component::U32],
            words: "unsigned integers",
        };
        let rows = self.decode::<u32, 1>(place, accessor, &wanted, |opened, bytes| {
            opened.component.unsigned(bytes)
        })?;
        Ok(rows.into_iter().map(|[i]| i).collect())
    }

    /// Four joints a vertex.
    pub(super) fn joints(&self, place: Place, accessor: u32) -> Result<Vec<[u16; 4]>, GltfError> {
        let wanted = Wanted {
            kind: "VEC4",
            n_components: 4,
            components: &[Component::U8, Component::U16],
            words: "vectors of four unsigned bytes or shorts",
        };
        self.decode::<u16, 4>(place, accessor, &wanted, |opened, bytes| {
            opened.component.unsigned(bytes) as u16
        })
    }

    /// Takes room for `count` elements of `size` bytes out of what is left.
    pub(super) fn take_room(&self, accessor: u32, count: u64, size: u64) -> Result<(), GltfError> {
        let left = count
            .checked_mul(size)
            .and_then(|bytes| self.left.get().checked_sub(bytes))
            .ok_or(GltfError::TooLarge {
                accessor,
                count,
                limit: self.limit,
            })?;
        self.left.set(left);
        Ok(())
    }

    fn floats<const N: usize>(
        &self,
        place: Place,
        accessor: u32,
        kind: &'static str,
        words: &'static str,
    ) -> Result<Vec<[f32; N]>, GltfError> {
        let wanted = Wanted {
            kind,
            n_components: N,
            components: NUMBERS,
            words,
        };
        self.decode_floats(place, accessor, &wanted)
    }

    fn decode_floats<const N: usize>(
        &self,
        place: Place,
        accessor: u32,
        wanted: &Wanted,
    ) -> Result<Vec<[f32; N]>, GltfError> {
        let rows = self.decode::<f32, N>(place, accessor, wanted, |opened, bytes| {
            opened.component.float(bytes, opened.normalized)
        })?;
        match rows
            .iter()
            .position(|row| row.iter().any(|x| !x.is_finite()))
        {
            Some(element) => Err(GltfError::NotFinite { accessor, element }),
            None => Ok(rows),
        }
    }

    fn decode<T: Copy + Default, const N: usize>(
        &self,
        place: Place,
        accessor: u32,
        wanted: &Wanted,
        number: impl Fn(&Opened<'_>, &[u8]) -> T,
    ) -> Result<Vec<[T; N]>, GltfError> {
        let opened = self.open(place, accessor, wanted)?;
        self.take_room(accessor, opened.count as u64, size_of::<[T; N]>() as u64)?;
        let size = opened.component.size();
        let row = |bytes: &[u8]| -> [T; N] {
            std::array::from_fn(|i| number(&opened, &bytes[i * size..]))
        };
        let mut rows = match &opened.base {
            Some(base) => (0..opened.count).map(|i| row(base.element(i))).collect(),
            None => vec![[T::default(); N]; opened.count],
        };
        if let Some((replaced, values)) = &opened.sparse {
            for (entry, &element) in replaced.iter().enumerate() {
                rows[element as usize] = row(values.element(entry));
            }
        }
        Ok(rows)
    }

    fn stated(&self, place: Place, accessor: u32) -> Result<&'a json::Accessor, GltfError> {
        let list = &self.root.accessors;
        list.get(accessor as usize).ok_or(GltfError::NoSuch {
            place,
            element: Element::Accessor,
            index: accessor,
            count: list.len(),
        })
    }

    fn open(&self, place: Place, accessor: u32, wanted: &Wanted) -> Result<Opened<'_>, GltfError> {
        let stated = self.stated(place, accessor)?;
        let component = Component::from_code(stated.component_type)
            .filter(|c| stated.kind == wanted.kind && wanted.components.contains(c))
            .ok_or_else(|| GltfError::AccessorType {
                place,
                accessor,
                expected: wanted.words,
                found: stated.kind.clone(),
                component_type: stated.component_type,
            })?;
        if stated.count == 0 {
            return Err(GltfError::NoElements { accessor });
        }
        let size = component.size() * wanted.n_components;
        let base = match stated.buffer_view {
            Some(view) => {
                Some(self.elements(accessor, view, stated.byte_offset, stated.count, size)?)
            }
            None => None,
        };
        let sparse = match &stated.sparse {
            Some(sparse) => Some(self.sparse(place, accessor, stated, sparse, size)?),
            None => None,
        };
        let count = usize::try_from(stated.count).map_err(|_| GltfError::TooLarge {
            accessor,
            count: stated.count,
            limit: self.limit,
        })?;
        Ok(Opened {
            component,
            normalized: stated.normalized,
            count,
            base,
            sparse,
        })
    }

    fn sparse(
        &self,
        place: Place,
        accessor: u32,
        stated: &json::Accessor,
        sparse: &json::Sparse,
        size: usize,
    ) -> Result<(Vec<u32>, Elements<'_>), GltfError> {
        let component = Component::from_code(sparse.indices.component_type)
            .filter(|c| matches!(c, Component::U8 | Component::U16 | Component::U32))
            .ok_or_else(|| GltfError::AccessorType {
                place,
                accessor,
                expected: "unsigned integers as sparse indices",
                found: "SCALAR".to_owned(),
                component_type: sparse.indices.component_type,
            })?;
        let indices = self.elements(
            accessor,
            sparse.indices.buffer_view,
            sparse.indices.byte_offset,
            sparse.count,
            component.size(),
        )?;
        let values = self.elements(
            accessor,
            sparse.values.buffer_view,
            sparse.values.byte_offset,
            sparse.count,
            size,
        )?;
        // The indices are in range of their view, so there are no more of them than bytes.
        let mut replaced = Vec::with_capacity(sparse.count as usize);
        for entry in 0..sparse.count as usize {
            let element = component.unsigned(indices.element(entry));
            let after = replaced.last().copied();
            if u64::from(element) >= stated.count || after.is_some_and(|a| element <= a) {
                return Err(GltfError::SparseIndex {
                    accessor,
                    entry,
                    element,
                    count: stated.count,
                    after,
                });
            }
            replaced.push(element);
        }
        Ok((replaced, values))
    }

    /// `count` elements of `size` bytes at `offset` of a view, all in range.
    fn elements(
        &self,
        accessor: u32,
        view: u32,
        offset: u64,
        count: u64,
        size: usize,
    ) -> Result<Elements<'_>, GltfError> {
        let views = &self.root.buffer_views;
        let stated = views.get(view as usize).ok_or(GltfError::NoSuch {
            place: Place::Accessor(accessor),
            element: Element::BufferView,
            index: view,
            count: views.len(),
        })?;
        let buffer = self
            .buffers
            .get(stated.buffer as usize)
            .ok_or(GltfError::NoSuch {
                place: Place::BufferView(view),
                element: Element::Buffer,
                index: stated.buffer,
                count: self.buffers.len(),
            })?;
        let range = |offset: u64, length: u64, available: usize| {
            let end = offset.checked_add(length)?;
            (end <= available as u64).then_some(offset as usize..end as usize)
        };
        let bytes = range(stated.byte_offset, stated.byte_length, buffer.len())
            .map(|range| &buffer[range])
            .ok_or(GltfError::ViewRange {
                view,
                buffer: stated.buffer,
                offset: stated.byte_offset,
                length: stated.byte_length,
                available: buffer.len() as u64,
            })?;
        let size = size as u64;
        let stride = stated.byte_stride.unwrap_or(size);
        if stride < size {
            return Err(GltfError::Stride {
                accessor,
                size,
                stride,
            });
        }
        // The last element need not be followed by its padding.
        let length = match count.checked_sub(1) {
            Some(before) => before.checked_mul(stride).and_then(|l| l.checked_add(size)),
            None => Some(0),
        };
        let bytes = length
            .and_then(|length| range(offset, length, bytes.len()))
            .map(|range| &bytes[range])
            .ok_or(GltfError::AccessorRange {
                accessor,
                view,
                count,
                available: bytes.len() as u64,
            })?;
        Ok(Elements {
            bytes,
            stride: usize::try_from(stride).unwrap_or(usize::MAX),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(json: &str) -> Root {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn normalised_integers_follow_the_specification() {
        // glTF 2.0 §3.11: f = max(c / 127, −1), c / 255, max(c / 32767, −1), c / 65535.
        assert_eq!(Component::I8.float(&[0x80], true), -1.0);
        assert_eq!(Component::I8.float(&[127], true), 1.0);
        assert_eq!(Component::U8.float(&[51], true), 0.2);
        assert_eq!(Component::I16.float(&(-32768i16).to_le_bytes(), true), -1.0);
        assert_eq!(Component::U16.float(&13107u16.to_le_bytes(), true), 0.2);
        assert_eq!(
            Component::I16.float(&(-300i16).to_le_bytes(), false),
            -300.0
        );
    }

    #[test]
    fn strides_offsets_and_sparse_entries_are_followed() {
        let root = root(
            r#"{"asset": {"version": "2.0"},
            "buffers": [{"byteLength": 22}],
            "bufferViews": [
              {"buffer": 0, "byteOffset": 1, "byteLength": 14, "byteStride": 5},
              {"buffer": 0, "byteOffset": 15, "byteLength": 2},
              {"buffer": 0, "byteOffset": 17, "byteLength": 5}],
            "accessors": [
              {"bufferView": 0, "byteOffset": 1, "componentType": 5121, "count": 3, "type": "VEC3",
               "sparse": {"count": 1, "indices": {"bufferView": 1, "byteOffset": 1, "componentType": 5121},
                          "values": {"bufferView": 2, "byteOffset": 2}}},
              {"componentType": 5126, "count": 2, "type": "VEC3"}]}"#,
        );
        let mut bytes: Vec<u8> = (0..22).collect();
        bytes[16] = 2;
        let accessors = Accessors::new(&root, vec![Cow::Owned(bytes)], 0);
        assert_eq!(
            accessors.vectors3(Place::File, 0).unwrap(),
            [[2.0, 3.0, 4.0], [7.0, 8.0, 9.0], [19.0, 20.0, 21.0]]
        );
        assert_eq!(
            accessors.vectors3(Place::File, 1).unwrap(),
            [[0.0; 3], [0.0; 3]]
        );
    }

    #[test]
    fn counts_without_bytes_are_limited() {
        let root = root(
            r#"{"asset": {"version": "2.0"},
            "accessors": [{"componentType": 5126, "count": 4000000000, "type": "VEC3"},
                          {"componentType": 5126, "count": 18446744073709551615, "type": "VEC3"}]}"#,
        );
        let accessors = Accessors::new(&root, vec![], 100);
        for accessor in [0, 1] {
            assert!(matches!(
                accessors.vectors3(Place::File, accessor),
                Err(GltfError::TooLarge { .. })
            ));
        }
    }
}
