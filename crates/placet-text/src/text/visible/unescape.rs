//! Turns an exact rendering back into its bytes, so that a name from a list can be used as a file name.

use super::{TAB, char_class};

/// The bytes of an exact rendering. A text that is not a rendering returns its own bytes.
pub fn read_back(shown: &str) -> Vec<u8> {
    let (mut out, mut column, mut rest) = (Vec::new(), 0, shown);
    while let Some(c) = rest.chars().next() {
        let mut used = c.len_utf8();
        if let Some(sign) = VisibleEscape::at(rest) {
            out.extend(&sign.bytes);
            used = sign.length;
            column += sign.length;
        } else if c == '⇥' {
            out.push(b'\t');
            let room = TAB - column % TAB;
            // The spaces up to the tab stop belong to the tab.
            used += rest
                .get(used..)
                .map_or(0, |after| after.bytes().take(room - 1).take_while(|b| *b == b' ').count());
            column += room;
        } else {
            match c {
                '\u{2400}'..='\u{2420}' => out.extend(u8::try_from(c as u32 - 0x2400)),
                '\u{2421}' => out.push(0x7f),
                char_class::BLANK_SIGN => out.push(b' '),
                char_class::RETURN_SIGN => out.push(b'\r'),
                c => out.extend(c.encode_utf8(&mut [0; 4]).bytes()),
            }
            column =
                if c == '\n' { 0 } else { column + unicode_width::UnicodeWidthChar::width(c).unwrap_or(1) };
        }
        rest = rest.get(used..).unwrap_or_default();
    }
    out
}

/// `<U+200B>`, `<U+200B x12>`, `<FF>`, `<FF x12>`, `<(U+200B U+200C x2) x12>`.
struct VisibleEscape {
    bytes: Vec<u8>,
    length: usize,
}

/// A longer run is not a name.
const LONGEST: usize = 4096;
/// Longer than the longest sign, in bytes.
const SIGN: usize = 160;

impl VisibleEscape {
    fn at(text: &str) -> Option<VisibleEscape> {
        let end = text.bytes().take(SIGN).position(|b| b == b'>')? + 1;
        let sign = text.get(..end)?;
        if char_class::sign(sign) != char_class::EscapeMatch::Whole {
            return None;
        }
        let body = sign.get(1..end - 1)?;
        let bytes = match body.strip_prefix('(').and_then(|body| body.rsplit_once(") x")) {
            Some((pattern, count)) => times(&pattern_bytes(pattern)?, count)?,
            None => run_bytes(body)?,
        };
        Some(VisibleEscape { bytes, length: end })
    }
}

/// `U+200B`, `U+200B x12`, `FF`, `FF x12`.
fn run_bytes(body: &str) -> Option<Vec<u8>> {
    let (what, count) = body.split_once(" x").unwrap_or((body, "1"));
    let unit = match what.strip_prefix("U+") {
        Some(code) => {
            let c = char::from_u32(u32::from_str_radix(code, 16).ok()?)?;
            c.encode_utf8(&mut [0; 4]).as_bytes().to_vec()
        }
        None => vec![u8::from_str_radix(what, 16).ok()?],
    };
    times(&unit, count)
}

fn pattern_bytes(pattern: &str) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    let mut words = pattern.split(' ').peekable();
    while let Some(what) = words.next() {
        let count = words.next_if(|word| word.starts_with('x'));
        let run = count.map_or_else(|| what.to_string(), |count| format!("{what} {count}"));
        all.extend(run_bytes(&run)?);
    }
    Some(all)
}

fn times(unit: &[u8], count: &str) -> Option<Vec<u8>> {
    let count = count.parse().ok().filter(|count| *count <= LONGEST)?;
    Some(unit.repeat(count))
}
