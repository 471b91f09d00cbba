//! Named arrays in one run of bytes: the safetensors format.
//!
//! ```text
//! u64 LE   n, the length of the head
//! n bytes  JSON: {"__metadata__": {text: text}, name: {"dtype", "shape", "data_offsets"}, …}
//! bytes    the arrays' values, little-endian, one array after the other without gaps
//! ```
//!
//! Our own reader, since the head is untrusted and the runtime is `no_std`:
//! nothing is allocated by a number of the file that was not compared with the
//! bytes that are there, and maps are sorted, so that equal arrays are equal
//! bytes. Known types are `F32`, `U16` and `U32`.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The longest head [bytes].
const MAX_HEAD: usize = 16 << 20;

/// The most axes of an array.
const MAX_AXES: usize = 8;

/// The key of texts about all arrays.
const NOTES: &str = "__metadata__";

/// The note that has the checksum of the values.
const CHECKSUM: &str = "fnv1a64";

/// The values of an array.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TensorValues {
    /// Single precision, all finite.
    F32(Vec<f32>),
    /// Small indices.
    U16(Vec<u16>),
    /// Indices.
    U32(Vec<u32>),
}

impl TensorValues {
    const fn kind(&self) -> &'static str {
        match self {
            Self::F32(_) => "F32",
            Self::U16(_) => "U16",
            Self::U32(_) => "U32",
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::F32(v) => v.len(),
            Self::U16(v) => v.len(),
            Self::U32(v) => v.len(),
        }
    }

    fn extend_bytes(&self, out: &mut Vec<u8>) {
        match self {
            Self::F32(v) => v.iter().for_each(|x| out.extend(x.to_le_bytes())),
            Self::U16(v) => v.iter().for_each(|x| out.extend(x.to_le_bytes())),
            Self::U32(v) => v.iter().for_each(|x| out.extend(x.to_le_bytes())),
        }
    }
}

/// An array.
#[derive(Clone, Debug, PartialEq)]
struct Tensor {
    shape: Vec<usize>,
    values: TensorValues,
}

/// Named arrays, and texts about them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tensors {
    arrays: BTreeMap<String, Tensor>,
    /// Texts about all of them.
    pub notes: BTreeMap<String, String>,
}

/// Why bytes are no [`Tensors`], or an array is not what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorsError {
    /// It ends before it should.
    #[error("the file has {found} bytes and should have {expected}: it is cut short or foreign")]
    Length {
        /// How many bytes there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// It ends within its head, which says how long it is.
    #[error("the file has {found} bytes, its head alone {head}: it is cut short or foreign")]
    CutHead {
        /// How many bytes there are.
        found: usize,
        /// How many there should be up to the end of its head.
        head: usize,
    },
    /// The head is too long to be one.
    #[error("this is no model: its head would have {found} bytes, the limit is {MAX_HEAD}")]
    Head {
        /// Its length.
        found: u64,
    },
    /// The head is no JSON, or not of the right form.
    #[error("the head is not that of a safetensors file: {why}, at byte {column}")]
    Json {
        /// What is wrong.
        why: &'static str,
        /// Where in the head.
        column: usize,
    },
    /// An array of a type that is not known here.
    #[error("array {name} is of a type other than F32, U16 and U32")]
    Kind {
        /// Which array.
        name: String,
    },
    /// An array's place in the file is not where it should be.
    #[error("array {name} does not lie where its shape and the arrays before it put it")]
    Place {
        /// Which array.
        name: String,
    },
    /// The values are not those that were written.
    #[error("the values don't have their checksum: the file is damaged")]
    Checksum,
    /// An array is not there.
    #[error("array {name} is missing")]
    Missing {
        /// Which array.
        name: String,
    },
    /// An array has another shape or type.
    #[error("array {name} is {found_kind} {found:?} and should be {expected_kind} {expected:?}")]
    Shape {
        /// Which array.
        name: String,
        /// Its type.
        found_kind: &'static str,
        /// Its shape.
        found: Vec<usize>,
        /// The type it should have.
        expected_kind: &'static str,
        /// The shape it should have.
        expected: Vec<usize>,
    },
    /// An array holds a number that is not finite.
    #[error("value {index} of array {name} is not finite")]
    NotFinite {
        /// Which array.
        name: String,
        /// Which of its values.
        index: usize,
    },
}

/// What the head says of an array.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

impl Tensors {
    /// Adds an array, in the place of one of that name.
    ///
    /// # Panics
    /// When there is not one value an entry.
    pub fn insert(&mut self, name: &str, shape: &[usize], values: TensorValues) {
        let expected: usize = shape.iter().product();
        assert_eq!(values.len(), expected, "one value an entry of {name}");
        let shape = shape.to_vec();
        self.arrays
            .insert(name.to_owned(), Tensor { shape, values });
    }

    /// Whether there is an array of that name.
    pub fn contains(&self, name: &str) -> bool {
        self.arrays.contains_key(name)
    }

    /// The shape of an array.
    ///
    /// # Errors
    /// When it is not there, or has not `N` axes.
    pub fn shape<const N: usize>(&self, name: &str) -> Result<[usize; N], TensorsError> {
        let array = self.get(name)?;
        array.shape[..].try_into().map_err(|_| {
            let kind = array.values.kind();
            wrong_shape(name, array, kind, &[0; N])
        })
    }

    /// The values of an array of real numbers of that shape, all finite.
    ///
    /// # Errors
    /// When it is not there, not of that shape or has a value that is not finite.
    pub fn f32(&self, name: &str, shape: &[usize]) -> Result<&[f32], TensorsError> {
        let array = self.get(name)?;
        let TensorValues::F32(values) = &array.values else {
            return Err(wrong_shape(name, array, "F32", shape));
        };
        check_shape(name, array, shape)?;
        match values.iter().position(|v| !v.is_finite()) {
            Some(index) => Err(TensorsError::NotFinite {
                name: name.to_owned(),
                index,
            }),
            None => Ok(values),
        }
    }

    /// The values of an array of indices of that shape.
    ///
    /// # Errors
    /// When it is not there or not of that shape.
    pub fn u32(&self, name: &str, shape: &[usize]) -> Result<&[u32], TensorsError> {
        let array = self.get(name)?;
        let TensorValues::U32(values) = &array.values else {
            return Err(wrong_shape(name, array, "U32", shape));
        };
        check_shape(name, array, shape)?;
        Ok(values)
    }

    /// The values of an array of small indices of that shape.
    ///
    /// # Errors
    /// When it is not there or not of that shape.
    pub fn u16(&self, name: &str, shape: &[usize]) -> Result<&[u16], TensorsError> {
        let array = self.get(name)?;
        let TensorValues::U16(values) = &array.values else {
            return Err(wrong_shape(name, array, "U16", shape));
        };
        check_shape(name, array, shape)?;
        Ok(values)
    }

    fn get(&self, name: &str) -> Result<&Tensor, TensorsError> {
        let missing = || TensorsError::Missing {
            name: name.to_owned(),
        };
        self.arrays.get(name).ok_or_else(missing)
    }

    /// All of it as bytes; equal arrays give equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let json = |value: &str| Value::from(value).to_string();
        let mut payload = Vec::new();
        let mut places = Vec::new();
        for (name, array) in &self.arrays {
            let start = payload.len();
            array.values.extend_bytes(&mut payload);
            let place = Place {
                dtype: array.values.kind().to_owned(),
                shape: array.shape.clone(),
                data_offsets: [start, payload.len()],
            };
            let place = serde_json::to_string(&place).expect("numbers and texts");
            places.push(format!(",{}:{place}", json(name)));
        }
        let checksum = (CHECKSUM.to_owned(), checksum(&payload));
        let notes = self.notes.iter().map(|(k, v)| (k.clone(), v.clone()));
        let notes: BTreeMap<String, String> = notes.chain([checksum]).collect();
        let notes = serde_json::to_string(&notes).expect("texts");
        let mut head = format!("{{\"{NOTES}\":{notes}{}}}", places.concat());
        // So that the payload begins at a multiple of eight.
        while !head.len().is_multiple_of(8) {
            head.push(' ');
        }
        let mut bytes = Vec::with_capacity(8 + head.len() + payload.len());
        bytes.extend((head.len() as u64).to_le_bytes());
        bytes.extend(head.as_bytes());
        bytes.append(&mut payload);
        bytes
    }

    /// Reads what [`to_bytes`](Self::to_bytes), or any writer of safetensors,
    /// wrote.
    ///
    /// # Errors
    /// When the bytes are cut short, too long or of another format.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TensorsError> {
        let found = bytes.len();
        let Some((length, rest)) = bytes.split_first_chunk::<8>() else {
            return Err(TensorsError::Length { found, expected: 8 });
        };
        let length = u64::from_le_bytes(*length);
        let n_head = usize::try_from(length).ok().filter(|n| *n <= MAX_HEAD);
        let n_head = n_head.ok_or(TensorsError::Head { found: length })?;
        let Some((head, payload)) = rest.split_at_checked(n_head) else {
            let head = 8 + n_head;
            return Err(TensorsError::CutHead { found, head });
        };
        let head: BTreeMap<String, Value> = serde_json::from_slice(head).map_err(json_error)?;
        let (mut places, mut notes) = (Vec::new(), BTreeMap::new());
        for (name, value) in head {
            if name == NOTES {
                notes = serde_json::from_value(value).map_err(json_error)?;
            } else {
                let place: Place = serde_json::from_value(value).map_err(json_error)?;
                places.push((name, place));
            }
        }
        places.sort_by_key(|(_, place)| place.data_offsets);
        let whole = places.last().map_or(0, |(_, place)| place.data_offsets[1]);
        let mut arrays = BTreeMap::new();
        let mut end = 0;
        for (name, place) in places {
            let size = match place.dtype.as_str() {
                "F32" | "U32" => 4,
                "U16" => 2,
                _ => return Err(TensorsError::Kind { name }),
            };
            let n_values = place
                .shape
                .iter()
                .try_fold(1usize, |n, axis| n.checked_mul(*axis));
            let n_bytes = n_values.and_then(|n| n.checked_mul(size));
            let [start, stop] = place.data_offsets;
            let length = stop.checked_sub(start);
            if start != end || length.is_none() || length != n_bytes || place.shape.len() > MAX_AXES
            {
                return Err(TensorsError::Place { name });
            }
            let Some(own) = payload.get(start..stop) else {
                let expected = (8 + n_head).saturating_add(whole);
                return Err(TensorsError::Length { found, expected });
            };
            let values = match place.dtype.as_str() {
                "F32" => TensorValues::F32(chunks(own, f32::from_le_bytes)),
                "U16" => TensorValues::U16(chunks(own, u16::from_le_bytes)),
                _ => TensorValues::U32(chunks(own, u32::from_le_bytes)),
            };
            let shape = place.shape;
            arrays.insert(name, Tensor { shape, values });
            end = stop;
        }
        if end != payload.len() {
            let expected = 8 + n_head + end;
            return Err(TensorsError::Length { found, expected });
        }
        // Other writers have none.
        let sum: Option<String> = notes.remove(CHECKSUM);
        if sum.is_some_and(|sum| sum != checksum(payload)) {
            return Err(TensorsError::Checksum);
        }
        Ok(Self { arrays, notes })
    }
}

/// FNV-1a over 64 bits, as sixteen letters: for bits that flipped, not against
/// malice.
fn checksum(bytes: &[u8]) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    format!("{hash:016x}")
}

fn chunks<const N: usize, T>(bytes: &[u8], value: fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|c| value(*c)).collect()
}

fn json_error(error: serde_json::Error) -> TensorsError {
    use serde_json::error::Category;
    let why = match error.classify() {
        Category::Syntax => "it is no JSON",
        Category::Eof => "its JSON is cut short",
        _ => "its JSON has another form",
    };
    TensorsError::Json {
        why,
        column: error.column(),
    }
}

fn check_shape(name: &str, array: &Tensor, expected: &[usize]) -> Result<(), TensorsError> {
    match array.shape == expected {
        true => Ok(()),
        false => Err(wrong_shape(name, array, array.values.kind(), expected)),
    }
}

fn wrong_shape(
    name: &str,
    array: &Tensor,
    expected_kind: &'static str,
    expected: &[usize],
) -> TensorsError {
    TensorsError::Shape {
        name: name.to_owned(),
        found_kind: array.values.kind(),
        found: array.shape.clone(),
        expected_kind,
        expected: expected.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use proptest::prelude::*;

    use super::*;

    fn some() -> Tensors {
        let mut tensors = Tensors::default();
        tensors.insert(
            "b",
            &[2, 3],
            TensorValues::F32(vec![0.5, -1.0, 2.0, 3.0, 4.0, 5.0]),
        );
        tensors.insert("a", &[3], TensorValues::U16(vec![1, 2, 65535]));
        tensors.insert("c/d", &[1, 2], TensorValues::U32(vec![7, u32::MAX]));
        tensors.insert("empty", &[0, 3], TensorValues::F32(vec![]));
        tensors.notes.insert("about".into(), "a \"test\"\n".into());
        tensors
    }

    fn with_head(head: &str, payload: &[u8]) -> Vec<u8> {
        let mut bytes = (head.len() as u64).to_le_bytes().to_vec();
        bytes.extend(head.as_bytes());
        bytes.extend(payload);
        bytes
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = some().to_bytes();
        let read = Tensors::from_bytes(&bytes).unwrap();
        assert_eq!(read, some());
        assert_eq!(read.to_bytes(), bytes);
        assert_eq!(read.f32("b", &[2, 3]).unwrap()[1], -1.0);
        assert_eq!(read.u16("a", &[3]).unwrap(), [1, 2, 65535]);
        assert_eq!(read.shape::<2>("c/d").unwrap(), [1, 2]);
        let empty = Tensors::default();
        assert_eq!(Tensors::from_bytes(&empty.to_bytes()).unwrap(), empty);
    }

    #[test]
    fn every_cut_is_an_error() {
        let bytes = some().to_bytes();
        let head = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize + 8;
        for n in 0..bytes.len() {
            let said = match Tensors::from_bytes(&bytes[..n]) {
                Err(TensorsError::Length { expected, .. }) => expected,
                Err(TensorsError::CutHead { head, .. }) => head,
                other => panic!("{n}: {other:?}"),
            };
            let expected = match n {
                0..8 => 8,
                n if n < head => head,
                _ => bytes.len(),
            };
            assert_eq!(said, expected, "{n}");
        }
        let mut longer = bytes;
        longer.push(0);
        let found = Tensors::from_bytes(&longer);
        assert!(matches!(found, Err(TensorsError::Length { .. })));
    }

    #[test]
    fn strange_heads_are_named() {
        let place = |text: &str| with_head(text, &[0; 8]);
        let head = |n: u64| [n.to_le_bytes().to_vec(), vec![b' '; 64]].concat();
        assert_eq!(
            Tensors::from_bytes(&head(u64::MAX)),
            Err(TensorsError::Head { found: u64::MAX })
        );
        assert_eq!(
            Tensors::from_bytes(&head(1 << 20)),
            Err(TensorsError::CutHead {
                found: 72,
                head: 8 + (1 << 20)
            })
        );
        assert!(matches!(
            Tensors::from_bytes(&head(64)),
            Err(TensorsError::Json { .. })
        ));
        let cases = [
            (
                r#"{"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}"#,
                "kind",
            ),
            (
                r#"{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}"#,
                "place",
            ),
            (
                r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#,
                "place",
            ),
            (
                r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[8,4]}}"#,
                "place",
            ),
            (
                r#"{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}}"#,
                "place",
            ),
            (
                r#"{"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,2],"data_offsets":[0,8]}}"#,
                "place",
            ),
            (
                r#"{"a":{"dtype":"F32","shape":[1000000000],"data_offsets":[0,4000000000]}}"#,
                "length",
            ),
            (r#"{"a":{"dtype":"F32","shape":[2]}}"#, "json"),
            (
                r#"{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,8]}}"#,
                "json",
            ),
            (r#"{"__metadata__":{"a":1}}"#, "json"),
            (r#"[]"#, "json"),
        ];
        for (text, expected) in cases {
            let found = match Tensors::from_bytes(&place(text)) {
                Err(TensorsError::Kind { .. }) => "kind",
                Err(TensorsError::Place { .. }) => "place",
                Err(TensorsError::Length { .. }) => "length",
                Err(TensorsError::Json { .. }) => "json",
                other => panic!("{text}: {other:?}"),
            };
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn arrays_are_asked_for_by_type_and_shape() {
        let mut tensors = some();
        assert!(matches!(
            tensors.f32("x", &[1]),
            Err(TensorsError::Missing { .. })
        ));
        for wrong in [
            tensors.f32("a", &[3]).err(),
            tensors.f32("b", &[3, 2]).err(),
        ] {
            assert!(
                matches!(wrong, Some(TensorsError::Shape { .. })),
                "{wrong:?}"
            );
        }
        assert!(matches!(
            tensors.shape::<3>("b"),
            Err(TensorsError::Shape { .. })
        ));
        tensors.insert("n", &[2], TensorValues::F32(vec![0.0, f32::NAN]));
        assert_eq!(
            tensors.f32("n", &[2]),
            Err(TensorsError::NotFinite {
                name: "n".into(),
                index: 1
            })
        );
    }

    #[test]
    fn a_bit_that_flipped_in_a_value_is_noticed() {
        let mut bytes = some().to_bytes();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        assert_eq!(Tensors::from_bytes(&bytes), Err(TensorsError::Checksum));
    }

    proptest! {
        #[test]
        fn changed_bytes_never_panic(at in 0usize..400, value: u8) {
            let mut bytes = some().to_bytes();
            let n = bytes.len();
            bytes[at % n] = value;
            let _ = Tensors::from_bytes(&bytes);
        }
    }
}
