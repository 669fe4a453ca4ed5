//! Writing a file so that it is old or new in full, without overwriting the work of other programs.
//!
//! The new content is written to a file without a name, synced, read back, and given the old file's owner, mode and
//! attributes. Then the new and the old file are exchanged in one step, and the displaced content is hashed. If it is
//! not the expected content, another program wrote in between, and the two files are exchanged again. One gap remains:
//! a program that opened the file before, and writes to it after that check, writes to a deleted file.
//!
//! A file with several names (hard links), or whose owner or attributes cannot be given to a new file, is written in
//! place instead: all names still lead to one file, and a crash in the middle can leave it half written.

pub(crate) use super::exchange::{QuietFile, exchange_checked};
pub(crate) use super::temp_name::{fresh_name, link_fd};
use crate::files::content::sparse::hash_of;
pub(crate) use crate::files::metadata::xattr::{attribute, attributes};
use crate::files::opening::open::{FileKind, dir_at, special};
use crate::{Hash, OpenConsent, ResolvedPath, Workspace, WorkspaceError};
use placet_permission::{Permit, WritePolicy};
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, Stat, XattrFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

/// What must be there for a write to go ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedContent {
    /// Nothing: the file is created, its directories too.
    Absent,
    /// The content with this hash.
    Content(Hash),
    /// A directory, of which the same batch removes every file.
    EmptiedDirectory,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteOutcome {
    pub hash: Hash,
    /// The file has several names, or an owner that placet cannot set: it was written in place.
    pub in_place: bool,
    /// The change is pending: the workspace itself has not changed.
    pub held: bool,
}

/// The new content of a file: borrowed, or shared with the caller, who saves a copy.
pub enum WriteBytes<'a> {
    Borrowed(&'a [u8]),
    Shared(&'a Arc<Vec<u8>>),
}

impl std::ops::Deref for WriteBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            WriteBytes::Borrowed(bytes) => bytes,
            WriteBytes::Shared(bytes) => bytes,
        }
    }
}

impl WriteBytes<'_> {
    pub(crate) fn shared(self) -> Arc<Vec<u8>> {
        match self {
            WriteBytes::Borrowed(bytes) => Arc::new(bytes.to_vec()),
            WriteBytes::Shared(bytes) => bytes.clone(),
        }
    }
}

impl<'a> From<&'a [u8]> for WriteBytes<'a> {
    fn from(bytes: &'a [u8]) -> WriteBytes<'a> {
        WriteBytes::Borrowed(bytes)
    }
}

impl<'a> From<&'a Vec<u8>> for WriteBytes<'a> {
    fn from(bytes: &'a Vec<u8>) -> WriteBytes<'a> {
        WriteBytes::Borrowed(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for WriteBytes<'a> {
    fn from(bytes: &'a [u8; N]) -> WriteBytes<'a> {
        WriteBytes::Borrowed(bytes)
    }
}

impl<'a> From<&'a Arc<Vec<u8>>> for WriteBytes<'a> {
    fn from(bytes: &'a Arc<Vec<u8>>) -> WriteBytes<'a> {
        WriteBytes::Shared(bytes)
    }
}

impl Workspace {
    /// Writes the whole content of a file. Fails with [`WorkspaceError::Raced`] or [`WorkspaceError::Exists`], and
    /// leaves the file unchanged, when the present content is not `before`.
    pub fn write<'a>(
        &self,
        at: &ResolvedPath,
        permit: &Permit,
        bytes: impl Into<WriteBytes<'a>>,
        before: ExpectedContent,
    ) -> Result<WriteOutcome, WorkspaceError> {
        self.consented(at, OpenConsent::Permit(permit), &at.write())?;
        self.refuse_unwritable(at)?;
        let bytes = bytes.into();
        if let Some(view) = self.view() {
            return view.write(&at.path, bytes, before, view.writer(permit));
        }
        if matches!(permit.write_policy(), WritePolicy::Hold | WritePolicy::Discard) {
            // There is no view in which the change could be pending: nothing is written.
            return Err(WorkspaceError::ReadOnly(at.path.clone()));
        }
        let (Some(parent), Some(name)) = (at.path.parent(), at.path.file_name()) else {
            return Err(WorkspaceError::Directory(at.path.clone()));
        };
        let dir = match before {
            ExpectedContent::Absent | ExpectedContent::EmptiedDirectory => make_dirs(parent)?,
            ExpectedContent::Content(_) => dir_at(parent)?,
        };
        let hash = blake3::hash(&bytes);
        let target = WriteTarget { dir, name, path: &at.path };
        let in_place = match before {
            ExpectedContent::Absent | ExpectedContent::EmptiedDirectory => {
                target.create(&bytes, hash).map(|()| false)
            }
            ExpectedContent::Content(before) => target.replace(&bytes, hash, before),
        }?;
        Ok(WriteOutcome { hash, in_place, held: false })
    }
}

/// Opens a directory, creating what is missing of it. No component may be a link.
fn make_dirs(path: &Path) -> Result<OwnedFd, WorkspaceError> {
    match dir_at(path) {
        Err(WorkspaceError::Missing(_)) => {}
        other => return other,
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(WorkspaceError::Missing(path.to_path_buf()));
    };
    let above = make_dirs(parent)?;
    match rustix::fs::mkdirat(&above, name, Mode::from_raw_mode(0o777)) {
        Ok(()) | Err(Errno::EXIST) => dir_at(path),
        Err(e) => Err(WorkspaceError::from_io(path, e.into())),
    }
}

/// A name in an open directory.
struct WriteTarget<'a> {
    dir: OwnedFd,
    name: &'a OsStr,
    path: &'a Path,
}

/// A synced file that is not yet where it belongs: without a name, or with one that is removed on drop.
struct TempFile<'a> {
    dir: &'a OwnedFd,
    file: File,
    name: Option<OsString>,
}

impl Drop for TempFile<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = rustix::fs::unlinkat(self.dir, name, AtFlags::empty());
        }
    }
}

impl WriteTarget<'_> {
    fn error(&self, error: impl Into<std::io::Error>) -> WorkspaceError {
        WorkspaceError::from_io(self.path, error.into())
    }

    fn create(&self, bytes: &[u8], hash: Hash) -> Result<(), WorkspaceError> {
        let mut staged = self.stage(bytes, hash, None)?;
        let linked = match &staged.name {
            None => link_fd(&staged.file, &self.dir, self.name),
            Some(name) => {
                let moved =
                    rustix::fs::renameat_with(&self.dir, name, &self.dir, self.name, RenameFlags::NOREPLACE);
                // Where that flag is unknown, a hard link refuses an existing name just as well.
                match moved {
                    Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                        rustix::fs::linkat(&self.dir, name, &self.dir, self.name, AtFlags::empty())
                    }
                    other => other.inspect(|()| staged.name = None),
                }
            }
        };
        linked.map_err(|e| self.error(e))?;
        sync_dir(&self.dir);
        Ok(())
    }

    /// Returns whether it was written in place.
    fn replace(&self, bytes: &[u8], hash: Hash, before: Hash) -> Result<bool, WorkspaceError> {
        let (old, stat) = self.open_old(OFlags::RDONLY)?;
        if stat.st_nlink > 1 {
            return self.write_in_place(bytes, before).map(|()| true);
        }
        let mut staged = match self.stage(bytes, hash, Some((&old, &stat))) {
            Ok(staged) => staged,
            // No place for a second file next to it, or no right to give it away.
            Err(WorkspaceError::Denied(_) | WorkspaceError::ReadOnly(_)) => {
                return self.write_in_place(bytes, before).map(|()| true);
            }
            Err(e) => return Err(e),
        };
        let name = self.named(&mut staged)?;
        match exchange_checked((&self.dir, &name), (&self.dir, self.name), hash, before) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                self.rename_over(&mut staged, &name, before)?
            }
            Err(e) => return Err(self.error(e)),
            Ok(Some(_)) => {}
            Ok(None) => return Err(WorkspaceError::Raced(self.path.to_path_buf())),
        }
        drop(staged);
        sync_dir(&self.dir);
        Ok(false)
    }

    /// Without an exchange: check, then rename at once.
    fn rename_over(
        &self,
        staged: &mut TempFile<'_>,
        name: &OsStr,
        before: Hash,
    ) -> Result<(), WorkspaceError> {
        let (old, _) = self.open_old(OFlags::RDONLY)?;
        if hash_of(&old).map_err(|e| self.error(e))? != before {
            return Err(WorkspaceError::Raced(self.path.to_path_buf()));
        }
        rustix::fs::renameat(&self.dir, name, &self.dir, self.name).map_err(|e| self.error(e))?;
        staged.name = None;
        Ok(())
    }

    fn write_in_place(&self, bytes: &[u8], before: Hash) -> Result<(), WorkspaceError> {
        let (mut file, _) = self.open_old(OFlags::RDWR)?;
        let old = crate::files::content::sparse::read_small(&file).map_err(|e| self.error(e))?;
        if blake3::hash(&old) != before {
            return Err(WorkspaceError::Raced(self.path.to_path_buf()));
        }
        if let Err(error) = overwrite(&mut file, bytes) {
            // A full disk must not cost the old content.
            let _ = overwrite(&mut file, &old);
            return Err(self.error(error));
        }
        Ok(())
    }

    fn open_old(&self, flags: OFlags) -> Result<(File, Stat), WorkspaceError> {
        // Opening must not wait for a pipe, and must not make a terminal ours.
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let opened = rustix::fs::openat(&self.dir, self.name, flags, Mode::empty());
        let fd = opened.map_err(|e| match e {
            Errno::LOOP => WorkspaceError::Moved(self.path.to_path_buf()),
            other => self.error(other),
        })?;
        let stat = rustix::fs::fstat(&fd).map_err(|e| self.error(e))?;
        match special(&stat) {
            FileKind::Regular => Ok((File::from(fd), stat)),
            FileKind::Directory => Err(WorkspaceError::Directory(self.path.to_path_buf())),
            FileKind::Special(kind) => Err(WorkspaceError::Special { path: self.path.to_path_buf(), kind }),
        }
    }

    /// Writes, syncs and reads back a new file in the directory, dressed as `like`.
    fn stage(
        &self,
        bytes: &[u8],
        hash: Hash,
        like: Option<(&File, &Stat)>,
    ) -> Result<TempFile<'_>, WorkspaceError> {
        let mut staged = self.empty_file()?;
        staged.file.write_all(bytes).map_err(|e| self.error(e))?;
        if let Some((old, stat)) = like {
            dress(&staged.file, old, stat).map_err(|e| self.error(e))?;
        }
        staged.file.sync_all().map_err(|e| self.error(e))?;
        if hash_of(&staged.file).map_err(|e| self.error(e))? != hash {
            return Err(self.error(std::io::Error::other("the disk returned other bytes than were written")));
        }
        Ok(staged)
    }

    fn empty_file(&self) -> Result<TempFile<'_>, WorkspaceError> {
        let mode = Mode::from_raw_mode(0o666);
        #[cfg(target_os = "linux")]
        {
            let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
            // A file without a name gets its name through `/proc` later; not every file system has such
            // files.
            if Path::new("/proc/self/fd").exists()
                && let Ok(fd) = rustix::fs::openat(&self.dir, ".", flags, mode)
            {
                return Ok(TempFile { dir: &self.dir, file: File::from(fd), name: None });
            }
        }
        loop {
            let name = fresh_name();
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            match rustix::fs::openat(&self.dir, &name, flags, mode) {
                Ok(fd) => return Ok(TempFile { dir: &self.dir, file: File::from(fd), name: Some(name) }),
                Err(Errno::EXIST) => {}
                Err(e) => return Err(self.error(e)),
            }
        }
    }

    /// Gives a staged file a name of its own for the moment of the exchange.
    fn named(&self, staged: &mut TempFile<'_>) -> Result<OsString, WorkspaceError> {
        while staged.name.is_none() {
            let name = fresh_name();
            match link_fd(&staged.file, &self.dir, &name) {
                Ok(()) => staged.name = Some(name),
                Err(Errno::EXIST) => {}
                Err(e) => return Err(self.error(e)),
            }
        }
        Ok(staged.name.clone().unwrap_or_default())
    }
}

/// Gives `new` the owner, the extended attributes (access lists among them) and the mode of `old`.
fn dress(new: &File, old: &File, stat: &Stat) -> rustix::io::Result<()> {
    let own = rustix::fs::fstat(new)?;
    if (own.st_uid, own.st_gid) != (stat.st_uid, stat.st_gid) {
        let (user, group) = (rustix::fs::Uid::from_raw(stat.st_uid), rustix::fs::Gid::from_raw(stat.st_gid));
        rustix::fs::fchown(new, Some(user), Some(group))?;
    }
    let (wanted, present) = (attributes(old)?, attributes(new)?);
    for name in present.iter().filter(|name| !wanted.contains(name)) {
        rustix::fs::fremovexattr(new, name.as_c_str())?;
    }
    for name in &wanted {
        let Some(value) = attribute(old, name)? else { continue };
        if !present.contains(name) || attribute(new, name)?.as_ref() != Some(&value) {
            rustix::fs::fsetxattr(new, name.as_c_str(), &value, XattrFlags::empty())?;
        }
    }
    // Last: giving a file away takes its set-user-id bit.
    rustix::fs::fchmod(new, Mode::from_raw_mode(stat.st_mode & 0o7777))
}

fn overwrite(file: &mut File, bytes: &[u8]) -> std::io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)?;
    file.sync_all()
}

/// Makes a rename last. A directory that cannot be synced is as safe as the file system makes it.
fn sync_dir(dir: &OwnedFd) {
    let _ = rustix::fs::fsync(dir);
}
