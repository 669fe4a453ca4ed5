//! The client of a running command's network: what it asked for, and entries that are allowed while it runs.
//!
//! The other end is the network thread of the command's supervisor ([`super::control_server`]), behind a socket in a
//! directory that only the person can use. A line is one JSON value: events come, commands go.

use super::host_rule::HostRule;
use super::record::{NetworkEvent, NetworkRecord};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long the other end may take to read a command.
const WRITE_WITHIN: Duration = Duration::from_secs(2);

/// The longest line; a longer one ends the connection.
#[cfg(target_os = "linux")]
pub(super) const LONGEST_LINE: usize = 4096;

/// A line to the network thread.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum ControlCommand {
    /// An entry as [`HostRule::parse`] reads it.
    Allow(String),
}

/// A connection to the network thread of a running command.
#[derive(Debug)]
pub struct NetworkControl {
    line: UnixStream,
    partial: Vec<u8>,
    record: NetworkRecord,
}

impl NetworkControl {
    /// Connects to the socket that [`SandboxSpec::network_control`](crate::SandboxSpec) named. The events so
    /// far come first.
    pub fn connect(path: &Path) -> io::Result<NetworkControl> {
        let (_dir, short) = short_path(path)?;
        let line = UnixStream::connect(short)?;
        line.set_write_timeout(Some(WRITE_WITHIN))?;
        Ok(NetworkControl { line, partial: Vec::new(), record: NetworkRecord::default() })
    }

    /// Reads the events that have arrived, without waiting, and returns them. `UnexpectedEof` after the command has
    /// ended. [`AsFd`] is for `poll`.
    pub fn events(&mut self) -> io::Result<Vec<NetworkEvent>> {
        self.line.set_nonblocking(true)?;
        let read = self.read_available();
        self.line.set_nonblocking(false)?;
        let mut events = Vec::new();
        while let Some(end) = self.partial.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.partial.drain(..=end).collect();
            let event: NetworkEvent = serde_json::from_slice(&line).map_err(io::Error::other)?;
            self.record.update(event.clone());
            events.push(event);
        }
        match read {
            Err(error) if events.is_empty() => Err(error),
            _ => Ok(events),
        }
    }

    fn read_available(&mut self) -> io::Result<()> {
        let mut chunk = [0; 16_384];
        loop {
            match self.line.read(&mut chunk) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(length) => self.partial.extend_from_slice(chunk.get(..length).unwrap_or_default()),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
            if self.partial.len() > 1 << 20 {
                return Err(io::Error::other("the command's network reports too much"));
            }
        }
    }

    /// All events that were read.
    pub fn record(&self) -> &NetworkRecord {
        &self.record
    }

    /// Allows an entry from now on; the answer is the event `allowed`.
    pub fn allow(&mut self, rule: &HostRule) -> io::Result<()> {
        let mut line = serde_json::to_vec(&ControlCommand::Allow(rule.to_string()))?;
        line.push(b'\n');
        self.line.write_all(&line)
    }
}

/// The same socket by a short path, which is good as long as the descriptor is open: the system takes at most 107 bytes
/// for the path of a socket.
pub(super) fn short_path(path: &Path) -> io::Result<(Option<OwnedFd>, PathBuf)> {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    if !cfg!(target_os = "linux") {
        return Ok((None, path.to_path_buf()));
    }
    let dir = OwnedFd::from(File::open(dir)?);
    let short = Path::new("/proc/self/fd").join(dir.as_raw_fd().to_string()).join(name);
    Ok((Some(dir), short))
}

impl AsFd for NetworkControl {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.line.as_fd()
    }
}
