//! A pending commit and what the person does before they apply it: when nothing else changed the repository, it is
//! applied.

use super::*;
use crate::CommitPatch;
use crate::changes::listing::ListedChange;
use crate::view::decision::apply::{ApplyOutcome, ChangeSelection, SelectedPart};
use crate::view::decision::decide::{ChangeDecision, MovedCause};
use crate::view::tests::{ViewFixture, bench};
use crate::view::undoing::discards::DiscardBackup;
use std::fs;

const FILE: &str = "1\n2\n3\n4\n5\n";

/// What a command in `dir` prints.
fn git(dir: &Path, line: &str) -> String {
    let script = format!(
        "set -e; export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@x GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@x; {line}"
    );
    let done = std::process::Command::new("sh").args(["-c", &script]).current_dir(dir).output().unwrap();
    assert!(done.status.success(), "{line}: {done:?}");
    String::from_utf8(done.stdout).unwrap()
}

/// Reads the agent's side without a sandbox.
struct Unconfined;

impl crate::GitRunnerStart for Unconfined {
    fn start(&self, _: &Path) -> Result<Box<dyn placet_git::GitRunner>, crate::GitNotConfined> {
        Ok(Box::new(placet_git::PlainRunner))
    }
}

/// A repository, a file `a.txt`, and pending what `git commit` leaves, with a change of `a.txt` next to it.
fn committed() -> ViewFixture {
    let b = with_repository();
    run_in_copy(&b, "git commit -q --allow-empty -m Second");
    b.hold("a.txt", "1\n2\n3\n4\nfive\n", Some(FILE));
    b
}

fn with_repository() -> ViewFixture {
    let b = bench();
    b.view.run_git_by(std::sync::Arc::new(Unconfined));
    b.write("a.txt", FILE);
    git(&b.root, "git init -q -b main; git add .; git commit -qm First");
    b
}

/// Holds what a command changes.
fn run_in_copy(b: &ViewFixture, line: &str) {
    let agent = tempfile::tempdir().unwrap();
    b.command(|upper| {
        let from = b.root.display();
        git(agent.path(), &format!("cp -a {from}/. .; {line}"));
        for name in git(
            agent.path(),
            &format!("find . -type f | while read f; do cmp -s $f {from}/$f || echo $f; done"),
        )
        .lines()
        {
            fs::create_dir_all(upper.join(name).parent().unwrap()).unwrap();
            fs::copy(agent.path().join(name), upper.join(name)).unwrap();
        }
    });
}

/// Story: a question showed what was staged as the one before it did, for which the file had the same content.
#[test]
fn what_is_staged_is_compared_with_the_file_of_each_question() {
    let b = with_repository();
    run_in_copy(&b, "echo staged > a.txt; git add a.txt");
    assert_eq!(differences(&b), "");
    b.hold("a.txt", "other\n", Some("staged\n"));
    assert!(differences(&b).contains("\n+staged\n"), "{}", differences(&b));
}

/// Story: only the main checkout was compared, and what was staged in another was applied and not shown.
#[test]
fn what_is_staged_in_a_linked_worktree_is_shown() {
    let b = with_repository();
    git(&b.root, "git worktree add -q wt -b other");
    run_in_copy(
        &b,
        "cp wt/.git kept; echo gitdir: $PWD/.git/worktrees/wt > wt/.git; cd wt; echo staged > a.txt; git add a.txt; \
         echo other > a.txt; cd ..; mv kept wt/.git",
    );
    assert!(differences(&b).contains("\n+staged\n"), "{}", differences(&b));
}

/// What the rows of the repository show.
fn differences(b: &ViewFixture) -> String {
    let rows = b.view.shown().unwrap().rows(Path::to_path_buf);
    let patches: Vec<CommitPatch> = rows.into_iter().filter_map(|row| row.commit).collect();
    let [patch] = patches.as_slice() else { panic!("{patches:?}") };
    String::from_utf8(patch.bytes.clone()).unwrap()
}

fn only(b: &ViewFixture, path: &str) -> ChangeSelection {
    [(b.root.join(path).into(), SelectedPart::Whole)].into_iter().collect()
}

#[track_caller]
fn apply(b: &ViewFixture, choice: &ChangeSelection) -> ApplyOutcome {
    approved(b, choice).unwrap()
}

fn approved(b: &ViewFixture, choice: &ChangeSelection) -> Result<ApplyOutcome, ApplyError> {
    let decision = ChangeDecision { apply: choice.clone(), ..ChangeDecision::default() };
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
    assert_eq!(git(&b.root, "git log --format=%s main"), "Second\nFirst\n");
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
fn a_branch_that_moved_on_is_refused_and_is_no_change_of_ours() {
    let b = committed();
    b.hold("more", "x\n", None);
    b.view.drop_unchanged().unwrap();
    b.set_aside(&only(&b, "a.txt")).unwrap();
    let words = b.words();
    git(&b.root, "git commit -q --allow-empty -m Mine");
    assert_eq!(b.words(), words);
    let refused = approved(&b, &b.all());
    let Err(ApplyError::Repository(why)) = &refused else { panic!("{refused:?}") };
    let mine = git(&b.root, "git rev-parse --short=7 main");
    let (mine, happened) = (mine.trim(), format!("branch main moved to {}", mine.trim()));
    let advice = format!("git add -A && git reset --keep {mine} && git cherry-pick ..ORIG_HEAD");
    assert_eq!(*why, format!("{happened}; ask the agent to run `{advice}`, or discard it"));
    let set = b.view.changes(LayerKind::Pending).unwrap();
    let rows = b.view.listed(&set, &b.view.classify(&set), |path| path.to_path_buf());
    let marked: Vec<&ListedChange> = rows.iter().filter(|row| row.is_blocked()).collect();
    let [row] = marked[..] else { panic!("{rows:?}") };
    assert!(row.line().ends_with(&format!("({happened})")), "{}", row.line());
    assert_eq!(git(&b.root, "git log --format=%s main"), "Mine\nFirst\n");
}

/// Story: a branch that the person made, or a fetch, kept a commit of the agent on another branch from being applied.
#[test]
fn what_only_the_person_moved_is_in_the_way_of_no_commit_and_stays() {
    for (line, state) in [
        ("git branch side", "git rev-parse side"),
        ("git tag v1", "git rev-parse v1"),
        ("git update-ref refs/remotes/origin/main main", "git rev-parse refs/remotes/origin/main"),
        ("git switch -q -c other", "git symbolic-ref HEAD"),
        ("git pack-refs --all", "git fsck"),
        ("git gc -q", "git fsck"),
        ("echo s >> a.txt; git stash -q", "git stash list"),
        ("echo n > n.txt; git add n.txt", "git diff --cached"),
    ] {
        let b = committed();
        let words = b.words();
        git(&b.root, line);
        let now = git(&b.root, state);
        assert_eq!(b.words(), words, "{line}");
        lands(&b);
        assert_eq!(git(&b.root, state), now, "{line}");
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
