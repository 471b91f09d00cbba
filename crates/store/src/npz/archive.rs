//! [`NpzArchive`]: arrays by name in a zip file, and the writers.
//!
//! A zip file can unpack to a thousand times its size. So an archive has a
//! budget for all its arrays together, [`HEADROOM`] + [`MOST_PER_BYTE`] · the
//! file's size, and one that declares more is refused before anything is
//! unpacked. Arrays are unpacked to no more than they declare.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read, Seek, Write};
use std::sync::Arc;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use super::elements::{decode, encode};
use super::header::{read_header, write_header};
use super::{NpyArray, NpyData, NpyError};

/// The most bytes that one array may unpack to.
const MAX_ARRAY_BYTES: u64 = 4 << 30;

/// What all arrays of an archive may unpack to, however small it is [byte].
/// SMPL-X, the largest body model in use, takes 240 MB in double precision and
/// so passes even if most of it is zeros.
pub(super) const HEADROOM: u64 = 512 << 20;

/// Bytes that every byte of the file adds to the headroom. Beyond it are only
/// long recordings, whose numbers hardly repeat: they pack to a quarter at
/// best. 16 leaves a margin of four; deflate packs zeros 1000 to 1.
const MOST_PER_BYTE: u64 = 16;

/// Why an archive or an array can't be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NpzError {
    /// Not a zip file, or a damaged one.
    #[error("not a sound npz archive")]
    Archive(#[source] io::Error),
    /// The archive has no array of that name.
    #[error("there is no array {name}; there are {}", list(present))]
    Missing {
        /// The name asked for.
        name: String,
        /// The names in the archive.
        present: Vec<String>,
    },
    /// Two arrays have one name.
    #[error("there are two arrays {name}")]
    Duplicate {
        /// Their name.
        name: String,
    },
    /// An array can't be unpacked or packed.
    #[error("array {name} cannot be unpacked")]
    Entry {
        /// The array's name.
        name: String,
        /// What the zip reader says.
        source: io::Error,
    },
    /// An array unpacks to more bytes than is read, or takes more as numbers of
    /// the type asked for.
    #[error("array {name} unpacks to {found} bytes, more than the limit of {limit}")]
    TooLarge {
        /// The array's name.
        name: String,
        /// The bytes declared or asked for.
        found: u64,
        /// The most that is read.
        limit: u64,
    },
    /// All arrays together unpack to more bytes than is read.
    #[error(
        "the arrays unpack to {found} bytes, more than the limit of {limit} for a file of {file_size}"
    )]
    OverBudget {
        /// The bytes declared for all arrays.
        found: u64,
        /// The most that is read.
        limit: u64,
        /// The size of the file [byte].
        file_size: u64,
    },
    /// An array unpacks to fewer bytes than the archive declares.
    #[error("array {name} unpacks to {found} bytes, but the archive declares {expected}")]
    Size {
        /// The array's name.
        name: String,
        /// The bytes unpacked.
        found: u64,
        /// The bytes declared.
        expected: u64,
    },
    /// An array in the archive is wrong.
    #[error("array {name}: {error}")]
    Array {
        /// The array's name.
        name: String,
        /// What is wrong with it.
        error: NpyError,
    },
    /// An array on its own is wrong.
    #[error(transparent)]
    Npy(#[from] NpyError),
}

fn list(names: &[String]) -> String {
    match names.is_empty() {
        true => "none".into(),
        false => names.join(", "),
    }
}

/// Arrays by name. Each is unpacked when it is asked for.
#[derive(Clone, Debug)]
pub struct NpzArchive {
    zip: ZipArchive<Cursor<Arc<[u8]>>>,
    entries: BTreeMap<String, usize>,
    /// The most bytes that an array may take.
    limit: u64,
}

impl NpzArchive {
    /// Opens an archive; no array is unpacked yet.
    ///
    /// # Errors
    /// When the bytes are not a zip file, hold two arrays of one name, or
    /// declare arrays out of proportion to the size of the file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NpzError> {
        Self::with_headroom(bytes, HEADROOM)
    }

    fn with_headroom(bytes: &[u8], headroom: u64) -> Result<Self, NpzError> {
        let mut zip = ZipArchive::new(Cursor::new(Arc::from(bytes)))
            .map_err(|e| NpzError::Archive(e.into()))?;
        let mut entries = BTreeMap::new();
        for (index, name) in zip.file_names().enumerate() {
            let name = name.map_err(|e| NpzError::Archive(e.into()))?;
            let name = bare(&name).to_string();
            if entries.insert(name.clone(), index).is_some() {
                return Err(NpzError::Duplicate { name });
            }
        }
        let file_size = bytes.len() as u64;
        let limit = headroom.saturating_add(file_size.saturating_mul(MOST_PER_BYTE));
        let mut found = 0u64;
        for index in 0..zip.len() {
            // An entry that can't be opened is not unpacked either; the error
            // comes when it is asked for.
            if let Ok(entry) = zip.by_index_raw(index) {
                found = found.saturating_add(entry.size());
            }
        }
        if found > limit {
            return Err(NpzError::OverBudget {
                found,
                limit,
                file_size,
            });
        }
        Ok(Self {
            zip,
            entries,
            limit: limit.min(MAX_ARRAY_BYTES),
        })
    }

    /// The names of the arrays, sorted, without `.npy`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Whether there is an array of that name.
    pub fn contains(&self, name: &str) -> bool {
        self.entries.contains_key(bare(name))
    }

    /// The array of that name, with or without `.npy`.
    ///
    /// # Errors
    /// When it is missing, damaged, too large or of a kind that is not read.
    pub fn get(&self, name: &str) -> Result<NpyArray, NpzError> {
        self.get_limited(name, self.limit)
    }

    /// The shape and elements of an array, as finite single-precision numbers.
    ///
    /// # Errors
    /// As [`get`](Self::get) and [`NpyArray::into_f32`], naming the array.
    pub fn f32(&self, name: &str) -> Result<(Vec<usize>, Vec<f32>), NpzError> {
        self.converted(name, NpyData::into_f32)
    }

    /// The shape and elements of an array, as finite double-precision numbers.
    ///
    /// # Errors
    /// As [`get`](Self::get) and [`NpyArray::into_f64`], naming the array.
    pub fn f64(&self, name: &str) -> Result<(Vec<usize>, Vec<f64>), NpzError> {
        self.converted(name, NpyData::into_f64)
    }

    /// The shape and elements of an array, as integers.
    ///
    /// # Errors
    /// As [`get`](Self::get) and [`NpyArray::into_i64`], naming the array.
    pub fn i64(&self, name: &str) -> Result<(Vec<usize>, Vec<i64>), NpzError> {
        self.converted(name, NpyData::into_i64)
    }

    fn converted<T>(
        &self,
        name: &str,
        convert: impl Fn(NpyData) -> Result<Vec<T>, NpyError>,
    ) -> Result<(Vec<usize>, Vec<T>), NpzError> {
        let NpyArray { shape, data } = self.get(name)?;
        // A byte takes eight when it becomes a number of 64 bits.
        let found = (data.len() as u64).saturating_mul(size_of::<T>() as u64);
        if found > self.limit {
            return Err(NpzError::TooLarge {
                name: bare(name).into(),
                found,
                limit: self.limit,
            });
        }
        match convert(data) {
            Ok(values) => Ok((shape, values)),
            Err(error) => Err(NpzError::Array {
                name: bare(name).into(),
                error,
            }),
        }
    }

    fn get_limited(&self, name: &str, limit: u64) -> Result<NpyArray, NpzError> {
        let name = bare(name).to_string();
        let Some(&index) = self.entries.get(&name) else {
            return Err(NpzError::Missing {
                name,
                present: self.entries.keys().cloned().collect(),
            });
        };
        // Cheap: the directory and the bytes are shared.
        let bytes = unpack(&mut self.zip.clone(), index, &name, limit)?;
        parse(&bytes, limit).map_err(|error| NpzError::Array { name, error })
    }
}

/// The bytes of an entry, `limit` at most.
pub(super) fn unpack<R: Read + Seek>(
    zip: &mut ZipArchive<R>,
    index: usize,
    name: &str,
    limit: u64,
) -> Result<Vec<u8>, NpzError> {
    let name = name.to_string();
    let mut entry = match zip.by_index(index) {
        Ok(entry) => entry,
        Err(e) => {
            let source = e.into();
            return Err(NpzError::Entry { name, source });
        }
    };
    let expected = entry.size();
    if expected > limit {
        return Err(NpzError::TooLarge {
            name,
            found: expected,
            limit,
        });
    }
    // The buffer grows with what is really there, not by what is declared;
    // the zip reader itself refuses an entry that goes on after it.
    let mut bytes = Vec::new();
    let unpacked = (&mut entry).take(expected + 1).read_to_end(&mut bytes);
    if let Err(source) = unpacked {
        return Err(NpzError::Entry { name, source });
    }
    if bytes.len() as u64 != expected {
        return Err(NpzError::Size {
            name,
            found: bytes.len() as u64,
            expected,
        });
    }
    Ok(bytes)
}

/// A name without its `.npy`.
pub(super) fn bare(name: &str) -> &str {
    name.strip_suffix(".npy").unwrap_or(name)
}

pub(super) fn parse(bytes: &[u8], limit: u64) -> Result<NpyArray, NpyError> {
    let (header, body) = read_header(bytes)?;
    let data = decode(&header, body, limit)?;
    Ok(NpyArray {
        shape: header.shape,
        data,
    })
}

/// The array in the bytes of an `.npy` file.
///
/// # Errors
/// When the header is malformed, the elements are of a kind that is not read,
/// or their number differs from what the header says.
pub fn read_npy(bytes: &[u8]) -> Result<NpyArray, NpzError> {
    Ok(parse(bytes, MAX_ARRAY_BYTES)?)
}

/// The bytes of an `.npy` file.
///
/// # Panics
/// When the number of elements is not the product of the shape.
pub fn write_npy(array: &NpyArray) -> Vec<u8> {
    assert_eq!(
        array.shape.iter().product::<usize>(),
        array.len(),
        "as many elements as the shape has"
    );
    let (descr, body) = encode(&array.data);
    let mut bytes = write_header(&descr, &array.shape);
    bytes.extend(body);
    bytes
}

/// The bytes of a compressed `.npz` file; equal arrays give equal bytes.
///
/// # Errors
/// When two arrays have one name, or a name is longer than a zip file allows.
///
/// # Panics
/// When the number of elements of an array is not the product of its shape.
pub fn write_npz(arrays: &[(&str, &NpyArray)]) -> Result<Vec<u8>, NpzError> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(6))
        .last_modified_time(DateTime::default());
    let mut seen = BTreeMap::new();
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, array) in arrays {
        let name = bare(name).to_string();
        if seen.insert(name.clone(), ()).is_some() {
            return Err(NpzError::Duplicate { name });
        }
        let bytes = write_npy(array);
        let options = options.large_file(bytes.len() as u64 >= u64::from(u32::MAX));
        let written = zip
            .start_file(format!("{name}.npy"), options)
            .map_err(io::Error::from)
            .and_then(|()| zip.write_all(&bytes));
        if let Err(source) = written {
            return Err(NpzError::Entry { name, source });
        }
    }
    let file = zip.finish().map_err(|e| NpzError::Archive(e.into()))?;
    Ok(file.into_inner())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn arrays() -> Vec<(&'static str, NpyArray)> {
        let new = |shape: &[usize], data| NpyArray::new(shape.to_vec(), data);
        vec![
            (
                "f32",
                new(&[2, 2], NpyData::F32(vec![0.0, -1.5, 1e-40, 3e38])),
            ),
            ("f64", new(&[], NpyData::F64(vec![std::f64::consts::PI]))),
            ("i8", new(&[3], NpyData::I8(vec![-128, 0, 127]))),
            ("i16", new(&[2], NpyData::I16(vec![i16::MIN, i16::MAX]))),
            ("i32", new(&[2], NpyData::I32(vec![i32::MIN, i32::MAX]))),
            ("i64", new(&[2], NpyData::I64(vec![i64::MIN, i64::MAX]))),
            ("u8", new(&[4, 0], NpyData::U8(vec![]))),
            ("u16", new(&[1, 2], NpyData::U16(vec![1, u16::MAX]))),
            ("u32", new(&[2], NpyData::U32(vec![0, u32::MAX]))),
            ("u64", new(&[2], NpyData::U64(vec![0, u64::MAX]))),
            ("bool", new(&[3], NpyData::Bool(vec![true, false, true]))),
            (
                "text",
                new(
                    &[3],
                    NpyData::Text(vec!["".into(), "größe 😀".into(), "a".into()]),
                ),
            ),
        ]
    }

    #[test]
    fn every_kind_of_element_survives_the_round_trip() {
        let arrays = arrays();
        let entries: Vec<(&str, &NpyArray)> = arrays.iter().map(|(n, a)| (*n, a)).collect();
        let bytes = write_npz(&entries).unwrap();
        assert_eq!(bytes, write_npz(&entries).unwrap());
        let archive = NpzArchive::from_bytes(&bytes).unwrap();
        assert_eq!(archive.names().count(), arrays.len());
        for (name, array) in &arrays {
            assert_eq!(&archive.get(name).unwrap(), array);
            assert_eq!(&archive.get(&format!("{name}.npy")).unwrap(), array);
            assert_eq!(&read_npy(&write_npy(array)).unwrap(), array);
        }
    }

    /// What NumPy wrote, with the values that its script put in; see
    /// `tests/data/numpy_npz.py`.
    #[test]
    fn what_numpy_writes_is_read() {
        let archive = NpzArchive::from_bytes(include_bytes!("../../tests/data/numpy.npz")).unwrap();
        let ramp = |scale: f64, offset: f64| -> Vec<f64> {
            (0..24).map(|i| scale * f64::from(i) + offset).collect()
        };
        let kinds = [
            (["f2", "f4", "f8"].as_slice(), ramp(0.25, -2.0)),
            (&["i1", "i2", "i4", "i8"], ramp(5.0, -100.0)),
            (&["u1", "u2", "u4", "u8"], ramp(10.0, 3.0)),
        ];
        for (kinds, expected) in kinds {
            for kind in kinds {
                for order in ["little", "big", "fortran"] {
                    let name = format!("{kind}_{order}");
                    if order == "fortran" && !archive.contains(&name) {
                        continue;
                    }
                    let (shape, values) = archive.f64(&name).unwrap();
                    assert_eq!(shape, [2, 3, 4]);
                    assert_eq!(values, expected, "{name}");
                }
            }
        }
        for name in ["f4_fortran", "f8_fortran", "i4_fortran"] {
            assert!(archive.contains(name));
        }
        let words = ["", "pelvis", "größe", "😀"].map(String::from);
        for name in ["text_little", "text_big", "bytes"] {
            let array = archive.get(name).unwrap();
            assert_eq!(array.shape, [2, 2]);
            assert_eq!(array.text().unwrap(), words, "{name}");
        }
        let grid = archive.get("text_fortran").unwrap();
        assert_eq!(grid.text().unwrap(), words);
        assert_eq!(
            archive.get("latin").unwrap().text().unwrap(),
            ["gr\u{f6}\u{df}e"]
        );
        let gender = archive.get("scalar_text").unwrap();
        assert!(gender.shape.is_empty());
        assert_eq!(gender.text().unwrap(), ["neutral"]);
        assert_eq!(archive.f64("scalar").unwrap(), (vec![], vec![120.0]));
        assert_eq!(archive.get("empty").unwrap().shape, [5, 3, 0]);
        assert_eq!(
            archive.get("mask").unwrap().data,
            NpyData::Bool(vec![true, false, true])
        );
        assert!(matches!(
            archive.get("objects"),
            Err(NpzError::Array { name, error: NpyError::Objects }) if name == "objects"
        ));
        for name in ["complex", "record", "date"] {
            assert!(matches!(
                archive.get(name),
                Err(NpzError::Array {
                    error: NpyError::ElementType { .. },
                    ..
                })
            ));
        }
    }

    #[test]
    fn a_missing_array_is_named_with_what_is_there() {
        let array = NpyArray::f32([1], vec![1.0]);
        let bytes = write_npz(&[("weights", &array), ("faces.npy", &array)]).unwrap();
        let archive = NpzArchive::from_bytes(&bytes).unwrap();
        assert!(archive.contains("weights") && archive.contains("faces"));
        match archive.get("f") {
            Err(NpzError::Missing { name, present }) => {
                assert_eq!(name, "f");
                assert_eq!(present, ["faces", "weights"]);
            }
            other => panic!("{other:?}"),
        }
        assert!(matches!(
            write_npz(&[("a", &array), ("a.npy", &array)]),
            Err(NpzError::Duplicate { .. })
        ));
    }

    #[test]
    fn an_array_beyond_the_limit_is_not_unpacked() {
        let zeros = NpyArray::f32([10_000], vec![0.0; 10_000]);
        let bytes = write_npz(&[("zeros", &zeros)]).unwrap();
        let archive = NpzArchive::from_bytes(&bytes).unwrap();
        assert!(matches!(
            archive.get_limited("zeros", 40_127),
            Err(NpzError::TooLarge {
                found: 40_128,
                limit: 40_127,
                ..
            })
        ));
        assert_eq!(archive.get_limited("zeros", 40_128).unwrap(), zeros);
    }

    /// Regression: arrays were only limited to 4 GiB each, so that an archive of
    /// a few megabytes of packed zeros filled the memory.
    #[test]
    fn arrays_out_of_proportion_to_the_file_are_refused_together() {
        let zeros = NpyArray::f32([50_000], vec![0.0; 50_000]);
        let bytes = write_npz(&[("a", &zeros), ("b", &zeros)]).unwrap();
        let file_size = bytes.len() as u64;
        assert!(file_size < 2000, "{file_size}");
        let both = 2 * (200_000 + 128);
        let enough = both - MOST_PER_BYTE * file_size;
        let archive = NpzArchive::with_headroom(&bytes, enough).unwrap();
        assert_eq!(archive.get("a").unwrap(), zeros);
        // Either array alone would do.
        match NpzArchive::with_headroom(&bytes, enough - 1) {
            Err(NpzError::OverBudget { found, limit, .. }) => {
                assert_eq!((found, limit), (both, both - 1));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn numbers_that_widen_beyond_the_budget_are_refused() {
        let bytes = NpyArray::new(vec![50_000], NpyData::U8(vec![0; 50_000]));
        let packed = write_npz(&[("bytes", &bytes)]).unwrap();
        let archive = NpzArchive::with_headroom(&packed, 100_000).unwrap();
        assert_eq!(archive.get("bytes").unwrap(), bytes);
        assert!(matches!(
            archive.f64("bytes"),
            Err(NpzError::TooLarge { found: 400_000, .. })
        ));
    }

    proptest! {
        /// A flipped byte is an error or changes the content, never a panic.
        #[test]
        fn damaged_archives_do_not_panic(at in 0usize..4000, value: u8) {
            let arrays = arrays();
            let entries: Vec<(&str, &NpyArray)> = arrays.iter().map(|(n, a)| (*n, a)).collect();
            let mut bytes = write_npz(&entries).unwrap();
            let at = at % bytes.len();
            bytes[at] = value;
            if let Ok(archive) = NpzArchive::from_bytes(&bytes) {
                for name in archive.names() {
                    let _ = archive.get(name);
                }
            }
        }

        #[test]
        fn numbers_of_any_shape_survive(shape in prop::collection::vec(0usize..4, 0..5), seed: u32) {
            let n = shape.iter().product::<usize>();
            let data: Vec<f32> = (0..n).map(|i| (i as f32 + seed as f32).sin()).collect();
            let array = NpyArray::f32(shape, data);
            prop_assert_eq!(read_npy(&write_npy(&array)).unwrap(), array);
        }

        #[test]
        fn any_bytes_after_the_magic_are_handled(tail in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
            bytes.extend(tail);
            let _ = read_npy(&bytes);
        }
    }
}
