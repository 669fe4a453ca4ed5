//! Paths as deepagents names them: checked by their words first, and by what they lead to after that.

use super::super::super::{Env, Fault, ToolError};
use super::Surface;
use crate::permission::Place;
use crate::workspace::Resolved;

/// Where results go that are too long to show, as the caller names it.
pub(super) const EVICTED: &str = "/large_tool_results/";

/// A path of a call.
#[derive(Clone, Debug)]
pub(super) struct Named {
    /// As the caller knows it: `/src/a.py`.
    pub(super) shown: String,
    pub(super) at: Resolved,
}

impl Surface {
    /// `written`, checked and resolved. With virtual paths, what leads outside the root is refused as traversal.
    pub(super) fn named(&self, env: &Env, written: &str) -> Result<Named, ToolError> {
        let shown = checked(written)?;
        let evicted = shown.strip_prefix(EVICTED).and_then(|name| evicted(env, name));
        let real = evicted.clone().unwrap_or_else(|| self.real(&shown, written));
        let at = env.resolve(&real)?;
        if self.virtual_paths && evicted.is_none() && !self.inside(env, &at) {
            return Err(traversal(written));
        }
        let shown = if self.virtual_paths || written.starts_with('/') { shown } else { written.to_string() };
        Ok(Named { shown, at })
    }

    /// What a path means to the workspace: for ordering calls too, so nothing is looked at.
    pub(super) fn real(&self, shown: &str, written: &str) -> String {
        match self.virtual_paths {
            true => match shown.trim_start_matches('/') {
                "" => ".".into(),
                relative => relative.into(),
            },
            false if written.starts_with('/') => shown.into(),
            false => written.replace('\\', "/"),
        }
    }

    fn inside(&self, env: &Env, at: &Resolved) -> bool {
        at.path.starts_with(env.workspace.cwd()) && at.place != Place::Outside
    }

    /// A path below `base` as the caller knows it.
    pub(super) fn below(&self, base: &Named, relative: &str) -> String {
        match self.virtual_paths {
            true => format!("{}/{relative}", base.shown.trim_end_matches('/')),
            false => base.at.path.join(relative).to_string_lossy().into_owned(),
        }
    }
}

/// A result that was too long, kept beside the workspace.
fn evicted(env: &Env, name: &str) -> Option<String> {
    let dir = env.workspace.view()?.scratch().ok()?;
    Some(dir.join(EVICTED.trim_start_matches('/')).join(name).to_string_lossy().into_owned())
}

/// The words of a path alone: separators one way, a slash in front, no way up and no home.
fn checked(written: &str) -> Result<String, ToolError> {
    let path = written.replace('\\', "/");
    if path.starts_with('~') || path.split('/').any(|part| part == "..") {
        return Err(traversal(written));
    }
    let mut letters = path.chars();
    if letters.next().is_some_and(|c| c.is_ascii_alphabetic()) && letters.next() == Some(':') {
        return Err(ToolError::worded(format!(
            "Error: Windows absolute paths are not supported: {written}. Please use virtual paths starting with / (e.g., /workspace/file.txt)"
        )));
    }
    if path.contains('\0') {
        return Err(ToolError::worded("Error: a path cannot hold a NUL character").because(Fault::Worded));
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    Ok(format!("/{}", parts.join("/")))
}

pub(super) fn traversal(written: &str) -> ToolError {
    ToolError::worded(format!("Error: Path traversal not allowed: {written}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_normalised_and_ways_out_refused() {
        for (written, shown) in [
            ("a.txt", "/a.txt"),
            ("/x//y/./z", "/x/y/z"),
            ("a\\b", "/a/b"),
            ("/", "/"),
            ("/foo..bar", "/foo..bar"),
        ] {
            assert_eq!(checked(written).unwrap(), shown);
        }
        for written in ["../a", "/a/../../b", "~/x", "~root", "a\\..\\b"] {
            let message = checked(written).unwrap_err().message;
            assert_eq!(message, format!("Error: Path traversal not allowed: {written}"));
        }
        assert!(checked("C:\\x").unwrap_err().message.contains("Windows absolute paths"));
    }
}
