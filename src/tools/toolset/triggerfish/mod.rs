//! Triggerfish: its file and shell tools in a workspace jail, the exec workspace, and plan mode.
//!
//! The jail is stronger than the original's: it holds on what a path leads to, not on its words. Classification, taint
//! and hooks are placet's own and hold in every surface.

mod command;
mod exec;
mod files;
mod jail;
mod plan;

use super::super::Tool;
use super::super::scratchpad::ScratchpadTool;
use super::ToolSetSettings;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// What the tools share.
#[derive(Debug, Default)]
pub(super) struct TriggerfishState {
    /// Texts that no command may hold.
    denied: Vec<String>,
    /// Where relative paths begin: a command that starts with `cd` moves it.
    base: Mutex<PathBuf>,
    plan: Mutex<plan::TriggerfishPlan>,
}

pub(super) fn tools(settings: &ToolSetSettings) -> Vec<Arc<dyn Tool>> {
    let denied = command::DENIED.iter().map(ToString::to_string).chain(settings.denied.iter().cloned());
    let surface = Arc::new(TriggerfishState { denied: denied.collect(), ..TriggerfishState::default() });
    let mut tools = files::tools(&surface);
    tools.push(command::run_command(&surface));
    tools.extend(exec::tools(&surface));
    tools.push(plan::plan_manage(&surface));
    // Where results go that are too long to show.
    tools.push(Arc::new(ScratchpadTool::default()));
    tools
}

/// Says what is wrong with an argument in the words of the original: `name` is the tool.
fn missing(input: &serde_json::Value, tool: &str, argument: &str, adjective: &str) -> Option<String> {
    let given = input.get(argument).and_then(serde_json::Value::as_str);
    let wrong = given.is_none_or(|text| !adjective.is_empty() && text.is_empty());
    let article = if adjective.is_empty() { "a" } else { "a non-empty" };
    wrong.then(|| format!("Error: {tool} requires {article} '{argument}' argument (string)."))
}
