use crate::ChangeCount;
use crate::view::tests::{ViewFixture, bench};
use crate::view::{LayerKind, View};
use std::fs;

fn files(files: usize) -> ChangeCount {
    ChangeCount { files, ..ChangeCount::default() }
}

/// The same view in another process.
fn opened_again(b: &ViewFixture) -> View {
    View::at(b.view.0.places.clone(), b.view.roots())
}

/// A view with two files pending, counted by a process that ended then.
fn counted() -> ViewFixture {
    let mut b = bench();
    b.write("a", "old");
    b.hold("a", "new", Some("old"));
    b.hold("d/b", "2", None);
    assert_eq!(b.view.pending_count().unwrap(), files(2));
    b.view = opened_again(&b);
    b
}

#[test]
fn the_next_process_knows_the_count_without_the_record() {
    let b = counted();
    assert_eq!(b.view.pending_count().unwrap(), files(2));
    assert!(!b.view.is_empty(LayerKind::Pending) && b.view.has_changes(LayerKind::Pending).unwrap());
    assert!(b.view.0.pending.bases.get().is_none(), "the record was read");
    // Whatever asks for the changes reads them.
    assert_eq!(b.view.changes(LayerKind::Pending).unwrap().len(), 3);
}

#[test]
fn a_process_that_uses_the_view_leaves_the_count_only_if_it_changes_nothing() {
    let b = counted();
    let other = opened_again(&b);
    other.claim().unwrap();
    assert_eq!(b.view.known_count(), None);
    drop(other);
    assert_eq!(b.view.known_count(), Some(files(2)));
    let other = opened_again(&b);
    other.discard_everything().unwrap();
    drop(other);
    assert_eq!((b.view.known_count(), opened_again(&b).pending_count().unwrap()), (None, files(0)));
}

#[test]
fn a_write_after_the_count_ends_it() {
    let mut b = bench();
    b.write("a", "old");
    b.hold("a", "new", Some("old"));
    b.hold("b", "1", None);
    assert_eq!(b.view.pending_count().unwrap(), files(2));
    let record = b.view.dir().join("pending/base.jsonl");
    let before = fs::read(&record).unwrap();
    // The same path again, by the same call: the record stays as it is, and nothing is left of the change.
    b.hold("a", "old", Some("new"));
    assert_eq!(fs::read(&record).unwrap(), before);
    assert_eq!(b.view.known_count(), None);
    b.view = opened_again(&b);
    assert_eq!((b.view.known_count(), b.view.pending_count().unwrap()), (None, files(1)));
}

#[test]
fn a_count_while_a_command_changes_the_view_is_not_remembered() {
    let b = bench();
    b.hold("a", "1", None);
    let running = b.view.block_commands();
    assert_eq!((b.view.pending_count().unwrap(), b.view.known_count()), (files(1), None));
    drop(running);
    assert_eq!((b.view.pending_count().unwrap(), b.view.known_count()), (files(1), Some(files(1))));
}

#[test]
fn another_record_and_a_damaged_lock_have_no_count() {
    let b = counted();
    let (lock, record) = (b.view.dir().join("lock"), b.view.dir().join("pending/base.jsonl"));
    let text = fs::read_to_string(&lock).unwrap();
    for damaged in ["", "1 {}", "x", &text[..60], &format!("{text}\n")] {
        fs::write(&lock, damaged).unwrap();
        assert_eq!(b.view.known_count(), None, "{damaged}");
    }
    fs::write(&lock, text).unwrap();
    assert_eq!(b.view.known_count(), Some(files(2)));
    fs::write(&record, fs::read_to_string(&record).unwrap() + "\n").unwrap();
    assert_eq!(b.view.known_count(), None);
}
