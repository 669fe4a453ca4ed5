//! The result of an apply: one value for every way of applying, and the sentences for the person.

use super::selection::{ApplyOutcome, ChangeSelection};
use super::stack::node_at;
use super::{LayerKind, View};
use crate::text::{count, visible};
use crate::workspace::apply::ApplyError;
use crate::workspace::changes::change_count::ChangeCount;
use crate::workspace::changes::change_set::{ChangeSet, FileChange};
use crate::workspace::changes::classify::ChangeApproval;
use crate::workspace::files::path_state::PathState;
use crate::workspace::history::damage::REPAIR_HINT;
use crate::workspace::history::journal::{JournalEntry, TransactionLabel};
use std::io;
use std::path::{Path, PathBuf};

/// The note on a file whose name still leads to the same inode, with new content.
pub const WRITTEN_IN_PLACE: &str =
    "written in place: the file has several names, or placet cannot set its owner";

/// Choices of so many paths at most are applied again without the changes that the workspace has already: a larger one is not
/// stored twice.
const MOST_AGAIN: usize = 20_000;

/// What [`View::apply_and_report`] did.
#[derive(Debug)]
pub struct ApplyReport {
    pub result: Result<ApplyOutcome, ApplyError>,
    /// Pipes, sockets and devices that were chosen. Nothing can apply them, so they were discarded.
    pub special: Vec<PathBuf>,
    /// Those that a command moved: they stay where they were.
    pub unmoved: Vec<PathBuf>,
    /// Why they are still pending instead.
    pub special_error: Option<io::Error>,
    /// Chosen changes that the workspace has already, exactly: nothing was left to write.
    pub already: Vec<PathBuf>,
    /// Conflicts that have no lines to choose: the agent removed or renamed the file, or it is not text.
    pub by_side: Vec<PathBuf>,
}

impl ChangeSet {
    /// Takes pipes, sockets and devices out of `choice` and returns them, with the removals of those that were moved:
    /// they can only be discarded.
    pub fn take_special(&self, choice: &mut ChangeSelection) -> ChangeSelection {
        let unmoved = self.unmoved();
        let is_special =
            |c: &&FileChange| matches!(*c.after, PathState::Special { .. }) || unmoved.contains(&c.path);
        self.changes.iter().filter(is_special).filter_map(|c| choice.remove_entry(&c.path)).collect()
    }
}

impl View {
    /// Applies `choice` of `set` as [`View::apply_approved`] does. Pipes, sockets and devices in it are discarded once
    /// the rest is applied: they would be pending for ever.
    pub fn apply_and_report(
        &self,
        set: &ChangeSet,
        mut choice: ChangeSelection,
        approval: &ChangeApproval,
        label: TransactionLabel,
    ) -> ApplyReport {
        let special = set.take_special(&mut choice);
        self.apply_and_discard(choice, special, approval, label)
    }

    /// The same for a caller that has taken pipes, sockets and devices out of `choice`, and has no use for the set any
    /// more.
    pub fn apply_and_discard(
        &self,
        choice: ChangeSelection,
        special: ChangeSelection,
        approval: &ChangeApproval,
        label: TransactionLabel,
    ) -> ApplyReport {
        let (result, already) = match choice.is_empty() && !special.is_empty() {
            true => (Ok(ApplyOutcome::Nothing), Vec::new()),
            false => self.apply_rest(choice, approval, label),
        };
        let mut report = ApplyReport {
            result,
            already,
            special: Vec::new(),
            unmoved: Vec::new(),
            special_error: None,
            by_side: Vec::new(),
        };
        if report.is_done() && !special.is_empty() {
            match self.discard(&special) {
                Ok(()) => {
                    let paths = special.into_keys().map(|path| path.to_path_buf());
                    // The directories above what stays are not listed.
                    let paths = paths.filter(|path| !node_at(path).is_ok_and(|node| node.is_directory()));
                    let stays = |path: &PathBuf| matches!(node_at(path), Ok(PathState::Special { .. }));
                    (report.unmoved, report.special) = paths.partition(stays);
                }
                Err(e) => report.special_error = Some(e),
            }
        }
        if let Ok(ApplyOutcome::Changed { conflicts, .. }) = &report.result {
            report.by_side = self.without_lines(conflicts);
        }
        report
    }

    /// Applies `choice`. Where all that changed in the meantime is what the chosen changes would write, those are no longer
    /// pending, and the others are applied. Returns the first with the outcome.
    fn apply_rest(
        &self,
        choice: ChangeSelection,
        approval: &ChangeApproval,
        label: TransactionLabel,
    ) -> (Result<ApplyOutcome, ApplyError>, Vec<PathBuf>) {
        let again = (choice.len() <= MOST_AGAIN).then(|| (choice.clone(), label.clone()));
        let result = self.apply_approved(choice, approval, label);
        let is_all_there = |result: &Result<ApplyOutcome, ApplyError>| matches!(result, Ok(ApplyOutcome::Changed { merged, conflicts }) if merged.is_empty() && conflicts.is_empty());
        let Some((mut choice, label)) = again.filter(|_| is_all_there(&result)) else {
            return (result, Vec::new());
        };
        let set = match self.changes(LayerKind::Pending) {
            Ok(set) => set,
            Err(e) => return (Err(ApplyError::Journal(e)), Vec::new()),
        };
        let mut already = Vec::new();
        choice.retain(|path, _| {
            let is_pending = set.get(path).is_some();
            already.extend((!is_pending).then(|| path.to_path_buf()));
            is_pending
        });
        match choice.is_empty() {
            true => (Ok(ApplyOutcome::Nothing), already),
            false => (self.apply_approved(choice, approval, label), already),
        }
    }

    /// Those of `conflicts` that have no lines between which a person could choose. The pending changes are read again: a
    /// caller may have no use for the set that it applied.
    fn without_lines(&self, conflicts: &[PathBuf]) -> Vec<PathBuf> {
        let Ok(set) = self.changes(LayerKind::Pending) else { return Vec::new() };
        let has_no_lines = |path: &&PathBuf| {
            set.get(path).is_some_and(|change| !change.after.is_file() || !self.is_text(change))
        };
        conflicts.iter().filter(has_no_lines).cloned().collect()
    }

    /// Both sides of a change have lines.
    fn is_text(&self, change: &FileChange) -> bool {
        let is_text = |bytes: &[u8]| !bytes.contains(&0) && !crate::text::is_binary(bytes);
        change.bytes(self.objects()).is_some_and(|(before, after)| is_text(&before) && is_text(&after))
    }
}

impl ApplyReport {
    /// True where all that was chosen is applied, or nothing was left to apply.
    pub fn is_done(&self) -> bool {
        matches!(self.result, Ok(ApplyOutcome::Landed(_) | ApplyOutcome::Nothing))
    }

    /// The transaction, where there is one.
    pub fn entry(&self) -> Option<&JournalEntry> {
        match &self.result {
            Ok(ApplyOutcome::Landed(entry)) => Some(entry),
            _ => None,
        }
    }

    /// True where pipes, sockets or devices were chosen and discarded.
    pub fn has_special(&self) -> bool {
        !self.special.is_empty() || !self.unmoved.is_empty()
    }

    /// True where the changes were applied, and the record or the cleanup is not complete.
    pub fn is_incomplete(&self) -> bool {
        let shortfalls = |entry: &JournalEntry| !entry.shortfalls.is_empty();
        matches!(&self.result, Ok(ApplyOutcome::Landed(entry)) if shortfalls(entry))
            || self.special_error.is_some()
    }

    /// The sentences, a line each, the most important first: a name or an error with a line break begins no line of its
    /// own, which could look like placet's. `undo` is what reverts it, such as `/undo`, if the reader can use it.
    pub fn lines(&self, undo: Option<&str>, shown: &dyn Fn(&Path) -> PathBuf) -> Vec<String> {
        let name = |path: &Path| visible::path(&shown(path));
        let mut lines = match &self.result {
            Ok(ApplyOutcome::Landed(entry)) => landed(entry, undo, &name),
            Ok(ApplyOutcome::Nothing)
                if self.has_special() || self.special_error.is_some() || !self.already.is_empty() =>
            {
                Vec::new()
            }
            Ok(ApplyOutcome::Nothing) => vec!["nothing is pending".into()],
            Ok(ApplyOutcome::Changed { merged, conflicts }) => {
                changed(merged, (conflicts, &self.by_side), &name)
            }
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

fn changed(
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
        let report = |result| ApplyReport {
            result,
            special: vec![path.clone()],
            unmoved: vec![path.clone()],
            special_error: None,
            already: Vec::new(),
            by_side: Vec::new(),
        };
        let what = "a pipe".to_string();
        for result in [
            Err(ApplyError::Special { path: path.clone(), what }),
            Err(ApplyError::Changed(vec![path.clone()])),
            Ok(ApplyOutcome::Changed { merged: vec![path.clone()], conflicts: vec![path.clone()] }),
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
        let report = ApplyReport {
            result: Ok(ApplyOutcome::Nothing),
            special: vec![pipe],
            unmoved: vec![moved],
            special_error: None,
            already: Vec::new(),
            by_side: Vec::new(),
        };
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
