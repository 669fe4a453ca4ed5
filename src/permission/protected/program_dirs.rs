//! Directories of `PATH`: an executable there runs when someone types its name.

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
}

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
        assert_eq!(ProgramDirs::from_variable(None).runs(Path::new("/w/ls")), None);
        // An empty entry is the current directory, which may be any directory.
        assert!(ProgramDirs::from_variable(Some(OsStr::new("/a::/b"))).runs(Path::new("/w/ls")).is_some());
    }
}
