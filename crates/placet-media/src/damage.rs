//! Explains why a picture cannot be decoded.
//!
//! The decoders' own messages are not shown: many of them contain the names of their types, or numbers that nobody can
//! use. The message depends on where the decoder stopped and, in a PNG, on its chunks.

use super::PictureFormat;
use std::error::Error;
use std::io;

/// How far the decoder came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DecodeStage {
    Header,
    Pixels,
}

pub(super) const CUT: &str = "its data ends before the picture does";

/// The reason, as text after `cannot be decoded: `.
pub(super) fn reason(
    kind: PictureFormat,
    bytes: &[u8],
    stage: DecodeStage,
    error: &(dyn Error + 'static),
) -> String {
    tracing::debug!(%kind, %error, "a picture cannot be decoded");
    let of_png = if kind == PictureFormat::Png { png(bytes) } else { None };
    of_png.unwrap_or_else(|| {
        let reason = match stage {
            _ if is_end(error) => CUT,
            DecodeStage::Header => "its header is invalid",
            DecodeStage::Pixels => "its image data is invalid",
        };
        reason.into()
    })
}

/// True if the decoder reached the end of the file.
fn is_end(error: &(dyn Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        let error_of_io = error.downcast_ref::<io::Error>();
        if error_of_io.is_some_and(|error| error.kind() == io::ErrorKind::UnexpectedEof) {
            return true;
        }
        cause = error.source();
    }
    false
}

const SIGNATURE: usize = 8;

/// Walks the chunks: length, name, data, checksum (PNG specification, section 5.3).
fn png(bytes: &[u8]) -> Option<String> {
    let mut at = SIGNATURE;
    let (mut palette, mut data) = (false, false);
    let mut first = true;
    loop {
        let Some(head) = bytes.get(at..at + 8) else { return Some(CUT.into()) };
        let (length, name) = head.split_at(4);
        let length = u32::from_be_bytes(length.try_into().ok()?) as usize;
        if first && name != b"IHDR" {
            return Some("its first chunk is not IHDR".into());
        }
        if !name.iter().all(u8::is_ascii_alphabetic) {
            return Some(format!("the chunk at byte {at} has an invalid name"));
        }
        let name = String::from_utf8_lossy(name).into_owned();
        let end = at + 8 + length;
        let (Some(body), Some(sum)) = (bytes.get(at + 4..end), bytes.get(end..end + 4)) else {
            return Some(format!("its data ends in the chunk {name}"));
        };
        if checksum(body) != u32::from_be_bytes(sum.try_into().ok()?) {
            return Some(format!("the checksum of its chunk {name} is wrong"));
        }
        if first && let Some(reason) = png_header(body.get(4..)?) {
            return Some(reason);
        }
        palette |= name == "PLTE";
        data |= name == "IDAT";
        if name == "IEND" {
            let indexed = bytes.get(SIGNATURE + 17) == Some(&3);
            return match (data, indexed && !palette) {
                (false, _) => Some("it has no chunk IDAT".into()),
                (true, true) => Some("its palette is missing".into()),
                (true, false) => None,
            };
        }
        (at, first) = (end + 4, false);
    }
}

fn png_header(header: &[u8]) -> Option<String> {
    let [w0, w1, w2, w3, h0, h1, h2, h3, depth, colour, compression, filter, interlace] = *header else {
        return Some("its chunk IHDR has the wrong length".into());
    };
    let (width, height) = (u32::from_be_bytes([w0, w1, w2, w3]), u32::from_be_bytes([h0, h1, h2, h3]));
    let depths: &[u8] = match colour {
        0 => &[1, 2, 4, 8, 16],
        3 => &[1, 2, 4, 8],
        2 | 4 | 6 => &[8, 16],
        _ => return Some(format!("its header has the colour type {colour}, which PNG does not have")),
    };
    if width == 0 || height == 0 {
        return Some(format!("its header has the size {width}x{height}"));
    }
    if !depths.contains(&depth) {
        return Some(format!(
            "its header has {depth} bits per sample, which colour type {colour} does not allow"
        ));
    }
    (compression != 0 || filter != 0 || interlace > 1)
        .then(|| "its header has an unknown compression, filter or interlace method".into())
}

/// The checksum of PNG (section 5.5), bit by bit: it is computed once, for a damaged file.
fn checksum(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { 0xEDB8_8320 ^ (crc >> 1) } else { crc >> 1 };
    let table: Vec<u32> = (0..256_u32).map(|n| (0..8).fold(n, |crc, _| step(crc))).collect();
    let entry = |index: u8| table.get(usize::from(index)).copied().unwrap_or_default();
    !bytes.iter().fold(!0_u32, |crc, byte| entry((crc & 0xFF) as u8 ^ byte) ^ (crc >> 8))
}
