//! Which updates of refs go into which transaction of git.

use crate::git_name::GitName;
use crate::object_id::ObjectFormat;
use crate::repository_move::{Moved, RepositoryMove};
use crate::state::{CheckoutName, Head, RefStorage, RefTarget, STASH, branch_of};
use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A lock by its name below the git directory, with what git writes into it, if that is known.
pub(super) type ExpectedLock = (GitName, Option<GitName>);

/// Commands of `git update-ref --stdin -z`, with the locks that they take.
#[derive(Clone, Debug, Default)]
pub(crate) struct RefUpdates {
    pub(super) commands: Vec<u8>,
    /// Names, and what git writes into their locks.
    names: Vec<(GitName, GitName)>,
}

/// A `HEAD`, or a ref of a checkout's own, that is moved by a command of its own.
#[derive(Clone, Debug)]
pub(crate) struct LateRef {
    pub(super) checkout: CheckoutName,
    pub(super) name: GitName,
    pub(super) target: Option<RefTarget>,
}

/// All updates.
#[derive(Clone, Debug, Default)]
pub(crate) struct RefPlan {
    /// `side` has to go before `side/x` can be made: git refuses both in one transaction.
    pub(super) early: RefUpdates,
    pub(super) main: RefUpdates,
    pub(super) late: Vec<LateRef>,
}

/// From this version on, a transaction has symbolic refs.
const SYMBOLIC: (u32, u32) = (2, 46);

impl RefUpdates {
    pub(super) fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    fn line(&mut self, words: &[&[u8]]) {
        self.commands.extend(words.concat());
        self.commands.push(0);
    }

    /// Moves one ref itself, never the one that it leads to.
    fn add(&mut self, name: &GitName, moved: &Moved<RefTarget>, format: ObjectFormat) {
        let n = name.as_bytes();
        let hex = |target: &RefTarget| target.object().map(|id| id.to_string()).unwrap_or_default();
        self.line(&[b"option no-deref"]);
        match (&moved.before, &moved.after) {
            (None, None) => {}
            (None, Some(RefTarget::Symbolic(to))) => self.line(&[b"symref-create ", n, b"\0", to.as_bytes()]),
            (Some(RefTarget::Symbolic(old)), Some(RefTarget::Symbolic(to))) => {
                self.line(&[b"symref-update ", n, b"\0", to.as_bytes(), b"\0ref\0", old.as_bytes()]);
            }
            (Some(old), Some(RefTarget::Symbolic(to))) => {
                self.line(&[b"symref-update ", n, b"\0", to.as_bytes(), b"\0oid\0", hex(old).as_bytes()]);
            }
            (Some(RefTarget::Symbolic(old)), None) => {
                self.line(&[b"symref-delete ", n, b"\0", old.as_bytes()])
            }
            (Some(old), None) => self.line(&[b"delete ", n, b"\0", hex(old).as_bytes()]),
            (None, Some(new)) => {
                self.line(&[b"update ", n, b"\0", hex(new).as_bytes(), b"\0", format.zero().as_bytes()]);
            }
            (Some(RefTarget::Symbolic(_)), Some(new)) => {
                self.line(&[b"update ", n, b"\0", hex(new).as_bytes(), b"\0"]);
            }
            (Some(old), Some(new)) => {
                self.line(&[b"update ", n, b"\0", hex(new).as_bytes(), b"\0", hex(old).as_bytes()]);
            }
        }
        self.names.push((name.clone(), moved.after.as_ref().map(content_of_ref).unwrap_or_default()));
    }

    fn head(&mut self, moved: &Moved<Head>) {
        self.line(&[b"option no-deref"]);
        match (&moved.before, &moved.after) {
            (Some(Head::Branch(old)), Some(Head::Branch(new))) => {
                self.line(&[b"symref-update HEAD\0", new.as_bytes(), b"\0ref\0", old.as_bytes()]);
            }
            (Some(Head::Detached(old)), Some(Head::Branch(new))) => {
                self.line(&[b"symref-update HEAD\0", new.as_bytes(), b"\0oid\0", old.to_string().as_bytes()]);
            }
            (Some(old), Some(Head::Detached(new))) => {
                let old = if let Head::Detached(id) = old { id.to_string() } else { String::new() };
                self.line(&[b"update HEAD\0", new.to_string().as_bytes(), b"\0", old.as_bytes()]);
            }
            (None, _) | (_, None) => {}
        }
        let content = moved.after.as_ref().map(|head| content_of_ref(&head.target()));
        self.names.push((GitName::from("HEAD"), content.unwrap_or_default()));
    }

    /// The locks of these updates. `head` is the branch of the repository's `HEAD`.
    pub(super) fn locks(&self, storage: RefStorage, head: Option<&GitName>) -> Vec<ExpectedLock> {
        let mut locks: Vec<_> = self
            .names
            .iter()
            .flat_map(|(name, content)| locks_of(Path::new(""), name, content, storage))
            .collect();
        // git logs a move of that branch in `HEAD`.
        if self.names.iter().any(|(name, _)| Some(name) == head) {
            locks.extend(locks_of(Path::new(""), &GitName::from("HEAD"), &GitName::default(), storage));
        }
        locks.sort();
        locks.dedup();
        locks
    }
}

/// The locks that git takes for a ref of the checkout in `directory`, when `content` is written into it or nothing: a ref that is
/// deleted is taken out of the packed ones, too.
fn locks_of(directory: &Path, name: &GitName, content: &GitName, storage: RefStorage) -> Vec<ExpectedLock> {
    let lock = |name: &Path| GitName::new(&[directory.join(name).as_os_str().as_bytes(), b".lock"].concat());
    if storage == RefStorage::Reftable {
        return vec![(lock(Path::new("reftable/tables.list")), None)];
    }
    let is_deleted = content.as_bytes().is_empty();
    let packed = is_deleted.then(|| (GitName::from("packed-refs.lock"), Some(GitName::default())));
    std::iter::once((lock(name.as_path()), Some(content.clone()))).chain(packed).collect()
}

/// What git writes into the file of a ref.
fn content_of_ref(target: &RefTarget) -> GitName {
    GitName::new(&match target {
        RefTarget::Object(id) => format!("{id}\n").into_bytes(),
        RefTarget::Symbolic(to) => [b"ref: ", to.as_bytes(), b"\n"].concat(),
    })
}

impl RefPlan {
    pub(super) fn of(change: &RepositoryMove, version: (u32, u32)) -> RefPlan {
        let mut plan = RefPlan::default();
        let format = change.format.objects;
        let is_early = names_in_the_way(change);
        let is_old = version < SYMBOLIC;
        let main = change.checkouts.get(&CheckoutName::Main);
        let own = main.into_iter().flat_map(|checkout| &checkout.own_refs);
        for (name, moved) in change.refs.iter().chain(own) {
            let is_symbolic =
                [&moved.before, &moved.after].iter().any(|t| matches!(t, Some(RefTarget::Symbolic(_))));
            match is_early.contains(name) {
                true => plan.early.add(name, moved, format),
                false if is_symbolic && is_old => {
                    let (checkout, target) = (CheckoutName::Main, moved.after.clone());
                    plan.late.push(LateRef { checkout, name: name.clone(), target });
                }
                false => plan.main.add(name, moved, format),
            }
        }
        for (name, checkout) in &change.checkouts {
            if *name != CheckoutName::Main {
                for (own, moved) in &checkout.own_refs {
                    let (name, target) = (name.clone(), moved.after.clone());
                    plan.late.push(LateRef { checkout: name, name: own.clone(), target });
                }
            }
            let Some(moved) = &checkout.head else { continue };
            let (Some(before), Some(after)) = (&moved.before, &moved.after) else { continue };
            // git logs an update of the branch at HEAD in HEAD, and refuses a second update of HEAD next to it.
            let updates_branch =
                branch_of(Some(before)).is_some_and(|branch| change.refs.contains_key(branch));
            let is_late = *name != CheckoutName::Main || updates_branch || is_old;
            if is_late {
                let target = Some(after.target());
                plan.late.push(LateRef { checkout: name.clone(), name: GitName::from("HEAD"), target });
            } else {
                plan.main.head(moved);
            }
        }
        plan
    }

    /// Locks that git takes once the transaction was committed.
    pub(super) fn later_locks(&self, change: &RepositoryMove) -> Vec<ExpectedLock> {
        let storage = change.format.refs;
        let late = self.late.iter().flat_map(|late| {
            let content = late.target.as_ref().map(content_of_ref).unwrap_or_default();
            locks_of(&late.checkout.directory(), &late.name, &content, storage)
        });
        // A list that does not only grow is deleted before it is written.
        let entries = change.stash.iter().flat_map(|stash| stash.after.iter().flatten());
        let contents = entries.map(|entry| content_of_ref(&RefTarget::Object(entry.id)));
        let contents = contents.chain(change.stash.iter().map(|_| GitName::default()));
        let stash =
            contents.flat_map(|content| locks_of(Path::new(""), &GitName::from(STASH), &content, storage));
        late.chain(stash).collect()
    }
}

/// Refs that are deleted, and whose names are directories of new refs, or the other way around.
fn names_in_the_way(change: &RepositoryMove) -> BTreeSet<GitName> {
    let created: BTreeSet<GitName> = change
        .refs
        .iter()
        .filter(|(_, moved)| moved.before.is_none())
        .map(|(name, _)| name.clone())
        .collect();
    let is_in_the_way = |name: &GitName| {
        let below = GitName::new(&[name.as_bytes(), b"/"].concat());
        let is_directory = created
            .range(below.clone()..)
            .next()
            .is_some_and(|next| next.as_bytes().starts_with(below.as_bytes()));
        let slashes = name.as_bytes().iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let mut parents = slashes.filter_map(|(at, _)| name.as_bytes().get(..at)).map(GitName::new);
        is_directory || parents.any(|parent| created.contains(&parent))
    };
    let deleted = change.refs.iter().filter(|(_, moved)| moved.after.is_none()).map(|(name, _)| name);
    deleted.filter(|name| is_in_the_way(name)).cloned().collect()
}
