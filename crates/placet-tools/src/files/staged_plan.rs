//! A call that is worked out on [`StagedFiles`]: the person sees the staged files, and exactly these are written.

use super::edit_errors::refuse_marks;
use super::staged_files::{StagedFile, StagedFiles, StagedState, in_words};
use crate::blocking::{blocking, consent_of};
use crate::{
    CallPreview, CallSummary, DiffText, DisplayDetail, EditedFile, OutputFacts, Plan, ReadScope, RunContext,
    RunFuture, ToolContext, ToolError, ToolOutput,
};
use placet_permission::{Access, Permit};
use placet_workspace::{OpenConsent, ResolvedPath, WriteOutcome};

/// How much of a diff the person is shown, in bytes.
const DIFF: usize = 1 << 20;

/// The report of a staged call, without the files: the model gets it once the files are written.
#[derive(Default)]
pub(crate) struct StagedReport {
    pub(crate) text: String,
    /// What was adapted, for a tool set with its own format of answers.
    pub(crate) notes: Vec<String>,
    /// The call's line for the person; without it, its title and the counted lines.
    pub(crate) line: Option<String>,
}

/// Works out a call. It may run twice: before consent to read outside, and again after it.
pub(crate) type StagingFn = Box<
    dyn Fn(&ToolContext, &mut StagedFiles, OpenConsent<'_>) -> Result<StagedReport, ToolError> + Send + Sync,
>;

/// The text of an error that no step of the call has for itself: the files changed since, the disk is full.
pub(crate) type FailureFn = Box<dyn Fn(&ToolError) -> String + Send + Sync>;

pub(crate) struct StagedPlan {
    title: String,
    reach: Vec<Access>,
    /// The text that is shown while a path outside may not be read yet.
    unseen: String,
    work: StagingFn,
    /// Words a failure of the write in the form of the tool set.
    failing: Option<FailureFn>,
    worked: Option<(StagedFiles, StagedReport)>,
}

impl StagedPlan {
    /// `writes` and `reads` are everything that the work may touch; `unseen` describes what the work would do.
    pub(crate) fn new(
        title: String,
        writes: &[ResolvedPath],
        reads: &[ResolvedPath],
        unseen: String,
        work: StagingFn,
    ) -> StagedPlan {
        let mut reach: Vec<Access> = Vec::new();
        for one in writes.iter().map(ResolvedPath::write).chain(reads.iter().map(ResolvedPath::read)) {
            if !reach.contains(&one) {
                reach.push(one);
            }
        }
        StagedPlan { title, reach, unseen, work, failing: None, worked: None }
    }

    #[must_use]
    pub(crate) fn failing(self, words: FailureFn) -> StagedPlan {
        StagedPlan { failing: Some(words), ..self }
    }

    fn work_out(
        &self,
        env: &ToolContext,
        consent: OpenConsent<'_>,
    ) -> Result<(StagedFiles, StagedReport), ToolError> {
        let mut draft = StagedFiles::default();
        let worked = (self.work)(env, &mut draft, consent)?;
        for leaf in draft.changes() {
            let side = |held: &StagedState| held.bytes().cloned().unwrap_or_default();
            refuse_marks(&side(&leaf.was), &side(&leaf.now))?;
        }
        Ok((draft, worked))
    }

    fn land(mut self, permit: &Permit, env: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (draft, worked) = match self.worked.take() {
            Some(worked) => worked,
            None => self.work_out(env, OpenConsent::Permit(permit))?,
        };
        let written = draft.commit(env, permit).map_err(|e| {
            let error = in_words(env, &e);
            self.failing.as_ref().map_or(error.clone(), |words| ToolError::worded(words(&error)))
        })?;
        // A longer answer goes to a scratchpad, where the model has not seen it.
        if worked.text.len() <= env.limits.inline() {
            draft.credit(env);
        }
        let (diff, counts) = shown(env, &draft);
        let line = worked.line.unwrap_or_else(|| format!("{} +{} -{}", self.title, counts.0, counts.1));
        let detail = DisplayDetail::Diff(diff);
        let summary = match written.iter().any(|w: &WriteOutcome| w.held) {
            true => CallSummary::pending(&line, detail),
            false => CallSummary::new(line, detail),
        };
        let changed = |leaf: &StagedFile| EditedFile {
            path: leaf.at.path.clone(),
            before: leaf.was.bytes().cloned(),
            after: leaf.now.bytes().cloned(),
        };
        let facts = OutputFacts::Changed {
            changes: draft.changes().map(changed).collect(),
            places: 0,
            notes: worked.notes,
        };
        Ok(ToolOutput::done(worked.text, summary).with(facts))
    }
}

impl Plan for StagedPlan {
    fn reach(&self) -> Vec<Access> {
        self.reach.clone()
    }

    fn title(&self) -> String {
        self.title.clone()
    }

    fn prepare(&mut self, env: &ToolContext, sight: ReadScope) -> Result<CallPreview, ToolError> {
        let outside = |reach: &Access| {
            matches!(
                reach,
                Access::Read { place: placet_permission::AccessLocation::Outside, .. }
                    | Access::Write { place: placet_permission::AccessLocation::Outside, .. }
            )
        };
        if sight == ReadScope::InsideOnly && self.reach.iter().any(outside) {
            return Ok(CallPreview {
                line: self.title.clone(),
                detail: DisplayDetail::Text(self.unseen.clone()),
            });
        }
        let (draft, worked) = self.work_out(env, consent_of(sight))?;
        let (diff, counts) = shown(env, &draft);
        self.worked = Some((draft, worked));
        Ok(CallPreview {
            line: format!("{} +{} -{}", self.title, counts.0, counts.1),
            detail: DisplayDetail::Diff(diff),
        })
    }

    fn run(self: Box<Self>, permit: Permit, ctx: RunContext) -> RunFuture {
        blocking(self.title.clone(), move || self.land(&permit, &ctx.env))
    }
}

/// All staged changes as one diff with a header for each file, and the lines added and removed.
pub(crate) fn shown(env: &ToolContext, draft: &StagedFiles) -> (DiffText, (usize, usize)) {
    draft.shown.get_or_init(|| compared(env, draft)).clone()
}

fn compared(env: &ToolContext, draft: &StagedFiles) -> (DiffText, (usize, usize)) {
    let (mut text, mut counts) = (String::new(), (0, 0));
    let (mut left_out, mut files) = (0, 0);
    for leaf in draft.changes() {
        let (diff, (added, removed)) = leaf.diff(DIFF);
        counts = (counts.0 + added, counts.1 + removed);
        if text.len() > DIFF {
            left_out += added + removed;
            files += 1;
            continue;
        }
        text.push_str(&header(env, leaf));
        let diff = DiffText::from(diff);
        text.push_str(&diff.text);
        left_out += diff.left_out;
    }
    if files > 0 {
        text.push_str(&format!("[... {files} more files]\n"));
        left_out = left_out.max(files);
    }
    (DiffText { text, left_out }, counts)
}

fn header(env: &ToolContext, leaf: &StagedFile) -> String {
    let name = env.workspace.shown(&leaf.at.path);
    let side = |held: &StagedState| match held.bytes() {
        Some(_) => name.clone(),
        None => "/dev/null".into(),
    };
    format!("--- {}\n+++ {}\n", side(&leaf.was), side(&leaf.now))
}
