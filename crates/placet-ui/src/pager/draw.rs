//! Rows of a text on the screen, the bar below them and the page of keys.

use super::scroll::{PagerViewport, WrapMode};
use super::search::marked;
use super::source::{PagerPosition, PagerSource, RowFocus};
use crate::Theme;
use placet_text::text::width;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

impl PagerViewport {
    /// Draws the visible rows into `area`, gutter included; `dim` marks lines that continue beyond the edge.
    pub fn draw<S: PagerSource + ?Sized>(&self, source: &S, theme: &Theme, buffer: &mut Buffer, area: Rect) {
        let area = area.intersection(buffer.area);
        let gutter = source.gutter_width().min(area.width);
        let layout = self.layout(source);
        let (mut y, mut at) = (0, self.top);
        while y < area.height && at.block < source.blocks() {
            let lines = source.lines(at.block);
            let Some(line) = lines.get(at.line) else { break };
            let line = marked(line.clone(), &self.search, theme.style("match"));
            for (row, text) in layout.rows(&line).into_iter().enumerate().skip(at.row) {
                if y >= area.height {
                    break;
                }
                let here = PagerPosition { row, ..at };
                let under = if here == self.cursor { RowFocus::Here } else { RowFocus::Elsewhere };
                let whole = Rect { y: area.y + y, height: 1, ..area };
                buffer.set_style(whole, source.row_style(at.block));
                buffer.set_line(area.x, whole.y, &source.gutter(here, under), gutter);
                let text = match self.wrap {
                    WrapMode::Rows => text,
                    WrapMode::Cut => self.window(text, usize::from(area.width - gutter), theme),
                };
                buffer.set_line(area.x + gutter, whole.y, &text, area.width - gutter);
                y += 1;
            }
            let end = PagerPosition { row: usize::MAX, ..at };
            match layout.down(end) {
                Some(next) => at = next,
                None => break,
            }
        }
    }

    /// The visible part of an unwrapped line, with a sign where the line continues.
    fn window(&self, line: Line<'static>, columns: usize, theme: &Theme) -> Line<'static> {
        let mut spans: Vec<Span<'static>> = Vec::new();
        let (mut column, mut used, mut more) = (0, 0, false);
        for span in &line.spans {
            let mut piece = String::new();
            for grapheme in span.content.graphemes(true) {
                let wide = width::of_grapheme(grapheme);
                column += wide;
                if column <= self.left {
                    continue;
                }
                if used + wide > columns {
                    more = true;
                    break;
                }
                used += wide;
                piece.push_str(grapheme);
            }
            spans.push(Span::styled(piece, line.style.patch(span.style)));
        }
        if more && columns > 1 {
            let mut kept = width_of_prefix(spans, columns - 1);
            kept.push(Span::styled("›", theme.style("dim")));
            spans = kept;
        }
        Line::from(spans)
    }
}

fn width_of_prefix(spans: Vec<Span<'static>>, columns: usize) -> Vec<Span<'static>> {
    let mut left = columns;
    let mut out = Vec::new();
    for span in spans {
        let cut = width::prefix(&span.content, left).to_string();
        left -= width::of(&cut).min(left);
        out.push(Span::styled(cut, span.style));
    }
    if left > 0 {
        out.push(Span::raw(" ".repeat(left)));
    }
    out
}

/// The row at the bottom: the state on the left, and on the right as many of the keys as there is room for. The last are
/// the most important: how to see the others, and how to leave.
pub fn bar(buffer: &mut Buffer, y: u16, theme: &Theme, left: &Line<'_>, right: &str) {
    let area = buffer.area;
    if y >= area.height {
        return;
    }
    let columns = usize::from(area.width);
    let used: usize = left.spans.iter().map(|s| width::of(&s.content)).sum();
    buffer.set_line(0, y, left, area.width);
    if used > columns {
        buffer.set_stringn(area.width.saturating_sub(1), y, "…", 1, theme.style("hint"));
    }
    let keys = right.trim_start();
    let shorter = keys.match_indices("  ").filter_map(|(at, gap)| keys.get(at + gap.len()..));
    let fits = |right: &&str| used + width::of(right) + 3 <= columns;
    if let Some(right) = std::iter::once(right).chain(shorter).find(fits) {
        let wide = width::of(right);
        let x = u16::try_from(columns - wide).unwrap_or(0);
        buffer.set_stringn(x, y, right, wide, theme.style("hint"));
    }
}
