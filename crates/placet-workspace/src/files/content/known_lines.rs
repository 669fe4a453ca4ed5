//! What is known of the lines of a content: the shown lines, and the lines that others changed since.

use super::lines_by_turn::ShownAt;
use crate::{Hash, LineIndex, LinesByTurn};
use placet_text::text::{DetectedEncoding, LineDiff, RangeSet};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownLines {
    pub seen: RangeSet,
    /// Lines that others changed, or next to which they removed some, and that were not shown after that.
    pub foreign: RangeSet,
    /// Bytes of the content that were shown of lines that were not shown whole: a page, or what a search shows around a
    /// match.
    pub parts: RangeSet,
}

/// Lines of a large file as they were shown, and the turn and the message in which that was; 0 where it is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenWindow {
    pub lines: Range<usize>,
    pub hash: Hash,
    pub turn: u32,
    pub message: u32,
}

/// What of a file the model has seen as it is now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenLines {
    pub lines: RangeSet,
    pub turns: LinesByTurn,
}

/// A run of lines that another run replaces. placet's own edit uses it to move the seen lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineEdit {
    pub old: Range<usize>,
    pub new_len: usize,
}

impl KnownLines {
    /// The same lines after these edits, and the lines that the edits wrote.
    pub fn through(&self, edits: &[LineEdit]) -> (KnownLines, RangeSet) {
        let (mut after, mut written) = (KnownLines::default(), RangeSet::new());
        let (mut old_at, mut new_at) = (0, 0);
        let mut keep = |range: Range<usize>, to: usize| {
            after.seen.extend(&self.seen.moved(&range, to));
            after.foreign.extend(&self.foreign.moved(&range, to));
        };
        for edit in edits {
            let same = old_at..edit.old.start.max(old_at);
            keep(same.clone(), new_at);
            new_at += same.len();
            // An edit in a line of which only parts are known writes a part of it: see `parts_through`.
            if self.parts.is_empty() || self.seen.covers(&edit.old) {
                written.insert(new_at..new_at + edit.new_len);
            }
            new_at += edit.new_len;
            old_at = edit.old.end.max(old_at);
        }
        keep(old_at..usize::MAX, new_at);
        (after, written)
    }

    /// The parts after these byte ranges were replaced by so many bytes, which count as shown.
    pub fn parts_through(&self, changes: &[(Range<usize>, usize)]) -> RangeSet {
        let mut after = RangeSet::new();
        let (mut old_at, mut new_at) = (0, 0);
        for (range, put) in changes {
            let same = old_at..range.start.max(old_at);
            after.extend(&self.parts.moved(&same, new_at));
            new_at += same.len();
            after.insert(new_at..new_at + put);
            (old_at, new_at) = (range.end, new_at + put);
        }
        after.extend(&self.parts.moved(&(old_at..usize::MAX), new_at));
        after
    }

    /// The lines that must have been shown for an edit of these bytes: a line of which the bytes in question were shown
    /// is not among them.
    pub fn needed(&self, index: &LineIndex, spans: &[Range<usize>]) -> Vec<Range<usize>> {
        let lines = spans.iter().map(|span| (index.lines_of(span), span));
        if self.parts.is_empty() {
            return lines.map(|(lines, _)| lines).collect();
        }
        let of_span = |(lines, span): (Range<usize>, &Range<usize>)| {
            let is_known = |line: &usize| {
                let bytes = index.bytes_of(&(*line..*line + 1));
                self.parts.covers(&(span.start.max(bytes.start)..span.end.min(bytes.end)))
            };
            let mut needed = RangeSet::new();
            lines.filter(|line| !is_known(line)).for_each(|line| needed.insert(line..line + 1));
            needed.ranges().collect::<Vec<_>>()
        };
        lines.flat_map(of_span).collect()
    }
}

/// How a file that was read differs from what is there now.
#[derive(Debug)]
pub struct StaleRead {
    /// The content that was seen, if it is stored.
    pub old: Option<Arc<Vec<u8>>>,
    /// Lines of the present content that were seen before and are unchanged.
    pub carried: RangeSet,
    /// Lines of the present content that others changed, or next to which they removed some.
    pub foreign: RangeSet,
    /// All target lines are unchanged.
    pub intact: bool,
}

impl StaleRead {
    pub(in crate::files) fn of(
        old: Option<Arc<Vec<u8>>>,
        (lines, foreign): (&RangeSet, &RangeSet),
        content: &[u8],
        targets: &[Range<usize>],
    ) -> StaleRead {
        let texts = old.as_ref().and_then(|old| Some((as_text(old)?, as_text(content)?)));
        let (carried, foreign) = match &texts {
            Some((old, new)) => {
                let diff = LineDiff::new(old, new);
                let mut changed = diff.altered();
                changed.extend(&diff.carry(foreign));
                (diff.carry(lines), changed)
            }
            // Without the old content, placet cannot know which lines are still the same.
            None => (RangeSet::new(), RangeSet::of(0..line_count(content))),
        };
        let intact = texts.is_some() && targets.iter().all(|t| carried.covers(t));
        StaleRead { old, carried, foreign, intact }
    }
}

fn line_count(content: &[u8]) -> usize {
    as_text(content).map_or(0, |text| text.split_inclusive('\n').count())
}

/// The windows whose lines are the same as when they were shown.
pub(in crate::files) fn intact_windows<'a>(
    windows: &[SeenWindow],
    line_bytes: impl Fn(&Range<usize>) -> &'a [u8],
) -> RangeSet {
    let mut lines = RangeSet::new();
    let intact = windows.iter().filter(|window| blake3::hash(line_bytes(&window.lines)) == window.hash);
    intact.for_each(|window| lines.insert(window.lines.clone()));
    lines
}

/// The seen lines of the old content that are unchanged in the new content, and when they were shown.
pub(in crate::files) fn carried(
    old: Option<&[u8]>,
    new: &[u8],
    lines: &RangeSet,
    shown: &ShownAt,
) -> (RangeSet, ShownAt) {
    let Some((old, new)) = old.and_then(|old| Some((as_text(old)?, as_text(new)?))) else {
        return Default::default();
    };
    let diff = LineDiff::new(&old, &new);
    let mut shown = shown.clone();
    shown.keep(|of| diff.carry(of));
    (diff.carry(lines), shown)
}

fn as_text(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let detected = DetectedEncoding::of(bytes).ok()?;
    Some(detected.encoding.decode(bytes.get(detected.mark..)?))
}
