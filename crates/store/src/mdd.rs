//! MDD point caches: the positions of every vertex at given times.
//!
//! Big endian throughout:
//!
//! ```text
//! i32 samples  i32 points  f32 time of every sample [s]
//! f32 x y z of every point, sample by sample
//! ```
//!
//! Positions are in whatever unit and axes the caller uses. All times stand
//! before the first sample, so the writer is given them first and streams the
//! rest; the reader hands out one sample at a time.
//!
//! ```
//! use drapery_store::mdd::{MddReader, MddWriter};
//! use glam::Vec3;
//!
//! let mut file = Vec::new();
//! let mut writer = MddWriter::new(&mut file, 1, &[0.0, 0.5])?;
//! writer.push(&[Vec3::ZERO])?;
//! writer.push(&[Vec3::Y])?;
//! writer.finish()?;
//!
//! let cache = MddReader::new(&file)?;
//! assert_eq!(cache.times(), [0.0, 0.5]);
//! assert_eq!(cache.sample(1)?, [Vec3::Y]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io::Write;

use glam::Vec3;

use crate::point_cache::{
    CacheError, CacheWriteError, Order, SampleCount, check_body, check_points, read_points,
    write_points,
};

pub(crate) const HEADER_BYTES: usize = 8;

/// What stands before the first sample.
#[derive(Clone, Debug)]
pub(crate) struct MddHeader {
    pub(crate) n_points: usize,
    /// The time of every sample [s].
    pub(crate) times: Vec<f32>,
}

impl MddHeader {
    /// The samples that a file declares in its first [`HEADER_BYTES`] bytes.
    pub(crate) fn n_samples(bytes: &[u8]) -> Result<usize, CacheError> {
        let Some(header) = bytes.get(..HEADER_BYTES) else {
            return Err(CacheError::Header {
                found: bytes.len(),
                expected: HEADER_BYTES,
            });
        };
        let field = |at: usize| [header[at], header[at + 1], header[at + 2], header[at + 3]];
        let samples = i32::from_be_bytes(field(0));
        let points = i32::from_be_bytes(field(4));
        usize::try_from(samples).map_err(|_| CacheError::Counts { points, samples })
    }

    /// The header at the start of `bytes`, of a file of `n_file` bytes.
    pub(crate) fn read(bytes: &[u8], n_file: usize) -> Result<Self, CacheError> {
        let n_times = Self::n_samples(bytes)?;
        let rest = &bytes[HEADER_BYTES..];
        let n_header = n_times.saturating_mul(4).saturating_add(HEADER_BYTES);
        let Some(times) = rest.get(..n_times.saturating_mul(4)) else {
            return Err(CacheError::Header {
                found: n_file,
                expected: n_header,
            });
        };
        let points = i32::from_be_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
        let samples = i32::try_from(n_times).unwrap_or(i32::MAX);
        let (n_points, _) = check_body(points, samples, n_file.saturating_sub(n_header))?;
        let (times, _) = times.as_chunks::<4>();
        let times: Vec<f32> = times.iter().map(|&b| f32::from_be_bytes(b)).collect();
        for (sample, &time) in times.iter().enumerate() {
            if !time.is_finite() || (sample > 0 && time < times[sample - 1]) {
                return Err(CacheError::Time { sample, time });
            }
        }
        Ok(Self { n_points, times })
    }

    /// Bytes before the first sample.
    pub(crate) const fn n_bytes(&self) -> usize {
        HEADER_BYTES + 4 * self.times.len()
    }
}

/// An MDD file in memory, checked; samples are decoded when asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct MddReader<'a> {
    body: &'a [u8],
    n_points: usize,
    times: Vec<f32>,
}

impl<'a> MddReader<'a> {
    /// Opens the bytes of a file.
    ///
    /// # Errors
    /// When the header is wrong, the file is not as long as it says, or times
    /// are not finite or run backwards.
    pub fn new(bytes: &'a [u8]) -> Result<Self, CacheError> {
        let header = MddHeader::read(bytes, bytes.len())?;
        Ok(Self {
            body: &bytes[header.n_bytes()..],
            n_points: header.n_points,
            times: header.times,
        })
    }

    /// Points in a sample.
    pub const fn n_points(&self) -> usize {
        self.n_points
    }

    /// Samples in the file.
    pub const fn n_samples(&self) -> usize {
        self.times.len()
    }

    /// The time of every sample [s].
    pub fn times(&self) -> &[f32] {
        &self.times
    }

    /// The points of a sample.
    ///
    /// # Errors
    /// When there is no such sample, or a coordinate is not finite.
    pub fn sample(&self, sample: usize) -> Result<Vec<Vec3>, CacheError> {
        read_points(
            self.body,
            self.n_points,
            self.times.len(),
            sample,
            Order::Big,
        )
    }
}

/// Writes an MDD file sample by sample.
#[derive(Debug)]
pub struct MddWriter<W: Write> {
    out: W,
    count: SampleCount,
    buffer: Vec<u8>,
}

impl<W: Write> MddWriter<W> {
    /// Writes the header of a file with samples of `n_points` points at the
    /// given times [s].
    ///
    /// # Errors
    /// When a number does not fit the format, a time is not finite or runs
    /// backwards, or writing fails.
    pub fn new(mut out: W, n_points: usize, times: &[f32]) -> Result<Self, CacheWriteError> {
        let count = SampleCount::new(n_points, times.len())?;
        let mut header = (times.len() as i32).to_be_bytes().to_vec();
        header.extend((n_points as i32).to_be_bytes());
        for (sample, &time) in times.iter().enumerate() {
            if !time.is_finite() || (sample > 0 && time < times[sample - 1]) {
                return Err(CacheWriteError::Time { sample, time });
            }
            header.extend(time.to_be_bytes());
        }
        out.write_all(&header)?;
        Ok(Self {
            out,
            count,
            buffer: Vec::new(),
        })
    }

    /// Appends a sample.
    ///
    /// # Errors
    /// When the number of points differs, a coordinate is not finite, the file
    /// is full or writing fails.
    pub fn push(&mut self, points: &[Vec3]) -> Result<(), CacheWriteError> {
        check_points(points, &self.count)?;
        write_points(points, Order::Big, &mut self.buffer);
        self.out.write_all(&self.buffer)?;
        self.count.taken += 1;
        Ok(())
    }

    /// Ends the file and hands the writer back.
    ///
    /// # Errors
    /// When fewer samples were pushed than announced, or flushing fails.
    pub fn finish(mut self) -> Result<W, CacheWriteError> {
        self.count.check_full()?;
        self.out.flush()?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_bytes_are_those_of_the_format() {
        let mut writer = MddWriter::new(Vec::new(), 1, &[0.5]).unwrap();
        writer.push(&[Vec3::new(1.0, -2.0, 0.5)]).unwrap();
        let bytes = writer.finish().unwrap();
        let mut expected = vec![0, 0, 0, 1, 0, 0, 0, 1, 0x3f, 0, 0, 0];
        expected.extend([0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0, 0x3f, 0, 0, 0]);
        assert_eq!(bytes, expected);
    }

    #[test]
    fn times_must_not_run_backwards() {
        assert!(matches!(
            MddWriter::new(Vec::new(), 1, &[0.0, 1.0, 0.5]),
            Err(CacheWriteError::Time { sample: 2, .. })
        ));
        assert!(matches!(
            MddWriter::new(Vec::new(), 1, &[f32::NAN]),
            Err(CacheWriteError::Time { sample: 0, .. })
        ));
    }

    proptest! {
        #[test]
        fn samples_read_back_as_they_were_written(
            n_points in 1usize..20,
            n_samples in 0usize..6,
            scale in -1e6f32..1e6,
        ) {
            let at = |s: usize, p: usize| Vec3::new(scale, s as f32, -(p as f32) / 3.0);
            let times: Vec<f32> = (0..n_samples).map(|s| s as f32 / 30.0).collect();
            let mut writer = MddWriter::new(Vec::new(), n_points, &times).unwrap();
            for s in 0..n_samples {
                let points: Vec<Vec3> = (0..n_points).map(|p| at(s, p)).collect();
                writer.push(&points).unwrap();
            }
            let bytes = writer.finish().unwrap();
            let cache = MddReader::new(&bytes).unwrap();
            prop_assert_eq!(cache.n_points(), n_points);
            prop_assert_eq!(cache.times(), times);
            for s in 0..n_samples {
                let points = cache.sample(s).unwrap();
                prop_assert!(points.iter().enumerate().all(|(p, x)| *x == at(s, p)));
            }
        }

        #[test]
        fn any_bytes_are_a_cache_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            if let Ok(cache) = MddReader::new(&bytes) {
                for s in 0..cache.n_samples() {
                    let _ = cache.sample(s);
                }
            }
        }
    }
}
