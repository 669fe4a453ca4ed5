//! The content of a patch, whatever its format: files, hunks and lines.

use super::binary::BinaryPatch;

/// The changes of a patch, file by file, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchSet {
    pub files: Vec<FilePatch>,
    /// Notes about lines that the parser ignored or corrected.
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

/// The changes to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePatch {
    /// The name of each side, without prefix and quotes; `None` if the side does not exist or has no name. Hunks
    /// without a file header have neither.
    pub old: Option<String>,
    pub new: Option<String>,
    pub kind: FilePatchKind,
    /// File modes as git writes them (`0o100644`), if the patch contains them.
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

/// A line of a hunk, unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchLine {
    pub sign: PatchLineKind,
    pub(super) raw: Vec<u8>,
    /// The line begins with its sign; a line of context may have lost it.
    pub(super) signed: bool,
}

impl PatchLine {
    /// The line, with its line end unless the patch declares that there is none.
    pub fn text(&self) -> &[u8] {
        self.raw.get(usize::from(self.signed)..).unwrap_or_default()
    }

    /// A line of context whose first space is its own and not a sign.
    pub(super) fn unsigned(&self) -> &[u8] {
        if self.sign == PatchLineKind::Context { &self.raw } else { self.text() }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchHunk {
    /// The header as it is written, for messages.
    pub header: String,
    /// The first old line and the number of old lines, as the header declares them.
    pub old_start: Option<usize>,
    pub old_count: Option<usize>,
    /// The first new line, as the header declares it.
    pub new_start: Option<usize>,
    /// The header counts the lines of the hunk correctly.
    pub counted: bool,
    /// Lines above the hunk that distinguish equal places (`@@ fn main()`).
    pub anchors: Vec<Vec<u8>>,
    pub lines: Vec<PatchLine>,
    /// The hunk's last line is the file's last.
    pub at_end: bool,
    /// A hunk of the envelope: without old lines, its place is the end of the file.
    pub envelope: bool,
}

impl PatchHunk {
    pub fn old_lines(&self) -> impl Iterator<Item = &PatchLine> {
        self.lines.iter().filter(|line| line.sign != PatchLineKind::Add)
    }

    /// How many lines of context are above the first change and below the last one.
    pub(super) fn context(&self) -> (usize, usize) {
        let context = |line: &&PatchLine| line.sign == PatchLineKind::Context;
        (self.lines.iter().take_while(context).count(), self.lines.iter().rev().take_while(context).count())
    }

    pub(super) fn count(&self, sign: PatchLineKind) -> usize {
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

    /// True if the patch only adds lines, from the first line on: such a patch creates a missing file.
    pub fn starts_from_nothing(&self) -> bool {
        match self.hunks() {
            [hunk] => hunk.old_lines().next().is_none() && hunk.old_start.is_none_or(|start| start == 0),
            _ => false,
        }
    }
}
