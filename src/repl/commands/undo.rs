//! `/undo` and `/redo`.

use super::changes::{finish, label};
use super::conversation::rewind::REWIND;
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
    let is_last = rest.is_empty() && !others;
    let rewound = || {
        let label = label(&view, "/undo");
        context.with_apply_progress(&view, || changes::undo_rewind(&views, &view, (REWIND, &label), &shown))
    };
    if let Some(report) = is_last.then(rewound).flatten() {
        let is_done = report.done;
        let finished = finish(context, AuditKind::Undo, "/undo", report);
        if is_done {
            context.output.hint("the conversation stays as it is: /tree has the turns that a rewind left");
        }
        return finished;
    }
    let discarded = match is_last {
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
