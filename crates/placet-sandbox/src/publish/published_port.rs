//! placet's side of a published port.

use super::PortMapping;
use placet_process::{ChildPid, PUBLISH, RUN, pass_descriptors};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use thiserror::Error;

/// A port of this machine that leads nowhere yet. A connection waits.
#[derive(Debug)]
pub struct BoundPort {
    mapping: PortMapping,
    listener: TcpListener,
}

/// A port of a command that programs of this machine reach, as long as this value exists.
#[derive(Debug)]
pub struct PublishedPort {
    mapping: PortMapping,
    process: Child,
    /// Closed, it ends the process. So it ends with placet, however placet ends.
    _line: UnixStream,
}

#[derive(Debug, Error)]
pub enum PublishError {
    #[error("port {0} of this machine is in use")]
    InUse(u16),
    #[error("port {0} of this machine cannot be used: {1}")]
    Refused(u16, io::Error),
    #[error("port {0} cannot be published: {1}")]
    Start(u16, io::Error),
}

impl BoundPort {
    /// Takes the port at 127.0.0.1, and at no other address.
    pub fn bind(mapping: PortMapping) -> Result<BoundPort, PublishError> {
        let port = mapping.outside;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|e| match e.kind() {
            io::ErrorKind::AddrInUse => PublishError::InUse(port),
            _ => PublishError::Refused(port, e),
        })?;
        Ok(BoundPort { mapping, listener })
    }

    /// Lets the port lead to the command below `supervisor`, whose sandbox need not be complete yet: until then, and
    /// where no program inside listens, a connection is reset at once. `placet` is this program.
    pub fn publish(self, placet: &Path, supervisor: ChildPid) -> Result<PublishedPort, PublishError> {
        let BoundPort { mapping, listener } = self;
        let started = start(placet, supervisor, (mapping, listener));
        let (process, _line) = started.map_err(|e| PublishError::Start(mapping.inside, e))?;
        Ok(PublishedPort { mapping, process, _line })
    }
}

fn start(
    placet: &Path,
    supervisor: ChildPid,
    (mapping, listener): (PortMapping, TcpListener),
) -> io::Result<(Child, UnixStream)> {
    let (line, theirs) = UnixStream::pair()?;
    pass_descriptors::send(&line, b"l", &[listener.as_fd()])?;
    let process = Command::new(placet)
        .args([RUN, PUBLISH])
        .args([supervisor.number().to_string(), mapping.inside.to_string()])
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    Ok((process, line))
}

impl PublishedPort {
    pub fn mapping(&self) -> PortMapping {
        self.mapping
    }
}

impl Drop for PublishedPort {
    fn drop(&mut self) {
        // Waited for: nothing listens any more when this returns.
        if self.process.kill().is_ok() {
            let _ = self.process.wait();
        }
    }
}
