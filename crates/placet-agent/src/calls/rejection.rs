//! Why a call does not run, and what replaces a result that may not be sent.

use placet_permission::Denial;
use placet_text::conversation::{CallFact, CallOutcome, Part};
use placet_tools::{CallSummary, OutputFacts, ToolError, ToolOutput};

/// Why a call will not run.
pub(crate) enum CallRejection {
    Error(ToolError),
    Denied(Denial),
    /// The same with another text for the model.
    Masked(Denial, String),
    Stopped,
}

impl From<ToolError> for CallRejection {
    fn from(error: ToolError) -> CallRejection {
        CallRejection::Error(error)
    }
}

pub(super) fn crashed(error: &tokio::task::JoinError) -> ToolError {
    tracing::error!("a tool crashed: {error}");
    ToolError::hint(
        "the tool crashed; this is a bug in placet",
        "the call had no known effect; check before you rely on it",
    )
}

pub(super) fn failed(error: &ToolError, title: &str) -> ToolOutput {
    ToolOutput {
        outcome: CallOutcome::Failed,
        for_model: vec![Part::text(error.for_model())],
        for_person: CallSummary::failure(title, &error.message),
        facts: OutputFacts::None,
        recorded: vec![CallFact::Failed { fault: error.fault }],
    }
}

/// The call has run, and its result is withheld.
pub(super) fn withheld(output: &ToolOutput, why: &str) -> ToolOutput {
    let error = ToolError::hint(
        format!("result withheld: {why}"),
        "the call itself ran; do not repeat it to get its result in another way",
    );
    let line = output.for_person.line.lines().next().unwrap_or_default().to_string();
    ToolOutput {
        outcome: CallOutcome::Denied,
        for_model: vec![Part::text(error.denied())],
        for_person: CallSummary::failure(&line, &error.message),
        facts: OutputFacts::None,
        recorded: output.recorded.clone(),
    }
}

/// At most `bytes` of `text`, and a report of how much is missing.
pub(super) fn cut(mut text: String, bytes: usize) -> String {
    let whole = text.len();
    if whole > bytes {
        text.truncate(text.floor_char_boundary(bytes));
        text.push_str(&format!("[... {} more bytes]", whole - text.len()));
    }
    text
}
