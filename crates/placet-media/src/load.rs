//! From a file's bytes to a picture that can be sent.

use super::decode::decode;
use super::encode::{EncodeTarget, encode};
use super::scale::shrink;
use super::tone_map::eight_bit;
use super::{MediaError, PictureFormat, ico, tiff};
use placet_text::conversation::Image;
use std::sync::Arc;

/// The policy for a picture of too many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OversizePolicy {
    ScaleDown,
    Refuse,
}

#[derive(Clone, Debug)]
pub struct LoadedPicture {
    pub image: Image,
    /// The changes that were made: the conversion and the scaling, each with its source and result.
    pub notes: Vec<String>,
}

/// Decodes a picture of `kind` and returns it in a form that can be sent: png, jpeg, gif, webp and bmp with their own
/// bytes, anything else as PNG, at most `max_bytes`.
pub fn load(
    kind: PictureFormat,
    name: &str,
    bytes: Vec<u8>,
    max_bytes: usize,
    oversize: OversizePolicy,
) -> Result<LoadedPicture, MediaError> {
    let decoded = decode(kind, &bytes)?;
    let several = several(kind, &bytes);
    let (width, height) = decoded.stored;
    if let Some(media_type) = kind.media_type()
        && bytes.len() <= max_bytes
    {
        let image = Image::new(media_type, width, height, name, Arc::from(bytes));
        return Ok(LoadedPicture { image, notes: Vec::new() });
    }
    let before = bytes.len();
    if kind.media_type().is_some() && oversize == OversizePolicy::Refuse {
        return Err(MediaError::Oversize { bytes: before, most: max_bytes });
    }
    let pixels = eight_bit(decoded.image);
    // Upright, like the result, not as it is stored.
    let (width, height) = (pixels.width(), pixels.height());
    let target = if kind == PictureFormat::Jpeg { EncodeTarget::Jpeg } else { EncodeTarget::Png };
    let encoded = match oversize {
        OversizePolicy::ScaleDown => shrink(pixels, target, max_bytes, u32::MAX)?,
        OversizePolicy::Refuse => encode(&pixels, target, max_bytes)?
            .map_err(|bytes| MediaError::Oversize { bytes, most: max_bytes })?,
    };
    let mut image = encoded.into_image(name);
    let (w, h, after) = (image.width, image.height, image.bytes.len());
    let mut notes = Vec::new();
    let converted = kind.media_type().is_none();
    if converted {
        notes.push(format!("converted from {kind} to PNG"));
        notes.extend(several);
    }
    if (w, h) != (width, height) {
        notes.push(format!("scaled down from {width}x{height} ({before} bytes) to {w}x{h} ({after} bytes)"));
    } else if !converted {
        // Other programs compress the same pixels less well.
        notes.push(format!("encoded again from {before} bytes to {after} bytes"));
    }
    if kind == PictureFormat::Gif {
        notes.push("the first frame only".into());
    }
    image.notes.clone_from(&notes);
    Ok(LoadedPicture { image, notes })
}

/// A note about which of several pictures in a file it is.
fn several(kind: PictureFormat, bytes: &[u8]) -> Option<String> {
    match kind {
        PictureFormat::Tiff => {
            Some(tiff::pages(bytes)).filter(|count| *count > 1).map(|n| format!("page 1 of {n}"))
        }
        PictureFormat::Ico => {
            Some(ico::count(bytes)).filter(|n| *n > 1).map(|n| format!("the largest of {n} pictures"))
        }
        _ => None,
    }
}
