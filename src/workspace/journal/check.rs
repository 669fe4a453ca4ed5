//! What is wrong with a journal: entries that cannot be read, and numbers without an entry.
//!
//! Numbers are given out once, from 1. So a number without a file was lost, unless a `.gone` file says that placet removed
//! it. The file `pruned` holds the number up to which pruning removed everything, and `last` the newest number, so that the
//! loss of the oldest and of the newest is seen too.

use super::super::damage::{Damage, DamagedPart, Fault};
use super::Journal;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of entries that a start reads; a start must not take longer because somebody applied 100,000 files.
const AT_START: u64 = 256 << 10;

impl Journal {
    /// Everything that is wrong with this journal. Reads every entry.
    pub fn damage(&self) -> Vec<Damage> {
        self.damage_among(usize::MAX, u64::MAX)
    }

    /// The same for a start: sizes and numbers of all entries, the content of the newest ones.
    pub fn damage_at_start(&self) -> Vec<Damage> {
        self.damage_among(20, AT_START)
    }

    fn damage_among(&self, newest: usize, mut bytes: u64) -> Vec<Damage> {
        let mut found = self.missing();
        for (ending, part) in [
            (".json", DamagedPart::Entry as fn(u64) -> DamagedPart),
            (".open.json", DamagedPart::OpenEntry as fn(u64) -> DamagedPart),
        ] {
            for (index, id) in self.ids(ending).into_iter().rev().enumerate() {
                let path = self.file(id, ending);
                let size = fs::symlink_metadata(&path).map_or(0, |meta| meta.len());
                if size > 0 && (index >= newest || size > bytes) {
                    continue;
                }
                bytes -= size;
                match self.read(id, ending) {
                    Ok(_) => {}
                    // It was closed or removed by another process since the directory was listed.
                    Err(Fault::Missing) => {}
                    Err(fault) => found.push(Damage { part: part(id), path, fault }),
                }
            }
        }
        found.sort_by_key(|damage| number(damage.part));
        found
    }

    /// Damage that undo and redo must not reach past: anything of transactions newer than `id`.
    pub fn damage_after(&self, id: u64) -> Vec<Damage> {
        let mut all = self.damage();
        all.retain(|damage| number(damage.part).is_some_and(|(_, last)| last > id));
        all
    }

    /// Numbers that were given out and have neither an entry nor a note that they are gone.
    pub(super) fn missing(&self) -> Vec<Damage> {
        // In this order an entry that another process closes meanwhile is seen in one of its states.
        let noted = self.noted_last();
        let mut known: BTreeSet<u64> = self.ids(".open.json").into_iter().collect();
        known.extend(self.ids(".json"));
        let gone = self.gone();
        let mut missing = Vec::new();
        // After the list: what another process prunes meanwhile is pruned, and not missing.
        let mut next = self.pruned_up_to().map(|last| last.saturating_add(1)).or(known.first().copied());
        for id in &known {
            missing.extend(self.gap(next.unwrap_or(0), id.saturating_sub(1), &gone));
            next = next.max(Some(id.saturating_add(1)));
        }
        if let (Some(from), Some(last)) = (next, noted) {
            missing.extend(self.gap(from, last, &gone));
        }
        missing
    }

    /// What is missing between two numbers, both among it.
    fn gap(&self, mut from: u64, to: u64, gone: &[(u64, u64)]) -> Vec<Damage> {
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

    fn without(&self, first: u64, last: u64) -> Damage {
        let part = DamagedPart::Entries(first, last);
        Damage { part, path: self.file(first, ".json"), fault: Fault::Missing }
    }

    /// The number up to which pruning removed everything, 0 where it removed nothing; `None` where an earlier version
    /// pruned, which did not note it.
    fn pruned_up_to(&self) -> Option<u64> {
        match fs::read_to_string(self.dir.join("pruned")) {
            Ok(text) => text.trim().parse().ok(),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Some(0),
            Err(_) => None,
        }
    }

    /// Notes that pruning removes everything up to this number: before it does, so that a crash loses nothing unseen.
    pub(super) fn note_pruned(&self, last: u64) -> io::Result<()> {
        let last = last.max(self.pruned_up_to().unwrap_or(0));
        crate::private::write(&self.dir.join("pruned"), format!("{last}\n").as_bytes())
    }

    /// Ranges of numbers that placet removed itself, in their order.
    fn gone(&self) -> Vec<(u64, u64)> {
        let names = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let range = |name: std::ffi::OsString| {
            let (first, last) = name.to_str()?.strip_suffix(".gone")?.split_once('-')?;
            Some((first.parse().ok()?, last.parse().ok()?))
        };
        let mut gone: Vec<(u64, u64)> = names.filter_map(|entry| range(entry.file_name())).collect();
        gone.sort_unstable();
        gone
    }

    /// Notes that these numbers have no entry, and that nothing is lost by it.
    pub(in crate::workspace) fn note_gone(&self, first: u64, last: u64) -> io::Result<()> {
        crate::private::write(&self.dir.join(format!("{first:012}-{last:012}.gone")), b"")
    }

    /// The newest number that was given out.
    pub(super) fn last_number(&self) -> u64 {
        let ids = self.ids(".json").into_iter().chain(self.ids(".open.json"));
        ids.chain(self.noted_last()).max().unwrap_or(0)
    }

    fn noted_last(&self) -> Option<u64> {
        fs::read_to_string(self.dir.join("last")).ok()?.trim().parse().ok()
    }

    /// Best effort: without it only the loss of the newest entry is not seen.
    pub(super) fn note_last(&self, id: u64) {
        drop(crate::private::write_quick(&self.dir.join("last"), format!("{id}\n").as_bytes()));
    }

    /// Moves the file of a damaged entry into `aside`, and notes that its number is gone. Gives the new place.
    pub(in crate::workspace) fn set_aside(
        &self,
        damage: &Damage,
        aside: &Path,
    ) -> io::Result<Option<PathBuf>> {
        let Some((first, last)) = number(damage.part) else { return Ok(None) };
        if matches!(damage.part, DamagedPart::Entries(..)) {
            self.note_gone(first, last)?;
            return Ok(None);
        }
        crate::private::make_dir(aside)?;
        let to = aside.join(damage.path.file_name().unwrap_or_default());
        fs::rename(&damage.path, &to)?;
        self.note_gone(first, last)?;
        Ok(Some(to))
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
