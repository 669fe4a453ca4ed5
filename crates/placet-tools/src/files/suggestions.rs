//! The advice when a text is not in a file: the most similar place, with the difference made visible.

use super::edit_errors::LONG_LINE;
use super::file_page::rows;
use placet_text::text::look_alike::{code_points, find_look_alike, looks_the_same};
use placet_workspace::{LineIndex, TextFile};
use std::collections::HashMap;
use std::ops::Range;

/// How many lines of context surround the nearest block, and how many lines of a file are compared.
const AROUND: usize = 3;
const LOOKED_AT: usize = 400_000;
/// The largest file, and the longest text, for which a text that looks the same is searched for, in bytes.
const LARGEST: usize = 4 << 20;
const MOST_SENT: usize = 2000;

/// The place most similar to a text that was not found.
#[derive(Debug)]
pub(crate) struct NearestText {
    pub(crate) report: String,
    /// The first line of the block.
    pub(crate) start: usize,
    /// The lines that are shown unchanged.
    pub(crate) shown: Range<usize>,
    /// Only white space differs.
    pub(crate) only_blanks: bool,
}

/// Finds the run of lines most similar to `wanted`. `None` if nothing is similar.
pub(crate) fn nearest_block(file: &TextFile, wanted: &str) -> Option<NearestText> {
    // A line break at an end ends a line; another one is an empty line.
    let inner = wanted.strip_prefix('\n').unwrap_or(wanted);
    let wanted: Vec<&str> = inner.strip_suffix('\n').unwrap_or(inner).split('\n').collect();
    let index = file.index();
    let line = |at: usize| file.line_text(&index.bytes_of(&(at..at + 1))).into_owned();
    let all: Vec<String> = (0..index.len().min(LOOKED_AT)).map(line).collect();
    let start = best_start(&all, &wanted)?;
    let block = start..(start + wanted.len()).min(all.len());
    let only_blanks = block.len() == wanted.len()
        && all.iter().skip(start).zip(&wanted).all(|(have, want)| squeeze(have) == squeeze(want));
    let shown = start.saturating_sub(AROUND)..(block.end + AROUND).min(all.len());
    // Lines that no page has room for are not shown.
    let is_long = all.get(shown.clone()).is_some_and(|lines| lines.iter().any(|line| line.len() > LONG_LINE));
    let shown = if is_long { start..start } else { shown };
    let mut report = String::from("differing lines, blanks made visible (→ tab, · space):\n");
    let mut differing = 0;
    for (offset, want) in wanted.iter().enumerate() {
        let have = all.get(start + offset).filter(|_| start + offset < block.end);
        if have.is_some_and(|have| have == want) {
            continue;
        }
        differing += 1;
        if differing <= 12 {
            // Letters and signs that look the same are told apart by their numbers.
            let is_alike =
                have.is_some_and(|have| squeeze(have) != squeeze(want) && looks_the_same(have, want));
            let row = if is_alike { code_points } else { visible };
            let have = have.map_or_else(|| "(the file ends here)".into(), |h| row(h));
            report.push_str(&format!("line {}\n  file: {have}\n  sent: {}\n", start + offset + 1, row(want)));
        }
    }
    if differing == 0 {
        report.push_str("none: the line breaks before the first line or after the last one differ\n");
    }
    if differing > 12 {
        report.push_str(&format!("... and {} more lines\n", differing - 12));
    }
    if !shown.is_empty() {
        report.push_str(&current(&index, file, &shown));
    }
    Some(NearestText { report, start, shown, only_blanks })
}

/// The text of the file that looks like a text that was not found: a call with it would match.
pub(crate) fn look_alike(file: &TextFile, wanted: &str) -> Option<String> {
    let text = file.text();
    // Plain text looks like nothing else.
    if text.len() > LARGEST || wanted.len() > MOST_SENT || text.is_ascii() && wanted.is_ascii() {
        return None;
    }
    let found = find_look_alike(&text, wanted)?;
    text.get(found).map(|there| there.replace("\r\n", "\n")).filter(|there| there != wanted)
}

fn current(index: &LineIndex, file: &TextFile, lines: &Range<usize>) -> String {
    let mut out = format!("the file now, lines {}-{}:\n", lines.start + 1, lines.end);
    let width = lines.end.to_string().len();
    for at in lines.clone() {
        rows(&mut out, at + 1, &file.line_text(&index.bytes_of(&(at..at + 1))), width);
    }
    out
}

/// The position of `wanted` at which most lines agree. Compares lines with squeezed white space first; if no line is
/// equal, takes the line most similar to the longest wanted line.
fn best_start(all: &[String], wanted: &[&str]) -> Option<usize> {
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for (offset, line) in wanted.iter().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
        places.entry(squeeze(line)).or_default().push(offset);
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (at, line) in all.iter().enumerate() {
        for offset in places.get(&squeeze(line)).into_iter().flatten() {
            if let Some(start) = at.checked_sub(*offset) {
                *votes.entry(start).or_default() += 1;
            }
        }
    }
    let best = votes.into_iter().max_by_key(|(start, votes)| (*votes, std::cmp::Reverse(*start)));
    let alike = || {
        let (offset, first) = wanted.iter().enumerate().find(|(_, line)| !line.trim().is_empty())?;
        let is_there = |line: &String| !line.is_ascii() && find_look_alike(line, first.trim()).is_some();
        all.iter().position(is_there).and_then(|at| at.checked_sub(offset))
    };
    best.map(|(start, _)| start).or_else(alike).or_else(|| most_alike(all, wanted))
}

fn most_alike(all: &[String], wanted: &[&str]) -> Option<usize> {
    let (offset, longest) = wanted.iter().enumerate().max_by_key(|(_, l)| l.trim().len())?;
    let pairs = pairs_of(longest);
    if pairs.is_empty() {
        return None;
    }
    let alike = |line: &str| {
        let own = pairs_of(line);
        let shared =
            own.iter().filter(|(pair, count)| pairs.get(*pair).is_some_and(|c| *c >= **count)).count();
        shared * 200 / (own.len() + pairs.len()).max(1)
    };
    let scored = all.iter().enumerate().map(|(at, line)| (alike(line), at));
    let (score, at) = scored.max_by_key(|(score, at)| (*score, std::cmp::Reverse(*at)))?;
    (score >= 50).then(|| at.saturating_sub(offset))
}

fn pairs_of(line: &str) -> HashMap<(char, char), usize> {
    let chars: Vec<char> = line.chars().filter(|c| !c.is_whitespace()).take(400).collect();
    let mut pairs = HashMap::new();
    for (a, b) in chars.iter().zip(chars.iter().skip(1)) {
        *pairs.entry((*a, *b)).or_default() += 1;
    }
    pairs
}

/// Removes all white space: lines that differ only in white space become equal.
fn squeeze(line: &str) -> String {
    line.chars().filter(|c| !c.is_whitespace() && *c != '\u{FEFF}' && *c != '\u{200B}').collect()
}

/// Shows the spaces of a line as signs; other white space that looks like a space is named.
fn visible(line: &str) -> String {
    let mut out = String::new();
    for c in line.chars().take(300) {
        match c {
            ' ' => out.push('·'),
            '\t' => out.push('→'),
            '\r' => out.push('␍'),
            c if c.is_whitespace() || matches!(c, '\u{FEFF}' | '\u{200B}') => {
                out.push_str(&format!("<U+{:04X}>", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn file(text: &str) -> TextFile {
        TextFile::new(Arc::new(text.as_bytes().to_vec())).unwrap()
    }

    #[test]
    fn blanks_that_differ_are_made_visible() {
        let text = file("fn a() {\n\tlet x = 1;\n\tlet y = 2;\n}\n");
        let near = nearest_block(&text, "    let x = 1;\n    let y = 2;").unwrap();
        assert!(near.only_blanks);
        assert_eq!(near.shown, 0..4);
        assert!(
            near.report.contains("line 2\n  file: →let·x·=·1;\n  sent: ····let·x·=·1;\n"),
            "{}",
            near.report
        );
        assert!(near.report.contains("2│\tlet x = 1;\n"));
    }

    /// Empty lines at its ends are lines, too: where only blanks differ, the report always says where.
    #[test]
    fn a_text_that_differs_only_in_blanks_differs_at_a_line() {
        let text = file("one\n\tbar\nend\n\nlast\n");
        for (wanted, line) in [
            ("\tbar\n\n", "line 3\n  file: end\n  sent: \n"),
            ("one\n\n\tbar\n", "line 2\n  file: →bar\n  sent: \n"),
            ("\n\n\tbar\n", "line 1\n  file: one\n  sent: \n"),
            ("bar\n", "line 2\n  file: →bar\n  sent: bar\n"),
            ("\none\n", "none: the line breaks before the first line or after the last one differ\n"),
        ] {
            let near = nearest_block(&text, wanted).unwrap();
            assert!(near.report.contains(line), "{wanted:?}: {}", near.report);
        }
    }

    #[test]
    fn a_line_that_is_only_alike_is_found_and_a_stranger_is_not() {
        let text = file("use a;\nfn compute_total(items: &[Item]) -> u32 {\n}\n");
        let near = nearest_block(&text, "fn compute_totals(items: &Vec<Item>) -> u64 {").unwrap();
        assert!(!near.only_blanks && near.report.contains("line 2\n"));
        assert!(nearest_block(&text, "zzzzzzzzzzzz qqqqqqq").is_none());
        assert!(nearest_block(&file(""), "x").is_none());
    }
}
