//! NumPy arrays (`.npy`) and archives of them (`.npz`).
//!
//! Reads what `numpy.save`, `numpy.savez` and `numpy.savez_compressed` write:
//! numbers of either byte order, booleans and text, in C or Fortran order;
//! arrays are always handed out in C order. Writes version 1.0 headers, little
//! endian, C order, which every NumPy reads.
//!
//! Not read: pickled objects, records, complex numbers, dates. Nothing is
//! allocated by a number that stands in a header: sizes are compared with the
//! bytes present first, and an array may unpack to at most 4 GiB.
//!
//! ```
//! use drapery_store::npz::{NpyArray, NpzArchive, write_npz};
//!
//! let times = NpyArray::f64([3], vec![0.0, 0.5, 1.0]);
//! let bytes = write_npz(&[("times", &times)])?;
//! assert_eq!(NpzArchive::from_bytes(&bytes)?.get("times")?, times);
//! # Ok::<(), drapery_store::npz::NpzError>(())
//! ```

mod archive;
mod array;
mod elements;
mod file;
mod header;

pub use archive::{NpzArchive, NpzError, read_npy, write_npy, write_npz};
pub use array::{NpyArray, NpyData, NpyError};
pub use file::{NpyRows, NpzFile};
