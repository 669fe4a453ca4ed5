//! Keys and pastes in the pane: for the turn, for the question that is open, or for the draft.
//!
//! While a question is open, keys go to one of two places, and the row of keys says to which: the question, where a
//! key answers, scrolls or does nothing, or the draft, where it is text. [`KeyGuard`] decides which keys may answer.
//!
//! [`KeyGuard`]: crate::ui::input::guard::KeyGuard

use super::pane::TurnPane;
use super::question::{LookKey, PaneQuestion, QuestionFocus, QuestionKeyKind, QuestionOutcome};
use super::status::TurnPaneAction;
use crate::agent::{SendTiming, is_command};
use crate::ui::input::guard::KeyRole;
use crate::ui::margin_mark;
use crate::ui::scrollback;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::text::Line;
use std::time::Instant;

impl TurnPane {
    /// A paste goes whole to the answer that is being typed, or else to the draft, and never answers anything. A paste
    /// that cannot be stored is reported above the pane.
    pub fn paste(&mut self, text: &str, now: Instant) -> Vec<Line<'static>> {
        self.guard.touch(now);
        let answer = self.question.as_mut().filter(|_| self.focus != QuestionFocus::Draft);
        match (self.pastes.collapse(text), answer.and_then(PaneQuestion::answer_field)) {
            (Ok(text), Some(answer)) => {
                answer.insert(&text);
                Vec::new()
            }
            (Ok(_), None) if self.facts.questions_only => Vec::new(),
            (Ok(text), None) => {
                self.composer.insert(&text);
                self.focus = QuestionFocus::Draft;
                Vec::new()
            }
            (Err(error), _) => self.notice(&error.to_string()),
        }
    }

    pub(super) fn notice(&self, text: &str) -> Vec<Line<'static>> {
        margin_mark::broken(scrollback::notice(text, &self.theme), self.width())
    }

    /// The person comes back: no key answers before they had the time to look.
    pub fn focus_returned(&mut self, now: Instant) {
        self.guard.touch(now);
    }

    /// Bytes were read at `at` that type nothing: the key before them was not alone, and the next one follows them.
    pub fn ignored(&mut self, at: Instant) {
        self.guard.touch(at);
    }

    /// Bytes were read whose meaning is not known yet.
    pub fn unfinished(&mut self) {
        self.guard.cancel_pending_key();
    }

    /// When [`TurnPane::answer_due_key`] may have something to do.
    pub fn due(&self) -> Option<Instant> {
        self.guard.due()
    }

    /// A key that may answer has been alone for long enough: the key answers.
    pub fn answer_due_key(&mut self, now: Instant) -> Option<TurnPaneAction> {
        let key = self.guard.take_due_key(now)?;
        let is_apply = key.code == KeyCode::Char('a');
        let applies = is_apply && self.question.as_ref().is_some_and(PaneQuestion::is_about_changes);
        let answered = PaneQuestion::answer_key(&mut self.question, key);
        match &self.question {
            Some(open) if open.wants_confirmation() => self.guard.confirm(),
            _ => self.guard.clear_confirmation(),
        }
        if self.question.is_none() {
            // An apply of many files takes a while.
            self.state = if applies { "applying changes" } else { "working" }.into();
        }
        match answered {
            QuestionOutcome::Cancelled => self.stop(),
            QuestionOutcome::Message(words) => {
                self.queue.push(words, SendTiming::AfterTurn);
                None
            }
            QuestionOutcome::Closed | QuestionOutcome::Open | QuestionOutcome::Not => None,
        }
    }

    /// Handles a key that was read at `at`. A key that waits for its time at this moment does not answer any more: if
    /// the loop did not read keys for a while, it cannot know how close together they came.
    pub fn key(&mut self, key: KeyEvent, at: Instant) -> Option<TurnPaneAction> {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let action = match (key.code, ctrl) {
            // Programs are left with Ctrl-C, and some need it twice: the second one is not about the question.
            (KeyCode::Char('c'), true)
                if self.facts.questions_only && self.question.is_some() && !self.guard.is_seen(at) =>
            {
                None
            }
            (KeyCode::Char('c'), true) => self.ctrl_c(),
            (KeyCode::Char('z'), true) => Some(TurnPaneAction::Suspend),
            (KeyCode::BackTab, _) => Some(TurnPaneAction::CycleMode),
            // Otherwise it moves the cursor, as in every field.
            (KeyCode::Char('b'), true) if self.foreground.is_some() => Some(TurnPaneAction::ToBackground),
            (KeyCode::Char('o'), true) => {
                self.facts.expanded = !self.facts.expanded;
                None
            }
            (KeyCode::Char('s'), true) => self.steer(),
            (KeyCode::Char('s'), false) if alt => self.steer(),
            _ if self.question.is_some() => return self.press_at_question(key, at),
            (KeyCode::Esc, _) => self.stop(),
            _ => {
                self.edit(key);
                None
            }
        };
        self.guard.touch(at);
        action
    }

    fn press_at_question(&mut self, key: KeyEvent, at: Instant) -> Option<TurnPaneAction> {
        let is_text = matches!(key.code, KeyCode::Char(_));
        let is_for_question = !is_text || self.focus != QuestionFocus::Draft && key.modifiers.is_empty();
        let shown = self.question.as_ref().filter(|_| is_for_question).and_then(|open| open.output_key(key));
        if let Some(output) = shown {
            self.guard.touch(at);
            return Some(TurnPaneAction::ShowCheck(output));
        }
        let looked = self.question.as_mut().filter(|_| is_for_question).map(|open| open.look_key(key));
        match (key.code, self.focus) {
            _ if looked == Some(LookKey::Moved) => self.guard.moved(at),
            _ if looked == Some(LookKey::Changed) => self.guard.touch(at),
            (KeyCode::Tab, focus) if focus != QuestionFocus::QuestionAlone => {
                self.guard.touch(at);
                self.focus = if focus == QuestionFocus::Draft {
                    QuestionFocus::Question
                } else {
                    QuestionFocus::Draft
                };
            }
            // Esc is an answer, or stops the turn: but not where the person may mean the draft.
            (KeyCode::Esc, QuestionFocus::Draft) => {
                self.guard.touch(at);
                self.focus = QuestionFocus::Question;
            }
            (code, QuestionFocus::Draft) => {
                let burst = self.guard.is_burst(at);
                self.guard.touch(at);
                // A line that arrives in one piece is looked at before it is sent.
                if burst && code == KeyCode::Enter { self.composer.insert("\n") } else { self.edit(key) }
            }
            (_, QuestionFocus::Question | QuestionFocus::QuestionAlone) => self.press_answer(key, at),
        }
        None
    }

    fn press_answer(&mut self, key: KeyEvent, at: Instant) {
        let burst = self.guard.is_burst(at);
        let Some(open) = self.question.as_mut() else { return };
        let kind = open.meaning(key);
        if matches!(kind, QuestionKeyKind::Text | QuestionKeyKind::Answer(KeyRole::EndOfText)) {
            // The Enter before this key was a line break of the text and not its end.
            if self.guard.due().is_some() {
                open.continue_text();
            }
            open.note_typing(burst);
        }
        match kind {
            // A reason refuses and does nothing else, so a program may type it. What came with its first key in one
            // piece may be a paste that was meant for the draft.
            QuestionKeyKind::Answer(KeyRole::EndOfText) if burst && open.is_typed_reason() => {
                return self.guard.end_line(key, at);
            }
            QuestionKeyKind::Answer(KeyRole::EndOfText) if burst => open.remind(),
            QuestionKeyKind::Answer(role) => {
                self.guard.press(key, role, at);
                if role == KeyRole::Answer && self.guard.due().is_none() {
                    open.is_too_early(key);
                }
                return;
            }
            QuestionKeyKind::Text => {
                let _ = PaneQuestion::answer_key(&mut self.question, key);
            }
            QuestionKeyKind::BeginsText if self.guard.is_ready(at) => {
                let _ = PaneQuestion::answer_key(&mut self.question, key);
            }
            QuestionKeyKind::BeginsText => open.is_too_early(key),
            QuestionKeyKind::Nothing => {
                open.remind();
                self.guard.clear_confirmation();
            }
        }
        self.guard.touch(at);
    }

    /// The draft first, then the turn.
    fn ctrl_c(&mut self) -> Option<TurnPaneAction> {
        if self.question.is_some() || self.composer.is_empty() {
            return self.stop();
        }
        self.recall = Some(self.composer.take());
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
        self.guard.reset();
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
        if is_command(&text) || ends_turn {
            self.queue.push(text, SendTiming::AfterTurn);
        } else {
            self.queue.push(self.pastes.expanded(&text).into_owned(), SendTiming::NextRequest);
        }
        None
    }

    fn edit(&mut self, key: KeyEvent) {
        let composer = &mut self.composer;
        match key.code {
            _ if composer.is_end(key) && !composer.is_empty() => {
                self.queue.push(composer.take(), SendTiming::AfterTurn);
            }
            KeyCode::Up if composer.is_empty() => {
                if let Some(text) = self.queue.take_back().or_else(|| self.recall.take()) {
                    composer.set(&self.pastes.collapsed(text));
                }
            }
            _ => drop(composer.key(key)),
        }
    }
}
