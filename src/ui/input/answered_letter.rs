//! Letters that answered a question, and the text of which they may have been the first.
//!
//! No wait is long enough to know that a letter is alone: some people type one letter in a second. So what follows the
//! answer is looked at. Letters that follow at once, or in the pace of the first gap, are a text: the letters that answered
//! are put back in front of it. Someone who answers, reads, and then begins to type is faster between two letters than
//! between the answer and the first of them: that is another text, and the person learns what the letter did. No I/O, no
//! clock.

use super::guard::ALONE;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::time::{Duration, Instant};

/// How long after the answer, and after its first letter, a letter may belong to the text.
const CONTINUES_WITHIN: Duration = Duration::from_secs(2);

/// How soon a letter follows the one before it in a text: nobody reads what the answer did in less.
const AT_ONCE: Duration = Duration::from_millis(600);

/// A letter that answered, and what followed it.
#[derive(Clone, Debug)]
pub struct AnsweredLetter {
    /// With those before it that belong to it, as where it had to be pressed twice.
    letters: String,
    letter: char,
    /// What the letter chose, as the row of keys names it.
    chosen: String,
    /// `/undo` reverts what it did.
    is_undoable: bool,
    at: Instant,
    /// When the first letter after it was read.
    next: Option<Instant>,
    /// The text after it is another one.
    is_followed_by_another: bool,
}

/// What a key is to the letter that answered before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyAfterAnswer {
    /// It may be the second letter of a text.
    MayContinue,
    /// It continues a text, which began with these letters; with none, where it is another text.
    Continues { letters: String },
    /// It does not, and no later key does.
    Ends,
}

impl AnsweredLetter {
    /// The last of `letters` was pressed at `at`, and answered.
    pub fn new(letters: &str, at: Instant, chosen: &str, is_undoable: bool) -> AnsweredLetter {
        let letter = letters.chars().last().unwrap_or(' ');
        AnsweredLetter {
            letters: letters.into(),
            letter,
            chosen: chosen.into(),
            is_undoable,
            at,
            next: None,
            is_followed_by_another: false,
        }
    }

    pub fn letters(&self) -> &str {
        &self.letters
    }

    /// When the letter was pressed.
    pub fn at(&self) -> Instant {
        self.at
    }

    /// A key that was read at `at`.
    pub fn follow(&mut self, key: KeyEvent, at: Instant) -> KeyAfterAnswer {
        let is_plain = (key.modifiers - KeyModifiers::SHIFT).is_empty();
        // A line that begins with `/` or `!` is a command.
        let KeyCode::Char(letter) = key.code else { return KeyAfterAnswer::Ends };
        if !is_plain || !(letter.is_alphanumeric() || matches!(letter, ' ' | '\'' | ',')) {
            return KeyAfterAnswer::Ends;
        }
        let gap = |from: Instant| at.saturating_duration_since(from);
        match self.next {
            None if gap(self.at) <= CONTINUES_WITHIN => {
                self.next = Some(at);
                KeyAfterAnswer::MayContinue
            }
            // What comes in one piece was not typed by hand.
            Some(since) if (ALONE..=CONTINUES_WITHIN).contains(&gap(since)) => {
                let first = since.saturating_duration_since(self.at);
                self.is_followed_by_another = first > AT_ONCE && gap(since) * 2 < first;
                let letters = if self.is_followed_by_another { "" } else { self.letters.as_str() };
                KeyAfterAnswer::Continues { letters: letters.into() }
            }
            None | Some(_) => KeyAfterAnswer::Ends,
        }
    }

    /// A key followed already.
    pub fn is_followed(&self) -> bool {
        self.next.is_some()
    }

    /// What the person has to know: their text is in `place`.
    pub fn words(&self, place: &str) -> String {
        let undo = if self.is_undoable { "; /undo reverts it" } else { "" };
        let place =
            if self.is_followed_by_another { String::new() } else { format!("; your text is in {place}") };
        format!("{} answered the question ({}){undo}{place}", self.letter, self.chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each key is, typed in so many milliseconds after the answer.
    fn followed(keys: &[(u64, char)]) -> Vec<KeyAfterAnswer> {
        let start = Instant::now();
        let mut answered = AnsweredLetter::new("a", start, "apply all", true);
        let key = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE);
        let at = |millis| start + Duration::from_millis(millis);
        keys.iter().map(|(millis, c)| answered.follow(key(*c), at(*millis))).collect()
    }

    #[test]
    fn letters_in_the_pace_of_the_answer_are_its_text() {
        let text = || KeyAfterAnswer::Continues { letters: "a".into() };
        use KeyAfterAnswer::{Ends, MayContinue};
        for (keys, each) in [
            (&[(310, ' '), (620, 't')][..], vec![MayContinue, text()]),
            (&[(1_000, 'd'), (1_800, 'd')], vec![MayContinue, text()]),
            (&[(2_000, 'l'), (4_000, 's')], vec![MayContinue, text()]),
            // The first letter, and the rest faster.
            (&[(330, 'd'), (480, 'd')], vec![MayContinue, text()]),
            (&[(600, 'd'), (660, 'd')], vec![MayContinue, text()]),
            // The answer, then a message in the usual pace.
            (
                &[(900, 'n'), (1_050, 'o')],
                vec![MayContinue, KeyAfterAnswer::Continues { letters: String::new() }],
            ),
            // A line in one piece.
            (&[(400, 'n'), (412, 'o')], vec![MayContinue, Ends]),
            (&[(2_001, 'n')], vec![Ends]),
            (&[(500, '/')], vec![Ends]),
            (&[(500, '!')], vec![Ends]),
        ] {
            assert_eq!(followed(keys), each, "{keys:?}");
        }
    }

    #[test]
    fn the_words_say_what_the_letter_did() {
        let words =
            |is_undoable| AnsweredLetter::new("k", Instant::now(), "keep", is_undoable).words("the prompt");
        assert_eq!(words(false), "k answered the question (keep); your text is in the prompt");
        assert_eq!(
            words(true),
            "k answered the question (keep); /undo reverts it; your text is in the prompt"
        );
    }
}
