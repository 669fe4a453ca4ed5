//! When to try again, as plain arithmetic: no clock and no randomness of its own.

use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

/// How often and how patiently a failed request is tried again.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryPolicy {
    /// Attempts in all, the first included.
    pub attempts: u32,
    /// The wait after the first failure; it doubles each time.
    pub first_wait: Duration,
    /// No wait is longer, except a wait that a server asks for.
    pub longest_wait: Duration,
}

/// The longest wait that a server may ask for: a person at the terminal waits a few minutes, and not an hour.
const LONGEST_ASKED: Duration = Duration::from_secs(300);

impl Default for RetryPolicy {
    fn default() -> RetryPolicy {
        RetryPolicy { attempts: 5, first_wait: Duration::from_secs(1), longest_wait: Duration::from_secs(60) }
    }
}

impl RetryPolicy {
    /// The wait after `failed` failures; `None` where the server `asked` for a longer wait than a person accepts,
    /// because an earlier attempt would be refused like the first. A wait that the server asked for is used exactly.
    /// Otherwise the doubled wait shrinks by up to half with `jitter` (0 to 1), which prevents many clients from
    /// returning at the same moment.
    pub fn wait(&self, failed: u32, asked: Option<Duration>, jitter: f64) -> Option<Duration> {
        if let Some(asked) = asked.filter(|asked| !asked.is_zero()) {
            return (asked <= LONGEST_ASKED).then_some(asked);
        }
        // A shift by 32 would overflow; `longest_wait` is reached after a few doublings.
        let doublings = failed.saturating_sub(1).min(20);
        let whole = self.first_wait.saturating_mul(1 << doublings).min(self.longest_wait);
        Some(whole.mul_f64(1.0 - 0.5 * jitter.clamp(0.0, 1.0)))
    }
}

/// A number from 0 to 1, different each time; not for secrets.
pub(crate) fn random() -> f64 {
    let bits = std::hash::RandomState::new().build_hasher().finish();
    // The upper 53 bits, which are all that an `f64` holds exactly.
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_shrink_with_jitter_and_obey_the_server() {
        let retry = RetryPolicy::default();
        let ms = Duration::from_millis;
        let table = [
            (1, None, 0.0, ms(1000)),
            (1, None, 1.0, ms(500)),
            (2, None, 0.0, ms(2000)),
            (4, None, 0.5, ms(6000)),
            (7, None, 0.0, ms(60_000)),
            (u32::MAX, None, 0.0, ms(60_000)),
            (3, Some(ms(2000)), 1.0, ms(2000)),
            (1, Some(ms(0)), 0.0, ms(1000)),
            (1, Some(ms(90_000)), 0.3, ms(90_000)),
            (1, Some(ms(300_000)), 0.3, ms(300_000)),
        ];
        for (failed, asked, jitter, wait) in table {
            assert_eq!(retry.wait(failed, asked, jitter), Some(wait), "{failed} {asked:?} {jitter}");
        }
        assert_eq!(retry.wait(1, Some(ms(300_001)), 0.0), None);
        let drawn = random();
        assert!((0.0..1.0).contains(&drawn));
    }
}
