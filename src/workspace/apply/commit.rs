//! Committing: staged contents and targets change places; what comes out is checked and kept until all is done.
//!
//! The order: files and links that go, directories that go (deepest first), directories that come, files and links that
//! come or change, and last the modes of directories, because one of them may forbid what came before.

use super::super::atomic::{Exchange, exchange_checked};
use super::super::journal::{Entry, Landed};
use super::super::node::{Eased, Node, dir_anyway, open_anyway};
use super::dirs::Dirs;
use super::fault::fault;
use super::{anchor, crash_point, temp_name};
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// What is done to one path, in the order in which it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Act {
    /// The old file or link goes under its temporary name.
    Displace,
    RemoveDir,
    MakeDir,
    /// The new file or link takes its place.
    Place,
    /// Old and new file change places.
    Exchange,
    /// The old file is written into.
    Overwrite,
    /// Mode, owner and attributes alone.
    Dress,
}

#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) path: PathBuf,
    pub(super) error: io::Error,
    /// Somebody else was faster.
    pub(super) raced: bool,
    pub(super) done: Vec<(usize, Act)>,
    /// The act that failed, if it may have got half way.
    pub(super) begun: Option<(usize, Act)>,
}

/// Everything `entry` means, in order: indices into its changes.
pub(super) fn acts(entry: &Entry) -> Vec<(usize, Act)> {
    let mut acts: Vec<(usize, Act)> = Vec::new();
    for (index, change) in entry.changes.iter().enumerate() {
        acts.extend(acts_of(change).into_iter().map(|act| (index, act)));
    }
    let depth = |index: usize| entry.changes.get(index).map_or(0, |c| c.path.components().count());
    acts.sort_by_key(|(index, act)| {
        let depth = i64::try_from(depth(*index)).unwrap_or(0);
        let deepest_first = matches!(act, Act::RemoveDir | Act::Dress);
        (*act, if deepest_first { -depth } else { depth }, *index)
    });
    acts
}

pub(super) fn acts_of(change: &Landed) -> Vec<Act> {
    let mut acts = Vec::new();
    let same_kind = matches!(
        (&change.before, &change.after),
        (Node::File { .. }, Node::File { .. }) | (Node::Directory { .. }, Node::Directory { .. })
    );
    if change.before == change.after {
        return acts;
    }
    if same_kind {
        match (change.before.same_content(&change.after), change.in_place) {
            (true, _) => acts.push(Act::Dress),
            (false, true) => acts.extend([Act::Overwrite, Act::Dress]),
            (false, false) => acts.push(Act::Exchange),
        }
        return acts;
    }
    match &change.before {
        Node::Absent => {}
        Node::Directory { .. } => acts.push(Act::RemoveDir),
        _ => acts.push(Act::Displace),
    }
    match &change.after {
        Node::Absent | Node::Special { .. } => {}
        Node::Directory { .. } => acts.extend([Act::MakeDir, Act::Dress]),
        _ => acts.push(Act::Place),
    }
    acts
}

pub(super) fn all(entry: &Entry) -> Result<(), Trouble> {
    let mut done = Vec::new();
    let mut dirs = Dirs::default();
    for (index, act) in acts(entry) {
        let Some(change) = entry.changes.get(index) else { continue };
        let trouble = |error: io::Error, begun: Option<(usize, Act)>, done| {
            let raced = error.kind() == io::ErrorKind::ResourceBusy;
            // A file that somebody else changed was not written over.
            let begun = begun.filter(|_| !raced || act != Act::Overwrite);
            Trouble { path: change.path.clone(), error, raced, done, begun }
        };
        let spot = match Spot::of(&mut dirs, entry, index, &change.path) {
            Ok(spot) => spot,
            Err(error) => return Err(trouble(error, None, done)),
        };
        if let Err(error) = act_at(&spot, change, act) {
            return Err(trouble(error, Some((index, act)), done));
        }
        done.push((index, act));
        crash_point();
    }
    sync(entry);
    match late_write(entry) {
        None => Ok(()),
        Some(path) => Err(Trouble { path, error: raced(), raced: true, done, begun: None }),
    }
}

/// Somebody who had the old file open wrote to it after it came out, or may do so yet: that content must not be lost.
fn late_write(entry: &Entry) -> Option<PathBuf> {
    let mut dirs = Dirs::default();
    let files = entry.changes.iter().enumerate().filter(|(_, c)| c.before.is_file() && !c.in_place);
    for (index, change) in files {
        let what = match acts_of(change).first() {
            Some(Act::Exchange) => "new",
            Some(Act::Displace) => "old",
            _ => continue,
        };
        let out = anchor(entry, index).and_then(|place| dirs.at(&place).ok());
        let out = out.and_then(|dir| {
            let (file, _) = open_anyway(&*dir, &temp_name(entry, index, what), OFlags::NONBLOCK).ok()?;
            let closed = closed_soon(&file);
            Some(closed && super::super::sparse::hash_of(&file).ok() == change.before.hash())
        });
        if out == Some(false) {
            return Some(change.path.clone());
        }
    }
    None
}

/// Waits a moment for whoever has the file open for writing.
fn closed_soon(file: &File) -> bool {
    for _ in 0..50 {
        if !super::super::lease::written_elsewhere(file) {
            return true;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    false
}

/// Somebody else's work is there: it is left alone.
fn raced() -> io::Error {
    io::Error::new(io::ErrorKind::ResourceBusy, "it changed while it was being replaced")
}

pub(super) struct Spot<'a> {
    pub(super) dir: Rc<OwnedFd>,
    pub(super) name: &'a OsStr,
    pub(super) anchor: Rc<OwnedFd>,
    pub(super) new: OsString,
    pub(super) old: OsString,
    _eased: [Eased; 2],
}

impl<'a> Spot<'a> {
    pub(super) fn of(dirs: &mut Dirs, entry: &Entry, index: usize, path: &'a Path) -> io::Result<Spot<'a>> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let place = anchor(entry, index).ok_or(io::ErrorKind::NotFound)?;
        let [new, old] = ["new", "old"].map(|what| temp_name(entry, index, what));
        let (dir, anchor) = (dirs.at(parent)?, dirs.at(&place)?);
        let _eased = [Eased::of(&dir), Eased::of(&anchor)];
        Ok(Spot { dir, name, anchor, new, old, _eased })
    }
}

pub(super) fn perform(
    dirs: &mut Dirs,
    entry: &Entry,
    index: usize,
    change: &Landed,
    act: Act,
) -> io::Result<()> {
    act_at(&Spot::of(dirs, entry, index, &change.path)?, change, act)
}

fn act_at(spot: &Spot<'_>, change: &Landed, act: Act) -> io::Result<()> {
    match act {
        Act::Displace => displace(spot, &change.before),
        Act::RemoveDir => match rustix::fs::unlinkat(&*spot.dir, spot.name, AtFlags::REMOVEDIR) {
            Ok(()) => Ok(()),
            // Somebody put something into it meanwhile.
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => Err(raced()),
            Err(e) => Err(e.into()),
        },
        Act::MakeDir => match rustix::fs::mkdirat(&*spot.dir, spot.name, Mode::from_raw_mode(0o700)) {
            Err(Errno::EXIST) => Err(raced()),
            other => Ok(other?),
        },
        Act::Place => place(spot, &change.after),
        Act::Exchange => match (change.before.hash(), change.after.hash()) {
            (Some(before), Some(after)) => exchange(spot, before, after),
            _ => Ok(()),
        },
        Act::Overwrite => overwrite(spot, &change.before),
        Act::Dress => dress(spot, &change.after),
    }
}

fn displace(spot: &Spot<'_>, before: &Node) -> io::Result<()> {
    let free = RenameFlags::NOREPLACE;
    match rustix::fs::renameat_with(&*spot.dir, spot.name, &*spot.anchor, &spot.old, free) {
        Err(Errno::NOENT) => return Err(raced()),
        other => other?,
    }
    fault("displaced")?;
    if Node::read(&*spot.anchor, &spot.old)? == *before {
        return Ok(());
    }
    rustix::fs::renameat_with(&*spot.anchor, &spot.old, &*spot.dir, spot.name, free)?;
    Err(raced())
}

fn place(spot: &Spot<'_>, after: &Node) -> io::Result<()> {
    let placed = match after {
        Node::Link { target } => rustix::fs::symlinkat(target.as_os_str(), &*spot.dir, spot.name),
        _ => {
            let free = RenameFlags::NOREPLACE;
            let moved = rustix::fs::renameat_with(&*spot.anchor, &spot.new, &*spot.dir, spot.name, free);
            match moved {
                // Where that flag is unknown, a hard link refuses an existing name just as well.
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                    rustix::fs::linkat(&*spot.anchor, &spot.new, &*spot.dir, spot.name, AtFlags::empty())
                        .and_then(|()| rustix::fs::unlinkat(&*spot.anchor, &spot.new, AtFlags::empty()))
                }
                other => other,
            }
        }
    };
    match placed {
        Err(Errno::EXIST) => Err(raced()),
        other => Ok(other?),
    }
}

fn exchange(spot: &Spot<'_>, before: super::super::Hash, after: super::super::Hash) -> io::Result<()> {
    match exchange_checked((&spot.anchor, &spot.new), (&spot.dir, spot.name), after, before)? {
        Exchange::Done => Ok(()),
        Exchange::Raced => Err(raced()),
    }
}

fn overwrite(spot: &Spot<'_>, before: &Node) -> io::Result<()> {
    let mut target = for_writing(spot)?;
    if Node::of_file(&target)?.hash() != before.hash() {
        return Err(raced());
    }
    copy_over(&mut staged(spot)?, &mut target)
}

pub(super) fn for_writing(spot: &Spot<'_>) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    Ok(File::from(rustix::fs::openat(&*spot.dir, spot.name, flags, Mode::empty())?))
}

fn staged(spot: &Spot<'_>) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(&*spot.anchor, &spot.new, flags, Mode::empty())?))
}

pub(super) fn copy_over(from: &mut File, to: &mut File) -> io::Result<()> {
    super::super::sparse::copy(from, to)?;
    to.sync_all()
}

pub(super) fn dress(spot: &Spot<'_>, after: &Node) -> io::Result<()> {
    let Some(attrs) = after.attrs() else { return Ok(()) };
    let (file, _) = open_anyway(&*spot.dir, spot.name, OFlags::NONBLOCK)?;
    Ok(attrs.give(&file)?)
}

fn sync(entry: &Entry) {
    if entry.changes.len() > super::SYNC_EACH {
        if let Some(dir) =
            entry.changes.first().and_then(|c| c.path.parent()).and_then(|p| dir_anyway(p).ok())
        {
            super::sync_file_system(&File::from(dir));
        }
        return;
    }
    for change in &entry.changes {
        if let Some(dir) = change.path.parent().and_then(|p| dir_anyway(p).ok()) {
            let _ = rustix::fs::fsync(&dir);
        }
    }
}
