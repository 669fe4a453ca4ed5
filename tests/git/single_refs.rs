//! A ref that is decided by itself, named as a path below its repository.

use super::beside_git::{IDENTITY, repository};
use crate::support::txn::Txn;

/// A commit on the branch at `HEAD`, a new branch with a commit of its own, a tag, and a branch that goes.
const CHANGE: &str = "git switch -qc topic; git commit -q --allow-empty -m Topic; git switch -q main; \
    git commit -q --allow-empty -m Main; git tag v1; git branch -D side";

fn pending(more: &str) -> Option<Txn> {
    let txn = repository("git branch side")?;
    txn.hold(&format!("{IDENTITY} {CHANGE}; {more}"));
    Some(txn)
}

/// Refs and the subject at `HEAD`, in a line.
fn says(txn: &Txn) -> String {
    let line = "(git for-each-ref --format='%(refname:short)'; git log -1 --format=%s; git fsck --strict --no-dangling 2>&1) | tr '\\n' ' ' > ../says";
    assert_eq!(txn.sh(&txn.tree, line), 0);
    std::fs::read_to_string(txn.base.join("says")).unwrap()
}

#[test]
fn a_discarded_ref_is_not_applied_and_the_rest_is() {
    for more in ["true", "git pack-refs --all"] {
        for (path, left) in [
            (".git/refs/heads/topic", "main v1 Main "),
            (".git/refs/tags/v1", "main topic Main "),
            (".git/refs/heads/side", "main side topic v1 Main "),
        ] {
            let Some(txn) = pending(more) else { return };
            let told = txn.run(["discard", path]).code(0).stdout;
            assert!(told.contains("discarded changes to 1 ref; "), "{path}: {told}");
            let name = path.rsplit('/').next().unwrap();
            let rows = txn.run(["changes"]).stdout;
            assert!(!rows.contains(&format!(" {name}")) && rows.contains("\"Main\""), "{path}: {rows}");
            txn.run(["apply", "--yes"]).code(0);
            assert_eq!(says(&txn), left, "{path} {more}");
            txn.run(["undo"]).code(0);
            assert_eq!(says(&txn), "main side First ", "{path} {more}");
        }
    }
}

#[test]
fn a_discarded_ref_comes_back() {
    for more in ["true", "git pack-refs --all"] {
        let Some(txn) = pending(more) else { return };
        let before = txn.run(["changes"]).stdout;
        txn.run(["discard", ".git/refs/heads/topic", ".git/refs/tags/v1"]).code(0);
        let told = txn.run(["undo"]).code(0).stdout;
        assert!(told.contains("restored the discarded changes to 2 refs"), "{told}");
        assert_eq!(txn.run(["changes"]).stdout, before);
        txn.run(["apply", "--yes"]).code(0);
        assert_eq!(says(&txn), "main topic v1 Main ");
    }
}

#[test]
fn a_ref_is_applied_alone_and_the_rest_stays_pending() {
    for more in ["true", "git pack-refs --all"] {
        let Some(txn) = pending(more) else { return };
        txn.run(["apply", ".git/refs/heads/topic"]).code(0);
        assert_eq!(says(&txn), "main side topic First ");
        let rows = txn.run(["changes"]).stdout;
        assert!(!rows.contains("branch topic") && rows.contains("\"Main\""), "{rows}");
        txn.run(["undo"]).code(0);
        assert_eq!(says(&txn), "main side First ");
        txn.run(["apply", "--yes"]).code(0);
        assert_eq!(says(&txn), "main topic v1 Main ");
    }
}

/// The branch at `HEAD` goes with the index, and so with the whole repository.
#[test]
fn the_branch_that_is_checked_out_is_decided_with_its_repository() {
    let Some(txn) = pending("git pack-refs --all") else { return };
    let refused = txn.run(["discard", ".git/refs/heads/none"]);
    assert!(refused.stderr.contains("nothing is pending at"), "{refused:#?}");
    assert!(txn.run(["changes"]).stdout.contains("branch topic"));
    let told = txn.run(["discard", ".git/refs/heads/main"]).code(0).stdout;
    assert!(told.contains("discarded changes to 1 repository"), "{told}");
    assert!(!txn.run(["changes"]).stdout.contains("branch topic"));
}
