//! Settings of a program by key: which change of a file can make something run later, and which cannot.

use crate::cli::run::file_keys::{MOST, is_key_changed, read, remove_at};
use crate::cli::run::state::ProgramState;
use crate::text::regular_file;
use crate::workspace::FileChange;
use serde_json::{Map, Value};
use std::path::Path;

impl ProgramState<'_> {
    /// True where a key that makes something run later differs from the file at home.
    pub(in crate::cli::run) fn runs_later_by_key(&self, path: &Path, change: &FileChange) -> bool {
        let keys = self.preset.later_keys_of(path);
        let Some(content) = change.content_path().filter(|_| !keys.is_empty()) else { return false };
        // What cannot be read may run something later.
        regular_file::read(&content, MOST).map_or(true, |new| is_key_changed(&keys, &new, &change.path))
    }

    /// True where all that differs from the file at home are keys that make nothing run later, or where a new file says
    /// nothing.
    pub(in crate::cli::run) fn is_harmless(&self, path: &Path, change: &FileChange) -> bool {
        let Some(content) = change.content_path() else { return false };
        let old = match change.path.symlink_metadata() {
            Ok(_) => read(&change.path, path),
            Err(_) => Some(Value::Object(Map::new())),
        };
        let (Some(mut new), Some(mut old)) = (read(&content, path), old) else { return false };
        if !new.is_object() || !old.is_object() {
            return false;
        }
        for names in self.preset.harmless_keys_of(path) {
            remove_at(&mut new, &names);
            remove_at(&mut old, &names);
        }
        new == old
    }
}
