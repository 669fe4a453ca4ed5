//! Views: where they are stored, what walls commands get, and which ones wait for the person.

pub(super) mod name;
pub(super) mod places;
pub(super) mod run_views;

use super::program_access::ProgramAccess;
use super::session_directory::is_named;
pub(super) use super::views::name::fresh_name;
use super::views::places::{private, view_of, views_places};
use super::{App, devices};
use crate::config::{BackendSetting, SignSetting};
use crate::permission::Access;
use crate::sandbox::{ResourceLimits, SandboxBackend, SandboxProbe, probe_again, recorded_probe};
use crate::text::regular_file;
use crate::tools::{CommandSandbox, MixedSettings, SaidHints, SandboxedGit, WithheldReport};
use crate::workspace::{
    DamagedRecord, LayerKind, LossLimit, ObjectStore, PruneLimits, PruneRoots, RecoveryReport, View,
    ViewPaths, keeps_pending, prune, recover, roots_of, views_in,
};
use std::collections::HashMap;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A view with changes that wait.
pub struct PendingView {
    /// The session's name, or the one made up for a call without a session.
    pub name: String,
    pub view: View,
    pub changed: SystemTime,
    /// Another process works on it.
    pub busy: bool,
}

/// When the pending changes of a view changed; `None` where it has none. A time that cannot be read is an error: the
/// view may have pending changes.
fn changed_at(view: &Path, name: &str) -> io::Result<Option<SystemTime>> {
    let modified = |file: PathBuf| match std::fs::metadata(file).and_then(|meta| meta.modified()) {
        Ok(at) => Ok(Some(at)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    };
    let changed = modified(view.join("pending/base.jsonl"))?;
    // A run may have changed only files in the home directory.
    if changed.is_none() && name.starts_with("run-") {
        return modified(view.join("roots.json"));
    }
    Ok(changed)
}

impl App {
    /// A name for a view that belongs to no session.
    pub fn fresh_view(&self) -> String {
        fresh_name()
    }

    /// The view of a session, with what is pending in it.
    pub fn view(&self, name: &str) -> View {
        self.guarded(View::at(self.places(name), self.workspace.roots()))
    }

    pub(super) fn guarded(&self, view: View) -> View {
        view.guard(self.workspace.protected(), self.brake());
        self.mark_decisions(&view);
        view.run_git_by(Arc::new(self.sandboxed_git(&view)));
        view
    }

    /// What reads the agent's side of repositories.
    fn sandboxed_git(&self, view: &View) -> SandboxedGit {
        let (supervisor, record) = (self.request.supervisor(), self.probe_record());
        // Not the view itself, which would then keep itself alive.
        let places: Vec<PathBuf> = view.layer_places().to_vec();
        let confining = self.confining(view);
        let asked = supervisor.clone();
        SandboxedGit {
            supervisor,
            backend: Box::new(move || {
                let dirs: Vec<PathBuf> = places.iter().filter(|dir| dir.is_dir()).cloned().collect();
                let probe = recorded_probe(&asked, &dirs, &record);
                (probe.backend, probe.sentence)
            }),
            masked: confining.masked,
            readable: view.roots().to_vec(),
        }
    }

    /// Where there is an audit log, what a person decides in `view` is marked until its entry is written.
    pub(super) fn mark_decisions(&self, view: &View) {
        if self.gate.audit.is_some() {
            view.mark_decisions(&self.gate.unlogged);
        }
    }

    pub(super) fn places(&self, name: &str) -> ViewPaths {
        self.places_in(name, self.cwd())
    }

    /// Where a view of the directory `dir` is stored.
    fn places_in(&self, name: &str, dir: &Path) -> ViewPaths {
        let state = &self.paths.state;
        let home = self.workspace.home();
        let covered = |dir: &Path| self.workspace.roots().iter().any(|root| dir.starts_with(root));
        // A layer must not be below the directory that it covers.
        let away = || private(&PathBuf::from("/var/tmp"));
        // A view stays where it was made, with what is pending in it.
        let known = view_of(state, name).and_then(|view| view.parent().map(Path::to_path_buf));
        let views = || if covered(state) { away().join("views") } else { state.join("views") };
        let views = known.unwrap_or_else(views);
        let in_home = home.is_some_and(|home| views.starts_with(home));
        let mut layers = if in_home { vec![away().join("layers")] } else { vec![views.clone()] };
        layers.push(private(Path::new("/dev/shm")).join("layers"));
        let journal = blake3::hash(dir.as_os_str().as_encoded_bytes()).to_hex();
        let journal: String = journal.chars().take(24).collect();
        ViewPaths {
            view: views.join(name),
            layers,
            objects: state.join("objects"),
            journal: state.join("journal").join(journal),
            scratch: self.paths.cache.join("scratch").join(name),
        }
    }

    /// Views of this directory with something pending, the newest first, and the reasons why other views cannot be
    /// read: they may have pending changes.
    /// [`App::pending_damage_here`] reports damage as well.
    pub fn waiting_and_unread(&self) -> (Vec<PendingView>, Vec<String>) {
        self.waiting_where(&|_, dir| dir == self.cwd())
    }

    /// The same for views whose name begins with `prefix`, of this directory and of directories that do not exist.
    pub fn waiting_named(&self, prefix: &str) -> (Vec<PendingView>, Vec<String>) {
        self.waiting_where(&|view, dir| is_named(view, prefix) && (dir == self.cwd() || !dir.exists()))
    }

    fn waiting_where(&self, is_meant: &dyn Fn(&Path, &Path) -> bool) -> (Vec<PendingView>, Vec<String>) {
        let jobs = self.take_over_killed_jobs().into_iter();
        let unread_job = |(name, taken): (String, std::io::Result<_>)| {
            taken.err().map(|e| format!("what an interrupted job of the session {name} wrote: {e}"))
        };
        let (mut found, mut unread) = (Vec::new(), jobs.filter_map(unread_job).collect::<Vec<_>>());
        // `App::damage_at_start` reports damage, and also a directory that cannot be listed.
        for place in views_in(&self.views_places()).0 {
            let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let changed = match changed_at(&place, &name) {
                Ok(Some(changed)) => changed,
                Ok(None) => continue,
                Err(e) => {
                    unread.push(format!("`{}`: {e}", place.display()));
                    continue;
                }
            };
            let Ok(roots) = roots_of(&place) else { continue };
            let Some(dir) = roots.first().filter(|dir| is_meant(&place, dir)) else { continue };
            let view = self.guarded(View::at(self.places_in(&name, dir), &roots));
            let busy = is_locked(&place.join("lock"));
            let at_home = self.home_changes_of(&name).map(|view| (format!("{name}-home"), view));
            for (name, view) in std::iter::once((name, view)).chain(at_home) {
                match view.has_changes(LayerKind::Pending) {
                    Ok(false) => {}
                    Ok(true) => found.push(PendingView { name, view, changed, busy }),
                    Err(e) => unread.push(format!("`{}`: {e}", place.display())),
                }
            }
        }
        found.sort_by_key(|w| std::cmp::Reverse(w.changed));
        (found, unread)
    }

    /// Views of this directory in which a discard can be restored, or whose discards are not known. Fails where the
    /// directory of views cannot be listed.
    pub fn discarded(&self) -> Result<Vec<View>, DamagedRecord> {
        self.discarded_where(&|_, dir| dir == self.cwd())
    }

    /// The same for views whose name begins with `prefix`, of this directory and of directories that do not exist.
    pub fn discarded_of(&self, prefix: &str) -> Result<Vec<View>, DamagedRecord> {
        self.discarded_where(&|view, dir| is_named(view, prefix) && (dir == self.cwd() || !dir.exists()))
    }

    fn discarded_where(&self, is_meant: &dyn Fn(&Path, &Path) -> bool) -> Result<Vec<View>, DamagedRecord> {
        let (views, unread) = views_in(&self.views_places());
        if let Some(damage) = unread.into_iter().next() {
            return Err(damage);
        }
        let here = views.iter().filter_map(|place| {
            let roots = roots_of(place).ok()?;
            let dir = roots.first().filter(|dir| is_meant(place, dir))?;
            let name = place.file_name().unwrap_or_default().to_string_lossy();
            let view = View::at(self.places_in(&name, dir), &roots);
            Some(std::iter::once(view).chain(self.home_changes_of(&name)))
        });
        Ok(here.flatten().filter(|view| !matches!(view.last_discard(), Ok(None))).collect())
    }

    /// Whether the view of this name has pending changes, in any directory. An unreadable view counts as pending.
    pub fn is_pending(&self, name: &str) -> bool {
        self.views_places().into_iter().any(|views| {
            let places = ViewPaths { view: views.join(name), ..self.places(name) };
            keeps_pending(&places.view)
                && roots_of(&places.view).ok().is_none_or(|roots| {
                    View::at(places, &roots).has_changes(LayerKind::Pending).unwrap_or(true)
                })
        })
    }

    /// How many files have pending changes in each view of any directory, by the name of its session. What cannot be read is left
    /// out here: [`App::is_pending`] counts it.
    pub fn pending_counts(&self) -> HashMap<String, usize> {
        let mut out = HashMap::new();
        for place in views_in(&self.views_places()).0 {
            let Some(name) = place.file_name().map(|name| name.to_string_lossy().into_owned()) else {
                continue;
            };
            if !keeps_pending(&place) {
                continue;
            }
            let Ok(roots) = roots_of(&place) else { continue };
            let view = self.guarded(View::at(ViewPaths { view: place, ..self.places(&name) }, &roots));
            if let Ok(count) = view.pending_count()
                && count.total() > 0
            {
                out.insert(name, count.total());
            }
        }
        out
    }

    /// What pending changes need, in any directory: pruning must leave it.
    pub fn needed(&self) -> PruneRoots {
        self.sweep().needed()
    }

    /// The directories that hold the views of all workspaces: a state directory inside of a workspace has its views
    /// elsewhere.
    pub(super) fn views_places(&self) -> Vec<PathBuf> {
        views_places(&self.paths.state)
    }

    /// Finishes what a crash left of an apply or an undo in this directory. `None` when there was nothing.
    pub fn recover(&self) -> Option<Result<RecoveryReport, std::io::Error>> {
        let view = self.view("recovery");
        let recovered = recover(view.journal(), view.objects());
        view.journal().log_unlogged(|entry, name| self.gate.log_recovered(entry, name).is_ok());
        match recovered {
            Ok(recovered) if recovered.is_empty() => None,
            // Reported by `App::damage_at_start`.
            Err(_) if view.journal().unlisted().is_some() => None,
            other => Some(other),
        }
    }

    pub(super) fn brake(&self) -> LossLimit {
        let guard = &self.config.settings().guard;
        LossLimit { files: guard.brake_files, bytes: guard.brake_bytes }
    }

    /// The limits of what is stored for undo.
    pub fn keep(&self) -> PruneLimits {
        let settings = &self.config.settings().storage;
        PruneLimits {
            max_bytes: settings.journal_max_mb << 20,
            max_age: Duration::from_secs(settings.journal_max_days * 24 * 3600),
        }
    }

    /// The directories that hold the journals of all workspaces, and the contents they name.
    pub fn journals(&self) -> (PathBuf, PathBuf) {
        (self.paths.state.join("journal"), self.paths.state.join("objects"))
    }

    /// What this machine offers for confining commands, tried out once.
    pub fn backend(&self) -> (SandboxBackend, String) {
        let probe = self.probe();
        (probe.backend, probe.sentence)
    }

    /// What running `command` would access, as `run_command` would run it here.
    pub fn command_access(&self, command: String) -> Access {
        let (backend, _) = (self.confining(&self.view("probe")).backend)();
        let confined = backend == SandboxBackend::Overlay;
        Access::Run { command, cwd: self.cwd().to_path_buf(), confined }
    }

    /// The same with all results of the probe.
    pub fn probe(&self) -> SandboxProbe {
        let (supervisor, record) = (self.request.supervisor(), self.probe_record());
        tried(&self.view("probe"), |dirs| recorded_probe(&supervisor, dirs, &record))
    }

    /// The same, tried again whatever is recorded.
    pub fn probe_again(&self) -> SandboxProbe {
        let (supervisor, record) = (self.request.supervisor(), self.probe_record());
        tried(&self.view("probe"), |dirs| probe_again(&supervisor, dirs, &record))
    }

    /// Settles where the layers of `view` are, before anything is looked for in them.
    pub fn settle_layers(&self, view: &View) {
        let (supervisor, record) = (self.request.supervisor(), self.probe_record());
        tried(view, |dirs| recorded_probe(&supervisor, dirs, &record));
    }

    /// No command sees the state directory.
    fn probe_record(&self) -> PathBuf {
        self.paths.state.join("sandbox.json")
    }

    /// The directories that hold the views of all workspaces, and the layers of their commands.
    pub fn view_places(&self) -> Vec<PathBuf> {
        let places = self.places("x");
        let views = places.view.parent().map(Path::to_path_buf).into_iter();
        let mut all: Vec<PathBuf> = views.chain(places.layers).collect();
        all.dedup();
        all
    }

    pub(super) fn confining(&self, view: &View) -> CommandSandbox {
        self.confining_for(view, &ProgramAccess::default())
    }

    /// The same for a program of the person's own, with what it may see in addition.
    pub(super) fn confining_for(&self, view: &View, access: &ProgramAccess) -> CommandSandbox {
        let settings = &self.config.settings().sandbox;
        let set = |number: u64| Some(number).filter(|n| *n > 0);
        let limits = ResourceLimits {
            memory: set(settings.memory_mb).map(|mb| mb << 20),
            processes: set(settings.processes),
            ..ResourceLimits::default()
        };
        let home = self.workspace.home().and_then(|home| std::fs::canonicalize(home).ok());
        let mut masked: Vec<PathBuf> = settings.mask.iter().map(|text| self.expanded(text)).collect();
        let mixed = home.as_deref().map_or_else(Vec::new, |home| self.mixed_files(home, access));
        let mut credentials = self.credential_files(home.as_deref());
        credentials.retain(|file| !access.unmasks(file));
        let is_credential_file = |file: &PathBuf| credentials.contains(file);
        let mixed: Vec<MixedSettings> = mixed
            .into_iter()
            .map(|path| MixedSettings { is_credential_file: is_credential_file(&path), path })
            .collect();
        let is_hidden = |file: &PathBuf| !mixed.iter().any(|copied| copied.path == *file);
        masked.extend(credentials.into_iter().filter(is_hidden));
        masked.extend([self.paths.keys_file(), self.paths.state.clone()]);
        masked.extend(settings_masks(&self.paths.config));
        let (view, sweep, supervisor) = (view.clone(), self.sweep(), self.request.supervisor());
        let record = self.probe_record();
        let snapshot = settings.backend == BackendSetting::Snapshot;
        CommandSandbox {
            probe_record: Some(record.clone()),
            backend: Box::new(move || {
                // Once, before the first command: removes what no view needs any more.
                static SWEPT: std::sync::Once = std::sync::Once::new();
                SWEPT.call_once(|| sweep.prune());
                let probe = tried(&view, |dirs| recorded_probe(&supervisor, dirs, &record));
                match probe.backend {
                    SandboxBackend::Overlay if snapshot && probe.landlock_abi.is_some() => {
                        (SandboxBackend::Landlock, "the settings ask for snapshots".into())
                    }
                    backend => (backend, probe.sentence),
                }
            }),
            home,
            masked,
            mixed,
            writable: settings
                .passthrough
                .iter()
                .map(|text| self.cwd().join(text))
                .chain(devices::matching(settings.devices.iter()))
                .collect(),
            readable: access.readable.clone(),
            limits,
            most_tmp: set(settings.tmp_mb).map(|mb| mb << 20),
            keep_env: settings.keep_env.iter().map(String::from).chain(access.variables.clone()).collect(),
            withheld: WithheldReport::default(),
            hints: SaidHints::default(),
            asks_for_signatures: settings.sign == SignSetting::Ask,
            hosts: settings.hosts.to_vec(),
            private_hosts: self.config.settings().network.private_hosts.to_vec(),
        }
    }

    /// Credential files that no command sees: those of the table, without the files that the person allows. A directory
    /// in which the person works is not hidden from the commands.
    fn credential_files(&self, home: Option<&Path>) -> Vec<PathBuf> {
        let kept: Vec<PathBuf> =
            self.config.settings().sandbox.keep_files.iter().map(|text| self.expanded(text)).collect();
        let roots = self.workspace.roots();
        let mut files = crate::text::secret::credential_files(home, &|name| std::env::var_os(name));
        files.retain(|file| !roots.iter().any(|root| root.starts_with(file)) && !kept.contains(file));
        files
    }

    /// Files that commands see without their secrets. A file that the person shows or hides whole is not among them.
    fn mixed_files(&self, home: &Path, access: &ProgramAccess) -> Vec<PathBuf> {
        let settings = &self.config.settings().sandbox;
        let own: Vec<PathBuf> =
            settings.keep_files.iter().chain(settings.mask.iter()).map(|text| self.expanded(text)).collect();
        let is_ours = |file: &PathBuf| !own.contains(file) && !access.unmasks(file);
        crate::text::secret::mixed_files(home).filter(is_ours).collect()
    }

    fn sweep(&self) -> JournalCleanup {
        let (journals, objects) = self.journals();
        JournalCleanup { views: self.views_places(), journals, objects, keep: self.keep() }
    }

    fn expanded(&self, text: &str) -> PathBuf {
        match (text.strip_prefix("~/"), self.workspace.home()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => self.cwd().join(text),
        }
    }
}

/// What keeps the journal within its bounds.
pub(super) struct JournalCleanup {
    pub(super) views: Vec<PathBuf>,
    journals: PathBuf,
    objects: PathBuf,
    keep: PruneLimits,
}

impl JournalCleanup {
    /// Once a day the journal is cut to what the settings keep, at the same time as everything else.
    fn prune(&self) {
        let mark = self.journals.with_extension("pruned");
        let age = std::fs::metadata(&mark).and_then(|m| m.modified()).ok().and_then(|at| at.elapsed().ok());
        if !self.journals.is_dir() || age.is_some_and(|age| age < Duration::from_secs(24 * 3600)) {
            return;
        }
        // Marked before the work, so that a failed attempt is repeated once a day and not with every
        // command.
        drop(crate::private::write_quick(&mark, b""));
        let (journals, objects, keep) =
            (self.journals.clone(), ObjectStore::new(self.objects.clone()), self.keep);
        let needed = self.needed();
        let work = move || match prune(&journals, &objects, keep, &needed) {
            Ok(pruned) => {
                for damage in pruned.stopped_by {
                    tracing::warn!("the journal was not pruned: {damage}");
                }
            }
            Err(e) => tracing::warn!("the journal was not pruned: {e}"),
        };
        if let Err(e) = std::thread::Builder::new().name("prune".into()).spawn(work) {
            tracing::warn!("the journal was not pruned: no thread can be started: {e}");
        }
    }
}

/// What hides placet's settings from commands. The scripts of the person's own skills are there as well, and commands run
/// them: with a directory `skills`, each other entry is hidden by itself.
fn settings_masks(config: &Path) -> Vec<PathBuf> {
    const SKILLS: &str = "skills";
    let entries = std::fs::read_dir(config).ok().filter(|_| config.join(SKILLS).is_dir());
    let Some(entries) = entries else { return vec![config.to_path_buf()] };
    let mut masks: Vec<PathBuf> = Vec::new();
    for entry in entries {
        match entry {
            Ok(entry) if entry.file_name() == SKILLS => {}
            Ok(entry) => masks.push(entry.path()),
            // What cannot be listed cannot be hidden by itself.
            Err(_) => return vec![config.to_path_buf()],
        }
    }
    masks
}

/// True while another process holds this lock.
pub(super) fn is_locked(path: &Path) -> bool {
    // Shared: two processes that ask at the same time must not see each other as busy.
    let how = rustix::fs::FlockOperation::NonBlockingLockShared;
    regular_file::open(path).is_ok_and(|lock| rustix::fs::flock(&lock, how).is_err())
}

fn tried(view: &View, probe: impl FnOnce(&[PathBuf]) -> SandboxProbe) -> SandboxProbe {
    for dir in view.layer_places() {
        // A directory that cannot be made is left out of the trial below.
        drop(std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir));
    }
    let places: Vec<PathBuf> = view.layer_places().iter().filter(|dir| dir.is_dir()).cloned().collect();
    let probe = probe(&places);
    if let Some(dir) = &probe.layers {
        view.set_layers_dir(dir.clone());
    }
    probe
}
