//! Repairing a view: its records are made again from the contents of its layers.
//!
//! A lost record named the state of the workspace at the time of the change. The new record names the present state:
//! the change is shown against the present state, and is applied to no other.

use super::base::{BaseIndex, BaseRecord};
use super::layer::{dir_flags, entry, is_dir, is_opaque, is_whiteout, list};
use super::roots::layers;
use super::stack::node_at;
use crate::Hash;
use crate::files::metadata::path_state::PathState;
use crate::history::objects::ObjectStore;
use rustix::fs::Mode;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Files of a layer that are compared with the records to find its root.
const COMPARED: usize = 50;

/// The roots of the view in `dir`, as its layers and its records agree on them. `None` when they leave a doubt.
pub(crate) fn rebuild_roots(dir: &Path) -> Option<Vec<PathBuf>> {
    let shelf = dir.join("pending");
    let records = BaseIndex::load(shelf.join("base.jsonl"));
    let layers = layers(&shelf).ok()?;
    let numbered = layers.iter().enumerate().all(|(n, layer)| layer.ends_with(n.to_string()));
    if layers.is_empty() || !numbered {
        return None;
    }
    layers.iter().map(|layer| root_of(layer, &records)).collect()
}

/// The one directory below which all of a layer's files have a record.
fn root_of(layer: &Path, records: &BaseIndex) -> Option<PathBuf> {
    let mut inside = Vec::new();
    everything(layer, Path::new(""), &mut inside).ok()?;
    inside.retain(|found| found.kind != LayerEntryKind::Directory);
    inside.truncate(COMPARED);
    let first = inside.first()?;
    let above = |path: &Path| {
        let depth = first.rel.components().count();
        path.ends_with(&first.rel).then(|| path.ancestors().nth(depth).map(Path::to_path_buf)).flatten()
    };
    let roots: BTreeSet<PathBuf> = records.paths().filter_map(|path| above(path)).collect();
    let fits = |root: &PathBuf| inside.iter().all(|found| records.contains(&root.join(&found.rel)));
    let mut fitting = roots.into_iter().filter(fits);
    match (fitting.next(), fitting.next()) {
        (Some(root), None) => Some(root),
        _ => None,
    }
}

/// Makes the record of the view in `dir` again: the lines that can be read, and one line for each file in the layers
/// that no line names. The old file is copied to `aside` first. Gives the number of records that were made.
pub(crate) fn rebuild_record(
    dir: &Path,
    roots: &[PathBuf],
    objects: &ObjectStore,
    aside: &Path,
) -> io::Result<usize> {
    let file = dir.join("pending/base.jsonl");
    placet_text::private::make_dir(aside)?;
    if file.is_file() {
        fs::copy(&file, aside.join("base.jsonl"))?;
    }
    let fresh_file = dir.join("pending/base.jsonl.new");
    // A repair that was interrupted may have left one, and `load` would read it.
    drop(fs::remove_file(&fresh_file));
    let mut fresh = BaseIndex::load(fresh_file.clone());
    fresh.start();
    // Which call made a change is known by the order of the lines, and that is lost.
    let known = BaseIndex::load(file.clone());
    known.iter().for_each(|base| fresh.set(BaseRecord { marks: Vec::new(), ..base }));
    let before = fresh.len();
    for (n, root) in roots.iter().enumerate() {
        let layer = dir.join("pending").join(n.to_string());
        let mut found = Vec::new();
        if layer.is_dir() {
            everything(&layer, Path::new(""), &mut found)?;
        }
        for found in found {
            record(&mut fresh, objects, &root.join(&found.rel), found.kind)?;
        }
    }
    fresh.save()?;
    let made = fresh.len() - before;
    // On the disk before it replaces the damaged one.
    File::open(&fresh_file)?.sync_all()?;
    fs::rename(&fresh_file, &file)?;
    Ok(made)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LayerEntryKind {
    /// A file, a link, a pipe.
    Content,
    /// The path was removed.
    Gone,
    Directory,
    /// A directory that hides the directory below it.
    Replaced,
}

struct LayerEntry {
    rel: PathBuf,
    kind: LayerEntryKind,
}

fn everything(dir: &Path, rel: &Path, found: &mut Vec<LayerEntry>) -> io::Result<()> {
    let opened: OwnedFd = rustix::fs::open(dir, dir_flags(), Mode::empty())?;
    for name in list(&opened)? {
        let Some(stat) = entry(&opened, &name)? else { continue };
        let (path, rel) = (dir.join(&name), rel.join(&name));
        if !is_dir(&stat) {
            let kind = if is_whiteout(&stat) { LayerEntryKind::Gone } else { LayerEntryKind::Content };
            found.push(LayerEntry { rel, kind });
            continue;
        }
        let inner: OwnedFd = rustix::fs::open(&path, dir_flags(), Mode::empty())?;
        let kind = if is_opaque(&inner)? { LayerEntryKind::Replaced } else { LayerEntryKind::Directory };
        found.push(LayerEntry { rel: rel.clone(), kind });
        everything(&path, &rel, found)?;
    }
    Ok(())
}

fn record(
    records: &mut BaseIndex,
    objects: &ObjectStore,
    path: &Path,
    kind: LayerEntryKind,
) -> io::Result<()> {
    let now = node_at(path)?;
    let below = now.is_directory() && matches!(kind, LayerEntryKind::Gone | LayerEntryKind::Replaced);
    // A mark that removes what is not there any more changes nothing.
    if !(records.contains(path) || kind == LayerEntryKind::Gone && now.is_absent()) {
        keep(objects, path, &now);
        records.record(BaseRecord::of(path, now));
    }
    if below {
        for entry in fs::read_dir(path)? {
            record(records, objects, &entry?.path(), LayerEntryKind::Gone)?;
        }
    }
    Ok(())
}

/// What a merge starts from.
fn keep(objects: &ObjectStore, path: &Path, now: &PathState) {
    let known: Option<(Hash, u64)> = now.hash().map(|hash| (hash, now.size()));
    if let (Some((hash, size)), Ok(mut file)) = (known, File::open(path)) {
        drop(objects.put_file(&mut file, hash, size));
    }
}
