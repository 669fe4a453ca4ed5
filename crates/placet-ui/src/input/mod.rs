//! What the person types, read in one way for the prompt, the pane and the full screens.
//!
//! A reader takes first what was read before and not used (`typeahead`), and gives back what it did not use: no key
//! is lost or overtaken where one reader follows another. Bytes become keys, pastes and news of the focus in
//! [`decode`]; a terminal's own answers, early or late, are dropped there and never typed. The answer to the only question
//! that placet asks is noted in [`background`]. rustyline reads through [`pty_proxy`].

pub mod answering_decoder;
mod async_key_reader;
pub mod background;
mod blocking_key_reader;
mod control;
pub mod decode;
pub mod enter_guard;
pub mod inquiry;
mod legacy;
pub mod line_input;
mod line_prompt;
pub mod pty_proxy;
pub mod terminal_name;
pub mod typeahead;

pub(crate) use async_key_reader::AsyncKeyReader;
pub use blocking_key_reader::BlockingKeyReader;
pub(crate) use line_prompt::{AnswerRisk, is_interrupted, line};
pub use line_prompt::{LinePromptResult, prompt};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::time::Duration;

/// How long an escape may be the beginning of something longer.
const MOMENT: Duration = Duration::from_millis(40);
/// Read at once at most.
const CHUNK: usize = 64 * 1024;

/// A key without modifiers, except the Shift that makes a letter a capital.
pub fn is_plain(key: KeyEvent) -> bool {
    let is_capital = matches!(key.code, KeyCode::Char(c) if c.is_uppercase());
    key.modifiers.is_empty() || is_capital && key.modifiers == KeyModifiers::SHIFT
}
