//! The view: the workspace with the pending changes on top.
//!
//! Changes are in layers: in `pending` until a person applies or discards them, and above it in `scratch`, which read
//! mode discards when the turn ends. File tools and commands see the same merged tree; none of the changes is in the
//! workspace before it is applied.

mod batch;
mod checking;
mod command;
mod decision;
mod git;
mod jobs;
mod layers;
mod reading;
mod running;
mod stage;
mod undoing;
mod view_parts;

pub use checking::check_view::{CheckView, CheckViewError};
pub use command::collect::CommandEffects;
pub use command::command_view::{CommandView, CommandsHeld, OverlayMount};
pub use decision::apply::{ApplyOutcome, ChangeSelection, SelectedPart, repository_of};
pub use decision::conflicts::FoundConflicts;
pub use decision::decide::{ChangeDecision, MovedCause, MovedChanges};
pub use decision::decision_report::{
    DecisionReport, DiscardedChanges, LeftPending, WRITTEN_IN_PLACE, WaitingPath,
};
pub use decision::loss_limit::{LossLimit, PendingReason};
pub use decision::outdated::OutdatedChanges;
pub use decision::selection::ResolvedPart;
pub use decision::shown::ShownChanges;
pub use git::{GitNotConfined, GitRunnerStart};
pub use jobs::killed_jobs::TakenOverChanges;
pub use layers::directory_identity::DirectoryIdentity;
pub(super) use layers::layer::is_opaque;
pub use layers::layer::remove_dir_all;
pub(super) use layers::rebuild::{rebuild_record, rebuild_roots};
pub use layers::relocate::{is_relocated_in_part, relocate};
pub use layers::removal::{wait_for_removals, wait_for_removals_within};
pub(super) use layers::roots::write_roots;
pub use layers::roots::{
    StoredRoot, keeps_pending, pending_damage, pending_damage_at_start, roots_of, stored_roots, views_in,
};
pub(super) use layers::stack::{node_at, stat_at};
pub use reading::compare::{TakeError, ViewDifference};
pub use reading::effect_counts::EffectCounts;
pub use reading::snapshot::WorkspaceSnapshot;
pub use running::running_changes::{RunningChanges, RunningLayer};
pub use running::running_files::{RunningCounts, RunningFileError, running_patch};
pub use running::running_summary::{RunningRepository, RunningSummary};
pub use undoing::discards::{
    DiscardBackup, DiscardRecord, RestoreError, contents_needed, discard_damage_at_start,
};
pub use undoing::undo::UndoPlan;
pub use undoing::undo_gaps::{NEXT_LINES, SAME_LINES};

use super::apply::ApplyProgress;
use super::changes::change_count::ChangeCount;
use super::history::damage::DamagedRecord;
use super::history::journal::{Journal, TransactionLabel};
use super::history::log_marks::LogMarks;
use super::history::objects::ObjectStore;
use super::history::origin::{ChangeOrigin, OriginGuard, WriteContext};
use layers::base::BaseIndex;
use layers::layer::Layer;
use layers::roots::ViewRoots;
use layers::stack::{ContentLocation, LayerStack};
use placet_permission::{Permit, ProtectedPaths};
use placet_text::text::visible;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Where a view and its data are stored, all outside the workspace.
#[derive(Clone, Debug)]
pub struct ViewPaths {
    /// This view's own directory.
    pub view: PathBuf,
    /// Where a command's own layer may be: directories that commands of several views share, best first.
    pub layers: Vec<PathBuf>,
    pub objects: PathBuf,
    pub journal: PathBuf,
    /// A directory for temporary files that tools and commands share; none of it is ever applied.
    pub scratch: PathBuf,
}

/// Cheap to clone; clones share everything.
#[derive(Clone, Debug)]
pub struct View(Arc<ViewInner>);

#[derive(Debug)]
struct ViewInner {
    places: ViewPaths,
    roots: ViewRoots,
    scratch: LayerSet,
    pending: LayerSet,
    history: ViewHistory,
    commands: view_parts::ViewCommands,
    turn: Mutex<ViewTurn>,
    /// Files as a snapshot last saw them.
    stamps: Mutex<
        std::collections::HashMap<
            PathBuf,
            (reading::snapshot::FileStamp, crate::files::metadata::path_state::PathState),
        >,
    >,
    /// The home directory's own view.
    home: OnceLock<View>,
    /// Locked from the first change on: another process must not touch this view at the same time.
    claim: Mutex<Option<std::fs::File>>,
    apply: view_parts::ViewApply,
    /// What is protected here and how much may be lost unasked, if it is not the usual.
    guards: OnceLock<(ProtectedPaths, LossLimit)>,
    /// What starts git for the agent's side.
    git_runner: git::GitRunnerPlace,
    /// The repositories with pending changes, as they were last read.
    repositories: git::RepositoryMemo,
    asked: view_parts::AskedChanges,
}

/// Where what was applied is stored.
#[derive(Debug)]
struct ViewHistory {
    objects: ObjectStore,
    journal: Journal,
    log_marks: OnceLock<LogMarks>,
}

/// A set of layers, one for each root, and the state of the paths where they differ from the layers below.
#[derive(Debug)]
pub(super) struct LayerSet {
    depth: usize,
    layers: Vec<Layer>,
    record: PathBuf,
    /// Read when it is first asked for: with very many changes that takes time.
    bases: OnceLock<Mutex<BaseIndex>>,
}

impl LayerSet {
    fn at(dir: &Path, roots: usize, depth: usize) -> LayerSet {
        let layers = (0..roots).map(|n| Layer::at(dir.join(n.to_string()))).collect();
        LayerSet { depth, layers, record: dir.join("base.jsonl"), bases: OnceLock::new() }
    }

    fn bases(&self) -> MutexGuard<'_, BaseIndex> {
        let read = || Mutex::new(BaseIndex::load(self.record.clone()));
        self.bases.get_or_init(read).lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn recheck_layers(&self) {
        if self.bases.get().is_some() {
            self.bases().load_again();
        }
        self.layers.iter().for_each(Layer::recheck);
    }

    fn save(&self) -> io::Result<()> {
        self.bases().save()
    }

    /// A damaged record is not empty: the changes that it named still exist.
    fn is_empty(&self) -> bool {
        let bases = self.bases();
        bases.is_empty() && bases.damage().is_none()
    }

    fn wipe(&self) -> io::Result<()> {
        self.layers.iter().try_for_each(Layer::wipe)?;
        self.bases().wipe()
    }
}

/// The current turn: for the journal and the loss limit.
#[derive(Clone, Debug, Default)]
pub struct ViewTurn {
    pub label: TransactionLabel,
    /// Contents it made, by hash.
    made: std::collections::BTreeSet<String>,
    /// Files and bytes of others it has taken away.
    lost: (usize, u64),
    /// Something was put into the pending layers.
    pub held: bool,
    /// Why the loss limit stopped a change.
    pub braked: Vec<String>,
    /// Why what a command did is not all that it was to do: it could not be read, or the command was killed.
    pub unread: Vec<String>,
    /// Changes of read mode that were discarded.
    pub dropped: ChangeCount,
}

/// The two kinds of layers: changes that wait for the person, and changes that read mode discards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerKind {
    Pending,
    Scratch,
}

impl View {
    /// The view stored at `places`, or a new view. Where the view holds changes, its first roots are those of the changes,
    /// whatever `roots` are. Writes nothing to disk before a change becomes pending.
    pub fn at(places: ViewPaths, roots: &[PathBuf]) -> View {
        // Layers are opened without following links, so the way to them must have none.
        let view = crate::files::opening::resolve::own_without_links(&places.view);
        let roots = ViewRoots::of(&view, roots);
        let scratch = crate::files::opening::resolve::own_without_links(&places.scratch);
        let places = ViewPaths { view, scratch, ..places };
        View(Arc::new(ViewInner {
            scratch: LayerSet::at(&places.view.join("scratch"), roots.roots.len(), 0),
            pending: LayerSet::at(&places.view.join("pending"), roots.roots.len(), 1),
            history: ViewHistory {
                objects: ObjectStore::new(crate::files::opening::resolve::own_without_links(&places.objects)),
                journal: Journal::at(crate::files::opening::resolve::own_without_links(&places.journal)),
                log_marks: OnceLock::new(),
            },
            places,
            roots,
            commands: view_parts::ViewCommands::default(),
            turn: Mutex::default(),
            home: OnceLock::new(),
            stamps: Mutex::default(),
            claim: Mutex::default(),
            apply: view_parts::ViewApply::default(),
            guards: OnceLock::new(),
            git_runner: git::GitRunnerPlace::default(),
            repositories: git::RepositoryMemo::default(),
            asked: view_parts::AskedChanges::default(),
        }))
    }

    /// How far an apply or an undo is, for a front end that shows it, and that may stop it.
    pub fn apply_progress(&self) -> &ApplyProgress {
        &self.0.apply.progress
    }

    pub fn roots(&self) -> &[PathBuf] {
        &self.0.roots.roots
    }

    pub fn dir(&self) -> &Path {
        &self.0.places.view
    }

    pub fn objects(&self) -> &ObjectStore {
        &self.0.history.objects
    }

    pub fn journal(&self) -> &Journal {
        &self.0.history.journal
    }

    fn stamps(
        &self,
    ) -> MutexGuard<
        '_,
        std::collections::HashMap<
            PathBuf,
            (reading::snapshot::FileStamp, crate::files::metadata::path_state::PathState),
        >,
    > {
        self.0.stamps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new turn begins: what is applied from now on has its name.
    pub fn begin_turn(&self, label: TransactionLabel) {
        *self.turn() = ViewTurn { label, ..ViewTurn::default() };
    }

    /// A call outside of any conversation begins: undo reverts this call alone. The loss limit counts over all calls of
    /// the view: many small calls must not remove more than a turn could.
    pub fn begin_single_call(&self, number: u64, title: String) {
        let turn = format!("{}-call-{number}", self.name());
        self.turn().label = TransactionLabel { turn, title, ..TransactionLabel::default() };
    }

    /// A call begins: until the returned guard is dropped, every write with the call's permit counts as the call's
    /// change.
    pub fn enter_call(&self, call: &str, tool: &str, title: &str) -> OriginGuard {
        let label = self.label();
        self.0.commands.calls.enter(ChangeOrigin::new(&label, call, tool, title))
    }

    /// The turn's label; outside of a turn, a label with this view's name.
    pub fn label(&self) -> TransactionLabel {
        let label = self.turn().label.clone();
        if !label.turn.is_empty() {
            return label;
        }
        TransactionLabel { turn: self.name(), ..label }
    }

    fn name(&self) -> String {
        self.dir().file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Who writes with this permit.
    pub fn writer(&self, permit: &Permit) -> WriteContext {
        let origin = self.0.commands.calls.get(&permit.call().to_string());
        WriteContext { landing: permit.write_policy(), origin, assent: permit.why().into() }
    }

    pub fn turn(&self) -> MutexGuard<'_, ViewTurn> {
        self.0.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The possible places of commands' layers.
    pub fn layer_places(&self) -> &[PathBuf] {
        &self.0.places.layers
    }

    /// Sets which of them is used; only the first call counts.
    pub fn set_layers_dir(&self, dir: PathBuf) {
        drop(self.0.commands.layers.set(dir));
    }

    /// Sets what is protected here, and how much a turn may remove without a question. Only the first call counts.
    pub fn guard(&self, protected: ProtectedPaths, limit: LossLimit) {
        drop(self.0.guards.set((protected, limit)));
    }

    /// Sets that the audit log gets an entry after each apply and undo that a person decides. Only the first call counts.
    pub fn mark_decisions(&self, marks: &LogMarks) {
        drop(self.0.history.log_marks.set(marks.clone()));
    }

    fn log_marks(&self) -> Option<&LogMarks> {
        self.0.history.log_marks.get()
    }

    pub(crate) fn protected(&self) -> ProtectedPaths {
        self.0.guards.get().map_or_else(ProtectedPaths::default, |(protected, _)| protected.clone())
    }

    pub(crate) fn loss_limit(&self) -> LossLimit {
        self.0.guards.get().map_or_else(LossLimit::default, |(_, limit)| *limit)
    }

    /// Makes this view this process's own, for as long as the process lives. Nobody else changes what is pending in it
    /// meanwhile.
    pub fn claim(&self) -> io::Result<()> {
        let mut claim = self.0.claim.lock().unwrap_or_else(PoisonError::into_inner);
        if claim.is_some() {
            return Ok(());
        }
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        let dir = self.dir();
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        let lock = std::fs::OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(dir.join("lock"))?;
        match rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let holder = std::fs::read_to_string(dir.join("lock")).unwrap_or_default();
                let holder =
                    holder.trim().parse::<u32>().map_or(String::new(), |pid| format!(" (process {pid})"));
                let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
                return Err(io::Error::new(
                    io::ErrorKind::ResourceBusy,
                    format!(
                        "another placet{holder} is using the changes of {name}; apply or discard them there"
                    ),
                ));
            }
            Err(e) => return Err(e.into()),
        }
        let left = self.take_left_count(&lock)?;
        // The process that had it before may have changed what was read when this view was opened.
        self.0.scratch.recheck_layers();
        self.0.pending.recheck_layers();
        self.remember_count(left.map(|_| self.0.all_writes()), left.unwrap_or_default());
        self.check_record()?;
        layers::roots::write_roots(dir, self.roots())?;
        *claim = Some(lock);
        self.sweep_others();
        Ok(())
    }

    /// Fails when the record of pending changes is damaged: the next change would lose what the record does not name.
    fn check_record(&self) -> io::Result<()> {
        let dir = self.dir();
        if let Some((wanted, known)) = &self.0.roots.conflict {
            let (wanted, known) = (visible::path(wanted), visible::path(known));
            return Err(io::Error::other(format!(
                "`{wanted}` cannot be part of the workspace while changes in `{known}` are pending or can be restored"
            )));
        }
        let roots = || if keeps_pending(dir) { roots_of(dir).err() } else { None };
        match self.record_damage().or_else(roots) {
            Some(damage) => Err(damage.into()),
            None => Ok(()),
        }
    }

    /// What is wrong with the record of what is pending. Its last line may be cut by a crash, or with others before it.
    fn record_damage(&self) -> Option<DamagedRecord> {
        let bases = self.0.pending.bases();
        let torn = || if bases.is_torn() { bases.unrecorded(self.roots()) } else { None };
        bases.damage().or_else(torn)
    }

    /// The directory for temporary files, made at the first request: other users cannot read it. It is removed with the
    /// view, which is claimed for that reason.
    pub fn scratch(&self) -> io::Result<PathBuf> {
        use std::os::unix::fs::DirBuilderExt;
        self.claim()?;
        let dir = &self.0.places.scratch;
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        Ok(dir.clone())
    }

    /// True at and below [`View::scratch`].
    pub fn is_scratch(&self, path: &Path) -> bool {
        path.starts_with(&self.0.places.scratch)
    }

    fn layer_set(&self, shelf: LayerKind) -> &LayerSet {
        match shelf {
            LayerKind::Pending => &self.0.pending,
            LayerKind::Scratch => &self.0.scratch,
        }
    }

    /// True once after a background command has left something pending.
    pub fn take_background_pending(&self) -> bool {
        self.0.asked.late.swap(false, std::sync::atomic::Ordering::AcqRel)
    }

    /// True when nothing was ever put into these layers since they were last emptied.
    pub fn is_empty(&self, shelf: LayerKind) -> bool {
        let is_counted = || shelf == LayerKind::Pending && self.known_count().is_some();
        (self.layer_set(shelf).bases.get().is_some() || !is_counted()) && self.layer_set(shelf).is_empty()
    }

    fn root(&self, index: usize) -> &Path {
        self.roots().get(index).map_or(Path::new("/"), PathBuf::as_path)
    }

    /// The root that a path is below, and the path from there.
    fn locate(&self, path: &Path) -> Option<(usize, PathBuf)> {
        let found = |(index, root): (usize, &PathBuf)| {
            path.strip_prefix(root).ok().map(|rel| (index, rel.to_path_buf()))
        };
        self.roots().iter().enumerate().find_map(found)
    }

    /// Layers from `depth` down: 0 is everything, 1 leaves out the scratch, 2 is the workspace alone.
    fn stack(&self, index: usize, depth: usize) -> LayerStack<'_> {
        let all = [&self.0.scratch, &self.0.pending].into_iter().skip(depth);
        LayerStack { layers: all.filter_map(|held| held.layers.get(index)).collect(), root: self.root(index) }
    }

    /// The same for a path that a record names: a path that no root contains is damage, and never "nothing".
    fn locate_recorded(&self, path: &Path) -> io::Result<(usize, PathBuf)> {
        let outside = || format!("`{}` is in none of the directories of this view", visible::path(path));
        self.locate(path).ok_or_else(|| io::Error::other(outside()))
    }

    /// One layer set over the workspace.
    fn stack_of<'a>(&'a self, held: &'a LayerSet, index: usize) -> LayerStack<'a> {
        LayerStack { layers: held.layers.get(index).into_iter().collect(), root: self.root(index) }
    }

    fn is_plain(&self) -> bool {
        [&self.0.scratch, &self.0.pending].iter().all(|held| held.layers.iter().all(Layer::is_blank))
    }

    /// The path on disk of a path's content; `None` when the view has nothing there though the workspace may.
    pub fn real(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        if self.is_plain() {
            return Ok(Some(path.to_path_buf()));
        }
        match self.locate(path) {
            None => Ok(Some(path.to_path_buf())),
            Some((index, rel)) => self.stack(index, 0).real(&rel),
        }
    }

    /// The directories that make up a directory, topmost first.
    pub fn dirs(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        if !self.is_plain()
            && let Some((index, rel)) = self.locate(path)
        {
            return self.stack(index, 0).dirs(&rel);
        }
        Ok(vec![path.to_path_buf()])
    }

    /// True when something at or above this path is pending, so that a write must become pending as well.
    pub fn holds(&self, path: &Path) -> io::Result<bool> {
        if self.is_plain() {
            return Ok(false);
        }
        match self.locate(path) {
            None => Ok(false),
            Some((index, rel)) => Ok(self.stack(index, 0).backing(&rel)? != ContentLocation::Plain),
        }
    }

    /// Discards what read mode left before anything else is put above it; the turn remembers how many they were.
    pub fn drop_scratch(&self) -> io::Result<()> {
        if self.is_empty(LayerKind::Scratch) {
            return Ok(());
        }
        let set = self.changes(LayerKind::Scratch).unwrap_or_default();
        // Before the files are gone, whose texts say what was renamed.
        let dropped = self.count(&set);
        self.0.scratch.wipe()?;
        self.turn().dropped += dropped;
        Ok(())
    }
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "decision/apply_tests.rs"]
mod apply_tests;

#[cfg(test)]
#[path = "decision/way_back_tests.rs"]
mod way_back_tests;

#[cfg(test)]
#[path = "command/collect_tests.rs"]
mod collect_tests;
