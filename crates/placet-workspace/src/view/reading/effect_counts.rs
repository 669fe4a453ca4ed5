//! What a command did, as a person counts it: files and repositories.

use super::effect_kind::{ApartEffect, EffectKind};
use crate::repository::RepositorySet;
use crate::view::command::collect::CommandEffects;
use placet_text::text::count;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Files that a command created, modified, deleted and renamed, and repositories that it changed, as the question about the
/// changes counts them: a directory counts only where nothing in it does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EffectCounts {
    created: usize,
    modified: usize,
    deleted: usize,
    renamed: usize,
    repositories: usize,
    /// What git writes, each with its repository.
    of_git: BTreeMap<Arc<Path>, Arc<Path>>,
}

impl EffectCounts {
    pub fn of(effects: &CommandEffects) -> EffectCounts {
        let mut counts = EffectCounts {
            created: effects.created,
            modified: effects.modified,
            deleted: effects.deleted,
            renamed: effects.renamed,
            ..EffectCounts::default()
        };
        let mut repositories: BTreeMap<&Path, Arc<Path>> = BTreeMap::new();
        let set = RepositorySet::recognise(effects.apart.iter().map(|one| &*one.path), &[], &|_| false);
        for ApartEffect { path, kind, is_directory } in &effects.apart {
            let repository = set.of(path).filter(|_| *is_directory || set.is_written_by_git(path));
            if let Some(repository) = repository {
                let repository = repositories.entry(repository).or_insert_with(|| repository.into());
                counts.of_git.insert(Arc::clone(path), Arc::clone(repository));
            } else if !is_directory || !holds_some(effects, path) {
                continue;
            }
            let counted = match kind {
                EffectKind::Created => &mut counts.created,
                EffectKind::Modified => &mut counts.modified,
                EffectKind::Deleted => &mut counts.deleted,
            };
            *counted = counted.saturating_sub(1);
        }
        counts.repositories = repositories.len();
        // Both ends of a file that was renamed are among these.
        counts.created = counts.created.saturating_sub(counts.renamed);
        counts.deleted = counts.deleted.saturating_sub(counts.renamed);
        counts
    }

    /// The paths to name, each with the number of changed paths below it: a directory that was added or removed is named
    /// once, and so is a repository for everything that git writes in it.
    pub fn names(&self, effects: &CommandEffects) -> Vec<(Arc<Path>, usize)> {
        let mut names: Vec<(Arc<Path>, usize)> = Vec::new();
        let mut named: BTreeSet<&Path> = BTreeSet::new();
        let mut top: Option<usize> = None;
        for path in &effects.paths {
            if let Some(repository) = self.of_git.get(path) {
                if named.insert(repository) {
                    let paths = self.of_git.values().filter(|of| *of == repository).count();
                    names.push((Arc::clone(repository), paths));
                }
                continue;
            }
            match top.and_then(|at| names.get_mut(at)) {
                Some((above, below)) if path.starts_with(&**above) => *below += 1,
                _ => {
                    top = Some(names.len());
                    names.push((Arc::clone(path), 0));
                }
            }
        }
        names
    }
}

/// True where something in the directory counts.
fn holds_some(effects: &CommandEffects, dir: &Path) -> bool {
    use std::ops::Bound::{Excluded, Unbounded};
    let next = effects.paths.range::<Path, _>((Excluded(dir), Unbounded)).next();
    next.is_some_and(|next| next.starts_with(dir))
}

/// `2 created, 1 modified, 1 repository changed`
impl fmt::Display for EffectCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = [
            (self.created, "created"),
            (self.modified, "modified"),
            (self.deleted, "deleted"),
            (self.renamed, "renamed"),
        ];
        let mut parts: Vec<String> =
            files.into_iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
        if self.repositories > 0 {
            parts.push(format!("{} changed", count::of(self.repositories, "repository")));
        }
        f.write_str(&parts.join(", "))
    }
}
