//! Changed packs, and changed lists of what is in them.
//!
//! git looks for an object in packs first, and does not compare what it finds with the name. A new pack can give a name that
//! was there before another content, so that a commit which nobody changed checks out other files.

use super::budget::ReadBudget;
use super::commit_graph;
use super::object_store::ObjectReader;
use super::repository_files::RepositoryFiles;
use std::path::Path;

/// Why git may find something else than before under the old names; `None` where it cannot. `changed` are files of `objects`,
/// each with whether it is gone.
pub(super) fn not_checked<'a>(
    changed: impl Iterator<Item = &'a (&'a Path, bool)>,
    objects: &Path,
    (before, after): (&ObjectReader<'_>, &ObjectReader<'_>),
    (files, width): (&dyn RepositoryFiles, usize),
    budget: &ReadBudget,
) -> Option<&'static str> {
    let stays = changed.filter(|(_, is_gone)| !is_gone).map(|(path, _)| *path);
    for path in stays {
        let Ok(rel) = path.strip_prefix(objects) else { continue };
        let name = rel.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if rel.starts_with("pack") && path.extension() == Some("idx".as_ref()) {
            if !after.holds_what_it_names(path, &|id| before.has(id) || after.has_elsewhere(id, path)) {
                return Some("a new pack has other objects than it says, or cannot be read");
            }
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
    None
}
