//! The row of answers below a question: one of them is marked, and the row says whether Enter takes it.
//!
//! The mark is `[...]`, which is seen without colour. While there is text on the line the answers are dim, because Enter sends
//! the text.

use super::answer_use::{Answer, AnswerUse, OnceMoreReason, QuestionStage};
use super::any_question::AnyQuestion;
use super::confirmation::{NAMED, NAMED_NARROW, unseen_words};
use super::pane_question::PaneQuestion;
use super::question_keys::TextBegun;
use crate::colors::theme::Theme;
use placet_agent::{MessageUse, PromptAsker};
use placet_text::text::sanitize;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Columns below which a question is narrow.
const NARROW: usize = 75;

/// Between two answers, and before the words about Enter.
const BETWEEN: &str = " · ";
const BEFORE_HINT: &str = "   ";

/// Enter counts. The words while it does not yet are as long: nothing moves when it does.
const READY: &str = "Enter answers";
const NOT_READY: &str = "a moment ... ";
/// There is text on the line.
const SENDS: &str = "Enter sends your text · Esc clears it";
/// A text at a permission question is a no with its reason.
const REFUSES: &str = "Enter refuses and sends your text · Esc clears it";
/// A program gets it by hand.
const COPIES: &str = "Enter copies your text · Esc clears it";
/// The same where nobody would get it.
const NO_READER: &str = "text is no answer here · Esc clears it";
/// The same at a question one of whose answers asks for a message.
const MESSAGE_BY_ANSWER: &str = "text is no answer here · Esc clears it, then s takes a message";

/// What the line below the question has, and what Enter does with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::turn_pane) enum LineState {
    /// It is empty, and Enter takes the marked answer, or will in a moment.
    Empty {
        counts: bool,
    },
    Text,
    /// The same, and the status row says what Enter does.
    TextSaidBelow,
    /// It has text that nobody would get.
    TextWithoutReader,
}

/// An answer as it is drawn.
type AnswerSpans = Vec<Span<'static>>;

/// Puts answers next to each other, in as many rows as they need: a row ends between two answers.
fn flowing(parts: Vec<(&'static str, AnswerSpans)>, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut rows: Vec<Line<'static>> = Vec::new();
    for (gap, part) in parts {
        let wide: usize = part.iter().map(Span::width).sum();
        let gap = Span::styled(gap, theme.style("hint"));
        match rows.last_mut().filter(|row| row.width() + gap.width() + wide <= columns) {
            Some(row) => {
                row.spans.push(gap);
                row.spans.extend(part);
            }
            None => rows.push(Line::from(part)),
        }
    }
    rows
}

fn capitalized(words: &str) -> String {
    let words = sanitize::line(words);
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// An answer, with the letter that moves the mark to it in the style of a key.
fn drawn(answer: &Answer, is_marked: bool, is_dim: bool, theme: &Theme) -> AnswerSpans {
    let words = capitalized(&answer.words);
    let style = |style: Style| match (is_dim, is_marked) {
        (true, _) => theme.style("dim"),
        (false, true) => theme.selected(style),
        (false, false) => style,
    };
    let at = words.char_indices().find(|(_, c)| c.eq_ignore_ascii_case(&answer.letter));
    let (before, rest) = words.split_at(at.map_or(words.len(), |(at, _)| at));
    let (letter, after) = rest.split_at(at.map_or(0, |(_, c)| c.len_utf8()));
    let text = style(theme.style("text"));
    let parts = [(before, text), (letter, style(theme.style("key"))), (after, text)];
    let parts = parts.iter().filter(|(part, _)| !part.is_empty());
    let parts = parts.map(|(part, style)| Span::styled((*part).to_string(), *style));
    match is_marked {
        true => {
            std::iter::once(Span::styled("[", text)).chain(parts).chain([Span::styled("]", text)]).collect()
        }
        false => parts.collect(),
    }
}

impl PaneQuestion {
    /// What has to be read before an answer, the answers, and what Enter does.
    pub(super) fn answer_rows(&self, theme: &Theme, columns: usize, line: LineState) -> Vec<Line<'static>> {
        let mut rows: Vec<Line<'static>> = Vec::new();
        rows.extend(self.warning(columns).map(|words| Line::styled(words, theme.style("warning"))));
        let is_dim = !matches!(line, LineState::Empty { .. });
        let answers = if matches!(self.asked, AnyQuestion::Enquiry(_)) { Vec::new() } else { self.answers() };
        let each = answers.iter().enumerate();
        let mut parts: Vec<(&'static str, AnswerSpans)> = each
            .map(|(at, answer)| (BETWEEN, drawn(answer, at == self.keys.mark(), is_dim, theme)))
            .collect();
        let hint = theme.style("hint");
        parts.extend(self.other_ways().into_iter().map(|words| (BETWEEN, vec![Span::styled(words, hint)])));
        let (words, style) = match line {
            LineState::Empty { .. } if self.answers().is_empty() => ("", hint),
            LineState::Empty { counts: true } => (READY, hint),
            LineState::Empty { counts: false } => (NOT_READY, theme.style("dim")),
            LineState::TextSaidBelow => ("", hint),
            LineState::Text => (self.sends(), theme.style("question")),
            LineState::TextWithoutReader => (self.without_reader(), theme.style("warning")),
        };
        if !words.is_empty() {
            parts.push((BEFORE_HINT, vec![Span::styled(words, style)]));
        }
        rows.extend(flowing(parts, columns, theme));
        rows
    }

    /// What Enter does with a text.
    pub(in crate::turn_pane) fn sends(&self) -> &'static str {
        let is_copied = |asker| matches!(asker, PromptAsker::Placet(MessageUse::Copied));
        match &self.asked {
            AnyQuestion::Enquiry(question) if is_copied(question.asker) => COPIES,
            AnyQuestion::Call(question) if question.takes_reason && !self.begun_before() => REFUSES,
            _ => SENDS,
        }
    }

    /// What to do with a text that nobody would get.
    fn without_reader(&self) -> &'static str {
        let sends = |answer: &Answer| answer.letter == 's' && matches!(answer.does, AnswerUse::Choice(_));
        match self.asked.overview().is_some() && self.answers().iter().any(sends) {
            true => MESSAGE_BY_ANSWER,
            false => NO_READER,
        }
    }

    /// The text was begun before the question: it is the next message.
    pub(in crate::turn_pane) fn begun_before(&self) -> bool {
        self.keys.begun() == TextBegun::BeforeQuestion
    }

    /// The answers that are no part of the row: a text, and Esc.
    fn other_ways(&self) -> Vec<&'static str> {
        match &self.asked {
            AnyQuestion::Enquiry(question) => {
                let leave = match question.asker {
                    PromptAsker::Model => "Esc leaves it open",
                    PromptAsker::Placet(_) => "Esc goes back",
                    PromptAsker::Server => "Esc declines",
                };
                let text = match (question.asker, question.choices.is_empty()) {
                    (PromptAsker::Placet(_), true) => "type a message",
                    (PromptAsker::Placet(_), false) => "or type a message",
                    (_, true) => "type an answer",
                    (_, false) => "or type an answer",
                };
                vec![text, leave]
            }
            _ if self.stage == QuestionStage::Word => vec!["Esc goes back"],
            _ => Vec::new(),
        }
    }

    /// Why nothing was done yet, or what is asked once more.
    fn warning(&self, columns: usize) -> Option<String> {
        let named = if columns < NARROW { NAMED_NARROW } else { NAMED };
        match &self.stage {
            _ if self.unmet.is_some() => self.unmet.clone(),
            QuestionStage::OnceMore(_, OnceMoreReason::Discards) => {
                Some("this throws the changes away: go ahead?".into())
            }
            QuestionStage::OnceMore(_, OnceMoreReason::Unseen) if self.is_all_seen() => {
                Some("all of it is shown now: go ahead?".into())
            }
            QuestionStage::OnceMore(_, OnceMoreReason::Unseen) => Some(unseen_words(&self.unseen(named))),
            QuestionStage::Word => {
                let word = self.word().unwrap_or_default();
                Some(sanitize::line(&format!("type `{word}` and Enter to allow it")).into_owned())
            }
            QuestionStage::Answers | QuestionStage::More => None,
        }
    }
}
