//! Paths as deepagents names them: their text is checked first, and then the place to which they lead.

use super::super::super::{CallFailure, ToolContext, ToolError};
use super::options::DeepagentsOptions;
use crate::toolset::foreign_tool::ToolSetState;
use placet_permission::AccessLocation;
use placet_workspace::{RelativePath, ResolvedPath};

/// The directory of results that are too long to show, as the caller names it.
pub(super) const EVICTED: &str = "/large_tool_results/";

/// A path of a call.
#[derive(Clone, Debug)]
pub(super) struct DeepagentsPath {
    /// The path as the caller knows it: `/src/a.py`.
    pub(super) shown: String,
    /// Its `written` is `shown`: no message names the directory behind a virtual path.
    pub(super) at: ResolvedPath,
    /// The path as the workspace knows it.
    pub(super) real: String,
    /// The path is in a mount, or of a stored result: the directory on disk has no name here.
    mounted: bool,
}

impl ToolSetState for DeepagentsOptions {
    /// A search without a path begins at the working directory.
    fn start(&self) -> &'static str {
        if self.virtual_paths { "/" } else { "." }
    }

    fn spelled(&self, path: &str) -> String {
        let shown = format!("/{}", path.replace('\\', "/").trim_start_matches('/'));
        self.real(&shown, path)
    }

    fn hides_paths(&self) -> bool {
        self.virtual_paths
    }
}

impl DeepagentsOptions {
    /// A directory and the mounts below it; all mounts if the call names no directory.
    pub(super) fn with_mounts(
        &self,
        env: &ToolContext,
        path: Option<&str>,
    ) -> Result<(DeepagentsPath, Vec<String>), ToolError> {
        let named = self.named(env, path.unwrap_or(self.start()))?;
        let mounts = mounts_below(env, if path.is_some() { &named.shown } else { "/" });
        Ok((named, mounts))
    }

    /// `written`, checked and resolved. With virtual paths, a path that leads outside the root is refused as traversal.
    pub(super) fn named(&self, env: &ToolContext, written: &str) -> Result<DeepagentsPath, ToolError> {
        let shown = self.below_root(env, checked(written)?);
        let evicted = evicted(env, &shown);
        let mounted = mount_of(env, &shown).is_some();
        let real = match &evicted {
            Some(path) => path.clone(),
            None if mounted => shown.clone(),
            None => self.real(&shown, if self.virtual_paths { &shown } else { written }),
        };
        let mut at = env.resolve(&real)?;
        if self.virtual_paths && evicted.is_none() && !mounted && !self.inside(env, &at) {
            return Err(traversal(written));
        }
        let shown = if self.virtual_paths || written.starts_with('/') { shown } else { written.to_string() };
        at.written.clone_from(&shown);
        Ok(DeepagentsPath { shown, at, real, mounted: mounted || evicted.is_some() })
    }

    /// With virtual paths, a path that begins with the real directory of the workspace means the file there: `execute`
    /// and the system prompt name that directory. A file that really exists at such a path below the root has priority.
    fn below_root(&self, env: &ToolContext, shown: String) -> String {
        let cwd = env.workspace.cwd();
        let Ok(relative) = std::path::Path::new(&shown).strip_prefix(cwd) else { return shown };
        let nested = cwd.strip_prefix("/").is_ok_and(|own| env.workspace.is_dir(&cwd.join(own)));
        if !self.virtual_paths || nested { shown } else { format!("/{}", relative.to_string_lossy()) }
    }

    /// The path as the workspace knows it. Nothing is read, because this also serves the order of calls.
    fn real(&self, shown: &str, written: &str) -> String {
        match self.virtual_paths {
            true => match shown.trim_start_matches('/') {
                "" => ".".into(),
                // A name may begin with `~`, which means the home directory elsewhere.
                relative => format!("./{relative}"),
            },
            false if written.starts_with('/') => shown.into(),
            false => written.replace('\\', "/"),
        }
    }

    fn inside(&self, env: &ToolContext, at: &ResolvedPath) -> bool {
        at.path.starts_with(env.workspace.cwd()) && at.place != AccessLocation::Outside
    }

    /// A path below `base` as the caller knows it.
    pub(super) fn below(&self, base: &DeepagentsPath, relative: &RelativePath) -> String {
        let relative = relative.plain();
        match self.virtual_paths || base.mounted {
            true => format!("{}/{relative}", base.shown.trim_end_matches('/')),
            false => base.at.path.join(relative).to_string_lossy().into_owned(),
        }
    }
}

/// A failure about one path, in the wording of this tool set: placet's own message would name the directory behind the
/// virtual path. `doing` is what the call did: `reading file`. `None` for messages that name no path, or the caller's.
pub(super) fn failure(
    doing: &str,
    path: &str,
    surface: &DeepagentsOptions,
    error: &ToolError,
) -> Option<String> {
    match error.fault {
        CallFailure::Missing => Some(format!("Error: File '{path}' not found")),
        CallFailure::Outside if surface.virtual_paths => Some(traversal(path).message),
        _ => reason(error).map(|why| format!("Error {doing} '{path}': {why}")),
    }
}

/// Why a path cannot be used, without the path.
pub(super) fn reason(error: &ToolError) -> Option<&'static str> {
    Some(match error.fault {
        CallFailure::Missing => "it does not exist",
        CallFailure::Outside => "it is outside the workspace",
        CallFailure::Directory => "it is a directory",
        CallFailure::NotDirectory => "a part of the path is a file",
        CallFailure::Loop => "it goes through too many symbolic links",
        CallFailure::Link => "it is a symbolic link, and the file that it leads to would go",
        CallFailure::Denied => "permission denied",
        CallFailure::Exists => "it already exists",
        CallFailure::Special => "it is not a regular file",
        CallFailure::System => "the system could not do it",
        CallFailure::TooLarge => "it is too large",
        CallFailure::Unread | CallFailure::LinesUnread { .. } => {
            "it changed since it was read, or while the call ran; read it again"
        }
        // These messages say what the caller has to know, and name the file by the path of the call.
        CallFailure::NotText
        | CallFailure::Changed
        | CallFailure::TextMissing
        | CallFailure::Ambiguous(_) => return None,
        CallFailure::Other | CallFailure::Worded => return None,
    })
}

/// The mount a path is in.
fn mount_of<'a>(env: &'a ToolContext, shown: &str) -> Option<&'a (String, std::path::PathBuf)> {
    let inside = |prefix: &str| shown.starts_with(prefix) || prefix.trim_end_matches('/') == shown;
    env.workspace.aliases().iter().find(|(prefix, _)| inside(prefix))
}

/// The mounts below a directory as the caller knows it: all mounts for the root.
pub(super) fn mounts_below(env: &ToolContext, shown: &str) -> Vec<String> {
    let base = format!("{}/", shown.trim_end_matches('/'));
    let prefixes = env.workspace.aliases().iter().map(|(prefix, _)| prefix.clone());
    prefixes.filter(|prefix| prefix.starts_with(&base) && *prefix != base).collect()
}

/// A result that was too long, stored outside of the workspace, or the directory of all of them.
fn evicted(env: &ToolContext, shown: &str) -> Option<String> {
    let is_below = shown.starts_with(EVICTED) || shown == EVICTED.trim_end_matches('/');
    let dir = is_below.then(|| env.workspace.view()?.scratch().ok())??;
    Some(dir.join(shown.trim_start_matches('/')).to_string_lossy().into_owned())
}

/// Checks the text of a path alone: one kind of separator, a leading slash, no `..` and no `~`.
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
        return Err(
            ToolError::worded("Error: a path cannot hold a NUL character").because(CallFailure::Worded)
        );
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
