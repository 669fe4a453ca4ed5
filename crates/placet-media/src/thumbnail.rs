//! A small picture as pixels, for a screen that has cells instead of pixels.

use super::decode::decode;
use super::tone_map::eight_bit;
use super::{MediaError, PictureFormat};
use image::{ImageFormat, Rgba, RgbaImage};
use std::io::Cursor;

/// A small picture on a known background.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thumbnail {
    pub width: u32,
    pub height: u32,
    /// Red, green and blue of each pixel, row by row; transparent parts show a checkerboard.
    pub pixels: Vec<[u8; 3]>,
    /// The size of the whole picture in pixels.
    pub stored: (u32, u32),
}

impl Thumbnail {
    pub fn pixel(&self, x: u32, y: u32) -> Option<[u8; 3]> {
        (x < self.width).then(|| self.pixels.get((y * self.width + x) as usize).copied()).flatten()
    }

    /// A piece of it as PNG: `size` pixels from the row `above` on. The part outside of the picture is transparent.
    pub fn png(&self, above: u32, (width, height): (u32, u32)) -> Vec<u8> {
        let pixel = |x: u32, y: u32| match self.pixel(x, above + y) {
            Some([r, g, b]) => Rgba([r, g, b, 255]),
            None => Rgba([0; 4]),
        };
        let mut out = Cursor::new(Vec::new());
        // A write into memory does not fail; empty bytes would show nothing.
        drop(RgbaImage::from_fn(width, height, pixel).write_to(&mut out, ImageFormat::Png));
        out.into_inner()
    }
}

/// Decodes within the usual limits and scales to fit, with the same proportions. A smaller picture is not scaled.
pub fn thumb(
    kind: PictureFormat,
    bytes: &[u8],
    max_width: u32,
    max_height: u32,
) -> Result<Thumbnail, MediaError> {
    let decoded = decode(kind, bytes)?;
    let stored = decoded.stored;
    let whole = eight_bit(decoded.image);
    let (max_width, max_height) = (max_width.max(1), max_height.max(1));
    let small = match whole.width() > max_width || whole.height() > max_height {
        true => whole.thumbnail(max_width, max_height),
        false => whole,
    };
    let rgba = small.to_rgba8();
    let checked = |x: u32, y: u32| if (x / 4 + y / 4).is_multiple_of(2) { 110u16 } else { 150 };
    let over = |top: u8, under: u16, alpha: u8| {
        let alpha = u16::from(alpha);
        u8::try_from((u16::from(top) * alpha + under * (255 - alpha)) / 255).unwrap_or(u8::MAX)
    };
    let pixels = rgba.enumerate_pixels().map(|(x, y, p)| {
        let [r, g, b, a] = p.0;
        let under = checked(x, y);
        [over(r, under, a), over(g, under, a), over(b, under, a)]
    });
    Ok(Thumbnail { width: rgba.width(), height: rgba.height(), pixels: pixels.collect(), stored })
}
