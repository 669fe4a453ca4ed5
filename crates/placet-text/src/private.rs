//! placet's own files: settings, state, logs. Only their owner may read them, whatever the umask is.
//!
//! The umask cannot do this for us: commands inherit it, and what they create in the workspace must have the modes that
//! the person is used to. So each file that placet makes for itself gets its mode here.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The mode of a file of placet's own.
pub const FILE: u32 = 0o600;
/// The mode of a directory of placet's own.
pub const DIR: u32 = 0o700;
/// What anybody but the owner may do.
const OTHERS: u32 = 0o077;

/// How long a write waits for another placet that writes the same file.
const WAIT: Duration = Duration::from_secs(5);

/// Replaces a file in one step: a reader, and a crash, meet the old content or the new one. What a crash leaves of the
/// new content is in [`unfinished`], and the next write removes it.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = UnfinishedFile::create(unfinished(path))?;
    (&new.file).write_all(bytes)?;
    new.file.sync_data()?;
    new.rename_to(path)
}

/// Where [`write`] puts the new content of `path` before it replaces the file. The name is fixed, so that a rule can
/// protect the file, and a write finds what a killed placet left.
pub fn unfinished(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".placet-new");
    path.with_file_name(name)
}

/// Removes what a killed process left of a new content of `path`, which may be a secret. Content that another process
/// writes now stays.
pub fn remove_unfinished(path: &Path) {
    let left = unfinished(path);
    if let Err(e) = remove_dead(&left) {
        tracing::warn!("`{}` was not removed: {e}", left.display());
    }
}

/// New content that is not in its place yet. It is removed when it is dropped.
///
/// Only the holder of the lock of the file that has the name may rename or remove it. So two processes that write at the
/// same time never touch each other's content, and a file without a holder is a dead process's.
struct UnfinishedFile {
    path: PathBuf,
    file: File,
    is_renamed: bool,
}

impl UnfinishedFile {
    /// An empty file that this process has locked.
    fn create(path: PathBuf) -> io::Result<UnfinishedFile> {
        let deadline = Instant::now() + WAIT;
        loop {
            let fresh = fs::OpenOptions::new().write(true).create_new(true).mode(FILE).open(&path);
            let locked = match fresh {
                // Another process may have taken the new file for a dead one's: then it is not at its path any more.
                Ok(file) if is_locked(&file)? && is_at(&file, &path)? => {
                    return Ok(UnfinishedFile { path, file, is_renamed: false });
                }
                Ok(_) => true,
                Err(e) if e.kind() == ErrorKind::AlreadyExists => remove_dead(&path)?,
                Err(e) => return Err(e),
            };
            if Instant::now() > deadline {
                let why = format!("another placet writes `{}`", path.display());
                return Err(io::Error::new(ErrorKind::WouldBlock, why));
            }
            if !locked {
                sleep(Duration::from_millis(5));
            }
        }
    }

    fn rename_to(mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)?;
        self.is_renamed = true;
        Ok(())
    }
}

impl Drop for UnfinishedFile {
    fn drop(&mut self) {
        if !self.is_renamed {
            // Where this fails, the next write removes it.
            drop(fs::remove_file(&self.path));
        }
    }
}

/// Removes what is at the path, unless another process is writing it; false where one is. A link is removed itself, and
/// its target is not opened.
fn remove_dead(path: &Path) -> io::Result<bool> {
    let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits();
    let open = fs::OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path);
    let removed = match open {
        // A pipe or a device is nobody's new content.
        Ok(file) if file.metadata()?.is_file() => match (is_locked(&file)?, is_at(&file, path)?) {
            (false, _) => return Ok(false),
            (true, false) => return Ok(true),
            (true, true) => fs::remove_file(path),
        },
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(true),
        // Whether another process writes the file is not known.
        Err(e) if fs::symlink_metadata(path).is_ok_and(|found| found.is_file()) => return Err(e),
        Ok(_) | Err(_) => fs::remove_file(path),
    };
    match removed {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(e),
        _ => Ok(true),
    }
}

/// Locks the file for this process; false where another process has it.
fn is_locked(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(e)) => Err(e),
    }
}

/// True where the file is still the one that the path names.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let own = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (own.dev(), own.ino())),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

/// The same in place and without waiting for the disk, for marks whose loss does no harm. A link is replaced, and what it
/// leads to is not opened.
pub fn write_quick(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => fs::remove_file(path)?,
        // A pipe would make the open wait for a reader.
        Ok(found) if !found.is_file() => {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        _ => {}
    }
    let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits();
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(FILE).custom_flags(flags.cast_signed());
    options.open(path)?.write_all(bytes)
}

/// Makes a directory and what is missing above it. One that is there keeps its mode.
pub fn make_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(DIR).create(path)
}

/// Takes from others what they may do with a file or a directory of ours; the mode it had, if that was more than it
/// should. A link, another owner's file and what is not there stay as they are.
pub fn tighten(path: &Path) -> io::Result<Option<u32>> {
    let meta = match fs::symlink_metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    let mode = meta.mode() & 0o7777;
    let ours = meta.uid() == rustix::process::geteuid().as_raw();
    if meta.is_symlink() || !ours || mode & OTHERS == 0 {
        return Ok(None);
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode & !OTHERS))?;
    Ok(Some(mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_that_is_a_link_is_replaced_and_its_target_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (mark, other) = (dir.path().join("mark"), dir.path().join("other"));
        fs::write(&other, "theirs").unwrap();
        std::os::unix::fs::symlink(&other, &mark).unwrap();
        write_quick(&mark, b"x").unwrap();
        assert!(fs::symlink_metadata(&mark).unwrap().is_file());
        assert_eq!(
            (fs::read(&mark).unwrap(), fs::read(&other).unwrap()),
            (b"x".to_vec(), b"theirs".to_vec())
        );
        write_quick(&mark, b"").unwrap();
        assert_eq!(fs::metadata(&mark).unwrap().len(), 0);
    }

    /// Story: `kill -9` in a write left a file with a name by chance, with a key in it, which no rule protected and nobody
    /// removed.
    #[test]
    fn what_a_killed_process_left_is_replaced_and_no_link_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (path, other) = (dir.path().join("keys.toml"), dir.path().join("other"));
        let left = unfinished(&path);
        assert_eq!(left, dir.path().join(".keys.toml.placet-new"));
        let names = || {
            let mut names: Vec<_> =
                fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
            names.sort();
            names
        };
        fs::write(&other, "not mine").unwrap();
        let ways: [fn(&Path, &Path); 4] = [
            |left, _| fs::write(left, "a key that is longer than the new content").unwrap(),
            |left, other| std::os::unix::fs::symlink(other, left).unwrap(),
            |left, other| fs::hard_link(other, left).unwrap(),
            |left, _| assert!(std::process::Command::new("mkfifo").arg(left).status().unwrap().success()),
        ];
        for way in ways {
            way(&left, &other);
            write(&path, b"new").unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"new");
            assert_eq!(fs::read(&other).unwrap(), b"not mine");
            assert_eq!(names(), ["keys.toml", "other"]);
        }
        fs::create_dir(&left).unwrap();
        assert!(write(&path, b"newer").is_err(), "a directory is not removed");
        assert_eq!(fs::read(&path).unwrap(), b"new");
        fs::remove_dir(&left).unwrap();
        // A write that fails leaves nothing.
        fs::create_dir(dir.path().join("d")).unwrap();
        assert!(write(&dir.path().join("d"), b"x").is_err());
        assert_eq!(names(), ["d", "keys.toml", "other"]);
    }

    #[test]
    fn writers_at_the_same_time_each_write_their_whole_content() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::thread::scope(|scope| {
            for writer in 0..8_u8 {
                let path = &path;
                scope.spawn(move || {
                    for _ in 0..25 {
                        let content = vec![writer; 1000 + usize::from(writer)];
                        // On a busy machine the others may have the file for longer than one write waits.
                        while let Err(e) = write(path, &content) {
                            assert_eq!(e.kind(), ErrorKind::WouldBlock, "{e}");
                        }
                        let found = fs::read(path).unwrap();
                        let first = found[0];
                        assert!(found.iter().all(|byte| *byte == first), "contents are mixed");
                        assert_eq!(found.len(), 1000 + usize::from(first));
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_looser_is_tightened_once_and_links_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("f"), dir.path().join("l"));
        fs::write(&file, "x").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(tighten(&link).unwrap(), None);
        assert_eq!(tighten(&file).unwrap(), Some(0o666));
        assert_eq!(tighten(&file).unwrap(), None);
        assert_eq!(tighten(&dir.path().join("none")).unwrap(), None);
        write(&file, b"new").unwrap();
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, FILE);
        assert_eq!(fs::read(&file).unwrap(), b"new");
    }
}
