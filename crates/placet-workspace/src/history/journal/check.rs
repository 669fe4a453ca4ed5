//! What is wrong with a journal: entries that cannot be read, and numbers without an entry.
//!
//! Numbers are given out once, from 1. So a number without a file was lost, unless a `.gone` file says that placet
//! removed it. The file `pruned` holds the number up to which pruning removed everything, and `last` the newest number,
//! so that the loss of the oldest and of the newest is seen too.

use super::super::damage::{DamageKind, DamagedPart, DamagedRecord, read_record};
use super::Journal;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of entries that a start reads; a start must not take longer after an apply of 100,000 files.
const AT_START: u64 = 256 << 10;

/// What a note of the journal says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JournalCounter {
    Missing,
    /// An earlier version wrote empty ones, and a crash may leave one.
    Empty,
    Number(u64),
}

impl JournalCounter {
    fn number(self) -> Option<u64> {
        match self {
            JournalCounter::Number(number) => Some(number),
            _ => None,
        }
    }
}

/// The note of the number up to which pruning removed everything, and that of the newest number.
const PRUNED: &str = "pruned";
const LAST: &str = "last";

impl Journal {
    /// Everything that is wrong with this journal. Reads every entry.
    pub fn damage(&self) -> Vec<DamagedRecord> {
        self.damage_among(usize::MAX, u64::MAX)
    }

    /// The same for a start: sizes and numbers of all entries, the content of the newest ones.
    pub fn damage_at_start(&self) -> Vec<DamagedRecord> {
        self.damage_among(20, AT_START)
    }

    fn damage_among(&self, newest: usize, mut bytes: u64) -> Vec<DamagedRecord> {
        let mut found = self.missing();
        for (ending, part) in [
            (".json", DamagedPart::Entry as fn(u64) -> DamagedPart),
            (".open.json", DamagedPart::OpenEntry as fn(u64) -> DamagedPart),
        ] {
            // Where it cannot be listed, that was found above.
            for (index, id) in self.ids(ending).unwrap_or_default().into_iter().rev().enumerate() {
                let path = self.file(id, ending);
                let size = fs::symlink_metadata(&path).map_or(0, |meta| meta.len());
                // An empty file is certainly damaged: it is reported whatever the limits are.
                if size > 0 && (index >= newest || size > bytes) {
                    continue;
                }
                bytes -= size;
                match self.read(id, ending) {
                    Ok(_) => {}
                    // Another process closed or removed the entry since the directory was listed.
                    Err(DamageKind::Missing) => {}
                    Err(fault) => found.push(DamagedRecord { part: part(id), path, fault }),
                }
            }
        }
        found.sort_by_key(|damage| number(damage.part));
        found
    }

    /// Damage that undo and redo must not reach past: anything of transactions newer than `id`, or of the whole
    /// journal.
    pub fn damage_after(&self, id: u64) -> Vec<DamagedRecord> {
        let mut all = self.damage();
        all.retain(|damage| number(damage.part).is_none_or(|(_, last)| last > id));
        all
    }

    /// Why the journal cannot be read at all, so that its entries are not known.
    pub fn unlisted(&self) -> Option<DamagedRecord> {
        self.names().err()
    }

    /// Numbers that were given out and have neither an entry nor a note that they are gone; and what keeps us from
    /// knowing them.
    pub(super) fn missing(&self) -> Vec<DamagedRecord> {
        let mut found = Vec::new();
        // In this order an entry that another process closes meanwhile is seen in one of its states.
        let noted = self.note(LAST).unwrap_or_else(|damage| {
            found.push(damage);
            JournalCounter::Empty
        });
        let listed = || {
            let mut known: BTreeSet<u64> = self.ids(".open.json")?.into_iter().collect();
            known.extend(self.ids(".json")?);
            Ok((known, self.gone()?))
        };
        let (known, gone) = match listed() {
            Ok(listed) => listed,
            // The note is in the same directory.
            Err(damage) => return vec![damage],
        };
        // After the list: what another process prunes meanwhile is pruned, and not missing.
        let pruned = self.pruned_up_to().unwrap_or_else(|damage| {
            found.push(damage);
            None
        });
        let mut next = pruned.map(|last| last.saturating_add(1)).or(known.first().copied());
        for id in &known {
            found.extend(self.gap(next.unwrap_or(0), id.saturating_sub(1), &gone));
            next = next.max(Some(id.saturating_add(1)));
        }
        if let (Some(from), Some(last)) = (next, noted.number()) {
            found.extend(self.gap(from, last, &gone));
        }
        found
    }

    fn note(&self, name: &str) -> Result<JournalCounter, DamagedRecord> {
        let path = self.dir.join(name);
        let damaged = |fault| DamagedRecord { part: DamagedPart::Journal, path: path.clone(), fault };
        let bytes = match read_record(&path) {
            Err(DamageKind::Missing) => return Ok(JournalCounter::Missing),
            Err(DamageKind::Empty) => return Ok(JournalCounter::Empty),
            other => other.map_err(damaged)?,
        };
        let number = std::str::from_utf8(&bytes).ok().and_then(|text| text.trim().parse().ok());
        let malformed = || DamageKind::Malformed { line: 1, why: "this is not a number".into() };
        number.map(JournalCounter::Number).ok_or_else(|| damaged(malformed()))
    }

    /// What is missing between two numbers, both among it.
    fn gap(&self, mut from: u64, to: u64, gone: &[(u64, u64)]) -> Vec<DamagedRecord> {
        let mut missing = Vec::new();
        for (first, last) in gone {
            if *last < from || *first > to {
                continue;
            }
            if *first > from {
                missing.push(self.without(from, first - 1));
            }
            from = last.saturating_add(1);
        }
        if from <= to {
            missing.push(self.without(from, to));
        }
        missing
    }

    fn without(&self, first: u64, last: u64) -> DamagedRecord {
        let part = DamagedPart::Entries(first, last);
        DamagedRecord { part, path: self.file(first, ".json"), fault: DamageKind::Missing }
    }

    /// The number up to which pruning removed everything, 0 where it removed nothing; `None` where an earlier version
    /// pruned, which did not note it.
    fn pruned_up_to(&self) -> Result<Option<u64>, DamagedRecord> {
        Ok(match self.note(PRUNED)? {
            JournalCounter::Missing => Some(0),
            noted => noted.number(),
        })
    }

    /// Notes that pruning removes everything up to this number: before it does, so that a crash loses nothing unseen.
    pub(super) fn note_pruned(&self, last: u64) -> io::Result<()> {
        let last = last.max(self.pruned_up_to()?.unwrap_or(0));
        placet_text::private::write(&self.dir.join(PRUNED), format!("{last}\n").as_bytes())
    }

    /// Ranges of numbers that placet removed itself, in their order.
    fn gone(&self) -> Result<Vec<(u64, u64)>, DamagedRecord> {
        let range = |name: &String| {
            let (first, last) = name.strip_suffix(".gone")?.split_once('-')?;
            Some((first.parse().ok()?, last.parse().ok()?))
        };
        let mut gone: Vec<(u64, u64)> = self.names()?.iter().filter_map(range).collect();
        gone.sort_unstable();
        Ok(gone)
    }

    /// Notes that these numbers have no entry, and that nothing is lost by it.
    pub(crate) fn note_gone(&self, first: u64, last: u64) -> io::Result<()> {
        placet_text::private::write(&self.dir.join(format!("{first:012}-{last:012}.gone")), b"")
    }

    /// The newest number that was given out. Fails where that is not known: the next one could replace an entry.
    pub(crate) fn last_number(&self) -> Result<u64, DamagedRecord> {
        let noted = self.note(LAST)?.number();
        let ids = self.ids(".json")?.into_iter().chain(self.ids(".open.json")?);
        Ok(ids.chain(noted).max().unwrap_or(0))
    }

    /// Best effort: without it only the loss of the newest entry is not seen.
    pub(super) fn note_last(&self, id: u64) {
        drop(placet_text::private::write_quick(&self.dir.join(LAST), format!("{id}\n").as_bytes()));
    }

    /// Moves the file of a damaged entry into `aside`, and notes that its number is gone. Gives the new place.
    pub(crate) fn set_aside(&self, damage: &DamagedRecord, aside: &Path) -> io::Result<Option<PathBuf>> {
        let Some((first, last)) = number(damage.part) else {
            return self.note_aside(damage, aside).map(Some);
        };
        if matches!(damage.part, DamagedPart::Entries(..)) {
            self.note_gone(first, last)?;
            return Ok(None);
        }
        placet_text::private::make_dir(aside)?;
        let to = aside.join(damage.path.file_name().unwrap_or_default());
        fs::rename(&damage.path, &to)?;
        self.note_gone(first, last)?;
        Ok(Some(to))
    }

    /// Moves a damaged note into `aside` and writes what the entries say in its place.
    fn note_aside(&self, damage: &DamagedRecord, aside: &Path) -> io::Result<PathBuf> {
        let known = self.numbers()?;
        placet_text::private::make_dir(aside)?;
        let to = aside.join(damage.path.file_name().unwrap_or_default());
        fs::rename(&damage.path, &to)?;
        match (known.first(), known.last()) {
            (Some(first), _) if damage.path.ends_with(PRUNED) => self.note_pruned(first.saturating_sub(1))?,
            (_, Some(last)) => self.note_last(*last),
            _ => {}
        }
        Ok(to)
    }
}

/// The numbers that a damaged record of a journal speaks of.
fn number(part: DamagedPart) -> Option<(u64, u64)> {
    match part {
        DamagedPart::Entry(id) | DamagedPart::OpenEntry(id) => Some((id, id)),
        DamagedPart::Entries(first, last) => Some((first, last)),
        _ => None,
    }
}
