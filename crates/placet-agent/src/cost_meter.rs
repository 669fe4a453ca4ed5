//! The spending of a conversation together with its sub-agents, and what the person allowed beyond the limits.
//!
//! There is one meter for all of them. Sub-agents work in parallel, and with separate sums each would spend the same
//! money again. Each reads the meter before each request, so that all of them together exceed a limit by no more than
//! the requests that are in flight.

use placet_provider::catalog::Money;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The person's limits; `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CostBudget {
    pub session: Option<Money>,
    pub day: Option<Money>,
}

/// One of the person's limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BudgetLimit {
    Session,
    Day,
}

impl BudgetLimit {
    pub(super) fn name(self) -> &'static str {
        match self {
            BudgetLimit::Session => "session",
            BudgetLimit::Day => "day",
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct CostMeter {
    /// In millionths of a millionth of a dollar, like the two fields below.
    spent: AtomicU64,
    more_session: AtomicU64,
    more_day: AtomicU64,
    /// The person refused in this turn: the other conversations do not ask again.
    refused: AtomicBool,
}

impl CostMeter {
    pub(super) fn begin_at(&self, picos: u64) {
        self.spent.store(picos, Ordering::SeqCst);
    }

    pub(super) fn add(&self, picos: u64) {
        self.spent.fetch_add(picos, Ordering::SeqCst);
    }

    pub(super) fn spent(&self) -> Money {
        Money::from_picos(self.spent.load(Ordering::SeqCst))
    }

    fn more(&self, limit: BudgetLimit) -> &AtomicU64 {
        match limit {
            BudgetLimit::Session => &self.more_session,
            BudgetLimit::Day => &self.more_day,
        }
    }

    /// The amount that was allowed beyond the limit.
    pub(super) fn allowed(&self, limit: BudgetLimit) -> Money {
        Money::from_picos(self.more(limit).load(Ordering::SeqCst))
    }

    pub(super) fn allow(&self, limit: BudgetLimit, more: Money) {
        self.more(limit).fetch_add(more.picos(), Ordering::SeqCst);
    }

    pub(super) fn begin_turn(&self) {
        self.refused.store(false, Ordering::SeqCst);
    }

    pub(super) fn refuse(&self) {
        self.refused.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_refused(&self) -> bool {
        self.refused.load(Ordering::SeqCst)
    }
}
