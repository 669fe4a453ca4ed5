//! Before a command's layer is folded: what folding will read is read, or opened at least, so that what cannot be read
//! is found while nothing of it is pending.

use super::collect::EffectsCollector;
use crate::apply::fault;
use crate::files::metadata::path_state::{PathState, open_anyway};
use crate::view::layers::layer::{entry, is_dir, is_opaque, list};
use crate::view::layers::open_stack::OpenStackDir;
use crate::view::layers::stack::join;
use rustix::fs::{FileType, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

/// The longest path that the kernel takes, with the zero at its end (`PATH_MAX`).
const LONGEST_PATH: usize = 4096;
/// A change that is discarded or about to be applied lies in a longer path than one that is pending.
const SPARE: usize = 128;

impl EffectsCollector<'_> {
    /// Fails where something in the open directory `upper`, or what it replaces, cannot be read. `now` is what the view has
    /// in the same directory.
    pub(in crate::view) fn check(
        &mut self,
        rel: &Path,
        upper: &OwnedFd,
        now: OpenStackDir,
    ) -> io::Result<()> {
        let mut dirs = Vec::new();
        for name in list(upper)? {
            let rel = rel.join(&name);
            let path = join(self.root(), &rel);
            if (self.hidden)(&path) {
                continue;
            }
            self.check_length(&rel)?;
            let Some(stat) = entry(upper, &name)? else { continue };
            let before = now.stat(&name)?;
            if is_dir(&stat) {
                dirs.push((name, before));
                continue;
            }
            let failed = |e: io::Error| named(&path, e);
            before.map_or(Ok(()), |_| self.check_replaced(&rel)).map_err(failed)?;
            if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
                let node = check_file(upper, &name, &stat, before.as_ref()).map_err(failed)?;
                self.nodes.extend(node.map(|node| (rel, node)));
            }
        }
        // Closed before anything below is opened: a tree may be deeper than a process may have open directories.
        drop(now);
        dirs.into_iter()
            .try_for_each(|(name, before)| self.check_dir(&rel.join(&name), upper, before.as_ref()))
    }

    /// Fails for a path that nothing can open as a whole: a command makes one directory by directory. It could be applied in
    /// part, and not undone.
    fn check_length(&self, rel: &Path) -> io::Result<()> {
        let layer = self.held.layers.get(self.index).map_or(0, |layer| layer.dir().as_os_str().len());
        let most = LONGEST_PATH - SPARE - layer.max(self.root().as_os_str().len());
        let bytes = rel.as_os_str().len();
        if bytes <= most {
            return Ok(());
        }
        let top = join(self.root(), rel.iter().next().map(Path::new).unwrap_or(rel));
        let words = format!("`{}` has a path of more than {most} bytes in it", top.display());
        Err(io::Error::new(io::Error::from(Errno::NAMETOOLONG).kind(), words))
    }

    /// The same for the directory `rel` in `upper`; the view has `before` there.
    fn check_dir(&mut self, rel: &Path, upper: &OwnedFd, before: Option<&Stat>) -> io::Result<()> {
        let path = join(self.root(), rel);
        let failed = |e: io::Error| named(&path, e);
        let Some(name) = rel.file_name() else { return Ok(()) };
        let (dir, _) = open_anyway(upper, name, OFlags::DIRECTORY).map_err(|e| failed(e.into()))?;
        let dir = OwnedFd::from(dir);
        let replaced = is_opaque(&dir).map_err(|e| failed(e.into()))? || !before.is_some_and(is_dir);
        let below = match replaced {
            true => {
                before.map_or(Ok(()), |_| self.check_replaced(rel)).map_err(failed)?;
                OpenStackDir::default()
            }
            false => self.now().open_dir(rel).map_err(failed)?,
        };
        self.check(rel, &dir, below)
    }

    /// Opens everything that is removed at and below `rel`: its content is recorded.
    fn check_replaced(&self, rel: &Path) -> io::Result<()> {
        let Some(stat) = self.now().stat(rel)? else { return Ok(()) };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => self.now().open(rel).map(drop),
            FileType::Directory => {
                let names = self.now().children(rel)?;
                names.into_iter().try_for_each(|name| self.check_replaced(&rel.join(name)))
            }
            _ => Ok(()),
        }
    }
}

/// Reads a file of the layer where folding compares it with what it replaces. Where nothing was there, or the sizes
/// differ, it is only opened.
fn check_file(
    upper: &OwnedFd,
    name: &OsStr,
    stat: &Stat,
    before: Option<&Stat>,
) -> io::Result<Option<PathState>> {
    fault("check")?;
    let is_compared = before.is_some_and(|before| {
        FileType::from_raw_mode(before.st_mode) != FileType::RegularFile || before.st_size == stat.st_size
    });
    if is_compared {
        return PathState::read(upper, name).map(Some);
    }
    open_anyway(upper, name, OFlags::NONBLOCK)?;
    Ok(None)
}

fn named(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}
