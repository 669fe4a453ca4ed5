//! What of the environment a command gets to see: nothing that looks like a key, and no way to an agent.

use super::Spec;
use std::ffi::{OsStr, OsString};

/// Ways out: sockets of agents, of the desktop and of container engines.
const WAYS: [&str; 14] = [
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "SSH_CONNECTION",
    "SSH_CLIENT",
    "SSH_TTY",
    "GPG_AGENT_INFO",
    "GPG_TTY",
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "TMUX",
    "STY",
];

/// Names that hold a secret by custom. Compared in capitals; `*` stands for anything.
const KEYS: [&str; 28] = [
    "*API_KEY*",
    "*APIKEY*",
    "*_TOKEN",
    "*_TOKEN_*",
    "TOKEN",
    "*SECRET*",
    "*PASSWORD*",
    "*PASSWD*",
    "*_PASS",
    "*PASSPHRASE*",
    "*CREDENTIAL*",
    "*PRIVATE_KEY*",
    "*ACCESS_KEY*",
    "*_AUTH",
    "*_PAT",
    "*SIGNING_KEY*",
    "*ENCRYPTION_KEY*",
    "*_DSN",
    "*DATABASE_URL",
    "*CONNECTION_STRING*",
    "AWS_*",
    "AZURE_*",
    "GOOGLE_APPLICATION_*",
    "DOCKER_*",
    "CONTAINER_HOST",
    "VAULT_*",
    "KUBECONFIG",
    "GH_*TOKEN*",
];

/// The environment inside: what this process has, without the above, and with what the view adds. `proxy` is the port
/// of the way out, if there is one.
pub(super) fn inside(
    all: impl Iterator<Item = (OsString, OsString)>,
    spec: &Spec,
    proxy: Option<u16>,
) -> Vec<(OsString, OsString)> {
    let mut kept: Vec<(OsString, OsString)> =
        all.filter(|(name, _)| !is_withheld(name, &spec.keep_env)).collect();
    let mut put = |name: &str, value: &OsStr| {
        kept.retain(|(known, _)| known != name);
        kept.push((name.into(), value.into()));
    };
    put("PLACET_SANDBOX", OsStr::new("1"));
    if let Some(scratch) = &spec.scratch {
        put("TMPDIR", scratch.as_os_str());
        put("PLACET_SCRATCH", scratch.as_os_str());
    }
    if let Some(port) = proxy {
        let (http, socks) = (format!("http://127.0.0.1:{port}"), format!("socks5h://127.0.0.1:{port}"));
        for (name, value) in [
            ("HTTP_PROXY", http.as_str()),
            ("HTTPS_PROXY", &http),
            ("ALL_PROXY", &socks),
            ("NO_PROXY", "localhost,127.0.0.1,::1"),
        ] {
            // Some programs read the one spelling, some the other.
            put(name, OsStr::new(value));
            put(&name.to_lowercase(), OsStr::new(value));
        }
    }
    kept
}

fn is_withheld(name: &OsStr, keep: &[String]) -> bool {
    let name = name.to_string_lossy().to_uppercase();
    let looks = WAYS.contains(&name.as_str()) || KEYS.iter().any(|pattern| matches(pattern, &name));
    looks && !keep.iter().any(|pattern| matches(&pattern.to_uppercase(), &name))
}

/// `*` stands for any text.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        match parts.peek() {
            None => return text.ends_with(part),
            Some(_) => match text.split_once(part) {
                Some((_, after)) => text = after,
                None => return false,
            },
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("*_TOKEN", "X_TOKEN", true),
            ("*_TOKEN", "X_TOKENS", false),
            ("*SECRET*", "MY_SECRET_1", true),
            ("A*B*C", "AxxByyC", true),
            ("A*B*C", "AxxCyyB", false),
            ("*.b.c", "a.b.c", true),
            ("ab*b", "ab", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn keys_and_agents_stay_outside_and_the_rest_comes_in() {
        let withheld = |name: &str| is_withheld(OsStr::new(name), &["KEEP_*".to_string()]);
        for name in [
            "OPENAI_API_KEY",
            "GITHUB_TOKEN",
            "NPM_TOKEN",
            "aws_secret_access_key",
            "AWS_PROFILE",
            "PGPASSWORD",
            "DB_PASS",
            "DATABASE_URL",
            "SSH_AUTH_SOCK",
            "DOCKER_HOST",
            "CLIENT_SECRET",
            "SENTRY_DSN",
        ] {
            assert!(withheld(name), "{name}");
        }
        for name in
            ["PATH", "HOME", "LANG", "CARGO_HOME", "RUSTFLAGS", "TERM", "KEEP_API_KEY", "MONKEY", "PASSAGE"]
        {
            assert!(!withheld(name), "{name}");
        }
    }
}
