//! When a command began, on the clock that stamps the files of the workspace.
//!
//! A file that changed while a command ran is not the file that the command saw. Its change time says so, if the clock of the
//! file system is the one that is compared with. It may be another one than that of this process, and somebody may set it while
//! the command runs: then a change would not be noticed, or one from long before would count for ever.

use crate::files::metadata::stat_fields::file_time;
use rustix::fs::Stat;
#[cfg(target_os = "linux")]
use rustix::fs::{Mode, OFlags};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Seconds and nanoseconds since 1970, as file times count.
pub(in crate::view) type FileTime = (i64, i64);

/// The clocks of a machine differ by less than this while nobody sets one.
const SLACK: Duration = Duration::from_secs(1);

/// When a command began.
#[derive(Clone, Copy, Debug)]
pub(in crate::view) struct RunStart {
    pub(in crate::view) time: FileTime,
    /// The same on the clock of this process, as the journal has it.
    pub(in crate::view) own: FileTime,
    /// The same on a clock that nobody can set. `None` for a command of another process.
    at: Option<Instant>,
}

impl RunStart {
    /// Now. `root` is in the file system of the workspace.
    pub(in crate::view) fn now(root: &Path) -> RunStart {
        let (own, at) = (own_time(), Some(Instant::now()));
        RunStart { time: time_of(root).unwrap_or(own), own, at }
    }

    /// What was recorded for a start after this process was killed.
    pub(in crate::view) fn recorded(time: FileTime) -> RunStart {
        RunStart { time, own: time, at: None }
    }

    /// When the command began, in file times of now, and what counts as later.
    pub(in crate::view) fn period(self, root: &Path) -> RunPeriod {
        let whole = RunPeriod { since: self.time, ends_now: true, root: root.to_path_buf() };
        let Some(began) = self.at else { return whole };
        let ran = began.elapsed();
        let now = time_of(root).unwrap_or_else(own_time);
        // What the clock would have shown when the command began, had it been set as it is now.
        let since = earlier(now, ran + SLACK);
        match since < earlier(self.time, SLACK + SLACK) {
            // It was set back in the meantime: a change from before that may have a time that is still to come.
            true => RunPeriod { since, ends_now: false, ..whole },
            false => whole,
        }
    }
}

/// The time in which a command ran, as file times of one file system.
#[derive(Clone, Debug)]
pub(in crate::view) struct RunPeriod {
    since: FileTime,
    /// A time that is still to come is from before: somebody has set the clock since.
    ends_now: bool,
    root: PathBuf,
}

impl RunPeriod {
    /// True where a file with this status may have changed while the command ran.
    pub(in crate::view) fn has_change_of(&self, stat: &Stat) -> bool {
        self.has(file_time(stat))
    }

    pub(in crate::view) fn has(&self, time: FileTime) -> bool {
        // The clock is asked for the moment, as the person may change files while they are collected.
        let is_to_come = || time_of(&self.root).is_some_and(|now| time > now);
        time > self.since && !(self.ends_now && is_to_come())
    }
}

fn earlier((seconds, nanoseconds): FileTime, by: Duration) -> FileTime {
    let seconds = seconds.saturating_sub(i64::try_from(by.as_secs()).unwrap_or(i64::MAX));
    match nanoseconds - i64::from(by.subsec_nanos()) {
        left @ 0.. => (seconds, left),
        less => (seconds.saturating_sub(1), less + 1_000_000_000),
    }
}

pub(in crate::view) fn own_time() -> FileTime {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (i64::try_from(now.as_secs()).unwrap_or(0), i64::from(now.subsec_nanos()))
}

/// The time that the file system of `root` gives to a new file, which has no name and is gone at once. `None` where it
/// makes no such file, as on a file server.
#[cfg(target_os = "linux")]
fn time_of(root: &Path) -> Option<FileTime> {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open(root, flags, Mode::RUSR | Mode::WUSR).ok()?;
    Some(file_time(&rustix::fs::fstat(&file).ok()?))
}

#[cfg(not(target_os = "linux"))]
fn time_of(_: &Path) -> Option<FileTime> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(time: FileTime) -> RunStart {
        RunStart { time, own: time, at: Some(Instant::now()) }
    }

    #[test]
    fn only_a_change_in_the_period_counts() {
        let dir = tempfile::tempdir().unwrap();
        let (seconds, nanoseconds) = time_of(dir.path()).unwrap();
        let began = start((seconds, nanoseconds));
        let period = began.period(dir.path());
        assert!(!period.has((seconds, nanoseconds)) && !period.has((seconds - 1, 0)));
        while time_of(dir.path()) == Some((seconds, nanoseconds)) {}
        std::fs::write(dir.path().join("f"), "x").unwrap();
        let stat = rustix::fs::lstat(dir.path().join("f")).unwrap();
        assert!(period.has_change_of(&stat) && began.period(dir.path()).has_change_of(&stat));
        // Somebody has set the clock back since the file got this time.
        assert!(!period.has((seconds + 3600, 0)));
        assert!(RunStart::recorded((seconds - 5, 0)).period(dir.path()).has((seconds - 1, 0)));
    }

    #[test]
    fn a_clock_that_is_set_back_meanwhile_hides_no_change() {
        let dir = tempfile::tempdir().unwrap();
        let (seconds, _) = time_of(dir.path()).unwrap();
        // The clock was an hour further when the command began.
        let period = start((seconds + 3600, 0)).period(dir.path());
        assert!(period.has((seconds, 0)), "after the clock was set");
        assert!(period.has((seconds + 3601, 0)), "before it was set");
        assert!(!period.has((seconds - 60, 0)));
        // Set forward: a change from the time before still counts.
        let period = start((seconds - 3600, 0)).period(dir.path());
        assert!(period.has((seconds - 3599, 0)) && period.has((seconds - 1, 0)));
    }

    #[test]
    fn times_are_subtracted() {
        assert_eq!(earlier((5, 10), Duration::new(2, 10)), (3, 0));
        assert_eq!(earlier((5, 10), Duration::new(2, 11)), (2, 999_999_999));
    }
}
