//! A pending commit and what the person does before they apply it: when nothing else changed the repository, it is
//! applied.

use super::super::tests::{ViewFixture, bench};
use super::*;
use crate::workspace::changes::classify::ChangeApproval;
use crate::workspace::changes::listing::ListedChange;
use crate::workspace::view::apply::{ApplyOutcome, ChangeSelection, SelectedPart};
use crate::workspace::view::decide::{ChangeDecision, MovedCause};
use crate::workspace::view::discards::DiscardBackup;
use std::fs;

const COMMIT: &str = "1111111111111111111111111111111111111111\n";

/// A repository, a file `a.txt`, and pending what `git commit` leaves, with a change of `a.txt` next to it.
fn committed() -> ViewFixture {
    let b = bench();
    b.write(".git/HEAD", "ref: refs/heads/main\n");
    b.write(".git/objects/00/first", "o\n");
    b.write(".git/refs/heads/main", "0000000000000000000000000000000000000000\n");
    b.write(".git/packed-refs", "# pack-refs with:\n");
    b.write("a.txt", "1\n2\n3\n4\n5\n");
    b.command(|upper| {
        fs::create_dir_all(upper.join(".git/refs/heads")).unwrap();
        fs::create_dir_all(upper.join(".git/objects/11")).unwrap();
        fs::write(upper.join(".git/refs/heads/main"), COMMIT).unwrap();
        fs::write(upper.join(".git/objects/11/second"), "o\n").unwrap();
    });
    b.hold("a.txt", "1\n2\n3\n4\nfive\n", Some("1\n2\n3\n4\n5\n"));
    b
}

fn only(b: &ViewFixture, path: &str) -> ChangeSelection {
    [(b.root.join(path).into(), SelectedPart::Whole)].into_iter().collect()
}

#[track_caller]
fn apply(b: &ViewFixture, choice: &ChangeSelection) -> ApplyOutcome {
    approved(b, choice).unwrap()
}

/// The objects of these commits are no objects, and so the repository waits: the person has named it.
fn approved(b: &ViewFixture, choice: &ChangeSelection) -> Result<ApplyOutcome, ApplyError> {
    let approval = ChangeApproval::none().named(&b.root.join(".git"));
    let decision = ChangeDecision { apply: choice.clone(), approval, ..ChangeDecision::default() };
    match b.view.decide(b.view.shown().unwrap(), decision) {
        Ok(report) => report.applied.map(|entry| entry.map_or(ApplyOutcome::Nothing, ApplyOutcome::Landed)),
        Err(moved) => match moved.cause {
            MovedCause::Workspace { merged, conflicts, .. } => {
                Ok(ApplyOutcome::Changed { merged, conflicts })
            }
            cause => panic!("{cause:?}"),
        },
    }
}

#[track_caller]
fn lands(b: &ViewFixture) {
    let applied = apply(b, &b.all());
    assert!(matches!(applied, ApplyOutcome::Landed(_)), "{applied:?}");
    assert_eq!(fs::read_to_string(b.root.join(".git/refs/heads/main")).unwrap(), COMMIT);
    assert!(b.view.is_empty(LayerKind::Pending));
}

#[test]
fn a_pending_commit_lands_after_a_later_turn() {
    let b = committed();
    b.hold("more", "x\n", None);
    b.view.drop_unchanged().unwrap();
    lands(&b);
}

#[test]
fn a_pending_commit_lands_after_another_file() {
    let b = committed();
    assert!(matches!(apply(&b, &only(&b, "a.txt")), ApplyOutcome::Landed(_)));
    lands(&b);
}

#[test]
fn a_pending_commit_lands_after_another_file_was_discarded() {
    let b = committed();
    b.set_aside(&only(&b, "a.txt")).unwrap();
    lands(&b);
}

#[test]
fn a_pending_commit_lands_after_a_discard_that_was_taken_back() {
    let b = committed();
    let words = b.words();
    assert_eq!(b.set_aside(&b.all()).unwrap(), DiscardBackup::Kept);
    assert!(b.view.is_empty(LayerKind::Pending));
    b.view.restore(&b.view.last_discard().unwrap().unwrap()).unwrap();
    assert_eq!(b.words(), words);
    lands(&b);
}

#[test]
fn a_part_of_a_commit_takes_all_of_it_aside_and_comes_back() {
    let b = committed();
    let words = b.words();
    b.set_aside(&only(&b, ".git/refs/heads/main")).unwrap();
    assert_eq!(b.words(), ["M a.txt"]);
    b.view.restore(&b.view.last_discard().unwrap().unwrap()).unwrap();
    assert_eq!(b.words(), words);
    lands(&b);
}

#[test]
fn a_pending_commit_lands_after_a_file_was_merged() {
    let b = committed();
    b.write("a.txt", "one\n2\n3\n4\n5\n");
    let merged = apply(&b, &b.all());
    assert!(matches!(&merged, ApplyOutcome::Changed { merged, .. } if merged.len() == 1), "{merged:?}");
    lands(&b);
    assert_eq!(fs::read_to_string(b.root.join("a.txt")).unwrap(), "one\n2\n3\n4\nfive\n");
}

#[test]
fn a_repository_that_moved_on_is_still_refused_and_is_no_change_of_ours() {
    for (path, happened) in [
        (".git/HEAD", "HEAD moved to branch other"),
        (".git/packed-refs", "/.git/packed-refs` changed"),
        (".git/refs/heads/main", "branch main moved to 0123456"),
        (".git/refs/stash", "the stash changed"),
    ] {
        let b = committed();
        b.hold("more", "x\n", None);
        b.view.drop_unchanged().unwrap();
        b.set_aside(&only(&b, "a.txt")).unwrap();
        let words = b.words();
        let id = "0123456789".repeat(4);
        b.write(path, if path.ends_with("main") { &id } else { "ref: refs/heads/other\n" });
        assert_eq!(b.words(), words, "{path}");
        let refused = approved(&b, &b.all());
        let Err(ApplyError::Repository(why)) = &refused else { panic!("{refused:?}") };
        assert!(why.ends_with(happened), "{path}: {why}");
        let set = b.view.changes(LayerKind::Pending).unwrap();
        let rows = b.view.listed(&set, &b.view.classify(&set), |path| path.to_path_buf());
        let marked: Vec<&ListedChange> = rows.iter().filter(|row| row.is_blocked()).collect();
        let [row] = marked[..] else { panic!("{rows:?}") };
        let by = if happened.contains('`') { "" } else { " by another command" };
        let words = format!("{happened}{by}: it cannot be applied)");
        assert!(row.line().ends_with(&words), "{path}: {}", row.line());
    }
}

/// Story: a branch that the person made, or a fetch, kept a commit of the agent on another branch from being applied.
#[test]
fn a_new_ref_of_the_person_is_in_the_way_of_no_commit_and_stays() {
    for path in [".git/refs/heads/side", ".git/refs/tags/v1", ".git/refs/remotes/origin/main"] {
        let b = committed();
        let words = b.words();
        let id = format!("{}\n", "0123456789".repeat(4));
        b.write(path, &id);
        assert_eq!(b.words(), words, "{path}");
        lands(&b);
        assert_eq!(fs::read_to_string(b.root.join(path)).unwrap(), id, "{path}");
    }
}

#[test]
fn what_is_kept_of_a_repository_is_never_the_persons_own_file() {
    let b = committed();
    b.set_aside(&only(&b, "a.txt")).unwrap();
    use std::os::unix::fs::MetadataExt;
    assert_eq!(fs::metadata(b.root.join(".git/HEAD")).unwrap().nlink(), 1);
    apply(&b, &b.all());
    b.command(|upper| fs::write(upper.join("z"), "z").unwrap());
    assert_eq!(b.words(), ["A z"]);
}
