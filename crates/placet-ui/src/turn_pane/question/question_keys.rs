//! Keys at a question: letters are text, and only Enter answers.
//!
//! A pure machine: the line that is typed, the number of answers and a key with its time go in, and what the key does
//! comes out. A question has one row of answers, of which one is marked, and one line. A letter or a paste begins a text on the
//! line, and no letter decides. Enter takes the marked answer where the line is empty, and sends the text where it is
//! not. [`EnterGuard`] has the only time in it.

use crate::input::enter_guard::EnterGuard;
use crate::text_field::TextField;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::time::Duration;

/// A key, and when it was read.
#[derive(Clone, Copy, Debug)]
pub(in crate::turn_pane) struct QuestionInput {
    pub(in crate::turn_pane) key: KeyEvent,
    /// Counted from the moment from which the times of drawing are counted.
    pub(in crate::turn_pane) at: Duration,
}

/// Whether a text is about the question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::turn_pane) enum TextBegun {
    /// Begun before the question was on the screen: it is the next message.
    #[default]
    BeforeQuestion,
    /// Begun at the question: it is the reply to it.
    AtQuestion,
}

/// What a key does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::turn_pane) enum QuestionEffect {
    /// It edits the line, moves the mark, or does nothing.
    Stay,
    /// It takes the answer with this number.
    Take(usize),
    Send(String, TextBegun),
    /// The line had this text, which is cleared.
    Clear(String),
    /// It leaves the question without an answer.
    Leave,
    /// It moves in the rows, or opens and closes one.
    Look(KeyCode),
    /// It goes through the queued messages.
    Queue(KeyCode),
}

/// The mark, and what was typed when.
#[derive(Debug, Default)]
pub(in crate::turn_pane) struct QuestionKeys {
    /// The number of the marked answer.
    mark: usize,
    /// The person moved the mark: it stays where it is.
    is_moved: bool,
    begun: TextBegun,
    guard: EnterGuard,
}

impl QuestionKeys {
    /// Handles a key at a question whose answers have these letters.
    pub(in crate::turn_pane) fn key(
        &mut self,
        line: &mut TextField,
        letters: &[char],
        QuestionInput { key, at }: QuestionInput,
    ) -> QuestionEffect {
        let counts = self.guard.counts(at) && key.kind == KeyEventKind::Press;
        let is_empty = line.is_empty();
        if !(is_empty && is_arrow(key)) {
            self.guard.touch(at);
        }
        if is_escape(key) {
            return if is_empty { QuestionEffect::Leave } else { QuestionEffect::Clear(line.take()) };
        }
        if line.is_end(key) {
            let has_answer = self.mark < letters.len();
            return match is_empty {
                false => self.send(line),
                true if counts && has_answer && key.modifiers.is_empty() => QuestionEffect::Take(self.mark),
                true => QuestionEffect::Stay,
            };
        }
        if is_empty && let Some(effect) = self.key_of_answers(letters, key) {
            return effect;
        }
        if matches!(key.code, KeyCode::Up | KeyCode::Down) && key.modifiers.is_empty() {
            // What comes onto the line was begun before.
            self.begun = TextBegun::BeforeQuestion;
            return QuestionEffect::Queue(key.code);
        }
        line.key(key);
        self.note_text(is_empty && !line.is_empty());
        QuestionEffect::Stay
    }

    /// A paste is text, whatever it looks like.
    pub(in crate::turn_pane) fn paste(&mut self, line: &mut TextField, text: &str, at: Duration) {
        self.guard.touch(at);
        let is_empty = line.is_empty();
        line.insert(text);
        self.note_text(is_empty && !line.is_empty());
    }

    fn note_text(&mut self, begins: bool) {
        if begins {
            let is_read = self.guard.is_drawn();
            self.begun = if is_read { TextBegun::AtQuestion } else { TextBegun::BeforeQuestion };
        }
    }

    /// A text of only blanks is none.
    fn send(&mut self, line: &mut TextField) -> QuestionEffect {
        let text = line.take();
        match text.trim().is_empty() {
            true => QuestionEffect::Stay,
            false => QuestionEffect::Send(text, self.begun),
        }
    }

    /// A key that moves the mark, or moves in the rows; `None` for a key of the line.
    fn key_of_answers(&mut self, letters: &[char], key: KeyEvent) -> Option<QuestionEffect> {
        let count = letters.len();
        let is_plain = key.modifiers.is_empty();
        let to = match key.code {
            KeyCode::Up | KeyCode::Down | KeyCode::PageUp | KeyCode::PageDown | KeyCode::Char(' ')
                if is_plain =>
            {
                self.begun = TextBegun::BeforeQuestion;
                return Some(QuestionEffect::Look(key.code));
            }
            KeyCode::Left if is_plain && count > 0 => (self.mark + count - 1) % count,
            KeyCode::Right | KeyCode::Tab if is_plain && count > 0 => (self.mark + 1) % count,
            KeyCode::Char(letter) if key.modifiers == KeyModifiers::ALT => {
                let named = letters.iter().position(|one| one.eq_ignore_ascii_case(&letter));
                named.unwrap_or(self.mark)
            }
            _ => return None,
        };
        self.move_to(to);
        Some(QuestionEffect::Stay)
    }

    /// The person marks this answer.
    pub(super) fn move_to(&mut self, mark: usize) {
        (self.mark, self.is_moved) = (mark, true);
    }

    /// Marks this answer, unless the person has marked one.
    pub(super) fn mark_first(&mut self, mark: usize) {
        if !self.is_moved {
            self.mark = mark;
        }
    }

    pub(super) fn mark(&self) -> usize {
        self.mark
    }

    /// Other answers are in the row now, and none of them was read.
    pub(super) fn asks_anew(&mut self) {
        self.is_moved = false;
        self.guard.asks_anew();
    }

    /// The question is on the screen since `at`.
    pub(in crate::turn_pane) fn drawn(&mut self, at: Duration) {
        self.guard.drawn(at);
    }

    /// The person has not read what is on the screen since `at`.
    pub(in crate::turn_pane) fn touch(&mut self, at: Duration) {
        self.guard.touch(at);
    }

    pub(in crate::turn_pane) fn begun(&self) -> TextBegun {
        self.begun
    }

    pub(in crate::turn_pane) fn guard(&self) -> &EnterGuard {
        &self.guard
    }
}

/// At an empty line it moves the mark or the rows. It is no part of a text that somebody types or pastes, so an Enter right
/// after it is meant.
fn is_arrow(key: KeyEvent) -> bool {
    use KeyCode::{Down, Left, PageDown, PageUp, Right, Up};
    key.modifiers.is_empty() && matches!(key.code, Left | Right | Up | Down | PageUp | PageDown)
}

fn is_escape(key: KeyEvent) -> bool {
    key.code == KeyCode::Esc || key.code == KeyCode::Char('c') && key.modifiers == KeyModifiers::CONTROL
}

#[cfg(test)]
#[path = "question_keys_tests.rs"]
mod tests;
