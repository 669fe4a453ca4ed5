//! The entries of an index, as `git ls-files` lists them.

use crate::error::{GitError, Result};
use crate::git_name::GitName;
use crate::object_id::{ObjectFormat, ObjectId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One entry. A path in conflict has up to three, with stages 1 to 3.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexEntry {
    pub stage: u8,
    /// As git prints it: 100644, 100755, 120000 or 160000.
    pub mode: GitName,
    pub id: ObjectId,
    /// `git add -N`: the path is announced, and has no content yet.
    #[serde(default, skip_serializing_if = "is_unset")]
    pub intent_to_add: bool,
    /// git does not look whether the file changed.
    #[serde(default, skip_serializing_if = "is_unset")]
    pub assume_unchanged: bool,
    #[serde(default, skip_serializing_if = "is_unset")]
    pub skip_worktree: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_unset(flag: &bool) -> bool {
    !flag
}

impl IndexEntry {
    /// Whether git was told not to look at the file.
    #[must_use]
    pub fn hides_changes(&self) -> bool {
        self.assume_unchanged || self.skip_worktree
    }

    #[must_use]
    pub fn is_submodule(&self) -> bool {
        self.mode.as_bytes() == b"160000"
    }
}

/// Entries by path, in the order of their stages. A clone shares them: three states have nearly the same 100,000 entries.
pub type IndexState = Arc<BTreeMap<GitName, Vec<IndexEntry>>>;

/// Reads the output of `ls-files -s -v -z`.
pub(super) fn parse(output: &[u8]) -> Result<IndexState> {
    let modes = MODES.map(GitName::new);
    let mut entries: Vec<(GitName, Vec<IndexEntry>)> = Vec::new();
    for line in output.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
        let (path, entry) = parse_line(line, &modes).ok_or(GitError::Unexpected { command: "ls-files" })?;
        match entries.last_mut() {
            Some((last, stages)) if *last == path => stages.push(entry),
            _ => entries.push((path, vec![entry])),
        }
    }
    // Made at once from what git has sorted.
    Ok(Arc::new(entries.into_iter().collect()))
}

/// The same lines as git prints, with `N` behind the letter of a path that is only announced.
pub(super) fn write(index: &IndexState) -> Vec<u8> {
    let mut lines = Vec::with_capacity(index.len() * 100);
    for (path, entry) in index.iter().flat_map(|(path, entries)| entries.iter().map(move |one| (path, one))) {
        let letter = if entry.skip_worktree { b'S' } else { b'H' };
        lines.push(if entry.assume_unchanged { letter.to_ascii_lowercase() } else { letter });
        lines.extend(entry.intent_to_add.then_some(b'N'));
        for part in [&b" "[..], entry.mode.as_bytes(), b" "] {
            lines.extend_from_slice(part);
        }
        entry.id.write_hex(&mut lines);
        lines.extend_from_slice(&[b' ', b'0' + entry.stage, b'\t']);
        lines.extend_from_slice(path.as_bytes());
        lines.push(0);
    }
    lines
}

const MODES: [&[u8]; 4] = [b"100644", b"100755", b"120000", b"160000"];

/// `H 100644 ID 0<tab>PATH`; a small letter is assume-unchanged, S is skip-worktree.
fn parse_line(line: &[u8], modes: &[GitName]) -> Option<(GitName, IndexEntry)> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let (head, path) = (line.get(..tab)?, line.get(tab + 1..)?);
    let mut words = head.split(|byte| *byte == b' ');
    let (letters, mode, id, stage) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let tag = *letters.first()?;
    // git lists a damaged index, too, with entries that it would not write.
    let mode = modes.iter().find(|known| known.as_bytes() == mode)?;
    if !path.split(|byte| *byte == b'/').all(is_plain) {
        return None;
    }
    let entry = IndexEntry {
        stage: stage.first()?.checked_sub(b'0')?,
        mode: mode.clone(),
        id: ObjectId::from_hex(id)?,
        intent_to_add: letters.len() > 1,
        assume_unchanged: tag.is_ascii_lowercase(),
        skip_worktree: tag.eq_ignore_ascii_case(&b'S'),
    };
    Some((GitName::new(path), entry))
}

/// No name leads out of the work tree, or into a git directory, also as Windows shortens it.
fn is_plain(name: &[u8]) -> bool {
    let is_of_git = [&b".git"[..], b"git~1"].iter().any(|git| name.eq_ignore_ascii_case(git));
    !is_of_git && !matches!(name, b"" | b"." | b"..")
}

/// Whether an index may have entries with intent to add: they look like empty files, and the second version of the format
/// has no place for the flag.
pub(super) fn may_have_announced(header: &[u8], index: &IndexState, format: ObjectFormat) -> bool {
    header.get(4..8) != Some(&[0, 0, 0, 2]) && {
        let empty = ObjectId::from_hex(format.empty_blob().as_bytes());
        index.values().flatten().any(|entry| Some(entry.id) == empty)
    }
}

/// Marks what `diff-index --cached` against the empty tree does not list: an announced path is not in the next commit.
pub(super) fn mark_announced(index: &mut IndexState, listed: &[u8], format: ObjectFormat) {
    let listed: BTreeSet<&[u8]> = listed.split(|byte| *byte == 0).collect();
    let empty = ObjectId::from_hex(format.empty_blob().as_bytes());
    for (path, entries) in Arc::make_mut(index) {
        for entry in entries.iter_mut().filter(|entry| entry.stage == 0 && Some(entry.id) == empty) {
            entry.intent_to_add = !listed.contains(path.as_bytes());
        }
    }
}
