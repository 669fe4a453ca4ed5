//! How many changes a person sees: the one count of every question, list, report and prompt.

use super::change_set::{ChangeSet, FileChange};
use super::renames::RenamedFiles;
use crate::files::metadata::path_state::PathState;
use crate::files::walking::dirs_above::DirsAbove;
use crate::hash::Hash;
use crate::history::file_rename::FileRename;
use crate::history::journal::JournalEntry;
use crate::repository::RepositorySet;
use placet_text::text::count;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::ops::AddAssign;
use std::path::Path;

/// Files as a person counts them. A file that was moved or renamed is one file, also if it was changed. What git writes in a repository is that repository, however
/// many objects and refs it has. A directory counts only where nothing in it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeCount {
    pub files: usize,
    pub directories: usize,
    pub repositories: usize,
    /// Those that are decided by themselves.
    pub refs: usize,
}

impl ChangeCount {
    /// Of paths with what is there before and after; `renames` are the files that were renamed and changed.
    pub fn of<'a>(
        changes: impl IntoIterator<Item = (&'a Path, &'a PathState, &'a PathState)>,
        repositories: &RepositorySet,
        renames: &'a [FileRename],
    ) -> ChangeCount {
        let mut files = 0;
        let ends = renames.iter().enumerate().flat_map(|(at, one)| [(&*one.from, at), (&*one.to, at)]);
        let rename_at: HashMap<&Path, usize> = ends.collect();
        // Ends of each rename that are among the changes.
        let mut ends_seen = vec![0_usize; renames.len()];
        let mut directories: BTreeSet<&Path> = BTreeSet::new();
        let mut seen: BTreeSet<&Path> = BTreeSet::new();
        let mut changed: DirsAbove<'_> = DirsAbove::default();
        // Contents that went and that came, by their hash: a pair is a file that was moved.
        let mut moves: HashMap<Hash, (usize, usize)> = HashMap::new();
        for (path, before, after) in changes {
            let is_directory =
                (before.is_directory() || before.is_absent()) && (after.is_directory() || after.is_absent());
            if let Some(repository) = repositories.of(path)
                && (is_directory || repositories.is_written_by_git(path))
            {
                seen.insert(repository);
                continue;
            }
            changed.new_above(path);
            match (before, after) {
                _ if is_directory => drop(directories.insert(path)),
                (PathState::Absent, _) | (_, PathState::Absent) if rename_at.contains_key(path) => {
                    let ends = rename_at.get(path).and_then(|at| ends_seen.get_mut(*at));
                    ends.into_iter().for_each(|ends| *ends += 1);
                    files += 1;
                }
                (PathState::File { hash, size, .. }, PathState::Absent) if *size > 0 => {
                    moves.entry(*hash).or_default().0 += 1;
                    files += 1;
                }
                (PathState::Absent, PathState::File { hash, size, .. }) if *size > 0 => {
                    moves.entry(*hash).or_default().1 += 1;
                    files += 1;
                }
                _ => files += 1,
            }
        }
        files -= moves.values().map(|(gone, come)| gone.min(come)).sum::<usize>();
        files -= ends_seen.iter().filter(|ends| **ends == 2).count();
        let directories = directories.iter().filter(|dir| !changed.contains(dir)).count();
        ChangeCount { files, directories, repositories: seen.len(), refs: 0 }
    }

    /// Of a transaction of the journal.
    pub fn of_entry(entry: &JournalEntry) -> ChangeCount {
        let changes = entry.changes.iter().map(|c| (&*c.path, &*c.before, &*c.after));
        ChangeCount::of(changes, &repositories_of(entry), &entry.renames)
            .with_git(std::slice::from_ref(entry))
    }

    /// Of several transactions, the oldest first: a path that they left as it was does not count.
    pub fn of_entries(entries: &[JournalEntry]) -> ChangeCount {
        let mut repositories = RepositorySet::default();
        let mut states: BTreeMap<&Path, (&PathState, &PathState)> = BTreeMap::new();
        for entry in entries {
            repositories.extend(repositories_of(entry).all().map(Path::to_path_buf));
            for change in &entry.changes {
                let (before, after) = (&*change.before, &*change.after);
                states.entry(&change.path).or_insert((before, after)).1 = after;
            }
        }
        let renames: Vec<FileRename> =
            entries.iter().flat_map(|entry| entry.renames.iter().cloned()).collect();
        let changes = states.into_iter().filter(|(_, (before, after))| before != after);
        let changes: Vec<(&Path, &PathState, &PathState)> =
            changes.map(|(path, (before, after))| (path, before, after)).collect();
        let repositories = with_removed(repositories, changes.iter().copied());
        ChangeCount::of(changes, &repositories, &renames).with_git(entries)
    }

    /// With the repositories that git changed.
    fn with_git(self, entries: &[JournalEntry]) -> ChangeCount {
        let own: BTreeSet<&Path> =
            entries.iter().flat_map(|entry| &entry.git).map(|one| &*one.path).collect();
        ChangeCount { repositories: self.repositories.max(own.len()), ..self }
    }

    /// One number, where there is no room for words.
    pub fn total(self) -> usize {
        self.files + self.directories + self.repositories + self.refs
    }
}

impl AddAssign for ChangeCount {
    fn add_assign(&mut self, more: ChangeCount) {
        self.files += more.files;
        self.directories += more.directories;
        self.repositories += more.repositories;
        self.refs += more.refs;
    }
}

/// `+4 -1`, in every headline above rows of changes. `None` for nothing: of a commit, a mode or a picture no lines are counted,
/// which is not the same as none.
pub fn line_words(lines: (usize, usize)) -> Option<String> {
    let (added, removed) = lines;
    (lines != (0, 0)).then(|| format!("+{added} -{removed}"))
}

/// The repositories that a transaction changed.
pub fn repositories_of(entry: &JournalEntry) -> RepositorySet {
    let paths = entry.changes.iter().map(|c| &*c.path);
    let mut repositories = RepositorySet::recognise(paths, &[], &|_| false);
    repositories.extend(entry.repositories.iter().map(|state| state.path.clone()));
    repositories.extend(entry.git.iter().map(|one| one.path.clone()));
    with_removed(repositories, entry.changes.iter().map(|c| (&*c.path, &*c.before, &*c.after)))
}

/// Knows those that these changes remove: what was in them is one row.
fn with_removed<'a>(
    repositories: RepositorySet,
    changes: impl Iterator<Item = (&'a Path, &'a PathState, &'a PathState)>,
) -> RepositorySet {
    let removed = changes.filter(|(path, before, after)| {
        !before.is_absent() && after.is_absent() && repositories.of(path) == Some(*path)
    });
    let removed = removed.map(|(path, ..)| path.to_path_buf()).collect();
    repositories.with_removed(removed)
}

impl ChangeSet {
    /// The changes as a person counts them.
    pub fn count(&self, renamed: &RenamedFiles) -> ChangeCount {
        self.count_of(renamed, |_| true)
    }

    /// The changes that are chosen, as a person counts them.
    pub fn count_of(&self, renamed: &RenamedFiles, chosen: impl Fn(&FileChange) -> bool) -> ChangeCount {
        let chosen = self.changes.iter().filter(|change| chosen(change));
        let states = chosen.map(|c| (&*c.path, &*c.before, &*c.after));
        ChangeCount::of(states, &self.repositories, renamed.list())
    }
}

/// `2 files and 1 repository`
impl fmt::Display for ChangeCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.files, "file"),
            (self.directories, "directory"),
            (self.repositories, "repository"),
            (self.refs, "ref"),
        ];
        let parts: Vec<String> =
            parts.into_iter().filter(|(n, _)| *n > 0).map(|(n, noun)| count::of(n, noun)).collect();
        match parts.split_last() {
            None => f.write_str("no files"),
            Some((last, [])) => f.write_str(last),
            Some((last, before)) => write!(f, "{} and {last}", before.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::metadata::path_state::FileAttrs;
    use std::path::PathBuf;

    fn file(content: &str) -> PathState {
        let hash = blake3::hash(content.as_bytes());
        PathState::File { hash, size: content.len() as u64, attrs: FileAttrs::default() }
    }

    fn words(changes: &[(&str, PathState, PathState)]) -> String {
        let paths: Vec<PathBuf> = changes.iter().map(|(path, ..)| Path::new("/w").join(path)).collect();
        let repositories = RepositorySet::recognise(paths.iter().map(PathBuf::as_path), &[], &|_| false);
        let changes =
            changes.iter().zip(&paths).map(|((_, before, after), path)| (path.as_path(), before, after));
        ChangeCount::of(changes, &repositories, &[FileRename::new("/w/was", "/w/is")]).to_string()
    }

    #[test]
    fn a_person_counts_files_and_not_the_paths_and_objects_behind_them() {
        use PathState::Absent;
        let directory = || PathState::Directory { attrs: FileAttrs::default() };
        let object = ".git/objects/ab/0123456789abcdef0123456789abcdef012345";
        assert_eq!(words(&[]), "no files");
        assert_eq!(words(&[("a", Absent, file("1")), ("b", file("2"), file("3"))]), "2 files");
        // A directory that the new file needs, a directory alone, and the mode of a directory.
        assert_eq!(words(&[("d", Absent, directory()), ("d/a", Absent, file("1"))]), "1 file");
        assert_eq!(words(&[("d", Absent, directory()), ("e", directory(), directory())]), "2 directories");
        // Moved, and two empty files, of which nobody knows that they were moved.
        assert_eq!(words(&[("a", file("1"), Absent), ("b", Absent, file("1"))]), "1 file");
        assert_eq!(words(&[("a", file(""), Absent), ("b", Absent, file(""))]), "2 files");
        // Renamed and changed; and one end of it alone.
        assert_eq!(words(&[("was", file("1"), Absent), ("is", Absent, file("2"))]), "1 file");
        assert_eq!(words(&[("was", file("1"), Absent), ("b", Absent, file("1"))]), "2 files");
        assert_eq!(words(&[("is", Absent, file("2"))]), "1 file");
        let commit = [
            (".git/objects/ab", Absent, directory()),
            (object, Absent, file("x")),
            (".git/refs/heads/main", file("y"), file("z")),
            (".git/config", file("y"), file("z")),
            ("a", file("1"), file("2")),
        ];
        assert_eq!(words(&commit), "1 file and 1 repository");
        // A hook: git runs it, and does not write it.
        let hook = [(".git/hooks/pre-commit", Absent, file("x")), ("d", Absent, directory())];
        assert_eq!(words(&hook), "1 file and 1 directory");
        assert_eq!(
            ChangeCount { files: 2, directories: 1, repositories: 3, refs: 0 }.to_string(),
            "2 files, 1 directory and 3 repositories"
        );
    }
}
