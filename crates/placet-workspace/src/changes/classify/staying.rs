//! What stays pending together with changes that wait: without it, a part of a move would remove the only copy of a file.

use crate::changes::change_set::{ChangeSet, FileChange};
use crate::files::metadata::path_state::PathState;
use crate::hash::Hash;
use crate::view::ChangeSelection;
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::ops::Bound::{Excluded, Unbounded};
use std::path::Path;

/// `choice` without `staying` and without changes that cannot be applied without them:
///
/// - the place that the content of a staying file comes from, also where something else is at that place afterwards:
///   after `mv x .envrc; mv y x`, `x` is modified, and its old content is only in `.envrc`. What is at that place
///   afterwards may have been moved, too, so this goes on from change to change.
/// - what is in a directory that stays a file, and what was in one that does not become a file or a link;
/// - directories that only staying changes need, and the removal of a directory that contains one of them;
/// - all of a repository that such a place is in, because a repository is applied as a whole.
pub(super) fn stay(
    set: &ChangeSet,
    mut choice: ChangeSelection,
    staying: &BTreeSet<&Path>,
) -> ChangeSelection {
    if staying.is_empty() {
        return choice;
    }
    let mut found = StayingChanges::new(set, staying);
    loop {
        found.follow();
        if !found.add_directories(&choice) {
            break;
        }
    }
    choice.retain(|path, _| !found.all.contains(&**path));
    choice
}

struct StayingChanges<'a> {
    set: &'a ChangeSet,
    all: BTreeSet<&'a Path>,
    /// Those of which nothing was followed yet.
    new: Vec<&'a FileChange>,
    old_places: OldPlaces<'a>,
}

impl<'a> StayingChanges<'a> {
    fn new(set: &'a ChangeSet, staying: &BTreeSet<&'a Path>) -> StayingChanges<'a> {
        let mut new: Vec<&FileChange> = set.changes.iter().filter(|c| staying.contains(&*c.path)).collect();
        // Last, and so the first that are followed: where such a file comes from is known.
        new.sort_by_key(|change| change.moved_from.is_some());
        StayingChanges { set, all: staying.clone(), new, old_places: OldPlaces::of(set) }
    }

    fn add(&mut self, change: &'a FileChange) {
        if self.all.insert(&change.path) {
            self.new.push(change);
        }
    }

    fn follow(&mut self) {
        while let Some(change) = self.new.pop() {
            if let Some(old) = self.old_place(change) {
                self.add(old);
                if let Some(repository) = self.set.repositories.of(&old.path) {
                    let is_with = |c: &&FileChange| self.set.repositories.of(&c.path) == Some(repository);
                    self.set.changes.iter().filter(is_with).for_each(|change| self.add(change));
                }
            }
            let is_replaced = change.after.is_directory() != change.before.is_directory();
            if is_replaced && !change.after.is_absent() {
                let from = self.set.changes.partition_point(|other| *other.path <= *change.path);
                let rest = self.set.changes.get(from..).unwrap_or_default().iter();
                rest.take_while(|c| c.path.starts_with(&change.path)).for_each(|change| self.add(change));
            }
        }
    }

    fn old_place(&mut self, change: &'a FileChange) -> Option<&'a FileChange> {
        match &change.moved_from {
            Some(from) => self.set.get(from),
            None => self.old_places.take(change, &self.all),
        }
    }

    /// Adds the directories that stay because of what is in them. True where there was one that was not known.
    fn add_directories(&mut self, choice: &ChangeSelection) -> bool {
        let before = self.all.len();
        // What is in a directory comes first: a new directory in which nothing is left is not needed either.
        for change in self.set.changes.iter().rev() {
            let comes = change.after.is_directory() && !change.before.is_directory();
            let goes = change.before.is_directory() && !change.after.is_directory();
            if (goes || comes) && !self.all.contains(&*change.path) && holds(&self.all, &change.path) {
                let below = choice.range::<Path, _>((Excluded(&*change.path), Unbounded));
                let mut below = below.take_while(|(path, _)| path.starts_with(&change.path));
                if goes || !below.any(|(path, _)| !self.all.contains(&**path)) {
                    self.add(change);
                }
            }
        }
        self.all.len() > before
    }
}

/// What a file that was moved has in both places: its content, or where the link leads.
type ContentKey<'a> = (Option<Hash>, Option<&'a OsStr>);

fn content_key(node: &PathState) -> Option<ContentKey<'_>> {
    match node {
        PathState::File { hash, .. } => Some((Some(*hash), None)),
        PathState::Link { target } => Some((None, Some(target.as_os_str()))),
        _ => None,
    }
}

/// The places that lose a content: from there it may have been moved.
struct OldPlaces<'a>(HashMap<ContentKey<'a>, Vec<&'a FileChange>>);

impl<'a> OldPlaces<'a> {
    fn of(set: &'a ChangeSet) -> OldPlaces<'a> {
        // What was renamed elsewhere is not lost.
        let renamed: BTreeSet<&Path> = set.changes.iter().filter_map(|c| c.moved_from.as_deref()).collect();
        let mut places: HashMap<_, Vec<&FileChange>> = HashMap::new();
        for change in set.changes.iter().filter(|change| !renamed.contains(&*change.path)) {
            let Some(key) = content_key(&change.before) else { continue };
            // Nothing is lost with an empty file; the empty file of a directory that was moved goes with it.
            let is_lost = change.after.is_absent() || change.before.size() > 0 || key.0.is_none();
            if is_lost && content_key(&change.after) != Some(key) {
                places.entry(key).or_default().push(change);
            }
        }
        OldPlaces(places)
    }

    /// The place that the new content of `change` most likely comes from: rather one where nothing is afterwards, and
    /// one of the same name. No place is taken twice, or where it stays anyway.
    fn take(&mut self, change: &'a FileChange, staying: &BTreeSet<&Path>) -> Option<&'a FileChange> {
        let key = content_key(&change.after)?;
        if content_key(&change.before) == Some(key) {
            return None;
        }
        let places = self.0.get_mut(&key)?;
        places.retain(|place| !staying.contains(&*place.path));
        let rank = |place: &&FileChange| {
            (!place.after.is_absent(), place.path.file_name() != change.path.file_name())
        };
        let (at, _) = places.iter().enumerate().min_by_key(|(_, place)| rank(place))?;
        Some(places.swap_remove(at))
    }
}

/// True when something strictly below `dir` is among `paths`: in their order, such a path directly follows `dir`.
pub(super) fn holds(paths: &BTreeSet<&Path>, dir: &Path) -> bool {
    let next = paths.range::<Path, _>((Excluded(dir), Unbounded)).next();
    next.is_some_and(|next| next.starts_with(dir))
}
