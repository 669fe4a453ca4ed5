//! kill -9 at each step of an apply, an undo and a redo of a repository together with files: git says what it said before, or what
//! it says afterwards, and no lock of placet is left. And several turns, undone one after the other.

use crate::support::is_full;
use crate::support::require::has_view;
use crate::support::require::require;
use crate::support::txn::Txn;

const IDENTITY: &str = "export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@x GIT_COMMITTER_NAME=A \
    GIT_COMMITTER_EMAIL=a@x GIT_EDITOR=true GIT_TERMINAL_PROMPT=0;";

const BEFORE: &str = "git init -q -b main .; echo 1 > a; echo 1 > b; git add .; git commit -qm First; git branch side; git branch gone; \
    echo mine >> b; git stash push -q; echo staged > s; git add s";

/// A commit, a switch, branches that come and go, one with a name in the way, a stash entry that goes, and staged entries.
const CHANGE: &str = "echo 2 >> a; git commit -qm Second -- a; git branch -D side; git branch side/x; git branch -D gone; \
    git switch -q -c topic; git stash drop -q; echo n > n; git add n; echo w > w";

/// What git says of the repository, and the files of the work tree.
fn says(txn: &Txn) -> String {
    const SAYS: &str = "export GIT_OPTIONAL_LOCKS=0; (git for-each-ref; cat .git/HEAD; git stash list; git ls-files -s -v; \
        git status --porcelain=v2 --branch; git fsck --strict --no-progress --no-dangling; grep . a b n s w) > ../says 2>&1";
    txn.sh(&txn.tree, &format!("{IDENTITY} {SAYS}"));
    std::fs::read_to_string(txn.base.join("says")).unwrap()
}

fn keep(txn: &Txn, name: &str) {
    let line = format!("mkdir ../{name} && cp -a . ../{name}/tree && cp -a ../home ../{name}/home");
    assert_eq!(txn.sh(&txn.tree, &line), 0);
}

#[test]
fn a_repository_is_old_or_new_after_a_kill_at_any_step() {
    if !has_view() || !require("git") {
        return;
    }
    let txn = Txn::on_disk();
    assert_eq!(txn.sh(&txn.tree, &format!("{IDENTITY} {BEFORE}")), 0);
    let old = says(&txn);
    txn.hold(&format!("{IDENTITY} {CHANGE}"));
    keep(&txn, "apply");
    txn.run(["apply"]).code(0);
    let new = says(&txn);
    keep(&txn, "undo");
    txn.run(["undo"]).code(0);
    assert_eq!(says(&txn), old);
    keep(&txn, "redo");
    for command in ["apply", "undo", "redo"] {
        let mut crashes = 0;
        for at in (1..).step_by(if is_full() { 1 } else { 3 }) {
            let line = format!("rm -rf tree home && cp -a {command}/tree {command}/home .");
            assert_eq!(txn.sh(&txn.base, &line), 0);
            let out = txn.placet_that_crashes(at, [command]).go();
            if out.code == 0 {
                break;
            }
            assert_eq!(out.code, 128 + 6, "{command} {at}: {out:#?}");
            crashes += 1;
            txn.run(["changes"]).code(0);
            let now = says(&txn);
            assert!(now == old || now == new, "{command} {at}:\n{now}\nold:\n{old}\nnew:\n{new}");
            assert_eq!(txn.sh(&txn.tree, "test -z \"$(find .git -name '*.lock')\""), 0, "{command} {at}");
            assert!(txn.strays().is_empty(), "{command} {at}: {:?}", txn.strays());
        }
        assert!(crashes > 3, "{command}: {crashes}");
    }
}

/// Three turns, of which the second takes back a part of the first.
#[test]
fn turns_are_undone_one_after_the_other_and_together() {
    if !has_view() || !require("git") {
        return;
    }
    let txn = Txn::on_disk();
    assert_eq!(txn.sh(&txn.tree, &format!("{IDENTITY} {BEFORE}")), 0);
    let mut said = vec![says(&txn)];
    for turn in [
        CHANGE,
        "git switch -q main; git branch -D topic; git branch later",
        "git commit -q --amend -m Again",
    ] {
        txn.hold(&format!("{IDENTITY} {turn}"));
        txn.run(["apply"]).code(0);
        said.push(says(&txn));
    }
    // What no ref has any more is in the journal.
    let gc = "for ref in HEAD $(git for-each-ref --format='%(refname)' refs/heads); do git reflog expire --expire=now $ref; done; \
              git gc -q --prune=now";
    for before in said.iter().rev().skip(1) {
        assert_eq!(txn.sh(&txn.tree, gc), 0);
        txn.run(["undo"]).code(0);
        assert_eq!(says(&txn), *before);
    }
    for _ in 0..3 {
        txn.run(["redo"]).code(0);
    }
    assert_eq!(says(&txn), said[3]);
    txn.run(["undo", "3"]).code(0);
    assert_eq!(says(&txn), said[0]);
}
