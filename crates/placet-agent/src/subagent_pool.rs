//! What a conversation and its sub-agents share: slots to work, the order of their calls, and their costs.

use super::cost_meter::CostMeter;
use super::edit_baselines::EditBaselines;
use super::lock::lock;
use placet_session::session::{RequestCost, SessionStore};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;

/// Clones share it.
#[derive(Clone)]
pub struct SubagentPool {
    pub(super) is_child: bool,
    /// How many sub-agents work at once.
    pub(super) slots: Arc<Semaphore>,
    /// Questions are asked one at a time.
    pub(super) asking: Arc<tokio::sync::Mutex<()>>,
    /// A command runs alone; calls that write files run in parallel with each other.
    pub(super) order: Arc<tokio::sync::RwLock<()>>,
    /// What the checks after edits found before the turn.
    pub(super) edit_baselines: EditBaselines,
    /// Costs of sub-agents that the parent has not counted yet.
    uncounted: Arc<Mutex<Vec<RequestCost>>>,
    /// The spending of all of them.
    pub(super) meter: Arc<CostMeter>,
    /// The store of the costs of all sessions, for a sub-agent without a session of its own.
    pub(super) store: Option<SessionStore>,
    started: Arc<AtomicU32>,
}

impl SubagentPool {
    /// `at_once`: how many sub-agents may work at the same time.
    pub fn new(at_once: usize) -> SubagentPool {
        SubagentPool {
            is_child: false,
            slots: Arc::new(Semaphore::new(at_once.clamp(1, 64))),
            asking: Arc::default(),
            order: Arc::default(),
            edit_baselines: EditBaselines::default(),
            uncounted: Arc::default(),
            meter: Arc::default(),
            store: None,
            started: Arc::default(),
        }
    }

    /// The same pool for a sub-agent of a conversation that is stored in `store`.
    pub(super) fn for_child(&self, store: Option<SessionStore>) -> SubagentPool {
        SubagentPool { is_child: true, store: store.or_else(|| self.store.clone()), ..self.clone() }
    }

    /// The number of the sub-agent that starts now.
    pub(super) fn next_number(&self) -> u32 {
        self.started.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Reports a request of a sub-agent, which the parent counts.
    pub(super) fn report_cost(&self, cost: &RequestCost) {
        if self.is_child {
            lock(&self.uncounted).push(cost.clone());
        }
    }

    /// Reports a request that a call made, and which the conversation counts.
    pub(super) fn report_request(&self, cost: &RequestCost) {
        self.meter.add(cost.picos);
        lock(&self.uncounted).push(cost.clone());
    }

    /// Counts the costs of sub-agents since the last count. A reader that adds up the day while `count` runs finds each
    /// cost in at least one place, because the costs are removed here only after all of them are stored.
    pub(super) fn count_costs(&self, count: impl FnMut(&RequestCost)) -> bool {
        let costs = if self.is_child { Vec::new() } else { lock(&self.uncounted).clone() };
        costs.iter().for_each(count);
        lock(&self.uncounted).drain(..costs.len());
        !costs.is_empty()
    }

    /// The costs of sub-agents that are not in the sums of the store yet.
    pub(super) fn uncounted(&self) -> u64 {
        lock(&self.uncounted).iter().map(|cost| cost.picos).sum()
    }
}

impl Default for SubagentPool {
    fn default() -> SubagentPool {
        SubagentPool::new(4)
    }
}
