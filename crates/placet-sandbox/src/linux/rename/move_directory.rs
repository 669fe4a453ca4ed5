//! Moves a directory as `mv` does where a rename is not possible: directories are made anew, and each file is renamed by
//! the kernel, which copies it up with everything that belongs to it.

use super::caller::NamedEntry;
use rustix::fs::{
    AtFlags, Dir, FileType, Gid, Mode, OFlags, RenameFlags, Stat, StatxFlags, Timespec, Timestamps, Uid,
    fchmod, fchown, fgetxattr, flistxattr, fsetxattr, fstat, futimens, linkat, mkdirat, openat,
    renameat_with, statat, statx, unlinkat,
};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;
use std::rc::Rc;

/// What is larger is not moved, because the caller, and every other rename of the command, waits for it.
const MOST_FILES: u64 = 100_000;
const MOST_BYTES: u64 = 1 << 30;

/// Each level has open descriptors.
const DEEPEST: u32 = 100;

/// The longest attribute (`XATTR_SIZE_MAX`), and the longest list of names.
const LONGEST_ATTRIBUTES: usize = 65_536;

/// Moves the directory `from` to `to`, which is missing or an empty directory. Both are on one overlay. If it fails, if the
/// directory is too large, contains another mount, or `is_waiting` is no longer true, the error is that of the kernel
/// (EXDEV), and the files are where they were.
pub(super) fn move_directory(
    from: &NamedEntry,
    to: &NamedEntry,
    is_waiting: &dyn Fn() -> bool,
) -> rustix::io::Result<()> {
    let source = open_directory(&from.dir, &from.name)?;
    let known = fstat(&source)?;
    let mut size = TreeSize { mount: mount_of(&source)?, files: 0, bytes: 0 };
    size.add(&source, 0, is_waiting)?;
    let is_new = match mkdirat(&to.dir, &to.name, Mode::RWXU) {
        Ok(()) => true,
        Err(Errno::EXIST) => false,
        Err(error) => return Err(error),
    };
    let target = open_directory(&to.dir, &to.name)?;
    if !is_new && !names(&target)?.is_empty() {
        return Err(Errno::NOTEMPTY);
    }
    let mut mover = Mover { is_waiting, linked: HashMap::new() };
    let moved = mover
        .entries(&source, &target)
        .and_then(|()| copy_attributes(&source, &known, &target))
        .and_then(|()| unlinkat(&from.dir, &from.name, AtFlags::REMOVEDIR));
    moved.map_err(|error| {
        // All of it is in the upper layer now, and so this takes little time.
        let _ = Mover { is_waiting: &|| true, linked: HashMap::new() }.entries(&target, &source);
        if is_new {
            let _ = unlinkat(&to.dir, &to.name, AtFlags::REMOVEDIR);
        }
        if matches!(error, Errno::NOSPC | Errno::DQUOT) { error } else { Errno::XDEV }
    })
}

struct TreeSize {
    mount: u64,
    files: u64,
    bytes: u64,
}

impl TreeSize {
    fn add(&mut self, dir: &OwnedFd, depth: u32, is_waiting: &dyn Fn() -> bool) -> rustix::io::Result<()> {
        if depth > DEEPEST || !is_waiting() {
            return Err(Errno::XDEV);
        }
        for name in names(dir)? {
            let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
            let found = statx(dir, &name, flags, StatxFlags::BASIC_STATS | StatxFlags::MNT_ID)?;
            let kind = FileType::from_raw_mode(found.stx_mode.into());
            self.files += 1;
            self.bytes += if kind == FileType::RegularFile { found.stx_size } else { 0 };
            if self.files > MOST_FILES || self.bytes > MOST_BYTES || found.stx_mnt_id != self.mount {
                return Err(Errno::XDEV);
            }
            if kind == FileType::Directory {
                self.add(&open_directory(dir, name.to_bytes())?, depth + 1, is_waiting)?;
            }
        }
        Ok(())
    }
}

struct Mover<'a> {
    is_waiting: &'a dyn Fn() -> bool,
    /// Where the first name of each file with several names is now: a second one is linked to it, because the kernel would
    /// copy the file again.
    linked: HashMap<(u64, u64), (Rc<OwnedFd>, CString)>,
}

impl Mover<'_> {
    /// Moves what is in `from` into `to`, replacing nothing.
    fn entries(&mut self, from: &OwnedFd, to: &OwnedFd) -> rustix::io::Result<()> {
        let mut shared = None;
        for name in names(from)? {
            if !(self.is_waiting)() {
                return Err(Errno::XDEV);
            }
            let found = statat(from, &name, AtFlags::SYMLINK_NOFOLLOW)?;
            let is_dir = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
            let key = (found.st_dev, found.st_ino);
            if let Some((dir, first)) = self.linked.get(&key).filter(|_| !is_dir) {
                linkat(&**dir, first, to, &name, AtFlags::empty())?;
                unlinkat(from, &name, AtFlags::empty())?;
                continue;
            }
            match renameat_with(from, &name, to, &name, RenameFlags::NOREPLACE) {
                // On the way back a part of it may still be there.
                Err(Errno::XDEV | Errno::EXIST) if is_dir => self.directory(from, to, &name)?,
                other => other?,
            }
            if !is_dir && found.st_nlink > 1 {
                let dir = match &shared {
                    Some(dir) => Rc::clone(dir),
                    None => Rc::clone(shared.insert(Rc::new(to.try_clone().map_err(|_| Errno::MFILE)?))),
                };
                self.linked.insert(key, (dir, name));
            }
        }
        Ok(())
    }

    fn directory(&mut self, from: &OwnedFd, to: &OwnedFd, name: &CStr) -> rustix::io::Result<()> {
        let source = open_directory(from, name.to_bytes())?;
        let known = fstat(&source)?;
        let is_new = match mkdirat(to, name, Mode::RWXU) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(error) => return Err(error),
        };
        let target = open_directory(to, name.to_bytes())?;
        self.entries(&source, &target)?;
        if is_new {
            copy_attributes(&source, &known, &target)?;
        }
        unlinkat(from, name, AtFlags::REMOVEDIR)
    }
}

/// Owner, mode, extended attributes, and the times that `source` had when it was `of`.
fn copy_attributes(source: &OwnedFd, of: &Stat, target: &OwnedFd) -> rustix::io::Result<()> {
    let own = fstat(target)?;
    if (of.st_uid, of.st_gid) != (own.st_uid, own.st_gid) {
        fchown(target, Some(Uid::from_raw(of.st_uid)), Some(Gid::from_raw(of.st_gid)))?;
    }
    let mut list = vec![0; LONGEST_ATTRIBUTES];
    let length = match flistxattr(source, list.as_mut_slice()) {
        Err(Errno::OPNOTSUPP) => 0,
        length => length?,
    };
    let all = list.get(..length).unwrap_or_default().split(|&byte| byte == 0);
    for name in all.filter(|name| name.starts_with(b"user.") || name.starts_with(b"system.posix_acl")) {
        let mut value = vec![0; LONGEST_ATTRIBUTES];
        let length = fgetxattr(source, name, value.as_mut_slice())?;
        fsetxattr(target, name, value.get(..length).unwrap_or_default(), rustix::fs::XattrFlags::empty())?;
    }
    fchmod(target, Mode::from_raw_mode(of.st_mode))?;
    let time = |seconds, nanoseconds: u64| {
        Ok(Timespec { tv_sec: seconds, tv_nsec: i64::try_from(nanoseconds).map_err(|_| Errno::INVAL)? })
    };
    let last_access = time(of.st_atime, of.st_atime_nsec)?;
    let last_modification = time(of.st_mtime, of.st_mtime_nsec)?;
    futimens(target, &Timestamps { last_access, last_modification })
}

/// The number of the mount that `dir` is on.
pub(super) fn mount_of(dir: &OwnedFd) -> rustix::io::Result<u64> {
    let flags = AtFlags::EMPTY_PATH;
    statx(dir, "", flags, StatxFlags::MNT_ID).map(|known| known.stx_mnt_id)
}

fn open_directory(dir: &OwnedFd, name: &[u8]) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(dir, name, flags, Mode::empty())
}

/// All names at once: a directory must not change while it is read.
fn names(dir: &OwnedFd) -> rustix::io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(dir)? {
        let name = entry?.file_name().to_owned();
        if !matches!(name.to_bytes(), b"." | b"..") {
            names.push(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::path::Path;

    fn entry(dir: &Path, name: &str) -> NamedEntry {
        let dir = rustix::fs::open(dir, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
        NamedEntry { dir, name: name.into() }
    }

    fn list(dir: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(dir).into_iter().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Wherever the caller dies, the files are in one of the two places.
    #[test]
    fn a_move_that_is_stopped_is_undone() {
        let base = tempfile::tempdir().unwrap();
        let (from, to) = (base.path().join("from"), base.path().join("to"));
        let made: Vec<String> = (0..8).map(|number| format!("f{number}")).collect();
        for stop in 0..12 {
            std::fs::create_dir_all(from.join("f7")).unwrap();
            made.iter().take(7).for_each(|name| std::fs::write(from.join(name), name).unwrap());
            let asked = Cell::new(0);
            let is_waiting = || asked.replace(asked.get() + 1) < stop;
            let moved = move_directory(&entry(base.path(), "from"), &entry(base.path(), "to"), &is_waiting);
            // Once for the size of each of two directories, and once for each entry.
            assert_eq!(moved, if stop < 10 { Err(Errno::XDEV) } else { Ok(()) }, "{stop}");
            let (kept, gone) = if stop < 10 { (&from, &to) } else { (&to, &from) };
            assert_eq!((list(kept), gone.exists()), (made.clone(), false), "{stop}");
            std::fs::remove_dir_all(kept).unwrap();
        }
    }

    #[test]
    fn what_is_too_large_is_not_begun() {
        let base = tempfile::tempdir().unwrap();
        let from = base.path().join("from");
        std::fs::create_dir(&from).unwrap();
        let file = std::fs::File::create(from.join("large")).unwrap();
        for (length, expected) in [(MOST_BYTES + 1, Err(Errno::XDEV)), (MOST_BYTES, Ok(()))] {
            file.set_len(length).unwrap();
            let to = entry(base.path(), "to");
            assert_eq!(move_directory(&entry(base.path(), "from"), &to, &|| true), expected, "{length}");
            assert_eq!(base.path().join("to").exists(), expected.is_ok());
        }
    }
}
