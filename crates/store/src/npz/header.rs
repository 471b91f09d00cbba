//! The header of a `.npy` file: a Python dictionary of three entries.
//!
//! ```text
//! \x93NUMPY  major  minor  length  {'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }
//! ```
//!
//! `length` has two bytes in version 1 and four in versions 2 and 3. Only the
//! part of Python's syntax that NumPy writes is read.

use super::NpyError;

/// The first bytes of every array file.
const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The longest header that is read [bytes]. NumPy's own limit is 10,000; real
/// headers have 118 or fewer.
const MAX_HEADER: usize = 65_535;

/// The most axes an array may have, as in NumPy 2.
const MAX_AXES: usize = 64;

/// What a header says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Header {
    /// The element type, such as `<f4`.
    pub(super) descr: String,
    /// Whether the first index runs fastest.
    pub(super) fortran_order: bool,
    /// Length along each axis.
    pub(super) shape: Vec<usize>,
}

/// The header at the start of `bytes`, and what follows it.
pub(super) fn read_header(bytes: &[u8]) -> Result<(Header, &[u8]), NpyError> {
    if !bytes.starts_with(MAGIC) {
        return Err(NpyError::Magic);
    }
    let truncated = |expected| NpyError::HeaderTruncated {
        found: bytes.len(),
        expected,
    };
    let version = bytes.get(6..8).ok_or(truncated(10))?;
    let (start, length) = match [version[0], version[1]] {
        [1, 0] => {
            let field = bytes.get(8..10).ok_or(truncated(10))?;
            (10, usize::from(u16::from_le_bytes([field[0], field[1]])))
        }
        [2 | 3, 0] => {
            let field = bytes.get(8..12).ok_or(truncated(12))?;
            let length = u32::from_le_bytes([field[0], field[1], field[2], field[3]]);
            (12, usize::try_from(length).unwrap_or(usize::MAX))
        }
        [major, minor] => return Err(NpyError::Version { major, minor }),
    };
    if length > MAX_HEADER {
        return Err(NpyError::HeaderLength {
            found: length,
            limit: MAX_HEADER,
        });
    }
    let text = bytes
        .get(start..start + length)
        .ok_or(truncated(start + length))?;
    let header = Parser { text, at: 0 }.dictionary()?;
    Ok((header, &bytes[start + length..]))
}

/// The bytes of a header, padded so that the data starts at a multiple of 64.
pub(super) fn write_header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let axes: String = shape.iter().map(|n| format!("{n}, ")).collect();
    // A tuple of one needs its comma, longer ones don't have it.
    let axes = match shape.len() {
        1 => axes.trim_end(),
        _ => axes.trim_end_matches(", "),
    };
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({axes}), }}");
    let prefix = if text.len() + 75 <= usize::from(u16::MAX) {
        10
    } else {
        12
    };
    while !(prefix + text.len() + 1).is_multiple_of(64) {
        text.push(' ');
    }
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    if prefix == 10 {
        bytes.extend([1, 0]);
        bytes.extend((text.len() as u16).to_le_bytes());
    } else {
        bytes.extend([2, 0]);
        bytes.extend((text.len() as u32).to_le_bytes());
    }
    bytes.extend(text.as_bytes());
    bytes
}

/// A cursor in the header's text.
struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn dictionary(mut self) -> Result<Header, NpyError> {
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        self.expect(b'{', "an opening brace")?;
        while !self.accept(b'}') {
            let key = self.string()?;
            self.expect(b':', "a colon")?;
            match key.as_str() {
                "descr" => descr = Some(self.descr()?),
                "fortran_order" => fortran_order = Some(self.boolean()?),
                "shape" => shape = Some(self.tuple()?),
                _ => return Err(self.fault("the key descr, fortran_order or shape")),
            }
            if !self.accept(b',') {
                self.expect(b'}', "a comma or closing brace")?;
                break;
            }
        }
        self.blanks();
        if self.at < self.text.len() {
            return Err(self.fault("the end of the header"));
        }
        Ok(Header {
            descr: descr.ok_or(self.fault("the key descr"))?,
            fortran_order: fortran_order.ok_or(self.fault("the key fortran_order"))?,
            shape: shape.ok_or(self.fault("the key shape"))?,
        })
    }

    const fn fault(&self, expected: &'static str) -> NpyError {
        NpyError::Header {
            offset: self.at,
            expected,
        }
    }

    fn blanks(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn accept(&mut self, byte: u8) -> bool {
        self.blanks();
        let found = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), NpyError> {
        match self.accept(byte) {
            true => Ok(()),
            false => Err(self.fault(what)),
        }
    }

    fn string(&mut self) -> Result<String, NpyError> {
        self.blanks();
        let quote = match self.text.get(self.at) {
            Some(&q @ (b'\'' | b'"')) => q,
            _ => return Err(self.fault("a quoted string")),
        };
        let start = self.at + 1;
        let length = self.text[start..].iter().position(|&b| b == quote);
        let length = length.ok_or(self.fault("a string that ends"))?;
        self.at = start + length + 1;
        Ok(String::from_utf8_lossy(&self.text[start..start + length]).into_owned())
    }

    /// A type's name; a record's fields are an element type that is not read.
    fn descr(&mut self) -> Result<String, NpyError> {
        self.blanks();
        if self.text.get(self.at) == Some(&b'[') {
            return Err(NpyError::ElementType {
                descr: "record".into(),
            });
        }
        self.string()
    }

    fn boolean(&mut self) -> Result<bool, NpyError> {
        self.blanks();
        for (word, value) in [("True", true), ("False", false)] {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.fault("True or False"))
    }

    fn tuple(&mut self) -> Result<Vec<usize>, NpyError> {
        self.expect(b'(', "an opening parenthesis")?;
        let mut axes = Vec::new();
        while !self.accept(b')') {
            if axes.len() == MAX_AXES {
                return Err(self.fault("at most 64 axes"));
            }
            axes.push(self.integer()?);
            if !self.accept(b',') {
                self.expect(b')', "a comma or closing parenthesis")?;
                break;
            }
        }
        Ok(axes)
    }

    fn integer(&mut self) -> Result<usize, NpyError> {
        self.blanks();
        let digits = self.text[self.at..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count();
        let word = std::str::from_utf8(&self.text[self.at..self.at + digits]);
        let value = word.ok().and_then(|w| w.parse().ok());
        let value = value.ok_or(self.fault("a length along an axis"))?;
        self.at += digits;
        // Python 2 wrote long integers as 10L.
        self.at += usize::from(self.text.get(self.at) == Some(&b'L'));
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_text(text: &str) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes
    }

    #[test]
    fn headers_written_are_read_back_and_aligned() {
        for shape in [vec![], vec![7], vec![0, 3], vec![2, 3, 4], vec![1; 64]] {
            let bytes = write_header("<f4", &shape);
            assert_eq!(bytes.len() % 64, 0);
            let (header, rest) = read_header(&bytes).unwrap();
            assert!(rest.is_empty());
            let expected = Header {
                descr: "<f4".into(),
                fortran_order: false,
                shape,
            };
            assert_eq!(header, expected);
        }
    }

    #[test]
    fn the_dictionary_may_be_written_differently() {
        let text = r#"{"shape":(10L,2L), "fortran_order":True , 'descr':'|u1'}"#;
        let bytes = with_text(text);
        let (header, _) = read_header(&bytes).unwrap();
        assert_eq!(header.shape, [10, 2]);
        assert!(header.fortran_order);
    }

    #[test]
    fn malformed_dictionaries_name_the_byte() {
        let cases = [
            ("", 0),
            ("{'descr': '<f4', 'fortran_order': False}", 40),
            ("{'descr': '<f4', 'fortran_order': Maybe, 'shape': ()}", 34),
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
                51,
            ),
            ("{'descr': '<f4", 10),
            ("{'shape': (99999999999999999999,)}", 11),
            ("{'size': 3}", 8),
        ];
        for (text, expected) in cases {
            match read_header(&with_text(text)) {
                Err(NpyError::Header { offset, .. }) => assert_eq!(offset, expected, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
