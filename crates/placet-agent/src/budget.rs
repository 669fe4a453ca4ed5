//! The person's limits on what requests cost.
//!
//! A budget asks the person before it is exceeded. If nobody can be asked, the turn ends. A budget cannot count
//! requests without a known price, and reports this.

use super::cost_meter::{BudgetLimit, CostBudget};
use super::event::{ChoiceQuestion, ChoiceSubject, QuestionChoice, ReasonReader, TurnEvent, TurnEvents};
use super::request::client::ModelClient;
use super::turn::ending::TurnEnding;
use placet_provider::catalog::Money;
use placet_session::session::{CostFilter, SessionStore};
use placet_tools::DisplayDetail;
use tokio_util::sync::CancellationToken;

/// Decides whether another request may be paid for.
pub(super) struct BudgetCheck<'a> {
    pub(super) client: &'a mut ModelClient,
    pub(super) store: Option<&'a SessionStore>,
    pub(super) events: &'a TurnEvents,
    pub(super) stop: &'a CancellationToken,
}

impl BudgetCheck<'_> {
    /// Returns `Ok` if the request is within the budget, or if the person allows it.
    pub(super) async fn run(self) -> Result<(), TurnEnding> {
        let CostBudget { session, day } = self.client.budget;
        for (kind, limit) in [(BudgetLimit::Session, session), (BudgetLimit::Day, day)] {
            let Some(limit) = limit else { continue };
            self.client.costs.report_unpriced(&self.client.model.spec.name, self.events);
            self.check(kind, limit).await?;
        }
        Ok(())
    }

    /// Conversations of the pool ask one at a time. A conversation checks again when its turn comes, because another
    /// conversation may have asked meanwhile.
    async fn check(&self, kind: BudgetLimit, limit: Money) -> Result<(), TurnEnding> {
        let meter = &self.client.subagents.meter;
        if self.spent(kind) < limit + meter.allowed(kind) {
            return Ok(());
        }
        let _turn = tokio::select! {
            turn = self.client.subagents.asking.lock() => turn,
            () = self.stop.cancelled() => return Err(TurnEnding::Interrupted),
        };
        let spent = self.spent(kind);
        if spent < limit + meter.allowed(kind) {
            return Ok(());
        }
        if !meter.is_refused() && self.ask_more(kind, spent, limit).await? {
            meter.allow(kind, limit);
            return Ok(());
        }
        meter.refuse();
        Err(TurnEnding::OverBudget { name: kind.name(), limit, spent })
    }

    fn spent(&self, kind: BudgetLimit) -> Money {
        match kind {
            BudgetLimit::Session => self.client.subagents.meter.spent(),
            BudgetLimit::Day => self.spent_today(),
        }
    }

    fn spent_today(&self) -> Money {
        // The unsaved costs of sub-agents are read first. A cost that is saved in between counts twice for a moment,
        // which is better than not at all.
        let uncounted = self.client.subagents.uncounted();
        let midnight = jiff::Zoned::now().start_of_day().map_or(0, |day| day.timestamp().as_millisecond());
        let store = self.store.or(self.client.subagents.store.as_ref());
        match store.and_then(|s| s.spent(CostFilter { since: midnight, session: None }).ok()) {
            Some(saved) => Money::from_picos(saved.iter().map(|one| one.picos).sum::<u64>() + uncounted),
            // Without a store, or if the store cannot be read, only the costs of this process are known.
            None => self.client.subagents.meter.spent(),
        }
    }

    /// Asks for the same amount again; an error ends the turn.
    async fn ask_more(&self, kind: BudgetLimit, spent: Money, limit: Money) -> Result<bool, TurnEnding> {
        let name = kind.name();
        let answer = self.events.ask(|reply| {
            TurnEvent::Choice(ChoiceQuestion {
                subject: ChoiceSubject::Budget,
                title: format!("The budget of {limit} for this {name} is used up: {spent}. Continue?"),
                reason: format!("`budget.{name}` asks before more is spent"),
                detail: DisplayDetail::None,
                choices: vec![
                    QuestionChoice::plain('g', &format!("continue, up to {limit} more")),
                    QuestionChoice::plain('s', "stop the turn"),
                ],
                checks: None,
                reasons_for: ReasonReader::Nobody,
                reply,
            })
        });
        tokio::select! {
            // A dropped question has no answer: the turn stops, as if the person had stopped it.
            key = answer => Ok(key.unwrap_or('s') == 'g'),
            () = self.stop.cancelled() => Err(TurnEnding::Interrupted),
        }
    }
}
