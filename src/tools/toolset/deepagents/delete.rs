//! delete, which version 0.7 added: one file.
//!
//! The original deletes a directory with all that is in it at one call. Here a directory is refused, so that what goes is
//! what the call names; a command removes whole directories, and shows each file of them.

use super::super::super::{CallFailure, Plan, Tool, ToolContext, ToolError};
use super::options::DeepagentsOptions;
use super::path::failure;
use crate::tools::batch::file_operation::FileOperation;
use crate::tools::files::edit::UnreadPolicy;
use crate::tools::files::staged_files::StagedFiles;
use crate::tools::files::staged_plan::{StagedPlan, StagedReport};
use crate::tools::toolset::foreign_tool::ForeignTool;
use crate::workspace::OpenConsent;
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct DeepagentsDelete {
    /// Absolute path of the file.
    file_path: String,
}

pub(super) fn delete(surface: &Arc<DeepagentsOptions>) -> Arc<dyn Tool> {
    let tool =
        ForeignTool::new("delete", "Delete a file. Directories are deleted with execute.", surface, plan)
            .with_rule_name(|_| Some("write_file"))
            .touching(|input, s| s.writes(input, "file_path"))
            .masking(|surface| surface.virtual_paths)
            .failing(|args: &DeepagentsDelete, _, surface, error| match error.fault {
                CallFailure::Missing => Some(format!("Error: '{}' not found", args.file_path)),
                CallFailure::Directory => Some(format!(
                    "Error deleting '{}': it is a directory; use execute for it",
                    args.file_path
                )),
                _ => failure("deleting", &args.file_path, surface, error),
            });
    Arc::new(tool)
}

fn plan(
    args: &DeepagentsDelete,
    env: &ToolContext,
    surface: &Arc<DeepagentsOptions>,
) -> Result<Box<dyn Plan>, ToolError> {
    let named = surface.named(env, &args.file_path)?;
    // Whether the name is a link is looked up where the workspace has it.
    let at = crate::workspace::ResolvedPath { written: named.real, ..named.at };
    let (places, title) = ([at.clone()], format!("delete {}", env.workspace.shown(&at.path)));
    let path = args.file_path.clone();
    let work = move |env: &ToolContext, draft: &mut StagedFiles, consent: OpenConsent<'_>| {
        FileOperation::Delete { at: at.clone() }.perform(env, draft, consent, UnreadPolicy::Allow)?;
        Ok(StagedReport { text: format!("Deleted {path}"), ..StagedReport::default() })
    };
    Ok(Box::new(StagedPlan::new(title, &places, &[], format!("delete {}\n", args.file_path), Box::new(work))))
}
