//! What a check sees: the workspace with chosen changes on top, and a layer of its own that keeps build output for the
//! next run.
//!
//! The chosen changes are copied into a layer exactly as an apply would write them. What the check writes goes into the
//! topmost layer. Afterwards that layer keeps only what git ignores and caches; everything else is thrown away and
//! reported. So no check changes the tree that the next check sees, and an incremental build starts from its own output
//! ([`super::check_kept`] says from which).

use super::check_kept::{ChangeTraces, CheckOutput, kept_layer, trace_of};
use super::check_output::{OutputRules, prune_output};
use super::check_times::SeenFiles;
use crate::changes::change_set::{ChangeSet, FileChange};
use crate::view::command::command_dir::{CommandDir, OverlayMount, private};
use crate::view::decision::selection::{ChangeSelection, SelectedPart};
use crate::view::layers::base::BaseRecord;
use crate::view::layers::layer::{Layer, dir_flags, remove_dir_all};
use crate::view::stage::StagedEntry;
use crate::view::{LayerKind, LayerSet, View};
use rustix::fs::{FlockOperation, Mode};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use thiserror::Error;

/// How long build output stays after the last run of its check.
const KEPT: Duration = Duration::from_secs(14 * 24 * 3600);
/// The file that names the files whose times differ from those of the workspace.
const SEEN: &str = "seen.json";

#[derive(Debug, Error)]
pub enum CheckViewError {
    #[error("another run of the check uses its build output")]
    Busy,
    #[error("the pending changes were updated in the meantime")]
    Updated,
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// What one run of a check sees. Dropping it removes the layer with the chosen changes; the build output stays.
#[derive(Debug)]
pub struct CheckView {
    /// The home directory first, when it has a layer; then one for each root.
    pub mounts: Vec<OverlayMount>,
    homes: usize,
    /// What the chosen changes leave at each path: the content's hash, or what else there is.
    pub contents: BTreeMap<Arc<Path>, String>,
    /// The layers with the chosen changes, one for each root.
    chosen: LayerSet,
    output: PathBuf,
    seen: SeenFiles,
    _dir: CommandDir,
    _lock: OwnedFd,
}

impl View {
    /// Prepares a run of the check `name` on the workspace with `choice` of `set`, which is what is pending. `command` is a
    /// hash of what runs.
    pub fn begin_check(
        &self,
        (name, command): (&str, &str),
        (set, choice): (&ChangeSet, &ChangeSelection),
        home: Option<&Path>,
    ) -> Result<CheckView, CheckViewError> {
        let output = self.check_output(name);
        private(&output)?;
        let lock = rustix::fs::open(&output, dir_flags(), Mode::empty()).map_err(io::Error::from)?;
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| CheckViewError::Busy)?;
        // Its age counts from now.
        drop(std::fs::File::from(lock.try_clone()?).set_modified(SystemTime::now()));
        sweep(output.parent());
        let chosen_base = self.dir().join("checks");
        private(&chosen_base)?;
        crate::view::command::command_view::sweep_runs(&chosen_base);
        let dir = CommandDir::make(&chosen_base)?;
        let chosen = LayerSet::at(&dir.path().join("chosen"), self.roots().len(), 1);
        let mut contents = BTreeMap::new();
        let mut traces = ChangeTraces::new();
        for (change, part) in self.applied_parts(set, choice) {
            let bytes = self.part_bytes(change, &part)?;
            let trace = bytes.as_deref().map(|bytes| blake3::hash(bytes).to_hex().to_string());
            traces.insert(Arc::clone(&change.path), trace.unwrap_or_else(|| trace_of(&change.after)));
            contents.insert(Arc::clone(&change.path), content_of(change, bytes.as_deref()));
            self.lay(&chosen, change, bytes)?;
        }
        if !self.is_unchanged(LayerKind::Pending, set)? {
            return Err(CheckViewError::Updated);
        }
        CheckOutput(&output).begin(&traces)?;
        let below_root = |home: &Path| self.roots().iter().any(|root| home.starts_with(root));
        let home = home.filter(|home| home.parent().is_some() && home.is_dir() && !below_root(home));
        let mut mounts = Vec::new();
        if let Some(home) = home {
            let place = output.join("home");
            let lowers = kept_layer(&place).into_iter().chain([home.to_path_buf()]);
            mounts.push(mount(home, lowers.collect(), &place)?);
        }
        let homes = mounts.len();
        for (index, root) in self.roots().iter().enumerate() {
            let layer = chosen.layers.get(index).filter(|layer| layer.dir().is_dir());
            let place = output.join(index.to_string());
            let lowers = layer.map(|layer| layer.dir().to_path_buf()).into_iter();
            let lowers = lowers.chain(kept_layer(&place)).chain([root.clone()]);
            mounts.push(mount(root, lowers.collect(), &place)?);
        }
        let mut view = CheckView {
            seen: SeenFiles::read(&output.join(SEEN), command),
            mounts,
            homes,
            contents,
            chosen,
            output,
            _dir: dir,
            _lock: lock,
        };
        // What an earlier run left, seen with the rules of this state.
        self.prune_kept(&view)?;
        self.prune_check(&view)?;
        self.set_times(&mut view, set)?;
        // Until the run has passed, nobody knows what of its output is complete.
        view.seen.write(&view.output.join(SEEN), false)?;
        Ok(view)
    }

    /// Ends a run: throws away what the check changed other than build output. Returns those paths. Every process of the
    /// check must be dead.
    pub fn finish_check(&self, view: CheckView, passed: bool) -> io::Result<Vec<PathBuf>> {
        let changed = self.prune_check(&view)?;
        view.seen.write(&view.output.join(SEEN), passed)?;
        Ok(changed)
    }

    /// Removes the build output that the check `name` left.
    pub fn forget_check(&self, name: &str) -> Result<(), CheckViewError> {
        let output = self.check_output(name);
        if !output.is_dir() {
            return Ok(());
        }
        let lock = rustix::fs::open(&output, dir_flags(), Mode::empty()).map_err(io::Error::from)?;
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| CheckViewError::Busy)?;
        Ok(remove_dir_all(&output)?)
    }

    /// Where the build output of a check of this workspace is: outside of every root and of the home directory, as the
    /// layers of commands are.
    pub fn check_output(&self, name: &str) -> PathBuf {
        let place = blake3::hash(self.root(0).as_os_str().as_encoded_bytes()).to_hex();
        let place: String = place.chars().take(16).collect();
        let layers = self.0.commands.layers.get().or(self.0.places.layers.first());
        let base = layers.map_or_else(|| self.dir().to_path_buf(), Clone::clone);
        base.with_file_name("checks").join(format!("{place}-{name}"))
    }

    /// What is at `path` in the workspace itself, in the forms in which [`CheckView::contents`] may have it.
    pub fn workspace_contents(path: &Path) -> io::Result<Vec<String>> {
        let state = crate::view::reading::state_at::node_at(path)?;
        let part = state.hash().map(|hash| hash.to_hex().to_string());
        Ok(part.into_iter().chain(serde_json::to_string(&state).ok()).collect())
    }

    /// What `choice` leaves at each path, as in [`CheckView::contents`].
    pub fn check_contents(
        &self,
        set: &ChangeSet,
        choice: &ChangeSelection,
    ) -> io::Result<BTreeMap<Arc<Path>, String>> {
        let parts = self.applied_parts(set, choice).into_iter();
        parts
            .map(|(change, part)| {
                let bytes = self.part_bytes(change, &part)?;
                Ok((Arc::clone(&change.path), content_of(change, bytes.as_deref())))
            })
            .collect()
    }

    /// The changes that an apply of `choice` makes. Pipes and the like are never applied, and so no check sees them.
    fn applied_parts<'a>(
        &self,
        set: &'a ChangeSet,
        choice: &ChangeSelection,
    ) -> Vec<(&'a FileChange, SelectedPart)> {
        // The tables of files that run later take milliseconds to read.
        if set.is_empty() {
            return Vec::new();
        }
        let mut choice = View::completed(set, &self.classify(set), Cow::Borrowed(choice)).into_owned();
        let unmoved = set.unmoved();
        let is_applied =
            |change: &&FileChange| set.special_at(&change.path).is_none() && !unmoved.contains(&change.path);
        let applied = set.changes.iter().filter(is_applied);
        applied.filter_map(|change| Some((change, choice.remove(&change.path)?))).collect()
    }

    /// The content that a part of a change leaves; `None` for the whole change.
    fn part_bytes(&self, change: &FileChange, part: &SelectedPart) -> io::Result<Option<Vec<u8>>> {
        match part {
            SelectedPart::Whole => Ok(None),
            SelectedPart::Content(bytes) => Ok(Some(bytes.to_vec())),
            SelectedPart::Resolved(resolved) => Ok(resolved.content.clone()),
            SelectedPart::Hunks(hunks) => {
                let bytes = self.with_part(change, |index| hunks.contains(&index));
                let bytes =
                    bytes.ok_or_else(|| io::Error::other("a changed file has no hunks to choose from"));
                bytes.map(Some)
            }
        }
    }

    /// Puts one change into the layer as an apply would write it.
    fn lay(&self, chosen: &LayerSet, change: &FileChange, bytes: Option<Vec<u8>>) -> io::Result<()> {
        let base = BaseRecord::of(Arc::clone(&change.path), change.before.clone());
        let entry = bytes.map_or(StagedEntry::Keep, StagedEntry::Bytes);
        self.copy_pending(chosen, &self.0.pending, &base, entry)
    }

    /// The same for the output of accepted files.
    fn prune_kept(&self, view: &CheckView) -> io::Result<()> {
        for index in 0..self.roots().len() {
            let Some(kept) = kept_layer(&view.output.join(index.to_string())) else { continue };
            let mut rules = OutputRules::new(self.stack_of(&view.chosen, index));
            let kept = crate::files::metadata::path_state::dir_anyway(&kept)?;
            prune_output(&mut rules, &kept, Path::new(""), &mut Vec::new())?;
        }
        Ok(())
    }

    fn prune_check(&self, view: &CheckView) -> io::Result<Vec<PathBuf>> {
        let mut changed = Vec::new();
        for (index, mount) in view.mounts.iter().skip(view.homes).enumerate() {
            let kept = kept_layer(&view.output.join(index.to_string()));
            let mut rules = OutputRules::new(self.stack_of(&view.chosen, index)).above(kept);
            let upper = crate::files::metadata::path_state::dir_anyway(&mount.upper)?;
            prune_output(&mut rules, &upper, Path::new(""), &mut changed)?;
        }
        changed.sort();
        Ok(changed)
    }

    /// Gives files whose content is not what the build output was made from a new time: build systems compare times, and
    /// a file that loses a change becomes older.
    fn set_times(&self, view: &mut CheckView, set: &ChangeSet) -> io::Result<()> {
        let pending = set.changes.iter().map(|change| change.path.to_path_buf());
        let paths: std::collections::BTreeSet<PathBuf> = pending.chain(view.seen.paths()).collect();
        let mut sources = Vec::new();
        {
            let mut rules: BTreeMap<usize, OutputRules<'_>> = BTreeMap::new();
            for path in paths {
                let Some((index, rel)) = self.locate(&path) else { continue };
                let rules = rules
                    .entry(index)
                    .or_insert_with(|| OutputRules::new(self.stack_of(&view.chosen, index)));
                // The times of build output among the changes say what it was built from.
                if !rules.is_output_path(&rel)? {
                    sources.push((path, index, rel));
                }
            }
        }
        for (path, index, rel) in sources {
            let stack = self.stack_of(&view.chosen, index);
            let state = stack.node(&rel)?;
            let Some(hash) = state.hash() else {
                view.seen.forget_content(&path);
                continue;
            };
            let natural = stack
                .stat(&rel)?
                .map_or((0, 0), |stat| (stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or(0)));
            let Some(time) = view.seen.time_of(&path, hash, natural) else { continue };
            let Some(layer) = view.chosen.layers.get(index) else { continue };
            let like = |path: &Path| stack.node(path).ok().and_then(|node| node.attrs().cloned());
            let from = stack.real(&rel)?;
            let dir = layer.parent(&rel, self.root(index), &like)?;
            let (Some(from), Some(name)) = (from, rel.file_name()) else { continue };
            super::check_times::copy_with_time(&from, &dir, name, time)?;
            // The mount was prepared before the layer had a file.
            let needs_layer = view
                .mounts
                .get_mut(view.homes + index)
                .filter(|m| !m.lowers.iter().any(|l| l == layer.dir()));
            if let Some(mount) = needs_layer {
                mount.lowers.insert(0, layer.dir().to_path_buf());
            }
        }
        Ok(())
    }
}

/// An overlay whose topmost layer may have been used before.
fn mount(target: &Path, lowers: Vec<PathBuf>, place: &Path) -> io::Result<OverlayMount> {
    let (upper, work) = (place.join("upper"), place.join("work"));
    // The kernel refuses a work directory that a mount without syncs has used.
    if work.is_dir() {
        remove_dir_all(&work)?;
    }
    placet_text::private::make_dir(&work)?;
    Layer::at(upper.clone()).open_like(target)?;
    Ok(OverlayMount { target: target.to_path_buf(), lowers, upper, work })
}

/// What a change leaves at its path: the hash of a part, or the whole state.
fn content_of(change: &FileChange, bytes: Option<&[u8]>) -> String {
    match bytes {
        Some(bytes) => blake3::hash(bytes).to_hex().to_string(),
        None => serde_json::to_string(&change.after).unwrap_or_default(),
    }
}

/// Removes build output that no run used for a while.
fn sweep(place: Option<&Path>) {
    for entry in place.and_then(|place| std::fs::read_dir(place).ok()).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
        if age.is_none_or(|age| age < KEPT) {
            continue;
        }
        let Ok(lock) = rustix::fs::open(entry.path(), dir_flags(), Mode::empty()) else { continue };
        if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            drop(remove_dir_all(&entry.path()));
        }
    }
}
