//! Elements of an array from and to bytes.

use super::header::Header;
use super::{NpyData, NpyError};

/// The most strings an array may have: they are names, and each takes far more
/// memory than its bytes in the file.
const MAX_STRINGS: usize = 1 << 20;

/// The elements in `bytes`, put in C order.
pub(super) fn decode(header: &Header, bytes: &[u8], limit: u64) -> Result<NpyData, NpyError> {
    let unsupported = || NpyError::ElementType {
        descr: header.descr.clone(),
    };
    let (order, kind) = match header.descr.as_bytes() {
        [order @ (b'<' | b'>' | b'|' | b'='), kind @ ..] => (*order, kind),
        kind => (b'|', kind),
    };
    let (kind, size) = match kind {
        [b'O', ..] => return Err(NpyError::Objects),
        [kind, digits @ ..] => {
            let digits = std::str::from_utf8(digits).map_err(|_| unsupported())?;
            let size: usize = digits.parse().map_err(|_| unsupported())?;
            (*kind, size)
        }
        [] => return Err(unsupported()),
    };
    // A character of U has four bytes, everything else counts in bytes.
    let size = match kind {
        b'U' => size.checked_mul(4).ok_or_else(unsupported)?,
        _ => size,
    };
    let n = check_length(header, size, bytes.len(), limit)?;
    let big = order == b'>';
    macro_rules! numbers {
        ($variant:ident, $type:ty) => {
            NpyData::$variant(ordered(header, fixed(bytes, big, <$type>::from_le_bytes)))
        };
    }
    Ok(match (kind, size) {
        (b'f', 2) => NpyData::F32(ordered(
            header,
            fixed(bytes, big, |b| f32_from_half(u16::from_le_bytes(b))),
        )),
        (b'f', 4) => numbers!(F32, f32),
        (b'f', 8) => numbers!(F64, f64),
        (b'i', 1) => numbers!(I8, i8),
        (b'i', 2) => numbers!(I16, i16),
        (b'i', 4) => numbers!(I32, i32),
        (b'i', 8) => numbers!(I64, i64),
        (b'u', 1) => numbers!(U8, u8),
        (b'u', 2) => numbers!(U16, u16),
        (b'u', 4) => numbers!(U32, u32),
        (b'u', 8) => numbers!(U64, u64),
        (b'b', 1) => NpyData::Bool(ordered(header, fixed(bytes, big, |[b]| b != 0))),
        (b'S' | b'a' | b'U', _) => {
            if n > MAX_STRINGS {
                return Err(NpyError::TooLarge {
                    shape: header.shape.clone(),
                    limit: MAX_STRINGS as u64,
                    unit: "strings",
                });
            }
            let row = |index: usize| &bytes[index * size..(index + 1) * size];
            let texts = match kind {
                b'U' => (0..n)
                    .map(|index| wide_string(index, row(index), big))
                    .collect::<Result<_, _>>()?,
                _ => (0..n).map(|index| narrow_string(row(index))).collect(),
            };
            NpyData::Text(ordered(header, texts))
        }
        _ => return Err(unsupported()),
    })
}

/// The number of elements, when `found` bytes are just what they take.
fn check_length(header: &Header, size: usize, found: usize, limit: u64) -> Result<usize, NpyError> {
    let too_large = || NpyError::TooLarge {
        shape: header.shape.clone(),
        limit,
        unit: "bytes",
    };
    // A length of 0 makes the product 0 whatever the others are, so they are
    // multiplied without it.
    let mut product: usize = 1;
    for &axis in header.shape.iter().filter(|&&n| n > 0) {
        product = product.checked_mul(axis).ok_or_else(too_large)?;
    }
    let n = match header.shape.contains(&0) {
        true => 0,
        false => product,
    };
    let expected = n.checked_mul(size).ok_or_else(too_large)?;
    if expected as u64 > limit {
        return Err(too_large());
    }
    if expected != found {
        return Err(NpyError::Length {
            shape: header.shape.clone(),
            expected,
            found,
        });
    }
    Ok(n)
}

fn fixed<T, const N: usize>(bytes: &[u8], big: bool, value: impl Fn([u8; N]) -> T) -> Vec<T> {
    let (elements, _) = bytes.as_chunks::<N>();
    elements
        .iter()
        .map(|element| {
            let mut element = *element;
            if big {
                element.reverse();
            }
            value(element)
        })
        .collect()
}

/// `values` in C order.
fn ordered<T: Clone>(header: &Header, values: Vec<T>) -> Vec<T> {
    let shape = &header.shape;
    if !header.fortran_order || shape.len() < 2 || values.is_empty() {
        return values;
    }
    // Strides of a Fortran array, then a C-order count through them.
    let mut strides = vec![1; shape.len()];
    for axis in 1..shape.len() {
        strides[axis] = strides[axis - 1] * shape[axis - 1];
    }
    let mut index = vec![0; shape.len()];
    let mut offset = 0;
    let mut out = Vec::with_capacity(values.len());
    for _ in 0..values.len() {
        out.push(values[offset].clone());
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            offset += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            offset -= strides[axis] * shape[axis];
            index[axis] = 0;
        }
    }
    out
}

fn wide_string(index: usize, bytes: &[u8], big: bool) -> Result<String, NpyError> {
    let codes = fixed(bytes, big, u32::from_le_bytes);
    let length = codes
        .iter()
        .rposition(|&c| c != 0)
        .map_or(0, |last| last + 1);
    codes[..length]
        .iter()
        .map(|&value| char::from_u32(value).ok_or(NpyError::Character { index, value }))
        .collect()
}

fn narrow_string(bytes: &[u8]) -> String {
    let length = bytes
        .iter()
        .rposition(|&b| b != 0)
        .map_or(0, |last| last + 1);
    let bytes = &bytes[..length];
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_string(),
        Err(_) => bytes.iter().map(|&b| char::from(b)).collect(),
    }
}

/// IEEE half precision: 1 sign, 5 exponent and 10 fraction bits.
fn f32_from_half(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let exponent = u32::from(half >> 10 & 0x1f);
    let fraction = u32::from(half & 0x3ff);
    match exponent {
        // Zero and subnormals: fraction × 2⁻²⁴, exact in single precision.
        0 => f32::from_bits(sign | (fraction as f32 * 2f32.powi(-24)).to_bits()),
        0x1f => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 127 - 15) << 23 | fraction << 13),
    }
}

/// The element type and the bytes of `data`, little endian.
pub(super) fn encode(data: &NpyData) -> (String, Vec<u8>) {
    macro_rules! numbers {
        ($descr:literal, $values:expr) => {
            (
                $descr.into(),
                $values.iter().flat_map(|x| x.to_le_bytes()).collect(),
            )
        };
    }
    match data {
        NpyData::F32(v) => numbers!("<f4", v),
        NpyData::F64(v) => numbers!("<f8", v),
        NpyData::I8(v) => numbers!("|i1", v),
        NpyData::I16(v) => numbers!("<i2", v),
        NpyData::I32(v) => numbers!("<i4", v),
        NpyData::I64(v) => numbers!("<i8", v),
        NpyData::U8(v) => numbers!("|u1", v),
        NpyData::U16(v) => numbers!("<u2", v),
        NpyData::U32(v) => numbers!("<u4", v),
        NpyData::U64(v) => numbers!("<u8", v),
        NpyData::Bool(v) => ("|b1".into(), v.iter().map(|&b| u8::from(b)).collect()),
        NpyData::Text(v) => {
            let width = v
                .iter()
                .map(|s| s.chars().count())
                .max()
                .unwrap_or(0)
                .max(1);
            let mut bytes = Vec::with_capacity(4 * width * v.len());
            for text in v {
                let codes = text.chars().map(u32::from).chain(std::iter::repeat(0));
                bytes.extend(codes.take(width).flat_map(u32::to_le_bytes));
            }
            (format!("<U{width}"), bytes)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_has_the_values_of_the_standard() {
        let cases = [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7bff, 65504.0),
            (0x0400, 2f32.powi(-14)),
            (0x0001, 2f32.powi(-24)),
            (0x83ff, -1023.0 * 2f32.powi(-24)),
            (0xfc00, f32::NEG_INFINITY),
        ];
        for (bits, value) in cases {
            assert_eq!(f32_from_half(bits), value, "{bits:#06x}");
        }
        assert!(f32_from_half(0x7e00).is_nan());
        assert!(f32_from_half(0x8000).is_sign_negative());
    }

    #[test]
    fn fortran_order_is_turned_into_c_order() {
        let header = |shape: &[usize]| Header {
            descr: "|u1".into(),
            fortran_order: true,
            shape: shape.to_vec(),
        };
        // a[i][j][k] = 100 i + 10 j + k, stored with i fastest.
        let mut stored = Vec::new();
        for k in 0..4 {
            for j in 0..3 {
                for i in 0..2 {
                    stored.push(100 * i + 10 * j + k);
                }
            }
        }
        let NpyData::U8(out) = decode(&header(&[2, 3, 4]), &stored, 1000).unwrap() else {
            panic!("bytes are bytes");
        };
        for (at, value) in out.into_iter().enumerate() {
            let (i, j, k) = (at / 12, at / 4 % 3, at % 4);
            assert_eq!(usize::from(value), 100 * i + 10 * j + k);
        }
    }

    #[test]
    fn strings_without_characters_are_not_a_way_to_fill_memory() {
        let header = Header {
            descr: "<U0".into(),
            fortran_order: false,
            shape: vec![1 << 40],
        };
        assert!(matches!(
            decode(&header, &[], u64::MAX),
            Err(NpyError::TooLarge {
                unit: "strings",
                ..
            })
        ));
    }

    #[test]
    fn a_product_that_overflows_is_too_large_even_beside_a_zero() {
        for shape in [vec![usize::MAX, 2], vec![0, usize::MAX, 3]] {
            let header = Header {
                descr: "<f4".into(),
                fortran_order: false,
                shape,
            };
            assert!(matches!(
                decode(&header, &[], 1000),
                Err(NpyError::TooLarge { .. })
            ));
        }
    }
}
