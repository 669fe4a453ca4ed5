//! A command between walls: what it sees before it starts, and what becomes of its effects when it has ended.

use crate::permission::WritePolicy;
use crate::process::{CommandExit, CommandInput, FinishedCommand, ShellCommand};
use crate::sandbox::{self, OverlaySpec, SandboxBackend, SandboxNetwork, SandboxSpec};
use crate::text::count;
use crate::tools::{RunContext, ToolContext, ToolError};
use crate::workspace::{
    ApplyOutcome, ChangeOrigin, CommandEffects, CommandView, LayerKind, PendingReason, TransactionLabel,
    View, Workspace, WorkspaceSnapshot, WriteContext,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What stands between a command and the machine, as far as it is known before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tools) enum CommandIsolation {
    /// The copy-on-write view.
    View,
    /// Less than that: the person is asked for each command.
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

/// How a command runs beside others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tools) enum RunMode {
    Foreground,
    Background,
}

/// A command that is about to run in the view.
pub(in crate::tools) struct SandboxedRun {
    view: View,
    /// Absent where effects are real at once.
    command: Option<CommandView>,
    /// What the workspace held before, where effects are real at once.
    before: Option<WorkspaceSnapshot>,
    writer: WriteContext,
    /// Variables that the command did not get, at the first command of a conversation.
    withheld: Vec<String>,
}

/// What is said about a command's effects.
#[derive(Debug, Default)]
pub(in crate::tools) struct EffectsSummary {
    pub(in crate::tools) for_model: String,
    pub(in crate::tools) for_person: String,
}

/// Prepares the walls; `None` when the mode wants none. The bytes are for [`crate::process::ShellCommand::sandbox`].
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
            // A directory with other mounts in it cannot be laid over without privileges.
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

/// A command in the view and its effects, which are pending when this returns: for `placet sandbox run`.
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

impl SandboxedRun {
    /// The command and all it started are dead: its effects are folded, and in write mode applied.
    pub(in crate::tools) async fn finish(
        mut self,
        ctx: &RunContext,
        ending: CommandExit,
    ) -> Result<EffectsSummary, ToolError> {
        let withheld = std::mem::take(&mut self.withheld);
        Ok(with_withheld(self.collect_effects(ctx, ending).await?, &withheld))
    }

    async fn collect_effects(
        self,
        ctx: &RunContext,
        ending: CommandExit,
    ) -> Result<EffectsSummary, ToolError> {
        let SandboxedRun { view, command, before, writer, .. } = self;
        let Some(command) = command else {
            return compared(ctx, view, before.unwrap_or_default(), writer).await;
        };
        if ending == CommandExit::Cancelled {
            return Ok(discarded_summary());
        }
        let (workspace, brake) = (ctx.env.workspace.clone(), ctx.env.commands.brake);
        let settled = tokio::task::spawn_blocking(move || {
            let effects = view.finish(command, &|path| workspace.is_hidden(path))?;
            let fate = match writer.landing {
                _ if effects.is_empty() => EffectsOutcome::None,
                WritePolicy::Discard => EffectsOutcome::Scratch,
                WritePolicy::Apply => {
                    let mut turn = view.turn().clone();
                    let label = TransactionLabel { assent: writer.assent, ..view.label() };
                    let applied = view.apply_within_limit(&effects.paths, brake, &mut turn, label);
                    *view.turn() = turn;
                    match applied {
                        Ok(Ok(ApplyOutcome::Landed(entry))) if entry.shortfalls.is_empty() => {
                            EffectsOutcome::Applied
                        }
                        Ok(Ok(ApplyOutcome::Landed(entry))) => {
                            EffectsOutcome::AppliedBut(entry.shortfalls.join("; "))
                        }
                        Ok(Ok(ApplyOutcome::Nothing)) => EffectsOutcome::None,
                        Ok(Ok(ApplyOutcome::Changed { .. })) => {
                            EffectsOutcome::Pending("files changed in the meantime".into())
                        }
                        Ok(Err(braked)) => {
                            view.turn().braked.push(braked.words());
                            EffectsOutcome::Braked(braked)
                        }
                        Err(e) => EffectsOutcome::Pending(e.to_string()),
                    }
                }
                WritePolicy::Hold | WritePolicy::Direct => EffectsOutcome::Pending(String::new()),
            };
            Ok::<_, std::io::Error>((effects, fate))
        });
        let settled = settled.await.map_err(|e| ToolError::new(e.to_string()))?;
        let (effects, fate) =
            settled.map_err(|e| ToolError::new(format!("the command's effects could not be read: {e}")))?;
        Ok(told(&ctx.env.workspace, &effects, &fate))
    }
}

impl SandboxedRun {
    /// The same for a background command: its effects are pending, whatever the mode is by now. `suffix` names its
    /// versions of files that others changed as well.
    pub(in crate::tools) async fn finish_background(
        mut self,
        workspace: Workspace,
        ending: CommandExit,
        suffix: String,
    ) -> Result<EffectsSummary, ToolError> {
        let withheld = std::mem::take(&mut self.withheld);
        Ok(with_withheld(self.collect_background_effects(workspace, ending, suffix).await?, &withheld))
    }

    async fn collect_background_effects(
        self,
        workspace: Workspace,
        ending: CommandExit,
        suffix: String,
    ) -> Result<EffectsSummary, ToolError> {
        let SandboxedRun { view, command: Some(command), writer, .. } = self else {
            return Ok(EffectsSummary::default());
        };
        if writer.landing == WritePolicy::Discard {
            return Ok(EffectsSummary {
                for_model: "\n[read mode: its changes were discarded]".into(),
                for_person: " · its changes were discarded (read mode)".into(),
            });
        }
        if !matches!(ending, CommandExit::Exit(_) | CommandExit::Signal(_)) {
            return Ok(discarded_summary());
        }
        let settled = tokio::task::spawn_blocking(move || {
            let effects = view.finish_background(command, &suffix, &|path| workspace.is_hidden(path))?;
            let fate = if effects.is_empty() {
                EffectsOutcome::None
            } else {
                EffectsOutcome::Pending(String::new())
            };
            Ok::<_, std::io::Error>(told(&workspace, &effects, &fate))
        });
        let settled = settled.await.map_err(|e| ToolError::new(e.to_string()))?;
        settled.map_err(|e| ToolError::new(format!("its effects could not be read: {e}")))
    }
}

/// Which variables commands do not get, for a person: once, before the first command.
pub fn withheld_line(env: &ToolContext) -> Option<String> {
    let confining = env.commands.confining.as_ref()?;
    let withheld = confining.withheld.take(&confining.keep_env);
    let told = with_withheld(EffectsSummary::default(), &withheld);
    Some(told.for_person.trim_start_matches(" · ").to_string()).filter(|line| !line.is_empty())
}

/// Says which variables the command did not get, so that a failed login explains itself.
fn with_withheld(mut told: EffectsSummary, withheld: &[String]) -> EffectsSummary {
    /// Names that are shown; an environment may hold hundreds.
    const SHOWN: usize = 20;
    if withheld.is_empty() {
        return told;
    }
    let mut names: Vec<String> =
        withheld.iter().take(SHOWN).map(|name| crate::text::sanitize::name(name).into_owned()).collect();
    if withheld.len() > SHOWN {
        names.push(format!("and {} more", withheld.len() - SHOWN));
    }
    told.for_model.push_str(&format!(
        "\n[these environment variables look like secrets and are not passed to commands: {}; the person can pass a variable with the setting sandbox.keep_env]",
        names.join(", ")
    ));
    told.for_person.push_str(&format!(
        " · not passed, because they look like secrets: {} ({}); `sandbox.keep_env` passes one",
        count::of(withheld.len(), "variable"),
        names.join(", ")
    ));
    told
}

/// A transaction that was stopped did nothing.
fn discarded_summary() -> EffectsSummary {
    EffectsSummary {
        for_model: "\n[its changes were discarded]".into(),
        for_person: " (its changes were discarded)".into(),
    }
}

/// Without a view: what is different from before the command, which stands at once and can be undone.
async fn compared(
    ctx: &RunContext,
    view: View,
    before: WorkspaceSnapshot,
    writer: WriteContext,
) -> Result<EffectsSummary, ToolError> {
    let workspace = ctx.env.workspace.clone();
    let label = TransactionLabel { assent: writer.assent, ..view.label() };
    let by = writer.origin;
    let look = move || view.since(&before, &|path| workspace.is_hidden(path), label, by.as_deref());
    let looked = tokio::task::spawn_blocking(look).await.map_err(|e| ToolError::new(e.to_string()))?;
    let (effects, _) =
        looked.map_err(|e| ToolError::new(format!("the command's effects could not be read: {e}")))?;
    Ok(told(&ctx.env.workspace, &effects, &EffectsOutcome::Real))
}

enum EffectsOutcome {
    /// Changed for good already.
    Real,
    None,
    Scratch,
    Applied,
    /// Not all of it could be written down.
    AppliedBut(String),
    Pending(String),
    Braked(PendingReason),
}

/// Paths that lie below no other one, each with how many lie below it: a directory that came or went is named once.
fn tops(paths: &BTreeSet<PathBuf>) -> Vec<(PathBuf, usize)> {
    let mut tops: Vec<(PathBuf, usize)> = Vec::new();
    for path in paths {
        match tops.last_mut() {
            Some((top, below)) if path.starts_with(&*top) => *below += 1,
            _ => tops.push((path.clone(), 0)),
        }
    }
    tops
}

fn told(workspace: &Workspace, effects: &CommandEffects, fate: &EffectsOutcome) -> EffectsSummary {
    let home = match effects.home {
        0 => String::new(),
        paths => format!(
            "\n[outside the workspace: {} in the home directory changed; these changes last for this session and are never applied]",
            count::of(paths, "path")
        ),
    };
    if effects.is_empty() {
        return EffectsSummary { for_model: home, for_person: String::new() };
    }
    let mut counts = Vec::new();
    for (count, word) in
        [(effects.created, "created"), (effects.modified, "modified"), (effects.deleted, "deleted")]
    {
        if count > 0 {
            counts.push(format!("{count} {word}"));
        }
    }
    let counts = counts.join(", ");
    let name = |path: &PathBuf| crate::text::visible::path(&workspace.shortened(path));
    let tops = tops(&effects.paths);
    let mut names: Vec<String> = Vec::new();
    for (path, below) in tops.iter().take(20) {
        let below =
            if *below > 0 { format!(" ({} in it)", count::of(*below, "path")) } else { String::new() };
        names.push(format!("{}{below}", name(path)));
    }
    if tops.len() > names.len() {
        names.push(format!("and {} more", tops.len() - names.len()));
    }
    let (fate, short) = match fate {
        EffectsOutcome::None => ("no changes in the end".into(), "no changes".into()),
        EffectsOutcome::Scratch => {
            let words = "read mode: discarded when the turn ends; later commands of this turn see them";
            (words.to_string(), "discarded at the end".to_string())
        }
        EffectsOutcome::Applied => ("applied".into(), "applied".into()),
        EffectsOutcome::AppliedBut(why) => {
            let words = format!("applied, but not everything worked: {why}");
            (words.clone(), words)
        }
        EffectsOutcome::Real => {
            let words = "made at once, because there is no copy-on-write view here; ignored files and .git were not watched";
            (words.into(), "made at once; /undo reverts them, except in ignored files and .git".into())
        }
        EffectsOutcome::Pending(why) if why.is_empty() => {
            ("pending: not in the workspace until the person applies them".into(), "pending".into())
        }
        EffectsOutcome::Pending(why) => (format!("pending: {why}"), format!("pending: {why}")),
        EffectsOutcome::Braked(braked) => {
            let why = braked.words();
            (format!("pending until the person applies them, because {why}"), format!("pending: {why}"))
        }
    };
    let mut for_model = format!("\n[effects: {counts}: {}; {fate}]", names.join(", "));
    if !effects.special.is_empty() {
        for_model.push_str("\n[pipes, sockets and devices are never applied]");
    }
    if !effects.raced.is_empty() {
        let raced: Vec<String> = effects.raced.iter().map(name).collect();
        for_model.push_str(&format!("\n[changed by others at the same time: {}]", raced.join(", ")));
    }
    if !effects.merged.is_empty() {
        let merged: Vec<String> = effects.merged.iter().map(name).collect();
        for_model.push_str(&format!("\n[changed by others as well, and merged: {}]", merged.join(", ")));
    }
    if !effects.beside.is_empty() {
        let beside: Vec<String> = effects.beside.iter().map(name).collect();
        for_model.push_str(&format!(
            "\n[changed by others in the same place: their version stays, and this command's version is next to it: {}]",
            beside.join(", ")
        ));
    }
    for_model.push_str(&home);
    let counts = match effects.beside.len() {
        0 => counts,
        beside => format!("{counts}, {beside} in conflict"),
    };
    EffectsSummary { for_model, for_person: format!(" · {counts}, {short}") }
}
