//! Walking directories: by descriptors, so that no swapped link leads out, and by several threads.
//!
//! Links are named and never followed. What is left out (hidden names, ignored files, files that a rule hides) is
//! counted, as is what lies in file systems that the kernel makes up and what a walk had no time for, because an empty answer and a filtered one are not the same. Entries come in no order; whoever collects
//! them sorts.

use super::ignored::Rules;
use super::kernel_fs::{is_kernel_made, is_place};
use super::{Consent, Relative, Resolved, Workspace, WorkspaceError};
use crate::text::visible;
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
pub enum EntryKind {
    File,
    Directory,
    Link,
    Special,
}

/// Entries that were left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Names that begin with a dot.
    pub dotted: usize,
    pub ignored: usize,
    /// Hidden by a rule of the person.
    pub hidden: usize,
    pub unreadable: usize,
    /// Directories, and files where contents are wanted, of file systems that the kernel makes up.
    pub kernel: usize,
    /// What was left when the time was over.
    pub late: Option<OutOfTime>,
}

/// A walk that took too long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfTime {
    pub after: Duration,
    /// Directories that were not looked into, each with all that is below it.
    pub directories: usize,
    /// Some of them, from where the walk began.
    pub names: Vec<String>,
}

/// How many of those are named.
const NAMED: usize = 5;

impl Skipped {
    /// A directory or a file that could not be opened.
    pub fn of(error: &std::io::Error) -> Skipped {
        match error.raw_os_error() == Some(Errno::XDEV.raw_os_error()) {
            true => Skipped { kernel: 1, ..Skipped::default() },
            false => Skipped { unreadable: 1, ..Skipped::default() },
        }
    }
}

impl AddAssign for Skipped {
    fn add_assign(&mut self, other: Skipped) {
        self.dotted += other.dotted;
        self.ignored += other.ignored;
        self.hidden += other.hidden;
        self.unreadable += other.unreadable;
        self.kernel += other.kernel;
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
pub enum Show {
    /// Neither dotted nor ignored entries.
    Usual,
    /// Dotted entries too, but for `.git`.
    Dotted,
    /// Ignored entries too, but no dotted ones.
    Ignored,
    /// Everything but `.git`.
    All,
}

impl Show {
    fn dotted(self) -> bool {
        matches!(self, Show::Dotted | Show::All)
    }

    fn ignored(self) -> bool {
        matches!(self, Show::Ignored | Show::All)
    }
}

/// An open directory in a walk.
#[derive(Debug)]
pub struct Dir {
    /// The directories it is made of, topmost first: one, but for what is pending.
    fds: Vec<OwnedFd>,
    path: PathBuf,
    /// From where the walk began, with a slash at the end unless it is empty.
    relative: OsString,
    rules: Arc<Rules>,
    /// It is of a file system that the kernel makes up.
    kernel: bool,
}

/// A thing in a directory.
#[derive(Clone, Debug)]
pub struct Entry {
    pub dir: Arc<Dir>,
    pub name: OsString,
    pub kind: EntryKind,
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

impl Entry {
    /// The path from where the walk began.
    pub fn relative(&self) -> Relative {
        let mut relative = self.dir.relative.clone();
        relative.push(&self.name);
        Relative::new(relative)
    }

    pub fn path(&self) -> PathBuf {
        self.dir.path.join(&self.name)
    }

    /// Opens a file for reading, through its directory: never through a link, and nothing but a file. `XDEV` for what is
    /// no file but the kernel's doing: opening it may do something.
    pub fn open(&self) -> std::io::Result<File> {
        if self.dir.kernel {
            return Err(Errno::XDEV.into());
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NOCTTY;
        if self.kind != EntryKind::File {
            return Err(Errno::INVAL.into());
        }
        let file = File::from(rustix::fs::openat(self.dir.fd(self.at)?, &self.name, flags, Mode::empty())?);
        // It may have become something else in between.
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

impl Dir {
    /// Opens the directory below this one; `XDEV` for one where a file system begins that the kernel makes up.
    pub fn child(&self, name: &OsStr) -> std::io::Result<Dir> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let mut fds = Vec::new();
        for fd in &self.fds {
            match rustix::fs::openat(fd, name, flags, Mode::empty()) {
                Ok(below) => {
                    let last = self.fds.len() > 1 && super::view::is_opaque(&below);
                    fds.push(below);
                    if last {
                        break;
                    }
                }
                Err(Errno::NOENT) => {}
                // Something else of that name hides what lies below it.
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
        Ok(Dir { fds, path, relative, rules: self.rules.clone(), kernel: kernel || self.kernel })
    }

    /// Lists the directory: what is to be shown, and how much is left out. Reads its ignore files on the way.
    pub fn list(
        mut self,
        workspace: &Workspace,
        show: Show,
    ) -> std::io::Result<(Arc<Dir>, Vec<Entry>, Skipped)> {
        let found = self.names()?;
        let has = |name: &str| found.iter().find(|(n, ..)| n == name).and_then(|f| self.fds.get(f.2));
        self.rules = Rules::of(&self.path, &self.rules, has);
        let dir = Arc::new(self);
        let hides = workspace.hides_anything();
        let (mut entries, mut skipped) = (Vec::with_capacity(found.len()), Skipped::default());
        let mut path = dir.path.join("x");
        for (name, file_type, at) in found {
            path.set_file_name(&name);
            let kind = dir.kind_of(&name, file_type, at);
            let dotted = name.as_bytes().first() == Some(&b'.') && (!show.dotted() || name == ".git");
            if hides && workspace.is_hidden(&path) {
                skipped.hidden += 1;
            } else if dotted {
                skipped.dotted += 1;
            } else if !show.ignored() && dir.rules.ignores(&path, kind == EntryKind::Directory) {
                skipped.ignored += 1;
            } else {
                entries.push(Entry { dir: dir.clone(), name, kind, at });
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

    fn kind_of(&self, name: &OsStr, file_type: FileType, at: usize) -> EntryKind {
        let stat = || rustix::fs::statat(self.fd(at)?, name, AtFlags::SYMLINK_NOFOLLOW);
        let known = match file_type {
            // Some file systems do not tell.
            FileType::Unknown => {
                stat().map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
            }
            known => known,
        };
        match known {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Directory,
            FileType::Symlink => EntryKind::Link,
            _ => EntryKind::Special,
        }
    }
}

impl Workspace {
    /// Opens the directory a walk begins in.
    pub fn walk_root(&self, at: &Resolved, consent: Consent<'_>) -> Result<Dir, WorkspaceError> {
        let fds = self.open_dirs(at, consent)?;
        let rules = Rules::above(self, &at.path);
        // Whoever names one wants to look into it.
        let kernel = fds.iter().any(|fd| is_kernel_made(fd, &at.path));
        Ok(Dir { fds, path: at.path.clone(), relative: OsString::new(), rules, kernel })
    }

    fn hides_anything(&self) -> bool {
        self.0.veil.get().is_some()
            || !self.0.hidden.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

/// A walk over everything below a directory.
pub struct Walk<'a> {
    workspace: &'a Workspace,
    show: Show,
    stop: &'a (dyn Fn() -> bool + Sync),
    budget: Budget,
}

/// How long a walk may take.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    since: Instant,
    most: Duration,
}

impl Budget {
    /// From now on.
    pub fn of(most: Duration) -> Budget {
        Budget { since: Instant::now(), most }
    }

    pub fn is_spent(&self) -> bool {
        self.since.elapsed() >= self.most
    }

    /// The report where these files were not searched to their end.
    pub fn spent_on(&self, mut names: Vec<String>) -> OutOfTime {
        names.sort_unstable();
        names.truncate(NAMED);
        OutOfTime { after: self.most, directories: 0, names }
    }
}

enum Work {
    Root(Dir),
    Below(Arc<Dir>, OsString),
    Batch(Vec<Entry>),
}

#[derive(Default)]
struct Queue {
    work: Vec<Work>,
    busy: usize,
    skipped: Skipped,
    /// The time was over while there was work.
    is_late: bool,
}

impl<'a> Walk<'a> {
    /// A walk that ends early once `stop` says so or the time is over; the latter is in the result.
    pub fn new(
        workspace: &'a Workspace,
        show: Show,
        budget: Budget,
        stop: &'a (dyn Fn() -> bool + Sync),
    ) -> Walk<'a> {
        Walk { workspace, show, stop, budget }
    }

    /// Visits every entry below `root`, directories included, from several threads; `visitor` makes one function for
    /// each thread.
    pub fn run<V: FnMut(&Entry)>(&self, root: Dir, visitor: impl Fn() -> V + Sync) -> Skipped {
        let queue = Mutex::new(Queue { work: vec![Work::Root(root)], ..Queue::default() });
        let ready = Condvar::new();
        let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 12);
        std::thread::scope(|scope| {
            // This thread works, too, so that the walk also ends where no other can be started.
            for _ in 1..threads {
                let work = || self.labour(&queue, &ready, visitor());
                if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            self.labour(&queue, &ready, visitor());
        });
        let mut queue = queue.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut skipped = std::mem::take(&mut queue.skipped);
        if queue.is_late {
            skipped.late = Some(self.left(&queue.work));
        }
        skipped
    }

    /// What nobody took from the queue.
    fn left(&self, work: &[Work]) -> OutOfTime {
        let mut places: Vec<OsString> = work
            .iter()
            .map(|work| match work {
                Work::Root(dir) => dir.relative.clone(),
                Work::Below(dir, name) => below(&dir.relative, name),
                Work::Batch(entries) => entries.first().map(|e| e.dir.relative.clone()).unwrap_or_default(),
            })
            .collect();
        places.sort_unstable();
        places.dedup();
        let directories = places.len();
        places.truncate(NAMED);
        let names = places.iter().map(|place| visible::path_name(Path::new(place))).collect();
        OutOfTime { after: self.budget.most, directories, names }
    }

    fn labour(&self, queue: &Mutex<Queue>, ready: &Condvar, mut visit: impl FnMut(&Entry)) {
        while let Some(work) = self.take(queue, ready) {
            let (more, skipped) = match work {
                Work::Batch(entries) => {
                    entries.iter().for_each(&mut visit);
                    (Vec::new(), Skipped::default())
                }
                Work::Root(dir) => self.list(dir, &mut visit),
                Work::Below(dir, name) => match dir.child(&name) {
                    Ok(dir) => self.list(dir, &mut visit),
                    Err(e) => (Vec::new(), Skipped::of(&e)),
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

    fn take(&self, queue: &Mutex<Queue>, ready: &Condvar) -> Option<Work> {
        let mut queue = lock(queue);
        loop {
            if (self.stop)() {
                return None;
            }
            if self.budget.is_spent() && (queue.busy > 0 || !queue.work.is_empty()) {
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
            queue = ready
                .wait_timeout(queue, std::time::Duration::from_millis(50))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    fn list(&self, dir: Dir, visit: &mut impl FnMut(&Entry)) -> (Vec<Work>, Skipped) {
        let Ok((dir, entries, mut skipped)) = dir.list(self.workspace, self.show) else {
            return (Vec::new(), Skipped { unreadable: 1, ..Skipped::default() });
        };
        let (dirs, files): (Vec<Entry>, Vec<Entry>) =
            entries.into_iter().partition(|e| e.kind == EntryKind::Directory);
        let mut work = Vec::new();
        dirs.iter().for_each(&mut *visit);
        for entry in dirs {
            // Known by their names, so that a walk without time for them reports them as what they are.
            match !dir.kernel && is_place(&dir.path.join(&entry.name)) {
                true => skipped.kernel += 1,
                false => work.push(Work::Below(dir.clone(), entry.name)),
            }
        }
        // A directory of many files is shared out.
        let mut files = files.into_iter();
        loop {
            let batch: Vec<Entry> = files.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                break;
            }
            work.push(Work::Batch(batch));
        }
        (work, skipped)
    }
}

fn lock(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}
