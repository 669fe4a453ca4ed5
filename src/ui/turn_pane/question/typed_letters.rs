//! Letters that follow each other at a question: a text that was meant for the draft.
//!
//! One letter is a key. Two different ones, each within [`QUIET`] of the one before, are the beginning of a text, and so is
//! each letter that follows the text within that time. The same letter twice is a key that was pressed again. A letter that
//! answered is no part of a text: see [`TypedLetters::clear`]. No I/O, no clock.

use crate::ui::input::guard::QUIET;
use std::time::Instant;

/// Letters that were typed one after the other, the last of them now.
#[derive(Debug, Default)]
pub(in crate::ui::turn_pane) struct TypedLetters {
    text: String,
    /// A text was recognized: what follows belongs to it.
    is_text: bool,
    /// When the first and the last of them were read.
    times: Option<(Instant, Instant)>,
}

/// A text, from its first letter on.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::ui::turn_pane) struct TypedText {
    pub(in crate::ui::turn_pane) text: String,
    /// When its first letter was read.
    pub(in crate::ui::turn_pane) since: Instant,
    /// It begins here: the letters before its last one were taken for keys.
    pub(in crate::ui::turn_pane) is_beginning: bool,
}

impl TypedLetters {
    /// A letter that was read at `at`. Returns the text as soon as the letters are one.
    pub(in crate::ui::turn_pane) fn add(&mut self, letter: char, at: Instant) -> Option<TypedText> {
        if !self.goes_on(at) {
            self.clear();
        }
        self.text.push(letter);
        let since = self.times.map_or(at, |(first, _)| first);
        self.times = Some((since, at));
        let first = self.text.chars().next();
        let was_text = self.is_text;
        self.is_text |= self.text.chars().any(|letter| Some(letter) != first);
        let text = || TypedText { text: std::mem::take(&mut self.text), since, is_beginning: !was_text };
        self.is_text.then(text)
    }

    /// A letter that is read at `at` belongs to those before it.
    pub(in crate::ui::turn_pane) fn goes_on(&self, at: Instant) -> bool {
        self.times.is_some_and(|(_, last)| at.saturating_duration_since(last) < QUIET)
    }

    pub(super) fn is_only(&self, key: char) -> bool {
        !self.is_text && self.text.chars().all(|letter| letter == key)
    }

    /// What comes next is the beginning of something else.
    pub(in crate::ui::turn_pane) fn clear(&mut self) {
        *self = TypedLetters::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// The text that the letters with their times in milliseconds make, and when it began.
    fn typed(letters: &[(u64, char)]) -> Option<(String, u64)> {
        let start = Instant::now();
        let mut typed = TypedLetters::default();
        let texts = letters.iter().filter_map(|(at, c)| typed.add(*c, start + Duration::from_millis(*at)));
        let since = |text: &TypedText| u64::try_from((text.since - start).as_millis()).unwrap();
        texts.last().map(|text| (text.text.clone(), since(&text)))
    }

    #[test]
    fn two_different_letters_close_together_are_a_text() {
        for (letters, text) in [
            (&[(0, 'n'), (0, 'o')][..], Some(("no", 0))),
            (&[(0, 'n'), (400, 'o')], Some(("no", 0))),
            (&[(0, 'n'), (400, 'n'), (800, 'o')], Some(("nno", 0))),
            (&[(0, 'a'), (600, 'b'), (700, ' ')], Some(("b ", 600))),
            (&[(0, 'n'), (400, 'o'), (800, ' ')], Some((" ", 0))),
            (&[(0, 'n'), (400, 'o'), (800, ' '), (1_300, 'd')], Some((" ", 0))),
            (&[(0, 'n'), (500, 'o')], None),
            (&[(0, 'a'), (1, 'a'), (2, 'a')], None),
            (&[(0, 'a')], None),
        ] {
            assert_eq!(typed(letters), text.map(|(text, since)| (text.to_string(), since)), "{letters:?}");
        }
    }
}
