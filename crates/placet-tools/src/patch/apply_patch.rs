//! apply_patch: changes several files by one patch, all of them or none.
//!
//! The patch is worked out on staged files: what the person is shown is what is written. The paths of the patch must be
//! inside the workspace. The lines that a patch quotes exactly count as read; where the patch proves nothing (fuzz,
//! hunks without context), the ledger decides as it does for an edit.

use super::resolve::{ResolvedFilePatch, steps};
use super::stage::{PatchReport, work};
use crate::arguments::ToolSchema;
use crate::blocking::{blocking, consent_of, s};
use crate::files::edit::UnreadPolicy;
use crate::files::staged_files::StagedFiles;
use crate::files::staged_plan::{StagedPlan, StagedReport, shown};
use crate::{
    CallPreview, CallSummary, DisplayDetail, Plan, ReadScope, RunContext, RunFuture, Tool, ToolContext,
    ToolError, ToolOutput, TouchedPaths,
};
use placet_permission::{Access, Permit};
use placet_text::conversation::ToolSpec;
use placet_text::text::for_model;
use placet_text::text::patch::{Options, PatchSet, StripLevels, parse};
use placet_workspace::{OpenConsent, ResolvedPath};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

/// How much of the diff is returned to the model, in bytes, and how much of the patch is shown in a question.
const MODEL_DIFF: usize = 3000;
const UNSEEN: usize = 1 << 20;
/// The most fuzz, as many lines as a diff usually has of context.
const MOST_FUZZ: u64 = 3;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Args {
    #[schemars(extend("contentMediaType" = "text/plain"))]
    patch: String,
    /// For a patch that names no file.
    path: Option<String>,
    /// Lines of context that need not match.
    fuzz: Option<u64>,
    /// Only return the diff.
    dry_run: Option<bool>,
    #[serde(rename = "scratchpad")]
    _scratchpad: Option<String>,
}

pub(crate) struct ApplyPatch(ToolSchema);

impl Default for ApplyPatch {
    fn default() -> ApplyPatch {
        ApplyPatch(ToolSchema::of::<Args>("apply_patch", include_str!("../../prompts/tools/apply_patch.md")))
    }
}

impl Tool for ApplyPatch {
    fn spec(&self) -> ToolSpec {
        self.0.spec()
    }

    fn name(&self) -> String {
        self.0.name()
    }

    fn touches(&self, input: &Value) -> TouchedPaths {
        let text = |name| input.get(name).and_then(Value::as_str);
        let mut names: Vec<String> = text("path").map(String::from).into_iter().collect();
        if let Some(Ok(patch)) = text("patch").map(|patch| parse(patch.as_bytes(), StripLevels::Auto)) {
            names.extend(patch.files.into_iter().flat_map(|file| [file.old, file.new]).flatten());
        }
        match input.get("dry_run").and_then(Value::as_bool) {
            Some(true) => TouchedPaths { reads: names, ..TouchedPaths::default() },
            _ => TouchedPaths { writes: names, ..TouchedPaths::default() },
        }
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        let args: Args = self.0.parse(input)?;
        let fuzz = match args.fuzz.unwrap_or(0) {
            fuzz @ 0..=MOST_FUZZ => usize::try_from(fuzz).unwrap_or(0),
            more => return Err(ToolError::new(format!("`fuzz` must be 0 to {MOST_FUZZ}, not {more}"))),
        };
        let aim = if args.dry_run == Some(true) { PatchMode::Look } else { PatchMode::Land };
        patch_plan(&args.patch, args.path, Options { fuzz }, aim, env)
    }
}

/// The purpose of a patch call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatchMode {
    Land,
    /// Only the diff is wanted.
    Look,
}

/// The plan for a patch, for any tool set. `path` is the file of a patch that does not name its file, or that names
/// only one.
pub(crate) fn patch_plan(
    patch: &str,
    path: Option<String>,
    options: Options,
    aim: PatchMode,
    env: &ToolContext,
) -> Result<Box<dyn Plan>, ToolError> {
    planned(read(patch)?, patch, path, (options, UnreadPolicy::Refuse), aim, env)
}

/// The same for a patch whose names are relative to a directory.
pub(crate) fn patch_plan_below(
    patch: &str,
    dir: Option<&str>,
    env: &ToolContext,
) -> Result<Box<dyn Plan>, ToolError> {
    let mut read = read(patch)?;
    if let Some(dir) = dir {
        let names = read.files.iter_mut().flat_map(|file| [&mut file.old, &mut file.new]).flatten();
        for name in names.filter(|name| !name.starts_with('/')) {
            *name = format!("{}/{name}", dir.trim_end_matches('/'));
        }
    }
    planned(read, patch, None, (Options::default(), UnreadPolicy::Refuse), PatchMode::Land, env)
}

/// The same for a tool whose calls name the one file of their patch.
pub(crate) fn patch_plan_of_one(
    patch: &str,
    path: String,
    unread: UnreadPolicy,
    env: &ToolContext,
) -> Result<Box<dyn Plan>, ToolError> {
    let read = read(patch)?;
    match read.files.len() {
        count if count > 1 => Err(ToolError::hint(
            format!("`path` names one file, and the patch has {count}"),
            "send one call for each file, with its part of the patch",
        )),
        _ => planned(read, patch, Some(path), (Options::default(), unread), PatchMode::Land, env),
    }
}

fn read(patch: &str) -> Result<PatchSet, ToolError> {
    parse(patch.as_bytes(), StripLevels::Auto).map_err(|e| ToolError::hint(e.to_string(), e.hint()))
}

fn planned(
    read: PatchSet,
    patch: &str,
    path: Option<String>,
    (options, unread): (Options, UnreadPolicy),
    aim: PatchMode,
    env: &ToolContext,
) -> Result<Box<dyn Plan>, ToolError> {
    let PatchSet { files, notes } = read;
    let steps = steps(files, path, env)?;
    let title = match steps.as_slice() {
        [] => return Err(nothing(&notes)),
        [step] => format!("patch {}", step.shown(env)),
        _ => format!("patch {} files", steps.len()),
    };
    let (mut writes, mut reads): (Vec<ResolvedPath>, Vec<ResolvedPath>) = (Vec::new(), Vec::new());
    for step in &steps {
        writes.extend(step.writes().cloned());
        reads.extend(step.reads().cloned());
    }
    let parsed = Arc::new(ResolvedPatch { steps, notes, options, unread });
    if aim == PatchMode::Look {
        reads.append(&mut writes);
        return Ok(Box::new(DryRunPlan { title, reads, patch: parsed }));
    }
    let landing = Box::new(move |env: &ToolContext, draft: &mut StagedFiles, consent: OpenConsent<'_>| {
        let done = work(&parsed.steps, (parsed.options, parsed.unread), env, draft, consent)?;
        let text = parsed.report(env, &done, draft);
        Ok(StagedReport { text, notes: done.notes, line: None })
    });
    Ok(Box::new(StagedPlan::new(title, &writes, &reads, cut(patch, UNSEEN), landing)))
}

/// A patch whose files were found.
struct ResolvedPatch {
    steps: Vec<ResolvedFilePatch>,
    /// Notes from the parser of the patch.
    notes: Vec<String>,
    options: Options,
    unread: UnreadPolicy,
}

impl ResolvedPatch {
    /// The report for the model once the patch is applied.
    fn report(&self, env: &ToolContext, done: &PatchReport, draft: &StagedFiles) -> String {
        let mut text = self.summary(done);
        let (diff, _) = shown(env, draft);
        if draft.changes().next().is_none() {
            text.push_str("nothing to change: the files already have the result of the patch\n");
        }
        text.push_str(&cut(&for_model(&diff.text), MODEL_DIFF));
        text.push_str(&done.others);
        text
    }

    fn summary(&self, done: &PatchReport) -> String {
        let notes = self.notes.iter().map(|note| format!("(patch: {note})"));
        let lines = done.lines.iter().cloned().chain(notes);
        lines.map(|line| format!("{line}\n")).collect()
    }
}

fn nothing(notes: &[String]) -> ToolError {
    ToolError::hint(
        format!("the patch changes nothing: {}", notes.join("; ")),
        "lines to remove begin with `-`, lines to add with `+`",
    )
}

/// The whole lines that fit into `most` bytes, and how many lines do not fit.
fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_string();
    }
    let mut kept = 0;
    let fits = |line: &&str| {
        kept += line.len();
        kept <= most
    };
    let head: String = text.split_inclusive('\n').take_while(fits).collect();
    let left = text.lines().count() - head.lines().count();
    format!("{head}[... {left} more line{}]\n", s(left))
}

/// A dry run of a patch: it reads, and returns the diff.
struct DryRunPlan {
    title: String,
    reads: Vec<ResolvedPath>,
    patch: Arc<ResolvedPatch>,
}

impl DryRunPlan {
    fn look(&self, env: &ToolContext, consent: OpenConsent<'_>) -> Result<(String, StagedFiles), ToolError> {
        let mut draft = StagedFiles::default();
        let done =
            work(&self.patch.steps, (self.patch.options, self.patch.unread), env, &mut draft, consent)?;
        Ok((self.patch.summary(&done), draft))
    }
}

impl Plan for DryRunPlan {
    fn reach(&self) -> Vec<Access> {
        let mut reach: Vec<Access> = Vec::new();
        for one in self.reads.iter().map(ResolvedPath::read) {
            if !reach.contains(&one) {
                reach.push(one);
            }
        }
        reach
    }

    fn title(&self) -> String {
        format!("try to {}", self.title)
    }

    fn prepare(&mut self, env: &ToolContext, sight: ReadScope) -> Result<CallPreview, ToolError> {
        let inside = self.reads.iter().all(|at| at.place != placet_permission::AccessLocation::Outside);
        if inside || sight == ReadScope::Everywhere {
            self.look(env, consent_of(sight))?;
        }
        Ok(CallPreview { line: self.title(), detail: DisplayDetail::None })
    }

    fn run(self: Box<Self>, permit: Permit, ctx: RunContext) -> RunFuture {
        blocking(self.title(), move || {
            let (summary, draft) = self.look(&ctx.env, OpenConsent::Permit(&permit))?;
            let (diff, (added, removed)) = shown(&ctx.env, &draft);
            let text =
                format!("{summary}nothing was written; the patch would do this:\n{}", for_model(&diff.text));
            let line = format!("{} +{added} -{removed}", self.title());
            Ok(ToolOutput::done(text, CallSummary::new(line, DisplayDetail::Diff(diff))))
        })
    }
}
