//! Commands of other programs become files in placet's directory of commands: Markdown as it is, and the TOML of Gemini
//! CLI as Markdown.

use super::plain_text::has_secret;
use super::proposal::{ImportProposal, ImportedCommand, MOST};
use super::skip_reason::SkipReason;
use crate::text::regular_file;
use std::path::{Path, PathBuf};

/// How deep directories of commands are read; placet itself reads as deep.
const DEEPEST: usize = 4;
/// The largest file; placet reads no larger command.
const LARGEST: u64 = 1 << 20;

/// How the files of a program are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommandForm {
    Markdown,
    GeminiToml,
}

/// Adds the commands below `dir`.
pub(super) fn propose(dir: &Path, form: CommandForm, out: &mut ImportProposal) {
    let ending = if form == CommandForm::Markdown { "md" } else { "toml" };
    let mut files = Vec::new();
    find(dir, ending, DEEPEST, out, &mut files);
    for file in files {
        if out.commands.len() >= MOST {
            return out.skip("the commands", dir, SkipReason::TooMany(MOST));
        }
        match one(&file, dir, form) {
            Ok(command) if out.commands.iter().any(|known| known.path == command.path) => {
                out.skip("the command", &file, SkipReason::FileExists);
            }
            Ok(command) => out.commands.push(command),
            Err(why) => out.skip("the command", &file, why),
        }
    }
}

/// The files of a directory with this ending, in order. There are none where there is no directory.
pub(super) fn entries(dir: &Path, ending: &str, out: &mut ImportProposal) -> Vec<PathBuf> {
    let mut files = Vec::new();
    find(dir, ending, 0, out, &mut files);
    files
}

fn find(dir: &Path, ending: &str, depth: usize, out: &mut ImportProposal, files: &mut Vec<PathBuf>) {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            return;
        }
        Err(e) => return out.skip("the directory", dir, SkipReason::Unreadable(e.to_string())),
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).take(10 * MOST).collect();
    paths.sort();
    for path in paths {
        let Ok(meta) = path.symlink_metadata() else { continue };
        let is_file = path.extension().is_some_and(|end| end == ending);
        if meta.is_dir() && depth > 0 {
            find(&path, ending, depth - 1, out, files);
        } else if is_file && out.leads_out(&path) {
            out.skip("the file", &path, SkipReason::Link);
        } else if !meta.is_dir() && is_file && files.len() <= MOST {
            files.push(path);
        }
    }
}

fn one(file: &Path, dir: &Path, form: CommandForm) -> Result<ImportedCommand, SkipReason> {
    let relative = file.strip_prefix(dir).map_err(|_| SkipReason::CommandName)?.with_extension("md");
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_' || c == ':';
    let named = relative.with_extension("");
    let is_named = |part: std::path::Component<'_>| {
        part.as_os_str().to_str().is_some_and(|part| part.len() <= 64 && part.chars().all(plain))
    };
    if !named.components().all(is_named) {
        return Err(SkipReason::CommandName);
    }
    let text =
        regular_file::read_to_string(file, LARGEST).map_err(|e| SkipReason::Unreadable(e.to_string()))?;
    let text = if form == CommandForm::GeminiToml { markdown_of(&text)? } else { text };
    if text.trim().is_empty() {
        return Err(SkipReason::NoText);
    }
    if has_secret(&text) {
        return Err(SkipReason::Secret);
    }
    Ok(ImportedCommand { path: relative, text, from: file.into() })
}

/// A command of Gemini CLI: `prompt` and `description`.
fn markdown_of(text: &str) -> Result<String, SkipReason> {
    let table: toml::Table =
        text.parse().map_err(|e: toml::de::Error| SkipReason::Unreadable(e.message().to_string()))?;
    let value = |key: &str| table.get(key).and_then(toml::Value::as_str);
    let prompt = value("prompt").filter(|prompt| !prompt.trim().is_empty()).ok_or(SkipReason::NoText)?;
    Ok(format!("{}{}\n", front_matter(value("description")), from_gemini(prompt)))
}

/// The front matter with a description, on one line.
pub(super) fn front_matter(description: Option<&str>) -> String {
    let Some(description) = description else { return String::new() };
    let line = description.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("---\ndescription: {}\n---\n", serde_json::Value::from(line))
}

/// `{{args}}` is `$ARGUMENTS`, `!{COMMAND}` is `` !`COMMAND` `` and `@{FILE}` is `@FILE`.
fn from_gemini(prompt: &str) -> String {
    let mut out = String::new();
    let mut rest = prompt.replace("{{args}}", "$ARGUMENTS");
    while let Some(at) = rest.find("!{").into_iter().chain(rest.find("@{")).min() {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let is_command = after.starts_with('!');
        let inner = after.get(2..).unwrap_or_default();
        match closing(inner) {
            None => {
                out.push_str(after.get(..2).unwrap_or_default());
                rest = inner.to_string();
            }
            Some(end) => {
                let word = inner.get(..end).unwrap_or_default().trim();
                match is_command {
                    true => out.push_str(&format!("!`{word}`")),
                    false => out.push_str(&format!("@{word}")),
                }
                rest = inner.get(end + 1..).unwrap_or_default().to_string();
            }
        }
    }
    out + &rest
}

/// Where the bracket that was open before `text` closes: commands contain brackets of their own.
fn closing(text: &str) -> Option<usize> {
    let mut open = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => open += 1,
            '}' if open == 0 => return Some(at),
            '}' => open -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_of_gemini_cli_becomes_markdown() {
        let text = "description = \"Look: \\\"x\\\"\"\nprompt = \"\"\"Search {{args}} with !{grep -r ${X} {{args}} .} in @{docs/a.md}.\n!{open\"\"\"";
        assert_eq!(
            markdown_of(text).unwrap(),
            "---\ndescription: \"Look: \\\"x\\\"\"\n---\nSearch $ARGUMENTS with !`grep -r ${X} $ARGUMENTS .` in @docs/a.md.\n!{open\n"
        );
        assert!(markdown_of("description = \"x\"").is_err() && markdown_of("prompt =").is_err());
    }
}
