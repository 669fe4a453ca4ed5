//! delete, which version 0.7 added: one file.
//!
//! The original deletes a directory with its whole content in one call. Here a directory is refused: only what the call
//! names is deleted. A command can remove whole directories, and its change set shows each file of them.

use super::super::super::{CallFailure, PlanResult, Tool, ToolContext};
use super::options::DeepagentsOptions;
use super::path::failure;
use crate::batch::file_operation::FileOperation;
use crate::files::edit::UnreadPolicy;
use crate::files::staged_files::StagedFiles;
use crate::files::staged_plan::{StagedPlan, StagedReport};
use crate::toolset::foreign_tool::ForeignTool;
use placet_workspace::OpenConsent;
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct DeepagentsDelete {
    /// Absolute path of the file.
    file_path: String,
}

pub(super) fn delete(surface: &Arc<DeepagentsOptions>) -> Arc<dyn Tool> {
    ForeignTool::new("delete", "Delete a file. Directories are deleted with execute.", surface, plan)
        .rule("write_file")
        .writing("file_path")
        .errors(&[
            (CallFailure::Missing, "Error: '{file_path}' not found"),
            (CallFailure::Directory, "Error deleting '{file_path}': it is a directory; use execute for it"),
        ])
        .failing(|args, _, surface, error| failure("deleting", &args.file_path, surface, error))
        .build()
}

fn plan(args: &DeepagentsDelete, env: &ToolContext, surface: &Arc<DeepagentsOptions>) -> PlanResult {
    let named = surface.named(env, &args.file_path)?;
    // `written` becomes the real path, because the workspace uses it to check whether the name is a link.
    let mut at = named.at;
    at.written = named.real;
    let (places, title) = ([at.clone()], format!("delete {}", env.workspace.shown(&at.path)));
    let path = args.file_path.clone();
    let work = move |env: &ToolContext, draft: &mut StagedFiles, consent: OpenConsent<'_>| {
        FileOperation::Delete { at: at.clone() }.perform(env, draft, consent, UnreadPolicy::Allow)?;
        Ok(StagedReport { text: format!("Deleted {path}"), ..StagedReport::default() })
    };
    Ok(Box::new(StagedPlan::new(title, &places, &[], format!("delete {}\n", args.file_path), Box::new(work))))
}
