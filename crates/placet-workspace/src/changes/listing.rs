//! The list of changes that a person reads: what each row says, and which paths it is about.

use super::change_set::{ChangeKind, ChangeSet, FileChange};
use super::classify::{ChangeClass, ChangeClasses, LargeLoss};
use super::renames::RenamedFiles;
use crate::files::metadata::path_state::PathState;
use crate::history::objects::ObjectStore;
use crate::repository::{
    CommitPatch, MOST_NAMED, RepositoryChange, RepositoryChangeKind, RepositoryEvents, RepositoryFact,
    RepositoryRow, flat,
};
use placet_text::text::{count, sanitize, visible};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One row of a list of changes. All text in it is rendered for a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedChange {
    /// What happens to which path, in the words of `git status`: `M src/app.rs`. What a repository's files mean is
    /// indented by two blanks below the row of the repository.
    pub text: String,
    /// Lines added and removed, where the change has lines.
    pub lines: Option<(usize, usize)>,
    /// The text after the counts, such as why the path runs later.
    pub note: String,
    /// The row must be seen first.
    pub needs_care: bool,
    /// It is applied only with an answer of its own: [`ListedChange::line`] marks it with `! `. Such a row needs care.
    pub needs_approval: bool,
    /// The file was there before and is there after: neither new nor removed.
    pub is_edit: bool,
    /// The row is about files that git writes in a repository: the rows give their meaning, and nobody needs to read
    /// their bytes.
    pub is_of_git: bool,
    /// Of the row of a repository, the name of the repository.
    pub repository: Option<String>,
    /// Of a commit, and of what else git stores, what is in it.
    pub commit: Option<CommitPatch>,
    /// The paths of the set whose contents it is about.
    pub paths: Vec<Arc<Path>>,
    /// A yes to all of the changes does not apply it: [`leave_out_waiting`].
    pub is_left_out: bool,
    /// The workspace has another change of the same lines: nothing is applied before the person has chosen.
    pub is_conflict: bool,
    /// Of the row of a repository that something else changed since: what happened to it. It cannot be applied.
    pub moved: Option<String>,
}

/// What the row of a conflict says.
const CONFLICT: &str = "conflict: this is the agent's change, yours is different: the review decides";

/// How a row below the row of a repository begins.
const BELOW: &str = "  ";

impl ListedChange {
    /// The whole row: `! A .envrc +1 -0 (direnv runs it when you enter this directory)`.
    pub fn line(&self) -> String {
        let mark = if self.needs_approval { "! " } else { "" };
        let lines = self.lines.map(|(added, removed)| format!(" +{added} -{removed}")).unwrap_or_default();
        let gap = if self.note.is_empty() { "" } else { " " };
        format!("{mark}{}{lines}{gap}{}", self.text, self.note)
    }

    /// Adds words to those after the counts.
    pub fn add_note(&mut self, words: &str) {
        let gap = if self.note.is_empty() { "" } else { " " };
        self.note.push_str(&format!("{gap}{words}"));
    }

    /// Says that the file has another change in the workspace.
    pub fn mark_conflict(&mut self) {
        self.add_note(&format!("({CONFLICT})"));
        (self.is_conflict, self.needs_care) = (true, true);
    }

    /// Says that something else changed the repository of the row since.
    pub fn mark_moved(&mut self, (happened, words): (&str, &str), advice: &str) {
        self.add_note(&format!("({words})"));
        (self.moved, self.needs_care) = (Some(format!("{happened}; {advice}")), true);
    }

    /// No answer can apply it.
    pub fn is_blocked(&self) -> bool {
        self.moved.is_some()
    }

    /// The first row, where conflicts were not looked for in all files.
    pub fn conflicts_unknown(files: usize) -> ListedChange {
        let files = count::of(files, "file");
        ListedChange::care(format!(
            "conflicts with the workspace were not looked for in {files}: too many, or too large"
        ))
    }

    fn text(text: String) -> ListedChange {
        ListedChange { text, ..ListedChange::default() }
    }

    /// Below the row of a repository, unless it is moved to the top.
    fn below(row: RepositoryRow) -> ListedChange {
        match row.needs_care {
            true => ListedChange {
                needs_approval: row.needs_approval,
                note: row.note,
                commit: row.patch,
                ..ListedChange::care(row.text)
            },
            false => ListedChange {
                is_of_git: row.patch.is_some(),
                note: row.note,
                commit: row.patch,
                ..ListedChange::text(format!("{BELOW}{}", row.text))
            },
        }
    }

    fn care(text: String) -> ListedChange {
        ListedChange { text, needs_care: true, ..ListedChange::default() }
    }
}

impl FileChange {
    /// The row about this change alone; `from` is what was where it comes from, if it was moved.
    fn listed(
        &self,
        from: Option<&PathState>,
        objects: &ObjectStore,
        name: &dyn Fn(&Path) -> String,
    ) -> ListedChange {
        let slash = self.slash();
        let mut text = format!("{} ", self.verb().letter());
        if let Some(from) = &self.moved_from {
            text.push_str(&format!("{} -> ", name(from)));
        }
        text.push_str(&format!("{}{slash}", name(&self.path)));
        match (&*self.before, &*self.after) {
            (_, PathState::Special { what, .. }) => text.push_str(&format!(" ({what}: never applied)")),
            (before, PathState::Link { target }) => {
                text.push_str(&format!(" -> {}", visible::path(Path::new(target))));
                if let PathState::Link { target } = before {
                    text.push_str(&format!(", was -> {}", visible::path(Path::new(target))));
                }
            }
            (PathState::Link { target }, PathState::Absent) => {
                text.push_str(&format!(" -> {}", visible::path(Path::new(target))));
            }
            (PathState::Link { target }, _) => {
                text.push_str(&format!(", was -> {}", visible::path(Path::new(target))));
            }
            _ => {}
        }
        for words in self.attribute_words(from) {
            text.push_str(&format!(" {words}"));
        }
        let moved_only = from.is_some_and(|from| from.hash().is_some() && from.hash() == self.after.hash());
        let mut lines = None;
        if (self.before.is_file() || self.after.is_file()) && !moved_only {
            lines = self.counts(objects);
            if lines.is_none() {
                text.push_str(&format!(" {} to {} bytes", self.before.size(), self.after.size()));
            }
        }
        let raced = self.raced.then(|| "(changed by others at the same time)".into());
        let twin = self.twin_words(name).map(|words| format!("({words})"));
        let note = twin.into_iter().chain(raced).collect::<Vec<String>>().join(" ");
        ListedChange {
            text,
            lines: lines.filter(|counts| *counts != (0, 0)),
            note,
            is_edit: self.before.is_file() && self.after.is_file(),
            paths: vec![self.path.clone()],
            ..ListedChange::default()
        }
    }
}

impl FileChange {
    /// The row of a file that was renamed from `old` and changed.
    fn listed_from(
        &self,
        old: &FileChange,
        objects: &ObjectStore,
        name: &dyn Fn(&Path) -> String,
    ) -> ListedChange {
        let (from, to) = (name(&old.path), name(&self.path));
        let mut text = format!("{} {from} -> {to}", ChangeKind::Renamed.letter());
        for words in self.attribute_words(Some(&old.before)) {
            text.push_str(&format!(" {words}"));
        }
        let lines = self.counts_from(old, objects).filter(|counts| *counts != (0, 0));
        let note = self.twin_words(name).map(|words| format!("({words})")).unwrap_or_default();
        let paths = vec![self.path.clone()];
        ListedChange { text, lines, note, is_edit: true, paths, ..ListedChange::default() }
    }

    /// Of which file the path becomes another name: a later write to one of the two changes both.
    pub fn twin_words(&self, name: &dyn Fn(&Path) -> String) -> Option<String> {
        let twin = self.twin.as_ref().filter(|_| self.after.is_file())?;
        Some(format!("another name of {}", name(twin)))
    }

    /// Says that the path becomes a link that leads out of the workspace, as far as the names say it. `name` gives a path
    /// the name that a person knows: relative where it is inside.
    pub fn outside_words(&self, name: &dyn Fn(&Path) -> String) -> Option<&'static str> {
        let PathState::Link { target } = &*self.after else { return None };
        let to = name(&flat(&self.path.parent().unwrap_or(Path::new("/")).join(target)));
        (to.starts_with('/') || to.starts_with("~/")).then_some("(outside the workspace)")
    }

    /// A link comes, goes or changes, and no file: its row shows all of that.
    pub fn is_link_alone(&self) -> bool {
        let is_link = |state: &PathState| matches!(state, PathState::Link { .. });
        (is_link(&self.before) || is_link(&self.after)) && !self.before.is_file() && !self.after.is_file()
    }

    /// What the name ends with: `/` where the path becomes a directory, or was one and goes.
    pub fn slash(&self) -> &'static str {
        let is_directory = self.after.is_directory() || self.before.is_directory() && self.after.is_absent();
        if is_directory { "/" } else { "" }
    }

    /// Which servers made a part of the change.
    fn server_words(&self) -> String {
        let origins = self.made_by();
        let servers: BTreeSet<&str> = origins.iter().filter_map(|origin| origin.server.as_deref()).collect();
        match servers.is_empty() {
            true => String::new(),
            false => {
                let names: Vec<&str> = servers.into_iter().collect();
                format!("(by the server {})", sanitize::line(&names.join(", ")))
            }
        }
    }
}

/// Which of the files in a new directory are other names of files outside of it.
fn twins_elsewhere(dir: &Path, below: &[&FileChange], name: &dyn Fn(&Path) -> String) -> String {
    let twin = |change: &&FileChange| change.twin.clone().filter(|twin| !twin.starts_with(dir));
    let twins: Vec<Arc<Path>> = below.iter().filter_map(twin).collect();
    if twins.is_empty() {
        return String::new();
    }
    let mut names: Vec<String> = twins.iter().take(MOST_NAMED).map(|twin| name(twin)).collect();
    if twins.len() > names.len() {
        names.push(format!("and {} more", twins.len() - names.len()));
    }
    let files = count::of(twins.len(), "file");
    format!("({files} in it: another name of {})", names.join(", "))
}

/// What a directory contained that `change` removes or replaces: `the directory and everything in it: 14 files`.
pub fn removed_words(change: &FileChange, below: &[&FileChange]) -> String {
    let files = below.iter().filter(|c| !c.before.is_directory()).count();
    let counted = match files {
        0 => count::of(below.len(), "directory"),
        files => count::of(files, "file"),
    };
    match change.after.is_absent() {
        true => format!("the directory and everything in it: {counted}"),
        false => format!("in place of the directory and everything in it: {counted}"),
    }
}

impl ChangeSet {
    /// What is removed with the directory that `change` removes. Empty for every other change, and for a directory that
    /// was empty.
    pub fn removed_below(&self, change: &FileChange) -> Vec<&FileChange> {
        if !change.before.is_directory() || change.after.is_directory() {
            return Vec::new();
        }
        let below = self.below(&change.path);
        let changes = below.iter().filter(|path| **path != change.path).filter_map(|path| self.get(path));
        changes.filter(|c| !c.before.is_absent()).collect()
    }

    /// One row for each path. Paths that run later come first, each by itself and with the reason, and then the paths
    /// that are removed as a whole. The files that git writes in a repository are one row, with their meaning below it.
    /// A directory with more than a screenful of new files is one row.
    pub fn listing(
        &self,
        objects: &ObjectStore,
        classes: &ChangeClasses,
        git: &[RepositoryEvents],
        shown: impl Fn(&Path) -> PathBuf,
    ) -> Vec<ListedChange> {
        let name = |path: &Path| visible::path(&shown(path));
        let change_rows = self.rows(classes);
        let renamed = self.renames_among(&change_rows, classes, objects);
        let listed = |row: ChangeRow<'_>| {
            let row = match row {
                ChangeRow::One(change) if renamed.is_old(&change.path) => return Vec::new(),
                ChangeRow::Repository(repository, own) => {
                    return self.repository_listing(&repository, &own, git, classes, &name);
                }
                ChangeRow::Directory(change, below) => {
                    let files = below.iter().filter(|c| c.before.is_file() || c.after.is_file()).count();
                    let bytes: u64 = below.iter().map(|c| c.after.size().max(c.before.size())).sum();
                    let letter = change.verb().letter();
                    let paths = below.iter().map(|c| c.path.clone());
                    ListedChange {
                        text: format!("{letter} {}/ ({files} files, {bytes} bytes)", name(&change.path)),
                        note: twins_elsewhere(&change.path, &below, &name),
                        paths: std::iter::once(change.path.clone()).chain(paths).collect(),
                        ..ListedChange::default()
                    }
                }
                ChangeRow::One(change) => {
                    let old = renamed.old_of(change, self);
                    let mut row = match old {
                        Some(old) => change.listed_from(old, objects, &name),
                        None => change.listed(self.moved_node(change), objects, &name),
                    };
                    row.paths.extend(old.map(|old| old.path.clone()).or(change.moved_from.clone()));
                    let removed = self.removed_below(change);
                    if !removed.is_empty() {
                        row.text.push_str(&format!(" ({})", removed_words(change, &removed)));
                        row.paths.extend(removed.iter().map(|c| c.path.clone()));
                    }
                    let why = match classes.of(&change.path) {
                        ChangeClass::RunsLater(runner) => {
                            (row.needs_care, row.needs_approval) = (true, true);
                            let settings = self.harmless_settings(&change.path, &name);
                            let why = sanitize::line(&runner.why).into_owned();
                            let parts = std::iter::once(why).chain(settings);
                            format!("({})", parts.collect::<Vec<_>>().join("; "))
                        }
                        ChangeClass::RunsWithBuild(_) => "(runs with the next build)".into(),
                        ChangeClass::Ordinary | ChangeClass::LargeLoss(_) => String::new(),
                    };
                    let outside = change.outside_words(&name).unwrap_or_default().to_string();
                    let operation = classes.operation_around(&change.path);
                    let with = operation.map(|repository| format!("(waits with {})", name(&repository.path)));
                    let with = with.unwrap_or_default();
                    let notes = [std::mem::take(&mut row.note), outside, change.server_words(), why, with];
                    row.note = notes.into_iter().filter(|n| !n.is_empty()).collect::<Vec<_>>().join(" ");
                    row
                }
            };
            vec![row]
        };
        let has_row = |repository: &RepositoryEvents| {
            self.changes.iter().any(|change| {
                self.repositories.of(&change.path).is_some_and(|of| repository.path.starts_with(of))
            })
        };
        // Of what was applied, a repository has no files among the changes.
        let alone = git.iter().filter(|repository| !has_row(repository)).flat_map(|repository| {
            let shown = name(&repository.path);
            let text = match repository.fate {
                RepositoryChangeKind::Created => format!("A {shown} (new repository)"),
                RepositoryChangeKind::Changed => format!("M {shown}"),
                RepositoryChangeKind::Removed => format!("D {shown} (removed the repository)"),
            };
            let row = ListedChange { is_of_git: true, repository: Some(shown), ..ListedChange::text(text) };
            let below = repository.rows(&repository.path, &name).into_iter().map(ListedChange::below);
            std::iter::once(row).chain(below)
        });
        care_first(change_rows.into_iter().flat_map(listed).chain(alone.collect::<Vec<_>>()).collect())
    }

    /// The files that were renamed and changed, and are one row of the list.
    pub fn listed_renames(&self, classes: &ChangeClasses, objects: &ObjectStore) -> RenamedFiles {
        self.renames_among(&self.rows(classes), classes, objects)
    }

    fn renames_among(
        &self,
        rows: &[ChangeRow<'_>],
        classes: &ChangeClasses,
        objects: &ObjectStore,
    ) -> RenamedFiles {
        let one = |row: &ChangeRow<'_>| match row {
            ChangeRow::One(change) => Some(change.path.clone()),
            ChangeRow::Repository(..) | ChangeRow::Directory(..) => None,
        };
        let runs_later = |path: &Path| classes.runner(path).is_some();
        RenamedFiles::of(self, &runs_later, objects).among(&rows.iter().filter_map(one).collect())
    }

    /// What happens to a repository of a set that is applied, of which only the paths are known.
    fn fate_by_path(&self, repository: &Path) -> RepositoryChangeKind {
        match self.get(repository) {
            Some(change) if change.before.is_absent() => RepositoryChangeKind::Created,
            Some(change) if change.after.is_absent() => RepositoryChangeKind::Removed,
            _ => RepositoryChangeKind::Changed,
        }
    }

    /// What happens to the repository, and below it what must be seen by itself. `own` are its files that git writes.
    fn repository_listing(
        &self,
        repository: &Path,
        own: &[&FileChange],
        git: &[RepositoryEvents],
        classes: &ChangeClasses,
        name: &dyn Fn(&Path) -> String,
    ) -> Vec<ListedChange> {
        let counted = count::of(own.len(), "file");
        let shown = name(repository);
        let change = self.repository_changes.iter().find(|c| *c.path == *repository);
        // A worktree and a submodule have a file in its place.
        let is_link =
            |change: &&FileChange, state: &PathState| *change.path == *repository && state.is_file();
        let row = match change.map_or_else(|| self.fate_by_path(repository), |c| c.fate) {
            RepositoryChangeKind::Created if own.is_empty() => {
                ListedChange::text(format!("A {shown} (new repository)"))
            }
            RepositoryChangeKind::Created if own.first().is_some_and(|c| is_link(c, &c.after)) => {
                ListedChange::text(format!("A {shown} (the link to its repository)"))
            }
            RepositoryChangeKind::Created => {
                ListedChange::text(format!("A {shown} (new repository, {counted})"))
            }
            RepositoryChangeKind::Removed if own.first().is_some_and(|c| is_link(c, &c.before)) => {
                ListedChange::care(format!("D {shown} (removed the link to its repository)"))
            }
            RepositoryChangeKind::Removed => {
                ListedChange::care(format!("D {shown} (removed the repository, {counted})"))
            }
            RepositoryChangeKind::Changed if own.is_empty() => ListedChange::text(format!("M {shown}")),
            RepositoryChangeKind::Changed => {
                ListedChange::text(format!("M {shown} ({counted} of the repository)"))
            }
        };
        let paths = own.iter().map(|c| c.path.clone()).collect();
        let is_loss = row.needs_care && {
            let lost = classes.lost_paths(self);
            own.iter().any(|c| lost.contains(&*c.path))
        };
        let waits = classes.waiting_repositories().find(|waiting| waiting.path == repository);
        let note = waits.map(|waiting| format!("({})", sanitize::line(&waiting.runner.why)));
        let needs_approval = row.needs_care && is_loss || waits.is_some();
        let (note, needs_care) = (note.unwrap_or_default(), row.needs_care || waits.is_some());
        let repository_name = Some(shown.clone());
        let mut rows = vec![ListedChange {
            paths,
            note,
            needs_care,
            needs_approval,
            is_of_git: true,
            repository: repository_name,
            ..row
        }];
        // Also those of its submodules and linked worktrees.
        for nested in git.iter().filter(|nested| nested.path.starts_with(repository)) {
            rows.extend(nested.rows(repository, name).into_iter().map(ListedChange::below));
        }
        for loss in &classes.losses {
            if let LargeLoss::Repository { path, files } = loss
                && path.starts_with(repository)
                && path != repository
            {
                let words =
                    format!("D {} (removed the repository, {})", name(path), count::of(*files, "file"));
                rows.push(ListedChange::below(RepositoryRow::care(words)));
            }
        }
        let text = |text: &str| sanitize::line(text).into_owned();
        let Some(change) = change else { return rows };
        // A file that is listed by itself says there what it sets.
        let said = |fact: &&RepositoryFact| {
            classes.runner(fact.file()).is_some() && change.facts_of(fact.file()).count() <= MOST_NAMED
        };
        let facts = change.facts.iter().filter(|fact| !said(fact));
        rows.extend(facts.map(|fact| ListedChange::below(fact.row(name, &text))));
        if change.more_facts > 0 {
            let more = format!("{shown}: and {} more settings, hooks and links", change.more_facts);
            rows.push(ListedChange::care(more));
        }
        rows
    }

    /// What a file of settings that is listed by itself sets besides what runs later; nothing where that is too much for a
    /// line, and has lines of its own.
    fn harmless_settings(&self, path: &Path, name: &dyn Fn(&Path) -> String) -> Vec<String> {
        let in_it = |change: &&RepositoryChange| change.facts.iter().any(|fact| fact.file() == path);
        let Some(change) = self.repository_changes.iter().find(in_it) else { return Vec::new() };
        if change.facts_of(path).count() > MOST_NAMED {
            return Vec::new();
        }
        let text = |text: &str| sanitize::line(text).into_owned();
        let harmless = change.facts_of(path).filter(|fact| fact.runs().is_none());
        harmless.map(|fact| fact.words(name, &text)).collect()
    }

    fn rows(&self, classes: &ChangeClasses) -> Vec<ChangeRow<'_>> {
        const SCREENFUL: usize = 30;
        let apart: BTreeSet<&Path> = classes.marked(self).map(|(path, _)| path).collect();
        let mut rows: Vec<ChangeRow<'_>> =
            self.changes.iter().filter(|c| apart.contains(&*c.path)).map(ChangeRow::One).collect();
        // A directory that is one row, and a repository, which is one also in such a directory.
        let (mut folded, mut skip): (Option<PathBuf>, Option<PathBuf>) = (None, None);
        let moved: BTreeSet<&Arc<Path>> = self.changes.iter().filter_map(|c| c.moved_from.as_ref()).collect();
        for (at, change) in self.changes.iter().enumerate() {
            let is_plain = change.attribute_words(self.moved_node(change)).is_empty();
            let is_in = |dir: &Option<PathBuf>| dir.as_ref().is_some_and(|dir| change.path.starts_with(dir));
            // What is of git is shown as what it does to the repository.
            if is_in(&skip) {
                continue;
            }
            if is_in(&folded) && self.repository_of(&change.path).is_none() {
                if !is_plain && classes.runner(&change.path).is_none() {
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
                    files.partition(|c| self.repositories.is_written_by_git(&c.path));
                rows.push(ChangeRow::Repository(repository.clone(), own));
                rows.extend(others.into_iter().map(ChangeRow::One));
                skip = Some(repository);
                continue;
            }
            let below: Vec<&FileChange> =
                rest.iter().skip(1).take_while(|c| c.path.starts_with(&change.path)).collect();
            let plain = below.iter().copied().filter(ordinary);
            let plain = plain.filter(|c| self.repository_of(&c.path).is_none()).collect::<Vec<&FileChange>>();
            if change.before.is_directory() != change.after.is_directory() && plain.len() > SCREENFUL {
                rows.push(ChangeRow::Directory(change, plain));
                folded = Some(change.path.to_path_buf());
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

/// What must be seen first, and then the rest, both in their order. What is below a repository that waits stays there.
pub fn care_first(rows: Vec<ListedChange>) -> Vec<ListedChange> {
    let (first, rest) = care_first_order(&rows);
    let mut rows: Vec<Option<ListedChange>> = rows.into_iter().map(Some).collect();
    first.into_iter().chain(rest).filter_map(|at| rows.get_mut(at)?.take()).collect()
}

/// Marks the rows of what is asked about by itself, with the rows below a repository that waits.
pub fn leave_out_waiting(rows: &mut [ListedChange], set: &ChangeSet, classes: &ChangeClasses) {
    let asked = classes.to_approve(set).into_iter();
    let waiting: BTreeSet<Arc<Path>> = asked.flat_map(|(path, _)| classes.approved_with(set, path)).collect();
    let mut is_below_waiting = false;
    for row in rows {
        let is_below = row.text.starts_with(BELOW);
        row.is_left_out = match row.is_of_git && is_below {
            true => is_below_waiting,
            false => !row.paths.is_empty() && row.paths.iter().all(|path| waiting.contains(path)),
        };
        if row.is_of_git && !is_below {
            is_below_waiting = row.is_left_out;
        }
    }
}

/// The places of the rows that must be seen first, and of the rest.
pub fn care_first_order(rows: &[ListedChange]) -> (Vec<usize>, Vec<usize>) {
    let mut is_below_first = false;
    (0..rows.len()).partition(|at| {
        let Some(row) = rows.get(*at) else { return false };
        let is_below = row.text.starts_with(BELOW);
        if row.is_of_git && !is_below {
            is_below_first = row.needs_approval;
        }
        row.needs_care || is_below && is_below_first
    })
}

/// What one line of a listing is about.
enum ChangeRow<'a> {
    /// A repository, and its files that git writes.
    Repository(PathBuf, Vec<&'a FileChange>),
    /// A directory with all that is in it.
    Directory(&'a FileChange, Vec<&'a FileChange>),
    One(&'a FileChange),
}
