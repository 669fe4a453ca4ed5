//! What a question is about, row by row, and which of its rows were on the screen.
//!
//! A row counts as seen when it was drawn, and what was cut off never does.

use super::confirmation::not_shown;
use super::{AnyQuestion, PaneQuestion};
use crate::agent::UserPrompt;
use crate::text::{RangeSet, visible};
use crate::tools::{ChangeOverview, DisplayDetail};
use crate::ui::theme::Theme;
use crate::ui::{margin_mark, picture, verbatim};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

/// Rows of the end of a call that are in view from the start.
pub(super) const TAIL: usize = 2;

/// The body at one width.
#[derive(Default)]
pub(super) struct QuestionRows {
    pub(super) rows: Vec<Line<'static>>,
    /// Where each file's part begins, with its number.
    files: Vec<(usize, usize)>,
}

/// The body as last laid out: at so many columns, and whether it is the reasons.
#[derive(Default)]
pub(super) struct QuestionRowsCache(RefCell<Option<(usize, bool, Rc<QuestionRows>)>>);

/// The rows that were drawn, at one width.
#[derive(Default)]
pub(super) struct SeenQuestionRows {
    rows: RangeSet,
    of: usize,
}

/// What of the body is on the screen.
pub(super) struct QuestionWindow {
    pub(super) head: Range<usize>,
    pub(super) tail: Range<usize>,
}

impl PaneQuestion {
    /// What of `total` rows is shown where `fits` of them fit.
    pub(super) fn window(&self, total: usize, fits: usize) -> QuestionWindow {
        let scroll = self.scroll.min(total.saturating_sub(fits));
        let is_call = matches!(self.asked, AnyQuestion::Call(_));
        if is_call && scroll == 0 && total > fits && fits > 2 * TAIL {
            return QuestionWindow { head: 0..fits - TAIL, tail: total - TAIL..total };
        }
        QuestionWindow { head: scroll..scroll + fits.min(total), tail: total..total }
    }

    /// Takes down what is on the screen.
    pub(super) fn record_seen(&mut self, total: usize, fits: usize) {
        if self.shows_why {
            return;
        }
        // Laid out at another width, rows are other rows. What was wholly seen stays seen.
        if self.seen.of != total && !self.seen_end {
            self.seen = SeenQuestionRows { rows: RangeSet::new(), of: total };
        }
        let QuestionWindow { head, tail } = self.window(total, fits);
        self.seen.rows.insert(head);
        self.seen.rows.insert(tail);
        let cut = self.is_cut();
        self.seen_end |= !cut && self.seen.rows.covers(&(0..total));
    }

    /// Something of it is not here to be seen.
    fn is_cut(&self) -> bool {
        match &self.asked {
            AnyQuestion::Call(question) => {
                matches!(&question.preview.detail, DisplayDetail::Diff(diff) if diff.left_out > 0)
            }
            _ => self.overview().is_some_and(|overview| overview.files.iter().any(|f| f.left_out > 0)),
        }
    }

    fn overview(&self) -> Option<&ChangeOverview> {
        match &self.asked {
            AnyQuestion::Choice(question) => match &question.detail {
                DisplayDetail::Changes(overview) => Some(overview),
                _ => None,
            },
            _ => None,
        }
    }

    /// What was not shown, by file: `src/a.rs (12 rows), b.bin (70000 bytes)`; empty where that is not known.
    pub(super) fn unseen(&self) -> String {
        let (Some(overview), Some((_, _, body))) = (self.overview(), &*self.body.0.borrow()) else {
            return String::new();
        };
        let rows = |file: usize| {
            let Some(at) = body.files.iter().position(|(_, number)| *number == file) else { return 0 };
            let from = body.files.get(at).map_or(0, |part| part.0);
            let end = body.files.get(at + 1).map_or(body.rows.len(), |next| next.0);
            RangeSet::of(from..end).without(&self.seen.rows).len()
        };
        not_shown(overview, rows)
    }

    /// Everything that is asked about, wrapped to rows.
    pub(super) fn body(&self, theme: &Theme, columns: usize) -> Rc<QuestionRows> {
        if let Some((at, why, rows)) = &*self.body.0.borrow()
            && (*at, *why) == (columns, self.shows_why)
        {
            return Rc::clone(rows);
        }
        let rows = Rc::new(self.laid_out(theme, columns));
        *self.body.0.borrow_mut() = Some((columns, self.shows_why, Rc::clone(&rows)));
        rows
    }

    fn laid_out(&self, theme: &Theme, columns: usize) -> QuestionRows {
        let text = Style::default();
        let lines = match &self.asked {
            AnyQuestion::Call(question) if self.shows_why => {
                verbatim::lines(question.why.trim_end_matches('\n'), text, theme)
            }
            AnyQuestion::Call(question) => lines_of(&question.preview.detail, theme),
            AnyQuestion::Choice(question) => match &question.detail {
                DisplayDetail::Changes(overview) => return changes(overview, theme, columns),
                detail => lines_of(detail, theme),
            },
            AnyQuestion::Enquiry(question) => {
                return QuestionRows { rows: choices_of(question, theme, columns), files: Vec::new() };
            }
            AnyQuestion::Loop(_) => Vec::new(),
        };
        let rows = lines.iter().flat_map(|line| verbatim::wrap(line, columns, theme)).collect();
        QuestionRows { rows, files: Vec::new() }
    }
}

fn lines_of(detail: &DisplayDetail, theme: &Theme) -> Vec<Line<'static>> {
    match detail {
        DisplayDetail::Diff(diff) => verbatim::diff(diff.text.as_bytes(), theme),
        DisplayDetail::Text(text) => verbatim::lines(text, Style::default(), theme),
        DisplayDetail::Image(image) => vec![Line::raw(picture::chip(image))],
        DisplayDetail::Changes(overview) => {
            overview.files.iter().flat_map(|f| verbatim::diff(&f.patch, theme)).collect()
        }
        DisplayDetail::None => Vec::new(),
    }
}

fn changes(overview: &ChangeOverview, theme: &Theme, columns: usize) -> QuestionRows {
    let row = |row: &String| Line::raw(format!("{}{}", margin_mark::UNDER, visible::guard_line(row)));
    let listed = overview.list.iter().map(row);
    let wrap = |line: &Line<'static>| verbatim::wrap(line, columns, theme);
    let mut out = QuestionRows { rows: listed.flat_map(|line| wrap(&line)).collect(), files: Vec::new() };
    for (at, file) in overview.files.iter().enumerate() {
        out.files.push((out.rows.len(), at));
        out.rows.push(Line::default());
        out.rows.extend(verbatim::diff(&file.patch, theme).iter().flat_map(wrap));
        if file.left_out > 0 {
            let words = format!(
                "  {} more bytes of {} are not shown: `placet changes --patch` shows them",
                file.left_out, file.name
            );
            out.rows.extend(wrap(&Line::styled(words, theme.style("warning"))));
        }
    }
    out
}

/// The choices with their digits, wrapped to rows.
fn choices_of(question: &UserPrompt, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let row = |(at, words): (usize, &String)| {
        let digit = Span::styled((at + 1).to_string(), theme.style("key"));
        Line::from(vec![digit, Span::raw(format!(" {}", visible::line(words)))])
    };
    question.choices.iter().enumerate().map(row).flat_map(|line| margin_mark::under(&line, columns)).collect()
}
