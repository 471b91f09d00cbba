//! [`NpzFile`]: arrays that may be larger than memory, a row at a time.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use zip::ZipArchive;

use super::archive::{HEADROOM, bare, parse, unpack};
use super::elements::decode;
use super::header::{Header, read_header};
use super::{NpyArray, NpyError, NpzError};

/// Rows that are unpacked before they are asked for.
const AHEAD: usize = 2;

/// An archive on disk. Arrays of any length are read row by row, others at once.
#[derive(Clone, Debug)]
pub struct NpzFile {
    path: PathBuf,
    entries: BTreeMap<String, usize>,
}

impl NpzFile {
    /// Opens a file; no array is unpacked yet.
    ///
    /// # Errors
    /// When it can't be read, is no zip file or holds two arrays of one name.
    pub fn open(path: &Path) -> Result<Self, NpzError> {
        let zip = open(path)?;
        let mut entries = BTreeMap::new();
        for (index, name) in zip.file_names().enumerate() {
            let name = name.map_err(|e| NpzError::Archive(e.into()))?;
            let name = bare(&name).to_string();
            if entries.insert(name.clone(), index).is_some() {
                return Err(NpzError::Duplicate { name });
            }
        }
        Ok(Self {
            path: path.to_path_buf(),
            entries,
        })
    }

    /// The names of the arrays, sorted, without `.npy`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Whether there is an array of that name.
    pub fn contains(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// An array at once.
    ///
    /// # Errors
    /// When it is missing, damaged, of a kind that is not read, or takes more
    /// than 512 MiB.
    pub fn get(&self, name: &str) -> Result<NpyArray, NpzError> {
        let index = self.index(name)?;
        let bytes = unpack(&mut open(&self.path)?, index, name, HEADROOM)?;
        parse(&bytes, HEADROOM).map_err(wrong(name))
    }

    /// The shape of an array, which is not unpacked.
    ///
    /// # Errors
    /// When it is missing or its header is wrong.
    pub fn shape(&self, name: &str) -> Result<Vec<usize>, NpzError> {
        let index = self.index(name)?;
        let mut zip = open(&self.path)?;
        let mut entry = zip.by_index(index).map_err(|e| unread(name)(e.into()))?;
        Ok(header_of(&mut entry, name)?.shape)
    }

    /// The rows of an array of floating-point numbers, from the first.
    ///
    /// # Errors
    /// When it is missing, in Fortran order, or a row takes more than 512 MiB.
    pub fn rows(&self, name: &str) -> Result<NpyRows, NpzError> {
        let index = self.index(name)?;
        let (path, name) = (self.path.clone(), name.to_string());
        let (send, rows) = sync_channel(AHEAD);
        // A reader of an entry borrows its archive, so both live in a thread.
        // It ends when nobody takes rows any more.
        std::thread::spawn(move || {
            if let Err(error) = send_rows(&path, index, &name, &send) {
                // Nobody is left to be told.
                let _ = send.send(Err(error));
            }
        });
        Ok(NpyRows { rows })
    }

    fn index(&self, name: &str) -> Result<usize, NpzError> {
        self.entries
            .get(name)
            .copied()
            .ok_or_else(|| NpzError::Missing {
                name: name.to_string(),
                present: self.entries.keys().cloned().collect(),
            })
    }
}

/// The rows of an array, one after the other; after an error there are none.
#[derive(Debug)]
pub struct NpyRows {
    rows: Receiver<Result<Vec<f32>, NpzError>>,
}

impl Iterator for NpyRows {
    type Item = Result<Vec<f32>, NpzError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.rows.recv().ok()
    }
}

type Send = SyncSender<Result<Vec<f32>, NpzError>>;

fn send_rows(path: &Path, index: usize, name: &str, send: &Send) -> Result<(), NpzError> {
    let mut zip = open(path)?;
    let mut entry = zip.by_index(index).map_err(|e| unread(name)(e.into()))?;
    let header = header_of(&mut entry, name)?;
    let element = match header.descr.trim_start_matches(['<', '>', '=', '|']) {
        "f2" => 2,
        "f4" => 4,
        "f8" => 8,
        _ => {
            let descr = header.descr;
            return Err(wrong(name)(NpyError::ElementType { descr }));
        }
    };
    let (n_rows, row_shape) = match header.shape.split_first() {
        Some((n, row)) if !header.fortran_order => (*n, row.to_vec()),
        _ => {
            let descr = format!("{} in Fortran order", header.descr);
            return Err(wrong(name)(NpyError::ElementType { descr }));
        }
    };
    let numbers = row_shape.iter().try_fold(1usize, |n, a| n.checked_mul(*a));
    let n_bytes = numbers.and_then(|n| n.checked_mul(element));
    let n_bytes = n_bytes.filter(|n| *n as u64 <= HEADROOM);
    let n_bytes = n_bytes.ok_or_else(|| {
        wrong(name)(NpyError::TooLarge {
            shape: row_shape.clone(),
            limit: HEADROOM,
            unit: "bytes",
        })
    })?;
    let row_header = Header {
        descr: header.descr.clone(),
        fortran_order: false,
        shape: row_shape,
    };
    for row in 0..n_rows {
        let mut bytes = Vec::new();
        let read = (&mut entry)
            .take(n_bytes as u64)
            .read_to_end(&mut bytes)
            .map_err(unread(name))?;
        if read < n_bytes {
            return Err(wrong(name)(NpyError::Length {
                shape: header.shape,
                expected: n_rows.saturating_mul(n_bytes),
                found: row * n_bytes + read,
            }));
        }
        let values = decode(&row_header, &bytes, HEADROOM).and_then(super::NpyData::into_f32);
        let values = values.map_err(|error| match error {
            NpyError::NotFinite { index, value } => NpyError::NotFinite {
                index: row * (n_bytes / element) + index,
                value,
            },
            other => other,
        });
        if send.send(Ok(values.map_err(wrong(name))?)).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

/// The header at the start of an entry, which is read up to its end.
fn header_of(entry: &mut impl Read, name: &str) -> Result<Header, NpzError> {
    let mut bytes = vec![0; 12];
    let mut first =
        |at: usize, bytes: &mut [u8]| entry.read_exact(&mut bytes[at..]).map_err(unread(name));
    first(0, &mut bytes[..10])?;
    let n_bytes = if bytes[6] == 1 {
        bytes.truncate(10);
        10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]))
    } else {
        first(10, &mut bytes)?;
        let length = u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]);
        // Longer ones are refused by their length alone.
        12 + (length as usize).min(1 << 16)
    };
    let at = bytes.len();
    bytes.resize(n_bytes, 0);
    first(at, &mut bytes)?;
    Ok(read_header(&bytes).map_err(wrong(name))?.0)
}

fn open(path: &Path) -> Result<ZipArchive<BufReader<File>>, NpzError> {
    let file = File::open(path).map_err(NpzError::Archive)?;
    ZipArchive::new(BufReader::new(file)).map_err(|e| NpzError::Archive(e.into()))
}

fn wrong(name: &str) -> impl Fn(NpyError) -> NpzError + '_ {
    |error| NpzError::Array {
        name: name.to_string(),
        error,
    }
}

fn unread(name: &str) -> impl Fn(io::Error) -> NpzError + '_ {
    |source| NpzError::Entry {
        name: name.to_string(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::super::write_npz;
    use super::*;

    #[test]
    fn rows_are_those_of_the_array_and_a_nan_is_placed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npz");
        let values: Vec<f64> = (0..24).map(|i| f64::from(i) / 8.0).collect();
        let mut spoilt = values.clone();
        spoilt[17] = f64::NAN;
        let arrays = [
            NpyArray::f64([4, 2, 3], values.clone()),
            NpyArray::f64([4, 2, 3], spoilt),
            NpyArray::i64([2], vec![1, 2]),
        ];
        let named = [("a", &arrays[0]), ("b", &arrays[1]), ("c", &arrays[2])];
        std::fs::write(&path, write_npz(&named).unwrap()).unwrap();
        let file = NpzFile::open(&path).unwrap();
        assert_eq!(file.shape("a").unwrap(), [4, 2, 3]);
        assert_eq!(file.get("a").unwrap(), arrays[0]);
        let rows: Vec<f32> = (file.rows("a").unwrap()).flat_map(Result::unwrap).collect();
        assert!(rows.iter().map(|v| f64::from(*v)).eq(values));
        let mut rows = file.rows("b").unwrap();
        assert_eq!(rows.by_ref().filter(Result::is_ok).take(2).count(), 2);
        let third = rows.next().unwrap();
        assert!(
            matches!(
                third,
                Err(NpzError::Array {
                    error: NpyError::NotFinite { index: 17, .. },
                    ..
                })
            ),
            "{third:?}"
        );
        assert!(rows.next().is_none());
        assert!(file.rows("c").unwrap().next().unwrap().is_err());
        assert!(matches!(file.rows("d"), Err(NpzError::Missing { .. })));
    }
}
