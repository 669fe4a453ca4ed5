//! Programs that people use every day, in `placet run`: editors, multiplexers, package managers, build tools. What is not
//! installed is skipped by name.

use crate::support::binary::Place;
use crate::support::pty::{Pty, Start, shell};
use crate::support::require::has_view;
use crate::support::require::require;
use std::path::Path;
use std::process::Command;

fn can_run(program: &str) -> bool {
    has_view() && require(program)
}

fn run(words: &[&str]) -> Start {
    words.iter().fold(shell().size(90, 30).arg("run").arg("--"), |start, word| start.arg(word))
}

/// Applies at the question, seen or not.
fn apply(pty: &mut Pty) {
    pty.until("the question", |screen| screen.contains("Apply"));
    pty.answer("a");
    std::thread::sleep(std::time::Duration::from_millis(300));
    if pty.screen().contains("[Back]") {
        pty.answer("a");
    }
    pty.until("the end", |screen| screen.contains("applied changes to"));
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
}

fn git(dir: &Path, words: &[&str]) -> String {
    let identity = ["-c", "user.name=P", "-c", "user.email=p@example.org"];
    let out = Command::new("git").args(identity).args(words).current_dir(dir).output().unwrap();
    assert!(out.status.success(), "git {words:?}: {out:?}");
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn bash_keeps_its_history_in_the_view() {
    if !can_run("bash") {
        return;
    }
    let mut pty = run(&["bash", "--norc"]).variable("PS1", "in> ").spawn();
    pty.until("the shell", |screen| screen.contains("in>") || screen.contains("$"));
    pty.line("HISTFILE=$PWD/history; PS1='in> '; echo fir\\st");
    pty.until("the command", |screen| screen.contains("first"));
    pty.send("\x1b[A");
    pty.until("the line before", |screen| screen.matches("HISTFILE").count() == 2);
    pty.send("\x15");
    pty.line("exit");
    apply(&mut pty);
    assert!(pty.read("history").contains("echo fir\\st"), "{}", pty.read("history"));
}

#[test]
fn vim_writes_a_file() {
    if !can_run("vim") {
        return;
    }
    let mut pty =
        run(&["vim", "-u", "NONE", "-N", "-i", "NONE", "notes.txt"]).file("notes.txt", "two\n").spawn();
    pty.until("the editor", |screen| screen.contains("notes.txt") && screen.contains("~"));
    pty.by_hand("Oone\x1b");
    pty.until("the line", |screen| screen.contains("one"));
    pty.send(":wq\r");
    apply(&mut pty);
    assert_eq!(pty.read("notes.txt"), "one\ntwo\n");
    assert!(pty.modes_on().is_empty() && pty.is_cooked(), "{:?}", pty.modes_on());
}

#[test]
fn tmux_and_htop_have_their_screens_and_give_the_terminal_back() {
    if can_run("tmux") {
        let line = "tmux -L placet-test -f /dev/null new-session 'echo in-\\tmux; read x; echo $x > typed'";
        let mut pty = run(&[line]).variable("LANG", "C.UTF-8").spawn();
        pty.until("the program in tmux", |screen| screen.contains("in-tmux"));
        pty.by_hand("hello\r");
        apply(&mut pty);
        assert_eq!(pty.read("typed"), "hello\n");
        assert!(pty.modes_on().is_empty(), "{:?}", pty.modes_on());
    }
    if can_run("htop") {
        let mut pty = run(&["htop"]).spawn();
        pty.until("htop", |screen| screen.contains("F10") && screen.contains("PID"));
        pty.send("q");
        assert_eq!(pty.ended(), 0, "{}", pty.screen());
        assert!(pty.modes_on().is_empty(), "{:?}", pty.modes_on());
    }
}

#[test]
fn ssh_keygen_and_python_ask_at_the_terminal() {
    if can_run("ssh-keygen") {
        let mut pty = run(&["ssh-keygen", "-t", "ed25519", "-f", "key"]).spawn();
        pty.until("the first prompt", |screen| screen.contains("assphrase"));
        pty.send("a secret\r");
        pty.until("the second prompt", |screen| screen.contains("again"));
        pty.send("a secret\r");
        apply(&mut pty);
        assert!(pty.read("key").contains("PRIVATE KEY") && pty.read("key.pub").starts_with("ssh-ed25519"));
        assert!(!pty.transcript().contains("a secret"), "{}", pty.transcript());
    }
    if can_run("python3") {
        let mut pty = run(&["python3", "-q"]).spawn();
        pty.until("the prompt", |screen| screen.contains(">>>"));
        pty.send("print(6*7, file=open('answer', 'w'))\r");
        pty.until("the next prompt", |screen| screen.matches(">>>").count() == 2);
        pty.send("exit()\r");
        apply(&mut pty);
        assert_eq!(pty.read("answer"), "42\n");
    }
}

#[test]
fn git_rebase_with_an_editor_is_one_question() {
    if !can_run("vim") || !require("git") {
        return;
    }
    let tree = tempfile::tempdir().unwrap();
    git(tree.path(), &["init", "-q", "-b", "main"]);
    git(tree.path(), &["config", "user.name", "P"]);
    git(tree.path(), &["config", "user.email", "p@example.org"]);
    for name in ["first", "second", "third"] {
        std::fs::write(tree.path().join(name), name).unwrap();
        git(tree.path(), &["add", "-A"]);
        git(tree.path(), &["commit", "-q", "-m", name]);
    }
    let before = git(tree.path(), &["rev-parse", "HEAD"]);
    let words = ["git", "-c", "core.editor=vim -u NONE -N -i NONE", "rebase", "-i", "HEAD~2"];
    let mut pty = run(&words).after_in(tree).spawn();
    pty.until("the editor", |screen| screen.contains("pick") && screen.contains("second"));
    // Without the commit in the first line.
    pty.by_hand("dd");
    pty.until("the line is gone", |screen| !screen.lines().next().unwrap_or_default().contains("second"));
    pty.send(":wq\r");
    apply(&mut pty);
    assert_eq!(git(pty.tree.path(), &["log", "--format=%s"]), "third\nfirst\n");
    assert!(!pty.exists("second"));
    let undone = Command::new(crate::support::program::placet())
        .arg("undo")
        .current_dir(pty.tree.path())
        .env("HOME", pty.home())
        .output()
        .unwrap();
    assert!(undone.status.success(), "{undone:?}");
    assert_eq!(git(pty.tree.path(), &["rev-parse", "HEAD"]), before);
    assert_eq!(git(pty.tree.path(), &["status", "--short"]), "");
}

#[test]
fn npm_installs_a_package_with_its_scripts() {
    if !can_run("npm") {
        return;
    }
    let place = Place::new()
        .file("package.json", r#"{"name": "app", "version": "1.0.0", "dependencies": {"dep": "file:./dep"}}"#)
        .file(
            "dep/package.json",
            r#"{"name": "dep", "version": "1.0.0", "scripts": {"postinstall": "echo ran > installed.txt; echo x > ../../outside.txt || true"}}"#,
        );
    let words =
        ["run", "--apply", "--", "npm", "install", "--offline", "--no-audit", "--no-fund", "--install-links"];
    let out = place.placet(words).env("npm_config_update_notifier", "false").go();
    assert_eq!(out.code, 0, "{out:?}");
    assert_eq!(place.read("node_modules/dep/installed.txt"), "ran\n");
    assert!(place.tree.join("package-lock.json").exists());
    place.run(["undo"]).code(0);
    assert!(!place.tree.join("node_modules").exists() && !place.tree.join("package-lock.json").exists());
}

#[test]
fn cargo_builds_a_crate() {
    if !can_run("cargo") {
        return;
    }
    let place = Place::new()
        .file("Cargo.toml", "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n")
        .file("src/main.rs", "fn main() { println!(\"built\"); }\n");
    let home = std::env::var("HOME").unwrap();
    let mut run = place.placet(["run", "--apply", "--", "cargo", "build", "--offline"]);
    for (name, dir) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        run = run.env(name, std::env::var(name).unwrap_or_else(|_| format!("{home}/{dir}")));
    }
    let out = run.env("CARGO_TARGET_DIR", "target").go();
    assert_eq!(out.code, 0, "{out:?}");
    let built = Command::new(place.tree.join("target/debug/small")).output().unwrap();
    assert_eq!(built.stdout, b"built\n");
}

#[test]
fn make_installs_inside_the_workspace_and_nowhere_else() {
    if !can_run("make") {
        return;
    }
    let makefile = "PREFIX = out\ninstall:\n\tmkdir -p $(PREFIX)/bin\n\tcp tool $(PREFIX)/bin/tool\n";
    let place = Place::new().file("Makefile", makefile).file("tool", "tool\n");
    place.run(["run", "--apply", "--", "make", "install"]).code(0);
    assert_eq!(place.read("out/bin/tool"), "tool\n");
    // Below the home directory it is written to the view, and ends with it.
    let home = format!("PREFIX={}/.local", place.home.display());
    place.run(["run", "--apply", "--", "make", "install", &home]);
    assert!(!place.home.join(".local/bin/tool").exists());
    // What is neither the workspace nor the home directory is read-only.
    let outside = Path::new("/usr/local/placet-test-prefix");
    let prefix = format!("PREFIX={}", outside.display());
    let out = place.run(["run", "--apply", "--", "make", "install", &prefix]);
    assert_ne!(out.code, 0, "{out:?}");
    assert!(!outside.exists());
}
