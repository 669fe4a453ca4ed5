//! From replaced bytes to lines: reports an edit as line edits and as a small diff.

use crate::DiffText;
use placet_text::text::{LineDiff, RangeSet};
use placet_workspace::{LineEdit, LineIndex, TextFile};
use std::ops::Range;

/// How many lines around a change a diff shows.
const CONTEXT: usize = 3;

/// One run of changed lines, in the old file and in the new.
#[derive(Clone, Debug, PartialEq, Eq)]
struct EditSpan {
    old: Range<usize>,
    new: Range<usize>,
}

/// The effect of an edit.
#[derive(Debug)]
pub(crate) struct EditEffect {
    pub(crate) added: usize,
    pub(crate) removed: usize,
    pub(crate) diff: DiffText,
    /// Lines of the new file that `diff` shows.
    pub(crate) shown: RangeSet,
    pub(crate) edits: Vec<LineEdit>,
}

impl EditEffect {
    /// `changes` are byte ranges of `old` and the lengths of their replacements; `most` limits the diff in bytes.
    pub(crate) fn of(
        old: &TextFile,
        new: &TextFile,
        changes: &[(Range<usize>, usize)],
        most: usize,
    ) -> EditEffect {
        let (old_index, new_index) = (old.index(), new.index());
        let blocks = blocks(&old_index, &new_index, changes);
        let edits = blocks.iter().map(|b| LineEdit { old: b.old.clone(), new_len: b.new.len() }).collect();
        let mut effect =
            EditEffect { added: 0, removed: 0, diff: DiffText::default(), shown: RangeSet::new(), edits };
        let mut left_out = 0;
        for window in windows(&blocks, old_index.len(), new_index.len()) {
            let text = |file: &TextFile, index: &LineIndex, lines: &Range<usize>| {
                file.encoding().decode(file.part(index.bytes_of(lines))).into_owned()
            };
            let before = text(old, &old_index, &window.old);
            let after = text(new, &new_index, &window.new);
            let diff = LineDiff::window(&before, &after, window.old.start, window.new.start);
            let (added, removed) = diff.counts();
            (effect.added, effect.removed) = (effect.added + added, effect.removed + removed);
            if effect.diff.text.len() >= most {
                left_out += added + removed;
                continue;
            }
            let view = diff.unified(CONTEXT, most - effect.diff.text.len());
            effect.diff.text.push_str(&view.text);
            effect.shown.extend(&view.shown.moved(&(0..usize::MAX), window.new.start));
            left_out += view.left_out;
        }
        if left_out > 0 {
            effect.diff.text.push_str(&format!("[... {left_out} more changed lines]\n"));
            effect.diff.left_out = left_out;
        }
        effect
    }
}

/// True if both contents have the same bytes outside of `changes`.
pub(crate) fn same_outside(old: &[u8], new: &[u8], changes: &[(Range<usize>, usize)]) -> bool {
    let (mut old_at, mut new_at) = (0, 0);
    for (range, put) in changes {
        let kept = range.start.saturating_sub(old_at);
        if old.get(old_at..range.start) != new.get(new_at..new_at + kept) {
            return false;
        }
        old_at = range.end;
        new_at += kept + put;
    }
    old.get(old_at..) == new.get(new_at..)
}

/// Whole lines around each change, joined if they meet. Both sides of a block end with the same line.
fn blocks(old: &LineIndex, new: &LineIndex, changes: &[(Range<usize>, usize)]) -> Vec<EditSpan> {
    let mut out: Vec<EditSpan> = Vec::new();
    let mut shift = 0isize;
    for (range, put) in changes {
        let at = range.start.saturating_add_signed(shift);
        shift += isize::try_from(*put).unwrap_or(0) - isize::try_from(range.len()).unwrap_or(0);
        let touched = |index: &LineIndex, from: usize, to: usize| index.line_of(from)..index.line_of(to) + 1;
        let block = EditSpan { old: touched(old, range.start, range.end), new: touched(new, at, at + put) };
        match out.last_mut() {
            Some(last) if block.old.start < last.old.end => {
                last.old.end = last.old.end.max(block.old.end);
                last.new.end = last.new.end.max(block.new.end);
            }
            _ => out.push(block),
        }
    }
    // The part after the last line end was counted as a line; an empty part is not a line.
    for block in &mut out {
        let clamp = |range: &Range<usize>, len: usize| range.start.min(len)..range.end.min(len);
        *block = EditSpan { old: clamp(&block.old, old.len()), new: clamp(&block.new, new.len()) };
    }
    out
}

/// The blocks with their context, joined if the contexts overlap.
fn windows(blocks: &[EditSpan], old_len: usize, new_len: usize) -> Vec<EditSpan> {
    let mut out: Vec<EditSpan> = Vec::new();
    for block in blocks {
        let before = CONTEXT.min(block.old.start).min(block.new.start);
        let wide = EditSpan {
            old: block.old.start - before..(block.old.end + CONTEXT).min(old_len),
            new: block.new.start - before..(block.new.end + CONTEXT).min(new_len),
        };
        match out.last_mut() {
            Some(last) if wide.old.start <= last.old.end => {
                last.old.end = wide.old.end;
                last.new.end = wide.new.end;
            }
            _ => out.push(wide),
        }
    }
    out
}

#[cfg(test)]
#[path = "edit_spans_tests.rs"]
mod tests;
