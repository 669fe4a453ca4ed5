//! `/batch {"aOperations": [...]}`: operations that the person wrote out, without a model.

use crate::agent::TurnStart;
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};

pub(super) fn batch(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let Some(start) = TurnStart::of_operations(rest, context.app.tools.tool_set) else {
        let hint = "a batch is one JSON object: {\"aOperations\": [...]}";
        return Err(CommandStop::with_hint("this is not a batch", hint));
    };
    context.conversation.agent_for(rest, &context.output)?;
    Ok(CommandFollowUp::Turn(start))
}
