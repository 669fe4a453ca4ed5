//! Converts bytes to text and back, and guesses no more than the bytes prove.
//!
//! Detection is conservative: valid UTF-8 is UTF-8; a byte order mark decides; a legacy encoding is accepted only if
//! the whole text looks like it. Everything else is UTF-8 with stray bytes, which are shown as U+FFFD and never written
//! back. Binary data is refused.

use encoding_rs::{GBK, SHIFT_JIS, WINDOWS_1252};
use std::borrow::Cow;
use std::fmt;

/// With more stray bytes in a hundred a content may be shown as its size. The name of a person in an encoding that placet
/// does not know, in a file of code, is far below that.
const MOST_STRAY: u64 = 30;

/// So many ASCII characters in a row can be read: with them, a content is never shown as its size alone. `strings` has the
/// same number.
const READABLE: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextEncoding {
    Utf8,
    Utf16Le,
    Utf16Be,
    Windows1252,
    Gbk,
    ShiftJis,
}

/// The detected encoding of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DetectedEncoding {
    pub encoding: TextEncoding,
    /// Length of the byte order mark, 0 for none.
    pub mark: usize,
    /// Some bytes are not valid in the encoding: they are shown as U+FFFD and remain unchanged.
    pub stray: bool,
    /// Most bytes above 0x7F are not valid: the text has another, unknown encoding.
    pub unrecognised: bool,
}

/// Why bytes are not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotText {
    Nul { at: usize },
    Controls,
    Utf32,
}

/// The first character that an encoding does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnencodableChar {
    pub character: char,
    pub encoding: TextEncoding,
}

impl fmt::Display for TextEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TextEncoding::Utf8 => "UTF-8",
            TextEncoding::Utf16Le => "UTF-16LE",
            TextEncoding::Utf16Be => "UTF-16BE",
            TextEncoding::Windows1252 => "windows-1252",
            TextEncoding::Gbk => "GBK",
            TextEncoding::ShiftJis => "Shift-JIS",
        })
    }
}

impl DetectedEncoding {
    pub const UTF8: DetectedEncoding =
        DetectedEncoding { encoding: TextEncoding::Utf8, mark: 0, stray: false, unrecognised: false };

    /// Examines all of `bytes`, or reports why they are not text.
    pub fn of(bytes: &[u8]) -> Result<DetectedEncoding, NotText> {
        let marked = |encoding, mark| DetectedEncoding { encoding, mark, ..DetectedEncoding::UTF8 };
        match bytes {
            [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => return Err(NotText::Utf32),
            [0xFF, 0xFE, rest @ ..] => return utf16(rest, marked(TextEncoding::Utf16Le, 2)),
            [0xFE, 0xFF, rest @ ..] => return utf16(rest, marked(TextEncoding::Utf16Be, 2)),
            _ => {}
        }
        let mark = if bytes.starts_with(&[0xEF, 0xBB, 0xBF]) { 3 } else { 0 };
        let body = bytes.get(mark..).unwrap_or_default();
        if let Some(at) = memchr::memchr(0, body) {
            return match unmarked_utf16(body) {
                Some(encoding) if mark == 0 => Ok(marked(encoding, 0)),
                _ => Err(NotText::Nul { at: at + mark }),
            };
        }
        if std::str::from_utf8(body).is_ok() {
            return Ok(DetectedEncoding { mark, ..DetectedEncoding::UTF8 });
        }
        if controls_abound(body) {
            return Err(NotText::Controls);
        }
        if mark == 0
            && let Some(encoding) = legacy(body)
        {
            return Ok(marked(encoding, 0));
        }
        let unrecognised = mark == 0 && !mostly_utf8(body);
        Ok(DetectedEncoding { encoding: TextEncoding::Utf8, mark, stray: true, unrecognised })
    }
}

impl DetectedEncoding {
    /// True where most bytes belong to no character, and nothing between them can be read: what is not shown as lines
    /// must not have a command among them.
    pub fn is_unreadable(&self, bytes: &[u8]) -> bool {
        let stray = || bytes.utf8_chunks().map(|chunk| chunk.invalid().len()).sum::<usize>();
        let is_sign = |byte: &u8| matches!(byte, b' '..=b'~');
        let has_words = || bytes.split(|byte| !is_sign(byte)).any(|run| run.len() >= READABLE);
        self.unrecognised && stray() as u64 * 100 > bytes.len() as u64 * MOST_STRAY && !has_words()
    }
}

/// True for bytes that are shown as their size: they are not text, or nobody can read it.
pub fn is_binary(bytes: &[u8]) -> bool {
    DetectedEncoding::of(bytes).map_or(true, |detected| detected.is_unreadable(bytes))
}

/// UTF-8 text with a few NUL bytes, and how many: a shell runs such a script. `None` for anything else, as for bytes with as many
/// control characters as a program file has.
pub fn text_with_nuls(bytes: &[u8]) -> Option<(&str, usize)> {
    /// At most one control character in so many bytes.
    const RARE: usize = 20;
    let text = std::str::from_utf8(bytes).ok()?;
    let is_control = |byte: &&u8| **byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r');
    let nuls = memchr::memchr_iter(0, bytes).count();
    (nuls > 0 && bytes.iter().filter(is_control).count() * RARE <= bytes.len()).then_some((text, nuls))
}

impl TextEncoding {
    /// The bytes as text; bytes that cannot be decoded become U+FFFD.
    pub fn decode(self, bytes: &[u8]) -> Cow<'_, str> {
        match self {
            TextEncoding::Utf8 => String::from_utf8_lossy(bytes),
            TextEncoding::Utf16Le | TextEncoding::Utf16Be => Cow::Owned(self.decode_utf16(bytes)),
            TextEncoding::Windows1252 => WINDOWS_1252.decode_without_bom_handling(bytes).0,
            TextEncoding::Gbk => GBK.decode_without_bom_handling(bytes).0,
            TextEncoding::ShiftJis => SHIFT_JIS.decode_without_bom_handling(bytes).0,
        }
    }

    /// The text as bytes, or the first character that the encoding does not have.
    pub fn encode(self, text: &str) -> Result<Cow<'_, [u8]>, UnencodableChar> {
        let legacy = match self {
            TextEncoding::Utf8 => return Ok(Cow::Borrowed(text.as_bytes())),
            TextEncoding::Utf16Le => {
                return Ok(Cow::Owned(text.encode_utf16().flat_map(u16::to_le_bytes).collect()));
            }
            TextEncoding::Utf16Be => {
                return Ok(Cow::Owned(text.encode_utf16().flat_map(u16::to_be_bytes).collect()));
            }
            TextEncoding::Windows1252 => WINDOWS_1252,
            TextEncoding::Gbk => GBK,
            TextEncoding::ShiftJis => SHIFT_JIS,
        };
        let (bytes, _, lossy) = legacy.encode(text);
        let same = !lossy && legacy.decode_without_bom_handling(&bytes).0 == text;
        if same {
            return Ok(Cow::Owned(bytes.into_owned()));
        }
        let mut letter = [0; 4];
        let comes_back = |c: char, letter: &mut [u8; 4]| {
            let one: &str = c.encode_utf8(letter);
            let (bytes, _, lossy) = legacy.encode(one);
            !lossy && legacy.decode_without_bom_handling(&bytes).0 == one
        };
        let character = text.chars().find(|c| !comes_back(*c, &mut letter)).unwrap_or('\u{FFFD}');
        Err(UnencodableChar { character, encoding: self })
    }

    /// Bytes of one code unit: a match or a line end is at a multiple of it.
    pub fn unit(self) -> usize {
        match self {
            TextEncoding::Utf16Le | TextEncoding::Utf16Be => 2,
            _ => 1,
        }
    }

    pub fn line_feed(self) -> &'static [u8] {
        match self {
            TextEncoding::Utf16Le => b"\n\0",
            TextEncoding::Utf16Be => b"\0\n",
            _ => b"\n",
        }
    }

    pub fn carriage_return(self) -> &'static [u8] {
        match self {
            TextEncoding::Utf16Le => b"\r\0",
            TextEncoding::Utf16Be => b"\0\r",
            _ => b"\r",
        }
    }

    /// The length of the character that begins with these bytes, for encodings in which a later byte of a character may
    /// look like the beginning of another; 0 for other encodings.
    pub fn ambiguous_step(self, bytes: &[u8]) -> usize {
        match (self, bytes) {
            (TextEncoding::Gbk, [0x81..=0xFE, 0x30..=0x39, ..]) => 4,
            (TextEncoding::Gbk, [0x81..=0xFE, _, ..]) => 2,
            (TextEncoding::ShiftJis, [0x81..=0x9F | 0xE0..=0xFC, _, ..]) => 2,
            (TextEncoding::Gbk | TextEncoding::ShiftJis, _) => 1,
            _ => 0,
        }
    }

    fn decode_utf16(self, bytes: &[u8]) -> String {
        let units = bytes.chunks(2).map(|pair| match (self, pair) {
            (TextEncoding::Utf16Be, [a, b]) => u16::from_be_bytes([*a, *b]),
            (_, [a, b]) => u16::from_le_bytes([*a, *b]),
            // Half a unit at the end: decodes to U+FFFD, like a lone surrogate.
            _ => 0xD800,
        });
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    }
}

fn utf16(body: &[u8], found: DetectedEncoding) -> Result<DetectedEncoding, NotText> {
    let decoded = found.encoding.decode(body);
    if decoded.contains('\0') {
        return Err(NotText::Nul { at: found.mark });
    }
    Ok(DetectedEncoding { stray: decoded.contains('\u{FFFD}'), ..found })
}

/// True for UTF-8 with some damaged bytes, and not another encoding.
fn mostly_utf8(body: &[u8]) -> bool {
    let high = body.iter().filter(|b| **b >= 0x80).count();
    let wide = body.utf8_chunks().flat_map(|c| c.valid().chars()).filter(|c| !c.is_ascii());
    wide.map(char::len_utf8).sum::<usize>() * 2 > high
}

/// UTF-16 without a mark is accepted only for text that is mostly ASCII and entirely valid.
fn unmarked_utf16(body: &[u8]) -> Option<TextEncoding> {
    if !body.len().is_multiple_of(2) || body.len() < 8 {
        return None;
    }
    let (mut even, mut odd) = (0, 0);
    for pair in body.chunks_exact(2) {
        even += usize::from(pair.first() == Some(&0));
        odd += usize::from(pair.last() == Some(&0));
    }
    let units = body.len() / 2;
    let encoding = match (even, odd) {
        (0, odd) if odd * 10 >= units * 7 => TextEncoding::Utf16Le,
        (even, 0) if even * 10 >= units * 7 => TextEncoding::Utf16Be,
        _ => return None,
    };
    let text = encoding.decode(body);
    let odd_ones = text.chars().filter(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r')).count();
    (odd_ones == 0 && !text.contains('\u{FFFD}')).then_some(encoding)
}

fn controls_abound(body: &[u8]) -> bool {
    let sample = body.get(..body.len().min(65_536)).unwrap_or(body);
    let odd = |b: &&u8| matches!(**b, 0x01..=0x08 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F | 0x7F);
    sample.iter().filter(odd).count() * 50 > sample.len()
}

/// Statistics of the bytes above 0x7F.
#[derive(Default)]
struct HighByteStats {
    high: usize,
    utf8_bytes: usize,
    gb_pairs: usize,
    gb_only: bool,
    kana: usize,
    sjis_pairs: usize,
    sjis_half: usize,
    /// Pairs that are signs, kana, or kanji of the first level: nearly all of a text of today.
    sjis_usual: usize,
    isolated: usize,
    undefined_1252: usize,
}

/// A legacy encoding, if the whole text is valid in it and looks like it.
fn legacy(body: &[u8]) -> Option<TextEncoding> {
    let sample = body.get(..body.len().min(1 << 20)).unwrap_or(body);
    let shape = HighByteStats::of(sample);
    // Pairs of a legacy text may look like UTF-8 by chance, but not most of them.
    if shape.utf8_bytes * 2 > shape.high {
        return None;
    }
    let clean = |e: &'static encoding_rs::Encoding| !e.decode_without_bom_handling(body).1;
    if shape.sjis_pairs > 0 && shape.kana * 4 >= shape.sjis_pairs && clean(SHIFT_JIS) {
        return Some(TextEncoding::ShiftJis);
    }
    if shape.gb_only && shape.gb_pairs >= 2 && clean(GBK) {
        return Some(TextEncoding::Gbk);
    }
    let latin = shape.utf8_bytes == 0 && shape.undefined_1252 == 0 && shape.isolated * 10 >= shape.high * 6;
    if latin {
        return Some(TextEncoding::Windows1252);
    }
    // A short line may have no kana. Letters of DOS code pages are pairs, too, with the ASCII letters after them.
    let usual = shape.sjis_pairs >= 2 && shape.sjis_usual == shape.sjis_pairs;
    let usual = usual && shape.sjis_half == 0 && shape.isolated * 2 <= shape.high;
    (usual && clean(SHIFT_JIS)).then_some(TextEncoding::ShiftJis)
}

impl HighByteStats {
    fn of(bytes: &[u8]) -> HighByteStats {
        let mut shape = HighByteStats { gb_only: true, ..HighByteStats::default() };
        shape.latin(bytes);
        shape.gb(bytes);
        shape.sjis(bytes);
        let wide = bytes.utf8_chunks().flat_map(|c| c.valid().chars()).filter(|c| !c.is_ascii());
        shape.utf8_bytes = wide.map(char::len_utf8).sum();
        shape
    }

    fn latin(&mut self, bytes: &[u8]) {
        let high = |b: Option<&u8>| b.is_some_and(|b| *b >= 0x80);
        for (at, byte) in bytes.iter().enumerate().filter(|(_, b)| **b >= 0x80) {
            self.high += 1;
            let before = at.checked_sub(1).and_then(|i| bytes.get(i));
            self.isolated += usize::from(!high(before) && !high(bytes.get(at + 1)));
            self.undefined_1252 += usize::from(matches!(byte, 0x81 | 0x8D | 0x8F | 0x90 | 0x9D));
        }
    }

    /// Pairs of the GB 2312 plane: both bytes high, the first a symbol row or an ideograph row.
    fn gb(&mut self, mut bytes: &[u8]) {
        while let Some((first, rest)) = bytes.split_first() {
            bytes = match (first, rest) {
                (0x00..=0x7F, rest) => rest,
                (0xA1..=0xA9 | 0xB0..=0xF7, [0xA1..=0xFE, rest @ ..]) => {
                    self.gb_pairs += 1;
                    rest
                }
                (_, rest) => {
                    self.gb_only = false;
                    rest
                }
            };
        }
    }

    fn sjis(&mut self, mut bytes: &[u8]) {
        while let Some((first, rest)) = bytes.split_first() {
            bytes = match (first, rest) {
                (0x82, [0x9F..=0xF1, rest @ ..]) | (0x83, [0x40..=0x96, rest @ ..]) => {
                    self.kana += 1;
                    self.sjis_pairs += 1;
                    self.sjis_usual += 1;
                    rest
                }
                (0x81..=0x9F | 0xE0..=0xFC, [trail @ (0x40..=0x7E | 0x80..=0xFC), rest @ ..]) => {
                    self.sjis_pairs += 1;
                    let is_usual =
                        matches!((first, trail), (0x81 | 0x89..=0x97, _) | (0x88, 0x9F..) | (0x98, ..=0x72));
                    self.sjis_usual += usize::from(is_usual);
                    rest
                }
                (0xA1..=0xDF, rest) => {
                    self.sjis_half += 1;
                    rest
                }
                (_, rest) => rest,
            };
        }
        // Text of other encodings that is read as Shift-JIS looks like half-width katakana.
        if self.sjis_half > self.sjis_pairs {
            self.kana = 0;
        }
    }
}

#[cfg(test)]
#[path = "encoding_tests.rs"]
mod tests;
