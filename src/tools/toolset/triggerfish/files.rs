//! read_file, write_file, edit_file, list_directory, search_files.

use super::super::super::{
    CallFailure, CallSummary, OutputFacts, Plan, RunContext, Tool, ToolContext, ToolError, ToolOutput,
    TouchedPaths,
};
use super::jail::no_such;
use super::missing_argument::missing;
use super::state::TriggerfishState;
use crate::permission::PlanModeState;
use crate::tools::files::edit::{EditAnswer, EditPlan, EditRequest, MatchSelection, UnreadPolicy};
use crate::tools::files::find::{PathGlob, find_paths};
use crate::tools::files::lookup::{ExpectedKind, LookupPlan, credit_all, load_text, prefix, rows, with_gaps};
use crate::tools::files::pattern::line_matcher;
use crate::tools::files::search::search_below;
use crate::tools::files::search_results::SearchQuery;
use crate::tools::files::write::{WriteFileMode, WritePlan};
use crate::tools::toolset::foreign_tool::{ForeignTool, reads, writes};
use crate::workspace::{OpenConsent, RelativePath, ResolvedPath, WalkEntryKind, WalkFilter};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

/// Entries listed, and files named by a search.
const MOST: usize = 5000;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct TriggerfishRead {
    /// Relative to the workspace, or absolute within it.
    path: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct TriggerfishWrite {
    /// Relative to the workspace.
    path: String,
    content: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct TriggerfishEdit {
    path: String,
    /// Exact text, unique in the file.
    old_text: String,
    new_text: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct TriggerfishSearch {
    /// Directory to search.
    path: String,
    /// Glob for names, or text or regular expression for contents.
    pattern: String,
    /// Search contents rather than names.
    content_search: Option<bool>,
}

pub(super) fn tools(surface: &Arc<TriggerfishState>) -> Vec<Arc<dyn Tool>> {
    let read = ForeignTool::new("read_file", "Read the whole text of a file.", surface, plan_read)
        .checking(|input| missing(input, "read_file", "path", ""))
        .touching(|input, s| placed(s, reads(input, "path", ".")))
        .failing(|args: &TriggerfishRead, _, _, error| not_there(&args.path, error));
    let write = ForeignTool::new(
        "write_file",
        "Write a file in the workspace; directories are made.",
        surface,
        plan_write,
    )
    .checking(|input| {
        missing(input, "write_file", "path", "").or_else(|| missing(input, "write_file", "content", ""))
    })
    .touching(|input, s| placed(s, writes(input, "path")))
    .saying(|_: &TriggerfishWrite, _, said| match &said.output.facts {
        OutputFacts::Changed { changes, .. } => changes.first().map(|change| {
            format!("Wrote {} bytes to {}", change.size(), said.env.workspace.shown(&change.path))
        }),
        _ => None,
    })
    .failing(|args, _, _, error| not_there(&args.path, error));
    let edit = ForeignTool::new(
        "edit_file",
        "Replace a text that occurs exactly once in a file.",
        surface,
        plan_edit,
    )
    .checking(|input| {
        missing(input, "edit_file", "path", "")
            .or_else(|| missing(input, "edit_file", "old_text", "non-empty"))
            .or_else(|| missing(input, "edit_file", "new_text", ""))
    })
    .touching(|input, s| placed(s, writes(input, "path")))
    .saying(|_: &TriggerfishEdit, _, said| match &said.output.facts {
        OutputFacts::Changed { changes, .. } => changes.first().map(|change| {
            format!("Edited {} ({} bytes written)", said.env.workspace.shown(&change.path), change.size())
        }),
        _ => None,
    })
    .failing(|args, _, _, error| match error.fault {
        CallFailure::TextMissing => Some("Error: old_text not found in file".into()),
        CallFailure::Ambiguous(times) => Some(format!(
            "Error: old_text appears {times} times (must be exactly 1). Provide a larger unique snippet."
        )),
        _ => not_there(&args.path, error),
    });
    let list = ForeignTool::new(
        "list_directory",
        "List a directory; directories end with a slash.",
        surface,
        plan_list,
    )
    .checking(|input| missing(input, "list_directory", "path", ""))
    .touching(|input, s| placed(s, reads(input, "path", ".")))
    .failing(|args: &TriggerfishRead, _, _, error| not_there(&args.path, error));
    let search = ForeignTool::new(
        "search_files",
        "Find files by a glob, or files whose contents match.",
        surface,
        plan_search,
    )
    .with_rule_name(|_| Some("search_contents"))
    .checking(|input| {
        missing(input, "search_files", "path", "")
            .or_else(|| missing(input, "search_files", "pattern", "non-empty"))
    })
    .touching(|input, s| placed(s, reads(input, "path", ".")))
    .failing(|args: &TriggerfishSearch, _, _, error| not_there(&args.path, error));
    vec![Arc::new(read), Arc::new(write), Arc::new(edit), Arc::new(list), Arc::new(search)]
}

fn placed(surface: &TriggerfishState, touches: TouchedPaths) -> TouchedPaths {
    touches.resolved(|path| Some(surface.real(path)))
}

pub(super) fn not_there(path: &str, error: &ToolError) -> Option<String> {
    match error.fault {
        CallFailure::Missing | CallFailure::Outside => Some(no_such(path).message),
        CallFailure::NotDirectory => Some(format!("Error: Not a directory: {path}")),
        CallFailure::Directory => Some(format!("Error: Is a directory: {path}")),
        _ => None,
    }
}

/// Plan mode stops a tool that writes before anything else is looked at.
pub(super) fn planned(env: &ToolContext, tool: &str) -> Result<(), ToolError> {
    let present = match env.mode.planning() {
        PlanModeState::No => return Ok(()),
        PlanModeState::Making => {
            "Use plan_manage(action: \"exit\") to present your implementation plan first."
        }
        PlanModeState::Presented => {
            "The plan waits for the person's approval: plan_manage(action: \"approve\")."
        }
    };
    Err(ToolError::worded(format!("Tool \"{tool}\" is blocked in plan mode. {present}")))
}

fn plan_read(
    args: &TriggerfishRead,
    env: &ToolContext,
    surface: &Arc<TriggerfishState>,
) -> Result<Box<dyn Plan>, ToolError> {
    let at = surface.inside(env, &args.path)?;
    let title = format!("read {}", env.workspace.shown(&at.path));
    let place = at.clone();
    let look = move |consent: OpenConsent<'_>, ctx: &RunContext| read(&place, consent, &ctx.env);
    Ok(Box::new(LookupPlan::new(at, title, ExpectedKind::File, look)))
}

/// A whole file without any form; also what exec.read gives.
pub(super) fn read(
    at: &ResolvedPath,
    consent: OpenConsent<'_>,
    env: &ToolContext,
) -> Result<ToolOutput, ToolError> {
    let (file, hash) = load_text(env, at, consent)?;
    let text = file.text().into_owned();
    if text.len() <= env.limits.inline() {
        credit_all(env, at, &file, hash);
    }
    let line = format!("read {}", env.workspace.shown(&at.path));
    Ok(ToolOutput::done(text.clone(), CallSummary::text(line, text)))
}

fn plan_write(
    args: &TriggerfishWrite,
    env: &ToolContext,
    surface: &Arc<TriggerfishState>,
) -> Result<Box<dyn Plan>, ToolError> {
    planned(env, "write_file")?;
    let at = surface.inside(env, &args.path)?;
    let plan = WritePlan::of_text(
        at.written,
        args.content.clone(),
        WriteFileMode::Overwrite,
        UnreadPolicy::Allow,
        env,
    )?;
    Ok(Box::new(plan))
}

fn plan_edit(
    args: &TriggerfishEdit,
    env: &ToolContext,
    surface: &Arc<TriggerfishState>,
) -> Result<Box<dyn Plan>, ToolError> {
    planned(env, "edit_file")?;
    let at = surface.inside(env, &args.path)?;
    let (old, new) = (args.old_text.clone(), args.new_text.clone());
    let edit = EditRequest {
        path: at.written,
        old,
        new,
        which: MatchSelection::Single,
        unread: UnreadPolicy::Allow,
        answer: EditAnswer::Nothing,
    };
    Ok(Box::new(EditPlan::new(edit, env)?))
}

fn plan_list(
    args: &TriggerfishRead,
    env: &ToolContext,
    surface: &Arc<TriggerfishState>,
) -> Result<Box<dyn Plan>, ToolError> {
    let at = surface.inside(env, &args.path)?;
    let title = format!("list {}", env.workspace.shown(&at.path));
    let place = at.clone();
    let look = move |consent: OpenConsent<'_>, ctx: &RunContext| {
        let (rows, _) = rows(&ctx.env, &place, consent, (WalkFilter::All, 1, MOST))?;
        let base = prefix(&ctx.env, &place);
        let one = |row: &crate::tools::files::lookup::ListingEntry| {
            let slash = if row.kind == WalkEntryKind::Directory { "/" } else { "" };
            format!("{base}{}{slash}", row.relative.shown())
        };
        let names: Vec<String> = rows.iter().take(MOST).map(one).collect();
        let text = if names.is_empty() { "(empty directory)".into() } else { cut(names, rows.len()) };
        Ok(ToolOutput::done(
            text.clone(),
            CallSummary::text(format!("list {}", ctx.env.workspace.shown(&place.path)), text),
        ))
    };
    Ok(Box::new(LookupPlan::new(at, title, ExpectedKind::Directory, look)))
}

fn cut(names: Vec<String>, all: usize) -> String {
    let mut text = names.join("\n");
    if all > MOST {
        text.push_str(&format!("\n[cut at {MOST} entries]"));
    }
    text
}

fn plan_search(
    args: &TriggerfishSearch,
    env: &ToolContext,
    surface: &Arc<TriggerfishState>,
) -> Result<Box<dyn Plan>, ToolError> {
    let at = surface.inside(env, &args.path)?;
    let title = format!("search {}", args.pattern);
    let place = at.clone();
    if args.content_search == Some(true) {
        // What is no expression is looked for as it stands.
        let matcher = line_matcher(&args.pattern, |_| {}).or_else(|_| {
            line_matcher(&args.pattern, |builder| {
                builder.fixed_strings(true);
            })
        })?;
        let look = move |consent: OpenConsent<'_>, ctx: &RunContext| {
            let search = SearchQuery { matcher, context: 0, names_only: true, most: 1 };
            let found = search_below(ctx, &place, consent, search, (None, WalkFilter::All))?;
            let name = |relative: &RelativePath| match relative.is_empty() {
                true => found.prefix.clone(),
                false => format!("{}{}", found.prefix, relative.shown()),
            };
            let output = named(found.files.iter().map(|f| name(&f.relative)).collect(), "No matches found.");
            Ok(with_gaps(output, &found.skipped))
        };
        return Ok(Box::new(LookupPlan::new(at, title, ExpectedKind::Either, look)));
    }
    let glob = PathGlob::new(&args.pattern)?;
    let look = move |consent: OpenConsent<'_>, ctx: &RunContext| {
        let (found, skipped) = find_paths(ctx, &place, consent, &glob, WalkFilter::All)?;
        let base = prefix(&ctx.env, &place);
        let names = found.iter().map(|p| format!("{base}{}", p.shown())).collect();
        Ok(with_gaps(named(names, "No files found matching pattern."), &skipped))
    };
    Ok(Box::new(LookupPlan::new(at, title, ExpectedKind::Directory, look)))
}

fn named(mut names: Vec<String>, none: &str) -> ToolOutput {
    let all = names.len();
    names.truncate(MOST);
    let text = if names.is_empty() { none.to_string() } else { cut(names, all) };
    ToolOutput::done(text.clone(), CallSummary::text(format!("{all} found"), text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn an_argument_that_is_missing_is_named_as_the_original_names_it() {
        let words = |input: Value| missing(&input, "edit_file", "old_text", "non-empty").unwrap();
        let wanted = "Error: edit_file requires a non-empty 'old_text' argument (string).";
        assert_eq!(words(json!({"old_text": ""})), wanted);
        assert_eq!(words(json!({"old_text": 3})), wanted);
        assert_eq!(
            missing(&json!({}), "read_file", "path", "").unwrap(),
            "Error: read_file requires a 'path' argument (string)."
        );
    }
}
