//! Renames of directories that are in a lower layer.
//!
//! An overlay in a user namespace cannot redirect a directory and answers EXDEV, where `git mv`, `os.rename` and many
//! others have no other way. So the calls of this family wait for an answer (seccomp user notification): a thread of
//! process 1 moves such a directory entry by entry, and every other call goes on as if there were no question.
//!
//! Nothing of safety rests on this. The thread is inside the view, with the mounts, Landlock rules and rights of the
//! command, and works by descriptors; whoever deceives it can rename what it could rename by itself. A caller that has
//! other rights than process 1, or that may have restricted itself further, gets the kernel's answer.

mod caller;
mod move_directory;

use super::raw::{self, CallAnswer};
use super::seccomp_program::asking;
use caller::{Caller, Rights};
use move_directory::{mount_of, move_directory};
use rustix::fs::{FsWord, RenameFlags, fstatfs, renameat_with};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::mpsc;

const OVERLAY: FsWord = 0x794c_7630;

/// One end of a rename: a directory descriptor of the caller, and the address of a path.
struct RenameEnd {
    dir: i32,
    path: u64,
}

struct RenameCall {
    from: RenameEnd,
    to: RenameEnd,
    flags: u32,
}

/// Lets the calls of this thread, and of every process that it starts from now on, be answered by a thread. Without effect
/// where the kernel has no such filters (before Linux 5.19), and where placet itself runs below one.
pub(super) fn answer_renames() -> io::Result<()> {
    // A number of a process of another namespace would name a stranger.
    if std::fs::read_link("/proc/self")?.as_os_str() != "1" {
        return Ok(());
    }
    let (give, take) = mpsc::channel::<OwnedFd>();
    // It starts before the filter exists, which its own renames must not pass.
    std::thread::Builder::new().name("renames".into()).spawn(move || {
        if let Ok(listener) = take.recv() {
            answer_all(&listener);
        }
    })?;
    give.send(raw::listen(&asking(&numbers()?)?)?).map_err(io::Error::other)
}

/// The calls that wait for an answer, in order.
fn numbers() -> io::Result<Vec<u32>> {
    let mut all = vec![libc::SYS_renameat2, libc::SYS_landlock_restrict_self];
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    all.push(libc::SYS_renameat);
    #[cfg(target_arch = "x86_64")]
    all.push(libc::SYS_rename);
    all.sort_unstable();
    all.into_iter().map(|number| u32::try_from(number).map_err(io::Error::other)).collect()
}

fn answer_all(listener: &OwnedFd) {
    // Which processes have restricted themselves cannot be seen from outside.
    let mut is_restricted = false;
    loop {
        let call = match raw::next_call(listener) {
            Ok(call) => call,
            // The caller has ended.
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINTR)) => continue,
            Err(_) => return,
        };
        is_restricted |= libc::c_long::from(call.data.nr) == libc::SYS_landlock_restrict_self;
        let is_waiting = || raw::is_waiting(listener, call.id);
        let answer = RenameCall::of(&call.data)
            .filter(|_| !is_restricted)
            .and_then(|asked| asked.answer(call.pid, &is_waiting).ok())
            .unwrap_or(CallAnswer::GoOn);
        // An error means that nobody waits any more.
        let _ = raw::answer(listener, call.id, &answer);
    }
}

impl RenameCall {
    /// `None` for another call. Descriptors and flags are the lower halves of their arguments.
    fn of(data: &libc::seccomp_data) -> Option<RenameCall> {
        let [a, b, c, d, e, _] = data.args;
        let low = |argument: u64| u32::try_from(argument & u64::from(u32::MAX)).unwrap_or_default();
        let end = |dir: u64, path| RenameEnd { dir: low(dir).cast_signed(), path };
        let number = libc::c_long::from(data.nr);
        #[cfg(target_arch = "x86_64")]
        if number == libc::SYS_rename {
            let here = |path| RenameEnd { dir: libc::AT_FDCWD, path };
            return Some(RenameCall { from: here(a), to: here(b), flags: 0 });
        }
        let flags = if number == libc::SYS_renameat2 { low(e) } else { 0 };
        (number != libc::SYS_landlock_restrict_self).then(|| RenameCall {
            from: end(a, b),
            to: end(c, d),
            flags,
        })
    }

    /// Any error means that the kernel answers.
    fn answer(&self, pid: u32, is_waiting: &dyn Fn() -> bool) -> rustix::io::Result<CallAnswer> {
        let flags = RenameFlags::from_bits_retain(self.flags);
        if !RenameFlags::NOREPLACE.contains(flags) {
            return Ok(CallAnswer::GoOn);
        }
        let caller = Caller::open(pid)?;
        let from = caller.path(self.from.path)?;
        if !caller.is_directory(self.from.dir, &from)? {
            return Ok(CallAnswer::GoOn);
        }
        let from = caller.entry(self.from.dir, &from)?;
        let to = caller.entry(self.to.dir, &caller.path(self.to.path)?)?;
        if fstatfs(&from.dir)?.f_type != OVERLAY
            || mount_of(&from.dir)? != mount_of(&to.dir)?
            || Rights::of(&format!("/proc/{pid}"))? != Rights::of("/proc/thread-self")?
        {
            return Ok(CallAnswer::GoOn);
        }
        // Everything read so far was the caller's, if it is still there.
        if !is_waiting() {
            return Ok(CallAnswer::GoOn);
        }
        let moved = match renameat_with(&from.dir, &from.name, &to.dir, &to.name, flags) {
            Err(Errno::XDEV) => move_directory(&from, &to, is_waiting),
            other => other,
        };
        Ok(moved.map_or_else(CallAnswer::Failed, |()| CallAnswer::Done))
    }
}
