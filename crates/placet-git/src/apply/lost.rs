//! What loses its last name in a change is packed into the journal, so that a `git gc` cannot make an undo impossible.

use super::journal::ApplyJournal;
use crate::clean_directory::CleanDirectory;
use crate::error::{GitError, Result};
use crate::git_name::GitName;
use crate::limit;
use crate::quarantine::{lines, object_count, store, stored};
use crate::repository_move::RepositoryMove;
use crate::runner::{GitCall, PlainRunner, run_one};
use crate::state::RepositoryState;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const FILE: &str = "lost.pack";

pub(super) fn keep(
    change: &RepositoryMove,
    now: &RepositoryState,
    copy: &CleanDirectory,
    journal: &ApplyJournal,
) -> Result<()> {
    let (before, after) = change.objects();
    if before.is_empty() {
        return Ok(());
    }
    let there = stored(&copy.path, &before, &PlainRunner)?;
    let lost: BTreeSet<_> = there.into_keys().filter(|id| !after.contains(id)).collect();
    if lost.is_empty() {
        return Ok(());
    }
    // What a checkout, a tag or a remote branch leads to is not lost. A branch beside them may go, too, before the undo.
    let is_firm = |name: &GitName| name.starts_with("refs/tags/") || name.starts_with("refs/remotes/");
    let stays = now.refs.iter().filter(|(name, _)| is_firm(name) && !change.refs.contains_key(*name));
    let heads = now.checkouts.keys().filter_map(|name| now.head_commit(name)).filter(|id| !lost.contains(id));
    let stays = heads.chain(stays.filter_map(|(_, target)| target.object()));
    let kept: Vec<_> = after.iter().copied().chain(stays).take(limit::EXCLUDED_TIPS).collect();
    let kept: Vec<_> = stored(&copy.path, &kept, &PlainRunner)?.into_keys().collect();
    let mut input = lines(&lost.into_iter().collect::<Vec<_>>(), "");
    input.extend(lines(&kept, "^"));
    let pack = journal.directory().join(FILE);
    let mut args = vec!["pack-objects", "--revs", "--stdout", "-q", "--delta-base-offset", "--window=0"];
    args.extend(now.format.promisor.is_some().then_some("--exclude-promisor-objects"));
    run_one(&PlainRunner, GitCall::new(&copy.path, args).transfer().input(input).output_file(&pack))?;
    if object_count(&pack)? == 0 {
        fs::remove_file(&pack).map_err(GitError::io("remove", &pack))?;
    }
    Ok(())
}

/// Brings back what the journal of a change kept.
pub(super) fn restore(applied: &Path, git_dir: &Path) -> Result<()> {
    let pack = applied.join(FILE);
    if pack.exists() {
        run_one(&PlainRunner, store(git_dir, &pack)?)?;
    }
    Ok(())
}
