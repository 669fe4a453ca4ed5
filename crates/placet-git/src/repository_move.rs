//! A change of a repository as a value: for each item what it was and what it becomes.
//!
//! Apply, undo, redo and recovery are all the same: they take each item from `before` to `after`, if it is at `before`.

use crate::git_file::GitFileContent;
use crate::git_name::GitName;
use crate::object_id::ObjectId;
use crate::state::{CheckoutName, Head, IndexEntry, RefTarget, RepositoryFormat, StashEntry};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What an item was and what it becomes; `None` where there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved<T> {
    pub before: Option<T>,
    pub after: Option<T>,
}

impl<T> Default for Moved<T> {
    fn default() -> Moved<T> {
        Moved { before: None, after: None }
    }
}

impl<T: Clone> Moved<T> {
    fn inverse(&self) -> Moved<T> {
        Moved { before: self.after.clone(), after: self.before.clone() }
    }
}

/// Items by name.
pub type MovedItems<T> = BTreeMap<GitName, Moved<T>>;

/// What moves in one checkout.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckoutMove {
    pub head: Option<Moved<Head>>,
    pub own_refs: MovedItems<RefTarget>,
    pub index: MovedItems<Vec<IndexEntry>>,
    /// The commit at `HEAD`, to which the index belongs. It can move alone, with its branch.
    #[serde(default)]
    pub commit: Moved<ObjectId>,
}

impl CheckoutMove {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let is_same_commit = self.commit.before == self.commit.after;
        self.head.is_none() && self.own_refs.is_empty() && self.index.is_empty() && is_same_commit
    }
}

/// What moves in a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryMove {
    pub format: RepositoryFormat,
    pub refs: MovedItems<RefTarget>,
    pub checkouts: BTreeMap<CheckoutName, CheckoutMove>,
    pub stash: Option<Moved<Vec<StashEntry>>>,
    /// Files of git that were approved.
    pub files: MovedItems<GitFileContent>,
}

impl RepositoryMove {
    #[must_use]
    pub fn nothing(format: RepositoryFormat) -> RepositoryMove {
        RepositoryMove {
            format,
            refs: BTreeMap::new(),
            checkouts: BTreeMap::new(),
            stash: None,
            files: BTreeMap::new(),
        }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.refs.is_empty()
            && self.checkouts.values().all(CheckoutMove::is_empty)
            && self.stash.is_none()
            && self.files.is_empty()
    }

    /// The change back.
    #[must_use]
    pub fn inverse(&self) -> RepositoryMove {
        RepositoryMove {
            format: self.format.clone(),
            refs: inverse(&self.refs),
            checkouts: self
                .checkouts
                .iter()
                .map(|(name, checkout)| (name.clone(), checkout.inverse()))
                .collect(),
            stash: self.stash.as_ref().map(Moved::inverse),
            files: inverse(&self.files),
        }
    }

    /// This change and a later one as one.
    #[must_use]
    pub fn then(mut self, later: RepositoryMove) -> RepositoryMove {
        join(&mut self.refs, later.refs);
        join(&mut self.files, later.files);
        for (name, checkout) in later.checkouts {
            let commit = Moved { after: None, ..checkout.commit.clone() };
            let own = self
                .checkouts
                .entry(name)
                .or_insert_with(|| CheckoutMove { commit, ..CheckoutMove::default() });
            own.head = joined(own.head.take(), checkout.head);
            join(&mut own.own_refs, checkout.own_refs);
            join(&mut own.index, checkout.index);
            own.commit.after = checkout.commit.after;
        }
        self.checkouts.retain(|_, checkout| !checkout.is_empty());
        self.stash = joined(self.stash, later.stash);
        self
    }

    /// What the items lead to before, and after.
    pub(crate) fn objects(&self) -> (Vec<ObjectId>, Vec<ObjectId>) {
        let mut objects: (Vec<ObjectId>, Vec<ObjectId>) = (Vec::new(), Vec::new());
        let own = self.checkouts.values().flat_map(|checkout| checkout.own_refs.values());
        for moved in self.refs.values().chain(own) {
            objects.0.extend(moved.before.as_ref().and_then(RefTarget::object));
            objects.1.extend(moved.after.as_ref().and_then(RefTarget::object));
        }
        for checkout in self.checkouts.values() {
            if let Some(head) = &checkout.head {
                objects.0.extend(head.before.as_ref().and_then(detached));
                objects.1.extend(head.after.as_ref().and_then(detached));
            }
            for moved in checkout.index.values() {
                objects.0.extend(blobs(moved.before.as_ref()));
                objects.1.extend(blobs(moved.after.as_ref()));
            }
        }
        if let Some(stash) = &self.stash {
            objects.0.extend(stash.before.iter().flatten().map(|entry| entry.id));
            objects.1.extend(stash.after.iter().flatten().map(|entry| entry.id));
        }
        for ids in [&mut objects.0, &mut objects.1] {
            ids.sort_unstable();
            ids.dedup();
        }
        objects
    }
}

impl CheckoutMove {
    fn inverse(&self) -> CheckoutMove {
        CheckoutMove {
            head: self.head.as_ref().map(Moved::inverse),
            own_refs: inverse(&self.own_refs),
            index: inverse(&self.index),
            commit: self.commit.inverse(),
        }
    }
}

fn inverse<T: Clone>(items: &MovedItems<T>) -> MovedItems<T> {
    items.iter().map(|(name, moved)| (name.clone(), moved.inverse())).collect()
}

/// What was moved there and back is no change. What somebody else moved between the two stays in conflict.
fn joined<T: PartialEq>(first: Option<Moved<T>>, later: Option<Moved<T>>) -> Option<Moved<T>> {
    let moved = match (first, later) {
        (Some(first), Some(later)) if first.after != later.before => first,
        (Some(first), Some(later)) => Moved { before: first.before, after: later.after },
        (first, later) => first.or(later)?,
    };
    (moved.before != moved.after).then_some(moved)
}

fn join<T: PartialEq>(items: &mut MovedItems<T>, later: MovedItems<T>) {
    for (name, moved) in later {
        let first = items.remove(&name);
        if let Some(moved) = joined(first, Some(moved)) {
            items.insert(name, moved);
        }
    }
}

fn detached(head: &Head) -> Option<ObjectId> {
    match head {
        Head::Detached(id) => Some(*id),
        Head::Branch(_) => None,
    }
}

fn blobs(entries: Option<&Vec<IndexEntry>>) -> impl Iterator<Item = ObjectId> {
    entries
        .into_iter()
        .flatten()
        .filter(|entry| !entry.is_submodule() && !entry.id.is_zero())
        .map(|entry| entry.id)
}

/// The branches on which operations in these files began.
pub(crate) fn branches_to_return_to(files: &MovedItems<GitFileContent>) -> Vec<GitName> {
    let contents = files.iter().flat_map(|(name, moved)| [(name, &moved.before), (name, &moved.after)]);
    contents.filter_map(|(name, content)| branch_to_return_to(name, content.as_ref()?)).collect()
}

/// The branch that this file of an operation names.
pub(crate) fn branch_to_return_to(name: &GitName, content: &GitFileContent) -> Option<GitName> {
    let is_name = name.as_bytes().ends_with(b"/head-name");
    is_name.then(|| content.bytes()).flatten().map(|bytes| GitName::new(bytes.trim_ascii_end()))
}
