//! Changed files of the work tree that git takes for clean: their index entries have the times and the size that the files have
//! now, and the names of other contents. git then does not read them, and overwrites them without a question.
//!
//! `git status` writes such an entry only after it has compared the content. So an entry is accepted where the file has the
//! content that the entry names, and where git would read the file anyway.

use super::budget::ReadBudget;
use super::git_index::{EntryStat, GitIndex, IndexEntry};
use super::git_sides::GitSides;
use super::object_id::ObjectId;
use super::object_store::ObjectReader;
use super::repository_files::{RepositoryFiles, read};
use super::tree_diff::SUBMODULE;
use super::work_tree_content::is_content_of;
use super::work_trees::work_trees;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The largest file whose content is compared. A larger one is named.
const LARGEST: u64 = 64 << 20;

#[derive(Default)]
pub(super) struct UnnoticedChanges {
    pub(super) paths: Vec<Vec<u8>>,
    /// No time was left for all of them.
    pub(super) at_least: bool,
}

impl UnnoticedChanges {
    /// Looks at the entries that the change set made or changed. `objects` are those after it.
    pub(super) fn find(
        sides: &GitSides<'_>,
        (old, new): (&GitIndex, &GitIndex),
        objects: &ObjectReader<'_>,
        budget: &ReadBudget,
    ) -> UnnoticedChanges {
        let mut found = UnnoticedChanges::default();
        // In a new repository git showed no changes before.
        if old.entries.is_empty() {
            return found;
        }
        let places = work_trees(sides.dir, sides.after);
        let places: Vec<PathBuf> =
            places.into_iter().filter(|place| sides.after.real(place).is_some()).collect();
        let comparison = Comparison { files: sides.after, index: index_time(sides), objects };
        for (path, entry) in &new.entries {
            let was = old.entries.get(path);
            let is_same = |was: &IndexEntry| {
                (was.staged, was.stat, was.is_intent) == (entry.staged, entry.stat, entry.is_intent)
            };
            // git reads a file whose entry has no size.
            let is_read = entry.is_hidden || entry.is_intent || entry.stat.size() == 0;
            let Some(staged) = entry.staged.filter(|staged| staged.mode != SUBMODULE && !is_read) else {
                continue;
            };
            if was.is_some_and(is_same) {
                continue;
            }
            if !budget.has_time() {
                found.at_least = true;
                break;
            }
            let is_noticed = match places.is_empty() {
                // Where the files are is not known.
                true => was.is_none_or(|was| was.staged != entry.staged),
                false => places.iter().all(|place| {
                    let file = place.join(OsStr::from_bytes(path));
                    comparison.is_noticed(&file, staged.id, entry.stat)
                }),
            };
            if !is_noticed {
                found.paths.push(path.clone());
            }
        }
        found
    }
}

/// Seconds and nanoseconds of the last change of the index, as git compares them.
fn index_time(sides: &GitSides<'_>) -> Option<(u32, u32)> {
    let real = sides.after.real(&sides.dir.join("index"))?;
    real.symlink_metadata().ok().map(|found| time_of(&found))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index has the lower 32 bits")]
fn time_of(found: &std::fs::Metadata) -> (u32, u32) {
    (found.mtime() as u32, found.mtime_nsec() as u32)
}

struct Comparison<'a> {
    files: &'a dyn RepositoryFiles,
    index: Option<(u32, u32)>,
    objects: &'a ObjectReader<'a>,
}

impl Comparison<'_> {
    /// True where git sees that the file is not what the entry names, and where it is that.
    fn is_noticed(&self, file: &Path, id: ObjectId, stat: EntryStat) -> bool {
        let Some((real, found)) = self.files.real(file).and_then(|real| {
            let found = real.symlink_metadata().ok()?;
            Some((real, found))
        }) else {
            return true;
        };
        let time = time_of(&found);
        #[expect(clippy::cast_possible_truncation, reason = "an index has the lower 32 bits")]
        let has_size = found.len() as u32 == stat.size();
        // Most programs of git compare seconds only.
        if found.is_dir() || !has_size || time.0 != stat.changed().0 || self.is_racy(time, stat.changed()) {
            return true;
        }
        if found.is_symlink() {
            let target = std::fs::read_link(&real).unwrap_or_default();
            return id.names("blob", target.as_os_str().as_bytes());
        }
        read(self.files, file, LARGEST).is_some_and(|content| is_content_of(self.objects, id, &content))
    }

    /// True where the file may have changed after its entry was written, within one unit of the clock: then git reads it.
    fn is_racy(&self, file: (u32, u32), entry: (u32, u32)) -> bool {
        self.index.is_some_and(|index| index <= entry || index.0 == entry.0 && file.1 != entry.1)
    }
}
