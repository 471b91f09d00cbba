//! The text form of USD, written as a stream: [`Text`].

use std::fmt::{self, Write as _};
use std::io::Write;

use glam::{Quat, Vec3};

use crate::moving::SceneWriteError;

/// How much text is gathered before it goes out.
const BUFFER_BYTES: usize = 1 << 16;

/// Indented lines on their way to a file.
pub(super) struct Text<'w> {
    out: &'w mut dyn Write,
    buffer: String,
    depth: usize,
}

impl<'w> Text<'w> {
    pub(super) fn new(out: &'w mut dyn Write) -> Self {
        Self {
            out,
            buffer: String::new(),
            depth: 0,
        }
    }

    /// Writes what is left.
    pub(super) fn finish(self) -> Result<(), SceneWriteError> {
        self.out.write_all(self.buffer.as_bytes())?;
        Ok(self.out.flush()?)
    }

    /// A line of its own.
    pub(super) fn line(&mut self, line: fmt::Arguments<'_>) -> Result<(), SceneWriteError> {
        self.start(line);
        self.end()
    }

    /// A line that ends with a bracket; what follows is indented.
    pub(super) fn open(&mut self, line: fmt::Arguments<'_>) -> Result<(), SceneWriteError> {
        self.line(line)?;
        self.depth += 1;
        Ok(())
    }

    /// A line with the other bracket.
    pub(super) fn close(&mut self, bracket: char) -> Result<(), SceneWriteError> {
        self.depth -= 1;
        self.line(format_args!("{bracket}"))
    }

    /// `head[…]` with the entries that `put` puts, `n` for each vertex.
    pub(super) fn array_per_vertex<T>(
        &mut self,
        n: usize,
        head: fmt::Arguments<'_>,
        entries: impl IntoIterator<Item = T>,
        put: impl Fn(&mut Self, T),
    ) -> Result<(), SceneWriteError> {
        self.start(head);
        self.entries(entries, put)?;
        self.put(format_args!(" ("));
        self.end()?;
        self.depth += 1;
        self.line(format_args!("elementSize = {n}"))?;
        self.line(format_args!("interpolation = \"vertex\""))?;
        self.close(')')
    }

    /// `head[…]` with the entries that `put` puts.
    pub(super) fn array<T>(
        &mut self,
        head: fmt::Arguments<'_>,
        entries: impl IntoIterator<Item = T>,
        put: impl Fn(&mut Self, T),
    ) -> Result<(), SceneWriteError> {
        self.start(head);
        self.entries(entries, put)?;
        self.end()
    }

    /// `name.timeSamples = {…}` with an array a frame.
    pub(super) fn samples<T, F: IntoIterator<Item = T>>(
        &mut self,
        name: &str,
        frames: impl IntoIterator<Item = Result<F, SceneWriteError>>,
        put: impl Fn(&mut Self, T),
    ) -> Result<(), SceneWriteError> {
        self.open(format_args!("{name}.timeSamples = {{"))?;
        for (frame, entries) in frames.into_iter().enumerate() {
            self.start(format_args!("{frame}: "));
            self.entries(entries?, &put)?;
            self.put(format_args!(","));
            self.end()?;
        }
        self.close('}')
    }

    fn entries<T>(
        &mut self,
        entries: impl IntoIterator<Item = T>,
        put: impl Fn(&mut Self, T),
    ) -> Result<(), SceneWriteError> {
        self.put(format_args!("["));
        for (i, entry) in entries.into_iter().enumerate() {
            if i > 0 {
                self.put(format_args!(", "));
            }
            put(self, entry);
            self.drain()?;
        }
        self.put(format_args!("]"));
        Ok(())
    }

    /// `(x, y, z)`.
    pub(super) fn vector(&mut self, v: Vec3) {
        self.tuple(&v.to_array());
    }

    /// `(w, x, y, z)`.
    pub(super) fn quaternion(&mut self, q: Quat) {
        self.tuple(&[q.w, q.x, q.y, q.z]);
    }

    /// The matrix that moves by `offset`: row vectors, so that it is the last row.
    pub(super) fn translation(&mut self, offset: Vec3) {
        self.put(format_args!("((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), "));
        let [x, y, z] = offset.as_dvec3().to_array();
        self.put(format_args!("({x:?}, {y:?}, {z:?}, 1))"));
    }

    fn tuple(&mut self, values: &[f32]) {
        self.put(format_args!("("));
        for (i, value) in values.iter().enumerate() {
            if i > 0 {
                self.put(format_args!(", "));
            }
            self.number(*value);
        }
        self.put(format_args!(")"));
    }

    /// The fewest digits that read back to the bit.
    ///
    /// USD reads a double and rounds that, which for a few numbers (7.038531e-26)
    /// is not what the digits of the f32 say: they get the digits of the double.
    pub(super) fn number(&mut self, value: f32) {
        let start = self.buffer.len();
        self.put(format_args!("{value:?}"));
        let read = self.buffer[start..].parse::<f64>();
        if read.map(|double| double as f32) != Ok(value) {
            self.buffer.truncate(start);
            self.put(format_args!("{:?}", f64::from(value)));
        }
    }

    /// A quoted string.
    pub(super) fn string(&mut self, text: &str) {
        self.put(format_args!("{}", Quoted(text)));
    }

    pub(super) fn put(&mut self, text: fmt::Arguments<'_>) {
        self.buffer
            .write_fmt(text)
            .expect("a string takes any text");
    }

    fn start(&mut self, line: fmt::Arguments<'_>) {
        for _ in 0..self.depth {
            self.buffer.push_str("    ");
        }
        self.put(line);
    }

    fn end(&mut self) -> Result<(), SceneWriteError> {
        self.buffer.push('\n');
        self.drain()
    }

    fn drain(&mut self) -> Result<(), SceneWriteError> {
        if self.buffer.len() >= BUFFER_BYTES {
            self.out.write_all(self.buffer.as_bytes())?;
            self.buffer.clear();
        }
        Ok(())
    }
}

/// Text in quotes.
pub(super) struct Quoted<'a>(pub(super) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(out, "\\{c}")?,
                '\0'..' ' | '\x7f' => write!(out, "\\x{:02x}", u32::from(c))?,
                _ => out.write_char(c)?,
            }
        }
        out.write_char('"')
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(put: impl FnOnce(&mut Text<'_>)) -> String {
        let mut out = Vec::new();
        let mut text = Text::new(&mut out);
        put(&mut text);
        text.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    /// As USD reads it: a double, rounded.
    fn read(text: &str) -> f32 {
        text.parse::<f64>().unwrap() as f32
    }

    #[test]
    fn numbers_have_as_few_digits_as_read_back_to_the_bit() {
        let cases = [
            (0.1, "0.1"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (1e-7, "1e-7"),
            (f32::MAX, "3.4028235e38"),
            (f32::from_bits(1), "1e-45"),
            // The double nearest to 7.038531e-26 lies halfway to the next f32.
            (f32::from_bits(0x15ae_43fd), "7.038530691851209e-26"),
        ];
        for (value, expected) in cases {
            let text = written(|text| text.number(value));
            assert_eq!(text, expected);
            assert_eq!(read(&text).to_bits(), f32::to_bits(value), "{text}");
        }
    }

    #[test]
    fn strings_are_quoted_so_that_they_end_where_they_should() {
        let text = written(|text| text.string("a\"b\\c\n\u{7}é"));
        assert_eq!(text, "\"a\\\"b\\\\c\\x0a\\x07é\"");
    }

    proptest! {
        #[test]
        fn any_finite_number_reads_back_to_the_bit(bits in any::<u32>()) {
            let value = f32::from_bits(bits);
            prop_assume!(value.is_finite());
            let text = written(|text| text.number(value));
            prop_assert_eq!(read(&text).to_bits(), bits, "{}", text);
        }
    }
}
