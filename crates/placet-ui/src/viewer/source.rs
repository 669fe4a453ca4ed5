//! A file's blocks as styled lines with their gutter: numbers, what the model has seen, who wrote what.

use super::provenance::ProvenanceState;
use super::text::ViewerText;
use crate::Theme;
use crate::highlight::{HighlightDocId, SyntaxHighlighter};
use crate::pager::{PagerPosition, PagerSource, RowFocus};
use placet_text::text::visible::{CONTINUED, LineBreaks, VisibleMode, VisiblePieceKind, pieces};
use placet_text::text::{sanitize, width};
use placet_workspace::SeenLines;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// Columns for who wrote a line.
const WHO: usize = 22;
/// In a long run of lines that were seen together, the turn is repeated every so many lines.
const TURN_AGAIN: usize = 10;
/// Blocks whose lines are cached.
const KEPT: usize = 64;

/// Columns of the cursor where lines have no numbers.
const CURSOR: u16 = 2;

/// Whether the column of who wrote what is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProvenanceColumn {
    Hidden,
    Shown,
}

/// Whether lines have numbers: those of a file, and not those of a text of placet's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineNumbers {
    Shown,
    Hidden,
}

pub(super) struct ViewerLines {
    pub(super) text: ViewerText,
    pub(super) seen: SeenLines,
    pub(super) who: ProvenanceState,
    pub(super) column: ProvenanceColumn,
    pub(super) numbers: LineNumbers,
    name: String,
    theme: Theme,
    tint: RefCell<SyntaxHighlighter>,
    /// One document where the text is in memory, else one for each block.
    docs: RefCell<HashMap<usize, HighlightDocId>>,
    cache: RefCell<HashMap<usize, Rc<Vec<Line<'static>>>>>,
}

impl ViewerLines {
    pub(super) fn new(text: ViewerText, name: &str, theme: &Theme) -> ViewerLines {
        ViewerLines {
            text,
            seen: SeenLines::default(),
            who: ProvenanceState::Unknown,
            column: ProvenanceColumn::Hidden,
            numbers: LineNumbers::Shown,
            name: name.into(),
            theme: theme.clone(),
            tint: RefCell::new(SyntaxHighlighter::new(theme)),
            docs: RefCell::default(),
            cache: RefCell::default(),
        }
    }

    pub(super) fn line_of(&self, at: PagerPosition) -> usize {
        self.text.first_line(at.block) + at.line
    }

    pub(super) fn place_of(&self, line: usize) -> PagerPosition {
        let (block, line) = self.text.place_of(line);
        PagerPosition::of(block, line)
    }

    /// Receives colours; true when there are new ones.
    pub(super) fn tick(&mut self) -> bool {
        let news = self.tint.get_mut().poll();
        if news {
            self.cache.get_mut().clear();
        }
        self.who.take_in() || news
    }

    pub(super) fn is_busy(&self) -> bool {
        self.tint.borrow().is_busy() || self.who.is_coming()
    }

    /// The document that colours a block, and the line of it where the block begins.
    fn doc(&self, block: usize, raw: &[String]) -> (HighlightDocId, usize) {
        let mut docs = self.docs.borrow_mut();
        let key = if self.text.memory().is_some() { 0 } else { block };
        let first = if self.text.memory().is_some() { self.text.first_line(block) } else { 0 };
        if let Some(doc) = docs.get(&key) {
            return (*doc, first);
        }
        let mut tint = self.tint.borrow_mut();
        if docs.len() >= KEPT {
            docs.drain().for_each(|(_, doc)| tint.remove(doc));
        }
        let doc = match self.text.memory() {
            Some(text) => tint.add(text.clone(), &self.name),
            None => tint.add(raw.join("\n").into(), &self.name),
        };
        docs.insert(key, doc);
        (doc, first)
    }

    fn digits(&self) -> usize {
        // While lines are still counted, room for as many as there may be.
        let most = if self.text.is_whole() {
            self.text.line_count()
        } else {
            usize::try_from(self.text.size() / 8).unwrap_or(0)
        };
        most.max(999).to_string().len()
    }

    /// Columns for the turn in which lines were seen.
    fn turn_width(&self) -> usize {
        self.seen.turns.last().map_or(0, |turn| turn.to_string().len())
    }

    /// The turn in which a line was seen, where another one was for the line above.
    fn turn(&self, line: usize, row: usize) -> String {
        let wide = self.turn_width();
        let turn = self.seen.turns.of(line);
        let above = line.checked_sub(1).and_then(|above| self.seen.turns.of(above));
        match turn.filter(|_| row == 0 && (turn != above || line.is_multiple_of(TURN_AGAIN))) {
            Some(turn) => format!("{turn:>wide$}"),
            None => " ".repeat(wide),
        }
    }

    fn who_width(&self) -> usize {
        if self.column == ProvenanceColumn::Shown { WHO } else { 0 }
    }
}

impl PagerSource for ViewerLines {
    fn blocks(&self) -> usize {
        self.text.blocks()
    }

    fn lines(&self, block: usize) -> Rc<Vec<Line<'static>>> {
        if let Some(lines) = self.cache.borrow().get(&block) {
            return Rc::clone(lines);
        }
        let raw = self.text.lines(block);
        let (doc, first) = self.doc(block, &raw);
        let tint = self.tint.borrow();
        tint.want(doc, first..first + raw.len());
        let within = self.text.is_within(block);
        let stray = self.text.stray_lines(block);
        let line = |(at, line): (usize, &String)| match stray.get(&at) {
            Some(bytes) => exact(bytes),
            // The colours are known from the beginning of the line on.
            None if within && at == 0 => styled(line, &[]),
            None => styled(line, tint.line(doc, first + at).unwrap_or(&[])),
        };
        let mut lines = raw.iter().enumerate().map(line).collect::<Vec<_>>();
        if block + 1 == self.text.blocks() && self.text.is_unended() {
            let words = Span::styled("  (no line end)", self.theme.style("hint"));
            lines.last_mut().into_iter().for_each(|line| line.spans.push(words.clone()));
        }
        let lines = Rc::new(lines);
        let mut cache = self.cache.borrow_mut();
        if cache.len() >= KEPT {
            cache.clear();
        }
        cache.insert(block, Rc::clone(&lines));
        lines
    }

    fn plain(&self, block: usize) -> Vec<String> {
        let stray = self.text.stray_lines(block);
        let line = |(at, line): (usize, &String)| match stray.get(&at) {
            Some(bytes) => exact(bytes).to_string(),
            None => styled(line, &[]).to_string(),
        };
        self.text.lines(block).iter().enumerate().map(line).collect()
    }

    fn gutter_width(&self) -> u16 {
        if self.numbers == LineNumbers::Hidden {
            return CURSOR;
        }
        u16::try_from(self.turn_width() + self.digits() + self.who_width() + 4).unwrap_or(12)
    }

    fn gutter(&self, at: PagerPosition, under: RowFocus) -> Line<'static> {
        let line = self.line_of(at);
        let (digits, who) = (self.digits(), self.who_width());
        let sign = if under == RowFocus::Here { "❯" } else { " " };
        if self.numbers == LineNumbers::Hidden {
            return Line::from(vec![Span::styled(sign, self.theme.style("key")), Span::raw(" ")]);
        }
        let seen = if self.seen.lines.covers(&(line..line + 1)) { "▎" } else { " " };
        let goes_on = at.line == 0 && self.text.is_within(at.block);
        let number = match at.row == 0 {
            true if goes_on => format!("{CONTINUED:>digits$}"),
            true => format!("{:>digits$}", line + 1),
            false => " ".repeat(digits),
        };
        let number_style = if under == RowFocus::Here { "key" } else { "gutter" };
        let mut spans = vec![
            Span::styled(sign, self.theme.style("key")),
            Span::styled(self.turn(line, at.row), self.theme.style("seen")),
            Span::styled(seen, self.theme.style("seen")),
            Span::styled(number, self.theme.style(number_style)),
        ];
        if who > 0 {
            let words = if at.row == 0 && !goes_on { self.who.of(line) } else { "" };
            let words = width::cut(&sanitize::line(words), who - 1);
            let pad = " ".repeat(who.saturating_sub(1 + width::of(&words)));
            spans.push(Span::styled(format!(" {words}{pad}"), self.theme.style("dim")));
        }
        spans.push(Span::raw("  "));
        Line::from(spans)
    }
}

/// A line of a file without colours, byte for byte: what is not text in it is written as `<FF>`.
pub fn exact(bytes: &[u8]) -> Line<'static> {
    let pieces = pieces(bytes, VisibleMode::Exact, LineBreaks::Shown, &[]);
    Line::from(pieces.into_iter().map(|piece| Span::raw(piece.text)).collect::<Vec<_>>())
}

/// A line of a file in its colours. Nothing is left out: an invisible character is shown as a sign.
pub fn styled(raw: &str, colours: &[(Range<usize>, Style)]) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut colours = colours.iter().peekable();
    for piece in pieces(raw.as_bytes(), VisibleMode::Exact, LineBreaks::Shown, &[]) {
        if piece.kind != VisiblePieceKind::Plain {
            spans.push(Span::raw(piece.text));
            continue;
        }
        let mut at = piece.bytes.start;
        while at < piece.bytes.end {
            while colours.next_if(|(range, _)| range.end <= at).is_some() {}
            let (end, style) = match colours.peek() {
                Some((range, style)) if range.start <= at => (range.end, *style),
                Some((range, _)) => (range.start, Style::default()),
                None => (piece.bytes.end, Style::default()),
            };
            let end = end.min(piece.bytes.end);
            spans.push(Span::styled(raw.get(at..end).unwrap_or("").to_string(), style));
            at = end;
        }
    }
    Line::from(spans)
}
