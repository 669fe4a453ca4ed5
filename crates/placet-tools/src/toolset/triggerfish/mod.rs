//! Triggerfish: its file and shell tools in a workspace jail, the exec workspace, and plan mode.
//!
//! The jail is stronger than the original's: it checks the file to which a path leads, not the text of the path.
//! Classification, taint and hooks are placet's own and apply in every tool set.

mod command;
mod exec;
mod files;
mod jail;
mod missing_argument;
mod plan;
mod state;

use super::super::Tool;
use super::super::scratchpad::ScratchpadTool;
use super::ToolSetSettings;
use state::TriggerfishState;
use std::sync::Arc;

pub(super) fn tools(settings: &ToolSetSettings) -> Vec<Arc<dyn Tool>> {
    let denied = command::DENIED.iter().map(ToString::to_string).chain(settings.denied.iter().cloned());
    let surface = Arc::new(TriggerfishState { denied: denied.collect(), ..TriggerfishState::default() });
    let mut tools = files::tools(&surface);
    tools.push(command::run_command(&surface));
    tools.extend(exec::tools(&surface));
    tools.push(plan::plan_manage(&surface));
    // For results that are too long to show.
    tools.push(Arc::new(ScratchpadTool::default()));
    tools
}
