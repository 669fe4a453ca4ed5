//! The rows of one repository.

use super::budget::{ReadBudget, ReadDeadline, ReadLimit};
use super::event::{GitEvent, IndexNotRead};
use super::git_index::read_index;
use super::index_changes::index_events;
use super::object_id::ObjectId;
use super::object_store::ObjectReader;
use super::ref_changes::{RepositorySide, ref_events};
use super::refs::{LARGEST_LOG, RefReader};
use super::repository_files::{RepositoryFiles, exists, read};
use super::sparse_directories;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A repository in its two states.
pub(in crate::workspace) struct GitSides<'a> {
    /// Its directory, absolute. That of a linked worktree lies in another repository.
    pub(in crate::workspace) dir: &'a Path,
    pub(in crate::workspace) before: &'a dyn RepositoryFiles,
    pub(in crate::workspace) after: &'a dyn RepositoryFiles,
    /// The files in `dir` that differ, and in no repository below it; each with whether it is gone afterwards.
    pub(in crate::workspace) changed: &'a [(&'a Path, bool)],
    /// Those of them that hold one object, where `changed` is without them.
    pub(in crate::workspace) loose_objects: &'a [&'a Path],
    /// When reading ends, for all repositories of the list.
    pub(in crate::workspace) deadline: ReadDeadline,
}

/// Operations of git that take several commands, by the file that is there while they last.
const OPERATIONS: [(&str, &str); 6] = [
    ("MERGE_HEAD", "merge"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
];
/// What happened to the repository, in the order in which it is shown.
pub(in crate::workspace) fn compare(sides: &GitSides<'_>) -> Vec<GitEvent> {
    let budget = ReadBudget::new(sides.deadline);
    let common = common_dir(sides.after, sides.dir);
    let old_common = common_dir(sides.before, sides.dir);
    let (Some(common), Some(old_common)) = (common, old_common) else {
        return vec![GitEvent::ObjectsElsewhere("its objects are in another repository")];
    };
    let touches = |dir: &str| {
        let dir = sides.dir.join(dir);
        sides.changed.iter().any(|(path, _)| path.starts_with(&dir))
    };
    let mut events = Vec::new();
    if touches("reftable") {
        events.push(GitEvent::RefsNotRead("they are in the reftable format"));
    }
    let refs_before = RefReader::new(sides.before, sides.dir, &old_common);
    let refs_after = RefReader::new(sides.after, sides.dir, &common);
    let width = width(&[&refs_after, &refs_before]);
    let before = RepositorySide {
        objects: ObjectReader::new(sides.before, &old_common, width, &budget),
        refs: refs_before,
    };
    let after =
        RepositorySide { objects: ObjectReader::new(sides.after, &common, width, &budget), refs: refs_after };
    let refs = sides.dir.join("refs");
    let loose: BTreeSet<&Path> = sides
        .changed
        .iter()
        .map(|(path, _)| *path)
        .filter(|path| path.starts_with(&refs) && path.extension().is_none_or(|end| end != "lock"))
        .filter_map(|path| path.strip_prefix(sides.dir).ok())
        .collect();
    if !loose.is_empty() || ["HEAD", "packed-refs"].iter().any(|name| touches(name)) {
        let found = ref_events(&before, &after, loose, &budget);
        let is_packed = found.is_empty() && touches("packed-refs");
        events.extend(found);
        events.extend(is_packed.then_some(GitEvent::RefsPacked));
    }
    events.extend(stash(sides));
    events.extend(operations(sides));
    if touches("index") {
        events.extend(index(sides, &before, &after, width, &budget));
    }
    events.extend(repacked(sides));
    events.extend(reflogs(sides, &after, &budget));
    events.extend(locks(sides));
    let needs_objects =
        events.iter().any(|event| matches!(event, GitEvent::RefMoved { .. } | GitEvent::RefCreated { .. }));
    if needs_objects && exists(sides.after, &common.join("objects/info/alternates")) {
        events.push(GitEvent::ObjectsElsewhere("it borrows objects from the places that alternates names"));
    }
    events.extend(budget.reached().into_iter().map(ReadLimit::words).map(GitEvent::NotAllRead));
    events
}

/// Locks that are new.
fn locks(sides: &GitSides<'_>) -> impl Iterator<Item = GitEvent> {
    let is_new = |path: &Path| {
        path.extension().is_some_and(|end| end == "lock")
            && exists(sides.after, path)
            && !exists(sides.before, path)
    };
    let new = sides.changed.iter().filter(move |(path, is_gone)| !is_gone && is_new(path));
    new.filter_map(|(path, _)| Some(GitEvent::LockLeft(path.strip_prefix(sides.dir).ok()?.to_path_buf())))
}

/// Where refs and objects are: the directory itself or, for a linked worktree in its usual place, the repository around
/// it. `None` for any other place: what a repository names may be anybody's.
pub(super) fn common_dir(files: &dyn RepositoryFiles, dir: &Path) -> Option<PathBuf> {
    match read(files, &dir.join("commondir"), 4 << 10) {
        None => Some(dir.to_path_buf()),
        Some(text) if text.trim_ascii() == b"../.." => Some(dir.parent()?.parent()?.to_path_buf()),
        Some(_) => None,
    }
}

/// Bytes of an object's name, as the refs have them: all names of a repository have the same.
pub(super) fn width(refs: &[&RefReader<'_>]) -> usize {
    let of = |refs: &&RefReader<'_>| {
        let id = refs.head_commit().or_else(|| refs.packed()?.any());
        id.as_ref().map(ObjectId::width)
    };
    refs.iter().find_map(of).unwrap_or(20)
}

fn lines(files: &dyn RepositoryFiles, path: &Path) -> Option<Vec<u8>> {
    match exists(files, path) {
        true => read(files, path, LARGEST_LOG),
        false => Some(Vec::new()),
    }
}

/// Entries of `git stash list`. When one goes, git writes another old commit into the entry after it, so the first word of
/// a line does not count.
fn stash(sides: &GitSides<'_>) -> Option<GitEvent> {
    let log = sides.dir.join("logs/refs/stash");
    let (before, after) = (lines(sides.before, &log)?, lines(sides.after, &log)?);
    let entries = |text: &'_ [u8]| -> BTreeSet<Vec<u8>> {
        let entry = |line: &[u8]| Some(line.get(memchr::memchr(b' ', line)?..)?.to_vec());
        text.split(|byte| *byte == b'\n').filter_map(entry).collect()
    };
    let (old, new) = (entries(&before), entries(&after));
    let (added, removed) = (new.difference(&old).count(), old.difference(&new).count());
    (added + removed > 0).then_some(GitEvent::Stash { added, removed })
}

fn operations(sides: &GitSides<'_>) -> Vec<GitEvent> {
    let there = |files| -> BTreeSet<&'static str> {
        let has = |(file, _): &&(&str, &str)| exists(files, &sides.dir.join(file));
        OPERATIONS.iter().filter(has).map(|(_, name)| *name).collect()
    };
    let (before, after) = (there(sides.before), there(sides.after));
    let ended = before.difference(&after).map(|name| GitEvent::Operation { name, in_progress: false });
    let begun = after.difference(&before).map(|name| GitEvent::Operation { name, in_progress: true });
    begun.chain(ended).collect()
}

fn index(
    sides: &GitSides<'_>,
    before: &RepositorySide<'_>,
    after: &RepositorySide<'_>,
    width: usize,
    budget: &ReadBudget,
) -> Vec<GitEvent> {
    // Such a HEAD names no commit that could be compared with.
    if [before, after].iter().any(|side| side.refs.is_reftable()) {
        return vec![GitEvent::IndexNotRead(IndexNotRead::Reftable)];
    }
    let read = |files| read_index(files, sides.dir, width);
    let (mut old, mut new) = match (read(sides.before), read(sides.after)) {
        (Ok(old), Ok(new)) => (old, new),
        (Err(why), _) | (_, Err(why)) => return vec![GitEvent::IndexNotRead(why)],
    };
    let heads = (before.refs.head_commit(), after.refs.head_commit());
    let objects = (&before.objects, &after.objects);
    if let Err(why) = sparse_directories::expand_differing((&mut old, &mut new), objects, budget) {
        return vec![GitEvent::IndexNotRead(why)];
    }
    index_events((&old.entries, &new.entries), heads, objects, budget)
}

/// Objects that went into packs. That none is lost is looked at elsewhere, by their names.
fn repacked(sides: &GitSides<'_>) -> Option<GitEvent> {
    let objects = sides.dir.join("objects");
    sides.changed.iter().find(|(path, is_gone)| *is_gone && path.starts_with(&objects))?;
    let is_hex = |name: &OsString, length: usize| {
        name.len() == length && name.as_encoded_bytes().iter().all(u8::is_ascii_hexdigit)
    };
    let counts = |files: &dyn RepositoryFiles| {
        let dirs = files.names(&objects).into_iter().filter(|name| is_hex(name, 2));
        let loose = dirs.map(|dir| files.names(&objects.join(dir)).len()).sum::<usize>();
        let packs = files.names(&objects.join("pack")).into_iter();
        (loose, packs.filter(|name| Path::new(name).extension() == Some("pack".as_ref())).count())
    };
    let ((old_loose, old_packs), (loose, packs)) = (counts(sides.before), counts(sides.after));
    let differs = (old_loose, old_packs) != (loose, packs);
    differs.then_some(GitEvent::Repacked { loose: (old_loose, loose), packs: (old_packs, packs) })
}

/// Reflogs whose old entries are gone, while the ref is there.
fn reflogs(sides: &GitSides<'_>, after: &RepositorySide<'_>, budget: &ReadBudget) -> Vec<GitEvent> {
    let logs = sides.dir.join("logs");
    let changed = sides.changed.iter().filter_map(|(path, _)| path.strip_prefix(&logs).ok());
    let mut events = Vec::new();
    for name in changed.filter(|name| *name != Path::new("refs/stash")).take_while(|_| budget.has_time()) {
        let is_there = name == Path::new("HEAD") || after.refs.get(name).is_some();
        let path = logs.join(name);
        let (Some(old), Some(new)) = (lines(sides.before, &path), lines(sides.after, &path)) else {
            continue;
        };
        if !is_there || new.starts_with(&old) {
            continue;
        }
        let kept = old.split(|b| *b == b'\n').filter(|line| !line.is_empty());
        let left: BTreeSet<&[u8]> = new.split(|byte| *byte == b'\n').collect();
        let entries = kept.filter(|line| !left.contains(line)).count();
        if entries > 0 {
            events.push(GitEvent::ReflogEntriesRemoved { name: name.to_path_buf(), entries });
        }
    }
    events
}
