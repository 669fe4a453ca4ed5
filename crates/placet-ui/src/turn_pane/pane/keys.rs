//! Keys and pastes in the pane: for the turn, for the question that is open, and for the line, which is always the same.
//!
//! [`QuestionKeys`] says what a key does while a question is open; here it is done.
//!
//! [`QuestionKeys`]: crate::turn_pane::question::QuestionEffect

use super::TurnPane;
use crate::lines::margin_mark;
use crate::scrollback;
use crate::turn_pane::question::{
    LineState, PaneQuestion, QuestionEffect, QuestionInput, QuestionOutcome, TextBegun,
};
use crate::turn_pane::status::TurnPaneAction;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use placet_agent::{SendTiming, is_command};
use ratatui::text::Line;
use std::time::{Duration, Instant};

impl TurnPane {
    /// A paste goes whole to the line, and never answers anything. A paste that cannot be stored is reported above the
    /// pane.
    pub fn paste(&mut self, text: &str, now: Instant) -> Vec<Line<'static>> {
        let at = self.since_start(now);
        match (self.line.pastes.collapse(text), &mut self.question) {
            (Ok(text), Some(open)) => open.paste(&mut self.line.field, &text, at),
            (Ok(_), None) if self.facts.questions_only => {}
            (Ok(text), None) => self.line.field.insert(&text),
            (Err(error), _) => return self.notice(&error.to_string()),
        }
        Vec::new()
    }

    pub(in crate::turn_pane) fn notice(&self, text: &str) -> Vec<Line<'static>> {
        margin_mark::broken(scrollback::notice(text, &self.theme), self.width())
    }

    /// The person has not read what is on the screen since `at`: they come back to it, or its size changed, or bytes came that
    /// type nothing. No Enter answers before they had the time to look.
    pub fn look_again(&mut self, at: Instant) {
        let at = self.since_start(at);
        self.question.iter_mut().for_each(|open| open.touch(at));
    }

    pub(super) fn since_start(&self, at: Instant) -> Duration {
        at.saturating_duration_since(self.started)
    }

    /// When an Enter begins to answer the question.
    pub fn counts_from(&self) -> Option<Instant> {
        Some(self.started + self.question.as_ref()?.counts_from()?)
    }

    /// What Enter does with the line at `now`.
    pub(super) fn line_state(&self, now: Instant) -> LineState {
        let Some(open) = self.question.as_ref().filter(|_| self.line.field.is_empty()) else {
            let is_message = |open: &PaneQuestion| !self.facts.questions_only && open.begun_before();
            let is_read = |open: &PaneQuestion| open.wants_text() || open.takes_text() || is_message(open);
            let has_reader = self.question.as_ref().map_or(!self.facts.questions_only, is_read);
            return if has_reader { LineState::Text } else { LineState::TextWithoutReader };
        };
        let at = self.since_start(now);
        LineState::Empty { counts: open.counts_from().is_some_and(|from| from <= at) }
    }

    /// Handles a key that was read at `at`.
    pub fn key(&mut self, key: KeyEvent, at: Instant) -> Option<TurnPaneAction> {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        // Alt and a letter mark an answer.
        let marks = self.question.is_some() && self.line.field.is_empty();
        let action = match (key.code, ctrl) {
            // Programs are left with Ctrl-C, and some need it twice: the second one is not about the question.
            (KeyCode::Char('c'), true) if self.facts.questions_only && !self.is_question_read(at) => None,
            (KeyCode::Char('c'), true) if self.question.is_none() => self.ctrl_c(),
            (KeyCode::Char('z'), true) => Some(TurnPaneAction::Suspend),
            (KeyCode::BackTab, _) => Some(TurnPaneAction::CycleMode),
            // Otherwise it moves the cursor, as in every field.
            (KeyCode::Char('b'), true) if self.calls.foreground.is_some() => {
                Some(TurnPaneAction::ToBackground)
            }
            (KeyCode::Char('o'), true) => {
                self.facts.expanded = !self.facts.expanded;
                None
            }
            (KeyCode::Char('s'), true) => {
                self.line.steer(self.asks_about_changes());
                None
            }
            (KeyCode::Char('s'), false) if alt && !marks => {
                self.line.steer(self.asks_about_changes());
                None
            }
            _ if self.question.is_some() => return self.key_at_question(key, at),
            (KeyCode::Esc, _) => self.stop(),
            _ => {
                self.line.edit(key);
                None
            }
        };
        self.look_again(at);
        action
    }

    /// The question is on the screen for half a second, or there is none.
    pub(super) fn is_question_read(&self, at: Instant) -> bool {
        self.question.is_none() || self.counts_from().is_some_and(|from| from <= at)
    }

    fn key_at_question(&mut self, key: KeyEvent, at: Instant) -> Option<TurnPaneAction> {
        let at = self.since_start(at);
        let open = self.question.as_mut()?;
        let was_about_changes = open.is_about_changes();
        let outcome = match open.key(&mut self.line.field, QuestionInput { key, at }) {
            QuestionEffect::Stay => return None,
            QuestionEffect::Clear(text) => {
                self.line.note_cleared(text);
                return None;
            }
            QuestionEffect::Look(code) => {
                let has_moved = open.look(code);
                // Above the first row is what was sent last.
                if code == KeyCode::Up && !has_moved {
                    self.line.edit_before();
                }
                return None;
            }
            QuestionEffect::Queue(code) => {
                self.line.edit(KeyEvent::new(code, KeyModifiers::NONE));
                return None;
            }
            QuestionEffect::Take(at) => PaneQuestion::take(&mut self.question, at),
            QuestionEffect::Leave => PaneQuestion::leave(&mut self.question),
            QuestionEffect::Send(text, begun) => {
                // In a pane that has only questions, all text is for them.
                let begun = if self.facts.questions_only { TextBegun::AtQuestion } else { begun };
                let whole = self.line.whole(&text);
                if is_command(&whole)
                    && self.question.as_ref().is_some_and(|open| !open.asks_for_words())
                    && !self.facts.questions_only
                {
                    // It is run after the turn, as one that was typed during it.
                    self.line.queue_text(text);
                    return None;
                }
                match PaneQuestion::reply(&mut self.question, whole, begun) {
                    // No answer, and no message either: it was begun at the question.
                    QuestionOutcome::NotForIt(_) if begun == TextBegun::AtQuestion => {
                        self.line.field.set(&text);
                        return None;
                    }
                    // With its pastes as they were typed.
                    QuestionOutcome::NotForIt(_) => QuestionOutcome::NotForIt(text),
                    outcome => outcome,
                }
            }
        };
        if self.question.is_none() {
            // An apply of many files takes a while.
            let applies = was_about_changes && outcome == QuestionOutcome::Applies;
            self.activity.set(if applies { "applying changes" } else { "working" });
        }
        match outcome {
            QuestionOutcome::Show(output) => return Some(TurnPaneAction::ShowCheck(output)),
            QuestionOutcome::Message(words) => self.line.queue.push(words, SendTiming::AfterTurn),
            QuestionOutcome::NotForIt(words) => self.line.queue_text(words),
            QuestionOutcome::Open | QuestionOutcome::Closed | QuestionOutcome::Applies => {}
        }
        None
    }

    /// The draft first, then the turn.
    fn ctrl_c(&mut self) -> Option<TurnPaneAction> {
        if self.line.field.is_empty() {
            return self.stop();
        }
        let text = self.line.field.take();
        self.line.note_cleared(text);
        None
    }

    /// Stops the turn. The open question is closed without an answer: after a stop it applies nothing.
    fn stop(&mut self) -> Option<TurnPaneAction> {
        if let Some(open) = self.question.take() {
            open.cancel();
        }
        self.activity.stop();
        Some(TurnPaneAction::Stop)
    }

    /// The terminal is gone. What is pending stays pending.
    pub(in crate::turn_pane) fn terminal_closed(&mut self) {
        let _ = self.stop();
    }
}
