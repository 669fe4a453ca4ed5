//! `/status`: what this conversation has: its mode, model, session and workspace, what it used, and what is pending.

use crate::agent::Agent;
use crate::repl::commands::cost::{cost_of, priced};
use crate::repl::context::{CommandContext, CommandFollowUp, SlashCommandResult};
use crate::ui::token_counts;
use crate::workspace::ChangeCount;

pub(in crate::repl::commands) fn status(context: &mut CommandContext<'_>, _: &str) -> SlashCommandResult {
    let (app, conversation) = (&context.app, &context.conversation);
    let (provider, model) = conversation.answered_by();
    let mode = app.mode.load();
    let session = conversation.session().map(|session| session.id().to_string());
    let roots: Vec<String> = app.workspace.roots().iter().map(|r| r.display().to_string()).collect();
    let address = app.builder.address(&provider).map(|(address, variable)| match variable {
        Some(variable) => format!("{address} ({variable})"),
        None => address,
    });
    let agent = conversation.agent.as_ref();
    let pending = conversation.pending();
    let pending = match pending == ChangeCount::default() {
        true => "nothing pending".into(),
        false => format!("{pending} pending"),
    };
    let rows = [
        ("mode", Some(format!("{mode}: {}", mode.meaning()))),
        ("provider", Some(format!("{provider} with {model}"))),
        ("address", address.filter(|address| !address.is_empty())),
        ("server", conversation.server_facts().map(|facts| facts.words())),
        ("session", Some(session.unwrap_or_else(|| "starts with the first message".into()))),
        ("context", agent.map(context_words)),
        ("cost", agent.map(|agent| agent.costs().0).filter(|spent| cost_of(spent).is_some()).map(priced)),
        ("changes", Some(pending)),
        ("workspace", Some(roots.join(", "))),
        ("theme", Some(context.output.theme.name.clone())),
    ];
    let rows = rows.into_iter().filter_map(|(name, words)| Some((name.to_string(), words?)));
    let grants: Vec<String> = app.with_policy(|policy| policy.live().map(|g| g.grant.describe()).collect());
    let rows: Vec<(String, String)> = rows.chain(grants.into_iter().map(|g| ("always".into(), g))).collect();
    context.output.rows(&rows);
    Ok(CommandFollowUp::Nothing)
}

/// What the next request has, of what it may have.
fn context_words(agent: &Agent) -> String {
    let usage = agent.context_usage();
    let used = usage.used();
    let percent = used * 100 / usage.usable.max(1);
    format!("{} of {} tokens, {percent}%", token_counts::short(used), token_counts::short(usage.usable))
}
