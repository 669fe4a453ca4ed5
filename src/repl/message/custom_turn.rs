//! What a command's file asks for its turn: another model, and command lines that need no question. Both end with the
//! turn.

use crate::agent::SelectedModel;
use crate::permission::{Grant, GrantId, GrantLimit, Rule, RuleVerdict};
use crate::provider::catalog;
use crate::repl::context::CommandContext;
use crate::text::visible;

/// Lets the model of a command answer. Returns who answered before, or `None` where nothing changed: a provider that
/// does not list the model is not asked for it.
pub(in crate::repl) fn switch_model(context: &mut CommandContext<'_>, model: &str) -> Option<SelectedModel> {
    let (provider, present) = context.conversation.answered_by();
    if present == model {
        return None;
    }
    let is_known = catalog::of_provider(&provider).iter().any(|(id, _)| *id == model);
    let chosen = match is_known {
        true => context.app.builder.answerer(Some(&provider), Some(model)).map_err(|e| e.message),
        false => Err(format!("{provider} does not list it")),
    };
    let model = visible::line(model).into_owned();
    match (chosen, &mut context.conversation.agent) {
        (Ok(chosen), Some(agent)) => {
            let before = agent.answerer();
            agent.switch(chosen.provider, chosen.model, chosen.max_output);
            context.output.note(&format!("{model} answers this turn, as the command asks"));
            Some(before)
        }
        (Err(why), _) => {
            context.output.note(&format!("the command asks for the model {model}: {why}; {present} answers"));
            None
        }
        (Ok(_), None) => None,
    }
}

/// Gives the permissions of a command. A pattern that is no rule is reported and gives nothing.
pub(in crate::repl) fn grant(context: &CommandContext<'_>, patterns: &[String]) -> Vec<GrantId> {
    let mut given = Vec::new();
    for pattern in patterns {
        let rule = format!("run({pattern})");
        match Rule::parse(&rule, RuleVerdict::Allow, "command", &[]) {
            Ok(_) => {
                let grant = Grant::Pattern { patterns: vec![pattern.clone()] };
                given.push(context.app.with_policy(|policy| policy.give(grant, GrantLimit::Session)));
                context.output.note(&format!("{} needs no question in this turn", visible::line(&rule)));
            }
            Err(e) => context.output.note(&format!("{}: {e}", visible::line(&rule))),
        }
    }
    given
}

/// The turn has ended.
pub(in crate::repl) fn end(
    context: &mut CommandContext<'_>,
    given: Vec<GrantId>,
    before: Option<SelectedModel>,
) {
    context.app.with_policy(|policy| {
        for grant in given {
            policy.revoke(grant);
        }
    });
    if let (Some(before), Some(agent)) = (before, &mut context.conversation.agent) {
        agent.switch(before.provider, before.model, before.max_output);
    }
}
