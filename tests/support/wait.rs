//! Waits: a test waits for what it needs to see, never for time to pass.

use std::fmt::Debug;
use std::time::{Duration, Instant};

/// How long anything may take. What is seen ends a wait at once, so only a failing test takes this long.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// The end of the wait for what does not come: [`DEADLINE`], of which time counts a tenth in which a process of this machine
/// waited for a processor. Beside other builds a program is slow, and not wrong.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    since: Instant,
    stalled: Duration,
    most: Duration,
}

impl Deadline {
    pub fn start() -> Deadline {
        Deadline { since: Instant::now(), stalled: stalled(), most: DEADLINE }
    }

    /// For a process that works through very much: it gets a small share of a busy machine.
    pub fn of_hard_work() -> Deadline {
        Deadline { most: DEADLINE * 10, ..Deadline::start() }
    }

    pub fn is_over(&self) -> bool {
        let elapsed = self.since.elapsed();
        elapsed > self.most && elapsed.saturating_sub((stalled() - self.stalled) * 9 / 10) > self.most
    }
}

/// In how much time since the machine's start a process waited for a processor; zero where the kernel does not count it.
fn stalled() -> Duration {
    let pressure = std::fs::read_to_string("/proc/pressure/cpu").unwrap_or_default();
    let total = pressure.lines().next().and_then(|some| some.rsplit_once("total="));
    Duration::from_micros(total.and_then(|(_, total)| total.parse().ok()).unwrap_or(0))
}

/// Between two looks: short beside what is waited for, and nearly free.
const PAUSE: Duration = Duration::from_millis(3);

/// Waits until `done`.
#[track_caller]
pub fn until(what: &str, mut done: impl FnMut() -> bool) {
    until_some(what, || done().then_some(()));
}

/// Waits for a value.
#[track_caller]
pub fn until_some<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let deadline = Deadline::start();
    loop {
        if let Some(value) = found() {
            return value;
        }
        assert!(!deadline.is_over(), "waited for {what}");
        std::thread::sleep(PAUSE);
    }
}

/// Waits until a value is `wanted`; a failure shows the value.
#[track_caller]
pub fn until_eq<T: PartialEq + Debug>(wanted: &T, mut now: impl FnMut() -> T) {
    let deadline = Deadline::start();
    loop {
        let value = now();
        if value == *wanted {
            return;
        }
        assert!(!deadline.is_over(), "waited for {wanted:?}, it is {value:?}");
        std::thread::sleep(PAUSE);
    }
}

/// The same as [`until`] beside other tasks.
pub async fn until_then(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Deadline::start();
    while !done() {
        assert!(!deadline.is_over(), "waited for {what}");
        tokio::time::sleep(PAUSE).await;
    }
}

/// Waits until each file of `dir` is older than the clock of a file system is coarse: a change just before a run begins has
/// the time of the run.
#[track_caller]
pub fn until_old(dir: &std::path::Path) {
    const COARSE: Duration = Duration::from_millis(60);
    until("the times of files to be past", || {
        let files = std::fs::read_dir(dir).unwrap();
        let changed = files.map(|file| file.unwrap().metadata().unwrap().modified().unwrap());
        changed.max().is_none_or(|time| time.elapsed().is_ok_and(|age| age > COARSE))
    });
}

/// Waits until a file below `dir` contains `text`: what was typed is stored a moment after the last key.
#[track_caller]
pub fn until_stored(dir: &std::path::Path, text: &str) {
    until(&format!("{text:?} in a file of {}", dir.display()), || {
        let files = std::fs::read_dir(dir).into_iter().flatten().flatten();
        files.filter_map(|file| std::fs::read_to_string(file.path()).ok()).any(|stored| stored.contains(text))
    });
}
