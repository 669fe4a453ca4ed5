//! An index of git that a command wrote, before it becomes pending: what git notes in it for its own speed is left out, and an
//! index in which nothing else changed is none.

use super::git_state::differ_only_in_stat;
use super::layer::entry;
use super::open_stack::OpenStackDir;
use crate::permission::is_git_name;
use crate::workspace::files::path_state::{PathState, open_anyway};
use crate::workspace::repository::git_reader::{IndexEnd, end_without_caches};
use rustix::fs::{FileType, Mode, OFlags, Stat};
use std::ffi::OsStr;
use std::fs::{File, FileTimes};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The largest index that is read.
const LARGEST: u64 = 64 << 20;

/// True for an index of git that `git status` wrote again: the times and sizes in it are others, and what it notes in order not
/// to look at files, and nothing else is. The command's copy is dropped.
pub(super) fn is_refreshed_index(
    now: &OpenStackDir,
    (name, before): (&OsStr, &PathState),
    upper: &OwnedFd,
) -> io::Result<bool> {
    if name != "index" || !before.is_file() {
        return Ok(false);
    }
    let after = PathState::read(upper, name)?;
    let is_file = after.is_file() && before.attrs() == after.attrs();
    if !is_file || before.size().max(after.size()) > LARGEST {
        return Ok(false);
    }
    let (file, _) = open_anyway(upper, name, OFlags::NONBLOCK)?;
    let (mut was, is) = (read(&now.open(name)?)?, read(&file)?);
    if let Some(end) = end_without_caches(&was) {
        was.truncate(end.at);
        was.extend(end.bytes);
    }
    Ok(differ_only_in_stat(&was, &is))
}

/// Leaves out of an index in a command's layer what git notes there in order not to look at files, and returns what the file
/// is then. git makes these notes again; made by a command, they could hide the person's changes. An index that cannot be
/// written here, or that is in no directory of git, gets a row that says so.
pub(super) fn leave_caches_out(
    path: &Path,
    now: &OpenStackDir,
    upper: &OwnedFd,
    (name, stat): (&OsStr, &Stat),
) -> io::Result<Option<Stat>> {
    // Another name of the file would not have what is read here.
    let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && stat.st_nlink == 1;
    let has_size = u64::try_from(stat.st_size).is_ok_and(|size| size <= LARGEST);
    if name != "index" || !is_file || !has_size {
        return Ok(None);
    }
    if !path.ancestors().skip(1).any(is_git_name) && !is_git_dir(now, upper)? {
        return Ok(None);
    }
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::openat(upper, name, flags, Mode::empty()) else { return Ok(None) };
    let file = File::from(file);
    let Some(IndexEnd { at, bytes }) = end_without_caches(&read(&file)?) else { return Ok(None) };
    // git reads a file again that is as new as the index with its entry: the index stays as old as it is.
    let meta = file.metadata()?;
    let times = FileTimes::new().set_accessed(meta.accessed()?).set_modified(meta.modified()?);
    file.write_all_at(&bytes, at as u64)?;
    file.set_len((at + bytes.len()) as u64)?;
    file.set_times(times)?;
    entry(upper, name)
}

/// A bare repository and the target of `--separate-git-dir` have any name.
fn is_git_dir(now: &OpenStackDir, upper: &OwnedFd) -> io::Result<bool> {
    let has = |name: &str| {
        let name = OsStr::new(name);
        Ok::<bool, io::Error>(entry(upper, name)?.is_some() || now.stat(name)?.is_some())
    };
    Ok(has("HEAD")? && (has("objects")? || has("commondir")?))
}

fn read(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}
