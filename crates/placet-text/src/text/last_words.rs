//! The last words of an answer in Markdown, as a list names them: its last line of prose, without marks.
//!
//! What is no prose (a table, code) names nothing by itself, so it counts only where there is nothing else.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Bytes at the end that are looked at: the last line is in them.
const MOST: usize = 64 << 10;

/// The last line of prose of `markdown`; of a table or of code, where that is all.
pub fn last_words(markdown: &str) -> Option<String> {
    let from = markdown.ceil_char_boundary(markdown.len().saturating_sub(MOST));
    let mut found = LastLines::default();
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    Parser::new_ext(markdown.get(from..).unwrap_or_default(), options).for_each(|event| found.take(event));
    found.end_line();
    found.prose.or(found.other)
}

#[derive(Default)]
struct LastLines {
    line: String,
    prose: Option<String>,
    /// Of a table, or of code.
    other: Option<String>,
    in_other: bool,
}

impl LastLines {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(Tag::CodeBlock(_) | Tag::Table(_)) => {
                self.end_line();
                self.in_other = true;
            }
            Event::End(TagEnd::CodeBlock | TagEnd::Table) => {
                self.end_line();
                self.in_other = false;
            }
            Event::End(TagEnd::TableCell) => self.line.push_str("  "),
            // A picture and a link in a sentence are a part of it.
            Event::Start(
                Tag::Emphasis
                | Tag::Strong
                | Tag::Strikethrough
                | Tag::Link { .. }
                | Tag::Image { .. }
                | Tag::TableCell,
            )
            | Event::End(
                TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image,
            )
            | Event::TaskListMarker(_)
            | Event::FootnoteReference(_) => {}
            Event::Text(text) if self.in_other => self.take_lines(&text),
            Event::Html(text) => self.take_lines(&text),
            Event::Text(text)
            | Event::Code(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text) => self.line.push_str(&text),
            Event::Start(_) | Event::End(_) | Event::SoftBreak | Event::HardBreak | Event::Rule => {
                self.end_line()
            }
        }
    }

    fn take_lines(&mut self, text: &str) {
        for piece in text.split_inclusive('\n') {
            self.line.push_str(piece.trim_end_matches('\n'));
            if piece.ends_with('\n') {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let line = line.trim();
        if !line.is_empty() {
            let last = if self.in_other { &mut self.other } else { &mut self.prose };
            *last = Some(line.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_are_prose_without_marks() {
        for (markdown, words) in [
            ("first\n\nlast line\n```\ncode\n```\n", Some("last line")),
            ("The tax by year:\n\n| year | tax |\n|---|---|\n| 20 | 24.2 |\n", Some("The tax by year:")),
            ("| year | tax |\n|---|---|\n| 20 | 24.2 |\n", Some("20  24.2")),
            ("# Done\n\n---\n", Some("Done")),
            ("- one\n- [x] **two** of `a.txt`\n", Some("two of a.txt")),
            ("> quoted\n> twice", Some("twice")),
            ("see [the page](https://example.com), or ~~not~~", Some("see the page, or not")),
            ("```rust\nfn main() {\n}\n```", Some("}")),
            ("Is 3 < 4 | 5 a row?", Some("Is 3 < 4 | 5 a row?")),
            ("two\nlines", Some("lines")),
            ("<p>\nin html\n", Some("in html")),
            ("Underlined\n=====\n", Some("Underlined")),
            ("\n \n", None),
        ] {
            assert_eq!(last_words(markdown).as_deref(), words, "{markdown:?}");
        }
        let long = format!("{}\nthe end of *it*", "ä b\n".repeat(MOST));
        assert_eq!(last_words(&long).as_deref(), Some("the end of it"));
    }
}
