//! One side of a change as lines: its bytes, which are applied unchanged, and its text, which the person sees.
//!
//! Lines end with `\n`, and have the same numbers in text and bytes: line 7 of the text is line 7 of the bytes. A
//! content whose encoding uses more than one byte for a line feed has no lines here; it is decided as a whole.

use placet_text::text::{DetectedEncoding, TextEncoding, is_binary};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// Which side of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiffSide {
    Old,
    New,
}

#[derive(Clone, Debug)]
pub struct SideText {
    /// Where each line starts, and the end, in bytes of the content.
    starts: Arc<[usize]>,
    text: Arc<str>,
    /// Where the text is not the content itself: the content, and where each line of the text starts.
    raw: Option<(Arc<[u8]>, LineStarts)>,
    /// Bytes that belong to no character, and where the U+FFFD of each is in the text.
    stray: Arc<[(usize, u8)]>,
}

/// Where lines start, and where the last one ends.
type LineStarts = Arc<[usize]>;

/// Bytes of a line that are shown in one row of the list; the rest of a longer line has rows of its own.
const PART: usize = 16 << 10;

/// How a line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineTerminator {
    /// The content ends without a line feed.
    None,
    Lf,
    CrLf,
}

impl SideText {
    /// `None` for bytes that are not text, and for text that has no lines in bytes (UTF-16).
    pub fn new(bytes: Vec<u8>) -> Option<SideText> {
        if bytes.is_empty() {
            let (starts, text) = (Arc::new([0]), Arc::from(""));
            return Some(SideText { starts, text, raw: None, stray: Arc::new([]) });
        }
        let detected = DetectedEncoding::of(&bytes).ok()?;
        if detected.encoding.unit() > 1 {
            return None;
        }
        let starts = starts(&bytes);
        match String::from_utf8(bytes) {
            Ok(text) => Some(SideText { starts, text: text.into(), raw: None, stray: Arc::new([]) }),
            Err(e) => {
                let bytes = e.into_bytes();
                let (text, stray) = match detected.encoding {
                    TextEncoding::Utf8 => with_stray(&bytes),
                    TextEncoding::ShiftJis => with_second_bytes(&bytes),
                    other => (other.decode(&bytes).into_owned(), Vec::new()),
                };
                let lines = self::starts(text.as_bytes());
                (lines.len() == starts.len()).then(|| SideText {
                    starts,
                    text: text.into(),
                    raw: Some((bytes.into(), lines)),
                    stray: stray.into(),
                })
            }
        }
    }

    /// The same, and `None` also for what nobody can read as lines.
    pub fn readable(bytes: Vec<u8>) -> Option<SideText> {
        if is_binary(&bytes) { None } else { SideText::new(bytes) }
    }

    /// True where the text is the content, and no decoded form of it.
    pub(in crate::review) fn is_content(&self) -> bool {
        self.raw.is_none()
    }

    /// How many lines there are; one that has no line feed counts.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The whole text, for highlighting.
    pub fn text(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    /// The bytes of whole lines, their ends included.
    pub fn bytes(&self, lines: Range<usize>) -> &[u8] {
        let all = self.raw.as_ref().map_or(self.text.as_bytes(), |(bytes, _)| bytes);
        all.get(span(&self.starts, lines)).unwrap_or_default()
    }

    /// A line as text, without its end.
    pub fn line(&self, n: usize) -> &str {
        let whole = self.whole(n);
        whole.strip_suffix("\r\n").or(whole.strip_suffix('\n')).unwrap_or(whole)
    }

    /// The bytes of a line that belong to no character, each with the place of its U+FFFD in the line.
    pub fn stray(&self, n: usize) -> Vec<(usize, u8)> {
        let lines = self.raw.as_ref().map_or(&self.starts, |(_, lines)| lines);
        let line = span(lines, n..n + 1);
        let from = self.stray.partition_point(|(at, _)| *at < line.start);
        let own = self.stray.iter().skip(from).take_while(|(at, _)| line.contains(at));
        own.map(|(at, byte)| (at - line.start, *byte)).collect()
    }

    pub fn end(&self, n: usize) -> LineTerminator {
        match self.whole(n) {
            line if line.ends_with("\r\n") => LineTerminator::CrLf,
            line if line.ends_with('\n') => LineTerminator::Lf,
            _ => LineTerminator::None,
        }
    }

    /// How many parts a line is shown in: 1 for all but very long ones.
    pub fn parts(&self, n: usize) -> usize {
        self.line(n).len().div_ceil(PART).max(1)
    }

    /// The bytes of a line that its `part`th part shows. The parts of a line make up the whole line.
    pub fn part(&self, n: usize, part: usize) -> Range<usize> {
        let line = self.line(n);
        bound(line, part)..bound(line, part.saturating_add(1))
    }

    /// The line end that most lines have: for one that has to be given an end.
    pub fn usual_end(&self) -> &'static [u8] {
        let count = |end| (0..self.len().min(100)).filter(|n| self.end(*n) == end).count();
        if count(LineTerminator::CrLf) > count(LineTerminator::Lf) { b"\r\n" } else { b"\n" }
    }

    /// `text` in this content's encoding; `None` when it cannot be written in it.
    pub fn encode(&self, text: &str) -> Option<Vec<u8>> {
        match &self.raw {
            None => Some(text.as_bytes().to_vec()),
            Some((bytes, _)) => {
                let encoding = DetectedEncoding::of(bytes).ok()?.encoding;
                // The sign may replace a stray byte, which would be lost.
                if !self.stray.is_empty() && text.contains(char::REPLACEMENT_CHARACTER) {
                    return None;
                }
                encoding.encode(text).ok().map(std::borrow::Cow::into_owned)
            }
        }
    }

    fn whole(&self, n: usize) -> &str {
        let starts = self.raw.as_ref().map_or(&self.starts, |(_, lines)| lines);
        self.text.get(span(starts, n..n + 1)).unwrap_or("")
    }
}

/// UTF-8 with a U+FFFD for each byte that belongs to no character, and where those are: two such bytes differ, and a
/// decoder makes one U+FFFD of a whole sequence.
fn with_stray(bytes: &[u8]) -> (String, Vec<(usize, u8)>) {
    let (mut text, mut stray) = (String::with_capacity(bytes.len()), Vec::new());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            stray.push((text.len(), *byte));
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    (text, stray)
}

/// Shift-JIS in which a letter whose second byte means something to a shell is shown as its two bytes: `sh` reads `|` in the last
/// byte of a katakana, and a backslash in that of many letters.
fn with_second_bytes(bytes: &[u8]) -> (String, Vec<(usize, u8)>) {
    let encoding = TextEncoding::ShiftJis;
    let (mut text, mut stray) = (String::with_capacity(bytes.len()), Vec::new());
    let (mut rest, mut from) = (bytes, 0);
    while let step @ 1.. = encoding.ambiguous_step(rest.get(from..).unwrap_or_default()) {
        let Some(letter) = rest.get(from..from + step) else { break };
        let [first, second @ (b'|' | b'`' | b'\\' | b'{' | b'[')] = *letter else {
            from += step;
            continue;
        };
        text.push_str(&encoding.decode(rest.get(..from).unwrap_or_default()));
        stray.push((text.len(), first));
        text.push(char::REPLACEMENT_CHARACTER);
        text.push(char::from(second));
        (rest, from) = (rest.get(from + step..).unwrap_or_default(), 0);
    }
    text.push_str(&encoding.decode(rest));
    (text, stray)
}

/// Where the `part`th part of a line begins: not inside a character, and not inside text that looks like a sign of
/// [`placet_text::text::visible`], which the two halves could imitate one below the other.
fn bound(line: &str, part: usize) -> usize {
    /// More bytes than the longest sign has.
    const SIGN: usize = 40;
    let at = part.saturating_mul(PART);
    if at == 0 || at >= line.len() {
        return at.min(line.len());
    }
    let at = line.floor_char_boundary(at);
    let near = line.floor_char_boundary(at - SIGN.min(at));
    line.get(near..at).and_then(|text| text.find('<')).map_or(at, |sign| near + sign)
}

fn span(starts: &[usize], lines: Range<usize>) -> Range<usize> {
    let at = |n: usize| starts.get(n).or(starts.last()).copied().unwrap_or(0);
    at(lines.start)..at(lines.end.max(lines.start))
}

fn starts(bytes: &[u8]) -> Arc<[usize]> {
    let mut out = vec![0];
    out.extend(memchr::memchr_iter(b'\n', bytes).map(|at| at + 1));
    if out.last() != Some(&bytes.len()) {
        out.push(bytes.len());
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_alike_in_bytes_and_text() {
        let doc = SideText::new(b"one\r\ntwo\nthr\xe9e".to_vec()).unwrap();
        assert_eq!(doc.len(), 3);
        assert_eq!((doc.line(0), doc.line(1)), ("one", "two"));
        assert_eq!(
            (doc.end(0), doc.end(1), doc.end(2)),
            (LineTerminator::CrLf, LineTerminator::Lf, LineTerminator::None)
        );
        assert_eq!(doc.bytes(2..3), b"thr\xe9e");
        assert_eq!(doc.line(2).chars().count(), 5);
        assert_eq!(doc.bytes(0..9), b"one\r\ntwo\nthr\xe9e");
        assert_eq!(doc.line(7), "");
    }

    #[test]
    fn the_parts_of_a_long_line_make_up_the_line() {
        let text = format!("{}é<U+200B>{}\nshort\n", "x".repeat(PART - 3), "日 ".repeat(PART));
        let doc = SideText::new(text.into_bytes()).unwrap();
        let parts: Vec<&str> = (0..doc.parts(0)).map(|n| &doc.line(0)[doc.part(0, n)]).collect();
        assert!(parts.len() > 4 && parts.concat() == doc.line(0));
        assert!(parts[1].starts_with("<U+200B>"), "a sign is not cut");
        assert_eq!((doc.parts(1), doc.part(1, 0), doc.part(1, 7)), (1, 0..5, 5..5));
    }

    /// `sh` runs what follows the second byte of the last letter.
    #[test]
    fn a_letter_in_which_a_shell_reads_a_sign_is_shown_as_its_bytes() {
        let comment = b"# \x83e\x83X\x83g\x82\xc5\x82\xb7\n";
        let bytes = [&comment[..], b"echo touch x \x83\x7csh\necho \x83\\ \x83\x60\n"].concat();
        let doc = SideText::new(bytes.clone()).unwrap();
        assert_eq!(doc.line(0), "# テストです");
        assert_eq!((doc.line(1), doc.stray(1)), ("echo touch x \u{FFFD}|sh", vec![(13, 0x83)]));
        assert_eq!((doc.line(2), doc.stray(2).len()), ("echo \u{FFFD}\\ \u{FFFD}`", 2));
        assert_eq!(doc.bytes(0..3), bytes);
        assert!(doc.encode("echo \u{FFFD}|").is_none(), "the byte would be lost");
    }

    #[test]
    fn what_has_no_lines_in_bytes_is_not_taken_apart() {
        assert!(SideText::new(b"\xff\xfea\0\n\0".to_vec()).is_none());
        assert!(SideText::new(b"\0\x01\x02\x03".to_vec()).is_none());
        assert_eq!(SideText::new(Vec::new()).unwrap().len(), 0);
    }
}
