//! The programs that run another program, as a table: `tables/wrappers.toml`. The code here finds the inner command; it
//! contains no knowledge about any single program.

use super::inner::is_assignment;
use super::options::{FoundOption, OptionSyntax, OptionValue};
use super::parser::ShellParser;
use super::{CommandSegment, ShellParseError, ShellWord, WrapperKind};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrapperTable {
    shells: Vec<String>,
    pub(super) find_runs: Vec<String>,
    options: BTreeMap<String, OptionColumns>,
    wrapper: Vec<CommandWrapper>,
}

/// The options of a program that `unwrap.rs` handles.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct OptionColumns {
    letters: String,
    long: Vec<String>,
    optional: Vec<String>,
    valued: Vec<String>,
    script: Vec<String>,
}

/// One row; `tables/wrappers.toml` says what each column means.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandWrapper {
    name: String,
    #[serde(default)]
    sub: Vec<String>,
    #[serde(default)]
    letters: String,
    #[serde(default)]
    long: Vec<String>,
    #[serde(default)]
    optional: Vec<String>,
    #[serde(default)]
    valued: Vec<String>,
    #[serde(default)]
    valued_twice: Vec<String>,
    #[serde(default)]
    before: usize,
    #[serde(default)]
    script: Vec<String>,
    shell: Option<ShellWords>,
    /// The wrapper appends a word to the command if no placeholder marks its position.
    #[serde(default)]
    adds: bool,
    /// Options may also follow the words that come before the command.
    #[serde(default)]
    again: bool,
    /// The name of an architecture may come first.
    #[serde(default)]
    arch: bool,
    #[serde(default)]
    carrier: WrapperConsent,
    #[cfg_attr(not(test), expect(dead_code, reason = "lines that the test of the table tries"))]
    runs: Vec<String>,
}

/// Which words are a text for a shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ShellWords {
    /// All of them, as one text.
    Joined,
    /// Each of them may be one; the words after `:::` are arguments for it.
    Each,
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

/// Without the table no wrapper can be unwrapped, and so no command can be analysed.
pub(super) fn table() -> Result<&'static WrapperTable, ShellParseError> {
    TABLE.as_ref().ok_or(ShellParseError::Unsupported("commands: the table of wrappers is not valid"))
}

pub(crate) fn is_shell(program: &str) -> bool {
    TABLE.as_ref().is_none_or(|table| table.shells.iter().any(|shell| shell == program))
}

impl WrapperTable {
    /// The options of a program that has no row.
    pub(super) fn options_of(&self, program: &str) -> OptionSyntax<'_> {
        let Some(columns) = self.options.get(program) else { return OptionSyntax::default() };
        OptionSyntax {
            letters: &columns.letters,
            long: &columns.long,
            optional: &columns.optional,
            valued: &columns.valued,
            twice: &[],
            script: &columns.script,
        }
    }

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

    /// Adds to the segment the commands that it runs.
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
        let read = self.syntax().read(&words, at);
        let certain = read.certain || self.carrier == WrapperConsent::Itself;
        parser.fork(read.ends.len())?;
        for end in read.ends {
            self.from(parser, segment, &words, end)?;
        }
        // The inner command is not certain, and so consent to it is not enough.
        if !certain && segment.carrier == WrapperKind::Transparent {
            segment.carrier = WrapperKind::Itself;
        }
        Ok(())
    }

    fn syntax(&self) -> OptionSyntax<'_> {
        OptionSyntax {
            letters: &self.letters,
            long: &self.long,
            optional: &self.optional,
            valued: &self.valued,
            twice: &self.valued_twice,
            script: &self.script,
        }
    }

    /// The inner commands of the segment if its options end at `end`.
    fn from(
        &self,
        parser: &mut ShellParser,
        segment: &mut CommandSegment,
        words: &[ShellWord],
        end: usize,
    ) -> Result<(), ShellParseError> {
        let mut at = self.command(words, end);
        if self.again {
            at = self.syntax().read(words, at).ends.first().copied().unwrap_or(at);
        }
        // Options with a text may follow the words that come before the command: `flock FILE -c TEXT`.
        let head = words.len().min(at.saturating_add(2));
        let options = (0..head).flat_map(|place| self.syntax().found_in(words, place));
        let texts: Vec<ShellWord> = options.filter_map(|option| self.text_of(option)).collect();
        for text in &texts {
            self.script(parser, segment, std::slice::from_ref(text))?;
        }
        // `sudo A=b make` sets a variable for the command.
        while self.carrier == WrapperConsent::Itself
            && words.get(at).and_then(|w| w.text.as_deref()).is_some_and(is_assignment)
        {
            at += 1;
        }
        let command = words.get(at..).unwrap_or_default();
        if !texts.is_empty()
            && (command.is_empty() || command.first().is_some_and(|w| w.source.starts_with('-')))
        {
            return Ok(());
        }
        if self.shell == Some(ShellWords::Each) {
            return self.each(parser, segment, command);
        }
        if self.shell == Some(ShellWords::Joined) && self.script(parser, segment, command)? {
            return Ok(());
        }
        parser.run_words(segment, command.to_vec(), self.carrier())
    }

    /// The start of the command if the options end at `at`.
    fn command(&self, words: &[ShellWord], at: usize) -> usize {
        const ALL: usize = 99;
        if self.before >= ALL {
            let end = words.iter().position(|w| w.is("--"));
            return end.map_or(words.len(), |end| end + 1);
        }
        let at = at + self.before;
        if words.get(at).is_some_and(|w| w.is("--")) { at + 1 } else { at }
    }

    /// The text for a shell in an option.
    fn text_of(&self, option: FoundOption) -> Option<ShellWord> {
        if !self.script.contains(&option.name) {
            return None;
        }
        Some(match option.value {
            OptionValue::None => ShellWord::literal(""),
            OptionValue::Here(text) => ShellWord::literal(&text),
            OptionValue::Word(word) => word,
        })
    }

    /// Parses `words` as one text; false if the text is unknown.
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
        let mut command = command.to_vec();
        let marked = |w: &ShellWord| w.source.contains('{');
        if self.adds && !command.is_empty() && !command.iter().any(marked) {
            command.push(ShellWord::literal("$1"));
        }
        if !self.script(parser, segment, &command)? {
            parser.run_words(segment, command, self.carrier())?;
        }
        segment.carrier = self.carrier();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{ShellParseContext, parse};
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
            // No command follows the program, or none follows this word.
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
