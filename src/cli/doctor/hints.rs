//! What `placet doctor` advises: the command or the setting for each missing part, for this distribution and this kind of
//! container.

use crate::cli::setup::is_program;
use std::path::Path;

/// What the advice depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::cli) struct DoctorFacts {
    pub(in crate::cli) packages: PackageManager,
    pub(in crate::cli) place: RunPlace,
    /// The user is root, whom these settings do not stop.
    pub(in crate::cli) is_root: bool,
    pub(in crate::cli) settings: Vec<(&'static str, String)>,
}

/// How programs are installed here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::cli) enum PackageManager {
    Apt,
    Dnf,
    Pacman,
    Zypper,
    Apk,
    Nix,
    Brew,
    #[default]
    Unknown,
}

/// What kind of machine placet runs on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::cli) enum RunPlace {
    #[default]
    Machine,
    Docker,
    Podman,
    DevContainer,
    Wsl,
}

const MAX_NAMESPACES: &str = "user.max_user_namespaces";
const USERNS_CLONE: &str = "kernel.unprivileged_userns_clone";
const APPARMOR: &str = "kernel.apparmor_restrict_unprivileged_userns";

impl DoctorFacts {
    pub(in crate::cli) fn here() -> DoctorFacts {
        let text = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let release = ["/etc/os-release", "/usr/lib/os-release"].map(text).concat();
        let has = |path: &str| Path::new(path).exists();
        let variable = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let place = if variable("CODESPACES") || variable("REMOTE_CONTAINERS") || variable("DEVCONTAINER") {
            RunPlace::DevContainer
        } else if has("/run/.containerenv") {
            RunPlace::Podman
        } else if has("/.dockerenv") {
            RunPlace::Docker
        } else if text("/proc/sys/kernel/osrelease").to_lowercase().contains("microsoft") {
            RunPlace::Wsl
        } else {
            RunPlace::Machine
        };
        let setting = |name: &'static str| {
            let value = text(&format!("/proc/sys/{}", name.replacen('.', "/", 1)));
            (!value.is_empty()).then(|| (name, value.trim().to_string()))
        };
        DoctorFacts {
            packages: PackageManager::of(&release),
            place,
            is_root: rustix::process::geteuid().is_root(),
            settings: [MAX_NAMESPACES, USERNS_CLONE, APPARMOR].into_iter().filter_map(setting).collect(),
        }
    }

    fn is(&self, name: &str, value: &str) -> bool {
        self.settings.iter().any(|(known, now)| *known == name && now == value)
    }

    /// How to get the copy-on-write view where it does not start.
    pub(in crate::cli) fn view(&self) -> Vec<String> {
        let set = |name: &str, value: &str| {
            vec![
                format!("sudo sysctl -w {name}={value}"),
                format!(
                    "echo {name}={value} | sudo tee /etc/sysctl.d/60-placet.conf    # also after a restart"
                ),
            ]
        };
        let container = |options: &str| {
            let program = if self.place == RunPlace::Podman { "podman" } else { "docker" };
            vec![format!("start the container with: {program} run {options} ...")]
        };
        match self.place {
            // In a container these settings are those of the host, and the profile of the container comes first.
            RunPlace::Docker => container(
                "--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined",
            ),
            RunPlace::Podman => container("--security-opt seccomp=unconfined --security-opt unmask=ALL"),
            RunPlace::DevContainer => vec![
                "in devcontainer.json: \"runArgs\": [\"--security-opt\", \"seccomp=unconfined\", \"--security-opt\", \
                 \"apparmor=unconfined\", \"--security-opt\", \"systempaths=unconfined\"]"
                    .into(),
            ],
            _ if self.is(MAX_NAMESPACES, "0") => set(MAX_NAMESPACES, "15000"),
            _ if !self.is_root && self.is(USERNS_CLONE, "0") => set(USERNS_CLONE, "1"),
            _ if !self.is_root && self.is(APPARMOR, "1") => vec![
                "write the profile of the guide's page `Containers and restricted systems` to /etc/apparmor.d/placet".into(),
                "sudo apparmor_parser -r /etc/apparmor.d/placet".into(),
            ],
            RunPlace::Wsl => {
                vec!["wsl --update, in Windows: WSL 1 has no namespaces, and old kernels of WSL 2 no overlays for users".into()]
            }
            RunPlace::Machine => Vec::new(),
        }
    }

    /// Programs and files that placet uses and that are not here: what is missing without them, and how to get them.
    pub(in crate::cli) fn missing(&self, has_certificates: bool) -> Vec<(String, Option<String>)> {
        let mut found = Vec::new();
        if !is_program("git") {
            found.push((
                "git is not installed: `placet review` and `placet review --staged` need it".to_string(),
                self.packages.install("git"),
            ));
        }
        if !has_certificates {
            found.push((
                "no certificates of authorities were found: requests to providers over https fail"
                    .to_string(),
                self.packages.install("ca-certificates"),
            ));
        }
        found
    }
}

/// True where a file with the certificates of authorities is at one of the places at which systems store it.
pub(in crate::cli) fn has_certificates() -> bool {
    const FILES: [&str; 6] = [
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
        "/usr/local/share/certs/ca-root-nss.crt",
    ];
    // macOS asks its own keychain.
    cfg!(target_os = "macos")
        || ["SSL_CERT_FILE", "SSL_CERT_DIR"].iter().any(|name| std::env::var_os(name).is_some())
        || FILES.iter().any(|file| Path::new(file).exists())
}

impl PackageManager {
    /// By the text of `os-release`: the system itself, then those it is like.
    fn of(release: &str) -> PackageManager {
        let value = |key: &str| {
            let line = release.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
            line.unwrap_or_default().trim_matches(['"', '\'']).to_string()
        };
        let known = format!("{} {}", value("ID"), value("ID_LIKE"));
        let by_name = |name: &str| match name {
            "debian" | "ubuntu" => Some(PackageManager::Apt),
            "fedora" | "rhel" | "centos" | "amzn" => Some(PackageManager::Dnf),
            "arch" | "archlinux" => Some(PackageManager::Pacman),
            "suse" | "opensuse" | "sles" => Some(PackageManager::Zypper),
            "alpine" => Some(PackageManager::Apk),
            "nixos" => Some(PackageManager::Nix),
            _ => None,
        };
        known.split_whitespace().find_map(by_name).unwrap_or(match cfg!(target_os = "macos") {
            true => PackageManager::Brew,
            false => PackageManager::Unknown,
        })
    }

    fn install(self, package: &str) -> Option<String> {
        Some(match self {
            PackageManager::Apt => format!("sudo apt install {package}"),
            PackageManager::Dnf => format!("sudo dnf install {package}"),
            PackageManager::Pacman => format!("sudo pacman -S {package}"),
            PackageManager::Zypper => format!("sudo zypper install {package}"),
            PackageManager::Apk => format!("sudo apk add {package}"),
            PackageManager::Nix if package == "ca-certificates" => "nix-env -iA nixos.cacert".into(),
            PackageManager::Nix => format!("nix-env -iA nixos.{package}"),
            PackageManager::Brew => format!("brew install {package}"),
            PackageManager::Unknown => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_distribution_has_its_command() {
        let install = |release: &str| PackageManager::of(release).install("git");
        let cases = [
            ("ID=debian\n", "sudo apt install git"),
            ("NAME=\"Linux Mint\"\nID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", "sudo apt install git"),
            ("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "sudo dnf install git"),
            ("ID=manjaro\nID_LIKE=arch\n", "sudo pacman -S git"),
            ("ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n", "sudo zypper install git"),
            ("ID=alpine\n", "sudo apk add git"),
            ("ID=nixos\n", "nix-env -iA nixos.git"),
        ];
        for (release, command) in cases {
            assert_eq!(install(release).as_deref(), Some(command), "{release}");
        }
        assert_eq!(install("VERSION_ID=3\nPRETTY_NAME=debian\n").is_none(), cfg!(not(target_os = "macos")));
    }

    #[test]
    fn the_advice_is_for_the_first_thing_that_forbids_the_view() {
        let facts = |place, is_root, settings: &[(&'static str, &str)]| DoctorFacts {
            place,
            is_root,
            settings: settings.iter().map(|(name, value)| (*name, (*value).to_string())).collect(),
            ..DoctorFacts::default()
        };
        let first = |facts: DoctorFacts| facts.view().first().cloned().unwrap_or_default();
        let off = [(MAX_NAMESPACES, "0")];
        assert_eq!(
            first(facts(RunPlace::Machine, true, &off)),
            "sudo sysctl -w user.max_user_namespaces=15000"
        );
        assert!(
            first(facts(RunPlace::Docker, true, &off)).starts_with("start the container with: docker run")
        );
        assert!(first(facts(RunPlace::Podman, false, &[])).contains("podman run --security-opt seccomp"));
        assert!(first(facts(RunPlace::DevContainer, false, &[])).contains("runArgs"));
        let reserved = [(USERNS_CLONE, "0"), (APPARMOR, "1")];
        assert!(first(facts(RunPlace::Machine, false, &reserved)).contains("unprivileged_userns_clone=1"));
        assert_eq!(first(facts(RunPlace::Machine, true, &reserved)), "");
        assert!(
            first(facts(RunPlace::Machine, false, &[(APPARMOR, "1")])).contains("/etc/apparmor.d/placet")
        );
        assert!(first(facts(RunPlace::Wsl, false, &[])).contains("wsl --update"));
    }
}
