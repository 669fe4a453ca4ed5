//! The system calls for which no safe interface exists. All `unsafe` of placet is in this file; see
//! `docs/decisions/0008-unsafe-in-the-sandbox.md`.

#![allow(
    unsafe_code,
    reason = "fork, two mount calls, ioctls, a filter that asks and signals have no safe wrapper"
)]

use placet_process::ChildPid;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use rustix::io::Errno;
use seccompiler::sock_filter;
use std::ffi::CStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

/// Forks into the namespaces that `flags` names and runs `child` there; its result is the exit code.
///
/// The caller must have one thread: the child has only the calling thread, and a lock that another thread held would
/// never be released.
pub(super) fn fork(flags: i32, child: impl FnOnce() -> i32) -> io::Result<ChildPid> {
    let flags = libc::c_long::from(flags | libc::SIGCHLD);
    // SAFETY: without CLONE_VM and without a stack of its own this is fork(2): the child continues with a copy of
    // everything. The zeros are the unused pointers, in whatever order the architecture has them.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    match checked(pid)? {
        0 => {
            // After a panic: EX_SOFTWARE of `sysexits.h`.
            let code = catch_unwind(AssertUnwindSafe(child)).unwrap_or(70);
            // SAFETY: ends this process at once. Returning would run the parent's frames a second time.
            unsafe { libc::_exit(code) }
        }
        pid => Ok(ChildPid::checked(pid)?),
    }
}

/// Lets this process change its terminal while another group is in the foreground.
pub fn ignore_background_writes() -> io::Result<()> {
    // SAFETY: no handler is installed, and no other thread changes signals.
    match unsafe { libc::signal(libc::SIGTTOU, libc::SIG_IGN) } {
        libc::SIG_ERR => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// The new process leads a group of its own, which is the foreground group of the terminal that is its standard output
/// before the program starts: a program that reads its terminal at once must not be stopped for it.
pub(super) fn start_in_foreground(command: &mut Command) {
    let work = || {
        // This process still ignores SIGTTOU, as its parent does.
        rustix::termios::tcsetpgrp(rustix::stdio::stdout(), rustix::process::getpid())?;
        // SAFETY: `signal` may be called here; no handler is installed.
        match unsafe { libc::signal(libc::SIGTTOU, libc::SIG_DFL) } {
            libc::SIG_ERR => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    };
    command.process_group(0);
    // SAFETY: the closure makes two system calls, allocates nothing and takes no lock.
    unsafe { command.pre_exec(work) };
}

/// Runs `work` whenever this process receives SIGHUP. It must make system calls only.
pub(super) fn on_hangup(work: impl Fn() + Send + Sync + 'static) -> io::Result<()> {
    // SAFETY: `work` makes system calls only, by this function's contract.
    unsafe { signal_hook::low_level::register(libc::SIGHUP, work) }.map(drop)
}

/// The result of a raw call, of which -1 is an error and never a value. Every raw call in this file uses it.
fn checked<T: Into<libc::c_long> + Copy>(result: T) -> io::Result<libc::c_long> {
    match result.into() {
        -1 => Err(io::Error::last_os_error()),
        result => Ok(result),
    }
}

/// Whether to set attributes on one mount, or also on all mounts below it.
#[derive(Clone, Copy)]
pub(super) enum MountDepth {
    This,
    All,
}

/// `mount_setattr`: adds `attributes` (`MOUNT_ATTR_*`) to the mount at `at`; an empty `path` is `at` itself.
pub(super) fn set_mount(at: impl AsFd, path: &CStr, depth: MountDepth, attributes: u64) -> io::Result<()> {
    let attr = libc::mount_attr { attr_set: attributes, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let mut flags = libc::AT_EMPTY_PATH | libc::AT_SYMLINK_NOFOLLOW;
    if let MountDepth::All = depth {
        flags |= libc::AT_RECURSIVE;
    }
    // SAFETY: the path ends with a zero, the structure and its size belong together, and both outlive the call.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            at.as_fd().as_raw_fd(),
            path.as_ptr(),
            flags,
            &raw const attr,
            size_of::<libc::mount_attr>(),
        )
    };
    checked(done).map(drop)
}

/// Closes every descriptor above 2 except `keep`. Inherited descriptors may lead out of the sandbox.
///
/// Owners of closed descriptors must not be used again; the caller is a fresh fork that owns nothing else.
pub(super) fn close_all_but(keep: BorrowedFd<'_>) -> io::Result<()> {
    let keep = libc::c_uint::try_from(keep.as_raw_fd()).map_err(io::Error::other)?;
    for (first, last) in [(3, keep.saturating_sub(1)), (keep.max(2) + 1, libc::c_uint::MAX)] {
        if first > last {
            continue;
        }
        // SAFETY: closes numbers; no memory is involved. Nothing in this process uses them any more (see above).
        let done = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
        checked(done)?;
    }
    Ok(())
}

/// Installs `program` for this thread and what it starts, and returns the end at which its calls are answered. A call that
/// is being answered is interrupted by nothing but its process' death: what was done for it would be done twice.
pub(super) fn listen(program: &[sock_filter]) -> io::Result<OwnedFd> {
    let mut steps: Vec<libc::sock_filter> = program
        .iter()
        .map(|step| libc::sock_filter { code: step.code, jt: step.jt, jf: step.jf, k: step.k })
        .collect();
    let len = libc::c_ushort::try_from(steps.len()).map_err(io::Error::other)?;
    let program = libc::sock_fprog { len, filter: steps.as_mut_ptr() };
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    // SAFETY: the kernel copies the program, whose steps outlive the call.
    let listener =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) };
    let listener = checked(listener)?;
    let listener = libc::c_int::try_from(listener).map_err(io::Error::other)?;
    const WAKE_UP_HERE: libc::c_ulong = 1;
    // The caller and the one who answers take turns, and so one processor serves both; Linux 6.6 knows this flag.
    // SAFETY: the call takes a number.
    let _ = checked(unsafe { libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS, WAKE_UP_HERE) });
    // SAFETY: the kernel has just made this descriptor, and nobody else has it. It is closed on exec.
    Ok(unsafe { OwnedFd::from_raw_fd(listener) })
}

/// Waits for the next call.
pub(super) fn next_call(listener: &OwnedFd) -> io::Result<libc::seccomp_notif> {
    // SAFETY: an all-zero `seccomp_notif` is a valid one, and the kernel asks for zeros.
    let mut call: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: the call fills in the structure, whose size is part of its number.
    let done = unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut call) };
    checked(done).map(|_| call)
}

/// True while a call waits for its answer: its number still means the same process.
pub(super) fn is_waiting(listener: &OwnedFd, id: u64) -> bool {
    // SAFETY: the call reads a number, which outlives it.
    let done =
        unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw const id) };
    checked(done).is_ok()
}

/// The answer to a call.
pub(super) enum CallAnswer {
    /// The kernel does what it would have done.
    GoOn,
    Done,
    Failed(Errno),
}

/// Answers a call.
pub(super) fn answer(listener: &OwnedFd, id: u64, answer: &CallAnswer) -> io::Result<()> {
    let (error, flags) = match answer {
        CallAnswer::GoOn => (0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE),
        CallAnswer::Done => (0, 0),
        CallAnswer::Failed(error) => (-error.raw_os_error(), 0),
    };
    let flags = u32::try_from(flags).map_err(io::Error::other)?;
    let mut answer = libc::seccomp_notif_resp { id, val: 0, error, flags };
    // SAFETY: the call reads the structure, which outlives it.
    let done = unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut answer) };
    checked(done).map(drop)
}

/// Brings the loopback interface of this network namespace up.
pub(super) fn loopback_up(socket: impl AsFd) -> io::Result<()> {
    // SAFETY: an all-zero `ifreq` is a valid one.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = libc::c_char::from_ne_bytes([*from]);
    }
    // Neither flag can take the interface down.
    let up = libc::c_short::try_from(libc::IFF_UP | libc::IFF_RUNNING).map_err(io::Error::other)?;
    request.ifr_ifru.ifru_flags = up;
    // SAFETY: SIOCSIFFLAGS reads an `ifreq`, which outlives the call.
    let done = unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    checked(done).map(drop)
}

/// The Landlock ABI version of the kernel, if it has Landlock.
pub(crate) fn landlock_abi() -> Option<u32> {
    const VERSION: u32 = 1;
    // SAFETY: with this flag the call takes no pointer, creates nothing and returns a number.
    let abi = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0, VERSION) };
    checked(abi).ok().and_then(|abi| u32::try_from(abi).ok()).filter(|&abi| abi > 0)
}
