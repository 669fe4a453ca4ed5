//! The order for a supervisor that waits: what `exec` would have given it.

use crate::text_frame::{self, damaged};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::process::Command;

/// Variables that differ from those of the supervisor; `None` removes one.
pub(crate) type VariableChanges = Vec<(OsString, Option<OsString>)>;

/// See the module.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SupervisorOrder {
    /// Empty where it is the supervisor's own.
    pub(crate) cwd: OsString,
    pub(crate) variables: VariableChanges,
    /// The arguments after [`crate::RUN`].
    pub(crate) arguments: Vec<OsString>,
}

impl SupervisorOrder {
    /// What `command` would give to a supervisor that it starts.
    pub(crate) fn of(command: &Command) -> SupervisorOrder {
        let owned = |(name, value): (&OsStr, Option<&OsStr>)| (name.into(), value.map(OsString::from));
        SupervisorOrder {
            cwd: command.get_current_dir().map(OsString::from).unwrap_or_default(),
            variables: command.get_envs().map(owned).collect(),
            arguments: command.get_args().skip(1).map(OsString::from).collect(),
        }
    }

    /// As a frame of texts.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut texts: Vec<&OsStr> = vec![&self.cwd];
        for (name, value) in &self.variables {
            // An empty name ends the list.
            texts.extend([name.as_os_str(), OsStr::new(if value.is_some() { "=" } else { "-" })]);
            texts.extend(value.as_deref());
        }
        texts.push(OsStr::new(""));
        texts.extend(self.arguments.iter().map(OsString::as_os_str));
        text_frame::to_bytes(&texts)
    }

    /// Reads an order, and no byte after it. `None` if `line` closes first: nobody needs the supervisor.
    pub(crate) fn read(line: &mut impl Read) -> io::Result<Option<SupervisorOrder>> {
        let Some(texts) = text_frame::read(line)? else { return Ok(None) };
        let mut texts = texts.into_iter();
        let mut next = || texts.next().ok_or_else(damaged);
        let cwd = next()?;
        let mut variables = Vec::new();
        loop {
            let name = next()?;
            if name.is_empty() {
                break;
            }
            let is_set = next()? == "=";
            variables.push((name, if is_set { Some(next()?) } else { None }));
        }
        Ok(Some(SupervisorOrder { cwd, variables, arguments: texts.collect() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn an_order_is_read_as_it_was_given_and_nothing_after_it() {
        let mut command = Command::new("placet");
        command.args(["__run", "--piped", "--", ""]).env("A", "").env_remove("B").env("C", "x=\n");
        command.arg(OsStr::from_bytes(b"\xff")).current_dir("/a b");
        let order = SupervisorOrder::of(&command);
        let mut sent = order.to_bytes();
        sent.extend_from_slice(b"rest");
        let mut line = sent.as_slice();
        let read = SupervisorOrder::read(&mut line).unwrap().unwrap();
        assert_eq!(read, order);
        assert_eq!(line, b"rest");
        assert_eq!(
            read.arguments,
            [OsStr::new("--piped"), OsStr::new("--"), OsStr::new(""), OsStr::from_bytes(b"\xff")]
        );
        assert_eq!(read.variables.len(), 3);
        assert_eq!(read.cwd, "/a b");
    }

    #[test]
    fn a_line_that_closes_is_no_order_and_a_damaged_order_is_an_error() {
        assert_eq!(SupervisorOrder::read(&mut [].as_slice()).unwrap(), None);
        assert_eq!(SupervisorOrder::read(&mut [1, 0].as_slice()).unwrap(), None);
        let whole =
            SupervisorOrder { cwd: "/".into(), variables: vec![("A".into(), None)], arguments: vec![] };
        let whole = whole.to_bytes();
        for cut in 8..whole.len() {
            assert!(SupervisorOrder::read(&mut &whole[..cut]).is_err(), "{cut}");
        }
        for body in [&b""[..], b"/", b"/\0", b"/\0A\0", b"/\0A\0=\0"] {
            let mut bytes = (body.len() as u64).to_le_bytes().to_vec();
            bytes.extend_from_slice(body);
            assert!(SupervisorOrder::read(&mut bytes.as_slice()).is_err(), "{body:?}");
        }
        assert!(SupervisorOrder::read(&mut u64::MAX.to_le_bytes().as_slice()).is_err());
    }
}
