//! Variables that name the server of an agent's model, such as a gateway on this machine: where the run may not reach that
//! server, the agent only waits.

use super::plan::ProgramPlan;
use crate::sandbox::HostRule;
use crate::text::visible;
use std::net::IpAddr;

/// How the names of these variables end.
const ENDINGS: [&str; 3] = ["BASE_URL", "API_BASE", "_HOST_URL"];

/// A line for each variable whose server the run may not reach. `more` are the hosts of the settings.
pub(super) fn unreachable(plan: &ProgramPlan, more: &[String]) -> Vec<String> {
    let rules: Vec<HostRule> =
        plan.hosts.iter().chain(more).filter_map(|entry| HostRule::parse(entry).ok()).collect();
    let mut variables: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| ENDINGS.iter().any(|ending| name.ends_with(ending)))
        .collect();
    variables.sort();
    let line = |(name, url): &(String, String)| line(name, url, &rules, plan.name());
    variables.iter().filter_map(line).collect()
}

fn line(name: &str, url: &str, rules: &[HostRule], program: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (host, port) = host_and_port(authority, if scheme.eq_ignore_ascii_case("http") { 80 } else { 443 })?;
    let (name, program) = (visible::name(name), visible::name(program));
    let server = visible::name(authority);
    match host.parse::<IpAddr>() {
        Ok(address) if address.is_loopback() || address.is_unspecified() => Some(format!(
            "note: {name} names {server}, which {program} cannot reach: commands connect by name only; set it to \
             {}://localhost:{port} and use `--network localhost:{port}`",
            visible::name(scheme)
        )),
        Ok(_) => Some(format!(
            "note: {name} names {server}, which {program} cannot reach: commands connect by name only"
        )),
        Err(_) if rules.iter().any(|rule| rule.allows(&host, port)) => None,
        Err(_) => Some(format!(
            "note: {name} names {server}, which {program} may not reach: `--network {}:{port}` allows it",
            visible::name(&host)
        )),
    }
}

/// The host without the brackets of an IPv6 address.
fn host_and_port(authority: &str, usual: u16) -> Option<(String, u16)> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, after) = rest.split_once(']')?;
        let port = after.strip_prefix(':').map_or(Some(usual), |port| port.parse().ok())?;
        return Some((host.into(), port));
    }
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, port.parse().ok()?),
        None => (authority, usual),
    };
    (!host.is_empty()).then(|| (host.to_string(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gateway_that_the_run_cannot_reach_is_named() {
        let rules =
            [HostRule::parse("api.example.org:443").unwrap(), HostRule::parse("localhost:4000").unwrap()];
        let said = |url: &str| line("ANTHROPIC_BASE_URL", url, &rules, "claude");
        for fine in [
            "https://api.example.org/v1",
            "http://localhost:4000",
            "https://u:p@API.example.org:443/",
            "",
            "x",
        ] {
            assert_eq!(said(fine), None, "{fine}");
        }
        assert_eq!(
            said("http://127.0.0.1:18770/v1").unwrap(),
            "note: ANTHROPIC_BASE_URL names 127.0.0.1:18770, which claude cannot reach: commands connect by name only; \
             set it to http://localhost:18770 and use `--network localhost:18770`"
        );
        assert!(said("http://[::1]:9").unwrap().contains("--network localhost:9"));
        assert!(said("http://10.0.0.1:9").unwrap().ends_with("commands connect by name only"));
        assert_eq!(
            said("http://localhost:4001").unwrap(),
            "note: ANTHROPIC_BASE_URL names localhost:4001, which claude may not reach: `--network localhost:4001` allows it"
        );
        assert!(said("https://gateway.example").unwrap().contains("--network gateway.example:443"));
    }
}
