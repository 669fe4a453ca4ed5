//! `Retry-After`, in both forms that RFC 9110 (10.2.3) allows.

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use std::time::Duration;

/// How long the server asks to wait, counted from `now`: seconds (a fraction is understood too) or an HTTP date. A
/// date in the past means at once. `None` for anything else.
pub fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    const DATES: DateTimeParser = DateTimeParser::new();
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = DATES.parse_timestamp(value).ok()?;
    Some(Duration::try_from(date.duration_since(now)).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_both_understood() {
        let now: Timestamp = "1994-11-06T08:49:37Z".parse().unwrap();
        let seconds = |s: u64| Some(Duration::from_secs(s));
        for (value, wait) in [
            ("2", seconds(2)),
            (" 0 ", seconds(0)),
            ("1.5", Some(Duration::from_millis(1500))),
            ("Sun, 06 Nov 1994 08:49:40 GMT", seconds(3)),
            ("Sun, 06 Nov 1994 08:49:30 GMT", seconds(0)),
            ("-1", None),
            ("NaN", None),
            ("1e300", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(retry_after(value, now), wait, "{value}");
        }
    }
}
