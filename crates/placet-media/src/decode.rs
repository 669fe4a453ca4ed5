//! Decoding within limits.

use super::damage::{self, CUT, DecodeStage};
use super::decoded_picture::{DecodedPicture, MOST_BYTES, MOST_SIDE, SMALL_BUFFERS};
use super::{MediaError, PictureFormat, ico, jpeg, metadata, tiff, unsupported};
use ico::IcoPicture;
use image::codecs::gif::GifDecoder;
use image::metadata::Orientation;
use image::{AnimationDecoder, ColorType, DynamicImage, ImageDecoder, ImageReader, Limits};
use std::borrow::Cow;
use std::io::Cursor;

/// How many pixels of all frames of an animation are decoded.
const FRAME_PIXELS: u64 = 200_000_000;

/// Checks by its header whether a picture may be decoded: it must be neither broken nor too large.
pub fn admit(kind: PictureFormat, bytes: &[u8]) -> Result<(), MediaError> {
    let admitted = match inner(kind, bytes)? {
        DecoderInput::Tiff => tiff::admit(bytes),
        DecoderInput::Own(kind, bytes) => admitted(kind, &bytes).map(drop),
    };
    admitted.map_err(|error| error.of(kind))
}

/// The part of a file that is decoded, and how.
enum DecoderInput<'a> {
    Own(PictureFormat, Cow<'a, [u8]>),
    Tiff,
}

fn inner(kind: PictureFormat, bytes: &[u8]) -> Result<DecoderInput<'_>, MediaError> {
    Ok(match kind {
        PictureFormat::Tiff => DecoderInput::Tiff,
        PictureFormat::Ico => match ico::chosen(bytes)? {
            IcoPicture::Png(bytes) => DecoderInput::Own(PictureFormat::Png, bytes.into()),
            IcoPicture::Icon(bytes) => DecoderInput::Own(kind, bytes.into()),
        },
        _ => DecoderInput::Own(kind, bytes.into()),
    })
}

/// Decodes all of `bytes`, which are of `kind`.
pub(super) fn decode(kind: PictureFormat, bytes: &[u8]) -> Result<DecodedPicture, MediaError> {
    let decoded = match inner(kind, bytes)? {
        DecoderInput::Tiff => tiff::decode(bytes),
        DecoderInput::Own(kind, bytes) => decode_own(kind, &bytes),
    };
    // An error of a picture inside an icon names the format of the file that the person knows.
    decoded.map_err(|error| error.of(kind))
}

fn decode_own(kind: PictureFormat, bytes: &[u8]) -> Result<DecodedPicture, MediaError> {
    let (decoder, orientation) = admitted(kind, bytes)?;
    let stored = decoder.dimensions();
    let mut image =
        DynamicImage::from_decoder(decoder).map_err(|e| refused(kind, bytes, DecodeStage::Pixels, e))?;
    if kind == PictureFormat::Gif {
        frames(bytes, usize::MAX).map_err(|e| refused(kind, bytes, DecodeStage::Pixels, e))?;
    }
    image.apply_orientation(orientation);
    Ok(DecodedPicture { image, stored })
}

/// A decoder for an accepted picture, and the orientation of the picture.
fn admitted(kind: PictureFormat, bytes: &[u8]) -> Result<(impl ImageDecoder, Orientation), MediaError> {
    let Some(format) = kind.format() else { return Err(MediaError::Unsupported(kind)) };
    if let Some(form) = unsupported::lacks(kind, bytes) {
        return Err(MediaError::Lacks { kind, form });
    }
    if kind == PictureFormat::Jpeg && !jpeg::is_complete(bytes) {
        return Err(MediaError::Broken { kind, reason: CUT.into() });
    }
    metadata::admit(kind, bytes)?;
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits());
    let mut decoder = reader.into_decoder().map_err(|e| refused(kind, bytes, DecodeStage::Header, e))?;
    let (width, height) = decoder.dimensions();
    if width == 0 || height == 0 {
        return Err(MediaError::Broken { kind, reason: format!("its size is {width}x{height}") });
    }
    if width > MOST_SIDE || height > MOST_SIDE {
        return Err(MediaError::LongSide { width, height, most: MOST_SIDE });
    }
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let copies = decoding(kind, bytes).max(eight_bits(decoder.color_type())).max(turned(orientation));
    // The decoder of JPEG copies the file.
    let copied = if kind == PictureFormat::Jpeg { bytes.len() as u64 } else { 0 };
    let needed = (decoder.total_bytes().saturating_mul(copies) / 2).saturating_add(copied);
    if needed > MOST_BYTES - SMALL_BUFFERS {
        return Err(MediaError::Huge { width, height, most: MOST_BYTES >> 20 });
    }
    Ok((decoder, orientation))
}

fn refused(kind: PictureFormat, bytes: &[u8], stage: DecodeStage, error: image::ImageError) -> MediaError {
    match error {
        image::ImageError::Limits(_) => huge(kind, bytes),
        // Not listed above, but the decoder reports that the file is not at fault.
        image::ImageError::Unsupported(_) => MediaError::Lacks { kind, form: "of this form".into() },
        other => MediaError::Broken { kind, reason: damage::reason(kind, bytes, stage, &other) },
    }
}

/// How often the pixels are in memory at once while a picture is decoded, in halves. The limits of the decoders count
/// little more than their output. `tests/media/hostile_pictures.rs` measures the largest picture of each kind.
fn decoding(kind: PictureFormat, bytes: &[u8]) -> u64 {
    match kind {
        // The coefficients of all blocks, and a copy of them: 2648 MB were measured for 419 MB of pixels.
        PictureFormat::Jpeg if jpeg::is_in_parts(bytes) => 14,
        // The coefficients of all scans, in 16 bits each.
        PictureFormat::Jpeg if jpeg::is_progressive(bytes) => 6,
        // The canvas and one frame, with its palette indices, in addition to the picture itself: 427 MB were measured,
        // and three times the pixels are 403 MB.
        PictureFormat::Gif => 7,
        // The planes or the residuals in addition to the pixels.
        PictureFormat::WebP => 5,
        // Floating point: as read, as a picture, and in eight bits.
        PictureFormat::Exr => 6,
        PictureFormat::Hdr => 4,
        // A bitmap in an icon is copied to correct its mask.
        PictureFormat::Ico => 4,
        // Sixteen bits are converted to eight in a second buffer.
        PictureFormat::Png | PictureFormat::Pnm | PictureFormat::Farbfeld => 3,
        _ => 2,
    }
}

/// The same while the pixels are converted to eight bits a channel: see [`super::tone_map::eight_bit`].
fn eight_bits(colour: ColorType) -> u64 {
    match colour {
        // Two bytes become four in a second buffer.
        ColorType::La8 => 6,
        ColorType::La16 => 4,
        ColorType::L16 | ColorType::Rgb16 | ColorType::Rgba16 => 3,
        // Including the floating-point values: three numbers a pixel, a byte of alpha.
        ColorType::Rgb32F => 3,
        ColorType::Rgba32F => 4,
        _ => 2,
    }
}

/// The same while the picture is rotated: the rotated picture is a second picture in memory.
fn turned(orientation: Orientation) -> u64 {
    match orientation {
        Orientation::NoTransforms
        | Orientation::FlipHorizontal
        | Orientation::FlipVertical
        | Orientation::Rotate180 => 0,
        _ => 4,
    }
}

/// Decodes a picture and drops it; its size as stored.
pub fn check(kind: PictureFormat, bytes: &[u8]) -> Result<(u32, u32), MediaError> {
    decode(kind, bytes).map(|decoded| decoded.stored)
}

/// The size in a header, if it can be read.
pub fn size(kind: PictureFormat, bytes: &[u8]) -> Option<(u32, u32)> {
    let (kind, bytes) = match inner(kind, bytes).ok()? {
        DecoderInput::Tiff => return tiff::size(bytes),
        DecoderInput::Own(kind, bytes) => (kind, bytes),
    };
    let mut reader = ImageReader::with_format(Cursor::new(bytes), kind.format()?);
    reader.no_limits();
    reader.into_dimensions().ok()
}

/// True for a GIF of more than one frame.
pub(super) fn is_animated(bytes: &[u8]) -> bool {
    frames(bytes, 2).is_ok_and(|count| count > 1)
}

/// Decodes up to `most` frames of a GIF and counts them.
fn frames(bytes: &[u8], most: usize) -> Result<usize, image::ImageError> {
    let mut decoder = GifDecoder::new(Cursor::new(bytes))?;
    decoder.set_limits(limits())?;
    let (mut count, mut pixels) = (0, 0);
    for frame in decoder.into_frames().take(most) {
        let frame = frame?;
        count += 1;
        pixels += u64::from(frame.buffer().width()) * u64::from(frame.buffer().height());
        if pixels > FRAME_PIXELS {
            break;
        }
    }
    Ok(count)
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_image_width = Some(MOST_SIDE);
    limits.max_image_height = Some(MOST_SIDE);
    limits.max_alloc = Some(MOST_BYTES);
    limits
}

/// The size that a header claims, for the error.
fn huge(kind: PictureFormat, bytes: &[u8]) -> MediaError {
    let (width, height) = size(kind, bytes).unwrap_or_default();
    if width > MOST_SIDE || height > MOST_SIDE {
        return MediaError::LongSide { width, height, most: MOST_SIDE };
    }
    // Eight bytes a pixel, three times: no decoder needs more for the pixels alone, so something else is large.
    if u64::from(width) * u64::from(height) * 24 < MOST_BYTES {
        let what = if kind == PictureFormat::Gif { "a frame" } else { "text or other data" };
        let form = format!("with {what} that takes more than {} MB", MOST_BYTES >> 20);
        return MediaError::Lacks { kind, form };
    }
    MediaError::Huge { width, height, most: MOST_BYTES >> 20 }
}
