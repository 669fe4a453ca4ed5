//! A commit that changes a file that runs later is not applied with the rest, whatever ref leads to it: the next push takes
//! it along. Nothing of its repository is applied, so that git sees a repository as it was.

use crate::support::binary::Out;
use crate::support::pty;
use crate::support::pty::joined;
use crate::support::require::has_view;
use crate::support::require::require;
use crate::support::some_of;
use crate::support::txn::Txn;
use std::path::Path;

/// A repository with two commits on main, a branch `old` at the first of them, and a branch `other` from there that adds
/// `.mcp.json`.
const BEFORE: &str = "git init -q -b main . && echo one > a.txt && echo x > .envrc && git add . && git commit -qm First
    && echo two > a.txt && git commit -qam Second && git switch -q -c other HEAD~1 && echo {} > .mcp.json && git add .
    && git commit -qm Other && git switch -q main && git branch old HEAD~1";

pub(super) const IDENTITY: &str = "export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@x GIT_COMMITTER_NAME=A \
    GIT_COMMITTER_EMAIL=a@x GIT_EDITOR=true GIT_TERMINAL_PROMPT=0;";

/// Each ends with a repository that has a change of a protected file which it did not have at that place.
const HOSTILE: [(&str, &str); 56] = [
    ("commit", "echo y > .envrc; git commit -qam x"),
    ("amend", "echo y > .envrc; git commit -qa --amend -m x"),
    ("index", "echo y > .envrc; git add ."),
    (
        "index of a file that is not there",
        "git update-index --add --cacheinfo 100644,$(echo y | git hash-object -w --stdin),.mcp.json",
    ),
    ("removal", "git rm -q .envrc; git commit -qm x"),
    ("removal from the index", "git rm -q --cached .envrc"),
    ("rename into place", "git mv a.txt .gitlab-ci.yml; git commit -qm x"),
    ("rename out of place", "git mv .envrc plain; git commit -qm x"),
    (
        "added and removed",
        "echo y > .mcp.json; git add .; git commit -qm x; git rm -q .mcp.json; git commit -qm y",
    ),
    ("another branch", "git switch -q -c new; echo y > .envrc; git commit -qam x; git switch -q main"),
    (
        "fast-forward to a branch that was there",
        "git switch -q old; git merge -q --ff-only other; git switch -q main",
    ),
    ("branch moved to a commit that was there", "git branch -q -f old other"),
    ("merge", "git merge -q --no-ff -m x other"),
    (
        "merge in progress",
        "git switch -q -c new; echo y > .envrc; git commit -qam x; git switch -q main; \
         git merge -q --no-commit --no-ff -s ours new; git branch -q -D new",
    ),
    ("rebase", "git rebase -q other"),
    ("cherry-pick", "git cherry-pick other"),
    ("stash", "echo y > .envrc; git stash push -q"),
    ("stash of a stash", "echo y > .envrc; git stash push -q; echo z > a.txt; git stash push -q"),
    (
        "tag alone",
        "echo y > .mcp.json; git add .; git tag t $(git commit-tree -m x $(git write-tree)); git reset -q --hard",
    ),
    (
        "a tag of a tag of a tree",
        "echo y > .mcp.json; git add .; git tag -a -m x t $(git write-tree); git tag -a -m y u t; git tag -d t; git reset -q --hard",
    ),
    (
        "a directory with an odd mode",
        r#"mkdir .vscode; echo y > .vscode/tasks.json; git add .; d=$(git rev-parse $(git write-tree):.vscode);
            { printf '40001 .vscode\0'; printf %s $d | perl -pe 's/(..)/chr hex $1/ge'; } > tree;
            git tag t $(git hash-object -w -t tree --literally tree); rm tree; git reset -q --hard"#,
    ),
    ("shallow hides a removal", "git rm -q .envrc; git commit -qm x; git rev-parse HEAD > .git/shallow"),
    (
        "shallow hides a commit",
        "echo {} > .mcp.json; git add .; git commit -qm x; git rm -q .mcp.json; git commit -qm y; \
         git rev-parse HEAD > .git/shallow",
    ),
    ("replaced file", "git replace $(git rev-parse HEAD:.envrc) $(echo y | git hash-object -w --stdin)"),
    (
        "ref to what is no ref",
        "git rev-parse HEAD > .git/ORIG_HEAD; echo 'ref: ORIG_HEAD' > .git/refs/heads/feature",
    ),
    ("branch that follows a tag", "git tag t; echo 'ref: refs/tags/t' > .git/refs/heads/feature"),
    (
        "several lines for one packed ref",
        r#"git pack-refs --all; e=$(git rev-parse other); for n in 1 2 3 4 5; do
            sed -i "0,/^[0-9a-f]* refs.heads.old$/s,^[0-9a-f]* refs.heads.old$,$e refs/heads/old\n&," .git/packed-refs; done"#,
    ),
    (
        "another blank in a packed ref",
        r#"git pack-refs --all; e=$(git rev-parse other);
            sed -i "s,^[0-9a-f]* refs.heads.old$,$e\trefs/heads/old," .git/packed-refs"#,
    ),
    (
        "long list of stash entries",
        r#"echo y > .envrc; git stash push -q; s=$(git rev-parse refs/stash); git stash drop -q; echo z > a.txt;
            git stash push -q; l=$(cat .git/logs/refs/stash); { printf "%040d $s A <a@x> 1700000000 +0000\t" 0;
            head -c 4194304 /dev/zero | tr '\0' W; echo; echo "$s ${l#* }"; } > .git/logs/refs/stash"#,
    ),
    ("long list of commits to merge", r#"yes $(git rev-parse other) | head -103000 > .git/MERGE_HEAD"#),
    ("name of a branch to merge", "echo other > .git/MERGE_HEAD"),
    ("HEAD on a branch whose file differs", "git symbolic-ref HEAD refs/heads/other"),
    ("announced in place of a file", "git rm -q --cached .envrc; git add -N .envrc"),
    ("branch back before the file", "git branch -q new other; git branch -q -f other old"),
    (
        "autostash of a merge",
        "echo y > .envrc; git stash create > .git/MERGE_AUTOSTASH; git checkout -q .envrc; git rev-parse HEAD > .git/MERGE_HEAD",
    ),
    (
        "autostash of a rebase",
        "echo y > .envrc; s=$(git stash create); git checkout -q .envrc; git switch -q -c new old; echo 3 > a.txt; \
         git commit -qam 3; git rebase -q main || true; echo $s > .git/rebase-merge/autostash",
    ),
    (
        "versions in conflict",
        r#"b=$(echo y | git hash-object -w --stdin); { printf "0 %040d\t.envrc\n" 0;
            for n in 1 2 3; do printf "100644 $b $n\t.envrc\n"; done; } | git update-index --index-info
            git rev-parse HEAD > .git/MERGE_HEAD"#,
    ),
    (
        "words after a ref that is packed, too",
        "git pack-refs --all; echo $(git rev-parse other) x > .git/refs/heads/old",
    ),
    (
        "refs that look like a repository",
        "mkdir -p .git/refs/objects .git/refs/refs .git/refs/hooks; git update-ref refs/heads/old other",
    ),
    ("ORIG_HEAD", "e=$(EVIL); echo $e > .git/ORIG_HEAD"),
    ("FETCH_HEAD", r#"e=$(EVIL); printf "$e\t\tbranch 'main' of x\n" > .git/FETCH_HEAD"#),
    (
        "what a merge stashed",
        "e=$(EVIL); git rev-parse HEAD > .git/MERGE_HEAD; echo $e > .git/MERGE_AUTOSTASH",
    ),
    (
        "step of a rebase",
        "e=$(EVIL); mkdir .git/rebase-merge; echo pick $e x > .git/rebase-merge/git-rebase-todo",
    ),
    (
        "short name in a step",
        "e=$(EVIL); mkdir .git/sequencer; echo pick $(echo $e | cut -c1-9) x > .git/sequencer/todo",
    ),
    ("where a rebase began", "e=$(EVIL); mkdir .git/rebase-merge; echo $e > .git/rebase-merge/orig-head"),
    (
        "graph with another tree",
        r#"git commit-graph write --reachable; echo y > .envrc; git add .; t=$(git write-tree); git reset -q --hard
            perl -0777 -pi -e 'BEGIN { ($a, $b) = map { pack "H*", $_ } splice @ARGV, 0, 2 } s/\Q$a\E/$b/g' \
                $(git rev-parse HEAD^{tree}) $t .git/objects/info/commit-graph"#,
    ),
    (
        "pack with another content of a file",
        r#"f=$(git rev-parse HEAD:.envrc); o=$(echo y | git hash-object -w --stdin); cd .git/objects/pack; p=$(echo $o | git pack-objects -q pack); chmod u+w *
            perl -0777 -pi -e 'BEGIN { ($a, $b) = map { pack "H*", $_ } splice @ARGV, 0, 2 }
                substr($_, 8, 1024) = pack "N256", map { $_ >= ord $b } 0 .. 255; s/\Q$a\E/$b/' $o $f pack-$p.idx; cd ../../..;
            test y = $(git show HEAD:.envrc)"#,
    ),
    ("list of packs", "git repack -qad; git multi-pack-index write"),
    (
        "resolved conflict",
        r#"b=$(echo y | git hash-object -w --stdin); { printf "0 %040d\t.envrc\n" 0;
            for n in 1 2 3; do printf "100644 $b $n\t.envrc\n"; done; } | git update-index --index-info
            git add .envrc; git diff --cached --quiet"#,
    ),
    (
        "where HEAD was in its log",
        r#"e=$(EVIL); printf "$e $(git rev-parse HEAD) A <a@x> 1700000000 +0000\treset: moving to x\n" >> .git/logs/HEAD"#,
    ),
    (
        "where a branch was in its log",
        r#"e=$(EVIL); printf "$e $(git rev-parse main) A <a@x> 1700000000 +0000\tx\n" >> .git/logs/refs/heads/main"#,
    ),
    (
        "short name in the log",
        r#"e=$(EVIL); h=$(git rev-parse HEAD)
            printf "$h $h A <a@x> 1700000000 +0000\tcheckout: moving from %.9s to main\n" $e >> .git/logs/HEAD"#,
    ),
    (
        "expression in the log",
        r#"h=$(git rev-parse HEAD)
            printf "$h $h A <a@x> 1700000000 +0000\tcheckout: moving from other~0 to main\n" >> .git/logs/HEAD"#,
    ),
    (
        "expression in a step",
        "mkdir .git/rebase-merge; echo pick other~0 x > .git/rebase-merge/git-rebase-todo",
    ),
    (
        "name of a branch where a rebase began",
        "mkdir .git/rebase-merge; echo other > .git/rebase-merge/orig-head",
    ),
    ("short name where a search began", "e=$(EVIL); echo $e | cut -c1-9 > .git/BISECT_START"),
];

/// None of these gives a protected file another content than it had.
const HARMLESS: [(&str, &str); 34] = [
    ("commit", "echo three > a.txt; git commit -qam x"),
    ("amend", "git commit -q --amend -m x"),
    ("add", "echo three > a.txt; git add a.txt"),
    ("branch", "git branch new other"),
    ("switch", "git switch -q --detach HEAD~1; git switch -q -c new"),
    ("tag", "git tag -a -m x t other"),
    ("stash", "echo three > a.txt; git stash push -q"),
    ("reset", "git reset -q --soft HEAD~1"),
    ("gc", "git gc -q --prune=now"),
    ("pack-refs", "git pack-refs --all"),
    ("notes", "git notes add -m x"),
    ("branch renamed", "git branch -m other another"),
    ("hard reset", "git reset -q --hard HEAD~1"),
    ("HEAD on another branch", "git symbolic-ref HEAD refs/heads/old"),
    (
        "merge",
        "git switch -q -c new old; echo b > b; git add .; git commit -qm b; git switch -q main; \
         git merge -q --no-ff -m m new",
    ),
    (
        "directories in the index",
        "mkdir -p d/e f.d; echo x > d/e/f; echo x > d.x; echo x > f.d/g; git add .; git commit -qm x; \
         echo y > f.d/g; echo z > d/e/z; git add f.d; git add -N d",
    ),
    (
        "index in another format",
        "mkdir d; echo x > d/e; git -c index.threads=2 -c index.version=4 add .; git commit -qm x; \
         echo y > d/f; git -c index.threads=2 add .",
    ),
    ("an announced file", "echo n > n; git add -N n"),
    ("orphan branch", "git switch -q --orphan empty; git checkout -q main -- ."),
    (
        "merge with an autostash",
        "git switch -q -c new old; echo b > b; git add .; git commit -qm b; echo 3 > a.txt; git commit -qam 3; \
         echo bb > b; git merge -q --autostash main || test -e .git/MERGE_AUTOSTASH",
    ),
    (
        "rebase with an autostash",
        "git switch -q -c new old; echo b > b; git add .; git commit -qm b; echo 3 > a.txt; git commit -qam 3; \
         echo bb > b; git rebase -q --autostash main || test -e .git/rebase-merge/autostash",
    ),
    ("conflict", "git switch -q -c new old; echo 3 > a.txt; git commit -qam 3; git merge -q main || true"),
    (
        "rebase that stops",
        "git switch -q -c new old; echo 3 > a.txt; git commit -qam 3; git rebase -q main || true",
    ),
    (
        "picks of which the first stops",
        "git switch -q -c new old; echo 3 > a.txt; git commit -qam 3; git commit -q --allow-empty -m 4; \
         git cherry-pick main new || true",
    ),
    (
        "rebase with a stash",
        "git switch -q -c new old; echo n > n; git add n; git commit -qm n; echo l > l; git add l; \
         git rebase -q --autostash main",
    ),
    (
        "graph with a merge of three",
        "for n in 1 2; do git switch -q -c n$n old; echo $n > f$n; git add .; git commit -qm $n; done; \
         git switch -q main; git merge -q -m m n1 n2; git commit-graph write --reachable",
    ),
    (
        "fetch",
        "git clone -q . ../c; cd ../c; echo n > n; git add n; git commit -qm n; cd - > /dev/null; git fetch -q ../c; \
         git merge -q FETCH_HEAD",
    ),
    ("repack", "git repack -qad; git commit -q --allow-empty -m x; git repack -qadf"),
    ("packs one after another", "git repack -qd; git commit -q --allow-empty -m x; git repack -qd"),
    (
        "conflict that is resolved",
        "git switch -q -c new old; echo 3 > a.txt; git commit -qam 3; git merge -q main || true; echo 4 > a.txt; \
         git add a.txt; git commit -qm 4",
    ),
    (
        "rebase with merges that stops",
        "git switch -q -c new old; echo b > b; git add b; git commit -qm b; git switch -q -c top old; echo 3 > a.txt; \
         git commit -qam 3; git merge -q -m m new; git rebase -q -r main || test -s .git/rebase-merge/git-rebase-todo",
    ),
    ("bisect", "git bisect start; git bisect bad; git bisect good HEAD~1; git bisect reset"),
    ("bisect of a detached HEAD", "git switch -q --detach; git bisect start; git bisect bad"),
    (
        "branches renamed and deleted",
        "git switch -q -c a/b; echo 3 > a.txt; git commit -qam 3; git branch -m c; git switch -q -; git branch -D c; \
         git checkout -q old; git checkout -q -; git reflog expire --expire=now --all",
    ),
];

/// Prints the name of a commit that no ref leads to.
const EVIL: &str =
    "echo y > .envrc; git add .; git commit-tree -m e -p HEAD $(git write-tree); git reset -q --hard";

/// What git says of the repository in the workspace, without the files of its work tree.
pub(super) fn state(txn: &Txn) -> String {
    const STATE: &str = "export GIT_OPTIONAL_LOCKS=0; git status > /dev/null && (git fsck --full --no-progress \
        --no-dangling && git for-each-ref && cat .git/HEAD && git ls-files -s && git ls-files --resolve-undo && \
        git stash list && find .git/*HEAD .git/MERGE_AUTOSTASH .git/BISECT_START .git/logs .git/rebase-merge .git/sequencer \
        .git/objects/info .git/objects/pack -type f -exec md5sum \
        {} + | sort) > ../state 2>&1";
    txn.sh(&txn.tree, STATE);
    std::fs::read_to_string(txn.base.join("state")).unwrap()
}

pub(super) fn begun() -> Txn {
    let txn = Txn::on_disk();
    assert_eq!(txn.sh(&txn.tree, &format!("{IDENTITY} {}", BEFORE.replace('\n', " "))), 0);
    txn
}

fn after_turn(agent: &str) -> Txn {
    let txn = begun();
    turn(&txn, agent);
    txn
}

/// A turn that leaves nothing pending ends with 0: what git keeps for itself is not applied.
pub(super) fn turn(txn: &Txn, agent: &str) {
    let script = format!("{IDENTITY} {}", agent.replace("EVIL", EVIL));
    let turn = ["-p", "run eval \"$AGENT_SCRIPT\"", "--mode", "ask"];
    let out = txn.placet(turn).env("AGENT_SCRIPT", &script).go();
    assert!([0, 3].contains(&out.code) && !out.stderr.contains("exit code"), "{agent}: {out:#?}");
}

/// What is pending of a repository waits for an answer of its own, or is refused in one sentence.
pub(super) fn is_held(listed: &Out, repository: &str) -> bool {
    let waits = has_row(listed, &format!("! M {repository} ("));
    waits || has_row(listed, &format!("{repository}: not applied: ")) || listed.stdout.is_empty()
}

pub(super) fn has_row(out: &Out, begin: &str) -> bool {
    out.stdout.lines().any(|row| row.starts_with(begin))
}

#[test]
fn a_repository_with_a_commit_of_a_protected_file_waits_as_a_whole() {
    if !has_view() || !require("git") {
        return;
    }
    for (title, agent) in some_of(&HOSTILE, 3) {
        let txn = after_turn(agent);
        let listed = txn.run(["changes"]);
        assert!(is_held(&listed, ".git"), "{title}: {listed:#?}");
        let before = state(&txn);
        assert!(!before.contains("error"), "{title}: {before}");
        // Neither the apply of everything nor that of the repository as one path of several applies any of it.
        for args in [&["apply"][..], &["apply", ".git"]] {
            let out = txn.run(args);
            assert_eq!(before, state(&txn), "{title}: {out:#?}");
            assert!(out.code != 0 || listed.stdout.is_empty(), "{title}: {out:#?}");
        }
        let is_refused = listed.stdout.contains("is no regular file");
        if is_refused || !has_row(&listed, "! M .git (") {
            continue;
        }
        let out = txn.run(["apply", "--apply-protected", ".git"]);
        assert!(!out.stdout.contains("not applied: .git: "), "{title}: {out:#?}");
        assert!(!has_row(&txn.run(["changes"]), "! M .git ("), "{title}");
        assert_ne!(before, state(&txn), "{title}");
    }
}

/// A path at which nothing is pending says nothing of the repository around it.
#[test]
fn the_name_of_a_file_that_did_not_change_approves_no_repository() {
    if !has_view() || !require("git") {
        return;
    }
    let txn = after_turn("echo {} > .mcp.json; git add .; git commit -qm x; rm .mcp.json");
    let before = state(&txn);
    for path in [".git/hooks/pre-commit", ".git/refs", ".git/description-2"] {
        let out = txn.run(["apply", "--apply-protected", path]);
        assert_ne!(out.code, 0, "{path}: {out:#?}");
        assert_eq!(before, state(&txn), "{path}");
    }
    assert_eq!(txn.run(["apply", "--apply-protected", ".git/index"]).code, 0);
    assert_ne!(before, state(&txn));
}

#[test]
fn a_repository_whose_protected_files_stay_as_they_were_is_applied_with_the_rest() {
    if !has_view() || !require("git") {
        return;
    }
    for (title, agent) in some_of(&HARMLESS, 3) {
        let txn = after_turn(agent);
        let listed = txn.run(["changes"]);
        // An operation in progress waits for an answer of its own.
        let waits = listed.stdout.contains(" in progress");
        assert_eq!(has_row(&listed, "! "), waits, "{title}: {listed:#?}");
        let args = ["apply", "--apply-protected", ".git"];
        let out = txn.run(if waits { &args[..] } else { &args[..1] });
        assert_eq!(out.code, 0, "{title}: {out:#?}");
        assert_eq!(txn.run(["changes"]).stdout, "", "{title}");
    }
}

/// What git does not read is refused in one sentence, and the command in it works.
#[test]
fn a_repository_that_cannot_be_read_is_refused() {
    if !has_view() || !require("git") {
        return;
    }
    let unread = [
        (
            "missing object",
            r"echo three > a.txt; git commit -qam x; rm .git/objects/$(git rev-parse HEAD^{tree} | sed s,^..,\&/,)",
        ),
        ("link", "git branch new; ln -sf other .git/refs/heads/new"),
        ("damaged index", "printf DIRC > .git/index"),
    ];
    for (title, agent) in unread {
        let txn = after_turn(agent);
        let listed = txn.run(["changes"]);
        assert!(has_row(&listed, ".git: not applied: "), "{title}: {listed:#?}");
        let before = state(&txn);
        let out = txn.run(["apply"]);
        assert_ne!(out.code, 0, "{title}: {out:#?}");
        assert!((out.stdout + &out.stderr).contains("`placet discard .git` drops its changes"), "{title}");
        assert_eq!(state(&txn), before, "{title}");
        assert_eq!(txn.run(["discard", ".git"]).code, 0, "{title}");
        assert!(!txn.run(["changes"]).stdout.contains(".git"), "{title}");
    }
}

/// The author's settings name more paths, and links lead to them.
#[test]
fn paths_of_the_person_and_links_count_in_commits_too() {
    if !has_view() || !require("git") {
        return;
    }
    const OWN: &str = "permission.protected=[\"ops/\"]";
    let txn = begun();
    let script = format!("{IDENTITY} mkdir ops; echo x > ops/run.txt; git add .; git commit -qm x");
    let turn = ["-p", "run eval \"$AGENT_SCRIPT\"", "--mode", "ask", "--set", OWN];
    let out = txn.placet(turn).env("AGENT_SCRIPT", &script).go();
    assert_eq!(out.code, 3, "{out:#?}");
    assert!(has_row(&txn.run(["changes", "--set", OWN]), "! M .git ("));

    let txn = begun();
    txn.sh(&txn.tree, "mkdir -p .github/workflows; ln -s ../../real.yml .github/workflows/ci.yml");
    let script = format!("{IDENTITY} echo x > real.yml; git add real.yml; git commit -qm x");
    let out =
        txn.placet(["-p", "run eval \"$AGENT_SCRIPT\"", "--mode", "ask"]).env("AGENT_SCRIPT", &script).go();
    assert_eq!(out.code, 3, "{out:#?}");
    assert!(has_row(&txn.run(["changes"]), "! M .git ("));
}

fn git(tree: &Path, args: &[&str]) -> String {
    let mut git = std::process::Command::new("git");
    let out = git.arg("-C").arg(tree).args(args).env("GIT_OPTIONAL_LOCKS", "0").output().unwrap();
    assert!(out.status.success(), "{out:?}");
    String::from_utf8(out.stdout).unwrap()
}

/// V1: after `a`, `git show` had the workflow that `a` was said to leave out.
#[test]
fn the_key_for_all_leaves_out_the_commit_with_the_marked_file() {
    if !has_view() || !require("git") {
        return;
    }
    let mut pty = pty::shell().size(120, 40).arg("--mode").arg("ask").file("notes.txt", "one\n").open();
    pty.line(
        "!git init -q -b main . && git config user.name A && git config user.email a@x && git add . && git commit -qm F && echo made",
    );
    pty.until("the repository", |s| s.lines().any(|line| line.trim_end() == "made"));
    pty.line(
        "run mkdir -p .github/workflows; echo 'on: push' > .github/workflows/ci.yml; echo two > notes.txt; \
         git add -A; git commit -qm CI",
    );
    pty.until("the question", |s| s.contains("Apply all but the 2 marked !"));
    let screen = pty.screen();
    assert!(screen.contains("! M .git (") && screen.contains("! A .github/workflows/ci.yml"), "{screen}");
    assert!(screen.contains("on main changes .github/workflows/ci.yml: GitHub runs it"), "{screen}");
    pty.answer("a");
    pty.until("the file", |s| s.contains("ci.yml (created): apply this file?"));
    assert_eq!(pty.read("notes.txt"), "two\n");
    pty.answer("n");
    pty.until("the repository", |s| s.contains(".git (changed): apply this repository?"));
    let screen = pty.screen();
    assert!(screen.contains("commit") && screen.contains("\"CI\" on"), "{screen}");
    pty.answer("n");
    pty.until("what is left", |s| s.contains("are pending: /apply, /review, /discard"));
    let tree = pty.tree.path().to_path_buf();
    assert_eq!(git(&tree, &["log", "--format=%s"]), "F\n");
    assert_eq!(git(&tree, &["status", "--porcelain"]), " M notes.txt\n");
    git(&tree, &["fsck", "--full"]);
    pty.line("/apply .");
    pty.until("that it stays", |s| s.contains("not applied: .git: commit"));
    pty.line("/apply .git");
    pty.until("that it is applied", |_| git(&tree, &["log", "--format=%s"]) == "CI\nF\n");
    assert_eq!(git(&tree, &["status", "--porcelain"]), " D .github/workflows/ci.yml\n");
}

/// The question about the repository applies it whole.
#[test]
fn the_question_about_the_repository_applies_and_undo_reverts_it() {
    if !has_view() || !require("git") {
        return;
    }
    let mut pty = pty::shell().size(120, 40).arg("--mode").arg("ask").file("notes.txt", "one\n").open();
    pty.line(
        "!git init -q -b main . && git config user.name A && git config user.email a@x && git add . && git commit -qm F && echo made",
    );
    pty.until("the repository", |s| s.lines().any(|line| line.trim_end() == "made"));
    // Nothing but the repository changes: the question about it is the only one.
    pty.line("run echo {} > .mcp.json; git add .; git commit -qm M; rm .mcp.json");
    pty.until("the repository", |s| s.contains(".git (changed): apply this repository?"));
    let tree = pty.tree.path().to_path_buf();
    let log = || git(&tree, &["log", "--format=%s"]);
    assert_eq!(log(), "F\n");
    pty.answer("y");
    pty.until("that it is applied", |_| log() == "M\nF\n");
    pty.line("/undo");
    pty.until("that it is undone", |_| log() == "F\n");
}

/// A repository with one commit of a workflow that is longer than the screen and of a small file. Nothing of it is in the work
/// tree, so that the question about the repository is the only one.
fn question_about_a_long_commit(columns: u16, rows: u16) -> pty::Pty {
    let mut pty = pty::shell().size(columns, rows).arg("--mode").arg("ask").file("notes.txt", "one\n").open();
    pty.line(
        "!git init -q -b main . && git config user.name A && git config user.email a@x && git add . && git commit -qm F && echo made",
    );
    pty.until("the repository", |s| s.lines().any(|line| line.trim_end() == "made"));
    pty.line(
        "run mkdir -p .github/workflows; seq -f 'step %g' 90 > .github/workflows/ci.yml; git add -A; git commit -qm CI; \
         rm -r .github",
    );
    pty.until("the question", |s| joined(s).contains(".git (changed): apply this repository?"));
    pty
}

/// Story: one `y` applied a commit with a workflow whose row had never been opened.
#[test]
fn a_commit_that_was_not_shown_needs_a_second_yes_and_the_first_one_opens_it() {
    if !has_view() || !require("git") {
        return;
    }
    for (columns, rows) in [(80, 24), (40, 24)] {
        let mut pty = question_about_a_long_commit(columns, rows);
        let tree = pty.tree.path().to_path_buf();
        let log = || git(&tree, &["log", "--format=%s"]);
        // The person has closed it again: then nothing of it is on the screen.
        if pty.screen().contains("step 1") {
            pty.by_hand(" ");
            pty.until("the closed row", |s| !s.contains("step 1"));
        }
        pty.answer("y");
        pty.until("what was not shown", |s| joined(s).contains("not all of commit") && s.contains("[Back]"));
        let words = joined(&pty.screen());
        assert!(!words.contains("COMMIT_EDITMSG") && !words.contains("other file"), "{words}");
        pty.until("the commit", |s| s.contains("step 1"));
        assert_eq!(log(), "F\n", "one yes applied what was not shown");
        pty.answer("y");
        pty.until("that it is applied", |_| log() == "CI\nF\n");
    }
}

/// Who has seen all of it answers once.
#[test]
fn a_commit_that_was_shown_whole_needs_one_yes() {
    if !has_view() || !require("git") {
        return;
    }
    let mut pty = question_about_a_long_commit(80, 24);
    // Each row counts once it was drawn.
    for _ in 0..140 {
        pty.send("\x1b[B");
        std::thread::sleep(std::time::Duration::from_millis(40));
    }
    pty.until("the end of the commit", |s| s.contains("step 90"));
    let tree = pty.tree.path().to_path_buf();
    pty.answer("y");
    pty.until("that it is applied", |_| git(&tree, &["log", "--format=%s"]) == "CI\nF\n");
}
