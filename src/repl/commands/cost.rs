//! `/cost`: what this conversation and this day cost.

use crate::provider::catalog::{self, Money};
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::session::{CostFilter, RequestCost};
use crate::ui::token_counts;

/// What was paid, where any of it is known.
pub(in crate::repl) fn cost_of(spent: &RequestCost) -> Option<Money> {
    (spent.unpriced < spent.requests).then(|| Money::from_picos(spent.picos))
}

/// `$0.0435`, `at least $0.0435`, or that it is not known.
pub fn priced(spent: &RequestCost) -> String {
    match (cost_of(spent), spent.unpriced) {
        (None, _) => "price unknown".into(),
        (Some(cost), 0) => cost.to_string(),
        (Some(cost), some) => format!("at least {cost} ({some} requests of unknown price)"),
    }
}

pub(super) fn cost(context: &mut CommandContext<'_>, _: &str) -> SlashCommandResult {
    let Some(agent) = &context.conversation.agent else {
        return Err(CommandStop::note("no request was sent yet"));
    };
    let (session, turn) = agent.costs();
    let mut lines = vec![row("last turn", turn), row("session", session)];
    let id = agent.session().map(|s| s.id().to_string());
    if let (Some(store), Some(id)) = (&context.conversation.store, id) {
        let by_model = store.spent(CostFilter { since: 0, session: Some(&id) }).unwrap_or_default();
        if by_model.len() > 1 {
            lines.extend(by_model.iter().map(|one| row(&format!("  {} {}", one.day, one.model), one)));
        }
        let midnight = jiff::Zoned::now().start_of_day().map_or(0, |day| day.timestamp().as_millisecond());
        let mut today = RequestCost::default();
        for one in store.spent(CostFilter { since: midnight, session: None }).unwrap_or_default() {
            today.add(&one);
        }
        lines.push(row("today, all sessions", &today));
    }
    if session.usage.prompt() > 0 {
        let hit = session.usage.cache_read * 100 / session.usage.prompt();
        lines.push(format!("{hit}% of the sent tokens came from the provider's cache"));
    }
    let budget = agent.budget();
    for (limit, what) in [(budget.session, "session"), (budget.day, "day")] {
        lines.extend(limit.map(|limit| format!("budget of a {what}: {limit}")));
    }
    let model = agent.model().name.clone();
    let known = catalog::find(agent.provider_name(), &model).is_some_and(|m| m.price.is_some());
    context.output.say_plain(lines);
    if !known {
        context
            .output
            .hint(&format!("no price known for {model}: set it in models.toml next to your settings"));
    }
    Ok(CommandFollowUp::Nothing)
}

fn row(name: &str, spent: &RequestCost) -> String {
    let s = if spent.requests == 1 { "" } else { "s" };
    let (requests, tokens) = (spent.requests, token_counts::tokens(&spent.usage));
    match cost_of(spent) {
        Some(_) => format!("{name:<20} {} in {requests} request{s}: {tokens}", priced(spent)),
        None => format!("{name:<20} {tokens} in {requests} request{s} (no price known)"),
    }
}
