//! A search that ends at a bound has not found that nothing is there: what it would have decided about waits.

use crate::support::binary::Out;
use crate::support::require::has_view;
use crate::support::require::require;
use crate::support::txn::Txn;

/// A debug build of placet that looks at so many names, links and directories.
fn looking_at(txn: &Txn, most: usize, args: &[&str]) -> Out {
    txn.placet_with_points(args).env("PLACET_SEARCH_MOST", most.to_string()).go()
}

fn large_workspace() -> Option<Txn> {
    if !(has_view() && require("git")) {
        return None;
    }
    let txn = Txn::on_disk();
    let made = "for n in $(seq 60); do mkdir -p d$n/e; echo x > d$n/e/f; done; echo one > a.txt; echo x > build.rs; \
        ln -s ../a.txt d60/.envrc";
    assert_eq!(txn.sh(&txn.tree, made), 0);
    Some(txn)
}

/// Story: a link that was not reached by the search made `a.txt` a file that direnv runs, and the key for all applied it.
#[test]
fn a_change_in_a_workspace_that_is_too_large_to_look_through_waits() {
    let Some(txn) = large_workspace() else { return };
    let turn = "run echo y > d1/e/f; echo y > new; mkdir n; echo y > n/m; echo y > build.rs; rm -r d2";
    let out = looking_at(&txn, 50, &["-p", turn, "--mode", "ask"]);
    assert_eq!(out.code, 3, "{out:#?}");
    let listed = looking_at(&txn, 50, &["changes"]).stdout;
    for file in ["M d1/e/f", "A new", "A n/m", "M build.rs"] {
        let row = listed.lines().find(|row| row.contains(file)).unwrap_or_default();
        assert!(
            row.starts_with("! ") && row.contains("too large to look through: more than 50 "),
            "{file}: {listed}"
        );
    }
    // What is removed is run by nobody.
    assert!(listed.lines().any(|row| row.starts_with("D d2/")), "{listed}");
    let out = looking_at(&txn, 50, &["apply"]);
    assert_ne!(out.code, 0, "{out:#?}");
    assert!(out.stdout.contains("not applied: new: a link with a protected name may lead to it"), "{out:#?}");
    assert_eq!((txn.read("new"), txn.read("d2/e/f")), (None, None));
    let out = looking_at(&txn, 50, &["apply", "--apply-protected", "new"]);
    assert!(!out.stdout.contains("not applied: new"), "{out:#?}");
    assert_eq!(txn.read("new").as_deref(), Some("y\n"));
    // Within the bounds nothing waits but what the link leads to.
    assert_eq!(looking_at(&txn, 5_000, &["apply"]).code, 0);
    assert_eq!(txn.run(["changes"]).stdout, "");
    txn.run(["-p", "run echo y > a.txt", "--mode", "ask"]);
    let listed = looking_at(&txn, 5_000, &["changes"]).stdout;
    assert!(listed.starts_with("! M a.txt") && listed.contains("direnv"), "{listed}");
}

/// Story: the whole workspace was walked for such links, at each call. git knows them, also in a linked worktree.
#[test]
fn a_link_far_from_its_target_is_known_where_git_tracks_it() {
    if !(has_view() && require("git")) {
        return;
    }
    let txn = Txn::on_disk();
    let git = "export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@x GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@x; ";
    let made = "mkdir -p docs a/b/c x/y/z; echo one > docs/a.md; echo one > docs/b.md; ln -s ../../../docs/a.md a/b/c/AGENTS.md; \
        git init -q -b main . && git add . && git commit -qm First; ln -s ../../../docs/b.md x/y/z/AGENTS.md";
    assert_eq!(txn.sh(&txn.tree, &format!("{git}{made}")), 0);
    let listed = |turn: &str| {
        txn.run(["-p", turn, "--mode", "ask"]);
        let listed = txn.run(["changes"]).stdout;
        txn.run(["discard"]);
        listed
    };
    let both = listed("run echo two | tee docs/a.md docs/b.md");
    assert!(both.lines().any(|row| row.starts_with("! M docs/a.md")), "{both}");
    // What git does not know is the limit.
    assert!(both.lines().any(|row| row.starts_with("M docs/b.md")), "{both}");
    // The answer is for the index as it is.
    assert_eq!(txn.sh(&txn.tree, "git add ."), 0);
    let added = listed("run echo two > docs/b.md");
    assert!(added.starts_with("! M docs/b.md"), "{added}");
    // A file tool is asked about before it writes.
    let out = txn.run(["-p", "overwrite docs/a.md with \"two\" anyway", "--mode", "write"]);
    assert_eq!((out.code, txn.read("docs/a.md").as_deref()), (3, Some("one\n")), "{out:#?}");
    assert_eq!(
        txn.sh(&txn.tree, &format!("{git}git commit -qam Second && git worktree add -q w/one/two")),
        0
    );
    let turn = ["-p", "run echo two > docs/a.md", "--mode", "ask", "--cwd", "w/one/two"];
    txn.run(turn);
    let linked = txn.run(["changes", "--cwd", "w/one/two"]).stdout;
    assert!(linked.contains("! M docs/a.md"), "{linked}");
}

/// In write mode there is no question, so such a change stays pending.
#[test]
fn write_mode_applies_nothing_that_was_not_looked_for() {
    let Some(txn) = large_workspace() else { return };
    let out = looking_at(&txn, 50, &["-p", "run echo y > a.txt", "--mode", "write"]);
    assert_eq!(txn.read("a.txt").as_deref(), Some("one\n"), "{out:#?}");
    let out = looking_at(&txn, 5_000, &["-p", "run echo y > d1/e/f", "--mode", "write"]);
    assert_eq!(txn.read("d1/e/f").as_deref(), Some("y\n"), "{out:#?}");
}

/// A commit changes the same files when it is checked out, and what git writes for it is one row.
#[test]
fn a_commit_in_such_a_workspace_waits_as_one_repository() {
    let Some(txn) = large_workspace() else { return };
    let git = "export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@x GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@x; ";
    txn.sh(&txn.tree, &format!("{git} git init -q -b main . && git add . && git commit -qm First"));
    let turn = format!("run {git} echo y > d1/e/f; git commit -qam Second");
    let out = looking_at(&txn, 50, &["-p", &turn, "--mode", "ask"]);
    assert_eq!(out.code, 3, "{out:#?}");
    let listed = looking_at(&txn, 50, &["changes"]).stdout;
    let marked: Vec<&str> = listed.lines().filter(|row| row.starts_with("! ")).collect();
    assert!(marked.len() == 2 && marked.iter().any(|row| row.contains("M .git (")), "{listed}");
    assert!(marked.iter().any(|row| row.contains("M d1/e/f")), "{listed}");
    assert_eq!(looking_at(&txn, 5_000, &["apply"]).code, 0);
}
