//! Formats of pictures, by their first bytes.

use image::ImageFormat;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    Png,
    Jpeg,
    Gif,
    WebP,
    Bmp,
    Tiff,
    Ico,
    Hdr,
    Exr,
    Tga,
    Pnm,
    Qoi,
    Dds,
    Farbfeld,
    Jxl,
    Heic,
    Avif,
    Jpeg2000,
    Icns,
    Pcx,
    Sgi,
    Pfm,
    Photoshop,
    Gimp,
}

impl PictureFormat {
    /// The media type under which the bytes are sent unchanged; `None` for formats that are converted first.
    pub fn media_type(self) -> Option<&'static str> {
        match self {
            PictureFormat::Png => Some("image/png"),
            PictureFormat::Jpeg => Some("image/jpeg"),
            PictureFormat::Gif => Some("image/gif"),
            PictureFormat::WebP => Some("image/webp"),
            PictureFormat::Bmp => Some("image/bmp"),
            _ => None,
        }
    }

    pub(super) fn format(self) -> Option<ImageFormat> {
        Some(match self {
            PictureFormat::Png => ImageFormat::Png,
            PictureFormat::Jpeg => ImageFormat::Jpeg,
            PictureFormat::Gif => ImageFormat::Gif,
            PictureFormat::WebP => ImageFormat::WebP,
            PictureFormat::Bmp => ImageFormat::Bmp,
            PictureFormat::Tiff => ImageFormat::Tiff,
            PictureFormat::Ico => ImageFormat::Ico,
            PictureFormat::Hdr => ImageFormat::Hdr,
            PictureFormat::Exr => ImageFormat::OpenExr,
            PictureFormat::Tga => ImageFormat::Tga,
            PictureFormat::Pnm => ImageFormat::Pnm,
            PictureFormat::Qoi => ImageFormat::Qoi,
            PictureFormat::Dds => ImageFormat::Dds,
            PictureFormat::Farbfeld => ImageFormat::Farbfeld,
            PictureFormat::Jxl
            | PictureFormat::Heic
            | PictureFormat::Avif
            | PictureFormat::Jpeg2000
            | PictureFormat::Icns
            | PictureFormat::Pcx
            | PictureFormat::Sgi
            | PictureFormat::Pfm
            | PictureFormat::Photoshop
            | PictureFormat::Gimp => return None,
        })
    }
}

impl fmt::Display for PictureFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PictureFormat::Png => "PNG",
            PictureFormat::Jpeg => "JPEG",
            PictureFormat::Gif => "GIF",
            PictureFormat::WebP => "WebP",
            PictureFormat::Bmp => "BMP",
            PictureFormat::Tiff => "TIFF",
            PictureFormat::Ico => "ICO",
            PictureFormat::Hdr => "Radiance HDR",
            PictureFormat::Exr => "OpenEXR",
            PictureFormat::Tga => "TGA",
            PictureFormat::Pnm => "PNM",
            PictureFormat::Qoi => "QOI",
            PictureFormat::Dds => "DDS",
            PictureFormat::Farbfeld => "farbfeld",
            PictureFormat::Jxl => "JPEG XL",
            PictureFormat::Heic => "HEIC",
            PictureFormat::Avif => "AVIF",
            PictureFormat::Jpeg2000 => "JPEG 2000",
            PictureFormat::Icns => "ICNS",
            PictureFormat::Pcx => "PCX",
            PictureFormat::Sgi => "SGI",
            PictureFormat::Pfm => "PFM",
            PictureFormat::Photoshop => "Photoshop",
            PictureFormat::Gimp => "GIMP",
        })
    }
}

/// The format of a picture that begins with `head` (64 bytes are enough). A short magic number that is also a word must
/// be followed by a plausible header. `name` matters for TGA alone.
pub fn sniff(head: &[u8], name: &str) -> Option<PictureFormat> {
    let at = |from: usize, len: usize| head.get(from..from + len).unwrap_or_default();
    let u32_at = |from: usize| at(from, 4).try_into().map_or(0, u32::from_le_bytes);
    let kind = match head {
        [0x89, b'P', b'N', b'G', 0x0D, 0x0A, 0x1A, 0x0A, ..] => PictureFormat::Png,
        [0xFF, 0xD8, 0xFF, ..] => PictureFormat::Jpeg,
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', rest @ ..] if !is_text(rest) => PictureFormat::Gif,
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => PictureFormat::WebP,
        [b'B', b'M', ..] if matches!(u32_at(14), 12 | 16 | 40 | 52 | 56 | 64 | 108 | 124) => {
            PictureFormat::Bmp
        }
        [b'M', b'M', 0, b'*', ..] | [b'I', b'I', b'*', 0, ..] => PictureFormat::Tiff,
        // BigTIFF, with offsets of eight bytes.
        [b'M', b'M', 0, b'+', 0, 8, 0, 0, ..] | [b'I', b'I', b'+', 0, 8, 0, 0, 0, ..] => PictureFormat::Tiff,
        [0, 0, 1, 0, 1..=255, 0, ..] => PictureFormat::Ico,
        _ if head.starts_with(b"#?RADIANCE\n") || head.starts_with(b"#?RGBE\n") => PictureFormat::Hdr,
        [0x76, 0x2F, 0x31, 0x01, ..] => PictureFormat::Exr,
        [b'P', b'1'..=b'6', b' ' | b'\n' | b'\r' | b'\t', b'0'..=b'9' | b'#', ..] if pnm_header(head) => {
            PictureFormat::Pnm
        }
        _ if head.starts_with(b"P7\nWIDTH ") || head.starts_with(b"P7\n#") => PictureFormat::Pnm,
        [b'q', b'o', b'i', b'f', _, _, _, _, _, _, _, _, 3 | 4, 0 | 1, ..] => PictureFormat::Qoi,
        [b'D', b'D', b'S', b' ', 124, 0, 0, 0, ..] => PictureFormat::Dds,
        _ if head.starts_with(b"farbfeld") => PictureFormat::Farbfeld,
        [0xFF, 0x0A, ..] | [0, 0, 0, 0x0C, b'J', b'X', b'L', b' ', ..] => PictureFormat::Jxl,
        // In a container, or only the code stream.
        [0, 0, 0, 0x0C, b'j', b'P', b' ', b' ', ..] | [0xFF, 0x4F, 0xFF, 0x51, ..] => PictureFormat::Jpeg2000,
        [b'i', b'c', b'n', b's', 0, ..] => PictureFormat::Icns,
        [0x0A, 0 | 2..=5, 1, 1 | 2 | 4 | 8, ..] => PictureFormat::Pcx,
        [0x01, 0xDA, 0 | 1, 1 | 2, 0, 1..=3, ..] => PictureFormat::Sgi,
        [b'P', b'F' | b'f', b'\n', b'0'..=b'9', ..] if pnm_header(head) => PictureFormat::Pfm,
        [b'8', b'B', b'P', b'S', 0, 1 | 2, ..] => PictureFormat::Photoshop,
        _ if head.starts_with(b"gimp xcf ") => PictureFormat::Gimp,
        _ if at(4, 4) == b"ftyp" => match at(8, 4) {
            b"avif" | b"avis" => PictureFormat::Avif,
            b"heic" | b"heix" | b"hevc" | b"heim" | b"heis" | b"mif1" | b"msf1" => PictureFormat::Heic,
            _ => return None,
        },
        _ if name.to_ascii_lowercase().ends_with(".tga") && tga_header(head) => PictureFormat::Tga,
        _ => return None,
    };
    Some(kind)
}

/// Whether a file that begins with `head` is a PDF. It is sent unchanged: nothing here parses a PDF.
pub fn is_pdf(head: &[u8]) -> bool {
    // The mark is long enough, but a text about the format may begin with it; in a real PDF the version follows.
    matches!(head, [b'%', b'P', b'D', b'F', b'-', b'1'..=b'2', b'.', b'0'..=b'9', ..])
}

/// A text about the format may begin with its signature; the header of a picture has bytes that no text has.
fn is_text(rest: &[u8]) -> bool {
    rest.iter().all(|byte| !byte.is_ascii_control() || byte.is_ascii_whitespace())
        && std::str::from_utf8(rest).map_or_else(|e| e.error_len().is_none(), |_| true)
}

/// Width and height as numbers, after any comments.
fn pnm_header(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head.get(2..).unwrap_or_default());
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let words: Vec<String> = lines.flat_map(str::split_whitespace).map(String::from).collect();
    // A long comment may fill the examined bytes.
    words.iter().take(2).all(|word| word.parse::<u32>().is_ok_and(|n| n > 0))
}

fn tga_header(head: &[u8]) -> bool {
    let [_, map, kind, _, _, _, _, _, _, _, _, _, w0, w1, h0, h1, depth, ..] = head else { return false };
    let sized = (*w0, *w1) != (0, 0) && (*h0, *h1) != (0, 0);
    *map <= 1 && matches!(kind, 1 | 2 | 3 | 9 | 10 | 11) && matches!(depth, 8 | 15 | 16 | 24 | 32) && sized
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_begin_like_pictures_are_words() {
        for text in [
            "BMW is a car maker, and this is text",
            "P1 is the first",
            "P3 1x",
            "GIF89 is old",
            "GIF89a is a format",
            "GIF87a\n",
            "DDS is a format",
            "qoif what",
            "RIFF ok",
        ] {
            assert_eq!(sniff(text.as_bytes(), "a.txt"), None, "{text}");
        }
        assert!(is_pdf(b"%PDF-1.7\n%\xE2\xE3") && !is_pdf(b"%PDF- is how they begin"));
        assert_eq!(sniff(b"P3\n# made by hand\n2 2\n255\n", ""), Some(PictureFormat::Pnm));
        assert_eq!(sniff(b"\0\0\0\x1CftypheicABCD", "x.png"), Some(PictureFormat::Heic));
        assert_eq!(sniff(b"GIF89a\x01\0\x01\0\x80\0\0", ""), Some(PictureFormat::Gif));
        for (head, kind) in [
            (&b"\0\0\0\x0CjP  \r\n\x87\n"[..], PictureFormat::Jpeg2000),
            (b"\xFF\x4F\xFF\x51\0", PictureFormat::Jpeg2000),
            (b"icns\0\0\x12\0", PictureFormat::Icns),
            (b"\x0A\x05\x01\x08\0\0", PictureFormat::Pcx),
            (b"\x01\xDA\x01\x01\0\x03", PictureFormat::Sgi),
            (b"PF\n640 480\n-1.0\n", PictureFormat::Pfm),
            (b"8BPS\0\x01\0\0", PictureFormat::Photoshop),
            (b"gimp xcf v011\0", PictureFormat::Gimp),
        ] {
            assert_eq!(sniff(head, "a.bin"), Some(kind));
        }
        let tga = [0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2, 0, 24, 0];
        assert_eq!(sniff(&tga, "a.TGA"), Some(PictureFormat::Tga));
        assert_eq!(sniff(&tga, "a.bin"), None);
    }
}
