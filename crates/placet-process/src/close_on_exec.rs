//! Pipes and terminals that no other program inherits.
//!
//! Linux makes them so in one step. Elsewhere there are two, and a process that another thread starts between them
//! inherits the descriptor.

use rustix::io::Result;
use std::os::fd::OwnedFd;

/// A pipe: the end that is read from, and the end that is written to.
#[cfg(target_os = "linux")]
pub fn pipe() -> Result<(OwnedFd, OwnedFd)> {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
}

#[cfg(not(target_os = "linux"))]
pub fn pipe() -> Result<(OwnedFd, OwnedFd)> {
    let (from, to) = rustix::pipe::pipe()?;
    close_on_exec(&from)?;
    close_on_exec(&to)?;
    Ok((from, to))
}

/// The same; neither end waits.
#[cfg(target_os = "linux")]
pub fn nonblocking_pipe() -> Result<(OwnedFd, OwnedFd)> {
    use rustix::pipe::PipeFlags;
    rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)
}

#[cfg(not(target_os = "linux"))]
pub fn nonblocking_pipe() -> Result<(OwnedFd, OwnedFd)> {
    let (from, to) = pipe()?;
    rustix::io::ioctl_fionbio(&from, true)?;
    rustix::io::ioctl_fionbio(&to, true)?;
    Ok((from, to))
}

/// The outer side of a new terminal.
pub fn terminal() -> Result<OwnedFd> {
    use rustix::pty::OpenptFlags;
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    #[cfg(target_os = "linux")]
    let opened = rustix::pty::openpt(flags | OpenptFlags::CLOEXEC)?;
    #[cfg(not(target_os = "linux"))]
    let opened = rustix::pty::openpt(flags).and_then(|opened| close_on_exec(&opened).map(|()| opened))?;
    Ok(opened)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn close_on_exec(fd: &OwnedFd) -> Result<()> {
    rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::CLOEXEC)
}
