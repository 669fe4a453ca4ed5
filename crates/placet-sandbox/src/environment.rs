//! The environment of a command: without variables that look like keys, and without access to an agent.

use super::spec::TMP;
use super::{SandboxNetwork, SandboxSpec};
use placet_text::text::secret::{WithheldReason, why_withheld};
use std::ffi::{OsStr, OsString};

/// Variables that name a proxy of the host, in upper and lower case. It cannot be reached from inside; with a list of
/// hosts placet itself uses it.
const PROXIES: [&str; 5] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY"];

/// What makes package managers fail at once where no host is allowed: each of them would try again for up to 75 seconds.
/// npm, npx and pnpm take what they have in their cache without asking for a newer one. A value that the person set stays.
const NO_RETRIES: [(&str, &str); 7] = [
    ("npm_config_prefer_offline", "true"),
    ("npm_config_fetch_retries", "0"),
    ("PIP_RETRIES", "0"),
    ("UV_HTTP_RETRIES", "0"),
    ("CARGO_NET_RETRY", "0"),
    ("YARN_HTTP_RETRY", "0"),
    ("BUN_CONFIG_HTTP_RETRY_COUNT", "0"),
];

/// Directories of keys for signatures. Where the person shows one of them to commands, git signs as it is set up.
const SIGNING_KEYS: [&str; 2] = [".gnupg", ".ssh"];

/// What makes git sign nothing that is not asked for with `-S`.
const NOT_SIGNED: [(&str, &str); 2] = [("commit.gpgsign", "false"), ("tag.gpgsign", "false")];

/// Names the socket at which git's signatures are made.
pub const SIGN_SOCKET: &str = "PLACET_SIGN_SOCKET";

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
        put("TMPDIR", spec.session_tmp().map_or(scratch.as_os_str(), |_| OsStr::new(TMP)));
        put("PLACET_SCRATCH", scratch.as_os_str());
    }
    if spec.network != SandboxNetwork::Open {
        let is_proxy = |name: &OsStr| PROXIES.iter().any(|proxy| name.eq_ignore_ascii_case(proxy));
        kept.retain(|(name, _)| !is_proxy(name));
    }
    // A commit that should be signed would fail: neither the keys nor an agent are in the view.
    if let Some(signer) = &spec.signer {
        kept.push((SIGN_SOCKET.into(), signer.socket.clone().into()));
        // Whatever the format is: this one takes the object at its input, and gives the signature at its output.
        add_git_config(&mut kept, &[("gpg.format", "openpgp"), ("gpg.program", &signer.program)]);
    } else if SIGNING_KEYS.iter().all(|dir| spec.masked.iter().any(|masked| masked.ends_with(dir))) {
        add_git_config(&mut kept, &NOT_SIGNED);
    }
    if spec.network.has_no_hosts() {
        for (name, value) in NO_RETRIES {
            if !kept.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
                kept.push((name.into(), value.into()));
            }
        }
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

/// Adds settings for git after those that are in the environment already.
fn add_git_config(environment: &mut Vec<(OsString, OsString)>, settings: &[(&str, &str)]) {
    const COUNT: &str = "GIT_CONFIG_COUNT";
    let known = environment.iter().find(|(name, _)| name == COUNT).map(|(_, value)| value.to_string_lossy());
    // git stops at a count that is not a number, whatever follows.
    let Ok(count) = known.map_or(Ok(0), |text| text.trim().parse::<usize>()) else { return };
    environment.retain(|(name, _)| name != COUNT);
    for (number, (key, value)) in (count..).zip(settings) {
        environment.push((format!("GIT_CONFIG_KEY_{number}").into(), key.into()));
        environment.push((format!("GIT_CONFIG_VALUE_{number}").into(), value.into()));
    }
    environment.push((COUNT.into(), (count + settings.len()).to_string().into()));
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
    use super::super::SignerSpec;
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
        let (names, retries) = names.split_at(3);
        assert_eq!(names, ["PATH", "KEPT_KEY", "PLACET_SANDBOX"]);
        assert_eq!(retries, NO_RETRIES.map(|(name, _)| OsString::from(name)));
        assert_eq!(withheld_secrets(all(), &spec.keep_env), ["STRIPE_KEY", "U"]);
    }

    #[test]
    fn package_managers_try_once_where_no_host_is_allowed_and_as_the_person_set_it() {
        let tries = |network, own: &str| {
            let all = [(own.into(), "7".into())].into_iter();
            let all = inside(all, &SandboxSpec { network, ..SandboxSpec::default() });
            let named = all.into_iter().filter(|(name, _)| name.eq_ignore_ascii_case("pip_retries"));
            named.map(|(_, value)| value).collect::<Vec<_>>()
        };
        let hosts = |hosts: &[&str]| SandboxNetwork::Hosts(hosts.iter().map(ToString::to_string).collect());
        for (network, own, expected) in [
            (SandboxNetwork::Off, "X", &["0"][..]),
            (hosts(&[]), "X", &["0"]),
            (hosts(&[]), "PIP_RETRIES", &["7"]),
            (hosts(&[]), "pip_retries", &["7"]),
            (hosts(&["pypi.org"]), "X", &[]),
            (SandboxNetwork::Open, "X", &[]),
        ] {
            assert_eq!(tries(network.clone(), own), expected, "{network:?} {own}");
        }
    }

    #[test]
    fn commits_are_not_signed_unless_the_person_shows_the_keys() {
        let git = |masked: &[&str], own: &[(&str, &str)]| {
            let spec =
                SandboxSpec { masked: masked.iter().map(Into::into).collect(), ..SandboxSpec::default() };
            let all = own.iter().map(|(name, value)| (name.into(), value.into()));
            let mut all: Vec<String> = inside(all, &spec)
                .into_iter()
                .map(|(name, value)| format!("{}={}", name.display(), value.display()))
                .filter(|one| one.starts_with("GIT_CONFIG"))
                .collect();
            all.sort();
            all.join(" ")
        };
        let both = ["/home/me/.ssh", "/home/me/.gnupg"];
        let unsigned = |first: usize| {
            let second = first + 1;
            format!(
                "GIT_CONFIG_KEY_{first}=commit.gpgsign GIT_CONFIG_KEY_{second}=tag.gpgsign \
                 GIT_CONFIG_VALUE_{first}=false GIT_CONFIG_VALUE_{second}=false"
            )
        };
        assert_eq!(git(&both, &[]), format!("GIT_CONFIG_COUNT=2 {}", unsigned(0)));
        let own = [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "a.b"), ("GIT_CONFIG_VALUE_0", "c")];
        let joined = git(&both, &own);
        assert!(
            joined.starts_with("GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=a.b GIT_CONFIG_KEY_1=commit"),
            "{joined}"
        );
        assert_eq!(git(&both, &[("GIT_CONFIG_COUNT", "x")]), "GIT_CONFIG_COUNT=x");
        for shown in [&both[..1], &both[1..], &[]] {
            assert_eq!(git(shown, &[]), "");
        }
        let signer = Some(SignerSpec { program: "/bin/placet".into(), socket: "/var/tmp/s".into() });
        let spec =
            SandboxSpec { signer, masked: both.iter().map(Into::into).collect(), ..SandboxSpec::default() };
        let all = inside(std::iter::empty(), &spec);
        let values = ["GIT_CONFIG_VALUE_0", "GIT_CONFIG_VALUE_1", SIGN_SOCKET, "GIT_CONFIG_COUNT"]
            .map(|name| all.iter().find(|(known, _)| known == name).unwrap().1.clone());
        assert_eq!(values, ["openpgp", "/bin/placet", "/var/tmp/s", "2"]);
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
