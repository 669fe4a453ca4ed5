//! What is below a directory of a view.

use crate::files::walking::entries_below::entries_below;
use crate::view::View;
use std::io;
use std::path::{Path, PathBuf};

impl View {
    /// Every entry below a directory, as the view has it, deepest first, and whether it is a directory.
    pub(crate) fn entries_below(&self, dir: &Path) -> io::Result<Vec<(PathBuf, bool)>> {
        entries_below(dir, &|dir| self.dirs(dir), &|path| self.real(path))
    }

    pub(in crate::view) fn directories_below(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let entries = self.entries_below(dir)?.into_iter();
        Ok(entries.filter_map(|(path, is_dir)| is_dir.then_some(path)).collect())
    }
}
