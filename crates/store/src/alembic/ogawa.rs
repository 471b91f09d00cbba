//! The container under an Alembic file: data and groups that name them.
//!
//! Little endian throughout:
//!
//! ```text
//! file   "Ogawa"  u8 frozen  u16 version = 1, big endian  u64 position of the root group  …
//! data   u64 bytes  the bytes
//! group  u64 children  u64 address of each
//! ```
//!
//! An address is a position in the file; its top bit says that data stands there
//! and not a group. What is empty is written nowhere and has position 0. `frozen`
//! is 0 while a file is being written and 255 when it is whole, which readers
//! insist on; what is written last is that byte.

use std::io::{self, Seek, SeekFrom, Write};

/// The top bit of an address: data.
const IS_DATA: u64 = 1 << 63;
const FROZEN_AT: u64 = 5;
const ROOT_AT: u64 = 8;

/// Where data or a group stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address(u64);

impl Address {
    pub(super) const EMPTY_DATA: Self = Self(IS_DATA);
}

/// Writes a container from the leaves to the root.
#[derive(Debug)]
pub(super) struct OgawaWriter<W> {
    out: W,
    /// Where the file begins in `out`.
    start: u64,
    /// Bytes written since.
    length: u64,
}

impl<W: Write + Seek> OgawaWriter<W> {
    /// Begins a file where `out` stands.
    pub(super) fn new(mut out: W) -> io::Result<Self> {
        let start = out.stream_position()?;
        let mut writer = Self {
            out,
            start,
            length: 0,
        };
        writer.write(b"Ogawa\x00\x00\x01")?;
        writer.write(&0u64.to_le_bytes())?;
        Ok(writer)
    }

    /// Writes data in parts that follow one another.
    pub(super) fn data(&mut self, parts: &[&[u8]]) -> io::Result<Address> {
        let bytes: u64 = parts.iter().map(|part| part.len() as u64).sum();
        if bytes == 0 {
            return Ok(Address::EMPTY_DATA);
        }
        let at = self.length;
        self.write(&bytes.to_le_bytes())?;
        for part in parts {
            self.write(part)?;
        }
        Ok(Address(at | IS_DATA))
    }

    /// Writes a group of what is written already.
    pub(super) fn group(&mut self, children: &[Address]) -> io::Result<Address> {
        if children.is_empty() {
            return Ok(Address(0));
        }
        let at = self.length;
        self.write(&(children.len() as u64).to_le_bytes())?;
        for child in children {
            self.write(&child.0.to_le_bytes())?;
        }
        Ok(Address(at))
    }

    /// Names the root group, says that the file is whole and hands `out` back,
    /// at the end of the file.
    pub(super) fn finish(mut self, root: Address) -> io::Result<W> {
        self.out.flush()?;
        self.out.seek(SeekFrom::Start(self.start + ROOT_AT))?;
        self.out.write_all(&root.0.to_le_bytes())?;
        self.out.flush()?;
        self.out.seek(SeekFrom::Start(self.start + FROZEN_AT))?;
        self.out.write_all(&[255])?;
        self.out.flush()?;
        self.out.seek(SeekFrom::Start(self.start + self.length))?;
        Ok(self.out)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.length += bytes.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn the_bytes_are_those_of_the_format() {
        let mut out = Cursor::new(b"before".to_vec());
        out.set_position(6);
        let mut writer = OgawaWriter::new(out).unwrap();
        let data = writer.data(&[b"ab", b"", b"c"]).unwrap(); // at 16, 11 bytes
        let none = writer.data(&[b""]).unwrap();
        let nobody = writer.group(&[]).unwrap();
        let root = writer.group(&[data, none, nobody]).unwrap(); // at 27
        let out = writer.finish(root).unwrap();
        assert_eq!(out.position(), out.get_ref().len() as u64);
        let mut expected = b"beforeOgawa\xff\x00\x01".to_vec();
        expected.extend([27, 0, 0, 0, 0, 0, 0, 0]);
        expected.extend(*b"\x03\0\0\0\0\0\0\0abc");
        expected.extend([3, 0, 0, 0, 0, 0, 0, 0]);
        expected.extend([16, 0, 0, 0, 0, 0, 0, 0x80]);
        expected.extend([0, 0, 0, 0, 0, 0, 0, 0x80]);
        expected.extend([0; 8]);
        assert_eq!(out.into_inner(), expected);
    }

    #[test]
    fn a_file_that_is_not_finished_is_not_frozen() {
        let mut bytes = Cursor::new(Vec::new());
        let mut writer = OgawaWriter::new(&mut bytes).unwrap();
        writer.data(&[b"abc"]).unwrap();
        assert_eq!(bytes.get_ref()[5], 0);
    }
}
