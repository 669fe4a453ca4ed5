//! `/tools`: the tools that the model has.

use crate::conversation::ToolSpec;
use crate::repl::context::{CommandContext, CommandFollowUp, SlashCommandResult};

/// Above the tools that a request only names.
const LOOKED_UP: &str = "called through more_tools:";

pub(in crate::repl::commands) fn tools(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let registry = context.app.tools.registry;
    if rest.is_empty() {
        let row = |spec: ToolSpec| (spec.name.clone(), spec.summary().to_string());
        context.output.rows(&registry.specs().into_iter().map(row).collect::<Vec<_>>());
        let looked_up: Vec<_> = registry.looked_up_specs().into_iter().map(row).collect();
        if !looked_up.is_empty() {
            context.output.text(LOOKED_UP);
            context.output.rows(&looked_up);
        }
        return Ok(CommandFollowUp::Nothing);
    }
    let spec = registry.get(rest)?.spec();
    context.output.text(spec.description.trim());
    context.output.quote(&serde_json::to_string_pretty(&spec.schema).unwrap_or_default());
    Ok(CommandFollowUp::Nothing)
}
