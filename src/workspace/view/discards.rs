//! Discarded changes, stored so that they can be restored.
//!
//! Before paths leave the pending layers, they are linked into a layer set of their own, `discarded/N` in the view's
//! directory. The set counts from the moment in which it gets its name: a crash leaves it whole or not at all. It is
//! removed with the view, or when newer discards need the room: at most [`MOST`] discards and [`MOST_BYTES`] are
//! stored.

use super::super::Hash;
use super::super::apply::fault;
use super::apply::{ChangeSelection, SelectedPart};
use super::base::{BaseIndex, BaseRecord};
use super::layer::remove_dir_all;
use super::stage::StagedEntry;
use super::{LayerKind, LayerSet, View};
use crate::workspace::changes::change_set::FileChange;
use crate::workspace::history::damage::{DamageKind, DamagedPart, DamagedRecord, list_records, read_record};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Discards of a view that are stored.
const MOST: usize = 20;
/// Bytes of all their files together.
const MOST_BYTES: u64 = 512 << 20;

/// A discard that can be restored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscardRecord {
    #[serde(skip)]
    number: u64,
    /// Milliseconds since 1970.
    pub at: u64,
    /// Changes that it took away.
    pub count: usize,
    bytes: u64,
    /// Paths of which a part stayed pending, as bytes, and the hash of what stayed.
    #[serde(default)]
    stayed: Vec<(Vec<u8>, String)>,
}

impl DiscardRecord {
    /// Whether `change` is what the discard left of its path, so that bringing it back loses nothing.
    fn left(&self, change: &FileChange) -> bool {
        let hash = change.after.hash().map(|hash| hash.to_hex().to_string());
        self.stayed
            .iter()
            .any(|(path, stayed)| path == change.path.as_os_str().as_bytes() && Some(stayed) == hash.as_ref())
    }
}

/// Why a discard cannot be restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    #[error("other changes are pending there now")]
    Pending(Vec<PathBuf>),
    #[error(transparent)]
    Damage(#[from] DamagedRecord),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Whether a discard can be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiscardBackup {
    Kept,
    /// The discard is larger than what placet stores.
    TooLarge,
}

impl View {
    /// Discards what was chosen, all of each path, in a form that can be restored.
    pub fn set_aside(&self, choice: &ChangeSelection) -> io::Result<DiscardBackup> {
        if self.is_empty(LayerKind::Pending) {
            return Ok(DiscardBackup::Kept);
        }
        self.claim()?;
        let set = self.changes(LayerKind::Pending)?;
        let all = set.discarded_with(&set.with_whole_repositories(choice.keys().cloned().collect()));
        let leaving = || set.changes.iter().filter(|change| all.contains(&change.path));
        if leaving().next().is_none() {
            self.discard(choice)?;
            return Ok(DiscardBackup::Kept);
        }
        let bytes: u64 = leaving().map(|change| change.after.size()).sum();
        if bytes > MOST_BYTES {
            self.discard(choice)?;
            return Ok(DiscardBackup::TooLarge);
        }
        let fresh = self.dir().join("discarded.new");
        // Left by a crash, before it had its name.
        if fresh.exists() {
            remove_dir_all(&fresh)?;
        }
        crate::private::make_dir(&fresh)?;
        let shelf = LayerSet::at(&fresh, self.roots().len(), 1);
        let mut bases = BaseIndex::load(fresh.join("base.jsonl"));
        let pending = &self.0.pending;
        for change in leaving() {
            let Some(base) = pending.bases().get(&change.path).cloned() else { continue };
            self.copy_pending(&shelf, pending, &base, StagedEntry::Keep)?;
            bases.take(base, &pending.bases());
        }
        for base in self.repository_records(&leaving().map(|change| change.path.clone()).collect())? {
            bases.take(base, &pending.bases());
        }
        bases.save()?;
        let at = u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or(0);
        let kept = self.kept_discards()?;
        let number = kept.last().map_or(1, |last| last.number + 1);
        let stays = |change: &FileChange| {
            let bytes = self.remaining_content(change, choice.get(&change.path)?)?;
            Some((change.path.as_os_str().as_bytes().to_vec(), blake3::hash(&bytes).to_hex().to_string()))
        };
        let stayed = leaving().filter_map(stays).collect();
        let record = DiscardRecord { number, at, count: leaving().count(), bytes, stayed };
        crate::private::write(&fresh.join("discard.json"), &serde_json::to_vec(&record)?)?;
        crate::private::make_dir(&self.discards())?;
        let kept = self.discards().join(number.to_string());
        std::fs::rename(&fresh, &kept)?;
        if let Err(e) = fault("discard").and_then(|()| self.discard(choice)) {
            // Nothing was discarded, and there is nothing to restore.
            drop(remove_dir_all(&kept));
            return Err(e);
        }
        if let Err(e) = self.drop_oldest() {
            tracing::warn!("the oldest discard was not removed: {e}");
        }
        Ok(DiscardBackup::Kept)
    }

    /// What of `change` stays pending when `part` of it is discarded.
    fn remaining_content(&self, change: &FileChange, part: &SelectedPart) -> Option<Vec<u8>> {
        match part {
            SelectedPart::Whole => None,
            SelectedPart::Hunks(gone) => self.with_part(change, |index| !gone.contains(&index)),
            SelectedPart::Content(bytes) => Some(bytes.to_vec()),
        }
    }

    /// The discard that is restored first. Fails where a record cannot be read: that record may be the last.
    pub fn last_discard(&self) -> Result<Option<DiscardRecord>, DamagedRecord> {
        Ok(self.kept_discards()?.pop())
    }

    /// Puts a discard back into the pending layers, all of it or nothing.
    pub fn restore(&self, discarded: &DiscardRecord) -> Result<(), RestoreError> {
        self.claim()?;
        let dir = self.discards().join(discarded.number.to_string());
        let aside = LayerSet::at(&dir, self.roots().len(), 1);
        if let Some(damage) = aside.bases().damage() {
            return Err(DamagedRecord { part: DamagedPart::Discards, ..damage }.into());
        }
        let back: Vec<BaseRecord> = aside.bases().iter().cloned().collect();
        let pending = &self.0.pending;
        let mut all: BTreeMap<PathBuf, (&LayerSet, BaseRecord)> =
            pending.bases().iter().map(|base| (base.path.clone(), (pending, base.clone()))).collect();
        let now = self.changes(LayerKind::Pending)?;
        let mut conflicts = Vec::new();
        for base in back {
            let node = self.on(&aside, &base.path)?;
            let is_same = now.get(&base.path).is_some_and(|change| change.after == node);
            let collides = now.changes.iter().any(|change| {
                change.path == base.path && change.after != node && !discarded.left(change)
                    || is_below(&change.path, &base.path) && !node.is_directory()
                    || is_below(&base.path, &change.path) && !change.after.is_directory()
            });
            match (collides, is_same) {
                (true, _) => conflicts.push(base.path),
                (false, true) => {}
                (false, false) => drop(all.insert(base.path.clone(), (&aside, base))),
            }
        }
        if !conflicts.is_empty() {
            return Err(RestoreError::Pending(conflicts));
        }
        self.replace_pending(
            all.into_values().map(|(from, base)| (from, base, StagedEntry::Keep)).collect(),
        )?;
        Ok(remove_dir_all(&dir)?)
    }

    fn on(
        &self,
        shelf: &LayerSet,
        path: &Path,
    ) -> io::Result<crate::workspace::files::path_state::PathState> {
        match self.locate(path) {
            Some((index, rel)) => self.stack_of(shelf, index).node(&rel),
            None => Ok(crate::workspace::files::path_state::PathState::Absent),
        }
    }

    fn discards(&self) -> PathBuf {
        self.dir().join("discarded")
    }

    /// The discards that can be restored, oldest first.
    fn kept_discards(&self) -> Result<Vec<DiscardRecord>, DamagedRecord> {
        let mut kept = Vec::new();
        for (number, dir) in discard_dirs(self.dir())? {
            kept.extend(record_of(&dir)?.map(|record| DiscardRecord { number, ..record }));
        }
        Ok(kept)
    }

    fn drop_oldest(&self) -> io::Result<()> {
        let mut kept = self.kept_discards()?;
        while kept.len() > MOST || kept.iter().map(|discarded| discarded.bytes).sum::<u64>() > MOST_BYTES {
            let oldest = kept.remove(0);
            remove_dir_all(&self.discards().join(oldest.number.to_string()))?;
        }
        Ok(())
    }
}

/// The layer sets of discards of the view that is stored in `view`, each with its number, oldest first.
fn discard_dirs(view: &Path) -> Result<Vec<(u64, PathBuf)>, DamagedRecord> {
    let dir = view.join("discarded");
    let entries = list_records(&dir).map_err(|fault| DamagedRecord {
        part: DamagedPart::Discards,
        path: dir.clone(),
        fault,
    })?;
    let numbered = |entry: &std::fs::DirEntry| {
        let number = entry.file_name().to_string_lossy().parse().ok()?;
        Some((number, entry.path()))
    };
    let mut found: Vec<(u64, PathBuf)> = entries.iter().filter_map(numbered).collect();
    found.sort();
    Ok(found)
}

/// The record of a discard; `None` when another process has just removed it.
fn record_of(dir: &Path) -> Result<Option<DiscardRecord>, DamagedRecord> {
    let path = dir.join("discard.json");
    let damaged = |fault| DamagedRecord { part: DamagedPart::Discards, path: path.clone(), fault };
    match read_record(&path) {
        Err(DamageKind::Missing) if std::fs::symlink_metadata(dir).is_err() => Ok(None),
        Err(fault) => Err(damaged(fault)),
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|e| damaged(DamageKind::of_json(&e))),
    }
}

/// The damage of the discards of the view that is stored in `view`. Reads their records, not what they changed.
pub fn discard_damage_at_start(view: &Path) -> Vec<DamagedRecord> {
    match discard_dirs(view) {
        Err(damage) => vec![damage],
        Ok(shelves) => shelves.iter().filter_map(|(_, dir)| record_of(dir).err()).collect(),
    }
}

/// The stored contents that pending changes and discards of the view in `view` start from or that calls left, and the
/// damage of discards, which may need others. [`super::pending_damage`] has the damage of pending changes.
pub fn contents_needed(view: &Path) -> (Vec<Hash>, Vec<DamagedRecord>) {
    let (mut needed, mut damage) = (Vec::new(), Vec::new());
    let discards = discard_dirs(view).unwrap_or_else(|unread| {
        damage.push(unread);
        Vec::new()
    });
    let mut look = |shelf: &Path| {
        let bases = BaseIndex::load(shelf.join("base.jsonl"));
        for base in bases.iter() {
            needed.extend(
                base.node.hash().into_iter().chain(base.marks.iter().filter_map(|mark| mark.content)),
            );
        }
        bases.damage()
    };
    look(&view.join("pending"));
    for (_, dir) in discards {
        damage.extend(record_of(&dir).err());
        damage.extend(look(&dir).map(|found| DamagedRecord { part: DamagedPart::Discards, ..found }));
    }
    (needed, damage)
}

fn is_below(path: &Path, dir: &Path) -> bool {
    path != dir && path.starts_with(dir)
}

#[cfg(test)]
#[path = "discards_tests.rs"]
mod tests;
