//! Other ways to a file: a protected name may be a link, and the program then runs a file with a plain name.
//!
//! `.git/hooks/pre-commit -> ../../scripts/check.sh` makes `scripts/check.sh` a hook. The links that count have
//! protected names. They are searched in every directory above a changed path and one level below, in the two upper levels
//! of each root, and among what git tracks. Where a bound is reached, a link that nobody saw may lead to any file: then every
//! change waits.

use super::distant_links;
use super::other_names::{self, FileId};
use super::scope::ClassifyScope;
use super::unseen_links::{SearchBounds, UnseenLinks, each_entry};
use crate::changes::change_set::FileChange;
use crate::files::metadata::path_state::PathState;
use crate::files::opening::resolve::without_links;
use crate::files::walking::dirs_above::DirsAbove;
use crate::repository::flat;
use placet_permission::Runner;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Unbounded};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The most other names of one changed path that are tried.
const MOST_NAMES: usize = 1000;
/// The most other names of one file that a reason names.
const MOST_SHOWN: usize = 3;
/// What is large and has no protected links in it.
const SKIPPED: [&str; 5] = ["objects", "refs", "logs", "node_modules", "cache"];

#[derive(Debug, Default)]
pub(super) struct LinkIndex {
    /// What links lead to, and the links.
    targets: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    /// Files that have several names, and those names.
    names: BTreeMap<FileId, BTreeSet<PathBuf>>,
    /// Why more links may lead to a file.
    unseen: Option<UnseenLinks>,
    /// Why a file may have more names.
    unseen_names: Option<UnseenLinks>,
}

impl LinkIndex {
    pub(super) fn find(scope: &ClassifyScope<'_>, bounds: &SearchBounds) -> LinkIndex {
        let mut links = LinkIndex::default();
        let mut left = bounds.near;
        let dirs = dirs_above(scope);
        for dir in &dirs {
            links.look_in(dir, 2, scope, &mut left);
        }
        for change in &scope.set.changes {
            if let PathState::Link { target } = &*change.after {
                let to = change.path.parent().unwrap_or(Path::new("/")).join(target);
                links.add(flat(&to), change.path.to_path_buf());
            }
        }
        // Only where the change gives a path a content, its other names count.
        let comes =
            |change: &&FileChange| matches!(*change.after, PathState::File { .. } | PathState::Link { .. });
        let comes: Vec<&FileChange> = scope.set.changes.iter().filter(comes).collect();
        if !comes.is_empty() {
            links.look_far(&dirs, scope, &mut left);
            links.look_for_names(&comes, scope, bounds);
        }
        if left == 0 {
            links.unseen = Some(UnseenLinks::Near(bounds.near));
        }
        links
    }

    /// What it leads to need not exist yet.
    fn add_link(&mut self, link: PathBuf) {
        self.add(without_links(&link), link);
    }

    fn add(&mut self, target: PathBuf, link: PathBuf) {
        self.targets.entry(target).or_default().insert(link);
    }

    /// What git tracks in the work trees around the changes, and what is near the top of each root.
    fn look_far(&mut self, dirs: &BTreeSet<PathBuf>, scope: &ClassifyScope<'_>, left: &mut usize) {
        let above = scope.roots.iter().flat_map(|root| root.ancestors());
        let dirs: BTreeSet<&Path> = dirs.iter().map(PathBuf::as_path).chain(above).collect();
        let inside = |link: &&PathBuf| scope.roots.iter().any(|root| link.starts_with(root));
        for dir in dirs {
            for link in distant_links::tracked(dir).iter().filter(inside) {
                self.add_link(link.clone());
            }
        }
        for root in scope.roots {
            let (found, unseen) = distant_links::upper(root, left);
            found.into_iter().for_each(|link| self.add_link(link));
            self.unseen = self.unseen.take().or(unseen);
        }
    }

    /// What is written into a file changes it under all of its names, which may be anywhere.
    fn look_for_names(&mut self, comes: &[&FileChange], scope: &ClassifyScope<'_>, bounds: &SearchBounds) {
        let several: BTreeSet<FileId> = comes.iter().filter_map(|change| file_of(change)).collect();
        for root in scope.roots {
            let (names, unseen) = other_names::names(root, &several, bounds);
            for (file, name) in names {
                self.names.entry(file).or_default().insert(name);
            }
            self.unseen_names = self.unseen_names.take().or(unseen);
        }
    }

    fn look_in(&mut self, dir: &Path, depth: usize, scope: &ClassifyScope<'_>, left: &mut usize) {
        let mut below = Vec::new();
        let read = each_entry(dir, &mut |entry, kind| {
            if *left == 0 {
                return false;
            }
            *left -= 1;
            let name = entry.file_name();
            let path = entry.path();
            if kind.is_symlink() {
                self.add_link(path);
                return true;
            }
            // Below a directory with a protected name every file may count.
            if depth == 2 && !scope.protected.leads(&name) {
                return true;
            }
            if kind.is_dir() && depth > 0 && !SKIPPED.iter().any(|skipped| name == *skipped) {
                below.push(path);
            } else if kind.is_file()
                && let Ok(meta) = entry.metadata()
                && meta.nlink() > 1
            {
                self.names.entry((meta.dev(), meta.ino())).or_default().insert(path);
            }
            true
        });
        if let Err(e) = read {
            self.unseen.get_or_insert_with(|| UnseenLinks::unreadable(dir, &e));
        }
        below.iter().for_each(|dir| self.look_in(dir, depth - 1, scope, left));
    }

    /// Who runs the file later by another of its names.
    pub(super) fn of(&self, change: &FileChange, scope: &ClassifyScope<'_>) -> Option<Runner> {
        let names_unseen = || self.unseen_names.as_ref().filter(|_| file_of(change).is_some());
        self.found(change, scope).or_else(|| Some(self.unseen.as_ref().or_else(names_unseen)?.runner()))
    }

    /// The same by the names that were found.
    pub(super) fn found(&self, change: &FileChange, scope: &ClassifyScope<'_>) -> Option<Runner> {
        let by_twin = || scope.runner_of(change.twin.as_deref()?);
        self.found_at(&change.path, scope).or_else(by_twin).or_else(|| {
            let names = self.names.get(&file_of(change)?)?;
            names.iter().filter(|name| ***name != *change.path).find_map(|name| scope.runner_of(name))
        })
    }

    /// That other names of the file change with it, and which.
    pub(super) fn other_names(&self, change: &FileChange, scope: &ClassifyScope<'_>) -> Option<Runner> {
        if change.after.is_absent() {
            return None;
        }
        let (file, count) = names_of_file(change)?;
        let known = self.names.get(&file).into_iter().flatten().filter(|name| ***name != *change.path);
        let names: Vec<String> =
            known.take(MOST_SHOWN).map(|name| format!("`{}`", scope.shown(name))).collect();
        let others = usize::try_from(count - 1).unwrap_or(usize::MAX);
        let names = match (names.is_empty(), others.saturating_sub(names.len())) {
            (true, 1) => "placet did not find it".into(),
            (true, _) => "placet did not find them".into(),
            (false, 0) => names.join(", "),
            (false, more) => format!("{} and {more} more", names.join(", ")),
        };
        let why = match others {
            1 => format!("the file has another name, which changes, too: {names}"),
            others => format!("the file has {others} other names, which change, too: {names}"),
        };
        Some(Runner { by: Runner::PLACET.into(), why })
    }

    /// Who runs the file later by a name that is a link to `path`.
    pub(super) fn of_path(&self, path: &Path, scope: &ClassifyScope<'_>) -> Option<Runner> {
        self.found_at(path, scope).or_else(|| Some(self.unseen.as_ref()?.runner()))
    }

    fn found_at(&self, path: &Path, scope: &ClassifyScope<'_>) -> Option<Runner> {
        let names = self.names_of(path);
        let runner = names.iter().find_map(|name| scope.runner_of(name));
        // A name among those that were not tried may be a protected one.
        runner.or_else(|| (names.len() >= MOST_NAMES).then(many_links))
    }

    /// The paths that lead through the link at `path`, each with what they lead to below it: the link itself, links to
    /// it, and links to what is below it.
    pub(super) fn led_by(&self, path: &Path) -> Vec<(PathBuf, PathBuf)> {
        let mut led = vec![(path.to_path_buf(), PathBuf::new())];
        led.extend(self.names_of(path).into_iter().map(|name| (name, PathBuf::new())));
        let below = self.targets.range::<Path, _>((Excluded(path), Unbounded));
        for (target, links) in below.take_while(|(target, _)| target.starts_with(path)) {
            let Ok(rest) = target.strip_prefix(path) else { continue };
            for link in links {
                led.push((link.clone(), rest.to_path_buf()));
                led.extend(self.names_of(link).into_iter().map(|name| (name, rest.to_path_buf())));
            }
        }
        led
    }

    /// The other paths by which links lead to `path`, the nearest first: a link may lead to a link. No more than
    /// [`MOST_NAMES`].
    fn names_of(&self, path: &Path) -> Vec<PathBuf> {
        if self.targets.is_empty() {
            return Vec::new();
        }
        let mut names = vec![path.to_path_buf()];
        let mut seen = BTreeSet::from([path.to_path_buf()]);
        let mut next = 0;
        while let Some(name) = names.get(next).cloned() {
            for at in name.ancestors() {
                for link in self.targets.get(at).into_iter().flatten() {
                    let Ok(rest) = name.strip_prefix(at) else { continue };
                    // A link to a directory that contains it gives every path infinitely many names.
                    if names.len() > MOST_NAMES || next > 0 && link.starts_with(at) {
                        continue;
                    }
                    let by_link = if rest.as_os_str().is_empty() { link.clone() } else { link.join(rest) };
                    if seen.insert(by_link.clone()) {
                        names.push(by_link);
                    }
                }
            }
            next += 1;
        }
        names.split_off(1)
    }
}

fn many_links() -> Runner {
    let why = format!("{MOST_NAMES} links or more lead to it; placet did not look at all of them");
    Runner { by: Runner::PLACET.into(), why }
}

/// The file of the workspace into which the change is written in place, if it has several names. All names of such a file
/// change.
fn file_of(change: &FileChange) -> Option<FileId> {
    names_of_file(change).map(|(file, _)| file)
}

/// The same with the number of its names.
fn names_of_file(change: &FileChange) -> Option<(FileId, u64)> {
    if !is_written_in_place(change) {
        return None;
    }
    let meta = std::fs::symlink_metadata(&change.path).ok()?;
    (meta.is_file() && meta.nlink() > 1).then(|| ((meta.dev(), meta.ino()), meta.nlink()))
}

/// An apply replaces a file that a command changed. It writes in place what a file tool changed, what only gets another
/// mode, owner or attribute, and what has an owner that only root can give to a new file.
fn is_written_in_place(change: &FileChange) -> bool {
    if change.by_tool {
        return true;
    }
    let (PathState::File { .. }, PathState::File { attrs, .. }) = (&*change.before, &*change.after) else {
        return false;
    };
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let is_own = (attrs.uid, attrs.gid) == (user.as_raw(), group.as_raw());
    change.before.same_content(&change.after) || !is_own && !user.is_root()
}

/// The directories above changed paths, as far as they are in the workspace.
fn dirs_above(scope: &ClassifyScope<'_>) -> BTreeSet<PathBuf> {
    let mut dirs = DirsAbove::default();
    let above = scope.set.changes.iter().flat_map(|change| dirs.new_above(&change.path));
    let inside = above.filter(|dir| scope.roots.iter().any(|root| dir.starts_with(root)));
    inside.map(Path::to_path_buf).collect()
}
