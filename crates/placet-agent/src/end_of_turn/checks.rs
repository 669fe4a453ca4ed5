//! Checks at the apply question: which changes they see, and which of them an apply needs.

use super::{ApplyQuestionFlow, ReviewedDecision};
use placet_tools::{CheckBoard, CheckStart, UnmetCheck, passed_checks};
use placet_workspace::{ChangeDecision, ChangeSelection, PassedCheck, ShownChanges};
use std::sync::Arc;
use tokio::runtime::Handle;

impl ApplyQuestionFlow<'_> {
    /// The checks of everything that `a` would apply.
    pub(super) fn checks_of(
        &self,
        here: &ShownChanges,
        reviewed: Option<&ReviewedDecision>,
    ) -> Option<Arc<CheckBoard>> {
        let board = CheckBoard::new(self.context.env?, Handle::current())?;
        board.look(Arc::clone(here.set()), self.applied_by_yes(here, reviewed), CheckStart::OfQuestion);
        Some(Arc::new(board))
    }

    /// What `a` applies at once: without what is approved by itself afterwards.
    fn applied_by_yes(&self, here: &ShownChanges, reviewed: Option<&ReviewedDecision>) -> ChangeSelection {
        let ChangeDecision { apply, approval, .. } = self.decision_of_yes(here, reviewed);
        here.permitted(apply, &approval).choice
    }

    /// The checks that passed on exactly what `a` applies; or why it applies nothing.
    pub(super) async fn passed_checks(
        &self,
        here: &ShownChanges,
        reviewed: Option<&ReviewedDecision>,
    ) -> Result<Vec<PassedCheck>, UnmetCheck> {
        let Some(env) = self.context.env.filter(|env| !env.checks.is_empty()) else { return Ok(Vec::new()) };
        let (env, view, set) = (Arc::clone(env), self.view.clone(), Arc::clone(here.set()));
        let choice = self.applied_by_yes(here, reviewed);
        // The files of the workspace are listed for it.
        let finding = move || passed_checks(&env, &view, (&set, &choice));
        match tokio::task::spawn_blocking(finding).await {
            Ok(found) => found,
            Err(e) => Err(UnmetCheck::Failed(e.to_string())),
        }
    }
}
