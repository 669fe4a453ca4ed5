//! What the tests of full screens share: keys that are pressed, and rows that are read.

use super::keymap::{KeyBinding, Keymap};
use super::terminal::ansi::ColorDepth;
use super::terminal::full_screen::{FullScreenPane, PaneFlow};
use super::{Theme, pager};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use placet_text::text::width;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::{Duration, Instant};

pub(super) fn dark() -> Theme {
    Theme::parse("dark", include_str!("../themes/dark.toml"), ColorDepth::True).unwrap()
}

/// Letters are pressed; `⇥`, `⏎` and `⎋` are these keys, as are their control characters.
pub(super) fn press(pane: &mut dyn FullScreenPane, key: char) -> PaneFlow {
    let code = match key {
        '⇥' | '\t' => KeyCode::Tab,
        '⏎' | '\n' => KeyCode::Enter,
        '⎋' | '\u{1b}' => KeyCode::Esc,
        letter => KeyCode::Char(letter),
    };
    pane.key(KeyEvent::new(code, KeyModifiers::NONE))
}

pub(super) fn drawn(pane: &dyn FullScreenPane, (columns, rows): (u16, u16)) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
    pane.draw(&mut buffer);
    buffer
}

/// The rows of a screen.
pub(super) fn rows(buffer: &Buffer) -> Vec<String> {
    let row = |y| {
        let (mut out, mut x) = (String::new(), 0);
        while x < buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            out.push_str(symbol);
            // The second cell of a wide letter is not a blank.
            x += u16::try_from(width::of(symbol).max(1)).unwrap();
        }
        out.trim_end().to_string()
    };
    (0..buffer.area.height).map(row).collect()
}

/// Waits until no background work is left.
pub(super) fn wait_until_idle(pane: &mut dyn FullScreenPane, size: (u16, u16)) {
    let until = Instant::now() + Duration::from_secs(60);
    drawn(pane, size);
    while pane.has_background_work() {
        pane.tick();
        drawn(pane, size);
        assert!(Instant::now() < until, "it does not end");
    }
}

/// No key of a screen is one of the pager as well.
pub(super) fn assert_no_key_of_the_pager<A: Copy + PartialEq>(
    name: &'static str,
    own: &'static [KeyBinding<A>],
) {
    let pager = Keymap::new("pager", pager::KEYS, &[]).unwrap();
    for (keys, help) in Keymap::new(name, own, &[]).unwrap().help() {
        for word in keys.split(' ') {
            let taken = pager.help().into_iter().find(|(all, _)| all.split(' ').any(|key| key == word));
            assert_eq!(taken, None, "{word}: {help}");
        }
    }
}
