//! The words after a program: options and operands.

use super::ShellWord;
use super::options::{FoundOption, OptionSyntax, OptionValue};

/// The words after a program or a subcommand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandArgs<'a>(pub(crate) &'a [ShellWord]);

impl<'a> CommandArgs<'a> {
    pub(crate) fn has(self, text: &str) -> bool {
        self.0.iter().any(|w| w.is(text))
    }

    /// An option before `--`: a letter (`-f`) alone or in a cluster, or a long name, possibly abbreviated.
    pub(crate) fn has_flag(self, flag: &str) -> bool {
        let letter = flag.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        self.options().any(|text| match letter {
            Some(letter) => !text.starts_with("--") && text.contains(letter),
            None => {
                let name = text.split('=').next().unwrap_or(text);
                name.len() > 2 && flag.starts_with(name)
            }
        })
    }

    /// True if an option of `flags` is certainly present: it is not the value of an option in `valued`, and `--no-...`
    /// does not negate it.
    pub(crate) fn surely_has(self, flags: &[String], valued: &[String]) -> bool {
        let syntax = OptionSyntax { valued, long: flags, ..OptionSyntax::default() };
        let taken_back = |flag: &str| {
            let long = flag.strip_prefix("--");
            let is_no = |text: &str, long: &str| {
                let name = text.strip_prefix("--no-").map(|name| name.split('=').next().unwrap_or(name));
                name.is_some_and(|name| long.starts_with(name))
            };
            let same = |other: &&String| match (long, other.strip_prefix("--")) {
                (None, Some(other)) => {
                    let letter = flag.trim_start_matches('-').to_ascii_lowercase();
                    letter == "n" && other == "dry-run" || other.starts_with(&letter)
                }
                (Some(long), Some(other)) => long == other,
                _ => false,
            };
            let mut longs = flags.iter().filter(same).filter_map(|long| long.strip_prefix("--"));
            longs.any(|long| self.options().any(|text| is_no(text, long)))
        };
        let mut at = 0;
        while let Some(word) = self.0.get(at) {
            let Some(text) = word.text.as_deref() else { return false };
            if text == "--" {
                return false;
            }
            let found = syntax.found_in(self.0, at);
            let exact = |option: &FoundOption| {
                flags.contains(&option.name) && (!text.starts_with("--") || text == option.name)
            };
            if found.iter().any(|option| exact(option) && !taken_back(&option.name)) {
                return true;
            }
            at += if found.iter().any(|option| matches!(option.value, OptionValue::Word(_))) { 2 } else { 1 };
        }
        false
    }

    pub(crate) fn options(self) -> impl Iterator<Item = &'a str> {
        let texts = self.0.iter().filter_map(|w| w.text.as_deref());
        texts.take_while(|t| *t != "--").filter(|t| t.starts_with('-') && t.len() > 1)
    }

    /// The words that are not options, as far as their text is known.
    pub(crate) fn operands(self) -> Vec<&'a ShellWord> {
        let mut ended = false;
        let mut out = Vec::new();
        for word in self.0 {
            match word.text.as_deref() {
                Some("--") if !ended => ended = true,
                Some(text) if !ended && text.starts_with('-') && text.len() > 1 => {}
                _ => out.push(word),
            }
        }
        out
    }
}
