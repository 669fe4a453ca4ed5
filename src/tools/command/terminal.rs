//! A program in a terminal inside the view: what it gets, what it has changed so far, and its effects at its end.

use super::command_effects::SandboxedRun;
use super::sandboxed::{RunMode, describe};
use crate::permission::WritePolicy;
use crate::process::{CommandInput, ShellCommand};
use crate::sandbox::{SandboxNetwork, TerminalSpec};
use crate::tools::{ToolContext, ToolError};
use crate::workspace::{
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
    /// The directory of the network's socket.
    network: Option<TempDir>,
}

/// The socket at which the network can be asked and changed, in a directory of its own.
const CONTROL: &str = "control";

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
    // Without any host as well: the person may allow one while the program runs.
    if spec.network == SandboxNetwork::Off && spec.beside.is_none() {
        spec.network = SandboxNetwork::Hosts(Vec::new());
    }
    let mut network = None;
    if let SandboxNetwork::Hosts(_) = spec.network {
        let dir = tempfile::Builder::new().prefix("placet-run-").tempdir();
        let dir = dir.map_err(|e| {
            let place = std::env::temp_dir();
            ToolError::hint(
                format!("cannot write to `{}`: {e}", place.display()),
                "free space there, or set TMPDIR to another directory",
            )
        })?;
        spec.network_control = Some(dir.path().join(CONTROL));
        network = Some(dir);
    }
    let command = ShellCommand {
        line: line.into(),
        cwd: env.workspace.cwd().to_path_buf(),
        supervisor: env.commands.supervisor.clone(),
        timeout: Duration::MAX,
        withheld: env.commands.withheld.clone(),
        stdin,
        sandbox: Some(spec.to_words()),
    };
    Ok(TerminalRun { command, view, layer, workspace: env.workspace.clone(), network })
}

impl TerminalRun {
    /// What the program has changed so far, at most `most` paths.
    pub fn changes_so_far(&self, most: usize) -> io::Result<RunningChanges> {
        self.layer.changes_so_far(most, &|path: &Path| self.workspace.is_hidden(path))
    }

    /// For [`NetworkControl::connect`](crate::sandbox::NetworkControl::connect); `None` where the program has no network
    /// by name.
    pub fn network_control(&self) -> Option<PathBuf> {
        self.network.as_ref().map(|dir| dir.path().join(CONTROL))
    }

    /// Where the changes to the home directory are while the program runs, if it has a layer.
    pub fn home_layer(&self) -> Option<&Path> {
        self.layer.home_layer()
    }

    /// Puts the effects into the pending changes. The program and everything that it started must be dead. `origin` says
    /// who made them.
    pub fn finish(self, origin: ChangeOrigin) -> Result<CommandEffects, ToolError> {
        let TerminalRun { view, layer, workspace, .. } = self;
        view.finish(layer.made_by(Some(Arc::new(origin))), &|path| workspace.is_hidden(path))
            .map_err(|e| ToolError::new(format!("the program's effects could not be read: {e}")))
    }
}
