//! ICO: selects the largest of its pictures, and among equals the picture with the most colours.
//!
//! The decoder relies on the depth in the directory and accepts a PNG only with alpha. Here the headers of the pictures
//! themselves decide, and any PNG is accepted.

use super::{MediaError, PictureFormat};

const DIRECTORY: usize = 6;
const ENTRY: usize = 16;
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The picture to decode.
pub(super) enum IcoPicture<'a> {
    Png(&'a [u8]),
    /// A file with only this picture.
    Icon(Vec<u8>),
}

struct IcoEntry<'a> {
    /// From the first byte of the picture to the end of the file.
    data: &'a [u8],
    length: usize,
    width: u32,
    height: u32,
    bits: u32,
}

/// How many pictures the file has.
pub(super) fn count(bytes: &[u8]) -> usize {
    number(bytes, 4, 2).unwrap_or(0) as usize
}

pub(super) fn chosen(bytes: &[u8]) -> Result<IcoPicture<'_>, MediaError> {
    let broken = |reason: &str| MediaError::Broken { kind: PictureFormat::Ico, reason: reason.into() };
    let all = (0..count(bytes)).map(|n| entry(bytes, DIRECTORY + n * ENTRY));
    let all: Vec<IcoEntry<'_>> =
        all.collect::<Option<_>>().ok_or_else(|| broken("a picture in it is cut off"))?;
    // Of equal pictures the first, as Windows does.
    let best = all.into_iter().rev().max_by_key(|e| (u64::from(e.width) * u64::from(e.height), e.bits));
    let best = best.ok_or_else(|| broken("it has no picture"))?;
    if best.data.starts_with(PNG) {
        return Ok(IcoPicture::Png(best.data.get(..best.length).unwrap_or(best.data)));
    }
    Ok(IcoPicture::Icon(alone(&best)))
}

fn entry(bytes: &[u8], at: usize) -> Option<IcoEntry<'_>> {
    let length = number(bytes, at + 8, 4)? as usize;
    let data = bytes.get(number(bytes, at + 12, 4)? as usize..)?;
    if data.starts_with(PNG) {
        let big = |at: usize| Some(u32::from_be_bytes(data.get(at..at + 4)?.try_into().ok()?));
        let channels = match data.get(25)? {
            2 => 3,
            4 => 2,
            6 => 4,
            _ => 1,
        };
        let bits = u32::from(*data.get(24)?) * channels;
        return Some(IcoEntry { data, length, width: big(16)?, height: big(20)?, bits });
    }
    // The height counts the mask below the picture as well.
    let (width, height) = (number(data, 4, 4)?, number(data, 8, 4)? / 2);
    Some(IcoEntry { data, length, width, height, bits: number(data, 14, 2)? })
}

/// An icon with one picture, whose entry repeats the picture's own header.
fn alone(entry: &IcoEntry<'_>) -> Vec<u8> {
    let side = |side: u32| u8::try_from(side).unwrap_or(0);
    let data = bitmap(entry);
    let mut out = vec![0, 0, 1, 0, 1, 0, side(entry.width), side(entry.height), 0, 0, 1, 0];
    out.extend(u16::try_from(entry.bits).unwrap_or(32).to_le_bytes());
    out.extend(u32::try_from(data.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend(22_u32.to_le_bytes());
    out.extend(data);
    out
}

/// The bitmap as the decoder expects it: with its mask, if the mask has a meaning.
fn bitmap(entry: &IcoEntry<'_>) -> Vec<u8> {
    let (bits, header) = (u64::from(entry.bits), u64::from(number(entry.data, 0, 4).unwrap_or(40)));
    let listed = u64::from(number(entry.data, 32, 4).unwrap_or(0));
    let palette = if bits > 8 || listed > 0 { listed } else { 1 << bits };
    let row = (u64::from(entry.width) * bits).div_ceil(32) * 4;
    // Sizes come from the file, and may have any value.
    let pixels = row.saturating_mul(u64::from(entry.height));
    let usual = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let (start, end) = (usual(header + palette * 4), usual((header + palette * 4).saturating_add(pixels)));
    let is_plain = number(entry.data, 16, 4) == Some(0);
    let alphas = entry.data.get(start..end).filter(|_| bits == 32 && is_plain);
    let Some(alphas) = alphas else {
        // The stated length is often wrong, but without a mask it has to be right.
        let length = if entry.length == end { end } else { entry.data.len() };
        return entry.data.get(..length).unwrap_or(entry.data).to_vec();
    };
    if alphas.as_chunks::<4>().0.iter().any(|[.., alpha]| *alpha != 0) {
        // Windows and ImageMagick ignore the mask if there is alpha.
        return entry.data.get(..end).unwrap_or(entry.data).to_vec();
    }
    // An alpha channel of only zeros does not count: the mask alone decides what is transparent.
    let mut data = entry.data.to_vec();
    for [.., alpha] in data.get_mut(start..end).unwrap_or_default().as_chunks_mut::<4>().0 {
        *alpha = 255;
    }
    data
}

fn number(bytes: &[u8], at: usize, width: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(width)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}
