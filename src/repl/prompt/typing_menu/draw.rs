//! The rows of the menu as text for the terminal, below the line and back to its last row.

use super::layout::ScreenPlace;
use super::place::MenuKind;
use crate::text::{sanitize, visible, width};
use crate::ui::picker::{PickerItem, matched_letters};
use crate::ui::{Theme, ansi};
use nucleo_matcher::Matcher;
use ratatui::text::{Line, Span};
use std::fmt::Write as _;
use std::sync::Arc;

/// Rows at most.
pub(super) const ROWS: usize = 8;
/// Columns before a name.
const LEAD: usize = 2;
/// Columns between a name and what it is.
const GAP: usize = 2;
/// A description that gets less room than this is not shown.
const NOTE: usize = 8;

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
    let free = screen_rows.saturating_sub(end.row + 1).min(ROWS);
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
        let mut out = String::new();
        let mut down = 0;
        if end.is_wrapped() {
            out.push_str("\r\n");
            down += 1;
        }
        for (at, (item, text)) in listed.iter().zip(&texts).enumerate() {
            let is_selected = self.selected == Some(self.top + at);
            let line = self.row((theme, &mut *matcher), (item, text), is_selected, (names, columns));
            out.push_str("\r\n");
            out.push_str(&ansi::line(&line));
            down += 1;
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

    fn row(
        &self,
        (theme, matcher): (&Theme, &mut Matcher),
        (item, text): (&PickerItem, &str),
        is_selected: bool,
        (names, columns): (usize, usize),
    ) -> Line<'static> {
        let base = if is_selected { theme.style("select") } else { ratatui::style::Style::default() };
        let name = width::cut_middle(text, names.saturating_sub(self.sign().len()));
        let mut spans = vec![
            Span::styled(if is_selected { "❯ " } else { "  " }, theme.style("key")),
            Span::styled(self.sign(), theme.style("text")),
        ];
        let mut used = LEAD + self.sign().len() + width::of(&name);
        spans.extend(matched_letters(&name, self.query, theme, matcher));
        let note_at = LEAD + names + GAP;
        let note = visible::guard_line(&item.note).into_owned();
        if !note.is_empty() && columns >= note_at + NOTE {
            let note = width::cut(&note, columns - note_at);
            let pad = " ".repeat(note_at.saturating_sub(used));
            used = used.max(note_at) + width::of(&note);
            // In reverse a dim text is a block of another colour within the row.
            let style = if is_selected { theme.style("text") } else { theme.style("dim") };
            spans.push(Span::styled(format!("{pad}{note}"), style));
        }
        if is_selected {
            spans.push(Span::raw(" ".repeat(columns.saturating_sub(used))));
        }
        spans.iter_mut().for_each(|span| span.style = base.patch(span.style));
        Line::from(spans)
    }
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
        assert_eq!(narrow, "\r\n  /mode   show or …\r\n❯ /model  show or …\x1b[2A");
    }

    #[test]
    fn a_menu_is_as_high_as_the_room_below_the_line() {
        let end = |row| ScreenPlace { row, column: 5 };
        assert_eq!(room(52, 52, end(0), 24), (7, true));
        assert_eq!(room(8, 8, end(0), 24), (8, false));
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
