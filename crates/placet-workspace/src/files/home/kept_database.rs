//! A database of SQLite that a program keeps, written from its view to the home directory. The file, its write-ahead log
//! and its journal are one thing: a log next to a database to which it does not belong is replayed over it, and destroys
//! it. So all of them are written or none, and none while another program has the database open.
//!
//! The file format and the locks: <https://www.sqlite.org/fileformat2.html>, <https://www.sqlite.org/lockingv3.html>.

use super::database_files::{DATABASE_FILES, lock, set_aside};
use super::database_record::{DatabaseIdentity, DatabaseRecord, WrittenRecord};
use super::home_copy::HomeCopy;
use super::keep_error::KeepError;
use super::kept_file::{KeptFileStamp, directory, layer_of, open_kept};
use crate::files::opening::open_at::open_regular;
use crate::hold_point;
use rustix::fs::{AtFlags, OFlags};
use rustix::io::Errno;
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The first bytes of a database.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Times of files are those of the last tick of the kernel's clock.
const TICK: Duration = Duration::from_millis(20);

/// What the program did with one file of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DatabaseFile {
    #[default]
    Untouched,
    /// Where the new content is.
    Written(PathBuf),
    Removed,
}

/// The database that a file belongs to by its name.
pub fn database_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let base = DATABASE_FILES.iter().skip(1).find_map(|end| name.strip_suffix(end))?;
    (!base.is_empty()).then(|| path.with_file_name(base))
}

/// Whether a file of a view is a database, by its first bytes.
pub fn is_database(file: &Path) -> bool {
    let Ok(opened) = open_regular(file, OFlags::RDONLY) else { return false };
    let mut first = Vec::new();
    let read = opened.file.take(MAGIC.len() as u64).read_to_end(&mut first);
    read.is_ok() && first == MAGIC
}

/// Writes the files of the database `relative` below `home`, in the order of [`DATABASE_FILES`], if nobody has it open and
/// nothing of it changed there since `began`. A log that the program removed is removed at home, too. Old logs are set aside
/// before the database is replaced, and put back if that fails: no new database is ever next to an old log. While that
/// happens, a record in `state`, placet's own directory, says what belongs together: see `database_record.rs`.
pub fn keep_database(
    (home, state): (&Path, &Path),
    relative: &Path,
    files: &[DatabaseFile; 4],
    began: SystemTime,
) -> Result<(), KeepError> {
    let layer = files.iter().find_map(|file| match file {
        DatabaseFile::Written(content) => layer_of(content, relative),
        _ => None,
    });
    let (dir, name) = directory(home, relative, layer)?;
    let names = DATABASE_FILES.map(|end| {
        let mut name = name.to_os_string();
        name.push(end);
        name
    });
    let _lock = lock(&home.join(relative))?;
    let since = earliest(files, began).checked_sub(TICK).unwrap_or(SystemTime::UNIX_EPOCH);
    let stamps = || names.each_ref().map(|name| KeptFileStamp::at(&dir, name));
    let before = stamps();
    for stamp in &before {
        match stamp {
            Ok(stamp) if stamp.is_before(since) => {}
            Ok(_) => return Err(KeepError::Changed),
            Err(_) => return Err(KeepError::NotRegular),
        }
    }
    let staged = StagedDatabase::copy(&dir, files)?;
    let is_same = |(old, new): (&Result<KeptFileStamp, KeepError>, Result<KeptFileStamp, KeepError>)| matches!((old, new), (Ok(old), Ok(new)) if *old == new);
    if !before.iter().zip(stamps()).all(is_same) {
        return Err(KeepError::Changed);
    }
    let record = staged.record(&home.join(relative), &names)?;
    let record = record.map(|record| record.write(state)).transpose()?;
    hold_point("database");
    let done = staged.put(&names, files);
    record.map_or(Ok(()), WrittenRecord::remove)?;
    done
}

/// The time from which on a change at home may be one that the program has not seen: a killed run may have written earlier.
fn earliest(files: &[DatabaseFile], began: SystemTime) -> SystemTime {
    let written = files.iter().filter_map(|file| match file {
        DatabaseFile::Written(content) => content.symlink_metadata().ok()?.modified().ok(),
        _ => None,
    });
    written.fold(began, SystemTime::min)
}

/// New files next to the database.
struct StagedDatabase<'a> {
    dir: &'a OwnedFd,
    files: [Option<HomeCopy<'a>>; 4],
}

impl<'a> StagedDatabase<'a> {
    fn copy(dir: &'a OwnedFd, files: &[DatabaseFile; 4]) -> Result<StagedDatabase<'a>, KeepError> {
        let mut staged = StagedDatabase { dir, files: Default::default() };
        let index = DATABASE_FILES.len() - 1;
        for (to, file) in staged.files.iter_mut().zip(files).take(index) {
            if let DatabaseFile::Written(content) = file {
                *to = Some(HomeCopy::of(open_kept(content)?, dir, None)?);
            }
        }
        Ok(staged)
    }

    /// What a kill in the middle of [`StagedDatabase::put`] must not separate.
    fn record(&self, database: &Path, names: &[OsString; 4]) -> io::Result<Option<DatabaseRecord>> {
        let [name, ..] = names;
        let old = match rustix::fs::statat(self.dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(DatabaseIdentity::of(&stat)),
            Err(Errno::NOENT) => None,
            Err(e) => return Err(e.into()),
        };
        let [new, logs @ ..] = &self.files;
        let new = new.as_ref().map(HomeCopy::stat).transpose()?;
        let ends = DATABASE_FILES.into_iter().skip(1);
        let logs = ends.zip(logs).filter_map(|(end, copy)| Some((end, copy.as_ref()?.name().to_os_string())));
        Ok(DatabaseRecord::new(database, (old, new.as_ref().map(DatabaseIdentity::of)), logs))
    }

    /// Puts the files in their places. What the program removed, and what another file replaces, is set aside first and
    /// put back after an error. A kill in between leaves it next to the database, with another end.
    fn put(mut self, names: &[OsString; 4], files: &[DatabaseFile; 4]) -> Result<(), KeepError> {
        let touched = |index: usize| files.get(index).is_some_and(|file| *file != DatabaseFile::Untouched);
        let is_touched = (0..files.len()).any(touched);
        let is_only_log = !touched(0) && !touched(2);
        let mut aside = Vec::new();
        let mut put = |aside: &mut Vec<OsString>| -> Result<(), KeepError> {
            for (index, name) in names.iter().enumerate().skip(1) {
                // A new log over the old one needs no moment without a log. The index belongs to the log as it was.
                let is_replaced = is_only_log && self.files.get(index).is_some_and(Option::is_some);
                if !is_replaced && (touched(index) || (index + 1 == names.len() && is_touched)) {
                    match rustix::fs::renameat(self.dir, name, self.dir, set_aside(name)) {
                        Ok(()) => {
                            aside.push(name.clone());
                            hold_point("set aside");
                        }
                        Err(Errno::NOENT) => {}
                        Err(e) => return Err(io::Error::from(e).into()),
                    }
                }
            }
            for (copy, name) in self.files.iter_mut().zip(names) {
                if let Some(copy) = copy.take() {
                    copy.put(name)?;
                    hold_point("put");
                }
            }
            Ok(())
        };
        let done = put(&mut aside);
        for name in aside {
            // Without the database, the old files are those that belong together.
            match &done {
                Ok(()) => drop(rustix::fs::unlinkat(self.dir, set_aside(&name), AtFlags::empty())),
                Err(_) => drop(rustix::fs::renameat(self.dir, set_aside(&name), self.dir, &name)),
            }
        }
        done?;
        rustix::fs::fsync(self.dir).map_err(io::Error::from)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Places {
        _dir: tempfile::TempDir,
        layer: PathBuf,
        home: PathBuf,
    }

    const X: &str = ".agent/x.db";

    impl Places {
        /// A database with a log at home, from before the run.
        fn new() -> Places {
            let dir = tempfile::tempdir().unwrap();
            let base = dir.path().canonicalize().unwrap();
            let places = Places { layer: base.join("layer"), home: base.join("home"), _dir: dir };
            for dir in [&places.layer, &places.home] {
                std::fs::create_dir_all(dir.join(".agent")).unwrap();
            }
            for end in DATABASE_FILES {
                std::fs::write(places.at(end), format!("old{end}")).unwrap();
            }
            std::thread::sleep(2 * TICK);
            places
        }

        fn at(&self, end: &str) -> PathBuf {
            self.home.join(format!("{X}{end}"))
        }

        fn written(&self, end: &str) -> DatabaseFile {
            let file = self.layer.join(format!("{X}{end}"));
            std::fs::write(&file, format!("new{end}")).unwrap();
            DatabaseFile::Written(file)
        }

        fn keep(&self, files: [DatabaseFile; 4], began: SystemTime) -> Result<(), KeepError> {
            keep_database((&self.home, &self.home.join("../state")), Path::new(X), &files, began)
        }

        /// The files at home, and that nothing else is there.
        fn home(&self) -> [Option<String>; 4] {
            let found = DATABASE_FILES.map(|end| std::fs::read_to_string(self.at(end)).ok());
            let count = std::fs::read_dir(self.home.join(".agent")).unwrap().count();
            assert_eq!(count, found.iter().flatten().count(), "a temporary file is left");
            found
        }
    }

    fn texts(texts: [&str; 4]) -> [Option<String>; 4] {
        texts.map(|text| (!text.is_empty()).then(|| text.to_string()))
    }

    #[test]
    fn the_files_of_a_database_are_written_together() {
        use DatabaseFile::{Removed, Untouched};
        let places = Places::new();
        let began = SystemTime::now();
        places.keep([places.written(""), Removed, Untouched, Removed], began).unwrap();
        assert_eq!(places.home(), texts(["new", "", "old-journal", ""]));
        let places = Places::new();
        let began = SystemTime::now();
        places.keep([Untouched, places.written("-wal"), Removed, places.written("-shm")], began).unwrap();
        assert_eq!(places.home(), texts(["old", "new-wal", "", ""]), "the index is made again");
        let began = SystemTime::now() + 2 * TICK;
        std::thread::sleep(3 * TICK);
        places.keep([Untouched, places.written("-wal"), Untouched, Untouched], began).unwrap();
        assert_eq!(places.home(), texts(["old", "new-wal", "", ""]));
        // A directory in the place of the database: the old log is back.
        std::fs::remove_file(places.at("")).unwrap();
        std::fs::create_dir(places.at("")).unwrap();
        let done = places.keep([places.written(""), Removed, Untouched, Untouched], SystemTime::now());
        assert!(done.is_err());
        assert!(places.at("-wal").exists());
        std::fs::remove_dir(places.at("")).unwrap();
        std::fs::remove_dir_all(places.home.join(".agent")).unwrap();
        places.keep([places.written(""), places.written("-wal"), Untouched, Untouched], began).unwrap();
        assert_eq!(places.home(), texts(["new", "new-wal", "", ""]));
    }

    #[test]
    fn a_database_that_somebody_else_used_stays_as_it_is() {
        use DatabaseFile::{Removed, Untouched};
        for end in DATABASE_FILES {
            let places = Places::new();
            let began = SystemTime::now();
            std::fs::write(places.at(end), "theirs").unwrap();
            let before = places.home();
            let done = places.keep([places.written(""), Removed, Untouched, Untouched], began);
            assert!(matches!(done, Err(KeepError::Changed)), "{end}: {done:?}");
            assert_eq!(places.home(), before);
            // A killed run wrote earlier than this one began.
            let places = Places::new();
            let files = [places.written(""), Removed, Untouched, Untouched];
            std::thread::sleep(2 * TICK);
            std::fs::write(places.at(end), "theirs").unwrap();
            std::thread::sleep(2 * TICK);
            let done = places.keep(files, SystemTime::now());
            assert!(matches!(done, Err(KeepError::Changed)), "{end}: {done:?}");
        }
    }

    #[test]
    fn a_name_belongs_to_a_database() {
        let of = |name: &str| database_of(Path::new(name));
        assert_eq!(of("a/x.db-wal").as_deref(), Some(Path::new("a/x.db")));
        assert_eq!(of("x-journal").as_deref(), Some(Path::new("x")));
        assert_eq!((of("a/-wal"), of("a/x.db"), of("x-wal/y")), (None, None, None));
    }
}
