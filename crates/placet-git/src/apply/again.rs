//! What an applied change is compared with what the repository is now: before an undo, and before a redo.

use crate::compare::Comparison;
use crate::error::Result;
use crate::git_file::{GitFileClass, class_of};
use crate::git_name::GitName;
use crate::repository_move::RepositoryMove;
use crate::runner::PlainRunner;
use crate::source::PlainSource;
use crate::state::{CheckoutName, CheckoutState, RepositoryState};
use std::path::Path;

/// Compares an applied change with what the repository is now.
///
/// `applied` is the change, several changes as one by [`RepositoryMove::then`], and `scratch` a directory that does not
/// exist yet.
pub fn undo_question(applied: &RepositoryMove, git_dir: &Path, scratch: &Path) -> Result<Comparison> {
    let now = RepositoryState::read(&PlainSource::new(git_dir), scratch, &PlainRunner)?;
    Ok(Comparison::again(&applied.inverse(), &now))
}

/// True where a repository that was made has refs, stash entries, staged files, files of an operation or a place of `HEAD` that
/// the changes did not give it: `made`, as one by [`RepositoryMove::then`], or nothing but the new directory.
pub fn has_more(made: Option<&RepositoryMove>, git_dir: &Path, scratch: &Path) -> Result<bool> {
    let now = RepositoryState::read(&PlainSource::new(git_dir), scratch, &PlainRunner)?;
    let nothing = RepositoryMove::nothing(now.format.clone());
    let made = made.unwrap_or(&nothing);
    let is_made = |name: &CheckoutName, checkout: &CheckoutState| {
        let made = made.checkouts.get(name);
        let index = |path: &GitName| made.and_then(|made| made.index.get(path)?.after.as_ref());
        let head = made.and_then(|made| made.head.as_ref()?.after.as_ref());
        checkout.index.iter().all(|(path, entries)| index(path) == Some(entries))
            && checkout.own_refs.is_empty()
            && head.is_none_or(|head| *head == checkout.head)
            && (made.is_some() || *name == CheckoutName::Main)
    };
    let stash = made.stash.as_ref().and_then(|stash| stash.after.as_ref());
    let is_operation = |name: &GitName| matches!(class_of(name), GitFileClass::Operation(_));
    let is_all =
        now.refs.iter().all(|(name, target)| {
            made.refs.get(name).is_some_and(|moved| moved.after.as_ref() == Some(target))
        }) && now.checkouts.iter().all(|(name, checkout)| is_made(name, checkout))
            && (now.stash.is_empty() || stash == Some(&now.stash))
            && now.files.named.keys().all(|name| !is_operation(name) || made.files.contains_key(name));
    Ok(!is_all)
}
