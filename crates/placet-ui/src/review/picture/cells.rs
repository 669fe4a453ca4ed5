//! A line of foreign text as cells of the screen: tabs to their stops, everything that could act or hide made visible,
//! styles laid over it by byte ranges.

use placet_text::text::visible::{LineBreaks, VisibleMode, VisiblePiece, VisiblePieceKind, pieces};
use placet_text::text::width;
use ratatui::style::Style;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// One cell, or two for a wide character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StyledCell {
    pub text: String,
    pub width: usize,
    pub style: Style,
}

/// How much of a line's blanks is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::review) enum WhitespaceMode {
    /// Of a line that does not change: they look as they are.
    Plain,
    /// Of a changed line: blanks that look the same get a sign.
    Exact,
    /// Every one.
    Shown,
}

/// One cell of placet's own.
pub(in crate::review) fn cell(text: &str, style: Style) -> StyledCell {
    StyledCell { text: text.into(), width: width::of(text).max(1), style }
}

/// The cells of placet's own text, and of text that was rendered before.
pub(in crate::review) fn cells(text: &str, style: impl Fn(usize) -> Style) -> Vec<StyledCell> {
    cells_of(
        &pieces(text.as_bytes(), VisibleMode::Rendered, LineBreaks::Shown, &[]),
        &style,
        &style,
        WhitespaceMode::Plain,
    )
}

/// The cells of a line of a file. Look-alike letters within `alike` are written out; `sign` is the style of the signs
/// for characters that cannot be shown.
pub(in crate::review) fn content(
    text: &[u8],
    style: impl Fn(usize) -> Style,
    (blank, sign): (Style, Style),
    blanks: WhitespaceMode,
    alike: &[Range<usize>],
) -> Vec<StyledCell> {
    let manner = if blanks == WhitespaceMode::Plain { VisibleMode::Quiet } else { VisibleMode::Exact };
    let pieces = pieces(text, manner, LineBreaks::Shown, alike);
    let mut out = Vec::with_capacity(text.len());
    for piece in &pieces {
        let patch = if piece.kind == VisiblePieceKind::Sign { sign } else { blank };
        let signs = |at: usize| style(at).patch(patch);
        out.extend(cells_of(std::slice::from_ref(piece), &style, &signs, blanks));
    }
    out
}

fn cells_of(
    pieces: &[VisiblePiece],
    plain: &dyn Fn(usize) -> Style,
    sign: &dyn Fn(usize) -> Style,
    blanks: WhitespaceMode,
) -> Vec<StyledCell> {
    let mut out = Vec::new();
    for VisiblePiece { bytes, text, kind } in pieces {
        for (at, grapheme) in text.grapheme_indices(true) {
            let style = match kind {
                VisiblePieceKind::Plain => plain(bytes.start + at),
                VisiblePieceKind::Sign | VisiblePieceKind::Blank => sign(bytes.start),
            };
            let dot = grapheme == " " && *kind == VisiblePieceKind::Plain && blanks == WhitespaceMode::Shown;
            let text = if dot { "·" } else { grapheme };
            out.push(StyledCell { text: text.into(), width: width::of_grapheme(text).max(1), style });
        }
    }
    out
}

/// Columns that cells take together.
pub(in crate::review) fn width_of(cells: &[StyledCell]) -> usize {
    cells.iter().map(|c| c.width).sum()
}

/// Cuts cells into rows of at most `columns`.
pub(in crate::review) fn wrap(cells: &[StyledCell], columns: usize) -> Vec<&[StyledCell]> {
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

/// The same for prose: a row ends behind a blank where it has one.
pub(in crate::review) fn wrap_words(cells: &[StyledCell], columns: usize) -> Vec<&[StyledCell]> {
    let columns = columns.max(2);
    let (mut rows, mut start, mut used, mut word) = (Vec::new(), 0, 0, 0);
    for (at, cell) in cells.iter().enumerate() {
        if used + cell.width > columns {
            // A word that is wider than a row is cut; so is a row that only its indent could shorten.
            let is_text = |row: &[StyledCell]| row.iter().any(|cell| !cell.text.trim().is_empty());
            let fits = word > start && cells.get(start..word).is_some_and(is_text);
            let end = if fits { word } else { at };
            rows.push(cells.get(start..end).unwrap_or_default());
            start = end;
            used = cells.get(start..at).unwrap_or_default().iter().map(|cell| cell.width).sum();
        }
        used += cell.width;
        if cell.text.trim().is_empty() {
            word = at + 1;
        }
    }
    rows.push(cells.get(start..).unwrap_or_default());
    rows
}

/// The cells from the `left`th column on that fit into `columns`.
pub(in crate::review) fn window(cells: &[StyledCell], left: usize, columns: usize) -> &[StyledCell] {
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

/// What is near a change in a text that is longer than `longest`; `None` for a shorter one.
pub(in crate::review) fn shorten(
    text: &str,
    changes: &[Range<usize>],
    longest: usize,
) -> Option<Vec<Range<usize>>> {
    /// Bytes shown on both sides of a change.
    const NEAR: usize = 60;
    if text.len() <= longest {
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

/// A text up to the end of the last word that changed, where enough is unchanged behind that; `None` where all of it is
/// short.
pub(in crate::review) fn without_tail(
    text: &str,
    changes: &[Range<usize>],
    columns: usize,
) -> Option<Vec<Range<usize>>> {
    /// More than what is shown instead.
    const TAIL: usize = 30;
    let last = changes.last().filter(|_| text.len() > columns)?;
    let rest = text.get(last.end..)?;
    let end = last.end + rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(0);
    (text.len() - end > TAIL).then(|| std::iter::once(0..end).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str, blanks: WhitespaceMode) -> String {
        let plain = Style::default();
        content(text.as_bytes(), |_| plain, (plain, plain), blanks, &[]).into_iter().map(|c| c.text).collect()
    }

    #[test]
    fn tabs_stand_at_their_stops_and_blanks_can_be_seen() {
        assert_eq!(shown("\ta\tb ", WhitespaceMode::Plain), "    a   b ");
        assert_eq!(shown("\ta\tb c ", WhitespaceMode::Exact), "⇥   a⇥  b c␣");
        assert_eq!(shown("日\tb c", WhitespaceMode::Shown), "日⇥ b·c");
    }

    #[test]
    fn nothing_that_acts_or_hides_reaches_the_screen() {
        for blanks in [WhitespaceMode::Plain, WhitespaceMode::Exact] {
            assert_eq!(shown("a\u{1b}[31mb\u{7}", blanks), "a␛[31mb␇");
            assert_eq!(shown("x\u{202e}y\r", blanks), "x<U+202E>y⏎");
            assert_eq!(shown("\u{9b}2J", blanks), "<U+009B>2J");
            assert_eq!(shown("e\u{301} 👩\u{200d}👧", blanks), "e<U+0301> 👩<U+200D>👧");
        }
        let tower: String = std::iter::once('e').chain(std::iter::repeat_n('\u{301}', 100_000)).collect();
        assert_eq!(shown(&tower, WhitespaceMode::Plain), "e<U+0301 x100000>");
        assert_eq!(
            cells("a\u{1b} <U+200B>", |_| Style::default())
                .iter()
                .map(|c| c.text.as_str())
                .collect::<String>(),
            "a␛ <U+200B>"
        );
    }

    proptest! {
        #[test]
        fn wrapped_rows_hold_every_cell_and_none_is_too_wide(text in "\\PC{0,60}", columns in 2usize..30) {
            let all = cells(&text, |_| Style::default());
            for rows in [wrap(&all, columns), wrap_words(&all, columns)] {
                prop_assert_eq!(rows.concat(), all.clone());
                for row in rows {
                    prop_assert!(row.iter().map(|c| c.width).sum::<usize>() <= columns);
                }
            }
        }
    }
}
