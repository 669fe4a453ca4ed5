//! HTML as Markdown, with links that work from anywhere.
//!
//! The parser's time grows with the depth of a page times its length, and the converter uses the stack for each level:
//! a hostile page is deep. The parser is fed in pieces and stopped at a deadline, the depth is counted before anything
//! walks the tree by recursion, and such a page becomes its text without the tags.

use super::html_cost::MarkdownCost;
use super::html_table;
use htmd::HtmlToMarkdown;
use htmd::options::Options;
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Node, NodeData, RcDom};
use reqwest::Url;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Elements inside each other; real pages have 20 to 60 levels.
const DEEPEST: usize = 500;
/// How long a page may be parsed.
const PATIENCE: Duration = Duration::from_secs(5);
/// How much the parser gets between two looks at the clock, in bytes.
const PIECE: usize = 4096;
/// Elements whose content is not read as text.
const SKIPPED: [&str; 7] = ["script", "style", "noscript", "template", "svg", "head", "iframe"];

/// A page as the model reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MarkdownPage {
    pub(super) title: Option<String>,
    pub(super) text: String,
    /// Its elements are too deep, or too many in one place, to be read as a tree: the text has no headings, lists and
    /// links.
    pub(super) is_flat: bool,
}

/// `url` is that of the page: links are relative to it.
pub(super) fn markdown_of(html: &str, url: &Url) -> MarkdownPage {
    markdown_within(html, url, PATIENCE)
}

fn markdown_within(html: &str, url: &Url, patience: Duration) -> MarkdownPage {
    let flat = || MarkdownPage { title: None, text: without_tags(html), is_flat: true };
    let Some(dom) = parsed(html, Instant::now() + patience) else { return flat() };
    let mut links = LinkRewriter { base: url.clone(), title: None, room: MOST_ADDED };
    if !links.rewrite(&dom.document) {
        return flat();
    }
    let options = Options { ul_bullet_spacing: 1, ol_number_spacing: 1, ..Options::default() };
    let converter = HtmlToMarkdown::builder().options(options).skip_tags(SKIPPED.to_vec());
    let converter = converter.add_handler(vec!["table"], html_table::table).build();
    let text = converter.tree_to_markdown(&dom.document);
    MarkdownPage { title: links.title, text: text.trim().to_string(), is_flat: false }
}

/// `None` where the deadline came first.
fn parsed(html: &str, until: Instant) -> Option<RcDom> {
    let mut parser = parse_document(RcDom::default(), ParseOpts::default());
    let mut rest = html;
    while !rest.is_empty() {
        if Instant::now() >= until {
            return None;
        }
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE.max(4)));
        parser.process(StrTendril::from_slice(piece));
        rest = after;
    }
    Some(parser.finish())
}

/// Makes the links of a tree whole, and finds its title.
struct LinkRewriter {
    base: Url,
    title: Option<String>,
    /// Bytes by which links may still grow.
    room: usize,
}

/// Bytes that are put before the relative links of a page at most: a page of a few megabytes could ask for gigabytes with
/// a long base. Links after that stay as the page has them.
const MOST_ADDED: usize = 8 << 20;

impl LinkRewriter {
    /// False where the tree is too deep, or would cost too much; its links may be changed in part then.
    fn rewrite(&mut self, document: &Rc<Node>) -> bool {
        let mut cost = MarkdownCost::default();
        // Each entry: a node, its depth, its lists and quotes, and whether it is in preformatted text.
        let mut waiting = vec![(Rc::clone(document), 0, 0, false)];
        while let Some((node, depth, nesting, is_code)) = waiting.pop() {
            cost.count(&node, nesting);
            if depth > DEEPEST || cost.is_too_much() {
                return false;
            }
            let (mut is_code, mut nesting) = (is_code, nesting);
            if let NodeData::Element { name, attrs, .. } = &node.data {
                let tag = name.local.as_ref();
                is_code |= tag == "pre" || tag == "code";
                nesting += u64::from(matches!(tag, "ul" | "ol" | "blockquote"));
                if tag == "title" && self.title.is_none() {
                    self.title = Some(text_of(&node)).filter(|text| !text.is_empty());
                }
                let mut attrs = attrs.borrow_mut();
                if tag == "base"
                    && let Some(href) = attrs.iter().find(|attr| attr.name.local.as_ref() == "href")
                    && let Ok(base) = self.base.join(&href.value)
                {
                    self.base = base;
                }
                // A link in a line of code would break the code.
                let is_dropped =
                    |value: &str| is_code || value.starts_with(['#']) || value.starts_with("data:");
                attrs.retain(|attr| attr.name.local.as_ref() != "href" || !is_dropped(&attr.value));
                for attr in attrs.iter_mut().filter(|attr| matches!(attr.name.local.as_ref(), "href" | "src"))
                {
                    // Before the join, which already makes the long address.
                    if self.base.as_str().len() > self.room {
                        continue;
                    }
                    if let Ok(whole) = self.base.join(&attr.value) {
                        self.room -= whole.as_str().len().saturating_sub(attr.value.len()).min(self.room);
                        attr.value = StrTendril::from_slice(whole.as_str());
                    }
                }
            }
            waiting.extend(
                node.children
                    .borrow()
                    .iter()
                    .rev()
                    .map(|node| (Rc::clone(node), depth + 1, nesting, is_code)),
            );
        }
        true
    }
}

fn text_of(node: &Rc<Node>) -> String {
    let mut text = String::new();
    for child in node.children.borrow().iter() {
        if let NodeData::Text { contents } = &child.data {
            text.push_str(&contents.borrow());
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text between the tags, a line for each piece.
fn without_tags(html: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    let mut rest = html;
    while let Some((text, tag)) = rest.split_once('<') {
        lines.extend(Some(text.trim()).filter(|text| !text.is_empty()));
        let name: String = tag.chars().take_while(char::is_ascii_alphabetic).collect();
        let end = if SKIPPED.contains(&name.to_ascii_lowercase().as_str()) {
            // Nothing of it is text; without an end it is the rest of the page.
            let end = format!("</{name}");
            tag.find(&end).map(|at| tag.get(at..).unwrap_or_default())
        } else {
            Some(tag)
        };
        rest = end.and_then(|tag| tag.split_once('>')).map_or("", |(_, after)| after);
    }
    lines.extend(Some(rest.trim()).filter(|text| !text.is_empty()));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without the deadline, which a build with checks on a busy machine reaches.
    fn patiently(html: &str) -> MarkdownPage {
        markdown_within(html, &Url::parse("https://example.org/").unwrap(), Duration::from_secs(300))
    }

    fn page(html: &str) -> MarkdownPage {
        markdown_of(html, &Url::parse("https://example.org/a/b.html").unwrap())
    }

    /// Whole, these links would have 50 MB.
    #[test]
    fn a_long_base_does_not_make_a_page_many_times_larger() {
        let base = format!("https://example.org/{}/", "p".repeat(10_000));
        let html = format!("<base href='{base}'>{}", "<a href=x>y</a> ".repeat(5_000));
        let text = patiently(&html).text;
        assert!(text.len() < 2 * MOST_ADDED, "{}", text.len());
        assert!(text.starts_with(&format!("[y]({base}x) [y]({base}x)")), "the first links are whole");
        assert!(text.ends_with("[y](x)"), "the last links are as they were");
    }

    #[test]
    fn a_page_becomes_markdown_with_whole_links() {
        let html = "<html><head><title> A \n page</title><style>p{}</style></head><body><h1>Top</h1>\
                    <p>See <a href=\"../c?x=1\">this</a> and <a href='#here'>here</a>.</p><script>evil()</script>\
                    <ul><li>one<li>two</ul><img src=/i.png alt=Plan><pre><code>let <a href=x>a</a> = 1;</code></pre>\
                    <table><tr><th>a<th>b<tr><td>1<td>2</table></body></html>";
        let found = page(html);
        assert_eq!(found.title.as_deref(), Some("A page"));
        insta::assert_snapshot!(found.text, @r"
        # Top

        See [this](https://example.org/c?x=1) and here.

        * one
        * two

        ![Plan](https://example.org/i.png)

        ```
        let a = 1;
        ```

        | a | b |
        | - | - |
        | 1 | 2 |
        ");
    }

    #[test]
    fn a_page_that_is_too_deep_or_takes_too_long_becomes_its_text() {
        let url = Url::parse("https://example.org/").unwrap();
        for html in
            ["<div>".repeat(2_000) + "end", "<div>".repeat(300_000) + "end", "<b>".repeat(50_000) + "end"]
        {
            let found = markdown_within(&html, &url, Duration::from_millis(200));
            assert!(found.is_flat && found.text == "end", "{}", found.text);
        }
    }

    #[test]
    fn a_table_is_not_larger_than_its_cells() {
        // Filled up to the widest row and the widest cell, these were many gigabytes.
        let rows = "<tr><td>x<td>y".repeat(4_000);
        let wide = format!("<table><tr>{}</tr>{rows}</table>", "<th>h".repeat(4_000));
        let long = format!("<table><tr><th>{}<th>b</tr>{rows}</table>", "w".repeat(200_000));
        for html in [&wide, &long] {
            let found = patiently(html);
            assert!(!found.is_flat && found.text.contains("| x | y |"), "{}", found.text.len());
            assert!(found.text.len() < 2 * html.len(), "{}", found.text.len());
        }
        // A table in a table, in a table ...: each level was as large as all rows of the one below together.
        let nested = (0..12).fold("deepest".to_string(), |inner, _| {
            format!("<table>{}<tr><td>{inner}<td>z</table>", "<tr><td>x<td>y".repeat(50))
        });
        let found = patiently(&nested);
        assert!(
            found.text.contains("deepest") && found.text.len() < 2 * nested.len(),
            "{}",
            found.text.len()
        );
    }

    #[test]
    fn a_table_keeps_its_row_titles_and_its_bars() {
        let found = page("<table><caption>Ports</caption><tr><th>a|b<th>c<tr><th>x<td>1<br>2</table>");
        assert_eq!(found.text, "Ports\n\n| a\\|b | c |\n| - | - |\n| x | 1 2 |");
        assert_eq!(page("<table><tr><td><h1>T</h1><tr><td><p>text</table>").text, "# T\n\ntext");
    }

    #[test]
    fn a_page_that_would_cost_too_much_becomes_its_text() {
        let quotes = format!("{}{}", "<blockquote>".repeat(300), "x<br>".repeat(60_000));
        let joined = "<b>x</b>".repeat(60_000);
        for html in [quotes, joined] {
            let started = Instant::now();
            let found = patiently(&html);
            assert!(found.is_flat && found.text.starts_with("x\nx\n"));
            assert!(started.elapsed() < Duration::from_secs(60));
        }
        // Many neighbours that are not joined are no cost.
        assert!(!patiently(&"<p>x</p><br><a href=/>y</a>".repeat(20_000)).is_flat);
    }

    #[test]
    fn text_without_tags_has_no_scripts() {
        assert_eq!(without_tags("a<b>c</b><script>x<y</script>d<STYLE>z"), "a\nc\nd");
        assert_eq!(without_tags("a < b"), "a");
    }
}
