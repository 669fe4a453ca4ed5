//! execute: a command in the view, and where its output goes if it is too long.

use super::super::super::{CommandResult, OutputFacts, PlanResult, Tool, ToolContext, ToolError};
use super::options::DeepagentsOptions;
use super::path::EVICTED;
use super::result_text::MOST;
use crate::command::run;
use crate::command::run::RunPlan;
use crate::toolset::foreign_tool::{FinishedCall, ForeignTool};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

/// Seconds.
const USUAL: u64 = 120;
const LONGEST: u64 = 3600;
/// Lines of the preview at either end, and characters of each line.
const LINES: usize = 5;
const WIDE: usize = 1000;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct DeepagentsExecute {
    command: String,
    /// Seconds (120), at most 3600.
    timeout: Option<u64>,
}

pub(super) fn execute(surface: &Arc<DeepagentsOptions>) -> Arc<dyn Tool> {
    let description = "Run a shell command in the working directory. Both output streams come back in the order in which they were written.";
    ForeignTool::new("execute", description, surface, plan)
        .rule("run_command")
        .whole()
        .saying(|args, _, said| words(args, said))
        .build()
}

fn plan(args: &DeepagentsExecute, env: &ToolContext, _: &Arc<DeepagentsOptions>) -> PlanResult {
    let seconds = args.timeout.unwrap_or(USUAL);
    if seconds == 0 || seconds > LONGEST {
        return Err(ToolError::worded(format!(
            "Error: timeout must be between 1 and {LONGEST} seconds, got {seconds}"
        )));
    }
    let (command, timeout_ms) = (args.command.clone(), Some(seconds * 1000));
    let args = run::Args { command, timeout_ms, ..run::Args::default() };
    Ok(Box::new(RunPlan::new(args, env)?))
}

fn words(args: &DeepagentsExecute, said: &FinishedCall<'_>) -> Option<String> {
    let OutputFacts::Ran(CommandResult { output, code, effects, .. }) = &said.output.facts else {
        return None;
    };
    let (how, code) = match code {
        Some(0) => ("succeeded".into(), 0),
        Some(code) => ("failed".into(), *code),
        None => (format!("timed out after {} seconds", args.timeout.unwrap_or(USUAL)), 124),
    };
    let body = if output.is_empty() { "<no output>" } else { output.trim_end_matches('\n') };
    let status = format!("[Command {how} with exit code {code}]{effects}");
    if output.chars().count() <= MOST {
        return Some(format!("{body}\n{status}"));
    }
    Some(match keep(said, output) {
        Ok(path) => format!(
            "Tool result too large, the result of this tool call {} was saved in the filesystem at this path: {path}\nRead it in parts with read_file(offset, limit). Its beginning and end:\n\n{}\n{status}",
            said.call,
            preview(output)
        ),
        Err(why) => format!(
            "{}\n[Output was truncated due to size limits; it could not be kept: {why}]\n{status}",
            preview(output)
        ),
    })
}

/// Writes the output to a place that commands and file tools of this session can read and that is in no project.
fn keep(said: &FinishedCall<'_>, output: &str) -> std::io::Result<String> {
    let view = said.env.workspace.view().ok_or(std::io::ErrorKind::NotFound)?;
    let dir = view.scratch()?.join(EVICTED.trim_matches('/'));
    std::fs::create_dir_all(&dir)?;
    let name = said.call.to_string().replace(['.', '/', '\\'], "_");
    std::fs::write(dir.join(&name), output)?;
    Ok(format!("{EVICTED}{name}"))
}

fn preview(output: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    let cut = |line: &&str| line.chars().take(WIDE).collect::<String>();
    if lines.len() <= 2 * LINES {
        return lines.iter().map(cut).collect::<Vec<_>>().join("\n");
    }
    let head: Vec<String> = lines.iter().take(LINES).map(cut).collect();
    let tail: Vec<String> = lines.iter().skip(lines.len() - LINES).map(cut).collect();
    format!("{}\n... [{} lines truncated] ...\n{}", head.join("\n"), lines.len() - 2 * LINES, tail.join("\n"))
}
