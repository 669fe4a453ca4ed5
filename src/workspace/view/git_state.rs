//! What a repository's state is, as far as placet must know it: never read by git, never written.
//!
//! The author of the repository may be hostile: a ref may be a link to `/dev/zero`, a pipe, or a million
//! files. Only regular files are read, without following links, and every reading is bounded; what is over a
//! bound is an error, so that nothing is applied to or undone in a repository whose state is not known.

use super::path_list::PathList;
use crate::workspace::files::open::open_regular;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The most files of state, and of everything that is looked at to find them.
const MOST_FILES: usize = 1_000_000;
/// The largest index, packed refs or reftable, in bytes; a ref has some 40.
const LARGEST_TABLE: u64 = 512 << 20;
const LARGEST_REF: u64 = 1 << 20;
/// How deep refs and submodules are nested.
const DEEPEST: usize = 64;

/// Files that record the state of a repository, of its submodules or of its linked worktrees.
const STATE: [&str; 7] =
    ["HEAD", "index", "packed-refs", "shallow", "logs/refs/stash", "ORIG_HEAD", "MERGE_HEAD"];
/// Files that git also writes when nothing moved, or that are temporary.
const PASSING: [&str; 2] = ["ORIG_HEAD", "MERGE_HEAD"];
const STATE_DIRS: [&str; 2] = ["refs", "reftable"];

/// What was found in a repository.
#[derive(Debug)]
pub(super) struct RepositoryScan {
    /// The files of its state, sorted.
    pub(super) state: PathList,
    /// Locks that some git process holds, or left.
    locks: Vec<PathBuf>,
    seen: usize,
}

/// Looks for the state files and locks of a repository, of the submodules in `modules/` and of its linked worktrees.
pub(super) fn scan(repository: &Path) -> io::Result<RepositoryScan> {
    let mut scan = RepositoryScan::of(repository);
    scan.git_dir(repository, 0)?;
    scan.state.sort();
    Ok(scan)
}

impl RepositoryScan {
    /// The first lock.
    pub(super) fn lock(&self) -> Option<&Path> {
        self.lock_but(&|_| false)
    }

    /// The first lock that is not placet's: one that a command left in the view is applied and undone with the rest.
    pub(super) fn lock_but(&self, is_own: &dyn Fn(&Path) -> bool) -> Option<&Path> {
        self.locks.iter().map(PathBuf::as_path).find(|lock| !is_own(lock))
    }

    fn of(repository: &Path) -> RepositoryScan {
        RepositoryScan { state: PathList::below(repository), locks: Vec::new(), seen: 0 }
    }

    fn found(&mut self, path: &Path) -> io::Result<()> {
        match self.state.push(path) {
            true => Ok(()),
            false => Err(over(path, "the paths of the repository's state take more than 4 GiB".into())),
        }
    }

    fn git_dir(&mut self, dir: &Path, depth: usize) -> io::Result<()> {
        for name in STATE.iter().filter(|name| !PASSING.contains(name)) {
            let path = dir.join(name);
            if std::fs::symlink_metadata(&path).is_ok_and(|meta| !meta.is_dir()) {
                self.found(&path)?;
            }
        }
        self.each_entry(dir, &mut |scan, path, _| {
            scan.look_for_lock(&path);
            Ok(())
        })?;
        for name in STATE_DIRS {
            self.files_below(&dir.join(name), depth + 1)?;
        }
        for worktree in self.directories(&dir.join("worktrees"))? {
            self.files_below(&worktree.join("logs"), depth + 1)?;
            self.git_dir(&worktree, depth + 1)?;
        }
        self.modules(&dir.join("modules"), depth + 1)
    }

    /// Submodules are at their names, which may have slashes.
    fn modules(&mut self, dir: &Path, depth: usize) -> io::Result<()> {
        deep(dir, depth)?;
        for path in self.directories(dir)? {
            match path.join("objects").exists() {
                true => self.git_dir(&path, depth + 1)?,
                false => self.modules(&path, depth + 1)?,
            }
        }
        Ok(())
    }

    fn files_below(&mut self, dir: &Path, depth: usize) -> io::Result<()> {
        deep(dir, depth)?;
        let mut below = Vec::new();
        self.each_entry(dir, &mut |scan, path, is_dir| {
            if is_dir {
                below.push(path);
            } else if !scan.look_for_lock(&path) {
                scan.found(&path)?;
            }
            Ok(())
        })?;
        below.iter().try_for_each(|dir| self.files_below(dir, depth + 1))
    }

    fn look_for_lock(&mut self, path: &Path) -> bool {
        let lock = path.extension().is_some_and(|e| e == "lock");
        if lock {
            self.locks.push(path.to_path_buf());
        }
        lock
    }

    fn directories(&mut self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        self.each_entry(dir, &mut |_, path, is_dir| {
            if is_dir {
                found.push(path);
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Calls `seen` for the entries of a directory that is not a link, each with whether it is a directory.
    fn each_entry(
        &mut self,
        dir: &Path,
        seen: &mut dyn FnMut(&mut RepositoryScan, PathBuf, bool) -> io::Result<()>,
    ) -> io::Result<()> {
        if !std::fs::symlink_metadata(dir).is_ok_and(|meta| meta.is_dir()) {
            return Ok(());
        }
        for entry in std::fs::read_dir(dir)? {
            let entry = entry?;
            self.seen += 1;
            if self.seen > MOST_FILES {
                return Err(over(
                    dir,
                    format!("the repository has more than {MOST_FILES} refs and other files of state"),
                ));
            }
            seen(self, entry.path(), entry.file_type()?.is_dir())?;
        }
        Ok(())
    }
}

fn deep(dir: &Path, depth: usize) -> io::Result<()> {
    if depth > DEEPEST { Err(over(dir, format!("more than {DEEPEST} directories deep"))) } else { Ok(()) }
}

fn over(path: &Path, why: String) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("`{}`: {why}", path.display()))
}

/// True for the files whose change means that the repository moved on.
pub(super) fn is_state(repository: &Path, path: &Path) -> bool {
    let Ok(rel) = path.strip_prefix(repository) else { return false };
    if rel.extension().is_some_and(|e| e == "lock") || rel.starts_with("objects") {
        return false;
    }
    // In a submodule or a linked worktree the same names follow its own directory.
    let nested = rel.starts_with("modules") || rel.starts_with("worktrees");
    STATE.iter().any(|name| rel == Path::new(name) || nested && rel.ends_with(name))
        || STATE_DIRS.iter().any(|dir| rel.starts_with(dir))
        || nested
            && rel.components().any(|part| {
                STATE_DIRS.iter().any(|dir| part.as_os_str() == *dir) || part.as_os_str() == "logs"
            })
}

/// What the files of [`scan`] hold, in one word: two equal ones mean that the repository is where it was.
pub(in crate::workspace) fn repository_state(repository: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    let mut reader = StateReader::default();
    for path in scan(repository)?.state.iter() {
        hasher.update(path.as_os_str().as_encoded_bytes()).update(b"\0");
        hasher.update(reader.state_of(&path)?.as_bytes());
    }
    Ok(format!("{FORM}{}", hasher.finalize().to_hex()))
}

/// How a state begins that has submodules, worktrees, shallow and stash in it. Those of earlier versions have none.
const FORM: &str = "2:";

/// True when `repository` is where `then` says; also for states that an earlier version recorded.
pub(super) fn is_where(repository: &Path, then: &str) -> io::Result<bool> {
    if then.starts_with(FORM) {
        return Ok(repository_state(repository)? == then);
    }
    let top = ["HEAD", "index", "packed-refs"].map(|name| repository.join(name));
    let mut scan = RepositoryScan::of(repository);
    for name in STATE_DIRS {
        scan.files_below(&repository.join(name), 0)?;
    }
    let mut files: Vec<PathBuf> =
        top.into_iter().filter(|path| path.is_file()).chain(scan.state.iter()).collect();
    files.sort();
    let mut hasher = blake3::Hasher::new();
    for path in files {
        hasher.update(path.as_os_str().as_encoded_bytes()).update(b"\0");
        hasher.update(state_of(&path)?.as_bytes());
    }
    Ok(hasher.finalize().to_hex().to_string() == then)
}

/// Reads files of state in the order of their paths: the directory of a path is opened once for all files in it.
#[derive(Default)]
struct StateReader {
    dir: Option<(PathBuf, OwnedFd)>,
}

impl StateReader {
    /// As [`state_of`]. A small file, as every ref is, is read from its open directory.
    fn state_of(&mut self, path: &Path) -> io::Result<blake3::Hash> {
        match self.small_file(path) {
            Some(bytes) => Ok(meaning(path, &bytes)),
            None => state_of(path),
        }
    }

    /// The content of a small regular file; `None` for everything else, and where anything fails.
    fn small_file(&mut self, path: &Path) -> Option<Vec<u8>> {
        let (parent, name) = (path.parent()?, path.file_name()?);
        if self.dir.as_ref().is_none_or(|(dir, _)| dir != parent) {
            self.dir = Some((parent.to_path_buf(), super::state_at::parent_of(parent).ok()??));
        }
        let (_, dir) = self.dir.as_ref()?;
        // Of another kind than a regular file nothing may be opened: a device may act.
        let is_regular = |stat: &Stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        let before = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).ok().filter(is_regular)?;
        let size = usize::try_from(before.st_size).ok().filter(|size| *size < SMALL_STATE)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(dir, name, flags, Mode::empty()).ok()?);
        rustix::fs::fstat(&file).ok().filter(is_regular)?;
        let mut bytes = vec![0; size + 1];
        let mut filled = 0;
        while let Some(room) = bytes.get_mut(filled..).filter(|room| !room.is_empty()) {
            match file.read_at(room, filled as u64).ok()? {
                0 => {
                    bytes.truncate(filled);
                    return Some(bytes);
                }
                read => filled += read,
            }
        }
        // It has grown meanwhile.
        None
    }
}

/// Below the limit of every kind of state file.
const SMALL_STATE: usize = 4096;

/// One file of state: its content, or a link's target.
fn state_of(path: &Path) -> io::Result<blake3::Hash> {
    let meta = match std::fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(blake3::hash(b"gone")),
        Err(e) => return Err(e),
    };
    if meta.is_symlink() {
        let target = std::fs::read_link(path)?;
        return Ok(blake3::hash(&[b"link ", target.as_os_str().as_encoded_bytes()].concat()));
    }
    if !meta.is_file() {
        return Ok(blake3::hash(b"special"));
    }
    Ok(meaning(path, &read_state(path)?))
}

/// Reads a regular file of a repository's state, without following links.
fn read_state(path: &Path) -> io::Result<Vec<u8>> {
    let table = ["index", "packed-refs", "shallow"].iter().any(|name| path.ends_with(name))
        || path.components().any(|part| part.as_os_str() == "reftable" || part.as_os_str() == "logs");
    let most = if table { LARGEST_TABLE } else { LARGEST_REF };
    let opened = open_regular(path, OFlags::RDONLY).map_err(io::Error::other)?;
    let mut bytes = Vec::new();
    opened.file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(over(path, format!("larger than {most} bytes"))) } else { Ok(bytes) }
}

/// The meaning of a state file, without what git notes in it for its own speed: `git status` rewrites the index with
/// other times and the same meaning.
pub(super) fn meaning(path: &Path, bytes: &[u8]) -> blake3::Hash {
    let index = path.file_name().is_some_and(|name| name == "index");
    index.then(|| entries_of(bytes)).flatten().unwrap_or_else(|| blake3::hash(bytes))
}

/// One entry of an index, by the places of its parts.
struct IndexEntryPlaces {
    start: usize,
    /// Where the flags end.
    flags_end: usize,
    /// How many bytes at the end of the path before are left out. `None` in older versions, where each path is whole.
    strip: Option<usize>,
    path: std::ops::Range<usize>,
}

/// The parts of an entry that git notes for its own speed: times, device and inode before the mode; owner and size after
/// it.
const STAT_OF_ENTRY: [std::ops::Range<usize>; 2] = [0..24, 28..40];
/// The checksum at the end of an index.
const INDEX_CHECKSUM: usize = 20;

/// Calls `found` for each entry of an index, and returns where the extensions begin. `None` for a form that is not known
/// here. The format is git's own: `index-format` in its technical documentation.
fn each_index_entry(bytes: &[u8], found: &mut dyn FnMut(&IndexEntryPlaces) -> Option<()>) -> Option<usize> {
    let word = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let version = word(4)?;
    if bytes.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let mut at = 12;
    for _ in 0..word(8)? {
        let start = at;
        let flags = u16::from_be_bytes(bytes.get(start + 60..start + 62)?.try_into().ok()?);
        // The extended flag: two more bytes of flags follow.
        at = start + if flags & 0x4000 != 0 { 64 } else { 62 };
        let flags_end = at;
        let strip = if version == 4 { Some(number(bytes, &mut at)?) } else { None };
        let end = at + bytes.get(at..)?.iter().position(|b| *b == 0)?;
        found(&IndexEntryPlaces { start, flags_end, strip, path: at..end })?;
        // An entry is padded with 1 to 8 zeros, to a multiple of eight bytes.
        at = if version == 4 { end + 1 } else { start + (end - start + 8) / 8 * 8 };
    }
    Some(at)
}

/// The hash of an index's entries: path, mode, object, stage and flags.
fn entries_of(bytes: &[u8]) -> Option<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    let mut path = Vec::new();
    let at = each_index_entry(bytes, &mut |entry| {
        let start = entry.start;
        hasher.update(bytes.get(start + 24..start + 28)?).update(bytes.get(start + 40..start + 60)?);
        let flags = u16::from_be_bytes(bytes.get(start + 60..start + 62)?.try_into().ok()?);
        // Without the length of the path, which is hashed with the path below.
        hasher.update(&(flags & 0xf000).to_be_bytes()).update(bytes.get(start + 62..entry.flags_end)?);
        path.truncate(entry.strip.map_or(Some(0), |strip| path.len().checked_sub(strip))?);
        path.extend_from_slice(bytes.get(entry.path.clone())?);
        hasher.update(&(path.len() as u64).to_be_bytes()).update(&path);
        Some(())
    })?;
    // Caches follow; a split or sparse index has more meaning in them.
    let caches = bytes.get(at..bytes.len().checked_sub(INDEX_CHECKSUM)?)?;
    let telling = [&b"link"[..], b"sdir"];
    if telling.iter().any(|name| caches.starts_with(name)) { None } else { Some(hasher.finalize()) }
}

/// True where two indexes differ only in what git notes of the files of the work tree, as `git status` writes it. False for
/// a form that is not known here.
pub(super) fn differ_only_in_stat(before: &[u8], after: &[u8]) -> bool {
    let without_stat = |bytes: &[u8]| {
        let mut rest = bytes.get(..bytes.len().checked_sub(INDEX_CHECKSUM)?)?.to_vec();
        each_index_entry(bytes, &mut |entry| {
            for part in STAT_OF_ENTRY {
                rest.get_mut(entry.start + part.start..entry.start + part.end)?.fill(0);
            }
            Some(())
        })?;
        Some(rest)
    };
    before.len() == after.len() && without_stat(before).is_some_and(|rest| Some(rest) == without_stat(after))
}

/// The number of bytes to leave out of the path before, in git's own variable length.
fn number(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut byte = *bytes.get(*at)?;
    let mut value = usize::from(byte & 0x7f);
    *at += 1;
    while byte & 0x80 != 0 {
        byte = *bytes.get(*at)?;
        *at += 1;
        value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
    }
    Some(value)
}

impl super::View {
    /// True when a repository's state file has the same meaning as `known`, whatever else git wrote into it.
    pub(super) fn says_the_same(
        &self,
        known: &crate::workspace::files::path_state::PathState,
        path: &Path,
    ) -> std::io::Result<bool> {
        if super::node_at(path)? == *known {
            return Ok(true);
        }
        let Some(then) = known.hash().and_then(|hash| self.objects().get(hash).ok()) else {
            return Ok(false);
        };
        let Ok(now) = read_state(path) else { return Ok(false) };
        Ok(meaning(path, &now) == meaning(path, &then))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index of the given version with these paths, modes and times; objects are all alike.
    fn index(version: u32, time: u8, entries: &[(&str, u8)]) -> Vec<u8> {
        let mut out = b"DIRC".to_vec();
        out.extend(version.to_be_bytes());
        out.extend((entries.len() as u32).to_be_bytes());
        let mut last = String::new();
        for (path, mode) in entries {
            let start = out.len();
            out.extend([time; 24]);
            out.extend([0, 0, 0, *mode]);
            out.extend([time; 12]);
            out.extend([7; 20]);
            out.extend((path.len() as u16).to_be_bytes());
            if version == 4 {
                let same = path.bytes().zip(last.bytes()).take_while(|(a, b)| a == b).count();
                out.push((last.len() - same) as u8);
                out.extend(&path.as_bytes()[same..]);
                out.push(0);
            } else {
                out.extend(path.as_bytes());
                out.push(0);
                while !(out.len() - start).is_multiple_of(8) {
                    out.push(0);
                }
            }
            last = (*path).to_string();
        }
        out.extend(b"TREE\0\0\0\x01x");
        out.extend([9; 20]);
        out
    }

    #[test]
    fn an_index_written_anew_by_git_status_says_the_same() {
        let path = Path::new("/w/.git/index");
        let files = [("a", 1), ("dir/long name.txt", 2), ("dir/long other.txt", 2)];
        for version in [2, 4] {
            let old = index(version, 1, &files);
            assert_eq!(meaning(path, &old), meaning(path, &index(version, 200, &files)), "{version}");
            let moded = [("a", 3), files[1], files[2]];
            assert_ne!(meaning(path, &old), meaning(path, &index(version, 1, &moded)), "{version}");
            assert_ne!(meaning(path, &old), meaning(path, &index(version, 1, &files[..2])), "{version}");
        }
        assert_eq!(meaning(path, &index(2, 1, &files)), meaning(path, &index(4, 1, &files)));
        for version in [2, 4] {
            let old = index(version, 1, &files);
            assert!(differ_only_in_stat(&old, &index(version, 200, &files)), "{version}");
            assert!(!differ_only_in_stat(&old, &index(version, 1, &files[..2])), "{version}");
            assert!(
                !differ_only_in_stat(&old, &index(version, 1, &[("a", 3), files[1], files[2]])),
                "{version}"
            );
            // Object, flags and extensions count.
            for at in [12 + 40, 12 + 60, old.len() - 21] {
                let mut other = old.clone();
                other[at] ^= 0x80;
                assert!(!differ_only_in_stat(&old, &other), "{version} {at}");
            }
        }
        assert!(!differ_only_in_stat(b"DIRC?", b"DIRC?"));
        // What is not understood is compared byte for byte.
        assert_ne!(meaning(path, b"DIRC?"), meaning(path, b"DIRC!"));
        assert_ne!(meaning(Path::new("/w/.git/HEAD"), b"a"), meaning(Path::new("/w/.git/HEAD"), b"b"));
    }
}
