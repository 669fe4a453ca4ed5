//! The interface without a screen: lines that are printed once, and lines that the person types in answer.
//!
//! For screen readers, and where nothing may be repainted. Things are numbered, a number chooses a thing, and Enter
//! alone never chooses anything. The caller has made every line safe for the terminal.

use super::input;
use super::lines::margin_mark;
use super::terminal::term;
use placet_text::conversation::CallOutcome;
use placet_text::text::visible;
use placet_workspace::LargeLoss;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The person, who reads lines and answers with lines.
pub trait LineUi {
    /// Prints a line of placet's own.
    fn say(&mut self, line: &str);

    /// Prints a line of foreign text.
    fn quote(&mut self, line: &str);

    /// Asks for a line; `None` when the person stopped, or the terminal is gone.
    fn ask(&mut self, question: &str) -> Option<String>;

    /// The same without an echo of the line.
    fn ask_secret(&mut self, question: &str) -> Option<String>;

    /// True when the person presses Ctrl-C or Esc within `most`.
    fn is_interrupted(&mut self, most: Duration) -> bool;
}

/// The caller renders the line; this is a second check.
fn guarded(line: &str) -> std::borrow::Cow<'_, str> {
    if line.contains(visible::acts) { visible::guard_line(line) } else { line.into() }
}

/// The person at the terminal.
pub struct TerminalLineUi;

impl LineUi for TerminalLineUi {
    fn say(&mut self, line: &str) {
        term::write_all(format!("{}\r\n", margin_mark::marked(&guarded(line))).as_bytes());
    }

    fn quote(&mut self, line: &str) {
        term::write_all(format!("{}\r\n", margin_mark::clear_margin_of(&guarded(line))).as_bytes());
    }

    fn ask(&mut self, question: &str) -> Option<String> {
        input::line(question, input::AnswerRisk::Light)
    }

    fn ask_secret(&mut self, question: &str) -> Option<String> {
        input::line(question, input::AnswerRisk::Secret)
    }

    fn is_interrupted(&mut self, most: Duration) -> bool {
        input::is_interrupted(most)
    }
}

/// Asks the person a question whose answer changes something, while placet already owns the terminal. `None`: the
/// person stopped, or the terminal is gone.
pub fn consent(question: &str) -> Option<String> {
    input::line(question, input::AnswerRisk::Consent)
}

/// The same while placet does not own the terminal yet; also `None` where there is no terminal.
pub fn consent_alone(question: &str) -> Option<String> {
    let _base = term::BaseMode::enter_any().ok()?;
    consent(question)
}

/// Asks a question to which `word` and Enter means yes, while placet already owns the terminal. Any other line means no.
pub fn is_confirmed_by(word: &str, question: &str) -> bool {
    consent(question).is_some_and(|answer| answer.trim() == word)
}

/// Asks with `ask` for the word that approves a large loss. True without a question where there is no large loss.
pub fn confirm_losses(
    losses: &[LargeLoss],
    name: &dyn Fn(&Path) -> PathBuf,
    ask: impl FnOnce(&str) -> Option<String>,
) -> bool {
    let Some(first) = losses.first() else { return true };
    let mut question = String::new();
    for loss in losses {
        question.push_str(&format!("! it {}\r\n", visible::guard_line(&loss.words(name))));
    }
    let word = first.word(name);
    question.push_str(&format!("type `{word}` and Enter to apply this; Enter alone keeps it pending: "));
    ask(&question).is_some_and(|answer| answer.trim() == word)
}

/// Prints things with their numbers, the first of them as `from`, counted from 0.
pub fn say_numbered(talk: &mut dyn LineUi, from: usize, things: impl IntoIterator<Item = String>) {
    for (at, words) in (from + 1..).zip(things) {
        talk.say(&format!("{at}: {words}"));
    }
}

/// How a call ended.
pub fn outcome_word(outcome: CallOutcome) -> &'static str {
    match outcome {
        CallOutcome::Done => "done",
        CallOutcome::Failed => "failed",
        CallOutcome::Denied => "refused",
        CallOutcome::Interrupted => "stopped",
    }
}

/// The thing with the number that was typed.
pub fn chosen<'t, T>(things: &'t [T], word: &str) -> Option<&'t T> {
    things.get(number(word, things.len())?)
}

/// What a number that was typed means: the place it counts from 1, if there is one.
pub fn number(word: &str, count: usize) -> Option<usize> {
    word.trim().parse::<usize>().ok()?.checked_sub(1).filter(|at| *at < count)
}

#[cfg(test)]
pub(crate) mod script {
    use super::LineUi;
    use std::collections::VecDeque;
    use std::time::Duration;

    /// A person whose answers are fixed in advance.
    pub(crate) struct ScriptedLineUi {
        answers: VecDeque<String>,
        pub(crate) said: Vec<String>,
    }

    impl ScriptedLineUi {
        pub(crate) fn of(answers: &[&str]) -> ScriptedLineUi {
            ScriptedLineUi { answers: answers.iter().map(ToString::to_string).collect(), said: Vec::new() }
        }

        /// Everything that was printed, question and answer in one line.
        pub(crate) fn transcript(&self) -> String {
            self.said.join("\n")
        }
    }

    impl LineUi for ScriptedLineUi {
        fn say(&mut self, line: &str) {
            assert!(!line.contains(char::is_control), "{line:?} would act on a terminal");
            self.said.push(line.into());
        }

        fn quote(&mut self, line: &str) {
            self.say(line);
        }

        fn ask(&mut self, question: &str) -> Option<String> {
            let answer = self.answers.pop_front();
            self.said.push(format!("{question}{}", answer.as_deref().unwrap_or("^C")));
            answer
        }

        fn ask_secret(&mut self, question: &str) -> Option<String> {
            self.said.push(question.into());
            self.answers.pop_front()
        }

        fn is_interrupted(&mut self, most: Duration) -> bool {
            std::thread::sleep(most);
            false
        }
    }
}
