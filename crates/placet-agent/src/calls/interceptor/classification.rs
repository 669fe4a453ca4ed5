//! Classification: undoes what a command in a classified session wrote to a lower level. The rules decide what a call
//! itself may read and write, and they also raise the session's level.

use crate::calls::context::CallContext;
use crate::calls::rejection::withheld;
use crate::services::SharedServices;
use placet_permission::{Access, ClassificationLevel};
use placet_text::conversation::{BlockedWrite, Note};
use placet_tools::{Plan, ToolError, ToolOutput};
use placet_workspace::{ChangeSet, LayerKind, SharedState, View};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The changes that were pending before a command ran.
pub(super) struct PendingSnapshot {
    view: View,
    before: BTreeMap<Arc<Path>, SharedState>,
}

fn is_classified(services: &SharedServices) -> bool {
    let policy = services.policy();
    !policy.labels().is_off() && policy.taint().load() > ClassificationLevel::Public
}

/// A command that outlasts its call cannot be checked when it ends: the conversation may have another level by then.
pub(super) fn check_background(ctx: &CallContext, plan: &dyn Plan) -> Result<(), ToolError> {
    if plan.outlasts_call() { may_detach(&ctx.services) } else { Ok(()) }
}

/// The same for a command that the person sends to the background while it runs.
pub(in crate::calls) fn may_detach(services: &SharedServices) -> Result<(), ToolError> {
    if !is_classified(services) {
        return Ok(());
    }
    Err(ToolError::hint(
        "no background commands in a classified conversation: placet cannot check what they write later",
        "run it without `background`",
    ))
}

/// The changes that are pending before a command runs in a session where something is classified.
pub(super) fn snapshot(ctx: &CallContext, reach: &[Access]) -> Option<PendingSnapshot> {
    let runs = |access: &Access| matches!(access, Access::Run { .. } | Access::ServerTool { .. });
    if !reach.iter().any(runs) || !is_classified(&ctx.services) {
        return None;
    }
    let view = ctx.services.env.workspace.view()?.clone();
    // If the pending changes cannot be read, all of them count as made by the command: this is the strict choice.
    let set = view.changes(LayerKind::Pending).unwrap_or_default();
    Some(PendingSnapshot { view, before: set.changes.into_iter().map(|c| (c.path, c.after)).collect() })
}

/// Discards what the command changed at a lower level than the session's; the note lists the discarded files.
pub(super) async fn discard_lower_writes(
    ctx: &CallContext,
    snapshot: Option<PendingSnapshot>,
    mut output: ToolOutput,
) -> (ToolOutput, Option<Note>) {
    let Some(PendingSnapshot { view, before }) = snapshot else { return (output, None) };
    let services = Arc::clone(&ctx.services);
    let discarded = tokio::task::spawn_blocking(move || {
        // A job that ends in between would be lost with what is discarded.
        let _held = view.block_commands();
        let mut set = view.changes(LayerKind::Pending).map_err(|e| e.to_string())?;
        let policy = services.policy().clone();
        let taint = policy.taint().load();
        let level_of = |path: &Path| policy.level_of(path);
        set.changes.retain(|c| before.get(&c.path) != Some(&c.after) && level_of(&c.path) < taint);
        let note = blocked(&set, taint, &level_of, |path| services.env.workspace.shown(path));
        if !set.is_empty() {
            view.discard(&View::everything(&set)).map_err(|e| e.to_string())?;
        }
        Ok::<_, String>(note)
    });
    let note = match discarded.await.unwrap_or_else(|e| Err(e.to_string())) {
        Ok(note) => note,
        Err(e) => return (withheld(&output, &format!("cannot check what the command wrote: {e}")), None),
    };
    if note.is_some() {
        output.for_person.line.push_str(" · write-down blocked");
    }
    (output, note)
}

/// The most files that the note names.
const NAMED: usize = 10;

fn blocked(
    set: &ChangeSet,
    taint: ClassificationLevel,
    level_of: &dyn Fn(&Path) -> ClassificationLevel,
    shown: impl Fn(&Path) -> String,
) -> Option<Note> {
    let file = |path: &Path| BlockedWrite { path: shown(path), level: level_of(path).name().into() };
    let files: Vec<BlockedWrite> = set.changes.iter().take(NAMED).map(|c| file(&c.path)).collect();
    let more = set.len() - files.len();
    (!set.is_empty()).then(|| Note::WriteDownBlocked { level: taint.name().into(), files, more })
}
