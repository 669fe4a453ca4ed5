//! What a command leaves in git's own files and in no commit: it has a row with its difference, and what was not on the screen
//! needs a second yes. Ordinary commands get no row more: `git_commands.rs` has those.

use crate::support::binary::Place;
use crate::support::pty;
use crate::support::pty::joined;
use crate::support::require::has_view;
use crate::support::require::require;
use crate::support::txn::Txn;
use serde_json::json;

const IDENTITY: &str = "export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@x GIT_COMMITTER_NAME=A \
    GIT_COMMITTER_EMAIL=a@x GIT_EDITOR=true GIT_TERMINAL_PROMPT=0;";

/// A repository of a person with a name in its settings, after `before` of the person and `agent` of the agent.
fn changed(before: &str, agent: &str) -> Txn {
    let txn = Txn::on_disk();
    let begin = "git init -q -b main .; git config user.name Me; git config user.email me@x; echo one > a.txt; echo b > b.txt; \
                 git add .; git commit -qm First";
    assert_eq!(txn.sh(&txn.tree, &format!("{IDENTITY} set -e; {begin}; {before}")), 0, "{before}");
    let turn = ["-p", "run bash -c \"$AGENT_SCRIPT\"", "--mode", "ask"];
    let out = txn.placet(turn).env("AGENT_SCRIPT", format!("{IDENTITY} {agent}")).go();
    // A turn that leaves changes pending ends with 3.
    assert!([0, 3].contains(&out.code), "{agent}: {out:#?}");
    txn
}

fn rows(before: &str, agent: &str) -> String {
    changed(before, agent).run(["changes"]).stdout
}

/// A project may have files named like a repository's: they are listed and applied like any other.
#[test]
fn files_of_a_directory_that_only_looks_like_a_repository_are_listed_and_applied() {
    for dir in ["", "sub/"] {
        let at = |name: &str| format!("{dir}{name}");
        let place = Place::new().file(&at("HEAD"), "hello\n").file(&at("objects/a"), "x\n");
        let place = place.file(&at("refs/b.py"), "y\n").file(&at("config"), "z\n");
        let write = |name: &str| json!({"op": "write", "path": at(name), "content": "new\n"});
        let operations = json!({"force": true, "operations": [write("refs/b.py"), write("objects/new")]});
        drop(place.call("operations", &operations, &["--mode", "ask"]));
        let listed = place.run(["changes"]).stdout;
        for name in ["refs/b.py", "objects/new"] {
            assert!(listed.contains(&at(name)), "{name}: {listed}");
        }
        place.run(["apply"]).code(0);
        assert_eq!(
            (place.read(&at("refs/b.py")).as_str(), place.read(&at("objects/new")).as_str()),
            ("new\n", "new\n")
        );
        place.run(["undo"]).code(0);
        assert_eq!(place.read(&at("refs/b.py")), "y\n");
    }
}

/// Story: each of these was `M .git (1 file of the repository)` and nothing below it, and one key applied it. Those that git alone
/// keeps are not applied.
#[test]
fn a_file_of_git_has_a_row_or_is_not_applied() {
    if !has_view() || !require("git") {
        return;
    }
    let person = "mkdir -p .git/info; echo '#' > .git/info/exclude; echo d > .git/description";
    let operation = "! M .git (1 file of the repository) (files of an operation in progress change)\n  files of an operation change\n";
    let log = "printf \"$(git rev-parse HEAD) $(git rev-parse HEAD) A <a@x> 1700000000 +0000\\tEVIL\\n\" >> .git/logs/HEAD";
    let cases: &[(&str, &str)] = &[
        ("echo '*' > .git/info/exclude", ""),
        ("rm .git/info/exclude", ""),
        ("echo /a.txt > .git/info/sparse-checkout", "! A .git/info/sparse-checkout +1 -0 (git obeys it)\n"),
        ("echo EVIL > .git/MERGE_MSG", operation),
        ("echo EVIL > .git/SQUASH_MSG", operation),
        ("echo EVIL > .git/COMMIT_EDITMSG", ""),
        ("echo EVIL > .git/description", ""),
        (log, ""),
        ("git switch -q -c t; git switch -q -; git branch -d t", ""),
    ];
    for (agent, rows) in cases {
        assert_eq!(changed(person, agent).run(["changes"]).stdout, *rows, "{agent}");
    }
}

#[test]
fn what_git_itself_writes_gets_no_row_more() {
    if !has_view() || !require("git") {
        return;
    }
    // What the person did, the command, and all rows of the repository; X for the names of commits.
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "true",
            "echo c > c; git add c; git commit -qm 'Add c' -m 'More words'",
            &["commit X \"Add c\" on main by A <a@x>: 1 file +1 -0 (c)"],
        ),
        (
            "git config commit.gpgsign yes",
            "echo c > c; git add c; git commit -qm 'Add c'",
            &["commit X \"Add c\" on main by A <a@x>, not signed: 1 file +1 -0 (c)"],
        ),
        (
            "git switch -qc t; echo ONE > a.txt; git commit -qam T; git switch -q main; echo 1 > a.txt; git commit -qam M",
            "git merge t",
            &["merge in progress: t (X)", "index: 1 in conflict (a.txt)"],
        ),
        (
            "git switch -qc t; echo ONE > a.txt; git commit -qam T -m Body; git switch -q main; echo 1 > a.txt; git commit -qam M",
            "git cherry-pick t",
            &["cherry-pick in progress: t (X)", "index: 1 in conflict (a.txt)"],
        ),
    ];
    for (before, agent, wanted) in cases {
        let listed = rows(before, agent);
        let below: Vec<String> =
            listed.lines().filter_map(|line| line.strip_prefix("  ")).map(without_id).collect();
        assert_eq!(below, *wanted, "{agent}: {listed}");
    }
}

/// The name of a commit as X.
fn without_id(line: &str) -> String {
    let is_id = |word: &str| word.len() == 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let word = |word: &str| {
        let id = word.trim_matches(['(', ')', ',', ';']);
        if is_id(id) { word.replace(id, "X") } else { word.to_string() }
    };
    line.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Story: the row was "stash entry removed", whosever it was and whatever was in it.
#[test]
fn a_stash_entry_that_goes_is_named_with_its_lines() {
    if !has_view() || !require("git") {
        return;
    }
    let stash = "echo lost >> a.txt; echo own > n.txt; git stash push -q -u -m Mine";
    for drop in ["git stash drop -q", "git stash clear"] {
        let txn = changed(stash, drop);
        let listed = txn.run(["changes"]).stdout;
        let lines: Vec<String> = listed.lines().map(without_id).collect();
        assert_eq!(
            lines[..2],
            [
                ".git: stash entry X \"On main: Mine\" removed: 1 file +0 -1 (a.txt)",
                ".git: stash entry X, untracked files, removed: 1 file +0 -1 (n.txt)",
            ],
            "{listed}"
        );
        assert_eq!(txn.run(["apply"]).code, 0);
        assert_eq!(txn.run(["undo"]).code, 0);
        assert_eq!(txn.sh(&txn.tree, "git stash list | grep -q Mine && git stash show -p | grep -q lost"), 0);
    }
    let listed = rows(stash, "git stash pop -q");
    let row = listed.lines().map(without_id).find(|line| line.contains("stash entry")).unwrap_or_default();
    assert_eq!(row, ".git: stash entry X \"On main: Mine\" removed: 1 file +0 -1 (a.txt)");
}

#[test]
fn the_lines_of_a_stash_entry_that_goes_are_in_the_question() {
    if !has_view() || !require("git") {
        return;
    }
    let mut pty = in_repository();
    pty.line("!echo lost >> a.txt; git stash push -q && echo stored");
    pty.until("the entry", |s| s.lines().any(|line| line.trim_end() == "stored"));
    pty.line("run git stash drop -q");
    pty.until("the question", |s| joined(s).contains("removed: 1 file +0 -1 (a.txt)") && s.contains("Apply"));
    pty.until("its line", |s| s.contains("- lost"));
    pty.answer("a");
    pty.until("that it is applied", |s| s.contains("applied changes"));
}

/// A shell in ask mode in a repository with one commit.
fn in_repository() -> pty::Pty {
    let mut pty = pty::shell().size(80, 24).arg("--mode").arg("ask").file("a.txt", "one\ntwo\n").open();
    pty.line(
        "!git init -q -b main . && git config user.name A && git config user.email a@x && git add . && git commit -qm F && echo made",
    );
    pty.until("the repository", |s| s.lines().any(|line| line.trim_end() == "made"));
    pty
}

/// Story: a file that only got another name was shown twice in full below the row of the index.
#[test]
fn a_renamed_file_that_is_staged_is_shown_once() {
    if !has_view() || !require("git") {
        return;
    }
    let mut pty = in_repository();
    pty.line("run git mv a.txt c.txt");
    pty.until("the question", |s| s.contains("index: 2 staged (a.txt, c.txt)") && s.contains("Apply"));
    let screen = pty.screen();
    assert!(!screen.contains("- one") && !screen.contains("+ one"), "{screen}");
    // One key is enough.
    pty.answer("a");
    pty.until("that it is applied", |s| s.contains("applied changes"));
    // Another staged file has its lines, and the renamed one no lines beside its row.
    let mut pty = in_repository();
    pty.line("run git mv a.txt c.txt; echo new > n.txt; git add n.txt; rm n.txt");
    pty.until("the question", |s| {
        joined(s).contains("index: 3 staged (a.txt, c.txt, n.txt)") && s.contains("+ new")
    });
    assert!(!pty.screen().contains("+ one"), "{}", pty.screen());
}

/// Story: a commit with a forged author and committer looked like one of the person's.
#[test]
fn a_commit_of_somebody_else_says_so() {
    if !has_view() || !require("git") {
        return;
    }
    let listed = rows("true", "git commit -q --allow-empty -m Forged");
    assert!(listed.contains("\"Forged\" on main by A <a@x>: no files"), "{listed}");
    let own = "GIT_AUTHOR_NAME=Me GIT_AUTHOR_EMAIL=me@x GIT_COMMITTER_NAME=Me GIT_COMMITTER_EMAIL=me@x";
    let listed = rows("true", &format!("git config user.name A; {own} git commit -q --allow-empty -m Mine"));
    assert!(listed.contains("\"Mine\" on main: no files"), "{listed}");
}

#[test]
fn files_that_git_does_not_look_at_any_more_are_named() {
    if !has_view() || !require("git") {
        return;
    }
    let listed =
        rows("true", "git update-index --assume-unchanged a.txt; git update-index --skip-worktree b.txt");
    assert!(listed.contains(".git: index: git no longer shows changes of a.txt, b.txt\n"), "{listed}");
    let many = "for n in 1 2 3 4 5; do echo $n > f$n; done; git add .; git commit -qm Many";
    let txn = changed(many, "git update-index --assume-unchanged f1 f2 f3 f4 f5");
    let listed = txn.run(["changes"]).stdout;
    assert!(listed.contains("no longer shows changes of f1, f2, f3 and 2 more\n"), "{listed}");
}

/// Story: a rebase that the person had stopped at a conflict lost its steps, and nothing said so.
#[test]
fn a_changed_list_of_steps_of_a_rebase_of_the_person_has_a_row() {
    if !has_view() || !require("git") {
        return;
    }
    let rebase = "git switch -qc t; for i in 1 2 3; do echo t$i > b.txt; git commit -qam t$i; done; git switch -q main; \
                  echo m > b.txt; git commit -qam M; git switch -q t; git rebase main || true";
    let row = "rebase of t in progress: step 1 of 3";
    let first = format!("! M .git (1 file of the repository) ({row})");
    let listed = rows(rebase, "echo noop > .git/rebase-merge/git-rebase-todo");
    assert_eq!(listed, format!("{first}\n  {row}\n"));
    let linked =
        format!("{}; git switch -q main; git worktree add -q w t; (cd w; git rebase main || true)", {
            rebase.split("; git switch -q t;").next().unwrap_or_default()
        });
    let listed = rows(&linked, "echo noop > .git/worktrees/w/rebase-merge/git-rebase-todo");
    assert_eq!(listed, format!("{first}\n  worktree w: {row}\n"));
}

/// Story: the next `git cherry-pick --abort`, `git am --abort` or `git commit` of the person dropped commits of the branch or took
/// another commit, and the list said at most that an operation is in progress.
#[test]
fn what_the_next_command_of_an_operation_takes_is_on_the_screen() {
    if !has_view() || !require("git") {
        return;
    }
    let before = "git branch older; git switch -qc t; echo t > b.txt; git commit -qam T; git switch -q main; \
                  echo m > b.txt; git commit -qam M";
    let listed = rows(before, "git merge t; git rev-parse older >> .git/MERGE_HEAD");
    let lines: Vec<String> = listed.lines().map(without_id).collect();
    assert!(lines.contains(&"  merge in progress: t (X), older (X)".to_string()), "{listed}");
    // The files of it are applied together or not at all, after they were shown.
    let mut pty = in_repository();
    pty.line("run mkdir .git/sequencer; echo EVIL-HEAD > .git/sequencer/head; echo EVIL-TODO > .git/sequencer/todo");
    pty.until("the question", |s| joined(s).contains(".git (changed): apply this repository?"));
    pty.until("its lines", |s| {
        s.contains("sequencer/head") && s.contains("+ EVIL-HEAD") && s.contains("+ EVIL-TODO")
    });
    pty.answer("n");
    pty.until("that it stays", |s| {
        s.contains("are pending: /apply, /review, /discard") || s.contains("is pending")
    });
    assert!(!pty.exists(".git/sequencer"));
}

/// Story: a `git am` that stopped at a conflict showed each mail up to three times, and needed a second key.
#[test]
fn a_mail_of_git_am_is_shown_once() {
    if !has_view() || !require("git") {
        return;
    }
    let before = "git switch -qc t; echo t > b.txt; git commit -qam 'T: it' -m Body; git switch -q main; \
                  echo m > b.txt; git commit -qam M";
    let listed = rows(before, "git format-patch -q --stdout main..t > p; git am -3 p; rm p");
    assert_eq!(
        listed.lines().skip(1).collect::<Vec<_>>(),
        [
            "  am in progress: step 1 of 1",
            "  index: 1 in conflict (b.txt)",
            "M b.txt +4 -0 (waits with .git)"
        ],
        "{listed}"
    );
}

/// Story: git took the edited file for clean, and the next `git checkout` wrote over the edit.
#[test]
fn an_edit_of_the_person_is_not_hidden_by_the_index_of_the_agent() {
    if !has_view() || !require("git") {
        return;
    }
    let script = r#"
import hashlib, os, struct
d = bytearray(open(".git/index", "rb").read()[:-20])
i = d.find(b"a.txt\0") - 62
s = os.stat("a.txt")
n = 10**9
four = lambda *v: [x & 0xffffffff for x in v]
struct.pack_into(">6I", d, i, *four(s.st_ctime_ns // n, s.st_ctime_ns % n, s.st_mtime_ns // n, s.st_mtime_ns % n, s.st_dev, s.st_ino))
struct.pack_into(">3I", d, i + 28, *four(s.st_uid, s.st_gid, s.st_size))
open(".git/index", "wb").write(bytes(d) + hashlib.sha1(d).digest())
"#;
    let agent = format!("echo n > n.txt; git add n.txt; python3 -c '{script}'");
    let edit = "echo mine >> a.txt; touch -d 2001-01-01 a.txt";
    // What the index says of the files on the disk is not applied.
    let txn = changed(edit, &agent);
    assert_eq!(txn.run(["apply"]).code, 0);
    assert_eq!(txn.sh(&txn.tree, "git status --short | grep -qx ' M a.txt'"), 0);
    let listed = rows(edit, "echo n > n.txt; git add n.txt; git status --short");
    assert!(!listed.contains("no longer shows"), "{listed}");
    let listed = rows("touch -d 2001-01-01 a.txt", "echo n > n.txt; git add n.txt; git status --short");
    assert!(!listed.contains("no longer shows"), "{listed}");
}

/// Story: an agent's `git update-index --fsmonitor-valid` made git blind to the person's edit, and the next `git checkout` wrote
/// over it.
#[test]
fn a_command_does_not_hide_an_edit_behind_the_file_system_monitor_or_the_untracked_cache() {
    if !has_view() || !require("git") {
        return;
    }
    let monitor = "printf '#!/bin/sh\\nprintf \"tok\\\\0\"\\n' > ../fsm; chmod +x ../fsm; git config core.fsmonitor $PWD/../fsm; \
                   git update-index --fsmonitor; git status; echo MY >> a.txt; git update-index --no-fsmonitor-valid a.txt; git status";
    let said = |txn: &Txn, line: &str| {
        assert_eq!(txn.sh(&txn.tree, &format!("{IDENTITY} {line} > ../said")), 0, "{line}");
        std::fs::read_to_string(txn.tree.parent().unwrap().join("said")).unwrap()
    };
    // With another change of the index: that alone is shown and applied.
    let txn = changed(monitor, "echo n > n.txt; git add n.txt; git update-index --fsmonitor-valid a.txt");
    let listed = txn.run(["changes"]).stdout;
    let rows: Vec<&str> = listed.lines().filter(|line| line.starts_with("  ")).collect();
    assert_eq!(rows, ["  index: 1 staged (n.txt)"], "{listed}");
    assert_eq!(txn.run(["apply"]).code, 0);
    assert_eq!(said(&txn, "git status --short"), " M a.txt\nA  n.txt\n");
    // The same of a name that git takes for that of the only new file.
    let cache = "git update-index --force-untracked-cache; git config core.untrackedCache true; echo MY > mywork.txt; sleep 1.1; git status; git status";
    let forge = r#"python3 -c '
import hashlib
d = open(".git/index", "rb").read()[:-20]
i = d.rfind(b"UNTR")
d = d[:i] + d[i:].replace(b"mywork.txt", b"build.logs")
open(".git/index", "wb").write(d + hashlib.sha1(d).digest())
'"#;
    let txn = changed(cache, &format!("echo n > n.txt; git add n.txt; git status; {forge}"));
    assert_eq!(txn.run(["apply"]).code, 0);
    assert_eq!(said(&txn, "git status --short"), "A  n.txt\n?? mywork.txt\n");
}

/// Story: the person had staged lines with `git add -p`; the agent's `git commit -a` committed the file as it was, and the row
/// was `index: 1 unstaged`: the staged lines were in a dangling blob only.
#[test]
fn what_was_staged_and_is_nowhere_any_more_has_a_row_with_its_lines() {
    if !has_view() || !require("git") {
        return;
    }
    let staged = "echo STAGED > b.txt; git add b.txt; echo other > b.txt";
    let row = "index: drops staged changes of b.txt that are in no commit and no file";
    let lost = ["git reset -q", "git add b.txt", "git commit -qam all", "git rm -q --cached -f b.txt"];
    for agent in lost {
        let txn = changed(staged, agent);
        let out = txn.run(["changes"]);
        let all = &out.stdout;
        assert!(all.starts_with(&format!(".git: {row}\n")), "what is lost comes first; {agent}: {out:#?}");
        assert_eq!(txn.run(["apply", "--yes"]).code, 0, "{agent}");
        assert_eq!(txn.run(["undo"]).code, 0, "{agent}");
        assert_eq!(txn.sh(&txn.tree, "git show :b.txt | grep -qx STAGED"), 0, "{agent}");
    }
    let kept = [
        (staged, "git commit -qm staged"),
        (staged, "git commit -qm staged; git commit -qam all"),
        (staged, "git stash -q"),
        (staged, "git mv b.txt c.txt"),
        ("echo STAGED > b.txt; git add b.txt", "git reset -q"),
        ("echo STAGED > b.txt; git add b.txt", "git reset -q --hard"),
        ("ln -s there l; git add l", "git reset -q"),
        ("git config core.autocrlf true; printf 'STAGED\\r\\n' > b.txt; git add b.txt", "git reset -q"),
        ("echo STAGED > b.txt", "git add b.txt"),
    ];
    for (before, agent) in kept {
        let all = rows(before, agent);
        assert!(!all.contains("in no commit and no file"), "{before}; {agent}: {all}");
    }
    let mut pty = in_repository();
    pty.line("!echo STAGED > b.txt; git add b.txt; echo other > b.txt; echo stored");
    pty.until("the staged file", |s| s.lines().any(|line| line.trim_end() == "stored"));
    pty.line("run git add b.txt");
    pty.until("the question", |s| joined(s).contains("drops staged changes of b.txt") && s.contains("Apply"));
    pty.until("its line", |s| s.contains("- STAGED") && s.contains("+ other"));
}

/// Story: a person whose repository is not in `.git` had a row about the extension at every `git add`, and lost an edit after a
/// yes.
#[test]
fn an_index_in_a_directory_of_git_of_any_name_loses_the_notes_for_speed() {
    if !has_view() || !require("git") {
        return;
    }
    let before = "git init -q --separate-git-dir data .; printf '#!/bin/sh\\nprintf \"tok\\\\0\"\\n' > ../fsm; chmod +x ../fsm; \
                  git config core.fsmonitor $PWD/../fsm; git update-index --fsmonitor; git status; echo MY >> a.txt; \
                  git update-index --no-fsmonitor-valid a.txt; git status";
    let txn = changed(before, "echo n > n.txt; git add n.txt; git update-index --fsmonitor-valid a.txt");
    let listed = txn.run(["changes"]).stdout;
    assert!(listed.contains("index: 1 staged (n.txt)") && !listed.contains("FSMN"), "{listed}");
    assert_eq!(txn.run(["apply", "--apply-protected", "data"]).code, 0);
    assert_eq!(txn.sh(&txn.tree, &format!("{IDENTITY} git status --short -uno > ../said")), 0);
    let said = std::fs::read_to_string(txn.tree.parent().unwrap().join("said")).unwrap();
    assert_eq!(said, " M a.txt\nA  n.txt\n");
}

/// Story: `git am --abort` of the person's own operation was "removes 21 files (1647 bytes)": all of them were git's own.
#[test]
fn the_end_of_an_operation_is_no_large_loss() {
    if !has_view() || !require("git") {
        return;
    }
    let stopped = "for n in 1 2 3 4 5; do echo $n >> a.txt; git commit -qam \"Part $n\"; done; git format-patch -q -5 -o ../mails; \
                   git reset -q --hard HEAD~5; echo other > a.txt; git commit -qam Other; git am ../mails/*.patch || true; \
                   test $(ls .git/rebase-apply | wc -l) -gt 20";
    let txn = changed(stopped, "git am --abort");
    let listed = txn.run(["changes"]).stdout;
    assert!(listed.contains("ended") && !listed.contains("logs/HEAD"), "{listed}");
    assert_eq!(txn.run(["apply"]).code, 3, "it waits for an answer of its own");
    let out = txn.run(["apply", "--apply-protected", ".git"]);
    assert_eq!(out.code, 0, "{out:#?}");
    assert!(!txn.tree.join(".git/rebase-apply").exists());
    // The directory of an operation hides no other loss.
    let more = format!("{stopped}; mkdir docs; for n in $(seq 21); do echo $n > docs/$n; done");
    let txn = changed(&more, "git am --abort; rm -r docs");
    assert_ne!(txn.run(["apply", "--apply-protected", ".git"]).code, 0);
    assert!(txn.tree.join("docs/21").exists());
}

/// Story: a branch that was made, committed to and deleted was `1 repository changed, pending`, and no question came.
#[test]
fn a_repository_that_is_as_it_was_is_not_pending() {
    if !has_view() || !require("git") {
        return;
    }
    let mut pty = in_repository();
    pty.line(
        "run git switch -qc x; echo two >> a.txt; git commit -qam two; git switch -q main; git branch -qD x",
    );
    pty.until("what is left", |s| joined(s).contains("nothing is pending: the repository is as it was"));
    pty.until_prompt("");
    assert!(!pty.screen().contains("apply?"), "{}", pty.screen());
    pty.line("/changes");
    pty.until("the list", |s| s.lines().any(|line| line.trim() == "◆ nothing is pending"));
}
