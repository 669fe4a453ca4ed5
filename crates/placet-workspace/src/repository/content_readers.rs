//! How the content before and after a change is read.

use placet_text::text::regular_file;
use std::path::Path;
use thiserror::Error;

/// Why the content of a path cannot be read.
#[derive(Debug, Error)]
pub(crate) enum ContentReadError {
    #[error("it is larger than {0} bytes")]
    TooLarge(u64),
    #[error("it is not a regular file")]
    NotRegular,
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// The content of a path. `None` when there is no file.
pub(crate) type ReadOutcome = Result<Option<Vec<u8>>, ContentReadError>;

/// Reads a path, of at most so many bytes.
pub(super) type ReadContent<'a> = dyn Fn(&Path, u64) -> ReadOutcome + 'a;

/// How the contents of a path are read: before and after the change, of at most so many bytes.
pub(crate) struct ContentReaders<'a> {
    pub(crate) before: &'a ReadContent<'a>,
    pub(crate) after: &'a ReadContent<'a>,
    /// True for a path that the view or the machine has.
    pub(crate) exists: &'a dyn Fn(&Path) -> bool,
}

/// The content of a file outside of the workspace. The person's own settings may be links to where they keep them.
pub(crate) fn outside_content(path: &Path, most: u64) -> ReadOutcome {
    match regular_file::read(path, most) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.kind() == std::io::ErrorKind::FileTooLarge => Err(ContentReadError::TooLarge(most)),
        Err(e) => Err(e.into()),
    }
}
