//! `/taint`: how high what this conversation has seen is classified, and starting again below that.

use crate::permission::ClassificationLevel;
use crate::repl::commands::conversation::sessions;
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::ui::line_ui;

pub(in crate::repl::commands) fn taint(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    match rest {
        "" => show(context),
        "reset" if context.conversation.agent.is_none() => Err(CommandStop::note("no conversation yet")),
        "reset" => reset(context),
        other => {
            let what = format!("unknown argument `{other}` of /taint");
            Err(CommandStop::with_hint(what, "/taint, /taint reset"))
        }
    }
}

fn show(context: &CommandContext<'_>) -> SlashCommandResult {
    let (app, output) = (context.app, &context.output);
    let (off, ceiling) =
        app.with_policy(|policy| (policy.labels().is_off(), policy.labels().provider_ceiling()));
    if off {
        output.note("no paths are classified");
        output.hint("set `classification.paths` in your settings");
        return Ok(CommandFollowUp::Nothing);
    }
    let level = app.level();
    output.note(&format!("session level: {level}; this provider may receive up to {ceiling}"));
    if level > ClassificationLevel::Public {
        output.hint(
            "the level rises with the files that are read and never falls; /taint reset starts a new conversation",
        );
    }
    Ok(CommandFollowUp::Nothing)
}

fn reset(context: &mut CommandContext<'_>) -> SlashCommandResult {
    let level = context.app.level();
    let answer = line_ui::consent(&format!(
        "This conversation is {level}. Type `reset` to start a new conversation, Enter to stay: "
    ));
    match answer.is_some_and(|answer| answer.trim() == "reset") {
        true => sessions::new(context, ""),
        false => Err(CommandStop::note("nothing was changed")),
    }
}
