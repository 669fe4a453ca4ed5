//! Which files of a repository git itself writes, and what must be in them.
//!
//! Three names make a directory a repository, so that any project can be made to look like one. A list of changes and a
//! review fold only the files of this table: any other file, and one of these that holds something else, is shown like
//! a file of the project, although it is applied together with the repository.

use std::path::Path;

/// A file that git writes, by what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitFileKind {
    /// Anything: no other program takes a file of that name for its own.
    Data,
    /// Text of the person or of git, which may be any text: a list folds it, a review shows it.
    Text,
    /// The index, which begins with a name of its own.
    Index,
    /// The name of a commit, or of another ref.
    Ref,
    /// Lines that begin with the name of a commit, and comments.
    Commits,
}

impl GitFileKind {
    /// The file at `path`, relative to its repository; `None` for what git does not write.
    pub fn at(path: &Path) -> Option<GitFileKind> {
        let names: Option<Vec<&str>> = path.iter().map(|name| name.to_str()).collect();
        match names?.as_slice() {
            ["HEAD" | "ORIG_HEAD" | "MERGE_HEAD" | "CHERRY_PICK_HEAD" | "REVERT_HEAD" | "REBASE_HEAD"]
            | ["AUTO_MERGE" | "BISECT_HEAD" | "MERGE_AUTOSTASH"]
            | ["refs", _, ..] => Some(GitFileKind::Ref),
            ["FETCH_HEAD" | "packed-refs" | "shallow"] | ["logs", _, ..] => Some(GitFileKind::Commits),
            ["index"] => Some(GitFileKind::Index),
            [name] if name.strip_prefix("sharedindex.").is_some_and(|hash| is_hex(hash, 40..=64)) => {
                Some(GitFileKind::Index)
            }
            [
                "description" | "COMMIT_EDITMSG" | "MERGE_MSG" | "SQUASH_MSG" | "TAG_EDITMSG" | "MERGE_MODE",
            ]
            | ["gc.log" | "gc.pid" | "MERGE_RR" | "BISECT_LOG" | "BISECT_NAMES" | "BISECT_START"]
            | ["BISECT_TERMS" | "BISECT_EXPECTED_REV" | "BISECT_ANCESTORS_OK" | "BISECT_FIRST_PARENT"]
            // What they lead to, and what a rebase would run, are facts with rows of their own.
            | ["commondir" | "gitdir" | "locked"]
            | ["worktrees", _, "commondir" | "gitdir" | "locked"]
            | ["rebase-merge" | "rebase-apply" | "sequencer", _]
            | ["rr-cache", _, "preimage" | "postimage" | "thisimage"]
            | ["info", "exclude" | "refs" | "sparse-checkout"] => Some(GitFileKind::Text),
            ["hooks", name] => {
                SAMPLES.iter().any(|s| name.strip_suffix(".sample") == Some(s)).then_some(GitFileKind::Data)
            }
            ["reftable", name] => {
                (*name == "tables.list" || name.ends_with(".ref")).then_some(GitFileKind::Data)
            }
            ["objects", below @ ..] => is_object_file(below).then_some(GitFileKind::Data),
            ["lfs", "objects", a, b, hash] => {
                (is_hex(a, 2..=2) && is_hex(b, 2..=2) && is_hex(hash, 64..=64)).then_some(GitFileKind::Data)
            }
            _ => None,
        }
    }

    /// Whether `content` is what git writes there. An empty file shows nothing that could be hidden.
    pub fn holds(self, content: &[u8]) -> bool {
        // The lengths of SHA-1 and SHA-256 in hexadecimal.
        let is_name = |text: &[u8]| matches!(text.len(), 40 | 64) && text.iter().all(u8::is_ascii_hexdigit);
        match self {
            GitFileKind::Data => true,
            GitFileKind::Text => content.is_empty(),
            GitFileKind::Index => content.is_empty() || content.starts_with(b"DIRC"),
            GitFileKind::Ref => {
                let text = content.strip_suffix(b"\n").unwrap_or(content);
                let of = |rest: &[u8]| rest.starts_with(b"refs/") && rest.iter().all(|b| *b > b' ');
                text.is_empty() || is_name(text) || text.strip_prefix(b"ref: ").is_some_and(of)
            }
            GitFileKind::Commits => content.split(|b| *b == b'\n').all(|line| {
                let line = line.strip_prefix(b"^").unwrap_or(line);
                line.is_empty()
                    || line.starts_with(b"#")
                    || line.split(|b| matches!(b, b' ' | b'\t')).next().is_some_and(is_name)
            }),
        }
    }
}

const SAMPLES: [&str; 16] = [
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "post-update",
    "pre-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "push-to-checkout",
    "sendemail-validate",
    "update",
    "post-receive",
    "proc-receive",
];

/// Objects by their hash, and packs with what lies next to them. What names other directories of objects is none of them.
fn is_object_file(below: &[&str]) -> bool {
    match below {
        [dir, name] if is_hex(dir, 2..=2) => is_hex(name, 38..=62),
        ["pack", name] => {
            let pack = name.strip_prefix("pack-").and_then(|rest| rest.split_once('.'));
            let index = name.strip_prefix("multi-pack-index");
            pack.is_some_and(|(hash, kind)| is_hex(hash, 40..=64) && PACKED.contains(&kind))
                || index.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        }
        ["info", "packs" | "commit-graph"] | ["info", "commit-graphs", _] => true,
        _ => false,
    }
}

const PACKED: [&str; 7] = ["pack", "idx", "rev", "keep", "bitmap", "mtimes", "promisor"];

pub(super) fn is_hex(text: &str, length: std::ops::RangeInclusive<usize>) -> bool {
    length.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_git_writes_is_in_the_table() {
        let hash = "a".repeat(40);
        let own = [
            "HEAD".into(),
            "index".into(),
            "refs/heads/main".into(),
            "logs/refs/heads/main".into(),
            "packed-refs".into(),
            "hooks/pre-commit.sample".into(),
            format!("objects/ab/{}", "c".repeat(38)),
            format!("objects/pack/pack-{hash}.idx"),
            "info/exclude".into(),
        ];
        for path in own {
            assert!(GitFileKind::at(Path::new(&path)).is_some(), "{path}");
        }
        let others = [
            "z.py",
            "config",
            "hooks/pre-commit",
            "hooks/x.sample",
            "objects/x.py",
            "objects/ab/evil.py",
            "objects/pack/pack.py",
            "objects/info/alternates",
            "info/attributes",
            "src/refs/x",
            "modules/x.py",
            "refs",
        ];
        for path in others {
            assert_eq!(GitFileKind::at(Path::new(path)), None, "{path}");
        }
    }

    #[test]
    fn a_ref_and_a_log_that_hold_code_are_no_ref_and_no_log() {
        let hash = "0123456789abcdef0123456789abcdef01234567";
        let line = format!("{hash} {hash} n <e> 1 +0000\tcommit: x\n");
        for content in ["", "ref: refs/heads/main\n", &format!("{hash}\n")] {
            assert!(GitFileKind::Ref.holds(content.as_bytes()), "{content}");
        }
        for content in ["import os\n", &format!("{hash}\nimport os\n"), "ref: refs/x\nimport os", "ref: x"] {
            assert!(!GitFileKind::Ref.holds(content.as_bytes()), "{content}");
        }
        assert!(GitFileKind::Commits.holds(line.as_bytes()));
        assert!(!GitFileKind::Commits.holds(format!("{line}import os\n").as_bytes()));
    }
}
