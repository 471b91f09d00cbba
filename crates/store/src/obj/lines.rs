//! Lines of an OBJ file: any line end, continuations joined, comments cut.

use std::borrow::Cow;

/// Logical lines with the number of the physical line they start on.
pub(super) struct Lines<'a> {
    rest: &'a [u8],
    number: usize,
}

impl<'a> Lines<'a> {
    pub(super) const fn new(text: &'a [u8]) -> Self {
        Self {
            rest: text,
            number: 0,
        }
    }

    /// How many physical lines were taken.
    pub(super) const fn n_taken(&self) -> usize {
        self.number
    }

    fn physical(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        self.number += 1;
        let is_end = |b: &u8| matches!(b, b'\n' | b'\r');
        let Some(end) = self.rest.iter().position(is_end) else {
            return Some(std::mem::take(&mut self.rest));
        };
        let line = &self.rest[..end];
        let skip = match &self.rest[end..] {
            [b'\r', b'\n', ..] => 2,
            _ => 1,
        };
        self.rest = &self.rest[end + skip..];
        Some(line)
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, Cow<'a, [u8]>);

    fn next(&mut self) -> Option<Self::Item> {
        let mut line = Cow::Borrowed(self.physical()?);
        let number = self.number;
        // A backslash in a comment (a path, often) joins nothing.
        while line.last() == Some(&b'\\') && !has_comment(&line) {
            let joined = line.to_mut();
            joined.pop();
            joined.push(b' ');
            match self.physical() {
                Some(next) => joined.extend(next),
                None => break,
            }
        }
        Some((number, line))
    }
}

fn has_comment(line: &[u8]) -> bool {
    line.split(u8::is_ascii_whitespace)
        .any(|word| word.first() == Some(&b'#'))
}

/// The words of a line, up to its comment.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    line.split(|b| b.is_ascii_whitespace() || *b == 0x0b)
        .filter(|word| !word.is_empty())
        .take_while(|word| word[0] != b'#')
}

/// Text that is UTF-8, or else taken as Latin-1.
pub(super) fn decode(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_string(),
        Err(_) => bytes.iter().map(|&b| char::from(b)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_and_continuations_keep_the_count() {
        let text = b"a\r\nb\\\r\nc\rd # x\\\ne";
        let lines: Vec<(usize, Vec<u8>)> =
            Lines::new(text).map(|(n, l)| (n, l.into_owned())).collect();
        let expected: [(usize, &[u8]); 4] = [(1, b"a"), (2, b"b c"), (4, b"d # x\\"), (5, b"e")];
        assert_eq!(lines.len(), expected.len());
        for (line, (number, text)) in lines.iter().zip(expected) {
            assert_eq!((line.0, line.1.as_slice()), (number, text));
        }
    }

    #[test]
    fn words_stop_at_the_comment() {
        let found: Vec<&[u8]> = words(b"\tg  left#1 right # g none").collect();
        assert_eq!(found, [b"g".as_slice(), b"left#1", b"right"]);
    }
}
