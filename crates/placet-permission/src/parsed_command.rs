//! A command line that was parsed once, and the files that its words name.

use super::Access;
use super::command;
use super::command::{CommandSegment, RedirectKind, ShellParseContext, ShellParseError, ShellRedirect};
use super::danger::is_harmless_device;
use super::tables;
use std::path::{Path, PathBuf};

/// A line that was parsed once.
pub(super) struct ParsedCommand<'a> {
    pub(super) tool: &'a str,
    pub(super) reach: &'a Access,
    pub(super) command: &'a str,
    pub(super) segments: Result<Vec<CommandSegment>, ShellParseError>,
}

impl<'a> ParsedCommand<'a> {
    /// `None` for an access that is not a command.
    pub(super) fn read(tool: &'a str, reach: &'a Access, home: Option<&Path>) -> Option<ParsedCommand<'a>> {
        let Access::Run { command, cwd, .. } = reach else { return None };
        let segments = command::parse(command, ShellParseContext { cwd, home });
        Some(ParsedCommand { tool, reach, command, segments })
    }

    /// Every part, including the commands that wrappers run.
    pub(super) fn parts(&self) -> Vec<&CommandSegment> {
        self.segments.iter().flatten().flat_map(CommandSegment::all).collect()
    }

    /// The files that the words name: read files and written files. If a line cannot be parsed, every word of it counts
    /// as a read file; its writes are found after the run.
    pub(super) fn files(&self) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        if let (Err(_), Access::Run { cwd, .. }) = (&self.segments, self.reach) {
            let cut = |c: char| c.is_whitespace() || ";|&`(){}<>\"'=".contains(c);
            let words = self.command.split(cut).filter(|word| !word.is_empty());
            reads.extend(words.map(|word| command::join(cwd, word)));
        }
        for part in self.parts() {
            let redirects = part.redirects.iter().filter(|r| is_write(r));
            writes.extend(redirects.flat_map(|r| seen_as(part, r.target.text.as_deref())));
            let mut named = named(part);
            let from = named.len() - reads_of_redirects(part).len().min(named.len());
            let aimed = part
                .arguments()
                .iter()
                .any(|w| w.source.starts_with("-t") || w.source.starts_with("--target"));
            match part.program() {
                // Only the last operand is written; the moved files flow nowhere else.
                Some(name) if !aimed && tables::is_listed(&tables::files().writes_last, name) => {
                    writes.extend(named.pop().filter(|_| from > 0));
                }
                _ => writes.extend(written(part)),
            }
            reads.extend(named);
        }
        writes.retain(|path| !is_harmless_device(path));
        (reads, writes)
    }
}

pub(super) fn is_write(redirect: &ShellRedirect) -> bool {
    matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append)
}

/// `text` as a path from each directory in which the part may run; empty if unknown.
pub(super) fn seen_as(part: &CommandSegment, text: Option<&str>) -> Vec<PathBuf> {
    let Some(text) = text.filter(|t| !t.is_empty()) else { return Vec::new() };
    if text.starts_with('/') {
        return vec![command::normal(Path::new(text))];
    }
    part.dirs.iter().flatten().map(|dir| command::join(dir, text)).collect()
}

/// Paths that the words of a part may name, so that `cat` does not bypass a rule that guards a path. Words of messages
/// and of programs that only print do not count.
pub(super) fn named(part: &CommandSegment) -> Vec<PathBuf> {
    let table = tables::files();
    let is_any = |list: &[String]| part.program().is_some_and(|name| tables::is_listed(list, name));
    if is_any(&table.prints) {
        return reads_of_redirects(part);
    }
    let mut out = reads_of_redirects(part);
    let mut message = false;
    for word in part.arguments() {
        let text = word.shown();
        if std::mem::replace(&mut message, table.messages.iter().any(|option| option == text)) {
            continue;
        }
        // `HEAD:.env`, `if=.env`, `@.env`: the text after the sign.
        let tails =
            [':', '=', '@'].into_iter().filter_map(|sign| text.rsplit_once(sign).map(|(_, tail)| tail));
        let whole = (!text.starts_with('-')).then_some(text);
        let plain = |t: &&str| !t.contains(char::is_whitespace) || is_any(&table.any_word);
        for piece in whole.into_iter().chain(tails).filter(plain) {
            out.extend(seen_as(part, Some(piece)));
        }
    }
    out
}

fn reads_of_redirects(part: &CommandSegment) -> Vec<PathBuf> {
    let reads = part.redirects.iter().filter(|r| r.kind == RedirectKind::Read);
    reads.flat_map(|r| seen_as(part, r.target.text.as_deref())).collect()
}

/// Paths that well-known programs write, delete or change.
pub(super) fn written(part: &CommandSegment) -> Vec<PathBuf> {
    let changes = part
        .program()
        .is_some_and(|name| tables::files().writes.iter().any(|row| row.matches(name, part.arguments())));
    if changes { named(part) } else { Vec::new() }
}
