//! What a page would cost as Markdown: each line within lists and quotes is indented once for each of them.

use markup5ever_rcdom::{Node, NodeData};

/// The most bytes of indentation. A page of 50,000 lines in three lists has 600,000.
const MOST_INDENTATION: u64 = 4_000_000;
/// The most bytes that each list and each quote puts before a line.
const INDENTATION: u64 = 4;

/// Adds up while a tree is walked.
#[derive(Debug, Default)]
pub(super) struct MarkdownCost {
    indentation: u64,
}

impl MarkdownCost {
    /// Counts a node within so many lists and quotes.
    pub(super) fn count(&mut self, node: &Node, nesting: u64) {
        let lines = match &node.data {
            NodeData::Text { contents } => contents.borrow().bytes().filter(|b| *b == b'\n').count(),
            NodeData::Element { .. } => 1,
            _ => 0,
        };
        self.indentation += u64::try_from(lines).unwrap_or(u64::MAX / 1024) * nesting * INDENTATION;
    }

    pub(super) fn is_too_much(&self) -> bool {
        self.indentation > MOST_INDENTATION
    }
}
