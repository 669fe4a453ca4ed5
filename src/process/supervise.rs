//! `placet __run`: the parent of one command and of everything it starts.
//!
//! A process of its own, single-threaded, because only a process can be the reaper of orphans: daemons that fork
//! twice, or start sessions of their own, come back to it as children. It holds a pipe to placet; when that closes,
//! or placet dies in any way, everything below is killed. It never reads or writes the person's terminal.

use rustix::fd::{AsFd, BorrowedFd};
use rustix::process::{Pid, Signal, WaitOptions};
use std::ffi::OsString;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// The hidden subcommand.
pub const SUPERVISE: &str = "__run";

/// How long politely stopped processes have before they are killed.
const GRACE: Duration = Duration::from_millis(300);
/// How often children are looked for while they are being stopped.
const STEP: Duration = Duration::from_millis(10);

/// Runs the shell line in `args` (the one argument after [`SUPERVISE`]). Standard input of the supervisor is the
/// lifeline: the line is followed by the command's own input, see [`super::run`]. The exit code is the command's, or
/// 128 + n after signal n.
pub fn supervise(args: impl Iterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.collect();
    let [line, input @ ..] = args.as_slice() else { return ExitCode::from(127) };
    // A session of its own: no controlling terminal, so nothing below can open /dev/tty.
    let _ = rustix::process::setsid();
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::TERM));
    let stdin = match input.first().map(std::fs::File::open) {
        Some(Ok(file)) => Stdio::from(file),
        Some(Err(_)) | None => Stdio::null(),
    };
    let child = Command::new("sh").arg("-c").arg(line).stdin(stdin).process_group(0).spawn();
    let Ok(child) = child else { return ExitCode::from(127) };
    let Some(main) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
        return ExitCode::from(127);
    };
    let code = wait_for(main);
    stop_descendants();
    ExitCode::from(code)
}

/// Reaps until `main` is gone or the lifeline is cut.
fn wait_for(main: Pid) -> u8 {
    let lifeline = rustix::stdio::stdin();
    let ended = rustix::process::pidfd_open(main, rustix::process::PidfdFlags::empty()).ok();
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if pid == main => {
                let code = status.exit_status().or_else(|| status.terminating_signal().map(|n| 128 + n));
                return code.and_then(|c| u8::try_from(c).ok()).unwrap_or(255);
            }
            Ok(Some(_)) => continue,
            Ok(None) => {}
            Err(_) => return 255,
        }
        if is_cut(lifeline, ended.as_ref().map(AsFd::as_fd)) {
            return 143;
        }
    }
}

/// Waits for the end of the command (`ended`) or of placet; true when it is placet's. Without a descriptor for the
/// command it looks again after a moment.
fn is_cut(lifeline: BorrowedFd<'_>, ended: Option<BorrowedFd<'_>>) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut fds = vec![PollFd::new(&lifeline, PollFlags::IN)];
    fds.extend(ended.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
    // Now and then the orphans that ended meanwhile are reaped.
    let wait = match ended {
        Some(_) => Timespec { tv_sec: 1, tv_nsec: 0 },
        None => Timespec { tv_sec: 0, tv_nsec: i64::from(STEP.subsec_nanos()) },
    };
    match poll(&mut fds, Some(&wait)) {
        // Nothing is ever written to the lifeline: readable means closed.
        Ok(_) => fds.first().is_some_and(|fd| !fd.revents().is_empty()),
        Err(rustix::io::Errno::INTR) => false,
        Err(_) => true,
    }
}

/// Stops everything below: first politely, then for good, until nothing is left.
fn stop_descendants() {
    let started = Instant::now();
    let mut asked = Vec::new();
    loop {
        while let Ok(Some(_)) = rustix::process::wait(WaitOptions::NOHANG) {}
        let left = descendants();
        if left.is_empty() || started.elapsed() > Duration::from_secs(5) {
            return;
        }
        for pid in left {
            if started.elapsed() >= GRACE {
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            } else if !asked.contains(&pid) {
                let _ = rustix::process::kill_process(pid, Signal::TERM);
                // A stopped process hears nothing but this.
                let _ = rustix::process::kill_process(pid, Signal::CONT);
                asked.push(pid);
            }
        }
        std::thread::sleep(STEP);
    }
}

/// Every process whose chain of parents leads here. Orphans come back to the reaper, so nobody leaves the tree.
fn descendants() -> Vec<Pid> {
    let mut parents: Vec<(i32, i32)> = Vec::new();
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    for entry in entries.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse::<i32>().ok()) else { continue };
        if let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) {
            // pid (name) state parent ...: the name may hold anything, so read from its end.
            let after = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
            let mut fields = after.split_whitespace();
            let state = fields.next().unwrap_or("");
            if let Some(parent) = fields.next().and_then(|p| p.parse().ok()).filter(|_| state != "Z") {
                parents.push((pid, parent));
            }
        }
    }
    let mut below = vec![rustix::process::getpid().as_raw_pid()];
    let mut found = Vec::new();
    while let Some(parent) = below.pop() {
        for (pid, _) in parents.iter().filter(|(_, p)| *p == parent) {
            below.push(*pid);
            found.extend(Pid::from_raw(*pid));
        }
    }
    found
}

/// What an exit code of the supervisor means: the command's code, or the signal that ended it.
pub(super) fn code_of(status: std::process::ExitStatus) -> Result<i32, i32> {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ok(code),
        (None, Some(signal)) => Err(signal),
        (None, None) => Ok(-1),
    }
}
