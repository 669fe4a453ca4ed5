//! Pruning: removes transactions that are too old or too large in total, oldest first.
//!
//! Nothing is removed while a record that may name contents is damaged: placet does not know which contents the record
//! names, and a removed content cannot be restored.

use super::super::damage::DamagedRecord;
use super::{Journal, JournalEntry};
use crate::{Hash, ObjectStore};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// How much may be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PruneLimits {
    pub max_bytes: u64,
    pub max_age: std::time::Duration,
}

/// What views need, in addition to the journals.
#[derive(Clone, Debug, Default)]
pub struct PruneRoots {
    /// Contents that pending changes start from.
    pub contents: BTreeSet<String>,
    /// Records of pending changes that cannot be read.
    pub damage: Vec<DamagedRecord>,
}

/// What pruning removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PruneReport {
    pub entries: usize,
    pub objects: usize,
    pub bytes: u64,
    /// Damaged records, because of which nothing was removed.
    pub stopped_by: Vec<DamagedRecord>,
}

impl PruneReport {
    fn count_content(&mut self, size: Option<u64>) {
        self.objects += usize::from(size.is_some());
        self.bytes += size.unwrap_or(0);
    }
}

/// Removes the oldest transactions of all workspaces below `journals` until the rest is young and small enough, and
/// every content that nothing names any more. While a record is damaged, nothing is removed.
pub fn prune(
    journals: &Path,
    objects: &ObjectStore,
    keep: PruneLimits,
    needed: &PruneRoots,
) -> io::Result<PruneReport> {
    let mut pruned = PruneReport { stopped_by: needed.damage.clone(), ..PruneReport::default() };
    let mut kept: Vec<(Journal, JournalEntry)> = Vec::new();
    let mut open: Vec<JournalEntry> = Vec::new();
    let mut locks = Vec::new();
    let (journals, damage) = super::journals_in(journals);
    pruned.stopped_by.extend(damage);
    for journal in journals {
        // Its lock could not be opened either.
        if let Some(damage) = journal.unlisted() {
            pruned.stopped_by.push(damage);
            continue;
        }
        // A workspace in which something is being applied right now keeps everything.
        match journal.try_lock()? {
            Some(lock) => locks.push(lock),
            None => return Ok(pruned),
        }
        pruned.stopped_by.extend(journal.damage().into_iter().filter(|d| d.part.names_contents()));
        open.extend(journal.open_entries()?);
        kept.extend(journal.entries().into_iter().map(|entry| (journal.clone(), entry)));
    }
    let (sizes, damage) = objects.list();
    pruned.stopped_by.extend(damage);
    if !pruned.stopped_by.is_empty() {
        return Ok(pruned);
    }
    kept.sort_by_key(|(_, entry)| entry.at);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let oldest = u64::try_from(now.saturating_sub(keep.max_age).as_millis()).unwrap_or(0);
    let total: u64 = sizes.iter().map(|(_, size)| size).sum();
    // What a crash left open is finished by its own workspace's next start.
    let named = kept.iter().map(|(_, entry)| entry).chain(&open).flat_map(contents_of);
    let mut contents = ContentUses::of(objects, &needed.contents, &sizes, named);
    let written: u64 = kept.iter().map(|(journal, entry)| journal.length(entry.id)).sum();
    for (hash, _) in &sizes {
        pruned.count_content(contents.remove_unused(&hash.to_hex()));
    }
    let mut removed: BTreeMap<PathBuf, Vec<u64>> = BTreeMap::new();
    // Numbers that each journal has still, those of open entries among them.
    let mut left: BTreeMap<PathBuf, BTreeSet<u64>> = BTreeMap::new();
    for (journal, _) in &kept {
        if !left.contains_key(&journal.dir) {
            left.insert(journal.dir.clone(), journal.numbers()?);
        }
    }
    for (journal, entry) in &kept {
        if entry.at >= oldest && (total + written).saturating_sub(pruned.bytes) <= keep.max_bytes {
            break;
        }
        // First the entry: without its contents it would be damaged.
        let length = journal.length(entry.id);
        journal.remove(entry.id, left.entry(journal.dir.clone()).or_default())?;
        for name in contents_of(entry) {
            contents.release(&name);
            pruned.count_content(contents.remove_unused(&name));
        }
        for one in &entry.git {
            // Without its entry nobody looks for it.
            drop(fs::remove_dir_all(journal.repository_record(one)));
        }
        removed.entry(journal.dir.clone()).or_default().push(entry.id);
        pruned.bytes += length;
        pruned.entries += 1;
    }
    for (dir, ids) in removed {
        Journal::at(dir).note_removed(&ids)?;
    }
    // An hour: what a running process is writing at the moment is younger.
    objects.sweep(std::time::Duration::from_secs(3600));
    Ok(pruned)
}

/// The contents that an entry names.
fn contents_of(entry: &JournalEntry) -> Vec<String> {
    let nodes = entry.changes.iter().flat_map(|c| [&c.before, &c.after]);
    let between = entry.changes.iter().flat_map(|c| c.marks.iter()).filter_map(|m| m.content);
    nodes.filter_map(|node| node.hash()).chain(between).map(|h| h.to_hex().to_string()).collect()
}

/// Who needs each stored content.
struct ContentUses<'a> {
    objects: &'a ObjectStore,
    needed_by_views: &'a BTreeSet<String>,
    /// How many entries name it.
    named: HashMap<String, usize>,
    sizes: HashMap<String, u64>,
}

impl<'a> ContentUses<'a> {
    fn of(
        objects: &'a ObjectStore,
        needed_by_views: &'a BTreeSet<String>,
        sizes: &[(Hash, u64)],
        names: impl Iterator<Item = String>,
    ) -> ContentUses<'a> {
        let sizes = sizes.iter().map(|(hash, size)| (hash.to_hex().to_string(), *size)).collect();
        let mut named = HashMap::new();
        names.for_each(|name| *named.entry(name).or_default() += 1);
        ContentUses { objects, needed_by_views, named, sizes }
    }

    /// An entry that named it is gone.
    fn release(&mut self, name: &str) {
        if let Some(count) = self.named.get_mut(name) {
            *count = count.saturating_sub(1);
        }
    }

    /// Removes a content that nobody needs; returns its size.
    fn remove_unused(&mut self, name: &str) -> Option<u64> {
        if self.named.get(name).is_some_and(|count| *count > 0) || self.needed_by_views.contains(name) {
            return None;
        }
        let (size, hash) = (self.sizes.remove(name)?, Hash::from_hex(name).ok()?);
        self.objects.remove(hash);
        Some(size)
    }
}

impl Journal {
    pub(super) fn numbers(&self) -> Result<BTreeSet<u64>, DamagedRecord> {
        Ok(self.ids(".json")?.into_iter().chain(self.ids(".open.json")?).collect())
    }

    /// Removes an entry. `left` are the numbers that the journal has; nothing is damaged, so what is below the lowest
    /// of them was pruned.
    fn remove(&self, id: u64, left: &mut BTreeSet<u64>) -> io::Result<()> {
        let was_lowest = left.first() == Some(&id);
        left.remove(&id);
        if was_lowest {
            self.note_pruned(left.first().map_or(id, |next| next - 1))?;
        }
        match fs::remove_file(self.file(id, ".json")) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        }
    }

    /// By a clock that was set back, a newer number may have gone before an older one.
    fn note_removed(&self, ids: &[u64]) -> io::Result<()> {
        let first = self.ids(".json")?.first().copied();
        let above = ids.iter().copied().filter(|id| first.is_some_and(|first| *id > first));
        above.into_iter().try_for_each(|id| self.note_gone(id, id))
    }
}
