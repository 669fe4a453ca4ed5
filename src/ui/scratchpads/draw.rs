//! How the list of scratchpads looks: names and sizes, the beginning of the one under the cursor, a line for what is
//! typed or asked.

use super::{ScratchpadBrowser, ScratchpadBrowserAction, ScratchpadBrowserFocus, ScratchpadItem};
use crate::text::{sanitize, width};
use crate::ui::pager::bar;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// From this width on the beginning of a scratchpad stands beside the list.
const WIDE: u16 = 100;

impl ScratchpadBrowser {
    pub(super) fn draw_list(&self, buffer: &mut Buffer) -> Option<(u16, u16)> {
        let area = buffer.area;
        let count = self.pads.len();
        let title = Line::from(vec![
            Span::styled(" Scratchpads ", self.theme.style("title")),
            Span::styled(format!(" {count}"), self.theme.style("status")),
        ]);
        buffer.set_line(0, 0, &title, area.width);
        let has_head = area.width >= WIDE && area.height >= 6;
        let split = if has_head { area.width / 2 } else { area.width };
        let height = area.height.saturating_sub(3);
        for (y, (at, pad)) in (0..height).zip(self.pads.iter().enumerate().skip(self.top)) {
            self.draw_pad(buffer, y + 2, split, pad, at == self.selected);
        }
        if self.pads.is_empty() && height > 0 {
            let words = "  no scratchpads";
            buffer.set_stringn(0, 2, words, usize::from(area.width), self.theme.style("hint"));
        }
        if has_head {
            self.draw_head(buffer, Rect::new(split, 2, area.width - split, height));
        }
        if area.height > 2 { self.draw_foot(buffer) } else { None }
    }

    fn draw_pad(&self, buffer: &mut Buffer, y: u16, columns: u16, pad: &ScratchpadItem, is_selected: bool) {
        let base = if is_selected { self.theme.style("select") } else { Style::default() };
        buffer.set_style(Rect::new(0, y, columns, 1), base);
        let marked = self.marked.iter().position(|name| *name == pad.name);
        let mark = marked.map_or("  ".to_string(), |at| format!("{} ", at + 1));
        let size = format!("{} bytes", pad.bytes);
        let room = usize::from(columns).saturating_sub(3 + width::of(&size) + 2);
        let name = width::cut_middle(&sanitize::name(&pad.name), room);
        let pad = " ".repeat(room.saturating_sub(width::of(&name)) + 2);
        let spans = vec![
            Span::styled(if is_selected { "❯" } else { " " }, base.patch(self.theme.style("key"))),
            Span::styled(mark, base.patch(self.theme.style("accepted"))),
            Span::styled(name, base.patch(self.theme.style("text"))),
            Span::styled(format!("{pad}{size}"), base.patch(self.theme.style("dim"))),
        ];
        buffer.set_line(0, y, &Line::from(spans), columns);
    }

    fn draw_head(&self, buffer: &mut Buffer, area: Rect) {
        for y in area.y..area.bottom() {
            buffer.set_stringn(area.x, y, "│", 1, self.theme.style("border"));
        }
        let Some(pad) = self.current() else { return };
        let columns = usize::from(area.width.saturating_sub(2));
        for (y, line) in (area.y..area.bottom()).zip(pad.head.lines()) {
            let text = sanitize::line(line);
            buffer.set_stringn(area.x + 2, y, text, columns, self.theme.style("text"));
        }
    }

    /// The last row; the cursor where something is typed.
    fn draw_foot(&self, buffer: &mut Buffer) -> Option<(u16, u16)> {
        let y = buffer.area.height - 1;
        let name = self.current().map_or(String::new(), |pad| sanitize::name(&pad.name).into_owned());
        let (question, hint) = (self.theme.style("question"), self.theme.style("hint"));
        let key = |act| self.keys.key(act);
        let mut cursor = None;
        let left = match (&self.focus, &self.note) {
            (ScratchpadBrowserFocus::Path(path), _) => {
                let lead = format!(" file for `{name}`: ");
                let lead_wide = width::of(&lead);
                let (text, at) = path.view(usize::from(buffer.area.width).saturating_sub(lead_wide));
                cursor = u16::try_from(lead_wide + at).ok();
                Line::from(vec![Span::styled(lead, question), Span::styled(text, self.theme.style("strong"))])
            }
            (ScratchpadBrowserFocus::Delete, _) => {
                Line::styled(format!(" delete `{name}` permanently? y deletes it"), question)
            }
            (ScratchpadBrowserFocus::List, Some(note)) => {
                Line::styled(format!(" {}", sanitize::line(note)), self.theme.style("notice"))
            }
            (ScratchpadBrowserFocus::List, None) => Line::styled(
                format!(
                    " {} view  {} mark  {} diff  {} edit  {} delete  {} to a file  {} attach",
                    key(ScratchpadBrowserAction::View),
                    key(ScratchpadBrowserAction::Mark),
                    key(ScratchpadBrowserAction::Diff),
                    key(ScratchpadBrowserAction::Edit),
                    key(ScratchpadBrowserAction::Delete),
                    key(ScratchpadBrowserAction::Promote),
                    key(ScratchpadBrowserAction::Pin)
                ),
                hint,
            ),
        };
        let right = match self.focus {
            ScratchpadBrowserFocus::Path(_) => "Enter makes it pending  Esc back ".into(),
            ScratchpadBrowserFocus::Delete => String::new(),
            ScratchpadBrowserFocus::List => format!(
                "{} keys  {} close ",
                key(ScratchpadBrowserAction::Help),
                key(ScratchpadBrowserAction::Close)
            ),
        };
        bar(buffer, y, &self.theme, &left, &right);
        cursor.map(|x| (x.min(buffer.area.width.saturating_sub(1)), y))
    }
}
