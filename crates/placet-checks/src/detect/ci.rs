//! Proposals from what continuous integration runs: GitHub's workflows. The files are read line by line, and only commands
//! of one line whose first words are known to check something are taken: a step may also deploy.

use super::proposal::{ProjectFiles, ProposedCheck};

/// First words of commands that check, the name of the check, and how its output is read.
const KNOWN: [(&str, &str, &str); 12] = [
    ("cargo clippy", "clippy", "text"),
    ("cargo fmt --check", "format", "text"),
    ("cargo fmt --all --check", "format", "text"),
    ("cargo fmt --all -- --check", "format", "text"),
    ("cargo doc", "doc", "text"),
    ("ruff check", "ruff", "text"),
    ("ruff format --check", "format", "text"),
    ("mypy", "mypy", "text"),
    ("golangci-lint run", "golangci", "go"),
    ("staticcheck", "staticcheck", "go"),
    ("npx eslint", "eslint", "text"),
    ("npx tsc", "types", "tsc"),
];

/// The most workflow files that are read.
const MOST: usize = 20;

pub(super) fn workflows(files: &ProjectFiles<'_>, known: &[ProposedCheck]) -> Vec<ProposedCheck> {
    const DIR: &str = ".github/workflows";
    let listed = std::fs::read_dir(files.dir().join(DIR)).into_iter().flatten().flatten();
    let mut names: Vec<String> = listed
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".yml") || name.ends_with(".yaml"))
        .collect();
    names.sort();
    let mut found: Vec<ProposedCheck> = Vec::new();
    for name in names.iter().take(MOST) {
        let from = format!("{DIR}/{name}");
        let Some(text) = files.read(&from) else { continue };
        for command in text.lines().filter_map(command) {
            let Some((_, name, output)) = KNOWN.iter().find(|(start, ..)| begins(command, start)) else {
                continue;
            };
            let is_known = known.iter().chain(&found).any(|check| check.name == *name);
            if !is_known {
                found.push(ProposedCheck::new(name, command, output, &from));
            }
        }
    }
    found
}

/// `- run: cargo clippy -- -D warnings`, or a line of a block below `run: |`. Variables of the server have no meaning here.
fn command(line: &str) -> Option<&str> {
    let line = line.trim();
    let line = line.strip_prefix("- ").unwrap_or(line);
    let line = line.strip_prefix("run:").map_or(line, str::trim);
    let is_plain =
        !line.contains("${{") && !line.contains(['|', ';', '&', '>', '<', '`', '$', '"', '\'', '\\']);
    (is_plain && !line.is_empty()).then_some(line)
}

fn begins(command: &str, start: &str) -> bool {
    command.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}
