//! The index: what the next commit will have (gitformat-index(5), versions 2 to 4).

use super::event::IndexNotRead;
use super::object_id::ObjectId;
use super::repository_files::{RepositoryFiles, exists, read};
use super::tree_diff::TreeEntry;
use std::collections::BTreeMap;
use std::path::Path;

/// The largest index: some 600,000 files.
const LARGEST: u64 = 64 << 20;

/// One path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct IndexEntry {
    /// `None`: the path is in conflict, and only its versions are there.
    pub(super) staged: Option<TreeEntry>,
    /// git does not look whether the file changed (`--assume-unchanged`, `--skip-worktree`).
    pub(super) is_hidden: bool,
    /// The path is announced, its content is not (`git add -N`).
    pub(super) is_intent: bool,
}

pub(super) type IndexEntries = BTreeMap<Vec<u8>, IndexEntry>;

/// All paths; none where there is no index.
pub(super) fn read_index(
    files: &dyn RepositoryFiles,
    git_dir: &Path,
    width: usize,
) -> Result<IndexEntries, IndexNotRead> {
    let path = git_dir.join("index");
    match read(files, &path, LARGEST) {
        Some(bytes) => parse(&bytes, width),
        None if exists(files, &path) => Err(IndexNotRead::TooLarge),
        None => Ok(IndexEntries::new()),
    }
}

fn parse(bytes: &[u8], width: usize) -> Result<IndexEntries, IndexNotRead> {
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
    for _ in 0..count {
        let (entry, stage, next) =
            entry(bytes, at, version, width, &mut name).ok_or(IndexNotRead::Damaged)?;
        let known = found.entry(name.clone()).or_default();
        known.is_hidden |= entry.is_hidden;
        known.is_intent |= entry.is_intent;
        if stage == 0 {
            known.staged = entry.staged;
        }
        at = next;
    }
    // Extensions: four letters, a length, the data. Two of them say that the entries are not all.
    while at + 8 + width <= bytes.len() {
        let (Some(name), Some(length)) = (bytes.get(at..at + 4), number(at + 4)) else { break };
        match name {
            b"link" => return Err(IndexNotRead::Split),
            b"sdir" => return Err(IndexNotRead::Sparse),
            _ => at = at.saturating_add(8).saturating_add(length),
        }
    }
    Ok(found)
}

/// The entry at `at`, its stage, and where the next one begins. `name` is that of the entry before, and becomes its own.
fn entry(
    bytes: &[u8],
    at: usize,
    version: usize,
    width: usize,
    name: &mut Vec<u8>,
) -> Option<(IndexEntry, u16, usize)> {
    const MODE: usize = 24;
    const NAME: usize = 40;
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
    name.truncate(name.len().checked_sub(shared)?);
    name.extend_from_slice(bytes.get(from..end)?);
    // Padded with one to eight zeros, so that the next one begins at a multiple of eight.
    let next = if version == 4 { end + 1 } else { at + (end - at + 8) / 8 * 8 };
    let is_hidden = flags & 0x8000 != 0 || more & 0x4000 != 0;
    let is_intent = more & 0x2000 != 0;
    Some((IndexEntry { staged: Some(TreeEntry { mode, id }), is_hidden, is_intent }, flags >> 12 & 3, next))
}

/// How many bytes to take off the name before, as the distances in a pack are written.
fn take_number(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut byte = *bytes.get(*at)?;
    *at += 1;
    let mut number = usize::from(byte & 127);
    while byte & 128 != 0 {
        byte = *bytes.get(*at)?;
        *at += 1;
        number = number.checked_add(1)?.checked_mul(128)? | usize::from(byte & 127);
    }
    Some(number)
}
