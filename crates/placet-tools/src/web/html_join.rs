//! Joins neighbours that say the same: `<b>a</b><b>b</b>` is `**ab**`. The library does this, too, by moving all that
//! follow for each neighbour, which takes minutes on a page of many; after this there is nothing for it to join.

use html5ever::tendril::StrTendril;
use markup5ever_rcdom::{Node, NodeData};
use std::cell::RefCell;
use std::rc::Rc;

/// Elements that stand for themselves: links, and the blocks of a page.
const APART: &[&str] = &[
    "a",
    "address",
    "article",
    "aside",
    "base",
    "basefont",
    "blockquote",
    "body",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "iframe",
    "legend",
    "li",
    "link",
    "main",
    "menu",
    "menuitem",
    "nav",
    "noframes",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "pre",
    "script",
    "search",
    "section",
    "style",
    "summary",
    "table",
    "tbody",
    "td",
    "textarea",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "track",
    "ul",
];

/// Joins neighbours among the children of a node.
pub(super) fn join_neighbours(node: &Node) {
    let mut last: Option<Rc<Node>> = None;
    node.children.borrow_mut().retain(|child| {
        if last.as_deref().is_some_and(|last| is_joined(last, child)) {
            return false;
        }
        last = Some(Rc::clone(child));
        true
    });
}

/// Adds the text of `next` to `last`, if both are of one kind and have only text.
fn is_joined(last: &Node, next: &Node) -> bool {
    let (Some(last_text), Some(next_text)) = (only_text(last), only_text(next)) else { return false };
    let (NodeData::Element { name, attrs, .. }, NodeData::Element { name: next_name, attrs: next_attrs, .. }) =
        (&last.data, &next.data)
    else {
        return false;
    };
    let is_alike = kind(&name.local) == kind(&next_name.local) && name.ns == next_name.ns;
    if !is_alike || APART.contains(&name.local.as_ref()) || *attrs.borrow() != *next_attrs.borrow() {
        return false;
    }
    let (NodeData::Text { contents }, NodeData::Text { contents: added }) =
        (&last_text.data, &next_text.data)
    else {
        return false;
    };
    push(contents, &added.borrow());
    true
}

fn push(contents: &RefCell<StrTendril>, added: &StrTendril) {
    contents.borrow_mut().push_slice(added);
}

/// The only child of an element, if it is text.
fn only_text(node: &Node) -> Option<Rc<Node>> {
    let NodeData::Element { template_contents, .. } = &node.data else { return None };
    let children = node.children.borrow();
    match children.as_slice() {
        [text] if matches!(text.data, NodeData::Text { .. }) && template_contents.borrow().is_none() => {
            Some(Rc::clone(text))
        }
        _ => None,
    }
}

/// Two names for one thing are one name.
fn kind(tag: &str) -> &str {
    match tag {
        "em" => "i",
        "strong" => "b",
        tag => tag,
    }
}
