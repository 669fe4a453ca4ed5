//! A question to the person: shown whole, and answered only by a key that was meant for it.
//!
//! A key counts when the question has been drawn, when nothing was typed for half a second before it, and when it is
//! no paste. What hides below the fold must be seen, or the answer given twice.

mod answer;
mod body;
mod confirmation;
mod key_row;

pub(super) use answer::{QuestionFocus, QuestionKeyKind, QuestionOutcome};
pub(super) use confirmation::{is_given_twice, left_out, second_words};

use super::super::theme::Theme;
use crate::agent::{ApprovalReply, ApprovalRequest, ChoiceQuestion, LoopQuestion, UserPrompt};
use crate::text::visible;
use crate::ui::margin_mark;
use crate::ui::paste::PasteStore;
use crate::ui::scrollback;
use crate::ui::text_field::TextField;
use crate::ui::verbatim;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

pub(super) enum AnyQuestion {
    Call(Box<ApprovalRequest>),
    Loop(LoopQuestion),
    Choice(ChoiceQuestion),
    Enquiry(UserPrompt),
}

pub(super) struct PaneQuestion {
    asked: AnyQuestion,
    scroll: usize,
    /// The rows of the body and how many of them fit, as last drawn.
    rows: usize,
    fits: usize,
    seen: body::SeenQuestionRows,
    /// All of it was on the screen at some time.
    seen_end: bool,
    body: body::QuestionRowsCache,
    /// The key that was pressed once and has to be pressed again: rows were unseen, or there is no way back.
    confirmed: Option<char>,
    /// The last key was no answer: the keys that are stand out.
    reminds: bool,
    /// The body is how the call was judged, and not the call.
    shows_why: bool,
    /// The answer to the model's question, or the word that allows a call, once its first key was pressed.
    typing: Option<TextField>,
    /// Where the long pastes of an answer are.
    pastes: PasteStore,
}

impl PaneQuestion {
    pub(super) fn new(asked: AnyQuestion, pastes: PasteStore) -> PaneQuestion {
        PaneQuestion {
            asked,
            scroll: 0,
            rows: 0,
            fits: 0,
            seen: body::SeenQuestionRows::default(),
            seen_end: false,
            body: body::QuestionRowsCache::default(),
            confirmed: None,
            reminds: false,
            shows_why: false,
            typing: None,
            pastes,
        }
    }

    /// What is being typed at the question.
    pub(super) fn typed(&self) -> Option<&TextField> {
        self.typing.as_ref()
    }

    /// The answer to the model's own question, as far as it is typed. A word that allows a call is no such answer: it
    /// must be typed by hand.
    pub(super) fn answer_field(&mut self) -> Option<&mut TextField> {
        self.typing.as_mut().filter(|_| matches!(self.asked, AnyQuestion::Enquiry(_)))
    }

    pub(super) fn drawn(&mut self, rows: usize, fits: usize) {
        (self.rows, self.fits) = (rows, fits);
        self.scroll = self.scroll.min(rows.saturating_sub(fits));
        self.record_seen(rows, fits);
    }

    pub(super) fn cancel(self) {
        match self.asked {
            AnyQuestion::Call(question) => drop(question.reply.send(ApprovalReply::Cancel)),
            AnyQuestion::Loop(question) => drop(question.reply.send(false)),
            AnyQuestion::Choice(_) | AnyQuestion::Enquiry(_) => {}
        }
    }

    /// What is asked, and why.
    fn head(&self, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
        let (question, notice) = (theme.style("question"), theme.style("notice"));
        let exactly = |lead: &str, text: &str, style: Style| {
            let mut line = verbatim::line(lead, text.as_bytes(), style, theme);
            if let Some(rest) = lead.strip_prefix(margin_mark::LEAD) {
                line.spans.splice(..1, [margin_mark::lead(theme), Span::styled(rest.to_string(), style)]);
            }
            verbatim::wrap(&line, columns, theme)
        };
        let own = |text: &str, style: Style| {
            let text = Line::styled(visible::guard_line(text).into_owned(), style);
            margin_mark::rows(&text, columns, theme)
        };
        match &self.asked {
            AnyQuestion::Call(q) => {
                let mut head = exactly(&format!("{}Allow? ", margin_mark::LEAD), &q.preview.line, question);
                head.extend(exactly("  asks because: ", &q.reason, notice));
                head
            }
            AnyQuestion::Choice(q) => {
                let mut head = own(&q.title, question);
                let reason = visible::guard_line(&q.reason).into_owned();
                head.extend(margin_mark::under(&Line::styled(reason, notice), columns));
                head
            }
            AnyQuestion::Enquiry(q) => {
                let text = q.question.trim_end();
                let lead = |at: usize| match at {
                    0 => format!("{}the model asks: ", margin_mark::LEAD),
                    _ => margin_mark::UNDER.into(),
                };
                text.split('\n').enumerate().flat_map(|(at, l)| exactly(&lead(at), l, question)).collect()
            }
            AnyQuestion::Loop(q) => {
                let text = format!("{} was called {} times with the same result. Continue?", q.tool, q.times);
                let mut head = own(&text, question);
                let spent = format!("this turn has cost {} so far", scrollback::tokens(&q.spent));
                head.extend(margin_mark::under(&Line::styled(spent, notice), columns));
                head
            }
        }
    }

    /// The rows of the question in a pane of `columns`, with at most `room` rows; and the figures for [`PaneQuestion::drawn`].
    pub(super) fn rows(
        &self,
        theme: &Theme,
        columns: usize,
        room: usize,
        ready: bool,
        focus: QuestionFocus,
    ) -> (Vec<Line<'static>>, usize, usize) {
        let head = self.head(theme, columns);
        let keys: Vec<Line<'static>> = self
            .keys(theme, ready, focus)
            .iter()
            .flat_map(|line| margin_mark::under(line, columns))
            .collect();
        let body = self.body(theme, columns);
        let total = body.rows.len();
        let fits = room.saturating_sub(head.len() + keys.len() + 1).max(1).min(total);
        let body::QuestionWindow { head: first, tail } = self.window(total, fits);
        let hidden = total - first.end - tail.len();
        let part = |range: std::ops::Range<usize>| body.rows.get(range).unwrap_or_default().iter().cloned();
        let mut rows = head;
        rows.extend(part(first));
        if hidden > 0 {
            let s = if hidden == 1 { "" } else { "s" };
            let text = format!("{hidden} line{s} hidden: Down and PageDown show more");
            rows.push(margin_mark::line(Line::styled(text, theme.style("warning")), theme));
        }
        rows.extend(part(tail));
        rows.extend(keys);
        (rows, total, fits)
    }
}
