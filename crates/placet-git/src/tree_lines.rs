//! What git prints of trees and of their differences.

use crate::git_name::GitName;
use crate::object_id::ObjectId;
use std::collections::BTreeMap;

/// A path that a commit changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathChange {
    pub path: GitName,
    pub before: Option<(GitName, ObjectId)>,
    pub after: Option<(GitName, ObjectId)>,
    /// Lines; `None` for a binary file.
    pub added: Option<u64>,
    pub removed: Option<u64>,
}

type TreeEntry = (GitName, (GitName, ObjectId));

/// Entries of `ls-tree -z`: `MODE TYPE ID<tab>PATH`.
pub(crate) fn parse_tree(output: &[u8]) -> BTreeMap<GitName, (GitName, ObjectId)> {
    output.split(|byte| *byte == 0).filter_map(parse_tree_entry).collect()
}

/// Those of them that are links.
pub(crate) fn parse_links(output: &[u8]) -> impl Iterator<Item = TreeEntry> {
    let links = output.split(|byte| *byte == 0).filter(|entry| entry.starts_with(b"120000 "));
    links.filter_map(parse_tree_entry)
}

fn parse_tree_entry(entry: &[u8]) -> Option<TreeEntry> {
    let tab = entry.iter().position(|byte| *byte == b'\t')?;
    let mut words = entry.get(..tab)?.split(|byte| *byte == b' ');
    let (mode, _, id) = (words.next()?, words.next()?, words.next()?);
    Some((GitName::new(entry.get(tab + 1..)?), (GitName::new(mode), ObjectId::from_hex(id)?)))
}

/// Raw and numstat lines of `diff-tree`.
pub(crate) fn parse_changes(output: &[u8]) -> Vec<PathChange> {
    let mut fields = output.split(|byte| *byte == 0);
    let mut changes = Vec::new();
    while let Some(field) = fields.next() {
        match field.strip_prefix(b":") {
            Some(raw) => changes.extend(parse_raw(raw, fields.next().unwrap_or_default())),
            None => take_lines(field, &mut changes),
        }
    }
    changes
}

/// `100644 100644 ID ID M`.
pub(crate) fn parse_raw(raw: &[u8], path: &[u8]) -> Option<PathChange> {
    let mut words = raw.split(|byte| *byte == b' ');
    let (old_mode, new_mode) = (words.next()?, words.next()?);
    let (old, new) = (ObjectId::from_hex(words.next()?)?, ObjectId::from_hex(words.next()?)?);
    let side = |mode: &[u8], id: ObjectId| (!id.is_zero()).then(|| (GitName::new(mode), id));
    let (before, after) = (side(old_mode, old), side(new_mode, new));
    Some(PathChange { path: GitName::new(path), before, after, added: None, removed: None })
}

/// `ADDED<tab>REMOVED<tab>PATH`, with `-` for binary files.
pub(crate) fn take_lines(field: &[u8], changes: &mut [PathChange]) {
    let mut words = field.splitn(3, |byte| *byte == b'\t');
    let (Some(added), Some(removed), Some(path)) = (words.next(), words.next(), words.next()) else { return };
    let lines = |word: &[u8]| std::str::from_utf8(word).ok()?.parse::<u64>().ok();
    // Both kinds of lines are in the order of their paths.
    let at = changes.binary_search_by(|change| change.path.as_bytes().cmp(path));
    if let Some(change) = at.ok().and_then(|at| changes.get_mut(at)) {
        change.added = lines(added);
        change.removed = lines(removed);
    }
}
