//! Protected files in commits that something hides: what an earlier turn or the person left, and the look of a directory.

use super::hostile_commits::{IDENTITY, begun, has_row, is_held, state, turn};
use crate::support::require::has_view;
use crate::support::require::require;
use crate::support::some_of;
use std::path::Path;

/// The same with what the person did before, and with an earlier turn that was applied.
const HOSTILE_LATER: [(&str, &str, &str, &str, &str); 18] = [
    (
        "merge that brings an old file back",
        "echo bad > .envrc; git commit -qam E; echo good > .envrc; git commit -qam R",
        "",
        "git reset -q --soft $(git commit-tree -m M -p HEAD -p HEAD~1 HEAD~1^{tree})",
        ".git",
    ),
    (
        "replaced directory",
        "mkdir -p .github/workflows; echo ok > .github/workflows/ci.yml; git add .; git commit -qm W",
        "",
        r#"git replace $(git rev-parse HEAD:.github/workflows) \
            $(printf "100644 blob %s\tci.yml\n" $(echo y | git hash-object -w --stdin) | git mktree)"#,
        ".git",
    ),
    (
        "another tree in the index",
        "mkdir -p .github/workflows; echo ok > .github/workflows/ci.yml; git add .; git commit -qm W; git status",
        "",
        r#"d() { printf "040000 tree %s\t$1\n" $2 | git mktree; }
            f=$(printf "100644 blob %s\tci.yml\n" $(echo y | git hash-object -w --stdin) | git mktree)
            perl -0777 -pi -e 'BEGIN { ($a, $b) = map { pack "H*", $_ } splice @ARGV, 0, 2 } s/\Q$a\E/$b/' \
                $(git rev-parse HEAD:.github) $(d workflows $f) .git/index"#,
        ".git",
    ),
    (
        "submodule at a protected place",
        "git init -q ../sub; (cd ../sub; echo {} > settings.json; git add .; git commit -qm S); \
         git -c protocol.file.allow=always submodule --quiet add $PWD/../sub .claude; git commit -qm Sub",
        "",
        "cd .claude; git switch -q -c z; echo '{\"hooks\":1}' > settings.json; git commit -qam x; git switch -q -",
        ".git",
    ),
    (
        "bare repository with a link",
        r#"git init -q --bare b.git; cd b.git; l=$(printf env | git hash-object -w --stdin)
            t=$(printf "120000 blob $l\t.envrc\n100644 blob %s\tenv\n" $(echo ok | git hash-object -w --stdin) | git mktree)
            git update-ref refs/heads/main $(git commit-tree -m L $t)"#,
        "",
        r#"cd b.git; l=$(printf env | git hash-object -w --stdin)
            t=$(printf "120000 blob $l\t.envrc\n100644 blob %s\tenv\n" $(echo y | git hash-object -w --stdin) | git mktree)
            git update-ref refs/heads/main $(git commit-tree -p main -m x $t)"#,
        "b.git",
    ),
    (
        "link on another branch",
        "git switch -q -c lk; rm .envrc; ln -s env .envrc; echo ok > env; git add .; git commit -qm L; git switch -q main",
        "",
        "git worktree add -q wt lk; cd wt; echo y > env; git commit -qam x; cd ..; git worktree remove wt",
        ".git",
    ),
    (
        "completed in another turn",
        "",
        "git init -q x; cd x; echo {} > .mcp.json; git add .; git commit -qm x; rm .mcp.json; mv .git/HEAD .git/H; \
         mv .git/objects .git/o",
        "cd x; mv .git/H .git/HEAD; mv .git/o .git/objects",
        "x/.git",
    ),
    (
        "the other half of a split index",
        "git update-index --split-index",
        "",
        r#"perl -0777 -pi -e 'BEGIN { ($a, $b) = map { pack "H*", $_ } splice @ARGV, 0, 2 } s/\Q$a\E/$b/' \
            $(git rev-parse HEAD:.envrc) $(echo y | git hash-object -w --stdin) .git/sharedindex.*"#,
        ".git",
    ),
    (
        "a directory of a sparse index",
        "mkdir -p h .github/workflows; echo h > h/h; echo ok > .github/workflows/ci.yml; git add .; git commit -qm W
         git sparse-checkout set --sparse-index h; git ls-files --sparse | grep -qx .github/",
        "",
        r#"export GIT_INDEX_FILE=.git/other; git read-tree HEAD
            git update-index --add --cacheinfo 100644,$(echo y | git hash-object -w --stdin),.github/workflows/ci.yml
            t=$(git write-tree); unset GIT_INDEX_FILE; rm .git/other; git read-tree -m $t; git ls-files --sparse | grep -qx .github/"#,
        ".git",
    ),
    (
        "a directory of a sparse index that stays behind a branch",
        "mkdir -p h .github/workflows; echo h > h/h; echo bad > .github/workflows/ci.yml; git add .; git commit -qm B
         echo ok > .github/workflows/ci.yml; git commit -qam W
         git sparse-checkout set --sparse-index h; git ls-files --sparse | grep -qx .github/",
        "",
        "git update-ref refs/heads/main HEAD~1",
        ".git",
    ),
    (
        "a directory of a sparse index without its slash",
        "mkdir -p h .github/workflows; echo h > h/h; echo ok > .github/workflows/ci.yml; git add .; git commit -qm W
         git sparse-checkout set --sparse-index h; git ls-files --sparse | grep -qx .github/",
        "",
        r"perl -0777 -pi -e 's/\.github\//.githubx/; s/TREE/XREE/' .git/index",
        ".git",
    ),
    (
        "a file that git did not look at and that is not there",
        "mkdir -p h .github/workflows; echo h > h/h; echo ok > .github/workflows/ci.yml; git add .; git commit -qm W
         git sparse-checkout set h",
        "",
        "git sparse-checkout disable",
        ".git",
    ),
    (
        "a directory that an index has as a file",
        "",
        "",
        r#"t=$(printf "100644 blob %s\t.envrc\n" $(echo y | git hash-object -w --stdin) | git mktree)
            git update-index --add --cacheinfo 100644,$t,sub
            perl -0777 -pi -e 'BEGIN { $n = pack "H*", shift } s/\x81\xa4(.{12})\Q$n\E/\x41\xed$1$n/s' $t .git/index
            git ls-files -s | grep -q 040755"#,
        ".git",
    ),
    (
        "repository that a file names",
        "mkdir store; git init -q --separate-git-dir=store/r .claude; cd .claude; echo {} > settings.json; git add .; \
         git commit -qm s",
        "",
        "cd .claude; echo '{\"hooks\":1}' > settings.json; git commit -qam x; git branch z; git reset -q --hard HEAD~1",
        "store/r",
    ),
    (
        "repository that a file names, and that says it is bare",
        "mkdir store; git init -q --separate-git-dir=store/r .claude; cd .claude; echo {} > settings.json; git add .; \
         git commit -qm s",
        "",
        "cd .claude; echo '{\"hooks\":1}' > settings.json; git commit -qam x; git branch z; git reset -q --hard HEAD~1; git config core.bare true",
        "store/r",
    ),
    (
        "object that was in a pack",
        "git gc -q",
        "",
        r#"mv .git/objects/pack/*.pack p; rm -f .git/objects/pack/*; git unpack-objects -q < p; rm -f p
            f=$(git rev-parse HEAD:.envrc); cd .git/objects/$(echo $f | cut -c1-2); chmod u+w *
            printf 'blob 2\0y\n' | perl -MCompress::Zlib -0777 -ne 'print compress($_)' > $(echo $f | cut -c3-); cd ../../..;
            test y = $(git show HEAD:.envrc)"#,
        ".git",
    ),
    (
        "object that the repository does not have",
        r#"git gc -q; touch $(ls .git/objects/pack/*.pack | sed s/pack$/promisor/); b=$(echo later | git hash-object --stdin)
            git update-index --add --cacheinfo 100644,$b,.gitlab-ci.yml
            git update-ref refs/heads/main $(git commit-tree -p HEAD -m Later $(git write-tree --missing-ok))"#,
        "",
        r#"f=$(git rev-parse HEAD:.gitlab-ci.yml); mkdir -p .git/objects/$(echo $f | cut -c1-2); cd .git/objects/$(echo $f | cut -c1-2)
            printf 'blob 2\0y\n' | perl -MCompress::Zlib -0777 -ne 'print compress($_)' > $(echo $f | cut -c3-); cd ../../..;
            test y = $(git show HEAD:.gitlab-ci.yml)"#,
        ".git",
    ),
    (
        "pack below an index that stays",
        "git gc -q",
        "",
        r#"cd .git/objects/pack; o=$(ls *.pack); chmod u+w $o; { git cat-file --batch-all-objects --batch-check='%(objectname)';
            echo more | git hash-object -w --stdin; } | git pack-objects -q pack > /dev/null
            perl -MCompress::Zlib -0777 -pi -e 'BEGIN { ($a, $b) = map { compress($_) } "x\n", "y\n" } s/\Q$a\E/$b/' $o; cd ../../..;
            touch -d 'next year' .git/objects/pack/$o; test y = $(git show HEAD:.envrc)"#,
        ".git",
    ),
];

/// Files that git runs or obeys, whatever the directories look like in which they are: what the person had, what the agent
/// does, and the path that waits.
const HIDDEN_PARTS: [(&str, &str, &str); 15] = [
    ("git pack-refs --all", "ln -s other .git/refs/heads/old", ".git/refs/heads/old"),
    (
        "",
        "mkdir -p .git/hooks/objects .git/hooks/refs .git/hooks/info; echo exit > .git/hooks/pre-commit; \
         chmod +x .git/hooks/pre-commit",
        ".git/hooks/pre-commit",
    ),
    (
        "",
        "mkdir -p .git/info/objects .git/info/refs .git/info/hooks; echo '* filter=x' > .git/info/attributes",
        ".git/info/attributes",
    ),
    (
        "",
        "mkdir -p .git/objects/objects .git/objects/refs .git/objects/info; echo k > .git/objects/config; \
         echo /srv > .git/objects/info/alternates",
        ".git/objects/info/alternates",
    ),
    (
        "",
        "mkdir -p .git/rebase-merge/objects .git/rebase-merge/refs .git/rebase-merge/info; \
         echo exec id > .git/rebase-merge/git-rebase-todo",
        ".git/rebase-merge/git-rebase-todo",
    ),
    (
        "",
        "mkdir .git/m; echo exec id > .git/m/git-rebase-todo; ln -s m .git/rebase-merge",
        ".git/rebase-merge",
    ),
    (
        "",
        "rm -r .git/info; mkdir .git/i; echo '* filter=x' > .git/i/attributes; ln -s i .git/info",
        ".git/info",
    ),
    (
        "touch .git/hooks/pre-push.sample; ln -s pre-push.sample .git/hooks/pre-push",
        "echo exit > .git/hooks/pre-push.sample",
        ".git/hooks/pre-push.sample",
    ),
    (
        "mkdir conf; mv .envrc conf/env; ln -s conf/env .envrc",
        "mkdir conf/objects conf/refs conf/info; echo y > conf/env",
        "conf/env",
    ),
    (
        "mkdir conf; echo {} > conf/settings.json; ln -s conf .claude",
        "mkdir conf/objects conf/refs conf/info; echo y > conf/settings.json",
        "conf/settings.json",
    ),
    ("", "mkdir -p .git/r/0; echo 1 > .git/r/0/postimage; ln -s r .git/rr-cache", ".git/rr-cache"),
    ("echo 1 > build.rs; rm .envrc; ln -s build.rs .envrc", "echo y > build.rs", "build.rs"),
    (
        "mkdir githooks scripts; echo 1 > scripts/c.sh; ln -s ../scripts/c.sh githooks/pre-commit; \
         git config core.hooksPath githooks",
        "echo y > scripts/c.sh",
        "scripts/c.sh",
    ),
    (
        "mkdir -p conf/hooks evil/hooks; echo 1 > evil/hooks/pre-commit; git config core.hooksPath conf/hooks",
        "mv conf conf2; ln -s evil conf",
        "conf",
    ),
    (
        "ln -s . hooks; git config core.hooksPath hooks; echo 1 > pre-commit",
        "echo y > pre-commit",
        "pre-commit",
    ),
];

#[test]
fn what_the_person_or_an_earlier_turn_left_hides_no_protected_file() {
    if !has_view() || !require("git") {
        return;
    }
    for (title, before, first, agent, repository) in some_of(&HOSTILE_LATER, 2) {
        let txn = begun();
        assert_eq!(txn.sh(&txn.tree, &format!("{IDENTITY} {before}")), 0, "{title}");
        if !first.is_empty() {
            turn(&txn, first);
            txn.run(["apply"]);
        }
        turn(&txn, agent);
        let listed = txn.run(["changes"]);
        assert!(is_held(&listed, repository), "{title}: {listed:#?}");
        let before = state(&txn);
        let out = txn.run(["apply"]);
        assert!(out.code != 0 || listed.stdout.is_empty(), "{title}: {out:#?}");
        assert_eq!(before, state(&txn), "{title}");
    }
}

#[test]
fn nothing_that_git_runs_or_obeys_is_hidden_by_the_look_of_its_directory() {
    if !has_view() || !require("git") {
        return;
    }
    for (before, agent, path) in HIDDEN_PARTS {
        let txn = begun();
        assert_eq!(txn.sh(&txn.tree, &format!("{IDENTITY} {before}")), 0, "{before}");
        let before = txn.snap();
        turn(&txn, agent);
        let listed = txn.run(["changes"]);
        let is_marked = |row: &str| {
            row.contains(path.trim_start_matches(".git/"))
                && (row.starts_with("! ") || row.contains("not applied"))
        };
        let is_operation = has_row(&listed, "! M .git (") && listed.stdout.contains(" in progress");
        let is_named = listed.stdout.lines().any(is_marked) || is_operation || listed.stdout.is_empty();
        assert!(is_named, "{agent}: {listed:#?}");
        let out = txn.run(["apply"]);
        assert!(out.code != 0 || listed.stdout.is_empty(), "{agent}: {out:#?}");
        let is_there = |path: &str| txn.tree.join(path).symlink_metadata().is_ok();
        let now = txn.snap();
        assert_eq!(
            (now.get(Path::new(path)), is_there(path)),
            (before.get(Path::new(path)), before.contains_key(Path::new(path)))
        );
    }
}
