//! Committing: staged contents and targets are exchanged. Displaced contents are checked, and stored until every step
//! is done.
//!
//! The order: files and links that go, directories that go (deepest first), directories that come, files and links that
//! come or change, and last the modes of directories, because one of them may forbid what came before.

use super::failpoints::fault;
use super::halves::in_halves;
use super::open_dirs::OpenDirs;
use super::raced::raced;
use super::{ApplyProgress, crash_point, temp_name};
use crate::Hash;
use crate::files::metadata::path_state::{PathState, WritableDirGuard, dir_anyway, open_anyway};
use crate::files::writing::atomic_write::{QuietFile, exchange_checked};
use crate::history::journal::{AppliedChange, JournalEntry};
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is done to one path, in the order in which it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CommitAction {
    /// Renames the old file or link to its temporary name.
    Displace,
    RemoveDir,
    MakeDir,
    /// The new file or link takes its place.
    Place,
    /// Old and new file change places.
    Exchange,
    /// Writes into the old file.
    Overwrite,
    /// Mode, owner and attributes alone.
    Dress,
}

#[derive(Debug)]
pub(super) struct CommitFailure {
    pub(super) path: PathBuf,
    pub(super) error: io::Error,
    /// Another process changed the target first.
    pub(super) raced: bool,
    /// What was done before, in order.
    pub(super) done: Vec<(usize, CommitAction)>,
    /// The acts that failed, if a part of them may be done: at most one for each thread.
    pub(super) begun: Vec<(usize, CommitAction)>,
}

impl CommitFailure {
    /// The files are as `done` says, and a repository refused.
    pub(super) fn of_repository(done: Vec<(usize, CommitAction)>) -> CommitFailure {
        let error = io::Error::other("a repository refused");
        CommitFailure { path: PathBuf::new(), error, raced: false, done, begun: Vec::new() }
    }
}

/// Everything `entry` means, in order: indices into its changes.
pub(super) fn acts(entry: &JournalEntry) -> Vec<(usize, CommitAction)> {
    let mut acts: Vec<(usize, CommitAction)> = Vec::new();
    for (index, change) in entry.changes.iter().enumerate() {
        acts.extend(acts_of(change).into_iter().map(|act| (index, act)));
    }
    let depth = |index: usize| entry.changes.get(index).map_or(0, |c| c.path.components().count());
    // No two keys are equal, and a sort that keeps the order of equals would need memory of its own.
    acts.sort_unstable_by_key(|(index, act)| {
        let depth = i64::try_from(depth(*index)).unwrap_or(0);
        let deepest_first = matches!(act, CommitAction::RemoveDir | CommitAction::Dress);
        (*act, if deepest_first { -depth } else { depth }, *index)
    });
    acts
}

pub(super) fn acts_of(change: &AppliedChange) -> Vec<CommitAction> {
    let mut acts = Vec::new();
    let same_kind = matches!(
        (&*change.before, &*change.after),
        (PathState::File { .. }, PathState::File { .. })
            | (PathState::Directory { .. }, PathState::Directory { .. })
    );
    if change.before == change.after {
        return acts;
    }
    if same_kind {
        match (change.before.same_content(&change.after), change.in_place) {
            (true, _) => acts.push(CommitAction::Dress),
            (false, true) => acts.extend([CommitAction::Overwrite, CommitAction::Dress]),
            (false, false) => acts.push(CommitAction::Exchange),
        }
        return acts;
    }
    match &*change.before {
        PathState::Absent => {}
        PathState::Directory { .. } => acts.push(CommitAction::RemoveDir),
        _ => acts.push(CommitAction::Displace),
    }
    match &*change.after {
        PathState::Absent => {}
        PathState::Directory { .. } => acts.extend([CommitAction::MakeDir, CommitAction::Dress]),
        _ => acts.push(CommitAction::Place),
    }
    acts
}

/// What one thread did, in order.
#[derive(Default)]
struct CommittedPart {
    done: Vec<(usize, CommitAction)>,
    quiet: Vec<(usize, QuietFile)>,
    failed: Option<CommitFailure>,
}

/// Of how many displaced files the stamp is recorded: each takes memory, and the others are hashed once more.
const MOST_QUIET: usize = 1 << 15;

/// Changes all paths. Where the disk did not confirm that the new names are stored, gives its error: the change is
/// done, and a power failure may lose it.
pub(super) fn all(
    entry: &JournalEntry,
    progress: &ApplyProgress,
) -> Result<Option<io::Error>, CommitFailure> {
    let acts = acts(entry);
    let mut quiet = HashMap::new();
    // Files that are exchanged do not depend on each other; all other acts have an order.
    let first = acts.partition_point(|(_, act)| *act < CommitAction::Exchange);
    let last = acts.partition_point(|(_, act)| *act <= CommitAction::Exchange);
    for (range, in_order) in [(0..first, true), (first..last, false), (last..acts.len(), true)] {
        let failed = AtomicBool::new(false);
        let work =
            |part: Range<usize>| perform_part(entry, acts.get(part).unwrap_or_default(), &failed, progress);
        let parts = match in_order {
            true => vec![work(range.clone())],
            false => in_halves(&entry.shut, range.clone(), work),
        };
        let mut failure: Option<CommitFailure> = None;
        let mut done = Vec::new();
        for part in parts {
            quiet.extend(part.quiet);
            if failed.load(Ordering::Relaxed) {
                done.extend(part.done);
            }
            failure = match (failure, part.failed) {
                (Some(mut first), Some(second)) => {
                    first.begun.extend(second.begun);
                    Some(first)
                }
                (first, second) => first.or(second),
            };
        }
        if let Some(failure) = failure {
            let mut before = acts;
            before.truncate(range.start);
            before.extend(done);
            return Err(CommitFailure { done: before, ..failure });
        }
    }
    let unconfirmed = sync(entry).err();
    match late_write(entry, &quiet) {
        None => Ok(unconfirmed),
        Some(path) => Err(CommitFailure { path, error: raced(), raced: true, done: acts, begun: Vec::new() }),
    }
}

/// Performs these acts, up to the first failure, here or in the other thread.
fn perform_part(
    entry: &JournalEntry,
    acts: &[(usize, CommitAction)],
    failed: &AtomicBool,
    progress: &ApplyProgress,
) -> CommittedPart {
    let mut dirs = OpenDirs::default();
    let mut part = CommittedPart::default();
    for &(index, act) in acts {
        let Some(change) = entry.changes.get(index) else { continue };
        if failed.load(Ordering::Relaxed) {
            break;
        }
        let trouble = |error: io::Error, begun: Option<(usize, CommitAction)>| {
            let raced = error.kind() == io::ErrorKind::ResourceBusy;
            // A file that another process changed was not overwritten.
            let begun = begun.filter(|_| !raced || act != CommitAction::Overwrite).into_iter().collect();
            CommitFailure { path: change.path.to_path_buf(), error, raced, done: Vec::new(), begun }
        };
        let done = match CommitTarget::of(&mut dirs, entry, index, &change.path) {
            Ok(spot) => act_at(&spot, change, act).map_err(|error| trouble(error, Some((index, act)))),
            Err(error) => Err(trouble(error, None)),
        };
        match done {
            Ok(stamp) => {
                let stamp = stamp.filter(|_| part.quiet.len() < MOST_QUIET);
                part.quiet.extend(stamp.map(|stamp| (index, stamp)));
            }
            Err(failure) => {
                failed.store(true, Ordering::Relaxed);
                part.failed = Some(failure);
                break;
            }
        }
        part.done.push((index, act));
        progress.step(&change.before, &change.after);
        crash_point();
    }
    part
}

/// Finds a file that another process wrote to, or can still write to, after the file was displaced: such a process had
/// the old file open, and what it writes must not be lost. `quiet` are files that nobody could write to when they were
/// displaced: these are hashed again only if something about them changed.
fn late_write(entry: &JournalEntry, quiet: &HashMap<usize, QuietFile>) -> Option<PathBuf> {
    let first = |part| late_writes(entry, quiet, part).next();
    let parts = in_halves(&entry.shut, 0..entry.changes.len(), first);
    let index = parts.into_iter().flatten().next()?;
    Some(entry.changes.get(index)?.path.to_path_buf())
}

/// All such files among these changes.
pub(super) fn late_writes<'a>(
    entry: &'a JournalEntry,
    quiet: &'a HashMap<usize, QuietFile>,
    part: Range<usize>,
) -> impl Iterator<Item = usize> + 'a {
    let mut dirs = OpenDirs::default();
    part.filter(move |&index| {
        let Some(change) = entry.changes.get(index).filter(|c| c.before.is_file() && !c.in_place) else {
            return false;
        };
        let what = match acts_of(change).first() {
            Some(CommitAction::Exchange) => "new",
            Some(CommitAction::Displace) => "old",
            _ => return false,
        };
        let dir = dirs.anchor(entry, index).and_then(|place| dirs.at(&place).ok());
        dir.is_some_and(|dir| {
            let quiet = quiet.get(&index).copied();
            is_written_late(&dir, &temp_name(entry, index, what), change.before.hash(), quiet)
        })
    })
}

/// True where another process wrote to this displaced file, or still can. Of a file that is not there nobody knows.
pub(super) fn is_written_late(
    dir: &OwnedFd,
    name: &OsStr,
    expected: Option<Hash>,
    quiet: Option<QuietFile>,
) -> bool {
    let Ok((file, _)) = open_anyway(dir, name, OFlags::NONBLOCK) else { return false };
    if quiet.is_some_and(|stamp| stamp.is_still(&file)) {
        return false;
    }
    !closed_soon(&file) || crate::files::content::sparse::hash_of(&file).ok() != expected
}

/// Waits a moment for the process that has the file open for writing.
fn closed_soon(file: &File) -> bool {
    for _ in 0..50 {
        if !crate::files::opening::lease::written_elsewhere(file) {
            return true;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    false
}

pub(super) struct CommitTarget<'a> {
    pub(super) dir: Rc<OwnedFd>,
    pub(super) name: &'a OsStr,
    pub(super) anchor: Rc<OwnedFd>,
    pub(super) new: OsString,
    pub(super) old: OsString,
    _eased: [WritableDirGuard; 2],
}

impl<'a> CommitTarget<'a> {
    pub(super) fn of(
        dirs: &mut OpenDirs,
        entry: &JournalEntry,
        index: usize,
        path: &'a Path,
    ) -> io::Result<CommitTarget<'a>> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let place = dirs.anchor(entry, index).ok_or(io::ErrorKind::NotFound)?;
        let [new, old] = ["new", "old"].map(|what| temp_name(entry, index, what));
        let ((dir, first), (anchor, second)) = (dirs.writable(parent)?, dirs.writable(&place)?);
        Ok(CommitTarget { dir, name, anchor, new, old, _eased: [first, second] })
    }
}

pub(super) fn perform(
    dirs: &mut OpenDirs,
    entry: &JournalEntry,
    index: usize,
    change: &AppliedChange,
    act: CommitAction,
) -> io::Result<()> {
    act_at(&CommitTarget::of(dirs, entry, index, &change.path)?, change, act).map(drop)
}

/// Gives the stamp of a displaced file to which nobody can write any more.
fn act_at(
    spot: &CommitTarget<'_>,
    change: &AppliedChange,
    act: CommitAction,
) -> io::Result<Option<QuietFile>> {
    let done = match act {
        CommitAction::Displace => displace(spot, &spot.old, &change.before),
        CommitAction::RemoveDir => remove_dir(spot),
        CommitAction::MakeDir => make_dir(spot),
        CommitAction::Place => place(spot, &change.after),
        CommitAction::Exchange => {
            fault("exchange")?;
            return exchange(spot, &change.before, change.after.hash());
        }
        CommitAction::Overwrite => overwrite(spot, &change.before),
        CommitAction::Dress => dress(spot, &change.after),
    };
    done.map(|()| None)
}

/// Renames what is there to `as_name`, if it is exactly `expected`; anything else stays.
pub(super) fn displace(spot: &CommitTarget<'_>, as_name: &OsStr, expected: &PathState) -> io::Result<()> {
    let free = RenameFlags::NOREPLACE;
    match rustix::fs::renameat_with(&*spot.dir, spot.name, &*spot.anchor, as_name, free) {
        Err(Errno::NOENT) => return Err(raced()),
        other => other?,
    }
    let found = fault("displaced").and_then(|()| PathState::read(&spot.anchor, as_name));
    if found.as_ref().is_ok_and(|found| found == expected) {
        return Ok(());
    }
    put_back(spot, as_name)?;
    found.and(Err(raced()))
}

/// Gives what has a temporary name its own name again, if that is free.
pub(super) fn put_back(spot: &CommitTarget<'_>, name: &OsStr) -> io::Result<()> {
    let free = RenameFlags::NOREPLACE;
    match rustix::fs::renameat_with(&*spot.anchor, name, &*spot.dir, spot.name, free) {
        Err(Errno::EXIST) => Err(raced()),
        other => Ok(other?),
    }
}

pub(super) fn remove_dir(spot: &CommitTarget<'_>) -> io::Result<()> {
    match rustix::fs::unlinkat(&*spot.dir, spot.name, AtFlags::REMOVEDIR) {
        // Another process put something into the directory in the meantime.
        Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => Err(raced()),
        other => Ok(other?),
    }
}

/// Its own mode comes last (`Dress`), because it may forbid to put something into it.
pub(super) fn make_dir(spot: &CommitTarget<'_>) -> io::Result<()> {
    match rustix::fs::mkdirat(&*spot.dir, spot.name, Mode::from_raw_mode(0o700)) {
        Err(Errno::EXIST) => Err(raced()),
        other => Ok(other?),
    }
}

fn place(spot: &CommitTarget<'_>, after: &PathState) -> io::Result<()> {
    let placed = match after {
        PathState::Link { target } => rustix::fs::symlinkat(target.as_os_str(), &*spot.dir, spot.name),
        PathState::Special { attrs, .. } => {
            let (new, place) = ((&*spot.anchor, &*spot.new), (&*spot.dir, spot.name));
            super::pipe::make(new, place, &attrs.known_or_new())
        }
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

/// Puts the staged file, which has the content `put`, in the place of a file that is exactly `expected`; anything else
/// stays.
pub(super) fn exchange(
    spot: &CommitTarget<'_>,
    expected: &PathState,
    put: Option<Hash>,
) -> io::Result<Option<QuietFile>> {
    let (Some(content), Some(put)) = (expected.hash(), put) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let (staged, target) = ((&*spot.anchor, &*spot.new), (&*spot.dir, spot.name));
    let displaced = exchange_checked(staged, target, put, content)?.ok_or_else(raced)?;
    // Somebody may have given the file another mode, owner or attribute since it was looked at.
    let found = displaced.state();
    if found.as_ref().is_ok_and(|found| found == expected) {
        return Ok(displaced.quiet);
    }
    exchange_checked(staged, target, content, put)?;
    found.and(Err(raced()))
}

fn overwrite(spot: &CommitTarget<'_>, before: &PathState) -> io::Result<()> {
    let mut target = for_writing(spot)?;
    if PathState::of_file(&target)?.hash() != before.hash() {
        return Err(raced());
    }
    copy_over(&mut staged(spot)?, &mut target)
}

pub(super) fn for_writing(spot: &CommitTarget<'_>) -> io::Result<File> {
    // `NONBLOCK`: a pipe that took the place of the file must not make us wait.
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    Ok(File::from(rustix::fs::openat(&*spot.dir, spot.name, flags, Mode::empty())?))
}

fn staged(spot: &CommitTarget<'_>) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(&*spot.anchor, &spot.new, flags, Mode::empty())?))
}

pub(super) fn copy_over(from: &mut File, to: &mut File) -> io::Result<()> {
    crate::files::content::sparse::copy(from, to)?;
    to.sync_all()
}

pub(super) fn dress(spot: &CommitTarget<'_>, after: &PathState) -> io::Result<()> {
    let Some(attrs) = after.attrs() else { return Ok(()) };
    let (file, _) = open_anyway(&*spot.dir, spot.name, OFlags::NONBLOCK)?;
    Ok(attrs.give(&file)?)
}

fn sync(entry: &JournalEntry) -> io::Result<()> {
    super::fault("sync")?;
    let directory = |change: &AppliedChange| change.path.parent().and_then(|path| dir_anyway(path).ok());
    if entry.changes.len() > super::SYNC_EACH {
        return match entry.changes.first().and_then(directory) {
            Some(dir) => super::sync_file_system(&File::from(dir)),
            None => Ok(()),
        };
    }
    let mut seen = HashSet::new();
    let once = entry.changes.iter().filter(|change| seen.insert(change.path.parent()));
    for dir in once.filter_map(directory) {
        super::confirm(rustix::fs::fsync(&dir))?;
    }
    Ok(())
}
