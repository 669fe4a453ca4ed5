//! A command in the sandbox: what it sees when it starts.

use super::command_effects::{EffectsSummary, SandboxedRun, with_withheld};
use super::program_view::{ProgramView, control_socket};
use crate::{CommandSandbox, ToolContext, ToolError};
use placet_permission::WritePolicy;
use placet_process::{
    ChildPid, CommandExit, CommandInput, FinishedCommand, ProcessError, ReadySupervisor, ShellCommand,
};
use placet_sandbox::{
    self as sandbox, BoundPort, HostRule, NameService, OverlaySpec, PublishedPort, SandboxBackend,
    SandboxNetwork, SandboxSpec,
};
use placet_workspace::{
    ChangeOrigin, CommandEffects, LayerKind, OverlayMount, TransactionLabel, Workspace, WriteContext,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What separates a command from the machine, as far as placet knows before the command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandIsolation {
    /// The copy-on-write view.
    View,
    /// Less than the view: the person is asked about each command.
    Less,
}

impl CommandIsolation {
    pub(crate) fn of(env: &ToolContext) -> CommandIsolation {
        // Nothing is confined there, and what the machine offers need not be tried.
        if env.mode.load().write_policy() == WritePolicy::Direct {
            return CommandIsolation::Less;
        }
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
pub(crate) enum RunMode {
    Foreground,
    Background,
}

/// Prepares the sandbox; `None` if the mode does not need a sandbox. The caller may complete the description.
pub(crate) async fn describe(
    env: &ToolContext,
    cwd: &Path,
    hosts: &[String],
    (writer, pace): (WriteContext, RunMode),
) -> Result<Option<(SandboxedRun, SandboxSpec)>, ToolError> {
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
    let mounts = command.as_ref().map_or(&[][..], |command| &command.mounts);
    let mut spec = spec_of(env, confining, (backend, mounts), cwd, hosts)?;
    spec.scratch = Some(scratch);
    if command.is_none() && landing != WritePolicy::Discard {
        spec.writable.extend(env.workspace.roots().iter().cloned());
    }
    let withheld = confining.withheld.take(&confining.keep_env);
    Ok(Some((
        SandboxedRun { view: view.clone(), command, before, writer, withheld, most_tmp: confining.most_tmp },
        spec,
    )))
}

/// The sandbox of a command over these mounts, without a directory for temporary files.
pub(super) fn spec_of(
    env: &ToolContext,
    confining: &CommandSandbox,
    (backend, mounts): (SandboxBackend, &[OverlayMount]),
    cwd: &Path,
    hosts: &[String],
) -> Result<SandboxSpec, ToolError> {
    let overlay = |m: &OverlayMount| OverlaySpec {
        target: m.target.clone(),
        lowers: m.lowers.clone(),
        upper: m.upper.clone(),
        work: m.work.clone(),
    };
    let hosts: Vec<String> = hosts.iter().chain(&confining.hosts).cloned().collect();
    if let Some(error) = hosts.iter().find_map(|host| HostRule::parse(host).err()) {
        return Err(ToolError::hint(
            format!("the list of allowed hosts has a wrong entry: {error}"),
            "an entry is a name such as crates.io, *.crates.io, example.org:8443 or, for a port of this machine, \
             localhost:8080 (`--network`, `sandbox.hosts`)",
        ));
    }
    let (copies, hidden, _) = confining.copies();
    // Without a view nothing can be shown in place of a file.
    let (copies, hidden) = match backend {
        SandboxBackend::Overlay => (copies, hidden),
        _ => (Vec::new(), confining.mixed_paths()),
    };
    let mut masked = masks(&env.workspace, &confining.masked);
    masked.extend(hidden);
    Ok(SandboxSpec {
        copies,
        backend,
        overlays: mounts.iter().filter(|mount| !is_of_changes_alone(env, mount)).map(overlay).collect(),
        masked,
        writable: confining.writable.clone(),
        readable: confining.readable.clone(),
        cwd: cwd.to_path_buf(),
        network: SandboxNetwork::Hosts(hosts),
        names: NameService { private_hosts: confining.private_hosts.clone(), ..NameService::default() },
        beside: env.jobs.network(),
        limits: confining.limits,
        scratch: None,
        keep_env: confining.keep_env.clone(),
        probe_record: confining.probe_record.clone(),
        signer: None,
        terminal: None,
    })
}

/// True for a directory of the view in which changes of an earlier start wait, and that is no part of the workspace now:
/// commands do not write there.
fn is_of_changes_alone(env: &ToolContext, mount: &OverlayMount) -> bool {
    let is_root = |roots: &[PathBuf]| roots.contains(&mount.target);
    env.workspace.view().is_some_and(|view| is_root(view.roots())) && !is_root(env.workspace.roots())
}

/// A program of the person's own, for [`run_confined`].
pub struct ProgramCommand<'a> {
    /// The command line for `sh -c`.
    pub line: &'a str,
    /// The label of its changes, with the program.
    pub label: &'a TransactionLabel,
    pub hosts: &'a [String],
    /// Ports of this machine that lead to it.
    pub ports: Vec<BoundPort>,
    pub stdin: CommandInput,
    /// A supervisor that was started before, if there is one.
    pub ready: Option<ReadySupervisor>,
    /// Called when the view is complete, before the program starts.
    pub on_view: &'a mut (dyn FnMut(ProgramView<'_>) + Send),
}

/// Runs a program in the view. Its effects are pending when this returns: for `placet run`.
pub async fn run_confined(
    env: &ToolContext,
    program: ProgramCommand<'_>,
    cancel: &CancellationToken,
    on_output: impl FnMut(&[u8]) + Send,
) -> Result<(FinishedCommand, CommandEffects), ToolError> {
    let ProgramCommand { line, label, hosts, ports, stdin, ready, on_view } = program;
    let writer = WriteContext::from(WritePolicy::Hold);
    let entered = describe(env, env.workspace.cwd(), hosts, (writer, RunMode::Foreground)).await?;
    let (entered, mut spec) =
        entered.ok_or_else(|| ToolError::new("no copy-on-write view for the command"))?;
    let SandboxedRun { view, command: Some(view_of_command), .. } = entered else {
        let why =
            env.commands.confining.as_ref().map(|confining| (confining.backend)().1).unwrap_or_default();
        return Err(ToolError::new(format!("the program needs the copy-on-write view: {why}")));
    };
    let _network = control_socket(&mut spec)?;
    on_view(ProgramView { layer: &view_of_command, network_control: spec.names.control.as_deref() });
    let command = ShellCommand {
        line: line.into(),
        cwd: env.workspace.cwd().to_path_buf(),
        supervisor: env.commands.supervisor.clone(),
        timeout: std::time::Duration::MAX,
        withheld: env.commands.withheld.clone(),
        stdin,
        sandbox: Some(spec.to_words()),
    };
    let failed = |e: ProcessError| ToolError::new(e.to_string());
    let running = command.begin_foreground_below(ready).map_err(failed)?;
    let published = publish_ports(ports, &env.commands.supervisor, running.pid())?;
    let finished = running.run(cancel, on_output).await.map_err(failed)?;
    drop(published);
    let origin = ChangeOrigin::new(&with_end(label, finished.ending), "", "placet run", &label.title);
    let view_of_command = view_of_command.made_by(Some(Arc::new(origin)));
    // However it ended: it is the person's program, and what it wrote before a stop may be all that there is.
    let effects = view
        .finish(view_of_command, &|path| env.workspace.is_hidden(path))
        .map_err(|e| ToolError::new(format!("the command's effects could not be read: {e}")))?;
    Ok((finished, effects))
}

/// Lets ports of this machine lead to the program below `supervisor`, as long as the result exists. `placet` is this
/// program.
pub fn publish_ports(
    ports: Vec<BoundPort>,
    placet: &Path,
    supervisor: Option<ChildPid>,
) -> Result<Vec<PublishedPort>, ToolError> {
    // A program that has ended already needs none.
    let Some(supervisor) = supervisor else { return Ok(Vec::new()) };
    let publish = |port: BoundPort| port.publish(placet, supervisor);
    ports.into_iter().map(publish).collect::<Result<_, _>>().map_err(|e| ToolError::new(e.to_string()))
}

/// The label with the end of its program.
pub fn with_end(label: &TransactionLabel, end: CommandExit) -> TransactionLabel {
    let (code, signal) = match end {
        CommandExit::Exit(code) => (Some(code), None),
        CommandExit::Signal(signal) => (None, Some(signal)),
        CommandExit::TimedOut | CommandExit::Cancelled | CommandExit::Lost => (None, None),
    };
    let program = label.program.clone().map(|program| Box::new(program.ended(code, signal)));
    TransactionLabel { program, ..label.clone() }
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
