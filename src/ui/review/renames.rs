//! Files that were renamed and changed at once: a deleted file and a new file that has much of its text.
//!
//! The match is a guess, made as git makes it: more than half of the longer text is in the shorter text too. The guess
//! decides only what is shown and decided together. Without a match, both files are listed separately.

use crate::workspace::{ChangeKind, ChangeSet, FileChange, ObjectStore};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files on each side that are compared, and bytes of one.
const MOST: usize = 300;
const LARGEST: u64 = 1 << 20;

/// The new path of each file that was renamed and changed, with its old path.
pub(super) fn renames(set: &ChangeSet, objects: &ObjectStore) -> HashMap<PathBuf, PathBuf> {
    let moved: Vec<&Arc<Path>> = set.changes.iter().filter_map(|c| c.moved_from.as_ref()).collect();
    let of = |verb: ChangeKind| {
        let all = set.changes.iter().filter(move |c| c.verb() == verb && fits(c));
        all.filter(|c| !moved.contains(&&c.path)).take(MOST)
    };
    let gone: Vec<(&Path, LineCounts)> = of(ChangeKind::Deleted)
        .filter(|change| change.before.is_file())
        .filter_map(|change| Some((&*change.path, lines(&change.bytes(objects)?.0)?)))
        .collect();
    if gone.is_empty() {
        return HashMap::new();
    }
    let mut pairs: Vec<(bool, u64, &Path, &Path)> = Vec::new();
    for change in of(ChangeKind::Created).filter(|change| change.after.is_file()) {
        let Some(new) = change.bytes(objects).and_then(|(_, after)| lines(&after)) else { continue };
        for (path, old) in &gone {
            let same = old.shared(&new);
            if same * 2 > old.bytes.max(new.bytes) {
                let named = path.file_name() == change.path.file_name();
                pairs.push((named, same, &change.path, path));
            }
        }
    }
    // The same name in another place first, then the pair with most in common.
    pairs.sort_by(|a, b| (b.0, b.1).cmp(&(a.0, a.1)).then(a.2.cmp(b.2)).then(a.3.cmp(b.3)));
    let mut found: HashMap<PathBuf, PathBuf> = HashMap::new();
    for (_, _, new, old) in pairs {
        if !found.contains_key(new) && !found.values().any(|taken| taken == old) {
            found.insert(new.into(), old.into());
        }
    }
    found
}

fn fits(change: &FileChange) -> bool {
    (1..=LARGEST).contains(&change.before.size().max(change.after.size())) && !change.raced
}

/// How often each line occurs; blank lines do not count.
struct LineCounts {
    counts: HashMap<Vec<u8>, u64>,
    bytes: u64,
}

fn lines(content: &[u8]) -> Option<LineCounts> {
    if memchr::memchr(0, content).is_some() {
        return None;
    }
    let mut all = LineCounts { counts: HashMap::new(), bytes: 0 };
    for line in content.split_inclusive(|b| *b == b'\n') {
        let line = line.trim_ascii();
        if !line.is_empty() {
            all.bytes += line.len() as u64;
            *all.counts.entry(line.to_vec()).or_default() += 1;
        }
    }
    Some(all)
}

impl LineCounts {
    /// Bytes of the lines that are in both.
    fn shared(&self, other: &LineCounts) -> u64 {
        let both = |(line, count): (&Vec<u8>, &u64)| {
            other.counts.get(line).map_or(0, |there| count.min(there) * line.len() as u64)
        };
        self.counts.iter().map(both).sum()
    }
}
