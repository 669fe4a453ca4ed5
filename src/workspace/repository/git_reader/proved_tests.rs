//! What git itself notes and logs, forged by a script: it is applied without a row only where something proves it.

use super::*;

/// Rows that begin with `row`, after `before` of the person and `commands`.
fn found(before: &[&str], commands: &[&str], row: &str) -> (usize, Vec<String>) {
    let mut ground = Ground::new();
    run(&mut ground, before);
    let rows = ground.rows(|ground| run(ground, commands));
    (rows.iter().filter(|found| found.starts_with(row)).count(), rows)
}

const OTHER: &str = "!git switch -q -c other; git commit -q --allow-empty -m O; git switch -q main; git commit -q --allow-empty -m M";

/// Story: `git checkout -` and `git reset main@{1}` took another commit from a log in another order, or from a checkout that
/// nobody made.
#[test]
fn lines_of_a_reflog_follow_one_another_or_have_a_row() {
    if !has_git() {
        return;
    }
    let line = "h=$(git rev-parse HEAD); o=$(git rev-parse other); w='A <a@x> 5 +0000';";
    let lone =
        format!("!{line} printf \"$h $h $w\\tcheckout: moving from other to main\\n\" >> .git/logs/HEAD");
    let elsewhere =
        format!("!{line} printf \"$h $o $w\\tcheckout: moving from main to other\\n\" >> .git/logs/HEAD");
    let apart =
        format!("!{line} printf \"$o $o $w\\treset: moving to HEAD\\n\" >> .git/logs/refs/heads/main");
    let cases: &[(&str, &str, usize)] = &[
        ("!tac .git/logs/HEAD > x; mv x .git/logs/HEAD", "logs/HEAD: ", 1),
        ("!f=.git/logs/refs/heads/main; tac $f > x; mv x $f", "logs/refs/heads/main: ", 1),
        (&lone, "logs/HEAD: +1 -0", 1),
        (&elsewhere, "logs/HEAD: +1 -0", 1),
        (&apart, "logs/refs/heads/main: +1 -0", 1),
        ("switch -q other", "logs/", 0),
        ("!git switch -q other; git switch -q main; git commit -q --allow-empty -m x", "logs/", 0),
        (
            "!git checkout -q HEAD~1; git checkout -q --detach other; git commit -q --allow-empty -m D; git checkout -q -",
            "logs/",
            0,
        ),
        ("!git reset -q HEAD~1; git reset -q HEAD@{1}; git reset -q; git reset -q", "logs/", 0),
        ("branch -m main trunk", "logs/", 0),
        (
            "!git branch -m other o2; git branch -m o2 o3; git branch -c o3 o4; git branch -M o3 o4",
            "logs/",
            0,
        ),
        ("reflog expire --expire=now --all", "logs/", 0),
        (
            "!git reflog delete HEAD@{1}; git reflog delete --rewrite main@{1}; git commit -q --allow-empty -m x",
            "logs/",
            0,
        ),
        ("!git rebase -q other; git rebase -q --onto HEAD~1 HEAD~1", "logs/", 0),
        ("!git switch -q --orphan new; git commit -q --allow-empty -m x; git switch -q main", "logs/", 0),
        ("!git branch -D other; git branch other", "logs/", 0),
        ("!git worktree add -q wt other; cd wt; git commit -q --allow-empty -m x", "logs/", 0),
        ("!git bisect start HEAD HEAD~2; git bisect reset", "logs/", 0),
    ];
    for (command, row, number) in cases {
        let (count, rows) = found(&[OTHER], &[command], row);
        assert_eq!(count, *number, "{command}\n{rows:#?}");
    }
}

/// Story: a line with a beginning of the URL, or of a tag that was there, was merged by `git merge FETCH_HEAD`.
#[test]
fn a_line_of_fetch_head_is_of_a_remote_and_of_a_fetch() {
    if !has_git() {
        return;
    }
    let clone = "!git clone -q . ../up.git; cd ../up.git; git branch old HEAD~1; git tag old HEAD~1; cd ../work; \
                 git remote add origin ../up.git; git fetch -q --tags; git branch -q -u origin/main";
    let more = "!cd ../up.git; git commit -q --allow-empty -m More; git tag new";
    let forged =
        |line: &str| format!("!printf \"$(git rev-parse origin/old)\\t{line}\\n\" > .git/FETCH_HEAD");
    for line in [
        "\\t../up",
        "\\t.",
        "\\ttag 'old' of ../up",
        "\\tbranch 'old' of ../up",
        "not-for-merge\\tbranch 'old' of .",
        "not-for-merge\\tbranch 'old' of ../up.git",
    ] {
        let (count, rows) = found(&[clone], &[&forged(line)], "FETCH_HEAD: ");
        assert_eq!(count, 1, "{line}\n{rows:#?}");
    }
    let shown = forged("not-for-merge\\tbranch 'old' of ../up");
    for command in [
        shown.as_str(),
        "fetch -q",
        "fetch -q --tags",
        "fetch -q origin tag new",
        "fetch -q ../up.git main",
        "fetch -q ../up.git",
        "pull -q --no-rebase",
    ] {
        let (count, rows) = found(&[clone, more], &[command], "FETCH_HEAD: ");
        assert_eq!(count, 0, "{command}\n{rows:#?}");
    }
}

/// Story: `git describe` did not find a tag, and others fetched another commit for it.
#[test]
fn what_packed_refs_says_about_a_tag_is_compared_with_the_tag() {
    if !has_git() {
        return;
    }
    let tags = "!git tag -a -m v v1 HEAD~1; git tag -a -m v v2; git tag light; git pack-refs --all";
    let row = "! packed-refs has a wrong object for tag v1";
    for (command, number) in [
        ("!sed -i \"s/^^$(git rev-parse HEAD~1)/^$(git rev-parse HEAD)/\" .git/packed-refs", 1),
        ("!sed -i '/^^/d' .git/packed-refs", 1),
        ("!sed -i '1d; /^^/d' .git/packed-refs", 0),
        ("!git tag -a -m v v3; git pack-refs --all; git tag -d v2; git pack-refs --all", 0),
    ] {
        let (count, rows) = found(&[tags], &[command], row);
        assert_eq!(count, number, "{command}\n{rows:#?}");
    }
    let (_, rows) = found(&[tags], &["!sed -i '/^^/d' .git/packed-refs"], row);
    assert!(rows.contains(&"! packed-refs has a wrong object for tag v1, tag v2".into()), "{rows:#?}");
}

/// Story: the row said that the worktree is removed, and not that its commit was nowhere else.
#[test]
fn a_removed_worktree_says_that_its_commits_are_lost() {
    if !has_git() {
        return;
    }
    let worktree = "!git worktree add -q --detach wt; cd wt; git commit -q --allow-empty -m Lost";
    let row = "! worktree wt removed, its HEAD was at X (drops 1 commit: \"Lost\"; no other ref has it)";
    for (before, command, number) in [
        (&[worktree][..], "!rm -rf .git/worktrees", 1),
        (&[worktree], "worktree remove --force wt", 1),
        (&[worktree], "!git branch keep $(git -C wt rev-parse HEAD); git worktree remove wt", 0),
        (
            &[worktree, "!git worktree add -q --detach two $(git -C wt rev-parse HEAD)"],
            "worktree remove --force wt",
            0,
        ),
        (&["worktree add -q wt -b topic"], "worktree remove --force wt", 0),
    ] {
        let (count, rows) = found(before, &[command], row);
        assert_eq!(count, number, "{command}\n{rows:#?}");
    }
}

/// Story: what was staged in the worktree was gone with its index, on no row.
#[test]
fn a_removed_worktree_says_that_what_was_staged_there_is_lost() {
    if !has_git() {
        return;
    }
    let staged = "!git worktree add -q wt; cd wt; echo STAGED >> a.txt; git add a.txt";
    let apart = "!cd wt; git show HEAD:a.txt > a.txt";
    let row = "! index: drops staged changes of wt/a.txt that are in no commit and no file";
    for (before, command, number) in [
        (&[staged, apart][..], "worktree remove --force wt", 1),
        (&[staged, apart], "!rm -rf wt; git worktree prune", 1),
        (&[staged], "worktree remove --force wt", 0),
        (&[staged, apart], "!git -C wt commit -qm Keep; git worktree remove --force wt", 0),
    ] {
        let (count, rows) = found(before, &[command], row);
        assert_eq!(count, number, "{command}\n{rows:#?}");
    }
}

/// Story: git could no longer restore conflicts that the person had resolved, and no row named them.
#[test]
fn a_conflict_that_git_can_no_longer_restore_has_a_row() {
    if !has_git() {
        return;
    }
    let resolved = &["!conflict", "merge topic", "a.txt=1/2/", "add a.txt"];
    let row = "index: git can no longer restore the conflict in a.txt";
    for (command, number) in [
        ("update-index --clear-resolve-undo", 1),
        ("commit -qm Merge_it", 0),
        ("merge --abort", 0),
        ("checkout -q -m a.txt", 0),
        ("reset -q --hard", 0),
        ("!echo n > n; git add n; git status", 0),
    ] {
        let (count, rows) = found(resolved, &[command], row);
        assert_eq!(count, number, "{command}\n{rows:#?}");
    }
    let rerere = "!git config rerere.enabled true";
    let recorded = &[rerere, "!conflict", "merge topic", "a.txt=1/2/", "commit -qam Merge_it"];
    let (count, rows) = found(recorded, &["!rm -r .git/rr-cache/*"], "rr-cache/");
    assert_eq!(count, 1, "{rows:#?}");
    let mut ground = Ground::new();
    run(&mut ground, recorded);
    run(&mut ground, &["!touch -d '70 days ago' .git/rr-cache/*/*"]);
    let rows = ground.rows(|ground| run(ground, &["rerere gc"]));
    assert!(!rows.iter().any(|row| row.starts_with("rr-cache")), "{rows:#?}");
}

/// Story: with the marks of the monitor forged, git did not see the person's edit. Such an index is applied without them; one
/// that has them all the same has a row.
#[test]
fn an_extension_of_the_index_that_nothing_proves_has_a_row() {
    if !has_git() {
        return;
    }
    let add = |name: &str| {
        let script = format!(
            "import hashlib\nd = open(\".git/index\", \"rb\").read()[:-20] + b\"{name}\\0\\0\\0\\1x\"\nopen(\".git/index\", \"wb\").write(d + hashlib.sha1(d).digest())"
        );
        format!("!python3 -c '{script}'")
    };
    let row = "! index: placet does not read its extension";
    for (command, number) in [
        (add("FSMN"), 1),
        (add("UNTR"), 1),
        (add("WXYZ"), 1),
        ("update-index --untracked-cache".to_string(), 0),
        ("!git update-index --untracked-cache; git status".to_string(), 1),
        ("!git add .".to_string(), 0),
    ] {
        let (count, rows) = found(&[], &[&command], row);
        assert_eq!(count, number, "{command}\n{rows:#?}");
    }
    let (count, rows) = found(&[], &[&add("wxyz")], "! index changed, and was not read: it is damaged");
    assert_eq!(count, 1, "{rows:#?}");
}

/// Story: after `git stash pop` with something staged, `2 trees, reached by no branch or tag` came, and the entry came first as
/// if its lines were lost.
#[test]
fn a_popped_stash_entry_is_quiet_where_the_work_tree_has_its_lines() {
    if !has_git() {
        return;
    }
    let lines = "!seq 30 > a.txt; git commit -qam Lines";
    let kept = "stash entry X \"WIP on main: X Lines\" removed: its lines are in the work tree";
    let lost = "! stash entry X \"WIP on main: X Lines\" removed: ";
    let stash = [lines, "!sed -i 5s/.*/FIVE/ a.txt; git stash -q"];
    let other = "!sed -i 25s/.*/MY/ a.txt; git commit -qam My";
    let staged = "!echo n > n.txt; git add n.txt";
    let cases: &[(&[&str], &[&str], &str)] = &[
        (&[other], &["!git stash pop -q"], kept),
        (&[other], &["stash drop -q"], lost),
        (&[other], &["!git stash pop -q; sed -i 5d a.txt"], lost),
        (
            &[],
            &[staged, "!git stash pop -q"],
            "stash entry X \"WIP on main: X Lines\" removed: its files are in the work tree",
        ),
        (&[other], &[staged, "!git stash pop -q"], kept),
    ];
    for (before, commands, row) in cases {
        let (count, rows) = found(&[&stash[..], before].concat(), commands, row);
        assert_eq!(count, 1, "{commands:?}\n{rows:#?}");
        assert!(!rows.iter().any(|row| row.contains("reached by no")), "{commands:?}\n{rows:#?}");
    }
    // A tree with a file that is nowhere else.
    let tree =
        "!b=$(echo evil | git hash-object -w --stdin); printf \"100644 blob $b\\te.txt\\n\" | git mktree";
    let (count, rows) = found(&[], &[tree], "1 tree, 1 blob, reached by no branch or tag");
    assert_eq!(count, 1, "{rows:#?}");
    // What has nothing in it: a tree of a commit that failed, and a blob.
    let (_, rows) = found(&[], &["!git mktree < /dev/null; git hash-object -w --stdin < /dev/null"], "");
    assert_eq!(rows, ["1 blob, reached by no branch or tag: empty"]);
}
