//! A key as the bytes that every program understands, for rustyline, which knows no newer protocol.

use super::decode::{InputToken, TerminalInput};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What rustyline is to read for `token`; nothing for what it would not understand and type as text.
pub(super) fn bytes(token: &InputToken) -> Vec<u8> {
    let Some(TerminalInput::Key(key)) = &token.input else { return Vec::new() };
    let newer = token.raw.starts_with(b"\x1b[")
        && (token.raw.ends_with(b"u") || token.raw.starts_with(b"\x1b[27;") && token.raw.ends_with(b"~"));
    if newer { of_key(*key) } else { token.raw.clone() }
}

/// Enter with any modifier is a new line, which is Alt+Enter here.
fn of_key(key: KeyEvent) -> Vec<u8> {
    let has = |m| key.modifiers.contains(m);
    let (alt, ctrl) = (has(KeyModifiers::ALT), has(KeyModifiers::CONTROL));
    let mut out = Vec::new();
    if alt {
        out.push(0x1b);
    }
    match key.code {
        KeyCode::Enter if !key.modifiers.is_empty() => return b"\x1b\r".to_vec(),
        KeyCode::Enter => out.push(b'\r'),
        KeyCode::Tab => out.push(b'\t'),
        KeyCode::BackTab => return b"\x1b[Z".to_vec(),
        KeyCode::Esc => return vec![0x1b],
        KeyCode::Backspace if ctrl => out.push(0x17),
        KeyCode::Backspace => out.push(0x7f),
        KeyCode::Char(' ') if ctrl => out.push(0),
        KeyCode::Char(c) if ctrl => match u8::try_from(c.to_ascii_lowercase()) {
            Ok(c @ b'a'..=b'z') => out.push(c - b'a' + 1),
            Ok(c @ b'['..=b'_') => out.push(c - b'@'),
            _ => return Vec::new(),
        },
        KeyCode::Char(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        _ => return keypad(key.code),
    }
    out
}

fn keypad(code: KeyCode) -> Vec<u8> {
    let sequence: &[u8] = match code {
        KeyCode::Up => b"\x1b[A",
        KeyCode::Down => b"\x1b[B",
        KeyCode::Right => b"\x1b[C",
        KeyCode::Left => b"\x1b[D",
        KeyCode::Home => b"\x1b[H",
        KeyCode::End => b"\x1b[F",
        KeyCode::PageUp => b"\x1b[5~",
        KeyCode::PageDown => b"\x1b[6~",
        KeyCode::Insert => b"\x1b[2~",
        KeyCode::Delete => b"\x1b[3~",
        _ => b"",
    };
    sequence.to_vec()
}

#[cfg(test)]
#[path = "legacy_tests.rs"]
mod legacy_tests;
