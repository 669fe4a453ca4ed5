//! A hook that is a program: one JSON object in, one JSON object out, within its time.
//!
//! It runs as the person, outside of the sandbox, below placet's supervisor: nothing it starts is left behind.

use super::ruling::{HookAction, HookRedaction};
use super::{HookContext, HookEnvironment, HookPoint};
use crate::process::{CommandExit, CommandInput, ShellCommand};
use serde::Deserialize;
use std::time::Duration;
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

/// `None` where it passes the question on.
pub(super) async fn ask(
    line: &str,
    timeout: Duration,
    point: HookPoint,
    context: &HookContext,
    programs: &HookEnvironment,
    cancel: &CancellationToken,
) -> Option<HookAction> {
    match run(line, timeout, point, context, programs, cancel).await {
        Ok(text) => read(&text, point).unwrap_or_else(|reason| Some(HookAction::Block(reason))),
        Err(reason) => Some(HookAction::Block(reason)),
    }
}

async fn run(
    line: &str,
    timeout: Duration,
    point: HookPoint,
    context: &HookContext,
    programs: &HookEnvironment,
    cancel: &CancellationToken,
) -> Result<String, String> {
    let failed = |e: std::io::Error| format!("it could not be run: {e}");
    // What it says on the side is no part of its answer, and is kept for the message when it fails.
    let side = tempfile::NamedTempFile::new().map_err(failed)?;
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
    let mut finished = command.run(cancel, |_| {}).await.map_err(|e| format!("it could not be run: {e}"))?;
    let said = || {
        let said = std::fs::read(side.path()).unwrap_or_default();
        let said: String = String::from_utf8_lossy(&said).trim().chars().take(QUOTED).collect();
        if said.is_empty() { said } else { format!(": {said}") }
    };
    match finished.ending {
        CommandExit::Exit(0) => Ok(String::from_utf8_lossy(&finished.output.whole()).into_owned()),
        CommandExit::Exit(code) => Err(format!("it failed with exit code {code}{}", said())),
        CommandExit::Signal(signal) => Err(format!("it was killed by signal {signal}{}", said())),
        CommandExit::TimedOut => Err(format!("it did not answer within {} ms", timeout.as_millis())),
        CommandExit::Cancelled => Err("it was stopped before it answered".into()),
        CommandExit::Lost => Err("its supervisor was killed".into()),
    }
}

/// The opinion in an answer, or why it is none.
fn read(text: &str, point: HookPoint) -> Result<Option<HookAction>, String> {
    let shown: String = text.trim().chars().take(QUOTED).collect();
    let answer: HookAnswer =
        serde_json::from_str(text).map_err(|e| format!("its answer cannot be read ({e}): {shown}"))?;
    Ok(Some(match answer.decision.as_str() {
        "PASS" => return Ok(None),
        "ALLOW" => HookAction::Allow,
        "BLOCK" => HookAction::Block(answer.reason),
        "REQUIRE_APPROVAL" => HookAction::Ask(answer.reason),
        "REDACT" if !point.can_redact() => {
            return Err(format!("it answered REDACT at {}, which does not support redaction", point.name()));
        }
        "REDACT" => HookAction::Redact(redactions(answer)?),
        other => {
            return Err(format!(
                "it answered `{other}`; expected ALLOW, BLOCK, REDACT, REQUIRE_APPROVAL or PASS"
            ));
        }
    }))
}

fn redactions(answer: HookAnswer) -> Result<Vec<HookRedaction>, String> {
    let one = answer.pattern.map(|pattern| RedactionPair { pattern, replacement: answer.replacement });
    let pairs: Vec<RedactionPair> = one.into_iter().chain(answer.redactions).collect();
    if pairs.is_empty() {
        return Err("it answered REDACT without a pattern".into());
    }
    let read = |pair: RedactionPair| {
        HookRedaction::new(&pair.pattern, pair.replacement.as_deref().unwrap_or("[redacted]"))
    };
    pairs.into_iter().map(read).collect::<Result<_, _>>().map_err(|e| format!("its pattern is invalid: {e}"))
}
