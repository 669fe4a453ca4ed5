//! What a command changes in git's own files and in no commit, made by git and by a script.

use super::*;

/// A rebase, `git am`, a cherry-pick and a merge that stopped at a conflict, as the person left them.
pub(super) fn stopped(operation: &str) -> Vec<&'static str> {
    let mut commands = vec![
        "!git switch -q -c topic; for i in 1 2 3; do echo t$i > b.txt; git commit -qam \"topic $i\"; done; git branch other main; git switch -q main",
        "b.txt=m/",
        "commit -qam Main",
    ];
    commands.extend(match operation {
        "rebase" => vec!["switch -q topic", "rebase main"],
        "am" => vec!["!git format-patch -q -o ../p main..topic", "!git am ../p/* || true"],
        "cherry-pick" => vec!["cherry-pick main..topic"],
        "bisect" => vec!["!git bisect start topic main~1"],
        "merge" => vec![
            "!git switch -q other; echo o > o.txt; git add o.txt; git commit -qm Other; git switch -q main",
            "merge topic",
        ],
        _ => vec![],
    });
    commands
}

/// Story: each of these was on no screen, and the next command of the person lost commits, or took a patch or a message from there.
#[test]
fn what_changes_in_an_operation_of_the_person_has_a_row() {
    if !has_git() {
        return;
    }
    let cases: &[(&str, &str, &str)] = &[
        ("rebase", "echo noop > .git/rebase-merge/git-rebase-todo", "rebase-merge/git-rebase-todo: +1 -2"),
        ("rebase", ": > .git/rebase-merge/git-rebase-todo", "rebase-merge/git-rebase-todo: +0 -2"),
        (
            "rebase",
            "sed -i 's/^pick/# pick/' .git/rebase-merge/git-rebase-todo",
            "rebase-merge/git-rebase-todo: +2 -2",
        ),
        (
            "rebase",
            "cd .git/rebase-merge; sed -n 1p git-rebase-todo >> done; sed -i 1d git-rebase-todo; echo 2 > msgnum",
            "rebase-merge/git-rebase-todo: +0 -1",
        ),
        ("rebase", "echo evilbytes > .git/rebase-merge/message", "rebase-merge/message: +1 -"),
        ("rebase", "echo ours > .git/rebase-merge/strategy", "rebase-merge/strategy: +1 -0"),
        ("rebase", "echo --ours > .git/rebase-merge/strategy_opts", "rebase-merge/strategy_opts: +1 -0"),
        ("rebase", "git rev-parse topic > .git/rebase-merge/onto", "rebase-merge/onto: +1 -1"),
        ("rebase", "git rev-parse main~1 > .git/rebase-merge/orig-head", "rebase-merge/orig-head: +1 -1"),
        ("rebase", "rm .git/rebase-merge/*", "rebase-merge/git-rebase-todo: +0 -2"),
        ("am", "rm .git/rebase-apply/0002", "rebase-apply/0002 \"topic 2\": +0 -"),
        ("rebase", "git rev-parse HEAD > .git/rebase-merge/amend", "rebase-merge/amend: +1 -0"),
        ("rebase", ": > .git/rebase-merge/signoff", "rebase-merge/signoff: +0 -0"),
        ("rebase", "git log -1 --format=%B > .git/MERGE_MSG", "MERGE_MSG: +1 -"),
        ("am", "printf 'diff --git a/e b/e\\n+x\\n' > .git/rebase-apply/patch", "rebase-apply/patch: +2 -"),
        ("am", "echo 3 > .git/rebase-apply/next", "rebase-apply/next: +1 -1"),
        ("am", "echo 1 > .git/rebase-apply/last", "rebase-apply/last: +1 -1"),
        ("am", "echo evilbytes > .git/rebase-apply/final-commit", "rebase-apply/final-commit: +1 -1"),
        ("am", "git rev-parse HEAD~1 > .git/ORIG_HEAD", "ORIG_HEAD: +1 -1"),
        ("am", "rm .git/ORIG_HEAD", "ORIG_HEAD: +0 -1"),
        ("am", "git rev-parse HEAD~1 > .git/rebase-apply/orig-head", "rebase-apply/orig-head: +1 -0"),
        ("cherry-pick", "git rev-parse HEAD~1 > .git/sequencer/head", "sequencer/head: +1 -1"),
        ("cherry-pick", ": > .git/sequencer/todo", "sequencer/todo: +0 -3"),
        ("cherry-pick", "rm -r .git/sequencer", "sequencer/todo: +0 -3"),
        ("cherry-pick", "git rev-parse topic > .git/CHERRY_PICK_HEAD", "CHERRY_PICK_HEAD: +1 -1"),
        ("merge", "git rev-parse other > .git/MERGE_HEAD", "MERGE_HEAD: +1 -1"),
        ("merge", "git rev-parse other >> .git/MERGE_HEAD", "MERGE_HEAD: +1 -0"),
        ("merge", "echo no-ff > .git/MERGE_MODE", "MERGE_MODE: +1 -0"),
    ];
    for (operation, command, row) in cases {
        let mut ground = Ground::new();
        run(&mut ground, &stopped(operation));
        let rows = ground.rows(|ground| run(ground, &[&format!("!{command}")]));
        assert!(rows.iter().any(|found| found.starts_with(row)), "{operation}: {command}\n{rows:#?}");
    }
}

/// Story: the catch-all explained any file with names of commits, so that the next abort or commit of the person took another.
#[test]
fn what_a_command_writes_for_an_abort_or_the_next_commit_is_in_a_row() {
    if !has_git() {
        return;
    }
    let sequencer = "mkdir .git/sequencer; git rev-parse HEAD~1 > .git/sequencer/head; git rev-parse HEAD > .git/sequencer/abort-safety";
    let am = "git am ../p/* || true";
    let patches = "!git format-patch -q -o ../p main..topic";
    let rebase = "git switch -q topic; git rebase main || true";
    let todo = ".git/rebase-merge/git-rebase-todo";
    let older = "git rev-parse HEAD~1 >";
    // What the person did, the command, and a row.
    let cases: &[(&[&str], String, &str)] = &[
        (&[], sequencer.into(), "! cherry-pick or revert in progress: abort goes to other (X)"),
        (&["cherry-pick topic"], sequencer.into(), "sequencer/head: +1 -0"),
        (&["revert --no-edit HEAD~1"], sequencer.into(), "sequencer/head: +1 -0"),
        (
            &[],
            format!("git cherry-pick main..topic || true; {older} .git/sequencer/head"),
            "! cherry-pick in progress: X \"topic 1\", abort goes to other (X)",
        ),
        (
            &[patches],
            format!("{am}; {older} .git/ORIG_HEAD; {older} .git/rebase-apply/orig-head"),
            "! am in progress: patch 1 of 3: \"topic 1\", abort goes to other (X)",
        ),
        (&[patches], format!("{am}; {older} .git/rebase-apply/orig-head"), "rebase-apply/orig-head: +1 -0"),
        (
            &[patches],
            format!("{am}; rm .git/ORIG_HEAD"),
            "! am in progress: patch 1 of 3: \"topic 1\", abort deletes the branch",
        ),
        (
            &[patches],
            format!("{am}; echo 3 > .git/rebase-apply/next"),
            "am in progress: patch 3 of 3: \"topic 3\", 2 patches left out",
        ),
        (
            &[patches],
            format!("{am}; rm .git/rebase-apply/0002; echo t > .git/rebase-apply/sign"),
            "am in progress: patch 1 of 3: \"topic 1\", 1 patch missing, with signoff",
        ),
        (&[patches], format!("{am}; echo x > .git/rebase-apply/msg"), "rebase-apply/msg: +1 -0"),
        (&[], format!("{rebase}; git rev-parse other > .git/rebase-merge/onto"), "rebase-merge/onto: +1 -0"),
        (
            &[],
            format!("{rebase}; git rev-parse other > .git/rebase-merge/orig-head"),
            "! rebase in progress: topic onto main (X), stopped at X \"topic 1\", abort moves topic to other (X)",
        ),
        (
            &[],
            format!("{rebase}; : > .git/rebase-merge/signoff; echo x > .git/rebase-merge/ignore_date"),
            "rebase in progress: topic onto main (X), stopped at X \"topic 1\", with signoff, ignore_date",
        ),
        (
            &[],
            format!("{rebase}; : > {todo}"),
            "git-rebase-todo: leaves out 2 commits: X \"topic 2\", X \"topic 3\"",
        ),
        (&[], format!("{rebase}; sed -i 1d {todo}"), "git-rebase-todo: leaves out 1 commit: X \"topic 2\""),
        (&[], format!("{rebase}; sed -i 1d {todo}"), "rebase-merge/git-rebase-todo: +1 -0"),
        (
            &[],
            format!(
                "{rebase}; d=.git/rebase-merge; sed -n 1p {todo} > x; cat x $d/done > y; mv y $d/done; rm x; sed -i 1d {todo}"
            ),
            "git-rebase-todo: leaves out 1 commit: X \"topic 2\"",
        ),
        (
            &[],
            format!(
                "{rebase}; d=.git/rebase-merge; sed -n s/pick/squash/p {todo} > x; cat x $d/done > y; mv y $d/done; rm x; : > {todo}"
            ),
            "rebase-merge/done: +3 -0",
        ),
        (&[], format!("{rebase}; sed -i s/^pick/squash/ {todo}"), "rebase-merge/git-rebase-todo: +2 -0"),
        (
            &[],
            format!("{rebase}; rm {todo}"),
            "rebase in progress: topic onto main (X), stopped at X \"topic 1\", its list of steps is missing",
        ),
        (
            &[],
            "git cherry-pick main..topic || true; : > .git/sequencer/todo".into(),
            "cherry-pick in progress: X \"topic 1\", its list of steps is empty",
        ),
        (
            &[],
            "git cherry-pick main..topic || true; rm .git/sequencer/todo".into(),
            "cherry-pick in progress: X \"topic 1\", its list of steps is missing",
        ),
        (
            &[],
            format!("{rebase}; cp .git/rebase-merge/onto .git/rebase-merge/squash-onto"),
            "rebase-merge/squash-onto: +1 -0",
        ),
        (
            &[],
            format!(
                "{rebase}; sed -i \"s/^GIT_AUTHOR_DATE=.*/GIT_AUTHOR_DATE='@1 +0000'/\" .git/rebase-merge/author-script"
            ),
            "rebase-merge/author-script: +3 -0",
        ),
        // Nothing is in progress: the next commit takes it.
        (&[], "git log -1 --format=%B > .git/MERGE_MSG".into(), "MERGE_MSG: +"),
        (&[], format!("{rebase}; echo x > .git/rebase-merge/strange"), "rebase-merge/strange: +1 -0"),
        (
            &[],
            format!("{rebase}; git rev-parse other > .git/rebase-merge/amend"),
            "rebase-merge/amend: +1 -0",
        ),
        (&[], format!("{rebase}; git rev-parse other > .git/ORIG_HEAD"), "ORIG_HEAD: +1 -"),
        (&[], format!("{older} .git/ORIG_HEAD"), "ORIG_HEAD: +1 -"),
        (
            &[],
            "git merge topic; git rev-parse other~1 > .git/MERGE_HEAD".into(),
            "merge in progress: X \"first\"",
        ),
        (
            &[],
            "git merge topic; git rev-parse other >> .git/MERGE_HEAD".into(),
            "merge in progress: topic (X), other (X)",
        ),
        (
            &[],
            "git cherry-pick topic; git rev-parse topic~1 > .git/CHERRY_PICK_HEAD".into(),
            "cherry-pick in progress: X \"topic 2\"",
        ),
        (
            &["a.txt=x/", "stash push -q"],
            "git merge topic; git rev-parse stash > .git/MERGE_AUTOSTASH".into(),
            "MERGE_AUTOSTASH: +1 -0",
        ),
        (
            &["a.txt=x/", "stash push -q"],
            "git rev-parse stash > .git/MERGE_AUTOSTASH".into(),
            "MERGE_AUTOSTASH: +1 -0",
        ),
        (&["merge topic", "!echo MY > .git/MERGE_MSG"], "rm .git/MERGE_MSG".into(), "MERGE_MSG: +0 -1"),
        (&["!echo MY > .git/COMMIT_EDITMSG"], "rm .git/COMMIT_EDITMSG".into(), "COMMIT_EDITMSG: +0 -1"),
        (&["reset -q HEAD"], "rm -f .git/ORIG_HEAD; true".into(), "ORIG_HEAD: +0 -1"),
        (&[], "echo other > .git/BISECT_START".into(), "BISECT_START: +1 -0"),
        (
            &[],
            "git bisect start; git bisect bad main; git bisect good main~2; echo other > .git/BISECT_START"
                .into(),
            "bisect in progress: git bisect reset goes to other",
        ),
        (
            &[],
            "git bisect start; git bisect bad main; : > .git/BISECT_FIRST_PARENT".into(),
            "BISECT_FIRST_PARENT: +0 -0",
        ),
        (
            &[],
            "git bisect start; git bisect bad main; printf 'good\\nbad\\n' > .git/BISECT_TERMS".into(),
            "BISECT_TERMS: +2 -0",
        ),
    ];
    for (before, command, row) in cases {
        let mut ground = Ground::new();
        run(&mut ground, &stopped(""));
        run(&mut ground, before);
        let rows = ground.rows(|ground| run(ground, &[&format!("!{command}")]));
        assert!(rows.iter().any(|found| found.starts_with(row)), "{before:?} {command}\n{rows:#?}");
    }
}

#[test]
fn an_operation_that_git_itself_begins_has_one_row() {
    if !has_git() {
        return;
    }
    let patches = "!git format-patch -q -o ../p main..topic";
    // The command, and all rows but those about objects and the index.
    let cases: &[(&[&str], &str, &[&str])] = &[
        (&[], "git merge topic", &["merge in progress: topic (X)"]),
        (&[], "git cherry-pick topic", &["cherry-pick in progress: X \"topic 3\""]),
        (&[], "git cherry-pick -x topic", &["cherry-pick in progress: X \"topic 3\""]),
        (
            &[],
            "git cherry-pick main..topic",
            &["cherry-pick in progress: X \"topic 1\", 2 commits left: X \"topic 2\", X \"topic 3\""],
        ),
        (
            &["switch -q topic"],
            "git rebase main",
            &[
                "HEAD is detached at X",
                "rebase in progress: topic onto main (X), stopped at X \"topic 1\", 2 commits left: \"topic 2\", \"topic 3\"",
            ],
        ),
        (
            &["switch -q topic"],
            "GIT_EDITOR=true git -c sequence.editor='sed -i 2,3s/pick/squash/' rebase -q -i other",
            &[
                "! branch topic moved from X to X (drops 2 commits: \"topic 2\", \"topic 3\"; no other ref has them; 1 commit rewritten)",
            ],
        ),
        (
            &[patches],
            "git am ../p/*",
            &[
                "am in progress: patch 1 of 3: \"topic 1\"",
                "rebase-apply/0001 \"topic 1\": ",
                "rebase-apply/0002 \"topic 2\": ",
                "rebase-apply/0003 \"topic 3\": ",
            ],
        ),
        (&[], "git revert -n HEAD", &["revert in progress: X \"Main\""]),
        (&[], "git bisect start; git bisect bad; git bisect good other", &["bisect in progress"]),
    ];
    for (before, command, wanted) in cases {
        let mut ground = Ground::new();
        run(&mut ground, &stopped(""));
        run(&mut ground, before);
        let rows = ground.rows(|ground| run(ground, &[&format!("!{command} || true")]));
        for row in *wanted {
            assert!(rows.iter().any(|found| found.starts_with(row)), "{command}: {row}\n{rows:#?}");
        }
        let others =
            ["index: ", "commit X", "ref refs/bisect", "1 tree", "2 trees", "1 blob", "2 blobs", "HEAD is"];
        let is_other = |row: &&String| !others.iter().chain(*wanted).any(|other| row.starts_with(other));
        assert_eq!(rows.iter().find(is_other), None, "{command}\n{rows:#?}");
    }
}

/// Story: a merge next to an edit of the person left two rows, and the second one said nothing at all.
#[test]
fn the_stash_that_a_merge_makes_has_one_row() {
    if !has_git() {
        return;
    }
    let begin = "!git switch -q other; echo o > o.txt; git add o.txt; git commit -qm Other; git switch -q main; echo mine >> a.txt";
    let mut ground = Ground::new();
    run(&mut ground, &stopped(""));
    run(&mut ground, &[begin]);
    let rows = ground.rows(|ground| run(ground, &["!git merge -q -m M other"]));
    let unreached: Vec<&String> = rows.iter().filter(|row| row.contains("reached by no")).collect();
    assert!(
        matches!(unreached.as_slice(), [row] if row.starts_with("commit X \"WIP on main: ") && row.contains("1 file +1 -0")),
        "{rows:#?}"
    );
    // One that says something of its own is not that of git.
    let forged = "!s=$(git stash create); i=$(git commit-tree HEAD^{tree} -p HEAD -m 'index on main: EVIL'); \
                  git commit-tree $s^{tree} -p HEAD -p $i -m 'WIP on main: x' > /dev/null; git gc -q";
    let rows = ground.rows(|ground| run(ground, &[forged]));
    assert!(rows.iter().any(|row| row.contains("1 commit") && row.contains("reached by no")), "{rows:#?}");
}

#[test]
fn steps_of_an_operation_of_the_person_have_the_rows_of_their_commits() {
    if !has_git() {
        return;
    }
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "rebase",
            "echo r > b.txt; git add b.txt; GIT_EDITOR=true git rebase --continue || true",
            &["commit X \"topic 1\" on HEAD: 1 file +1 -1", "index: 1 in conflict"],
        ),
        (
            "cherry-pick",
            "echo r > b.txt; git add b.txt; GIT_EDITOR=true git cherry-pick --continue || true",
            &["commit X \"topic 1\" on main: 1 file +1 -1", "index: 1 in conflict"],
        ),
        ("rebase", "git rebase --abort", &["switched from the detached X to branch topic", "rebase ended"]),
        ("am", "git am --abort", &["am ended"]),
        ("bisect", "git bisect good topic~1", &["bisect: 1 commit left, good X \"topic 2\""]),
        ("cherry-pick", "git cherry-pick --abort", &["cherry-pick ended"]),
        ("merge", "git merge --abort", &["merge ended"]),
        // What is left out has its row.
        ("am", "git am --skip || true", &["rebase-apply/next: +1 -1"]),
        ("rebase", "git rebase --skip || true", &["rebase continued without X \"topic 1\""]),
    ];
    for (operation, command, wanted) in cases {
        let mut ground = Ground::new();
        run(&mut ground, &stopped(operation));
        let rows = ground.rows(|ground| run(ground, &[&format!("!{command}")]));
        for row in *wanted {
            assert!(
                rows.iter().any(|found| found.starts_with(row)),
                "{operation}: {command}: {row}\n{rows:#?}"
            );
        }
        let is_quiet = *command != "git am --skip || true";
        let of_git = |row: &&String| {
            ["rebase-", "sequencer", "MERGE_", "CHERRY", "ORIG", "REBASE"]
                .iter()
                .any(|name| row.starts_with(name))
        };
        assert!(!is_quiet || rows.iter().find(of_git).is_none(), "{operation}: {command}\n{rows:#?}");
    }
}

/// Story: the message of the next commit came from a commit to which only lines of a reflog led, and whose row was closed.
#[test]
fn only_a_commit_that_a_name_leads_to_explains_the_next_message() {
    if !has_git() {
        return;
    }
    let commit = "!c=$(git commit-tree HEAD^{tree} -p HEAD -m fine -m EVIL); h=$(git rev-parse HEAD); \
                  printf \"$h $c A <a@x> 5 +0000\\tcommit: fine\\n$c $h A <a@x> 5 +0000\\treset: moving to HEAD~1\\n\" \
                  >> .git/logs/refs/heads/main; git log -1 --format=%B $c > .git/";
    for (file, has_row) in [("MERGE_MSG", true), ("COMMIT_EDITMSG", false)] {
        let rows = Ground::new().rows(|ground| run(ground, &[&format!("{commit}{file}")]));
        assert_eq!(rows.iter().any(|row| row.starts_with(file)), has_row, "{rows:#?}");
    }
}

/// Story: git took the changed file for clean, and the next `git checkout` wrote over the person's work.
#[test]
fn a_changed_file_that_the_index_takes_for_clean_is_named() {
    if !has_git() {
        return;
    }
    // Gives the index the times and the size of the file, and an old time.
    let forge = "!python3 -c 'import os, struct, hashlib\nd = bytearray(open(\".git/index\", \"rb\").read()[:-20])\ni = d.find(b\"a.txt\\0\") - 62\n\
                 s = os.stat(\"a.txt\")\nm = lambda v: v & 0xffffffff\n\
                 struct.pack_into(\">6I\", d, i, m(s.st_ctime_ns // 10**9), s.st_ctime_ns % 10**9, m(s.st_mtime_ns // 10**9), s.st_mtime_ns % 10**9, m(s.st_dev), m(s.st_ino))\n\
                 struct.pack_into(\">3I\", d, i + 28, s.st_uid, s.st_gid, m(s.st_size))\nopen(\".git/index\", \"wb\").write(bytes(d) + hashlib.sha1(d).digest())'";
    let row = "! index: git no longer shows changes of a.txt";
    let old = "!touch -d 2001-01-01 a.txt";
    let crlf = "!git config core.autocrlf true; printf 'one\\r\\ntwo\\r\\n' > a.txt; touch -d 2001-01-01 a.txt; git status --short";
    let cases: &[(&[&str], &[&str], bool)] = &[
        (&["a.txt=one/MY/", old], &["n.txt=n/", "add n.txt", forge], true),
        (&["rm -q --cached a.txt", "a.txt=one/MY/", old], &["reset -q a.txt", forge], true),
        // The content is that of the entry, and other commands of git.
        (&[old], &["n.txt=n/", "add n.txt", forge], false),
        (&[], &["!touch -d 2001-01-01 a.txt; git status --short", "n.txt=n/", "add n.txt"], false),
        (&[], &[crlf, "n.txt=n/", "add n.txt"], false),
        (&["a.txt=one/MY/"], &["n.txt=n/", "add n.txt", "!git status --short"], false),
        (&["a.txt=one/MY/", old], &["commit -qam Mine", "a.txt=one/NO/"], false),
        (&["a.txt=one/MY/"], &["checkout -q HEAD -- a.txt", "a.txt=one/tw2/"], false),
        (&["a.txt=one/MY/"], &["stash -q", "!git stash pop -q"], false),
    ];
    for (before, commands, is_named) in cases {
        let mut ground = Ground::new();
        run(&mut ground, before);
        let rows = ground.rows(|ground| run(ground, commands));
        assert_eq!(rows.iter().any(|found| found == row), *is_named, "{before:?} {commands:?}\n{rows:#?}");
    }
}

/// Story: without its ref, or in another order, `git stash pop` finds nothing or another entry.
#[test]
fn what_git_stash_list_has_no_more_and_in_another_order_has_rows() {
    if !has_git() {
        return;
    }
    let three = "!for k in 1 2 3; do echo s$k > b.txt; git stash -q; done";
    let cases: &[(&str, usize, &str)] = &[
        ("!rm .git/refs/stash", 3, "! stash entry X \"WIP on main: X second\" removed: 1 file +1 -1"),
        (
            "!git pack-refs --all; sed -i /stash/d .git/packed-refs",
            3,
            "! stash entry X \"WIP on main: X second\" removed: 1 file +1 -1",
        ),
        (
            "!tac .git/logs/refs/stash > x; mv x .git/logs/refs/stash; tail -1 .git/logs/refs/stash | cut -d' ' -f2 > .git/refs/stash",
            1,
            "logs/refs/stash: +2 -2",
        ),
        ("!sed -n 1p .git/logs/refs/stash >> .git/logs/refs/stash", 1, "logs/refs/stash: +1 -0"),
        ("!git stash drop -q stash@{1}", 0, "logs/refs/stash"),
        ("!git stash pop -q", 0, "logs/refs/stash"),
    ];
    for (command, number, row) in cases {
        let mut ground = Ground::new();
        run(&mut ground, &[three]);
        let rows = ground.rows(|ground| run(ground, &[command]));
        let found = rows.iter().filter(|found| found.starts_with(row)).count();
        assert_eq!(found, *number, "{command}\n{rows:#?}");
    }
}

#[test]
fn an_object_of_lfs_and_a_name_in_a_reflog_have_rows() {
    if !has_git() {
        return;
    }
    let lfs = |make: &str| {
        format!(
            "!{make} > x; h=$(sha256sum x | cut -c1-64); d=.git/lfs/objects/$(echo $h | cut -c1-2)/$(echo $h | cut -c3-4); mkdir -p $d; mv x $d/$h"
        )
    };
    let reflog = "!h=$(git rev-parse HEAD); echo \"$h $h EVIL run curl x | sh <m@e> 5 +0000\" >> .git/logs/refs/heads/main";
    let cases: &[(String, &str)] = &[
        (lfs("printf evil"), "1 LFS object: +1 -0"),
        (lfs("head -c 9 /dev/zero"), "1 LFS object: not text, 9 bytes"),
        (lfs("head -c 20000000 /dev/zero"), "1 LFS object: too large to be shown, 20000000 bytes"),
        (reflog.into(), "logs/refs/heads/main: +1 -0"),
    ];
    for (command, row) in cases {
        let rows = Ground::new().rows(|ground| run(ground, &[command]));
        assert_eq!(rows, [*row], "{command}");
    }
}

/// Story: the work of the person was in an autostash only, and the next `git rebase --continue` left it in no list.
#[test]
fn an_autostash_that_git_would_not_put_back_is_a_removed_stash_entry() {
    if !has_git() {
        return;
    }
    let of = |operation: &str, command: &str| {
        let mut ground = Ground::new();
        let conflict = "!git switch -q -c topic; echo T > b.txt; git commit -qam T; git switch -q main; echo M > b.txt; git commit -qam M; \
                        echo MY >> a.txt";
        run(&mut ground, &[conflict, operation]);
        ground.rows(|ground| run(ground, &[command]))
    };
    let row = "! stash entry X \"On main: autostash\" removed: 1 file +0 -1";
    for (operation, file) in [
        ("rebase --autostash topic", "rebase-merge/autostash"),
        ("merge --autostash topic", "MERGE_AUTOSTASH"),
    ] {
        for command in [format!("!rm .git/{file}"), format!("!: > .git/{file}")] {
            let rows = of(operation, &command);
            assert!(rows.iter().any(|found| found.starts_with(row)), "{operation} {command}\n{rows:#?}");
        }
    }
    let rows = of("rebase --autostash topic", "rebase --abort");
    let row = "! stash entry X \"On main: autostash\" removed: its files are in the work tree";
    assert!(!rows.iter().any(|found| found.contains("removed: 1 file")), "{rows:#?}");
    assert!(rows.iter().any(|found| found == row || found == &row[2..]), "{rows:#?}");
}

#[test]
fn a_branch_that_becomes_another_name_and_another_fetched_branch_have_rows() {
    if !has_git() {
        return;
    }
    let rows = Ground::new().rows(|ground| {
        run(ground, &["branch topic"]);
    });
    assert_eq!(rows, ["branch topic created at X"]);
    let mut ground = Ground::new();
    run(&mut ground, &["branch topic"]);
    let rows = ground.rows(|ground| run(ground, &["symbolic-ref refs/heads/topic refs/heads/main"]));
    assert_eq!(rows, ["! branch topic is another name of refs/heads/main: git writes there"]);
    let rows = ground.rows(|ground| run(ground, &["!git rev-parse main > .git/refs/heads/topic"]));
    assert_eq!(rows, ["! branch topic is no name of another ref any more"]);
    let clone = "!git clone -q . ../up; cd ../up; git branch other HEAD~1; cd ../work; git remote add origin ../up; git fetch -q; \
                 git branch -q -u origin/main; git fetch -q";
    let mut ground = Ground::new();
    run(&mut ground, &[clone]);
    let forged =
        "!printf \"$(git rev-parse origin/other)\\t\\tbranch 'other' of ../up\\n\" > .git/FETCH_HEAD";
    let rows = ground.rows(|ground| run(ground, &[forged]));
    assert!(rows.iter().any(|row| row.starts_with("FETCH_HEAD: +1 -")), "{rows:#?}");
    for command in ["fetch -q", "fetch -q origin"] {
        let rows = ground.rows(|ground| run(ground, &[command]));
        assert!(!rows.iter().any(|row| row.starts_with("FETCH_HEAD:")), "{command} {rows:#?}");
    }
}
