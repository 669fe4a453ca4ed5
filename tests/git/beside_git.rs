//! What belongs to a repository and is none of git's own items: contents of LFS, repositories of submodules, operations that
//! the person finished.

use crate::support::require::has_view;
use crate::support::require::require;
use crate::support::txn::Txn;

pub(super) const IDENTITY: &str = "export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@x GIT_COMMITTER_NAME=A \
    GIT_COMMITTER_EMAIL=a@x GIT_EDITOR=true GIT_TERMINAL_PROMPT=0;";

pub(super) fn repository(before: &str) -> Option<Txn> {
    if !has_view() || !require("git") {
        return None;
    }
    let b = Txn::on_disk();
    let begin =
        "git init -q -b main . && git config user.name Me && git config user.email me@x && seq 9 > a.txt";
    assert_eq!(b.sh(&b.tree, &format!("{begin} && git add -A && git commit -qm First && {before}")), 0);
    Some(b)
}

/// Stores a content as Git LFS does, and leaves its name in `$name`.
const STORE: &str = "c=$(sha256sum < big | cut -c1-64); name=lfs/objects/$(echo $c | cut -c1-2)/$(echo $c | cut -c3-4)/$c; \
    mkdir -p .git/$(dirname $name)";

/// Story: a commit with a file of LFS came without its content, which was nowhere any more.
#[test]
fn the_contents_of_lfs_come_with_their_commit_and_go_with_it() {
    let Some(b) = repository("true") else { return };
    b.hold(&format!("{IDENTITY} head -c 5000 /dev/zero > big; {STORE}; mv big .git/$name; echo $c > big; git add big; git commit -qm Big"));
    let rows = b.run(["changes"]).stdout;
    assert!(rows.contains("  LFS: 1 content, 5000 B\n"), "{rows}");
    b.run(["apply", "--yes"]).code(0);
    let found = r#"c=$(git show main:big) && f=$(find .git/lfs -type f) && test "$(sha256sum < $f | cut -c1-64)" = $c"#;
    assert_eq!(b.sh(&b.tree, found), 0);
    b.run(["undo"]).code(0);
    assert_eq!(b.sh(&b.tree, r#"test -z "$(find .git/lfs -type f)" && git fsck --strict"#), 0);
    b.run(["redo"]).code(0);
    assert_eq!(b.sh(&b.tree, found), 0);
}

/// Story: a repository that the agent made was applied without them.
#[test]
fn the_contents_of_lfs_come_with_a_new_repository() {
    if !has_view() || !require("git") {
        return;
    }
    let made = format!(
        "{IDENTITY} git init -q -b main n; cd n; echo '* filter=lfs' > .gitattributes; head -c 5000 /dev/zero > big; {STORE}; \
         mv big .git/$name; echo $c > big; git config lfs.repositoryformatversion 0; git add .; git commit -qm Big"
    );
    let b = Txn::on_disk();
    b.hold(&made);
    let rows = b.run(["changes"]).stdout;
    assert!(rows.contains("  LFS: 1 content, 5000 B\n"), "{rows}");
    b.run(["apply", "--yes"]).code(0);
    assert_eq!(b.run(["changes"]).stdout, "");
    let found = r#"c=$(git -C n show main:big) && f=$(find n/.git/lfs -type f) && test "$(sha256sum < $f | cut -c1-64)" = $c"#;
    assert_eq!(b.sh(&b.tree, found), 0);
    b.run(["undo"]).code(0);
    assert!(!b.tree.join("n").exists());
    b.run(["redo"]).code(0);
    assert_eq!(b.sh(&b.tree, found), 0);
    let b = Txn::on_disk();
    b.hold(&format!("{made}; echo evil > .git/$name"));
    let refused = b.run(["apply", "--yes"]).code(1);
    assert!(refused.stderr.contains("is not the LFS content that its name says"), "{refused:#?}");
    assert!(!b.tree.join("n").exists());
}

#[test]
fn a_content_that_is_not_what_its_name_says_is_not_applied() {
    let Some(b) = repository("true") else { return };
    b.hold(&format!("echo good > big; {STORE}; echo evil > .git/$name; rm big; echo two > b.txt"));
    let refused = b.run(["apply", "--yes"]).code(1);
    assert!(refused.stderr.contains("is not the LFS content that its name says"), "{refused:#?}");
    assert_eq!(b.sh(&b.tree, "test ! -e .git/lfs && test ! -e b.txt"), 0);
    b.run(["discard", ".git"]).code(0);
    b.run(["apply", "--yes"]).code(0);
    assert_eq!(b.sh(&b.tree, "test ! -e .git/lfs && test -e b.txt"), 0);
}

/// A content that is there is never replaced.
#[test]
fn a_content_of_the_person_stays() {
    let Some(b) = repository(&format!("echo good > big && {STORE} && mv big .git/$name")) else { return };
    b.hold("for f in $(find .git/lfs -type f); do echo evil > $f; done; echo two > b.txt");
    b.run(["apply", "--yes"]);
    assert_eq!(b.sh(&b.tree, r#"test "$(cat $(find .git/lfs -type f))" = good"#), 0);
}

/// Story: the only copy of a submodule's commits went with a word about a setting.
#[test]
fn the_repository_of_a_submodule_is_a_loss_like_any_other() {
    let lib = "git init -q -b main ../lib && git -C ../lib -c user.name=A -c user.email=a@x commit -q --allow-empty -m L \
        && git -c protocol.file.allow=always submodule --quiet add ../lib lib && git commit -qm Lib";
    let Some(b) = repository(lib) else { return };
    b.hold("rm -rf .git/modules/lib");
    let listed = b.run(["changes"]).stdout;
    assert!(listed.contains("D .git/modules/lib (removed the repository, 27 files)"), "{listed}");
    b.run(["apply", "--yes", "--apply-protected", ".git/modules/lib/config"]);
    assert_eq!(b.sh(&b.tree, "git -C lib log -1"), 0);
}

/// Story: undo said that it had undone a rebase that the person had finished, and had changed nothing.
#[test]
fn an_operation_that_the_person_finished_is_not_undone() {
    let Some(b) = repository("seq 5 > b.txt && git add b.txt && git commit -qm Second") else { return };
    b.hold(&format!("{IDENTITY} GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -i HEAD~1; true"));
    b.run(["apply", "--yes", "--apply-protected", ".git"]).code(0);
    assert_eq!(b.sh(&b.tree, &format!("test -d .git/rebase-merge && {IDENTITY} git rebase --continue")), 0);
    let undone = b.run(["undo"]);
    let said = format!("{}{}", undone.stdout, undone.stderr);
    assert!(said.contains("was finished in the meantime"), "{said}");
    assert_eq!(
        b.sh(&b.tree, "git log --format=%s -1 main | grep -q Second && test ! -e .git/rebase-merge"),
        0
    );
}

/// Story: an undo of `git init` took the person's first commit along, without a word.
#[test]
fn a_repository_that_was_made_stays_when_the_person_worked_in_it() {
    if !has_view() || !require("git") {
        return;
    }
    for work in [
        "git add a.txt && git -c user.name=Me -c user.email=me@x commit -qm Mine",
        "git add a.txt",
        "git symbolic-ref HEAD refs/heads/mine && git add a.txt",
    ] {
        let b = Txn::on_disk();
        b.write("a.txt", "a\n");
        b.hold(&format!("{IDENTITY} git init -q -b main ."));
        b.run(["apply", "--yes"]).code(0);
        assert_eq!(b.sh(&b.tree, work), 0);
        let undone = b.run(["undo"]);
        assert!(undone.stderr.contains("that were made since"), "{work}: {undone:#?}");
        assert_eq!(b.sh(&b.tree, "git ls-files | grep -qx a.txt"), 0, "{work}");
    }
    let b = Txn::on_disk();
    b.hold(&format!(
        "{IDENTITY} git init -q -b main . && echo a > a.txt && git add a.txt && git commit -qm First"
    ));
    b.run(["apply", "--yes"]).code(0);
    b.run(["undo"]).code(0);
    assert!(!b.tree.join(".git").exists());
}

/// What takes something away waits in write mode, however it is spelled; each was applied unasked once.
#[test]
fn write_mode_waits_for_what_only_looks_like_an_addition() {
    const CASES: [(&str, &str); 8] = [
        ("git tag v1", "git tag -d v1; git tag v2"),
        (
            "git checkout -q --detach && echo 1 >> a.txt && git commit -qam Precious",
            "git tag t main; git checkout -q main",
        ),
        (
            "git update-ref refs/worktree/mine $(git commit-tree -m mine HEAD^{tree})",
            "git update-ref -d refs/worktree/mine",
        ),
        ("git rm -q --cached a.txt", "git reset -q"),
        (
            "true",
            "echo ok > build.sh; git add build.sh; git commit -qm b; git update-index --skip-worktree build.sh",
        ),
        (
            "true",
            "git checkout -q -b big; echo e > .envrc; git add .envrc; git commit -qm e; for i in $(seq 1001); do \
             printf 'commit refs/heads/big\\ncommitter A <a@x> %s +0000\\ndata 0\\n' $i; \
             [ $i != 1 ] || echo from refs/heads/big^0; done | git fast-import --quiet; git checkout -qf main",
        ),
        (
            "git worktree add -q ../wt -b wt",
            "B=$(echo evil | git hash-object -w --stdin); GIT_DIR=.git/worktrees/wt git update-index --add \
             --cacheinfo 100644,$B,.envrc",
        ),
        (
            "git checkout -q -b s && echo s > a.txt && git commit -qam S && git checkout -q main && echo m > a.txt && \
             git commit -qam M && { git merge -q s || true; }",
            "git add a.txt",
        ),
    ];
    for (before, line) in CASES {
        let Some(b) = repository(before) else { return };
        let list = "git for-each-ref; git rev-parse HEAD; git ls-files -s -v; git status --porcelain";
        assert_eq!(b.sh(&b.tree, &format!("({list}) > ../was")), 0, "{before}");
        let out =
            b.run(["--provider", "offline", "--mode", "write", "-p", &format!("run {IDENTITY} {line}")]);
        assert_eq!(b.sh(&b.tree, &format!("({list}) | diff ../was -")), 0, "{line}: {out:#?}");
        assert!(out.stdout.contains("pending"), "{line}: {out:#?}");
    }
}

/// Story: a project in a directory of this name was taken for a linked worktree, and its repository applied as files.
#[test]
fn a_repository_in_a_directory_named_worktrees_is_one() {
    let Some(b) = repository(
        "mkdir worktrees && git init -q -b main worktrees && git -C worktrees -c user.name=A \
        -c user.email=a@x commit -q --allow-empty -m W && git -C worktrees branch keep",
    ) else {
        return;
    };
    let line = format!(
        "{IDENTITY} cd worktrees; git branch -D keep; echo junk > .git/objects/pack/pack-zz.rev; touch .git/odd"
    );
    b.run(["--provider", "offline", "--mode", "write", "-p", &format!("run {line}")]);
    let kept = "git -C worktrees rev-parse -q --verify keep && test ! -e worktrees/.git/odd";
    assert_eq!(b.sh(&b.tree, &format!("{kept} && test ! -e worktrees/.git/objects/pack/pack-zz.rev")), 0);
}
