//! edit_file: replaces one exact text with another and changes no other byte.
//!
//! `prepare` computes the whole effect. The person sees exactly the content that is written, provided that the file has
//! not changed since then. The ledger decides whether the lines may be replaced at all.

use super::edit_errors::{
    bad_text, changed, changed_lead, column_of, never_read, not_shown, not_shown_now, refuse_marks,
    since_read, unshown,
};
use super::edit_spans::{EditEffect, same_outside};
use super::suggestions::{look_alike, nearest_block};
use crate::arguments::ToolSchema;
use crate::blocking::{blocking, consent_of, real_path_note};
use crate::{
    CallFailure, CallPreview, CallSummary, DisplayDetail, EditedFile, HintTool, OutputFacts, Plan, ReadScope,
    RunContext, RunFuture, Tool, ToolContext, ToolError, ToolOutput, TouchedPaths, hint,
};
use placet_permission::{Access, AccessLocation, Permit};
use placet_text::conversation::ToolSpec;
use placet_text::text::look_alike::escaped;
use placet_text::text::{LineDiff, RangeSet, for_model};
use placet_workspace::{
    ExpectedContent, Hash, KnownLines, OpenConsent, ReadStatus, Replacement, ResolvedPath, TextFile,
    WRITTEN_IN_PLACE, WorkspaceError, WriteOutcome, without_overlaps,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::ops::Range;
use std::sync::Arc;

/// The largest file that can be edited, the largest diff for a person, and the largest diff that is returned to the
/// model, in bytes.
pub(super) const LARGEST: u64 = 1 << 30;
const PERSON_DIFF: usize = 1 << 20;
const MODEL_DIFF: usize = 3000;
/// The most occurrences that are counted for a text that should be unique.
const COUNTED: usize = 1_000_000;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Args {
    path: String,
    #[schemars(extend("contentMediaType" = "text/plain"))]
    old_string: String,
    #[schemars(extend("contentMediaType" = "text/plain"))]
    new_string: Option<String>,
    #[schemars(extend("contentMediaType" = "text/plain"))]
    insert_before: Option<String>,
    #[schemars(extend("contentMediaType" = "text/plain"))]
    insert_after: Option<String>,
    replace_all: Option<bool>,
    force: Option<bool>,
    #[serde(rename = "scratchpad")]
    _scratchpad: Option<String>,
}

impl Args {
    fn new_text(&self) -> Result<String, ToolError> {
        let old = &self.old_string;
        match (&self.new_string, &self.insert_before, &self.insert_after) {
            (Some(new), None, None) => Ok(new.clone()),
            (None, Some(text), None) => Ok(format!("{text}{old}")),
            (None, None, Some(text)) => Ok(format!("{old}{text}")),
            (None, None, None) => Err(ToolError::hint(
                "one of `new_string`, `insert_before` or `insert_after` is missing",
                "an empty new_string removes old_string",
            )),
            _ => Err(ToolError::hint(
                "use only one of `new_string`, `insert_before` and `insert_after`",
                "send exactly one of them",
            )),
        }
    }
}

pub(crate) struct EditFile(ToolSchema);

impl Default for EditFile {
    fn default() -> EditFile {
        EditFile(ToolSchema::of::<Args>("edit_file", include_str!("../../prompts/tools/edit_file.md")))
    }
}

impl Tool for EditFile {
    fn spec(&self) -> ToolSpec {
        self.0.spec()
    }

    fn name(&self) -> String {
        self.0.name()
    }

    fn touches(&self, input: &Value) -> TouchedPaths {
        TouchedPaths::writing(input, "path")
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        let args: Args = self.0.parse(input)?;
        let new = args.new_text()?;
        if args.old_string.is_empty() {
            return Err(ToolError::hint(
                "`old_string` is empty",
                hint!["name the text to replace; ", HintTool::WriteFile, " makes new files"],
            ));
        }
        let which = if args.replace_all == Some(true) { MatchSelection::All } else { MatchSelection::Only };
        let unread = if args.force == Some(true) { UnreadPolicy::Allow } else { UnreadPolicy::Refuse };
        let answer = EditAnswer::Whole;
        let edit = EditRequest { path: args.path, old: args.old_string, new, which, unread, answer };
        Ok(Box::new(EditPlan::new(edit, env)?))
    }
}

/// An edit, from any tool set. `old` is not empty.
#[derive(Clone, Debug)]
pub(crate) struct EditRequest {
    pub(crate) path: String,
    pub(crate) old: String,
    pub(crate) new: String,
    pub(crate) which: MatchSelection,
    pub(crate) unread: UnreadPolicy,
    pub(crate) answer: EditAnswer,
}

/// Which part of the file the tool set's answer prints: only that part counts as shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EditAnswer {
    /// The diff; after a failure, the most similar lines.
    Whole,
    /// Text without a line of the file; after a failure, the most similar lines.
    Words,
    /// Text only.
    Nothing,
}

/// Which of the occurrences of the old text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchSelection {
    /// The only occurrence; several are an error.
    Only,
    /// The only occurrence, where overlapping occurrences count once.
    Single,
    First,
    All,
}

/// What happens if a file, or lines of it, were never read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnreadPolicy {
    Refuse,
    /// They may be changed. Lines that others changed after the file was read may not.
    Allow,
    /// Lines that others changed after the file was read may be changed, too.
    AllowChanged,
}

pub(crate) struct EditPlan {
    edit: EditRequest,
    at: ResolvedPath,
    title: String,
    work: Option<PreparedEdit>,
}

/// The computed edit.
struct PreparedEdit {
    before: Hash,
    old: Arc<Vec<u8>>,
    after: Arc<Vec<u8>>,
    effect: EditEffect,
    places: usize,
    /// What the model knew of the old content.
    known: KnownLines,
    /// The parts of long lines that the model knows of the new content.
    parts: RangeSet,
    /// Changes by others since the file was read, though not in these lines, and the lines that the diff of them shows.
    others: Option<(String, RangeSet)>,
}

impl EditPlan {
    pub(crate) fn new(edit: EditRequest, env: &ToolContext) -> Result<EditPlan, ToolError> {
        let at = env.resolve(&edit.path)?;
        EditPlan::at(edit, at, env)
    }

    /// An edit of the file at `at`; messages use the path of the edit.
    pub(crate) fn at(edit: EditRequest, at: ResolvedPath, env: &ToolContext) -> Result<EditPlan, ToolError> {
        if !at.exists {
            return Err(env.path_error(&WorkspaceError::Missing(at.path)));
        }
        let title = format!("edit {}", env.workspace.shown(&at.path));
        Ok(EditPlan { edit, at, title, work: None })
    }
}

impl Plan for EditPlan {
    fn reach(&self) -> Vec<Access> {
        vec![self.at.write()]
    }

    fn title(&self) -> String {
        self.title.clone()
    }

    fn prepare(&mut self, env: &ToolContext, sight: ReadScope) -> Result<CallPreview, ToolError> {
        if self.at.place == AccessLocation::Outside && sight == ReadScope::InsideOnly {
            // The file may not be read yet, so only the text of the call can be shown.
            let view = LineDiff::new(&self.edit.old, &self.edit.new).unified(3, PERSON_DIFF);
            return Ok(CallPreview { line: self.title.clone(), detail: DisplayDetail::Diff(view.into()) });
        }
        let work = self.work_out(env, consent_of(sight))?;
        let preview = CallPreview {
            line: self.line(&work.effect),
            detail: DisplayDetail::Diff(work.effect.diff.clone()),
        };
        self.work = Some(work);
        Ok(preview)
    }

    fn run(self: Box<Self>, permit: Permit, ctx: RunContext) -> RunFuture {
        blocking(self.title.clone(), move || self.apply(&permit, &ctx.env))
    }
}

impl EditPlan {
    fn line(&self, effect: &EditEffect) -> String {
        format!("{} +{} -{}", self.title, effect.added, effect.removed)
    }

    fn work_out(&self, env: &ToolContext, consent: OpenConsent<'_>) -> Result<PreparedEdit, ToolError> {
        let (bytes, hash) = env.workspace.load(&self.at, consent, LARGEST).map_err(|e| env.path_error(&e))?;
        let file = TextFile::new(bytes).map_err(|_| {
            ToolError::hint(format!("`{}` is not text", self.edit.path), "only text can be edited")
                .because(CallFailure::NotText)
        })?;
        if !self.forced() && matches!(self.standing(env, &file, hash, &[]), ReadStatus::Never) {
            return Err(never_read(&self.edit.path));
        }
        let spans = self.spans(env, &file, hash)?;
        let index = file.index();
        let lines = |range: &Range<usize>| file.part(index.bytes_of(range));
        let known = env.ledger().known_now(&self.at.path, file.bytes(), hash, lines);
        let needed = known.needed(&index, &spans);
        let others = self.allowed(env, &file, hash, (spans.as_slice(), needed.as_slice()))?;
        let spliced = file.splice(&spans, &self.replacement()).map_err(|e| bad_text(&e))?;
        if !same_outside(file.bytes(), &spliced.bytes, &spliced.changes) {
            return Err(ToolError::new(
                "internal error: the edit would change bytes outside the text; nothing was written",
            ));
        }
        refuse_marks(file.bytes(), &spliced.bytes)?;
        let after = Arc::new(spliced.bytes);
        let new = TextFile::new(after.clone()).map_err(|_| ToolError::new("the new text is not text"))?;
        let effect = EditEffect::of(&file, &new, &spliced.changes, PERSON_DIFF);
        let parts = match known.parts.is_empty() {
            true => RangeSet::new(),
            false => known.parts_through(&spliced.changes),
        };
        Ok(PreparedEdit {
            before: hash,
            old: file.bytes().clone(),
            after,
            effect,
            places: spans.len(),
            known,
            parts,
            others,
        })
    }

    /// The occurrences to replace: one, or all of them.
    fn spans(&self, env: &ToolContext, file: &TextFile, hash: Hash) -> Result<Vec<Range<usize>>, ToolError> {
        let most = match self.edit.which {
            MatchSelection::All => usize::MAX,
            MatchSelection::Only | MatchSelection::Single => COUNTED,
            MatchSelection::First => 1,
        };
        let replacement = self.replacement();
        let mut spans = file.places(&replacement, most).map_err(|e| bad_text(&e))?;
        if spans.is_empty() && !file.has_line_ends_of(&replacement) {
            return Err(self.not_found(env, file, hash).because(CallFailure::TextMissing));
        }
        if matches!(self.edit.which, MatchSelection::All | MatchSelection::Single) {
            spans = without_overlaps(spans);
        }
        if self.edit.which != MatchSelection::All && spans.len() > 1 {
            return Err(self.ambiguous(file, &spans).because(CallFailure::Ambiguous(spans.len())));
        }
        Ok(spans)
    }

    fn replacement(&self) -> Replacement<'_> {
        Replacement::of_text(&self.edit.old, &self.edit.new)
    }

    fn forced(&self) -> bool {
        self.edit.unread != UnreadPolicy::Refuse
    }

    fn standing(
        &self,
        env: &ToolContext,
        file: &TextFile,
        hash: Hash,
        targets: &[Range<usize>],
    ) -> ReadStatus {
        let index = std::cell::OnceCell::new();
        let lines = |range: &Range<usize>| file.part(index.get_or_init(|| file.index()).bytes_of(range));
        env.ledger().read_status(&self.at.path, file.bytes(), hash, targets, lines)
    }

    /// Checks whether these lines may be replaced. `Some` reports what others changed elsewhere, and the lines that the
    /// report shows.
    fn allowed(
        &self,
        env: &ToolContext,
        file: &TextFile,
        hash: Hash,
        (spans, targets): (&[Range<usize>], &[Range<usize>]),
    ) -> Result<Option<(String, RangeSet)>, ToolError> {
        match self.standing(env, file, hash, targets) {
            ReadStatus::Seen | ReadStatus::Never => Ok(None),
            ReadStatus::Part { .. } if self.forced() => Ok(None),
            ReadStatus::Part { seen, .. } => {
                let mut missing = RangeSet::new();
                targets
                    .iter()
                    .filter_map(|target| seen.first_gap(target))
                    .for_each(|gap| missing.insert(gap));
                let path = &self.edit.path;
                // A line that is longer than a page, and a file that is too large to be known whole, are read in parts.
                let column = column_of(file, spans, &missing);
                let is_in_parts = column.is_some() || !env.ledger().windows(&self.at.path).is_empty();
                Err(match is_in_parts {
                    true => not_shown(path, &seen, &missing, column),
                    false => not_shown_now(env, &self.at, path, (file, hash), (&seen, &missing)),
                })
            }
            ReadStatus::Unshown(_) if self.edit.unread == UnreadPolicy::AllowChanged => Ok(None),
            ReadStatus::Unshown(lines) => Err(unshown(env, &self.at, &self.edit.path, (file, hash), &lines)),
            ReadStatus::Changed(change)
                if change.intact || self.edit.unread == UnreadPolicy::AllowChanged =>
            {
                Ok(Some(since_read(&change, file)))
            }
            ReadStatus::Changed(change) => Err(changed(env, &self.at, &self.edit.path, file, hash, &change)),
        }
    }

    fn not_found(&self, env: &ToolContext, file: &TextFile, hash: Hash) -> ToolError {
        let mut message = format!("old_string is not in `{}`", self.edit.path);
        let near = nearest_block(file, &self.edit.old);
        if let ReadStatus::Changed(change) = self.standing(env, file, hash, &[]) {
            let (diff, shown) = since_read(&change, file);
            message.push_str(", which changed since you read it");
            if change.old.is_some() && self.edit.answer != EditAnswer::Nothing {
                message.push_str(&format!(". The changes:\n{diff}"));
                env.ledger().record_shown_change(&self.at.path, file.bytes(), hash, &change.carried, &shown);
            }
        }
        let Some(near) = near else {
            let none = "no similar text in the file; find the place with ";
            let pattern = HintTool::ReadFile.parameter("pattern");
            let read = hint![none, HintTool::ReadFile, " and its ", pattern]
                .or(hint!["no similar text in the file"]);
            return ToolError::hint(message, hint![none, HintTool::SearchContents].or(read));
        };
        let what = if near.only_blanks { "differs only in blanks" } else { "is the most similar" };
        message.push_str(&format!("\nline {} and on {what}:\n{}", near.start + 1, near.report.trim_end()));
        if self.edit.answer != EditAnswer::Nothing {
            env.ledger().record_read(&self.at.path, file.bytes(), hash, near.shown);
        }
        match look_alike(file, &self.edit.old) {
            Some(there) => ToolError::hint(
                message,
                hint![
                    "the file has a text that looks the same: repeat the call with ",
                    HintTool::EditFile.parameter("old_string"),
                    format!(": {}", escaped(&there))
                ],
            ),
            None => ToolError::hint(message, "copy the text exactly as it follows the `│`"),
        }
    }

    fn ambiguous(&self, file: &TextFile, spans: &[Range<usize>]) -> ToolError {
        let index = file.index();
        let mut lines: Vec<String> =
            spans.iter().take(20).map(|s| (index.line_of(s.start) + 1).to_string()).collect();
        lines.dedup();
        let places = if lines.len() == 1 { "line" } else { "lines" };
        let more = if spans.len() > 20 { ", ..." } else { "" };
        let count =
            if spans.len() >= COUNTED { format!("{COUNTED} or more") } else { spans.len().to_string() };
        ToolError::hint(
            format!(
                "old_string occurs {count} times in `{}`: at {places} {}{more}",
                self.edit.path,
                lines.join(", ")
            ),
            "add surrounding lines until it is unique, or set replace_all",
        )
    }

    fn apply(mut self, permit: &Permit, env: &ToolContext) -> Result<ToolOutput, ToolError> {
        let work = match self.work.take() {
            Some(work) => work,
            None => self.work_out(env, OpenConsent::Permit(permit))?,
        };
        let line = self.line(&work.effect);
        if work.after == work.old {
            let unchanged = WriteOutcome { hash: work.before, in_place: false, held: false };
            return Ok(self.report(env, &work, &line, &unchanged));
        }
        let written =
            env.workspace.write(&self.at, permit, &work.after, ExpectedContent::Content(work.before));
        let written = written.map_err(|e| self.lost_race(env, permit, e))?;
        let mut ledger = env.ledger();
        ledger.wrote(&self.at.path, (&work.after, written.hash), &work.effect.edits, &work.known);
        if !work.parts.is_empty()
            && let Ok(new) = TextFile::new(work.after.clone())
        {
            ledger.record_parts(&self.at.path, &new, written.hash, &work.parts);
        }
        if self.edit.answer == EditAnswer::Whole {
            let mut shown = shown_to_model(&work.effect);
            if let Some((_, seen)) = &work.others {
                let seen = KnownLines { seen: seen.clone(), ..KnownLines::default() };
                shown.extend(&seen.through(&work.effect.edits).0.seen);
            }
            ledger.record_read_ranges(&self.at.path, &work.after, written.hash, &shown);
        }
        drop(ledger);
        Ok(self.report(env, &work, &line, &written))
    }

    fn report(
        &self,
        env: &ToolContext,
        work: &PreparedEdit,
        line: &str,
        written: &WriteOutcome,
    ) -> ToolOutput {
        let path = env.workspace.shown(&self.at.path);
        let mut text = match (work.effect.diff.text.is_empty(), work.places) {
            (true, _) => format!("{path}: nothing to change: {}\n", self.why_nothing()),
            (false, 1) => format!(
                "edited {path}: +{} -{} lines, nothing else changed\n",
                work.effect.added, work.effect.removed
            ),
            (false, places) => format!(
                "edited {path} at {places} places: +{} -{} lines, nothing else changed\n",
                work.effect.added, work.effect.removed
            ),
        };
        if written.in_place {
            text.push_str(&format!("({WRITTEN_IN_PLACE})\n"));
        }
        if let Some(note) = real_path_note(env, &self.at) {
            text.push_str(&format!("({note})\n"));
        }
        text.push_str(&cut_diff(&for_model(&work.effect.diff.text), MODEL_DIFF));
        if let Some((diff, _)) = &work.others {
            text.push_str(&changed_lead("the file"));
            text.push_str(diff);
        }
        let detail = DisplayDetail::Diff(work.effect.diff.clone());
        let summary = match written.held {
            true => CallSummary::pending(line, detail),
            false => CallSummary::new(line, detail),
        };
        let output = ToolOutput::done(text, summary);
        if work.after == work.old {
            // Without facts, no tool set counts a place that did not change.
            return output;
        }
        let (before, after) = (Some(work.old.clone()), Some(work.after.clone()));
        let changes = vec![EditedFile { path: self.at.path.clone(), before, after }];
        output.with(OutputFacts::Changed { changes, places: work.places, notes: Vec::new() })
    }

    fn why_nothing(&self) -> &'static str {
        match self.replacement().changes_line_ends() {
            true => "the lines already have the line ends of the new text",
            false => "the new text equals the old text",
        }
    }

    /// The error for a file that changed between the preview and the write. It shows the change so that the next call
    /// can be right.
    fn lost_race(&self, env: &ToolContext, permit: &Permit, error: WorkspaceError) -> ToolError {
        if !matches!(error, WorkspaceError::Raced(_)) {
            return env.path_error(&error);
        }
        let Ok((bytes, hash)) = env.workspace.load(&self.at, OpenConsent::Permit(permit), LARGEST) else {
            return env.path_error(&error);
        };
        let Ok(file) = TextFile::new(bytes) else { return env.path_error(&error) };
        match self.standing(env, &file, hash, &[]) {
            ReadStatus::Changed(change) => changed(env, &self.at, &self.edit.path, &file, hash, &change),
            _ => env.path_error(&error),
        }
    }
}

/// The lines of the new content that [`cut_diff`] leaves in the result.
fn shown_to_model(effect: &EditEffect) -> RangeSet {
    if effect.diff.text.len() <= MODEL_DIFF { effect.shown.clone() } else { RangeSet::new() }
}

fn cut_diff(diff: &str, most: usize) -> String {
    if diff.len() <= most {
        return diff.to_string();
    }
    let mut kept = 0;
    let head: String = diff
        .split_inclusive('\n')
        .take_while(|l| {
            kept += l.len();
            kept <= most
        })
        .collect();
    let left = diff.lines().count() - head.lines().count();
    format!("{head}[... {left} more lines of this diff]\n")
}
