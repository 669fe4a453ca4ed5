//! A command in the view, and what happens to its effects when it has ended.

use super::command_hint::SaidHints;
use super::network_summary::NetworkSummary;
use super::session_tmp;
use crate::{StopStage, StopStageCell, ToolError};
use placet_permission::WritePolicy;
use placet_process::{ChildPid, CommandExit, roots_below};
use placet_text::text::{count, human_size};
use placet_workspace::{
    ApplyOutcome, CommandEffects, CommandView, CommandsHeld, EffectCounts, PendingReason, TransactionLabel,
    View, Workspace, WorkspaceSnapshot, WriteContext, hold_point,
};
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

/// A command that is about to run in the view.
pub(crate) struct SandboxedRun {
    pub(super) view: View,
    /// Absent if effects are immediate.
    pub(super) command: Option<CommandView>,
    /// What the workspace contained before, if effects are immediate.
    pub(super) before: Option<WorkspaceSnapshot>,
    pub(super) writer: WriteContext,
    /// Variables that the command did not get; reported at the first command of a conversation.
    pub(super) withheld: Vec<String>,
    /// See [`CommandSandbox::most_tmp`](crate::CommandSandbox).
    pub(super) most_tmp: Option<u64>,
}

/// The report of a command's effects.
#[derive(Debug, Default)]
pub(crate) struct EffectsSummary {
    pub(crate) for_model: String,
    pub(crate) for_person: String,
}

impl SandboxedRun {
    /// Called when the command and all the processes that it started are dead. Folds the effects, and applies them in
    /// write mode; after a `stop` that comes before the first file changed, they are pending. The turn waits for a stopped call
    /// while its stage is [`StopStage::Collects`].
    pub(crate) async fn finish(
        mut self,
        workspace: &Workspace,
        ending: CommandExit,
        stop: (&CancellationToken, &StopStageCell),
    ) -> Result<EffectsSummary, ToolError> {
        let withheld = std::mem::take(&mut self.withheld);
        let (tmp, most) = (self.view.scratch(), self.most_tmp);
        let told = with_withheld(self.collect_effects(workspace, ending, stop).await?, &withheld);
        let bound = move || session_tmp::empty_above(&tmp.ok()?, most?);
        let emptied = tokio::task::spawn_blocking(bound).await.map_err(|e| ToolError::new(e.to_string()))?;
        Ok(with_emptied(told, emptied))
    }

    async fn collect_effects(
        self,
        workspace: &Workspace,
        ending: CommandExit,
        (stop, stage): (&CancellationToken, &StopStageCell),
    ) -> Result<EffectsSummary, ToolError> {
        let SandboxedRun { view, command, before, writer, .. } = self;
        let Some(command) = command else {
            return compared(workspace, view, before.unwrap_or_default(), writer).await;
        };
        // A call that was given up while its command ran was reported as discarded.
        if ending == CommandExit::Cancelled || !stage.enter(StopStage::Collects) {
            command.discard();
            return Ok(discarded_summary());
        }
        let (hidden_by, stopped, of_call) = (workspace.clone(), stop.clone(), view.clone());
        let mut settling = tokio::task::spawn_blocking(move || {
            hold_point("collecting");
            let (effects, held) = view.finish_held(command, &|path| hidden_by.is_hidden(path))?;
            // In this order: a stop that comes now cancels the apply, and an earlier one is seen here. Nobody may wait
            // for this call any more, and it must not apply anything then.
            view.apply_progress().reset();
            let is_stopped = stopped.is_cancelled() && writer.landing == WritePolicy::Apply;
            let fate = match cut_off(ending) {
                _ if effects.is_empty() || writer.landing == WritePolicy::Discard => {
                    outcome_of(&view, &held, &effects, &writer)
                }
                Some(how) => {
                    let why = format!("a command was cut off ({how}), and its changes may be incomplete");
                    view.turn().unread.push(why.clone());
                    EffectsOutcome::Pending(why)
                }
                None if is_stopped => EffectsOutcome::Pending("stopped before they were applied".into()),
                None => outcome_of(&view, &held, &effects, &writer),
            };
            Ok::<_, std::io::Error>((effects, fate))
        });
        let settled = tokio::select! {
            biased;
            settled = &mut settling => settled,
            () = stop.cancelled() => {
                of_call.apply_progress().cancel();
                let settled = settling.await;
                of_call.apply_progress().reset();
                settled
            }
        };
        let settled = settled.map_err(|e| ToolError::new(e.to_string()))?;
        let (effects, fate) =
            settled.map_err(|e| ToolError::new(format!("the command's effects could not be read: {e}")))?;
        Ok(told(workspace, &effects, &fate))
    }

    /// As [`SandboxedRun::finish`], for a server, which saw the view as it was when it began. `writer` is the call that
    /// ended it, or that made it write; `kept` is how many files at home were written there. However it ended, what it wrote
    /// counts: a server has no result of its own.
    pub(crate) async fn finish_server(
        self,
        workspace: &Workspace,
        writer: WriteContext,
        (suffix, kept): (String, usize),
    ) -> Result<EffectsSummary, ToolError> {
        let SandboxedRun { view, command: Some(command), writer: began, .. } = self else {
            return Ok(EffectsSummary::default());
        };
        // The layer belongs to the mode in which the server began.
        let writer = WriteContext { landing: began.landing, ..writer };
        let hidden_by = workspace.clone();
        let settled = tokio::task::spawn_blocking(move || {
            let command = command.made_by(writer.origin.clone());
            let hidden = |path: &Path| hidden_by.is_hidden(path);
            let (mut effects, held) = view.finish_background_held(command, &suffix, &hidden)?;
            effects.home = effects.home.saturating_sub(kept);
            let fate = outcome_of(&view, &held, &effects, &writer);
            Ok::<_, std::io::Error>((effects, fate))
        });
        let settled = settled.await.map_err(|e| ToolError::new(e.to_string()))?;
        let (effects, fate) =
            settled.map_err(|e| ToolError::new(format!("the server's effects could not be read: {e}")))?;
        Ok(told(workspace, &effects, &fate))
    }

    /// True if the command has changed something that could be applied. Errors count as a change: collecting reports them.
    pub(crate) fn has_written(&self, workspace: &Workspace) -> bool {
        let Some(command) = &self.command else { return false };
        let so_far = command.changes_so_far(1, &|path: &Path| workspace.is_hidden(path));
        so_far.map_or(true, |found| !found.changes.is_empty())
    }

    /// Where its changes to the home directory are while it runs.
    pub(crate) fn home_layer(&self) -> Option<&Path> {
        self.command.as_ref()?.home_layer()
    }

    /// True if the command writes to layers of its own.
    pub(super) fn has_layers(&self) -> bool {
        self.command.is_some()
    }

    /// Lets others use the view while the command runs. After an error the command is in the foreground as before.
    pub(super) fn move_to_background(&mut self) -> std::io::Result<()> {
        match &mut self.command {
            Some(command) => self.view.move_to_background(command),
            None => Err(std::io::Error::other("the command has no copy-on-write view")),
        }
    }

    /// From now on the command gets what changes in the view and is not hidden from it. `supervisor` is the process that it
    /// runs below.
    pub(super) fn get_updates(
        &mut self,
        supervisor: ChildPid,
        is_hidden: impl Fn(&Path) -> bool + Send + Sync + 'static,
    ) {
        if let Some(command) = &mut self.command {
            self.view.update_job(command, move || roots_below(supervisor), is_hidden);
        }
    }

    /// As [`SandboxedRun::finish`], for a background command. Its effects are pending, whatever the present mode is. `suffix` names its
    /// versions of files that others changed as well.
    pub(crate) async fn finish_background(
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
            command.discard();
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

/// How a command was killed that placet did not end: half of what it was about to do is something else, and is not applied
/// unseen. A program that crashes is none of these: tests do that.
fn cut_off(ending: CommandExit) -> Option<&'static str> {
    match ending {
        CommandExit::Lost => Some("the process that ran it was killed"),
        CommandExit::Signal(KILL) => Some("killed by signal 9"),
        // As the shell says it of its last command.
        CommandExit::Exit(code) if code == 128 + KILL => Some("killed by signal 9"),
        _ => None,
    }
}

/// SIGKILL
const KILL: i32 = 9;

/// What becomes of effects that are in the layers: in write mode they are applied.
fn outcome_of(
    view: &View,
    held: &CommandsHeld,
    effects: &CommandEffects,
    writer: &WriteContext,
) -> EffectsOutcome {
    match writer.landing {
        _ if effects.is_empty() => EffectsOutcome::None,
        WritePolicy::Discard => EffectsOutcome::Scratch,
        WritePolicy::Apply => {
            let mut turn = view.turn().clone();
            let label = TransactionLabel { assent: writer.assent.clone(), ..view.label() };
            let applied = view.apply_within_limit(held, &effects.paths, &mut turn, label);
            *view.turn() = turn;
            match applied {
                Ok(Ok(ApplyOutcome::Landed(entry))) if entry.shortfalls.is_empty() => EffectsOutcome::Applied,
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
    }
}

/// Reports which variables the command did not get, because a missing variable can explain a failed login.
pub(super) fn with_withheld(mut told: EffectsSummary, withheld: &[String]) -> EffectsSummary {
    /// How many names are shown; an environment may have hundreds.
    const SHOWN: usize = 20;
    if withheld.is_empty() {
        return told;
    }
    let mut names: Vec<String> = withheld
        .iter()
        .take(SHOWN)
        .map(|name| placet_text::text::sanitize::name(name).into_owned())
        .collect();
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

/// Reports that the session's `/tmp` was emptied.
fn with_emptied(mut told: EffectsSummary, size: Option<u64>) -> EffectsSummary {
    if let Some(size) = size {
        let why = format!(
            "/tmp had {} or more, which is above `sandbox.tmp_mb`, and was emptied",
            human_size::of(size)
        );
        told.for_model.push_str(&format!("\n[{why}]"));
        told.for_person.push_str(&format!(" · {why}"));
    }
    told
}

/// Reports which hosts the command asked for in vain: a program's own message often names no host.
pub(super) fn with_network(
    mut told: EffectsSummary,
    sandbox_report: Option<&str>,
    said: Option<&SaidHints>,
) -> EffectsSummary {
    let summary = NetworkSummary::of(sandbox_report);
    told.for_model.push_str(&summary.for_model());
    told.for_person.push_str(&summary.for_person());
    if let Some(host) =
        summary.refused_names.first().filter(|_| said.is_some_and(|said| said.is_first("network")))
    {
        told.for_person
            .push_str(&format!(" · hint: `--allow 'network({host})'` or `sandbox.hosts` allows it"));
    }
    told
}

/// A transaction that was stopped did nothing.
fn discarded_summary() -> EffectsSummary {
    EffectsSummary {
        for_model: "\n[its changes were discarded]".into(),
        for_person: " (its changes were discarded)".into(),
    }
}

/// Without a view: compares the workspace with its state before the command. These changes are already applied and can
/// be undone.
async fn compared(
    workspace: &Workspace,
    view: View,
    before: WorkspaceSnapshot,
    writer: WriteContext,
) -> Result<EffectsSummary, ToolError> {
    let hidden_by = workspace.clone();
    let label = TransactionLabel { assent: writer.assent, ..view.label() };
    let by = writer.origin;
    let look = move || view.since(&before, &|path| hidden_by.is_hidden(path), label, by.as_deref());
    let looked = tokio::task::spawn_blocking(look).await.map_err(|e| ToolError::new(e.to_string()))?;
    let (effects, _) =
        looked.map_err(|e| ToolError::new(format!("the command's effects could not be read: {e}")))?;
    Ok(told(workspace, &effects, &EffectsOutcome::Real))
}

enum EffectsOutcome {
    /// The changes are already in the workspace.
    Real,
    None,
    Scratch,
    Applied,
    /// A part of the changes could not be written.
    AppliedBut(String),
    Pending(String),
    Braked(PendingReason),
}

/// How many paths a sentence names.
const MOST_NAMES: usize = 20;

fn told(workspace: &Workspace, effects: &CommandEffects, fate: &EffectsOutcome) -> EffectsSummary {
    let home = match effects.home {
        0 => String::new(),
        paths => format!(
            "\n[outside the workspace: {} in the home directory changed; these changes last for this session and are never applied]",
            count::of(paths, "path")
        ),
    };
    let name = |path: &Path| placet_text::text::visible::path(&workspace.shortened(path));
    let listed = |paths: &[PathBuf]| {
        let mut names: Vec<String> = paths.iter().take(MOST_NAMES).map(|path| name(path)).collect();
        if paths.len() > names.len() {
            names.push(format!("and {} more", paths.len() - names.len()));
        }
        names.join(", ")
    };
    let (kept, kept_short) = match effects.kept.as_slice() {
        [] => Default::default(),
        kept => (
            format!(
                "\n[kept as others left them in the meantime, although this command deleted or changed them: {}]",
                listed(kept)
            ),
            format!(" · kept, because others changed them too: {}", listed(kept)),
        ),
    };
    if effects.is_empty() {
        return EffectsSummary { for_model: kept + &home, for_person: kept_short };
    }
    let counted = EffectCounts::of(effects);
    let counts = counted.to_string();
    let tops = counted.names(effects);
    let mut names: Vec<String> = Vec::new();
    for (path, below) in tops.iter().take(MOST_NAMES) {
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
            ("pending: not in the workspace until they are applied".into(), "pending".into())
        }
        EffectsOutcome::Pending(why) => (format!("pending: {why}"), format!("pending: {why}")),
        EffectsOutcome::Braked(braked) => {
            let why = braked.words();
            (format!("pending until they are applied, because {why}"), format!("pending: {why}"))
        }
    };
    let mut for_model = format!("\n[effects: {counts}: {}; {fate}]", names.join(", "));
    if !effects.special.is_empty() {
        for_model.push_str("\n[pipes, sockets and devices are never applied]");
    }
    let of_others = [
        ("changed by others at the same time", &effects.raced),
        ("changed by others as well, and merged", &effects.merged),
        (
            "changed by others in the same place: their version stays, and this command's version is next to it",
            &effects.beside,
        ),
    ];
    for (words, paths) in of_others.into_iter().filter(|(_, paths)| !paths.is_empty()) {
        for_model.push_str(&format!("\n[{words}: {}]", listed(paths)));
    }
    for_model.push_str(&kept);
    for_model.push_str(&home);
    let counts = match effects.beside.len() {
        0 => counts,
        beside => format!("{counts}, {beside} in conflict"),
    };
    EffectsSummary { for_model, for_person: format!(" · {counts}, {short}{kept_short}") }
}
