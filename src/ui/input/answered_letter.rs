//! A letter that answered a question, and the text of which it may have been the first letter.
//!
//! No wait is long enough to know that a letter is alone: some people type one letter in a second. So what follows the
//! answer is looked at. Two letters that follow in the pace of the first gap are a text: the letter that answered is put
//! back in front of it. Someone who answers, reads, and then begins to type is faster between two letters than between the
//! answer and the first of them. No I/O, no clock.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::time::{Duration, Instant};

/// How long after the answer, and after its first letter, a text may go on.
const GOES_ON: Duration = Duration::from_secs(2);

/// A letter that answered, and what followed it.
#[derive(Clone, Debug)]
pub struct AnsweredLetter {
    letter: char,
    /// What the letter chose, as the row of keys names it.
    chosen: String,
    /// `/undo` reverts what it did.
    is_undoable: bool,
    at: Instant,
    next: Option<(char, Instant)>,
}

/// What a key is to the letter that answered before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyAfterAnswer {
    /// It may go on with a text.
    MayGoOn,
    /// It goes on with a text, which has these letters so far, without those of the key.
    GoesOn { letter: char, next: char },
    /// It does not, and no later key does.
    Ends,
}

impl AnsweredLetter {
    /// `letter` was pressed at `at`.
    pub fn new(letter: char, at: Instant, chosen: &str, is_undoable: bool) -> AnsweredLetter {
        AnsweredLetter { letter, chosen: chosen.into(), is_undoable, at, next: None }
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
            None if gap(self.at) <= GOES_ON => {
                self.next = Some((letter, at));
                KeyAfterAnswer::MayGoOn
            }
            Some((next, since))
                if gap(since) <= GOES_ON && gap(since) * 2 >= since.saturating_duration_since(self.at) =>
            {
                KeyAfterAnswer::GoesOn { letter: self.letter, next }
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
        format!("{} answered the question ({}){undo}; your text is in {place}", self.letter, self.chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each key is, typed in so many milliseconds after the answer.
    fn followed(keys: &[(u64, char)]) -> Vec<KeyAfterAnswer> {
        let start = Instant::now();
        let mut answered = AnsweredLetter::new('a', start, "apply all", true);
        let key = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE);
        let at = |millis| start + Duration::from_millis(millis);
        keys.iter().map(|(millis, c)| answered.follow(key(*c), at(*millis))).collect()
    }

    #[test]
    fn letters_in_the_pace_of_the_answer_are_its_text() {
        let text = |next| KeyAfterAnswer::GoesOn { letter: 'a', next };
        use KeyAfterAnswer::{Ends, MayGoOn};
        for (keys, each) in [
            (&[(310, ' '), (620, 't')][..], vec![MayGoOn, text(' ')]),
            (&[(1_000, 'd'), (1_800, 'd')], vec![MayGoOn, text('d')]),
            (&[(2_000, 'l'), (4_000, 's')], vec![MayGoOn, text('l')]),
            // The answer, then a message in the usual pace.
            (&[(900, 'n'), (1_050, 'o')], vec![MayGoOn, Ends]),
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
            |is_undoable| AnsweredLetter::new('k', Instant::now(), "keep", is_undoable).words("the prompt");
        assert_eq!(words(false), "k answered the question (keep); your text is in the prompt");
        assert_eq!(
            words(true),
            "k answered the question (keep); /undo reverts it; your text is in the prompt"
        );
    }
}
