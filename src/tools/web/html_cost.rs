//! What a page would cost as Markdown. Two forms cost more than the page is large: each line within lists and quotes is
//! indented once for each of them, and the library joins neighbours of one kind by moving all that follow.

use markup5ever_rcdom::{Node, NodeData};

/// The most bytes of indentation. A page of 50,000 lines in three lists has 600,000.
const MOST_INDENTATION: u64 = 8_000_000;
/// The most moves of neighbours; these are about two seconds.
const MOST_MOVES: u64 = 1_000_000_000;
/// The most bytes that each list and each quote puts before a line.
const INDENTATION: u64 = 4;

/// Adds up while a tree is walked.
#[derive(Debug, Default)]
pub(super) struct MarkdownCost {
    indentation: u64,
    moves: u64,
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
        let children = node.children.borrow();
        let tags = children.iter().map(|child| match &child.data {
            NodeData::Element { name, .. } => Some(name.local.as_ref()),
            _ => None,
        });
        let pairs = tags.clone().zip(tags.skip(1));
        let pairs = pairs.filter(|(a, b)| a.is_some_and(may_join) && b.is_some_and(may_join)).count();
        let product = u64::try_from(pairs).unwrap_or(u64::MAX).saturating_mul(children.len() as u64);
        self.moves = self.moves.saturating_add(product);
    }

    pub(super) fn is_too_much(&self) -> bool {
        self.indentation > MOST_INDENTATION || self.moves > MOST_MOVES
    }
}

/// False for elements that are never joined, and of which a page may have many.
fn may_join(tag: &str) -> bool {
    !matches!(
        tag,
        "a" | "p"
            | "li"
            | "tr"
            | "td"
            | "th"
            | "div"
            | "br"
            | "dt"
            | "dd"
            | "img"
            | "hr"
            | "option"
            | "section"
    )
}
