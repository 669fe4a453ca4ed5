//! The index: what the next commit will have (gitformat-index(5), versions 2 to 4).

use super::cache_tree;
use super::event::IndexNotRead;
use super::index_extensions::{is_unexplained, take_number};
use super::object_id::ObjectId;
use super::plain_path::is_plain_path;
use super::repository_files::{RepositoryFiles, exists, read};
use super::tree_diff::{DIRECTORY, TreeEntry};
use std::collections::BTreeMap;
use std::path::Path;

/// The largest index: some 600,000 files.
const LARGEST: u64 = 64 << 20;

/// The modes that git gives to files, programs, links and submodules in an index.
const MODES: [u32; 4] = [0o100_644, 0o100_755, 0o120_000, 0o160_000];

/// One path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct IndexEntry {
    /// `None`: the path is in conflict, and only its versions are there.
    pub(super) staged: Option<TreeEntry>,
    /// Of a path in conflict, its versions: that of the common commit, ours and theirs.
    pub(super) versions: [Option<TreeEntry>; 3],
    /// git does not look whether the file changed (`--assume-unchanged`, `--skip-worktree`).
    pub(super) is_hidden: bool,
    /// The path is announced, its content is not (`git add -N`).
    pub(super) is_intent: bool,
    pub(super) stat: EntryStat,
}

impl IndexEntry {
    /// What the entry says about the path, without what it says about the file in the work tree.
    pub(super) fn without_stat(self) -> IndexEntry {
        IndexEntry { stat: EntryStat::default(), ..self }
    }
}

/// Times, place, owner and size of the file in the work tree. git reads the file again only where these differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EntryStat {
    bytes: [u8; STAT],
}

/// Bytes of an entry before the name of the object.
const STAT: usize = 40;

impl Default for EntryStat {
    fn default() -> EntryStat {
        EntryStat { bytes: [0; STAT] }
    }
}

impl EntryStat {
    fn number(&self, at: usize) -> u32 {
        let four = self.bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
        four.map_or(0, u32::from_be_bytes)
    }

    /// Seconds and nanoseconds of the last change.
    pub(super) fn changed(&self) -> (u32, u32) {
        (self.number(8), self.number(12))
    }

    pub(super) fn size(&self) -> u32 {
        self.number(36)
    }
}

pub(super) type IndexEntries = BTreeMap<Vec<u8>, IndexEntry>;

/// Paths with a slash at their end, and the trees of these directories.
pub(super) type SparseDirectories = BTreeMap<Vec<u8>, ObjectId>;

/// Of a path whose conflict was resolved, the versions that it had, in the order of [`IndexEntry::versions`]: `git checkout -m`
/// brings the conflict back.
pub(super) type ResolvedConflict = (Vec<u8>, [Option<TreeEntry>; 3]);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GitIndex {
    pub(super) entries: IndexEntries,
    /// Of a sparse index. Their files are not among the entries.
    pub(super) directories: SparseDirectories,
    pub(super) resolved: Vec<ResolvedConflict>,
    /// The names of extensions that nothing explains.
    pub(super) unexplained: Vec<String>,
}

/// All paths; none where there is no index.
pub(super) fn read_index(
    files: &dyn RepositoryFiles,
    git_dir: &Path,
    width: usize,
) -> Result<GitIndex, IndexNotRead> {
    let path = git_dir.join("index");
    match read(files, &path, LARGEST) {
        Some(bytes) => parse(&bytes, width),
        None if exists(files, &path) => Err(IndexNotRead::TooLarge),
        None => Ok(GitIndex::default()),
    }
}

/// The entries as the next commit has them.
fn committed(entries: &IndexEntries) -> impl Iterator<Item = (&[u8], Option<TreeEntry>)> {
    entries.iter().map(|(path, entry)| (path.as_slice(), entry.staged.filter(|_| !entry.is_intent)))
}

pub(super) fn parse(bytes: &[u8], width: usize) -> Result<GitIndex, IndexNotRead> {
    let number = |at: usize| {
        let four: [u8; 4] = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        usize::try_from(u32::from_be_bytes(four)).ok()
    };
    let (Some(version @ 2..=4), Some(count)) = (number(4), number(8)) else {
        return Err(if bytes.is_empty() { IndexNotRead::Damaged } else { IndexNotRead::Version });
    };
    if !bytes.starts_with(b"DIRC") {
        return Err(IndexNotRead::Damaged);
    }
    let mut found = IndexEntries::new();
    let (mut at, mut name) = (12, Vec::new());
    let mut last: Option<(Vec<u8>, u16)> = None;
    let (mut begins, mut in_order) = (Vec::new(), true);
    // A split index has paths without a name.
    let (mut has_plain_paths, mut has_known_modes, mut has_directories) = (true, true, false);
    for _ in 0..count {
        let EntryAt { entry, stage, next, kept } =
            entry(bytes, at, version, width, &mut name).ok_or(IndexNotRead::Damaged)?;
        // Which of two entries with one name counts depends on who reads them.
        let is_in_order =
            |(path, before): &(Vec<u8>, u16)| *path < name || *path == name && (1..stage).contains(before);
        in_order &= last.as_ref().is_none_or(is_in_order);
        let directory = name.strip_suffix(b"/").filter(|_| is_sparse_directory(&entry, stage));
        has_directories |= directory.is_some();
        has_plain_paths &= is_plain_path(directory.unwrap_or(&name));
        // git writes any mode into the next commit, and adds the names in a tree to that of an entry which says it is one.
        let mode = entry.staged.map_or(0, |staged| staged.mode);
        has_known_modes &= directory.is_some() || MODES.contains(&mode);
        last = Some((name.clone(), stage));
        begins.push((at, version < 4 || kept == 0));
        let known = found.entry(name.clone()).or_default();
        known.is_hidden |= entry.is_hidden;
        known.is_intent |= entry.is_intent;
        match usize::from(stage).checked_sub(1).and_then(|side| known.versions.get_mut(side)) {
            Some(version) => *version = entry.staged,
            None => (known.staged, known.stat) = (entry.staged, entry.stat),
        }
        at = next;
    }
    // With several threads git begins to read extensions where the last of them says.
    let last_of_all = bytes.len().checked_sub(2 * width + 12).filter(|last| *last >= at);
    if last_of_all.is_some_and(|last| {
        bytes.get(last..).is_some_and(|rest| rest.starts_with(b"EOIE")) && number(last + 8) != Some(at)
    }) {
        return Err(IndexNotRead::Damaged);
    }
    // Extensions: four letters, a length, the data. One says that the entries are not all, one that some are directories.
    let (mut has_trees, mut has_true_trees, mut is_sparse) = (false, true, false);
    let (mut resolved, mut unexplained) = (Vec::new(), Vec::new());
    while at + 8 + width <= bytes.len() {
        let (Some(name), Some(length)) = (bytes.get(at..at + 4), number(at + 4)) else { break };
        match name {
            b"link" => return Err(IndexNotRead::Split),
            b"sdir" => is_sparse = true,
            b"TREE" => {
                let data = at.checked_add(8 + length).and_then(|end| bytes.get(at + 8..end));
                // git writes one, and reads the last.
                has_true_trees = !std::mem::replace(&mut has_trees, true)
                    && data.is_some_and(|data| cache_tree::is_made_of(data, committed(&found), width));
            }
            b"REUC" => {
                let data = at.checked_add(8 + length).and_then(|end| bytes.get(at + 8..end));
                resolved.extend(data.and_then(|data| conflicts(data, width)).ok_or(IndexNotRead::Damaged)?);
            }
            // Where threads of git begin to read entries.
            b"IEOT" => {
                let places = (at + 12..at.saturating_add(8).saturating_add(length)).step_by(8);
                let mut first = 0_usize;
                for place in places {
                    let (Some(from), Some(entries)) = (number(place), number(place + 4)) else {
                        return Err(IndexNotRead::Damaged);
                    };
                    if begins.get(first) != Some(&(from, true)) {
                        return Err(IndexNotRead::Damaged);
                    }
                    first = first.saturating_add(entries);
                }
                if first != count {
                    return Err(IndexNotRead::Damaged);
                }
            }
            // git does not read an index with one that it does not know whose name begins so.
            [b'a'..=b'z', ..] => return Err(IndexNotRead::Damaged),
            name => {
                let data = at.checked_add(8 + length).and_then(|end| bytes.get(at + 8..end));
                let data = data.ok_or(IndexNotRead::Damaged)?;
                let name: [u8; 4] = name.try_into().map_err(|_| IndexNotRead::Damaged)?;
                if is_unexplained(name, data, width) {
                    unexplained.push(String::from_utf8_lossy(&name).into_owned());
                }
            }
        }
        at = at.saturating_add(8).saturating_add(length);
    }
    // Without the extension git does not expect a directory.
    let is_right = in_order && has_plain_paths && has_known_modes && (is_sparse || !has_directories);
    match (is_right, has_true_trees) {
        (false, _) => Err(IndexNotRead::Damaged),
        (true, false) => Err(IndexNotRead::Trees),
        (true, true) => {
            let directories = take_directories(&mut found).ok_or(IndexNotRead::Damaged)?;
            Ok(GitIndex { entries: found, directories, resolved, unexplained })
        }
    }
}

/// Where the extensions begin.
pub(super) fn entries_end(bytes: &[u8], width: usize) -> Option<usize> {
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let (Some(version @ 2..=4), Some(count), true) = (number(4), number(8), bytes.starts_with(b"DIRC"))
    else {
        return None;
    };
    let (mut at, mut name) = (12, Vec::new());
    for _ in 0..count {
        at = entry(bytes, at, usize::try_from(version).ok()?, width, &mut name)?.next;
    }
    Some(at)
}

/// Takes the directories out of what an index says, and gives them. `None` where an entry lies in one of them: which of the
/// two counts depends on who reads them.
fn take_directories(found: &mut IndexEntries) -> Option<SparseDirectories> {
    let mut last: Option<&[u8]> = None;
    for (path, entry) in &*found {
        if last.is_some_and(|dir| path.starts_with(dir)) {
            return None;
        }
        last = is_directory(path, entry).then_some(path).map(Vec::as_slice).or(last);
    }
    let taken = found.extract_if(.., |path, entry| is_directory(path, entry));
    Some(taken.filter_map(|(path, entry)| Some((path, entry.staged?.id))).collect())
}

fn is_directory(path: &[u8], entry: &IndexEntry) -> bool {
    path.ends_with(b"/") && entry.staged.is_some_and(|staged| staged.mode == DIRECTORY)
}

/// True for the entry of a whole directory whose files are not in the work tree.
fn is_sparse_directory(entry: &IndexEntry, stage: u16) -> bool {
    let is_plain = stage == 0 && entry.is_hidden && !entry.is_intent;
    is_plain && entry.staged.is_some_and(|staged| staged.mode == DIRECTORY)
}

/// The extension "resolve undo": a path, three modes in octal, and an object for each mode that is not 0.
fn conflicts(mut data: &[u8], width: usize) -> Option<Vec<ResolvedConflict>> {
    fn text<'d>(data: &mut &'d [u8]) -> Option<&'d [u8]> {
        let (text, rest) = data.split_at_checked(memchr::memchr(0, data)?)?;
        *data = rest.get(1..)?;
        Some(text)
    }
    let mut found = Vec::new();
    while !data.is_empty() {
        let path = text(&mut data)?.to_vec();
        let mut modes = [0; 3];
        for mode in &mut modes {
            *mode = u32::from_str_radix(std::str::from_utf8(text(&mut data)?).ok()?, 8).ok()?;
        }
        let mut versions = [None; 3];
        for (version, mode) in versions.iter_mut().zip(modes).filter(|(_, mode)| *mode != 0) {
            let (id, rest) = data.split_at_checked(width)?;
            *version = Some(TreeEntry { mode, id: ObjectId::from_bytes(id)? });
            data = rest;
        }
        found.push((path, versions));
    }
    Some(found)
}

struct EntryAt {
    entry: IndexEntry,
    stage: u16,
    /// Where the next one begins.
    next: usize,
    /// Bytes of the name that are those of the name before.
    kept: usize,
}

/// The entry at `at`. `name` is that of the entry before, and becomes its own.
fn entry(bytes: &[u8], at: usize, version: usize, width: usize, name: &mut Vec<u8>) -> Option<EntryAt> {
    const MODE: usize = 24;
    const NAME: usize = STAT;
    let stat = EntryStat { bytes: bytes.get(at..at + STAT)?.try_into().ok()? };
    let mode = u32::from_be_bytes(bytes.get(at + MODE..at + MODE + 4)?.try_into().ok()?);
    let id = ObjectId::from_bytes(bytes.get(at + NAME..at + NAME + width)?)?;
    let mut from = at + NAME + width;
    let flags_at = |from: usize| Some(u16::from_be_bytes(bytes.get(from..from + 2)?.try_into().ok()?));
    let flags = flags_at(from)?;
    from += 2;
    let more = if flags & 0x4000 != 0 { flags_at(from)? } else { 0 };
    from += if flags & 0x4000 != 0 { 2 } else { 0 };
    let shared = if version == 4 { take_number(bytes, &mut from)? } else { name.len() };
    let end = from + memchr::memchr(0, bytes.get(from..)?)?;
    let kept = name.len().checked_sub(shared)?;
    name.truncate(kept);
    name.extend_from_slice(bytes.get(from..end)?);
    // git takes the length for the end of the name.
    if usize::from(flags & 0xfff) != name.len().min(0xfff) {
        return None;
    }
    // Padded with one to eight zeros, so that the next one begins at a multiple of eight.
    let next = if version == 4 { end + 1 } else { at + (end - at + 8) / 8 * 8 };
    let is_hidden = flags & 0x8000 != 0 || more & 0x4000 != 0;
    // git writes the object into the work tree whatever it is, and announces a path only with the empty one.
    let is_intent = more & 0x2000 != 0 && id == ObjectId::of("blob", b"", width);
    let entry = IndexEntry {
        staged: Some(TreeEntry { mode, id }),
        is_hidden,
        is_intent,
        stat,
        ..IndexEntry::default()
    };
    Some(EntryAt { entry, stage: flags >> 12 & 3, next, kept })
}
