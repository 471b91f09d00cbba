//! PC2 point caches: the positions of every vertex, sample after sample.
//!
//! Little endian throughout, 32 bytes before the first sample:
//!
//! ```text
//! "POINTCACHE2\0"  i32 version = 1  i32 points  f32 start frame  f32 sample rate  i32 samples
//! f32 x y z of every point, sample by sample
//! ```
//!
//! `sample rate` is in frames a sample: 1 for every frame. Positions are in
//! whatever unit and axes the caller uses; Blender reads them in the object's
//! own space. Sequences are long, so the writer streams and is told the number
//! of samples first; the reader hands out one sample at a time.
//!
//! ```
//! use drapery_store::pc2::{Pc2Reader, Pc2Writer};
//! use glam::Vec3;
//!
//! let mut file = Vec::new();
//! let mut writer = Pc2Writer::new(&mut file, 2, 3)?;
//! for frame in 0..3 {
//!     writer.push(&[Vec3::ZERO, Vec3::X * frame as f32])?;
//! }
//! writer.finish()?;
//!
//! let cache = Pc2Reader::new(&file)?;
//! assert_eq!(cache.n_samples(), 3);
//! assert_eq!(cache.sample(2)?[1], Vec3::new(2.0, 0.0, 0.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io::Write;

use glam::Vec3;

use crate::point_cache::{
    CacheError, CacheWriteError, Order, SampleCount, check_body, check_points, read_points,
    write_points,
};

const MAGIC: &[u8; 12] = b"POINTCACHE2\0";
pub(crate) const HEADER_BYTES: usize = 32;

/// What stands before the first sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pc2Header {
    pub(crate) n_points: usize,
    pub(crate) n_samples: usize,
    pub(crate) start_frame: f32,
    pub(crate) sample_rate: f32,
}

impl Pc2Header {
    /// The header at the start of `bytes`, of a file with `n_body` bytes after it.
    pub(crate) fn read(bytes: &[u8], n_body: usize) -> Result<Self, CacheError> {
        if !bytes.starts_with(MAGIC) {
            return Err(CacheError::Magic);
        }
        let Some(header) = bytes.get(..HEADER_BYTES) else {
            return Err(CacheError::Header {
                found: bytes.len(),
                expected: HEADER_BYTES,
            });
        };
        let field = |at: usize| [header[at], header[at + 1], header[at + 2], header[at + 3]];
        let version = i32::from_le_bytes(field(12));
        if version != 1 {
            return Err(CacheError::Version { found: version });
        }
        let (n_points, n_samples) = check_body(
            i32::from_le_bytes(field(16)),
            i32::from_le_bytes(field(28)),
            n_body,
        )?;
        let start_frame = f32::from_le_bytes(field(20));
        let sample_rate = f32::from_le_bytes(field(24));
        for (what, value) in [("start frame", start_frame), ("sample rate", sample_rate)] {
            if !value.is_finite() {
                return Err(CacheError::HeaderNotFinite { what });
            }
        }
        Ok(Self {
            n_points,
            n_samples,
            start_frame,
            sample_rate,
        })
    }
}

/// A PC2 file in memory, checked; samples are decoded when asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pc2Reader<'a> {
    body: &'a [u8],
    n_points: usize,
    n_samples: usize,
    start_frame: f32,
    sample_rate: f32,
}

impl<'a> Pc2Reader<'a> {
    /// Opens the bytes of a file.
    ///
    /// # Errors
    /// When the header is wrong, or the file is not as long as it says.
    pub fn new(bytes: &'a [u8]) -> Result<Self, CacheError> {
        let header = Pc2Header::read(bytes, bytes.len().saturating_sub(HEADER_BYTES))?;
        Ok(Self {
            body: &bytes[HEADER_BYTES..],
            n_points: header.n_points,
            n_samples: header.n_samples,
            start_frame: header.start_frame,
            sample_rate: header.sample_rate,
        })
    }

    /// Points in a sample.
    pub const fn n_points(&self) -> usize {
        self.n_points
    }

    /// Samples in the file.
    pub const fn n_samples(&self) -> usize {
        self.n_samples
    }

    /// The frame of the first sample.
    pub const fn start_frame(&self) -> f32 {
        self.start_frame
    }

    /// Frames from one sample to the next.
    pub const fn sample_rate(&self) -> f32 {
        self.sample_rate
    }

    /// The points of a sample.
    ///
    /// # Errors
    /// When there is no such sample, or a coordinate is not finite.
    pub fn sample(&self, sample: usize) -> Result<Vec<Vec3>, CacheError> {
        read_points(
            self.body,
            self.n_points,
            self.n_samples,
            sample,
            Order::Little,
        )
    }
}

/// Writes a PC2 file sample by sample.
#[derive(Debug)]
pub struct Pc2Writer<W: Write> {
    out: W,
    count: SampleCount,
    buffer: Vec<u8>,
}

impl<W: Write> Pc2Writer<W> {
    /// Writes the header of a file with `n_samples` samples of `n_points`
    /// points, one a frame from frame 0.
    ///
    /// # Errors
    /// When a number does not fit the format or writing fails.
    pub fn new(out: W, n_points: usize, n_samples: usize) -> Result<Self, CacheWriteError> {
        Self::with_frames(out, n_points, n_samples, 0.0, 1.0)
    }

    /// As [`new`](Self::new), with the frame of the first sample and the frames
    /// from one sample to the next.
    ///
    /// # Errors
    /// When a number does not fit the format or writing fails.
    pub fn with_frames(
        mut out: W,
        n_points: usize,
        n_samples: usize,
        start_frame: f32,
        sample_rate: f32,
    ) -> Result<Self, CacheWriteError> {
        let count = SampleCount::new(n_points, n_samples)?;
        let mut header = MAGIC.to_vec();
        header.extend(1i32.to_le_bytes());
        header.extend((n_points as i32).to_le_bytes());
        header.extend(start_frame.to_le_bytes());
        header.extend(sample_rate.to_le_bytes());
        header.extend((n_samples as i32).to_le_bytes());
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
        write_points(points, Order::Little, &mut self.buffer);
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
        let writer = Pc2Writer::with_frames(Vec::new(), 1, 1, 5.0, 0.5);
        let mut writer = writer.unwrap();
        writer.push(&[Vec3::new(1.0, -2.0, 0.5)]).unwrap();
        let bytes = writer.finish().unwrap();
        let mut expected = b"POINTCACHE2\0".to_vec();
        expected.extend([1, 0, 0, 0, 1, 0, 0, 0]);
        expected.extend([0, 0, 0xa0, 0x40, 0, 0, 0, 0x3f, 1, 0, 0, 0]);
        expected.extend([0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0, 0, 0, 0, 0x3f]);
        assert_eq!(bytes, expected);
        let cache = Pc2Reader::new(&bytes).unwrap();
        assert_eq!((cache.start_frame(), cache.sample_rate()), (5.0, 0.5));
    }

    #[test]
    fn the_announced_number_of_samples_is_kept() {
        let mut writer = Pc2Writer::new(Vec::new(), 1, 1).unwrap();
        assert!(matches!(
            writer.push(&[]),
            Err(CacheWriteError::Points {
                found: 0,
                expected: 1,
                sample: 0
            })
        ));
        writer.push(&[Vec3::ZERO]).unwrap();
        assert!(matches!(
            writer.push(&[Vec3::ZERO]),
            Err(CacheWriteError::Full { expected: 1 })
        ));
        let short = Pc2Writer::new(Vec::new(), 1, 2).unwrap();
        assert!(matches!(
            short.finish(),
            Err(CacheWriteError::Short {
                found: 0,
                expected: 2
            })
        ));
        let mut nan = Pc2Writer::new(Vec::new(), 2, 1).unwrap();
        assert!(matches!(
            nan.push(&[Vec3::ZERO, Vec3::NAN]),
            Err(CacheWriteError::NotFinite {
                sample: 0,
                point: 1
            })
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
            let mut writer = Pc2Writer::new(Vec::new(), n_points, n_samples).unwrap();
            for s in 0..n_samples {
                let points: Vec<Vec3> = (0..n_points).map(|p| at(s, p)).collect();
                writer.push(&points).unwrap();
            }
            let bytes = writer.finish().unwrap();
            let cache = Pc2Reader::new(&bytes).unwrap();
            prop_assert_eq!((cache.n_points(), cache.n_samples()), (n_points, n_samples));
            for s in 0..n_samples {
                let points = cache.sample(s).unwrap();
                prop_assert!(points.iter().enumerate().all(|(p, x)| *x == at(s, p)));
            }
        }
    }
}
