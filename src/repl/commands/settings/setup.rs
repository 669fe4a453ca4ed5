//! `/setup`: runs `placet setup` in this terminal, then continues the conversation with the chosen provider and model.

use super::model::switch;
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::repl::output::is_interactive;
use crate::ui::term;
use std::process::Command;

pub(in crate::repl::commands) fn setup(context: &mut CommandContext<'_>, _: &str) -> SlashCommandResult {
    if !is_interactive() {
        return Err(CommandStop::error("/setup needs a terminal"));
    }
    let run = |program| {
        let mut command = Command::new(program);
        command.args(["setup", "--in-shell"]).current_dir(context.app.cwd());
        if context.output.is_linear() {
            command.arg("--linear");
        }
        term::with_original_mode(|| command.status())
    };
    match std::env::current_exe().and_then(run) {
        // `placet setup` reports itself that nothing was changed.
        Ok(status) if !status.success() => Ok(CommandFollowUp::Nothing),
        Ok(_) => {
            context.app.builder.reread_provider();
            let answerer = context.app.builder.answerer(None, None)?;
            switch(context, answerer)
        }
        Err(e) => Err(CommandStop::error(format!("`placet setup` cannot be started: {e}"))),
    }
}
