//! Converts samples of a TIFF to eight bits a channel.
//!
//! Numbers are relative to the largest of their depth, as in libtiff and ImageMagick; floating-point numbers are
//! clamped to 0 and 1. Colours that are multiplied with alpha are divided by it, because PNG does not support this
//! form.

use super::header::{TiffAlpha, TiffHeader};

/// How the samples of a row of pixels become colours.
pub(super) struct TiffColours {
    photometric: u64,
    samples: usize,
    colours: usize,
    alpha: TiffAlpha,
    palette: Vec<[f32; 3]>,
    /// Channels of the result: 1, 3 or 4.
    pub(super) channels: usize,
}

impl TiffColours {
    pub(super) fn new(head: &TiffHeader, palette: &[u64]) -> TiffColours {
        let colours = head.colours() as usize;
        let channels = match (head.alpha, head.photometric) {
            (TiffAlpha::None, Some(0 | 1)) => 1,
            (TiffAlpha::None, _) => 3,
            _ => 4,
        };
        let third = palette.len() / 3;
        // Some programs write eight bits although the format has sixteen.
        let most = if palette.iter().any(|value| *value > 255) { 65_535.0 } else { 255.0 };
        let value = |at: usize| palette.get(at).map_or(0.0, |value| *value as f32 / most);
        let palette = (0..third).map(|n| [value(n), value(third + n), value(2 * third + n)]).collect();
        let samples = head.samples as usize;
        let photometric = head.photometric.unwrap_or(1);
        TiffColours { photometric, samples, colours, alpha: head.alpha, palette, channels }
    }

    /// Writes the pixels of `line`, with all samples of each together, into `row`.
    pub(super) fn row(&self, line: &[f32], row: &mut [u8]) {
        let pixels = line.chunks_exact(self.samples).zip(row.chunks_exact_mut(self.channels));
        for (samples, out) in pixels {
            let mut colour = self.colour(samples);
            let alpha = match self.alpha {
                TiffAlpha::None => 1.0,
                _ => unit(samples.get(self.colours).copied().unwrap_or(1.0)),
            };
            if self.alpha == TiffAlpha::Associated && alpha > 0.0 {
                colour = colour.map(|value| value / alpha);
            }
            let [r, g, b] = colour;
            for (to, from) in out.iter_mut().zip([r, g, b, alpha]) {
                *to = (unit(from) * 255.0 + 0.5) as u8;
            }
        }
    }

    fn colour(&self, samples: &[f32]) -> [f32; 3] {
        match (self.photometric, samples) {
            (0, [v, ..]) => [1.0 - v; 3],
            (3, [v, ..]) => self.palette.get(*v as usize).copied().unwrap_or_default(),
            (5, [c, m, y, k, ..]) => [c, m, y].map(|ink| (1.0 - ink) * (1.0 - k)),
            (6, [y, cb, cr, ..]) => {
                let (cb, cr) = (cb - 128.0 / 255.0, cr - 128.0 / 255.0);
                [y + 1.402 * cr, y - 0.344_136 * cb - 0.714_136 * cr, y + 1.772 * cb]
            }
            (2, [r, g, b, ..]) => [*r, *g, *b],
            (_, [v, ..]) => [*v; 3],
            _ => [0.0; 3],
        }
    }
}

fn unit(value: f32) -> f32 {
    // NaN becomes black.
    if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) }
}

/// `count` samples of a row of `bytes` in the byte order of this machine, from 0 to 1; an index into a palette is
/// unchanged.
pub(super) fn numbers(head: &TiffHeader, bytes: &[u8], count: usize, out: &mut Vec<f32>) {
    out.clear();
    let most = match head.photometric {
        Some(3) => 1.0,
        _ => ((1_u64 << head.bits.min(32)) - 1) as f32,
    };
    let float = head.sample_format == 3;
    match head.bits {
        8 => out.extend(bytes.iter().map(|byte| f32::from(*byte) / most)),
        16 if float => out.extend(bytes.as_chunks().0.iter().map(|b| half(u16::from_ne_bytes(*b)))),
        16 => out.extend(bytes.as_chunks().0.iter().map(|b| f32::from(u16::from_ne_bytes(*b)) / most)),
        32 if float => out.extend(bytes.as_chunks().0.iter().map(|b| f32::from_ne_bytes(*b))),
        32 => out.extend(bytes.as_chunks().0.iter().map(|b| u32::from_ne_bytes(*b) as f32 / most)),
        64 => out.extend(bytes.as_chunks().0.iter().map(|b| f64::from_ne_bytes(*b) as f32)),
        bits => {
            let bits = bits as usize;
            out.extend((0..count).map(|n| f32::from(small(bytes, n * bits, bits)) / most));
        }
    }
    out.truncate(count);
}

/// Up to seven bits, most significant first.
fn small(bytes: &[u8], bit: usize, bits: usize) -> u16 {
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    let window = u16::from_be_bytes([byte(bit / 8), byte(bit / 8 + 1)]);
    (window << (bit % 8)) >> (16 - bits)
}

/// A number of 16 bits in floating point (IEEE 754, binary16).
fn half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 0x3FF));
    match exponent {
        0 => sign * fraction * 2.0_f32.powi(-24),
        31 if fraction == 0.0 => sign * f32::INFINITY,
        31 => f32::NAN,
        _ => sign * (1.0 + fraction / 1024.0) * 2.0_f32.powi(exponent - 15),
    }
}
