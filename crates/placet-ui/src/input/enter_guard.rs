//! The one guard of a question: the Enter that answers it was meant for it.
//!
//! A question comes while a person types, so an Enter may be the end of a line, a repeat of a key that is held down, or part
//! of a paste that the terminal does not mark. It counts when the question has been on the screen for half a second, and
//! nothing that can be a part of these came in that half second. Times go in with the keys: no I/O, no clock.

use std::time::Duration;

/// How long the question is on the screen, and the keyboard quiet, before an Enter counts.
pub const HALF_SECOND: Duration = Duration::from_millis(500);

/// All times are counted from one moment, which the caller chooses.
#[derive(Clone, Copy, Debug, Default)]
pub struct EnterGuard {
    /// When the question was first on the screen.
    drawn: Option<Duration>,
    /// When anything was last typed or pasted, or what is asked changed.
    last: Duration,
}

impl EnterGuard {
    /// The question is on the screen since `at`; later frames change nothing.
    pub fn drawn(&mut self, at: Duration) {
        self.drawn.get_or_insert(at);
    }

    /// Something was typed at `at`, or the person has not read what is on the screen since then.
    pub fn touch(&mut self, at: Duration) {
        self.last = self.last.max(at);
    }

    /// Something else is asked now, and was not drawn yet.
    pub fn asks_anew(&mut self) {
        self.drawn = None;
    }

    pub fn is_drawn(&self) -> bool {
        self.drawn.is_some()
    }

    /// From when on an Enter counts; `None` while the question is not drawn.
    pub fn counts_from(&self) -> Option<Duration> {
        Some(self.drawn?.max(self.last) + HALF_SECOND)
    }

    /// True if an Enter that is read at `at` counts.
    pub fn counts(&self, at: Duration) -> bool {
        self.counts_from().is_some_and(|from| from <= at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn an_enter_counts_half_a_second_after_the_drawing_and_after_the_last_key() {
        let mut guard = EnterGuard::default();
        assert!(!guard.counts(millis(9_000)), "nothing was drawn");
        guard.drawn(millis(1_000));
        guard.drawn(millis(1_400));
        assert!(!guard.counts(millis(1_499)) && guard.counts(millis(1_500)));
        guard.touch(millis(2_000));
        assert!(!guard.counts(millis(2_499)) && guard.counts(millis(2_500)));
        guard.asks_anew();
        assert!(!guard.counts(millis(9_000)));
    }

    /// A key that is held down repeats every 30 to 110 ms.
    #[test]
    fn a_held_enter_never_counts() {
        let mut guard = EnterGuard::default();
        guard.drawn(millis(0));
        for at in (0..60).map(|repeat| millis(repeat * 110)) {
            assert!(!guard.counts(at), "{at:?}");
            guard.touch(at);
        }
    }
}
