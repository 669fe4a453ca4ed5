//! The supervisor: `placet __run [--stdin FILE | --piped] [--sandbox FILE] [--log FILE] [--terminal] -- COMMAND`, in a
//! process of its own. With `placet __run --wait` these arguments come over the line, later.
//!
//! Its standard input is a socket to placet. The supervisor reports there how the command ended; and when the other end
//! closes, for whatever reason, it ends every process. There is no parent-death signal: that signal is bound to the
//! thread that forked, and threads of a runtime come and go. A command with a terminal is different: placet's main
//! thread starts its supervisor, and so the signal comes exactly when placet ends.

use super::confine::{ConfineError, ConfineRequest, ConfinedProcess, PreparedConfine, SandboxStart};
use super::job_reports::{JobReport, JobReports};
use super::protocol::{
    CONTINUE, DESCRIBED, DRAIN, ENDING, PIPED, PUBLISH, STAY, TERMINAL, TERMINAL_PASSED, WAIT,
};
use super::start_failure::StartFailure;
use super::supervisor_order::{SupervisorOrder, VariableChanges};
use crate::commands::command_input::receive_pipe;
use crate::commands::output_log::SupervisorLog;
use crate::descendants::{end_all, end_all_now, reap};
use crate::panic_info::panic_reason;
use crate::pass_descriptors;
use crate::resource_check::check_room;
use crate::{ChildPid, InvalidChildPid};
use rustix::process::WaitStatus;
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How many files a supervisor has open at a time.
const FILES: usize = 10;

/// How often the supervisor checks for the command's end where it has no descriptor of the process, and how often it
/// measures the time that the end of a command takes.
const LOOK: Duration = Duration::from_millis(500);

/// After this time placet reports that it waits for the end of what the command started.
const SLOW_END: Duration = Duration::from_secs(2);

/// How long what the command started may take to end. Whatever is left then runs no code of its own any more.
const END_WITHIN: Duration = Duration::from_secs(20);

/// How long placet may take to make room for a few bytes on the line.
const SAY: Duration = Duration::from_secs(1);

/// The parsed arguments of [`supervise`].
struct SupervisorArgs {
    stdin: Option<PathBuf>,
    /// The input comes over the line.
    piped: bool,
    sandbox: Option<SandboxWords>,
    log: Option<PathBuf>,
    /// The command has a terminal.
    terminal: bool,
    command: OsString,
    /// Variables that the command gets in addition to those of the supervisor, or does not get.
    variables: VariableChanges,
}

/// Where the description of the sandbox is.
enum SandboxWords {
    File(PathBuf),
    Here(Vec<u8>),
}

impl SandboxWords {
    fn read(self) -> std::io::Result<Vec<u8>> {
        match self {
            SandboxWords::File(path) => std::fs::read(path),
            SandboxWords::Here(words) => Ok(words),
        }
    }
}

/// Why the command was not started.
#[derive(Debug, thiserror::Error)]
enum SupervisorError {
    #[error("the shell did not start: {0}")]
    Shell(std::io::Error),
    #[error(transparent)]
    Sandbox(#[from] ConfineError),
    #[error("its output cannot be stored: {0}")]
    Log(std::io::Error),
    #[error(transparent)]
    Pid(#[from] InvalidChildPid),
}

impl From<SupervisorError> for StartFailure {
    fn from(error: SupervisorError) -> StartFailure {
        match error {
            SupervisorError::Sandbox(ConfineError::Overlay(reason)) => StartFailure::Overlay(reason),
            SupervisorError::Sandbox(error) => StartFailure::Sandbox(error.to_string()),
            error => StartFailure::Other(error.to_string()),
        }
    }
}

/// Runs one command and leaves no process of it. `args` are the arguments after `RUN`; `sandbox` starts commands that
/// need one. Called from `main`, before anything else has started a thread.
pub fn supervise(args: Vec<OsString>, sandbox: &SandboxStart) -> ExitCode {
    let given = match args.as_slice() {
        [first, words @ ..] if first == PUBLISH => return (sandbox.publish)(words),
        [only] if only == WAIT => None,
        _ => match SupervisorArgs::parse(args) {
            Some(given) => Some(given),
            None => return ExitCode::from(2),
        },
    };
    end_all_on_panic();
    // Without a session of its own the command could access the person's terminal.
    let _ = rustix::process::setsid();
    // A process that loses its parent becomes a child of this process, where `end_all` finds it.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    // Nothing is started that could not be waited for. This runtime has no threads: a sandbox forks, and a fork takes
    // only one thread with it.
    let runtime = check_room(FILES, 0).map_err(|e| e.to_string()).and_then(|()| {
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())
    });
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(reason) => return refuse(&reason),
    };
    // Everything up to here is done while placet does something else.
    let prepared = if given.is_none() { prepare(sandbox) } else { None };
    let order = match given.map_or_else(SupervisorArgs::wait, |given| Ok(Some(given))) {
        Ok(Some(order)) => order,
        Ok(None) => return ExitCode::SUCCESS,
        Err(error) => return refuse(&error.to_string()),
    };
    if order.terminal {
        end_with_parent();
    }
    let log = order.log.as_deref().map(SupervisorLog::open).transpose();
    let (started, log) = match log {
        Ok(log) => (order.start(prepared.unwrap_or_else(|| Box::new(sandbox.confine))), log),
        Err(error) => (Err(SupervisorError::Log(error)), None),
    };
    let main = started.as_ref().ok().map(|started| started.pid);
    match runtime.block_on(wait_for_child(started, log)) {
        Ok(()) => {
            hang_up();
            ExitCode::SUCCESS
        }
        Err(error) => {
            if let Some(main) = main {
                let _ = runtime.block_on(end_all(main, None));
            }
            refuse(&error.to_string())
        }
    }
}

/// Ends the line and the output, after the report: the system does so only after it has freed the memory of this process,
/// which takes a millisecond, and placet waits for it.
fn hang_up() {
    let line = std::io::stdin().as_fd().try_clone_to_owned().map(std::os::unix::net::UnixStream::from);
    let _ = line.and_then(|line| line.shutdown(std::net::Shutdown::Both));
    if let Ok(nothing) = File::options().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&nothing);
        let _ = rustix::stdio::dup2_stderr(&nothing);
    }
}

/// If placet has ended already, the line is closed, and the loop that waits sees that.
fn end_with_parent() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM));
}

fn prepare(sandbox: &SandboxStart) -> Option<PreparedConfine> {
    // The environment of the command depends on it, and a fork copies it.
    placet_text::text::secret::judge_environment();
    (sandbox.prepare)()
}

/// A panic here comes from the runtime, and no task can be awaited afterwards: the hook ends the command's processes
/// and this process.
#[expect(clippy::disallowed_methods, reason = "unwinding through a broken runtime panics again and aborts")]
fn end_all_on_panic() {
    let before = std::panic::take_hook();
    let own = std::process::id();
    std::panic::set_hook(Box::new(move |info| {
        // The first process of a sandbox is a fork of this one, and answers for itself.
        if std::process::id() != own || std::thread::current().name() != Some("main") {
            return before(info);
        }
        end_all_now();
        let _ = refuse(&panic_reason(info));
        std::process::exit(1)
    }));
}

/// Reports on the line why there is no outcome. The reader may have ended already.
fn refuse(reason: &str) -> ExitCode {
    if let Ok(line) = std::io::stdin().as_fd().try_clone_to_owned() {
        let mut line = std::os::unix::net::UnixStream::from(line);
        let failure = StartFailure::Other(format!("the supervisor failed: {reason}"));
        let _ = line.write_all(failure.report().as_bytes());
    }
    ExitCode::FAILURE
}

impl SupervisorArgs {
    fn parse(args: Vec<OsString>) -> Option<SupervisorArgs> {
        let mut args = args.into_iter();
        let (mut stdin, mut sandbox, mut log) = (None, None, None);
        let (mut piped, mut terminal) = (false, false);
        loop {
            match args.next()?.to_str()? {
                "--stdin" => stdin = Some(PathBuf::from(args.next()?)),
                "--sandbox" => sandbox = Some(SandboxWords::File(PathBuf::from(args.next()?))),
                DESCRIBED => sandbox = Some(SandboxWords::Here(args.next()?.into_vec())),
                PIPED => piped = true,
                TERMINAL => terminal = true,
                "--log" => log = Some(PathBuf::from(args.next()?)),
                "--" => {
                    let command = args.next()?;
                    let variables = Vec::new();
                    return Some(SupervisorArgs { stdin, piped, sandbox, log, terminal, command, variables });
                }
                _ => return None,
            }
        }
    }

    /// Waits for the order and enters its directory. `None` if placet has ended, or needs no supervisor.
    fn wait() -> std::io::Result<Option<SupervisorArgs>> {
        let mut line = std::os::unix::net::UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
        let Some(SupervisorOrder { cwd, variables, arguments }) = SupervisorOrder::read(&mut line)? else {
            return Ok(None);
        };
        if !cwd.is_empty() {
            std::env::set_current_dir(cwd)?;
        }
        let unknown = || std::io::Error::other("the order has unknown arguments");
        let args = SupervisorArgs::parse(arguments).ok_or_else(unknown)?;
        Ok(Some(SupervisorArgs { variables, ..args }))
    }

    /// The environment of the command, before the sandbox withholds variables of it.
    fn environment(&self) -> Vec<(OsString, OsString)> {
        let mut all: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        for (name, value) in &self.variables {
            all.retain(|(known, _)| known != name);
            all.extend(value.clone().map(|value| (name.clone(), value)));
        }
        all
    }

    fn start(self, confine: PreparedConfine) -> Result<ConfinedProcess, SupervisorError> {
        let failed = SupervisorError::Shell;
        let stdin = match self.piped {
            true => Some(receive_pipe(&std::io::stdin())),
            false => self.stdin.as_ref().map(File::open),
        };
        let stdin = stdin.transpose().map_err(failed)?;
        let variables = self.environment();
        if let Some(words) = self.sandbox {
            let words = words.read().map_err(failed)?;
            return Ok(confine(ConfineRequest { words, stdin, line: self.command, variables })?);
        }
        drop(confine);
        // A group of its own: `kill 0` in a script must not signal the supervisor.
        let child = std::process::Command::new("sh")
            .arg("-c")
            .arg(&self.command)
            .env_clear()
            .envs(variables)
            .stdin(stdin.map_or_else(Stdio::null, Stdio::from))
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let pid = ChildPid::of(&child)?;
        Ok(ConfinedProcess { pid, words: None, terminal: None, report: None })
    }
}

async fn wait_for_child(
    started: Result<ConfinedProcess, SupervisorError>,
    log: Option<SupervisorLog>,
) -> std::io::Result<()> {
    let line = std::os::unix::net::UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    line.set_nonblocking(true)?;
    let mut line = UnixStream::from_std(line)?;
    let mut ended = signal(SignalKind::child())?;
    let mut stops = StopSignals::new()?;
    let ConfinedProcess { pid: main, words: own, terminal, report } = match started {
        Ok(started) => started,
        Err(error) => return say(&mut line, &StartFailure::from(error).report()).await,
    };
    let has_terminal = terminal.is_some();
    if let Some(terminal) = terminal {
        pass_descriptors::send(&line, format!("{TERMINAL_PASSED}\n").as_bytes(), &[terminal.as_fd()])?;
        // Only placet has it from here on: when placet closes it, the program's terminal hangs up.
        drop(terminal);
    }
    let mut reports = JobReports::of(own)?;
    let mut end = EndOfCommand::default();
    let keeping = log.map(|log| tokio::spawn(log.keep()));
    let mut watch = EndWatch::of(main);
    let mut byte = [0];
    let (mut stays, mut alone) = (false, false);
    // The command may have ended before anybody listened for it.
    let mut reaped = reap(main);
    while matches!(reaped, Ok((None, _))) {
        tokio::select! {
            _ = ended.recv() => reaped = reap(main),
            () = stops.recv() => break,
            // Also where the signal is blocked, or is lost on its way through the runtime.
            () = watch.next() => reaped = reap(main),
            () = tokio::time::sleep(LOOK), if end.since.is_some() => {
                reaped = reap(main);
                if end.is_over() {
                    break;
                }
                if has_terminal && end.is_slow() {
                    say(&mut line, &format!("{ENDING}\n")).await?;
                }
            }
            report = reports.next() => match report {
                JobReport::Line(report) => say(&mut line, &format!("{report}\n")).await?,
                JobReport::Closed => end.since = Some(Instant::now()),
            },
            // Two bytes may be sent here; everything else means that the other end is gone.
            read = line.read(&mut byte), if !alone => match read {
                Ok(1) if byte == [STAY] => stays = true,
                Ok(1) if byte == [CONTINUE] => reports.resume().await,
                _ if stays => alone = true,
                _ => break,
            },
        }
    }
    // Also after an orderly end: processes that it left in the background are ended with it.
    let late = end_all(main, reaped.as_ref().ok().and_then(|(status, _)| *status)).await;
    if let Some(keeping) = keeping {
        let _ = tokio::time::timeout(DRAIN, keeping).await;
    }
    let mut said = reports.exit_report().unwrap_or_else(|| match reaped {
        Err(error) if late.is_none() => {
            StartFailure::Other(format!("the command cannot be waited for: {error}")).report()
        }
        _ => words(late),
    });
    // A failure is text of several lines; what the sandbox saw does not matter then.
    if let Some(report) = report.filter(|_| said.starts_with("exit ") || said.starts_with("signal ")) {
        said = format!("{said}\n{}", report.line());
    }
    say(&mut line, &said).await
}

/// Wakes when the command may have ended, and not before: an idle command costs nothing.
struct EndWatch {
    #[cfg(target_os = "linux")]
    process: Option<tokio::io::unix::AsyncFd<std::os::fd::OwnedFd>>,
}

impl EndWatch {
    #[cfg(target_os = "linux")]
    fn of(main: ChildPid) -> EndWatch {
        // Without the descriptor, which some systems refuse, it looks from time to time.
        #[expect(
            deprecated,
            reason = "an `OwnedFd` meets what this constructor does not check; the other is unsafe"
        )]
        let watched = |process| tokio::io::unix::AsyncFd::new(process).ok();
        EndWatch { process: main.open().ok().and_then(watched) }
    }

    #[cfg(not(target_os = "linux"))]
    fn of(_: ChildPid) -> EndWatch {
        EndWatch {}
    }

    /// A call that is dropped loses nothing.
    async fn next(&mut self) {
        #[cfg(target_os = "linux")]
        if let Some(process) = &self.process {
            let _ = process.readable().await;
            // It stays readable. If the process cannot be reaped all the same, it must not wake again at once.
            self.process = None;
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// The time between the end of the command and that of the last process that it started. The kernel kills these processes,
/// and one that waits inside the kernel, or that another process traces, does not end at once.
#[derive(Default)]
struct EndOfCommand {
    since: Option<Instant>,
    is_reported: bool,
}

impl EndOfCommand {
    /// Nothing more is waited for.
    fn is_over(&self) -> bool {
        self.since.is_some_and(|since| since.elapsed() >= END_WITHIN)
    }

    /// True once, when it takes so long that a person asks why.
    fn is_slow(&mut self) -> bool {
        let is_slow = self.since.is_some_and(|since| since.elapsed() >= SLOW_END);
        is_slow && !std::mem::replace(&mut self.is_reported, true)
    }
}

async fn say(line: &mut UnixStream, words: &str) -> std::io::Result<()> {
    tokio::time::timeout(SAY, line.write_all(words.as_bytes())).await?
}

fn words(status: Option<WaitStatus>) -> String {
    match status.map(|s| (s.exit_status(), s.terminating_signal())) {
        Some((Some(code), _)) => format!("exit {code}"),
        Some((None, Some(signal))) => format!("signal {signal}"),
        _ => StartFailure::Other("the command could not be ended".into()).report(),
    }
}

/// The signals that ask to stop.
struct StopSignals {
    term: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl StopSignals {
    fn new() -> std::io::Result<StopSignals> {
        Ok(StopSignals {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_command_is_waited_for_a_while_and_reported_once() {
        let mut running = EndOfCommand::default();
        assert!(!running.is_slow() && !running.is_over());
        let since =
            |ago: Duration| EndOfCommand { since: Instant::now().checked_sub(ago), is_reported: false };
        let mut quick = since(SLOW_END / 2);
        assert!(!quick.is_slow() && !quick.is_over());
        let mut slow = since(SLOW_END);
        assert!(slow.is_slow() && !slow.is_slow() && !slow.is_over());
        assert!(since(END_WITHIN).is_over());
    }
}
