//! What the tools share: work off the event loop, and workspace errors that name the next call.

use super::output::{failed, interrupted};
use super::{
    CallFailure, Hint, HintTool, ReadScope, RunContext, RunFuture, ToolContext, ToolError, ToolOutput, hint,
};
use placet_text::text::nearest;
use placet_workspace::{OpenConsent, ReadLedger, ResolvedPath, WorkspaceError};
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Runs file work on a thread that may block.
pub(super) fn blocking(
    title: String,
    work: impl FnOnce() -> Result<ToolOutput, ToolError> + Send + 'static,
) -> RunFuture {
    Box::pin(async move {
        let done = tokio::task::spawn_blocking(work).await;
        let result = done.unwrap_or_else(|e| Err(ToolError::new(format!("the tool failed: {e}"))));
        result.unwrap_or_else(|error| failed(&title, &error))
    })
}

/// How long read-only work may continue after its call was cancelled or its time is over. Usually the work ends by
/// itself and reports what it found until then.
const GRACE: Duration = Duration::from_secs(3);

/// The same for read-only work. The call ends even if the work cannot end: one step of a pattern over one long line, or
/// one read of a disk that does not answer. The thread then ends on its own, and its result is discarded.
pub(super) fn looking(
    title: String,
    ctx: RunContext,
    work: impl FnOnce(&RunContext) -> Result<ToolOutput, ToolError> + Send + 'static,
) -> RunFuture {
    let (asked, time) = (ctx.cancel.clone(), ctx.env.limits.search_time);
    let abandoned = asked.child_token();
    let ctx = RunContext { cancel: abandoned.clone(), ..ctx };
    let running = blocking(title.clone(), move || work(&ctx));
    Box::pin(async move { ended(running, &title, &asked, &abandoned, (time, GRACE)).await })
}

/// The result of `running`, or a result that says that the work was given up.
async fn ended(
    running: RunFuture,
    title: &str,
    asked: &CancellationToken,
    abandoned: &CancellationToken,
    (time, grace): (Duration, Duration),
) -> ToolOutput {
    let cancelled = async {
        asked.cancelled().await;
        tokio::time::sleep(grace).await;
    };
    tokio::select! {
        biased;
        done = running => done,
        () = cancelled => interrupted(title),
        () = tokio::time::sleep(time.saturating_add(grace)) => {
            abandoned.cancel();
            let message = format!("no answer within {} s", time.as_secs());
            let hint = "use a simpler pattern, or name a smaller part of the tree";
            failed(title, &ToolError::hint(message, hint))
        }
    }
}

/// Where no tool lists directories, a command does.
fn list_with(words: &str) -> Hint {
    hint![words, HintTool::ListDirectory].or(hint![words, HintTool::RunCommand, ": `ls`"])
}

impl ToolContext {
    pub(super) fn ledger(&self) -> MutexGuard<'_, ReadLedger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn resolve(&self, path: &str) -> Result<ResolvedPath, ToolError> {
        self.mounted(path)?;
        self.workspace.resolve(path).map_err(|e| self.path_error(&e))
    }

    /// The same for a path of [`crate::files::staged_files::StagedFiles`].
    pub(super) fn resolve_staged(&self, path: &str) -> Result<ResolvedPath, ToolError> {
        self.mounted(path)?;
        self.workspace.resolve_staged(path).map_err(|e| self.path_error(&e))
    }

    fn mounted(&self, path: &str) -> Result<(), ToolError> {
        self.mounts.ready_for(path).map_err(|e| {
            ToolError::hint(
                format!("`{path}` is in a store that cannot be used: {e}"),
                "continue without it, and report that",
            )
        })
    }

    /// The workspace's error, with what to call next.
    pub(super) fn path_error(&self, error: &WorkspaceError) -> ToolError {
        let message =
            error.named(|path| self.named(path)).map_or_else(|| error.to_string(), |error| error.to_string());
        let fault = fault_of(error);
        let hint: Hint = match error {
            WorkspaceError::Missing(path) => return self.missing(path, message).because(fault),
            WorkspaceError::Directory(_) => list_with("list it with "),
            WorkspaceError::NotDirectory(_) => {
                "a part of the path is a file; list its directory to see what is there".into()
            }
            WorkspaceError::Empty => "paths are relative to the working directory, or absolute".into(),
            WorkspaceError::Moved(_) => {
                "it was replaced by a link or moved; look again before you call".into()
            }
            WorkspaceError::Raced(_) => {
                "read the file again, then repeat the change on the current content".into()
            }
            WorkspaceError::ReadOnly(_) | WorkspaceError::Denied(_) => {
                "ask the person whether its permissions should be changed".into()
            }
            WorkspaceError::Special { .. } => "only regular files and directories can be used".into(),
            WorkspaceError::Link(_) => {
                hint!["remove the link itself with ", HintTool::RunCommand, ", or name the file it leads to"]
            }
            WorkspaceError::Outside(_) => "stay inside the workspace, or ask the person for this path".into(),
            _ => return ToolError::new(message).because(fault),
        };
        ToolError::hint(message, hint).because(fault)
    }

    /// A path as messages name it: a file of a mount by the mount, never by the directory of placet's copy.
    pub(super) fn named(&self, path: &Path) -> PathBuf {
        self.workspace.own_name(path).unwrap_or_else(|| path.into())
    }

    /// The same as text: the whole path of a file of the workspace. A directory has no trailing slash.
    pub(super) fn full_name(&self, path: &Path) -> String {
        let name = placet_text::text::visible::path_name(&self.named(path));
        match name.trim_end_matches('/') {
            "" => name,
            trimmed => trimmed.into(),
        }
    }

    /// The same for programs, with each character of the name as it is: for fields of JSON. What is not text in it is
    /// replaced.
    pub(super) fn real_name(&self, path: &Path) -> String {
        self.named(path).to_string_lossy().into_owned()
    }

    /// What exists instead of a missing path: the nearest name in the same directory, or the deepest directory that
    /// exists.
    fn missing(&self, path: &Path, message: String) -> ToolError {
        let beside = path.ancestors().skip(1).find(|p| self.workspace.is_dir(p));
        let Some(dir) = beside.filter(|d| self.workspace.roots().iter().any(|r| d.starts_with(r))) else {
            let both = hint!["look around with ", HintTool::ListDirectory, " or ", HintTool::FindFiles];
            return ToolError::hint(message, both.or(list_with("look around with ")));
        };
        let wanted = path.strip_prefix(dir).ok().and_then(|p| p.iter().next()).unwrap_or_default();
        let names: Vec<String> = self.workspace.names_in(dir, 5000);
        let shown = self.workspace.shown(dir);
        match nearest(&wanted.to_string_lossy(), names.iter().map(String::as_str)) {
            Some(name) => ToolError::hint(message, format!("`{shown}` has `{name}`; did you mean that?")),
            None => {
                let list = format!("list `{shown}` with ");
                let both = hint![list.clone(), HintTool::ListDirectory, ", or use ", HintTool::FindFiles];
                ToolError::hint(message, both.or(list_with(&list)))
            }
        }
    }
}

fn fault_of(error: &WorkspaceError) -> CallFailure {
    use WorkspaceError as E;
    match error {
        E::Missing(_) => CallFailure::Missing,
        E::Directory(_) => CallFailure::Directory,
        E::NotDirectory(_) => CallFailure::NotDirectory,
        E::Outside(_) | E::Tilde { .. } => CallFailure::Outside,
        E::Denied(_) | E::ReadOnly(_) | E::Hidden(_) => CallFailure::Denied,
        E::Exists(_) => CallFailure::Exists,
        E::Special { .. } => CallFailure::Special,
        E::TooLarge { .. } => CallFailure::TooLarge,
        E::Raced(_) | E::Moved(_) => CallFailure::Unread,
        E::Loop(_) => CallFailure::Loop,
        E::Link(_) => CallFailure::Link,
        E::Io { .. } => CallFailure::System,
        _ => CallFailure::Other,
    }
}

/// How far a plan may read while it is prepared.
pub(super) fn consent_of(sight: ReadScope) -> OpenConsent<'static> {
    match sight {
        ReadScope::InsideOnly => OpenConsent::Inside,
        ReadScope::Everywhere => OpenConsent::Prepared,
    }
}

/// A note for a file that is not the file that a reader of the path would expect.
pub(super) fn real_path_note(env: &ToolContext, at: &ResolvedPath) -> Option<String> {
    let (plain, named) = (env.workspace.cwd().join(&at.written), env.full_name(&at.path));
    // Some tool sets have paths of their own, which mean nothing to the workspace: their files have no other name
    // there.
    let of_workspace = || env.workspace.resolve(&at.written).is_ok_and(|again| again.path == at.path);
    (plain != at.path && at.written != named && of_workspace()).then(|| format!("the file is {named}"))
}

pub(super) fn s(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use placet_text::conversation::CallOutcome;

    #[tokio::test]
    async fn a_look_that_does_not_end_is_given_up_when_it_is_cancelled_and_when_its_time_is_over() {
        let stuck = || -> RunFuture { Box::pin(std::future::pending()) };
        let (asked, abandoned) = (CancellationToken::new(), CancellationToken::new());
        let day = Duration::from_secs(86_400);
        let late = ended(stuck(), "search", &asked, &abandoned, (Duration::ZERO, Duration::ZERO)).await;
        assert_eq!(late.outcome, CallOutcome::Failed);
        assert!(abandoned.is_cancelled() && !asked.is_cancelled(), "the thread is asked to end");
        asked.cancel();
        let stopped = ended(stuck(), "search", &asked, &abandoned, (day, Duration::ZERO)).await;
        assert_eq!(stopped.outcome, CallOutcome::Interrupted);
    }
}
