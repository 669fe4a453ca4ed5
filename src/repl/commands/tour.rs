//! `/tour`: the tour in a shell of its own, so that this conversation and its directory are not part of it.

use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::repl::output::is_interactive;
use crate::ui::term;

pub(super) fn tour(_: &mut CommandContext<'_>, _: &str) -> SlashCommandResult {
    if !is_interactive() {
        return Err(CommandStop::error("/tour needs a terminal"));
    }
    let started = std::env::current_exe().and_then(|program| {
        term::with_original_mode(|| std::process::Command::new(program).arg("tour").status())
    });
    match started {
        Ok(_) => Ok(CommandFollowUp::Nothing),
        Err(e) => Err(CommandStop::error(format!("the tour cannot be started: {e}"))),
    }
}
