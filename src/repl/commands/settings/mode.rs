//! `/mode` and `/plan`: what is allowed now, and whether a plan must be approved before anything is written.

use crate::permission::{Mode, PlanModeState};
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::ui::margin_mark;

pub(in crate::repl::commands) fn mode(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let cell = context.app.mode;
    if !rest.is_empty() {
        let Some(mode) = Mode::parse(rest) else {
            let names = Mode::ALL.map(Mode::name).join(", ");
            let hint = format!("the modes are {names}");
            return Err(CommandStop::with_hint(format!("unknown mode `{rest}`"), hint));
        };
        if !cell.store(mode) {
            let names: Vec<&str> = cell.permitted().iter().map(|mode| mode.name()).collect();
            let hint = format!("`permission.modes` allows {}", names.join(", "));
            return Err(CommandStop::with_hint(format!("the settings do not allow the mode `{mode}`"), hint));
        }
    }
    let mode = cell.load();
    if rest.is_empty() {
        let row = |mode: &Mode| (mode.name().to_string(), mode.meaning().to_string());
        let rows: Vec<(String, String)> = cell.permitted().iter().map(row).collect();
        let names = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let title = format!("the mode is {mode}; `/mode NAME` or Shift+Tab changes it");
        let output = &context.output;
        output.print(&margin_mark::broken(
            output.titled_lines(&title, &rows, names, output.width()),
            output.width(),
        ));
    } else {
        context.output.note(&format!("{mode}: {}", mode.meaning()));
    }
    if cell.planning() != PlanModeState::No {
        context.output.note("planning: until `/plan approve`, every mode is limited to read");
    }
    Ok(CommandFollowUp::Nothing)
}

/// `/plan`: the person's own word settles it.
pub(in crate::repl::commands) fn plan(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let cell = context.app.mode;
    match rest {
        "" => {}
        "on" => cell.plan(PlanModeState::Making),
        "reject" if cell.planning() == PlanModeState::Presented => cell.plan(PlanModeState::Making),
        "reject" => {
            let hint = "/plan on requires a plan before anything is written";
            return Err(CommandStop::with_hint("no plan waits for an answer", hint));
        }
        "approve" if cell.planning() != PlanModeState::No => {
            cell.plan(PlanModeState::No);
            context.output.note(&format!("plan approved: back to {} mode", cell.load()));
            return Ok(CommandFollowUp::Nothing);
        }
        "approve" => {}
        _ => {
            return Err(CommandStop::with_hint(
                format!("unknown argument `{rest}` of /plan"),
                "use /plan, /plan on, /plan approve or /plan reject",
            ));
        }
    }
    context.output.note(match cell.planning() {
        PlanModeState::No => "no plan is required; only the mode decides",
        PlanModeState::Making => "planning: nothing can be written until `/plan approve`",
        PlanModeState::Presented => "a plan is waiting for you: `/plan approve` or `/plan reject`",
    });
    Ok(CommandFollowUp::Nothing)
}
