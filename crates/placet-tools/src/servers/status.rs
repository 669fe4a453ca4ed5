//! What placet knows of a server between its calls: its tools, its last failure, and when it may be started again.

use placet_mcp::KnownTools;
use placet_text::text::visible;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The longest pause between two starts of a server that fails.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// How much of an error a list shows, in characters. The log and the call's result have more.
const LONGEST_ERROR: usize = 300;

/// What a server does now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerState {
    /// It was not needed, or has ended.
    #[default]
    Idle,
    Running {
        since: Instant,
    },
    /// Its last start or call failed in a way that ended it.
    Failed,
}

/// A server, as lists show it.
#[derive(Clone, Debug, Default)]
pub struct ServerStatus {
    pub state: ServerState,
    pub known: Option<KnownTools>,
    /// For a person: parts of it may be the server's own words, rendered.
    pub last_error: Option<String>,
    pub calls: u64,
    pub starts: u64,
    /// Hosts that the last start needed and was refused: the next call asks the person about them.
    pub(super) wanted_hosts: Vec<String>,
    /// Hosts beyond those of the settings that the process which runs now may connect to.
    pub(super) given_hosts: Vec<String>,
    /// Files at home that last for the session only, of which the person knows.
    pub(super) said_home: BTreeSet<PathBuf>,
    failures: u32,
    retry_at: Option<Instant>,
}

impl ServerStatus {
    pub(super) fn failed(&mut self, why: &str) {
        self.state = ServerState::Failed;
        self.note_error(why);
        let pause = Duration::from_secs(1 << self.failures.min(6));
        self.failures += 1;
        self.retry_at = Some(Instant::now() + pause.min(LONGEST_PAUSE));
    }

    /// Remembers the beginning of an error for lists.
    pub(super) fn note_error(&mut self, error: &str) {
        let line = error.trim().lines().next().unwrap_or_default();
        let beginning: String = line.chars().take(LONGEST_ERROR).collect();
        self.last_error = Some(visible::line(&beginning).into_owned());
    }

    /// A start was refused these hosts in addition to those that the person allowed for it.
    pub(super) fn wants(&mut self, allowed: &[String], refused: Vec<String>) {
        self.wanted_hosts = allowed.iter().cloned().chain(refused).collect();
        self.may_start();
    }

    /// The next start need not wait.
    pub(super) fn may_start(&mut self) {
        self.retry_at = None;
    }

    pub(super) fn started(&mut self, given_hosts: &[String]) {
        self.state = ServerState::Running { since: Instant::now() };
        self.wanted_hosts.clear();
        self.given_hosts = given_hosts.to_vec();
        self.starts += 1;
    }

    pub(super) fn answered(&mut self) {
        (self.failures, self.retry_at) = (0, None);
        self.calls += 1;
    }

    /// How long the server may not be started.
    pub fn pause(&self) -> Option<Duration> {
        self.retry_at.and_then(|at| at.checked_duration_since(Instant::now())).filter(|left| !left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_fails_waits_longer_each_time_and_at_most_a_minute() {
        let mut status = ServerStatus::default();
        assert_eq!(status.pause(), None);
        let mut last = Duration::ZERO;
        for _ in 0..20 {
            status.failed("no");
            let pause = status.pause().unwrap();
            assert!(pause >= last.min(Duration::from_secs(59)) && pause <= LONGEST_PAUSE, "{pause:?}");
            last = pause;
        }
        status.answered();
        assert_eq!(status.pause(), None);
    }
}
