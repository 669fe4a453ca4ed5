//! What a chosen row of the menu puts into the line.

use super::place::{MenuKind, MenuPlace};
use super::source::ListSource;
use crate::text::visible;
use crate::ui::picker::PickerItem;

/// What is in the line for a row.
pub(super) struct CompletedWord {
    pub(super) text: String,
    /// More of it is to be typed.
    pub(super) goes_on: bool,
}

pub(super) fn completed(place: &MenuPlace, item: &PickerItem) -> CompletedWord {
    let value = item.value();
    match place.kind {
        MenuKind::Command => {
            let row = crate::repl::commands::COMMANDS.iter().find(|row| row.name == value);
            let goes_on = row.is_some_and(|row| !row.arguments.is_empty());
            CompletedWord { text: format!("/{value}{}", if goes_on { " " } else { "" }), goes_on }
        }
        MenuKind::Argument(_) => {
            let word = written_out(value);
            // The command reads words, and takes both kinds of quotes as such.
            let splits = |c: char| c.is_whitespace() || c == '\'';
            let is_quoted = place.source == ListSource::Pending && word.contains(splits);
            let text = if is_quoted { format!("\"{word}\"") } else { word };
            CompletedWord { text, goes_on: value.ends_with('/') }
        }
        MenuKind::Mention => {
            let goes_on = value.ends_with('/');
            let path = written_out(value);
            let text = match (path.contains(char::is_whitespace), goes_on) {
                (true, true) => format!("@\"{path}"),
                (true, false) => format!("@\"{path}\" "),
                (false, true) => format!("@{path}"),
                (false, false) => format!("@{path} "),
            };
            CompletedWord { text, goes_on }
        }
    }
}

/// A name as it may be in the line: what would act on the terminal, and placet's own mark, by their signs.
/// [`visible::read_back`] knows the signs.
pub(in crate::repl::prompt) fn written_out(name: &str) -> String {
    let sign = |c: char| match c == visible::OWN || visible::looks_like_own(c) || c == '"' {
        true => visible::written(c),
        false => c.to_string(),
    };
    visible::line(name).chars().map(sign).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_put_in_as_the_line_may_hold_it() {
        let text = |line: &str, value: &str| {
            let place = MenuPlace::of(line, line.len()).unwrap();
            completed(&place, &PickerItem::new(value, "")).text
        };
        assert_eq!(text("/mo", "mode"), "/mode ");
        assert_eq!(text("/qu", "quit"), "/quit");
        assert_eq!(text("/apply t", "two words"), "\"two words\"");
        assert_eq!(text("/apply i", "it's"), "\"it's\"");
        assert_eq!(text("/apply a", "a\nb"), "a␊b");
        assert_eq!(text("see @a", "a.txt"), "@a.txt ");
        assert_eq!(text("see @a", "a b/"), "@\"a b/");
        assert_eq!(text("see @a", "a b\u{1b}.txt"), "@\"a b␛.txt\" ");
        assert_eq!(written_out("q◆\"\u{202e}"), "q<U+25C6><U+0022><U+202E>");
    }
}
