//! What a conversation and its sub-agents have in common: places to work, the order of their calls, and what they cost.

use super::cost_meter::CostMeter;
use super::lock::lock;
use crate::session::{RequestCost, SessionStore};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;

/// Clones share it.
#[derive(Clone)]
pub struct SubagentPool {
    pub(super) is_child: bool,
    /// So many work at once.
    pub(super) slots: Arc<Semaphore>,
    /// Questions are asked one at a time.
    pub(super) asking: Arc<tokio::sync::Mutex<()>>,
    /// A command runs alone; what writes a file runs next to others that do.
    pub(super) order: Arc<tokio::sync::RwLock<()>>,
    /// What sub-agents cost that the parent has not counted yet.
    uncounted: Arc<Mutex<Vec<RequestCost>>>,
    /// What all of them spend.
    pub(super) meter: Arc<CostMeter>,
    /// Where the costs of all sessions are stored, for a sub-agent that has no session of its own.
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
            uncounted: Arc::default(),
            meter: Arc::default(),
            store: None,
            started: Arc::default(),
        }
    }

    /// The same for a sub-agent of a conversation that is stored in `store`.
    pub(super) fn for_child(&self, store: Option<SessionStore>) -> SubagentPool {
        SubagentPool { is_child: true, store: store.or_else(|| self.store.clone()), ..self.clone() }
    }

    /// The number of the sub-agent that starts now.
    pub(super) fn next_number(&self) -> u32 {
        self.started.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// A request of a sub-agent, for its parent to count.
    pub(super) fn report_cost(&self, cost: &RequestCost) {
        if self.is_child {
            lock(&self.uncounted).push(cost.clone());
        }
    }

    /// What sub-agents cost since it was last counted. A reader that sums up the day while `count` runs finds each cost
    /// in one place at least: here, until all of them are stored.
    pub(super) fn count_costs(&self, count: impl FnMut(&RequestCost)) -> bool {
        let costs = if self.is_child { Vec::new() } else { lock(&self.uncounted).clone() };
        costs.iter().for_each(count);
        lock(&self.uncounted).drain(..costs.len());
        !costs.is_empty()
    }

    /// What sub-agents cost that is not in the sums of the store yet.
    pub(super) fn uncounted(&self) -> u64 {
        lock(&self.uncounted).iter().map(|cost| cost.picos).sum()
    }
}

impl Default for SubagentPool {
    fn default() -> SubagentPool {
        SubagentPool::new(4)
    }
}
