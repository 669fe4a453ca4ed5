//! Applying what the person chose at the end of a turn.

use super::super::event::TurnEvent;
use super::TurnDecision;
use crate::agent::agent::Agent;
use crate::audit::AuditKind;
use crate::workspace::{
    ApplyOutcome, ApprovedBy, ChangeApproval, ChangeSelection, ChangeSet, TransactionLabel, View, Workspace,
};
use std::path::Path;
use tokio::sync::mpsc::UnboundedSender;

impl Agent {
    /// `said`, and what could not be recorded or saved of it.
    pub(super) fn log_outcome(&self, kind: AuditKind, said: String) -> String {
        let remarks = self.outcome_remarks(kind, &said);
        remarks.into_iter().fold(said, |said, remark| format!("{said}; {remark}"))
    }

    /// Records `said` and uploads what was applied in mounts. Returns what of that failed.
    fn outcome_remarks(&self, kind: AuditKind, said: &str) -> Vec<String> {
        let session = self.session().map(|s| s.id().to_string());
        match self.gate().log_decision(kind, "the question at the end of a turn", session, said) {
            Ok(()) => {
                let failures = self.parts.env.mounts.push_all().into_iter();
                failures.map(|why| format!("not saved to the store: {why}")).collect()
            }
            Err(e) => vec![format!("this is not recorded in the audit log: {e}")],
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
        let special = shown.take_special(&mut chosen);
        let mut chosen = view.classify(shown).permitted(shown, &chosen, approval).choice;
        chosen.extend(special);
        self.apply_chosen(shown, chosen, approval, (view, workspace), events).await
    }

    pub(super) async fn apply_chosen(
        &self,
        set: &ChangeSet,
        chosen: ChangeSelection,
        approval: &ChangeApproval,
        (view, workspace): (&View, &Workspace),
        events: &UnboundedSender<TurnEvent>,
    ) -> Option<TurnDecision> {
        let label = TransactionLabel { assent: ApprovedBy::you("the question"), ..view.turn().label.clone() };
        let (view, approval, set) = (view.clone(), approval.clone(), set.clone());
        let applying = move || view.apply_and_report(&set, chosen, &approval, label);
        let report = match tokio::task::spawn_blocking(applying).await {
            Ok(report) => report,
            Err(e) => {
                drop(events.send(TurnEvent::Notice(format!("not applied: {e}"))));
                return Some(TurnDecision::Kept);
            }
        };
        let lines = report.lines(Some("/undo"), &|path: &Path| workspace.shortened(path));
        let has_effect = matches!(report.result, Ok(ApplyOutcome::Landed(_))) || !report.special.is_empty();
        let remarks =
            if has_effect { self.outcome_remarks(AuditKind::Apply, &lines.join("\n")) } else { Vec::new() };
        lines.into_iter().chain(remarks).for_each(|line| drop(events.send(TurnEvent::Notice(line))));
        match report.result {
            Ok(ApplyOutcome::Landed(_)) => Some(TurnDecision::Applied),
            Ok(ApplyOutcome::Nothing) if report.special_error.is_none() => Some(TurnDecision::Nothing),
            // All of it could be merged: the question comes again, with what would be applied now.
            Ok(ApplyOutcome::Changed { conflicts, .. }) if conflicts.is_empty() => None,
            Ok(ApplyOutcome::Nothing | ApplyOutcome::Changed { .. }) | Err(_) => Some(TurnDecision::Kept),
        }
    }
}
