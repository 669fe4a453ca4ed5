//! Carrying marks from the lines of one content to those of the next.
//!
//! A line keeps its mark when the shortest difference keeps it, byte for byte and with its end. Which of several equal
//! lines stayed is the difference's choice, as in every blame; nothing here looks further than two contents.

use crate::files::content::text_file::TextFile;
use placet_text::text::sequence_diff::line_diff;
use similar::DiffTag;
use std::sync::Arc;

/// A content, each of whose lines bears a mark.
#[derive(Clone, Debug, Default)]
pub(super) struct AnnotatedContent {
    pub(super) bytes: Arc<Vec<u8>>,
    pub(super) marks: Arc<Vec<usize>>,
}

impl AnnotatedContent {
    /// All of it bears one mark.
    pub(super) fn all(bytes: Arc<Vec<u8>>, mark: usize) -> AnnotatedContent {
        let count = lines(&bytes).len();
        AnnotatedContent { bytes, marks: Arc::new(vec![mark; count]) }
    }

    /// The marks that the lines of `next` inherit; `None` for lines that are not here.
    pub(super) fn kept(&self, next: &Arc<Vec<u8>>) -> Vec<Option<usize>> {
        if self.bytes == *next {
            return self.marks.iter().copied().map(Some).collect();
        }
        let (old_file, new_file) = (lines(&self.bytes), lines(next));
        let ops = line_diff(&old_file, &new_file);
        let mut kept = vec![None; new_file.len()];
        for op in ops.into_iter().filter(|op| op.tag() == DiffTag::Equal) {
            for (old, new) in op.old_range().zip(op.new_range()) {
                if let Some(slot) = kept.get_mut(new) {
                    *slot = self.marks.get(old).copied();
                }
            }
        }
        kept
    }

    /// The next content: lines that were here keep their marks, new ones get `mark`.
    pub(super) fn next(&self, next: Arc<Vec<u8>>, mark: usize) -> AnnotatedContent {
        let marks = self.kept(&next).into_iter().map(|kept| kept.unwrap_or(mark)).collect();
        AnnotatedContent { bytes: next, marks: Arc::new(marks) }
    }
}

/// The lines of a content, ends included, as its encoding has them.
fn lines(bytes: &Arc<Vec<u8>>) -> Vec<&[u8]> {
    match TextFile::new(Arc::clone(bytes)) {
        Ok(file) => file.lines(0).filter_map(|span| bytes.get(span)).collect(),
        Err(_) => bytes.split_inclusive(|b| *b == b'\n').collect(),
    }
}
