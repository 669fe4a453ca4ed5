//! Which keys may answer a question: those that were meant for it.
//!
//! Keys and the times at which they were read go in; the key that answers comes out. A key answers when the question
//! has been on the screen for [`QUIET`], nothing was typed or pasted for [`QUIET`] before it, and nothing follows it
//! within [`ALONE`], or [`LETTER_ALONE`] after a letter. Keys that follow each other faster than [`ALONE`] are a burst, as
//! a paste makes it that the terminal does not mark: none of them answers. The same key pressed again to confirm counts as soon as the first
//! press was drawn, unless the key is held down. Every byte that is read counts as something that follows a key or
//! comes before it, also one that types nothing. Keys that only move what is shown begin no time of quiet, because people
//! read, move and answer at once; a short time keeps bursts and typed text away. Only a key by itself answers: no Control,
//! Alt, Super, Hyper or Meta, and Shift only for a capital letter. No I/O, no clock.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::time::{Duration, Instant};

/// How long the question must have been on the screen, and the keyboard quiet, before a key may answer.
pub const QUIET: Duration = Duration::from_millis(500);
/// How long a key must stay alone before it answers. No hand presses two keys on purpose within this time; programs
/// that type for a person wait 8 to 12 ms between two keys.
pub const ALONE: Duration = Duration::from_millis(50);
/// How long a letter must stay alone before it answers, where a text may begin with it. An ordinary typist presses the next
/// letter of a word after 200 ms, which is 60 words a minute.
pub const LETTER_ALONE: Duration = Duration::from_millis(300);
/// Keys of a typed line that follow each other faster than this are a burst. A hand that rolls from a letter to Enter takes
/// 25 ms and more; what is pasted without marks arrives in one read.
const ROLLED: Duration = Duration::from_millis(20);
/// How long after a key that only moves an answer counts. Longer than the time between two keys of typed text, because
/// Space moves, too.
const MOVED: Duration = Duration::from_millis(200);
/// How long after a letter opened what is shown no letter gives the terminal to an editor: what a slow hand types next would
/// be written into a file.
pub const NO_TEXT: Duration = Duration::from_millis(1_500);
/// The least time between two presses of a key that confirms: keys that are held down repeat every 30 to 110 ms.
const REPEAT: Duration = Duration::from_millis(150);

/// What a key is to the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRole {
    /// It answers, or asks for its confirmation.
    Answer,
    /// The same of a letter, with which a text may begin that was meant for somewhere else.
    Letter,
    /// A letter that shows something else or runs checks, and decides nothing: it needs no time of quiet before it.
    Look,
    /// It is the key that has to be pressed again.
    Confirm,
    /// It marks what a later key applies or discards. A person reads and marks many times in a row, so the time between
    /// two marks is short; but what was typed before the marks were on the screen, and a burst, mark nothing.
    Mark,
    /// It gives the terminal to an editor, and is otherwise as a mark.
    Editor,
    /// It opens a field for text. It counts at once, except where it may be a letter of a text itself:
    /// [`KeyGuard::is_in_text`].
    Field,
    /// It ends a line of text that was typed at the question.
    EndOfText,
}

#[derive(Debug, Default)]
pub struct KeyGuard {
    /// When the question was first on the screen.
    drawn: Option<Instant>,
    /// When anything was last typed or pasted, for whatever purpose.
    last: Option<Instant>,
    /// When a key last moved what is shown.
    moved: Option<Instant>,
    /// The key that answers if nothing follows it before then.
    held: Option<(KeyEvent, Instant)>,
    confirmation: Option<KeyConfirmation>,
    /// A letter opened what is shown, and no pause of [`QUIET`] followed: the next letters may belong to the same text.
    follows_letter: bool,
    /// The same, and neither a pause of [`NO_TEXT`] nor a key that types nothing followed.
    may_be_text: bool,
    /// A key was meant here: the person uses the keys of what is shown.
    has_meant: bool,
}

/// A key was pressed once and has to be pressed again.
#[derive(Clone, Copy, Debug)]
struct KeyConfirmation {
    /// When the key was pressed.
    asked: Option<Instant>,
    drawn: Option<Instant>,
}

impl KeyGuard {
    /// For what a letter opened. No key marks anything before a pause in the typing.
    pub fn after_letter() -> KeyGuard {
        KeyGuard { follows_letter: true, may_be_text: true, ..KeyGuard::default() }
    }

    /// Another question is open: it has not been seen.
    pub fn reset(&mut self) {
        (self.drawn, self.held, self.confirmation) = (None, None, None);
    }

    /// Records that the question is on the screen since `now`, together with the answer that has to be confirmed.
    pub fn drawn(&mut self, now: Instant) {
        self.drawn.get_or_insert(now);
        if let Some(confirmation) = &mut self.confirmation {
            confirmation.drawn.get_or_insert(now);
        }
    }

    /// Something was read that is no answer: typed, pasted, or of no meaning.
    pub fn touch(&mut self, at: Instant) {
        self.follows_letter &= !self.is_pause(QUIET, at);
        self.may_be_text &= !self.is_pause(NO_TEXT, at);
        self.last = Some(at);
        self.held = None;
    }

    /// A key was read that types nothing: what follows is no text.
    pub fn end_text(&mut self) {
        self.may_be_text = false;
    }

    /// A key answered or marked something: the next one may open a field. An editor would write what a slow hand types into a
    /// file, and waits as before.
    pub fn note_meant(&mut self) {
        self.has_meant = true;
    }

    /// A letter that is read at `at` may belong to the text of which a letter opened what is shown.
    pub fn is_in_text(&self, at: Instant) -> bool {
        self.may_be_text && !self.has_meant && !self.is_pause(NO_TEXT, at)
    }

    /// Nothing was typed for `time` before `at`, while this was on the screen.
    fn is_pause(&self, time: Duration, at: Instant) -> bool {
        self.drawn.is_some() && is_after(self.drawn, time, at) && is_after(self.last, time, at)
    }

    /// A key was read that only moves what is shown. Within a burst it is like every other key of the burst.
    pub fn moved(&mut self, at: Instant) {
        if self.is_ready(at) {
            (self.moved, self.held) = (Some(at), None);
        } else {
            self.touch(at);
        }
    }

    /// What is shown was changed since `at` by something other than a key: it has not been read. Returns the key that
    /// would have answered.
    pub fn changed(&mut self, at: Instant) -> Option<KeyEvent> {
        let held = self.held.take();
        self.touch(at);
        held.map(|(key, _)| key)
    }

    /// Bytes have come whose meaning is not known yet. The key before them was not alone; the time of quiet begins when
    /// it is known what they are, or Esc, which begins every sequence, would never answer.
    pub fn cancel_pending_key(&mut self) {
        self.held = None;
    }

    /// The same where a line is typed: its Enter still ends the line. The caller remembers that it did not come alone.
    pub fn note(&mut self, at: Instant) {
        self.last = Some(at);
    }

    /// A key that was read at `at` and would answer. Call [`KeyGuard::take_due_key`] with the same time first.
    pub fn press(&mut self, key: KeyEvent, role: KeyRole, at: Instant) {
        // The same letter again, by hand, begins no text: it is still a key, and waits from this press on.
        if let (KeyRole::Letter, Some((held, until))) = (role, &mut self.held)
            && held.code == key.code
            && *until <= at + LETTER_ALONE.saturating_sub(ALONE)
        {
            (self.last, *until) = (Some(at), at + LETTER_ALONE);
            return;
        }
        let before = self.last;
        // The same key pressed to confirm, by hand and again: it still confirms, and once.
        let is_again = role == KeyRole::Confirm
            && self.held.is_some_and(|(held, _)| held.code == key.code)
            && is_after(before, REPEAT, at);
        if is_again {
            (self.last, self.held) = (Some(at), Some((key, at + LETTER_ALONE)));
            return;
        }
        let follows = self.held.is_some();
        self.touch(at);
        let wait = match role {
            _ if follows || !counts(key, role) => None,
            KeyRole::Answer => self.may_answer(before, at).then_some(ALONE),
            KeyRole::Letter => self.may_answer(before, at).then_some(LETTER_ALONE),
            KeyRole::Look => Some(LETTER_ALONE),
            KeyRole::Confirm => self.confirms(before, at).then_some(confirms_after(key)),
            KeyRole::Editor if self.may_be_text => None,
            KeyRole::Field => None,
            KeyRole::Mark | KeyRole::Editor => {
                let drawn = self.drawn.is_some() && is_after(self.drawn, ALONE, at);
                (drawn && !self.follows_letter && is_after(before, ALONE, at)).then_some(ALONE)
            }
            KeyRole::EndOfText => is_after(before, ROLLED, at).then_some(ALONE),
        };
        self.held = wait.map(|wait| (key, at + wait));
    }

    /// An Enter that was read at `at` ends a line, whatever came before it, if nothing follows it.
    pub fn end_line(&mut self, key: KeyEvent, at: Instant) {
        self.touch(at);
        self.held = Some((key, at + ALONE));
    }

    /// The key that answers, once nothing has followed it.
    pub fn take_due_key(&mut self, now: Instant) -> Option<KeyEvent> {
        self.held.take_if(|(_, until)| *until <= now).map(|(key, _)| key)
    }

    /// When anything was last typed or pasted.
    pub fn last_typed(&self) -> Option<Instant> {
        self.last
    }

    /// The letter that answers if nothing follows it.
    pub fn pending_letter(&self) -> Option<char> {
        match self.held?.0.code {
            KeyCode::Char(letter) => Some(letter),
            _ => None,
        }
    }

    /// The key waits to answer already: it was pressed again before it could be confirmed.
    pub fn holds(&self, key: KeyEvent) -> bool {
        self.held.is_some_and(|(held, _)| held.code == key.code)
    }

    /// When [`KeyGuard::take_due_key`] may have a key.
    pub fn due(&self) -> Option<Instant> {
        self.held.map(|(_, until)| until)
    }

    /// The key that answered last has to be pressed again.
    pub fn confirm(&mut self) {
        self.confirmation = Some(KeyConfirmation { asked: self.last, drawn: None });
    }

    /// Nothing has to be pressed again.
    pub fn clear_confirmation(&mut self) {
        self.confirmation = None;
    }

    /// True when a key pressed at `now` may answer.
    pub fn is_ready(&self, now: Instant) -> bool {
        self.is_seen(now) && is_after(self.last, QUIET, now)
    }

    /// True when `at` is so close to what was typed before that no hand did it.
    pub fn is_burst(&self, at: Instant) -> bool {
        !is_after(self.last, ROLLED, at)
    }

    /// True when the question has been on the screen for [`QUIET`].
    pub fn is_seen(&self, now: Instant) -> bool {
        self.drawn.is_some_and(|drawn| is_after(Some(drawn), QUIET, now))
    }

    /// The question was read, and nothing was typed in the time before `at`.
    fn may_answer(&self, before: Option<Instant>, at: Instant) -> bool {
        self.is_seen(at) && is_after(before, QUIET, at) && is_after(self.moved, MOVED, at)
    }

    fn confirms(&self, before: Option<Instant>, at: Instant) -> bool {
        let Some(KeyConfirmation { asked, drawn: Some(drawn) }) = self.confirmation else { return false };
        // Of a key that is held down, only the first repeat follows the first press; each of the others follows
        // another.
        at >= drawn && (before == asked || is_after(before, REPEAT, at))
    }
}

/// A key without modifiers, except the Shift that makes a letter a capital.
pub fn is_plain(key: KeyEvent) -> bool {
    let is_capital = matches!(key.code, KeyCode::Char(c) if c.is_uppercase());
    key.modifiers.is_empty() || is_capital && key.modifiers == KeyModifiers::SHIFT
}

/// Marks are keys of a table, which names their modifiers. A key that only repeats does not count.
fn counts(key: KeyEvent, role: KeyRole) -> bool {
    key.kind == KeyEventKind::Press && (matches!(role, KeyRole::Mark | KeyRole::Editor) || is_plain(key))
}

/// How long a key that confirms must stay alone: no text begins with Enter.
fn confirms_after(key: KeyEvent) -> Duration {
    if matches!(key.code, KeyCode::Char(_)) { LETTER_ALONE } else { ALONE }
}

fn is_after(before: Option<Instant>, time: Duration, at: Instant) -> bool {
    before.is_none_or(|before| at.saturating_duration_since(before) >= time)
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;
