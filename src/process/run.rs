//! placet's side of a command: start it, listen, stop it.

use super::capture::Captured;
use super::supervise::{SUPERVISE, code_of};
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

/// How long the supervisor may take to stop everything once it was told to.
const STOP_WITHIN: Duration = Duration::from_secs(3);

/// One shell line.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The program that supervises: placet itself.
    pub supervisor: PathBuf,
    pub command: String,
    pub cwd: PathBuf,
    /// What the command reads; without it, its input is empty from the beginning.
    pub stdin: Option<Vec<u8>>,
    pub timeout: Duration,
    /// Environment variables that it does not get.
    pub withheld: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Exited(i32),
    Signalled(i32),
    TimedOut,
    Cancelled,
}

#[derive(Debug)]
pub struct Finished {
    pub end: End,
    pub output: Captured,
    pub elapsed: Duration,
}

#[derive(Debug, Error)]
pub enum ProcessError {
    #[error("the directory `{0}` does not exist")]
    NoDirectory(PathBuf),
    #[error("the command cannot be started: {0}")]
    Start(std::io::Error),
    #[error("a command line cannot hold a NUL byte")]
    Nul,
}

/// Runs a shell line to its end, its deadline or its cancellation, whichever comes first. `progress` hears the output
/// as text while it comes. When this returns, every process the line started is gone.
pub async fn run(
    spec: Spec,
    cancel: CancellationToken,
    progress: impl Fn(&str),
) -> Result<Finished, ProcessError> {
    if spec.command.contains('\0') {
        return Err(ProcessError::Nul);
    }
    if !spec.cwd.is_dir() {
        return Err(ProcessError::NoDirectory(spec.cwd));
    }
    let started = Instant::now();
    let timeout = spec.timeout;
    // The file must outlive the start of the child, which opens it by name.
    let input = spec.stdin.as_deref().map(input_file).transpose().map_err(ProcessError::Start)?;
    let mut child = spawn(&spec, input.as_ref()).map_err(ProcessError::Start)?;
    let mut lifeline = child.stdin.take();
    let mut streams = (child.stdout.take(), child.stderr.take());
    let mut output = Captured::default();
    let mut stopped = None;
    let mut deadline = tokio::time::Instant::now() + timeout;
    let mut buffers = (vec![0; 32 * 1024], vec![0; 32 * 1024]);
    let status = loop {
        tokio::select! {
            n = read(&mut streams.0, &mut buffers.0) => take(&buffers.0, n, &mut streams.0, &mut output, &progress),
            n = read(&mut streams.1, &mut buffers.1) => take(&buffers.1, n, &mut streams.1, &mut output, &progress),
            status = child.wait() => break status.map_err(ProcessError::Start)?,
            () = cancel.cancelled(), if stopped.is_none() => {
                stopped = Some(End::Cancelled);
                deadline = tokio::time::Instant::now() + STOP_WITHIN;
                lifeline = None;
            }
            () = tokio::time::sleep_until(deadline) => {
                if stopped.is_some() {
                    // The supervisor itself does not answer; killing it kills what is tied to its life.
                    let _ = child.start_kill();
                }
                stopped.get_or_insert(End::TimedOut);
                deadline = tokio::time::Instant::now() + STOP_WITHIN;
                lifeline = None;
            }
        }
    };
    drop(lifeline);
    rest(&mut streams.0, &mut output, &progress).await;
    rest(&mut streams.1, &mut output, &progress).await;
    let end = stopped.unwrap_or(match code_of(status) {
        Ok(code) if code > 128 && code < 160 => End::Signalled(code - 128),
        Ok(code) => End::Exited(code),
        Err(signal) => End::Signalled(signal),
    });
    Ok(Finished { end, output, elapsed: started.elapsed() })
}

fn spawn(spec: &Spec, input: Option<&tempfile::NamedTempFile>) -> std::io::Result<Child> {
    let mut command = Command::new(&spec.supervisor);
    command.arg(SUPERVISE).arg(&spec.command).args(input.map(|f| f.path())).current_dir(&spec.cwd);
    // Nothing may wait for a person: pagers print, editors and password prompts fail.
    for (name, value) in [
        ("PAGER", "cat"),
        ("GIT_PAGER", "cat"),
        ("MANPAGER", "cat"),
        ("EDITOR", "false"),
        ("VISUAL", "false"),
        ("GIT_EDITOR", "false"),
        ("GIT_SEQUENCE_EDITOR", "false"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_ASKPASS", "false"),
        ("SSH_ASKPASS", "false"),
        ("SUDO_ASKPASS", "false"),
        ("DEBIAN_FRONTEND", "noninteractive"),
        ("TERM", "dumb"),
        ("NO_COLOR", "1"),
    ] {
        command.env(name, value);
    }
    for name in &spec.withheld {
        command.env_remove(name);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

fn input_file(bytes: &[u8]) -> std::io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::NamedTempFile::new()?;
    file.write_all(bytes)?;
    Ok(file)
}

async fn read(stream: &mut Option<impl AsyncRead + Unpin>, buffer: &mut [u8]) -> usize {
    match stream {
        Some(stream) => stream.read(buffer).await.unwrap_or(0),
        None => std::future::pending().await,
    }
}

fn take<S>(buffer: &[u8], n: usize, stream: &mut Option<S>, output: &mut Captured, progress: &impl Fn(&str)) {
    let bytes = buffer.get(..n).unwrap_or(&[]);
    if bytes.is_empty() {
        *stream = None;
        return;
    }
    output.push(bytes);
    progress(&String::from_utf8_lossy(bytes));
}

/// What is still in the pipe. All writers are gone, so the end is near; the wait is bounded all the same.
async fn rest(stream: &mut Option<impl AsyncRead + Unpin>, output: &mut Captured, progress: &impl Fn(&str)) {
    let mut buffer = vec![0; 32 * 1024];
    while stream.is_some() {
        match tokio::time::timeout(Duration::from_millis(500), read(stream, &mut buffer)).await {
            Ok(n) => take(&buffer, n, stream, output, progress),
            Err(_) => return,
        }
    }
}
