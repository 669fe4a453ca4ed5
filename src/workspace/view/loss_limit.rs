//! The brake: what write mode holds back of a command's effects.

use super::super::apply::ApplyError;
use super::apply::{ApplyOutcome, ChangeSelection, SelectedPart};
use super::{LayerKind, View, ViewTurn};
use crate::workspace::changes::change_set::FileChange;
use crate::workspace::history::journal::TransactionLabel;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What write mode lets a turn take away without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossLimit {
    pub files: usize,
    pub bytes: u64,
}

impl Default for LossLimit {
    fn default() -> LossLimit {
        LossLimit { files: 20, bytes: 1 << 20 }
    }
}

/// Why the brake held a command's effects back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PendingReason {
    Loss {
        files: usize,
        bytes: u64,
    },
    Repository,
    /// Everything in this root of the workspace goes.
    Root(PathBuf),
    /// The path, and why it is protected.
    Protected(PathBuf, String),
    /// They build on what is pending already.
    Pending,
}

impl PendingReason {
    pub fn words(&self) -> String {
        match self {
            PendingReason::Loss { files, bytes } => {
                format!(
                    "it deletes or overwrites {files} files ({bytes} bytes) that this turn did not create"
                )
            }
            PendingReason::Repository => "it changes a git repository".into(),
            PendingReason::Root(root) => format!("it removes everything in `{}`", root.display()),
            PendingReason::Protected(path, why) => format!("`{}` is protected: {why}", path.display()),
            PendingReason::Pending => "it builds on changes that are already pending".into(),
        }
    }
}

impl View {
    /// After a command in write mode: lands its effects unless the brake holds them back. `touched` are the paths it
    /// changed, `made` the contents this turn made, `lost` what it has taken away so far.
    pub fn apply_within_limit(
        &self,
        touched: &BTreeSet<PathBuf>,
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
        let choice = View::completed(&set, &classes, &choice);
        let chosen = || set.changes.iter().filter(|c| choice.contains_key(&c.path));
        if choice.keys().any(|path| !touched.contains(path)) {
            return Ok(Err(PendingReason::Pending));
        }
        if let Some((change, runner)) = chosen().find_map(|c| Some((c, classes.runner(&c.path)?))) {
            return Ok(Err(PendingReason::Protected(change.path.clone(), runner.why.clone())));
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
