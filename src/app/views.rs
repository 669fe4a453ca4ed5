//! Views: where they are kept, what walls commands get, and which ones wait for the person.

use super::App;
use crate::sandbox::{Backend, Limits, Probe, probe};
use crate::tools::Confining;
use crate::workspace::{
    Base, Brake, Keep, Objects, Places, Recovered, Shelf, View, prune, recover, roots_of,
};
use std::collections::BTreeSet;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A view with changes that wait.
pub struct Waiting {
    /// The session's name, or the one made up for a call without a session.
    pub name: String,
    pub view: View,
    pub changed: SystemTime,
    /// Another process works on it.
    pub busy: bool,
}

/// A name for the view of something that is no session.
pub(super) fn fresh_name() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("solo-{}-{}", now.as_millis(), std::process::id())
}

impl App {
    /// A name for the view of something that is no session.
    pub fn fresh_view(&self) -> String {
        fresh_name()
    }

    /// The view of a session, with what is pending in it.
    pub fn view(&self, name: &str) -> View {
        View::at(self.places(name), self.workspace.roots())
    }

    fn places(&self, name: &str) -> Places {
        let state = &self.paths.state;
        let home = self.workspace.home();
        let covered = |dir: &Path| self.workspace.roots().iter().any(|root| dir.starts_with(root));
        // A layer must not lie below the directory it is laid over.
        let away = || private(&PathBuf::from("/var/tmp"));
        let views = if covered(state) { away().join("views") } else { state.join("views") };
        let in_home = home.is_some_and(|home| views.starts_with(home));
        let mut layers = if in_home { vec![away().join("layers")] } else { vec![views.clone()] };
        layers.push(private(Path::new("/dev/shm")).join("layers"));
        let journal = blake3::hash(self.cwd().as_os_str().as_encoded_bytes()).to_hex();
        let journal: String = journal.chars().take(24).collect();
        Places {
            view: views.join(name),
            layers,
            objects: state.join("objects"),
            journal: state.join("journal").join(journal),
            scratch: self.paths.cache.join("scratch").join(name),
        }
    }

    /// Views of this directory with something pending, the newest first.
    pub fn waiting(&self) -> Vec<Waiting> {
        let dir = self.places("x").view;
        let Some(dir) = dir.parent() else { return Vec::new() };
        let mut found = Vec::new();
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let record = entry.path().join("pending/base.jsonl");
            let Ok(changed) = std::fs::metadata(&record).and_then(|m| m.modified()) else { continue };
            let roots = roots_of(&entry.path());
            if roots.first().is_none_or(|first| first != self.cwd()) {
                continue;
            }
            let view = View::at(self.places(&name), &roots);
            if view.changes(Shelf::Pending).is_ok_and(|set| !set.is_empty()) {
                let busy = is_locked(&entry.path().join("lock"));
                found.push(Waiting { name, view, changed, busy });
            }
        }
        found.sort_by_key(|w| std::cmp::Reverse(w.changed));
        found
    }

    /// Whether something is pending in the view of this name, of whatever directory. What cannot be read counts.
    pub fn is_pending(&self, name: &str) -> bool {
        let beside = self.paths.state.join("views");
        let away = private(Path::new("/var/tmp")).join("views");
        [beside, away].into_iter().any(|views| {
            let places = Places { view: views.join(name), ..self.places(name) };
            places.view.join("pending/base.jsonl").exists() && {
                let roots = roots_of(&places.view);
                !View::at(places, &roots).changes(Shelf::Pending).is_ok_and(|set| set.is_empty())
            }
        })
    }

    /// Contents that something pending starts from, in any directory: pruning must leave them.
    pub fn pending_contents(&self) -> BTreeSet<String> {
        pending_contents(self.places("x").view.parent().unwrap_or(Path::new("/")))
    }

    /// Finishes what a crash left of an apply or an undo in this directory. `None` when there was nothing.
    pub fn recover(&self) -> Option<Result<Recovered, std::io::Error>> {
        let view = self.view("recovery");
        match recover(view.journal(), view.objects()) {
            Ok(recovered) if recovered.is_empty() => None,
            other => Some(other),
        }
    }

    pub(super) fn brake(&self) -> Brake {
        let usual = Brake::default();
        let number = |key: &str| self.config.number(key);
        Brake {
            files: number("brake.files").and_then(|n| usize::try_from(n).ok()).unwrap_or(usual.files),
            bytes: number("brake.bytes").unwrap_or(usual.bytes),
        }
    }

    /// How much of what was applied is kept for undo.
    pub fn keep(&self) -> Keep {
        let usual = Keep::default();
        let days = self.config.number("journal.max_days").map(|d| Duration::from_secs(d * 24 * 3600));
        Keep {
            max_bytes: self.config.number("journal.max_mb").map_or(usual.max_bytes, |mb| mb << 20),
            max_age: days.unwrap_or(usual.max_age),
        }
    }

    /// The directories that hold the journals of all workspaces, and the contents they name.
    pub fn journals(&self) -> (PathBuf, PathBuf) {
        (self.paths.state.join("journal"), self.paths.state.join("objects"))
    }

    /// What this machine offers for confining commands, tried out once.
    pub fn backend(&self) -> (Backend, String) {
        let probe = self.probe();
        (probe.backend, probe.sentence)
    }

    /// The same with everything the trial found.
    pub fn probe(&self) -> Probe {
        tried(&self.view("probe"))
    }

    /// The directories that hold the views of all workspaces, and the layers of their commands.
    pub fn view_places(&self) -> Vec<PathBuf> {
        let places = self.places("x");
        let views = places.view.parent().map(Path::to_path_buf).into_iter();
        let mut all: Vec<PathBuf> = views.chain(places.layers).collect();
        all.dedup();
        all
    }

    pub(super) fn confining(&self, view: &View) -> Confining {
        let texts = |key: &str| -> Vec<String> {
            self.config.list(key).iter().map(|(text, _)| text.clone()).collect()
        };
        let below_cwd = |text: String| self.cwd().join(text);
        let number = |key: &str| self.config.number(key).filter(|n| *n > 0);
        let limits = Limits {
            memory: number("sandbox.memory_mb").map(|mb| mb << 20),
            processes: number("sandbox.processes"),
            ..Limits::default()
        };
        let home = self.workspace.home().and_then(|home| std::fs::canonicalize(home).ok());
        let mut masked: Vec<PathBuf> = texts("sandbox.mask").into_iter().map(|t| self.expanded(&t)).collect();
        if let Some(home) = &home {
            masked.extend(SECRETS.iter().map(|name| home.join(name)));
        }
        masked.extend([self.paths.keys_file(), self.paths.state.clone(), self.paths.config.clone()]);
        let (view, sweep) = (view.clone(), self.sweep());
        let snapshot = self.config.text("sandbox.backend") == Some("snapshot");
        Confining {
            backend: Box::new(move || {
                // Before the first command, once: what nobody needs any more goes.
                static SWEPT: std::sync::Once = std::sync::Once::new();
                SWEPT.call_once(|| sweep.prune());
                let probe = tried(&view);
                match probe.backend {
                    Backend::Overlay if snapshot && probe.landlock_abi.is_some() => {
                        (Backend::Landlock, "the settings ask for snapshots".into())
                    }
                    backend => (backend, probe.sentence),
                }
            }),
            home,
            masked,
            writable: texts("sandbox.passthrough").into_iter().map(below_cwd).collect(),
            limits,
            keep_env: texts("sandbox.keep_env"),
            hosts: texts("sandbox.hosts"),
        }
    }

    fn sweep(&self) -> Sweep {
        let view = self.places("x").view;
        let (journals, objects) = self.journals();
        let views = view.parent().map(Path::to_path_buf).unwrap_or_default();
        Sweep { views, journals, objects, keep: self.keep() }
    }

    fn expanded(&self, text: &str) -> PathBuf {
        match (text.strip_prefix("~/"), self.workspace.home()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => self.cwd().join(text),
        }
    }
}

/// What keeps the journal within its bounds.
struct Sweep {
    views: PathBuf,
    journals: PathBuf,
    objects: PathBuf,
    keep: Keep,
}

impl Sweep {
    /// Once a day the journal is cut to what the settings keep, beside everything else that goes on.
    fn prune(&self) {
        let mark = self.journals.with_extension("pruned");
        let age = std::fs::metadata(&mark).and_then(|m| m.modified()).ok().and_then(|at| at.elapsed().ok());
        if !self.journals.is_dir() || age.is_some_and(|age| age < Duration::from_secs(24 * 3600)) {
            return;
        }
        drop(std::fs::write(&mark, ""));
        let (journals, objects, keep) =
            (self.journals.clone(), Objects::new(self.objects.clone()), self.keep);
        let needed = pending_contents(&self.views);
        std::thread::spawn(move || {
            if let Err(e) = prune(&journals, &objects, keep, &needed) {
                tracing::warn!("the journal was not pruned: {e}");
            }
        });
    }
}

/// Contents that something pending starts from or that its calls left, in all views below a directory.
fn pending_contents(views: &Path) -> BTreeSet<String> {
    let mut needed = BTreeSet::new();
    for entry in std::fs::read_dir(views).into_iter().flatten().flatten() {
        let text = std::fs::read_to_string(entry.path().join("pending/base.jsonl")).unwrap_or_default();
        let bases = text.lines().filter_map(|line| serde_json::from_str::<Base>(line).ok());
        for base in bases {
            let between = base.marks.iter().filter_map(|mark| mark.content);
            needed.extend(base.node.hash().into_iter().chain(between).map(|h| h.to_hex().to_string()));
        }
    }
    needed
}

/// True while another process holds this lock.
fn is_locked(path: &Path) -> bool {
    let how = rustix::fs::FlockOperation::NonBlockingLockShared;
    std::fs::File::open(path).is_ok_and(|lock| rustix::fs::flock(&lock, how).is_err())
}

/// What lies in a home directory that no command should read.
const SECRETS: [&str; 14] = [
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".kube",
    ".docker/config.json",
    ".config/gcloud",
    ".config/gh",
    ".netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".password-store",
    ".local/share/keyrings",
    ".mozilla",
];

/// A directory of ours below one that all users share: nobody else may have made it.
fn private(shared: &Path) -> PathBuf {
    let uid = rustix::process::geteuid().as_raw();
    let dir = shared.join(format!("placet-{uid}"));
    drop(std::fs::DirBuilder::new().mode(0o700).create(&dir));
    let ours =
        std::fs::symlink_metadata(&dir).is_ok_and(|m| m.is_dir() && m.uid() == uid && m.mode() & 0o077 == 0);
    if ours { dir } else { std::env::temp_dir().join(format!("placet-{uid}-{}", std::process::id())) }
}

fn tried(view: &View) -> Probe {
    let supervisor = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("placet"));
    for dir in view.layer_places() {
        drop(std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir));
    }
    let places: Vec<PathBuf> = view.layer_places().iter().filter(|dir| dir.is_dir()).cloned().collect();
    let probe = probe(&supervisor, &places);
    if let Some(dir) = &probe.layers {
        view.lay_in(dir.clone());
    }
    probe
}
