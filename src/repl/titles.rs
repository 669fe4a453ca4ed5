//! How a session is named for the person: its title, its date, the beginning of its ID.

use crate::conversation::{Note, Part, SessionId};
use crate::text::count;

/// The first words of a message, as a title.
pub fn title_of(text: &str) -> String {
    let text = &crate::text::secret::redact(text, &[]);
    let line = text.lines().find(|l| !l.trim().is_empty()).unwrap_or("").trim();
    crate::text::width::cut(&crate::text::visible::prose_line(line), 60)
}

/// What a turn began with, in the person's words: what placet put before them does not count.
pub(super) fn first_words(parts: &[Part]) -> String {
    // The text of a command is long, and the person typed its name.
    let typed =
        parts.iter().filter_map(Part::as_note).find(|note| matches!(note, Note::CustomCommand { .. }));
    if let Some(note) = typed {
        return note.headline().into_owned();
    }
    let said = parts.iter().find_map(Part::as_text).map(String::from);
    let noted = || parts.iter().find_map(Part::as_note).map(|note| note.headline().into_owned());
    said.or_else(noted).unwrap_or_default()
}

/// What the person typed for a turn: nothing where placet made the message.
pub(super) fn typed_words(parts: &[Part]) -> String {
    let is_typed = |part: &Part| match part {
        Part::Text { .. } => true,
        Part::Note(note) => matches!(note, Note::CustomCommand { .. }),
        Part::Image(_) => false,
    };
    if parts.iter().any(is_typed) { first_words(parts) } else { String::new() }
}

/// The reports of reviews in a message, as they are sent again; `None` without one.
pub(super) fn review_reports(parts: &[Part]) -> Option<String> {
    let reports = parts.iter().filter_map(Part::as_note).filter_map(|note| match note {
        Note::Review { report, .. } => Some(report.as_str()),
        _ => None,
    });
    let reports: Vec<&str> = reports.collect();
    (!reports.is_empty()).then(|| reports.join("\n"))
}

/// Milliseconds since 1970 as local date and time, to the minute.
pub fn when(millis: i64) -> String {
    match jiff::Timestamp::from_millisecond(millis) {
        Ok(at) => at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
        Err(_) => "-".into(),
    }
}

/// How long ago that was, in at most seven columns: `5 min`, `3 h`, `6 days`, or the month.
pub(super) fn age(millis: i64, now: i64) -> String {
    let minutes = (now - millis).max(0) / 60_000;
    match minutes {
        0 => "now".into(),
        1..60 => format!("{minutes} min"),
        60..1440 => format!("{} h", minutes / 60),
        1440..2880 => "1 day".into(),
        2880..86_400 => format!("{} days", minutes / 1440),
        _ => when(millis).get(..7).unwrap_or("-").to_string(),
    }
}

/// The same within a sentence: `5 minutes ago`, `yesterday`.
pub(super) fn age_words(millis: i64, now: i64) -> String {
    let minutes = (now - millis).max(0) / 60_000;
    match minutes {
        0 => "just now".into(),
        1..60 => format!("{} ago", count::of(minutes, "minute")),
        60..1440 => format!("{} ago", count::of(minutes / 60, "hour")),
        1440..2880 => "yesterday".into(),
        2880..43_200 => format!("{} days ago", minutes / 1440),
        _ => format!("on {}", when(millis).get(..10).unwrap_or("-")),
    }
}

/// Milliseconds since 1970.
pub(super) fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
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

    #[test]
    fn an_age_has_the_unit_that_a_person_would_use() {
        let hours = |hours: i64| hours * 3_600_000;
        let ages = [0, 59_999, 60_000, hours(1), hours(23), hours(24), hours(48), hours(24 * 29)];
        let short = ages.map(|age_of| age(1_000, 1_000 + age_of));
        assert_eq!(short, ["now", "now", "1 min", "1 h", "23 h", "1 day", "2 days", "29 days"]);
        assert_eq!(age(0, hours(24 * 60)), "1970-01");
        let words = ages.map(|age_of| age_words(1_000, 1_000 + age_of));
        assert_eq!(
            words[2..],
            ["1 minute ago", "1 hour ago", "23 hours ago", "yesterday", "2 days ago", "29 days ago"]
        );
        assert_eq!(age(5_000, 0), "now");
    }
}
