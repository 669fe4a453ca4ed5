//! Taking back what a transaction had done before it failed.

use super::super::Hash;
use super::commit::{CommitAction, CommitFailure, CommitTarget, copy_over, dress, for_writing};
use super::open_dirs::OpenDirs;
use crate::files::metadata::path_state::PathState;
use crate::files::writing::atomic_write::exchange_checked;
use crate::history::journal::{AppliedChange, JournalEntry};
use crate::history::objects::ObjectStore;
use rustix::fs::{AtFlags, Mode, RenameFlags, Stat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

/// Undoes what was done, last first: the act that failed, as far as it got, and then those before it.
pub(super) fn take_back(
    objects: &ObjectStore,
    entry: &JournalEntry,
    trouble: &CommitFailure,
) -> io::Result<()> {
    let mut failed = Ok(());
    let mut dirs = OpenDirs::default();
    let begun = trouble.begun.iter().map(|act| (act, true));
    for (&(index, act), begun) in begun.chain(trouble.done.iter().rev().map(|act| (act, false))) {
        let Some(change) = entry.changes.get(index) else { continue };
        let spot = CommitTarget::of(&mut dirs, entry, index, &change.path);
        let back = spot.and_then(|spot| match begun {
            true => back_from_half(&spot, objects, change, act),
            false => back(&spot, objects, change, act),
        });
        // The first error is reported; the other acts are undone all the same.
        if failed.is_ok() {
            failed = back;
        }
    }
    // Last, the deepest first: the mode of a directory that is there again may forbid to put back what was in it.
    for &(index, _) in trouble.done.iter().filter(|(_, act)| *act == CommitAction::RemoveDir) {
        let Some(change) = entry.changes.get(index) else { continue };
        let dressed = CommitTarget::of(&mut OpenDirs::default(), entry, index, &change.path)
            .and_then(|spot| dress(&spot, &change.before));
        if failed.is_ok() {
            failed = dressed;
        }
    }
    failed
}

fn back(
    spot: &CommitTarget<'_>,
    objects: &ObjectStore,
    change: &AppliedChange,
    act: CommitAction,
) -> io::Result<()> {
    let free = RenameFlags::NOREPLACE;
    match act {
        CommitAction::Displace => {
            Ok(rustix::fs::renameat_with(&*spot.anchor, &spot.old, &*spot.dir, spot.name, free)?)
        }
        CommitAction::RemoveDir => {
            Ok(rustix::fs::mkdirat(&*spot.dir, spot.name, Mode::from_raw_mode(0o700))?)
        }
        CommitAction::MakeDir => Ok(rustix::fs::unlinkat(&*spot.dir, spot.name, AtFlags::REMOVEDIR)?),
        CommitAction::Place => match &*change.after {
            PathState::Link { .. } | PathState::Special { .. } => {
                Ok(rustix::fs::unlinkat(&*spot.dir, spot.name, AtFlags::empty())?)
            }
            _ => Ok(rustix::fs::renameat_with(&*spot.dir, spot.name, &*spot.anchor, &spot.new, free)?),
        },
        // A later change of the person is theirs: the exchange is reverted only if the content is still placet's.
        CommitAction::Exchange => match (change.before.hash(), change.after.hash()) {
            (Some(before), Some(after)) => {
                exchange_checked((&spot.anchor, &spot.new), (&spot.dir, spot.name), before, after)?;
                Ok(())
            }
            _ => Ok(()),
        },
        // Its old content was stored before it was written over.
        CommitAction::Overwrite => match (change.before.hash(), change.after.hash()) {
            (Some(before), Some(after)) => {
                let mut target = for_writing(spot)?;
                if crate::files::content::sparse::hash_of(&target)? != after {
                    return Ok(());
                }
                write_old(objects, before, &mut target)
            }
            _ => Ok(()),
        },
        CommitAction::Dress => dress(spot, &change.before),
    }
}

fn write_old(objects: &ObjectStore, before: Hash, target: &mut File) -> io::Result<()> {
    let old = tempfile::tempfile_in(objects.dir())?;
    objects.copy_to(before, &old)?;
    copy_over(&mut { old }, target)
}

/// Undoes an act that failed. The act did nothing or only a part; this function finds out which.
fn back_from_half(
    spot: &CommitTarget<'_>,
    objects: &ObjectStore,
    change: &AppliedChange,
    act: CommitAction,
) -> io::Result<()> {
    let read = |dir: &OwnedFd, name: &OsStr| PathState::read(dir, name);
    match act {
        // Each is a single call, which did nothing when it failed.
        CommitAction::RemoveDir | CommitAction::MakeDir => Ok(()),
        CommitAction::Displace => {
            if matches!(stat(&spot.anchor, &spot.old), Err(Errno::NOENT)) {
                return Ok(());
            }
            let free = RenameFlags::NOREPLACE;
            match rustix::fs::renameat_with(&*spot.anchor, &spot.old, &*spot.dir, spot.name, free) {
                Err(Errno::EXIST) if read(&spot.dir, spot.name)? == change.before => Ok(()),
                other => Ok(other?),
            }
        }
        // Where it is placed by a hard link, the staged name may be there still.
        CommitAction::Place => match (stat(&spot.anchor, &spot.new), stat(&spot.dir, spot.name)) {
            (Ok(new), Ok(now)) if (new.st_dev, new.st_ino) == (now.st_dev, now.st_ino) => {
                Ok(rustix::fs::unlinkat(&*spot.dir, spot.name, AtFlags::empty())?)
            }
            _ => Ok(()),
        },
        CommitAction::Exchange => {
            let out = read(&spot.anchor, &spot.new)?;
            match (change.before.hash(), change.after.hash()) {
                (Some(before), Some(after)) if !out.is_absent() && out.hash() != Some(after) => {
                    let out = out.hash().unwrap_or(before);
                    exchange_checked((&spot.anchor, &spot.new), (&spot.dir, spot.name), out, after)?;
                    Ok(())
                }
                _ => Ok(()),
            }
        }
        CommitAction::Overwrite => {
            let Some(before) = change.before.hash() else { return Ok(()) };
            let now = read(&spot.dir, spot.name)?;
            if now.hash() == Some(before) {
                return Ok(());
            }
            let mut target = for_writing(spot)?;
            if let Some(half) = now.hash() {
                drop(objects.put_file(&mut target, half, now.size()));
            }
            write_old(objects, before, &mut target)
        }
        CommitAction::Dress if read(&spot.dir, spot.name)? == change.before => Ok(()),
        CommitAction::Dress => dress(spot, &change.before),
    }
}

fn stat(dir: &OwnedFd, name: &OsStr) -> rustix::io::Result<Stat> {
    rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
}
