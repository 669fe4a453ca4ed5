//! A copy of a file of a view next to the file at home that it will replace: under a name of its own, on the disk before
//! the caller puts it in its place, and removed where that does not happen.
//!
//! After a kill nothing removes it, and it may be a whole database. So the name tells which process made it, the file is
//! locked while that process uses it, and the next placet that writes to the same directory removes those of dead processes.

use super::keep_error::{KeepError, LARGEST_KEPT};
use crate::files::metadata::stat_fields::identity;
use crate::files::opening::open_at::OpenedFile;
use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

/// When this process started, as `/proc` counts it: the number of a process is given to another one later.
static STARTED: LazyLock<u64> = LazyLock::new(|| started(std::process::id()).unwrap_or(0));

/// Returns true for bytes that may be written.
pub type AcceptBytes<'a> = &'a dyn Fn(&[u8]) -> bool;

/// The copy while this process uses it.
pub(in crate::files) struct HomeCopy<'d> {
    dir: &'d OwnedFd,
    name: OsString,
    file: File,
    is_put: bool,
}

impl Drop for HomeCopy<'_> {
    fn drop(&mut self) {
        if !self.is_put {
            let _ = rustix::fs::unlinkat(self.dir, &self.name, AtFlags::empty());
        }
    }
}

impl<'d> HomeCopy<'d> {
    /// Copies a file of a view into `dir`, if `accept` returns true for its bytes, and waits until it is on the disk.
    pub(in crate::files) fn of(
        mut opened: OpenedFile,
        dir: &'d OwnedFd,
        accept: Option<AcceptBytes<'_>>,
    ) -> Result<HomeCopy<'d>, KeepError> {
        let mode = Mode::from_raw_mode(opened.stat.st_mode & 0o700 | 0o600);
        let mut copy = HomeCopy::create(dir, mode)?;
        let mut source = (&mut opened.file).take(LARGEST_KEPT + 1);
        let written = match accept {
            None => io::copy(&mut source, &mut copy.file)?,
            // The program may write the file again while it is read: what is looked at is what is written.
            Some(accept) => {
                let mut bytes = Vec::new();
                source.read_to_end(&mut bytes)?;
                if !accept(&bytes) {
                    return Err(KeepError::RunsLater);
                }
                io::copy(&mut bytes.as_slice(), &mut copy.file)?
            }
        };
        if written > LARGEST_KEPT {
            return Err(KeepError::TooLarge);
        }
        copy.file.sync_data()?;
        Ok(copy)
    }

    /// An empty file that this process has locked.
    fn create(dir: &'d OwnedFd, mode: Mode) -> io::Result<HomeCopy<'d>> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            let name = fresh_name();
            let file = match rustix::fs::openat(dir, &name, flags, mode) {
                Ok(file) => File::from(file),
                Err(Errno::EXIST) => continue,
                Err(e) => return Err(e.into()),
            };
            let copy = HomeCopy { dir, name, file, is_put: false };
            match rustix::fs::flock(&copy.file, FlockOperation::NonBlockingLockExclusive) {
                // A placet in another container, which cannot see this process, may have taken it for a dead one's.
                Ok(()) if !is_at(&copy.file, dir, &copy.name)? => {}
                Err(Errno::WOULDBLOCK) => {}
                // Where a file system has no locks, the number of the process has to do.
                Ok(()) | Err(_) => return Ok(copy),
            }
        }
    }

    /// Its name until it is put in its place.
    pub(in crate::files) fn name(&self) -> &OsStr {
        &self.name
    }

    pub(in crate::files) fn stat(&self) -> io::Result<rustix::fs::Stat> {
        Ok(rustix::fs::fstat(&self.file)?)
    }

    /// Gives the copy the name of the file that it replaces.
    pub(in crate::files) fn put(mut self, name: &OsStr) -> io::Result<()> {
        rustix::fs::renameat(self.dir, &self.name, self.dir, name)?;
        self.is_put = true;
        Ok(())
    }
}

/// Removes the copies that dead processes left in a directory, once for each directory and process.
pub(in crate::files) fn remove_dead(dir: &OwnedFd) {
    static SEEN: Mutex<BTreeSet<(u64, u64)>> = Mutex::new(BTreeSet::new());
    let Ok(stat) = rustix::fs::fstat(dir) else { return };
    if SEEN.lock().unwrap_or_else(PoisonError::into_inner).insert(identity(&stat)) {
        remove_dead_now(dir);
    }
}

fn remove_dead_now(dir: &OwnedFd) {
    let Ok(entries) = Dir::read_from(dir) else { return };
    for entry in entries.flatten() {
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if maker(name).is_some_and(|(pid, start)| started(pid) != Some(start))
            && let Err(e) = remove_unlocked(dir, name)
        {
            tracing::warn!("`{}` was not removed: {e}", name.display());
        }
    }
}

/// Removes a regular file of this user with one name, which nobody has locked.
fn remove_unlocked(dir: &OwnedFd, name: &OsStr) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(dir, name, flags, Mode::empty())?);
    let stat = rustix::fs::fstat(&file)?;
    let is_copy = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
        && stat.st_uid == rustix::process::geteuid().as_raw()
        && stat.st_nlink == 1;
    if !is_copy {
        return Ok(());
    }
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) if is_at(&file, dir, name)? => Ok(rustix::fs::unlinkat(dir, name, AtFlags::empty())?),
        Ok(()) | Err(Errno::WOULDBLOCK) => Ok(()),
        Err(e) => Err(e.into()),
    }
}

fn is_at(file: &File, dir: &OwnedFd, name: &OsStr) -> io::Result<bool> {
    let own = rustix::fs::fstat(file)?;
    match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok(identity(&found) == identity(&own)),
        Err(Errno::NOENT) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

/// `.placet-PID-START-COUNT.tmp`
fn fresh_name() -> OsString {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    OsString::from(format!(".placet-{}-{}-{count}.tmp", std::process::id(), *STARTED))
}

/// The number and the start of the process that made a copy with this name.
fn maker(name: &OsStr) -> Option<(u32, u64)> {
    let parts = name.to_str()?.strip_prefix(".placet-")?.strip_suffix(".tmp")?;
    let mut numbers = parts.split('-').map(|part| {
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| part.parse::<u64>().ok()).flatten()
    });
    let (pid, start, count) = (numbers.next()??, numbers.next()??, numbers.next()?);
    (count.is_some() && numbers.next().is_none()).then_some((u32::try_from(pid).ok()?, start))
}

/// When a process started, in ticks since the system did. `None` where there is no such process.
fn started(pid: u32) -> Option<u64> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name, in brackets, may have anything in it. The start is the twentieth field behind it.
    let after = stat.rsplit(|byte| *byte == b')').next()?;
    let field = after.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).nth(19)?;
    std::str::from_utf8(field).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::opening::open_at::open_regular;
    use std::path::Path;

    fn left(dir: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(dir).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn only_the_copies_of_dead_processes_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let me = std::process::id();
        let dead = format!(".placet-{me}-{}-0.tmp", *STARTED + 1);
        let locked = format!(".placet-{me}-{}-1.tmp", *STARTED + 1);
        let linked = format!(".placet-{me}-{}-2.tmp", *STARTED + 1);
        let theirs = [
            ".placet-1-0.tmp".to_string(),
            ".placet-1-0.new".into(),
            ".placet-1-2-x.tmp".into(),
            ".placet-1-2-3-4.tmp".into(),
            ".placet-+1-2-3.tmp".into(),
            format!(".placet-{me}-{}-9.tmp", *STARTED),
            linked.clone(),
            locked.clone(),
            "other".into(),
        ];
        for name in theirs.iter().chain([&dead]) {
            std::fs::write(dir.path().join(name), "x").unwrap();
        }
        std::fs::hard_link(dir.path().join(&linked), dir.path().join("second-name")).unwrap();
        let held = File::open(dir.path().join(&locked)).unwrap();
        rustix::fs::flock(&held, FlockOperation::NonBlockingLockExclusive).unwrap();
        let link = format!(".placet-{me}-{}-3.tmp", *STARTED + 1);
        std::os::unix::fs::symlink("other", dir.path().join(&link)).unwrap();
        let open = OwnedFd::from(File::open(dir.path()).unwrap());
        let before = left(dir.path());
        remove_dead(&open);
        let wanted: Vec<String> = before.into_iter().filter(|name| *name != dead).collect();
        assert_eq!(left(dir.path()), wanted);
        // A lock ends with its process.
        drop(held);
        remove_dead(&open);
        assert!(left(dir.path()).contains(&locked), "a directory is read once");
        remove_dead_now(&open);
        assert!(!left(dir.path()).contains(&locked));
    }

    #[test]
    fn a_copy_that_is_not_put_in_its_place_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("source");
        std::fs::write(&source, "new").unwrap();
        let open = OwnedFd::from(File::open(dir.path()).unwrap());
        let copy = || HomeCopy::of(open_regular(&source, OFlags::RDONLY).unwrap(), &open, None).unwrap();
        let first = copy();
        // Another placet of the same moment leaves it.
        remove_dead_now(&open);
        assert_eq!(maker(&first.name), Some((std::process::id(), *STARTED)));
        assert!(dir.path().join(&first.name).exists());
        drop(first);
        assert_eq!(left(dir.path()), ["source"]);
        copy().put(OsStr::new("x")).unwrap();
        assert_eq!(std::fs::read_to_string(dir.path().join("x")).unwrap(), "new");
        assert_eq!(left(dir.path()), ["source", "x"]);
    }
}
