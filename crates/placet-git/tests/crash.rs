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
    ApplyJournal, ApplyWatch, GitError, MovePhase, PlainRunner, PlainSource, QuestionSides, RecoveryGoal,
    RepositoryQuestion, RepositoryState, Unwatched,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use support::{FUNCTIONS, Scene, everything, in_parallel, same, sh, with_place};

const BEFORE: &str = "repository .; git branch side HEAD~1; echo s >> b.txt; git stash -q; git pack-refs --all; echo p > b.txt; git add b.txt";
/// Everything that an apply has: a name in the way, HEAD, index, stash, a hook, refs.
const AGENT: &str = "git branch -D side; git branch side/x; git stash pop -q; git stash push -q -m New; git switch -qc work; echo 2 >> a.txt; git commit -qam Agent; echo 3 > c; git add c; mkdir -p .git/hooks; echo '#!/bin/sh' > .git/hooks/pre-push; git tag t";

/// Of this change, an apply has so many: the locks of refs are taken twice, for the name that is in the way, and for the others.
const STEPS: usize = 16;

struct StopAt(usize, AtomicUsize);

impl ApplyWatch for StopAt {
    fn reached(&self, _: &str) -> Result<(), GitError> {
        if self.1.fetch_add(1, Ordering::Relaxed) == self.0 { Err(GitError::Stopped("here")) } else { Ok(()) }
    }
}

/// Who is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Killed {
    Placet,
    Git,
    Both,
}

const KILLED: [Killed; 3] = [Killed::Placet, Killed::Git, Killed::Both];

/// Kills at the step with this number.
struct KillAt {
    number: usize,
    killed: Killed,
    reached: AtomicUsize,
}

impl ApplyWatch for KillAt {
    fn reached(&self, _: &str) -> Result<(), GitError> {
        if self.reached.fetch_add(1, Ordering::Relaxed) != self.number {
            return Ok(());
        }
        let own = std::process::id().to_string();
        let is_git = |id: &String| {
            std::fs::read_to_string(format!("/proc/{id}/comm")).is_ok_and(|name| name.trim() == "git")
        };
        let processes = match self.killed {
            Killed::Placet => vec![own],
            Killed::Git => started_by(&own).into_iter().filter(is_git).collect(),
            Killed::Both => [started_by(&own), vec![own]].concat(),
        };
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
    scene_of(BEFORE, AGENT)
}

fn scene_of(before: &str, agent: &str) -> Scene {
    let mut scene = Scene::new(&format!("{FUNCTIONS}{before}"));
    scene.agent(&format!("T=1700100000\n{FUNCTIONS}{agent}"));
    // A lock of somebody else's, in nobody's way.
    std::fs::write(scene.git_dir().join("config.lock"), "").unwrap();
    scene
}

fn left_behind(scene: &Scene) -> String {
    sh(
        &scene.repo(),
        "find .git -name '*.lock' ! -name config.lock -o -name 'packed-refs.new' -o -name '*placet*'; test -e .git/config.lock || echo config.lock went",
    )
}

#[test]
fn a_failure_at_any_step_leaves_everything_as_it_was() {
    let all = scene();
    let question = all.question().unwrap().unwrap();
    let watch = StopAt(STEPS, AtomicUsize::new(0));
    all.apply_watched(&question, &everything(&question), &watch).unwrap();
    assert_eq!(watch.1.into_inner(), STEPS);
    in_parallel(&(0..STEPS).collect::<Vec<_>>(), |step| {
        let scene = scene();
        let question = scene.question().map_err(|error| error.to_string())?.ok_or("nothing")?;
        let watch = StopAt(*step, AtomicUsize::new(0));
        let error = scene.apply_watched(&question, &everything(&question), &watch);
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
    let killed = std::env::var("PLACET_KILL").unwrap();
    let killed = KILLED.into_iter().find(|one| format!("{one:?}") == killed).unwrap();
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
    let watch = KillAt { number: step.parse().unwrap(), killed, reached: AtomicUsize::new(0) };
    let applied = with_place(&path("PERSON"), &path("JOURNAL"), &watch, |place| {
        placet_git::prepare(&question, &change, place).and_then(|prepared| prepared.commit(place))
    });
    assert!(applied.is_ok(), "{applied:?}");
}

/// Applies in a process of its own, in which `killed` is killed at a step or by the `git` in `path`, and lets the next start
/// recover. Everything is old or new then, and no lock is left but the one of somebody else.
fn killed_and_recovered(scene: &Scene, step: usize, killed: Killed, path: &str) -> Result<(), String> {
    let title = format!("step {step}, {killed:?} {path}");
    let (journal, scratch) = (scene.fresh("journal"), scene.fresh("scratch"));
    std::fs::create_dir(&scratch).unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_that_is_killed_while_it_applies"])
        .env("PATH", format!("{path}{}", std::env::var("PATH").unwrap()))
        .env("PLACET_KILL_AT", step.to_string())
        .env("PLACET_KILL", format!("{killed:?}"))
        .env("BASE", scene.root().join("1/repo/.git"))
        .env("PERSON", scene.git_dir())
        .env("AGENT", scene.agent_git_dir())
        .env("JOURNAL", &journal)
        .env("SCRATCH", &scratch)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&[status.stdout, status.stderr].concat()).into_owned();
    wait_until_nobody_works_in(&scene.git_dir());
    let phase = match status.status.code() {
        // An error leaves nothing behind, also where only git was killed.
        Some(0) => MovePhase::Done,
        Some(_) if journal.exists() => return Err(format!("{title}: a journal is left: {said}")),
        Some(_) => MovePhase::Preparing,
        None => ApplyJournal::load(&journal).map_err(|error| format!("{title}: {error}"))?.phase,
    };
    let goal = if phase == MovePhase::Preparing { RecoveryGoal::Revert } else { RecoveryGoal::Complete };
    if status.status.code().is_none() {
        let report =
            with_place(&scene.git_dir(), &journal, &Unwatched, |place| placet_git::recover(place, goal));
        let unknown = report.map_err(|error| format!("{title}: {error}"))?;
        same(&format!("{title}: unknown locks"), "[]", &format!("{unknown:?}"))?;
    }
    let wanted = match goal {
        RecoveryGoal::Revert => scene.said_before.clone(),
        RecoveryGoal::Complete => {
            scene.work_tree_of("2");
            scene.agent_says().to_owned()
        }
    };
    same(&format!("{title}: {goal:?} {said}"), &wanted, &scene.says())?;
    same(&format!("{title}: files"), "", &left_behind(scene))
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
    let steps = (0..STEPS).flat_map(|step| KILLED.map(|killed| (step, killed)));
    in_parallel(&steps.collect::<Vec<_>>(), |(step, killed)| {
        killed_and_recovered(&scene(), *step, *killed, "")
    });
}

/// What the person did before, and what the agent does: calls of git that take locks, one after the other.
const CALLS: [(&str, &str); 4] = [
    (BEFORE, AGENT),
    (
        "repository .; for n in 1 2 3; do echo $n > b.txt; git stash push -q -m $n; done; git pack-refs --all",
        "git stash drop -q stash@{1}; git branch t",
    ),
    (
        "repository .; git worktree add -q ../wt; git pack-refs --all; cd ../wt; git bisect start -q HEAD HEAD~1",
        "cd ../wt; git bisect reset -q; git switch -q --detach HEAD~1",
    ),
    (
        "export GIT_DEFAULT_REF_FORMAT=reftable; repository .; git branch side; echo s > b.txt; git stash -q",
        "git stash drop -q; git branch -D side; git commit -q --allow-empty -m Agent",
    ),
];

/// A `git` that a signal ends when it writes to a file, as `kill -9` would: its locks stay. Of the calls that take locks, it is
/// the one with this number; the others are git. `both` also kills placet, of which the shell with the guard was started.
const KILLED_GIT: &str = r#"#!/bin/sh
case " $* " in *" update-ref "*|*" symbolic-ref "*)
    echo call >> ROOT/calls
    if test "$(wc -l < ROOT/calls)" = CALL; then
        (ulimit -f 0; exec GIT "$@"); end=$?
        test $end -ge 128 || exit $end
        test PLACET = no || kill -9 $(cut -d " " -f 4 /proc/$PPID/stat)
        kill -9 $$
    fi
esac
exec GIT "$@"
"#;

#[test]
fn a_kill_within_a_call_of_git_leaves_no_lock() {
    let git = sh(Path::new("/"), "command -v git");
    let cases = (0..CALLS.len()).flat_map(|at| (1..=6).map(move |call| (at, call)));
    let cases = cases.flat_map(|(at, call)| [Killed::Git, Killed::Both].map(|killed| (at, call, killed)));
    let kills = AtomicUsize::new(0);
    in_parallel(&cases.collect::<Vec<_>>(), |(at, call, killed)| {
        let scene = scene_of(CALLS[*at].0, CALLS[*at].1);
        let bin = scene.root().join("bin");
        std::fs::create_dir(&bin).unwrap();
        let both = if *killed == Killed::Both { "yes" } else { "no" };
        let words = [("ROOT", scene.root().to_str().unwrap()), ("CALL", &call.to_string()), ("PLACET", both)];
        let script = words
            .iter()
            .fold(KILLED_GIT.replace("GIT", git.trim()), |script, (word, value)| script.replace(word, value));
        std::fs::write(bin.join("git"), script).unwrap();
        sh(&bin, "chmod +x git");
        let done = killed_and_recovered(&scene, usize::MAX, *killed, &format!("{}:", bin.display()));
        let calls = sh(scene.root(), "cat calls").lines().count();
        kills.fetch_add(usize::from(calls >= *call), Ordering::Relaxed);
        done.map_err(|error| format!("case {at}, call {call} of {calls}: {error}"))
    });
    assert!(kills.into_inner() >= 10 || std::env::var_os("PLACET_SCENARIO").is_some());
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
            fn reached(&self, step: &str) -> Result<(), GitError> {
                let line = format!("cp -a {} {}", self.0.display(), self.1.display());
                if step == "refs locked" {
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
            .iter()
            .map(|lock| lock.strip_prefix(scene.git_dir()).unwrap().display().to_string())
            .collect();
        assert_eq!(unknown.concat(), wanted);
        assert_eq!(scene.git_dir().join("refs/heads/gone.lock").exists(), !guarded);
    }
}
