//! Markdown as styled lines.
//!
//! Prose is broken at words ([`super::prose`]). Code is not, and it has neither gutter nor padding, so that copying gives
//! it back as it is. The text must already be safe ([`placet_text::text::sanitize`]).

use super::markdown_table::MarkdownTable;
use super::prose::{self, ProseIndent, ProseSpan, ProseWidth};
use crate::colors::syntax;
use crate::colors::theme::Theme;
use placet_text::text::{visible, width};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd, TextMergeStream};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

/// What of CommonMark and its common extensions is understood.
pub(crate) fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// Renders `text`; `width` bounds prose, rules and tables.
pub fn render(text: &str, theme: &Theme, width: ProseWidth) -> Vec<Line<'static>> {
    write(text, MarkdownWriter::new(theme, width))
}

/// The same without colours in code, for text that is drawn again and again while it grows.
pub fn render_draft(text: &str, theme: &Theme, width: ProseWidth) -> Vec<Line<'static>> {
    write(text, MarkdownWriter { code_style: CodeStyle::Plain, ..MarkdownWriter::new(theme, width) })
}

#[derive(Clone, Copy, PartialEq)]
enum CodeStyle {
    Highlighted,
    Plain,
}

fn write(text: &str, mut writer: MarkdownWriter<'_>) -> Vec<Line<'static>> {
    // The parser gives each `&#8203;` by itself: a run of them is counted as one text.
    for event in TextMergeStream::new(Parser::new_ext(text, options())) {
        writer.event(event);
    }
    writer.finish()
}

struct MarkdownWriter<'t> {
    theme: &'t Theme,
    width: ProseWidth,
    lines: Vec<Line<'static>>,
    spans: Vec<ProseSpan>,
    styles: Vec<Style>,
    lists: Vec<MarkdownList>,
    quotes: usize,
    code: Option<(String, String)>,
    link: Option<(String, usize)>,
    table: Option<MarkdownTable>,
    /// What the next line of an item starts with instead of its indent.
    marker: Option<String>,
    /// A blank line is due before the next block.
    gap: bool,
    code_style: CodeStyle,
}

/// An open list.
struct MarkdownList {
    /// The next number, or `None` for bullets.
    next: Option<u64>,
    /// Columns of the marker of the last item.
    indent: usize,
}

impl<'t> MarkdownWriter<'t> {
    fn new(theme: &'t Theme, width: ProseWidth) -> MarkdownWriter<'t> {
        MarkdownWriter {
            theme,
            width: ProseWidth::new(width.columns.max(10), width.wrap),
            lines: Vec::new(),
            spans: Vec::new(),
            styles: Vec::new(),
            lists: Vec::new(),
            quotes: 0,
            code: None,
            link: None,
            table: None,
            marker: None,
            gap: false,
            code_style: CodeStyle::Highlighted,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&visible::decoded(&text)),
                None => self.push(&text, Style::default()),
            },
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => self.push_code(&text),
            // Markup is shown as it was written: nothing is hidden from the person.
            Event::Html(text) => {
                for line in text.lines() {
                    self.push(line, Style::default());
                    self.flush_unbroken();
                }
            }
            Event::InlineHtml(text) => {
                for line in text.split_inclusive('\n') {
                    self.push(line.trim_end_matches('\n'), Style::default());
                    if line.ends_with('\n') {
                        self.flush();
                    }
                }
            }
            Event::SoftBreak if self.table.is_none() => self.push(" ", Style::default()),
            Event::HardBreak if self.table.is_none() => self.flush(),
            Event::SoftBreak | Event::HardBreak => self.push(" ", Style::default()),
            Event::Rule => {
                self.block();
                self.push(&"─".repeat(self.width.columns.min(40)), self.theme.style("rule"));
                self.flush();
                self.gap = true;
            }
            Event::TaskListMarker(done) => self.push(if done { "[x] " } else { "[ ] " }, Style::default()),
            Event::FootnoteReference(name) => self.push(&format!("[{name}]"), Style::default()),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.block(),
            Tag::Heading { level, .. } => {
                self.block();
                let style = self.theme.style("heading");
                let style =
                    if level == HeadingLevel::H1 { style.add_modifier(Modifier::UNDERLINED) } else { style };
                self.styles.push(style);
            }
            Tag::BlockQuote(_) => {
                self.block();
                self.quotes += 1;
                self.styles.push(self.theme.style("quote"));
            }
            Tag::CodeBlock(kind) => {
                self.block();
                let language = match kind {
                    CodeBlockKind::Fenced(info) => info.split([' ', ',']).next().unwrap_or("").to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new()));
            }
            Tag::List(first) => {
                if self.lists.is_empty() {
                    self.block();
                } else {
                    self.flush();
                }
                self.lists.push(MarkdownList { next: first, indent: 2 });
            }
            Tag::Item => {
                self.flush();
                self.gap = false;
                let mut marker = "• ".to_string();
                if let Some(list) = self.lists.last_mut() {
                    if let Some(number) = &mut list.next {
                        marker = format!("{number}. ");
                        *number += 1;
                    }
                    list.indent = width::of(&marker);
                }
                self.marker = Some(marker);
            }
            Tag::Emphasis => self.styles.push(self.theme.style("emphasis")),
            Tag::Strong => self.styles.push(self.theme.style("strong")),
            Tag::Strikethrough => self.styles.push(Style::new().add_modifier(Modifier::CROSSED_OUT)),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.link = Some((dest_url.to_string(), self.text_length()));
                self.styles.push(self.theme.style("link"));
            }
            Tag::Table(alignments) => {
                self.block();
                self.table = Some(MarkdownTable { alignments, ..MarkdownTable::default() });
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => {
                self.flush();
                self.gap = true;
            }
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.flush();
                self.gap = true;
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.styles.pop();
                self.quotes = self.quotes.saturating_sub(1);
                self.gap = true;
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
                self.gap = self.lists.is_empty();
            }
            TagEnd::Item => {
                self.flush();
                self.marker = None;
                self.gap = false;
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => drop(self.styles.pop()),
            TagEnd::Link | TagEnd::Image => {
                self.styles.pop();
                self.end_link();
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.spans);
                if let Some(row) = self.table.as_mut().and_then(|t| t.rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::TableHead => {
                if let Some(table) = &mut self.table {
                    table.header_rows = table.rows.len();
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    self.lines.extend(table.lines(self.theme, self.width));
                }
                self.gap = true;
            }
            _ => {}
        }
    }

    /// A link's target is shown where the text does not already say it: the eye decides, not the label.
    fn end_link(&mut self) {
        let Some((url, from)) = self.link.take() else { return };
        let text: String = self.spans.iter().map(|piece| piece.span.content.as_ref()).collect();
        let label = text.get(from.min(text.len())..).unwrap_or("");
        if !url.is_empty() && label != url && format!("mailto:{label}") != url {
            self.push(&format!(" ({url})"), self.theme.style("dim"));
        }
    }

    fn end_code(&mut self) {
        let Some((language, code)) = self.code.take() else { return };
        let language = if self.code_style == CodeStyle::Plain { "" } else { language.as_str() };
        for mut line in syntax::highlight(&code, language, self.theme) {
            let (indent, _) = self.indent();
            if !indent.is_empty() {
                line.spans.insert(0, Span::raw(indent));
            }
            self.lines.push(Line::from(line.spans));
        }
        self.gap = true;
    }

    fn text_length(&self) -> usize {
        self.spans.iter().map(|piece| piece.span.content.len()).sum()
    }

    fn push(&mut self, text: &str, style: Style) {
        let span = self.styled(text, style);
        self.spans.push(ProseSpan { span, is_whole: false });
    }

    fn push_code(&mut self, text: &str) {
        let span = self.styled(text, self.theme.style("code"));
        self.spans.push(ProseSpan { span, is_whole: true });
    }

    fn styled(&self, text: &str, style: Style) -> Span<'static> {
        let base = self.styles.iter().fold(Style::default(), |all, one| all.patch(*one));
        // The parser makes characters of `&#27;` and `&diams;`.
        Span::styled(visible::decoded(text).into_owned(), base.patch(style))
    }

    /// The start of a block: ends the line, and leaves a blank one where blocks are apart.
    fn block(&mut self) {
        self.flush();
        if std::mem::take(&mut self.gap) && !self.lines.is_empty() && self.marker.is_none() {
            let quote = self.quote_marks();
            self.lines.push(Line::raw(quote.trim_end().to_string()));
        }
    }

    fn flush(&mut self) {
        self.flush_within(self.width);
    }

    fn flush_unbroken(&mut self) {
        self.flush_within(ProseWidth::unbroken(self.width.columns));
    }

    fn flush_within(&mut self, width: ProseWidth) {
        if self.spans.is_empty() {
            return;
        }
        let quote = self.quote_marks();
        let (first, further) = self.indent();
        let first = quote.clone() + &first;
        let first = if first.is_empty() { Vec::new() } else { vec![Span::raw(first)] };
        let indent = ProseIndent { first, further: quote + &further, ..ProseIndent::default() };
        self.lines.extend(prose::lines(indent, std::mem::take(&mut self.spans), width));
    }

    fn quote_marks(&self) -> String {
        "> ".repeat(self.quotes)
    }

    /// The indent of a list item's line, which has the marker the first time, and of what continues the line.
    fn indent(&mut self) -> (String, String) {
        let indents: Vec<usize> = self.lists.iter().map(|list| list.indent).collect();
        let further = " ".repeat(indents.iter().sum());
        let outer = indents.split_last().map_or(0, |(_, outer)| outer.iter().sum());
        match self.marker.take() {
            Some(marker) => (" ".repeat(outer) + &marker, further),
            None => (further.clone(), further),
        }
    }

    fn finish(mut self) -> Vec<Line<'static>> {
        self.flush();
        if let Some((language, code)) = self.code.take() {
            self.lines.extend(syntax::highlight(&code, &language, self.theme));
        }
        self.lines
    }
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
