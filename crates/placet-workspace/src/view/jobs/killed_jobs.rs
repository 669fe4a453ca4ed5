//! What a background command wrote whose placet was killed: it becomes pending at the next start, as if the command had
//! ended then.
//!
//! The layer alone does not say what the command saw. So each background command has a record in the directory of its
//! layer, which names the copies of the layers below.
//!
//! A command in the foreground that had ended has another record: a kill while its changes were collected leaves a part of
//! them in the layer, and this part becomes pending as well. A command that was still running leaves nothing.

use super::job_record::{CollectionRecord, JobRecord};
use super::layer_snapshot::LayerSnapshot;
use super::values::PassedStates;
use crate::changes::change_count::ChangeCount;
use crate::history::origin::ChangeOrigin;
use crate::view::command::collect::CommandEffects;
use crate::view::command::command_view::{CommandDir, CommandView, OverlayMount};
use crate::view::layers::layer::Layer;
use crate::view::layers::stack::LayerStack;
use crate::view::{LayerKind, View};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How the versions of what cannot be merged are named.
const SUFFIX: &str = "interrupted-job";

/// What became of what killed commands had changed.
#[derive(Clone, Debug, Default)]
pub struct TakenOverChanges {
    /// What is pending now.
    pub count: ChangeCount,
    /// What a background command had deleted and others changed: it stays.
    pub kept: Vec<PathBuf>,
}

impl TakenOverChanges {
    pub fn is_empty(&self) -> bool {
        self.count.total() == 0 && self.kept.is_empty()
    }
}

impl View {
    /// Makes pending what killed background commands wrote, and the rest of what a command had changed that had ended when
    /// placet was killed. Nobody else may use the view; call it before another command begins, which removes these layers.
    pub fn take_over_killed_jobs(&self, hidden: &dyn Fn(&Path) -> bool) -> io::Result<TakenOverChanges> {
        let mut paths: BTreeSet<Arc<Path>> = BTreeSet::new();
        let mut taken = TakenOverChanges::default();
        let places =
            std::fs::read_dir(self.layers_dir()).into_iter().flatten().flatten().map(|entry| entry.path());
        let recorded = places.map(|place| (JobRecord::read(&place), CollectionRecord::read(&place), place));
        let mut left: Vec<_> = recorded
            .filter(|(job, collection, place)| job.is_some() || collection.is_some() && is_run(place))
            .collect();
        // A command that had ended comes first: a job is merged with what it made pending.
        left.sort_by_key(|(job, ..)| job.is_some());
        for (job, collection, place) in left {
            let Some(dir) = CommandDir::take_over(place) else { continue };
            self.claim()?;
            paths.extend(match (job, collection) {
                (Some(record), _) => {
                    let effects = self.take_over_job(dir, &record, hidden)?;
                    taken.kept.extend(effects.kept);
                    effects.paths
                }
                (None, Some(CollectionRecord { since })) => {
                    let origin =
                        ChangeOrigin::new(&self.label(), "", "run_command", "an interrupted command");
                    self.take_over_layers(dir, since, origin, hidden)?
                }
                (None, None) => BTreeSet::new(),
            });
        }
        if !paths.is_empty() {
            let set = self.changes(LayerKind::Pending)?;
            taken.count = set.count_of(&self.renamed(&set), |change| paths.contains(&change.path));
        }
        Ok(taken)
    }

    fn take_over_job(
        &self,
        dir: CommandDir,
        record: &JobRecord,
        hidden: &dyn Fn(&Path) -> bool,
    ) -> io::Result<CommandEffects> {
        let copies = CommandDir::take_over(self.dir().join(&record.copies))
            .ok_or_else(|| io::Error::other("the copies of the layers below it are missing"))?;
        let Some(mounts) = self.left_mounts(&dir) else { return Ok(CommandEffects::default()) };
        let roots = (0..mounts.len()).map(|index| layers_of(copies.path(), index));
        let roots = roots.collect::<io::Result<Vec<_>>>()?;
        let origin = ChangeOrigin::new(&self.label(), "", "run_command", "an interrupted job");
        let mut snapshot = LayerSnapshot::new(copies, record.at);
        (snapshot.roots, snapshot.staged) = (roots, record.staged.clone().into());
        snapshot.passed = self.passed_states(&snapshot, &mounts)?;
        let mut command = CommandView::taken_over((mounts, dir), record.since, origin);
        command.frozen = Some(snapshot);
        let merged = self.merge_background(&mut command, Some(SUFFIX), hidden);
        merged.map_err(|e| self.collect_failed(&mut command, e))
    }
}

impl View {
    /// What the command of these layers got later.
    fn passed_states(&self, copies: &LayerSnapshot, mounts: &[OverlayMount]) -> io::Result<PassedStates> {
        let uppers: Vec<Layer> = mounts.iter().map(|mount| Layer::at(mount.upper.clone())).collect();
        PassedStates::read(copies.dir.path(), |root, path| {
            let below = copies.roots.get(root).into_iter().flatten();
            let layers = uppers.get(root).into_iter().chain(below).collect();
            LayerStack { layers, root: self.root(root) }.node(path)
        })
    }
}

/// The name of a directory of which nobody took over anything, and that no error kept.
fn is_run(place: &Path) -> bool {
    place.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"run-"))
}

/// The copies for one root, the topmost first: `INDEX-NUMBER`, without those that were empty.
fn layers_of(copies: &Path, index: usize) -> io::Result<Vec<Layer>> {
    let mut found: Vec<(usize, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir(copies)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let number = name.split_once('-').filter(|(root, _)| root.parse() == Ok(index));
        if let Some(number) = number.and_then(|(_, number)| number.parse().ok()) {
            found.push((number, entry.path()));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, path)| Layer::at(path)).collect())
}

#[cfg(test)]
#[path = "killed_jobs_tests.rs"]
mod tests;
