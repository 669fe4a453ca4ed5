//! Detects that the machine slept. The monotonic clock stops while the machine sleeps and the wall clock does not, so
//! their difference shows the sleep. A person who changes the clock by minutes looks the same; the only cost is a new
//! connection.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// A smaller difference is a correction of the clock.
const SLEEP: Duration = Duration::from_secs(30);

/// The wall clock.
pub type WallClock = fn() -> SystemTime;

#[derive(Debug)]
pub struct SleepDetector {
    wall: WallClock,
    since: Mutex<(Instant, SystemTime)>,
}

impl SleepDetector {
    pub fn new(wall: WallClock) -> SleepDetector {
        SleepDetector { wall, since: Mutex::new((Instant::now(), wall())) }
    }

    /// How long the machine slept since the last call; `None` if it did not.
    pub fn slept(&self) -> Option<Duration> {
        let now = (Instant::now(), (self.wall)());
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *since, now);
        let awake = now.0.saturating_duration_since(before.0);
        // A clock that was set back does not mean that the machine slept.
        let passed = now.1.duration_since(before.1).unwrap_or_default();
        Some(passed.saturating_sub(awake)).filter(|asleep| *asleep > SLEEP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    static HOURS: AtomicU64 = AtomicU64::new(0);

    #[test]
    fn a_jump_of_the_wall_clock_alone_is_a_sleep_and_is_told_once() {
        let awake = SleepDetector::new(|| {
            SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + 3600 * HOURS.load(Ordering::SeqCst))
        });
        assert_eq!(awake.slept(), None);
        HOURS.store(8, Ordering::SeqCst);
        let slept = awake.slept().unwrap_or_default();
        assert!(slept > Duration::from_secs(8 * 3600 - 60), "{slept:?}");
        assert_eq!(awake.slept(), None);
        HOURS.store(0, Ordering::SeqCst);
        assert_eq!(awake.slept(), None, "a clock set back is no sleep");
    }
}
