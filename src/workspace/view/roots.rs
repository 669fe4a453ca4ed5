//! Which directories a view is laid over, as a file in the view: without it nobody knows whose changes these are.

use super::super::damage::{Damage, DamagedPart, Fault, read_record};
use super::super::node::raw_text;
use super::base::Bases;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// The file's name in a view's directory.
const NAME: &str = "roots.json";

#[derive(Serialize, Deserialize)]
struct Raw(#[serde(with = "raw_text")] PathBuf);

/// The roots of the view that is kept in `dir`, as it was when somebody last changed it.
pub fn roots_of(dir: &Path) -> Result<Vec<PathBuf>, Damage> {
    let path = dir.join(NAME);
    let read = || {
        let bytes = read_record(&path)?;
        let roots: Vec<Raw> = serde_json::from_slice(&bytes).map_err(|e| Fault::of_json(&e))?;
        let roots: Vec<PathBuf> = roots.into_iter().map(|raw| raw.0).collect();
        let sound = !roots.is_empty() && roots.iter().all(|root| root.is_absolute());
        let why = || "these are not the paths of directories".to_string();
        sound.then_some(roots).ok_or_else(|| Fault::Malformed { line: 1, why: why() })
    };
    read().map_err(|fault| Damage { part: DamagedPart::Roots, path: path.clone(), fault })
}

pub(in crate::workspace) fn write_roots(dir: &Path, roots: &[PathBuf]) -> io::Result<()> {
    let roots = serde_json::to_vec(&roots.iter().cloned().map(Raw).collect::<Vec<_>>())?;
    crate::private::write(&dir.join(NAME), &roots)
}

/// True when something may be pending in the view that is kept in `dir`: its record is there, or what it speaks of.
pub fn keeps_pending(dir: &Path) -> bool {
    let pending = dir.join("pending");
    may_exist(&pending.join("base.jsonl")) || layers(&pending).iter().any(|layer| has_entries(layer))
}

/// False only where it is known that nothing is there.
fn may_exist(path: &Path) -> bool {
    let absent = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
    std::fs::symlink_metadata(path).map_or_else(|e| !absent.contains(&e.kind()), |_| true)
}

/// What is wrong with the records of the view that is kept in `dir`.
pub fn pending_damage(dir: &Path) -> Vec<Damage> {
    if !keeps_pending(dir) {
        return Vec::new();
    }
    let roots = roots_of(dir);
    let known = roots.as_ref().map(Vec::as_slice).unwrap_or_default();
    let record = Bases::load(dir.join("pending/base.jsonl"));
    let damage = record.damage().or_else(|| record.unrecorded(known));
    roots.err().into_iter().chain(damage).collect()
}

/// The same for a start: a long record is not read, and the layers are not walked. Whoever uses the view looks again.
pub fn pending_damage_at_start(dir: &Path) -> Vec<Damage> {
    /// Bytes of a record that a start reads.
    const SHORT: u64 = 256 << 10;
    if !keeps_pending(dir) {
        return Vec::new();
    }
    let record = dir.join("pending/base.jsonl");
    let long = std::fs::symlink_metadata(&record).is_ok_and(|meta| meta.len() > SHORT);
    let damage = if long { None } else { Bases::load(record).damage() };
    let damage = damage.or_else(|| layers(&dir.join("pending")).iter().find_map(|layer| unlisted(layer)));
    roots_of(dir).err().into_iter().chain(damage).collect()
}

/// The layers of a shelf that are there, `0` first.
pub(in crate::workspace) fn layers(shelf: &Path) -> Vec<PathBuf> {
    let mut found: Vec<(usize, PathBuf)> = std::fs::read_dir(shelf)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())))
        .collect();
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

/// A layer that cannot be listed.
fn unlisted(layer: &Path) -> Option<Damage> {
    let fault = Fault::of_io(&std::fs::read_dir(layer).err()?);
    Some(Damage { part: DamagedPart::Pending, path: layer.to_path_buf(), fault })
}

pub(in crate::workspace) fn has_entries(dir: &Path) -> bool {
    match std::fs::read_dir(dir) {
        Ok(mut entries) => entries.next().is_some(),
        // What cannot be listed may hold anything.
        Err(e) => e.kind() != io::ErrorKind::NotFound,
    }
}
