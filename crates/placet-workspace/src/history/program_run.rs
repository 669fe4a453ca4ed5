//! A program that the person ran in a view: what a change of it is attributed to.

use placet_text::text::{sanitize, shell_word};
use serde::{Deserialize, Serialize};

/// How many bytes of the arguments are stored. A prompt given as an argument may be very long.
const ARGUMENTS: usize = 4096;

/// A program, its arguments, and how it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramRun {
    pub program: String,
    /// The name of its preset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Which start of one `placet run` it is, from 2: the person sent its changes back before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// Absent where a signal ended it, and where its end is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
}

impl ProgramRun {
    /// `words` are the program and its arguments. Arguments beyond a limit are cut.
    pub fn new(words: &[String]) -> ProgramRun {
        let mut words = words.iter();
        let program = words.next().cloned().unwrap_or_default();
        let mut room = ARGUMENTS;
        let mut arguments = Vec::new();
        for word in words {
            let cut = word.floor_char_boundary(room);
            room -= cut;
            match word.get(..cut) {
                Some(part) if cut == word.len() => arguments.push(part.to_string()),
                part => {
                    arguments.push(format!("{}...", part.unwrap_or_default()));
                    break;
                }
            }
        }
        ProgramRun { program, preset: None, round: None, arguments, exit_code: None, signal: None }
    }

    /// The same with the end of the program.
    #[must_use]
    pub fn ended(self, exit_code: Option<i32>, signal: Option<i32>) -> ProgramRun {
        ProgramRun { exit_code, signal, ..self }
    }

    /// The command line in one line that is fit for a terminal.
    pub fn line(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.arguments);
        let line = words.map(|word| shell_word::quoted(word)).collect::<Vec<_>>().join(" ");
        sanitize::line(line.lines().next().unwrap_or_default()).into_owned()
    }

    /// How it ended: `exit code 1`, `signal 9`.
    pub fn ending(&self) -> String {
        match (self.exit_code, self.signal) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "its end is not known".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_arguments_are_cut_and_marked() {
        let run = ProgramRun::new(&["agent".into(), "x".repeat(ARGUMENTS - 1), "long".into(), "y".into()]);
        assert_eq!(run.arguments.len(), 2);
        assert_eq!(run.arguments.last().unwrap(), "l...");
        let run = ProgramRun::new(&["claude".into(), "-p".into(), "fix it".into()]).ended(Some(1), None);
        assert_eq!((run.line().as_str(), run.ending().as_str()), ("claude -p 'fix it'", "exit code 1"));
    }
}
