//! Commands that people write: a Markdown file whose text becomes a message. `review.md` is `/review`, and
//! `git/commit.md` is `/git:commit`.

use super::front_matter::split_front_matter;
use super::places::{GuidanceDir, GuidanceOrigin};
use super::scan::{self, GuidanceProblem, GuidanceReadError};
use placet_text::text::shell_word;
use std::path::{Path, PathBuf};

/// The most characters of a description.
const DESCRIPTION: usize = 300;
/// How deep directories of commands are read.
const DEEPEST: usize = 4;
/// The most commands of one directory.
const MOST: usize = 1000;

/// One command. Its text is read again when it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandFile {
    /// Without the slash; `:` parts directories.
    pub name: String,
    pub path: PathBuf,
    pub origin: GuidanceOrigin,
    /// On one line; the first line of its text where the file has none.
    pub description: String,
    /// What to type after the name.
    pub arguments: String,
    pub model: Option<String>,
    /// As the file names them: `Bash(git add:*)`.
    pub allowed_tools: Vec<String>,
    pub is_trusted: bool,
    pub hash: String,
    body: String,
}

/// A piece of a command's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandPiece {
    Text(String),
    /// A command line, whose output takes its place.
    Run(String),
}

/// All commands that were found.
#[derive(Clone, Debug, Default)]
pub struct CommandCatalog {
    pub commands: Vec<CommandFile>,
    pub problems: Vec<GuidanceProblem>,
}

impl CommandCatalog {
    pub(super) fn read(
        dirs: &[GuidanceDir],
        may_read: &dyn Fn(&Path) -> bool,
        trusts: &dyn Fn(&Path, &str) -> bool,
    ) -> CommandCatalog {
        let mut catalog = CommandCatalog::default();
        for dir in dirs {
            let mut files = Vec::new();
            find(&dir.path, DEEPEST, &mut files, &mut catalog.problems);
            for file in files {
                catalog.add(&file, dir, may_read, trusts);
            }
        }
        catalog.commands.sort_by(|a, b| a.name.cmp(&b.name));
        catalog
    }

    fn add(
        &mut self,
        file: &Path,
        dir: &GuidanceDir,
        may_read: &dyn Fn(&Path) -> bool,
        trusts: &dyn Fn(&Path, &str) -> bool,
    ) {
        let Some(name) = name_of(file, &dir.path) else {
            let why = "its name must be letters, digits, `-` and `_`, at most 64";
            return self.problems.push(GuidanceProblem::new(file, why));
        };
        if let Some(first) = self.commands.iter().find(|command| command.name == name) {
            let why = format!("the name /{name} is taken by {}, which is used", first.path.display());
            return self.problems.push(GuidanceProblem::new(file, why));
        }
        match CommandFile::read(name, file, dir, may_read) {
            Ok(mut command) => {
                command.is_trusted =
                    command.origin == GuidanceOrigin::Own || trusts(&command.path, &command.hash);
                self.commands.push(command);
            }
            Err(problem) => self.problems.push(problem),
        }
    }

    pub fn find(&self, name: &str) -> Option<&CommandFile> {
        self.commands.iter().find(|command| command.name == name)
    }
}

fn find(dir: &Path, depth: usize, files: &mut Vec<PathBuf>, problems: &mut Vec<GuidanceProblem>) {
    for path in scan::entries(dir, problems) {
        let Ok(meta) = std::fs::symlink_metadata(&path) else { continue };
        if path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".")) {
            continue;
        }
        if meta.is_dir() && depth > 0 {
            find(&path, depth - 1, files, problems);
        } else if !meta.is_dir() && path.extension().is_some_and(|end| end == "md") && files.len() < MOST {
            files.push(path);
        }
    }
}

/// `git/commit.md` below the directory is `git:commit`, and so is `git/git:commit.md`: some projects repeat the directory
/// in the name of the file.
fn name_of(file: &Path, dir: &Path) -> Option<String> {
    let relative = file.strip_prefix(dir).ok()?.with_extension("");
    let parts: Option<Vec<&str>> = relative.components().map(|part| part.as_os_str().to_str()).collect();
    let mut parts = parts?;
    if let Some(last) = parts.last().copied().filter(|last| last.contains(':')) {
        parts = last.split(':').collect();
    }
    parts.iter().all(|part| scan::is_name(part)).then(|| parts.join(":"))
}

impl CommandFile {
    fn read(
        name: String,
        path: &Path,
        dir: &GuidanceDir,
        may_read: &dyn Fn(&Path) -> bool,
    ) -> Result<CommandFile, GuidanceProblem> {
        let text = scan::text_of(path, dir, may_read);
        let text = text.map_err(|why: GuidanceReadError| GuidanceProblem::new(path, why))?;
        let (front, body) = split_front_matter(&text).map_err(|why| GuidanceProblem::new(path, why))?;
        let body = body.trim();
        if body.is_empty() {
            return Err(GuidanceProblem::new(path, "it has no text"));
        }
        let first =
            body.lines().map(|line| line.trim().trim_start_matches(['#', ' '])).find(|l| !l.is_empty());
        let description = front.value("description").or(first).unwrap_or("");
        let usable = |model: &&str| !matches!(*model, "inherit" | "default");
        Ok(CommandFile {
            name,
            path: path.into(),
            origin: dir.origin,
            description: scan::one_line(description, DESCRIPTION).0,
            arguments: scan::one_line(front.value("argument-hint").unwrap_or(""), 80).0,
            model: front.value("model").filter(usable).map(|model| scan::one_line(model, 100).0),
            allowed_tools: front.items("allowed-tools"),
            is_trusted: false,
            hash: blake3::hash(text.as_bytes()).to_hex().to_string(),
            body: body.into(),
        })
    }

    /// Its text, as the file has it.
    pub fn body(&self) -> &str {
        &self.body
    }

    /// The patterns of command lines that `allowed-tools` permits: `Bash(git add:*)` and `run(git add *)` are
    /// `git add *`. Other tools need no permission here, or a question that no file answers.
    pub fn allowed_commands(&self) -> Vec<String> {
        let pattern = |item: &String| {
            let (tool, rest) = item.split_once('(')?;
            let inner = rest.strip_suffix(')')?.trim();
            let runs = matches!(tool.trim(), "Bash" | "bash" | "run" | "run_command" | "shell");
            // `git add:*` means `git add`, alone or with arguments.
            let pattern = match inner.strip_suffix(":*") {
                Some(start) => format!("{start} *"),
                None => inner.to_string(),
            };
            // A pattern for everything would be a mode of its own.
            let is_narrow = pattern.trim_matches(['*', ' ']).chars().any(char::is_alphanumeric);
            (runs && is_narrow).then_some(pattern)
        };
        self.allowed_tools.iter().filter_map(pattern).collect()
    }

    /// Its text with `arguments` in the places that ask for them; `words` are the same arguments, one by one.
    pub fn pieces(&self, arguments: &str, words: &[String]) -> Vec<CommandPiece> {
        let mut asks = false;
        let mut out = Vec::new();
        for piece in split_runs(&self.body) {
            out.push(match piece {
                CommandPiece::Text(text) => {
                    let (text, used) = filled(&text, arguments, words, &|text| text.to_string());
                    asks |= used;
                    CommandPiece::Text(text)
                }
                // The shell must read each argument as one word, whatever is in it.
                CommandPiece::Run(line) => {
                    let quoted = |text: &str| shell_word::quoted(text);
                    let all = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
                    let (line, used) = filled(&line, &all, words, &quoted);
                    asks |= used;
                    CommandPiece::Run(line)
                }
            });
        }
        if !asks && !arguments.is_empty() {
            out.push(CommandPiece::Text(format!("\n\nArguments: {arguments}")));
        }
        out
    }
}

/// Splits a text at its command lines: an exclamation mark and text between backticks, not after a word.
fn split_runs(body: &str) -> Vec<CommandPiece> {
    let mut out = Vec::new();
    let (mut text, mut rest) = (String::new(), body);
    while let Some(at) = rest.find("!`") {
        let (before, from) = rest.split_at(at);
        let inner = from.get(2..).unwrap_or("");
        let starts = before.chars().next_back().or(text.chars().next_back());
        // `wow!` before a span of code is no command line.
        let starts = starts.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '`' | '!'));
        match inner.find(['`', '\n']).filter(|end| inner.get(*end..).is_some_and(|r| r.starts_with('`'))) {
            Some(end) if starts && end > 0 => {
                text.push_str(before);
                out.push(CommandPiece::Text(std::mem::take(&mut text)));
                out.push(CommandPiece::Run(inner.get(..end).unwrap_or("").trim().into()));
                rest = inner.get(end + 1..).unwrap_or("");
            }
            _ => {
                text.push_str(before);
                text.push_str("!`");
                rest = inner;
            }
        }
    }
    text.push_str(rest);
    out.push(CommandPiece::Text(text));
    out.retain(|piece| !matches!(piece, CommandPiece::Text(text) if text.is_empty()));
    out
}

/// The text with `$ARGUMENTS` and `$1` to `$9` replaced, and whether there were any. `\$1` is the text `$1`.
fn filled(text: &str, arguments: &str, words: &[String], write: &dyn Fn(&str) -> String) -> (String, bool) {
    let (mut out, mut used) = (String::with_capacity(text.len()), false);
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        if let Some(plain) = before.strip_suffix('\\') {
            out.push_str(plain);
            out.push('$');
            rest = after;
            continue;
        }
        out.push_str(before);
        let digit = after.chars().next().and_then(|c| c.to_digit(10)).filter(|digit| *digit > 0);
        let is_longer = after.chars().nth(1).is_some_and(|c| c.is_ascii_digit());
        if let Some(tail) = after.strip_prefix("ARGUMENTS") {
            out.push_str(arguments);
            (rest, used) = (tail, true);
        } else if let Some(digit) = digit.filter(|_| !is_longer) {
            let word = words.get(digit as usize - 1).map(String::as_str);
            out.push_str(&word.map(write).unwrap_or_default());
            (rest, used) = (after.get(1..).unwrap_or(""), true);
        } else {
            out.push('$');
            rest = after;
        }
    }
    out.push_str(rest);
    (out, used)
}

#[cfg(test)]
#[path = "command_file_tests.rs"]
mod tests;
