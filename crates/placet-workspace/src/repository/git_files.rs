//! Which files of a repository git itself writes.
//!
//! Three names make a directory a repository, so that any project can be made to look like one. Where it is not in a `.git`,
//! only the files of this table are git's: any other is a file of the project, and is listed and applied like one.

use std::path::Path;

/// Whether git writes a file at `path`, relative to its repository. What runs or configures something is none of them.
pub(crate) fn is_file_of_git(path: &Path) -> bool {
    let names: Option<Vec<&str>> = path.iter().map(|name| name.to_str()).collect();
    let Some(names) = names else { return false };
    match names.as_slice() {
        ["HEAD" | "ORIG_HEAD" | "MERGE_HEAD" | "CHERRY_PICK_HEAD" | "REVERT_HEAD" | "REBASE_HEAD"]
        | ["AUTO_MERGE" | "BISECT_HEAD" | "MERGE_AUTOSTASH" | "FETCH_HEAD" | "packed-refs" | "shallow"]
        | ["refs" | "logs", _, ..]
        | ["index"]
        | ["description" | "COMMIT_EDITMSG" | "MERGE_MSG" | "SQUASH_MSG" | "TAG_EDITMSG" | "MERGE_MODE"]
        | ["gc.log" | "gc.pid" | "MERGE_RR" | "BISECT_LOG" | "BISECT_NAMES" | "BISECT_START"]
        | ["BISECT_TERMS" | "BISECT_EXPECTED_REV" | "BISECT_ANCESTORS_OK" | "BISECT_FIRST_PARENT"]
        // What they lead to, and what a rebase would run, are facts with rows of their own.
        | ["commondir" | "gitdir" | "locked"]
        | ["worktrees", _, "commondir" | "gitdir" | "locked"]
        | ["rebase-merge" | "rebase-apply" | "sequencer", _]
        | ["rr-cache", _, "preimage" | "postimage" | "thisimage"]
        | ["info", "exclude" | "refs" | "sparse-checkout"] => true,
        [name] => name.strip_prefix("sharedindex.").is_some_and(|hash| is_hex(hash, 40..=64)),
        ["hooks", name] => SAMPLES.iter().any(|sample| name.strip_suffix(".sample") == Some(sample)),
        ["reftable", name] => *name == "tables.list" || name.ends_with(".ref"),
        ["objects", below @ ..] => is_object_file(below),
        ["lfs", "objects", a, b, hash] => is_hex(a, 2..=2) && is_hex(b, 2..=2) && is_hex(hash, 64..=64),
        _ => false,
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
            assert!(is_file_of_git(Path::new(&path)), "{path}");
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
            assert!(!is_file_of_git(Path::new(path)), "{path}");
        }
    }
}
