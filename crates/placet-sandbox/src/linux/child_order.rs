//! The order for process 1 of a sandbox: everything that it needs to know about its command. It is sent after the fork, so
//! that the fork can be made before the command is known.

use super::super::spec::SandboxSpec;
use placet_process::{pass_descriptors, text_frame};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;

/// The byte before an order. The input, which is a descriptor, comes with it.
const GO: &[u8; 1] = b"g";

/// See the module.
pub(super) struct ChildOrder {
    pub(super) spec: SandboxSpec,
    /// For `sh -c`.
    pub(super) line: OsString,
    /// The environment, before variables of it are withheld.
    pub(super) variables: Vec<(OsString, OsString)>,
    pub(super) stdin: Option<File>,
}

impl ChildOrder {
    pub(super) fn send(&self, mut line: &UnixStream) -> io::Result<()> {
        let spec = self.spec.to_words();
        let mut texts: Vec<&OsStr> = vec![OsStr::from_bytes(&spec), &self.line];
        texts.extend(self.variables.iter().flat_map(|(name, value)| [name.as_os_str(), value]));
        let stdin: Vec<BorrowedFd<'_>> = self.stdin.iter().map(AsFd::as_fd).collect();
        pass_descriptors::send(line, GO, &stdin)?;
        line.write_all(&text_frame::to_bytes(&texts))
    }

    /// Waits for the order. An error if the supervisor ends first.
    pub(super) fn receive(line: &mut UnixStream) -> io::Result<ChildOrder> {
        let (mut go, mut passed) = ([0], Vec::new());
        let ended = || io::Error::from(io::ErrorKind::UnexpectedEof);
        if pass_descriptors::receive(line, &mut go, &mut passed)? == 0 {
            return Err(ended());
        }
        let texts = text_frame::read(line)?.ok_or_else(ended)?;
        let mut texts = texts.into_iter();
        let mut next = || texts.next().ok_or_else(text_frame::damaged);
        let spec = SandboxSpec::from_words(next()?.as_bytes()).map_err(io::Error::other)?;
        let command = next()?;
        let mut variables = Vec::new();
        while let Some(name) = texts.next() {
            variables.push((name, texts.next().ok_or_else(text_frame::damaged)?));
        }
        let stdin = passed.into_iter().next().map(File::from);
        Ok(ChildOrder { spec, line: command, variables, stdin })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek};

    #[test]
    fn an_order_arrives_as_it_was_sent() {
        let (here, mut there) = UnixStream::pair().unwrap();
        let mut input = tempfile::tempfile().unwrap();
        input.write_all(b"input").unwrap();
        input.rewind().unwrap();
        let odd = OsStr::from_bytes(b"\xff\n").to_os_string();
        let order = ChildOrder {
            spec: SandboxSpec { cwd: "/a b".into(), ..SandboxSpec::default() },
            line: odd.clone(),
            variables: vec![("A".into(), OsString::new()), ("B".into(), odd.clone())],
            stdin: Some(input),
        };
        order.send(&here).unwrap();
        let got = ChildOrder::receive(&mut there).unwrap();
        assert_eq!((got.spec, got.line, got.variables), (order.spec, odd, order.variables));
        let mut read = String::new();
        got.stdin.unwrap().read_to_string(&mut read).unwrap();
        assert_eq!(read, "input");
        drop(here);
        assert!(ChildOrder::receive(&mut there).is_err());
    }
}
