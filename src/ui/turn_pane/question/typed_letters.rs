//! Letters that follow each other at a question: keys, or a text that was meant for the draft.
//!
//! One letter is a key. Two different ones are a text
//!
//! - within [`QUIET`] of each other,
//! - or within [`TOGETHER`], if the second is no key of the question, or would apply or discard where the first waits for
//!   its second press.
//!
//! A key that follows a letter which is no key within [`TOGETHER`] may be the right key after a wrong one, or the second letter
//! of a word: it has to be pressed again, and another letter makes a text of all of them.
//!
//! What follows a text within the same time belongs to it. The same letter twice is a key that was pressed again. The
//! letters that answered the question before may be the first of a text: see [`TypedLetters::after_answer`]. No I/O, no
//! clock.

use crate::ui::input::guard::QUIET;
use std::time::{Duration, Instant};

/// How close together letters are that belong to one text, where it is clear that they are no answers. Somebody who
/// pressed a wrong key and reads the row of keys is slower.
const TOGETHER: Duration = Duration::from_millis(1_500);

/// What a letter is to the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ui::turn_pane) enum LetterUse {
    /// It answers.
    Key,
    /// It only shows something.
    Look,
    /// It would decide where another letter waits for its second press.
    OtherThanAwaited,
    /// It is no key of the question.
    NoKey,
    /// A blank or a mark: it is a part of a text, and does not show that there is one.
    Neutral,
}

/// Letters that were typed one after the other, the last of them now.
#[derive(Debug, Default)]
pub(in crate::ui::turn_pane) struct TypedLetters {
    text: String,
    last: Option<char>,
    /// A text was recognized: what follows within this time belongs to it.
    is_text: Option<Duration>,
    /// When the first and the last of them were read.
    times: Option<(Instant, Instant)>,
    /// The last of them was alone for so long that it counted as a key.
    was_alone: bool,
    /// So many bytes of them answered the question before.
    answered: usize,
    /// This letter came too early, and the screen asks for it again.
    expected: Option<char>,
    /// The first of them is no key of the question.
    begins_with_no_key: bool,
    /// The last of them came too early only because of the letters before it.
    is_deferred: bool,
}

/// A text, from its first letter on.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::ui::turn_pane) struct TypedText {
    pub(in crate::ui::turn_pane) text: String,
    /// When its first letter was read.
    pub(in crate::ui::turn_pane) since: Instant,
    /// It begins here: the letters before its last one were taken for keys.
    pub(in crate::ui::turn_pane) is_beginning: bool,
    /// So many bytes of it answered the question before.
    pub(in crate::ui::turn_pane) answered: usize,
}

impl TypedLetters {
    /// `letters` answered the question before; the last of them was read at `at`.
    pub(in crate::ui::turn_pane) fn after_answer(letters: &str, at: Instant) -> TypedLetters {
        TypedLetters {
            text: letters.into(),
            times: Some((at, at)),
            was_alone: true,
            answered: letters.len(),
            ..TypedLetters::default()
        }
    }

    /// A letter that was read at `at`, before the question was there. It has to be pressed again.
    pub(in crate::ui::turn_pane) fn expect_again(&mut self, letter: char, at: Instant) {
        let _ = self.add(letter, at, LetterUse::Key);
        self.expected = Some(letter);
    }

    /// A letter that was read at `at`. Returns the text as soon as the letters are one.
    pub(in crate::ui::turn_pane) fn add(
        &mut self,
        letter: char,
        at: Instant,
        letter_use: LetterUse,
    ) -> Option<TypedText> {
        // Where no draft is, a letter that was taken for one of a text counts when it is pressed again.
        let is_again =
            self.is_text == Some(TOGETHER) && self.last == Some(letter) && letter_use == LetterUse::Key;
        if !self.continues(at) || is_again {
            self.clear();
        }
        let before = self.last.replace(letter);
        if self.text.is_empty() {
            // A path, or a list of words.
            let is_mark = letter_use == LetterUse::Neutral && letter != ' ';
            self.begins_with_no_key = letter_use == LetterUse::NoKey || is_mark;
        } else if letter_use == LetterUse::Look && before == Some(letter) {
            // What was shown is hidden again: the person uses the keys.
            self.begins_with_no_key = false;
        }
        let is_close = self.is_close(at);
        let differs = self.text.chars().any(|before| before != letter);
        let typed_here = self.text.get(self.answered..).unwrap_or_default().to_string();
        let shows_text = match letter_use {
            LetterUse::OtherThanAwaited => true,
            // One wrong key right after an answer is no text yet.
            LetterUse::NoKey => typed_here.chars().any(|before| before != letter),
            // After an answer, a blank that shows nothing is the one between two words.
            LetterUse::Neutral => letter == ' ' && self.answered > 0,
            // The screen asks for another one again.
            LetterUse::Key => self.begins_with_no_key && self.expected.is_some(),
            LetterUse::Look => false,
        };
        self.text.push(letter);
        let since = self.times.map_or(at, |(first, _)| first);
        self.times = Some((since, at));
        let was_text = self.is_text.is_some();
        let is_expected = self.expected == Some(letter)
            && (typed_here.chars().all(|before| before == letter) || before == Some(letter));
        if !was_text && differs && !is_expected {
            self.is_text = match (is_close && !self.was_alone, shows_text) {
                (true, _) => Some(QUIET),
                (false, true) => Some(TOGETHER),
                (false, false) => None,
            };
        }
        self.was_alone = false;
        self.is_deferred = self.begins_with_no_key
            && letter_use == LetterUse::Key
            && self.is_text.is_none()
            && self.expected.is_none();
        if self.is_deferred {
            self.expected = Some(letter);
        }
        self.is_text?;
        Some(TypedText {
            text: std::mem::take(&mut self.text),
            since,
            is_beginning: !was_text,
            answered: std::mem::take(&mut self.answered),
        })
    }

    /// The last letter is a key, and has to be pressed again.
    pub(in crate::ui::turn_pane) fn is_deferred(&self) -> bool {
        self.is_deferred
    }

    /// A letter that is read at `at` may belong to those before it.
    pub(in crate::ui::turn_pane) fn continues(&self, at: Instant) -> bool {
        let within = self.is_text.unwrap_or(TOGETHER);
        self.times.is_some_and(|(_, last)| at.saturating_duration_since(last) < within)
    }

    /// A letter that is read at `at` follows the one before it as the next letter of a word.
    fn is_close(&self, at: Instant) -> bool {
        self.times.is_some_and(|(_, last)| at.saturating_duration_since(last) < QUIET)
    }

    /// The last letter was a key.
    pub(in crate::ui::turn_pane) fn key_was_alone(&mut self) {
        self.was_alone = true;
    }

    /// The letters up to `key`, which answered. The same key that was pressed in vain before is not a part of a text, unless
    /// it had to be pressed twice.
    pub(in crate::ui::turn_pane) fn take_answer(&mut self, key: char, is_given_twice: bool) -> String {
        let typed = std::mem::take(self);
        let is_whole = typed.text.ends_with(key) && typed.answered == 0;
        if is_whole && (is_given_twice || !typed.is_only(key)) { typed.text } else { key.into() }
    }

    pub(super) fn is_only(&self, key: char) -> bool {
        self.is_text.is_none() && self.text.chars().all(|letter| letter == key)
    }

    /// What comes next is the beginning of something else.
    pub(in crate::ui::turn_pane) fn clear(&mut self) {
        *self = TypedLetters::default();
    }
}

#[cfg(test)]
#[path = "typed_letters_tests.rs"]
mod tests;
