//! What the rows of a change have, as values.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test"
)]

mod support;

use placet_git::{
    GitCall, GitError, GitName, GitOperation, GitOutput, GitRunner, PlainRunner, RefMovement,
    RepositoryQuestion, RepositoryRows, StagedKind, WaitingGroup,
};
use support::{FUNCTIONS, Scene, everything, sh};

fn read(before: &str, agent: &str) -> (Scene, RepositoryQuestion, RepositoryRows) {
    let mut scene = Scene::new(&format!("{FUNCTIONS}{before}"));
    scene.agent(&format!("T=1700100000\n{FUNCTIONS}{agent}"));
    let question = scene.question().unwrap().unwrap();
    let rows = RepositoryRows::read(&question, &PlainRunner).unwrap();
    (scene, question, rows)
}

#[test]
fn a_commit_has_its_subject_its_paths_and_its_branch() {
    let (_scene, question, rows) = read("repository .", "echo two >> a.txt; git commit -qam \"Add two\"");
    let [commit] = rows.commits.as_slice() else { panic!("{rows:#?}") };
    assert_eq!(commit.subject.escaped(), "Add two");
    let [change] = commit.changes.as_slice() else { panic!("{commit:#?}") };
    assert_eq!((change.path.escaped().as_str(), change.added, change.removed), ("a.txt", Some(1), Some(0)));
    let [fact] = rows.refs.as_slice() else { panic!("{rows:#?}") };
    assert_eq!(fact.name.escaped(), "refs/heads/main");
    assert_eq!(fact.commits, [commit.id]);
    assert!(matches!(fact.movement, RefMovement::Moved { counts: Some((1, 0)), .. }));
    assert!(rows.index.values().flatten().all(|fact| fact.state == StagedKind::AsCommitted));
    let patch = String::from_utf8(
        question
            .tree_patches(&[(commit.parents.first().copied(), Some(commit.id))], &PlainRunner)
            .unwrap()
            .remove(0),
    )
    .unwrap();
    assert!(patch.contains("+two"), "{patch}");
}

/// git without the memory for the patch of a whole commit.
struct SmallGit;

impl GitRunner for SmallGit {
    fn run(&self, calls: &[GitCall]) -> Vec<Result<GitOutput, GitError>> {
        let run = |call: &GitCall| match call.args.iter().any(|arg| arg == "-p")
            && !call.args.iter().any(|arg| arg == "--")
        {
            true => {
                Ok(GitOutput { status: 128, stdout: Vec::new(), stderr: b"fatal: Out of memory".to_vec() })
            }
            false => PlainRunner.run(std::slice::from_ref(call)).remove(0),
        };
        calls.iter().map(run).collect()
    }
}

/// git reads a new file as a whole for its patch, which has one line about it.
#[test]
fn the_patch_of_a_large_file_is_that_of_git_without_its_memory() {
    let large = "head -c 17000000 /dev/zero";
    for format in ["sha1", "sha256"] {
        let before = format!(
            "git init -q --object-format={format} -b main .; echo a > a; {large} > 'zo\tld'; git add -A; git commit -qm One"
        );
        let (_scene, question, rows) = read(
            &before,
            &format!(
                "echo b > b; echo two >> a; git rm -q 'zo\tld'; {large} > zz; git add -A; git commit -qm Large"
            ),
        );
        let [commit] = rows.commits.as_slice() else { panic!("{rows:#?}") };
        let sides = [(commit.parents.first().copied(), Some(commit.id))];
        let patch = |runner: &dyn GitRunner| {
            String::from_utf8(question.tree_patches(&sides, runner).unwrap().remove(0)).unwrap()
        };
        let found = patch(&SmallGit);
        assert!(found.contains("+two") && found.contains("b/zz differ"), "{found}");
        assert_eq!(found, patch(&PlainRunner), "{format}");
    }
    let (_scene, question, rows) = read("repository .", "echo two >> a.txt; git commit -qam Small");
    let commit = &rows.commits[0];
    let refused = question.tree_patches(&[(commit.parents.first().copied(), Some(commit.id))], &SmallGit);
    assert!(refused.unwrap_err().to_string().contains("Out of memory"), "no file is to blame");
}

#[test]
fn an_amend_names_the_commit_that_it_drops() {
    let (_scene, _, rows) = read("repository .", "git commit -q --amend -m Again");
    let subjects =
        |commits: &[placet_git::CommitFact]| commits.iter().map(|c| c.subject.escaped()).collect::<Vec<_>>();
    assert_eq!(
        (subjects(&rows.commits), subjects(&rows.dropped)),
        (vec!["Again".to_owned()], vec!["Second".to_owned()])
    );
}

#[test]
fn a_renamed_branch_is_one_row_and_a_deleted_one_another() {
    let (_scene, _, rows) = read(
        "repository .; git branch topic; git branch gone HEAD~1",
        "git branch -m topic work; git branch -qD gone",
    );
    let words: Vec<String> = rows
        .refs
        .iter()
        .map(|fact| match &fact.movement {
            RefMovement::Renamed { from, .. } => format!("{} -> {}", from.escaped(), fact.name.escaped()),
            RefMovement::Deleted(_) => format!("deleted {}", fact.name.escaped()),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(words, ["refs/heads/topic -> refs/heads/work", "deleted refs/heads/gone"]);
}

#[test]
fn a_stopped_rebase_is_one_group_that_moves_nothing_without_its_answer() {
    let before = "repository .; conflict; git switch -q topic";
    let (scene, question, rows) = read(before, "git rebase -q main");
    let [operation] = rows.operations.as_slice() else { panic!("{rows:#?}") };
    let state = operation.state.after.clone().unwrap();
    assert_eq!((state.kind, state.steps), (GitOperation::Rebase, Some((1, 1))));
    assert_eq!(state.branch.unwrap().escaped(), "refs/heads/topic");
    assert_eq!(question.groups.iter().filter(|group| matches!(group, WaitingGroup::Operation(_))).count(), 1);
    let change = question.comparison.selected(&placet_git::ApprovedGroups::new()).unwrap();
    assert!(change.is_empty(), "{change:?}");
    drop(scene);
}

#[test]
fn a_stash_entry_has_its_changes() {
    let (_scene, _, rows) = read("repository .", "echo x >> a.txt; git stash push -q -m Mine");
    let [stash] = rows.stash_added.as_slice() else { panic!("{rows:#?}") };
    assert!(stash.entry.message.escaped().ends_with("Mine"));
    assert_eq!(stash.changes.iter().map(|change| change.path.escaped()).collect::<Vec<_>>(), ["a.txt"]);
}

#[test]
fn what_is_not_carried_is_named() {
    let (_scene, question, _) =
        read("repository .", "git tag x; echo x > .git/unknown; git gc -q; echo '#!' > .git/hooks/x");
    let names: Vec<String> = question.not_carried.iter().map(|name| name.escaped()).collect();
    assert!(names.contains(&"unknown".to_owned()), "{names:?}");
    assert!(!names.iter().any(|name| name.ends_with(".pack") || name.starts_with("hooks/")), "{names:?}");
}

/// Where a checkout is at the commit, they are found by what differs from its index.
#[test]
fn the_links_of_a_commit_are_those_of_its_tree() {
    let before = "repository .; ln -s a.txt l; git add l; git commit -qm Link";
    let staged = [
        "true",
        "git rm -q --cached l",
        "ln -s b.txt n; git add n",
        "ln -sf b.txt l; git add l",
        "rm l; echo file > l; git add l",
        "git update-index --split-index; git rm -q --cached l",
        "git rm -q l; ln -s x d; git add d; git commit -qm D; git rm -q --cached d",
        "git switch -qc other; git rm -q l; git commit -qm Gone; git switch -q main; git rm -q --cached l",
        "git worktree add -q ../wt; cd ../wt; ln -s a.txt w; git add w; git commit -qm W; git rm -q --cached w; cd ../repo",
    ];
    for line in staged {
        let commit = "echo 2 >> b.txt; git commit -qm Agent -- b.txt";
        let (scene, question, rows) = read(before, &format!("{line}; {commit}"));
        for commit in &rows.commits {
            let tree = sh(&scene.root().join("2/repo"), &format!("git ls-tree -r {}", commit.id));
            let wanted: Vec<&str> = tree.lines().filter(|line| line.starts_with("120000")).collect();
            let found = question.links(&[commit.id], &PlainRunner).unwrap().remove(0);
            let found = found.iter().map(|(path, id)| format!("120000 blob {id}\t{}", path.escaped()));
            assert_eq!(found.collect::<Vec<_>>(), wanted, "{line}");
        }
    }
}

/// placet reads loose refs itself: their contents as git does.
#[test]
fn loose_refs_are_those_of_git() {
    let contents = [
        "$(git rev-parse main)",
        "$(git rev-parse main | tr a-f A-F)",
        "$(git rev-parse main) and more",
        "$(git rev-parse main)more",
        "$(git rev-parse main)000000000000000000000000",
        "",
        "0000000000000000000000000000000000000000",
        "ref: refs/heads/main",
        "ref:refs/heads/main  ",
        "ref: refs/heads/nowhere",
        "junk",
        "$(git rev-parse main)\\f",
        "$(git rev-parse main)\\v and more",
        "ref: refs/heads/main\\f",
        "ref: refs/heads/main\\nmore",
        "ref: refs/heads/..",
    ];
    for (number, content) in contents.iter().enumerate() {
        // A packed ref of the same name does not count.
        let line = format!(
            "git branch x HEAD~1; git pack-refs --all; printf '%b\\n' \"{content}\" > .git/refs/heads/x"
        );
        let scene = Scene::new(&format!("{FUNCTIONS}repository .; {line}"));
        let listed =
            sh(&scene.repo(), "git for-each-ref --format='%(refname) %(objectname)' refs/heads/x 2>&1");
        let name = GitName::from("refs/heads/x");
        let symbolic = scene.base.refs.get(&name).is_some_and(|target| target.object().is_none());
        let id = scene.base.resolve(&name).map(|id| format!("refs/heads/x {id}\n"));
        let is_broken = content.contains('\\') || content.contains("..");
        assert_eq!(symbolic, content.starts_with("ref:") && !is_broken, "{number}: {content}");
        match id {
            Some(id) => assert_eq!(id, listed, "{number}: {content}"),
            None => assert!(!listed.starts_with("refs/"), "{number}: {content}: {listed}"),
        }
        let is_listed = listed.starts_with("refs/");
        assert_eq!(
            scene.base.unreadable.contains(&name),
            !is_listed && !symbolic,
            "{number}: {content}: {listed}"
        );
    }
}

/// Story: a name with a line end became two lines of the list of packed refs that git reads in placet's copy.
#[test]
fn names_of_loose_refs_are_those_of_git() {
    let names = [
        "plain",
        "caf\\xe9",
        "a\\nb",
        "a\\tb",
        "a b",
        "a\\x7fb",
        "a..b",
        ".a",
        "a.",
        "@",
        "@a",
        "a@{b",
        "-a",
        "a~b",
        "a*b",
        "a[b",
        "a\\\\b",
        "a:b",
        "a?b",
        "a^b",
        "a.locked",
        "\\xff\\xfe",
        "%41",
        "a\\n1111111111111111111111111111111111111111 x",
    ];
    let lines =
        names.map(|name| format!("git rev-parse HEAD > \"$(printf '.git/refs/heads/%b' '{name}')\"; "));
    let mut scene = Scene::new(&format!("{FUNCTIONS}repository .; {}", lines.concat()));
    let listed = sh(&scene.repo(), "git for-each-ref --format='%(refname)' refs/heads 2>/dev/null");
    let known: Vec<_> = scene.base.refs.keys().map(|name| String::from_utf8_lossy(name.as_bytes())).collect();
    assert_eq!(known, listed.lines().collect::<Vec<_>>());
    assert_eq!(known.len() + scene.base.unreadable.len(), names.len() + 1, "{:?}", scene.base.unreadable);
    scene.agent(&format!("{FUNCTIONS}echo 2 >> a.txt; git commit -qam Agent"));
    let question = scene.question().unwrap().unwrap();
    scene.apply(&question, &everything(&question)).unwrap();
    assert_eq!(scene.question().unwrap().map(|left| left.comparison.moved), None);
}
