//! Tables of a page as Markdown. The library's own form fills each cell up to the width of its column and each row up to
//! the widest row: a page of a few megabytes could ask for more memory than any machine has. Here a table is not larger
//! than its cells.

use htmd::Element;
use htmd::element_handler::{HandlerResult, Handlers};
use markup5ever_rcdom::{Node, NodeData};
use std::rc::Rc;

/// The handler of `table`.
pub(super) fn table(handlers: &dyn Handlers, element: Element<'_>) -> Option<HandlerResult> {
    let mut found = TableRows::default();
    found.read(handlers, element.node);
    let TableRows { caption, rows } = found;
    let mut out = String::from("\n\n");
    for line in caption {
        out.push_str(&line);
        out.push_str("\n\n");
    }
    if rows.iter().all(|row| row.len() < 2) || has_table(element.node) {
        // Such a table makes the layout of a page: what is in its cells is text like any other.
        for cell in rows.into_iter().flatten().filter(|cell| !cell.is_empty()) {
            out.push_str(&cell);
            out.push_str("\n\n");
        }
        return Some(out.into());
    }
    for (at, row) in rows.iter().enumerate() {
        for cell in row {
            out.push_str("| ");
            out.push_str(&in_one_line(cell));
            out.push(' ');
        }
        out.push_str("|\n");
        if at == 0 {
            out.push_str(&"| - ".repeat(row.len()));
            out.push_str("|\n");
        }
    }
    out.push('\n');
    Some(out.into())
}

/// What a table has, each cell as Markdown.
#[derive(Default)]
struct TableRows {
    caption: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl TableRows {
    /// Reads the rows of a table, or of a part of it.
    fn read(&mut self, handlers: &dyn Handlers, part: &Rc<Node>) {
        for child in part.children.borrow().iter() {
            match tag_of(child) {
                Some("thead" | "tbody" | "tfoot") => self.read(handlers, child),
                Some("caption") => self.caption.extend(text_of(handlers, child)),
                Some("tr") => {
                    let cells = child.children.borrow();
                    let cells = cells.iter().filter(|cell| matches!(tag_of(cell), Some("td" | "th")));
                    let row: Vec<String> =
                        cells.map(|cell| text_of(handlers, cell).unwrap_or_default()).collect();
                    self.rows.extend(Some(row).filter(|row| !row.is_empty()));
                }
                _ => {}
            }
        }
    }
}

fn text_of(handlers: &dyn Handlers, node: &Rc<Node>) -> Option<String> {
    handlers.handle(node).map(|found| found.content.trim().to_string())
}

fn in_one_line(cell: &str) -> String {
    cell.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// True if one of the cells has a table of its own.
fn has_table(table: &Rc<Node>) -> bool {
    let mut waiting: Vec<Rc<Node>> = table.children.borrow().iter().map(Rc::clone).collect();
    while let Some(node) = waiting.pop() {
        if tag_of(&node) == Some("table") {
            return true;
        }
        waiting.extend(node.children.borrow().iter().map(Rc::clone));
    }
    false
}

fn tag_of(node: &Node) -> Option<&str> {
    match &node.data {
        NodeData::Element { name, .. } => Some(name.local.as_ref()),
        _ => None,
    }
}
