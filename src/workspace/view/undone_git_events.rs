//! What an undo of transactions means to the repositories that they changed: the commits and branches that leave.

use super::View;
use super::git_events::{WorkspaceFiles, is_there};
use crate::workspace::changes::change_count::repositories_of;
use crate::workspace::files::open::{OpenedFile, open_regular};
use crate::workspace::files::path_state::PathState;
use crate::workspace::history::journal::{AppliedChange, JournalEntry};
use crate::workspace::repository::files_of_person;
use crate::workspace::repository::git_reader::{
    GitEvent, GitSides, RepositoryEvents, RepositoryFiles, StoredKind, compare, deadline, moved_worktrees,
};
use rustix::fs::{MemfdFlags, OFlags};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::io::{Seek, Write};
use std::ops::Bound;
use std::path::{Path, PathBuf};

impl View {
    /// What happened to each repository since before `entries`, the oldest of which comes first: an undo takes it back.
    /// Reads the repositories.
    pub fn undone_git_events(&self, entries: &[JournalEntry]) -> Vec<RepositoryEvents> {
        let mut repositories = BTreeSet::new();
        let mut changes: BTreeMap<&Path, &AppliedChange> = BTreeMap::new();
        for entry in entries {
            let own = repositories_of(entry);
            for change in &entry.changes {
                if let Some(repository) = own.nearest(&change.path) {
                    repositories.insert(repository.to_path_buf());
                    changes.entry(&change.path).or_insert(change);
                }
            }
        }
        let after = WorkspaceFiles(self);
        let before = FilesBefore { now: WorkspaceFiles(self), view: self, changes: &changes };
        let (deadline, person_settings) = (deadline(), &*files_of_person());
        let of = |dir: &PathBuf| {
            let innermost =
                |path: &&&Path| path.ancestors().find(|at| repositories.contains(*at)) == Some(dir.as_path());
            let own = changes.keys().filter(innermost);
            let changed: Vec<(&Path, bool)> = own.map(|path| (*path, !exists(path))).collect();
            let sides =
                GitSides { person_settings, ..GitSides::of(dir, (&before, &after), &changed, deadline) };
            let mut events = compare(&sides);
            // Since then the person's own git has noted there what it saw.
            let is_noted = |event: &GitEvent| matches!(event, GitEvent::IndexExtension(_));
            events.retain(|event| !is_noted(event));
            let own = RepositoryEvents { path: dir.clone(), events };
            std::iter::once(own).chain(moved_worktrees(&sides, &|path| repositories.contains(path)))
        };
        repositories.iter().filter(|dir| is_there(dir, &after)).flat_map(of).collect()
    }

    /// The same as a line for each row, with the repository in front; `name` renders a path. A repository of which nothing is
    /// known has a line with its name. What was removed comes back, and its line says so.
    pub fn undone_git_rows(&self, entries: &[JournalEntry], name: &dyn Fn(&Path) -> String) -> Vec<String> {
        let lines = |RepositoryEvents { path, events }: RepositoryEvents| {
            let own = name(&path);
            let line = |row: crate::workspace::RepositoryRow| match row.needs_care {
                // It names the repository.
                true => row.text,
                false => format!("{own}: {}", row.text),
            };
            let events = events.into_iter().filter(|event| !is_of_objects(event));
            let (back, gone): (Vec<GitEvent>, Vec<GitEvent>) = events.partition(is_removal);
            let lines = |events: Vec<GitEvent>| -> Vec<String> {
                let part = RepositoryEvents { path: path.clone(), events };
                part.rows(&path, name).into_iter().map(line).collect()
            };
            let back = lines(back).into_iter().map(|line| format!("{line} (comes back)"));
            let rows: Vec<String> = lines(gone).into_iter().chain(back).collect();
            if rows.is_empty() { vec![own.clone()] } else { rows }
        };
        self.undone_git_events(entries).into_iter().flat_map(lines).collect()
    }
}

/// An undo puts back what it removed.
fn is_removal(event: &GitEvent) -> bool {
    matches!(
        event,
        GitEvent::RefDeleted { .. }
            | GitEvent::Stored { kind: StoredKind::Stash { is_removed: true, .. }, .. }
    )
}

/// It is about objects that no name leads to: an undo leaves all objects to `git gc`.
fn is_of_objects(event: &GitEvent) -> bool {
    let is_unreached =
        |kind: &StoredKind| matches!(kind, StoredKind::UnreachedCommit | StoredKind::UnreachedObjects { .. });
    match event {
        GitEvent::Stored { kind, .. } | GitEvent::MoreStored { kind, .. } => is_unreached(kind),
        GitEvent::UnreachedNotRead => true,
        _ => false,
    }
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The workspace as it was before the transactions.
struct FilesBefore<'a> {
    now: WorkspaceFiles<'a>,
    view: &'a View,
    /// The first change of each path.
    changes: &'a BTreeMap<&'a Path, &'a AppliedChange>,
}

impl RepositoryFiles for FilesBefore<'_> {
    fn real(&self, path: &Path) -> Option<PathBuf> {
        match self.changes.get(path).map(|change| &*change.before) {
            Some(PathState::File { hash, .. }) => Some(self.view.objects().path(*hash)),
            Some(PathState::Absent) => None,
            // What is no file has no content to read.
            Some(_) | None => self.now.real(path),
        }
    }

    fn open(&self, path: &Path) -> Option<OpenedFile> {
        let Some(PathState::File { hash, .. }) = self.changes.get(path).map(|change| &*change.before) else {
            return open_regular(&self.real(path)?, OFlags::RDONLY).ok();
        };
        // It is stored compressed, and read in pieces: a copy in memory is a file like the others.
        let bytes = self.view.objects().get(*hash).ok()?;
        let memory = rustix::fs::memfd_create("git", MemfdFlags::CLOEXEC).ok()?;
        let mut file = File::from(memory);
        file.write_all(&bytes).ok()?;
        file.rewind().ok()?;
        let stat = rustix::fs::fstat(&file).ok()?;
        Some(OpenedFile { file, size: bytes.len() as u64, stat })
    }

    fn names(&self, path: &Path) -> Vec<OsString> {
        let mut names: BTreeSet<OsString> = self.now.names(path).into_iter().collect();
        let inside = self
            .changes
            .range::<Path, _>((Bound::Included(path), Bound::Unbounded))
            .take_while(|(other, _)| other.starts_with(path));
        for (other, change) in inside.filter(|(other, _)| other.parent() == Some(path)) {
            let Some(name) = other.file_name() else { continue };
            match change.before.is_absent() {
                true => drop(names.remove(name)),
                false => drop(names.insert(name.into())),
            }
        }
        names.into_iter().collect()
    }
}
