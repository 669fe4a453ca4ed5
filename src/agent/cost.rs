//! What requests cost, and the person's limits on it.
//!
//! Prices are those of the catalog at the time of the request, and are kept with it. What has no known price is counted
//! and said to be unknown; no budget can hold it back, and that is said too. A budget asks before it is gone over; where
//! nobody is there to ask, the turn ends.

use super::driver::Agent;
use super::ending::Ending;
use super::event::{Choice, ChoiceQuestion, Event};
use crate::conversation::{Answer, Usage};
use crate::provider::catalog::{self, Money};
use crate::session::{Record, Spent, Within};
use crate::tools::Detail;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// The person's limits; `None` is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    pub session: Option<Money>,
    pub day: Option<Money>,
}

/// What has been spent.
#[derive(Clone, Debug, Default)]
pub(super) struct Costs {
    pub(super) turn: Spent,
    pub(super) session: Spent,
    /// What the person allowed beyond each limit.
    more: (Money, Money),
    /// That prices are unknown was said.
    told_unknown: bool,
}

impl Costs {
    pub(super) fn begin_turn(&mut self) {
        self.turn = Spent::default();
    }

    /// What an earlier process spent in this session.
    pub(super) fn restore(&mut self, usage: Usage, requests: &[Spent]) {
        self.session = Spent { usage, ..Spent::default() };
        for one in requests {
            self.session.add(&Spent { usage: Usage::default(), ..one.clone() });
        }
    }
}

impl Agent {
    /// Adds what an answer cost, here and in the session.
    pub(super) fn count(&mut self, answer: &Answer, events: &UnboundedSender<Event>) {
        let usage = answer.usage;
        if usage.is_zero() {
            return;
        }
        let (asked, model) = (self.parts.provider.name().to_string(), self.parts.model.name.clone());
        // Who answered, and with which model, may be others than those that were asked.
        let elsewhere = !answer.provider.is_empty();
        let provider = if elsewhere { answer.provider.clone() } else { asked };
        let known = match catalog::find(&provider, &answer.model) {
            None if !elsewhere => catalog::find(&provider, &model),
            known => known,
        };
        let cost = known.and_then(|known| known.cost(&usage));
        let picos = cost.map(Money::picos);
        let one = Spent {
            requests: 1,
            unpriced: u64::from(cost.is_none()),
            usage,
            picos: picos.unwrap_or(0),
            ..Spent::default()
        };
        self.costs.turn.add(&one);
        self.costs.session.add(&one);
        self.tell_parent(&one);
        self.set_last_prompt(usage.prompt());
        let model = if answer.model.is_empty() { model } else { answer.model.clone() };
        if let Err(e) = self.write_down(Record::Cost { provider, model, usage, picos }) {
            let words = format!("the cost of a request was not saved, and is missing from sums to come: {e}");
            drop(events.send(Event::Notice(words)));
        }
        self.tell_usage(self.costs.session.usage, usage.prompt(), events);
    }

    /// Adds what a sub-agent cost.
    pub(super) fn count_child(&mut self, spent: &Spent) {
        self.costs.turn.add(spent);
        self.costs.session.add(spent);
        let (provider, model) = (self.parts.provider.name().to_string(), self.parts.model.name.clone());
        let picos = (spent.unpriced < spent.requests).then_some(spent.picos);
        let record = Record::Cost { provider, model, usage: spent.usage, picos };
        if let Err(e) = self.write_down(record) {
            tracing::warn!("the cost of a sub-agent was not saved: {e}");
        }
    }

    /// What is left of the budget for a sub-agent that begins now.
    pub(super) fn budget_left(&self) -> Budget {
        let spent = self.costs.session.picos;
        let left = |limit: Money| Money::from_picos(limit.picos().saturating_sub(spent).max(1));
        Budget { session: self.parts.budget.session.map(left), day: self.parts.budget.day }
    }

    /// What the session cost so far, and the turn that ran last.
    pub fn costs(&self) -> (&Spent, &Spent) {
        (&self.costs.session, &self.costs.turn)
    }

    pub fn budget(&self) -> Budget {
        self.parts.budget
    }

    /// Whether another request may be paid for: within the budget, or because the person says so.
    pub(super) async fn may_spend(
        &mut self,
        events: &UnboundedSender<Event>,
        stop: &CancellationToken,
    ) -> Result<(), Ending> {
        let Budget { session, day } = self.parts.budget;
        if session.is_none() && day.is_none() {
            return Ok(());
        }
        self.tell_unknown(events);
        let spent = Money::from_picos(self.costs.session.picos);
        if let Some(limit) = session.filter(|limit| spent >= *limit + self.costs.more.0) {
            self.costs.more.0 += self.ask_more("session", spent, limit, events, stop).await?;
        }
        let Some(limit) = day else { return Ok(()) };
        let spent = self.spent_today();
        if spent >= limit + self.costs.more.1 {
            self.costs.more.1 += self.ask_more("day", spent, limit, events, stop).await?;
        }
        Ok(())
    }

    fn spent_today(&self) -> Money {
        let midnight = jiff::Zoned::now().start_of_day().map_or(0, |day| day.timestamp().as_millisecond());
        let saved = self.store().and_then(|s| s.spent(Within { since: midnight, session: None }).ok());
        let saved: u64 = saved.unwrap_or_default().iter().map(|one| one.picos).sum();
        Money::from_picos(saved.max(self.costs.session.picos.min(saved)))
    }

    /// Asks for as much again; the error ends the turn.
    async fn ask_more(
        &self,
        what: &str,
        spent: Money,
        limit: Money,
        events: &UnboundedSender<Event>,
        stop: &CancellationToken,
    ) -> Result<Money, Ending> {
        let (reply, answer) = oneshot::channel();
        drop(events.send(Event::Choice(ChoiceQuestion {
            title: format!("The budget of {limit} for this {what} is used up: {spent}. Go on?"),
            reason: format!("`budget.{what}` asks before more is spent"),
            detail: Detail::None,
            choices: vec![
                Choice::plain('g', &format!("go on, up to {limit} more")),
                Choice::plain('s', "stop the turn"),
            ],
            reply,
        })));
        let key = tokio::select! {
            key = answer => key.unwrap_or('s'),
            () = stop.cancelled() => return Err(Ending::Interrupted),
        };
        if key == 'g' {
            return Ok(limit);
        }
        Err(Ending::Blocked {
            why: format!("the budget of {limit} for this {what} is used up: {spent}"),
            hint: Some(format!("`budget.{what}` is the limit; /retry asks again")),
        })
    }

    fn tell_unknown(&mut self, events: &UnboundedSender<Event>) {
        if self.costs.session.unpriced > 0 && !std::mem::replace(&mut self.costs.told_unknown, true) {
            let words = format!(
                "the price of {} is not known: what it costs is not held to your budget",
                self.parts.model.name
            );
            drop(events.send(Event::Notice(words)));
        }
    }
}
