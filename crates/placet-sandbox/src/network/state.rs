//! What the tasks of the network thread share: the names, the record, and its clients.

use super::asker;
use super::dns_message::{DnsAnswer, parse};
use super::host_rule::{HostRule, HostRuleError, is_localhost, normal_name};
use super::name_table::{NameListener, NameTable, NameVerdict};
use super::record::{NetworkEvent, NetworkEventKind, NetworkRecord};
use super::upstream::UpstreamWays;
use placet_process::ChildPid;
use rustix::io::Errno;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Semaphore, broadcast};

/// The most simultaneous connections; more wait. Each has two sockets outside.
const MOST_CONNECTIONS: usize = 512;

/// Events that a slow reader may be behind; after more of them it gets the whole record again.
const EVENTS_BEHIND: usize = 256;

pub(super) struct NetworkState {
    pub(super) record: Arc<Mutex<NetworkRecord>>,
    pub(super) events: broadcast::Sender<NetworkEvent>,
    pub(super) room: Arc<Semaphore>,
    pub(super) ways: UpstreamWays,
    names: Mutex<NameTable>,
    /// The first process inside.
    first: Option<ChildPid>,
}

impl NetworkState {
    pub(super) fn new(names: NameTable, ways: UpstreamWays, first: Option<ChildPid>) -> NetworkState {
        NetworkState {
            record: Arc::default(),
            events: broadcast::Sender::new(EVENTS_BEHIND),
            room: Arc::new(Semaphore::new(MOST_CONNECTIONS)),
            ways,
            names: Mutex::new(names),
            first,
        }
    }

    /// The answer to a message for the stub, and listeners that must be served before it is sent. `port` is the UDP
    /// port of the one who asks.
    pub(super) fn reply(&self, message: &[u8], port: Option<u16>) -> (Option<Vec<u8>>, Vec<NameListener>) {
        let question = match parse(message) {
            Ok(question) => question,
            Err(answer) => return (answer, Vec::new()),
        };
        let name = question.name.as_deref().map(normal_name);
        let (answer, listeners) = match name.as_deref() {
            // The root exists.
            Some("") => (DnsAnswer::NoRecord, Vec::new()),
            // Reserved for the machine itself (RFC 6761); mostly `/etc/hosts` answers before.
            Some(name) if is_localhost(name) || name.ends_with(".localhost") => {
                (DnsAnswer::Address(Ipv4Addr::LOCALHOST), Vec::new())
            }
            Some(name) => self.answer(name, port, question.wants_address),
            None => (DnsAnswer::NoSuchName, Vec::new()),
        };
        let answer = match answer {
            DnsAnswer::Address(_) if !question.wants_address => DnsAnswer::NoRecord,
            answer => answer,
        };
        (Some(question.answer(answer)), listeners)
    }

    /// Only questions for an address are counted: most programs ask for two types at a time.
    fn answer(&self, name: &str, port: Option<u16>, is_counted: bool) -> (DnsAnswer, Vec<NameListener>) {
        let verdict = self.names().look_up(name);
        let (event, reason, answer) = match verdict {
            NameVerdict::Allowed(address, listeners) => {
                (NetworkEventKind::Asked, None, (DnsAnswer::Address(address), listeners))
            }
            // Names without a dot and reverse names are asked for on the way to others.
            NameVerdict::Refused if !name.contains('.') || name.ends_with(".arpa") => {
                return (DnsAnswer::NoSuchName, Vec::new());
            }
            NameVerdict::Refused => (NetworkEventKind::Refused, None, (DnsAnswer::NoSuchName, Vec::new())),
            NameVerdict::UsedUp => (NetworkEventKind::UsedUp, None, (DnsAnswer::NoSuchName, Vec::new())),
            NameVerdict::NotBound(port, error) => {
                let reason = Some(not_bound(port, error));
                (NetworkEventKind::Failed, reason, (DnsAnswer::NoSuchName, Vec::new()))
            }
        };
        if is_counted {
            let mut event = NetworkEvent { reason, ..NetworkEvent::new(event, name) };
            if event.event == NetworkEventKind::Refused && self.is_new(&event) {
                event.program = self.first.zip(port).and_then(|(first, port)| asker::program(first, port));
            }
            self.count(event);
        }
        answer
    }

    /// Allows an entry from now on.
    pub(super) fn allow(&self, text: &str) -> Result<Vec<NameListener>, HostRuleError> {
        let rule = HostRule::parse(text)?;
        let mut listeners = Vec::new();
        let mut names = self.names();
        if rule.exact_name().is_some_and(is_localhost) {
            for &port in rule.ports("localhost") {
                let at = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
                match names.take_shared() {
                    Some(socket) => match bind(&socket, at) {
                        Ok(()) => {
                            listeners.push(NameListener { socket, name: "localhost".into(), port });
                        }
                        Err(error) => self.count(NetworkEvent {
                            port: Some(port),
                            reason: Some(not_bound(port, error)),
                            ..NetworkEvent::new(NetworkEventKind::Failed, "localhost")
                        }),
                    },
                    None => self.count(NetworkEvent::new(NetworkEventKind::UsedUp, "localhost")),
                }
            }
        }
        for verdict in names.allow(rule.clone()) {
            if let NameVerdict::Allowed(_, more) = verdict {
                listeners.extend(more);
            }
        }
        drop(names);
        self.count(NetworkEvent::new(NetworkEventKind::Allowed, &rule.to_string()));
        Ok(listeners)
    }

    fn is_new(&self, event: &NetworkEvent) -> bool {
        self.record.lock().unwrap_or_else(PoisonError::into_inner).is_new(event)
    }

    /// Counts an event and sends it to all clients.
    pub(super) fn count(&self, event: NetworkEvent) {
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(event) = record.add(event) {
            // An error means that there is no client.
            let _ = self.events.send(event.clone());
        }
    }

    /// All events so far, and a receiver of the next.
    pub(super) fn listen(&self) -> (Vec<NetworkEvent>, broadcast::Receiver<NetworkEvent>) {
        let record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        (record.events.clone(), self.events.subscribe())
    }

    fn names(&self) -> MutexGuard<'_, NameTable> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn bind(socket: &std::os::fd::OwnedFd, at: SocketAddrV4) -> Result<(), Errno> {
    rustix::net::bind(socket, &at)?;
    rustix::net::listen(socket, 128)
}

fn not_bound(port: u16, error: Errno) -> String {
    match error {
        Errno::ADDRINUSE => format!("the command itself uses port {port}"),
        error => format!("port {port}: {error}"),
    }
}
