//! operations: several file operations in one call, either all of them or as many as succeed.

use super::file_operation::{FileOperation, ReplacePolicy};
use crate::arguments::ToolSchema;
use crate::blocking::s;
use crate::files::edit::UnreadPolicy;
use crate::files::staged_files::StagedFiles;
use crate::files::staged_plan::{StagedPlan, StagedReport};
use crate::files::write::WriteEncoding;
use crate::{Plan, Tool, ToolContext, ToolError, TouchedPaths};
use placet_text::conversation::ToolSpec;
use placet_text::text::RangeSet;
use placet_workspace::{OpenConsent, ResolvedPath, TextFile};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::fmt::Write;
use std::sync::Arc;

/// The most operations of one call.
pub(crate) const MOST: usize = 100_000;
/// How much of the content that was read is returned, in bytes.
const READ: usize = 20_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OperationKind {
    Read,
    Write,
    Create,
    Append,
    Edit,
    Delete,
    Move,
    Copy,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct OperationArgs {
    op: OperationKind,
    path: String,
    #[schemars(extend("contentMediaType" = "text/plain"))]
    content: Option<String>,
    #[schemars(extend("contentMediaType" = "text/plain"))]
    old_string: Option<String>,
    #[schemars(extend("contentMediaType" = "text/plain"))]
    new_string: Option<String>,
    replace_all: Option<bool>,
    to: Option<String>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Args {
    operations: Vec<OperationArgs>,
    atomic: Option<bool>,
    force: Option<bool>,
    scratchpad: Option<String>,
}

pub(crate) struct OperationsTool(ToolSchema);

impl Default for OperationsTool {
    fn default() -> OperationsTool {
        OperationsTool(ToolSchema::of::<Args>(
            "operations",
            include_str!("../../prompts/tools/operations.md"),
        ))
    }
}

impl Tool for OperationsTool {
    fn spec(&self) -> ToolSpec {
        self.0.spec()
    }

    fn name(&self) -> String {
        self.0.name()
    }

    fn touches(&self, input: &Value) -> TouchedPaths {
        let steps = input.get("operations").and_then(Value::as_array);
        let mut touches = TouchedPaths::default();
        for step in steps.into_iter().flatten() {
            let path = |name: &str| step.get(name).and_then(Value::as_str).map(String::from);
            match step.get("op").and_then(Value::as_str) {
                Some("read") => touches.reads.extend(path("path")),
                _ => touches.writes.extend(path("path")),
            }
            touches.writes.extend(path("to"));
        }
        touches
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        let args: Args = self.0.parse(input)?;
        let count = args.operations.len();
        if count == 0 || count > MOST {
            return Err(ToolError::new(format!("{count} operations: one call takes 1 to {MOST}")));
        }
        let failing = if args.atomic == Some(false) { FailurePolicy::GoesOn } else { FailurePolicy::Stops };
        let resolve = |path: &str| match failing {
            FailurePolicy::Stops => env.resolve_staged(path),
            FailurePolicy::GoesOn => env.resolve_staged(path).map(ResolvedPath::of_own_step),
        };
        let numbered =
            |(n, step): (usize, OperationArgs)| operation(step, resolve).map_err(|e| at_step(n, count, e));
        let operations: Vec<FileOperation> =
            args.operations.into_iter().enumerate().map(numbered).collect::<Result<_, _>>()?;
        let owned = |all: Vec<&ResolvedPath>| all.into_iter().cloned().collect::<Vec<_>>();
        let writes: Vec<ResolvedPath> = operations.iter().flat_map(|o| owned(o.writes())).collect();
        let reads: Vec<ResolvedPath> = operations.iter().flat_map(|o| owned(o.reads())).collect();
        let title = format!("{count} operation{}", s(count));
        let unseen = operations.iter().map(|o| format!("{}\n", words(o, env))).collect();
        let unread = if args.force == Some(true) { UnreadPolicy::Allow } else { UnreadPolicy::Refuse };
        let prints = args.scratchpad.is_none();
        let work = move |env: &ToolContext, draft: &mut StagedFiles, consent: OpenConsent<'_>| {
            perform(&operations, env, draft, consent, (unread, failing, prints))
        };
        Ok(Box::new(StagedPlan::new(title, &writes, &reads, unseen, Box::new(work))))
    }
}

/// What the other operations do when an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FailurePolicy {
    Stops,
    GoesOn,
}

fn operation(
    step: OperationArgs,
    resolve: impl Fn(&str) -> Result<ResolvedPath, ToolError>,
) -> Result<FileOperation, ToolError> {
    let at = resolve(&step.path)?;
    let needed = |value: Option<String>, name: &str| {
        value.ok_or_else(|| ToolError::new(format!("`{name}` is missing")))
    };
    Ok(match step.op {
        OperationKind::Read => FileOperation::Read { at },
        OperationKind::Write => FileOperation::Write {
            at,
            content: needed(step.content, "content")?,
            form: WriteEncoding::OfTheFile,
        },
        OperationKind::Create => FileOperation::Create { at, content: needed(step.content, "content")? },
        OperationKind::Append => FileOperation::Append {
            at,
            content: needed(step.content, "content")?,
            form: WriteEncoding::OfTheFile,
        },
        OperationKind::Edit => FileOperation::Replace {
            at,
            old: needed(step.old_string, "old_string")?,
            new: needed(step.new_string, "new_string")?,
            how: if step.replace_all == Some(true) { ReplacePolicy::All } else { ReplacePolicy::One },
        },
        OperationKind::Delete => FileOperation::Delete { at },
        OperationKind::Move => FileOperation::Move { from: at, to: resolve(&needed(step.to, "to")?)? },
        OperationKind::Copy => FileOperation::Copy { from: at, to: resolve(&needed(step.to, "to")?)? },
    })
}

fn perform(
    operations: &[FileOperation],
    env: &ToolContext,
    draft: &mut StagedFiles,
    consent: OpenConsent<'_>,
    (unread, failing, prints): (UnreadPolicy, FailurePolicy, bool),
) -> Result<StagedReport, ToolError> {
    let (mut text, mut failed, mut room) = (String::new(), 0, READ);
    for (number, one) in operations.iter().enumerate() {
        let done = match one.perform(env, draft, consent, unread) {
            Ok(done) => done,
            Err(e) if failing == FailurePolicy::Stops => return Err(at_step(number, operations.len(), e)),
            Err(e) => {
                failed += 1;
                let _ = writeln!(text, "{}. failed: {}", number + 1, e.message);
                continue;
            }
        };
        let _ = writeln!(text, "{}. {}", number + 1, words(one, env));
        if let (FileOperation::Read { at }, Some(content)) = (one, &done.content) {
            let lines = read_out(content, &mut room, &mut text);
            if prints {
                draft.print(at, RangeSet::of(0..lines));
            }
        }
    }
    let changed = draft.changes().count();
    let _ = writeln!(
        text,
        "[{} done, {failed} failed, {changed} file{} changed]",
        operations.len() - failed,
        s(changed)
    );
    Ok(StagedReport { text, ..StagedReport::default() })
}

/// Appends as many whole lines of a content to the answer as there is room for, and returns their number.
fn read_out(content: &Arc<Vec<u8>>, room: &mut usize, text: &mut String) -> usize {
    let file = TextFile::new(content.clone()).ok();
    let all = file.as_ref().map_or_else(|| String::from_utf8_lossy(content), TextFile::text);
    let cut = crate::output::floor(&all, *room);
    *room -= cut;
    let part = all.get(..cut).unwrap_or_default();
    text.push_str(part);
    if cut < all.len() {
        let _ = write!(text, "\n[... {} more bytes: use read_file]", all.len() - cut);
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    match &file {
        None => 0,
        Some(file) if cut == all.len() => file.line_count(),
        Some(_) => part.matches('\n').count(),
    }
}

fn at_step(number: usize, count: usize, error: ToolError) -> ToolError {
    let message = format!("operation {} of {count}: {}; nothing was changed", number + 1, error.message);
    ToolError { message, ..error }
}

fn words(one: &FileOperation, env: &ToolContext) -> String {
    let name = |at: &ResolvedPath| env.workspace.shown(&at.path);
    match one {
        FileOperation::Read { at } => format!("read {}", name(at)),
        FileOperation::Write { at, content, .. } => format!("write {}: {} bytes", name(at), content.len()),
        FileOperation::Create { at, content } => format!("create {}: {} bytes", name(at), content.len()),
        FileOperation::Append { at, content, .. } => format!("append {}: {} bytes", name(at), content.len()),
        FileOperation::Replace { at, .. } => format!("edit {}", name(at)),
        FileOperation::Delete { at } => format!("delete {}", name(at)),
        FileOperation::Move { from, to } => format!("move {} to {}", name(from), name(to)),
        FileOperation::Copy { from, to } => format!("copy {} to {}", name(from), name(to)),
    }
}
