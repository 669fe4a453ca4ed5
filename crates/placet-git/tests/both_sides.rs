//! What the person did meanwhile, against what the agent did: applied, left alone or refused; never a byte of the person's
//! work is lost.

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
use support::{FUNCTIONS, Scene, everything, in_parallel, same, sh};

const BEFORE: &str = "repository .; git branch side HEAD~1; echo s >> b.txt; git stash -q";

/// What the person did, what the agent did, and the error; an empty one where the change is applied. Then a line of shell
/// that prints `yes` if both are there.
const CASES: &[(&str, &str, &str, &str)] = &[
    (
        "git tag mine",
        "echo 2 >> a.txt; git commit -qam Agent",
        "",
        "git tag | grep -qx mine && git log --format=%s -1 | grep -qx Agent && echo yes",
    ),
    (
        "echo 3 >> b.txt; git commit -qam Mine",
        "echo 2 >> a.txt; git commit -qam Agent",
        "refs/heads/main changed on both sides",
        "git log --format=%s -1 | grep -qx Mine && echo yes",
    ),
    (
        "git commit -q --amend -m Mine",
        "echo 2 >> a.txt; git commit -qam Agent",
        "refs/heads/main changed on both sides",
        "git log --format=%s -1 | grep -qx Mine && echo yes",
    ),
    (
        "git commit -q --amend -m Mine",
        "git branch topic",
        "",
        "git log --format=%s -1 | grep -qx Mine && git rev-parse -q --verify topic >/dev/null && echo yes",
    ),
    (
        "git switch -q side",
        "echo 2 >> a.txt; git commit -qam Agent",
        "HEAD changed on both sides",
        "git symbolic-ref HEAD | grep -q side && echo yes",
    ),
    // The branch that is checked out moves with its index only.
    (
        "git switch -q side",
        "git switch -q side; echo 2 >> a.txt; git commit -qam Agent; git switch -q main",
        "HEAD changed on both sides",
        "git symbolic-ref HEAD | grep -q side && test -z \"$(git status --porcelain)\" && echo yes",
    ),
    (
        "git switch -q side",
        "git branch -f side main",
        "HEAD changed on both sides",
        "git symbolic-ref HEAD | grep -q side && test -z \"$(git status --porcelain)\" && echo yes",
    ),
    // A rebase of the person returns to the branch where it left it.
    (
        "GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -q -i HEAD~1",
        "git update-ref refs/heads/main HEAD~1",
        "refs/heads/main changed on both sides",
        "git rebase --continue >/dev/null 2>&1 && git symbolic-ref HEAD | grep -q main && git log --format=%s -1 | grep -qx Second && echo yes",
    ),
    (
        "git switch -qc mine",
        "git switch -qc theirs",
        "HEAD changed on both sides",
        "git symbolic-ref HEAD | grep -q mine && echo yes",
    ),
    (
        "git switch -q side",
        "git tag v1",
        "",
        "git symbolic-ref HEAD | grep -q side && git tag | grep -qx v1 && echo yes",
    ),
    (
        "git branch topic",
        "git branch topic HEAD~1",
        "refs/heads/topic changed on both sides",
        "test $(git rev-parse topic) = $(git rev-parse main) && echo yes",
    ),
    (
        "git branch topic",
        "git branch topic",
        "nothing",
        "git rev-parse -q --verify topic >/dev/null && echo yes",
    ),
    (
        "git branch -D side",
        "git branch -f side main",
        "refs/heads/side changed on both sides",
        "git rev-parse -q --verify side >/dev/null || echo yes",
    ),
    (
        "echo p > b.txt; git add b.txt",
        "echo 2 >> a.txt; git commit -qam Agent",
        "",
        "git diff --cached --name-only | grep -qx b.txt && test \"$(git show :b.txt)\" = p && git log --format=%s -1 | grep -qx Agent && echo yes",
    ),
    (
        "echo p > a.txt; git add a.txt",
        "echo 2 >> a.txt; git commit -qam Agent",
        "the staged entry `a.txt` changed on both sides",
        "test \"$(git show :a.txt)\" = p && echo yes",
    ),
    (
        "echo p > new; git add -N new",
        "echo 2 > other; git add other",
        "",
        "git status --porcelain | grep -q '^ A new' && git diff --cached --name-only | grep -qx other && echo yes",
    ),
    (
        "echo p >> b.txt; git stash push -q -m Mine",
        "echo 2 >> a.txt; git stash push -q -m Agent",
        "",
        "git stash list | grep -q Mine && git stash list | sed 1q | grep -q Agent && test $(git stash list | wc -l) = 3 && echo yes",
    ),
    (
        "echo p >> b.txt; git stash push -q -m Mine",
        "git stash drop -q",
        "",
        "git stash list | grep -q Mine && test $(git stash list | wc -l) = 1 && echo yes",
    ),
    (
        "git stash drop -q",
        "echo 2 >> a.txt; git stash push -q -m Agent",
        "",
        "git stash list | grep -q Agent && test $(git stash list | wc -l) = 1 && echo yes",
    ),
    ("git stash drop -q", "git stash drop -q", "nothing", "test -z \"$(git stash list)\" && echo yes"),
    (
        "git gc -q --prune=now",
        "echo 2 >> a.txt; git commit -qam Agent",
        "",
        "git log --format=%s -1 | grep -qx Agent && echo yes",
    ),
    (
        "git pack-refs --all",
        "git branch -f side main; git tag t",
        "",
        "test $(git rev-parse side) = $(git rev-parse main) && echo yes",
    ),
    (
        "touch .git/index.lock",
        "echo 2 >> a.txt; git commit -qam Agent",
        "index.lock` is locked",
        "test -e .git/index.lock && rm .git/index.lock && git log --format=%s -1 | grep -qx Second && echo yes",
    ),
    (
        "mkdir -p .git/refs/heads; touch .git/refs/heads/main.lock",
        "echo 2 >> a.txt; git commit -qam Agent",
        "main.lock` is locked",
        "test -e .git/refs/heads/main.lock && rm .git/refs/heads/main.lock && git log --format=%s -1 | grep -qx Second && echo yes",
    ),
    (
        "git checkout -q -b c2 HEAD~1; echo x > b.txt; git add b.txt; git commit -qm X; git merge main; true",
        "git tag t",
        "",
        "test -e .git/MERGE_HEAD && git tag | grep -qx t && git merge --abort && echo yes",
    ),
    (
        "git checkout -q -b c2 HEAD~1; echo x > b.txt; git add b.txt; git commit -qm X; git rebase main; true",
        "echo 2 >> a.txt; git commit -qam Agent",
        "HEAD changed on both sides",
        "test -d .git/rebase-merge && git rebase --abort && echo yes",
    ),
    // `git stash` and `git stash pop` leave traces that the agent's merge would have overwritten.
    (
        "echo p >> b.txt; git stash -q; git stash pop -q; git rev-parse AUTO_MERGE ORIG_HEAD >/dev/null",
        "conflict; git merge -q topic; true",
        "",
        "test -e .git/MERGE_HEAD && git cat-file -p AUTO_MERGE:a.txt | grep -q '>>>>>>>' && echo yes",
    ),
    // `git am --abort` goes back to `ORIG_HEAD`.
    (
        "git reset -q --hard HEAD~1; git reset -q --hard ORIG_HEAD",
        "conflict; git format-patch -q -1 --stdout topic > ../p; git am -3 ../p; true",
        "",
        "test \"$(git rev-parse ORIG_HEAD)\" = \"$(git rev-parse main)\" && echo yes",
    ),
    // Each would end the other.
    (
        "git revert --no-commit HEAD",
        "git bisect start HEAD HEAD~1",
        "changed on both sides",
        "test -e .git/REVERT_HEAD && ! test -e .git/BISECT_LOG && echo yes",
    ),
    (
        "git config user.name Mine",
        "git config user.name Theirs",
        "`config` changed on both sides",
        "git config user.name | grep -qx Mine && echo yes",
    ),
    (
        "git config user.name Mine",
        "echo 2 >> a.txt; git commit -qam Agent",
        "",
        "git config user.name | grep -qx Mine && git log --format=%s -1 | grep -qx Agent && echo yes",
    ),
    (
        "git worktree add -q ../mine side",
        "git tag t",
        "",
        "git worktree list | grep -q mine && git tag | grep -qx t && echo yes",
    ),
];

#[test]
fn what_the_person_did_meanwhile_is_never_lost() {
    in_parallel(CASES, |(person, agent, error, both)| {
        let title = format!("{person} | {agent}");
        let mut scene = Scene::new(&format!("{FUNCTIONS}{BEFORE}"));
        scene.agent(&format!("T=1700100000\n{FUNCTIONS}{agent}"));
        scene.person(&format!("T=1700200000\n{FUNCTIONS}{person}"));
        let before = scene.says();
        let result = match scene.question() {
            Ok(None) => "nothing".into(),
            Err(error) => error.to_string(),
            Ok(Some(question)) => match scene.apply(&question, &everything(&question)) {
                Ok(_) => String::new(),
                Err(error) => error.to_string(),
            },
        };
        if result != *error && (error.is_empty() || !result.contains(error)) {
            return Err(format!("{title}: `{result}` instead of `{error}`"));
        }
        if !error.is_empty() {
            same(&format!("{title}: after the refusal"), &before, &scene.says())?;
        }
        let answer = sh(&scene.repo(), both);
        if !answer.ends_with("yes\n") {
            return Err(format!("{title}: {answer}\n{}", scene.says()));
        }
        let fsck = sh(&scene.repo(), "git fsck --strict --no-progress --no-dangling");
        if fsck.is_empty() { Ok(()) } else { Err(format!("{title}: {fsck}")) }
    });
}

/// The person committed on top of a change that was applied: the ref stays.
#[test]
fn an_undo_leaves_a_ref_that_the_person_moved_on() {
    let mut scene = Scene::new(&format!("{FUNCTIONS}{BEFORE}"));
    scene
        .agent(&format!("T=1700100000\n{FUNCTIONS}echo 2 >> a.txt; git commit -qam Agent; git branch topic"));
    let question = scene.question().unwrap().unwrap();
    let applied = scene.apply(&question, &everything(&question)).unwrap();
    scene.work_tree_of("2");
    scene.person("echo 3 >> b.txt; git commit -qam Mine");
    let found = scene.undo_question(&applied).unwrap();
    assert_eq!(
        found.selected(&ApprovedGroups::new()).unwrap_err().to_string(),
        "refs/heads/main changed on both sides"
    );
}

/// The person went on to a branch of their own: an index that goes back would take away there what the commits of that branch
/// have. A branch that got nothing new is no other commit, but the index would be that of the older one.
#[test]
fn an_undo_leaves_an_index_that_belongs_to_another_commit() {
    let mine = [
        "git switch -qc mine; git commit -q --allow-empty -m Mine",
        "git switch -qc mine",
        "git commit -qam Mine",
    ];
    let agent = ["echo n > n.txt; git add .; git commit -qm Agent", "echo n > n.txt; git add ."];
    let cases = [(mine[0], agent[0]), (mine[1], agent[0]), (mine[0], agent[1]), (mine[2], agent[1])];
    for (person, agent) in cases {
        let mut scene = Scene::new(&format!("{FUNCTIONS}{BEFORE}"));
        scene.agent(&format!("T=1700100000\n{FUNCTIONS}{agent}"));
        let question = scene.question().unwrap().unwrap();
        let applied = scene.apply(&question, &everything(&question)).unwrap();
        scene.work_tree_of("2");
        scene.person(&format!("T=1700200000\n{FUNCTIONS}{person}"));
        let found = scene.undo_question(&applied).unwrap();
        let error = found.selected(&ApprovedGroups::new()).unwrap_err().to_string();
        assert_eq!(error, "HEAD changed on both sides", "{person} | {agent}");
    }
}

/// Two changes of the agent around a commit of the person's are no single change back: it would take the commit along.
#[test]
fn an_undo_of_two_changes_leaves_what_the_person_committed_between_them() {
    let mut scene = Scene::new(&format!("{FUNCTIONS}{BEFORE}"));
    scene.agent(&format!("T=1700100000\n{FUNCTIONS}echo 2 >> a.txt; git commit -qam Agent"));
    let question = scene.question().unwrap().unwrap();
    let first = question.comparison.selected(&everything(&question)).unwrap();
    let mine = format!("T=1700200000\n{FUNCTIONS}echo 3 >> b.txt; git commit -qam Mine;");
    let later = |mine: &str| {
        let mut scene = Scene::new(&format!(
            "{FUNCTIONS}{BEFORE}; T=1700100000\n{FUNCTIONS}echo 2 >> a.txt; git commit -qam Agent; {mine}"
        ));
        scene.agent(&format!(
            "T=1700300000\n{FUNCTIONS}git commit -q --allow-empty -m Later; echo n > n.txt; git add ."
        ));
        let question = scene.question().unwrap().unwrap();
        let applied = scene.apply(&question, &everything(&question)).unwrap();
        (placet_git::ApplyJournal::load(&applied).unwrap().change, scene)
    };
    let (change, scene) = later(&mine);
    let found = placet_git::undo_question(&first.clone().then(change), &scene.git_dir(), &scene.fresh("now"))
        .unwrap();
    let error = found.selected(&ApprovedGroups::new()).unwrap_err().to_string();
    assert_eq!(error, "refs/heads/main changed on both sides");
    // Without it they are one.
    let (change, scene) = later("true");
    let found =
        placet_git::undo_question(&first.then(change), &scene.git_dir(), &scene.fresh("now")).unwrap();
    let back = found.selected(&ApprovedGroups::new()).unwrap();
    assert_eq!(back.refs.len(), 1);
    assert_eq!(back.checkouts.values().map(|checkout| checkout.index.len()).sum::<usize>(), 2);
}

/// The agent sees a branch that the person moved where the person has it. What it made before belongs to the branch of then: an
/// index, a switch, and a rebase that returns to it.
#[test]
fn a_branch_that_only_the_person_moved_has_nothing_of_the_agent_on_top() {
    let mine = format!("T=1700050000\n{FUNCTIONS}echo 3 >> b.txt; git commit -qam Mine;");
    let older = format!("cp .git/index ../old; {mine} cp ../old .git/index; echo n > n.txt; git add n.txt");
    let cases = [
        (BEFORE, &*mine, &*older, "refs/heads/main"),
        (
            BEFORE,
            "git branch -f side main",
            "git switch -q side; git update-ref refs/heads/side main",
            "refs/heads/side",
        ),
        (
            "repository .; conflict; git branch other",
            "git branch -f topic other",
            "git rebase -q main topic; git update-ref refs/heads/topic other",
            "refs/heads/topic",
        ),
    ];
    for (before, person, agent, branch) in cases {
        let mut scene = Scene::new(&format!("{FUNCTIONS}{before}"));
        scene.agent(&format!("T=1700100000\n{FUNCTIONS}{agent}"));
        scene.person(&format!("T=1700200000\n{FUNCTIONS}{person}"));
        let question = scene.question().unwrap().unwrap();
        let error = question.comparison.selected(&everything(&question)).unwrap_err().to_string();
        assert_eq!(error, format!("{branch} changed on both sides"), "{person} | {agent}");
    }
}

/// The agent put its commits on top of those that the person made meanwhile. With an index that was older, a commit takes
/// back what the person changed, and that is said.
#[test]
fn commits_on_top_of_those_of_the_person_are_applied() {
    // The same commit of the same minute has the same name for both.
    let mine = format!("T=1700050000\n{FUNCTIONS}echo 3 >> b.txt; git commit -qam Mine;");
    let question = |scene: &mut Scene, agent: &str| {
        scene.agent(&format!("{mine} {agent}"));
        scene.person(&format!("{mine} echo staged > s.txt; git add s.txt"));
        scene.question().unwrap().unwrap()
    };
    let mut scene = Scene::new(&format!("{FUNCTIONS}{BEFORE}"));
    let found = question(&mut scene, "echo 2 >> a.txt; git commit -qam Agent");
    assert!(found.comparison.conflicts.is_empty(), "{:?}", found.comparison.conflicts);
    assert!(found.taken_back.is_empty(), "{:?}", found.taken_back);
    scene.apply(&found, &everything(&found)).unwrap();
    let says = sh(&scene.repo(), "git log --format=%s -2; git diff --cached --name-only");
    assert_eq!(says, "Agent\nMine\ns.txt\n");

    let mut scene = Scene::new(&format!("{FUNCTIONS}{BEFORE}"));
    let older = "git checkout -q HEAD~1 -- b.txt; echo 2 >> a.txt; git commit -qam Older";
    let found = question(&mut scene, older);
    let taken: Vec<String> = found.taken_back.values().flatten().map(|path| path.escaped()).collect();
    assert_eq!(taken, ["b.txt"]);
}

/// Story: the undo of `git worktree add` dropped what a person had only staged there, and so did the agent's `git worktree remove`.
#[test]
fn a_worktree_that_goes_takes_nothing_along_that_was_staged_there_since() {
    let stage = "cd ../wt; echo s > s.txt; git add s.txt";
    let (before, add) = (format!("{FUNCTIONS}{BEFORE}"), "git worktree add -q ../wt side");
    let mut scene = Scene::new(&before);
    scene.agent(add);
    let question = scene.question().unwrap().unwrap();
    let applied = scene.apply(&question, &everything(&question)).unwrap();
    scene.work_tree_of("2");
    scene.person(stage);
    let undo = scene.undo_question(&applied).unwrap();
    let mut removed = Scene::new(&format!("{before}; {add}"));
    removed.agent("git worktree remove ../wt").person(stage);
    for found in [undo, removed.question().unwrap().unwrap().comparison] {
        let error = found.selected(&found.groups()).unwrap_err();
        assert_eq!(error.to_string(), "the staged entry `s.txt` changed on both sides");
    }
}

/// Story: a deleted branch did not come back after the last other branch with its commits had gone, too.
#[test]
fn a_deleted_branch_comes_back_after_the_other_branch_that_had_its_commits() {
    let two = "git switch -qc one; echo 2 >> a.txt; git commit -qam One; git branch two; git switch -q main";
    let mut scene = Scene::new(&format!("{FUNCTIONS}{BEFORE}; {two}"));
    scene.agent("git branch -D one");
    let question = scene.question().unwrap().unwrap();
    let applied = scene.apply(&question, &everything(&question)).unwrap();
    scene.person("git branch -D two; git reflog expire --expire=now --all; git gc -q --prune=now");
    scene.undo(&applied).unwrap();
    let says = sh(&scene.repo(), "git log --format=%s -1 one; git fsck --strict --no-dangling 2>&1");
    assert_eq!(says, "One\n");
}
