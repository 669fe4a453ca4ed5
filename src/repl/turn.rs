//! One turn on the screen: the pane shows it while the agent works.

use super::commands::apply_label;
use super::commands::cost::cost_of;
use super::commands::review::reviewed_decision;
use super::context::CommandContext;
use super::conversation::add_closing_line;
use super::error::ReplError;
use super::user_context::UserContext;
use crate::agent::{
    Agent, ApplyQuestionContext, ApplyQuestionPlace, TurnDecision, TurnEnding, TurnEvent, TurnStart,
    ask_about_pending, pending_words,
};
use crate::audit::AuditKind;
use crate::permission::{Mode, Taint};
use crate::tools::{ToolContext, todos_in};
use crate::ui::turn_pane::{self, TurnDisplay, TurnPaneResult, TurnPaneSettings, TurnPaneStatus};
use crate::workspace::{LayerKind, View, Workspace};
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

/// What the pane says of the turn before anything happened in it.
pub(super) fn status(app: &UserContext<'_>, agent: &Agent, expanded: bool) -> TurnPaneStatus {
    let config = app.config;
    let (grants, taint) = app.with_policy(|policy| {
        let taint = if policy.labels().is_off() { Taint::default() } else { policy.taint().clone() };
        (policy.live().count(), taint)
    });
    let (usage, prompt_tokens) = agent.usage();
    let (provider, name) = (agent.provider_name(), agent.model().name.clone());
    TurnPaneStatus {
        model: if provider == name { name } else { format!("{provider} {name}") },
        window: agent.usable_window(),
        usage,
        prompt_tokens,
        display: TurnDisplay::of(&config.settings().ui),
        grants,
        taint,
        expanded,
        todos: todos_in(agent.transcript()),
        cost: cost_of(agent.costs().0),
        questions_only: false,
        is_asked_again: false,
        to_ask_mode: to_ask_mode(app),
    }
}

/// How a person gets from read mode to ask mode, where the settings permit it.
fn to_ask_mode(app: &UserContext<'_>) -> Option<&'static str> {
    match (Mode::Read.next(app.modes), app.mode.permitted().contains(&Mode::Ask)) {
        (Mode::Ask, true) => Some("Shift+Tab: ask mode"),
        (_, true) => Some("/mode ask: ask mode"),
        (_, false) => None,
    }
}

/// The agent works and the pane draws, both on this thread.
pub(super) fn run(
    context: &mut CommandContext<'_>,
    settings: TurnPaneSettings,
    start: TurnStart,
    stop: CancellationToken,
) -> Result<(TurnDecision, TurnPaneResult), ReplError> {
    let linear = context.output.is_linear();
    let agent = context.conversation.agent_for("", &context.output)?;
    agent.set_queue(&settings.queue);
    let (events, inbox) = unbounded_channel();
    Ok(context.runtime.block_on(async {
        let working = async {
            let ending = agent.run(start, events.clone(), stop.clone()).await;
            let settled = match ending {
                TurnEnding::Interrupted => {
                    still_pending(agent).await.into_iter().for_each(|words| {
                        drop(events.send(TurnEvent::Notice(words)));
                    });
                    TurnDecision::Nothing
                }
                _ => ask_to_apply(agent, &events, &stop).await,
            };
            if let Some((words, _)) = ending.words() {
                add_closing_line(agent, &words);
            }
            drop(events.send(TurnEvent::Ended(ending)));
            settled
        };
        while_shown(working, linear, settings, inbox, stop.clone()).await
    }))
}

/// Does `work` while the pane shows its events, or lines do where a pane is not wanted.
async fn while_shown<T>(
    work: impl Future<Output = T>,
    linear: bool,
    settings: TurnPaneSettings,
    inbox: UnboundedReceiver<TurnEvent>,
    stop: CancellationToken,
) -> (T, TurnPaneResult) {
    if linear {
        tokio::join!(work, turn_pane::run_linear(settings, inbox, stop))
    } else {
        tokio::join!(work, turn_pane::run(settings, inbox, stop))
    }
}

/// Asks again what to do with the changes of the last turn.
pub(super) fn ask_again(
    context: &mut CommandContext<'_>,
    settings: TurnPaneSettings,
) -> Result<(TurnDecision, TurnPaneResult), ReplError> {
    let linear = context.output.is_linear();
    let agent = context.conversation.agent_for("", &context.output)?;
    agent.set_queue(&settings.queue);
    let (events, inbox) = unbounded_channel();
    // Ctrl-C closes the question, or stops the apply.
    let stop = CancellationToken::new();
    Ok(context.runtime.block_on(async {
        let asking = async {
            let decision = ask_to_apply(agent, &events, &stop).await;
            drop(events.send(TurnEvent::Ended(TurnEnding::Done)));
            decision
        };
        while_shown(asking, linear, settings, inbox, stop.clone()).await
    }))
}

/// Asks what to do with everything that is pending, also from earlier turns or an earlier session: `/apply`.
pub(super) fn ask_about_all(
    context: &CommandContext<'_>,
    (workspace, env): (&Workspace, Option<&Arc<ToolContext>>),
    settings: TurnPaneSettings,
) -> (TurnDecision, TurnPaneResult) {
    let linear = context.output.is_linear();
    let (events, inbox) = unbounded_channel();
    // Ctrl-C closes the question, or stops the apply.
    let stop = CancellationToken::new();
    let agent = context.conversation.agent.as_ref();
    let session = agent.and_then(Agent::session).map(|session| session.id().to_string());
    let (interceptors, mounts) = (context.app.tools.interceptors, context.app.tools.mounts);
    let record = |kind: AuditKind, report: &str| match interceptors.log_decision(
        kind,
        APPLY_COMMAND,
        session.clone(),
        report,
    ) {
        Ok(()) => {
            let failures = mounts.push_all().into_iter();
            failures.map(|why| format!("not saved to the store: {why}")).collect()
        }
        Err(e) => vec![format!("this is not recorded in the audit log: {e}")],
    };
    let label = workspace.view().map(|view| apply_label(view, APPLY_COMMAND)).unwrap_or_default();
    let place = ApplyQuestionPlace::ShellCommand(Box::new(label));
    let mode = context.app.mode;
    let asked = ApplyQuestionContext {
        workspace,
        home: None,
        mode,
        env,
        place,
        reviewed: reviewed_decision,
        stop: &stop,
        record: &record,
    };
    context.runtime.block_on(async {
        let asking = async {
            let (decision, said) =
                passing_notices(&events, async |sender| ask_about_pending(asked, sender).await).await;
            if let Some(agent) = agent {
                said.iter().for_each(|words| add_closing_line(agent, words));
            }
            drop(events.send(TurnEvent::Ended(TurnEnding::Done)));
            decision
        };
        while_shown(asking, linear, settings, inbox, stop.clone()).await
    })
}

/// What the journal and the audit log call it.
const APPLY_COMMAND: &str = "/apply";

/// Runs `asking`, passes its events on, and returns the notices among them as well.
async fn passing_notices(
    events: &UnboundedSender<TurnEvent>,
    asking: impl AsyncFnOnce(&UnboundedSender<TurnEvent>) -> TurnDecision,
) -> (TurnDecision, Vec<String>) {
    let (sender, mut asked) = unbounded_channel();
    let mut said = Vec::new();
    let mut pass = |event: TurnEvent| {
        if let TurnEvent::Notice(words) = &event {
            said.push(words.clone());
        }
        drop(events.send(event));
    };
    let decision = {
        let asking = asking(&sender);
        tokio::pin!(asking);
        loop {
            tokio::select! {
                biased;
                Some(event) = asked.recv() => pass(event),
                decision = &mut asking => break decision,
            }
        }
    };
    while let Ok(event) = asked.try_recv() {
        pass(event);
    }
    (decision, said)
}

/// Asks what to do with the changes. Stores the notices about the answer, so that they are shown when the conversation
/// is resumed.
async fn ask_to_apply(
    agent: &mut Agent,
    events: &UnboundedSender<TurnEvent>,
    stop: &CancellationToken,
) -> TurnDecision {
    let (decision, said) =
        passing_notices(events, async |sender| agent.ask_to_apply(sender, stop, reviewed_decision).await)
            .await;
    said.iter().for_each(|words| add_closing_line(agent, words));
    if decision == TurnDecision::Nothing && said.is_empty() {
        still_pending(agent).await.into_iter().for_each(|words| drop(events.send(TurnEvent::Notice(words))));
    }
    decision
}

/// After a turn that asked nothing: what waits from an earlier turn or from a line with `!`. It is not stored with the conversation,
/// because it says nothing about this turn.
async fn still_pending(agent: &Agent) -> Option<String> {
    let view = agent.env().workspace.view().filter(|view| !view.is_empty(LayerKind::Pending))?.clone();
    // There may be very many.
    tokio::task::spawn_blocking(move || pending_note(&view)).await.ok()?
}

fn pending_note(view: &View) -> Option<String> {
    match view.pending_count() {
        Ok(count) if count.total() == 0 => None,
        Ok(count) => Some(pending_words(count)),
        Err(e) => Some(format!("cannot read the pending changes: {e}")),
    }
}
