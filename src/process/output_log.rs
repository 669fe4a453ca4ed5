//! The supervisor's end of its command's output: from a pipe to a file, so that nothing is lost if nobody reads, and a
//! command that never stops writing does not fill the disk.

use rustix::pipe::PipeFlags;
use std::fs::{File, OpenOptions};
use std::io::{Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;

/// The most bytes of a background command's output that are stored at a time.
pub const LOG: u64 = 64 << 20;

/// The file, and the pipe to which every process started from now on writes.
pub(super) struct SupervisorLog {
    file: File,
    pipe: OwnedFd,
}

impl SupervisorLog {
    /// Replaces this process' standard output and error.
    pub(super) fn open(path: &Path) -> std::io::Result<SupervisorLog> {
        let file = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(path)?;
        let (pipe, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        rustix::stdio::dup2_stdout(&write)?;
        rustix::stdio::dup2_stderr(&write)?;
        Ok(SupervisorLog { file, pipe })
    }

    /// Writes the output until nobody can write any more. When the file is full it starts again, with a line that
    /// reports how much was lost: the latest output of a server is more useful than the first.
    pub(super) async fn keep(self) -> std::io::Result<()> {
        let null = OpenOptions::new().write(true).open("/dev/null")?;
        // This process had them open only for the processes that it started.
        rustix::stdio::dup2_stdout(&null)?;
        rustix::stdio::dup2_stderr(&null)?;
        let SupervisorLog { mut file, pipe } = self;
        let mut pipe = Receiver::from_owned_fd(pipe)?;
        let mut chunk = vec![0; 65_536];
        let (mut kept, mut gone) = (0u64, 0u64);
        loop {
            let length = pipe.read(&mut chunk).await?;
            let bytes = chunk.get(..length).unwrap_or_default();
            if bytes.is_empty() {
                return Ok(());
            }
            if kept + bytes.len() as u64 > LOG {
                gone += std::mem::take(&mut kept);
                begin_anew(&mut file, gone)?;
            }
            match file.write_all(bytes) {
                Ok(()) => kept += bytes.len() as u64,
                // A full disk: the command continues without a log.
                Err(_) => gone += bytes.len() as u64,
            }
        }
    }
}

fn begin_anew(file: &mut File, gone: u64) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "[... {gone} earlier bytes not stored ...]")
}
