//! The row of keys below a question.

use super::any_question::AnyQuestion;
use super::confirmation::second_words;
use super::pane_question::{PaneQuestion, QuestionFocus};
use crate::agent::UserPrompt;
use crate::text::sanitize;
use crate::ui::theme::Theme;
use ratatui::text::{Line, Span};

impl PaneQuestion {
    /// The answer that is typed, or how to give one.
    fn answer_row(&self, question: &UserPrompt, theme: &Theme) -> Line<'static> {
        if let Some(typed) = &self.typing {
            let text = if typed.is_empty() {
                "your answer; Esc goes back"
            } else {
                "your answer; Enter sends it, Esc goes back"
            };
            return Line::styled(text, theme.style("question"));
        }
        let key = |k: String| Span::styled(k, theme.style("key"));
        let mut spans = match question.choices.len() {
            0 => vec![Span::raw("type an answer  ")],
            1 => vec![key("1".into()), Span::raw(" chooses it, or type an answer  ")],
            n => vec![key(format!("1-{n}")), Span::raw(" chooses, or type an answer  ")],
        };
        spans.extend([key("Esc".into()), Span::raw(" leaves it open")]);
        Line::from(spans)
    }

    /// Where keys go, what has to be confirmed, and the keys that answer. The last are always there.
    pub(super) fn keys(&self, theme: &Theme, ready: bool, focus: QuestionFocus) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        if focus == QuestionFocus::Draft {
            lines.push(Line::styled(
                "typing goes to your draft; Tab switches to the question",
                theme.style("warning"),
            ));
        } else if let Some(text) = self.confirmation() {
            lines.push(Line::styled(text, theme.style("warning")));
        } else if let (Some(_), AnyQuestion::Call(question)) = (&self.typing, &self.asked) {
            let wanted = question.typed.as_deref().unwrap_or_default();
            let text = format!("type `{wanted}` and Enter to allow it, Esc goes back");
            return vec![Line::styled(sanitize::line(&text).into_owned(), theme.style("warning"))];
        }
        let mut row = match &self.asked {
            AnyQuestion::Enquiry(question) => self.answer_row(question, theme),
            _ => self.answers(theme),
        };
        if self.reminds && focus == QuestionFocus::Question {
            row.spans.insert(0, Span::styled("these keys answer: ", theme.style("warning")));
        }
        if focus == QuestionFocus::Question {
            row.spans.extend([Span::styled("  Tab", theme.style("key")), Span::raw(" your draft")]);
            row.spans.extend(waiting(theme, ready));
        }
        lines.push(row);
        lines
    }

    /// What the key that was pressed once would do.
    fn confirmation(&self) -> Option<String> {
        let key = self.confirmed?;
        Some(match &self.asked {
            AnyQuestion::Choice(q) => {
                let choice = q.choices.iter().find(|choice| choice.key == key)?;
                second_words(choice, &self.unseen(), &format!("press {key}"), "key")
            }
            _ => format!("not all of it was shown: press {key} again to allow it unseen"),
        })
    }

    fn answers(&self, theme: &Theme) -> Line<'static> {
        let key = |k: &'static str| Span::styled(k, theme.style("key"));
        if let AnyQuestion::Choice(question) = &self.asked {
            let mut spans = Vec::new();
            for choice in &question.choices {
                spans.push(Span::styled(choice.key.to_string(), theme.style("key")));
                spans.push(Span::raw(format!(" {}  ", choice.words)));
            }
            if let Some(last) = spans.last_mut() {
                last.content = last.content.trim_end().to_string().into();
            }
            if self.changes.is_some() {
                let list = if self.shows_patch { " the list" } else { " the patch" };
                if !self.shows_patch {
                    spans.extend([Span::raw("  "), key("Space"), Span::raw(" open or close")]);
                }
                spans.extend([Span::raw("  "), key("p"), Span::raw(list)]);
            }
            return Line::from(spans);
        }
        let mut spans = vec![key("y"), Span::raw(" yes  "), key("n"), Span::raw(" no  ")];
        if let AnyQuestion::Call(question) = &self.asked {
            if let Some(grant) = &question.always {
                let what = sanitize::line(&grant.describe()).into_owned();
                spans.extend([key("a"), Span::raw(format!(" always: {what}  "))]);
            }
            if let Some(grant) = &question.pattern {
                let what = sanitize::line(&grant.describe()).into_owned();
                spans.extend([key("p"), Span::raw(format!(" always: {what}  "))]);
            }
            spans.extend([key("v"), Span::raw(" never  ")]);
            if !question.why.is_empty() {
                let what = if self.body.shows_why { " the call  " } else { " why  " };
                spans.extend([key("w"), Span::raw(what)]);
            }
        }
        spans.extend([key("Esc"), Span::raw(" stop the turn")]);
        Line::from(spans)
    }
}

/// What stands behind the keys while they do not count yet.
fn waiting(theme: &Theme, ready: bool) -> Option<Span<'static>> {
    let words = "  (a moment: keys are accepted after half a second without typing)";
    (!ready).then(|| Span::styled(words, theme.style("hint")))
}
