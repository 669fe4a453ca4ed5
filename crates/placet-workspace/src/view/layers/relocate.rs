//! A view whose directory was moved: its records name the paths of the new place.
//!
//! Every new file is written next to the old one before the first takes its place, and the mark [`READY`] says that all are
//! complete. After a crash, either nothing has happened, or the next call finishes the rest.

use super::base::{BaseIndex, BaseRecord};
use super::may_exist::may_exist;
use super::roots::{DISCARDS, NAME, encoded_roots, roots_of};
use crate::apply::crash_point;
use crate::history::damage::{DamageKind, list_records};
use crate::view::undoing::discards::DiscardRecord;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the names of new files end with.
const NEW: &str = "moved";
/// All new files of the view are complete.
const READY: &str = "moved.ready";

/// Makes the view that is stored in `dir` a view of `to`, to which the directory `from` was moved.
///
/// # Errors
///
/// Another process uses the view, a record is damaged, or a file cannot be written. Nothing pending is lost.
pub fn relocate(dir: &Path, from: &Path, to: &Path) -> io::Result<()> {
    let lock = OpenOptions::new().create(true).truncate(false).write(true).open(dir.join("lock"))?;
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive)?;
    let ready = dir.join(READY);
    let shelves = shelves(dir)?;
    if !may_exist(&ready) {
        let moved = |path: &Path| match path.strip_prefix(from) {
            Ok(rel) if rel.as_os_str().is_empty() => to.to_path_buf(),
            Ok(rel) => to.join(rel),
            Err(_) => path.to_path_buf(),
        };
        for shelf in &shelves {
            rewrite(shelf, &moved)?;
        }
        let roots: Vec<PathBuf> = roots_of(dir)?.iter().map(|root| moved(root)).collect();
        write_new(&dir.join(NAME), &encoded_roots(&roots)?)?;
        crash_point();
        placet_text::private::write(&ready, b"")?;
    }
    for place in shelves.iter().map(PathBuf::as_path).chain([dir]) {
        for name in [NAME, "base.jsonl", "discard.json"] {
            let new = new_name(&place.join(name));
            if may_exist(&new) {
                crash_point();
                fs::rename(new, place.join(name))?;
            }
        }
    }
    crash_point();
    fs::remove_file(ready)
}

/// True where a crash left a view that is moved in part.
pub fn is_relocated_in_part(dir: &Path) -> bool {
    may_exist(&dir.join(READY))
}

/// The layer sets that have records: what is pending, and the discards.
fn shelves(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let failed = |fault: DamageKind| io::Error::other(fault.to_string());
    let discards = list_records(&dir.join(DISCARDS)).map_err(failed)?;
    let discards = discards.iter().map(fs::DirEntry::path).filter(|path| path.extension().is_none());
    let all = [dir.join("pending"), dir.join("scratch")].into_iter().chain(discards);
    Ok(all.filter(|shelf| shelf.is_dir()).collect())
}

fn rewrite(shelf: &Path, moved: &dyn Fn(&Path) -> PathBuf) -> io::Result<()> {
    let record = shelf.join("base.jsonl");
    if may_exist(&record) {
        let old = BaseIndex::load(record.clone());
        if let Some(damage) = old.damage() {
            return Err(damage.into());
        }
        let new_file = new_name(&record);
        remove_left(&new_file)?;
        let mut new = BaseIndex::load(new_file.clone());
        new.start();
        for base in old.iter() {
            let path: Arc<Path> = moved(&base.path).into();
            let twin = base.twin.as_ref().map(|twin| Arc::from(moved(twin)));
            new.take(BaseRecord { path, twin, ..base }, &old);
        }
        new.save()?;
        if may_exist(&new_file) {
            File::open(&new_file)?.sync_all()?;
        }
    }
    let described = shelf.join("discard.json");
    if may_exist(&described) {
        let record: DiscardRecord = serde_json::from_slice(&fs::read(&described)?)?;
        let moved = |path: Vec<u8>| {
            let path = PathBuf::from(std::ffi::OsString::from_vec(path));
            moved(&path).as_os_str().as_bytes().to_vec()
        };
        write_new(&described, &serde_json::to_vec(&record.with_paths(moved))?)?;
    }
    Ok(())
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    placet_text::private::write(&new_name(path), bytes)
}

fn new_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(".");
    name.push(NEW);
    PathBuf::from(name)
}

/// A file of an attempt that did not come as far as the mark.
fn remove_left(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}
