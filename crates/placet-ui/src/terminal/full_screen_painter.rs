//! The full-screen painter: ratatui's buffers on the alternate screen, changed rows only, one write a frame.
//!
//! Every row is positioned by itself. After anything but ASCII, every column is set again: a terminal that disagrees
//! about the width of a character can spoil no cell outside its own row. Pictures lie over blank cells. They are sent
//! when they appear, move, or have some of their rows written again, and not with every frame.

use super::inline_painter::{PainterSink, paint_row, row_differs};
use crate::picture::PlacedPicture;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub struct FullScreenPainter {
    sink: PainterSink,
    /// What the screen shows. It has another size after a resize, which draws everything again.
    shown: Buffer,
    pictures: Vec<PlacedPicture>,
}

impl FullScreenPainter {
    pub fn new(sink: PainterSink) -> FullScreenPainter {
        FullScreenPainter { sink, shown: Buffer::empty(Rect::ZERO), pictures: Vec::new() }
    }

    /// The screen shows something else now: the next frame draws every row.
    pub fn forget(&mut self) {
        self.shown = Buffer::empty(Rect::ZERO);
    }

    /// Draws a frame of `size` columns and rows with `pictures` on it; `draw` returns the position of the cursor, if
    /// the cursor is visible.
    pub fn frame(
        &mut self,
        (columns, rows): (u16, u16),
        draw: impl FnOnce(&mut Buffer) -> Option<(u16, u16)>,
        pictures: Vec<PlacedPicture>,
    ) {
        let area = Rect::new(0, 0, columns.max(1), rows.max(1));
        let mut next = Buffer::empty(area);
        let cursor = draw(&mut next);
        let anew = self.shown.area != area;
        let mut out = b"\x1b[?2026h\x1b[?25l".to_vec();
        if anew {
            out.extend_from_slice(b"\x1b[0m\x1b[2J");
        }
        let gone: Vec<&PlacedPicture> =
            self.pictures.iter().filter(|p| anew || !pictures.contains(p)).collect();
        gone.iter().for_each(|picture| out.extend(picture.erase()));
        let uncovered = |y: u16| gone.iter().any(|picture| picture.covers(y));
        let painted: Vec<u16> = (0..area.height)
            .filter(|y| anew || row_differs(&self.shown, &next, *y) || uncovered(*y))
            .collect();
        for y in &painted {
            let mut row = format!("\x1b[{};1H", y + 1);
            paint_row(&mut row, &next, *y);
            out.extend_from_slice(row.as_bytes());
        }
        for picture in &pictures {
            let spoiled = !picture.dots.floats() && painted.iter().any(|y| picture.covers(*y));
            if anew || spoiled || !self.pictures.contains(picture) {
                out.extend(picture.show());
            }
        }
        match cursor {
            Some((x, y)) => {
                out.extend_from_slice(format!("\x1b[{};{}H\x1b[?25h", y + 1, x + 1).as_bytes());
            }
            None => out.extend_from_slice(b"\x1b[?25l"),
        }
        out.extend_from_slice(b"\x1b[?2026l");
        (self.sink)(&out);
        self.shown = next;
        self.pictures = pictures;
    }

    /// Removes the pictures from the screen: the terminal does not remove all of them when the screen changes.
    pub fn finish(&mut self) {
        let out: Vec<u8> = self.pictures.drain(..).flat_map(|picture| picture.erase()).collect();
        if !out.is_empty() {
            (self.sink)(&out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{PictureProtocol, TerminalPicture};
    use placet_media::Thumbnail;
    use ratatui::style::Style;
    use std::sync::{Arc, Mutex};

    fn on_screen(frames: &[(&[&str], (u16, u16))]) -> (vt100::Parser, usize) {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&bytes);
        let mut canvas = FullScreenPainter::new(Box::new(move |b| sink.lock().unwrap().extend_from_slice(b)));
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
                Vec::new(),
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

    /// What is written for a frame with these pictures, and the content of its second row.
    fn written(protocol: PictureProtocol, frames: &[(&str, Option<u16>)]) -> Vec<String> {
        let pixels = vec![[9, 9, 9]; 20 * 40];
        let thumb = Thumbnail { width: 20, height: 40, pixels, stored: (20, 40) };
        let dots = Arc::new(TerminalPicture::new(thumb, (10, 20), protocol));
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&bytes);
        let mut canvas = FullScreenPainter::new(Box::new(move |b| sink.lock().unwrap().extend_from_slice(b)));
        let mut out = Vec::new();
        for (row, at) in frames {
            let draw = |buffer: &mut Buffer| {
                buffer.set_stringn(0, 1, row, 20, Style::default());
                None
            };
            let place = |y| PlacedPicture::within(&dots, (5, usize::from(y)), 0, 6).unwrap();
            canvas.frame((20, 6), draw, at.map(place).into_iter().collect());
            out.push(String::from_utf8(std::mem::take(&mut *bytes.lock().unwrap())).unwrap());
        }
        canvas.finish();
        out.push(String::from_utf8(std::mem::take(&mut *bytes.lock().unwrap())).unwrap());
        out
    }

    #[test]
    fn a_picture_is_sent_when_it_comes_moves_or_is_written_over_and_not_with_every_frame() {
        let frames =
            [("a", Some(1)), ("a", Some(1)), ("b", Some(1)), ("b", Some(3)), ("b", None), ("b", None)];
        let count = |frame: &String, what: &str| frame.matches(what).count();
        let sixel = written(PictureProtocol::Sixel, &frames);
        let sent: Vec<usize> = sixel.iter().map(|frame| count(frame, "\x1bP0;1;0q")).collect();
        assert_eq!(sent, [1, 0, 1, 1, 0, 0, 0]);
        // When the picture moves, its old rows are written again: the second, the third, and no other row.
        assert!(
            sixel[3].contains("\x1b[2;1H")
                && sixel[3].contains("\x1b[3;1H")
                && !sixel[3].contains("\x1b[6;1H")
        );
        assert!(sixel[4].contains("\x1b[4;1H") && sixel[4].contains("\x1b[5;1H"));
        let kitty = written(PictureProtocol::Kitty, &frames);
        let sent: Vec<usize> = kitty.iter().map(|frame| count(frame, "a=T")).collect();
        assert_eq!(sent, [1, 0, 0, 1, 0, 0, 0], "kitty keeps it over its cells");
        let erased: Vec<usize> = kitty.iter().map(|frame| count(frame, "a=d")).collect();
        assert_eq!(erased, [0, 0, 0, 1, 1, 0, 0]);
    }

    #[test]
    fn what_is_still_on_the_screen_is_taken_off_at_the_end() {
        let kitty = written(PictureProtocol::Kitty, &[("a", Some(1))]);
        assert_eq!(kitty[1].matches("a=d,d=I").count(), 1);
    }
}
