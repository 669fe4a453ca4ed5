//! The type of a file that is not text, recognized by its first bytes.

use crate::{Hint, HintTool, hint};

/// The name of a type of data with a well-known beginning; `None` for text and for unknown data.
pub fn named(head: &[u8]) -> Option<&'static str> {
    const MAGIC: [(&[u8], &str); 27] = [
        (b"%PDF-", "a PDF document"),
        (b"PK\x03\x04", "a zip archive (or a docx, xlsx, jar: they are zips)"),
        (b"PK\x05\x06", "an empty zip archive"),
        (b"SQLite format 3\0", "a SQLite database"),
        (b"\x7FELF", "an ELF binary"),
        (b"\xCF\xFA\xED\xFE", "a Mach-O binary"),
        (b"\xCE\xFA\xED\xFE", "a Mach-O binary"),
        (b"\xCA\xFE\xBA\xBE", "a Java class or universal Mach-O binary"),
        (b"\0asm", "a WebAssembly module"),
        (b"\x1F\x8B", "gzip data"),
        (b"\xFD7zXZ\0", "xz data"),
        (b"\x28\xB5\x2F\xFD", "zstd data"),
        (b"BZh", "bzip2 data"),
        (b"7z\xBC\xAF\x27\x1C", "a 7z archive"),
        (b"Rar!\x1A\x07", "a rar archive"),
        (b"!<arch>\n", "an ar archive (a static library)"),
        (b"OggS", "an Ogg file"),
        (b"fLaC", "a FLAC file"),
        (b"ID3", "an MP3 file"),
        (b"\x1A\x45\xDF\xA3", "a Matroska or WebM file"),
        (b"wOFF", "a WOFF font"),
        (b"wOF2", "a WOFF2 font"),
        (b"\0\x01\0\0\0", "a TrueType font"),
        (b"OTTO", "an OpenType font"),
        (b"PAR1", "a Parquet file"),
        (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "an OLE document (doc, xls, msi)"),
        (b"GIT\0", "git data"),
    ];
    let at = |from: usize, len: usize| head.get(from..from + len).unwrap_or_default();
    let found =
        MAGIC.iter().find(|(magic, _)| head.starts_with(magic)).map(|(magic, name)| (magic.len(), *name));
    match found {
        // A word can also start with a short magic number: only data has a byte that text does not have.
        Some((len, name))
            if len > 4 || memchr::memchr(0, head).is_some() || std::str::from_utf8(head).is_err() =>
        {
            Some(name)
        }
        _ if at(257, 5) == b"ustar" => Some("a tar archive"),
        _ if at(4, 4) == b"ftyp" && at(8, 4) != b"avif" && at(8, 4) != b"heic" => {
            Some("an MP4 or QuickTime file")
        }
        _ if at(0, 4) == b"RIFF" && at(8, 4) == b"WAVE" => Some("a WAV file"),
        _ if at(0, 2) == b"MZ" && memchr::memchr(0, head).is_some() => Some("a Windows executable"),
        _ => None,
    }
}

/// What to do about each type.
pub(crate) fn advice(name: &str) -> Hint {
    let (what, how) = match name {
        n if n.contains("PDF") => ("extract its text with ", ", for example `pdftotext FILE -`"),
        n if n.contains("zip") => ("list it with ", ", for example `unzip -l FILE`"),
        n if n.contains("SQLite") => ("query it with ", ", for example `sqlite3 FILE .schema`"),
        n if n.contains("ELF") => ("inspect it with ", ", for example `readelf -h FILE` or `strings FILE`"),
        n if n.contains("tar archive") => ("list it with ", ", for example `tar -tf FILE`"),
        n if n.contains("gzip") => ("unpack it with ", ", for example `gzip -dc FILE | head`"),
        _ => ("it is not text; inspect it with ", ", for example `file FILE` or `xxd FILE | head`"),
    };
    hint![what, HintTool::RunCommand, how]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_named_and_words_that_begin_alike_are_text() {
        assert_eq!(named(b"%PDF-1.7\n"), Some("a PDF document"));
        assert_eq!(named(b"\x7FELF\x02\x01\x01\0\0"), Some("an ELF binary"));
        assert_eq!(named(b"MZ\x90\0\x03"), Some("a Windows executable"));
        for text in [&b"BZh is a magic\n"[..], b"MZ wrote this", b"ID3 tags", b"PAR1S\n", b"OTTO von"] {
            assert_eq!(named(text), None, "{}", String::from_utf8_lossy(text));
        }
    }
}
