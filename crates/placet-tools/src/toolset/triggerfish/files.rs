//! read_file, write_file, edit_file, list_directory, search_files.

use super::super::super::{CallFailure, PlanResult, RunContext, Tool, ToolContext, ToolError, ToolOutput};
use super::missing_argument::missing;
use super::state::TriggerfishState;
use crate::files::edit::{EditAnswer, EditPlan, EditRequest, MatchSelection, UnreadPolicy};
use crate::files::find::{PathGlob, find_paths};
use crate::files::lookup::{ExpectedKind, LookupPlan, credit_all, load_text, prefix, rows, with_gaps};
use crate::files::pattern::line_matcher;
use crate::files::search::search_below;
use crate::files::search_results::SearchQuery;
use crate::files::write::{WriteFileMode, WritePlan};
use crate::toolset::foreign_tool::{ErrorRow, ForeignTool};
use placet_permission::PlanModeState;
use placet_workspace::{OpenConsent, RelativePath, ResolvedPath, WalkEntryKind, WalkFilter};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

/// How many entries are listed, and how many files a search names.
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
    #[schemars(extend("contentMediaType" = "text/plain"))]
    content: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct TriggerfishEdit {
    path: String,
    /// Exact text, unique in the file.
    #[schemars(extend("contentMediaType" = "text/plain"))]
    old_text: String,
    #[schemars(extend("contentMediaType" = "text/plain"))]
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

/// A path that does not exist, or has another type.
pub(super) const NOT_THERE: &[ErrorRow] = &[
    (CallFailure::Missing, "Error: No such file or directory: {path}"),
    (CallFailure::Outside, "Error: No such file or directory: {path}"),
    (CallFailure::NotDirectory, "Error: Not a directory: {path}"),
    (CallFailure::Directory, "Error: Is a directory: {path}"),
];
const EDIT_ERRORS: &[ErrorRow] = &[
    (CallFailure::TextMissing, "Error: old_text not found in file"),
    (
        CallFailure::Ambiguous(0),
        "Error: old_text appears {times} times (must be exactly 1). Provide a larger unique snippet.",
    ),
];

pub(super) fn tools(surface: &Arc<TriggerfishState>) -> Vec<Arc<dyn Tool>> {
    vec![
        ForeignTool::new("read_file", "Read the whole text of a file.", surface, plan_read)
            .checking(|input| missing(input, "read_file", &["path"]))
            .reading("path")
            .errors(NOT_THERE)
            .build(),
        ForeignTool::new(
            "write_file",
            "Write a file in the workspace; directories are made.",
            surface,
            plan_write,
        )
        .checking(|input| missing(input, "write_file", &["path", "content"]))
        .writing("path")
        .answer("Wrote {size} bytes to {shown}")
        .errors(NOT_THERE)
        .build(),
        ForeignTool::new(
            "edit_file",
            "Replace a text that occurs exactly once in a file.",
            surface,
            plan_edit,
        )
        .checking(|input| missing(input, "edit_file", &["path", "old_text!", "new_text"]))
        .writing("path")
        .answer("Edited {shown} ({size} bytes written)")
        .errors(EDIT_ERRORS)
        .errors(NOT_THERE)
        .build(),
        ForeignTool::new(
            "list_directory",
            "List a directory; directories end with a slash.",
            surface,
            plan_list,
        )
        .checking(|input| missing(input, "list_directory", &["path"]))
        .reading("path")
        .errors(NOT_THERE)
        .build(),
        ForeignTool::new(
            "search_files",
            "Find files by a glob, or files whose contents match.",
            surface,
            plan_search,
        )
        .rule("search_contents")
        .checking(|input| missing(input, "search_files", &["path", "pattern!"]))
        .reading("path")
        .errors(NOT_THERE)
        .build(),
    ]
}

/// Plan mode refuses a tool that writes before anything else is checked.
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

fn plan_read(args: &TriggerfishRead, env: &ToolContext, surface: &Arc<TriggerfishState>) -> PlanResult {
    let at = surface.inside(env, &args.path)?;
    let title = format!("read {}", env.workspace.shown(&at.path));
    Ok(Box::new(LookupPlan::new(at, title, ExpectedKind::File, |at, consent, ctx| {
        read(at, consent, &ctx.env)
    })))
}

/// A whole file, unformatted; exec.read uses it too.
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
    Ok(ToolOutput::lookup(line, text))
}

fn plan_write(args: &TriggerfishWrite, env: &ToolContext, surface: &Arc<TriggerfishState>) -> PlanResult {
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

fn plan_edit(args: &TriggerfishEdit, env: &ToolContext, surface: &Arc<TriggerfishState>) -> PlanResult {
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

fn plan_list(args: &TriggerfishRead, env: &ToolContext, surface: &Arc<TriggerfishState>) -> PlanResult {
    let at = surface.inside(env, &args.path)?;
    let title = format!("list {}", env.workspace.shown(&at.path));
    let look = |at: &ResolvedPath, consent: OpenConsent<'_>, ctx: &RunContext| {
        let (rows, skipped) = rows(&ctx.env, at, consent, (WalkFilter::All, 1, MOST))?;
        let base = prefix(&ctx.env, at);
        let one = |row: &crate::files::lookup::ListingEntry| {
            let slash = if row.kind == WalkEntryKind::Directory { "/" } else { "" };
            format!("{base}{}{slash}", row.relative.shown())
        };
        let names: Vec<String> = rows.iter().take(MOST).map(one).collect();
        let text = if names.is_empty() { "(empty directory)".into() } else { cut(names, rows.len()) };
        let output = ToolOutput::lookup(format!("list {}", ctx.env.workspace.shown(&at.path)), text);
        Ok(with_gaps(output, &skipped))
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

fn plan_search(args: &TriggerfishSearch, env: &ToolContext, surface: &Arc<TriggerfishState>) -> PlanResult {
    let at = surface.inside(env, &args.path)?;
    let title = format!("search {}", args.pattern);
    if args.content_search == Some(true) {
        // A pattern that is not a valid expression is searched as plain text.
        let matcher = line_matcher(&args.pattern, |_| {}).or_else(|_| {
            line_matcher(&args.pattern, |builder| {
                builder.fixed_strings(true);
            })
        })?;
        let look = move |at: &ResolvedPath, consent: OpenConsent<'_>, ctx: &RunContext| {
            let search = SearchQuery { matcher, context: 0, names_only: true, most: 1 };
            let found = search_below(ctx, at, consent, search, (None, WalkFilter::All))?;
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
    let look = move |at: &ResolvedPath, consent: OpenConsent<'_>, ctx: &RunContext| {
        let (found, skipped) = find_paths(ctx, at, consent, &glob, WalkFilter::All)?;
        let base = prefix(&ctx.env, at);
        let names = found.iter().map(|p| format!("{base}{}", p.shown())).collect();
        Ok(with_gaps(named(names, "No files found matching pattern."), &skipped))
    };
    Ok(Box::new(LookupPlan::new(at, title, ExpectedKind::Directory, look)))
}

fn named(mut names: Vec<String>, none: &str) -> ToolOutput {
    let all = names.len();
    names.truncate(MOST);
    let text = if names.is_empty() { none.to_string() } else { cut(names, all) };
    ToolOutput::lookup(format!("{all} found"), text)
}
