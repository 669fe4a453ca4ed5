//! The supervisor: `placet __run [--stdin FILE] -- COMMAND`, on a thread of its own process.
//!
//! Its standard input is a socket to placet. It says there how the command ended; and when the other end closes, for
//! whatever reason, it ends everything. That is why no parent-death signal is used: that one is bound to the thread
//! that forked, and threads of a runtime come and go.

use super::tree::{end_all, reap};
use rustix::process::{Pid, WaitStatus};
use std::ffi::OsString;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The hidden argument by which placet becomes a supervisor.
pub const RUN: &str = "__run";

/// What [`supervise`] was asked to do.
struct Order {
    stdin: Option<PathBuf>,
    command: OsString,
}

/// Runs one command and leaves nothing of it. `args` are what follows [`RUN`]. Called from `main`, before anything
/// else has started a thread.
pub fn supervise(args: Vec<OsString>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let (Some(order), Ok(runtime)) = (Order::parse(args), runtime) else { return ExitCode::from(2) };
    match runtime.block_on(attend(order)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

impl Order {
    fn parse(args: Vec<OsString>) -> Option<Order> {
        let mut args = args.into_iter();
        let mut stdin = None;
        loop {
            match args.next()?.to_str()? {
                "--stdin" => stdin = Some(PathBuf::from(args.next()?)),
                "--" => return Some(Order { stdin, command: args.next()? }),
                _ => return None,
            }
        }
    }

    fn start(&self) -> std::io::Result<Pid> {
        let stdin = match &self.stdin {
            None => Stdio::null(),
            Some(path) => Stdio::from(File::open(path)?),
        };
        // A group of its own: `kill 0` in a script must not reach the supervisor.
        let child = std::process::Command::new("sh")
            .arg("-c")
            .arg(&self.command)
            .stdin(stdin)
            .process_group(0)
            .spawn()?;
        let raw = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        raw.ok_or_else(|| std::io::Error::other("a process without an id"))
    }
}

async fn attend(order: Order) -> std::io::Result<()> {
    // Without a session of its own the command could reach the person's terminal.
    let _ = rustix::process::setsid();
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let line = std::os::unix::net::UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    line.set_nonblocking(true)?;
    let mut line = UnixStream::from_std(line)?;
    let mut ended = signal(SignalKind::child())?;
    let mut stops = Stops::new()?;
    let main = match order.start() {
        Ok(main) => main,
        Err(error) => {
            return line.write_all(format!("error the shell did not start: {error}").as_bytes()).await;
        }
    };
    let mut status = None;
    let mut byte = [0];
    while status.is_none() {
        tokio::select! {
            _ = ended.recv() => status = reap(main).0,
            () = stops.recv() => break,
            // Nothing is ever sent here: any answer means that the other end is gone.
            _ = line.read(&mut byte) => break,
        }
    }
    // Also after an orderly end: what it left in the background goes with it.
    let late = end_all(main).await;
    let status = status.or(late);
    line.write_all(words(status).as_bytes()).await
}

fn words(status: Option<WaitStatus>) -> String {
    match status.map(|s| (s.exit_status(), s.terminating_signal())) {
        Some((Some(code), _)) => format!("exit {code}"),
        Some((None, Some(signal))) => format!("signal {signal}"),
        _ => "error the command could not be ended".into(),
    }
}

/// The signals that mean: stop.
struct Stops {
    term: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Stops {
    fn new() -> std::io::Result<Stops> {
        Ok(Stops {
            term: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn recv(&mut self) {
        tokio::select! {
            _ = self.term.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}
