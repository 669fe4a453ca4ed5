//! What is shown to a person is a value: everything that is pending, what it means, and the state that both belong to.
//!
//! Nobody else classifies pending changes. A front end draws the value and fills a decision about it, which
//! [`View::decide`] compares with what is pending then: a value that does not say what is pending decides nothing.

use crate::changes::change_count::ChangeCount;
use crate::changes::change_set::{ChangeSet, FileChange};
use crate::changes::classify::{ChangeApproval, ChangeClasses, PermittedChanges};
use crate::changes::listing::ListedChange;
use crate::hash::Hash;
use crate::view::ChangeSelection;
use crate::view::{LayerKind, View};
use std::hash::{Hash as _, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Changes with what they mean. Cheap to clone; it does not change, and locks nothing.
#[derive(Clone, Debug)]
pub struct ShownChanges {
    view: View,
    set: Arc<ChangeSet>,
    classes: Arc<ChangeClasses>,
    state: Hash,
    /// [`View::writes`] when it was read, if it is all that is pending.
    read_at: Option<u64>,
}

/// Two values are equal where they show the same state.
impl PartialEq for ShownChanges {
    fn eq(&self, other: &ShownChanges) -> bool {
        self.state == other.state
    }
}

impl Eq for ShownChanges {}

impl View {
    /// What is pending now. What git wrote in a repository without changing anything is no change.
    pub fn shown(&self) -> io::Result<ShownChanges> {
        let mut read_at = self.writes();
        let mut set = self.changes(LayerKind::Pending)?;
        match self.drop_unchanged_repositories(&set) {
            Ok(false) => {}
            Ok(true) => {
                read_at = self.writes();
                set = self.changes(LayerKind::Pending)?;
            }
            // Another placet is using the changes: nothing can be decided now, and looking is free.
            Err(e) if e.kind() == io::ErrorKind::ResourceBusy => read_at = None,
            Err(e) => return Err(e),
        }
        Ok(ShownChanges { read_at, ..self.shown_as(set) })
    }

    /// The same of changes that were read already: of pending ones that are only listed, or of what is not pending.
    pub fn shown_as(&self, set: ChangeSet) -> ShownChanges {
        let classes = self.classify(&set);
        let state = state_of(&set, &classes);
        let (set, classes) = (Arc::new(set), Arc::new(classes));
        ShownChanges { view: self.clone(), set, classes, state, read_at: None }
    }
}

impl ShownChanges {
    pub fn set(&self) -> &Arc<ChangeSet> {
        &self.set
    }

    pub fn classes(&self) -> &ChangeClasses {
        &self.classes
    }

    pub fn view(&self) -> &View {
        &self.view
    }

    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// The changes as a person counts them.
    pub fn count(&self) -> ChangeCount {
        let count = self.view.count(&self.set);
        self.view.remember_count(self.read_at, count);
        count
    }

    /// A part of it, as it is shown by itself. A decision about a part is one about the whole.
    #[must_use]
    pub fn part(&self, keep: impl Fn(&FileChange) -> bool) -> ShownChanges {
        let set = self.set.part(keep);
        let classes = self.classes.of_part(&set);
        ShownChanges { set: Arc::new(set), classes: Arc::new(classes), read_at: None, ..self.clone() }
    }

    /// A row for each change, with what it means; `name` shows a path.
    pub fn rows(&self, name: impl Fn(&Path) -> PathBuf) -> Vec<ListedChange> {
        self.view.listed(&self.set, &self.classes, name)
    }

    /// The same as lines.
    pub fn lines(&self, name: impl Fn(&Path) -> PathBuf) -> Vec<String> {
        self.rows(name).iter().map(ListedChange::line).collect()
    }

    /// What an apply of `choice` makes with this approval, and what stays pending.
    pub fn permitted(&self, choice: ChangeSelection, approval: &ChangeApproval) -> PermittedChanges {
        self.classes.permitted(&self.set, choice, approval)
    }

    pub(in crate::view) fn into_parts(self) -> (ChangeSet, Arc<ChangeClasses>) {
        let set = Arc::try_unwrap(self.set).unwrap_or_else(|shared| (*shared).clone());
        (set, self.classes)
    }
}

/// A hash of all that a person is shown: each path before and after, and what it means.
fn state_of(set: &ChangeSet, classes: &ChangeClasses) -> Hash {
    let mut hasher = blake3::Hasher::new();
    let mut bytes = HashedBytes(Vec::new());
    for change in &set.changes {
        let FileChange { path, before, after, moved_from, twin, raced, by_tool, .. } = change;
        let of = |path: &Option<Arc<Path>>| path.as_ref().map(|path| path.as_os_str().to_owned());
        (path.as_os_str(), &**before, &**after).hash(&mut bytes);
        (of(moved_from), of(twin), raced, by_tool).hash(&mut bytes);
        hasher.update(&bytes.0);
        bytes.0.clear();
    }
    // Writing to a hasher does not fail.
    drop(hasher.write_fmt(format_args!("{:?}{:?}", set.repositories, classes)));
    hasher.finalize()
}

/// What a value gives to a hasher, as bytes: a tenth of the time that its debug form takes.
struct HashedBytes(Vec<u8>);

impl Hasher for HashedBytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}
