//! What a running command has changed so far as a person counts it: files, and repositories with what happened to them.
//!
//! git may be at work: what its files mean is read when the command has ended.

use super::running_changes::{RunningChanges, RunningLayer};
use crate::changes::change_count::ChangeCount;
use crate::changes::change_set::ChangeKind;
use crate::repository::RepositorySet;
use crate::view::layers::layer::Layer;
use crate::view::layers::stack::LayerStack;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// The changes of a running command, for a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunningSummary {
    /// Everything but the files that git writes, in the order of the paths. A directory only where nothing in it changed.
    pub files: RunningChanges,
    pub repositories: Vec<RunningRepository>,
    pub count: ChangeCount,
}

/// A repository in which something changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningRepository {
    pub path: PathBuf,
    pub kind: ChangeKind,
    /// Files that git wrote there so far. What they mean is read when the command has ended.
    pub files: usize,
}

impl RunningSummary {
    /// Of what one look at `layers` found.
    pub fn of(layers: &[RunningLayer], found: RunningChanges) -> RunningSummary {
        let (before, after) = (RunningFiles::before(layers), RunningFiles::after(layers));
        let has = |files: &RunningFiles, path: &Path| {
            files.real(path).is_some_and(|path| path.symlink_metadata().is_ok())
        };
        let exists = |path: &Path| has(&after, path) || has(&before, path);
        let roots: Vec<PathBuf> = layers.iter().map(|layer| layer.target.clone()).collect();
        let paths = found.changes.iter().map(|(path, _)| path.as_path());
        let set = RepositorySet::recognise(paths, &roots, &exists);
        let is_directory = |path: &Path, kind: ChangeKind| {
            let files = if kind == ChangeKind::Deleted { &before } else { &after };
            let found = files.real(path).and_then(|path| path.symlink_metadata().ok());
            found.is_some_and(|found| found.is_dir())
        };
        let mut touched: BTreeMap<&Path, usize> = BTreeMap::new();
        let (mut files, mut count) = (Vec::new(), ChangeCount::default());
        let mut outermost: BTreeSet<&Path> = BTreeSet::new();
        for (at, (path, kind)) in found.changes.iter().enumerate() {
            let is_dir = is_directory(path, *kind);
            if let Some(repository) = set.of(path)
                && (is_dir || set.is_written_by_git(path))
            {
                outermost.insert(repository);
                *touched.entry(repository).or_default() += 1;
                continue;
            }
            let holds_next = || found.changes.get(at + 1).is_some_and(|(next, _)| next.starts_with(path));
            if is_dir && holds_next() {
                continue;
            }
            match is_dir {
                true => count.directories += 1,
                false => count.files += 1,
            }
            files.push((path.clone(), *kind));
        }
        let repository = |path: &&Path| {
            let kind = match (has(&before, path), has(&after, path)) {
                (false, _) => ChangeKind::Created,
                (true, false) => ChangeKind::Deleted,
                (true, true) => ChangeKind::Modified,
            };
            let files = touched.get(path).copied().unwrap_or_default();
            RunningRepository { path: path.to_path_buf(), kind, files }
        };
        let repositories: Vec<RunningRepository> = outermost.iter().map(repository).collect();
        count.repositories = repositories.len();
        let is_cut = found.is_cut;
        RunningSummary { files: RunningChanges { changes: files, is_cut }, repositories, count }
    }
}

/// The files of the roots in one state, through the layers of a command.
struct RunningFiles {
    roots: Vec<(PathBuf, Vec<Layer>)>,
}

impl RunningFiles {
    /// As the command found them.
    fn before(layers: &[RunningLayer]) -> RunningFiles {
        RunningFiles { roots: layers.iter().map(|layer| (layer.target.clone(), lowers(layer))).collect() }
    }

    /// As they are now.
    fn after(layers: &[RunningLayer]) -> RunningFiles {
        let with_upper = |layer: &RunningLayer| {
            let upper = std::iter::once(Layer::at(layer.upper.clone()));
            (layer.target.clone(), upper.chain(lowers(layer)).collect())
        };
        RunningFiles { roots: layers.iter().map(with_upper).collect() }
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        let (stack, rel) = self.stack_at(path)?;
        stack.real(&rel).ok()?
    }

    fn stack_at(&self, path: &Path) -> Option<(LayerStack<'_>, PathBuf)> {
        let (root, layers) = self.roots.iter().find(|(root, _)| path.starts_with(root))?;
        let rel = path.strip_prefix(root).ok()?;
        let is_plain = rel.components().all(|part| matches!(part, Component::Normal(_)));
        is_plain.then(|| (LayerStack { layers: layers.iter().collect(), root }, rel.to_path_buf()))
    }
}

/// The layers below that of the command. The last of the directories is the root itself.
fn lowers(layer: &RunningLayer) -> Vec<Layer> {
    let above = layer.lowers.iter().filter(|lower| **lower != layer.target);
    above.map(|lower| Layer::at(lower.clone())).collect()
}
