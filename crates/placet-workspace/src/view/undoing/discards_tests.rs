use super::*;
use crate::apply::fail_at;
use crate::view::tests::{ViewFixture, bench, tree, whiteout};
use std::fs;
use std::io::ErrorKind;

fn some(b: &ViewFixture, paths: &[&str]) -> ChangeSelection {
    paths.iter().map(|path| (b.root.join(path).into(), SelectedPart::Whole)).collect()
}

/// What a file holds in the view.
fn text(b: &ViewFixture, path: &str) -> String {
    let real = b.view.real(&b.root.join(path)).unwrap();
    real.map_or("nothing".into(), |real| fs::read_to_string(real).unwrap_or_else(|e| e.kind().to_string()))
}

fn merged(b: &ViewFixture) -> Vec<String> {
    ["a", "gone", "n/m/b", "d/x", "d/y"].iter().map(|path| text(b, path)).collect()
}

fn back(b: &ViewFixture) -> Result<(), RestoreError> {
    b.view.restore(&b.view.last_discard().unwrap().unwrap())
}

/// Everything that may be pending: a change, a deletion, a new file in a new directory, an emptied directory.
fn pending() -> ViewFixture {
    let b = bench();
    b.write("a", "1\n");
    b.write("gone", "g\n");
    b.write("d/x", "x\n");
    b.hold("a", "2\n", Some("1\n"));
    b.hold("n/m/b", "new\n", None);
    b.hold("d/y", "y\n", None);
    b.command(|upper| whiteout(&upper.join("gone")));
    b
}

#[test]
fn what_was_discarded_comes_back_as_it_was_and_the_workspace_never_changes() {
    let b = pending();
    let (words, before) = (b.words(), tree(&b.root));
    let contents = merged(&b);
    assert_eq!(b.set_aside(&b.all()).unwrap(), DiscardBackup::Kept);
    assert!(b.words().is_empty());
    assert_eq!(b.view.last_discard().unwrap().map(|last| last.number), Some(1));
    assert_eq!(tree(&b.root), before);
    back(&b).unwrap();
    assert_eq!((b.words(), merged(&b), tree(&b.root)), (words, contents, before));
    assert_eq!(b.view.last_discard(), Ok(None));
}

#[test]
fn a_part_comes_back_beside_what_stayed_and_what_came_since() {
    let b = pending();
    let words = b.words();
    b.set_aside(&some(&b, &["a", "n", "n/m", "n/m/b"])).unwrap();
    assert!(!b.words().iter().any(|word| word.ends_with(" a")), "{:?}", b.words());
    b.hold("d/y", "later\n", Some("y\n"));
    b.hold("since", "s\n", None);
    back(&b).unwrap();
    let mut wanted = words;
    wanted.push("A since".into());
    wanted.sort_by_key(|word| word.split_once(' ').unwrap().1.to_string());
    let mut now = b.words();
    now.sort_by_key(|word| word.split_once(' ').unwrap().1.to_string());
    assert_eq!(now, wanted);
    assert_eq!(text(&b, "d/y"), "later\n");
    assert_eq!(text(&b, "a"), "2\n");
}

#[test]
fn what_is_pending_since_is_never_replaced() {
    let b = pending();
    b.set_aside(&b.all()).unwrap();
    b.hold("a", "other\n", Some("1\n"));
    // A file where a directory would come back.
    b.hold("n", "a file\n", None);
    let words = b.words();
    let Err(RestoreError::Pending(paths)) = back(&b) else { panic!("it came back") };
    assert!(paths.contains(&b.root.join("a")) && paths.contains(&b.root.join("n/m/b")), "{paths:?}");
    assert_eq!((b.words(), text(&b, "a")), (words, "other\n".into()));
    b.view.discard(&b.all()).unwrap();
    back(&b).unwrap();
    assert_eq!(text(&b, "a"), "2\n");
}

/// As a review rejects: some lines go, others stay pending.
#[test]
fn a_rejected_part_comes_back_into_what_stayed() {
    let b = bench();
    b.write("a", "1\n2\n3\n");
    b.hold("a", "one\n2\nthree\n", Some("1\n2\n3\n"));
    let (words, path) = (b.words(), b.root.join("a"));
    let stays = SelectedPart::Content(std::sync::Arc::new(b"one\n2\n3\n".to_vec()));
    let reject = || b.set_aside(&ChangeSelection::from([(path.as_path().into(), stays.clone())])).unwrap();
    assert_eq!(reject(), DiscardBackup::Kept);
    assert_eq!(text(&b, "a"), "one\n2\n3\n");
    back(&b).unwrap();
    assert_eq!((b.words(), text(&b, "a").as_str()), (words, "one\n2\nthree\n"));
    // But a discard is not restored over later changes.
    reject();
    b.hold("a", "other\n", Some("one\n2\n3\n"));
    assert!(matches!(back(&b), Err(RestoreError::Pending(_))));
    assert_eq!(text(&b, "a"), "other\n");
}

#[test]
fn the_newest_comes_back_first_and_only_so_many_are_kept() {
    let b = bench();
    for n in 0..25 {
        b.hold(&format!("f{n}"), "x\n", None);
        b.set_aside(&b.all()).unwrap();
    }
    assert_eq!(fs::read_dir(b.view.dir().join("discarded")).unwrap().count(), MOST);
    for n in (5..25).rev() {
        back(&b).unwrap();
        assert_eq!(b.words()[0], format!("A f{n}"));
        b.view.discard(&b.all()).unwrap();
    }
    assert_eq!(b.view.last_discard(), Ok(None));
}

/// A kill between two steps: a backup without its name is not a discard, and a backup with its name is complete.
#[test]
fn a_crash_leaves_the_changes_pending_or_set_aside() {
    let b = pending();
    let words = b.words();
    let half = b.view.dir().join("discarded.new");
    fs::create_dir_all(half.join("0/junk")).unwrap();
    fs::write(half.join("base.jsonl"), "{").unwrap();
    b.set_aside(&b.all()).unwrap();
    back(&b).unwrap();
    assert_eq!(b.words(), words);
    // Killed after the name was given and before the layers were emptied: both are there, and bringing back
    // is harmless.
    b.set_aside(&b.all()).unwrap();
    let kept = b.view.discards().join("1");
    let copy = b.view.dir().join("copy");
    assert!(std::process::Command::new("cp").arg("-a").args([&kept, &copy]).status().unwrap().success());
    back(&b).unwrap();
    fs::rename(&copy, &kept).unwrap();
    back(&b).unwrap();
    assert_eq!((b.words(), text(&b, "a")), (words, "2\n".into()));
}

/// Story: an error while the layers were removed left two of five changes pending, and `discard` reported that nothing
/// was discarded.
#[test]
fn a_discard_is_done_in_one_step_or_not_at_all() {
    let b = bench();
    b.hold("a", "one\n", None);
    b.hold("b", "two\n", None);
    let pending = b.words();
    fail_at("discard", ErrorKind::Other);
    b.set_aside(&b.all()).unwrap_err();
    assert_eq!(b.words(), pending);
    assert_eq!(b.view.last_discard().unwrap().map(|last| last.number), None, "nothing was discarded");
    fail_at("replaced", ErrorKind::Other);
    assert_eq!(b.set_aside(&b.all()).unwrap(), DiscardBackup::Kept);
    assert_eq!(b.words(), Vec::<String>::new());
    // What the error left does not block the next discard.
    b.hold("c", "three\n", None);
    b.set_aside(&b.all()).unwrap();
    assert_eq!(b.words(), Vec::<String>::new());
    let last = b.view.last_discard().unwrap().unwrap();
    b.view.restore(&last).unwrap();
    assert_eq!(b.words(), ["A c"]);
}
