//! `core.hooksPath` makes any directory one of hooks: what is changed there runs later.

use crate::support::binary::Place;
use crate::support::require::has_view;
use crate::support::require::require;
use std::process::Command;

/// A repository after `setup`; `None` where the machine lacks something.
fn repository(setup: &str) -> Option<Place> {
    let place = Place::new();
    if !require("git") || !has_view() {
        return None;
    }
    let all = "set -e; git init -q -b main .; git config user.name n; git config user.email e; \
               mkdir githooks; echo 1 > githooks/old; git add .; git commit -q -m first; ";
    let out =
        Command::new("sh").args(["-c", &format!("{all}{setup}")]).current_dir(&place.tree).output().unwrap();
    assert!(out.status.success(), "{setup}: {out:?}");
    Some(place)
}

#[test]
fn a_file_where_core_hooks_path_leads_is_a_hook() {
    let cases = [
        ("git config core.hooksPath githooks", ""),
        ("git config core.hooksPath \"$PWD/githooks\"", ""),
        ("git config core.hooksPath ./other/../githooks/", ""),
        ("printf '[core]\\n\\thooksPath = githooks\\n' > ../more; git config include.path ../../more", ""),
        (
            "printf '[core]\\n\\thooksPath = githooks\\n' > more; git config 'includeIf.gitdir:/.path' ../more",
            "",
        ),
        ("git config extensions.worktreeConfig true; git config --worktree core.hooksPath githooks", ""),
        ("ln -s githooks link; git config core.hooksPath link", ""),
        // Set by the same change set.
        ("true", "git config core.hooksPath githooks; "),
        ("true", "printf '[core]\\n\\thooksPath = githooks\\n' > more; git config include.path ../more; "),
    ];
    for (setup, first) in cases {
        let Some(place) = repository(setup) else { return };
        let script = format!(
            "{first}echo evil > githooks/pre-commit; chmod +x githooks/pre-commit; echo new > plain.txt"
        );
        place.write("do.sh", script);
        let out = place.run(["-p", "run sh do.sh", "--mode", "ask", "--apply"]).code(3);
        let why = "core.hooksPath` names its directory";
        assert!(out.stderr.contains(why), "{setup}: {first}: {out:#?}");
        assert!(!place.tree.join("githooks/pre-commit").exists(), "{setup}: {first}: {out:#?}");
        assert_eq!(place.read("plain.txt"), "new\n", "{setup}: {first}: {out:#?}");
        place.run(["apply", "--apply-protected", "githooks/pre-commit"]);
        assert_eq!(place.read("githooks/pre-commit"), "evil\n", "{setup}: {first}");
    }
}

#[test]
fn file_tools_do_not_write_a_hook_of_core_hooks_path_in_write_mode() {
    let Some(place) = repository("git config core.hooksPath githooks") else { return };
    let out = place.run(["-p", "create githooks/pre-push with \"x\"", "--mode", "write"]).code(3);
    assert!(!place.tree.join("githooks/pre-push").exists(), "{out:#?}");
    place.run(["-p", "create other/pre-push with \"x\"", "--mode", "write"]).code(0);
    assert_eq!(place.read("other/pre-push"), "x");
}

#[test]
fn a_person_who_has_hooks_for_all_repositories_is_protected_in_each() {
    let Some(place) = repository("true") else { return };
    std::fs::write(place.home.join(".gitconfig"), "[core]\n\thooksPath = githooks\n").unwrap();
    place.run(["-p", "run echo evil > githooks/pre-commit", "--mode", "ask", "--apply"]).code(3);
    assert!(!place.tree.join("githooks/pre-commit").exists());
}
