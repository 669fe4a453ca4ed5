//! write_file and edit_file.

use super::super::super::{CallFailure, PlanResult, Tool, ToolContext, ToolError};
use super::options::DeepagentsOptions;
use super::path::failure;
use crate::files::edit::{EditAnswer, EditPlan, EditRequest, MatchSelection, UnreadPolicy};
use crate::files::lookup::load_text;
use crate::files::write::{WriteFileMode, WritePlan};
use crate::toolset::foreign_tool::ForeignTool;
use placet_workspace::OpenConsent;
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct DeepagentsWrite {
    file_path: String,
    #[schemars(extend("contentMediaType" = "text/plain"))]
    content: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct DeepagentsEdit {
    file_path: String,
    /// The exact text to replace; it must be unique unless replace_all is set.
    #[schemars(extend("contentMediaType" = "text/plain"))]
    old_string: String,
    #[schemars(extend("contentMediaType" = "text/plain"))]
    new_string: String,
    replace_all: Option<bool>,
}

pub(super) fn write_file(surface: &Arc<DeepagentsOptions>) -> Arc<dyn Tool> {
    let description = if surface.overwrite {
        "Write a file. An existing one is replaced; directories are made."
    } else {
        "Write a new file; directories are made. An existing file is not replaced unless it is empty: edit it."
    };
    ForeignTool::new("write_file", description, surface, plan_write)
        .writing("file_path")
        .answer("Updated file {file_path}")
        .errors(&[(
            CallFailure::Exists,
            "Cannot write to {file_path} because it already exists. Read and then make an edit, or write to a new path.",
        )])
        .failing(|args, _, surface, error| failure("writing file", &args.file_path, surface, error))
        .build()
}

fn plan_write(args: &DeepagentsWrite, env: &ToolContext, surface: &Arc<DeepagentsOptions>) -> PlanResult {
    let named = surface.named(env, &args.file_path)?;
    let place = (named.at, args.file_path.clone());
    let plan =
        WritePlan::at(place, args.content.clone(), WriteFileMode::Overwrite, UnreadPolicy::Allow, env)?;
    let plan = plan.exact();
    Ok(Box::new(if surface.overwrite { plan } else { plan.only_over_nothing() }))
}

pub(super) fn edit_file(surface: &Arc<DeepagentsOptions>) -> Arc<dyn Tool> {
    let description =
        "Replace exact text in a file. Read it first. The text must occur once, unless replace_all is set.";
    ForeignTool::new("edit_file", description, surface, plan_edit)
        .writing("file_path")
        .answer("Successfully replaced {places} instance(s) of the string in '{file_path}'")
        .errors(&[
            (
                CallFailure::Ambiguous(0),
                "Error: String '{old_string}' appears {times} times in file. Use replace_all=True to replace all instances, or provide a more specific string with surrounding context.",
            ),
            (CallFailure::Directory, "Error: File '{file_path}' not found"),
        ])
        .failing(|args, env, surface, error| match error.fault {
            CallFailure::TextMissing => Some(
                line_end_too_many(args, env, surface)
                    .unwrap_or_else(|| format!("Error: String not found in file: '{}'", args.old_string)),
            ),
            _ => failure("editing file", &args.file_path, surface, error),
        })
        .build()
}

/// The message of 0.7 for a text that is the end of the file except for a line end that the file lacks.
fn line_end_too_many(
    args: &DeepagentsEdit,
    env: &ToolContext,
    surface: &DeepagentsOptions,
) -> Option<String> {
    let wanted = args.old_string.strip_suffix('\n').filter(|rest| !rest.is_empty() && surface.is_newer())?;
    let at = surface.named(env, &args.file_path).ok()?.at;
    let (file, _) = load_text(env, &at, OpenConsent::Inside).ok()?;
    if !file.text().ends_with(wanted) {
        return None;
    }
    let words = "Error: old_string ends with a newline, but the file does not.";
    Some(match file.text().matches(wanted).count() {
        0 | 1 => format!(
            "{words} Remove the newline at the end of old_string, and of new_string if it has one there too."
        ),
        times => format!(
            "{words} Without it, old_string appears {times} times in the file. Remove the newline and add context that makes it unique."
        ),
    })
}

fn plan_edit(args: &DeepagentsEdit, env: &ToolContext, surface: &Arc<DeepagentsOptions>) -> PlanResult {
    let named = surface.named(env, &args.file_path)?;
    if args.old_string.is_empty() {
        return Err(ToolError::worded("Error: old_string is empty. Name the text to replace."));
    }
    let which = if args.replace_all == Some(true) { MatchSelection::All } else { MatchSelection::Single };
    let (old, new) = (args.old_string.clone(), args.new_string.clone());
    let (path, unread, answer) = (args.file_path.clone(), UnreadPolicy::Allow, EditAnswer::Nothing);
    let edit = EditRequest { path, old, new, which, unread, answer };
    Ok(Box::new(EditPlan::at(edit, named.at, env)?))
}
