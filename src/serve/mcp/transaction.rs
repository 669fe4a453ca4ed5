//! Tools for the transaction of the connection: what is pending, discard it, apply it, undo what was applied.
//!
//! They reach only the connection's own changes: what a person or another session applied is not theirs to undo. A change
//! that runs later, and a large loss, is never applied by them: only a person approves it.

use crate::conversation::{CallOutcome, ToolSpec};
use crate::permission::{Access, AccessLocation, Mode, Permit};
use crate::serve::changes::{self, ApplyRequest, UserReport};
use crate::text::{count, visible};
use crate::tools::{
    CallPreview, CallSummary, DisplayDetail, Plan, ReadScope, RunContext, RunFuture, Tool, ToolContext,
    ToolError, ToolOutput, ToolSchema, TouchedPaths,
};
use crate::workspace::{
    ApprovedBy, ChangeApproval, ChangeSet, FileChange, JournalEntry, LayerKind, TransactionLabel, View,
    Workspace, shown_patches, without_repositories,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) const APPLY: &str = "apply";
pub(super) const CHANGES: &str = "changes";
pub(super) const DISCARD: &str = "discard";
pub(super) const UNDO: &str = "undo";

/// The largest patch of one result, in bytes.
const LARGEST_PATCH: usize = 1 << 20;
/// Who approved what `apply` applies.
const APPROVED_BY: &str = "placet mcp serve --allow-apply";
const BY_A_PERSON: &str = "a person applies these with `placet apply`";

#[derive(Debug, Deserialize, JsonSchema)]
struct ListArgs {
    paths: Option<Vec<String>>,
    patch: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct PathArgs {
    paths: Option<Vec<String>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct UndoArgs {
    calls: Option<usize>,
    path: Option<String>,
    rest: Option<bool>,
}

/// The tools that this server can offer: what is never pending is neither listed nor applied.
pub(super) fn tools(mode: Mode, allow_apply: bool) -> Vec<Arc<dyn Tool>> {
    let names: &[&str] = match (mode, allow_apply) {
        (Mode::None | Mode::Read, _) => &[],
        (Mode::Ask | Mode::Write, true) => &[CHANGES, DISCARD, APPLY, UNDO],
        (Mode::Ask | Mode::Write, false) => &[CHANGES, DISCARD, UNDO],
        (Mode::Unrestricted, _) => &[UNDO],
    };
    names.iter().map(|name| Arc::new(TransactionTool::named(name)) as Arc<dyn Tool>).collect()
}

struct TransactionTool(ToolSchema);

impl TransactionTool {
    fn named(name: &str) -> TransactionTool {
        TransactionTool(match name {
            CHANGES => ToolSchema::of::<ListArgs>(name, include_str!("../../../prompts/tools/changes.md")),
            DISCARD => ToolSchema::of::<PathArgs>(name, include_str!("../../../prompts/tools/discard.md")),
            APPLY => ToolSchema::of::<PathArgs>(name, include_str!("../../../prompts/tools/apply.md")),
            _ => ToolSchema::of::<UndoArgs>(UNDO, include_str!("../../../prompts/tools/undo.md")),
        })
    }
}

impl Tool for TransactionTool {
    fn spec(&self) -> ToolSpec {
        self.0.spec()
    }

    fn name(&self) -> String {
        self.0.name()
    }

    fn touches(&self, _: &Value) -> TouchedPaths {
        TouchedPaths { anything: self.name() != CHANGES, ..TouchedPaths::default() }
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        let view = env.workspace.view().ok_or_else(|| ToolError::new("this server has no view"))?.clone();
        let pending_path =
            |path: &String| env.workspace.pending_path(path).map_err(|e| ToolError::new(e.to_string()));
        let resolved = |paths: Option<Vec<String>>| -> Result<Vec<PathBuf>, ToolError> {
            paths.unwrap_or_default().iter().map(pending_path).collect()
        };
        let action = match self.name().as_str() {
            CHANGES => {
                let ListArgs { paths, patch } = self.0.parse(input)?;
                TransactionAction::List { paths: resolved(paths)?, with_patch: patch == Some(true) }
            }
            DISCARD => {
                let PathArgs { paths } = self.0.parse(input)?;
                TransactionAction::Discard { paths: resolved(paths)? }
            }
            APPLY => {
                let PathArgs { paths } = self.0.parse(input)?;
                TransactionAction::Apply { paths: resolved(paths)? }
            }
            _ => {
                let UndoArgs { calls, path, rest } = self.0.parse(input)?;
                if calls == Some(0) || calls.is_some() && path.is_some() {
                    return Err(ToolError::new("undo needs `calls` of 1 or more, or a `path`, or neither"));
                }
                let path = path.as_ref().map(pending_path).transpose()?;
                let is_plain = calls.is_none() && path.is_none();
                let entries = own_entries(&view, calls.unwrap_or(1), path.as_deref());
                TransactionAction::Undo { entries, path, rest: rest == Some(true), is_plain }
            }
        };
        let reach = action.accesses(&view).map_err(|e| ToolError::new(unread(&e)))?;
        Ok(Box::new(TransactionPlan { action, view, reach }))
    }
}

/// What this connection applied in its last `calls` calls, or in the last one that changed `path`.
fn own_entries(view: &View, calls: usize, path: Option<&Path>) -> Vec<JournalEntry> {
    let name = view.dir().file_name().unwrap_or_default().to_string_lossy();
    let own = format!("{name}-call-");
    let is_own = |turn: &Vec<JournalEntry>| turn.first().is_some_and(|e| e.label.turn.starts_with(&own));
    let touches =
        |turn: &Vec<JournalEntry>| path.is_none_or(|path| turn.iter().any(|entry| entry.touches(path)));
    let turns = view.journal().turns().into_iter().filter(|turn| is_own(turn) && touches(turn));
    turns.take(calls).flatten().collect()
}

enum TransactionAction {
    List { paths: Vec<PathBuf>, with_patch: bool },
    Discard { paths: Vec<PathBuf> },
    Apply { paths: Vec<PathBuf> },
    Undo { entries: Vec<JournalEntry>, path: Option<PathBuf>, rest: bool, is_plain: bool },
}

impl TransactionAction {
    /// Rules about files apply to the contents that are shown, and to what is written into the workspace.
    fn accesses(&self, view: &View) -> io::Result<Vec<Access>> {
        let pending = || view.changes(LayerKind::Pending);
        let reads = |path: &Path| Access::Read { path: path.into(), place: AccessLocation::Inside };
        let writes = |path: &Path| Access::Write { path: path.into(), place: AccessLocation::Inside };
        let paths: Vec<Access> = match self {
            TransactionAction::List { with_patch: false, .. } | TransactionAction::Discard { .. } => {
                Vec::new()
            }
            TransactionAction::List { paths, with_patch: true } => {
                let pending = pending()?;
                let listed = pending.changes.iter().filter(|change| is_listed(change, paths));
                listed.map(|change| reads(&change.path)).collect()
            }
            TransactionAction::Apply { paths } => {
                let shown = view.shown_as(pending()?);
                let chosen = changes::choice(&shown, paths, &|path| path.into()).unwrap_or_default();
                let permitted = shown.permitted(chosen, &ChangeApproval::none());
                permitted.choice.keys().map(|path| writes(path)).collect()
            }
            TransactionAction::Undo { entries, path, .. } => {
                let is_meant = |entry: &JournalEntry, changed: &Path| {
                    path.as_ref().is_none_or(|path| entry.is_meant_by(path, changed))
                };
                let touched = entries.iter().flat_map(|entry| entry.changes.iter().map(move |c| (entry, c)));
                let touched = touched.filter(|(entry, change)| is_meant(entry, &change.path));
                touched.map(|(_, change)| writes(&change.path)).collect()
            }
        };
        Ok(if paths.is_empty() { vec![Access::Session] } else { paths })
    }

    fn title(&self) -> &'static str {
        match self {
            TransactionAction::List { .. } => CHANGES,
            TransactionAction::Discard { .. } => DISCARD,
            TransactionAction::Apply { .. } => APPLY,
            TransactionAction::Undo { .. } => UNDO,
        }
    }

    fn carry_out(self, view: &View, workspace: &Workspace) -> UserReport {
        let shown = |path: &Path| workspace.shortened(path);
        match self {
            TransactionAction::List { paths, with_patch } => list(view, workspace, &paths, with_patch),
            TransactionAction::Discard { paths } => match changes::shown(view) {
                Ok(of) => changes::discard(of, &paths, "the tool `undo`", &shown),
                Err(report) => report,
            },
            TransactionAction::Apply { paths } => {
                let of = match changes::shown(view) {
                    Ok(of) => of,
                    Err(report) => return report,
                };
                let label = TransactionLabel { assent: ApprovedBy::you(APPROVED_BY), ..view.label() };
                let wanted = ApplyRequest { paths, ..ApplyRequest::default() };
                let mut report = changes::apply(of, &wanted, label, "the tool `undo`", &shown);
                if !report.waiting.is_empty() || !report.losses.is_empty() {
                    report.lines.push(BY_A_PERSON.into());
                }
                report
            }
            TransactionAction::Undo { entries, path, rest, is_plain } => {
                // Asked first: a discard after the last apply is the newest action.
                let own = std::slice::from_ref(view);
                let restored = is_plain.then(|| changes::undo_discard(own, view, &shown)).flatten();
                let label = TransactionLabel { assent: ApprovedBy::you("the tool `undo`"), ..view.label() };
                match restored {
                    Some(report) => report,
                    None if entries.is_empty() => UserReport {
                        lines: vec!["nothing to undo: this connection has applied nothing there".into()],
                        done: true,
                        ..UserReport::default()
                    },
                    None => {
                        let how = (rest, "undo(rest: true)");
                        changes::undo_entries(view, entries, path.as_deref(), how, &label, &shown)
                    }
                }
            }
        }
    }
}

fn unread(error: &io::Error) -> String {
    format!("cannot read the pending changes: {error}")
}

/// True at or below `paths`; for everything, if there are none.
fn is_listed(change: &FileChange, paths: &[PathBuf]) -> bool {
    paths.is_empty() || paths.iter().any(|path| change.path.starts_with(path))
}

fn list(view: &View, workspace: &Workspace, paths: &[PathBuf], with_patch: bool) -> UserReport {
    let of = match view.changes(LayerKind::Pending) {
        // A part by itself does not say with what its files wait.
        Ok(set) => view.shown_as(set).part(|change| is_listed(change, paths)),
        Err(e) => return UserReport { lines: vec![unread(&e)], ..UserReport::default() },
    };
    if of.is_empty() {
        return UserReport { lines: vec!["nothing is pending".into()], done: true, ..UserReport::default() };
    }
    let shown = |path: &Path| workspace.shortened(path);
    let losses = of.classes().losses.iter().map(|loss| loss.words(&shown));
    let lines = losses.chain(of.lines(shown));
    let mut lines: Vec<String> = lines.map(|line| visible::guard_line(&line).into_owned()).collect();
    if with_patch {
        lines.extend(patch_lines(of.set(), view, workspace));
    }
    UserReport { lines, done: true, ..UserReport::default() }
}

fn patch_lines(set: &ChangeSet, view: &View, workspace: &Workspace) -> Vec<String> {
    let (part, of_repositories) = without_repositories(set);
    let (mut text, mut left) = (String::new(), 0);
    for patch in shown_patches(&part, view.objects(), workspace.cwd()) {
        // The first one is shown in any case, and cut.
        if !text.is_empty() && text.len() + patch.bytes.len() > LARGEST_PATCH {
            left += 1;
            continue;
        }
        text.push_str(&String::from_utf8_lossy(&patch.bytes));
    }
    let is_cut = text.len() > LARGEST_PATCH;
    text.truncate(text.floor_char_boundary(LARGEST_PATCH));
    let mut lines = vec![String::new(), text.trim_end().into()];
    if is_cut {
        lines.push(format!("[the patch is cut after {LARGEST_PATCH} bytes]"));
    }
    if left > 0 {
        let files = count::of(left, "path");
        lines.push(format!(
            "[{files} not shown: the patch would have more than {LARGEST_PATCH} bytes; name them in `paths`]"
        ));
    }
    if of_repositories > 0 {
        let files = count::of(of_repositories, "file");
        lines.push(format!("[not in the patch: {files} of git repositories]"));
    }
    lines
}

struct TransactionPlan {
    action: TransactionAction,
    view: View,
    reach: Vec<Access>,
}

impl Plan for TransactionPlan {
    fn reach(&self) -> Vec<Access> {
        self.reach.clone()
    }

    fn title(&self) -> String {
        self.action.title().into()
    }

    fn prepare(&mut self, _: &ToolContext, _: ReadScope) -> Result<CallPreview, ToolError> {
        Ok(CallPreview { line: self.title(), detail: DisplayDetail::None })
    }

    fn run(self: Box<Self>, _: Permit, ctx: RunContext) -> RunFuture {
        let title = self.title();
        Box::pin(async move {
            let work = move || self.action.carry_out(&self.view, &ctx.env.workspace);
            let report = tokio::task::spawn_blocking(work).await.unwrap_or_else(|e| UserReport {
                lines: vec![format!("the tool failed: {e}")],
                ..UserReport::default()
            });
            let text = report.lines.join("\n");
            match report.done {
                true => ToolOutput::done(text, CallSummary::line(title)),
                false => ToolOutput {
                    outcome: CallOutcome::Failed,
                    ..ToolOutput::done(format!("error: {text}"), CallSummary::failure(&title, &text))
                },
            }
        })
    }
}
