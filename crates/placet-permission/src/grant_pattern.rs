//! What "always" may mean beyond one exact line: the kind to which a command belongs.

use super::command::CommandSegment;
use super::tables;
use super::tables::is_safe_variable;

/// The pattern for all commands of this kind: `npm test *`. `None` for programs that run anything they are given
/// (interpreters, `xargs`), change or fetch anything (`rm`, `curl`, `sudo`), or are unknown.
pub(super) fn of(segment: &CommandSegment) -> Option<String> {
    if !segment.inner.is_empty() || !segment.assignments.iter().all(|(n, v)| is_safe_variable(n, v)) {
        return None;
    }
    let program = segment.words.first()?.text.as_deref()?;
    let name = segment.program()?;
    // A pattern contains the program as it was written: `./gradlew` is another program than `gradlew`.
    if program != name && program != format!("./{name}") {
        return None;
    }
    let words: Vec<&str> = segment.arguments().iter().map_while(|w| w.text.as_deref()).collect();
    let row = tables::families().family.iter().find(|row| tables::is_listed(&row.programs, name))?;
    let has = |list: &[String], word: &str| list.iter().any(|known| known == word);
    let behind = match words.as_slice() {
        _ if row.whole => "*".into(),
        // `make target`: the target decides what runs.
        [] => return row.targets.then(|| program.to_string()),
        [first, rest @ ..] if has(&row.deeper, first) => {
            let next = rest.first().filter(|next| is_plain(next))?;
            if !row.then.is_empty() && !has(&row.then, next) {
                return None;
            }
            format!("{first} {next} *")
        }
        [first, ..] if has(&row.sub, first) || row.targets && is_plain(first) => format!("{first} *"),
        _ => return None,
    };
    Some(format!("{program} {behind}"))
}

fn is_plain(word: &str) -> bool {
    let all = word.chars().all(|c| c.is_ascii_alphanumeric() || "-_:.".contains(c));
    all && !word.is_empty() && !word.starts_with('-')
}

/// True if the line contains something that will not occur again: a temporary path, a process id, a hash. A grant for
/// it would only fill the list.
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
    use crate::command::{ShellParseContext, parse};
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
