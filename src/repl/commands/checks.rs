//! `/checks`: the checks of the settings on what is pending, in the shell.

use crate::agent::{CheckGoal, PENDING_COMMANDS, TurnStart};
use crate::checks::{
    CheckRow, CheckRowState, NothingProposed, OutputToShow, ProjectChecks, check_details, check_row_words,
    proposed_addition,
};
use crate::config::{AppDirs, ProposedSettings, home_dir};
use crate::conversation::Part;
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::text::{count, regular_file, visible};
use crate::tools::{CHECKS_TOOL, CheckBoard, ToolContext};
use crate::ui::line_ui::{LineUi, TerminalLineUi};
use crate::workspace::{OpenConsent, View, Workspace, WorkspaceError};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// There is no check yet, and placet proposed some.
const PROPOSED_PENDING: &str = "the proposed checks are pending";

/// How long one look at the keyboard takes while checks run.
const LOOK: Duration = Duration::from_millis(100);

/// `/checks [run [NAME ...]|output NAME|detect]`
pub(super) fn checks(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let words: Vec<&str> = rest.split_whitespace().collect();
    match words.as_slice() {
        [] | ["list"] => list(context),
        ["run", names @ ..] => run(context, names),
        ["output", name] => output(context, name),
        ["detect"] => detect(context),
        _ => Err(CommandStop::with_hint(
            "/checks lists the checks; `run`, `output` and `detect` are its words",
            "/checks run, /checks run test, /checks output test",
        )),
    }
}

/// What checks of this view run with; `None` where no check is set. What an earlier session left is in another view than
/// the conversation's.
pub(in crate::repl) fn check_env(
    context: &mut CommandContext<'_>,
    workspace: &Workspace,
    view: &View,
) -> Option<Arc<ToolContext>> {
    if context.app.config.checks().is_empty() {
        return None;
    }
    let env = context.conversation.agent_for("", &context.output).ok()?.env();
    let is_own = env.workspace.view().is_some_and(|own| own.dir() == view.dir());
    Some(match is_own {
        true => Arc::clone(env),
        false => Arc::new(ToolContext { workspace: workspace.clone(), ..env.for_child() }),
    })
}

/// What the command works with.
fn env(context: &mut CommandContext<'_>) -> Result<Arc<ToolContext>, CommandStop> {
    let (workspace, view) = context.viewed()?;
    let Some(env) = check_env(context, &workspace, &view) else {
        return Err(match proposal_is_pending(context, &workspace) {
            true => CommandStop::with_hint(PROPOSED_PENDING, PENDING_COMMANDS),
            false => CommandStop::with_hint("no check is set", "/checks detect proposes checks"),
        });
    };
    match &env.checks.problem {
        Some(problem) => Err(CommandStop::with_hint(
            problem.clone(),
            "correct the settings; `placet config show --origin` names the file",
        )),
        None => Ok(env),
    }
}

fn board(context: &CommandContext<'_>, env: &Arc<ToolContext>) -> Result<CheckBoard, CommandStop> {
    let board = CheckBoard::new(env, context.runtime.handle().clone()).ok_or_else(|| {
        CommandStop::error("checks need the copy-on-write view; `placet doctor` shows what is missing")
    })?;
    board.look_at_all().map_err(|e| format!("cannot read the pending changes: {e}"))?;
    board.wait_until_known();
    Ok(board)
}

fn list(context: &mut CommandContext<'_>) -> SlashCommandResult {
    let env = env(context)?;
    let board = board(context, &env)?;
    let command = |name: &str| {
        let check = env.checks.definitions.iter().find(|check| check.name == name);
        check.map_or_else(String::new, |check| visible::line(&check.command).into_owned())
    };
    let rows = board.rows();
    let rows: Vec<(String, String)> =
        rows.iter().map(|row| (check_row_words(row, None), command(&row.name))).collect();
    context.output.rows(&rows);
    context.output.hint("/checks run runs them, /checks output NAME shows what one wrote");
    Ok(CommandFollowUp::Nothing)
}

fn known(checks: &ProjectChecks, names: &[&str]) -> Result<(), CommandStop> {
    let is_known = |name: &str| checks.definitions.iter().any(|check| check.name == name);
    let Some(unknown) = names.iter().find(|name| !is_known(name)) else { return Ok(()) };
    let all: Vec<&str> = checks.definitions.iter().map(|check| check.name.as_str()).collect();
    let hint = format!("the checks are {}", all.join(", "));
    Err(CommandStop::with_hint(format!("no check `{}`", visible::name(unknown)), &hint))
}

fn run(context: &mut CommandContext<'_>, names: &[&str]) -> SlashCommandResult {
    let env = env(context)?;
    known(&env.checks, names)?;
    let board = board(context, &env)?;
    let is_wanted = |row: &CheckRow| names.is_empty() || names.contains(&row.name.as_str());
    board.run_these(is_wanted);
    let running = board.rows().iter().filter(|row| row.is_busy()).count();
    context.output.note(&format!("running {}; Esc stops them", count::of(running as u64, "check")));
    let mut reported: BTreeSet<String> = BTreeSet::new();
    loop {
        let rows = board.rows();
        for row in rows.iter().filter(|row| is_wanted(row) && !row.is_busy()) {
            if reported.insert(row.name.clone()) {
                context.output.note(&check_row_words(row, None));
                let CheckRowState::Here(result) = &row.state else { continue };
                check_details(result).iter().for_each(|line| context.output.quote(line.trim_start()));
            }
        }
        if !rows.iter().any(|row| is_wanted(row) && row.is_busy()) {
            return Ok(CommandFollowUp::Nothing);
        }
        if TerminalLineUi.is_interrupted(LOOK) {
            return Err(CommandStop::note("stopped: the checks that ran have no result"));
        }
    }
}

/// Adds proposals to the project's settings, as a change that is reviewed like every other.
fn detect(context: &mut CommandContext<'_>) -> SlashCommandResult {
    const LINE: &str = "/checks detect";
    let (workspace, _) = context.viewed()?;
    let dir = context.app.cwd();
    let file = AppDirs::project_file(dir, home_dir().as_deref());
    let file = file.unwrap_or_else(|| dir.join(".placet/config.toml"));
    // A second proposal must not add a check twice.
    let before = with_pending(&workspace, &file).map_err(|e| CommandStop::error(e.to_string()))?;
    let known: Vec<String> = context.app.config.checks().into_iter().map(|(name, _)| name).collect();
    let is_proposed = proposal_is_pending(context, &workspace);
    let added = proposed_addition(dir, &known, &before).map_err(|why| match why {
        NothingProposed::NoFile if is_proposed => CommandStop::with_hint(PROPOSED_PENDING, PENDING_COMMANDS),
        why => CommandStop::note(why.to_string()),
    })?;
    added.missing_words().iter().for_each(|words| context.output.note(words));
    let text = format!("{before}{}", added.text);
    let proposed = ProposedSettings::new(&file, text, &context.app.dirs.trust_file());
    let invalid = |problem| CommandStop::error(format!("the settings would not be valid: {problem}"));
    let proposed = proposed.map_err(invalid)?;
    context.conversation.agent_for(LINE, &context.output)?;
    context.directory.proposed = Some(proposed);
    // A path that is not UTF-8 is no JSON.
    let input = json!({ "path": file.to_string_lossy(), "content": added.text });
    Ok(CommandFollowUp::Turn(TurnStart::Call { text: LINE.into(), tool: CHECKS_TOOL.into(), input }))
}

/// The settings as they are with what is pending; empty where there are none.
fn with_pending(workspace: &Workspace, file: &Path) -> Result<String, WorkspaceError> {
    let at = workspace.resolve(&file.to_string_lossy())?;
    match workspace.load(&at, OpenConsent::Inside, regular_file::SETTINGS) {
        Ok((bytes, _)) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(WorkspaceError::Missing(_)) => Ok(String::new()),
        Err(e) => Err(e),
    }
}

/// What placet proposed is what is pending: it was neither changed nor applied.
fn proposal_is_pending(context: &CommandContext<'_>, workspace: &Workspace) -> bool {
    let Some(proposed) = &context.directory.proposed else { return false };
    let applied = regular_file::read_to_string(proposed.path(), regular_file::SETTINGS);
    with_pending(workspace, proposed.path()).is_ok_and(|text| text == proposed.text())
        && !applied.is_ok_and(|text| text == proposed.text())
}

/// `/until CHECK[,CHECK] [N] [MESSAGE]`: without a message it begins with the checks.
pub(super) fn until(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let example = "/until test, /until test,lint 3, /until test 3 make the totals exact";
    let rest_of_line = rest;
    let (names, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let rest = rest.trim();
    let (first, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let is_number = !first.is_empty() && first.chars().all(|c| c.is_ascii_digit());
    let (rounds, message) = if is_number { (Some(first), after.trim()) } else { (None, rest) };
    let goal =
        CheckGoal::of(names, rounds).map_err(|e| CommandStop::with_hint(format!("/until: {e}"), example))?;
    let env = env(context)?;
    let names: Vec<&str> = goal.checks.iter().map(String::as_str).collect();
    known(&env.checks, &names)?;
    let line = format!("/until {rest_of_line}");
    let title = if message.is_empty() { &line } else { message };
    context.conversation.agent_for(title, &context.output)?.set_goal(goal);
    let parts = if message.is_empty() { Vec::new() } else { vec![Part::text(message)] };
    Ok(CommandFollowUp::Turn(TurnStart::Say(parts)))
}

fn output(context: &mut CommandContext<'_>, name: &str) -> SlashCommandResult {
    let env = env(context)?;
    known(&env.checks, &[name])?;
    if context.output.is_linear() {
        let Some(result) = env.checks.store.results(name).into_iter().next() else {
            return Err(CommandStop::note(format!("the check {name} has not run yet")));
        };
        check_details(&result).iter().for_each(|line| context.output.quote(line.trim_start()));
        context.output.hint(&format!("`placet checks output {name}` prints all of it"));
        return Ok(CommandFollowUp::Nothing);
    }
    let rows = board(context, &env)?.rows();
    let result = rows.iter().find(|row| row.name == name).and_then(CheckRow::result).cloned();
    // Also of a run with another command.
    let result = result.or_else(|| env.checks.store.results(name).into_iter().next().map(Arc::new));
    let result = result.ok_or_else(|| CommandStop::note(format!("the check {name} has not run yet")))?;
    let output = OutputToShow::of(&rows, &result);
    match context.output.check_output(&env.workspace, &env.checks).show(&output) {
        Some(sentence) => Err(CommandStop::note(sentence)),
        None => Ok(CommandFollowUp::Nothing),
    }
}
