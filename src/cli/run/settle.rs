//! What becomes of what a program changed: the question, or what the options say.

use super::args::RunAction;
use super::execute::{CutOffRun, EndedRun};
use super::home_left::HomeLeft;
use super::plan::ProgramPlan;
use super::send_back::{self, NextStart};
use crate::agent::{CommandLineQuestion, MessageReceiver, TurnDecision};
use crate::app::App;
use crate::audit::AuditKind;
use crate::cli::changes::apply_question;
use crate::cli::changes::approvals::{self, ApprovalPrompt};
use crate::cli::changes::pending::{self, SelectedView, list, name_waiting, named_and_pending, waits};
use crate::cli::command_line::options::{Options, OutputFormat};
use crate::cli::report::{self, CliError, UNDO, warn};
use crate::cli::review::{self, PendingReview, ReviewedProgram};
use crate::cli::screen;
use crate::cli::terminal_run::HeldTerminal;
use crate::serve::changes::{self, ApplyRequest, UserReport};
use crate::text::visible;
use crate::ui::apply_progress::with_apply_progress;
use crate::ui::reclaim;
use crate::ui::term::BaseMode;
use crate::workspace::{
    ChangeApproval, ChangeCount, FileChange, LayerKind, PathState, ShownChanges, TransactionLabel, View,
};
use serde_json::Value;
use std::cell::Cell;
use std::path::Path;
use tokio::runtime::Runtime;

/// How a run ended, after the question.
pub(super) struct RunOutcome {
    /// That of the program, unless something stays pending.
    pub(super) code: u8,
    /// What the program changed, as values.
    pub(super) changes: Vec<Value>,
    /// Something is still pending.
    pub(super) pending: bool,
}

/// What follows a run.
pub(super) enum RunEnd {
    Ended(RunOutcome),
    /// The program gets a message and continues. The base mode holds until the program has the terminal.
    Again(NextStart, Option<BaseMode>),
}

pub(super) fn settle(
    app: &App,
    (plan, ran): (&ProgramPlan, &EndedRun),
    (then, options): (RunAction, &Options),
    (held, runtime): (Option<HeldTerminal>, &Runtime),
) -> Result<RunEnd, CliError> {
    let Some(view) = ran.env.workspace.view() else {
        return Ok(RunEnd::Ended(RunOutcome { code: ran.code, changes: Vec::new(), pending: false }));
    };
    let here = view.shown().map_err(CliError::new)?;
    let at_home = home_shown(ran)?;
    let parts: Vec<&ShownChanges> = std::iter::once(&here).chain(&at_home).collect();
    let left = match (&plan.preset, plan.own_home(app)) {
        (None, Some(home)) => HomeLeft::of(view, home)?,
        _ => HomeLeft::default(),
    };
    let note_lines = || {
        ran.withheld.iter().for_each(|line| warn(&format!("note: {line}")));
        if options.output_format == OutputFormat::Text {
            ran.network_lines(plan).iter().for_each(|line| warn(line));
        }
    };
    let left_lines = || left.lines().iter().for_each(|line| warn(line));
    let mut changes = Vec::new();
    if options.output_format == OutputFormat::Json {
        changes.extend(parts.iter().flat_map(|shown| pending::values(shown)));
    }
    let is_stopped = ran.cut_off == Some(CutOffRun::Stopped);
    // Half of what was to be applied is something else: it waits for the person.
    let is_refused = then == RunAction::Apply && ran.cut_off.is_some();
    let then = if is_refused { RunAction::Ask } else { then };
    let settling = Settling { app, plan, ran, view, then, runtime, is_incomplete: Cell::new(false) };
    let mut approvals = named_and_pending(&parts, &ran.env.workspace, options)?;
    if ran.cut_off.is_some() {
        approvals.iter_mut().for_each(|approval| *approval = ChangeApproval::none());
    }
    if parts.iter().all(|shown| shown.is_empty()) {
        note_lines();
        // Not before the paths of options were checked.
        warn("no changes");
        left_lines();
        settling.drop_home()?;
        return Ok(RunEnd::Ended(RunOutcome { code: ran.code, changes, pending: false }));
    }
    let asks = !is_stopped
        && !is_refused
        && then == RunAction::Ask
        && approvals.iter().all(ChangeApproval::is_none)
        && approvals::can_ask()
        && options.output_format == OutputFormat::Text;
    let base = match (asks, held) {
        (false, held) => {
            // Whatever follows has the terminal as the person's shell left it.
            drop(held);
            None
        }
        (true, Some(held)) => Some(held.into_base()),
        (true, None) => BaseMode::enter_any().inspect(|_| reclaim::before_question()).ok(),
    };
    // Before the question, on its screen: who reads them can still decide what to do with these files.
    note_lines();
    left_lines();
    // A refused apply tells it with what it refuses.
    let failure = ran.failure(&visible::name(plan.name())).filter(|_| !is_refused);
    if let (Some(failure), OutputFormat::Text) = (failure, options.output_format) {
        screen::warn_coloured(app, &failure)?;
    }
    let failed = match base {
        Some(base) => {
            // The question reads the changes itself, and there may be hundreds of thousands.
            drop((here, at_home));
            if let Some((next, base)) = settling.ask(base)? {
                return Ok(RunEnd::Again(next, base));
            }
            false
        }
        None => {
            // The next start in this directory says how much is pending.
            here.count();
            !settling.without_question(here, at_home, approvals)?
        }
    };
    let is_left = settling.is_left()?;
    let why = ran.cut_off.filter(|_| is_left && is_refused);
    if let Some(how) = why.and_then(|cut| cut.words(&visible::name(plan.name()))) {
        warn(&format!("not applied: {how}, and its changes may be incomplete"));
    }
    if !is_left {
        settling.drop_home()?;
    }
    let code = match (failed, is_left) {
        (true, _) => report::ERROR,
        (_, true) if is_stopped && ran.terminal.is_none() => ran.code,
        (_, true) => report::REFUSED,
        _ if settling.is_incomplete.get() => report::INCOMPLETE,
        _ => ran.code,
    };
    Ok(RunEnd::Ended(RunOutcome { code, changes, pending: is_left }))
}

/// The name by which `--session` finds the changes in the home directory of the run `name`.
fn home_name(name: &str) -> String {
    format!("{name}-home")
}

/// What a review does not have, of the same question.
fn elsewhere_words(count: ChangeCount, place: &str) -> String {
    format!("not in this review: {count} of {place}; after the review you are asked about the rest")
}

/// The changes in the home directory that stay pending. Directories without a file in them do not: they would be asked
/// about after the files in them were discarded.
fn home_shown(ran: &EndedRun) -> Result<Option<ShownChanges>, CliError> {
    let Some(home) = &ran.home else { return Ok(None) };
    let shown = home.shown().map_err(CliError::new)?;
    // Not by their number: a person does not count what is in a `.git`.
    let is_dir = |node: &PathState| node.is_directory() || node.is_absent();
    let has_file = |change: &FileChange| !is_dir(&change.before) || !is_dir(&change.after);
    if shown.set().changes.iter().any(has_file) {
        return Ok(Some(shown));
    }
    home.discard_everything().map_err(CliError::new)?;
    Ok(None)
}

struct Settling<'a> {
    app: &'a App,
    plan: &'a ProgramPlan,
    ran: &'a EndedRun,
    view: &'a View,
    then: RunAction,
    runtime: &'a Runtime,
    /// Something was applied, and not everything that belongs to it was done.
    is_incomplete: Cell<bool>,
}

impl Settling<'_> {
    /// The question about the workspace and about files of the home directory that run later. Returns how the program
    /// starts again, if the person sends it a message, and the base mode for it.
    fn ask(&self, base: BaseMode) -> Result<Option<(NextStart, Option<BaseMode>)>, CliError> {
        let mut base = Some(base);
        while base.is_some() {
            match self.question()? {
                decision @ (TurnDecision::Review | TurnDecision::ReviewAtHome) => {
                    drop(base.take());
                    let reviewed = self.review(decision)?;
                    base = BaseMode::enter_any().ok();
                    let is_all_decided = !self.has_changes()?;
                    // With nothing left to ask about, the message would have to wait for another run.
                    let sends = reviewed.sends_now || reviewed.has_report && is_all_decided;
                    if sends
                        && base.is_some()
                        && let Some(next) = self.send_back(&mut base)?
                    {
                        return Ok(Some((next, base)));
                    }
                }
                TurnDecision::SendBack => {
                    if let Some(next) = self.send_back(&mut base)? {
                        return Ok(Some((next, base)));
                    }
                }
                _ => break,
            }
        }
        Ok(None)
    }

    fn question(&self) -> Result<TurnDecision, CliError> {
        let ran = self.ran;
        let home = ran.home.as_ref().map(|home| ran.env.workspace.with_view(home.clone()));
        let sends_to = self.receiver();
        let asked = CommandLineQuestion { label: ran.label.clone(), sends_to };
        let places = (&ran.env.workspace, home.as_ref());
        self.runtime.block_on(apply_question::ask(self.app, places, asked, "placet run"))
    }

    /// `None` for a command without a preset: most commands read no message.
    fn receiver(&self) -> Option<MessageReceiver> {
        self.plan.preset.as_ref()?;
        let resumes = send_back::resumed_words(self.app, (self.plan, self.ran), "").is_some();
        Some(MessageReceiver { program: self.plan.name().into(), resumes })
    }

    fn has_changes(&self) -> Result<bool, CliError> {
        Ok(!self.view.changes(LayerKind::Pending).map_err(CliError::new)?.is_empty())
    }

    /// The review of the workspace or of the home directory. The journal entries are those of the program.
    fn review(&self, decision: TurnDecision) -> Result<PendingReview, CliError> {
        let ran = self.ran;
        let (name, view, elsewhere) = match &ran.home {
            Some(home) if decision == TurnDecision::ReviewAtHome => {
                let here = self.view.changes(LayerKind::Pending).map_err(CliError::new)?;
                let here =
                    (!here.is_empty()).then(|| elsewhere_words(self.view.count(&here), "the workspace"));
                (home_name(&ran.name), home.clone(), here)
            }
            Some(_) => {
                let at_home = |shown: ShownChanges| elsewhere_words(shown.count(), "your home directory");
                (ran.name.clone(), self.view.clone(), home_shown(ran)?.map(at_home))
            }
            None => (ran.name.clone(), self.view.clone(), None),
        };
        let workspace = ran.env.workspace.with_view(view.clone());
        let program = ReviewedProgram {
            name: visible::name(self.plan.name()).into_owned(),
            label: ran.label.clone(),
            gets_report: self.receiver().is_some(),
        };
        let chosen = SelectedView { name, view, workspace };
        review::of_program(self.app, &chosen, program, elsewhere)
    }

    /// Asks for the message and prepares the start with it. `base` is released while the person passes the message on.
    fn send_back(&self, base: &mut Option<BaseMode>) -> Result<Option<NextStart>, CliError> {
        let of = (&self.ran.env.workspace, self.view);
        let Some(receiver) = self.receiver() else { return Ok(None) };
        let Some(message) = send_back::compose(self.app, of, &receiver, self.runtime)? else {
            return Ok(None);
        };
        // Where the program gets the message by itself, the terminal never has its own mode: keys that are typed until the
        // program starts would be shown, and Ctrl-C would go to the person's script.
        if !receiver.resumes {
            drop(base.take());
        }
        let next = send_back::prepare(self.app, (self.plan, self.ran), &message)?;
        if base.is_none() {
            *base = BaseMode::enter_any().ok();
        }
        Ok(next)
    }

    /// What the options say. Returns false if something failed.
    fn without_question(
        &self,
        here: ShownChanges,
        at_home: Option<ShownChanges>,
        approvals: Vec<ChangeApproval>,
    ) -> Result<bool, CliError> {
        let (ran, workspace) = (self.ran, &self.ran.env.workspace);
        let name = |path: &Path| workspace.shortened(path);
        list(&std::iter::once(&here).chain(&at_home).collect::<Vec<_>>(), workspace);
        let names = [ran.name.clone(), home_name(&ran.name)];
        let parts = names.into_iter().zip(std::iter::once(here).chain(at_home));
        let mut done = true;
        for ((of, shown), approval) in parts.zip(approvals).filter(|((_, shown), _)| !shown.is_empty()) {
            match self.then {
                RunAction::Ask if approval.is_none() => {}
                RunAction::Apply | RunAction::Ask => {
                    let wanted = ApplyRequest {
                        approval,
                        only_approved: self.then == RunAction::Ask,
                        ..ApplyRequest::default()
                    };
                    let view = shown.view().clone();
                    let workspace = workspace.with_view(view.clone());
                    done &= self.apply(&SelectedView { name: of, view, workspace }, shown, wanted)?;
                }
                RunAction::Discard => {
                    let told = changes::discard(shown, &[], UNDO, &name);
                    warn(&visible::guard(&told.lines.join("\n")));
                    done &= told.done;
                }
            }
        }
        Ok(done)
    }

    /// Applies what is wanted, and asks where a person is about what needs an approval of its own.
    fn apply(
        &self,
        chosen: &SelectedView,
        shown: ShownChanges,
        mut wanted: ApplyRequest,
    ) -> Result<bool, CliError> {
        let (workspace, label) = (&chosen.workspace, &self.ran.label);
        let prompt = ApprovalPrompt::here(self.app);
        if let Some(prompt) = &prompt {
            prompt.confirm_losses(&shown, workspace, &mut wanted)?;
        }
        let progress = chosen.view.clone();
        let told = with_apply_progress(progress.apply_progress(), &|| false, || {
            changes::apply(shown, &wanted, label.clone(), UNDO, &|path: &Path| workspace.shortened(path))
        });
        self.is_incomplete.set(self.is_incomplete.get() || told.incomplete);
        let Some(prompt) = prompt.filter(|_| told.done) else {
            self.record(AuditKind::Apply, &told)?;
            name_waiting(&told, None);
            return Ok(told.done);
        };
        self.record(AuditKind::Apply, &told.before_questions())?;
        prompt
            .one_by_one(chosen, &told.waiting_paths(), label, &mut |kind, told| self.record(kind, &told))?;
        Ok(told.done)
    }

    /// Into the audit log, and to the person.
    fn record(&self, kind: AuditKind, told: &UserReport) -> Result<(), CliError> {
        let text = told.lines.join("\n");
        if told.done && !text.is_empty() {
            log(self.app, kind, &self.ran.label, &text)?;
        }
        if !text.is_empty() {
            warn(&visible::guard(&text));
        }
        Ok(())
    }

    /// Returns true when changes are still pending, and reports them.
    fn is_left(&self) -> Result<bool, CliError> {
        let here = self.view.has_changes(LayerKind::Pending).map_err(CliError::new)?;
        let at_home = home_shown(self.ran)?;
        if here {
            waits(&self.ran.name);
        }
        if let Some(shown) = &at_home {
            warn(&format!(
                "pending in your home directory: {}; the next run asks again, `placet apply --session {}` applies",
                shown.count(),
                home_name(&self.ran.name)
            ));
        }
        Ok(here || at_home.is_some())
    }

    /// What the program left in the home directory ends with the view.
    fn drop_home(&self) -> Result<(), CliError> {
        let Some(home) = self.app.workspace.home().and_then(|home| home.canonicalize().ok()) else {
            return Ok(());
        };
        if self.app.workspace.roots().iter().any(|root| home.starts_with(root)) {
            return Ok(());
        }
        self.view.home_changes(&home).discard_everything().map_err(CliError::new)
    }
}

/// Logs a decision about the changes of a program.
fn log(app: &App, kind: AuditKind, label: &TransactionLabel, text: &str) -> Result<(), CliError> {
    let logged = match &label.program {
        Some(program) => app.gate.log_program_decision(kind, "placet run", program, text),
        None => app.gate.log_decision(kind, "placet run", None, text),
    };
    Ok(logged?)
}
