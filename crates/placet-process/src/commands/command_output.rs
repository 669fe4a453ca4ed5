//! The output of a line for `sh` that prints a secret: a key, or headers. It runs without a supervisor and outside of the
//! view, because the person wrote it, and what it prints is shown to nobody.

use crate::child_pid::ChildPid;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

/// Why there is no output: the end of a sentence that begins with the name of the command.
#[derive(Debug, Error)]
pub enum CommandOutputError {
    #[error("could not be started: {0}")]
    Start(std::io::Error),
    #[error("took longer than {} seconds", .0.as_secs_f64())]
    TimedOut(Duration),
    #[error("failed: {0}")]
    Io(std::io::Error),
    /// With the last line of what the command wrote to its standard error.
    #[error("failed ({status}): {last}")]
    Failed { status: ExitStatus, last: String },
}

/// What `line` prints, up to 1 MiB of it. Dropping the future kills the command.
pub async fn command_output(line: &str, deadline: Duration) -> Result<String, CommandOutputError> {
    let child = Command::new("sh")
        .args(["-c", line])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(CommandOutputError::Start)?;
    let mut group = ChildGroup(child);
    let (status, stdout, stderr) = match tokio::time::timeout(deadline, group.output()).await {
        Err(_) => return Err(CommandOutputError::TimedOut(deadline)),
        Ok(Err(e)) => return Err(CommandOutputError::Io(e)),
        Ok(Ok(output)) => output,
    };
    if !status.success() {
        let words = String::from_utf8_lossy(&stderr);
        let last = words.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or_default();
        let last = last.chars().take(200).collect();
        return Err(CommandOutputError::Failed { status, last });
    }
    Ok(String::from_utf8_lossy(&stdout).into_owned())
}

/// A child that leads a group of its own. When the wait for it ends early, all of the group is killed; never after the
/// child was reaped, because its number may be another's then.
struct ChildGroup(Child);

/// The most that is read of either output, in bytes.
const OUTPUT: u64 = 1 << 20;

impl ChildGroup {
    /// Reads both outputs to their ends, up to [`OUTPUT`], and waits for the child.
    async fn output(&mut self) -> std::io::Result<(ExitStatus, Vec<u8>, Vec<u8>)> {
        let (out, err) = (self.0.stdout.take(), self.0.stderr.take());
        // Both at once: the child would wait forever if it filled the pipe that is not being read.
        let (out, err) = tokio::try_join!(read_all(out), read_all(err))?;
        Ok((self.0.wait().await?, out, err))
    }
}

async fn read_all(from: Option<impl AsyncRead + Unpin>) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        from.take(OUTPUT).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}

impl Drop for ChildGroup {
    fn drop(&mut self) {
        // No id means that it was reaped.
        if let Some(Ok(leader)) = self.0.id().map(ChildPid::checked) {
            // Fails when all of them are gone already, which is what is wanted.
            let _ = leader.signal_group(rustix::process::Signal::KILL);
        }
    }
}
