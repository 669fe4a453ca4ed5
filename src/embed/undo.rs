//! Undo and redo of what was applied, and of what was discarded.

use super::Error;
use super::apply::PROGRAM;
use super::worker::SessionState;
use crate::audit::AuditKind;
use crate::serve::changes::{UndoTarget, UserReport, redo_saying, undo_discard, undo_saying};
use crate::workspace::{ApprovedBy, TransactionLabel, View, Workspace};
use std::path::{Path, PathBuf};

/// What undo or redo did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Undone {
    /// The paths that were changed in the workspace; none if there was nothing to undo, or if a discard was undone.
    pub paths: Vec<PathBuf>,
    /// A discard was undone: its changes are pending again, and the workspace is as before.
    pub restored: bool,
    /// What was done, as lines for a person. A file that changed in the meantime was merged, and its line says so.
    pub lines: Vec<String>,
}

impl SessionState {
    pub(super) fn undo(&self) -> Result<Undone, Error> {
        let workspace = self.agent.env().workspace.clone();
        let view = workspace.view().ok_or(Error::Outdated)?;
        let shown = |path: &Path| workspace.shortened(path);
        let _commands = self.runtime.block_on(view.lock_commands());
        if let Some(report) = undo_discard(std::slice::from_ref(view), view, &shown) {
            return Ok(Undone { restored: true, ..self.undone(report, None, view)? });
        }
        let before = newest(view);
        let rest = (false, "placet undo --rest");
        let report = undo_saying(view, &UndoTarget::Turns(1), rest, &label(view), &shown);
        self.undone(report, before, view)
    }

    pub(super) fn redo(&self) -> Result<Undone, Error> {
        let workspace: &Workspace = &self.agent.env().workspace;
        let view = workspace.view().ok_or(Error::Outdated)?;
        let _commands = self.runtime.block_on(view.lock_commands());
        let before = newest(view);
        let rest = (false, "placet redo --rest");
        let report = redo_saying(view, rest, &label(view), &|path| workspace.shortened(path));
        self.undone(report, before, view)
    }

    fn undone(&self, report: UserReport, before: Option<u64>, view: &View) -> Result<Undone, Error> {
        if !report.done {
            return Err(Error::NotUndone(report.lines));
        }
        let entry = view.journal().newest().filter(|entry| before.is_some_and(|before| entry.id > before));
        let paths: Vec<PathBuf> = entry
            .map(|entry| entry.changes.iter().map(|c| c.path.to_path_buf()).collect())
            .unwrap_or_default();
        let mut lines = report.lines;
        lines.extend(self.record(AuditKind::Undo, &lines.join("\n")));
        Ok(Undone { paths, restored: false, lines })
    }
}

/// The number of the last transaction, or 0: a higher one is that of this undo.
fn newest(view: &View) -> Option<u64> {
    Some(view.journal().newest().map_or(0, |entry| entry.id))
}

fn label(view: &View) -> TransactionLabel {
    TransactionLabel { assent: ApprovedBy::you(PROGRAM), ..view.label() }
}
