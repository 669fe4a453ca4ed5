//! The ledger: what the model has seen of which file.
//!
//! By canonical path: the hash of the content and the lines of it that were shown. A content is recognised by its
//! hash, never by its time or size, so `touch` raises no alarm and a rewrite of the same length is noticed. The
//! content itself is stored while there is room, so that a change can be shown as a difference; when there is
//! none, a change is still noticed, only not shown.

use super::known_lines::{KnownLines, LineEdit, SeenLines, SeenWindow, StaleRead, carried, intact_windows};
use super::lines_by_turn::{ShowMoment, ShownAt};
use crate::{Hash, LinesByTurn, TextFile};
use placet_text::text::RangeSet;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Contents stored for showing differences: one of them, and all together.
const KEEP_ONE: usize = 4 << 20;
const KEEP_ALL: usize = 64 << 20;

#[derive(Debug, Default)]
pub struct ReadLedger {
    entries: BTreeMap<PathBuf, LedgerEntry>,
    kept: usize,
    clock: u64,
    /// The current turn, or the next turn between two turns, and the message that shows what is read now; 0 while they
    /// are not counted.
    now: ShowMoment,
}

#[derive(Clone, Debug)]
struct LedgerEntry {
    what: SeenContent,
    used: u64,
}

#[derive(Clone, Debug)]
enum SeenContent {
    /// The whole content is known by hash; `lines` of it were shown, and `foreign` ones were changed by others since
    /// the file was read and not shown after that.
    Content {
        hash: Hash,
        lines: RangeSet,
        foreign: RangeSet,
        shown: ShownAt,
        /// See [`KnownLines::parts`].
        parts: RangeSet,
        content: Option<Arc<Vec<u8>>>,
    },
    /// Windows into a file too large to hash at each read: each by its lines and their hash.
    Windows(Vec<SeenWindow>),
}

/// How a file compares now with what was seen of it.
#[derive(Debug)]
pub enum ReadStatus {
    /// The target lines were seen in the content that is there.
    Seen,
    Never,
    /// The content is the one that was read, but not all target lines were shown.
    Part {
        seen: RangeSet,
        missing: Range<usize>,
    },
    /// Others changed these target lines, or removed lines next to them, after the file was read. An edit elsewhere
    /// succeeded without showing them.
    Unshown(RangeSet),
    /// Another content is there.
    Changed(StaleRead),
}

impl ReadLedger {
    /// `lines` of `content` were shown.
    pub fn record_read(&mut self, path: &Path, content: &Arc<Vec<u8>>, hash: Hash, lines: Range<usize>) {
        self.record_read_ranges(path, content, hash, &RangeSet::of(lines));
    }

    pub fn record_read_ranges(&mut self, path: &Path, content: &Arc<Vec<u8>>, hash: Hash, lines: &RangeSet) {
        let mut seen = lines.clone();
        if let Some(LedgerEntry { what: SeenContent::Content { hash: known, lines: before, .. }, .. }) =
            self.entries.get(path)
            && *known == hash
        {
            seen.extend(before);
        }
        let foreign = self.known_now(path, content, hash, |_| &[]).foreign.without(lines);
        self.put(path, hash, (seen, lines, foreign), Some(content));
    }

    /// Bytes of lines were shown that are too long to be shown whole. A line of which all parts were shown is seen.
    pub fn record_parts(&mut self, path: &Path, file: &TextFile, hash: Hash, parts: &RangeSet) {
        let index = file.index();
        let lines = |range: &Range<usize>| file.part(index.bytes_of(range));
        let mut known = self.known_now(path, file.bytes(), hash, lines);
        known.parts.extend(parts);
        let mut whole = RangeSet::new();
        for line in parts.ranges().flat_map(|part| index.lines_of(&part)) {
            if known.parts.covers(&index.bytes_of(&(line..line + 1))) {
                whole.insert(line..line + 1);
            }
        }
        known.seen.extend(&whole);
        let lines = (known.seen, &whole, known.foreign.without(&whole));
        self.put(path, hash, lines, Some(file.bytes()));
        self.put_parts(path, known.parts);
    }

    /// Lines, and bytes of long lines, were shown of a content that is too large to be loaded for this.
    pub fn record_hashed(&mut self, path: &Path, hash: Hash, lines: &RangeSet, parts: &RangeSet) {
        let mut known = match self.entries.get(path).map(|seen| &seen.what) {
            Some(SeenContent::Content { hash: known, .. }) if *known == hash => {
                self.known_now(path, &[], hash, |_| &[])
            }
            _ => KnownLines::default(),
        };
        known.seen.extend(lines);
        known.parts.extend(parts);
        self.put(path, hash, (known.seen, lines, known.foreign.without(lines)), None);
        self.put_parts(path, known.parts);
    }

    fn put_parts(&mut self, path: &Path, known: RangeSet) {
        if let Some(LedgerEntry { what: SeenContent::Content { parts, .. }, .. }) = self.entries.get_mut(path)
        {
            *parts = known;
        }
    }

    /// Lines of a file that is too large to be known by its whole content.
    pub fn record_window(&mut self, path: &Path, lines: Range<usize>, bytes: &[u8]) {
        let ShowMoment { turn, message } = self.now;
        let window = SeenWindow { lines, hash: blake3::hash(bytes), turn, message };
        let used = self.tick();
        match self.entries.get_mut(path) {
            Some(LedgerEntry { what: SeenContent::Windows(windows), used: last }) => {
                *last = used;
                windows.retain(|known| known.lines != window.lines);
                windows.push(window);
            }
            _ => {
                self.forget(path);
                self.entries.insert(
                    path.to_path_buf(),
                    LedgerEntry { what: SeenContent::Windows(vec![window]), used },
                );
            }
        }
    }

    /// Compares the present content, and the target lines in it, with what was seen. `line_bytes` gives the bytes of
    /// lines.
    pub fn read_status<'a>(
        &self,
        path: &Path,
        content: &[u8],
        hash: Hash,
        targets: &[Range<usize>],
        line_bytes: impl Fn(&Range<usize>) -> &'a [u8],
    ) -> ReadStatus {
        match self.entries.get(path).map(|seen| &seen.what) {
            None => ReadStatus::Never,
            Some(SeenContent::Content { hash: known, lines, foreign, .. }) if *known == hash => {
                let mut asked = RangeSet::new();
                targets.iter().for_each(|target| asked.insert(target.clone()));
                match foreign.within(&asked) {
                    met if met.is_empty() => part_or_seen(lines, targets),
                    met => ReadStatus::Unshown(met),
                }
            }
            Some(SeenContent::Content { lines, foreign, content: old, .. }) => {
                ReadStatus::Changed(StaleRead::of(old.clone(), (lines, foreign), content, targets))
            }
            Some(SeenContent::Windows(windows)) => {
                let lines = intact_windows(windows, line_bytes);
                let changed = |t: &Range<usize>| {
                    let meets = |r: &Range<usize>| r.start < t.end && t.start < r.end;
                    windows.iter().any(|w| meets(&w.lines) && !lines.covers(&w.lines))
                };
                match targets.iter().any(changed) {
                    true => ReadStatus::Changed(StaleRead {
                        old: None,
                        carried: lines,
                        foreign: RangeSet::new(),
                        intact: false,
                    }),
                    false => part_or_seen(&lines, targets),
                }
            }
        }
    }

    /// A refusal showed what changed: `shown` lines of the present content count as seen, in addition to the lines that
    /// are unchanged.
    pub fn record_shown_change(
        &mut self,
        path: &Path,
        content: &Arc<Vec<u8>>,
        hash: Hash,
        carried: &RangeSet,
        shown: &RangeSet,
    ) {
        let mut lines = carried.clone();
        lines.extend(shown);
        let foreign = self.known_now(path, content, hash, |_| &[]).foreign.without(shown);
        self.put(path, hash, (lines, shown, foreign), Some(content));
    }

    /// The lines of the present content that were seen as they are now, and the lines that others changed.
    pub fn known_now<'a>(
        &self,
        path: &Path,
        content: &[u8],
        hash: Hash,
        line_bytes: impl Fn(&Range<usize>) -> &'a [u8],
    ) -> KnownLines {
        match self.entries.get(path).map(|seen| &seen.what) {
            None => KnownLines::default(),
            Some(SeenContent::Content { hash: known, lines, foreign, parts, .. }) if *known == hash => {
                KnownLines { seen: lines.clone(), foreign: foreign.clone(), parts: parts.clone() }
            }
            Some(SeenContent::Content { lines, foreign, content: old, .. }) => {
                let stale = StaleRead::of(old.clone(), (lines, foreign), content, &[]);
                KnownLines { seen: stale.carried, foreign: stale.foreign, ..KnownLines::default() }
            }
            Some(SeenContent::Windows(windows)) => {
                KnownLines { seen: intact_windows(windows, line_bytes), ..KnownLines::default() }
            }
        }
    }

    /// The same with the turn in which each line was shown.
    pub fn shown_now(&self, path: &Path, content: &[u8], hash: Hash) -> SeenLines {
        match self.entries.get(path).map(|seen| &seen.what) {
            Some(SeenContent::Content { hash: known, lines, shown, .. }) if *known == hash => {
                SeenLines { lines: lines.clone(), turns: shown.turns.clone() }
            }
            Some(SeenContent::Content { lines, shown, content: old, .. }) => {
                let (lines, shown) = carried(old.as_deref().map(Vec::as_slice), content, lines, shown);
                SeenLines { lines, turns: shown.turns }
            }
            Some(SeenContent::Windows(_)) | None => SeenLines::default(),
        }
    }

    /// What is shown from now on is shown in this turn, counted from 1.
    pub fn begin_turn(&mut self, turn: u32) {
        self.now.turn = turn;
    }

    /// What is shown from now on is shown because of this message, counted from 1: its calls, or its attachments.
    pub fn begin_message(&mut self, message: u32) {
        self.now.message = message;
    }

    /// What this message showed of the file is no longer before the model. Lines that a later message showed stay seen;
    /// lines whose message is not known do not.
    pub fn forget_message(&mut self, path: &Path, message: u32) {
        let is_empty = match self.entries.get_mut(path).map(|seen| &mut seen.what) {
            None => return,
            Some(SeenContent::Content { lines, shown, parts, .. }) => {
                *lines = shown.messages.but(message).within(lines);
                shown.keep(|of| of.within(lines));
                // Nobody knows which message showed a part of a line.
                *parts = RangeSet::new();
                lines.is_empty()
            }
            Some(SeenContent::Windows(windows)) => {
                windows.retain(|window| window.message != message && window.message != 0);
                windows.is_empty()
            }
        };
        if is_empty {
            self.forget(path);
        }
    }

    /// The same of all files.
    pub fn forget_message_everywhere(&mut self, message: u32) {
        let paths: Vec<PathBuf> = self.entries.keys().cloned().collect();
        paths.iter().for_each(|path| self.forget_message(path, message));
    }

    /// placet wrote `after` over a content of which the lines `known` were known: these lines move along, and the
    /// written lines count as seen.
    pub fn wrote(
        &mut self,
        path: &Path,
        after: (&Arc<Vec<u8>>, Hash),
        edits: &[LineEdit],
        known: &KnownLines,
    ) {
        let (KnownLines { seen: mut lines, foreign, .. }, written) = known.through(edits);
        lines.extend(&written);
        self.put(path, after.1, (lines, &written, foreign), Some(after.0));
    }

    /// The lines seen of the content with this hash.
    pub fn lines_seen(&self, path: &Path, hash: Hash) -> Option<&RangeSet> {
        match self.entries.get(path).map(|s| &s.what) {
            Some(SeenContent::Content { hash: known, lines, .. }) if *known == hash => Some(lines),
            _ => None,
        }
    }

    /// The hash of the content that was shown, of a file that is known as a whole.
    pub fn hash_of(&self, path: &Path) -> Option<Hash> {
        match self.entries.get(path).map(|s| &s.what) {
            Some(SeenContent::Content { hash, .. }) => Some(*hash),
            _ => None,
        }
    }

    /// What was shown of a file too large to be known as a whole: lines, and the hash they had.
    pub fn windows(&self, path: &Path) -> &[SeenWindow] {
        match self.entries.get(path).map(|s| &s.what) {
            Some(SeenContent::Windows(windows)) => windows,
            _ => &[],
        }
    }

    /// Forgets one file.
    pub fn forget(&mut self, path: &Path) {
        if let Some(LedgerEntry { what: SeenContent::Content { content: Some(content), .. }, .. }) =
            self.entries.remove(path)
        {
            self.kept -= content.len();
        }
    }

    /// The files of which anything was seen, in the order of their names.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.entries.keys().map(PathBuf::as_path)
    }

    /// Forgets everything: after a rewind the model has none of it in its context.
    pub fn drop_all(&mut self) {
        *self = ReadLedger { clock: self.clock, now: self.now, ..ReadLedger::default() };
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// `lines` are seen of a content, `now` of them in this turn; others changed `foreign` ones.
    fn put(
        &mut self,
        path: &Path,
        hash: Hash,
        (lines, now, foreign): (RangeSet, &RangeSet, RangeSet),
        content: Option<&Arc<Vec<u8>>>,
    ) {
        let shown = self.shown_after(path, hash, (&lines, now), content);
        let parts = match self.entries.get(path).map(|seen| &seen.what) {
            Some(SeenContent::Content { hash: known, parts, .. }) if *known == hash => parts.clone(),
            _ => RangeSet::new(),
        };
        self.keep(path, hash, (lines, foreign, parts), shown, content);
    }

    fn keep(
        &mut self,
        path: &Path,
        hash: Hash,
        (lines, foreign, parts): (RangeSet, RangeSet, RangeSet),
        shown: ShownAt,
        content: Option<&Arc<Vec<u8>>>,
    ) {
        // First, because it subtracts the old content from `kept`.
        self.forget(path);
        let content = content.filter(|c| c.len() <= KEEP_ONE).cloned();
        self.kept += content.as_ref().map_or(0, |c| c.len());
        let used = self.tick();
        let what = SeenContent::Content { hash, lines, foreign, shown, parts, content };
        self.entries.insert(path.to_path_buf(), LedgerEntry { what, used });
        self.make_room();
    }

    /// When lines were shown, after `now` are shown as well: unchanged lines keep their moment.
    fn shown_after(
        &self,
        path: &Path,
        hash: Hash,
        (lines, now): (&RangeSet, &RangeSet),
        content: Option<&Arc<Vec<u8>>>,
    ) -> ShownAt {
        let mut after = match self.entries.get(path).map(|seen| &seen.what) {
            Some(SeenContent::Content { hash: known, shown, .. }) if *known == hash => shown.clone(),
            Some(SeenContent::Content { shown, .. }) if shown.is_only(self.now) => {
                let mut all = ShownAt::default();
                all.show(lines, self.now);
                all
            }
            Some(SeenContent::Content { lines, shown, content: Some(old), .. }) => {
                content.map(|new| carried(Some(old), new, lines, shown).1).unwrap_or_default()
            }
            _ => ShownAt::default(),
        };
        after.keep(|of| of.within(lines));
        after.show(now, self.now);
        after
    }

    /// Drops the contents that were used longest ago.
    fn make_room(&mut self) {
        while self.kept > KEEP_ALL {
            let holds = |s: &LedgerEntry| matches!(&s.what, SeenContent::Content { content: Some(_), .. });
            let oldest = self.entries.values_mut().filter(|s| holds(s)).min_by_key(|s| s.used);
            let Some(LedgerEntry { what: SeenContent::Content { content, .. }, .. }) = oldest else { return };
            self.kept -= content.take().map_or(0, |c| c.len());
        }
    }
}

fn part_or_seen(lines: &RangeSet, targets: &[Range<usize>]) -> ReadStatus {
    match targets.iter().find_map(|t| lines.first_gap(t)) {
        None => ReadStatus::Seen,
        Some(missing) => ReadStatus::Part { seen: lines.clone(), missing },
    }
}

/// The ledger as it is saved with a session: hashes and lines, no contents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LedgerSnapshot {
    files: Vec<SavedLedgerEntry>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct SavedLedgerEntry {
    path: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
    #[serde(default, skip_serializing_if = "RangeSet::is_empty")]
    lines: RangeSet,
    #[serde(default, skip_serializing_if = "RangeSet::is_empty")]
    foreign: RangeSet,
    #[serde(default, skip_serializing_if = "LinesByTurn::is_empty")]
    turns: LinesByTurn,
    /// The message that showed each line.
    #[serde(default, skip_serializing_if = "LinesByTurn::is_empty")]
    messages: LinesByTurn,
    #[serde(default, skip_serializing_if = "RangeSet::is_empty")]
    parts: RangeSet,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    windows: Vec<(usize, usize, String)>,
    /// The turn of each window.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    window_turns: Vec<u32>,
    /// The message of each window.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    window_messages: Vec<u32>,
}

impl ReadLedger {
    pub fn snapshot(&self) -> LedgerSnapshot {
        let file = |(path, seen): (&PathBuf, &LedgerEntry)| {
            let blank = SavedLedgerEntry { path: path.clone(), ..SavedLedgerEntry::default() };
            match &seen.what {
                SeenContent::Content { hash, lines, foreign, shown, parts, .. } => SavedLedgerEntry {
                    hash: Some(hash.to_hex().to_string()),
                    lines: lines.clone(),
                    foreign: foreign.clone(),
                    turns: shown.turns.clone(),
                    messages: shown.messages.clone(),
                    parts: parts.clone(),
                    ..blank
                },
                SeenContent::Windows(windows) => {
                    let window = |w: &SeenWindow| (w.lines.start, w.lines.end, w.hash.to_hex().to_string());
                    SavedLedgerEntry {
                        windows: windows.iter().map(window).collect(),
                        window_turns: windows.iter().map(|w| w.turn).collect(),
                        window_messages: windows.iter().map(|w| w.message).collect(),
                        ..blank
                    }
                }
            }
        };
        LedgerSnapshot { files: self.entries.iter().map(file).collect() }
    }

    /// Restores a ledger from `snapshot`. An entry whose file has changed since then counts as changed. An entry whose
    /// file cannot be read is left out: the model has to read that file again.
    pub fn restore(snapshot: &LedgerSnapshot) -> ReadLedger {
        let mut ledger = ReadLedger::default();
        for file in &snapshot.files {
            if let Some(hash) = &file.hash {
                if let Ok(hash) = Hash::from_hex(hash) {
                    let lines = (file.lines.clone(), file.foreign.clone(), file.parts.clone());
                    let shown = ShownAt { turns: file.turns.clone(), messages: file.messages.clone() };
                    ledger.keep(&file.path, hash, lines, shown, None);
                }
                continue;
            }
            // Sessions of earlier versions have no turns of windows: 0 is unknown.
            let turns = file.window_turns.iter().copied().chain(std::iter::repeat(0));
            let messages = file.window_messages.iter().copied().chain(std::iter::repeat(0));
            let window = |((saved, turn), message): ((&(usize, usize, String), u32), u32)| {
                let (from, to, hash) = saved;
                Some(SeenWindow { lines: *from..*to, hash: Hash::from_hex(hash).ok()?, turn, message })
            };
            let windows: Vec<SeenWindow> =
                file.windows.iter().zip(turns).zip(messages).filter_map(window).collect();
            let used = ledger.tick();
            ledger
                .entries
                .insert(file.path.clone(), LedgerEntry { what: SeenContent::Windows(windows), used });
        }
        ledger
    }
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
