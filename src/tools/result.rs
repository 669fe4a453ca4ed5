//! What a call gives back: a part for the model and a part for the person. Neither is ever parsed into the other.

use super::ToolError;
use crate::conversation::{CallFact, CallOutcome, Image, Part};
use crate::text::UnifiedDiff;
use crate::workspace::ListedChange;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput {
    pub outcome: CallOutcome,
    pub for_model: Vec<Part>,
    pub for_person: CallSummary,
    /// What was done, as values: for the surfaces that word it in their own way.
    pub facts: OutputFacts,
    /// Facts that stay with the result in the conversation.
    pub recorded: Vec<CallFact>,
}

impl ToolOutput {
    pub fn done(text: impl Into<String>, summary: CallSummary) -> ToolOutput {
        ToolOutput {
            outcome: CallOutcome::Done,
            for_model: vec![Part::text(text)],
            for_person: summary,
            facts: OutputFacts::None,
            recorded: Vec::new(),
        }
    }

    /// The same text for the model and for the person, who sees `line` above it.
    pub fn text(line: impl Into<String>, text: impl Into<String>) -> ToolOutput {
        let text = text.into();
        ToolOutput::done(text.clone(), CallSummary::text(line, text))
    }

    #[must_use]
    pub fn with(self, facts: OutputFacts) -> ToolOutput {
        ToolOutput { facts, ..self }
    }

    /// Every text in it that may quote a file, a command or a server.
    pub fn texts_mut(&mut self) -> Vec<&mut String> {
        let parts = self.for_model.iter_mut().filter_map(|part| match part {
            Part::Text { text } => Some(text),
            Part::Note(_) | Part::Image(_) => None,
        });
        let mut texts: Vec<&mut String> = parts.chain([&mut self.for_person.line]).collect();
        match &mut self.for_person.detail {
            DisplayDetail::Text(text) | DisplayDetail::Diff(DiffText { text, .. }) => texts.push(text),
            DisplayDetail::None | DisplayDetail::Changes(_) | DisplayDetail::Image(_) => {}
        }
        match &mut self.facts {
            OutputFacts::Ran(ran) => texts.extend([&mut ran.output, &mut ran.effects]),
            OutputFacts::Steady(text) => texts.push(text),
            _ => {}
        }
        texts
    }
}

/// See [`ToolOutput::facts`].
#[derive(Clone, Debug, Default, PartialEq)]
pub enum OutputFacts {
    #[default]
    None,
    /// Files were changed, at so many places where places are counted.
    Changed {
        changes: Vec<EditedFile>,
        places: usize,
        /// What was adapted: an offset, the nearest of several places.
        notes: Vec<String>,
    },
    Ran(CommandResult),
    /// The result without what changes from run to run by itself.
    Steady(String),
    /// The list of steps is this now.
    Todos(Vec<super::TodoItem>),
    Failed(ToolError),
}

/// A file before and after; absent where it did not exist.
#[derive(Clone, Debug, PartialEq)]
pub struct EditedFile {
    pub path: PathBuf,
    pub before: Option<Arc<Vec<u8>>>,
    pub after: Option<Arc<Vec<u8>>>,
}

impl EditedFile {
    /// Bytes of the new content.
    pub fn size(&self) -> usize {
        self.after.as_ref().map_or(0, |bytes| bytes.len())
    }
}

/// A command that ran, whatever came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandResult {
    /// Both streams, in the order in which they were written.
    pub output: String,
    /// 128 and the signal, for one that was killed; absent for one that was stopped.
    pub code: Option<i32>,
    pub elapsed: Duration,
    pub effects: String,
}

/// What the screen shows of a finished call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallSummary {
    /// One line that names the object: `edit src/app.rs +3 -1`.
    pub line: String,
    pub detail: DisplayDetail,
    /// How the command ended whose output the detail is.
    pub command: Option<CommandEnd>,
}

/// What the screen shows of the end of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandEnd {
    /// 128 and the signal, for one that was killed.
    pub code: i32,
    /// Lines that it printed, of which the screen has the first and the last.
    pub lines: usize,
}

impl CommandEnd {
    pub fn has_failed(&self) -> bool {
        self.code != 0
    }
}

impl CallSummary {
    pub fn line(line: impl Into<String>) -> CallSummary {
        CallSummary { line: line.into(), detail: DisplayDetail::None, command: None }
    }

    /// What went wrong: its first line beside the title, the others below.
    pub fn failure(title: &str, message: &str) -> CallSummary {
        match message.split_once('\n') {
            Some((first, rest)) => CallSummary::text(format!("{title}: {first}"), rest),
            None => CallSummary::line(format!("{title}: {message}")),
        }
    }

    /// The line of a call of `tool` that did not go through: it names what it was about, and not only the tool.
    pub fn named_line(&self, tool: &str, title: &str) -> String {
        if self.line.contains(title) {
            return self.line.clone();
        }
        let why = self.line.strip_prefix(tool).and_then(|rest| rest.strip_prefix(": "));
        format!("{title}: {}", why.unwrap_or(&self.line))
    }

    pub fn text(line: impl Into<String>, text: impl Into<String>) -> CallSummary {
        CallSummary { line: line.into(), detail: DisplayDetail::Text(text.into()), command: None }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum DisplayDetail {
    None,
    /// Output to fold to a few lines.
    Text(String),
    /// A unified diff, its lines with their carriage returns.
    Diff(DiffText),
    /// A change set that is asked about, or looked at.
    Changes(Box<ChangeOverview>),
    Image(Image),
}

/// A difference for the eye.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiffText {
    pub text: String,
    /// Changed lines that are not in it: nobody saw them.
    pub left_out: usize,
}

impl From<UnifiedDiff> for DiffText {
    fn from(view: UnifiedDiff) -> DiffText {
        let mut text = view.text;
        if view.left_out > 0 {
            text.push_str(&format!("[... {} more changed lines]\n", view.left_out));
        }
        DiffText { text, left_out: view.left_out }
    }
}

impl From<&str> for DiffText {
    fn from(text: &str) -> DiffText {
        DiffText { text: text.into(), left_out: 0 }
    }
}

/// A change set for the eye: its list, and each file's patch, byte for byte.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangeOverview {
    /// One row for each change; names in it are rendered.
    pub list: Vec<ListedChange>,
    pub files: Vec<FileDiff>,
}

/// How one file changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileDiff {
    /// Rendered for a person.
    pub name: String,
    /// The row of the list that it belongs to.
    pub row: usize,
    pub patch: Vec<u8>,
    /// What of the difference is not in `patch`; it never counts as seen.
    pub left_out: Option<LeftOut>,
}

/// What a question does not show of the difference of a file, in bytes, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// The differences together are too long for a question.
    TooLong { bytes: usize },
    /// The contents are too large for a patch, or not readable any more.
    NotInPatch { bytes: u64 },
    /// The differences of all commits together are too long.
    OfCommit { bytes: usize },
}

impl LeftOut {
    pub fn bytes(self) -> u64 {
        match self {
            LeftOut::TooLong { bytes } | LeftOut::OfCommit { bytes } => bytes as u64,
            LeftOut::NotInPatch { bytes } => bytes,
        }
    }
}

/// What a question shows before the person answers: everything the call would do, nothing left out.
#[derive(Clone, Debug, PartialEq)]
pub struct CallPreview {
    pub line: String,
    pub detail: DisplayDetail,
}
