//! Taking back what a transaction had done before it failed.

use super::super::atomic::exchange_checked;
use super::super::journal::{Entry, Landed};
use super::super::node::Node;
use super::super::objects::Objects;
use super::commit::{Act, Spot, copy_over, dress, for_writing};
use super::dirs::Dirs;
use rustix::fs::{AtFlags, Mode, RenameFlags};
use std::io;

/// Undoes what was done, last first.
pub(super) fn take_back(objects: &Objects, entry: &Entry, done: Vec<(usize, Act)>) -> io::Result<()> {
    let mut failed = Ok(());
    let mut dirs = Dirs::default();
    for (index, act) in done.into_iter().rev() {
        let Some(change) = entry.changes.get(index) else { continue };
        let back = back(&mut dirs, objects, entry, index, change, act);
        if failed.is_ok() {
            failed = back;
        }
    }
    failed
}

fn back(
    dirs: &mut Dirs,
    objects: &Objects,
    entry: &Entry,
    index: usize,
    change: &Landed,
    act: Act,
) -> io::Result<()> {
    let spot = Spot::of(dirs, entry, index, &change.path)?;
    let free = RenameFlags::NOREPLACE;
    match act {
        Act::Displace => {
            Ok(rustix::fs::renameat_with(&*spot.anchor, &spot.old, &*spot.dir, spot.name, free)?)
        }
        Act::RemoveDir => {
            rustix::fs::mkdirat(&*spot.dir, spot.name, Mode::from_raw_mode(0o700))?;
            dress(&spot, &change.before)
        }
        Act::MakeDir => Ok(rustix::fs::unlinkat(&*spot.dir, spot.name, AtFlags::REMOVEDIR)?),
        Act::Place => match &change.after {
            Node::Link { .. } => Ok(rustix::fs::unlinkat(&*spot.dir, spot.name, AtFlags::empty())?),
            _ => Ok(rustix::fs::renameat_with(&*spot.dir, spot.name, &*spot.anchor, &spot.new, free)?),
        },
        // Whatever the person wrote since is theirs: it is exchanged back only if it is still ours.
        Act::Exchange => match (change.before.hash(), change.after.hash()) {
            (Some(before), Some(after)) => {
                exchange_checked((&spot.anchor, &spot.new), (&spot.dir, spot.name), before, after)?;
                Ok(())
            }
            _ => Ok(()),
        },
        // Its old content was stored before it was written over.
        Act::Overwrite => match (change.before.hash(), change.after.hash()) {
            (Some(before), Some(after)) => {
                let mut target = for_writing(&spot)?;
                if super::super::sparse::hash_of(&target)? != after {
                    return Ok(());
                }
                let old = tempfile::tempfile_in(objects.dir())?;
                objects.copy_to(before, &old)?;
                copy_over(&mut { old }, &mut target)
            }
            _ => Ok(()),
        },
        Act::Dress => dress(&spot, &change.before),
    }
}
