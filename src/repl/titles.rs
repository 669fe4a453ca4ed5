//! How a session is named for the person: its title, its date, the beginning of its ID.

use crate::conversation::{Part, SessionId};

/// The first words of what was said, as a title.
pub fn title_of(text: &str) -> String {
    let text = &crate::text::secret::redact(text, &[]);
    let line = text.lines().find(|l| !l.trim().is_empty()).unwrap_or("").trim();
    crate::text::width::cut(&crate::text::visible::prose_line(line), 60)
}

/// What a turn began with, in the person's words: what placet put before them does not count.
pub(super) fn first_words(parts: &[Part]) -> String {
    let said = parts.iter().find_map(Part::as_text).map(String::from);
    let noted = || parts.iter().find_map(Part::as_note).map(|note| note.headline().into_owned());
    said.or_else(noted).unwrap_or_default()
}

/// Milliseconds since 1970 as local date and time, to the minute.
pub fn when(millis: i64) -> String {
    match jiff::Timestamp::from_millisecond(millis) {
        Ok(at) => at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
        Err(_) => "-".into(),
    }
}

/// Enough of a session's name to find it again.
pub(super) fn short_id(id: &SessionId) -> &str {
    id.as_str().get(..13).unwrap_or(id.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_first_line_cut_to_fit() {
        assert_eq!(title_of("\n\n  fix the\tbug \nplease"), "fix the bug");
        assert_eq!(crate::text::width::of(&title_of(&"long ".repeat(50))), 60);
        assert_eq!(title_of("\u{1b}[31mred"), "␛[31mred");
    }
}
