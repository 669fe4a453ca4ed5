use super::*;
use ratatui::style::Style;
use std::sync::{Arc, Mutex};

struct PainterTestScreen {
    painter: InlinePainter,
    bytes: Arc<Mutex<Vec<u8>>>,
    parser: vt100::Parser,
    size: (u16, u16),
}

impl PainterTestScreen {
    fn new(width: u16, rows: u16) -> PainterTestScreen {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&bytes);
        let painter =
            InlinePainter::new(Box::new(move |b| sink.lock().unwrap().extend_from_slice(b)), (width, rows));
        PainterTestScreen {
            painter,
            bytes,
            parser: vt100::Parser::new(rows, width, 1000),
            size: (width, rows),
        }
    }

    fn frame(&mut self, now: Instant, lines: &[&str]) -> usize {
        let height = u16::try_from(lines.len()).unwrap();
        self.painter.frame(now, self.size, height, |buffer, area| {
            for (y, line) in (0..area.height).zip(lines) {
                buffer.set_string(0, y, line, Style::default());
            }
            Some((2, area.height.saturating_sub(1)))
        });
        let bytes = std::mem::take(&mut *self.bytes.lock().unwrap());
        self.parser.process(&bytes);
        bytes.len()
    }

    fn text(&self) -> Vec<String> {
        let text = self.parser.screen().contents();
        text.lines().map(|l| l.trim_end().to_string()).collect()
    }
}

/// Story: a draft in Chinese could not be seen while it was typed; its last character was erased with the rest of the row.
#[test]
fn a_wide_character_at_the_end_of_a_row_is_not_erased() {
    let mut screen = PainterTestScreen::new(10, 4);
    let now = Instant::now();
    for line in ["> 日", "> 日本語日", "> 日x", "> 👩"] {
        screen.frame(now, &[line]);
        assert_eq!(screen.text(), [line]);
    }
}

#[test]
fn finished_lines_stand_above_the_pane_once_and_in_order() {
    let mut screen = PainterTestScreen::new(20, 6);
    let now = Instant::now();
    for n in 0..50 {
        screen.painter.insert(&format!("line {n}\n"));
        screen.frame(now, &["pane", "> "]);
    }
    assert_eq!(screen.text(), ["line 46", "line 47", "line 48", "line 49", "pane", ">"]);
    assert_eq!(screen.parser.screen().cursor_position(), (5, 2));
    screen.painter.finish();
    let bytes = std::mem::take(&mut *screen.bytes.lock().unwrap());
    screen.parser.process(&bytes);
    assert_eq!(screen.text(), ["line 46", "line 47", "line 48", "line 49"]);
}

#[test]
fn an_unchanged_frame_writes_nothing_and_a_changed_cell_only_its_row() {
    let mut screen = PainterTestScreen::new(40, 10);
    let now = Instant::now();
    screen.frame(now, &["first row of the pane", "second", "> "]);
    assert_eq!(screen.frame(now, &["first row of the pane", "second", "> "]), 0);
    let bytes = screen.frame(now, &["first row of the pane", "sEcond", "> "]);
    assert!(bytes > 0 && bytes < 110, "{bytes}");
    assert_eq!(screen.text(), ["first row of the pane", "sEcond", ">"]);
}

#[test]
fn the_pane_grows_and_shrinks_without_leaving_rows_behind() {
    let mut screen = PainterTestScreen::new(20, 8);
    let now = Instant::now();
    screen.painter.insert("above\n");
    for lines in [&["a"][..], &["a", "b", "c", "d", "e"], &["x", "y"], &["1", "2", "3"], &["z"]] {
        screen.frame(now, lines);
        let mut expected = vec!["above".to_string()];
        expected.extend(lines.iter().map(|l| (*l).to_string()));
        assert_eq!(screen.text(), expected);
    }
}

#[test]
fn nothing_is_drawn_until_a_resize_has_settled() {
    let mut screen = PainterTestScreen::new(30, 8);
    let now = Instant::now();
    screen.painter.insert("kept\n");
    screen.frame(now, &["a pane that is thirty columns!", "> "]);
    screen.painter.resized(now);
    screen.size = (12, 8);
    assert_eq!(screen.frame(now + Duration::from_millis(20), &["new"]), 0);
    assert!(screen.frame(now + Duration::from_millis(90), &["new"]) > 0);
}

#[test]
fn sizes_that_never_settle_are_drawn_ten_times_a_second() {
    let mut screen = PainterTestScreen::new(30, 8);
    let start = Instant::now();
    screen.frame(start, &["a pane"]);
    let mut drawn = 0;
    for step in 1..=200u32 {
        let now = start + Duration::from_millis(6) * step;
        screen.painter.resized(now);
        screen.size = (30 + u16::try_from(step % 7).unwrap(), 8);
        if screen.painter.is_settled(now) && screen.frame(now, &["a pane"]) > 0 {
            drawn += 1;
        }
    }
    assert!((8..=13).contains(&drawn), "{drawn} frames in 1.2 seconds");
}

#[test]
fn wide_characters_keep_the_columns_behind_them() {
    let mut screen = PainterTestScreen::new(20, 4);
    screen.frame(Instant::now(), &["日本 x", "👩\u{200d}👧 y"]);
    let bytes = screen.parser.screen().contents();
    assert!(bytes.contains("日本 x"), "{bytes}");
    let screen = screen.parser.screen();
    assert_eq!(screen.cell(0, 5).unwrap().contents(), "x");
    assert_eq!(screen.cell(1, 3).unwrap().contents(), "y");
}

#[test]
fn a_terminal_of_one_cell_is_no_reason_to_fall_over() {
    for size in [(1, 1), (1, 5), (5, 1), (0, 0)] {
        // Not through the emulator, which cannot be that small itself.
        let mut painter = InlinePainter::new(Box::new(|_| {}), size);
        painter.insert("a long line\n");
        for height in [1, 3, 0] {
            painter.frame(Instant::now(), size, height, |buffer, area| {
                if area.height > 0 {
                    buffer.set_string(0, 0, "one", Style::default());
                }
                None
            });
        }
        painter.finish();
    }
}

#[test]
fn a_row_that_fills_the_width_keeps_its_last_character() {
    let area = Rect::new(0, 0, 6, 1);
    let mut buffer = Buffer::empty(area);
    buffer.set_stringn(0, 0, "abcdef", 6, Style::default());
    let mut out = String::new();
    paint_row(&mut out, &buffer, 0);
    let mut parser = vt100::Parser::new(2, 6, 0);
    parser.process(out.as_bytes());
    assert_eq!(parser.screen().contents(), "abcdef");
    assert!(!out.contains("\x1b[K"), "{out:?}");
}

/// Story: in tmux each resize with a question open left the whole question in the scrollback. Erased from its first cell on,
/// tmux moves the screen there; erased from the second column on, it does not.
#[test]
fn the_screen_is_never_erased_from_its_first_cell() {
    let mut screen = PainterTestScreen::new(20, 4);
    let now = Instant::now();
    screen.frame(now, &["a", "b", "c", "d"]);
    screen.painter.insert("line\n");
    screen.painter.frame(now, screen.size, 1, |buffer, _| {
        buffer.set_string(0, 0, "e", Style::default());
        None
    });
    screen.painter.finish();
    let bytes = std::mem::take(&mut *screen.bytes.lock().unwrap());
    let text = String::from_utf8(bytes.clone()).unwrap();
    let erased: Vec<usize> = text.match_indices("\x1b[J").map(|(at, _)| at).collect();
    assert!(erased.len() >= 2, "{text:?}");
    assert!(erased.iter().all(|at| text[..*at].ends_with("\x1b[C")), "{text:?}");
    screen.parser.process(&bytes);
    assert_eq!(screen.text(), ["line"]);
}

/// Story: in xterm, which cuts rows off where others wrap them, a narrower window lost the agent's answer above the pane.
#[test]
fn a_narrower_window_that_cuts_rows_off_loses_nothing_above_the_pane() {
    let mut screen = PainterTestScreen::new(30, 12);
    screen.painter = screen.painter.with_kept_rows(true);
    let mut now = Instant::now();
    let answer = ["Traceback", "The tax is 21 % now.", "Shall I correct it?"];
    screen.painter.insert(&format!("{}\n", answer.join("\n")));
    let pane = ["a row of twenty-eight columns", "another of twenty-eight more", "a apply all"];
    screen.frame(now, &pane);
    for width in [20, 12, 30] {
        // Far enough apart that these are no storm, in which fewer rows are erased anyhow.
        now += Duration::from_secs(2);
        screen.parser.screen_mut().set_size(12, width);
        screen.size = (width, 12);
        screen.painter.resized(now);
        let all: Vec<String> = pane.iter().map(|row| row.chars().take(width.into()).collect()).collect();
        screen.frame(now + Duration::from_millis(90), &all.iter().map(String::as_str).collect::<Vec<_>>());
        let cut = |row: &str| row.chars().take(width.into()).collect::<String>().trim_end().to_string();
        let shown: Vec<String> = screen.text().iter().map(|row| cut(row)).collect();
        let expected: Vec<String> = answer.iter().chain(&pane).map(|row| cut(row)).collect();
        // What the emulator has cut off does not come back, and so only beginnings are compared.
        assert_eq!(shown.len(), expected.len(), "{shown:?}");
        assert!(
            shown.iter().zip(&expected).all(|(a, b)| b.starts_with(a.as_str()) && !a.is_empty()),
            "{shown:?}"
        );
    }
}

/// Story: after 80x24, 40x12 and 80x24 again in tmux the rows of an old question were above the pane for good.
#[test]
fn rows_that_a_lower_window_pushed_above_the_screen_are_erased_where_they_come_back() {
    let mut painter = InlinePainter::new(Box::new(|_| {}), (80, 24));
    // 20 rows of a pane in a window of 12: eight are in the scrollback.
    assert_eq!(painter.with_rows_above(19, &[80; 20], (80, 12)), 19);
    assert_eq!(painter.above.len(), 8);
    // Four of them come back, then the others.
    assert_eq!(painter.with_rows_above(10, &[80; 11], (80, 16)), 15);
    assert_eq!(painter.with_rows_above(10, &[80; 11], (80, 24)), 13);
    assert_eq!(painter.above, [0; 0]);
    // Of a row that is above the screen in part, no more is counted than what is there at any width.
    assert_eq!(painter.with_rows_above(23, &[160; 12], (80, 11)), 23);
    assert_eq!(painter.above, [160, 160, 160, 160, 160, 160, 1]);
}
