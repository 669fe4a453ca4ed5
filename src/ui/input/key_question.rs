//! A question where no pane is that one key answers, pressed twice, as in the apply question. Any other key means no.

use super::blocking_key_reader::BlockingKeyReader;
use super::decode::TerminalInput;
use super::guard::{KeyGuard, KeyRole};
use crate::ui::{margin_mark, reclaim, term};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::time::{Duration, Instant};

/// How long nothing may happen before the loop looks again; nothing depends on it.
const LOOK: Duration = Duration::from_secs(60);

/// Asks, and is true where `key` was pressed twice. False too when the terminal has gone.
pub(in crate::ui) fn is_pressed_twice(question: &str, key: char) -> bool {
    reclaim::before_question();
    let Ok(mut keyboard) = BlockingKeyReader::new() else { return false };
    let mut guard = KeyGuard::default();
    let mut is_confirming = false;
    // Reported once: a paste has many keys.
    let mut is_warned = false;
    // Before the question is shown: a key that follows it is not lost without a word.
    keyboard.forget();
    show(question);
    guard.drawn(Instant::now());
    loop {
        let left = guard.due().map_or(LOOK, |due| due.saturating_duration_since(Instant::now()));
        let Ok(next) = keyboard.next(left) else { return false };
        let now = Instant::now();
        if let Some(pressed) = guard.take_due_key(now) {
            let is_yes = pressed.code == KeyCode::Char(key);
            term::write_all(if is_yes { format!("{key}\r\n") } else { "\r\n".into() }.as_bytes());
            if !is_yes || is_confirming {
                return is_yes;
            }
            is_confirming = true;
            guard.confirm();
            show(&format!("press {key} again to do it; any other key changes nothing: "));
            guard.drawn(Instant::now());
        }
        match next {
            Some(TerminalInput::Key(pressed)) if is_stop(pressed) => {
                term::write_all(b"\r\n");
                return false;
            }
            Some(TerminalInput::Key(pressed)) => {
                let confirms = is_confirming && pressed.code == KeyCode::Char(key);
                let role = if confirms { KeyRole::Confirm } else { KeyRole::Answer };
                guard.press(pressed, role, now);
                if guard.due().is_none() && !confirms && !is_warned {
                    is_warned = true;
                    // placet asks again from the beginning, and needs the key twice.
                    is_confirming = false;
                    guard.reset();
                    term::write_all(b"\r\n");
                    show("ignored: typed before you could read the question\n");
                    show(question);
                    guard.drawn(Instant::now());
                }
            }
            Some(TerminalInput::Resized) | None => {}
            Some(_) => guard.touch(now),
        }
    }
}

fn is_stop(key: KeyEvent) -> bool {
    key.kind == KeyEventKind::Press
        && key.code == KeyCode::Char('c')
        && key.modifiers.contains(KeyModifiers::CONTROL)
}

fn show(words: &str) {
    term::write_all(
        margin_mark::message(words, usize::from(term::size().0)).replace('\n', "\r\n").as_bytes(),
    );
}
