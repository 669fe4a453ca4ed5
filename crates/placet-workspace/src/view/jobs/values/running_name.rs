//! One name in the view of a running command: placet looks at it, replaces it or removes it.
//!
//! Programs of the command work there at the same time, and may be hostile. So every step is made by a descriptor from which
//! nothing outside of the view can be reached, and opens nothing but a regular file of bounded size. A name is never
//! overwritten: what it had is exchanged for what it gets, and looked at once it is out of reach. What the command wrote in the
//! moment between gets its name back, and so does a file that a program has open for writing: what the program writes later
//! would be in a file without a name.

use crate::files::metadata::path_state::{ExtendedAttributes, FileAttrs, PathState};
use crate::files::metadata::stat_fields::permissions;
use crate::files::opening::lease::{OtherWriters, other_writers};
#[cfg(target_os = "linux")]
use rustix::fs::ResolveFlags;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;

/// The largest file that is looked at or written, in bytes.
pub(super) const LARGEST: u64 = 16 << 20;

/// How often a command may write between two steps before placet gives up.
const MOST_ROUNDS: usize = 8;

/// What became of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameOutcome {
    /// It has the new state.
    Done,
    /// The command wrote there meanwhile, or may still write, and has what it wrote.
    ItsOwn,
}

/// A name in an open directory of the command's view. Under `staged`, next to it, is what is on its way in or out.
pub(super) struct RunningName<'a> {
    pub(super) dir: &'a OwnedFd,
    pub(super) name: &'a OsStr,
    pub(super) staged: &'a OsStr,
}

impl RunningName<'_> {
    /// What is there. An error for anything but a small file, a link, a directory or nothing, for a file that cannot be read
    /// as it is or that a program may write to, and for a place where something is mounted.
    pub(super) fn state(&self) -> io::Result<PathState> {
        state_at(self.dir, self.name, OpenForWriting::IsRefused)
    }

    /// Lays a file or a link ready. After an error nothing of it is left.
    pub(super) fn stage(&self, now: &PathState, bytes: &[u8]) -> io::Result<()> {
        let file = match now {
            PathState::Link { target } => {
                rustix::fs::symlinkat(target, self.dir, self.staged)?;
                None
            }
            _ => {
                let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY;
                Some(File::from(open_inside(self.dir, self.staged, flags, Mode::from_raw_mode(0o600))?))
            }
        };
        let fill = |mut file: File| -> io::Result<()> {
            file.write_all(bytes)?;
            Ok(now.attrs().map_or(Ok(()), |attrs| attrs.give(&file))?)
        };
        let same = || match state_at(self.dir, self.staged, OpenForWriting::DoesNotMatter)? == *now {
            true => Ok(()),
            false => Err(io::Error::other("the command's layer cannot represent it")),
        };
        let staged = file.map_or(Ok(()), fill).and_then(|()| same());
        if staged.is_err() {
            self.drop_staged();
        }
        staged
    }

    /// Gives what was staged its name, where `found` was seen before. After an error nothing has changed.
    pub(super) fn put(&self, found: &PathState, now: &PathState) -> io::Result<NameOutcome> {
        moment("update staged");
        if found.is_absent() {
            let put = self.rename(self.staged, self.name, RenameFlags::NOREPLACE);
            if put.is_err() {
                self.drop_staged();
            }
            return match put {
                Ok(()) => Ok(NameOutcome::Done),
                Err(Errno::EXIST) => Ok(NameOutcome::ItsOwn),
                Err(e) => Err(e.into()),
            };
        }
        if let Err(e) = self.rename(self.staged, self.name, RenameFlags::EXCHANGE) {
            self.drop_staged();
            return Err(e.into());
        }
        moment("update exchanged");
        let out = self.came_out();
        if out.as_ref() == Some(found) {
            self.drop_staged();
            return Ok(NameOutcome::Done);
        }
        Ok(self.give_back(Some(now.clone()), out))
    }

    /// The command wrote what is under the staged name. If nothing but `under` is under the name, the two are exchanged; else
    /// the command has written once more, and that is newer.
    fn give_back(&self, under: Option<PathState>, out: Option<PathState>) -> NameOutcome {
        let (mut under, mut out) = (under, out);
        for _ in 0..MOST_ROUNDS {
            match self.rename(self.staged, self.name, RenameFlags::EXCHANGE) {
                Ok(()) => {}
                // The name is free: the command removed what it had got.
                Err(Errno::NOENT) => {
                    match self.rename(self.staged, self.name, RenameFlags::NOREPLACE) {
                        Err(Errno::EXIST) => continue,
                        _ => return NameOutcome::ItsOwn,
                    };
                }
                Err(_) => return NameOutcome::ItsOwn,
            }
            moment("update given back");
            let came = self.came_out();
            // What could not be read was the command's own, whatever became of it.
            if under.is_none() || came == under {
                self.drop_staged();
                return NameOutcome::ItsOwn;
            }
            (under, out) = (out, came);
        }
        NameOutcome::ItsOwn
    }

    /// Removes what was seen there as `found`. After an error nothing has changed.
    pub(super) fn remove(&self, found: &PathState) -> io::Result<NameOutcome> {
        moment("update staged");
        self.rename(self.name, self.staged, RenameFlags::NOREPLACE)?;
        moment("update exchanged");
        if self.came_out().as_ref() == Some(found) {
            self.drop_staged();
            return Ok(NameOutcome::Done);
        }
        if self.rename(self.staged, self.name, RenameFlags::NOREPLACE).is_err() {
            // The command has written the name once more, and that is newer.
            self.drop_staged();
        }
        Ok(NameOutcome::ItsOwn)
    }

    fn rename(&self, from: &OsStr, to: &OsStr, how: RenameFlags) -> rustix::io::Result<()> {
        rustix::fs::renameat_with(self.dir, from, self.dir, to, how)
    }

    /// `None` for what cannot be read: placet has put nothing like that there.
    fn came_out(&self) -> Option<PathState> {
        state_at(self.dir, self.staged, OpenForWriting::IsRefused).ok()
    }

    fn drop_staged(&self) {
        let _ = rustix::fs::unlinkat(self.dir, self.staged, AtFlags::empty());
    }
}

/// Whether a file may be one that a process can write to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenForWriting {
    IsRefused,
    /// A process that is being started may have it for a moment.
    DoesNotMatter,
}

fn state_at(dir: &OwnedFd, name: &OsStr, open: OpenForWriting) -> io::Result<PathState> {
    let held = match open_inside(dir, name, OFlags::PATH, Mode::empty()) {
        Ok(held) => held,
        Err(Errno::NOENT) => return Ok(PathState::Absent),
        Err(e) => return Err(e.into()),
    };
    let stat = rustix::fs::fstat(&held)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile if u64::try_from(stat.st_size).is_ok_and(|size| size <= LARGEST) => {
            // By the descriptor: a pipe that has the name by now is not opened. A file on which a program has a lease would
            // wait for the program.
            let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
            let path = format!("/proc/self/fd/{}", held.as_raw_fd());
            let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
            if open == OpenForWriting::IsRefused && other_writers(&file) != OtherWriters::None {
                return Err(io::Error::other("a program of the command may write to it"));
            }
            let bytes = read_small(&file)?;
            let attrs = FileAttrs::of(&file, &rustix::fs::fstat(&file)?)?;
            Ok(PathState::File { hash: blake3::hash(&bytes), size: bytes.len() as u64, attrs })
        }
        FileType::RegularFile => Err(io::ErrorKind::FileTooLarge.into()),
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(&held, "", Vec::new())?;
            Ok(PathState::Link { target: OsString::from_vec(target.into_bytes()) })
        }
        FileType::Directory => {
            let (mode, xattrs) = (permissions(&stat), ExtendedAttributes::default());
            let attrs = FileAttrs { mode, uid: stat.st_uid, gid: stat.st_gid, xattrs };
            Ok(PathState::Directory { attrs })
        }
        _ => Err(io::Error::other("the command has a pipe, a socket or a device there")),
    }
}

/// All of an open file, if it is not too large; a file may grow while it is read.
pub(super) fn read_small(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > LARGEST {
        true => Err(io::ErrorKind::FileTooLarge.into()),
        false => Ok(bytes),
    }
}

/// Opens a name in a directory of the view, and nothing else: no link, and no place where something is mounted, as over a
/// path that is hidden from the command. A rename there would take the mount away.
#[cfg(target_os = "linux")]
pub(super) fn open_inside(
    dir: &OwnedFd,
    name: &OsStr,
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    rustix::fs::openat2(dir, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, mode, resolve)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn open_inside(_: &OwnedFd, _: &OsStr, _: OFlags, _: Mode) -> rustix::io::Result<OwnedFd> {
    Err(Errno::NOSYS)
}

/// A moment between two steps, in which a test lets the command write.
fn moment(step: &'static str) {
    #[cfg(test)]
    tests::moment(step);
    crate::hold_point(step);
}

#[cfg(test)]
#[path = "running_name_tests.rs"]
mod tests;
