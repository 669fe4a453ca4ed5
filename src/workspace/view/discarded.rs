//! What was discarded, kept aside so that it can be brought back.
//!
//! Before paths leave the pending shelf they are linked to a shelf of their own, `discarded/N` in the view's directory;
//! it counts from the moment in which it has its name, so that a crash leaves it whole or not at all. It goes with the
//! view, or when newer ones need the room: at most [`MOST`] discards and [`MOST_BYTES`] are kept.

use super::super::change::Change;
use super::base::{Base, Bases};
use super::hold::Put;
use super::layer::remove_dir_all;
use super::settle::{Choice, Part};
use super::{Held, Shelf, View};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Discards of a view that are kept.
const MOST: usize = 20;
/// Bytes of all their files together.
const MOST_BYTES: u64 = 512 << 20;

/// A discard that can be brought back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discarded {
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

impl Discarded {
    /// Whether `change` is what the discard left of its path, so that bringing it back loses nothing.
    fn left(&self, change: &Change) -> bool {
        let hash = change.after.hash().map(|hash| hash.to_hex().to_string());
        self.stayed
            .iter()
            .any(|(path, stayed)| path == change.path.as_os_str().as_bytes() && Some(stayed) == hash.as_ref())
    }
}

/// Why a discard cannot be brought back.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    #[error("other changes are pending there now")]
    Pending(Vec<PathBuf>),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Whether a discard can be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aside {
    Kept,
    /// It holds more than is kept.
    TooLarge,
}

impl View {
    /// Throws away what was chosen, all of each path, so that it can be brought back.
    pub fn set_aside(&self, choice: &Choice) -> io::Result<Aside> {
        if self.is_empty(Shelf::Pending) {
            return Ok(Aside::Kept);
        }
        self.claim()?;
        let set = self.changes(Shelf::Pending)?;
        let all = set.discarded_with(&set.with_whole_repositories(choice.keys().cloned().collect()));
        let leaving = || set.changes.iter().filter(|change| all.contains(&change.path));
        if leaving().next().is_none() {
            self.discard(choice)?;
            return Ok(Aside::Kept);
        }
        let bytes: u64 = leaving().map(|change| change.after.size()).sum();
        if bytes > MOST_BYTES {
            self.discard(choice)?;
            return Ok(Aside::TooLarge);
        }
        let fresh = self.dir().join("discarded.new");
        if fresh.exists() {
            remove_dir_all(&fresh)?;
        }
        crate::private::make_dir(&fresh)?;
        let shelf = Held::at(&fresh, self.roots().len(), 1);
        let mut bases = Bases::load(fresh.join("base.jsonl"));
        let pending = &self.0.pending;
        for change in leaving() {
            let Some(base) = pending.bases().get(&change.path).cloned() else { continue };
            self.put_again(&shelf, pending, &base, Put::Keep)?;
            bases.take(base, &pending.bases());
        }
        for base in self.watched(&leaving().map(|change| change.path.clone()).collect())? {
            bases.take(base, &pending.bases());
        }
        bases.save()?;
        let at = u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or(0);
        let kept = self.kept_discards();
        let number = kept.last().map_or(1, |last| last.number + 1);
        let stays = |change: &Change| {
            let bytes = self.stays(change, choice.get(&change.path)?)?;
            Some((change.path.as_os_str().as_bytes().to_vec(), blake3::hash(&bytes).to_hex().to_string()))
        };
        let stayed = leaving().filter_map(stays).collect();
        let record = Discarded { number, at, count: leaving().count(), bytes, stayed };
        crate::private::write(&fresh.join("discard.json"), &serde_json::to_vec(&record)?)?;
        crate::private::make_dir(&self.discards())?;
        std::fs::rename(&fresh, self.discards().join(number.to_string()))?;
        self.discard(choice)?;
        self.drop_oldest()?;
        Ok(Aside::Kept)
    }

    /// What of `change` stays pending when `part` of it is discarded.
    fn stays(&self, change: &Change, part: &Part) -> Option<Vec<u8>> {
        match part {
            Part::Whole => None,
            Part::Hunks(gone) => self.with_part(change, |index| !gone.contains(&index)),
            Part::Content(bytes) => Some(bytes.to_vec()),
        }
    }

    /// The discard that is brought back first.
    pub fn last_discard(&self) -> Option<Discarded> {
        self.kept_discards().pop()
    }

    /// Puts a discard back on the pending shelf, all of it or nothing.
    pub fn restore(&self, discarded: &Discarded) -> Result<(), RestoreError> {
        self.claim()?;
        let dir = self.discards().join(discarded.number.to_string());
        let aside = Held::at(&dir, self.roots().len(), 1);
        if let Some(damage) = aside.bases().damage() {
            return Err(io::Error::other(damage.to_string()).into());
        }
        let back: Vec<Base> = aside.bases().iter().cloned().collect();
        let pending = &self.0.pending;
        let mut all: BTreeMap<PathBuf, (&Held, Base)> =
            pending.bases().iter().map(|base| (base.path.clone(), (pending, base.clone()))).collect();
        let now = self.changes(Shelf::Pending)?;
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
        self.replace_pending(all.into_values().map(|(from, base)| (from, base, Put::Keep)).collect())?;
        Ok(remove_dir_all(&dir)?)
    }

    fn on(&self, shelf: &Held, path: &Path) -> io::Result<super::super::node::Node> {
        match self.locate(path) {
            Some((index, rel)) => self.stack_of(shelf, index).node(&rel),
            None => Ok(super::super::node::Node::Absent),
        }
    }

    fn discards(&self) -> PathBuf {
        self.dir().join("discarded")
    }

    /// Those that can be brought back, oldest first.
    fn kept_discards(&self) -> Vec<Discarded> {
        let entries = std::fs::read_dir(self.discards()).into_iter().flatten().flatten();
        let mut kept: Vec<Discarded> = entries
            .filter_map(|entry| {
                let number = entry.file_name().to_string_lossy().parse().ok()?;
                let text = std::fs::read(entry.path().join("discard.json")).ok()?;
                Some(Discarded { number, ..serde_json::from_slice(&text).ok()? })
            })
            .collect();
        kept.sort_by_key(|discarded| discarded.number);
        kept
    }

    fn drop_oldest(&self) -> io::Result<()> {
        let mut kept = self.kept_discards();
        while kept.len() > MOST || kept.iter().map(|discarded| discarded.bytes).sum::<u64>() > MOST_BYTES {
            let oldest = kept.remove(0);
            remove_dir_all(&self.discards().join(oldest.number.to_string()))?;
        }
        Ok(())
    }
}

fn is_below(path: &Path, dir: &Path) -> bool {
    path != dir && path.starts_with(dir)
}

#[cfg(test)]
#[path = "discarded_tests.rs"]
mod tests;
