//! Discarded changes, stored so that they can be restored.
//!
//! Before paths leave the pending layers, they are linked into a layer set of their own, `discarded/N` in the view's
//! directory; where all of very many changes are discarded, the layers themselves are moved there. The set counts from the
//! moment in which it gets its name until it loses it: a crash leaves it whole or not at all. It is removed with the view, or
//! when newer discards need the room: at most [`MOST`] discards and [`MOST_BYTES`] are stored.

use crate::Hash;
use crate::apply::fault;
use crate::changes::change_set::{ChangeSet, FileChange};
use crate::files::content::sparse;
use crate::files::metadata::path_state::PathState;
use crate::files::metadata::shared_state::SharedState;
use crate::history::damage::{DamageKind, DamagedPart, DamagedRecord, list_records, read_record};
use crate::hold_point;
use crate::view::decision::apply::{ChangeSelection, SelectedPart};
use crate::view::layers::base::{BaseIndex, BaseRecord};
use crate::view::layers::layer::remove_dir_all;
use crate::view::layers::roots::DISCARDS;
use crate::view::layers::stack::node_at;
use crate::view::stage::StagedEntry;
use crate::view::{LayerKind, LayerSet, View};
use placet_text::text::sided_merge;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Discards of a view that are stored.
const MOST: usize = 20;
/// Bytes of all their files together.
const MOST_BYTES: u64 = 512 << 20;
/// What the name of a discard ends with while it is removed.
const REMOVED: &str = "removed";
/// From how many changes on the pending layers are moved, where all of them are discarded.
const MANY: usize = 1000;

/// A discard that can be restored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscardRecord {
    #[serde(skip)]
    number: u64,
    /// Milliseconds since 1970.
    pub at: u64,
    bytes: u64,
    /// Paths of which a part stayed pending, as bytes, and the hash of what stayed.
    #[serde(default)]
    stayed: Vec<(Vec<u8>, String)>,
    /// Paths that became pending in the same step, as bytes, and what they became: they were taken from another view.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    taken: Vec<(Vec<u8>, String)>,
    /// Refs were discarded by themselves: the rest of their repositories is stored here and stayed pending.
    #[serde(default)]
    pub refs: usize,
    /// Something from another view took the place of what is stored here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_replacement: bool,
}

impl DiscardRecord {
    /// The same for files whose paths have changed.
    pub(in crate::view) fn with_paths(self, moved: impl Fn(Vec<u8>) -> Vec<u8>) -> DiscardRecord {
        let all = |states: Vec<(Vec<u8>, String)>| {
            states.into_iter().map(|(path, state)| (moved(path), state)).collect()
        };
        DiscardRecord { stayed: all(self.stayed), taken: all(self.taken), ..self }
    }

    /// Whether `change` is what the discard left of its path, so that bringing it back loses nothing.
    fn left(&self, change: &FileChange) -> bool {
        is_among(&self.stayed, change)
    }

    /// Whether `change` is pending only because it was taken, as it was taken.
    fn took(&self, change: &FileChange) -> bool {
        is_among(&self.taken, change)
    }
}

fn is_among(states: &[(Vec<u8>, String)], change: &FileChange) -> bool {
    let now = state_digest(&change.after);
    states.iter().any(|(path, state)| path == change.path.as_os_str().as_bytes() && *state == now)
}

/// What a path is, in a form that a record has: the hash of a file's content, and a hash of all that anything else is.
pub(in crate::view) fn state_digest(state: &PathState) -> String {
    let other = || blake3::hash(format!("{state:?}").as_bytes());
    state.hash().unwrap_or_else(other).to_hex().to_string()
}

/// When a discard was decided, in milliseconds since 1970: undo goes back in the order of time.
#[derive(Clone, Copy, Debug)]
pub(in crate::view) struct DiscardMoment(u64);

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
    /// Discards what was chosen, all of each path, in a form that can be restored. It was decided at `moment`: an undo
    /// reverts what was applied after it first.
    pub(in crate::view) fn set_aside(
        &self,
        choice: &ChangeSelection,
        DiscardMoment(at): DiscardMoment,
    ) -> io::Result<DiscardBackup> {
        if self.is_empty(LayerKind::Pending) {
            return Ok(DiscardBackup::Kept);
        }
        self.claim()?;
        let set = self.changes(LayerKind::Pending)?;
        let (refs, choice) = &self.split_single_refs(&set, Cow::Borrowed(choice));
        let mut all = set.discarded_with(&set.with_whole_repositories(choice.keys().cloned().collect()));
        all.extend(refs.paths_around(&set));
        let discard = || {
            self.discard_single_refs(&set, refs)?;
            if choice.is_empty() { Ok(()) } else { self.discard(choice) }
        };
        let leaving = || set.changes.iter().filter(|change| all.contains(&change.path));
        if leaving().next().is_none() {
            discard()?;
            return Ok(DiscardBackup::Kept);
        }
        let bytes: u64 = leaving().map(|change| change.after.size()).sum();
        if bytes > MOST_BYTES {
            discard()?;
            return Ok(DiscardBackup::TooLarge);
        }
        if refs.is_empty() && all.len() >= MANY && all.len() == set.len() && self.is_all(&set, choice)? {
            return self.move_all_aside(DiscardRecord { at, bytes, ..DiscardRecord::default() });
        }
        let stays = |change: &FileChange| {
            let bytes = self.remaining_content(change, choice.get(&change.path)?)?;
            Some((change.path.as_os_str().as_bytes().to_vec(), blake3::hash(&bytes).to_hex().to_string()))
        };
        let stayed = leaving().filter_map(stays).collect();
        let leaving: Vec<&FileChange> = leaving().collect();
        let record = DiscardRecord { at, bytes, stayed, refs: refs.len(), ..DiscardRecord::default() };
        let kept = self.store_discard(&leaving, record)?;
        if let Err(e) = fault("discard").and_then(|()| discard()) {
            // Nothing was discarded, and there is nothing to restore.
            drop(remove_shelf(&kept));
            return Err(e);
        }
        if let Err(e) = self.drop_oldest() {
            tracing::warn!("the oldest discard was not removed: {e}");
        }
        Ok(DiscardBackup::Kept)
    }

    /// Replaces the pending layers by `all`, and stores what `leaving` was, so that an undo brings exactly that back.
    /// `after` is what the paths become. Fails before anything changes where it is too large to be stored.
    pub(in crate::view) fn replace_undoable(
        &self,
        all: Vec<(&LayerSet, BaseRecord, StagedEntry)>,
        leaving: &[&FileChange],
        after: &[(Arc<Path>, String)],
    ) -> io::Result<()> {
        let bytes: u64 = leaving.iter().map(|change| change.after.size()).sum();
        if bytes > MOST_BYTES {
            let most = placet_text::text::human_size::of(MOST_BYTES);
            return Err(io::Error::other(format!("what it replaces is larger than undo stores ({most})")));
        }
        let (stayed, taken) = after
            .iter()
            .map(|(path, state)| (path.as_os_str().as_bytes().to_vec(), state.clone()))
            .partition(|(path, _)| {
                leaving.iter().any(|change| change.path.as_os_str().as_bytes() == path.as_slice())
            });
        let DiscardMoment(at) = DiscardMoment::now();
        let kept = self.store_discard(
            leaving,
            DiscardRecord { at, bytes, stayed, taken, is_replacement: true, ..DiscardRecord::default() },
        )?;
        if let Err(e) = fault("discard").and_then(|()| self.replace_pending(all)) {
            drop(remove_shelf(&kept));
            return Err(e);
        }
        if let Err(e) = self.drop_oldest() {
            tracing::warn!("the oldest discard was not removed: {e}");
        }
        Ok(())
    }

    /// Stores what these changes are now, and gives the directory.
    fn store_discard(&self, leaving: &[&FileChange], record: DiscardRecord) -> io::Result<PathBuf> {
        let fresh = self.dir().join("discarded.new");
        // Left by a crash, before it had its name.
        if fresh.exists() {
            remove_dir_all(&fresh)?;
        }
        placet_text::private::make_dir(&fresh)?;
        let shelf = LayerSet::at(&fresh, self.roots().len(), 1);
        let mut bases = BaseIndex::load(fresh.join("base.jsonl"));
        let pending = &self.0.pending;
        for change in leaving {
            let Some(base) = pending.bases().get(&change.path) else { continue };
            self.copy_pending(&shelf, pending, &base, StagedEntry::Keep)?;
            bases.take(base, &pending.bases());
        }
        bases.save()?;
        self.copy_repository_bases(&fresh)?;
        let number = self.next_discard()?;
        let record = DiscardRecord { number, ..record };
        placet_text::private::write(&fresh.join("discard.json"), &serde_json::to_vec(&record)?)?;
        placet_text::private::make_dir(&self.discards())?;
        let kept = self.discards().join(number.to_string());
        std::fs::rename(&fresh, &kept)?;
        Ok(kept)
    }

    /// True when `choice` is all of each path, and the pending layers have nothing but the changes of `set` and what goes
    /// with them.
    fn is_all(&self, set: &ChangeSet, choice: &ChangeSelection) -> io::Result<bool> {
        if choice.values().any(|part| *part != SelectedPart::Whole) {
            return Ok(false);
        }
        Ok(self.0.pending.bases().len() == set.len())
    }

    /// Discards the pending layers as they are, with one rename: linking hundreds of thousands of files takes minutes.
    fn move_all_aside(&self, record: DiscardRecord) -> io::Result<DiscardBackup> {
        let pending = self.dir().join("pending");
        // Nothing that reads the pending layers looks at it.
        let described = pending.join("discard.json");
        self.copy_repository_bases(&pending)?;
        placet_text::private::write(&described, &serde_json::to_vec(&record)?)?;
        let moved = placet_text::private::make_dir(&self.discards()).and_then(|()| {
            let to = self.discards().join(self.next_discard()?.to_string());
            fault("discard").and_then(|()| std::fs::rename(&pending, to))
        });
        if let Err(e) = moved {
            drop(std::fs::remove_file(described));
            return Err(e);
        }
        self.0.pending.recheck_layers();
        if let Err(e) = self.drop_oldest() {
            tracing::warn!("the oldest discard was not removed: {e}");
        }
        Ok(DiscardBackup::Kept)
    }

    fn next_discard(&self) -> io::Result<u64> {
        Ok(self.kept_discards()?.last().map_or(1, |last| last.number + 1))
    }

    /// What of `change` stays pending when `part` of it is discarded.
    fn remaining_content(&self, change: &FileChange, part: &SelectedPart) -> Option<Vec<u8>> {
        match part {
            SelectedPart::Whole | SelectedPart::Resolved(_) => None,
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
        let back: Vec<BaseRecord> = aside.bases().iter().collect();
        let pending = &self.0.pending;
        let mut all: BTreeMap<Arc<Path>, (&LayerSet, BaseRecord)> =
            pending.bases().iter().map(|base| (Arc::clone(&base.path), (pending, base))).collect();
        let mut now = self.changes(LayerKind::Pending)?;
        now.changes.retain(|change| {
            let is_taken = discarded.took(change);
            if is_taken {
                all.remove(&change.path);
            }
            !is_taken
        });
        let is_changed =
            |path: &[u8]| now.changes.iter().find(|change| change.path.as_os_str().as_bytes() == path);
        let changed_since = discarded.taken.iter().filter_map(|(path, _)| is_changed(path));
        let mut conflicts: Vec<PathBuf> = changed_since.map(|change| change.path.to_path_buf()).collect();
        for base in back {
            let node = self.on(&aside, &base.path)?;
            let is_same = now.get(&base.path).is_some_and(|change| change.after == node);
            let collides = now.changes.iter().any(|change| {
                change.path == base.path && change.after != node && !discarded.left(change)
                    || is_below(&change.path, &base.path) && !node.is_directory()
                    || is_below(&base.path, &change.path) && !change.after.is_directory()
            });
            match (collides, is_same) {
                (true, _) => conflicts.push(base.path.to_path_buf()),
                (false, true) => {}
                (false, false) => drop(all.insert(base.path.clone(), (&aside, base))),
            }
        }
        if !conflicts.is_empty() {
            return Err(RestoreError::Pending(conflicts));
        }
        let mut entries = Vec::with_capacity(all.len());
        for (from, base) in all.into_values() {
            let merged = if std::ptr::eq(from, &aside) { self.merged_onto_file(from, &base)? } else { None };
            entries.push(match merged {
                Some((node, bytes)) => (from, BaseRecord { node, ..base }, StagedEntry::Bytes(bytes)),
                None => (from, base, StagedEntry::Keep),
            });
        }
        self.restore_repository_bases(&dir, discarded.refs > 0)?;
        self.replace_pending(entries)?;
        Ok(remove_shelf(&dir)?)
    }

    /// What a discarded change of a text file makes of the file as it is now, and that file. An undo between the discard
    /// and its return changed the file: the change that comes back is about today's lines. `None` where the file is as it
    /// was, or the same lines changed: then the review reports it.
    fn merged_onto_file(
        &self,
        from: &LayerSet,
        base: &BaseRecord,
    ) -> io::Result<Option<(SharedState, Vec<u8>)>> {
        let Some((index, rel)) = self.locate(&base.path) else { return Ok(None) };
        let now = node_at(&base.path)?;
        let are_files = base.node.is_file() && now.is_file();
        // git's own files are bound to each other: lines of one must not be merged.
        let is_gits = base.path.components().any(|part| part.as_os_str() == ".git");
        if !are_files || is_gits || base.node.same_content(&now) {
            return Ok(None);
        }
        let after = self.stack_of(from, index).open(&rel).and_then(|file| sparse::read_small(&file));
        let before = base.node.hash().and_then(|hash| self.objects().get(hash).ok());
        let (Some(before), Ok(after), Ok(theirs)) = (before, after, sparse::read_small_at(&base.path)) else {
            return Ok(None);
        };
        let is_binary = [&before, &after, &theirs].iter().any(|bytes| bytes.contains(&0));
        if is_binary || Some(blake3::hash(&theirs)) != now.hash() {
            return Ok(None);
        }
        // Best effort: without this content a later merge has no base.
        drop(self.objects().put(&theirs));
        Ok(sided_merge::merged(&before, &theirs, &after).map(|bytes| (now.into(), bytes)))
    }

    fn on(&self, shelf: &LayerSet, path: &Path) -> io::Result<crate::files::metadata::path_state::PathState> {
        match self.locate(path) {
            Some((index, rel)) => self.stack_of(shelf, index).node(&rel),
            None => Ok(crate::files::metadata::path_state::PathState::Absent),
        }
    }

    fn discards(&self) -> PathBuf {
        self.dir().join(DISCARDS)
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
            remove_shelf(&self.discards().join(oldest.number.to_string()))?;
        }
        // Left by a kill.
        for entry in std::fs::read_dir(self.discards())?.flatten() {
            if entry.path().extension().is_some_and(|end| end == REMOVED) {
                remove_dir_all(&entry.path())?;
            }
        }
        Ok(())
    }
}

/// Removes a discard: first its name, because a kill would leave a part of its files.
fn remove_shelf(shelf: &Path) -> io::Result<()> {
    let gone = shelf.with_extension(REMOVED);
    if gone.exists() {
        remove_dir_all(&gone)?;
    }
    std::fs::rename(shelf, &gone)?;
    hold_point("discard renamed");
    remove_dir_all(&gone)
}

impl DiscardMoment {
    pub(in crate::view) fn now() -> DiscardMoment {
        DiscardMoment(u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or(0))
    }

    /// Earlier than everything that is applied from now on.
    pub(in crate::view) fn before_now() -> DiscardMoment {
        DiscardMoment(DiscardMoment::now().0.saturating_sub(1))
    }
}

/// The layer sets of discards of the view that is stored in `view`, each with its number, oldest first.
fn discard_dirs(view: &Path) -> Result<Vec<(u64, PathBuf)>, DamagedRecord> {
    let dir = view.join(DISCARDS);
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
/// damage of discards, which may need others. [`crate::view::pending_damage`] has the damage of pending changes.
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
