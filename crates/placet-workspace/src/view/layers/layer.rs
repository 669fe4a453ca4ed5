//! A layer: a directory tree in the format of the kernel's overlay, with the differences from the layers below it.
//!
//! A deleted path is a character device 0:0 (a whiteout); a directory that hides the directory below it has
//! `user.overlay.opaque`. Links in it are never followed: each step starts from an open directory.

use crate::error::WorkspaceError;
use crate::files::metadata::path_state::{FileAttrs, WritableDirGuard, open_anyway};
use crate::files::metadata::stat_fields::{mode_of, permissions};
use crate::files::opening::open::dir_at;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Stat, Timespec, Timestamps, XattrFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

pub(in crate::view) const OPAQUE: &str = "user.overlay.opaque";
/// The mode that a directory of a layer has in the view, in octal digits, where its owner could not list or enter one
/// of that mode. No command sees or sets it: the kernel keeps this prefix to itself.
const OWN_MODE: &str = "user.overlay.placet.mode";

/// The entry of a layer for a path.
#[derive(Debug)]
pub(in crate::view) enum LayerLookup {
    /// Nothing: look below.
    Through,
    /// The path is deleted, whatever the layers below have.
    Gone,
    Here {
        stat: Stat,
        opaque: bool,
    },
}

/// What a layer has at the path of a directory.
pub(in crate::view) enum LayerDir {
    /// Nothing: the layers below decide.
    Through,
    /// No directory, whatever the layers below have.
    Gone,
    Open {
        dir: OwnedFd,
        /// It hides what the layers below have in it.
        opaque: bool,
    },
}

#[derive(Debug)]
pub(in crate::view) struct Layer {
    dir: PathBuf,
    /// The layer is empty and always was: every question is answered without a look at the disk.
    blank: AtomicBool,
    /// How often it was opened to be changed.
    writes: AtomicU64,
}

impl Layer {
    pub(in crate::view) fn at(dir: PathBuf) -> Layer {
        // An empty one is not blank: its own mode may be what was changed.
        let blank = !super::roots::may_exist(&dir);
        Layer { dir, blank: AtomicBool::new(blank), writes: AtomicU64::new(0) }
    }

    pub(in crate::view) fn writes(&self) -> u64 {
        self.writes.load(Ordering::Acquire)
    }

    pub(in crate::view) fn is_blank(&self) -> bool {
        self.blank.load(Ordering::Acquire)
    }

    pub(in crate::view) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The layer's own directory, made when it is first needed. `like` is the directory that it covers: a command sees
    /// the mode of the topmost layer.
    fn root(&self, like: &Path) -> io::Result<OwnedFd> {
        if !self.dir.exists()
            && let Err(e) = self.make_root(like)
        {
            // With another mode than the real directory, it would be a change that nobody made.
            let _ = std::fs::remove_dir(&self.dir);
            return Err(e);
        }
        self.blank.store(false, Ordering::Release);
        self.writes.fetch_add(1, Ordering::AcqRel);
        self.open_root()
    }

    fn make_root(&self, like: &Path) -> io::Result<()> {
        placet_text::private::make_dir(&self.dir)?;
        let model = match dir_at(like) {
            Ok(model) => File::from(model),
            // It has no mode that a command could see.
            Err(WorkspaceError::Missing(_) | WorkspaceError::NotDirectory(_) | WorkspaceError::Denied(_)) => {
                return Ok(());
            }
            Err(e) => return Err(io::Error::other(e)),
        };
        let attrs = FileAttrs::of(&model, &rustix::fs::fstat(&model)?)?;
        let made = File::open(&self.dir)?;
        // An owner that cannot be given does not matter: this directory only represents the real directory.
        if attrs.apply_to_layer(&made).is_err() {
            rustix::fs::fchmod(&made, mode_of(attrs.mode | 0o700))?;
        }
        Ok(())
    }

    fn open_root(&self) -> io::Result<OwnedFd> {
        Ok(rustix::fs::open(&self.dir, dir_flags(), Mode::empty())?)
    }

    /// Makes the directory as [`Layer::parent`] would.
    pub(in crate::view) fn open_like(&self, like: &Path) -> io::Result<OwnedFd> {
        self.root(like)
    }

    /// Another part of the program put the directory in place.
    pub(in crate::view) fn recheck(&self) {
        let blank = Layer::at(self.dir.clone()).is_blank();
        self.blank.store(blank, Ordering::Release);
        self.writes.fetch_add(1, Ordering::AcqRel);
    }

    pub(in crate::view) fn find(&self, rel: &Path) -> io::Result<LayerLookup> {
        if self.is_blank() {
            return Ok(LayerLookup::Through);
        }
        let mut at = match self.open_root() {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(LayerLookup::Through),
            other => other?,
        };
        let mut opaque = false;
        let names = names(rel);
        let Some((last, above)) = names.split_last() else {
            return Ok(LayerLookup::Here { stat: rustix::fs::fstat(&at)?, opaque: false });
        };
        for name in above {
            match entry(&at, name)? {
                None => return Ok(if opaque { LayerLookup::Gone } else { LayerLookup::Through }),
                Some(stat) if is_dir(&stat) => {
                    at = enter(&at, name)?;
                    opaque |= is_opaque(&at)?;
                }
                Some(_) => return Ok(LayerLookup::Gone),
            }
        }
        match entry(&at, last)? {
            None => Ok(if opaque { LayerLookup::Gone } else { LayerLookup::Through }),
            Some(stat) if is_whiteout(&stat) => Ok(LayerLookup::Gone),
            Some(stat) if is_dir(&stat) => {
                let here = enter(&at, last)?;
                Ok(LayerLookup::Here { stat, opaque: opaque || is_opaque(&here)? })
            }
            Some(stat) => Ok(LayerLookup::Here { stat, opaque: true }),
        }
    }

    /// Opens the directory `rel`, if the layer has it.
    pub(in crate::view) fn open_dir(&self, rel: &Path) -> io::Result<LayerDir> {
        if self.is_blank() {
            return Ok(LayerDir::Through);
        }
        let mut dir = match self.open_root() {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(LayerDir::Through),
            other => other?,
        };
        let mut opaque = false;
        for name in names(rel) {
            match entry(&dir, name)? {
                None => return Ok(if opaque { LayerDir::Gone } else { LayerDir::Through }),
                Some(stat) if is_dir(&stat) => {
                    dir = enter(&dir, name)?;
                    opaque |= is_opaque(&dir)?;
                }
                Some(_) => return Ok(LayerDir::Gone),
            }
        }
        Ok(LayerDir::Open { dir, opaque })
    }

    /// Opens the directory of `rel` here, making what is missing; each new one looks as `like` says for its path.
    pub(in crate::view) fn parent(
        &self,
        rel: &Path,
        root: &Path,
        like: &dyn Fn(&Path) -> Option<FileAttrs>,
    ) -> io::Result<OwnedFd> {
        let mut at = self.root(root)?;
        let mut path = PathBuf::new();
        for name in rel.parent().map(names).unwrap_or_default() {
            path.push(name);
            match entry(&at, name)? {
                Some(stat) if is_dir(&stat) => {}
                other => {
                    let gone = other.is_some();
                    if gone {
                        let _eased = WritableDirGuard::of(&at);
                        rustix::fs::unlinkat(&at, name, AtFlags::empty())?;
                    }
                    let _eased = WritableDirGuard::of(&at);
                    match rustix::fs::mkdirat(&at, name, Mode::from_raw_mode(0o755)) {
                        // Another tool, which writes a file beside this one, has made it just now.
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(e) => return Err(e.into()),
                    }
                    let made = File::from(rustix::fs::openat(&at, name, dir_flags(), Mode::empty())?);
                    if let Some(attrs) = like(&path) {
                        // A group that the user is not in cannot be given; the directory represents the real directory
                        // all the same.
                        if attrs.apply_to_layer(&made).is_err() {
                            rustix::fs::fchmod(&made, mode_of(attrs.mode | 0o700))?;
                        }
                    }
                    if gone {
                        mark_opaque(&made)?;
                    }
                }
            }
            at = enter(&at, name)?;
        }
        Ok(at)
    }

    /// Drops the layer's entry at `name`.
    pub(in crate::view) fn clear(dir: &OwnedFd, name: &OsStr) -> io::Result<()> {
        let _eased = WritableDirGuard::of(dir);
        match rustix::fs::unlinkat(dir, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            // What `unlink` says of a directory: EISDIR on Linux, EPERM by POSIX and on macOS.
            Err(Errno::ISDIR | Errno::PERM) => remove_tree(dir, name),
            Err(e) => Err(e.into()),
        }
    }

    pub(in crate::view) fn whiteout(dir: &OwnedFd, name: &OsStr) -> io::Result<()> {
        Layer::clear(dir, name)?;
        let _eased = WritableDirGuard::of(dir);
        make_special(dir, name, FileType::CharacterDevice, Mode::empty())
    }

    /// A directory at `name`, with what it holds already.
    pub(in crate::view) fn make_dir(
        dir: &OwnedFd,
        name: &OsStr,
        attrs: &FileAttrs,
        opaque: bool,
    ) -> io::Result<()> {
        let _eased = WritableDirGuard::of(dir);
        match entry(dir, name)? {
            Some(stat) if is_dir(&stat) => {}
            found => {
                if found.is_some() {
                    Layer::clear(dir, name)?;
                }
                rustix::fs::mkdirat(dir, name, Mode::from_raw_mode(0o700))?;
            }
        }
        let made = File::from(enter(dir, name)?);
        if opaque {
            let _eased = WritableDirGuard::of(&made);
            mark_opaque(&made)?;
        }
        Ok(attrs.give_keeping_marks(&made)?)
    }

    /// Drops everything.
    pub(in crate::view) fn wipe(&self) -> io::Result<()> {
        if self.dir.exists() {
            remove_dir_all(&self.dir)?;
        }
        self.blank.store(true, Ordering::Release);
        self.writes.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }
}

impl FileAttrs {
    /// As [`FileAttrs::give`], with the overlay's own marks left alone.
    fn give_keeping_marks(&self, file: &File) -> rustix::io::Result<()> {
        let opaque = is_opaque(file)?;
        self.apply_to_layer(file)?;
        if opaque { mark_opaque(file) } else { Ok(()) }
    }

    /// As [`FileAttrs::give`] for a directory of a layer, which its owner must be able to read.
    pub(in crate::view) fn apply_to_layer(&self, dir: &File) -> rustix::io::Result<()> {
        self.give(dir)?;
        make_readable(dir)
    }
}

pub(in crate::view) fn names(rel: &Path) -> Vec<&OsStr> {
    let names = rel.components().filter_map(|c| match c {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    names.collect()
}

pub(in crate::view) fn dir_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

/// Opens a directory in an open one, whatever its mode.
fn enter(dir: &OwnedFd, name: &OsStr) -> io::Result<OwnedFd> {
    let (opened, _) = open_anyway(dir, name, OFlags::DIRECTORY)?;
    Ok(opened.into())
}

pub(in crate::view) fn entry(dir: impl AsFd, name: &OsStr) -> io::Result<Option<Stat>> {
    let mut found = rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW);
    if matches!(found, Err(Errno::ACCESS)) {
        // Its owner may not look names up in it.
        let _eased = WritableDirGuard::of(&dir);
        found = rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW);
    }
    match found {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

pub(in crate::view) fn is_dir(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

pub(in crate::view) fn is_whiteout(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice && stat.st_rdev == 0
}

/// True where the directory hides what lower layers have. A mark that cannot be read is an error: without the mark, files
/// that a command deleted would come back.
pub(crate) fn is_opaque(dir: impl AsFd) -> rustix::io::Result<bool> {
    Ok(mark_of(dir, OPAQUE)?.as_deref() == Some(b"y"))
}

/// The overlay's or our own mark on a directory, at most eight bytes; a longer value is nobody's mark.
fn mark_of(dir: impl AsFd, name: &str) -> rustix::io::Result<Option<Vec<u8>>> {
    let mut value = [0u8; 8];
    match rustix::fs::fgetxattr(dir, name, &mut value[..]) {
        Ok(length) => Ok(value.get(..length).map(<[u8]>::to_vec)),
        Err(Errno::NODATA | Errno::NOTSUP | Errno::RANGE) => Ok(None),
        Err(e) => Err(e),
    }
}

fn mark_opaque(dir: impl AsFd) -> rustix::io::Result<()> {
    rustix::fs::fsetxattr(dir, OPAQUE, b"y", XattrFlags::empty())
}

/// The same for the directory `name` in `dir`, whatever its mode is.
pub(in crate::view) fn mark_opaque_at(dir: &OwnedFd, name: &OsStr) -> io::Result<()> {
    let (file, own) = open_anyway(dir, name, OFlags::DIRECTORY)?;
    let mode = own.map_or_else(|| rustix::fs::fstat(&file).map(|stat| permissions(&stat)), Ok)?;
    let shut = mode & 0o200 == 0;
    if shut {
        rustix::fs::fchmod(&file, mode_of(mode | 0o200))?;
    }
    let marked = mark_opaque(&file);
    if shut {
        rustix::fs::fchmod(&file, mode_of(mode))?;
    }
    Ok(marked?)
}

/// What is in the directory joins what lower layers have.
pub(in crate::view) fn clear_opaque(dir: impl AsFd) -> io::Result<()> {
    match rustix::fs::fremovexattr(dir, OPAQUE) {
        Ok(()) | Err(Errno::NODATA | Errno::NOTSUP) => Ok(()),
        Err(e) => Err(e.into()),
    }
}

/// Moves `name` from one open directory to another; across file systems it is copied.
pub(in crate::view) fn move_or_copy(
    from: &OwnedFd,
    name: &OsStr,
    to: &OwnedFd,
    as_name: &OsStr,
) -> io::Result<()> {
    let _eased = WritableDirGuard::of(to);
    match rustix::fs::renameat_with(from, name, to, as_name, RenameFlags::empty()) {
        Ok(()) => Ok(()),
        Err(Errno::XDEV) => copy_across(from, name, to, as_name),
        Err(e) => Err(e.into()),
    }
}

fn copy_across(from: &OwnedFd, name: &OsStr, to: &OwnedFd, as_name: &OsStr) -> io::Result<()> {
    let staged = crate::files::writing::atomic_write::fresh_name();
    if let Err(e) = copy_one(from, name, to, &staged) {
        let _ = rustix::fs::unlinkat(to, &staged, AtFlags::empty());
        return Err(e);
    }
    match entry(to, &staged)? {
        Some(_) => rustix::fs::renameat(to, &staged, to, as_name)?,
        // A pipe or the like is not copied.
        None => Layer::clear(to, as_name)?,
    }
    Ok(rustix::fs::unlinkat(from, name, AtFlags::empty())?)
}

/// A file or a link; of anything else nothing is copied.
pub(in crate::view) fn copy_one(
    from: &OwnedFd,
    name: &OsStr,
    to: &OwnedFd,
    as_name: &OsStr,
) -> io::Result<()> {
    let Some(stat) = entry(from, name)? else { return Ok(()) };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(from, name, Vec::new())?;
            rustix::fs::symlinkat(&target, to, as_name)?;
        }
        FileType::RegularFile => {
            let (old, _) = open_anyway(from, name, OFlags::empty())?;
            let write = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let new = File::from(rustix::fs::openat(to, as_name, write, Mode::from_raw_mode(0o600))?);
            crate::files::content::sparse::copy(&old, &new)?;
            FileAttrs::of(&old, &stat)?.give(&new)?;
        }
        _ => {}
    }
    Ok(())
}

/// A pipe, a socket or a whiteout.
#[cfg(target_os = "linux")]
fn make_special(dir: &OwnedFd, name: &OsStr, kind: FileType, mode: Mode) -> io::Result<()> {
    Ok(rustix::fs::mknodat(dir, name, kind, mode, rustix::fs::makedev(0, 0))?)
}

/// Without overlays no command writes into a layer, and only root could make a whiteout.
#[cfg(not(target_os = "linux"))]
fn make_special(_: &OwnedFd, _: &OsStr, _: FileType, _: Mode) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Copies everything in one layer's directory, marks, whiteouts and times included, to another that is empty. The times
/// matter to programs such as make, which compare them.
pub(in crate::view) fn copy_tree(from: &OwnedFd, to: &OwnedFd) -> io::Result<()> {
    for name in list(from)? {
        let Some(stat) = entry(from, &name)? else { continue };
        let kind = FileType::from_raw_mode(stat.st_mode);
        if is_whiteout(&stat) {
            Layer::whiteout(to, &name)?;
        } else if is_dir(&stat) {
            rustix::fs::mkdirat(to, &name, Mode::from_raw_mode(0o700))?;
            copy_tree(&enter(from, &name)?, &enter(to, &name)?)?;
        } else if matches!(kind, FileType::Fifo | FileType::Socket) {
            make_special(to, &name, kind, Mode::from_raw_mode(stat.st_mode & 0o7777))?;
        } else {
            copy_one(from, &name, to, &name)?;
        }
        let times = times_of(&stat);
        match rustix::fs::utimensat(to, &name, &times, AtFlags::SYMLINK_NOFOLLOW) {
            // A device was not copied.
            Ok(()) | Err(Errno::NOENT) => {}
            Err(e) => return Err(e.into()),
        }
    }
    let (old, new) = (File::from(from.try_clone()?), File::from(to.try_clone()?));
    let stat = rustix::fs::fstat(&old)?;
    if is_opaque(&old)? {
        mark_opaque(&new)?;
    }
    FileAttrs::of(&old, &stat)?.give_keeping_marks(&new)?;
    if let Some(mode) = own_mode(&old)? {
        rustix::fs::fsetxattr(&new, OWN_MODE, format!("{mode:o}").as_bytes(), XattrFlags::empty())?;
    }
    Ok(rustix::fs::futimens(&new, &times_of(&stat))?)
}

#[allow(clippy::useless_conversion, reason = "the types of the fields differ between systems")]
fn times_of(stat: &Stat) -> Timestamps {
    let time = |seconds, nanoseconds: i64| Timespec { tv_sec: seconds, tv_nsec: nanoseconds };
    let nanoseconds = |n| i64::try_from(n).unwrap_or(0);
    Timestamps {
        last_access: time(stat.st_atime, nanoseconds(stat.st_atime_nsec)),
        last_modification: time(stat.st_mtime, nanoseconds(stat.st_mtime_nsec)),
    }
}

pub(in crate::view) fn open_dir(path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(path, dir_flags(), Mode::empty())?)
}

/// Opens a directory of a command's layer and makes it and everything below readable, whatever modes the command left
/// there.
pub(in crate::view) fn open_readable(path: &Path) -> io::Result<OwnedFd> {
    let dir = crate::files::metadata::path_state::dir_anyway(path)?;
    make_tree_readable(&dir)?;
    Ok(dir)
}

fn make_tree_readable(dir: &OwnedFd) -> io::Result<()> {
    make_readable(dir)?;
    for name in DirNames::of(dir)?.iter() {
        if entry(dir, name)?.is_some_and(|stat| is_dir(&stat)) {
            make_tree_readable(&enter(dir, name)?)?;
        }
    }
    Ok(())
}

/// Gives the owner of a layer's directory all rights to it where they could not read it, and notes its own mode.
fn make_readable(dir: impl AsFd) -> rustix::io::Result<()> {
    let mode = rustix::fs::fstat(&dir)?.st_mode & 0o7777;
    if mode & 0o500 == 0o500 {
        return Ok(());
    }
    // First the mode: who cannot write a directory cannot set its attributes either.
    rustix::fs::fchmod(&dir, Mode::from_raw_mode(mode | 0o700))?;
    rustix::fs::fsetxattr(&dir, OWN_MODE, format!("{mode:o}").as_bytes(), XattrFlags::empty())
}

/// The mode that a directory of a layer has in the view, if it differs from the mode on disk.
pub(in crate::view) fn own_mode(dir: impl AsFd) -> rustix::io::Result<Option<u32>> {
    let mode = mark_of(dir, OWN_MODE)?;
    Ok(mode.and_then(|digits| u32::from_str_radix(std::str::from_utf8(&digits).ok()?, 8).ok()))
}

fn remove_tree(dir: &OwnedFd, name: &OsStr) -> io::Result<()> {
    let flags = dir_flags();
    // A command may have left a directory that its owner cannot list.
    let below = match rustix::fs::openat(dir, name, flags, Mode::empty()) {
        Err(Errno::ACCESS) => {
            rustix::fs::chmodat(dir, name, Mode::from_raw_mode(0o700), AtFlags::empty())?;
            rustix::fs::openat(dir, name, flags, Mode::empty())?
        }
        other => other?,
    };
    let mode = rustix::fs::fstat(&below)?.st_mode;
    if mode & 0o300 != 0o300 {
        rustix::fs::fchmod(&below, Mode::from_raw_mode(mode & 0o7777 | 0o700))?;
    }
    for entry in list(&below)? {
        match rustix::fs::unlinkat(&below, &entry, AtFlags::empty()) {
            Ok(()) => {}
            Err(Errno::ISDIR | Errno::PERM) => remove_tree(&below, &entry)?,
            Err(e) => return Err(e.into()),
        }
    }
    Ok(rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR)?)
}

/// Removes a directory of placet's own and everything in it, whatever modes a command left there.
pub fn remove_dir_all(path: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    remove_tree(&rustix::fs::open(parent, dir_flags(), Mode::empty())?, name)
}

pub(in crate::view) fn list(dir: impl AsFd) -> io::Result<Vec<OsString>> {
    Ok(DirNames::of(dir)?.iter().map(OsStr::to_os_string).collect())
}

/// The names in a directory, each with a zero byte after it: a command may leave hundreds of thousands in one.
pub(in crate::view) struct DirNames(Vec<u8>);

impl DirNames {
    pub(in crate::view) fn of(dir: impl AsFd) -> io::Result<DirNames> {
        let mut found = Vec::new();
        // By this very descriptor: the directory's mode may forbid to open it once more.
        let mut listed = rustix::fs::Dir::new(dir.as_fd().try_clone_to_owned()?)?;
        listed.rewind();
        for entry in listed {
            let entry = entry?;
            let name = entry.file_name();
            if !matches!(name.to_bytes(), b"." | b"..") {
                found.extend_from_slice(name.to_bytes_with_nul());
            }
        }
        Ok(DirNames(found))
    }

    pub(in crate::view) fn iter(&self) -> impl Iterator<Item = &OsStr> {
        let names = self.0.strip_suffix(b"\0").map(|names| names.split(|byte| *byte == 0));
        names.into_iter().flatten().map(OsStr::from_bytes)
    }
}
