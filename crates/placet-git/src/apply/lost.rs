//! What loses its last name in a change is packed into the journal, so that a `git gc` cannot make an undo impossible.

use super::journal::ApplyJournal;
use crate::clean_directory::CleanDirectory;
use crate::error::{GitError, Result};
use crate::limit;
use crate::quarantine::{existing, lines, object_count, store};
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
    let there = existing(&copy.path, &before, &PlainRunner)?;
    let lost: BTreeSet<_> = there.into_iter().filter(|id| !after.contains(id)).collect();
    if lost.is_empty() {
        return Ok(());
    }
    // What the refs that stay lead to is not lost.
    let stays = now.refs.iter().filter(|(name, _)| !change.refs.contains_key(*name));
    let stays = stays.filter_map(|(_, target)| target.object());
    let kept: Vec<_> = after.iter().copied().chain(stays).take(limit::EXCLUDED_TIPS).collect();
    let kept: Vec<_> = existing(&copy.path, &kept, &PlainRunner)?.into_iter().collect();
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
    if pack.exists() { store(git_dir, &pack, &PlainRunner) } else { Ok(()) }
}
