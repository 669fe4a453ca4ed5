//! Undo and redo: transactions like any other, against what is on disk now.

use super::super::apply::{ApplyError, Source, Step};
use super::super::damage::Fault;
use super::super::journal::{Entry, Kind, Label, Landed};
use super::super::node::Node;
use super::super::repository::Repositories;
use super::super::sparse;
use super::View;
use super::git::{is_where, scan};
use super::stack::node_at;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What taking back (or putting back) would do, known before anything is done.
#[derive(Debug)]
pub struct UndoPlan {
    kind: Kind,
    label: Label,
    steps: Vec<Step>,
    /// Files that changed since and were merged: the later work stays.
    pub merged: Vec<PathBuf>,
    /// What will be left as it is, each with the reason.
    pub left: Vec<(PathBuf, String)>,
    /// Objects of repositories that stay for `git gc`: someone may have built on them.
    pub objects_left: usize,
    /// The repositories that paths of the plan lie in.
    pub repositories: Repositories,
}

impl UndoPlan {
    /// Every path it changes, with what is there now and what will be.
    pub fn paths(&self) -> impl Iterator<Item = (&Path, &Node, &Node)> {
        self.steps.iter().map(|s| (s.path.as_path(), &s.before, &s.after))
    }

    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Bytes by which each text grows or shrinks are for the caller to count: the contents it has now and will have.
    pub fn contents(&self, view: &View) -> Vec<(PathBuf, Vec<u8>, Vec<u8>)> {
        let content = |step: &Step| {
            let now = match &step.before {
                Node::Absent => Vec::new(),
                Node::File { .. } => sparse::read_small_at(&step.path).ok()?,
                _ => return None,
            };
            let then = match (&step.after, &step.source) {
                (Node::Absent, _) => Vec::new(),
                (Node::File { .. }, Source::Object(hash)) => view.objects().get(*hash).ok()?,
                (Node::File { .. }, Source::Bytes(bytes)) => bytes.to_vec(),
                _ => return None,
            };
            Some((step.path.clone(), now, then))
        };
        self.steps.iter().filter_map(content).collect()
    }
}

/// Several transactions as one: what was before the first, what is after the last.
pub(super) fn composed(entries: &[Entry]) -> BTreeMap<PathBuf, Landed> {
    let mut all: BTreeMap<PathBuf, Landed> = BTreeMap::new();
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
    all.retain(|_, change| change.before != change.after);
    all
}

impl View {
    /// Plans to take `entries` back; of them only what lies at or below `only`, if given.
    pub fn plan_undo(&self, entries: &[Entry], only: Option<&Path>, label: Label) -> io::Result<UndoPlan> {
        let of = entries.iter().map(|e| e.id).collect();
        // Part of a turn taken back is a change of its own: the turn still stands.
        let kind = if only.is_some() { Kind::Apply } else { Kind::Undo { of } };
        self.plan_back(entries, only, kind, label)
    }

    /// Plans to put back what `undo` took away.
    pub fn plan_redo(&self, undo: &Entry, label: Label) -> io::Result<UndoPlan> {
        let of = match &undo.kind {
            Kind::Undo { of } => of.clone(),
            _ => Vec::new(),
        };
        self.plan_back(std::slice::from_ref(undo), None, Kind::Redo { of }, label)
    }

    fn plan_back(
        &self,
        entries: &[Entry],
        only: Option<&Path>,
        kind: Kind,
        label: Label,
    ) -> io::Result<UndoPlan> {
        let changes = self.with_pruned_objects(composed(entries), &kind)?;
        let mut repositories = self.repositories_of_steps(changes.keys().map(PathBuf::as_path));
        repositories.extend(entries.iter().flat_map(|e| &e.repositories).map(|r| r.path.clone()));
        let mut plan = UndoPlan {
            kind,
            label,
            steps: Vec::new(),
            merged: Vec::new(),
            left: Vec::new(),
            objects_left: 0,
            repositories: repositories.clone(),
        };
        let repository_of = |path: &Path| repositories.of(path).map(Path::to_path_buf);
        let within = |path: &Path| only.is_none_or(|only| path.starts_with(only));
        // A repository's own files come back together or not at all.
        let asked: BTreeSet<PathBuf> =
            changes.keys().filter(|path| within(path)).filter_map(|path| repository_of(path)).collect();
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
        for (path, change) in &changes {
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
                _ => {}
            }
            match self.back(change, repositories.of(path).is_some())? {
                Back::Nothing => {}
                Back::Step(step) => plan.steps.push(step),
                Back::Merged(step) => {
                    plan.merged.push(path.clone());
                    plan.steps.push(step);
                }
                Back::Left(reason) => plan.left.push((path.clone(), reason)),
            }
        }
        self.leave_broken_repositories(&mut plan);
        self.leave_full_directories(&mut plan)?;
        self.leave_orphans(&mut plan);
        Ok(plan)
    }

    /// Repositories, also inside another, that these changes made and in which nobody else has put anything: they go
    /// whole, objects and all.
    fn untouched_since(
        &self,
        repositories: &Repositories,
        changes: &BTreeMap<PathBuf, Landed>,
        asked: &BTreeSet<PathBuf>,
    ) -> MadeRepositories {
        let dirs: BTreeSet<&Path> = changes
            .keys()
            .filter(|path| repositories.of(path).is_some_and(|r| asked.contains(r)))
            .filter_map(|path| repositories.nearest(path))
            .collect();
        let made = |dir: &Path| changes.get(dir).is_some_and(|c| c.before.is_absent());
        let ours = |path: &Path| changes.contains_key(path);
        let there = |dir: &&Path| made(dir) && dir.is_dir();
        let mut found = MadeRepositories::default();
        for dir in dirs.into_iter().filter(there) {
            match holds_only(dir, &ours) {
                Ok(true) => drop(found.whole.insert(dir.to_path_buf())),
                Ok(false) => found.others.push((dir.to_path_buf(), "something else is in it now".into())),
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
        mut changes: BTreeMap<PathBuf, Landed>,
        kind: &Kind,
    ) -> io::Result<BTreeMap<PathBuf, Landed>> {
        let Kind::Redo { of } = kind else { return Ok(changes) };
        // Without the entry nobody knows which objects the refs need.
        let done = of.iter().filter_map(|id| self.journal().entry(*id).transpose());
        let done: Vec<Entry> = done.collect::<Result<_, _>>().map_err(io::Error::other)?;
        let repositories = self.repositories_of_steps(
            done.iter().flat_map(|e| &e.changes).map(|c| c.path.as_path()).collect::<Vec<_>>(),
        );
        for (path, change) in composed(&done) {
            let gone = || node_at(&path).is_ok_and(|node| node.is_absent());
            if repositories.is_object(&path)
                && !change.after.is_absent()
                && !changes.contains_key(&path)
                && gone()
            {
                // Seen from the undo: it is gone now and was there before.
                let back = Landed { before: change.after.clone(), after: Node::Absent, ..change };
                changes.insert(path, back);
            }
        }
        Ok(changes)
    }

    fn back(&self, change: &Landed, in_repository: bool) -> io::Result<Back> {
        let now = node_at(&change.path)?;
        let target = &change.before;
        if now == *target {
            return Ok(Back::Nothing);
        }
        if let Some(hash) = target.hash()
            && !target.same_content(&now)
            && let Some(damage) = self.objects().damage_of(hash)
        {
            return Ok(Back::Left(match damage.fault {
                Fault::Missing => {
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
        if let Node::Special { what } = target {
            return Ok(Back::Left(format!("it was {what}, which cannot be brought back")));
        }
        let step = |before: Node, after: Node, source: Source| Step {
            path: change.path.clone(),
            before,
            after,
            source,
            // What it was a name of before, and on the way back what it is one of now.
            twin: change.was_twin.clone(),
            was_twin: change.twin.clone(),
            keep_names: change.in_place,
            fresh: false,
            history: Vec::new(),
        };
        let source = target.hash().map_or(Source::Nothing, Source::Object);
        let same = in_repository && self.says_the_same(&change.after, &change.path)?;
        if now == change.after || same {
            return Ok(Back::Step(step(now, target.clone(), source)));
        }
        let (Node::File { attrs, .. }, Node::File { .. }, Node::File { .. }) = (&now, &change.after, target)
        else {
            return Ok(Back::Left("it changed since, in a way that cannot be merged".into()));
        };
        if now.same_content(&change.after) {
            // Only its mode or owner is another one: that stays.
            let after = with_attrs(target, attrs.clone());
            return Ok(Back::Step(step(now, after, source)));
        }
        let objects = self.objects();
        let contents = change.after.hash().and_then(|h| objects.get(h).ok());
        let contents = contents.zip(target.hash().and_then(|h| objects.get(h).ok()));
        let (Some((base, theirs)), Ok(ours)) = (contents, sparse::read_small_at(&change.path)) else {
            return Ok(Back::Left("it changed since".into()));
        };
        match diffy::merge_bytes(&base, &ours, &theirs) {
            Ok(bytes) => {
                let (hash, size) = (blake3::hash(&bytes), bytes.len() as u64);
                let after = Node::File { hash, size, attrs: attrs.clone() };
                Ok(Back::Merged(step(now, after, Source::Bytes(Arc::new(bytes)))))
            }
            Err(_) => Ok(Back::Left("the same lines changed since".into())),
        }
    }

    /// A repository of which some file cannot come back stays as it is: all of its own files or none.
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

    /// A directory into which somebody put something stays.
    fn leave_full_directories(&self, plan: &mut UndoPlan) -> io::Result<()> {
        let mut going: BTreeSet<PathBuf> =
            plan.steps.iter().filter(|s| s.after.is_absent()).map(|s| s.path.clone()).collect();
        let mut dirs: Vec<PathBuf> = plan
            .steps
            .iter()
            .filter(|s| s.before.is_directory() && !s.after.is_directory())
            .map(|s| s.path.clone())
            .collect();
        // Deepest first: one that stays keeps those above it.
        dirs.sort_by_key(|d| std::cmp::Reverse(d.components().count()));
        for dir in dirs {
            let entries = super::layer::list(&super::super::node::dir_anyway(&dir)?)?;
            if entries.iter().any(|name| !going.contains(&dir.join(name))) {
                going.remove(&dir);
                plan.steps.retain(|s| s.path != dir);
                plan.left.push((dir, "something else is in it now".into()));
            }
        }
        Ok(())
    }

    /// What belongs into a directory that cannot come back has no place to go.
    fn leave_orphans(&self, plan: &mut UndoPlan) {
        let left: BTreeSet<PathBuf> = plan.left.iter().map(|(path, _)| path.clone()).collect();
        let orphan = |path: &Path| path.ancestors().skip(1).any(|dir| left.contains(dir) && !dir.is_dir());
        let (orphans, steps): (Vec<Step>, Vec<Step>) =
            std::mem::take(&mut plan.steps).into_iter().partition(|s| orphan(&s.path));
        plan.steps = steps;
        plan.left
            .extend(orphans.into_iter().map(|s| (s.path, "its directory is not one any more".to_string())));
    }

    /// Does what was planned: all of it, or nothing.
    pub fn carry_out(&self, plan: UndoPlan) -> Result<Option<Entry>, ApplyError> {
        if plan.steps.is_empty() {
            return Ok(None);
        }
        let repositories: BTreeSet<&Path> =
            plan.steps.iter().filter_map(|s| plan.repositories.of(&s.path)).collect();
        for repository in repositories {
            let found = scan(repository);
            let found =
                found.map_err(|e| ApplyError::Repository(format!("its state cannot be read: {e}")))?;
            if let Some(lock) = found.lock {
                return Err(ApplyError::Repository(format!("`{}` exists", lock.display())));
            }
        }
        let how = if matches!(plan.kind, Kind::Redo { .. }) { "redo" } else { "undo" };
        let label = Label { assent: plan.label.assent.clone().or_you(how), ..plan.label };
        self.land(label, plan.kind, plan.steps).map(Some)
    }
}

/// True when every file below `dir` is one of `ours`. Gives up, and says no, after very many. Fails with the directory that
/// cannot be read.
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
struct MadeRepositories {
    /// With nothing in them that anyone else put there.
    whole: BTreeSet<PathBuf>,
    /// The others, each with the reason why it stays.
    others: Vec<(PathBuf, String)>,
}

enum Back {
    Nothing,
    Step(Step),
    Merged(Step),
    Left(String),
}

/// Why the changes in a repository's own files cannot be taken back: it is not where they left it.
fn moved_on(
    view: &View,
    repository: &Path,
    entries: &[Entry],
    changes: &BTreeMap<PathBuf, Landed>,
    is_object: &dyn Fn(&Path) -> bool,
) -> io::Result<Option<String>> {
    let found = match scan(repository) {
        Ok(found) => found,
        Err(e) => return Ok(Some(format!("its state cannot be read: {e}"))),
    };
    if let Some(lock) = found.lock {
        return Ok(Some(format!("`{}` exists: git is at work there", lock.display())));
    }
    let left = entries.iter().rev().flat_map(|e| &e.repositories).find(|r| r.path == repository);
    if let Some(left) = left
        && !is_where(repository, &left.state)?
    {
        return Ok(Some(
            "HEAD, the index or a branch of this repository, a submodule or a worktree moved since".into(),
        ));
    }
    for change in changes.values().filter(|c| c.path.starts_with(repository)) {
        // Objects stay, and those that `git gc` packed are still there in another form.
        if is_object(&change.path) && change.before.is_absent() {
            continue;
        }
        if !view.says_the_same(&change.after, &change.path)? {
            return Ok(Some(format!("`{}` changed since", change.path.display())));
        }
    }
    Ok(None)
}

fn with_attrs(node: &Node, attrs: super::super::node::Attrs) -> Node {
    match node {
        Node::File { hash, size, .. } => Node::File { hash: *hash, size: *size, attrs },
        other => other.clone(),
    }
}
