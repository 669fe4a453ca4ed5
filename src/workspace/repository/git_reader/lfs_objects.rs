//! New objects of git LFS: large files that commits name by the hash of their content. `git checkout` takes them from there.

use super::budget::{LARGEST_OBJECT, ReadBudget};
use super::commit_patch::BlobContent;
use super::event::{GitEvent, StoredContent, StoredKind};
use super::git_sides::GitSides;
use super::repository_files::{exists, read};
use super::stored_content::ContentFate;
use super::tree_diff::blob_content;
use crate::workspace::repository::StateFileReader;
use std::path::Path;

/// Objects whose content is shown.
const MOST_OBJECTS: usize = 200;

/// The row of all new objects, each with its lines or its size.
pub(super) fn lfs_event(sides: &GitSides<'_>, budget: &ReadBudget) -> Option<GitEvent> {
    let objects = sides.dir.join("lfs/objects");
    let is_new = |path: &Path| {
        let rel = path.strip_prefix(sides.dir).unwrap_or(path);
        StateFileReader::of(rel) == Some(StateFileReader::LfsObject) && !exists(sides.before, path)
    };
    let changed = sides.changed.iter().filter(|(path, is_gone)| !is_gone && path.starts_with(&objects));
    let new: Vec<&Path> = changed.map(|(path, _)| *path).filter(|path| is_new(path)).collect();
    if new.is_empty() {
        return None;
    }
    let mut content = StoredContent::default();
    for path in new.iter().take(MOST_OBJECTS).take_while(|_| budget.has_time()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let text = match read(sides.after, path, LARGEST_OBJECT as u64) {
            Some(bytes) => blob_content(Some(bytes)),
            None => larger(sides, path),
        };
        content.add_text(&format!("lfs/{name}"), &text, ContentFate::Added, budget);
    }
    let more = new.len() - content.changes.files;
    content.changes.at_least = more > 0;
    Some(GitEvent::Stored { kind: StoredKind::LfsObjects { number: new.len(), more }, content })
}

fn larger(sides: &GitSides<'_>, path: &Path) -> BlobContent {
    let found = sides.after.real(path).and_then(|real| real.symlink_metadata().ok());
    match found.filter(|found| found.is_file()) {
        Some(found) => BlobContent::TooLarge(usize::try_from(found.len()).unwrap_or(usize::MAX)),
        None => BlobContent::Unread,
    }
}
