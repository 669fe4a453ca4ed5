//! The tree of a page, of a bounded size.
//!
//! A tree is many times larger than its page: `<td>x` has 5 bytes and takes 400 in memory, and formatting that is never
//! closed is made again in each paragraph, so that a page of a few megabytes could ask for gigabytes. The parser's tree is
//! built here through a sink that counts, and that takes nothing more when the tree is full.

use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tree_builder::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::{Attribute, ExpandedName, ParseOpts, QualName, parse_document};
use markup5ever_rcdom::{Node, NodeData, RcDom};
use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// How much the parser gets between two looks at the clock, in bytes. A tag of seven bytes can make thousands of elements
/// again, so that a piece must be short.
const PIECE: usize = 128;
/// The largest tree, in bytes by the estimates below. A page of 5 MB with an element for every 40 bytes has about 60 MB.
const LARGEST_TREE: usize = 64 << 20;
/// A node with its place in the list of its parent.
const NODE: usize = 160;
/// What an element takes besides: its list of children, and a first list of attributes.
const CHILDREN: usize = 48;
const ATTRIBUTE: usize = 40;
/// A list of attributes begins with room for four.
const FIRST_ATTRIBUTES: usize = 4;
/// Text up to this length is stored in the node itself.
const SHORT_TEXT: usize = 8;
/// Attributes that a page in Markdown needs.
const ATTRIBUTES: [&str; 6] = ["href", "src", "alt", "title", "class", "start"];
/// Elements that the parser stores with all of their attributes, to make them again.
const FORMATTING: [&str; 14] =
    ["a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"];

/// What became of a page.
pub(super) enum ParsedPage {
    Tree(RcDom),
    /// The deadline came first, or the tree would be too large.
    TooMuch,
    /// Nobody waits for it any more.
    Stopped,
}

/// Parses a page until a deadline.
pub(super) fn parsed(html: &str, until: Instant, stop: &CancellationToken) -> ParsedPage {
    let mut parser = parse_document(BoundedTree::default(), ParseOpts::default());
    let mut rest = html;
    while !rest.is_empty() {
        if stop.is_cancelled() {
            return ParsedPage::Stopped;
        }
        if Instant::now() >= until || parser.tokenizer.sink.sink.is_full() {
            return ParsedPage::TooMuch;
        }
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
        parser.process(StrTendril::from_slice(piece));
        rest = after;
    }
    let tree = parser.finish();
    if tree.is_full() { ParsedPage::TooMuch } else { ParsedPage::Tree(tree.dom) }
}

/// A sink that counts what it stores.
#[derive(Default)]
struct BoundedTree {
    dom: RcDom,
    used: Cell<usize>,
}

impl BoundedTree {
    fn is_full(&self) -> bool {
        self.used.get() > LARGEST_TREE
    }

    /// False where there is no room for more.
    fn take(&self, bytes: usize) -> bool {
        let is_free = !self.is_full();
        self.used.set(self.used.get().saturating_add(bytes));
        is_free
    }

    fn take_child(&self, child: &NodeOrText<Rc<Node>>) -> bool {
        match child {
            // It was counted when it was made.
            NodeOrText::AppendNode(_) => !self.is_full(),
            NodeOrText::AppendText(text) => self.take(text_size(text)),
        }
    }
}

fn text_size(text: &str) -> usize {
    if text.len() <= SHORT_TEXT { 0 } else { 2 * text.len() }
}

fn size_of(attributes: &[Attribute]) -> usize {
    let rooms = match attributes.len() {
        0 => 0,
        some => some.next_power_of_two().max(FIRST_ATTRIBUTES),
    };
    let values: usize = attributes.iter().map(|attribute| text_size(&attribute.value)).sum();
    rooms.saturating_mul(ATTRIBUTE).saturating_add(values)
}

fn needed(mut attributes: Vec<Attribute>) -> Vec<Attribute> {
    attributes.retain(|attribute| ATTRIBUTES.contains(&attribute.name.local.as_ref()));
    attributes.shrink_to_fit();
    attributes
}

/// True if text at the end of this node makes no node of its own.
fn ends_with_text(node: &Node) -> bool {
    node.children.borrow().last().is_some_and(|last| matches!(last.data, NodeData::Text { .. }))
}

impl TreeSink for BoundedTree {
    type Handle = Rc<Node>;
    type Output = Self;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> Self {
        self
    }

    // The tree's own list of errors would have one for each byte of some pages.
    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Rc<Node> {
        self.dom.get_document()
    }

    fn elem_name<'a>(&'a self, target: &'a Rc<Node>) -> ExpandedName<'a> {
        self.dom.elem_name(target)
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> Rc<Node> {
        let is_formatting = FORMATTING.contains(&name.local.as_ref());
        let stored = if is_formatting { size_of(&attrs) } else { 0 };
        let attrs = needed(attrs);
        let size = if is_formatting { stored } else { size_of(&attrs) };
        let has_room = self.take(size.saturating_add(NODE + CHILDREN));
        self.dom.create_element(name, if has_room { attrs } else { Vec::new() }, flags)
    }

    // Nothing reads what a comment says.
    fn create_comment(&self, _: StrTendril) -> Rc<Node> {
        self.take(NODE);
        self.dom.create_comment(StrTendril::new())
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Rc<Node> {
        self.create_comment(StrTendril::new())
    }

    fn append(&self, parent: &Rc<Node>, child: NodeOrText<Rc<Node>>) {
        if matches!(child, NodeOrText::AppendText(_)) && !ends_with_text(parent) {
            self.take(NODE);
        }
        if self.take_child(&child) {
            self.dom.append(parent, child);
        }
    }

    fn append_based_on_parent_node(
        &self,
        element: &Rc<Node>,
        prev_element: &Rc<Node>,
        child: NodeOrText<Rc<Node>>,
    ) {
        self.take(NODE);
        if self.take_child(&child) {
            self.dom.append_based_on_parent_node(element, prev_element, child);
        }
    }

    fn append_before_sibling(&self, sibling: &Rc<Node>, child: NodeOrText<Rc<Node>>) {
        self.take(NODE);
        if self.take_child(&child) {
            self.dom.append_before_sibling(sibling, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &Rc<Node>) -> Rc<Node> {
        self.dom.get_template_contents(target)
    }

    fn same_node(&self, x: &Rc<Node>, y: &Rc<Node>) -> bool {
        self.dom.same_node(x, y)
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.dom.set_quirks_mode(mode);
    }

    fn add_attrs_if_missing(&self, target: &Rc<Node>, attrs: Vec<Attribute>) {
        let attrs = needed(attrs);
        if self.take(size_of(&attrs)) && !attrs.is_empty() {
            self.dom.add_attrs_if_missing(target, attrs);
        }
    }

    fn remove_from_parent(&self, target: &Rc<Node>) {
        self.dom.remove_from_parent(target);
    }

    fn reparent_children(&self, node: &Rc<Node>, new_parent: &Rc<Node>) {
        self.dom.reparent_children(node, new_parent);
    }

    fn is_mathml_annotation_xml_integration_point(&self, target: &Rc<Node>) -> bool {
        self.dom.is_mathml_annotation_xml_integration_point(target)
    }

    // `maybe_clone_an_option_into_selectedcontent` stays what it is by default, nothing: it copies an option by recursion,
    // once for each option.
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn is_tree(html: &str) -> bool {
        let until = Instant::now() + Duration::from_secs(300);
        matches!(parsed(html, until, &CancellationToken::new()), ParsedPage::Tree(_))
    }

    #[test]
    fn a_tree_that_would_be_too_large_is_given_up() {
        assert!(is_tree(&"<table><tr><td>x<td>y</table>".repeat(10_000)));
        assert!(!is_tree(&"<td>x".repeat(1_000).replacen("<td>", "<table><td>", 1).repeat(300)));
        // Twenty elements are made again in each of these paragraphs.
        let open: String = (0..20).map(|n| format!("<b a{n}>")).collect();
        assert!(!is_tree(&format!("<p>{open}</p>{}", "<p>x</p>".repeat(30_000))));
        assert!(!is_tree(&format!("<p {}>", "href=xxxxxxxxxx alt=yyyyyyyyyyyyyyy><p ".repeat(200_000))));
    }

    #[test]
    fn a_page_that_nobody_waits_for_is_stopped() {
        let stop = CancellationToken::new();
        stop.cancel();
        let until = Instant::now() + Duration::from_secs(300);
        assert!(matches!(parsed("<p>x", until, &stop), ParsedPage::Stopped));
    }

    #[test]
    fn attributes_that_no_text_needs_are_not_stored() {
        let until = Instant::now() + Duration::from_secs(300);
        let ParsedPage::Tree(tree) =
            parsed("<html lang=en><p id=a class=b onclick=c>x", until, &CancellationToken::new())
        else {
            panic!("no tree");
        };
        // The drop of a document takes the children of all of its nodes.
        let mut waiting = vec![Rc::clone(&tree.document)];
        let mut names = Vec::new();
        while let Some(node) = waiting.pop() {
            if let NodeData::Element { attrs, .. } = &node.data {
                names.extend(attrs.borrow().iter().map(|attr| attr.name.local.to_string()));
            }
            waiting.extend(node.children.borrow().iter().cloned());
        }
        assert_eq!(names, ["class"]);
    }
}
