//! A picture decoded and scaled for the screen, or why it cannot be shown.

use placet_media::{MediaError, Thumbnail, sniff, thumb};
use thiserror::Error;

/// Bytes at the beginning that identify the format.
const HEAD: usize = 64;

#[derive(Debug, Error)]
pub enum PictureError {
    #[error("not a picture")]
    UnknownFormat,
    #[error(transparent)]
    Media(#[from] MediaError),
}

/// The picture scaled to at most so many pixels. `name` helps where the bytes do not identify the format.
pub(super) fn thumbnail(
    bytes: &[u8],
    name: &str,
    (width, height): (u32, u32),
) -> Result<Thumbnail, PictureError> {
    let format = sniff(bytes.get(..HEAD).unwrap_or(bytes), name).ok_or(PictureError::UnknownFormat)?;
    Ok(thumb(format, bytes, width, height)?)
}
