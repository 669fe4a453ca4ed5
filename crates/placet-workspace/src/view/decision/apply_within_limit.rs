//! Write mode: the effects of a command are applied at once, except what would wait for an answer of its own.

use super::apply::{ApplyOutcome, ChangeSelection, LossPolicy, SelectedPart};
use super::loss_limit::PendingReason;
use super::shown::ShownChanges;
use crate::apply::ApplyError;
use crate::changes::classify::ChangeApproval;
use crate::history::journal::TransactionLabel;
use crate::view::command::command_view::CommandsHeld;
use crate::view::{LayerKind, View, ViewTurn};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

impl View {
    /// Applies the effects of a command, which are at the paths `touched`, unless one of them waits. What the turn made
    /// itself is no loss, and what it removed before counts. `_held` is from before the effects became pending: a job that ends
    /// in between would be lost with what the apply takes from the layer.
    pub fn apply_within_limit(
        &self,
        _held: &CommandsHeld,
        touched: &BTreeSet<Arc<Path>>,
        turn: &mut ViewTurn,
        label: TransactionLabel,
    ) -> Result<Result<ApplyOutcome, PendingReason>, ApplyError> {
        if self.is_empty(LayerKind::Pending) {
            return Ok(Ok(ApplyOutcome::Nothing));
        }
        self.claim().map_err(ApplyError::of_claim)?;
        let shown = self.shown_in_apply()?;
        let chosen = touched.iter().filter(|path| shown.set().get(path).is_some());
        let choice: ChangeSelection = chosen.map(|path| (Arc::clone(path), SelectedPart::Whole)).collect();
        let choice = View::completed(shown.set(), shown.classes(), Cow::Owned(choice));
        if choice.keys().any(|path| !touched.contains(path)) {
            return Ok(Err(PendingReason::Pending));
        }
        let changes_git = choice.keys().any(|path| shown.set().repositories.of(path).is_some());
        if changes_git && self.takes_away_from_repositories(shown.set()) {
            return Ok(Err(PendingReason::Repository));
        }
        // The operation waits, and what resolves its conflicts waits with it.
        if choice.keys().any(|path| shown.classes().operation_around(path).is_some()) {
            return Ok(Err(PendingReason::Pending));
        }
        let removed = match within_limit(&shown, &choice, turn) {
            Ok(removed) => removed,
            Err(reason) => return Ok(Err(reason)),
        };
        let policy = (&ChangeApproval::none(), LossPolicy::LookedAt);
        let applied = self.apply_shown(shown, choice, policy, label)?;
        if let ApplyOutcome::Landed(entry) = &applied {
            turn.lost = removed;
            turn.made.extend(entry.changes.iter().filter_map(|c| Some(c.after.hash()?.to_hex().to_string())));
        }
        Ok(Ok(applied))
    }
}

/// How many files and bytes of others the turn removes with `choice`, or why the choice waits.
fn within_limit(
    shown: &ShownChanges,
    choice: &ChangeSelection,
    turn: &ViewTurn,
) -> Result<(usize, u64), PendingReason> {
    let (set, classes) = (shown.set(), shown.classes());
    let runs_later = |path: &Arc<Path>| Some((path.to_path_buf(), classes.reason_to_wait(path)?.why.clone()));
    if let Some((path, why)) = choice.keys().find_map(runs_later) {
        return Err(PendingReason::Protected(path, why));
    }
    let is_of_turn = |path: &Path| {
        let before = set.get(path).and_then(|change| change.before.hash());
        before.is_some_and(|hash| turn.made.contains(hash.to_hex().as_str()))
    };
    classes.removed_in_turn(set, choice, turn.lost, &|path| !is_of_turn(path)).map_err(PendingReason::Loss)
}
