//! Which directories a view is laid over, as a file in the view: without it, placet does not know whose changes these
//! are.
//!
//! A layer belongs to the root that has its number. While a view holds changes, its roots and their order come from this
//! file: whoever opens the view can add roots, and cannot replace or remove one.

use super::base::BaseIndex;
use super::directory_identity::DirectoryIdentity;
pub(in crate::view) use super::may_exist::may_exist;
pub(crate) use super::may_exist::{layers, may_hold};
use crate::files::metadata::path_state::raw_text;
use crate::history::damage::{
    DamageKind, DamagedPart, DamagedRecord, list_directories, list_records, read_record,
};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The file's name in a view's directory.
pub(in crate::view) const NAME: &str = "roots.json";
/// The directory of the discards of a view.
pub(in crate::view) const DISCARDS: &str = "discarded";

/// A root of a stored view.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct StoredRoot {
    #[serde(with = "raw_text")]
    pub path: PathBuf,
    /// What the directory was at the last change.
    pub identity: Option<DirectoryIdentity>,
}

/// A root as the file has it. Earlier versions stored the path alone.
#[derive(Deserialize)]
#[serde(untagged)]
enum RootRecord {
    Whole(StoredRoot),
    Path(#[serde(with = "raw_text")] PathBuf),
}

/// The roots of the view that is stored in `dir`, as of its last change.
pub fn roots_of(dir: &Path) -> Result<Vec<PathBuf>, DamagedRecord> {
    Ok(stored_roots(dir)?.into_iter().map(|root| root.path).collect())
}

/// The same, with what the directories were.
pub fn stored_roots(dir: &Path) -> Result<Vec<StoredRoot>, DamagedRecord> {
    let path = dir.join(NAME);
    let read = || {
        let bytes = read_record(&path)?;
        let roots: Vec<RootRecord> = serde_json::from_slice(&bytes).map_err(|e| DamageKind::of_json(&e))?;
        let whole = |root| match root {
            RootRecord::Whole(root) => root,
            RootRecord::Path(path) => StoredRoot { path, identity: None },
        };
        let roots: Vec<StoredRoot> = roots.into_iter().map(whole).collect();
        let sound = !roots.is_empty() && roots.iter().all(|root| root.path.is_absolute());
        let why = || "these are not the paths of directories".to_string();
        sound.then_some(roots).ok_or_else(|| DamageKind::Malformed { line: 1, why: why() })
    };
    read().map_err(|fault| DamagedRecord { part: DamagedPart::Roots, path: path.clone(), fault })
}

pub(crate) fn write_roots(dir: &Path, roots: &[PathBuf]) -> io::Result<()> {
    let roots = encoded_roots(roots)?;
    let path = dir.join(NAME);
    // A write waits for the disk, and nearly always the same roots are there.
    if read_record(&path).is_ok_and(|known| known == roots) {
        // Lists of views have the newest first.
        drop(std::fs::File::open(&path).and_then(|file| file.set_modified(SystemTime::now())));
        return Ok(());
    }
    placet_text::private::write(&path, &roots)
}

/// The content of the file for these roots, with what they are now.
pub(in crate::view) fn encoded_roots(roots: &[PathBuf]) -> io::Result<Vec<u8>> {
    let stored = |path: &PathBuf| StoredRoot { path: path.clone(), identity: DirectoryIdentity::of(path) };
    Ok(serde_json::to_vec(&roots.iter().map(stored).collect::<Vec<_>>())?)
}

/// The roots of an opened view.
#[derive(Debug)]
pub(in crate::view) struct ViewRoots {
    pub(in crate::view) roots: Vec<PathBuf>,
    /// A root that was asked for, and a root below it in which something is pending: a layer cannot be over both.
    pub(in crate::view) conflict: Option<(PathBuf, PathBuf)>,
}

impl ViewRoots {
    /// The roots of the view that is stored in `dir`, for somebody who asks for the roots `wanted`.
    pub(in crate::view) fn of(dir: &Path, wanted: &[PathBuf]) -> ViewRoots {
        // A root below another one is part of it.
        let inside = |root: &PathBuf| wanted.iter().any(|r| r != root && root.starts_with(r));
        let wanted = wanted.iter().filter(|root| !inside(root));
        let stored = match keeps_pending(dir) || may_hold_any(&dir.join(DISCARDS)) {
            // Without the file, the first change fails: see `View::claim`.
            true => roots_of(dir).unwrap_or_default(),
            false => Vec::new(),
        };
        let (mut roots, mut conflict) = (stored.clone(), None);
        for root in wanted.filter(|root| !stored.iter().any(|known| root.starts_with(known))) {
            match stored.iter().find(|known| known.starts_with(root)) {
                Some(known) => conflict = Some((root.clone(), known.clone())),
                None => roots.push(root.clone()),
            }
        }
        ViewRoots { roots, conflict }
    }
}

/// False only where it is known that the directory is empty or missing.
fn may_hold_any(dir: &Path) -> bool {
    list_records(dir).map_or(true, |entries| !entries.is_empty())
}

/// True when something may be pending in the view that is stored in `dir`: its record is there, or what it
/// speaks of.
pub fn keeps_pending(dir: &Path) -> bool {
    let pending = dir.join("pending");
    may_exist(&pending.join("base.jsonl")) || may_hold(&pending)
}

/// The directories of views in `places`, and the damage of the others: anything may be pending there.
pub fn views_in(places: &[PathBuf]) -> (Vec<PathBuf>, Vec<DamagedRecord>) {
    let (mut found, mut damage) = (Vec::new(), Vec::new());
    for place in places {
        let (views, unread) = list_directories(place, DamagedPart::Pending);
        found.extend(views);
        damage.extend(unread);
    }
    found.sort();
    (found, damage)
}

/// What is wrong with the records of the view that is stored in `dir`.
pub fn pending_damage(dir: &Path) -> Vec<DamagedRecord> {
    if !keeps_pending(dir) {
        return Vec::new();
    }
    let roots = roots_of(dir);
    let known = roots.as_ref().map(Vec::as_slice).unwrap_or_default();
    let record = BaseIndex::load(dir.join("pending/base.jsonl"));
    let damage = record.damage().or_else(|| record.unrecorded(known));
    roots.err().into_iter().chain(damage).collect()
}

/// The same for a start: a long record is not read, and the layers are not walked. Opening the view checks again.
pub fn pending_damage_at_start(dir: &Path) -> Vec<DamagedRecord> {
    /// Bytes of a record that a start reads.
    const SHORT: u64 = 256 << 10;
    if !keeps_pending(dir) {
        return Vec::new();
    }
    let record = dir.join("pending/base.jsonl");
    let long = std::fs::symlink_metadata(&record).is_ok_and(|meta| meta.len() > SHORT);
    let damage = if long { None } else { BaseIndex::load(record).damage() };
    let damage = damage.or_else(|| unlisted(&dir.join("pending")));
    roots_of(dir).err().into_iter().chain(damage).collect()
}

/// A layer set or a layer in it that cannot be listed.
fn unlisted(shelf: &Path) -> Option<DamagedRecord> {
    let damaged =
        |path: &Path, fault| DamagedRecord { part: DamagedPart::Pending, path: path.to_path_buf(), fault };
    match layers(shelf) {
        Err(fault) => Some(damaged(shelf, fault)),
        Ok(layers) => layers.iter().find_map(|layer| Some(damaged(layer, list_records(layer).err()?))),
    }
}
