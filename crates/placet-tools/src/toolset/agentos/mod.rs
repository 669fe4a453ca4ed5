//! AgentOS: six file tools whose results are JSON objects, and its shell.
//!
//! The features that its document calls not yet implemented are implemented here: the recursive listing, the search and
//! the watch. Sizes are bytes, patches are real patches, and a path that leads outside the workspace is refused even if
//! nothing exists there yet.

mod path;
mod shell;
mod watch;

use super::super::{
    CallFailure, CallSummary, OutputFacts, PlanResult, RunContext, Tool, ToolContext, ToolError, ToolOutput,
};
use super::foreign_tool::{ErrorRow, ForeignTool};
use super::json_answer::answer;
use crate::files::edit::UnreadPolicy;
use crate::files::find::PathGlob;
use crate::files::list::{gaps, part_of};
use crate::files::lookup::{ExpectedKind, ListingEntry, LookupPlan, rows};
use crate::files::pattern::line_matcher;
use crate::files::search::search_below;
use crate::files::search_results::SearchQuery;
use crate::files::write::{WriteFileMode, WritePlan};
use crate::patch::apply_patch::patch_plan_of_one;
use path::contained;
use placet_text::text::{DetectedEncoding, TextEncoding};
use placet_workspace::{OpenConsent, ResolvedPath, TextFile, WalkEntryKind, WalkFilter};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::Read as _;
use std::sync::Arc;

/// The most bytes of a file that are returned without a limit in the call, the most listed entries, and the most
/// matches.
const READ: u64 = 4 << 20;
const ENTRIES: usize = 20_000;
const MATCHES: usize = 1000;

const STRAY: &str = "some bytes are not valid UTF-8: shown as U+FFFD, unchanged in the file";
const MARK: &str = "\u{FEFF}";

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AgentosRead {
    /// File path relative to workspace root.
    path: String,
    /// Maximum bytes to read (optional, truncates if exceeded).
    max_bytes: Option<u64>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct AgentosWrite {
    path: String,
    #[schemars(extend("contentMediaType" = "text/plain"))]
    content: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct AgentosPatch {
    /// File path to patch.
    path: String,
    /// Unified diff format patch.
    #[schemars(extend("contentMediaType" = "text/plain"))]
    patch: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct AgentosList {
    /// Directory path (defaults to workspace root).
    path: Option<String>,
    recursive: Option<bool>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct AgentosSearch {
    /// Regular expression.
    pattern: String,
    path: Option<String>,
    /// Only files matching this glob.
    glob: Option<String>,
}

const ERRORS: &[ErrorRow] = &[
    (CallFailure::Missing, "ENOENT: no such file or directory, open '{full}'"),
    (CallFailure::Directory, "EISDIR: illegal operation on a directory, open '{full}'"),
    (CallFailure::NotDirectory, "ENOTDIR: not a directory, scandir '{full}'"),
    (CallFailure::Denied, "EACCES: permission denied, open '{full}'"),
    (CallFailure::Outside, "Path traversal denied: {path} resolves outside workspace"),
];

pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    let nothing = Arc::new(());
    vec![
        ForeignTool::new("file_read", "Read file contents with optional size limits.", &nothing, plan_read)
            .rule("read_file")
            .reading("path")
            .whole()
            .errors(ERRORS)
            .build(),
        ForeignTool::new(
            "file_write",
            "Write content to a file; directories are made.",
            &nothing,
            plan_write,
        )
        .rule("write_file")
        .writing("path")
        .saying(|_, (), said| {
            let file = said.file()?;
            let path = said.env.real_name(&file.path);
            Some(json!({"written": true, "path": path, "size": file.size()}).to_string())
        })
        .errors(ERRORS)
        .build(),
        ForeignTool::new("file_list", "List directory contents with file metadata.", &nothing, plan_list)
            .rule("list_directory")
            .reading("path")
            .whole()
            .errors(ERRORS)
            .build(),
        ForeignTool::new("file_search", "Search file contents using regex patterns.", &nothing, plan_search)
            .rule("search_contents")
            .reading("path")
            .whole()
            .errors(ERRORS)
            .build(),
        ForeignTool::new("apply_patch", "Apply a unified diff patch to a file.", &nothing, plan_patch)
            .writing("path")
            .saying(|_, (), said| {
                let OutputFacts::Changed { changes, notes, .. } = &said.output.facts else { return None };
                // Of a rename that is the new name: a file that is there afterwards.
                let left = changes.iter().find(|change| change.after.is_some()).or(changes.first())?;
                let path = said.env.real_name(&left.path);
                let notes = (!notes.is_empty()).then(|| json!(notes));
                Some(answer(json!({"patched": true, "path": path}), [("notes", notes)]))
            })
            .errors(ERRORS)
            .build(),
        watch::file_watch(&nothing),
        shell::shell_exec(&nothing),
    ]
}

fn plan_read(args: &AgentosRead, env: &ToolContext, _: &Arc<()>) -> PlanResult {
    let at = contained(env, &args.path)?;
    let title = format!("read {}", env.workspace.shown(&at.path));
    let most = args.max_bytes;
    let look = move |at: &ResolvedPath, consent: OpenConsent<'_>, ctx: &RunContext| {
        read(at, most, consent, &ctx.env)
    };
    Ok(Box::new(LookupPlan::new(at, title, ExpectedKind::File, look)))
}

fn read(
    at: &ResolvedPath,
    most: Option<u64>,
    consent: OpenConsent<'_>,
    env: &ToolContext,
) -> Result<ToolOutput, ToolError> {
    let mut opened = env.workspace.open(at, consent).map_err(|e| env.path_error(&e))?;
    let size = opened.size;
    if most.is_none() && size > READ {
        return Err(ToolError::hint(
            format!("the file has {size} bytes; without maxBytes at most {READ} are read"),
            "call again with maxBytes",
        ));
    }
    let mut bytes = Vec::new();
    let read = (&mut opened.file).take(most.unwrap_or(READ)).read_to_end(&mut bytes);
    read.map_err(|e| ToolError::new(e.to_string()))?;
    let whole = bytes.len() as u64 >= size;
    if !whole {
        bytes.truncate(whole_characters(&bytes));
    }
    let bytes = Arc::new(bytes);
    let file = TextFile::new(bytes.clone()).map_err(|_| {
        ToolError::new(format!("`{}` is not text ({size} bytes)", at.written)).because(CallFailure::NotText)
    })?;
    if whole {
        crate::files::lookup::credit_all(env, at, &file, blake3::hash(&bytes));
    }
    let DetectedEncoding { encoding, mark, stray, .. } = file.detected();
    // file_write writes exactly what it is given, so a byte order mark is a part of the content here.
    let content = format!("{}{}", if mark > 0 { MARK } else { "" }, file.text());
    let fields = json!({"content": content, "path": env.real_name(&at.path), "size": size});
    let note = match encoding {
        TextEncoding::Utf8 => stray.then(|| json!(STRAY)),
        other => Some(json!(format!("the file is {other}; file_write would make it UTF-8"))),
    };
    let line = format!("read {} ({} of {size} bytes)", env.workspace.shown(&at.path), bytes.len());
    Ok(ToolOutput::done(answer(fields, [("note", note)]), CallSummary::line(line)))
}

/// The length without a character that was cut in two at the end.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(e) if e.error_len().is_none() => e.valid_up_to(),
        _ => bytes.len(),
    }
}

fn plan_write(args: &AgentosWrite, env: &ToolContext, _: &Arc<()>) -> PlanResult {
    let at = contained(env, &args.path)?;
    let plan = WritePlan::of_text(
        at.written,
        args.content.clone(),
        WriteFileMode::Overwrite,
        UnreadPolicy::Allow,
        env,
    )?;
    Ok(Box::new(plan.exact()))
}

fn plan_patch(args: &AgentosPatch, env: &ToolContext, _: &Arc<()>) -> PlanResult {
    let at = contained(env, &args.path)?;
    patch_plan_of_one(&args.patch, at.written, UnreadPolicy::Allow, env)
}

fn plan_list(args: &AgentosList, env: &ToolContext, _: &Arc<()>) -> PlanResult {
    let at = contained(env, args.path.as_deref().unwrap_or("."))?;
    let depth = if args.recursive == Some(true) { usize::MAX } else { 1 };
    let title = format!("list {}", env.workspace.shown(&at.path));
    let look = move |at: &ResolvedPath, consent: OpenConsent<'_>, ctx: &RunContext| {
        let (rows, skipped) = rows(&ctx.env, at, consent, (WalkFilter::All, depth, ENTRIES))?;
        let entries: Vec<Value> = rows.iter().take(ENTRIES).map(entry).collect();
        let line = format!("list {}: {}", ctx.env.workspace.shown(&at.path), entries.len());
        let fields = json!({"path": ctx.env.real_name(&at.path), "entries": entries});
        let truncated = (rows.len() > ENTRIES).then(|| json!(format!("the first {ENTRIES} entries")));
        let unreadable = (skipped.unreadable > 0).then(|| json!(skipped.unreadable));
        let incomplete = gaps(&skipped).map(Value::from);
        let more = [("truncated", truncated), ("unreadable", unreadable), ("incomplete", incomplete)];
        Ok(ToolOutput::done(answer(fields, more), CallSummary::line(line)))
    };
    Ok(Box::new(LookupPlan::new(at, title, ExpectedKind::Directory, look)))
}

/// An entry that cannot be read reports its error and does not stop the listing.
fn entry(row: &ListingEntry) -> Value {
    let kind = match row.kind {
        WalkEntryKind::Directory => "directory",
        WalkEntryKind::Link => "symlink",
        WalkEntryKind::Special => "special",
        WalkEntryKind::File => "file",
    };
    match row.stat {
        Some(stat) => {
            json!({"name": row.relative.plain(), "type": kind, "size": stat.size, "modified": stat.time()})
        }
        None => json!({"name": row.relative.plain(), "type": kind, "error": "it could not be looked at"}),
    }
}

fn plan_search(args: &AgentosSearch, env: &ToolContext, _: &Arc<()>) -> PlanResult {
    let at = contained(env, args.path.as_deref().unwrap_or("."))?;
    let matcher = line_matcher(&args.pattern, |_| {})?;
    let glob = args.glob.as_deref().map(PathGlob::new).transpose()?;
    let title = format!("search {}", args.pattern);
    let look = move |at: &ResolvedPath, consent: OpenConsent<'_>, ctx: &RunContext| {
        let search = SearchQuery { matcher, context: 0, names_only: false, most: MATCHES };
        let found = search_below(ctx, at, consent, search, (glob.as_ref(), WalkFilter::Usual))?;
        let total: usize = found.files.iter().map(|f| f.matches).sum();
        let one = |file: &crate::files::search_results::FileHits| {
            let path = format!("{}{}", found.prefix, file.relative.plain());
            let of = move |hit: &crate::files::search_results::SearchHit| json!({"path": path, "line": hit.line, "text": hit.text()});
            file.hits.iter().map(of).collect::<Vec<_>>()
        };
        let matches: Vec<Value> = found.files.iter().flat_map(one).take(MATCHES).collect();
        let truncated = part_of(matches.len(), total, "matches").map(Value::from);
        let more = [("truncated", truncated), ("incomplete", gaps(&found.skipped).map(Value::from))];
        let fields = json!({"matches": matches, "total": total, "files": found.files.len()});
        let text = answer(fields, more);
        Ok(ToolOutput::done(text, CallSummary::line(format!("search: {total} matches"))))
    };
    Ok(Box::new(LookupPlan::new(at, title, ExpectedKind::Either, look)))
}
