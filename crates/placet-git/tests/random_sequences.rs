//! Random sequences of commands by the agent and by the person: after an apply git finds nothing wrong, each ref that
//! changed had a row, and no other file of git changed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test"
)]

mod support;

use placet_git::{PlainRunner, RepositoryRows};
use std::collections::BTreeSet;
use support::{FUNCTIONS, Scene, everything, in_parallel, same, sh};

const COMMANDS: [&str; 24] = [
    "echo $RANDOM >> a.txt; git commit -qam \"c$RANDOM\"",
    "echo $RANDOM > n$((RANDOM % 5)); git add .; git commit -qm new",
    "git commit -q --amend -m \"a$RANDOM\"",
    "git branch b$((RANDOM % 4)) 2>/dev/null",
    "git branch -D b$((RANDOM % 4)) 2>/dev/null",
    "git branch -f b$((RANDOM % 4)) HEAD~1 2>/dev/null",
    "git branch -m b$((RANDOM % 4)) b$((RANDOM % 4))/x 2>/dev/null",
    "git switch -q b$((RANDOM % 4)) 2>/dev/null",
    "git switch -qc s$((RANDOM % 4)) 2>/dev/null",
    "git checkout -q --detach 2>/dev/null",
    "git reset -q --hard HEAD~1 2>/dev/null",
    "git reset -q --soft HEAD~1 2>/dev/null",
    "echo $RANDOM >> b.txt; git stash push -q",
    "git stash pop -q 2>/dev/null",
    "git stash drop -q 2>/dev/null",
    "git tag t$((RANDOM % 4)) 2>/dev/null",
    "git tag -d t$((RANDOM % 4)) >/dev/null 2>&1",
    "git merge -q b$((RANDOM % 4)) -m M >/dev/null 2>&1",
    "git merge --abort 2>/dev/null",
    "echo $RANDOM > staged; git add staged",
    "git rm -q --cached b.txt 2>/dev/null",
    "git pack-refs --all",
    "git gc -q --prune=now",
    "git cherry-pick b$((RANDOM % 4)) >/dev/null 2>&1",
];

/// A small generator, so that a failure can be repeated by its number.
fn commands(seed: u64, number: usize) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut line = format!("RANDOM={};", seed % 32768);
    for _ in 0..number {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        line.push_str(COMMANDS[usize::try_from(state % 24).unwrap()]);
        line.push('\n');
    }
    line
}

#[test]
fn random_sequences_leave_a_sound_repository_in_which_each_change_had_a_row() {
    let seeds: Vec<u64> = (1..=24).collect();
    in_parallel(&seeds, |seed| {
        let mut scene = Scene::new(&format!("{FUNCTIONS}repository .; git branch b0 HEAD~1; git branch b1"));
        scene.agent(&format!("T=1700100000\n{FUNCTIONS}{}", commands(*seed, 8)));
        // Every second person works, too.
        if seed % 2 == 0 {
            scene.person(&format!("T=1700200000\n{FUNCTIONS}{}", commands(seed + 1000, 3)));
        }
        let title = format!("seed {seed}");
        let error = |error: placet_git::GitError| format!("{title}: {error}");
        let refs = |scene: &Scene| -> BTreeSet<String> {
            sh(&scene.repo(), "git for-each-ref --format='%(refname) %(objectname)' | grep -v ^refs/stash")
                .lines()
                .map(String::from)
                .collect()
        };
        let files = |scene: &Scene| {
            sh(
                &scene.repo(),
                "cd .git; find . -path ./refs -prune -o -path ./objects -prune -o -path ./logs -prune -o -type f ! -name index ! -name HEAD ! -name packed-refs ! -name ORIG_HEAD -print0 | sort -z | xargs -0 sha1sum",
            )
        };
        let (before, refs_before, files_before) = (scene.says(), refs(&scene), files(&scene));
        let Some(question) = scene.question().map_err(error)? else { return Ok(()) };
        let rows = RepositoryRows::read(&question, &PlainRunner).map_err(error)?;
        if !question.comparison.conflicts.is_empty() {
            let refused = scene.apply(&question, &everything(&question)).is_err();
            same(&format!("{title}: refused"), &before, &scene.says())?;
            return if refused { Ok(()) } else { Err(format!("{title}: a conflict was applied")) };
        }
        let applied = scene.apply(&question, &everything(&question)).map_err(error)?;
        let fsck = sh(&scene.repo(), "git fsck --strict --no-progress --no-dangling");
        same(&format!("{title}: fsck"), "", &fsck)?;
        let shown: BTreeSet<String> = rows
            .refs
            .iter()
            .flat_map(|row| match &row.movement {
                placet_git::RefMovement::Renamed { from, .. } => vec![row.name.escaped(), from.escaped()],
                _ => vec![row.name.escaped()],
            })
            .collect();
        let after = refs(&scene);
        for line in refs_before.symmetric_difference(&after) {
            let name = line.split(' ').next().unwrap();
            if !shown.contains(name) {
                return Err(format!("{title}: {name} changed without a row"));
            }
        }
        let undone = scene.undo(&applied).map_err(error)?;
        same(&format!("{title}: files undone"), &files_before, &files(&scene))?;
        same(&format!("{title}: refs undone"), &format!("{refs_before:?}"), &format!("{:?}", refs(&scene)))?;
        scene.undo(&undone).map_err(error)?;
        same(&format!("{title}: refs redone"), &format!("{after:?}"), &format!("{:?}", refs(&scene)))
    });
}
