//! Searching a text while the words are typed, a slice at a time: no key waits for the whole of it.

use super::layout::PagerPosition;
use super::{PagerSource, PagerViewport};
use crate::text::width;
use crate::ui::text_field::TextField;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::text::{Line, Span};
use std::ops::Range;
use std::time::{Duration, Instant};

/// How long one slice of a search may take.
const SLICE: Duration = Duration::from_millis(8);
/// Matching lines that are counted; beyond, it says that there are more.
const COUNTED: usize = 99_999;

#[derive(Default)]
pub struct PagerSearch {
    needle: String,
    /// The line is being typed, for this.
    input: Option<PagerPrompt>,
    scan: Option<PagerSearchScan>,
    /// Matching lines, as far as they were looked for, and the block that is looked at next.
    found: Vec<(usize, usize)>,
    counted_to: Option<usize>,
    pub(super) note: Option<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum PagerPromptKind {
    Words,
    Line,
}

struct PagerPrompt {
    kind: PagerPromptKind,
    field: TextField,
    before: String,
    cursor: PagerPosition,
    top: PagerPosition,
}

/// A way through the text to the next match.
struct PagerSearchScan {
    from: PagerPosition,
    block: usize,
    back: PagerSearchDirection,
    /// Blocks left to look at, the first one twice.
    left: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum PagerSearchDirection {
    Down,
    Up,
}

/// What a key did to the line that is typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PagerPromptResult {
    /// Nothing is being typed: the key is somebody else's.
    No,
    Yes,
    /// This line is to be gone to, counted from 1.
    Goto(usize),
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
        Some(format!("/{}  {at} of {}{more} lines", self.needle, self.found.len()))
    }

    #[cfg(test)]
    pub(super) fn needle_for_tests(&mut self, needle: &str) {
        self.needle = needle.into();
    }

    /// The ranges of a text that match, by bytes.
    pub fn ranges(&self, text: &str) -> Vec<Range<usize>> {
        matches(&self.needle, text)
    }
}

/// Small letters find capitals too; with a capital in it, the needle means just that.
fn matches(needle: &str, text: &str) -> Vec<Range<usize>> {
    if needle.is_empty() {
        return Vec::new();
    }
    if needle.chars().any(char::is_uppercase) {
        return text.match_indices(needle).map(|(at, found)| at..at + found.len()).collect();
    }
    let lower = text.to_lowercase();
    // Letters whose small form has another length would shift what follows: such a text is taken as it is written.
    let hay = if lower.len() == text.len() { &lower } else { text };
    hay.match_indices(needle)
        .map(|(at, found)| at..at + found.len())
        .filter(|range| text.is_char_boundary(range.start) && text.is_char_boundary(range.end))
        .collect()
}

impl PagerViewport {
    pub fn begin_search(&mut self) {
        self.begin(PagerPromptKind::Words);
    }

    pub fn begin_goto(&mut self) {
        self.begin(PagerPromptKind::Line);
    }

    fn begin(&mut self, kind: PagerPromptKind) {
        let before = self.search.needle.clone();
        self.search.note = None;
        let (cursor, top, field) = (self.cursor, self.top, TextField::default());
        self.search.input = Some(PagerPrompt { kind, field, before, cursor, top });
    }

    /// Gives a key to the line that is being typed, if one is.
    pub fn typed<S: PagerSource + ?Sized>(&mut self, source: &S, key: KeyEvent) -> PagerPromptResult {
        self.search.note = None;
        let Some(input) = &mut self.search.input else { return PagerPromptResult::No };
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Enter => return self.accept(source),
            KeyCode::Esc => self.abandon(source),
            KeyCode::Char('c' | 'g') if control => self.abandon(source),
            KeyCode::Backspace if input.field.is_empty() => self.abandon(source),
            _ if input.field.key(key) => self.retype(source),
            _ => {}
        }
        PagerPromptResult::Yes
    }

    /// Adds a paste to the line that is being typed.
    pub fn pasted<S: PagerSource + ?Sized>(&mut self, source: &S, text: &str) {
        if let Some(input) = &mut self.search.input {
            input.field.insert(text);
            self.retype(source);
        }
    }

    fn accept<S: PagerSource + ?Sized>(&mut self, source: &S) -> PagerPromptResult {
        let Some(input) = self.search.input.take() else { return PagerPromptResult::No };
        let text = input.field.text();
        match (input.kind, text.trim().parse::<usize>()) {
            (PagerPromptKind::Line, Ok(line)) => return PagerPromptResult::Goto(line),
            (PagerPromptKind::Line, Err(_)) if text.trim().is_empty() => {}
            (PagerPromptKind::Line, Err(_)) => {
                self.search.note = Some(format!("not a line number: `{text}`"))
            }
            // As in less: Enter alone goes on with what was looked for before.
            (PagerPromptKind::Words, _) if text.is_empty() => {
                self.search.needle = input.before;
                self.find_next(source);
            }
            (PagerPromptKind::Words, _) => {}
        }
        PagerPromptResult::Yes
    }

    fn abandon<S: PagerSource + ?Sized>(&mut self, source: &S) {
        let Some(input) = self.search.input.take() else { return };
        self.search.needle = input.before;
        (self.cursor, self.top) = (input.cursor, input.top);
        self.search.scan = None;
        self.count_anew();
        self.settle(source);
    }

    fn retype<S: PagerSource + ?Sized>(&mut self, source: &S) {
        let Some(input) = &self.search.input else { return };
        if input.kind == PagerPromptKind::Line {
            return;
        }
        let (cursor, top) = (input.cursor, input.top);
        self.search.needle = input.field.text().into();
        (self.cursor, self.top) = (cursor, top);
        self.count_anew();
        self.scan_from(source, cursor, PagerSearchDirection::Down);
    }

    fn count_anew(&mut self) {
        self.search.found.clear();
        self.search.counted_to = (!self.search.needle.is_empty()).then_some(0);
    }

    pub fn find_next<S: PagerSource + ?Sized>(&mut self, source: &S) {
        let from = PagerPosition { line: self.cursor.line + 1, row: 0, ..self.cursor };
        self.scan_from(source, from, PagerSearchDirection::Down);
    }

    pub fn find_previous<S: PagerSource + ?Sized>(&mut self, source: &S) {
        self.scan_from(source, self.cursor, PagerSearchDirection::Up);
    }

    fn scan_from<S: PagerSource + ?Sized>(
        &mut self,
        source: &S,
        from: PagerPosition,
        back: PagerSearchDirection,
    ) {
        self.search.note = None;
        if self.search.needle.is_empty() {
            self.search.scan = None;
            self.settle(source);
            return;
        }
        let left = source.blocks() + 1;
        self.search.scan = Some(PagerSearchScan { from, block: from.block, back, left });
        self.advance(source);
    }

    /// Looks on for a while; true when the picture changed by it.
    pub fn tick<S: PagerSource + ?Sized>(&mut self, source: &S) -> bool {
        if self.search.scan.is_some() {
            return self.advance(source);
        }
        self.count(source)
    }

    fn advance<S: PagerSource + ?Sized>(&mut self, source: &S) -> bool {
        let started = Instant::now();
        let blocks = source.blocks();
        while let Some(scan) = &mut self.search.scan {
            if scan.left == 0 || blocks == 0 {
                self.search.scan = None;
                self.search.note = Some(format!("no match for `{}`", self.search.needle));
                return true;
            }
            let first = scan.left > blocks;
            let (block, back, from) = (scan.block.min(blocks - 1), scan.back, scan.from);
            scan.left -= 1;
            scan.block = match back {
                PagerSearchDirection::Down if block + 1 < blocks => block + 1,
                PagerSearchDirection::Down => 0,
                PagerSearchDirection::Up => block.checked_sub(1).unwrap_or(blocks - 1),
            };
            let text = source.plain(block);
            let hit = |line: &&(usize, &String)| !matches(&self.search.needle, line.1).is_empty();
            let lines = text.iter().enumerate().collect::<Vec<_>>();
            let found = match back {
                PagerSearchDirection::Down => {
                    lines.iter().find(|line| (!first || line.0 >= from.line) && hit(line))
                }
                PagerSearchDirection::Up => {
                    lines.iter().rev().find(|line| (!first || line.0 < from.line) && hit(line))
                }
            };
            if let Some((line, text)) = found {
                let at = PagerPosition::of(block, *line);
                let column = matches(&self.search.needle, text).first().map_or(0, |r| r.start);
                let column = width::of(text.get(..column).unwrap_or(""));
                self.search.scan = None;
                self.show_match(source, at, column);
                return true;
            }
            if started.elapsed() > SLICE {
                return false;
            }
        }
        false
    }

    fn show_match<S: PagerSource + ?Sized>(&mut self, source: &S, at: PagerPosition, column: usize) {
        source.reveal(at.block);
        self.to(source, at);
        match self.wrap {
            super::WrapMode::Rows => {
                // The row of the line that has the match in it, about: words may have moved it by one.
                let row = column / self.columns.max(1);
                self.to(source, PagerPosition { row, ..at });
            }
            super::WrapMode::Cut if column < self.left || column + 4 > self.left + self.columns => {
                self.left = column.saturating_sub(self.columns / 3);
            }
            super::WrapMode::Cut => {}
        }
    }

    fn count<S: PagerSource + ?Sized>(&mut self, source: &S) -> bool {
        let started = Instant::now();
        let Some(mut block) = self.search.counted_to else { return false };
        while block < source.blocks() && self.search.found.len() < COUNTED && started.elapsed() < SLICE {
            for (line, text) in source.plain(block).iter().enumerate() {
                if !matches(&self.search.needle, text).is_empty() {
                    self.search.found.push((block, line));
                }
            }
            block += 1;
        }
        let over = block >= source.blocks() || self.search.found.len() >= COUNTED;
        self.search.counted_to = (!over).then_some(block);
        true
    }
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
