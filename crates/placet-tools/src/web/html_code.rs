//! Preformatted text of a page as a block of code. The library makes one for `<pre><code>` only, and writes marks for bold
//! and italic text into it; in a block of code they would be characters of the code.

use htmd::Element;
use htmd::element_handler::{HandlerResult, Handlers};
use markup5ever_rcdom::{Node, NodeData};
use std::rc::Rc;

/// The least number of backticks of a fence.
const FENCE: usize = 3;

/// The handler of `pre`.
pub(super) fn preformatted(_: &dyn Handlers, element: Element<'_>) -> Option<HandlerResult> {
    let mut code = PreformattedText::default();
    code.read(element.node);
    let text = code.text.trim_end_matches('\n');
    if text.trim().is_empty() {
        return Some(String::new().into());
    }
    let fence = "`".repeat(FENCE.max(longest_run(text) + 1));
    let language = code.language.unwrap_or_default();
    Some(format!("\n\n{fence}{language}\n{text}\n{fence}\n\n").into())
}

#[derive(Default)]
struct PreformattedText {
    text: String,
    language: Option<String>,
}

impl PreformattedText {
    fn read(&mut self, pre: &Rc<Node>) {
        let mut waiting = vec![Rc::clone(pre)];
        while let Some(node) = waiting.pop() {
            match &node.data {
                NodeData::Text { contents } => self.text.push_str(&contents.borrow()),
                NodeData::Element { name, attrs, .. } => match name.local.as_ref() {
                    "br" => self.text.push('\n'),
                    "script" | "style" | "template" => continue,
                    "pre" | "code" if self.language.is_none() => {
                        let attrs = attrs.borrow();
                        let class = attrs.iter().find(|attr| attr.name.local.as_ref() == "class");
                        self.language = class.and_then(|class| language_of(&class.value));
                    }
                    _ => {}
                },
                _ => {}
            }
            waiting.extend(node.children.borrow().iter().rev().cloned());
        }
    }
}

/// `language-rust` and `lang-rust` name a language.
fn language_of(class: &str) -> Option<String> {
    let named = |word: &str| {
        let name = word.strip_prefix("language-").or_else(|| word.strip_prefix("lang-"))?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || "+#-_.".contains(c);
        (!name.is_empty() && name.chars().all(is_name)).then(|| name.to_string())
    };
    class.split_ascii_whitespace().find_map(named)
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}
