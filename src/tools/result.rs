//! What a call gives back: a part for the model and a part for the person. Neither is ever parsed into the other.

use crate::conversation::{Image, Outcome, Part};

#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    pub outcome: Outcome,
    pub for_model: Vec<Part>,
    pub for_person: Summary,
}

impl Output {
    pub fn done(text: impl Into<String>, summary: Summary) -> Output {
        Output { outcome: Outcome::Done, for_model: vec![Part::text(text)], for_person: summary }
    }
}

/// What the screen shows of a finished call.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// One line that names the object: `edit src/app.rs +3 -1`.
    pub line: String,
    pub detail: Detail,
}

impl Summary {
    pub fn line(line: impl Into<String>) -> Summary {
        Summary { line: line.into(), detail: Detail::None }
    }

    /// What went wrong: its first line beside the title, the others below.
    pub fn failure(title: &str, message: &str) -> Summary {
        match message.split_once('\n') {
            Some((first, rest)) => Summary::text(format!("{title}: {first}"), rest),
            None => Summary::line(format!("{title}: {message}")),
        }
    }

    pub fn text(line: impl Into<String>, text: impl Into<String>) -> Summary {
        Summary { line: line.into(), detail: Detail::Text(text.into()) }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Detail {
    None,
    /// Output to fold to a few lines.
    Text(String),
    /// A unified diff, for colours.
    Diff(String),
    Image(Image),
}

/// What a question shows before the person answers: everything the call would do, nothing left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Preview {
    pub line: String,
    pub detail: Detail,
}
