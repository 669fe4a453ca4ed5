//! Undo and redo: transactions like any other, against what is on disk now.

use super::undo_gaps::{UndoAction, interrupted, why_not_merged};
use crate::Hash;
use crate::apply::{
    ApplyError, ApplyPhase, ApplyStep, ContentSource, OpenDirs, can_make, in_halves, shut_dirs,
};
use crate::files::content::sparse;
use crate::files::metadata::file_stamp::stamp_of;
use crate::files::metadata::path_state::{FileAttrs, PathState};
use crate::files::metadata::shared_state::SharedState;
use crate::history::damage::{DamageKind, DamagedRecord};
use crate::history::file_rename::FileRename;
use crate::history::journal::{AppliedChange, JournalEntry, TransactionKind, TransactionLabel};
use crate::repository::RepositorySet;
use crate::view::View;
use crate::view::git::RepositoryUndo;
use placet_text::text::sided_merge::merged;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// So many changes are planned at once, by two threads.
const BATCH: usize = 8192;
/// Contents of at most this size, and all together, are not read a second time when they are staged.
const HELD_CONTENT: u64 = 256 << 10;
const HELD_CONTENTS: u64 = 64 << 20;

/// What taking back (or putting back) would do, known before anything is done.
#[derive(Debug)]
pub struct UndoPlan {
    kind: TransactionKind,
    label: TransactionLabel,
    steps: Vec<ApplyStep>,
    git: RepositoryUndo,
    /// Files that were renamed and changed, and get their old name again; also one of which only one end changes now.
    pub renames: Vec<FileRename>,
    /// Files that changed since and were merged: the later work stays.
    pub merged: Vec<PathBuf>,
    /// What will be left as it is, each with the reason.
    pub left: Vec<(PathBuf, String)>,
    /// Sockets and devices that nothing can make again, each with the reason. They keep nothing else from being undone.
    pub lost: Vec<(PathBuf, String)>,
    /// The repositories of the plan's paths.
    pub repositories: RepositorySet,
}

impl UndoPlan {
    /// Every path it changes, with what is there now and what will be.
    pub fn paths(&self) -> impl Iterator<Item = (&Path, &PathState, &PathState)> {
        self.steps.iter().map(|s| (&*s.path, &*s.before, &*s.after))
    }

    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.git.is_empty()
    }

    /// Bytes by which each text grows or shrinks are for the caller to count: the contents it has now and will have.
    pub fn contents(&self, view: &View) -> Vec<(PathBuf, Vec<u8>, Vec<u8>)> {
        let content = |step: &ApplyStep| {
            let now = match &*step.before {
                PathState::Absent => Vec::new(),
                PathState::File { .. } => sparse::read_small_at(&step.path).ok()?,
                _ => return None,
            };
            let then = match (&*step.after, &step.source) {
                (PathState::Absent, _) => Vec::new(),
                (PathState::File { hash, .. }, ContentSource::Stored(_)) => view.objects().get(*hash).ok()?,
                (PathState::File { .. }, ContentSource::Bytes(bytes)) => bytes.to_vec(),
                _ => return None,
            };
            Some((step.path.to_path_buf(), now, then))
        };
        self.steps.iter().filter_map(content).collect()
    }
}

/// Several transactions as one: what was before the first, what is after the last, in the order of the paths.
pub(in crate::view) struct ComposedChanges(Vec<AppliedChange>);

impl ComposedChanges {
    pub(in crate::view) fn of(entries: &[JournalEntry]) -> ComposedChanges {
        let mut all: Vec<AppliedChange> = match entries {
            // A map takes twice the memory of a list, and an entry may have hundreds of thousands of changes.
            [one] if one.changes.is_sorted_by(|a, b| a.path < b.path) => one.changes.clone(),
            _ => composed(entries).into_values().collect(),
        };
        all.retain(|change| change.before != change.after);
        ComposedChanges(all)
    }

    fn iter(&self) -> std::slice::Iter<'_, AppliedChange> {
        self.0.iter()
    }

    fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|change| &*change.path)
    }

    pub(in crate::view) fn into_vec(self) -> Vec<AppliedChange> {
        self.0
    }
}

fn composed(entries: &[JournalEntry]) -> BTreeMap<Arc<Path>, AppliedChange> {
    let mut all: BTreeMap<Arc<Path>, AppliedChange> = BTreeMap::new();
    for change in entries.iter().flat_map(|e| &e.changes) {
        match all.get_mut(&change.path) {
            Some(first) => {
                first.after = change.after.clone();
                first.twin = change.twin.clone();
                first.in_place |= change.in_place;
            }
            None => {
                all.insert(change.path.clone(), change.clone());
            }
        }
    }
    all
}

impl View {
    /// Plans to undo `entries`; only the changes at or below `only`, if given.
    pub fn plan_undo(
        &self,
        entries: &[JournalEntry],
        only: Option<&Path>,
        label: TransactionLabel,
    ) -> io::Result<UndoPlan> {
        let of = entries.iter().map(|e| e.id).collect();
        let kind = TransactionKind::Undo { of, part: only.map(Path::to_path_buf) };
        self.plan_back(entries, only, kind, label)
    }

    /// Plans to put back what `undo` took away.
    pub fn plan_redo(&self, undo: &JournalEntry, label: TransactionLabel) -> io::Result<UndoPlan> {
        let (of, part) = match &undo.kind {
            TransactionKind::Undo { of, part } => (of.clone(), part.clone()),
            _ => (Vec::new(), None),
        };
        self.plan_back(std::slice::from_ref(undo), None, TransactionKind::Redo { of, part }, label)
    }

    fn plan_back(
        &self,
        entries: &[JournalEntry],
        only: Option<&Path>,
        kind: TransactionKind,
        label: TransactionLabel,
    ) -> io::Result<UndoPlan> {
        let label = TransactionLabel { title: titles(entries), ..label };
        let changes = ComposedChanges::of(entries);
        let mut repositories = self.repositories_of_steps(changes.iter().map(AppliedChange::states));
        repositories.extend(entries.iter().flat_map(|e| &e.repositories).map(|r| r.path.clone()));
        let mut plan = UndoPlan {
            kind,
            label,
            steps: Vec::new(),
            git: RepositoryUndo::default(),
            renames: entries.iter().flat_map(|e| &e.renames).map(FileRename::reversed).collect(),
            merged: Vec::new(),
            left: Vec::new(),
            lost: Vec::new(),
            repositories: repositories.clone(),
        };
        plan.git = self.plan_repositories_back(entries, only, &mut plan.left)?;
        let within =
            |path: &Path| only.is_none_or(|only| entries.iter().any(|entry| entry.is_meant_by(only, path)));
        let interrupted = interrupted(entries);
        let wanted = changes.iter().enumerate().filter(|(_, change)| within(&change.path));
        let wanted: Vec<usize> = wanted.map(|(index, _)| index).collect();
        let shut = shut_dirs(changes.paths());
        let progress = self.apply_progress();
        let is_file = |at: &&usize| {
            let change = changes.0.get(**at);
            change.is_some_and(|c| c.before.counts_as_file() || c.after.counts_as_file())
        };
        progress.enter(ApplyPhase::Planning, wanted.iter().filter(is_file).count());
        let room = AtomicU64::new(HELD_CONTENTS);
        for batch in wanted.chunks(BATCH) {
            let parts = in_halves(&shut, 0..batch.len(), |part| {
                let mut dirs = OpenDirs::default();
                let chosen = batch.get(part).unwrap_or_default().iter().filter_map(|at| changes.0.get(*at));
                let action = |change: &AppliedChange| {
                    progress.step(&change.before, &change.after);
                    match interrupted.get(&change.path) {
                        Some(parts) => self.back_in_parts(parts),
                        None => self.back(change, (&mut dirs, &room)),
                    }
                };
                chosen.map(action).collect::<io::Result<Vec<UndoAction>>>()
            });
            let actions = parts.into_iter().collect::<io::Result<Vec<_>>>()?.into_iter().flatten();
            for (index, action) in batch.iter().zip(actions) {
                let Some(change) = changes.0.get(*index) else { continue };
                match action {
                    UndoAction::Nothing => {}
                    UndoAction::Step(step) => plan.steps.push(step),
                    UndoAction::Merged(step) => {
                        plan.merged.push(change.path.to_path_buf());
                        plan.steps.push(step);
                    }
                    UndoAction::Left(reason) => plan.left.push((change.path.to_path_buf(), reason)),
                    UndoAction::Lost(reason) => plan.lost.push((change.path.to_path_buf(), reason)),
                }
            }
        }
        // What stays can keep other changes from going back.
        loop {
            let before = (plan.steps.len(), plan.git.len());
            self.leave_broken_repositories(&mut plan);
            self.leave_parted_operations(&mut plan, entries, &within);
            self.leave_full_directories(&mut plan)?;
            self.leave_orphans(&mut plan);
            if before == (plan.steps.len(), plan.git.len()) {
                break;
            }
        }
        let steps = &plan.steps;
        plan.git
            .stage_outside(&|dir| steps.iter().any(|step| *step.path == *dir && !step.after.is_directory()));
        Ok(plan)
    }

    /// Finds out that a stored content is whole. What was read for it is there for the staging while there is `room`.
    fn whole_content(
        &self,
        hash: Hash,
        size: u64,
        room: &AtomicU64,
    ) -> Result<Option<Arc<Vec<u8>>>, DamagedRecord> {
        let take = |left: u64| left.checked_sub(size).filter(|_| size <= HELD_CONTENT);
        let is_held = room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
        match is_held.then(|| self.objects().get(hash).ok()).flatten() {
            Some(bytes) => Ok(Some(Arc::new(bytes))),
            None => self.objects().damage_of(hash).map_or(Ok(None), Err),
        }
    }

    fn back(
        &self,
        change: &AppliedChange,
        (dirs, room): (&mut OpenDirs, &AtomicU64),
    ) -> io::Result<UndoAction> {
        let (now, stat) = dirs.node_with_stat(&change.path)?;
        let (now, seen) = (SharedState::like(&change.after, now), stat.as_ref().map(stamp_of));
        let target = &change.before;
        if now == *target {
            return Ok(UndoAction::Nothing);
        }
        let held = match target.hash().filter(|_| !target.same_content(&now)) {
            None => None,
            Some(hash) => match self.whole_content(hash, target.size(), room) {
                Ok(held) => held,
                Err(damage) => return Ok(UndoAction::Left(damage_words(&damage))),
            },
        };
        if let PathState::Special { what, .. } = &**target
            && !can_make(what)
        {
            return Ok(UndoAction::Lost(format!("it was {what}, which cannot be restored")));
        }
        let step = |before: SharedState, after: SharedState, source: ContentSource| ApplyStep {
            path: Arc::clone(&change.path),
            before,
            after,
            source,
            // The file that this path was another name of before; for a redo, the file of which it is another name now.
            twin: change.was_twin.clone(),
            was_twin: change.twin.clone(),
            keep_names: change.in_place,
            fresh: false,
            unread: false,
            seen,
            history: Arc::default(),
        };
        let source = target.hash().map_or(ContentSource::Nothing, |_| ContentSource::Stored(held));
        if now == change.after {
            return Ok(UndoAction::Step(step(now, target.clone(), source)));
        }
        let (
            PathState::File { attrs: of_now, .. },
            PathState::File { attrs: of_after, .. },
            PathState::File { attrs: of_target, .. },
        ) = (&*now, &*change.after, &**target)
        else {
            return Ok(UndoAction::Left("it changed in the meantime, in a way that cannot be merged".into()));
        };
        let attrs = merged_attrs(of_now, of_after, of_target);
        if now.same_content(&change.after) {
            // Only its mode or owner differs: the difference stays.
            let after = with_attrs(target, attrs);
            return Ok(UndoAction::Step(step(now.clone(), after.into(), source)));
        }
        if target.same_content(&change.after) {
            // Only its mode or owner was changed, and somebody else changed its content.
            let after = with_attrs(&now, attrs);
            return Ok(match now == after {
                true => UndoAction::Nothing,
                false => UndoAction::Merged(step(now.clone(), after.into(), source)),
            });
        }
        let objects = self.objects();
        let contents = change.after.hash().and_then(|h| objects.get(h).ok());
        let contents = contents.zip(target.hash().and_then(|h| objects.get(h).ok()));
        let (Some((base, theirs)), Ok(ours)) = (contents, sparse::read_small_at(&change.path)) else {
            return Ok(UndoAction::Left("it changed in the meantime".into()));
        };
        match merged(&base, &ours, &theirs) {
            Some(bytes) => {
                let (hash, size) = (blake3::hash(&bytes), bytes.len() as u64);
                let after = PathState::File { hash, size, attrs };
                let source = ContentSource::Bytes(Arc::new(bytes));
                Ok(UndoAction::Merged(step(now.clone(), after.into(), source)))
            }
            None => Ok(UndoAction::Left(why_not_merged(&base, &ours, &theirs).into())),
        }
    }

    /// A repository with a file that cannot be restored stays as it is: all of its own files are restored or none.
    fn leave_broken_repositories(&self, plan: &mut UndoPlan) {
        let broken: BTreeSet<PathBuf> = plan
            .left
            .iter()
            .filter_map(|(path, _)| plan.repositories.of(path))
            .map(Path::to_path_buf)
            .collect();
        if broken.is_empty() {
            return;
        }
        let repositories = plan.repositories.clone();
        let stays = |path: &Path| repositories.of(path).is_some_and(|r| broken.contains(r));
        plan.steps.retain(|step| !stays(&step.path));
        plan.merged.retain(|path| !stays(path));
    }

    /// An operation of git goes back with all of its files, or nothing of it does: a part is a state that nobody made.
    fn leave_parted_operations(
        &self,
        plan: &mut UndoPlan,
        entries: &[JournalEntry],
        within: &dyn Fn(&Path) -> bool,
    ) {
        for one in entries.iter().flat_map(|entry| &entry.git) {
            // A directory may stay because of what else is in it.
            let changed = entries.iter().flat_map(|entry| &entry.changes);
            let files = changed.filter(|one| one.before.counts_as_file() || one.after.counts_as_file());
            let all = files.map(|change| &*change.path).chain([&*one.path]);
            let mut all = all.filter(|path| one.is_of_operation(path));
            let stays = all.any(|path| !within(path) || plan.left.iter().any(|(left, _)| left == path));
            if !stays {
                continue;
            }
            let mut parted = plan.git.leave(|path| one.is_of_operation(path));
            let is_parted = |step: &mut ApplyStep| one.is_of_operation(&step.path);
            parted.extend(plan.steps.extract_if(.., is_parted).map(|step| step.path.to_path_buf()));
            plan.merged.retain(|path| !one.is_of_operation(path));
            let name = self.name_of(&one.path);
            let why =
                format!("it goes back with the operation in `{name}` and all of its files, or not at all");
            plan.left.extend(parted.into_iter().map(|path| (path, why.clone())));
        }
    }

    /// A directory with files of others stays.
    fn leave_full_directories(&self, plan: &mut UndoPlan) -> io::Result<()> {
        let gone = plan.steps.iter().filter(|s| s.after.is_absent());
        let mut going: BTreeSet<Arc<Path>> = gone.map(|s| Arc::clone(&s.path)).collect();
        going.extend(plan.git.removed().map(Arc::from));
        let mut dirs: Vec<PathBuf> = plan
            .steps
            .iter()
            .filter(|s| s.before.is_directory() && !s.after.is_directory())
            .map(|s| s.path.to_path_buf())
            .collect();
        // Deepest first: with a directory that stays, the directories above it stay.
        dirs.sort_by_key(|d| std::cmp::Reverse(d.components().count()));
        for dir in dirs {
            let entries =
                crate::view::layers::layer::list(&crate::files::metadata::path_state::dir_anyway(&dir)?)?;
            if entries.iter().any(|name| !going.contains(dir.join(name).as_path())) {
                going.remove(dir.as_path());
                plan.steps.retain(|s| *s.path != *dir);
                plan.left.push((dir, "it contains something else now".into()));
            }
        }
        Ok(())
    }

    /// What belongs into a directory that cannot come back has no place to go.
    fn leave_orphans(&self, plan: &mut UndoPlan) {
        if plan.left.is_empty() {
            return;
        }
        let left: BTreeSet<PathBuf> = plan.left.iter().map(|(path, _)| path.clone()).collect();
        let orphan = |path: &Path| path.ancestors().skip(1).any(|dir| left.contains(dir) && !dir.is_dir());
        let (orphans, steps): (Vec<ApplyStep>, Vec<ApplyStep>) =
            std::mem::take(&mut plan.steps).into_iter().partition(|s| orphan(&s.path));
        plan.steps = steps;
        plan.left.extend(
            orphans
                .into_iter()
                .map(|s| (s.path.to_path_buf(), "its directory is no longer a directory".to_string())),
        );
    }

    /// Does what was planned: all of it, or nothing.
    pub fn execute_plan(&self, plan: UndoPlan) -> Result<Option<JournalEntry>, ApplyError> {
        if plan.is_empty() {
            return Ok(None);
        }
        let how = if matches!(plan.kind, TransactionKind::Redo { .. }) { "redo" } else { "undo" };
        let label = TransactionLabel { assent: plan.label.assent.clone().or_you(how), ..plan.label };
        let git = plan.git.into_transaction(&format!("{how} {}", label.title));
        let done = self.commit_with_repositories(
            (label, plan.kind, self.log_marks()),
            (plan.steps, git),
            plan.renames,
        )?;
        self.note_files(&done);
        self.update_jobs(done.changes.iter().map(|change| &*change.path));
        Ok(Some(done))
    }
}

/// Why a content cannot be restored.
fn damage_words(damage: &DamagedRecord) -> String {
    let path = damage.path.display();
    match &damage.fault {
        DamageKind::Missing => {
            format!("its earlier content was pruned from the journal, or lost: `{path}`")
        }
        fault => format!("its earlier content is damaged: `{path}`: {fault}; `placet journal repair`"),
    }
}

/// What the journal calls the transactions that are undone or redone: the message of their turn, or of the first of
/// several turns.
fn titles(entries: &[JournalEntry]) -> String {
    let mut titles: Vec<&str> = entries.iter().map(|entry| entry.label.title.as_str()).collect();
    titles.dedup();
    match titles.as_slice() {
        [first, _, rest @ ..] => format!("{first} (and {} more)", rest.len() + 1),
        [first] => (*first).to_string(),
        [] => String::new(),
    }
}

/// The mode, the owner and the attributes of `target`, but where they changed since `after`: that stays.
pub(in crate::view) fn merged_attrs(now: &FileAttrs, after: &FileAttrs, target: &FileAttrs) -> FileAttrs {
    fn one<T: Clone + PartialEq>(now: &T, after: &T, target: &T) -> T {
        if now == after { target.clone() } else { now.clone() }
    }
    FileAttrs {
        mode: one(&now.mode, &after.mode, &target.mode),
        uid: one(&now.uid, &after.uid, &target.uid),
        gid: one(&now.gid, &after.gid, &target.gid),
        xattrs: one(&now.xattrs, &after.xattrs, &target.xattrs),
    }
}

fn with_attrs(node: &PathState, attrs: FileAttrs) -> PathState {
    match node {
        PathState::File { hash, size, .. } => PathState::File { hash: *hash, size: *size, attrs },
        other => other.clone(),
    }
}
