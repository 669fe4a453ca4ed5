//! Making a picture fit: into a provider's types, bytes and pixels.

use super::decode::{decode, is_animated};
use super::tone_map::eight_bit;
use super::{MediaError, sniff};
use crate::conversation::Image;
use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::{DynamicImage, ImageFormat};
use std::io::Cursor;

const JPEG_QUALITY: u8 = 85;

/// What may be sent.
#[derive(Clone, Copy, Debug)]
pub struct PictureLimits<'a> {
    /// Bytes, before base64.
    pub max_bytes: usize,
    /// Pixels of the longer side.
    pub max_side: u32,
    /// Media types taken as they are.
    pub types: &'a [String],
    pub animated_gif: bool,
}

/// A picture that fits.
#[derive(Clone, Debug)]
pub struct FittedPicture {
    pub image: Image,
    /// What was done to it, from what to what; `None` when it is the one that came in.
    pub note: Option<String>,
}

/// Converts and scales `image` as far as needed, and no further.
pub fn fit(image: &Image, rules: &PictureLimits<'_>) -> Result<FittedPicture, MediaError> {
    let takes = |media_type: &str| rules.types.iter().any(|t| t == media_type);
    let moving = image.media_type == "image/gif" && !rules.animated_gif && is_animated(&image.bytes);
    let small = image.bytes.len() <= rules.max_bytes && image.width.max(image.height) <= rules.max_side;
    if small && takes(&image.media_type) && !moving {
        return Ok(FittedPicture { image: image.clone(), note: None });
    }
    let Some(kind) = sniff(&image.bytes, &image.name) else { return Err(lost(image)) };
    let pixels = eight_bit(decode(kind, &image.bytes)?.image);
    let photo = image.media_type == "image/jpeg" && takes("image/jpeg") || !takes("image/png");
    let encoded = shrink(
        &pixels,
        if photo { EncodeTarget::Jpeg } else { EncodeTarget::Png },
        rules.max_bytes,
        rules.max_side,
    )?;
    let fitted = encoded.into_image(&image.name);
    let mut note = format!(
        "{}x{} {} of {} bytes sent as {}x{} {} of {} bytes",
        image.width,
        image.height,
        image.media_type,
        image.bytes.len(),
        fitted.width,
        fitted.height,
        fitted.media_type,
        fitted.bytes.len(),
    );
    if moving {
        note.push_str(", its first frame only");
    }
    Ok(FittedPicture { image: fitted, note: Some(note) })
}

/// The picture as an 8-bit PNG of the same size.
pub fn to_png(image: &Image) -> Result<Image, MediaError> {
    let Some(kind) = sniff(&image.bytes, &image.name) else { return Err(lost(image)) };
    let pixels = eight_bit(decode(kind, &image.bytes)?.image);
    Ok(encode(&pixels, EncodeTarget::Png)?.into_image(&image.name))
}

fn lost(image: &Image) -> MediaError {
    MediaError::Encode("PNG", format!("its bytes are not a {}", image.media_type))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EncodeTarget {
    Png,
    Jpeg,
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

pub(super) fn encode(pixels: &DynamicImage, target: EncodeTarget) -> Result<PictureEncoding, MediaError> {
    let mut bytes = Vec::new();
    let done = match target {
        EncodeTarget::Png => pixels.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png),
        // JPEG has no transparency: what shines through is white, as on a page.
        EncodeTarget::Jpeg => {
            on_white(pixels).write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY))
        }
    };
    let name = if target == EncodeTarget::Jpeg { "JPEG" } else { "PNG" };
    done.map_err(|e| MediaError::Encode(name, e.to_string()))?;
    Ok(PictureEncoding { target, width: pixels.width(), height: pixels.height(), bytes })
}

fn on_white(pixels: &DynamicImage) -> DynamicImage {
    if !pixels.color().has_alpha() {
        return pixels.clone();
    }
    let mut page = image::RgbaImage::from_pixel(pixels.width(), pixels.height(), image::Rgba([255; 4]));
    image::imageops::overlay(&mut page, &pixels.to_rgba8(), 0, 0);
    DynamicImage::ImageRgb8(DynamicImage::ImageRgba8(page).into_rgb8())
}

/// Scales down until it fits: first to the side, then by what the bytes are too many.
pub(super) fn shrink(
    pixels: &DynamicImage,
    target: EncodeTarget,
    max_bytes: usize,
    max_side: u32,
) -> Result<PictureEncoding, MediaError> {
    let longest = pixels.width().max(pixels.height()).max(1);
    let mut side = longest.min(max_side);
    loop {
        let encoded = match side < longest {
            true => encode(&resized(pixels, side), target)?,
            false => encode(pixels, target)?,
        };
        if encoded.bytes.len() <= max_bytes {
            return Ok(encoded);
        }
        if side <= 16 {
            return Err(MediaError::Oversize { bytes: encoded.bytes.len(), most: max_bytes });
        }
        // Bytes go with the area; a little less, so that few rounds are needed.
        let ratio = (max_bytes as f64 / encoded.bytes.len() as f64).sqrt() * 0.97;
        side = ((f64::from(side) * ratio.clamp(0.1, 0.9)) as u32).max(16);
    }
}

/// The picture with its longer side `side`; the shorter one never vanishes.
fn resized(pixels: &DynamicImage, side: u32) -> DynamicImage {
    let longest = f64::from(pixels.width().max(pixels.height()));
    let scaled = |length: u32| ((f64::from(length) * f64::from(side) / longest).round() as u32).max(1);
    pixels.resize_exact(scaled(pixels.width()), scaled(pixels.height()), FilterType::Triangle)
}
