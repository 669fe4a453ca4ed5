//! Sends a running command to the background: its output goes to a file, and its view becomes its own.

use super::command_effects::SandboxedRun;
use crate::{RunContext, ToolError};
use placet_process::{ForegroundCommand, OutputLog};
use std::path::PathBuf;

/// Why a command without layers of its own stays in the foreground.
pub(super) fn no_view() -> ToolError {
    ToolError::new(
        "the command cannot go to the background: that needs the copy-on-write view, which this machine does not support",
    )
}

/// Prepares a job for a running command: its number, the path of its log, and the log with the output so far. After an
/// error the command runs in the foreground as before.
pub(super) async fn detached(
    running: &mut ForegroundCommand,
    entered: &mut Option<SandboxedRun>,
    ctx: &RunContext,
) -> Result<(u32, PathBuf, OutputLog), ToolError> {
    // The conversation may be classified only since the command began.
    ctx.may_detach.check()?;
    let (number, path) = ctx.env.jobs.place()?;
    let unstored = |e: std::io::Error| ToolError::new(format!("its output cannot be stored: {e}"));
    let log = running.log_to(&path).map_err(unstored)?;
    if let Some(mut run) = entered.take() {
        let moving = move || {
            let moved = run.move_to_background();
            (run, moved)
        };
        let moved = tokio::task::spawn_blocking(moving).await;
        let (run, moved) = moved.map_err(|e| ToolError::new(e.to_string()))?;
        *entered = Some(run);
        moved.map_err(|e| {
            drop(std::fs::remove_file(&path));
            ToolError::new(format!(
                "the command stays in the foreground, because its view cannot be copied: {e}"
            ))
        })?;
    }
    Ok((number, path, log))
}
