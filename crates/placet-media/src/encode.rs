//! Encodes pixels as a file that can be sent, in little more memory than the file takes.
//!
//! Pixels and file must not be in memory together if both are large: rows are compressed one by one, and of a file that
//! is too large to be sent only the size is stored.

use super::MediaError;
use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, RgbImage};
use placet_text::conversation::Image;
use std::io::{self, Write};

const JPEG_QUALITY: u8 = 85;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EncodeTarget {
    Png,
    Jpeg,
}

impl EncodeTarget {
    fn name(self) -> &'static str {
        if self == EncodeTarget::Jpeg { "JPEG" } else { "PNG" }
    }
}

pub(super) struct PictureEncoding {
    target: EncodeTarget,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) bytes: Vec<u8>,
}

impl PictureEncoding {
    pub(super) fn into_image(self, name: &str) -> Image {
        let media_type = if self.target == EncodeTarget::Jpeg { "image/jpeg" } else { "image/png" };
        Image::new(media_type, self.width, self.height, name, self.bytes.into())
    }
}

/// The file, or its size in bytes if it is larger than `most`.
pub(super) fn encode(
    pixels: &DynamicImage,
    target: EncodeTarget,
    most: usize,
) -> Result<Result<PictureEncoding, usize>, MediaError> {
    let mut out = BoundedFile { bytes: Vec::new(), length: 0, most };
    let done = match target {
        EncodeTarget::Png => png_file(pixels, png::Compression::Fast, &mut out),
        EncodeTarget::Jpeg => {
            let encoder = JpegEncoder::new_with_quality(&mut out, JPEG_QUALITY);
            pixels.write_with_encoder(encoder).map_err(io::Error::other)
        }
    };
    done.map_err(|_| MediaError::Encode(target.name(), "its pixels cannot be encoded".into()))?;
    // The fast compression makes noise longer than it is.
    if target == EncodeTarget::Png && out.length > pixels.as_bytes().len() {
        let mut plain = BoundedFile { bytes: Vec::new(), length: 0, most };
        if png_file(pixels, png::Compression::NoCompression, &mut plain).is_ok() && plain.length < out.length
        {
            out = plain;
        }
    }
    let (width, height) = (pixels.width(), pixels.height());
    Ok(match out.length > most {
        true => Err(out.length),
        false => Ok(PictureEncoding { target, width, height, bytes: out.bytes }),
    })
}

/// A file of which at most `most` bytes are stored: a longer file is not used.
struct BoundedFile {
    bytes: Vec<u8>,
    length: usize,
    most: usize,
}

impl Write for BoundedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.length += bytes.len();
        if self.length <= self.most {
            self.bytes.extend_from_slice(bytes);
        } else {
            self.bytes = Vec::new();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Row by row, because the encoder of the crate `image` stores the whole compressed file in memory.
fn png_file(pixels: &DynamicImage, compression: png::Compression, out: &mut BoundedFile) -> io::Result<()> {
    let (colour, channels) = match pixels {
        DynamicImage::ImageLuma8(_) => (png::ColorType::Grayscale, 1),
        DynamicImage::ImageRgb8(_) => (png::ColorType::Rgb, 3),
        DynamicImage::ImageRgba8(_) => (png::ColorType::Rgba, 4),
        _ => return Err(io::ErrorKind::Unsupported.into()),
    };
    let mut encoder = png::Encoder::new(out, pixels.width(), pixels.height());
    encoder.set_color(colour);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(compression);
    encoder.set_filter(png::Filter::Adaptive);
    let mut writer = encoder.write_header().map_err(io::Error::other)?;
    let mut rows = writer.stream_writer().map_err(io::Error::other)?;
    for row in pixels.as_bytes().chunks(pixels.width().max(1) as usize * channels) {
        rows.write_all(row)?;
    }
    rows.finish().map_err(io::Error::other)?;
    writer.finish().map_err(io::Error::other)
}

/// Removes transparency, which JPEG does not have: the background becomes white, as on a page. In place, because a
/// second picture would exceed the memory limit of a picture.
pub(super) fn on_white(pixels: DynamicImage) -> DynamicImage {
    let DynamicImage::ImageRgba8(pixels) = pixels else { return pixels };
    let (width, height) = pixels.dimensions();
    let mut bytes = pixels.into_raw();
    for [colours @ .., alpha] in bytes.as_chunks_mut::<4>().0 {
        let alpha = u16::from(*alpha);
        for colour in colours {
            let mixed = (u16::from(*colour) * alpha + 255 * (255 - alpha) + 127) / 255;
            *colour = u8::try_from(mixed).unwrap_or(u8::MAX);
        }
    }
    super::tone_map::drop_every_fourth(&mut bytes);
    RgbImage::from_raw(width, height, bytes).unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_too_large_is_only_counted() {
        let noise =
            |x: u32, y: u32| (x.wrapping_mul(7919) ^ y.wrapping_mul(104_729)).wrapping_mul(2_654_435_761);
        let pixels: DynamicImage =
            RgbImage::from_fn(60, 40, |x, y| image::Rgb(noise(x, y).to_be_bytes()[..3].try_into().unwrap()))
                .into();
        for target in [EncodeTarget::Png, EncodeTarget::Jpeg] {
            let whole = encode(&pixels, target, usize::MAX).unwrap().ok().unwrap().bytes;
            assert_eq!(encode(&pixels, target, whole.len() - 1).unwrap().err(), Some(whole.len()));
            let read = image::load_from_memory(&whole).unwrap();
            assert_eq!((read.width(), read.height()), (60, 40));
            assert!(target == EncodeTarget::Jpeg || read == pixels);
            assert!(whole.len() < 60 * 40 * 3 + 300, "{}", whole.len());
        }
    }

    #[test]
    fn transparency_becomes_white() {
        let pixel = |pixel: [u8; 4]| {
            let one = image::RgbaImage::from_pixel(1, 1, image::Rgba(pixel));
            on_white(one.into()).into_bytes()
        };
        assert_eq!(pixel([10, 20, 30, 255]), [10, 20, 30]);
        assert_eq!(pixel([10, 20, 30, 0]), [255; 3]);
        assert_eq!(pixel([0, 255, 100, 128]), [127, 255, 177]);
    }
}
