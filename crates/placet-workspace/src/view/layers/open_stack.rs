//! One directory of a stack, open: many names in it are looked up without the way down to it for each of them.
//!
//! What the stack says of a name is what [`LayerStack`] says of its path. The value is for a short time: a layer that gets
//! the directory later is not seen.

use super::layer::{self, Layer, LayerDir, entry, is_whiteout};
use super::stack::{LayerStack, join};
use crate::files::metadata::path_state::{PathState, open_anyway};
use crate::view::reading::state_at::parent_of;
use rustix::fs::{OFlags, Stat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

/// The directories that make up one directory, topmost first.
#[derive(Debug, Default)]
pub(in crate::view) struct OpenStackDir {
    /// With the number of each layer in the stack.
    layers: Vec<(usize, OwnedFd)>,
    lowest: LowestDir,
    top: TopLayer,
}

/// What decides where no layer has a name.
#[derive(Debug, Default)]
enum LowestDir {
    /// A layer that hides what is below it.
    #[default]
    Layer,
    /// The workspace's own directory, if it has one.
    Plain(Option<OwnedFd>),
}

/// What the topmost layer has at the directory.
#[derive(Debug, Default)]
enum TopLayer {
    /// It says nothing: what is in the directory is decided below.
    Through,
    /// It hides the layers below it. `layers` may begin with it.
    #[default]
    Hides,
    /// It is the first of `layers`.
    Covers,
}

/// Where the content of a name is.
pub(in crate::view) enum NameLocation {
    Plain,
    Gone,
    /// In the layer of the stack with this number.
    Layer(usize, Stat),
}

impl LayerStack<'_> {
    /// Opens the directory `rel`. Where it is no directory, nothing is in it.
    pub(in crate::view) fn open_dir(&self, rel: &Path) -> io::Result<OpenStackDir> {
        let mut opened = OpenStackDir { top: TopLayer::Through, ..OpenStackDir::default() };
        for (number, layer) in self.layers.iter().enumerate() {
            let found = Layer::open_dir(layer, rel)?;
            if number == 0 {
                opened.top = match &found {
                    LayerDir::Through => TopLayer::Through,
                    LayerDir::Open { opaque: false, .. } => TopLayer::Covers,
                    LayerDir::Gone | LayerDir::Open { .. } => TopLayer::Hides,
                };
            }
            match found {
                LayerDir::Through => {}
                LayerDir::Gone => return Ok(opened),
                LayerDir::Open { dir, opaque } => {
                    opened.layers.push((number, dir));
                    if opaque {
                        return Ok(opened);
                    }
                }
            }
        }
        opened.lowest = LowestDir::Plain(parent_of(&join(self.root, rel))?);
        Ok(opened)
    }
}

impl OpenStackDir {
    pub(in crate::view) fn locate(&self, name: &OsStr) -> io::Result<NameLocation> {
        for (number, dir) in &self.layers {
            match entry(dir, name)? {
                None => {}
                Some(stat) if is_whiteout(&stat) => return Ok(NameLocation::Gone),
                Some(stat) => return Ok(NameLocation::Layer(*number, stat)),
            }
        }
        Ok(match self.lowest {
            LowestDir::Layer => NameLocation::Gone,
            LowestDir::Plain(_) => NameLocation::Plain,
        })
    }

    fn dir(&self, location: &NameLocation) -> Option<&OwnedFd> {
        match (location, &self.lowest) {
            (NameLocation::Layer(number, _), _) => {
                self.layers.iter().find(|(known, _)| known == number).map(|(_, dir)| dir)
            }
            (NameLocation::Plain, LowestDir::Plain(plain)) => plain.as_ref(),
            _ => None,
        }
    }

    pub(in crate::view) fn stat(&self, name: &OsStr) -> io::Result<Option<Stat>> {
        match self.locate(name)? {
            NameLocation::Layer(_, stat) => Ok(Some(stat)),
            other => self.dir(&other).map_or(Ok(None), |plain| entry(plain, name)),
        }
    }

    pub(in crate::view) fn node(&self, name: &OsStr) -> io::Result<PathState> {
        self.node_at(&self.locate(name)?, name)
    }

    /// The state of a name that is where [`OpenStackDir::locate`] found it.
    pub(in crate::view) fn node_at(&self, location: &NameLocation, name: &OsStr) -> io::Result<PathState> {
        let Some(dir) = self.dir(location) else { return Ok(PathState::Absent) };
        let mut node = PathState::read(dir, name)?;
        if let (PathState::Directory { attrs }, NameLocation::Layer(..)) = (&mut node, location) {
            let (own, _) = open_anyway(dir, name, OFlags::DIRECTORY)?;
            *attrs = std::mem::take(attrs).with_own_mode(layer::own_mode(&own)?);
        }
        Ok(node)
    }

    /// True when the topmost layer neither has the name nor hides what is below.
    pub(in crate::view) fn is_through(&self, name: &OsStr) -> io::Result<bool> {
        match (&self.top, self.layers.first()) {
            (TopLayer::Through, _) => Ok(true),
            (TopLayer::Covers, Some((_, dir))) => Ok(entry(dir, name)?.is_none()),
            _ => Ok(false),
        }
    }

    /// Opens a regular file for reading.
    pub(in crate::view) fn open(&self, name: &OsStr) -> io::Result<File> {
        let location = self.locate(name)?;
        let dir = self.dir(&location).ok_or(io::ErrorKind::NotFound)?;
        let (file, _) = open_anyway(dir, name, OFlags::NONBLOCK)?;
        if file.metadata()?.is_file() { Ok(file) } else { Err(Errno::ACCESS.into()) }
    }
}
