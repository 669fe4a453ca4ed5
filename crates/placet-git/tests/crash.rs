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
use std::sync::atomic::{AtomicUsize, Ordering};
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

/// Kills this process at the step with this number, and what it started before if `with_git`.
struct KillAt {
    number: usize,
    with_git: bool,
    reached: AtomicUsize,
}

impl ApplyWatch for KillAt {
    fn reached(&self, _: MoveStep) -> Result<(), GitError> {
        if self.reached.fetch_add(1, Ordering::Relaxed) != self.number {
            return Ok(());
        }
        let own = std::process::id().to_string();
        let mut processes = if self.with_git { started_by(&own) } else { Vec::new() };
        processes.push(own);
        let _ = Command::new("kill").arg("-9").args(processes).status();
        Ok(())
    }
}

/// What a process started, and what that started.
fn started_by(process: &str) -> Vec<String> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let children = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let children: Vec<String> =
        children.flat_map(|text| text.split_whitespace().map(String::from).collect::<Vec<_>>()).collect();
    let below: Vec<String> = children.iter().flat_map(|child| started_by(child)).collect();
    [below, children].concat()
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
    let (number, with_git) = (step.parse().unwrap(), std::env::var("PLACET_KILL_GIT").is_ok());
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
    with_place(
        &path("PERSON"),
        &path("JOURNAL"),
        &KillAt { number, with_git, reached: AtomicUsize::new(0) },
        |place| {
            placet_git::prepare(&question, &change, place).unwrap().commit(place).unwrap();
        },
    );
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
    // The locks of refs are taken twice: for the name that is in the way, and for the others.
    let steps = (0..=MoveStep::ALL.len()).flat_map(|step| [(step, false), (step, true)]);
    in_parallel(&steps.collect::<Vec<_>>(), |(step, with_git)| {
        let scene = scene();
        let (journal, scratch) = (scene.fresh("journal"), scene.fresh("scratch"));
        std::fs::create_dir(&scratch).unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.envs(with_git.then_some(("PLACET_KILL_GIT", "1")));
        let status = child
            .args(["--exact", "child_that_is_killed_while_it_applies"])
            .env("PLACET_KILL_AT", step.to_string())
            .env("BASE", scene.root().join("1/repo/.git"))
            .env("PERSON", scene.git_dir())
            .env("AGENT", scene.agent_git_dir())
            .env("JOURNAL", &journal)
            .env("SCRATCH", &scratch)
            .output()
            .unwrap();
        let title = format!("step {step}, with git {with_git}");
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
        same(&format!("{title}: unknown locks"), "[]", &format!("{:?}", report.unknown_locks))?;
        same(&format!("{title}: files"), "", &left_behind(&scene))
    });
}

/// An empty lock at a name of ours is another program's, where git ended by itself.
#[test]
fn a_lock_that_came_after_the_kill_stays() {
    for (guarded, wanted) in [(false, "refs/heads/gone.lock"), (true, "")] {
        let mut scene = Scene::new(&format!("{FUNCTIONS}{BEFORE}; git branch gone"));
        scene.agent("git branch -D gone");
        let question = scene.question().unwrap().unwrap();
        let journal = scene.fresh("journal");
        let change = question.comparison.selected(&everything(&question)).unwrap();
        let kept = journal.with_extension("kept");
        struct Copy<'a>(&'a Path, &'a Path);
        impl ApplyWatch for Copy<'_> {
            fn reached(&self, step: MoveStep) -> Result<(), GitError> {
                let line = format!("cp -a {} {}", self.0.display(), self.1.display());
                if step == MoveStep::RefsLocked {
                    sh(Path::new("/"), &line);
                    return Err(GitError::Stopped("here"));
                }
                Ok(())
            }
        }
        let stopped = with_place(&scene.git_dir(), &journal, &Copy(&journal, &kept), |place| {
            placet_git::prepare(&question, &change, place).map(drop)
        });
        assert!(stopped.is_err());
        sh(&scene.root().join("w"), &format!("mv {} {}", kept.display(), journal.display()));
        if !guarded {
            std::fs::remove_file(journal.join("git-holds-locks")).unwrap();
        }
        std::fs::write(scene.git_dir().join("refs/heads/gone.lock"), "").unwrap();
        let report = with_place(&scene.git_dir(), &journal, &Unwatched, |place| {
            placet_git::recover(place, RecoveryGoal::Revert).unwrap()
        });
        let unknown: Vec<String> = report
            .unknown_locks
            .iter()
            .map(|lock| lock.strip_prefix(scene.git_dir()).unwrap().display().to_string())
            .collect();
        assert_eq!(unknown.concat(), wanted);
        assert_eq!(scene.git_dir().join("refs/heads/gone.lock").exists(), !guarded);
    }
}
