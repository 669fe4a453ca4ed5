//! The programs that run another one, as a table: `tables/wrappers.toml`. What is behind each is read here; nothing about any one
//! program stands in the code.

use super::inner::{is_assignment, options};
use super::parser::ShellParser;
use super::{CommandSegment, ShellParseError, ShellWord, WrapperKind};
use serde::Deserialize;
use std::sync::LazyLock;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrapperTable {
    shells: Vec<String>,
    pub(super) xargs_valued: Vec<String>,
    pub(super) find_runs: Vec<String>,
    wrapper: Vec<CommandWrapper>,
}

/// One row; `tables/wrappers.toml` says what each column means.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandWrapper {
    name: String,
    #[serde(default)]
    sub: Vec<String>,
    #[serde(default)]
    valued: Vec<String>,
    #[serde(default)]
    valued_twice: Vec<String>,
    #[serde(default)]
    before: usize,
    #[serde(default)]
    script: Vec<String>,
    /// The words are one text for a shell.
    #[serde(default)]
    joined: bool,
    /// Each word may be a text for a shell; behind `:::` stand words that are put into it.
    #[serde(default)]
    each: bool,
    /// The name of an architecture may come first.
    #[serde(default)]
    arch: bool,
    #[serde(default)]
    carrier: WrapperConsent,
    #[cfg_attr(not(test), expect(dead_code, reason = "lines that the test of the table tries"))]
    runs: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WrapperConsent {
    #[default]
    Transparent,
    Itself,
}

static TABLE: LazyLock<Option<WrapperTable>> =
    LazyLock::new(|| toml::from_str(include_str!("../tables/wrappers.toml")).ok());

/// Without the table no command can be seen through, so none can be analysed.
pub(super) fn table() -> Result<&'static WrapperTable, ShellParseError> {
    TABLE.as_ref().ok_or(ShellParseError::Unsupported("commands: the table of wrappers is not valid"))
}

pub(in crate::permission) fn is_shell(program: &str) -> bool {
    TABLE.as_ref().is_none_or(|table| table.shells.iter().any(|shell| shell == program))
}

impl WrapperTable {
    /// The row of a program.
    pub(super) fn find(&self, program: &str) -> Option<&CommandWrapper> {
        let loader = ["ld-linux", "ld-musl", "ld64.so", "ld.so"].iter().any(|stem| program.starts_with(stem));
        let name = if loader { "ld.so" } else { program };
        self.wrapper.iter().find(|wrapper| wrapper.name == name)
    }
}

impl CommandWrapper {
    fn carrier(&self) -> WrapperKind {
        match self.carrier {
            WrapperConsent::Transparent => WrapperKind::Transparent,
            WrapperConsent::Itself => WrapperKind::Itself,
        }
    }

    /// What the segment runs, added to it.
    pub(super) fn unwrap(
        &self,
        parser: &mut ShellParser,
        segment: &mut CommandSegment,
    ) -> Result<(), ShellParseError> {
        let words = segment.arguments().to_vec();
        let first = words.first().and_then(|w| w.text.as_deref()).unwrap_or_default();
        let mut at = 0;
        if !self.sub.is_empty() {
            if !self.sub.iter().any(|sub| sub == first) {
                return Ok(());
            }
            at = 1;
        }
        if self.arch && !first.starts_with('-') {
            at = 1;
        }
        at += options(words.get(at..).unwrap_or_default(), &self.valued, &self.valued_twice);
        at = self.command(&words, at);
        // Options for a text may stand behind the words that come before the command: `flock FILE -c TEXT`.
        let head = words.get(..words.len().min(at.saturating_add(2))).unwrap_or_default();
        for (place, word) in head.iter().enumerate() {
            let text = match self.text_after(word) {
                Some(OptionValue::Here(text)) => ShellWord::literal(text),
                Some(OptionValue::Next) => {
                    words.get(place + 1).cloned().unwrap_or_else(|| ShellWord::literal(""))
                }
                None => continue,
            };
            return self.script(parser, segment, &[text]).map(drop);
        }
        // `sudo A=b make` sets a variable for it.
        while self.carrier == WrapperConsent::Itself
            && words.get(at).and_then(|w| w.text.as_deref()).is_some_and(is_assignment)
        {
            at += 1;
        }
        let command = words.get(at..).unwrap_or_default();
        if self.each {
            return self.each(parser, segment, command);
        }
        if self.joined && self.script(parser, segment, command)? {
            return Ok(());
        }
        parser.run_words(segment, command.to_vec(), self.carrier())
    }

    /// Where the command begins, if the options end at `at`.
    fn command(&self, words: &[ShellWord], at: usize) -> usize {
        const ALL: usize = 99;
        if self.before >= ALL {
            let end = words.iter().position(|w| w.is("--"));
            return end.map_or(words.len(), |end| end + 1);
        }
        let at = at + self.before;
        if words.get(at).is_some_and(|w| w.is("--")) { at + 1 } else { at }
    }

    /// Whether `word` is an option behind which a text for a shell stands; also in a cluster: `-qc`.
    fn text_after<'w>(&self, word: &'w ShellWord) -> Option<OptionValue<'w>> {
        let text = word.text.as_deref()?;
        self.script.iter().find_map(|option| {
            if text == option {
                return Some(OptionValue::Next);
            }
            if option.starts_with("--") {
                let value = text.strip_prefix(option.as_str())?.strip_prefix('=')?;
                return Some(OptionValue::Here(value));
            }
            let cluster = text.starts_with('-') && !text.starts_with("--") && text.len() < 8;
            (cluster && text.ends_with(option.trim_start_matches('-'))).then_some(OptionValue::Next)
        })
    }

    /// Reads `words` as one text; false where it cannot be known.
    fn script(
        &self,
        parser: &mut ShellParser,
        segment: &mut CommandSegment,
        words: &[ShellWord],
    ) -> Result<bool, ShellParseError> {
        if words.iter().all(|w| w.is("") || w.is("-")) {
            return Ok(true);
        }
        let state = parser.state.for_new_shell();
        let known = parser.script_of(segment, words, state)?.is_some();
        segment.carrier = self.carrier();
        Ok(known)
    }

    fn each(
        &self,
        parser: &mut ShellParser,
        segment: &mut CommandSegment,
        words: &[ShellWord],
    ) -> Result<(), ShellParseError> {
        let mark = words.iter().position(|w| w.text.as_deref().is_some_and(|t| t.starts_with(":::")));
        let (command, given) = words.split_at(mark.unwrap_or(words.len()));
        let texts = if command.is_empty() { given } else { command };
        let spaced = |w: &&ShellWord| w.text.as_deref().is_some_and(|t| t.contains(char::is_whitespace));
        for text in texts.iter().filter(spaced) {
            self.script(parser, segment, std::slice::from_ref(text))?;
        }
        if !self.script(parser, segment, command)? {
            parser.run_words(segment, command.to_vec(), self.carrier())?;
        }
        segment.carrier = self.carrier();
        Ok(())
    }
}

/// Where the text of an option is.
enum OptionValue<'w> {
    Here(&'w str),
    Next,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permission::command::{ShellParseContext, parse};
    use std::path::Path;

    #[test]
    fn every_row_is_seen_through() {
        let text = include_str!("../tables/wrappers.toml");
        let table: WrapperTable = toml::from_str(text).unwrap_or_else(|e| panic!("{e}"));
        assert!(table.wrapper.len() > 70);
        let around = || ShellParseContext { cwd: Path::new("/w"), home: None };
        for row in &table.wrapper {
            assert!(!row.runs.is_empty(), "{}", row.name);
            for line in &row.runs {
                let segments = parse(line, around()).unwrap_or_else(|e| panic!("{line}: {e}"));
                let all: Vec<&CommandSegment> = segments.iter().flat_map(CommandSegment::all).collect();
                let curl = all.iter().find(|s| s.program() == Some("curl"));
                assert!(curl.is_some(), "{line}: {:?}", all.iter().map(|s| s.program()).collect::<Vec<_>>());
                let outer = all.first().map(|s| s.carrier);
                assert_eq!(outer, Some(row.carrier()), "{line}");
            }
            // Nothing is behind it, or not behind this word.
            let alone = if row.sub.is_empty() { row.name.clone() } else { format!("{} x-curl x", row.name) };
            let segments = parse(&alone, around()).unwrap_or_else(|e| panic!("{alone}: {e}"));
            assert!(segments.iter().all(|segment| segment.inner.is_empty()), "{alone}");
        }
        let mut names: Vec<&str> = table.wrapper.iter().map(|row| row.name.as_str()).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn what_is_no_wrapper_by_its_first_word_runs_nothing_else() {
        for line in ["npm run x", "uv sync", "perf report", "mise ls", "prlimit", "ssh host", "parallel"] {
            let segments = parse(line, ShellParseContext { cwd: Path::new("/w"), home: None }).unwrap();
            let all: Vec<&CommandSegment> = segments.iter().flat_map(CommandSegment::all).collect();
            assert_eq!(all.len(), 1, "{line}");
        }
    }
}
