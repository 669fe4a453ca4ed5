//! Pending changes of a repository that moved on in the workspace in the meantime. Where their commits are on top of what the
//! repository is now, they count from then on as changes of that: an apply of them is a fast-forward, and loses nothing.

use super::base::BaseRecord;
use super::followed_files::{FollowBlock, is_followed_ref, is_log, is_rewritten};
use super::git_events::{PendingFiles, WorkspaceFiles};
use super::git_state::{is_state, scan};
use super::repository_move::state_repositories;
use super::stack::node_at;
use super::stage::StagedEntry;
use super::{LayerKind, View};
use crate::workspace::changes::change_set::{ChangeSet, FileChange};
use crate::workspace::changes::classify::ChangeClasses;
use crate::workspace::files::open::open_regular;
use crate::workspace::files::path_state::PathState;
use crate::workspace::repository::git_reader::{
    GitSides, MovedRef, are_on_top, consent_deadline, index_is_on_top,
};
use rustix::fs::OFlags;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// Files of an operation that is not finished: its command continues from the state at which it stopped.
const UNFINISHED: [&str; 6] =
    ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "sequencer"];
/// A ref is one short line; what is longer, or no regular file, is none.
const LARGEST_REF: u64 = 4096;
/// The largest reflog that is joined.
const LARGEST_LOG: u64 = 16 << 20;

/// What becomes of the records of a repository: `None` for a change that the workspace has already.
type FollowedRecords = BTreeMap<Arc<Path>, Option<(BaseRecord, StagedEntry)>>;

impl View {
    /// Pending changes of each repository that are on top of what it is now count from now on as changes of that. Returns true
    /// where there were any: then `set` is not what is pending any more.
    pub(super) fn follow_repositories(&self, set: &ChangeSet, classes: &ChangeClasses) -> io::Result<bool> {
        if set.repositories.is_empty() {
            return Ok(false);
        }
        let mut followed = FollowedRecords::new();
        for repository in state_repositories(set, classes) {
            if self.move_under(set, &repository).is_some() {
                followed.extend(self.follow(set, &repository)?.unwrap_or_default());
            }
        }
        if followed.is_empty() {
            return Ok(false);
        }
        self.claim()?;
        let bases: Vec<BaseRecord> = self.layer_set(LayerKind::Pending).bases().iter().collect();
        let mut keep = Vec::with_capacity(bases.len());
        for base in bases {
            match followed.remove(&base.path) {
                Some(record) => keep.extend(record),
                None => keep.push((base, StagedEntry::Keep)),
            }
        }
        // What is new in the repository has no record yet.
        keep.extend(followed.into_values().flatten());
        keep.sort_by(|(a, _), (b, _)| a.path.cmp(&b.path));
        self.rebuild(keep)?;
        Ok(true)
    }

    /// The records with which the pending changes of a repository are changes of what it is now.
    pub(super) fn follow(
        &self,
        set: &ChangeSet,
        repository: &Path,
    ) -> io::Result<Result<FollowedRecords, FollowBlock>> {
        const OTHER: io::Result<Result<FollowedRecords, FollowBlock>> = Ok(Err(FollowBlock::Other));
        let own = || set.changes.iter().filter(|change| change.path.starts_with(repository));
        // A command that removed objects did not know which of them the new commits need.
        let removes_object = |path: &Path| set.repositories.is_object(path);
        if own().any(|c| c.before.is_file() && c.after.is_absent() && removes_object(&c.path))
            || UNFINISHED.iter().any(|name| repository.join(name).symlink_metadata().is_ok())
        {
            return OTHER;
        }
        let scan = scan(repository)?;
        if scan.lock().is_some() {
            return OTHER;
        }
        let (mut followed, mut on_top) = (FollowedRecords::new(), Vec::new());
        let (mut has_moved_branch, mut has_moved_index) = (false, false);
        let bases = self.layer_set(LayerKind::Pending).bases().iter().collect::<Vec<_>>();
        let known = |path: &Path| bases.binary_search_by(|base| (*base.path).cmp(path)).is_ok();
        for path in scan.state.iter().filter(|path| !known(path)) {
            let rel = path.strip_prefix(repository).unwrap_or(&path);
            let is_ref = is_followed_ref(rel)
                && path.symlink_metadata().is_ok_and(|file| file.is_file() && file.len() <= LARGEST_REF);
            if !is_ref || self.has(LayerKind::Pending, &path) && set.get(&path).is_some() {
                return OTHER;
            }
            // It may have been in `packed-refs`, and `HEAD` may lead to it now.
            has_moved_branch |= rel.starts_with("refs/heads");
            let now = node_at(&path)?;
            self.store_state(&path, &now);
            let path: Arc<Path> = path.as_path().into();
            followed.insert(Arc::clone(&path), Some((BaseRecord::of(path, now), StagedEntry::Keep)));
        }
        for base in bases.iter().filter(|base| base.path.starts_with(repository)) {
            let path = Arc::clone(&base.path);
            let rel = path.strip_prefix(repository).unwrap_or(&path);
            let now = node_at(&path)?;
            if !base.raced && now == *base.node {
                continue;
            }
            let change = set.get(&path);
            if change.is_some_and(|change| *change.after == now) {
                // `packed-refs` of the changes has a ref whose file git packed, and somebody deleted it.
                if now.is_absent()
                    && is_followed_ref(rel)
                    && set.get(&repository.join("packed-refs")).is_some()
                {
                    return OTHER;
                }
                followed.insert(path, None);
                continue;
            }
            let same =
                |put| Some((BaseRecord { node: now.clone().into(), raced: false, ..base.clone() }, put));
            let is_loose_object = set.repositories.is_object(&path)
                && !set.repositories.is_object_store(&path)
                && now.is_file();
            let record = if is_loose_object && base.node.is_absent() {
                // An object has the name of its content: the workspace has it already.
                None
            } else if is_followed_ref(rel) {
                // A tag does not move on: it is a name that the person gave, or moved.
                if !now.is_file() || change.is_some() && rel.starts_with("refs/tags") {
                    return OTHER;
                }
                has_moved_branch |= rel.starts_with("refs/heads");
                if change.is_some() {
                    let Ok(then) = self.stored_base(base) else { return OTHER };
                    on_top.push(MovedRef { name: rel.to_path_buf(), then });
                }
                same(StagedEntry::Keep)
            } else if rel == Path::new("index") {
                if !base.raced && self.says_the_same(&base.node, &path)? {
                    continue;
                }
                has_moved_index = true;
                same(StagedEntry::Keep)
            } else if is_log(rel) && change.is_some() {
                let Some(joined) = self.joined_log(base, &now)? else { return OTHER };
                let attrs = change.and_then(|change| change.after.attrs().cloned()).unwrap_or_default();
                same(StagedEntry::File(joined, attrs))
            } else if is_rewritten(rel) && now.is_file() {
                same(StagedEntry::Keep)
            } else if is_state(repository, &path) || set.repositories.is_object(&path) && now.is_file() {
                return OTHER;
            } else {
                // Settings and the like are merged, or in conflict, as any file.
                continue;
            };
            self.store_state(&path, &now);
            followed.insert(path, record);
        }
        let (before, after) = (WorkspaceFiles(self), PendingFiles(self));
        let sides = GitSides::of(repository, (&before, &after), &[], consent_deadline());
        if !are_on_top(&sides, &on_top) {
            return Ok(Err(FollowBlock::NotOnTop));
        }
        let is_changed = |name: &str| set.get(&repository.join(name)).is_some();
        // That of a linked worktree or a submodule, too.
        let is_head = |rel: &Path| {
            rel.ends_with("HEAD")
                && !rel.components().any(|part| part.as_os_str() == "logs" || part.as_os_str() == "refs")
        };
        let is_unfinished =
            |rel: &Path| rel.components().any(|part| UNFINISHED.iter().any(|name| part.as_os_str() == *name));
        let binds_branch = |change: &FileChange| {
            let rel = change.path.strip_prefix(repository).unwrap_or(&change.path);
            is_head(rel) || !change.after.is_absent() && is_unfinished(rel)
        };
        // The work tree of a branch that is checked out, and the place to which an abort returns, are those of then.
        if has_moved_branch && own().any(binds_branch) {
            return OTHER;
        }
        // Where no change takes its place, the index stays the person's.
        if (has_moved_branch || has_moved_index) && (is_changed("index") || is_changed("HEAD")) {
            let ref_then = |name: &Path| self.content_then(&bases, &repository.join(name)).ok().flatten();
            let then = self.content_then(&bases, &repository.join("index"));
            if !then.is_ok_and(|then| index_is_on_top(&sides, then.as_deref(), &ref_then)) {
                return OTHER;
            }
        }
        Ok(Ok(followed))
    }

    /// The content of the file at `path` when the command ran; `None` where there was none, or no record of one.
    pub(super) fn content_then(&self, bases: &[BaseRecord], path: &Path) -> io::Result<Option<Vec<u8>>> {
        let base = bases.binary_search_by(|base| (*base.path).cmp(path)).ok().and_then(|at| bases.get(at));
        base.map_or(Ok(None), |base| self.stored_base(base))
    }

    fn stored_base(&self, base: &BaseRecord) -> io::Result<Option<Vec<u8>>> {
        match base.node.hash() {
            Some(hash) => self.objects().get(hash).map(Some).map_err(io::Error::other),
            None if base.node.is_absent() => Ok(None),
            None => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// True where both the person and the pending changes did nothing to a reflog but to add lines since the command began.
    pub(super) fn only_adds_to_log(&self, path: &Path) -> bool {
        let base = self.layer_set(LayerKind::Pending).bases().get(path);
        let joined = base.map(|base| self.joined_log(&base, &node_at(path)?));
        matches!(joined, Some(Ok(Some(_))))
    }

    /// The reflog of the workspace, and the lines that the changes add to it. `None` where either did more than to add lines.
    fn joined_log(&self, base: &BaseRecord, now: &PathState) -> io::Result<Option<Vec<u8>>> {
        let Some((index, rel)) = self.locate(&base.path) else { return Ok(None) };
        let Ok(then) = self.stored_base(base) else { return Ok(None) };
        let then = then.unwrap_or_default();
        let Ok(opened) = open_regular(&base.path, OFlags::RDONLY) else { return Ok(None) };
        // The changes may have a directory there.
        let Ok(pending) = self.stack(index, 1).open(&rel) else { return Ok(None) };
        let (mut log, mut added) = (Vec::new(), Vec::new());
        opened.file.take(LARGEST_LOG).read_to_end(&mut log)?;
        pending.take(LARGEST_LOG).read_to_end(&mut added)?;
        if Some(blake3::hash(&log)) != now.hash() || !log.starts_with(&then) {
            return Ok(None);
        }
        let Some(lines) = added.strip_prefix(then.as_slice()) else { return Ok(None) };
        log.extend_from_slice(lines);
        Ok(Some(log))
    }

    /// Stored, so that an index written again can be distinguished from one that says something else.
    fn store_state(&self, path: &Path, node: &PathState) {
        if let PathState::File { hash, size, .. } = node
            && let Ok(opened) = open_regular(path, OFlags::RDONLY)
        {
            let mut content = opened.file;
            drop(self.objects().put_file(&mut content, *hash, *size));
        }
    }
}
