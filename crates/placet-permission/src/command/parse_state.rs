//! The known state at one point of a line: the possible directories and the values of variables.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Where a line starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShellParseContext<'a> {
    pub(crate) cwd: &'a Path,
    pub(crate) home: Option<&'a Path>,
}

/// More possible directories than this count as unknown.
const MOST_DIRS: usize = 8;

#[derive(Clone, Debug)]
pub(super) struct ShellParseState {
    pub(super) home: Option<PathBuf>,
    pub(super) dirs: Option<Vec<PathBuf>>,
    /// Variables set in the line; `None` if the value is not certain.
    pub(super) vars: BTreeMap<String, Option<String>>,
    /// After `set -e` a failed `cd` ends the line.
    pub(super) stops_on_failure: bool,
}

impl ShellParseState {
    pub(super) fn new(at: ShellParseContext<'_>) -> ShellParseState {
        ShellParseState {
            home: at.home.map(Path::to_path_buf),
            dirs: Some(vec![normal(at.cwd)]),
            vars: BTreeMap::new(),
            stops_on_failure: false,
        }
    }

    /// The initial state of a new shell: the same directory; variables of this shell may or may not be visible.
    pub(super) fn for_new_shell(&self) -> ShellParseState {
        let mut new = ShellParseState { stops_on_failure: false, ..self.clone() };
        new.vars.values_mut().for_each(|value| *value = None);
        new
    }

    pub(super) fn value(&self, name: &str) -> Option<String> {
        if let Some(value) = self.vars.get(name) {
            return value.clone();
        }
        match name {
            "HOME" => self.home.as_ref().map(|h| h.display().to_string()),
            "PWD" => match self.dirs.as_deref() {
                Some([only]) => Some(only.display().to_string()),
                _ => None,
            },
            _ => None,
        }
    }

    /// An unquoted value is split and globbed; only a value that neither can change is certain.
    pub(super) fn unquoted_value(&self, name: &str) -> Option<String> {
        let value = self.value(name)?;
        let plain = !value.is_empty() && !value.contains([' ', '\t', '\n', '*', '?', '[']);
        (plain && !self.vars.contains_key("IFS")).then_some(value)
    }

    /// From now on, any variable may have any value.
    pub(super) fn forget_vars(&mut self) {
        self.vars.insert("HOME".into(), None);
        self.vars.values_mut().for_each(|value| *value = None);
    }

    pub(super) fn change_dir(&mut self, to: Option<&str>) {
        self.dirs = match (to, self.dirs.take()) {
            (Some(to), _) if to.starts_with('/') => Some(vec![normal(Path::new(to))]),
            (Some(to), Some(dirs)) => Some(dirs.iter().map(|dir| join(dir, to)).collect()),
            _ => None,
        };
    }

    /// Combines two states, of which one or the other applies.
    pub(super) fn or(&mut self, other: &ShellParseState) {
        self.dirs = union(self.dirs.take(), other.dirs.clone());
        for (name, value) in &other.vars {
            if self.vars.get(name) != Some(value) {
                self.vars.insert(name.clone(), None);
            }
        }
        for (name, value) in &mut self.vars {
            if !other.vars.contains_key(name) {
                *value = None;
            }
        }
    }
}

pub(super) fn union(a: Option<Vec<PathBuf>>, b: Option<Vec<PathBuf>>) -> Option<Vec<PathBuf>> {
    let (mut a, b) = (a?, b?);
    for dir in b {
        if !a.contains(&dir) {
            a.push(dir);
        }
    }
    (a.len() <= MOST_DIRS).then_some(a)
}

/// `path` as seen from `dir`, by its spelling.
pub(crate) fn join(dir: &Path, path: &str) -> PathBuf {
    normal(&dir.join(path))
}

/// Removes `.` and `..`; links are not followed.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}
