//! A picture in memory, and its files: [`Image`], PNG and animated PNG.

use std::fs::File;
use std::io::{BufWriter, Cursor, Write};
use std::path::{Path, PathBuf};

use drapery_core::FrameRate;

use super::camera::Size;
use super::colour::Colour;
use super::scene::MAX_SIDE;

/// A picture of 8 bits a channel, sRGB, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    size: Size,
    rgb8: Vec<u8>,
}

/// Why a picture cannot be made, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The bytes don't fill the picture.
    #[error("{n_bytes} bytes don't make a picture of {} x {} pixels", size.width, size.height)]
    WrongLength {
        /// The size asked for.
        size: Size,
        /// How many bytes there are.
        n_bytes: usize,
    },
    /// A side is zero or too long.
    #[error(
        "a picture of {} x {} pixels is not within 1 to {} a side and {} in all",
        size.width, size.height, MAX_IMAGE_SIDE, MAX_PIXELS
    )]
    BadSize {
        /// The size asked for.
        size: Size,
    },
    /// There is no picture to put on a sheet or in an animation.
    #[error("there is no picture")]
    NoImages,
    /// The frames of an animation differ in size.
    #[error(
        "frame {frame} has {} x {} pixels, the first has {} x {}",
        size.width, size.height, first.width, first.height
    )]
    FramesDiffer {
        /// The frame's index.
        frame: usize,
        /// Its size.
        size: Size,
        /// The first frame's size.
        first: Size,
    },
    /// The PNG is not of a kind that this crate writes.
    #[error("a PNG of {kind} is not read, only 8-bit RGB")]
    OtherKind {
        /// The colour type and depth.
        kind: &'static str,
    },
    /// The bytes are not a PNG.
    #[error("not a PNG: {0}")]
    Decode(#[from] png::DecodingError),
    /// The PNG could not be written.
    #[error("cannot write a PNG: {0}")]
    Encode(#[from] png::EncodingError),
    /// The file could not be written.
    #[error("{source}: {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: std::io::Error,
    },
}

/// The largest width or height of an image [pixels]: a sheet of several
/// pictures.
pub(super) const MAX_IMAGE_SIDE: u32 = 4 * MAX_SIDE;

/// The most pixels of an image.
const MAX_PIXELS: u64 = MAX_SIDE as u64 * MAX_SIDE as u64;

impl Image {
    /// A picture of bytes: red, green, blue, from the top left, row by row.
    ///
    /// # Errors
    /// When a side is zero or too long, or the bytes are not three a pixel.
    pub fn new(size: Size, rgb8: Vec<u8>) -> Result<Self, ImageError> {
        check(size)?;
        if rgb8.len() != n_bytes(size) {
            return Err(ImageError::WrongLength {
                size,
                n_bytes: rgb8.len(),
            });
        }
        Ok(Self { size, rgb8 })
    }

    /// A picture of one colour.
    ///
    /// # Errors
    /// When a side is zero or too long.
    pub fn filled(size: Size, colour: Colour) -> Result<Self, ImageError> {
        check(size)?;
        let n_pixels = n_bytes(size) / 3;
        Ok(Self {
            size,
            rgb8: [colour.r, colour.g, colour.b].repeat(n_pixels),
        })
    }

    /// A picture whose size and length are known to be right.
    pub(super) fn from_parts(size: Size, rgb8: Vec<u8>) -> Self {
        debug_assert_eq!(rgb8.len(), n_bytes(size));
        Self { size, rgb8 }
    }

    /// Width and height.
    pub const fn size(&self) -> Size {
        self.size
    }

    /// Columns.
    pub const fn width(&self) -> u32 {
        self.size.width
    }

    /// Rows.
    pub const fn height(&self) -> u32 {
        self.size.height
    }

    /// The bytes: red, green, blue, from the top left, row by row.
    pub fn rgb8(&self) -> &[u8] {
        &self.rgb8
    }

    /// The colour of a pixel; nothing outside the picture.
    pub fn pixel(&self, x: u32, y: u32) -> Option<Colour> {
        let at = self.offset(x, y)?;
        Some(Colour::rgb(
            self.rgb8[at],
            self.rgb8[at + 1],
            self.rgb8[at + 2],
        ))
    }

    /// Paints a pixel; outside the picture nothing happens.
    pub(super) fn set(&mut self, x: i64, y: i64, colour: Colour) {
        let place = u32::try_from(x).ok().zip(u32::try_from(y).ok());
        if let Some(at) = place.and_then(|(x, y)| self.offset(x, y)) {
            self.rgb8[at..at + 3].copy_from_slice(&[colour.r, colour.g, colour.b]);
        }
    }

    /// Paints a pixel in part, `cover` from 0 to 1, mixed in linear light.
    pub(super) fn blend(&mut self, x: i64, y: i64, colour: Colour, cover: f32) {
        let place = u32::try_from(x).ok().zip(u32::try_from(y).ok());
        if let Some(below) = place.and_then(|(x, y)| self.pixel(x, y)) {
            let mixed = below.linear().lerp(colour.linear(), cover.clamp(0.0, 1.0));
            self.set(x, y, Colour::from_linear(mixed));
        }
    }

    /// Copies another picture in, its top left corner at (x, y); what does not
    /// fit is left out.
    pub fn paste(&mut self, other: &Self, x: u32, y: u32) {
        let n_columns = other.width().min(self.width().saturating_sub(x)) as usize;
        let n_rows = other.height().min(self.height().saturating_sub(y)) as usize;
        let (from_row, to_row) = (other.width() as usize * 3, self.width() as usize * 3);
        for row in 0..n_rows {
            let from = row * from_row;
            let to = (y as usize + row) * to_row + x as usize * 3;
            self.rgb8[to..to + n_columns * 3]
                .copy_from_slice(&other.rgb8[from..from + n_columns * 3]);
        }
    }

    fn offset(&self, x: u32, y: u32) -> Option<usize> {
        (x < self.width() && y < self.height())
            .then(|| (y as usize * self.width() as usize + x as usize) * 3)
    }

    /// The picture as the bytes of a PNG file.
    ///
    /// # Errors
    /// When the encoder fails.
    pub fn png(&self) -> Result<Vec<u8>, ImageError> {
        let mut bytes = Vec::new();
        self.encode(&mut bytes)?;
        Ok(bytes)
    }

    /// Writes a PNG file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_png(&self, path: &Path) -> Result<(), ImageError> {
        with_file(path, |file| self.encode(file))
    }

    /// Reads the bytes of a PNG file of 8-bit RGB, as this crate writes; of an
    /// animation, the first frame.
    ///
    /// # Errors
    /// When the bytes are not such a PNG or the picture is too large.
    pub fn from_png(bytes: &[u8]) -> Result<Self, ImageError> {
        let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info()?;
        let info = reader.info();
        let size = Size::new(info.width, info.height);
        check(size)?;
        if (info.color_type, info.bit_depth) != (png::ColorType::Rgb, png::BitDepth::Eight) {
            return Err(ImageError::OtherKind {
                kind: match info.color_type {
                    png::ColorType::Rgb => "16-bit RGB",
                    png::ColorType::Rgba => "RGB with alpha",
                    png::ColorType::Indexed => "a palette",
                    png::ColorType::Grayscale | png::ColorType::GrayscaleAlpha => "greys",
                },
            });
        }
        let mut rgb8 = vec![0; n_bytes(size)];
        reader.next_frame(&mut rgb8)?;
        Ok(Self { size, rgb8 })
    }

    fn encode(&self, out: impl Write) -> Result<(), ImageError> {
        let mut writer = encoder(out, self.size).write_header()?;
        writer.write_image_data(&self.rgb8)?;
        writer.finish()?;
        Ok(())
    }
}

/// Writes frames of one size as an animated PNG that plays for ever.
///
/// # Errors
/// When there is no frame, frames differ in size or the file cannot be written.
pub fn write_animation(path: &Path, frames: &[Image], rate: FrameRate) -> Result<(), ImageError> {
    check_frames(frames)?;
    with_file(path, |file| encode_animation(file, frames, rate))
}

/// Frames of one size as the bytes of an animated PNG that plays for ever.
///
/// # Errors
/// When there is no frame or frames differ in size.
pub fn animation_png(frames: &[Image], rate: FrameRate) -> Result<Vec<u8>, ImageError> {
    check_frames(frames)?;
    let mut bytes = Vec::new();
    encode_animation(&mut bytes, frames, rate)?;
    Ok(bytes)
}

fn check_frames(frames: &[Image]) -> Result<(), ImageError> {
    let first = frames.first().ok_or(ImageError::NoImages)?.size;
    match frames.iter().position(|f| f.size != first) {
        Some(frame) => Err(ImageError::FramesDiffer {
            frame,
            size: frames[frame].size,
            first,
        }),
        None => Ok(()),
    }
}

fn encode_animation(out: impl Write, frames: &[Image], rate: FrameRate) -> Result<(), ImageError> {
    let first = frames.first().ok_or(ImageError::NoImages)?;
    let mut encoder = encoder(out, first.size);
    encoder.set_animated(u32::try_from(frames.len()).unwrap_or(u32::MAX), 0)?;
    let (numerator, denominator) = delay(rate);
    encoder.set_frame_delay(numerator, denominator)?;
    let mut writer = encoder.write_header()?;
    for frame in frames {
        writer.write_image_data(&frame.rgb8)?;
    }
    writer.finish()?;
    Ok(())
}

/// The time between frames as a fraction of 16-bit numbers [s].
fn delay(rate: FrameRate) -> (u16, u16) {
    let hz = rate.hz();
    let scale = if hz.fract() == 0.0 {
        1.0
    } else {
        (f64::from(u16::MAX) / hz).floor().clamp(1.0, 1000.0)
    };
    // The limits of a frame rate keep both within 16 bits.
    (scale as u16, (hz * scale).round() as u16)
}

fn encoder<W: Write>(out: W, size: Size) -> png::Encoder<'static, W> {
    let mut encoder = png::Encoder::new(out, size.width, size.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.set_compression(png::Compression::Fast);
    encoder
}

/// Opens a file for a function that writes to it, and flushes it.
fn with_file(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), ImageError>,
) -> Result<(), ImageError> {
    let failed = |source| ImageError::File {
        path: path.to_owned(),
        source,
    };
    let mut file = BufWriter::new(File::create(path).map_err(failed)?);
    match write(&mut file) {
        Err(ImageError::Encode(png::EncodingError::IoError(source))) => Err(failed(source)),
        other => other,
    }?;
    file.flush().map_err(failed)
}

fn check(size: Size) -> Result<(), ImageError> {
    let sides = 1..=MAX_IMAGE_SIDE;
    let n_pixels = u64::from(size.width) * u64::from(size.height);
    if sides.contains(&size.width) && sides.contains(&size.height) && n_pixels <= MAX_PIXELS {
        Ok(())
    } else {
        Err(ImageError::BadSize { size })
    }
}

/// Bytes of a picture whose size is checked.
fn n_bytes(size: Size) -> usize {
    size.width as usize * size.height as usize * 3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speckled(size: Size, seed: u32) -> Image {
        let mut state = seed;
        let rgb8 = (0..n_bytes(size))
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            })
            .collect();
        Image::new(size, rgb8).unwrap()
    }

    #[test]
    fn a_png_decodes_to_the_same_pixels() {
        for size in [Size::new(1, 1), Size::new(37, 5), Size::new(64, 129)] {
            let image = speckled(size, size.width);
            assert_eq!(Image::from_png(&image.png().unwrap()).unwrap(), image);
        }
    }

    #[test]
    fn a_written_file_holds_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("speckled.png");
        let image = speckled(Size::new(20, 30), 3);
        image.write_png(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), image.png().unwrap());
    }

    #[test]
    fn an_animation_holds_every_frame_and_its_delay() {
        let size = Size::new(16, 9);
        let frames: Vec<Image> = (0..5).map(|i| speckled(size, i)).collect();
        for (hz, step) in [(30.0, 1.0 / 30.0), (23.976, 1.0 / 23.976), (0.1, 10.0)] {
            let rate = FrameRate::new(hz).unwrap();
            let bytes = animation_png(&frames, rate).unwrap();
            let mut reader = png::Decoder::new(Cursor::new(&bytes[..]))
                .read_info()
                .unwrap();
            let control = *reader.info().animation_control().unwrap();
            assert_eq!((control.num_frames, control.num_plays), (5, 0));
            for frame in &frames {
                let mut rgb8 = vec![0; n_bytes(size)];
                reader.next_frame(&mut rgb8).unwrap();
                assert_eq!(rgb8, frame.rgb8);
                let told = reader.info().frame_control().unwrap();
                let delay = f64::from(told.delay_num) / f64::from(told.delay_den);
                assert!((delay / step - 1.0).abs() < 1e-3, "{hz} Hz gives {delay} s");
            }
        }
    }

    #[test]
    fn bad_input_is_named() {
        let size = Size::new(4, 4);
        let short = Image::new(size, vec![0; 47]);
        assert!(matches!(
            short,
            Err(ImageError::WrongLength { n_bytes: 47, .. })
        ));
        for bad in [
            Size::new(0, 4),
            Size::new(4, 0),
            Size::new(u32::MAX, 4),
            Size::new(30_000, 30_000),
        ] {
            let result = Image::filled(bad, Colour::WHITE);
            assert!(matches!(result, Err(ImageError::BadSize { .. })), "{bad:?}");
        }
        let rate = FrameRate::THIRTY;
        assert!(matches!(
            animation_png(&[], rate),
            Err(ImageError::NoImages)
        ));
        let frames = [
            speckled(Size::new(4, 4), 0),
            speckled(Size::new(4, 4), 0),
            speckled(Size::new(5, 4), 0),
        ];
        assert!(matches!(
            animation_png(&frames, rate),
            Err(ImageError::FramesDiffer { frame: 2, .. })
        ));
        assert!(matches!(
            Image::from_png(b"\x89PNG\r\n\x1a\n"),
            Err(ImageError::Decode(_))
        ));
        let nowhere = Path::new("/nonexistent/folder/x.png");
        assert!(matches!(
            speckled(size, 1).write_png(nowhere),
            Err(ImageError::File { .. })
        ));
    }

    #[test]
    fn every_truncation_of_a_png_is_an_error() {
        let bytes = speckled(Size::new(9, 7), 5).png().unwrap();
        // The last 12 bytes only say that the file ends.
        for n in 0..bytes.len() - 12 {
            assert!(
                Image::from_png(&bytes[..n]).is_err(),
                "{n} bytes were taken"
            );
        }
    }

    #[test]
    fn pasting_beyond_the_edge_keeps_what_fits() {
        let mut paper = Image::filled(Size::new(4, 3), Colour::WHITE).unwrap();
        let patch = Image::filled(Size::new(3, 3), Colour::BLACK).unwrap();
        paper.paste(&patch, 3, 2);
        paper.paste(&patch, 9, 9);
        let n_black = paper.rgb8.chunks(3).filter(|p| p == &[0, 0, 0]).count();
        assert_eq!(n_black, 1);
        assert_eq!(paper.pixel(3, 2), Some(Colour::BLACK));
        assert_eq!(paper.pixel(4, 2), None);
    }
}
