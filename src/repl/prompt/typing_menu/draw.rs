//! The rows of the menu as text for the terminal, below the line and back to its last row.

use super::layout::ScreenPlace;
use super::place::MenuKind;
use crate::text::{sanitize, visible, width};
use crate::ui::picker::{PickerItem, matched_letters};
use crate::ui::wrap::wrap;
use crate::ui::{Theme, ansi};
use nucleo_matcher::Matcher;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::fmt::Write as _;
use std::sync::Arc;

/// Rows at most, and at most in a window that is not twice as high: what was said above the line stays in view.
pub(super) const ROWS: usize = 12;
const ROWS_IN_LOW_WINDOW: usize = 8;
/// Columns before a name.
const LEAD: usize = 2;
/// Columns between a name and what it is.
const GAP: usize = 2;
/// A description that gets less room than this is not shown.
const NOTE: usize = 8;

/// Rows more that the description of the marked row may take.
const NOTE_ROWS: usize = 3;

/// What is drawn.
pub(super) struct MenuFrame<'m> {
    pub(super) kind: MenuKind,
    pub(super) query: &'m str,
    pub(super) rows: &'m [Arc<PickerItem>],
    /// How many there are, with those that are not listed.
    pub(super) total: usize,
    /// The marked row.
    pub(super) selected: Option<usize>,
    pub(super) top: usize,
}

/// How many things are listed, and whether a row says how many more there are.
pub(super) fn room(count: usize, total: usize, end: ScreenPlace, screen_rows: usize) -> (usize, bool) {
    let most = (screen_rows / 2).clamp(ROWS_IN_LOW_WINDOW, ROWS);
    let free = screen_rows.saturating_sub(end.row + 1).min(most);
    let has_more = (count > free || total > count) && free > 2;
    (count.min(if has_more { free - 1 } else { free }), has_more)
}

impl MenuFrame<'_> {
    /// Below the row in which the line ends. The cursor is in that row again afterwards; its column is rustyline's.
    pub(super) fn paint(
        &self,
        (theme, matcher): (&Theme, &mut Matcher),
        end: ScreenPlace,
        (columns, rows): (usize, usize),
    ) -> String {
        let (count, has_more) = room(self.rows.len(), self.total, end, rows);
        let listed: Vec<&Arc<PickerItem>> = self.rows.iter().skip(self.top).take(count).collect();
        let columns = columns.saturating_sub(1);
        let texts: Vec<String> = listed.iter().map(|item| sanitize::name(&item.text).into_owned()).collect();
        let has_notes = listed.iter().any(|item| !item.note.is_empty());
        let names = self.name_columns(&texts, columns, has_notes);
        let free = rows.saturating_sub(end.row + 1 + count + usize::from(has_more));
        let mut out = String::new();
        let mut down = 0;
        if end.is_wrapped() {
            out.push_str("\r\n");
            down += 1;
        }
        for (at, (item, text)) in listed.iter().zip(&texts).enumerate() {
            let is_selected = self.selected == Some(self.top + at);
            let note_rows = if is_selected { free.min(NOTE_ROWS) } else { 0 };
            let lines =
                self.row((theme, &mut *matcher), (item, text), (is_selected, note_rows), (names, columns));
            for line in lines {
                out.push_str("\r\n");
                out.push_str(&ansi::line(&line));
                down += 1;
            }
        }
        if has_more {
            let more = format!("  … {} more", self.total.max(self.rows.len()) - count);
            out.push_str("\r\n");
            out.push_str(&ansi::line(&Line::styled(width::cut(&more, columns), theme.style("dim"))));
            down += 1;
        }
        if down > 0 {
            let _ = write!(out, "\x1b[{down}A");
        }
        out
    }

    fn sign(&self) -> &'static str {
        if self.kind == MenuKind::Command { "/" } else { "" }
    }

    /// Columns of the names: as wide as the widest, but a description keeps some room.
    fn name_columns(&self, texts: &[String], columns: usize, has_notes: bool) -> usize {
        let room = columns.saturating_sub(LEAD);
        let widest = texts.iter().map(|text| width::of(text) + self.sign().len()).max().unwrap_or(0);
        let most = if has_notes { room * 2 / 3 } else { room };
        widest.min(most)
    }

    /// A name and its description. Of the marked row the description goes on in up to `note_rows` rows below; of the others
    /// it is cut.
    fn row(
        &self,
        (theme, matcher): (&Theme, &mut Matcher),
        (item, text): (&PickerItem, &str),
        (is_selected, note_rows): (bool, usize),
        (names, columns): (usize, usize),
    ) -> Vec<Line<'static>> {
        let base = if is_selected { theme.style("select") } else { Style::default() };
        let name = width::cut_middle(text, names.saturating_sub(self.sign().len()));
        let mut spans = vec![
            Span::styled(if is_selected { "❯ " } else { "  " }, theme.style("key")),
            Span::styled(self.sign(), theme.style("text")),
        ];
        let used = LEAD + self.sign().len() + width::of(&name);
        spans.extend(matched_letters(&name, self.query, theme, matcher));
        // In reverse a dim text is a block of another colour within the row.
        let style = if is_selected { theme.style("text") } else { theme.style("dim") };
        let note = visible::guard_line(&item.note).into_owned();
        let is_beside = columns >= LEAD + names + GAP + NOTE;
        let note_at = if is_beside { LEAD + names + GAP } else { LEAD + GAP };
        let mut notes =
            note_pieces(&note, (columns.saturating_sub(note_at), note_rows + usize::from(is_beside)));
        if is_beside && !notes.is_empty() {
            let pad = " ".repeat(note_at.saturating_sub(used));
            spans.push(Span::styled(format!("{pad}{}", notes.remove(0)), style));
        }
        let below = notes.into_iter().map(|note| vec![Span::styled(" ".repeat(note_at) + &note, style)]);
        let finished = |mut spans: Vec<Span<'static>>| {
            if is_selected {
                let used: usize = spans.iter().map(Span::width).sum();
                spans.push(Span::raw(" ".repeat(columns.saturating_sub(used))));
            }
            spans.iter_mut().for_each(|span| span.style = base.patch(span.style));
            Line::from(spans)
        };
        std::iter::once(spans).chain(below).map(finished).collect()
    }
}

/// A description in at most `rows` rows of `columns`, broken at words; what does not fit is cut.
fn note_pieces(note: &str, (columns, rows): (usize, usize)) -> Vec<String> {
    if note.is_empty() || rows == 0 {
        return Vec::new();
    }
    if rows == 1 {
        return vec![width::cut(note, columns)];
    }
    let mut pieces: Vec<String> = wrap(&Line::raw(note.to_string()), columns)
        .iter()
        .map(|row| row.to_string().trim_end().into())
        .collect();
    if pieces.len() > rows {
        let rest = pieces.split_off(rows - 1).join(" ");
        pieces.push(width::cut(&rest, columns));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame<'m>(rows: &'m [Arc<PickerItem>], query: &'m str) -> MenuFrame<'m> {
        MenuFrame { kind: MenuKind::Command, query, rows, total: rows.len(), selected: Some(1), top: 0 }
    }

    fn items(items: &[(&str, &str)]) -> Vec<Arc<PickerItem>> {
        items.iter().map(|(text, note)| Arc::new(PickerItem::new(*text, *note))).collect()
    }

    #[test]
    fn names_and_descriptions_are_columns_and_the_cursor_returns_to_the_line() {
        let rows = items(&[("mode", "show or change the mode"), ("model", "show or change the model")]);
        let end = ScreenPlace { row: 0, column: 9 };
        let drawn = frame(&rows, "").paint((&Theme::plain(), &mut Matcher::default()), end, (80, 24));
        let pad = " ".repeat(79 - 34);
        let wide = format!(
            "\r\n  /mode   show or change the mode\r\n❯ /model  show or change the model{pad}\x1b[2A"
        );
        assert_eq!(drawn, wide);
        let narrow = frame(&rows, "").paint((&Theme::plain(), &mut Matcher::default()), end, (20, 24));
        let rows: Vec<&str> = narrow.split("\r\n").skip(1).collect();
        let first = ["  /mode   show or …", "❯ /model  show or  ", "          change   "];
        assert_eq!(rows[..3], first);
        assert_eq!(rows[3], "          the model\x1b[4A");
    }

    /// Story: at 40 columns nearly every description was cut, and nobody could read what the marked command does.
    #[test]
    fn the_description_of_the_marked_row_is_shown_whole_where_there_is_room() {
        let rows = items(&[("long-name-of-a-command", ""), ("compact", "summarizes the beginning of it")]);
        let drawn = |height| {
            let end = ScreenPlace { row: 0, column: 9 };
            let drawn = frame(&rows, "").paint((&Theme::plain(), &mut Matcher::default()), end, (25, height));
            drawn.split("\r\n").skip(1).map(|row| row.trim_end().to_string()).collect::<Vec<_>>()
        };
        let below = |height| {
            let rows = drawn(height);
            assert!(rows[0].starts_with("  /long"), "{rows:?}");
            rows[1..].to_vec()
        };
        assert_eq!(below(24), ["❯ /compact", "    summarizes the", "    beginning of it     \x1b[4A"]);
        assert_eq!(below(4), ["❯ /compact", "    summarizes the begi…\x1b[3A"]);
        assert_eq!(below(3), ["❯ /compact              \x1b[2A"]);
    }

    #[test]
    fn a_menu_is_as_high_as_the_room_below_the_line() {
        let end = |row| ScreenPlace { row, column: 5 };
        assert_eq!(room(52, 52, end(0), 24), (11, true));
        assert_eq!(room(12, 12, end(0), 24), (12, false));
        assert_eq!(room(52, 52, end(0), 50), (11, true));
        assert_eq!(room(52, 52, end(0), 20), (9, true));
        assert_eq!(room(52, 52, end(0), 12), (7, true));
        assert_eq!(room(52, 52, end(0), 5), (3, true));
        assert_eq!(room(52, 52, end(22), 24), (1, false));
        assert_eq!(room(52, 52, end(23), 24), (0, false));
        assert_eq!(room(5, 900, end(0), 24), (5, true));
    }

    #[test]
    fn a_hostile_name_stays_in_its_row() {
        let rows = items(&[("a\x1b[2J\u{202e}b\nc", "pending"), (&"long/".repeat(100), "")]);
        let drawn = frame(&rows, "").paint(
            (&Theme::plain(), &mut Matcher::default()),
            ScreenPlace::default(),
            (40, 24),
        );
        let lines: Vec<&str> = drawn.split("\r\n").skip(1).collect();
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| width::of(line.trim_end_matches("\x1b[2A")) <= 39), "{lines:?}");
        assert_eq!(drawn.matches('\x1b').count(), 1);
        assert!(!drawn.contains('\u{202e}'));
    }
}
