//! A large loss, and what runs later, where no screen is: never applied with the rest without a person, and asked about
//! one by one where `sandbox run` and `apply` have a terminal.

use crate::support::binary::Place;
use crate::support::pty::{self, Pty};
use crate::support::require::{has_view, require};

/// A repository by its form; git is not needed.
fn place() -> Place {
    let place = Place::new().file(".git/HEAD", "ref: refs/heads/main\n").file("notes.txt", "one\n");
    place.write(".git/objects/aa/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "x");
    place.write(".git/refs/heads/main", "x");
    for n in 0..30 {
        place.write(&format!("many/{n}"), "x\n");
    }
    place
}

const DOORS: [&[&str]; 3] = [
    &["-p", "run sh do.sh", "--mode", "ask", "--apply"],
    &["-p", "run sh do.sh", "--mode", "write", "--apply"],
    &["sandbox", "run", "--apply", "--", "sh do.sh"],
];

#[test]
fn a_repository_goes_only_by_its_name() {
    for door in DOORS {
        let place = place().file("do.sh", "rm -rf .git; echo two > notes.txt");
        if !has_view() {
            return;
        }
        let out = place.run(door).code(3).warns("left pending: removes the repository `.git` (3 files)");
        assert!(
            place.tree.join(".git/HEAD").exists()
                && place.tree.join(".git/objects/aa/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb").exists(),
            "{out:#?}"
        );
        assert_eq!(place.read("notes.txt"), "two\n", "{door:?}: the rest is applied: {out:#?}");
        place.run(["apply"]).code(3).warns("--apply-protected");
        place.run(["apply", "--apply-loss", "3"]).code(3);
        assert!(place.tree.join(".git/HEAD").exists());
        place.run(["apply", "--apply-protected", ".git"]).code(0);
        assert!(!place.tree.join(".git").exists());
    }
}

#[test]
fn many_files_go_only_by_their_number() {
    for door in DOORS {
        let place = place().file("do.sh", "rm -r many; echo two > notes.txt");
        if !has_view() {
            return;
        }
        let out = place.run(door).code(3).warns("left pending: removes 30 files").warns("`--apply-loss 30`");
        assert!(place.tree.join("many/0").exists(), "{out:#?}");
        assert_eq!(place.read("notes.txt"), "two\n", "{door:?}: {out:#?}");
        place.run(["apply"]).code(3);
        place.run(["apply", "--apply-loss", "29"]).code(3);
        place.run(["apply", "--apply-protected", "."]).code(1);
        assert!(place.tree.join("many/29").exists());
        place.run(["apply", "--apply-loss", "30"]).code(0).says("applied changes to 30 files");
        assert!(!place.tree.join("many").exists());
    }
}

/// Story: after `npm uninstall` six files were applied, the manifest and the lock file among them, and 489 removals waited.
#[test]
fn a_tree_waits_with_the_files_that_name_it_until_the_person_parts_them() {
    for door in DOORS {
        let script = "rm -r many; sed -i '/many/d' deps.json; echo two > notes.txt";
        let deps = "{\n  \"many\": \"1.3.0\",\n  \"other\": \"1\"\n}\n";
        let place = place().file("do.sh", script).file("deps.json", deps);
        if !has_view() {
            return;
        }
        let out = place.run(door).code(3).warns("left pending: removes 30 files");
        let together = "pending together: `many` and what names it: `deps.json`";
        assert!(out.stderr.contains(together), "{out:#?}");
        assert_eq!((place.read("deps.json").as_str(), place.read("notes.txt").as_str()), (deps, "two\n"));
        place.run(["apply"]).code(3);
        assert_eq!(place.read("deps.json"), deps);
        place.run(["apply", "deps.json"]).code(0);
        assert_eq!(place.read("deps.json"), deps.replace("  \"many\": \"1.3.0\",\n", ""));
        place.run(["apply", "--apply-loss", "30"]).code(0).says("applied changes to 30 files");
        assert!(!place.tree.join("many").exists());
    }
}

/// A command that is killed is half of what it was to do.
#[test]
fn what_a_killed_command_left_is_not_applied_unseen() {
    for mode in ["ask", "write"] {
        let place = Place::new().file("do.sh", ": > notes.txt; kill -9 $$").file("notes.txt", "one\n");
        if !has_view() {
            return;
        }
        let out = place.run(["-p", "run sh do.sh", "--mode", mode, "--apply"]).code(3);
        assert!(out.stderr.contains("a command was cut off (killed by signal 9)"), "{mode}: {out:#?}");
        assert_eq!(place.read("notes.txt"), "one\n", "{mode}: {out:#?}");
        place.run(["apply"]).code(0);
        assert_eq!(place.read("notes.txt"), "");
    }
}

/// As after `git checkout BRANCH`, where the branch lacks many files: HEAD without the deletions shows them as untracked.
#[test]
fn a_repository_stays_pending_with_the_files_of_its_work_tree() {
    for door in DOORS {
        let script = "rm -r many; echo 'ref: refs/heads/x' > .git/HEAD; echo two > notes.txt";
        let place = place().file("do.sh", script);
        if !has_view() || !require("git") {
            return;
        }
        std::fs::remove_dir_all(place.tree.join(".git")).unwrap();
        let made = std::process::Command::new("git")
            .args(["init", "-q", "-b", "main"])
            .current_dir(&place.tree)
            .status();
        assert!(made.unwrap().success());
        let out = place.run(door).code(3).warns("left pending: removes 30 files");
        assert!(out.stderr.contains("pending together with it: the repository `.git`"), "{out:#?}");
        assert_eq!(place.read(".git/HEAD"), "ref: refs/heads/main\n", "{door:?}: {out:#?}");
        assert_eq!(place.read("notes.txt"), "two\n", "{door:?}: {out:#?}");
        place.run(["apply", "--apply-loss", "30"]).code(0);
        assert_eq!(place.read(".git/HEAD"), "ref: refs/heads/x\n");
        assert!(!place.tree.join("many").exists());
    }
}

/// `git init --separate-git-dir`, a bare repository with a worktree: the files may be anywhere.
#[test]
fn so_does_a_repository_whose_work_tree_is_elsewhere() {
    let place = place().file("do.sh", "rm -r many; echo 'ref: refs/heads/x' > gd/HEAD");
    for (name, content) in
        [("HEAD", "ref: refs/heads/main\n"), ("objects/aa/b", "x"), ("refs/heads/main", "x")]
    {
        place.write(&format!("gd/{name}"), content);
    }
    if !has_view() {
        return;
    }
    place.run(DOORS[0]).code(3).warns("pending together with it: the repository `gd`");
    assert_eq!(place.read("gd/HEAD"), "ref: refs/heads/main\n");
}

/// The directory stays, and git could not read what is in it any more: such a state is not applied, nor is the loss of objects.
#[test]
fn the_history_of_a_repository_does_not_go_with_its_files() {
    let scripts = [
        "rm -r .git/objects",
        "rm .git/HEAD",
        "rm -r .git/refs",
        "rm .git/objects/aa/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
        ": > .git/objects/aa/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
        ": > .git/HEAD",
        "rm .git/HEAD; mkdir .git/HEAD",
        "rm .git/packed-refs",
        // As after `rm -rf .git; git init`.
        "rm -rf .git; mkdir -p .git/objects .git/refs/heads; echo 'ref: refs/heads/main' > .git/HEAD",
    ];
    for script in scripts {
        let place = place().file("do.sh", format!("{script}; echo two > notes.txt"));
        if !has_view() {
            return;
        }
        place.write(
            ".git/packed-refs",
            format!("# pack-refs with: peeled\n{} refs/heads/old\n", "a".repeat(40)),
        );
        place.run(DOORS[0]);
        place.run(["apply", "--apply-protected", ".git"]);
        let old =
            ["objects/aa/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "HEAD", "packed-refs", "refs/heads/main"];
        for file in old {
            assert!(place.tree.join(".git").join(file).is_file(), "{script}: {file}");
        }
        assert_eq!(place.read(".git/objects/aa/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"), "x", "{script}");
        place.run(["apply", "notes.txt"]);
        assert_eq!(place.read("notes.txt"), "two\n", "{script}: the rest can be applied");
    }
}

/// `objects`, `refs` and `config` make a directory look like a repository.
#[test]
fn files_in_a_directory_that_only_looks_like_a_repository_count() {
    let place = Place::new()
        .file("game/config", "x\n")
        .file("game/refs/x", "x\n")
        .file("do.sh", "rm game/objects/*.obj");
    for n in 0..30 {
        place.write(&format!("game/objects/{n}.obj"), "x\n");
    }
    if !has_view() {
        return;
    }
    place.run(DOORS[0]).code(3).warns("left pending: removes 30 files");
    assert!(place.tree.join("game/objects/0.obj").exists());
}

/// Also where it is less than the loss limit, and in write mode without a flag.
#[test]
fn everything_in_a_root_goes_only_by_its_name() {
    for door in [
        &["-p", "run rm notes.txt", "--mode", "write"][..],
        &["-p", "run rm notes.txt", "--mode", "ask", "--apply"],
    ] {
        let place = Place::new().file("notes.txt", "one\n");
        if !has_view() {
            return;
        }
        let out = place.run(door).code(3);
        assert!(out.stderr.contains("removes everything in"), "{out:#?}");
        assert_eq!(place.read("notes.txt"), "one\n");
        place.run(["apply", "--apply-protected", "."]).code(0);
        assert!(!place.tree.join("notes.txt").exists());
    }
    // What the turn made itself is no loss.
    let place = Place::new();
    place.run(["-p", "run echo x > a", "--mode", "write"]).code(0);
    place.run(["-p", "run echo x > b; rm b", "--mode", "write"]).code(0);
}

#[test]
fn the_flags_apply_exactly_what_they_name_in_the_turn_itself() {
    let place = place().file("do.sh", "rm -rf .git many; echo two > notes.txt; echo A=1 > .envrc");
    if !has_view() {
        return;
    }
    place.run(["-p", "run sh do.sh", "--mode", "ask", "--apply-protected", ".git"]).code(3);
    assert!(!place.tree.join(".git").exists() && place.tree.join("many/1").exists());
    assert_eq!(place.read("notes.txt"), "one\n", "only what is named");
    place.run(["discard"]).code(0);
    place.run(["-p", "run sh do.sh", "--mode", "ask", "--apply", "--apply-loss", "30"]).code(3);
    assert!(!place.tree.join("many").exists() && !place.tree.join(".envrc").exists());
    assert_eq!(place.read("notes.txt"), "two\n");
}

fn sandbox_run(line: &str) -> Pty {
    let mut start = pty::shell().size(110, 40).arg("sandbox").arg("run").arg("--").arg(line);
    for file in [".git/HEAD", ".git/objects/a", ".git/refs/a"] {
        start = start.file(file, "x\n");
    }
    start.file("notes.txt", "one\n").spawn()
}

const QUESTION: &str = "Keep pending · Discard";
const ALONE: &str = "apply this file?";

#[test]
fn sandbox_run_asks_about_each_file_that_runs_later() {
    let mut pty = sandbox_run(
        "echo two > notes.txt; echo A=1 > .envrc; mkdir .vscode; echo {} > .vscode/tasks.json; echo x > AGENTS.md",
    );
    pty.until("the question", |s| s.contains(QUESTION));
    pty.answer("a");
    pty.until("the first file", |s| s.contains("! .envrc (created): apply this file?"));
    let screen = pty.screen();
    assert!(screen.contains("direnv runs it") && screen.contains("+ A=1"), "{screen}");
    assert!(pty.read("notes.txt") == "two\n", "{screen}");
    assert!(!pty.exists(".envrc") && !pty.exists(".vscode/tasks.json"));
    // What comes in one piece is a text.
    pty.send("yes\r");
    pty.until("the text", |s| s.contains("text is no answer here"));
    pty.send("\x1b");
    pty.until("an empty line", |s| s.contains("[No, keep it pending]"));
    assert!(!pty.exists(".envrc"));
    pty.answer("y");
    pty.until("the second file", |s| s.contains("tasks.json (created): apply"));
    assert!(pty.exists(".envrc") && !pty.exists(".vscode/tasks.json"));
    pty.answer("n");
    pty.until("the third file", |s| s.contains("AGENTS.md (created): apply"));
    pty.answer("d");
    pty.until("the second key", |s| s.contains("[Keep]"));
    pty.answer("d");
    assert_eq!(pty.ended(), 3);
    assert!(!pty.exists(".vscode/tasks.json") && !pty.exists("AGENTS.md"), "{}", pty.screen());
    assert!(pty.screen().contains("pending: ") && pty.is_cooked(), "{}", pty.screen());
}

#[test]
fn sandbox_run_wants_the_name_of_a_repository_that_goes() {
    for (keys, goes) in [
        (&["n"][..], false),
        (&["\x1b"], false),
        (&["y", "yes\r", "\x1b", "n"], false),
        (&["y", ".git\r"], true),
    ] {
        let mut pty = sandbox_run("rm -rf .git; echo two > notes.txt");
        pty.until("the question", |s| s.contains("removes the repository `.git`") && s.contains(QUESTION));
        pty.answer("a");
        pty.until("the second look", |s| s.contains("asks because: removes the repository `.git`"));
        assert!(pty.exists(".git/HEAD") && pty.read("notes.txt") == "one\n");
        keys.iter().for_each(|keys| pty.answer(keys));
        assert_eq!(pty.ended(), if goes { 0 } else { 3 }, "{keys:?}: {}", pty.screen());
        assert_eq!(pty.exists(".git/HEAD"), !goes, "{keys:?}");
        assert_eq!(pty.read("notes.txt"), if goes { "two\n" } else { "one\n" }, "{keys:?}");
    }
}

#[test]
fn apply_with_yes_at_a_terminal_asks_about_losses_and_protected_files() {
    let mut pty = sandbox_run("rm -rf .git; echo A=1 > .envrc");
    pty.until("the question", |s| s.contains(QUESTION));
    pty.answer("k");
    assert_eq!(pty.ended(), 3);
    let mut pty = pty::shell().size(110, 40).arg("apply").arg("--yes").after(pty).spawn();
    pty.until("the word", |s| s.contains("asks because: removes the repository `.git`"));
    pty.answer("y");
    pty.answer(".git\r");
    pty.until("the file", |s| s.contains("! .envrc (created): apply this file?") && s.contains("+ A=1"));
    assert!(!pty.exists(".git/HEAD") && !pty.exists(".envrc"), "{}", pty.screen());
    // Text is no answer.
    pty.send("yes\r");
    pty.until("the text", |s| s.contains("text is no answer here"));
    pty.send("\x1b");
    pty.until("an empty line", |s| !s.contains("text is no answer here"));
    assert!(!pty.exists(".envrc"));
    pty.answer("y");
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    assert!(pty.exists(".envrc") && pty.is_cooked());
}

#[test]
fn what_apply_is_not_allowed_stays_and_a_discard_is_one() {
    for (loss, keys, left) in
        [(&["\x1b"][..], "n", true), (&["y", ".git\r"], "dd", false), (&["y", ".git\r"], "\x1b", true)]
    {
        let mut pty = sandbox_run("rm -rf .git; echo A=1 > .envrc; echo two > notes.txt");
        pty.until("the question", |s| s.contains(QUESTION));
        pty.answer("k");
        assert_eq!(pty.ended(), 3);
        let mut pty = pty::shell().size(110, 40).arg("apply").arg("--yes").after(pty).spawn();
        pty.until("the word", |s| s.contains("asks because: removes the repository `.git`"));
        loss.iter().for_each(|keys| pty.answer(keys));
        pty.until("the file", |s| s.contains("! .envrc (created): apply this file?"));
        assert_eq!(pty.read("notes.txt"), "two\n", "the rest was asked for by the command");
        keys.chars().for_each(|key| pty.answer(&key.to_string()));
        assert_eq!(pty.ended(), if left { 3 } else { 0 }, "{keys}: {}", pty.screen());
        assert!(!pty.exists(".envrc") && pty.is_cooked());
        assert_eq!(pty.exists(".git/HEAD"), loss.len() == 1);
        assert_eq!(pty.screen().contains("pending: `placet changes --patch`"), left, "{}", pty.screen());
    }
}

#[test]
fn with_output_to_a_file_apply_asks_line_by_line() {
    let mut pty = sandbox_run("rm -rf .git; echo A=1 > .envrc");
    pty.until("the question", |s| s.contains(QUESTION));
    pty.answer("k");
    assert_eq!(pty.ended(), 3);
    let mut pty = pty::shell().size(110, 40).arg("apply").after(pty).output_to("out.txt").spawn();
    pty.until("the word", |s| s.contains("type `.git` and Enter to apply this"));
    pty.answer(".git\r");
    pty.until("the file", |s| s.contains("! .envrc (created): direnv runs it") && s.contains(ALONE));
    assert!(!pty.exists(".git/HEAD") && !pty.exists(".envrc"), "{}", pty.screen());
    pty.answer("yes\r");
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    assert!(
        pty.exists(".envrc") && pty.is_cooked() && pty.read("out.txt").contains("applied changes to 1 file")
    );
}

#[test]
fn apply_in_the_shell_wants_the_name_too() {
    let mut pty = pty::shell().size(110, 40).arg("--mode").arg("ask").file("notes.txt", "one\n");
    for file in [".git/HEAD", ".git/objects/a", ".git/refs/a"] {
        pty = pty.file(file, "x\n");
    }
    let mut pty = pty.open();
    pty.line("run rm -rf .git; echo two > notes.txt");
    pty.until("the question", |s| s.contains("removes the repository `.git`") && s.contains("Keep pending"));
    pty.answer("k");
    pty.until("it is pending", |s| s.contains("are pending: /apply"));
    pty.line("/apply .");
    pty.until("the word", |s| s.contains("type `.git` and Enter to apply this"));
    pty.answer("\r");
    pty.until("the rest", |s| s.contains("left pending: removes the repository"));
    assert!(pty.exists(".git/HEAD") && pty.read("notes.txt") == "two\n");
    pty.line("/apply .");
    pty.until("the word again", |s| s.matches("type `.git` and Enter").count() == 2);
    pty.answer(".git\r");
    pty.until("that it is applied", |_| !pty.exists(".git/HEAD"));
}
