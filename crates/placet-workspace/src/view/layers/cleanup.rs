//! Removes unused views, with what their commands left in the home directory's layer.

use super::layer::remove_dir_all;
use super::removal::ENDED;
use super::roots::{may_exist, roots_of};
use crate::view::View;
use crate::view::command::command_dir::SPARE;
use crate::view::jobs::job_record::JobRecord;
use std::fs::OpenOptions;
use std::path::Path;
use std::time::Duration;

/// How long the view of a session stays after its last use: the layer over the home directory is part of it.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// How often views of sessions, and layers without a view, are looked for. A layer without a view in which nothing is
/// stays as long.
const SWEPT_EACH: Duration = Duration::from_secs(24 * 3600);

impl View {
    /// Removes views next to this one that are empty and that no process has claimed: views of single commands at once,
    /// views of sessions after a week, and views of runs whose directory is gone. All but the first are looked for once a
    /// day: there may be hundreds of views, and every command comes here.
    pub(in crate::view) fn sweep_others(&self) {
        let Some(views) = self.dir().parent() else { return };
        // The view of a home directory is alone in the directory of its layers.
        if self.0.places.layers.as_slice() == [views] {
            return;
        }
        let is_due = is_sweep_due(views);
        for entry in std::fs::read_dir(views).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_single = name.to_string_lossy().starts_with("solo-");
            if !is_single && !is_due {
                continue;
            }
            let dir = entry.path();
            let layers = || self.0.places.layers.iter().map(|place| place.join(&name));
            let is_needless = || {
                let is_unused = |layers: &Path| !may_exist(layers) || holds_nothing(layers);
                let is_run = name.to_string_lossy().starts_with("run-");
                is_single || is_run && is_of_nothing(&dir) && layers().all(|layers| is_unused(&layers))
            };
            if dir == self.dir() || layers().any(|layers| keeps_work(&layers)) || !idle(&dir, is_needless) {
                continue;
            }
            let scratch = self.0.places.scratch.parent().map(|place| place.join(&name));
            for place in layers().chain(scratch).chain([dir]).filter(|place| place.is_dir()) {
                drop(remove_dir_all(&place));
            }
        }
        if is_due {
            self.sweep_orphans(views);
        }
    }

    /// Layers whose view is gone, for example with its state directory. Other state directories of this user have their
    /// layers in the same place, and there may be thousands.
    fn sweep_orphans(&self, views: &Path) {
        // A layer in the directory of the views is as old as its view.
        let places = self.0.places.layers.iter().filter(|place| *place != views);
        let entries = places.filter_map(|place| std::fs::read_dir(place).ok());
        for entry in entries.flatten().flatten() {
            let age = entry.metadata().and_then(|meta| meta.modified()).ok();
            let Some(age) = age.and_then(|at| at.elapsed().ok()) else { continue };
            let is_old = || age > KEPT || age > SWEPT_EACH && holds_nothing(&entry.path());
            if is_old() && !keeps_work(&entry.path()) && !may_exist(&views.join(entry.file_name())) {
                drop(remove_dir_all(&entry.path()));
            }
        }
    }
}

/// True once a day.
fn is_sweep_due(views: &Path) -> bool {
    let mark = views.with_extension("swept");
    let age = std::fs::symlink_metadata(&mark).and_then(|meta| meta.modified()).ok();
    if age.and_then(|at| at.elapsed().ok()).is_some_and(|age| age < SWEPT_EACH) {
        return false;
    }
    // Without the mark, the next process looks again.
    drop(placet_text::private::write_quick(&mark, b""));
    true
}

/// True for a view of a directory that is gone: no other run continues with it. A discard can be restored when the
/// directory is there again.
fn is_of_nothing(dir: &Path) -> bool {
    !may_exist(&dir.join("discarded"))
        && roots_of(dir).is_ok_and(|roots| roots.first().is_some_and(|root| !may_exist(root)))
}

/// True for the layers of a view in which a program of `placet run` or a job left something that nobody has seen yet: its
/// placet was killed, or it runs still. It is offered when placet starts there again, however late.
fn keeps_work(layers: &Path) -> bool {
    let is_run = layers.file_name().is_some_and(|name| name.to_string_lossy().starts_with("run-"));
    let is_work = |entry: &std::fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // What could not be made pending was kept, and the person was told where.
        name.starts_with("kept-")
            || name.starts_with("run-") && (is_run || JobRecord::read(&entry.path()).is_some())
    };
    std::fs::read_dir(layers).into_iter().flatten().flatten().any(|entry| is_work(&entry))
}

/// True for the layers of a view that no process uses, and in which no command left anything: only what the next command
/// would have used again.
fn holds_nothing(layers: &Path) -> bool {
    let only = |dir: &Path, allowed: &[&str]| {
        let is_allowed = |name: &std::ffi::OsStr| {
            allowed.iter().any(|allowed| name == *allowed) || name.to_string_lossy().starts_with(ENDED)
        };
        std::fs::read_dir(dir)
            .is_ok_and(|mut all| all.all(|entry| entry.is_ok_and(|entry| is_allowed(&entry.file_name()))))
    };
    let home = layers.join("home");
    let is_free = || match OpenOptions::new().read(true).write(true).open(home.join("lock")) {
        Ok(lock) => rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_ok(),
        Err(e) => e.kind() == std::io::ErrorKind::NotFound,
    };
    let is_home_empty = || !may_exist(&home) || only(&home, &["lock", "roots.json", SPARE]) && is_free();
    only(layers, &["home", SPARE]) && is_home_empty()
}

/// True for a view that is empty and that no process has claimed. A view that is `needless` need not be old.
fn idle(dir: &Path, is_needless: impl Fn() -> bool) -> bool {
    let pending = ["landing", "pending.new", "pending.old"];
    if crate::view::keeps_pending(dir) || pending.iter().any(|name| may_exist(&dir.join(name))) {
        return false;
    }
    // What is discarded when a turn ends is visible to nobody afterwards: a single command has only one turn.
    let needless = is_needless();
    if !needless && may_exist(&dir.join("scratch/base.jsonl")) {
        return false;
    }
    let Ok(lock) = OpenOptions::new().read(true).write(true).open(dir.join("lock")) else { return false };
    let age = lock.metadata().and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
    let old = needless || age.is_some_and(|age| age > KEPT);
    old && rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ViewPaths;
    use std::fs;
    use std::time::SystemTime;

    fn paths(base: &Path, name: &str) -> ViewPaths {
        ViewPaths {
            view: base.join("state/views").join(name),
            layers: vec![base.join("layers")],
            objects: base.join("state/objects"),
            journal: base.join("state/journal"),
            scratch: base.join("scratch").join(name),
        }
    }

    /// The view of a process that has ended, with what its command left for the next one.
    fn ended(base: &Path, name: &str, root: &Path) {
        let view = View::at(paths(base, name), &[root.to_path_buf()]);
        view.claim().unwrap();
        fs::create_dir_all(base.join("layers").join(name).join("spare/0/upper")).unwrap();
        fs::create_dir_all(base.join("layers").join(name).join("home/spare")).unwrap();
        fs::write(base.join("layers").join(name).join("home/lock"), "").unwrap();
    }

    fn names(dir: &Path) -> Vec<String> {
        let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<String> = fs::read_dir(dir).unwrap().map(name).collect();
        names.sort();
        names
    }

    fn is_older(path: &Path, by: Duration) {
        let time = SystemTime::now() - by - Duration::from_secs(60);
        fs::File::open(path).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn once_a_day_what_nobody_needs_is_removed() {
        let temporary = tempfile::tempdir().unwrap();
        let base = temporary.path().canonicalize().unwrap();
        let (here, gone) = (base.join("here"), base.join("gone"));
        fs::create_dir_all(&here).unwrap();
        fs::create_dir_all(&gone).unwrap();
        let mark = base.join("state/views.swept");
        for (name, root) in
            [("run-a", &here), ("run-b", &gone), ("run-c", &gone), ("run-d", &gone), ("solo-e", &here)]
        {
            ended(&base, name, root);
        }
        fs::remove_dir(&gone).unwrap();
        // What a killed run changed, and a discard that can be restored.
        fs::create_dir_all(base.join("layers/run-c/run-1-0/0/upper")).unwrap();
        fs::create_dir_all(base.join("state/views/run-d/discarded/1")).unwrap();
        // Layers without a view: of yesterday, of today, with something in them, and with what a program wrote for which
        // another state directory has the view.
        for (name, more, age) in [
            ("x", "spare", SWEPT_EACH),
            ("y", "spare", Duration::ZERO),
            ("z", "kept-run-1", KEPT),
            ("run-z", "run-9-0", KEPT),
            ("old", "run-9-0", KEPT),
        ] {
            let layers = base.join("layers").join(name);
            fs::create_dir_all(layers.join(more)).unwrap();
            is_older(&layers, age);
        }
        let own = View::at(paths(&base, "own"), std::slice::from_ref(&here));
        own.claim().unwrap();
        // The mark is of today: only the view of the single command went.
        assert_eq!(names(&base.join("state/views")), ["own", "run-a", "run-b", "run-c", "run-d"]);
        is_older(&mark, SWEPT_EACH);
        own.sweep_others();
        assert_eq!(names(&base.join("state/views")), ["own", "run-a", "run-c", "run-d"]);
        assert_eq!(names(&base.join("layers")), ["run-a", "run-c", "run-d", "run-z", "y", "z"]);
        // A week later the views of runs go as well, but not what nobody has seen yet.
        for name in ["run-a", "run-c", "run-d"] {
            is_older(&base.join("state/views").join(name).join("lock"), KEPT);
        }
        is_older(&mark, SWEPT_EACH);
        own.sweep_others();
        assert_eq!(names(&base.join("state/views")), ["own", "run-c"]);
        assert!(base.join("layers/run-c/run-1-0/0/upper").exists());
        // Nothing is removed twice a day.
        is_older(&base.join("layers/y"), SWEPT_EACH);
        own.sweep_others();
        assert!(base.join("layers/y").exists());
    }

    #[test]
    fn layers_that_a_process_uses_hold_something() {
        let temporary = tempfile::tempdir().unwrap();
        let layers = temporary.path().join("run-a");
        fs::create_dir_all(layers.join("home/spare")).unwrap();
        fs::write(layers.join("home/lock"), "").unwrap();
        assert!(holds_nothing(&layers));
        let lock = fs::File::open(layers.join("home/lock")).unwrap();
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
        assert!(!holds_nothing(&layers));
        drop(lock);
        fs::create_dir(layers.join("home/pending")).unwrap();
        assert!(!holds_nothing(&layers));
    }
}
