//! The directories of placet's own files: the XDG directories.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use thiserror::Error;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppDirs {
    /// `config.toml` and `keys.toml`.
    pub config: PathBuf,
    /// The session database, the logs, pending changes and the undo journal.
    pub state: PathBuf,
    /// Working copies of mounted stores, and the database of the `sqlite` store.
    pub data: PathBuf,
    /// Files that may be removed at any time.
    pub cache: PathBuf,
    /// The key and the anchor of the audit log: not next to the log, since who changes it must not reach them.
    pub audit_guards: PathBuf,
    /// Only the state has another place than usual, so that these settings have a state elsewhere, too.
    pub is_state_elsewhere: bool,
}

/// The environment does not say where this user's files are.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("cannot find your home directory: HOME is not set, and /etc/passwd does not name it")]
pub struct NoHomeError;

impl NoHomeError {
    pub const HINT: &str = "set HOME, or XDG_CONFIG_HOME and XDG_STATE_HOME, to absolute paths";
}

/// The person's home directory: `HOME`, or the home that the system records for this user.
pub fn home_dir() -> Option<PathBuf> {
    home_of(|name| std::env::var(name).ok())
}

fn home_of(variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    absolute(variable("HOME")).or_else(|| {
        let users = std::fs::read_to_string("/etc/passwd").ok()?;
        home_in(&users, rustix::process::geteuid().as_raw())
    })
}

/// The home of a user in a line of the password file: `name:x:1000:1000:comment:home:shell`.
fn home_in(users: &str, user: u32) -> Option<PathBuf> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':').skip(2);
        (fields.next()?.parse() == Ok(user)).then(|| absolute(fields.nth(2).map(String::from)))?
    })
}

/// Relative values are ignored, as the XDG specification requires.
fn absolute(value: Option<String>) -> Option<PathBuf> {
    value.map(PathBuf::from).filter(|path| path.is_absolute())
}

impl AppDirs {
    /// From `XDG_CONFIG_HOME`, `XDG_STATE_HOME`, `XDG_DATA_HOME`, `XDG_CACHE_HOME` and `HOME`, read with `variable`.
    ///
    /// # Errors
    ///
    /// There is no home, and the other variables do not set the directories of settings and state. No directory that
    /// other users can write to replaces it: they could put settings there.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<AppDirs, NoHomeError> {
        AppDirs::of(home_of(&variable), variable)
    }

    fn of(home: Option<PathBuf>, variable: impl Fn(&str) -> Option<String>) -> Result<AppDirs, NoHomeError> {
        let place = |name: &str, usual: &str| {
            let base = absolute(variable(name)).or_else(|| Some(home.as_ref()?.join(usual)));
            base.map(|base| base.join("placet"))
        };
        let config = place("XDG_CONFIG_HOME", ".config").ok_or(NoHomeError)?;
        let state = place("XDG_STATE_HOME", ".local/state").ok_or(NoHomeError)?;
        let is_set = |name: &str| absolute(variable(name)).is_some();
        Ok(AppDirs {
            data: place("XDG_DATA_HOME", ".local/share").unwrap_or_else(|| state.join("data")),
            cache: place("XDG_CACHE_HOME", ".cache").unwrap_or_else(|| state.join("cache")),
            audit_guards: config.clone(),
            is_state_elsewhere: is_set("XDG_STATE_HOME") && !is_set("XDG_CONFIG_HOME"),
            config,
            state,
        })
    }

    pub fn user_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The person's settings of models.
    pub fn models_file(&self) -> PathBuf {
        self.config.join("models.toml")
    }

    pub fn keys_file(&self) -> PathBuf {
        self.config.join("keys.toml")
    }

    pub fn trust_file(&self) -> PathBuf {
        self.state.join("trust.json")
    }

    pub fn log_file(&self) -> PathBuf {
        self.state.join("placet.log")
    }

    /// The project file that applies to `cwd`: the nearest one upwards, but none at or above the home directory.
    pub fn project_file(cwd: &Path, home: Option<&Path>) -> Option<PathBuf> {
        AppDirs::nearest(cwd, home, ".placet/config.toml")
    }

    /// The file of servers that projects have for other programs too: `.mcp.json`, here or above.
    pub fn mcp_file(cwd: &Path, home: Option<&Path>) -> Option<PathBuf> {
        AppDirs::nearest(cwd, home, ".mcp.json")
    }

    fn nearest(cwd: &Path, home: Option<&Path>, name: &str) -> Option<PathBuf> {
        cwd.ancestors().take_while(|dir| Some(*dir) != home).map(|dir| dir.join(name)).find(|path| {
            match path.metadata() {
                Ok(meta) => meta.is_file(),
                // The file may exist. It is reported as unreadable and not skipped, because it may have
                // rules that deny.
                Err(e) => !matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_file_that_cannot_be_looked_at_is_not_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let (inner, file) = (dir.path().join("a/b"), dir.path().join(".placet/config.toml"));
        std::fs::create_dir_all(&inner).unwrap();
        assert_eq!(AppDirs::project_file(&inner, Some(dir.path().parent().unwrap())), None);
        std::fs::create_dir(dir.path().join(".placet")).unwrap();
        // A link to itself: `stat` fails for root, too.
        std::os::unix::fs::symlink(&file, &file).unwrap();
        assert_eq!(AppDirs::project_file(&inner, Some(dir.path().parent().unwrap())), Some(file));
    }

    #[test]
    fn the_xdg_variables_win_and_relative_ones_are_ignored() {
        let with = |config: &'static str| {
            AppDirs::from_variables(move |name| match name {
                "HOME" => Some("/home/a".into()),
                "XDG_CONFIG_HOME" => Some(config.into()),
                _ => None,
            })
            .unwrap()
        };
        assert_eq!(with("/x").user_file(), Path::new("/x/placet/config.toml"));
        assert_eq!(with("rel").user_file(), Path::new("/home/a/.config/placet/config.toml"));
        assert_eq!(with("/x").state, Path::new("/home/a/.local/state/placet"));
    }

    #[test]
    fn without_a_home_nothing_lies_where_others_can_write() {
        assert_eq!(AppDirs::of(None, |_| None), Err(NoHomeError));
        let only = |wanted: &'static str| move |name: &str| (name == wanted).then(|| "/x".to_string());
        assert_eq!(AppDirs::of(None, only("XDG_CONFIG_HOME")), Err(NoHomeError));
        let both = |name: &str| name.ends_with("CONFIG_HOME").then(|| "/c".to_string());
        let both = |name: &str| both(name).or_else(|| name.ends_with("STATE_HOME").then(|| "/s".into()));
        let dirs = AppDirs::of(None, both).unwrap();
        assert_eq!(
            (dirs.config.as_path(), dirs.state.as_path()),
            (Path::new("/c/placet"), Path::new("/s/placet"))
        );
        assert!(dirs.data.starts_with("/s/placet") && dirs.cache.starts_with("/s/placet"), "{dirs:?}");
        for value in [None, Some(""), Some("rel")] {
            let found = AppDirs::from_variables(|name| value.filter(|_| name == "HOME").map(String::from));
            assert!(found.is_err() || !found.unwrap().config.starts_with(std::env::temp_dir()), "{value:?}");
        }
    }

    #[test]
    fn the_home_of_a_user_is_read_from_the_password_file() {
        let users = "root:x:0:0:root:/root:/bin/sh\nbad line\nme:x:1000:1000:A, B:/home/me:/bin/sh\nno:x:7:7::rel:/x\n";
        assert_eq!(home_in(users, 1000), Some("/home/me".into()));
        assert_eq!(home_in(users, 0), Some("/root".into()));
        assert_eq!((home_in(users, 7), home_in(users, 8)), (None, None));
    }
}
