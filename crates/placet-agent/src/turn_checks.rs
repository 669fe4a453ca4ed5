//! Checks at the end of a turn: their failures go back to the agent.
//!
//! Two things use it: a check with `when = "turn"`, whose failures continue the same turn, and a goal (`/until`), for which
//! each further round is a turn of its own. A check whose result for the present files is known does not run again.

use super::edit_baselines::EditBaselines;
use super::event::TurnEvents;
use super::services::SharedServices;
use placet_checks::{CheckDefinition, CheckMoment, CheckResult, check_details, check_outcome};
use placet_text::conversation::{FailedCheck, Note, ToolCall};
use placet_text::text::{count, regular_file};
use placet_tools::{CheckRunError, CheckRunRequest, CheckedState, ToolContext, run_check};
use placet_workspace::{ChangeSelection, ChangeSet, LayerKind, View};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;
use thiserror::Error;
use tokio::runtime::Handle;
use tokio::sync::OwnedRwLockWriteGuard;
use tokio_util::sync::CancellationToken;

/// How many lines of a check the agent gets, and how much of its output is read for them.
const MOST_LINES: usize = 20;
const TAIL: u64 = 16 << 10;

/// How many rounds a goal has without a number.
const ROUNDS: u32 = 5;
/// The most rounds of a goal: each costs at least one request.
const MOST_ROUNDS: u32 = 100;

/// The agent continues until these checks pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckGoal {
    pub checks: Vec<String>,
    /// How many turns it may take after the first.
    pub rounds: u32,
}

/// How a goal ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoalEnd {
    Passed,
    /// The checks still fail: no round is left, the last one changed nothing, or a turn or a check did not end well.
    Failed,
}

#[derive(Debug, Error)]
pub enum CheckGoalError {
    #[error("names of checks are missing")]
    NoCheck,
    #[error("`{0}` is not a number of rounds from 1 to {MOST_ROUNDS}")]
    Rounds(String),
}

impl CheckGoal {
    /// `test,lint` or `test:3`.
    pub fn parse(text: &str) -> Result<CheckGoal, CheckGoalError> {
        let (names, rounds) = match text.rsplit_once(':') {
            Some((names, rounds)) => (names, Some(rounds)),
            None => (text, None),
        };
        CheckGoal::of(names, rounds)
    }

    /// Names with commas between them, and how many rounds.
    pub fn of(names: &str, rounds: Option<&str>) -> Result<CheckGoal, CheckGoalError> {
        let checks: Vec<String> =
            names.split(',').map(str::trim).filter(|name| !name.is_empty()).map(String::from).collect();
        let rounds = match rounds {
            None => ROUNDS,
            Some(text) => text
                .parse()
                .ok()
                .filter(|rounds| (1..=MOST_ROUNDS).contains(rounds))
                .ok_or_else(|| CheckGoalError::Rounds(text.into()))?,
        };
        if checks.is_empty() {
            return Err(CheckGoalError::NoCheck);
        }
        Ok(CheckGoal { checks, rounds })
    }
}

/// What a round of checks came to.
pub(super) enum CheckVerdict {
    Passed,
    /// What the agent is sent.
    Failed(Note),
    /// Nobody knows whether they pass: the person stopped them, or they cannot run here.
    Unknown,
}

/// Runs checks between two requests to the model.
pub(super) struct TurnChecks {
    env: Arc<ToolContext>,
    services: Arc<SharedServices>,
    events: TurnEvents,
    stop: CancellationToken,
}

/// What is pending, as checks see it.
struct PendingState {
    set: ChangeSet,
    choice: ChangeSelection,
    state: CheckedState,
}

impl TurnChecks {
    pub(super) fn new(
        services: &Arc<SharedServices>,
        events: &TurnEvents,
        stop: &CancellationToken,
    ) -> TurnChecks {
        TurnChecks {
            env: Arc::clone(&services.env),
            services: Arc::clone(services),
            events: events.clone(),
            stop: stop.clone(),
        }
    }

    /// The checks of this moment. A sub-agent has only those of its edits: its changes are part of the turn of its parent.
    pub(super) fn of_moment(&self, moment: CheckMoment) -> Vec<CheckDefinition> {
        let is_left_to_parent = self.services.subagents.is_child && moment != CheckMoment::Edit;
        let definitions = self.env.checks.definitions.iter().filter(|_| !is_left_to_parent);
        definitions.filter(|check| check.when == moment).cloned().collect()
    }

    /// What checks found before this turn, or before that of the parent: nothing yet where a conversation begins its turn.
    pub(super) fn baselines_of_turn(&self) -> EditBaselines {
        let pool = &self.services.subagents;
        if !pool.is_child {
            pool.edit_baselines.clear();
        }
        pool.edit_baselines.clone()
    }

    /// Waits until no call of the conversation and of its sub-agents writes. None of them writes while the guard lives: a
    /// check that sees files of two states has no result. `None` where the turn was stopped.
    pub(super) async fn run_alone(&self) -> Option<OwnedRwLockWriteGuard<()>> {
        let order = Arc::clone(&self.services.subagents.order);
        tokio::select! {
            guard = order.write_owned() => Some(guard),
            () = self.stop.cancelled() => None,
        }
    }

    /// The checks with `when = "turn"`.
    fn of_turn(&self) -> Vec<CheckDefinition> {
        self.of_moment(CheckMoment::Turn)
    }

    /// Those of `checks` whose result a change of one of these paths can change.
    pub(super) fn concerned(&self, checks: &[CheckDefinition], paths: &[PathBuf]) -> Vec<CheckDefinition> {
        let cwd = self.env.workspace.cwd();
        let concerns = |check: &&CheckDefinition| {
            paths.iter().any(|path| check.concerns(path.strip_prefix(cwd).unwrap_or(path)))
        };
        checks.iter().filter(concerns).cloned().collect()
    }

    /// The files that a call of a file tool changes; nothing for other calls, also for commands.
    pub(super) fn edited_paths(&self, call: &ToolCall) -> Vec<PathBuf> {
        let touched = self.services.registry.touches(&call.name, &call.input);
        if touched.anything {
            return Vec::new();
        }
        let files = touched.written_files();
        files.filter_map(|file| self.env.workspace.resolve(file).ok()).map(|at| at.path.clone()).collect()
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.is_cancelled()
    }

    pub(super) fn notice(&self, words: &str) {
        self.events.notice(words);
    }

    /// Shows the person why a check has no result.
    pub(super) fn report_error(&self, error: &CheckRunError) {
        self.events.notice(match error {
            CheckRunError::Interrupted => "the checks were stopped".into(),
            error => format!("no check runs: {error}"),
        });
    }

    /// The files before the turn; `None` where no check looks at its end.
    pub(super) async fn before_turn(&self) -> Option<CheckedState> {
        if self.of_turn().is_empty() {
            return None;
        }
        self.state().await
    }

    /// The files as they are now.
    pub(super) async fn state(&self) -> Option<CheckedState> {
        let env = Arc::clone(&self.env);
        let found = tokio::task::spawn_blocking(move || pending_state(&env)).await.ok()?;
        found.map(|found| found.state).map_err(|e| self.events.notice(format!("no check runs: {e}"))).ok()
    }

    /// What the failed checks of this turn send to the agent, after they were sent `sent` times. `before` are the files
    /// before the turn: without a change nothing is checked.
    pub(super) async fn failures(&self, before: Option<&CheckedState>, sent: u32) -> Option<Note> {
        let before = before?;
        let now = self.state().await?;
        if now == *before || self.stop.is_cancelled() {
            return None;
        }
        let mut checks = self.of_turn();
        let changed: Vec<PathBuf> =
            now.selection.0.keys().chain(before.selection.0.keys()).map(PathBuf::from).collect();
        // What was applied during the turn is in no selection.
        if !changed.is_empty() {
            checks = self.concerned(&checks, &changed);
        }
        let most = checks.iter().map(|check| check.rounds).max().unwrap_or_default();
        let (again, shown): (Vec<CheckDefinition>, Vec<CheckDefinition>) =
            checks.into_iter().partition(|check| check.rounds > sent);
        // The person sees them, and the agent has had its rounds.
        drop(self.verdict(shown, (sent, most)).await);
        match self.verdict(again, (sent + 1, most)).await {
            CheckVerdict::Failed(note) => {
                self.events.notice(format!("the agent gets the failures ({} of {most})", sent + 1));
                Some(note)
            }
            CheckVerdict::Passed | CheckVerdict::Unknown => None,
        }
    }

    /// Runs the checks of a goal.
    pub(super) async fn of_goal(&self, goal: &CheckGoal, round: u32) -> CheckVerdict {
        let mut checks = Vec::new();
        for name in &goal.checks {
            match self.env.checks.definitions.iter().find(|check| check.name == *name) {
                Some(check) => checks.push(check.clone()),
                None => {
                    self.events.notice(format!("no check `{}`", placet_text::text::visible::name(name)));
                    return CheckVerdict::Unknown;
                }
            }
        }
        self.verdict(checks, (round, goal.rounds)).await
    }

    async fn verdict(&self, checks: Vec<CheckDefinition>, (round, most): (u32, u32)) -> CheckVerdict {
        let mut failed = Vec::new();
        for check in checks {
            match self.result(check).await {
                Ok(result) => {
                    self.events.notice(check_outcome(&result));
                    if !result.passed() {
                        failed.push(self.failed(&result));
                    }
                }
                Err(e) => {
                    self.report_error(&e);
                    return CheckVerdict::Unknown;
                }
            }
        }
        match failed.is_empty() {
            true => CheckVerdict::Passed,
            false => CheckVerdict::Failed(Note::ChecksFailed { failed, round, most }),
        }
    }

    /// The result for the present files: the stored one, or that of a run.
    pub(super) async fn result(&self, check: CheckDefinition) -> Result<CheckResult, CheckRunError> {
        let (env, stop, events) = (Arc::clone(&self.env), self.stop.clone(), self.events.clone());
        let runtime = Handle::current();
        // Preparing a view reads and writes many files.
        let running = move || {
            let PendingState { set, choice, state } = pending_state(&env)?;
            let store = &env.checks.store;
            if let Some(known) = store.for_state(&check.name, &check.command_hash(), &state.hash) {
                return Ok(known);
            }
            events.notice(format!("the check {} runs; Esc stops it", check.name));
            let request = CheckRunRequest { check: &check, set: &set, choice: &choice };
            runtime.block_on(run_check(&env, store, request, &stop))
        };
        match tokio::task::spawn_blocking(running).await {
            Ok(result) => result,
            Err(e) => Err(CheckRunError::Io(std::io::Error::other(e.to_string()))),
        }
    }

    /// What the agent reads of a failure: the diagnostics, errors first, or else the end of the output.
    fn failed(&self, result: &CheckResult) -> FailedCheck {
        let mut lines = check_details(result);
        if result.diagnostics.is_empty() {
            lines.extend(self.last_lines(&result.check));
        }
        FailedCheck {
            check: result.check.clone(),
            outcome: check_outcome(result),
            lines: self.redacted(&lines),
        }
    }

    pub(super) fn redacted(&self, lines: &[String]) -> Vec<String> {
        lines.iter().map(|line| self.services.secrets().redact(line).into_owned()).collect()
    }

    /// The end of what a check wrote.
    pub(super) fn last_lines(&self, check: &str) -> Vec<String> {
        let read = || -> std::io::Result<String> {
            let mut file = regular_file::open(&self.env.checks.store.output(check))?;
            let size = file.metadata()?.len();
            file.seek(SeekFrom::Start(size.saturating_sub(TAIL)))?;
            let mut bytes = Vec::new();
            file.take(TAIL).read_to_end(&mut bytes)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        let text = read().unwrap_or_default();
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let from = lines.len().saturating_sub(MOST_LINES);
        let shown = lines.iter().skip(from).map(|line| format!("  {}", placet_text::text::for_model(line)));
        shown.collect()
    }

    /// How a goal goes on after a round; `None` begins the next turn.
    pub(super) fn report_end(&self, goal: &CheckGoal, why: GoalStop) {
        let names = goal.checks.join(", ");
        self.events.notice(match why {
            GoalStop::Passed { rounds: 0 } => format!("{names} passed"),
            GoalStop::Passed { rounds } => {
                format!("{names} passed after {}", count::of(u64::from(rounds), "round"))
            }
            GoalStop::Rounds => {
                let rounds = count::of(u64::from(goal.rounds), "round");
                format!("{names} did not pass after {rounds}; /until {} continues", goal.checks.join(","))
            }
            GoalStop::Unchanged => format!("{names} did not pass, and the last round changed nothing"),
        });
    }
}

/// Why a goal ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum GoalStop {
    Passed { rounds: u32 },
    Rounds,
    Unchanged,
}

fn pending_state(env: &ToolContext) -> Result<PendingState, CheckRunError> {
    let view = env.workspace.view().ok_or_else(|| CheckRunError::NoView("there is no view".into()))?;
    let set = view.changes(LayerKind::Pending)?;
    let choice = View::everything(&set);
    let state = CheckedState::of(&env.workspace, view, (&set, &choice))?;
    Ok(PendingState { set, choice, state })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_names_and_a_number_of_rounds() {
        let read = |text: &str| match CheckGoal::parse(text) {
            Ok(CheckGoal { checks, rounds }) => format!("{} {rounds}", checks.join("+")),
            Err(e) => e.to_string(),
        };
        let lines = ["test", "test, lint:3", ":3", "test:0", "test:many"].map(read);
        insta::assert_snapshot!(lines.join("\n"), @r"
        test 5
        test+lint 3
        names of checks are missing
        `0` is not a number of rounds from 1 to 100
        `many` is not a number of rounds from 1 to 100
        ");
    }
}
