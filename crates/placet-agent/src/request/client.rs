//! The connection to the model: the provider, the parts of a request, and the cost of requests. Every request goes
//! through this module, so that every request is counted.

use super::build::{BuiltRequest, ModelContext};
use super::inquiry::ServerInquiry;
use crate::config::ActiveModel;
use crate::conversation::log::Conversation;
use crate::cost_meter::CostBudget;
use crate::costs::{CostTracker, record};
use crate::event::TurnEvents;
use crate::subagent_pool::SubagentPool;
use placet_provider::{AnswerStream, ModelRequest, ProviderError, StreamEvent};
use placet_text::conversation::{AssistantMessage, TokenUsage};
use tokio_util::sync::CancellationToken;

pub(crate) struct ModelClient {
    pub(crate) model: ActiveModel,
    pub(crate) context: ModelContext,
    pub(crate) costs: CostTracker,
    pub(crate) budget: CostBudget,
    pub(crate) subagents: SubagentPool,
    pub(crate) inquiry: ServerInquiry,
}

impl ModelClient {
    /// The next request of the conversation.
    pub(crate) fn build(&mut self, conversation: &Conversation) -> Result<BuiltRequest, ProviderError> {
        self.context.build(&conversation.sent(), &self.model.spec, self.model.max_output)
    }

    /// Uses another model from the next request on.
    pub(crate) fn switch(&mut self, model: ActiveModel) {
        self.context.reset_for_model();
        self.inquiry = ServerInquiry::default();
        self.model = model;
    }

    pub(crate) fn begin_turn(&mut self) {
        self.costs.begin_turn();
        if !self.subagents.is_child {
            self.subagents.meter.begin_turn();
        }
    }

    /// Sends a request and counts its cost, also if it breaks off or is stopped.
    pub(crate) fn send(
        &mut self,
        request: ModelRequest,
        conversation: &mut Conversation,
        events: &TurnEvents,
        cancel: CancellationToken,
    ) -> AnswerStream {
        self.settle(conversation, events);
        self.costs.open();
        self.model.provider.answer(request, cancel)
    }

    /// Observes the events of the request.
    pub(crate) fn observe(
        &mut self,
        event: &StreamEvent,
        conversation: &mut Conversation,
        events: &TurnEvents,
    ) {
        if let StreamEvent::Retrying { .. } | StreamEvent::Elsewhere { .. } = event {
            // Another attempt is another request.
            self.settle(conversation, events);
            self.costs.open();
        }
        self.costs.observe(event);
    }

    /// The answer is complete: counts it as its provider did at the end, or in its last report.
    pub(crate) fn close(
        &mut self,
        answer: &AssistantMessage,
        conversation: &mut Conversation,
        events: &TurnEvents,
    ) {
        let open = self.costs.take_open().unwrap_or_default();
        let usage = if answer.usage.is_zero() { open.usage } else { answer.usage };
        let cut = self.inquiry.check(&self.model, self.context.last_estimate(), usage, events);
        // A call that the person typed is not answered by a provider.
        if !usage.is_zero() || self.model.provider.wire().is_some() {
            self.count((&answer.provider, &answer.model), usage, conversation, events);
        }
        if let Some(window) = cut {
            self.context.learn_window(window);
            // What was left out was not counted.
            self.costs.last_prompt = 0;
        }
    }

    /// The answer broke off, or was stopped: counts what is known of it.
    pub(crate) fn settle(&mut self, conversation: &mut Conversation, events: &TurnEvents) {
        if let Some(open) = self.costs.take_unfinished() {
            self.count((&open.fallback, ""), open.usage, conversation, events);
        }
    }

    /// Adds the cost of a request, here and in the session.
    fn count(
        &mut self,
        by: (&str, &str),
        usage: TokenUsage,
        conversation: &mut Conversation,
        events: &TurnEvents,
    ) {
        let cost = self.costs.price((self.model.provider.name(), &self.model.spec.name), by, usage);
        self.costs.add(&cost);
        self.subagents.meter.add(cost.picos);
        self.subagents.report_cost(&cost);
        if !usage.is_zero() {
            self.costs.last_prompt = usage.prompt();
        }
        if let Err(e) = conversation.append(record(&cost)) {
            events
                .notice(format!("the cost of a request was not saved; later totals do not include it: {e}"));
        }
        self.report_usage(None, events);
    }

    /// Counts the cost of sub-agents since the last count.
    pub(crate) fn count_subagents(&mut self, conversation: &mut Conversation, events: &TurnEvents) {
        let costs = &mut self.costs;
        let has_costs = self.subagents.count_costs(|cost| {
            costs.add(cost);
            if let Err(e) = conversation.append(record(cost)) {
                tracing::warn!("the cost of a sub-agent was not saved: {e}");
            }
        });
        if has_costs {
            self.report_usage(None, events);
        }
    }

    /// The tokens that a request may have: the window without the room that is reserved for the answer. How full the
    /// window is means this, in the note about the summary and in the status row.
    pub(crate) fn usable_window(&self) -> f64 {
        let (system, tools) = self.context.fixed();
        self.context.room(&self.model.spec, self.model.max_output) + system + tools
    }

    /// Reports the cost of the session, including the open answer until now.
    pub(crate) fn report_usage(&mut self, open: Option<TokenUsage>, events: &TurnEvents) {
        let mut total = self.costs.session.usage;
        total += open.unwrap_or_default();
        let prompt = open.map_or(self.costs.last_prompt, |usage| usage.prompt());
        self.costs.report_usage(total, prompt, self.usable_window() as u64, events);
    }
}
