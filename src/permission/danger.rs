//! Command lines that destroy things: a coarse net for the modes without a sandbox. It errs towards asking.
//!
//! This is no parser of shell grammar and no defence: it finds well-known destroyers in any position of a line,
//! behind wrappers and inside quotes. Containment is the sandbox's work.

/// The destructive thing in `command`, as words for the person, if there is one.
pub fn danger_of(command: &str) -> Option<String> {
    segments(command).iter().find_map(|segment| danger_of_segment(segment))
}

/// True when the line runs, or could run, more than its first program.
pub(super) fn is_compound(command: &str) -> bool {
    command.contains(['\n', ';', '|', '&', '`', '<', '>', '(', ')', '{', '}']) || command.contains("$(")
}

/// The line cut at everything that starts another program.
pub(super) fn segments(command: &str) -> Vec<String> {
    let cut = |c: char| matches!(c, '\n' | ';' | '|' | '&' | '`' | '(' | ')' | '{' | '}' | '"' | '\'');
    command.split(cut).map(|part| part.trim().to_string()).filter(|part| !part.is_empty()).collect()
}

fn danger_of_segment(segment: &str) -> Option<String> {
    let words: Vec<&str> = segment.split_whitespace().collect();
    // Any word may be the program: wrappers (`sudo`, `env A=b`, `timeout 5`, `xargs`) come in too many shapes.
    (0..words.len()).find_map(|at| words.get(at..).and_then(danger_at))
}

fn danger_at(words: &[&str]) -> Option<String> {
    let (first, rest) = words.split_first()?;
    let program = first.rsplit('/').next().unwrap_or(first).trim_start_matches('\\');
    let has_flag = |short: char, long: &str| {
        rest.iter().any(|w| *w == long || w.starts_with('-') && !w.starts_with("--") && w.contains(short))
    };
    let has = |word: &str| rest.contains(&word);
    let says = |what: &str| Some(format!("`{what}` destroys data"));
    match program {
        "rm" if has_flag('r', "--recursive") || has_flag('R', "--recursive") || has_flag('f', "--force") => {
            says(&words.join(" "))
        }
        "find" if has("-delete") || has("-exec") && has("rm") => says("find ... -delete"),
        "dd" if rest.iter().any(|w| w.starts_with("of=")) => says("dd"),
        "shred" | "wipefs" | "fdisk" | "parted" => says(program),
        _ if program.starts_with("mkfs") => says(program),
        "chmod" | "chown" if has_flag('R', "--recursive") => says(&format!("{program} -R")),
        "truncate" => says("truncate"),
        "git" => git_danger(rest),
        _ => None,
    }
}

fn git_danger(rest: &[&str]) -> Option<String> {
    let has = |word: &str| rest.contains(&word);
    let forced = rest.iter().any(|w| w.starts_with("--force") || *w == "-f" || w.starts_with("-f"));
    // `-c key=value` and `-C dir` come before the subcommand and take a word of their own.
    let takes_word =
        |at: usize| at.checked_sub(1).and_then(|b| rest.get(b)).is_some_and(|w| matches!(*w, "-c" | "-C"));
    let is_subcommand = |(at, word): &(usize, &&str)| !word.starts_with('-') && !takes_word(*at);
    let what = match rest.iter().enumerate().find(is_subcommand).map(|(_, word)| *word)? {
        "reset" if has("--hard") || has("--merge") || has("--keep") => "git reset --hard",
        "clean" => "git clean",
        "checkout" if has("--") || has(".") || forced => "git checkout --",
        "restore" => "git restore",
        "switch" if forced || has("--discard-changes") => "git switch -f",
        "stash" if has("drop") || has("clear") => "git stash drop",
        "push" if forced || has("--mirror") || has("--delete") || has("-d") => "git push --force",
        "branch" if has("-D") || has("--delete") || has("-d") => "git branch -D",
        "filter-branch" | "update-ref" => "git filter-branch",
        _ => return None,
    };
    Some(format!("`{what}` destroys data"))
}
