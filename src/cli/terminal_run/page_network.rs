//! The network of a running program, as a page of it sees it, and when a page looks again.
//!
//! A program that has just started makes the socket of its network a moment later than its entry among the runs, and the
//! record arrives a moment after the connection. So each look that has no connection tries again.

use crate::sandbox::{HostRule, NetworkControl, NetworkEvent};
use std::io;
use std::path::Path;
use std::time::Duration;

/// How often the facts are looked at again.
const LOOK: Duration = Duration::from_secs(1);
/// How soon after a host was allowed, and while the record is to come.
pub(in crate::cli) const SOON: Duration = Duration::from_millis(50);
/// How many looks come so soon. A look reads all changes: a socket that does not come must not cost one after the other.
const SOON_LOOKS: u8 = 20;

pub(in crate::cli) struct PageNetwork<'a> {
    /// The socket; absent where the program has no network of its own.
    path: Option<&'a Path>,
    control: Option<NetworkControl>,
    /// How many looks may still come soon.
    soon: u8,
    /// The last look made the connection, or found none.
    is_awaited: bool,
}

impl<'a> PageNetwork<'a> {
    pub(in crate::cli) fn at(path: Option<&'a Path>) -> PageNetwork<'a> {
        PageNetwork { path, control: None, soon: SOON_LOOKS, is_awaited: false }
    }

    /// When to look again after a look.
    pub(in crate::cli) fn next_look(&self) -> Duration {
        if self.is_awaited && self.soon > 0 { SOON } else { LOOK }
    }

    /// Allows a host from now on. Nothing happens where the network is not connected: then no host is shown either.
    pub(in crate::cli) fn allow(&mut self, entry: &str) {
        if let (Some(control), Ok(rule)) = (&mut self.control, HostRule::parse(entry)) {
            let _ = control.allow(&rule);
        }
    }

    /// What was asked for so far; `None` where there is no network.
    pub(super) fn events(&mut self) -> io::Result<Option<&[NetworkEvent]>> {
        let Some(path) = self.path else { return Ok(None) };
        self.is_awaited = self.control.is_none();
        if self.is_awaited {
            self.soon = self.soon.saturating_sub(1);
            match NetworkControl::connect(path) {
                Ok(control) => self.control = Some(control),
                // The socket is not made yet, or has its name and does not listen yet.
                Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {}
                Err(e) => return Err(e),
            }
        }
        let Some(control) = &mut self.control else { return Ok(Some(&[])) };
        // At the end of the program the last record is as good as any.
        let _ = control.events();
        Ok(Some(&control.record().events))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_socket_that_is_made_later_is_found_by_a_later_look() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("control");
        let mut network = PageNetwork::at(Some(&path));
        assert_eq!(network.events().unwrap(), Some(&[][..]));
        assert_eq!(network.next_look(), SOON);
        let listener = UnixListener::bind(&path).unwrap();
        assert_eq!(network.events().unwrap(), Some(&[][..]));
        assert_eq!(network.next_look(), SOON);
        let (mut client, _) = listener.accept().unwrap();
        client.write_all(b"{\"event\":\"refused\",\"name\":\"pkg.example.org\",\"count\":1}\n").unwrap();
        let events = network.events().unwrap().unwrap();
        assert!(events.len() == 1 && events[0].name == "pkg.example.org", "{events:?}");
        assert_eq!(network.next_look(), LOOK);
    }

    #[test]
    fn a_socket_that_never_comes_is_looked_for_as_often_as_the_rest() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("control");
        let mut network = PageNetwork::at(Some(&path));
        let soon = (0..100).take_while(|_| network.events().is_ok() && network.next_look() == SOON).count();
        assert_eq!(soon, usize::from(SOON_LOOKS) - 1);
        assert_eq!(PageNetwork::at(None).events().unwrap(), None);
    }
}
