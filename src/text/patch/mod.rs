//! Patches: read in every form in which they are written, and applied to bytes.
//!
//! Pure: bytes in, bytes out, no file system. Unified diffs (of `diff -u`, git and models) and the envelope
//! `*** Begin Patch` become the same [`FilePatch`]es; `apply` places the hunks of one of them in a content. What is
//! uncertain is refused with the places rather than guessed. Which file a name means, and whether it may be touched,
//! is not decided here.

mod apply;
mod base85;
mod binary;
mod cursor;
mod envelope;
mod error;
mod file_header;
mod file_name;
mod format;
mod hunk;
mod nearest;
mod nearest_match;
mod parse;
mod placement;
mod target;

pub use apply::{Options, PatchEdit, PatchedContent, apply};
pub use binary::BinaryPatch;
pub use error::{HunkError, HunkErrorKind, PatchApplyError, PatchError};
pub use file_name::StripLevels;
pub use format::{binary as write_binary, quoted, unified};
pub use nearest_match::{MismatchRow, NearestMatch};
pub use parse::parse;

/// The largest patch read, in bytes, and the most lines in one.
pub const MOST_BYTES: usize = 64 << 20;
pub const MOST_LINES: usize = 4_000_000;

/// What a patch does, file by file, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchSet {
    pub files: Vec<FilePatch>,
    /// What was passed over or put right while reading.
    pub notes: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePatchKind {
    Edit,
    Create,
    Delete,
    Rename,
    Copy,
}

/// What a patch does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePatch {
    /// The name of each side, without prefix and quotes; `None` where the side does not exist or has no name. Hunks
    /// without a file header have neither.
    pub old: Option<String>,
    pub new: Option<String>,
    pub kind: FilePatchKind,
    /// File modes as git writes them (`0o100644`), where the patch tells them.
    pub old_mode: Option<u32>,
    pub new_mode: Option<u32>,
    pub body: FilePatchBody,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilePatchBody {
    Hunks(Vec<PatchHunk>),
    Binary(BinaryPatch),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchLineKind {
    Context,
    Remove,
    Add,
}

/// A line of a hunk, as it stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchLine {
    pub sign: PatchLineKind,
    raw: Vec<u8>,
    /// It begins with its sign; context may have lost it.
    signed: bool,
}

impl PatchLine {
    /// The line, with its line end unless the patch says that there is none.
    pub fn text(&self) -> &[u8] {
        self.raw.get(usize::from(self.signed)..).unwrap_or_default()
    }

    /// Context whose first blank is its own, not a sign.
    fn unsigned(&self) -> &[u8] {
        if self.sign == PatchLineKind::Context { &self.raw } else { self.text() }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchHunk {
    /// As it is written, for messages.
    pub header: String,
    /// The first old line and the number of old lines as the header tells them.
    pub old_start: Option<usize>,
    pub old_count: Option<usize>,
    /// The first new line, as the header gives it.
    pub new_start: Option<usize>,
    /// The header counts the lines of the hunk rightly.
    pub counted: bool,
    /// Lines above the hunk that tell apart places which are alike (`@@ fn main()`).
    pub anchors: Vec<Vec<u8>>,
    pub lines: Vec<PatchLine>,
    /// The hunk's last line is the file's last.
    pub at_end: bool,
    /// A hunk of the envelope: without old lines it belongs at the end of the file.
    pub envelope: bool,
}

impl PatchHunk {
    pub(crate) fn old_lines(&self) -> impl Iterator<Item = &PatchLine> {
        self.lines.iter().filter(|line| line.sign != PatchLineKind::Add)
    }

    /// How many lines of context are above the first change and below the last one.
    fn context(&self) -> (usize, usize) {
        let context = |line: &&PatchLine| line.sign == PatchLineKind::Context;
        (self.lines.iter().take_while(context).count(), self.lines.iter().rev().take_while(context).count())
    }

    fn count(&self, sign: PatchLineKind) -> usize {
        self.lines.iter().filter(|line| line.sign == sign).count()
    }
}

impl FilePatch {
    pub fn hunks(&self) -> &[PatchHunk] {
        match &self.body {
            FilePatchBody::Hunks(hunks) => hunks,
            FilePatchBody::Binary(_) => &[],
        }
    }

    /// Lines added and removed.
    pub fn counts(&self) -> (usize, usize) {
        let count = |sign| self.hunks().iter().map(|hunk| hunk.count(sign)).sum();
        (count(PatchLineKind::Add), count(PatchLineKind::Remove))
    }

    /// True when the patch only adds, from the first line on: then it makes a file that is not there.
    pub fn starts_from_nothing(&self) -> bool {
        match self.hunks() {
            [hunk] => hunk.old_lines().next().is_none() && hunk.old_start.is_none_or(|start| start == 0),
            _ => false,
        }
    }
}

#[cfg(test)]
#[path = "patch_tests.rs"]
mod tests;
