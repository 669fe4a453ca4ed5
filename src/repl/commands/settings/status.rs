//! `/status`: mode, provider, session and workspace.

use crate::repl::context::{CommandContext, CommandFollowUp, SlashCommandResult};

pub(in crate::repl::commands) fn status(context: &mut CommandContext<'_>, _: &str) -> SlashCommandResult {
    let (provider, model) = context.conversation.answered_by();
    let mode = context.app.mode.load();
    let session = context.conversation.session().map(|session| session.id().to_string());
    let roots: Vec<String> = context.app.workspace.roots().iter().map(|r| r.display().to_string()).collect();
    let pair = |a: &str, b: String| (a.to_string(), b);
    let mut rows = vec![
        pair("mode", format!("{mode}: {}", mode.meaning())),
        pair("provider", format!("{provider} with {model}")),
        pair("session", session.unwrap_or_else(|| "starts with the first message".into())),
        pair("workspace", roots.join(", ")),
        pair("theme", context.output.theme.name.clone()),
    ];
    if let Some((address, variable)) = context.app.builder.address_from_environment(&provider) {
        rows.insert(2, pair("address", format!("{address} ({variable})")));
    }
    if let Some(facts) = context.conversation.server_facts() {
        rows.insert(2, pair("server", facts.words()));
    }
    let grants: Vec<String> =
        context.app.with_policy(|policy| policy.live().map(|g| g.grant.describe()).collect());
    rows.extend(grants.into_iter().map(|g| pair("always", g)));
    context.output.rows(&rows);
    Ok(CommandFollowUp::Nothing)
}
