//! The child: waits for its order, builds the view around itself, drops its privileges, and is process 1 of the
//! namespace.
//!
//! As process 1 it receives no signal except SIGKILL from outside. This is intended: the supervisor signals every
//! process of the tree itself, and the process that reaps must be the last. When it exits, the kernel kills the
//! remaining processes.

use super::super::environment;
use super::super::spec::{SandboxBackend, SandboxNetwork};
use super::child_order::ChildOrder;
use super::seccomp::SyscallFilter;
pub(super) use super::setup_error::{SandboxSetupError, at};
use super::terminal::{self, ViewTerminal};
use super::{harden, landlock, mount_view, network_setup, raw, rename};
use placet_process::{ChildPid, ReapResult, pass_descriptors};
use rustix::process::{DumpableBehavior, Signal};
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Reported when the sandbox is complete and the command starts.
/// After it the names of the descriptors that come with it, in their order.
pub(super) const READY: &str = "ready";

/// What has been started, for process 1.
struct StartedProgram {
    shell: ChildPid,
    terminal: Option<ViewTerminal>,
}

/// Process 1 of a sandbox, from the fork on.
pub(super) struct SandboxChild {
    /// To the supervisor.
    pub(super) line_out: UnixStream,
}

impl SandboxChild {
    /// Runs in the fork. Returns an exit code that nobody needs: the text on the line reports how the command ended.
    pub(super) fn run(mut self) -> i32 {
        let StartedProgram { shell, terminal } = match self.enter() {
            Ok(started) => started,
            Err(SandboxSetupError { kind, step, error }) => {
                // The report is one line: its line breaks are sent as NUL, and `handshake` restores them.
                let said = format!("could not {step}: {error}\n").replace('\n', "\u{0}");
                let _ = self
                    .line_out
                    .write_all(format!("{}{}\n", kind.mark(), said.trim_end_matches('\u{0}')).as_bytes());
                return 1;
            }
        };
        let said = match terminal {
            Some(terminal) => terminal.reap_until(shell, &mut self.line_out),
            None => reap_until(shell),
        };
        let _ = self.line_out.write_all(said.as_bytes());
        0
    }

    fn enter(&mut self) -> Result<StartedProgram, SandboxSetupError> {
        at(self.alone(), || "close what was inherited".into())?;
        // Made before the order, because this may be long before it.
        let filter = SyscallFilter::of_views();
        let order = at(ChildOrder::receive(&mut self.line_out), || "read from the supervisor".into())?;
        at(die_with_the_parent(), || "be bound to the supervisor".into())?;
        let ChildOrder { spec, line, variables, stdin } = order;
        let spec = &spec;
        let has_input = stdin.is_some();
        if let Some(stdin) = stdin {
            let stdin = at(input(stdin), || "pass the input on".into())?;
            at(rustix::stdio::dup2_stdin(&stdin), || "pass the input on".into())?;
        }
        let mut terminal = None;
        if spec.backend == SandboxBackend::Overlay {
            // The ids are mapped now. Nobody inside may read this process: its memory and its links belong to the host.
            let hidden = rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable);
            at(hidden, || "hide the supervisor's memory".into())?;
            mount_view::build(spec)?;
            terminal = terminal::open(spec)?;
            if !has_input {
                // The earlier descriptor is on a mount that has lost its devices, and `/dev/stdin` opens it again.
                let null = at(File::open("/dev/null"), || "open `/dev/null` inside".into())?;
                at(rustix::stdio::dup2_stdin(&null), || "pass no input on".into())?;
            }
            if spec.network != SandboxNetwork::Open && spec.beside.is_none() {
                at(loopback(), || "bring the loopback interface up".into())?;
            }
            let plan = at(network_setup::sockets_of(spec), || "read the list of hosts".into())?;
            // In the network of another command the supervisor made the sockets.
            if let Some((_, plan)) = plan.filter(|_| spec.beside.is_none()) {
                at(network_setup::prepare(&plan, &self.line_out), || "prepare its network".into())?;
            }
        }
        at(std::env::set_current_dir(&spec.cwd), || {
            format!("enter the working directory `{}` inside", spec.cwd.display())
        })?;
        harden::limit(spec)?;
        harden::drop_capabilities(spec)?;
        landlock::apply(spec)?;
        match spec.backend {
            SandboxBackend::Overlay => {
                filter.install()?;
                // Without it, a rename of such a directory fails as it would without a filter.
                let _ = rename::answer_renames();
            }
            _ => SyscallFilter::of(spec).install()?,
        }
        // The drop of privileges clears this setting.
        at(die_with_the_parent(), || "be bound to the supervisor".into())?;
        let mut shell = Command::new(shell());
        shell
            .arg("-c")
            .arg(line)
            .env_clear()
            .envs(environment::inside(variables.into_iter(), spec))
            .process_group(0)
            .stdin(Stdio::inherit());
        let (terminal, outer) = terminal.unzip();
        if let Some(terminal) = &terminal {
            at(terminal.attach(&mut shell, has_input), || "give the program its terminal".into())?;
        }
        let started = at(shell.spawn(), || "start the shell".into())?;
        // Its copies of the terminal.
        drop(shell);
        at(self.ready(outer.as_ref()), || "write to the supervisor".into())?;
        // From here on only placet has the outer end.
        drop(outer);
        // If this process held the pipe open, the command would never get a broken pipe.
        if let Ok(null) = File::open("/dev/null") {
            let _ = rustix::stdio::dup2_stdin(&null);
        }
        let shell = at(ChildPid::of(&started), || "start the shell".into())?;
        Ok(StartedProgram { shell, terminal })
    }

    /// Reports that the sandbox is ready, and passes out the outer end of the terminal.
    fn ready(&self, terminal: Option<&OwnedFd>) -> io::Result<()> {
        let descriptors: Vec<BorrowedFd<'_>> = terminal.iter().map(AsFd::as_fd).collect();
        pass_descriptors::send(&self.line_out, format!("{READY}\n").as_bytes(), &descriptors)
    }

    fn alone(&self) -> io::Result<()> {
        // The supervisor's own input is its line to placet.
        rustix::stdio::dup2_stdin(&File::open("/dev/null")?)?;
        // Only the number survives: `line_out` owns the original descriptor.
        raw::close_all_but(self.line_out.as_fd())?;
        rustix::process::setsid()?;
        Ok(())
    }
}

/// The input as memory: a file of the host could be opened again, for writing, through `/proc/self/fd/0`.
fn input(mut given: File) -> io::Result<OwnedFd> {
    if rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(&given)?.st_mode) == rustix::fs::FileType::Fifo {
        // A second open gives the same pipe, which leads only to placet; and its end may be far away.
        return Ok(given.into());
    }
    let memory = rustix::fs::memfd_create("input", rustix::fs::MemfdFlags::CLOEXEC)?;
    let mut memory = File::from(memory);
    io::copy(&mut given, &mut memory)?;
    memory.rewind()?;
    Ok(memory.into())
}

/// The shell by its usual path, if it exists: then there is no search, and the standard library can start it without a
/// second fork.
fn shell() -> &'static str {
    const USUAL: &str = "/bin/sh";
    if Path::new(USUAL).exists() { USUAL } else { "sh" }
}

fn die_with_the_parent() -> rustix::io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
}

fn loopback() -> io::Result<()> {
    use rustix::net::{AddressFamily, SocketType, socket};
    raw::loopback_up(socket(AddressFamily::INET, SocketType::DGRAM, None)?)
}

/// Reaps all processes until the shell has ended, and reports how it ended.
fn reap_until(shell: ChildPid) -> String {
    loop {
        match ChildPid::wait_any() {
            Ok(ReapResult::Ended(pid, status)) if pid == shell => {
                return match (status.exit_status(), status.terminating_signal()) {
                    (Some(code), _) => format!("exit {code}"),
                    (None, Some(signal)) => format!("signal {signal}"),
                    (None, None) => continue,
                };
            }
            Ok(ReapResult::Ended(..) | ReapResult::Running) => {}
            Ok(ReapResult::Nobody) => return "error the shell was lost".into(),
            Err(error) => return format!("error the shell was lost: {error}"),
        }
    }
}
