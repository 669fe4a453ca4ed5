//! The rows of one repository.

use super::budget::{ReadBudget, ReadLimit};
use super::event::{GitEvent, IndexNotRead};
use super::git_index::read_index;
use super::git_sides::{GitSides, RepositorySide, common_dir, width};
use super::head_trees::HeadTrees;
use super::index_changes::{IndexSides, index_events, not_compared};
use super::lfs_objects::lfs_event;
use super::object_id::ObjectId;
use super::object_store::ObjectReader;
use super::operations::Operations;
use super::peeled_refs::wrongly_peeled;
use super::person_identity::PersonIdentity;
use super::ref_changes::ref_events;
use super::refs::{LARGEST_LOG, RefReader};
use super::removed_worktrees::removed_worktrees;
use super::repository_files::{RepositoryFiles, exists, read};
use super::sparse_directories;
use super::staged_losses::staged_losses;
use super::stash_changes::StashChanges;
use super::stored_content::{named_events, named_objects};
use super::unexplained_files::unexplained_events;
use super::unnoticed_changes::UnnoticedChanges;
use super::unreached_objects::{ReachedRoots, unreached_events};
use crate::workspace::repository::git_files::GitFileKind;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Files that a row names where there is no other row.
const MOST_NAMED: usize = 3;
/// Objects in new lines of reflogs that are looked at.
const MOST_LOGGED: usize = 2_000;

/// What happened to the repository, in the order in which it is shown.
pub(in crate::workspace) fn compare(sides: &GitSides<'_>) -> Vec<GitEvent> {
    let budget = ReadBudget::new(sides.deadline);
    let common = common_dir(sides.after, sides.dir);
    // A worktree that is new has the objects and refs of the repository that was there.
    let is_new = !exists(sides.before, sides.dir);
    let old_common = if is_new { common.clone() } else { common_dir(sides.before, sides.dir) };
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
    let (before, after, width) = both_sides(sides, (&old_common, &common), &budget);
    let refs = sides.dir.join("refs");
    let loose: BTreeSet<&Path> = sides
        .changed
        .iter()
        .map(|(path, _)| *path)
        .filter(|path| path.starts_with(&refs) && path.extension().is_none_or(|end| end != "lock"))
        .filter_map(|path| path.strip_prefix(sides.dir).ok())
        .collect();
    let stash = Path::new("refs/stash");
    let tips = match common == sides.dir {
        true => (before.refs.get(stash), after.refs.get(stash)),
        false => (None, None),
    };
    let mut stashes = match touches("logs/refs/stash") || tips.0 != tips.1 {
        true => StashChanges::find(sides, tips),
        false => StashChanges::default(),
    };
    stashes.add_lost_autostashes(sides, &common);
    let named = named_objects(sides, (&before, &after), width, &budget);
    // Commits that no branch or tag has: those on which stash entries were made, and those in files of git.
    let bases = stashes.bases(&after.objects).into_iter().map(|id| (PathBuf::from("refs/stash"), id));
    let mut others: Vec<(PathBuf, ObjectId)> =
        bases.chain(named.iter().map(|named| (named.file.clone(), named.id))).collect();
    let mut roots: Vec<ObjectId> = others.iter().map(|(_, id)| *id).chain(stashes.ids().to_vec()).collect();
    // `git checkout -` takes a commit from there. What is new has a row of its own below.
    let (stored, logged): (Vec<_>, Vec<_>) =
        logged_objects(sides, width).into_iter().partition(|(_, id)| before.objects.has(id));
    others.extend(stored);
    let mut shown: Vec<ObjectId> = Vec::new();
    if !loose.is_empty() || !others.is_empty() || ["HEAD", "packed-refs"].iter().any(|name| touches(name)) {
        let person = PersonIdentity::of(sides, &old_common);
        let found = ref_events(&before, &after, (loose, &others), &person, &budget);
        roots.extend(found.tips);
        shown.extend(found.commits);
        let is_packed = found.events.is_empty() && tips.0 == tips.1 && touches("packed-refs");
        events.extend(found.events);
        events.extend(is_packed.then_some(GitEvent::RefsPacked));
    }
    events.extend(removed_worktrees(sides, (&before, &after), &common, &budget));
    if touches("packed-refs") {
        events.extend(wrongly_peeled(sides, &after, &budget));
    }
    events.extend(stashes.events(sides, (&before.objects, &after.objects), &budget));
    events.extend(named_events(&named, (sides.after, sides.dir), &after, &budget));
    events.extend(lfs_event(sides, &budget));
    let mut operations = Operations::find(sides, (&before, &after), &shown, &budget);
    events.append(&mut operations.events);
    events.extend(index(sides, (&before, &after), touches("index"), width, &budget));
    events.extend(repacked(sides));
    events.extend(reflogs(sides, &after, &budget));
    events.extend(locks(sides));
    let only_logged: Vec<ObjectId> = logged.iter().map(|(_, id)| *id).collect();
    let known = (shown.as_slice(), only_logged.as_slice(), &operations);
    events.extend(unexplained_events(sides, (&before, &after), (&common, width), known, &budget));
    let needs_objects =
        events.iter().any(|event| matches!(event, GitEvent::RefMoved { .. } | GitEvent::RefCreated { .. }));
    if needs_objects && exists(sides.after, &common.join("objects/info/alternates")) {
        events.push(GitEvent::ObjectsElsewhere("it borrows objects from the places that alternates names"));
    }
    let are_all = !after.refs.is_reftable()
        && !events.iter().any(|event| matches!(event, GitEvent::RefsNotRead(_) | GitEvent::MoreRefs(_)));
    events.extend(unreached_events(sides, &ReachedRoots { ids: roots, logged, common, are_all }));
    events.extend(budget.reached().into_iter().map(ReadLimit::words).map(GitEvent::NotAllRead));
    if events.is_empty() {
        events.extend(only_files(sides));
    }
    events
}

/// The rows of a linked worktree in which nothing changes, and whose branch is moved: its index is behind the branch then.
pub(in crate::workspace) fn compare_moved_worktree(sides: &GitSides<'_>) -> Vec<GitEvent> {
    let budget = ReadBudget::new(sides.deadline);
    let (Some(common), Some(old_common)) =
        (common_dir(sides.after, sides.dir), common_dir(sides.before, sides.dir))
    else {
        return vec![GitEvent::ObjectsElsewhere("its objects are in another repository")];
    };
    let (before, after, width) = both_sides(sides, (&old_common, &common), &budget);
    let mut events = index(sides, (&before, &after), false, width, &budget);
    events.extend(budget.reached().into_iter().map(ReadLimit::words).map(GitEvent::NotAllRead));
    events
}

/// Both states, and the bytes of a name of an object.
fn both_sides<'a>(
    sides: &GitSides<'a>,
    (old_common, common): (&'a Path, &'a Path),
    budget: &'a ReadBudget,
) -> (RepositorySide<'a>, RepositorySide<'a>, usize) {
    let old_refs = RefReader::new(sides.before, sides.dir, old_common);
    let new_refs = RefReader::new(sides.after, sides.dir, common);
    let width = width(&[&new_refs, &old_refs]);
    let side = |refs, files, common| RepositorySide {
        objects: ObjectReader::new(files, common, width, budget),
        refs,
    };
    (side(old_refs, sides.before, old_common), side(new_refs, sides.after, common), width)
}

/// Names the files that other rows would explain, where there is no other row. Files that are listed by themselves are left out.
fn only_files(sides: &GitSides<'_>) -> Option<GitEvent> {
    let names = sides.changed.iter().filter_map(|(path, _)| path.strip_prefix(sides.dir).ok());
    let names = names.filter(|name| GitFileKind::at(name).is_some());
    let (objects, names): (Vec<&Path>, Vec<&Path>) = names.partition(|name| name.starts_with("objects"));
    let named: Vec<PathBuf> = names.iter().take(MOST_NAMED).map(|name| name.to_path_buf()).collect();
    let is_any = !names.is_empty() || !objects.is_empty();
    is_any.then_some(GitEvent::OnlyFiles { number: names.len(), named, objects: objects.len() })
}

/// The objects in new lines of reflogs: both columns, and the places that a checkout left.
fn logged_objects(sides: &GitSides<'_>, width: usize) -> Vec<(PathBuf, ObjectId)> {
    let logs = sides.dir.join("logs");
    let mut found = BTreeMap::new();
    for (path, _) in sides.changed.iter().filter(|(path, is_gone)| !is_gone && path.starts_with(&logs)) {
        let Ok(rel) = path.strip_prefix(sides.dir) else { continue };
        if rel == Path::new("logs/refs/stash") {
            continue;
        }
        let (old, new) =
            (lines(sides.before, path).unwrap_or_default(), lines(sides.after, path).unwrap_or_default());
        let known: BTreeSet<&[u8]> = old.split(|byte| *byte == b'\n').collect();
        for line in new.split(|byte| *byte == b'\n').filter(|line| !known.contains(line)) {
            let words = line.split(|byte| !byte.is_ascii_hexdigit()).filter(|word| word.len() == 2 * width);
            for id in words.filter_map(ObjectId::from_hex) {
                if found.len() < MOST_LOGGED {
                    found.entry(id).or_insert_with(|| rel.to_path_buf());
                }
            }
        }
    }
    found.into_iter().map(|(id, file)| (file, id)).collect()
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

fn lines(files: &dyn RepositoryFiles, path: &Path) -> Option<Vec<u8>> {
    match exists(files, path) {
        true => read(files, path, LARGEST_LOG),
        false => Some(Vec::new()),
    }
}

/// The rows about the index. Where its file stays as it was, another commit at `HEAD` makes another `git status` of it.
fn index(
    sides: &GitSides<'_>,
    (before, after): (&RepositorySide<'_>, &RepositorySide<'_>),
    has_changed: bool,
    width: usize,
    budget: &ReadBudget,
) -> Vec<GitEvent> {
    let is_there = |files| exists(files, &sides.dir.join("index"));
    // A bare repository has none, and a clone without a checkout begins without one. A HEAD that cannot be read has its own row.
    let is_behind =
        || is_there(sides.after) && after.refs.head().is_some() && !HeadTrees::are_equal((before, after));
    if !has_changed && !is_behind() {
        return Vec::new();
    }
    // Such a HEAD names no commit that could be compared with.
    if [before, after].iter().any(|side| side.refs.is_reftable()) {
        return vec![GitEvent::IndexNotRead(IndexNotRead::Reftable)];
    }
    let read = |files| read_index(files, sides.dir, width);
    let not_read = |why| match has_changed {
        true => GitEvent::IndexNotRead(why),
        false => not_compared(),
    };
    let (mut old, mut new) = match (read(sides.before), read(sides.after)) {
        (Ok(old), Ok(new)) => (old, new),
        (Err(why), _) | (_, Err(why)) => return vec![not_read(why)],
    };
    let objects = (&before.objects, &after.objects);
    let heads = HeadTrees::find((before, after), (&old, &new), budget);
    if !has_changed {
        let unnoticed = UnnoticedChanges::default();
        let index = IndexSides { before: &old, after: &new, has_changed, unnoticed };
        return index_events(&index, heads, objects, budget);
    }
    let unnoticed = UnnoticedChanges::find(sides, (&old, &new), &after.objects, budget);
    if let Err(why) = sparse_directories::expand_differing((&mut old, &mut new), objects, budget) {
        return vec![not_read(why)];
    }
    let lost = staged_losses(sides, (&old, &new), (before, after, after.refs.head_commit()), budget);
    let index = IndexSides { before: &old, after: &new, has_changed, unnoticed };
    lost.into_iter().chain(index_events(&index, heads, objects, budget)).collect()
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
