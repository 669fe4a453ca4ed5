//! The changed words inside a line: the words of an old and a new line that have no partner on the other side.
//!
//! Words are runs of letters, digits and `_`; every other character is a word of its own. Lines that have too little in
//! common are not compared: a mark on nearly everything is useless.

use super::sequence_diff::sequence_diff;
use similar::DiffTag;
use std::ops::Range;
use std::time::{Duration, Instant};

/// How long the comparison of one pair of lines may take before it returns a coarser result.
const PATIENCE: Duration = Duration::from_millis(20);
/// With more words than these, only the common beginning and end are compared.
const WORDS: usize = 4000;
/// How many lines on one side of a hunk are compared with those of the other side.
pub const LINES: usize = 200;
/// How many pairs of lines are tried when the lines of a hunk are matched.
const PAIRS: usize = 2500;
/// How much two lines must have in common to be versions of each other, in hundredths of their bytes.
const ALIKE: usize = 40;

/// The changed byte ranges of both lines, in order, neighbours joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedWords {
    pub old: Vec<Range<usize>>,
    pub new: Vec<Range<usize>>,
}

/// Compares two lines; `None` if they have too little in common for a useful comparison.
pub fn changed(old: &str, new: &str) -> Option<ChangedWords> {
    let (a, b) = (words(old), words(new));
    if a.len().max(b.len()) > WORDS {
        return Some(ends(old, new));
    }
    fn text<'a>(line: &'a str, range: &Range<usize>) -> &'a str {
        line.get(range.clone()).unwrap_or("")
    }
    let old_words: Vec<&str> = a.iter().map(|r| text(old, r)).collect();
    let new_words: Vec<&str> = b.iter().map(|r| text(new, r)).collect();
    let deadline = Some(Instant::now() + PATIENCE);
    let ops = sequence_diff(&old_words, &new_words, deadline);
    let mut out = ChangedWords::default();
    let mut common = 0;
    for op in ops {
        if op.tag() == DiffTag::Equal {
            common += a.get(op.old_range()).map_or(0, |part| {
                part.iter().filter(|r| !text(old, r).trim().is_empty()).map(ExactSizeIterator::len).sum()
            });
            continue;
        }
        push(&mut out.old, &a, op.old_range());
        push(&mut out.new, &b, op.new_range());
    }
    let solid = |line: &str| line.chars().filter(|c| !c.is_whitespace()).map(char::len_utf8).sum::<usize>();
    let all = solid(old).max(solid(new));
    (common * 100 >= all * ALIKE).then_some(out)
}

/// Which removed line became which added line: pairs in rising order on both sides. In a hunk that is too long to be
/// compared, lines at the same positions are pairs if both sides have the same number of lines.
pub fn pairs(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    if old.len().max(new.len()) > LINES {
        let places = if old.len() == new.len() { old.len() } else { 0 };
        return (0..places).map(|n| (n, n)).collect();
    }
    // A single line replaces a single line: it is the new version, or there is nothing to mark.
    if old.len() == 1 && new.len() == 1 || old.len() == new.len() && old.len() * new.len() > PAIRS {
        return (0..old.len()).map(|n| (n, n)).collect();
    }
    let (mut out, mut from) = (Vec::new(), 0);
    let mut tried = 0;
    for (at, line) in old.iter().enumerate() {
        // The same position first: most edits do not change the number of lines.
        let near = (from..new.len()).find(|other| {
            tried += 1;
            tried <= PAIRS && new.get(*other).is_some_and(|text| is_version(line, text))
        });
        if let Some(other) = near {
            out.push((at, other));
            from = other + 1;
        }
    }
    out
}

/// A cheap guess, because many pairs are tried: how many bytes both lines have, at any position.
fn is_version(old: &str, new: &str) -> bool {
    let (old, new) = (old.trim(), new.trim());
    if old == new {
        return true;
    }
    let solid = |line: &str| line.bytes().filter(|b| !b.is_ascii_whitespace()).take(2000).count();
    let (short, long) = (solid(old).min(solid(new)), solid(old).max(solid(new)));
    if short * 100 < long * ALIKE / 2 {
        return false;
    }
    let counts = |line: &str| {
        let mut counts = [0u32; 256];
        for byte in line.bytes().filter(|b| !b.is_ascii_whitespace()).take(2000) {
            if let Some(count) = counts.get_mut(usize::from(byte)) {
                *count += 1;
            }
        }
        counts
    };
    let common: u32 = counts(old).iter().zip(counts(new)).map(|(a, b)| (*a).min(b)).sum();
    common as usize * 100 >= long * ALIKE
}

fn push(out: &mut Vec<Range<usize>>, words: &[Range<usize>], range: Range<usize>) {
    let (Some(first), Some(last)) = (words.get(range.start), words.get(range.end.wrapping_sub(1))) else {
        return;
    };
    if range.is_empty() {
        return;
    }
    match out.last_mut() {
        Some(before) if before.end == first.start => before.end = last.end,
        _ => out.push(first.start..last.end),
    }
}

fn words(line: &str) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut in_word = false;
    for (at, c) in line.char_indices() {
        let end = at + c.len_utf8();
        let letter = c.is_alphanumeric() || c == '_';
        match out.last_mut() {
            Some(last) if letter && in_word => last.end = end,
            _ => out.push(at..end),
        }
        in_word = letter;
    }
    out
}

/// The parts between the common beginning and the common end.
fn ends(old: &str, new: &str) -> ChangedWords {
    let head: usize =
        old.chars().zip(new.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let (a, b) = (old.get(head..).unwrap_or(""), new.get(head..).unwrap_or(""));
    let tail: usize =
        a.chars().rev().zip(b.chars().rev()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let part = |line: &str| {
        let range = head..line.len() - tail;
        if range.is_empty() { Vec::new() } else { vec![range] }
    };
    ChangedWords { old: part(old), new: part(new) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn marked(old: &str, new: &str) -> Option<(Vec<String>, Vec<String>)> {
        let changed = changed(old, new)?;
        let texts =
            |line: &str, ranges: &[Range<usize>]| ranges.iter().map(|r| line[r.clone()].into()).collect();
        Some((texts(old, &changed.old), texts(new, &changed.new)))
    }

    fn of(old: &[&str], new: &[&str]) -> Option<(Vec<String>, Vec<String>)> {
        let own = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        Some((own(old), own(new)))
    }

    #[test]
    fn the_words_that_changed_are_marked_and_no_others() {
        assert_eq!(marked("let limit = 10;", "let limit = 25;"), of(&["10"], &["25"]));
        assert_eq!(marked("f(a, b)", "f(a, b, c)"), of(&[], &[", c"]));
        assert_eq!(marked("same", "same"), of(&[], &[]));
        assert_eq!(marked("grüße an alle", "grüße an euch alle"), of(&[], &["euch "]));
        assert_eq!(marked("tail  ", "tail"), of(&["  "], &[]));
    }

    #[test]
    fn lines_with_nothing_in_common_are_not_compared() {
        assert_eq!(marked("fn main() {", "use std::io::Read as Source;"), None);
        assert_eq!(marked("", "x"), None);
    }

    #[test]
    fn a_change_far_out_in_a_very_long_line_is_found() {
        let old = format!("{}x{}", "word ".repeat(5000), " tail".repeat(10));
        let new = format!("{}y{}", "word ".repeat(5000), " tail".repeat(10));
        assert_eq!(marked(&old, &new), of(&["x"], &["y"]));
    }

    #[test]
    fn lines_are_paired_with_their_new_versions() {
        let old = ["let a = compute(1);", "gone entirely", "let b = compute(2);"];
        let new = ["let a = compute(7);", "let b = compute(9);"];
        assert_eq!(pairs(&old, &new), [(0, 0), (2, 1)]);
    }

    proptest! {
        #[test]
        fn what_is_not_marked_is_the_same_on_both_sides(old in "[a-c é日=]{0,40}", new in "[a-c é日=]{0,40}") {
            let Some(changed) = changed(&old, &new) else { return Ok(()) };
            let rest = |line: &str, ranges: &[Range<usize>]| {
                let mut out = String::new();
                let mut at = 0;
                for range in ranges {
                    out.push_str(&line[at..range.start]);
                    at = range.end;
                }
                out + &line[at..]
            };
            prop_assert_eq!(rest(&old, &changed.old), rest(&new, &changed.new));
        }
    }
}
