//! A picture as pixels, and the limits within which every decoder makes one.

use image::DynamicImage;

/// How much memory one picture may take while it is decoded, and its longest side.
pub(super) const MOST_BYTES: u64 = 400 << 20;
pub(super) const MOST_SIDE: u32 = 65_535;
/// The part of it that is reserved for rows, tables and the compressed result.
pub(super) const SMALL_BUFFERS: u64 = 12 << 20;

/// A picture as pixels, with its orientation applied.
pub(super) struct DecodedPicture {
    pub(super) image: DynamicImage,
    /// Size as stored, before rotation.
    pub(super) stored: (u32, u32),
}
