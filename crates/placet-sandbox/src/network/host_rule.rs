//! One entry of the list of hosts: `host`, `*.host`, `host:port`, `localhost:port`.

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

/// The longest label of a name in the DNS.
const LONGEST_LABEL: usize = 63;

/// What a command may connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRule {
    hosts: HostSet,
    /// Absent: [`USUAL_PORTS`].
    port: Option<u16>,
}

/// The hosts of an entry. A wildcard is a whole entry or its first label, so that nothing else means many hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum HostSet {
    /// `*`
    Any,
    /// `*.NAME`, with the dot before the name.
    Below(String),
    Name(String),
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
        if host == "*" {
            return Ok(HostRule { hosts: HostSet::Any, port });
        }
        let (name, is_wild) = host.strip_prefix("*.").map_or((host, false), |name| (name, true));
        let name = normal_name(name);
        let last = name.rsplit('.').next().unwrap_or_default();
        if is_number(last) {
            return Err(HostRuleError::Address(text.into()));
        }
        // Below the name of this machine there is nothing.
        let is_below_own = (is_wild || name != "localhost") && last == "localhost";
        if name.len() > LONGEST_NAME || is_below_own || !name.split('.').all(is_label) {
            return Err(HostRuleError::NotAName(text.into()));
        }
        if is_localhost(&name) && port.is_none() {
            return Err(HostRuleError::LocalhostWithoutPort(text.into()));
        }
        let hosts = if is_wild { HostSet::Below(format!(".{name}")) } else { HostSet::Name(name) };
        Ok(HostRule { hosts, port })
    }

    /// The ports of `name` (as [`normal_name`] makes it) that this entry allows. A wildcard never means this machine.
    pub(super) fn ports(&self, name: &str) -> &[u16] {
        let is_meant = match &self.hosts {
            HostSet::Any => !is_localhost(name),
            HostSet::Below(end) => name.len() > end.len() && name.ends_with(end.as_str()),
            HostSet::Name(own) => own == name,
        };
        match is_meant {
            true => self.port.as_ref().map_or(&USUAL_PORTS, std::slice::from_ref),
            false => &[],
        }
    }

    /// Whether a command with this entry may connect to `port` of `host`.
    pub fn allows(&self, host: &str, port: u16) -> bool {
        self.ports(&normal_name(host)).contains(&port)
    }

    /// The single name that this entry allows; a wildcard allows many.
    #[cfg(target_os = "linux")]
    pub(super) fn exact_name(&self) -> Option<&str> {
        match &self.hosts {
            HostSet::Name(name) => Some(name),
            HostSet::Any | HostSet::Below(_) => None,
        }
    }
}

impl std::fmt::Display for HostRule {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.hosts {
            HostSet::Any => write!(to, "*")?,
            HostSet::Below(end) => write!(to, "*{end}")?,
            HostSet::Name(name) => write!(to, "{name}")?,
        }
        self.port.map_or(Ok(()), |port| write!(to, ":{port}"))
    }
}

/// True for a label of a name. Names of machines in a company have underscores.
fn is_label(label: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !label.is_empty()
        && label.len() <= LONGEST_LABEL
        && label.chars().all(is_plain)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// True for the last label of an address in an old spelling, which resolvers read as the address: `127.1`, `0x7f.1`,
/// `2130706433`. No top-level domain is a number.
fn is_number(label: &str) -> bool {
    let hex = label.strip_prefix("0x");
    !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_digit())
        || hex.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// True if `private_hosts` has the name of `entry`, without a port or with the port of `entry`. An entry without a port has
/// any of them.
pub fn names_private_host(private_hosts: &[String], entry: &str) -> bool {
    let parts = |text: &str| {
        let (name, port) = text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port)));
        (normal_name(name), port.map(String::from))
    };
    let (name, port) = parts(entry);
    let is_same = |(known, of): (String, Option<String>)| {
        known == name && (of.is_none() || port.is_none() || of == port)
    };
    private_hosts.iter().map(|host| parts(host.trim())).any(is_same)
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
    fn a_private_host_is_named_with_or_without_a_port() {
        let hosts = ["npm.corp".to_string(), "Wiki.corp.:8443".into()];
        for (entry, is_private) in [
            ("npm.corp", true),
            ("NPM.corp:4873", true),
            ("wiki.corp:8443", true),
            ("wiki.corp", true),
            ("wiki.corp:80", false),
            ("x.npm.corp", false),
            ("*.corp", false),
            ("*", false),
        ] {
            assert_eq!(names_private_host(&hosts, entry), is_private, "{entry}");
        }
    }

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
            ("localhost:11434", "localhost", &[11434]),
        ] {
            assert_eq!(HostRule::parse(rule).unwrap().ports(name), ports, "{rule} {name}");
        }
        assert_eq!(HostRule::parse("*.A.example:8443").unwrap().to_string(), "*.a.example:8443");
    }

    #[test]
    fn an_entry_that_is_no_host_is_an_error_that_names_the_reason() {
        use HostRuleError::{Address, LocalhostWithoutPort, NotAName, Port};
        let long = [&"a".repeat(64), &format!("{}.a", "a".repeat(64)), &"a.".repeat(130)];
        let wild = [
            "**",
            "*.",
            "*.*",
            "**.a",
            "a*b.example",
            "a.*",
            "*a.example",
            "*..a",
            "*.localhost",
            "*.localhost:80",
        ];
        let dots =
            ["a..b", ".a", ".", "..", "a..", "-a.example", "a-.example", "x.localhost", "x.localhost:80"];
        let other = ["", " ", "a b", "https://a.example", "a@b", "a\0", "a/b", "ü.example"];
        for text in other.into_iter().chain(wild).chain(dots).chain(long.map(String::as_str)) {
            let error = HostRule::parse(text).unwrap_err();
            assert!(matches!(error, NotAName(_) | Port(_)), "{text}: {error}");
        }
        let addresses =
            ["1.1.1.1", "1.1.1.1:53", "2606::1", "[2606::1]:443", "[::1]", "0x7f.1", "2130706433"];
        let spellings = ["127.1", "127.1.", "0X7F.0.0.1:80", "017700000001", "1.2.3.4.5", "*.1", "a.0x"];
        for text in addresses.into_iter().chain(spellings) {
            assert_eq!(HostRule::parse(text), Err(Address(text.into())));
        }
        for text in ["a.example:", "a.example:0", "a.example:65536", "a.example:x", "a:1:2"] {
            assert_eq!(HostRule::parse(text), Err(Port(text.into())));
        }
        assert_eq!(HostRule::parse("localhost"), Err(LocalhostWithoutPort("localhost".into())));
    }

    /// Every text of up to five of these signs: what is accepted is a name as the DNS knows it, and only `*` means a name
    /// that is not below the one written.
    #[test]
    fn no_text_means_more_hosts_than_it_names() {
        let signs = ['a', '*', '.', '-', '1', 'x', '0'];
        let mut texts = vec![String::new()];
        for begin in 0.. {
            let Some(text) = texts.get(begin).filter(|text| text.len() < 5).cloned() else { break };
            texts.extend(signs.iter().map(|sign| format!("{text}{sign}")));
        }
        let mut accepted = 0;
        for text in &texts {
            let Ok(rule) = HostRule::parse(text) else { continue };
            accepted += 1;
            let name = text.strip_prefix("*.").unwrap_or(text).trim_end_matches('.');
            assert!(text == "*" || !name.contains('*') && !format!(".{name}.").contains(".."), "{text}");
            assert!(!name.rsplit('.').next().unwrap().bytes().all(|byte| byte.is_ascii_digit()), "{text}");
            assert_eq!(rule.allows("other.example", 443), text == "*", "{text}");
            assert_eq!(rule.allows(name, 443), !text.starts_with("*."), "{text}");
            assert_eq!(rule.allows(&format!("b.{name}"), 443), text.starts_with('*'), "{text}");
            assert_eq!(HostRule::parse(&rule.to_string()), Ok(rule), "{text}");
        }
        assert!(accepted > 1000 && texts.len() > 19_000, "{accepted} {}", texts.len());
    }
}
