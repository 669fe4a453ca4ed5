//! The start of a server with hosts that its settings do not name, before the first request of a conversation: a call
//! through the same interceptors, so that rules, the person, hooks and the audit log see it as any other.

use super::pipeline::TurnCalls;
use crate::event::TurnEvents;
use crate::services::SharedServices;
use crate::turn::machine::TurnInput;
use placet_text::conversation::{CallId, CallInput, CallOutcome, ToolCall};
use placet_tools::{START_TOOL, SubagentSpawner};
use std::sync::Arc;
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

/// Asks whether the server may connect to the hosts that its start was refused, and starts it; again where it asks for
/// more. Returns whether it has started.
pub(crate) async fn start_with_hosts(
    services: &SharedServices,
    events: &TurnEvents,
    server: &str,
    stop: &CancellationToken,
) -> bool {
    let mut asked = 0;
    loop {
        let wanted = services.env.servers.wanted_hosts(server).len();
        // A refusal and a failure for another reason add no host.
        if wanted <= asked {
            return false;
        }
        if start(services, events, server, stop).await {
            return true;
        }
        asked = wanted;
    }
}

async fn start(
    services: &SharedServices,
    events: &TurnEvents,
    server: &str,
    stop: &CancellationToken,
) -> bool {
    let services = SharedServices {
        registry: Arc::new(services.registry.for_person()),
        env: Arc::clone(&services.env),
        policy: Arc::clone(&services.policy),
        origin: services.origin.clone(),
        subagents: services.subagents.clone(),
    };
    let id = CallId::new(format!("start-{server}-{}", services.env.servers.wanted_hosts(server).len()));
    let (inputs, mut inbox) = unbounded_channel();
    let calls = TurnCalls::new(Arc::new(services), events.clone(), (SubagentSpawner::none(), None), inputs);
    let input = CallInput::Object(serde_json::json!({ "server": server }));
    let call = ToolCall { id, name: START_TOOL.into(), input };
    calls.check(call, stop.clone());
    loop {
        match inbox.recv().await {
            Some(TurnInput::Cleared(id)) => calls.run(id, stop.clone()),
            Some(TurnInput::Ended(result)) => return result.outcome == CallOutcome::Done,
            Some(_) => {}
            None => return false,
        }
    }
}
