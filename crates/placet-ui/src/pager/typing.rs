//! Searching a text while the words are typed, a slice at a time: no key waits for the whole search. And the line that
//! is typed: words, or the number of a line.

use super::scroll::{PagerViewport, WrapMode};
use super::search::{PagerPrompt, PagerPromptKind, PagerSearchDirection, PagerSearchScan, matches};
use super::source::{PagerPosition, PagerSource};
use crate::text_field::TextField;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use placet_text::text::width;
use std::time::{Duration, Instant};

/// How long one slice of a search may take.
const SLICE: Duration = Duration::from_millis(8);
/// Matching lines that are counted; beyond this number, the pager only shows that there are more.
const COUNTED: usize = 99_999;

/// What a key did to the line that is typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PagerPromptResult {
    /// Nothing is being typed: the key is for another part.
    No,
    Yes,
    /// This line is to be gone to, counted from 1.
    Goto(usize),
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
            // As in less: Enter alone repeats the last search.
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
        self.fit(source);
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
            self.fit(source);
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
            WrapMode::Rows => {
                // The row of the line that has the match in it, about: words may have moved it by one.
                let row = column / self.columns.max(1);
                self.to(source, PagerPosition { row, ..at });
            }
            WrapMode::Cut if column < self.left || column + 4 > self.left + self.columns => {
                self.left = column.saturating_sub(self.columns / 3);
            }
            WrapMode::Cut => {}
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
