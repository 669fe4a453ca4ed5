//! Entries that came to `git stash list`, and those that went.

use super::budget::{LARGEST_OBJECT, ReadBudget};
use super::commit::Commit;
use super::commit_patch::CommitPatch;
use super::commit_tree::CommitTree;
use super::event::{GitEvent, StashPart, StoredContent, StoredKind};
use super::git_sides::GitSides;
use super::object_id::ObjectId;
use super::object_store::ObjectReader;
use super::refs::LARGEST_LOG;
use super::repository_files::{exists, read};
use super::stored_content::is_in_work_tree;
use super::tree_diff::{TreeChanges, TreeEntry, compare_trees, with_message};
use crate::text::hunk::merged;
use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Entries that have rows, of new ones and of removed ones.
const MOST_STASHES: usize = 50;
/// The files that name what `--autostash` put aside.
const AUTOSTASHES: [&str; 3] = ["rebase-merge/autostash", "rebase-apply/autostash", "MERGE_AUTOSTASH"];
const LARGEST_NAME: u64 = 4 << 10;

/// What is new in `git stash list` and what is gone, the oldest entry first.
#[derive(Default)]
pub(super) struct StashChanges {
    entries: Vec<ObjectId>,
    removed: Vec<ObjectId>,
    /// Removed entries that are no names of objects.
    unreadable: usize,
}

impl StashChanges {
    /// When an entry goes, git writes another old commit into the entry after it, so the first word of a line does not count.
    /// `tips` are the objects that `refs/stash` names.
    pub(super) fn find(sides: &GitSides<'_>, tips: (Option<ObjectId>, Option<ObjectId>)) -> StashChanges {
        let log = sides.dir.join("logs/refs/stash");
        let lines = |files| match exists(files, &log) {
            true => read(files, &log, LARGEST_LOG),
            false => Some(Vec::new()),
        };
        let (Some(before), Some(after)) = (lines(sides.before), lines(sides.after)) else {
            return StashChanges::default();
        };
        let entry = |line: &'_ [u8]| Some(line.get(memchr::memchr(b' ', line)?..)?.to_vec());
        let entries = |text: &[u8]| text.split(|byte| *byte == b'\n').filter_map(entry).collect::<Vec<_>>();
        let (mut old, mut new) = (entries(&before), entries(&after));
        // git reads the log only where the ref is.
        match tips {
            (Some(_), None) => new.clear(),
            (None, Some(_)) => old.clear(),
            _ => {}
        }
        let (old_set, new_set): (BTreeSet<_>, BTreeSet<_>) = (old.iter().collect(), new.iter().collect());
        let id = |rest: &Vec<u8>| {
            let mut words = rest.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            ObjectId::from_hex(words.next()?)
        };
        let mut seen = BTreeSet::new();
        let added = new.iter().filter(|entry| !old_set.contains(entry) && seen.insert(*entry));
        // git reads no other line as an entry.
        let mut added: Vec<ObjectId> = added.filter_map(id).collect();
        // git takes the newest entry from the ref, whatever the log says.
        let newest = tips.1.filter(|tip| Some(*tip) != tips.0 && new.last().and_then(id) != Some(*tip));
        added.extend(newest.filter(|tip| !added.contains(tip)));
        // An entry with another text is none that is gone.
        let stay: BTreeSet<ObjectId> = new.iter().filter_map(id).chain(added.iter().copied()).collect();
        let gone = || old.iter().filter(|entry| !new_set.contains(entry));
        let mut removed: Vec<ObjectId> = Vec::new();
        for id in gone().filter_map(id).filter(|id| !stay.contains(id)) {
            if !removed.contains(&id) {
                removed.push(id);
            }
        }
        let unreadable = gone().filter(|entry| id(entry).is_none()).count();
        StashChanges { entries: added, removed, unreadable }
    }

    /// Adds what git put aside for an operation and would not put back: the file that names it is gone or names something else.
    /// `git rebase --abort` puts it into the work tree, or into the stash where it has a conflict.
    pub(super) fn add_lost_autostashes(&mut self, sides: &GitSides<'_>, common: &Path) {
        let log = read(sides.after, &common.join("logs/refs/stash"), LARGEST_LOG).unwrap_or_default();
        for file in AUTOSTASHES.map(|file| sides.dir.join(file)) {
            let named = |files| ObjectId::from_hex(read(files, &file, LARGEST_NAME)?.trim_ascii());
            let Some(id) = named(sides.before).filter(|id| named(sides.after) != Some(*id)) else { continue };
            let is_stored = memchr::memmem::find(&log, id.to_hex().as_bytes()).is_some();
            if !is_stored && !self.removed.contains(&id) {
                self.removed.push(id);
            }
        }
    }

    /// The commits on which the entries were made. Those of an entry with what was staged and untracked files are made on
    /// the same one, and git itself makes no other parents.
    pub(super) fn bases(&self, objects: &ObjectReader<'_>) -> Vec<ObjectId> {
        let listed = self.entries.iter().rev().take(MOST_STASHES);
        let parents =
            |id: &ObjectId| Commit::read(objects, id).map(|commit| commit.parents).unwrap_or_default();
        let of_entry = |id: &ObjectId| {
            let own = parents(id);
            let below: Vec<ObjectId> = own.iter().skip(1).take(2).flat_map(parents).collect();
            own.into_iter().enumerate().filter(|(at, _)| ![1, 2].contains(at)).map(|(_, id)| id).chain(below)
        };
        listed.flat_map(of_entry).collect()
    }

    pub(super) fn ids(&self) -> &[ObjectId] {
        &self.entries
    }

    /// Each entry against the commit on which it was made, then what it has staged, then its untracked files; and what is gone
    /// the other way round.
    pub(super) fn events(
        &self,
        sides: &GitSides<'_>,
        (before, after): (&ObjectReader<'_>, &ObjectReader<'_>),
        budget: &ReadBudget,
    ) -> Vec<GitEvent> {
        let mut events = Vec::new();
        let more = |is_removed, number: usize| GitEvent::MoreStored {
            kind: StoredKind::Stash { part: StashPart::Entry, is_removed },
            number,
        };
        let listed = |entries: &[ObjectId]| entries.len().saturating_sub(MOST_STASHES);
        let left_out = listed(&self.entries);
        events.extend((left_out > 0).then(|| more(false, left_out)));
        for id in self.entries.iter().skip(left_out) {
            StashEntry { objects: after, id, held_by: None }.add_to(&mut events, budget);
        }
        let left_out = listed(&self.removed) + self.unreadable;
        events.extend((left_out > 0).then(|| more(true, left_out)));
        for id in self.removed.iter().skip(listed(&self.removed)) {
            StashEntry { objects: before, id, held_by: Some(sides) }.add_to(&mut events, budget);
        }
        events
    }
}

struct StashEntry<'a> {
    objects: &'a ObjectReader<'a>,
    id: &'a ObjectId,
    /// Of an entry that is gone: what may have its files now.
    held_by: Option<&'a GitSides<'a>>,
}

impl StashEntry<'_> {
    fn add_to(&self, events: &mut Vec<GitEvent>, budget: &ReadBudget) {
        let is_removed = self.held_by.is_some();
        let of = |part, subject: &str, (changes, patch)| {
            let id = self.id.short();
            let content = StoredContent { id, subject: subject.into(), changes, patch, not_shown: None };
            GitEvent::Stored { kind: StoredKind::Stash { part, is_removed }, content }
        };
        let Some(commit) = Commit::read(self.objects, self.id) else {
            let unread = TreeChanges { at_least: true, ..TreeChanges::default() };
            return events.push(of(StashPart::Entry, "", (unread, CommitPatch::default())));
        };
        let tree = |at: usize| Some(Commit::read(self.objects, commit.parents.get(at)?)?.tree);
        let base = tree(0);
        match self.part(base, commit.tree, budget) {
            EntryPart::Shown(changes, patch) if is_removed => {
                events.push(of(StashPart::Entry, &commit.subject, (changes, patch)));
            }
            EntryPart::Shown(changes, patch) => {
                let patch = with_message(patch, &commit, budget);
                events.push(of(StashPart::Entry, &commit.subject, (changes, patch)));
            }
            EntryPart::Files => events.push(of(StashPart::InWorkTree, &commit.subject, Default::default())),
            EntryPart::Lines => {
                events.push(of(StashPart::LinesInWorkTree, &commit.subject, Default::default()));
            }
        }
        let mut add = |part, content: EntryPart| {
            if let EntryPart::Shown(changes, patch) = content {
                events.push(of(part, &commit.subject, (changes, patch)));
            }
        };
        let staged = tree(1).filter(|staged| *staged != commit.tree && Some(*staged) != base);
        staged.into_iter().for_each(|staged| add(StashPart::Staged, self.part(base, staged, budget)));
        let untracked = tree(2).into_iter();
        untracked.for_each(|untracked| add(StashPart::Untracked, self.part(None, untracked, budget)));
    }

    /// What one tree of the entry has beyond `base`.
    fn part(&self, base: Option<ObjectId>, tree: ObjectId, budget: &ReadBudget) -> EntryPart {
        let Some(sides) = self.held_by else {
            let (changes, patch) = compare_trees(self.objects, base, Some(tree), budget);
            return EntryPart::Shown(changes, patch);
        };
        let (changes, patch) = compare_trees(self.objects, Some(tree), base, budget);
        let files = || CommitTree::of_tree(self.objects, tree);
        let place = (sides.after, sides.dir);
        match !changes.at_least && changes.submodules == 0 && changes.files > 0 {
            true if is_in_work_tree(place, files(), &patch) => EntryPart::Files,
            true if self.are_lines_in_work_tree(sides, base, files(), &patch) => EntryPart::Lines,
            _ => EntryPart::Shown(changes, patch),
        }
    }

    /// True where the files of the work tree stay as they are when the changes of the entry are merged into them.
    fn are_lines_in_work_tree(
        &self,
        sides: &GitSides<'_>,
        base: Option<ObjectId>,
        mut tree: CommitTree<'_>,
        patch: &CommitPatch,
    ) -> bool {
        let Some(work_tree) = sides.dir.parent().filter(|_| sides.dir.ends_with(".git")) else {
            return false;
        };
        let Some(mut base) = base.map(|base| CommitTree::of_tree(self.objects, base)) else { return false };
        patch.files.iter().all(|(file, _)| {
            let (path, name) = (work_tree.join(file), file.as_os_str().as_bytes());
            let (Ok(was), Ok(is)) = (base.get(name), tree.get(name)) else { return false };
            let Some(is) = is else { return !exists(sides.after, &path) };
            let Some(now) = read(sides.after, &path, LARGEST_OBJECT as u64) else { return false };
            let blob = |entry: TreeEntry| self.objects.get_of(&entry.id, "blob");
            let (Some(was), Some(entry)) = (was.and_then(blob), blob(is)) else {
                return is.id.names("blob", &now);
            };
            let is_text = [&was, &entry, &now].iter().all(|text| !text.contains(&0));
            is.id.names("blob", &now)
                || is_text && merged(&was, &now, &entry).is_some_and(|merged| merged == now)
        })
    }
}

/// One tree of an entry.
enum EntryPart {
    /// What it has, or what is gone with it.
    Shown(TreeChanges, CommitPatch),
    /// The entry is gone, and the work tree has its files, as `git stash pop` leaves them.
    Files,
    /// The work tree has its changes, and others in the same files.
    Lines,
}
