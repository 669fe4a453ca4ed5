//! The result of a call: a part for the model and a part for the person. Neither is ever parsed into the other.

use super::ToolError;
use super::command_to_approve::CommandToApprove;
use super::matched_text::MatchedText;
use placet_text::conversation::{CallFact, CallOutcome, Image, Part};
use placet_text::text::UnifiedDiff;
use placet_workspace::{ListedChange, care_first, care_first_order};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput {
    pub outcome: CallOutcome,
    pub for_model: Vec<Part>,
    pub for_person: CallSummary,
    /// What was done, as values: for the tool sets that word it in their own way.
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

    /// What the model looked up: the person sees `line`, and the text in the transcript.
    pub fn lookup(line: impl Into<String>, text: impl Into<String>) -> ToolOutput {
        let text = text.into();
        ToolOutput::done(text.clone(), CallSummary::lookup(line, DisplayDetail::Text(text)))
    }

    #[must_use]
    pub fn with(self, facts: OutputFacts) -> ToolOutput {
        ToolOutput { facts, ..self }
    }

    /// How long the texts for the model are together.
    pub fn text_bytes(&self) -> usize {
        self.for_model.iter().filter_map(Part::as_text).map(str::len).sum()
    }

    /// Every text in the output that may quote a file, a command or a server.
    pub fn texts_mut(&mut self) -> Vec<&mut String> {
        let parts = self.for_model.iter_mut().filter_map(|part| match part {
            Part::Text { text } => Some(text),
            Part::Note(_) | Part::Image(_) => None,
        });
        let mut texts: Vec<&mut String> = parts.chain([&mut self.for_person.line]).collect();
        texts.extend(&mut self.for_person.notes);
        match &mut self.for_person.detail {
            DisplayDetail::Text(text)
            | DisplayDetail::Report(text)
            | DisplayDetail::Matches(MatchedText { text, .. })
            | DisplayDetail::Diff(DiffText { text, .. }) => texts.push(text),
            // A command that is to be approved is part of no result.
            DisplayDetail::None
            | DisplayDetail::Changes(_)
            | DisplayDetail::Command(_)
            | DisplayDetail::Image(_) => {}
        }
        match &mut self.facts {
            OutputFacts::Ran(ran) => texts.extend([&mut ran.output, &mut ran.effects]),
            OutputFacts::Steady(text) => texts.push(text),
            _ => {}
        }
        texts.extend(self.recorded.iter_mut().filter_map(CallFact::text_mut));
        texts
    }
}

/// See [`ToolOutput::facts`].
#[derive(Clone, Debug, Default, PartialEq)]
pub enum OutputFacts {
    #[default]
    None,
    /// Files were changed, with the number of places if places are counted.
    Changed {
        changes: Vec<EditedFile>,
        places: usize,
        /// What was adapted: an offset, or the nearest of several places.
        notes: Vec<String>,
    },
    Ran(CommandResult),
    /// The result without the parts that differ from run to run.
    Steady(String),
    /// The present list of steps.
    Todos(Vec<super::TodoItem>),
    Failed(ToolError),
}

/// A file before and after a change; absent if it did not exist.
#[derive(Clone, Debug, PartialEq)]
pub struct EditedFile {
    pub path: PathBuf,
    pub before: Option<Arc<Vec<u8>>>,
    pub after: Option<Arc<Vec<u8>>>,
}

impl EditedFile {
    /// The size of the new content in bytes.
    pub fn size(&self) -> usize {
        self.after.as_ref().map_or(0, |bytes| bytes.len())
    }
}

/// A command that ran, whatever its result.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandResult {
    /// Both streams, in the order in which they were written.
    pub output: String,
    /// 128 plus the signal for a command that was killed; absent for a command that placet stopped.
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
    /// How the command ended whose output is the detail.
    pub command: Option<CommandEnd>,
    pub detail_place: DetailPlace,
    /// What hooks told the model about the call.
    pub notes: Vec<String>,
}

/// Where the person sees the detail of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DetailPlace {
    /// In the scrollback, below the line.
    #[default]
    Scrollback,
    /// The detail is a change that is pending: the question at the end of the turn shows it.
    ApplyQuestion,
    /// The detail is what the model looked up: the expanded view and the transcript show it.
    Transcript,
}

/// What the screen shows of the end of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandEnd {
    /// 128 plus the signal for a command that was killed.
    pub code: i32,
    /// How many lines the command printed; the screen has the first and the last.
    pub lines: usize,
}

impl CommandEnd {
    pub fn has_failed(&self) -> bool {
        self.code != 0
    }
}

impl CallSummary {
    pub fn line(line: impl Into<String>) -> CallSummary {
        CallSummary::new(line, DisplayDetail::None)
    }

    pub fn new(line: impl Into<String>, detail: DisplayDetail) -> CallSummary {
        CallSummary {
            line: line.into(),
            detail,
            command: None,
            detail_place: DetailPlace::Scrollback,
            notes: Vec::new(),
        }
    }

    /// A change that is pending.
    pub fn pending(line: &str, detail: DisplayDetail) -> CallSummary {
        let summary = CallSummary::new(format!("{line} · pending"), detail);
        CallSummary { detail_place: DetailPlace::ApplyQuestion, ..summary }
    }

    /// What the model looked up.
    pub fn lookup(line: impl Into<String>, detail: DisplayDetail) -> CallSummary {
        CallSummary { detail_place: DetailPlace::Transcript, ..CallSummary::new(line, detail) }
    }

    /// The summary as one line, where the person sees the rest elsewhere. Nothing is shown twice.
    #[must_use]
    pub fn for_scrollback(self) -> CallSummary {
        match self.detail_place {
            DetailPlace::Scrollback => self,
            DetailPlace::ApplyQuestion | DetailPlace::Transcript => {
                CallSummary { detail: DisplayDetail::None, ..self }
            }
        }
    }

    /// A failure: its first line is next to the title, the other lines are below.
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
        CallSummary::new(line, DisplayDetail::Text(text.into()))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum DisplayDetail {
    None,
    /// Output that the screen folds to a few lines.
    Text(String),
    /// What a sub-agent wrote: Markdown, folded in the same way.
    Report(String),
    /// Output with what a search found marked in it.
    Matches(MatchedText),
    /// A unified diff, its lines with their carriage returns.
    Diff(DiffText),
    /// A change set that is shown, or that a question is about.
    Changes(Box<ChangeOverview>),
    /// A command that a question is about.
    Command(Box<CommandToApprove>),
    Image(Image),
}

/// A diff for a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiffText {
    pub text: String,
    /// Changed lines that are not in the diff: nobody saw them.
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

/// A change set for a person: its list, and each file's patch, byte for byte.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangeOverview {
    /// One row for each change; names in it are rendered.
    pub list: Vec<ListedChange>,
    pub files: Vec<FileDiff>,
}

impl ChangeOverview {
    /// Adds the changes of another view. What must be seen first comes first among all of them.
    pub fn append(&mut self, mut other: ChangeOverview) {
        let rows = self.list.len();
        other.files.iter_mut().for_each(|file| file.row += rows);
        self.list.append(&mut other.list);
        self.files.append(&mut other.files);
        let (first, rest) = care_first_order(&self.list);
        let mut places = vec![0; self.list.len()];
        for (place, row) in first.into_iter().chain(rest).enumerate() {
            if let Some(known) = places.get_mut(row) {
                *known = place;
            }
        }
        self.list = care_first(std::mem::take(&mut self.list));
        self.files.iter_mut().for_each(|file| file.row = places.get(file.row).copied().unwrap_or(file.row));
    }
}

/// How one file changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileDiff {
    /// Rendered for a person.
    pub name: String,
    /// The row of the list to which the file belongs.
    pub row: usize,
    pub patch: Vec<u8>,
    /// The part of the diff that is not in `patch`; it never counts as seen.
    pub left_out: Option<LeftOut>,
    /// Files of the patch that a program runs or obeys later, each with the reason.
    pub runs_later: Vec<(PathBuf, String)>,
    /// The patch is of a commit, and the patches of the listed files show all of it.
    pub is_repeated: bool,
}

/// What a question does not show of the diff of a file, in bytes, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// The diffs together are too long for a question.
    TooLong { bytes: usize },
    /// The contents are too large for a patch.
    NotInPatch { bytes: u64 },
    /// The contents were those of a file that has other content now.
    Replaced { bytes: u64 },
    /// The diffs of all commits together are too long.
    OfCommit { bytes: usize },
    /// There is more in a repository than was read.
    NotRead,
    /// The diffs of this transaction together are too long.
    OfTransaction { bytes: usize, id: u64 },
}

impl LeftOut {
    pub fn bytes(self) -> u64 {
        match self {
            LeftOut::TooLong { bytes }
            | LeftOut::OfCommit { bytes }
            | LeftOut::OfTransaction { bytes, .. } => bytes as u64,
            LeftOut::NotInPatch { bytes } | LeftOut::Replaced { bytes } => bytes,
            LeftOut::NotRead => 0,
        }
    }
}

/// What a question shows before the person answers: everything that the call would do, complete.
#[derive(Clone, Debug, PartialEq)]
pub struct CallPreview {
    pub line: String,
    pub detail: DisplayDetail,
}
