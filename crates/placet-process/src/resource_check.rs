//! Checks whether this process may open the files and start the threads that it is going to need. Libraries below panic
//! if they hit a limit midway, and so the check comes before anything has started.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::mpsc;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum ResourceError {
    #[error("cannot open {0} files at once: {1}")]
    Files(usize, io::Error),
    #[error("cannot make a pair of sockets: {0}")]
    Sockets(io::Error),
    #[error("cannot start {0} threads: {1}")]
    Threads(usize, io::Error),
}

impl ResourceError {
    pub fn hint(&self) -> &'static str {
        match self {
            ResourceError::Files(..) | ResourceError::Sockets(_) => {
                "raise the limit on open files: `ulimit -n 1024`"
            }
            ResourceError::Threads(..) => {
                "end other processes of this user, or raise the limit on processes: `ulimit -u` shows it"
            }
        }
    }
}

/// Checks that `files` descriptors can be open at a time. The limit is one on their numbers, and so one descriptor with the
/// number of the last is as good as all of them; opening each costs a third of a millisecond at every start.
fn room_for(files: usize) -> io::Result<()> {
    let first = File::open("/dev/null")?;
    let more = i32::try_from(files.saturating_sub(1)).unwrap_or(i32::MAX);
    let last = first.as_raw_fd().saturating_add(more);
    match rustix::io::fcntl_dupfd_cloexec(&first, last) {
        Ok(_) => Ok(()),
        // What the kernel says of a number beyond the limit.
        Err(rustix::io::Errno::INVAL) => Err(rustix::io::Errno::MFILE.into()),
        Err(e) => Err(e.into()),
    }
}

/// Opens files and starts threads for a moment, as many as given.
pub fn check_room(files: usize, threads: usize) -> Result<(), ResourceError> {
    room_for(files).map_err(|e| ResourceError::Files(files, e))?;
    // For signals.
    std::os::unix::net::UnixStream::pair().map_err(ResourceError::Sockets)?;
    let mut started = Vec::new();
    for _ in 0..threads {
        // Each waits for its sender to be dropped, so that all of them exist at once.
        let (hold, held) = mpsc::channel::<()>();
        let thread = std::thread::Builder::new().stack_size(64 << 10).spawn(move || held.recv().is_err());
        started.push((hold, thread.map_err(|e| ResourceError::Threads(threads, e))?));
    }
    // All of them end at the same time, and not one after the other.
    let threads: Vec<_> = started.into_iter().map(|(_, thread)| thread).collect();
    for thread in threads {
        drop(thread.join());
    }
    Ok(())
}
