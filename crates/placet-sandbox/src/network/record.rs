//! What a command asked of the network, as events with counts: for the result of the command, for placet's page and
//! for the end of `placet run`.

use serde::{Deserialize, Serialize};

/// How many events of one kind a record has; a command can ask for any number of names.
const MOST_OF_A_KIND: usize = 256;

/// The most bytes of a report; the buffer of a Unix socket holds about 200,000.
#[cfg(target_os = "linux")]
const LONGEST_REPORT: usize = 60_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkEventKind {
    /// The address of an allowed name was asked for.
    Asked,
    /// The address of a name was asked for that is not allowed.
    Refused,
    /// A name is allowed by a wildcard or was allowed later, and there is no listener left for it.
    UsedUp,
    /// A connection to an allowed host and port was made.
    Connected,
    /// A connection to an allowed host and port could not be made.
    Failed,
    /// An entry was allowed while the command runs.
    Allowed,
}

/// One kind of event for one name; `count` says how often it has happened so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkEvent {
    pub event: NetworkEventKind,
    /// Of letters, digits, `-`, `_` and `.` only; of [`NetworkEventKind::Allowed`] the entry.
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The program that asked first, if it could be found: its file name, which may contain any character.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Why a connection failed, the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub count: u64,
}

/// All events so far, in the order of their first time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkRecord {
    pub events: Vec<NetworkEvent>,
    /// How many events are not in the list, because it has a limit.
    #[serde(default)]
    pub left_out: u64,
}

impl NetworkEvent {
    #[cfg(target_os = "linux")]
    pub(super) fn new(event: NetworkEventKind, name: &str) -> NetworkEvent {
        NetworkEvent { event, name: name.into(), port: None, program: None, reason: None, count: 1 }
    }

    fn is_same(&self, other: &NetworkEvent) -> bool {
        self.event == other.event && self.name == other.name && self.port == other.port
    }
}

impl NetworkRecord {
    /// From the report of a finished command; `None` if it had no network by name.
    pub fn from_words(words: &str) -> Option<NetworkRecord> {
        serde_json::from_str(words).ok()
    }

    /// As one line that fits into a socket's buffer: without allowed names, and without events for which there is no
    /// room.
    #[cfg(target_os = "linux")]
    pub(super) fn to_report(&self) -> String {
        let mut short = NetworkRecord { events: Vec::new(), left_out: self.left_out };
        let mut room = LONGEST_REPORT;
        for event in self.events.iter().filter(|one| one.event != NetworkEventKind::Asked) {
            let length = serde_json::to_string(event).map_or(usize::MAX, |text| text.len() + 1);
            match room.checked_sub(length) {
                Some(rest) => {
                    room = rest;
                    short.events.push(event.clone());
                }
                None => short.left_out += 1,
            }
        }
        // Only a map with keys that are not text could fail here, and there is none.
        serde_json::to_string(&short).unwrap_or_default()
    }

    /// Events of one kind.
    pub fn of(&self, kind: NetworkEventKind) -> impl Iterator<Item = &NetworkEvent> {
        self.events.iter().filter(move |one| one.event == kind)
    }

    /// True for an event that is not in the list, and for which there is room.
    #[cfg(target_os = "linux")]
    pub(super) fn is_new(&self, event: &NetworkEvent) -> bool {
        self.of(event.event).count() < MOST_OF_A_KIND && !self.events.iter().any(|known| known.is_same(event))
    }

    /// Counts an event that has happened; the result is the event with its present count, unless it is left out.
    #[cfg(target_os = "linux")]
    pub(super) fn add(&mut self, new: NetworkEvent) -> Option<&NetworkEvent> {
        if let Some(at) = self.events.iter().position(|known| known.is_same(&new)) {
            let known = self.events.get_mut(at)?;
            known.count += 1;
            known.reason = new.reason.or(known.reason.take());
            return Some(known);
        }
        self.push(new)
    }

    /// Takes an event with a count that another process made.
    pub(super) fn update(&mut self, new: NetworkEvent) {
        match self.events.iter_mut().find(|known| known.is_same(&new)) {
            Some(known) => *known = new,
            None => drop(self.push(new)),
        }
    }

    fn push(&mut self, new: NetworkEvent) -> Option<&NetworkEvent> {
        if self.of(new.event).count() >= MOST_OF_A_KIND {
            self.left_out += 1;
            return None;
        }
        self.events.push(new);
        self.events.last()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_record_counts_and_does_not_grow_without_limit() {
        let mut record = NetworkRecord::default();
        let refused = |name: &str| NetworkEvent::new(NetworkEventKind::Refused, name);
        record.add(refused("a.example"));
        assert_eq!(record.add(refused("a.example")).unwrap().count, 2);
        for number in 0..10_000 {
            record.add(refused(&format!("{number}.example")));
        }
        assert_eq!((record.events.len(), record.left_out), (MOST_OF_A_KIND, 10_001 - 256));
        assert!(record.add(NetworkEvent::new(NetworkEventKind::Connected, "a.example")).is_some());
        assert_eq!(NetworkRecord::from_words(&record.to_report()), Some(record));
    }

    #[test]
    fn a_report_is_short_enough_for_a_socket() {
        let mut record = NetworkRecord::default();
        for number in 0..256 {
            record.add(NetworkEvent::new(NetworkEventKind::Refused, &format!("{number}{}", "a".repeat(250))));
        }
        let report = record.to_report();
        let read = NetworkRecord::from_words(&report).unwrap();
        assert!(report.len() < LONGEST_REPORT + 100 && read.events.len() > 150, "{}", report.len());
        assert_eq!(u64::try_from(read.events.len()).unwrap() + read.left_out, 256);
    }
}
