//! The row of keys below a question.

use super::answer::REASON;
use super::any_question::AnyQuestion;
use super::confirmation::{NAMED, NAMED_NARROW, second_words};
use super::pane_question::{PaneQuestion, QuestionFocus};
use crate::agent::{MessageUse, PromptAsker, QuestionChoice, UserPrompt};
use crate::text::sanitize;
use crate::ui::theme::Theme;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Rows from which on a question is low, and columns from which on it is narrow.
pub(super) const LOW: usize = 14;
const NARROW: usize = 75;
/// Rows below which the changes need the row of the keys that only look.
const LEAST_NAMED: usize = 8;
/// Rows of keys in a low question: the changes need the others.
const LOW_KEY_ROWS: usize = 2;

/// Enter came with the text before it: that may be a paste which the terminal did not mark.
const ONE_PIECE: &str = "text and Enter came in one piece: press Enter again to send it";

/// A text was typed where there is no draft.
const TEXT_IGNORED: &str = "text is ignored here; these keys answer: ";

/// The key that opens or closes a difference.
const OPEN: &str = "Space";

/// A key and what it does. Both are always in the same row.
type KeyLabel = Vec<Span<'static>>;

/// How the keys that only look are named.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LookKeyNames {
    Full,
    Short,
    /// The one that opens what is closed, and the other keys in fewer columns.
    Least,
    None,
}

/// Puts keys next to each other, in as many rows as they need. A row never ends between a key and what it does.
fn key_rows(labels: Vec<KeyLabel>, columns: usize) -> Vec<Line<'static>> {
    const GAP: &str = "  ";
    let mut rows: Vec<Line<'static>> = Vec::new();
    for label in labels {
        let wide: usize = label.iter().map(Span::width).sum();
        match rows.last_mut().filter(|row| row.width() + GAP.len() + wide <= columns) {
            Some(row) => {
                row.spans.push(Span::raw(GAP));
                row.spans.extend(label);
            }
            None => rows.push(Line::from(label)),
        }
    }
    rows
}

impl PaneQuestion {
    /// The answer that is typed, or how to give one.
    fn answer_labels(&self, question: &UserPrompt, theme: &Theme) -> Vec<KeyLabel> {
        if let Some(typed) = &self.typing {
            let text = match question.asker {
                PromptAsker::Placet(_) if typed.is_empty() => "your message; Esc goes back",
                PromptAsker::Placet(MessageUse::Copied) => "your message; Enter copies it, Esc goes back",
                PromptAsker::Placet(MessageUse::Sent) => "your message; Enter sends it, Esc goes back",
                _ if typed.is_empty() => "your answer; Esc goes back",
                _ => "your answer; Enter sends it, Esc goes back",
            };
            return vec![vec![Span::styled(text, theme.style("question"))]];
        }
        let label =
            |key: String, text: &'static str| vec![Span::styled(key, theme.style("key")), Span::raw(text)];
        let is_message = matches!(question.asker, PromptAsker::Placet(_));
        let how = match question.choices.len() {
            0 if is_message => vec![Span::raw("type a message")],
            0 => vec![Span::raw("type an answer")],
            1 if is_message => label("1".into(), " chooses it, or type a message"),
            1 => label("1".into(), " chooses it, or type an answer"),
            n => label(format!("1-{n}"), " chooses, or type an answer"),
        };
        let escape = match question.asker {
            PromptAsker::Model => " leaves it open",
            PromptAsker::Placet(_) => " goes back",
            PromptAsker::Server => " declines",
        };
        vec![how, label("Esc".into(), escape)]
    }

    /// Where keys go, what has to be confirmed, and the keys that answer, in rows of `columns`. The last are always
    /// there; keys that only look are named where there is `room`.
    pub(super) fn keys(
        &self,
        theme: &Theme,
        (columns, room): (usize, usize),
        ready: bool,
        focus: QuestionFocus,
    ) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        if self.typing.is_some() && self.reminds && focus != QuestionFocus::Draft {
            lines.push(Line::styled(ONE_PIECE, theme.style("warning")));
        }
        if focus == QuestionFocus::Draft {
            let words = match &self.keys_in_draft {
                Some(keys) => {
                    let keys = sanitize::line(keys);
                    format!("{keys} may be keys of a question: Enter sends it as a message, Esc removes it")
                }
                None => "typing goes to your draft; Tab switches to the question".into(),
            };
            lines.push(Line::styled(words, theme.style("warning")));
        } else if let Some(unmet) = &self.unmet {
            lines.push(Line::styled(unmet.clone(), theme.style("warning")));
        } else if let Some(text) = self.confirmation(columns, focus) {
            lines.push(Line::styled(text, theme.style("warning")));
        } else if self.types_reason {
            let text = match self.asked.is_of_server() {
                true => "why not? Enter refuses and tells the server, Esc goes back",
                false => "why not? Enter tells the agent and does nothing else, Esc goes back",
            };
            lines.push(Line::styled(text, theme.style("question")));
            return lines;
        } else if let (Some(_), AnyQuestion::Call(question)) = (&self.typing, &self.asked) {
            let wanted = question.typed.as_deref().unwrap_or_default();
            let text = format!("type `{wanted}` and Enter to allow it, Esc goes back");
            lines.push(Line::styled(sanitize::line(&text).into_owned(), theme.style("warning")));
            return lines;
        }
        let is_low = room < LOW && self.changes.is_some();
        let mut labels = match &self.asked {
            AnyQuestion::Enquiry(question) => self.answer_labels(question, theme),
            _ => {
                // What is said above the keys takes their rows, and the changes keep theirs.
                let is_full = columns < NARROW && !lines.is_empty();
                let named = match room {
                    _ if is_full => LookKeyNames::None,
                    LOW.. => LookKeyNames::Full,
                    LEAST_NAMED.. => LookKeyNames::Short,
                    _ => LookKeyNames::None,
                };
                let fits = |named: &LookKeyNames| {
                    !is_low || key_rows(self.labels(theme, *named, focus), columns).len() <= LOW_KEY_ROWS
                };
                let fewer = [named, LookKeyNames::Least].into_iter().filter(|_| named != LookKeyNames::None);
                self.labels(theme, fewer.into_iter().find(fits).unwrap_or(LookKeyNames::None), focus)
            }
        };
        if self.reminds && self.typing.is_none() && focus != QuestionFocus::Draft {
            let words = if self.ignored_text { TEXT_IGNORED } else { "these keys answer: " };
            let lead = Span::styled(words, theme.style("warning"));
            labels.first_mut().iter_mut().for_each(|first| first.insert(0, lead.clone()));
        }
        let tab = vec![Span::styled("Tab", theme.style("key")), Span::raw(" your draft")];
        let with = |labels: &[KeyLabel], last: &KeyLabel| {
            key_rows(labels.iter().chain([last]).cloned().collect(), columns).len()
        };
        // The last key gets no row of its own where the changes need it.
        let most =
            key_rows(labels.clone(), columns).len().max(if room < LEAST_NAMED { 1 } else { LOW_KEY_ROWS });
        if focus == QuestionFocus::Question && (!is_low || with(&labels, &tab) <= most) {
            labels.push(tab);
        }
        if focus != QuestionFocus::Draft {
            let most = key_rows(labels.clone(), columns).len();
            let mut words = self.waiting(theme, (columns, ready));
            // A row that is there for half a second would move everything above it twice.
            let fits = words.iter().position(|words| !is_low || with(&labels, words) <= most);
            let last = words.len().saturating_sub(1);
            if fits.is_none() && !words.is_empty() {
                // The key that only looks makes way.
                labels.retain(|label| label.first().is_none_or(|key| key.content != OPEN));
            }
            labels.extend((!words.is_empty()).then(|| words.swap_remove(fits.unwrap_or(last))));
        }
        lines.extend(key_rows(labels, columns));
        lines
    }

    /// The keys of a question that is not shown, because the pane has no room for it.
    pub(super) fn keys_of_too_small(
        &self,
        theme: &Theme,
        columns: usize,
        focus: QuestionFocus,
    ) -> Vec<Line<'static>> {
        key_rows(self.labels(theme, LookKeyNames::None, focus), columns)
    }

    /// What the key that was pressed once would do.
    fn confirmation(&self, columns: usize, focus: QuestionFocus) -> Option<String> {
        if self.awaits_enter {
            let does = if matches!(self.asked, AnyQuestion::Call(_)) { "allows" } else { "applies" };
            let letter = match focus {
                QuestionFocus::QuestionAlone => "",
                QuestionFocus::Question | QuestionFocus::Draft => ", and a letter goes to your draft",
            };
            return Some(format!("Enter {does} it; Esc goes back{letter}"));
        }
        let key = self.confirmed?;
        Some(match &self.asked {
            AnyQuestion::Choice(q) => {
                let choice = q.choices.iter().find(|choice| choice.key == key)?;
                if !choice.twice && self.is_all_seen() {
                    return Some(format!("all of it is shown now: press {key} again to do it"));
                }
                let named = if columns < NARROW { NAMED_NARROW } else { NAMED };
                let again = match self.was_repeated {
                    true => format!("the second {key} came too early: press {key}"),
                    false => format!("press {key}"),
                };
                second_words(choice, &self.unseen(named), &again, "key")
            }
            _ => format!("not all of it was shown: press {key} again to allow it unseen"),
        })
    }

    fn labels(&self, theme: &Theme, named: LookKeyNames, focus: QuestionFocus) -> Vec<KeyLabel> {
        let pending = self.pending_letter.map(String::from);
        let label = |key: &str, text: String| {
            let style = |style| if pending.as_deref() == Some(key) { theme.selected(style) } else { style };
            let text = Span::styled(format!(" {text}"), style(Style::default()));
            vec![Span::styled(key.to_string(), style(theme.style("key"))), text]
        };
        if let AnyQuestion::Choice(question) = &self.asked {
            let choices = question.choices.iter().filter(|choice| !(self.is_too_small && choice.consents));
            let key_name = |choice: &QuestionChoice| match choice.wants_enter {
                true => format!("{} Enter", choice.key),
                false => choice.key.to_string(),
            };
            let mut labels: Vec<KeyLabel> =
                choices.map(|choice| label(&key_name(choice), choice.words.clone())).collect();
            if self.takes_reason() {
                let words = if named == LookKeyNames::Least { "why not" } else { "no, because ..." };
                labels.push(label(&REASON.to_string(), words.into()));
            }
            labels.extend(
                self.check_keys().into_iter().map(|(key, words)| label(&key.to_string(), words.into())),
            );
            match (&self.changes, self.shows_patch) {
                (Some(_), true) => labels.push(label("p", "list".into())),
                (Some(_), false) => {
                    let words = match named {
                        LookKeyNames::Full => &[(OPEN, "show or hide"), ("p", "patch")][..],
                        LookKeyNames::Short => &[(OPEN, "open"), ("p", "patch")],
                        LookKeyNames::Least => &[(OPEN, "open")],
                        LookKeyNames::None => &[],
                    };
                    labels.extend(words.iter().map(|(key, words)| label(key, (*words).into())));
                }
                (None, _) => {}
            }
            if self.asked.is_of_server() {
                labels.push(label("Esc", "no".into()));
            }
            return labels;
        }
        let mut labels = if self.is_too_small {
            Vec::new()
        } else {
            vec![label(if self.needs_enter() { "y Enter" } else { "y" }, "yes".into())]
        };
        labels.push(label("n", "no".into()));
        if self.takes_reason() {
            labels.push(label(&REASON.to_string(), "no, because ...".into()));
        }
        if let AnyQuestion::Call(question) = &self.asked {
            for (key, grant) in [("a", &question.always), ("p", &question.pattern)] {
                if let Some(grant) = grant.as_ref().filter(|_| !self.is_too_small) {
                    labels.push(label(key, format!("always: {}", sanitize::line(&grant.describe()))));
                }
            }
            labels.push(label("v", "never".into()));
            if !question.why.is_empty() {
                labels.push(label("w", if self.body.shows_why { "the call" } else { "why" }.into()));
            }
        }
        labels.push(label(
            "Esc",
            if focus == QuestionFocus::QuestionAlone { "no" } else { "stop the turn" }.into(),
        ));
        labels
    }

    /// What follows the keys while they do not count yet, or after one that did not count: the words, and shorter ones.
    fn waiting(&self, theme: &Theme, (columns, ready): (usize, bool)) -> Vec<KeyLabel> {
        const MOMENT: [&str; 3] = [
            "(a moment: keys are accepted after half a second without typing)",
            "(a moment: keys do not count yet)",
            "(wait)",
        ];
        if let Some(key) = self.too_early {
            let words = format!("{} came too early: press it again", sanitize::line(&key.to_string()));
            return vec![vec![Span::styled(words, theme.style("warning"))]];
        }
        // The key that has to be pressed again counts at once.
        let ready = ready || self.confirmed.is_some() || self.awaits_enter;
        let fitting = MOMENT.get(usize::from(columns < NARROW)..).filter(|_| !ready).unwrap_or_default();
        fitting.iter().map(|words| vec![Span::styled(*words, theme.style("hint"))]).collect()
    }
}
