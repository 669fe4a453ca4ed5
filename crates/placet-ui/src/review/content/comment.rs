//! Comments on lines, and how they follow their lines.
//!
//! A comment has the text that it was made on. When the file changes, the comment moves with that text to its new
//! place. Where the text is missing, or is at several places, the comment stays and is marked as stale.

use super::file::ReviewLines;
use super::side_text::{DiffSide, SideText};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "on")]
pub enum CommentTarget {
    Turn,
    File {
        path: PathBuf,
    },
    /// Lines of one side, from 0.
    Lines {
        path: PathBuf,
        side: DiffSide,
        lines: Range<usize>,
        anchor: Vec<String>,
        #[serde(default)]
        stale: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewComment {
    pub id: u64,
    #[serde(flatten)]
    pub target: CommentTarget,
    pub text: String,
}

/// The comments of a review. Each has a number that no other had.
pub struct CommentList {
    pub list: Vec<ReviewComment>,
    pub(in crate::review) next: u64,
}

impl Default for CommentList {
    fn default() -> CommentList {
        CommentList { list: Vec::new(), next: 1 }
    }
}

impl CommentList {
    pub(in crate::review) fn add(&mut self, target: CommentTarget, text: String) {
        self.list.push(ReviewComment { id: self.next, target, text });
        self.next += 1;
    }
}

impl CommentTarget {
    /// Lines of one side of a file, as they are now.
    pub(in crate::review) fn of(
        path: &Path,
        file: &ReviewLines,
        side: DiffSide,
        lines: Range<usize>,
    ) -> CommentTarget {
        let anchor = anchor(file.side(side), &lines);
        CommentTarget::Lines { path: path.into(), side, lines, anchor, stale: false }
    }

    pub fn path(&self) -> Option<&PathBuf> {
        match self {
            CommentTarget::Turn => None,
            CommentTarget::File { path } | CommentTarget::Lines { path, .. } => Some(path),
        }
    }
}

/// The lines that a comment is made on, as they are stored with the comment.
fn anchor(doc: &SideText, lines: &Range<usize>) -> Vec<String> {
    /// Enough lines to find the place again.
    const LINES: usize = 40;
    lines.clone().take(LINES).map(|n| doc.line(n).to_string()).collect()
}

/// Moves a comment to the present place of its text.
pub(in crate::review) fn move_to_text(comment: &mut ReviewComment, file: Option<&ReviewLines>) {
    let CommentTarget::Lines { side, lines, anchor, stale, .. } = &mut comment.target else { return };
    let Some(file) = file else {
        *stale = true;
        return;
    };
    match place(file.side(*side), anchor, lines.start) {
        Some(at) => {
            *lines = at..at + lines.len();
            *stale = false;
        }
        None => *stale = true,
    }
}

/// The place of the lines of `anchor` in `doc`: their old place, or the only place where they are now.
fn place(doc: &SideText, anchor: &[String], before: usize) -> Option<usize> {
    let stands =
        |at: usize| anchor.iter().enumerate().all(|(n, line)| at + n < doc.len() && doc.line(at + n) == line);
    if anchor.is_empty() {
        return None;
    }
    if stands(before) {
        return Some(before);
    }
    let mut places = (0..doc.len().saturating_sub(anchor.len() - 1)).filter(|at| stands(*at));
    let first = places.next()?;
    places.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(new: &str) -> ReviewLines {
        ReviewLines::new(SideText::new(Vec::new()).unwrap(), SideText::new(new.as_bytes().to_vec()).unwrap())
    }

    fn on(text: &str, at: Range<usize>) -> ReviewComment {
        let target = CommentTarget::of(Path::new("/w/a"), &lines(text), DiffSide::New, at);
        ReviewComment { id: 1, target, text: "why?".into() }
    }

    fn moved(mut comment: ReviewComment, now: &str) -> (Range<usize>, bool) {
        move_to_text(&mut comment, Some(&lines(now)));
        let CommentTarget::Lines { lines, stale, .. } = comment.target else { panic!() };
        (lines, stale)
    }

    #[test]
    fn a_comment_goes_with_its_lines_and_says_when_they_are_gone() {
        let comment = on("a\nb\nc\n", 1..3);
        assert_eq!(moved(comment.clone(), "a\nb\nc\nd\n"), (1..3, false));
        assert_eq!(moved(comment.clone(), "new\nnew\na\nb\nc\n"), (3..5, false));
        assert_eq!(moved(comment.clone(), "a\nb\nX\n"), (1..3, true));
        // The same text at two places is ambiguous, unless one of them is the old place.
        assert_eq!(moved(comment.clone(), "x\nx\nb\nc\nb\nc\n"), (1..3, true));
        assert_eq!(moved(comment, "x\nb\nc\nb\nc\n"), (1..3, false));
    }
}
