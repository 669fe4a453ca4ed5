//! Repositories in `placet run`: submodules, linked worktrees, repositories in the state of a program.

use super::run::{Bench, needs_a_view};
use crate::support::binary::Place;
use crate::support::require::require;
use std::path::Path;

/// The view has the part of the outer repository where that of the submodule is, and not the rest.
#[test]
fn a_commit_in_a_submodule_changes_its_repository() {
    needs_a_view!();
    if !require("git") {
        return;
    }
    let place = Place::new();
    let setup = "git init -q base && cd base && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m 1 && cd .. \
        && git init -q outer && cd outer && git -c protocol.file.allow=always submodule --quiet add ../base m \
        && git -c user.name=a -c user.email=a@b commit -q -m m";
    let done =
        std::process::Command::new("sh").args(["-c", setup]).current_dir(&place.tree).status().unwrap();
    assert!(done.success());
    let commit = "echo c > f && git add f && git -c user.name=a -c user.email=a@b commit -q -m inside";
    let out = place.placet(["run", "--", "sh", "-c", commit]).cwd(&place.tree.join("outer/m")).go().code(3);
    assert!(!out.stderr.contains("removed the repository"), "{}", out.stderr);
    assert!(
        out.stderr.contains("submodule m: commit") && out.stderr.contains("of the repository)"),
        "{}",
        out.stderr
    );
}

/// Story: a bare repository in a kept directory was written home with its hooks, without a question; a `.git` file there
/// vanished without a word.
#[test]
fn repositories_in_a_kept_directory_are_asked_about_whatever_their_names_are() {
    needs_a_view!();
    let settings = "[run.presets.mine]\nprogram = \"sh\"\nkeep = [\".mine/\", \".mine.json\"]\n\
                    later_keys = [\".mine.json:servers\"]\n";
    let bare = "mkdir -p cache/x/objects cache/x/refs/heads cache/x/hooks; echo 'ref: refs/heads/main' > cache/x/HEAD";
    for (script, waits) in [
        (
            format!("{bare}; printf '[core]\\n\\tfsmonitor = /tmp/x\\n' > cache/x/config"),
            Some("cache/x/config"),
        ),
        (
            format!(
                "{bare}; echo > cache/x/config; echo evil > cache/x/hooks/pre-push; chmod +x cache/x/hooks/pre-push"
            ),
            Some("cache/x/hooks/pre-push"),
        ),
        (format!("{bare}; printf '[core]\\n\\tbare = true\\n' > cache/x/config"), None),
        ("mkdir q; echo 'gitdir: ../cache/x' > q/.git".into(), Some("q/.git")),
        ("mkdir q; ln -s ../cache/x q/.git".into(), Some("q/.git")),
        ("printf 'SQLite format 3\\0more' > ../.mine.json".into(), Some("../.mine.json")),
        (
            "echo '{\"Servers\": {\"x\": {\"command\": \"sh\"}}}' > ../.mine.json".into(),
            Some("../.mine.json"),
        ),
    ] {
        let place = Place::with_notes().config(settings);
        std::fs::create_dir_all(place.home.join(".mine")).unwrap();
        let line = format!("cd ~/.mine; {script}");
        let out = place.run(["run", "mine", "-c", &line]);
        let at_home = |name: &str| place.home.join(".mine").join(name).symlink_metadata().is_ok();
        match waits {
            Some(name) => {
                assert_eq!(out.code, 3, "{script}: {out:?}");
                assert!(out.stderr.contains("pending in your home directory"), "{script}: {out:?}");
                assert!(!at_home(name) && !at_home("cache/x/HEAD"), "{script}: {out:?}");
            }
            None => {
                assert_eq!(out.code, 0, "{script}: {out:?}");
                assert!(at_home("cache/x/HEAD") && at_home("cache/x/config"), "{script}: {out:?}");
            }
        }
    }
}

#[test]
fn a_commit_in_a_linked_worktree_goes_through_the_question() {
    needs_a_view!();
    if !require("git") {
        return;
    }
    let bench = Bench::with(
        "claude",
        "echo more >> notes.txt; git -c user.name=a -c user.email=a@b -c commit.gpgsign=false commit -qam work || exit 9",
    );
    let git = |dir: &Path, words: &[&str]| {
        let done = std::process::Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"])
            .args(words)
            .current_dir(dir)
            .env("HOME", &bench.place.home)
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    let tree = bench.place.tree.clone();
    git(&tree, &["init", "-q"]);
    git(&tree, &["add", "."]);
    git(&tree, &["commit", "-qm", "first"]);
    let linked = bench.place.beside("linked");
    git(&tree, &["worktree", "add", "-q", linked.to_str().unwrap()]);
    let before = git(&tree, &["rev-parse", "linked"]);
    let out = bench.run(&["claude"]).cwd(&linked).go();
    assert_eq!(out.code, 3, "{out:?}");
    assert!(out.stderr.contains("work"), "{}", out.stderr);
    assert_eq!(git(&tree, &["rev-parse", "linked"]), before);
    let out = bench.run(&["--apply", "claude"]).cwd(&linked).go();
    assert_eq!(out.code, 0, "{out:?}");
    assert_ne!(git(&tree, &["rev-parse", "linked"]), before);
    git(&linked, &["fsck", "--strict"]);
}
