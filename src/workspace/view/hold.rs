//! Holding: what a file tool writes is put on the pending shelf; and putting the shelf in another order.

use super::super::apply::{ApplyError, Source, Step, land};
use super::super::journal::Kind;
use super::super::node::{Attrs, Eased, Node};
use super::super::{Before, Hash, WorkspaceError, Written};
use super::base::{Base, Bases};
use super::layer::{Found, Layer, remove_dir_all};
use super::stack::{join, node_at};
use super::{Held, Shelf, View};
use crate::permission::Landing;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

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
        landing: Landing,
    ) -> Result<Written, WorkspaceError> {
        let fail = |e: io::Error| WorkspaceError::from_io(path, e);
        self.drop_scratch().map_err(fail)?;
        let inside = self.locate(path).is_some();
        let hold = match landing {
            Landing::Hold => inside,
            Landing::Apply | Landing::Direct => inside && self.holds(path).map_err(fail)?,
            Landing::Discard => return Err(WorkspaceError::ReadOnly(path.to_path_buf())),
        };
        if hold {
            let hash = self.hold(path, bytes, before)?;
            return Ok(Written { hash, in_place: false, held: true });
        }
        self.land_one(path, bytes, before)
    }

    /// One file into the workspace, journaled.
    fn land_one(&self, path: &Path, bytes: &[u8], before: Before) -> Result<Written, WorkspaceError> {
        let fail = |e: io::Error| WorkspaceError::from_io(path, e);
        let now = node_at(path).map_err(fail)?;
        let hash = blake3::hash(bytes);
        let attrs = match (before, &now) {
            (Before::Absent, Node::Absent) => Attrs::default(),
            (Before::Absent, _) => return Err(WorkspaceError::Exists(path.to_path_buf())),
            (Before::Content(expected), Node::File { hash, attrs, .. }) if *hash == expected => {
                super::super::atomic::refuse_read_only(path, attrs.mode)?;
                attrs.clone()
            }
            (Before::Content(_), Node::Absent) => return Err(WorkspaceError::Missing(path.to_path_buf())),
            (Before::Content(_), Node::Directory { .. }) => {
                return Err(WorkspaceError::Directory(path.to_path_buf()));
            }
            (Before::Content(_), _) => return Err(WorkspaceError::Raced(path.to_path_buf())),
        };
        let mut steps: Vec<Step> = Vec::new();
        for dir in path.ancestors().skip(1).take_while(|dir| !dir.exists()) {
            let after = Node::Directory { attrs: new_directory() };
            steps.push(step(dir.to_path_buf(), Node::Absent, after, Source::Nothing));
        }
        let fresh = now.is_absent();
        let after = Node::File { hash, size: bytes.len() as u64, attrs };
        let source = Source::Bytes(std::sync::Arc::new(bytes.to_vec()));
        steps.push(Step { fresh, ..step(path.to_path_buf(), now, after, source) });
        let label = self.turn().label.clone();
        let entry = land(self.journal(), self.objects(), label, Kind::Apply, steps);
        let entry = entry.map_err(|e| match e {
            ApplyError::Changed(_) => WorkspaceError::Raced(path.to_path_buf()),
            ApplyError::Failed { error, .. } => fail(error),
            other => fail(io::Error::other(other)),
        })?;
        let mut turn = self.turn();
        turn.made.insert(hash.to_hex().to_string());
        let in_place = entry.changes.iter().any(|c| c.in_place);
        Ok(Written { hash, in_place, held: false })
    }

    /// Writes a whole file on the pending shelf. `before` is what the view must have there, as with
    /// [`super::super::Workspace::write`].
    pub(in crate::workspace) fn hold(
        &self,
        path: &Path,
        bytes: &[u8],
        before: Before,
    ) -> Result<Hash, WorkspaceError> {
        let fail = |e: io::Error| WorkspaceError::from_io(path, e);
        let (index, rel) = self.locate(path).ok_or_else(|| WorkspaceError::Outside(path.to_path_buf()))?;
        let now = self.stack(index, 0).node(&rel).map_err(fail)?;
        match (before, &now) {
            (Before::Absent, Node::Absent) => {}
            (Before::Absent, _) => return Err(WorkspaceError::Exists(path.to_path_buf())),
            (Before::Content(expected), Node::File { hash, attrs, .. }) => {
                if *hash != expected {
                    return Err(WorkspaceError::Raced(path.to_path_buf()));
                }
                if attrs.mode & 0o222 == 0 {
                    return Err(WorkspaceError::ReadOnly(path.to_path_buf()));
                }
            }
            (Before::Content(_), Node::Absent) => return Err(WorkspaceError::Missing(path.to_path_buf())),
            (Before::Content(_), _) => return Err(WorkspaceError::Raced(path.to_path_buf())),
        }
        self.hold_at(index, &rel, bytes, &now).map_err(fail)?;
        Ok(blake3::hash(bytes))
    }

    fn hold_at(&self, index: usize, rel: &Path, bytes: &[u8], now: &Node) -> io::Result<()> {
        self.claim()?;
        self.turn().held = true;
        let held = self.held(Shelf::Pending);
        let layer = held.layers.get(index).ok_or_else(|| io::Error::other("no such root"))?;
        let path = join(self.root(index), rel);
        self.record_parents(index, rel)?;
        if held.bases().get(&path).is_none() {
            let below = match layer.find(rel)? {
                Found::Through => now.clone(),
                _ => self.stack(index, 2).node(rel)?,
            };
            if let Node::File { hash, size, .. } = below {
                let mut file = self.stack(index, 2).open(rel)?;
                drop(self.objects().put_file(&mut file, hash, size));
            }
            held.bases().record(Base { by_tool: true, ..Base::of(&path, below) });
        }
        held.save()?;
        let like = |path: &Path| self.stack(index, 0).node(path).ok().and_then(|n| n.attrs().cloned());
        let dir = layer.parent(rel, self.root(index), &like)?;
        let Some(name) = rel.file_name() else { return Ok(()) };
        let _eased = Eased::of(&dir);
        let staged = write_beside(&dir, bytes, now.attrs())?;
        // What a command left there as a directory is gone before a file can take its name.
        if super::layer::entry(&dir, name)?.is_some_and(|s| super::layer::is_dir(&s)) {
            Layer::clear(&dir, name)?;
        }
        Ok(rustix::fs::renameat(&dir, staged, &dir, name)?)
    }

    /// Directories that a held file needs and nobody has yet are changes of their own.
    fn record_parents(&self, index: usize, rel: &Path) -> io::Result<()> {
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
            held.bases().record(Base::of(&path, below));
        }
        Ok(())
    }

    /// Makes the pending shelf anew with only these changes on it. The old one is replaced in one step at the end, so
    /// that a crash leaves one or the other.
    pub(in crate::workspace) fn rebuild(&self, keep: Vec<(Base, Put)>) -> io::Result<()> {
        self.claim()?;
        let held = self.held(Shelf::Pending);
        if keep.is_empty() {
            return held.wipe();
        }
        let dir = self.dir().join("pending");
        let (fresh_dir, old_dir) = (self.dir().join("pending.new"), self.dir().join("pending.old"));
        for leftover in [&fresh_dir, &old_dir] {
            if leftover.exists() {
                remove_dir_all(leftover)?;
            }
        }
        let fresh = Held::at(&fresh_dir, self.roots().len(), 1);
        let mut bases = Bases::load(fresh_dir.join("base.jsonl"));
        for (base, put) in keep {
            self.put_again(&fresh, &base, put)?;
            bases.set(base);
        }
        bases.save()?;
        std::fs::create_dir_all(&dir)?;
        let cwd = rustix::fs::CWD;
        rustix::fs::renameat_with(cwd, &fresh_dir, cwd, &dir, RenameFlags::EXCHANGE)?;
        rustix::fs::renameat(cwd, &fresh_dir, cwd, &old_dir)?;
        *held.bases() = Bases::load(dir.join("base.jsonl"));
        held.layers.iter().for_each(Layer::look_again);
        remove_dir_all(&old_dir)
    }

    fn put_again(&self, fresh: &Held, base: &Base, put: Put) -> io::Result<()> {
        let Some((index, rel)) = self.locate(&base.path) else { return Ok(()) };
        let Some(layer) = fresh.layers.get(index) else { return Ok(()) };
        let node = self.stack(index, 1).node(&rel)?;
        let Some(name) = rel.file_name() else {
            // The root itself: its mode is that of the layer's own directory.
            let at = layer.open_like(self.root(index))?;
            return Ok(node.attrs().map_or(Ok(()), |attrs| attrs.give(&File::from(at)))?);
        };
        // Where a directory above went, or became something else, whatever was in it is gone with it.
        let gone_above = rel.ancestors().skip(1).any(|dir| match layer.find(dir) {
            Ok(Found::Gone) => true,
            Ok(Found::Here { stat, .. }) => !super::layer::is_dir(&stat),
            _ => false,
        });
        if node.is_absent() && gone_above {
            return Ok(());
        }
        let like = |path: &Path| self.stack(index, 1).node(path).ok().and_then(|n| n.attrs().cloned());
        let dir = layer.parent(&rel, self.root(index), &like)?;
        let _eased = Eased::of(&dir);
        match (&node, put) {
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
                let Some(from) = self.stack(index, 1).real(&rel)? else { return Ok(()) };
                Ok(rustix::fs::linkat(rustix::fs::CWD, from, &dir, name, AtFlags::empty())?)
            }
        }
    }
}

fn step(path: PathBuf, before: Node, after: Node, source: Source) -> Step {
    Step { path, before, after, source, twin: None, was_twin: None, keep_names: true, fresh: false }
}

/// What a directory that placet makes looks like: as `mkdir` would make it.
fn new_directory() -> Attrs {
    let mask = rustix::process::umask(Mode::from_raw_mode(0o022));
    rustix::process::umask(mask);
    let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    Attrs { mode: 0o777 & !mask.as_raw_mode(), uid, gid, ..Attrs::default() }
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
