//! Every other file of git that changed: what it is, whether it has only what placet understands, and the commits that it
//! names. git checks them out when the person goes on, gives up, or names the file like a branch.

use super::{ContentSearch, MOST_FOUND, ProtectedContent, peeled};
use crate::workspace::repository::StateFileReader;
use crate::workspace::repository::git_reader::git_sides::GitSides;
use crate::workspace::repository::git_reader::looks::is_of_git;
use crate::workspace::repository::git_reader::object_id::ObjectId;
use crate::workspace::repository::git_reader::repository_files::{GitFile, RepositoryFiles, exists, read};
use crate::workspace::repository::git_reader::state_contents::NameLookup;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The largest file that is read whole.
const LARGEST: u64 = 4 << 20;
/// A reflog of years.
pub(super) const LARGEST_LOG: u64 = 64 << 20;
/// What git reads of a file that it takes for a ref.
const REF_SIZE: usize = 4 << 10;

const UNKNOWN: &str = "placet does not know this file of git";
const NO_FILE: &str = "it is not a regular file";
const TOO_LARGE: &str = "it is larger than placet reads";
const REBASE: &str = "`git rebase --apply` is in progress, and its patches are not read";
const RESOLUTION: &str = "git writes it into files that have such a conflict";
const MISSING: &str = "it names an object that is not there";

impl ContentSearch<'_> {
    pub(super) fn state_files(&mut self, sides: &GitSides<'_>, width: usize) {
        // What logs name that changed with this one, also where a log has another name now.
        let mut known = None;
        for (path, _) in sides.changed.iter().filter(|(_, is_gone)| !is_gone) {
            let Ok(rel) = path.strip_prefix(sides.dir) else { continue };
            if self.is_decided() {
                return;
            }
            let found = match kind_of(sides, path, rel) {
                Ok(None) => continue,
                Ok(Some(reader)) => self.named_in(sides, (path, rel, reader), width, &mut known),
                Err(why) => Err(why),
            };
            match found {
                Ok(commits) => commits.into_iter().for_each(|id| self.tip(rel, id, None)),
                Err(why) => self.not_understood(sides.dir, rel, why),
            }
        }
        self.patch_rebase(sides);
    }

    /// Without a file that says so, `git rebase` and not `git am` takes the patches, and moves the branch that a file names.
    fn patch_rebase(&mut self, sides: &GitSides<'_>) {
        let dir = sides.dir.join("rebase-apply");
        let is_one =
            |files: &dyn RepositoryFiles| exists(files, &dir) && !exists(files, &dir.join("applying"));
        let touches = sides.changed.iter().any(|(path, _)| path.starts_with(&dir));
        if touches && is_one(sides.after) && !is_one(sides.before) && !self.is_decided() {
            self.not_understood(sides.dir, Path::new("rebase-apply"), REBASE);
        }
    }

    pub(super) fn not_understood(&mut self, dir: &Path, rel: &Path, why: &'static str) {
        if self.found.len() < MOST_FOUND {
            // `.git/NAME`, as lists show it.
            let file = dir.file_name().map(PathBuf::from).unwrap_or_default().join(rel);
            self.found.push(ProtectedContent::NotUnderstood { file, why });
        }
    }

    /// The commits that the file names now and did not name before.
    fn named_in(
        &self,
        sides: &GitSides<'_>,
        (path, rel, reader): (&Path, &Path, StateFileReader),
        width: usize,
        known: &mut Option<BTreeSet<ObjectId>>,
    ) -> Result<Vec<ObjectId>, &'static str> {
        let names = NameLookup {
            width,
            of_short_name: &|short| self.after.objects.of_short_name(short),
            is_ref: &|name| self.after.refs.get(Path::new(name)).is_some(),
        };
        let mut found = BTreeSet::new();
        if is_read_whole(reader) {
            let most = if reader == StateFileReader::Log { LARGEST_LOG } else { LARGEST };
            let after = read(sides.after, path, most).ok_or(TOO_LARGE)?;
            let before = read(sides.before, path, most).unwrap_or_default();
            found = names.objects_in(reader, &after, &before)?;
            if reader == StateFileReader::Log {
                self.is_log_of_its_ref(sides, rel, (&found, &before), &names)?;
                let known = known.get_or_insert_with(|| known_to_logs(sides, &names));
                found.retain(|id| !known.contains(id));
            } else if let Ok(before) = names.objects_in(reader, &before, b"") {
                found.retain(|id| !before.contains(id));
            }
        }
        if reader == StateFileReader::Patch {
            self.is_harmless_patch(&read(sides.after, path, LARGEST).ok_or(TOO_LARGE)?)?;
        }
        if reader == StateFileReader::Resolution {
            resolution(sides, path, rel)?;
        }
        // The first name in a reflog is one of those above.
        if reader != StateFileReader::Log {
            let begin = |files| names.as_ref(&GitFile::open(files, path)?.up_to(0, REF_SIZE)?);
            let mut first = begin(sides.after).filter(|id| begin(sides.before) != Some(*id));
            // The name of a conflict is that of an object only where somebody made it so.
            if reader == StateFileReader::ConflictPaths {
                first = first.filter(|id| self.after.objects.has(id));
            }
            found.extend(first);
        }
        self.commits_of(found)
    }

    /// What names of objects lead to. Those of trees and files are not checked out.
    fn commits_of(&self, named: BTreeSet<ObjectId>) -> Result<Vec<ObjectId>, &'static str> {
        let is_nothing = |id: &ObjectId| id.as_bytes().iter().all(|byte| *byte == 0);
        let mut commits = Vec::new();
        for id in named.into_iter().filter(|id| !is_nothing(id) && !self.commits.contains_key(id)) {
            if self.others.as_ref().is_some_and(|others| others.contains(&id)) {
                continue;
            }
            // A later turn could bring the object.
            if !self.after.objects.has(&id) {
                return Err(MISSING);
            }
            let readers = [&self.after.objects];
            let Some(id) = peeled(&readers, id) else { return Err(MISSING) };
            if self.after.objects.get_of(&id, "commit").is_some() {
                commits.push(id);
            }
        }
        Ok(commits)
    }
}

/// Who reads the file, if anybody here does. An error where placet does not understand what it is.
fn kind_of(sides: &GitSides<'_>, path: &Path, rel: &Path) -> Result<Option<StateFileReader>, &'static str> {
    let reader = StateFileReader::of(rel);
    // These have readers that say what is no file among them.
    if matches!(reader, Some(StateFileReader::Refs | StateFileReader::Index)) {
        return Ok(None);
    }
    let found = sides.after.real(path).and_then(|path| path.symlink_metadata().ok());
    let Some(found) = found.filter(|found| !found.is_dir()) else { return Ok(None) };
    match reader {
        // Sockets and pipes are not applied.
        Some(StateFileReader::Leftover) if !found.is_file() && !found.is_symlink() => Ok(None),
        // A link there is a fact.
        Some(StateFileReader::Facts) if !found.is_file() => Ok(None),
        Some(_) if !found.is_file() => Err(NO_FILE),
        Some(StateFileReader::PatchRebase) => Err(REBASE),
        Some(reader) => Ok(Some(reader)),
        None if is_of_git(sides.after, sides.dir, rel) => Err(UNKNOWN),
        None => Ok(None),
    }
}

fn is_read_whole(reader: StateFileReader) -> bool {
    use StateFileReader::{Facts, Leftover, LfsObject, Objects, Patch, Resolution, Text};
    !matches!(reader, Facts | Leftover | LfsObject | Objects | Patch | Resolution | Text)
}

/// The objects that reflogs of the person name: those of `HEAD`, and those that changed or got another name.
fn known_to_logs(sides: &GitSides<'_>, names: &NameLookup<'_>) -> BTreeSet<ObjectId> {
    let logs = sides.dir.join("logs");
    let changed =
        sides.changed.iter().map(|(path, _)| path.to_path_buf()).filter(|path| path.starts_with(&logs));
    let all: BTreeSet<PathBuf> = changed.chain([logs.join("HEAD")]).collect();
    let texts = all.iter().filter_map(|log| read(sides.before, log, LARGEST_LOG));
    texts.flat_map(|text| names.columns(&text)).collect()
}

/// A conflict that was resolved before is resolved in the same way again. git records one that was not when a merge stops.
fn resolution(sides: &GitSides<'_>, path: &Path, rel: &Path) -> Result<(), &'static str> {
    let name = rel.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let (what, variant) = name.split_once('.').map_or((name, ""), |(what, variant)| (what, variant));
    let end = if variant.is_empty() { String::new() } else { format!(".{variant}") };
    let is_resolved = || exists(sides.after, &path.with_file_name(format!("postimage{end}")));
    match what {
        "thisimage" => Ok(()),
        "preimage" if !is_resolved() => Ok(()),
        "preimage" | "postimage" => Err(RESOLUTION),
        _ => Err(UNKNOWN),
    }
}
