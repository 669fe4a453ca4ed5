//! The values that the parts of a conversation share and that do not change while the conversation lasts.

use super::calls::interceptor::secrets::SecretFilter;
use super::calls::origin::CallOrigin;
use super::lock::lock;
use super::subagent_pool::SubagentPool;
use placet_permission::Policy;
use placet_text::conversation::{AssistantMessage, CallInput, ToolCall};
use placet_tools::{ToolContext, ToolRegistry, TouchedPaths};
use placet_workspace::ReadLedger;
use std::sync::{Arc, Mutex, MutexGuard};

pub(super) struct SharedServices {
    pub(super) registry: Arc<ToolRegistry>,
    pub(super) env: Arc<ToolContext>,
    pub(super) policy: Arc<Mutex<Policy>>,
    pub(super) origin: CallOrigin,
    pub(super) subagents: SubagentPool,
}

impl SharedServices {
    pub(super) fn policy(&self) -> MutexGuard<'_, Policy> {
        lock(&self.policy)
    }

    pub(super) fn ledger(&self) -> MutexGuard<'_, ReadLedger> {
        lock(&self.env.ledger)
    }

    /// What each call of `answer` touches: calls that touch the same run one after the other.
    pub(super) fn touched_paths(&self, answer: &AssistantMessage) -> Vec<TouchedPaths> {
        let resolve = |path: &str| {
            let is_file = !path.starts_with("scratchpad:");
            let at = is_file.then(|| self.env.workspace.resolve(path).ok()).flatten()?;
            Some(at.path.to_string_lossy().into_owned())
        };
        let is_classified = !self.policy().labels().is_off();
        let of_call = |call: &ToolCall| {
            let mut touched = self.registry.touches(&call.name, &call.input).resolved(resolve);
            // In order: earlier reads decide what a call may see and where it may write.
            touched.writes.extend(is_classified.then(|| "classification".to_string()));
            touched
        };
        answer.calls().map(of_call).collect()
    }

    /// An answer has a call of this tool, whose arguments are still arriving.
    pub(super) fn expect_call(&self, name: &str) {
        placet_permission::read_tables_ahead();
        // Only commands touch anything, whatever their arguments are.
        if self.registry.touches(name, &CallInput::Object(serde_json::Value::Null)).anything {
            self.env.commands.expect(&self.env.mode);
        }
    }

    pub(super) fn secrets(&self) -> &SecretFilter {
        &self.origin.interceptors.secrets
    }
}
