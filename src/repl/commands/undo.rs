//! `/undo` and `/redo`.

use super::changes::{finish, label};
use super::review::retract_undone;
use crate::audit::AuditKind;
use crate::repl::context::{CommandContext, SlashCommandResult};
use crate::serve::changes::{self, UndoTarget};
use std::path::Path;

pub(super) fn undo(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let (workspace, view) = context.viewed()?;
    let shown = |path: &Path| workspace.shortened(path);
    let (rest, others) = match rest.strip_suffix("rest") {
        Some(before) if before.is_empty() || before.ends_with(' ') => (before.trim(), true),
        _ => (rest, false),
    };
    let back = match rest.parse::<usize>() {
        _ if rest.is_empty() => UndoTarget::Turns(1),
        Ok(0) => return Err(format!("/{}", UndoTarget::NO_TURNS).into()),
        Ok(count) => UndoTarget::Turns(count),
        Err(_) => UndoTarget::Path(workspace.pending_path(rest)?),
    };
    let views = context.conversation.views();
    let discarded = match rest.is_empty() && !others {
        true => changes::undo_discard(&views, &view, &shown),
        false => None,
    };
    if discarded.as_ref().is_some_and(|report| report.done) {
        retract_undone(&workspace, &views);
    }
    let undone = || changes::undo(&view, &back, others, &label(&view, "/undo"), &shown);
    let report = discarded.unwrap_or_else(|| context.with_apply_progress(&view, undone));
    finish(context, AuditKind::Undo, "/undo", report)
}

pub(super) fn redo(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let (workspace, view) = context.viewed()?;
    let shown = |path: &Path| workspace.shortened(path);
    let redone = || changes::redo(&view, rest == "rest", &label(&view, "/redo"), &shown);
    let report = context.with_apply_progress(&view, redone);
    finish(context, AuditKind::Undo, "/redo", report)
}
