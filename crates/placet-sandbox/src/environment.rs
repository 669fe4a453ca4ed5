//! The environment of a command: without variables that look like keys, and without access to an agent.

use super::{SandboxNetwork, SandboxSpec};
use placet_text::text::secret::{WithheldReason, why_withheld};
use std::ffi::{OsStr, OsString};

/// Variables that name a proxy of the host, in upper and lower case. It cannot be reached from inside; with a list of
/// hosts placet itself uses it.
const PROXIES: [&str; 5] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY"];

/// The environment inside: the variables of this process without those above, and with the view's additions.
pub(super) fn inside(
    all: impl Iterator<Item = (OsString, OsString)>,
    spec: &SandboxSpec,
) -> Vec<(OsString, OsString)> {
    let passed = judged(all, &spec.keep_env).into_iter().filter(|one| one.why.is_none());
    let mut kept: Vec<(OsString, OsString)> = passed.map(|one| (one.name, one.value)).collect();
    let mut put = |name: &str, value: &OsStr| {
        kept.retain(|(known, _)| known != name);
        kept.push((name.into(), value.into()));
    };
    put("PLACET_SANDBOX", OsStr::new("1"));
    if let Some(scratch) = &spec.scratch {
        put("TMPDIR", scratch.as_os_str());
        put("PLACET_SCRATCH", scratch.as_os_str());
    }
    if spec.network != SandboxNetwork::Open {
        let is_proxy = |name: &OsStr| PROXIES.iter().any(|proxy| name.eq_ignore_ascii_case(proxy));
        kept.retain(|(name, _)| !is_proxy(name));
    }
    kept
}

/// A variable, and why a command does not get it.
struct CheckedVariable {
    name: OsString,
    value: OsString,
    why: Option<WithheldReason>,
}

fn judged(all: impl Iterator<Item = (OsString, OsString)>, keep: &[String]) -> Vec<CheckedVariable> {
    let judge = |(name, value): (OsString, OsString)| {
        let why = why_withheld(&name.to_string_lossy(), &value.to_string_lossy(), keep);
        CheckedVariable { name, value, why }
    };
    let mut all: Vec<CheckedVariable> = all.map(judge).collect();
    // git fails if `GIT_CONFIG_COUNT` promises a pair that is missing: all of them are passed, or none.
    let why = all.iter().filter(|one| is_git_config(&one.name)).find_map(|one| one.why);
    if why.is_some() {
        all.iter_mut().filter(|one| is_git_config(&one.name)).for_each(|one| one.why = why);
    }
    all
}

/// Settings for git in the environment, each in three variables.
fn is_git_config(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name == "GIT_CONFIG_COUNT" || name.starts_with("GIT_CONFIG_KEY_") || name.starts_with("GIT_CONFIG_VALUE_")
}

/// Names of variables that commands do not get because they look like secrets, in order. Variables that only give
/// access to something outside of the view are not included.
pub fn withheld_secrets(all: impl Iterator<Item = (OsString, OsString)>, keep: &[String]) -> Vec<String> {
    let secret = |one: &CheckedVariable| one.why.is_some_and(|why| why != WithheldReason::Socket);
    let mut names: Vec<String> = judged(all, keep)
        .iter()
        .filter(|one| secret(one))
        .map(|one| one.name.to_string_lossy().into_owned())
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
                ("HTTPS_PROXY", "http://proxy.example:3128"),
                ("no_proxy", "example.org"),
            ]
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
        };
        let spec = SandboxSpec { keep_env: vec!["KEPT_*".into()], ..SandboxSpec::default() };
        let names: Vec<OsString> = inside(all(), &spec).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["PATH", "KEPT_KEY", "PLACET_SANDBOX"]);
        assert_eq!(withheld_secrets(all(), &spec.keep_env), ["STRIPE_KEY", "U"]);
    }

    #[test]
    fn settings_for_git_are_passed_together_or_not_at_all() {
        let names = |value: &str, keep: &[&str]| -> Vec<String> {
            let all = [
                ("GIT_CONFIG_COUNT", "1"),
                ("GIT_CONFIG_KEY_0", "http.extraHeader"),
                ("GIT_CONFIG_VALUE_0", value),
                ("GIT_CONFIG_NOSYSTEM", "1"),
            ];
            let all = all.into_iter().map(|(name, value)| (name.into(), value.into()));
            let keep_env = keep.iter().map(ToString::to_string).collect();
            let kept = inside(all, &SandboxSpec { keep_env, ..SandboxSpec::default() }).into_iter();
            kept.map(|(name, _)| name.into_string().unwrap()).filter(|name| name.starts_with("GIT")).collect()
        };
        let secret = "Authorization: Bearer ghp_16C7e42F292c6912E7710c838347Ae178B4a";
        assert_eq!(names(secret, &[]), ["GIT_CONFIG_NOSYSTEM"]);
        assert_eq!(names(secret, &["GIT_CONFIG_VALUE_*"]).len(), 4);
    }
}
