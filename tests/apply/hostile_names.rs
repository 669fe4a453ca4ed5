//! A name approves the file that was typed, and a file is what all of its names make it: links that an agent planted
//! and links that were there before.

use crate::support::binary::Place;
use crate::support::require::has_view;
use crate::support::{pty, require::require};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

fn after(script: &str) -> Place {
    let place = Place::new();
    let out = Command::new("sh").args(["-ec", script]).current_dir(&place.tree).output().unwrap();
    assert!(out.status.success(), "{script}: {out:?}");
    place
}

fn is_link(place: &Place, path: &str) -> bool {
    std::fs::symlink_metadata(place.tree.join(path)).is_ok_and(|meta| meta.is_symlink())
}

#[test]
fn a_flag_names_the_link_and_not_what_it_leads_to() {
    const CI: &str = ".github/workflows/ci.yml";
    let file = format!("rm {CI}; ln -s ../../.envrc {CI}; echo evil > .envrc");
    let dir = "mv .github x; ln -s .husky .github; mkdir -p .husky/workflows; \
               echo evil > .husky/workflows/ci.yml";
    for (script, protected) in [(file.as_str(), ".envrc"), (dir, ".husky/workflows/ci.yml")] {
        let new = || after(&format!("mkdir -p .github/workflows; echo on > {CI}"));
        let place = new();
        if !has_view() {
            return;
        }
        let run = format!("run {script}");
        let out = place.run(["-p", &run, "--mode", "ask", "--apply", "--apply-protected", CI]).code(3);
        assert!(!place.tree.join(protected).exists(), "{script}: {out:#?}");
        let place = new();
        let out = place.run(["sandbox", "run", "--apply-protected", CI, "--", script]).code(3);
        assert!(!place.tree.join(protected).exists(), "{script}: {out:#?}");
        let place = new();
        place.run(["-p", &run, "--mode", "ask"]).code(3);
        let out = place.run(["apply", "--apply-protected", CI]);
        assert!(!place.tree.join(protected).exists(), "{script}: {out:#?}");
        let out = place.run(["apply", "--apply-protected", protected]);
        assert_eq!(place.read(protected), "evil\n", "{script}: {out:#?}");
    }
}

#[test]
fn apply_and_discard_take_the_link_itself() {
    let place = after("echo old > keep");
    if !has_view() {
        return;
    }
    let run = "run ln -s work alias; echo important > work; ln -s .envrc notes; echo evil > .envrc";
    place.run(["-p", run, "--mode", "ask"]).code(3);
    place.run(["apply", "notes"]).code(0);
    assert!(is_link(&place, "notes") && !place.tree.join(".envrc").exists());
    place.run(["discard", "alias"]).code(0);
    let left = place.run(["changes"]).stdout;
    assert!(left.contains("work") && left.contains(".envrc") && !left.contains("alias"), "{left}");
    place.run(["apply", "--apply-protected", "notes"]).code(1);
    place.run(["apply"]).code(3);
    assert!(place.read("work") == "important\n" && !place.tree.join(".envrc").exists());
}

#[test]
fn a_file_is_named_in_any_spelling_that_needs_no_link_of_the_workspace() {
    let place = after("mkdir sub");
    if !has_view() {
        return;
    }
    symlink(&place.tree, place.beside("way")).unwrap();
    let whole = |dir: &str| place.beside(dir).join(".envrc").to_string_lossy().into_owned();
    for spelling in
        [".envrc".into(), "./sub/..//.envrc".into(), "../tree/.envrc".into(), whole("tree"), whole("way")]
    {
        let _ = std::fs::remove_file(place.tree.join(".envrc"));
        place.run(["-p", "run echo x > .envrc", "--mode", "ask"]).code(3);
        place.run(["apply", "--apply-protected", &spelling]).code(0);
        assert_eq!(place.read(".envrc"), "x\n", "{spelling}");
    }
}

#[test]
fn the_shell_applies_the_link_that_was_typed() {
    let mut pty = pty::shell().size(100, 40).arg("--mode").arg("ask").file("docs/pre-commit", "a\n").open();
    pty.line("run ln -s .envrc notes.txt; echo evil > .envrc; mv docs old; mkdir .husky; ln -s .husky docs; echo evil > .husky/pre-commit");
    pty.until("the question", |s| s.contains("Apply all but"));
    pty.answer("k");
    pty.until("that all is pending", |s| s.contains("changes to 5 files are pending"));
    pty.line("/apply notes.txt");
    pty.until("that the link is applied", |s| s.contains("applied changes to 1 file"));
    pty.line("/apply docs/pre-commit");
    pty.line("/apply nothing-here");
    pty.until("both answers", |s| s.contains("nothing is pending at `nothing-here`"));
    assert!(!pty.exists(".envrc") && !pty.exists(".husky/pre-commit"));
}

/// B6: what a protected link leads to is protected, wherever placet knows the link from.
#[test]
fn a_change_of_what_a_far_protected_link_leads_to_waits() {
    let cases = [
        ("mkdir -p packages docs; echo a > docs/a.md; ln -s ../docs/a.md packages/CLAUDE.md", "docs/a.md"),
        (
            "mkdir -p packages/web docs; echo a > docs/a.md; ln -s ../../docs/a.md packages/web/AGENTS.md",
            "docs/a.md",
        ),
        ("mkdir -p p/q real; echo a > real/pre-commit; ln -s ../../real p/q/.husky", "real/pre-commit"),
        // What does not exist yet, and links that lead to links, with another link in the way.
        ("mkdir -p p/q docs; ln -s ../../docs/a.md p/q/CLAUDE.md", "docs/a.md"),
        (
            "mkdir -p p/q docs; echo a > docs/a.md; ln -s ../docs p/d; ln -s ../d/a.md p/q/CLAUDE.md; ln -s docs/a.md zz",
            "docs/a.md",
        ),
        (
            "mkdir -p p/.github r/w; echo a > r/w/ci.yml; ln -s ../../r/w p/.github/workflows; ln -s r/w ww",
            "r/w/ci.yml",
        ),
    ];
    for (setup, path) in cases {
        // In the two upper levels of the workspace, or tracked by git.
        let is_far = ["/q/", "/web/", "/.github/"].iter().any(|dir| setup.contains(dir));
        let place =
            after(&if is_far { format!("{setup}; git init -q . && git add .") } else { setup.into() });
        if !(has_view() && require("git")) {
            return;
        }
        let before = std::fs::read_to_string(place.tree.join(path)).ok();
        let now = || std::fs::read_to_string(place.tree.join(path)).ok();
        let out =
            place.run(["-p", &format!("run echo evil > {path}"), "--mode", "write"]).code(3).warns("! ");
        assert_eq!(now(), before, "{setup}: {out:#?}");
        place.run(["discard"]).code(0);
        place.run(["-p", "run echo x > plain.txt", "--mode", "write"]).code(0);
        let (tool, anyway) = if before.is_some() { ("overwrite", " anyway") } else { ("create", "") };
        place.run(["-p", &format!("{tool} {path} with \"evil\"{anyway}"), "--mode", "write"]).code(3);
        assert_eq!(now(), before, "{setup}: by a tool");
    }
}

#[test]
fn the_mode_of_a_second_name_of_a_hook_waits() {
    for dir in [".husky", "p/q/.husky"] {
        let place = after(&format!(
            "mkdir -p d {dir}; echo a > {dir}/pre-commit; ln {dir}/pre-commit d/x; echo b > d/y; ln d/y d/z"
        ));
        if !has_view() {
            return;
        }
        let mode =
            |path: &str| std::fs::metadata(place.tree.join(path)).unwrap().permissions().mode() & 0o111;
        let out = place.run(["-p", "run chmod +x d/x", "--mode", "write"]).code(3).warns("! ");
        assert_eq!(mode("d/x"), 0, "{dir}: {out:#?}");
        place.run(["discard"]).code(0);
        // No name of the file is protected: it waits because the other name changes with it.
        let row = "! M d/y mode 644 to 755 (the file has another name, which changes, too: `d/z`)";
        let out = place.run(["-p", "run chmod +x d/y", "--mode", "write"]).code(3).warns(row);
        assert_eq!(mode("d/z"), 0, "{dir}: {out:#?}");
        place.run(["apply", "--apply-protected", "d/y"]).code(0);
        assert_ne!(mode("d/z"), 0);
    }
}

/// B7: settings that a repository includes are its settings, whatever the file is called.
#[test]
fn settings_that_git_includes_wait() {
    if !require("git") {
        return;
    }
    for key in ["include.path", "includeIf.gitdir:/.path"] {
        let place = after(&format!(
            "git init -q -b main .; printf '[user]\\n\\tname = x\\n' > gc; git config {key} ../gc"
        ));
        if !has_view() {
            return;
        }
        let before = place.read("gc");
        let run = "run printf '[core]\\n\\tfsmonitor = /bin/evil\\n' > gc";
        let out = place.run(["-p", run, "--mode", "write"]).code(3).warns("! ");
        assert_eq!(place.read("gc"), before, "{key}: {out:#?}");
        place.run(["apply", "--apply-protected", "gc"]).code(0);
        assert!(place.read("gc").contains("fsmonitor"), "{key}");
    }
}

/// C2: a harmless setting that comes first hid the one that counts.
#[test]
fn all_settings_that_run_something_are_named() {
    if !require("git") {
        return;
    }
    let place = after("git init -q -b main .");
    if !has_view() {
        return;
    }
    let script = "git config alias.a log; git config core.pager ./p; git config core.fsmonitor /bin/evil";
    let out = place.run(["sandbox", "run", "--", script]);
    let lines: Vec<&str> = out.stderr.lines().filter(|l| l.contains(".git/config")).collect();
    for key in ["alias.a = log", "core.pager = ./p", "core.fsmonitor = /bin/evil"] {
        assert!(lines.iter().any(|l| l.contains(key)), "{key}: {out:#?}");
    }
    place.run(["discard"]);
    let many =
        "for i in 0 1 2 3 4 5 6 7 8; do git config alias.a$i log; done; git config core.fsmonitor /bin/evil";
    let out = place.run(["sandbox", "run", "--", many]);
    assert!(out.stderr.contains("core.fsmonitor = /bin/evil"), "{out:#?}");
    assert!(out.stderr.contains("and 4 more that run something"), "{out:#?}");
}
