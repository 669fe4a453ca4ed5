//! The state of a search: the searched text, its matches so far, and the line that is being typed for it.

use super::source::PagerPosition;
use crate::text_field::TextField;
use ratatui::text::{Line, Span};
use std::ops::Range;

#[derive(Default)]
pub struct PagerSearch {
    pub(super) needle: String,
    /// The line is being typed, for this.
    pub(super) input: Option<PagerPrompt>,
    pub(super) scan: Option<PagerSearchScan>,
    /// Matching lines found so far, and the block to search next.
    pub(super) found: Vec<(usize, usize)>,
    pub(super) counted_to: Option<usize>,
    pub(super) note: Option<String>,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum PagerPromptKind {
    Words,
    Line,
}

pub(super) struct PagerPrompt {
    pub(super) kind: PagerPromptKind,
    pub(super) field: TextField,
    pub(super) before: String,
    pub(super) cursor: PagerPosition,
    pub(super) top: PagerPosition,
}

/// A way through the text to the next match.
pub(super) struct PagerSearchScan {
    pub(super) from: PagerPosition,
    pub(super) block: usize,
    pub(super) back: PagerSearchDirection,
    /// Blocks left to look at, the first one twice.
    pub(super) left: usize,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum PagerSearchDirection {
    Down,
    Up,
}

impl PagerSearch {
    /// True while there is more to look through.
    pub fn is_busy(&self) -> bool {
        self.scan.is_some() || self.counted_to.is_some()
    }

    pub fn needle(&self) -> &str {
        &self.needle
    }

    /// The line that is being typed, as much of it as fits into `columns`, and the cursor's column.
    pub fn typed(&self, columns: usize) -> Option<(String, usize)> {
        let input = self.input.as_ref()?;
        let lead = if input.kind == PagerPromptKind::Words { "/" } else { "line: " };
        let (text, at) = input.field.view(columns.saturating_sub(lead.len()));
        Some((format!("{lead}{text}"), lead.len() + at))
    }

    /// What the last row says of the search: the match the cursor is at.
    pub fn words(&self, cursor: PagerPosition) -> Option<String> {
        if let Some(note) = &self.note {
            return Some(note.clone());
        }
        if self.needle.is_empty() {
            return None;
        }
        let at = self.found.partition_point(|found| *found <= (cursor.block, cursor.line));
        let more = if self.counted_to.is_some() { "+" } else { "" };
        let found = self.found.len();
        let words = match at {
            // The cursor is above the first match.
            0 => format!("{found}{more} {}", if found == 1 { "match" } else { "matches" }),
            at => format!("match {at} of {found}{more}"),
        };
        Some(format!("/{}  {words}", self.needle))
    }

    /// The ranges of a text that match, by bytes.
    pub fn ranges(&self, text: &str) -> Vec<Range<usize>> {
        matches(&self.needle, text)
    }
}

/// Small letters find capitals too; with a capital in it, the needle means just that.
pub(super) fn matches(needle: &str, text: &str) -> Vec<Range<usize>> {
    if needle.is_empty() {
        return Vec::new();
    }
    if needle.chars().any(char::is_uppercase) {
        return text.match_indices(needle).map(|(at, found)| at..at + found.len()).collect();
    }
    let lower = text.to_lowercase();
    // Letters whose lower case has another length would shift the positions: such a text is searched as it is.
    let hay = if lower.len() == text.len() { &lower } else { text };
    hay.match_indices(needle)
        .map(|(at, found)| at..at + found.len())
        .filter(|range| text.is_char_boundary(range.start) && text.is_char_boundary(range.end))
        .collect()
}

/// `line` with `style` laid over its matches.
pub(super) fn marked(
    line: Line<'static>,
    search: &PagerSearch,
    style: ratatui::style::Style,
) -> Line<'static> {
    let text = line.to_string();
    let ranges = search.ranges(&text);
    if ranges.is_empty() {
        return line;
    }
    let mut out: Vec<Span<'static>> = Vec::new();
    let mut at = 0;
    for span in line.spans {
        let mut cuts: Vec<usize> = ranges.iter().flat_map(|r| [r.start, r.end]).collect();
        cuts.retain(|cut| *cut > at && *cut < at + span.content.len());
        cuts.push(at + span.content.len());
        let mut from = at;
        for cut in cuts {
            let piece = span.content.get(from - at..cut - at).unwrap_or("").to_string();
            let within = ranges.iter().any(|r| r.start <= from && cut <= r.end);
            let own = if within { span.style.patch(style) } else { span.style };
            out.push(Span::styled(piece, own));
            from = cut;
        }
        at += span.content.len();
    }
    Line { spans: out, style: line.style, alignment: line.alignment }
}
