//! Checks whether a JPEG is complete. The decoder fills missing parts with grey and reports nothing.

/// True if the picture's data reaches its end marker. Walks the segments (ITU T.81, B.1.1), so that a thumbnail's end
/// inside a segment does not count.
pub(super) fn is_complete(bytes: &[u8]) -> bool {
    let mut at = 2;
    while let Some(marker) = next_marker(bytes, &mut at) {
        match marker {
            0xD9 => return true,
            // Markers without a length.
            0x01 | 0xD0..=0xD8 => {}
            _ => {
                let Some([high, low]) = bytes.get(at..at + 2) else { return false };
                at += usize::from(u16::from_be_bytes([*high, *low]));
                // After a start of scan the data itself: it has no marker except restarts.
            }
        }
    }
    false
}

/// True for a picture in several scans, all of which are in memory until the last.
pub(super) fn is_progressive(bytes: &[u8]) -> bool {
    let mut at = 2;
    while let Some(marker) = next_marker(bytes, &mut at) {
        match marker {
            0xC2 | 0xC6 | 0xCA | 0xCE => return true,
            // Any other frame, and the first scan.
            0xC0 | 0xC1 | 0xC3 | 0xC5 | 0xC7 | 0xC9 | 0xCB | 0xCD | 0xCF | 0xDA => return false,
            0x01 | 0xD0..=0xD9 => {}
            _ => {
                let Some([high, low]) = bytes.get(at..at + 2) else { return false };
                at += usize::from(u16::from_be_bytes([*high, *low]));
            }
        }
    }
    false
}

/// True for a picture whose first scan does not contain all of its components: the decoder stores every block until the
/// last scan.
pub(super) fn is_in_parts(bytes: &[u8]) -> bool {
    let (mut at, mut components) = (2, 0);
    while let Some(marker) = next_marker(bytes, &mut at) {
        match marker {
            0xDA => return bytes.get(at + 2).is_none_or(|in_scan| *in_scan < components),
            0x01 | 0xD0..=0xD9 => continue,
            0xC0..=0xCF if !matches!(marker, 0xC4 | 0xC8 | 0xCC) => {
                components = bytes.get(at + 7).copied().unwrap_or(u8::MAX);
            }
            _ => {}
        }
        let Some([high, low]) = bytes.get(at..at + 2) else { return false };
        at += usize::from(u16::from_be_bytes([*high, *low]));
    }
    false
}

/// Moves to the next marker, past data and stuffed bytes.
fn next_marker(bytes: &[u8], at: &mut usize) -> Option<u8> {
    loop {
        let found = memchr::memchr(0xFF, bytes.get(*at..)?)?;
        *at += found + 1;
        while bytes.get(*at) == Some(&0xFF) {
            *at += 1;
        }
        let marker = *bytes.get(*at)?;
        *at += 1;
        if marker != 0 {
            return Some(marker);
        }
    }
}

/// The content of the frame header.
pub(super) struct JpegFrame {
    marker: u8,
    precision: u8,
    pub(super) width: u16,
    pub(super) height: u16,
    pub(super) components: u8,
}

impl JpegFrame {
    /// What the decoder does not support, as text after "JPEG" in a sentence.
    pub(super) fn lacks(&self) -> Option<&'static str> {
        match (self.marker, self.precision) {
            (0xC3 | 0xC7 | 0xCB | 0xCF, _) => Some("without loss (lossless process)"),
            (0xC9 | 0xCA | 0xCD | 0xCE, _) => Some("with arithmetic coding"),
            (0xC5 | 0xC6, _) => Some("in several resolutions (hierarchical process)"),
            (0xF7, _) => Some("without loss (JPEG-LS)"),
            (_, 12) => Some("with 12 bits per sample"),
            _ => None,
        }
    }
}

/// The first frame header.
pub(super) fn frame(bytes: &[u8]) -> Option<JpegFrame> {
    let mut at = 2;
    while let Some(marker) = next_marker(bytes, &mut at) {
        match marker {
            0x01 | 0xD0..=0xD8 => continue,
            0xC0..=0xCF | 0xF7 if !matches!(marker, 0xC4 | 0xC8 | 0xCC) => {
                let [_, _, precision, h0, h1, w0, w1, components, ..] = *bytes.get(at..)? else {
                    return None;
                };
                let (height, width) = (u16::from_be_bytes([h0, h1]), u16::from_be_bytes([w0, w1]));
                return Some(JpegFrame { marker, precision, width, height, components });
            }
            0xD9 | 0xDA => return None,
            _ => {}
        }
        let [high, low] = *bytes.get(at..at + 2)? else { return None };
        at += usize::from(u16::from_be_bytes([high, low]));
    }
    None
}
