//! What a question is about, row by row, and which of its rows were on the screen.
//!
//! A row counts as seen when it was drawn, and what was cut off never does.

use super::any_question::AnyQuestion;
use super::confirmation::{UnseenParts, UnseenRows, not_shown};
use crate::colors::theme::Theme;
use crate::lines::{margin_mark, verbatim};
use crate::{picture, scrollback};
use crossterm::event::KeyCode;
use placet_text::text::{RangeSet, visible};
use placet_tools::{ChangeOverview, DisplayDetail, MatchedText};
use placet_workspace::ListedChange;
use ratatui::style::Style;
use ratatui::text::Line;
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

/// Rows of the end of a call that are in view from the start.
const TAIL: usize = 2;

/// The body at one width.
#[derive(Default)]
pub(super) struct QuestionRows {
    pub(super) rows: Vec<Line<'static>>,
    /// Where each file's part begins, with its number.
    files: Vec<(usize, usize)>,
}

/// What a question is about, and how far it was looked at.
#[derive(Default)]
pub(super) struct QuestionBody {
    scroll: usize,
    /// The rows and how many of them fit, as last drawn.
    rows: usize,
    fits: usize,
    /// The rows that were drawn, at the width that has so many of them.
    seen: RangeSet,
    seen_of: usize,
    /// All of it was on the screen at some time.
    pub(super) seen_end: bool,
    /// The rows are how the call was judged, and not the call.
    pub(super) shows_why: bool,
    /// As last laid out: at so many columns, and whether it is the reasons.
    laid_out: RefCell<Option<(usize, bool, Rc<QuestionRows>)>>,
}

/// What of the body is on the screen.
pub(super) struct QuestionWindow {
    pub(super) head: Range<usize>,
    pub(super) tail: Range<usize>,
}

impl QuestionBody {
    /// Scrolls; false where there is nothing further.
    pub(super) fn scroll_key(&mut self, key: KeyCode) -> bool {
        // The end of a call is in view from the start: a page is what is above it.
        let page = self.fits.saturating_sub(1 + TAIL).max(1);
        let most = self.rows.saturating_sub(self.fits);
        let to = match key {
            KeyCode::Down => self.scroll + 1,
            KeyCode::Up => self.scroll.saturating_sub(1),
            KeyCode::PageDown => self.scroll + page,
            KeyCode::PageUp => self.scroll.saturating_sub(page),
            _ => return false,
        };
        std::mem::replace(&mut self.scroll, to.min(most)) != self.scroll
    }

    /// Shows how the call was judged, or the call again.
    pub(super) fn toggle_why(&mut self) {
        self.shows_why = !self.shows_why;
        self.scroll = 0;
    }

    /// `fits` of `rows` rows are on the screen now; they count as seen if the picture `stands`.
    pub(super) fn drawn(&mut self, asked: &AnyQuestion, rows: usize, fits: usize, stands: bool) {
        (self.rows, self.fits) = (rows, fits);
        self.scroll = self.scroll.min(rows.saturating_sub(fits));
        if self.shows_why || !stands {
            return;
        }
        // Laid out at another width, rows are other rows. What was wholly seen stays seen.
        if self.seen_of != rows && !self.seen_end {
            (self.seen, self.seen_of) = (RangeSet::new(), rows);
        }
        let QuestionWindow { head, tail } = self.window(asked, rows, fits);
        self.seen.insert(head);
        self.seen.insert(tail);
        self.seen_end |= !asked.is_cut() && self.seen.covers(&(0..rows));
    }

    /// What of `total` rows is shown where `fits` of them fit.
    pub(super) fn window(&self, asked: &AnyQuestion, total: usize, fits: usize) -> QuestionWindow {
        let scroll = self.scroll.min(total.saturating_sub(fits));
        let is_call = matches!(asked, AnyQuestion::Call(_));
        if is_call && scroll == 0 && total > fits && fits > 2 * TAIL {
            return QuestionWindow { head: 0..fits - TAIL, tail: total - TAIL..total };
        }
        QuestionWindow { head: scroll..scroll + fits.min(total), tail: total..total }
    }

    /// What was not shown, by file; empty where that is not known. At most `most` files are named.
    pub(super) fn unseen(&self, asked: &AnyQuestion, most: usize) -> UnseenParts {
        let (Some(overview), Some((_, _, body))) = (asked.overview(), &*self.laid_out.borrow()) else {
            return UnseenParts::default();
        };
        let rows = |file: usize| {
            let Some(at) = body.files.iter().position(|(_, number)| *number == file) else {
                return UnseenRows::default();
            };
            let from = body.files.get(at).map_or(0, |part| part.0);
            let end = body.files.get(at + 1).map_or(body.rows.len(), |next| next.0);
            UnseenRows { rows: RangeSet::of(from..end).without(&self.seen).len(), other_files: 0 }
        };
        not_shown(overview, most, rows)
    }

    /// Everything that is asked about, wrapped to rows.
    pub(super) fn laid_out(&self, asked: &AnyQuestion, theme: &Theme, columns: usize) -> Rc<QuestionRows> {
        if let Some((at, why, rows)) = &*self.laid_out.borrow()
            && (*at, *why) == (columns, self.shows_why)
        {
            return Rc::clone(rows);
        }
        let rows = Rc::new(self.lay_out(asked, theme, columns));
        *self.laid_out.borrow_mut() = Some((columns, self.shows_why, Rc::clone(&rows)));
        rows
    }

    fn lay_out(&self, asked: &AnyQuestion, theme: &Theme, columns: usize) -> QuestionRows {
        let text = Style::default();
        let lines = match asked {
            AnyQuestion::Call(question) if self.shows_why => {
                verbatim::lines(question.why.trim_end_matches('\n'), text, theme)
            }
            AnyQuestion::Call(question) => match &question.preview.detail {
                DisplayDetail::Command(command) => {
                    let lines = verbatim::lines(&command.words_below(&question.reason), text, theme);
                    let wrap = |line: &Line<'static>| verbatim::wrap_at_words(line, columns, theme);
                    return QuestionRows { rows: lines.iter().flat_map(wrap).collect(), files: Vec::new() };
                }
                detail => lines_of(detail, theme),
            },
            AnyQuestion::Choice(question) => match &question.detail {
                DisplayDetail::Changes(overview) => return changes(overview, theme, columns),
                detail => lines_of(detail, theme),
            },
            // The choices have rows of their own.
            AnyQuestion::Enquiry(_) | AnyQuestion::Loop(_) => Vec::new(),
        };
        // The lines of a difference are compared below each other; a text is read.
        let is_read = self.shows_why || matches!(asked.detail(), Some(DisplayDetail::Text(_)));
        let wrap = if is_read { verbatim::wrap_at_words } else { verbatim::wrap };
        let rows = lines.iter().flat_map(|line| wrap(line, columns, theme)).collect();
        QuestionRows { rows, files: Vec::new() }
    }
}

fn lines_of(detail: &DisplayDetail, theme: &Theme) -> Vec<Line<'static>> {
    match detail {
        DisplayDetail::Diff(diff) => verbatim::diff(diff.text.as_bytes(), theme),
        DisplayDetail::Text(text)
        | DisplayDetail::Report(text)
        | DisplayDetail::Matches(MatchedText { text, .. }) => verbatim::lines(text, Style::default(), theme),
        DisplayDetail::Image(image) => vec![Line::raw(picture::chip(image))],
        DisplayDetail::Changes(overview) => {
            overview.files.iter().flat_map(|f| verbatim::diff(&f.patch, theme)).collect()
        }
        DisplayDetail::Command(_) | DisplayDetail::None => Vec::new(),
    }
}

fn changes(overview: &ChangeOverview, theme: &Theme, columns: usize) -> QuestionRows {
    let row =
        |row: &ListedChange| Line::raw(format!("{}{}", margin_mark::UNDER, visible::guard_line(&row.line())));
    let listed = overview.list.iter().map(row);
    let wrap = |line: &Line<'static>| verbatim::wrap(line, columns, theme);
    let listed =
        listed.flat_map(|line| verbatim::wrap_below(&line, 2 * margin_mark::UNDER.len(), columns, theme));
    let mut out = QuestionRows { rows: listed.collect(), files: Vec::new() };
    for (at, file) in overview.files.iter().enumerate() {
        out.files.push((out.rows.len(), at));
        out.rows.push(Line::default());
        out.rows.extend(verbatim::diff(&file.patch, theme).iter().flat_map(wrap));
        out.rows.extend(scrollback::left_out(file, theme).iter().flat_map(wrap));
    }
    out
}
