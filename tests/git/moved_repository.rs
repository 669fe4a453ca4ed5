//! The person changes the repository while changes of it are pending: nothing of either side is lost, and an agent that puts its
//! commits on top of the person's gets them applied.

use crate::support::pty::joined;
use crate::support::pty::{Pty, shell};
use crate::support::require::has_view;
use crate::support::require::require;
use std::path::Path;
use std::process::Command;

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
const IDENTITY: &str = "git config user.name A; git config user.email a@example.org";

fn ready(pty: &Pty, text: &str) {
    pty.until(text, |s| joined(s).contains(text) && !s.contains("a moment"));
}

/// The prompt says how many changes are pending.
fn keep(pty: &mut Pty) {
    pty.answer("k");
    let is_prompt = |s: &str| {
        s.trim_end().lines().last().is_some_and(|row| row.contains("] \u{b1}") && row.ends_with('>'))
    };
    pty.until("a prompt with what is pending", is_prompt);
}

/// The person's own git, in another terminal.
fn git(pty: &Pty, words: &[&str]) -> String {
    git_in(pty.tree.path(), pty.home(), words)
}

fn git_in(dir: &Path, home: &Path, words: &[&str]) -> String {
    let identity = ["-c", "user.name=Me", "-c", "user.email=me@example.org"];
    let mut git = Command::new("git");
    git.arg("-C").arg(dir).args(identity).args(words);
    let done = git.env("HOME", home).output().unwrap();
    assert!(done.status.success(), "{words:?}: {done:?}");
    String::from_utf8(done.stdout).unwrap().trim().to_string()
}

/// A repository with one commit, and the question about a second one of the agent.
fn question() -> Pty {
    let mut pty = shell().size(100, 40).arg("--mode").arg("ask").file("a.txt", "one\n").open();
    for words in [&["init", "-q", "-b", "main"][..], &["add", "."], &["commit", "-qm", "Start"]] {
        git(&pty, words);
    }
    pty.line(&format!("run {IDENTITY}; echo two >> a.txt; git commit -qam Second"));
    ready(&pty, "Apply");
    pty
}

/// What the question says that the agent can run, so that its commits are on top of `at`.
fn advised(at: &str) -> String {
    format!("git add -A && git reset --keep {at} && git cherry-pick ..ORIG_HEAD")
}

/// Story: the question said "please rebase", and no rebase could ever be applied: each ended with "branch main moved". Later it
/// could, and `git rebase` refused: in the view, the new file of the person is not tracked.
#[test]
fn commits_on_top_of_those_of_the_person_are_applied() {
    if !has_view() || !require("git") {
        return;
    }
    let mut pty = question();
    std::fs::write(pty.tree.path().join("mine.txt"), "mine\n").unwrap();
    git(&pty, &["add", "mine.txt"]);
    git(&pty, &["commit", "-qm", "Mine"]);
    std::fs::write(pty.tree.path().join("later.txt"), "not committed\n").unwrap();
    let mine = git(&pty, &["rev-parse", "HEAD"]);
    pty.answer("a");
    let short = &mine[..7];
    ready(
        &pty,
        &format!("branch main moved to {short}; ask the agent to run `{}`, or discard it", advised(short)),
    );
    keep(&mut pty);
    // What is not on top stays refused.
    pty.line("run echo third > third.txt; git add third.txt; git commit -qm Third");
    ready(&pty, &format!("ask the agent to run `{}`", advised(short)));
    keep(&mut pty);
    pty.line(&format!("run {}", advised(short)));
    ready(&pty, "Apply");
    let screen = pty.screen();
    for subject in ["\"Second\" on main", "\"Third\" on main"] {
        assert!(screen.contains(subject) && !screen.contains("cannot be applied"), "{screen}");
    }
    for noise in ["drops", "removed", "logs/", "takes back"] {
        assert!(!screen.contains(noise), "{noise}: {screen}");
    }
    pty.answer("a");
    pty.until_prompt("");
    assert_eq!(git(&pty, &["log", "--format=%s"]), "Third\nSecond\nMine\nStart");
    assert_eq!((pty.read("a.txt").as_str(), pty.read("mine.txt").as_str()), ("one\ntwo\n", "mine\n"));
    assert_eq!(git(&pty, &["status", "--short"]), "?? later.txt");
    let log = git(&pty, &["reflog", "--format=%gs"]);
    assert!(log.starts_with("placet: ") && log.contains("\ncommit: Mine\n"), "{log}");
    assert_eq!(git(&pty, &["fsck", "--strict", "--no-dangling"]), "");
    pty.line("/undo");
    pty.until("the undo", |s| s.contains("undid"));
    assert_eq!(git(&pty, &["rev-parse", "HEAD"]), mine);
    assert_eq!(
        (pty.read("a.txt").as_str(), git(&pty, &["status", "--short"]).as_str()),
        ("one\n", "?? later.txt")
    );
    assert_eq!(git(&pty, &["fsck", "--strict", "--no-dangling"]), "");
}

/// Story: the look whether the agent switched branches searched the whole path, so that below a directory with a name of git's
/// the branch that the person moved was taken back.
#[test]
fn a_workspace_below_a_directory_with_a_name_of_git_is_as_any_other() {
    if !has_view() || !require("git") {
        return;
    }
    for dir in ["logs", "refs"] {
        let (home, tree) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at = tree.path().join(dir).join("w");
        std::fs::create_dir_all(&at).unwrap();
        let git = |words: &[&str]| git_in(&at, home.path(), words);
        std::fs::write(at.join("a.txt"), "one\n").unwrap();
        for words in [
            &["init", "-q", "-b", "main"][..],
            &["add", "."],
            &["commit", "-qm", "Start"],
            &["branch", "topic"],
            &["commit", "-q", "--allow-empty", "-m", "Next"],
        ] {
            git(words);
        }
        let mut pty = shell().size(100, 40).arg("--mode").arg("ask").at(home, tree, &at).open();
        pty.line("run git checkout -q topic");
        ready(&pty, "Apply");
        git_in(&at, pty.home(), &["branch", "-f", "topic", "main"]);
        pty.answer("a");
        ready(&pty, "branch topic moved to");
        ready(&pty, "`placet discard .git`, then ask the agent to repeat its work");
        assert!(!pty.screen().contains("Apply"), "{dir}: {}", pty.screen());
        keep(&mut pty);
    }
}

/// The lines that nobody committed are in the same files after the advice as before, and both sides of a file are in the commit.
#[test]
fn the_advice_leaves_what_is_not_committed_and_joins_the_lines_of_both() {
    if !has_view() || !require("git") {
        return;
    }
    let mut pty = shell().size(100, 40).arg("--mode").arg("ask").file("both.txt", LINES).open();
    let write = |pty: &Pty, name: &str, text: &str| std::fs::write(pty.tree.path().join(name), text).unwrap();
    for name in ["tracked.txt", "gone.txt", "dirty.txt"] {
        write(&pty, name, "old\n");
    }
    for words in [&["init", "-q", "-b", "main"][..], &["add", "."], &["commit", "-qm", "Start"]] {
        git(&pty, words);
    }
    pty.line(&format!(
        "run {IDENTITY}; sed -i s/1/agent/ both.txt; echo n > new.txt; git add .; git commit -qm Second; echo x > loose.txt"
    ));
    ready(&pty, "Apply");
    write(&pty, "both.txt", &LINES.replace('9', "mine"));
    write(&pty, "tracked.txt", "mine\n");
    write(&pty, "my file.txt", "mine\n");
    git(&pty, &["rm", "-q", "gone.txt"]);
    git(&pty, &["add", "."]);
    git(&pty, &["commit", "-qm", "Mine"]);
    write(&pty, "dirty.txt", "old\nnot committed\n");
    let short = git(&pty, &["rev-parse", "--short=7", "HEAD"]);
    pty.answer("a");
    ready(&pty, &format!("ask the agent to run `{}`", advised(&short)));
    keep(&mut pty);
    pty.line(&format!("run {}", advised(&short)));
    ready(&pty, "Apply");
    pty.answer("a");
    // What of the file nobody committed yet is joined by placet, and the question comes again.
    ready(&pty, "both.txt: merged with the current content");
    ready(&pty, "Apply");
    assert!(!pty.screen().contains("dirty.txt"), "{}", pty.screen());
    pty.answer("a");
    pty.until_prompt("");
    assert_eq!(git(&pty, &["log", "--format=%s"]), "Second\nMine\nStart");
    let both = LINES.replace('1', "agent").replace('9', "mine");
    assert_eq!(pty.read("both.txt"), both);
    assert_eq!(git(&pty, &["show", "HEAD:both.txt"]), both.trim());
    assert_eq!(pty.read("dirty.txt"), "old\nnot committed\n");
    assert_eq!(git(&pty, &["status", "--short"]), "M dirty.txt\n?? loose.txt");
    assert_eq!(git(&pty, &["fsck", "--strict", "--no-dangling"]), "");
}

/// What the person staged and did not commit is nowhere else: the agent's index does not take its place, and commits on top of the
/// person's are applied next to it.
#[test]
fn what_the_person_staged_in_the_meantime_is_not_replaced() {
    if !has_view() || !require("git") {
        return;
    }
    let mut pty = question();
    git(&pty, &["commit", "-q", "--allow-empty", "-m", "Mine"]);
    std::fs::write(pty.tree.path().join("staged.txt"), "staged\n").unwrap();
    git(&pty, &["add", "staged.txt"]);
    std::fs::remove_file(pty.tree.path().join("staged.txt")).unwrap();
    let mine = git(&pty, &["rev-parse", "HEAD"]);
    keep(&mut pty);
    pty.line(&format!("run git reset -q --hard {mine} && git cherry-pick ORIG_HEAD"));
    ready(&pty, "Apply");
    pty.answer("a");
    pty.until_prompt("");
    assert_eq!(git(&pty, &["show", ":staged.txt"]), "staged");
    assert_eq!(git(&pty, &["rev-parse", "HEAD~1"]), mine);
    assert_eq!(git(&pty, &["log", "--format=%s"]), "Second\nMine\nStart");
}

/// Story: a branch that was made and deleted while the question was open left lines in the reflog of `HEAD`; `a` said again and
/// again that nothing was applied.
#[test]
fn lines_that_only_the_reflog_got_in_the_meantime_are_joined() {
    if !has_view() || !require("git") {
        return;
    }
    let mut pty = question();
    for words in [&["checkout", "-qb", "zz"][..], &["checkout", "-q", "main"], &["branch", "-qD", "zz"]] {
        git(&pty, words);
    }
    pty.answer("a");
    ready(&pty, "pending changes were updated in the meantime");
    ready(&pty, "Apply");
    pty.answer("a");
    pty.until_prompt("");
    assert_eq!(git(&pty, &["log", "--format=%s"]), "Second\nStart");
    let log = git(&pty, &["reflog", "--format=%gs"]);
    assert!(log.starts_with("placet: ") && log.contains("\ncheckout: moving from zz to main\n"), "{log}");
    assert_eq!(git(&pty, &["fsck", "--strict", "--no-dangling"]), "");
}

/// What the person does in another terminal while the question about changes of the agent is open, and what `a` then says. The
/// changes were once applied as a fast-forward: what the person had taken away came back, and what they had committed was taken
/// back by their next commit.
#[test]
fn a_move_that_the_pending_changes_did_not_know_is_never_taken_back() {
    const COMMIT: &str =
        "echo two >> a.txt; git -c user.name=A -c user.email=a@example.org commit -qam Second";
    if !has_view() || !require("git") {
        return;
    }
    let cases: [(&str, &[&[&str]], &str); 11] = [
        // A commit that was made on the wrong branch.
        (COMMIT, &[&["branch", "feature"], &["reset", "-q", "--hard", "HEAD~1"]], "branch main moved to"),
        ("git tag v1", &[&["tag", "v1", "HEAD~1"]], "tag v1"),
        ("git branch b", &[&["branch", "b", "HEAD~1"]], "branch b"),
        // An index that was made before a commit takes that back with the next one.
        ("echo n > n.txt; git add n.txt", &[&["commit", "-qam", "Mine"]], "branch main moved to"),
        (
            "git rm -q --cached b.txt",
            &[&["commit", "-qam", "Mine"]],
            "the staged entry `b.txt` changed in the workspace, too",
        ),
        ("git reset -q -- staged.txt", &[&["commit", "-qm", "Mine"]], "branch main moved to"),
        ("git rebase -q main other", &[&["branch", "-f", "other", "topic"]], "branch other moved to"),
        ("git checkout -q topic", &[&["branch", "-f", "topic", "other"]], "branch topic moved to"),
        // The files and the index of a new worktree are those of then.
        ("git worktree add -q wt topic", &[&["branch", "-f", "topic", "other"]], "branch topic moved to"),
        (
            "git worktree add -q wt topic",
            &[&["commit", "-qam", "Mine"], &["fetch", "-q", ".", "main:topic"]],
            "branch topic moved to",
        ),
        (
            "git worktree add -q --no-checkout wt topic",
            &[&["branch", "-f", "topic", "other"]],
            "branch topic moved to",
        ),
    ];
    for (agent, person, happened) in cases {
        never_taken_back(agent, person, happened, false);
        // A branch that moves after `git pack-refs`, as each `git gc` does it, is a new file.
        never_taken_back(agent, person, happened, true);
    }
}

fn never_taken_back(agent: &str, person: &[&[&str]], happened: &str, is_packed: bool) {
    let mut pty = shell().size(100, 40).arg("--mode").arg("ask").file("a.txt", "one\n").open();
    std::fs::write(pty.tree.path().join("b.txt"), "b\n").unwrap();
    for words in [
        &["init", "-q", "-b", "main"][..],
        &["add", "."],
        &["commit", "-qm", "Start"],
        &["commit", "-q", "--allow-empty", "-m", "Next"],
        &["branch", "topic"],
        &["checkout", "-qb", "other", "HEAD~1"],
    ] {
        git(&pty, words);
    }
    std::fs::write(pty.tree.path().join("a.txt"), "other\n").unwrap();
    git(&pty, &["commit", "-qam", "Other"]);
    git(&pty, &["checkout", "-q", "main"]);
    if agent.contains("rebase") {
        std::fs::write(pty.tree.path().join("a.txt"), "mine\n").unwrap();
        git(&pty, &["commit", "-qam", "Conflicts"]);
    }
    if agent.contains("staged.txt") {
        std::fs::write(pty.tree.path().join("staged.txt"), "staged\n").unwrap();
        git(&pty, &["add", "staged.txt"]);
    }
    if is_packed {
        git(&pty, &["pack-refs", "--all"]);
    }
    pty.line(&format!("run {agent}"));
    // All that a stopped operation changed waits with it: the question about it is the only one, and its files are long.
    let is_stopped = agent.contains("rebase");
    ready(&pty, if is_stopped { "apply this repository?" } else { "Apply" });
    std::fs::write(pty.tree.path().join("b.txt"), "mine\n").unwrap();
    for words in person {
        git(&pty, words);
    }
    let state = ["show-ref", "--head", "--dereference"];
    let (refs, staged) = (git(&pty, &state), git(&pty, &["diff", "--cached"]));
    match is_stopped {
        false => pty.answer("a"),
        true => {
            pty.answer("y");
            ready(&pty, "[Back]");
            pty.answer("y");
        }
    }
    ready(&pty, happened);
    ready(&pty, "iscard");
    assert!(!pty.screen().contains("Apply") && !pty.screen().contains("Yes"), "{agent}: {}", pty.screen());
    assert_eq!((git(&pty, &state), git(&pty, &["diff", "--cached"])), (refs, staged), "{agent}");
    if !is_stopped {
        keep(&mut pty);
    }
}
