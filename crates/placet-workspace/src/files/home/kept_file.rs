//! A program's own state, written from its view to the home directory without the journal: a login or a conversation that
//! a program keeps is not a change that a person reviews.
//!
//! The file in the view is hostile: it may be a link, a pipe or a directory, and so may every directory on the way. Nothing
//! is followed on either side, and the file at home is replaced only while it is what the caller has seen.

use super::home_copy::{self, AcceptBytes, HomeCopy};
use super::keep_error::{KeepError, LARGEST_KEPT};
use crate::WorkspaceError;
use crate::files::metadata::stat_fields::{identity, mode_of};
use crate::files::opening::open_at::{OpenedFile, open_plain, open_regular};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

/// What a file was when it was looked at: any write or replacement changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptFileStamp {
    Absent,
    File { device: u64, inode: u64, size: i64, modified: (i64, i64), changed: (i64, i64) },
}

impl KeptFileStamp {
    /// The stamp of a file below `home`.
    pub fn of(home: &Path, relative: &Path) -> Result<KeptFileStamp, KeepError> {
        match directory(home, relative, None) {
            Ok((dir, name)) => KeptFileStamp::at(&dir, name),
            Err(KeepError::Io(e)) if e.kind() == io::ErrorKind::NotFound => Ok(KeptFileStamp::Absent),
            Err(e) => Err(e),
        }
    }

    pub(in crate::files) fn at(dir: &OwnedFd, name: &OsStr) -> Result<KeptFileStamp, KeepError> {
        match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => KeptFileStamp::of_stat(&stat),
            Err(Errno::NOENT) => Ok(KeptFileStamp::Absent),
            Err(e) => Err(io::Error::from(e).into()),
        }
    }

    /// True where the file was there as it is before a time, and where there is none. The time of its last change in the
    /// file system decides, which no program can set.
    pub fn is_before(self, time: SystemTime) -> bool {
        let KeptFileStamp::File { changed, .. } = self else { return true };
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let since = (i64::try_from(since.as_secs()).unwrap_or(i64::MAX), i64::from(since.subsec_nanos()));
        changed < since
    }

    fn of_stat(stat: &Stat) -> Result<KeptFileStamp, KeepError> {
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(KeepError::NotRegular);
        }
        let (device, inode) = identity(stat);
        #[allow(clippy::unnecessary_cast, reason = "the types depend on the system")]
        let (modified, changed) = (stat.st_mtime_nsec as i64, stat.st_ctime_nsec as i64);
        Ok(KeptFileStamp::File {
            device,
            inode,
            size: stat.st_size,
            modified: (stat.st_mtime, modified),
            changed: (stat.st_ctime, changed),
        })
    }
}

/// Writes `source`, a file of a view, to `relative` below `home`, if the file there has the stamp `expected` and `accept`
/// returns true for the bytes that would be written. Only its owner gets rights over a new file. Returns the new stamp.
pub fn keep_file(
    source: &Path,
    home: &Path,
    relative: &Path,
    expected: KeptFileStamp,
    accept: Option<AcceptBytes<'_>>,
) -> Result<KeptFileStamp, KeepError> {
    // Before a directory is made for it.
    let opened = open_kept(source)?;
    let (dir, name) = directory(home, relative, layer_of(source, relative))?;
    let copy = HomeCopy::of(opened, &dir, accept)?;
    if KeptFileStamp::at(&dir, name)? != expected {
        return Err(KeepError::Changed);
    }
    copy.put(name)?;
    KeptFileStamp::at(&dir, name)
}

pub(in crate::files) fn open_kept(source: &Path) -> Result<OpenedFile, KeepError> {
    let opened = open_regular(source, OFlags::RDONLY).map_err(|e| match e {
        WorkspaceError::Directory(_) | WorkspaceError::Special { .. } | WorkspaceError::Moved(_) => {
            KeepError::NotRegular
        }
        e => e.into(),
    })?;
    if opened.size > LARGEST_KEPT { Err(KeepError::TooLarge) } else { Ok(opened) }
}

/// The layer that `source` is in: its path without `relative`.
pub(in crate::files) fn layer_of<'a>(source: &'a Path, relative: &Path) -> Option<&'a Path> {
    source.ancestors().nth(relative.components().count())
}

/// The open directory of a file below `home`, and the name of the file. Missing directories are made as they are in `layer`,
/// if there is one: a pending change in one of them then finds the directory that it expects.
pub(in crate::files) fn directory<'a>(
    home: &Path,
    relative: &'a Path,
    layer: Option<&Path>,
) -> Result<(OwnedFd, &'a OsStr), KeepError> {
    let none = || io::Error::new(io::ErrorKind::InvalidInput, "it has no name");
    let name = relative.file_name().ok_or_else(none)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut dir = open_plain(home, flags)?;
    let mut like = layer.map(Path::to_path_buf);
    for part in relative.parent().unwrap_or(Path::new("")) {
        like.iter_mut().for_each(|like| like.push(part));
        let mut next = rustix::fs::openat(&dir, part, flags, Mode::empty());
        if let (Some(like), Err(Errno::NOENT)) = (&like, &next) {
            match rustix::fs::mkdirat(&dir, part, Mode::from_raw_mode(0o700)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(e) => return Err(io::Error::from(e).into()),
            }
            next = rustix::fs::openat(&dir, part, flags, Mode::empty());
            if let Ok(made) = &next {
                // Not wider than usual, whatever the program gave its own directory.
                let meta = std::fs::symlink_metadata(like).ok().filter(std::fs::Metadata::is_dir);
                let mode = meta.map_or(0o700, |meta| meta.mode() & 0o755 | 0o700);
                rustix::fs::fchmod(made, mode_of(mode)).map_err(io::Error::from)?;
            }
        }
        dir = match next {
            Ok(dir) => dir,
            Err(Errno::LOOP | Errno::NOTDIR) => return Err(KeepError::NoDirectory),
            Err(e) => return Err(io::Error::from(e).into()),
        };
    }
    home_copy::remove_dead(&dir);
    Ok((dir, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;

    fn places() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let (layer, home) = (base.join("layer"), base.join("home"));
        std::fs::create_dir_all(layer.join(".agent")).unwrap();
        std::fs::create_dir(&home).unwrap();
        (dir, layer, home)
    }

    #[test]
    fn a_file_is_written_privately_and_only_over_what_was_seen() {
        let (_dir, layer, home) = places();
        let (source, rel) = (layer.join(".agent/login"), Path::new(".agent/login"));
        std::fs::write(&source, "one").unwrap();
        std::fs::set_permissions(&source, PermissionsExt::from_mode(0o4644)).unwrap();
        let stamp = KeptFileStamp::of(&home, rel).unwrap();
        assert_eq!(stamp, KeptFileStamp::Absent);
        let stamp = keep_file(&source, &home, rel, stamp, None).unwrap();
        assert_eq!(std::fs::read_to_string(home.join(rel)).unwrap(), "one");
        assert_eq!(std::fs::metadata(home.join(rel)).unwrap().permissions().mode() & 0o7777, 0o600);
        std::fs::write(&source, "two").unwrap();
        let newer = keep_file(&source, &home, rel, stamp, None).unwrap();
        std::fs::write(home.join(rel), "by another program").unwrap();
        assert!(matches!(keep_file(&source, &home, rel, newer, None), Err(KeepError::Changed)));
        assert_eq!(std::fs::read_to_string(home.join(rel)).unwrap(), "by another program");
        assert_eq!(std::fs::read_dir(home.join(".agent")).unwrap().count(), 1, "a temporary file is left");
    }

    #[test]
    fn nothing_is_followed_in_the_layer_or_at_home() {
        let (_dir, layer, home) = places();
        let rel = Path::new(".agent/login");
        let source = layer.join(rel);
        symlink("/etc/passwd", &source).unwrap();
        assert!(matches!(
            keep_file(&source, &home, rel, KeptFileStamp::Absent, None),
            Err(KeepError::NotRegular)
        ));
        std::fs::remove_file(&source).unwrap();
        std::fs::create_dir(&source).unwrap();
        assert!(matches!(
            keep_file(&source, &home, rel, KeptFileStamp::Absent, None),
            Err(KeepError::NotRegular)
        ));
        std::fs::remove_dir(&source).unwrap();
        placet_text::text::regular_file::make_pipe(&source);
        assert!(matches!(
            keep_file(&source, &home, rel, KeptFileStamp::Absent, None),
            Err(KeepError::NotRegular)
        ));
        std::fs::remove_dir_all(layer.join(".agent")).unwrap();
        symlink("/etc", layer.join(".agent")).unwrap();
        let through = layer.join(".agent/passwd");
        assert!(matches!(
            keep_file(&through, &home, rel, KeptFileStamp::Absent, None),
            Err(KeepError::NotRegular)
        ));
        std::fs::remove_file(layer.join(".agent")).unwrap();
        std::fs::create_dir(layer.join(".agent")).unwrap();
        std::fs::write(&source, "x").unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        symlink(elsewhere.path(), home.join(".agent")).unwrap();
        assert!(matches!(
            keep_file(&source, &home, rel, KeptFileStamp::Absent, None),
            Err(KeepError::NoDirectory)
        ));
        assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }
}
