//! Control bytes and key numbers as keys.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

pub(super) const ESCAPE: u8 = 0x1b;
pub(super) const CTRL_C: u8 = 0x03;

/// A byte below the blank, or DEL.
pub(super) fn key(byte: u8) -> KeyEvent {
    let none = KeyModifiers::NONE;
    match byte {
        b'\r' => KeyEvent::new(KeyCode::Enter, none),
        b'\t' => KeyEvent::new(KeyCode::Tab, none),
        0x7f => KeyEvent::new(KeyCode::Backspace, none),
        ESCAPE => KeyEvent::new(KeyCode::Esc, none),
        0 => ctrl(' '),
        1..=26 => ctrl(char::from(byte - 1 + b'a')),
        // Ctrl-4 to Ctrl-7, as terminals have it from the VT220.
        _ => ctrl(char::from(byte.saturating_sub(0x1c) + b'4')),
    }
}

fn ctrl(c: char) -> KeyEvent {
    KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL)
}

/// A key by its number: Unicode, or of the kitty keyboard protocol's private range for a keypad.
pub(super) fn from_code(code: u32, modifiers: KeyModifiers) -> Option<KeyEvent> {
    let key = match code {
        9 if modifiers.contains(KeyModifiers::SHIFT) => KeyCode::BackTab,
        9 => KeyCode::Tab,
        13 | 57414 => KeyCode::Enter,
        27 => KeyCode::Esc,
        127 | 8 => KeyCode::Backspace,
        57399..=57408 => KeyCode::Char(char::from_digit(code - 57399, 10)?),
        57409..=57413 => KeyCode::Char(*['.', '/', '*', '-', '+'].get(usize::try_from(code - 57409).ok()?)?),
        57415 => KeyCode::Char('='),
        57417 => KeyCode::Left,
        57418 => KeyCode::Right,
        57419 => KeyCode::Up,
        57420 => KeyCode::Down,
        57421 => KeyCode::PageUp,
        57422 => KeyCode::PageDown,
        57423 => KeyCode::Home,
        57424 => KeyCode::End,
        57425 => KeyCode::Insert,
        57426 => KeyCode::Delete,
        57344..=63743 => return None,
        _ => character(char::from_u32(code).filter(|c| !c.is_control())?, modifiers),
    };
    Some(KeyEvent::new(key, modifiers))
}

/// The protocols name the key and not the letter that Shift makes of it.
fn character(c: char, modifiers: KeyModifiers) -> KeyCode {
    let mut upper = c.to_uppercase();
    match (modifiers.contains(KeyModifiers::SHIFT), upper.next(), upper.next()) {
        (true, Some(one), None) => KeyCode::Char(one),
        _ => KeyCode::Char(c),
    }
}
