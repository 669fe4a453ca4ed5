//! `placet checks`, and `placet apply --checked`.

use super::changes::approvals::ApprovalPrompt;
use super::changes::pending::{HOME_CHANGES, approval, chosen, cli_label, report_applied, resolved};
use super::checks_detect;
use super::command_line::checks_args::ChecksCommand;
use super::command_line::options::Options;
use super::command_line::session_selector::SessionSelector;
use super::report::{self, CliError, UNDO, print_foreign, print_list, warn};
use super::startup::{signals, start};
use crate::app::App;
use crate::audit::AuditKind;
use crate::checks::{CheckDefinition, CheckResult, check_details, check_outcome, result_age_words};
use crate::serve::changes::{self, ApplyRequest};
use crate::session::Scratchpads;
use crate::text::{count, regular_file, visible};
use crate::tools::{CheckRunError, CheckRunRequest, CheckedState, ToolContext, run_check};
use crate::workspace::{
    ChangeSelection, CheckViewError, PassedCheck, ShownChanges, TransactionLabel, View, Workspace,
};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The largest stored output that is shown.
const LARGEST: u64 = 128 << 20;

pub(super) fn run(command: Option<ChecksCommand>, options: &Options) -> Result<u8, CliError> {
    match command.unwrap_or(ChecksCommand::List { which: SessionSelector::default() }) {
        ChecksCommand::List { which } => list(&which, options),
        ChecksCommand::Run { names, fresh, which } => run_named(&names, fresh, &which, options),
        ChecksCommand::Output { name } => output(&name, options),
        ChecksCommand::Detect { write } => checks_detect::detect(write, options),
    }
}

/// What is pending, for checks: also where nothing is.
struct CheckTarget {
    name: String,
    env: Arc<ToolContext>,
    view: View,
    shown: ShownChanges,
}

impl CheckTarget {
    fn of(app: &App, which: &SessionSelector) -> Result<CheckTarget, CliError> {
        let name = chosen(app, which)?.map_or_else(|| app.fresh_view(), |selected| selected.name);
        CheckTarget::named(app, name)
    }

    fn named(app: &App, name: String) -> Result<CheckTarget, CliError> {
        if name.ends_with(HOME_CHANGES) {
            return Err(CliError::new("checks run on the workspace, not on changes of the home directory")
                .hint("choose another session with --session"));
        }
        let env = app.env(Arc::new(Scratchpads::in_memory()), &name);
        let view = env.workspace.view().cloned().ok_or_else(|| CliError::new("there is no view"))?;
        let shown = view.shown().map_err(CliError::new)?;
        Ok(CheckTarget { name, env, view, shown })
    }

    fn workspace(&self) -> &Workspace {
        &self.env.workspace
    }

    fn state(&self, choice: &ChangeSelection) -> Result<CheckedState, CliError> {
        CheckedState::of(self.workspace(), &self.view, (self.shown.set(), choice)).map_err(failure)
    }

    /// True where a chosen change can change the result of the check.
    fn concerns(&self, check: &CheckDefinition, choice: &ChangeSelection) -> bool {
        choice.keys().any(|path| check.concerns(path.strip_prefix(self.workspace().cwd()).unwrap_or(path)))
    }
}

fn failure(error: CheckRunError) -> CliError {
    let hint = match &error {
        CheckRunError::View(CheckViewError::Busy) => Some("wait until the other run has ended"),
        CheckRunError::View(CheckViewError::Updated) => Some("run the check again"),
        CheckRunError::NoView(_) => Some("`placet doctor` shows what is missing"),
        _ => None,
    };
    let code = if matches!(error, CheckRunError::Interrupted) { report::INTERRUPTED } else { report::ERROR };
    let failed = CliError { code, ..CliError::new(error) };
    match hint {
        Some(hint) => failed.hint(hint),
        None => failed,
    }
}

fn definitions(app: &App) -> Result<Vec<CheckDefinition>, CliError> {
    app.checks().map_err(|e| {
        CliError::new(e).hint("correct the settings; `placet config show --origin` names the file")
    })
}

fn none(app: &App) -> u8 {
    match app.config.untrusted_checks() {
        0 => warn("no checks; `placet checks detect` proposes some"),
        set => warn(&format!(
            "no checks in use: {} of this project {} not trusted",
            count::of(set, "check"),
            if set == 1 { "is" } else { "are" }
        )),
    }
    report::DONE
}

fn list(which: &SessionSelector, options: &Options) -> Result<u8, CliError> {
    let app = start::app(options)?;
    let checks = definitions(&app)?;
    if checks.is_empty() {
        return Ok(none(&app));
    }
    let target = CheckTarget::of(&app, which)?;
    let everything = View::everything(target.shown.set());
    let (state, store) = (target.state(&everything)?, app.check_store());
    let mut out = String::new();
    for check in &checks {
        let required = if check.is_required { " (required)" } else { "" };
        let _ = writeln!(out, "{}{required}: {}", check.name, visible::line(&check.command));
        let said = match store.for_state(&check.name, &check.command_hash(), &state.hash) {
            Some(result) => format!("{} (this state)", after_name(&check_outcome(&result))),
            None => match store.newest(&check.name, &check.command_hash()) {
                None => "not run yet".into(),
                Some(result) => {
                    let since = result_age_words(state.age_of(&result));
                    format!("{} ({since})", after_name(&check_outcome(&result)))
                }
            },
        };
        let _ = writeln!(out, "  {said}");
    }
    print_list(&out).map(|()| report::DONE)
}

/// The outcome without the name of its check.
fn after_name(outcome: &str) -> &str {
    outcome.split_once(": ").map_or(outcome, |(_, said)| said)
}

/// Fails where a name is not one of a check.
pub(super) fn needs_checks(app: &App, names: &[String]) -> Result<(), CliError> {
    all_known(&definitions(app)?, names)
}

fn all_known(checks: &[CheckDefinition], names: &[String]) -> Result<(), CliError> {
    let Some(unknown) = names.iter().find(|name| checks.iter().all(|check| check.name != **name)) else {
        return Ok(());
    };
    let known: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
    let hint = match known.is_empty() {
        true => "`placet checks detect` proposes checks".into(),
        false => format!("the checks are {}", known.join(", ")),
    };
    Err(CliError::new(format!("no check `{}`", visible::name(unknown))).hint(&hint))
}

fn run_named(
    names: &[String],
    fresh: bool,
    which: &SessionSelector,
    options: &Options,
) -> Result<u8, CliError> {
    let app = start::app(options)?;
    let mut checks = definitions(&app)?;
    all_known(&checks, names)?;
    checks.retain(|check| names.is_empty() || names.contains(&check.name));
    if checks.is_empty() {
        return Ok(none(&app));
    }
    let target = CheckTarget::of(&app, which)?;
    let everything = View::everything(target.shown.set());
    let wanted: Vec<&CheckDefinition> = checks.iter().collect();
    let results = run_all(&app, &target, (&wanted, &everything), fresh)?;
    Ok(if results.iter().all(CheckResult::passed) { report::DONE } else { report::ERROR })
}

/// Runs the checks one after the other: they share the processors and the build output of the same project.
fn run_all(
    app: &App,
    target: &CheckTarget,
    (checks, choice): (&[&CheckDefinition], &ChangeSelection),
    fresh: bool,
) -> Result<Vec<CheckResult>, CliError> {
    let runtime = start::runtime()?;
    let current = signals::CurrentTurn::default();
    let _watch = signals::watch_for_now(&runtime, current.clone());
    let cancel = CancellationToken::new();
    current.set(Some(cancel.clone()));
    let store = app.check_store();
    let mut results = Vec::new();
    for &check in checks {
        if fresh {
            target.view.forget_check(&check.name).map_err(|e| failure(e.into()))?;
        }
        let request = CheckRunRequest { check, set: target.shown.set(), choice };
        let result = runtime.block_on(run_check(&target.env, &store, request, &cancel)).map_err(failure)?;
        print_list(&format!("{}\n", check_outcome(&result)))?;
        for line in check_details(&result) {
            print_list(&format!("{line}\n"))?;
        }
        if !result.passed() && result.output_bytes > 0 {
            warn(&format!("hint: `placet checks output {}` shows its output", check.name));
        }
        results.push(result);
    }
    Ok(results)
}

fn output(name: &str, options: &Options) -> Result<u8, CliError> {
    let app = start::app(options)?;
    if !definitions(&app)?.iter().any(|check| check.name == name) {
        return Err(CliError::new(format!("no check `{}`", visible::name(name)))
            .hint("`placet checks list` lists the checks"));
    }
    match regular_file::read(&app.check_store().output(name), LARGEST) {
        Ok(bytes) => print_foreign(&String::from_utf8_lossy(&bytes)).map(|()| report::DONE),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            warn(&format!("the check {name} has not run yet"));
            Ok(report::DONE)
        }
        Err(e) => Err(CliError::new(format!("cannot read the stored output: {e}"))),
    }
}

/// Applies changes only if every required check passes on exactly what is applied. Checks without a result for this state
/// run now. Nobody is asked: what needs an approval of its own stays pending, unless an option names it.
pub(super) fn apply_checked(
    paths: &[PathBuf],
    which: &SessionSelector,
    options: &Options,
) -> Result<u8, CliError> {
    let app = start::app(options)?;
    let mut required = definitions(&app)?;
    required.retain(|check| check.is_required);
    if required.is_empty() {
        return Err(CliError::new("no check is required")
            .hint("set `required = true` in a [checks.NAME], or use `placet apply`"));
    }
    let Some(selected) = chosen(&app, which)? else {
        warn("nothing is pending");
        return Ok(report::DONE);
    };
    let target = CheckTarget::named(&app, selected.name)?;
    let shown = |path: &Path| target.workspace().shortened(path);
    let approval = approval(resolved(target.workspace(), &options.changes.apply_protected)?, options);
    let paths = resolved(target.workspace(), paths)?;
    let mut wanted = ApplyRequest { paths, approval, only_approved: false, reviewed: None };
    if let Some(prompt) = ApprovalPrompt::here(&app) {
        prompt.confirm_losses(&target.shown, target.workspace(), &mut wanted)?;
    }
    let choice = wanted.choice(&target.shown, &shown).map_err(CliError::new)?;
    let choice = target.shown.permitted(choice, &wanted.approval).choice;
    required.retain(|check| target.concerns(check, &choice));
    let (state, store) = (target.state(&choice)?, app.check_store());
    let has_passed = |check: &&CheckDefinition| {
        let known = store.for_state(&check.name, &check.command_hash(), &state.hash);
        known.is_some_and(|result| result.passed())
    };
    let missing: Vec<&CheckDefinition> = required.iter().filter(|check| !has_passed(check)).collect();
    let ran = run_all(&app, &target, (&missing, &choice), false)?;
    if let Some(failed) = ran.iter().find(|result| !result.passed()) {
        return Err(CliError {
            code: report::REFUSED,
            ..CliError::new(format!("not applied: the required check {} did not pass", failed.check))
        });
    }
    if target.state(&choice)? != state {
        let moved = CliError::new("not applied: files changed while the checks ran");
        return Err(CliError { code: report::REFUSED, ..moved }.hint("run `placet apply --checked` again"));
    }
    let checks: Vec<PassedCheck> = required
        .iter()
        .map(|check| PassedCheck { check: check.name.clone(), state: state.hash.to_string() })
        .collect();
    let by = "placet apply --checked";
    let label = TransactionLabel { checks: checks.clone(), ..cli_label(&target.name, by) };
    let mut told = changes::apply(target.shown.clone(), &wanted, label.clone(), UNDO, &shown);
    if told.done {
        told.checks = checks;
        let names: Vec<&str> = required.iter().map(|check| check.name.as_str()).collect();
        told.lines.push(match names.is_empty() {
            true => "checked: no required check depends on these changes".into(),
            false => format!("checked: {} passed in state {}", names.join(", "), state.hash.short()),
        });
    }
    let of = ((&target.view, target.workspace()), &label);
    report_applied(&app, (AuditKind::Apply, by), &told, of, options.changes.apply_loss)
}
