//! Old contents: made sure of before anything changes, and taken into the store afterwards.

use super::super::Hash;
use super::commit::{CommitAction, acts_of};
use super::failpoints::fault;
use super::halves::in_halves;
use super::open_dirs::OpenDirs;
use super::raced::raced_if_changed;
use super::{ApplyProgress, temp_name};
use crate::files::metadata::path_state::{PathState, open_anyway};
use crate::history::journal::{AppliedChange, JournalEntry};
use crate::history::objects::ObjectStore;
use rustix::fs::{AtFlags, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;

/// Makes sure that the old content of a change can be stored: where the store is on the same file system, a
/// rename is all that is left to do; elsewhere the content is copied now.
pub(super) fn make_sure(
    objects: &ObjectStore,
    dirs: &mut OpenDirs,
    change: &AppliedChange,
) -> io::Result<()> {
    let Some(hash) = change.before.hash().filter(|_| !change.before.same_content(&change.after)) else {
        return Ok(());
    };
    let failed =
        |e: io::Error| io::Error::new(e.kind(), format!("its old content cannot be stored for undo: {e}"));
    make_sure_of(objects, dirs, change, hash).map_err(failed)
}

fn make_sure_of(
    objects: &ObjectStore,
    dirs: &mut OpenDirs,
    change: &AppliedChange,
    hash: Hash,
) -> io::Result<()> {
    fault("make sure")?;
    let device = dirs.device_of_shard(objects, hash)?;
    let (Some(parent), Some(name)) = (change.path.parent(), change.path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let (dir, _eased) = dirs.writable(parent)?;
    if rustix::fs::statat(&*dir, name, AtFlags::SYMLINK_NOFOLLOW)?.st_dev == device {
        return Ok(());
    }
    let (mut file, _) = open_anyway(&*dir, name, OFlags::NONBLOCK)?;
    objects.put_file(&mut file, hash, change.before.size()).map_err(raced_if_changed)
}

/// Moves displaced contents into the object store; removes links, and contents that are stored already. Returns a
/// sentence for each temporary file that is left, because it could not be stored or removed.
///
/// `checked` counts the files, where committing has just verified that each file has the expected content, and that no process can write to it
/// any more.
pub(super) fn keep_displaced(
    objects: &ObjectStore,
    entry: &JournalEntry,
    checked: Option<&ApplyProgress>,
) -> Vec<String> {
    in_halves(&entry.shut, 0..entry.changes.len(), |part| keep_part(objects, entry, part, checked)).concat()
}

fn keep_part(
    objects: &ObjectStore,
    entry: &JournalEntry,
    part: Range<usize>,
    checked: Option<&ApplyProgress>,
) -> Vec<String> {
    let mut dirs = OpenDirs::default();
    let mut left = Vec::new();
    for index in part {
        let Some(change) = entry.changes.get(index) else { continue };
        if let Some(progress) = checked {
            progress.step(&change.before, &change.after);
        }
        if change.before.same_content(&change.after) || change.before.is_absent() {
            continue;
        }
        let Some(place) = dirs.anchor(entry, index) else { continue };
        let mut leave = |name: &OsStr, e: io::Error| {
            let (path, at) = (change.path.display(), place.join(name));
            left.push(format!("the old content of `{path}` is still in `{}`: {e}", at.display()));
        };
        let known = change.before.hash().filter(|_| checked.is_some() && !change.in_place);
        let names: &[&str] = match (known, acts_of(change).first()) {
            (Some(_), Some(&CommitAction::Exchange)) => &["new"],
            (Some(_), _) => &["old"],
            (None, _) => &["old", "new"],
        };
        let (dir, _eased) = match dirs.writable(&place) {
            Ok(dir) => dir,
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(e) => {
                names
                    .first()
                    .into_iter()
                    .for_each(|what| leave(&temp_name(entry, index, what), e.kind().into()));
                continue;
            }
        };
        for what in names {
            let name = temp_name(entry, index, what);
            let kept = match known {
                Some(hash) => keep_one(objects, &dir, &name, hash, change.before.size()),
                None => keep_found(objects, &dir, &name, change.before.hash()),
            };
            if let Err(e) = kept {
                leave(&name, e);
            }
        }
    }
    left
}

/// Keeps what a crash left under a temporary name, if that is an old content.
fn keep_found(objects: &ObjectStore, dir: &OwnedFd, name: &OsStr, before: Option<Hash>) -> io::Result<()> {
    match PathState::read(dir, name)? {
        PathState::Absent => Ok(()),
        PathState::File { hash, size, .. } if Some(hash) == before => {
            keep_one(objects, dir, name, hash, size)
        }
        // A staged content that was copied in place, or a link: the journal has its state.
        _ => remove(dir, name),
    }
}

fn keep_one(objects: &ObjectStore, dir: &OwnedFd, name: &OsStr, hash: Hash, size: u64) -> io::Result<()> {
    fault("keep")?;
    let names = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?.st_nlink;
    // A file with other names still belongs to those. What cannot be moved is copied.
    if names == 1 && matches!(objects.adopt(dir, name, hash), Ok(true)) {
        return Ok(());
    }
    let (mut file, _) = open_anyway(dir, name, OFlags::NONBLOCK)?;
    objects.put_file(&mut file, hash, size)?;
    remove(dir, name)
}

fn remove(dir: &OwnedFd, name: &OsStr) -> io::Result<()> {
    match rustix::fs::unlinkat(dir, name, AtFlags::empty()) {
        Err(Errno::NOENT) => Ok(()),
        other => Ok(other?),
    }
}
