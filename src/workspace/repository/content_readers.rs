//! How the content before and after a change is read.

use std::path::Path;

/// Reads a path, of at most so many bytes; nothing where there is no file. The error says why it cannot be read.
pub(super) type ReadContent<'a> = dyn Fn(&Path, u64) -> Result<Option<Vec<u8>>, String> + 'a;

/// How the contents of a path are read: before and after the change, of at most so many bytes.
pub(in crate::workspace) struct ContentReaders<'a> {
    pub(in crate::workspace) before: &'a ReadContent<'a>,
    pub(in crate::workspace) after: &'a ReadContent<'a>,
    /// True for a path that the view or the machine has.
    pub(in crate::workspace) exists: &'a dyn Fn(&Path) -> bool,
}
