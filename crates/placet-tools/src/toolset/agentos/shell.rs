//! shell_exec: one program of a list, without a shell.

use super::super::super::{CommandResult, OutputFacts, PlanResult, Tool, ToolContext, ToolError};
use super::path::contained;
use crate::command::run;
use crate::command::run::RunPlan;
use crate::toolset::foreign_tool::{FinishedCall, ForeignTool};
use crate::toolset::json_answer::answer;
use placet_text::text::shell_word::quoted;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

/// Programs that may be run, by their last name.
const ALLOWED: [&str; 40] = [
    "awk", "basename", "bun", "cargo", "cat", "cut", "date", "deno", "diff", "dirname", "du", "echo", "env",
    "file", "find", "git", "go", "grep", "head", "jq", "ls", "make", "mkdir", "mv", "node", "npm", "npx",
    "pip", "pnpm", "pwd", "python", "python3", "rg", "sed", "sort", "tail", "touch", "tsc", "uniq", "wc",
];
/// How many characters of the output are returned.
const OUTPUT: usize = 100_000;
const TIMEOUT: u64 = 120_000;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct AgentosExec {
    /// The program and its arguments.
    argv: Vec<String>,
    cwd: Option<String>,
}

pub(super) fn shell_exec(nothing: &Arc<()>) -> Arc<dyn Tool> {
    ForeignTool::new("shell_exec", "Run a program of the allowed list, without a shell.", nothing, plan)
        .rule("run_command")
        .whole()
        .saying(|_, (), said| words(said))
        .build()
}

fn plan(args: &AgentosExec, env: &ToolContext, _: &Arc<()>) -> PlanResult {
    let Some(program) = args.argv.first() else {
        return Err(ToolError::worded("argv must be a non-empty array"));
    };
    let name = program.rsplit('/').next().unwrap_or(program);
    if !ALLOWED.contains(&name) {
        let list = ALLOWED.join(", ");
        return Err(ToolError::worded(format!("Command not allowed: {program}. Allowed: {list}")));
    }
    let cwd = Some(contained(env, args.cwd.as_deref().unwrap_or("."))?.written);
    let command = args.argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let args = run::Args { command, cwd, timeout_ms: Some(TIMEOUT), ..run::Args::default() };
    Ok(Box::new(RunPlan::new(args, env)?))
}

/// Both streams come as one, in the order in which they were written: `stderr` is empty.
fn words(said: &FinishedCall<'_>) -> Option<String> {
    let OutputFacts::Ran(CommandResult { output, code: Some(code), .. }) = &said.output.facts else {
        return None;
    };
    let cut: String = output.chars().take(OUTPUT).collect();
    let truncated = (cut.len() < output.len())
        .then(|| json!(format!("the first {OUTPUT} characters of {} bytes", output.len())));
    Some(answer(json!({"stdout": cut, "stderr": "", "exitCode": code}), [("truncated", truncated)]))
}
