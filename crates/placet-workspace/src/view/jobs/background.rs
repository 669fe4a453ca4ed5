//! A background command in the view: its own view does not change, and its changes are merged with changes that others
//! made in the meantime.
//!
//! Other calls run at the same time, and the kernel requires that the lower layers of a mounted overlay do not change.
//! The layers that the command sees are therefore copied when it begins: the cost grows with what is pending. When the
//! command has ended, its effects are merged with the present state ([`super::job`]). A file that only the command changed
//! is folded as always. A file that others changed as well is merged; if it cannot be merged, it stays as the others
//! left it, and the command's version is stored next to it under another name. Nothing is lost and nothing is applied:
//! all of it is pending.

pub(in crate::view) use super::layer_snapshot::LayerSnapshot;
use super::values::{JobMerge, JobUpdates, MergeReport, PassedStates, ReceivedStates};
use crate::view::command::collect::CommandEffects;
use crate::view::command::command_view::{CommandDir, CommandView, CommandsHeld};
use crate::view::command::run_clock::RunStart;
use crate::view::layers::layer::{self, Layer, open_dir};
use crate::view::{LayerKind, View};
use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl View {
    /// From now on, and until it is finished, the background command gets what changes in this view, except what `is_hidden`
    /// says. `open_roots` opens the root directories of its processes.
    pub fn update_job(
        &self,
        command: &mut CommandView,
        open_roots: impl Fn() -> Vec<OwnedFd> + Send + Sync + 'static,
        is_hidden: impl Fn(&Path) -> bool + Send + Sync + 'static,
    ) {
        let mounts = command.own_mounts().to_vec();
        let Some(frozen) = &mut command.frozen else { return };
        let below = |layers: &Vec<Layer>| layers.iter().map(|l| Layer::at(l.dir().to_path_buf())).collect();
        let layers = (&*mounts, frozen.roots.iter().map(below).collect());
        let record = (frozen.staged.clone(), PassedStates::new(frozen.dir.path()));
        let updates = JobUpdates::new(Box::new(open_roots), Box::new(is_hidden), layers, record);
        let updates = Arc::new(updates);
        self.add_updates(&updates);
        frozen.updates = Some(updates);
    }

    /// Copies the layers above the workspace to `dir`: from `depth` on, as [`View::stack`] counts.
    pub(in crate::view) fn snapshot_layers(
        &self,
        depth: usize,
        dir: CommandDir,
    ) -> io::Result<LayerSnapshot> {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let at = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let mut frozen = LayerSnapshot::new(dir, at);
        for index in 0..self.roots().len() {
            let mut layers = Vec::new();
            for (number, layer) in self.stack(index, depth).layers.into_iter().enumerate() {
                if layer.is_blank() || !layer.dir().is_dir() {
                    continue;
                }
                let to = frozen.dir.path().join(format!("{index}-{number}"));
                std::fs::create_dir_all(&to)?;
                layer::copy_tree(&open_dir(layer.dir())?, &open_dir(&to)?)?;
                layers.push(Layer::at(to));
            }
            frozen.roots.push(layers);
        }
        Ok(frozen)
    }

    /// Folds what a background command did, after it and all it started have died. `suffix` names its versions of what
    /// cannot be merged. Waits for a command that runs now; not to be called on an asynchronous thread.
    pub fn finish_background(
        &self,
        command: CommandView,
        suffix: &str,
        hidden: &dyn Fn(&Path) -> bool,
    ) -> io::Result<CommandEffects> {
        Ok(self.finish_background_held(command, suffix, hidden)?.0)
    }

    /// The same for a caller that applies the effects: see [`View::finish_held`].
    pub fn finish_background_held(
        &self,
        mut command: CommandView,
        suffix: &str,
        hidden: &dyn Fn(&Path) -> bool,
    ) -> io::Result<(CommandEffects, CommandsHeld)> {
        let held = self.block_commands();
        let settled = self.merge_background(&mut command, Some(suffix), hidden);
        let mut effects = settled.map_err(|e| self.collect_failed(&mut command, e))?;
        effects.renamed = self.renamed_by(&effects, LayerKind::Pending);
        effects.home = match command.home.take() {
            None => 0,
            Some((view, mut home)) => {
                let _held = view.block_commands();
                // Nothing of the home directory is ever applied: what others changed there simply stays.
                view.merge_background(&mut home, None, hidden)?.paths.len()
            }
        };
        Ok((effects, held))
    }

    pub(in crate::view) fn merge_background(
        &self,
        command: &mut CommandView,
        suffix: Option<&str>,
        hidden: &dyn Fn(&Path) -> bool,
    ) -> io::Result<CommandEffects> {
        if command.shelf == LayerKind::Scratch {
            return Ok(CommandEffects::default());
        }
        self.drop_scratch()?;
        let mut frozen = command.frozen.take().ok_or_else(|| io::Error::other("not a background command"))?;
        frozen.end_updates();
        // Whatever has this name: it is placet's own.
        let is_staged = |path: &Path| !frozen.staged.is_empty() && path.file_name() == Some(&*frozen.staged);
        let hidden = &|path: &Path| is_staged(path) || hidden(path);
        // Without the journal, placet does not know what others applied in the meantime.
        if let Some(damage) = self.journal().unlisted() {
            return Err(damage.into());
        }
        let mut entries = self.journal().entries();
        entries.retain(|entry| entry.at >= frozen.at);
        entries.sort_by_key(|entry| entry.id);
        let mut applied = HashMap::new();
        for change in entries.iter().flat_map(|entry| &entry.changes) {
            applied.entry(&*change.path).or_insert(&*change.before);
        }
        let mut report = MergeReport::default();
        for (index, mount) in command.own_mounts().iter().enumerate() {
            let received = ReceivedStates {
                view: self,
                index,
                copies: frozen.roots.get(index).map_or(&[], Vec::as_slice),
                period: command.since.period(self.root(index)),
                applied: &applied,
                passed: &frozen.passed,
            };
            let mut merge = JobMerge::new(received, hidden);
            merge.compare(&layer::open_readable(&mount.upper)?)?;
            frozen.passed.forget(index, merge.dropped())?;
            report += merge.edit(&Layer::at(mount.upper.clone()), suffix)?;
        }
        // What moved before this was met just now; only what moves while it is folded is still a race.
        command.since = RunStart::now(self.root(0));
        let mut effects = self.fold(command, hidden)?;
        (effects.merged, effects.beside, effects.kept) = (report.merged, report.beside, report.kept);
        self.update_jobs(effects.paths.iter().map(|path| &**path));
        if !effects.is_empty() {
            self.0.asked.late.store(true, Ordering::Release);
        }
        Ok(effects)
    }
}

#[cfg(test)]
#[path = "background_tests.rs"]
mod tests;
