//! A line of foreign text as cells of the screen: tabs to their stops, everything that could act or hide made visible,
//! styles laid over it by byte ranges.

use crate::text::sanitize::{Glyph, MARKS, glyph};
use crate::text::width;
use ratatui::style::Style;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// Columns between tab stops.
const TAB: usize = 4;

/// One cell, or two for a wide character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    pub text: String,
    pub width: usize,
    pub style: Style,
}

/// Whether blanks that are usually not seen are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blanks {
    Plain,
    Shown,
}

/// The cells of `text`; `style` gives each byte its style.
pub(super) fn cells(text: &str, style: impl Fn(usize) -> Style, blanks: Blanks) -> Vec<Cell> {
    let mut out = Vec::with_capacity(text.len());
    let mut column = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        let style = style(at);
        let before = out.len();
        push(&mut out, grapheme, column, style, blanks);
        column += out.get(before..).unwrap_or_default().iter().map(|c| c.width).sum::<usize>();
    }
    out
}

fn push(out: &mut Vec<Cell>, grapheme: &str, column: usize, style: Style, blanks: Blanks) {
    let mut one = |text: String| {
        let width = width::of_grapheme(&text).max(1);
        out.push(Cell { text, width, style });
    };
    if let [byte @ b' '..=b'~'] = grapheme.as_bytes() {
        let shown = if *byte == b' ' && blanks == Blanks::Shown { "·" } else { grapheme };
        return one(shown.to_string());
    }
    let plain = grapheme.chars().all(|c| matches!(glyph(c), Glyph::AsIs | Glyph::Mark));
    let marks = grapheme.chars().filter(|c| glyph(*c) == Glyph::Mark).count();
    if plain && marks <= MARKS && width::of_grapheme(grapheme) > 0 {
        return one(grapheme.to_string());
    }
    let mut marks = 0;
    for c in grapheme.chars() {
        match glyph(c) {
            Glyph::Tab => {
                let room = TAB - column % TAB;
                let lead = if blanks == Blanks::Shown { '→' } else { ' ' };
                one(lead.to_string());
                (1..room).for_each(|_| one(" ".into()));
            }
            Glyph::Picture(picture) => one(picture.to_string()),
            Glyph::Written => format!("<U+{:04X}>", c as u32).chars().for_each(|c| one(c.to_string())),
            Glyph::AsIs => one(c.to_string()),
            // A tower of marks would spill over the lines above it.
            Glyph::Mark => {
                marks += 1;
                if marks == 1 {
                    one('\u{fffd}'.to_string());
                }
            }
        }
    }
}

/// Cuts cells into rows of at most `columns`.
pub(super) fn wrap(cells: &[Cell], columns: usize) -> Vec<&[Cell]> {
    let columns = columns.max(2);
    let (mut rows, mut start, mut used) = (Vec::new(), 0, 0);
    for (at, cell) in cells.iter().enumerate() {
        if used + cell.width > columns {
            rows.push(cells.get(start..at).unwrap_or_default());
            (start, used) = (at, 0);
        }
        used += cell.width;
    }
    rows.push(cells.get(start..).unwrap_or_default());
    rows
}

/// The cells from the `left`th column on that fit into `columns`.
pub(super) fn window(cells: &[Cell], left: usize, columns: usize) -> &[Cell] {
    let (mut at, mut start) = (0, 0);
    for cell in cells {
        if at >= left {
            break;
        }
        at += cell.width;
        start += 1;
    }
    let mut used = 0;
    let rest = cells.get(start..).unwrap_or_default();
    let fit = rest.iter().take_while(|c| {
        used += c.width;
        used <= columns
    });
    let count = fit.count();
    rest.get(..count).unwrap_or_default()
}

/// Keeps what is near a change in a line that is longer than `longest`, and says how much is left out in between.
pub(super) fn shorten(text: &str, changes: &[Range<usize>], longest: usize) -> Option<Vec<Range<usize>>> {
    /// Bytes kept on both sides of a change.
    const NEAR: usize = 60;
    if text.len() <= longest || changes.is_empty() {
        return None;
    }
    let mut kept: Vec<Range<usize>> = Vec::new();
    for change in changes {
        let start = text.floor_char_boundary(change.start.saturating_sub(NEAR));
        let end = text.ceil_char_boundary((change.end + NEAR).min(text.len()));
        match kept.last_mut() {
            Some(last) if start <= last.end + 20 => last.end = last.end.max(end),
            _ => kept.push(start..end),
        }
    }
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str, blanks: Blanks) -> String {
        cells(text, |_| Style::default(), blanks).into_iter().map(|c| c.text).collect()
    }

    #[test]
    fn tabs_stand_at_their_stops_and_blanks_can_be_seen() {
        assert_eq!(shown("\ta\tb", Blanks::Plain), "    a   b");
        assert_eq!(shown("日\tb c", Blanks::Shown), "日→ b·c");
    }

    #[test]
    fn nothing_that_acts_or_hides_reaches_the_screen() {
        assert_eq!(shown("a\u{1b}[31mb\u{7}", Blanks::Plain), "a␛[31mb␇");
        assert_eq!(shown("x\u{202e}y\r", Blanks::Plain), "x<U+202E>y␍");
        assert_eq!(shown("\u{9b}2J", Blanks::Plain), "<U+009B>2J");
        let tower: String = std::iter::once('e').chain(std::iter::repeat_n('\u{301}', 100_000)).collect();
        assert_eq!(shown(&tower, Blanks::Plain), "e\u{fffd}");
        assert_eq!(shown("e\u{301} 👩\u{200d}👧", Blanks::Plain), "e\u{301} 👩\u{200d}👧");
    }

    proptest! {
        #[test]
        fn wrapped_rows_hold_every_cell_and_none_is_too_wide(text in "\\PC{0,60}", columns in 2usize..30) {
            let all = cells(&text, |_| Style::default(), Blanks::Plain);
            let rows = wrap(&all, columns);
            prop_assert_eq!(rows.concat(), all.clone());
            for row in rows {
                prop_assert!(row.iter().map(|c| c.width).sum::<usize>() <= columns);
            }
        }
    }
}
