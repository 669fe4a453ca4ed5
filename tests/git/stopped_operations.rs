//! A merge, rebase, cherry-pick, revert, am or bisect that stops: the files that it wrote are applied with it or not at all, and
//! `--abort` and `--continue` do afterwards what they would have done without placet.

use crate::support::pty;
use crate::support::require::has_view;
use crate::support::require::require;
use crate::support::txn::Txn;

const SHELL: &str = "export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@x GIT_COMMITTER_NAME=A \
    GIT_COMMITTER_EMAIL=a@x GIT_EDITOR=true GIT_TERMINAL_PROMPT=0 GIT_OPTIONAL_LOCKS=0 \
    GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000';";

/// `topic` changes `a.txt` in another way than `main`, adds a file in a new directory, and removes the only one of another.
const BEFORE: &str = "git init -q -b main .; printf 'one\\ntwo\\n' > a.txt; echo b > b.txt; mkdir old; echo o > old/o.txt; git add .; \
    git commit -qm First; git switch -q -c topic; echo ONE > a.txt; mkdir new; echo n > new/n.txt; git rm -q old/o.txt; git add .; \
    git commit -qm Topic; git switch -q main; printf '1\\ntwo\\n' > a.txt; git commit -qam Main;";

struct Operation {
    before: &'static str,
    /// What the agent runs. It also writes a file that git does not track.
    agent: &'static str,
    abort: &'static str,
    resume: &'static str,
    /// A tracked file whose row says with what it waits.
    waits: &'static str,
}

const RESOLVE: &str = "echo resolved > a.txt; git add .";

const OPERATIONS: [Operation; 10] = [
    Operation {
        before: "",
        agent: "git merge topic",
        abort: "git merge --abort",
        resume: "git merge --continue",
        waits: "new/n.txt",
    },
    // A protected file has no answer of its own.
    Operation {
        before: "git switch -q topic; echo 'export A=1' > .envrc; git add .; git commit -qm Env; git switch -q main",
        agent: "git merge topic",
        abort: "git merge --abort",
        resume: "git merge --continue",
        waits: ".envrc",
    },
    Operation {
        before: "",
        agent: "git rebase topic",
        abort: "git rebase --abort",
        resume: "git rebase --continue",
        waits: "a.txt",
    },
    Operation {
        before: "echo dirty > b.txt",
        agent: "git rebase --autostash topic",
        abort: "git rebase --abort",
        resume: "git rebase --continue",
        waits: "b.txt",
    },
    Operation {
        before: "",
        agent: "git rebase --apply topic",
        abort: "git rebase --abort",
        resume: "git rebase --continue",
        waits: "a.txt",
    },
    Operation {
        before: "",
        agent: "git cherry-pick topic",
        abort: "git cherry-pick --abort",
        resume: "git cherry-pick --continue",
        waits: "a.txt",
    },
    Operation {
        before: "git reset -q --hard topic; echo two > a.txt; git commit -qam Later",
        agent: "git revert HEAD~1",
        abort: "git revert --abort",
        resume: "git revert --continue",
        waits: "a.txt",
    },
    Operation {
        before: "git format-patch -q -1 --stdout topic > topic.patch",
        agent: "git am -3 topic.patch",
        abort: "git am --abort",
        resume: "git am --continue",
        waits: "a.txt",
    },
    Operation {
        before: "for i in 1 2 3 4; do echo $i > b.txt; git commit -qam $i; done",
        agent: "git bisect start HEAD HEAD~4",
        abort: "git bisect reset",
        resume: "git bisect good",
        waits: "b.txt",
    },
    // One that the person began, and that the agent ends.
    Operation {
        before: "git merge -q topic; true",
        agent: "echo both > a.txt; git commit -qam Merged",
        abort: "git reset -q --hard HEAD~1",
        resume: "git log --format=%s -1",
        waits: "a.txt",
    },
];

/// What git says, and the tracked files.
fn says(txn: &Txn, name: &str) -> String {
    const SAYS: &str = "(git for-each-ref; cat .git/HEAD; git ls-files -s -v; git status --porcelain=v2 --branch --show-stash; \
        git stash list; git bisect log; ls .git | grep -e _HEAD -e rebase -e sequencer -e BISECT_LOG | grep -v ORIG_HEAD; \
        git fsck --strict --no-dangling; grep -r . --include=*.txt .) > ../said 2>&1; true";
    txn.sh(&txn.base.join(name), &format!("{SHELL} {SAYS}"));
    std::fs::read_to_string(txn.base.join("said")).unwrap()
}

/// What is said after the command that a person runs next, in a copy: its files have the same times, and other inodes. No other
/// command of git comes before it, or it would have looked at the files already.
fn says_after(txn: &Txn, name: &str, line: &str) -> String {
    txn.sh(&txn.base, &format!("rm -rf next; cp -a {name} next; rm -f next/note.txt"));
    let times = "export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=core.trustctime GIT_CONFIG_VALUE_0=false \
        GIT_CONFIG_KEY_1=core.checkStat GIT_CONFIG_VALUE_1=minimal;";
    txn.sh(
        &txn.base.join("next"),
        &format!("{SHELL} {times} ({line}) > ../next.txt 2>&1; echo $? >> ../next.txt"),
    );
    std::fs::read_to_string(txn.base.join("next.txt")).unwrap() + &says(txn, "next")
}

impl Operation {
    fn check(&self) {
        let Operation { before, agent, abort, resume, waits } = self;
        let resume = if resume.contains("log") { (*resume).into() } else { format!("{RESOLVE}; {resume}") };
        let txn = Txn::on_disk();
        let script = |line: &str| format!("{SHELL} {line}");
        txn.sh(&txn.tree, &script(&format!("{BEFORE} {before}")));
        txn.sh(&txn.base, "rm -rf plain; cp -a tree plain");
        let original = says(&txn, "tree");
        txn.sh(&txn.base.join("plain"), &script(&format!("{agent}; true")));
        txn.hold(&script(&format!("{agent}; echo of the agent > note.txt")));

        // A yes to everything: what git does not track is applied, and nothing of the operation is.
        let rows = txn.run(["changes"]).stdout;
        let says_so = |row: &str| row.contains(&format!(" {waits} ")) && row.ends_with("(waits with .git)");
        assert!(rows.lines().any(says_so), "{agent}: {rows}");
        assert_eq!(txn.run(["apply"]).code, 3, "{agent}");
        assert!(txn.tree.join("note.txt").exists(), "{agent}");
        std::fs::remove_file(txn.tree.join("note.txt")).unwrap();
        assert_eq!(says(&txn, "tree"), original, "{agent}");
        // Neither is one of its files by itself.
        for by_itself in [&["apply", waits][..], &["apply", "--apply-protected", waits]] {
            let one = txn.run(by_itself);
            assert_eq!(one.code, 3, "{agent}: {one:#?}");
            assert!(one.stdout.contains("not applied: .git: "), "{agent}: {one:#?}");
            assert!(one.stderr.contains("/.git` applies this change too"), "{agent}: {one:#?}");
            assert_eq!(says(&txn, "tree"), original, "{agent}");
        }

        // The operation takes its files along, and goes on as it would have.
        txn.run(["apply", "--apply-protected", ".git"]).code(0);
        assert_eq!(txn.run(["changes"]).stdout, "", "{agent}");
        assert_eq!(says(&txn, "tree"), says(&txn, "plain"), "{agent}");
        for next in [*abort, &resume] {
            let (with, without) = (says_after(&txn, "tree", next), says_after(&txn, "plain", next));
            assert_eq!(with, without, "{agent}: {next}");
            assert!(with.lines().any(|line| line == "0"), "{agent}: {next}: {with}");
        }
        txn.run(["undo"]).code(0);
        assert_eq!(says(&txn, "tree"), original, "{agent}");
        txn.run(["redo"]).code(0);
        assert_eq!(says(&txn, "tree"), says(&txn, "plain"), "{agent}");
    }
}

#[test]
fn an_operation_that_stops_is_applied_with_its_files_or_not_at_all() {
    if !has_view() || !require("git") {
        return;
    }
    std::thread::scope(|scope| {
        for operation in &OPERATIONS {
            scope.spawn(|| operation.check());
        }
    });
}

/// Story: a discard or an undo of one file left the rest of a merge that had stopped, which nobody had made.
#[test]
fn no_discard_and_no_undo_parts_an_operation() {
    if !has_view() || !require("git") {
        return;
    }
    let txn = Txn::on_disk();
    txn.sh(&txn.tree, &format!("{SHELL} {BEFORE}"));
    let original = says(&txn, "tree");
    txn.hold(&format!("{SHELL} git merge topic; echo of the agent > note.txt"));
    let pending = txn.run(["changes"]).stdout;
    for part in ["a.txt", "new", "old", ".git/index"] {
        let refused = txn.run(["discard", part]).code(1);
        let why = "waits with `.git` (merge in progress: topic";
        assert!(refused.stderr.contains("not discarded: ") && refused.stderr.contains(why), "{refused:#?}");
        assert_eq!(txn.run(["changes"]).stdout, pending, "{part}");
    }
    // Its repository is a name for all of it.
    txn.run(["discard", ".git"]).code(0);
    let left = txn.run(["changes"]).stdout;
    assert!(left.contains("note.txt") && left.lines().count() == 1, "{left}");
    txn.run(["undo"]).code(0);
    assert_eq!(txn.run(["changes"]).stdout, pending);

    txn.run(["apply", "--apply-protected", ".git"]).code(0);
    let applied = says(&txn, "tree");
    for part in ["a.txt", "new", "old"] {
        let refused = txn.run(["undo", part]).code(1);
        let why = "it goes back with the operation in `.git` and all of its files, or not at all";
        assert!(refused.stderr.contains(why), "{refused:#?}");
        assert_eq!(says(&txn, "tree"), applied, "{part}");
    }
    txn.run(["undo", ".git"]).code(0);
    // The other file of the turn stays.
    std::fs::rename(txn.tree.join("note.txt"), txn.base.join("note.txt")).unwrap();
    assert_eq!(says(&txn, "tree"), original);
    std::fs::rename(txn.base.join("note.txt"), txn.tree.join("note.txt")).unwrap();
    txn.run(["redo"]).code(0);
    assert_eq!(says(&txn, "tree"), applied);

    // A file that cannot go back keeps the others, and nothing else.
    txn.write("a.txt", "mine\n");
    let mine = says(&txn, "tree");
    assert!(txn.run(["undo"]).code(1).stderr.contains("a.txt"));
    txn.run(["undo", "--rest"]).code(0);
    assert!(!txn.tree.join("note.txt").exists());
    txn.write("note.txt", "of the agent\n");
    assert_eq!(says(&txn, "tree"), mine);
}

/// Story: the files of a merge that the person was in already did not wait with what the agent did in it.
#[test]
fn files_wait_with_an_operation_that_the_person_is_in() {
    if !has_view() || !require("git") {
        return;
    }
    let txn = Txn::on_disk();
    txn.sh(&txn.tree, &format!("{SHELL} {BEFORE} git merge topic; true"));
    txn.hold(&format!("{SHELL} {RESOLVE}"));
    let rows = txn.run(["changes"]).stdout;
    let waits = |row: &str| row.contains(" a.txt ") && row.ends_with("(waits with .git)");
    assert!(rows.lines().any(waits), "{rows}");
    let refused = txn.run(["apply"]).code(3);
    assert!(refused.stdout.contains("not applied: .git: merge in progress: topic"), "{refused:#?}");
    assert!(txn.read("a.txt").unwrap().contains("<<<<<<<"));
    txn.run(["apply", "--apply-protected", ".git"]).code(0);
    assert_eq!(txn.run(["changes"]).stdout, "");
    assert_eq!(txn.sh(&txn.tree, &format!("{SHELL} git merge --continue")), 0);
}

/// Story: of a repository that did not wait, an approval by its name said that nothing was pending there.
#[test]
fn an_approval_of_a_repository_that_does_not_wait_applies_it() {
    if !has_view() || !require("git") {
        return;
    }
    let txn = Txn::on_disk();
    txn.sh(&txn.tree, &format!("{SHELL} {BEFORE}"));
    txn.hold(&format!("{SHELL} git tag v1; echo n > note.txt; mkdir d; echo n > d/n"));
    let refused = txn.run(["apply", "--apply-protected", "old"]);
    assert!(refused.stderr.contains("nothing is pending at `old`"), "{refused:#?}");
    let refused = txn.run(["apply", "--apply-protected", "."]);
    assert!(refused.stderr.contains("itself is not changed: name the paths in it that wait"), "{refused:#?}");
    txn.run(["apply", "--apply-protected", ".git"]).code(0);
    assert!(txn.tree.join(".git/refs/tags/v1").exists() && !txn.run(["changes"]).stdout.contains(".git"));
}

/// A loss that is not approved keeps the files that it takes, and with them the operation, with all of its files.
#[test]
fn an_operation_that_removes_many_files_is_not_parted_by_the_loss_limit() {
    if !has_view() || !require("git") {
        return;
    }
    let txn = Txn::on_disk();
    let many = "mkdir many; for i in $(seq 60); do echo $i > many/$i.txt; done; git add .; git commit -qm Many; \
        git switch -q topic; git merge -q main -s ours; git rm -qr many; git commit -qm Fewer; git switch -q main; \
        printf '2\\ntwo\\n' > a.txt; git commit -qam Again";
    txn.sh(&txn.tree, &format!("{SHELL} {BEFORE} {many}"));
    let original = says(&txn, "tree");
    txn.hold(&format!("{SHELL} git merge topic; true"));
    let refused = txn.run(["apply", "--apply-protected", ".git"]);
    assert_eq!(refused.code, 3, "{refused:#?}");
    assert!(refused.stdout.contains("left pending: ") && refused.stdout.contains("61 files"), "{refused:#?}");
    assert_eq!(says(&txn, "tree"), original);
    let applied = txn.run(["apply", "--apply-protected", ".git", "--apply-loss", "61"]).code(0);
    assert!(!applied.stdout.contains("not applied"), "{applied:#?}");
    assert!(!txn.tree.join("many").exists() && txn.read("a.txt").unwrap().contains("<<<<<<<"));
}

/// Nothing in such a git directory says where its files are: the `.git` file of the work tree does.
#[test]
fn files_of_an_operation_are_known_where_only_a_git_file_leads_to_the_repository() {
    if !has_view() || !require("git") {
        return;
    }
    let txn = Txn::on_disk();
    let before =
        BEFORE.replace("git init -q -b main .", "git init -q -b main --separate-git-dir data work; cd work");
    txn.sh(&txn.tree, &format!("{SHELL} {before}"));
    txn.hold(&format!("{SHELL} cd work; git merge topic; echo of the agent > note.txt"));
    let rows = txn.run(["changes"]).stdout;
    for file in ["a.txt", "new/n.txt", "old/o.txt"] {
        let waits = |row: &str| row.contains(&format!(" work/{file} ")) && row.ends_with("(waits with data)");
        assert!(rows.lines().any(waits), "{rows}");
    }
    assert_eq!(txn.run(["apply"]).code, 3);
    assert!(txn.tree.join("work/note.txt").exists() && txn.tree.join("work/old/o.txt").exists());
    txn.run(["apply", "--apply-protected", "data"]).code(0);
    assert_eq!(txn.run(["changes"]).stdout, "");
    assert!(txn.read("work/a.txt").unwrap().contains("<<<<<<<") && txn.tree.join("data/MERGE_HEAD").exists());
}

/// The hint names what works: an approval would be refused again.
#[test]
fn an_operation_in_conflict_with_the_workspace_names_what_works() {
    if !has_view() || !require("git") {
        return;
    }
    let txn = Txn::on_disk();
    txn.sh(&txn.tree, &format!("{SHELL} {BEFORE}"));
    txn.hold(&format!("{SHELL} git merge topic; true"));
    txn.sh(&txn.tree, &format!("{SHELL} echo mine > b.txt; git commit -qam Mine"));
    for apply in [&["apply"][..], &["apply", "a.txt"], &["apply", "--apply-protected", "a.txt"]] {
        let refused = txn.run(apply);
        assert_eq!(refused.code, 3, "{refused:#?}");
        assert!(refused.stdout.contains("not applied: .git: branch main moved to "), "{refused:#?}");
        let works = "; `placet discard .git`, then ask the agent to repeat its work";
        assert!(refused.stdout.contains(works), "{refused:#?}");
        assert!(!refused.stderr.contains("hint"), "{refused:#?}");
    }
    txn.run(["discard", ".git"]).code(0);
    assert!(!txn.run(["changes"]).stdout.contains("waits with"));
}

/// Where all that is pending waits with the operation, a yes to the rest would apply nothing.
#[test]
fn an_operation_with_its_files_alone_is_one_question() {
    if !has_view() || !require("git") {
        return;
    }
    for (also, marked) in [("", None), ("; echo n > note.txt", Some("[Apply all that does not wait]"))] {
        let mut pty = pty::shell().size(100, 40).arg("--mode").arg("ask").open();
        let tree = pty.tree.path().to_path_buf();
        let line = format!("{SHELL} {BEFORE} git config user.name A; git config user.email a@x");
        let made = std::process::Command::new("sh").args(["-c", &line]).current_dir(&tree).status();
        assert!(made.unwrap().success());
        pty.line(&format!("run git merge topic{also}"));
        if let Some(marked) = marked {
            pty.until("the question about the rest", |s| s.contains(marked));
            pty.answer("a");
            pty.until("the rest", |_| tree.join("note.txt").exists());
        }
        pty.until("the question", |s| s.contains(".git (changed): apply this repository?"));
        assert!(!tree.join("new/n.txt").exists());
        assert!(!pty.screen().contains("Apply all"), "{}", pty.screen());
        pty.answer("y");
        pty.until("that it is applied", |_| tree.join(".git/MERGE_HEAD").exists());
        pty.until("that all is applied", |s| s.contains("applied changes to 3 files"));
        assert!(pty.read("a.txt").contains("<<<<<<<") && tree.join("new/n.txt").exists());
    }
}

/// Story: what git noted about files that an apply had written was not what they were afterwards, or there was no note: git took
/// the files for changed until `git status`, and `git merge --abort` refused to go on.
#[test]
fn the_index_knows_the_files_that_an_apply_wrote() {
    use std::os::unix::fs::MetadataExt;
    if !has_view() || !require("git") {
        return;
    }
    // What the person has, what the agent does, where, and the files of it that git has to know.
    let cases: [(&str, &str, &str, &[&str]); 5] = [
        ("", "echo 2 > b.txt; mkdir d; seq 9 > d/n; git add .; git commit -qm Agent", ".", &["b.txt", "d/n"]),
        ("", "git worktree add -q wt topic", "wt", &["a.txt", "new/n.txt"]),
        (
            "git config core.fileMode false",
            "echo 2 > b.txt; git add .; git update-index --chmod=+x b.txt; git commit -qm Agent",
            ".",
            &["b.txt"],
        ),
        (
            "git config core.autocrlf true",
            "printf '2\\r\\n' > b.txt; git add .; git commit -qm Agent",
            ".",
            &["b.txt"],
        ),
        (
            "mkdir work; mv a.txt b.txt old work; mv .git data; echo 'gitdir: ../data' > work/.git",
            "cd work; echo 2 > b.txt; git commit -qam Agent",
            "work",
            &["b.txt"],
        ),
    ];
    for (before, agent, place, files) in cases {
        let txn = Txn::on_disk();
        txn.sh(&txn.tree, &format!("{SHELL} {BEFORE} {before}"));
        txn.hold(&format!("{SHELL} {agent}"));
        let place = txn.tree.join(place);
        let knows = |step: &str| {
            for file in files.iter().filter(|file| place.join(file).exists()) {
                txn.sh(&place, &format!("git ls-files --debug {file} > {}/said", txn.base.display()));
                let said = std::fs::read_to_string(txn.base.join("said")).unwrap();
                let meta = place.join(file).symlink_metadata().unwrap();
                let noted = format!("ctime: {}:{}", meta.ctime(), meta.ctime_nsec());
                assert!(said.contains(&noted), "{agent}: {step}: {file}: {noted}: {said}");
            }
            if place.exists() {
                let first = "git diff-index --quiet HEAD && git diff-files --quiet";
                assert_eq!(txn.sh(&place, first), 0, "{agent}: {step}");
            }
        };
        let waits = if place.ends_with("work") { &["--apply-protected", "data"][..] } else { &[] };
        txn.run([&["apply"], waits].concat()).code(0);
        knows("apply");
        txn.run(["undo"]).code(0);
        knows("undo");
        txn.run(["redo"]).code(0);
        knows("redo");
    }
}
