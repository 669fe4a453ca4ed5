//! The time of a command that counts to its timeout: not the time in which the command waits for the person.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often a command whose time has passed is looked at while it waits for the person.
const WHILE_PAUSED: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub struct CommandClock(Mutex<ClockState>);

#[derive(Debug, Default)]
struct ClockState {
    paused: Duration,
    since: Option<Instant>,
}

/// The clock stands still until this is dropped. There is one at a time.
#[derive(Debug)]
pub struct ClockPause<'a>(&'a CommandClock);

impl CommandClock {
    pub fn pause(&self) -> ClockPause<'_> {
        self.state().since = Some(Instant::now());
        ClockPause(self)
    }

    /// When to look at the clock again; `None` if `deadline` has passed.
    pub(super) fn rest(&self, deadline: Instant) -> Option<Instant> {
        let (state, now) = (self.state(), Instant::now());
        if state.since.is_some() {
            return Some(now + WHILE_PAUSED);
        }
        Some(deadline + state.paused).filter(|later| *later > now)
    }

    fn state(&self) -> MutexGuard<'_, ClockState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ClockPause<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        let paused = state.since.take().map_or(Duration::ZERO, |since| since.elapsed());
        state.paused += paused;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_does_not_pass_while_the_clock_is_paused() {
        let (clock, passed) = (CommandClock::default(), Instant::now());
        assert_eq!(clock.rest(passed), None);
        let pause = clock.pause();
        assert!(clock.rest(passed).is_some());
        drop(pause);
        assert_eq!(clock.rest(passed), None);
        let later = passed + Duration::from_secs(3600);
        assert!(clock.rest(later).is_some_and(|at| at > later));
    }
}
