//! Folding: what a command left in its own layer becomes part of what is pending.
//!
//! A path counts as changed by its content and attributes, not because it is in the layer: the overlay copies a file
//! up for an `open` that writes nothing. Files move by rename, so the cost grows with their number alone.

use super::collected_index::is_refreshed_index;
use super::command_file::{self, lost_group};
use super::run_clock::RunPeriod;
use crate::files::metadata::path_state::{FileAttrs, PathState, open_anyway};
use crate::files::metadata::stat_fields::{file_time, mode_of, permissions};
use crate::history::origin::ChangeOrigin;
use crate::repository::LinkableNames;
use crate::view::layers::base::{BaseIndex, BaseRecord};
use crate::view::layers::layer::{self, DirNames, Layer, entry, is_dir, is_opaque, is_whiteout};
use crate::view::layers::open_stack::OpenStackDir;
use crate::view::layers::stack::{LayerStack, join};
use crate::view::reading::effect_kind::{ApartEffect, EffectAfter, EffectKind};
use crate::view::{LayerSet, View};
use placet_permission::is_git_name;
use rustix::fs::{FileType, Stat};
use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest content that is stored for a merge, in bytes.
const MERGEABLE: u64 = 16 << 20;
/// How many files are recorded before they are moved: their records are written in one go.
const MOST_MOVES: usize = 256;

/// What one command did, path by path, against what it found.
#[derive(Clone, Debug, Default)]
pub struct CommandEffects {
    pub created: usize,
    pub modified: usize,
    pub deleted: usize,
    /// Files that were renamed: each is one of the created and one of the deleted paths.
    pub renamed: usize,
    /// Pipes, sockets and devices, which are never applied.
    pub special: Vec<PathBuf>,
    /// Other processes changed these while the command ran.
    pub raced: Vec<PathBuf>,
    /// Changed by this command and by others while it ran, and merged.
    pub merged: Vec<PathBuf>,
    /// This command's versions of files that others changed and that stay as the others left them.
    pub beside: Vec<PathBuf>,
    /// What this command deleted and others changed: it stays. The same for the attributes of a directory.
    pub kept: Vec<PathBuf>,
    /// Paths touched in the home directory: they last as long as the session and are never applied.
    pub home: usize,
    /// Every path touched.
    pub paths: BTreeSet<Arc<Path>>,
    /// Where repositories are searched for: a plain file is none, and to look for one at each of half a million files
    /// takes longer than all the rest.
    pub(in crate::view) places: BTreeSet<Arc<Path>>,
    /// Directories, and what is in a `.git`: a person counts them in another way than files.
    pub(in crate::view) apart: Vec<ApartEffect>,
}

impl CommandEffects {
    pub fn is_empty(&self) -> bool {
        self.created + self.modified + self.deleted == 0 && self.special.is_empty()
    }

    pub(in crate::view) fn count(&mut self, path: &Path, before: &PathState, after: EffectAfter) {
        let path: Arc<Path> = path.into();
        match before.is_directory() || after != EffectAfter::Nothing {
            true => drop(self.places.insert(Arc::clone(&path))),
            false => self.add_place_of_file(&path),
        }
        self.add(&path, before, after);
    }

    /// Counts what is no directory now.
    fn count_leaf(&mut self, path: &Arc<Path>, before: &PathState) {
        match before.is_directory() {
            true => drop(self.places.insert(Arc::clone(path))),
            false => self.add_place_of_file(path),
        }
        self.add(path, before, EffectAfter::File);
    }

    fn add_place_of_file(&mut self, path: &Path) {
        let place = path.parent().filter(|_| !is_git_name(path)).unwrap_or(path);
        if !self.places.contains(place) {
            self.places.insert(place.into());
        }
    }

    fn add(&mut self, path: &Arc<Path>, before: &PathState, after: EffectAfter) {
        let kind = match (before.is_absent(), after) {
            (true, _) => EffectKind::Created,
            (_, EffectAfter::Nothing) => EffectKind::Deleted,
            _ => EffectKind::Modified,
        };
        match kind {
            EffectKind::Created => self.created += 1,
            EffectKind::Deleted => self.deleted += 1,
            EffectKind::Modified => self.modified += 1,
        }
        self.paths.insert(Arc::clone(path));
        let is_directory = match after {
            EffectAfter::Nothing => before.is_directory(),
            EffectAfter::Directory => before.is_absent() || before.is_directory(),
            EffectAfter::File => false,
        };
        if is_directory || path.ancestors().any(is_git_name) {
            self.apart.push(ApartEffect { path: Arc::clone(path), kind, is_directory });
        }
    }
}

pub(in crate::view) struct EffectsCollector<'a> {
    pub(in crate::view) view: &'a View,
    pub(in crate::view) held: &'a LayerSet,
    /// Which root.
    pub(in crate::view) index: usize,
    /// The time in which the command ran.
    pub(in crate::view) period: RunPeriod,
    pub(in crate::view) hidden: &'a dyn Fn(&Path) -> bool,
    pub(in crate::view) effects: CommandEffects,
    /// The call that ran the command.
    pub(in crate::view) by: Option<Arc<ChangeOrigin>>,
    /// The names of each inode that has several in the command's layer.
    pub(in crate::view) seen: HashMap<u64, Vec<HardLinkName>>,
    /// Files of the layer that were read already.
    pub(in crate::view) nodes: HashMap<PathBuf, PathState>,
}

/// A directory of the command's layer, in everything that may have a name in it.
pub(in crate::view) struct CollectedDir {
    now: OpenStackDir,
    /// Without the layer that the changes come to.
    below: OpenStackDir,
    /// The workspace's own, whatever is over it.
    plain: Option<OwnedFd>,
    /// The same directory in the layer that the changes come to, opened when something is to be moved there.
    target: Option<OwnedFd>,
}

/// A recorded file, to be moved into the layer.
struct FileMove {
    name: OsString,
    kind: FileType,
    /// The view had a directory of this name.
    over_dir: bool,
    /// The group that it lost without a choice.
    group: Option<u32>,
}

/// One of several names of a file.
pub(in crate::view) struct HardLinkName {
    path: PathBuf,
    changed: bool,
    existed: bool,
}

impl EffectsCollector<'_> {
    pub(in crate::view) fn root(&self) -> &Path {
        self.view.root(self.index)
    }

    pub(in crate::view) fn now(&self) -> LayerStack<'_> {
        self.view.stack(self.index, self.held.depth)
    }

    fn below(&self) -> LayerStack<'_> {
        self.view.stack(self.index, self.held.depth + 1)
    }

    fn layer(&self) -> io::Result<&Layer> {
        self.held.layers.get(self.index).ok_or_else(|| io::Error::other("no such root"))
    }

    /// Folds the tree below the open directory `upper`.
    pub(in crate::view) fn run(&mut self, upper: &OwnedFd) -> io::Result<()> {
        let (root, model) = (File::from(upper.try_clone()?), self.now().node(Path::new(""))?);
        let attrs = FileAttrs::of(&root, &rustix::fs::fstat(&root)?)?;
        let mut attrs = attrs.with_own_mode(layer::own_mode(&root)?);
        // Files are moved out of it.
        rustix::fs::fchmod(&root, mode_of(attrs.mode | 0o700))?;
        if let PathState::Directory { attrs: had } = &model {
            // Its owner is the user who made the layer, where another could not be given.
            (attrs.uid, attrs.gid) = (had.uid, had.gid);
        }
        if let PathState::Directory { attrs: had } = &model
            && *had != attrs
        {
            self.record(Path::new(""), &model)?;
            let path = self.root().to_path_buf();
            self.effects.count(&path, &model, EffectAfter::Directory);
            // The parent of any name in it is the layer's own directory.
            let at = self.layer()?.parent(Path::new("x"), self.root(), &|_| None)?;
            attrs.apply_to_layer(&File::from(at))?;
        }
        let at = self.open_dir(Path::new(""))?;
        self.directory(Path::new(""), upper, at)?;
        self.join_names();
        self.held.save()
    }

    /// Of several names of one file, one leads: best one that is in the workspace as it is, then one that was there.
    fn join_names(&mut self) {
        if self.seen.is_empty() {
            return;
        }
        let seen = std::mem::take(&mut self.seen);
        let (now, root) = (self.now(), self.root());
        let exists = |path: &Path| {
            let in_view = path.strip_prefix(root).is_ok_and(|rel| now.stat(rel).is_ok_and(|s| s.is_some()));
            in_view || std::fs::symlink_metadata(path).is_ok()
        };
        let mut shared = LinkableNames::new(root, &exists);
        let mut bases = self.held.bases();
        for mut names in seen.into_values() {
            names.sort_by(|a, b| (a.changed, !a.existed, &a.path).cmp(&(b.changed, !b.existed, &b.path)));
            let mut names = names.into_iter();
            let Some(leader) = names.next() else { continue };
            for name in names.filter(|name| name.changed) {
                if shared.may_be_one_file(&leader.path, &name.path)
                    && let Some(base) = bases.get(&name.path)
                {
                    bases.set(BaseRecord { twin: Some(Arc::from(leader.path.as_path())), ..base });
                }
            }
        }
    }

    fn directory(&mut self, rel: &Path, upper: &OwnedFd, mut at: CollectedDir) -> io::Result<()> {
        let (mut moves, mut dirs) = (Vec::new(), Vec::new());
        let names = DirNames::of(upper)?;
        for name in names.iter() {
            let rel = rel.join(name);
            if (self.hidden)(&join(self.root(), &rel)) {
                continue;
            }
            let Some(stat) = entry(upper, name)? else { continue };
            if is_whiteout(&stat) {
                self.gone(&rel)?;
            } else if is_dir(&stat) {
                dirs.push(name.to_os_string());
            } else if let Some(found) = self.leaf(&rel, upper, &mut at, (name, &stat))? {
                moves.push(found);
                if moves.len() >= MOST_MOVES {
                    self.make_moves(upper, &at, &mut moves)?;
                }
            }
        }
        self.make_moves(upper, &at, &mut moves)?;
        // Closed before anything below is opened: a tree may be deeper than a process may have open directories.
        drop(at);
        dirs.into_iter().try_for_each(|name| self.below_directory(&rel.join(&name), upper, &name))
    }

    /// Moves files of the command's layer into this one, after their records are on disk.
    fn make_moves(&self, upper: &OwnedFd, at: &CollectedDir, moves: &mut Vec<FileMove>) -> io::Result<()> {
        let Some(target) = at.target.as_ref().filter(|_| !moves.is_empty()) else { return Ok(()) };
        self.held.save()?;
        for FileMove { name, kind, over_dir, group } in moves.drain(..) {
            // A file is replaced in one step: what is pending there is not lost if this fails.
            if over_dir && entry(target, &name)?.is_some_and(|stat| is_dir(&stat)) {
                Layer::clear(target, &name)?;
            }
            if kind == FileType::RegularFile {
                command_file::make_ordinary(upper, &name, group);
            }
            layer::move_or_copy(upper, &name, target, &name)?;
            crate::apply::fault("folded")?;
            crate::hold_point("folded");
        }
        Ok(())
    }

    /// The directory `rel`, open in everything that may have a name in it.
    fn open_dir(&self, rel: &Path) -> io::Result<CollectedDir> {
        let plain = crate::view::reading::state_at::parent_of(&join(self.root(), rel))?;
        Ok(CollectedDir {
            now: self.now().open_dir(rel)?,
            below: self.below().open_dir(rel)?,
            plain,
            target: None,
        })
    }

    /// The same for a directory that this layer got just now: nothing is in it.
    fn open_fresh_dir(&self, rel: &Path) -> io::Result<CollectedDir> {
        let plain = crate::view::reading::state_at::parent_of(&join(self.root(), rel))?;
        let (now, below) = (OpenStackDir::default(), self.below().open_dir(rel)?);
        Ok(CollectedDir { now, below, plain, target: None })
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
        let mode = layer::own_mode(&file)?.or(mode).unwrap_or_else(|| permissions(&stat));
        let mut attrs = FileAttrs::of(&file, &stat)?.with_own_mode(Some(mode));
        let fd = OwnedFd::from(file);
        if mode & 0o700 != 0o700 {
            // A command may leave a directory that its own user cannot enter; this one goes away when it is folded.
            rustix::fs::fchmod(&fd, mode_of(mode | 0o700))?;
        }
        let before = self.now().node(rel)?;
        attrs.gid = lost_group(&before, (attrs.gid, true)).unwrap_or(attrs.gid);
        match &before {
            PathState::Directory { attrs: had } => {
                if is_opaque(&fd)? {
                    self.replace_directory(rel, &fd)?;
                }
                if *had != attrs {
                    self.record(rel, &before)?;
                    let path = join(self.root(), rel);
                    self.effects.count(&path, &before, EffectAfter::Directory);
                    self.held.save()?;
                    self.make(rel, &attrs, false)?;
                }
            }
            _ => {
                if before.is_absent() {
                    self.record(rel, &before)?;
                    let path = join(self.root(), rel);
                    self.effects.count(&path, &before, EffectAfter::Directory);
                } else {
                    self.record_tree(rel, false)?;
                    let path = join(self.root(), rel);
                    self.effects.count(&path, &before, EffectAfter::Directory);
                }
                self.held.save()?;
                self.erase(rel)?;
                self.make(rel, &attrs, true)?;
                layer::clear_opaque(&fd)?;
            }
        }
        let at = if !before.is_directory() { self.open_fresh_dir(rel)? } else { self.open_dir(rel)? };
        self.directory(rel, &fd, at)
    }

    /// Another directory under the name of an old one hides all of the old one: what it does not have is gone. The rest is
    /// compared name by name, so that a directory that was made again as it was is no change.
    fn replace_directory(&mut self, rel: &Path, upper: &OwnedFd) -> io::Result<()> {
        let mut gone = Vec::new();
        for name in self.now().children(rel)? {
            let rel = rel.join(&name);
            if (self.hidden)(&join(self.root(), &rel)) {
                continue;
            }
            match entry(upper, &name)? {
                None => {
                    self.record_tree(&rel, true)?;
                    gone.push(rel);
                }
                // What is above it hid the old one of this name, too.
                Some(stat) if is_dir(&stat) => layer::mark_opaque_at(upper, &name)?,
                Some(_) => {}
            }
        }
        self.held.save()?;
        gone.iter().try_for_each(|rel| self.erase(rel))?;
        // After a kill, the rest of the new one joins what came here until then.
        layer::clear_opaque(upper)
    }

    /// A directory in this layer; `fresh` hides the lower layers.
    fn make(&self, rel: &Path, attrs: &FileAttrs, fresh: bool) -> io::Result<()> {
        let opaque = fresh && self.below().stat(rel)?.is_some();
        let dir = self.layer()?.parent(rel, self.root(), &|path| self.attrs_of(path))?;
        let Some(name) = rel.file_name() else { return Ok(()) };
        Layer::make_dir(&dir, name, attrs, opaque)
    }

    /// Records a file of the command's layer, if it is changed: then it is to be moved.
    fn leaf(
        &mut self,
        rel: &Path,
        upper: &OwnedFd,
        at: &mut CollectedDir,
        (name, stat): (&OsStr, &Stat),
    ) -> io::Result<Option<FileMove>> {
        let path: Arc<Path> = join(self.root(), rel).into();
        let before = at.now.node(name)?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        let several = kind == FileType::RegularFile && stat.st_nlink > 1;
        let known = self.nodes.remove(rel);
        // A size that differs needs no reading of the command's file, and nothing equals a missing file.
        let differs = match &before {
            PathState::File { size, .. } => i64::try_from(*size).ok() != Some(stat.st_size),
            before => before.is_absent(),
        };
        let after = || known.map_or_else(|| PathState::read(upper, name), Ok);
        let changed = differs || after()? != before;
        if several {
            let name = HardLinkName { path: path.to_path_buf(), changed, existed: before.is_file() };
            self.seen.entry(stat.st_ino).or_default().push(name);
        }
        if !changed || is_refreshed_index(&at.now, (name, &before), upper)? {
            return Ok(None);
        }
        if before.is_directory() {
            self.record_tree(rel, false)?;
        }
        let raced = self.raced(at, name)?;
        self.record_file(&path, (at, name), &before, raced)?;
        self.effects.count_leaf(&path, &before);
        if matches!(
            kind,
            FileType::Fifo | FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice
        ) {
            self.effects.special.push(path.to_path_buf());
        }
        if raced {
            self.effects.raced.push(path.to_path_buf());
        }
        if at.target.is_none() {
            // Making a directory changes the layer.
            self.held.save()?;
            at.target = Some(self.layer()?.parent(rel, self.root(), &|path| self.attrs_of(path))?);
        }
        let group = lost_group(&before, (stat.st_gid, false));
        Ok(Some(FileMove { name: name.to_os_string(), kind, over_dir: before.is_directory(), group }))
    }

    /// Did the workspace's own file change while the command ran?
    fn raced(&self, at: &CollectedDir, name: &OsStr) -> io::Result<bool> {
        let plain = at.plain.as_ref().map_or(Ok(None), |dir| entry(dir, name))?;
        Ok(plain.is_some_and(|s| {
            // To read a file that its owner may not read, its mode is changed for a moment: this changes only one of
            // the two file times.
            let changed = match s.st_mode & 0o400 {
                0 => (s.st_mtime, i64::try_from(s.st_mtime_nsec).unwrap_or(0)),
                _ => file_time(&s),
            };
            !is_dir(&s) && self.period.has(changed)
        }))
    }

    /// Records what is below this layer at the directory `rel`.
    fn record(&self, rel: &Path, before: &PathState) -> io::Result<()> {
        let path = join(self.root(), rel);
        let mut bases = self.held.bases();
        if let Some(known) = bases.get(&path) {
            self.record_again(&mut bases, known, before, false, || self.now().open(rel));
            return Ok(());
        }
        // A path that this layer already has was recorded when it came here: `before` is the state below the layer.
        let below = match self.layer()?.find(rel)? {
            layer::LayerLookup::Through => before.clone(),
            _ => self.below().node(rel)?,
        };
        self.record_first(&mut bases, path.into(), below, false, || self.below().open(rel))
    }

    /// Records what is below this layer at a name in an open directory, and stores its content where a merge may need it.
    fn record_file(
        &self,
        path: &Arc<Path>,
        (at, name): (&CollectedDir, &OsStr),
        before: &PathState,
        raced: bool,
    ) -> io::Result<()> {
        let mut bases = self.held.bases();
        if let Some(known) = bases.get(path) {
            self.record_again(&mut bases, known, before, raced, || at.now.open(name));
            return Ok(());
        }
        let below = if at.now.is_through(name)? { before.clone() } else { at.below.node(name)? };
        self.record_first(&mut bases, Arc::clone(path), below, raced, || at.below.open(name))
    }

    /// Another command changed it again: whether it is a twin now is what counts.
    fn record_again(
        &self,
        bases: &mut BaseIndex,
        known: BaseRecord,
        before: &PathState,
        raced: bool,
        open: impl FnOnce() -> io::Result<File>,
    ) {
        let path = Arc::clone(&known.path);
        if known.twin.is_some() || known.by_tool || raced && !known.raced {
            bases.set(BaseRecord { twin: None, by_tool: false, raced: known.raced || raced, ..known });
        }
        let kept = || self.view.objects().keep_between(before, open);
        bases.again(&path, self.by.as_ref(), before, kept);
    }

    fn record_first(
        &self,
        bases: &mut BaseIndex,
        path: Arc<Path>,
        below: PathState,
        raced: bool,
        open: impl FnOnce() -> io::Result<File>,
    ) -> io::Result<()> {
        if let PathState::File { hash, size, .. } = &below
            && *size <= MERGEABLE
        {
            let mut file = open()?;
            // The person may have changed it since it was hashed; then there is nothing to merge from.
            drop(self.view.objects().put_file(&mut file, *hash, *size));
        }
        let marks = bases.first(self.by.as_ref());
        bases.record(BaseRecord { raced, marks, ..BaseRecord::of(path, below) });
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
            self.effects.count(&path, &node, EffectAfter::Nothing);
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
        if !bases.contains(&path) {
            let below = match self.layer()?.find(rel)? {
                layer::LayerLookup::Through => node.clone(),
                _ => self.below().node(rel)?,
            };
            let marks = bases.first(self.by.as_ref());
            bases.record(BaseRecord { marks, ..BaseRecord::of(path, below) });
        } else {
            let kept = || self.view.objects().keep_between(&node, || self.now().open(rel));
            bases.again(&path, self.by.as_ref(), &node, kept);
        }
        Ok(())
    }
}
