//! The rows a line takes at a width, and the way from each row to the next.

use super::source::{PagerPosition, PagerSource};
use crate::lines::margin_mark;
use crate::lines::wrap::wrap;
use placet_text::text::width;
use ratatui::text::{Line, Span};

/// The signs at the beginning of a line of placet's own: the mark, and what is in columns of its own behind it.
fn signs(line: &Line<'static>) -> usize {
    let is_own = line.spans.first().is_some_and(|span| span.content == margin_mark::LEAD);
    let is_sign = |span: &&Span<'_>| span.content.ends_with(' ') && width::of(&span.content) == SIGN;
    line.spans.iter().take_while(is_sign).take(if is_own { usize::MAX } else { 0 }).count()
}

/// Columns of a sign and the blank behind it.
const SIGN: usize = 2;

/// The rows of a line, all of them as far in as the line itself is, or as the words behind its signs.
fn hanging(line: &Line<'static>, columns: usize) -> Vec<Line<'static>> {
    let signs = signs(line);
    if signs > 0 && signs * SIGN <= columns / 2 {
        let (own, words) = line.spans.split_at(signs);
        let mut rows = wrap(&Line { spans: words.to_vec(), ..line.clone() }, columns - signs * SIGN);
        for (at, row) in rows.iter_mut().enumerate() {
            let lead = if at == 0 { own.to_vec() } else { vec![Span::raw(" ".repeat(signs * SIGN))] };
            row.spans.splice(..0, lead);
        }
        return rows;
    }
    let blanks = |text: &str| text.len() - text.trim_start_matches(' ').len();
    let mut indent = 0;
    for span in &line.spans {
        indent += blanks(&span.content);
        if blanks(&span.content) < span.content.len() {
            break;
        }
    }
    let wide: usize = line.spans.iter().map(|span| width::of(&span.content)).sum();
    if indent == 0 || indent > columns / 2 || wide <= columns {
        return wrap(line, columns);
    }
    let mut rest = indent;
    let mut inner = line.clone();
    for span in &mut inner.spans {
        let cut = blanks(&span.content).min(rest);
        rest -= cut;
        span.content = span.content.get(cut..).unwrap_or("").to_string().into();
    }
    let lead = " ".repeat(indent);
    let mut rows = wrap(&inner, columns - indent);
    rows.iter_mut().for_each(|row| row.spans.insert(0, Span::raw(lead.clone())));
    rows
}

/// How lines become rows: `None` leaves them whole.
#[derive(Clone, Copy)]
pub(super) struct PagerLayout<'s, S: ?Sized> {
    pub(super) source: &'s S,
    pub(super) columns: Option<usize>,
}

impl<S: PagerSource + ?Sized> PagerLayout<'_, S> {
    pub(super) fn rows(&self, line: &Line<'static>) -> Vec<Line<'static>> {
        match self.columns {
            Some(columns) => hanging(line, columns),
            None => vec![line.clone()],
        }
    }

    fn row_count(&self, block: usize, line: usize) -> usize {
        match (self.columns, self.source.lines(block).get(line)) {
            (Some(_), Some(line)) => self.rows(line).len().max(1),
            _ => 1,
        }
    }

    fn line_count(&self, block: usize) -> usize {
        self.source.lines(block).len()
    }

    /// The nearest place that is there.
    pub(super) fn clamp(&self, at: PagerPosition) -> PagerPosition {
        let blocks = self.source.blocks();
        if at.block >= blocks {
            return self.last();
        }
        match self.line_count(at.block) {
            0 => self.down(at).or_else(|| self.up(at)).unwrap_or_default(),
            lines if at.line >= lines => {
                let line = lines - 1;
                PagerPosition { block: at.block, line, row: self.row_count(at.block, line) - 1 }
            }
            _ => PagerPosition { row: at.row.min(self.row_count(at.block, at.line) - 1), ..at },
        }
    }

    pub(super) fn first(&self) -> PagerPosition {
        self.clamp(PagerPosition::default())
    }

    pub(super) fn last(&self) -> PagerPosition {
        for block in (0..self.source.blocks()).rev() {
            if let Some(line) = self.line_count(block).checked_sub(1) {
                return PagerPosition { block, line, row: self.row_count(block, line) - 1 };
            }
        }
        PagerPosition::default()
    }

    /// The row below.
    pub(super) fn down(&self, at: PagerPosition) -> Option<PagerPosition> {
        if at.row < usize::MAX && at.row + 1 < self.row_count(at.block, at.line) {
            return Some(PagerPosition { row: at.row + 1, ..at });
        }
        if at.line + 1 < self.line_count(at.block) {
            return Some(PagerPosition::of(at.block, at.line + 1));
        }
        let block = (at.block + 1..self.source.blocks()).find(|block| self.line_count(*block) > 0)?;
        Some(PagerPosition::of(block, 0))
    }

    /// The row above.
    pub(super) fn up(&self, at: PagerPosition) -> Option<PagerPosition> {
        if at.row > 0 {
            return Some(PagerPosition { row: at.row - 1, ..at });
        }
        let (block, line) = match at.line.checked_sub(1) {
            Some(line) => (at.block, line),
            None => {
                let block = (0..at.block).rev().find(|block| self.line_count(*block) > 0)?;
                (block, self.line_count(block) - 1)
            }
        };
        Some(PagerPosition { block, line, row: self.row_count(block, line) - 1 })
    }

    /// At most `rows` rows from a place on, down or up.
    pub(super) fn down_by(&self, at: PagerPosition, rows: usize) -> PagerPosition {
        (0..rows).try_fold(at, |at, _| self.down(at).ok_or(at)).unwrap_or_else(|end| end)
    }

    pub(super) fn up_by(&self, at: PagerPosition, rows: usize) -> PagerPosition {
        (0..rows).try_fold(at, |at, _| self.up(at).ok_or(at)).unwrap_or_else(|end| end)
    }

    /// True when `to` lies fewer than `rows` rows below `from`, or at it.
    pub(super) fn within(&self, from: PagerPosition, to: PagerPosition, rows: usize) -> bool {
        if to < from {
            return false;
        }
        let mut at = from;
        for _ in 0..rows {
            if at >= to {
                return true;
            }
            match self.down(at) {
                Some(next) => at = next,
                None => return false,
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Story: in 40 columns the head of a long call of the transcript continued at the margin, below the marks.
    #[test]
    fn a_line_of_placets_own_continues_below_the_words_behind_its_signs() {
        let line =
            |spans: &[&str]| Line::from(spans.iter().map(|s| Span::raw(s.to_string())).collect::<Vec<_>>());
        let rows =
            |spans: &[&str]| hanging(&line(spans), 20).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            rows(&[margin_mark::LEAD, "▸ ", "✓ ", "run_command cargo test --all", "  9 lines"]),
            ["◆ ▸ ✓ run_command ", "      cargo test ", "      --all  9 lines"]
        );
        assert_eq!(rows(&[margin_mark::LEAD, "▾ ", "you", "  turn 1"]), ["◆ ▾ you  turn 1"]);
        // Others' text has no signs.
        assert_eq!(rows(&["  ", "▸ ", "one two three four"]), ["  ▸ one two three ", "  four"]);
    }
}
