//! Repositories that were made to deceive: each is refused in one sentence, is not carried, or waits by name.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test"
)]

mod support;

use placet_git::ApprovedGroups;
use support::{FUNCTIONS, Scene, in_parallel, sh};

/// What an agent does, and the beginning of the error; an empty one where what git sees of the person's repository
/// afterwards has nothing of it, except for what `git for-each-ref` of the agent also says.
const CASES: &[(&str, &str)] = &[
    // A new blob stored under another's name.
    (
        "echo good > n; git add n; git commit -qm n; o=$(git rev-parse HEAD:n); p=.git/objects/${o:0:2}/${o:2}; chmod u+w $p; cp $(o=$(echo evil | git hash-object -w --stdin); echo .git/objects/${o:0:2}/${o:2}) $p",
        "`git ",
    ),
    // An old object overwritten: it is not transferred.
    (
        "o=$(git rev-parse HEAD:a.txt); p=.git/objects/${o:0:2}/${o:2}; chmod u+w $p; q=$(echo evil | git hash-object -w --stdin); cp .git/objects/${q:0:2}/${q:2} $p; git update-ref refs/heads/x HEAD",
        "",
    ),
    (
        "t=$(printf '040000 tree %s\\t.git\\n' $(git rev-parse HEAD^{tree}) | git mktree); git update-ref refs/heads/x $(git commit-tree -m x $t)",
        "`git ",
    ),
    (
        "t=$(printf '040000 tree %s\\t..\\n' $(git rev-parse HEAD^{tree}) | git mktree); git update-ref refs/heads/x $(git commit-tree -m x $t)",
        "`git ",
    ),
    (
        "t=$(printf '040000 tree %s\\t.GIT\\n' $(git rev-parse HEAD^{tree}) | git mktree); git update-ref refs/heads/x $(git commit-tree -m x $t)",
        "`git ",
    ),
    (
        "t=$(printf '120000 blob %s\\t.gitmodules\\n' $(echo x | git hash-object -w --stdin) | git mktree); git update-ref refs/heads/x $(git commit-tree -m x $t)",
        "`git ",
    ),
    (
        "echo n > n; git add n; git commit -qm n; o=$(git rev-parse HEAD:n); rm -f .git/objects/${o:0:2}/${o:2}",
        "object ",
    ),
    ("echo n > n; git add n; o=$(git rev-parse :n); rm -f .git/objects/${o:0:2}/${o:2}", "object "),
    ("printf junk > .git/index", "`git ls-files` failed"),
    ("truncate -s 40 .git/index", "`git ls-files` printed something unexpected"),
    (
        "git pack-refs --all; printf 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391 refs/heads/cut' >> .git/packed-refs",
        "`git for-each-ref` failed",
    ),
    ("echo junk > .git/refs/heads/main", "git cannot read these refs: "),
    ("rm .git/refs/heads/side; ln -s /dev/zero .git/refs/heads/side", "git cannot read these refs: "),
    ("rm .git/refs/heads/side; mkfifo .git/refs/heads/side", "git cannot read these refs: "),
    ("mv .git/refs .git/r; ln -s r .git/refs", "`refs` is not a regular file"),
    ("rm .git/HEAD; ln -s /etc/hostname .git/HEAD", "`HEAD` is not a regular file"),
    ("rm .git/HEAD; mkfifo .git/HEAD", "`HEAD` is not a regular file"),
    ("rm .git/index; mkfifo .git/index", "`index` is not a regular file"),
    ("rm .git/index; truncate -s 20G .git/index", "`index` is larger than "),
    ("truncate -s 20G .git/packed-refs", "`packed-refs` is larger than "),
    ("git tag x; mkfifo .git/objects/pack/pack-x.pack", "`objects/pack/pack-x.pack` is not a regular file"),
    (
        "git tag x; mkdir -p .git/objects/ab; mkfifo .git/objects/ab/cdef",
        "`objects/ab/cdef` is not a regular file",
    ),
    ("echo 'ref: ../../../etc/passwd' > .git/HEAD", "`git "),
    ("git rev-parse HEAD > .git/shallow", "the boundaries of the shallow clone changed"),
    (
        "git rev-parse HEAD > .git/info/grafts; mkdir -p .git/info; git rev-parse HEAD > .git/info/grafts; git tag x",
        "",
    ),
    ("mkdir -p .git/objects/info; echo /nowhere > .git/objects/info/alternates; git tag x", ""),
    (
        "git tag x; mkdir -p .git/objects/info; mkfifo .git/objects/info/alternates",
        "`objects/info/alternates` is not a regular file",
    ),
    (
        "mkdir -p .git/objects/info; head -c 2000 /dev/urandom > .git/objects/info/commit-graph; git commit -q --allow-empty -m x",
        "",
    ),
    (
        "git repack -adq; for e in bitmap rev keep promisor mtimes; do head -c 500 /dev/urandom > $(echo .git/objects/pack/*.pack | sed s/pack$/$e/); done; git commit -q --allow-empty -m x",
        "",
    ),
    (
        "git repack -adq; head -c 500 /dev/urandom > .git/objects/pack/multi-pack-index; git commit -q --allow-empty -m x",
        "",
    ),
    (
        "git repack -adq; f=$(echo .git/objects/pack/*.idx); chmod u+w $f; head -c 200 /dev/urandom | dd of=$f bs=1 seek=1100 conv=notrunc status=none; git update-ref refs/heads/side main; echo n > n; git add n; git commit -qm n",
        "",
    ),
    (
        "git config core.fsmonitor 'touch pwned'; git config core.sshCommand 'touch pwned'; git config core.pager 'touch pwned'; git config filter.x.clean 'touch pwned'; git config diff.external 'touch pwned'; git config alias.status '!touch pwned'; git tag x",
        "",
    ),
    (
        "printf '#!/bin/sh\\ntouch pwned\\n' > .git/hooks/reference-transaction; chmod +x .git/hooks/*; git tag x",
        "",
    ),
    ("git update-index --assume-unchanged a.txt; git update-index --skip-worktree b.txt; git tag x", ""),
    ("echo x > .git/FETCH_HEAD; echo x > .git/ORIG_HEAD; echo x > .git/unknown; git tag x", ""),
    ("git replace HEAD HEAD~1", ""),
    ("mkdir -p .git/sequencer; echo 'exec touch pwned' > .git/sequencer/todo; git tag x", ""),
    ("rm -rf .git/objects", "the repository has no `HEAD` or no objects"),
    ("git tag x; mv .git/objects .git/o; ln -s o .git/objects", "`objects` is not a regular file"),
    (
        "git tag x $(printf 'x%.0s' $(seq 40) >/dev/null; git rev-parse HEAD); for i in $(seq 40); do mkdir -p .git/refs/heads/$(printf 'd/%.0s' $(seq $i)); done",
        "the repository has more than",
    ),
];

#[test]
fn a_hostile_repository_is_refused_or_has_no_effect_that_waits_for_nobody() {
    in_parallel(CASES, |(agent, error)| {
        let mut scene = Scene::new(&format!(
            "{FUNCTIONS}repository .; git branch side HEAD~1; mkdir -p .git/hooks .git/info"
        ));
        scene.hostile_agent(&format!("T=1700100000\n{FUNCTIONS}{agent}"));
        let before = scene.says();
        let files = |scene: &Scene| {
            sh(
                &scene.repo(),
                "cd .git; find . -path ./refs -prune -o -path ./objects -prune -o -path ./logs -prune -o -type f ! -name index ! -name HEAD ! -name packed-refs -print0 | sort -z | xargs -0 sha1sum",
            )
        };
        let files_before = files(&scene);
        // Nothing that waits is approved.
        let result = scene.question().and_then(|question| match question {
            Some(question) => {
                placet_git::RepositoryRows::read(&question, &placet_git::PlainRunner)?;
                scene.apply(&question, &ApprovedGroups::new()).map(|_| ())
            }
            None => Ok(()),
        });
        let said = result.err().map(|error| error.to_string()).unwrap_or_default();
        if said.is_empty() != error.is_empty() || !said.starts_with(error) {
            return Err(format!("{agent}\n   `{said}` instead of `{error}`"));
        }
        if !error.is_empty() && before != scene.says() {
            return Err(format!("{agent}\n{}", support::difference(&before, &scene.says())));
        }
        if files(&scene) != files_before {
            return Err(format!("{agent}\n{}", support::difference(&files_before, &files(&scene))));
        }
        if !sh(scene.root(), "find . -name pwned").is_empty() {
            return Err(format!("{agent}: a program ran"));
        }
        let fsck = sh(&scene.repo(), "git fsck --strict --no-progress --no-dangling");
        if fsck.is_empty() { Ok(()) } else { Err(format!("{agent}: {fsck}")) }
    });
}
