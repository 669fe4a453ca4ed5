//! The loss limit: which effects of a command write mode does not apply by itself.

use super::apply::{ApplyOutcome, ChangeSelection, SelectedPart};
pub use super::limit::{LossLimit, PendingReason};
use super::{LayerKind, View, ViewTurn};
use crate::workspace::apply::ApplyError;
use crate::workspace::changes::change_set::FileChange;
use crate::workspace::history::journal::TransactionLabel;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

impl View {
    /// After a command in write mode: applies its effects unless the loss limit stops them. `touched` are the
    /// paths it changed, `made` the contents this turn made, `lost` what it has taken away so far.
    pub fn apply_within_limit(
        &self,
        touched: &BTreeSet<Arc<Path>>,
        brake: LossLimit,
        turn: &mut ViewTurn,
        label: TransactionLabel,
    ) -> Result<Result<ApplyOutcome, PendingReason>, ApplyError> {
        let set = self.changes(LayerKind::Pending).map_err(ApplyError::Journal)?;
        let choice: ChangeSelection = set
            .changes
            .iter()
            .filter(|c| touched.contains(&c.path))
            .map(|c| (c.path.clone(), SelectedPart::Whole))
            .collect();
        let classes = self.classify(&set);
        let choice = View::completed(&set, &classes, Cow::Borrowed(&choice));
        let chosen = || set.changes.iter().filter(|c| choice.contains_key(&c.path));
        if choice.keys().any(|path| !touched.contains(path)) {
            return Ok(Err(PendingReason::Pending));
        }
        if let Some((change, runner)) = chosen().find_map(|c| Some((c, classes.runner(&c.path)?))) {
            return Ok(Err(PendingReason::Protected(change.path.to_path_buf(), runner.why.clone())));
        }
        if chosen().any(|c| set.repositories.of(&c.path).is_some()) {
            return Ok(Err(PendingReason::Repository));
        }
        let old = |c: &&FileChange| c.before.hash().is_some_and(|h| !turn.made.contains(h.to_hex().as_str()));
        let gone = |c: &&FileChange| c.before.is_file() && !c.before.same_content(&c.after);
        let (files, bytes) =
            chosen().filter(|c| gone(c) && old(c)).fold((0, 0), |(n, b), c| (n + 1, b + c.before.size()));
        let of_others = files > 0;
        let (files, bytes) = (turn.lost.0 + files, turn.lost.1 + bytes);
        if files > brake.files || bytes > brake.bytes {
            return Ok(Err(PendingReason::Loss { files, bytes }));
        }
        if of_others && let Some(root) = classes.emptied_root(&set, &choice) {
            return Ok(Err(PendingReason::Root(root)));
        }
        let applied = self.apply(&choice, label)?;
        if let ApplyOutcome::Landed(entry) = &applied {
            turn.lost = (files, bytes);
            turn.made.extend(entry.changes.iter().filter_map(|c| Some(c.after.hash()?.to_hex().to_string())));
        }
        Ok(Ok(applied))
    }
}
