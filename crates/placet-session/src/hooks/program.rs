//! A hook that is a program: one JSON object in, one JSON object out, within its time.
//!
//! It runs as the person, outside of the sandbox, below placet's supervisor: no process that it starts is left behind.

use super::ruling::{HookAction, HookRedaction};
use super::{HookContext, HookEnvironment, HookPoint};
use placet_process::{CommandExit, CommandInput, ProcessError, ShellCommand};
use serde::Deserialize;
use serde_json::Value;
use std::io::Read;
use std::time::Duration;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

/// The answer. Unknown fields are ignored, so that a program for a newer placet also works here.
#[derive(Debug, Deserialize)]
struct HookAnswer {
    decision: String,
    #[serde(default)]
    reason: String,
    /// For REDACT: one pattern, or several.
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

/// How much of the error output of a failing program is quoted, in characters.
pub(super) const QUOTED: usize = 200;

/// How much of it is quoted after exit code 2, which other programs use for a refusal with a reason.
const REASON: usize = 2_000;

/// How much of the error output is read, in bytes: leading white space is not quoted.
const READ: u64 = 64 << 10;

/// A program that writes more bytes is ended. How often its error output is measured.
const MOST_OUTPUT: u64 = 8 << 20;
const MEASURE_EVERY: Duration = Duration::from_millis(200);

/// Why a program made no decision: the call is blocked, and these are the reasons.
#[derive(Debug, Error)]
pub(super) enum HookProgramError {
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
    #[error("it wrote more than {} MiB", MOST_OUTPUT >> 20)]
    Flooded,
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

/// The beginning of the output of a failing program.
#[derive(Debug)]
pub(super) struct QuotedOutput(String);

impl QuotedOutput {
    pub(super) fn text(&self) -> &str {
        &self.0
    }
}

/// What a program wrote that ended with exit code 0.
pub(super) struct ProgramEnd {
    pub(super) output: String,
}

impl std::fmt::Display for QuotedOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, ": {}", self.0) }
    }
}

/// `None` if the program leaves the decision to others.
pub(super) async fn ask(
    line: &str,
    timeout: Duration,
    point: HookPoint,
    context: &HookContext,
    programs: &HookEnvironment,
    cancel: &CancellationToken,
) -> Option<HookAction> {
    let answer = run(line, timeout, context.json(point), context, programs, cancel).await;
    let opinion = answer.and_then(|end| read(&end.output, point));
    opinion.unwrap_or_else(|error| Some(HookAction::Block(error.to_string())))
}

/// Runs the program with `input` as one JSON object.
pub(super) async fn run(
    line: &str,
    timeout: Duration,
    input: Value,
    context: &HookContext,
    programs: &HookEnvironment,
    cancel: &CancellationToken,
) -> Result<ProgramEnd, HookProgramError> {
    // Standard error is not a part of the answer; it is stored for the message in case the program fails.
    let side = tempfile::NamedTempFile::new()?;
    let quoted = side.path().display().to_string().replace('\'', "'\\''");
    let command = ShellCommand {
        line: format!("{{ {line}\n}} 2>'{quoted}'"),
        cwd: context.cwd.clone(),
        supervisor: programs.supervisor.clone(),
        timeout,
        withheld: programs.withheld.clone(),
        stdin: CommandInput::Bytes(input.to_string().into_bytes()),
        sandbox: None,
    };
    let enough = cancel.child_token();
    let (mut written, flood) = (0, enough.clone());
    let running = command.run(&enough, |bytes| {
        written += bytes.len() as u64;
        if written > MOST_OUTPUT {
            flood.cancel();
        }
    });
    let measured = async {
        loop {
            tokio::time::sleep(MEASURE_EVERY).await;
            if side.as_file().metadata().is_ok_and(|file| file.len() > MOST_OUTPUT) {
                enough.cancel();
                // The program is ended now: the other branch has the result.
                std::future::pending::<()>().await;
            }
        }
    };
    let mut finished = tokio::select! {
        finished = running => finished?,
        () = measured => return Err(HookProgramError::Flooded),
    };
    if enough.is_cancelled() && !cancel.is_cancelled() {
        return Err(HookProgramError::Flooded);
    }
    // A program of another format gives its reason there.
    let most = if finished.ending == CommandExit::Exit(2) { REASON } else { QUOTED };
    let said = || {
        let mut said = Vec::new();
        // A program may have written gigabytes until its time was over; only the beginning is quoted.
        drop(side.reopen().map(|file| file.take(READ).read_to_end(&mut said)));
        QuotedOutput(String::from_utf8_lossy(&said).trim().chars().take(most).collect())
    };
    match finished.ending {
        CommandExit::Exit(0) => {
            Ok(ProgramEnd { output: String::from_utf8_lossy(&finished.output.whole()).into_owned() })
        }
        CommandExit::Exit(code) => Err(HookProgramError::Failed { code, said: said() }),
        CommandExit::Signal(signal) => Err(HookProgramError::Killed { signal, said: said() }),
        CommandExit::TimedOut => Err(HookProgramError::TimedOut(timeout)),
        CommandExit::Cancelled => Err(HookProgramError::Stopped),
        CommandExit::Lost => Err(HookProgramError::Lost),
    }
}

/// The decision in an answer, or why the answer is invalid.
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
