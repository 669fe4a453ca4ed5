//! A repository that stays and loses its history: `rm -r .git/objects`, `: > .git/HEAD`, `rm -rf .git; git init`.
//!
//! git never changes a stored object, and removes objects only when it has put them into a pack. How many objects a pack
//! has is known from the size of its index (gitformat-pack, version 2): no content is read here.

use super::loss::{LargeLoss, removes_repository};
use crate::workspace::change::{Change, ChangeSet};
use crate::workspace::node::Node;
use std::path::Path;

/// Without one of them git does not see a repository.
const NEEDED: [&str; 4] = ["HEAD", "objects", "refs", "reftable"];

/// An index has a magic number, a version, 256 counts and two hashes, and for each object a hash, a checksum and a place.
const INDEX_HEAD: u64 = 8 + 1024 + 2 * 20;
const INDEX_ENTRY: u64 = 20 + 4 + 4;
/// A pack has a header and a hash, and an object takes no less than this.
const PACK_HEAD: u64 = 12 + 20;
const PACK_ENTRY: u64 = 8;
/// The header line of `packed-refs` is shorter, and a ref takes more.
const PACKED_REF: u64 = 64;

/// The repositories of `set` that are not removed and that lose what git needs of them.
pub(super) fn lost_in(set: &ChangeSet) -> impl Iterator<Item = LargeLoss> {
    set.repositories.all().filter_map(|repository| {
        if repository.ancestors().any(|dir| set.get(dir).is_some_and(|c| removes_repository(set, c))) {
            return None;
        }
        // `git worktree remove` removes all of a linked worktree's directory, in which there are no objects.
        let worktree = repository.parent().is_some_and(|dir| dir.ends_with("worktrees"));
        let broken = |name: &str| set.get(&repository.join(name)).is_some_and(is_broken);
        let needed = || NEEDED.iter().any(|name| broken(name)) || loses_packed_refs(set, repository);
        let lost = !worktree && (needed() || loses_objects(set, repository));
        let files = || set.changes.iter().filter(|c| c.path.starts_with(repository) && is_damaged(c)).count();
        lost.then(|| LargeLoss::History { path: repository.to_path_buf(), files: files() })
    })
}

/// True when what git needs is not there any more, or is of another kind, or is a file with nothing in it.
fn is_broken(change: &Change) -> bool {
    match &change.before {
        Node::Absent => false,
        Node::Directory { .. } => !change.after.is_directory(),
        _ => {
            change.after.is_absent()
                || change.after.is_directory()
                || change.after.is_file() && change.after.size() == 0
        }
    }
}

/// git keeps the file when the last ref in it is deleted, and packs loose refs into it.
fn loses_packed_refs(set: &ChangeSet, repository: &Path) -> bool {
    let Some(change) = set.get(&repository.join("packed-refs")) else { return false };
    let refs = repository.join("refs");
    let loose = || set.changes.iter().any(|c| c.path.starts_with(&refs) && c.after.is_file());
    change.before.size() > PACKED_REF
        && (!change.after.is_file() || change.after.size() <= PACKED_REF)
        && !loose()
}

/// True for a file whose loss is judged by [`lost_in`], so that packing objects and a new index are no loss of files.
pub(super) fn is_judged_there(set: &ChangeSet, path: &Path) -> bool {
    let Some(repository) = set.repositories.nearest(path) else { return false };
    path.strip_prefix(repository).is_ok_and(|rel| rel.starts_with("objects") || rel == Path::new("index"))
}

/// A stored object whose content is another is lost as well.
fn is_damaged(change: &Change) -> bool {
    change.before.is_file() && !change.before.same_content(&change.after)
}

/// True when fewer than half of the objects that are removed are in new packs. Objects that nothing names may go.
fn loses_objects(set: &ChangeSet, repository: &Path) -> bool {
    let (mut removed, mut packed) = (0, 0);
    for change in set.changes.iter().filter(|c| set.repositories.nearest(&c.path) == Some(repository)) {
        let Ok(rel) = change.path.strip_prefix(repository.join("objects")) else { continue };
        let in_packs = rel.parent().is_some_and(|dir| dir == Path::new("pack"));
        match rel.extension().and_then(|ending| ending.to_str()) {
            // Without its pack an index is of no use, and the other way round.
            Some("idx") if in_packs && is_damaged(change) => {
                removed += objects_of_index(change.before.size())
            }
            Some("pack") if in_packs && is_damaged(change) => removed += 1,
            Some("idx") if in_packs && has_new_pack(set, change) => {
                packed += objects_of_index(change.after.size());
            }
            None if is_loose(rel) && is_damaged(change) => removed += 1,
            _ => {}
        }
    }
    removed > 0 && packed < removed.div_ceil(2)
}

fn has_new_pack(set: &ChangeSet, index: &Change) -> bool {
    let new = |change: &Change| !change.before.is_file() && change.after.is_file();
    let least = PACK_HEAD + PACK_ENTRY * objects_of_index(index.after.size());
    let pack = set.get(&index.path.with_extension("pack"));
    new(index) && pack.is_some_and(|pack| new(pack) && pack.after.size() >= least)
}

fn objects_of_index(size: u64) -> u64 {
    size.saturating_sub(INDEX_HEAD) / INDEX_ENTRY
}

/// `aa/bbbb`: the name is the hash.
fn is_loose(rel: &Path) -> bool {
    let dir = rel.parent().and_then(|dir| dir.to_str()).unwrap_or_default();
    dir.len() == 2 && dir.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_an_index_tells_its_objects() {
        assert_eq!(objects_of_index(1072), 0);
        assert_eq!(objects_of_index(1072 + 28 * 3), 3);
        assert_eq!(objects_of_index(0), 0);
    }

    #[test]
    fn a_loose_object_is_two_letters_of_its_hash_and_the_rest() {
        for (rel, want) in
            [("aa/bbcc", true), ("pack/x.pack", false), ("info/alternates", false), ("zz/a", false)]
        {
            assert_eq!(is_loose(Path::new(rel)), want, "{rel}");
        }
    }
}
