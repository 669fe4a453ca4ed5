//! Forms of the formats that the decoders do not support, by their headers.
//!
//! The decoders would refuse these as well, but most of them with the same error as for damage. TIFF has a module of
//! its own.

use super::{PictureFormat, jpeg};

/// What is not supported for this file: the text after the format's name in a sentence.
pub(super) fn lacks(kind: PictureFormat, bytes: &[u8]) -> Option<String> {
    match kind {
        PictureFormat::Jpeg => jpeg::frame(bytes)?.lacks().map(String::from),
        PictureFormat::Png => {
            bytes.get(12..16).filter(|name| *name == b"CgBI").map(|_| "of Apple's form (CgBI)".into())
        }
        PictureFormat::Bmp => bmp(bytes),
        PictureFormat::Dds => dds(bytes),
        PictureFormat::Exr => exr(bytes),
        PictureFormat::Hdr => hdr(bytes),
        PictureFormat::Tga => tga(bytes),
        PictureFormat::Pnm => pam(bytes),
        _ => None,
    }
}

fn le(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn bmp(bytes: &[u8]) -> Option<String> {
    let header = le(bytes, 14)?;
    let compression = if header >= 40 { le(bytes, 30)? } else { 0 };
    let name = match (compression, header) {
        (3, 64) => "CCITT compression",
        (4, 64) => "RLE24 compression",
        (_, 16 | 64) => "a header of OS/2 2.x",
        (4, _) => "JPEG compression",
        (5, _) => "PNG compression",
        (6, _) => "a mask for alpha (BI_ALPHABITFIELDS)",
        (11..=13, _) => "CMYK colours",
        _ => return None,
    };
    Some(format!("with {name}"))
}

fn dds(bytes: &[u8]) -> Option<String> {
    // Without the flag for a four-letter code, pixels are stored uncompressed.
    if le(bytes, 80)? & 4 == 0 {
        return Some("without block compression".into());
    }
    let name = match bytes.get(84..88)? {
        b"DXT1" | b"DXT3" | b"DXT5" => return None,
        b"DX10" => match le(bytes, 128)? {
            70..=78 => return None,
            79..=81 => "BC4 compression".into(),
            82..=84 => "BC5 compression".into(),
            94..=96 => "BC6H compression".into(),
            97..=99 => "BC7 compression".into(),
            other => format!("pixels of DXGI format {other}"),
        },
        code if code.iter().all(u8::is_ascii_alphanumeric) => {
            format!("{} compression", String::from_utf8_lossy(code))
        }
        _ => "pixels of an older format".into(),
    };
    Some(format!("with {name}"))
}

/// Walks the attributes of the first header: name, type, length, value.
fn exr(bytes: &[u8]) -> Option<String> {
    let flags = le(bytes, 4)?;
    if flags & 0x800 != 0 {
        return Some("with deep data".into());
    }
    let several = flags & 0x1000 != 0;
    let mut rest = bytes.get(8..)?;
    loop {
        let name = until_zero(&mut rest)?;
        if name.is_empty() {
            return None;
        }
        until_zero(&mut rest)?;
        let length = le(rest, 0)? as usize;
        let value = rest.get(4..4_usize.checked_add(length)?)?;
        rest = rest.get(4 + length..)?;
        match (name, value) {
            (b"compression", [10 | 11]) => return Some("with HTJ2K compression".into()),
            (b"compression", [12..=255]) => return Some("with a newer compression".into()),
            (b"channels", list) if !several => {
                if let Some(form) = exr_channels(list) {
                    return Some(form);
                }
            }
            _ => {}
        }
    }
}

fn exr_channels(mut list: &[u8]) -> Option<String> {
    let (mut names, mut whole) = (Vec::new(), true);
    while let Some(name) = until_zero(&mut list).filter(|name| !name.is_empty()) {
        names.push(name);
        whole &= le(list, 8) == Some(1) && le(list, 12) == Some(1);
        list = list.get(16..)?;
    }
    if !whole {
        return Some("with subsampled channels".into());
    }
    let rgb = [&b"R"[..], b"G", b"B"].iter().all(|name| names.contains(name));
    (!rgb).then(|| "without the channels R, G and B".into())
}

fn until_zero<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = memchr::memchr(0, rest)?;
    let name = rest.get(..end)?;
    *rest = rest.get(end + 1..)?;
    Some(name)
}

fn hdr(bytes: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(bytes.get(..bytes.len().min(4096))?).into_owned();
    let format =
        head.lines().take_while(|line| !line.is_empty()).find_map(|line| line.strip_prefix("FORMAT="));
    (format?.trim() == "32-bit_rle_xyze").then(|| "with XYZ colours".into())
}

fn tga(bytes: &[u8]) -> Option<String> {
    let [_, 1, 1 | 9, _, _, _, _, entry, ..] = bytes else { return None };
    let depth = bytes.get(16)?;
    match (depth, entry) {
        (8 | 16, 15 | 16 | 24 | 32) if depth <= entry => None,
        _ => Some(format!("with a palette of {entry} bits for indices of {depth} bits")),
    }
}

fn pam(bytes: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(bytes.get(..bytes.len().min(4096))?).into_owned();
    let mut lines = head.strip_prefix("P7\n")?.lines().take_while(|line| *line != "ENDHDR");
    let kind = lines.find_map(|line| line.strip_prefix("TUPLTYPE "))?.trim();
    let known = ["BLACKANDWHITE", "GRAYSCALE", "RGB", "BLACKANDWHITE_ALPHA", "GRAYSCALE_ALPHA", "RGB_ALPHA"];
    (!known.contains(&kind)).then(|| "with a tuple type of its own (PAM)".into())
}
