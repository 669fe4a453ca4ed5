//! Applying what the person chose at the end of a turn.

use super::super::event::TurnEvent;
use super::TurnDecision;
use crate::agent::agent::Agent;
use crate::audit::AuditKind;
use crate::text::visible;
use crate::workspace::{
    ApplyError, ApplyOutcome, ApprovedBy, ChangeApproval, ChangeSelection, ChangeSet, PathState,
    TransactionLabel, View, Workspace,
};
use std::path::PathBuf;
use tokio::sync::mpsc::UnboundedSender;

impl Agent {
    /// `said`, and that it is not in the audit log, where it could not be written there.
    pub(super) fn log_outcome(&self, kind: AuditKind, said: String) -> String {
        let session = self.session().map(|s| s.id().to_string());
        match self.gate().log_decision(kind, "the question at the end of a turn", session, &said) {
            Ok(()) => self
                .parts
                .env
                .mounts
                .push_all()
                .into_iter()
                .fold(said, |said, why| format!("{said}; not saved to the store: {why}")),
            Err(e) => format!("{said}; this is not recorded in the audit log: {e}"),
        }
    }

    /// Everything but what runs later and was not approved. `None` when it is to be asked again.
    pub(super) async fn apply_all(
        &self,
        shown: &ChangeSet,
        approval: &ChangeApproval,
        view: &View,
        workspace: &Workspace,
        events: &UnboundedSender<TurnEvent>,
    ) -> Option<TurnDecision> {
        let mut chosen = View::everything(shown);
        let special = shown.changes.iter().filter(|c| matches!(c.after, PathState::Special { .. }));
        let special: ChangeSelection = special.filter_map(|c| chosen.remove_entry(&c.path)).collect();
        let chosen = view.classify(shown).permitted(shown, &chosen, approval).choice;
        self.apply_chosen(chosen, special, approval, view, workspace, events).await
    }

    pub(super) async fn apply_chosen(
        &self,
        chosen: ChangeSelection,
        special: ChangeSelection,
        approval: &ChangeApproval,
        view: &View,
        workspace: &Workspace,
        events: &UnboundedSender<TurnEvent>,
    ) -> Option<TurnDecision> {
        let label = TransactionLabel { assent: ApprovedBy::you("the question"), ..view.turn().label.clone() };
        let (view, approval) = (view.clone(), approval.clone());
        let dropped: Vec<PathBuf> = special.keys().cloned().collect();
        let done = tokio::task::spawn_blocking(move || {
            let mut applied = view.apply_approved(&chosen, &approval, label)?;
            // Pipes, sockets and devices are never applied: they would be pending for ever.
            let discarded = match applied {
                ApplyOutcome::Changed { .. } => Ok(()),
                _ => view.discard(&special),
            };
            match (&mut applied, discarded) {
                (ApplyOutcome::Landed(entry), Err(e)) => {
                    entry.shortfalls.push(format!("pipes, sockets and devices are still pending: {e}"));
                }
                (_, discarded) => discarded.map_err(ApplyError::Journal)?,
            }
            Ok::<_, ApplyError>(applied)
        });
        let (said, settled) = match done.await {
            Ok(Ok(ApplyOutcome::Landed(entry))) => {
                let s = if entry.changes.len() == 1 { "" } else { "s" };
                let count = entry.changes.len();
                let mut said = match entry.shortfalls.is_empty() {
                    true if count == 1 => "applied 1 change; /undo reverts it".into(),
                    true => format!("applied {count} changes; /undo reverts them"),
                    false => {
                        let why = visible::guard_line(&entry.shortfalls.join("; ")).into_owned();
                        format!("applied {count} change{s}, but the record of it is incomplete: {why}")
                    }
                };
                let in_place = entry.changes.iter().filter(|c| c.in_place).map(|c| c.path.clone());
                let in_place: Vec<PathBuf> = in_place.collect();
                if !in_place.is_empty() {
                    let why = "the file has several names, or placet cannot set its owner";
                    said.push_str(&format!("; written in place ({why}): {}", names(&in_place, workspace)));
                }
                if !dropped.is_empty() {
                    let why = "a pipe, socket or device is never applied";
                    said.push_str(&format!("; discarded ({why}): {}", names(&dropped, workspace)));
                }
                (self.log_outcome(AuditKind::Apply, said), Some(TurnDecision::Applied))
            }
            Ok(Ok(ApplyOutcome::Nothing)) => ("nothing left to apply".into(), Some(TurnDecision::Nothing)),
            Ok(Ok(ApplyOutcome::Changed { merged, conflicts })) => changed(&merged, &conflicts, workspace),
            Ok(Err(e)) => (format!("not applied: {e}"), Some(TurnDecision::Kept)),
            Err(e) => (format!("not applied: {e}"), Some(TurnDecision::Kept)),
        };
        drop(events.send(TurnEvent::Notice(said)));
        settled
    }
}

fn names(paths: &[PathBuf], workspace: &Workspace) -> String {
    let name = |path: &PathBuf| visible::path(&workspace.shortened(path));
    paths.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn changed(
    merged: &[PathBuf],
    conflicts: &[PathBuf],
    workspace: &Workspace,
) -> (String, Option<TurnDecision>) {
    let both = match merged.is_empty() {
        true => String::new(),
        false => {
            format!("{} changed in the meantime, and both changes were merged", names(merged, workspace))
        }
    };
    if conflicts.is_empty() {
        return (format!("nothing was applied: {both}, as shown now"), None);
    }
    let also = if both.is_empty() { both } else { format!("; {both}") };
    let conflicts = names(conflicts, workspace);
    let words =
        "changed in the meantime in the same lines: discard these changes, or apply the others by name";
    (format!("nothing was applied: {conflicts} {words}{also}"), Some(TurnDecision::Kept))
}
