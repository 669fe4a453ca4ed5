//! Which names are allowed, and the address and the listeners of each.

use super::host_rule::HostRule;
use super::socket_plan::ports;
use rustix::io::Errno;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;

/// How many connections to one listener may wait to be accepted.
const BACKLOG: i32 = 1024;

pub(super) struct NameTable {
    rules: Vec<HostRule>,
    names: HashMap<String, NameEntry>,
    /// Sockets without an address: for names that were in the list from the beginning, and for all others.
    own: Vec<OwnedFd>,
    shared: Vec<OwnedFd>,
    own_names: HashSet<String>,
    /// The address that was given last.
    last: Ipv4Addr,
}

struct NameEntry {
    address: Ipv4Addr,
    ports: BTreeSet<u16>,
}

/// A listener that was bound just now.
#[derive(Debug)]
pub(super) struct NameListener {
    pub(super) socket: OwnedFd,
    pub(super) name: String,
    pub(super) port: u16,
}

#[derive(Debug)]
pub(super) enum NameVerdict {
    Allowed(Ipv4Addr, Vec<NameListener>),
    /// No entry allows the name.
    Refused,
    /// There are no sockets left.
    UsedUp,
    /// No listener could be bound, because of the last of these ports.
    NotBound(u16, Errno),
}

impl NameTable {
    pub(super) fn new(
        rules: Vec<HostRule>,
        (own, shared): (Vec<OwnedFd>, Vec<OwnedFd>),
        last: Ipv4Addr,
    ) -> NameTable {
        let own_names = rules.iter().filter_map(HostRule::exact_name).map(Into::into).collect();
        NameTable { rules, names: HashMap::new(), own, shared, own_names, last }
    }

    /// The address of `name`, whose listeners are bound when it is asked for the first time.
    pub(super) fn look_up(&mut self, name: &str) -> NameVerdict {
        let wanted = ports(&self.rules, name);
        if wanted.is_empty() {
            return NameVerdict::Refused;
        }
        let known = self.names.get(name);
        let missing: Vec<u16> =
            wanted.into_iter().filter(|port| known.is_none_or(|known| !known.ports.contains(port))).collect();
        let address = match known {
            Some(known) if missing.is_empty() => return NameVerdict::Allowed(known.address, Vec::new()),
            Some(known) => known.address,
            None => Ipv4Addr::from_bits(self.last.to_bits() + 1),
        };
        let own = if self.own_names.contains(name) { self.own.len() } else { 0 };
        if own + self.shared.len() < missing.len() {
            return NameVerdict::UsedUp;
        }
        self.bind(name, address, &missing)
    }

    fn bind(&mut self, name: &str, address: Ipv4Addr, missing: &[u16]) -> NameVerdict {
        let (mut listeners, mut failed) = (Vec::new(), None);
        for &port in missing {
            let stock = if self.own_names.contains(name) && !self.own.is_empty() {
                &mut self.own
            } else {
                &mut self.shared
            };
            let Some(socket) = stock.pop() else { break };
            let at = SocketAddrV4::new(address, port);
            let bound = rustix::net::bind(&socket, &at).and_then(|()| rustix::net::listen(&socket, BACKLOG));
            match bound {
                Ok(()) => listeners.push(NameListener { socket, name: name.into(), port }),
                // A server of the command has this port on all addresses.
                Err(error) => {
                    failed = Some((port, error));
                    stock.push(socket);
                }
            }
        }
        if listeners.is_empty()
            && let Some((port, error)) = failed
        {
            return NameVerdict::NotBound(port, error);
        }
        let entry = self.names.entry(name.into()).or_insert(NameEntry { address, ports: BTreeSet::new() });
        entry.ports.extend(listeners.iter().map(|listener| listener.port));
        self.last = self.last.max(address);
        NameVerdict::Allowed(address, listeners)
    }

    /// Adds an entry. The results are those of the names whose address a program may have already.
    pub(super) fn allow(&mut self, rule: HostRule) -> Vec<NameVerdict> {
        if !self.rules.contains(&rule) {
            self.rules.push(rule);
        }
        let known: Vec<String> = self.names.keys().cloned().collect();
        known.iter().map(|name| self.look_up(name)).collect()
    }

    /// A socket without an address for another use.
    pub(super) fn take_shared(&mut self) -> Option<OwnedFd> {
        self.shared.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{AddressFamily, SocketType, socket};

    fn table(hosts: &[&str], own: usize, shared: usize) -> NameTable {
        let rules = hosts.iter().map(|host| HostRule::parse(host).unwrap()).collect();
        let stock =
            |count| (0..count).map(|_| socket(AddressFamily::INET, SocketType::STREAM, None).unwrap());
        // Tests have no interface with 198.18.0.0/15. Ports are high, so that any user can bind them.
        let last = Ipv4Addr::new(127, 77, rand_octet(), 0);
        NameTable::new(rules, (stock(own).collect(), stock(shared).collect()), last)
    }

    /// Tests run side by side.
    fn rand_octet() -> u8 {
        static NEXT: std::sync::atomic::AtomicU8 = std::sync::atomic::AtomicU8::new(1);
        NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
    }

    fn ask(table: &mut NameTable, name: &str) -> Result<(Ipv4Addr, Vec<NameListener>), String> {
        match table.look_up(name) {
            NameVerdict::Allowed(address, listeners) => Ok((address, listeners)),
            other => Err(format!("{other:?}").split('(').next().unwrap().to_string()),
        }
    }

    #[test]
    fn each_name_has_an_address_and_a_listener_for_each_port() {
        let mut table = table(&["a.example:8443", "a.example:8080", "b.example:8443"], 3, 0);
        let (first, listeners) = ask(&mut table, "a.example").unwrap();
        let bound: Vec<(String, u16)> =
            listeners.iter().map(|listener| (listener.name.clone(), listener.port)).collect();
        assert_eq!(bound, [("a.example".into(), 8080), ("a.example".into(), 8443)]);
        for listener in &listeners {
            let at = rustix::net::getsockname(&listener.socket).unwrap();
            assert_eq!(SocketAddrV4::try_from(at), Ok(SocketAddrV4::new(first, listener.port)));
        }
        let (again, none) = ask(&mut table, "a.example").unwrap();
        assert_eq!((again, none.len()), (first, 0));
        let (second, _) = ask(&mut table, "b.example").unwrap();
        assert_ne!(first, second);
        assert_eq!(ask(&mut table, "c.example").unwrap_err(), "Refused");
    }

    #[test]
    fn wildcards_share_sockets_and_leave_those_of_single_names() {
        let mut table = table(&["*.example:8443", "own.test:8443"], 1, 2);
        let mut held = Vec::new();
        for number in 0..10_000 {
            match ask(&mut table, &format!("{number}.example")) {
                Ok((_, listeners)) => held.extend(listeners),
                Err(error) => assert_eq!(error, "UsedUp"),
            }
        }
        assert_eq!((held.len(), table.names.len()), (2, 2));
        held.extend(ask(&mut table, "own.test").unwrap().1);
        assert!(ask(&mut table, "1.example").is_ok());
    }

    #[test]
    fn an_entry_that_is_allowed_later_also_opens_a_port_of_a_known_name() {
        let mut table = table(&["a.example:8443"], 1, 3);
        let (address, _held) = ask(&mut table, "a.example").unwrap();
        let opened = table.allow(HostRule::parse("*:8080").unwrap());
        let [NameVerdict::Allowed(same, listeners)] = opened.as_slice() else { panic!("{opened:?}") };
        assert_eq!((*same, listeners[0].port), (address, 8080));
        assert!(ask(&mut table, "b.example").is_ok());
    }

    #[test]
    fn a_port_that_a_program_has_on_all_addresses_is_not_bound() {
        let taken = std::net::TcpListener::bind("0.0.0.0:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        let mut table = table(&[&format!("a.example:{port}")], 1, 0);
        assert_eq!(ask(&mut table, "a.example").unwrap_err(), "NotBound");
        drop(taken);
        assert!(ask(&mut table, "a.example").is_ok());
    }
}
