//! The line diff of two texts.

use super::RangeSet;
use super::sequence_diff::line_diff;
use similar::{DiffOp, DiffTag};
use std::borrow::Cow;
use std::ops::Range;

/// Two texts split into lines, line ends included, and the operations that turn one text into the other.
#[derive(Clone, Debug)]
pub struct LineDiff<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    ops: Vec<DiffOp>,
    /// Numbers of the first lines, for texts that are windows into longer ones.
    first: (usize, usize),
}

/// A unified diff as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnifiedDiff {
    pub text: String,
    /// The lines of the new text that the diff shows.
    pub shown: RangeSet,
    /// Changed lines that did not fit.
    pub left_out: usize,
}

impl<'a> LineDiff<'a> {
    pub fn new(old: &'a str, new: &'a str) -> LineDiff<'a> {
        LineDiff::window(old, new, 0, 0)
    }

    /// Compares windows that begin at the (0-based) lines `old_first` and `new_first` of their texts.
    pub fn window(old: &'a str, new: &'a str, old_first: usize, new_first: usize) -> LineDiff<'a> {
        let old: Vec<&str> = old.split_inclusive('\n').collect();
        let new: Vec<&str> = new.split_inclusive('\n').collect();
        let ops = line_diff(&old, &new);
        LineDiff { old, new, ops, first: (old_first, new_first) }
    }

    /// Lines added and lines removed.
    pub fn counts(&self) -> (usize, usize) {
        let changed = self.ops.iter().filter(|op| op.tag() != DiffTag::Equal);
        changed.fold((0, 0), |(a, r), op| (a + op.new_range().len(), r + op.old_range().len()))
    }

    pub fn is_empty(&self) -> bool {
        self.counts() == (0, 0)
    }

    /// The lines of the new text that are the unchanged lines `old_lines`.
    pub fn carry(&self, old_lines: &RangeSet) -> RangeSet {
        let mut out = RangeSet::new();
        for op in self.ops.iter().filter(|op| op.tag() == DiffTag::Equal) {
            out.extend(&old_lines.moved(&op.old_range(), op.new_range().start));
        }
        out
    }

    /// The lines of the new text that are not in the old text, and for removed lines the line below them, or the last
    /// line.
    pub fn altered(&self) -> RangeSet {
        let mut out = RangeSet::new();
        for op in self.ops.iter().filter(|op| op.tag() != DiffTag::Equal) {
            let range = op.new_range();
            let end = range.end.max(range.start + 1).min(self.new.len());
            out.insert(range.start.min(end.saturating_sub(1))..end);
        }
        out
    }

    /// Unified hunks with `context` lines around each change; about `most` bytes in whole lines, and the rest is
    /// counted. Lines retain their carriage returns: the diff that a person approves differs wherever the bytes differ.
    pub fn unified(&self, context: usize, most: usize) -> UnifiedDiff {
        let mut view = UnifiedDiff::default();
        for group in similar::group_diff_ops(self.ops.clone(), context) {
            if view.text.len() >= most {
                view.left_out += group.iter().map(changed_lines).sum::<usize>();
                continue;
            }
            self.hunk(&group, most, &mut view);
        }
        view
    }

    fn hunk(&self, group: &[DiffOp], most: usize, view: &mut UnifiedDiff) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
        let old = first.old_range().start..last.old_range().end;
        let new = first.new_range().start..last.new_range().end;
        let header = |range: &Range<usize>, first: usize| match range.len() {
            1 => format!("{}", range.start + first + 1),
            0 => format!("{},0", range.start + first),
            len => format!("{},{len}", range.start + first + 1),
        };
        let (old, new) = (header(&old, self.first.0), header(&new, self.first.1));
        view.text.push_str(&format!("@@ -{old} +{new} @@\n"));
        for op in group {
            if op.tag() != DiffTag::Insert {
                let sign = if op.tag() == DiffTag::Equal { ' ' } else { '-' };
                self.rows(&self.old, op.old_range(), sign, most, view);
            }
            if matches!(op.tag(), DiffTag::Insert | DiffTag::Replace) {
                self.rows(&self.new, op.new_range(), '+', most, view);
            }
            if op.tag() == DiffTag::Equal {
                view.shown.insert(op.new_range());
            }
        }
    }

    fn rows(&self, lines: &[&str], range: Range<usize>, sign: char, most: usize, view: &mut UnifiedDiff) {
        for (at, line) in lines.iter().enumerate().take(range.end).skip(range.start) {
            if view.text.len() + line.len() > most && sign != ' ' {
                view.left_out += range.end - at;
                return;
            }
            view.text.push(sign);
            match line.strip_suffix('\n') {
                Some(line) => {
                    view.text.push_str(line);
                    view.text.push('\n');
                }
                None => {
                    view.text.push_str(line);
                    view.text.push_str("\n\\ No newline at end of file\n");
                }
            }
            if sign == '+' {
                view.shown.insert(at..at + 1);
            }
        }
    }
}

/// A diff as a model reads it: without carriage returns if every line has one, and otherwise with a sign for each.
pub fn for_model(diff: &str) -> Cow<'_, str> {
    if !diff.contains("\r\n") {
        return Cow::Borrowed(diff);
    }
    let is_header = |line: &str| line.starts_with("--- ") || line.starts_with("+++ ");
    let is_content = |line: &&str| line.starts_with([' ', '+', '-']) && !is_header(line);
    let mut content = diff.split_inclusive('\n').filter(is_content);
    let mixed = content.any(|line| !line.ends_with("\r\n"));
    Cow::Owned(diff.replace("\r\n", if mixed { "␍\n" } else { "\n" }))
}

fn changed_lines(op: &DiffOp) -> usize {
    match op.tag() {
        DiffTag::Equal => 0,
        _ => op.old_range().len() + op.new_range().len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_reads_like_diff_u() {
        let diff = LineDiff::new("a\nb\nc\nd\ne\n", "a\nb\nC\nd\ne");
        assert_eq!(diff.counts(), (2, 2));
        let view = diff.unified(1, 1000);
        assert_eq!(view.text, "@@ -2,4 +2,4 @@\n b\n-c\n+C\n d\n-e\n+e\n\\ No newline at end of file\n");
        assert_eq!(view.shown, RangeSet::of(1..5));
    }

    #[test]
    fn lines_seen_before_are_found_again_where_they_went() {
        let diff = LineDiff::new("a\nb\nc\n", "new\na\nb\nx\nc\n");
        assert_eq!(diff.carry(&RangeSet::of(0..3)).to_string(), "2-3, 5");
        assert_eq!(diff.carry(&RangeSet::of(2..3)).to_string(), "5");
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let new: String = (0..1000).map(|n| format!("line {n}\n")).collect();
        let view = LineDiff::new("", &new).unified(3, 500);
        assert!(view.text.len() < 600);
        assert_eq!(view.shown.len() + view.left_out, 1000);
    }

    #[test]
    fn carriage_returns_stay_and_a_model_is_spared_the_usual_ones() {
        let text = |old: &str, new: &str| LineDiff::new(old, new).unified(3, 500).text;
        assert_eq!(text("", "a\r\n"), "@@ -0,0 +1 @@\n+a\r\n");
        assert_eq!(text("a\r\n", "a\n"), "@@ -1 +1 @@\n-a\r\n+a\n");
        assert_eq!(for_model(&text("a\r\nb\r\n", "a\r\nc\r\n")), "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
        assert_eq!(for_model(&text("a\r\n", "a\n")), "@@ -1 +1 @@\n-a␍\n+a\n");
    }

    #[test]
    fn windows_keep_the_numbers_of_the_whole() {
        let view = LineDiff::window("b\n", "B\n", 41, 41).unified(3, 500);
        assert_eq!(view.text, "@@ -42 +42 @@\n-b\n+B\n");
    }
}
