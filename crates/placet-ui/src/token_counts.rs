//! Counts of tokens and bytes in a few signs, as the status row and the scrollback show them.

use placet_text::conversation::TokenUsage;

/// `12.3k in, 1.2k out (9k cached)`.
pub fn tokens(usage: &TokenUsage) -> String {
    let cached =
        if usage.cache_read > 0 { format!(" ({} cached)", short(usage.cache_read)) } else { String::new() };
    format!("{} in{cached}, {} out", short(usage.prompt()), short(usage.output))
}

pub fn short(n: u64) -> String {
    match n {
        0..1_000 => n.to_string(),
        1_000..100_000 => format!("{:.1}k", n as f64 / 1e3),
        100_000..1_000_000 => format!("{}k", n / 1_000),
        _ => format!("{:.1}M", n as f64 / 1e6),
    }
}
