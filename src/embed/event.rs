//! The events of a turn, for a program.

use super::question::Question;
use crate::agent::{TurnDecision, TurnEnding, TurnEvent};
use crate::conversation::CallOutcome;
use crate::provider::ProviderError;
use crate::workspace::Workspace;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What happens in a turn, in its order.
///
/// Texts of the model, of tools and of commands are as they came, control characters included: make them visible before
/// a terminal gets them. Skip kinds that you do not know: new ones may come.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// A piece of the answer. Pieces follow each other without anything between them.
    Text(String),
    /// A piece of the model's reasoning, from providers that show it.
    Thinking(String),
    /// The model made a call, and it is understood. It has not run yet.
    Call {
        /// Names the call in later events.
        id: String,
        /// The tool's name, such as `edit_file`.
        tool: String,
        /// What the call is about: `edit src/app.rs`.
        title: String,
    },
    /// Output of a command that runs.
    Output {
        /// The call.
        id: String,
        /// A piece of the output.
        text: String,
    },
    /// A call has ended.
    Result {
        /// The call.
        id: String,
        /// The tool's name.
        tool: String,
        /// How it ended.
        outcome: CallOutcome,
        /// What it did, in a line.
        summary: String,
    },
    /// Somebody must decide. The turn waits for the answer; dropping the question answers it with the harmless choice.
    Question(Question),
    /// The request failed and is sent again.
    Retry {
        /// Which attempt comes next, from 2.
        attempt: u32,
        /// How many attempts are made at most.
        of: u32,
        /// How long placet waits before it.
        wait: Duration,
        /// Why the last one failed.
        error: String,
    },
    /// Nothing has arrived from the provider for this long.
    Silent(Duration),
    /// The tokens of the session so far, and what they cost.
    Usage {
        /// Tokens that were sent, without those of the provider's cache.
        input: u64,
        /// Tokens that the model wrote.
        output: u64,
        /// Tokens that the provider read from its cache.
        cache_read: u64,
        /// Tokens that the provider wrote to its cache.
        cache_write: u64,
        /// Millionths of a US dollar; absent where no price is known.
        micro_dollars: Option<u64>,
    },
    /// A sentence for the person.
    Notice(String),
    /// The turn is over, and so is its apply question. Always the last.
    Ended(TurnOutcome),
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TurnOutcome {
    /// Why it ended.
    pub reason: EndReason,
    /// The answer: the text after the last call.
    pub answer: String,
    /// What went wrong, as a sentence; absent for [`EndReason::Done`].
    pub message: Option<String>,
    /// What happened to the changes at the apply question.
    pub changes: ChangesOutcome,
    /// How many calls were refused, by a rule, by an answer or because a question was dropped.
    pub refused_calls: u32,
}

/// Why a turn ended. In every case the conversation is saved as far as it came, and the next message resumes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndReason {
    /// The model answered.
    Done,
    /// The answer stopped at the model's output limit.
    CutAtLimit,
    /// The model declined.
    Refused,
    /// The model gave neither text nor a call, also when asked again.
    NoAnswer,
    /// The turn was cancelled.
    Cancelled,
    /// The turn made as many requests as `max_turns` allows.
    TooManyRequests,
    /// The model repeated the same call or the same text, and no answer asked to continue.
    Stuck,
    /// The provider cannot be reached or refused the request; the message says why.
    ProviderFailed,
    /// The session cannot be saved, so nothing more was done.
    NotSaved,
    /// A hook or the classification stopped the turn.
    Blocked,
}

/// What happened to the changes at the apply question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangesOutcome {
    /// There was no apply question: the turn left nothing pending, or it was cancelled.
    NotAsked,
    /// Changes were applied. Some may still be pending: files that run later, and large losses.
    Applied,
    /// The changes were discarded.
    Discarded,
    /// The changes are pending.
    Pending,
}

impl Event {
    /// The public event for `event`, if there is one. Runs on the session's runtime.
    pub(super) fn of(event: TurnEvent, workspace: &Workspace, stop: &CancellationToken) -> Option<Event> {
        Some(match event {
            TurnEvent::Text(text) => Event::Text(text),
            TurnEvent::Thinking(text) => Event::Thinking(text),
            TurnEvent::CallPlanned { id, name, title } => {
                Event::Call { id: id.to_string(), tool: name, title }
            }
            TurnEvent::CallOutput { id, text } => Event::Output { id: id.to_string(), text },
            TurnEvent::CallEnded { id, name, outcome, summary } => {
                Event::Result { id: id.to_string(), tool: name, outcome, summary: summary.line }
            }
            TurnEvent::Question(asked) => Event::Question(Question::of_call(asked, stop)),
            TurnEvent::Choice(asked) => Event::Question(Question::of_choice(asked, workspace, stop)?),
            TurnEvent::LoopQuestion(asked) => Event::Question(Question::of_loop(asked, stop)),
            TurnEvent::Enquiry(asked) => Event::Question(Question::of_model(asked, stop)),
            TurnEvent::Retrying { attempt, of, wait, error } => {
                Event::Retry { attempt, of, wait, error: error.to_string() }
            }
            TurnEvent::Silent { since } => Event::Silent(since),
            TurnEvent::Usage { total, cost, .. } => Event::Usage {
                input: total.input,
                output: total.output,
                cache_read: total.cache_read,
                cache_write: total.cache_write,
                micro_dollars: cost.map(|cost| cost.micros()),
            },
            TurnEvent::Notice(text) => Event::Notice(text),
            TurnEvent::Requested
            | TurnEvent::CallComing { .. }
            | TurnEvent::CallArguments { .. }
            | TurnEvent::CallRunning { .. }
            | TurnEvent::CallLine { .. }
            | TurnEvent::Todos(_)
            | TurnEvent::Steered(_)
            | TurnEvent::Applying { .. }
            | TurnEvent::Applied(_)
            | TurnEvent::LimitedByMode(_)
            | TurnEvent::Ended(_) => return None,
        })
    }
}

/// The parts of the outcome, gathered from the events.
#[derive(Default)]
pub(super) struct TurnTexts {
    answer: String,
    refused: u32,
}

impl TurnTexts {
    pub(super) fn count(&mut self, event: &TurnEvent) {
        match event {
            TurnEvent::Text(text) => self.answer.push_str(text),
            TurnEvent::CallComing { .. } | TurnEvent::CallPlanned { .. } => self.answer.clear(),
            TurnEvent::CallEnded { outcome: CallOutcome::Denied, .. } => self.refused += 1,
            _ => {}
        }
    }

    pub(super) fn outcome(self, ending: &TurnEnding, decision: TurnDecision) -> TurnOutcome {
        TurnOutcome {
            reason: EndReason::of(ending),
            answer: self.answer,
            message: ending.words().map(|(words, _)| words),
            changes: match decision {
                TurnDecision::Nothing => ChangesOutcome::NotAsked,
                TurnDecision::Applied => ChangesOutcome::Applied,
                TurnDecision::Discarded => ChangesOutcome::Discarded,
                TurnDecision::Kept
                | TurnDecision::Review
                | TurnDecision::ReviewAtHome
                | TurnDecision::SendBack => ChangesOutcome::Pending,
            },
            refused_calls: self.refused,
        }
    }
}

impl EndReason {
    fn of(ending: &TurnEnding) -> EndReason {
        match ending {
            TurnEnding::Done => EndReason::Done,
            TurnEnding::CutAtLimit => EndReason::CutAtLimit,
            TurnEnding::Refused => EndReason::Refused,
            TurnEnding::NoAnswer(_) | TurnEnding::TextCall(_) => EndReason::NoAnswer,
            TurnEnding::Interrupted | TurnEnding::Failed(ProviderError::Cancelled) => EndReason::Cancelled,
            TurnEnding::TooManyRounds(_) => EndReason::TooManyRequests,
            TurnEnding::Stuck { .. } | TurnEnding::RepeatedText { .. } => EndReason::Stuck,
            TurnEnding::Failed(_) => EndReason::ProviderFailed,
            TurnEnding::Unsaved(_) => EndReason::NotSaved,
            TurnEnding::OverBudget { .. } | TurnEnding::Blocked { .. } => EndReason::Blocked,
        }
    }
}
