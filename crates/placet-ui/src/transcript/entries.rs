//! The entries as a text to be scrolled: lines made once, folds, and the thread that colours code.

use super::entry::{TranscriptContent, TranscriptEntry};
use super::render::{self, FoldState, HighlightStatus};
use crate::Theme;
use crate::pager::{PagerPosition, PagerSource, RowFocus};
use crate::worker::Worker;
use ratatui::text::{Line, Span};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// Entries whose lines are cached.
const KEPT: usize = 256;

pub(super) struct TranscriptEntries<'m> {
    pub(super) all: Vec<TranscriptEntry<'m>>,
    folds: Vec<FoldState>,
    /// Unfolded only because a search found something in it.
    peek: Cell<Option<usize>>,
    pub(super) columns: usize,
    /// The entry that keys act on.
    pub(super) current: usize,
    theme: Theme,
    cache: RefCell<HashMap<usize, Rc<Vec<Line<'static>>>>>,
    coloured: HashMap<usize, Vec<Line<'static>>>,
    colouring: Worker<AnswerHighlightJob, ColouredAnswer>,
    /// Answers that are being coloured.
    awaited: RefCell<Vec<usize>>,
}

/// An answer that is to be coloured, or was: its place, the width and what it is about.
struct AnswerHighlightJob {
    at: usize,
    columns: usize,
    text: String,
}

/// Its place, the width and its lines.
type ColouredAnswer = (usize, usize, Vec<Line<'static>>);

impl<'m> TranscriptEntries<'m> {
    pub(super) fn new(all: Vec<TranscriptEntry<'m>>, theme: &Theme) -> TranscriptEntries<'m> {
        let fold = |entry: &TranscriptEntry<'_>| match entry.what {
            TranscriptContent::Person(_) | TranscriptContent::Answer(..) => FoldState::Open,
            TranscriptContent::Attached(_) | TranscriptContent::Thinking(_) | TranscriptContent::Call(..) => {
                FoldState::Closed
            }
        };
        TranscriptEntries {
            folds: all.iter().map(fold).collect(),
            current: all.len().saturating_sub(1),
            all,
            peek: Cell::new(None),
            columns: 80,
            colouring: highlighter(theme.clone()),
            theme: theme.clone(),
            cache: RefCell::default(),
            coloured: HashMap::new(),
            awaited: RefCell::default(),
        }
    }

    pub(super) fn resize(&mut self, columns: usize) {
        if self.columns != columns {
            self.columns = columns;
            self.cache.borrow_mut().clear();
            self.coloured.clear();
        }
    }

    pub(super) fn fold(&self, at: usize) -> FoldState {
        match self.folds.get(at) {
            Some(FoldState::Closed) if self.peek.get() != Some(at) => FoldState::Closed,
            _ => FoldState::Open,
        }
    }

    pub(super) fn toggle(&mut self, at: usize) {
        let now = match self.fold(at) {
            FoldState::Open => FoldState::Closed,
            FoldState::Closed => FoldState::Open,
        };
        if self.peek.get() == Some(at) {
            self.peek.set(None);
        }
        if let Some(fold) = self.folds.get_mut(at) {
            *fold = now;
        }
        self.cache.borrow_mut().remove(&at);
    }

    /// Folds everything, or unfolds everything where all of it is folded.
    pub(super) fn toggle_all(&mut self) {
        let all_closed = self.folds.iter().all(|fold| *fold == FoldState::Closed);
        self.folds.fill(if all_closed { FoldState::Open } else { FoldState::Closed });
        self.peek.set(None);
        self.cache.borrow_mut().clear();
    }

    /// Receives coloured answers; true when there is something new.
    pub(super) fn tick(&mut self) -> bool {
        let mut news = false;
        // Without the thread, code stays plain.
        while let Some(Ok((at, columns, lines))) = self.colouring.poll() {
            self.awaited.get_mut().retain(|awaited| *awaited != at);
            if columns == self.columns {
                if self.coloured.len() >= KEPT {
                    self.coloured.clear();
                }
                self.coloured.insert(at, lines);
                self.cache.borrow_mut().remove(&at);
                news = true;
            }
        }
        news
    }

    pub(super) fn is_busy(&self) -> bool {
        self.colouring.is_busy()
    }

    fn body(&self, at: usize, entry: &TranscriptEntry<'_>) -> Vec<Line<'static>> {
        if let Some(lines) = self.coloured.get(&at) {
            return lines.clone();
        }
        if let TranscriptContent::Answer(_, text) = entry.what
            && text.contains("```")
        {
            self.ask_for_colours(at, text);
        }
        render::body(entry, HighlightStatus::NotYet, &self.theme, self.columns)
    }

    fn ask_for_colours(&self, at: usize, text: &str) {
        let mut awaited = self.awaited.borrow_mut();
        if !awaited.contains(&at) {
            awaited.push(at);
            self.colouring.send(AnswerHighlightJob { at, columns: self.columns, text: text.to_string() });
        }
    }
}

fn highlighter(theme: Theme) -> Worker<AnswerHighlightJob, ColouredAnswer> {
    Worker::each("colours", move |job: AnswerHighlightJob| {
        (job.at, job.columns, render::answer(&job.text, HighlightStatus::Known, &theme, job.columns))
    })
}

impl PagerSource for TranscriptEntries<'_> {
    fn blocks(&self) -> usize {
        self.all.len()
    }

    fn lines(&self, block: usize) -> Rc<Vec<Line<'static>>> {
        if let Some(lines) = self.cache.borrow().get(&block) {
            return Rc::clone(lines);
        }
        let Some(entry) = self.all.get(block) else { return Rc::default() };
        let lines = render::lines(
            entry,
            self.all.get(block + 1),
            self.fold(block),
            || self.body(block, entry),
            &self.theme,
        );
        let lines = Rc::new(lines);
        let mut cache = self.cache.borrow_mut();
        if cache.len() >= KEPT {
            cache.clear();
        }
        cache.insert(block, Rc::clone(&lines));
        lines
    }

    fn plain(&self, block: usize) -> Vec<String> {
        let Some(entry) = self.all.get(block) else { return Vec::new() };
        let body = || render::body(entry, HighlightStatus::NotYet, &self.theme, self.columns);
        render::lines(entry, self.all.get(block + 1), FoldState::Open, body, &self.theme)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    fn reveal(&self, block: usize) {
        if let Some(before) = self.peek.replace(Some(block)) {
            self.cache.borrow_mut().remove(&before);
        }
        self.cache.borrow_mut().remove(&block);
    }

    fn gutter_width(&self) -> u16 {
        2
    }

    fn gutter(&self, at: PagerPosition, under: RowFocus) -> Line<'static> {
        let sign = match under {
            RowFocus::Here => "❯ ",
            RowFocus::Elsewhere if at.block == self.current => "│ ",
            RowFocus::Elsewhere => "  ",
        };
        Line::from(Span::styled(sign, self.theme.style("key")))
    }
}
