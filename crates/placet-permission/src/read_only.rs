//! Commands that change nothing and therefore need no consent, and the files that they name.
//!
//! The whole line decides, not the name of the command: `find` without `-delete`, `sort` without `-o`, `git log`
//! without `--output`. Anything that could make a harmless program run another program excludes the line: variables
//! before it, pagers, external diffs. An uncertain word excludes programs that take paths.

use super::command;
use super::command::{CommandSegment, GitCommand, SegmentKind, ShellWord, WrapperKind};
use super::disclosure;
use super::tables;
use super::tables::{CommandRow, is_safe_variable, steers_later_commands};
use std::path::{Path, PathBuf};

/// What a harmless command reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CommandReads {
    pub(super) paths: Vec<PathBuf>,
    /// The command may read more than it names: a wildcard, a walk, the history.
    pub(super) more: bool,
}

/// True if `program` with these words does more than read, for a reason in the table.
fn is_refused(program: &str, words: &[ShellWord], segment: &CommandSegment) -> bool {
    let counts = |row: &&CommandRow| !row.unseen || segment.inner.is_empty();
    tables::read_only().refused.iter().filter(counts).any(|row| row.matches(program, words))
}

/// What the command reads, if it does nothing else. Commands that it runs in turn are not considered here.
pub(super) fn reads(segment: &CommandSegment) -> Option<CommandReads> {
    if segment.kind == SegmentKind::Opaque || !segment.assignments.iter().all(|(n, v)| is_safe_variable(n, v))
    {
        return None;
    }
    let name = segment.program()?;
    let path = segment.words.first()?.text.as_deref()?;
    let table = tables::read_only();
    if path != name && !table.usual_dirs.iter().any(|dir| path.strip_prefix(dir.as_str()) == Some(name)) {
        return None;
    }
    let words = segment.arguments();
    if let Some(row) = table.reads.iter().find(|row| row.matches(name, words)) {
        return match GitCommand::read(words).filter(|_| name == "git") {
            Some(git) => git_reads(segment, git),
            None => Some(CommandReads { more: row.wide, ..CommandReads::default() }),
        };
    }
    match name {
        // Without a word it prints every variable.
        "set" => (!words.is_empty() && words.iter().all(is_shell_option)).then(CommandReads::default),
        "export" | "readonly" | "unset" => export(words),
        name if tables::is_listed(&table.talk, name) => talk(segment, name),
        name if tables::is_listed(&table.look, name) => look(segment, name),
        _ => None,
    }
}

fn is_shell_option(word: &ShellWord) -> bool {
    let known = |text: &str| tables::read_only().shell_options.iter().any(|option| option == text);
    word.text.as_deref().is_some_and(|text| text.starts_with(['-', '+']) || known(text))
}

fn export(words: &[ShellWord]) -> Option<CommandReads> {
    let harmless = |word: &ShellWord| {
        let text = word.text.as_deref().unwrap_or(&word.source);
        let name = text.split_once('=').map_or(text, |(name, _)| name);
        !name.contains(['[', '$', '`']) && !steers_later_commands(name)
    };
    // Without a name they print every variable.
    let names = words.iter().any(|w| !w.source.starts_with('-'));
    (names && words.iter().all(harmless)).then(CommandReads::default)
}

/// `test -v 'a[$(x)]'` and `printf -v` evaluate the text in the brackets.
fn talk(segment: &CommandSegment, name: &str) -> Option<CommandReads> {
    let evaluates =
        |w: &ShellWord| w.source.contains('[') && w.source.contains(['$', '`']) && w.text.is_some();
    let words = segment.arguments();
    // `read PATH` sets the variable by which later commands are found.
    let sets = |w: &ShellWord| {
        let text = w.text.as_deref().unwrap_or("PATH");
        steers_later_commands(text.split('=').next().unwrap_or(text))
    };
    let spoilt = match name {
        "read" | "local" | "getopts" => words.iter().any(|w| evaluates(w) || sets(w)),
        "printf" | "test" | "[" | "[[" => words.iter().any(|w| evaluates(w) || w.is("-v")),
        "command" => !segment.inner.is_empty(),
        _ => disclosure::prints_environment(name, words),
    };
    (!spoilt && !is_refused(name, words, segment)).then(CommandReads::default)
}

fn look(segment: &CommandSegment, name: &str) -> Option<CommandReads> {
    let words = segment.arguments();
    if segment.carrier != WrapperKind::None && name != "find" {
        return None;
    }
    if is_refused(name, words, segment) || disclosure::reads_unnamed(name, words) {
        return None;
    }
    let refused = match name {
        "date" => {
            words.iter().any(|w| !w.source.starts_with(['+', '-']))
                && !words.iter().any(|w| w.is("-d") || w.is("-r"))
        }
        "sed" => !is_printing_sed(words),
        _ => false,
    };
    if refused {
        return None;
    }
    let table = tables::read_only();
    let skip = usize::from(tables::is_listed(&table.patterns, name) && !names_its_pattern(words));
    let mut reads = paths(segment, words, skip)?;
    reads.more |= table.walks.iter().any(|row| row.matches(name, words));
    Some(reads)
}

/// Only `sed -n '1,20p' FILE`: other commands of sed write files and run programs.
fn is_printing_sed(words: &[ShellWord]) -> bool {
    let script = words.iter().find(|w| !w.source.starts_with('-')).and_then(|w| w.text.as_deref());
    let prints = |s: &str| {
        s.strip_suffix('p').is_some_and(|range| {
            !range.is_empty() && range.chars().all(|c| c.is_ascii_digit() || ",$;p ".contains(c))
        })
    };
    let options = words.iter().filter(|w| w.source.starts_with('-')).all(|w| w.is("-n") || w.is("-E"));
    options && words.iter().any(|w| w.is("-n")) && script.is_some_and(prints)
}

/// True if an option has the pattern of a search, and so every operand is a file.
fn names_its_pattern(words: &[ShellWord]) -> bool {
    words.iter().any(|w| {
        let text = w.shown();
        let cluster = text.starts_with('-') && !text.starts_with("--") && text.contains(['e', 'f']);
        cluster || text.starts_with("--reg") || text.starts_with("--file") || text.starts_with("--from")
    })
}

/// The files that `words` name; `None` if a file is not certain. The first `skip` operands are not files.
fn paths(segment: &CommandSegment, words: &[ShellWord], skip: usize) -> Option<CommandReads> {
    let mut reads = CommandReads::default();
    let mut skip = skip;
    for word in words {
        // The results of `find` are below its start directory, which is checked there.
        if word.source == "{}" && word.text.is_none() {
            reads.more = true;
            continue;
        }
        let text = word.text.as_deref()?;
        reads.more |= word.glob;
        let path = match text.strip_prefix('-') {
            Some("") => continue,
            Some(option) => match (option.split_once('='), option.find(['/', '~', '.'])) {
                (Some((_, value)), _) => value,
                (None, Some(at)) => option.get(at..).unwrap_or_default(),
                (None, None) => continue,
            },
            None if skip > 0 => {
                skip -= 1;
                continue;
            }
            None => text,
        };
        match &segment.dirs {
            _ if path.starts_with('/') => reads.paths.push(command::normal(Path::new(path))),
            Some(dirs) => reads.paths.extend(dirs.iter().map(|dir| command::join(dir, path))),
            None => return None,
        }
    }
    // Without an operand, most programs read their working directory.
    if words.is_empty() {
        reads.paths.extend(segment.dirs.clone()?);
    }
    Some(reads)
}

/// What a git command reads that a row of the table allows.
fn git_reads(segment: &CommandSegment, git: GitCommand<'_>) -> Option<CommandReads> {
    if segment.carrier != WrapperKind::None {
        return None;
    }
    let globals = &tables::read_only().git_globals;
    // The word after -C is a directory, and is checked below.
    let after_c = |at: usize| at > 0 && git.global.get(at - 1).is_some_and(|w| w.is("-C"));
    if !git.global.iter().enumerate().all(|(at, w)| after_c(at) || globals.iter().any(|g| w.is(g))) {
        return None;
    }
    if is_refused("git", git.rest, segment) {
        return None;
    }
    let before = git.global.iter().filter(|w| !w.source.starts_with('-'));
    let places: Vec<ShellWord> = before.chain(git.rest).cloned().collect();
    let skip = usize::from(git.name == Some("grep") && !names_its_pattern(git.rest));
    Some(CommandReads { more: true, ..paths(segment, &places, skip)? })
}

#[cfg(test)]
#[path = "read_only_tests.rs"]
mod tests;
