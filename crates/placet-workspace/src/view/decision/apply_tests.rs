//! Transactions on a disk that fails.

use super::super::apply::fail_at;
use super::super::apply::{ApplyError, recover};
use super::tests::{ViewFixture, bench, label, tree, whiteout};
use super::*;
use crate::{ExpectedContent, WorkspaceError};
use placet_permission::WritePolicy;
use std::fs;
use std::io::ErrorKind::{AlreadyExists, Other};

fn waiting() -> ViewFixture {
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
    // For once, another program has the random name.
    fail_at("stage", AlreadyExists);
    assert!(matches!(b.view.apply(&b.all(), label("t")).unwrap(), ApplyOutcome::Landed(_)));
    assert_eq!(tree(&b.root), wanted);
}

#[test]
fn what_fails_after_the_commit_does_not_make_an_apply_look_undone() {
    for at in ["close", "keep", "drop"] {
        let b = waiting();
        let old = tree(&b.root);
        fail_at(at, Other);
        let ApplyOutcome::Landed(entry) = b.view.apply(&b.all(), label("t")).unwrap() else { panic!("{at}") };
        assert!(!entry.shortfalls.is_empty(), "{at}");
        assert_eq!(fs::read(b.root.join("a.txt")).unwrap(), b"two\n", "{at}");
        assert!(!b.root.join("b.txt").exists(), "{at}");
        let mut recovered = recover(b.view.journal(), b.view.objects()).unwrap();
        // A process that another test starts holds a copy of the lock for a moment, and recovering leaves the journal
        // be.
        while !b.view.journal().open_entries().unwrap().is_empty() {
            std::thread::yield_now();
            recovered = recover(b.view.journal(), b.view.objects()).unwrap();
        }
        assert_eq!(recovered.is_empty(), at == "drop", "{at}");
        assert!(recovered.kept.is_empty(), "{at}: {recovered:?}");
        assert_eq!(b.words(), Vec::<String>::new(), "{at}");
        assert_eq!(tree(&b.root).len(), 2, "{at}: {:?}", tree(&b.root));
        // All of it is stored by now.
        let plan = b.view.plan_undo(&b.view.journal().to_undo(), None, label("u")).unwrap();
        b.view.execute_plan(plan).unwrap().unwrap();
        assert_eq!(tree(&b.root), old, "{at}");
    }
}

#[test]
fn a_disk_that_does_not_confirm_the_new_names_is_reported_and_the_apply_can_be_undone() {
    let b = waiting();
    let old = tree(&b.root);
    fail_at("sync", Other);
    let ApplyOutcome::Landed(entry) = b.view.apply(&b.all(), label("t")).unwrap() else { panic!() };
    let [shortfall] = entry.shortfalls.as_slice() else { panic!("{:?}", entry.shortfalls) };
    assert!(shortfall.starts_with("the disk did not confirm that the files are stored"), "{shortfall}");
    assert_eq!(fs::read(b.root.join("a.txt")).unwrap(), b"two\n");
    assert!(b.view.journal().open_entries().unwrap().is_empty());
    let plan = b.view.plan_undo(&b.view.journal().to_undo(), None, label("u")).unwrap();
    b.view.execute_plan(plan).unwrap().unwrap();
    assert_eq!(tree(&b.root), old);
}

#[test]
fn an_apply_whose_old_contents_cannot_be_stored_is_refused_before_it_changes_anything() {
    let b = waiting();
    let old = tree(&b.root);
    fail_at("make sure", std::io::ErrorKind::StorageFull);
    let failed = b.view.apply(&b.all(), label("t")).unwrap_err();
    assert!(failed.to_string().contains("its old content cannot be stored for undo"), "{failed}");
    assert_eq!(tree(&b.root), old);
    assert!(recover(b.view.journal(), b.view.objects()).unwrap().is_empty());
    assert_eq!(b.words(), ["M a.txt", "D b.txt", "A c.txt"]);
}

#[test]
fn an_apply_after_one_that_is_incomplete_completes_it_first() {
    let b = waiting();
    fail_at("keep", Other);
    assert!(matches!(b.view.apply(&b.all(), label("t")).unwrap(), ApplyOutcome::Landed(_)));
    b.hold("d.txt", "more\n", None);
    assert!(matches!(b.view.apply(&b.all(), label("u")).unwrap(), ApplyOutcome::Landed(_)));
    assert_eq!(tree(&b.root).len(), 3);
    assert_eq!(b.view.journal().entries().len(), 2);
}

/// Larger than what is read once more before it is replaced.
fn large(word: &str) -> String {
    word.repeat((2 << 20) / word.len())
}

#[test]
fn a_large_file_that_another_program_changed_after_it_was_read_is_not_overwritten() {
    let content = |text: &str| ExpectedContent::Content(blake3::hash(large(text).as_bytes()));
    for names in [1, 2] {
        let b = bench();
        b.write("big.txt", &large("old\n"));
        let path = b.root.join("big.txt");
        if names == 2 {
            fs::hard_link(&path, b.root.join("other.txt")).unwrap();
        }
        // Only the content says that it is another one: the size and the time are the same.
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, large("new\n")).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        let there = tree(&b.root);
        let ours = large("ours\n");
        let refused = b.view.write(&path, ours.as_bytes(), content("old\n"), WritePolicy::Apply).unwrap_err();
        assert!(matches!(refused, WorkspaceError::Raced(_)), "{names}: {refused}");
        assert!(tree(&b.root) == there, "{names}: the other program's file is there, and nothing else");
        // In write mode a change of a file that has two names waits.
        let written = b.view.write(&path, ours.as_bytes(), content("new\n"), WritePolicy::Direct).unwrap();
        assert_eq!((written.hash, written.in_place), (blake3::hash(ours.as_bytes()), names == 2));
        assert!(fs::read_to_string(&path).unwrap() == ours);
        let plan = b.view.plan_undo(&b.view.journal().to_undo(), None, label("u")).unwrap();
        b.view.execute_plan(plan).unwrap().unwrap();
        assert!(tree(&b.root) == there, "{names}: undo gives every byte back");
    }
}

/// The content of a file of [`many`]; one of them is too large for an undo to have it in memory.
fn old(number: usize) -> String {
    format!("old {number}\n").repeat(if number == 998 { 40_000 } else { 1 })
}

/// Enough files for two threads.
fn many() -> ViewFixture {
    let b = bench();
    let name = |number: usize| format!("d{}/f{number}", number / 100);
    for number in 0..1200 {
        b.write(&name(number), &old(number));
    }
    b.command(|upper| {
        for number in 0..1200 {
            fs::create_dir_all(upper.join(name(number)).parent().unwrap()).unwrap();
            match number % 3 {
                0 => whiteout(&upper.join(name(number))),
                _ => fs::write(upper.join(name(number)), format!("new {number}\n")).unwrap(),
            }
        }
    });
    b
}

#[test]
fn an_apply_by_two_threads_and_its_undo_go_there_and_back() {
    let b = many();
    let old = tree(&b.root);
    assert!(matches!(b.apply(&b.all()), ApplyOutcome::Landed(_)));
    let new = tree(&b.root);
    let files = |text: &str| new.values().filter(|state| state.contains(text)).count();
    assert_eq!((files("new "), files("old ")), (800, 0));
    let plan = b.view.plan_undo(&b.view.journal().to_undo(), None, label("u")).unwrap();
    b.view.execute_plan(plan).unwrap().unwrap();
    assert!(tree(&b.root) == old);
}

#[test]
fn a_thread_that_cannot_stage_its_files_leaves_everything_as_it_was() {
    let b = many();
    assert!(matches!(b.apply(&b.all()), ApplyOutcome::Landed(_)));
    let new = tree(&b.root);
    let undo = || b.view.plan_undo(&b.view.journal().to_undo(), None, label("u")).unwrap();
    let plan = undo();
    // One of the last paths, which the second thread stages: its old content is lost after the plan was made.
    b.view.objects().remove(blake3::hash(old(998).as_bytes()));
    let failed = b.view.execute_plan(plan).unwrap_err();
    assert!(matches!(&failed, ApplyError::Failed { path, .. } if path.ends_with("d9/f998")), "{failed}");
    assert!(tree(&b.root) == new);
    assert!(recover(b.view.journal(), b.view.objects()).unwrap().is_empty());
    assert!(tree(&b.root) == new);
    let plan = undo();
    assert_eq!(plan.left.len(), 1);
    b.view.execute_plan(plan).unwrap().unwrap();
    assert_eq!(tree(&b.root).values().filter(|state| state.contains("new ")).count(), 1);
}

#[test]
fn what_both_threads_had_exchanged_is_taken_back_when_one_fails() {
    let b = many();
    let old = tree(&b.root);
    fail_at("exchange", Other);
    let failed = b.view.apply(&b.all(), label("t")).unwrap_err();
    assert!(matches!(failed, ApplyError::Failed { .. }), "{failed}");
    assert!(tree(&b.root) == old);
    assert!(recover(b.view.journal(), b.view.objects()).unwrap().is_empty());
    assert!(matches!(b.apply(&b.all()), ApplyOutcome::Landed(_)));
}

#[test]
fn an_apply_that_is_stopped_while_it_stages_changes_nothing_and_one_that_commits_completes() {
    use crate::ApplyPhase::{Checking, Committing, Staging};
    use std::sync::atomic::{AtomicBool, Ordering};
    for phase in [Checking, Staging, Committing] {
        let b = many();
        let old = tree(&b.root);
        let (progress, ended) = (b.view.apply_progress(), AtomicBool::new(false));
        let applied = std::thread::scope(|scope| {
            let stopping = scope.spawn(|| {
                while progress.now().0 != phase && !ended.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
                progress.cancel();
            });
            let applied = b.view.apply(&b.all(), label("t"));
            ended.store(true, Ordering::Relaxed);
            stopping.join().unwrap();
            applied
        });
        progress.reset();
        match applied {
            Err(ApplyError::Cancelled { left: 0 }) => {
                assert_ne!(phase, Committing);
                assert!(tree(&b.root) == old, "no staged content is left");
                assert!(recover(b.view.journal(), b.view.objects()).unwrap().is_empty());
                assert!(matches!(b.apply(&b.all()), ApplyOutcome::Landed(_)));
            }
            // The phase may be over before the other thread sees it.
            other => assert!(matches!(other, Ok(ApplyOutcome::Landed(_))), "{other:?}"),
        }
        assert!(tree(&b.root) != old);
    }
}
