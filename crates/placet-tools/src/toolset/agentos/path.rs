//! Paths of AgentOS: below the workspace, also for paths that do not exist yet.

use super::super::super::{ToolContext, ToolError};
use placet_permission::AccessLocation;
use placet_workspace::ResolvedPath;

/// Resolves a path and refuses a path that leads out of the workspace.
pub(super) fn contained(env: &ToolContext, path: &str) -> Result<ResolvedPath, ToolError> {
    let at = env.resolve(path)?;
    match at.place {
        AccessLocation::Outside => {
            Err(ToolError::worded(format!("Path traversal denied: {path} resolves outside workspace")))
        }
        _ => Ok(at),
    }
}
