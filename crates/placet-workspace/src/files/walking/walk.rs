//! Walking directories: by descriptors, so that no swapped link leads out, and by several threads.
//!
//! Links are named and never followed. The walk counts what it leaves out (hidden names, ignored files, files that a
//! rule hides), and also what is in the kernel's file systems and what it had no time for, because an empty answer and
//! a filtered answer are not the same. Entries come in no order; a caller that collects them sorts.

use super::ignore_rules::IgnoreRules;
use crate::files::opening::pseudo_fs::{is_kernel_made, is_place};
use crate::{OpenConsent, RelativePath, ResolvedPath, Workspace, WorkspaceError};
use placet_text::text::visible;
use rustix::fs::{AtFlags, Dir as Listing, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::ops::AddAssign;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Files handed to a thread at once.
const BATCH: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkEntryKind {
    File,
    Directory,
    Link,
    Special,
}

/// Entries that were left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkippedEntries {
    /// Names that begin with a dot.
    pub dotted: usize,
    pub ignored: usize,
    /// Hidden by a rule of the person.
    pub hidden: usize,
    pub unreadable: usize,
    /// Directories, and files where contents are wanted, of file systems that the kernel makes up.
    pub kernel: usize,
    /// Files that a search of contents did not search.
    pub binary: usize,
    /// What was left when the time was over.
    pub late: Option<WalkTimeout>,
}

/// A walk that took too long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkTimeout {
    pub after: Duration,
    /// Directories that were not looked into, each with all that is below it.
    pub directories: usize,
    /// Some of them, from where the walk began.
    pub names: Vec<String>,
}

/// How many of those are named.
const NAMED: usize = 5;

impl SkippedEntries {
    /// A directory or a file that could not be opened.
    pub fn of(error: &std::io::Error) -> SkippedEntries {
        match error.raw_os_error() == Some(Errno::XDEV.raw_os_error()) {
            true => SkippedEntries { kernel: 1, ..SkippedEntries::default() },
            false => SkippedEntries { unreadable: 1, ..SkippedEntries::default() },
        }
    }
}

impl AddAssign for SkippedEntries {
    fn add_assign(&mut self, other: SkippedEntries) {
        self.dotted += other.dotted;
        self.ignored += other.ignored;
        self.hidden += other.hidden;
        self.unreadable += other.unreadable;
        self.kernel += other.kernel;
        self.binary += other.binary;
        match (&mut self.late, other.late) {
            (Some(late), Some(other)) => {
                late.directories += other.directories;
                late.names.extend(other.names);
            }
            (None, other) => self.late = other,
            (Some(_), None) => {}
        }
    }
}

/// What a walk shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkFilter {
    /// Neither dotted nor ignored entries.
    Usual,
    /// Dotted entries too, but for `.git`.
    Dotted,
    /// Ignored entries too, but no dotted ones.
    Ignored,
    /// Everything but `.git`.
    All,
}

impl WalkFilter {
    fn dotted(self) -> bool {
        matches!(self, WalkFilter::Dotted | WalkFilter::All)
    }

    fn ignored(self) -> bool {
        matches!(self, WalkFilter::Ignored | WalkFilter::All)
    }
}

/// An open directory in a walk.
#[derive(Debug)]
pub struct WalkDirectory {
    /// The directories that make it up, topmost first: only one, except with pending changes.
    fds: Vec<OwnedFd>,
    path: PathBuf,
    /// From where the walk began, with a slash at the end unless it is empty.
    relative: OsString,
    rules: Arc<IgnoreRules>,
    /// The directory is in a file system that the kernel provides.
    kernel: bool,
}

/// A thing in a directory.
#[derive(Clone, Debug)]
pub struct WalkEntry {
    pub dir: Arc<WalkDirectory>,
    pub name: OsString,
    pub kind: WalkEntryKind,
    /// Which of the directory's descriptors has it.
    at: usize,
}

/// The path of a directory in another, with the slash at its end.
fn below(relative: &OsStr, name: &OsStr) -> OsString {
    let mut path = relative.to_os_string();
    path.push(name);
    path.push("/");
    path
}

impl WalkEntry {
    /// The path from where the walk began.
    pub fn relative(&self) -> RelativePath {
        let mut relative = self.dir.relative.clone();
        relative.push(&self.name);
        RelativePath::new(relative)
    }

    pub fn path(&self) -> PathBuf {
        self.dir.path.join(&self.name)
    }

    /// Opens a file for reading, through its directory: never through a link, and only an ordinary file. `XDEV` for a
    /// file of a kernel file system: opening it may have a side effect.
    pub fn open(&self) -> std::io::Result<File> {
        if self.dir.kernel {
            return Err(Errno::XDEV.into());
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NOCTTY;
        if self.kind != WalkEntryKind::File {
            return Err(Errno::INVAL.into());
        }
        let file = File::from(rustix::fs::openat(self.dir.fd(self.at)?, &self.name, flags, Mode::empty())?);
        // The file may have become something else in between.
        if file.metadata()?.is_file() { Ok(file) } else { Err(Errno::INVAL.into()) }
    }

    pub fn stat(&self) -> std::io::Result<Stat> {
        Ok(rustix::fs::statat(self.dir.fd(self.at)?, &self.name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Where a link points, as it is written.
    pub fn link_target(&self) -> Option<String> {
        let target = rustix::fs::readlinkat(self.dir.fd(self.at).ok()?, &self.name, Vec::new()).ok()?;
        Some(target.to_string_lossy().into_owned())
    }
}

impl WalkDirectory {
    /// Opens the directory below this one; `XDEV` for one where a file system begins that the kernel makes up.
    pub fn child(&self, name: &OsStr) -> std::io::Result<WalkDirectory> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let mut fds = Vec::new();
        for fd in &self.fds {
            match rustix::fs::openat(fd, name, flags, Mode::empty()) {
                Ok(below) => {
                    // An opaque directory of a layer hides what the layers below it have.
                    let last = self.fds.len() > 1 && crate::view::is_opaque(&below)?;
                    fds.push(below);
                    if last {
                        break;
                    }
                }
                Err(Errno::NOENT) => {}
                // An entry that is not a directory hides the lower layers.
                Err(_) if !fds.is_empty() => break,
                Err(e) => return Err(e.into()),
            }
        }
        if fds.is_empty() {
            return Err(Errno::NOENT.into());
        }
        let relative = below(&self.relative, name);
        let path = self.path.join(name);
        let kernel = fds.iter().any(|fd| is_kernel_made(fd, &path));
        if kernel && !self.kernel {
            return Err(Errno::XDEV.into());
        }
        Ok(WalkDirectory { fds, path, relative, rules: self.rules.clone(), kernel: kernel || self.kernel })
    }

    /// Lists the directory: the visible entries, and how many are left out. Also reads its ignore files.
    pub fn list(
        mut self,
        workspace: &Workspace,
        show: WalkFilter,
    ) -> std::io::Result<(Arc<WalkDirectory>, Vec<WalkEntry>, SkippedEntries)> {
        let found = self.names()?;
        let has = |name: &str| found.iter().find(|(n, ..)| n == name).and_then(|f| self.fds.get(f.2));
        self.rules = IgnoreRules::of(&self.path, &self.rules, has);
        let dir = Arc::new(self);
        let hides = workspace.hides_anything();
        let (mut entries, mut skipped) = (Vec::with_capacity(found.len()), SkippedEntries::default());
        // Each name replaces the "x": one buffer for all of them.
        let mut path = dir.path.join("x");
        for (name, file_type, at) in found {
            path.set_file_name(&name);
            let kind = dir.kind_of(&name, file_type, at);
            let dotted = name.as_bytes().first() == Some(&b'.') && (!show.dotted() || name == ".git");
            if hides && workspace.is_hidden(&path) {
                skipped.hidden += 1;
            } else if dotted {
                skipped.dotted += 1;
            } else if !show.ignored() && dir.rules.ignores(&path, kind == WalkEntryKind::Directory) {
                skipped.ignored += 1;
            } else {
                entries.push(WalkEntry { dir: dir.clone(), name, kind, at });
            }
        }
        Ok((dir, entries, skipped))
    }

    fn fd(&self, at: usize) -> rustix::io::Result<&OwnedFd> {
        self.fds.get(at).ok_or(Errno::NOENT)
    }

    /// Every name in it, with the descriptor that has it. What a layer deletes is not among them.
    fn names(&self) -> std::io::Result<Vec<(OsString, FileType, usize)>> {
        let mut found: Vec<(OsString, FileType, usize)> = Vec::new();
        let mut known: HashSet<OsString> = HashSet::new();
        let layered = self.fds.len() > 1;
        for (at, fd) in self.fds.iter().enumerate() {
            for entry in Listing::read_from(fd)? {
                let entry = entry?;
                let name = OsStr::from_bytes(entry.file_name().to_bytes());
                if name == "." || name == ".." || layered && known.contains(name) {
                    continue;
                }
                let mut kind = entry.file_type();
                if layered {
                    known.insert(name.to_os_string());
                }
                // A layer marks what is deleted with a device.
                if kind == FileType::CharacterDevice || layered && kind == FileType::Unknown {
                    let stat = rustix::fs::statat(fd, name, AtFlags::SYMLINK_NOFOLLOW)?;
                    kind = FileType::from_raw_mode(stat.st_mode);
                    if kind == FileType::CharacterDevice && stat.st_rdev == 0 {
                        continue;
                    }
                }
                found.push((name.to_os_string(), kind, at));
            }
        }
        Ok(found)
    }

    fn kind_of(&self, name: &OsStr, file_type: FileType, at: usize) -> WalkEntryKind {
        let stat = || rustix::fs::statat(self.fd(at)?, name, AtFlags::SYMLINK_NOFOLLOW);
        let known = match file_type {
            // Some file systems do not report the type.
            FileType::Unknown => {
                stat().map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
            }
            known => known,
        };
        match known {
            FileType::RegularFile => WalkEntryKind::File,
            FileType::Directory => WalkEntryKind::Directory,
            FileType::Symlink => WalkEntryKind::Link,
            _ => WalkEntryKind::Special,
        }
    }
}

impl Workspace {
    /// Opens the directory a walk begins in.
    pub fn walk_root(
        &self,
        at: &ResolvedPath,
        consent: OpenConsent<'_>,
    ) -> Result<WalkDirectory, WorkspaceError> {
        let fds = self.open_dirs(at, consent)?;
        let rules = IgnoreRules::above(self, &at.path);
        // A caller that names one wants to look into it.
        let kernel = fds.iter().any(|fd| is_kernel_made(fd, &at.path));
        Ok(WalkDirectory { fds, path: at.path.clone(), relative: OsString::new(), rules, kernel })
    }

    fn hides_anything(&self) -> bool {
        self.0.veil.get().is_some()
            || !self.0.hidden.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

/// A walk over everything below a directory.
pub struct DirWalk<'a> {
    workspace: &'a Workspace,
    show: WalkFilter,
    stop: &'a (dyn Fn() -> bool + Sync),
    budget: WalkBudget,
}

/// How long a walk may take.
#[derive(Clone, Copy, Debug)]
pub struct WalkBudget {
    since: Instant,
    most: Duration,
}

impl WalkBudget {
    /// From now on.
    pub fn of(most: Duration) -> WalkBudget {
        WalkBudget { since: Instant::now(), most }
    }

    pub fn is_expired(&self) -> bool {
        self.since.elapsed() >= self.most
    }

    /// The report where these files were not searched to their end.
    pub fn timeout_in(&self, mut names: Vec<String>) -> WalkTimeout {
        names.sort_unstable();
        names.truncate(NAMED);
        WalkTimeout { after: self.most, directories: 0, names }
    }
}

enum WalkTask {
    Root(WalkDirectory),
    Below(Arc<WalkDirectory>, OsString),
    Batch(Vec<WalkEntry>),
}

#[derive(Default)]
struct WalkQueue {
    work: Vec<WalkTask>,
    busy: usize,
    skipped: SkippedEntries,
    /// The time was over while there was work.
    is_late: bool,
}

impl<'a> DirWalk<'a> {
    /// A walk that ends early when `stop` is true or the time is over; the result reports a timeout.
    pub fn new(
        workspace: &'a Workspace,
        show: WalkFilter,
        budget: WalkBudget,
        stop: &'a (dyn Fn() -> bool + Sync),
    ) -> DirWalk<'a> {
        DirWalk { workspace, show, stop, budget }
    }

    /// Visits every entry below `root`, directories included, from several threads; `visitor` makes one function for
    /// each thread.
    pub fn run<V: FnMut(&WalkEntry)>(
        &self,
        root: WalkDirectory,
        visitor: impl Fn() -> V + Sync,
    ) -> SkippedEntries {
        let queue = Mutex::new(WalkQueue { work: vec![WalkTask::Root(root)], ..WalkQueue::default() });
        let ready = Condvar::new();
        let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 12);
        std::thread::scope(|scope| {
            // This thread works, too, so that the walk also ends where no other can be started.
            for _ in 1..threads {
                let work = || self.run_worker(&queue, &ready, visitor());
                if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            self.run_worker(&queue, &ready, visitor());
        });
        let mut queue = queue.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut skipped = std::mem::take(&mut queue.skipped);
        if queue.is_late {
            skipped.late = Some(self.left(&queue.work));
        }
        skipped
    }

    /// Tasks that no thread took from the queue.
    fn left(&self, work: &[WalkTask]) -> WalkTimeout {
        let mut places: Vec<OsString> = work
            .iter()
            .map(|work| match work {
                WalkTask::Root(dir) => dir.relative.clone(),
                WalkTask::Below(dir, name) => below(&dir.relative, name),
                WalkTask::Batch(entries) => {
                    entries.first().map(|e| e.dir.relative.clone()).unwrap_or_default()
                }
            })
            .collect();
        places.sort_unstable();
        places.dedup();
        let directories = places.len();
        places.truncate(NAMED);
        let names = places.iter().map(|place| visible::path_name(Path::new(place))).collect();
        WalkTimeout { after: self.budget.most, directories, names }
    }

    fn run_worker(&self, queue: &Mutex<WalkQueue>, ready: &Condvar, mut visit: impl FnMut(&WalkEntry)) {
        while let Some(work) = self.take(queue, ready) {
            let (more, skipped) = match work {
                WalkTask::Batch(entries) => {
                    entries.iter().for_each(&mut visit);
                    (Vec::new(), SkippedEntries::default())
                }
                WalkTask::Root(dir) => self.list(dir, &mut visit),
                WalkTask::Below(dir, name) => match dir.child(&name) {
                    Ok(dir) => self.list(dir, &mut visit),
                    Err(e) => (Vec::new(), SkippedEntries::of(&e)),
                },
            };
            let mut queue = lock(queue);
            queue.skipped += skipped;
            queue.busy -= 1;
            let news = more.len();
            queue.work.extend(more);
            if news > 0 || queue.busy == 0 && queue.work.is_empty() {
                ready.notify_all();
            }
        }
    }

    fn take(&self, queue: &Mutex<WalkQueue>, ready: &Condvar) -> Option<WalkTask> {
        let mut queue = lock(queue);
        loop {
            if (self.stop)() {
                return None;
            }
            if self.budget.is_expired() && (queue.busy > 0 || !queue.work.is_empty()) {
                queue.is_late = true;
                return None;
            }
            if let Some(work) = queue.work.pop() {
                queue.busy += 1;
                return Some(work);
            }
            if queue.busy == 0 {
                return None;
            }
            // With a timeout: no event announces the end of the time, or that `stop` is true now.
            queue = ready
                .wait_timeout(queue, std::time::Duration::from_millis(50))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    fn list(
        &self,
        dir: WalkDirectory,
        visit: &mut impl FnMut(&WalkEntry),
    ) -> (Vec<WalkTask>, SkippedEntries) {
        let Ok((dir, entries, mut skipped)) = dir.list(self.workspace, self.show) else {
            return (Vec::new(), SkippedEntries { unreadable: 1, ..SkippedEntries::default() });
        };
        let (dirs, files): (Vec<WalkEntry>, Vec<WalkEntry>) =
            entries.into_iter().partition(|e| e.kind == WalkEntryKind::Directory);
        let mut work = Vec::new();
        dirs.iter().for_each(&mut *visit);
        for entry in dirs {
            // Known by their names, so that a walk without time for them reports them as what they are.
            match !dir.kernel && is_place(&dir.path.join(&entry.name)) {
                true => skipped.kernel += 1,
                false => work.push(WalkTask::Below(dir.clone(), entry.name)),
            }
        }
        // A directory of many files is shared out.
        let mut files = files.into_iter();
        loop {
            let batch: Vec<WalkEntry> = files.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                break;
            }
            work.push(WalkTask::Batch(batch));
        }
        (work, skipped)
    }
}

fn lock(queue: &Mutex<WalkQueue>) -> MutexGuard<'_, WalkQueue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}
