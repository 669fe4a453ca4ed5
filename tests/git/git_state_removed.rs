//! What git obeyed and that is gone, links on the way to it, and state that comes before its repository.

use super::hostile_git_state::{begun, script, state};
use crate::support::require::has_view;
use crate::support::require::require;

/// What git obeyed, and what is gone: the person, the agent, and the file. Story: without `alternates` each command of git said
/// `bad object HEAD` until undo.
const REMOVED: [(&str, &str, &str); 6] = [
    (
        "git clone -q --shared . ../b; rm -rf .git; mv ../b/.git .git; git init -q ../up; true",
        "rm .git/objects/info/alternates",
        ".git/objects/info/alternates",
    ),
    (
        "echo $PWD/../o > .git/objects/info/alternates; mkdir ../o",
        "rm .git/objects/info/alternates; mkdir .git/objects/info/alternates",
        ".git/objects/info/alternates",
    ),
    ("git rev-parse HEAD > .git/info/grafts", "rm .git/info/grafts", ".git/info/grafts"),
    ("echo '* filter=x' > .git/info/attributes", "rm .git/info/attributes", ".git/info/attributes"),
    (
        "git worktree add -q ../wt -b linked; mv ../wt wt; git worktree repair wt",
        "rm .git/worktrees/wt/commondir",
        ".git/worktrees/wt/commondir",
    ),
    (
        "mv .git/objects ../o; ln -s ../../o .git/objects",
        "rm .git/objects; mkdir .git/objects",
        ".git/objects",
    ),
];

/// Links in the middle of a way, in two turns: what the person has, the first commit and the second, and whether the second waits.
/// Story: `.envrc -> lnk/env` of the person led to a file of the agent after the merge of a branch with `lnk -> cfg`.
const WAYS: [(&str, &str, &str, bool); 5] = [
    (
        "ln -s lnk/env .envrc; git add .envrc; git commit -qm l",
        "git switch -q -c t; mkdir cfg; echo e > cfg/env; git add cfg; git commit -qm c; git switch -q main",
        "git switch -q t; ln -s cfg lnk; git add lnk; git commit -qm k; git switch -q main",
        true,
    ),
    (
        "ln -s lnk/env .envrc; git add .envrc; git commit -qm l",
        "git update-index --add --cacheinfo 100644,$(echo e | blob),cfg/env",
        "git update-index --add --cacheinfo 120000,$(printf cfg | blob),lnk",
        true,
    ),
    (
        "true",
        "git switch -q -c t; mkdir real; echo e > real/gitk; chmod +x real/gitk; git add real; git commit -qm c; git switch -q main",
        "git switch -q t; ln -s real bin; git add bin; git commit -qm k; git switch -q main",
        true,
    ),
    (
        "true",
        "git switch -q -c t; mkdir -p real/systemd/system; echo e > real/systemd/system/x.service; git add real; git commit -qm c; \
         git switch -q main",
        "git switch -q t; ln -s real lib; git add lib; git commit -qm k; git switch -q main",
        true,
    ),
    (
        "mkdir src; echo 1 > src/a; git add src; git commit -qm s",
        "ln -s src lib; git add lib; git commit -qm k",
        "echo 2 > src/a; git commit -qam c",
        false,
    ),
];

#[test]
fn a_committed_link_on_the_way_to_a_protected_file_waits() {
    if !has_view() || !require("git") {
        return;
    }
    let mut wrong = Vec::new();
    for (person, first, second, waits) in WAYS {
        let txn = begun();
        assert_eq!(txn.sh(&txn.tree, &script(person)), 0, "{second}");
        let path = format!("{}/bin:{}", txn.tree.display(), std::env::var("PATH").unwrap());
        let turn = |line: &str| {
            let args = ["-p", "run bash -c \"$AGENT_SCRIPT\"", "--mode", "ask"];
            let out = txn.placet(args).env("AGENT_SCRIPT", script(line)).env("PATH", &path).go();
            assert_eq!(out.code, 3, "{line}: {out:#?}");
            txn.placet(["apply"]).env("PATH", &path).go()
        };
        let (one, two) = (turn(first), turn(second));
        if one.code != 0 || (two.code != 0) != waits {
            wrong.push(format!("{second}: {one:#?}{two:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_git_obeyed_and_that_is_gone_waits() {
    if !has_view() || !require("git") {
        return;
    }
    let mut wrong = Vec::new();
    for (person, agent, file) in REMOVED {
        let txn = begun();
        assert_eq!(txn.sh(&txn.tree, &script(person)), 0, "{file}");
        let turn = ["-p", "run bash -c \"$AGENT_SCRIPT\"", "--mode", "ask"];
        let out = txn.placet(turn).env("AGENT_SCRIPT", script(agent)).go();
        assert_eq!(out.code, 3, "{file}: {out:#?}");
        let before = state(&txn);
        let listed = txn.run(["changes"]).stdout;
        let is_it = |word: &str| word.trim_end_matches([':', ',', '/']) == file;
        let is_marked = |row: &str| {
            row.starts_with("! ") && row.split_whitespace().any(is_it)
                || row.starts_with(".git: not applied: ")
        };
        let out = txn.run(["apply"]);
        if !listed.lines().any(is_marked) || out.code == 0 || before != state(&txn) {
            wrong.push(format!("{file}: {listed}{out:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{} are not asked for:\n{}", wrong.len(), wrong.join("\n"));
}

/// What an earlier turn left in a directory that was no repository is not part of one unseen.
#[test]
fn state_that_comes_before_the_repository_waits_with_it() {
    if !has_view() || !require("git") {
        return;
    }
    for part in ["sequencer/opts", "rebase-merge/strategy", "rr-cache/a/postimage", "EVIL", "remotes/origin"]
    {
        let txn = begun();
        let turns = [
            format!("mkdir -p x.git/{part}; rmdir x.git/{part}; echo x/y > x.git/{part}"),
            "git init -q --bare y.git; cp -r y.git/* x.git/; rm -r y.git".into(),
        ];
        for (at, turn) in turns.iter().enumerate() {
            let args = ["-p", "run bash -c \"$AGENT_SCRIPT\"", "--mode", "ask"];
            let out = txn.placet(args).env("AGENT_SCRIPT", script(turn)).go();
            assert_eq!(out.code, 3, "{part}: {out:#?}");
            let out = txn.run(["apply"]);
            assert_eq!(out.code == 0, at == 0, "{part}: {out:#?}");
        }
    }
}
