//! The code blocks of a Markdown text, each as its own bytes: for copying, never for showing.

use super::markdown::options;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

/// The content of every code block in order, without its fence, its indent and its last line end.
pub fn code_blocks(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut open: Option<String> = None;
    for event in Parser::new_ext(text, options()) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => open = Some(String::new()),
            Event::Text(text) => {
                if let Some(code) = &mut open {
                    code.push_str(&text);
                }
            }
            Event::End(TagEnd::CodeBlock) => out.extend(open.take().map(without_end)),
            _ => {}
        }
    }
    out
}

fn without_end(mut code: String) -> String {
    if code.ends_with('\n') {
        code.pop();
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_its_bytes_without_fence_indent_and_last_line_end() {
        let text = "Do\n\n```sh\nls -l   \n\n\techo \"é\"\n```\n- item\n\n  ~~~\n  in a list\n    deeper\n  ~~~\n\nmore\n\n    indented\n\nend\n\n```\nopen";
        let want = ["ls -l   \n\n\techo \"é\"", "in a list\n  deeper", "indented", "open"];
        assert_eq!(code_blocks(text), want);
        assert_eq!(code_blocks("no `code` here"), Vec::<String>::new());
    }
}
