//! What PC2 and MDD point caches share: checks, errors and the samples.

use std::io;

use glam::Vec3;

/// Why bytes are not a point cache.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// The bytes don't start as a PC2 file does.
    #[error("not a PC2 point cache: the first bytes are not POINTCACHE2")]
    Magic,
    /// The file ends inside its header.
    #[error("the file has {found} bytes, but its header alone takes {expected}")]
    Header {
        /// Bytes present.
        found: usize,
        /// Bytes of the header.
        expected: usize,
    },
    /// A version that is not known.
    #[error("point cache version {found} is not 1")]
    Version {
        /// The version found.
        found: i32,
    },
    /// A count is negative, or there are samples of nothing.
    #[error("{points} points in {samples} samples make no point cache")]
    Counts {
        /// Points declared.
        points: i32,
        /// Samples declared.
        samples: i32,
    },
    /// The file is not as long as its header says.
    #[error("{samples} samples of {points} points take {expected} bytes, but {found} are present")]
    Length {
        /// Points declared.
        points: usize,
        /// Samples declared.
        samples: usize,
        /// Bytes that they take.
        expected: u128,
        /// Bytes present.
        found: usize,
    },
    /// A number of the header is NaN or infinite.
    #[error("the {what} is not finite")]
    HeaderNotFinite {
        /// Which one.
        what: &'static str,
    },
    /// A time that is not finite or runs backwards.
    #[error("sample {sample} has time {time}, which is not finite or before its predecessor's")]
    Time {
        /// The sample's index.
        sample: usize,
        /// Its time [s].
        time: f32,
    },
    /// A coordinate is NaN or infinite.
    #[error("sample {sample}: point {point} has a coordinate that is not finite")]
    NotFinite {
        /// The sample's index.
        sample: usize,
        /// The point's index.
        point: usize,
    },
    /// A sample that is not there.
    #[error("there is no sample {sample}, only {samples}")]
    NoSuchSample {
        /// The index asked for.
        sample: usize,
        /// How many there are.
        samples: usize,
    },
}

/// Why a point cache can't be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheWriteError {
    /// Writing failed.
    #[error("writing failed")]
    Io(#[from] io::Error),
    /// More points or samples than the format can count.
    #[error("{found} {what} are more than the limit of {}", i32::MAX)]
    TooMany {
        /// `points` or `samples`.
        what: &'static str,
        /// How many there are.
        found: usize,
    },
    /// Samples without points, which no reader takes.
    #[error("{samples} samples of no points make no point cache")]
    NoPoints {
        /// Samples announced.
        samples: usize,
    },
    /// A sample has another number of points than announced.
    #[error("sample {sample} has {found} points, expected {expected}")]
    Points {
        /// The sample's index.
        sample: usize,
        /// Points given.
        found: usize,
        /// Points announced.
        expected: usize,
    },
    /// A coordinate is NaN or infinite.
    #[error("sample {sample}: point {point} has a coordinate that is not finite")]
    NotFinite {
        /// The sample's index.
        sample: usize,
        /// The point's index.
        point: usize,
    },
    /// A time that is not finite or runs backwards.
    #[error("sample {sample} has time {time}, which is not finite or before its predecessor's")]
    Time {
        /// The sample's index.
        sample: usize,
        /// Its time [s].
        time: f32,
    },
    /// One sample more than announced.
    #[error("the {expected} announced samples are already written")]
    Full {
        /// Samples announced.
        expected: usize,
    },
    /// Fewer samples than announced.
    #[error("{found} samples were written, but {expected} were announced")]
    Short {
        /// Samples written.
        found: usize,
        /// Samples announced.
        expected: usize,
    },
}

/// The byte order of a format.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    Little,
    Big,
}

/// How many samples are announced and how many came.
#[derive(Debug)]
pub(crate) struct SampleCount {
    n_points: usize,
    n_samples: usize,
    pub(crate) taken: usize,
}

impl SampleCount {
    pub(crate) fn new(n_points: usize, n_samples: usize) -> Result<Self, CacheWriteError> {
        for (what, found) in [("points", n_points), ("samples", n_samples)] {
            if i32::try_from(found).is_err() {
                return Err(CacheWriteError::TooMany { what, found });
            }
        }
        if n_points == 0 && n_samples > 0 {
            return Err(CacheWriteError::NoPoints { samples: n_samples });
        }
        Ok(Self {
            n_points,
            n_samples,
            taken: 0,
        })
    }

    pub(crate) const fn check_full(&self) -> Result<(), CacheWriteError> {
        match self.taken == self.n_samples {
            true => Ok(()),
            false => Err(CacheWriteError::Short {
                found: self.taken,
                expected: self.n_samples,
            }),
        }
    }
}

/// The declared counts, when the samples take just the bytes present.
pub(crate) fn check_body(
    points: i32,
    samples: i32,
    found: usize,
) -> Result<(usize, usize), CacheError> {
    let (Ok(n_points), Ok(n_samples)) = (usize::try_from(points), usize::try_from(samples)) else {
        return Err(CacheError::Counts { points, samples });
    };
    if n_points == 0 && n_samples > 0 {
        return Err(CacheError::Counts { points, samples });
    }
    let expected = 12 * n_points as u128 * n_samples as u128;
    match expected == found as u128 {
        true => Ok((n_points, n_samples)),
        false => Err(CacheError::Length {
            points: n_points,
            samples: n_samples,
            expected,
            found,
        }),
    }
}

/// The points of a sample of a checked body.
pub(crate) fn read_points(
    body: &[u8],
    n_points: usize,
    n_samples: usize,
    sample: usize,
    order: Order,
) -> Result<Vec<Vec3>, CacheError> {
    if sample >= n_samples {
        return Err(CacheError::NoSuchSample {
            sample,
            samples: n_samples,
        });
    }
    let (points, _) = body[12 * n_points * sample..12 * n_points * (sample + 1)].as_chunks::<12>();
    let number = |b: [u8; 4]| match order {
        Order::Little => f32::from_le_bytes(b),
        Order::Big => f32::from_be_bytes(b),
    };
    let point = |(point, b): (usize, &[u8; 12])| {
        let position = Vec3::new(
            number([b[0], b[1], b[2], b[3]]),
            number([b[4], b[5], b[6], b[7]]),
            number([b[8], b[9], b[10], b[11]]),
        );
        match position.is_finite() {
            true => Ok(position),
            false => Err(CacheError::NotFinite { sample, point }),
        }
    };
    points.iter().enumerate().map(point).collect()
}

/// Checks a sample that is about to be written.
pub(crate) fn check_points(points: &[Vec3], count: &SampleCount) -> Result<(), CacheWriteError> {
    if count.taken == count.n_samples {
        return Err(CacheWriteError::Full {
            expected: count.n_samples,
        });
    }
    if points.len() != count.n_points {
        return Err(CacheWriteError::Points {
            sample: count.taken,
            found: points.len(),
            expected: count.n_points,
        });
    }
    match points.iter().position(|p| !p.is_finite()) {
        Some(point) => Err(CacheWriteError::NotFinite {
            sample: count.taken,
            point,
        }),
        None => Ok(()),
    }
}

/// Fills `buffer` with the bytes of a sample.
pub(crate) fn write_points(points: &[Vec3], order: Order, buffer: &mut Vec<u8>) {
    buffer.clear();
    for point in points {
        for x in point.to_array() {
            buffer.extend(match order {
                Order::Little => x.to_le_bytes(),
                Order::Big => x.to_be_bytes(),
            });
        }
    }
}
