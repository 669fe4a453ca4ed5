//! Reach: what a call wants to touch, on the resolved object.

use std::path::{Path, PathBuf};

/// Where a path lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Below one of the workspace's roots, after every symlink.
    Inside,
    /// Inside, and a file that something on this machine runs later: see [`is_protected`].
    Protected,
    Outside,
}

/// Paths are absolute and resolved: what the kernel would open, not what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    Read {
        path: PathBuf,
        place: Place,
    },
    Write {
        path: PathBuf,
        place: Place,
    },
    /// A command line for `sh -c`. `confined`: it runs in the view, where it changes nothing for good.
    Run {
        command: String,
        cwd: PathBuf,
        confined: bool,
    },
    /// A host that a confined command may connect to: `crates.io`, `*.npmjs.org`, `localhost:5432`.
    Network {
        host: String,
    },
    /// That a plan is carried out: only the person can say so.
    Approval,
    /// Only the session's own things: scratchpads.
    Session,
}

impl Reach {
    /// The word rules use for this kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Reach::Read { .. } => "read",
            Reach::Write { .. } => "write",
            Reach::Run { .. } => "run",
            Reach::Network { .. } => "network",
            Reach::Approval => "approval",
            Reach::Session => "session",
        }
    }

    pub fn path(&self) -> Option<&Path> {
        match self {
            Reach::Read { path, .. } | Reach::Write { path, .. } => Some(path),
            Reach::Run { .. } | Reach::Network { .. } | Reach::Approval | Reach::Session => None,
        }
    }
}

/// True for a path (relative to its root) that something on the host runs or obeys later, so that writing it is
/// as much as running it: repository hooks and configuration, placet's own settings, environment and editor task
/// files, CI definitions, shell startup files.
pub fn is_protected(relative: &Path) -> bool {
    let parts: Vec<String> =
        relative.components().map(|c| c.as_os_str().to_string_lossy().to_ascii_lowercase()).collect();
    let Some(name) = parts.last().map(String::as_str) else { return false };
    const STARTUP: [&str; 12] = [
        ".bashrc",
        ".bash_profile",
        ".bash_login",
        ".bash_logout",
        ".profile",
        ".zshrc",
        ".zshenv",
        ".zprofile",
        ".zlogin",
        ".kshrc",
        ".cshrc",
        ".tcshrc",
    ];
    const FILES: [&str; 7] =
        [".envrc", ".gitlab-ci.yml", ".travis.yml", "jenkinsfile", ".gitmodules", ".npmrc", ".mcp.json"];
    if STARTUP.contains(&name) || FILES.contains(&name) {
        return true;
    }
    if parts
        .iter()
        .any(|p| matches!(p.as_str(), ".git" | ".placet" | ".husky" | ".vscode" | ".idea" | ".circleci"))
    {
        return true;
    }
    let pairs = parts.windows(2).map(|w| w.join("/"));
    pairs
        .into_iter()
        .any(|pair| matches!(pair.as_str(), ".github/workflows" | ".cargo/config.toml" | ".cargo/config"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_run_later_are_protected_in_any_spelling() {
        for path in [
            ".git/hooks/pre-commit",
            "sub/.git/config",
            ".GIT/config",
            ".envrc",
            ".placet/config.toml",
            ".vscode/tasks.json",
            ".github/workflows/ci.yml",
            ".bashrc",
            "Jenkinsfile",
            ".cargo/config.toml",
        ] {
            assert!(is_protected(Path::new(path)), "{path}");
        }
        for path in ["src/main.rs", ".gitignore", ".github/CODEOWNERS", "git/config", "", "cargo/config.toml"]
        {
            assert!(!is_protected(Path::new(path)), "{path}");
        }
    }
}
