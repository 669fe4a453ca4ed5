//! `/config`: settings, and where they come from.

use crate::config::SettingKey;
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::text::nearest;

pub(in crate::repl::commands) fn config(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let all = context.app.config.all().into_iter();
    let rows: Vec<(String, String)> = all
        .filter(|(name, ..)| rest.is_empty() || name.starts_with(rest))
        .map(|(name, value, origin)| (name, format!("{value}  ({origin})")))
        .collect();
    if rows.is_empty() {
        let known = nearest(rest, SettingKey::all().map(|k| k.name));
        let hint = known.map(|k| format!("did you mean `{k}`?"));
        return Err(CommandStop::Failed { message: format!("unknown setting `{rest}`"), hint });
    }
    context.output.rows(&rows);
    Ok(CommandFollowUp::Nothing)
}
