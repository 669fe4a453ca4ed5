//! What the disk has when the power fails: the order of changes and syncs of an apply and an undo. A kill never shows a sync
//! that is missing, so the calls of the program are recorded.

use crate::support::program::placet;
use crate::support::require::{has_view, require};
use crate::support::txn::Txn;

/// The calls of placet that sync or rename, in their order. `None` where processes cannot be traced.
fn recorded(txn: &Txn, command: &str) -> Option<Vec<String>> {
    let calls = txn.base.join("calls");
    let traced = "fsync,fdatasync,syncfs,rename,renameat,renameat2,linkat,openat";
    let line =
        format!("strace -f -y -s 4096 -e trace={traced} -o {} {} {command}", calls.display(), placet());
    let code = txn.sh(&txn.tree, &line);
    let text = std::fs::read_to_string(calls).unwrap_or_default();
    if text.is_empty() {
        eprintln!("skipped: processes cannot be traced here");
        return None;
    }
    assert_eq!(code, 0, "{text}");
    Some(
        text.lines()
            .filter(|line| line.contains("sync") || line.contains("= 0") || line.contains("O_CREAT"))
            .map(String::from)
            .collect(),
    )
}

fn is_sync_of(call: &str, path: &str) -> bool {
    call.contains("sync") && call.contains(&format!("<{path}>"))
}

/// Every loss of what was written after the last sync leaves each file old or new, and a record that says which.
fn is_in_order(txn: &Txn, calls: &[String], files: &[&str]) {
    let tree = txn.tree.display().to_string();
    let all = calls.join("\n");
    let is_change = |call: &String| {
        let comes = call.contains(".placet-")
            && (call.contains("RENAME_EXCHANGE") || call.contains("RENAME_NOREPLACE"));
        comes && call.contains(&tree)
    };
    let first = calls.iter().position(is_change).expect(&all);
    let last = calls.iter().rposition(is_change).unwrap();
    let (before, after) = (&calls[..first], &calls[last..]);
    // The record is whole and has its name before the first file changes.
    let named =
        before.iter().rposition(|call| call.contains("rename") && call.contains(".open.json")).expect(&all);
    let record = before[named].split('"').nth(1).unwrap();
    let journal = record.rsplit_once('/').unwrap().0;
    let made = before.iter().position(|call| call.contains("O_CREAT") && call.contains(record)).expect(&all);
    let is_sync = |call: &String| is_sync_of(call, record) || call.contains("syncfs(");
    assert!(before[made..named].iter().any(is_sync), "{all}");
    assert!(before[named..].iter().any(|call| is_sync_of(call, journal)), "{all}");
    // So are the new contents: each by itself, or by a sync of all that was written.
    let staged =
        |call: &&String| call.contains(".placet-") && call.contains(".new") && call.contains("linkat");
    let from = before.iter().rposition(|call| staged(&call)).unwrap_or(0);
    let whole = before[from..].iter().any(|call| call.contains("syncfs("));
    let single = before.iter().filter(|call| call.contains("fsync(") && call.contains(".placet-")).count();
    assert!(whole || single >= files.len(), "{all}");
    // The names are stored before the record says that all is done. That may be lost: then the next start says it again.
    let done =
        after.iter().position(|call| call.contains("rename") && call.contains(".open.json\", ")).expect(&all);
    for file in files {
        let dir = txn.tree.join(file).parent().unwrap().display().to_string();
        assert!(
            after[..done].iter().any(|call| is_sync_of(call, &dir) || call.contains("syncfs(")),
            "{file}: {all}"
        );
    }
}

#[test]
fn an_apply_and_an_undo_sync_what_the_next_step_needs_and_no_file_twice() {
    if !(has_view() && require("strace")) {
        return;
    }
    let txn = Txn::on_disk();
    let files = ["a", "b", "d/c", "d/e"];
    assert_eq!(txn.sh(&txn.tree, "mkdir d; for f in a b d/c d/e; do echo one > $f; done"), 0);
    txn.hold("for f in a b d/c d/e; do echo two > $f; done");
    for command in ["apply", "undo"] {
        let Some(calls) = recorded(&txn, command) else { return };
        is_in_order(&txn, &calls, &files);
        let of_tree_and_journal = |call: &&String| {
            call.contains("sync")
                && [txn.tree.display().to_string(), "/journal/".into()].iter().any(|at| call.contains(at))
        };
        let syncs = calls.iter().filter(of_tree_and_journal).count();
        // The first record and its directory, the directory of the second, two directories of files; where the journal is on
        // another file system than the files, one more for each of these.
        assert!(syncs <= 5 + files.len(), "{syncs} {calls:#?}");
    }
    assert_eq!(txn.read("a").as_deref(), Some("one\n"));
}
