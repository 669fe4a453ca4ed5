//! Old contents: made sure of before anything changes, and taken into the store afterwards.

use super::super::Hash;
use super::commit::{CommitAction, acts_of, is_written_late};
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
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

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

/// What became of the displaced contents.
#[derive(Debug, Default)]
pub(super) struct KeptContents {
    /// A sentence for each that is left under its temporary name, because it could not be stored or removed.
    pub(super) left: Vec<String>,
    /// What another program wrote while placet worked, under a temporary name: nobody removes it.
    pub(super) foreign: Vec<PathBuf>,
}

impl KeptContents {
    fn with(mut self, other: KeptContents) -> KeptContents {
        self.left.extend(other.left);
        self.foreign.extend(other.foreign);
        self
    }
}

/// Which displaced contents are stored.
#[derive(Clone, Copy)]
pub(super) enum DisplacedContents<'a> {
    /// Of all changes. Committing has just verified that each file has the expected content, and that no process can write
    /// to it any more; the files are counted.
    Verified(&'a ApplyProgress),
    /// Of all changes, as a crash left them.
    Found,
    /// Of these changes, by index: the others were taken back.
    FoundOf(&'a BTreeSet<usize>),
}

/// Moves displaced contents into the object store; removes links, and contents that are stored already.
pub(super) fn keep_displaced(
    objects: &ObjectStore,
    entry: &JournalEntry,
    which: DisplacedContents<'_>,
) -> KeptContents {
    let parts = in_halves(&entry.shut, 0..entry.changes.len(), |part| keep_part(objects, entry, part, which));
    parts.into_iter().fold(KeptContents::default(), KeptContents::with)
}

fn keep_part(
    objects: &ObjectStore,
    entry: &JournalEntry,
    part: Range<usize>,
    which: DisplacedContents<'_>,
) -> KeptContents {
    let mut dirs = OpenDirs::default();
    let mut kept = KeptContents::default();
    for index in part {
        let Some(change) = entry.changes.get(index) else { continue };
        match which {
            DisplacedContents::Verified(progress) => progress.step(&change.before, &change.after),
            DisplacedContents::FoundOf(these) if !these.contains(&index) => continue,
            DisplacedContents::Found | DisplacedContents::FoundOf(_) => {}
        }
        let is_verified = matches!(which, DisplacedContents::Verified(_));
        // A new file has no old content. One that did not get to its place, or that was taken away again, can have what
        // another program wrote.
        if change.before.same_content(&change.after) || is_verified && change.before.is_absent() {
            continue;
        }
        let Some(place) = dirs.anchor(entry, index) else { continue };
        let mut leave = |name: &OsStr, e: io::Error| {
            let (path, at) = (change.path.display(), place.join(name));
            kept.left.push(format!("the old content of `{path}` is still in `{}`: {e}", at.display()));
        };
        let known = change.before.hash().filter(|_| is_verified && !change.in_place);
        let names: &[&str] = match (known, acts_of(change).first()) {
            (Some(_), Some(&CommitAction::Exchange)) => &["new"],
            (Some(_), _) => &["old"],
            (None, _) => &["old", "new"],
        };
        let (dir, _eased) = match dirs.writable(&place) {
            Ok(dir) => dir,
            // With the directory its files are gone.
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => continue,
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
            let done = match known {
                Some(hash) => {
                    keep_one(objects, &dir, &name, hash, change.before.size()).map(|()| FoundContent::Own)
                }
                None => keep_found(objects, &dir, &name, change),
            };
            match done {
                Ok(FoundContent::Own) => {}
                Ok(FoundContent::Foreign) => kept.foreign.push(place.join(name)),
                Err(e) => leave(&name, e),
            }
        }
    }
    kept
}

enum FoundContent {
    /// It was placet's to store or to remove.
    Own,
    /// Another program wrote it, or is writing.
    Foreign,
}

/// Keeps what is under a temporary name, if that is an old content, and removes what placet staged. Nothing else is
/// placet's.
fn keep_found(
    objects: &ObjectStore,
    dir: &OwnedFd,
    name: &OsStr,
    change: &AppliedChange,
) -> io::Result<FoundContent> {
    let found = PathState::read(dir, name)?;
    match found {
        PathState::Absent => {}
        PathState::File { hash, .. } if is_written_late(dir, name, Some(hash), None) => {
            return Ok(FoundContent::Foreign);
        }
        PathState::File { hash, size, .. } if Some(hash) == change.before.hash() => {
            keep_one(objects, dir, name, hash, size)?;
        }
        // A staged content, or a link: the journal has its state.
        PathState::File { hash, .. } if Some(hash) == change.after.hash() => remove(dir, name)?,
        found if found == change.before || found == change.after => remove(dir, name)?,
        _ => return Ok(FoundContent::Foreign),
    }
    Ok(FoundContent::Own)
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
