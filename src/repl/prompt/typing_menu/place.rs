//! Where in the line something can be completed, and what is typed of it.

use super::source::ListSource;
use crate::repl::commands::COMMANDS;
use crate::repl::prompt::input::is_command_char;
use std::path::Path;

/// What is completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MenuKind {
    /// The name of a command.
    Command,
    /// The argument of the command with this name.
    Argument(&'static str),
    /// A file that is mentioned with `@`.
    Mention,
}

/// A word that is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::repl::prompt) struct MenuPlace {
    pub(super) kind: MenuKind,
    pub(super) source: ListSource,
    /// Where the word begins, with its sign.
    pub(super) start: usize,
    /// What is looked for: the word without sign and quotes.
    pub(super) typed: String,
}

impl MenuPlace {
    /// The word before the cursor, where it is one that a list can complete.
    pub(super) fn of(line: &str, pos: usize) -> Option<MenuPlace> {
        let before = line.get(..pos)?;
        if before.starts_with('!') {
            return None;
        }
        match before.strip_prefix('/') {
            Some(typed) => command(typed),
            None => mention(before),
        }
    }
}

fn command(typed: &str) -> Option<MenuPlace> {
    let Some((name, rest)) = typed.split_once(char::is_whitespace) else {
        // `/usr/bin` is a path.
        let is_name = typed.chars().all(is_command_char);
        let (kind, source) = (MenuKind::Command, ListSource::Commands);
        return is_name.then(|| MenuPlace { kind, source, start: 0, typed: typed.into() });
    };
    let row = COMMANDS.iter().find(|row| row.name == name)?;
    let source = ListSource::of_argument(row)?;
    let typed_argument = rest.trim_start();
    let start = 1 + typed.len() - typed_argument.len();
    Some(MenuPlace { kind: MenuKind::Argument(row.name), source, start, typed: typed_argument.into() })
}

fn mention(before: &str) -> Option<MenuPlace> {
    let (start, typed) = quoted(before).or_else(|| {
        let word = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let bracket = usize::from(before.get(word..)?.starts_with('('));
        Some((word + bracket, before.get(word + bracket..)?.strip_prefix('@')?))
    })?;
    let (kind, source) = (MenuKind::Mention, ListSource::Mentions);
    Some(MenuPlace { kind, source, start, typed: typed.trim_start_matches('"').into() })
}

/// A mention in quotes that are still open: `@"two wo`.
fn quoted(before: &str) -> Option<(usize, &str)> {
    let start = before.rfind("@\"")?;
    let at_word_start =
        before.get(..start)?.chars().next_back().is_none_or(|c| c.is_whitespace() || c == '(');
    let typed = before.get(start + 2..)?;
    (at_word_start && !typed.contains('"')).then_some((start, typed))
}

pub(super) fn needs_argument(command: &str) -> bool {
    let row = COMMANDS.iter().find(|row| row.name == command);
    // A command of a file is shown in the line before it runs.
    row.is_none_or(|row| !row.arguments.is_empty() && !row.arguments.starts_with('['))
}

pub(super) fn exists(cwd: &Path, typed: &str) -> bool {
    !typed.is_empty() && cwd.join(typed).symlink_metadata().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_before_the_cursor_is_what_is_completed() {
        let found =
            |line: &str| MenuPlace::of(line, line.len()).map(|place| (place.kind, place.start, place.typed));
        let some = |kind, start, typed: &str| Some((kind, start, typed.to_string()));
        for (line, want) in [
            ("/", some(MenuKind::Command, 0, "")),
            ("/mo", some(MenuKind::Command, 0, "mo")),
            ("/mode ", some(MenuKind::Argument("mode"), 6, "")),
            ("/mode  wr", some(MenuKind::Argument("mode"), 7, "wr")),
            ("/usr/bin", None),
            ("/quit ", None),
            ("/nothing ", None),
            ("see @", some(MenuKind::Mention, 4, "")),
            ("see (@src/a", some(MenuKind::Mention, 5, "src/a")),
            ("see @\"two wo", some(MenuKind::Mention, 4, "two wo")),
            ("see @\"two words\" and", None),
            ("a\n@b", some(MenuKind::Mention, 2, "b")),
            ("mail a@b", None),
            ("\\@b", None),
            ("!echo @b", None),
            ("/usr/bin @b", None),
            ("", None),
        ] {
            assert_eq!(found(line), want, "{line:?}");
        }
        assert_eq!(MenuPlace::of("@ab c", 2).map(|place| place.typed), Some("a".to_string()));
    }
}
