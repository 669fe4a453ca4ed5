//! The name that the terminal gives itself (XTVERSION), asked for at the first prompt: far away, over ssh, no variable of the
//! environment has it.
//!
//! Nothing waits for the answer. It comes as input and is swallowed by the decoder, like every answer; a terminal that does not
//! know the question says nothing.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The question. The terminal answers `ESC P > | NAME ST`.
pub const QUESTION: &str = "\x1b[>q";
const ANSWER: &[u8] = b"\x1bP>|";
/// When placet ends, it does not wait for an answer that did not come within this time.
const SOON: Duration = Duration::from_secs(1);
const LONGEST: usize = 80;

static ASKED: OnceLock<Instant> = OnceLock::new();
static NAME: OnceLock<String> = OnceLock::new();

/// The question is written now. False where it was before: the terminal of a session has one name.
pub fn ask() -> bool {
    let mut is_first = false;
    ASKED.get_or_init(|| {
        is_first = true;
        Instant::now()
    });
    is_first
}

/// What the terminal answered.
pub fn answer() -> Option<&'static str> {
    NAME.get().map(String::as_str)
}

/// An answer may still be on its way.
pub(super) fn is_due() -> bool {
    NAME.get().is_none() && ASKED.get().is_some_and(|asked| asked.elapsed() < SOON)
}

/// Keeps an answer. What comes without a question says nothing about this session.
pub(super) fn note(answer: &[u8]) {
    if ASKED.get().is_some()
        && let Some(name) = name_in(answer)
    {
        NAME.get_or_init(|| name);
    }
}

fn name_in(answer: &[u8]) -> Option<String> {
    let name = answer.strip_prefix(ANSWER)?;
    let name = name.strip_suffix(b"\x1b\\").or(name.strip_suffix(b"\x07"))?;
    let is_name = !name.is_empty() && name.len() <= LONGEST && name.iter().all(|b| matches!(b, b' '..=b'~'));
    is_name.then(|| String::from_utf8_lossy(name).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_answer_has_a_name() {
        for (answer, name) in [
            (&b"\x1bP>|XTerm(379)\x1b\\"[..], Some("XTerm(379)")),
            (b"\x1bP>|tmux 3.4\x07", Some("tmux 3.4")),
            (b"\x1bP>|\x1b\\", None),
            (b"\x1bP>|a\nb\x1b\\", None),
            (b"\x1bP>|XTerm(379)", None),
            (b"\x1bP1$r0m\x1b\\", None),
        ] {
            assert_eq!(name_in(answer).as_deref(), name, "{answer:?}");
        }
    }
}
