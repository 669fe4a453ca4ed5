//! What "always" may mean beyond one exact line: the family a command belongs to.

use super::command::CommandSegment;
use super::read_only::is_safe_variable;

/// Programs whose first word is the command: `cargo test`, `npm run build`.
const SUBCOMMANDS: &[(&str, &[&str])] = &[
    (
        "git",
        &["add", "commit", "fetch", "merge", "rebase", "pull", "log", "diff", "mv", "switch", "cherry-pick"],
    ),
    (
        "cargo",
        &[
            "build", "check", "test", "clippy", "fmt", "doc", "bench", "run", "nextest", "update", "add",
            "fetch", "clean", "deny", "audit", "insta", "machete", "outdated", "expand", "llvm-cov",
        ],
    ),
    ("npm", &["test", "run", "ci", "install", "audit", "outdated", "start"]),
    ("pnpm", &["test", "run", "install", "audit", "build", "lint"]),
    ("yarn", &["test", "run", "install", "build", "lint"]),
    ("bun", &["test", "run", "install"]),
    ("deno", &["test", "check", "lint", "fmt", "task"]),
    ("go", &["build", "test", "vet", "fmt", "mod", "generate", "run"]),
    ("docker", &["ps", "images", "logs", "build", "inspect"]),
    ("kubectl", &["get", "describe", "logs"]),
    ("gh", &["pr", "issue", "run"]),
    ("pip", &["install", "list", "show", "freeze", "check"]),
    ("uv", &["sync", "lock", "pip", "add", "tree"]),
    ("poetry", &["install", "lock", "check", "show"]),
    ("dotnet", &["build", "test", "restore", "format"]),
    ("bundle", &["install", "exec"]),
    ("mix", &["test", "compile", "format", "deps.get"]),
    ("terraform", &["plan", "validate", "fmt", "init"]),
    ("make", &["test", "check", "build", "lint", "all", "fmt"]),
    ("just", &["test", "check", "build", "lint", "fmt"]),
];

/// Commands whose next word says what runs.
const DEEPER: &[(&str, &str)] = &[
    ("npm", "run"),
    ("pnpm", "run"),
    ("yarn", "run"),
    ("bun", "run"),
    ("bundle", "exec"),
    ("deno", "task"),
    ("gh", "pr"),
    ("gh", "issue"),
    ("gh", "run"),
    ("uv", "pip"),
];

/// Programs that do one thing to the files they are given.
const WHOLE: &[&str] = &[
    "pytest",
    "mypy",
    "ruff",
    "black",
    "isort",
    "flake8",
    "tox",
    "nox",
    "eslint",
    "prettier",
    "tsc",
    "vitest",
    "jest",
    "biome",
    "rustfmt",
    "gofmt",
    "golangci-lint",
    "shellcheck",
    "ctest",
    "cmake",
    "ninja",
    "meson",
    "mkdir",
    "touch",
    "hyperfine",
    "make",
    "just",
    "mdbook",
    "typos",
    "taplo",
    "rubocop",
    "rspec",
    "phpunit",
    "gradle",
    "gradlew",
    "mvn",
    "mvnw",
    "swift",
    "zig",
];

/// The pattern for all commands of this one's kind: `npm test *`. `None` for programs that run anything they are
/// given (interpreters, `xargs`), change or fetch anything (`rm`, `curl`, `sudo`), or are not known.
pub(super) fn of(segment: &CommandSegment) -> Option<String> {
    if !segment.inner.is_empty() || !segment.assignments.iter().all(|(n, v)| is_safe_variable(n, v)) {
        return None;
    }
    let program = segment.words.first()?.text.as_deref()?;
    let name = segment.program()?;
    // A pattern says the program as it was written: `./gradlew` is another one than `gradlew`.
    if program != name && program != format!("./{name}") {
        return None;
    }
    let words: Vec<&str> = segment.arguments().iter().map_while(|w| w.text.as_deref()).collect();
    if name.starts_with("python") {
        return match words.as_slice() {
            ["-m", module @ ("pytest" | "unittest" | "mypy" | "ruff" | "black" | "build"), ..] => {
                Some(format!("{program} -m {module} *"))
            }
            _ => None,
        };
    }
    let known = SUBCOMMANDS.iter().find(|(n, _)| *n == name);
    if let (Some((_, commands)), Some(first)) = (known, words.first()) {
        let plain = |word: &&str| {
            !word.is_empty()
                && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_:.".contains(c))
                && !word.starts_with('-')
        };
        if DEEPER.contains(&(name, first)) {
            return words.get(1).filter(|w| plain(w)).map(|second| format!("{program} {first} {second} *"));
        }
        if commands.contains(first) {
            return Some(format!("{program} {first} *"));
        }
        // `make target`: the target says what runs.
        let target = matches!(name, "make" | "just") && plain(first);
        return target.then(|| format!("{program} {first} *"));
    }
    if matches!(name, "make" | "just") && words.is_empty() {
        return Some(program.to_string());
    }
    (known.is_none() && WHOLE.contains(&name)).then(|| format!("{program} *"))
}

/// True when the line holds what will not come again: a temporary path, a process id, a hash. Remembering it as it
/// stands would only fill the list.
pub(super) fn is_passing(line: &str) -> bool {
    line.split(|c: char| c.is_whitespace() || "'\"=;|&()<>,".contains(c)).any(|word| {
        let temporary = ["/tmp/", "/var/tmp/", "/private/tmp/", "/var/folders/", "/run/user/"]
            .iter()
            .any(|t| word.starts_with(t));
        let digits = word.chars().all(|c| c.is_ascii_digit());
        let hex = word.len() >= 7 && word.chars().all(|c| c.is_ascii_hexdigit());
        let mixed = word.chars().any(|c| c.is_ascii_digit()) && word.chars().any(|c| c.is_ascii_alphabetic());
        temporary || digits && word.len() >= 4 || hex && (mixed || digits)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permission::command::{ShellParseContext, parse};
    use std::path::Path;

    #[test]
    fn a_family_is_what_a_person_would_call_the_same_command() {
        let table = [
            ("npm test -- --watch", Some("npm test *")),
            ("npm run build --if-present", Some("npm run build *")),
            ("npm publish", None),
            ("npm run $X", None),
            ("cargo test --lib a", Some("cargo test *")),
            ("cargo publish", None),
            ("cargo install x", None),
            ("git commit -m x", Some("git commit *")),
            ("git push", None),
            ("git config a b", None),
            ("git -c a=b commit", None),
            ("pytest -x tests", Some("pytest *")),
            ("python -m pytest a", Some("python -m pytest *")),
            ("python x.py", None),
            ("python -c 1", None),
            ("./gradlew build", Some("./gradlew *")),
            ("/x/pytest", None),
            ("make", Some("make")),
            ("make -C x", None),
            ("make test V=1", Some("make test *")),
            ("RUST_LOG=debug cargo test", Some("cargo test *")),
            ("PATH=x cargo test", None),
            ("rm x", None),
            ("curl x", None),
            ("sh x", None),
            ("node x", None),
            ("sudo make", None),
            ("$X test", None),
            ("awk x", None),
        ];
        for (line, expected) in table {
            let segments = parse(line, ShellParseContext { cwd: Path::new("/w"), home: None }).unwrap();
            assert_eq!(of(segments.last().unwrap()).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn what_will_not_come_again_is_not_remembered() {
        for line in ["cat /tmp/x.1", "kill 12345", "git show 1a2b3c4d", "x --pid=4242", "x '/var/tmp/a b'"] {
            assert!(is_passing(line), "{line}");
        }
        for line in [
            "cargo test",
            "sleep 5",
            "x --port 80",
            "git show feedface1 x".split_at(8).0,
            "ls tmp/x",
            "make deadbeef",
        ] {
            assert!(!is_passing(line), "{line}");
        }
    }
}
