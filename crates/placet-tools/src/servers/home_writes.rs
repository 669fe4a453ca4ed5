//! What a server in the view writes to the home directory. Files that its settings keep are written there when it has ended,
//! as `placet run` writes the state of a program; the others last for the session.
//!
//! The layer is hostile: nothing in it is followed, and a file at home is replaced only while it is what it was when the
//! server started.

use crate::ToolError;
use placet_permission::{PathClass, ProtectedPaths};
use placet_text::text::visible;
use placet_workspace::{
    ChangeSelection, DATABASE_FILES, DatabaseFile, KeepError, KeptFileStamp, KeptPath, LayerKind,
    SelectedPart, View, database_of, is_database, is_in_home_cache, keep_database, keep_file,
};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How many paths a sentence names.
const NAMED: usize = 3;
/// How many entries of a layer are looked at.
const MOST_ENTRIES: usize = 100_000;

/// The home directory of a server that runs in the view.
#[derive(Clone, Debug)]
pub(super) struct ServerHome {
    pub(super) home: PathBuf,
    /// What the server changes there.
    pub(super) layer: PathBuf,
    /// placet's own directory, for the record of a database that is being replaced.
    pub(super) state: PathBuf,
    /// The paths that its settings keep.
    pub(super) keep: Vec<String>,
    /// When it started.
    pub(super) began: SystemTime,
    /// What other programs run or obey.
    pub(super) protected: ProtectedPaths,
}

/// What was written at home, and what was not.
#[derive(Debug, Default)]
pub(super) struct KeptWrites {
    pub(super) kept: Vec<PathBuf>,
    problems: Vec<(PathBuf, String)>,
}

/// An entry of the layer, by its path below the home directory.
type LayerFiles = BTreeMap<PathBuf, DatabaseFile>;

impl ServerHome {
    /// True if it has written something that is kept.
    pub(super) fn has_kept(&self) -> bool {
        !self.keep.is_empty()
            && self.files().iter().any(|(path, file)| self.is_kept(path) && is_written(file))
    }

    /// A sentence about files that last for the session only, and are not in `said` yet; afterwards they are. `None` if there
    /// are none.
    pub(super) fn left(&self, server: &str, said: &mut BTreeSet<PathBuf>) -> Option<String> {
        let files = self.files();
        let left: Vec<&PathBuf> = files
            .iter()
            .filter(|(path, file)| is_written(file) && !self.is_kept(path) && !is_in_home_cache(path))
            .map(|(path, _)| path)
            .filter(|path| said.insert((*path).clone()))
            .collect();
        left.first()?;
        let mut names: Vec<String> = left.iter().take(NAMED).map(|path| shown(path)).collect();
        if let Some(more) = left.len().checked_sub(NAMED).filter(|more| *more > 0) {
            names.push(format!("{more} more"));
        }
        let way = match left.iter().find(|path| !self.runs_later(path)) {
            Some(path) => {
                let example = visible::line(&path.to_string_lossy()).into_owned();
                format!("`keep = [\"{example}\"]` in its settings keeps it")
            }
            None => "no setting keeps what another program runs or obeys".into(),
        };
        Some(format!(
            "the server `{server}` wrote {}, which lasts until the session ends; {way}",
            names.join(", ")
        ))
    }

    /// Writes what is kept. The server has ended.
    pub(super) fn keep(&self) -> KeptWrites {
        let files: LayerFiles = self.files().into_iter().filter(|(path, _)| self.is_kept(path)).collect();
        let base = |path: &Path| database_of(path).filter(|base| self.is_kept(base));
        let is_one = |path: &Path| is_database(&self.layer.join(path)) || is_database(&self.home.join(path));
        let bases: BTreeSet<PathBuf> = files
            .keys()
            .map(|path| base(path).unwrap_or_else(|| path.clone()))
            .filter(|base| is_one(base))
            .collect();
        let mut writes = KeptWrites::default();
        for base in &bases {
            let mut four =
                DATABASE_FILES.map(|end| files.get(&with_end(base, end)).cloned().unwrap_or_default());
            // Only who wrote a log into the database can do without it; a database is never removed for a server.
            let [database, logs @ ..] = &mut four;
            if !is_written(database) {
                *database = DatabaseFile::Untouched;
                logs.iter_mut().filter(|file| **file == DatabaseFile::Removed).for_each(|file| {
                    *file = DatabaseFile::Untouched;
                });
            }
            if four.iter().all(|file| *file == DatabaseFile::Untouched) {
                continue;
            }
            let done = keep_database((&self.home, &self.state), base, &four, self.began);
            let names =
                DATABASE_FILES.iter().map(|end| with_end(base, end)).filter(|path| files.contains_key(path));
            writes.note(base, names, done);
        }
        for (path, file) in &files {
            let is_of_database = bases.contains(&base(path).unwrap_or_else(|| path.clone()));
            if let (DatabaseFile::Written(content), false) = (file, is_of_database) {
                let done =
                    self.unchanged(path).and_then(|now| keep_file(content, &self.home, path, now, None));
                writes.note(path, [path.clone()], done.map(drop));
            }
        }
        writes
    }

    fn unchanged(&self, path: &Path) -> Result<KeptFileStamp, KeepError> {
        let now = KeptFileStamp::of(&self.home, path)?;
        if now.is_before(self.began) { Ok(now) } else { Err(KeepError::Changed) }
    }

    /// Nobody sees what is kept, so that it is never a file that another program runs or obeys, by whatever name the list
    /// has it.
    fn is_kept(&self, path: &Path) -> bool {
        KeptPath::of(path, &self.keep) == KeptPath::Yes && !self.runs_later(path)
    }

    /// By the built-in table, by the person's settings, or by a variable of the person's shell.
    fn runs_later(&self, path: &Path) -> bool {
        let at = self.home.join(path);
        let classes = [self.protected.class_of(path), self.protected.class_by_variables(&at)];
        classes.iter().any(PathClass::asks) || self.protected.on_path(&at).is_some()
    }

    /// The regular files and the removals of the layer.
    fn files(&self) -> LayerFiles {
        let (mut files, mut dirs, mut looked) = (LayerFiles::new(), vec![PathBuf::new()], 0);
        while let Some(dir) = dirs.pop() {
            let Ok(entries) = std::fs::read_dir(self.layer.join(&dir)) else { continue };
            for entry in entries.flatten() {
                looked += 1;
                let (Ok(kind), path) = (entry.file_type(), dir.join(entry.file_name())) else { continue };
                if looked > MOST_ENTRIES {
                    return files;
                }
                if kind.is_dir() {
                    dirs.push(path);
                } else if kind.is_file() {
                    files.insert(path, DatabaseFile::Written(entry.path()));
                } else if kind.is_char_device() {
                    // A whiteout of the overlay.
                    files.insert(path, DatabaseFile::Removed);
                }
            }
        }
        files
    }
}

impl KeptWrites {
    fn note(&mut self, path: &Path, files: impl IntoIterator<Item = PathBuf>, done: Result<(), KeepError>) {
        match done {
            Ok(()) => self.kept.extend(files),
            Err(e) => self.problems.push((path.to_path_buf(), e.to_string())),
        }
    }

    /// What is at home now is no change of the session any more: later commands see what is there.
    pub(super) fn forget(&self, view: &View, home: &Path) -> Result<(), ToolError> {
        if self.kept.is_empty() {
            return Ok(());
        }
        let failed = |e: std::io::Error| ToolError::new(format!("its files at home cannot be read: {e}"));
        let changes = view.home_changes(home);
        let set = changes.changes(LayerKind::Pending).map_err(failed)?;
        let is_kept =
            |path: &Path| path.strip_prefix(home).is_ok_and(|path| self.kept.iter().any(|kept| kept == path));
        let choice: ChangeSelection = set
            .changes
            .iter()
            .filter(|change| is_kept(&change.path))
            .map(|change| (change.path.clone(), SelectedPart::Whole))
            .collect();
        changes.discard(&choice).map(drop).map_err(|e| ToolError::new(e.to_string()))
    }

    /// For the line of a call, and for a sentence about the server.
    pub(super) fn for_person(&self) -> String {
        let mut text = String::new();
        if !self.kept.is_empty() {
            let names: Vec<String> = self.kept.iter().take(NAMED).map(|path| shown(path)).collect();
            let more = self.kept.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            text.push_str(&format!(" · kept {}{more}", names.join(", ")));
        }
        for (path, why) in self.problems.iter().take(NAMED) {
            text.push_str(&format!(" · not kept: {}: {why}", shown(path)));
        }
        text
    }
}

fn is_written(file: &DatabaseFile) -> bool {
    matches!(file, DatabaseFile::Written(_))
}

fn shown(path: &Path) -> String {
    visible::path(&Path::new("~").join(path))
}

fn with_end(base: &Path, end: &str) -> PathBuf {
    let mut name = base.file_name().unwrap_or_default().to_os_string();
    name.push(end);
    base.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use placet_permission::ProgramDirs;

    #[test]
    fn what_runs_later_is_never_kept_and_each_file_is_named_once() {
        let dir = tempfile::tempdir().unwrap();
        let (home, layer) = (dir.path().join("home"), dir.path().join("layer"));
        let programs = ProgramDirs::from_variable(Some(home.join(".notes/bin").as_os_str()));
        let server = ServerHome {
            home: home.clone(),
            layer: layer.clone(),
            state: dir.path().join("state"),
            keep: vec![".notes/".into(), ".bashrc".into()],
            began: SystemTime::now(),
            protected: ProtectedPaths::with(&["deploy.sh".into()], programs).unwrap(),
        };
        let write = |name: &str| {
            std::fs::create_dir_all(layer.join(name).parent().unwrap()).unwrap();
            std::fs::write(layer.join(name), "x").unwrap();
        };
        let mut said = BTreeSet::new();
        write(".notes/a.md");
        assert_eq!((server.has_kept(), server.left("s", &mut said)), (true, None));
        write(".other");
        assert!(server.left("s", &mut said).unwrap().contains("`keep = [\".other\"]`"));
        for name in [".bashrc", ".notes/deploy.sh", ".notes/bin/git"] {
            write(name);
            assert!(!server.is_kept(Path::new(name)), "{name}");
            let words = server.left("s", &mut said).unwrap();
            assert!(words.contains(name) && words.contains("no setting keeps") && !words.contains(".other"));
        }
        assert_eq!(server.left("s", &mut said), None);
    }
}
