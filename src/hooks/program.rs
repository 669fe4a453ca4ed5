//! A hook that is a program: one JSON object in, one JSON object out, within its time.
//!
//! It runs as the person, outside of the sandbox, below placet's supervisor: nothing it starts is left behind.

use super::ruling::{HookAction, HookRedaction};
use super::{HookContext, HookEnvironment, HookPoint};
use crate::process::{CommandExit, CommandInput, ProcessError, ShellCommand};
use serde::Deserialize;
use std::io::Read;
use std::time::Duration;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

/// What it answers. Unknown fields are left alone, so that a newer placet can be told more.
#[derive(Debug, Deserialize)]
struct HookAnswer {
    decision: String,
    #[serde(default)]
    reason: String,
    /// Of REDACT: one pattern, or several.
    pattern: Option<String>,
    replacement: Option<String>,
    #[serde(default)]
    redactions: Vec<RedactionPair>,
}

#[derive(Debug, Deserialize)]
struct RedactionPair {
    pattern: String,
    replacement: Option<String>,
}

/// How much of what a failing program wrote is quoted, in characters.
const QUOTED: usize = 200;

/// How much of it is read, in bytes: blanks at its beginning are not quoted.
const READ: u64 = 64 << 10;

/// Why a program gave no opinion: the call is blocked, and these are the reasons.
#[derive(Debug, Error)]
enum HookProgramError {
    #[error("it could not be run: {0}")]
    Output(#[from] std::io::Error),
    #[error("it could not be run: {0}")]
    Process(#[from] ProcessError),
    #[error("it failed with exit code {code}{said}")]
    Failed { code: i32, said: QuotedOutput },
    #[error("it was killed by signal {signal}{said}")]
    Killed { signal: i32, said: QuotedOutput },
    #[error("it did not answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    #[error("it was stopped before it answered")]
    Stopped,
    #[error("its supervisor was killed")]
    Lost,
    #[error("its answer cannot be read ({error}): {shown}")]
    Unreadable { error: serde_json::Error, shown: String },
    #[error("it answered REDACT at {}, which does not support redaction", .0.name())]
    CannotRedact(HookPoint),
    #[error("it answered `{0}`; expected ALLOW, BLOCK, REDACT, REQUIRE_APPROVAL or PASS")]
    UnknownDecision(String),
    #[error("it answered REDACT without a pattern")]
    NoPattern,
    #[error("its pattern is invalid: {0}")]
    Pattern(regex::Error),
}

/// The beginning of what a failing program wrote.
#[derive(Debug)]
struct QuotedOutput(String);

impl std::fmt::Display for QuotedOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, ": {}", self.0) }
    }
}

/// `None` where it passes the question on.
pub(super) async fn ask(
    line: &str,
    timeout: Duration,
    point: HookPoint,
    context: &HookContext,
    programs: &HookEnvironment,
    cancel: &CancellationToken,
) -> Option<HookAction> {
    let answer = run(line, timeout, point, context, programs, cancel).await;
    let opinion = answer.and_then(|text| read(&text, point));
    opinion.unwrap_or_else(|error| Some(HookAction::Block(error.to_string())))
}

async fn run(
    line: &str,
    timeout: Duration,
    point: HookPoint,
    context: &HookContext,
    programs: &HookEnvironment,
    cancel: &CancellationToken,
) -> Result<String, HookProgramError> {
    // What it says on the side is no part of its answer, and is kept for the message when it fails.
    let side = tempfile::NamedTempFile::new()?;
    let quoted = side.path().display().to_string().replace('\'', "'\\''");
    let command = ShellCommand {
        line: format!("{{ {line}\n}} 2>'{quoted}'"),
        cwd: context.cwd.clone(),
        supervisor: programs.supervisor.clone(),
        timeout,
        withheld: programs.withheld.clone(),
        stdin: CommandInput::Bytes(context.json(point).to_string().into_bytes()),
        sandbox: None,
    };
    let mut finished = command.run(cancel, |_| {}).await?;
    let said = || {
        let mut said = Vec::new();
        // A program may have written gigabytes until its time was over; only the beginning is quoted.
        drop(side.reopen().map(|file| file.take(READ).read_to_end(&mut said)));
        QuotedOutput(String::from_utf8_lossy(&said).trim().chars().take(QUOTED).collect())
    };
    match finished.ending {
        CommandExit::Exit(0) => Ok(String::from_utf8_lossy(&finished.output.whole()).into_owned()),
        CommandExit::Exit(code) => Err(HookProgramError::Failed { code, said: said() }),
        CommandExit::Signal(signal) => Err(HookProgramError::Killed { signal, said: said() }),
        CommandExit::TimedOut => Err(HookProgramError::TimedOut(timeout)),
        CommandExit::Cancelled => Err(HookProgramError::Stopped),
        CommandExit::Lost => Err(HookProgramError::Lost),
    }
}

/// The opinion in an answer, or why it is none.
fn read(text: &str, point: HookPoint) -> Result<Option<HookAction>, HookProgramError> {
    let answer: HookAnswer = serde_json::from_str(text).map_err(|error| {
        let shown = text.trim().chars().take(QUOTED).collect();
        HookProgramError::Unreadable { error, shown }
    })?;
    Ok(Some(match answer.decision.as_str() {
        "PASS" => return Ok(None),
        "ALLOW" => HookAction::Allow,
        "BLOCK" => HookAction::Block(answer.reason),
        "REQUIRE_APPROVAL" => HookAction::Ask(answer.reason),
        "REDACT" if !point.can_redact() => {
            return Err(HookProgramError::CannotRedact(point));
        }
        "REDACT" => HookAction::Redact(redactions(answer)?),
        other => return Err(HookProgramError::UnknownDecision(other.into())),
    }))
}

fn redactions(answer: HookAnswer) -> Result<Vec<HookRedaction>, HookProgramError> {
    let one = answer.pattern.map(|pattern| RedactionPair { pattern, replacement: answer.replacement });
    let pairs: Vec<RedactionPair> = one.into_iter().chain(answer.redactions).collect();
    if pairs.is_empty() {
        return Err(HookProgramError::NoPattern);
    }
    let read = |pair: RedactionPair| {
        HookRedaction::new(&pair.pattern, pair.replacement.as_deref().unwrap_or("[redacted]"))
    };
    pairs.into_iter().map(read).collect::<Result<_, _>>().map_err(HookProgramError::Pattern)
}
