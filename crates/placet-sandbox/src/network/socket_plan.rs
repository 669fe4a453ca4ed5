//! Which sockets a command's network needs, made inside before the command starts, because nothing can make one there
//! later.
//!
//! A socket belongs to the network in which it was made, and the supervisor may bind it there: it owns the user
//! namespace of that network. So sockets without an address are enough, and an address is given when a name is asked
//! for.

use super::host_rule::{HostRule, MOST_LATER_NAMES, MOST_SHARED_NAMES, is_localhost};
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

/// How many pairs of name and port all wildcards and all entries that are allowed later share.
const SHARED_SOCKETS: usize = 2 * MOST_SHARED_NAMES;

/// The same where the list has no wildcard.
const LATER_SOCKETS: usize = 2 * MOST_LATER_NAMES;

/// The number of sockets, and where the first of them are bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SocketPlan {
    /// Ports of `localhost` that lead to the host. They are bound before the command starts: no DNS question comes
    /// before a connection to `localhost`.
    pub(crate) localhost: Vec<u16>,
    /// For names without a wildcard.
    pub(crate) own: usize,
    /// For all others.
    pub(crate) shared: usize,
}

/// Whether entries can be added while the command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaterRules {
    Possible,
    None,
}

impl SocketPlan {
    pub(crate) fn of(rules: &[HostRule], later: LaterRules) -> SocketPlan {
        let (single, wild): (Vec<&HostRule>, Vec<&HostRule>) =
            rules.iter().partition(|rule| rule.exact_name().is_some());
        // By name first: a list may have hundreds of entries, and each command reads it.
        let mut exact: BTreeMap<&str, BTreeSet<u16>> = BTreeMap::new();
        for rule in single {
            let name = rule.exact_name().unwrap_or_default();
            exact.entry(name).or_default().extend(rule.ports(name));
        }
        let mut plan = SocketPlan { localhost: Vec::new(), own: 0, shared: 0 };
        for (name, mut ports) in exact {
            ports.extend(wild.iter().flat_map(|rule| rule.ports(name)));
            match is_localhost(name) {
                true => plan.localhost.extend(ports),
                false => plan.own += ports.len(),
            }
        }
        plan.shared = match later {
            _ if !wild.is_empty() => SHARED_SOCKETS,
            LaterRules::Possible => LATER_SOCKETS,
            LaterRules::None => 0,
        };
        plan
    }
}

/// The ports of `name` that any of `rules` allows.
pub(super) fn ports(rules: &[HostRule], name: &str) -> BTreeSet<u16> {
    rules.iter().flat_map(|rule| rule.ports(name)).copied().collect()
}

/// The address of the interface itself. The addresses of names follow it.
pub(crate) const OWN_ADDRESS: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);

/// 198.18.0.0/15 is reserved for benchmarks (RFC 2544): no host of the internet and of few private networks has one.
pub(crate) const PREFIX: u8 = 15;

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(hosts: &[&str], later: LaterRules) -> SocketPlan {
        let rules: Vec<HostRule> = hosts.iter().map(|host| HostRule::parse(host).unwrap()).collect();
        SocketPlan::of(&rules, later)
    }

    #[test]
    fn a_socket_for_each_name_and_port() {
        let hosts = ["a.example", "a.example:443", "b.example:22", "a.example:8443", "localhost:1234"];
        let own = SocketPlan { localhost: vec![1234], own: 4, shared: 0 };
        assert_eq!(plan(&hosts, LaterRules::None), own);
        assert_eq!(plan(&hosts, LaterRules::Possible), SocketPlan { shared: LATER_SOCKETS, ..own });
        let wild = SocketPlan { localhost: vec![], own: 3, shared: SHARED_SOCKETS };
        assert_eq!(plan(&["*.example:22", "a.example"], LaterRules::None), wild);
    }
}
