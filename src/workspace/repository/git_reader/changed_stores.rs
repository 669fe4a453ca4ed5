//! Changed packs, and changed lists of what is in them.
//!
//! git looks for an object in packs first, and does not compare what it finds with the name. A new pack, or one with other
//! bytes than before, can give a name that was there before another content, so that a commit which nobody changed checks out
//! other files.

use super::budget::ReadBudget;
use super::commit_graph;
use super::object_id::ObjectId;
use super::object_store::ObjectReader;
use super::repository_files::{RepositoryFiles, exists};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Why git may find something else than before under the old names; `None` where it cannot. `changed` are files of `objects`,
/// each with whether it is gone.
pub(super) fn not_checked<'a>(
    changed: impl Iterator<Item = &'a (&'a Path, bool)>,
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
        let end = path.extension().and_then(OsStr::to_str);
        // A pack may also change below an index that stays.
        if rel.starts_with("pack") && matches!(end, Some("idx" | "pack")) {
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
    let is_there = |index: &&PathBuf| exists(files, index);
    for index in indexes.iter().filter(is_there) {
        if !after.holds_what_it_names(index, &|id| is_known(id) || after.has_elsewhere(id, index)) {
            return Some("a new pack has other objects than it says, or cannot be read");
        }
    }
    None
}
