//! Databases of SQLite among what a program keeps: all files of one are written, or none of them.

use crate::cli::run::preset::StateKind;
use crate::cli::run::state::{ProgramState, StateReport};
use crate::text::visible;
use crate::workspace::{
    ChangeSet, DATABASE_FILES, DatabaseFile, FileChange, KeepError, KeptFileStamp, database_of, is_database,
    keep_database, keep_file,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many copies of databases that could not be kept stay for a program.
const MOST_COPIES: usize = 5;

/// The changed files of each database by its path below the home directory, in the order of [`DATABASE_FILES`].
pub(in crate::cli::run) type ChangedDatabases<'c> = BTreeMap<PathBuf, [Option<&'c FileChange>; 4]>;

impl ProgramState<'_> {
    pub(in crate::cli::run) fn databases<'c>(&self, set: &'c ChangeSet) -> ChangedDatabases<'c> {
        let kept = |path: &Path| self.preset.kind_of(path) == StateKind::Kept;
        let below_home = |change: &'c FileChange| Some((change.path.strip_prefix(self.home).ok()?, change));
        let changes: BTreeMap<&Path, &FileChange> =
            set.changes.iter().filter_map(below_home).filter(|(path, _)| kept(path)).collect();
        let is_one = |path: &Path| {
            let content = changes.get(path).and_then(|change| change.content_path());
            content.is_some_and(|content| is_database(&content)) || is_database(&self.home.join(path))
        };
        let base =
            |path: &Path| database_of(path).filter(|base| kept(base)).unwrap_or_else(|| path.to_path_buf());
        // A file with settings is looked at by its keys, whatever its first bytes are.
        let has_keys = |path: &Path| !self.preset.later_keys_of(path).is_empty();
        let bases: BTreeSet<PathBuf> =
            changes.keys().map(|path| base(path)).filter(|base| is_one(base) && !has_keys(base)).collect();
        let files = |base: PathBuf| {
            let files = DATABASE_FILES.map(|end| changes.get(file_of(&base, end).as_path()).copied());
            (base, files)
        };
        bases.into_iter().map(files).collect()
    }

    /// Writes one database. Where that cannot be, a copy of what the program wrote is kept apart: it could not be applied
    /// later without the other files, which may have changed by then.
    pub(in crate::cli::run) fn keep_database(
        &self,
        base: &Path,
        changes: &[Option<&FileChange>; 4],
        (report, gone): (&mut StateReport, &mut BTreeSet<Arc<Path>>),
    ) {
        let mut handled = || gone.extend(changes.iter().flatten().map(|change| change.path.clone()));
        let (count, is_raced) =
            (changes.iter().flatten().count(), changes.iter().flatten().any(|one| one.raced));
        if changes.first().is_some_and(|database| database.is_some_and(|change| change.after.is_absent())) {
            // A conversation is never deleted for the program.
            handled();
            report.dropped += count;
            return;
        }
        let (mut files, mut is_odd): ([DatabaseFile; 4], bool) = Default::default();
        for (file, change) in files.iter_mut().zip(changes) {
            let Some(change) = change else { continue };
            *file = match change.content_path() {
                _ if change.after.is_absent() => DatabaseFile::Removed,
                Some(content) => DatabaseFile::Written(content),
                // The rest is copied.
                None => {
                    is_odd = true;
                    DatabaseFile::Untouched
                }
            };
        }
        let [database, others @ ..] = &mut files;
        if *database == DatabaseFile::Untouched {
            // Only who wrote a log into the database can do without it.
            let removed = others.iter_mut().filter(|file| **file == DatabaseFile::Removed);
            removed.for_each(|file| *file = DatabaseFile::Untouched);
        }
        if files.iter().all(|file| *file == DatabaseFile::Untouched) && !is_odd {
            handled();
            report.dropped += count;
            return;
        }
        let changed = || match (is_odd, is_raced) {
            (true, _) => Err(KeepError::NotRegular),
            (_, true) => Err(KeepError::Changed),
            _ => Ok(()),
        };
        match changed().and_then(|()| keep_database((self.home, self.state), base, &files, self.began)) {
            Ok(()) => {
                handled();
                for path in written(base, &files) {
                    report.kept += 1;
                    report.written.push(path);
                }
            }
            Err(e) => {
                let end = match self.copy_apart(base, &files) {
                    Ok(dir) => {
                        handled();
                        format!("a copy of what the program wrote is in {}", visible::path(&dir))
                    }
                    // The view has the only one.
                    Err(e) => {
                        report
                            .pending
                            .extend(changes.iter().flatten().map(|change| change.path.to_path_buf()));
                        format!("its files stay pending, because they cannot be copied either: {e}")
                    }
                };
                report.problems.push((self.home.join(base), format!("{e}; {end}")));
            }
        }
    }

    /// Copies the database as the program saw it to a new directory, which it returns, and removes old copies. After an
    /// error there is no new directory, and the old copies are all there.
    fn copy_apart(&self, base: &Path, files: &[DatabaseFile; 4]) -> Result<PathBuf, KeepError> {
        let copies = self.state.canonicalize()?.join("databases");
        let prefix = format!("{}-", self.preset.name);
        let name = format!("{prefix}{}", jiff::Timestamp::now().as_millisecond());
        crate::private::make_dir(&copies)?;
        self.copy_files((base, files), &copies, &name).inspect_err(|_| {
            // What was copied of it is of no use without the rest.
            let _ = std::fs::remove_dir_all(copies.join(&name));
        })?;
        let entries = std::fs::read_dir(&copies)?.flatten().map(|entry| entry.file_name());
        // The name of another preset may begin with this one.
        let times = entries.filter_map(|entry| entry.to_str()?.strip_prefix(&prefix)?.parse::<i64>().ok());
        let mut times: Vec<i64> = times.collect();
        times.sort_unstable();
        for old in times.iter().rev().skip(MOST_COPIES) {
            std::fs::remove_dir_all(copies.join(format!("{prefix}{old}")))?;
        }
        Ok(copies.join(name))
    }

    fn copy_files(
        &self,
        (base, files): (&Path, &[DatabaseFile; 4]),
        copies: &Path,
        name: &str,
    ) -> Result<(), KeepError> {
        let only_name = Path::new(base.file_name().unwrap_or_default());
        for (file, end) in files.iter().zip(DATABASE_FILES).take(DATABASE_FILES.len() - 1) {
            let path = file_of(base, end);
            let content = match file {
                DatabaseFile::Written(content) => content.clone(),
                // The program saw this one, unless somebody changed it in the meantime.
                DatabaseFile::Untouched => match KeptFileStamp::of(self.home, &path)? {
                    stamp @ KeptFileStamp::File { .. } if stamp.is_before(self.began) => self.home.join(path),
                    _ => continue,
                },
                DatabaseFile::Removed => continue,
            };
            let to = Path::new(name).join(file_of(only_name, end));
            keep_file(&content, copies, &to, KeptFileStamp::Absent, None)?;
        }
        Ok(())
    }
}

/// The files of a database that are written; the index of its log is made again.
fn written(base: &Path, files: &[DatabaseFile; 4]) -> Vec<PathBuf> {
    let files = files.iter().zip(DATABASE_FILES).take(DATABASE_FILES.len() - 1);
    files
        .filter(|(file, _)| matches!(file, DatabaseFile::Written(_)))
        .map(|(_, end)| file_of(base, end))
        .collect()
}

fn file_of(base: &Path, end: &str) -> PathBuf {
    let mut name = base.file_name().unwrap_or_default().to_os_string();
    name.push(end);
    base.with_file_name(name)
}
