//! What the requests of a conversation cost.
//!
//! Prices are those of the catalog at the time of the request, and are stored with it. Requests without a known price
//! are counted and reported as unknown. An answer that breaks off or is stopped also costs money: its newest count
//! decides.

use super::event::{TurnEvent, TurnEvents};
use placet_provider::StreamEvent;
use placet_provider::catalog::{self, Money};
use placet_session::session::{RequestCost, SessionRecord};
use placet_text::conversation::TokenUsage;

/// The spending until now.
#[derive(Clone, Debug, Default)]
pub(super) struct CostTracker {
    pub(super) turn: RequestCost,
    pub(super) session: RequestCost,
    /// Prompt tokens of the last request as its provider counted them; 0 if the count is useless for the next request.
    pub(super) last_prompt: u64,
    /// The request in flight.
    open: Option<InFlightRequest>,
    /// Why something has no known price; reported once, if there is a budget.
    unpriced: Option<String>,
    is_unpriced_reported: bool,
    reported_usage: Option<TokenUsage>,
}

/// A request whose answer is not complete yet.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlightRequest {
    /// The newest count from the provider.
    pub(super) usage: TokenUsage,
    /// A part of the answer has come: however the answer ends, it is paid for.
    has_begun: bool,
    /// The provider that answers instead of the requested provider.
    pub(super) fallback: String,
}

impl CostTracker {
    pub(super) fn begin_turn(&mut self) {
        self.turn = RequestCost::default();
    }

    /// What an earlier process spent in this session.
    pub(super) fn restore(&mut self, usage: TokenUsage, requests: &[RequestCost], last_prompt: u64) {
        self.session = RequestCost { usage, ..RequestCost::default() };
        for one in requests {
            self.session.add(&RequestCost { usage: TokenUsage::default(), ..one.clone() });
        }
        self.last_prompt = last_prompt;
    }

    pub(super) fn add(&mut self, cost: &RequestCost) {
        self.turn.add(cost);
        self.session.add(cost);
    }

    pub(super) fn open(&mut self) {
        self.open = Some(InFlightRequest::default());
    }

    pub(super) fn take_open(&mut self) -> Option<InFlightRequest> {
        self.open.take()
    }

    /// The open request, if it must be paid for. Without a count, and before anything came, it costs nothing.
    pub(super) fn take_unfinished(&mut self) -> Option<InFlightRequest> {
        self.open.take().filter(|open| open.has_begun || !open.usage.is_zero())
    }

    pub(super) fn observe(&mut self, event: &StreamEvent) {
        let Some(open) = &mut self.open else { return };
        match event {
            StreamEvent::Usage(usage) => open.usage = *usage,
            StreamEvent::Elsewhere { to, .. } => open.fallback.clone_from(to),
            StreamEvent::Text(_)
            | StreamEvent::Thinking(_)
            | StreamEvent::CallStarted { .. }
            | StreamEvent::CallArguments { .. } => open.has_begun = true,
            StreamEvent::Retrying { .. } | StreamEvent::Silent { .. } | StreamEvent::Finished(_) => {}
        }
    }

    /// The cost of one request at the present prices. `by` is the provider and the model that answered, if known: both
    /// may differ from `asked`. A usage of zero means that the usage was not reported.
    pub(super) fn price(&mut self, asked: (&str, &str), by: (&str, &str), usage: TokenUsage) -> RequestCost {
        let is_fallback = !by.0.is_empty();
        let provider = if is_fallback { by.0 } else { asked.0 }.to_string();
        // The price of the asked model says nothing about an answer that came from another provider.
        let known = match catalog::find(&provider, by.1) {
            None if !is_fallback => catalog::find(&provider, asked.1),
            known => known,
        };
        // No reported tokens do not mean that the request was free: it counts as unpriced.
        let cost = known.and_then(|known| known.cost(&usage)).filter(|_| !usage.is_zero());
        let model = if by.1.is_empty() { asked.1 } else { by.1 }.to_string();
        if cost.is_none() {
            self.unpriced.get_or_insert_with(|| match usage.is_zero() {
                true => format!("{provider} did not report the tokens of an answer"),
                false => format!("the price of {model} is unknown"),
            });
        }
        RequestCost {
            day: String::new(),
            provider,
            model,
            requests: 1,
            unpriced: u64::from(cost.is_none()),
            usage,
            picos: cost.map_or(0, Money::picos),
        }
    }

    /// Reports the figures if they are new: a provider may send the last figures twice.
    pub(super) fn report_usage(&mut self, total: TokenUsage, prompt: u64, window: u64, events: &TurnEvents) {
        if self.reported_usage.replace(total) != Some(total) {
            let is_priced = self.session.unpriced < self.session.requests;
            let cost = is_priced.then(|| Money::from_picos(self.session.picos));
            events.send(TurnEvent::Usage { total, prompt, window, cost });
        }
    }

    /// Reports once that a budget cannot count everything.
    pub(super) fn report_unpriced(&mut self, model: &str, events: &TurnEvents) {
        if self.session.unpriced > 0 && !std::mem::replace(&mut self.is_unpriced_reported, true) {
            let unknown = || format!("the price of {model} is unknown");
            let why = self.unpriced.clone().unwrap_or_else(unknown);
            events.notice(format!("{why}: its cost does not count towards your budget"));
        }
    }
}

/// The record of a cost in the session.
pub(super) fn record(cost: &RequestCost) -> SessionRecord {
    SessionRecord::Cost {
        provider: cost.provider.clone(),
        model: cost.model.clone(),
        usage: cost.usage,
        picos: (cost.unpriced == 0).then_some(cost.picos),
    }
}
