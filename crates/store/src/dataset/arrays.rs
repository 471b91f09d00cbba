//! Arrays of a dataset: rows written one after the other, read in ranges.
//!
//! A chunk holds about [`CHUNK_BYTES`] of whole rows, a shard (a file) about
//! [`SHARD_BYTES`] of whole chunks. What is not yet a shard is held in memory,
//! and nothing more, however long the array.
//!
//! Chunks are compressed by Blosc with LZ4 over shuffled bytes: on one core and
//! for a skirt on the built-in walk (1,277 vertices, 31 frames),
//!
//! | codec                   | positions | velocities | write    | read     |
//! |-------------------------|-----------|------------|----------|----------|
//! | Zstandard 1             | 0.91      | 0.92       | 0.7 GB/s | 1.3 GB/s |
//! | shuffle, LZ4 5          | 0.81      | 0.85       | 2.0 GB/s | 6.4 GB/s |
//! | shuffle, Zstandard 1    | 0.81      | 0.85       | 0.2 GB/s | 1.3 GB/s |
//! | shuffle, Zstandard 5    | 0.77      | 0.80       | 0.05 GB/s | 2.1 GB/s |
//! | bit shuffle, Zstandard 1 | 0.83     | 0.85       | 0.2 GB/s | 0.2 GB/s |
//!
//! A frame of simulation takes tenths of a second, so reading decides.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use zarrs::array::codec::{
    BloscCodec, BloscCompressionLevel, BloscCompressor, BloscShuffleMode, Crc32cCodec,
};
use zarrs::array::{
    Array, ArrayBuilder, ArrayError, ArrayMetadataOptions, ArrayShardedExt,
    ArrayShardedReadableExt, ArrayShardedReadableExtCache, ArraySubset, BytesRepresentation,
    BytesToBytesCodecTraits, CodecOptions, DataType, ElementOwned, FillValue, data_type,
};
use zarrs::filesystem::FilesystemStore;
use zarrs::storage::StoreKey;

use super::digest::ValueDigest;
use super::error::DatasetError;

/// About how much a chunk holds before compression [byte].
const CHUNK_BYTES: usize = 1 << 19;
/// About how much a shard holds before compression [byte].
const SHARD_BYTES: usize = 1 << 23;
/// The most elements of a chunk that are read, whoever wrote it.
const MAX_CHUNK: u64 = 1 << 25;

/// What arrays are of.
pub(super) trait Stored: ElementOwned + Copy + PartialEq + 'static {
    /// Its name for people.
    const NAME: &'static str;
    /// What a missing chunk reads as, which is no value.
    const MISSING: Self;
    fn data_type() -> DataType;
    fn fill() -> FillValue;
    /// How many bytes it has.
    const BYTES: usize;
    /// Adds its bytes, the lowest first.
    fn add_le(self, out: &mut Vec<u8>);
    fn is_value(self) -> bool;
}

impl Stored for f32 {
    const NAME: &'static str = "32-bit floats";
    const MISSING: Self = Self::NAN;
    fn data_type() -> DataType {
        data_type::float32()
    }
    fn fill() -> FillValue {
        Self::MISSING.into()
    }
    const BYTES: usize = 4;
    fn add_le(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }
    fn is_value(self) -> bool {
        self.is_finite()
    }
}

impl Stored for u32 {
    const NAME: &'static str = "unsigned 32-bit integers";
    const MISSING: Self = Self::MAX;
    fn data_type() -> DataType {
        data_type::uint32()
    }
    fn fill() -> FillValue {
        Self::MISSING.into()
    }
    const BYTES: usize = 4;
    fn add_le(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }
    fn is_value(self) -> bool {
        self != Self::MISSING
    }
}

impl Stored for u8 {
    const NAME: &'static str = "bytes";
    const MISSING: Self = Self::MAX;
    fn data_type() -> DataType {
        data_type::uint8()
    }
    fn fill() -> FillValue {
        Self::MISSING.into()
    }
    const BYTES: usize = 1;
    fn add_le(self, out: &mut Vec<u8>) {
        out.push(self);
    }
    fn is_value(self) -> bool {
        self != Self::MISSING
    }
}

/// One thread, so that the bytes don't depend on how many there are.
fn options() -> CodecOptions {
    CodecOptions::default().with_concurrent_target(1)
}

fn unsharded(rows: u64, row_bytes: usize) -> u64 {
    (CHUNK_BYTES / row_bytes.max(1)).clamp(1, rows.max(1) as usize) as u64
}

/// An array that is being written, row by row.
pub(super) struct RowWriter<T: Stored> {
    name: String,
    array: Array<FilesystemStore>,
    /// Elements of a row, and rows of a shard.
    row: usize,
    shard_rows: usize,
    n_shards: u64,
    waiting: Vec<T>,
    digest: ValueDigest,
}

impl<T: Stored> RowWriter<T> {
    /// An array of a shape with named axes at `name` in a store.
    pub(super) fn new(
        store: &Arc<FilesystemStore>,
        name: &str,
        shape: &[u64],
        axes: &[&str],
    ) -> Result<Self, DatasetError> {
        let row = shape[1..].iter().product::<u64>() as usize;
        let chunk = unsharded(shape[0], T::BYTES * row);
        let per_shard = (SHARD_BYTES / (T::BYTES * row * chunk as usize).max(1)).max(1) as u64;
        let shard = chunk * per_shard.min(shape[0].div_ceil(chunk));
        let with_rows = |rows: u64| {
            let mut with = shape.to_vec();
            with[0] = rows;
            with
        };
        let mut builder =
            ArrayBuilder::new(shape.to_vec(), with_rows(shard), T::data_type(), T::fill());
        if shard > chunk {
            builder.subchunk_shape(with_rows(chunk));
        }
        let created = |source| DatasetError::Open {
            array: name.to_string(),
            source: Box::new(source),
        };
        let array = builder
            .bytes_to_bytes_codecs(vec![
                Arc::new(compressor(T::BYTES)),
                Arc::new(Crc32cCodec::new()),
            ])
            .dimension_names(Some(axes.iter().copied()))
            .build(store.clone(), &format!("/{name}"))
            .map_err(created)?;
        let plain = ArrayMetadataOptions::default().with_include_zarrs_metadata(false);
        array
            .store_metadata_opt(&plain)
            .map_err(|source| DatasetError::Storage {
                array: name.to_string(),
                source: Box::new(source),
            })?;
        Ok(Self {
            name: name.to_string(),
            array,
            row,
            shard_rows: shard as usize,
            n_shards: 0,
            waiting: Vec::new(),
            digest: ValueDigest::default(),
        })
    }

    /// Whole rows more.
    pub(super) fn push(&mut self, values: &[T]) -> Result<(), DatasetError> {
        let width = self.row * self.shard_rows;
        for part in values.chunks(self.row.max(1)) {
            if part.iter().any(|v| !v.is_value()) {
                let before = self.n_shards * self.shard_rows as u64;
                return Err(DatasetError::NotFinite {
                    array: self.name.clone(),
                    row: before + (self.waiting.len() / self.row) as u64,
                });
            }
            self.digest.add(part);
            self.waiting.extend_from_slice(part);
            if self.waiting.len() == width {
                self.store()?;
            }
        }
        Ok(())
    }

    fn store(&mut self) -> Result<(), DatasetError> {
        let mut at = vec![0; self.array.shape().len()];
        at[0] = self.n_shards;
        self.array
            .store_chunk_opt(&at, self.waiting.as_slice(), &options())
            .map_err(|source| DatasetError::Array {
                array: self.name.clone(),
                what: "written",
                source: Box::new(source),
            })?;
        self.n_shards += 1;
        self.waiting.clear();
        Ok(())
    }

    /// Writes what is left, and returns the name and the digest of the values.
    pub(super) fn finish(mut self) -> Result<(String, String), DatasetError> {
        self.end()
    }

    /// The same, after which nothing is left to push.
    pub(super) fn end(&mut self) -> Result<(String, String), DatasetError> {
        if !self.waiting.is_empty() {
            self.waiting.resize(self.row * self.shard_rows, T::MISSING);
            self.store()?;
        }
        Ok((self.name.clone(), std::mem::take(&mut self.digest).hex()))
    }
}

/// Writes an array that is in memory.
pub(super) fn write_whole<T: Stored>(
    store: &Arc<FilesystemStore>,
    name: &str,
    shape: &[u64],
    axes: &[&str],
    values: &[T],
) -> Result<(String, String), DatasetError> {
    let mut writer = RowWriter::new(store, name, shape, axes)?;
    writer.push(values)?;
    writer.finish()
}

fn compressor(bytes: usize) -> BloscCodec {
    let level = BloscCompressionLevel::try_from(5u8).expect("a level from 0 to 9");
    BloscCodec::new(
        BloscCompressor::LZ4,
        level,
        None,
        match bytes {
            1 => BloscShuffleMode::NoShuffle,
            _ => BloscShuffleMode::Shuffle,
        },
        Some(bytes),
    )
    .expect("elements have bytes")
}

/// An array of known shape that is read in ranges of rows.
pub(super) struct RowReader {
    name: String,
    array: Array<FilesystemStore>,
    /// Where chunks are within their shards.
    index: ArrayShardedReadableExtCache,
    /// Whether chunks end in a checksum.
    checked: bool,
}

impl RowReader {
    /// Opens an array and checks that it is of `T` and of that shape.
    pub(super) fn open<T: Stored>(
        store: &Arc<FilesystemStore>,
        name: &str,
        shape: &[u64],
    ) -> Result<Self, DatasetError> {
        let reader = Self::open_any::<T>(store, name)?;
        if reader.shape() != shape {
            return Err(DatasetError::Shape {
                array: name.to_string(),
                found: reader.shape().to_vec(),
                expected: shape.to_vec(),
            });
        }
        Ok(reader)
    }

    /// The same for an array whose length decides that of others.
    pub(super) fn open_any<T: Stored>(
        store: &Arc<FilesystemStore>,
        name: &str,
    ) -> Result<Self, DatasetError> {
        let array = Array::open(store.clone(), &format!("/{name}")).map_err(|source| {
            DatasetError::Open {
                array: name.to_string(),
                source: Box::new(source),
            }
        })?;
        if *array.data_type() != T::data_type() {
            return Err(DatasetError::Element {
                array: name.to_string(),
                expected: T::NAME,
            });
        }
        let first = vec![0; array.shape().len()];
        let chunk = array
            .chunk_shape(&first)
            .map_err(|source| DatasetError::Array {
                array: name.to_string(),
                what: "read",
                source: Box::new(source),
            })?;
        let sizes = chunk.iter().map(|n| n.get());
        let elements = sizes.fold(1u64, u64::saturating_mul);
        if elements > MAX_CHUNK {
            return Err(DatasetError::Chunk {
                array: name.to_string(),
                elements,
                limit: MAX_CHUNK,
            });
        }
        Ok(Self {
            name: name.to_string(),
            index: ArrayShardedReadableExtCache::new(&array),
            checked: ends_in_checksum(&array),
            array,
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn shape(&self) -> &[u64] {
        self.array.shape()
    }

    /// The values of rows, which are within the array.
    pub(super) fn rows<T: Stored>(&self, rows: Range<u64>) -> Result<Vec<T>, DatasetError> {
        let mut ranges: Vec<Range<u64>> = self.shape().iter().map(|n| 0..*n).collect();
        ranges[0] = rows.clone();
        let subset = ArraySubset::new_with_ranges(&ranges);
        self.check(&subset)?;
        let values: Vec<T> = self
            .array
            .retrieve_array_subset_sharded_opt(&self.index, &subset, &options())
            .map_err(|source| self.unread(source))?;
        let row = self.shape()[1..].iter().product::<u64>().max(1);
        match values.iter().position(|v| !v.is_value()) {
            Some(at) => Err(DatasetError::NotFinite {
                array: self.name.clone(),
                row: rows.start + at as u64 / row,
            }),
            None => Ok(values),
        }
    }

    /// Compares the chunks of a subset with their checksums, which zarrs does only
    /// where it decodes a whole file.
    fn check(&self, subset: &ArraySubset) -> Result<(), DatasetError> {
        if !self.checked {
            return Ok(());
        }
        let grid = self.array.subchunk_grid();
        let Ok(Some(chunks)) = grid.chunks_in_array_subset(subset) else {
            return Ok(());
        };
        for chunk in &chunks.indices() {
            let encoded = match self.index.array_is_sharded() {
                true => (self.array.retrieve_encoded_subchunk(&self.index, &chunk))
                    .map_err(|source| self.unread(source))?,
                false => (self.array.retrieve_encoded_chunk(&chunk))
                    .map_err(|source| self.unread(source.into()))?,
            };
            // What is missing has no value, and is found by that.
            let Some(encoded) = encoded else { continue };
            let size = BytesRepresentation::UnboundedSize;
            Crc32cCodec::new()
                .decode(Cow::Borrowed(&encoded), &size, &options())
                .map_err(|source| self.unread(source.into()))?;
        }
        Ok(())
    }

    /// Of which sequence it is says its folder.
    fn unread(&self, source: ArrayError) -> DatasetError {
        let folder = StoreKey::new(&self.name).map(|key| self.array.storage().key_to_fspath(&key));
        DatasetError::Array {
            array: folder.map_or_else(|_| self.name.clone(), |path| path.display().to_string()),
            what: "read",
            source: Box::new(source),
        }
    }

    /// Reads all rows, a chunk at a time, and checks their digest.
    pub(super) fn verify<T: Stored>(&self, digest: Option<&str>) -> Result<(), DatasetError> {
        let n_rows = self.shape()[0];
        let row = self.shape()[1..].iter().product::<u64>() as usize;
        let step = unsharded(n_rows, T::BYTES * row);
        let mut found = ValueDigest::default();
        let mut start = 0;
        while start < n_rows {
            let end = (start + step).min(n_rows);
            found.add(&self.rows::<T>(start..end)?);
            start = end;
        }
        match digest == Some(&found.hex()) {
            true => Ok(()),
            false => Err(DatasetError::Checksum {
                what: "array",
                name: self.name.clone(),
            }),
        }
    }
}

/// Whether the last thing that was done to a chunk was to add a checksum.
fn ends_in_checksum(array: &Array<FilesystemStore>) -> bool {
    let metadata = serde_json::to_value(array.metadata()).unwrap_or_default();
    let codecs = &metadata["codecs"];
    let codecs = match codecs[0]["name"] == "sharding_indexed" {
        true => &codecs[0]["configuration"]["codecs"],
        false => codecs,
    };
    let last = codecs.as_array().and_then(|codecs| codecs.last());
    // A codec that has nothing to say of itself may be its name alone.
    last.is_some_and(|codec| {
        *codec == "crc32c"
            || codec["name"] == "crc32c" && codec["configuration"]["location"] != "start"
    })
}

/// Reads an array into memory; one that decides its own length has at most
/// `limit` elements.
pub(super) fn read_whole<T: Stored>(
    store: &Arc<FilesystemStore>,
    name: &str,
    limit: u64,
) -> Result<(Vec<u64>, Vec<T>), DatasetError> {
    let reader = RowReader::open_any::<T>(store, name)?;
    let shape = reader.shape().to_vec();
    let elements = shape.iter().fold(1u64, |n, m| n.saturating_mul(*m));
    if elements > limit || shape.is_empty() {
        return Err(DatasetError::Chunk {
            array: name.to_string(),
            elements,
            limit,
        });
    }
    let values = reader.rows(0..shape[0])?;
    Ok((shape, values))
}
