//! The reader against a table, and against git itself where the machine has it.

use super::*;
use proptest::prelude::*;
use std::process::Command;

fn read(text: &str) -> Vec<(String, Option<String>)> {
    let (settings, error) = settings(text.as_bytes());
    let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
    let mut all: Vec<_> = settings
        .iter()
        .flat_map(|(name, values)| values.iter().map(move |v| (text(name), v.as_ref().map(text))))
        .collect();
    if let Some(error) = error {
        all.push(("error".into(), Some(error.to_string())));
    }
    all
}

/// What git reads from the same text; `None` where git refuses it. The outer `None`: there is no git.
fn git(text: &[u8]) -> Option<Option<GitSettings>> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("c");
    std::fs::write(&file, text).unwrap();
    let mut command = Command::new("git");
    command.args(["config", "--no-includes", "--null", "--list", "-f"]).arg(&file).current_dir(dir.path());
    let out = command.env("HOME", dir.path()).env("GIT_CONFIG_NOSYSTEM", "1").output().ok()?;
    if !out.status.success() {
        return Some(None);
    }
    let mut all = GitSettings::new();
    for entry in out.stdout.split(|b| *b == 0).filter(|entry| !entry.is_empty()) {
        let mut parts = entry.splitn(2, |b| *b == b'\n');
        let name = parts.next().unwrap().to_vec();
        all.entry(name).or_default().push(parts.next().map(<[u8]>::to_vec));
    }
    Some(Some(all))
}

const TABLE: [&str; 30] = [
    "[core]\n\tfsmonitor = /tmp/x\n",
    "[CORE]\nfsMonitor=a b  \n",
    "[core] pager = less ; a comment\n[Core] pager = cat # another\n",
    "[remote \"Ori\\\"g\\\\in\"]\n url = ext::sh -c touch% x\n",
    "[filter.Name]\nclean=x\n",
    "[a]\nb = \"quoted # not a comment \" tail\n",
    "[a]\nb = one \\\n  two\\\n\n",
    "[a]\nb = \\t\\n\\b\\\\\\\"\n",
    "[a]\nb\nc=\n d =\n",
    "[a]\r\nb = c\r\n",
    "\u{feff}[a]\nb = c",
    "; only a comment",
    "",
    "[a]\nb = \"open\n",
    "[a]\nb = \\x\n",
    "[a]\nb.c = d\n",
    "[a\nb = c\n",
    "[a \"b]\nc = d\n",
    "[a \"b\\\nc\"]\nd = e\n",
    "b = c\n",
    "[a]\n1b = c\n",
    "[a]\nb = c\n= d\n",
    "[a]\nb = x\\\r\n y\n",
    "[a \"\"]\nb = c\n",
    "[a]b=c\n[d]e\n",
    "[a]\nb = x \" y \" z\t\n[a]\nb = \"\"\n",
    "[x]\n[]",
    "[x]\nb=\\",
    "[x]\nb=c\\",
    "[x]\nb=\"c\\",
];

#[test]
fn names_values_quotes_and_comments_are_read_as_git_reads_them() {
    let one = |name: &str, value: &str| vec![(name.to_string(), Some(value.to_string()))];
    assert_eq!(read(TABLE[0]), one("core.fsmonitor", "/tmp/x"));
    assert_eq!(read(TABLE[1]), one("core.fsmonitor", "a b"));
    assert_eq!(read(TABLE[3]), one("remote.Ori\"g\\in.url", "ext::sh -c touch% x"));
    assert_eq!(read(TABLE[4]), one("filter.name.clean", "x"));
    assert_eq!(read(TABLE[5]), one("a.b", "quoted # not a comment  tail"));
    assert_eq!(read(TABLE[6]), one("a.b", "one   two"));
    assert_eq!(read(TABLE[13]), one("error", "line 2 is not valid"));
    for text in TABLE {
        let (mine, error) = settings(text.as_bytes());
        match git(text.as_bytes()) {
            None => return,
            Some(None) => assert!(error.is_some(), "git refuses {text:?}, and we read {mine:?}"),
            Some(Some(theirs)) => assert_eq!((mine, error), (theirs, None), "{text:?}"),
        }
    }
}

#[test]
fn the_number_of_settings_is_bounded() {
    let text = format!("[a]\n{}", "b=c\n".repeat(MOST_SETTINGS + 1));
    assert_eq!(settings(text.as_bytes()).1, Some(GitConfigError::Many));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// What git reads, we read alike; what git refuses, we refuse or read at least up to there.
    #[test]
    fn any_text_made_of_the_format_s_parts_is_read_as_git_reads_it(
        parts in prop::collection::vec(prop::sample::select(vec![
            "[", "]", "\"", "\\", "\n", "\r\n", " ", "\t", "=", "#", ";", ".", "a", "B", "-", "7", "core", "[a]\n",
            "[a \"S\"]\n", "b = c\n", "\\n", "\\\n", "é", "b", "\r",
        ]), 0..24),
    ) {
        let text = format!("[x]\n{}", parts.concat());
        let (mine, error) = settings(text.as_bytes());
        match git(text.as_bytes()) {
            None => {}
            Some(None) => prop_assert!(error.is_some(), "git refuses {text:?}, and we read {mine:?}"),
            Some(Some(theirs)) => prop_assert_eq!((mine, error), (theirs, None), "{:?}", text),
        }
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = settings(&bytes);
    }
}
