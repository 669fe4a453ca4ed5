//! Folding: what a command left in its own layer becomes part of what is pending.
//!
//! A path counts as changed by its content and attributes, not because it is in the layer: the overlay copies a file
//! up for an `open` that writes nothing. Files move by rename, so the cost grows with their number alone.

use super::base::BaseRecord;
use super::layer::{self, Layer, entry, is_dir, is_opaque, is_whiteout, list};
use super::stack::{LayerStack, join};
use super::{LayerSet, View};
use crate::workspace::files::path_state::{FileAttrs, PathState, open_anyway};
use crate::workspace::history::origin::ChangeOrigin;
use rustix::fs::{FileType, Stat};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest content that is stored for a merge, in bytes.
const MERGEABLE: u64 = 16 << 20;

/// What one command did, path by path, against what it found.
#[derive(Clone, Debug, Default)]
pub struct CommandEffects {
    pub created: usize,
    pub modified: usize,
    pub deleted: usize,
    /// Pipes, sockets and devices, which are never applied.
    pub special: Vec<PathBuf>,
    /// Other processes changed these while the command ran.
    pub raced: Vec<PathBuf>,
    /// Changed by this command and by others while it ran, and merged.
    pub merged: Vec<PathBuf>,
    /// Files that others changed and that stay as the others left them: the name of this command's version now, or what
    /// the command had deleted.
    pub beside: Vec<PathBuf>,
    /// Paths touched in the home directory: they last as long as the session and are never applied.
    pub home: usize,
    /// Every path touched.
    pub paths: std::collections::BTreeSet<PathBuf>,
}

impl CommandEffects {
    pub fn is_empty(&self) -> bool {
        self.created + self.modified + self.deleted == 0 && self.special.is_empty()
    }

    pub(super) fn count(&mut self, path: &Path, before: &PathState, after_absent: bool) {
        match (before.is_absent(), after_absent) {
            (true, _) => self.created += 1,
            (_, true) => self.deleted += 1,
            _ => self.modified += 1,
        }
        self.paths.insert(path.to_path_buf());
    }
}

pub(super) struct EffectsCollector<'a> {
    pub(super) view: &'a View,
    pub(super) held: &'a LayerSet,
    /// Which root.
    pub(super) index: usize,
    /// When the command began, in seconds and nanoseconds.
    pub(super) since: (i64, i64),
    pub(super) hidden: &'a dyn Fn(&Path) -> bool,
    pub(super) effects: CommandEffects,
    /// The call that ran the command.
    pub(super) by: Option<Arc<ChangeOrigin>>,
    /// The names of each inode that has several in the command's layer.
    pub(super) seen: HashMap<u64, Vec<HardLinkName>>,
    /// Files of the layer that were read already.
    pub(super) nodes: HashMap<PathBuf, PathState>,
}

/// One of several names of a file.
pub(super) struct HardLinkName {
    path: PathBuf,
    changed: bool,
    existed: bool,
}

impl EffectsCollector<'_> {
    pub(super) fn root(&self) -> &Path {
        self.view.root(self.index)
    }

    pub(super) fn now(&self) -> LayerStack<'_> {
        self.view.stack(self.index, self.held.depth)
    }

    fn below(&self) -> LayerStack<'_> {
        self.view.stack(self.index, self.held.depth + 1)
    }

    fn layer(&self) -> io::Result<&Layer> {
        self.held.layers.get(self.index).ok_or_else(|| io::Error::other("no such root"))
    }

    /// Folds the tree below the open directory `upper`.
    pub(super) fn run(&mut self, upper: &OwnedFd) -> io::Result<()> {
        let (root, model) = (File::from(upper.try_clone()?), self.now().node(Path::new(""))?);
        let mut attrs = FileAttrs::of(&root, &rustix::fs::fstat(&root)?);
        attrs.mode = layer::own_mode(&root).unwrap_or(attrs.mode);
        // Files are moved out of it.
        rustix::fs::fchmod(&root, rustix::fs::Mode::from_raw_mode(attrs.mode | 0o700))?;
        if let PathState::Directory { attrs: had } = &model {
            // Its owner is the user who made the layer, where another could not be given.
            (attrs.uid, attrs.gid) = (had.uid, had.gid);
        }
        if let PathState::Directory { attrs: had } = &model
            && *had != attrs
        {
            self.record(Path::new(""), &model)?;
            let path = self.root().to_path_buf();
            self.effects.count(&path, &model, false);
            // The parent of any name in it is the layer's own directory.
            let at = self.layer()?.parent(Path::new("x"), self.root(), &|_| None)?;
            attrs.apply_to_layer(&File::from(at))?;
        }
        self.directory(Path::new(""), upper)?;
        self.join_names();
        self.held.save()
    }

    /// Of several names of one file, one leads: best one that is in the workspace as it is, then one that was there.
    fn join_names(&mut self) {
        let mut bases = self.held.bases();
        for mut names in std::mem::take(&mut self.seen).into_values() {
            names.sort_by(|a, b| (a.changed, !a.existed, &a.path).cmp(&(b.changed, !b.existed, &b.path)));
            let mut names = names.into_iter();
            let Some(leader) = names.next() else { continue };
            for name in names.filter(|name| name.changed) {
                if let Some(base) = bases.get(&name.path).cloned() {
                    bases.set(BaseRecord { twin: Some(leader.path.clone()), ..base });
                }
            }
        }
    }

    fn directory(&mut self, rel: &Path, upper: &OwnedFd) -> io::Result<()> {
        for name in list(upper)? {
            let rel = rel.join(&name);
            if (self.hidden)(&join(self.root(), &rel)) {
                continue;
            }
            let Some(stat) = entry(upper, &name)? else { continue };
            if is_whiteout(&stat) {
                self.gone(&rel)?;
            } else if is_dir(&stat) {
                self.below_directory(&rel, upper, &name)?;
            } else {
                self.leaf(&rel, upper, &name, &stat)?;
            }
        }
        Ok(())
    }

    fn gone(&mut self, rel: &Path) -> io::Result<()> {
        let before = self.now().stat(rel)?;
        if before.is_none() {
            return Ok(());
        }
        self.record_tree(rel, true)?;
        self.held.save()?;
        self.erase(rel)
    }

    /// Takes `rel` out of the view below this layer's top.
    fn erase(&self, rel: &Path) -> io::Result<()> {
        let dir = self.layer()?.parent(rel, self.root(), &|path| self.attrs_of(path))?;
        let Some(name) = rel.file_name() else { return Ok(()) };
        match self.below().stat(rel)? {
            Some(_) => Layer::whiteout(&dir, name),
            None => Layer::clear(&dir, name),
        }
    }

    fn attrs_of(&self, rel: &Path) -> Option<FileAttrs> {
        self.now().node(rel).ok().and_then(|node| node.attrs().cloned())
    }

    fn below_directory(&mut self, rel: &Path, upper: &OwnedFd, name: &OsStr) -> io::Result<()> {
        let (file, mode) = open_anyway(upper, name, rustix::fs::OFlags::DIRECTORY)?;
        let stat = rustix::fs::fstat(&file)?;
        let mode = layer::own_mode(&file).or(mode).unwrap_or(stat.st_mode & 0o7777);
        let attrs = FileAttrs { mode, ..FileAttrs::of(&file, &stat) };
        let fd = OwnedFd::from(file);
        if mode & 0o700 != 0o700 {
            // A command may leave a directory that its own user cannot enter; this one goes away when it is folded.
            rustix::fs::fchmod(&fd, rustix::fs::Mode::from_raw_mode(mode | 0o700))?;
        }
        let before = self.now().node(rel)?;
        match &before {
            PathState::Directory { attrs: had } if !is_opaque(&fd) => {
                if *had != attrs {
                    self.record(rel, &before)?;
                    let path = join(self.root(), rel);
                    self.effects.count(&path, &before, false);
                    self.held.save()?;
                    self.make(rel, &attrs, false)?;
                }
            }
            PathState::Directory { attrs: had } => {
                // Another directory under the old name: everything in the old one is gone.
                self.record_children(rel)?;
                if *had != attrs {
                    self.record(rel, &before)?;
                }
                self.held.save()?;
                self.erase(rel)?;
                self.make(rel, &attrs, true)?;
            }
            _ => {
                if before.is_absent() {
                    self.record(rel, &before)?;
                    let path = join(self.root(), rel);
                    self.effects.count(&path, &before, false);
                } else {
                    self.record_tree(rel, false)?;
                    let path = join(self.root(), rel);
                    self.effects.count(&path, &before, false);
                }
                self.held.save()?;
                self.erase(rel)?;
                self.make(rel, &attrs, true)?;
            }
        }
        self.directory(rel, &fd)
    }

    /// A directory in this layer; `fresh` hides the lower layers.
    fn make(&self, rel: &Path, attrs: &FileAttrs, fresh: bool) -> io::Result<()> {
        let opaque = fresh && self.below().stat(rel)?.is_some();
        let dir = self.layer()?.parent(rel, self.root(), &|path| self.attrs_of(path))?;
        let Some(name) = rel.file_name() else { return Ok(()) };
        Layer::make_dir(&dir, name, attrs, opaque)
    }

    fn leaf(&mut self, rel: &Path, upper: &OwnedFd, name: &OsStr, stat: &Stat) -> io::Result<()> {
        let path = join(self.root(), rel);
        let before = self.now().node(rel)?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        let several = kind == FileType::RegularFile && stat.st_nlink > 1;
        // A size that differs needs no reading of the command's file.
        let differs = matches!(&before, PathState::File { size, .. } if i64::try_from(*size).ok() != Some(stat.st_size));
        let after = || self.nodes.get(rel).cloned().map_or_else(|| PathState::read(upper, name), Ok);
        let changed = differs || after()? != before;
        if several {
            let name = HardLinkName { path: path.clone(), changed, existed: before.is_file() };
            self.seen.entry(stat.st_ino).or_default().push(name);
        }
        if !changed {
            return Ok(());
        }
        if before.is_directory() {
            self.record_tree(rel, false)?;
        }
        let raced = self.raced(rel)?;
        self.record_with(rel, &before, raced)?;
        self.effects.count(&path, &before, false);
        if matches!(
            kind,
            FileType::Fifo | FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice
        ) {
            self.effects.special.push(path.clone());
        }
        if raced {
            self.effects.raced.push(path);
        }
        self.held.save()?;
        let dir = self.layer()?.parent(rel, self.root(), &|path| self.attrs_of(path))?;
        // A file is replaced in one step: what is pending there is not lost if this fails.
        if entry(&dir, name)?.is_some_and(|stat| is_dir(&stat)) {
            Layer::clear(&dir, name)?;
        }
        strip_marks(upper, name, kind);
        layer::move_or_copy(upper, name, &dir, name)?;
        super::super::apply::fault("folded")
    }

    /// Did the workspace's own file change while the command ran?
    fn raced(&self, rel: &Path) -> io::Result<bool> {
        if self.held.depth > 0 && !matches!(self.below().backing(rel)?, super::stack::ContentLocation::Plain)
        {
            return Ok(false);
        }
        let plain = super::stack::stat_at(&join(self.root(), rel))?;
        Ok(plain.is_some_and(|s| {
            // To read a file that its owner may not read, its mode is changed for a moment: this changes only one of
            // the two file times.
            let changed = match s.st_mode & 0o400 {
                0 => (s.st_mtime, i64::try_from(s.st_mtime_nsec).unwrap_or(0)),
                _ => (s.st_ctime, i64::try_from(s.st_ctime_nsec).unwrap_or(0)),
            };
            changed > self.since && !is_dir(&s)
        }))
    }

    fn record(&self, rel: &Path, before: &PathState) -> io::Result<()> {
        self.record_with(rel, before, false)
    }

    /// Records what is below this layer at `rel`, and stores its content where a merge may need it.
    fn record_with(&self, rel: &Path, before: &PathState, raced: bool) -> io::Result<()> {
        let path = join(self.root(), rel);
        let mut bases = self.held.bases();
        if let Some(known) = bases.get(&path).cloned() {
            // Another command changed it again: whether it is a twin now is what counts.
            if known.twin.is_some() || known.by_tool || raced && !known.raced {
                bases.set(BaseRecord { twin: None, by_tool: false, raced: known.raced || raced, ..known });
            }
            let kept = || self.view.objects().keep_between(before, || self.now().open(rel));
            bases.again(&path, self.by.as_ref(), before, kept);
            return Ok(());
        }
        // A path that this layer already has was recorded when it came here: `before` is the state below the layer.
        let below = match self.layer()?.find(rel)? {
            layer::LayerLookup::Through => before.clone(),
            _ => self.below().node(rel)?,
        };
        if let PathState::File { hash, size, .. } = &below
            && *size <= MERGEABLE
        {
            let mut file = self.below().open(rel)?;
            // The person may have changed it since it was hashed; then there is nothing to merge from.
            drop(self.view.objects().put_file(&mut file, *hash, *size));
        }
        let marks = bases.first(self.by.as_ref());
        bases.record(BaseRecord { raced, marks, ..BaseRecord::of(&path, below) });
        Ok(())
    }

    /// Records `rel` and everything below it as it is in the view; `counted` as deleted.
    fn record_tree(&mut self, rel: &Path, counted: bool) -> io::Result<()> {
        let node = self.now().node(rel)?;
        if node.is_absent() {
            return Ok(());
        }
        if node.is_directory() {
            self.record_children(rel)?;
        }
        if counted {
            let path = join(self.root(), rel);
            self.effects.count(&path, &node, true);
        }
        self.record_light(rel, node)
    }

    fn record_children(&mut self, rel: &Path) -> io::Result<()> {
        let names = self.now().children(rel)?;
        for name in names {
            let rel = rel.join(name);
            if !(self.hidden)(&join(self.root(), &rel)) {
                self.record_tree(&rel, true)?;
            }
        }
        Ok(())
    }

    /// As [`EffectsCollector::record`] without storing the content: a deleted file is never merged.
    fn record_light(&self, rel: &Path, node: PathState) -> io::Result<()> {
        let path = join(self.root(), rel);
        let mut bases = self.held.bases();
        if bases.get(&path).is_none() {
            let below = match self.layer()?.find(rel)? {
                layer::LayerLookup::Through => node.clone(),
                _ => self.below().node(rel)?,
            };
            let marks = bases.first(self.by.as_ref());
            bases.record(BaseRecord { marks, ..BaseRecord::of(&path, below) });
        } else {
            let kept = || self.view.objects().keep_between(&node, || self.now().open(rel));
            bases.again(&path, self.by.as_ref(), &node, kept);
        }
        Ok(())
    }
}

/// The overlay's own notes on a file it copied up mean nothing in another place.
fn strip_marks(dir: &OwnedFd, name: &OsStr, kind: FileType) {
    if kind != FileType::RegularFile {
        return;
    }
    let Ok((file, own)) = open_anyway(dir, name, rustix::fs::OFlags::NONBLOCK) else { return };
    let Ok(stat) = rustix::fs::fstat(&file) else { return };
    let mode = own.unwrap_or(stat.st_mode & 0o7777);
    // Who may not write a file cannot remove its attributes either.
    let shut = mode & 0o200 == 0;
    if shut {
        let _ = rustix::fs::fchmod(&file, rustix::fs::Mode::from_raw_mode(mode | 0o600));
    }
    for mark in ["user.overlay.origin", "user.overlay.nlink", "user.overlay.metacopy"] {
        let _ = rustix::fs::fremovexattr(&file, mark);
    }
    if shut {
        let _ = rustix::fs::fchmod(&file, rustix::fs::Mode::from_raw_mode(mode));
    }
}
