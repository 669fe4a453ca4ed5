//! Keys and pastes in the pane: for the turn, for the question that is open, or for the draft.
//!
//! While a question is open, keys go to one of two places, and the row of keys says to which: the question, where a
//! key answers, scrolls or does nothing, or the draft, where it is text. [`KeyGuard`] decides which keys may answer. Letters
//! that follow each other at the question are a text: they go to the draft, and decide nothing.
//!
//! [`KeyGuard`]: crate::ui::input::guard::KeyGuard

use super::pane::TurnPane;
use super::question::{LookKey, PaneQuestion, QuestionFocus, QuestionKeyKind, QuestionOutcome, TypedText};
use super::status::TurnPaneAction;
use crate::agent::{SendTiming, is_command};
use crate::ui::input::answered_letter::{AnsweredLetter, KeyAfterAnswer};
use crate::ui::input::guard::KeyRole;
use crate::ui::margin_mark;
use crate::ui::scrollback;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::text::Line;
use std::time::{Duration, Instant};

/// The key of a question about changes that opens the review.
const REVIEW: char = 'r';

/// How long before a question opens a letter may have been meant for it.
const SOON: Duration = Duration::from_secs(1);

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
        let pressed = self.guard.last_typed().unwrap_or(now);
        let key = self.guard.take_due_key(now)?;
        self.letters.key_was_alone();
        if let Some(open) = self.question.as_mut().filter(|open| open.is_check_key(key)) {
            let output = open.output_key(key);
            if output.is_none() {
                open.look_key(key);
            }
            return output.map(TurnPaneAction::ShowCheck);
        }
        let is_apply = key.code == KeyCode::Char('a');
        let applies = is_apply && self.question.as_ref().is_some_and(PaneQuestion::is_about_changes);
        let chosen = self.question.as_ref().and_then(|open| open.chosen_by(key.code));
        let is_given_twice = self.question.as_ref().is_some_and(|open| open.is_pressed(key));
        let is_about_changes = self.question.as_ref().is_some_and(PaneQuestion::is_about_changes);
        let answered = PaneQuestion::answer_key(&mut self.question, key);
        self.answered = None;
        self.review_is_next =
            is_about_changes && key.code == KeyCode::Char(REVIEW) && self.question.is_none();
        let begins_text = self.question.is_none() && self.composer.is_empty() && !self.review_is_next;
        if let Some((letter, chosen)) = chosen.filter(|_| begins_text) {
            let letters = self.letters.take_answer(letter, is_given_twice);
            self.answered = Some(AnsweredLetter::new(&letters, pressed, &chosen, applies));
        }
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
        if self.is_key_of_review(key) || self.is_enter_after_lone_letter(key, at) {
            self.guard.touch(at);
            return None;
        }
        if self.takes_text_of_answer(key, at) {
            return None;
        }
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
                self.note_lone_letter(at);
                None
            }
        };
        self.guard.touch(at);
        action
    }

    /// The review opens next: a letter that is pressed in the meantime was meant for it, and is no text. The review says
    /// that it came too early.
    fn is_key_of_review(&mut self, key: KeyEvent) -> bool {
        let is_plain = (key.modifiers - KeyModifiers::SHIFT).is_empty();
        match key.code {
            KeyCode::Char(letter) if self.review_is_next && is_plain => {
                self.early_key = Some(letter);
                true
            }
            _ => false,
        }
    }

    /// Notes when the draft became one letter: the question that opens soon may be what the letter was meant for.
    fn note_lone_letter(&mut self, at: Instant) {
        let is_lone = self.composer.text().chars().count() == 1;
        self.lone_letter = is_lone.then(|| self.lone_letter.unwrap_or(at));
    }

    /// Enter right after an answer and one letter: both were meant for the question that opens now, and are no message.
    fn is_enter_after_lone_letter(&self, key: KeyEvent, at: Instant) -> bool {
        let is_recent = |since: Instant| at.saturating_duration_since(since) < SOON;
        let follows = self.answered.as_ref().is_some_and(|answered| is_recent(answered.at()));
        key.code == KeyCode::Enter
            && self.question.is_none()
            && follows
            && self.composer.text().chars().count() == 1
            && self.lone_letter.is_some_and(is_recent)
    }

    /// Takes a letter out of the draft that was typed right before the question opened, and is one of its keys: it has to be
    /// pressed again.
    pub(super) fn take_early_letter(&mut self, now: Instant) {
        let since = self.lone_letter.take().filter(|since| now.saturating_duration_since(*since) < SOON);
        let mut letters = self.composer.text().chars();
        let (Some(since), Some(letter), None) = (since, letters.next(), letters.next()) else { return };
        let Some(open) = self.question.as_mut().filter(|open| open.offers(letter)) else { return };
        let key = KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE);
        open.is_too_early(key);
        self.letters.expect_again(letter, since);
        self.composer.take();
        self.focus = QuestionFocus::Question;
    }

    /// The key continues the text of which the letter that answered last was the first: all of it goes to the draft. At
    /// a question, [`TypedLetters`] has the letters that answered the one before.
    ///
    /// [`TypedLetters`]: super::question::TypedLetters
    fn takes_text_of_answer(&mut self, key: KeyEvent, at: Instant) -> bool {
        if self.question.is_some() && self.focus != QuestionFocus::Draft {
            return false;
        }
        let has_draft = !self.facts.questions_only;
        let step = self.answered.as_mut().map_or(KeyAfterAnswer::Ends, |answered| answered.follow(key, at));
        let letters = match step {
            KeyAfterAnswer::MayContinue => return false,
            KeyAfterAnswer::Continues { letters } if has_draft => letters,
            KeyAfterAnswer::Continues { .. } | KeyAfterAnswer::Ends => {
                self.answered = None;
                return false;
            }
        };
        self.notices.extend(self.answered.take().map(|answered| answered.words("your draft")));
        let typed = self.composer.take();
        self.composer.set(&format!("{letters}{typed}"));
        self.edit(key);
        self.guard.touch(at);
        true
    }

    /// What was found out about keys since it was asked last, as lines for the scrollback.
    pub fn take_notices(&mut self) -> Vec<Line<'static>> {
        let notices = std::mem::take(&mut self.notices);
        notices.iter().flat_map(|words| self.notice(words)).collect()
    }

    /// The letter that answered last, if a text may still follow it.
    pub(super) fn take_answered(&mut self) -> Option<AnsweredLetter> {
        self.answered.take()
    }

    fn press_at_question(&mut self, key: KeyEvent, at: Instant) -> Option<TurnPaneAction> {
        let is_text = matches!(key.code, KeyCode::Char(_));
        let is_for_question = !is_text || self.focus != QuestionFocus::Draft && key.modifiers.is_empty();
        if let Some(typed) = self.typed_text(key, at) {
            self.take_text(&typed, at);
            return None;
        }
        if is_text && self.focus != QuestionFocus::Draft && self.letters.is_deferred() {
            self.guard.touch(at);
            self.guard.clear_confirmation();
            self.question.as_mut().into_iter().for_each(|open| open.is_too_early(key));
            return None;
        }
        if is_for_question && self.question.as_ref().is_some_and(|open| open.is_check_key(key)) {
            self.guard.press(key, KeyRole::Look, at);
            return None;
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
                if self.question.as_mut().is_some_and(PaneQuestion::forget_keys_in_draft) {
                    self.composer.take();
                }
                self.guard.touch(at);
                self.focus = QuestionFocus::Question;
            }
            (KeyCode::Enter, QuestionFocus::Draft) if self.asks_about_keys(key) => self.guard.touch(at),
            (code, QuestionFocus::Draft) => {
                if let Some(open) = &mut self.question {
                    open.forget_keys_in_draft();
                    open.began_draft &= code != KeyCode::Enter;
                }
                let burst = self.guard.is_burst(at);
                self.guard.touch(at);
                // A line that arrives in one piece is looked at before it is sent.
                if burst && code == KeyCode::Enter { self.composer.insert("\n") } else { self.edit(key) }
            }
            (_, QuestionFocus::Question | QuestionFocus::QuestionAlone) => self.press_answer(key, at),
        }
        None
    }

    /// Enter would send a draft that is a row of the question's keys, pressed quickly: that is asked first.
    fn asks_about_keys(&mut self, enter: KeyEvent) -> bool {
        let is_end = self.composer.is_end(enter);
        let open = self.question.as_mut().filter(|_| is_end);
        open.is_some_and(|open| open.asks_about_keys(self.composer.text()))
    }

    /// The text that the letters typed at the question are, from the first of them to this one.
    fn typed_text(&mut self, key: KeyEvent, at: Instant) -> Option<TypedText> {
        let open = self.question.as_ref().filter(|_| self.focus != QuestionFocus::Draft)?;
        let is_plain = (key.modifiers - KeyModifiers::SHIFT).is_empty();
        let is_typing = open.typed().is_some();
        match key.code {
            // The letter for yes was no answer without its Enter: it is the first of a text.
            KeyCode::Char(letter)
                if is_plain && open.awaits_enter() && letter != 'y' && !self.letters.continues(at) =>
            {
                self.letters.clear();
                let text = format!("y{letter}");
                return Some(TypedText { text, since: at, is_beginning: true, answered: 0 });
            }
            // A blank alone opens a row, also right after the key that shows the patch.
            KeyCode::Char(' ') if !self.letters.continues(at) || open.has_only_looked(&self.letters) => {}
            KeyCode::Char(letter) if is_plain && !is_typing => {
                return self.letters.add(letter, at, open.letter_use(key));
            }
            _ => {}
        }
        self.letters.clear();
        None
    }

    /// A text that was typed at the question goes to the draft, and decides nothing. Where the question is answered with
    /// text and could be read before, it is the answer.
    fn take_text(&mut self, typed: &TypedText, at: Instant) {
        let is_read = self.guard.is_seen(typed.since);
        self.guard.touch(at);
        self.guard.clear_confirmation();
        let Some(open) = self.question.as_mut() else { return };
        if open.wants_text() && is_read {
            return open.begin_text(&typed.text);
        }
        let typed_here = typed.text.get(typed.answered..).unwrap_or_default();
        open.give_up_text(if typed.is_beginning { typed_here } else { "" });
        if self.focus == QuestionFocus::QuestionAlone {
            return open.ignore_text();
        }
        self.letters.clear();
        let answered = self.answered.take().filter(|_| typed.answered > 0);
        self.notices.extend(answered.map(|answered| answered.words("your draft")));
        open.began_draft = self.composer.is_empty();
        self.composer.insert(&typed.text);
        self.focus = QuestionFocus::Draft;
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
        }
        match kind {
            // A reason refuses and does nothing else, so a program may type it.
            QuestionKeyKind::Answer(KeyRole::EndOfText) if burst && open.is_reason() => {
                return self.guard.end_line(key, at);
            }
            QuestionKeyKind::Answer(KeyRole::EndOfText) if burst => open.remind(),
            QuestionKeyKind::Answer(role) => {
                open.note_press(key, role == KeyRole::Letter && self.guard.holds(key));
                self.guard.press(key, role, at);
                let answers = matches!(role, KeyRole::Answer | KeyRole::Letter | KeyRole::Confirm);
                if answers && self.guard.due().is_none() {
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
