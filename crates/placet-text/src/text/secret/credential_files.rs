//! The places of credential files: below the home directory, and in directories that variables name.

use super::table::table;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Directories of the home directory that a variable can replace.
const MOVED: [(&str, &str); 3] =
    [(".config/", "XDG_CONFIG_HOME"), (".local/share/", "XDG_DATA_HOME"), (".cache/", "XDG_CACHE_HOME")];

/// Every place of credentials, whether it exists or not. `variable` returns the value of an environment variable.
pub fn credential_files(home: Option<&Path>, variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let table = table();
    let mut found = Vec::new();
    for path in table.files.iter().flat_map(|files| files.paths) {
        found.extend(home.map(|home| home.join(path)));
        let moved = MOVED.iter().find_map(|(below, name)| Some((path.strip_prefix(below)?, variable(name)?)));
        found.extend(moved.map(|(rest, dir)| PathBuf::from(dir).join(rest)));
    }
    for located in table.located {
        let Some(value) = variable(located.variable) else { continue };
        for place in std::env::split_paths(&value) {
            match located.paths {
                [] => found.push(place),
                below => found.extend(below.iter().map(|rest| place.join(rest))),
            }
        }
    }
    // A relative path, or a directory that contains everything, is a mistake in a variable.
    found.retain(|path| path.is_absolute() && path.components().count() > 2);
    // As bytes, which is much faster than by components: this happens before each command.
    found.sort_unstable_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    found.dedup_by(|a, b| a.as_os_str() == b.as_os_str());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_looked_for_below_the_home_and_where_variables_say() {
        let variable = |name: &str| -> Option<OsString> {
            match name {
                "XDG_CONFIG_HOME" => Some("/c".into()),
                "CARGO_HOME" => Some("/opt/cargo".into()),
                "KUBECONFIG" => Some("/k/one:/k/two".into()),
                "GNUPGHOME" => Some("/".into()),
                "NETRC" => Some("relative".into()),
                _ => None,
            }
        };
        let found = credential_files(Some(Path::new("/home/me")), &variable);
        for path in [
            "/home/me/.ssh",
            "/home/me/.config/rclone",
            "/c/rclone",
            "/opt/cargo/credentials.toml",
            "/k/one",
            "/k/two",
            "/home/me/.bash_history",
        ] {
            assert!(found.contains(&PathBuf::from(path)), "{path}");
        }
        assert!(!found.contains(&PathBuf::from("/")) && !found.iter().any(|p| p.is_relative()));
    }
}
