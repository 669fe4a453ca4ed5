//! The picture of the scratchpad list: names and sizes, the beginning of the scratchpad under the cursor, a line for
//! typed text or a question.

use super::{ScratchpadBrowser, ScratchpadBrowserAction, ScratchpadBrowserFocus, ScratchpadItem};
use crate::list;
use crate::pager::bar;
use placet_text::text::{sanitize, width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

impl ScratchpadBrowser {
    pub(super) fn draw_list(&self, buffer: &mut Buffer) -> Option<(u16, u16)> {
        let area = buffer.area;
        let count = self.pads.len();
        let title = Line::from(vec![
            Span::styled(" Scratchpads ", self.theme.style("title")),
            Span::styled(format!(" {count}"), self.theme.style("status")),
        ]);
        buffer.set_line(0, 0, &title, area.width);
        let (list, preview) = list::areas((area.width, area.height));
        for (row, (at, pad)) in list.rows().zip(self.pads.iter().enumerate().skip(self.cursor.top)) {
            self.draw_pad(buffer, row, pad, at == self.cursor.selected);
        }
        if self.pads.is_empty() && list.height > 0 {
            let words = "  no scratchpads";
            buffer.set_stringn(0, 2, words, usize::from(area.width), self.theme.style("hint"));
        }
        if let Some(preview) = preview {
            self.draw_head(buffer, preview);
        }
        if area.height > 2 { self.draw_foot(buffer) } else { None }
    }

    fn draw_pad(&self, buffer: &mut Buffer, area: Rect, pad: &ScratchpadItem, is_selected: bool) {
        let marked = self.marked.iter().position(|name| *name == pad.name);
        let mark = marked.map_or("  ".to_string(), |at| format!("{} ", at + 1));
        let mark = Span::styled(mark, self.theme.style("accepted"));
        let size = format!("{} bytes", pad.bytes);
        let room = usize::from(area.width).saturating_sub(3 + width::of(&size) + 2);
        let name = width::cut_middle(&sanitize::name(&pad.name), room);
        let name = vec![Span::styled(name, self.theme.style("text"))];
        list::draw_row((buffer, &self.theme), area, is_selected, mark, name, &size);
    }

    fn draw_head(&self, buffer: &mut Buffer, area: Rect) {
        let area = list::draw_border(buffer, area, &self.theme);
        let Some(pad) = self.current() else { return };
        let columns = usize::from(area.width);
        for (y, line) in (area.y..area.bottom()).zip(pad.head.lines()) {
            let text = sanitize::line(line);
            buffer.set_stringn(area.x, y, text, columns, self.theme.style("text"));
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
