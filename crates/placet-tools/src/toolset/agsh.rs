//! agsh: the tool set from which placet's own evolved, with its looser rules where its document states them.
//!
//! An ambiguous edit takes the first occurrence; a glob without a slash matches in one directory; a search does not
//! honour `.gitignore`; a picture over the limit is refused and never scaled.

mod render_image;
mod scratchpads;

use super::super::{HintTool, PlanResult, RunContext, Tool, ToolContext, ToolError, ToolOutput, hint};
use super::foreign_tool::ForeignTool;
use crate::command::run;
use crate::command::run::RunPlan;
use crate::files::edit::{EditAnswer, EditPlan, EditRequest, MatchSelection, UnreadPolicy};
use crate::files::find::{PathGlob, find_paths};
use crate::files::list::part_of;
use crate::files::lookup::{ExpectedKind, LookupPlan, prefix, with_missing};
use crate::files::pattern::line_matcher;
use crate::files::read;
use crate::files::read::ReadPlan;
use crate::files::search::{credit, search_below};
use crate::files::search_results::{SearchHit, SearchQuery};
use crate::files::write::{WriteFileMode, WritePlan};
use placet_workspace::{OpenConsent, ResolvedPath, WalkFilter};
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write;
use std::sync::Arc;

/// How many paths and matches are shown; a scratchpad gets all of them.
const PATHS: usize = 500;
const MATCHES: usize = 100;
/// Directories that a search skips, in addition to dotted directories.
const LEFT_OUT: [&str; 2] = ["target", "node_modules"];

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct AgshRead {
    /// The file path to read.
    path: String,
    /// Line number to start reading from (0-based).
    offset: Option<usize>,
    /// Maximum number of lines to read.
    limit: Option<usize>,
    // Its document has none, and without it no part of a line longer than a page could be read.
    /// Characters of the first line to skip.
    column: Option<usize>,
    /// Save output to the scratchpad under this name.
    scratchpad: Option<String>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct AgshEdit {
    /// The file path to edit.
    path: String,
    /// The exact string to find and replace.
    #[schemars(extend("contentMediaType" = "text/plain"))]
    old_string: String,
    /// The replacement string.
    #[schemars(extend("contentMediaType" = "text/plain"))]
    new_string: String,
    /// Replace all occurrences (default: false).
    replace_all: Option<bool>,
    /// Bypass read-before-edit requirement (default: false).
    force: Option<bool>,
    /// Save output to the scratchpad under this name.
    #[serde(rename = "scratchpad")]
    _scratchpad: Option<String>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct AgshWrite {
    /// The file path to write.
    path: String,
    /// The content to write to the file.
    #[schemars(extend("contentMediaType" = "text/plain"))]
    content: String,
    /// Save output to the scratchpad under this name.
    #[serde(rename = "scratchpad")]
    _scratchpad: Option<String>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct AgshFind {
    /// Glob: `*.rs` is about one directory, `**/*.rs` about all below it.
    pattern: String,
    path: Option<String>,
    /// Save output to the scratchpad under this name.
    scratchpad: Option<String>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct AgshSearch {
    /// Regular expression.
    pattern: String,
    path: Option<String>,
    /// Only files matching this glob.
    glob: Option<String>,
    /// Save output to the scratchpad under this name.
    scratchpad: Option<String>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct AgshExecute {
    command: String,
    /// Milliseconds (30000).
    timeout_ms: Option<u64>,
    /// Save output to the scratchpad under this name.
    #[serde(rename = "scratchpad")]
    _scratchpad: Option<String>,
}

pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    let nothing = Arc::new(());
    let mut tools = vec![
        ForeignTool::new("read_file", "Read the contents of a file at a given path. Supports text files and images.", &nothing, read)
            .whole()
            .reading("path")
            .build(),
        ForeignTool::new("edit_file", "Make a string replacement in a file. The file must have been read with read_file first (unless force is set). Only the first occurrence is replaced unless replace_all is set.", &nothing, edit)
            .writing("path")
            .build(),
        ForeignTool::new("write_file", "Create or overwrite a file with the given content. Parent directories are made.", &nothing, write)
            .writing("path")
            .build(),
        ForeignTool::new("find_files", "Find files by a glob pattern.", &nothing, find)
            .reading("path")
            .build(),
        ForeignTool::new("search_contents", "Search file contents with a regular expression. Hidden files, target and node_modules are skipped. At most 100 matches.", &nothing, search)
            .reading("path")
            .build(),
        ForeignTool::new("execute_command", "Run a shell command with sh -c.", &nothing, execute)
            .rule("run_command")
            .saying(|_, (), said| {
                said.command_text(|_, code| if code == 0 { String::new() } else { format!("Exit code: {code}\n") })
            })
            .build(),
    ];
    tools.push(render_image::render_image(&nothing));
    tools.extend(scratchpads::tools());
    tools
}

fn read(args: &AgshRead, env: &ToolContext, _: &Arc<()>) -> PlanResult {
    let AgshRead { path, offset, limit, column, scratchpad } = args.clone();
    let exact = Some(true);
    let args = read::Args { path, offset, limit, column, scratchpad, exact, ..read::Args::default() };
    Ok(Box::new(ReadPlan::new(args, env)?.whole()))
}

fn edit(args: &AgshEdit, env: &ToolContext, _: &Arc<()>) -> PlanResult {
    if args.old_string.is_empty() {
        return Err(ToolError::hint(
            "`old_string` is empty",
            hint!["name the text to replace; ", HintTool::WriteFile, " makes new files"],
        ));
    }
    let which = if args.replace_all == Some(true) { MatchSelection::All } else { MatchSelection::First };
    // Its document offers `force` also for a file that changed since it was read.
    let unread = if args.force == Some(true) { UnreadPolicy::AllowChanged } else { UnreadPolicy::Refuse };
    let edit = EditRequest {
        path: args.path.clone(),
        old: args.old_string.clone(),
        new: args.new_string.clone(),
        which,
        unread,
        answer: EditAnswer::Whole,
    };
    Ok(Box::new(EditPlan::new(edit, env)?))
}

/// Its document states no rule about reading before writing. A file that was read and has changed since is refused
/// nevertheless.
fn write(args: &AgshWrite, env: &ToolContext, _: &Arc<()>) -> PlanResult {
    let (path, content) = (args.path.clone(), args.content.clone());
    let plan = WritePlan::of_text(path, content, WriteFileMode::Overwrite, UnreadPolicy::Allow, env)?;
    Ok(Box::new(plan.exact()))
}

fn find(args: &AgshFind, env: &ToolContext, _: &Arc<()>) -> PlanResult {
    let glob = PathGlob::new(&args.pattern)?.anchored();
    let at = env.resolve(args.path.as_deref().unwrap_or("."))?;
    let title = format!("find {} in {}", args.pattern, env.workspace.shown(&at.path));
    let most = if args.scratchpad.is_some() { usize::MAX } else { PATHS };
    let look = move |at: &ResolvedPath, consent: OpenConsent<'_>, ctx: &RunContext| {
        let (found, skipped) = find_paths(ctx, at, consent, &glob, glob.show())?;
        let base = prefix(&ctx.env, at);
        let mut text: String = found.iter().take(most).map(|p| format!("{base}{}\n", p.shown())).collect();
        if found.is_empty() {
            text.push_str("No files found");
        }
        let cut = part_of(most, found.len(), "files: narrow the pattern, or give scratchpad to store all");
        let output = ToolOutput::lookup(format!("found {}", found.len()), text);
        Ok(with_missing(output, cut, &skipped))
    };
    Ok(Box::new(LookupPlan::new(at, title, ExpectedKind::Directory, look)))
}

fn search(args: &AgshSearch, env: &ToolContext, _: &Arc<()>) -> PlanResult {
    let matcher = line_matcher(&args.pattern, |_| {})?;
    let glob = args.glob.as_deref().map(PathGlob::new).transpose()?;
    let at = env.resolve(args.path.as_deref().unwrap_or("."))?;
    let title = format!("search {}", args.pattern);
    let is_shown = args.scratchpad.is_none();
    let most = if is_shown { MATCHES } else { usize::MAX };
    let look = move |at: &ResolvedPath, consent: OpenConsent<'_>, ctx: &RunContext| {
        let search = SearchQuery { matcher, context: 0, names_only: false, most };
        let found = search_below(ctx, at, consent, search, (glob.as_ref(), WalkFilter::Ignored))?;
        let kept =
            |path: &std::path::Path| !path.iter().any(|part| LEFT_OUT.iter().any(|name| part == *name));
        let (mut text, mut shown, mut all, mut shown_hits) = (String::new(), 0, 0, Vec::new());
        for file in found.files.iter().filter(|f| kept(f.relative.as_path())) {
            all += file.matches;
            let hits: Vec<SearchHit> = file.hits.iter().take(most - shown).cloned().collect();
            shown += hits.len();
            let name = file.relative.shown();
            for hit in &hits {
                let _ = writeln!(text, "{}{name}:{}: {}", found.prefix, hit.line, hit.text());
            }
            shown_hits.push(file.of_shown(hits));
        }
        if all == 0 {
            text.push_str("No matches found");
        }
        let cut = part_of(shown, all, "matches: narrow the search, or give scratchpad to store all");
        if is_shown && text.len() <= ctx.env.limits.inline() {
            credit(&ctx.env, &found.base, &shown_hits);
        }
        let output = ToolOutput::lookup(format!("{all} matches"), text);
        Ok(with_missing(output, cut, &found.skipped))
    };
    Ok(Box::new(LookupPlan::new(at, title, ExpectedKind::Either, look)))
}

fn execute(args: &AgshExecute, env: &ToolContext, _: &Arc<()>) -> PlanResult {
    let timeout_ms = Some(args.timeout_ms.unwrap_or(30_000));
    let args = run::Args { command: args.command.clone(), timeout_ms, ..run::Args::default() };
    Ok(Box::new(RunPlan::new(args, env)?))
}
