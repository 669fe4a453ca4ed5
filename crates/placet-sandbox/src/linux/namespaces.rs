//! The supervisor's part: starts a child in namespaces of its own, with this user's ids.

use super::super::network::{self, HostRule, SocketPlan};
use super::super::probe;
use super::super::spec::{SandboxBackend, SandboxNetwork, SandboxSpec};
use super::child_order::ChildOrder;
use super::setup_error::SetupStepKind;
use super::{init, join_netns, network_setup, raw};
use placet_process::{
    ChildPid, ConfineError, ConfineRequest, ConfinedProcess, PreparedConfine, SandboxReport, pass_descriptors,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long the child may take to build its view.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// The namespaces of every command with a view.
const SEPARATE: i32 =
    libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS;

/// Starts `sh -c` in the sandbox that the words describe (a [`SandboxSpec`]). Returns when the command is about to
/// start. Any failure before is an error that names what was refused, and nothing has run.
pub(crate) fn confine(asked: ConfineRequest) -> Result<ConfinedProcess, ConfineError> {
    confine_from(asked, None)
}

/// Forks the child of the usual sandbox, which waits for its order. Where that fails, [`confine`] reports why.
pub(crate) fn prepare() -> Option<PreparedConfine> {
    let first = FirstProcess::fork(SEPARATE | libc::CLONE_NEWNET).ok()?;
    Some(Box::new(move |asked| confine_from(asked, Some(first))))
}

fn confine_from(asked: ConfineRequest, first: Option<FirstProcess>) -> Result<ConfinedProcess, ConfineError> {
    let spec = SandboxSpec::from_words(&asked.words).map_err(io::Error::other)?;
    let record = spec.probe_record.clone();
    let confined = confine_as(spec, asked, first);
    if let (Err(_), Some(record)) = (&confined, record) {
        // What was found out about this machine may be true no more.
        probe::forget(&record);
    }
    confined
}

fn confine_as(
    mut spec: SandboxSpec,
    asked: ConfineRequest,
    first: Option<FirstProcess>,
) -> Result<ConfinedProcess, ConfineError> {
    let sockets = named_sockets(&spec);
    spec.masked.extend(sockets);
    let joins = spec.backend == SandboxBackend::Overlay
        && spec.network.has_no_hosts()
        && spec.names.control.is_none();
    let beside = match spec.beside.filter(|_| joins).map(join_network).transpose() {
        Ok(joined) => joined == Some(true),
        Err(e) => {
            let why =
                format!("the network of the background command cannot be shared: {e}; end that one first");
            return Err(io::Error::other(why).into());
        }
    };
    let mut own_sockets = None;
    if !beside {
        spec.beside = None;
    } else if spec.network != SandboxNetwork::Off {
        // This process has all rights in the network that it joined; the child would have none.
        match network_setup::beside() {
            Ok((server, sockets)) => {
                spec.names.server = Some(server);
                own_sockets = Some(sockets);
            }
            // The other command has joined it as well: it belongs to a third, and names get no answer.
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => spec.network = SandboxNetwork::Off,
            Err(e) => return Err(e.into()),
        }
    }
    if spec.terminal.is_some() && spec.backend != SandboxBackend::Overlay {
        return Err(io::Error::other(
            "a terminal needs a copy-on-write view, which this machine does not support",
        )
        .into());
    }
    let flags = match spec.backend {
        SandboxBackend::Overlay => namespaces(&spec),
        SandboxBackend::Landlock => 0,
        SandboxBackend::Seatbelt | SandboxBackend::None => {
            return Err(io::Error::other(
                "no sandbox on this system, and placet runs no command without one",
            )
            .into());
        }
    };
    let hosts = network_setup::sockets_of(&spec)?;
    // The other end of the socket is for the person only.
    spec.masked.extend(spec.names.control.iter().filter_map(|path| path.parent()).map(Path::to_path_buf));
    // A child in other namespaces is ended here.
    let first = match first.filter(|first| first.flags == flags) {
        Some(first) => first,
        None => FirstProcess::fork(flags)?,
    };
    let FirstProcess { mut process, mut line, .. } = first;
    if hosts.is_some() {
        raise_open_files();
    }
    let control = spec.names.control.clone();
    let private_hosts = spec.names.private_hosts.clone();
    let order = ChildOrder { spec, line: asked.line, variables: asked.variables, stdin: asked.stdin };
    line.set_write_timeout(Some(READY_WITHIN))?;
    match order.send(&line) {
        // It has ended; its report says why.
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => {}
        sent => sent?,
    }
    let passed = handshake(&mut line)?;
    // The child was forked before, and so this may start a thread.
    let sockets = own_sockets.unwrap_or(passed.sockets);
    let serve = |(rules, plan): HostNetwork| {
        network::serve((rules, private_hosts), &plan, sockets, (process.pid, control.as_deref()))
    };
    let report: Option<SandboxReport> = hosts.map(serve).transpose()?;
    process.is_unused = false;
    Ok(ConfinedProcess { pid: process.pid, words: Some(line), terminal: passed.terminal, report })
}

/// The network of a list of hosts.
type HostNetwork = (Vec<HostRule>, SocketPlan);

/// The child, which waits for its order.
struct FirstProcess {
    process: UnusedProcess,
    line: UnixStream,
    /// The namespaces that were made for it.
    flags: i32,
}

/// A process that is ended when this value is dropped.
struct UnusedProcess {
    pid: ChildPid,
    is_unused: bool,
}

impl FirstProcess {
    fn fork(flags: i32) -> io::Result<FirstProcess> {
        let (line, line_out) = UnixStream::pair()?;
        let child = init::SandboxChild { line_out };
        let pid = raw::fork(flags, || child.run()).map_err(refused)?;
        let process = UnusedProcess { pid, is_unused: true };
        map_ids(pid, flags)?;
        Ok(FirstProcess { process, line, flags })
    }
}

impl Drop for UnusedProcess {
    fn drop(&mut self) {
        // Where the system refuses the signal, the process ends with its line, and nobody waits for it.
        if self.is_unused && self.pid.signal(rustix::process::Signal::KILL).is_ok() {
            let _ = self.pid.wait();
        }
    }
}

fn join_network(supervisor: u32) -> io::Result<bool> {
    join_netns::join(ChildPid::checked(supervisor)?)
}

/// The sockets of the command, and two for each of its connections, are open here.
fn raise_open_files() {
    let usual = getrlimit(Resource::Nofile);
    // Without the right to more, fewer connections are open at a time.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: usual.maximum, maximum: usual.maximum });
}

/// Listening sockets with a name in the file system. A read-only mount does not stop `connect`, and Landlock does so
/// only in its newest ABI. Below an overlay they are unreachable: its files are not the host's. The socket for the
/// command's own signatures stays.
fn named_sockets(spec: &SandboxSpec) -> Vec<PathBuf> {
    // `__SO_ACCEPTCON` of the kernel, which `/proc/net/unix` shows for a listening socket.
    const LISTENS: u32 = 1 << 16;
    let table = std::fs::read("/proc/net/unix").unwrap_or_default();
    let named = table.split(|&byte| byte == b'\n').skip(1).filter_map(|row| {
        let start = memchr::memchr(b'/', row)?;
        let (fields, path) = row.split_at_checked(start)?;
        let flags = std::str::from_utf8(fields).ok()?.split_ascii_whitespace().nth(3)?;
        let listens = u32::from_str_radix(flags, 16).ok()? & LISTENS != 0;
        // An abstract name begins with `@`; the network namespace separates abstract sockets.
        (listens && fields.ends_with(b" ")).then(|| PathBuf::from(OsStr::from_bytes(path)))
    });
    let is_live = |path: &PathBuf| {
        spec.writable.iter().chain(&spec.scratch).any(|dir| path.starts_with(dir))
            || !spec.overlays.iter().any(|overlay| path.starts_with(&overlay.target))
    };
    let is_signer = |path: &PathBuf| spec.signer.as_ref().is_some_and(|signer| signer.socket == *path);
    named.filter(|path| is_live(path) && !is_signer(path)).collect()
}

fn namespaces(spec: &SandboxSpec) -> i32 {
    let network = match spec.network {
        SandboxNetwork::Open => 0,
        // The command is already in the network of another command.
        _ if spec.beside.is_some() => 0,
        _ => libc::CLONE_NEWNET,
    };
    SEPARATE | network
}

/// Why there are no namespaces here, with the possible remedy.
fn refused(error: io::Error) -> io::Error {
    let why = match error.raw_os_error() {
        Some(libc::EPERM) => "this system forbids user namespaces to this user",
        Some(libc::ENOSPC | libc::EUSERS) => "no more user namespaces are allowed (user.max_user_namespaces)",
        Some(libc::EINVAL | libc::ENOSYS) => "this kernel has no user namespaces",
        _ => return error,
    };
    io::Error::other(format!("{why}: {error}"))
}

/// The child's ids are this process' own. With CAP_SETUID every id is mapped, so that root inside can work on another
/// user's tree like root outside.
fn map_ids(pid: ChildPid, flags: i32) -> io::Result<()> {
    if flags & libc::CLONE_NEWUSER == 0 {
        return Ok(());
    }
    let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let dir = pid.proc_dir();
    if holds_setuid() && all_ids(&dir).is_ok() {
        return Ok(());
    }
    let put = |name: &str, text: String| {
        std::fs::write(dir.join(name), text).map_err(|e| io::Error::new(e.kind(), format!("{name}: {e}")))
    };
    // Without privileges the kernel accepts a `gid_map` only after this.
    put("setgroups", "deny".into())?;
    put("uid_map", format!("{uid} {uid} 1\n"))?;
    put("gid_map", format!("{gid} {gid} 1\n"))
}

fn holds_setuid() -> bool {
    use rustix::thread::CapabilitySet;
    let needed = CapabilitySet::SETUID | CapabilitySet::SETGID;
    rustix::thread::capabilities(None).is_ok_and(|held| held.effective.contains(needed))
}

/// Maps every id that is mapped here to itself. In a container these are a part of all ids.
fn all_ids(dir: &Path) -> io::Result<()> {
    for name in ["uid_map", "gid_map"] {
        let mut own = String::new();
        for line in std::fs::read_to_string(format!("/proc/self/{name}"))?.lines() {
            let mut words = line.split_ascii_whitespace();
            let (Some(inside), Some(_), Some(count)) = (words.next(), words.next(), words.next()) else {
                continue;
            };
            own.push_str(&format!("{inside} {inside} {count}\n"));
        }
        std::fs::write(dir.join(name), own)?;
    }
    Ok(())
}

/// A read that timed out reports only that it would block.
fn late(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock => {
            io::Error::other(format!("it was not ready within {} seconds", READY_WITHIN.as_secs()))
        }
        _ => error,
    }
}

/// What the child passed out.
#[derive(Default)]
struct PassedOut {
    sockets: Vec<OwnedFd>,
    terminal: Option<OwnedFd>,
}

/// Waits until the child's sandbox is complete. The child sends lines: the sockets of its network,
/// if it has one, and then `ready` with its terminal, if it has one, or what was refused.
fn handshake(line: &mut UnixStream) -> Result<PassedOut, ConfineError> {
    line.set_read_timeout(Some(READY_WITHIN))?;
    let mut passed = PassedOut::default();
    let (said, terminal) = loop {
        let (said, descriptors) = receive_line(line)?;
        if said != network_setup::SOCKETS {
            break (said, descriptors.into_iter().next());
        }
        passed.sockets.extend(descriptors);
    };
    let said = said.as_str();
    if said == init::READY {
        return Ok(PassedOut { terminal, ..passed });
    }
    Err(match SetupStepKind::read(said) {
        (_, "") => io::Error::other("it ended before it was ready").into(),
        (SetupStepKind::Overlay, reason) => ConfineError::Overlay(reason.replace('\u{0}', "\n")),
        (SetupStepKind::Other, reason) => io::Error::other(reason.replace('\u{0}', "\n")).into(),
    })
}

/// Reads a line, and the descriptors that came with it.
fn receive_line(line: &UnixStream) -> io::Result<(String, Vec<OwnedFd>)> {
    let (mut said, mut passed) = (Vec::new(), Vec::new());
    // Byte by byte: the bytes after the line are read later.
    while said.last() != Some(&b'\n') {
        let mut byte = [0];
        if pass_descriptors::receive(line, &mut byte, &mut passed).map_err(late)? == 0 {
            break;
        }
        said.extend_from_slice(&byte);
    }
    Ok((String::from_utf8_lossy(&said).trim_end().to_string(), passed))
}
