//! Other ways to a file: a protected name may be a link, so that a file with a plain name is what the program runs.
//!
//! `.git/hooks/pre-commit -> ../../scripts/check.sh` makes `scripts/check.sh` a hook. The links that count have
//! protected names, so only these are looked for: in every directory above a changed path, and one level below.

use super::{Classifier, PathClass};
use crate::permission::Runner;
use crate::workspace::change::Change;
use crate::workspace::node::Node;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// The most entries of directories that are looked at for one change set.
const MOST: usize = 200_000;
/// What is large and has no protected links in it.
const SKIPPED: [&str; 5] = ["objects", "refs", "logs", "node_modules", "cache"];

#[derive(Debug, Default)]
pub(super) struct Links {
    /// What a protected link leads to, and the link.
    targets: BTreeMap<PathBuf, PathBuf>,
    /// Protected files that have other names, by device and inode.
    names: BTreeMap<(u64, u64), PathBuf>,
}

impl Links {
    pub(super) fn find(classifier: &Classifier<'_>) -> Links {
        let mut links = Links::default();
        let mut left = MOST;
        for dir in dirs_above(classifier) {
            links.look_in(&dir, 2, classifier, &mut left);
        }
        for change in &classifier.set.changes {
            if let Node::Link { target } = &change.after {
                let to = change.path.parent().unwrap_or(Path::new("/")).join(target);
                links.targets.insert(normal(&to), change.path.clone());
            }
        }
        links
    }

    fn look_in(&mut self, dir: &Path, depth: usize, classifier: &Classifier<'_>, left: &mut usize) {
        for entry in std::fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok) {
            if *left == 0 {
                return;
            }
            *left -= 1;
            let name = entry.file_name();
            // Below a directory with a protected name every link may count.
            if depth == 2 && !classifier.protected.leads(&name) {
                continue;
            }
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            if kind.is_symlink() {
                if let Ok(target) = std::fs::canonicalize(&path) {
                    self.targets.insert(target, path);
                }
            } else if kind.is_dir() && depth > 0 && !SKIPPED.iter().any(|skipped| name == *skipped) {
                self.look_in(&path, depth - 1, classifier, left);
            } else if kind.is_file()
                && let Ok(meta) = entry.metadata()
                && meta.nlink() > 1
            {
                self.names.insert((meta.dev(), meta.ino()), path);
            }
        }
    }

    /// Who runs the file later by another of its names.
    pub(super) fn of(&self, change: &Change, classifier: &Classifier<'_>) -> Option<Runner> {
        let later = |path: &Path| match classifier.of_path(path) {
            PathClass::RunsLater(runner) => Some(runner),
            _ => None,
        };
        let linked = change.path.ancestors().find_map(|at| {
            let link = self.targets.get(at)?;
            let rest = change.path.strip_prefix(at).ok()?;
            let by_name = if rest.as_os_str().is_empty() { link.clone() } else { link.join(rest) };
            (by_name != change.path).then(|| later(&by_name))?
        });
        linked.or_else(|| self.twin(change).and_then(|twin| later(twin)))
    }

    /// A file tool writes into a file that has several names, so all of them change.
    fn twin<'a>(&'a self, change: &'a Change) -> Option<&'a PathBuf> {
        if let Some(twin) = &change.twin {
            return Some(twin);
        }
        if self.names.is_empty() || !change.by_tool {
            return None;
        }
        let meta = std::fs::symlink_metadata(&change.path).ok()?;
        self.names.get(&(meta.dev(), meta.ino())).filter(|name| **name != change.path)
    }
}

/// The directories above changed paths, as far as they are in the workspace.
fn dirs_above(classifier: &Classifier<'_>) -> BTreeSet<PathBuf> {
    let mut dirs: BTreeSet<PathBuf> = BTreeSet::new();
    for change in &classifier.set.changes {
        for dir in change.path.ancestors().skip(1) {
            let inside = classifier.roots.iter().any(|root| dir.starts_with(root));
            if !inside || !dirs.insert(dir.to_path_buf()) {
                break;
            }
        }
    }
    dirs
}

/// Without `.` and `..`, by the words alone.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}
