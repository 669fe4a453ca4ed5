//! Undo and redo: transactions like any other, against what is on disk now.

use super::super::apply::{
    ApplyError, ApplyPhase, ApplyStep, ContentSource, OpenDirs, can_make, in_halves, shut_dirs,
};
use super::super::repository::RepositorySet;
use super::View;
use super::git_state::{is_where, scan};
use super::stack::node_at;
use super::undo_gaps::{UndoAction, interrupted, why_not_merged};
use crate::workspace::files::path_state::{FileAttrs, PathState};
use crate::workspace::files::shared_state::SharedState;
use crate::workspace::files::sparse;
use crate::workspace::history::damage::DamageKind;
use crate::workspace::history::file_rename::FileRename;
use crate::workspace::history::journal::{AppliedChange, JournalEntry, TransactionKind, TransactionLabel};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// So many changes are planned at once, by two threads.
const BATCH: usize = 8192;

/// What taking back (or putting back) would do, known before anything is done.
#[derive(Debug)]
pub struct UndoPlan {
    kind: TransactionKind,
    label: TransactionLabel,
    steps: Vec<ApplyStep>,
    /// Files that were renamed and changed, and get their old name again; also one of which only one end changes now.
    pub renames: Vec<FileRename>,
    /// Files that changed since and were merged: the later work stays.
    pub merged: Vec<PathBuf>,
    /// What will be left as it is, each with the reason.
    pub left: Vec<(PathBuf, String)>,
    /// Sockets and devices that nothing can make again, each with the reason. They keep nothing else from being undone.
    pub lost: Vec<(PathBuf, String)>,
    /// Objects of repositories that stay for `git gc`: someone may have built on them.
    pub objects_left: usize,
    /// The repositories of the plan's paths.
    pub repositories: RepositorySet,
}

impl UndoPlan {
    /// Every path it changes, with what is there now and what will be.
    pub fn paths(&self) -> impl Iterator<Item = (&Path, &PathState, &PathState)> {
        self.steps.iter().map(|s| (&*s.path, &*s.before, &*s.after))
    }

    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
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
                (PathState::File { hash, .. }, ContentSource::Stored) => view.objects().get(*hash).ok()?,
                (PathState::File { .. }, ContentSource::Bytes(bytes)) => bytes.to_vec(),
                _ => return None,
            };
            Some((step.path.to_path_buf(), now, then))
        };
        self.steps.iter().filter_map(content).collect()
    }
}

/// Several transactions as one: what was before the first, what is after the last, in the order of the paths.
pub(super) struct ComposedChanges(Vec<AppliedChange>);

impl ComposedChanges {
    pub(super) fn of(entries: &[JournalEntry]) -> ComposedChanges {
        let mut all: Vec<AppliedChange> = match entries {
            // A map takes twice the memory of a list, and an entry may have hundreds of thousands of changes.
            [one] if one.changes.is_sorted_by(|a, b| a.path < b.path) => one.changes.clone(),
            _ => composed(entries).into_values().collect(),
        };
        all.retain(|change| change.before != change.after);
        ComposedChanges(all)
    }

    fn get(&self, path: &Path) -> Option<&AppliedChange> {
        let at = self.0.binary_search_by(|change| (*change.path).cmp(path)).ok()?;
        self.0.get(at)
    }

    fn contains(&self, path: &Path) -> bool {
        self.get(path).is_some()
    }

    fn iter(&self) -> std::slice::Iter<'_, AppliedChange> {
        self.0.iter()
    }

    fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|change| &*change.path)
    }

    pub(super) fn into_vec(self) -> Vec<AppliedChange> {
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
        let changes = self.with_pruned_objects(ComposedChanges::of(entries), &kind)?;
        let mut repositories = self.repositories_of_steps(changes.iter().map(AppliedChange::states));
        repositories.extend(entries.iter().flat_map(|e| &e.repositories).map(|r| r.path.clone()));
        let mut plan = UndoPlan {
            kind,
            label,
            steps: Vec::new(),
            renames: entries.iter().flat_map(|e| &e.renames).map(FileRename::reversed).collect(),
            merged: Vec::new(),
            left: Vec::new(),
            lost: Vec::new(),
            objects_left: 0,
            repositories: repositories.clone(),
        };
        let repository_of = |path: &Path| repositories.of(path).map(Path::to_path_buf);
        let within = |path: &Path| only.is_none_or(|only| path.starts_with(only));
        // A repository's own files come back together or not at all.
        // `collect` would first make a list with a path for each change.
        let mut asked: BTreeSet<PathBuf> = BTreeSet::new();
        asked.extend(changes.paths().filter(|path| within(path)).filter_map(repository_of));
        let mut closed: BTreeSet<PathBuf> = BTreeSet::new();
        for repository in asked.iter().cloned() {
            if let Some(reason) =
                moved_on(self, &repository, entries, &changes, &|path| repositories.is_object(path))?
            {
                plan.left.push((repository.clone(), reason));
                closed.insert(repository);
            }
        }
        let own = self.untouched_since(&repositories, &changes, &asked);
        for (made, why) in own.others {
            let Some(repository) = repositories.of(&made).map(Path::to_path_buf) else { continue };
            if closed.insert(repository.clone()) {
                plan.left.push((repository, why));
            }
        }
        let own = own.whole;
        let interrupted = interrupted(entries);
        let mut wanted: Vec<usize> = Vec::new();
        for (index, change) in changes.iter().enumerate() {
            let path = &*change.path;
            if repositories.is_object(path)
                && change.before.is_absent()
                && !repositories.nearest(path).is_some_and(|dir| own.contains(dir))
            {
                let within = repository_of(path).is_some_and(|r| asked.contains(&r) && !closed.contains(&r));
                plan.objects_left += usize::from(within && change.after.is_file());
                continue;
            }
            match repository_of(path) {
                Some(repository) if closed.contains(&repository) || !asked.contains(&repository) => continue,
                None if !within(path) => continue,
                _ => wanted.push(index),
            }
        }
        let shut = shut_dirs(changes.paths());
        let progress = self.apply_progress();
        let is_file = |at: &&usize| {
            let change = changes.0.get(**at);
            change.is_some_and(|c| c.before.counts_as_file() || c.after.counts_as_file())
        };
        progress.enter(ApplyPhase::Planning, wanted.iter().filter(is_file).count());
        for batch in wanted.chunks(BATCH) {
            let parts = in_halves(&shut, 0..batch.len(), |part| {
                let mut dirs = OpenDirs::default();
                let chosen = batch.get(part).unwrap_or_default().iter().filter_map(|at| changes.0.get(*at));
                let action = |change: &AppliedChange| {
                    progress.step(&change.before, &change.after);
                    let in_repository = repositories.of(&change.path).is_some();
                    match interrupted.get(&change.path) {
                        // A repository's own files are as the transaction left them, or the repository is left alone.
                        Some(parts) if !in_repository => self.back_in_parts(parts),
                        _ => self.back(change, in_repository, &mut dirs),
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
        self.leave_broken_repositories(&mut plan);
        self.leave_full_directories(&mut plan)?;
        self.leave_orphans(&mut plan);
        Ok(plan)
    }

    /// Repositories, also inside another, that these changes made and to which nothing else was added: they are removed
    /// as a whole, with their objects.
    fn untouched_since(
        &self,
        repositories: &RepositorySet,
        changes: &ComposedChanges,
        asked: &BTreeSet<PathBuf>,
    ) -> CreatedRepositories {
        let mut dirs: BTreeSet<&Path> = BTreeSet::new();
        let in_asked =
            changes.paths().filter(|path| repositories.of(path).is_some_and(|r| asked.contains(r)));
        dirs.extend(in_asked.filter_map(|path| repositories.nearest(path)));
        let made = |dir: &Path| changes.get(dir).is_some_and(|c| c.before.is_absent());
        let ours = |path: &Path| changes.contains(path);
        let there = |dir: &&Path| made(dir) && dir.is_dir();
        let mut found = CreatedRepositories::default();
        for dir in dirs.into_iter().filter(there) {
            match holds_only(dir, &ours) {
                Ok(true) => drop(found.whole.insert(dir.to_path_buf())),
                Ok(false) => found.others.push((dir.to_path_buf(), "it contains something else now".into())),
                Err((path, e)) => {
                    let why = format!("`{}` cannot be read: {e}", path.display());
                    found.others.push((dir.to_path_buf(), why));
                }
            }
        }
        found
    }

    /// For a redo: `git gc` may have removed the objects that the undo left, and refs without them would be broken.
    fn with_pruned_objects(
        &self,
        mut changes: ComposedChanges,
        kind: &TransactionKind,
    ) -> io::Result<ComposedChanges> {
        let TransactionKind::Redo { of, .. } = kind else { return Ok(changes) };
        // Without the entry, placet does not know which objects the refs need.
        let done = of.iter().filter_map(|id| self.journal().entry(*id).transpose());
        let done: Vec<JournalEntry> = done.collect::<Result<_, _>>().map_err(io::Error::other)?;
        let changed = done.iter().flat_map(|e| &e.changes).map(AppliedChange::states);
        let repositories = self.repositories_of_steps(changed);
        let mut more = Vec::new();
        for change in ComposedChanges::of(&done).into_vec() {
            let gone = || node_at(&change.path).is_ok_and(|node| node.is_absent());
            if repositories.is_object(&change.path)
                && !change.after.is_absent()
                && !changes.contains(&change.path)
                && gone()
            {
                // From the undo's side: the file is gone now and was there before.
                let before = change.after.clone();
                more.push(AppliedChange { before, after: SharedState::default(), ..change });
            }
        }
        changes.0.extend(more);
        changes.0.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(changes)
    }

    fn back(
        &self,
        change: &AppliedChange,
        in_repository: bool,
        dirs: &mut OpenDirs,
    ) -> io::Result<UndoAction> {
        let now = SharedState::like(&change.after, dirs.node(&change.path)?);
        let target = &change.before;
        if now == *target {
            return Ok(UndoAction::Nothing);
        }
        if let Some(hash) = target.hash()
            && !target.same_content(&now)
            && let Some(damage) = self.objects().damage_of(hash)
        {
            return Ok(UndoAction::Left(match damage.fault {
                DamageKind::Missing => {
                    format!(
                        "its earlier content was pruned from the journal, or lost: `{}`",
                        damage.path.display()
                    )
                }
                fault => {
                    format!(
                        "its earlier content is damaged: `{}`: {fault}; `placet journal repair`",
                        damage.path.display()
                    )
                }
            }));
        }
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
            history: Arc::default(),
        };
        let source = target.hash().map_or(ContentSource::Nothing, |_| ContentSource::Stored);
        let same = in_repository && self.says_the_same(&change.after, &change.path)?;
        if now == change.after || same {
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
        match diffy::merge_bytes(&base, &ours, &theirs) {
            Ok(bytes) => {
                let (hash, size) = (blake3::hash(&bytes), bytes.len() as u64);
                let after = PathState::File { hash, size, attrs };
                let source = ContentSource::Bytes(Arc::new(bytes));
                Ok(UndoAction::Merged(step(now.clone(), after.into(), source)))
            }
            Err(_) => Ok(UndoAction::Left(why_not_merged(&base, &ours, &theirs).into())),
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

    /// A directory with files of others stays.
    fn leave_full_directories(&self, plan: &mut UndoPlan) -> io::Result<()> {
        let gone = plan.steps.iter().filter(|s| s.after.is_absent());
        let mut going: BTreeSet<Arc<Path>> = gone.map(|s| Arc::clone(&s.path)).collect();
        let mut dirs: Vec<PathBuf> = plan
            .steps
            .iter()
            .filter(|s| s.before.is_directory() && !s.after.is_directory())
            .map(|s| s.path.to_path_buf())
            .collect();
        // Deepest first: with a directory that stays, the directories above it stay.
        dirs.sort_by_key(|d| std::cmp::Reverse(d.components().count()));
        for dir in dirs {
            let entries = super::layer::list(&crate::workspace::files::path_state::dir_anyway(&dir)?)?;
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
        if plan.steps.is_empty() {
            return Ok(None);
        }
        let mut repositories: BTreeSet<&Path> = BTreeSet::new();
        repositories.extend(plan.steps.iter().filter_map(|s| plan.repositories.of(&s.path)));
        for repository in repositories {
            let found = scan(repository);
            let found =
                found.map_err(|e| ApplyError::Repository(format!("its state cannot be read: {e}")))?;
            let goes = |lock: &Path| plan.steps.iter().any(|s| *s.path == *lock && s.after.is_absent());
            if let Some(lock) = found.lock_but(&goes) {
                return Err(ApplyError::Repository(format!("`{}` exists", lock.display())));
            }
        }
        let how = if matches!(plan.kind, TransactionKind::Redo { .. }) { "redo" } else { "undo" };
        let label = TransactionLabel { assent: plan.label.assent.clone().or_you(how), ..plan.label };
        let done =
            self.commit_with_repositories((label, plan.kind, self.log_marks()), plan.steps, plan.renames);
        done.map(Some)
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

/// True when every file below `dir` is one of `ours`. Gives up, and says no, after very many. Fails with the directory
/// that cannot be read.
fn holds_only(dir: &Path, ours: &dyn Fn(&Path) -> bool) -> Result<bool, (PathBuf, io::Error)> {
    const MOST: usize = 500_000;
    let (mut todo, mut seen) = (vec![dir.to_path_buf()], 0);
    while let Some(dir) = todo.pop() {
        let failed = |e: io::Error| (dir.clone(), e);
        for entry in std::fs::read_dir(&dir).map_err(failed)? {
            seen += 1;
            let (path, kind) =
                entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))).map_err(failed)?;
            if seen > MOST || !ours(&path) {
                return Ok(false);
            }
            if kind.is_dir() {
                todo.push(path);
            }
        }
    }
    Ok(true)
}

/// Repositories that changes made.
#[derive(Default)]
struct CreatedRepositories {
    /// With nothing in them that anyone else put there.
    whole: BTreeSet<PathBuf>,
    /// The others, each with the reason why it stays.
    others: Vec<(PathBuf, String)>,
}

/// Why the changes in a repository's own files cannot be undone: it is not where they left it.
fn moved_on(
    view: &View,
    repository: &Path,
    entries: &[JournalEntry],
    changes: &ComposedChanges,
    is_object: &dyn Fn(&Path) -> bool,
) -> io::Result<Option<String>> {
    // git holds no lock that was there when the changes were applied.
    let is_own = |lock: &Path| changes.get(lock).is_some_and(|change| change.before.is_absent());
    let lock = match scan(repository) {
        Ok(found) => found.lock_but(&is_own).map(Path::to_path_buf),
        Err(e) => return Ok(Some(format!("its state cannot be read: {e}"))),
    };
    if let Some(lock) = lock {
        return Ok(Some(format!("`{}` exists: git is working there", lock.display())));
    }
    let left = entries.iter().rev().flat_map(|e| &e.repositories).find(|r| r.path == repository);
    if let Some(left) = left
        && !is_where(repository, &left.state)?
    {
        return Ok(Some(
            "HEAD, the index or a branch of this repository, a submodule or a worktree changed in the meantime".into(),
        ));
    }
    for change in changes.iter().filter(|c| c.path.starts_with(repository)) {
        // Objects stay, and those that `git gc` packed are still there in another form. An object that is there as it
        // was before needs no undo: a redo does not remove again what `git gc` removed and the undo brought back.
        if is_object(&change.path) && (change.before.is_absent() || node_at(&change.path)? == change.before) {
            continue;
        }
        if !view.says_the_same(&change.after, &change.path)? {
            return Ok(Some(format!("`{}` changed in the meantime", change.path.display())));
        }
    }
    Ok(None)
}

/// The mode, the owner and the attributes of `target`, but where they changed since `after`: that stays.
fn merged_attrs(now: &FileAttrs, after: &FileAttrs, target: &FileAttrs) -> FileAttrs {
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
