//! Removes unused views, with what their commands left in the home directory's layer.

use super::View;
use super::layer::remove_dir_all;
use super::roots::may_exist;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long the view of a session stays after its last use: the layer over the home directory is part of it.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// How often layers without a view are looked for.
const SWEPT_EACH: Duration = Duration::from_secs(24 * 3600);

impl View {
    /// Removes views next to this one that are empty and that no process has claimed: views of single commands at once,
    /// views of sessions after a week.
    pub(super) fn sweep_others(&self) {
        let Some(views) = self.dir().parent() else { return };
        for entry in std::fs::read_dir(views).into_iter().flatten().flatten() {
            let (dir, name) = (entry.path(), entry.file_name());
            if dir == self.dir() || !idle(&dir, name.to_string_lossy().starts_with("solo-")) {
                continue;
            }
            let layers = self.0.places.layers.iter().map(|place| place.join(&name));
            let scratch = self.0.places.scratch.parent().map(|place| place.join(&name));
            for place in layers.chain(scratch).chain([dir]).filter(|place| place.is_dir()) {
                drop(remove_dir_all(&place));
            }
        }
        self.sweep_orphans(views);
    }

    /// Layers whose view is gone, for example with its state directory. Once a day: other state directories of this user
    /// have their layers in the same place, and there may be thousands.
    fn sweep_orphans(&self, views: &Path) {
        // A layer in the directory of the views is as old as its view. The view of a home directory has no others, and a
        // mark of its own would be taken for a view.
        let places: Vec<&PathBuf> = self.0.places.layers.iter().filter(|place| *place != views).collect();
        if places.is_empty() {
            return;
        }
        let mark = views.with_extension("swept");
        let age = std::fs::metadata(&mark).and_then(|meta| meta.modified()).ok();
        if age.and_then(|at| at.elapsed().ok()).is_some_and(|age| age < SWEPT_EACH) {
            return;
        }
        // Without the mark, the next process looks again.
        drop(crate::private::write_quick(&mark, b""));
        let entries = places.into_iter().filter_map(|place| std::fs::read_dir(place).ok());
        for entry in entries.flatten().flatten() {
            let age = entry.metadata().and_then(|meta| meta.modified()).ok();
            let age = age.and_then(|at| at.elapsed().ok());
            if age.is_some_and(|age| age > KEPT) && !may_exist(&views.join(entry.file_name())) {
                drop(remove_dir_all(&entry.path()));
            }
        }
    }
}

/// True for a view that is empty and that no process has claimed.
fn idle(dir: &Path, single: bool) -> bool {
    let pending = ["landing", "pending.new", "pending.old"];
    if super::keeps_pending(dir) || pending.iter().any(|name| may_exist(&dir.join(name))) {
        return false;
    }
    // What is discarded when a turn ends is visible to nobody afterwards: a single command has only one turn.
    if !single && may_exist(&dir.join("scratch/base.jsonl")) {
        return false;
    }
    let Ok(lock) = OpenOptions::new().read(true).write(true).open(dir.join("lock")) else { return false };
    let age = lock.metadata().and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
    let old = single || age.is_some_and(|age| age > KEPT);
    old && rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_ok()
}
