//! [`NpyArray`]: numbers or text with a shape, and its conversions.
//!
//! Conversions to floating point refuse NaN, infinities and what does not fit;
//! conversions to integers refuse fractions. The raw numbers stay available in
//! [`NpyArray::data`].

/// An array in C order (the last index runs fastest).
#[derive(Clone, Debug, PartialEq)]
pub struct NpyArray {
    /// Length along each axis; empty for a single value.
    pub shape: Vec<usize>,
    /// The elements, as many as the product of `shape`.
    pub data: NpyData,
}

/// The elements of an [`NpyArray`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NpyData {
    /// `f4`, and `f2` widened.
    F32(Vec<f32>),
    /// `f8`.
    F64(Vec<f64>),
    /// `i1`.
    I8(Vec<i8>),
    /// `i2`.
    I16(Vec<i16>),
    /// `i4`.
    I32(Vec<i32>),
    /// `i8`.
    I64(Vec<i64>),
    /// `u1`.
    U8(Vec<u8>),
    /// `u2`.
    U16(Vec<u16>),
    /// `u4`.
    U32(Vec<u32>),
    /// `u8`.
    U64(Vec<u64>),
    /// `b1`.
    Bool(Vec<bool>),
    /// `U`, and `S` read as UTF-8 or else Latin-1; trailing zeros are cut.
    Text(Vec<String>),
}

/// What is wrong with an array.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NpyError {
    /// The bytes don't start as a NumPy array does.
    #[error("not a NumPy array: the first bytes are not \\x93NUMPY")]
    Magic,
    /// The bytes end before the header does.
    #[error("the array header ends after {found} bytes, expected {expected}")]
    HeaderTruncated {
        /// Bytes present.
        found: usize,
        /// Bytes that the header should have.
        expected: usize,
    },
    /// A header longer than any real one.
    #[error("an array header of {found} bytes is longer than the limit of {limit}")]
    HeaderLength {
        /// Its declared length.
        found: usize,
        /// The longest that is read.
        limit: usize,
    },
    /// A format version that is not known.
    #[error("array format version {major}.{minor} is not 1.0, 2.0 or 3.0")]
    Version {
        /// The major version.
        major: u8,
        /// The minor version.
        minor: u8,
    },
    /// The header is not the dictionary that NumPy writes.
    #[error("the array header is malformed at byte {offset}: expected {expected}")]
    Header {
        /// Offset into the header's text.
        offset: usize,
        /// What should stand there.
        expected: &'static str,
    },
    /// Elements of a type that is not read.
    #[error("elements of type {descr} are not supported")]
    ElementType {
        /// The type as the header writes it.
        descr: String,
    },
    /// Pickled Python objects, which could run code.
    #[error("the array holds pickled Python objects, which are not read")]
    Objects,
    /// A shape with more elements than can be counted or read.
    #[error("an array of shape {shape:?} is larger than the limit of {limit} {unit}")]
    TooLarge {
        /// The declared shape.
        shape: Vec<usize>,
        /// The largest that is read.
        limit: u64,
        /// `bytes` or `strings`.
        unit: &'static str,
    },
    /// More or fewer bytes than the shape asks for.
    #[error("an array of shape {shape:?} takes {expected} bytes, but {found} are present")]
    Length {
        /// The declared shape.
        shape: Vec<usize>,
        /// Bytes that it takes.
        expected: usize,
        /// Bytes present.
        found: usize,
    },
    /// A string with a number that is no character.
    #[error("element {index} holds {value:#x}, which is not a Unicode character")]
    Character {
        /// The element's index in C order.
        index: usize,
        /// The number found.
        value: u32,
    },
    /// A number that is NaN or infinite, or becomes so when narrowed.
    #[error("element {index} is {value}, which is not finite or does not fit")]
    NotFinite {
        /// The element's index in C order.
        index: usize,
        /// The number found.
        value: f64,
    },
    /// A number that is not an integer of 64 bits.
    #[error("element {index} is not a 64-bit integer")]
    NotAnInteger {
        /// The element's index in C order.
        index: usize,
    },
    /// Text where numbers are wanted.
    #[error("the array holds {found}, expected {expected}")]
    Kind {
        /// What it holds.
        found: &'static str,
        /// What is wanted.
        expected: &'static str,
    },
}

impl NpyArray {
    /// An array of single-precision numbers.
    ///
    /// # Panics
    /// When `data` is not as long as the product of `shape`.
    pub fn f32(shape: impl Into<Vec<usize>>, data: Vec<f32>) -> Self {
        Self::new(shape.into(), NpyData::F32(data))
    }

    /// An array of double-precision numbers.
    ///
    /// # Panics
    /// When `data` is not as long as the product of `shape`.
    pub fn f64(shape: impl Into<Vec<usize>>, data: Vec<f64>) -> Self {
        Self::new(shape.into(), NpyData::F64(data))
    }

    /// An array of integers.
    ///
    /// # Panics
    /// When `data` is not as long as the product of `shape`.
    pub fn i64(shape: impl Into<Vec<usize>>, data: Vec<i64>) -> Self {
        Self::new(shape.into(), NpyData::I64(data))
    }

    /// An array of strings.
    ///
    /// # Panics
    /// When `data` is not as long as the product of `shape`.
    pub fn from_text(shape: impl Into<Vec<usize>>, data: Vec<String>) -> Self {
        Self::new(shape.into(), NpyData::Text(data))
    }

    /// An array of any elements.
    ///
    /// # Panics
    /// When `data` is not as long as the product of `shape`.
    pub fn new(shape: Vec<usize>, data: NpyData) -> Self {
        let n = shape.iter().product::<usize>();
        assert_eq!(n, data.len(), "as many elements as shape {shape:?} has");
        Self { shape, data }
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements as finite single-precision numbers, rounded.
    ///
    /// # Errors
    /// When the array holds text, or a number that is not finite.
    pub fn to_f32(&self) -> Result<Vec<f32>, NpyError> {
        self.data.clone().into_f32()
    }

    /// The elements as finite double-precision numbers.
    ///
    /// # Errors
    /// When the array holds text, or a number that is not finite.
    pub fn to_f64(&self) -> Result<Vec<f64>, NpyError> {
        self.data.clone().into_f64()
    }

    /// The elements as integers.
    ///
    /// # Errors
    /// When the array holds text, or a number that is not an integer of 64 bits.
    pub fn to_i64(&self) -> Result<Vec<i64>, NpyError> {
        self.data.clone().into_i64()
    }

    /// The elements as finite single-precision numbers, rounded; moved when
    /// they are of that type.
    ///
    /// # Errors
    /// When the array holds text, or a number that is not finite.
    pub fn into_f32(self) -> Result<Vec<f32>, NpyError> {
        self.data.into_f32()
    }

    /// The elements as finite double-precision numbers; moved when they are of
    /// that type.
    ///
    /// # Errors
    /// When the array holds text, or a number that is not finite.
    pub fn into_f64(self) -> Result<Vec<f64>, NpyError> {
        self.data.into_f64()
    }

    /// The elements as integers; moved when they are of that type.
    ///
    /// # Errors
    /// When the array holds text, or a number that is not an integer of 64 bits.
    pub fn into_i64(self) -> Result<Vec<i64>, NpyError> {
        self.data.into_i64()
    }

    /// The elements as strings, when they are.
    pub fn text(&self) -> Option<&[String]> {
        match &self.data {
            NpyData::Text(v) => Some(v),
            _ => None,
        }
    }
}

impl NpyData {
    pub(super) fn into_f32(self) -> Result<Vec<f32>, NpyError> {
        // Without a list of doubles between, which would be twice as long.
        match self {
            Self::F32(v) => match v.iter().position(|x| !x.is_finite()) {
                Some(index) => Err(NpyError::NotFinite {
                    index,
                    value: f64::from(v[index]),
                }),
                None => Ok(v),
            },
            Self::F64(v) => narrow(v.into_iter()),
            Self::I8(v) => Ok(v.into_iter().map(f32::from).collect()),
            Self::I16(v) => Ok(v.into_iter().map(f32::from).collect()),
            Self::I32(v) => narrow(v.into_iter().map(f64::from)),
            Self::I64(v) => narrow(v.into_iter().map(|x| x as f64)),
            Self::U8(v) => Ok(v.into_iter().map(f32::from).collect()),
            Self::U16(v) => Ok(v.into_iter().map(f32::from).collect()),
            Self::U32(v) => narrow(v.into_iter().map(f64::from)),
            Self::U64(v) => narrow(v.into_iter().map(|x| x as f64)),
            Self::Bool(v) => Ok(v.into_iter().map(|x| f32::from(u8::from(x))).collect()),
            Self::Text(_) => Err(text_for_numbers()),
        }
    }

    pub(super) fn into_f64(self) -> Result<Vec<f64>, NpyError> {
        let values: Vec<f64> = match self {
            Self::F32(v) => v.into_iter().map(f64::from).collect(),
            Self::F64(v) => v,
            Self::I8(v) => v.into_iter().map(f64::from).collect(),
            Self::I16(v) => v.into_iter().map(f64::from).collect(),
            Self::I32(v) => v.into_iter().map(f64::from).collect(),
            Self::I64(v) => v.into_iter().map(|x| x as f64).collect(),
            Self::U8(v) => v.into_iter().map(f64::from).collect(),
            Self::U16(v) => v.into_iter().map(f64::from).collect(),
            Self::U32(v) => v.into_iter().map(f64::from).collect(),
            Self::U64(v) => v.into_iter().map(|x| x as f64).collect(),
            Self::Bool(v) => v.into_iter().map(|x| f64::from(u8::from(x))).collect(),
            Self::Text(_) => return Err(text_for_numbers()),
        };
        match values.iter().position(|x| !x.is_finite()) {
            Some(index) => Err(NpyError::NotFinite {
                index,
                value: values[index],
            }),
            None => Ok(values),
        }
    }

    pub(super) fn into_i64(self) -> Result<Vec<i64>, NpyError> {
        Ok(match self {
            Self::F32(v) => integers(v.into_iter().map(f64::from))?,
            Self::F64(v) => integers(v.into_iter())?,
            Self::I8(v) => v.into_iter().map(i64::from).collect(),
            Self::I16(v) => v.into_iter().map(i64::from).collect(),
            Self::I32(v) => v.into_iter().map(i64::from).collect(),
            Self::I64(v) => v,
            Self::U8(v) => v.into_iter().map(i64::from).collect(),
            Self::U16(v) => v.into_iter().map(i64::from).collect(),
            Self::U32(v) => v.into_iter().map(i64::from).collect(),
            Self::U64(v) => {
                let signed = |(index, x): (usize, u64)| {
                    i64::try_from(x).map_err(|_| NpyError::NotAnInteger { index })
                };
                let signed = v.into_iter().enumerate().map(signed);
                signed.collect::<Result<_, _>>()?
            }
            Self::Bool(v) => v.into_iter().map(i64::from).collect(),
            Self::Text(_) => return Err(text_for_numbers()),
        })
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(v) => v.len(),
            Self::F64(v) => v.len(),
            Self::I8(v) => v.len(),
            Self::I16(v) => v.len(),
            Self::I32(v) => v.len(),
            Self::I64(v) => v.len(),
            Self::U8(v) => v.len(),
            Self::U16(v) => v.len(),
            Self::U32(v) => v.len(),
            Self::U64(v) => v.len(),
            Self::Bool(v) => v.len(),
            Self::Text(v) => v.len(),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

const fn text_for_numbers() -> NpyError {
    NpyError::Kind {
        found: "text",
        expected: "numbers",
    }
}

fn narrow(values: impl Iterator<Item = f64>) -> Result<Vec<f32>, NpyError> {
    values
        .enumerate()
        .map(|(index, value)| match value as f32 {
            narrow if narrow.is_finite() => Ok(narrow),
            _ => Err(NpyError::NotFinite { index, value }),
        })
        .collect()
}

fn integers(values: impl Iterator<Item = f64>) -> Result<Vec<i64>, NpyError> {
    // 2⁶³ is the first double beyond the range; −2⁶³ is in it.
    let whole = |x: f64| x.fract() == 0.0 && (-(2f64.powi(63))..2f64.powi(63)).contains(&x);
    values
        .enumerate()
        .map(|(index, x)| match whole(x) {
            true => Ok(x as i64),
            false => Err(NpyError::NotAnInteger { index }),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_the_type_asked_for_are_moved() {
        let single = vec![1.0f32, 2.0];
        let at = single.as_ptr();
        let moved = NpyArray::f32([2], single).into_f32().unwrap();
        assert_eq!(moved.as_ptr(), at);
        let double = vec![1.0f64, 2.0];
        let at = double.as_ptr();
        let moved = NpyArray::f64([2], double).into_f64().unwrap();
        assert_eq!(moved.as_ptr(), at);
        let whole = vec![1i64, 2];
        let at = whole.as_ptr();
        let moved = NpyArray::i64([2], whole).into_i64().unwrap();
        assert_eq!(moved.as_ptr(), at);
    }

    #[test]
    fn conversions_name_the_element_that_does_not_fit() {
        let wide = NpyArray::f64([3], vec![1.0, -2.0, 1e39]);
        assert_eq!(
            wide.to_f32(),
            Err(NpyError::NotFinite {
                index: 2,
                value: 1e39
            })
        );
        assert_eq!(wide.to_i64(), Err(NpyError::NotAnInteger { index: 2 }));
        let nan = NpyArray::f32([2], vec![0.0, f32::NAN]);
        assert!(matches!(
            nan.to_f64(),
            Err(NpyError::NotFinite { index: 1, .. })
        ));
        assert!(matches!(
            nan.to_f32(),
            Err(NpyError::NotFinite { index: 1, .. })
        ));
        let halves = NpyArray::f32([2], vec![2.0, 2.5]);
        assert_eq!(halves.to_i64(), Err(NpyError::NotAnInteger { index: 1 }));
        let big = NpyArray::new(vec![1], NpyData::U64(vec![u64::MAX]));
        assert_eq!(big.to_i64(), Err(NpyError::NotAnInteger { index: 0 }));
        let edge = NpyArray::f64([2], vec![-(2f64.powi(63)), 2f64.powi(63)]);
        assert_eq!(edge.to_i64(), Err(NpyError::NotAnInteger { index: 1 }));
        let words = NpyArray::from_text([1], vec!["one".into()]);
        assert!(matches!(words.to_f32(), Err(NpyError::Kind { .. })));
        assert_eq!(words.text(), Some(&["one".to_string()][..]));
    }
}
