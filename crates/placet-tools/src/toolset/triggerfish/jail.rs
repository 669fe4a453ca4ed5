//! The jail: resolves the paths of calls, and ensures that no path leads out of the workspace, whatever links it
//! follows.

use super::super::super::{ToolContext, ToolError};
use super::state::TriggerfishState;
use crate::toolset::foreign_tool::ToolSetState;
use placet_permission::AccessLocation;
use placet_workspace::ResolvedPath;
use std::path::{Component, Path, PathBuf};
use std::sync::PoisonError;

impl ToolSetState for TriggerfishState {
    fn spelled(&self, path: &str) -> String {
        self.real(path)
    }
}

impl TriggerfishState {
    /// Resolves a path. A path outside is answered as if it did not exist, and so the answer reveals nothing about it.
    pub(super) fn inside(&self, env: &ToolContext, written: &str) -> Result<ResolvedPath, ToolError> {
        let at = env.resolve(&self.real(written)).map_err(|_| no_such(written))?;
        if at.place == AccessLocation::Outside { Err(no_such(written)) } else { Ok(at) }
    }

    /// The path as the workspace knows it: relative paths begin at the directory of the last `cd`.
    pub(super) fn real(&self, written: &str) -> String {
        let base = self.base.lock().unwrap_or_else(PoisonError::into_inner);
        match base.as_os_str().is_empty() || written.starts_with(['/', '~']) {
            true => written.into(),
            false => base.join(written).to_string_lossy().into_owned(),
        }
    }

    /// Called after a successful command that began with `cd DIR`: relative paths begin there from now on. A directory
    /// outside of the workspace is ignored.
    pub(super) fn follow(&self, env: &ToolContext, command: &str) {
        let Some(target) = cd_target(command) else { return };
        let mut base = self.base.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(next) = moved(&base, &target) else { return };
        if env.workspace.is_dir(&env.workspace.cwd().join(&next)) {
            *base = next;
        }
    }
}

/// The directory of a command that starts with `cd`.
fn cd_target(command: &str) -> Option<String> {
    let rest = command.trim().strip_prefix("cd")?;
    let rest = rest.strip_prefix([' ', '\t']).or_else(|| rest.is_empty().then_some(""))?;
    let end = [rest.find("&&"), rest.find(';')].into_iter().flatten().min().unwrap_or(rest.len());
    let word = rest.get(..end)?.trim();
    let word = word.trim_matches(['"', '\'']);
    (!word.contains(['|', '$', '`', '*', '&', '<', '>'])).then(|| word.to_string())
}

/// `base` after `cd target`, below the workspace; `None` if the target is outside.
fn moved(base: &Path, target: &str) -> Option<PathBuf> {
    let (mut at, rest) = match target {
        "" | "~" => return Some(PathBuf::new()),
        _ => match target.strip_prefix('/') {
            Some(rest) => (PathBuf::new(), rest),
            None => (base.to_path_buf(), target),
        },
    };
    for part in Path::new(rest).components() {
        match part {
            Component::Normal(name) => at.push(name),
            Component::ParentDir if !at.pop() => return None,
            _ => {}
        }
    }
    Some(at)
}

fn no_such(written: &str) -> ToolError {
    ToolError::worded(format!("Error: No such file or directory: {written}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leading_cd_is_followed_and_nothing_else_is() {
        for (command, target) in [
            ("cd src", Some("src")),
            ("cd src && ls", Some("src")),
            ("cd 'my dir'; ls", Some("my dir")),
            ("cd", Some("")),
            ("cdrom", None),
            ("ls && cd src", None),
            ("cd $HOME", None),
        ] {
            assert_eq!(cd_target(command).as_deref(), target, "{command}");
        }
        let src = PathBuf::from("src");
        assert_eq!(moved(&src, "lib"), Some("src/lib".into()));
        assert_eq!(moved(&src, "/docs"), Some("docs".into()));
        assert_eq!(moved(&src, ".."), Some(PathBuf::new()));
        assert_eq!(moved(&src, "../.."), None);
        assert_eq!(moved(&src, "~"), Some(PathBuf::new()));
    }
}
