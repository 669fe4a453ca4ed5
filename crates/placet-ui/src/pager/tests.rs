//! Moving, searching and drawing, over a text in blocks.

use super::*;
use crate::Theme;
use crate::keymap::Move;
use crate::test_screen;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use std::cell::Cell;
use std::rc::Rc;

/// Blocks of lines, and how many of them were ever asked for.
struct CountingSource {
    blocks: usize,
    each: usize,
    asked: Cell<usize>,
}

impl CountingSource {
    fn of(blocks: usize, each: usize) -> CountingSource {
        CountingSource { blocks, each, asked: Cell::new(0) }
    }
}

impl PagerSource for CountingSource {
    fn blocks(&self) -> usize {
        self.blocks
    }

    fn lines(&self, block: usize) -> Rc<Vec<Line<'static>>> {
        self.asked.set(self.asked.get() + 1);
        let text = |line: usize| format!("line {} {}", block * self.each + line, "word ".repeat(line % 7));
        Rc::new((0..self.each).map(|line| Line::raw(text(line))).collect())
    }

    fn gutter_width(&self) -> u16 {
        2
    }

    fn gutter(&self, _: PagerPosition, under: RowFocus) -> Line<'static> {
        Line::raw(if under == RowFocus::Here { "> " } else { "  " })
    }
}

fn drawn(scroll: &PagerViewport, text: &CountingSource, columns: u16, rows: u16) -> Vec<String> {
    let area = Rect::new(0, 0, columns, rows);
    let mut buffer = Buffer::empty(area);
    scroll.draw(text, &Theme::plain(), &mut buffer, area);
    test_screen::rows(&buffer)
}

fn sized(text: &CountingSource, columns: u16, rows: u16) -> PagerViewport {
    let mut scroll = PagerViewport::new(WrapMode::Rows);
    scroll.resize(text, columns - 2, rows);
    scroll
}

fn press(c: char) -> KeyEvent {
    KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)
}

fn search(scroll: &mut PagerViewport, text: &CountingSource, words: &str) {
    scroll.begin_search();
    for c in words.chars() {
        assert_eq!(scroll.typed(text, press(c)), PagerPromptResult::Yes);
        finish_search(scroll, text);
    }
}

/// Until the search is over: on a busy machine it takes more slices than one.
fn finish_search(scroll: &mut PagerViewport, text: &CountingSource) {
    while scroll.search.is_busy() {
        scroll.tick(text);
    }
}

#[test]
fn a_text_of_a_million_lines_opens_and_ends_without_being_laid_out() {
    let text = CountingSource::of(100_000, 10);
    let mut scroll = sized(&text, 40, 5);
    assert_eq!(drawn(&scroll, &text, 40, 5)[..2], ["> line 0", "  line 1 word"]);
    scroll.go(&text, Move::Bottom);
    assert_eq!(drawn(&scroll, &text, 40, 5).last().unwrap(), "> line 999999 word word");
    assert!(text.asked.get() < 2000, "{}", text.asked.get());
}

#[test]
fn the_cursor_stays_in_sight_and_long_lines_take_several_rows() {
    let text = CountingSource::of(3, 7);
    let mut scroll = sized(&text, 14, 4);
    for _ in 0..9 {
        scroll.go(&text, Move::Down);
    }
    assert_eq!(drawn(&scroll, &text, 14, 4), ["  word word", "  word", "> line 5 word", "  word word"]);
    scroll.toggle_wrap(&text);
    scroll.go(&text, Move::Right);
    let rows = drawn(&scroll, &text, 14, 4);
    assert!(rows.iter().any(|row| row == "> ord word wo›"), "{rows:?}");
    scroll.go(&text, Move::Top);
    assert_eq!(scroll.cursor(), PagerPosition::default());
}

#[test]
fn a_search_goes_along_while_it_is_typed_and_comes_back_when_it_is_left() {
    let text = CountingSource::of(1000, 10);
    let mut scroll = sized(&text, 40, 6);
    scroll.go(&text, Move::PageDown);
    let before = scroll.cursor();
    search(&mut scroll, &text, "LINE 77");
    assert_eq!(scroll.cursor(), before, "capitals mean capitals");
    scroll.typed(&text, KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE));
    search(&mut scroll, &text, "line 77");
    assert_eq!(scroll.cursor(), PagerPosition::of(7, 7));
    assert_eq!(scroll.search.typed(80).unwrap(), ("/line 77".to_string(), 8));
    scroll.typed(&text, KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE));
    assert_eq!(scroll.search.words(scroll.cursor()).unwrap(), "/line 77  match 1 of 111");
    scroll.find_next(&text);
    finish_search(&mut scroll, &text);
    assert_eq!(scroll.cursor(), PagerPosition::of(77, 0));
    scroll.find_previous(&text);
    finish_search(&mut scroll, &text);
    scroll.find_previous(&text);
    finish_search(&mut scroll, &text);
    assert_eq!(scroll.cursor(), PagerPosition::of(779, 9), "round the beginning");
    search(&mut scroll, &text, "line 5");
    scroll.typed(&text, KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE));
    assert_eq!((scroll.cursor(), scroll.search.needle()), (PagerPosition::of(779, 9), "line 77"));
}

#[test]
fn what_is_searched_is_edited_like_every_other_line() {
    let text = CountingSource::of(1000, 10);
    let mut scroll = sized(&text, 40, 6);
    search(&mut scroll, &text, "ine one 77");
    for (code, modifiers) in [
        (KeyCode::Left, KeyModifiers::CONTROL),
        (KeyCode::Char('w'), KeyModifiers::CONTROL),
        (KeyCode::Home, KeyModifiers::NONE),
        (KeyCode::Char('l'), KeyModifiers::NONE),
    ] {
        scroll.typed(&text, KeyEvent::new(code, modifiers));
        finish_search(&mut scroll, &text);
    }
    assert_eq!(scroll.search.typed(80).unwrap(), ("/line 77".to_string(), 2));
    assert_eq!(scroll.cursor(), PagerPosition::of(7, 7));
    scroll.typed(&text, KeyEvent::new(KeyCode::Char('k'), KeyModifiers::CONTROL));
    scroll.pasted(&text, "ine\n78\n");
    finish_search(&mut scroll, &text);
    assert_eq!(scroll.search.typed(80).unwrap(), ("/line 78".to_string(), 8));
    assert_eq!(scroll.cursor(), PagerPosition::of(7, 8));
    assert_eq!(scroll.search.typed(6).unwrap(), ("/ne 78".to_string().replace("/ne", "/e"), 5));
}

#[test]
fn matches_are_marked_over_the_bounds_of_spans_and_never_inside_a_letter() {
    let search = PagerSearch { needle: "bc".into(), ..PagerSearch::default() };
    let line = Line::from(vec!["ab".into(), "cd".into(), "İbc".into()]);
    let bold = ratatui::style::Style::new().add_modifier(ratatui::style::Modifier::BOLD);
    let pieces: Vec<(String, bool)> = search::marked(line, &search, bold)
        .spans
        .into_iter()
        .map(|s| (s.content.into_owned(), s.style == bold))
        .collect();
    let want = [("a", false), ("b", true), ("c", true), ("d", false), ("İ", false), ("bc", true)];
    assert_eq!(pieces, want.map(|(t, b)| (t.to_string(), b)));
}

#[test]
fn keys_of_the_pager_do_not_contradict_each_other() {
    crate::keymap::Keymap::new("pager", KEYS, &[]).unwrap();
}

proptest! {
    #[test]
    fn whatever_is_pressed_the_cursor_is_on_the_screen(
        keys in proptest::collection::vec(0usize..16, 0..60),
        columns in 3u16..60, rows in 1u16..20, blocks in 0usize..6, each in 0usize..9,
    ) {
        let text = CountingSource::of(blocks, each);
        let mut scroll = sized(&text, columns, rows);
        for key in keys {
            match key {
                0 => scroll.go(&text, Move::Up),
                1 => scroll.go(&text, Move::Down),
                2 => scroll.go(&text, Move::HalfUp),
                3 => scroll.go(&text, Move::HalfDown),
                4 => scroll.go(&text, Move::PageUp),
                5 => scroll.go(&text, Move::PageDown),
                6 => scroll.go(&text, Move::Top),
                7 => scroll.go(&text, Move::Bottom),
                8 => scroll.go(&text, Move::Left),
                9 => scroll.go(&text, Move::Right),
                10 => scroll.toggle_wrap(&text),
                11 => scroll.resize(&text, columns / 2 + 1, rows / 2 + 1),
                12 => scroll.resize(&text, columns - 2, rows),
                13 => scroll.to(&text, PagerPosition { block: 2, line: 3, row: 1 }),
                14 => scroll.find_next(&text),
                _ => search(&mut scroll, &text, "word"),
            }
            let shown = drawn(&scroll, &text, u16::try_from(scroll.columns).unwrap() + 2, u16::try_from(scroll.rows).unwrap());
            let count = shown.iter().filter(|row| row.starts_with('>')).count();
            prop_assert_eq!(count, usize::from(blocks * each > 0), "{:?}", shown);
        }
    }
}
