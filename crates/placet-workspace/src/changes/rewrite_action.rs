//! What becomes of one path of a batch.

use crate::FileAttrs;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub enum RewriteAction {
    /// A file with this content; without `attrs` it keeps those it has, or gets those of a new file.
    Content {
        bytes: Arc<Vec<u8>>,
        attrs: Option<FileAttrs>,
    },
    Gone,
    /// The file goes, and a directory for other files of the batch takes its place.
    Directory,
}
