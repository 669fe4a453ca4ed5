//! What a repository is, as far as it is applied: refs, checkouts with `HEAD` and index, stash entries, files of git.

mod checkout;
mod index;
mod reading;
mod refs;
mod stash;
mod tracked_links;

pub(crate) use checkout::branch_of;
pub use checkout::{CheckoutName, CheckoutState, Head};
pub use index::{IndexEntry, IndexState};
pub use reading::StateCopy;
pub use refs::{RefTarget, RefsState};
pub(crate) use refs::{is_blank, is_own_ref, is_valid_ref, symbolic};
pub(crate) use stash::REF as STASH;
pub use stash::StashEntry;
pub use tracked_links::tracked_links;

use crate::error::{GitError, Result};
use crate::git_file::GitFiles;
use crate::git_name::GitName;
use crate::object_id::{ObjectFormat, ObjectId};
use crate::source::SourceIdentity;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How refs are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RefStorage {
    Files,
    Reftable,
}

/// What a repository is made with, and what cannot change later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryFormat {
    pub objects: ObjectFormat,
    pub refs: RefStorage,
    /// The remote of a partial clone, which has the objects that are missing here.
    pub promisor: Option<GitName>,
}

/// One state of a repository. It is a value: it stays as it is when the repository changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryState {
    pub format: RepositoryFormat,
    /// The refs that all checkouts share, without the stash.
    #[serde(skip)]
    pub refs: RefsState,
    /// Refs of the main checkout's own and of linked worktrees are in the checkouts.
    pub checkouts: BTreeMap<CheckoutName, CheckoutState>,
    /// The newest first.
    pub stash: Vec<StashEntry>,
    pub shallow: Option<GitName>,
    /// Refs that git cannot read, so that nothing is known about them.
    pub unreadable: Vec<GitName>,
    pub files: GitFiles,
    /// What the files were that this was read from: a state whose files are the same is not read again.
    #[serde(default)]
    pub(crate) read_from: Vec<(GitName, SourceIdentity)>,
}

/// Bytes of the length of a part.
const LENGTH: usize = size_of::<u64>();

impl RepositoryState {
    /// As a file of placet's: the long lists as git prints them, each behind its length, and the rest as JSON.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let rest = serde_json::to_vec(self).map_err(|_| GitError::Unexpected { command: "state" })?;
        let lists = self.checkouts.values().map(|one| (refs::write(&one.own_refs), index::write(&one.index)));
        let lists = lists.flat_map(|(refs, index)| [refs, index]);
        let mut bytes = Vec::new();
        for part in [rest, refs::write(&self.refs)].into_iter().chain(lists) {
            bytes.extend(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
            bytes.extend(part);
        }
        Ok(bytes)
    }

    /// Reads the bytes of [`RepositoryState::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<RepositoryState> {
        let unexpected = || GitError::Unexpected { command: "state" };
        let mut left = bytes;
        let mut next = || {
            let (length, rest) = left.split_first_chunk::<LENGTH>().ok_or_else(unexpected)?;
            let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| unexpected())?;
            let (part, rest) = rest.split_at_checked(length).ok_or_else(unexpected)?;
            left = rest;
            Ok(part)
        };
        let mut state: RepositoryState = serde_json::from_slice(next()?).map_err(|_| unexpected())?;
        state.refs = refs::parse(next()?)?;
        for checkout in state.checkouts.values_mut() {
            (checkout.own_refs, checkout.index) = (refs::parse(next()?)?, index::parse(next()?)?);
        }
        Ok(state)
    }

    /// When the files changed that this was read from: seconds and nanoseconds.
    pub fn changed(&self) -> impl Iterator<Item = (i64, i64)> {
        self.read_from.iter().map(|(_, identity)| identity.changed)
    }

    /// The commit at `HEAD` of a checkout.
    #[must_use]
    pub fn head_commit(&self, checkout: &CheckoutName) -> Option<ObjectId> {
        match &self.checkouts.get(checkout)?.head {
            Head::Detached(id) => Some(*id),
            Head::Branch(name) => self.resolve(name),
        }
    }

    /// The object that a ref leads to, through symbolic refs.
    #[must_use]
    pub fn resolve(&self, name: &GitName) -> Option<ObjectId> {
        resolve_by(name, |name| self.refs.get(name))
    }

    /// Every object that a ref, a `HEAD` or a stash entry leads to.
    #[must_use]
    pub fn tips(&self) -> Vec<ObjectId> {
        let own = self.checkouts.values().flat_map(|checkout| {
            checkout.own_refs.values().filter_map(RefTarget::object).chain(match checkout.head {
                Head::Detached(id) => Some(id),
                Head::Branch(_) => None,
            })
        });
        let refs = self.refs.values().filter_map(RefTarget::object);
        let mut tips: Vec<ObjectId> =
            refs.chain(own).chain(self.stash.iter().map(|entry| entry.id)).collect();
        tips.sort_unstable();
        tips.dedup();
        tips
    }
}

/// The object that a ref leads to, where `target_of` says what each ref is.
pub(crate) fn resolve_by<'a>(
    mut name: &'a GitName,
    target_of: impl Fn(&GitName) -> Option<&'a RefTarget>,
) -> Option<ObjectId> {
    // git follows five symbolic refs, too.
    for _ in 0..5 {
        match target_of(name)? {
            RefTarget::Object(id) => return Some(*id),
            RefTarget::Symbolic(to) => name = to,
        }
    }
    None
}
