//! One file under review: what would change in it, the decisions about it, and the content that the decisions give.
//!
//! Decisions are by line. Accepted lines are applied, rejected lines are discarded, open lines stay pending. A hunk is
//! a run of changed lines without unchanged lines between them; a decision about a hunk decides all of its lines.

use super::side_text::{DiffSide, SideText};
use placet_text::text::{count, hunk};
use placet_workspace::PathState;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The decision about one line, or about a file without lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReviewDecision {
    #[default]
    Open,
    Accepted,
    Rejected,
}

#[derive(Clone, Debug)]
pub struct ReviewFile {
    /// As a person reads it, made safe.
    pub name: String,
    pub path: PathBuf,
    /// Everything that is decided together with the file: itself, both ends of a move, all of a repository.
    pub paths: Vec<Arc<Path>>,
    /// The path that the file had before it was renamed and changed: this path is removed when any part of the file is
    /// applied, and stays when all of it is rejected.
    pub renamed: Option<PathBuf>,
    /// As `git status` marks it.
    pub letter: char,
    /// Facts besides the lines: a mode, a move, the command that made the change.
    pub facts: Vec<String>,
    /// Those of the facts that stand out, such as commits that are dropped.
    pub care: Vec<String>,
    /// Why the file runs later, if it does: such a file is accepted by itself and never with others.
    pub runs_later: Option<String>,
    /// A file of a commit, or a ref: the path of the repository that it is decided with, or goes with.
    pub decided_with: Option<PathBuf>,
    pub body: ReviewBody,
    /// A key for the decision about a change without lines: the same change has the same key.
    pub key: String,
}

#[derive(Clone, Debug)]
pub enum ReviewBody {
    Lines(ReviewLines),
    /// Decided as a whole: a change without lines, or a change that cannot be applied in parts.
    Whole(WholeChange),
}

#[derive(Clone, Debug, Default)]
pub struct WholeChange {
    pub mark: ReviewDecision,
    pub reviewed: bool,
    /// It was not so when the person last sent the changes back.
    pub is_new: bool,
    /// The rows that are shown.
    pub words: Vec<String>,
    /// Lines that are not shown.
    pub left_out: usize,
    /// Lines added and removed, where they are known: in a directory that is removed.
    pub counts: Option<(usize, usize)>,
    /// Why it cannot be decided here, if it cannot.
    pub refused: Option<String>,
    /// Other rows say what it means: it is folded at first, and nobody needs to see it.
    pub is_explained: bool,
    /// Both sides as pictures, where they are.
    pub pictures: Option<PicturePair>,
    /// What is applied, where it is not text.
    pub bytes: Option<BinaryContent>,
    /// The paths at which the workspace has something else than the change was made to, with what it has.
    pub conflict: Vec<(PathBuf, PathState)>,
}

/// The bytes of a picture before and after.
#[derive(Clone, Debug, Default)]
pub struct PicturePair {
    pub before: Option<std::sync::Arc<Vec<u8>>>,
    pub after: Option<std::sync::Arc<Vec<u8>>>,
}

/// A content that is not text, of which the person may see the bytes.
#[derive(Clone, Debug)]
pub struct BinaryContent {
    bytes: Arc<[u8]>,
    /// How many words there were before the rows of the bytes, while those are shown.
    words_before: Option<usize>,
}

/// Bytes in a row, and at most so many rows.
const BYTES_IN_ROW: usize = 16;
const BYTE_ROWS: usize = 4096;

impl BinaryContent {
    pub fn new(bytes: &[u8]) -> BinaryContent {
        BinaryContent { bytes: bytes.into(), words_before: None }
    }

    /// Rows as `xxd` writes them: where they are, the bytes, and those that are ASCII.
    fn rows(&self) -> Vec<String> {
        let row = |(at, bytes): (usize, &[u8])| {
            let pairs: Vec<String> =
                bytes.chunks(2).map(|pair| pair.iter().map(|byte| format!("{byte:02x}")).collect()).collect();
            let sign =
                |byte: &u8| if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '.' };
            let signs: String = bytes.iter().map(sign).collect();
            format!("{:08x}: {:<39}  {signs}", at * BYTES_IN_ROW, pairs.join(" "))
        };
        let mut rows: Vec<String> =
            self.bytes.chunks(BYTES_IN_ROW).enumerate().take(BYTE_ROWS).map(row).collect();
        let left = self.bytes.len().saturating_sub(BYTES_IN_ROW * BYTE_ROWS);
        rows.extend((left > 0).then(|| format!("{} more are not shown", count::of(left, "byte"))));
        rows
    }
}

impl WholeChange {
    /// Shows the bytes, or hides them again; false where nothing changes.
    pub(in crate::review) fn show_bytes(&mut self, shows: bool) -> bool {
        let Some(content) = &mut self.bytes else { return false };
        match (content.words_before, shows) {
            (None, true) => {
                content.words_before = Some(self.words.len());
                self.words.extend(content.rows());
            }
            (Some(before), false) => {
                content.words_before = None;
                self.words.truncate(before);
            }
            _ => return false,
        }
        true
    }
}

#[derive(Clone, Debug)]
pub struct ReviewLines {
    pub old: SideText,
    pub new: SideText,
    pub hunks: Vec<ReviewHunk>,
    /// Unchanged lines between hunks that the person unfolded.
    pub opened: Vec<Range<usize>>,
    /// Where the lines are parts of a longer text: a line of each side where a part begins, and its number there.
    pub parts: Vec<PartBoundary>,
    /// The person edited the new side.
    pub edited: bool,
    /// The old side is what the workspace has now, not what the agent started from.
    pub is_on_workspace: bool,
    /// Where somebody else changed the same lines.
    pub conflicts: Vec<LineConflict>,
}

/// Lines that the agent and somebody else changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineConflict {
    /// Where they are on the old side.
    pub(in crate::review) old: Range<usize>,
    /// Rows with what they were before both changes, rendered.
    pub(in crate::review) rows: Vec<String>,
}

/// The beginning of a part of a text that is not there as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartBoundary {
    pub old: usize,
    pub new: usize,
    pub old_number: usize,
    pub new_number: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewHunk {
    pub old: Range<usize>,
    pub new: Range<usize>,
    /// The removed lines, then the added ones.
    pub marks: Vec<ReviewDecision>,
    pub reviewed: bool,
    /// The hunk was split off the hunk before it.
    pub cut: bool,
    /// It was not there when the person last sent the changes back.
    pub is_new: bool,
}

/// The common decision of several lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CombinedDecision {
    All(ReviewDecision),
    Mixed,
}

/// What is applied of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppliedPart {
    Nothing,
    Whole,
    Content(Vec<u8>),
}

/// What stays pending of a file after the apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PendingPart {
    AsItIs,
    Nothing,
    Content(Vec<u8>),
}

impl ReviewHunk {
    pub fn new(old: Range<usize>, new: Range<usize>) -> ReviewHunk {
        let marks = vec![ReviewDecision::Open; old.len() + new.len()];
        ReviewHunk { old, new, marks, reviewed: false, cut: false, is_new: false }
    }

    pub fn standing(&self) -> CombinedDecision {
        standing(self.marks.iter().copied())
    }

    pub fn is_decided(&self) -> bool {
        !self.marks.contains(&ReviewDecision::Open)
    }

    pub(in crate::review) fn has_decision(&self) -> bool {
        self.marks.iter().any(|mark| *mark != ReviewDecision::Open)
    }

    /// The mark of the `n`th changed line, removed ones first.
    pub fn mark(&self, n: usize) -> ReviewDecision {
        self.marks.get(n).copied().unwrap_or_default()
    }

    /// Cut before its `n`th changed line. `None` when one half would be empty.
    pub fn split(&self, n: usize) -> Option<(ReviewHunk, ReviewHunk)> {
        if n == 0 || n >= self.marks.len() {
            return None;
        }
        let removed = self.old.len();
        let (old_cut, new_cut) = (n.min(removed), n.saturating_sub(removed));
        let (old, new) = (self.old.start + old_cut, self.new.start + new_cut);
        let (a, b) = self.marks.split_at(n);
        let first = ReviewHunk {
            old: self.old.start..old,
            new: self.new.start..new,
            marks: a.to_vec(),
            reviewed: false,
            cut: self.cut,
            is_new: self.is_new,
        };
        let second = ReviewHunk {
            old: old..self.old.end,
            new: new..self.new.end,
            marks: b.to_vec(),
            reviewed: false,
            cut: true,
            is_new: self.is_new,
        };
        Some((first, second))
    }
}

pub(in crate::review) fn standing(marks: impl Iterator<Item = ReviewDecision>) -> CombinedDecision {
    let mut marks = marks.peekable();
    let first = marks.peek().copied().unwrap_or_default();
    if marks.all(|mark| mark == first) { CombinedDecision::All(first) } else { CombinedDecision::Mixed }
}

impl ReviewLines {
    pub fn new(old: SideText, new: SideText) -> ReviewLines {
        let mut lines = ReviewLines::uncompared(old, new);
        lines.compare();
        lines
    }

    pub(super) fn compare(&mut self) {
        let (old, new) = (&self.old, &self.new);
        let found = hunk::hunks(old.bytes(0..old.len()), new.bytes(0..new.len()));
        self.hunks = found.into_iter().map(|h| ReviewHunk::new(h.old_lines, h.new_lines)).collect();
    }

    /// Without hunks, until [`ReviewLines::compare`].
    pub(super) fn uncompared(old: SideText, new: SideText) -> ReviewLines {
        let parts = vec![PartBoundary { old: 0, new: 0, old_number: 1, new_number: 1 }];
        ReviewLines {
            old,
            new,
            hunks: Vec::new(),
            opened: Vec::new(),
            parts,
            edited: false,
            is_on_workspace: false,
            conflicts: Vec::new(),
        }
    }

    pub fn side(&self, side: DiffSide) -> &SideText {
        match side {
            DiffSide::Old => &self.old,
            DiffSide::New => &self.new,
        }
    }

    /// The side and the line of the `n`th changed line of a hunk.
    pub(in crate::review) fn place(&self, hunk: usize, n: usize) -> Option<(DiffSide, usize)> {
        let hunk = self.hunks.get(hunk)?;
        match n.checked_sub(hunk.old.len()) {
            None => Some((DiffSide::Old, hunk.old.start + n)),
            Some(n) if n < hunk.new.len() => Some((DiffSide::New, hunk.new.start + n)),
            Some(_) => None,
        }
    }

    /// The number of an old line where the text comes from, from 1.
    pub fn old_number(&self, line: usize) -> usize {
        let seam = self.parts.iter().rev().find(|s| s.old <= line);
        seam.map_or(line + 1, |s| s.old_number + line - s.old)
    }

    pub fn new_number(&self, line: usize) -> usize {
        let seam = self.parts.iter().rev().find(|s| s.new <= line);
        seam.map_or(line + 1, |s| s.new_number + line - s.new)
    }

    pub fn counts(&self) -> (usize, usize) {
        self.hunks.iter().fold((0, 0), |(a, r), h| (a + h.new.len(), r + h.old.len()))
    }

    /// The content with the accepted changes.
    pub fn accepted_content(&self) -> Vec<u8> {
        self.content_with(|mark| mark == ReviewDecision::Accepted)
    }

    /// The content with all changes except the rejected ones.
    pub fn unrejected_content(&self) -> Vec<u8> {
        self.content_with(|mark| mark != ReviewDecision::Rejected)
    }

    fn content_with(&self, is_made: impl Fn(ReviewDecision) -> bool) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.old.bytes(0..self.old.len()).len());
        let mut at = 0;
        for hunk in &self.hunks {
            self.push(&mut out, self.old.bytes(at..hunk.old.start));
            for (n, line) in hunk.old.clone().enumerate() {
                if !is_made(hunk.mark(n)) {
                    self.push(&mut out, self.old.bytes(line..line + 1));
                }
            }
            for (n, line) in hunk.new.clone().enumerate() {
                if is_made(hunk.mark(hunk.old.len() + n)) {
                    self.push(&mut out, self.new.bytes(line..line + 1));
                }
            }
            at = hunk.old.end;
        }
        self.push(&mut out, self.old.bytes(at..self.old.len()));
        out
    }

    /// Appends lines. A last line without an end gets one when another line follows it.
    fn push(&self, out: &mut Vec<u8>, lines: &[u8]) {
        if lines.is_empty() {
            return;
        }
        if out.last().is_some_and(|b| *b != b'\n') {
            out.extend_from_slice(self.old.usual_end());
        }
        out.extend_from_slice(lines);
    }
}

impl ReviewFile {
    /// Lines added and removed, where the lines are those of the contents themselves.
    pub fn line_counts(&self) -> Option<(usize, usize)> {
        let lines = self.lines().filter(|lines| lines.old.is_content() && lines.new.is_content())?;
        Some(lines.counts())
    }

    pub fn lines(&self) -> Option<&ReviewLines> {
        match &self.body {
            ReviewBody::Lines(lines) => Some(lines),
            ReviewBody::Whole(_) => None,
        }
    }

    /// Lines added and removed.
    pub fn counts(&self) -> Option<(usize, usize)> {
        match &self.body {
            ReviewBody::Lines(lines) => Some(lines.counts()),
            ReviewBody::Whole(whole) => whole.counts,
        }
    }

    pub fn lines_mut(&mut self) -> Option<&mut ReviewLines> {
        match &mut self.body {
            ReviewBody::Lines(lines) => Some(lines),
            ReviewBody::Whole(_) => None,
        }
    }

    /// What it means is in other rows.
    pub fn is_explained(&self) -> bool {
        matches!(&self.body, ReviewBody::Whole(whole) if whole.is_explained)
    }

    /// True for a file of a commit, which has the mark of its repository. A ref has paths, and so a mark of its own.
    pub fn is_decided_elsewhere(&self) -> bool {
        self.decided_with.is_some() && self.paths.is_empty()
    }

    /// How many things there are to decide.
    pub fn units(&self) -> usize {
        match &self.body {
            _ if self.decided_with.is_some() => 0,
            ReviewBody::Lines(lines) => lines.hunks.len(),
            ReviewBody::Whole(whole) => usize::from(whole.refused.is_none()),
        }
    }

    pub fn decided(&self) -> usize {
        match &self.body {
            _ if self.decided_with.is_some() => 0,
            ReviewBody::Lines(lines) => lines.hunks.iter().filter(|h| h.is_decided()).count(),
            ReviewBody::Whole(whole) => usize::from(whole.mark != ReviewDecision::Open),
        }
    }

    /// How many of these are new since the person sent the changes back.
    pub fn new_units(&self) -> usize {
        match &self.body {
            _ if self.decided_with.is_some() => 0,
            ReviewBody::Lines(lines) => lines.hunks.iter().filter(|h| h.is_new).count(),
            ReviewBody::Whole(whole) => usize::from(whole.is_new),
        }
    }

    pub fn is_reviewed(&self) -> bool {
        match &self.body {
            ReviewBody::Lines(lines) => lines.hunks.iter().all(|h| h.reviewed),
            ReviewBody::Whole(whole) => whole.reviewed,
        }
    }

    pub fn standing(&self) -> CombinedDecision {
        match &self.body {
            ReviewBody::Lines(lines) => standing(lines.hunks.iter().flat_map(|h| h.marks.iter().copied())),
            ReviewBody::Whole(whole) => CombinedDecision::All(whole.mark),
        }
    }

    pub fn is_rejected_in_part(&self) -> bool {
        match &self.body {
            _ if self.is_decided_elsewhere() => false,
            ReviewBody::Lines(lines) => {
                lines.hunks.iter().any(|h| h.marks.contains(&ReviewDecision::Rejected))
            }
            ReviewBody::Whole(whole) => whole.mark == ReviewDecision::Rejected,
        }
    }

    /// What happens to the old path: `true` for removal, `false` for staying, `None` while that is undecided.
    pub fn old_path_goes(&self) -> Option<bool> {
        match self.verdict() {
            (AppliedPart::Nothing, PendingPart::Nothing) => Some(false),
            (AppliedPart::Nothing, _) => None,
            _ => Some(true),
        }
    }

    /// The result of the decisions: what is applied, and what stays pending after that.
    pub fn verdict(&self) -> (AppliedPart, PendingPart) {
        let lines = match &self.body {
            _ if self.is_decided_elsewhere() => return (AppliedPart::Nothing, PendingPart::AsItIs),
            ReviewBody::Whole(whole) => {
                return match whole.mark {
                    ReviewDecision::Open => (AppliedPart::Nothing, PendingPart::AsItIs),
                    ReviewDecision::Accepted => (AppliedPart::Whole, PendingPart::Nothing),
                    ReviewDecision::Rejected => (AppliedPart::Nothing, PendingPart::Nothing),
                };
            }
            ReviewBody::Lines(lines) => lines,
        };
        let any = |mark| lines.hunks.iter().any(|h| h.marks.contains(&mark));
        let (accepted, rejected, open) =
            (any(ReviewDecision::Accepted), any(ReviewDecision::Rejected), any(ReviewDecision::Open));
        // What is pending is the change of another content until the apply, so that its whole is not what is decided.
        let is_other = lines.edited || lines.is_on_workspace;
        match (accepted, rejected, open) {
            (false, false, _) if lines.edited => {
                (AppliedPart::Nothing, PendingPart::Content(lines.unrejected_content()))
            }
            (false, false, _) => (AppliedPart::Nothing, PendingPart::AsItIs),
            (true, false, false) if !is_other => (AppliedPart::Whole, PendingPart::Nothing),
            (true, _, false) => (AppliedPart::Content(lines.accepted_content()), PendingPart::Nothing),
            (false, true, false) => (AppliedPart::Nothing, PendingPart::Nothing),
            (true, false, true) if !is_other => {
                (AppliedPart::Content(lines.accepted_content()), PendingPart::AsItIs)
            }
            (true, _, true) => (
                AppliedPart::Content(lines.accepted_content()),
                PendingPart::Content(lines.unrejected_content()),
            ),
            (false, true, true) => (AppliedPart::Nothing, PendingPart::Content(lines.unrejected_content())),
        }
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
