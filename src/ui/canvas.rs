//! The full-screen painter: ratatui's buffers on the alternate screen, changed rows only, one write a frame.
//!
//! Every row is placed by itself and, after anything but ASCII, every column is set anew, so that a terminal with
//! another opinion of a character's width spoils no cell outside its own row.

use super::painter::{Sink, paint_row, row_differs};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub struct Canvas {
    sink: Sink,
    /// What the screen shows; another size after a resize, so that everything is drawn anew.
    shown: Buffer,
}

impl Canvas {
    pub fn new(sink: Sink) -> Canvas {
        Canvas { sink, shown: Buffer::empty(Rect::ZERO) }
    }

    /// The screen shows something else now: the next frame draws every row.
    pub fn forget(&mut self) {
        self.shown = Buffer::empty(Rect::ZERO);
    }

    /// Draws a frame of `size` columns and rows; `draw` returns where the cursor stands, if it is to be seen. `after` is
    /// written behind it: pictures, which are no cells.
    pub fn frame(
        &mut self,
        (columns, rows): (u16, u16),
        draw: impl FnOnce(&mut Buffer) -> Option<(u16, u16)>,
        after: &[u8],
    ) {
        let area = Rect::new(0, 0, columns.max(1), rows.max(1));
        let mut next = Buffer::empty(area);
        let cursor = draw(&mut next);
        let anew = self.shown.area != area;
        let mut out = String::new();
        if anew {
            out.push_str("\x1b[0m\x1b[2J");
        }
        for y in 0..area.height {
            if anew || row_differs(&self.shown, &next, y) {
                out.push_str(&format!("\x1b[{};1H", y + 1));
                paint_row(&mut out, &next, y);
            }
        }
        match cursor {
            Some((x, y)) => out.push_str(&format!("\x1b[{};{}H\x1b[?25h", y + 1, x + 1)),
            None => out.push_str("\x1b[?25l"),
        }
        let mut bytes = b"\x1b[?2026h\x1b[?25l".to_vec();
        bytes.extend_from_slice(out.as_bytes());
        bytes.extend_from_slice(after);
        bytes.extend_from_slice(b"\x1b[?2026l");
        (self.sink)(&bytes);
        self.shown = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Style;
    use std::sync::{Arc, Mutex};

    fn on_screen(frames: &[(&[&str], (u16, u16))]) -> (vt100::Parser, usize) {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&bytes);
        let mut canvas = Canvas::new(Box::new(move |b| sink.lock().unwrap().extend_from_slice(b)));
        let mut parser = vt100::Parser::new(4, 20, 0);
        let mut last = 0;
        for (rows, cursor) in frames {
            bytes.lock().unwrap().clear();
            canvas.frame(
                (20, 4),
                |buffer| {
                    for (y, row) in (0u16..).zip(*rows) {
                        buffer.set_stringn(0, y, row, 20, Style::default());
                    }
                    Some(*cursor)
                },
                b"",
            );
            let bytes = bytes.lock().unwrap();
            last = bytes.len();
            parser.process(&bytes);
        }
        (parser, last)
    }

    #[test]
    fn a_frame_shows_its_rows_and_the_next_one_writes_only_what_changed() {
        let one: (&[&str], _) = (&["hello", "日本語 tab", "x"], (3, 1));
        let (parser, first) = on_screen(&[one]);
        assert_eq!(parser.screen().contents(), "hello\n日本語 tab\nx");
        assert_eq!(parser.screen().cursor_position(), (1, 3));
        let (parser, second) = on_screen(&[one, (&["hello", "日本語 tab", "y"], (0, 0))]);
        assert_eq!(parser.screen().contents(), "hello\n日本語 tab\ny");
        assert!(second < first, "{second} bytes after {first}");
    }
}
