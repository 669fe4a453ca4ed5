//! A file's past: the transactions that changed it, under whatever names it had then.
//!
//! The search goes backwards. A file was moved when a transaction created it and deleted another file that had, at some
//! point, the same content; the search then continues under the name of that other file. A copy has no history of its
//! own.

use crate::Hash;
use crate::changes::change_set::ChangeSet;
use crate::files::metadata::path_state::PathState;
use crate::history::journal::{JournalEntry, TransactionKind, TransactionLabel};
use crate::history::origin::OriginStep;
use std::path::{Path, PathBuf};

/// One transaction's share in the file; what is pending comes last and has no number.
#[derive(Debug)]
pub(super) struct FileRevision {
    pub(super) entry: Option<u64>,
    /// Milliseconds since 1970; 0 for what is pending.
    pub(super) at: u64,
    pub(super) label: TransactionLabel,
    pub(super) kind: TransactionKind,
    /// The name it had before.
    pub(super) path: PathBuf,
    pub(super) before: PathState,
    pub(super) after: PathState,
    pub(super) steps: Vec<OriginStep>,
}

/// Oldest first.
#[derive(Debug, Default)]
pub(super) struct FileHistory(pub(super) Vec<FileRevision>);

/// One path's change in a transaction, whatever the path is.
struct PathRevision {
    path: PathBuf,
    before: PathState,
    after: PathState,
    steps: Vec<OriginStep>,
}

impl FileHistory {
    pub(super) fn of(path: &Path, set: &ChangeSet, entries: &[JournalEntry]) -> FileHistory {
        let mut past = Vec::new();
        let mut name = path.to_path_buf();
        let pending = |name: &Path| {
            let change = set.get(name)?;
            let (before, after, steps) =
                (change.before.to_state(), change.after.to_state(), change.steps.to_vec());
            Some(PathRevision { path: name.to_path_buf(), before, after, steps })
        };
        if let Some(share) = pending(&name) {
            let share = moved(share, set.changes.iter().map(|c| &*c.path), pending);
            name.clone_from(&share.path);
            past.push(moment(share, None));
        }
        for entry in entries.iter().rev() {
            let landed = |name: &Path| {
                let change = entry.changes.iter().find(|c| *c.path == *name)?;
                let (before, after) = (change.before.to_state(), change.after.to_state());
                Some(PathRevision { path: name.to_path_buf(), before, after, steps: entry.steps(change) })
            };
            let Some(share) = landed(&name) else { continue };
            let share = moved(share, entry.changes.iter().map(|c| &*c.path), landed);
            name.clone_from(&share.path);
            past.push(moment(share, Some(entry)));
        }
        past.reverse();
        FileHistory(past)
    }
}

fn moment(share: PathRevision, entry: Option<&JournalEntry>) -> FileRevision {
    let PathRevision { path, before, after, steps } = share;
    FileRevision {
        entry: entry.map(|e| e.id),
        at: entry.map_or(0, |e| e.at),
        label: entry.map(|e| e.label.clone()).unwrap_or_default(),
        kind: entry.map_or(TransactionKind::Apply, |e| e.kind.clone()),
        path,
        before,
        after,
        steps,
    }
}

/// `share` with the past of the file that it was before, if its transaction moved one here.
fn moved<'a>(
    share: PathRevision,
    paths: impl Iterator<Item = &'a Path>,
    of: impl Fn(&Path) -> Option<PathRevision>,
) -> PathRevision {
    if !share.before.is_absent() || !share.after.is_file() {
        return share;
    }
    let had: Vec<Hash> = contents(&share).collect();
    let gone = paths.filter_map(of).filter(|other| other.before.is_file() && other.after.is_absent());
    let from = gone.filter(|other| other.before.size() > 0 && contents(other).any(|c| had.contains(&c)));
    // Of several files with the same content, the file with the most similar name.
    let alike = |other: &PathRevision| {
        let (one, two) = (other.path.components().rev(), share.path.components().rev());
        one.zip(two).take_while(|(a, b)| a == b).count()
    };
    let Some(mut from) = from.max_by_key(alike) else { return share };
    // Its last step took it away from there.
    from.steps.pop();
    from.steps.extend(share.steps);
    PathRevision { after: share.after, ..from }
}

/// Every content that a path is known to have had, without the empty one.
fn contents(share: &PathRevision) -> impl Iterator<Item = Hash> {
    let ends = [share.before.hash(), share.after.hash()].into_iter().flatten();
    ends.chain(share.steps.iter().filter_map(|s| s.content)).filter(|hash| *hash != blake3::hash(b""))
}
