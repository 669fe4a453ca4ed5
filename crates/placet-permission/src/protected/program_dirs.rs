//! What variables of the person's shell name: directories of `PATH`, where an executable runs when someone types its name, the
//! directory of settings, and files that a program runs when it starts.

use super::class::Runner;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The directories in which the person's shell looks for programs.
#[derive(Clone, Debug, Default)]
pub struct ProgramDirs {
    /// With links resolved.
    absolute: Vec<PathBuf>,
    /// Resolved from the shell's working directory: `node_modules/.bin`, `.`.
    relative: Vec<PathBuf>,
    /// `XDG_CONFIG_HOME`, by its name and with links resolved: what is below it is below `.config` elsewhere.
    config_homes: Vec<PathBuf>,
    /// Files, by their names and with links resolved, each with the variable.
    started: Vec<(PathBuf, &'static str)>,
}

/// Variables that name a file which a program runs or obeys when it starts.
const START_FILES: [(&str, &str); 4] =
    [("BASH_ENV", "bash"), ("ENV", "the shell"), ("PYTHONSTARTUP", "Python"), ("INPUTRC", "readline")];

impl ProgramDirs {
    /// From the value of `PATH`. An empty entry means the current directory.
    pub fn from_variable(path: Option<&OsStr>) -> ProgramDirs {
        let mut dirs = ProgramDirs::default();
        for dir in path.into_iter().flat_map(std::env::split_paths) {
            if dir.is_absolute() {
                dirs.absolute.push(std::fs::canonicalize(&dir).unwrap_or(dir));
            } else {
                dirs.relative.push(dir.components().filter(|c| c.as_os_str() != ".").collect());
            }
        }
        dirs
    }

    /// The same with the other variables that lead programs to files.
    #[must_use]
    pub fn with_variables(mut self, value: &dyn Fn(&str) -> Option<std::ffi::OsString>) -> ProgramDirs {
        let named = |name: &str| {
            let path = PathBuf::from(value(name)?);
            let real = std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
            path.is_absolute().then_some([path, real])
        };
        self.config_homes = named("XDG_CONFIG_HOME").into_iter().flatten().collect();
        let files = START_FILES.iter().filter_map(|(name, _)| Some((named(name)?, *name)));
        self.started = files.flat_map(|(paths, name)| paths.map(|path| (path, name))).collect();
        self
    }

    /// Where the file at this absolute path would be if the directory of settings were `.config`.
    pub(super) fn below_config(&self, path: &Path) -> Option<PathBuf> {
        let rel = self.config_homes.iter().find_map(|home| path.strip_prefix(home).ok())?;
        (!rel.as_os_str().is_empty()).then(|| Path::new(".config").join(rel))
    }

    /// Who runs the file at this absolute path, because a variable names it.
    pub(super) fn starts(&self, path: &Path) -> Option<Runner> {
        let (_, variable) = self.started.iter().find(|(named, _)| named == path)?;
        let (_, by) = START_FILES.iter().find(|(name, _)| name == variable)?;
        Some(Runner { by: (*by).into(), why: format!("{by} reads it when it starts: `{variable}` names it") })
    }

    /// True for the path of such a directory, and for one above it: a link there leads to other programs. Links above a
    /// relative one are everyday links, such as `node_modules`.
    pub(super) fn leads(&self, path: &Path) -> bool {
        let is_end = |end: &PathBuf| end.iter().next().is_some() && path.ends_with(end);
        self.absolute.iter().any(|dir| dir.starts_with(path)) || self.relative.iter().any(is_end)
    }

    pub(super) fn runs(&self, path: &Path) -> Option<Runner> {
        let dir = path.parent()?;
        let found =
            self.absolute.iter().any(|d| d == dir) || self.relative.iter().any(|end| dir.ends_with(end));
        let name = path.file_name()?.to_string_lossy();
        found.then(|| Runner {
            by: "the shell".into(),
            why: format!("the shell runs it as `{name}`: its directory is on PATH"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_the_path_is_known_absolute_or_relative() {
        let path = std::env::join_paths(["/nowhere/bin", "node_modules/.bin"]).unwrap();
        let dirs = ProgramDirs::from_variable(Some(&path));
        assert!(dirs.runs(Path::new("/nowhere/bin/ls")).unwrap().why.contains("`ls`"));
        assert!(dirs.runs(Path::new("/w/node_modules/.bin/tsc")).is_some());
        assert_eq!(dirs.runs(Path::new("/nowhere/bin/sub/ls")), None);
        let leads = |path: &str| dirs.leads(Path::new(path));
        assert!(leads("/nowhere/bin") && leads("/nowhere") && leads("/w/node_modules/.bin"));
        assert!(!leads("/nowhere/bin/sub") && !leads("/nowhere/b") && !leads("/w/node_modules"));
        let value = |name: &str| match name {
            "XDG_CONFIG_HOME" => Some("/w/cfg".into()),
            "BASH_ENV" => Some("/w/env".into()),
            "ENV" => Some("env".into()),
            _ => None,
        };
        let dirs = ProgramDirs::default().with_variables(&value);
        assert_eq!(dirs.below_config(Path::new("/w/cfg/git/config")), Some(".config/git/config".into()));
        assert_eq!(dirs.below_config(Path::new("/w/cfg")), None);
        assert_eq!(dirs.below_config(Path::new("/w/other/git/config")), None);
        assert!(dirs.starts(Path::new("/w/env")).unwrap().why.contains("`BASH_ENV`"));
        assert_eq!(dirs.starts(Path::new("/w/cfg/x")), None);
        assert_eq!(ProgramDirs::from_variable(None).runs(Path::new("/w/ls")), None);
        // An empty entry is the current directory, which may be any directory.
        assert!(ProgramDirs::from_variable(Some(OsStr::new("/a::/b"))).runs(Path::new("/w/ls")).is_some());
    }
}
