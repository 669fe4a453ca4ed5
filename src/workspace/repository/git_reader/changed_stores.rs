//! Changed packs, and changed lists of what is in them.
//!
//! git does not compare the object that it finds with the name. A new pack, or a new file of one object where the object was
//! in a pack, can give a name that was there before another content, so that a commit which nobody changed checks out other
//! files.

use super::budget::ReadBudget;
use super::commit_graph;
use super::object_id::ObjectId;
use super::object_store::ObjectReader;
use super::repository_files::RepositoryFiles;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Why git may find something else than before under the old names; `None` where it cannot. `changed` are files of `objects`,
/// each with whether it is gone, and `loose` the changed files of single objects.
pub(super) fn not_checked<'a>(
    changed: impl Iterator<Item = &'a (&'a Path, bool)>,
    loose: &[&Path],
    objects: &Path,
    (before, after): (&ObjectReader<'_>, &ObjectReader<'_>),
    (files, width): (&dyn RepositoryFiles, usize),
    budget: &ReadBudget,
) -> Option<&'static str> {
    // Where objects are elsewhere, a name that is not here may be one that git knows.
    let lacks_objects = before.lacks_objects() || after.lacks_objects();
    let is_known = |id: &ObjectId| lacks_objects || before.has(id);
    let mut indexes = BTreeSet::new();
    let stays = changed.filter(|(_, is_gone)| !is_gone).map(|(path, _)| *path);
    for path in stays {
        let Ok(rel) = path.strip_prefix(objects) else { continue };
        let name = rel.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // A pack may also change below an index that stays.
        if rel.starts_with("pack")
            && [Some("idx"), Some("pack")].contains(&path.extension().and_then(OsStr::to_str))
        {
            indexes.insert(path.with_extension("idx"));
        } else if rel.starts_with("pack") && name.starts_with("multi-pack-index") {
            return Some("a new `multi-pack-index` says where git finds objects");
        } else if rel == Path::new("info/commit-graph") {
            if !commit_graph::agrees(files, path, after, width, budget) {
                return Some("its `commit-graph` says something else than its commits, or cannot be read");
            }
        } else if rel.starts_with("info/commit-graphs") {
            return Some("a new list in `commit-graphs` says what its commits are");
        }
    }
    for index in &indexes {
        if !after.holds_what_it_names(index, &|id| is_known(id) || after.has_elsewhere(id, index)) {
            return Some("a new pack has other objects than it says, or cannot be read");
        }
    }
    for path in loose {
        let Some(id) = path.strip_prefix(objects).ok().and_then(loose_name) else { continue };
        if is_known(&id) && (!budget.has_time() || !after.holds_loose(&id)) {
            return Some("a new object has another content than its name says, or cannot be read");
        }
    }
    None
}

/// The name of the object in the file at `rel`, `ab/cdef...`.
fn loose_name(rel: &Path) -> Option<ObjectId> {
    let mut names = rel.iter().map(|name| name.as_bytes());
    let (first, rest) = (names.next()?, names.next()?);
    (first.len() == 2 && names.next().is_none()).then(|| ObjectId::from_hex(&[first, rest].concat()))?
}
