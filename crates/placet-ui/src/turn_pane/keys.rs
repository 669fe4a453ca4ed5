//! Keys and pastes in the pane: for the turn, for the question that is open, and for the line, which is always the same.
//!
//! [`QuestionKeys`] says what a key does while a question is open; here it is done.
//!
//! [`QuestionKeys`]: super::question::QuestionEffect

use super::pane::TurnPane;
use super::question::{LineState, PaneQuestion, QuestionEffect, QuestionInput, QuestionOutcome, TextBegun};
use super::status::TurnPaneAction;
use crate::margin_mark;
use crate::scrollback;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use placet_agent::{SendTiming, is_command};
use ratatui::text::Line;
use std::time::{Duration, Instant};

impl TurnPane {
    /// A paste goes whole to the line, and never answers anything. A paste that cannot be stored is reported above the
    /// pane.
    pub fn paste(&mut self, text: &str, now: Instant) -> Vec<Line<'static>> {
        let at = self.since_start(now);
        match (self.pastes.collapse(text), &mut self.question) {
            (Ok(text), Some(open)) => open.paste(&mut self.composer, &text, at),
            (Ok(_), None) if self.facts.questions_only => {}
            (Ok(text), None) => self.composer.insert(&text),
            (Err(error), _) => return self.notice(&error.to_string()),
        }
        Vec::new()
    }

    pub(super) fn notice(&self, text: &str) -> Vec<Line<'static>> {
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
        let Some(open) = self.question.as_ref().filter(|_| self.composer.is_empty()) else {
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
        let marks = self.question.is_some() && self.composer.is_empty();
        let action = match (key.code, ctrl) {
            // Programs are left with Ctrl-C, and some need it twice: the second one is not about the question.
            (KeyCode::Char('c'), true) if self.facts.questions_only && !self.is_question_read(at) => None,
            (KeyCode::Char('c'), true) if self.question.is_none() => self.ctrl_c(),
            (KeyCode::Char('z'), true) => Some(TurnPaneAction::Suspend),
            (KeyCode::BackTab, _) => Some(TurnPaneAction::CycleMode),
            // Otherwise it moves the cursor, as in every field.
            (KeyCode::Char('b'), true) if self.foreground.is_some() => Some(TurnPaneAction::ToBackground),
            (KeyCode::Char('o'), true) => {
                self.facts.expanded = !self.facts.expanded;
                None
            }
            (KeyCode::Char('s'), true) => self.steer(),
            (KeyCode::Char('s'), false) if alt && !marks => self.steer(),
            _ if self.question.is_some() => return self.key_at_question(key, at),
            (KeyCode::Esc, _) => self.stop(),
            _ => {
                self.edit(key);
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
        let outcome = match open.key(&mut self.composer, QuestionInput { key, at }) {
            QuestionEffect::Stay => return None,
            QuestionEffect::Clear(text) => {
                (self.recall, self.edited) = (Some(text), None);
                return None;
            }
            QuestionEffect::Look(code) => {
                let has_moved = open.look(code);
                // Above the first row is what was sent last.
                if code == KeyCode::Up && !has_moved {
                    self.edit_before();
                }
                return None;
            }
            QuestionEffect::Queue(code) => {
                self.edit(KeyEvent::new(code, KeyModifiers::NONE));
                return None;
            }
            QuestionEffect::Take(at) => PaneQuestion::take(&mut self.question, at),
            QuestionEffect::Leave => PaneQuestion::leave(&mut self.question),
            QuestionEffect::Send(text, begun) => {
                // In a pane that has only questions, all text is for them.
                let begun = if self.facts.questions_only { TextBegun::AtQuestion } else { begun };
                let whole = self.pastes.expanded(&text).into_owned();
                if is_command(&whole)
                    && self.question.as_ref().is_some_and(|open| !open.asks_for_words())
                    && !self.facts.questions_only
                {
                    // It is run after the turn, as one that was typed during it.
                    self.queue_text(text);
                    return None;
                }
                match PaneQuestion::reply(&mut self.question, whole, begun) {
                    // No answer, and no message either: it was begun at the question.
                    QuestionOutcome::NotForIt(_) if begun == TextBegun::AtQuestion => {
                        self.composer.set(&text);
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
            self.state = if applies { "applying changes" } else { "working" }.into();
        }
        match outcome {
            QuestionOutcome::Show(output) => return Some(TurnPaneAction::ShowCheck(output)),
            QuestionOutcome::Message(words) => self.queue.push(words, SendTiming::AfterTurn),
            QuestionOutcome::NotForIt(words) => self.queue_text(words),
            QuestionOutcome::Open | QuestionOutcome::Closed | QuestionOutcome::Applies => {}
        }
        None
    }

    /// The draft first, then the turn.
    fn ctrl_c(&mut self) -> Option<TurnPaneAction> {
        if self.composer.is_empty() {
            return self.stop();
        }
        (self.recall, self.edited) = (Some(self.composer.take()), None);
        None
    }

    /// Stops the turn. The open question is closed without an answer: after a stop it applies nothing.
    fn stop(&mut self) -> Option<TurnPaneAction> {
        if let Some(open) = self.question.take() {
            open.cancel();
        }
        self.stopping = true;
        self.state = "stopping".into();
        Some(TurnPaneAction::Stop)
    }

    /// The terminal is gone. What is pending stays pending.
    pub(super) fn terminal_closed(&mut self) {
        let _ = self.stop();
    }

    /// The typed text, or the newest queued line, reaches the model with its next request. At the question about the changes
    /// of the turn no request follows: the text is sent after the turn.
    fn steer(&mut self) -> Option<TurnPaneAction> {
        let ends_turn = self.asks_about_changes();
        if ends_turn && self.composer.is_empty() {
            return None;
        }
        if self.composer.is_empty() {
            self.queue.steer_newest(|line| self.pastes.expanded(line).into_owned());
            return None;
        }
        let text = self.composer.take();
        self.edited = None;
        if is_command(&text) || ends_turn {
            self.queue.push(text, SendTiming::AfterTurn);
        } else {
            self.queue.push(self.pastes.expanded(&text).into_owned(), SendTiming::NextRequest);
        }
        None
    }

    fn edit(&mut self, key: KeyEvent) {
        let is_plain = key.modifiers.is_empty();
        match key.code {
            _ if self.composer.is_end(key) && !self.composer.is_empty() => {
                let text = self.composer.take();
                self.queue_text(text);
            }
            KeyCode::Up if is_plain => self.edit_before(),
            KeyCode::Down if is_plain => self.edit_after(),
            _ => drop(self.composer.key(key)),
        }
    }
}
