//! The choices of a question that is answered with text: a row for each with its number, and the mark on one of them.

use super::any_question::AnyQuestion;
use super::pane_question::PaneQuestion;
use crate::colors::theme::Theme;
use crate::lines::margin_mark;
use placet_text::text::visible;
use ratatui::text::{Line, Span};
use std::ops::Range;

/// All choices as rows of the screen.
pub(super) struct ChoiceRows {
    pub(super) rows: Vec<Line<'static>>,
    /// Those of the marked one.
    marked: Range<usize>,
}

impl ChoiceRows {
    /// As many of the rows as fit, with the marked ones among them.
    pub(super) fn window(&self, fits: usize) -> Range<usize> {
        let from = self.marked.end.saturating_sub(fits).min(self.marked.start);
        from..(from + fits).min(self.rows.len())
    }
}

impl PaneQuestion {
    pub(super) fn choice_rows(&self, theme: &Theme, columns: usize) -> Option<ChoiceRows> {
        let AnyQuestion::Enquiry(question) = &self.asked else { return None };
        let mut out = ChoiceRows { rows: Vec::new(), marked: 0..0 };
        for (at, words) in question.choices.iter().enumerate() {
            let is_marked = at == self.keys.mark();
            let number = Span::styled((at + 1).to_string(), theme.style("key"));
            let (open, close) = if is_marked { ("[", "] ") } else { (" ", "  ") };
            let words = visible::line(words).into_owned();
            let mut line = Line::from(vec![Span::raw(open), number, Span::raw(close), Span::raw(words)]);
            if is_marked {
                line.spans.iter_mut().for_each(|span| span.style = theme.selected(span.style));
            }
            let from = out.rows.len();
            out.rows.extend(margin_mark::under(&line, columns));
            if is_marked {
                out.marked = from..out.rows.len();
            }
        }
        Some(out)
    }
}
