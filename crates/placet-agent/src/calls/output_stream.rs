//! The output of a running command on its way to the screen. Whole lines are redacted, so that a secret cannot come in
//! two halves. From a line without an end, only words are shown that cannot become a secret any more.

use super::origin::CallInterceptors;
use placet_text::text::secret::PrivateKeyFilter;
use placet_tools::ProgressSink;
use std::sync::{Arc, Mutex, PoisonError};

/// The longest unfinished line that waits for its end, in bytes.
const HELD: usize = 8 << 10;
/// A last word of at least this many bytes may be the beginning of a secret.
const DOUBTFUL: usize = 8;

/// A piece of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputPiece<'t> {
    /// Final text.
    Lines(&'t str),
    /// The unfinished line until now.
    Open(&'t str),
}

/// Passes text to `show` after redaction, or unchanged if redaction is off.
pub(super) fn stream_redacted(
    interceptors: &Arc<CallInterceptors>,
    show: impl Fn(OutputPiece<'_>) + Send + Sync + 'static,
) -> ProgressSink {
    if !interceptors.secrets.on {
        return ProgressSink::new(move |text| show(OutputPiece::Lines(text)));
    }
    let (interceptors, held) =
        (Arc::clone(interceptors), Mutex::new((String::new(), PrivateKeyFilter::default())));
    ProgressSink::new(move |text| {
        let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
        let (rest, key) = &mut *held;
        rest.push_str(text);
        let end = match rest.rfind(['\n', '\r']) {
            Some(at) => at + 1,
            None if rest.len() > HELD => rest.len(),
            None => 0,
        };
        let lines: String = rest.drain(..end).collect();
        let redacted = interceptors.secrets.redact(&key.without(&lines)).into_owned();
        if !redacted.is_empty() {
            show(OutputPiece::Lines(&redacted));
        }
        // On a copy of the filter: these bytes pass through the real filter when their line is complete.
        let open = key.clone().without(certain(rest));
        if !open.is_empty() {
            show(OutputPiece::Open(&interceptors.secrets.redact(&open)));
        }
    })
}

/// `line` without a last word that may still become a secret.
fn certain(line: &str) -> &str {
    let word = line
        .rfind(char::is_whitespace)
        .map_or(0, |at| at + line.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8));
    if line.len() - word < DOUBTFUL { line } else { line.get(..word).unwrap_or("") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_may_grow_into_a_secret_waits_for_its_end() {
        for (line, shown) in [
            ("Continue? [y/N]", "Continue? [y/N]"),
            ("12 of 40", "12 of 40"),
            ("key=abcdefgh", ""),
            ("the key is sk-abcdefghij", "the key is "),
            ("the key is sk-abcdefghij ", "the key is sk-abcdefghij "),
            ("日本\u{3000}kürzlich", "日本\u{3000}"),
            ("", ""),
        ] {
            assert_eq!(certain(line), shown, "{line:?}");
        }
    }
}
