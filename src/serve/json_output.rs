//! A turn as JSON: one object at its end, or one event a line as it happens.
//!
//! The types here are the format: the published schema is made from them, and a test compares the two. New fields and
//! new kinds of events may come within a version; readers skip what they do not know.

use super::changes::ChangeReport;
use super::headless::TurnWriter;
use crate::agent::{TurnEnding, TurnEvent};
use crate::conversation::{CallOutcome, TokenUsage};
use crate::provider::ProviderError;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};

/// The version in the first line, and in the report.
pub const VERSION: u32 = 1;

/// One line of `--output-format stream-json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum StreamJsonLine {
    /// Always the first.
    Start {
        version: u32,
        session: Option<String>,
        model: String,
    },
    Text {
        text: String,
    },
    Thinking {
        text: String,
    },
    /// A call is understood and will be decided on.
    Call {
        id: String,
        tool: String,
        title: String,
    },
    /// Output of a running command, as it comes; `result` has it whole or says where.
    Output {
        id: String,
        text: String,
    },
    Result {
        id: String,
        tool: String,
        outcome: ReportedOutcome,
        summary: String,
    },
    /// A call needed a person; it is refused, and `flag` is what would permit it.
    Question {
        id: String,
        tool: String,
        reason: String,
        flag: Option<String>,
    },
    Retry {
        attempt: u32,
        of: u32,
        wait_seconds: f64,
        error: String,
    },
    /// Nothing has arrived from the provider for so long.
    Silent {
        seconds: u64,
    },
    /// Tokens of the session so far.
    Usage(ReportedUsage),
    Note {
        text: String,
    },
    /// A path that the turn changed, or that is pending: after everything else, before `end`.
    Change(ChangeReport),
    /// Always the last.
    End(TurnEndReport),
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ReportedOutcome {
    Done,
    Failed,
    Denied,
    Interrupted,
}

#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub(super) struct ReportedUsage {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TurnEndReport {
    ending: ReportedEnding,
    /// The text after the last call: the answer.
    answer: String,
    /// What went wrong, where something did.
    error: Option<String>,
    refused_calls: u32,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ReportedEnding {
    Done,
    /// The answer stopped at the model's output limit.
    CutAtLimit,
    /// The model declined.
    Refused,
    /// The model gave neither text nor a call, also when asked again.
    NoAnswer,
    Interrupted,
    TooManyTurns,
    Stuck,
    ProviderFailed,
    NotSaved,
    Blocked,
}

/// What `--output-format json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TurnReport {
    version: u32,
    session: Option<String>,
    #[serde(flatten)]
    end: TurnEndReport,
    usage: ReportedUsage,
    calls: Vec<CallReport>,
    /// What the turn applied, and all that is pending after it.
    changes: Vec<ChangeReport>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CallReport {
    id: String,
    tool: String,
    outcome: ReportedOutcome,
    summary: String,
}

/// The JSON schemas of both formats, by name.
pub fn schema() -> serde_json::Value {
    serde_json::json!({
        "stream-json line": schemars::schema_for!(StreamJsonLine),
        "json": schemars::schema_for!(TurnReport),
    })
}

/// What both formats keep count of.
#[derive(Default)]
struct TurnTally {
    answer: String,
    refused: u32,
    usage: ReportedUsage,
}

impl TurnTally {
    fn count_event(&mut self, event: &TurnEvent) {
        match event {
            TurnEvent::Text(text) => self.answer.push_str(text),
            // Another answer comes, without a call between them.
            TurnEvent::Requested if !self.answer.is_empty() && !self.answer.ends_with('\n') => {
                self.answer.push('\n');
            }
            TurnEvent::CallComing { .. } | TurnEvent::CallPlanned { .. } => self.answer.clear(),
            TurnEvent::CallEnded { outcome: CallOutcome::Denied, .. } => self.refused += 1,
            TurnEvent::Usage { total, .. } => self.usage = ReportedUsage::from(*total),
            _ => {}
        }
    }

    fn end(&mut self, ending: &TurnEnding) -> TurnEndReport {
        TurnEndReport {
            ending: ReportedEnding::from(ending),
            answer: std::mem::take(&mut self.answer),
            error: ending.words().map(|(words, _)| words),
            refused_calls: self.refused,
        }
    }
}

pub(super) struct StreamJsonWriter {
    start: Option<StreamJsonLine>,
    tally: TurnTally,
}

impl StreamJsonWriter {
    pub(super) fn new(session: Option<String>, model: String) -> StreamJsonWriter {
        StreamJsonWriter {
            start: Some(StreamJsonLine::Start { version: VERSION, session, model }),
            tally: TurnTally::default(),
        }
    }

    fn line(&mut self, event: &TurnEvent) -> Option<StreamJsonLine> {
        Some(match event {
            TurnEvent::Text(text) => StreamJsonLine::Text { text: text.clone() },
            TurnEvent::Thinking(text) => StreamJsonLine::Thinking { text: text.clone() },
            TurnEvent::CallPlanned { id, name, title } => {
                StreamJsonLine::Call { id: id.to_string(), tool: name.clone(), title: title.clone() }
            }
            TurnEvent::CallOutput { id, text } => {
                StreamJsonLine::Output { id: id.to_string(), text: text.clone() }
            }
            TurnEvent::CallEnded { id, name, outcome, summary } => StreamJsonLine::Result {
                id: id.to_string(),
                tool: name.clone(),
                outcome: ReportedOutcome::from(*outcome),
                summary: summary.line.clone(),
            },
            TurnEvent::Question(q) => StreamJsonLine::Question {
                id: q.id.to_string(),
                tool: q.tool.clone(),
                reason: q.reason.clone(),
                flag: q.flag.clone(),
            },
            TurnEvent::Retrying { attempt, of, wait, error } => StreamJsonLine::Retry {
                attempt: *attempt,
                of: *of,
                wait_seconds: wait.as_secs_f64(),
                error: error.to_string(),
            },
            TurnEvent::Silent { since } => StreamJsonLine::Silent { seconds: since.as_secs() },
            TurnEvent::Usage { total, .. } => StreamJsonLine::Usage(ReportedUsage::from(*total)),
            TurnEvent::Notice(text) => StreamJsonLine::Note { text: text.clone() },
            _ => return None,
        })
    }
}

impl TurnWriter for StreamJsonWriter {
    fn write_event(&mut self, event: &TurnEvent, out: &mut dyn Write, _: &mut dyn Write) -> io::Result<()> {
        self.tally.count_event(event);
        for line in self.start.take().into_iter().chain(self.line(event)) {
            write_line(&line, out)?;
        }
        Ok(())
    }

    fn end(
        &mut self,
        ending: &TurnEnding,
        changes: Vec<ChangeReport>,
        out: &mut dyn Write,
        _: &mut dyn Write,
    ) -> io::Result<()> {
        let changes = changes.into_iter().map(StreamJsonLine::Change);
        for line in self.start.take().into_iter().chain(changes) {
            write_line(&line, out)?;
        }
        write_line(&StreamJsonLine::End(self.tally.end(ending)), out)
    }
}

pub(super) struct JsonWriter {
    session: Option<String>,
    tally: TurnTally,
    calls: Vec<CallReport>,
}

impl JsonWriter {
    pub(super) fn new(session: Option<String>) -> JsonWriter {
        JsonWriter { session, tally: TurnTally::default(), calls: Vec::new() }
    }
}

impl TurnWriter for JsonWriter {
    fn write_event(&mut self, event: &TurnEvent, _: &mut dyn Write, side: &mut dyn Write) -> io::Result<()> {
        self.tally.count_event(event);
        match event {
            TurnEvent::CallEnded { id, name, outcome, summary } => self.calls.push(CallReport {
                id: id.to_string(),
                tool: name.clone(),
                outcome: ReportedOutcome::from(*outcome),
                summary: summary.line.clone(),
            }),
            TurnEvent::Notice(text) => drop(writeln!(side, "note: {}", crate::text::sanitize::line(text))),
            _ => {}
        }
        Ok(())
    }

    fn end(
        &mut self,
        ending: &TurnEnding,
        changes: Vec<ChangeReport>,
        out: &mut dyn Write,
        _: &mut dyn Write,
    ) -> io::Result<()> {
        let report = TurnReport {
            version: VERSION,
            session: self.session.take(),
            end: self.tally.end(ending),
            usage: self.tally.usage,
            calls: std::mem::take(&mut self.calls),
            changes,
        };
        write_line(&report, out)
    }
}

fn write_line(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let mut text = serde_json::to_string(value)?;
    text.push('\n');
    out.write_all(text.as_bytes())?;
    out.flush()
}

impl From<TokenUsage> for ReportedUsage {
    fn from(u: TokenUsage) -> ReportedUsage {
        ReportedUsage {
            input: u.input,
            output: u.output,
            cache_read: u.cache_read,
            cache_write: u.cache_write,
        }
    }
}

impl From<CallOutcome> for ReportedOutcome {
    fn from(outcome: CallOutcome) -> ReportedOutcome {
        match outcome {
            CallOutcome::Done => ReportedOutcome::Done,
            CallOutcome::Failed => ReportedOutcome::Failed,
            CallOutcome::Denied => ReportedOutcome::Denied,
            CallOutcome::Interrupted => ReportedOutcome::Interrupted,
        }
    }
}

impl From<&TurnEnding> for ReportedEnding {
    fn from(ending: &TurnEnding) -> ReportedEnding {
        match ending {
            TurnEnding::Done => ReportedEnding::Done,
            TurnEnding::CutAtLimit => ReportedEnding::CutAtLimit,
            TurnEnding::Refused => ReportedEnding::Refused,
            TurnEnding::NoAnswer(_) | TurnEnding::TextCall(_) => ReportedEnding::NoAnswer,
            TurnEnding::Interrupted | TurnEnding::Failed(ProviderError::Cancelled) => {
                ReportedEnding::Interrupted
            }
            TurnEnding::TooManyRounds(_) => ReportedEnding::TooManyTurns,
            TurnEnding::Stuck { .. } | TurnEnding::RepeatedText { .. } => ReportedEnding::Stuck,
            TurnEnding::Failed(_) => ReportedEnding::ProviderFailed,
            TurnEnding::Unsaved(_) => ReportedEnding::NotSaved,
            TurnEnding::OverBudget { .. } | TurnEnding::Blocked { .. } => ReportedEnding::Blocked,
        }
    }
}
