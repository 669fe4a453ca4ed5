//! Staging: every new content next to its target, complete, synced and read back.

use super::failpoints::fault;
use super::halves::in_halves;
use super::open_dirs::OpenDirs;
use super::raced::raced_if_changed;
use super::{
    ApplyProgress, ContentSource, MERGEABLE, SYNC_EACH, StagePlan, anchor, crash_point, sync_file_system,
    temp_name,
};
use crate::files::metadata::path_state::{PathState, WritableDirGuard, dir_anyway, file_anyway, open_anyway};
use crate::history::journal::{AppliedChange, JournalEntry};
use crate::history::objects::{ObjectStore, changed};
use crate::hold_point;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub(super) type PathError = (PathBuf, io::Error);

/// A person stopped the apply.
#[derive(Debug, thiserror::Error)]
#[error("stopped")]
struct StageStopped;

fn stop() -> io::Error {
    io::Error::other(StageStopped)
}

pub(super) fn is_stop(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<StageStopped>())
}

/// The largest new file whose content is stored next to it.
const NEW: u64 = 1 << 20;
/// A command that makes more files than this at once builds or installs something: such files are not stored twice.
const FEW: usize = 64;

/// After so many files, what staging found out is written into the entry: it takes memory until then.
const BATCH: usize = 8192;

/// What staging found out about one change.
struct StagedChange {
    index: usize,
    in_place: bool,
    /// The state of a new file, whose mode and owner are those that the system gave it.
    fresh: Option<PathState>,
}

/// Stages the new contents of `entry`, whose changes have a plan each. `made` are the changes of which there is one, or a
/// part of one, also after a failure.
pub(super) fn all(
    objects: &ObjectStore,
    entry: &mut JournalEntry,
    (plans, progress): (&[StagePlan], &ApplyProgress),
    made: &mut Vec<usize>,
) -> Result<(), PathError> {
    let names = StagedNames::of(entry, plans);
    // Other names of a file come after the file itself.
    for is_twin in [false, true] {
        let mut from = 0;
        while from < plans.len() {
            let to = plans.len().min(from + BATCH);
            let parts = in_halves(&entry.shut, from..to, |part| {
                stage_part(objects, entry, (plans, &names, progress), part, is_twin)
            });
            let mut failed = None;
            for (staged, names, error) in parts {
                made.extend(names);
                failed = failed.or(error);
                for found in staged {
                    let Some(change) = entry.changes.get_mut(found.index) else { continue };
                    change.in_place = found.in_place;
                    if let Some(node) = found.fresh {
                        change.after = node.into();
                    }
                }
            }
            match failed {
                Some(error) => return Err(error),
                None => from = to,
            }
        }
    }
    Ok(())
}

/// Makes the contents that were staged, and the record of what is to be done with them, last.
pub(super) fn sync(
    objects: &ObjectStore,
    entry: &JournalEntry,
    made: &[usize],
    record: Option<&File>,
) -> io::Result<()> {
    objects.sync()?;
    if let Some(record) = record.filter(|record| !objects.is_synced_with(record)) {
        record.sync_data()?;
    }
    let dir = || made.last().and_then(|index| dir_anyway(&anchor(entry, *index)?).ok()).map(File::from);
    match entry.changes.len() > SYNC_EACH {
        true => dir().filter(|dir| !objects.is_synced_with(dir)).map_or(Ok(()), |dir| sync_file_system(&dir)),
        false => Ok(()),
    }
}

/// Stages some of the changes, up to the first failure: what was found out, the changes that have a staged content or a
/// part of one, and the failure.
fn stage_part(
    objects: &ObjectStore,
    entry: &JournalEntry,
    (plans, names, progress): (&[StagePlan], &StagedNames, &ApplyProgress),
    part: Range<usize>,
    is_twin: bool,
) -> (Vec<StagedChange>, Vec<usize>, Option<PathError>) {
    let (mut staged, mut made, mut dirs) = (Vec::new(), Vec::new(), OpenDirs::default());
    for index in part {
        let (Some(change), Some(plan)) = (entry.changes.get(index), plans.get(index)) else { continue };
        if change.twin.is_some() != is_twin {
            continue;
        }
        if progress.is_cancelled() {
            return (staged, made, Some((change.path.to_path_buf(), stop())));
        }
        progress.step(&change.before, &change.after);
        hold_point("staging");
        let most_names = names.of_change(change);
        match stage_change(
            objects,
            entry,
            (index, change, plan, plans.len()),
            most_names,
            (&mut dirs, &mut made),
        ) {
            Ok(found) => staged.extend(found),
            Err(error) => return (staged, made, Some((change.path.to_path_buf(), error))),
        }
    }
    (staged, made, None)
}

fn stage_change(
    objects: &ObjectStore,
    entry: &JournalEntry,
    (index, change, plan, count): (usize, &AppliedChange, &StagePlan, usize),
    most_names: usize,
    (dirs, made): (&mut OpenDirs, &mut Vec<usize>),
) -> io::Result<Option<StagedChange>> {
    let most = match change.before.is_file() {
        true => MERGEABLE,
        false if plan.keep_names || count <= FEW => NEW,
        false => 0,
    };
    match keep_after(objects, change, plan, most) {
        // Without its stored content, a new file loses only its history: an unreadable new file is applied like any
        // other.
        Err(e) if change.before.is_file() => return Err(e),
        Err(_) | Ok(()) => {}
    }
    super::old_contents::make_sure(objects, dirs, change)?;
    if !needs_content(change) {
        return Ok(None);
    }
    let place = dirs.anchor(entry, index).ok_or(io::ErrorKind::NotFound)?;
    let (dir, _eased) = dirs.writable(&place)?;
    let name = temp_name(entry, index, "new");
    made.push(index);
    let staged = fault("stage").and_then(|()| match twin(entry, change, &dir, &name)? {
        Some(file) => Ok(StagedContent { file, in_place: false }),
        None => one(objects, change, (plan, most_names), &dir, &name),
    });
    if staged.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::AlreadyExists) {
        // A file that already has this name belongs to another program.
        made.pop();
    }
    let staged = staged?;
    let node = match plan.known_content(change) {
        Some(hash) => PathState::of_file_assuming(&staged.file, hash)?,
        None => PathState::of_file(&staged.file)?,
    };
    if node.hash() != change.after.hash() || node.size() != change.after.size() {
        return Err(match plan.source {
            ContentSource::Stored(_) => changed(),
            _ => io::Error::other("the new content differs from what was shown"),
        });
    }
    if staged.in_place {
        keep_before(objects, change)?;
    }
    // The sync of the objects comes last, and stores all of a file system.
    if count <= SYNC_EACH && !objects.is_synced_with(&staged.file) {
        staged.file.sync_all()?;
    }
    let is_as_meant = plan.fresh || staged.in_place || change.twin.is_some() || node == change.after;
    if !is_as_meant {
        return Err(io::Error::other("cannot set its mode, owner, attributes or access list"));
    }
    crash_point();
    let fresh = plan.fresh.then_some(node);
    Ok((fresh.is_some() || staged.in_place).then_some(StagedChange {
        index,
        in_place: staged.in_place,
        fresh,
    }))
}

/// The content that will be written over: it cannot be taken over afterwards, as a displaced file is.
fn keep_before(objects: &ObjectStore, change: &AppliedChange) -> io::Result<()> {
    let Some(before) = change.before.hash() else { return Ok(()) };
    objects.put_file(&mut file_anyway(&change.path)?, before, change.before.size()).map_err(raced_if_changed)
}

/// The new content of a file of at most `most` bytes: for the merge that a later undo may need, and so that what the
/// person changes in it later can be distinguished from what was written here.
fn keep_after(objects: &ObjectStore, change: &AppliedChange, plan: &StagePlan, most: u64) -> io::Result<()> {
    let Some(after) = change.after.hash() else { return Ok(()) };
    if matches!(plan.source, ContentSource::Stored(_) | ContentSource::Nothing) {
        return Ok(());
    }
    if change.before.hash() != Some(after) && change.after.size() <= most && !objects.has(after) {
        match &plan.source {
            ContentSource::Bytes(bytes) => drop(objects.put(bytes)?),
            ContentSource::Layer(layer) | ContentSource::LayerContent(layer) => {
                objects.put_file(
                    &mut file_anyway(&layer.file(&change.path)?)?,
                    after,
                    change.after.size(),
                )?;
            }
            ContentSource::Stored(_) | ContentSource::Nothing => {}
        }
    }
    Ok(())
}

/// How many names of each file this apply takes from a layer. A file of a layer with more names than that stays there
/// under the others: linked, it would be the same file as what is still pending, and a later write to one would change both.
struct StagedNames(HashMap<Arc<Path>, usize>);

impl StagedNames {
    fn of(entry: &JournalEntry, plans: &[StagePlan]) -> StagedNames {
        let is_linked = |plan: &StagePlan| matches!(plan.source, ContentSource::Layer(_));
        let linked = || entry.changes.iter().zip(plans).filter(|(_, plan)| is_linked(plan)).map(|(c, _)| c);
        let mut names: HashMap<Arc<Path>, usize> = HashMap::new();
        for leader in linked().filter_map(|change| change.twin.as_ref()) {
            *names.entry(Arc::clone(leader)).or_insert(0) += 1;
        }
        if !names.is_empty() {
            for change in linked().filter(|change| change.twin.is_none()) {
                if let Some(count) = names.get_mut(&change.path) {
                    *count += 1;
                }
            }
        }
        StagedNames(names)
    }

    fn of_change(&self, change: &AppliedChange) -> usize {
        self.0.get(change.twin.as_ref().unwrap_or(&change.path)).copied().unwrap_or(1)
    }
}

/// A file whose content changes, or that is new.
fn needs_content(change: &AppliedChange) -> bool {
    change.after.is_file() && !change.before.same_content(&change.after)
}

struct StagedContent {
    file: File,
    in_place: bool,
}

fn one(
    objects: &ObjectStore,
    change: &AppliedChange,
    (plan, most_names): (&StagePlan, usize),
    dir: &OwnedFd,
    name: &OsStr,
) -> io::Result<StagedContent> {
    let several = plan.keep_names && change.before.is_file() && has_more_names(&change.path);
    if let (ContentSource::Layer(layer), false) = (&plan.source, several)
        && link(&layer.file(&change.path)?, most_names, dir, name)?
    {
        let file = open_named(dir, name)?;
        return Ok(StagedContent { file, in_place: false });
    }
    // The umask takes from 0o666 what new files do not get here; attributes of an old file are given
    // below.
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut file = File::from(rustix::fs::openat(dir, name, flags, Mode::from_raw_mode(0o666))?);
    match &plan.source {
        ContentSource::Nothing => {}
        ContentSource::Bytes(bytes) | ContentSource::Stored(Some(bytes)) => file.write_all(bytes)?,
        ContentSource::Stored(None) => {
            let hash = change.after.hash().ok_or(io::ErrorKind::NotFound)?;
            objects.copy_to(hash, &file)?;
        }
        ContentSource::Layer(layer) | ContentSource::LayerContent(layer) => {
            crate::files::content::sparse::copy(&file_anyway(&layer.file(&change.path)?)?, &file)?
        }
    }
    if plan.fresh || several {
        return Ok(StagedContent { file, in_place: several });
    }
    let given = change.after.attrs().map_or(Ok(()), |attrs| attrs.give(&file));
    match given {
        Ok(()) => Ok(StagedContent { file, in_place: false }),
        // Only the old file can have this owner or label: writing in place preserves them.
        Err(Errno::PERM | Errno::NOTSUP) if change.before.is_file() => {
            Ok(StagedContent { file, in_place: true })
        }
        Err(e) => Err(e.into()),
    }
}

fn has_more_names(path: &Path) -> bool {
    file_anyway(path).and_then(|file| file.metadata()).is_ok_and(|meta| meta.nlink() > 1)
}

/// Another name of a file that is there, or is staged, and has this very content.
fn twin(
    entry: &JournalEntry,
    change: &AppliedChange,
    dir: &OwnedFd,
    name: &OsStr,
) -> io::Result<Option<File>> {
    let Some(twin) = &change.twin else { return Ok(None) };
    let staged = entry.changes.binary_search_by(|c| c.path.cmp(twin)).ok();
    let staged = staged.and_then(|at| Some((at, entry.changes.get(at)?)));
    let (from, as_name) = match staged {
        Some((at, leader)) if leader.after != leader.before => {
            let staged = leader.after == change.after && !leader.in_place;
            let Some(place) = anchor(entry, at).filter(|_| staged) else { return Ok(None) };
            (dir_anyway(&place), temp_name(entry, at, "new"))
        }
        _ => {
            let (Some(parent), Some(as_name)) = (twin.parent(), twin.file_name()) else { return Ok(None) };
            (dir_anyway(parent), as_name.to_os_string())
        }
    };
    let Ok(from) = from else { return Ok(None) };
    if PathState::read(&from, &as_name)? != change.after {
        return Ok(None);
    }
    match rustix::fs::linkat(&from, &as_name, dir, name, AtFlags::empty()) {
        Ok(()) => Ok(Some(open_named(dir, name)?)),
        Err(Errno::XDEV | Errno::PERM | Errno::MLINK | Errno::NOTSUP | Errno::NOENT) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// Links a file of a layer that has at most `most_names` there.
fn link(from: &Path, most_names: usize, dir: &OwnedFd, name: &OsStr) -> io::Result<bool> {
    let names = rustix::fs::lstat(from).map(|stat| stat.st_nlink).unwrap_or(1);
    if usize::try_from(names).is_ok_and(|names| names > most_names) {
        return Ok(false);
    }
    match rustix::fs::linkat(rustix::fs::CWD, from, dir, name, AtFlags::empty()) {
        Ok(()) => Ok(true),
        // Another file system, no links there, or the kernel's `protected_hardlinks`: the content is
        // copied.
        Err(Errno::XDEV | Errno::PERM | Errno::MLINK | Errno::NOTSUP) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

fn open_named(dir: &OwnedFd, name: &OsStr) -> io::Result<File> {
    Ok(open_anyway(dir, name, OFlags::NONBLOCK)?.0)
}

fn is_missing(dir: &OwnedFd, name: &OsStr) -> bool {
    matches!(rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT))
}

/// How often a staged content is removed that cannot be removed at once, and the pause before that.
const AGAIN: usize = 2;
const PAUSE: Duration = Duration::from_millis(50);

/// Removes the staged contents of these changes. Returns how many are still there: then the entry must stay open,
/// because only the entry knows their names.
pub(super) fn clear(entry: &JournalEntry, made: impl IntoIterator<Item = usize>) -> usize {
    let mut left: Vec<usize> = made.into_iter().collect();
    for attempt in 0..=AGAIN {
        if attempt > 0 {
            std::thread::sleep(PAUSE);
        }
        let mut dirs = OpenDirs::default();
        left.retain(|index| {
            let Some(place) = dirs.anchor(entry, *index) else { return false };
            let dir = match dirs.at(&place) {
                Ok(dir) => dir,
                // With the directory its staged contents are gone; of one that cannot be opened nobody knows.
                Err(error) => {
                    return !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
                }
            };
            let _eased = WritableDirGuard::of(&dir);
            let name = temp_name(entry, *index, "new");
            match rustix::fs::unlinkat(&*dir, &name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => false,
                // Where nothing can be removed, a name that does not exist has other errors, too.
                Err(_) if is_missing(&dir, &name) => false,
                Err(error) => {
                    tracing::warn!(?name, %error, "a staged content is not removed");
                    true
                }
            }
        });
        if left.is_empty() {
            break;
        }
    }
    left.len()
}
