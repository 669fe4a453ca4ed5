//! What an agent is made of, and how a turn begins.

use super::budget::CostBudget;
use super::calls::interceptor::CallInterceptors;
use super::subagents::SubagentPool;
use super::turn::machine::TurnLimits;
use crate::conversation::Part;
use crate::permission::Policy;
use crate::provider::{ModelSpec, Provider};
use crate::session::OpenSession;
use crate::tools::{ToolContext, ToolRegistry, ToolSet, is_batch};
use serde_json::Value;
use std::sync::{Arc, Mutex};

/// What an agent is made of.
pub struct AgentConfig {
    pub provider: Arc<dyn Provider>,
    pub model: ModelSpec,
    pub max_output: u64,
    pub system: String,
    pub registry: Arc<ToolRegistry>,
    pub env: Arc<ToolContext>,
    pub policy: Arc<Mutex<Policy>>,
    pub bounds: TurnLimits,
    /// How full the window may be before its beginning is summed up, from 0 to 1; 0 never does.
    pub sum_up_at: f64,
    pub budget: CostBudget,
    pub gate: Arc<CallInterceptors>,
    /// What it shares with its sub-agents.
    pub family: SubagentPool,
    /// Where the conversation is kept; `None` keeps it in memory only.
    pub session: Option<OpenSession>,
}

/// Who answers, and what the person should know about the choice.
pub struct SelectedModel {
    pub provider: Arc<dyn Provider>,
    pub model: ModelSpec,
    pub max_output: u64,
    pub note: Option<String>,
}

/// How a turn begins.
pub enum TurnStart {
    Say(Vec<Part>),
    /// One call that the person wrote out: no model is asked.
    Call {
        text: String,
        tool: String,
        input: Value,
    },
    /// Send what is there once more.
    Retry,
    /// Sum up what was said so far, with regard to this if it is not empty; nothing is answered.
    SumUp {
        focus: String,
    },
}

impl TurnStart {
    /// The turn that a prompt is when it needs no model: a batch of aOperations, and in that surface its test words.
    pub fn of_operations(prompt: &str, tool_set: ToolSet) -> Option<TurnStart> {
        let prompt_of_typestack =
            matches!(prompt.trim(), "TEST" | "PING" | "FILE-TEST") || prompt.trim_start().starts_with('{');
        let runs = is_batch(prompt) || prompt_of_typestack && tool_set == ToolSet::Typestack;
        let input = serde_json::json!({"sQuestion": prompt});
        runs.then(|| TurnStart::Call { text: prompt.into(), tool: "agent_prompt".into(), input })
    }
}
