//! One entry of the list of hosts: `host`, `*.host`, `host:port`, `localhost:port`.

use placet_text::text::secret::matches;
use std::net::IpAddr;
use thiserror::Error;

/// The ports of an entry without a port: HTTPS and HTTP.
const USUAL_PORTS: [u16; 2] = [443, 80];

/// How many names with two ports the wildcards of a command's list have room for.
pub const MOST_SHARED_NAMES: usize = 240;

/// The same without wildcards in the list, for entries that are allowed while the command runs: a person allows them one
/// by one, and sockets that are never used cost time.
#[cfg(target_os = "linux")]
pub(super) const MOST_LATER_NAMES: usize = 64;

/// The longest name in the DNS.
const LONGEST_NAME: usize = 253;

/// What a command may connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRule {
    pattern: String,
    /// Absent: [`USUAL_PORTS`].
    port: Option<u16>,
}

/// Why an entry is not a host.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HostRuleError {
    #[error("`{0}` is not a host name")]
    NotAName(String),
    #[error("`{0}` is an address, and commands connect by name only")]
    Address(String),
    #[error("`{0}` has no port; of this machine one port can be allowed, as `localhost:8080`")]
    LocalhostWithoutPort(String),
    #[error("`{0}` has a port that is not a number from 1 to 65535")]
    Port(String),
}

impl HostRule {
    pub fn parse(text: &str) -> Result<HostRule, HostRuleError> {
        let bare = text.trim_start_matches('[').trim_end_matches(']');
        let without_port = text.rsplit_once(':').map_or(text, |(host, _)| host);
        if [bare, without_port.trim_start_matches('[').trim_end_matches(']')]
            .iter()
            .any(|text| text.parse::<IpAddr>().is_ok())
        {
            return Err(HostRuleError::Address(text.into()));
        }
        let (host, port) = match text.split_once(':') {
            None => (text, None),
            Some((host, port)) => {
                let port = port.parse().ok().filter(|port| *port != 0);
                (host, Some(port.ok_or_else(|| HostRuleError::Port(text.into()))?))
            }
        };
        let pattern = normal_name(host);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.*".contains(c);
        if pattern.is_empty() || pattern.len() > LONGEST_NAME || !pattern.chars().all(is_plain) {
            return Err(HostRuleError::NotAName(text.into()));
        }
        if is_localhost(&pattern) && port.is_none() {
            return Err(HostRuleError::LocalhostWithoutPort(text.into()));
        }
        Ok(HostRule { pattern, port })
    }

    /// The ports of `name` (as [`normal_name`] makes it) that this entry allows. A wildcard never means this machine.
    pub(super) fn ports(&self, name: &str) -> &[u16] {
        let is_own = is_localhost(name) && self.pattern != name;
        if is_own || !matches(&self.pattern, name) {
            return &[];
        }
        self.port.as_ref().map_or(&USUAL_PORTS, std::slice::from_ref)
    }

    /// Whether a command with this entry may connect to `port` of `host`.
    pub fn allows(&self, host: &str, port: u16) -> bool {
        self.ports(&normal_name(host)).contains(&port)
    }

    /// The single name that this entry allows; a wildcard allows many.
    #[cfg(target_os = "linux")]
    pub(super) fn exact_name(&self) -> Option<&str> {
        (!self.pattern.contains('*')).then_some(self.pattern.as_str())
    }
}

impl std::fmt::Display for HostRule {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.port {
            None => write!(to, "{}", self.pattern),
            Some(port) => write!(to, "{}:{port}", self.pattern),
        }
    }
}

/// In lower case, without the final dot.
pub(super) fn normal_name(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

/// The name of this machine. Other names below `localhost` are not allowed anywhere.
pub(super) fn is_localhost(name: &str) -> bool {
    name == "localhost"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_names_hosts_and_ports() {
        for (rule, name, ports) in [
            ("crates.io", "crates.io", &[443, 80][..]),
            ("CRATES.io.", "crates.io", &[443, 80]),
            ("crates.io", "evil-crates.io", &[]),
            ("crates.io", "crates.io.evil", &[]),
            ("*.rust-lang.org", "static.rust-lang.org", &[443, 80]),
            ("*.rust-lang.org", "a.b.rust-lang.org", &[443, 80]),
            ("*.rust-lang.org", "rust-lang.org", &[]),
            ("git.example:22", "git.example", &[22]),
            ("*", "anything.example", &[443, 80]),
            ("*", "localhost", &[]),
            ("*:11434", "localhost", &[]),
            ("local*:11434", "localhost", &[]),
            ("localhost:11434", "localhost", &[11434]),
        ] {
            assert_eq!(HostRule::parse(rule).unwrap().ports(name), ports, "{rule} {name}");
        }
        assert_eq!(HostRule::parse("*.A.example:8443").unwrap().to_string(), "*.a.example:8443");
    }

    #[test]
    fn an_entry_that_is_no_host_is_an_error_that_names_the_reason() {
        use HostRuleError::{Address, LocalhostWithoutPort, NotAName, Port};
        for text in ["", " ", "a b", "https://a.example", "a@b", "a\0", "a/b", "ü.example", &"a".repeat(254)]
        {
            let error = HostRule::parse(text).unwrap_err();
            assert!(matches!(error, NotAName(_) | Port(_)), "{text}: {error}");
        }
        for text in ["1.1.1.1", "1.1.1.1:53", "2606::1", "[2606::1]:443", "[::1]"] {
            assert_eq!(HostRule::parse(text), Err(Address(text.into())));
        }
        for text in ["a.example:", "a.example:0", "a.example:65536", "a.example:x", "a:1:2"] {
            assert_eq!(HostRule::parse(text), Err(Port(text.into())));
        }
        assert_eq!(HostRule::parse("localhost"), Err(LocalhostWithoutPort("localhost".into())));
    }
}
