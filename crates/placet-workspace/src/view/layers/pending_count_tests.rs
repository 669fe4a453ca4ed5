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

/// What is pending, counted by a process that ends then.
fn counted(b: &mut ViewFixture) -> ChangeCount {
    let again = opened_again(b);
    let count = b.view.pending_count().unwrap();
    b.view = again;
    count
}

#[test]
fn the_next_process_knows_the_count_without_the_record() {
    let mut b = bench();
    b.hold("a", "1", None);
    b.hold("d/b", "2", None);
    assert_eq!(counted(&mut b), files(2));
    assert_eq!(b.view.known_count(), Some(files(2)));
    assert!(!b.view.is_empty(LayerKind::Pending) && b.view.has_changes(LayerKind::Pending).unwrap());
    assert!(b.view.0.pending.bases.get().is_none(), "the record was read");
    // Whatever asks for the changes reads them.
    assert_eq!(b.view.changes(LayerKind::Pending).unwrap().len(), 3);
}

#[test]
fn a_process_that_claims_the_view_ends_the_count_also_if_the_record_stays_as_it_is() {
    let mut b = bench();
    b.write("a", "old");
    b.hold("a", "new", Some("old"));
    b.hold("b", "1", None);
    assert_eq!(counted(&mut b), files(2));
    let other = opened_again(&b);
    other.claim().unwrap();
    assert_eq!(b.view.known_count(), None);
    drop(other);
    assert_eq!(b.view.pending_count().unwrap(), files(2));
    assert_eq!(opened_again(&b).known_count(), Some(files(2)), "who counts stores it");
}

#[test]
fn a_write_after_the_count_ends_it() {
    let mut b = bench();
    b.write("a", "old");
    b.hold("a", "new", Some("old"));
    b.hold("b", "1", None);
    assert_eq!(b.view.pending_count().unwrap(), files(2));
    let record = fs::read(b.view.dir().join("pending/base.jsonl")).unwrap();
    // The same path again, by the same call: the record stays as it is, and nothing is left of the change.
    b.hold("a", "old", Some("new"));
    assert_eq!(fs::read(b.view.dir().join("pending/base.jsonl")).unwrap(), record);
    assert_eq!(b.view.known_count(), None);
    b.view = opened_again(&b);
    assert_eq!((b.view.known_count(), b.view.pending_count().unwrap()), (None, files(1)));
    b.view.discard_everything().unwrap();
    assert_eq!((b.view.known_count(), b.view.pending_count().unwrap()), (None, files(0)));
    assert!(b.view.is_empty(LayerKind::Pending));
}

#[test]
fn a_damaged_file_counts_as_none() {
    let mut b = bench();
    b.hold("a", "1", None);
    assert_eq!(counted(&mut b), files(1));
    let file = b.view.dir().join("count.json");
    for content in ["", "{}", "x"] {
        fs::write(&file, content).unwrap();
        assert_eq!(b.view.known_count(), None);
    }
    assert_eq!(b.view.pending_count().unwrap(), files(1));
}
