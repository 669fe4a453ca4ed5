//! Repositories that are traps for what reads them, before a question and in a list of changes: the real binary, with programs that leave a file behind when git runs them.

use crate::support::binary::Out;
use crate::support::is_full;
use crate::support::require::has_view;
use crate::support::require::require;
use crate::support::some_of;
use crate::support::txn::Txn;

/// Files that git itself keeps, each of which is read for the list.
const FILES: &[&str] = &[
    "HEAD",
    "ORIG_HEAD",
    "MERGE_HEAD",
    "packed-refs",
    "index",
    "commondir",
    "gitdir",
    "config",
    "config.worktree",
    "info/attributes",
    "info/grafts",
    "info/sparse-checkout",
    "objects/info/alternates",
    "objects/pack/pack-1111111111111111111111111111111111111111.idx",
    "objects/pack/pack-1111111111111111111111111111111111111111.pack",
    "objects/11/11111111111111111111111111111111111111",
    "refs/heads/main",
    "refs/heads/z",
    "refs/stash",
    "refs/heads",
    "logs/HEAD",
    "logs/refs/heads/main",
    "logs/refs/stash",
    "hooks/pre-commit",
    "rebase-merge/git-rebase-todo",
    "worktrees/w/HEAD",
    "worktrees/w/commondir",
    "worktrees/w/gitdir",
    "worktrees/w/index",
    "modules/m/HEAD",
    "modules/m/config",
];

const GIT: &str = "umask 022; export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n \
                   GIT_COMMITTER_EMAIL=e;";

/// The canary runs when git runs anything; nothing of `outside` may be printed.
fn ground(repositories: usize) -> Option<Txn> {
    if !has_view() || !require("git") {
        return None;
    }
    let txn = Txn::on_disk();
    let base = txn.base.display().to_string();
    let make = format!(
        "{GIT} printf '#!/bin/sh\ntouch {base}/sang\ncat\n' > ../canary; chmod +x ../canary; echo 'ref: SECRET' > ../outside; \
         git init -q -b main r0; cd r0; echo 1 > a; git add a; git commit -qm first; git config core.fsmonitor {base}/canary; \
         git config filter.x.clean {base}/canary; git config core.pager {base}/canary; \
         git config diff.external {base}/canary; cd ..; for n in $(seq {}); do cp -a r0 r$n; done",
        repositories - 1
    );
    assert_eq!(txn.sh(&txn.tree, &make), 0);
    Some(txn)
}

/// A run that must end, print nothing from outside and start nothing. A reader without an end fails by the time that any
/// run has.
fn limited(txn: &Txn, args: &[&str]) -> Out {
    let out = txn.run(args);
    assert!(!out.stdout.contains("SECRET") && !out.stderr.contains("SECRET"), "{args:?}: {out:#?}");
    assert!(!txn.base.join("sang").exists(), "{args:?}: a program of the repository ran");
    assert!(out.code < 100, "{args:?}: {out:#?}");
    out
}

/// Each file of git is a pipe, a device, or a link that leads out, in a repository of its own: made by the agent, and
/// there before it.
#[test]
fn traps_in_place_of_any_file_of_git_are_neither_waited_for_nor_followed() {
    for trap in some_of(&["mkfifo", "ln -s /dev/zero", "ln -s BASE/outside", "ln -s /dev/tty"], 2) {
        let Some(txn) = ground(FILES.len()) else { return };
        let trap = trap.replace("BASE", &txn.base.display().to_string());
        let set = |n: usize, file: &str| {
            format!("mkdir -p $(dirname r{n}/.git/{file}); rm -rf r{n}/.git/{file}; {trap} r{n}/.git/{file};")
        };
        let traps: String = FILES.iter().enumerate().map(|(n, file)| set(n, file)).collect();
        // A ref more, so that there is something to read in each.
        let refs = "for n in $(seq 0 40); do test -d r$n/.git/refs/heads && echo 1111111111111111111111111111111111111111 \
                    > r$n/.git/refs/heads/new; done; true";
        limited(&txn, &["sandbox", "run", "--", &format!("{traps} {refs}")]);
        let listed = limited(&txn, &["changes"]);
        for (n, file) in FILES.iter().enumerate() {
            let name = format!("r{n}/.git");
            assert!(listed.stdout.contains(&name), "{trap} {file}: {listed:#?}");
        }
        limited(&txn, &["changes", "--patch"]);
        limited(&txn, &["changes", "--json"]);
        limited(&txn, &["review", "--linear"]);
        limited(&txn, &["apply"]);
        limited(&txn, &["discard"]);
        // The same, made by the person.
        assert_eq!(txn.sh(&txn.tree, &traps), 0);
        limited(&txn, &["sandbox", "run", "--", &format!("touch new; {refs}")]);
        limited(&txn, &["changes"]);
        limited(&txn, &["apply"]);
        limited(&txn, &["undo"]);
    }
}

/// What a repository names: objects, settings and a work tree elsewhere.
#[test]
fn places_that_a_repository_names_outside_of_the_workspace_are_not_read() {
    let Some(txn) = ground(1) else { return };
    let other = format!(
        "{GIT} mkdir ../far; cd ../far; git init -q -b main .; echo 1 > s; git add s; git commit -qm SECRET; git tag SECRET"
    );
    assert_eq!(txn.sh(&txn.tree, &other), 0);
    let far = txn.base.join("far").display().to_string();
    let id = std::fs::read_to_string(txn.base.join("far/.git/refs/heads/main")).unwrap();
    let id = id.trim();
    for line in [
        format!(
            "echo {far}/.git/objects > r0/.git/objects/info/alternates; echo {id} > r0/.git/refs/heads/x"
        ),
        format!("echo {far}/.git > r0/.git/commondir; echo {id} > r0/.git/refs/heads/x"),
        format!("rm -rf r0/.git; echo gitdir: {far}/.git > r0/.git"),
        format!("git config -f r0/.git/config core.worktree {far}; echo {id} > r0/.git/refs/heads/x"),
        format!(
            "mkdir -p r0/.git/worktrees/w; cd r0/.git/worktrees/w; echo ref: refs/heads/main > HEAD; \
                 echo {far}/.git > commondir; echo {far}/.git > gitdir"
        ),
        format!(
            "git config -f r0/.git/config include.path {far}/.git/config; echo {id} > r0/.git/refs/heads/x"
        ),
        format!(
            "rm -rf r0/.git/objects; ln -s {far}/.git/objects r0/.git/objects; echo {id} > r0/.git/refs/heads/x"
        ),
    ] {
        limited(&txn, &["sandbox", "run", "--", &line]);
        let listed = limited(&txn, &["changes"]);
        assert!(
            listed.stdout.contains("! ") || listed.stdout.contains("not applied: "),
            "{line}: {listed:#?}"
        );
        limited(&txn, &["review", "--linear"]);
        limited(&txn, &["discard"]);
    }
}

/// Story: a list of a repository with 500,000 refs must stay a list.
#[test]
fn half_a_million_packed_refs_are_counted_and_not_listed() {
    if !is_full() {
        return;
    }
    let Some(txn) = ground(1) else { return };
    for (sorted, count) in [("", 500_000), ("# pack-refs with: peeled fully-peeled sorted ", 200_000)] {
        let line = format!(
            "id=$(git -C r0 rev-parse HEAD); {{ echo '{sorted}'; seq -f \"$id refs/heads/b%06.0f\" {count}; }} \
             | sed /^$/d > r0/.git/packed-refs"
        );
        limited(&txn, &["sandbox", "run", "--", &line]);
        let listed = limited(&txn, &["changes"]).stdout;
        assert!(listed.lines().count() < 600, "{}", listed.lines().count());
        assert!(listed.contains("more changed, which are not listed"), "{listed:.500}");
        limited(&txn, &["discard"]);
    }
}

/// Story: a tag that moved was only counted where 600 branches came before it.
#[test]
fn what_was_there_before_is_listed_before_what_is_new() {
    if !has_view() || !require("git") {
        return;
    }
    let txn = Txn::on_disk();
    let commit = "git -c user.name=A -c user.email=a@x commit -q --allow-empty -m Later";
    txn.sh(&txn.tree, &format!("git init -q -b main .; {commit}; git tag v1; {commit}"));
    txn.hold(
        "git tag -f v1 main >/dev/null; seq -f 'create refs/heads/b%04.0f HEAD' 600 | git update-ref --stdin",
    );
    let listed = txn.run(["changes"]).stdout;
    assert!(listed.contains("tag v1 moved"), "{listed}");
    assert!(listed.contains("101 more changed, which are not listed"), "{listed}");
}
