//! What the person types, read in one way for the prompt, the pane and the full screens.
//!
//! Whoever reads takes first what was read before and not used ([`ahead`]), and gives back what it did not use: no key
//! is lost or overtaken where one reader follows another. Bytes become keys, pastes and news of the focus in
//! [`decode`]; a terminal's own answers, early or late, are dropped there and never typed. rustyline reads through
//! [`pump`].

mod ahead;
mod control;
pub mod decode;
pub mod guard;
mod keyboard;
mod keys;
mod legacy;
mod line;
pub mod pump;
pub mod typing;

pub use keyboard::BlockingKeyReader;
pub(in crate::ui) use keys::AsyncKeyReader;
pub(in crate::ui) use line::{AnswerRisk, line};
pub use line::{LinePromptResult, prompt};

use std::time::Duration;

/// How long an escape may be the beginning of something longer.
const MOMENT: Duration = Duration::from_millis(40);
/// Read at once at most.
const CHUNK: usize = 64 * 1024;
