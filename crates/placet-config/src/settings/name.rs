//! The name of a key as text: segments with dots between them. A segment that contains a dot is in quotes, as in a
//! file, so that a provider may be called `llama.cpp`. No other segment is quoted.

use std::borrow::Cow;

/// The name of a key in the table `name`: for `providers.*.model` it is `providers.mine.model`.
pub(super) fn instance(pattern: &'static str, name: &str) -> Cow<'static, str> {
    if pattern.contains('*') {
        Cow::Owned(pattern.replacen('*', &segment(name), 1))
    } else {
        Cow::Borrowed(pattern)
    }
}

/// One segment as it is written in a name.
pub(in super::super) fn segment(name: &str) -> Cow<'_, str> {
    if name.contains('.') { Cow::Owned(format!("\"{name}\"")) } else { Cow::Borrowed(name) }
}

/// The first segment, without its quotes.
pub(in super::super) fn first(name: &str) -> Option<&str> {
    segments(name).next().map(|segment| segment.trim_matches('"'))
}

/// The segments as they are written.
pub(super) fn segments(name: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    name.split(move |c| {
        quoted ^= c == '"';
        c == '.' && !quoted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_with_a_dot_stands_in_quotes_and_is_one() {
        let name = instance("providers.*.quirks.cache_key", "llama.cpp");
        assert_eq!(name, "providers.\"llama.cpp\".quirks.cache_key");
        assert_eq!(
            segments(&name).collect::<Vec<_>>(),
            ["providers", "\"llama.cpp\"", "quirks", "cache_key"]
        );
        assert_eq!(first("\"llama.cpp\".model"), Some("llama.cpp"));
        assert_eq!(instance("mounts.*.path", "mine"), "mounts.mine.path");
        assert_eq!(instance("ui.theme", ""), "ui.theme");
    }
}
