//! A command that moves a branch below an index that stays: the next commit of the person takes back what the branch got. The row
//! of the index says so, with the same paths as `git status` after the apply.

use crate::support::require::has_view;
use crate::support::require::require;
use crate::support::txn::Txn;
use std::path::Path;
use std::process::Command;

const IDENTITY: &str = "export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@x GIT_COMMITTER_NAME=A \
    GIT_COMMITTER_EMAIL=a@x GIT_EDITOR=true GIT_TERMINAL_PROMPT=0;";

/// Two branches that differ in files of several directories: changed, added and removed, and with a directory in place of a file.
const BEFORE: &str = "set -e; git init -q -b main .; mkdir -p d/e other; echo one > a.txt; echo gone > gone; echo f > d/e/f; \
    echo g > d/g; echo k > kind; echo same > other/same; git add .; git commit -qm First; git branch old; git switch -qc topic; \
    echo two > a.txt; git rm -q gone; echo F > d/e/f; mkdir -p new/x; echo n > new/x/n; rm kind; mkdir kind; echo k > kind/k; \
    git add .; git commit -qm Topic; git switch -q main; echo three > other/third; git add .; git commit -qm Main;";

/// After `before` of the person and `agent` of the agent.
fn changed(before: &str, agent: &str) -> Txn {
    let txn = Txn::on_disk();
    assert_eq!(txn.sh(&txn.tree, &format!("{IDENTITY} {BEFORE} {before}")), 0, "{before}");
    let turn = ["-p", "run bash -c \"$AGENT_SCRIPT\"", "--mode", "ask"];
    let out = txn.placet(turn).env("AGENT_SCRIPT", format!("{IDENTITY} {agent}")).go();
    assert_eq!(out.code, 3, "{agent}: {out:#?}");
    txn
}

fn git(dir: &Path, args: &[&str]) -> String {
    let done = Command::new("git").arg("-C").arg(dir).args(args).output().unwrap();
    assert!(done.status.success(), "{args:?}: {done:?}");
    String::from_utf8(done.stdout).unwrap()
}

/// The paths that the next commit changes, as git names them without renames.
fn staged(dir: &Path) -> Vec<String> {
    let listed = git(dir, &["-c", "status.renames=false", "diff", "--cached", "--no-renames", "--name-only"]);
    listed.lines().map(String::from).collect()
}

/// The tree of the commit at `HEAD`; the empty one on a branch without a commit.
fn tree_at_head(dir: &Path) -> String {
    let script = "git rev-parse -q --verify HEAD^{tree} || git hash-object -t tree /dev/null";
    let done = Command::new("sh").args(["-c", script]).current_dir(dir).output().unwrap();
    String::from_utf8(done.stdout).unwrap().trim().to_string()
}

fn index_rows(txn: &Txn) -> Vec<String> {
    let listed = txn.run(["changes"]).stdout;
    listed.lines().filter(|line| line.contains("index:")).map(|line| line.trim_start().to_string()).collect()
}

#[test]
fn the_row_of_the_index_says_what_git_status_says_after_the_apply() {
    if !has_view() || !require("git") {
        return;
    }
    // What the person did, the command, and the directory whose index has the row.
    let cases = [
        ("true", "git reset -q --soft topic", "."),
        ("true", "git reset -q --soft HEAD~1", "."),
        ("true", "git update-ref refs/heads/main topic", "."),
        ("git checkout -q --detach", "git update-ref HEAD topic", "."),
        ("git pack-refs --all", "git update-ref refs/heads/main topic", "."),
        ("true", "git symbolic-ref HEAD refs/heads/topic", "."),
        ("true", "git symbolic-ref HEAD refs/heads/nothing", "."),
        ("git reset -q --hard old", "git fetch -q -u . topic:main", "."),
        ("true", "git fetch -q -u . +topic:main", "."),
        // What the person staged before counts where the commit below it is another one.
        ("echo mine > a.txt; git add a.txt", "git update-ref refs/heads/main topic", "."),
        ("git rm -q --cached gone; rm gone", "git update-ref refs/heads/main topic", "."),
        ("echo mine > mine; git add mine", "git symbolic-ref HEAD refs/heads/nothing", "."),
        // An announced path has no content for the next commit.
        ("mkdir -p new/x; echo n > new/x/n; git add -N new/x/n", "git update-ref refs/heads/main topic", "."),
        // The index changed, too, in another path, and only in a mark.
        ("true", "git update-ref refs/heads/main topic; echo x > d/g; git add d/g", "."),
        ("true", "git update-index --assume-unchanged a.txt; git update-ref refs/heads/main topic", "."),
        ("true", "git update-ref refs/heads/main topic; git reset -q -- a.txt", "."),
        // Below an index of whole directories.
        ("git sparse-checkout set --sparse-index d", "git update-ref refs/heads/main topic", "."),
        ("git worktree add -q wt old", "git update-ref refs/heads/old topic", "wt"),
        ("git worktree add -q wt old; git pack-refs --all", "git fetch -q -u . topic:old", "wt"),
        (
            "git worktree add -q wt old; git worktree add -q wt2 topic",
            "cd wt2; git update-ref refs/heads/old topic",
            "wt",
        ),
        ("git worktree add -q wt old", "cd wt; git update-ref refs/heads/main topic", "."),
        ("git worktree add -q wt old", "cd wt; git update-ref refs/heads/old topic", "wt"),
    ];
    for (before, agent, place) in cases {
        let txn = changed(before, agent);
        let old = txn.snap();
        let rows = index_rows(&txn);
        let dir = txn.tree.join(place);
        let (staged_then, then) = (staged(&dir), tree_at_head(&dir));
        let entries = || git(&dir, &["ls-files", "-s", "-v"]);
        let refs =
            || git(&txn.tree, &["for-each-ref"]) + &git(&dir, &["rev-parse", "--symbolic-full-name", "HEAD"]);
        let (entries_then, refs_then) = (entries(), refs());
        let waits = txn.run(["changes"]).stdout.contains("! M .git");
        let args = ["apply", "--apply-protected", ".git"];
        let out = txn.run(if waits { &args[..] } else { &args[..1] });
        assert_eq!(out.code, 0, "{agent}: {out:#?}");
        let moved = git(&dir, &["diff", "--name-only", "--no-renames", &then, &tree_at_head(&dir)]);
        // What the person had staged of a file that is the same in both commits is no news.
        let is_news = |path: &String| !staged_then.contains(path) || moved.lines().any(|line| line == path);
        let paths: Vec<String> = staged(&dir).into_iter().filter(is_news).collect();
        let own = if place == "." { String::new() } else { format!("worktree {place}: ") };
        let row = format!("{own}index: {} staged", paths.len());
        let is_it = |line: &String| line.starts_with(&row) && !line.contains("not all");
        assert_eq!(rows.iter().filter(|line| is_it(line)).count(), 1, "{before} | {agent}: {row}: {rows:?}");
        let others = rows.iter().filter(|line| !is_it(line) && !line.contains("no longer shows"));
        assert_eq!(others.count(), 0, "{before} | {agent}: {rows:?}");
        assert!(!paths.is_empty(), "{before} | {agent}");
        assert_eq!(txn.run(["undo"]).code, 0, "{agent}");
        assert_eq!(staged_now(&txn, &old), "", "{before} | {agent}");
        assert_eq!((entries(), refs()), (entries_then, refs_then), "{before} | {agent}");
    }
}

/// What differs from the state before, without what git says by itself or keeps for its own comfort: objects that undo leaves to
/// `git gc`, reflogs, refs and the entries of an index.
fn staged_now(txn: &Txn, old: &crate::support::txn::Snap) -> String {
    let is_of_git = |path: &Path| {
        let has = |dir: &str| path.components().any(|part| part.as_os_str() == dir);
        ["objects", "logs", "refs"].into_iter().any(has)
            || path.ends_with("index")
            || path.ends_with("packed-refs")
    };
    let (mut now, mut old) = (txn.snap(), old.clone());
    now.retain(|path, _| !is_of_git(path));
    old.retain(|path, _| !is_of_git(path));
    let lines = crate::support::txn::differences(&old, &now);
    lines.into_iter().map(|(_, line)| line + "\n").collect()
}

/// The lines below the row are those that the next commit takes back, with their marks.
#[test]
fn the_lines_that_the_next_commit_takes_back_are_below_the_row() {
    if !has_view() || !require("git") {
        return;
    }
    let txn = changed("true", "git update-ref refs/heads/main topic");
    let out = txn.run(["changes", "--json"]);
    assert!(out.stdout.contains("index: 7 staged"), "{}", out.stdout);
    // Nothing changes in the directory of the worktree, and a program learns about it, too.
    let txn = changed("git worktree add -q wt old", "git update-ref refs/heads/old topic");
    let report: serde_json::Value = serde_json::from_str(&txn.run(["changes", "--json"]).stdout).unwrap();
    let is_row = |event: &serde_json::Value| {
        event["event"] == "index" && event["text"].as_str().unwrap().starts_with("worktree wt: index: ")
    };
    let events: Vec<&serde_json::Value> = match &report {
        serde_json::Value::Array(paths) => {
            paths.iter().filter_map(|path| path["git"].as_array()).flatten().collect()
        }
        other => panic!("{other}"),
    };
    assert_eq!(events.iter().filter(|event| is_row(event)).count(), 1, "{report}");
    // A file that runs later comes back with it.
    let txn = changed(
        "git switch -q topic; echo x > .envrc; git add .; git commit -qm Env; git switch -q main",
        "git update-ref refs/heads/main topic",
    );
    let listed = txn.run(["changes"]).stdout;
    assert!(listed.lines().any(|line| line.contains("index:") && line.contains("! .envrc")), "{listed}");
}

/// In each of these the index has what the commit at `HEAD` has, or what it had before.
#[test]
fn an_index_that_follows_has_no_row() {
    if !has_view() || !require("git") {
        return;
    }
    let cases = [
        ("true", "git commit -q --allow-empty -m Empty"),
        ("true", "git commit -q --amend -m Again"),
        ("true", "git checkout -q topic"),
        ("true", "git merge -q -m Merge topic"),
        ("true", "git rebase -q topic"),
        ("true", "git reset -q --hard topic"),
        ("true", "git cherry-pick topic"),
        ("echo mine > mine; git add mine", "echo x > a.txt; git commit -qm Part -- a.txt"),
        ("echo mine > mine; git add mine", "git checkout -q topic"),
        ("echo mine > other/third; git add .", "git update-ref refs/heads/old topic"),
        ("git sparse-checkout set --sparse-index d", "git merge -q -m Merge topic"),
        ("git worktree add -q wt topic", "git update-ref refs/heads/old topic"),
        (
            "git init -q --bare b.git; git push -q b.git main topic",
            "git -C b.git update-ref refs/heads/main topic",
        ),
        ("git clone -q --no-checkout . clone", "git -C clone update-ref refs/heads/main origin/topic"),
    ];
    for (before, agent) in cases {
        let txn = changed(before, agent);
        let mut rows = index_rows(&txn);
        rows.retain(|row| !row.contains("no longer shows"));
        assert!(rows.is_empty(), "{before} | {agent}: {rows:?}");
    }
}
