//! Makes a picture fit a provider's types, bytes and pixels.

use super::decode::{decode, is_animated};
use super::encode::{EncodeTarget, PictureEncoding, encode, on_white};
use super::resize::resized;
use super::tone_map::eight_bit;
use super::{MediaError, sniff};
use image::DynamicImage;
use placet_text::conversation::Image;

/// The limits of a picture that is sent.
#[derive(Clone, Copy, Debug)]
pub struct PictureLimits<'a> {
    /// Bytes, before base64.
    pub max_bytes: usize,
    /// Pixels of the longer side.
    pub max_side: u32,
    /// Media types that are accepted unchanged.
    pub types: &'a [String],
    pub animated_gif: bool,
}

/// A picture that fits.
#[derive(Clone, Debug)]
pub struct FittedPicture {
    pub image: Image,
    /// The changes that were made, with source and result; `None` if the picture is unchanged.
    pub note: Option<String>,
}

/// Converts and scales `image` as far as necessary, and no further.
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
        pixels,
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
    Ok(shrink(pixels, EncodeTarget::Png, usize::MAX, u32::MAX)?.into_image(&image.name))
}

fn lost(image: &Image) -> MediaError {
    MediaError::Encode("PNG", format!("its bytes are not a {}", image.media_type))
}

/// Scales down until the picture fits: first to the longest side, then by the ratio of the excess bytes.
pub(super) fn shrink(
    pixels: DynamicImage,
    target: EncodeTarget,
    max_bytes: usize,
    max_side: u32,
) -> Result<PictureEncoding, MediaError> {
    let pixels = if target == EncodeTarget::Jpeg { on_white(pixels) } else { pixels };
    let longest = pixels.width().max(pixels.height()).max(1);
    let mut side = longest.min(max_side);
    loop {
        let encoded = match side < longest {
            true => encode(&resized(&pixels, side), target, max_bytes)?,
            false => encode(&pixels, target, max_bytes)?,
        };
        let bytes = match encoded {
            Ok(file) => return Ok(file),
            Err(bytes) => bytes,
        };
        if side <= 16 {
            return Err(MediaError::Oversize { bytes, most: max_bytes });
        }
        // The size in bytes is proportional to the area; a little less, so that few rounds are needed.
        let ratio = (max_bytes as f64 / bytes as f64).sqrt() * 0.97;
        side = ((f64::from(side) * ratio.clamp(0.1, 0.9)) as u32).max(16);
    }
}
