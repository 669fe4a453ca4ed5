//! A program in a terminal inside the view: what it gets, what it has changed so far, and its effects at its end.

use super::command_effects::SandboxedRun;
use super::program_view::{ProgramView, control_socket};
use super::sandboxed::{RunMode, describe};
use crate::{ToolContext, ToolError};
use placet_permission::WritePolicy;
use placet_process::{CommandInput, ShellCommand};
use placet_sandbox::TerminalSpec;
use placet_workspace::{
    ChangeOrigin, CommandEffects, CommandView, RunningChanges, View, Workspace, WriteContext,
};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// A program that is about to run, or runs. Dropping it discards what the program changed.
pub struct TerminalRun {
    /// For [`ShellCommand::begin_in_terminal`].
    pub command: ShellCommand,
    view: View,
    layer: CommandView,
    workspace: Workspace,
    network_control: Option<PathBuf>,
    /// The directory of that socket.
    _network: Option<TempDir>,
}

/// Prepares `line` for a terminal inside the view. [`TerminalRun::finish`] says who made its changes.
pub async fn prepare_in_terminal(
    env: &ToolContext,
    line: &str,
    (hosts, stdin): (&[String], CommandInput),
    terminal: TerminalSpec,
) -> Result<TerminalRun, ToolError> {
    let writer = WriteContext::from(WritePolicy::Hold);
    let entered = describe(env, env.workspace.cwd(), hosts, (writer, RunMode::Foreground)).await?;
    let (entered, mut spec) =
        entered.ok_or_else(|| ToolError::new("no copy-on-write view for the program"))?;
    let SandboxedRun { view, command: Some(layer), .. } = entered else {
        return Err(ToolError::new(
            "a terminal needs a copy-on-write view, which this machine does not support",
        ));
    };
    spec.terminal = Some(terminal);
    let network = control_socket(&mut spec)?;
    let command = ShellCommand {
        line: line.into(),
        cwd: env.workspace.cwd().to_path_buf(),
        supervisor: env.commands.supervisor.clone(),
        timeout: Duration::MAX,
        withheld: env.commands.withheld.clone(),
        stdin,
        sandbox: Some(spec.to_words()),
    };
    let (workspace, network_control) = (env.workspace.clone(), spec.names.control);
    Ok(TerminalRun { command, view, layer, workspace, network_control, _network: network })
}

impl TerminalRun {
    /// What the program has changed so far, at most `most` paths.
    pub fn changes_so_far(&self, most: usize) -> io::Result<RunningChanges> {
        self.layer.changes_so_far(most, &|path: &Path| self.workspace.is_hidden(path))
    }

    /// What others may look at while the program runs.
    pub fn program_view(&self) -> ProgramView<'_> {
        ProgramView { layer: &self.layer, network_control: self.network_control.as_deref() }
    }

    /// Puts the effects into the pending changes. The program and everything that it started must be dead. `origin` says
    /// who made them.
    pub fn finish(self, origin: ChangeOrigin) -> Result<CommandEffects, ToolError> {
        let TerminalRun { view, layer, workspace, .. } = self;
        view.finish(layer.made_by(Some(Arc::new(origin))), &|path| workspace.is_hidden(path))
            .map_err(|e| ToolError::new(format!("the program's effects could not be read: {e}")))
    }
}
