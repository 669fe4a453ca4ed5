//! Checks whether a patch may change these lines. Lines that the patch quotes exactly count as seen; for the rest the
//! ledger decides.

use super::resolve::ResolvedFilePatch;
use crate::files::edit::UnreadPolicy;
use crate::files::edit_errors::{changed, never_read, not_shown, since_read, unshown};
use crate::{HintTool, ToolContext, ToolError, hint};
use placet_text::text::RangeSet;
use placet_text::text::patch::{FilePatchBody, FilePatchKind, NearestMatch, PatchedContent};
use placet_workspace::{Hash, ReadStatus, ResolvedPath, TextFile};
use std::ops::Range;
use std::sync::Arc;

/// The answer of the ledger about a change that is allowed.
#[derive(Debug)]
pub(crate) enum LedgerVerdict {
    Fine,
    /// The file changed after it was read, elsewhere or in a way that the patch itself knows: the diff.
    ChangedSince(String),
}

pub(crate) fn judge(
    env: &ToolContext,
    (at, unread): (&ResolvedPath, UnreadPolicy),
    step: &ResolvedFilePatch,
    bytes: &Arc<Vec<u8>>,
    applied: &PatchedContent,
) -> Result<LedgerVerdict, ToolError> {
    let blind = step.kind == FilePatchKind::Delete && step.patch.hunks().is_empty() && !bytes.is_empty();
    // A binary patch proves the whole content, and a rename alone loses nothing.
    if bytes.is_empty()
        || matches!(step.patch.body, FilePatchBody::Binary(_))
        || step.patch.hunks().is_empty() && !blind
    {
        return Ok(LedgerVerdict::Fine);
    }
    let Ok(file) = TextFile::new(bytes.clone()) else {
        // Binary data is never seen as lines: only what the patch proves may change it.
        return if applied.unproven.is_empty() && !blind {
            Ok(LedgerVerdict::Fine)
        } else {
            Err(data(env, at))
        };
    };
    let index = file.index();
    // For a place between two lines, the line above it decides.
    let touched = |range: &Range<usize>| match range.is_empty() {
        true => range.start.saturating_sub(1)..range.start.max(1).min(index.len()),
        false => range.clone(),
    };
    let mut targets: Vec<Range<usize>> = applied.unproven.iter().map(touched).collect();
    if blind {
        targets.push(0..index.len());
    }
    let hash: Hash = blake3::hash(bytes);
    let path = env.workspace.shown(&at.path);
    let standing =
        env.ledger().read_status(&at.path, bytes, hash, &targets, |l| file.part(index.bytes_of(l)));
    let known = env.ledger().known_now(&at.path, bytes, hash, |l| file.part(index.bytes_of(l)));
    match standing {
        // A line number refers to the file as it was read: after a change by others it refers to another line.
        ReadStatus::Changed(change) if applied.by_number => {
            Err(changed(env, at, &path, &file, hash, &change))
        }
        _ if applied.by_number && !known.foreign.is_empty() => {
            Err(unshown(env, at, &path, (&file, hash), &known.foreign))
        }
        ReadStatus::Seen => Ok(LedgerVerdict::Fine),
        ReadStatus::Never | ReadStatus::Part { .. }
            if targets.is_empty() || unread != UnreadPolicy::Refuse =>
        {
            Ok(LedgerVerdict::Fine)
        }
        ReadStatus::Never => Err(unquoted(never_read(&path))),
        ReadStatus::Part { seen, .. } => {
            let mut touched = RangeSet::new();
            targets.into_iter().for_each(|target| touched.insert(target));
            Err(unquoted(not_shown(&path, &seen, &touched.without(&seen), None)))
        }
        ReadStatus::Unshown(lines) => Err(unshown(env, at, &path, (&file, hash), &lines)),
        ReadStatus::Changed(change) if targets.is_empty() || change.intact => {
            Ok(LedgerVerdict::ChangedSince(since_read(&change, &file).0))
        }
        ReadStatus::Changed(change) => Err(changed(env, at, &path, &file, hash, &change)),
    }
}

/// Why a patch of a file needs that its lines were shown: with context that fits, it does not.
fn unquoted(error: ToolError) -> ToolError {
    let message = format!("the patch does not quote the lines at its place, and {}", error.message);
    ToolError { message, ..error }
}

fn data(env: &ToolContext, at: &ResolvedPath) -> ToolError {
    let name = env.workspace.shown(&at.path);
    let hint = hint!["give the hunk exact context, or remove the file with ", HintTool::RunCommand];
    ToolError::hint(format!("`{name}` contains data, and the patch does not quote what it changes"), hint)
}

/// The lines that an error shows count as seen.
pub(crate) fn told_near(env: &ToolContext, at: &ResolvedPath, bytes: &Arc<Vec<u8>>, near: &NearestMatch) {
    let Ok(file) = TextFile::new(bytes.clone()) else { return };
    let shown = near.shown();
    let lines = shown.start..shown.end.min(file.line_count());
    let hash = blake3::hash(bytes);
    let index = file.index();
    let known = env.ledger().known_now(&at.path, bytes, hash, |l| file.part(index.bytes_of(l))).seen;
    env.ledger().record_shown_change(&at.path, bytes, hash, &known, &RangeSet::of(lines));
}
