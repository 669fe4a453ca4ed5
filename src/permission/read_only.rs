//! Commands that change nothing, so that they need no consent of their own; and the files they name.
//!
//! A command is in the set by its whole line, not by its name: `find` without `-delete`, `sort` without `-o`, `git log`
//! without `--output`. Everything that could make a harmless program run another one counts against it: variables in
//! front, pagers, external diffs. A word that is not certain counts against programs that take paths.

use super::command;
use super::command::{CommandSegment, SegmentKind, ShellWord, WrapperKind};
use super::danger::GitCommand;
use super::disclosure;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// What a harmless command looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CommandReads {
    pub(super) paths: Vec<PathBuf>,
    /// It may look at more than it names: a wildcard, a walk, the history.
    pub(super) more: bool,
}

#[derive(Debug, Default, Deserialize)]
struct ReadOnlyTable {
    talk: Vec<String>,
    look: Vec<String>,
    spoilt: Vec<UnsafeOptionRow>,
}

/// Options with which some programs do more than look.
#[derive(Debug, Deserialize)]
struct UnsafeOptionRow {
    programs: Vec<String>,
    options: Vec<String>,
    #[cfg(test)]
    asked: Vec<String>,
}

const SHIPPED: &str = include_str!("read_only.toml");

/// A table that cannot be read permits nothing; a test reads it.
static TABLE: LazyLock<ReadOnlyTable> = LazyLock::new(|| toml::from_str(SHIPPED).unwrap_or_default());

/// True where an option makes `program` do more than look.
fn has_unsafe_option(program: &str, words: &[ShellWord]) -> bool {
    let rows = TABLE.spoilt.iter().filter(|row| row.programs.iter().any(|name| name == program));
    rows.flat_map(|row| &row.options).any(|option| words.iter().any(|w| is_option(w, option)))
}

const FIND_ACTS: [&str; 10] = [
    "-delete",
    "-exec",
    "-execdir",
    "-ok",
    "-okdir",
    "-fprint",
    "-fprint0",
    "-fprintf",
    "-fls",
    "-files0-from",
];

/// Variables that change how something looks and not what runs.
const SAFE_VARIABLES: &[&str] = &[
    "LANG",
    "LANGUAGE",
    "TZ",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "TERM",
    "COLUMNS",
    "LINES",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "CARGO_TERM_COLOR",
    "CARGO_INCREMENTAL",
    "CI",
    "DEBUG",
    "NODE_ENV",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "GIT_OPTIONAL_LOCKS",
    "NEXTEST_NO_FAIL_FAST",
    "PROPTEST_CASES",
    "INSTA_UPDATE",
    "VERBOSE",
    "LOG_LEVEL",
];

/// True when setting `name` for a command does not change what the command is.
pub(super) fn is_safe_variable(name: &str, value: &ShellWord) -> bool {
    let pager = matches!(name, "PAGER" | "GIT_PAGER" | "MANPAGER") && (value.is("cat") || value.is(""));
    pager || name.starts_with("LC_") || SAFE_VARIABLES.contains(&name)
}

/// True when setting `name` for the rest of a line may change what later commands are.
pub(super) fn steers_later_commands(name: &str) -> bool {
    let upper = name.chars().any(|c| c.is_ascii_uppercase());
    let known = [
        "PATH",
        "IFS",
        "ENV",
        "HOME",
        "SHELL",
        "CC",
        "CXX",
        "LD",
        "AR",
        "MAKE",
        "MAKEFLAGS",
        "PS4",
        "CDPATH",
        "SHELLOPTS",
        "BASHOPTS",
        "GLOBIGNORE",
        "TMPDIR",
        "FPATH",
        "RUSTFLAGS",
    ];
    let families = [
        "LD_", "DYLD_", "BASH_", "GIT_", "PYTHON", "NODE_", "NPM_", "npm_", "PERL", "RUBY", "RUSTC",
        "RUSTUP", "CARGO", "GO", "JAVA", "JDK", "PROMPT_", "SSH_", "DOCKER_", "XDG_", "CMAKE", "PKG_",
    ];
    known.contains(&name)
        || upper && families.iter().any(|f| name.starts_with(f))
        || ["PAGER", "EDITOR", "VISUAL", "BROWSER", "OPTIONS", "WRAPPER"]
            .iter()
            .any(|end| name.ends_with(end))
        || name.to_ascii_lowercase().ends_with("_proxy")
}

/// What the command looks at, if looking is all it does. What it runs in turn is not considered here.
pub(super) fn reads(segment: &CommandSegment) -> Option<CommandReads> {
    if segment.kind == SegmentKind::Opaque || !segment.assignments.iter().all(|(n, v)| is_safe_variable(n, v))
    {
        return None;
    }
    let name = segment.program()?;
    let path = segment.words.first()?.text.as_deref()?;
    let usual =
        ["/bin/", "/usr/bin/", "/usr/local/bin/"].iter().any(|dir| path.strip_prefix(dir) == Some(name));
    if path != name && !usual {
        return None;
    }
    let words = segment.arguments();
    if is_version_question(name, words) {
        return Some(CommandReads::default());
    }
    match name {
        "git" => git(segment),
        // Without `--locked` the lock file may be written.
        "cargo" if words.iter().any(|w| w.is("--locked") || w.is("--frozen")) => {
            first_of(words, &["tree", "metadata", "pkgid"])
        }
        "npm" => first_of(words, &["ls", "list", "root", "prefix"]),
        "go" => first_of(words, &["version"]),
        "hostname" if words.is_empty() => Some(CommandReads::default()),
        // Without a word it prints every variable.
        "set"
            if !words.is_empty() && words.iter().all(|w| w.text.as_deref().is_some_and(is_shell_option)) =>
        {
            Some(CommandReads::default())
        }
        "export" | "readonly" | "unset" => export(words),
        name if TABLE.talk.iter().any(|known| known == name) => talk(segment, name),
        name if TABLE.look.iter().any(|known| known == name) => look(segment, name),
        _ => None,
    }
}

/// `--version` is the same everywhere. `-v` is not: `bash -v` and `python -v` run what comes in.
fn is_version_question(name: &str, words: &[ShellWord]) -> bool {
    const ALL: &[&str] = &[
        "cargo", "rustc", "node", "npm", "bun", "deno", "python", "python3", "pip", "pip3", "git", "gcc",
        "clang", "make", "cmake", "java", "javac", "docker", "bash", "tsc", "ruby", "perl", "php", "uv",
        "gh", "rg", "jq",
    ];
    let [only] = words else { return false };
    match only.text.as_deref() {
        Some("--version") => ALL.contains(&name),
        Some("-V") => matches!(name, "cargo" | "rustc" | "python" | "python3"),
        Some("-v") => matches!(name, "node" | "npm"),
        _ => false,
    }
}

fn is_shell_option(text: &str) -> bool {
    text.starts_with(['-', '+']) || matches!(text, "pipefail" | "errexit" | "nounset" | "xtrace")
}

fn first_of(words: &[ShellWord], known: &[&str]) -> Option<CommandReads> {
    let first = words.first()?;
    let plain = words
        .iter()
        .all(|w| w.text.is_some() && !w.source.contains("/") && !w.source.starts_with("--config"));
    (plain && known.iter().any(|k| first.is(k)))
        .then(|| CommandReads { more: true, ..CommandReads::default() })
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

/// `test -v 'a[$(x)]'` and `printf -v` evaluate what stands in the brackets.
fn talk(segment: &CommandSegment, name: &str) -> Option<CommandReads> {
    let evaluates =
        |w: &ShellWord| w.source.contains('[') && w.source.contains(['$', '`']) && w.text.is_some();
    let words = segment.arguments();
    // `read PATH` sets what later commands are found by.
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
    (!spoilt && !has_unsafe_option(name, words)).then(CommandReads::default)
}

fn look(segment: &CommandSegment, name: &str) -> Option<CommandReads> {
    let words = segment.arguments();
    if segment.carrier != WrapperKind::None && name != "find" {
        return None;
    }
    if has_unsafe_option(name, words) || disclosure::reads_unnamed(name, words) {
        return None;
    }
    let operands = || words.iter().filter(|w| !w.source.starts_with('-')).count();
    let refused = match name {
        // What `-exec` runs is judged beside it, where it is known.
        "find" => words.iter().any(|w| {
            let runs = w.is("-exec") || w.is("-execdir") || w.is("-ok") || w.is("-okdir");
            w.text.is_none() || (!runs || segment.inner.is_empty()) && FIND_ACTS.iter().any(|act| w.is(act))
        }),
        "uniq" | "xxd" => operands() > 1,
        "date" => {
            words.iter().any(|w| !w.source.starts_with(['+', '-']))
                && !words.iter().any(|w| w.is("-d") || w.is("-r"))
        }
        "sed" => !is_printing_sed(words),
        "popd" => false,
        "cd" | "pushd" => words.iter().any(|w| w.is("-")),
        _ => false,
    };
    if refused {
        return None;
    }
    let walks = match name {
        "rg" | "tree" | "ack" | "zgrep" => true,
        "grep" | "egrep" | "fgrep" => {
            words.iter().any(|w| is_option(w, "-r") || is_option(w, "-R") || is_option(w, "--recursive"))
        }
        "diff" => words.iter().any(|w| is_option(w, "-r") || is_option(w, "--recursive")),
        _ => words.iter().any(|w| w.glob && name != "ls"),
    };
    let skip = usize::from(
        matches!(name, "grep" | "egrep" | "fgrep" | "rg" | "zgrep" | "jq" | "sed" | "tr" | "date")
            && !names_its_pattern(words),
    );
    let mut reads = paths(segment, words, skip)?;
    reads.more |= walks;
    Some(reads)
}

/// `sed -n '1,20p' FILE` only: other commands of sed write and run.
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

/// True when the pattern of a search is an option's, so that every operand is a file.
fn names_its_pattern(words: &[ShellWord]) -> bool {
    words.iter().any(|w| {
        let text = w.shown();
        let cluster = text.starts_with('-') && !text.starts_with("--") && text.contains(['e', 'f']);
        cluster || text.starts_with("--reg") || text.starts_with("--file") || text.starts_with("--from")
    })
}

/// `option` by its name, by an abbreviation of it, with a value, or in a cluster of letters.
fn is_option(word: &ShellWord, option: &str) -> bool {
    let text = word.text.as_deref().unwrap_or(&word.source);
    if let Some(long) = option.strip_prefix("--") {
        let name = text.strip_prefix("--").map(|t| t.split('=').next().unwrap_or(t));
        return name.is_some_and(|name| !name.is_empty() && long.starts_with(name));
    }
    let letter = option.chars().nth(1);
    if option.len() > 2 {
        return text == option;
    }
    text.starts_with('-') && !text.starts_with("--") && letter.is_some_and(|l| text.contains(l))
}

/// The files that `words` name; `None` when one is not certain. The first `skip` operands are no files.
fn paths(segment: &CommandSegment, words: &[ShellWord], skip: usize) -> Option<CommandReads> {
    let mut reads = CommandReads::default();
    let mut skip = skip;
    for word in words {
        // What `find` found lies below where it was told to look, which is judged there.
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
    // Without a file named, most look at the directory they are in.
    if words.is_empty() {
        reads.paths.extend(segment.dirs.clone()?);
    }
    Some(reads)
}

fn git(segment: &CommandSegment) -> Option<CommandReads> {
    if segment.carrier != WrapperKind::None {
        return None;
    }
    let git = GitCommand::read(segment.arguments())?;
    let globals = ["--no-pager", "--no-optional-locks", "--literal-pathspecs", "-C", "--no-replace-objects"];
    // What stands behind -C is a directory, and is looked at below.
    let after_c = |at: usize| at > 0 && git.global.get(at - 1).is_some_and(|w| w.is("-C"));
    if !git.global.iter().enumerate().all(|(at, w)| after_c(at) || globals.iter().any(|g| w.is(g))) {
        return None;
    }
    let rest = git.rest;
    let has = |option: &str| rest.iter().any(|w| w.is(option));
    let operands: Vec<&ShellWord> = rest.iter().filter(|w| !w.source.starts_with('-')).collect();
    let first = operands.first().and_then(|w| w.text.as_deref()).unwrap_or_default();
    let lists = has("--list")
        || has("-l")
        || has("--contains")
        || has("--merged")
        || has("--no-merged")
        || has("--points-at");
    let reading = match git.name? {
        "status" | "log" | "diff" | "show" | "rev-parse" | "describe" | "ls-files" | "ls-tree"
        | "cat-file" | "blame" | "annotate" | "shortlog" | "rev-list" | "name-rev" | "merge-base"
        | "for-each-ref" | "show-ref" | "grep" | "diff-tree" | "diff-files" | "diff-index"
        | "count-objects" | "check-ignore" | "check-attr" | "version" | "whatchanged" | "show-branch"
        | "cherry" | "range-diff" => true,
        "branch" => {
            (operands.is_empty() || lists) && rest.iter().all(|w| !w.source.starts_with('-') || lists_refs(w))
        }
        "tag" => {
            (operands.is_empty() || lists) && rest.iter().all(|w| !w.source.starts_with('-') || lists_refs(w))
        }
        "remote" => operands.is_empty() || first == "get-url",
        "config" => {
            let gets = ["--get", "--get-all", "--list", "-l", "--get-regexp"].iter().any(|o| has(o));
            let sets = rest.iter().any(|w| {
                ["--unset", "--add", "--replace", "--edit", "-e", "--rename", "--remove"]
                    .iter()
                    .any(|o| w.source.starts_with(o))
            });
            (gets || matches!(first, "get" | "list")) && !sets
        }
        "stash" => matches!(first, "list" | "show"),
        "worktree" | "notes" => first == "list",
        "reflog" => first.is_empty() || first == "show",
        "symbolic-ref" => operands.len() == 1 && !has("-d") && !has("--delete"),
        "submodule" => first == "status" || first.is_empty(),
        _ => false,
    };
    // `%G?` and `%(signature)` run the program that checks signatures, which the configuration names.
    let spoilt = |w: &ShellWord| {
        w.source.starts_with("-O") || w.source.contains("%G") || w.source.contains("%(signature")
    };
    if !reading || has_unsafe_option("git", rest) || rest.iter().any(spoilt) {
        return None;
    }
    let places: Vec<ShellWord> =
        git.global.iter().filter(|w| !w.source.starts_with('-')).chain(rest).cloned().collect();
    let skip = usize::from(git.name == Some("grep") && !names_its_pattern(rest));
    let mut reads = paths(segment, &places, skip)?;
    reads.more = true;
    Some(reads)
}

fn lists_refs(word: &ShellWord) -> bool {
    let safe = [
        "-a",
        "-r",
        "-v",
        "-vv",
        "-l",
        "-n",
        "--all",
        "--remotes",
        "--list",
        "--show-current",
        "--verbose",
        "--contains",
        "--merged",
        "--no-merged",
        "--points-at",
        "--sort",
        "--format",
        "--column",
        "--no-column",
        "--no-color",
        "--color",
    ];
    let name = word.source.split('=').next().unwrap_or_default();
    word.text.is_some() && safe.contains(&name)
}

#[cfg(test)]
#[path = "read_only_tests.rs"]
mod tests;
