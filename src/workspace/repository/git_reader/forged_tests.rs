//! Files of an operation that a script forges after git has written them, so that the next command of the person loses commits.

use super::unexplained_tests::stopped;
use super::*;

/// Commits of one subject; git stops at the second.
const ALIKE: &str = "!git switch -q -c topic; echo 1 > f1; git add f1; git commit -qm wip; echo t > b.txt; git commit -qam wip; \
                     echo 3 > f3; git add f3; git commit -qm wip; git branch other main; git switch -q main; echo m > b.txt; \
                     git commit -qam Main; git switch -q topic";

/// Story: each of these was proved by another file that the same script had written, or by no comparison at all.
#[test]
fn a_forged_list_of_steps_or_place_has_a_row() {
    if !has_git() {
        return;
    }
    let rebase = "cd .; git switch -q topic; git rebase main || true; cd .git/rebase-merge";
    let left_out = "git-rebase-todo: leaves out";
    let sequencer = "mkdir .git/sequencer; git rev-parse HEAD~1 > .git/sequencer/head; git rev-parse HEAD > .git/sequencer/abort-safety";
    // What the person did, the command, and a row.
    let cases: &[(&[&str], String, &str)] = &[
        (
            &[],
            format!("{rebase}; printf '# \\xff\\n' > git-rebase-todo"),
            "git-rebase-todo: leaves out 2 commits",
        ),
        (
            &[],
            format!("{rebase}; printf '#\\0\\n' > x; cat git-rebase-todo >> x; mv x git-rebase-todo"),
            "rebase-merge/git-rebase-todo: ",
        ),
        (
            &[],
            format!("{rebase}; cp orig-head onto; : > git-rebase-todo"),
            "rebase-merge/git-rebase-todo: +0 -0",
        ),
        (&[], format!("{rebase}; cp orig-head onto; : > git-rebase-todo"), "rebase-merge/onto: +1 -0"),
        (
            &[],
            format!("{rebase}; git rev-parse main~1 > onto; : > git-rebase-todo"),
            "rebase-merge/git-rebase-todo: +0 -0",
        ),
        (&[], format!("{rebase}; rm orig-head; : > git-rebase-todo"), "rebase-merge/git-rebase-todo: +0 -0"),
        (
            &[ALIKE],
            format!("{rebase}; cat git-rebase-todo >> done; : > git-rebase-todo"),
            "git-rebase-todo: leaves out 1 commit: X \"wip\"",
        ),
        (
            &[],
            format!("{rebase}; head -1 git-rebase-todo > done; sed -i 1d git-rebase-todo"),
            "git-rebase-todo: leaves out 1 commit: X \"topic 2\"",
        ),
        (&[], format!("{rebase}; git rev-parse HEAD > amend"), "rebase-merge/amend: +1 -0"),
        (&[], format!("{rebase}; git log -1 --format=%B HEAD > message"), "rebase-merge/message: +"),
        (
            &[ALIKE],
            format!("{rebase}; git rev-parse HEAD > amend; cd ../..; git add b.txt"),
            "rebase-merge/amend: +1 -0",
        ),
        (
            &[],
            format!("git commit -q --amend -m Better; {sequencer}"),
            "! cherry-pick or revert in progress: abort goes to other (X)",
        ),
        (
            &[],
            format!(
                "git switch -q -C main HEAD; git commit -q --amend -m Better; git branch -m new; {sequencer}"
            ),
            "! cherry-pick or revert in progress: abort goes to other (X)",
        ),
        (&[], "git pack-refs --all; git rev-parse other > .git/ORIG_HEAD".into(), "ORIG_HEAD: +1 -"),
        (
            &["!git bisect start -q; git bisect bad main; git bisect good main~2"],
            "git update-ref refs/bisect/bad topic".into(),
            "bisect: 4 commits left, bad X \"topic 3\"",
        ),
        (&[], "git update-ref refs/bisect/bad topic".into(), "ref refs/bisect/bad created at X"),
        (&[], "echo ref: refs/heads/zzz > .git/HEAD".into(), "switched from branch main to zzz (no commits)"),
        (
            &["update-ref refs/remotes/origin/main main"],
            "echo ref: refs/remotes/origin/main > .git/HEAD".into(),
            "! HEAD leads to refs/remotes/origin/main, which is no branch",
        ),
        (
            &["switch -q topic", "rebase main"],
            "git rev-parse HEAD > .git/ORIG_HEAD".into(),
            "ORIG_HEAD: +1 -1",
        ),
        (
            &["switch -q topic", "rebase main"],
            "git rev-parse main > .git/ORIG_HEAD".into(),
            "ORIG_HEAD: +1 -1",
        ),
        (&[RESOLVED], "for f in .git/rr-cache/*/; do cp $f/postimage $f/preimage; done".into(), "rr-cache/"),
        (&[RESOLVED], "rm .git/rr-cache/*/preimage".into(), "rr-cache/"),
    ];
    for (before, command, row) in cases {
        let mut ground = Ground::new();
        if before != &[ALIKE] {
            run(&mut ground, &stopped(""));
        }
        run(&mut ground, before);
        let rows = ground.rows(|ground| run(ground, &[&format!("!{command}")]));
        assert!(rows.iter().any(|found| found.starts_with(row)), "{before:?} {command}\n{rows:#?}");
        assert!(!command.contains("amend") || !rows.iter().any(|row| row.starts_with(left_out)), "{rows:#?}");
    }
}

/// A resolution that the person recorded.
const RESOLVED: &str = "!git config rerere.enabled true; git merge topic; printf 'both\\n' > b.txt; git commit -qam Merged; git reset -q --hard HEAD~1";

/// What git itself writes in the same places.
#[test]
fn an_edited_step_and_a_detached_bisect_need_no_row() {
    if !has_git() {
        return;
    }
    let edit = "git -c sequence.editor='sed -i 1s/pick/edit/' rebase -q -i";
    let cases: &[(&[&str], String, &str)] = &[
        (&["switch -q topic"], format!("{edit} other"), "rebase-merge/amend"),
        (&["switch -q topic", "commit -q --amend --no-edit"], format!("{edit} HEAD~2"), "rebase-merge/amend"),
        (
            &["switch -q --detach main"],
            "git bisect start; git bisect bad; git bisect good main~2".into(),
            "BISECT_START",
        ),
        (&["switch -q --detach topic"], "git rebase main".into(), "ORIG_HEAD"),
        (&["switch -q --detach topic"], "git rebase main".into(), "! rebase in progress"),
        (
            &[],
            "git switch -q -c new; git commit -q --allow-empty -m N; git cherry-pick topic~2 topic".into(),
            "sequencer/head",
        ),
    ];
    for (before, command, row) in cases {
        let mut ground = Ground::new();
        run(&mut ground, &stopped(""));
        run(&mut ground, before);
        let rows = ground.rows(|ground| run(ground, &[&format!("!{command} || true")]));
        assert!(rows.iter().any(|row| row.contains(" in progress")), "{command}\n{rows:#?}");
        assert!(!rows.iter().any(|found| found.starts_with(row)), "{before:?} {command}\n{rows:#?}");
    }
}

/// Story: every ordinary rebase had an alarm in front, and one after `git rebase --skip` had the same.
#[test]
fn rewritten_commits_are_no_loss_where_each_has_a_new_one() {
    if !has_git() {
        return;
    }
    let moved = |words: &str| format!("branch topic moved from X to X ({words})");
    let lost = |words: &str| format!("! {}", moved(words));
    let resolve =
        "for i in 1 2 3; do echo r$i > b.txt; git add b.txt; GIT_EDITOR=true git rebase --continue; done";
    let cases: &[(String, String)] = &[
        (format!("git rebase main; {resolve}"), moved("3 commits rewritten")),
        (
            "git commit -q --amend --allow-empty --no-edit --date=2001-01-01T00:00".into(),
            moved("1 commit rewritten"),
        ),
        ("git commit -q --amend -m Other".into(), lost("drops 1 commit: \"topic 3\"; no other ref has it")),
        (
            "git commit -q --amend --no-edit --author='B <b@x>'".into(),
            lost("drops 1 commit: \"topic 3\"; no other ref has it"),
        ),
        (
            format!("git rebase main; git rebase --skip; {resolve}; true"),
            lost("drops 1 commit: \"topic 1\"; no other ref has it; 2 commits rewritten"),
        ),
        ("git reset -q --hard HEAD~1".into(), lost("drops 1 commit: \"topic 3\"; no other ref has it")),
        // One new commit for two of the same subject.
        (
            "git reset -q --hard HEAD~3; git commit -q --allow-empty -m \"topic 1\"".into(),
            lost("drops 2 commits: \"topic 2\", \"topic 3\"; no other ref has them; 1 commit rewritten"),
        ),
    ];
    for (command, row) in cases {
        let mut ground = Ground::new();
        run(&mut ground, &stopped(""));
        run(&mut ground, &["switch -q topic"]);
        let rows = ground.rows(|ground| run(ground, &[&format!("!{command}")]));
        assert!(rows.contains(row), "{command}: {row}\n{rows:#?}");
    }
}

/// Story: a question about one file of git had no row at all.
#[test]
fn what_no_row_is_left_for_is_named() {
    if !has_git() {
        return;
    }
    let rows = Ground::new().rows(|ground| run(ground, &["!git rev-parse HEAD > .git/ORIG_HEAD"]));
    assert_eq!(rows, ["changed: ORIG_HEAD"]);
}
