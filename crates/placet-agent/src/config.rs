//! What an agent is made of, and how a turn begins.

use super::calls::origin::CallInterceptors;
use super::cost_meter::CostBudget;
use super::subagent_pool::SubagentPool;
use super::turn::machine::TurnLimits;
use placet_permission::Policy;
use placet_provider::{ModelSpec, Provider, ToolForm};
use placet_session::session::OpenSession;
use placet_text::conversation::{Part, text_of};
use placet_tools::{ToolContext, ToolRegistry, ToolSet, is_batch};
use serde_json::Value;
use std::sync::{Arc, Mutex};

/// The parts of an agent.
pub struct AgentConfig {
    pub model: ActiveModel,
    pub system: SystemPrompt,
    pub registry: Arc<ToolRegistry>,
    pub env: Arc<ToolContext>,
    pub policy: Arc<Mutex<Policy>>,
    pub limits: AgentLimits,
    pub interceptors: Arc<CallInterceptors>,
    /// What the agent shares with its sub-agents.
    pub subagents: SubagentPool,
    /// Where the conversation is stored; `None` stores it in memory only.
    pub session: Option<OpenSession>,
}

/// What every request begins with. The short one is for models with a small window that are offered the basic tools only.
#[derive(Clone, Debug)]
pub struct SystemPrompt {
    pub whole: String,
    pub short: String,
}

impl From<String> for SystemPrompt {
    fn from(whole: String) -> SystemPrompt {
        SystemPrompt { short: whole.clone(), whole }
    }
}

/// The provider and the model of the next request.
#[derive(Clone)]
pub struct ActiveModel {
    pub provider: Arc<dyn Provider>,
    pub spec: ModelSpec,
    pub max_output: u64,
}

impl ActiveModel {
    /// How calls are made from now on, where the server refused a request for its tools.
    pub(crate) fn form_without_tools(&self) -> Option<ToolForm> {
        let is_native = self.spec.capabilities.tools == ToolForm::Native;
        self.provider.without_tools().filter(|_| is_native)
    }
}

/// How far a conversation may continue by itself.
#[derive(Clone, Copy, Debug)]
pub struct AgentLimits {
    pub turn: TurnLimits,
    /// How full the window may be before its beginning is summarized, from 0 to 1; 0 never summarizes.
    pub compact_at: f64,
    pub budget: CostBudget,
}

/// The provider and the model, and what the person should know about the choice.
pub struct SelectedModel {
    pub provider: Arc<dyn Provider>,
    pub model: ModelSpec,
    pub max_output: u64,
    pub note: Option<String>,
}

/// How a turn begins.
pub enum TurnStart {
    Say(Vec<Part>),
    /// One call that the person typed: no model is asked.
    Call {
        text: String,
        tool: String,
        input: Value,
    },
    /// Send the present conversation once more.
    Retry,
    /// Summarize the conversation, with regard to this focus unless it is empty; the model answers nothing else.
    SumUp {
        focus: String,
    },
}

impl TurnStart {
    /// The person's text, or a name for it.
    pub(super) fn text(&self) -> String {
        match self {
            TurnStart::Say(parts) => text_of(parts),
            TurnStart::Call { text, .. } => text.clone(),
            TurnStart::Retry => "again".into(),
            TurnStart::SumUp { .. } => "sum up".into(),
        }
    }

    /// The turn for a prompt that needs no model: a batch of aOperations, or in that tool set its test words.
    pub fn of_operations(prompt: &str, tool_set: ToolSet) -> Option<TurnStart> {
        let prompt_of_typestack =
            matches!(prompt.trim(), "TEST" | "PING" | "FILE-TEST") || prompt.trim_start().starts_with('{');
        let runs = is_batch(prompt) || prompt_of_typestack && tool_set == ToolSet::Typestack;
        let input = serde_json::json!({"sQuestion": prompt});
        runs.then(|| TurnStart::Call { text: prompt.into(), tool: "agent_prompt".into(), input })
    }
}
