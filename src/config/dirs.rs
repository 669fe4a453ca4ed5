//! Where placet's own files are: the XDG places.

use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppDirs {
    /// `config.toml` and `keys.toml`.
    pub config: PathBuf,
    /// The session database, the logs, what is pending and what can be undone.
    pub state: PathBuf,
    /// Working copies of mounted stores, and the store that is a database.
    pub data: PathBuf,
    /// What may be removed at any time.
    pub cache: PathBuf,
}

impl AppDirs {
    /// From `XDG_CONFIG_HOME`, `XDG_STATE_HOME`, `XDG_DATA_HOME`, `XDG_CACHE_HOME` and `HOME`, by way of `variable`. Relative values are ignored, as the
    /// XDG specification says. Without a home: below the system's temporary directory.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> AppDirs {
        let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|p| p.is_absolute());
        let home = absolute("HOME").unwrap_or_else(std::env::temp_dir);
        let place =
            |name: &str, usual: &str| absolute(name).unwrap_or_else(|| home.join(usual)).join("placet");
        AppDirs {
            config: place("XDG_CONFIG_HOME", ".config"),
            state: place("XDG_STATE_HOME", ".local/state"),
            data: place("XDG_DATA_HOME", ".local/share"),
            cache: place("XDG_CACHE_HOME", ".cache"),
        }
    }

    pub fn user_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// What the person says of models.
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

    /// The project file that governs `cwd`: the nearest one upwards, but none at or above the home directory.
    pub fn project_file(cwd: &Path, home: Option<&Path>) -> Option<PathBuf> {
        cwd.ancestors()
            .take_while(|dir| Some(*dir) != home)
            .map(|dir| dir.join(".placet").join("config.toml"))
            .find(|path| path.is_file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_xdg_variables_win_and_relative_ones_are_ignored() {
        let with = |config: &'static str| {
            AppDirs::from_variables(move |name| match name {
                "HOME" => Some("/home/a".into()),
                "XDG_CONFIG_HOME" => Some(config.into()),
                _ => None,
            })
        };
        assert_eq!(with("/x").user_file(), Path::new("/x/placet/config.toml"));
        assert_eq!(with("rel").user_file(), Path::new("/home/a/.config/placet/config.toml"));
        assert_eq!(with("/x").state, Path::new("/home/a/.local/state/placet"));
    }
}
