//! Makes the list of stash entries what it has to be: entries are pushed on top where that is enough.

use super::place::ApplyPlace;
use super::transaction::run_guarded;
use crate::error::Result;
use crate::repository_move::{Moved, RepositoryMove};
use crate::state::{STASH, StashEntry};
use std::path::Path;

pub(super) fn write(
    place: ApplyPlace<'_>,
    (git_dir, guard): (&Path, &Path),
    now: &[StashEntry],
    after: &[StashEntry],
) -> Result<()> {
    // The newest is first: entries below what changes stay as they are, with their times.
    let added = after.len().saturating_sub(now.len());
    let is_push = after.get(added..) == Some(now);
    let (pushed, mut top) = if is_push { (after.get(..added), now.first()) } else { (Some(after), None) };
    if !is_push && let Some(old) = now.first() {
        run_guarded(&place.call(git_dir, &["update-ref", "-d", STASH, &old.id.to_string()]), guard)?;
    }
    for entry in pushed.into_iter().flatten().rev() {
        let old = top.map(|old| old.id.to_string()).unwrap_or_default();
        let mut call = place.call(git_dir, &["update-ref", "--create-reflog", "-m"]);
        let message =
            if entry.message.as_bytes().is_empty() { "stash".as_ref() } else { entry.message.as_os_str() };
        call.args.push(message.to_os_string());
        call.args.extend([STASH.into(), entry.id.to_string().into(), old.into()]);
        run_guarded(&call, guard)?;
        top = Some(entry);
    }
    Ok(())
}

/// A list that was being written has the oldest entries of the old or of the new one.
pub(super) fn interrupted(change: &RepositoryMove, now: &[StashEntry]) -> Option<Moved<Vec<StashEntry>>> {
    let Moved { before, after } = change.stash.as_ref()?;
    let (before, after) = (before.as_deref().unwrap_or_default(), after.as_deref().unwrap_or_default());
    let is_part = now != before && now != after && (before.ends_with(now) || after.ends_with(now));
    is_part.then(|| Moved { before: Some(now.to_vec()), after: Some(after.to_vec()) })
}
