//! The ledger: what the model has seen of which file.
//!
//! By canonical path: the hash of the content and the lines of it that were shown. A content is recognised by its
//! hash, never by its time or size, so `touch` raises no alarm and a rewrite of the same length is noticed. The
//! content itself is kept while there is room, so that a change can be told as a difference; when there is none,
//! a change is still noticed, only not shown.

use super::Hash;
use crate::text::{Detected, LineDiff, RangeSet};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Contents kept for telling differences: one of them, and all together.
const KEEP_ONE: usize = 4 << 20;
const KEEP_ALL: usize = 64 << 20;

#[derive(Debug, Default)]
pub struct Ledger {
    entries: BTreeMap<PathBuf, Seen>,
    kept: usize,
    clock: u64,
}

#[derive(Clone, Debug)]
struct Seen {
    what: What,
    used: u64,
}

#[derive(Clone, Debug)]
enum What {
    /// The whole content is known by hash; `lines` of it were shown.
    Content { hash: Hash, lines: RangeSet, content: Option<Arc<Vec<u8>>> },
    /// Windows into a file too large to hash at each read: each by its lines and their hash.
    Windows(Vec<(Range<usize>, Hash)>),
}

/// How a file stands now against what was seen of it.
#[derive(Debug)]
pub enum Standing {
    /// The target lines were seen in the content that is there.
    Seen,
    Never,
    /// The content is the one that was read, but not all target lines were shown.
    Part {
        seen: RangeSet,
        missing: Range<usize>,
    },
    /// Another content is there.
    Changed(Change),
}

#[derive(Debug)]
pub struct Change {
    /// The content that was seen, if it was kept.
    pub old: Option<Arc<Vec<u8>>>,
    /// Lines of the present content that were seen before and stand unchanged.
    pub carried: RangeSet,
    /// All target lines are among them.
    pub intact: bool,
}

/// A run of lines replaced by another: for carrying on what was seen through our own edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineEdit {
    pub old: Range<usize>,
    pub new_len: usize,
}

impl Ledger {
    /// `lines` of `content` were shown.
    pub fn saw(&mut self, path: &Path, content: &Arc<Vec<u8>>, hash: Hash, lines: Range<usize>) {
        self.saw_all(path, content, hash, &RangeSet::of(lines));
    }

    pub fn saw_all(&mut self, path: &Path, content: &Arc<Vec<u8>>, hash: Hash, lines: &RangeSet) {
        let mut seen = lines.clone();
        if let Some(Seen { what: What::Content { hash: known, lines: before, .. }, .. }) =
            self.entries.get(path)
            && *known == hash
        {
            seen.extend(before);
        }
        self.put(path, hash, seen, Some(content));
    }

    /// Lines of a file that is too large to be known by its whole content.
    pub fn saw_window(&mut self, path: &Path, lines: Range<usize>, bytes: &[u8]) {
        let window = (lines, blake3::hash(bytes));
        let used = self.tick();
        match self.entries.get_mut(path) {
            Some(Seen { what: What::Windows(windows), used: last }) => {
                *last = used;
                windows.retain(|(range, _)| *range != window.0);
                windows.push(window);
            }
            _ => {
                self.forget(path);
                self.entries.insert(path.to_path_buf(), Seen { what: What::Windows(vec![window]), used });
            }
        }
    }

    /// How the present content, and the target lines in it, stand. `line_bytes` gives the bytes of lines.
    pub fn standing<'a>(
        &self,
        path: &Path,
        content: &[u8],
        hash: Hash,
        targets: &[Range<usize>],
        line_bytes: impl Fn(&Range<usize>) -> &'a [u8],
    ) -> Standing {
        match self.entries.get(path).map(|seen| &seen.what) {
            None => Standing::Never,
            Some(What::Content { hash: known, lines, .. }) if *known == hash => part_or_seen(lines, targets),
            Some(What::Content { lines, content: old, .. }) => {
                Standing::Changed(Change::of(old.clone(), lines, content, targets))
            }
            Some(What::Windows(windows)) => {
                let lines = intact_windows(windows, line_bytes);
                let changed = |t: &Range<usize>| {
                    windows.iter().any(|(r, _)| r.start < t.end && t.start < r.end && !lines.covers(r))
                };
                match targets.iter().any(changed) {
                    true => Standing::Changed(Change { old: None, carried: lines, intact: false }),
                    false => part_or_seen(&lines, targets),
                }
            }
        }
    }

    /// A refusal showed what changed: `shown` lines of the present content count as seen, besides those that stand
    /// unchanged from before.
    pub fn told(
        &mut self,
        path: &Path,
        content: &Arc<Vec<u8>>,
        hash: Hash,
        carried: &RangeSet,
        shown: &RangeSet,
    ) {
        let mut lines = carried.clone();
        lines.extend(shown);
        self.put(path, hash, lines, Some(content));
    }

    /// The lines of the present content that were seen as they are now.
    pub fn seen_now<'a>(
        &self,
        path: &Path,
        content: &[u8],
        hash: Hash,
        line_bytes: impl Fn(&Range<usize>) -> &'a [u8],
    ) -> RangeSet {
        match self.entries.get(path).map(|seen| &seen.what) {
            None => RangeSet::new(),
            Some(What::Content { hash: known, lines, .. }) if *known == hash => lines.clone(),
            Some(What::Content { lines, content: old, .. }) => {
                Change::of(old.clone(), lines, content, &[]).carried
            }
            Some(What::Windows(windows)) => intact_windows(windows, line_bytes),
        }
    }

    /// We wrote `after` over a content of which the lines `known` had been seen: they move along, and what was
    /// written counts as seen.
    pub fn wrote(&mut self, path: &Path, after: (&Arc<Vec<u8>>, Hash), edits: &[LineEdit], known: &RangeSet) {
        let mut lines = RangeSet::new();
        let (mut old_at, mut new_at) = (0, 0);
        for edit in edits {
            let same = old_at..edit.old.start.max(old_at);
            lines.extend(&known.moved(&same, new_at));
            new_at += same.len();
            lines.insert(new_at..new_at + edit.new_len);
            new_at += edit.new_len;
            old_at = edit.old.end.max(old_at);
        }
        lines.extend(&known.moved(&(old_at..usize::MAX), new_at));
        self.put(path, after.1, lines, Some(after.0));
    }

    /// The lines seen of the content with this hash.
    pub fn lines_seen(&self, path: &Path, hash: Hash) -> Option<&RangeSet> {
        match self.entries.get(path).map(|s| &s.what) {
            Some(What::Content { hash: known, lines, .. }) if *known == hash => Some(lines),
            _ => None,
        }
    }

    /// What was shown of a file too large to be known as a whole: lines, and the hash they had.
    pub fn windows(&self, path: &Path) -> &[(Range<usize>, Hash)] {
        match self.entries.get(path).map(|s| &s.what) {
            Some(What::Windows(windows)) => windows,
            _ => &[],
        }
    }

    /// Forgets one file.
    pub fn forget(&mut self, path: &Path) {
        if let Some(Seen { what: What::Content { content: Some(content), .. }, .. }) =
            self.entries.remove(path)
        {
            self.kept -= content.len();
        }
    }

    /// Forgets everything: after a rewind or a compaction the model has none of it in view.
    pub fn drop_all(&mut self) {
        *self = Ledger { clock: self.clock, ..Ledger::default() };
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    fn put(&mut self, path: &Path, hash: Hash, lines: RangeSet, content: Option<&Arc<Vec<u8>>>) {
        self.forget(path);
        let content = content.filter(|c| c.len() <= KEEP_ONE).cloned();
        self.kept += content.as_ref().map_or(0, |c| c.len());
        let used = self.tick();
        self.entries.insert(path.to_path_buf(), Seen { what: What::Content { hash, lines, content }, used });
        self.make_room();
    }

    /// Lets go of the contents used longest ago.
    fn make_room(&mut self) {
        while self.kept > KEEP_ALL {
            let holds = |s: &Seen| matches!(&s.what, What::Content { content: Some(_), .. });
            let oldest = self.entries.values_mut().filter(|s| holds(s)).min_by_key(|s| s.used);
            let Some(Seen { what: What::Content { content, .. }, .. }) = oldest else { return };
            self.kept -= content.take().map_or(0, |c| c.len());
        }
    }
}

/// The windows that still hold what they held when they were shown.
fn intact_windows<'a>(
    windows: &[(Range<usize>, Hash)],
    line_bytes: impl Fn(&Range<usize>) -> &'a [u8],
) -> RangeSet {
    let mut lines = RangeSet::new();
    let intact = windows.iter().filter(|(range, hash)| blake3::hash(line_bytes(range)) == *hash);
    intact.for_each(|(range, _)| lines.insert(range.clone()));
    lines
}

fn part_or_seen(lines: &RangeSet, targets: &[Range<usize>]) -> Standing {
    match targets.iter().find_map(|t| lines.first_gap(t)) {
        None => Standing::Seen,
        Some(missing) => Standing::Part { seen: lines.clone(), missing },
    }
}

impl Change {
    fn of(old: Option<Arc<Vec<u8>>>, lines: &RangeSet, content: &[u8], targets: &[Range<usize>]) -> Change {
        let texts = old.as_ref().and_then(|old| Some((as_text(old)?, as_text(content)?)));
        let carried = match &texts {
            Some((old, new)) => LineDiff::new(old, new).carry(lines),
            None => RangeSet::new(),
        };
        let intact = texts.is_some() && targets.iter().all(|t| carried.covers(t));
        Change { old, carried, intact }
    }
}

fn as_text(bytes: &[u8]) -> Option<std::borrow::Cow<'_, str>> {
    let detected = Detected::of(bytes).ok()?;
    Some(detected.encoding.decode(bytes.get(detected.mark..)?))
}

/// The ledger as it is saved with a session: hashes and lines, no contents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LedgerSnapshot {
    files: Vec<SavedFile>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SavedFile {
    path: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
    #[serde(default, skip_serializing_if = "RangeSet::is_empty")]
    lines: RangeSet,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    windows: Vec<(usize, usize, String)>,
}

impl Ledger {
    pub fn snapshot(&self) -> LedgerSnapshot {
        let file = |(path, seen): (&PathBuf, &Seen)| {
            let blank =
                SavedFile { path: path.clone(), hash: None, lines: RangeSet::new(), windows: Vec::new() };
            match &seen.what {
                What::Content { hash, lines, .. } => {
                    SavedFile { hash: Some(hash.to_hex().to_string()), lines: lines.clone(), ..blank }
                }
                What::Windows(windows) => {
                    let window = |(r, h): &(Range<usize>, Hash)| (r.start, r.end, h.to_hex().to_string());
                    SavedFile { windows: windows.iter().map(window).collect(), ..blank }
                }
            }
        };
        LedgerSnapshot { files: self.entries.iter().map(file).collect() }
    }

    /// A ledger that knows what `snapshot` knew. An entry whose file has changed since stands as changed; one that
    /// cannot be read is left out, which only means reading that file again.
    pub fn restore(snapshot: &LedgerSnapshot) -> Ledger {
        let mut ledger = Ledger::default();
        for file in &snapshot.files {
            if let Some(hash) = &file.hash {
                if let Ok(hash) = Hash::from_hex(hash) {
                    ledger.put(&file.path, hash, file.lines.clone(), None);
                }
                continue;
            }
            let window =
                |(from, to, hash): &(usize, usize, String)| Some((*from..*to, Hash::from_hex(hash).ok()?));
            let windows: Vec<(Range<usize>, Hash)> = file.windows.iter().filter_map(window).collect();
            let used = ledger.tick();
            ledger.entries.insert(file.path.clone(), Seen { what: What::Windows(windows), used });
        }
        ledger
    }
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
