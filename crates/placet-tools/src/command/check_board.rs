//! The checks next to a question: what is known of each on the changes that are asked about, and runs of them in the
//! background while the person reads.
//!
//! A run belongs to one selection of one change set. When the board gets another selection, or is dropped because the
//! question was left, the run is killed: nobody would look at its result.

use super::check_run::{CheckRunError, CheckRunRequest, CheckedState, run_check};
use crate::ToolContext;
use placet_checks::{CheckDefinition, CheckMoment, CheckResult, CheckRow, CheckRowState};
use placet_workspace::{ChangeSelection, ChangeSet, CheckViewError, LayerKind, View};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

/// How long a run waits for an earlier run of the same check to be killed, and how often it looks.
const BUSY: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// How long a decision waits for what is known of the checks. After that they count as not passed.
const KNOWN: Duration = Duration::from_secs(5);

/// Which checks run without being asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckStart {
    /// None: only what is known is shown.
    Nothing,
    /// Those of [`CheckMoment::Apply`] that have no result for this state.
    OfQuestion,
    /// All that have not passed on this state.
    All,
}

/// What checks run on.
#[derive(Clone)]
struct BoardSubject {
    set: Arc<ChangeSet>,
    choice: Arc<ChangeSelection>,
}

#[derive(Default)]
struct BoardState {
    rows: Vec<CheckRow>,
    subject: Option<BoardSubject>,
    /// Kills the work of this round.
    cancel: CancellationToken,
    /// Counts subjects: work of an earlier one changes nothing any more.
    round: u64,
    /// A thread works on this round.
    works: bool,
    start: Option<CheckStart>,
}

/// The checks that the changes of a question need.
pub struct CheckBoard {
    env: Arc<ToolContext>,
    runtime: Handle,
    state: Arc<Mutex<BoardState>>,
}

impl std::fmt::Debug for CheckBoard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CheckBoard").field("rows", &self.rows()).finish_non_exhaustive()
    }
}

impl Drop for CheckBoard {
    fn drop(&mut self) {
        lock(&self.state).cancel.cancel();
    }
}

fn lock(state: &Mutex<BoardState>) -> MutexGuard<'_, BoardState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CheckBoard {
    /// `None` where no check is defined, or nothing can be pending.
    pub fn new(env: &Arc<ToolContext>, runtime: Handle) -> Option<CheckBoard> {
        if env.checks.is_empty() || env.workspace.view().is_none() {
            return None;
        }
        Some(CheckBoard { env: Arc::clone(env), runtime, state: Arc::default() })
    }

    /// Shows `choice` of `set`, which is what is pending. Runs of another selection are killed.
    pub fn look(&self, set: Arc<ChangeSet>, choice: ChangeSelection, start: CheckStart) {
        let cwd = self.env.workspace.cwd();
        let checks = self.env.checks.concerned(choice.keys().map(|path| &**path), cwd);
        self.look_with(checks, (set, choice), start);
    }

    /// Shows every check on all that is pending now. Nothing is run.
    pub fn look_at_all(&self) -> io::Result<()> {
        let Some(view) = self.env.workspace.view() else { return Ok(()) };
        let set = view.changes(LayerKind::Pending)?;
        let choice = View::everything(&set);
        self.look_with(self.env.checks.definitions.clone(), (Arc::new(set), choice), CheckStart::Nothing);
        Ok(())
    }

    fn look_with(
        &self,
        checks: Vec<CheckDefinition>,
        (set, choice): (Arc<ChangeSet>, ChangeSelection),
        start: CheckStart,
    ) {
        let mut rows: Vec<CheckRow> = checks
            .iter()
            .map(|check| CheckRow {
                name: check.name.clone(),
                is_required: check.is_required,
                state: CheckRowState::Looking,
            })
            .collect();
        if let Some(problem) = &self.env.checks.problem {
            let state = CheckRowState::Impossible(problem.clone());
            rows.push(CheckRow { name: "checks".into(), is_required: true, state });
        }
        let mut state = lock(&self.state);
        state.cancel.cancel();
        *state = BoardState {
            rows,
            subject: Some(BoardSubject { set, choice: Arc::new(choice) }),
            cancel: CancellationToken::new(),
            round: state.round + 1,
            works: false,
            start: Some(start),
        };
        self.work(&mut state);
    }

    /// The same for what is pending now.
    pub fn look_at_pending(&self, choice: ChangeSelection, start: CheckStart) -> io::Result<()> {
        let Some(view) = self.env.workspace.view() else { return Ok(()) };
        let set = view.changes(LayerKind::Pending)?;
        self.look(Arc::new(set), choice, start);
        Ok(())
    }

    /// Waits until the state is known, at most as long as the files of the workspace may take to be listed. Runs are not
    /// waited for.
    pub fn wait_until_known(&self) {
        let until = Instant::now() + KNOWN;
        let is_unknown = |row: &CheckRow| matches!(row.state, CheckRowState::Looking);
        while self.rows().iter().any(is_unknown) && Instant::now() < until {
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// Runs every check that has not passed on this state.
    pub fn run(&self) {
        lock(&self.state).start = Some(CheckStart::All);
        self.run_these(CheckRow::can_run);
    }

    /// Runs these checks, whatever is known of them.
    pub fn run_these(&self, is_wanted: impl Fn(&CheckRow) -> bool) {
        let mut state = lock(&self.state);
        for row in state.rows.iter_mut().filter(|row| is_wanted(row) && !row.is_busy()) {
            row.state = CheckRowState::Waiting;
        }
        self.work(&mut state);
    }

    pub fn rows(&self) -> Vec<CheckRow> {
        lock(&self.state).rows.clone()
    }

    /// What the rows are about.
    pub fn choice(&self) -> Option<Arc<ChangeSelection>> {
        lock(&self.state).subject.as_ref().map(|subject| Arc::clone(&subject.choice))
    }

    pub fn is_busy(&self) -> bool {
        lock(&self.state).rows.iter().any(CheckRow::is_busy)
    }

    /// Starts a thread for the present round where none works on it.
    fn work(&self, state: &mut BoardState) {
        let Some(subject) = state.subject.clone().filter(|_| !state.works) else { return };
        state.works = true;
        let round = BoardRound {
            env: Arc::clone(&self.env),
            runtime: self.runtime.clone(),
            state: Arc::clone(&self.state),
            cancel: state.cancel.clone(),
            round: state.round,
            subject,
        };
        // Not a task: preparing a view reads and writes many files.
        drop(self.runtime.spawn_blocking(move || round.work()));
    }
}

/// The work on one subject.
struct BoardRound {
    env: Arc<ToolContext>,
    runtime: Handle,
    state: Arc<Mutex<BoardState>>,
    cancel: CancellationToken,
    round: u64,
    subject: BoardSubject,
}

impl BoardRound {
    /// Changes the board, unless it shows something else by now.
    fn update<T>(&self, change: impl FnOnce(&mut BoardState) -> T) -> Option<T> {
        let mut state = lock(&self.state);
        (state.round == self.round).then(|| change(&mut state))
    }

    fn set(&self, name: &str, to: CheckRowState) -> Option<()> {
        self.update(|state| {
            if let Some(row) = state.rows.iter_mut().find(|row| row.name == name) {
                row.state = to;
            }
        })
    }

    fn work(&self) {
        let mut hash = self.look();
        loop {
            let next = self.update(|state| {
                let next = state.rows.iter().find(|row| matches!(row.state, CheckRowState::Waiting));
                let next = next.map(|row| row.name.clone());
                state.works = next.is_some();
                next
            });
            let Some(Some(name)) = next else { return };
            let Some(check) = self.env.checks.definitions.iter().find(|check| check.name == name) else {
                return;
            };
            if self.set(&name, CheckRowState::Running { since: Instant::now() }).is_none() {
                return;
            }
            match self.run(check) {
                Ok(result) => {
                    let is_same = hash.as_ref().is_some_and(|hash| *hash == result.state);
                    self.set(&name, CheckRowState::Here(Arc::new(result)));
                    // Files of the workspace changed: the other results are of another state.
                    if !is_same {
                        hash = self.look();
                    }
                }
                Err(CheckRunError::Interrupted) => {
                    self.set(&name, CheckRowState::NotRun);
                }
                Err(e) => {
                    self.set(&name, CheckRowState::Impossible(e.to_string()));
                }
            }
        }
    }

    /// Finds what is known of each check on the present state; and its hash.
    fn look(&self) -> Option<placet_checks::StateHash> {
        let view = self.env.workspace.view()?;
        let BoardSubject { set, choice } = &self.subject;
        let found = CheckedState::of(&self.env.workspace, view, (set, choice));
        let checks = &self.env.checks;
        let known = |check: &CheckDefinition, state: &CheckedState| {
            let command = check.command_hash();
            match checks.store.for_state(&check.name, &command, &state.hash) {
                Some(result) => CheckRowState::Here(Arc::new(result)),
                None => match checks
                    .store
                    .newest(&check.name, &command)
                    .filter(|result| !state.is_of_others(result, view))
                {
                    Some(result) => {
                        let since = state.age_of(&result);
                        CheckRowState::Earlier { result: Arc::new(result), since }
                    }
                    None => CheckRowState::NotRun,
                },
            }
        };
        let of = |name: &str| checks.definitions.iter().find(|check| check.name == name);
        // Reading the results takes time: the board is locked only to take them in.
        let names: Vec<String> =
            self.update(|state| state.rows.iter().map(|row| row.name.clone()).collect())?;
        let states = names.iter().filter_map(|name| {
            let check = of(name)?;
            let state = match &found {
                Ok(state) => known(check, state),
                Err(e) => CheckRowState::Impossible(e.to_string()),
            };
            Some((check, state))
        });
        let states: Vec<(&CheckDefinition, CheckRowState)> = states.collect();
        self.update(|board| {
            for (check, state) in states {
                let Some(row) = board.rows.iter_mut().find(|row| row.name == check.name) else { continue };
                // It runs in any case.
                if matches!(row.state, CheckRowState::Waiting) {
                    continue;
                }
                let starts = match board.start {
                    Some(CheckStart::All) => !is_passed(&state),
                    Some(CheckStart::OfQuestion) => {
                        check.when == CheckMoment::Apply && !matches!(state, CheckRowState::Here(_))
                    }
                    Some(CheckStart::Nothing) | None => false,
                };
                row.state = if starts && found.is_ok() { CheckRowState::Waiting } else { state };
            }
            // A later look, after the workspace changed, starts nothing.
            board.start = None;
        })?;
        found.ok().map(|state| state.hash)
    }

    fn run(&self, check: &CheckDefinition) -> Result<CheckResult, CheckRunError> {
        let BoardSubject { set, choice } = &self.subject;
        let until = Instant::now() + BUSY;
        loop {
            let request = CheckRunRequest { check, set, choice };
            let running = run_check(&self.env, &self.env.checks.store, request, &self.cancel);
            match self.runtime.block_on(running) {
                // The run of the selection before is being killed.
                Err(CheckRunError::View(CheckViewError::Busy)) if Instant::now() < until => {
                    if self.cancel.is_cancelled() {
                        return Err(CheckRunError::Interrupted);
                    }
                    std::thread::sleep(LOOK_AGAIN);
                }
                ended => return ended,
            }
        }
    }
}

fn is_passed(state: &CheckRowState) -> bool {
    matches!(state, CheckRowState::Here(result) if result.passed())
}
