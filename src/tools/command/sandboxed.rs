//! A command in the sandbox: what it sees when it starts.

use super::command_effects::{EffectsSummary, SandboxedRun, with_withheld};
use crate::permission::WritePolicy;
use crate::process::{CommandExit, CommandInput, FinishedCommand, ShellCommand};
use crate::sandbox::{self, OverlaySpec, SandboxBackend, SandboxNetwork, SandboxSpec};
use crate::tools::{ToolContext, ToolError};
use crate::workspace::{ChangeOrigin, CommandEffects, LayerKind, View, Workspace, WriteContext};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What separates a command from the machine, as far as placet knows before the command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tools) enum CommandIsolation {
    /// The copy-on-write view.
    View,
    /// Less than the view: the person is asked about each command.
    Less,
}

impl CommandIsolation {
    pub(in crate::tools) fn of(env: &ToolContext) -> CommandIsolation {
        let backend = env.commands.confining.as_ref().map(|c| (c.backend)().0);
        if env.workspace.view().is_some() && backend == Some(SandboxBackend::Overlay) {
            CommandIsolation::View
        } else {
            CommandIsolation::Less
        }
    }
}

/// How a command runs with respect to other commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tools) enum RunMode {
    Foreground,
    Background,
}

/// Prepares the sandbox; `None` if the mode does not need a sandbox. The bytes are for
/// [`crate::process::ShellCommand::sandbox`].
pub(in crate::tools) async fn enter(
    env: &ToolContext,
    cwd: &Path,
    hosts: &[String],
    (writer, pace): (WriteContext, RunMode),
) -> Result<Option<(SandboxedRun, Vec<u8>)>, ToolError> {
    let landing = writer.landing;
    let Some(confining) = env.commands.confining.as_ref().filter(|_| landing != WritePolicy::Direct) else {
        return Ok(None);
    };
    let Some(view) = env.workspace.view() else {
        return Err(ToolError::new("no copy-on-write view for the command"));
    };
    let (backend, sentence) = (confining.backend)();
    if backend == SandboxBackend::None {
        return Err(ToolError::hint(
            format!("commands cannot be confined here: {sentence}"),
            "the person can switch to /mode unrestricted, where commands run with all their rights",
        ));
    }
    if pace == RunMode::Background && backend != SandboxBackend::Overlay {
        return Err(ToolError::hint(
            format!(
                "background commands need the copy-on-write view, which this machine does not support: {sentence}"
            ),
            "run it without `background`; in unrestricted mode it can run in the background without a view",
        ));
    }
    let shelf = if landing == WritePolicy::Discard { LayerKind::Scratch } else { LayerKind::Pending };
    let failed =
        |e: std::io::Error| ToolError::new(format!("the view of the command could not be made: {e}"));
    let command = match backend {
        SandboxBackend::Overlay => {
            // An overlay of a directory that contains other mounts needs privileges.
            let home = confining.home.as_deref().filter(|home| sandbox::mounted_below(home).is_empty());
            let command = match pace {
                RunMode::Foreground => view.begin(shelf, home).await,
                RunMode::Background => view.begin_background(shelf, home).await,
            };
            let command = command.map_err(failed)?;
            Some(command.made_by(writer.origin.clone()))
        }
        _ => None,
    };
    let before = match command {
        Some(_) => None,
        None => {
            let (view, workspace) = (view.clone(), env.workspace.clone());
            let look = move || view.snapshot(&|path| workspace.is_hidden(path));
            let looked = tokio::task::spawn_blocking(look).await;
            Some(looked.map_err(|e| ToolError::new(e.to_string()))?.map_err(failed)?)
        }
    };
    let scratch = view.scratch().map_err(failed)?;
    let mut writable = confining.writable.clone();
    if command.is_none() && landing != WritePolicy::Discard {
        writable.extend(env.workspace.roots().iter().cloned());
    }
    let mounts = command.iter().flat_map(|c| &c.mounts);
    let overlay = |m: &crate::workspace::OverlayMount| OverlaySpec {
        target: m.target.clone(),
        lowers: m.lowers.clone(),
        upper: m.upper.clone(),
        work: m.work.clone(),
    };
    let hosts: Vec<String> = hosts.iter().chain(&confining.hosts).cloned().collect();
    let spec = SandboxSpec {
        backend,
        overlays: mounts.map(overlay).collect(),
        masked: masks(&env.workspace, &confining.masked),
        writable,
        cwd: cwd.to_path_buf(),
        network: if hosts.is_empty() { SandboxNetwork::Off } else { SandboxNetwork::Hosts(hosts) },
        beside: env.jobs.network(),
        limits: confining.limits,
        scratch: Some(scratch),
        keep_env: confining.keep_env.clone(),
    };
    let words = spec.to_words();
    let withheld = confining.withheld.take(&confining.keep_env);
    Ok(Some((SandboxedRun { view: view.clone(), command, before, writer, withheld }, words)))
}

/// Runs a command in the view. Its effects are pending when this returns: for `placet sandbox run`.
pub async fn run_confined(
    env: &ToolContext,
    line: &str,
    (hosts, stdin): (&[String], CommandInput),
    cancel: &CancellationToken,
    on_output: impl FnMut(&[u8]) + Send,
) -> Result<(FinishedCommand, CommandEffects), ToolError> {
    let label = env.workspace.view().map(View::label).unwrap_or_default();
    let origin = ChangeOrigin::new(&label, "", "placet sandbox run", line);
    let writer = WriteContext { origin: Some(Arc::new(origin)), ..WritePolicy::Hold.into() };
    let entered = enter(env, env.workspace.cwd(), hosts, (writer, RunMode::Foreground)).await?;
    let (entered, words) = entered.ok_or_else(|| ToolError::new("no copy-on-write view for the command"))?;
    let SandboxedRun { view, command: Some(view_of_command), .. } = entered else {
        return Err(ToolError::new("this machine has no copy-on-write view"));
    };
    let command = ShellCommand {
        line: line.into(),
        cwd: env.workspace.cwd().to_path_buf(),
        supervisor: env.commands.supervisor.clone(),
        timeout: std::time::Duration::MAX,
        withheld: env.commands.withheld.clone(),
        stdin,
        sandbox: Some(words),
    };
    let finished = command.run(cancel, on_output).await.map_err(|e| ToolError::new(e.to_string()))?;
    let effects = match finished.ending {
        CommandExit::Cancelled => CommandEffects::default(),
        _ => view
            .finish(view_of_command, &|path| env.workspace.is_hidden(path))
            .map_err(|e| ToolError::new(format!("the command's effects could not be read: {e}")))?,
    };
    Ok((finished, effects))
}

fn masks(workspace: &Workspace, more: &[PathBuf]) -> Vec<PathBuf> {
    let mut masked = workspace.hidden_paths();
    masked.extend(more.iter().cloned());
    masked
}

/// Which variables commands do not get, for a person: once, before the first command.
pub fn withheld_line(env: &ToolContext) -> Option<String> {
    let confining = env.commands.confining.as_ref()?;
    let withheld = confining.withheld.take(&confining.keep_env);
    let told = with_withheld(EffectsSummary::default(), &withheld);
    Some(told.for_person.trim_start_matches(" · ").to_string()).filter(|line| !line.is_empty())
}
