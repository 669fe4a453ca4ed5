//! A root as it looks through layers: the topmost one that says something decides.

use super::layer::{Layer, LayerLookup, is_dir, is_whiteout, list};
use crate::files::metadata::path_state::PathState;
pub(in crate::view) use crate::view::reading::state_at::join;
pub(crate) use crate::view::reading::state_at::{node_at, stat_at};
use rustix::fs::Stat;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

pub(in crate::view) struct LayerStack<'a> {
    /// Topmost first.
    pub(in crate::view) layers: Vec<&'a Layer>,
    pub(in crate::view) root: &'a Path,
}

/// Where a path's content is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::view) enum ContentLocation {
    /// In the workspace itself, if anywhere.
    Plain,
    Gone,
    Layer(PathBuf),
}

impl LayerStack<'_> {
    pub(in crate::view) fn backing(&self, rel: &Path) -> io::Result<ContentLocation> {
        for layer in &self.layers {
            match layer.find(rel)? {
                LayerLookup::Through => {}
                LayerLookup::Gone => return Ok(ContentLocation::Gone),
                LayerLookup::Here { .. } => return Ok(ContentLocation::Layer(layer.dir().join(rel))),
            }
        }
        Ok(ContentLocation::Plain)
    }

    /// The path that holds the content of `rel`; it may be missing.
    pub(in crate::view) fn real(&self, rel: &Path) -> io::Result<Option<PathBuf>> {
        Ok(match self.backing(rel)? {
            ContentLocation::Gone => None,
            ContentLocation::Layer(path) => Some(path),
            ContentLocation::Plain => Some(join(self.root, rel)),
        })
    }

    pub(in crate::view) fn node(&self, rel: &Path) -> io::Result<PathState> {
        match self.real(rel)? {
            None => Ok(PathState::Absent),
            Some(path) => {
                let mut node = node_at(&path)?;
                if let (PathState::Directory { attrs }, ContentLocation::Layer(dir)) =
                    (&mut node, self.backing(rel)?)
                {
                    let known =
                        super::layer::own_mode(crate::files::metadata::path_state::dir_anyway(&dir)?)?;
                    *attrs = std::mem::take(attrs).with_own_mode(known);
                }
                Ok(node)
            }
        }
    }

    pub(in crate::view) fn stat(&self, rel: &Path) -> io::Result<Option<Stat>> {
        let Some(path) = self.real(rel)? else { return Ok(None) };
        stat_at(&path)
    }

    /// The directories that make up the directory `rel`, topmost first; none when it is not one.
    pub(in crate::view) fn dirs(&self, rel: &Path) -> io::Result<Vec<PathBuf>> {
        let mut dirs = Vec::new();
        for layer in &self.layers {
            match layer.find(rel)? {
                LayerLookup::Through => {}
                LayerLookup::Gone => return Ok(dirs),
                LayerLookup::Here { stat, opaque } => {
                    if !is_dir(&stat) {
                        return Ok(dirs);
                    }
                    dirs.push(layer.dir().join(rel));
                    if opaque {
                        return Ok(dirs);
                    }
                }
            }
        }
        let plain = join(self.root, rel);
        if stat_at(&plain)?.is_some_and(|stat| is_dir(&stat)) {
            dirs.push(plain);
        }
        Ok(dirs)
    }

    /// The names in the directory `rel`.
    pub(in crate::view) fn children(&self, rel: &Path) -> io::Result<BTreeSet<OsString>> {
        let (mut names, mut gone) = (BTreeSet::new(), BTreeSet::new());
        for dir in self.dirs(rel)? {
            let fd = crate::files::metadata::path_state::dir_anyway(&dir)?;
            for name in list(&fd)? {
                if gone.contains(&name) || names.contains(&name) {
                    continue;
                }
                let whited = super::layer::entry(&fd, &name)?.is_some_and(|stat| is_whiteout(&stat));
                if whited {
                    gone.insert(name)
                } else {
                    names.insert(name)
                };
            }
        }
        Ok(names)
    }

    /// Opens the file at `rel`, in whichever layer it is.
    pub(in crate::view) fn open(&self, rel: &Path) -> io::Result<File> {
        let path = self.real(rel)?.ok_or(io::ErrorKind::NotFound)?;
        crate::files::metadata::path_state::file_anyway(&path)
    }
}
