//! Before a command's layer is folded: what folding will read is read, or opened at least, so that what cannot be read
//! is found while nothing of it is pending.

use super::super::apply::fault;
use super::collect::EffectsCollector;
use super::layer::{entry, is_dir, is_opaque, list};
use super::stack::join;
use crate::workspace::files::path_state::{PathState, open_anyway};
use rustix::fs::{FileType, OFlags, Stat};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

impl EffectsCollector<'_> {
    /// Fails where something in the open directory `upper`, or what it replaces, cannot be read.
    pub(super) fn check(&mut self, rel: &Path, upper: &OwnedFd) -> io::Result<()> {
        for name in list(upper)? {
            let rel = rel.join(&name);
            let path = join(self.root(), &rel);
            if (self.hidden)(&path) {
                continue;
            }
            let Some(stat) = entry(upper, &name)? else { continue };
            let failed = |e: io::Error| io::Error::new(e.kind(), format!("`{}`: {e}", path.display()));
            if is_dir(&stat) {
                let (dir, _) = open_anyway(upper, &name, OFlags::DIRECTORY).map_err(|e| failed(e.into()))?;
                let dir = OwnedFd::from(dir);
                let replaced = is_opaque(&dir) || !self.now().stat(&rel)?.is_some_and(|stat| is_dir(&stat));
                if replaced {
                    self.check_replaced(&rel).map_err(failed)?;
                }
                self.check(&rel, &dir)?;
                continue;
            }
            self.check_replaced(&rel).map_err(failed)?;
            if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
                let node = self.check_file(&rel, upper, &stat).map_err(failed)?;
                self.nodes.extend(node.map(|node| (rel, node)));
            }
        }
        Ok(())
    }

    /// Reads a file of the layer where folding compares it with what it replaces; where the sizes differ, it is not
    /// read.
    fn check_file(&self, rel: &Path, upper: &OwnedFd, stat: &Stat) -> io::Result<Option<PathState>> {
        fault("check")?;
        let Some(name) = rel.file_name() else { return Ok(None) };
        let before = self.now().stat(rel)?;
        let differs = before.is_some_and(|before| {
            FileType::from_raw_mode(before.st_mode) == FileType::RegularFile && before.st_size != stat.st_size
        });
        if differs {
            open_anyway(upper, name, OFlags::NONBLOCK)?;
            return Ok(None);
        }
        PathState::read(upper, name).map(Some)
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
