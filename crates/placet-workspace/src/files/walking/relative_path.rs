//! Paths from where a walk began, in their bytes: a name need not be UTF-8.

use placet_text::text::visible;
use std::ffi::OsString;
use std::path::Path;

/// See the module. Sorted by bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RelativePath(OsString);

impl RelativePath {
    pub(crate) fn new(path: OsString) -> RelativePath {
        RelativePath(path)
    }

    pub fn as_path(&self) -> &Path {
        Path::new(&self.0)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As a list of lines shows it. [`crate::files::Workspace::resolve`] understands it.
    pub fn shown(&self) -> String {
        visible::usable_name(self.as_path())
    }

    /// As a list in a form of its own gives it, JSON for example: the path itself where it is UTF-8.
    pub fn plain(&self) -> String {
        match self.as_path().to_str() {
            Some(text) => text.into(),
            None => self.shown(),
        }
    }
}
