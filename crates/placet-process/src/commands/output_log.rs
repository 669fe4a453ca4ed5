//! The output of a background command: from a pipe to a file, so that nothing is lost if nobody reads, and a command
//! that never stops writing does not fill the disk. The supervisor writes the file, or placet itself for a command that
//! began in the foreground.

use crate::close_on_exec;
use std::fs::{File, OpenOptions};
use std::io::{Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;

/// The most bytes of a background command's output that are stored at a time.
pub const LOG: u64 = 64 << 20;

/// The file with the output of a background command. When the file is full it starts again, with a line that reports how
/// much was lost: the latest output of a server is more useful than the first.
#[derive(Debug)]
pub struct OutputLog {
    file: File,
    kept: u64,
    gone: u64,
}

impl OutputLog {
    pub(crate) fn create(path: &Path) -> std::io::Result<OutputLog> {
        let file = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(path)?;
        Ok(OutputLog { file, kept: 0, gone: 0 })
    }

    /// Writes what was read before there was a log.
    pub(crate) fn write_first(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.file.write_all(bytes)?;
        self.kept = bytes.len() as u64;
        Ok(())
    }

    /// Writes what comes from the pipe, until nobody can write to the pipe any more.
    pub(crate) async fn keep(mut self, mut pipe: Receiver) -> std::io::Result<()> {
        let mut chunk = vec![0; 65_536];
        loop {
            let length = pipe.read(&mut chunk).await?;
            let bytes = chunk.get(..length).unwrap_or_default();
            if bytes.is_empty() {
                return Ok(());
            }
            self.write(bytes)?;
        }
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        if self.kept + bytes.len() as u64 > LOG {
            self.gone += std::mem::take(&mut self.kept);
            begin_anew(&mut self.file, self.gone)?;
        }
        match self.file.write_all(bytes) {
            Ok(()) => self.kept += bytes.len() as u64,
            // A full disk: the command continues without a log.
            Err(_) => self.gone += bytes.len() as u64,
        }
        Ok(())
    }
}

/// The log, and the pipe to which every process started from now on writes.
pub(crate) struct SupervisorLog {
    log: OutputLog,
    pipe: OwnedFd,
}

impl SupervisorLog {
    /// Replaces this process' standard output and error.
    pub(crate) fn open(path: &Path) -> std::io::Result<SupervisorLog> {
        let log = OutputLog::create(path)?;
        let (pipe, write) = close_on_exec::pipe()?;
        rustix::stdio::dup2_stdout(&write)?;
        rustix::stdio::dup2_stderr(&write)?;
        Ok(SupervisorLog { log, pipe })
    }

    /// Writes the output until nobody can write any more.
    pub(crate) async fn keep(self) -> std::io::Result<()> {
        let null = OpenOptions::new().write(true).open("/dev/null")?;
        // This process had them open only for the processes that it started.
        rustix::stdio::dup2_stdout(&null)?;
        rustix::stdio::dup2_stderr(&null)?;
        self.log.keep(Receiver::from_owned_fd(self.pipe)?).await
    }
}

fn begin_anew(file: &mut File, gone: u64) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "[... {gone} earlier bytes not stored ...]")
}
