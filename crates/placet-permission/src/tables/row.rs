//! One row of a table of commands: which commands it matches, and what it says about them. `dangerous.toml` and
//! `read_only.toml` explain the columns.

use crate::command::{CommandArgs, GitCommand, ShellWord};
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CommandRow {
    pub(crate) programs: Vec<String>,
    sub: Vec<String>,
    in_order: Vec<String>,
    exactly: Option<Vec<String>>,
    only: Vec<String>,
    when: Option<WordCondition>,
    unless: WordCondition,
    valued: Vec<String>,
    shown: String,
    pub(crate) does: Option<String>,
    pub(crate) targets: RowTargets,
    pub(crate) guarded: bool,
    pub(crate) wide: bool,
    pub(crate) unseen: bool,
    pub(super) examples: Vec<String>,
    pub(super) not: Vec<String>,
}

/// Which words a destructive command destroys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RowTargets {
    #[default]
    None,
    Operands,
    AfterFirst,
    Last,
}

/// True when one of its columns is true.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct WordCondition {
    options: Vec<String>,
    flags: Vec<String>,
    words: Vec<String>,
    starts: Vec<String>,
    contains: Vec<String>,
    operand_starts: Vec<String>,
    operands_above: Option<usize>,
    no_operands: bool,
    paths: bool,
    unknown: bool,
}

/// True when `list` contains `name`, or a prefix of it with a star: `mkfs*`.
pub(crate) fn is_listed(list: &[String], name: &str) -> bool {
    list.iter().any(|known| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => known == name,
    })
}

impl CommandRow {
    /// The only row of an invalid table.
    pub(super) fn of_everything(does: &str) -> CommandRow {
        CommandRow { programs: vec!["*".into()], does: Some(does.into()), ..CommandRow::default() }
    }

    /// True when the row matches `program` with the arguments `words`.
    pub(crate) fn matches(&self, program: &str, words: &[ShellWord]) -> bool {
        let Some(args) = self.behind(program, words) else { return false };
        let lower = || args.0.iter().map(|w| w.shown().to_ascii_lowercase());
        let mut rest = lower();
        let allowed = |word: &ShellWord| {
            let name = word.source.split('=').next().unwrap_or_default();
            !word.source.starts_with('-')
                || word.text.is_some() && self.only.iter().any(|option| option == name)
        };
        is_listed(&self.programs, program)
            && self.in_order.iter().all(|wanted| rest.any(|word| word == *wanted))
            && self.exactly.as_ref().is_none_or(|all| {
                all.len() == words.len() && all.iter().zip(words).all(|(text, word)| word.is(text))
            })
            && (self.only.is_empty() || args.0.iter().all(allowed))
            && self.when.as_ref().is_none_or(|condition| condition.holds(args) || condition.has_flag(args))
            && !self.unless.holds(args)
            && !args.surely_has(&self.unless.flags, &self.valued)
    }

    /// The arguments after the subcommand; `None` if the row does not match the subcommand.
    fn behind<'a>(&self, program: &str, words: &'a [ShellWord]) -> Option<CommandArgs<'a>> {
        if self.sub.is_empty() {
            return Some(CommandArgs(words));
        }
        let (name, rest) = if program == "git" {
            GitCommand::read(words).and_then(|git| Some((git.name?, git.rest)))?
        } else {
            let (first, rest) = words.split_first()?;
            (first.text.as_deref()?, rest)
        };
        let args = CommandArgs(rest);
        let is_named = |sub: &String| match sub.split_once(' ') {
            None => sub == name,
            Some((sub, below)) => sub == name && args.operands().first().is_some_and(|word| word.is(below)),
        };
        self.sub.iter().any(is_named).then_some(args)
    }

    /// The command as messages show it: `chmod -R`.
    pub(crate) fn shown(&self, program: &str) -> String {
        let behind = if self.shown.is_empty() { self.in_order.join(" ") } else { self.shown.clone() };
        format!("{program} {behind}").trim_end().to_string()
    }

    /// The arguments that name what is destroyed.
    pub(crate) fn aimed<'a>(&self, args: CommandArgs<'a>) -> Vec<&'a ShellWord> {
        let mut operands = args.operands();
        let is_value = |word: &ShellWord| {
            let before = args.0.windows(2).find(|pair| pair.last().is_some_and(|w| std::ptr::eq(w, word)));
            before.and_then(|pair| pair.first()).is_some_and(|w| self.valued.iter().any(|v| w.is(v)))
        };
        operands.retain(|word| !is_value(word));
        match self.targets {
            RowTargets::None => Vec::new(),
            RowTargets::Operands => operands,
            RowTargets::AfterFirst => operands.into_iter().skip(1).collect(),
            RowTargets::Last => operands.pop().into_iter().collect(),
        }
    }
}

impl WordCondition {
    fn has_flag(&self, args: CommandArgs<'_>) -> bool {
        self.flags.iter().any(|flag| args.has_flag(flag))
    }

    fn holds(&self, args: CommandArgs<'_>) -> bool {
        let any = |list: &[String], test: fn(&ShellWord, &str) -> bool| {
            list.iter().any(|text| args.0.iter().any(|word| test(word, text)))
        };
        let operands = args.operands();
        any(&self.options, is_option)
            || any(&self.words, ShellWord::is)
            || any(&self.starts, |word, start| word.source.starts_with(start))
            || any(&self.contains, |word, part| word.source.contains(part))
            || self.operand_starts.iter().any(|start| operands.iter().any(|w| w.source.starts_with(start)))
            || self.operands_above.is_some_and(|most| operands.len() > most)
            || self.no_operands && operands.is_empty()
            || self.paths && operands.iter().any(|word| is_path(word))
            || self.unknown && args.0.iter().any(|word| word.text.is_none())
    }
}

/// True for an argument of git that looks like a path and not like a branch.
fn is_path(word: &ShellWord) -> bool {
    let source = &word.source;
    word.glob
        || source == "."
        || source.starts_with(":/")
        || source.starts_with("./")
        || source.ends_with('/')
}

/// `option` by its name, by an abbreviation of it, with a value, or in a cluster of letters.
fn is_option(word: &ShellWord, option: &str) -> bool {
    let text = word.shown();
    if let Some(long) = option.strip_prefix("--") {
        let name = text.strip_prefix("--").map(|t| t.split('=').next().unwrap_or(t));
        return name.is_some_and(|name| !name.is_empty() && long.starts_with(name));
    }
    if option.len() > 2 {
        return text == option;
    }
    let letter = option.trim_start_matches('-');
    text.starts_with('-') && !text.starts_with("--") && text.contains(letter)
}
