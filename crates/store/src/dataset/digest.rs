//! SHA-256 of values, of files, and of metadata that holds its own.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::arrays::Stored;
use super::error::DatasetError;

/// Stands where a file's own digest will.
pub(super) const BLANK: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The digest of an array's values in the order of C, little-endian.
#[derive(Clone, Default)]
pub(super) struct ValueDigest {
    sha: Sha256,
    bytes: Vec<u8>,
}

impl ValueDigest {
    pub(super) fn add<T: Stored>(&mut self, values: &[T]) {
        // A little at a time, so that no copy of a whole array is made.
        for part in values.chunks(1 << 14) {
            self.bytes.clear();
            for value in part {
                value.add_le(&mut self.bytes);
            }
            self.sha.update(&self.bytes);
        }
    }

    pub(super) fn hex(self) -> String {
        hex(&self.sha.finalize())
    }
}

/// The digest of a file.
pub(super) fn of_file(path: &Path) -> Result<String, DatasetError> {
    let cannot = |source| DatasetError::Io {
        what: "read",
        path: path.to_path_buf(),
        source,
    };
    let mut file = File::open(path).map_err(cannot)?;
    let (mut sha, mut part) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut part).map_err(cannot)? {
            0 => return Ok(hex(&sha.finalize())),
            n => sha.update(&part[..n]),
        }
    }
}

/// Metadata in which [`BLANK`] stands once, with its own digest in that place.
pub(super) fn seal(text: &str) -> String {
    text.replacen(BLANK, &hex(&Sha256::digest(text)), 1)
}

/// Whether metadata is as it was sealed with `digest`.
pub(super) fn is_sealed(text: &str, digest: &str) -> bool {
    digest.len() == BLANK.len() && hex(&Sha256::digest(text.replacen(digest, BLANK, 1))) == digest
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_bytes() {
        let mut digest = ValueDigest::default();
        digest.add(&[1.0f32]);
        digest.add(&[2.0f32, -3.5]);
        // printf '\0\0\200?\0\0\0@\0\0\140\300' | sha256sum
        let bytes: Vec<u8> = [1.0f32, 2.0, -3.5]
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect();
        assert_eq!(digest.hex(), hex(&Sha256::digest(&bytes)));
        // The textbook example of the standard.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hex(&Sha256::digest("abc")), abc);
    }

    #[test]
    fn a_seal_breaks_with_any_byte() {
        let text = format!("{{\"a\": 1, \"sha256\": \"{BLANK}\"}}");
        let sealed = seal(&text);
        let digest = &sealed[sealed.len() - 66..sealed.len() - 2];
        assert!(is_sealed(&sealed, digest));
        assert!(!is_sealed(&sealed.replace('1', "2"), digest));
        assert!(!is_sealed(&sealed, &digest.replace(&digest[..1], "x")));
        assert!(!is_sealed(&sealed, ""));
    }
}
