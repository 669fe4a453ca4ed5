//! Which directories a view is laid over, as a file in the view: without it, placet does not know whose changes these
//! are.

use super::base::BaseIndex;
pub(super) use super::may_exist::may_exist;
pub(in crate::workspace) use super::may_exist::{layers, may_hold};
use crate::workspace::files::path_state::raw_text;
use crate::workspace::history::damage::{
    DamageKind, DamagedPart, DamagedRecord, list_directories, list_records, read_record,
};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The file's name in a view's directory.
const NAME: &str = "roots.json";

#[derive(Serialize, Deserialize)]
struct RootPath(#[serde(with = "raw_text")] PathBuf);

/// The roots of the view that is stored in `dir`, as of its last change.
pub fn roots_of(dir: &Path) -> Result<Vec<PathBuf>, DamagedRecord> {
    let path = dir.join(NAME);
    let read = || {
        let bytes = read_record(&path)?;
        let roots: Vec<RootPath> = serde_json::from_slice(&bytes).map_err(|e| DamageKind::of_json(&e))?;
        let roots: Vec<PathBuf> = roots.into_iter().map(|raw| raw.0).collect();
        let sound = !roots.is_empty() && roots.iter().all(|root| root.is_absolute());
        let why = || "these are not the paths of directories".to_string();
        sound.then_some(roots).ok_or_else(|| DamageKind::Malformed { line: 1, why: why() })
    };
    read().map_err(|fault| DamagedRecord { part: DamagedPart::Roots, path: path.clone(), fault })
}

pub(in crate::workspace) fn write_roots(dir: &Path, roots: &[PathBuf]) -> io::Result<()> {
    let roots = serde_json::to_vec(&roots.iter().cloned().map(RootPath).collect::<Vec<_>>())?;
    let path = dir.join(NAME);
    // A write waits for the disk, and nearly always the same roots are there.
    if read_record(&path).is_ok_and(|known| known == roots) {
        // Lists of views have the newest first.
        drop(std::fs::File::open(&path).and_then(|file| file.set_modified(SystemTime::now())));
        return Ok(());
    }
    crate::private::write(&path, &roots)
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
