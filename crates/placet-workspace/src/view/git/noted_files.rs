//! The end of an apply or an undo: git notes in its indexes what the files are now.

use super::super::View;
use super::directories::main_place;
use crate::history::journal::{AppliedRepositoryKind, JournalEntry};
use std::io;

impl View {
    /// Notes the files of a transaction in the indexes of its repositories. It comes last: a layer that gives up its name of a
    /// file changes a time that git notes.
    pub(in crate::view) fn note_files(&self, entry: &JournalEntry) {
        for one in entry.git.iter().filter(|one| one.kind != AppliedRepositoryKind::Removed) {
            let place = main_place(&one.path, entry.changes.iter().map(|change| &*change.path));
            let record = self.journal().repository_record(one);
            let noted = tempfile::tempdir().and_then(|scratch| {
                let noted = placet_git::note_files(&record, &one.path, place.as_deref(), scratch.path());
                noted.map_err(io::Error::other)
            });
            if let Err(error) = noted {
                tracing::debug!("git has no notes about the files of `{}`: {error}", one.path.display());
            }
        }
    }
}
