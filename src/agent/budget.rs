//! What requests cost, and the person's limits on it.
//!
//! Prices are those of the catalog at the time of the request, and are kept with it. What has no known price is counted
//! and said to be unknown; no budget can hold it back, and that is said too. A budget asks before it is gone over; where
//! nobody is there to ask, the turn ends. An answer that breaks off or is stopped is paid for as well: the newest count
//! that came with it is what it cost.

use super::agent::Agent;
use super::cost_meter::BudgetLimit;
use super::event::{ChoiceQuestion, ChoiceSubject, QuestionChoice, TurnEvent};
use super::turn::ending::TurnEnding;
use crate::conversation::{AssistantMessage, TokenUsage};
use crate::provider::StreamEvent;
use crate::provider::catalog::{self, Money};
use crate::session::{CostFilter, RequestCost, SessionRecord};
use crate::tools::DisplayDetail;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// The person's limits; `None` is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CostBudget {
    pub session: Option<Money>,
    pub day: Option<Money>,
}

/// What has been spent.
#[derive(Clone, Debug, Default)]
pub(super) struct CostTracker {
    pub(super) turn: RequestCost,
    pub(super) session: RequestCost,
    /// The request that is on its way.
    open: Option<InFlightRequest>,
    /// Why something has no known price; said once, where there is a budget.
    unknown: Option<String>,
    told_unknown: bool,
}

/// A request that is not answered to the end yet.
#[derive(Clone, Debug, Default)]
struct InFlightRequest {
    /// The newest count of the provider's.
    usage: TokenUsage,
    /// Some of the answer has come: whatever ends it now, it is paid for.
    has_begun: bool,
    /// Who answers in the place of the one that was asked.
    elsewhere: String,
}

impl CostTracker {
    pub(super) fn begin_turn(&mut self) {
        self.turn = RequestCost::default();
    }

    /// What an earlier process spent in this session.
    pub(super) fn restore(&mut self, usage: TokenUsage, requests: &[RequestCost]) {
        self.session = RequestCost { usage, ..RequestCost::default() };
        for one in requests {
            self.session.add(&RequestCost { usage: TokenUsage::default(), ..one.clone() });
        }
    }
}

impl Agent {
    /// A request goes out: what comes of it is counted, also when it breaks off or is stopped.
    pub(super) fn open_request(&mut self, events: &UnboundedSender<TurnEvent>) {
        self.settle_request(events);
        self.costs.open = Some(InFlightRequest::default());
    }

    /// Hears what comes of the request.
    pub(super) fn meter(&mut self, event: &StreamEvent, events: &UnboundedSender<TurnEvent>) {
        if let StreamEvent::Retrying { .. } | StreamEvent::Elsewhere { .. } = event {
            // Another attempt is another request.
            self.open_request(events);
        }
        let Some(open) = &mut self.costs.open else { return };
        match event {
            StreamEvent::Usage(usage) => open.usage = *usage,
            StreamEvent::Elsewhere { to, .. } => open.elsewhere.clone_from(to),
            StreamEvent::Text(_)
            | StreamEvent::Thinking(_)
            | StreamEvent::CallStarted { .. }
            | StreamEvent::CallArguments { .. } => open.has_begun = true,
            StreamEvent::Retrying { .. } | StreamEvent::Silent { .. } | StreamEvent::Finished(_) => {}
        }
    }

    /// The answer is whole: it is counted as its provider did, or as it last did while it came.
    pub(super) fn close_request(&mut self, answer: &AssistantMessage, events: &UnboundedSender<TurnEvent>) {
        let open = self.costs.open.take().unwrap_or_default();
        let usage = if answer.usage.is_zero() { open.usage } else { answer.usage };
        // A call that the person typed is answered by nobody.
        if usage.is_zero() && self.parts.provider.wire().is_none() {
            return;
        }
        self.count((&answer.provider, &answer.model), usage, events);
    }

    /// The answer broke off, or was stopped: what is known of it is counted. Without a count, and before anything came,
    /// there is nothing to pay.
    pub(super) fn settle_request(&mut self, events: &UnboundedSender<TurnEvent>) {
        let Some(open) = self.costs.open.take() else { return };
        if open.has_begun || !open.usage.is_zero() {
            self.count((&open.elsewhere, ""), open.usage, events);
        }
    }

    /// Adds what a request cost, here and in the session. Usage of nothing is one that was not reported.
    fn count(&mut self, by: (&str, &str), usage: TokenUsage, events: &UnboundedSender<TurnEvent>) {
        let one = self.priced(by, usage);
        self.costs.turn.add(&one);
        self.costs.session.add(&one);
        self.parts.family.meter().add(one.picos);
        self.report_cost_to_parent(&one);
        if !usage.is_zero() {
            self.set_last_prompt(usage.prompt());
        }
        if let Err(e) = self.append_record(record(&one)) {
            let words = format!("the cost of a request was not saved; later totals do not include it: {e}");
            drop(events.send(TurnEvent::Notice(words)));
        }
        self.report_usage(self.costs.session.usage, self.last_prompt(), events);
    }

    /// One request at the prices of today. Who answered, and with which model, may be others than those that were asked.
    fn priced(&mut self, (provider, model): (&str, &str), usage: TokenUsage) -> RequestCost {
        let asked = self.parts.model.name.clone();
        let elsewhere = !provider.is_empty();
        let provider = if elsewhere { provider } else { self.parts.provider.name() }.to_string();
        // The price of the asked model says nothing about an answer that came from another provider.
        let known = match catalog::find(&provider, model) {
            None if !elsewhere => catalog::find(&provider, &asked),
            known => known,
        };
        // No reported tokens do not mean that the request was free: it counts as unpriced.
        let cost = known.and_then(|known| known.cost(&usage)).filter(|_| !usage.is_zero());
        let model = if model.is_empty() { asked } else { model.to_string() };
        if cost.is_none() {
            self.costs.unknown.get_or_insert_with(|| match usage.is_zero() {
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

    /// Adds what a sub-agent cost.
    pub(super) fn count_child(&mut self, spent: &RequestCost) {
        self.costs.turn.add(spent);
        self.costs.session.add(spent);
        if let Err(e) = self.append_record(record(spent)) {
            tracing::warn!("the cost of a sub-agent was not saved: {e}");
        }
    }

    /// What the session cost so far, and the turn that ran last.
    pub fn costs(&self) -> (&RequestCost, &RequestCost) {
        (&self.costs.session, &self.costs.turn)
    }

    pub fn budget(&self) -> CostBudget {
        self.parts.budget
    }

    /// Whether another request may be paid for: within the budget, or because the person says so.
    pub(super) async fn may_spend(
        &mut self,
        events: &UnboundedSender<TurnEvent>,
        stop: &CancellationToken,
    ) -> Result<(), TurnEnding> {
        let CostBudget { session, day } = self.parts.budget;
        for (what, limit) in [(BudgetLimit::Session, session), (BudgetLimit::Day, day)] {
            let Some(limit) = limit else { continue };
            self.report_unknown_price(events);
            self.check_limit(what, limit, events, stop).await?;
        }
        Ok(())
    }

    /// One of the family asks at a time, and looks again when it is its turn: another may have asked meanwhile.
    async fn check_limit(
        &self,
        what: BudgetLimit,
        limit: Money,
        events: &UnboundedSender<TurnEvent>,
        stop: &CancellationToken,
    ) -> Result<(), TurnEnding> {
        let meter = self.parts.family.meter();
        if self.spent(what) < limit + meter.allowed(what) {
            return Ok(());
        }
        let _turn = tokio::select! {
            turn = self.parts.family.asking.lock() => turn,
            () = stop.cancelled() => return Err(TurnEnding::Interrupted),
        };
        let spent = self.spent(what);
        if spent < limit + meter.allowed(what) {
            return Ok(());
        }
        let go_on = !meter.is_refused() && ask_more(what, spent, limit, events, stop).await?;
        if go_on {
            meter.allow(what, limit);
            return Ok(());
        }
        meter.refuse();
        let what = what.name();
        Err(TurnEnding::Blocked {
            why: format!("the budget of {limit} for this {what} is used up: {spent}"),
            hint: Some(format!("`budget.{what}` is the limit; /retry asks again")),
        })
    }

    fn spent(&self, what: BudgetLimit) -> Money {
        match what {
            BudgetLimit::Session => self.parts.family.meter().spent(),
            BudgetLimit::Day => self.spent_today(),
        }
    }

    fn spent_today(&self) -> Money {
        // What children cost and is not saved yet is looked at first: saved meanwhile it counts twice for a moment, which
        // is better than not at all.
        let waiting = self.parts.family.unsaved();
        let midnight = jiff::Zoned::now().start_of_day().map_or(0, |day| day.timestamp().as_millisecond());
        let store = self.store().or(self.parts.family.store());
        match store.and_then(|s| s.spent(CostFilter { since: midnight, session: None }).ok()) {
            Some(saved) => Money::from_picos(saved.iter().map(|one| one.picos).sum::<u64>() + waiting),
            // Without a store, or if it cannot be read, only the costs of this process are known.
            None => self.parts.family.meter().spent(),
        }
    }

    fn report_unknown_price(&mut self, events: &UnboundedSender<TurnEvent>) {
        if self.costs.session.unpriced > 0 && !std::mem::replace(&mut self.costs.told_unknown, true) {
            let default = || format!("the price of {} is unknown", self.parts.model.name);
            let why = self.costs.unknown.clone().unwrap_or_else(default);
            drop(
                events.send(TurnEvent::Notice(format!("{why}: its cost does not count towards your budget"))),
            );
        }
    }
}

fn record(one: &RequestCost) -> SessionRecord {
    SessionRecord::Cost {
        provider: one.provider.clone(),
        model: one.model.clone(),
        usage: one.usage,
        picos: (one.unpriced == 0).then_some(one.picos),
    }
}

/// Asks for as much again; the error ends the turn.
async fn ask_more(
    what: BudgetLimit,
    spent: Money,
    limit: Money,
    events: &UnboundedSender<TurnEvent>,
    stop: &CancellationToken,
) -> Result<bool, TurnEnding> {
    let (reply, answer) = oneshot::channel();
    let what = what.name();
    drop(events.send(TurnEvent::Choice(ChoiceQuestion {
        subject: ChoiceSubject::Budget,
        title: format!("The budget of {limit} for this {what} is used up: {spent}. Continue?"),
        reason: format!("`budget.{what}` asks before more is spent"),
        detail: DisplayDetail::None,
        choices: vec![
            QuestionChoice::plain('g', &format!("continue, up to {limit} more")),
            QuestionChoice::plain('s', "stop the turn"),
        ],
        reply,
    })));
    tokio::select! {
        // A dropped question has no answer: the turn stops, as if the person had stopped it.
        key = answer => Ok(key.unwrap_or('s') == 'g'),
        () = stop.cancelled() => Err(TurnEnding::Interrupted),
    }
}
