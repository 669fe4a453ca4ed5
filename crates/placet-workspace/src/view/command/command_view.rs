//! A command's place in the view: a layer of its own over what it sees, folded when it has ended.

use super::collect::{CommandEffects, EffectsCollector};
pub(in crate::view) use super::command_dir::CommandDir;
pub use super::command_dir::OverlayMount;
use super::command_dir::{SpareDir, UsedLayer, make, private};
use super::run_clock::RunStart;
use crate::changes::change_count::ChangeCount;
use crate::changes::change_set::FileChange;
use crate::history::origin::ChangeOrigin;
use crate::view::git::RepositoriesAtStart;
use crate::view::jobs::background::LayerSnapshot;
use crate::view::jobs::job_record::{CollectionRecord, JobRecord};
use crate::view::layers::layer::{self, Layer, dir_flags, remove_dir_all};
use crate::view::layers::removal::ENDED;
use crate::view::{LayerKind, View};
use rustix::fs::{FlockOperation, Mode};
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::OwnedMutexGuard;

/// What a command sees. Dropping it without [`View::finish`] discards the command's changes.
#[derive(Debug)]
pub struct CommandView {
    /// The home directory first, when it has a layer; then one for each root.
    pub mounts: Vec<OverlayMount>,
    /// How many of them are the home directory's.
    homes: usize,
    dir: CommandDir,
    /// The layers as they were made, of a command whose directory may be used again.
    made: Vec<UsedLayer>,
    pub(in crate::view) shelf: LayerKind,
    /// The home directory's part, separate from what can be applied.
    pub(in crate::view) home: Option<(View, Box<CommandView>)>,
    pub(in crate::view) since: RunStart,
    repositories: RepositoriesAtStart,
    by: Option<Arc<ChangeOrigin>>,
    /// What a background command sees: others run at the same time.
    pub(in crate::view) frozen: Option<LayerSnapshot>,
    /// Commands in the foreground prevent others from starting.
    pub(in crate::view) gate: Option<OwnedMutexGuard<()>>,
}

/// Whether others may change the view while the command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ViewSharing {
    Nobody,
    Others,
}

impl CommandView {
    /// The same, with the call that runs the command: the effects are attributed to the call.
    #[must_use]
    pub fn made_by(mut self, origin: Option<Arc<ChangeOrigin>>) -> CommandView {
        if let Some((_, home)) = &mut self.home {
            home.by.clone_from(&origin);
        }
        self.by = origin;
        self
    }

    /// Discards what the command wrote. From now on nothing of it counts, and it is removed in the background: that may
    /// take longer than a person waits.
    pub fn discard(mut self) {
        if let Some((_, home)) = self.home.take() {
            home.discard();
        }
        self.dir = self.dir.removed_later();
    }

    /// The layers of a command whose placet was killed.
    pub(in crate::view) fn taken_over(
        (mounts, dir): (Vec<OverlayMount>, CommandDir),
        since: (i64, i64),
        origin: ChangeOrigin,
    ) -> CommandView {
        CommandView {
            mounts,
            homes: 0,
            dir,
            made: Vec::new(),
            shelf: LayerKind::Pending,
            home: None,
            since: RunStart::recorded(since),
            repositories: RepositoriesAtStart::not_copied(RunStart::recorded(since)),
            by: Some(Arc::new(origin)),
            frozen: None,
            gate: None,
        }
    }

    /// For a start after this process was killed. A command in the foreground has no record, and one whose changes are
    /// discarded in any case.
    pub(in crate::view) fn write_job_record(&self) -> io::Result<()> {
        let (Some(copies), LayerKind::Pending) = (&self.frozen, self.shelf) else { return Ok(()) };
        let name = copies.dir.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let staged = copies.staged.to_string_lossy().into_owned();
        JobRecord { copies: name, at: copies.at, since: self.since.time, staged }.write(self.dir.path())
    }

    /// The same for a command in the foreground that has ended and left something.
    fn write_collection_record(&self) -> io::Result<()> {
        let has_entries = |mount: &OverlayMount| {
            std::fs::read_dir(&mount.upper).is_ok_and(|mut entries| entries.next().is_some())
        };
        if self.frozen.is_some()
            || self.shelf != LayerKind::Pending
            || !self.own_mounts().iter().any(has_entries)
        {
            return Ok(());
        }
        CollectionRecord { since: self.since.time }.write(self.dir.path())
    }

    /// Where the changes to the home directory are while the command runs, if it has a layer.
    pub fn home_layer(&self) -> Option<&Path> {
        self.mounts.get(..self.homes)?.first().map(|mount| mount.upper.as_path())
    }

    /// The mounts of the roots, without the home directory's.
    pub(in crate::view) fn own_mounts(&self) -> &[OverlayMount] {
        self.mounts.get(self.homes..).unwrap_or_default()
    }
}

/// While it exists, no command starts, and no command that has ended puts its effects here: what is pending stays what it
/// is for everybody but the holder.
#[derive(Debug)]
pub struct CommandsHeld {
    _gate: OwnedMutexGuard<()>,
}

/// A file of the view that says that nobody is asked about the home directory.
const NOT_ASKED: &str = "home-not-asked";

impl View {
    /// Prepares a layer for one command whose effects go to `shelf`, after the command before it has ended. `home` gets
    /// a layer of its own, which exists as long as this view and is never applied.
    pub async fn begin(&self, shelf: LayerKind, home: Option<&Path>) -> io::Result<CommandView> {
        self.begin_in(shelf, home, ViewSharing::Nobody).await
    }

    /// The same for a command in the background: others run at the same time, and it sees the view as it was
    /// when it began. [`View::finish_background`] ends it.
    pub async fn begin_background(&self, shelf: LayerKind, home: Option<&Path>) -> io::Result<CommandView> {
        self.begin_in(shelf, home, ViewSharing::Others).await
    }

    /// Waits until no command of this view runs in the foreground.
    pub async fn lock_commands(&self) -> CommandsHeld {
        CommandsHeld { _gate: self.0.commands.gate.clone().lock_owned().await }
    }

    /// The same for a thread that may block.
    pub fn block_commands(&self) -> CommandsHeld {
        CommandsHeld { _gate: self.0.commands.gate.clone().blocking_lock_owned() }
    }

    async fn begin_in(
        &self,
        shelf: LayerKind,
        home: Option<&Path>,
        company: ViewSharing,
    ) -> io::Result<CommandView> {
        let gate = self.0.commands.gate.clone().lock_owned().await;
        if shelf == LayerKind::Pending {
            self.drop_scratch()?;
        }
        self.claim()?;
        let base = self.layers_dir();
        private(&base)?;
        sweep_runs(&base);
        let mut mounts = Vec::new();
        let below_root = |home: &Path| self.roots().iter().any(|root| home.starts_with(root));
        let home = match home.filter(|h| h.parent().is_some() && h.is_dir() && !below_root(h)) {
            None => None,
            Some(home) => {
                let view = self.home_changes(home);
                let command = Box::pin(view.begin_in(LayerKind::Pending, None, company)).await?;
                mounts.extend(command.mounts.iter().cloned());
                Some((view, Box::new(command)))
            }
        };
        let homes = mounts.len();
        let depth = if shelf == LayerKind::Scratch { 0 } else { 1 };
        let frozen = match company {
            ViewSharing::Nobody => None,
            ViewSharing::Others => {
                // Where the layers themselves are: a copy of them may be large, and the other place may be memory.
                private(self.dir())?;
                // There it is the same directory as above, or one that was not swept.
                if self.dir() != base {
                    sweep_runs(self.dir());
                }
                Some(self.snapshot_layers(depth, CommandDir::make(self.dir())?)?)
            }
        };
        let since = RunStart::now(self.root(0));
        let repositories = self.repositories_at_start(shelf, since);
        let mut wanted = Vec::new();
        for (index, root) in self.roots().iter().enumerate() {
            let mut lowers: Vec<PathBuf> = match &frozen {
                Some(frozen) => {
                    frozen.roots.get(index).into_iter().flatten().map(|l| l.dir().to_path_buf()).collect()
                }
                None => {
                    let layers = self.stack(index, depth).layers.into_iter().filter(|l| !l.is_blank());
                    layers.map(|l: &Layer| l.dir().to_path_buf()).collect()
                }
            };
            lowers.push(root.clone());
            wanted.push((root.clone(), lowers));
        }
        let is_for_one = self.0.commands.is_for_one.load(Ordering::Relaxed);
        let spare = match company {
            ViewSharing::Others => None,
            ViewSharing::Nobody if is_for_one => SpareDir::left_in(&base),
            ViewSharing::Nobody => self.spare_dir().take(),
        };
        let (dir, own, made) = match spare.and_then(|spare| spare.reuse(&wanted)) {
            Some(spare) => spare,
            None => {
                let dir = CommandDir::make(&base)?;
                let mut own = Vec::new();
                for (index, (root, lowers)) in wanted.into_iter().enumerate() {
                    own.push(make(&root, lowers, &dir.path().join(index.to_string()))?);
                }
                let made: Option<Vec<UsedLayer>> = own.iter().map(UsedLayer::of).collect();
                let dir = if is_for_one { dir.removed_later() } else { dir };
                (dir, own, made.unwrap_or_default())
            }
        };
        mounts.extend(own);
        let gate = (company == ViewSharing::Nobody).then_some(gate);
        let by = None;
        let command =
            CommandView { mounts, homes, dir, made, shelf, home, since, repositories, by, frozen, gate };
        command.write_job_record()?;
        Ok(command)
    }

    /// One command runs in this process, as in `placet run`: a directory in which it wrote nothing is left for the next
    /// process, and any other is removed in the background ([`wait_for_removals`](crate::view::wait_for_removals)).
    pub fn expect_one_command(&self, home: Option<&Path>) {
        self.0.commands.is_for_one.store(true, Ordering::Relaxed);
        if let Some(home) = home {
            self.home_changes(home).0.commands.is_for_one.store(true, Ordering::Relaxed);
        }
    }

    fn spare_dir(&self) -> std::sync::MutexGuard<'_, Option<SpareDir>> {
        self.0.commands.spare.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Folds what the command did; it and everything it started must be dead.
    pub fn finish(&self, command: CommandView, hidden: &dyn Fn(&Path) -> bool) -> io::Result<CommandEffects> {
        Ok(self.finish_held(command, hidden)?.0)
    }

    /// The same for a caller that applies the effects: nobody else changes what is pending in between.
    pub fn finish_held(
        &self,
        mut command: CommandView,
        hidden: &dyn Fn(&Path) -> bool,
    ) -> io::Result<(CommandEffects, CommandsHeld)> {
        let gate = command.gate.take();
        let held = gate.map_or_else(|| self.block_commands(), |gate| CommandsHeld { _gate: gate });
        if let Err(e) = command.write_collection_record() {
            // It is for a kill in the next moments. Without it the changes are still collected.
            tracing::warn!("a kill would lose what the command changed: {e}");
        }
        let mut home = 0;
        if let Some((view, command)) = command.home.take() {
            home = view.finish(*command, hidden)?.paths.len();
        }
        let folded = self.fold(&command, hidden);
        let effects = folded.map_err(|e| self.collect_failed(&mut command, e))?;
        if effects.is_empty() && command.frozen.is_none() && !command.made.is_empty() {
            let spare = SpareDir::of(command.dir, command.made);
            match self.0.commands.is_for_one.load(Ordering::Relaxed) {
                true => spare.into_iter().for_each(SpareDir::leave),
                false => *self.spare_dir() = spare,
            }
        }
        if command.shelf == LayerKind::Pending {
            self.update_jobs(effects.paths.iter().map(|path| &**path));
        }
        let renamed = self.renamed_by(&effects, command.shelf);
        Ok((CommandEffects { home, renamed, ..effects }, held))
    }

    /// What a command did could not be read, or only in part: its layer stays, and the turn reports it to the person.
    pub(in crate::view) fn collect_failed(&self, command: &mut CommandView, error: io::Error) -> io::Error {
        let aside = match command.dir.keep() {
            Ok(path) => format!("the rest of it is in `{}`", path.display()),
            Err(e) => format!("it could not be stored: {e}"),
        };
        let words = format!("{error}; {aside}");
        if command.shelf == LayerKind::Pending {
            let mut turn = self.turn();
            turn.held = true;
            turn.unread.push(format!("a command's changes could not be read or stored: {words}"));
        }
        io::Error::new(error.kind(), words)
    }

    pub(in crate::view) fn fold(
        &self,
        command: &CommandView,
        hidden: &dyn Fn(&Path) -> bool,
    ) -> io::Result<CommandEffects> {
        // All of them before anything is taken from one: what cannot be read is found here.
        let uppers: io::Result<Vec<OwnedFd>> =
            command.own_mounts().iter().map(|mount| layer::open_readable(&mount.upper)).collect();
        let none = |e: io::Error| io::Error::new(e.kind(), format!("none of it is pending: {e}"));
        let mut foldings = Vec::new();
        for (index, upper) in uppers.map_err(none)?.into_iter().enumerate() {
            let mut folding = EffectsCollector {
                view: self,
                held: self.layer_set(command.shelf),
                index,
                period: command.since.period(self.root(index)),
                hidden,
                effects: CommandEffects::default(),
                by: command.by.clone().filter(|_| command.shelf == LayerKind::Pending),
                seen: HashMap::new(),
                nodes: HashMap::new(),
            };
            let now = folding.now().open_dir(Path::new("")).map_err(none)?;
            folding.check(Path::new(""), &upper, now).map_err(none)?;
            foldings.push((folding, upper));
        }
        let part = |e: io::Error| io::Error::new(e.kind(), format!("a part of it may be pending: {e}"));
        let mut effects = CommandEffects::default();
        for (mut folding, upper) in foldings {
            folding.effects = effects;
            folding.run(&upper).map_err(part)?;
            effects = folding.effects;
        }
        self.record_repository_bases(command.shelf, &effects, &command.repositories)?;
        if command.shelf == LayerKind::Pending && !effects.is_empty() {
            self.turn().held = true;
        }
        Ok(effects)
    }

    /// Whether what the command leaves in the home directory is for a person to decide about, also after placet was killed.
    /// Claims the view.
    pub fn ask_about_home(&self, asks: bool) -> io::Result<()> {
        self.claim()?;
        let mark = self.dir().join(NOT_ASKED);
        match asks {
            false => std::fs::write(mark, ""),
            true => match std::fs::remove_file(mark) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
                _ => Ok(()),
            },
        }
    }

    /// False for the directory of a view of which nobody is asked about the home directory: what is there is never applied.
    pub fn asks_about_home(dir: &Path) -> bool {
        !dir.join(NOT_ASKED).exists()
    }

    /// What commands leave in the home directory: later commands see it, and it is applied only where `placet run` asks
    /// about it. It is outside of the home directory.
    pub fn home_changes(&self, home: &Path) -> View {
        let make = || {
            let base = self.layers_dir();
            let places = crate::view::ViewPaths {
                view: base.join("home"),
                layers: vec![base],
                ..self.0.places.clone()
            };
            View::at(places, &[home.to_path_buf()])
        };
        self.0.home.get_or_init(make).clone()
    }

    /// Takes over what a command left whose placet was killed before it could collect the changes: they become pending.
    /// Call it before another command begins, which removes these layers, and before something is applied or undone: what
    /// changes in the workspace after the command ended counts as changed by others. Returns how many paths there are.
    pub fn take_over_killed(
        &self,
        home: Option<&Path>,
        hidden: &dyn Fn(&Path) -> bool,
    ) -> io::Result<ChangeCount> {
        let base = self.layers_dir();
        let mut count = self.take_over_runs(&base, hidden)?;
        if let Some(home) = home.filter(|_| base.join("home").is_dir()) {
            let view = self.home_changes(home);
            count += view.take_over_runs(&view.layers_dir(), hidden)?;
        }
        Ok(count)
    }

    fn take_over_runs(&self, base: &Path, hidden: &dyn Fn(&Path) -> bool) -> io::Result<ChangeCount> {
        let left = left_runs(base);
        if left.is_empty() {
            return Ok(ChangeCount::default());
        }
        self.claim()?;
        let mut paths = BTreeSet::new();
        for (dir, since) in left {
            let origin = ChangeOrigin::new(&self.label(), "", "placet run", "an interrupted run");
            paths.extend(self.take_over_layers(dir, since, origin, hidden)?);
        }
        let set = self.changes(LayerKind::Pending)?;
        Ok(set.count_of(&self.renamed(&set), |change| paths.contains(&change.path)))
    }

    /// Collects what is in the layers of a killed command. Returns the paths.
    pub(in crate::view) fn take_over_layers(
        &self,
        dir: CommandDir,
        since: (i64, i64),
        origin: ChangeOrigin,
        hidden: &dyn Fn(&Path) -> bool,
    ) -> io::Result<BTreeSet<Arc<Path>>> {
        let Some(mounts) = self.left_mounts(&dir) else { return Ok(BTreeSet::new()) };
        let mut command = CommandView::taken_over((mounts, dir), since, origin);
        let folded = self.fold(&command, hidden);
        let effects = folded.map_err(|e| self.collect_failed(&mut command, e))?;
        // What came to the view before the kill is looked at as well: the place of a repository may be among it.
        let set = self.changes(LayerKind::Pending)?;
        let with_parent = |change: &FileChange| {
            let parent = change.path.parent().map(Arc::from);
            parent.into_iter().chain([Arc::clone(&change.path)])
        };
        let places = set.changes.iter().flat_map(with_parent);
        let all = CommandEffects { places: places.collect(), ..CommandEffects::default() };
        self.record_repository_bases(LayerKind::Pending, &all, &command.repositories)?;
        Ok(effects.paths)
    }

    /// The layers in the directory of a killed command. `None` if it was killed while they were made.
    pub(in crate::view) fn left_mounts(&self, dir: &CommandDir) -> Option<Vec<OverlayMount>> {
        let mount = |(index, root): (usize, &PathBuf)| {
            let upper = dir.path().join(index.to_string()).join("upper");
            let work = upper.with_file_name("work");
            let mount = OverlayMount { target: root.clone(), lowers: Vec::new(), upper, work };
            mount.upper.is_dir().then_some(mount)
        };
        self.roots().iter().enumerate().map(mount).collect()
    }

    /// Where this view's commands have their layers: in the place that a trial found, and before a trial where an earlier
    /// process had them.
    pub(in crate::view) fn layers_dir(&self) -> PathBuf {
        let Some(name) = self.dir().file_name() else { return self.dir().to_path_buf() };
        let places = &self.0.places.layers;
        let used = || places.iter().find(|place| place.join(name).is_dir());
        let place = self.0.commands.layers.get().or_else(used).or(places.first());
        place.map_or_else(|| self.dir().to_path_buf(), |place| place.join(name))
    }
}

/// Discards layers that a killed process left: their command never ended, or its changes were collected, and the lock of
/// the layers ended with that process.
pub(in crate::view) fn sweep_runs(base: &Path) {
    for entry in std::fs::read_dir(base).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !name.starts_with("run-") && !name.starts_with(ENDED) {
            continue;
        }
        let Ok(dir) = rustix::fs::open(entry.path(), dir_flags(), Mode::empty()) else { continue };
        if rustix::fs::flock(&dir, FlockOperation::NonBlockingLockExclusive).is_ok() {
            drop(remove_dir_all(&entry.path()));
        }
    }
}

/// The layers that a killed process left, with the time at which their command began.
fn left_runs(base: &Path) -> Vec<(CommandDir, (i64, i64))> {
    use std::os::unix::fs::MetadataExt;
    let mut found = Vec::new();
    for entry in std::fs::read_dir(base).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with("run-") {
            continue;
        }
        // Its mounts are made in it last, and after that nothing changes its time.
        let Ok(meta) = entry.metadata() else { continue };
        if let Some(dir) = CommandDir::take_over(entry.path()) {
            found.push((dir, (meta.mtime(), meta.mtime_nsec())));
        }
    }
    found
}
