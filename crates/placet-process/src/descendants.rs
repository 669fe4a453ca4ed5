//! Finds and ends every descendant of this process.

use super::child_pid::{ChildPid, ReapResult};
use rustix::process::{Signal, WaitStatus};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// How long descendants have after SIGTERM, and after SIGKILL.
const POLITE: Duration = Duration::from_millis(200);
const FINAL: Duration = Duration::from_secs(3);

/// Reaps every child that has ended. Returns the status of `main` if it was among them, and whether children remain. An
/// error comes from the system: a seccomp profile may refuse `wait4`, and then placet never sees a child end.
pub(super) fn reap(main: ChildPid) -> rustix::io::Result<(Option<WaitStatus>, bool)> {
    let mut status = None;
    loop {
        match ChildPid::reap_any() {
            Ok(ReapResult::Ended(pid, ended)) if pid == main => status = Some(ended),
            Ok(ReapResult::Ended(..)) => {}
            Ok(ReapResult::Running) => return Ok((status, true)),
            Ok(ReapResult::Nobody) => return Ok((status, false)),
            Err(error) => return Err(error),
        }
    }
}

/// Ends every process below this one: first with SIGTERM, soon with SIGKILL. This process must be their reaper, so that
/// a process that loses its parent meanwhile becomes its own child. `status` is that of `main`, if it was reaped
/// already; returns the status of `main` if it ended here.
pub(super) async fn end_all(main: ChildPid, status: Option<WaitStatus>) -> Option<WaitStatus> {
    let start = Instant::now();
    let mut told: BTreeSet<ChildPid> = BTreeSet::new();
    let mut status = status;
    loop {
        // If the system refuses to wait, `/proc` shows which processes are still alive.
        let (ended, more) = reap(main).unwrap_or_else(|_| (None, is_any_alive()));
        status = status.or(ended);
        if !more || start.elapsed() > FINAL {
            return status;
        }
        let polite = start.elapsed() < POLITE;
        let below = descendants();
        for (pid, parent) in &below {
            if !polite {
                signal_child(*pid, *parent, &[Signal::KILL]);
            } else if !told.contains(pid) && signal_child(*pid, *parent, &[Signal::TERM, Signal::CONT]) {
                // A stopped process handles no signal before it continues, so CONT follows.
                told.insert(*pid);
            }
        }
        // Without `/proc` only the group of the command can be found. Its number is that of a child that was not
        // reaped, and so the number still belongs to it.
        if below.is_empty() && status.is_none() && (!polite || told.insert(main)) {
            let signal = if polite { Signal::TERM } else { Signal::KILL };
            let _ = main.signal_group(signal);
            let _ = main.signal(signal);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The same at once and without a runtime, for a process that cannot continue.
pub(super) fn end_all_now() {
    let start = Instant::now();
    while start.elapsed() < FINAL {
        for (pid, parent) in descendants() {
            signal_child(pid, parent, &[Signal::KILL]);
        }
        match ChildPid::reap_any() {
            Ok(ReapResult::Nobody) => return,
            Ok(ReapResult::Ended(..)) => {}
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Every process below this one with its parent, by the parents in `/proc`.
#[cfg(target_os = "linux")]
fn descendants() -> Vec<(ChildPid, i32)> {
    below(rustix::process::getpid().as_raw_nonzero().get())
}

/// The names of the processes below `supervisor`, without process 1 of its sandbox.
#[cfg(target_os = "linux")]
pub(super) fn programs_below(supervisor: ChildPid) -> Vec<String> {
    let Ok(root) = i32::try_from(supervisor.number()) else { return Vec::new() };
    let programs = below(root).into_iter().filter(|(_, parent)| *parent != root);
    let name = |(pid, _): (ChildPid, i32)| std::fs::read(pid.proc_dir().join("comm")).ok();
    let mut names: Vec<String> = programs
        .filter_map(name)
        .map(|name| String::from_utf8_lossy(&name).trim_end_matches('\n').to_string())
        .collect();
    names.sort();
    names
}

#[cfg(not(target_os = "linux"))]
pub(super) fn programs_below(_: ChildPid) -> Vec<String> {
    Vec::new()
}

/// Opens the root directories of processes of the sandbox below `supervisor`, at most eight of them. One may be that of
/// the machine: the process may still be starting. Process 1 of a sandbox can be looked at by root alone.
#[cfg(target_os = "linux")]
pub fn roots_below(supervisor: ChildPid) -> Vec<std::os::fd::OwnedFd> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let open = |pid: ChildPid| rustix::fs::open(pid.proc_dir().join("root"), flags, Mode::empty()).ok();
    processes_below(supervisor).into_iter().filter_map(open).take(8).collect()
}

#[cfg(not(target_os = "linux"))]
pub fn roots_below(_: ChildPid) -> Vec<std::os::fd::OwnedFd> {
    Vec::new()
}

/// The names of the processes of all commands that the placet with this number runs, as the system shows them.
#[cfg(target_os = "linux")]
pub fn programs_of(placet: ChildPid) -> Vec<String> {
    let Ok(root) = i32::try_from(placet.number()) else { return Vec::new() };
    let supervisors = below(root).into_iter().filter(|(_, parent)| *parent == root);
    let mut names: Vec<String> = supervisors.flat_map(|(pid, _)| programs_below(pid)).collect();
    names.sort();
    names
}

#[cfg(not(target_os = "linux"))]
pub fn programs_of(_: ChildPid) -> Vec<String> {
    Vec::new()
}

/// The processes below `supervisor`.
#[cfg(target_os = "linux")]
pub(super) fn processes_below(supervisor: ChildPid) -> Vec<ChildPid> {
    let Ok(root) = i32::try_from(supervisor.number()) else { return Vec::new() };
    below(root).into_iter().map(|(pid, _)| pid).collect()
}

/// The processes below `root`, each with its parent. The cost grows with them and not with all processes of the machine.
#[cfg(target_os = "linux")]
fn below(root: i32) -> Vec<(ChildPid, i32)> {
    let mut all = None;
    let mut found = Vec::new();
    let mut todo = vec![root];
    while let Some(parent) = todo.pop() {
        let below = children_of(parent)
            .unwrap_or_else(|| all.get_or_insert_with(all_children).remove(&parent).unwrap_or_default());
        found.extend(below.iter().filter_map(|&pid| Some((ChildPid::checked(pid).ok()?, parent))));
        todo.extend(below);
    }
    found
}

/// The children of all threads of a process, none where it has ended; `None` where the kernel does not list them
/// (CONFIG_PROC_CHILDREN).
#[cfg(target_os = "linux")]
fn children_of(parent: i32) -> Option<Vec<i32>> {
    let mut children = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten() {
        match std::fs::read_to_string(task.path().join("children")) {
            Ok(list) => {
                children.extend(list.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()))
            }
            // A thread that has ended meanwhile has none.
            Err(_) if !task.path().exists() => {}
            Err(_) => return None,
        }
    }
    Some(children)
}

/// The children of every process of the machine.
#[cfg(target_os = "linux")]
fn all_children() -> BTreeMap<i32, Vec<i32>> {
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
    children
}

/// True while a process below this one has not ended. A process that has ended and was not reaped is a zombie.
#[cfg(target_os = "linux")]
fn is_any_alive() -> bool {
    let alive =
        |pid: ChildPid| std::fs::read(pid.proc_dir().join("stat")).is_ok_and(|stat| !has_ended(&stat));
    descendants().into_iter().any(|(pid, _)| alive(pid))
}

#[cfg(not(target_os = "linux"))]
fn is_any_alive() -> bool {
    true
}

/// Elsewhere nothing is listed, and only the command's group can be found.
#[cfg(not(target_os = "linux"))]
fn descendants() -> Vec<(ChildPid, i32)> {
    // So that its import is used on every system.
    let _ = BTreeMap::<i32, i32>::new();
    Vec::new()
}

/// Sends `signals` if the process is still the child of `parent`. A descendant is reaped by its own parent, so its
/// number may belong to an unrelated process by now: the process is opened first, then checked, then signalled. False
/// if it is another process, or has ended.
#[cfg(target_os = "linux")]
fn signal_child(pid: ChildPid, parent: i32, signals: &[Signal]) -> bool {
    let held = match pid.open() {
        Ok(held) => Some(held),
        Err(rustix::io::Errno::SRCH) => return false,
        // If descriptors of processes are not available, the number has to do.
        Err(_) => None,
    };
    if stat_parent(pid) != Some(parent) {
        return false;
    }
    for signal in signals {
        let _ = match &held {
            Some(held) => match rustix::process::pidfd_send_signal(held, *signal) {
                Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => pid.signal(*signal),
                told => told,
            },
            None => pid.signal(*signal),
        };
    }
    true
}

#[cfg(not(target_os = "linux"))]
fn signal_child(pid: ChildPid, _: i32, signals: &[Signal]) -> bool {
    signals.iter().all(|signal| pid.signal(*signal).is_ok())
}

/// The parent of a process, while the process exists.
#[cfg(target_os = "linux")]
pub fn parent_of(pid: ChildPid) -> Option<ChildPid> {
    ChildPid::checked(stat_parent(pid)?).ok()
}

#[cfg(target_os = "linux")]
fn stat_parent(pid: ChildPid) -> Option<i32> {
    parent_in(&std::fs::read(pid.proc_dir().join("stat")).ok()?)
}

/// The fourth field of `/proc/PID/stat`; the second is a name in brackets that may itself contain brackets.
#[cfg(target_os = "linux")]
fn parent_in(stat: &[u8]) -> Option<i32> {
    after_name(stat)?.nth(1)?.parse().ok()
}

/// Whether the third field of `/proc/PID/stat` shows that the process is a zombie, or about to disappear.
#[cfg(target_os = "linux")]
fn has_ended(stat: &[u8]) -> bool {
    after_name(stat)
        .and_then(|mut fields| fields.next())
        .is_some_and(|state| matches!(state, "Z" | "X" | "x"))
}

#[cfg(target_os = "linux")]
fn after_name(stat: &[u8]) -> Option<std::str::SplitAsciiWhitespace<'_>> {
    let after = memchr::memrchr(b')', stat)?;
    Some(std::str::from_utf8(stat.get(after + 1..)?).ok()?.split_ascii_whitespace())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_hides_no_parent() {
        assert_eq!(parent_in(b"12 (a) b (c)) S 7 12 12"), Some(7));
        assert_eq!(parent_in(b"garbage"), None);
        assert!(has_ended(b"12 (a) S) Z 7 12 12") && !has_ended(b"12 (a) Z) S 7 12 12"));
    }

    /// Both ways to find children see a child of another thread.
    #[test]
    fn children_are_found_by_the_list_of_the_kernel_and_by_all_processes() {
        let start = || std::process::Command::new("sleep").arg("30").spawn();
        let mut child = std::thread::scope(|scope| scope.spawn(start).join()).unwrap().unwrap();
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let id = i32::try_from(child.id()).unwrap();
        assert!(all_children().remove(&own).unwrap().contains(&id));
        assert!(children_of(own).is_none_or(|children| children.contains(&id)));
        assert!(below(own).iter().any(|(pid, parent)| pid.number() == child.id() && *parent == own));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(
            children_of(id).is_none_or(|children| children.is_empty()),
            "a process that is gone has none"
        );
    }
}
