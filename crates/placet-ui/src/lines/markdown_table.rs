//! A table of Markdown as lines that fit: columns with their cells broken at words, or a list where columns would be too
//! narrow. Nothing is cut, and no word is broken.

use super::prose::{self, ProseIndent, ProseSpan, ProseWidth};
use crate::colors::theme::Theme;
use placet_config::WrapSetting;
use placet_text::text::width;
use pulldown_cmark::Alignment;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Blanks between two columns.
const GAP: usize = 2;
/// A column in which cells are broken is not narrower: with fewer columns the rows become a list.
const LEAST_COLUMNS: usize = 8;

#[derive(Default)]
pub(crate) struct MarkdownTable {
    pub(crate) alignments: Vec<Alignment>,
    pub(crate) rows: Vec<Vec<Vec<ProseSpan>>>,
    pub(crate) header_rows: usize,
}

impl MarkdownTable {
    pub(crate) fn lines(&self, theme: &Theme, room: ProseWidth) -> Vec<Line<'static>> {
        match self.widths(room) {
            Some(widths) => self.in_columns(&widths, theme),
            None => self.as_list(theme, room),
        }
    }

    /// The width of each column; `None` where they do not fit next to each other.
    fn widths(&self, room: ProseWidth) -> Option<Vec<usize>> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let (mut least, mut whole) = (vec![0; count], vec![0; count]);
        for row in &self.rows {
            for ((least, whole), cell) in least.iter_mut().zip(&mut whole).zip(row) {
                let wide = cell.iter().map(|piece| width::of(&piece.span.content)).sum::<usize>();
                *whole = wide.max(*whole);
                *least = longest_word(cell).max(wide.min(LEAST_COLUMNS)).max(*least);
            }
        }
        let free = room.columns.checked_sub(GAP * count.saturating_sub(1))?;
        if whole.iter().sum::<usize>() <= free {
            return Some(whole);
        }
        // Who reads line by line, or lets the terminal break lines, gets lines that are whole.
        if room.wrap != WrapSetting::Words || least.iter().sum::<usize>() > free {
            return None;
        }
        let capped = |cap: usize| -> Vec<usize> {
            least.iter().zip(&whole).map(|(least, whole)| cap.clamp(*least, *whole)).collect()
        };
        // The wide columns give room first: the largest cap with which all of them fit.
        let cap = (0..=free).rev().find(|cap| capped(*cap).iter().sum::<usize>() <= free)?;
        Some(capped(cap))
    }

    fn in_columns(&self, widths: &[usize], theme: &Theme) -> Vec<Line<'static>> {
        let rows: Vec<Vec<Vec<Line<'static>>>> = self
            .rows
            .iter()
            .map(|row| {
                let cells = widths.iter().enumerate();
                cells.map(|(at, wide)| broken(row.get(at).cloned().unwrap_or_default(), *wide)).collect()
            })
            .collect();
        let is_broken = rows.iter().flatten().any(|cell| cell.len() > 1);
        let mut out = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            // Rows of several lines would run into each other.
            if is_broken && at > self.header_rows {
                out.push(Line::default());
            }
            let head = if at < self.header_rows { theme.style("strong") } else { Style::default() };
            let height = row.iter().map(Vec::len).max().unwrap_or(0);
            out.extend((0..height).map(|line| self.row_line(row, line, widths, head)));
            if at + 1 == self.header_rows {
                let rule: Vec<String> = widths.iter().map(|wide| "─".repeat(*wide)).collect();
                out.push(Line::styled(rule.join(&" ".repeat(GAP)), theme.style("rule")));
            }
        }
        out
    }

    /// One line of a row: the lines with this number of all its cells.
    fn row_line(
        &self,
        row: &[Vec<Line<'static>>],
        at: usize,
        widths: &[usize],
        head: Style,
    ) -> Line<'static> {
        let mut spans: Vec<Span<'static>> = Vec::new();
        for (column, (cell, wide)) in row.iter().zip(widths).enumerate() {
            let line = cell.get(at).cloned().unwrap_or_default();
            let used: usize = line.spans.iter().map(|span| width::of(&span.content)).sum();
            let room = wide.saturating_sub(used);
            let (before, after) = match self.alignments.get(column) {
                Some(Alignment::Right) => (room, 0),
                Some(Alignment::Center) => (room / 2, room - room / 2),
                _ => (0, room),
            };
            let after = if column + 1 == widths.len() { 0 } else { after + GAP };
            spans.push(Span::raw(" ".repeat(before)));
            spans.extend(line.spans.into_iter().map(|span| Span { style: span.style.patch(head), ..span }));
            spans.push(Span::raw(" ".repeat(after)));
        }
        spans.retain(|span| !span.content.is_empty());
        // A row that goes on in few of its columns has no blanks at its end, which would be copied.
        while spans.pop_if(|span| span.content.trim().is_empty()).is_some() {}
        Line::from(spans)
    }

    /// Each row as `header: value` lines.
    fn as_list(&self, theme: &Theme, room: ProseWidth) -> Vec<Line<'static>> {
        let header = self.rows.first().cloned().unwrap_or_default();
        let mut out = Vec::new();
        for (at, row) in self.rows.iter().skip(self.header_rows).enumerate() {
            if at > 0 {
                out.push(Line::default());
            }
            for (column, cell) in row.iter().enumerate() {
                let mut first: Vec<Span<'static>> = Vec::new();
                for piece in header.get(column).into_iter().flatten() {
                    first.push(Span::styled(piece.span.content.clone(), theme.style("strong")));
                }
                first.push(Span::raw(": "));
                let indent = ProseIndent { first, further: "  ".into(), ..ProseIndent::default() };
                out.extend(prose::lines(indent, cell.clone(), room));
            }
        }
        out
    }
}

fn broken(cell: Vec<ProseSpan>, columns: usize) -> Vec<Line<'static>> {
    prose::lines(ProseIndent::default(), cell, ProseWidth::new(columns, WrapSetting::Words))
}

/// Columns of what prose does not break.
fn longest_word(cell: &[ProseSpan]) -> usize {
    broken(cell.to_vec(), 1).iter().map(Line::width).max().unwrap_or(0)
}
