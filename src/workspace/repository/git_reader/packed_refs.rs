//! `packed-refs` in one state: read whole, or searched and compared in pieces where it is large.
//!
//! git sorts the file and says so in its first line. A large file is searched as git searches it, and two of them are
//! compared line by line. A large file that is not sorted is sorted in memory, within a limit.

use super::budget::ReadBudget;
use super::object_id::ObjectId;
use super::ref_table::RefTable;
use super::repository_files::{GitFile, RepositoryFiles, exists, read};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The largest file that is read whole: some 200,000 refs.
pub(super) const LARGEST_WHOLE: u64 = 16 << 20;
/// The largest file without an order: its refs take about as much memory, and there are two states.
const LARGEST_UNSORTED: u64 = 64 << 20;
/// Bytes that are read at a time. No line is longer: git refuses such names.
const PIECE: usize = 64 << 10;
/// Names that differ and are remembered; of the others only the number is.
const MOST_NAMES: usize = 100_000;

/// All refs by name, such as `refs/heads/main`. Names are bytes, as paths are.
pub(super) type RefMap = BTreeMap<PathBuf, ObjectId>;

pub(super) enum PackedRefs {
    Whole(RefMap),
    /// With the place of the first line that is a ref.
    Large(GitFile, u64),
    /// A large file that is not sorted.
    Table(RefTable),
}

/// Refs that differ between two files.
#[derive(Default)]
pub(super) struct PackedDifferences {
    pub(super) names: BTreeSet<PathBuf>,
    /// Others that differ.
    pub(super) left_out: usize,
}

impl PackedRefs {
    /// `None` for what is no regular file, is very large and not sorted, has a name twice or a line that git does not write,
    /// or says that it is sorted and is not: which line counts depends on how the file is searched.
    pub(super) fn open(files: &dyn RepositoryFiles, path: &Path) -> Option<PackedRefs> {
        if !exists(files, path) {
            return Some(PackedRefs::Whole(RefMap::new()));
        }
        let file = GitFile::open(files, path)?;
        if file.size <= LARGEST_WHOLE {
            return Some(PackedRefs::Whole(parse(&read(files, path, LARGEST_WHOLE)?)?));
        }
        match first_sorted_line(&file) {
            Some(first) => Some(PackedRefs::Large(file, first)),
            None => Some(PackedRefs::Table(table_of(&file)?)),
        }
    }

    pub(super) fn get(&self, name: &Path) -> Option<ObjectId> {
        match self {
            PackedRefs::Whole(refs) => refs.get(name).copied(),
            PackedRefs::Large(file, first) => search(file, *first, name.as_os_str().as_bytes()),
            PackedRefs::Table(table) => table.get(name.as_os_str().as_bytes()),
        }
    }

    /// All of them; `None` where there are too many to look at each.
    pub(super) fn all(&self) -> Option<&RefMap> {
        match self {
            PackedRefs::Whole(refs) => Some(refs),
            PackedRefs::Large(..) | PackedRefs::Table(_) => None,
        }
    }

    /// The commit of any ref.
    pub(super) fn any(&self) -> Option<ObjectId> {
        match self {
            PackedRefs::Whole(refs) => refs.values().next().copied(),
            PackedRefs::Large(file, first) => PackedLines::new(file, *first).next().map(|(_, id)| id),
            PackedRefs::Table(table) => table.at(0).map(|(_, id)| id),
        }
    }

    /// The refs in which `self` and `new` differ. `None` where a file says that it is in order and is not.
    pub(super) fn differences(&self, new: &PackedRefs, budget: &ReadBudget) -> Option<PackedDifferences> {
        if let (PackedRefs::Whole(old), PackedRefs::Whole(new)) = (self, new) {
            let mut found = PackedDifferences::default();
            let differs = |name: &&PathBuf| old.get(*name) != new.get(*name);
            found.names.extend(old.keys().chain(new.keys()).filter(differs).cloned());
            return Some(found);
        }
        self.compared(new, budget)
    }

    /// Compares two files line by line. `None` where one is not in order.
    fn compared(&self, new: &PackedRefs, budget: &ReadBudget) -> Option<PackedDifferences> {
        let mut found = PackedDifferences::default();
        let (mut old, mut new) = (self.lines(), new.lines());
        let (mut a, mut b) = (old.next(), new.next());
        let mut lines = 0_usize;
        loop {
            lines += 1;
            // What was found until then has rows, and the limit has its own.
            if lines.is_multiple_of(1_000) && !budget.has_time() {
                break;
            }
            let order = match (&a, &b) {
                (None, None) => break,
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some((a, _)), Some((b, _))) => a.cmp(b),
            };
            let is_same = order.is_eq() && a.as_ref().map(|(_, id)| id) == b.as_ref().map(|(_, id)| id);
            let differing = if order.is_le() { &a } else { &b };
            if let (false, Some((name, _))) = (is_same, differing) {
                match found.names.len() < MOST_NAMES {
                    true => drop(found.names.insert(PathBuf::from(OsStr::from_bytes(name)))),
                    false => found.left_out += 1,
                }
            }
            if order.is_le() {
                a = old.next();
            }
            if order.is_ge() {
                b = new.next();
            }
        }
        (!old.is_broken() && !new.is_broken()).then_some(found)
    }

    fn lines(&self) -> RefLines<'_> {
        match self {
            PackedRefs::Whole(refs) => RefLines::Whole(refs.iter()),
            PackedRefs::Large(file, first) => RefLines::Large(PackedLines::new(file, *first)),
            PackedRefs::Table(table) => RefLines::Table(table, 0),
        }
    }
}

enum RefLines<'a> {
    Whole(std::collections::btree_map::Iter<'a, PathBuf, ObjectId>),
    Large(PackedLines<'a>),
    /// With the number of the next one.
    Table(&'a RefTable, usize),
}

impl RefLines<'_> {
    fn next(&mut self) -> Option<(Vec<u8>, ObjectId)> {
        match self {
            RefLines::Whole(refs) => {
                refs.next().map(|(name, id)| (name.as_os_str().as_bytes().to_vec(), *id))
            }
            RefLines::Large(lines) => lines.next(),
            RefLines::Table(table, number) => {
                *number += 1;
                table.at(*number - 1).map(|(name, id)| (name.to_vec(), id))
            }
        }
    }

    fn is_broken(&self) -> bool {
        matches!(self, RefLines::Large(lines) if lines.is_broken)
    }
}

/// The refs of a file from a place on, read in pieces.
struct PackedLines<'a> {
    file: &'a GitFile,
    /// Where the next piece begins.
    at: u64,
    piece: Vec<u8>,
    /// Bytes of the piece that were taken.
    taken: usize,
    last: Vec<u8>,
    /// The names must come in their order.
    in_order: bool,
    /// A line is too long, not in order, or none that git writes.
    is_broken: bool,
}

impl<'a> PackedLines<'a> {
    fn new(file: &'a GitFile, at: u64) -> PackedLines<'a> {
        PackedLines {
            file,
            at,
            piece: Vec::new(),
            taken: 0,
            last: Vec::new(),
            in_order: true,
            is_broken: false,
        }
    }

    fn next(&mut self) -> Option<(Vec<u8>, ObjectId)> {
        loop {
            let (line, len) = {
                let rest = self.piece.get(self.taken..).unwrap_or_default();
                match memchr::memchr(b'\n', rest) {
                    Some(end) => {
                        let line = rest.get(..end)?;
                        self.is_broken |= !is_known_line(line);
                        (ref_of(line), end + 1)
                    }
                    None => {
                        self.fill()?;
                        continue;
                    }
                }
            };
            self.taken += len;
            if self.is_broken {
                return None;
            }
            let Some((name, id)) = line else { continue };
            if !self.in_order {
                return Some((name, id));
            }
            if name <= self.last {
                self.is_broken = true;
                return None;
            }
            self.last.clone_from(&name);
            return Some((name, id));
        }
    }

    /// Reads the next piece behind what is left of this one; `None` at the end.
    fn fill(&mut self) -> Option<()> {
        let rest = self.piece.split_off(self.taken.min(self.piece.len()));
        self.is_broken |= rest.len() >= PIECE;
        let more = self.file.up_to(self.at, PIECE).filter(|more| !more.is_empty() && !self.is_broken)?;
        self.at += more.len() as u64;
        self.piece = rest;
        self.piece.extend(more);
        self.taken = 0;
        Some(())
    }
}

/// Where the refs begin in a file that says that it is sorted.
fn first_sorted_line(file: &GitFile) -> Option<u64> {
    let first = file.up_to(0, PIECE)?;
    let end = memchr::memchr(b'\n', &first)?;
    says_sorted(first.get(..end)?).then_some(end as u64 + 1)
}

fn says_sorted(line: &[u8]) -> bool {
    let words = line.strip_prefix(b"# pack-refs with:").unwrap_or_default();
    words.split(|byte| *byte == b' ').any(|word| word == b"sorted")
}

/// All refs of a file, sorted here. `None` where it is too large, or has a line that is too long.
fn table_of(file: &GitFile) -> Option<RefTable> {
    if file.size > LARGEST_UNSORTED {
        return None;
    }
    let mut lines = PackedLines { in_order: false, ..PackedLines::new(file, 0) };
    let table = RefTable::of(std::iter::from_fn(|| lines.next()))?;
    (!lines.is_broken).then_some(table)
}

/// Halves the part of the file in which the line must be.
fn search(file: &GitFile, first: u64, name: &[u8]) -> Option<ObjectId> {
    let (mut from, mut to) = (first, file.size);
    // `from` is where a line begins, and no line before it has the name; none from `to` on has it.
    while to.saturating_sub(from) > PIECE as u64 {
        let middle = from + (to - from) / 2;
        let piece = file.up_to(middle, PIECE)?;
        let start = memchr::memchr(b'\n', &piece)? + 1;
        let mut at = start;
        let found = loop {
            let rest = piece.get(at..)?;
            let end = memchr::memchr(b'\n', rest)?;
            if let Some((found, id)) = ref_of(rest.get(..end)?) {
                break (found, id);
            }
            at += end + 1;
        };
        match found.0.as_slice().cmp(name) {
            std::cmp::Ordering::Equal => return Some(found.1),
            std::cmp::Ordering::Less => from = middle + start as u64,
            std::cmp::Ordering::Greater => to = middle,
        }
    }
    // The line at `to` may have begun before it.
    let end = to.saturating_add(PIECE as u64).min(file.size);
    let part = file.up_to(from, usize::try_from(end.checked_sub(from)?).ok()?)?;
    let mut lines = part.split(|byte| *byte == b'\n').filter_map(ref_of);
    lines.find(|(found, _)| found == name).map(|(_, id)| id)
}

/// A line of a name and a ref. A line that begins with `^` says what the tag before it leads to.
pub(super) fn ref_of(line: &[u8]) -> Option<(Vec<u8>, ObjectId)> {
    let at = memchr::memchr(b' ', line)?;
    let (id, name) = line.split_at_checked(at)?;
    let name = name.get(1..).filter(|name| name.starts_with(b"refs/"))?;
    Some((name.to_vec(), ObjectId::from_hex(id)?))
}

/// A ref, a comment, or what a tag leads to. git takes other white space than one blank for the end of the commit, too.
fn is_known_line(line: &[u8]) -> bool {
    let is_peeled = |line: &[u8]| line.strip_prefix(b"^").is_some_and(|id| ObjectId::from_hex(id).is_some());
    line.is_empty() || line.starts_with(b"#") || is_peeled(line) || ref_of(line).is_some()
}

fn parse(bytes: &[u8]) -> Option<RefMap> {
    let mut refs = RefMap::new();
    let is_sorted = bytes.split(|byte| *byte == b'\n').next().is_some_and(says_sorted);
    let mut last = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        if !is_known_line(line) {
            return None;
        }
        let Some((name, id)) = ref_of(line) else { continue };
        // git halves such a file to find a ref, and finds only some of those that are not in order.
        if is_sorted && name <= last {
            return None;
        }
        last.clone_from(&name);
        if refs.insert(PathBuf::from(OsStr::from_bytes(&name)), id).is_some() {
            return None;
        }
    }
    Some(refs)
}

#[cfg(test)]
#[path = "packed_refs_tests.rs"]
mod tests;
