//! What every test of a live provider starts from: waits of milliseconds, no proxy of the machine and no chance.

use placet::http::{HttpClientSettings, ProxySource};
use placet::provider::{HttpProviderSettings, RetryPolicy};
use std::time::Duration;

pub fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A request is tried `attempts` times, and silence is told after every `step`.
pub fn settings(attempts: u32, step: Duration) -> HttpProviderSettings {
    HttpProviderSettings {
        retry: RetryPolicy { attempts, first_wait: ms(2), longest_wait: ms(2000) },
        client: HttpClientSettings {
            connect_timeout: ms(2000),
            proxies: ProxySource::Off,
            ..HttpClientSettings::default()
        },
        silence_step: step,
        silence_limit: ms(20_000),
        jitter: || 0.0,
        ..HttpProviderSettings::default()
    }
}
