//! The outside of a glTF file: the chunks of a `.glb`, and the bytes of
//! buffers wherever they lie.
//!
//! Addresses may be base64 data or files in the folder of the file or below
//! it. Absolute paths, `..` and other schemes are refused.

use std::borrow::Cow;
use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::error::GltfError;
use super::json;

const MAGIC: &[u8; 4] = b"glTF";
const HEADER: usize = 12;
const CHUNK_HEADER: usize = 8;
const JSON_CHUNK: u32 = 0x4E4F_534A;
const BINARY_CHUNK: u32 = 0x004E_4942;

/// The JSON of a file, and the binary chunk of a `.glb` that has one.
pub(super) struct Container<'a> {
    pub(super) json: &'a str,
    pub(super) binary: Option<&'a [u8]>,
}

/// Finds the JSON and the binary chunk.
pub(super) fn open(bytes: &[u8]) -> Result<Container<'_>, GltfError> {
    if bytes.is_empty() {
        return Err(GltfError::Empty);
    }
    let (json, binary) = if bytes.starts_with(MAGIC) {
        chunks(bytes)?
    } else {
        let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        if text.trim_ascii_start().first() != Some(&b'{') {
            return Err(GltfError::Magic {
                found: bytes[..bytes.len().min(4)].to_vec(),
            });
        }
        (text, None)
    };
    let json = std::str::from_utf8(json).map_err(|error| GltfError::NotUtf8 {
        offset: error.valid_up_to(),
    })?;
    Ok(Container { json, binary })
}

fn chunks(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), GltfError> {
    let need = |part, needed: usize, available: usize| {
        if needed > available {
            Err(GltfError::Truncated {
                part,
                needed: needed as u64,
                found: available as u64,
            })
        } else {
            Ok(())
        }
    };
    need("header", HEADER, bytes.len())?;
    let version = word(bytes, 4);
    if version != 2 {
        return Err(GltfError::ContainerVersion { version });
    }
    let length = word(bytes, 8) as usize;
    need("whole file", length.max(HEADER), bytes.len())?;
    let bytes = &bytes[..length.max(HEADER)];

    let mut json = None;
    let mut binary = None;
    let mut at = HEADER;
    while json.is_none() || at < bytes.len() {
        need("chunk header", at + CHUNK_HEADER, bytes.len())?;
        let kind = word(bytes, at + 4);
        let start = at + CHUNK_HEADER;
        let end = start.saturating_add(word(bytes, at) as usize);
        need("chunk", end, bytes.len())?;
        match (kind, json) {
            (JSON_CHUNK, None) => json = Some(&bytes[start..end]),
            (found, None) => return Err(GltfError::NoJson { found }),
            (BINARY_CHUNK, Some(_)) if binary.is_none() => binary = Some(&bytes[start..end]),
            _ => {}
        }
        at = end;
    }
    Ok((json.expect("the loop ends with a JSON chunk"), binary))
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The bytes of every buffer, each at least as long as it states and cut to
/// that length.
pub(super) fn buffers<'a>(
    buffers: &[json::Buffer],
    binary: Option<&'a [u8]>,
    resolve: &mut dyn FnMut(&str) -> io::Result<Vec<u8>>,
) -> Result<Vec<Cow<'a, [u8]>>, GltfError> {
    let mut all = Vec::with_capacity(buffers.len());
    for (index, stated) in buffers.iter().enumerate() {
        let buffer = index as u32;
        let mut bytes = match (&stated.uri, binary) {
            (Some(uri), _) => Cow::Owned(fetch(buffer, uri, resolve)?),
            (None, Some(binary)) if index == 0 => Cow::Borrowed(binary),
            (None, _) => return Err(GltfError::MissingBuffer { buffer }),
        };
        if (bytes.len() as u64) < stated.byte_length {
            return Err(GltfError::ShortBuffer {
                buffer,
                stated: stated.byte_length,
                found: bytes.len() as u64,
            });
        }
        let length = stated.byte_length as usize;
        match &mut bytes {
            Cow::Borrowed(slice) => *slice = &slice[..length],
            Cow::Owned(vector) => vector.truncate(length),
        }
        all.push(bytes);
    }
    Ok(all)
}

fn fetch(
    buffer: u32,
    uri: &str,
    resolve: &mut dyn FnMut(&str) -> io::Result<Vec<u8>>,
) -> Result<Vec<u8>, GltfError> {
    if let Some(data) = uri.strip_prefix("data:") {
        return data
            .split_once(";base64,")
            .and_then(|(_, text)| STANDARD.decode(text).ok())
            .ok_or(GltfError::DataUri { buffer });
    }
    let path = inner_path(uri).ok_or_else(|| GltfError::OutsideFolder {
        buffer,
        uri: uri.to_owned(),
    })?;
    resolve(&path).map_err(|source| GltfError::BufferFile {
        buffer,
        uri: uri.to_owned(),
        source,
    })
}

/// The relative path that an address stands for, if it stays in its folder.
fn inner_path(uri: &str) -> Option<String> {
    let mut path = Vec::with_capacity(uri.len());
    let mut bytes = uri.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digit = |b: u8| char::from(b).to_digit(16);
            let (high, low) = (digit(bytes.next()?)?, digit(bytes.next()?)?);
            path.push((high * 16 + low) as u8);
        } else {
            path.push(byte);
        }
    }
    let path = String::from_utf8(path).ok()?;
    let outside = path.is_empty()
        || path.starts_with(['/', '\\'])
        || path.contains([':', '\0'])
        || path.split(['/', '\\']).any(|part| part == "..");
    (!outside).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_stay_in_their_folder() {
        for (uri, path) in [
            ("body.bin", Some("body.bin")),
            ("parts/my%20body.bin", Some("parts/my body.bin")),
            ("./a..b.bin", Some("./a..b.bin")),
            ("/etc/passwd", None),
            ("../body.bin", None),
            ("parts/../../body.bin", None),
            ("parts/%2e%2e/body.bin", None),
            ("..\\body.bin", None),
            ("%2Fetc/passwd", None),
            ("C:/body.bin", None),
            ("file:///body.bin", None),
            ("https://example.org/body.bin", None),
            ("body%zz.bin", None),
            ("body%2", None),
            ("", None),
        ] {
            assert_eq!(inner_path(uri).as_deref(), path, "{uri}");
        }
    }
}
