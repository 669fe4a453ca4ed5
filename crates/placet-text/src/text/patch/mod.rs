//! Patches: read in every form in which they are written, and applied to bytes.
//!
//! Pure: bytes in, bytes out, no file system. Unified diffs (of `diff -u`, git and models) and the envelope `*** Begin
//! Patch` become the same [`FilePatch`]es; `apply` places the hunks of one of them in a content. Uncertain placements
//! are refused, with the candidates, rather than guessed. Another module decides which file a name means, and whether
//! it may be changed.

mod apply;
mod base85;
mod binary;
mod cursor;
mod envelope;
mod error;
mod file_header;
mod file_name;
mod file_patch;
mod format;
mod hunk;
mod hunk_placement;
mod line;
mod nearest;
mod nearest_match;
mod parse;
mod placement;
mod target;

pub use apply::{Options, PatchEdit, PatchedContent, apply};
pub use binary::BinaryPatch;
pub use error::{HunkError, HunkErrorKind, PatchApplyError, PatchError};
pub use file_name::{StripLevels, unquoted};
pub use file_patch::{
    FilePatch, FilePatchBody, FilePatchKind, PatchHunk, PatchLine, PatchLineKind, PatchSet,
};
pub use format::{binary as write_binary, quoted, unified};
pub use nearest_match::{MismatchRow, NearestMatch};
pub use parse::parse;

#[cfg(test)]
#[path = "patch_tests.rs"]
mod tests;
