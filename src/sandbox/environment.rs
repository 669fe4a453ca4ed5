//! What of the environment a command gets to see: nothing that looks like a key, and no way to an agent.

use super::Spec;
use crate::text::secret::{Withheld, why_withheld};
use std::ffi::{OsStr, OsString};

/// The environment inside: what this process has, without the above, and with what the view adds. `proxy` is the port
/// of the way out, if there is one.
pub(super) fn inside(
    all: impl Iterator<Item = (OsString, OsString)>,
    spec: &Spec,
    proxy: Option<u16>,
) -> Vec<(OsString, OsString)> {
    let mut kept: Vec<(OsString, OsString)> =
        all.filter(|(name, value)| why(name, value, &spec.keep_env).is_none()).collect();
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

fn why(name: &OsStr, value: &OsStr, keep: &[String]) -> Option<Withheld> {
    why_withheld(&name.to_string_lossy(), &value.to_string_lossy(), keep)
}

/// Names of variables that commands do not get because they look like secrets, in their order. Those that only lead out
/// of the view are not among them.
pub fn withheld_secrets(all: impl Iterator<Item = (OsString, OsString)>, keep: &[String]) -> Vec<String> {
    let secret =
        |name: &OsStr, value: &OsStr| why(name, value, keep).is_some_and(|why| why != Withheld::Socket);
    let mut names: Vec<String> = all
        .filter(|(name, value)| secret(name, value))
        .map(|(name, _)| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_gets_what_it_needs_and_no_secret() {
        let all = || {
            [
                ("PATH", "/bin"),
                ("STRIPE_KEY", "k"),
                ("SSH_AUTH_SOCK", "/s"),
                ("KEPT_KEY", "k"),
                ("U", "a://b:cde@f"),
            ]
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
        };
        let spec = Spec { keep_env: vec!["KEPT_*".into()], ..Spec::default() };
        let names: Vec<OsString> = inside(all(), &spec, None).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["PATH", "KEPT_KEY", "PLACET_SANDBOX"]);
        assert_eq!(withheld_secrets(all(), &spec.keep_env), ["STRIPE_KEY", "U"]);
    }
}
