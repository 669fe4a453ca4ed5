//! Every descendant of this process, and the end of them.

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// How long descendants have after the polite signal, and after the one that cannot be refused.
const POLITE: Duration = Duration::from_millis(200);
const FINAL: Duration = Duration::from_secs(3);

/// Reaps whatever has ended. Returns the status of `main` if it was among them, and whether children remain.
pub(super) fn reap(main: Pid) -> (Option<WaitStatus>, bool) {
    let mut status = None;
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, ended))) if pid == main => status = Some(ended),
            Ok(Some(_)) => {}
            Ok(None) => return (status, true),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return (status, false),
        }
    }
}

/// Ends everything below this process: first politely, soon for good. This process must be their reaper, so that
/// what loses its parent on the way becomes its own child. Returns the status of `main` if it ended here.
pub(super) async fn end_all(main: Pid) -> Option<WaitStatus> {
    let start = Instant::now();
    let mut told: BTreeSet<i32> = BTreeSet::new();
    let mut status = None;
    loop {
        let (ended, more) = reap(main);
        status = status.or(ended);
        if !more || start.elapsed() > FINAL {
            return status;
        }
        let polite = start.elapsed() < POLITE;
        for pid in descendants() {
            if polite && told.insert(pid.as_raw_nonzero().get()) {
                let _ = rustix::process::kill_process(pid, Signal::TERM);
                // A stopped process hears nothing before it goes on.
                let _ = rustix::process::kill_process(pid, Signal::CONT);
            } else if !polite {
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            }
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Everything below this process, by the parents that `/proc` tells.
#[cfg(target_os = "linux")]
fn descendants() -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        let Ok(stat) = std::fs::read(entry.path().join("stat")) else { continue };
        if let Some(parent) = parent_in(&stat) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut todo = vec![rustix::process::getpid().as_raw_nonzero().get()];
    while let Some(pid) = todo.pop() {
        let below = children.remove(&pid).unwrap_or_default();
        found.extend(below.iter().copied().filter_map(Pid::from_raw));
        todo.extend(below);
    }
    found
}

/// Elsewhere the supervisor's process group is what can be found.
#[cfg(not(target_os = "linux"))]
fn descendants() -> Vec<Pid> {
    let _ = BTreeMap::<i32, i32>::new();
    Vec::new()
}

/// The parent of a process, while that is there.
#[cfg(target_os = "linux")]
pub fn parent_of(pid: u32) -> Option<u32> {
    let parent = parent_in(&std::fs::read(format!("/proc/{pid}/stat")).ok()?)?;
    u32::try_from(parent).ok()
}

/// The fourth field of `/proc/PID/stat`; the second is a name in brackets that may itself hold brackets.
#[cfg(target_os = "linux")]
fn parent_in(stat: &[u8]) -> Option<i32> {
    let after = memchr::memrchr(b')', stat)?;
    let rest = std::str::from_utf8(stat.get(after + 1..)?).ok()?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_hides_no_parent() {
        assert_eq!(parent_in(b"12 (a) b (c)) S 7 12 12"), Some(7));
        assert_eq!(parent_in(b"garbage"), None);
    }
}
