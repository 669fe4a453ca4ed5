//! A change set: what is pending, path by path, with what was there before and what would be there after.

use super::classify::{ChangeClass, ChangeClasses};
use crate::text::{DetectedEncoding, LineDiff, count, regular_file, sanitize, visible};
use crate::workspace::files::attributes;
use crate::workspace::files::path_state::PathState;
use crate::workspace::history::objects::ObjectStore;
use crate::workspace::history::origin::{ChangeOrigin, OriginStep};
use crate::workspace::repository::{
    GitHookDirs, RepositoryChange, RepositoryChangeKind, RepositoryEvents, RepositorySet,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// One path's pending change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Absolute, without links.
    pub path: PathBuf,
    pub before: PathState,
    pub after: PathState,
    /// The new file lies here.
    pub content: Option<PathBuf>,
    /// Where it was moved from, if it was: that path is deleted in the same set.
    pub moved_from: Option<PathBuf>,
    /// It is another name of this file.
    pub twin: Option<PathBuf>,
    /// Somebody else changed the file while the command ran that changed it.
    pub raced: bool,
    /// A file tool made it: all names of the file change with it.
    pub by_tool: bool,
    /// The calls that changed it, in their order, with the contents that were stored between them.
    pub steps: Vec<OriginStep>,
}

/// What happened to a path, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// There was nothing, and there will be something.
    Created,
    /// The content changes, or what kind of thing it is.
    Modified,
    /// There will be nothing.
    Deleted,
    /// It was created, and the same content was deleted elsewhere.
    Renamed,
    /// Mode, owner or attributes alone.
    Mode,
    /// It becomes a pipe, a socket or a device, which is never applied.
    Special,
}

impl ChangeKind {
    /// In lower case: `created`.
    pub fn word(self) -> &'static str {
        match self {
            ChangeKind::Created => "created",
            ChangeKind::Modified => "modified",
            ChangeKind::Deleted => "deleted",
            ChangeKind::Renamed => "renamed",
            ChangeKind::Mode => "mode",
            ChangeKind::Special => "special",
        }
    }

    /// The letter of `git status`.
    pub fn letter(self) -> char {
        match self {
            ChangeKind::Created => 'A',
            ChangeKind::Modified | ChangeKind::Mode => 'M',
            ChangeKind::Deleted => 'D',
            ChangeKind::Renamed => 'R',
            ChangeKind::Special => '!',
        }
    }
}

impl FileChange {
    /// The calls that changed it, in their order; a call may stand here twice when another one came between.
    pub fn made_by(&self) -> Vec<&ChangeOrigin> {
        self.steps.iter().filter_map(|step| step.origin.as_deref()).collect()
    }

    pub fn verb(&self) -> ChangeKind {
        match (&self.before, &self.after) {
            (_, PathState::Special { .. }) => ChangeKind::Special,
            (PathState::Absent, _) if self.moved_from.is_some() => ChangeKind::Renamed,
            (PathState::Absent, _) => ChangeKind::Created,
            (_, PathState::Absent) => ChangeKind::Deleted,
            (before, after) if before.same_content(after) => ChangeKind::Mode,
            _ => ChangeKind::Modified,
        }
    }

    /// Both contents as text, if both are: a file that is not there is empty.
    pub fn texts(&self, objects: &ObjectStore) -> Option<(String, String)> {
        let (before, after) = self.bytes(objects)?;
        Some((as_text(&before)?, as_text(&after)?))
    }

    /// Both contents: of a file that is not there, nothing. `None` when one of them is no file, too large (16 MiB), or
    /// cannot be read any more.
    pub fn bytes(&self, objects: &ObjectStore) -> Option<(Vec<u8>, Vec<u8>)> {
        const MOST: u64 = 16 << 20;
        if self.before.size() > MOST || self.after.size() > MOST {
            return None;
        }
        let before = match &self.before {
            PathState::Absent => Vec::new(),
            PathState::File { hash, .. } => {
                objects.get(*hash).ok().or_else(|| regular_file::read(&self.path, MOST).ok())?
            }
            _ => return None,
        };
        let after = match (&self.after, &self.content) {
            (PathState::Absent, _) => Vec::new(),
            (PathState::File { .. }, Some(path)) => regular_file::read(path, MOST).ok()?,
            (PathState::File { hash, .. }, None) => objects.get(*hash).ok()?,
            _ => return None,
        };
        let named = |bytes: &Vec<u8>, node: &PathState| node.hash().is_none_or(|h| blake3::hash(bytes) == h);
        (named(&before, &self.before) && named(&after, &self.after)).then_some((before, after))
    }

    fn line(
        &self,
        from: Option<&PathState>,
        objects: &ObjectStore,
        name: &dyn Fn(&Path) -> String,
    ) -> String {
        let slash = if self.after.is_directory() || self.before.is_directory() { "/" } else { "" };
        let mut line = format!("{} ", self.verb().letter());
        if let Some(from) = &self.moved_from {
            line.push_str(&format!("{} -> ", name(from)));
        }
        line.push_str(&format!("{}{slash}", name(&self.path)));
        match (&self.before, &self.after) {
            (_, PathState::Special { what }) => line.push_str(&format!(" ({what}: never applied)")),
            (_, PathState::Link { target }) => {
                line.push_str(&format!(" -> {}", visible::path(Path::new(target))));
            }
            _ => {}
        }
        for words in self.attribute_words(from) {
            line.push_str(&format!(" {words}"));
        }
        let moved_only = from.is_some_and(|from| from.hash().is_some() && from.hash() == self.after.hash());
        if (self.before.is_file() || self.after.is_file()) && !moved_only {
            match self.counts(objects) {
                Some((0, 0)) => {}
                Some((added, removed)) => line.push_str(&format!(" +{added} -{removed}")),
                None => line.push_str(&format!(" {} to {} bytes", self.before.size(), self.after.size())),
            }
        }
        if self.raced {
            line.push_str(" (changed by others at the same time)");
        }
        line
    }

    /// What it does to mode, owner, attributes and access list, a few words each; `from` is what was at the other end of
    /// a move.
    pub fn attribute_words(&self, from: Option<&PathState>) -> Vec<String> {
        attributes::words(from.unwrap_or(&self.before), &self.after)
    }

    /// Lines added and removed; `None` for what is no text.
    pub fn counts(&self, objects: &ObjectStore) -> Option<(usize, usize)> {
        let (before, after) = self.texts(objects)?;
        Some(LineDiff::new(&before, &after).counts())
    }
}

fn as_text(bytes: &[u8]) -> Option<String> {
    if bytes.is_empty() {
        return Some(String::new());
    }
    let detected = DetectedEncoding::of(bytes).ok()?;
    Some(detected.encoding.decode(bytes.get(detected.mark..)?).into_owned())
}

/// Everything that is pending, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeSet {
    pub changes: Vec<FileChange>,
    /// The repositories that changes lie in.
    pub repositories: RepositorySet,
    /// What the set does to each of them.
    pub repository_changes: Vec<RepositoryChange>,
    /// Where git has hooks outside of repositories, before the set and after it.
    pub(in crate::workspace) hook_dirs: GitHookDirs,
}

impl ChangeSet {
    /// Finds files that moved: one that is gone and one that is new with the same content. The nearest name wins.
    pub(in crate::workspace) fn new(mut changes: Vec<FileChange>) -> ChangeSet {
        let mut gone: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        for change in &changes {
            if let (PathState::File { hash, size, .. }, PathState::Absent) = (&change.before, &change.after)
                // Every empty file equals every other one, which says nothing about a move.
                && *size > 0
            {
                gone.entry(hash.to_hex().to_string()).or_default().push(change.path.clone());
            }
        }
        for change in &mut changes {
            let (PathState::Absent, Some(hash)) = (&change.before, change.after.hash()) else { continue };
            let Some(from) = gone.get_mut(hash.to_hex().as_str()) else { continue };
            let same_name = from.iter().position(|p| p.file_name() == change.path.file_name());
            let at = same_name.unwrap_or(0);
            if at < from.len() {
                change.moved_from = Some(from.remove(at));
            }
        }
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        // By name alone: a view adds the others.
        let paths = changes.iter().map(|c| c.path.as_path());
        let repositories = RepositorySet::recognise(paths, &[], &|_| false);
        ChangeSet { changes, repositories, repository_changes: Vec::new(), hook_dirs: GitHookDirs::default() }
    }

    /// The repository that this path is applied with, as a whole.
    pub fn repository_of(&self, path: &Path) -> Option<PathBuf> {
        self.repositories.of(path).map(Path::to_path_buf)
    }

    /// The same set with only these changes.
    #[must_use]
    pub fn part(&self, chosen: impl Fn(&FileChange) -> bool) -> ChangeSet {
        let changes = self.changes.iter().filter(|c| chosen(c)).cloned().collect();
        ChangeSet { changes, ..self.clone() }
    }

    /// `paths` with all of each repository that one of them lies in: a ref without its objects is a broken one.
    pub(in crate::workspace) fn with_whole_repositories(
        &self,
        mut paths: BTreeSet<PathBuf>,
    ) -> BTreeSet<PathBuf> {
        let whole: BTreeSet<&Path> = paths.iter().filter_map(|path| self.repositories.of(path)).collect();
        let whole: BTreeSet<PathBuf> = whole.into_iter().map(Path::to_path_buf).collect();
        let in_one = |c: &&FileChange| self.repositories.of(&c.path).is_some_and(|r| whole.contains(r));
        paths.extend(self.changes.iter().filter(in_one).map(|c| c.path.clone()));
        paths
    }

    /// The repositories in whose work tree one of `paths` may lie. A repository that is no `.git` next to its files may
    /// have its work tree anywhere.
    pub(in crate::workspace) fn repositories_around(&self, paths: &BTreeSet<&Path>) -> BTreeSet<&Path> {
        let may_have = |repository: &Path| {
            let is_plain = repository.ends_with(".git");
            let work_tree = repository.parent().filter(|_| is_plain);
            paths.iter().any(|path| match work_tree {
                Some(dir) => path.starts_with(dir),
                None => true,
            })
        };
        self.repositories.outermost().filter(|r| may_have(r)).collect()
    }

    /// Every change of these repositories.
    pub(in crate::workspace) fn changes_of(
        &self,
        repositories: &BTreeSet<&Path>,
    ) -> impl Iterator<Item = &Path> {
        let all = self.changes.iter().map(|c| c.path.as_path());
        all.filter(|path| self.repositories.of(path).is_some_and(|r| repositories.contains(r)))
    }

    /// What was where `change` comes from, if it is a move.
    pub fn moved_node(&self, change: &FileChange) -> Option<&PathState> {
        change.moved_from.as_ref().and_then(|from| self.get(from)).map(|old| &old.before)
    }

    /// `paths` with the other end of each file that was moved: one without the other loses the file, or doubles it.
    #[must_use]
    pub fn with_other_ends(&self, mut paths: BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
        for change in &self.changes {
            let Some(from) = &change.moved_from else { continue };
            if paths.contains(from) || paths.contains(&change.path) {
                paths.extend([from.clone(), change.path.clone()]);
            }
        }
        paths
    }

    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub fn len(&self) -> usize {
        self.changes.len()
    }

    pub fn get(&self, path: &Path) -> Option<&FileChange> {
        let at = self.changes.binary_search_by(|c| c.path.as_path().cmp(path)).ok()?;
        self.changes.get(at)
    }

    /// The change at or above `path` that would make it a pipe, a socket or a device.
    pub(in crate::workspace) fn special_at(&self, path: &Path) -> Option<&FileChange> {
        let special = |dir: &Path| self.get(dir).filter(|c| matches!(c.after, PathState::Special { .. }));
        path.ancestors().find_map(special)
    }

    /// Those at or below `path`.
    pub fn below(&self, path: &Path) -> BTreeSet<PathBuf> {
        self.changes.iter().map(|c| &c.path).filter(|p| p.starts_with(path)).cloned().collect()
    }

    pub fn paths(&self) -> BTreeSet<PathBuf> {
        self.changes.iter().map(|c| c.path.clone()).collect()
    }

    /// `paths` with what cannot be left out when they land: the directories that a new file needs, and all that is in
    /// a directory that goes.
    pub fn closed(&self, paths: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
        if paths.len() >= self.changes.len() {
            return paths.clone();
        }
        let goes = |dir: &Path| {
            let change = self.get(dir).filter(|_| paths.contains(dir));
            change.is_some_and(|c| c.before.is_directory() && !c.after.is_directory())
        };
        let mut closed = paths.clone();
        for FileChange { path, before, after, .. } in &self.changes {
            let needed = after.is_directory() && !before.is_directory() && holds_some(paths, path);
            let dragged = after.is_absent() && path.ancestors().skip(1).any(goes);
            if needed || dragged {
                closed.insert(path.clone());
            }
        }
        closed
    }

    /// `paths` with what cannot stay when they go: all that is new in a directory that goes, and the going of a
    /// directory whose content stays.
    pub(in crate::workspace) fn discarded_with(&self, paths: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
        let mut all = paths.clone();
        if all.len() >= self.changes.len() {
            return all;
        }
        loop {
            let before = all.len();
            for FileChange { path, before, after, .. } in &self.changes {
                let vanishes =
                    |dir: &Path| all.contains(dir) && self.get(dir).is_some_and(|c| !c.before.is_directory());
                let holds_kept = before.is_directory() && !after.is_directory() && holds_some(&all, path);
                if holds_kept || path.ancestors().skip(1).any(vanishes) {
                    all.insert(path.clone());
                }
            }
            if all.len() == before {
                return all;
            }
        }
    }

    /// Lines added and removed in all texts of the set.
    pub fn lines(&self, objects: &ObjectStore) -> (usize, usize) {
        let counts = self.changes.iter().filter_map(|c| c.counts(objects));
        counts.fold((0, 0), |(a, r), (added, removed)| (a + added, r + removed))
    }

    /// One line for each path, in the words of `git status`: `M src/app.rs +3 -1`. What runs later comes first, each
    /// path by itself and with the reason, and then what is removed in one piece. The files that git writes in a
    /// repository are one line, a directory with more than a screenful of new files is one line.
    pub fn listing(
        &self,
        objects: &ObjectStore,
        classes: &ChangeClasses,
        git: &[RepositoryEvents],
        shown: impl Fn(&Path) -> PathBuf,
    ) -> Vec<String> {
        let name = |path: &Path| visible::path(&shown(path));
        let line = |row: ChangeRow<'_>| {
            let line = match row {
                ChangeRow::Repository(repository, files) => {
                    return self.repository_lines(&repository, files, git, &name);
                }
                ChangeRow::Directory(change, below) => {
                    let files = below.iter().filter(|c| c.before.is_file() || c.after.is_file()).count();
                    let bytes: u64 = below.iter().map(|c| c.after.size().max(c.before.size())).sum();
                    let letter = change.verb().letter();
                    format!("{letter} {}/ ({files} files, {bytes} bytes)", name(&change.path))
                }
                ChangeRow::One(change) => {
                    let line = change.line(self.moved_node(change), objects, &name);
                    match classes.of(&change.path) {
                        ChangeClass::RunsLater(runner) => {
                            format!("! {line} ({})", sanitize::line(&runner.why))
                        }
                        ChangeClass::RunsWithBuild(_) => format!("{line} (runs with the next build)"),
                        ChangeClass::Ordinary | ChangeClass::LargeLoss(_) => line,
                    }
                }
            };
            vec![line]
        };
        let mut lines: Vec<String> = self.rows(classes).into_iter().flat_map(line).collect();
        // A stable sort: both groups stay in the order of their paths.
        lines.sort_by_key(|line| !line.starts_with("! "));
        lines
    }

    /// What happens to the repository, and below it what must be seen by itself.
    fn repository_lines(
        &self,
        repository: &Path,
        files: usize,
        git: &[RepositoryEvents],
        name: &dyn Fn(&Path) -> String,
    ) -> Vec<String> {
        let counted = count::of(files, "file");
        let shown = name(repository);
        let change = self.repository_changes.iter().find(|c| c.path == repository);
        let mut lines = vec![match change.map_or(RepositoryChangeKind::Changed, |c| c.fate) {
            RepositoryChangeKind::Created if files == 0 => format!("A {shown} (new repository)"),
            RepositoryChangeKind::Created => format!("A {shown} (new repository, {counted})"),
            RepositoryChangeKind::Removed => format!("! D {shown} (removed the repository, {counted})"),
            RepositoryChangeKind::Changed => format!("M {shown} ({counted} of the repository)"),
        }];
        // Also those of its submodules and linked worktrees.
        for nested in git.iter().filter(|nested| nested.path.starts_with(repository)) {
            lines.extend(nested.lines(repository, name));
        }
        let text = |text: &str| sanitize::line(text).into_owned();
        let Some(change) = change else { return lines };
        lines.extend(change.facts.iter().map(|fact| fact.line(name, &text)));
        if change.more_facts > 0 {
            lines.push(format!("! {shown}: and {} more settings, hooks and links", change.more_facts));
        }
        lines
    }

    /// Part of the one line of its repository. What its settings name is listed as facts of the repository.
    fn is_folded(&self, path: &Path) -> bool {
        let settings =
            ["config", "config.worktree"].iter().any(|name| path.file_name() == Some(name.as_ref()));
        let at_top = || self.repositories.nearest(path) == path.parent();
        self.repositories.git_file(path).is_some()
            || self.repositories.nearest(path) == Some(path)
            || settings && at_top()
    }

    /// How many changes a person is shown: the lines of [`ChangeSet::listing`].
    pub fn listed(&self, classes: &ChangeClasses) -> usize {
        self.rows(classes).len()
    }

    fn rows(&self, classes: &ChangeClasses) -> Vec<ChangeRow<'_>> {
        const SCREENFUL: usize = 30;
        let apart: BTreeSet<&Path> = classes.to_approve(self).into_iter().map(|(path, _)| path).collect();
        let mut rows: Vec<ChangeRow<'_>> =
            self.changes.iter().filter(|c| apart.contains(c.path.as_path())).map(ChangeRow::One).collect();
        let mut skip: Option<PathBuf> = None;
        let moved: BTreeSet<&PathBuf> = self.changes.iter().filter_map(|c| c.moved_from.as_ref()).collect();
        for (at, change) in self.changes.iter().enumerate() {
            let is_plain = change.attribute_words(self.moved_node(change)).is_empty();
            if skip.as_ref().is_some_and(|dir| change.path.starts_with(dir)) {
                // Those in a repository are of git, and shown as what they do to it.
                if !is_plain
                    && self.repository_of(&change.path).is_none()
                    && classes.runner(&change.path).is_none()
                {
                    rows.push(ChangeRow::One(change));
                }
                continue;
            }
            let rest = self.changes.get(at..).unwrap_or_default();
            if classes.runner(&change.path).is_some() {
                continue;
            }
            let ordinary = |c: &&FileChange| classes.runner(&c.path).is_none();
            if let Some(repository) = self.repository_of(&change.path) {
                let inside = rest.iter().take_while(|c| c.path.starts_with(&repository)).filter(ordinary);
                let files = inside.filter(|c| !c.before.is_directory() && !c.after.is_directory());
                // What git does not write is named: any project can be made to look like a repository.
                let (own, others): (Vec<&FileChange>, Vec<&FileChange>) =
                    files.partition(|c| self.is_folded(&c.path));
                rows.push(ChangeRow::Repository(repository.clone(), own.len()));
                rows.extend(others.into_iter().map(ChangeRow::One));
                skip = Some(repository);
                continue;
            }
            let below: Vec<&FileChange> =
                rest.iter().skip(1).take_while(|c| c.path.starts_with(&change.path)).collect();
            let plain = below.iter().copied().filter(ordinary).collect::<Vec<&FileChange>>();
            if change.before.is_directory() != change.after.is_directory() && plain.len() > SCREENFUL {
                rows.push(ChangeRow::Directory(change, plain));
                skip = Some(change.path.clone());
                continue;
            }
            // A directory that has something new in it needs no line of its own.
            if change.after.is_directory() && change.before.is_absent() && !below.is_empty() && is_plain
                || change.before.is_directory() && change.after.is_absent() && !below.is_empty()
                || change.verb() == ChangeKind::Deleted && moved.contains(&change.path)
            {
                continue;
            }
            rows.push(ChangeRow::One(change));
        }
        rows
    }
}

/// What one line of a listing is about.
enum ChangeRow<'a> {
    /// A repository's own files, and how many.
    Repository(PathBuf, usize),
    /// A directory with all that is in it.
    Directory(&'a FileChange, Vec<&'a FileChange>),
    One(&'a FileChange),
}

/// True when something strictly below `dir` is among `paths`: it follows it at once in their order.
fn holds_some(paths: &BTreeSet<PathBuf>, dir: &Path) -> bool {
    use std::ops::Bound::{Excluded, Unbounded};
    paths.range::<Path, _>((Excluded(dir), Unbounded)).next().is_some_and(|next| next.starts_with(dir))
}
