//! HTML as Markdown, with links that work from anywhere.
//!
//! The parser's time grows with the depth of a page times its length, and the converter uses the stack for each level:
//! a hostile page is deep. The parser is fed in pieces and stopped at a deadline, the depth is counted before anything
//! walks the tree by recursion, and such a page becomes its text without the tags.

use super::html_code;
use super::html_cost::MarkdownCost;
use super::html_join::join_neighbours;
use super::html_table;
use super::page_tree::{ParsedPage, parsed};
use htmd::element_handler::{HandlerResult, Handlers};
use htmd::options::Options;
use htmd::{Element, HtmlToMarkdown};
use html5ever::tendril::StrTendril;
use markup5ever_rcdom::{Node, NodeData};
use reqwest::Url;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Elements inside each other; real pages have 20 to 60 levels.
const DEEPEST: usize = 500;
/// How long a page may be parsed.
const PATIENCE: Duration = Duration::from_secs(5);
/// Elements whose content is not read as text.
const SKIPPED: [&str; 7] = ["script", "style", "noscript", "template", "svg", "head", "iframe"];
/// Elements at which the library's walk looks whether it is stopped: nearly every text of a page is in one of them.
/// `span` has a faster path in the library while it has no other handler.
const LOOKED_AT: [&str; 41] = [
    "a",
    "address",
    "article",
    "aside",
    "b",
    "blockquote",
    "body",
    "br",
    "center",
    "code",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "fieldset",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "i",
    "img",
    "li",
    "main",
    "nav",
    "ol",
    "option",
    "p",
    "pre",
    "section",
    "strong",
    "summary",
    "table",
    "ul",
];

/// A page as the model reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MarkdownPage {
    pub(super) title: Option<String>,
    pub(super) text: String,
    /// Its elements are too deep, or too many, to be read as a tree: the text has no headings, lists and links.
    pub(super) is_flat: bool,
}

/// `url` is that of the page: links are relative to it. `None` where the work was stopped.
pub(super) fn markdown_of(html: &str, url: &Url, stop: &CancellationToken) -> Option<MarkdownPage> {
    markdown_within(html, url, PATIENCE, stop)
}

fn markdown_within(
    html: &str,
    url: &Url,
    patience: Duration,
    stop: &CancellationToken,
) -> Option<MarkdownPage> {
    let flat = || Some(MarkdownPage { title: None, text: without_tags(html), is_flat: true });
    let dom = match parsed(html, Instant::now() + patience, stop) {
        ParsedPage::Tree(dom) => dom,
        ParsedPage::TooMuch => return flat(),
        ParsedPage::Stopped => return None,
    };
    let mut links = LinkRewriter { base: url.clone(), title: None, room: MOST_ADDED, stop };
    match links.rewrite(&dom.document) {
        TreeWalk::Whole => {}
        TreeWalk::TooMuch => {
            drop(dom);
            return flat();
        }
        TreeWalk::Stopped => return None,
    }
    let options = Options { ul_bullet_spacing: 1, ol_number_spacing: 1, ..Options::default() };
    let converter = HtmlToMarkdown::builder().options(options).skip_tags(SKIPPED.to_vec());
    let converter = converter.add_handler(vec!["table"], html_table::table);
    let converter = converter.add_handler(vec!["pre"], html_code::preformatted);
    let flag = stop.clone();
    let unless_stopped = move |handlers: &dyn Handlers, element: Element<'_>| {
        until_stopped(&flag, || handlers.fallback(element))
    };
    let converter = converter.add_handler(LOOKED_AT.to_vec(), unless_stopped).build();
    let mut text = converter.tree_to_markdown(&dom.document);
    if stop.is_cancelled() {
        return None;
    }
    text.truncate(text.trim_end().len());
    text.drain(..text.len() - text.trim_start().len());
    Some(MarkdownPage { title: links.title, text, is_flat: false })
}

/// Nothing where the work is stopped, also of what was done before: the levels above would copy it.
fn until_stopped(
    stop: &CancellationToken,
    work: impl FnOnce() -> Option<HandlerResult>,
) -> Option<HandlerResult> {
    if stop.is_cancelled() {
        return None;
    }
    let done = work();
    done.filter(|_| !stop.is_cancelled())
}

/// How a walk through a tree ended.
enum TreeWalk {
    Whole,
    /// The tree is too deep, or would cost too much.
    TooMuch,
    Stopped,
}

/// Makes the links of a tree whole, and finds its title.
struct LinkRewriter<'a> {
    base: Url,
    title: Option<String>,
    /// Bytes by which links may still grow.
    room: usize,
    stop: &'a CancellationToken,
}

/// Bytes that are put before the relative links of a page at most: a page of a few megabytes could ask for gigabytes with
/// a long base. Links after that stay as the page has them.
const MOST_ADDED: usize = 4 << 20;

impl LinkRewriter<'_> {
    /// Where it does not come to the end, links may be changed in part.
    fn rewrite(&mut self, document: &Rc<Node>) -> TreeWalk {
        let mut cost = MarkdownCost::default();
        // Each entry: a node, its depth, its lists and quotes, and whether it is in preformatted text.
        let mut waiting = vec![(Rc::clone(document), 0, 0, false)];
        while let Some((node, depth, nesting, is_code)) = waiting.pop() {
            cost.count(&node, nesting);
            if depth > DEEPEST || cost.is_too_much() {
                return TreeWalk::TooMuch;
            }
            if self.stop.is_cancelled() {
                return TreeWalk::Stopped;
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
        self.join(document)
    }

    /// After all attributes are what they will be: they decide what is joined.
    fn join(&self, document: &Rc<Node>) -> TreeWalk {
        let mut waiting = vec![Rc::clone(document)];
        while let Some(node) = waiting.pop() {
            if self.stop.is_cancelled() {
                return TreeWalk::Stopped;
            }
            join_neighbours(&node);
            waiting.extend(node.children.borrow().iter().cloned());
        }
        TreeWalk::Whole
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

/// What stands between two pieces of text; the strongest of the tags between them decides.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TextBorder {
    Piece,
    Cell,
    Row,
}

impl TextBorder {
    /// `name` is that of a start or an end tag.
    fn of(name: &str) -> TextBorder {
        match name {
            "td" | "th" => TextBorder::Cell,
            "tr" | "table" => TextBorder::Row,
            _ => TextBorder::Piece,
        }
    }

    fn text(self) -> &'static str {
        match self {
            TextBorder::Cell => " | ",
            TextBorder::Piece | TextBorder::Row => "\n",
        }
    }
}

/// The text between the tags, a line for each piece; the cells of a row stay in one line.
fn without_tags(html: &str) -> String {
    let mut out = String::new();
    let mut border = TextBorder::Piece;
    let mut rest = html;
    loop {
        let (text, tag) = rest.split_once('<').map_or((rest, None), |(text, tag)| (text, Some(tag)));
        let text = text.trim();
        if !text.is_empty() {
            if !out.is_empty() {
                out.push_str(border.text());
            }
            out.push_str(text);
            border = TextBorder::Piece;
        }
        let Some(tag) = tag else { return out };
        let letters = tag.strip_prefix('/').unwrap_or(tag);
        let name = letters.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        let name = name.get(..name.len().min(LONGEST_NAME)).unwrap_or_default().to_ascii_lowercase();
        border = border.max(TextBorder::of(&name));
        let is_skipped = !tag.starts_with('/') && SKIPPED.contains(&name.as_str());
        // Nothing of a skipped element is text; without an end it is the rest of the page.
        let end = if is_skipped { end_of(tag, &name) } else { Some(tag) };
        rest = end.and_then(|tag| tag.split_once('>')).map_or("", |(_, after)| after);
    }
}

/// Longer names are of no element that matters here.
const LONGEST_NAME: usize = 16;

/// From the end tag of an element on.
fn end_of<'a>(html: &'a str, name: &str) -> Option<&'a str> {
    let is_end = |at: usize| {
        html.get(at + 2..at + 2 + name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name))
    };
    let (at, _) = html.match_indices("</").find(|(at, _)| is_end(*at))?;
    html.get(at..)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without the deadline, which a build with checks on a busy machine reaches.
    fn patiently(html: &str) -> MarkdownPage {
        let url = Url::parse("https://example.org/").unwrap();
        markdown_within(html, &url, Duration::from_secs(300), &CancellationToken::new()).unwrap()
    }

    fn page(html: &str) -> MarkdownPage {
        let url = Url::parse("https://example.org/a/b.html").unwrap();
        markdown_of(html, &url, &CancellationToken::new()).unwrap()
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

    /// Story: only `<pre><code>` was in a block of code, and the text of other `<pre>` was prose.
    #[test]
    fn preformatted_text_is_a_block_of_code_without_marks() {
        let markdown = |html: &str| page(html).text;
        assert_eq!(
            markdown("<p>run<pre>\n$ <b>ls</b>  -l\n\n  *a*<br>b_c_\n</pre>then"),
            "run\n\n```\n$ ls  -l\n\n  *a*\nb_c_\n```\n\nthen"
        );
        assert_eq!(markdown("<pre class='hl lang-sh'><span>a</span> ``` b</pre>"), "````sh\na ``` b\n````");
        // A line of code in an element of its own, as some sites have it.
        assert_eq!(
            markdown("<pre><code class=language-rust>let a;</code>\n<code>let <i>b</i>;</code></pre>"),
            "```rust\nlet a;\nlet b;\n```"
        );
        assert_eq!(
            markdown("<pre> \n </pre>x<pre><code class='language-a`b'>y</code></pre>"),
            "x\n\n```\ny\n```"
        );
        assert_eq!(markdown("<ul><li>one<pre>a\n b</pre></ul>"), "* one\n\n  ```\n  a\n   b\n  ```");
    }

    #[test]
    fn a_page_that_is_too_deep_or_takes_too_long_becomes_its_text() {
        let url = Url::parse("https://example.org/").unwrap();
        for html in
            ["<div>".repeat(2_000) + "end", "<div>".repeat(300_000) + "end", "<b>".repeat(50_000) + "end"]
        {
            let stop = CancellationToken::new();
            let found = markdown_within(&html, &url, Duration::from_millis(200), &stop).unwrap();
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
        let table = format!("<table>{}", "<tr><td><b>x</b></td><td>y</td></tr>".repeat(100_000));
        for (html, lines) in [(quotes, "x\nx\n"), (table, "x | y\nx | y\n")] {
            let started = Instant::now();
            let found = patiently(&html);
            assert!(found.is_flat && found.text.starts_with(lines), "{}", &found.text[..20]);
            assert!(started.elapsed() < Duration::from_secs(60));
        }
    }

    /// Each of these was once moved as often as there are others before it.
    #[test]
    fn neighbours_of_one_kind_are_joined_in_time() {
        let started = Instant::now();
        assert_eq!(patiently(&"<b>x</b>".repeat(60_000)).text, format!("**{}**", "x".repeat(60_000)));
        assert!(started.elapsed() < Duration::from_secs(60));
        assert_eq!(page("<p><i>a</i><em>b</em> <b>c</b><i>d</i><i class=x>e</i>").text, "*ab* **c***d**e*");
        assert_eq!(page("<p><a href=/x>a</a><a href=/x>b</a>").text.matches("](").count(), 2);
        assert!(!patiently(&"<p>x</p><br><a href=/>y</a>".repeat(20_000)).is_flat);
    }

    #[test]
    fn a_page_is_stopped_while_it_is_walked() {
        let url = Url::parse("https://example.org/").unwrap();
        let html = "<ul><li>x<p>y</ul>".repeat(20_000);
        let whole = Instant::now();
        let _ = patiently(&html);
        let whole = whole.elapsed();
        // At ten moments of the work.
        for tenth in 0..10 {
            let stop = CancellationToken::new();
            let flag = stop.clone();
            let after = whole * tenth / 10;
            let cancel = move || {
                std::thread::sleep(after);
                flag.cancel();
                Instant::now()
            };
            let stopper = std::thread::Builder::new().spawn(cancel).unwrap();
            let found = markdown_within(&html, &url, Duration::from_secs(300), &stop);
            let late = stopper.join().unwrap().elapsed();
            // The rest of the work would take more than half of the whole.
            assert!(tenth > 3 || found.is_none(), "{tenth}");
            assert!(late < whole / 4 + Duration::from_millis(200), "{tenth}: {late:?} of {whole:?}");
        }
    }

    #[test]
    fn text_without_tags_has_no_scripts() {
        assert_eq!(without_tags("a<b>c</b><script>x<y</script>d<STYLE>z"), "a\nc\nd");
        assert_eq!(without_tags("a < b"), "a");
        assert_eq!(without_tags("<Script>x</SCRIPT>y"), "y");
    }
}
