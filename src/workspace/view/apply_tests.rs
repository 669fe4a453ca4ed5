//! Transactions on a disk that fails.

use super::super::apply::fail_at;
use super::super::apply::{ApplyError, recover};
use super::tests::{Bench, bench, label, tree, whiteout};
use super::*;
use std::io::ErrorKind::{AlreadyExists, Other};

fn waiting() -> Bench {
    let b = bench();
    b.write("a.txt", "one\n");
    b.write("b.txt", "to go\n");
    b.hold("a.txt", "two\n", Some("one\n"));
    b.hold("c.txt", "new\n", None);
    b.command(|upper| whiteout(&upper.join("b.txt")));
    b
}

#[test]
fn a_file_that_cannot_be_read_after_it_was_displaced_is_put_back() {
    let b = waiting();
    let old = tree(&b.root);
    fail_at("displaced", Other);
    let failed = b.view.apply(&b.all(), label("t")).unwrap_err();
    assert!(matches!(failed, ApplyError::Failed { .. }), "{failed}");
    assert_eq!(tree(&b.root), old);
    assert!(recover(b.view.journal(), b.view.objects()).unwrap().is_empty());
    assert_eq!(tree(&b.root), old);
    assert_eq!(b.words(), ["M a.txt", "D b.txt", "A c.txt"]);
}

#[test]
fn files_with_names_like_those_of_temporary_files_stay() {
    let b = waiting();
    for index in 0..4 {
        b.write(&format!(".placet-1-{index}.new"), "mine\n");
        b.write(&format!(".placet-1-{index}.old"), "mine\n");
    }
    let mut wanted = tree(&b.root);
    wanted.insert("a.txt".into(), wanted[Path::new("a.txt")].replace("one", "two"));
    wanted.insert("c.txt".into(), wanted[Path::new("a.txt")].replace("two", "new"));
    wanted.remove(Path::new("b.txt"));
    // Once somebody has even a name that nobody could guess.
    fail_at("stage", AlreadyExists);
    assert!(matches!(b.view.apply(&b.all(), label("t")).unwrap(), Applied::Landed(_)));
    assert_eq!(tree(&b.root), wanted);
}
