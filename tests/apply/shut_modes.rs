//! Files that their owner may not read and directories that their owner may not enter, for an ordinary user: what a command
//! makes of them is applied, undone and redone exactly. Story: an apply of `chmod 000` on a changed file failed, and so did
//! the undo of a directory of mode 000.

use crate::support::require::has_view;
use crate::support::require::require;
use crate::support::txn::{Txn, differences};

const SETUP: &str = "umask 022; echo old > f; echo keep > g; echo mine > k; chmod 000 k; \
    mkdir -p d/e wide/w; echo in > d/e/f; echo x > wide/w/x; chmod 000 wide/w wide";
const CHANGE: &str = "umask 022; echo new > f; chmod 000 f; chmod 000 g; echo n > n; chmod 000 n; chmod 600 k; \
    echo other > k; chmod 000 k; mkdir -p s/t; echo y > s/t/y; chmod 000 s/t/y s/t s; echo more > d/e/g; \
    echo changed > d/e/f; chmod 000 d/e/f d/e d; chmod 700 wide wide/w; rm -r wide";

fn txn() -> Option<Txn> {
    // Only root may look at the modes, and only another user is bound by them.
    let root = rustix::process::geteuid().is_root();
    if !has_view() || !root || !require("setpriv") {
        return None;
    }
    let txn = Txn::in_dir(tempfile::TempDir::new().unwrap(), Some(1000));
    assert_eq!(txn.sh(&txn.tree, SETUP), 0);
    txn.hold(CHANGE);
    Some(txn)
}

#[test]
fn what_its_owner_may_not_read_is_applied_undone_and_redone_exactly() {
    let Some(txn) = txn() else { return };
    let before = txn.snap();
    txn.run(["apply"]).code(0);
    let applied = txn.snap();
    for (path, mode) in [("f", 0o100_000), ("s/t/y", 0o100_000), ("s/t", 0o40_000), ("d", 0o40_000)] {
        assert!(
            applied[std::path::Path::new(path)].starts_with(&format!("{mode:o} ")),
            "{path}: {applied:#?}"
        );
    }
    assert!(applied[std::path::Path::new("d/e/f")].contains("changed"), "{applied:#?}");
    assert!(!applied.contains_key(std::path::Path::new("wide")), "{applied:#?}");
    txn.run(["undo"]).code(0);
    assert_eq!(differences(&before, &txn.snap()), []);
    txn.run(["redo"]).code(0);
    assert_eq!(differences(&applied, &txn.snap()), []);
    txn.run(["undo"]).code(0);
    assert_eq!(differences(&before, &txn.snap()), []);
    assert!(txn.strays().is_empty());
}

/// An undo that is killed at any of its steps leaves all of it or nothing, with the modes of both.
#[test]
fn a_crash_leaves_no_shut_directory_open() {
    let Some(txn) = txn() else { return };
    let before = txn.snap();
    txn.run(["apply"]).code(0);
    let applied = txn.snap();
    for at in 1..200 {
        let out = txn.placet_that_crashes(at, ["undo"]).go();
        // The next start completes it or clears it away.
        txn.run(["journal", "list"]).code(0);
        let now = txn.snap();
        let undone = differences(&before, &now).is_empty();
        assert!(undone || differences(&applied, &now).is_empty(), "{at}: {:#?}", differences(&applied, &now));
        if undone {
            txn.run(["redo"]).code(0);
            assert_eq!(differences(&applied, &txn.snap()), [], "{at}");
        }
        if out.code == 0 {
            return;
        }
    }
    panic!("it never ended");
}

/// Story: of a command that removed a file which nobody could read, half was pending.
#[test]
fn of_a_command_whose_changes_cannot_be_read_nothing_is_pending_and_nothing_is_lost() {
    let Some(txn) = txn() else { return };
    txn.run(["discard"]).code(0);
    // It belongs to root, in a directory of the user: it can be removed and not read.
    std::fs::write(txn.tree.join("theirs"), "x").unwrap();
    std::fs::set_permissions(txn.tree.join("theirs"), std::os::unix::fs::PermissionsExt::from_mode(0o600))
        .unwrap();
    let line = "for n in 1 2 3 4 5 6 7 8; do echo $n > new$n; done; rm -f theirs";
    let run = format!("run {line}");
    for args in
        [vec!["sandbox", "run", "--", line], vec!["-p", &run, "--mode", "ask"], vec!["-p", &run, "--dry-run"]]
    {
        let out = txn.run(&args);
        assert_ne!(out.code, 0, "{args:?}: {out:#?}");
        assert!(out.stderr.contains("theirs"), "{args:?}: {out:#?}");
        let all = format!("{}{}", out.stdout, out.stderr);
        let kept = all.split('`').find(|part| part.contains("/kept-run-"));
        let kept = std::path::PathBuf::from(kept.unwrap_or_else(|| panic!("{args:?}: {out:#?}")));
        let left = std::process::Command::new("find").arg(&kept).args(["-name", "new?"]).output().unwrap();
        assert_eq!(String::from_utf8(left.stdout).unwrap().lines().count(), 8, "{args:?}: {out:#?}");
        txn.run(["changes"]).code(0).warns("nothing is pending");
    }
    assert!(txn.tree.join("theirs").exists() && !txn.tree.join("new1").exists());
}
