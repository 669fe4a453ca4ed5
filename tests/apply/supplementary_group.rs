//! A project of a group that is not the main group of the person. Without privileges a view has the main group alone.

use crate::support::require::{has_view, require};
use crate::support::txn::{Txn, USERS_GROUP};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

/// Story: the rows said `group 1000 to 2002` and `group 2002 to 1000`, which no program had asked for, and the error that a
/// command got was not explained.
#[test]
fn nothing_changes_its_group_and_what_cannot_be_written_is_explained() {
    if !has_view() || !rustix::process::geteuid().is_root() || !require("setpriv") {
        return;
    }
    let txn = Txn::in_dir(tempfile::TempDir::new().unwrap(), Some(1000));
    assert_eq!(txn.sh(&txn.tree, "umask 022; mkdir ns; echo one > ns/f; echo one > theirs"), 0);
    for name in ["", "ns/f", "theirs"] {
        chown(txn.tree.join(name), None, Some(USERS_GROUP)).unwrap();
    }
    std::fs::set_permissions(&txn.tree, std::fs::Permissions::from_mode(0o2775)).unwrap();
    txn.hold("umask 022; echo n > new; mkdir d; sed -i s/one/two/ ns/f");
    assert_eq!(
        txn.run(["changes"]).stdout,
        "A d/ mode 2755 group 2002\nA new group 2002 +1 -0\nM ns/f +1 -1\n"
    );
    txn.run(["apply"]).code(0);
    for name in ["d", "new", "ns/f"] {
        assert_eq!(std::fs::metadata(txn.tree.join(name)).unwrap().gid(), USERS_GROUP, "{name}");
    }
    txn.run(["undo"]).code(0);
    assert_eq!(std::fs::metadata(txn.tree.join("ns/f")).unwrap().gid(), USERS_GROUP);
    let out = txn.run(["-p", "run echo two >> theirs", "--mode", "ask"]);
    assert!(out.stderr.contains("your main group alone, not the group `"), "{out:#?}");
}
