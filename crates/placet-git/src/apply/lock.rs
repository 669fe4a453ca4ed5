//! Locks of git that placet takes by itself: a link from a file of ours, so that they can be told from any other.

use super::journal::{ApplyJournal, OwnLock};
use crate::error::{GitError, Result};
use crate::git_name::GitName;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A held lock of one file.
#[derive(Debug)]
pub(crate) struct FileLock {
    file: PathBuf,
    lock: PathBuf,
    /// The same inode under a name of ours.
    own: PathBuf,
}

impl FileLock {
    /// Takes the lock of a file in a git directory, or refuses if it is held.
    pub(crate) fn take(git_dir: &Path, name: &str) -> Result<FileLock> {
        let held = FileLock::of(git_dir, name);
        File::create(&held.own).map_err(GitError::io("create", &held.own))?;
        fs::hard_link(&held.own, &held.lock).map_err(|error| {
            let _ = fs::remove_file(&held.own);
            match error.kind() {
                io::ErrorKind::AlreadyExists => GitError::Locked(held.lock.clone()),
                _ => GitError::io("create", &held.lock)(error),
            }
        })?;
        Ok(held)
    }

    fn of(git_dir: &Path, name: &str) -> FileLock {
        let lock = git_dir.join(format!("{name}.lock"));
        // Unique on this machine, and not left by another apply: its journal removes it.
        let own = git_dir.join(format!("{name}.placet-{}", std::process::id()));
        FileLock { file: git_dir.join(name), lock, own }
    }

    /// Writes the new content, as a file of this time.
    pub(crate) fn fill(&self, content: &Path, time: SystemTime) -> Result<()> {
        let failed = || GitError::io("write", &self.own);
        let mut from = File::open(content).map_err(GitError::io("open", content))?;
        let mut to = File::create(&self.own).map_err(failed())?;
        io::copy(&mut from, &mut to).map_err(failed())?;
        if let Ok(old) = fs::metadata(&self.file) {
            to.set_permissions(old.permissions()).map_err(failed())?;
        }
        to.set_times(fs::FileTimes::new().set_modified(time)).map_err(failed())
    }

    /// The same with the time of the old content. git looks again at files that are as new as the index: an index that knows
    /// nothing of the files must not be newer than the old one, or a change in the same moment would be missed.
    pub(crate) fn fill_as_old(&self, content: &Path) -> Result<()> {
        let time = fs::metadata(&self.file).and_then(|old| old.modified());
        self.fill(content, time.unwrap_or_else(|_| SystemTime::now()))
    }

    fn is_held(&self) -> bool {
        same_file(&self.lock, &self.own)
    }

    pub(crate) fn commit(&self) -> Result<()> {
        if self.is_held() {
            let synced = File::open(&self.own).and_then(|file| file.sync_all());
            synced.map_err(GitError::io("write", &self.own))?;
            fs::rename(&self.lock, &self.file).map_err(GitError::io("write", &self.file))?;
        }
        Ok(())
    }

    pub(crate) fn release(&self) {
        if self.is_held() {
            let _ = fs::remove_file(&self.lock);
        }
        let _ = fs::remove_file(&self.own);
    }
}

fn same_file(one: &Path, other: &Path) -> bool {
    match (fs::symlink_metadata(one), fs::symlink_metadata(other)) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

/// All locks of an apply.
#[derive(Debug, Default)]
pub(crate) struct FileLocks(Vec<FileLock>);

impl FileLocks {
    /// Takes a lock that the journal names before.
    pub(crate) fn take(&mut self, journal: &mut ApplyJournal, git_dir: &Path, name: &str) -> Result<()> {
        let FileLock { lock, own, .. } = FileLock::of(git_dir, name);
        let (lock, from) = (GitName::from(lock.as_path()), GitName::from(own.as_path()));
        journal.locks.push(OwnLock::Linked { lock, from });
        journal.save()?;
        self.0.push(FileLock::take(git_dir, name)?);
        Ok(())
    }

    pub(crate) fn of(&self, git_dir: &Path) -> Option<&FileLock> {
        self.0.iter().find(|lock| lock.file.parent() == Some(git_dir))
    }

    pub(crate) fn commit(&self) -> Result<()> {
        self.0.iter().try_for_each(FileLock::commit)
    }

    pub(crate) fn release(&mut self) {
        for lock in self.0.drain(..) {
            lock.release();
        }
    }
}

/// Removes the locks of an apply of which placet or git was killed, and no others. Returns those of which this cannot be told.
pub(crate) fn remove_own(journal: &ApplyJournal) -> Vec<PathBuf> {
    let git_dir = journal.git_dir.as_path();
    // Otherwise git has removed its locks.
    let was_killed = journal.guard().exists();
    let mut unknown = Vec::new();
    for own in &journal.locks {
        match own {
            OwnLock::Linked { lock, from } => {
                if same_file(lock.as_path(), from.as_path()) {
                    remove(lock.as_path());
                }
                let _ = fs::remove_file(from.as_path());
            }
            OwnLock::Taken { lock, device, inode, changed } => {
                let path = git_dir.join(lock.as_path());
                let is_it = fs::symlink_metadata(&path).is_ok_and(|meta| {
                    (meta.dev(), meta.ino()) == (*device, *inode)
                        && (meta.ctime(), meta.ctime_nsec()) == *changed
                });
                if is_it {
                    remove(&path);
                }
            }
            OwnLock::Expected { lock, content } => {
                let path = git_dir.join(lock.as_path());
                let content = content.as_ref().map(GitName::as_bytes);
                match fs::read(&path) {
                    // git may have been killed before it wrote all of it. Nothing is in a lock for a deletion.
                    Ok(bytes) if was_killed && content.is_none_or(|content| content.starts_with(&bytes)) => {
                        remove(&path);
                    }
                    Ok(bytes) if !bytes.is_empty() && content == Some(&bytes) => remove(&path),
                    Ok(_) => unknown.push(path),
                    Err(_) => {}
                }
            }
        }
    }
    let _ = fs::remove_file(journal.guard());
    // A lock may be named with each of the contents that it has one after the other.
    unknown.retain(|path| path.exists());
    unknown
}

/// Who holds the lock of the packed refs has written the new ones, too, and git never replaces that file.
fn remove(lock: &Path) {
    if lock.ends_with("packed-refs.lock") {
        let _ = fs::remove_file(lock.with_extension("new"));
    }
    let _ = fs::remove_file(lock);
}
