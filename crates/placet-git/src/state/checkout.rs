//! The main work tree and linked ones: each has a `HEAD`, an index and a few refs of its own.

use super::{IndexState, RefTarget, RefsState};
use crate::git_name::GitName;
use crate::object_id::ObjectId;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Which work tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "GitName", from = "GitName")]
pub enum CheckoutName {
    Main,
    /// By its name below `worktrees/`.
    Linked(GitName),
}

impl From<CheckoutName> for GitName {
    fn from(name: CheckoutName) -> GitName {
        match name {
            CheckoutName::Main => GitName::default(),
            CheckoutName::Linked(name) => name,
        }
    }
}

impl From<GitName> for CheckoutName {
    fn from(name: GitName) -> CheckoutName {
        if name.as_bytes().is_empty() { CheckoutName::Main } else { CheckoutName::Linked(name) }
    }
}

impl CheckoutName {
    /// Its git directory, below the common one.
    #[must_use]
    pub fn directory(&self) -> PathBuf {
        match self {
            CheckoutName::Main => PathBuf::new(),
            CheckoutName::Linked(name) => Path::new("worktrees").join(name.as_path()),
        }
    }
}

/// Where `HEAD` is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Head {
    /// A ref, which does not exist on an unborn branch.
    Branch(GitName),
    Detached(ObjectId),
}

impl Head {
    /// What `HEAD` names, as a ref.
    pub(crate) fn target(&self) -> RefTarget {
        match self {
            Head::Branch(branch) => RefTarget::Symbolic(branch.clone()),
            Head::Detached(id) => RefTarget::Object(*id),
        }
    }
}

/// One checkout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckoutState {
    pub head: Head,
    #[serde(skip)]
    pub own_refs: RefsState,
    #[serde(skip)]
    pub index: IndexState,
}

/// The branch that `HEAD` names.
pub(crate) fn branch_of(head: Option<&Head>) -> Option<&GitName> {
    match head? {
        Head::Branch(name) => Some(name),
        Head::Detached(_) => None,
    }
}
