//! One call outside of a conversation, for `tool call`, the MCP server and files that a person attaches: through the
//! same interceptors.

use super::origin::CallOrigin;
use super::pipeline::TurnCalls;
use crate::event::{ApprovalReply, TurnEvent, TurnEvents};
use crate::services::SharedServices;
use crate::subagent_pool::SubagentPool;
use crate::turn::machine::TurnInput;
use placet_permission::Policy;
use placet_text::conversation::{CallOutcome, CallResult, Note, Part, ToolCall};
use placet_tools::{CallSummary, SubagentSpawner, ToolContext, ToolRegistry};
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

/// A call without a conversation around it.
pub struct SingleCall {
    pub registry: Arc<ToolRegistry>,
    pub env: Arc<ToolContext>,
    pub policy: Arc<Mutex<Policy>>,
    pub origin: CallOrigin,
    pub call: ToolCall,
    /// The answer to a permission question. With [`ApprovalReply::Nobody`] the call is refused, and the error names the
    /// flag that permits it. A person who names a file has agreed to its use.
    pub reply: ApprovalReply,
    pub cancel: CancellationToken,
}

impl SingleCall {
    /// Plans, decides and runs the call. Returns its result, and what the screen of a conversation would show of it.
    /// `on_notice` gets what a person should know while it runs: for whom it waits.
    pub async fn run(self, mut on_notice: impl FnMut(&str)) -> (CallResult, Option<CallSummary>) {
        let SingleCall { registry, env, policy, origin, call, reply, cancel } = self;
        let mut shown = None;
        let (events, mut heard) = unbounded_channel();
        let (inputs, mut inbox) = unbounded_channel();
        let mounts = Arc::clone(&env.mounts);
        let services = SharedServices { registry, env, policy, origin, subagents: SubagentPool::default() };
        let calls = TurnCalls::new(
            Arc::new(services),
            TurnEvents::new(events),
            (SubagentSpawner::none(), None),
            inputs,
        );
        calls.check(call.clone(), cancel.clone());
        loop {
            tokio::select! {
                input = inbox.recv() => match input {
                    Some(TurnInput::Cleared(id)) => calls.run(id, cancel.clone()),
                    Some(TurnInput::Ended(mut result)) => {
                        let left = mounts.push().into_iter();
                        let note = |reason| Part::Note(Note::NotStored { reason });
                        result.parts.extend(left.map(note));
                        // It was sent before the result.
                        while let Ok(event) = heard.try_recv() {
                            if let TurnEvent::CallEnded { summary, .. } = event {
                                shown = Some(summary);
                            }
                        }
                        return (result, shown);
                    }
                    Some(_) => {}
                    None => return (CallResult::text(&call, CallOutcome::Failed, "the call was lost"), None),
                },
                event = heard.recv() => {
                    match event {
                        Some(TurnEvent::Question(question)) => drop(question.reply.send(reply.clone())),
                        Some(TurnEvent::CallEnded { summary, .. }) => shown = Some(summary),
                        Some(TurnEvent::Notice(words)) => on_notice(&words),
                        _ => {}
                    }
                }
            }
        }
    }
}
