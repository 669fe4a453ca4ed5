//! An apply that fails or is killed at each of its steps: old or new, and no lock of ours is left.

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
    ApplyJournal, ApplyWatch, GitError, MovePhase, MoveStep, PlainRunner, PlainSource, QuestionSides,
    RecoveryGoal, RepositoryQuestion, RepositoryState, Unwatched,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use support::{FUNCTIONS, Scene, everything, in_parallel, same, sh, with_place};

const BEFORE: &str =
    "repository .; git branch side HEAD~1; echo s >> b.txt; git stash -q; echo p > b.txt; git add b.txt";
/// Everything that an apply has: a name in the way, HEAD, index, stash, a hook, refs.
const AGENT: &str = "git branch -D side; git branch side/x; git stash pop -q; git stash push -q -m New; git switch -qc work; echo 2 >> a.txt; git commit -qam Agent; echo 3 > c; git add c; mkdir -p .git/hooks; echo '#!/bin/sh' > .git/hooks/pre-push; git tag t";

struct StopAt(MoveStep);

impl ApplyWatch for StopAt {
    fn reached(&self, step: MoveStep) -> Result<(), GitError> {
        if step == self.0 { Err(GitError::Stopped("here")) } else { Ok(()) }
    }
}

struct KillAt(MoveStep);

impl ApplyWatch for KillAt {
    fn reached(&self, step: MoveStep) -> Result<(), GitError> {
        if step == self.0 {
            let _ = Command::new("kill").args(["-9", &std::process::id().to_string()]).status();
        }
        Ok(())
    }
}

fn scene() -> Scene {
    let mut scene = Scene::new(&format!("{FUNCTIONS}{BEFORE}"));
    scene.agent(&format!("T=1700100000\n{FUNCTIONS}{AGENT}"));
    // A lock of somebody else's, in nobody's way.
    std::fs::write(scene.git_dir().join("config.lock"), "").unwrap();
    scene
}

fn left_behind(scene: &Scene) -> String {
    sh(
        &scene.repo(),
        "find .git -name '*.lock' ! -name config.lock -o -name '*placet*'; test -e .git/config.lock || echo config.lock went",
    )
}

#[test]
fn a_failure_at_any_step_leaves_everything_as_it_was() {
    in_parallel(&MoveStep::ALL, |step| {
        let scene = scene();
        let question = scene.question().map_err(|error| error.to_string())?.ok_or("nothing")?;
        let error = scene.apply_watched(&question, &everything(&question), &StopAt(*step));
        let error = error.err().map(|error| error.to_string());
        same(&format!("{step:?}"), "stopped at step here", &error.unwrap_or_default())?;
        same(&format!("{step:?}"), &scene.said_before, &scene.says())?;
        same(&format!("{step:?}: files"), "", &left_behind(&scene))
    });
}

/// Not a test by itself: the process that is killed.
#[test]
fn child_that_is_killed_while_it_applies() {
    let Ok(step) = std::env::var("PLACET_KILL_AT") else { return };
    let path = |name: &str| PathBuf::from(std::env::var(name).unwrap());
    let step = MoveStep::ALL[step.parse::<usize>().unwrap()];
    let read = |git_dir: PathBuf, scratch: &str| {
        RepositoryState::read(&PlainSource::new(&git_dir), &path("SCRATCH").join(scratch), &PlainRunner)
            .unwrap()
    };
    let base = read(path("BASE"), "base");
    let (person, agent) = (PlainSource::new(&path("PERSON")), PlainSource::new(&path("AGENT")));
    let sides = QuestionSides { base: &base, person: &person, agent: &agent };
    let question =
        RepositoryQuestion::read(sides, &path("SCRATCH").join("question"), &PlainRunner).unwrap().unwrap();
    let change = question.comparison.selected(&everything(&question)).unwrap();
    with_place(&path("PERSON"), &path("JOURNAL"), &KillAt(step), |place| {
        placet_git::prepare(&question, &change, place).unwrap().commit(place).unwrap();
    });
}

/// git gives its transaction up when placet is gone; it works in the repository's directory.
fn wait_until_nobody_works_in(directory: &Path) {
    let end = Instant::now() + Duration::from_secs(30);
    let is_there = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.and_then(|entry| std::fs::read_link(entry.path().join("cwd"))).is_ok_and(|cwd| cwd == directory)
    };
    while std::fs::read_dir("/proc").unwrap().any(is_there) {
        assert!(Instant::now() < end, "git still runs");
        std::thread::yield_now();
    }
}

#[test]
fn a_kill_at_any_step_is_completed_or_reverted_by_the_next_start() {
    let steps: Vec<usize> = (0..MoveStep::ALL.len()).collect();
    in_parallel(&steps, |step| {
        let scene = scene();
        let (journal, scratch) = (scene.fresh("journal"), scene.fresh("scratch"));
        std::fs::create_dir(&scratch).unwrap();
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_that_is_killed_while_it_applies"])
            .env("PLACET_KILL_AT", step.to_string())
            .env("BASE", scene.root().join("1/repo/.git"))
            .env("PERSON", scene.git_dir())
            .env("AGENT", scene.agent_git_dir())
            .env("JOURNAL", &journal)
            .env("SCRATCH", &scratch)
            .output()
            .unwrap();
        let title = format!("{:?}", MoveStep::ALL[*step]);
        if status.status.success() {
            return Err(format!("{title}: was not killed {}", String::from_utf8_lossy(&status.stdout)));
        }
        wait_until_nobody_works_in(&scene.git_dir());
        let phase = ApplyJournal::load(&journal).map_err(|error| format!("{title}: {error}"))?.phase;
        let goal = if phase == MovePhase::Preparing { RecoveryGoal::Revert } else { RecoveryGoal::Complete };
        let report =
            with_place(&scene.git_dir(), &journal, &Unwatched, |place| placet_git::recover(place, goal));
        let report = report.map_err(|error| format!("{title}: {error}"))?;
        let wanted = match goal {
            RecoveryGoal::Revert => scene.said_before.clone(),
            RecoveryGoal::Complete => {
                scene.work_tree_of("2");
                scene.agent_says().to_owned()
            }
        };
        same(&format!("{title}: {goal:?} {report:?}"), &wanted, &scene.says())?;
        same(&format!("{title}: files"), "", &left_behind(&scene))
    });
}
