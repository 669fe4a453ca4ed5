//! The way back: what a transaction had done before it failed is taken back, with the looks of the way forth. What is not
//! as placet made it any more belongs to somebody else, and stays.

use super::commit::{
    CommitAction, CommitFailure, CommitTarget, acts_of, copy_over, displace, dress, exchange, for_writing,
    is_written_late, make_dir, put_back, remove_dir,
};
use super::open_dirs::OpenDirs;
use super::raced::raced;
use crate::Hash;
use crate::files::content::sparse::hash_of;
use crate::files::metadata::path_state::{PathState, open_anyway};
use crate::files::writing::atomic_write::exchange_checked;
use crate::history::journal::{AppliedChange, JournalEntry};
use crate::history::objects::ObjectStore;
use rustix::fs::{AtFlags, OFlags, Stat};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

/// Takes back what was done, last first: the act that failed, as far as it got, and then those before it. Gives the
/// changes, by index, that stay: the path changed meanwhile, or cannot be changed.
pub(super) fn take_back(
    objects: &ObjectStore,
    entry: &JournalEntry,
    trouble: &CommitFailure,
) -> BTreeSet<usize> {
    let begun = trouble.begun.iter().map(|&act| (act, true));
    let done = trouble.done.iter().rev().map(|&act| (act, false));
    let stays = all_back(objects, entry, begun.chain(done));
    // Last, the deepest first: the mode of a directory that is there again may forbid to put back what was in it.
    for (index, _) in trouble.done.iter().filter(|(_, act)| *act == CommitAction::RemoveDir) {
        let Some(change) = entry.changes.get(*index).filter(|_| !stays.contains(index)) else { continue };
        let dressed = CommitTarget::of(&mut OpenDirs::default(), entry, *index, &change.path)
            .and_then(|spot| dress(&spot, &change.before));
        warn_of(change, dressed.err());
    }
    stays
}

/// Takes one change back that is done. False where it stays.
pub(super) fn take_one_back(objects: &ObjectStore, entry: &JournalEntry, index: usize) -> bool {
    let acts = entry.changes.get(index).map(acts_of).unwrap_or_default();
    all_back(objects, entry, acts.into_iter().rev().map(|act| ((index, act), false))).is_empty()
}

fn all_back(
    objects: &ObjectStore,
    entry: &JournalEntry,
    acts: impl Iterator<Item = ((usize, CommitAction), bool)>,
) -> BTreeSet<usize> {
    let (mut stays, mut dirs) = (BTreeSet::new(), OpenDirs::default());
    for ((index, act), begun) in acts {
        // Of a change that stays, the acts before stay as well.
        let Some(change) = entry.changes.get(index).filter(|_| !stays.contains(&index)) else { continue };
        let spot = CommitTarget::of(&mut dirs, entry, index, &change.path);
        let back = spot.and_then(|spot| match begun {
            true => back_from_half(&spot, objects, change, act),
            false => back(&spot, objects, change, act),
        });
        if let Err(error) = back {
            warn_of(change, Some(error));
            stays.insert(index);
        }
    }
    stays
}

fn warn_of(change: &AppliedChange, error: Option<io::Error>) {
    if let Some(error) = error {
        tracing::warn!(path = %change.path.display(), %error, "a change is not taken back");
    }
}

fn back(
    spot: &CommitTarget<'_>,
    objects: &ObjectStore,
    change: &AppliedChange,
    act: CommitAction,
) -> io::Result<()> {
    let is_gone = || matches!(stat(&spot.dir, spot.name), Err(Errno::NOENT));
    match act {
        CommitAction::Displace => put_back(spot, &spot.old),
        CommitAction::RemoveDir => make_dir(spot),
        CommitAction::MakeDir | CommitAction::Place if is_gone() => Ok(()),
        CommitAction::MakeDir => remove_dir(spot),
        CommitAction::Place => {
            displace(spot, &spot.new, &change.after)?;
            if !change.after.is_file() {
                // A link or a pipe was not staged, and nobody else removes it.
                return Ok(rustix::fs::unlinkat(&*spot.anchor, &spot.new, AtFlags::empty())?);
            }
            match is_written_late(&spot.anchor, &spot.new, change.after.hash(), None) {
                true => put_back(spot, &spot.new).and(Err(raced())),
                false => Ok(()),
            }
        }
        CommitAction::Exchange => {
            let quiet = exchange(spot, &change.after, hash_at(&spot.anchor, &spot.new))?;
            match is_written_late(&spot.anchor, &spot.new, change.after.hash(), quiet) {
                true => exchange(spot, &change.before, hash_at(&spot.anchor, &spot.new)).and(Err(raced())),
                false => Ok(()),
            }
        }
        // Its old content was stored before it was written over.
        CommitAction::Overwrite => {
            let before = change.before.hash().ok_or(io::ErrorKind::InvalidInput)?;
            let mut target = for_writing(spot)?;
            match Some(hash_of(&target)?) == change.after.hash() {
                true => write_old(objects, before, &mut target),
                false => Err(raced()),
            }
        }
        // What is taken away needs no other mode before.
        CommitAction::Dress if change.before.attrs().is_none() => Ok(()),
        CommitAction::Dress if PathState::read(&spot.dir, spot.name)? != change.after => Err(raced()),
        CommitAction::Dress => dress(spot, &change.before),
    }
}

fn write_old(objects: &ObjectStore, before: Hash, target: &mut File) -> io::Result<()> {
    let old = tempfile::tempfile_in(objects.dir())?;
    objects.copy_to(before, &old)?;
    copy_over(&mut { old }, target)
}

/// Takes back an act that failed. The act did nothing or only a part; this function finds out which.
fn back_from_half(
    spot: &CommitTarget<'_>,
    objects: &ObjectStore,
    change: &AppliedChange,
    act: CommitAction,
) -> io::Result<()> {
    match act {
        // Each is a single call, which did nothing when it failed.
        CommitAction::RemoveDir | CommitAction::MakeDir => Ok(()),
        CommitAction::Displace if matches!(stat(&spot.anchor, &spot.old), Err(Errno::NOENT)) => Ok(()),
        // Another program has a file of that name.
        CommitAction::Displace if PathState::read(&spot.dir, spot.name)? == change.before => Ok(()),
        CommitAction::Displace => put_back(spot, &spot.old),
        // Where it is placed by a hard link, the staged name may be there still.
        CommitAction::Place => match (stat(&spot.anchor, &spot.new), stat(&spot.dir, spot.name)) {
            (Ok(new), Ok(now)) if (new.st_dev, new.st_ino) == (now.st_dev, now.st_ino) => {
                Ok(rustix::fs::unlinkat(&*spot.dir, spot.name, AtFlags::empty())?)
            }
            _ => Ok(()),
        },
        CommitAction::Exchange => match (hash_at(&spot.anchor, &spot.new), change.after.hash()) {
            (Some(out), Some(after)) if out != after => {
                let (staged, target) = ((&*spot.anchor, &*spot.new), (&*spot.dir, spot.name));
                exchange_checked(staged, target, out, after)?.ok_or_else(raced).map(drop)
            }
            _ => Ok(()),
        },
        CommitAction::Overwrite => {
            let before = change.before.hash().ok_or(io::ErrorKind::InvalidInput)?;
            let now = PathState::read(&spot.dir, spot.name)?;
            if now.hash() == Some(before) {
                return Ok(());
            }
            let mut target = for_writing(spot)?;
            if let Some(half) = now.hash() {
                drop(objects.put_file(&mut target, half, now.size()));
            }
            write_old(objects, before, &mut target)
        }
        CommitAction::Dress if PathState::read(&spot.dir, spot.name)? == change.before => Ok(()),
        CommitAction::Dress => dress(spot, &change.before),
    }
}

fn hash_at(dir: &OwnedFd, name: &OsStr) -> Option<Hash> {
    hash_of(&open_anyway(dir, name, OFlags::NONBLOCK).ok()?.0).ok()
}

fn stat(dir: &OwnedFd, name: &OsStr) -> rustix::io::Result<Stat> {
    rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
}
