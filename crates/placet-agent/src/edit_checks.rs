//! Checks after edits (`when = "edit"`): what they find and did not find before the turn is added to the edit's result.
//!
//! The edits of one answer are checked together, after the last of its calls: a run between two of them would be about a
//! state that nobody keeps. The files before the first edit of a turn are checked before it, because in write mode they
//! exist only until then; mostly their result is stored already.
//!
//! Sub-agents work in the turn of their parent: what the checks found before it is known once for all of them, and a check
//! runs alone, as a command does, because another sub-agent may write at the same time.

use super::edit_baselines::EditBaselines;
use super::turn_checks::TurnChecks;
use placet_checks::{
    CheckDefinition, CheckMoment, CheckResult, CheckRunOutcome, Diagnostic, check_outcome, diagnostic_line,
    new_diagnostics, new_diagnostics_words,
};
use placet_text::conversation::{
    AssistantMessage, CallId, CallOutcome, CallResult, FailedCheck, Note, Part, ToolCall,
};
use placet_text::text::count;
use std::path::PathBuf;

/// How many lines of all checks together an edit's result gets.
const MOST_LINES: usize = 20;

/// A call of the present answer that edits files, and which.
struct EditCall {
    id: CallId,
    paths: Vec<PathBuf>,
}

/// The checks after edits, in one turn.
pub(super) struct EditChecks {
    checks: TurnChecks,
    definitions: Vec<CheckDefinition>,
    before: EditBaselines,
    edits: Vec<EditCall>,
}

impl EditChecks {
    /// `None` where no check looks at edits.
    pub(super) fn new(checks: TurnChecks) -> Option<EditChecks> {
        let definitions = checks.of_moment(CheckMoment::Edit);
        if definitions.is_empty() {
            return None;
        }
        let before = checks.baselines_of_turn();
        Some(EditChecks { checks, definitions, before, edits: Vec::new() })
    }

    /// Before the calls of an answer run: the checks on the files that its edits are about to change.
    pub(super) async fn before_calls(&mut self, answer: &AssistantMessage) {
        self.edits = answer.calls().filter_map(|call| self.edit(call)).collect();
        let paths: Vec<PathBuf> = self.edits.iter().flat_map(|edit| edit.paths.clone()).collect();
        let concerned = self.concerned(&paths);
        if concerned.iter().all(|check| self.before.has(&check.name)) {
            return;
        }
        let Some(_alone) = self.checks.run_alone().await else { return };
        for check in concerned {
            // Another sub-agent may have been first.
            if self.before.has(&check.name) || self.checks.is_stopped() {
                continue;
            }
            let name = check.name.clone();
            let result = self.checks.result(check).await.map_err(|e| self.checks.report_error(&e)).ok();
            let result = result.filter(|result| !matches!(result.outcome, CheckRunOutcome::NotRun { .. }));
            self.before.add(&name, result);
        }
    }

    /// After all calls of an answer: adds what is new to the result of the last edit.
    pub(super) async fn after_calls(&mut self, results: &mut [CallResult]) {
        let edits = std::mem::take(&mut self.edits);
        let is_done = |id: &CallId| {
            results.iter().any(|result| result.id == *id && result.outcome == CallOutcome::Done)
        };
        let done: Vec<&EditCall> = edits.iter().filter(|edit| is_done(&edit.id)).collect();
        let paths: Vec<PathBuf> = done.iter().flat_map(|edit| edit.paths.clone()).collect();
        let concerned = self.concerned(&paths);
        if concerned.is_empty() {
            return;
        }
        let mut found = Vec::new();
        let mut room = MOST_LINES;
        let Some(_alone) = self.checks.run_alone().await else { return };
        for check in concerned {
            let Some(before) = self.before.of(&check.name) else { continue };
            if self.checks.is_stopped() {
                return;
            }
            match self.checks.result(check).await {
                Ok(now) => found.extend(self.new_findings(&before, &now, &mut room)),
                Err(e) => self.checks.report_error(&e),
            }
        }
        let last = results.iter_mut().rfind(|result| done.iter().any(|edit| edit.id == result.id));
        if let Some(last) = last.filter(|_| !found.is_empty()) {
            last.parts.push(Part::Note(Note::NewDiagnostics { found }));
        }
    }

    /// What the agent reads of one check; `None` where it found nothing new.
    fn new_findings(&self, before: &CheckResult, now: &CheckResult, room: &mut usize) -> Option<FailedCheck> {
        if let CheckRunOutcome::NotRun { .. } = now.outcome {
            self.checks.notice(&check_outcome(now));
            return None;
        }
        let mut new = new_diagnostics(&before.diagnostics, &now.diagnostics);
        let (outcome, mut lines) = match new.is_empty() {
            true if now.passed() || !before.passed() => return None,
            // It fails since the edit and says nothing that can be read.
            true => (check_outcome(now), self.checks.last_lines(&now.check)),
            false => {
                new.sort_by_key(|found| found.level);
                let lines = new.iter().map(|found: &&Diagnostic| diagnostic_line(found)).collect();
                (new_diagnostics_words(&now.check, &new), lines)
            }
        };
        self.checks.notice(&outcome);
        let all = lines.len();
        lines.truncate(*room);
        *room -= lines.len();
        if lines.len() < all {
            lines.push(format!("  {} not shown", count::of((all - lines.len()) as u64, "line")));
        }
        if before.found > before.diagnostics.len() || now.found > now.diagnostics.len() {
            lines.push("  too many diagnostics to compare all of them".into());
        }
        Some(FailedCheck { check: now.check.clone(), outcome, lines: self.checks.redacted(&lines) })
    }

    fn edit(&self, call: &ToolCall) -> Option<EditCall> {
        let paths = self.checks.edited_paths(call);
        (!paths.is_empty()).then(|| EditCall { id: call.id.clone(), paths })
    }

    fn concerned(&self, paths: &[PathBuf]) -> Vec<CheckDefinition> {
        self.checks.concerned(&self.definitions, paths)
    }
}
