//! The text editor tool that one vendor trains its models on, and the shell tool that goes with it.

use super::super::scratchpad::ScratchpadTool;
use super::super::{
    CallFailure, EditedFile, OutputFacts, PlanResult, RunContext, Tool, ToolContext, ToolError, ToolOutput,
    TouchedPaths,
};
use super::foreign_tool::{FinishedCall, ForeignTool, ToolSetState};
use crate::blocking::s;
use crate::command::run;
use crate::command::run::RunPlan;
use crate::files::edit::{EditAnswer, EditPlan, EditRequest, MatchSelection, UnreadPolicy};
use crate::files::edit_errors::{bad_text, changed, unshown};
use crate::files::lookup::{ExpectedKind, LookupPlan, credit_all, load_text, rows, with_gaps};
use crate::files::staged_files::StagedFiles;
use crate::files::staged_plan::{StagedPlan, StagedReport};
use crate::files::write::{WriteFileMode, WritePlan};
use placet_workspace::{
    OpenConsent, ReadStatus, Replacement, ResolvedPath, TextFile, WalkEntryKind, WalkFilter,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::HashMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// How many entries of a directory are shown, and how many edits of a file can be undone.
const ENTRIES: usize = 2000;
const KEPT: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TextEditorCommand {
    View,
    Create,
    StrReplace,
    Insert,
    UndoEdit,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Args {
    command: TextEditorCommand,
    path: String,
    /// view: first and last line, from 1; -1 for the last stands for the end.
    view_range: Option<Vec<i64>>,
    /// create
    #[schemars(extend("contentMediaType" = "text/plain"))]
    file_text: Option<String>,
    /// str_replace
    #[schemars(extend("contentMediaType" = "text/plain"))]
    old_str: Option<String>,
    /// str_replace; for insert, as insert_text
    #[schemars(extend("contentMediaType" = "text/plain"))]
    new_str: Option<String>,
    /// insert: the line after which the text goes, 0 for the beginning.
    insert_line: Option<i64>,
    /// insert
    #[schemars(extend("contentMediaType" = "text/plain"))]
    insert_text: Option<String>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct TextEditorBash {
    /// Needed unless `restart` is set.
    command: Option<String>,
    /// Every command starts in a shell of its own, so there is nothing to restart.
    restart: Option<bool>,
}

/// The contents before each edit of this session, for undo_edit.
#[derive(Default)]
struct TextEditorHistory(Mutex<HashMap<PathBuf, Vec<EditedFile>>>);

impl ToolSetState for TextEditorHistory {}

pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    let past = Arc::new(TextEditorHistory::default());
    let description = "View, create and edit text files: view, create, str_replace, insert, undo_edit.";
    let editor = ForeignTool::new("str_replace_based_edit_tool", description, &past, plan)
        .touching(|input, _| match input.get("command").and_then(serde_json::Value::as_str) {
            Some("view") => TouchedPaths::reading(input, "path", "."),
            _ => TouchedPaths::writing(input, "path"),
        })
        .rule_of(|input| match input.get("command").and_then(serde_json::Value::as_str) {
            Some("view") => Some("read_file"),
            Some("create") => Some("write_file"),
            _ => Some("edit_file"),
        })
        .saying(said)
        .failing(|args, _, _, error| failed(args, error));
    let bash = ForeignTool::new("bash", "Run a shell command.", &past, shell).rule("run_command").saying(
        |_, _, said| {
            said.command_text(|_, code| if code == 0 { String::new() } else { format!("[exit code {code}]") })
        },
    );
    // The last tool is for results that are too long to show.
    vec![editor.build(), bash.build(), Arc::new(ScratchpadTool::default())]
}

fn plan(args: &Args, env: &ToolContext, past: &Arc<TextEditorHistory>) -> PlanResult {
    let missing = |name: &str| ToolError::new(format!("`{name}` is missing: this command needs it"));
    let needed = |value: &Option<String>, name: &str| value.clone().ok_or_else(|| missing(name));
    let path = args.path.clone();
    match args.command {
        TextEditorCommand::View => view(args, env),
        TextEditorCommand::Create => {
            let text = needed(&args.file_text, "file_text")?;
            Ok(Box::new(WritePlan::of_text(path, text, WriteFileMode::Overwrite, UnreadPolicy::Refuse, env)?))
        }
        TextEditorCommand::StrReplace => {
            let old = needed(&args.old_str, "old_str")?;
            if old.is_empty() {
                return Err(ToolError::hint("`old_str` is empty", "name the text to replace, or use insert"));
            }
            let new = args.new_str.clone().unwrap_or_default();
            let (which, unread, answer) = (MatchSelection::Single, UnreadPolicy::Allow, EditAnswer::Words);
            let edit = EditRequest { path, old, new, which, unread, answer };
            Ok(Box::new(EditPlan::new(edit, env)?))
        }
        TextEditorCommand::Insert => {
            let text = args.insert_text.clone().or_else(|| args.new_str.clone());
            let line = args.insert_line.ok_or_else(|| missing("insert_line"))?;
            insert(env.resolve(&path)?, line, needed(&text, "insert_text")?, env)
        }
        TextEditorCommand::UndoEdit => undo(env.resolve(&path)?, env, past),
    }
}

fn view(args: &Args, env: &ToolContext) -> PlanResult {
    let at = env.resolve(&args.path)?;
    let title = format!("view {}", env.workspace.shown(&at.path));
    let range = args.view_range.clone();
    let look = move |at: &ResolvedPath, consent: OpenConsent<'_>, ctx: &RunContext| match ctx
        .env
        .workspace
        .is_dir(&at.path)
    {
        true if range.is_some() => {
            Err(ToolError::hint("`view_range` is for files", "view the directory without it"))
        }
        true => directory(at, consent, &ctx.env),
        false => lines(at, range.as_deref(), consent, &ctx.env),
    };
    Ok(Box::new(LookupPlan::new(at, title, ExpectedKind::Either, look)))
}

fn directory(
    at: &ResolvedPath,
    consent: OpenConsent<'_>,
    env: &ToolContext,
) -> Result<ToolOutput, ToolError> {
    let (rows, skipped) = rows(env, at, consent, (WalkFilter::Usual, 2, ENTRIES))?;
    let name = env.full_name(&at.path);
    let name = name.trim_end_matches('/');
    let mut text = format!("{name}/\n");
    for row in rows.iter().take(ENTRIES) {
        let slash = if row.kind == WalkEntryKind::Directory { "/" } else { "" };
        let _ = writeln!(text, "{name}/{}{slash}", row.relative.shown());
    }
    if rows.len() > ENTRIES {
        let _ = writeln!(text, "[cut at {ENTRIES} entries: view a directory below]");
    }
    let line = format!("view {}", env.workspace.shown(&at.path));
    Ok(with_gaps(ToolOutput::lookup(line, text), &skipped))
}

fn lines(
    at: &ResolvedPath,
    range: Option<&[i64]>,
    consent: OpenConsent<'_>,
    env: &ToolContext,
) -> Result<ToolOutput, ToolError> {
    let (file, hash) = load_text(env, at, consent)?;
    let total = file.line_count();
    let (first, last) = match range {
        None => (1, i64::try_from(total).unwrap_or(i64::MAX)),
        Some(&[first, -1]) => (first, i64::try_from(total).unwrap_or(i64::MAX)),
        Some(&[first, last]) => (first, last),
        Some(_) => return Err(ToolError::new("`view_range` must be two numbers: first and last line")),
    };
    let bad = first < 1 || last < first || usize::try_from(first).is_ok_and(|f| f > total.max(1));
    if bad && total > 0 {
        return Err(ToolError::worded(format!(
            "Error: Invalid view_range [{first}, {last}]: the file has {total} lines"
        )));
    }
    let first = usize::try_from(first - 1).unwrap_or(0);
    let last = usize::try_from(last).unwrap_or(total).min(total);
    let (mut text, mut shown) = (String::new(), first);
    for range in file.lines(first).take(last.saturating_sub(first)) {
        let row = format!("{:6}\t{}\n", shown + 1, file.line_text(&range));
        if text.len() + row.len() > env.limits.inline().saturating_sub(200) && shown > first {
            break;
        }
        text.push_str(&row);
        shown += 1;
    }
    match range {
        None if shown == total => credit_all(env, at, &file, hash),
        _ => env.ledger().record_read(&at.path, file.bytes(), hash, first..shown),
    }
    if shown < last {
        let _ = writeln!(
            text,
            "[lines {}-{shown} of {total}: view_range [{}, -1] shows more]",
            first + 1,
            shown + 1
        );
    }
    let line = format!("view {} {}-{shown}", env.workspace.shown(&at.path), first + 1);
    Ok(ToolOutput::lookup(line, text))
}

fn insert(at: ResolvedPath, line: i64, text: String, env: &ToolContext) -> PlanResult {
    let title = format!("insert into {}", env.workspace.shown(&at.path));
    let places = [at.clone()];
    let unseen = format!("after line {line}:\n{text}");
    let work = move |env: &ToolContext, draft: &mut StagedFiles, consent: OpenConsent<'_>| {
        let bytes = draft.bytes(env, &at, consent).map_err(|e| env.path_error(&e))?;
        let file = TextFile::new(bytes).map_err(|_| ToolError::new("only text can be edited"))?;
        let total = file.line_count();
        let Some(after) = usize::try_from(line).ok().filter(|line| *line <= total) else {
            return Err(ToolError::worded(format!(
                "Error: Invalid insert_line {line}: it must be from 0 to {total}, the number of lines"
            )));
        };
        let at_end = after == total && total > 0 && !file.ends_with_newline();
        let text = match (at_end, text.ends_with('\n')) {
            (true, _) => format!("\n{}", text.trim_end_matches('\n')),
            (false, true) => text.clone(),
            (false, false) => format!("{text}\n"),
        };
        same_as_read(env, &at, &file)?;
        let start = file.start_of(after);
        let inserted = Replacement::of_text("", &text);
        let spliced =
            file.splice(std::slice::from_ref(&(start..start)), &inserted).map_err(|e| bad_text(&e))?;
        draft.put(env, &at, spliced.bytes, consent).map_err(|e| env.path_error(&e))?;
        let count = text.matches('\n').count();
        Ok(StagedReport {
            text: format!("Successfully inserted {count} line{} after line {after}.", s(count)),
            ..StagedReport::default()
        })
    };
    Ok(Box::new(StagedPlan::new(title, &places, &[], unseen, Box::new(work))))
}

/// A line number refers to the file as it was read: after a change by others it would refer to another line.
fn same_as_read(env: &ToolContext, at: &ResolvedPath, file: &TextFile) -> Result<(), ToolError> {
    let (index, hash) = (file.index(), blake3::hash(file.bytes()));
    let all = 0..index.len();
    let lines = |range: &std::ops::Range<usize>| file.part(index.bytes_of(range));
    let standing = env.ledger().read_status(&at.path, file.bytes(), hash, std::slice::from_ref(&all), lines);
    match standing {
        ReadStatus::Changed(change) => Err(changed(env, at, &at.written, file, hash, &change)),
        ReadStatus::Unshown(lines) => Err(unshown(env, at, &at.written, (file, hash), &lines)),
        ReadStatus::Seen | ReadStatus::Part { .. } | ReadStatus::Never => Ok(()),
    }
}

fn undo(at: ResolvedPath, env: &ToolContext, past: &Arc<TextEditorHistory>) -> PlanResult {
    let title = format!("undo edit of {}", env.workspace.shown(&at.path));
    let last = past.last(&at.path);
    let Some(last) = last else {
        return Err(ToolError::worded(format!("Error: No edit history found for {}", at.written)));
    };
    let places = [at.clone()];
    let work = move |env: &ToolContext, draft: &mut StagedFiles, consent: OpenConsent<'_>| {
        let now = draft.held(env, &at, consent).map_err(|e| env.path_error(&e))?.bytes().cloned();
        if now != last.after {
            return Err(ToolError::hint(
                format!("`{}` changed since that edit", at.written),
                "view it, and put back by str_replace what should be put back",
            ));
        }
        let put = match &last.before {
            Some(bytes) => draft.put(env, &at, bytes.to_vec(), consent),
            None => draft.remove(env, &at, consent),
        };
        put.map_err(|e| env.path_error(&e))?;
        Ok(StagedReport {
            text: format!("Last edit to {} undone successfully.", at.written),
            ..StagedReport::default()
        })
    };
    Ok(Box::new(StagedPlan::new(title, &places, &[], String::new(), Box::new(work))))
}

impl TextEditorHistory {
    fn last(&self, path: &std::path::Path) -> Option<EditedFile> {
        let past = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        past.get(path).and_then(|edits| edits.last().cloned())
    }

    fn record(&self, command: TextEditorCommand, changes: &[EditedFile]) {
        let mut past = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // An edit that changed nothing is none: to undo it would change nothing either.
        for change in changes.iter().filter(|change| change.before != change.after) {
            let edits = past.entry(change.path.clone()).or_default();
            if command == TextEditorCommand::UndoEdit {
                edits.pop();
                continue;
            }
            if edits.len() >= KEPT {
                edits.remove(0);
            }
            edits.push(change.clone());
        }
    }
}

fn said(args: &Args, past: &TextEditorHistory, said: &FinishedCall<'_>) -> Option<String> {
    let OutputFacts::Changed { changes, .. } = &said.output.facts else { return None };
    past.record(args.command, changes);
    match args.command {
        TextEditorCommand::StrReplace => Some("Successfully replaced text at exactly one location.".into()),
        TextEditorCommand::Create => Some(format!("File created successfully at: {}", args.path)),
        _ => None,
    }
}

fn failed(args: &Args, error: &ToolError) -> Option<String> {
    let rest = |words: &str| format!("{words}\n{}", error.message.replace("old_string", "old_str"));
    match (args.command, error.fault) {
        (_, CallFailure::Missing) => Some("Error: File not found".into()),
        (TextEditorCommand::StrReplace, CallFailure::TextMissing) => {
            Some(rest("Error: No match found for replacement. Please check your text and try again."))
        }
        (TextEditorCommand::StrReplace, CallFailure::Ambiguous(times)) => Some(format!(
            "Error: Found {times} matches for replacement text. Please provide more context to make a unique match."
        )),
        (TextEditorCommand::Create, CallFailure::Unread) => {
            Some(format!("Error: {}\nview it first, then create it again", error.message))
        }
        (_, CallFailure::Denied) => Some(format!("Error: Permission denied. {}", error.message)),
        _ => None,
    }
}

fn shell(args: &TextEditorBash, env: &ToolContext, _: &Arc<TextEditorHistory>) -> PlanResult {
    if args.restart == Some(true) {
        return Err(ToolError::hint(
            "there is nothing to restart",
            "each command starts in a shell of its own",
        ));
    }
    let Some(command) = args.command.clone() else {
        return Err(ToolError::new("`command` is missing: it must be a string"));
    };
    Ok(Box::new(RunPlan::new(run::Args { command, ..run::Args::default() }, env)?))
}
