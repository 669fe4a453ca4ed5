//! Holding: what a file tool writes is put on the pending shelf; and putting the shelf in another order.

use super::super::apply::{ApplyError, Source, Step, fault};
use super::super::batch::After;
use super::super::journal::{Entry, Kind, Label};
use super::super::node::{Attrs, Eased, Node};
use super::super::origin::{Origin, Step as OriginStep, Writer};
use super::super::{Before, Hash, WorkspaceError, Written};
use super::base::{Base, Bases};
use super::layer::{Found, Layer, remove_dir_all};
use super::stack::{join, node_at};
use super::{Held, Shelf, View};
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a path on the shelf is to become.
#[derive(Clone, Debug)]
pub(in crate::workspace) enum Put {
    /// As it is there now.
    Keep,
    /// A file with this content and the attributes it has now.
    Bytes(Vec<u8>),
}

impl View {
    /// Writes a whole file for a tool: on the pending shelf when the mode holds changes or something at this path is held
    /// already, else straight into the workspace, through the journal.
    pub(in crate::workspace) fn write(
        &self,
        path: &Path,
        bytes: &[u8],
        before: Before,
        writer: impl Into<Writer>,
    ) -> Result<Written, WorkspaceError> {
        let writer = writer.into();
        let fail = |e: io::Error| WorkspaceError::from_io(path, e);
        self.drop_scratch().map_err(fail)?;
        if self.must_hold(path, writer.landing)? {
            let hash = self.hold(path, bytes, before, writer.origin.as_ref())?;
            return Ok(Written { hash, in_place: false, held: true });
        }
        self.land_one(path, bytes, before, &writer)
    }

    /// One file into the workspace, journaled.
    fn land_one(
        &self,
        path: &Path,
        bytes: &[u8],
        before: Before,
        writer: &Writer,
    ) -> Result<Written, WorkspaceError> {
        let after = After::Content { bytes: Arc::new(bytes.to_vec()), attrs: None };
        let mut steps: Vec<Step> = Vec::new();
        self.landing_steps(path, before, &after, &mut steps)?;
        let entry = self.land_steps(path, steps, writer)?;
        let in_place = entry.changes.iter().any(|c| c.in_place);
        Ok(Written { hash: blake3::hash(bytes), in_place, held: false })
    }

    /// What one file of a batch adds to the steps of its landing: the file, and the directories it needs.
    pub(super) fn landing_steps(
        &self,
        path: &Path,
        before: Before,
        after: &After,
        steps: &mut Vec<Step>,
    ) -> Result<(), WorkspaceError> {
        let now = node_at(path).map_err(|e| WorkspaceError::from_io(path, e))?;
        expect(path, before, &now)?;
        if let Node::File { attrs, .. } = &now {
            super::super::atomic::refuse_read_only(path, attrs.mode)?;
        }
        let After::Content { bytes, attrs } = after else {
            steps.push(step(path.to_path_buf(), now, Node::Absent, Source::Nothing));
            return Ok(());
        };
        for dir in path.ancestors().skip(1).take_while(|dir| !dir.exists()) {
            if steps.iter().all(|known| known.path != dir) {
                let after = Node::Directory { attrs: Attrs::of_new_directory() };
                steps.push(step(dir.to_path_buf(), Node::Absent, after, Source::Nothing));
            }
        }
        let fresh = now.is_absent() && attrs.is_none();
        let attrs = attrs.clone().or_else(|| now.attrs().cloned()).unwrap_or_default();
        let after = Node::File { hash: blake3::hash(bytes), size: bytes.len() as u64, attrs };
        steps.push(Step { fresh, ..step(path.to_path_buf(), now, after, Source::Bytes(bytes.clone())) });
        Ok(())
    }

    /// Lands the steps as one transaction; `path` is what an error without a path of its own is about.
    pub(super) fn land_steps(
        &self,
        path: &Path,
        mut steps: Vec<Step>,
        writer: &Writer,
    ) -> Result<Entry, WorkspaceError> {
        for step in &mut steps {
            let by = writer.origin.clone();
            step.history = by.into_iter().map(|by| OriginStep { origin: Some(by), content: None }).collect();
        }
        let made: Vec<String> = steps
            .iter()
            .filter_map(|step| match &step.after {
                Node::File { hash, .. } => Some(hash.to_hex().to_string()),
                _ => None,
            })
            .collect();
        let label = Label { assent: writer.assent.clone(), ..self.turn().label.clone() };
        let entry = self.land(label, Kind::Apply, steps);
        let entry = entry.map_err(|e| match e {
            ApplyError::Changed(mut paths) => {
                WorkspaceError::Raced(paths.pop().unwrap_or_else(|| path.to_path_buf()))
            }
            ApplyError::Failed { path, error } => WorkspaceError::from_io(&path, error),
            other => WorkspaceError::from_io(path, io::Error::other(other)),
        })?;
        self.turn().made.extend(made);
        Ok(entry)
    }

    /// Writes a whole file on the pending shelf. `before` is what the view must have there, as with
    /// [`super::super::Workspace::write`].
    pub(in crate::workspace) fn hold(
        &self,
        path: &Path,
        bytes: &[u8],
        before: Before,
        by: Option<&Arc<Origin>>,
    ) -> Result<Hash, WorkspaceError> {
        let fail = |e: io::Error| WorkspaceError::from_io(path, e);
        let (index, rel) = self.locate(path).ok_or_else(|| WorkspaceError::Outside(path.to_path_buf()))?;
        let now = self.stack(index, 0).node(&rel).map_err(fail)?;
        expect(path, before, &now)?;
        let staged = self.stage_held((index, &rel), bytes, &now, now.attrs(), by).map_err(fail)?;
        staged.place().map_err(fail)?;
        Ok(blake3::hash(bytes))
    }

    /// Lays new content beside its place on the pending shelf, and writes down what is below it.
    pub(super) fn stage_held(
        &self,
        (index, rel): (usize, &Path),
        bytes: &[u8],
        now: &Node,
        attrs: Option<&Attrs>,
        by: Option<&Arc<Origin>>,
    ) -> io::Result<StagedHeld> {
        let (dir, name) = self.held_place(index, rel, now, by)?;
        let _eased = Eased::of(&dir);
        let staged = write_beside(&dir, bytes, attrs)?;
        Ok(StagedHeld { dir, name, staged: Some(staged) })
    }

    /// The directory of a path on the pending shelf, its base recorded.
    pub(super) fn held_place(
        &self,
        index: usize,
        rel: &Path,
        now: &Node,
        by: Option<&Arc<Origin>>,
    ) -> io::Result<(OwnedFd, std::ffi::OsString)> {
        self.claim()?;
        self.turn().held = true;
        let held = self.held(Shelf::Pending);
        let layer = held.layers.get(index).ok_or_else(|| io::Error::other("no such root"))?;
        let path = join(self.root(index), rel);
        self.record_parents(index, rel, by)?;
        if held.bases().get(&path).is_none() {
            let below = match layer.find(rel)? {
                Found::Through => now.clone(),
                _ => self.stack(index, 2).node(rel)?,
            };
            if let Node::File { hash, size, .. } = below {
                let mut file = self.stack(index, 2).open(rel)?;
                drop(self.objects().put_file(&mut file, hash, size));
            }
            let mut bases = held.bases();
            let marks = bases.first(by);
            bases.record(Base { by_tool: true, marks, ..Base::of(&path, below) });
        } else {
            let kept = || self.objects().keep_between(now, || self.stack(index, 1).open(rel));
            held.bases().again(&path, by, now, kept);
        }
        held.save()?;
        let like = |path: &Path| self.stack(index, 0).node(path).ok().and_then(|n| n.attrs().cloned());
        let dir = layer.parent(rel, self.root(index), &like)?;
        let name = rel.file_name().ok_or(io::ErrorKind::IsADirectory)?;
        Ok((dir, name.to_os_string()))
    }

    /// Directories that a held file needs and nobody has yet are changes of their own.
    fn record_parents(&self, index: usize, rel: &Path, by: Option<&Arc<Origin>>) -> io::Result<()> {
        let held = self.held(Shelf::Pending);
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
            bases.record(Base { marks, ..Base::of(&path, below) });
        }
        Ok(())
    }

    /// Makes the pending shelf anew with only these changes on it. The old one is replaced in one step at the end, so
    /// that a crash leaves one or the other.
    pub(in crate::workspace) fn rebuild(&self, keep: Vec<(Base, Put)>) -> io::Result<()> {
        self.claim()?;
        if keep.is_empty() {
            self.replace_pending(Vec::new())?;
            // Nothing is on it any more: that the empty layers stay is no failure.
            if let Err(e) = self.held(Shelf::Pending).wipe() {
                tracing::warn!("an empty layer stays: {e}");
            }
            return Ok(());
        }
        let kept: BTreeSet<PathBuf> = keep.iter().map(|(base, _)| base.path.clone()).collect();
        let watched = self.watched(&kept)?.into_iter().map(|base| (base, Put::Keep));
        let pending = &self.0.pending;
        let all = keep.into_iter().chain(watched).map(|(base, put)| (pending, base, put));
        self.replace_pending(all.collect())
    }

    /// Makes the pending shelf anew with these changes, each taken from the shelf that is named; parents come first.
    pub(super) fn replace_pending(&self, all: Vec<(&Held, Base, Put)>) -> io::Result<()> {
        let held = self.held(Shelf::Pending);
        let dir = self.dir().join("pending");
        let (fresh_dir, old_dir) = (self.dir().join("pending.new"), self.dir().join("pending.old"));
        for leftover in [&fresh_dir, &old_dir] {
            if leftover.exists() {
                remove_dir_all(leftover)?;
            }
        }
        crate::private::make_dir(&fresh_dir)?;
        let fresh = Held::at(&fresh_dir, self.roots().len(), 1);
        let mut bases = Bases::load(fresh_dir.join("base.jsonl"));
        for (from, base, put) in all {
            self.put_again(&fresh, from, &base, put)?;
            bases.take(base, &from.bases());
        }
        bases.save()?;
        crate::private::make_dir(&dir)?;
        let cwd = rustix::fs::CWD;
        rustix::fs::renameat_with(cwd, &fresh_dir, cwd, &dir, RenameFlags::EXCHANGE)?;
        *held.bases() = Bases::load(dir.join("base.jsonl"));
        held.layers.iter().for_each(Layer::look_again);
        // It is done, and an error must not say otherwise: the next time removes what is left of the old one.
        let moved =
            fault("replaced").and_then(|()| Ok(rustix::fs::renameat(cwd, &fresh_dir, cwd, &old_dir)?));
        if let Err(e) = moved.and_then(|()| remove_dir_all(&old_dir)) {
            tracing::warn!("what was pending before stays in `{}`: {e}", old_dir.display());
        }
        Ok(())
    }

    /// Puts what `from` has at the path of `base` on the shelf `fresh`.
    pub(super) fn put_again(&self, fresh: &Held, from: &Held, base: &Base, put: Put) -> io::Result<()> {
        let Some((index, rel)) = self.locate(&base.path) else { return Ok(()) };
        let Some(layer) = fresh.layers.get(index) else { return Ok(()) };
        let stack = self.stack_of(from, index);
        let node = stack.node(&rel)?;
        let Some(name) = rel.file_name() else {
            // The root itself: its mode is that of the layer's own directory.
            let at = layer.open_like(self.root(index))?;
            return Ok(node.attrs().map_or(Ok(()), |attrs| attrs.give_to_layer(&File::from(at)))?);
        };
        // A record alone: a link to the workspace's own file would make it a change.
        let is_record = match from.layers.get(index) {
            Some(layer) => matches!(layer.find(&rel)?, Found::Through),
            None => true,
        };
        if is_record && matches!(put, Put::Keep) {
            return Ok(());
        }
        // Where a directory above went, or became something else, whatever was in it is gone with it.
        let gone_above = rel.ancestors().skip(1).any(|dir| match layer.find(dir) {
            Ok(Found::Gone) => true,
            Ok(Found::Here { stat, .. }) => !super::layer::is_dir(&stat),
            _ => false,
        });
        if node.is_absent() && gone_above {
            return Ok(());
        }
        let like = |path: &Path| stack.node(path).ok().and_then(|n| n.attrs().cloned());
        let dir = layer.parent(&rel, self.root(index), &like)?;
        let _eased = Eased::of(&dir);
        match (&node, put) {
            // Part of a file's deletion was thrown away: what stays is the file again.
            (Node::Absent, Put::Bytes(bytes)) => {
                let staged = write_beside(&dir, &bytes, base.node.attrs())?;
                Ok(rustix::fs::renameat(&dir, staged, &dir, name)?)
            }
            (Node::Absent, _) => match self.stack(index, 2).stat(&rel)? {
                Some(_) => Layer::whiteout(&dir, name),
                None => Ok(()),
            },
            (Node::Directory { attrs }, _) => Layer::make_dir(&dir, name, attrs, false),
            (Node::File { attrs, .. }, Put::Bytes(bytes)) => {
                let staged = write_beside(&dir, &bytes, Some(attrs))?;
                Ok(rustix::fs::renameat(&dir, staged, &dir, name)?)
            }
            (_, _) => {
                let Some(from) = stack.real(&rel)? else { return Ok(()) };
                Ok(rustix::fs::linkat(rustix::fs::CWD, from, &dir, name, AtFlags::empty())?)
            }
        }
    }
}

/// Fails unless what is there is what `before` says.
pub(super) fn expect(path: &Path, before: Before, now: &Node) -> Result<(), WorkspaceError> {
    let path = || path.to_path_buf();
    match (before, now) {
        (Before::Absent, Node::Absent) => Ok(()),
        (Before::Absent, _) => Err(WorkspaceError::Exists(path())),
        (Before::Content(expected), Node::File { hash, attrs, .. }) if *hash == expected => {
            if attrs.mode & 0o222 == 0 { Err(WorkspaceError::ReadOnly(path())) } else { Ok(()) }
        }
        (Before::Content(_), Node::Absent) => Err(WorkspaceError::Missing(path())),
        (Before::Content(_), Node::Directory { .. }) => Err(WorkspaceError::Directory(path())),
        (Before::Content(_), _) => Err(WorkspaceError::Raced(path())),
    }
}

/// Content that lies beside its place on the shelf; dropped before it is placed, it is removed.
pub(super) struct StagedHeld {
    dir: OwnedFd,
    name: std::ffi::OsString,
    staged: Option<std::ffi::OsString>,
}

impl StagedHeld {
    pub(super) fn place(mut self) -> io::Result<()> {
        let Some(staged) = self.staged.take() else { return Ok(()) };
        let _eased = Eased::of(&self.dir);
        // What a command left there as a directory is gone before a file can take its name.
        if super::layer::entry(&self.dir, &self.name)?.is_some_and(|s| super::layer::is_dir(&s)) {
            Layer::clear(&self.dir, &self.name)?;
        }
        Ok(rustix::fs::renameat(&self.dir, staged, &self.dir, &self.name)?)
    }
}

impl Drop for StagedHeld {
    fn drop(&mut self) {
        if let Some(staged) = &self.staged {
            let _ = rustix::fs::unlinkat(&self.dir, staged, AtFlags::empty());
        }
    }
}

fn step(path: PathBuf, before: Node, after: Node, source: Source) -> Step {
    Step {
        path,
        before,
        after,
        source,
        twin: None,
        was_twin: None,
        keep_names: true,
        fresh: false,
        history: Vec::new(),
    }
}

fn write_beside(dir: &OwnedFd, bytes: &[u8], attrs: Option<&Attrs>) -> io::Result<std::ffi::OsString> {
    let name = super::super::atomic::fresh_name();
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
