//! A link whose path is the beginning of protected ones: after `.cargo -> real`, `real/config.toml` is the file
//! `.cargo/config.toml`, which Cargo obeys.
//!
//! That file may have come in an earlier turn, under its plain name, so the link itself has to wait. A link with a hidden
//! name of this kind waits whatever it leads to. Links such as `lib` and `etc` are everyday ones: they wait where they
//! give a file a protected name. Files that come after the link are classified by the link (`links.rs`).

use super::links::LinkIndex;
use super::merged_tree::{MergedEntry, MergedTree};
use super::scope::ClassifyScope;
use crate::changes::change_set::FileChange;
use crate::files::metadata::path_state::PathState;
use placet_permission::{LeadingPath, PathClass, Runner};
use placet_text::text::visible;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// The most names below one link that are looked at.
const MOST: usize = 20_000;
/// The parts of a name that decide what can be protected below it.
const TELLING: usize = 4;

/// Who runs or obeys files by the link that `change` makes, or by links that lead through it.
pub(super) fn runner(change: &FileChange, links: &LinkIndex, scope: &ClassifyScope<'_>) -> Option<Runner> {
    let PathState::Link { .. } = &*change.after else { return None };
    let leading = |(name, rest): (PathBuf, PathBuf)| {
        let leading = scope.beginning_at(&name)?;
        runner_at(&leading, &name, &change.path.join(rest), scope)
    };
    of_way(&change.path, links, scope).or_else(|| links.led_by(&change.path).into_iter().find_map(leading))
}

/// Who runs or obeys other files than before because a link at `path` is on the way to them.
pub(super) fn of_way(path: &Path, links: &LinkIndex, scope: &ClassifyScope<'_>) -> Option<Runner> {
    links.led_by(path).into_iter().find_map(|(name, rest)| {
        // `.envrc -> scripts/env` leads to another file when `scripts` becomes a link.
        if !rest.as_os_str().is_empty()
            && let Some(runner) = scope.runner_of(&name)
        {
            let why = format!("by it `{}` leads to another file: {}", scope.shown(&name), runner.why);
            return Some(Runner { by: runner.by, why });
        }
        if scope.protected.is_way_to_programs(&name) {
            let why = format!(
                "it is a link, and the shell runs programs below `{}` by their names",
                scope.shown(&name)
            );
            return Some(Runner { by: "the shell".into(), why });
        }
        None
    })
}

/// The same for the path `name`, which leads to what is at `real`.
fn runner_at(leading: &LeadingPath, name: &Path, real: &Path, scope: &ClassifyScope<'_>) -> Option<Runner> {
    let found = LinkedFiles { name, tree: MergedTree::new(scope.set), scope }.find(leading, real);
    match found {
        Ok(runner) => runner,
        Err(_) => {
            let why = format!("placet cannot look at all that `{}` leads to", scope.shown(name));
            Some(Runner { by: "placet".into(), why })
        }
    }
}

struct LinkedFiles<'a> {
    name: &'a Path,
    tree: MergedTree<'a>,
    scope: &'a ClassifyScope<'a>,
}

impl LinkedFiles<'_> {
    fn find(&self, leading: &LeadingPath, real: &Path) -> io::Result<Option<Runner>> {
        let target = self.tree.resolved(real)?;
        match target {
            // Nothing is below a file. A directory that takes its place later has new files.
            Some((_, MergedEntry::File)) => Ok(None),
            _ if leading.is_hidden => Ok(Some(by_name(leading))),
            Some((dir, MergedEntry::Directory)) => self.below(dir),
            _ => Ok(None),
        }
    }

    /// Looks where protected names can be: for the link `lib` in `lib/systemd`, and in nothing else.
    fn below(&self, dir: PathBuf) -> io::Result<Option<Runner>> {
        let mut todo = vec![(self.name.to_path_buf(), dir)];
        let mut seen = BTreeSet::new();
        let mut left = MOST;
        while let Some((name, dir)) = todo.pop() {
            let telling: Vec<_> = name.iter().rev().take(TELLING).map(ToOwned::to_owned).collect();
            if !seen.insert((dir.clone(), telling)) {
                continue;
            }
            let entries = self.tree.names(&dir, left)?;
            left = left.saturating_sub(entries.len());
            for entry in entries {
                let (by_link, own) = (name.join(&entry), dir.join(&entry));
                // What is protected by its own name as well has been approved by that name.
                if self.scope.of_path(&own).runs_later() {
                    continue;
                }
                let Some((real, kind)) = self.tree.resolved(&own)? else { continue };
                match (self.scope.of_path(&by_link), kind) {
                    (PathClass::RunsLater(_), MergedEntry::Directory)
                        if !self.has_entries(&real, left)? => {}
                    (PathClass::RunsLater(runner), _) => return Ok(Some(self.by_file(&by_link, &runner))),
                    (_, MergedEntry::Directory) if self.scope.beginning_at(&by_link).is_some() => {
                        todo.push((by_link, real));
                    }
                    _ => {}
                }
            }
        }
        Ok(None)
    }

    fn has_entries(&self, dir: &Path, most: usize) -> io::Result<bool> {
        Ok(!self.tree.names(dir, most)?.is_empty())
    }

    fn by_file(&self, file: &Path, runner: &Runner) -> Runner {
        let why = format!("it is a link, and by it `{}` exists: {}", self.scope.shown(file), runner.why);
        Runner { by: runner.by.clone(), why }
    }
}

fn by_name(leading: &LeadingPath) -> Runner {
    let by = leading.by.clone().unwrap_or_else(|| "programs".into());
    let verbs = if leading.by.is_some() { "runs or obeys" } else { "run or obey" };
    let why = format!("it is a link, and {by} {verbs} files below `{}`", leading.beginning);
    Runner { by, why }
}

impl ClassifyScope<'_> {
    /// A path below its root, in a reason.
    pub(super) fn shown(&self, path: &Path) -> String {
        let below = self.roots.iter().find_map(|root| path.strip_prefix(root).ok());
        visible::path(below.unwrap_or(path))
    }
}
