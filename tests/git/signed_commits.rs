//! Commits of a command that the person signs: outside, with the person's own program and key, after a question.

use crate::support::pty::{Pty, joined, shell};
use crate::support::require::{has_view, require};
use crate::support::txn::Txn;
use std::path::Path;
use std::process::Command;

const PERSON: &str = "set -e; git config --global user.name Me; git config --global user.email me@x; \
    git config --global commit.gpgsign true; git config --global user.signingkey KEY; ";
const REPOSITORY: &str = "git init -q -b main .; git add .; git commit -qm First";
const SSH: &str = "mkdir -m 700 ~/.ssh; ssh-keygen -q -t ed25519 -N '' -C '' -f ~/.ssh/id; \
    echo \"me@x $(cat ~/.ssh/id.pub)\" > ~/allowed; git config --global gpg.ssh.allowedSignersFile ~/allowed; \
    git config --global gpg.format ssh; git config --global user.signingkey ~/.ssh/id; ";
const PROGRAM: &str = r#"printf '%s\n' '#!/bin/sh' 'echo "$@" >> ~/called; cat >> ~/objects' \
    'printf "%s\n" "-----BEGIN PGP SIGNATURE-----" "" "x" "-----END PGP SIGNATURE-----"' \
    'echo "[GNUPG:] SIG_CREATED D 1 8 00 1700000000 F" >&2' > ~/sign; chmod +x ~/sign; git config --global gpg.program ~/sign; "#;

/// The person's own shell, in another terminal.
fn sh(pty: &Pty, script: &str) -> String {
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).current_dir(pty.tree.path()).env("HOME", pty.home());
    let done = shell.output().unwrap();
    assert!(done.status.success(), "{script}: {done:?}");
    String::from_utf8(done.stdout).unwrap()
}

fn conversation(person: &str) -> Pty {
    let start = shell().size(100, 50).arg("--mode").arg("ask").arg("--set").arg("git.sign=ask");
    let pty = start.file("a.txt", "one\n").open();
    drop(sh(&pty, &format!("{PERSON}{person}{REPOSITORY}")));
    pty
}

fn ready(pty: &Pty, text: &str) {
    pty.until(text, |s| joined(s).contains(text) && !s.contains("a moment"));
}

#[test]
fn a_commit_and_a_tag_are_signed_with_an_ssh_key_that_the_view_does_not_have() {
    if !has_view() || !require("git") || !require("ssh-keygen") {
        return;
    }
    let mut pty = conversation(SSH);
    pty.line("run echo two >> a.txt; cat ~/.ssh/id; git -c user.signingkey=X commit -qam Second && git tag -sm One v1");
    ready(&pty, "sign this commit with your key?");
    for shown in ["tree ", "parent ", "author Me <me@x> ", "committer Me <me@x> ", "Second", ".ssh/id"] {
        assert!(pty.screen().contains(shown), "{shown}: {}", pty.screen());
    }
    pty.answer("y");
    ready(&pty, "sign this tag with your key?");
    pty.answer("y");
    ready(&pty, "Apply");
    let screen = pty.transcript();
    assert!(screen.contains("\"Second\" on main") && !screen.contains("not signed"), "{screen}");
    assert!(!screen.contains("PRIVATE KEY"), "{screen}");
    pty.answer("a");
    pty.until("what was applied", |s| s.contains("applied changes"));
    let checked = "git verify-commit HEAD && git tag -v v1 && git log --show-signature -1 --format=%G?%s";
    assert!(sh(&pty, checked).ends_with("GSecond\n"));
}

#[test]
fn the_view_chooses_no_program_no_key_and_no_text_and_a_refusal_is_an_error_of_git() {
    if !has_view() || !require("git") {
        return;
    }
    let mut pty = conversation(PROGRAM);
    drop(sh(&pty, "rm ~/called ~/objects"));
    pty.line(
        "run p=$(git config gpg.program); echo checksums | \"$p\" --status-fd=2 -bsau X; \
         git config gpg.program /bin/false; git config user.signingkey X; git commit -q --allow-empty -m Empty",
    );
    ready(&pty, "sign this commit with your key?");
    pty.answer("y");
    ready(&pty, "Apply");
    assert!(
        joined(&pty.transcript()).contains("not signed: it is not a commit or a tag"),
        "{}",
        pty.transcript()
    );
    assert_eq!(sh(&pty, "cat ~/called"), "--status-fd=2 -bsau KEY\n");
    assert!(sh(&pty, "cat ~/objects").ends_with("\n\nEmpty\n"));
    pty.answer("d");
    ready(&pty, "go ahead?");
    pty.answer("d");
    pty.until("the prompt", |s| s.trim_end().ends_with("[a] >"));

    pty.line("run git commit -q --allow-empty -m Refused; git log -1 --format=now:%s");
    ready(&pty, "sign this commit with your key?");
    pty.answer("n");
    pty.until("the end of the call", |s| s.contains("now:First") && s.trim_end().ends_with("[a] >"));
    let screen = joined(&pty.transcript());
    assert!(screen.contains("gpg failed to sign the data"), "{screen}");
    assert!(screen.contains("not signed: nobody agreed"), "{screen}");
    assert_eq!(sh(&pty, "wc -l < ~/called").trim(), "1");
}

#[test]
fn nothing_is_signed_without_a_person() {
    if !has_view() || !require("git") {
        return;
    }
    let txn = Txn::on_disk();
    txn.write("a.txt", "one\n");
    assert_eq!(txn.sh(Path::new(&txn.tree), &format!("{PERSON}{PROGRAM}{REPOSITORY}")), 0);
    let line = "run git commit -q --allow-empty -m Second";
    let out = txn.run(["-p", line, "--mode", "ask", "--set", "git.sign=ask"]);
    let text = format!("{}{}", out.stdout, out.stderr);
    assert!(
        text.contains("failed to sign the data") && text.contains("not signed: nobody agreed"),
        "{out:#?}"
    );
    assert_eq!(txn.sh(&txn.tree, "test $(wc -l < ~/called) = 1"), 0);
}

#[test]
fn a_hostile_text_is_shown_as_marks_and_a_long_one_is_not_agreed_to_by_enter() {
    if !has_view() || !require("git") {
        return;
    }
    let mut pty = conversation(PROGRAM);
    pty.line(r#"run git commit -q --allow-empty -m "$(printf 'Fix \033[2J \342\200\256evil')""#);
    ready(&pty, "sign this commit with your key?");
    let screen = pty.screen();
    assert!(screen.contains("[2J <U+202E>evil") && screen.contains("tree "), "{screen}");
    pty.answer("n");
    pty.until("the end of the call", |s| s.trim_end().ends_with("[a] >"));
    // What looks like a secret would be hidden in the question, and so nobody is asked.
    pty.line(
        r#"run git -c user.name="-----BEGIN PRIVATE$(echo ' KEY')-----" commit -q --allow-empty -m Fix"#,
    );
    pty.until("the refusal", |s| joined(s).contains("not signed: a part of it looks like a secret"));
    pty.until("the end of the call", |s| s.trim_end().ends_with("[a] >"));
    pty.line(r#"run git commit -q --allow-empty -m "$(seq 10000)""#);
    ready(&pty, "sign this commit with your key?");
    let screen = pty.screen();
    assert!(screen.contains("lines hidden") && screen.contains("[No]"), "{screen}");
    pty.answer("n");
    pty.until("the end of the call", |s| s.trim_end().ends_with("[a] >"));
    assert_eq!(sh(&pty, "wc -l < ~/called").trim(), "1");
}

#[test]
fn a_program_that_the_repository_names_does_not_run() {
    if !has_view() || !require("git") {
        return;
    }
    let txn = Txn::on_disk();
    txn.write("a.txt", "one\n");
    let local = "; git config gpg.program ~/sign; git config gpg.ssh.program ~/sign";
    assert_eq!(txn.sh(Path::new(&txn.tree), &format!("{PERSON}{PROGRAM}{REPOSITORY}{local}")), 0);
    let line =
        "run git commit -q --allow-empty -m Second; git commit -q --no-gpg-sign --allow-empty -m Third";
    let out = txn.run(["-p", line, "--mode", "ask", "--set", "git.sign=ask"]);
    let text = format!("{}{}", out.stdout, out.stderr);
    assert!(text.contains("not signed: the repository sets `gpg.program`"), "{out:#?}");
    assert!(text.contains("`git commit --no-gpg-sign` commits without a signature"), "{out:#?}");
    assert!(text.contains("\"Third\" on main") && !text.contains("\"Second\" on main"), "{out:#?}");
    assert_eq!(txn.sh(&txn.tree, "test $(wc -l < ~/called) = 1"), 0);
}
