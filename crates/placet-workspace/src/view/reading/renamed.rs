//! Which files of a change set were renamed and changed, found once for the same files.

use crate::changes::change_count::ChangeCount;
use crate::changes::change_set::{ChangeKind, ChangeSet, FileChange};
use crate::changes::classify::{ChangeClass, ChangeClassifier};
use crate::changes::renames::RenamedFiles;
use crate::view::command::collect::CommandEffects;
use crate::view::{LayerKind, View};
use std::path::Path;
use std::sync::{Arc, PoisonError};

impl View {
    /// The files of `set` that were renamed and changed. The prompt, the question and the report of an apply ask for the
    /// same set, and the answer compares texts.
    pub fn renamed(&self, set: &ChangeSet) -> Arc<RenamedFiles> {
        let Some(key) = key(set) else { return Arc::default() };
        let known = || self.0.asked.renamed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, found)) = &*known()
            && *of == key
        {
            return Arc::clone(found);
        }
        let protected = self.protected();
        let classifier = ChangeClassifier::new(set, self.roots(), &protected);
        let runs_later = |path: &Path| {
            let change = set.get(path);
            change.is_some_and(|change| matches!(classifier.classify(change), ChangeClass::RunsLater(_)))
        };
        let found = Arc::new(RenamedFiles::of(set, &runs_later, self.objects()));
        *known() = Some((key, Arc::clone(&found)));
        found
    }

    /// The changes of `set` as a person counts them.
    pub fn count(&self, set: &ChangeSet) -> ChangeCount {
        set.count(&self.renamed(set))
    }

    /// The same of those that are chosen.
    pub fn count_of(&self, set: &ChangeSet, chosen: impl Fn(&FileChange) -> bool) -> ChangeCount {
        set.count_of(&self.renamed(set), chosen)
    }
}

impl View {
    /// Files that a command renamed, also those that it changed as well.
    pub(in crate::view) fn renamed_by(&self, effects: &CommandEffects, shelf: LayerKind) -> usize {
        if effects.created == 0 || effects.deleted == 0 {
            return 0;
        }
        let Ok(set) = self.changes(shelf) else { return 0 };
        let renamed = self.renamed(&set);
        let is_own = |from: &Path, to: &Path| effects.paths.contains(from) && effects.paths.contains(to);
        let moved = set.changes.iter().filter(|change| {
            let is_of_git = set.repositories.of(&change.path).is_some();
            change.moved_from.as_ref().is_some_and(|from| !is_of_git && is_own(from, &change.path))
        });
        moved.count() + renamed.list().iter().filter(|one| is_own(&one.from, &one.to)).count()
    }
}

/// A hash of the files outside repositories that are deleted and created; `None` where not both are there.
fn key(set: &ChangeSet) -> Option<blake3::Hash> {
    let is_end = |c: &&FileChange| {
        let (is_gone, is_new) = (c.verb() == ChangeKind::Deleted, c.before.is_absent());
        let is_file = if is_gone { c.before.is_file() } else { c.after.is_file() };
        (is_gone || is_new) && is_file && set.repositories.of(&c.path).is_none()
    };
    let is_gone = |c: &FileChange| c.verb() == ChangeKind::Deleted;
    let ends = || set.changes.iter().filter(is_end);
    if !ends().any(is_gone) || ends().all(is_gone) {
        return None;
    }
    let mut hasher = blake3::Hasher::new();
    for change in ends() {
        let path = change.path.as_os_str().as_encoded_bytes();
        hasher.update(&path.len().to_le_bytes());
        hasher.update(path);
        for state in [&change.before, &change.after] {
            hasher.update(state.hash().as_ref().map_or(&[], |hash| hash.as_bytes().as_slice()));
            hasher.update(&[u8::from(state.is_absent()), u8::from(change.raced)]);
        }
    }
    Some(hasher.finalize())
}
