//! What placet itself adds to a conversation: facts as values, one variant for each.
//!
//! A file, a command, a tool, a server or a paste can contain any text, but none of them can contain a [`Note`]:
//! placet's own code makes a note and stores it as a separate value, and so nothing is ever recognised by how a text
//! begins. [`super::words`] makes the sentences that a model reads, when a request is encoded.

use super::TextCallFault;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum Note {
    /// The mode, if it differs from the mode that was last reported to the model.
    Mode { mode: String, meaning: String },
    /// The person's and the project's instructions, and the files that they come from.
    Instructions {
        text: String,
        edition: InstructionsVersion,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sources: Vec<InstructionsSource>,
    },
    /// The project has no AGENTS.md any more.
    InstructionsGone,
    /// The instructions of a deeper directory, in which a call touched a file.
    DirectoryInstructions { dir: String, text: String, sources: Vec<InstructionsSource> },
    /// The names and descriptions of the skills; an empty text if there are none any more.
    Skills { text: String, edition: InstructionsVersion },
    /// The next part is the text of a skill that the person chose.
    ChosenSkill { name: String, dir: String },
    /// The next part is the text of a command that the person wrote, or of the project.
    CustomCommand { line: String },
    /// The summary that replaces the beginning of the conversation.
    Summary { text: String },
    /// The beginning of the conversation is not in this request.
    BeginningLeftOut,
    /// The beginning of this turn is not in this request.
    WorkLeftOut,
    /// A background command ended.
    JobEnded(JobEnd),
    /// Background commands to which placet has lost access.
    JobsLost { jobs: Vec<u32> },
    /// The next part is a file that the person attached.
    AttachedFile { path: String },
    /// The next part is a scratchpad that the person attached.
    AttachedScratchpad { name: String },
    /// The person's decisions in a review, as JSON; and the same in short, for the person.
    Review { report: String, brief: String },
    /// The conversation continues in another directory.
    DirectoryChanged { from: String, to: String },
    /// The same call had the same result this number of times.
    Repeated { times: u32 },
    /// Calls of one tool that differ failed in the same way, in this number of answers.
    FailsAlike { times: u32 },
    /// The model's last answer had no content.
    EmptyAnswer,
    /// The model's last answer had a call as text, which did not run.
    TextCall { fault: TextCallFault },
    /// A call did not run, or did not end.
    Interrupted { at: CallInterruption },
    /// A result that does not fit the window.
    ResultLeftOut { tool: String, arguments: String, scratchpad: Option<String> },
    /// A picture that does not fit the window.
    PictureLeftOut,
    /// A picture or a PDF that is not sent.
    PictureHidden { kind: String, name: String, reason: String },
    /// A picture that an imported file names and does not contain.
    PictureMissing { name: String },
    /// A result that the provider refused.
    ResultRefused { tool: String },
    /// The conversation as text, because the provider refused its usual form.
    PlainHistory { text: String, scope: HistoryScope },
    /// A piece of a conversation that begins with an answer.
    GoesOn,
    /// Asks for a summary, with regard to `focus` unless it is empty.
    SumUp { focus: String },
    /// A hook withholds an answer; the hook's reason replaces it.
    AnswerWithheld { reason: String },
    /// A text of one of the person's hooks.
    HookSays { hook: String, text: String },
    /// Checks failed on what the agent changed, for the `round`th time of at most `most`.
    ChecksFailed { failed: Vec<FailedCheck>, round: u32, most: u32 },
    /// What checks find after an edit and did not find before the turn.
    NewDiagnostics { found: Vec<FailedCheck> },
    /// A message of a damaged session.
    MessageLost,
    /// What was changed in the arguments of a call, which had one meaning only.
    ArgumentsChanged { changes: String },
    /// What an answer does not have although the call asked for it.
    ResultIncomplete { missing: String },
    /// A change that could not be written to its mounted store.
    NotStored { reason: String },
    /// Changes of a command at a lower level than the conversation's, which placet discarded.
    WriteDownBlocked { level: String, files: Vec<BlockedWrite>, more: usize },
    /// A note of a session of an earlier format, of which only the sentence is known.
    Earlier { text: String },
}

/// The first or a changed version of the project's instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstructionsVersion {
    First,
    Changed,
}

/// A file of instructions, and how many of its bytes are sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionsSource {
    pub path: String,
    pub bytes: usize,
}

/// How much of a conversation [`Note::PlainHistory`] contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryScope {
    Whole,
    End,
}

/// A check of [`Note::ChecksFailed`] or [`Note::NewDiagnostics`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedCheck {
    pub check: String,
    /// `test: failed: 1 of 4 tests`, `check: 2 new errors`.
    pub outcome: String,
    /// What it found or wrote.
    pub lines: Vec<String>,
}

/// A file of [`Note::WriteDownBlocked`], and its level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockedWrite {
    pub path: String,
    pub level: String,
}

/// When a call was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallInterruption {
    /// The person stopped the turn before the call ran.
    BeforeItRan,
    /// The call was asked to stop and did not stop in time.
    Abandoned,
    /// The same for a command in layers of its own: what it writes is discarded.
    AbandonedCommand,
    /// The command had ended, and its changes were still being collected.
    AbandonedCollection,
    /// placet itself ended first.
    PlacetStopped,
}

/// The end of a background command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobEnd {
    pub job: u32,
    /// `exit code 0 after 2.0 s`
    pub how: String,
    pub command: String,
    /// Its effects on files, in lines; empty without effects.
    pub effects: String,
}

/// Notes of which the newest of each kind applies until another replaces it: they outlive their messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinnedNoteKind {
    Summary,
    Instructions,
    Skills,
    Mode,
}

impl PinnedNoteKind {
    /// In the order in which they are sent.
    pub const ALL: [PinnedNoteKind; 4] =
        [PinnedNoteKind::Summary, PinnedNoteKind::Instructions, PinnedNoteKind::Skills, PinnedNoteKind::Mode];
}

impl Note {
    pub fn pinned_kind(&self) -> Option<PinnedNoteKind> {
        match self {
            Note::Summary { .. } => Some(PinnedNoteKind::Summary),
            Note::Instructions { .. } | Note::InstructionsGone => Some(PinnedNoteKind::Instructions),
            Note::Skills { .. } => Some(PinnedNoteKind::Skills),
            Note::Mode { .. } => Some(PinnedNoteKind::Mode),
            _ => None,
        }
    }

    /// Whether placet puts such a note after a result; the others belong to the person's message.
    pub fn may_follow_results(&self) -> bool {
        matches!(
            self,
            Note::Mode { .. }
                | Note::JobEnded(_)
                | Note::DirectoryInstructions { .. }
                | Note::HookSays { .. }
                | Note::Repeated { .. }
                | Note::FailsAlike { .. }
                | Note::Interrupted { .. }
                | Note::PictureMissing { .. }
                | Note::ArgumentsChanged { .. }
                | Note::ResultIncomplete { .. }
                | Note::NotStored { .. }
                | Note::WriteDownBlocked { .. }
        )
    }

    /// The long text of other people in the note, which may be redacted, or cut to fit a window.
    pub fn text_mut(&mut self) -> Option<&mut String> {
        match self {
            Note::Instructions { text, .. }
            | Note::DirectoryInstructions { text, .. }
            | Note::Skills { text, .. }
            | Note::HookSays { text, .. }
            | Note::Summary { text }
            | Note::PlainHistory { text, .. }
            | Note::Earlier { text } => Some(text),
            Note::Review { report, .. } => Some(report),
            Note::JobEnded(end) => Some(&mut end.effects),
            _ => None,
        }
    }

    /// Every text in it that did not come from placet itself.
    pub fn foreign_texts_mut(&mut self) -> Vec<&mut String> {
        match self {
            Note::JobEnded(JobEnd { how, command, effects, .. }) => vec![how, command, effects],
            Note::Review { report, brief } => vec![report, brief],
            Note::AttachedFile { path } => vec![path],
            Note::AttachedScratchpad { name } | Note::PictureMissing { name } => vec![name],
            Note::ResultLeftOut { arguments, .. } => vec![arguments],
            Note::PictureHidden { name, reason, .. } => vec![name, reason],
            Note::DirectoryChanged { from, to } => vec![from, to],
            Note::NotStored { reason: text }
            | Note::AnswerWithheld { reason: text }
            | Note::ArgumentsChanged { changes: text }
            | Note::ResultIncomplete { missing: text } => vec![text],
            Note::SumUp { focus } => vec![focus],
            Note::DirectoryInstructions { dir, text, .. } => vec![dir, text],
            Note::HookSays { hook, text } => vec![hook, text],
            Note::ChosenSkill { name, dir } => vec![name, dir],
            Note::CustomCommand { line } => vec![line],
            Note::TextCall { fault: TextCallFault::UnknownTool { name: text } }
            | Note::TextCall { fault: TextCallFault::Unreadable { reason: text } } => vec![text],
            Note::WriteDownBlocked { files, .. } => files.iter_mut().map(|file| &mut file.path).collect(),
            other => other.text_mut().into_iter().collect(),
        }
    }
}
