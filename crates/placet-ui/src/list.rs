//! What lists on a full screen have in common: the selected row, the rows in sight, and how a row looks.

use super::colors::theme::Theme;
use super::keymap::Move;
use placet_text::text::width;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Rows of the screen that are not the list's: the title, a blank row and the row of keys.
const OTHER_ROWS: u16 = 3;
/// From this width on, the selected item is shown next to the list.
const WIDE: u16 = 100;
/// On a narrower screen it is shown below the list, from so many rows on.
const HIGH: u16 = 18;

#[derive(Debug, Default)]
pub struct ListCursor {
    pub selected: usize,
    pub top: usize,
    rows: usize,
}

impl ListCursor {
    /// The screen has so many rows now, and the list so many things.
    pub fn resize(&mut self, screen_rows: u16, count: usize) {
        self.resize_list(screen_rows.saturating_sub(OTHER_ROWS), count);
    }

    /// The list has so many rows now, and so many things.
    pub fn resize_list(&mut self, rows: u16, count: usize) {
        self.rows = usize::from(rows).max(1);
        self.select(self.selected, count);
    }

    pub fn go(&mut self, step: Move, count: usize) {
        self.select(step.row(self.selected, self.rows, count.saturating_sub(1)), count);
    }

    pub fn select(&mut self, at: usize, count: usize) {
        self.selected = at.min(count.saturating_sub(1));
        self.top = self.top.clamp((self.selected + 1).saturating_sub(self.rows.max(1)), self.selected);
    }
}

/// The places of the list and, where there is room next to it, of what is selected.
pub fn areas((columns, rows): (u16, u16)) -> (Rect, Option<Rect>) {
    let height = rows.saturating_sub(OTHER_ROWS);
    let list = |width| Rect::new(0, 2, width, height);
    match columns >= WIDE && rows >= 6 {
        true => (list(columns / 2), Some(Rect::new(columns / 2, 2, columns - columns / 2, height))),
        false => (list(columns), None),
    }
}

/// Where what is selected is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreviewArea {
    Beside(Rect),
    Below(Rect),
}

impl PreviewArea {
    /// Without the border.
    pub fn inside(self) -> Rect {
        match self {
            PreviewArea::Beside(area) => Rect { x: area.x + 2, width: area.width.saturating_sub(2), ..area },
            PreviewArea::Below(area) => Rect {
                x: area.x + 3,
                width: area.width.saturating_sub(3),
                y: area.y + 1,
                height: area.height.saturating_sub(1),
            },
        }
    }

    pub fn draw_border(self, buffer: &mut Buffer, theme: &Theme) {
        match self {
            PreviewArea::Beside(area) => drop(draw_border(buffer, area, theme)),
            PreviewArea::Below(area) => {
                let rule = "─".repeat(usize::from(area.width));
                buffer.set_stringn(area.x, area.y, rule, usize::from(area.width), theme.style("border"));
            }
        }
    }
}

/// The places of a list and of what is selected in it: next to the list, or below it on a narrow screen.
pub fn preview_areas((columns, rows): (u16, u16)) -> (Rect, Option<PreviewArea>) {
    match areas((columns, rows)) {
        (list, Some(beside)) => (list, Some(PreviewArea::Beside(beside))),
        (list, None) if rows >= HIGH && columns < WIDE => {
            let below = rows / 3;
            let list = Rect { height: list.height.saturating_sub(below), ..list };
            (list, Some(PreviewArea::Below(Rect { y: list.bottom(), height: below, ..list })))
        }
        (list, None) => (list, None),
    }
}

/// Draws the border of what is shown next to the list; returns the place for it.
pub fn draw_border(buffer: &mut Buffer, area: Rect, theme: &Theme) -> Rect {
    for y in area.y..area.bottom() {
        buffer.set_stringn(area.x, y, "│", 1, theme.style("border"));
    }
    Rect { x: area.x + 2, width: area.width.saturating_sub(2), ..area }
}

/// One item: a sign where it is selected, its mark, its text, and a note at the right edge.
pub fn draw_row(
    (buffer, theme): (&mut Buffer, &Theme),
    area: Rect,
    is_selected: bool,
    mark: Span<'static>,
    text: Vec<Span<'static>>,
    note: &str,
) {
    let base = if is_selected { theme.style("select") } else { Style::default() };
    buffer.set_style(area, base);
    let used = 1 + width::of(&mark.content) + text.iter().map(|span| width::of(&span.content)).sum::<usize>();
    let pad = usize::from(area.width).saturating_sub(used + width::of(note));
    let mut spans = vec![Span::styled(if is_selected { "❯" } else { " " }, theme.style("key")), mark];
    spans.extend(text);
    if !note.is_empty() {
        spans.push(Span::styled(format!("{}{note}", " ".repeat(pad)), theme.style("dim")));
    }
    spans.iter_mut().for_each(|span| {
        span.style = match is_selected && theme.select_is_reversed() {
            true => theme.selected(span.style),
            false => base.patch(span.style),
        };
    });
    buffer.set_line(area.x, area.y, &Line::from(spans), area.width);
}
