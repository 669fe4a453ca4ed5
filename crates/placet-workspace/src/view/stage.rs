//! Staging: what a file tool writes is put into the pending layers; and those are put in another order.

use super::super::apply::{ApplyError, ApplyStep, ContentSource, RepositoryTransaction, crash_point, fault};
use super::super::{ExpectedContent, Hash, WorkspaceError, WriteOutcome};
use super::{LayerKind, LayerSet, View};
use crate::changes::rewrite_action::RewriteAction;
use crate::files::metadata::path_state::{FileAttrs, PathState, WritableDirGuard};
use crate::files::writing::atomic_write::WriteBytes;
use crate::history::journal::{JournalEntry, TransactionKind, TransactionLabel};
use crate::history::origin::{ChangeOrigin, OriginStep, WriteContext};
use crate::view::layers::base::{BaseIndex, BaseRecord};
use crate::view::layers::layer::{Layer, LayerLookup, remove_dir_all};
use crate::view::layers::stack::{join, node_at};
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a path in the pending layers is to become.
#[derive(Clone, Debug)]
pub(crate) enum StagedEntry {
    /// As it is there now.
    Keep,
    /// The same as a copy: from a view that goes on changing its own file.
    Copy,
    /// A file with this content and the attributes it has now.
    Bytes(Vec<u8>),
    /// A file with this content and these attributes.
    File(Vec<u8>, FileAttrs),
}

impl View {
    /// Writes a whole file for a tool: into the pending layers when the mode keeps changes pending or
    /// something at this path is pending already, else straight into the workspace, through the journal.
    pub(crate) fn write<'a>(
        &self,
        path: &Path,
        bytes: impl Into<WriteBytes<'a>>,
        before: ExpectedContent,
        writer: impl Into<WriteContext>,
    ) -> Result<WriteOutcome, WorkspaceError> {
        let (writer, bytes) = (writer.into(), bytes.into());
        let fail = |e: io::Error| WorkspaceError::from_io(path, e);
        self.drop_scratch().map_err(fail)?;
        if self.must_stay_pending(path, writer.landing)? || self.changes_other_names(path, writer.landing) {
            let hash = self.stage_write(path, &bytes, before, writer.origin.as_ref())?;
            self.update_jobs([path]);
            return Ok(WriteOutcome { hash, in_place: false, held: true });
        }
        let applied = self.apply_file(path, bytes.shared(), before, &writer)?;
        self.update_jobs([path]);
        Ok(applied)
    }

    /// One file into the workspace, journaled.
    fn apply_file(
        &self,
        path: &Path,
        bytes: Arc<Vec<u8>>,
        before: ExpectedContent,
        writer: &WriteContext,
    ) -> Result<WriteOutcome, WorkspaceError> {
        let after = RewriteAction::Content { bytes, attrs: None };
        let mut steps: Vec<ApplyStep> = Vec::new();
        self.file_apply_steps(path, before, &after, &mut steps)?;
        let hash = steps.iter().filter(|step| *step.path == *path).find_map(|step| step.after.hash());
        let hash = hash.ok_or_else(|| WorkspaceError::Missing(path.to_path_buf()))?;
        let entry = self.apply_transaction(path, steps, writer)?;
        let in_place = entry.changes.iter().any(|c| c.in_place);
        Ok(WriteOutcome { hash, in_place, held: false })
    }

    /// What one file of a batch adds to the steps of its apply: the file, and the directories it needs.
    pub(super) fn file_apply_steps(
        &self,
        path: &Path,
        before: ExpectedContent,
        after: &RewriteAction,
        steps: &mut Vec<ApplyStep>,
    ) -> Result<(), WorkspaceError> {
        let now = match before {
            ExpectedContent::Content(hash) => crate::view::reading::state_at::node_assuming(path, hash),
            ExpectedContent::Absent | ExpectedContent::EmptiedDirectory => node_at(path),
        };
        let now = now.map_err(|e| WorkspaceError::from_io(path, e))?;
        expect(path, before, &now)?;
        let unread = matches!(before, ExpectedContent::Content(_));
        let (bytes, attrs) = match after {
            RewriteAction::Content { bytes, attrs } => (bytes, attrs),
            RewriteAction::Gone | RewriteAction::Directory => {
                let left = match after {
                    RewriteAction::Directory => new_directory(),
                    _ => PathState::Absent,
                };
                let gone = step(path.to_path_buf(), now, left, ContentSource::Nothing);
                steps.push(ApplyStep { unread, ..gone });
                return Ok(());
            }
        };
        if now.is_directory() {
            let fail = |e| WorkspaceError::from_io(path, e);
            for dir in self.directories_below(path).map_err(fail)? {
                let before = node_at(&dir).map_err(fail)?;
                steps.push(step(dir, before, PathState::Absent, ContentSource::Nothing));
            }
        }
        for dir in path.ancestors().skip(1).take_while(|dir| !dir.exists()) {
            if steps.iter().all(|known| *known.path != *dir) {
                steps.push(step(
                    dir.to_path_buf(),
                    PathState::Absent,
                    new_directory(),
                    ContentSource::Nothing,
                ));
            }
        }
        let fresh = !now.is_file() && attrs.is_none();
        let attrs = attrs.clone().or_else(|| file_attrs(&now).cloned()).unwrap_or_default();
        let after = PathState::File { hash: blake3::hash(bytes), size: bytes.len() as u64, attrs };
        steps.push(ApplyStep {
            fresh,
            unread,
            seen: None,
            ..step(path.to_path_buf(), now, after, ContentSource::Bytes(bytes.clone()))
        });
        Ok(())
    }

    /// Applies the steps as one transaction; `path` is named by an error that has no path of its own.
    pub(super) fn apply_transaction(
        &self,
        path: &Path,
        mut steps: Vec<ApplyStep>,
        writer: &WriteContext,
    ) -> Result<JournalEntry, WorkspaceError> {
        for step in &mut steps {
            let by = writer.origin.clone();
            step.history = by.into_iter().map(|by| OriginStep { origin: Some(by), content: None }).collect();
        }
        let made: Vec<String> = steps
            .iter()
            .filter_map(|step| match &*step.after {
                PathState::File { hash, .. } => Some(hash.to_hex().to_string()),
                _ => None,
            })
            .collect();
        let label = TransactionLabel { assent: writer.assent.clone(), ..self.label() };
        let entry = self.commit_with_repositories(
            (label, TransactionKind::Apply, None),
            (steps, RepositoryTransaction::default()),
            Vec::new(),
        );
        let entry = entry.map_err(|e| match e {
            ApplyError::Changed(mut paths) => {
                WorkspaceError::Raced(paths.pop().unwrap_or_else(|| path.to_path_buf()))
            }
            ApplyError::Failed { path, error, .. } => WorkspaceError::from_io(&path, error),
            other => WorkspaceError::from_io(path, io::Error::other(other)),
        })?;
        self.turn().made.extend(made);
        Ok(entry)
    }

    /// Writes a whole file into the pending layers. `before` is what the view must have there, as with
    /// [`super::super::Workspace::write`].
    pub(crate) fn stage_write(
        &self,
        path: &Path,
        bytes: &[u8],
        before: ExpectedContent,
        by: Option<&Arc<ChangeOrigin>>,
    ) -> Result<Hash, WorkspaceError> {
        let fail = |e: io::Error| WorkspaceError::from_io(path, e);
        let (index, rel) = self.locate(path).ok_or_else(|| WorkspaceError::Outside(path.to_path_buf()))?;
        let now = self.stack(index, 0).node(&rel).map_err(fail)?;
        expect(path, before, &now)?;
        let staged = self.stage_pending((index, &rel), bytes, &now, now.attrs(), by).map_err(fail)?;
        staged.place().map_err(fail)?;
        Ok(blake3::hash(bytes))
    }

    /// Lays new content next to its place in the pending layers, and writes down what is below it.
    pub(super) fn stage_pending(
        &self,
        (index, rel): (usize, &Path),
        bytes: &[u8],
        now: &PathState,
        attrs: Option<&FileAttrs>,
        by: Option<&Arc<ChangeOrigin>>,
    ) -> io::Result<LayerTempFile> {
        let (dir, name) = self.pending_dir(index, rel, now, by)?;
        let _eased = WritableDirGuard::of(&dir);
        let staged = write_temp_file(&dir, bytes, attrs)?;
        Ok(LayerTempFile { dir, name, staged: Some(staged) })
    }

    /// The directory of a path in the pending layers, its base recorded.
    pub(super) fn pending_dir(
        &self,
        index: usize,
        rel: &Path,
        now: &PathState,
        by: Option<&Arc<ChangeOrigin>>,
    ) -> io::Result<(OwnedFd, std::ffi::OsString)> {
        self.claim()?;
        self.turn().held = true;
        let held = self.layer_set(LayerKind::Pending);
        let layer = held.layers.get(index).ok_or_else(|| io::Error::other("no such root"))?;
        let path = join(self.root(index), rel);
        self.record_parents(index, rel, by)?;
        if !held.bases().contains(&path) {
            let below = match layer.find(rel)? {
                LayerLookup::Through => now.clone(),
                _ => self.stack(index, 2).node(rel)?,
            };
            if let PathState::File { hash, size, .. } = below {
                let mut file = self.stack(index, 2).open(rel)?;
                // Best effort: without it a later merge has no base.
                drop(self.objects().put_file(&mut file, hash, size));
            }
            let mut bases = held.bases();
            let marks = bases.first(by);
            bases.record(BaseRecord { by_tool: true, marks, ..BaseRecord::of(path.as_path(), below) });
        } else {
            let kept = || self.objects().keep_between(now, || self.stack(index, 1).open(rel));
            held.bases().again(&path, by, now, kept);
        }
        crash_point();
        held.save()?;
        crash_point();
        let like = |path: &Path| self.stack(index, 0).node(path).ok().and_then(|n| n.attrs().cloned());
        let dir = layer.parent(rel, self.root(index), &like)?;
        let name = rel.file_name().ok_or(io::ErrorKind::IsADirectory)?;
        Ok((dir, name.to_os_string()))
    }

    /// Directories that a pending file needs and that do not exist yet are changes of their own.
    fn record_parents(&self, index: usize, rel: &Path, by: Option<&Arc<ChangeOrigin>>) -> io::Result<()> {
        let held = self.layer_set(LayerKind::Pending);
        let mut missing: Vec<PathBuf> = Vec::new();
        for dir in rel.ancestors().skip(1).filter(|d| !d.as_os_str().is_empty()) {
            if self.stack(index, 0).stat(dir)?.is_some() {
                break;
            }
            missing.push(dir.to_path_buf());
        }
        for dir in missing.into_iter().rev() {
            let path = join(self.root(index), &dir);
            let below = self.stack(index, 2).node(&dir)?;
            let mut bases = held.bases();
            let marks = bases.first(by);
            bases.record(BaseRecord { marks, ..BaseRecord::of(path.as_path(), below) });
        }
        Ok(())
    }

    /// Rebuilds the pending layers with only these changes in them. The old ones are replaced in one step at
    /// the end, so that a crash leaves one or the other.
    pub(crate) fn rebuild(&self, keep: Vec<(BaseRecord, StagedEntry)>) -> io::Result<()> {
        self.claim()?;
        if keep.is_empty() {
            self.replace_pending(Vec::new())?;
            // The layers are empty: that they still exist is not a failure.
            if let Err(e) = self.layer_set(LayerKind::Pending).wipe() {
                tracing::warn!("an empty layer was not removed: {e}");
            }
            self.drop_unused_bases();
            return Ok(());
        }
        let pending = &self.0.pending;
        let all = keep.into_iter().map(|(base, put)| (pending, base, put));
        self.replace_pending(all.collect())?;
        self.drop_unused_bases();
        Ok(())
    }

    /// Rebuilds the pending layers with these changes, each taken from the layer set that is named; parents
    /// come first.
    pub(super) fn replace_pending(&self, all: Vec<(&LayerSet, BaseRecord, StagedEntry)>) -> io::Result<()> {
        let held = self.layer_set(LayerKind::Pending);
        let changed = if self.updates_jobs() { changed_paths(held, &all) } else { BTreeSet::new() };
        let dir = self.dir().join("pending");
        let (fresh_dir, old_dir) = (self.dir().join("pending.new"), self.dir().join("pending.old"));
        for leftover in [&fresh_dir, &old_dir] {
            if leftover.exists() {
                remove_dir_all(leftover)?;
            }
        }
        placet_text::private::make_dir(&fresh_dir)?;
        let fresh = LayerSet::at(&fresh_dir, self.roots().len(), 1);
        let mut bases = BaseIndex::load(fresh_dir.join("base.jsonl"));
        for (from, base, put) in all {
            self.copy_pending(&fresh, from, &base, put)?;
            bases.take(base, &from.bases());
        }
        bases.save()?;
        // An exchange needs both names to exist.
        placet_text::private::make_dir(&dir)?;
        let cwd = rustix::fs::CWD;
        crash_point();
        rustix::fs::renameat_with(cwd, &fresh_dir, cwd, &dir, RenameFlags::EXCHANGE)?;
        crash_point();
        *held.bases() = BaseIndex::load(dir.join("base.jsonl"));
        held.layers.iter().for_each(Layer::recheck);
        // The step is done, and an error must not deny that: the next time removes the rest of the old layer.
        let moved =
            fault("replaced").and_then(|()| Ok(rustix::fs::renameat(cwd, &fresh_dir, cwd, &old_dir)?));
        if let Err(e) = moved.and_then(|()| remove_dir_all(&old_dir)) {
            tracing::warn!("the earlier pending changes are still in `{}`: {e}", old_dir.display());
        }
        self.update_jobs(changed.iter().map(|path| &**path));
        Ok(())
    }

    /// Puts what `from` has at the path of `base` into the layer set `fresh`.
    pub(super) fn copy_pending(
        &self,
        fresh: &LayerSet,
        from: &LayerSet,
        base: &BaseRecord,
        put: StagedEntry,
    ) -> io::Result<()> {
        let (index, rel) = self.locate_recorded(&base.path)?;
        let Some(layer) = fresh.layers.get(index) else { return Ok(()) };
        let stack = self.stack_of(from, index);
        let node = stack.node(&rel)?;
        let Some(name) = rel.file_name() else {
            // The root itself: its mode is that of the layer's own directory.
            let at = layer.open_like(self.root(index))?;
            return Ok(node.attrs().map_or(Ok(()), |attrs| attrs.apply_to_layer(&File::from(at)))?);
        };
        // A record alone: a link to the workspace's own file would make it a change.
        let is_record = match from.layers.get(index) {
            Some(layer) => matches!(layer.find(&rel)?, LayerLookup::Through),
            None => true,
        };
        if is_record && matches!(put, StagedEntry::Keep | StagedEntry::Copy) {
            return Ok(());
        }
        // Where a directory above was removed, or became something else, everything in it is gone as well.
        let gone_above = rel.ancestors().skip(1).any(|dir| match layer.find(dir) {
            Ok(LayerLookup::Gone) => true,
            Ok(LayerLookup::Here { stat, .. }) => !crate::view::layers::layer::is_dir(&stat),
            _ => false,
        });
        if node.is_absent() && gone_above {
            return Ok(());
        }
        let like = |path: &Path| stack.node(path).ok().and_then(|n| n.attrs().cloned());
        let dir = layer.parent(&rel, self.root(index), &like)?;
        let _eased = WritableDirGuard::of(&dir);
        match (&node, put) {
            (_, StagedEntry::File(bytes, attrs)) => {
                let staged = write_temp_file(&dir, &bytes, Some(&attrs))?;
                Ok(rustix::fs::renameat(&dir, staged, &dir, name)?)
            }
            // Part of a file's deletion was discarded: the rest is the file again.
            (PathState::Absent, StagedEntry::Bytes(bytes)) => {
                let staged = write_temp_file(&dir, &bytes, base.node.attrs())?;
                Ok(rustix::fs::renameat(&dir, staged, &dir, name)?)
            }
            (PathState::Absent, _) => match self.stack(index, 2).stat(&rel)? {
                Some(_) => Layer::whiteout(&dir, name),
                None => Ok(()),
            },
            (PathState::Directory { attrs }, _) => Layer::make_dir(&dir, name, attrs, false),
            (PathState::File { attrs, .. }, StagedEntry::Bytes(bytes)) => {
                let staged = write_temp_file(&dir, &bytes, Some(attrs))?;
                Ok(rustix::fs::renameat(&dir, staged, &dir, name)?)
            }
            (_, StagedEntry::Copy) => {
                let Some(from) = stack.real(&rel)? else { return Ok(()) };
                let parent = from.parent().ok_or(io::ErrorKind::InvalidInput)?;
                crate::view::layers::layer::copy_one(
                    &crate::view::layers::layer::open_dir(parent)?,
                    name,
                    &dir,
                    name,
                )
            }
            (_, _) => {
                let Some(from) = stack.real(&rel)? else { return Ok(()) };
                Ok(rustix::fs::linkat(rustix::fs::CWD, from, &dir, name, AtFlags::empty())?)
            }
        }
    }
}

fn new_directory() -> PathState {
    PathState::Directory { attrs: FileAttrs::of_new_directory() }
}

/// What a file that takes the place of `now` keeps of it: nothing of a directory.
pub(super) fn file_attrs(now: &PathState) -> Option<&FileAttrs> {
    now.attrs().filter(|_| !now.is_directory())
}

/// Fails unless the present state is `before`.
pub(super) fn expect(path: &Path, before: ExpectedContent, now: &PathState) -> Result<(), WorkspaceError> {
    let path = || path.to_path_buf();
    match (before, now) {
        (ExpectedContent::Absent, PathState::Absent) => Ok(()),
        (ExpectedContent::EmptiedDirectory, PathState::Directory { .. }) => Ok(()),
        (ExpectedContent::EmptiedDirectory, _) => Err(WorkspaceError::Raced(path())),
        (ExpectedContent::Absent, _) => Err(WorkspaceError::Exists(path())),
        (ExpectedContent::Content(expected), PathState::File { hash, .. }) if *hash == expected => Ok(()),
        (ExpectedContent::Content(_), PathState::Absent) => Err(WorkspaceError::Missing(path())),
        (ExpectedContent::Content(_), PathState::Directory { .. }) => Err(WorkspaceError::Directory(path())),
        (ExpectedContent::Content(_), _) => Err(WorkspaceError::Raced(path())),
    }
}

/// The paths that look different when `held` has been replaced by `all`.
fn changed_paths(held: &LayerSet, all: &[(&LayerSet, BaseRecord, StagedEntry)]) -> BTreeSet<Arc<Path>> {
    let mut changed: BTreeSet<Arc<Path>> = held.bases().paths().cloned().collect();
    for (from, base, put) in all {
        match std::ptr::eq(*from, held) && matches!(put, StagedEntry::Keep | StagedEntry::Copy) {
            true => drop(changed.remove(&base.path)),
            false => drop(changed.insert(Arc::clone(&base.path))),
        }
    }
    changed
}

/// Content next to its place in the layer; dropping it before it is placed removes it.
pub(super) struct LayerTempFile {
    dir: OwnedFd,
    name: std::ffi::OsString,
    staged: Option<std::ffi::OsString>,
}

impl LayerTempFile {
    pub(super) fn place(mut self) -> io::Result<()> {
        let Some(staged) = self.staged.take() else { return Ok(()) };
        let _eased = WritableDirGuard::of(&self.dir);
        // What a command left there as a directory is gone before a file can take its name.
        if crate::view::layers::layer::entry(&self.dir, &self.name)?
            .is_some_and(|s| crate::view::layers::layer::is_dir(&s))
        {
            Layer::clear(&self.dir, &self.name)?;
        }
        Ok(rustix::fs::renameat(&self.dir, staged, &self.dir, &self.name)?)
    }
}

impl Drop for LayerTempFile {
    fn drop(&mut self) {
        if let Some(staged) = &self.staged {
            let _ = rustix::fs::unlinkat(&self.dir, staged, AtFlags::empty());
        }
    }
}

fn step(path: PathBuf, before: PathState, after: PathState, source: ContentSource) -> ApplyStep {
    ApplyStep {
        path: path.into(),
        before: before.into(),
        after: after.into(),
        source,
        twin: None,
        was_twin: None,
        keep_names: true,
        fresh: false,
        unread: false,
        seen: None,
        history: Arc::default(),
    }
}

fn write_temp_file(dir: &OwnedFd, bytes: &[u8], attrs: Option<&FileAttrs>) -> io::Result<std::ffi::OsString> {
    let name = crate::files::writing::atomic_write::fresh_name();
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut file = File::from(rustix::fs::openat(dir, &name, flags, Mode::from_raw_mode(0o666))?);
    let written = file.write_all(bytes).and_then(|()| match attrs {
        Some(attrs) => attrs.give(&file).map_err(io::Error::from),
        None => Ok(()),
    });
    let written = written.and_then(|()| file.sync_data());
    if let Err(e) = written {
        let _ = rustix::fs::unlinkat(dir, &name, AtFlags::empty());
        return Err(e);
    }
    Ok(name)
}
