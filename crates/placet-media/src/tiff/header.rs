//! The first picture's fields in the directory of a TIFF, and how much memory its decoding takes.

use super::directory::TiffDirectory;
use crate::jpeg;
use image::metadata::Orientation;

/// The fields of the directory, with the format's defaults for missing fields.
pub(super) struct TiffHeader {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) bits: u64,
    pub(super) sample_format: u64,
    pub(super) samples: u64,
    pub(super) photometric: Option<u64>,
    pub(super) compression: u64,
    pub(super) predictor: u64,
    pub(super) planar: bool,
    pub(super) tiled: bool,
    pub(super) chunk_width: u64,
    pub(super) chunk_height: u64,
    /// The position and the length of each strip or tile.
    pub(super) chunks: Vec<(u64, u64)>,
    pub(super) alpha: TiffAlpha,
    pub(super) orientation: Orientation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TiffAlpha {
    None,
    /// The colours are not multiplied with alpha.
    Straight,
    /// The colours are multiplied with alpha.
    Associated,
}

impl TiffHeader {
    pub(super) fn of(directory: &TiffDirectory<'_>) -> Option<TiffHeader> {
        let side = |tag: u16| u32::try_from(directory.number(tag)?).ok().filter(|side| *side > 0);
        let (width, height) = (side(256)?, side(257)?);
        let or = |tag: u16, usual: u64| directory.number(tag).unwrap_or(usual);
        let tiled = directory.field(322).is_some();
        let (chunk_width, chunk_height) = match tiled {
            true => (side(322)?.into(), side(323)?.into()),
            false => (width.into(), or(278, height.into()).clamp(1, height.into())),
        };
        let tags = if directory.field(324).is_some() { (324, 325) } else { (273, 279) };
        let offsets = directory.numbers(tags.0)?;
        let lengths = directory.numbers(tags.1).unwrap_or_default();
        let chunks = offsets.into_iter().zip(lengths).collect();
        let orientation = u8::try_from(or(274, 1)).ok().and_then(Orientation::from_exif);
        let mut head = TiffHeader {
            width,
            height,
            bits: or(258, 1),
            sample_format: or(339, 1),
            samples: or(277, 1),
            photometric: directory.number(262),
            compression: or(259, 1),
            predictor: or(317, 1),
            planar: or(284, 1) == 2,
            tiled,
            chunk_width,
            chunk_height,
            chunks,
            alpha: TiffAlpha::None,
            orientation: orientation.unwrap_or(Orientation::NoTransforms),
        };
        if head.samples > head.colours() {
            head.alpha = match directory.number(338) {
                Some(1) => TiffAlpha::Associated,
                Some(2) => TiffAlpha::Straight,
                // libtiff and ImageMagick treat a fourth sample as alpha even if the file does not declare it.
                _ if head.photometric == Some(2) => TiffAlpha::Straight,
                _ => TiffAlpha::None,
            };
        }
        // libtiff reverses the predictor only for these; for the others the field has no meaning.
        if !matches!(head.compression, 5 | 8 | 32_946 | 34_925 | 50_000) {
            head.predictor = 1;
        }
        Some(head)
    }

    /// How many samples of a pixel are colours.
    pub(super) fn colours(&self) -> u64 {
        match self.photometric {
            Some(2 | 6) => 3,
            Some(5) => 4,
            _ => 1,
        }
    }

    /// How many samples of a pixel are used.
    pub(super) fn used(&self) -> u64 {
        match self.planar {
            true => self.colours() + u64::from(self.alpha != TiffAlpha::None),
            false => self.samples,
        }
    }

    /// How many samples of a pixel are in one strip or tile.
    pub(super) fn together(&self) -> u64 {
        if self.planar { 1 } else { self.samples }
    }

    pub(super) fn row_bytes(&self, width: u64) -> u64 {
        width.saturating_mul(self.bits).saturating_mul(self.together()).div_ceil(8)
    }

    /// Width and height of the part of the picture in a strip or tile.
    pub(super) fn chunk_size(&self, x: u64, y: u64) -> (u64, u64) {
        let across = self.chunk_width.min(u64::from(self.width).saturating_sub(x));
        (across, self.chunk_height.min(u64::from(self.height).saturating_sub(y)))
    }

    /// How many bytes are in memory at once while the picture is decoded.
    pub(super) fn memory(&self, channels: usize, bytes: &[u8]) -> u64 {
        let (width, height) = self.chunk_size(0, 0);
        let height = if self.planar { self.chunk_height } else { height };
        let planes = if self.planar { self.used() } else { 1 };
        let raw = self.row_bytes(width).saturating_mul(height).saturating_mul(planes);
        let line = width.saturating_mul(self.used()).saturating_mul(4);
        let pixels = u64::from(self.width) * u64::from(self.height) * channels as u64;
        let turned = match self.orientation {
            Orientation::NoTransforms
            | Orientation::FlipHorizontal
            | Orientation::FlipVertical
            | Orientation::Rotate180 => 1,
            _ => 2,
        };
        let unpacked = raw.saturating_add(line).saturating_add(self.jpeg_memory(bytes));
        pixels.saturating_add(unpacked).max(pixels.saturating_mul(turned))
    }

    /// The same inside the decoder of JPEG, for the largest strip or tile. See `decoding` in `media::decode`.
    fn jpeg_memory(&self, bytes: &[u8]) -> u64 {
        if self.compression != 7 {
            return 0;
        }
        let pixels = self
            .chunk_width
            .saturating_mul(self.chunk_height.saturating_add(16))
            .saturating_mul(self.together());
        let of = |(at, length): &(u64, u64)| {
            let data = part(bytes, *at, *length).unwrap_or_default();
            let halves = if jpeg::is_in_parts(data) {
                14
            } else if jpeg::is_progressive(data) {
                6
            } else {
                2
            };
            (pixels.saturating_mul(halves) / 2).saturating_add(*length)
        };
        self.chunks.iter().map(of).max().unwrap_or(0)
    }
}

pub(super) fn part(bytes: &[u8], at: u64, length: u64) -> Option<&[u8]> {
    let at = usize::try_from(at).ok()?;
    bytes.get(at..at.checked_add(usize::try_from(length).ok()?)?)
}
