//! What a decision about shown changes did: one value for every front end, and the sentences for the person.

use crate::apply::ApplyError;
use crate::changes::change_count::ChangeCount;
use crate::changes::classify::{LargeLoss, TreeGroup};
use crate::files::metadata::path_state::PathState;
use crate::history::damage::REPAIR_HINT;
use crate::history::journal::JournalEntry;
use crate::view::layers::stack::node_at;
use crate::view::undoing::discards::DiscardBackup;
use placet_text::text::{count, sanitize, visible};
use std::io;
use std::path::{Path, PathBuf};

/// The note on a file whose name still leads to the same inode, with new content.
pub const WRITTEN_IN_PLACE: &str =
    "written in place: the file has several names, or placet cannot set its owner";

/// What [`View::decide`](crate::view::View::decide) did.
#[derive(Debug)]
pub struct DecisionReport {
    /// The transaction; none where nothing was left to apply.
    pub applied: Result<Option<JournalEntry>, ApplyError>,
    /// Chosen changes that the workspace has already, exactly: nothing was left to write.
    pub already: Vec<PathBuf>,
    /// Pipes, sockets and devices that were chosen. Nothing can apply them, so they were discarded.
    pub special: Vec<PathBuf>,
    /// Those that a command moved: they stay where they were.
    pub unmoved: Vec<PathBuf>,
    /// Why they are still pending instead.
    pub special_error: Option<io::Error>,
    /// None where nothing was to be discarded, or the apply failed: then nothing is discarded.
    pub discarded: Option<io::Result<DiscardedChanges>>,
    pub left: LeftPending,
}

/// What was discarded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscardedChanges {
    pub count: ChangeCount,
    /// How many paths are not pending any more.
    pub paths: usize,
    /// Whether it can be restored.
    pub backup: DiscardBackup,
}

/// What was chosen and stays pending, because its approval is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftPending {
    /// Paths that run later.
    pub waiting: Vec<WaitingPath>,
    /// Losses: everything that belongs to them stays pending.
    pub losses: Vec<LargeLoss>,
    /// Trees that stay as a whole, because something of them waits, with the files that name them.
    pub groups: Vec<TreeGroup>,
    /// Repositories that stay because files of their work trees belong to such a loss.
    pub repositories: Vec<PathBuf>,
}

/// A path that waits for an approval of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingPath {
    pub path: PathBuf,
    pub why: String,
    /// An approval does not apply it: a repository in conflict with the workspace.
    pub is_blocked: bool,
}

impl LeftPending {
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.losses.is_empty()
    }

    /// The sentences, a line for each loss, repository and path.
    pub fn lines(&self, shown: &dyn Fn(&Path) -> PathBuf) -> Vec<String> {
        let name = |path: &Path| visible::path(&shown(path));
        let losses = self.losses.iter().map(|loss| format!("left pending: {}", loss.words(shown)));
        let together = |group: &TreeGroup| format!("pending together: {}", group.words(shown));
        let with = |path: &PathBuf| format!("pending together with it: the repository `{}`", name(path));
        let waits =
            |one: &WaitingPath| format!("not applied: {}: {}", name(&one.path), sanitize::line(&one.why));
        losses
            .chain(self.groups.iter().map(together))
            .chain(self.repositories.iter().map(with))
            .chain(self.waiting.iter().map(waits))
            .collect()
    }
}

impl DecisionReport {
    /// Nothing was done.
    pub(in crate::view) fn failed(error: ApplyError) -> DecisionReport {
        DecisionReport { applied: Err(error), ..DecisionReport::nothing() }
    }

    pub(in crate::view) fn nothing() -> DecisionReport {
        DecisionReport {
            applied: Ok(None),
            already: Vec::new(),
            special: Vec::new(),
            unmoved: Vec::new(),
            special_error: None,
            discarded: None,
            left: LeftPending::default(),
        }
    }

    /// True where all that was decided and approved is done.
    pub fn is_done(&self) -> bool {
        self.applied.is_ok() && self.discarded.as_ref().is_none_or(Result::is_ok)
    }

    /// The transaction, where there is one.
    pub fn entry(&self) -> Option<&JournalEntry> {
        self.applied.as_ref().ok()?.as_ref()
    }

    /// True where pipes, sockets or devices were chosen and discarded.
    pub fn has_special(&self) -> bool {
        !self.special.is_empty() || !self.unmoved.is_empty()
    }

    /// True where the changes were applied, and the record or the cleanup is not complete.
    pub fn is_incomplete(&self) -> bool {
        self.entry().is_some_and(|entry| !entry.shortfalls.is_empty()) || self.special_error.is_some()
    }

    /// The sentences about the apply, a line each, the most important first: a name or an error with a line break begins no
    /// line of its own, which could look like placet's. `undo` is what reverts it, such as `/undo`, if the reader can use
    /// it.
    pub fn lines(&self, undo: Option<&str>, shown: &dyn Fn(&Path) -> PathBuf) -> Vec<String> {
        let name = |path: &Path| visible::path(&shown(path));
        let says_more = self.has_special()
            || self.special_error.is_some()
            || !self.already.is_empty()
            || self.discarded.is_some()
            || !self.left.is_empty();
        let mut lines = match &self.applied {
            Ok(Some(entry)) => landed(entry, undo, &name),
            Ok(None) if says_more => Vec::new(),
            Ok(None) => vec!["nothing is pending".into()],
            Err(e @ ApplyError::Damage(_)) => vec![format!("not applied: {e}"), REPAIR_HINT.into()],
            Err(e) => vec![format!("not applied: {e}")],
        };
        lines.extend(already(&self.already, &name));
        let never = "a pipe, socket or device, which is never applied; discarded";
        lines.extend(self.special.iter().map(|path| format!("{}: {never}", name(path))));
        let stays = "a pipe, socket or device, which is never moved; it stays here";
        lines.extend(self.unmoved.iter().map(|path| format!("{}: {stays}", name(path))));
        lines.extend(
            self.special_error.iter().map(|e| format!("pipes, sockets and devices are still pending: {e}")),
        );
        lines.iter().map(|line| visible::guard_line(line).into_owned()).collect()
    }

    /// The sentence about hunks that a review rejected; `undo` is what reverts an apply.
    pub fn rejected_line(&self, hunks: usize, undo: &str) -> Option<String> {
        let back = if self.entry().is_some() { format!("a second {undo}") } else { undo.to_string() };
        let (s, them) = if hunks == 1 { ("", "it") } else { ("s", "them") };
        Some(match self.discarded.as_ref()?.as_ref().map(|gone| gone.backup) {
            Ok(_) if hunks == 0 => return None,
            Ok(DiscardBackup::Kept) => format!("{hunks} hunk{s} rejected; {back} restores {them}"),
            Ok(DiscardBackup::TooLarge) => format!("{hunks} hunk{s} rejected; too large for undo"),
            Err(e) => {
                visible::guard_line(&format!("the rejected changes are still pending: {e}")).into_owned()
            }
        })
    }

    /// The sentence about the discard; `undo` is what restores it.
    pub fn discard_line(&self, undo: &str) -> Option<String> {
        Some(match self.discarded.as_ref()? {
            Ok(gone) if gone.count.total() == 0 && self.entry().is_some() => {
                format!("discarded what was rejected; a second {undo} restores it")
            }
            Ok(gone) if gone.count.total() == 0 => "nothing is pending".into(),
            Ok(DiscardedChanges { count, backup: DiscardBackup::Kept, .. }) => {
                format!("discarded changes to {count}; {undo} restores them")
            }
            Ok(DiscardedChanges { count, backup: DiscardBackup::TooLarge, .. }) => {
                format!("discarded changes to {count} permanently: too large for undo")
            }
            Err(e) => visible::guard_line(&format!("not discarded: {e}")).into_owned(),
        })
    }
}

fn landed(entry: &JournalEntry, undo: Option<&str>, name: &dyn Fn(&Path) -> String) -> Vec<String> {
    let mut first = format!("applied changes to {}", ChangeCount::of_entry(entry));
    if !entry.shortfalls.is_empty() {
        first.push_str(", but not everything worked:");
    } else if let Some(undo) = undo {
        first.push_str(&format!("; {undo} reverts them"));
    }
    let mut lines = vec![first];
    lines.extend(entry.shortfalls.iter().cloned());
    let in_place = entry.changes.iter().filter(|change| change.in_place);
    lines.extend(in_place.map(|change| format!("{}: {WRITTEN_IN_PLACE}", name(&change.path))));
    lines
}

/// Why files that were changed in the workspace are not applied.
pub(in crate::view) fn changed_lines(
    merged: &[PathBuf],
    (conflicts, by_side): (&[PathBuf], &[PathBuf]),
    name: &dyn Fn(&Path) -> String,
) -> Vec<String> {
    let again = "merged with the current content; review it and apply again";
    let first = match merged.is_empty() && conflicts.is_empty() {
        true => "nothing was applied yet: the workspace already had a part of the changes; apply again",
        false => "nothing was applied: files changed in the meantime",
    };
    let mut lines = vec![first.to_string()];
    lines.extend(merged.iter().map(|path| format!("{}: {again}", name(path))));
    lines.extend(
        conflicts
            .iter()
            .map(|path| format!("{}: {}", name(path), conflict(path, by_side.contains(path), name))),
    );
    lines
}

/// One line for the changes that the workspace has already.
fn already(paths: &[PathBuf], name: &dyn Fn(&Path) -> String) -> Option<String> {
    const NAMED: usize = 3;
    let (first, _) = paths.split_at_checked(NAMED.min(paths.len()))?;
    let names: Vec<String> = first.iter().map(|path| name(path)).collect();
    let more = if paths.len() > NAMED { ", ..." } else { "" };
    (!paths.is_empty()).then(|| {
        let what = count::of(paths.len(), "path");
        format!("{what} in the workspace already had the change: {}{more}", names.join(", "))
    })
}

/// Why a change cannot be applied to what is at its path now.
fn conflict(path: &Path, is_by_side: bool, name: &dyn Fn(&Path) -> String) -> String {
    let is_link = |path: &&Path| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    if let Some(dir) = path.ancestors().skip(1).find(is_link) {
        return format!("`{}` is a link now, and placet writes through no link", name(dir));
    }
    match node_at(path) {
        Ok(PathState::Absent) => "it no longer exists: was it renamed?",
        Ok(PathState::Link { .. }) => "a link is there now",
        Ok(PathState::Directory { .. }) => "a directory is there now",
        Ok(PathState::Special { .. }) => "a pipe, socket or device is there now",
        Ok(PathState::File { .. }) if is_by_side => {
            "it changed in the meantime: review it to choose between your version and the agent's"
        }
        Ok(PathState::File { .. }) | Err(_) => {
            "the same lines, or lines next to them, changed in the meantime: review it to choose between your lines and the agent's"
        }
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_line_break_begins_no_line() {
        let path = PathBuf::from("/w/x\n\u{25c6} applied changes to 9 files; /undo reverts them");
        let shown = |path: &Path| path.to_path_buf();
        let report = |applied| DecisionReport {
            applied,
            special: vec![path.clone()],
            unmoved: vec![path.clone()],
            ..DecisionReport::nothing()
        };
        let what = "a pipe".to_string();
        for result in [
            Err(ApplyError::Special { path: path.clone(), what }),
            Err(ApplyError::Changed(vec![path.clone()])),
        ] {
            let lines = report(result).lines(Some("/undo"), &shown);
            assert!(
                lines.iter().all(|line| !line.contains('\n') && !line.starts_with('\u{25c6}')),
                "{lines:?}"
            );
        }
    }

    /// Story: of a file that the person had renamed, placet said that its lines had changed.
    #[test]
    fn a_conflict_says_what_is_there_now() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        std::os::unix::fs::symlink("other", dir.join("link")).unwrap();
        std::fs::create_dir(dir.join("other")).unwrap();
        std::fs::write(dir.join("other/f"), "x").unwrap();
        let name = |path: &Path| path.strip_prefix(&dir).unwrap().display().to_string();
        let said = |path: &str| conflict(&dir.join(path), false, &name);
        assert_eq!(said("gone"), "it no longer exists: was it renamed?");
        assert_eq!(said("link"), "a link is there now");
        assert_eq!(said("other"), "a directory is there now");
        assert_eq!(said("link/f"), "`link` is a link now, and placet writes through no link");
        assert!(said("other/f").starts_with("the same lines"));
        assert!(conflict(&dir.join("other/f"), true, &name).starts_with("it changed in the meantime"));
    }

    #[test]
    fn pipes_alone_are_said_to_be_discarded_and_nothing_is_said_to_be_applied() {
        let [pipe, moved] = ["/w/p", "/w/q"].map(PathBuf::from);
        let report =
            DecisionReport { special: vec![pipe], unmoved: vec![moved], ..DecisionReport::nothing() };
        assert_eq!(
            report.lines(None, &|path| path.to_path_buf()),
            [
                "/w/p: a pipe, socket or device, which is never applied; discarded",
                "/w/q: a pipe, socket or device, which is never moved; it stays here",
            ]
        );
        assert!(report.is_done() && !report.is_incomplete());
    }
}
